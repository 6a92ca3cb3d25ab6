/* recalibration.h - what ts-hyper learns about its prior: how far the told prior of all items is
 * off, as a posterior over a grid of recalibrations.
 *
 * The told prior of item i is Beta(a_i, b_i), with n_i = a_i + b_i and log-odds
 * z_i = log(a_i / b_i).  A recalibration (s, r, w) is one for all items:
 *
 *     logit m_i = centre + s + r (z_i - centre)      s: shift of the log-odds
 *     prior       Beta(w n_i m_i, w n_i (1 - m_i))   r: slope, how much of the told order holds
 *                                                    w: weight, how sure the told prior is
 *
 * The centre is the mean of z_i over the items when the policy is made.  The odds b : a of the told
 * prior are multiplied by exp(-s) x^(1-r) with x = exp(z_i - centre); with slopes 0, 1/2 and 1 that
 * takes a square root and no exponential, and (0, 1, 1) leaves the told prior as it is, to the bit.
 *
 * A cell's weight is its hyperprior times the marginal likelihood of all observations, which is a
 * product of one chance for each: (a + S) / (n + N) for a click and (b + N - S) / (n + N) for none,
 * with the numbers N and S of the item before it.  Each cell keeps the product as factor times
 * 2^exponent, so that it never underflows; taking the exponent out of a factor is exact.  All this
 * takes a few hundred multiplications for an observation, and no logarithm.
 *
 * The factors depend on the order of observations by their rounding.  So a snapshot has them beside
 * the sums, and a merged or faded policy derives them anew (recalibration_add).
 */
#ifndef OLTR_ENGINE_POSTERIOR_RECALIBRATION_H
#define OLTR_ENGINE_POSTERIOR_RECALIBRATION_H

#include "engine/base/layout.h"
#include "engine/kernels/table.h"

/* 46 shifts from -20 to 20, padded, 21 weights from 2^-10 to 2^10, and the slopes. */
enum { MOST_ROWS = 21 * MOST_SLOPES, MOST_CELLS = 48 * MOST_ROWS };
enum { SHIFT_AXIS, SLOPE_AXIS, WEIGHT_AXIS, GRID_AXES };

/* The grid and the hyperprior: shifts at multiples of 1/2 from -3 to 2 and at whole numbers beyond,
 * weights at powers of 2. */
typedef struct recalibration_plan {
    double shift_min, shift_max; /* the first and the last shift; 0 is among them */
    double shift_sd;             /* the hyperprior of the shift is N(0, shift_sd^2) */
    double weight_min, weight_max;
    double weight_sd;              /* that of log w is N(0, weight_sd^2) */
    bool slopes;                   /* 0, 1/2 and 1; otherwise 1 alone */
    double slope_none, slope_half; /* how likely 0 and 1/2 are, relative to 1 */
} recalibration_plan;

/* The told prior of an item and its observations. */
typedef struct item_evidence {
    double a, b, examined, clicked;
} item_evidence;

/* Arrays by their offsets from the state.  The hyperprior is computed when it is needed: it would
 * be another 8 bytes of a cell. */
typedef struct recalibration {
    recalibration_plan plan;
    uint32_t n_slopes, n_weights, n_shifts;
    uint32_t n_padded;       /* shifts, with padding whose hyperprior is 0 */
    uint32_t n_cells;        /* padding included */
    size_t centre;           /* (1) exp(-centre) */
    size_t odds;             /* (n_padded) exp(-shift) */
    size_t weight;           /* (n_weights) */
    size_t factor, exponent; /* (n_cells) doubles */
    size_t scale;            /* (n_cells) grid_scale: 2^(exponent - the largest), or 0 where
                                negligible */
    size_t total;            /* (n_slopes n_weights) of each row, factor * scale */
} recalibration;

recalibration recalibration_layout(layout *l, const recalibration_plan *plan);
/* Fills in the axes and the hyperprior. */
void recalibration_init(void *state, const recalibration *r);

/* Back to the hyperprior, as without any observation. */
void recalibration_clear(void *state, const recalibration *r);
/* Adds all observations of an item, or takes them away (sign -1). */
void recalibration_add(void *state, const recalibration *r, const item_evidence *item, int sign);
/* One more observation of it, which counts for `weight`; item has the numbers before it. */
void recalibration_observe(void *state, const recalibration *r, const item_evidence *item,
                           bool clicked, double weight);
/* Weights of the cells as they were saved: whether observations can leave them; whether they agree
 * with those of the state, which were derived anew from the sums, but for `rounding` of the
 * logarithms; and taking them over. */
bool recalibration_possible(const void *state, const recalibration *r, const double *factor,
                            const double *exponent);
bool recalibration_agrees(const void *state, const recalibration *r, const double *factor,
                          const double *exponent, double rounding);
void recalibration_take(void *state, const recalibration *r, const double *factor,
                        const double *exponent);

/* Draws a cell by its weight. */
grid_cell recalibration_draw(const void *state, const recalibration *r, const oltr_rng *rng);
/* Cell 0..n_cells-1, its chance to be drawn, and the Beta posterior of an item in it. */
grid_cell recalibration_cell(const void *state, const recalibration *r, uint32_t cell);
double recalibration_chance(const void *state, const recalibration *r, uint32_t cell);
void recalibration_posterior(const grid_cell *cell, const item_evidence *item, double *a,
                             double *b);
/* Mean and standard deviation of the posterior of an item's attraction, over all cells. */
void recalibration_predict(const void *state, const recalibration *r, const item_evidence *item,
                           double *mean, double *sd);
/* The posterior of the shift (0), the slope (1) or the weight (2). */
void recalibration_marginal(const void *state, const recalibration *r, uint32_t axis,
                            oltr_hyper *out);

#endif
