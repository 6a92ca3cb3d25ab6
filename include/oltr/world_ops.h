/* world_ops.h - how a world and a click model are made: the interfaces that those of the catalogue
 * implement, for your own.
 *
 * A world kind is one const oltr_world_ops, a click model one const oltr_click_ops; put them into
 * oltr_world.custom_kind and oltr_world.custom_clicks and the simulator plays them like its own.
 * Draw every number from oltr_rng_at() of (seed, replication), a stream and a round, so that all
 * policies of a replication meet the same instance and the same users, and results do not depend on
 * threads.  examples/custom_world.c has one of each.
 *
 * This header changes with the engine: code that includes it may have to change with a new minor
 * version.
 */
#ifndef OLTR_WORLD_OPS_H
#define OLTR_WORLD_OPS_H

#include <oltr/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The streams of a replication.  The first two are the simulator's; a world of your own may use the
 * others, and any above. */
enum {
    OLTR_STREAM_POLICY,
    OLTR_STREAM_USERS,
    OLTR_STREAM_INSTANCE,
    OLTR_STREAM_PRIOR,
    OLTR_STREAM_CONTEXTS,
    OLTR_STREAM_DRIFT
};

/* The truth of one replication, and the prior that the policies get.  The arrays are allocated; a
 * world fills them.
 *
 * advance() may change attraction[] and the features: the rows in `drawn`, or x itself, which
 * may point to other rows in every round (they must stay until the next advance()).  It may
 * change n_items too, between the number of slots and what draw() left.  dim must stay.  a, b,
 * mean, sd, tells and tells_moments are read once, when a policy is made: what advance() does to
 * them has no effect.  Every policy meets the instance as draw() leaves it, then advance(1),
 * advance(2) and so on, so advance() may build on the round before. */
typedef struct oltr_instance {
    uint32_t n_items;   /* of this replication */
    double *attraction; /* (n_items) */
    double *a, *b;      /* (n_items) the Beta prior that the policies get */
    int tells;          /* 1: a and b are given to policies; 0: they mean nothing */
    double *mean, *sd;  /* (n_items) the prior of policies that take a mean and a deviation */
    int tells_moments;  /* 1: mean and sd are given to policies; 0: they mean nothing */
    uint32_t dim;       /* features of an item; 0: none */
    const float *x;     /* (n_items, dim): `drawn`, or rows that the world keeps */
    float *drawn;       /* room for (n_items, dim); NULL for a dataset, whose rows are in place */
    double *theta;      /* (dim) */
    double *room; /* (n_items of the world) working memory for best() and worst(); its content means
                     nothing */
    /* NULL, or to be asked every few milliseconds by a draw() or advance() that takes long: when
     * it returns non-zero, return OLTR_EINTERRUPTED. */
    int (*stop)(void *context);
    void *stop_context; /* for stop() */
    uint32_t query;     /* of a dataset whose queries share the rounds: the one of this round */
    /* advance() may set it to 1 where this round has changed no attraction: then the best list of
     * the round before is not searched again.  It is 0 before every advance(). */
    uint32_t still;
    /* NULL, or what the users of this instance have in place of a parameter of the click model: a
     * chance for each slot (dcm: leave, pbm: examine), for each item (dbn: satisfied), and for all
     * (dbn: continue).  draw() sets them; the arrays must stay until the next draw(). */
    const double *slot_chance, *item_chance, *user_chance;
    /* The largest attractions of worlds of the catalogue of which few change in a round; NULL for
     * a caller's own world. */
    struct oltr_largest *largest;
} oltr_instance;

/* ---- parameters */

/* One number that users choose.  The table of a world or a click model gives the keys that an
 * experiment file may have in its section `world`, their help and error messages, what `--set`
 * accepts, and which numbers a file of partial results belongs to. */
typedef struct oltr_world_param {
    /* The choices of an integer are words for 0, 1, ... below its `min`: {"all", NULL} allows
     * `no_click: all` for 0.  Two kinds may share a name if they mean the same by it. */
    oltr_param about;
    /* 0: the number is in kind_values or click_values of the world; read it with
     * oltr_world_value().  Else offsetof() its own field of oltr_world: a double for a real, a
     * uint32_t for an integer, an int for a choice. */
    size_t field;
    int zero_is_default; /* 0 in that field means the default */
    /* Of a click model, not 0: a list with a number from 0 to 1 for each slot may be given in its
     * place; it is slot_chance of the world.  2: the numbers must not rise from slot to slot.  At
     * most one parameter has it. */
    int by_slot;
} oltr_world_param;

/* Parameter i of a table; `values` are the kind_values or click_values of the world. */
static inline double oltr_world_value(const oltr_world_param *params, const double *values,
                                      uint32_t i)
{
    return values ? values[i] : params[i].about.initial;
}

/* ---- operations */

/* What a world is given beyond its parameters, and what its attractions are.  Decides which of the
 * other keys its section `world` may have: all kinds without OLTR_WORLD_DATASET have `items`. */
enum {
    OLTR_WORLD_PRIOR = 1,        /* prior_a and prior_b */
    OLTR_WORLD_ATTRACTION = 2,   /* attraction, and features */
    OLTR_WORLD_DATASET = 4,      /* dataset, and what belongs to its rows */
    OLTR_WORLD_MISSPECIFIED = 8, /* misspecification shifts the Beta prior that policies get */
    OLTR_WORLD_REALS = 16,  /* means of any sign and size: only for click models of OLTR_REALS */
    OLTR_WORLD_FITTED = 32, /* queries with users of their own, from a file */
    OLTR_WORLD_DRIFTS = 64  /* drift_walk and drift_jump */
};

/* A kind of world. */
typedef struct oltr_world_ops {
    oltr_named info; /* its name, and one sentence */
    /* OPTIONAL: what can be wrong with it; policies, counts, and parameters without a field of
     * their own are checked already.  The words go into *error, which is never NULL. */
    oltr_status (*check)(const oltr_world *world, oltr_error *error);
    /* Fills the arrays of `out`; may set n_items to fewer than the world has, but not below the
     * number of slots.  Anything but OLTR_OK ends the run with that status and the words in
     * *error (never NULL). */
    oltr_status (*draw)(const oltr_world *world, uint64_t seed, uint64_t replication,
                        oltr_instance *out, oltr_error *error);
    /* OPTIONAL: what changes from round to round (above), rounds counting from 1; advance() is
     * called where moves() returns non-zero. */
    int (*moves)(const oltr_world *world);
    oltr_status (*advance)(const oltr_world *world, uint64_t seed, uint64_t replication,
                           uint64_t round, oltr_instance *truth, oltr_error *error);
    /* OPTIONAL: called by every thread before its first call of an operation above or of the
     * click model, check() excepted, and after its last one.  Where thread_begin() fails, the run
     * ends with its status and thread_end() is not called. */
    oltr_status (*thread_begin)(const oltr_world *world);
    void (*thread_end)(const oltr_world *world);
    size_t size;                    /* sizeof(oltr_world_ops); 0 means that of version 0.1 */
    const oltr_world_param *params; /* (n_params), or NULL */
    uint32_t n_params, traits;      /* traits: a sum of OLTR_WORLD_... */
    /* OPTIONAL: do policies get a prior from this world?  NULL: no.  An experiment file is checked
     * by it; what counts in a run is `tells` and `tells_moments`. */
    int (*gives_prior)(const oltr_world *world);
    void (*reserved[1])(void);
} oltr_world_ops;

/* A click model: what users do with a list. */
typedef struct oltr_click_ops {
    oltr_named info;      /* its name, and one sentence */
    oltr_rewards rewards; /* what scan() gives */
    /* OPTIONAL: what can be wrong with the world for these users. */
    oltr_status (*check)(const oltr_world *world, oltr_error *error);
    /* What a user does with the list: fills reward[] of the examined slots and returns how many
     * those are.  More than shown->k of them end the run with an error.  Not needed where there is
     * browse(). */
    uint32_t (*scan)(const oltr_world *world, const oltr_instance *truth, const oltr_rng *round,
                     const oltr_ranking *shown, double *reward);
    /* Expected reward of the list, and the largest of any list of k items.  A number that is not
     * finite ends the run with an error. */
    double (*value)(const oltr_world *world, const oltr_instance *truth, const uint32_t *item,
                    uint32_t k);
    double (*best)(const oltr_world *world, const oltr_instance *truth, uint32_t k);
    /* OPTIONAL: the smallest of any list of k items.  Where it is there, replications in which
     * every list is as good as any other are counted: oltr_results_saturated(). */
    double (*worst)(const oltr_world *world, const oltr_instance *truth, uint32_t k);
    size_t size;                    /* sizeof(oltr_click_ops); 0 means that of version 0.1 */
    const oltr_world_param *params; /* (n_params), or NULL */
    uint32_t n_params;              /* how many parameters it has */
    /* OPTIONAL, for OLTR_REALS: the users click too.  Fills click[], 0 or 1, of the n slots that
     * scan() counted as examined; the chance of a click must be the mean reward of the item, so
     * that regret means the same for policies that learn from either. */
    void (*clicked)(const oltr_world *world, const oltr_instance *truth, const oltr_rng *round,
                    const oltr_ranking *shown, uint32_t n, double *click);
    /* In place of scan(), for users who click more than once or do not scan from the top: fills
     * click[] and examined[], each 0 or 1, of all shown slots.  What a policy is told of it is a
     * reading, OLTR_SEEN_...: that of its contestant, else that of the parameter `seen` of the
     * table, which must have the words first, last, true and all.  A model without that parameter
     * is one whose slots without a click cannot be read as skips: it tells every slot, and policies
     * without knows_slots are refused unless their contestant names a reading. */
    void (*browse)(const oltr_world *world, const oltr_instance *truth, const oltr_rng *round,
                   const oltr_ranking *shown, double *click, uint8_t *examined);
} oltr_click_ops;

/* Those of the catalogue, in the order of oltr_world_at() and oltr_clicks_at(); NULL beyond. */
OLTR_API const oltr_world_ops *oltr_world_ops_at(uint32_t index);
OLTR_API const oltr_click_ops *oltr_click_ops_at(uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
