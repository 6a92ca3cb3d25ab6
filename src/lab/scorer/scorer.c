/* scorer.c - training, calibration and scoring of one network; see scorer.h. */
#define _POSIX_C_SOURCE 200809L
#include "lab/scorer/scorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/scorer/blas.h"
#include "lab/scorer/calibration.h"
#include "lab/scorer/ndcg.h"

enum { STREAM_START, STREAM_ORDER, STREAM_DROP }; /* what draws are for */
enum { STOP_AT = 10 };                            /* NDCG@10 of the validation queries decides */

struct scorer {
    input_map map;
    blas blas; /* until the scorer is freed */
    network net;
    float *weight; /* (network_weights) */
    calibration calibration;
    uint32_t epoch;
    double ndcg;
};

/* ---- options */

scorer_options scorer_defaults(void)
{
    return (scorer_options){.n_hidden = 2,
                            .hidden = {64, 32},
                            .epochs = 100,
                            .patience = 20,
                            .batch = 4,
                            .rate = 1e-3,
                            .decay = 3,
                            .dropout = 0.25,
                            .seed = 1};
}

static bool within(double value, double low, double high)
{
    return value >= low && value <= high; /* false for NaN */
}

oltr_status scorer_options_check(const scorer_options *o, oltr_error *error)
{
    bool good = o->n_hidden >= 1 && o->n_hidden <= MOST_HIDDEN;
    for (uint32_t l = 0; good && l < o->n_hidden; l++)
        good = o->hidden[l] >= 1 && o->hidden[l] <= MOST_UNITS;
    if (!good)
        return set_error(error, OLTR_EVALUE, "a scorer has 1 to %d hidden layers of 1 to %d units",
                         MOST_HIDDEN, MOST_UNITS);
    if (o->epochs < 1 || o->patience < 1 || o->batch < 1 || o->batch > MOST_BATCH)
        return set_error(error, OLTR_EVALUE,
                         "epochs and patience must be at least 1, and a batch 1 to %d queries",
                         MOST_BATCH);
    if (!within(o->rate, LEAST_RATE, 1) || !within(o->decay, 0, MOST_DECAY) ||
        !within(o->dropout, 0, MOST_DROPOUT))
        return set_error(error, OLTR_EVALUE,
                         "the rate must be in [%g, 1], the decay in [0, %g], dropout in [0, %g]",
                         LEAST_RATE, MOST_DECAY, MOST_DROPOUT);
    return OLTR_OK;
}

/* ---- one training */

typedef struct training {
    const part *train, *vali;
    const scorer_options *options;
    const scorer_hooks *hooks;
    scorer *r;
    size_t n;                                          /* weights */
    float *weight, *gradient, *moment, *square, *best; /* (n) */
    pass pass;
    uint32_t room;     /* documents of the largest query */
    double *gain;      /* (room) */
    float *score_back; /* (rows of a batch) */
    float *score;      /* (room) */
    ranked *ranked;    /* (room) */
    uint32_t *order;   /* (train->n_queries) */
    uint32_t steps;
    oltr_error *error;
} training;

static uint32_t largest_of(const part *p)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->n_queries; i++) {
        uint32_t n = documents_of(p->data, part_query(p, i));
        most = n > most ? n : most;
    }
    return most;
}

static bool has_gain(const part *p, uint32_t i)
{
    uint32_t q = part_query(p, i);
    for (uint32_t row = p->data->first_row[q]; row < p->data->first_row[q + 1]; row++)
        if (p->data->grade[row] > 0)
            return true;
    return false;
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The queries with a relevant document, in the order of the part. */
static uint32_t list_useful(const part *p, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_queries; i++)
        if (has_gain(p, i))
            list[n++] = part_query(p, i);
    return n;
}

static uint64_t rows_of(const part *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; p && i < p->n_queries; i++)
        n += documents_of(p->data, part_query(p, i));
    return n;
}

static bool training_room(training *t, uint32_t spare_largest)
{
    uint32_t largest = largest_of(t->train), batch = t->options->batch;
    t->room = max_u32(max_u32(largest, largest_of(t->vali)), spare_largest);
    t->n = network_weights(&t->r->net);
    uint64_t in_batch = (uint64_t)largest * batch, in_all = rows_of(t->train);
    uint32_t batch_rows = max_u32((uint32_t)(in_batch < in_all ? in_batch : in_all), t->room);
    t->weight = calloc(5 * t->n, sizeof *t->weight);
    t->gain = malloc((t->room + 1) * sizeof *t->gain);
    t->score_back = malloc(((size_t)batch_rows + 1) * sizeof *t->score_back);
    t->score = malloc((t->room + 1) * sizeof *t->score);
    t->ranked = malloc((t->room + 1) * sizeof *t->ranked);
    t->order = malloc((t->train->n_queries + 1) * sizeof *t->order);
    t->r->weight = malloc(t->n * sizeof *t->r->weight);
    if (!t->weight || !t->gain || !t->score_back || !t->score || !t->ranked || !t->order ||
        !t->r->weight)
        return false;
    t->gradient = t->weight + t->n;
    t->moment = t->weight + 2 * t->n;
    t->square = t->weight + 3 * t->n;
    t->best = t->weight + 4 * t->n;
    return pass_make(&t->pass, &t->r->net, batch_rows);
}

static void training_free(training *t)
{
    free(t->weight);
    free(t->gain);
    free(t->score_back);
    free(t->score);
    free(t->ranked);
    free(t->order);
    pass_free(&t->pass);
}

/* ---- scoring */

/* The uncalibrated scores of query q; the pass has room for it. */
static const float *score_query(const scorer *r, const float *weight, pass *p,
                                const oltr_dataset *d, uint32_t q)
{
    inputs_of(&r->map, d, q, p->layer[0]);
    network_forward(&r->net, weight, p, documents_of(d, q), 0, (oltr_rng){0});
    return p->layer[r->net.n_layers];
}

static bool all_finite(const float *x, uint32_t n)
{
    bool finite = true;
    for (uint32_t i = 0; i < n; i++)
        finite = finite && isfinite(x[i]);
    return finite;
}

/* The mean NDCG; below 0 when scores are not finite. */
static double validate(training *t)
{
    const oltr_dataset *d = t->vali->data;
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->vali->n_queries; i++) {
        uint32_t q = part_query(t->vali, i);
        const float *score = score_query(t->r, t->weight, &t->pass, d, q);
        if (!all_finite(score, documents_of(d, q)))
            return -1;
        double value = ndcg_at(t->ranked, ranked_query(d, q, score, 1, t->ranked), STOP_AT);
        sum += value >= 0 ? value : 0;
        count += value >= 0;
    }
    return count > 0 ? sum / count : 0;
}

/* ---- learning */

/* Fisher and Yates; the generator of the epoch. */
static void shuffle(uint32_t *order, uint32_t n, oltr_rng rng)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = oltr_rng_below(&rng, i), swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
}

/* The gradient of the mean loss of some queries. */
static void batch_gradient(training *t, const uint32_t *query, uint32_t n_queries, oltr_rng rng)
{
    const oltr_dataset *d = t->train->data;
    const network *net = &t->r->net;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < n_queries; i++) {
        inputs_of(&t->r->map, d, query[i], t->pass.layer[0] + (size_t)rows * net->width[0]);
        rows += documents_of(d, query[i]);
    }
    network_forward(net, t->weight, &t->pass, rows, t->options->dropout, rng);
    const float *score = t->pass.layer[net->n_layers];
    uint32_t at = 0;
    for (uint32_t i = 0; i < n_queries; i++) {
        uint32_t n = documents_of(d, query[i]), first = d->first_row[query[i]];
        for (uint32_t j = 0; j < n; j++)
            t->gain[j] = gain_of(d->grade[first + j]);
        listwise_loss(t->gain, score + at, n, 1.0 / n_queries, t->score_back + at);
        at += n;
    }
    network_backward(net, t->weight, &t->pass, rows, t->score_back, t->gradient);
}

static void adam_step(training *t)
{
    const double beta1 = 0.9, beta2 = 0.999;
    t->steps++;
    double rate = t->options->rate;
    float size = (float)(rate * sqrt(1 - pow(beta2, t->steps)) / (1 - pow(beta1, t->steps)));
    float shrink = (float)(1 - rate * t->options->decay);
    for (size_t i = 0; i < t->n; i++) {
        float g = t->gradient[i];
        t->moment[i] = (float)beta1 * t->moment[i] + (float)(1 - beta1) * g;
        t->square[i] = (float)beta2 * t->square[i] + (float)(1 - beta2) * g * g;
        t->weight[i] = shrink * t->weight[i] - size * t->moment[i] / (sqrtf(t->square[i]) + 1e-8f);
    }
}

static bool should_stop(const scorer_hooks *hooks)
{
    return hooks && hooks->stop && hooks->stop(hooks->context);
}

/* One pass over the training queries; false when it was stopped. */
static bool run_epoch(training *t, uint32_t *query, uint32_t n, oltr_rng rng, uint32_t epoch)
{
    shuffle(query, n, oltr_rng_at(rng, STREAM_ORDER, epoch));
    for (uint32_t at = 0; at < n; at += t->options->batch) {
        uint32_t size = n - at < t->options->batch ? n - at : t->options->batch;
        if (should_stop(t->hooks))
            return false;
        batch_gradient(t, query + at, size, oltr_rng_at(rng, STREAM_DROP, t->steps));
        adam_step(t);
    }
    return true;
}

static oltr_status learn(training *t)
{
    oltr_rng rng = oltr_rng_make(t->options->seed, 0);
    uint32_t useful = list_useful(t->train, t->order);
    network_start(&t->r->net, oltr_rng_at(rng, STREAM_START, 0), t->weight);
    t->r->ndcg = -1;
    for (uint32_t epoch = 1;
         epoch <= t->options->epochs && epoch <= t->r->epoch + t->options->patience; epoch++) {
        if (!run_epoch(t, t->order, useful, rng, epoch))
            return set_error(t->error, OLTR_EINTERRUPTED, "stopped before the scorer was trained");
        double ndcg = validate(t);
        if (ndcg < 0)
            return set_error(t->error, OLTR_EVALUE,
                             "training diverged: after %u epochs the scores are not finite; lower "
                             "the rate or the decay",
                             epoch);
        if (ndcg > t->r->ndcg) {
            t->r->ndcg = ndcg;
            t->r->epoch = epoch;
            memcpy(t->best, t->weight, t->n * sizeof *t->best);
        }
        if (t->hooks && t->hooks->epoch)
            t->hooks->epoch(t->hooks->context, epoch, t->r->ndcg);
    }
    memcpy(t->r->weight, t->best, t->n * sizeof *t->best);
    return OLTR_OK;
}

/* ---- calibrating */

static uint8_t largest_grade(const part *p)
{
    uint8_t largest = 0;
    for (uint32_t i = 0; i < p->n_queries; i++) {
        uint32_t q = part_query(p, i);
        for (uint32_t row = p->data->first_row[q]; row < p->data->first_row[q + 1]; row++)
            largest = p->data->grade[row] > largest ? p->data->grade[row] : largest;
    }
    return largest;
}

static size_t add_targets(training *t, const part *p, const double *attraction, float *score,
                          double *target)
{
    size_t n = 0;
    for (uint32_t i = 0; p && i < p->n_queries; i++) {
        uint32_t q = part_query(p, i), documents = documents_of(p->data, q);
        const float *found = score_query(t->r, t->r->weight, &t->pass, p->data, q);
        for (uint32_t j = 0; j < documents; j++, n++) {
            score[n] = found[j];
            target[n] = attraction[p->data->grade[p->data->first_row[q] + j]];
        }
    }
    return n;
}

static oltr_status calibrate(training *t, const part *spare)
{
    double from_grade[GRADES];
    uint8_t largest = (uint8_t)max_u32(largest_grade(t->train), largest_grade(t->vali));
    for (int g = 0; g < GRADES; g++)
        from_grade[g] = fmin(1, gain_of((uint8_t)g) * ldexp(1, -largest));
    const double *attraction = t->options->attraction ? t->options->attraction : from_grade;
    size_t n = (size_t)(rows_of(t->vali) + rows_of(spare));
    float *score = malloc((n + 1) * sizeof *score);
    double *target = malloc((n + 1) * sizeof *target);
    if (score && target) {
        size_t used = add_targets(t, t->vali, attraction, score, target);
        used += add_targets(t, spare, attraction, score + used, target + used);
        t->r->calibration = calibration_fit(score, target, used);
    }
    bool done = score && target;
    free(score);
    free(target);
    return done ? OLTR_OK : set_error(t->error, OLTR_ENOMEM, "out of memory");
}

/* ---- the whole */

static oltr_status check_part(const part *p, uint32_t dim, const char *name, oltr_error *error)
{
    if (p->data->dim != dim)
        return set_error(error, OLTR_EMISMATCH,
                         "the %s queries have %u features, the training queries %u", name,
                         p->data->dim, dim);
    for (uint32_t i = 0; i < p->n_queries; i++)
        if (has_gain(p, i))
            return OLTR_OK;
    return set_error(error, OLTR_EVALUE,
                     "none of the %u %s queries has a document with a grade above 0", p->n_queries,
                     name);
}

static oltr_status train(training *t, const part *spare)
{
    const scorer_options *o = t->options;
    oltr_status status = scorer_options_check(o, t->error);
    if (status == OLTR_OK)
        status = check_part(t->train, t->train->data->dim, "training", t->error);
    if (status == OLTR_OK)
        status = check_part(t->vali, t->train->data->dim, "validation", t->error);
    if (status == OLTR_OK)
        status = input_map_fit(&t->r->map, t->train, t->error);
    if (status != OLTR_OK)
        return status;
    t->r->net = network_make(t->r->map.width, o->hidden, o->n_hidden);
    if (!training_room(t, spare ? largest_of(spare) : 0))
        return set_error(t->error, OLTR_ENOMEM, "no memory to train a scorer");
    status = blas_begin(&t->r->blas, t->error);
    t->r->net.blas = &t->r->blas;
    if (status == OLTR_OK)
        status = learn(t);
    return status == OLTR_OK ? calibrate(t, spare) : status;
}

scorer *scorer_train(const part *train_part, const part *vali, const part *spare,
                     const scorer_options *options, const scorer_hooks *hooks, oltr_error *error)
{
    scorer *r = calloc(1, sizeof *r);
    if (!r) {
        set_error(error, OLTR_ENOMEM, "no memory to train a scorer");
        return NULL;
    }
    training t = {.train = train_part,
                  .vali = vali,
                  .options = options,
                  .hooks = hooks,
                  .r = r,
                  .error = error};
    oltr_status status = train(&t, spare);
    training_free(&t);
    if (status == OLTR_OK)
        return r;
    scorer_free(r);
    return NULL;
}

void scorer_free(scorer *r)
{
    if (!r)
        return;
    input_map_free(&r->map);
    blas_end(&r->blas);
    free(r->weight);
    free(r);
}

static oltr_status score_all(const scorer *r, const oltr_dataset *d, const scorer_hooks *hooks,
                             bool calibrate, float *score, size_t stride, oltr_error *error)
{
    pass p;
    oltr_status status = OLTR_OK;
    if (d->dim != r->map.dim)
        return set_error(error, OLTR_EMISMATCH,
                         "the scorer was trained on %u features, this dataset has %u", r->map.dim,
                         d->dim);
    if (!pass_make(&p, &r->net, most_documents(d)))
        return set_error(error, OLTR_ENOMEM, "no memory to score");
    for (uint32_t q = 0; status == OLTR_OK && q < d->n_queries; q++) {
        const float *found = score_query(r, r->weight, &p, d, q);
        if (should_stop(hooks))
            status = set_error(error, OLTR_EINTERRUPTED, "stopped before all rows were scored");
        for (uint32_t i = 0; i < documents_of(d, q); i++)
            score[(size_t)(d->first_row[q] + i) * stride] =
                calibrate ? calibrated(&r->calibration, found[i]) : found[i];
    }
    pass_free(&p);
    return status;
}

oltr_status scorer_score(const scorer *r, const oltr_dataset *d, const scorer_hooks *hooks,
                         float *score, size_t stride, oltr_error *error)
{
    return score_all(r, d, hooks, true, score, stride, error);
}

oltr_status scorer_output(const scorer *r, const oltr_dataset *d, const scorer_hooks *hooks,
                          float *output, size_t stride, oltr_error *error)
{
    return score_all(r, d, hooks, false, output, stride, error);
}

uint32_t scorer_epoch(const scorer *r)
{
    return r->epoch;
}

double scorer_ndcg(const scorer *r)
{
    return r->ndcg;
}
