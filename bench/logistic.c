/* logistic.c - the logistic posterior compared with a full Newton solve in every round, over
 * recorded rounds of logts.
 *
 * A run of Thompson sampling is played once and its observations are recorded.  Then each variant
 * replays them from an empty state, in turn, with the same lookup of rows, and the ratio of thread
 * CPU times is taken within a repetition: both variants were disturbed alike.  While the run is
 * recorded, the root is compared with a fully converged Newton solve at 50 checkpoints.
 *
 * The second part plays whole rounds of logts with features that never repeat, and of logts-newton,
 * which keeps no history, in turn within each round.  It prints the ratio of their times, and the
 * time of the last fifth of the rounds over that of the second fifth: of each policy by itself, and
 * of logts relative to logts-newton, which cancels disturbances that both have.
 *
 *   bench_logistic [repetitions, default 15] [any word: more variants]
 *   bench_logistic --quick     to see whether it runs: one repetition, few rounds, no targets
 *   bench_logistic --fresh [repetitions, default 3]     the second part alone
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/posterior/logistic.h"
#include "measure.h"

enum { CHECKPOINTS = 50, MAX_LIST = 16 };

typedef struct workload {
    const char *name;
    uint32_t dim, n_items, list, rounds;
    double lambda, drift;
    double
        offset; /* added to the true theta along the mean row; raises or lowers all click rates */
    double target; /* the ratio must be at least this */
} workload;

typedef struct recording {
    workload w;
    float *x;        /* (n_items, dim) */
    uint32_t *begin; /* (rounds + 1) the first observation of each round */
    uint32_t *item;  /* (observations) */
    double *click;   /* (observations) */
    double worst;    /* error of the root at the checkpoints, relative to 1 + |theta| */
} recording;

typedef struct learner {
    logistic p;
    size_t bytes;
    void *state;
} learner;

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

static learner learner_new(const workload *w)
{
    learner a;
    layout l = {0, 0};
    a.p = logistic_plan(&l, w->dim, w->n_items, w->n_items, w->lambda, w->drift);
    a.bytes = l.used;
    a.state = array_of(l.used, 1);
    return a;
}

static void learner_restart(learner *a)
{
    memset(a->state, 0, a->bytes);
    logistic_refresh(a->state, &a->p);
    memset(&a->p.effort, 0, sizeof a->p.effort);
}

/* ---- a recorded run of logts */

/* A direction: dim normals divided by their length. */
static void draw_theta(double *theta, uint32_t dim)
{
    double square = 0;
    for (uint32_t j = 0; j < dim; j++) {
        theta[j] = normal();
        square += theta[j] * theta[j];
    }
    for (uint32_t j = 0; j < dim; j++)
        theta[j] /= sqrt(square);
}

/* n rows of length 1 with positive features. */
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

/* Shows the best K under a sample of theta.  Writes the items that the user examined, and whether
 * each was clicked; returns their number. */
static uint32_t play_round(const recording *s, const learner *a, const double *truth, double *theta,
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

static void learn_round(learner *a, const recording *s, uint32_t t, adder *add)
{
    const float *x[MAX_LIST];
    uint32_t n = s->begin[t + 1] - s->begin[t];
    for (uint32_t i = 0; i < n; i++)
        x[i] = s->x + (size_t)s->item[s->begin[t] + i] * s->w.dim;
    add(a->state, &a->p, x, s->click + s->begin[t], n);
}

static double distance_to_root(const learner *a, learner *exact)
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

static recording record(const workload *w)
{
    size_t most = (size_t)w->rounds * w->list;
    recording s = {.w = *w,
                   .x = array_of((size_t)w->n_items * w->dim, sizeof(float)),
                   .begin = array_of(w->rounds + 1, sizeof(uint32_t))};
    double *truth = array_of(w->dim, sizeof(double)), *theta = array_of(w->dim, sizeof(double));
    double *score = array_of(w->n_items > w->dim ? w->n_items : w->dim, sizeof(double));
    learner a = learner_new(w), exact = learner_new(w);
    s.item = array_of(most, sizeof(uint32_t));
    s.click = array_of(most, sizeof(double));
    draw_theta(truth, w->dim);
    for (uint32_t j = 0; j < w->dim; j++)
        truth[j] += w->offset / sqrt(w->dim);
    draw_rows(s.x, w->n_items, w->dim);
    learner_restart(&a);
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

typedef struct contestant {
    const char *name;
    adder *add;
    learner learner;
    double whole[MAX_REPETITIONS], second[MAX_REPETITIONS]; /* us per round: all, second half */
} contestant;

static double microseconds(void)
{
    return 1e-3 * (double)thread_ns();
}

static double replay(contestant *v, const recording *s, uint32_t from, uint32_t to)
{
    double start = microseconds();
    for (uint32_t t = from; t < to; t++)
        learn_round(&v->learner, s, t, v->add);
    return microseconds() - start;
}

static void run(contestant *v, const recording *s, uint32_t repetition)
{
    uint32_t half = s->w.rounds / 2;
    learner_restart(&v->learner);
    double first = replay(v, s, 0, half), second = replay(v, s, half, s->w.rounds);
    v->whole[repetition] = (first + second) / s->w.rounds;
    v->second[repetition] = second / (s->w.rounds - half);
}

static double median(const double *x, uint32_t n)
{
    return spread_of(x, n).median;
}

static double median_ratio(const double *above, const double *below, uint32_t n)
{
    double ratio[MAX_REPETITIONS];
    for (uint32_t i = 0; i < n; i++)
        ratio[i] = above[i] / below[i];
    return median(ratio, n);
}

static void report(const contestant *v, const recording *s, uint32_t repetitions)
{
    const logistic_effort *e = &v->learner.p.effort;
    double rounds = s->w.rounds;
    printf("  %-8s %8.2f us/round (second half %8.2f)  steps %.2f  halvings %.3f  refreshes %.3f  "
           "adjustments %.3f a "
           "round\n",
           v->name, median(v->whole, repetitions), median(v->second, repetitions),
           (double)e->steps / rounds, (double)e->halvings / rounds, (double)e->refreshes / rounds,
           (double)e->adjustments / rounds);
}

static bool compare(const workload *w, uint32_t repetitions)
{
    static contestant fast, plain;
    recording s = record(w);
    fast = (contestant){.name = "reused", .add = logistic_add, .learner = learner_new(w)};
    plain = (contestant){.name = "Newton", .add = logistic_add_plainly, .learner = learner_new(w)};
    printf("%s: %.2f items observed a round, root error at %d checkpoints <= %.1e\n", w->name,
           (double)s.begin[w->rounds] / w->rounds, CHECKPOINTS, s.worst);
    for (uint32_t i = 0; i < repetitions; i++) {
        run(i % 2 ? &fast : &plain, &s, i);
        run(i % 2 ? &plain : &fast, &s, i);
    }
    double ratio = median_ratio(plain.whole, fast.whole, repetitions);
    bool good = ratio >= w->target && s.worst <= 1e-8;
    report(&fast, &s, repetitions);
    report(&plain, &s, repetitions);
    printf("  ratio    %8.2f (second half %.2f), at least %.1f: %s\n", ratio,
           median_ratio(plain.second, fast.second, repetitions), w->target,
           good ? "reached" : "MISSED");
    free(s.x);
    free(s.begin);
    free(s.item);
    free(s.click);
    free(fast.learner.state);
    free(plain.learner.state);
    return good;
}

/* ---- rows that never repeat */

enum { FRESH_SLOTS = 3, FRESH_PARTS = 5 };

typedef struct fresh_workload {
    const char *name;
    uint32_t dim, n_items, rounds;
    double most;      /* time over that of logts-newton, at most */
    double most_late; /* the same in the last fifth over the same in the second fifth, at most */
} fresh_workload;

typedef struct fresh_policy {
    oltr_policy *policy;
    oltr_scratch *scratch;
    double part[FRESH_PARTS]; /* microseconds a round */
} fresh_policy;

static fresh_policy fresh_policy_new(const char *kind, const fresh_workload *w)
{
    oltr_settings settings;
    fresh_policy c = {.policy = NULL};
    if (oltr_settings_init(&settings, kind, w->n_items, NULL) == OLTR_OK) {
        settings.dim = w->dim;
        c.policy = oltr_policy_new(&settings, NULL);
        c.scratch = oltr_scratch_new(c.policy);
    }
    if (!c.scratch)
        die("cannot make the policy %s", kind);
    return c;
}

/* Ranks, lets the user examine all slots, learns.  Returns the microseconds of both calls. */
static double fresh_round(fresh_policy *c, const oltr_query *query, const double *truth,
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

static void play_fresh(const fresh_workload *w, fresh_policy *a, fresh_policy *b)
{
    float *x = array_of((size_t)w->n_items * w->dim, sizeof *x);
    double *truth = array_of(w->dim, sizeof *truth);
    oltr_query query = {.n_items = w->n_items, .dim = w->dim, .x = x};
    draw_theta(truth, w->dim);
    for (uint32_t t = 0; t < w->rounds; t++) {
        const double luck[FRESH_SLOTS] = {uniform(), uniform(), uniform()};
        draw_rows(x, w->n_items, w->dim);
        for (int turn = 0; turn < 2; turn++) {
            fresh_policy *c = (t + (uint32_t)turn) % 2 ? a : b;
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

/* The time of the last fifth of the rounds over that of the second fifth. */
static double flatness(const fresh_policy *c)
{
    return c->part[FRESH_PARTS - 1] / c->part[1];
}

static void fresh_policy_free(fresh_policy *c)
{
    oltr_scratch_free(c->scratch);
    oltr_policy_free(c->policy);
}

static bool compare_fresh(const fresh_workload *w, uint32_t repetitions)
{
    enum { OWN, OTHER, RATIO, OWN_LATE, OTHER_LATE, LATE, FIGURES };
    static double x[FIGURES][MAX_REPETITIONS];
    double m[FIGURES];
    for (uint32_t i = 0; i < repetitions; i++) {
        fresh_policy a = fresh_policy_new("logts", w), b = fresh_policy_new("logts-newton", w);
        play_fresh(w, &a, &b);
        x[OWN][i] = mean_of(a.part);
        x[OTHER][i] = mean_of(b.part);
        x[RATIO][i] = x[OWN][i] / x[OTHER][i];
        x[OWN_LATE][i] = flatness(&a);
        x[OTHER_LATE][i] = flatness(&b);
        x[LATE][i] = flatness(&a) / flatness(&b);
        fresh_policy_free(&a);
        fresh_policy_free(&b);
    }
    for (int i = 0; i < FIGURES; i++)
        m[i] = median(x[i], repetitions);
    bool good = m[RATIO] <= w->most && m[LATE] <= w->most_late;
    printf("%s: logts %.1f us/round, logts-newton %.1f over %u rounds\n", w->name, m[OWN], m[OTHER],
           w->rounds);
    printf("  ratio    %8.2f, at most %.1f\n", m[RATIO], w->most);
    printf(
        "  rounds %u to %u over rounds %u to %u: logts %.2f, logts-newton %.2f, logts relative to "
        "logts-newton %.2f, at most %.1f: %s\n",
        w->rounds / FRESH_PARTS * (FRESH_PARTS - 1) + 1, w->rounds, w->rounds / FRESH_PARTS + 1,
        w->rounds / FRESH_PARTS * 2, m[OWN_LATE], m[OTHER_LATE], m[LATE], w->most_late,
        good ? "reached" : "MISSED");
    return good;
}

static bool compare_all_fresh(uint32_t repetitions, bool quick)
{
    static const fresh_workload workloads[] = {
        {"fresh rows, d=136 L=120 K=3", 136, 120, 5000, 3, 1.2},
        {"fresh rows, d=600 L=120 K=3", 600, 120, 5000, 4, 1.2},
    };
    bool good = true;
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
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    bool fresh_only = argc > 1 && strcmp(argv[1], "--fresh") == 0;
    const char *number = quick ? "1" : !fresh_only ? argv[1] : argc > 2 ? argv[2] : "3";
    uint32_t repetitions = number ? (uint32_t)strtoul(number, NULL, 10) : 15;
    if (repetitions < 1 || repetitions > MAX_REPETITIONS)
        die("usage: bench_logistic [repetitions [more]] | --quick | --fresh [repetitions]");
    if (fresh_only)
        return !compare_all_fresh(repetitions, false);
    bool good = true;
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        workload w = workloads[i];
        if (quick) {
            w.rounds /= 20;
            w.target = 0;
        }
        good &= compare(&w, repetitions);
    }
    good &= compare_all_fresh(repetitions < 15 ? 1 : repetitions / 5, quick);
    for (size_t i = 0; argc > 2 && i < sizeof more / sizeof *more; i++)
        compare(&more[i], repetitions);
    return !good;
}
