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

void twin_klucb(twin *t)
{
    double log_t = log((double)t->t), budget = t->t < 3 ? 0 : log_t + 3 * log(log_t);
    for (uint32_t i = 0; i < t->world.n_items; i++)
        t->score[i] = t->n[i] > 0 ? bisect(t->s[i] / t->n[i], budget / t->n[i]) : INFINITY;
}

void twin_bayes_ucb(twin *t)
{
    const field *w = &t->world;
    for (uint32_t i = 0; i < w->n_items; i++)
        t->score[i] =
            beta_quantile_upper(w->a[i] + t->s[i], w->b[i] + t->n[i] - t->s[i], 1 / (double)t->t);
}

#ifdef OLTR_BENCH_GSL
int twins_have_gsl(void)
{
    return 1;
}

void twin_ts_beta(twin *t)
{
    const field *w = &t->world;
    for (uint32_t i = 0; i < w->n_items; i++)
        t->score[i] = gsl_ran_beta(t->gsl, w->a[i] + t->s[i], w->b[i] + t->n[i] - t->s[i]);
}

static void *gsl_new(void)
{
    return gsl_rng_alloc(gsl_rng_mt19937);
}

static void gsl_free(void *gsl)
{
    gsl_rng_free(gsl);
}
#else
int twins_have_gsl(void)
{
    return 0;
}

void twin_ts_beta(twin *t)
{
    (void)t;
    die("this build has no GSL");
}

static void *gsl_new(void)
{
    return NULL;
}

static void gsl_free(void *gsl)
{
    (void)gsl;
}
#endif

twin *twin_new(score_items *scores, uint32_t n_items, uint32_t k, uint64_t seed)
{
    twin *t = calloc(1, sizeof *t);
    if (!t || k < 1 || k > MAX_SLOTS || k > n_items)
        die("no twin of %u items with %u slots", n_items, k);
    *t = (twin){
        .world = field_new(n_items, seed), .scores = scores, .t = 1, .k = k, .gsl = gsl_new()};
    t->n = calloc(n_items, sizeof(double));
    t->s = calloc(n_items, sizeof(double));
    t->score = calloc(n_items, sizeof(double));
    if (!t->n || !t->s || !t->score)
        die("out of memory");
    return t;
}

void twin_free(twin *t)
{
    field_free(&t->world);
    gsl_free(t->gsl);
    free(t->n);
    free(t->s);
    free(t->score);
    free(t);
}

/* The k best by insertion; of equal scores the first. */
void twin_rank(twin *t)
{
    double best[MAX_SLOTS];
    t->scores(t);
    for (uint32_t slot = 0; slot < t->k; slot++)
        best[slot] = -INFINITY;
    for (uint32_t i = 0; i < t->world.n_items; i++) {
        uint32_t slot = t->k;
        if (!(t->score[i] > best[slot - 1]))
            continue;
        for (slot--; slot > 0 && t->score[i] > best[slot - 1]; slot--) {
            best[slot] = best[slot - 1];
            t->item[slot] = t->item[slot - 1];
        }
        best[slot] = t->score[i];
        t->item[slot] = i;
    }
}

void twin_learn(twin *t, const uint32_t *item, uint32_t examined, const double *reward)
{
    for (uint32_t slot = 0; slot < examined; slot++) {
        t->n[item[slot]] += 1;
        t->s[item[slot]] += reward[slot];
    }
    t->t++;
}

static void twin_round(twin *t)
{
    twin_rank(t);
    uint32_t examined = scan(&t->world, t->t, t->item, t->k, t->reward);
    twin_learn(t, t->item, examined, t->reward);
}

twins twins_new(score_items *scores, uint32_t n_items, uint32_t k, uint32_t n, uint32_t warmup)
{
    twins c = {n, calloc(n, sizeof *c.twin)};
    if (!c.twin)
        die("out of memory");
    for (uint32_t i = 0; i < n; i++) {
        c.twin[i] = twin_new(scores, n_items, k, i + 1);
        for (uint32_t t = 0; t < warmup; t++)
            twin_round(c.twin[i]);
    }
    return c;
}

void twins_free(twins *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        twin_free(c->twin[i]);
    free(c->twin);
}

void play_twins(void *twins_, uint32_t rounds)
{
    const twins *c = twins_;
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t r = 0; r < rounds / c->n; r++)
            twin_round(c->twin[i]);
}
