/* linear.c - a round of linear Thompson sampling and its parts, compared with a round that factors
 * V anew with LAPACK.
 *
 * A round learns 3 rows, draws theta, scores L items and selects the K best.  The LAPACK round does
 * the same work in the usual way: three dsyr into V, a copy of its lower triangle, dpotrf, one
 * dtrsv for the estimate and one for the sample, dgemv over the items in double, and our own
 * normals and top-K.  Three more comparisons: the products of a million rows with a bare pass over
 * their floats, lists of lints ranked by one oltr_rank_many() with as many oltr_rank(), and the
 * features of a round drawn anew with as many bare normals.  Times and ratios are taken as
 * measure.h says.
 *
 *   bench_linear [repetitions, default 15] [rounds of the drift run, default 300000]
 *   bench_linear --quick       to see whether it runs: one repetition, 1,000 rounds, no targets
 */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/kernels/cpu.h"
#include "engine/posterior/linear.h"
#include "engine/rng/sample.h"
#include "engine/select/topk.h"
#include "lab/world/world.h"
#include "measure.h"
#include "oltr/oltr.h"

enum { ROWS = 3, LESSONS = 64 };

typedef struct workload {
    uint32_t dim, items, slots;
    double over_lapack; /* target: LAPACK round / round, at least; 0: no target */
    double over_parts;  /* target: round / sum of its six parts, at most; 0: no target */
} workload;

static const workload workloads[] = {
    {10, 30, 3, 0, 0}, {136, 120, 10, 5, 1.4}, {220, 316, 10, 5, 0}};

/* All that a round reads and writes. */
typedef struct arena {
    workload w;
    linear p;
    void *state;
    float *x;                         /* (items, dim) */
    double *wide;                     /* (items, dim) the same */
    const float *row[LESSONS][ROWS];  /* learned in round t % LESSONS */
    double *z, *theta, *score, *best; /* (dim) (dim) (padded) (padded / 8) */
    float *normals;                   /* (padded dim) */
    double *work, *variance, *scores;
    uint32_t position[16];
    double *v, *factor, *b, *solution; /* of the LAPACK round, dim columns of dim */
    oltr_rng rng;
    uint32_t round;
    double sink;
} arena;

static arena arena_new(workload w)
{
    arena t = {.w = w, .rng = oltr_rng_make(5, 0)};
    layout l = {0, 0};
    size_t d = w.dim;
    t.p = linear_plan(&l, w.dim, 1);
    t.state = array_of(l.used, 1);
    linear_refresh(t.state, &t.p);
    t.x = array_of(w.items * d, sizeof *t.x);
    t.wide = array_of(w.items * d, sizeof *t.wide);
    for (size_t i = 0; i < w.items * d; i++)
        t.wide[i] = (double)(t.x[i] = (float)oltr_rng_uniform(&t.rng));
    for (int s = 0; s < LESSONS; s++)
        for (int k = 0; k < ROWS; k++)
            t.row[s][k] = t.x + oltr_rng_below(&t.rng, w.items) * d;
    t.z = array_of(d, sizeof(double));
    t.theta = array_of(d, sizeof(double));
    t.score = array_of(padded(w.items), sizeof(double));
    t.best = array_of(padded(w.items), sizeof(double));
    t.normals = array_of(padded(d), sizeof(float));
    t.work = array_of(linear_work(w.dim) + ldl_update_work(w.dim), sizeof(double));
    t.variance = array_of(w.items, sizeof(double));
    t.scores = array_of(w.items, sizeof(double));
    for (uint32_t i = 0; i < w.items; i++)
        t.scores[i] = oltr_rng_normal(&t.rng);
    t.v = array_of(d * d, sizeof(double));
    t.factor = array_of(d * d, sizeof(double));
    t.b = array_of(d, sizeof(double));
    t.solution = array_of(d, sizeof(double));
    for (size_t i = 0; i < d; i++)
        t.v[i * d + i] = 1;
    return t;
}

static void arena_free(arena *t)
{
    void *all[] = {t->state,  t->x,    t->wide,    t->z,    t->theta,
                   t->score,  t->best, t->normals, t->work, t->variance,
                   t->scores, t->v,    t->factor,  t->b,    t->solution};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static const double rewards[ROWS] = {0, 0, 1};

/* ---- the parts of a round */

static void play_update(arena *t)
{
    ldl f = linear_factor(t->state, &t->p);
    ldl_update(&f, t->row[t->round++ % LESSONS], rewards, NULL, ROWS, t->work);
}

static void play_sums(arena *t)
{
    gram_add(doubles_at(t->state, t->p.gram), doubles_at(t->state, t->p.moment), t->w.dim,
             t->row[t->round++ % LESSONS], rewards, NULL, ROWS);
}

static void play_normals(arena *t)
{
    oltr_rng rng = oltr_rng_at(t->rng, 1, t->round++);
    standard_normals(&rng, t->w.dim, t->normals);
}

static void play_solve(arena *t)
{
    ldl f = linear_factor(t->state, &t->p);
    ldl_sample(&f, 0.5, t->normals, t->theta);
}

static void play_scores(arena *t)
{
    rows_times(t->x, t->w.dim, t->w.items, t->w.dim, t->theta, t->score);
}

static void play_top(arena *t)
{
    oltr_rng rng = oltr_rng_at(t->rng, 2, t->round++);
    for (size_t i = t->w.items; i < padded(t->w.items); i++)
        t->score[i] = -INFINITY;
    topk_f64(t->score, t->w.items, t->w.slots, &rng, t->best, t->position, NULL);
    t->sink += t->position[0];
}

/* Copies the scores first: the selection overwrites those it selects. */
static void play_top_alone(arena *t)
{
    memcpy(t->score, t->scores, t->w.items * sizeof *t->score);
    play_top(t);
}

static void play_widths(arena *t)
{
    ldl f = linear_factor(t->state, &t->p);
    ldl_quadratic(&f, t->x, t->w.dim, t->w.items, t->variance, t->work);
}

static void play_factor(arena *t)
{
    linear_refresh(t->state, &t->p);
}

/* ---- whole rounds */

static void play_whole(arena *t)
{
    linear_add(t->state, &t->p, t->row[t->round++ % LESSONS], rewards, NULL, ROWS);
    play_normals(t);
    play_solve(t);
    play_scores(t);
    play_top(t);
}

static void play_lapack(arena *t)
{
    const int d = (int)t->w.dim;
    const float *const *row = t->row[t->round++ % LESSONS];
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

/* ---- comparing */

/* A part or a round of an arena, as the context of a variant. */
typedef struct work {
    const char *name;
    void (*play)(arena *);
    arena *at;
} work;

static void play_work(void *work_, uint32_t rounds)
{
    const work *w = work_;
    for (uint32_t i = 0; i < rounds; i++)
        w->play(w->at);
}

/* As many rounds as take 2 ms. */
static uint32_t rounds_of_2_ms(work *w)
{
    for (uint32_t rounds = 4;; rounds *= 2) {
        uint64_t start = thread_ns();
        play_work(w, rounds);
        if (thread_ns() - start >= 2000000)
            return rounds;
    }
}

static double median_of(const double *x, uint32_t n)
{
    return spread_of(x, n).median;
}

/* A target of 0 or less is none. */
static const char *verdict(double target, bool reached, uint32_t *failures)
{
    *failures += target > 0 && !reached;
    return target <= 0 ? "" : reached ? "  (good)" : "  (MISSED)";
}

enum { UPDATE, SOLVE, SCORES, NORMALS, SUMS, TOP, WIDTHS, FACTOR, WHOLE, LAPACK, N_VARIANTS };

static uint32_t compare(workload w, uint32_t repetitions)
{
    static variant v[N_VARIANTS];
    arena ours = arena_new(w), parts = arena_new(w), theirs = arena_new(w);
    double faster[MAX_REPETITIONS], of_six[MAX_REPETITIONS], of_four[MAX_REPETITIONS];
    uint32_t failures = 0;
    work all[N_VARIANTS] = {
        [UPDATE] = {"update, 3 rows", play_update, &parts},
        [SOLVE] = {"sample by back-substitution", play_solve, &parts},
        [SCORES] = {"scores", play_scores, &parts},
        [NORMALS] = {"normals", play_normals, &parts},
        [SUMS] = {"sums, 3 rows", play_sums, &parts},
        [TOP] = {"top K", play_top_alone, &parts},
        [WIDTHS] = {"all quadratic forms", play_widths, &parts},
        [FACTOR] = {"factor anew", play_factor, &parts},
        [WHOLE] = {"whole round", play_whole, &ours},
        [LAPACK] = {"round with dpotrf", play_lapack, &theirs},
    };
    for (int i = 0; i < 500; i++) { /* so that the factors are not those of the start */
        play_whole(&ours);
        play_whole(&parts);
        play_lapack(&theirs);
    }
    for (int i = 0; i < N_VARIANTS; i++)
        v[i] = (variant){.play = play_work, .context = &all[i], .rounds = rounds_of_2_ms(&all[i])};
    measure(v, N_VARIANTS, repetitions);
    for (uint32_t r = 0; r < repetitions; r++) {
        double four = v[UPDATE].ns[r] + v[SOLVE].ns[r] + v[SCORES].ns[r] + v[NORMALS].ns[r];
        faster[r] = v[LAPACK].ns[r] / v[WHOLE].ns[r];
        of_six[r] = v[WHOLE].ns[r] / (four + v[SUMS].ns[r] + v[TOP].ns[r]);
        of_four[r] = v[WHOLE].ns[r] / four;
    }
    printf("\ndim %u, %u items, %u slots\n", w.dim, w.items, w.slots);
    for (int i = 0; i < N_VARIANTS; i++)
        printf("  %-28s %9.2f us\n", all[i].name, 1e-3 * median_ns(&v[i], repetitions));
    double a = median_of(faster, repetitions), b = median_of(of_six, repetitions);
    printf("  dpotrf round / whole        %9.2f x%s\n", a,
           verdict(w.over_lapack, a >= w.over_lapack, &failures));
    printf("  whole / sum of its six parts  %7.2f x%s\n", b,
           verdict(w.over_parts, b <= w.over_parts, &failures));
    printf("  whole / (update + sample + scores + normals) %.2f x\n",
           median_of(of_four, repetitions));
    arena_free(&ours);
    arena_free(&parts);
    arena_free(&theirs);
    return failures;
}

/* ---- drift */

/* Updates the factor at ridge 1e-4 without a refresh, then compares it with one computed anew from
 * the sums. */
static uint32_t drift(workload w, uint32_t rounds)
{
    arena t = arena_new(w);
    double *updated = array_of(2 * w.items, sizeof *updated),
           *fresh = array_of(2 * w.items, sizeof *fresh), mean = 0, variance = 0, column = 0;
    uint32_t failures = 0;
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
    linear_predict(t.state, &t.p, t.x, w.dim, w.items, updated, updated + w.items, t.work);
    linear_refresh(t.state, &t.p);
    linear_predict(t.state, &t.p, t.x, w.dim, w.items, fresh, fresh + w.items, t.work);
    for (uint32_t i = 0; i < w.items; i++) {
        mean = fmax(mean, fabs(updated[i] / fresh[i] - 1));
        variance = fmax(variance, fabs(updated[w.items + i] / fresh[w.items + i] - 1));
    }
    printf("  dim %3u, %u items: factor %.1e, mean %.1e, variance %.1e%s\n", w.dim, w.items, column,
           mean, variance, verdict(1e-9, mean < 1e-9 && variance < 1e-9, &failures));
    arena_free(&t);
    free(updated);
    free(fresh);
    return failures;
}

/* ---- the products of more rows than fit into a cache */

/* The bound: one pass over the floats, added up in enough partial sums to be limited by memory. */
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

static void play_sum(void *stream_, uint32_t rounds)
{
    stream *s = stream_;
    const size_t n = (size_t)s->rows * s->dim;
    for (; rounds; rounds--)
        s->sink +=
            (double)(oltr_cpu_found() != OLTR_CPU_PLAIN ? sum_of_avx2(s->x, n) : sum_of(s->x, n));
}

static void play_products(void *stream_, uint32_t rounds)
{
    stream *s = stream_;
    for (; rounds; rounds--)
        s->sink += rows_times(s->x, s->dim, s->rows, s->dim, s->theta, s->out);
}

static uint32_t compare_stream(uint32_t rows, uint32_t dim, double at_least, uint32_t repetitions)
{
    static variant v[2];
    stream s = {rows,
                dim,
                array_of((size_t)rows * dim, sizeof(float)),
                array_of(dim, sizeof(double)),
                array_of(rows, sizeof(double)),
                0};
    double megabytes = (double)rows * dim * 4e-6;
    uint32_t failures = 0;
    for (size_t i = 0; i < (size_t)rows * dim; i++)
        s.x[i] = (float)(i % 977) / 977;
    for (uint32_t j = 0; j < dim; j++)
        s.theta[j] = 1.0 / (j + 3);
    v[0] = (variant){.play = play_sum, .context = &s, .rounds = 1};
    v[1] = (variant){.play = play_products, .context = &s, .rounds = 1};
    measure(v, 2, repetitions);
    double share = ratio(&v[0], &v[1], repetitions).median, pass = median_ns(&v[0], repetitions);
    printf("\ndim %u, %u rows (%.0f MB)\n", dim, rows, megabytes);
    printf("  sum of the floats            %9.2f us, %5.1f GB/s\n", 1e-3 * pass,
           1e6 * megabytes / pass);
    printf("  rows_times                   %9.2f us\n", 1e-3 * median_ns(&v[1], repetitions));
    printf("  rows_times at %.2f of the speed of the sum%s\n", share,
           verdict(at_least, share >= at_least, &failures));
    free(s.x);
    free(s.theta);
    free(s.out);
    return failures + (s.sink > 0 ? 0 : 1);
}

/* ---- several lists of the same candidates */

enum { TOGETHER = 8, SHOWN = 10 };

typedef struct shelf {
    oltr_policy *policy;
    oltr_scratch *scratch;
    oltr_query query;
    uint64_t round;
} shelf;

static void rank_each(void *shelf_, uint32_t rounds)
{
    shelf *s = shelf_;
    for (rounds *= TOGETHER; rounds; rounds--) {
        uint32_t item[SHOWN];
        oltr_ranking list = {.k = SHOWN, .item = item};
        oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 0), 0, ++s->round);
        if (oltr_rank(s->policy, &s->query, rng, s->scratch, &list) != OLTR_OK)
            die("a ranking failed");
    }
}

static void rank_many(void *shelf_, uint32_t rounds)
{
    shelf *s = shelf_;
    for (; rounds; rounds--, s->round += TOGETHER) {
        uint32_t item[TOGETHER * SHOWN];
        if (oltr_rank_many(s->policy, &s->query, oltr_rng_make(1, 0), 0, s->round + 1, s->scratch,
                           TOGETHER, SHOWN, item, NULL, NULL) != OLTR_OK)
            die("many rankings failed");
    }
}

static shelf shelf_new(uint32_t rows, uint32_t dim, float *x)
{
    oltr_settings settings;
    shelf s = {.query = {.n_items = rows, .dim = dim, .x = x}};
    if (oltr_settings_init(&settings, "lints", rows, NULL) != OLTR_OK)
        die("no settings of lints");
    settings.dim = dim;
    s.policy = oltr_policy_new(&settings, NULL);
    s.scratch = s.policy ? oltr_scratch_new(s.policy) : NULL;
    if (!s.scratch)
        die("no memory for lints with %u items", rows);
    return s;
}

static uint32_t compare_many(uint32_t rows, uint32_t dim, double at_least, uint32_t repetitions)
{
    static variant v[2];
    float *x = array_of((size_t)rows * dim, sizeof *x);
    uint32_t failures = 0, rounds = repetitions > 1 && rows < 10000 ? 1000 : 1;
    for (size_t i = 0; i < (size_t)rows * dim; i++)
        x[i] = (float)(i % 977) / 9770;
    shelf s = shelf_new(rows, dim, x);
    v[0] = (variant){.play = rank_each, .context = &s, .rounds = rounds};
    v[1] = (variant){.play = rank_many, .context = &s, .rounds = rounds};
    measure(v, 2, repetitions);
    double gain = ratio(&v[0], &v[1], repetitions).median;
    printf("\nlints, dim %u, %u rows, %d lists of %d\n", dim, rows, TOGETHER, SHOWN);
    printf("  oltr_rank, one by one        %9.2f us a list\n",
           1e-3 * median_ns(&v[0], repetitions) / TOGETHER);
    printf("  oltr_rank_many               %9.2f us a list\n",
           1e-3 * median_ns(&v[1], repetitions) / TOGETHER);
    printf("  one by one / many            %9.2f x%s\n", gain,
           verdict(at_least, gain >= at_least, &failures));
    oltr_scratch_free(s.scratch);
    oltr_policy_free(s.policy);
    free(x);
    return failures;
}

/* ---- the features of a round, drawn anew */

/* A world with `contexts: fresh`, and the buffer for as many bare normals. */
typedef struct drawing {
    oltr_world world;
    oltr_instance truth;
    float *normals;
    uint64_t round;
} drawing;

static void draw_features(void *drawing_, uint32_t rounds)
{
    drawing *d = drawing_;
    const oltr_world_ops *ops = world_ops_of(d->world.kind, NULL);
    for (; rounds; rounds--)
        ops->advance(&d->world, 1, 0, ++d->round, &d->truth, NULL);
}

static void draw_normals(void *drawing_, uint32_t rounds)
{
    drawing *d = drawing_;
    for (; rounds; rounds--) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 0), STREAM_CONTEXTS, ++d->round);
        standard_normals(&rng, (size_t)d->truth.n_items * d->truth.dim, d->normals);
    }
}

static uint32_t compare_drawing(uint32_t items, uint32_t dim, double at_most, uint32_t repetitions)
{
    static variant v[2];
    const size_t count = (size_t)items * dim;
    const uint32_t rounds = repetitions > 1 ? 100 : 1;
    uint32_t failures = 0;
    drawing d = {.world = {.kind = "linear",
                           .n_items = items,
                           .clicks = "cascade",
                           .dim = dim,
                           .fresh_contexts = 1},
                 .truth = {.n_items = items,
                           .dim = dim,
                           .attraction = array_of(items, sizeof(double)),
                           .theta = array_of(dim, sizeof(double)),
                           .drawn = array_of(count, sizeof(float))},
                 .normals = array_of(padded(count), sizeof(float))};
    v[0] = (variant){.play = draw_features, .context = &d, .rounds = rounds};
    v[1] = (variant){.play = draw_normals, .context = &d, .rounds = rounds};
    measure(v, 2, repetitions);
    double us = 1e-3 * median_ns(&v[0], repetitions);
    printf("\nfresh features, %u x %u, and their attractions\n", items, dim);
    printf("  a round                      %9.2f us%s, %.2f ns a float\n", us,
           verdict(at_most, us <= at_most, &failures), 1e3 * us / (double)count);
    printf("  as many bare normals         %9.2f us\n", 1e-3 * median_ns(&v[1], repetitions));
    printf("  a round / the normals        %9.2f x\n", ratio(&v[0], &v[1], repetitions).median);
    free(d.truth.attraction);
    free(d.truth.theta);
    free(d.truth.drawn);
    free(d.normals);
    return failures;
}

/* An OpenBLAS older than the processor does not recognise it and uses no AVX, which would make it
 * slow for no good reason.  It chooses its kernels when it is loaded, so the program starts itself
 * again with the core type that has the instructions our kernels use. */
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
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t repetitions = quick ? 1 : argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 15;
    uint32_t failures = 0;
    uint32_t rounds = quick ? 1000 : argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 300000;
    if (repetitions < 1 || repetitions > MAX_REPETITIONS)
        die("usage: bench_linear [repetitions, 1 to %d] [rounds of the drift run] | --quick",
            MAX_REPETITIONS);
    openblas_set_num_threads(1);
    printf("OpenBLAS: %s, one thread; medians of %u repetitions in thread CPU time\n",
           openblas_get_corename(), repetitions);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        workload w = workloads[i];
        if (quick)
            w.over_lapack = w.over_parts = 0;
        failures += compare(w, repetitions);
    }
    failures +=
        quick ? compare_stream(40000, 136, 0, 1) : compare_stream(1000000, 136, 0.8, repetitions);
    failures += compare_many(120, 136, 0, repetitions);
    failures +=
        quick ? compare_many(40000, 136, 0, 1) : compare_many(1000000, 136, 2.5, repetitions);
    failures += compare_drawing(120, 136, quick ? 0 : 15, repetitions);
    printf("\nlargest relative error after %u rounds of updates, ridge 1e-4\n", rounds);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        failures += drift(workloads[i], rounds);
    return failures > 0;
}
