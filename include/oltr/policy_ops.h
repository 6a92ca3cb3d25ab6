/* policy_ops.h - the interface that every policy of the catalogue implements, for one of your own.
 *
 * A policy is one const oltr_policy_ops.  Outside the library it is used by
 * oltr_settings_init_custom() in place of oltr_settings_init(); from there on everything works as
 * with the policies of the catalogue: oltr_rank() and oltr_learn() check every argument before an
 * operation is called, rounds are counted, snapshots, merging and forgetting are done from the list
 * of sums that the policy gives, and the simulator plays it like the others.  So an operation can
 * trust its input.  examples/custom_policy.c is a complete one.
 *
 * Data that the operations share with your program are passed in settings.custom, which init reads:
 * two policies of one oltr_policy_ops may have different data.  It is the only pointer that a state
 * may hold, because a copy of the state may use it as well; several threads read it at once when
 * they rank.  A snapshot does not hold it: oltr_load_options has a place for it.
 *
 * Errors: rank and learn return a status, which oltr_rank() and oltr_learn() pass on.  A learn that
 * fails must leave the state as it was; the engine does not count the round then, and cannot undo
 * changes.  A merge that fails may leave any state: it works on a copy.  `error` of an operation is
 * never NULL, and empty; where it stays so, the caller gets the sentence of the status.
 *
 * This header changes with the engine: code that includes it may have to change with a new minor
 * version.
 */
#ifndef OLTR_POLICY_OPS_H
#define OLTR_POLICY_OPS_H

#include <oltr/oltr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The candidates of a request, checked: distinct, in range.  item is NULL when they are the items
 * 0..n-1.  Policies with context find a row of settings.dim features for each. */
typedef struct oltr_candidates {
    uint32_t n;           /* how many */
    const uint32_t *item; /* (n) or NULL */
    const float *x;       /* (n, stride) or NULL */
    size_t stride;        /* floats from row to row */

    /* In learn; read them by the two functions below. */
    const uint32_t *mark; /* base + row of each candidate, by its item; NULL where item is */
    uint32_t base;        /* see mark */
    const uint32_t *slot; /* (k) the slots of a list that was compacted, or NULL */
} oltr_candidates;

/* In learn: the row of a shown item, 0..n-1. */
static inline uint32_t oltr_row_of(const oltr_candidates *from, uint32_t item)
{
    return from->item ? from->mark[item] - from->base : item;
}

/* In learn: the slot in which the user saw entry `i` of the list.  The examined slots come first in
 * that list, so it is not always i. */
static inline uint32_t oltr_slot_of(const oltr_candidates *from, uint32_t i)
{
    return from->slot ? from->slot[i] : i;
}

/* One array of learned sums.  Derived numbers may be a triangle: c columns, `stride` doubles apart,
 * of column j the rows j+1..c, which are n = c (c+1) / 2 numbers. */
typedef struct oltr_sum_array {
    const char *name; /* of the sums, in snapshots and messages: at most 63 bytes */
    double *value;    /* (n), or NULL */
    size_t n;         /* how many numbers */
    float *single;    /* (n) in its place: feature rows, which do not add up */
    size_t stride;    /* not 0: a triangle, see above */
} oltr_sum_array;
enum { OLTR_MAX_SUMS = 12, OLTR_RANKED_TOGETHER = 4 };

/* The law of the score of a candidate: normal, with a mean and a standard deviation; Beta, with its
 * two shapes; Gumbel, with the location and the scale 1; or fixed.  Equal fixed scores are tied,
 * and ties are broken uniformly. */
typedef enum oltr_law { OLTR_LAW_NORMAL, OLTR_LAW_BETA, OLTR_LAW_FIXED, OLTR_LAW_GUMBEL } oltr_law;

/* A policy: its entry of the catalogue, and its operations. */
typedef struct oltr_policy_ops {
    oltr_policy_info info; /* info.ops points to this struct */

    /* REQUIRED.  `t` is the number of the next round to be ranked, from 1.  State and scratch are
     * aligned to 64 bytes, the state is zeroed before init and holds no pointer but
     * settings.custom.  state_bytes and scratch_bytes are at least 1, and 0 when the size does not
     * fit. */
    size_t (*state_bytes)(const oltr_settings *settings);
    size_t (*scratch_bytes)(const oltr_settings *settings);
    oltr_status (*init)(void *state, const oltr_settings *settings, oltr_error *error);
    /* OLTR_EFEATURE for a feature that is not finite, or beyond 1e6 in the list; else OLTR_OK. */
    oltr_status (*rank)(const void *state, uint64_t t, const oltr_candidates *from,
                        const oltr_rng *rng, void *scratch, const oltr_ranking *out);
    /* The first seen->n_examined entries of the list were examined, the others not; seen->examined
     * is NULL.  seen->weight is NULL unless info.takes_weights.  On any status but OLTR_OK the
     * state must be what it was, and the round is not counted. */
    oltr_status (*learn)(void *state, uint64_t t, const oltr_candidates *from,
                         const oltr_ranking *shown, const oltr_feedback *seen);
    /* Lists what was learned, nothing else; returns how many arrays, at most OLTR_MAX_SUMS.  Every
     * number is finite and at most 1e70 either way. */
    uint32_t (*sums)(const void *state, oltr_sum_array out[OLTR_MAX_SUMS]);
    void (*refresh)(void *state, uint64_t t); /* rebuilds all that is derived from the sums */
    oltr_status (*check)(const void *state, uint64_t t,
                         oltr_error *error); /* are the sums possible in round t? */

    /* OPTIONAL: NULL has the meaning given for each. */

    /* The least number of numbers in the sums of a snapshot; NULL means 0. */
    size_t (*min_saved_numbers)(const oltr_settings *settings);
    /* NULL unless info.can_predict.  sd may be NULL; OLTR_ENOMEM without room of its own. */
    oltr_status (*predict)(const void *state, uint64_t t, const oltr_candidates *from, double *mean,
                           double *sd);
    /* NULL: all sums are added, and multiplied by keep, number by number; not with feature rows
     * among them. */
    oltr_status (*merge)(void *state, const void *from);
    void (*forget)(void *state, double keep);
    /* A policy with context: 1 when its settings reject this row of features. */
    int (*row_rejected)(const void *state, const float *x);
    /* 1 when learning these weights, in any order, would take a sum beyond what check() allows in
     * round t.  Only called with weights.  Slots that a mask leaves out do not count. */
    int (*overflows)(const void *state, uint64_t t, const oltr_ranking *shown,
                     const oltr_feedback *seen);
    /* NULL: refresh() gives the very bytes that learn() leaves. */
    oltr_status (*check_derived)(const void *state, oltr_error *error);
    /* Derived numbers whose bits depend on the path (a factor kept by updates, an estimate found by
     * a solver): a snapshot keeps them, so that a copy goes on to the same bits.  How many arrays;
     * one may hold the length of the next. */
    uint32_t (*derived)(const void *state, oltr_sum_array out[OLTR_MAX_SUMS]);
    /* Called in place of refresh() after they were read: rebuilds the rest.  OLTR_ESTATE when they
     * are impossible (not finite, a pivot that is not positive).  NULL where derived is. */
    oltr_status (*resume)(void *state, uint64_t t, oltr_error *error);
    /* For info.by_item: sums() gives at most OLTR_MAX_ITEM_NUMBERS - 2 arrays, one number for each
     * item in every one, and this operation derives all that belongs to one item anew, from its
     * sums and from its prior in the settings, after either was changed.  before: its sums until
     * then, one for each array, for what is derived from all items together.  It checks sums and
     * prior first, as init and check do; on any status but OLTR_OK it changes nothing. */
    oltr_status (*renew_item)(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error);
    /* end: called once for each policy, when it is freed; releases what init acquired.  copied:
     * called for the state of a policy that is a copy, byte by byte, of another, so that it can
     * acquire the same again: oltr_policy_copy() makes copies, and so do oltr_merge() and
     * oltr_check() temporarily. */
    void (*end)(void *state);
    void (*copied)(void *state);
    /* Called with settings.custom by each thread that oltr_run() starts, before it makes the first
     * policy of these operations and after it has freed the last.  A status other than OLTR_OK
     * stops the run.  oltr_experiment_check() makes every policy once in the thread of its caller,
     * without these calls. */
    oltr_status (*thread_begin)(const void *custom);
    void (*thread_end)(const void *custom);
    /* NULL: nothing is learned about the prior.  How many hyperparameters there are; with `out`,
     * also the posterior of the one with this index. */
    uint32_t (*hyper)(const void *state, uint32_t index, oltr_hyper *out);
    /* For oltr_check(), where check_derived is NULL: 1 when `anew`, a copy of the state in which
     * refresh() has derived everything from the sums, differs from it by rounding alone.  NULL: the
     * two must be equal to the byte. */
    int (*agrees)(const void *state, const void *anew);
    /* For info.by_item, when a model (model.h) makes room for more items: derives all of `state`,
     * which was just made and has the sums of `from`.  Its other items have no observations, and
     * must not change the result: a policy with more room continues to the same bits.  NULL: every
     * item is derived from its sums. */
    void (*carry)(void *state, const void *from);
    /* The laws of the scores by which candidates are ranked: returns their kind, and for each
     * candidate the two numbers.  The scores are independent or, where the policy first draws one
     * of several parts, independent given the part.  NULL: neither. */
    oltr_law (*laws)(const void *state, uint64_t t, uint32_t part, const oltr_candidates *from,
                     double *first, double *second);
    /* How many parts there are, and the chance of each.  NULL: one. */
    uint32_t (*parts)(const void *state);
    double (*part_chance)(const void *state, uint32_t part);
    /* How many of the derived arrays a snapshot must have: those of earlier versions lack the
     * others, which then stay as init leaves them until resume is called.  0 means all. */
    uint32_t least_derived;
    /* Not 0: the score of a candidate depends on the other candidates.  Otherwise a ranking of some
     * of them is the ranking of all with the rest left out. */
    uint32_t relative_scores;
    /* A snapshot has all arrays of sums, or the first so many: those of earlier versions lack the
     * others, which then stay as init leaves them.  merge() adds the others of `from` to these
     * first ones, so that a policy of another size needs no room for them.  0 means all. */
    uint32_t least_sums;
    /* For oltr_rank_many(): OLTR_RANKED_TOGETHER lists of the same candidates and length, list i
     * with the generator rng[i], to the bits of rank().  On any status but OLTR_OK the lists mean
     * nothing, and they are ranked one by one.  NULL: they always are. */
    oltr_status (*rank_together)(const void *state, uint64_t t, const oltr_candidates *from,
                                 const oltr_rng *rng, void *scratch, const oltr_ranking *out);
} oltr_policy_ops;

/* Settings for a policy of your own, with the defaults of its parameters; `ops` must outlive them
 * and info.ops must point to it. */
OLTR_API oltr_status oltr_settings_init_custom(oltr_settings *settings, const oltr_policy_ops *ops,
                                               uint32_t n_items, oltr_error *error);
/* A snapshot of such a policy. */
OLTR_API oltr_policy *oltr_load_custom(const oltr_policy_ops *ops, const void *buffer, size_t size,
                                       oltr_error *error);

/* For policies that rank by a score: a scratch of this size, the scores of the candidates in it,
 * and the list of the best, ties broken uniformly.  Scores may be infinite; with a NaN among them
 * there is no list, and the status is OLTR_ESTATE. */
OLTR_API size_t oltr_scores_bytes(const oltr_settings *settings);
OLTR_API double *oltr_scores(void *scratch); /* one for each candidate */
OLTR_API oltr_status oltr_show_best(void *scratch, const oltr_candidates *from, const oltr_rng *rng,
                                    const oltr_ranking *out);

#ifdef __cplusplus
}
#endif
#endif
