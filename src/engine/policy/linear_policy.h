/* linear_policy.h - policies on a linear model: V = ridge I + sum x x', b = sum x y,
 * theta_hat = V^-1 b.
 *
 * lints, lints-cascade, cascade-lints and cascade-linucb differ in the ridge and in the width of
 * their samples or bounds; everything else is here.  The states of cascade-woful and logts-newton
 * begin with a linear_policy and take the operations that fit.
 */
#ifndef OLTR_ENGINE_POLICY_LINEAR_POLICY_H
#define OLTR_ENGINE_POLICY_LINEAR_POLICY_H

#include "engine/policy/feature_rows.h"
#include "engine/posterior/linear.h"

/* beta_t, the printed width of the paper's Algorithms 2 and 3:
 *     beta_t = sigma^2 sqrt(d log(1 + t/lambda) + 2 log(1/delta_t)) + sqrt(lambda) S,
 *     delta_t = delta / 2^max(1, ceil(log2 t)),    delta = 1 / (T (log2 T + 2)).
 * The paper writes "log" for log2; its doubling argument needs base 2. */
typedef struct theory_width {
    double dim, lambda, sigma;
    double bound;     /* sqrt(lambda) S */
    double log_delta; /* log(1/delta) */
} theory_width;

theory_width theory_width_of(uint32_t dim, double lambda, double bound, double sigma,
                             double horizon);
double theory_beta(const theory_width *w, uint64_t t);

/* What the width of a policy is computed from; each policy sets the members that it reads. */
typedef struct linear_width {
    double spread;         /* of the samples; with by_theory beta_t of the next round, derived */
    bool by_theory;        /* lints */
    theory_width theory;   /* lints */
    uint32_t variant;      /* which formula, by the policy's own enum */
    double factor;         /* lints-cascade: 3 lambda R; cascade-linucb: c */
    double horizon, bound; /* cascade-linucb: T and S */
} linear_width;

typedef struct linear_policy {
    linear model;
    feature_rows rows;
    double largest_reward;
    linear_width width;
} linear_policy;

linear_policy linear_policy_plan(layout *l, const oltr_settings *settings, double ridge,
                                 uint32_t norm);
oltr_status linear_policy_init(void *state, const oltr_settings *settings, double ridge,
                               uint32_t norm, linear_width width);

/* Thompson sampling with this spread, and its prediction: mean and standard deviation of x'theta as
 * it is sampled. */
oltr_status linear_policy_sample(const linear_policy *p, double spread, const candidates *from,
                                 const oltr_rng *rng, void *scratch, const oltr_ranking *out);
oltr_status linear_policy_samples(const linear_policy *p, double spread, const candidates *from,
                                  const oltr_rng *rng, void *scratch, const oltr_ranking *out);
oltr_status linear_policy_predict_with(const linear_policy *p, double spread,
                                       const candidates *from, double *mean, double *sd);

/* What all four promise in their info; the operations that are the same for all four; and those
 * for a state that merely begins with a linear_policy. */
#define LINEAR_POLICY_INFO                                                                         \
    .can_predict = 1, .can_merge = 1, .can_forget = 1, .takes_weights = 1, .contextual = 1,        \
    .can_resize = 1, .exact_copy = 1, .n_params = N_PARAMS, .params = params
#define LINEAR_POLICY_OPS                                                                          \
    LINEAR_FACTOR_OPS, .state_bytes = linear_policy_bytes, .learn = linear_policy_learn,           \
                       .sums = linear_policy_sums, .check = linear_policy_check
#define LINEAR_FACTOR_OPS                                                                          \
    .scratch_bytes = feature_scratch_bytes, .min_saved_numbers = feature_min_saved,                \
    .row_rejected = linear_policy_row_rejected, .refresh = linear_policy_refresh,                  \
    .resume = linear_policy_resume, .check_derived = linear_policy_check_derived,                  \
    .derived = linear_policy_derived

size_t linear_policy_bytes(const oltr_settings *settings);
/* With width.spread. */
oltr_status linear_policy_rank(const void *state, uint64_t t, const candidates *from,
                               const oltr_rng *rng, void *scratch, const oltr_ranking *out);
oltr_status linear_policy_rank_together(const void *state, uint64_t t, const candidates *from,
                                        const oltr_rng *rng, void *scratch,
                                        const oltr_ranking *out);
oltr_status linear_policy_predict(const void *state, uint64_t t, const candidates *from,
                                  double *mean, double *sd);
oltr_status linear_policy_learn(void *state, uint64_t t, const candidates *from,
                                const oltr_ranking *shown, const oltr_feedback *seen);
enum { LINEAR_SUMS = 2 };
uint32_t linear_policy_sums(const void *state, sum_array out[MAX_SUMS]);
void linear_policy_refresh(void *state, uint64_t t);
oltr_status linear_policy_check(const void *state, uint64_t t, oltr_error *error);
oltr_status linear_policy_check_derived(const void *state, oltr_error *error);
uint32_t linear_policy_derived(const void *state, sum_array out[MAX_SUMS]);
oltr_status linear_policy_resume(void *state, uint64_t t, oltr_error *error);
int linear_policy_row_rejected(const void *state, const float *x);

#endif
