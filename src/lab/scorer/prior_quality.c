/* prior_quality.c - computes the measures of prior_quality.h, each in one pass over the documents.
 */
#include "lab/scorer/prior_quality.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "lab/scorer/calibration.h"

const uint32_t check_cuts[CHECK_CUTS] = {1, 5, 10};
const uint32_t check_points[CHECK_POINTS] = {0,  1,   2,   3,   5,   7,   10,  15,   20,   30,  50,
                                             70, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000};

typedef struct checking {
    const oltr_dataset *data;
    const scores *scores;
    const double *attraction;
    double *mean, *truth; /* (n_rows) */
    float *score;         /* (n_rows) work space */
    ranked *room;
    prior_check *out;
} checking;

/* ---- order */

static check_order order_of(const checking *c, const float *score, size_t stride)
{
    check_order o;
    for (int i = 0; i < CHECK_CUTS; i++)
        o.ndcg[i] =
            ndcg_mean(c->data, score, stride, check_cuts[i], c->room, &c->out->n_counted, &o.se[i]);
    return o;
}

static check_order mean_of_models(const checking *c)
{
    check_order sum = {{0}, {0}};
    for (uint32_t m = 0; m < c->scores->n_models; m++) {
        check_order one = order_of(c, c->scores->score + m, c->scores->n_models);
        for (int i = 0; i < CHECK_CUTS; i++) {
            sum.ndcg[i] += one.ndcg[i] / c->scores->n_models;
            sum.se[i] += one.se[i] / c->scores->n_models;
        }
    }
    return sum;
}

void feature_scores(const oltr_dataset *d, uint32_t feature, bool falls, float *score)
{
    for (uint32_t row = 0; row < d->n_rows; row++) {
        float value = d->x[(size_t)row * d->dim + feature];
        value = isnan(value) ? 0 : fminf(fmaxf(value, -FLT_MAX), FLT_MAX);
        score[row] = falls ? -value : value;
    }
}

void best_feature(const oltr_dataset *d, uint32_t k, float *score, ranked *room, uint32_t *feature,
                  bool *falls)
{
    double best = -1;
    *feature = 0;
    *falls = false;
    for (uint32_t j = 0; j < d->dim; j++) {
        for (int down = 0; down < 2; down++) {
            feature_scores(d, j, down == 1, score);
            double value = ndcg_mean(d, score, 1, k, room, NULL, NULL);
            if (value > best) {
                best = value;
                *feature = j;
                *falls = down == 1;
            }
        }
    }
}

static void check_orders(checking *c)
{
    prior_check *out = c->out;
    for (uint32_t row = 0; row < c->data->n_rows; row++)
        c->score[row] = 0;
    out->random = order_of(c, c->score, 1);
    for (uint32_t row = 0; row < c->data->n_rows; row++)
        c->score[row] = (float)c->mean[row];
    out->mean = order_of(c, c->score, 1);
    out->single = mean_of_models(c);
    uint32_t feature;
    best_feature(c->data, 10, c->score, c->room, &feature, &out->feature_falls);
    feature_scores(c->data, feature, out->feature_falls, c->score);
    out->feature = order_of(c, c->score, 1);
    out->feature_id = feature + 1;
}

/* ---- probabilities */

static double cross_entropy(double truth, double chance)
{
    return (truth > 0 ? -truth * log(chance) : 0) + (truth < 1 ? -(1 - truth) * log1p(-chance) : 0);
}

/* The log-loss of the feature that check_orders() left in c->score, squashed and calibrated. */
static double feature_loss(checking *c)
{
    double loss = 0;
    uint32_t n = c->data->n_rows;
    for (uint32_t row = 0; row < n; row++)
        c->score[row] = copysignf(log1pf(fabsf(c->score[row])), c->score[row]);
    calibration fit = calibration_fit(c->score, c->truth, n);
    for (uint32_t row = 0; row < n; row++)
        loss += cross_entropy(c->truth[row], (double)calibrated(&fit, c->score[row])) / n;
    return loss;
}

static void check_losses(checking *c)
{
    prior_check *out = c->out;
    uint32_t n = c->data->n_rows;
    for (uint32_t row = 0; row < n; row++) {
        out->base_rate += c->truth[row] / n;
        out->mean_score += c->mean[row] / n;
        out->log_loss += cross_entropy(c->truth[row], c->mean[row]) / n;
        out->log_loss_truth += cross_entropy(c->truth[row], c->truth[row]) / n;
    }
    out->log_loss_base = cross_entropy(out->base_rate, out->base_rate);
    out->log_loss_feature = feature_loss(c);
}

typedef struct keyed {
    double mean;
    uint32_t row;
} keyed;

static int smallest_first(const void *left, const void *right)
{
    const keyed *a = left, *b = right;
    return a->mean != b->mean ? (a->mean > b->mean) - (a->mean < b->mean)
                              : (a->row > b->row) - (a->row < b->row);
}

static check_bin bin_of(const checking *c, const keyed *document, uint32_t n)
{
    check_bin bin = {.n = n, .low = document[0].mean, .high = document[n - 1].mean};
    double squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        bin.score += document[i].mean / n;
        bin.attraction += c->truth[document[i].row] / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        double d = c->truth[document[i].row] - bin.attraction;
        squares += d * d;
    }
    bin.se = n > 1 ? sqrt(squares / ((double)n * (n - 1))) : 0;
    return bin;
}

static bool check_calibration(checking *c)
{
    uint32_t n = c->data->n_rows;
    keyed *document = malloc(n * sizeof *document);
    if (!document)
        return false;
    for (uint32_t row = 0; row < n; row++)
        document[row] = (keyed){c->mean[row], row};
    qsort(document, n, sizeof *document, smallest_first);
    c->out->n_bins = n < CHECK_BINS ? n : CHECK_BINS;
    for (uint32_t i = 0; i < c->out->n_bins; i++) {
        uint32_t from = (uint32_t)((uint64_t)n * i / c->out->n_bins),
                 to = (uint32_t)((uint64_t)n * (i + 1) / c->out->n_bins);
        c->out->bin[i] = bin_of(c, document + from, to - from);
        c->out->calibration_error +=
            fabs(c->out->bin[i].score - c->out->bin[i].attraction) * (to - from) / n;
    }
    free(document);
    return true;
}

/* ---- sizes */

static double variance_between(const checking *c, uint32_t row)
{
    const float *score = c->scores->score + (size_t)row * c->scores->n_models;
    double sum = 0, mean = 0;
    for (uint32_t m = 0; m < c->scores->n_models; m++)
        mean += (double)score[m] / c->scores->n_models;
    for (uint32_t m = 0; m < c->scores->n_models; m++)
        sum += ((double)score[m] - mean) * ((double)score[m] - mean);
    return sum / (c->scores->n_models - 1);
}

static void check_sizes(checking *c)
{
    double possible = 0, between = 0, error = 0, base = c->out->base_rate, base_error = 0;
    for (uint32_t row = 0; row < c->data->n_rows; row++) {
        double m = c->mean[row], d = m - c->truth[row];
        possible += m * (1 - m);
        between += c->scores->n_models > 1 ? variance_between(c, row) : 0;
        error += d * d;
        base_error += (base - c->truth[row]) * (base - c->truth[row]);
    }
    c->out->honest_base = fmax(0, c->data->n_rows * base * (1 - base) / base_error - 1);
    c->out->claimed_size = c->scores->n_models;
    c->out->spread_size = c->scores->n_models > 1 ? fmax(0, possible / between - 1) : (double)NAN;
    c->out->honest_size = fmax(0, possible / error - 1);
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static bool check_gauss(checking *c)
{
    uint32_t n = c->data->n_rows;
    double *sd = malloc(n * sizeof *sd);
    if (!sd)
        return false;
    scores_prior(c->scores, NULL, NULL, NULL, sd);
    qsort(sd, n, sizeof *sd, ascending);
    c->out->gauss_half = 0.25 / (sd[n / 2] * sd[n / 2]);
    free(sd);
    return true;
}

/* Means over the documents, enough for the error after any number of observations. */
typedef struct errors {
    double prior, base, flat; /* squared error of the prior mean, of the base rate, and of 1/2 */
    double noise;             /* t (1 - t), the variance of one observation */
} errors;

static errors mean_errors(const checking *c)
{
    errors e = {0, 0, 0, 0};
    uint32_t n = c->data->n_rows;
    for (uint32_t row = 0; row < n; row++) {
        double t = c->truth[row], off = c->mean[row] - t, base = c->out->base_rate - t;
        e.prior += off * off / n;
        e.base += base * base / n;
        e.flat += (0.5 - t) * (0.5 - t) / n;
        e.noise += t * (1 - t) / n;
    }
    return e;
}

/* Squared error of the posterior mean after `seen` observations, from a prior of this size with the
 * squared error `off`. */
static double error_after(double off, double size, double noise, double seen)
{
    double share = seen > 0 ? size / (size + seen) : 1;
    return share * share * off + (seen > 0 ? (1 - share) * (1 - share) * noise / seen : 0);
}

#define FLAT_SIZE 2.0 /* Beta(1,1) */

static void check_worth(checking *c)
{
    prior_check *out = c->out;
    errors e = mean_errors(c);
    for (int i = 0; i < CHECK_POINTS; i++) {
        double seen = check_points[i];
        out->error[i] = (check_error){sqrt(error_after(e.prior, out->claimed_size, e.noise, seen)),
                                      sqrt(error_after(e.prior, out->honest_size, e.noise, seen)),
                                      sqrt(error_after(e.base, out->claimed_size, e.noise, seen)),
                                      sqrt(error_after(e.flat, FLAT_SIZE, e.noise, seen))};
    }
    out->worth = out->helps_until = INFINITY;
    for (uint32_t seen = MOST_OBSERVATIONS + 1; seen-- > 0;) { /* the smallest one is kept */
        double flat = error_after(e.flat, FLAT_SIZE, e.noise, seen);
        out->worth = flat <= e.prior ? seen : out->worth;
        out->helps_until =
            flat < error_after(e.prior, out->claimed_size, e.noise, seen) ? seen : out->helps_until;
    }
}

/* ---- the whole */

static oltr_status check_all(checking *c, oltr_error *error)
{
    c->mean = malloc(c->data->n_rows * sizeof *c->mean);
    c->truth = malloc(c->data->n_rows * sizeof *c->truth);
    c->score = malloc(c->data->n_rows * sizeof *c->score);
    c->room = malloc(most_documents(c->data) * sizeof *c->room);
    if (!c->mean || !c->truth || !c->score || !c->room)
        return set_error(error, OLTR_ENOMEM, "no memory to check %u documents", c->data->n_rows);
    scores_prior(c->scores, NULL, NULL, c->mean, NULL);
    for (uint32_t row = 0; row < c->data->n_rows; row++)
        c->truth[row] = c->attraction[c->data->grade[row]];
    check_orders(c);
    check_losses(c);
    check_sizes(c);
    check_worth(c);
    return check_calibration(c) && check_gauss(c) ? OLTR_OK
                                                  : set_error(error, OLTR_ENOMEM, "out of memory");
}

oltr_status prior_check_run(const oltr_dataset *dataset, const scores *s, const double *attraction,
                            prior_check *out, oltr_error *error)
{
    *out = (prior_check){
        .n_queries = dataset->n_queries, .n_rows = dataset->n_rows, .n_models = s->n_models};
    if (dataset->n_rows == 0 || s->n_rows != dataset->n_rows)
        return set_error(error, OLTR_EMISMATCH,
                         "there are scores of %u documents, but the dataset has %u", s->n_rows,
                         dataset->n_rows);
    checking c = {.data = dataset, .scores = s, .attraction = attraction, .out = out};
    oltr_status status = check_all(&c, error);
    free(c.mean);
    free(c.truth);
    free(c.score);
    free(c.room);
    return status;
}
