/* linear_ts.h - Thompson sampling on a linear model, for the policies that differ only in how wide
 * they sample.
 *
 * lints, lints-cascade and cascade-lints all keep V = ridge I + sum x x' and b = sum x y, draw
 * theta ~ N(V^-1 b, spread^2 V^-1), and show the items with the largest x'theta.  Each gives its
 * ridge and its spread; everything else is here.
 */
#ifndef OLTR_ENGINE_POLICY_LINEAR_TS_H
#define OLTR_ENGINE_POLICY_LINEAR_TS_H

#include "engine/policy/feature_rows.h"
#include "engine/posterior/linear.h"

typedef struct linear_ts {
    linear model;
    context rows;
    size_t bytes;
    uint32_t variant;
    double largest_reward;
    double a, b, c; /* what the policy's spread needs */
    double spread;  /* of the round to come, where the policy keeps it: derived */
} linear_ts;

linear_ts linear_ts_plan(const oltr_settings *settings, double ridge, uint32_t norm);

/* One round with the given spread. */
oltr_status linear_ts_rank(const linear_ts *p, double spread, const candidates *from,
                           const oltr_rng *rng, void *scratch, const oltr_ranking *out);

/* Operations of policy_ops. */
oltr_status linear_ts_learn(void *state, uint64_t t, const candidates *from,
                            const oltr_ranking *shown, const oltr_feedback *seen);
uint32_t linear_ts_sums(const void *state, sum_array out[MAX_SUMS]);
void linear_ts_refresh(void *state, uint64_t t);
oltr_status linear_ts_check(const void *state, uint64_t t, oltr_error *error);
oltr_status linear_ts_check_derived(const void *state, oltr_error *error);
uint32_t linear_ts_derived(const void *state, sum_array out[MAX_SUMS]);
oltr_status linear_ts_resume(void *state, uint64_t t, oltr_error *error);
int linear_ts_refuses(const void *state, const float *x);

/* Mean and standard deviation of x'theta as it is sampled. */
oltr_status linear_ts_predict(const linear_ts *p, double spread, const candidates *from,
                              double *mean, double *sd);

#endif
