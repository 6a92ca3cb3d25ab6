/* prior_csv.h - priors of items from a CSV file: a column `item`, and one of
 *
 *   mean, sd             as they are
 *   a, b                 Beta(a, b)
 *   clicks, impressions  Beta(clicks + r, impressions - clicks + 1 - r), where r is the click rate
 *                        of the whole file: one observation at the average rate, so that an item
 *                        without impressions has a prior too
 *   score_1 .. score_M   scores of M offline models in [0,1]: scores_prior() of scorer/scores.h
 *
 * Where a policy takes the other form, Beta(a, b) becomes its mean and standard deviation, and mean
 * and sd become the Beta distribution that has them. */
#ifndef OLTR_APP_LOGS_PRIOR_CSV_H
#define OLTR_APP_LOGS_PRIOR_CSV_H

#include "app/logs/log_columns.h"
#include "app/logs/log_report.h"

struct prior_table {
    uint32_t n, room;
    oltr_name *name;  /* (n) into `bytes` */
    double *pair;     /* (n, 2): mean and sd, or a and b */
    uint64_t *line;   /* (n) of the file */
    const char *form; /* "mean and sd", ... */
    struct text bytes;
};

/* moments: whether the policy takes mean and sd.  Of the names, `item` is used.  Free the table
 * either way. */
oltr_status prior_csv_read(const char *path, bool moments, const struct log_names *names,
                           struct log_report *report, struct prior_table *out, oltr_error *error);
void prior_table_free(struct prior_table *table);

/* The mean and standard deviation, or Beta(a, b), of an item drawn from the table. */
void prior_table_average(const struct prior_table *table, bool moments, double pair[2]);

#endif
