/* judged.c - rounds on judged documents: the twelve policies of experiments/web30k.yaml at the
 * sizes of Web30K and Istella, and what rows that stay save.
 *
 * A round is oltr_rank, a user of the cascade, oltr_learn, after WARMUP rounds.  Documents have
 * grades 0 to 4 as often as in Web30K, the attraction (2^g - 1) / 16, and features that depend on
 * the grade a little, scaled to length 1.  Every policy with context whose bounds need x'V^-1 x is
 * timed a second time on the same documents with one feature of each row changed in every round: so
 * all of its quadratic forms are fresh, as they all were before forms were kept.
 *
 *   bench_judged [repetitions, default 15]
 *   bench_judged --quick       to see whether it runs: one repetition, a short warm-up, no targets
 */
#include <math.h>
#include <oltr/oltr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "table.h"

enum { SLOTS = 10, WARMUP = 3000, ROUNDS = 100, POLICIES = 12, SHAPES = 2 };

typedef struct shape {
    const char *name;
    uint32_t dim, items;
    double together; /* microseconds for one round of each of the twelve: the aim */
} shape;
static const shape shapes[SHAPES] = {{"web30k", 136, 120, 90}, {"istella", 220, 316, 350}};

typedef struct entry {
    const char *kind, *param, *value;
    bool prior;    /* a Beta prior near the attractions */
    double faster; /* aim: rows that stay, over rows that change; 0: does not use forms */
} entry;
static const entry entries[POLICIES] = {
    {"logts", NULL, NULL, false, 0},         {"logts", "lambda", "1", false, 0},
    {"lints", NULL, NULL, false, 0},         {"lints", "radius", "released", false, 0},
    {"gts", NULL, NULL, false, 0},           {"gts", "prior", "full", true, 0},
    {"ts-beta", "prior", "full", true, 0},   {"bayes-ucb", "prior", "full", true, 0},
    {"cascade-woful", NULL, NULL, false, 5}, {"cascade-linucb", NULL, NULL, false, 5},
    {"ts-cascade", NULL, NULL, false, 0},    {"ensemble", "prior", "mean", true, 0}};

typedef struct documents {
    float *x;           /* (items, dim) */
    double *attraction; /* (items) */
    double *a, *b;      /* (items) a prior */
} documents;

static double normal(oltr_rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += oltr_rng_uniform(rng);
    return sum;
}

static double grade_of(double u)
{
    static const double below[] = {0.52, 0.84, 0.97, 0.99};
    double grade = 0;
    for (int g = 0; g < 4; g++)
        grade += u >= below[g];
    return grade;
}

static documents documents_new(const shape *s, uint64_t seed)
{
    oltr_rng rng = oltr_rng_make(seed, 0);
    documents d = {array_of((size_t)s->items * s->dim, sizeof(float)),
                   array_of(s->items, sizeof(double)), array_of(s->items, sizeof(double)),
                   array_of(s->items, sizeof(double))};
    for (uint32_t i = 0; i < s->items; i++) {
        double grade = grade_of(oltr_rng_uniform(&rng)), square = 0;
        float *x = d.x + (size_t)i * s->dim;
        for (uint32_t j = 0; j < s->dim; j++) {
            x[j] = (float)(normal(&rng) + (j % 8 ? 0 : 0.5 * grade));
            square += (double)x[j] * (double)x[j];
        }
        for (uint32_t j = 0; j < s->dim; j++)
            x[j] /= (float)sqrt(square);
        d.attraction[i] = (exp2(grade) - 1) / 16;
        d.a[i] = 1 + 4 * d.attraction[i];
        d.b[i] = 1 + 4 * (1 - d.attraction[i]);
    }
    return d;
}

static void documents_free(documents *d)
{
    free(d->x);
    free(d->attraction);
    free(d->a);
    free(d->b);
}

/* A policy, its users, and the rows that it is shown. */
typedef struct game {
    const shape *shape;
    const documents *documents;
    float *own; /* (items, dim) rows that change; NULL: they stay */
    oltr_policy *policy;
    oltr_scratch *scratch;
    oltr_rng rng;
    uint64_t t;
    double examined; /* rows learned so far */
} game;

static oltr_settings settings_of(const entry *e, const shape *s, const documents *d)
{
    oltr_settings settings;
    if (oltr_settings_init(&settings, e->kind, s->items, NULL) != OLTR_OK)
        die("%s: no settings", e->kind);
    if (settings.info->contextual)
        settings.dim = s->dim;
    if (e->param && oltr_settings_set(&settings, e->param, e->value, NULL) != OLTR_OK)
        die("%s: %s cannot be %s", e->kind, e->param, e->value);
    if (e->prior)
        settings.prior = (oltr_prior){.a = d->a, .b = d->b};
    return settings;
}

static game game_new(const entry *e, const shape *s, const documents *d, bool changing)
{
    oltr_error error = {0};
    oltr_settings settings = settings_of(e, s, d);
    game g = {.shape = s, .documents = d, .rng = oltr_rng_make(3, 0), .t = 1};
    g.policy = oltr_policy_new(&settings, &error);
    if (!g.policy)
        die("%s: %s", e->kind, error.msg);
    g.scratch = oltr_scratch_new(g.policy);
    if (!g.scratch)
        die("%s: no scratch", e->kind);
    if (changing) {
        size_t n = (size_t)s->items * s->dim;
        g.own = array_of(n, sizeof(float));
        memcpy(g.own, d->x, n * sizeof(float));
    }
    return g;
}

static void game_free(game *g)
{
    oltr_scratch_free(g->scratch);
    oltr_policy_free(g->policy);
    free(g->own);
}

/* The last feature of each row takes another value, a little smaller or larger. */
static void change_rows(game *g)
{
    const shape *s = g->shape;
    for (uint32_t i = 0; i < s->items; i++) {
        size_t last = (size_t)i * s->dim + s->dim - 1;
        g->own[last] = g->documents->x[last] * (1 + 1e-4F * (float)(1 + g->t % 64));
    }
}

static void play_round(game *g)
{
    uint32_t item[SLOTS], n = 0;
    double reward[SLOTS];
    bool clicked = false;
    if (g->own)
        change_rows(g);
    oltr_query query = {
        .n_items = g->shape->items, .dim = g->shape->dim, .x = g->own ? g->own : g->documents->x};
    oltr_ranking list = {.k = SLOTS, .item = item};
    oltr_rng users = oltr_rng_at(g->rng, 1, g->t);
    if (oltr_rank(g->policy, &query, oltr_rng_at(g->rng, 0, g->t), g->scratch, &list) != OLTR_OK)
        die("a ranking failed");
    for (; n < SLOTS && !clicked; n++) {
        clicked = oltr_rng_uniform(&users) < g->documents->attraction[item[n]];
        reward[n] = clicked;
    }
    oltr_feedback seen = {.n_examined = n, .reward = reward};
    if (oltr_learn(g->policy, &query, &list, &seen) != OLTR_OK)
        die("a round was not learned");
    g->examined += n;
    g->t++;
}

static void play_rounds(void *game_, uint32_t rounds)
{
    for (; rounds; rounds--)
        play_round(game_);
}

/* ---- the rows of the table */

enum { VARIANTS = POLICIES + 2 };

static void measure_shape(table *t, const shape *s, uint32_t repetitions, uint32_t warmup,
                          bool aims)
{
    static variant v[VARIANTS];
    game game_of[VARIANTS];
    documents d = documents_new(s, 7);
    uint32_t n = 0, changing[POLICIES] = {0};
    for (; n < POLICIES; n++)
        game_of[n] = game_new(&entries[n], s, &d, false);
    for (uint32_t i = 0; i < POLICIES; i++)
        if (entries[i].faster > 0) {
            changing[i] = n;
            game_of[n++] = game_new(&entries[i], s, &d, true);
        }
    for (uint32_t i = 0; i < n; i++) {
        play_rounds(&game_of[i], warmup);
        v[i] = (variant){.play = play_rounds, .context = &game_of[i], .rounds = ROUNDS};
    }
    measure(v, n, repetitions);
    double sum[MAX_REPETITIONS] = {0};
    for (uint32_t i = 0; i < POLICIES; i++) {
        row *r = table_add(t, "us", (spread){0, median_ns(&v[i], repetitions) / 1e3, 0}, NO_TARGET,
                           0, "%s: %s%s%s, a round", s->name, entries[i].kind,
                           entries[i].param ? " " : "", entries[i].param ? entries[i].value : "");
        row_note(r, "%.1f rows learned", game_of[i].examined / (double)(game_of[i].t - 1));
        for (uint32_t k = 0; k < repetitions; k++)
            sum[k] += v[i].ns[k] / 1e3;
    }
    table_add(t, "us", spread_of(sum, repetitions), aims ? AT_MOST : NO_TARGET, s->together,
              "%s: all twelve, a round of each", s->name);
    for (uint32_t i = 0; i < POLICIES; i++)
        if (changing[i]) {
            row *r =
                table_add(t, "", ratio(&v[changing[i]], &v[i], repetitions),
                          aims && s == shapes ? AT_LEAST : NO_TARGET, entries[i].faster,
                          "%s: %s, rows that change / rows that stay", s->name, entries[i].kind);
            row_note(r, "%.1f us / %.1f us", median_ns(&v[changing[i]], repetitions) / 1e3,
                     median_ns(&v[i], repetitions) / 1e3);
        }
    for (uint32_t i = 0; i < n; i++)
        game_free(&game_of[i]);
    documents_free(&d);
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t repetitions = quick ? 1 : argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 15;
    static table t;
    if (repetitions < 1 || repetitions > MAX_REPETITIONS)
        die("bench_judged: %s is no number of repetitions, 1 to %d", argv[1], MAX_REPETITIONS);
    for (int s = 0; s < SHAPES; s++)
        measure_shape(&t, &shapes[s], repetitions, quick ? 20 : WARMUP, !quick);
    table_print(&t);
    return 0;
}
