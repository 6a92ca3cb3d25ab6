/* splits.c - reads or generates the three parts of a data set; see splits.h.
 *
 * A folder has train.txt, test.txt and usually vali.txt, each plain or as .txt.gz.  Without
 * vali.txt (Istella has none), a fifth of the training queries, chosen by the seed, is used for
 * validation. */
#define _POSIX_C_SOURCE 200809L
#include "lab/prepare/splits.h"

#include "engine/base/file.h"
#include "lab/data/dataset.h"
#include "lab/data/digest.h"
#include "lab/data/generate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- choosing */

/* Selection sampling (Fan, Muller and Rezucha 1962): number i is taken with probability
 * (numbers still to take) / (numbers still to come). */
void choose(uint64_t seed, uint64_t purpose, uint32_t n, uint32_t count, uint32_t *out)
{
    oltr_rng rng = oltr_rng_fork(oltr_rng_make(seed, 0), purpose);
    for (uint32_t i = 0; i < n && count > 0; i++) {
        if (oltr_rng_below(&rng, n - i) < count) {
            *out++ = i;
            count--;
        }
    }
}

/* ---- from a folder */

/* folder/name.txt or folder/name.txt.gz; NULL where neither is. */
static char *find_text(const char *folder, const char *name, bool *no_memory)
{
    static const char *const endings[] = {".txt", ".txt.gz"};
    *no_memory = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char file[32];
        snprintf(file, sizeof file, "%s%s", name, endings[i]);
        char *path = file_join(folder, file);
        *no_memory = !path;
        if (!path || access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* If an optional split does not exist, *out stays NULL. */
static oltr_status read_split(const char *folder, const char *name, bool optional,
                              const oltr_read_options *options, oltr_dataset **out,
                              oltr_error *error)
{
    bool no_memory;
    char *path = find_text(folder, name, &no_memory);
    if (!path) {
        if (no_memory)
            return set_error(error, OLTR_ENOMEM, "out of memory");
        return optional ? OLTR_OK
                        : set_error(error, OLTR_EIO,
                                    "there is no %s.txt and no %s.txt.gz in the folder %.150s",
                                    name, name, folder);
    }
    oltr_error why = {OLTR_EIO, "it cannot be read"};
    *out = oltr_dataset_open(path, options, NULL, &why);
    free(path);
    return *out ? OLTR_OK : set_error(error, why.code, "%s", why.msg);
}

/* Moves a fifth of the training queries to the validation queries. */
static oltr_status set_aside(uint64_t seed, struct splits *s, oltr_error *error)
{
    uint32_t n = s->train->n_queries, kept = 0, taken = 0, count = n / 5 > 0 ? n / 5 : 1;
    uint32_t *vali = calloc((size_t)n + 1, sizeof *vali),
             *train = calloc((size_t)n + 1, sizeof *train);
    oltr_dataset *rest = NULL;
    if (!vali || !train || n < 2) {
        free(vali);
        free(train);
        return n < 2 ? set_error(error, OLTR_EVALUE, "there are too few training queries: %u", n)
                     : set_error(error, OLTR_ENOMEM, "out of memory");
    }
    choose(seed, CHOOSE_VALI, n, count, vali);
    for (uint32_t q = 0; q < n; q++)
        if (taken < count && vali[taken] == q)
            taken++;
        else
            train[kept++] = q;
    s->vali = dataset_pick(s->train, vali, count, error);
    rest = s->vali ? dataset_pick(s->train, train, kept, error) : NULL;
    free(vali);
    free(train);
    if (!rest)
        return OLTR_ENOMEM;
    oltr_dataset_free(s->train);
    s->train = rest;
    return OLTR_OK;
}

/* Extends the digest by one split. */
static bool add_to_digest(const oltr_dataset *data, uint32_t threads, uint64_t *all)
{
    uint64_t part[8] = {*all, data->n_queries, data->n_rows, data->dim};
    bool done = digest_all(data->query, data->n_queries * sizeof *data->query, threads, NULL,
                           &part[4]) != 0 &&
                digest_all(data->first_row, ((size_t)data->n_queries + 1) * sizeof *data->first_row,
                           threads, NULL, &part[5]) != 0 &&
                digest_all(data->grade, data->n_rows, threads, NULL, &part[6]) != 0 &&
                digest_all(data->x, (size_t)data->n_rows * data->dim * sizeof *data->x, threads,
                           NULL, &part[7]) != 0;
    *all = digest(part, sizeof part);
    return done;
}

static oltr_status read_folder(const oltr_data_plan *plan, uint64_t seed,
                               const oltr_read_options *options, struct splits *s,
                               oltr_error *error)
{
    static const char *const name[] = {"train", "vali", "test"};
    oltr_dataset **split[] = {&s->train, &s->vali, &s->test};
    oltr_status status = OLTR_OK;
    for (size_t i = 0; status == OLTR_OK && i < 3; i++) {
        status = read_split(plan->folder, name[i], split[i] == &s->vali, options, split[i], error);
        if (*split[i] && !add_to_digest(*split[i], options->threads, &s->digest))
            status = set_error(error, OLTR_ENOMEM, "out of memory");
    }
    return status == OLTR_OK && !s->vali ? set_aside(seed, s, error) : status;
}

/* ---- one number of features */

uint32_t largest_grade_of(const oltr_dataset *data)
{
    uint32_t largest = 0;
    for (uint32_t row = 0; row < data->n_rows; row++)
        largest = data->grade[row] > largest ? data->grade[row] : largest;
    return largest;
}

oltr_status splits_align(struct splits *s, oltr_error *error)
{
    oltr_dataset **split[] = {&s->train, &s->vali, &s->test};
    uint32_t dim = 0;
    oltr_status status = OLTR_OK;
    for (size_t i = 0; i < 3; i++) {
        uint32_t largest = largest_grade_of(*split[i]);
        s->largest_grade = largest > s->largest_grade ? largest : s->largest_grade;
        dim = (*split[i])->dim > dim ? (*split[i])->dim : dim;
    }
    for (size_t i = 0; status == OLTR_OK && i < 3; i++)
        status = dataset_widen(split[i], dim, error);
    return status;
}

/* ---- the whole */

static oltr_status generate(const oltr_data_plan *plan, uint64_t seed,
                            const oltr_read_options *options, struct splits *s, oltr_error *error)
{
    oltr_dataset **split[] = {&s->train, &s->vali, &s->test};
    static const char *const name[] = {"train", "vali", "test"};
    oltr_error why = {OLTR_OK, ""};
    for (size_t i = 0; i < 3; i++) {
        *split[i] =
            dataset_generate_watched(plan->shape, name[i], plan->generated[i], seed, options, &why);
        if (!*split[i])
            return set_error(error, why.code, "%s", why.msg);
    }
    return OLTR_OK;
}

oltr_status splits_get(const oltr_data_plan *plan, uint64_t seed, const oltr_read_options *options,
                       struct splits *out, oltr_error *error)
{
    *out = (struct splits){0};
    oltr_status status = plan->folder ? read_folder(plan, seed, options, out, error)
                                      : generate(plan, seed, options, out, error);
    if (status == OLTR_OK)
        status = splits_align(out, error);
    if (status != OLTR_OK)
        splits_free(out);
    return status;
}

void splits_drop(oltr_dataset **split)
{
    oltr_dataset_free(*split);
    *split = NULL;
}

void splits_free(struct splits *splits)
{
    splits_drop(&splits->train);
    splits_drop(&splits->vali);
    splits_drop(&splits->test);
    *splits = (struct splits){0};
}
