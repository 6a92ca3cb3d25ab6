/* model.h - a policy that can be served: items with names that come and go, lessons that count
 * once, and one byte image.  Link with -loltr.
 *
 * The same object is behind a file (store.h), a server and a binding.  It has no I/O, no clock, no
 * lock, no global and no randomness of its own: what a call does is a function of the model and of
 * the arguments.  So a call can be logged, and replayed on a copy to the same bytes.
 *
 * On any status but OLTR_OK a model is unchanged, to the byte of its image.  Every `error` may be
 * NULL; otherwise it has a sentence that names the slot, the item or the option that was wrong.
 *
 * Two kinds of models:
 *   by item     gts, ts-hyper, ts-beta and the other policies without context.  Items have names
 *               and are added when they are first learned or given a prior.
 *   contextual  lints, logts and the other policies with features.  Candidates are rows of
 *               features; the model knows no items, and calls about names are refused.
 * toprank and bubblerank cannot be served: they compare pairs of a fixed set of items.
 *
 * Threads: as in oltr.h.  Calls that take a const model may run at once, each with its own scratch;
 * a call that changes the model must be alone on it.  store.h has the lock.
 */
#ifndef OLTR_MODEL_H
#define OLTR_MODEL_H

#include <oltr/oltr.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oltr_model oltr_model;                 /* a policy with names, to be served */
typedef struct oltr_model_scratch oltr_model_scratch; /* the working memory of a thread */

/* The name of an item, or the id of a lesson: 1 to OLTR_LONGEST_NAME bytes of any value. */
typedef struct oltr_name {
    const void *bytes; /* need not end in '\0' */
    uint32_t size;     /* their number */
} oltr_name;

enum {
    OLTR_LONGEST_NAME = 512,
    OLTR_MOST_SHOWN = 1024,          /* items of one lesson */
    OLTR_MOST_MODEL_ITEMS = 1 << 24, /* of one model */
    OLTR_MOST_WINDOW = 1 << 24       /* remembered ids */
};

/* Which slots of a shown list were looked at.  DEPTH and MASK are for single lessons, which say it
 * themselves; the others are rules, of a model or of a lesson.  A slot is clicked when its reward
 * is above 0. */
typedef enum oltr_examine {
    OLTR_EXAMINE_RULE,    /* of a lesson: the rule of the model */
    OLTR_EXAMINE_CASCADE, /* down to the first click, all without one; later clicks are not read */
    OLTR_EXAMINE_LAST,    /* down to the last click, all without one */
    OLTR_EXAMINE_ALL,     /* every slot */
    OLTR_EXAMINE_DEPTH,   /* of a lesson: its first `depth` slots */
    OLTR_EXAMINE_MASK     /* of a lesson: the slots where `examined` is 1 */
} oltr_examine;

/* ---- making models */

/* What a model is made from.  oltr_model_settings_init() fills it in. */
typedef struct oltr_model_settings {
    /* The kind and its parameters.  n_items: of a contextual model, the most candidates of a
     * request; else it is ignored, as models by item grow.  dim: the features of a candidate.  Its
     * prior must be empty.  memory: for the model and what is made from it. */
    oltr_settings policy;
    /* The prior of an item that was given none: mean and standard deviation where the policy has
     * takes_moments, else a and b.  Two NANs: items have no priors of their own.  With a prior the
     * policy's parameter `prior` must be other than none. */
    double prior[2];
    uint32_t most_items;  /* OLTR_EFULL beyond; 1 to OLTR_MOST_MODEL_ITEMS */
    uint32_t window;      /* how many ids of lessons are remembered; memory grows with use */
    uint32_t examine;     /* the rule: OLTR_EXAMINE_CASCADE, LAST or ALL */
    uint32_t size;        /* sizeof(oltr_model_settings), by oltr_model_settings_init() */
    uint64_t name_key[2]; /* keys the hash of names, against chosen collisions; in no image */
    uint64_t reserved[4]; /* 0 */
} oltr_model_settings;

/* The defaults: those of the policy, no prior, 2^20 items, 65,536 ids, the cascade, 1,024
 * candidates of a contextual model. */
OLTR_API oltr_status oltr_model_settings_init(oltr_model_settings *settings, const char *kind,
                                              oltr_error *error);
/* By text: most_items, window, examine (cascade, last, all), candidates, dim, default_prior
 * ("0.02,0.01"; none); every other name is a parameter of the policy. */
OLTR_API oltr_status oltr_model_settings_set(oltr_model_settings *settings, const char *name,
                                             const char *text, oltr_error *error);

/* An empty model; NULL with the error set. */
OLTR_API oltr_model *oltr_model_new(const oltr_model_settings *settings, oltr_error *error);
OLTR_API void oltr_model_free(oltr_model *model); /* NULL is fine */
/* An independent model of the same image; memory NULL: the hook of the original. */
OLTR_API oltr_model *oltr_model_copy(const oltr_model *model, const oltr_memory *memory,
                                     oltr_error *error);
/* A model whose prior is what the parent believes.  strength in (0, 1] scales how sure it is: 1
 * keeps the parent's precision, 0.1 gives a tenth of it.  It has the parent's items, no lessons and
 * no ids.  Of a contextual model the sums are the parent's times strength, and its rounds go on.
 * OLTR_EUNSUPPORTED for kinds without a prior. */
OLTR_API oltr_model *oltr_model_like(const oltr_model *parent, double strength,
                                     const oltr_memory *memory, oltr_error *error);

/* Its settings; policy.n_items is the room that the policy has. */
OLTR_API const oltr_model_settings *oltr_model_settings_of(const oltr_model *model);
/* Its policy, to read.  Items of the model are the first of the policy; those behind them are room.
 */
OLTR_API const oltr_policy *oltr_model_policy(const oltr_model *model);
OLTR_API size_t oltr_model_bytes(const oltr_model *model);     /* all memory that it holds */
OLTR_API uint64_t oltr_model_lessons(const oltr_model *model); /* how many it has learned */
/* Tests the invariants of the model and of its policy: OLTR_ESTATE when one is broken. */
OLTR_API oltr_status oltr_model_check(const oltr_model *model, oltr_error *error);

/* ---- items */

OLTR_API uint32_t oltr_model_items(const oltr_model *model); /* how many there are */
/* The name of item 0..items-1, until the model is changed; size 0 beyond. */
OLTR_API oltr_name oltr_model_name(const oltr_model *model, uint32_t item);
OLTR_API int64_t oltr_model_find(const oltr_model *model, oltr_name name); /* -1: unknown */

/* The priors of n items: pair is (n, 2) row-major, as `prior` of the settings.  What was learned of
 * an item stays; unknown names are added.  All or none. */
OLTR_API oltr_status oltr_model_prior(oltr_model *model, const oltr_name *name, const double *pair,
                                      uint32_t n, oltr_error *error);
/* Forgets the items with their priors; the last item takes the place of a removed one.  Unknown
 * names are no error.  removed, which may be NULL, is how many there were. */
OLTR_API oltr_status oltr_model_remove(oltr_model *model, const oltr_name *name, uint32_t n,
                                       uint32_t *removed, oltr_error *error);
/* As if nothing had been seen of the items; their priors stay.  Unknown names are no error. */
OLTR_API oltr_status oltr_model_reset(oltr_model *model, const oltr_name *name, uint32_t n,
                                      uint32_t *reset, oltr_error *error);
/* Makes room for n items at once, so that adding them does not have to make it in steps; what the
 * model believes and its image stay the same.  OLTR_EFULL beyond most_items. */
OLTR_API oltr_status oltr_model_reserve(oltr_model *model, uint32_t n, oltr_error *error);
/* Removes the items that the last `idle` lessons, at least 1, did not show, but for those that were
 * added since. */
OLTR_API oltr_status oltr_model_trim(oltr_model *model, uint64_t idle, uint32_t *removed,
                                     oltr_error *error);

/* ---- ranking */

/* Candidates, or what was shown: names; rows of features of a contextual model; or, of candidates
 * and all zero, every item of the model.  No name occurs twice in what is ranked or learned.
 * Unknown names have the default prior, and ranking them adds nothing to the model. */
typedef struct oltr_list {
    uint32_t n;                          /* how many */
    uint32_t stride;                     /* floats from row to row; 0 means dim */
    const oltr_name *name;               /* (n) or NULL */
    const float *x;                      /* (n, stride) or NULL */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_list;

/* How a list is made.  An item is fresh when it has fewer than fresh_below observations.  Of all
 * lists with at least least_fresh and at most most_fresh fresh items, the one with the largest
 * scores is shown, best first; where there are too few fresh or other items for that, those that
 * are there fill the list.  fresh_below 0: no item is fresh, and the two numbers mean nothing. */
typedef struct oltr_show {
    uint32_t k;         /* in: slots, at least 1; out: the smaller of that and the candidates */
    uint32_t greedy;    /* 1: by the mean of the belief, without drawing */
    uint32_t *place;    /* (k) places in the list; of all items, their numbers */
    double *score;      /* (k) what was ranked by, or NULL */
    double fresh_below; /* observations; 0: no item is fresh */
    uint32_t least_fresh, most_fresh;    /* fresh items in the list */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_show;

/* One scratch for each ranking thread; it serves any model, and grows when it must.  memory NULL:
 * the C library's. */
OLTR_API oltr_model_scratch *oltr_model_scratch_new(const oltr_memory *memory);
OLTR_API void oltr_model_scratch_free(oltr_model_scratch *scratch);
/* Room for lists of n candidates, so that the next oltr_model_rank() of the model as it is does not
 * allocate when the model knows the names. */
OLTR_API oltr_status oltr_model_ready(const oltr_model *model, uint32_t n,
                                      oltr_model_scratch *scratch, oltr_error *error);

/* The generator of a text: a session, a user, a day.  The same text draws the same noise for the
 * same item of the model, so its list stays nearly the same while the model learns.  The noise of
 * unknown names depends on their order in the list, and an item that takes the number of a removed
 * one takes its noise too. */
OLTR_API oltr_rng oltr_rng_text(const void *bytes, size_t size);

/* Makes a list of the show->k best candidates, as `show` says.  The same generator gives the same
 * list. */
OLTR_API oltr_status oltr_model_rank(const oltr_model *model, const oltr_list *list, oltr_rng rng,
                                     oltr_model_scratch *scratch, oltr_show *show,
                                     oltr_error *error);
/* How many names of the last list that was ranked with this scratch its model did not know. */
OLTR_API uint32_t oltr_model_unknown(const oltr_model_scratch *scratch);
/* Mean and standard deviation of the belief about each candidate; sd may be NULL. */
OLTR_API oltr_status oltr_model_predict(const oltr_model *model, const oltr_list *list,
                                        double *mean, double *sd, oltr_error *error);

/* What is believed about an item, and why.  Numbers that a kind does not have are NAN. */
typedef struct oltr_explained {
    double mean, sd;             /* of the belief */
    double examined, reward;     /* its observations, and the sum of their rewards */
    double prior_mean, prior_sd; /* what was believed before the first of them */
    double prior_share;          /* of the belief's weight: 1 before the first, towards 0 */
    uint64_t last;  /* lessons when it was last shown or, before that, when it was added */
    uint32_t known; /* 1: an item of the model */
    uint32_t reserved32;
    uint64_t reserved[4];
} oltr_explained;
/* The same for each candidate of a list. */
OLTR_API oltr_status oltr_model_explain(const oltr_model *model, const oltr_list *list,
                                        oltr_explained *out, oltr_error *error);

/* For each candidate the chance to be in the list that `show` describes, and to be its first;
 * either array may be NULL.  draws 0: exactly, to 1e-9 in ordinary cases, for the kinds by item but
 * ts-cascade, and for greedy lists; OLTR_EUNSUPPORTED for the others.  draws above 0: the share in
 * so many lists, those of the generators oltr_rng_at(rng, 0, 1), oltr_rng_at(rng, 0, 2), ... */
OLTR_API oltr_status oltr_model_propensity(const oltr_model *model, const oltr_list *list,
                                           const oltr_show *show, uint32_t draws, oltr_rng rng,
                                           oltr_model_scratch *scratch, double *in_list,
                                           double *first, oltr_error *error);

/* For j = 1..k the exact chance that a list without bounds on fresh items begins with the
 * candidates place[0..j-1], in this order.  For the same kinds as draws 0. */
OLTR_API oltr_status oltr_model_list_propensity(const oltr_model *model, const oltr_list *list,
                                                const uint32_t *place, uint32_t k, uint32_t greedy,
                                                oltr_model_scratch *scratch, double *chance,
                                                oltr_error *error);

/* For l = 1..k and each of the n candidates the exact chance that a list without bounds on fresh
 * items begins with the candidates place[0..l-2] and has the candidate in slot l: chance is (k, n)
 * row-major.  For the same kinds as draws 0. */
OLTR_API oltr_status oltr_model_next_propensity(const oltr_model *model, const oltr_list *list,
                                                const uint32_t *place, uint32_t k, uint32_t greedy,
                                                oltr_model_scratch *scratch, double *chance,
                                                oltr_error *error);

/* For l = 1..k and each of the n candidates the exact chance to be in slot l of a list of k without
 * bounds on fresh items: chance is (k, n) row-major, with errors as those of draws 0.  For the same
 * kinds.  Costs as much as oltr_model_propensity() for lists of 1, 2, ..., k slots. */
OLTR_API oltr_status oltr_model_slot_propensity(const oltr_model *model, const oltr_list *list,
                                                uint32_t k, uint32_t greedy,
                                                oltr_model_scratch *scratch, double *chance,
                                                oltr_error *error);

/* ---- decision logs */

/* A list that was shown, to be written as one line of JSON (docs/formats.md).  `oltr model learn`
 * and `oltr ope` read such lines; what was clicked comes in later lines with the same id. */
typedef struct oltr_decision {
    oltr_name id;            /* of the list; its clicks are joined by it */
    oltr_name seed;          /* the text that it was drawn by; size 0: none */
    const oltr_list *list;   /* the candidates; NULL, or of no names and rows: all items */
    const oltr_name *shown;  /* (k) names of what is shown; of a contextual model optional */
    const uint32_t *place;   /* (k) their places in the list */
    const double *in_list;   /* (k) chances to be in the list, or NULL: not written */
    const double *prefix;    /* (k) chances that a list begins so, or NULL */
    const double *slot;      /* (k) chances of the item in its slot, or NULL */
    const oltr_model *model; /* gives the kind, lessons, items and features of a row */
    uint32_t k;              /* slots */
    uint32_t greedy;         /* 1: by the mean of the belief */
    uint32_t draws;          /* lists that the chances are shares of; 0: they are exact */
    uint32_t size;           /* sizeof(oltr_decision), or 0 */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_decision;

/* Writes the line with its newline and a final '\0' into out, at most `room` bytes of it, and
 * returns how many it has without the '\0', as snprintf() does; out may be NULL with room 0.
 * Returns 0 if there is no id, no model or nothing shown, or the size is that of another version.
 */
OLTR_API size_t oltr_decision_write(const oltr_decision *decision, char *out, size_t room);
/* The same for what was clicked: (k) rewards, 1 and 0 are clicks. */
OLTR_API size_t oltr_decision_write_rewards(oltr_name id, const double *reward, uint32_t k,
                                            char *out, size_t room);

/* ---- learning */

/* A list that was shown, and what was seen of it. */
typedef struct oltr_lesson {
    oltr_list shown;         /* in the order of the slots; at most OLTR_MOST_SHOWN */
    const double *reward;    /* (n) a click is 1, none is 0 */
    const uint8_t *examined; /* (n) 1 or 0, with OLTR_EXAMINE_MASK */
    const double *weight;    /* (n) observations that a slot counts for, or NULL: 1 each */
    uint32_t examine;        /* oltr_examine; 0: the rule of the model */
    uint32_t depth;          /* with OLTR_EXAMINE_DEPTH */
    oltr_name id;            /* it counts once; size 0: it is not remembered */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_lesson;

/* Learns from a list.  *applied, which may be NULL, is 0 when the id was seen before: then the
 * model is unchanged.  A click in a slot that a depth or a mask leaves out is refused with
 * OLTR_EEXAMINED. */
OLTR_API oltr_status oltr_model_learn(oltr_model *model, const oltr_lesson *lesson, int *applied,
                                      oltr_error *error);
/* Whether the id is remembered. */
OLTR_API int oltr_model_seen(const oltr_model *model, oltr_name id);
/* Moves the belief towards the prior: every sum is multiplied by keep, 0 to 1. */
OLTR_API oltr_status oltr_model_forget(oltr_model *model, double keep, oltr_name id, int *applied,
                                       oltr_error *error);
/* Adds what `from` has learned, item by item of the same name.  Items keep their priors in `into`;
 * new ones bring theirs.  The ids of `from` are not taken over. */
OLTR_API oltr_status oltr_model_merge(oltr_model *into, const oltr_model *from, oltr_name id,
                                      int *applied, oltr_error *error);

/* ---- the image */

/* Everything that a model is, as bytes that any machine reads: save(load(x)) == x. */
OLTR_API size_t oltr_model_save_bound(const oltr_model *model);
OLTR_API oltr_status oltr_model_save(const oltr_model *model, void *buffer, size_t capacity,
                                     size_t *written);
/* From bytes that may come from anywhere.  options as of oltr_load_with(); ops and custom must be
 * NULL.  most_bytes bounds the memory of the model.  name_key as of the settings, or NULL. */
OLTR_API oltr_model *oltr_model_load(const void *buffer, size_t size,
                                     const oltr_load_options *options, const uint64_t *name_key,
                                     oltr_error *error);

#ifdef __cplusplus
}
#endif
#endif
