/* linear.c - a round of linear Thompson sampling and its pieces, against a round that factors V
 * anew with LAPACK.
 *
 * A round learns 3 rows, draws theta, scores L items and picks the K best.  The LAPACK round does
 * the same work the usual way, without waste: three dsyr into V, a copy of its lower triangle,
 * dpotrf, one dtrsv for the estimate and one for the sample, dgemv over the items in double, and
 * our own normals and top-K. Then the products of a million rows beside a bare pass over their
 * floats, and the features of a round drawn anew beside as many bare normals. Every variant plays a
 * few milliseconds in turn, all in one process, timed in thread CPU time; a ratio is taken within a
 * repetition, and its median reported.
 *
 *   bench_linear [repetitions, default 15] [rounds of the drift run, default 300000]
 *   bench_linear --quick       does it run?  One repetition, 1,000 rounds, no target
 */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/kernels/cpu.h"
#include "engine/select/topk.h"
#include "engine/posterior/linear.h"
#include "engine/rng/sample.h"
#include "lab/world/world.h"

enum { ROWS = 3, STORIES = 64, MAX_REPETITIONS = 301 };

typedef struct workload {
    uint32_t dim, items, slots;
    double over_lapack; /* the least ratio that is good enough; 0: none asked */
    double over_pieces; /* the largest one */
} workload;

static const workload workloads[] = {
    {10, 30, 3, 0, 0}, {136, 120, 10, 5, 1.4}, {220, 316, 10, 5, 0}};

/* Everything a round touches. */
typedef struct table {
    workload w;
    linear p;
    void *state;
    float *x;                         /* (items, dim) */
    double *wide;                     /* (items, dim) the same */
    const float *row[STORIES][ROWS];  /* what is learned in round t % STORIES */
    double *z, *theta, *score, *best; /* (dim) (dim) (padded) (padded / 8) */
    float *normals;                   /* (padded dim) */
    double *work, *variance, *scores;
    uint32_t position[16];
    double *v, *factor, *b, *solution; /* of the LAPACK round, dim columns of dim */
    oltr_rng rng;
    uint32_t round;
    double sink;
} table;

static void *room(size_t count, size_t size)
{
    size_t bytes = (count * size + 127) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    if (!memory)
        exit(1);
    return memset(memory, 0, bytes);
}

static table table_of(workload w)
{
    table t = {.w = w, .rng = oltr_rng_make(5, 0)};
    layout l = {0, 0};
    size_t d = w.dim;
    t.p = linear_plan(&l, w.dim, 1);
    t.state = room(l.used, 1);
    linear_refresh(t.state, &t.p);
    t.x = room(w.items * d, sizeof *t.x);
    t.wide = room(w.items * d, sizeof *t.wide);
    for (size_t i = 0; i < w.items * d; i++)
        t.wide[i] = (double)(t.x[i] = (float)oltr_rng_uniform(&t.rng));
    for (int s = 0; s < STORIES; s++)
        for (int k = 0; k < ROWS; k++)
            t.row[s][k] = t.x + oltr_rng_below(&t.rng, w.items) * d;
    t.z = room(d, sizeof(double));
    t.theta = room(d, sizeof(double));
    t.score = room(padded(w.items), sizeof(double));
    t.best = room(padded(w.items), sizeof(double));
    t.normals = room(padded(d), sizeof(float));
    t.work = room(linear_work(w.dim) + ldl_update_work(w.dim), sizeof(double));
    t.variance = room(w.items, sizeof(double));
    t.scores = room(w.items, sizeof(double));
    for (uint32_t i = 0; i < w.items; i++)
        t.scores[i] = oltr_rng_normal(&t.rng);
    t.v = room(d * d, sizeof(double));
    t.factor = room(d * d, sizeof(double));
    t.b = room(d, sizeof(double));
    t.solution = room(d, sizeof(double));
    for (size_t i = 0; i < d; i++)
        t.v[i * d + i] = 1;
    return t;
}

static void table_free(table *t)
{
    void *all[] = {t->state,  t->x,    t->wide,    t->z,    t->theta,
                   t->score,  t->best, t->normals, t->work, t->variance,
                   t->scores, t->v,    t->factor,  t->b,    t->solution};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static const double rewards[ROWS] = {0, 0, 1};

/* ---- the pieces */

static void play_update(table *t)
{
    ldl f = linear_factor(t->state, &t->p);
    ldl_update(&f, t->row[t->round++ % STORIES], rewards, NULL, ROWS, t->work);
}

static void play_sums(table *t)
{
    gram_add(doubles_at(t->state, t->p.gram), doubles_at(t->state, t->p.moment), t->w.dim,
             t->row[t->round++ % STORIES], rewards, NULL, ROWS);
}

static void play_normals(table *t)
{
    oltr_rng rng = oltr_rng_at(t->rng, 1, t->round++);
    standard_normals(&rng, t->w.dim, t->normals);
}

static void play_solve(table *t)
{
    ldl f = linear_factor(t->state, &t->p);
    ldl_sample(&f, 0.5, t->normals, t->theta);
}

static void play_scores(table *t)
{
    rows_times(t->x, t->w.dim, t->w.items, t->w.dim, t->theta, t->score);
}

static void play_top(table *t)
{
    oltr_rng rng = oltr_rng_at(t->rng, 2, t->round++);
    for (size_t i = t->w.items; i < padded(t->w.items); i++)
        t->score[i] = -INFINITY;
    topk_f64(t->score, t->w.items, t->w.slots, &rng, t->best, t->position, NULL);
    t->sink += t->position[0];
}

/* By itself: the scores again each time, because the selection strikes out what it picks. */
static void play_top_alone(table *t)
{
    memcpy(t->score, t->scores, t->w.items * sizeof *t->score);
    play_top(t);
}

static void play_widths(table *t)
{
    ldl f = linear_factor(t->state, &t->p);
    ldl_quadratic(&f, t->x, t->w.dim, t->w.items, t->variance, t->work);
}

static void play_factor(table *t)
{
    linear_refresh(t->state, &t->p);
}

/* ---- whole rounds */

static void play_whole(table *t)
{
    linear_add(t->state, &t->p, t->row[t->round++ % STORIES], rewards, NULL, ROWS);
    play_normals(t);
    play_solve(t);
    play_scores(t);
    play_top(t);
}

static void play_lapack(table *t)
{
    const int d = (int)t->w.dim;
    const float *const *row = t->row[t->round++ % STORIES];
    for (int k = 0; k < ROWS; k++) {
        const double *x = t->wide + (row[k] - t->x);
        cblas_dsyr(CblasColMajor, CblasLower, d, 1, x, 1, t->v, d);
        cblas_daxpy(d, rewards[k], x, 1, t->b, 1);
    }
    for (int j = 0; j < d; j++)
        memcpy(t->factor + j * d + j, t->v + j * d + j, (size_t)(d - j) * sizeof(double));
    t->sink += LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', d, t->factor, d);
    play_normals(t);
    memcpy(t->solution, t->b, (size_t)d * sizeof(double));
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, t->factor, d, t->solution,
                1);
    for (int i = 0; i < d; i++)
        t->z[i] = (double)t->normals[i];
    cblas_daxpy(d, 0.5, t->z, 1, t->solution, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d, t->factor, d, t->solution,
                1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)t->w.items, d, 1, t->wide, d, t->solution, 1, 0,
                t->score, 1);
    play_top(t);
}

/* ---- measuring */

typedef struct variant {
    const char *name;
    void (*play)(table *);
    table *at;
    uint32_t rounds;
    double us[MAX_REPETITIONS];
} variant;

static double thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static double play(variant *v)
{
    double start = thread_us();
    for (uint32_t i = 0; i < v->rounds; i++)
        v->play(v->at);
    return (thread_us() - start) / v->rounds;
}

/* Enough rounds for 2 ms each; then all in turn, every other repetition backwards. */
static void measure(variant *v, int n, int repetitions)
{
    for (int i = 0; i < n; i++)
        for (v[i].rounds = 4; play(&v[i]) * v[i].rounds < 2000;)
            v[i].rounds *= 2;
    for (int r = 0; r < repetitions; r++)
        for (int i = 0; i < n; i++) {
            variant *next = &v[r % 2 ? n - 1 - i : i];
            next->us[r] = play(next);
        }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *x, int n)
{
    double sorted[MAX_REPETITIONS];
    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

static const char *verdict(int asked, int good, int *failures)
{
    *failures += asked && !good;
    return !asked ? "" : good ? "  (good)" : "  (MISSED)";
}

enum { UPDATE, SOLVE, SCORES, NORMALS, SUMS, TOP, WIDTHS, FACTOR, WHOLE, LAPACK, N_VARIANTS };

static int compare(workload w, int repetitions)
{
    static variant v[N_VARIANTS];
    table ours = table_of(w), pieces = table_of(w), theirs = table_of(w);
    double faster[MAX_REPETITIONS], heavier[MAX_REPETITIONS], bare[MAX_REPETITIONS];
    int failures = 0;
    const variant all[N_VARIANTS] = {
        [UPDATE] = {"update, 3 rows", play_update, &pieces, 0, {0}},
        [SOLVE] = {"sample by back-substitution", play_solve, &pieces, 0, {0}},
        [SCORES] = {"scores", play_scores, &pieces, 0, {0}},
        [NORMALS] = {"normals", play_normals, &pieces, 0, {0}},
        [SUMS] = {"sums, 3 rows", play_sums, &pieces, 0, {0}},
        [TOP] = {"top K", play_top_alone, &pieces, 0, {0}},
        [WIDTHS] = {"all quadratic forms", play_widths, &pieces, 0, {0}},
        [FACTOR] = {"factor anew", play_factor, &pieces, 0, {0}},
        [WHOLE] = {"whole round", play_whole, &ours, 0, {0}},
        [LAPACK] = {"round with dpotrf", play_lapack, &theirs, 0, {0}},
    };
    memcpy(v, all, sizeof v);
    for (int i = 0; i < 500; i++) { /* a factor as it is in use */
        play_whole(&ours);
        play_whole(&pieces);
        play_lapack(&theirs);
    }
    measure(v, N_VARIANTS, repetitions);
    for (int r = 0; r < repetitions; r++) {
        faster[r] = v[LAPACK].us[r] / v[WHOLE].us[r];
        double four = v[UPDATE].us[r] + v[SOLVE].us[r] + v[SCORES].us[r] + v[NORMALS].us[r];
        heavier[r] = v[WHOLE].us[r] / (four + v[SUMS].us[r] + v[TOP].us[r]);
        bare[r] = v[WHOLE].us[r] / four;
    }
    printf("\ndim %u, %u items, %u slots\n", w.dim, w.items, w.slots);
    for (int i = 0; i < N_VARIANTS; i++)
        printf("  %-28s %9.2f us\n", v[i].name, median(v[i].us, repetitions));
    double a = median(faster, repetitions), b = median(heavier, repetitions);
    printf("  dpotrf round / whole        %9.2f x%s\n", a,
           verdict(w.over_lapack > 0, a >= w.over_lapack, &failures));
    printf("  whole / sum of its six pieces %7.2f x%s\n", b,
           verdict(w.over_pieces > 0, b <= w.over_pieces, &failures));
    printf("  whole / (update + sample + scores + normals) %.2f x\n", median(bare, repetitions));
    table_free(&ours);
    table_free(&pieces);
    table_free(&theirs);
    return failures;
}

/* ---- drift */

/* Rounds at ridge 1e-4 without a refresh, then the factor beside one made anew from the sums. */
static int drift(workload w, uint32_t rounds)
{
    table t = table_of(w);
    double *kept = room(2 * w.items, sizeof *kept), *fresh = room(2 * w.items, sizeof *fresh),
           mean = 0, variance = 0, column = 0;
    int failures = 0;
    t.p.ridge = 1e-4;
    linear_refresh(t.state, &t.p);
    ldl f = linear_factor(t.state, &t.p);
    for (uint32_t i = 0; i < rounds; i++) {
        const float *row[ROWS];
        for (int k = 0; k < ROWS; k++)
            row[k] = t.x + (size_t)oltr_rng_below(&t.rng, w.items) * w.dim;
        gram_add(doubles_at(t.state, t.p.gram), doubles_at(t.state, t.p.moment), w.dim, row,
                 rewards, NULL, ROWS);
        ldl_update(&f, row, rewards, NULL, ROWS, t.work);
    }
    for (uint32_t j = 0; j < w.dim; j++)
        column =
            fmax(column, ldl_column_error(&f, doubles_at(t.state, t.p.gram), t.p.ridge, j, t.work));
    linear_predict(t.state, &t.p, t.x, w.dim, w.items, kept, kept + w.items, t.work);
    linear_refresh(t.state, &t.p);
    linear_predict(t.state, &t.p, t.x, w.dim, w.items, fresh, fresh + w.items, t.work);
    for (uint32_t i = 0; i < w.items; i++) {
        mean = fmax(mean, fabs(kept[i] / fresh[i] - 1));
        variance = fmax(variance, fabs(kept[w.items + i] / fresh[w.items + i] - 1));
    }
    printf("  dim %3u, %u items: factor %.1e, mean %.1e, variance %.1e%s\n", w.dim, w.items, column,
           mean, variance, verdict(1, mean < 1e-9 && variance < 1e-9, &failures));
    table_free(&t);
    free(kept);
    free(fresh);
    return failures;
}

/* ---- the products of more rows than any cache holds */

/* What bounds them: the floats once from memory, added up in enough partial sums for the additions
 * not to matter. */
typedef struct stream {
    uint32_t rows, dim;
    float *x;            /* (rows, dim) */
    double *theta, *out; /* (dim) (rows) */
    double sink;
} stream;

static inline __attribute__((always_inline)) float sum_of(const float *x, size_t n)
{
    enum { PARTS = 64 };
    float part[PARTS] = {0}, sum = 0;
    for (size_t i = 0; i + PARTS <= n; i += PARTS)
        for (size_t j = 0; j < PARTS; j++)
            part[j] += x[i + j];
    for (size_t j = 0; j < PARTS; j++)
        sum += part[j];
    return sum;
}

#if OLTR_X86
TARGET_AVX2 static float sum_of_avx2(const float *x, size_t n)
{
    return sum_of(x, n);
}
#else
#define sum_of_avx2 sum_of
#endif

static double pass_over(stream *s)
{
    const size_t n = (size_t)s->rows * s->dim;
    double start = thread_us();
    s->sink +=
        (double)(oltr_cpu_found() != OLTR_CPU_PLAIN ? sum_of_avx2(s->x, n) : sum_of(s->x, n));
    return thread_us() - start;
}

static double products_of(stream *s)
{
    double start = thread_us();
    s->sink += rows_times(s->x, s->dim, s->rows, s->dim, s->theta, s->out);
    return thread_us() - start;
}

static int compare_stream(uint32_t rows, uint32_t dim, double at_least, int repetitions)
{
    stream s = {rows, dim, room((size_t)rows * dim, sizeof(float)), room(dim, 8), room(rows, 8), 0};
    double pass[MAX_REPETITIONS], product[MAX_REPETITIONS], ratio[MAX_REPETITIONS];
    double megabytes = (double)rows * dim * 4e-6;
    int failures = 0;
    for (size_t i = 0; i < (size_t)rows * dim; i++)
        s.x[i] = (float)(i % 977) / 977;
    for (uint32_t j = 0; j < dim; j++)
        s.theta[j] = 1.0 / (j + 3);
    for (int r = 0; r < repetitions; r++) {
        if (r % 2)
            product[r] = products_of(&s);
        pass[r] = pass_over(&s);
        if (r % 2 == 0)
            product[r] = products_of(&s);
        ratio[r] = pass[r] / product[r];
    }
    double share = median(ratio, repetitions);
    printf("\ndim %u, %u rows (%.0f MB)\n", dim, rows, megabytes);
    printf("  sum of the floats            %9.2f us, %5.1f GB/s\n", median(pass, repetitions),
           1e3 * megabytes / median(pass, repetitions));
    printf("  rows_times                   %9.2f us\n", median(product, repetitions));
    printf("  rows_times at %.2f of the speed of the sum%s\n", share,
           verdict(at_least > 0, share >= at_least, &failures));
    free(s.x);
    free(s.theta);
    free(s.out);
    return failures + !(s.sink > 0);
}

/* ---- the features of a round, drawn anew */

/* A world with `contexts: fresh`, beside as many bare normals. */
typedef struct drawing {
    oltr_world world;
    oltr_instance truth;
    float *normals;
    uint64_t round;
} drawing;

static double draw_rounds(drawing *d, uint32_t rounds)
{
    const oltr_world_ops *ops = world_ops_of(d->world.kind, NULL);
    double start = thread_us();
    for (uint32_t i = 0; i < rounds; i++)
        ops->advance(&d->world, 1, 0, ++d->round, &d->truth, NULL);
    return (thread_us() - start) / rounds;
}

static double draw_normals(drawing *d, uint32_t rounds)
{
    double start = thread_us();
    for (uint32_t i = 0; i < rounds; i++) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 0), STREAM_CONTEXTS, ++d->round);
        standard_normals(&rng, (size_t)d->truth.n_items * d->truth.dim, d->normals);
    }
    return (thread_us() - start) / rounds;
}

static int compare_drawing(uint32_t items, uint32_t dim, double at_most, int repetitions)
{
    const size_t count = (size_t)items * dim;
    const uint32_t rounds = repetitions > 1 ? 100 : 1;
    double features[MAX_REPETITIONS], normals[MAX_REPETITIONS], ratio[MAX_REPETITIONS];
    int failures = 0;
    drawing d = {.world = {.kind = "linear",
                           .n_items = items,
                           .clicks = "cascade",
                           .dim = dim,
                           .fresh_contexts = 1},
                 .truth = {.n_items = items,
                           .dim = dim,
                           .attraction = room(items, sizeof(double)),
                           .theta = room(dim, sizeof(double)),
                           .drawn = room(count, sizeof(float))},
                 .normals = room(padded(count), sizeof(float))};
    for (int r = 0; r < repetitions; r++) {
        features[r] = draw_rounds(&d, rounds);
        normals[r] = draw_normals(&d, rounds);
        ratio[r] = features[r] / normals[r];
    }
    double us = median(features, repetitions);
    printf("\nfresh features, %u x %u, and their attractions\n", items, dim);
    printf("  a round                      %9.2f us%s, %.2f ns a float\n", us,
           verdict(at_most > 0, us <= at_most, &failures), 1e3 * us / (double)count);
    printf("  as many bare normals         %9.2f us\n", median(normals, repetitions));
    printf("  a round / the normals        %9.2f x\n", median(ratio, repetitions));
    free(d.truth.attraction);
    free(d.truth.theta);
    free(d.truth.drawn);
    free(d.normals);
    return failures;
}

/* An OpenBLAS older than the processor takes it for one without AVX, and would lose by that alone.
 * Its core type is chosen when it is loaded, so the program starts once more with the one that has
 * the instructions our kernels use. */
static void let_openblas_use_avx2(char **argv)
{
    if (oltr_cpu_found() != OLTR_CPU_PLAIN && !getenv("OPENBLAS_CORETYPE") &&
        !strcmp(openblas_get_corename(), "Prescott")) {
        setenv("OPENBLAS_CORETYPE", "Haswell", 1);
        execv("/proc/self/exe", argv);
    }
}

int main(int argc, char **argv)
{
    let_openblas_use_avx2(argv);
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    int repetitions = quick ? 1 : argc > 1 ? atoi(argv[1]) : 15, failures = 0;
    uint32_t rounds = quick ? 1000 : argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 300000;
    if (repetitions < 1 || repetitions > MAX_REPETITIONS)
        repetitions = 15;
    openblas_set_num_threads(1);
    printf("OpenBLAS: %s, one thread; medians of %d repetitions in thread CPU time\n",
           openblas_get_corename(), repetitions);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        workload w = workloads[i];
        if (quick)
            w.over_lapack = w.over_pieces = 0;
        failures += compare(w, repetitions);
    }
    failures +=
        quick ? compare_stream(40000, 136, 0, 1) : compare_stream(1000000, 136, 0.8, repetitions);
    failures += compare_drawing(120, 136, quick ? 0 : 15, repetitions);
    printf("\nlargest relative error after %u rounds of updates, ridge 1e-4\n", rounds);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        failures += drift(workloads[i], rounds);
    return failures > 0;
}
