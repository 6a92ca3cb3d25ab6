/* scorers.c - the NDCG of the neural scorer on judged queries it was not trained on, compared
 * with simpler scorers.
 *
 *   bench_scorers TRAIN VALI TEST [--seeds N] [--strict]
 *
 * Everything is chosen on TRAIN and VALI; TEST is only scored.  One line, for comparison, has the
 * feature that is best on TEST itself.  The linear scorers are least squares on the grade, over the
 * standardised features, and over the inputs of the network; a second pair has the ridge that is
 * best on VALI.  With --strict the exit code is 1 unless the mean over the seeds of a single scorer
 * beats the best single feature and the least squares (without a ridge) in NDCG@10.  Then ten
 * scorers on random halves, timed.
 */
#define _POSIX_C_SOURCE 200809L
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/data/dataset.h"
#include "measure.h"
#include "lab/scorer/prior_quality.h"

enum { CUTS = CHECK_CUTS, MOST_SEEDS = 100, RIDGES = 9 };

typedef struct bench {
    oltr_dataset *train, *vali, *test;
    float *score; /* (rows of the largest of them) */
    ranked *room;
} bench;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static oltr_dataset *must_read(const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *d = oltr_dataset_read(path, NULL, NULL, &error);
    if (!d)
        die("%s", error.msg);
    return d;
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t longest_query(const bench *b)
{
    return max_u32(max_u32(most_documents(b->train), most_documents(b->vali)),
                   most_documents(b->test));
}

static double ndcg(const bench *b, const oltr_dataset *d, uint32_t k, double *se)
{
    return ndcg_mean(d, b->score, 1, k, b->room, NULL, se);
}

/* One line for the scores of TEST in b->score. */
static double print_line(const bench *b, const char *name)
{
    double se = 0, last = 0;
    printf("| %s |", name);
    for (int i = 0; i < CUTS; i++) {
        last = ndcg(b, b->test, check_cuts[i], &se);
        printf(" %.4f |", last);
    }
    printf(" %.4f |\n", se);
    return last;
}

/* ---- single features */

/* One dataset of the queries of both. */
static oltr_dataset *joined(const oltr_dataset *a, const oltr_dataset *c)
{
    oltr_dataset *d = dataset_new(a->n_queries + c->n_queries, a->n_rows + c->n_rows, a->dim, NULL);
    if (!d)
        die("out of memory");
    memcpy(dataset_x(d), a->x, (size_t)a->n_rows * a->dim * sizeof *a->x);
    memcpy(dataset_x(d) + (size_t)a->n_rows * a->dim, c->x,
           (size_t)c->n_rows * a->dim * sizeof *a->x);
    memcpy(dataset_grade(d), a->grade, a->n_rows);
    memcpy(dataset_grade(d) + a->n_rows, c->grade, c->n_rows);
    for (uint32_t q = 0; q <= d->n_queries; q++)
        dataset_first_row(d)[q] =
            q < a->n_queries ? a->first_row[q] : a->n_rows + c->first_row[q - a->n_queries];
    return d;
}

static double feature_line(const bench *b, const oltr_dataset *chosen_on, const char *where)
{
    uint32_t feature;
    bool falls;
    char name[120];
    best_feature(chosen_on, 10, b->score, b->room, &feature, &falls);
    feature_scores(b->test, feature, falls, b->score);
    (void)snprintf(name, sizeof name, "best single feature, chosen on %s: %u %s", where,
                   feature + 1, falls ? "falling" : "rising");
    return print_line(b, name);
}

/* ---- least squares */

typedef struct linear {
    input_map map;
    uint32_t width; /* inputs used: all, or the first half, which are the standardised features */
    double *gram, *xy; /* (width, width) and (width): sums of x x' and x (grade - mean grade) */
    double *solved, *weight;
    float *input; /* one query */
} linear;

static void add_query(linear *l, const oltr_dataset *d, uint32_t q, double mean_grade)
{
    inputs_of(&l->map, d, q, l->input);
    for (uint32_t i = 0; i < documents_of(d, q); i++) {
        const float *x = l->input + (size_t)i * l->map.width;
        double y = d->grade[d->first_row[q] + i] - mean_grade;
        for (uint32_t r = 0; r < l->width; r++) {
            l->xy[r] += (double)x[r] * y;
            for (uint32_t c = 0; c <= r; c++)
                l->gram[(size_t)r * l->width + c] += (double)x[r] * (double)x[c];
        }
    }
}

static linear linear_make(const bench *b, bool all_inputs)
{
    linear l = {.input = NULL};
    part train = {b->train, b->train->n_queries, NULL};
    oltr_error error = {OLTR_OK, ""};
    double mean = 0;
    uint32_t most = longest_query(b);
    if (input_map_fit(&l.map, &train, &error) != OLTR_OK)
        die("%s", error.msg);
    l.width = all_inputs ? l.map.width : l.map.kept;
    l.gram = array_of((size_t)l.width * l.width, sizeof *l.gram);
    l.solved = array_of((size_t)l.width * l.width, sizeof *l.gram);
    l.xy = array_of(l.width, sizeof *l.xy);
    l.weight = array_of(l.width, sizeof *l.weight);
    l.input = array_of((size_t)most * l.map.width, sizeof *l.input);
    for (uint32_t row = 0; row < b->train->n_rows; row++)
        mean += (double)b->train->grade[row] / b->train->n_rows;
    for (uint32_t q = 0; q < b->train->n_queries; q++)
        add_query(&l, b->train, q, mean);
    return l;
}

static void linear_free(linear *l)
{
    input_map_free(&l->map);
    free(l->gram);
    free(l->solved);
    free(l->xy);
    free(l->weight);
    free(l->input);
}

/* Solves with ridge * n_rows on the diagonal.  LEAST_RIDGE is only large enough for collinear
 * features to have a solution. */
static void linear_solve(linear *l, double ridge, uint32_t n_rows)
{
    memcpy(l->solved, l->gram, (size_t)l->width * l->width * sizeof *l->gram);
    memcpy(l->weight, l->xy, l->width * sizeof *l->xy);
    for (uint32_t r = 0; r < l->width; r++)
        l->solved[(size_t)r * l->width + r] += ridge * n_rows;
    int n = (int)l->width;
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, l->solved, n, l->weight, 1) != 0)
        die("the least squares cannot be solved");
}

static void linear_score(linear *l, const oltr_dataset *d, float *score)
{
    for (uint32_t q = 0; q < d->n_queries; q++) {
        inputs_of(&l->map, d, q, l->input);
        for (uint32_t i = 0; i < documents_of(d, q); i++) {
            double sum = 0;
            for (uint32_t j = 0; j < l->width; j++)
                sum += l->weight[j] * (double)l->input[(size_t)i * l->map.width + j];
            score[d->first_row[q] + i] = (float)sum;
        }
    }
}

#define LEAST_RIDGE 1e-9

static double choose_ridge(const bench *b, linear *l)
{
    double best = -1, best_ridge = LEAST_RIDGE;
    for (int i = 0; i < RIDGES; i++) {
        double ridge = pow(10, i - 6);
        linear_solve(l, ridge, b->train->n_rows);
        linear_score(l, b->vali, b->score);
        double value = ndcg(b, b->vali, 10, NULL);
        if (value > best) {
            best = value;
            best_ridge = ridge;
        }
    }
    return best_ridge;
}

/* Two lines; returns the NDCG@10 of the first, without a ridge. */
static double linear_lines(const bench *b, bool all_inputs)
{
    linear l = linear_make(b, all_inputs);
    const char *what = all_inputs ? "the inputs of the network" : "standardised features";
    char name[120];
    linear_solve(&l, LEAST_RIDGE, b->train->n_rows);
    linear_score(&l, b->test, b->score);
    (void)snprintf(name, sizeof name, "linear least squares, %s", what);
    double plain = print_line(b, name), ridge = choose_ridge(b, &l);
    linear_solve(&l, ridge, b->train->n_rows);
    linear_score(&l, b->test, b->score);
    (void)snprintf(name, sizeof name,
                   "the same with a ridge of %.0e a row, chosen on the validation queries", ridge);
    (void)print_line(b, name);
    linear_free(&l);
    return plain;
}

/* ---- neural */

typedef struct moments {
    double sum[CUTS], squares[CUTS];
} moments;

static void add_seed(const bench *b, uint64_t seed, moments *m)
{
    oltr_error error = {OLTR_OK, ""};
    part train = {b->train, b->train->n_queries, NULL}, vali = {b->vali, b->vali->n_queries, NULL};
    scorer_options o = scorer_defaults();
    o.seed = seed;
    scorer *r = scorer_train(&train, &vali, NULL, &o, NULL, &error);
    if (!r || scorer_score(r, b->test, NULL, b->score, 1, &error) != OLTR_OK)
        die("%s", error.msg);
    for (int i = 0; i < CUTS; i++) {
        double value = ndcg(b, b->test, check_cuts[i], NULL);
        m->sum[i] += value;
        m->squares[i] += value * value;
    }
    fprintf(stderr, "seed %llu: epoch %u, validation %.4f\n", (unsigned long long)seed,
            scorer_epoch(r), scorer_ndcg(r));
    scorer_free(r);
}

/* Mean over the seeds; the last column is the standard error over seeds of NDCG@10. */
static double neural_line(const bench *b, uint32_t seeds)
{
    moments m = {{0}, {0}};
    for (uint32_t seed = 1; seed <= seeds; seed++)
        add_seed(b, seed, &m);
    printf("| **one neural scorer, mean over %u seeds** |", seeds);
    double mean = 0, se = 0;
    for (int i = 0; i < CUTS; i++) {
        mean = m.sum[i] / seeds;
        se = seeds > 1 ? sqrt(fmax(0, m.squares[i] / seeds - mean * mean) / (seeds - 1)) : 0;
        printf(" %.4f |", mean);
    }
    printf(" %.4f (over seeds) |\n", se);
    return mean;
}

static void ensemble_line(const bench *b)
{
    oltr_error error = {OLTR_OK, ""};
    scores s;
    scores_options o = {.models = 10, .threads = 2, .scorer = scorer_defaults()};
    double start = now();
    if (scores_train(b->train, b->vali, b->test, &o, &s, &error) != OLTR_OK)
        die("%s", error.msg);
    double seconds = now() - start;
    for (uint32_t row = 0; row < s.n_rows; row++) {
        b->score[row] = 0;
        for (uint32_t m = 0; m < s.n_models; m++)
            b->score[row] += s.score[(size_t)row * s.n_models + m];
    }
    (void)print_line(b, "ten neural scorers on random halves, mean score");
    printf("\nTen scorers trained in %.1f s of wall time by two threads.\n", seconds);
    scores_free(&s);
}

/* ---- the program */

static void make_room(bench *b)
{
    uint32_t rows = max_u32(b->train->n_rows + b->vali->n_rows, b->test->n_rows);
    if (b->train->dim != b->vali->dim || b->train->dim != b->test->dim)
        die("the three files have different numbers of features");
    b->score = array_of((rows + 1), sizeof *b->score);
    b->room = array_of((longest_query(b) + 1), sizeof *b->room);
}

static bool run(const bench *b, uint32_t seeds)
{
    uint32_t counted;
    oltr_dataset *known = joined(b->train, b->vali);
    memset(b->score, 0, b->test->n_rows * sizeof *b->score);
    (void)ndcg_mean(b->test, b->score, 1, 10, b->room, &counted, NULL);
    printf("%u training, %u validation and %u test queries; NDCG over the %u test queries that "
           "have a relevant "
           "document; equal scores "
           "count with the mean over their orders.\n\n",
           b->train->n_queries, b->vali->n_queries, b->test->n_queries, counted);
    printf("| scorer | NDCG@1 | NDCG@5 | NDCG@10 | se of NDCG@10 over queries "
           "|\n|---|---|---|---|---|\n");
    (void)print_line(b, "random order");
    double feature = feature_line(b, known, "the training and validation queries");
    (void)feature_line(b, b->test, "the test queries themselves");
    double squares = linear_lines(b, false), wide = linear_lines(b, true);
    double neural = neural_line(b, seeds);
    ensemble_line(b);
    oltr_dataset_free(known);
    return neural > feature && neural > squares && neural > wide;
}

int main(int argc, char **argv)
{
    const char *file[3] = {NULL, NULL, NULL};
    int n = 0;
    bool strict = false;
    uint32_t seeds = 5;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--strict") == 0)
            strict = true;
        else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
            seeds = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (n < 3)
            file[n++] = argv[i];
    if (n != 3 || seeds < 1 || seeds > MOST_SEEDS)
        die("usage: bench_scorers TRAIN VALI TEST [--seeds 1..%d] [--strict]", MOST_SEEDS);
    bench b = {must_read(file[0]), must_read(file[1]), must_read(file[2]), NULL, NULL};
    make_room(&b);
    bool good = run(&b, seeds);
    oltr_dataset_free(b.train);
    oltr_dataset_free(b.vali);
    oltr_dataset_free(b.test);
    free(b.score);
    free(b.room);
    return strict && !good;
}
