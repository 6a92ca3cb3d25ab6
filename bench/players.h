/* players.h - what is timed: a policy of the engine, called through the public interface, with
 * simulated users that cost almost nothing.
 *
 * The attractions are the paper's: item i has Beta(a_i, 10), a_i uniform on 1..10.  The users take
 * their random words from a table and decide without a branch, so that nearly all the time of a
 * round is the engine's.
 *
 * A player can also be a plain policy (twins.h), which the engine is compared with.
 */
#ifndef OLTR_BENCH_PLAYERS_H
#define OLTR_BENCH_PLAYERS_H

#include <oltr/oltr.h>

enum { WORDS = 1 << 14, MAX_SLOTS = 64 };

typedef struct item_world {
    uint32_t n_items;
    double *a, *b;       /* (n_items) Beta(a, b) is the prior of an attraction */
    uint32_t *threshold; /* (n_items) a random word below it is a click */
    uint32_t *word;      /* (WORDS + MAX_SLOTS) */
} item_world;

/* The user of round t: fills reward[] of all k slots and returns how many were examined. */
static inline uint32_t scan(const item_world *w, uint64_t t, const uint32_t *item, uint32_t k,
                            double *reward)
{
    static const double as_reward[] = {0, 1}; /* a load: a conversion may compile to a jump */
    const uint32_t *word = w->word + (t * k) % WORDS;
    uint64_t clicks = (uint64_t)1 << (k - 1); /* without a click all k slots are examined */
    for (uint32_t slot = 0; slot < k; slot++) {
        /* The borrow of the subtraction: 1 when the word is below the threshold. */
        uint64_t click = ((uint64_t)word[slot] - w->threshold[item[slot]]) >> 63;
        reward[slot] = as_reward[click];
        clicks |= click << slot;
    }
    return (uint32_t)__builtin_ctzll(clicks) + 1;
}

typedef struct player player;
typedef void score_items(player *p); /* fills p->score */

struct player {
    item_world world;
    uint64_t t; /* the next round */
    uint32_t k;
    uint32_t item[MAX_SLOTS];
    double reward[MAX_SLOTS];
    void (*round)(player *p);
    /* a policy of the engine */
    oltr_policy *policy;
    oltr_scratch *scratch;
    oltr_rng rng;
    const oltr_query *query; /* (n_queries) used in turn; NULL: all items */
    uint32_t n_queries;
    /* a plain policy */
    score_items *scores;
    double *n, *s; /* (n_items) times examined, times clicked */
    double *score; /* (n_items) */
    void *gsl;     /* gsl_rng of twin_ts_beta */
};

/* The world of `seed` and round 1; the callers below add the policy. */
player *player_start(uint32_t n_items, uint32_t k, uint64_t seed);

/* ts-beta, ts-hyper, bayes-ucb and ensemble get the true prior; the others their default. */
player *player_new(const char *kind, uint32_t n_items, uint32_t k, uint64_t seed);
void player_free(player *p);
oltr_feedback player_scan(player *p); /* of the list in p->item, in round t */

/* n players with seeds 1 to n: in one world alone the items may be unusually easy or hard. */
typedef struct group {
    uint32_t n;
    player **player; /* (n) */
} group;

/* Each has played `warmup` rounds.  With `scores` plain policies, else those of `kind`. */
group group_new(const char *kind, score_items *scores, uint32_t n_items, uint32_t k, uint32_t n,
                uint32_t warmup);
void group_free(group *g);

/* Variants for measure(): each player plays rounds / n rounds. */
void play_rounds(void *group_, uint32_t rounds);
void play_users(void *group_, uint32_t rounds); /* the users alone, with the last lists */

#endif
