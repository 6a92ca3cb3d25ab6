/* grades.c - from a document's relevance grade to the chance that it attracts a user.
 *
 *   err            (2^g - 1) / 2^largest: the stopping probability of expected reciprocal rank
 * (Chapelle et al. 2009), for any scale the others     the four users of the online learning to
 * rank literature, tables for grades 0 to 4
 */
#include <math.h>
#include <string.h>

#include "lab/world/world.h"

enum { TABLE_GRADES = 5, LARGEST_GRADE = 30 };

static const struct mapping {
    oltr_named info;
    double of_grade[TABLE_GRADES];
    int formula;
} mappings[] = {
    {{"err", "(2^g - 1) / 2^largest, as in expected reciprocal rank"}, {0}, 1},
    {{"perfect", "grades 0..4 attract with 0, 0.2, 0.4, 0.8, 1"}, {0, 0.2, 0.4, 0.8, 1}, 0},
    {{"navigational", "0.05, 0.3, 0.5, 0.7, 0.95"}, {0.05, 0.3, 0.5, 0.7, 0.95}, 0},
    {{"informational", "0.4, 0.6, 0.7, 0.8, 0.9"}, {0.4, 0.6, 0.7, 0.8, 0.9}, 0},
    {{"near-random", "0.4, 0.45, 0.5, 0.55, 0.6"}, {0.4, 0.45, 0.5, 0.55, 0.6}, 0},
};
enum { MAPPINGS = sizeof mappings / sizeof *mappings };

uint32_t oltr_mapping_count(void)
{
    return MAPPINGS;
}

const oltr_named *oltr_mapping_at(uint32_t index)
{
    return index < MAPPINGS ? &mappings[index].info : NULL;
}

static const struct mapping *find(const char *name, oltr_error *error)
{
    const char *names[MAPPINGS];
    for (size_t i = 0; i < MAPPINGS; i++) {
        names[i] = mappings[i].info.name;
        if (name && strcmp(name, names[i]) == 0)
            return &mappings[i];
    }
    const char *near = nearest_name(name ? name : "", names, MAPPINGS, sizeof *names);
    set_error(error, OLTR_EINVAL, "no mapping of grades is called '%s'; did you mean '%s'?",
              name ? name : "", near ? near : names[0]);
    return NULL;
}

oltr_status oltr_attraction_of_grade(const char *mapping, uint32_t grade, uint32_t largest,
                                     double *attraction, oltr_error *error)
{
    const struct mapping *m = find(mapping, error);
    if (!m || !attraction)
        return m ? set_error(error, OLTR_EINVAL, "there is no place for the attraction")
                 : OLTR_EINVAL;
    if (largest < 1 || largest > LARGEST_GRADE)
        return set_error(error, OLTR_EVALUE,
                         "the largest grade of a scale must be from 1 to %d, not %u", LARGEST_GRADE,
                         largest);
    if (!m->formula && largest != TABLE_GRADES - 1)
        return set_error(
            error, OLTR_EVALUE,
            "mapping %s is for grades from 0 to %d, and this scale ends at %u: take err, "
            "or say that it ends "
            "at %d",
            mapping, TABLE_GRADES - 1, largest, TABLE_GRADES - 1);
    if (grade > largest)
        return set_error(error, OLTR_EVALUE,
                         "a document has the grade %u, and the scale ends at %u", grade, largest);
    *attraction = m->formula ? ldexp((double)((UINT64_C(1) << grade) - 1), -(int)largest)
                             : m->of_grade[grade];
    return OLTR_OK;
}
