/* twins.h - the same rounds as anybody would write them in C in an afternoon: what the engine is
 * compared with.
 *
 * A twin computes the score of every item anew every round, picks the best by insertion, and counts
 * clicks.  It meets the same users as a player.  Where a policy of the engine computes an index,
 * the twin's is the yardstick of its value too.
 */
#ifndef OLTR_BENCH_TWINS_H
#define OLTR_BENCH_TWINS_H

#include "players.h"

typedef struct twin twin;
typedef void score_items(twin *t);

struct twin {
    field world;
    score_items *scores;
    uint64_t t; /* the next round */
    uint32_t k;
    double *n, *s; /* (n_items) examined, clicked */
    double *score; /* (n_items) */
    void *gsl;     /* gsl_rng, where the build has it */
    uint32_t item[MAX_SLOTS];
    double reward[MAX_SLOTS];
};

score_items twin_klucb;     /* bisection to 1e-12 */
score_items twin_bayes_ucb; /* beta_quantile_upper() */
score_items twin_ts_beta;   /* gsl_ran_beta() on gsl_rng_mt19937; dies in a build without GSL */
int twins_have_gsl(void);

twin *twin_new(score_items *scores, uint32_t n_items, uint32_t k, uint64_t seed);
void twin_free(twin *t);
void twin_rank(twin *t);
void twin_learn(twin *t, const uint32_t *item, uint32_t examined,
                const double *reward); /* and the next round begins */

typedef struct twins {
    uint32_t n;
    twin **twin;
} twins;
twins twins_new(score_items *scores, uint32_t n_items, uint32_t k, uint32_t n, uint32_t warmup);
void twins_free(twins *c);
void play_twins(void *twins_, uint32_t rounds);

#endif
