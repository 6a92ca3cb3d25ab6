/* feature_rows.h - the candidates of policies with context: rows of features in, a list out.
 *
 * The paper assumes |x| <= 1.  The parameter `norm` decides about a longer row: it is accepted as
 * it is, scaled to length 1, or refused.
 */
#ifndef OLTR_ENGINE_POLICY_FEATURE_ROWS_H
#define OLTR_ENGINE_POLICY_FEATURE_ROWS_H

#include "engine/linalg/ldl.h"
#include "engine/policy/candidate_scores.h"
#include "engine/posterior/row_covariances.h"

enum { NORM_ACCEPT, NORM_SCALE, NORM_REFUSE };
extern const char *const norm_choices[];
#define NORM_PARAM                                                                                 \
    {                                                                                              \
        "norm", OLTR_CHOICE, NORM_ACCEPT, 0, 2, norm_choices,                                      \
            "a row of features longer than 1 is accepted, shortened to length 1, or refused"       \
    }

/* Offsets of the arrays of a ranking in its scratch: planned once, read every round. */
typedef struct feature_scratch_plan {
    size_t score, best, width, more, theta, single, gather, work, bytes;
} feature_scratch_plan;

typedef struct feature_rows {
    uint32_t n_items, dim, norm;
    size_t scaled; /* offset of (LEARN_BATCH, dim) floats: copies of rows, scaled to length 1 */
    feature_scratch_plan scratch;
} feature_rows;

feature_rows feature_rows_plan(layout *l, const oltr_settings *settings, uint32_t norm);
size_t feature_scratch_bytes(const oltr_settings *settings);

/* min_saved_numbers: a snapshot holds at least one triangle of x x'. */
size_t feature_min_saved(const oltr_settings *settings);

/* The most rows that can have been learned before round t: a list is no longer than there are
 * items.  MOST_POLICY_ITEMS, because the policy may have had more items than it has now. */
static inline double most_rows_before(uint64_t t)
{
    return (double)(t - 1) * MOST_POLICY_ITEMS;
}

/* Whether `norm` refuses this row. */
bool row_is_too_long(const feature_rows *rows, const float *x);

/* ---- learning: the rows of a list, LEARN_BATCH at a time */

enum { LEARN_BATCH = 32 };

typedef struct row_batch {
    uint32_t start, n; /* slots start..start+n-1 */
    const float *x[LEARN_BATCH];
    double y[LEARN_BATCH];
    const double *weight; /* of the examined slots from `start` on, or NULL: all 1 */
} row_batch;

static inline void batch_begin(row_batch *b)
{
    b->start = b->n = 0;
}

/* The next rows and rewards of the slots below `end`; false when none are left.  Rows are scaled
 * with norm: scale; the reward of a slot that was not examined is 0. */
bool batch_next(row_batch *b, void *state, const feature_rows *rows, const candidates *from,
                const oltr_ranking *shown, const oltr_feedback *seen, uint32_t end);

/* ---- ranking
 *
 * OLTR_EFEATURE when a candidate has a feature that is not finite or a row that `norm` refuses, or
 * when a shown one has a feature that oltr_learn() would refuse: only those of the list are
 * checked, because a check of every feature would cost as much as scoring it. */

/* theta ~ N(center + V^-1 b, spread^2 V^-1), in the scratch.  center NULL means 0. */
double *sample_theta(const feature_rows *rows, const ldl *factor, const double *center,
                     double spread, const oltr_rng *rng, void *scratch);
/* By x'theta. */
oltr_status rank_by_theta(const feature_rows *rows, const double *theta, const candidates *from,
                          const oltr_rng *rng, void *scratch, const oltr_ranking *out);
/* The operation rank_together(): SEVERAL samples in one pass over the rows. */
oltr_status rank_by_samples(const feature_rows *rows, const ldl *factor, const double *center,
                            double spread, const candidates *from, const oltr_rng *rng,
                            void *scratch, const oltr_ranking *out);
/* Both. */
oltr_status rank_by_sample(const feature_rows *rows, const ldl *factor, const double *center,
                           double spread, const candidates *from, const oltr_rng *rng,
                           void *scratch, const oltr_ranking *out);

/* By min{x'theta + width sqrt(x'V^-1 x), most}; the forms of rows that stay are in the state, and
 * their means where they are covered. */
typedef struct upper_bound {
    const void *state;
    const linear *model;
    const row_forms *forms;
    const row_covariances *covariances; /* regression 0 is that of the model; NULL: none kept */
    double width, most;
    const double *theta; /* (dim); NULL means V^-1 b */
} upper_bound;
oltr_status rank_by_upper_bound(const feature_rows *rows, const upper_bound *bound,
                                const candidates *from, const oltr_rng *rng, void *scratch,
                                const oltr_ranking *out);
/* The plan of the covariances of rows that stay.  Shortened rows are not the rows of candidates:
 * with norm: scale none are kept. */
row_covariances covariances_of(layout *l, const oltr_settings *settings, uint32_t norm,
                               uint32_t models);
/* Its scratch: a factor, where that of the state may be out of date, behind
 * feature_scratch_bytes().
 */
size_t bound_scratch_bytes(const oltr_settings *settings);

/* ---- prediction; sd may be NULL */

/* Mean x'theta and its standard deviation spread sqrt(x'V^-1 x); theta NULL means V^-1 b. */
oltr_status predict_scores(const feature_rows *rows, const ldl *factor, const double *theta,
                           double spread, const candidates *from, double *mean, double *sd);

/* The same with theta = V^-1 b and a factor made from the sums and counts of what is covered, where
 * that of the state is out of date. */
oltr_status predict_covered(const feature_rows *rows, const upper_bound *of, double spread,
                            const candidates *from, double *mean, double *sd);

/* The chance of a click mu(x'theta) of a link, and its standard deviation to first order. */
oltr_status predict_chances(const feature_rows *rows, uint32_t link, const ldl *factor,
                            const double *theta, double spread, const candidates *from,
                            double *mean, double *sd);

#endif
