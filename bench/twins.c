/* twins.c - see twins.h. */
#include "twins.h"

#include <math.h>
#include <stdlib.h>

#include "engine/special/special.h"
#include "measure.h"

#ifdef OLTR_BENCH_GSL
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#endif

static double divergence(double p, double q)
{
    return (p > 0 ? p * log(p / q) : 0) + (p < 1 ? (1 - p) * log((1 - p) / (1 - q)) : 0);
}

static double bisect(double p, double budget)
{
    double low = p, high = 1;
    while (high - low > 1e-12) {
        double middle = 0.5 * (low + high);
        if (divergence(p, middle) > budget)
            high = middle;
        else
            low = middle;
    }
    return 0.5 * (low + high);
}

void twin_klucb(player *p)
{
    double log_t = log((double)p->t), budget = p->t < 3 ? 0 : log_t + 3 * log(log_t);
    for (uint32_t i = 0; i < p->world.n_items; i++)
        p->score[i] = p->n[i] > 0 ? bisect(p->s[i] / p->n[i], budget / p->n[i]) : INFINITY;
}

void twin_bayes_ucb(player *p)
{
    const item_world *w = &p->world;
    for (uint32_t i = 0; i < w->n_items; i++)
        p->score[i] =
            beta_quantile_upper(w->a[i] + p->s[i], w->b[i] + p->n[i] - p->s[i], 1 / (double)p->t);
}

#ifdef OLTR_BENCH_GSL
bool twins_have_gsl(void)
{
    return true;
}

void twin_ts_beta(player *p)
{
    const item_world *w = &p->world;
    for (uint32_t i = 0; i < w->n_items; i++)
        p->score[i] = gsl_ran_beta(p->gsl, w->a[i] + p->s[i], w->b[i] + p->n[i] - p->s[i]);
}

static void *gsl_new(void)
{
    return gsl_rng_alloc(gsl_rng_mt19937);
}

void twin_gsl_free(void *gsl)
{
    if (gsl)
        gsl_rng_free(gsl);
}
#else
bool twins_have_gsl(void)
{
    return false;
}

void twin_ts_beta(player *p)
{
    (void)p;
    die("this build has no GSL");
}

static void *gsl_new(void)
{
    return NULL;
}

void twin_gsl_free(void *gsl)
{
    (void)gsl;
}
#endif

/* The k best by insertion; of equal scores the first. */
void twin_rank(player *p)
{
    double best[MAX_SLOTS];
    p->scores(p);
    for (uint32_t slot = 0; slot < p->k; slot++)
        best[slot] = -INFINITY;
    for (uint32_t i = 0; i < p->world.n_items; i++) {
        uint32_t slot = p->k;
        if (!(p->score[i] > best[slot - 1]))
            continue;
        for (slot--; slot > 0 && p->score[i] > best[slot - 1]; slot--) {
            best[slot] = best[slot - 1];
            p->item[slot] = p->item[slot - 1];
        }
        best[slot] = p->score[i];
        p->item[slot] = i;
    }
}

void twin_learn(player *p, const uint32_t *item, oltr_feedback seen)
{
    for (uint32_t slot = 0; slot < seen.n_examined; slot++) {
        p->n[item[slot]] += 1;
        p->s[item[slot]] += seen.reward[slot];
    }
    p->t++;
}

static void twin_round(player *p)
{
    twin_rank(p);
    twin_learn(p, p->item, player_scan(p));
}

player *twin_new(score_items *scores, uint32_t n_items, uint32_t k, uint64_t seed)
{
    player *p = player_start(n_items, k, seed);
    p->round = twin_round;
    p->scores = scores;
    p->n = array_of(n_items, sizeof(double));
    p->s = array_of(n_items, sizeof(double));
    p->score = array_of(n_items, sizeof(double));
    p->gsl = gsl_new();
    return p;
}
