/* logistic.c - the logistic posterior against a full Newton solve in every round, over recorded
 * rounds of LogTS.
 *
 * A run of Thompson sampling is played once and its observations are written down; then each
 * variant replays them from an empty state, finding the rows in the same table, in turn, and the
 * ratio of thread CPU times is taken within a repetition, so that what disturbs one variant
 * disturbs its neighbour.  While the run is played, the root is compared with a fully converged
 * Newton solve at 50 checkpoints.
 *
 * Then whole rounds of logts with features that never repeat, beside logts-newton, which keeps no
 * history, in turn within each round: the ratio of their times, and whether it is the same after
 * many rounds as after few.
 *
 *   bench_logistic [repetitions, default 15] [a word for more variants]
 *   bench_logistic --quick     does it run?  One repetition of a twentieth of the rounds, no target
 *   bench_logistic --fresh [repetitions, default 3]     the second part alone
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/posterior/logistic.h"

enum { CHECKPOINTS = 50, MAX_LIST = 16 };

typedef struct workload {
    const char *name;
    uint32_t dim, n_items, list, rounds;
    double lambda, drift;
    double offset; /* added to the true theta along the mean row: how much the items attract at
                      large */
    double target; /* the least ratio that is good enough */
} workload;

typedef struct story {
    workload w;
    float *x;        /* (n_items, dim) */
    uint32_t *begin; /* (rounds + 1) where a round's observations begin */
    uint32_t *item;  /* (observations) */
    double *click;   /* (observations) */
    double worst;    /* error of the root at the checkpoints, relative to 1 + |theta| */
} story;

typedef struct player {
    logistic p;
    size_t bytes;
    void *state;
} player;

static uint64_t seed = 1;

static uint64_t next_word(void)
{
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double uniform(void)
{
    return ((double)(next_word() >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    double r = sqrt(-2 * log(uniform()));
    return r * cos(6.283185307179586 * uniform());
}

static void *room(size_t n, size_t size)
{
    size_t bytes = (n * size + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes ? bytes : 64);
    if (!memory) {
        fprintf(stderr, "bench_logistic: out of memory\n");
        exit(1);
    }
    memset(memory, 0, bytes);
    return memory;
}

static player player_new(const workload *w)
{
    player a;
    layout l = {0, 0};
    a.p = logistic_plan(&l, w->dim, w->n_items, w->n_items, w->lambda, w->drift);
    a.bytes = l.used;
    a.state = room(l.used, 1);
    return a;
}

static void player_restart(player *a)
{
    memset(a->state, 0, a->bytes);
    logistic_refresh(a->state, &a->p);
    memset(&a->p.effort, 0, sizeof a->p.effort);
}

/* ---- a run of LogTS */

static void draw_world(story *s, double *truth)
{
    const workload *w = &s->w;
    double length = 0;
    for (uint32_t j = 0; j < w->dim; j++) {
        truth[j] = normal();
        length += truth[j] * truth[j];
    }
    for (uint32_t j = 0; j < w->dim; j++)
        truth[j] = truth[j] / sqrt(length) + w->offset / sqrt(w->dim);
    for (uint32_t i = 0; i < w->n_items; i++) {
        float *x = s->x + (size_t)i * w->dim;
        double square = 0;
        for (uint32_t j = 0; j < w->dim; j++) {
            x[j] = (float)uniform();
            square += (double)x[j] * (double)x[j];
        }
        for (uint32_t j = 0; j < w->dim; j++)
            x[j] = (float)((double)x[j] / sqrt(square));
    }
}

/* Shows the best K under a sample of theta; writes what the user examined and clicked.  Returns how
 * many. */
static uint32_t play_round(const story *s, const player *a, const double *truth, double *theta,
                           double *score, uint32_t *item, double *click)
{
    const workload *w = &s->w;
    ldl f = logistic_factor(a->state, &a->p);
    float *z = (float *)(void *)score; /* dim normals first, then n_items scores */
    uint32_t n = 0;
    for (uint32_t j = 0; j < w->dim; j++)
        z[j] = (float)normal();
    ldl_sample(&f, 1, z, theta);
    for (uint32_t j = 0; j < w->dim; j++)
        theta[j] += logistic_theta(a->state, &a->p)[j];
    rows_times(s->x, w->dim, w->n_items, w->dim, theta, score);
    while (n < w->list) {
        uint32_t best = 0;
        double attraction;
        for (uint32_t i = 1; i < w->n_items; i++)
            best = score[i] > score[best] ? i : best;
        rows_times(s->x + (size_t)best * w->dim, w->dim, 1, w->dim, truth, &attraction);
        score[best] = -INFINITY;
        item[n] = best;
        click[n] = uniform() < sigmoid(attraction);
        if (click[n++] > 0)
            break;
    }
    return n;
}

typedef void adder(void *state, logistic *p, const float *const *x, const double *y, uint32_t n);

static void learn_round(player *a, const story *s, uint32_t t, adder *add)
{
    const float *x[MAX_LIST];
    uint32_t n = s->begin[t + 1] - s->begin[t];
    for (uint32_t i = 0; i < n; i++)
        x[i] = s->x + (size_t)s->item[s->begin[t] + i] * s->w.dim;
    add(a->state, &a->p, x, s->click + s->begin[t], n);
}

static double distance_to_root(const player *a, player *exact)
{
    double error = 0, size = 0;
    memcpy(exact->state, a->state, a->bytes);
    for (int i = 0; i < 3; i++)
        logistic_solve_plainly(exact->state, &exact->p);
    for (uint32_t j = 0; j < a->p.dim; j++) {
        double root = logistic_theta(exact->state, &exact->p)[j],
               e = logistic_theta(a->state, &a->p)[j] - root;
        error += e * e;
        size += root * root;
    }
    return sqrt(error) / (1 + sqrt(size));
}

static story record(const workload *w)
{
    size_t most = (size_t)w->rounds * w->list;
    story s = {.w = *w,
               .x = room((size_t)w->n_items * w->dim, sizeof(float)),
               .begin = room(w->rounds + 1, sizeof(uint32_t))};
    double *truth = room(w->dim, sizeof(double)), *theta = room(w->dim, sizeof(double));
    double *score = room(w->n_items > w->dim ? w->n_items : w->dim, sizeof(double));
    player a = player_new(w), exact = player_new(w);
    s.item = room(most, sizeof(uint32_t));
    s.click = room(most, sizeof(double));
    draw_world(&s, truth);
    player_restart(&a);
    for (uint32_t t = 0; t < w->rounds; t++) {
        s.begin[t + 1] = s.begin[t] + play_round(&s, &a, truth, theta, score, s.item + s.begin[t],
                                                 s.click + s.begin[t]);
        learn_round(&a, &s, t, logistic_add);
        if ((t + 1) % (w->rounds / CHECKPOINTS) == 0)
            s.worst = fmax(s.worst, distance_to_root(&a, &exact));
    }
    free(truth);
    free(theta);
    free(score);
    free(a.state);
    free(exact.state);
    return s;
}

/* ---- the variants */

static void replay_fast(player *a, const story *s, uint32_t from, uint32_t to)
{
    for (uint32_t t = from; t < to; t++)
        learn_round(a, s, t, logistic_add);
}

/* The same rows found and counted, then the full solve. */
static void replay_plainly(player *a, const story *s, uint32_t from, uint32_t to)
{
    for (uint32_t t = from; t < to; t++)
        learn_round(a, s, t, logistic_add_plainly);
}

typedef struct variant {
    const char *name;
    void (*replay)(player *, const story *, uint32_t from, uint32_t to);
    player player;
    double *whole, *second; /* (repetitions) microseconds a round: of all, of the second half */
} variant;

static double microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void run(variant *v, const story *s, uint32_t repetition)
{
    uint32_t half = s->w.rounds / 2;
    player_restart(&v->player);
    double start = microseconds();
    v->replay(&v->player, s, 0, half);
    double middle = microseconds();
    v->replay(&v->player, s, half, s->w.rounds);
    double end = microseconds();
    v->whole[repetition] = (end - start) / s->w.rounds;
    v->second[repetition] = (end - middle) / (s->w.rounds - half);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *x, uint32_t n)
{
    double *sorted = room(n, sizeof *sorted);
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, ascending);
    double middle = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
    return middle;
}

static double median_ratio(const double *above, const double *below, uint32_t n)
{
    double *ratio = room(n, sizeof *ratio);
    for (uint32_t i = 0; i < n; i++)
        ratio[i] = above[i] / below[i];
    double middle = median(ratio, n);
    free(ratio);
    return middle;
}

static variant variant_new(const char *name,
                           void (*replay)(player *, const story *, uint32_t, uint32_t),
                           const workload *w, uint32_t repetitions)
{
    variant v = {name, replay, player_new(w), room(repetitions, sizeof(double)),
                 room(repetitions, sizeof(double))};
    return v;
}

static void report(const variant *v, const story *s, uint32_t repetitions)
{
    const logistic_effort *e = &v->player.p.effort;
    double rounds = s->w.rounds;
    printf("  %-8s %8.2f us/round (second half %8.2f)  steps %.2f  halvings %.3f  refreshes %.3f  "
           "adjustments %.3f a "
           "round\n",
           v->name, median(v->whole, repetitions), median(v->second, repetitions),
           (double)e->steps / rounds, (double)e->halvings / rounds, (double)e->refreshes / rounds,
           (double)e->adjustments / rounds);
}

static int compare(const workload *w, uint32_t repetitions)
{
    story s = record(w);
    variant fast = variant_new("reused", replay_fast, w, repetitions),
            plain = variant_new("Newton", replay_plainly, w, repetitions);
    printf("%s: %.2f items observed a round, root error at %d checkpoints <= %.1e\n", w->name,
           (double)s.begin[w->rounds] / w->rounds, CHECKPOINTS, s.worst);
    for (uint32_t i = 0; i < repetitions; i++) {
        run(i % 2 ? &fast : &plain, &s, i);
        run(i % 2 ? &plain : &fast, &s, i);
    }
    double ratio = median_ratio(plain.whole, fast.whole, repetitions);
    int good = ratio >= w->target && s.worst <= 1e-8;
    report(&fast, &s, repetitions);
    report(&plain, &s, repetitions);
    printf("  ratio    %8.2f (second half %.2f), wanted %.1f: %s\n", ratio,
           median_ratio(plain.second, fast.second, repetitions), w->target,
           good ? "reached" : "MISSED");
    free(s.x);
    free(s.begin);
    free(s.item);
    free(s.click);
    for (int i = 0; i < 2; i++) {
        variant *v = i ? &plain : &fast;
        free(v->player.state);
        free(v->whole);
        free(v->second);
    }
    return good;
}

/* ---- rows that never repeat */

enum { FRESH_SLOTS = 3, FRESH_PARTS = 5 };

typedef struct fresh_workload {
    const char *name;
    uint32_t dim, n_items, rounds;
    double most;      /* the largest ratio to logts-newton that is good enough, over all rounds */
    double most_late; /* the largest ratio of the last fifth of the rounds to the second */
} fresh_workload;

typedef struct contender {
    oltr_policy *policy;
    oltr_scratch *scratch;
    double part[FRESH_PARTS]; /* microseconds a round */
} contender;

static contender contender_new(const char *kind, const fresh_workload *w)
{
    oltr_settings settings;
    contender c = {.policy = NULL};
    if (oltr_settings_init(&settings, kind, w->n_items, NULL) == OLTR_OK) {
        settings.dim = w->dim;
        c.policy = oltr_policy_new(&settings, NULL);
        c.scratch = oltr_scratch_new(c.policy);
    }
    if (!c.scratch) {
        fprintf(stderr, "bench_logistic: no %s\n", kind);
        exit(1);
    }
    return c;
}

static void draw_rows(float *x, uint32_t n, uint32_t dim)
{
    for (uint32_t i = 0; i < n; i++, x += dim) {
        double square = 0;
        for (uint32_t j = 0; j < dim; j++) {
            x[j] = (float)uniform();
            square += (double)x[j] * (double)x[j];
        }
        for (uint32_t j = 0; j < dim; j++)
            x[j] = (float)((double)x[j] / sqrt(square));
    }
}

/* A list is shown and all of it examined; returns the microseconds of both calls. */
static double fresh_round(contender *c, const oltr_query *query, const double *truth,
                          const double *luck, uint64_t t)
{
    uint32_t item[FRESH_SLOTS];
    double click[FRESH_SLOTS], attraction;
    oltr_ranking list = {.k = FRESH_SLOTS, .item = item};
    oltr_feedback seen = {.n_examined = FRESH_SLOTS, .reward = click};
    double start = microseconds();
    oltr_rank(c->policy, query, oltr_rng_at(oltr_rng_make(1, 0), 0, t), c->scratch, &list);
    double spent = microseconds() - start;
    for (uint32_t k = 0; k < FRESH_SLOTS; k++) {
        rows_times(query->x + (size_t)item[k] * query->dim, query->dim, 1, query->dim, truth,
                   &attraction);
        click[k] = luck[k] < sigmoid(attraction);
    }
    start = microseconds();
    oltr_learn(c->policy, query, &list, &seen);
    return spent + (microseconds() - start);
}

static void play_fresh(const fresh_workload *w, contender *a, contender *b)
{
    float *x = room((size_t)w->n_items * w->dim, sizeof *x);
    double *truth = room(w->dim, sizeof *truth), length = 0;
    oltr_query query = {.n_items = w->n_items, .dim = w->dim, .x = x};
    for (uint32_t j = 0; j < w->dim; j++) {
        truth[j] = normal();
        length += truth[j] * truth[j];
    }
    for (uint32_t j = 0; j < w->dim; j++)
        truth[j] /= sqrt(length);
    for (uint32_t t = 0; t < w->rounds; t++) {
        const double luck[FRESH_SLOTS] = {uniform(), uniform(), uniform()};
        draw_rows(x, w->n_items, w->dim);
        for (int turn = 0; turn < 2; turn++) {
            contender *c = (t + (uint32_t)turn) % 2 ? a : b;
            uint32_t part = (uint32_t)((uint64_t)t * FRESH_PARTS / w->rounds);
            c->part[part] += fresh_round(c, &query, truth, luck, t + 1) * FRESH_PARTS / w->rounds;
        }
    }
    free(x);
    free(truth);
}

static double mean_of(const double *part)
{
    double sum = 0;
    for (int i = 0; i < FRESH_PARTS; i++)
        sum += part[i];
    return sum / FRESH_PARTS;
}

static int compare_fresh(const fresh_workload *w, uint32_t repetitions)
{
    double *ratio = room(repetitions, sizeof *ratio), *late = room(repetitions, sizeof *late);
    double *own = room(repetitions, sizeof *own), *other = room(repetitions, sizeof *other);
    for (uint32_t i = 0; i < repetitions; i++) {
        contender a = contender_new("logts", w), b = contender_new("logts-newton", w);
        play_fresh(w, &a, &b);
        own[i] = mean_of(a.part);
        other[i] = mean_of(b.part);
        ratio[i] = own[i] / other[i];
        late[i] = (a.part[FRESH_PARTS - 1] / b.part[FRESH_PARTS - 1]) / (a.part[1] / b.part[1]);
        oltr_scratch_free(a.scratch);
        oltr_scratch_free(b.scratch);
        oltr_policy_free(a.policy);
        oltr_policy_free(b.policy);
    }
    int good = median(ratio, repetitions) <= w->most && median(late, repetitions) <= w->most_late;
    printf("%s: logts %.1f us/round, logts-newton %.1f over %u rounds\n", w->name,
           median(own, repetitions), median(other, repetitions), w->rounds);
    printf("  ratio    %8.2f, at most %.1f; last fifth to second fifth %.2f, at most %.1f: %s\n",
           median(ratio, repetitions), w->most, median(late, repetitions), w->most_late,
           good ? "reached" : "MISSED");
    free(ratio);
    free(late);
    free(own);
    free(other);
    return good;
}

static int compare_all_fresh(uint32_t repetitions, int quick)
{
    static const fresh_workload workloads[] = {
        {"fresh rows, d=136 L=120 K=3", 136, 120, 5000, 3, 1.2},
        {"fresh rows, d=600 L=120 K=3", 600, 120, 5000, 4, 1.2},
    };
    int good = 1;
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        fresh_workload w = workloads[i];
        if (quick) {
            w.rounds /= 100;
            w.most = w.most_late = INFINITY;
        }
        good &= compare_fresh(&w, repetitions);
    }
    return good;
}

int main(int argc, char **argv)
{
    static const workload workloads[] = {
        {"d=10 L=30 K=3", 10, 30, 3, 10000, 1e-4, 0.1, 0, 1.7},
        {"d=136 L=120 K=10", 136, 120, 10, 3000, 1e-4, 0.1, -0.7, 5},
    };
    static const workload more[] = {
        {"d=10 L=30 K=3, the factor at the root", 10, 30, 3, 10000, 1e-4, 0, 0, 1},
        {"d=136 L=120 K=10, the factor at the root", 136, 120, 10, 3000, 1e-4, 0, -0.7, 1},
        {"d=136 L=1000 K=10", 136, 1000, 10, 2000, 1e-4, 0.1, -0.7, 5},
        {"d=5 L=20 K=3, lambda 1", 5, 20, 3, 10000, 1, 0.1, 0, 1},
    };
    if (argc > 1 && strcmp(argv[1], "--fresh") == 0)
        return !compare_all_fresh(argc > 2 ? (uint32_t)atoi(argv[2]) : 3, 0);
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t repetitions = quick ? 1 : argc > 1 ? (uint32_t)atoi(argv[1]) : 15;
    int good = repetitions > 0;
    for (size_t i = 0; repetitions > 0 && i < sizeof workloads / sizeof *workloads; i++) {
        workload w = workloads[i];
        if (quick) {
            w.rounds /= 20;
            w.target = 0;
        }
        good &= compare(&w, repetitions);
    }
    if (repetitions > 0)
        good &= compare_all_fresh(repetitions < 15 ? 1 : repetitions / 5, quick);
    for (size_t i = 0; argc > 2 && i < sizeof more / sizeof *more; i++)
        compare(&more[i], repetitions);
    return !good;
}
