/* result_table.h - the tables of a folder of results: results.csv and summary.csv (one row per
 * swept value, policy and checkpoint), metrics.csv (one for each metric that it has), pairs.csv
 * (one per pair of policies), queries.csv (one per query).
 *
 * Policies of a replication meet the same instance and the same users, so the difference of two has
 * a smaller error than either. */
#ifndef OLTR_REPORT_IO_RESULT_TABLE_H
#define OLTR_REPORT_IO_RESULT_TABLE_H

#include "report/io/csv.h"

#include <oltr/sim.h>

struct result_row {
    const char *sweep, *policy;
    const char *metric; /* of metrics.csv, whose mean and error are in place of those of regret */
    uint64_t round, replications;
    double regret, regret_se, reward;
};

struct result_table {
    size_t count;
    const struct result_row *row; /* (count) in the order of the file */
    struct csv_rows file;
};

struct pair_row {
    const char *sweep, *policy, *other;
    uint64_t round, replications;
    double difference, difference_se; /* mean over replications of regret(policy) - regret(other) */
};

struct pair_table {
    size_t count;
    const struct pair_row *row; /* (count) in the order of the file */
    struct csv_rows file;
};

/* Adds the heading and all rows, or only those of the last checkpoints.  sweep: (n_points), or NULL
 * without one. */
void results_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, bool last_only, struct text *out);

/* The metrics beside regret, by their names in experiment files: a row for each that a policy has
 * at a checkpoint. */
enum { METRIC_CTR, METRIC_NDCG, METRIC_WORST, N_METRICS };
extern const char *const metric_names[N_METRICS];
void metrics_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, struct text *out);

/* Regret of one policy minus that of another, for every pair and checkpoint. */
void pairs_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
               const oltr_results *results, struct text *out);

/* Regret at the end on each query of the points that play datasets query by query; nothing where
 * there is none. */
void queries_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, struct text *out);

/* Reads folder/results.csv and folder/pairs.csv; csv_free(&table->file) either way. */
oltr_status result_table_read(const char *folder, struct result_table *table, oltr_error *error);
oltr_status pair_table_read(const char *folder, struct pair_table *table, oltr_error *error);

/* Reads the rows of one metric from folder/metrics.csv; a folder of an older oltr has no such file,
 * and the table is empty. */
oltr_status metric_table_read(const char *folder, uint32_t metric, struct result_table *table,
                              oltr_error *error);

/* The row of one policy at one checkpoint, and at its last one up to round `limit` (0: any); NULL:
 * there is none. */
const struct result_row *result_find(const struct result_table *table, const char *sweep,
                                     const char *policy, uint64_t round);
const struct result_row *result_last(const struct result_table *table, const char *sweep,
                                     const char *policy, uint64_t limit);

/* regret(policy) - regret(other) and its standard error, whichever way round the file has them;
 * false: not there. */
bool pair_find(const struct pair_table *table, const char *sweep, uint64_t round,
               const char *policy, const char *other, double *difference, double *difference_se);

#endif
