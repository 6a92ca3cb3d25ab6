/* click_rate.h - the state of the policies whose index is a short formula of an item's click rate
 * and its number of observations.
 *
 * cascade-ucb1, cascade-ucbv and ts-cascade differ in one line, the formula; epsilon-greedy
 * replaces some of the best.  In addition to the sums they keep the rate p = S/N and the weight
 * 1/(N + extra) of each item as arrays, so that the formula runs down the items without a branch.
 *
 * From CLASSES_LEAST_ITEMS items on they keep instead the items with equal sums as classes
 * (race/classes.h), with rate and weight of each class: a list from all items computes the formula
 * once for each class, one from named items from their sums.  The list is the same.  The arrays of
 * the items are then written only while there are too many classes; the system provides their pages
 * when they are first written.  Where the index is a function of the rate alone (`by_rate`), items
 * with equal rates are a class: all that were never clicked are one, for example.
 *
 * An index that is clipped to 1 (`clips`) makes many classes tie at 1.  Those are one class, the
 * clipped items.  For given sums the index does not fall as t grows, so a class joins the clipped
 * items once, and an item leaves them only when it is examined.
 */
#ifndef OLTR_ENGINE_POLICY_CLICK_RATE_H
#define OLTR_ENGINE_POLICY_CLICK_RATE_H

#include "engine/policy/item_policy.h"
#include "engine/race/class_rank.h"

typedef struct click_rate_state {
    item_sums sums; /* first: see item_policy.h */
    size_t rate;    /* (n_items) doubles: (S + added_clicks) / (N + added_looks); of an unseen item
                       `unseen` */
    size_t weight;  /* (n_items) doubles: 1/(N + extra); of an unseen item 0 when extra is 0 */
    size_t class_rate, class_weight; /* (class_places) doubles */
    size_t classes;                  /* class_index, derived, the last array; 0 without one */
    size_t bytes;
    double extra, unseen;
    double added_clicks, added_looks; /* epsilon-greedy */
    double alpha;                     /* cascade-ucb1; epsilon-greedy: epsilon */
    double log_t;                     /* where the index clips: of the round that comes next */
    uint32_t variant; /* as printed, or of the released code, by the policy's own enum */
    uint32_t clips;   /* cascade-ucbv */
    uint32_t by_rate; /* epsilon-greedy */
} click_rate_state;

/* `own` gives what a policy names above; the rest is 0. */
oltr_status click_rate_init(void *state, const oltr_settings *settings, click_rate_state own);

#define CLICK_RATE_OPS                                                                             \
    ITEM_POLICY_OPS, .state_bytes = click_rate_bytes, .scratch_bytes = click_rate_scratch_bytes,   \
                     .learn = click_rate_learn, .refresh = click_rate_refresh,                     \
                     .renew_item = click_rate_renew, .check = check_clicks,                        \
                     .agrees = click_rate_agrees, .predict = predict_clicks

size_t click_rate_bytes(const oltr_settings *settings);
size_t click_rate_scratch_bytes(const oltr_settings *settings);
void click_rate_refresh(void *state, uint64_t t);
oltr_status click_rate_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                             const double *before, oltr_error *error);
oltr_status click_rate_learn(void *state, uint64_t t, const candidates *from,
                             const oltr_ranking *shown, const oltr_feedback *seen);
int click_rate_agrees(const void *state, const void *anew);

/* The index of n items or classes from their rates and weights; `clock` is what the policy computes
 * once a round. */
typedef struct rate_clock {
    double bound, normal;
} rate_clock;
typedef void rate_formula(const rate_clock *clock, const double *rate, const double *weight,
                          uint32_t n, double *restrict index);

/* Shows the candidates with the largest index.  Always OLTR_OK. */
oltr_status click_rate_rank(const click_rate_state *p, rate_formula *formula,
                            const rate_clock *clock, const candidates *from, const oltr_rng *rng,
                            void *scratch, const oltr_ranking *out);
/* The same, but out->item gets their places among the candidates. */
void click_rate_best(const click_rate_state *p, rate_formula *formula, const rate_clock *clock,
                     const candidates *from, const oltr_rng *rng, void *scratch,
                     const oltr_ranking *out);

/* The rate of an item, from its sums. */
double click_rate_of(const click_rate_state *p, uint32_t item);

/* The index of cascade-ucbv of an item that was seen: at most 1. */
static inline double bernstein_bound(double rate, double weight, double log_t)
{
    double per_look = log_t * weight;
    double value = rate + sqrt(4 * rate * (1 - rate) * per_look) + 6 * per_look;
    return value < 1 ? value : 1;
}

#endif
