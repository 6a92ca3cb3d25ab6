/* feature_rows.h - what the policies with context share: rows of features in, scores of candidates
 * out.
 *
 * The paper assumes |x| <= 1.  What happens to a longer row is the parameter `norm`: it is taken as
 * it is, shortened to length 1, or refused.
 */
#ifndef OLTR_ENGINE_POLICY_FEATURE_ROWS_H
#define OLTR_ENGINE_POLICY_FEATURE_ROWS_H

#include "engine/linalg/ldl.h"
#include "engine/policy/item_policy.h"

enum { NORM_ACCEPT, NORM_SCALE, NORM_REFUSE };
extern const char *const norm_choices[];
#define NORM_PARAM                                                                                 \
    {                                                                                              \
        "norm", OLTR_CHOICE, NORM_ACCEPT, 0, 2, norm_choices,                                      \
            "a row of features longer than 1 is taken as it is, shortened to length 1, or refused" \
    }

enum { LEARN_BATCH = 32 }; /* rows gathered at once */

/* Where a ranking keeps what: planned once, read every round. */
typedef struct context_offsets {
    size_t score, best, width, theta, single, work, bytes;
} context_offsets;

typedef struct context {
    uint32_t n_items, dim, norm;
    size_t rows; /* offset of (LEARN_BATCH, dim) floats: shortened copies */
    context_offsets scratch;
} context;

/* A snapshot holds at least one triangle of x x' (policy_ops.saved). */
size_t context_saved(const oltr_settings *settings);

context context_plan(layout *l, const oltr_settings *settings, uint32_t norm);

/* How many rows can have been learned before round t: a list is no longer than there are items. Not
 * of this policy, because it may have had more of them than it has now. */
static inline double context_most_rows(uint64_t t)
{
    return (double)(t - 1) * MOST_POLICY_ITEMS;
}

/* 1 when the row is against the settings. */
int context_refuses(const context *c, const float *x);

/* Rows and rewards of up to LEARN_BATCH of the slots start..end-1; returns how many.  Rows are
 * shortened where the settings say so; the reward of a slot that was not examined is 0. */
uint32_t context_gather(void *state, const context *c, const candidates *from,
                        const oltr_ranking *shown, const oltr_feedback *seen, uint32_t start,
                        uint32_t end, const float *x[LEARN_BATCH], double y[LEARN_BATCH]);

/* ---- scratch of a ranking */

typedef struct context_scratch {
    double_scores scores; /* score: (padded(n_items)) */
    double *width;        /* (n_items) */
    double *theta;        /* (dim) */
    float *single;        /* (padded(dim)) standard normals */
    double *work;         /* ldl_quadratic_work(dim) */
    normals_ahead *ahead;
} context_scratch;

size_t context_scratch_bytes(const oltr_settings *settings);
static inline context_scratch context_scratch_of(void *scratch, const context *c)
{
    const context_offsets *at = &c->scratch;
    return (context_scratch){{doubles_at(scratch, at->score), doubles_at(scratch, at->best)},
                             doubles_at(scratch, at->width),
                             doubles_at(scratch, at->theta),
                             floats_at(scratch, at->single),
                             doubles_at(scratch, at->work),
                             ahead_of(scratch)};
}

/* theta ~ N(V^-1 b, scale^2 V^-1), into s.theta. */
void context_sample(const context_scratch *s, const context *c, const ldl *factor, double scale,
                    const oltr_rng *rng);

/* x'theta of every candidate, of its shortened row where the settings say so, into
 * s.scores.score. */
oltr_status context_scores(const context_scratch *s, const context *c, const candidates *from,
                           const double *theta);

/* What shortening does to a value that grows with the row: divided by |x| where that is above 1.
 * OLTR_EFEATURE for a row that is refused. */
oltr_status context_shorten(const context *c, const candidates *from, double *value);

/* sqrt(x'V^-1 x) of every candidate, likewise, into s.width. */
void context_widths(const context_scratch *s, const context *c, const candidates *from,
                    const ldl *factor);

/* Shows the best of the scored candidates.  OLTR_EFEATURE when one of them has a feature that
 * oltr_learn() would refuse: only those of the list are looked at, because looking at every feature
 * would cost as much as scoring it. */
oltr_status context_show(const context_scratch *s, const context *c, const candidates *from,
                         const oltr_rng *rng, const oltr_ranking *out);

/* Turns x'theta and x'V^-1 x of a logistic model into the chance of a click and its standard
 * deviation to first order; sd may be NULL. */
oltr_status context_click_moments(const context *c, const candidates *from, double spread,
                                  double *mean, double *sd);

#endif
