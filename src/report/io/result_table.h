/* result_table.h - results.csv and summary.csv: one row per swept value, policy and checkpoint;
 * pairs.csv: one per pair of policies; queries.csv: one per query. */
#ifndef OLTR_REPORT_IO_RESULT_TABLE_H
#define OLTR_REPORT_IO_RESULT_TABLE_H

#include "engine/base/text.h"

#include <oltr/sim.h>

struct result_row {
    const char *sweep, *policy;
    uint64_t round;
    double regret, regret_se, reward;
    uint32_t replications;
};

struct result_table {
    size_t count;
    struct result_row *row; /* (count) in the order of the file */
    struct text memory;     /* what the strings point into */
};

/* Adds the heading and all rows, or only those of the last checkpoints.  sweep: (n_points), or NULL
 * without one. */
void results_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, bool last_only, struct text *out);

/* Regret of one policy minus that of another, for every pair and checkpoint. */
void pairs_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
               const oltr_results *results, struct text *out);

/* Regret at the end on each query of the points that play datasets. */
void queries_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, struct text *out);

/* Reads folder/results.csv back. */
oltr_status result_table_read(const char *folder, struct result_table *table, oltr_error *error);
void result_table_free(struct result_table *table);

/* The row of one policy at one checkpoint, and at its last one; NULL: there is none. */
const struct result_row *result_find(const struct result_table *table, const char *sweep,
                                     const char *policy, uint64_t round);
const struct result_row *result_last(const struct result_table *table, const char *sweep,
                                     const char *policy);

#endif
