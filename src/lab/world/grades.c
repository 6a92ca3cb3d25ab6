/* grades.c - from a document's relevance grade to the chance that it attracts a user.
 *
 * err is (2^g - 1) / 2^largest, the stopping probability of expected reciprocal rank (Chapelle et
 * al. 2009), and linear is g / largest, both for any scale of grades.  The others are the four
 * kinds of users in the literature of online learning to rank: tables for grades 0 to 4.
 */
#include <math.h>

#include "lab/lab_limits.h"
#include "lab/world/world.h"

enum { TABLE_GRADES = 5 };

static double err(uint32_t grade, uint32_t largest)
{
    return ldexp((double)((UINT64_C(1) << grade) - 1), -(int)largest);
}

static double linear(uint32_t grade, uint32_t largest)
{
    return (double)grade / largest;
}

static const struct mapping {
    oltr_named info;
    double of_grade[TABLE_GRADES];
    double (*formula)(uint32_t grade, uint32_t largest); /* in place of the table */
} mappings[] = {
    {{"err", "(2^g - 1) / 2^largest, as in expected reciprocal rank"}, {0}, err},
    {{"perfect", "grades 0..4 attract with 0, 0.2, 0.4, 0.8, 1"}, {0, 0.2, 0.4, 0.8, 1}, NULL},
    {{"navigational", "0.05, 0.3, 0.5, 0.7, 0.95"}, {0.05, 0.3, 0.5, 0.7, 0.95}, NULL},
    {{"informational", "0.4, 0.6, 0.7, 0.8, 0.9"}, {0.4, 0.6, 0.7, 0.8, 0.9}, NULL},
    {{"near-random", "0.4, 0.45, 0.5, 0.55, 0.6"}, {0.4, 0.45, 0.5, 0.55, 0.6}, NULL},
    {{"linear", "g / largest, the grade scaled to [0,1]"}, {0}, linear},
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

oltr_status oltr_attraction_of_grade(const char *mapping, uint32_t grade, uint32_t largest,
                                     double *attraction, oltr_error *error)
{
    uint32_t found = named_index("mapping of grades", mapping, MAPPINGS, oltr_mapping_at, error);
    if (found == MAPPINGS)
        return OLTR_EINVAL;
    if (!attraction)
        return set_error(error, OLTR_EINVAL, "there is no place for the attraction");
    const struct mapping *m = &mappings[found];
    if (largest < 1 || largest > LARGEST_GRADE)
        return set_error(error, OLTR_EVALUE,
                         "the largest grade of a scale must be from 1 to %d, not %u", LARGEST_GRADE,
                         largest);
    if (!m->formula && largest != TABLE_GRADES - 1)
        return set_error(
            error, OLTR_EVALUE,
            "mapping %s is for grades from 0 to %d, and this scale ends at %u: take err "
            "or linear, or set largest_grade to %d",
            mapping, TABLE_GRADES - 1, largest, TABLE_GRADES - 1);
    if (grade > largest)
        return set_error(error, OLTR_EVALUE,
                         "a document has the grade %u, and the scale ends at %u", grade, largest);
    *attraction = m->formula ? m->formula(grade, largest) : m->of_grade[grade];
    return OLTR_OK;
}
