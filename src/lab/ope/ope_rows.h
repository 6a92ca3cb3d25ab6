/* ope_rows.h - every estimator of ope.h as sums over lists.
 *
 * A list i gives `columns` pairs (num, den), and the value is
 *     sum over columns j of share_j  (sum_i num_ij) / (sum_i den_ij).
 * Means have one column with den = 1.  Self-normalised forms have the weights in den: one column
 * for the whole list, or one for each slot, where share_j is the share of lists with slot j.
 *
 * Weights are differences of logarithms.  The self-normalised forms subtract the largest of a
 * column before the exponential, which cancels in the ratio, so nothing overflows.  Means cannot:
 * a weight above OPE_MOST_WEIGHT is refused.
 *
 * Rows are computed when they are needed: an estimate takes a few passes over the caller's arrays
 * and no memory that grows with n.
 */
#ifndef OLTR_LAB_OPE_OPE_ROWS_H
#define OLTR_LAB_OPE_OPE_ROWS_H

#include <stdbool.h>

#include <oltr/ope.h>

#define OPE_MOST_WEIGHT 1e150 /* its square is finite */
#define OPE_MOST_REWARD 1e100

typedef enum weight_form { NO_WEIGHT, LIST_WEIGHT, SLOT_WEIGHT, PREFIX_WEIGHT } weight_form;

typedef struct ope_rows {
    const oltr_ope_log *log;
    oltr_ope_estimator estimator;
    weight_form form;
    bool normalised;            /* den is a weight */
    uint32_t columns;           /* of num and den: 1, or k */
    uint32_t slots;             /* distinct weights of a list: 1 (whole list) or k */
    double *shift;              /* (slots) largest logarithm of a weight; -INFINITY: all are 0 */
    int (*stop)(void *context); /* or NULL; see oltr_ope_options */
    void *context;
} ope_rows;

/* Checks every number that the estimator reads, and finds the shifts.  `shift` has room for k. */
oltr_status ope_rows_begin(ope_rows *rows, const oltr_ope_log *log, oltr_ope_estimator estimator,
                           const oltr_ope_options *options, double *shift, oltr_error *error);

uint32_t ope_length(const oltr_ope_log *log, uint64_t list);
/* The logarithm of weight number `slot` of a list. */
double ope_log_weight(const ope_rows *rows, uint64_t list, uint32_t slot);
/* The pairs of a list; den is all 1 for means. */
void ope_row(const ope_rows *rows, uint64_t list, double *num, double *den);
/* Whether column j counts for a list of this length. */
static inline bool ope_has_column(const ope_rows *rows, uint32_t length, uint32_t j)
{
    return rows->columns == 1 || j < length;
}
/* Whether the caller's stop function ends the call; it is called at every 1024th list. */
static inline bool ope_stopped(const ope_rows *rows)
{
    return rows->stop && rows->stop(rows->context);
}
static inline bool ope_stopped_at(const ope_rows *rows, uint64_t list)
{
    return list % 1024 == 0 && ope_stopped(rows);
}
oltr_status ope_interrupted(oltr_error *error);

#endif
