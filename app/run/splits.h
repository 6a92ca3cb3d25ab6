/* splits.h - the three parts of a data set, read from a folder or generated: training, validation
 * and test queries. */
#ifndef OLTR_APP_RUN_SPLITS_H
#define OLTR_APP_RUN_SPLITS_H

#include <oltr/plan.h>

struct splits {
    oltr_dataset *train, *vali, *test; /* features of one number in all three */
    uint32_t largest_grade;            /* of any document */
    uint64_t digest;                   /* of what was read; 0 of generated ones */
};

/* From the plan's folder; without one, generated.  `options`: how to read. */
oltr_status splits_get(const oltr_data_plan *plan, uint64_t seed, const oltr_read_options *options,
                       struct splits *out, oltr_error *error);
void splits_free(struct splits *splits);

/* `count` of the numbers below `n`, each set as likely, ascending; by the seed and the purpose.
 * count <= n. */
void choose(uint64_t seed, uint64_t purpose, uint32_t n, uint32_t count, uint32_t *out);
enum { CHOOSE_QUERIES = 1, CHOOSE_VALI = 2 };

#endif
