/* players.h - who is timed: policies of the engine, played through the public interface against
 * users who cost next to nothing.
 *
 * The world is the paper's (attraction i ~ Beta(a_i, 10), a_i uniform on 1..10), but its users draw
 * from a table of random words and decide without a branch, so that a round is the engine's work
 * and little else.
 */
#ifndef OLTR_BENCH_PLAYERS_H
#define OLTR_BENCH_PLAYERS_H

#include <oltr/oltr.h>

enum { WORDS = 1 << 14, MAX_SLOTS = 64 };

typedef struct field {
    uint32_t n_items;
    double *a, *b;       /* (n_items) the prior of each attraction */
    uint32_t *threshold; /* (n_items) a word below it is a click */
    uint32_t *word;      /* (WORDS + MAX_SLOTS) */
} field;

field field_new(uint32_t n_items, uint64_t seed);
void field_free(field *f);

/* The user of round t: fills reward[] of all k slots and returns how many were examined. */
static inline uint32_t scan(const field *f, uint64_t t, const uint32_t *item, uint32_t k,
                            double *reward)
{
    static const double as_reward[] = {0, 1}; /* a load, where a conversion might become a jump */
    const uint32_t *word = f->word + (t * k) % WORDS;
    uint64_t clicks = (uint64_t)1 << (k - 1); /* without a click the list is examined to its end */
    for (uint32_t slot = 0; slot < k; slot++) {
        uint64_t click = ((uint64_t)word[slot] - f->threshold[item[slot]]) >>
                         63; /* the borrow: the word is below */
        reward[slot] = as_reward[click];
        clicks |= click << slot;
    }
    return (uint32_t)__builtin_ctzll(clicks) + 1;
}

typedef struct player {
    field world;
    oltr_policy *policy;
    oltr_scratch *scratch;
    oltr_rng rng;
    uint64_t t; /* the next round */
    oltr_ranking shown;
    uint32_t item[MAX_SLOTS];
    double reward[MAX_SLOTS];
    const oltr_query *query; /* (n_queries) one after the other, or NULL: all items */
    uint32_t n_queries;
} player;

/* Policies that can take a prior whole (ts-beta, bayes-ucb, ensemble) are told the true one; gts
 * starts from its own. */
player *player_new(const char *kind, uint32_t n_items, uint32_t k, uint64_t seed);
void player_free(player *p);
void player_round(player *p);

/* Several players of one kind, each in a world of its own: one world alone may be a lucky one. */
typedef struct crew {
    uint32_t n;
    player **player; /* (n) */
} crew;

crew crew_new(const char *kind, uint32_t n_items, uint32_t k, uint32_t n, uint32_t warmup);
void crew_free(crew *c);

/* Variants for measure(): `rounds` are shared out among the players of a crew. */
void play_rounds(void *crew_, uint32_t rounds);
void play_users(void *crew_, uint32_t rounds); /* the users alone, with the lists that stand */

#endif
