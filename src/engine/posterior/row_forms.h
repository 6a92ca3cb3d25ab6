/* row_forms.h - x'V^-1 x of rows that stay, kept from round to round.
 *
 * A policy with optimistic bounds needs the quadratic form of every candidate in every round, and a
 * form takes O(d^2).  Where the candidates stay and V grows by a few rows, the forms are corrected:
 * with the m rows X and the weights W of a batch,
 *     x'(V + X'WX)^-1 x = x'V^-1 x - |C^-1 W^(1/2) X V^-1 x|^2,   C C' = I + W^(1/2) X V^-1 X'
 * W^(1/2), which is m products of length d for each candidate.  V^-1 X' comes from the factor,
 * never from a corrected number, so that errors do not feed on each other.
 *
 * What is kept belongs to the state of the policy and changes in learn alone: rows by item,
 * compared bit by bit, and their forms.  So a ranking is a function of the state, whatever its
 * scratch or thread.  A row's form is computed when the same row was a candidate in two learned
 * rounds, one after the other; a row that was no candidate of the last round loses its form.  Where
 * most rows change, learning does not look at them for up to 16 rounds.
 *
 * Accuracy.  A form is computed anew from the factor
 *   - when it has become less than 1/16 of what it was when it was last computed,
 *   - in its turn, at the latest with the 4,096th row learned since,
 *   - with all others when the form of an observed row, which learning computes anyway, differs
 *     from the kept one by more than 1e-10 of itself, and when the factor was made anew.
 * A subtraction errs by at most 2^-53 of the form as last computed: after 4,096 of them that is
 * 16 * 4096 * 2^-53 = 7e-12 of the smallest form that is kept.  row_forms_check() requires 1e-9.
 */
#ifndef OLTR_ENGINE_POSTERIOR_ROW_FORMS_H
#define OLTR_ENGINE_POSTERIOR_ROW_FORMS_H

#include "engine/posterior/linear.h"

/* Bookkeeping, as doubles because snapshots hold it. */
typedef struct forms_watch {
    double used;     /* rows 0..used-1 may hold something */
    double version;  /* of all that is kept: one more for each learned round */
    double kept;     /* rows that have a form of this version */
    double pause;    /* rounds for which learning does not look at the rows */
    double patience; /* the next pause */
    double calm;     /* rounds since most rows changed */
    double turn;     /* which of the kept rows is computed anew next */
    double due;      /* how many of them are due */
} forms_watch;

typedef struct row_form {
    double form;    /* x'V^-1 x; negative: none */
    double made;    /* what it was when it was computed from the factor */
    double version; /* of the last round in which the row was a candidate */
} row_form;

typedef struct row_forms {
    uint32_t rows, dim;     /* room for the items 0..rows-1; 0: nothing is kept */
    size_t x;               /* offset of (rows, dim) floats */
    size_t row;             /* offset of (rows) row_form */
    size_t list;            /* offset of (rows) words: items, while learning */
    size_t work;            /* offset of doubles, while learning */
    uint32_t n_kept, n_new; /* of the list: the first have a form, the last will get one */
    bool again;             /* compute all forms anew */
    forms_watch watch;
} row_forms;

row_forms row_forms_plan(layout *l, uint32_t n_items, uint32_t dim);
/* Forgets everything. */
void row_forms_reset(void *state, row_forms *p);

/* ---- learning: begin, then correct before the factor learns each batch, then end */

enum { FORMS_BATCH = 32 };

void row_forms_begin(void *state, row_forms *p, const oltr_candidates *from,
                     const oltr_ranking *shown);
/* x: n <= FORMS_BATCH rows, which are about to be learned with these weights (NULL: 1); item: whose
 * rows they are.  With `exact` they are the rows of the candidates, not shortened ones. */
void row_forms_correct(void *state, row_forms *p, const ldl *before, const float *const *x,
                       const double *weight, const uint32_t *item, uint32_t n, bool exact);
/* For row_covariances.h, which finds the forms without row_forms_correct() and row_forms_end(). */
static inline float *row_forms_features(const void *state, const row_forms *p, uint32_t item)
{
    return floats_at(state, p->x) + (size_t)item * p->dim;
}
static inline row_form *row_forms_at(const void *state, const row_forms *p, uint32_t item)
{
    return (row_form *)(void *)doubles_at(state, p->row) + item;
}
/* C of I + W^(1/2) M W^(1/2), by columns of n; m: (n, n) x_i'V^-1 x_k on entry, C below and on the
 * diagonal at the end; root: W^(1/2). */
void forms_cholesky(double *m, const double *root, uint32_t n);

/* made_anew: the factor was computed from the sums meanwhile. */
void row_forms_end(void *state, row_forms *p, const ldl *after, bool made_anew);

/* Whether the rows of all candidates are kept, bit by bit. */
bool row_forms_have(const void *state, const row_forms *p, const oltr_candidates *from);

/* ---- ranking: out[j] = x_j'V^-1 x_j of every candidate.  gather: room for QUADRATIC_ITEMS rows of
 * floats; work: for ldl_quadratic_work(dim) doubles. */
void row_forms_of(const void *state, const row_forms *p, const ldl *factor,
                  const oltr_candidates *from, double *out, float *gather, double *work);

/* ---- snapshots and checks */

/* OLTR_ESTATE when a form is further than 1e-9 of itself from a fresh one. */
oltr_status row_forms_check(const void *state, const row_forms *p, const ldl *factor,
                            oltr_error *error);
enum { FORMS_DERIVED = 3 };
uint32_t row_forms_list(const void *state, const row_forms *p, oltr_sum_array out[FORMS_DERIVED]);
/* After they were read.  OLTR_ESTATE when learning cannot leave such numbers.  Forms that do not
 * fit the factor are dropped; factor NULL: they were compared with another one. */
oltr_status row_forms_resume(void *state, row_forms *p, const ldl *factor, oltr_error *error);

#endif
