/* oltr.h - the public interface of liboltr, an engine for online learning to rank.  Link with
 * -loltr.
 *
 * One round: oltr_rank() makes a list from what a policy has learned, the user looks at it, and
 * oltr_learn() takes the feedback.  Four objects carry it:
 *
 *   settings   the kind of a policy, its parameters and its prior; a plain struct
 *   policy     the learned sums and what is derived from them; rank reads it, learn writes it
 *   scratch    the working memory of one ranking thread
 *   rng        a counter-based generator, passed by value; there is no hidden state
 *
 * Threads: a call that takes a const policy only reads it, and any number of such calls may run on
 * one policy at once, in any mix: oltr_rank() and oltr_rank_many() (each thread with its own
 * scratch), oltr_predict(), oltr_check(), the explanations, oltr_item_get(), saving, copying,
 * oltr_scratch_new(), and oltr_merge() out of it.  A call that takes a policy without const changes
 * it (learning, oltr_merge() into it, oltr_forget(), resizing, changing an item,
 * oltr_policy_free()) and must be alone on that policy: the caller provides the lock.  Calls on
 * different policies never disturb each other; there is no global state.  rank and learn neither
 * allocate nor print.
 */
#ifndef OLTR_OLTR_H
#define OLTR_OLTR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define OLTR_API __attribute__((visibility("default")))
#else
#define OLTR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and errors */

/* name, text */
#define OLTR_STATUS_LIST(X)                                                                        \
    X(OK, "ok")                                                                                    \
    X(EINVAL, "an argument is missing or makes no sense")                                          \
    X(ENOMEM, "out of memory")                                                                     \
    X(EKIND, "no policy of that name; oltr_policy_info_at() lists them")                           \
    X(EPARAM, "no parameter of that name in this policy")                                          \
    X(EVALUE, "the value does not fit the parameter")                                              \
    X(EPRIOR, "the prior is missing, of the wrong length, or not a valid prior")                   \
    X(EITEM, "an item index is out of range or occurs twice in one list")                          \
    X(ESLOTS, "the list must have at least 1 slot and at most as many as there are candidates")    \
    X(EEXAMINED,                                                                                   \
      "more slots were examined than were shown, or a mask holds something else than 0 and 1")     \
    X(EREWARD, "a reward is not finite, or not a click (0 or 1) where the policy learns from "     \
               "clicks only; or a weight is not above 0 and at most 1e6")                          \
    X(EFEATURE, "features are missing, of the wrong number, not finite, beyond 1e6, or longer "    \
                "than the policy allows")                                                          \
    X(ESCRATCH,                                                                                    \
      "the scratch is too small for this policy; make it with oltr_scratch_new() of this policy")  \
    X(EUNSUPPORTED, "this policy cannot do that; see its entry in the catalogue")                  \
    X(EMISMATCH,                                                                                   \
      "these two differ in kind, parameters, items, features or prior and do not belong together") \
    X(ESTATE, "the state breaks an invariant of its policy")                                       \
    X(ETRUNCATED, "the snapshot is cut short or has bytes too many")                               \
    X(EMAGIC, "this is not an oltr snapshot")                                                      \
    X(EVERSION, "the snapshot was written by a newer version of oltr")                             \
    X(ECHECKSUM, "the snapshot is damaged: its checksum does not match")                           \
    X(ECORRUPT, "the snapshot's content contradicts itself")                                       \
    X(EBUFFER, "the buffer is too small for what was to be written to it")                         \
    X(EIO, "a file could not be read or written")                                                  \
    X(EINTERRUPTED, "stopped before the end; what is done is kept")                                \
    X(EDATA,                                                                                       \
      "a text of judged documents has a line that is not what it must be, or no row at all")       \
    X(EFULL, "no room for another item")                                                           \
    X(ENAME, "a name is empty, too long, or occurs twice in one list")                             \
    X(EBUSY, "the store is open in another process, or in this one")

typedef enum oltr_status {
#define OLTR_STATUS_ENUM(name, text) OLTR_##name,
    OLTR_STATUS_LIST(OLTR_STATUS_ENUM)
#undef OLTR_STATUS_ENUM
        OLTR_STATUS_COUNT
} oltr_status;

/* What went wrong, as a sentence for the person who has to fix it; calls outside the hot path fill
 * it in.  Every `error` argument may be NULL. */
typedef struct oltr_error {
    oltr_status code; /* what the call returned */
    char msg[256];    /* the sentence */
} oltr_error;

/* A sentence about the status; "unknown status" for any other number. */
OLTR_API const char *oltr_strerror(oltr_status status);
OLTR_API const char *oltr_status_name(oltr_status status); /* "OLTR_ESLOTS" */
OLTR_API const char *oltr_version(void);                   /* like "0.1.0" */

/* ---- memory */

/* Where memory comes from, for programs that count or bound it.  take: `bytes` bytes aligned to
 * `align` (a power of two, at most 64), of any content, or NULL when there are none; give: returns
 * them, with the same number of bytes.  Both may be called from several threads at once when the
 * program itself uses policies in several threads. */
typedef struct oltr_memory {
    void *(*take)(void *with, size_t bytes, size_t align); /* see above */
    void (*give)(void *with, void *memory, size_t bytes);  /* see above */
    void *with;                                            /* data for both */
} oltr_memory;

/* ---- random numbers */

/* Philox4x32-10 (Salmon et al. 2011) as a value.  A draw is a pure function of (seed, replication,
 * stream, round, position), so a copy of the value draws the same numbers. */
typedef struct oltr_rng {
    uint32_t key[2];     /* from seed and replication */
    uint32_t counter[4]; /* position, round low, round high and purpose (16 bits each), stream */
    uint32_t word[4];    /* up to 3 words not drawn yet; word[3] counts them */
} oltr_rng;

/* The generator of a replication, before its first round. */
OLTR_API oltr_rng oltr_rng_make(uint64_t seed, uint64_t replication);
/* The generator of one round of one stream; round < 2^48. */
OLTR_API oltr_rng oltr_rng_at(oltr_rng rng, uint32_t stream, uint64_t round);
/* An unrelated generator, the same one for the same id and the same place of `rng`. */
OLTR_API oltr_rng oltr_rng_fork(oltr_rng rng, uint64_t id);

OLTR_API uint32_t oltr_rng_u32(oltr_rng *rng);               /* 32 random bits */
OLTR_API uint32_t oltr_rng_below(oltr_rng *rng, uint32_t n); /* uniform on 0..n-1, exactly; n > 0 */
OLTR_API double oltr_rng_uniform(oltr_rng *rng); /* uniform on the open interval (0,1) */
OLTR_API double oltr_rng_normal(oltr_rng *rng);  /* N(0,1) */
/* Gamma(shape, scale 1) and Beta(a,b); NaN unless the shapes are above 0 and finite. */
OLTR_API double oltr_rng_gamma(oltr_rng *rng, double shape);
OLTR_API double oltr_rng_beta(oltr_rng *rng, double a, double b);

/* ---- the catalogue of policies */

/* What the value of a parameter is: a real number, a whole number, or one of several words. */
typedef enum oltr_param_type { OLTR_REAL, OLTR_INTEGER, OLTR_CHOICE } oltr_param_type;

/* A parameter of a policy: one row of the table from which settings, help and messages are made. */
typedef struct oltr_param {
    const char *name;           /* in files and calls: "sigma" */
    oltr_param_type type;       /* of its value */
    double initial;             /* the default; of a choice, its index */
    double min, max;            /* bounds, both included */
    const char *const *choices; /* NULL-terminated names of a choice, or NULL */
    const char *help;           /* one sentence */
} oltr_param;

/* What a policy can learn from. */
typedef enum oltr_rewards {
    OLTR_CLICKS, /* 0 or 1 */
    OLTR_REALS   /* any number up to 1e30 either way */
} oltr_rewards;

enum { OLTR_MAX_PARAMS = 12 }; /* the most parameters of a policy */

/* A policy of the catalogue: its names, what it can do, and its parameters.  The flags are 1 or 0.
 */
typedef struct oltr_policy_info {
    const char *name;                       /* in files and calls: "gts" */
    const char *title;                      /* for people: "Gaussian Thompson sampling (GTS)" */
    const char *source;                     /* where it is defined */
    const char *summary;                    /* one sentence */
    oltr_rewards rewards;                   /* what it learns from */
    int can_predict, can_merge, can_forget; /* oltr_predict(), oltr_merge(), oltr_forget() */
    int uses_prior;                         /* reads the prior of its settings */
    int takes_moments; /* reads mean and sd rather than Beta(a,b): give these where both are known
                        */
    int contextual;    /* ranks by the features of the candidates */
    int takes_weights; /* learns from feedback with weights */
    int by_item;       /* learns some numbers for each item and nothing else: oltr_item_get() */
    int can_resize;    /* oltr_policy_resize() */
    uint32_t n_params; /* at most OLTR_MAX_PARAMS */
    const oltr_param *params;          /* (n_params) */
    const struct oltr_policy_ops *ops; /* of your own policy (policy_ops.h); else NULL */
    int exact_copy; /* a loaded or copied policy ranks and learns on to the same bits */
    int order_free; /* lessons in any order give the same snapshot, if sums of rewards are exact */
    int fixed_scores; /* ranks by scores that are not drawn; chance only breaks ties */
    int knows_slots;  /* takes a slot without a click as perhaps not examined: by the number of the
                         slot, or because it learns from clicks alone */
    uint64_t reserved[4];
} oltr_policy_info;

/* How many policies there are; entry 0, 1, ... of the catalogue, NULL beyond; and the entry of a
 * name, NULL with the error set (OLTR_EKIND, with the nearest name) for an unknown one. */
OLTR_API uint32_t oltr_policy_count(void);
OLTR_API const oltr_policy_info *oltr_policy_info_at(uint32_t index);
OLTR_API const oltr_policy_info *oltr_policy_info_by_name(const char *name, oltr_error *error);

/* ---- settings */

/* The belief before the first click, item by item: Beta(a,b), or a mean and a standard deviation.
 * Each pair is (n_items) long; give one pair, leave the other NULL.  The arrays are copied when the
 * policy is made.  A policy that would not read it, because it takes no prior or its parameter
 * `prior` is none, refuses it with OLTR_EPRIOR. */
typedef struct oltr_prior {
    const double *a, *b;     /* (n_items) or NULL: the shapes of Beta(a,b) */
    const double *mean, *sd; /* (n_items) or NULL */
    const void *reserved[4]; /* NULL */
} oltr_prior;

/* What a policy is made from.  oltr_settings_init() fills it in. */
typedef struct oltr_settings {
    const oltr_policy_info *info;  /* the kind */
    uint32_t n_items;              /* the most candidates a query may have */
    uint32_t dim;                  /* features of a candidate; 0 for policies without context */
    double value[OLTR_MAX_PARAMS]; /* in the order of info->params; of a choice, its index */
    oltr_prior prior;              /* empty, or one pair for each item */
    const oltr_memory *memory; /* for the policy and what is made from it; NULL: the C library's */
    /* Data for the operations of your own policy (policy_ops.h), or NULL.  They must outlive the
     * policy.  custom_bytes of them decide what the policy does: policies and partial results with
     * other bytes do not belong together. */
    const void *custom;
    size_t custom_bytes; /* how many bytes of custom count */
    uint32_t size; /* sizeof(oltr_settings), by oltr_settings_init(); 0 means that of oltr 0.1 */
    uint32_t reserved32;  /* 0 */
    uint64_t reserved[4]; /* 0 */
} oltr_settings;

/* Fills in the defaults.  For a policy with context, set `dim` afterwards. */
OLTR_API oltr_status oltr_settings_init(oltr_settings *settings, const char *kind, uint32_t n_items,
                                        oltr_error *error);
/* Sets a parameter by its name, from text as in an experiment file: "0.5", or a word. */
OLTR_API oltr_status oltr_settings_set(oltr_settings *settings, const char *name, const char *text,
                                       oltr_error *error);
/* The same with a number; of a choice, its index. */
OLTR_API oltr_status oltr_settings_set_number(oltr_settings *settings, const char *name,
                                              double value, oltr_error *error);
/* Writes the value of parameter `index` as text that oltr_settings_set() reads back to the same
 * value. */
OLTR_API oltr_status oltr_settings_get(const oltr_settings *settings, uint32_t index, char *text,
                                       size_t size);

/* ---- one round */

/* Structs of this section end in room for later versions.  It must be zero, as it is after an
 * initialiser that does not mention it ({10, item, NULL} is a ranking); otherwise a call returns
 * OLTR_EINVAL.  Those of a single list are at most 48 bytes long: compilers clear larger ones by a
 * string instruction, which takes as long as half a call. */
enum { OLTR_RESERVED = 2 };

/* The candidates of one request.  A NULL query means all items of the policy, without features.
 * Features may differ from request to request; policies without context ignore them. */
typedef struct oltr_query {
    uint32_t n_items;     /* how many candidates */
    const uint32_t *item; /* (n_items) distinct indices, or NULL: the items 0..n_items-1 */
    uint32_t dim;         /* features of a candidate, or 0 */
    uint32_t stride;      /* floats from one candidate's row to the next; 0 means dim */
    const float *x;       /* (n_items, stride) row-major, or NULL */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_query;

/* The shown list.  The caller owns the arrays and sets the number of slots. */
typedef struct oltr_ranking {
    uint32_t k;                          /* the number of slots */
    uint32_t *item;                      /* (k) best first */
    double *score;                       /* (k) what the policy ranked by, or NULL */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_ranking;

/* The feedback: the first n_examined slots were examined, with the reward of each (a click is 1,
 * no click is 0).
 *
 * With a mask, n_examined is how many slots the mask covers; those where it is 0, and all behind,
 * were not examined, and their rewards and weights are not read.  A list with a mask has at most
 * OLTR_MAX_MASKED slots.  Policies that learn from the order of a list take the examined slots as
 * its beginning.  A weight is the number of observations that a slot counts for: 2 is the same
 * reward seen twice, 1/p that of an item that was examined with probability p. */
typedef struct oltr_feedback {
    uint32_t n_examined;     /* how many slots, from the first */
    const double *reward;    /* (n_examined) */
    const uint8_t *examined; /* (n_examined) 1 or 0, or NULL: all were examined */
    const double *weight;    /* (n_examined) above 0, at most OLTR_MAX_WEIGHT, or NULL: all 1 */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_feedback;
#define OLTR_MAX_WEIGHT 1e6 /* of one slot */
enum { OLTR_MAX_MASKED = 65536 };

/* Lists of one length with their feedback: n pairs of oltr_ranking and oltr_feedback as arrays,
 * row-major. */
typedef struct oltr_lessons {
    uint32_t n, k;                       /* lists; slots of each */
    const uint32_t *item;                /* (n, k) */
    const uint32_t *n_examined;          /* (n), or NULL: k of each */
    const double *reward;                /* (n, k) */
    const uint8_t *examined;             /* (n, k), or NULL */
    const double *weight;                /* (n, k), or NULL */
    const void *reserved[OLTR_RESERVED]; /* NULL */
} oltr_lessons;

/* ---- policies */

typedef struct oltr_policy oltr_policy;   /* what was learned, and what is derived from it */
typedef struct oltr_scratch oltr_scratch; /* the working memory of one ranking thread */

/* A policy that has learned nothing; NULL with the error set.  All memory is taken here. */
OLTR_API oltr_policy *oltr_policy_new(const oltr_settings *settings, oltr_error *error);
OLTR_API void oltr_policy_free(oltr_policy *policy); /* NULL is fine */
/* The same in memory of the caller: `bytes` of it, aligned to 64.  oltr_policy_free() does not free
 * that memory; call it for policies of your own with an end operation. */
OLTR_API size_t oltr_policy_bytes(const oltr_settings *settings,
                                  oltr_error *error); /* 0 on error */
OLTR_API oltr_policy *oltr_policy_place(void *memory, size_t bytes, const oltr_settings *settings,
                                        oltr_error *error);
/* An independent policy with the same state to the bit; memory NULL: the hook of the original. */
OLTR_API oltr_policy *oltr_policy_copy(const oltr_policy *policy, const oltr_memory *memory,
                                       oltr_error *error);

/* What it was made from; NULL for a NULL policy. */
OLTR_API const oltr_settings *oltr_policy_settings(const oltr_policy *policy);
OLTR_API uint64_t oltr_policy_rounds(const oltr_policy *policy); /* lists learned; 0 for NULL */

/* For policies of this kind and size; NULL without memory. */
OLTR_API oltr_scratch *oltr_scratch_new(const oltr_policy *policy);
OLTR_API void oltr_scratch_free(oltr_scratch *scratch); /* NULL is fine */

/* Fills ranking->item with the ranking->k best candidates, by scores that are drawn with `rng`: the
 * same generator gives the same list. */
OLTR_API oltr_status oltr_rank(const oltr_policy *policy, const oltr_query *query, oltr_rng rng,
                               oltr_scratch *scratch, oltr_ranking *ranking);
/* Learns from a list that was shown.  Every item of it must be a candidate of the query.  On any
 * status but OK the policy is unchanged. */
OLTR_API oltr_status oltr_learn(oltr_policy *policy, const oltr_query *query,
                                const oltr_ranking *ranking, const oltr_feedback *feedback);

/* The same for many lists of one query, to the same bits as one by one, with the query checked
 * once.
 *
 * rank_many: list r is that of the generator oltr_rng_at(rng, stream, first_round + r).  item and
 * score are (n, k) row-major; score may be NULL.
 *
 * learn_many: learns lesson after lesson and stops at the first that oltr_learn() refuses, with its
 * status; that one and those behind it are not learned.
 *
 * done, if not NULL, is how many lists were ranked or lessons learned: n on OLTR_OK. */
OLTR_API oltr_status oltr_rank_many(const oltr_policy *policy, const oltr_query *query,
                                    oltr_rng rng, uint32_t stream, uint64_t first_round,
                                    oltr_scratch *scratch, uint32_t n, uint32_t k, uint32_t *item,
                                    double *score, uint32_t *done);
OLTR_API oltr_status oltr_learn_many(oltr_policy *policy, const oltr_query *query,
                                     const oltr_lessons *lessons, uint32_t *done);

/* For a call that was refused: return the same status with a sentence that names the slot, the
 * item, the candidate and the feature.  explain_rank ranks as oltr_rank() does; explain_learn only
 * checks, so it does not find an error of the learn operation of your own policy. */
OLTR_API oltr_status oltr_explain_rank(const oltr_policy *policy, const oltr_query *query,
                                       oltr_rng rng, oltr_scratch *scratch, oltr_ranking *ranking,
                                       oltr_error *error);
OLTR_API oltr_status oltr_explain_learn(const oltr_policy *policy, const oltr_query *query,
                                        const oltr_ranking *ranking, const oltr_feedback *feedback,
                                        oltr_error *error);

/* Items that come and go.  On any status but OK the policy is unchanged.
 *
 * resize: another number of items.  *policy is replaced by a new one, and the old one freed; its
 * scratches serve a policy that became smaller, not a larger one.  Items below both numbers keep
 * what was learned of them, items from n_items on are dropped, new ones have learned nothing.
 * Where the policy was given a prior, `prior` holds that of the new items alone, in the same form;
 * otherwise it is NULL.  A policy in memory of the caller cannot be resized.
 *
 * The other calls take a policy that is by_item, and constant time.
 *
 * get, put: the numbers of one item: its sums in the order of a snapshot (observations, sum of
 * rewards), and then the pair of its prior, where the policy was given one.  n is how many;
 * OLTR_EBUFFER when capacity is less.  To remove an item, put the numbers of the last one in its
 * place, and shrink the policy some time later.
 *
 * reset: the item as if it had never been shown; its prior stays.
 *
 * renew: another prior for one item, in the form of the policy's; keep 1 keeps its sums, 0 clears
 * them. */
OLTR_API oltr_status oltr_policy_resize(oltr_policy **policy, uint32_t n_items,
                                        const oltr_prior *prior, oltr_error *error);
enum { OLTR_MAX_ITEM_NUMBERS = 10 };
OLTR_API oltr_status oltr_item_get(const oltr_policy *policy, uint32_t item, double *number,
                                   uint32_t capacity, uint32_t *n);
OLTR_API oltr_status oltr_item_put(oltr_policy *policy, uint32_t item, const double *number,
                                   uint32_t n, oltr_error *error);
OLTR_API oltr_status oltr_item_reset(oltr_policy *policy, uint32_t item, oltr_error *error);
OLTR_API oltr_status oltr_item_renew(oltr_policy *policy, uint32_t item, double first,
                                     double second, int keep, oltr_error *error);

/* Mean and standard deviation of the belief about each candidate; sd may be NULL.  An item may be
 * named more than once and has the same result each time. */
OLTR_API oltr_status oltr_predict(const oltr_policy *policy, const oltr_query *query, double *mean,
                                  double *sd);

enum { OLTR_MAX_HYPER_VALUES = 64 }; /* of one hyperparameter */
/* What a policy has learned about its prior: the posterior of each hyperparameter.  Of ts-hyper:
 * "shift", by how much the told log-odds are off, "slope", how much of the told order holds, and
 * "weight", how sure the told prior may be.  oltr_hyper_count is 0 for policies that have none, and
 * for NULL. */
typedef struct oltr_hyper {
    const char *name;  /* "shift" */
    double mean, sd;   /* of the posterior */
    uint32_t n_values; /* of the grid that it is on */
    uint32_t reserved32;
    double value[OLTR_MAX_HYPER_VALUES];  /* in rising order */
    double chance[OLTR_MAX_HYPER_VALUES]; /* of each value; they add up to 1 */
    uint64_t reserved[4];
} oltr_hyper;
OLTR_API uint32_t oltr_hyper_count(const oltr_policy *policy);
/* OLTR_EINVAL unless index < oltr_hyper_count(). */
OLTR_API oltr_status oltr_hyper_at(const oltr_policy *policy, uint32_t index, oltr_hyper *out);

/* Adds what `from` has learned, as if `into` had learned from both histories. */
OLTR_API oltr_status oltr_merge(oltr_policy *into, const oltr_policy *from);
/* Moves the belief towards the prior: every sum is multiplied by keep, 0 <= keep <= 1. */
OLTR_API oltr_status oltr_forget(oltr_policy *policy, double keep);
/* Tests the invariants of the policy: OLTR_ESTATE with a sentence when one is broken. */
OLTR_API oltr_status oltr_check(const oltr_policy *policy, oltr_error *error);

/* ---- the processor */

/* The vector instructions that the library uses.  Every choice gives the same bits and differs in
 * speed alone.  At the start they are the best that the processor has, or less where the
 * environment variable OLTR_CPU names less ("plain", "avx2", "avx512" or "neon"; any other value is
 * ignored). */
enum { OLTR_CPU_PLAIN, OLTR_CPU_AVX2, OLTR_CPU_AVX512, OLTR_CPU_NEON };
OLTR_API uint32_t oltr_cpu(void); /* those in use */
OLTR_API uint32_t
oltr_cpu_found(void); /* the best that this processor has and this build can use */
OLTR_API const char *oltr_cpu_name(uint32_t cpu); /* as in OLTR_CPU; NULL for an unknown number */
/* Uses the best that was found, but nothing above `most`, and returns it.  A `most` of another kind
 * of processor is no limit.  May be called at any time. */
OLTR_API uint32_t oltr_cpu_limit(uint32_t most);

/* ---- snapshots */

/* Room that is enough for a snapshot, in bytes. */
OLTR_API size_t oltr_save_bound(const oltr_policy *policy);
/* Writes a snapshot, which any machine reads: OLTR_EBUFFER when `capacity` is too small. */
OLTR_API oltr_status oltr_save(const oltr_policy *policy, void *buffer, size_t capacity,
                               size_t *written);
/* A policy from a snapshot, with the defaults of oltr_load_with(). */
OLTR_API oltr_policy *oltr_load(const void *buffer, size_t size, oltr_error *error);

/* How a snapshot is loaded.  A zero-filled struct gives the defaults. */
typedef struct oltr_load_options {
    uint32_t size;             /* sizeof(oltr_load_options); 0 means that of oltr 0.1 */
    uint32_t reserved32;       /* 0 */
    const oltr_memory *memory; /* for the policy; NULL: the C library's */
    /* The most that the policy and one scratch of it may take; 0: OLTR_LOAD_BYTES, or 64 times the
     * length of the snapshot where that is more. */
    size_t most_bytes;
    const struct oltr_policy_ops *ops; /* that of a policy of your own (policy_ops.h), or NULL */
    const void *custom;                /* as in its settings */
    size_t custom_bytes;               /* as in its settings */
    uint64_t reserved[4];              /* 0 */
} oltr_load_options;
#define OLTR_LOAD_BYTES ((size_t)1 << 30) /* the memory that a loaded policy may take */

/* Loads from bytes that may come from anywhere: every count is compared with the length of the
 * snapshot before memory is taken.  options NULL: the defaults, as oltr_load(). */
OLTR_API oltr_policy *oltr_load_with(const void *buffer, size_t size,
                                     const oltr_load_options *options, oltr_error *error);

/* A snapshot as a file.  It appears under its name only when it is complete and on the disk. */
OLTR_API oltr_status oltr_save_file(const oltr_policy *policy, const char *path, oltr_error *error);
OLTR_API oltr_policy *oltr_load_file(const char *path, const oltr_load_options *options,
                                     oltr_error *error);

#ifdef __cplusplus
}
#endif
#endif
