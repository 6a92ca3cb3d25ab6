/* row_covariances.h - x_i'V^-1 x_j and x_i'V^-1 b of rows that stay, kept in place of the factor.
 *
 * While the candidates of every round are the same rows, the rows that are learned are among them.
 * Then G = X V^-1 X' and m = X V^-1 b are all that bounds and learning need.  With the n observed
 * rows S, weights W and rewards y,
 *     C C' = I + W^(1/2) G_SS W^(1/2),   T = C^-1 W^(1/2) G_S,   e = C^-1 W^(1/2) (y - m_S)
 *     G <- G - T'T,   m <- m + T'e,
 * which is n L^2 / 2 multiply-adds and no substitution: an update of the factor takes n d^2, the
 * solutions of row_forms.h as much again, and the products n L d.  The factor is not updated
 * meanwhile; it is made from the sums where it is needed.
 *
 * Counts.  Nor are x x' and x y added to the sums: a covered row counts its weights and its weights
 * times rewards, which is O(1) for an observation in place of d^2 / 2.  The counts are part of what
 * was learned; the sums take them, one addition for each row, before a factor is made and where
 * rows are no longer covered.
 *
 * Accuracy.  An error of G is carried on by G <- A G A' with a contraction A, so that it does not
 * grow; but it does not shrink with G where it contradicts linear dependence of the rows.  So rows
 * are computed anew from a new factor
 *   - when their G_ii has become less than 1/16 of what it was when last computed, together with
 *     those below 1/4,
 *   - all of them after `span` learned rows, at first 4,096.  A form that is then further than
 *     1e-10 of itself from the kept one halves the span; below LEAST_SPAN rows the factor is kept
 *     again as before.  That happens where V is nearly singular: there factors made from sums of
 *     different rounds differ by the rounding of the sums.
 *
 * Bits.  All of it is done by kernels or in plain C, so it does not depend on the instruction set.
 */
#ifndef OLTR_ENGINE_POSTERIOR_ROW_COVARIANCES_H
#define OLTR_ENGINE_POSTERIOR_ROW_COVARIANCES_H

#include "engine/posterior/row_forms.h"

enum { MOST_COVERED_MODELS = 2 };

/* As doubles because snapshots hold it. */
typedef struct covariances_watch {
    double rows;    /* the items 0..rows-1 are covered, and factors are out of date; 0: none are */
    double learned; /* rows since all were computed anew */
    double span;    /* learned rows until then; 0: the factor is better kept */
    double quiet;   /* rounds since a row was not what it had been */
    double wait;    /* quiet rounds before rows are covered */
} covariances_watch;

/* Of one or two regressions on the same rows. */
typedef struct row_covariances {
    uint32_t room;                 /* rows; 0: never used */
    uint32_t dim;                  /* features of a row */
    uint32_t models;               /* regressions */
    size_t g[MOST_COVERED_MODELS]; /* offsets of matrices, see covered_matrix */
    size_t work;                   /* offset of (FORMS_BATCH, stride) doubles, while learning */
    size_t solution;               /* offset of room for solutions, while learning */
    /* Offsets of (2, room) doubles: the weights of each row, then its weights times rewards, which
     * the sums of a regression do not have yet. */
    size_t count[MOST_COVERED_MODELS];
    size_t x;       /* offset of (room, dim) floats: the rows that have counts */
    double counted; /* how many have: those that are covered, or none */
    covariances_watch watch;
} row_covariances;

/* Column j of the matrix, `stride` doubles from the one before it, holds rows from j & ~7 on, which
 * are symmetric.  Item i is row and column COVERED_FIRST + i; column 0 holds the means m, column 1
 * the G_ii when they were last computed from a factor. */
enum { COVERED_MEAN, COVERED_MADE, COVERED_FIRST };

row_covariances row_covariances_plan(layout *l, uint32_t n_items, uint32_t dim, uint32_t models);
/* Covers nothing; the sums take the counts, and the factors are out of date. */
void row_covariances_reset(void *state, row_covariances *c, linear *const *model);

static inline bool row_covariances_on(const row_covariances *c)
{
    return c->watch.rows > 0;
}

/* ---- learning: begin; then, where it returned true, learn and end, else the factor learns, and
 * enter.  model: (models) */

/* After row_forms_begin().  Whether the candidates are the rows that are covered; if other rows
 * were, the factors are made from the sums, and nothing is covered any more. */
bool row_covariances_begin(void *state, row_covariances *c, const row_forms *rows,
                           linear *const *model);
/* After a round that was learned with the factors: covers the rows if all have stayed long enough.
 */
void row_covariances_enter(void *state, row_covariances *c, const row_forms *rows,
                           linear *const *model);
/* Regression `which` learns the rows of n <= FORMS_BATCH different items; weight NULL means all 1.
 */
void row_covariances_learn(void *state, const row_covariances *c, uint32_t which, const double *y,
                           const double *weight, const uint32_t *item, uint32_t n);
/* After a round in which up to n_rows were learned: computes anew what must be, and puts the forms
 * of regression 0 into `rows`. */
void row_covariances_end(void *state, row_covariances *c, const row_forms *rows,
                         linear *const *model, uint32_t n_rows);

/* ---- reading */

static inline size_t covered_stride(const row_covariances *c)
{
    return ((size_t)c->watch.rows + COVERED_FIRST + 7) & ~(size_t)7;
}

/* G_ii and m_i of a covered item. */
static inline double covered_form(const void *state, const row_covariances *c, uint32_t which,
                                  uint32_t item)
{
    return doubles_at(state, c->g[which])[(COVERED_FIRST + item) * (covered_stride(c) + 1)];
}

static inline double covered_mean(const void *state, const row_covariances *c, uint32_t which,
                                  uint32_t item)
{
    return doubles_at(state, c->g[which])[COVERED_FIRST + item];
}

/* A factor of regression `which` in memory of the caller: covered_factor_doubles(dim), aligned to
 * 64 bytes. */
static inline size_t covered_factor_doubles(uint32_t dim)
{
    return ldl_doubles(dim) + (size_t)dim * (dim + 1) / 2 + dim;
}
ldl covered_factor_in(const void *state, const row_covariances *c, uint32_t which,
                      const linear *model, double *memory);

/* OLTR_ESTATE when a form or a mean is further than 1e-9 from that of a factor made from the sums.
 */
oltr_status row_covariances_check(const void *state, const row_covariances *c,
                                  const row_forms *rows, linear *const *model, oltr_error *error);

/* ---- what was learned */

/* How many rows have counts, the rows, and the counts of each regression. */
enum { COVARIANCES_SUMS = 2 + 2 * MOST_COVERED_MODELS };
uint32_t row_covariances_sums(const void *state, const row_covariances *c,
                              oltr_sum_array out[COVARIANCES_SUMS]);
/* Whether the counts are possible: of rows with features within the limits, weights that are at
 * most `most` together, rewards of 0 to 1. */
oltr_status row_covariances_check_counts(const void *state, const row_covariances *c, double most,
                                         oltr_error *error);
/* The sums of `into` gain the sums and the counts of another state. */
void row_covariances_add(void *into, linear *const *into_model, const void *state,
                         const row_covariances *c, const linear *const *model);

/* ---- snapshots */

/* Returns 1 + models, or 0 where nothing is ever covered. */
enum { COVARIANCES_DERIVED = 1 + MOST_COVERED_MODELS };
uint32_t row_covariances_list(const void *state, const row_covariances *c,
                              oltr_sum_array out[COVARIANCES_DERIVED]);
/* After they, the factors and the kept forms were read: resumes all of them.  OLTR_ESTATE when
 * learning cannot leave such numbers.  Those that do not fit the sums are dropped, and the factors
 * made anew. */
oltr_status row_covariances_resume(void *state, row_covariances *c, row_forms *rows,
                                   linear *const *model, oltr_error *error);

#endif
