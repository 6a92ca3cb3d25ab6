/* splits.h - the three parts of a data set, read from a folder or generated: training, validation
 * and test queries. */
#ifndef OLTR_LAB_PREPARE_SPLITS_H
#define OLTR_LAB_PREPARE_SPLITS_H

#include <oltr/plan.h>

struct splits {
    oltr_dataset *train, *vali, *test; /* with the same number of features */
    uint32_t largest_grade;            /* of any document */
    uint64_t digest;                   /* of the texts that were read; 0 of generated data */
};

/* From the plan's folder; without one, generated.  `options`: how to read, and when to stop. */
oltr_status splits_get(const oltr_data_plan *plan, uint64_t seed, const oltr_read_options *options,
                       struct splits *out, oltr_error *error);
/* Gives all three as many features as the widest, and finds the largest grade.  Sparse texts may
 * end at different features; missing ones are 0. */
oltr_status splits_align(struct splits *splits, oltr_error *error);
void splits_free(struct splits *splits);
void splits_drop(oltr_dataset **split); /* frees one of them, which is NULL afterwards */

uint32_t largest_grade_of(const oltr_dataset *data);

/* A random set of `count` <= n numbers below n, ascending: a function of seed and purpose. */
void choose(uint64_t seed, uint64_t purpose, uint32_t n, uint32_t count, uint32_t *out);
enum { CHOOSE_QUERIES = 1, CHOOSE_VALI = 2 };

#endif
