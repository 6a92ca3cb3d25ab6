/* twins.h - plain policies: the same rounds written in the obvious way in C, to compare with.
 *
 * A plain policy computes the score of every item anew in every round, selects the best by
 * insertion, and counts clicks.  Its users are those of the engine's player of the same seed.  Its
 * scores are also the reference for the indices that the engine computes.
 */
#ifndef OLTR_BENCH_TWINS_H
#define OLTR_BENCH_TWINS_H

#include <stdbool.h>

#include "players.h"

score_items twin_klucb;     /* bisection to 1e-12 */
score_items twin_bayes_ucb; /* beta_quantile_upper() */
score_items twin_ts_beta;   /* gsl_ran_beta() with gsl_rng_mt19937; only where twins_have_gsl() */
bool twins_have_gsl(void);
void twin_gsl_free(void *gsl);

player *twin_new(score_items *scores, uint32_t n_items, uint32_t k, uint64_t seed);
void twin_rank(player *p);
/* Counts what was seen of the list `item`; the next round begins. */
void twin_learn(player *p, const uint32_t *item, oltr_feedback seen);

#endif
