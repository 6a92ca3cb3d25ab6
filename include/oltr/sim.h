/* sim.h - the public interface of liboltr-lab: datasets, worlds, experiments, and the runner that
 * measures policies in them.  Link with -loltr-lab -loltr.
 *
 * An experiment is worlds x policies x replications x rounds -> regret curves.  Every draw is a
 * function of (seed, replication, stream, round, item), and curves are summed in exact integers, so
 * the results are the same bits for any number of threads and for a run that was interrupted and
 * resumed.  Within one replication all policies meet the same instance and the same users.
 */
#ifndef OLTR_SIM_H
#define OLTR_SIM_H

#include <oltr/oltr.h>

/* Set all members of the structs of this header that you do not use to zero: `reserved` is room for
 * later versions, where zero means the behaviour of today, and anything else is refused.  Structs
 * with a `size` can outgrow that room: it is sizeof the struct that your program was compiled with,
 * or 0 for that of version 0.1; a size that this library does not know is refused. */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- datasets */

/* Judged documents, query by query.  Rows of one query follow each other, in the order of the text;
 * queries in the order of their first line. */
typedef struct oltr_dataset {
    uint32_t n_queries, n_rows, dim; /* dim: features of a row */
    const uint64_t *query;           /* (n_queries) their ids in the text */
    const uint32_t
        *first_row; /* (n_queries + 1) query q has the rows first_row[q] .. first_row[q + 1] - 1 */
    const uint8_t *grade; /* (n_rows) the relevance label */
    const float *x;       /* (n_rows, dim) row-major */
    void *memory;         /* what oltr_dataset_free() gives back; NULL for arrays of the caller */
    void *reserved[2];
} oltr_dataset;

OLTR_API void oltr_dataset_free(oltr_dataset *dataset); /* NULL is fine */

/* How a text is read.  A zero-filled struct gives the defaults. */
typedef struct oltr_read_options {
    uint32_t threads;       /* 0: all cores */
    int lenient;            /* bad lines are counted and skipped, not errors */
    uint32_t most_features; /* a larger feature id is an error; 0 means 4096, at most 2^20 */
    int check_text;         /* oltr_dataset_open(): take a cache only after reading all of the text,
                               whatever its time */
    int (*stop)(
        void *context); /* NULL, or asked every few milliseconds, by several threads at once: */
    void *context;      /* non-zero ends the call soon with OLTR_EINTERRUPTED */
    size_t size;        /* sizeof(oltr_read_options); 0 means that of oltr 0.1 */
    void *reserved[4];
} oltr_read_options;

/* What was found in a text. */
typedef struct oltr_read_report {
    uint64_t lines;              /* of the text, blank ones and comments included */
    uint64_t skipped;            /* bad lines, with `lenient` */
    uint64_t first_skipped_line; /* from 1; 0: none */
    char first_reason[128];      /* why it was skipped */
    uint64_t clamped; /* values beyond float32, which became the largest finite one of their sign */
    uint64_t duplicates; /* features that occur twice in a row; the last value counts */
    int from_cache; /* oltr_dataset_open(): no text was parsed; the numbers are those of when it was
                     */
    uint64_t reserved[4];
} oltr_read_report;

/* Reads LETOR / SVMlight text (docs/formats.md), plain or gzip, "-" for standard input, or a file
 * of oltr_dataset_save(). `options` and `report` may be NULL.  The same text gives the same dataset
 * or the same error with any number of threads. */
OLTR_API oltr_dataset *oltr_dataset_read(const char *path, const oltr_read_options *options,
                                         oltr_read_report *report, oltr_error *error);
/* Writes the binary form, which is read by mapping it; every byte of it is under a checksum. */
OLTR_API oltr_status oltr_dataset_save(const oltr_dataset *dataset, const char *path,
                                       oltr_error *error);
/* Reads a text through its cache, PATH.oltr: uses the cache if it belongs to this text
 * (docs/formats.md), else reads the text and writes the cache.  A folder that cannot be written to
 * is no error. */
OLTR_API oltr_dataset *oltr_dataset_open(const char *path, const oltr_read_options *options,
                                         oltr_read_report *report, oltr_error *error);

/* ---- worlds */

/* What users do, query by query, in place of parameters of the click model; NULL: as those are. */
typedef struct oltr_users {
    uint32_t n_slots;          /* of slot_chance: at least those of the experiment */
    uint32_t reserved32;       /* 0 */
    const double *slot_chance; /* (n_queries, n_slots) dcm: leave, pbm: examine */
    const double *item_chance; /* (n_rows) dbn: satisfied */
    const double *user_chance; /* (n_queries) dbn: continue */
    const void *reserved[2];
} oltr_users;

/* The environment: which items attract users.
 *   beta      attraction i ~ Beta(a_i, b_i), a new draw each replication
 *   uniform   attraction i uniform on [low, high], a new draw each replication
 *   log-uniform  the logarithm of attraction i uniform between those of low and high
 *   fixed     the attractions given, the same in every replication
 *   linear    attraction i = scale x_i'theta, theta and the features x_i drawn in each replication
 *   logistic  attraction i = 1 / (1 + exp(-scale x_i'theta)), or by its parameter `link` another
 *             function of scale x_i'theta
 *   scalar    mean reward i = scale x_i'theta, with noise; users leave after a random slot
 *   dataset   replication r is query r mod n_queries of a dataset: its documents are the items, its
 *             rows their features; attraction and prior are given for every row.  With the
 *             parameter `traffic` the queries share the rounds of every replication
 *   fitted    the same without features and prior: every query has its own users, whose click model
 *             was fitted elsewhere
 * oltr/world_ops.h has the tables of their parameters.
 */
typedef struct oltr_world {
    const char *kind;   /* one of those above */
    uint32_t n_items;   /* how many items there are */
    const char *clicks; /* the click model: "cascade", "abandon", "dcm", "pbm", "dbn" */
    uint32_t examined_without_click; /* slots examined in a round without a click; 0: all that were
                                        shown */
    double misspecification;         /* c: policies get the prior Beta(a+c, b-c) */
    const double *prior_a, *prior_b; /* (n_items) or NULL: beta draws a_i uniformly from 1..a_max,
                                        b_i = 10; others have no prior */
    uint32_t a_max;                  /* beta without prior_a: the largest a; 0 means 10 */
    uint32_t instances_per_prior; /* beta without prior_a: replications that share one draw of a; 0
                                     means 1 */
    const double *attraction;     /* (n_items) fixed: each in [0,1]; dataset: (n_rows) */

    /* dataset: n_items is the largest number of documents of a query, dim that of the dataset;
     * prior_a and prior_b, if given, are (n_rows) long */
    const oltr_dataset *dataset;
    const double *prior_mean, *prior_sd; /* (n_rows) or NULL: the prior of policies that take a mean
                                            and a deviation, in place of those of Beta(a,b) */

    /* with features */
    uint32_t dim;          /* features of an item; 0: none */
    const float *features; /* (n_items, dim) fixed: the features, or NULL */
    int fresh_contexts; /* linear, logistic, scalar: features are drawn anew in each round, not once
                           a replication */
    int theta_on_sphere; /* ... theta is uniform on the sphere, any sign, not on the cube [0,1]^dim
                            scaled to length 1 */
    double scale;        /* ... 0 means 1 */

    /* real rewards: clicks "abandon" */
    double abandon;  /* the chance that a user leaves after a slot */
    double noise_sd; /* standard deviation of a reward around its mean */
    int beta_noise; /* rewards are Beta in (0,1) with that mean and standard deviation, not Gaussian
                     */

    /* your own (world_ops.h), in place of `kind` and `clicks` */
    const struct oltr_world_ops *custom_kind;
    const struct oltr_click_ops *custom_clicks; /* in place of clicks */
    const void *custom;                         /* data for them */
    size_t custom_bytes; /* how much of it decides results: partial results of other bytes are
                            refused */

    /* The parameters of the kind and of the click model that have no field above, in the order of
     * their tables (world_ops.h), or NULL: the defaults. */
    const double *kind_values, *click_values; /* of the kind; of the click model */

    /* (slots of the experiment) or NULL: a number for each slot in place of one for all.  clicks
     * dcm: `leave`, the chance to leave after a click; clicks pbm: `examine`, the chance that the
     * slot is examined */
    const double *slot_chance;

    /* beta, uniform, log-uniform, fixed: attractions that change from round to round */
    double drift_walk; /* standard deviation of the step of each log-odds in a round */
    double drift_jump; /* the chance of each item in a round that its attraction is drawn anew */
    const oltr_users *users; /* fitted: of each query of `dataset` */
    const void *reserved[4];
} oltr_world;

/* An entry of a catalogue: its name, and one sentence. */
typedef struct oltr_named {
    const char *name, *summary; /* summary: one sentence */
} oltr_named;
/* How many kinds of worlds and click models there are, and each of them; NULL beyond the last. */
OLTR_API uint32_t oltr_world_count(void);
OLTR_API const oltr_named *oltr_world_at(uint32_t index);
OLTR_API uint32_t oltr_clicks_count(void);
OLTR_API const oltr_named *oltr_clicks_at(uint32_t index);

/* How grades become attractions, by name: err (2^g - 1) / 2^largest; linear g / largest; perfect,
 * navigational, informational and near-random for grades 0..4.  `largest` is where the scale of
 * grades ends; a grade beyond it is refused. */
OLTR_API uint32_t oltr_mapping_count(void);
OLTR_API const oltr_named *oltr_mapping_at(uint32_t index);
OLTR_API oltr_status oltr_attraction_of_grade(const char *mapping, uint32_t grade, uint32_t largest,
                                              double *attraction, oltr_error *error);

/* The shapes of the data sets that `oltr data generate` and worlds of kind dataset generate. */
OLTR_API uint32_t oltr_shape_count(void);
OLTR_API const oltr_named *oltr_shape_at(uint32_t index);

/* ---- experiments */

/* What a policy learns from, where users both click and give a real reward (clicks "abandon"). */
enum {
    OLTR_FEEDBACK_REWARDS, /* what the click model gives */
    OLTR_FEEDBACK_CLICKS,  /* the clicks, 0 or 1 */
    OLTR_FEEDBACK_BOTH     /* two observations of each examined slot: reward and click */
};

/* Which slots of a list count as examined for a policy, by name `seen`.  Of the two that end at a
 * click, a list without a click was examined whole. */
enum {
    OLTR_SEEN_USUAL, /* what the world says */
    OLTR_SEEN_FIRST, /* down to the first click */
    OLTR_SEEN_LAST,  /* down to the last click */
    OLTR_SEEN_TRUE,  /* what users really examined, which no page knows */
    OLTR_SEEN_ALL    /* every slot */
};

/* How a policy learns in a run. */
typedef struct oltr_learning {
    uint32_t seen;         /* OLTR_SEEN_...; of worlds with clicks */
    uint32_t reserved32;   /* 0 */
    uint64_t forget_every; /* after every so many rounds oltr_forget() is called; 0: never */
    double forget_keep;    /* with this number, 0 to 1 */
    const void *reserved[4];
} oltr_learning;

/* A policy that is compared. */
typedef struct oltr_contestant {
    const char *label;      /* in tables and figures */
    oltr_settings settings; /* settings.prior is filled in from the world */
    uint32_t feedback;      /* OLTR_FEEDBACK_... */
    int shared; /* where queries share the rounds: 1: one policy for the documents of all queries,
                   0: one for each query */
    uint32_t items; /* the policy knows the items 0 to items - 1 of the world and shows no others;
                       0: all.  At least `slots`; not with a dataset */
    const oltr_learning *learning; /* NULL: as the world says, and nothing is forgotten */
    const void *reserved[4];
} oltr_contestant;

/* One point of a sweep; an experiment without a sweep has one point. */
typedef struct oltr_experiment {
    uint64_t seed;                 /* of all random numbers */
    uint64_t rounds;               /* the horizon T */
    uint32_t slots;                /* K */
    uint32_t replications;         /* how often everything is repeated */
    uint32_t n_checkpoints;        /* recorded rounds */
    const uint64_t *checkpoint;    /* (n_checkpoints) ascending, from 1 to rounds */
    oltr_world world;              /* the environment */
    uint32_t n_policies;           /* to compare */
    const oltr_contestant *policy; /* (n_policies) */
    const void *reserved[4];
} oltr_experiment;

/* What can be wrong with an experiment: OLTR_OK, or a status and a sentence. */
OLTR_API oltr_status oltr_experiment_check(const oltr_experiment *experiment, oltr_error *error);

/* `count` rounds spread evenly over 1..rounds, plus the powers of ten and the last round,
 * ascending.  Returns how many; writes at most `capacity` of them (call with capacity 0 for the
 * number). */
OLTR_API uint32_t oltr_checkpoints(uint64_t rounds, uint32_t count, uint64_t *out,
                                   uint32_t capacity);

/* ---- results */

/* The regret and the reward of a policy up to a round. */
typedef struct oltr_outcome {
    double regret;         /* mean over replications of the cumulative pseudo-regret */
    double regret_se;      /* its standard error; 0 with fewer than two replications */
    double reward;         /* mean cumulative expected reward */
    uint32_t replications; /* how many are in it */
    double reserved[2];
} oltr_outcome;

typedef struct oltr_results
    oltr_results; /* O(points x policies x checkpoints), whatever the rounds */

/* The calls that read results return a neutral answer, and read nothing, for results that are
 * NULL or an index that is out of range: numbers that are NaN, of 0 replications; 0 groups; 0
 * saturated replications. */

/* Empty results for these points; NULL with the error set. */
OLTR_API oltr_results *oltr_results_new(const oltr_experiment *points, uint32_t n_points,
                                        oltr_error *error);
OLTR_API void oltr_results_free(oltr_results *results); /* NULL is fine */
/* Of one point, policy and checkpoint, each counted from 0. */
OLTR_API oltr_outcome oltr_results_at(const oltr_results *results, uint32_t point, uint32_t policy,
                                      uint32_t checkpoint);
/* A mean over replications. */
typedef struct oltr_estimate {
    double mean, se;       /* se: the standard error; 0 with fewer than two replications */
    uint32_t replications; /* how many are in it */
    double reserved[2];
} oltr_estimate;

/* How else lists are judged.
 *   ctr    the click rate: the mean expected reward of the rounds since the checkpoint before
 *   ndcg   NDCG@K of the list shown in the round of the checkpoint: the sum over its places k of
 *          attraction / log2(1 + k), over that of the best list.  Replications without an
 *          attractive item have none, and are not counted; neither are worlds with means of any
 *          sign
 *   worst  the largest regret up to the checkpoint that any replication had: a maximum, no mean,
 *          with the standard error 0 */
enum { OLTR_CTR, OLTR_NDCG, OLTR_WORST };
OLTR_API oltr_estimate oltr_results_metric(const oltr_results *results, uint32_t point,
                                           uint32_t policy, uint32_t checkpoint, uint32_t metric);
/* Regret of `policy` minus regret of `other`, replication by replication: they met the same
 * instances and users. */
OLTR_API oltr_estimate oltr_results_pair(const oltr_results *results, uint32_t point,
                                         uint32_t policy, uint32_t other, uint32_t checkpoint);
/* The queries of a dataset are groups of replications, and every standard error above is that
 * between groups; other worlds have one group.  Regret at the end within a group: */
OLTR_API uint32_t oltr_results_groups(const oltr_results *results, uint32_t point);
OLTR_API oltr_estimate oltr_results_in_group(const oltr_results *results, uint32_t point,
                                             uint32_t policy, uint32_t group);
/* Mean thread CPU nanoseconds of one round (rank, users, learn); depends on the machine, unlike all
 * else. */
OLTR_API double oltr_results_ns_per_round(const oltr_results *results, uint32_t point,
                                          uint32_t policy);
/* Replications so far in which the worst list is as good as the best one: over all rounds even
 * the worst policy would lose less than 0.005, so regret does not distinguish policies.  Worlds
 * whose features move are judged by their first instance. */
OLTR_API uint32_t oltr_results_saturated(const oltr_results *results, uint32_t point);
/* What is done so far, to a file and back (checksummed; a file of another experiment is
 * refused). */
OLTR_API oltr_status oltr_results_save(const oltr_results *results, const char *path,
                                       oltr_error *error);
OLTR_API oltr_status oltr_results_load(oltr_results *results, const char *path, oltr_error *error);
/* The bytes of that file, to send them elsewhere; `name` is for messages. */
OLTR_API size_t oltr_results_size(const oltr_results *results); /* 0 for NULL */
OLTR_API void oltr_results_pack(const oltr_results *results,
                                void *bytes); /* oltr_results_size() of them */
OLTR_API oltr_status oltr_results_unpack(oltr_results *results, const void *bytes, size_t size,
                                         const char *name, oltr_error *error);
/* Adds the replications of `from`, none of which may be in `into`; the same bits whatever the
 * order. */
OLTR_API oltr_status oltr_results_merge(oltr_results *into, const oltr_results *from,
                                        oltr_error *error);

/* ---- the runner */

/* How far a run is. */
typedef struct oltr_progress {
    uint64_t done, total; /* replications, over all points; of the shard */
    uint64_t rounds_done; /* policy rounds simulated by this call, those of unfinished replications
                             included */
    double seconds;       /* since this call began */
    const oltr_results *results; /* those so far */
    uint64_t rounds,
        rounds_total; /* policy rounds of the shard: done, by earlier calls too, and in all */
    double share; /* of the work of the shard that is done, rounds weighed by what they cost; never
                     falls; 1 at the end */
    double seconds_left; /* an estimate; below 0: not known yet */
    uint64_t reserved[4];
} oltr_progress;

/* One of `count` equal parts of a run: the replications r with r mod count == index.  A count of 0
 * is the whole. */
typedef struct oltr_shard {
    uint32_t index, count; /* 0 to count - 1; the number of parts */
    uint32_t reserved[2];
} oltr_shard;

/* How many of the replications of a point a shard has. */
OLTR_API uint32_t oltr_shard_replications(oltr_shard shard, uint32_t replications);

/* How an experiment is run.  A zero-filled struct gives the defaults. */
typedef struct oltr_run_options {
    uint32_t threads;    /* 0: all cores */
    const char *partial; /* where to keep what is done; NULL: nowhere */
    void (*progress)(
        void *context,
        const oltr_progress *); /* NULL, or called every `every` seconds and at the end, */
    double every;               /* never by two threads at once */
    int (*stop)(
        void *context); /* NULL, or asked about every 20 ms by each thread, between rounds: */
    void *context;      /* non-zero stops the run */
    oltr_shard shard;   /* which part to run */
    size_t size;        /* sizeof(oltr_run_options); 0 means that of oltr 0.1 */
    void *reserved[6];
} oltr_run_options;

/* Runs what `results` does not hold yet.  OLTR_EINTERRUPTED when stopped: whole replications are
 * kept (and written to options->partial); call again with the same results to go on. */
OLTR_API oltr_status oltr_run(const oltr_experiment *points, uint32_t n_points,
                              const oltr_run_options *options, oltr_results *results,
                              oltr_error *error);

#ifdef __cplusplus
}
#endif
#endif
