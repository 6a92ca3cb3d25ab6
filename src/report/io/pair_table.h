/* pair_table.h - pairs.csv: how much more regret one policy has than another.  Policies of a
 * replication meet the same instance and the same users, so the difference of two is known better
 * than either. */
#ifndef OLTR_REPORT_IO_PAIR_TABLE_H
#define OLTR_REPORT_IO_PAIR_TABLE_H

#include "engine/base/text.h"

#include <oltr/oltr.h>
#include <stdint.h>

struct pair_row {
    const char *sweep, *policy, *other;
    uint64_t round;
    double difference, difference_se; /* mean over replications of regret(policy) - regret(other) */
    uint32_t replications;
};

struct pair_table {
    size_t count;
    struct pair_row *row; /* (count) in the order of the file */
    struct text memory;   /* what the strings point into */
};

/* Reads folder/pairs.csv. */
oltr_status pair_table_read(const char *folder, struct pair_table *table, oltr_error *error);
void pair_table_free(struct pair_table *table);

/* regret(policy) - regret(other) and its standard error, whichever way round the file has them;
 * false: not there. */
bool pair_find(const struct pair_table *table, const char *sweep, uint64_t round,
               const char *policy, const char *other, double *difference, double *difference_se);

#endif
