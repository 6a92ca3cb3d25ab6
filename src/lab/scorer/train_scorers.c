/* train_scorers.c - trains M scorers on random halves of the training queries, several at a time.
 *
 * Scorer m is a function of (data, seed, m): its half, its first weights and its order of queries.
 * Which thread trains it does not matter.  The calling thread reports the progress. */
#define _POSIX_C_SOURCE 200809L
#include "lab/scorer/scores.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { STREAM_HALF = 1, MOST_THREADS = 1024 };

typedef struct ensemble {
    const oltr_dataset *train, *vali, *test;
    const scores_options *options;
    scores *out;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    uint32_t next, done, working;
    uint32_t *epochs; /* (models) run so far */
    double *ndcg;     /* (models) the best so far */
    uint64_t epochs_of_done;
    uint32_t failed; /* the first model that failed, if `error` says so */
    oltr_error error;
} ensemble;

/* ---- one scorer */

typedef struct model {
    ensemble *e;
    uint32_t number;
} model;

static void note_epoch(void *context, uint32_t epoch, double ndcg)
{
    const model *m = context;
    pthread_mutex_lock(&m->e->lock);
    m->e->epochs[m->number] = epoch;
    m->e->ndcg[m->number] = ndcg;
    pthread_mutex_unlock(&m->e->lock);
}

static int should_stop(void *context)
{
    const scores_options *o = ((const model *)context)->e->options;
    return o->stop && o->stop(o->context);
}

/* The training queries in random order: the first half of them is this scorer's. */
static uint32_t *draw_half(const oltr_dataset *d, oltr_rng rng)
{
    uint32_t *order = malloc((d->n_queries + 1) * sizeof *order);
    for (uint32_t i = 0; order && i < d->n_queries; i++) {
        uint32_t j = oltr_rng_below(&rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static oltr_status train_one(model *m, oltr_error *error)
{
    ensemble *e = m->e;
    scorer_options options = e->options->scorer;
    oltr_rng rng = oltr_rng_make(options.seed, m->number);
    uint32_t *order = draw_half(e->train, oltr_rng_at(rng, STREAM_HALF, 0)),
             half = (e->train->n_queries + 1) / 2;
    if (!order)
        return set_error(error, OLTR_ENOMEM, "no memory to train a scorer");
    options.seed = (uint64_t)oltr_rng_u32(&rng) << 32;
    options.seed |= oltr_rng_u32(&rng);
    part mine = {e->train, half, order}, vali = {e->vali, e->vali->n_queries, NULL};
    part others = {e->train, e->train->n_queries - half, order + half};
    scorer_hooks hooks = {note_epoch, should_stop, m};
    scorer *r = scorer_train(&mine, &vali, &others, &options, &hooks, error);
    oltr_status status =
        r ? scorer_score(r, e->test, &hooks, e->out->score + m->number, e->out->n_models, error)
          : error->code;
    scores *raw = e->options->raw;
    if (status == OLTR_OK && raw)
        status = scorer_output(r, e->test, &hooks, raw->score + m->number, raw->n_models, error);
    scorer_free(r);
    free(order);
    return status;
}

/* ---- all of them */

static bool take(ensemble *e, model *m)
{
    pthread_mutex_lock(&e->lock);
    bool found = e->next < e->options->models && e->error.code == OLTR_OK;
    *m = (model){e, e->next};
    e->next += found;
    pthread_mutex_unlock(&e->lock);
    return found;
}

/* Of several failures the one of the lowest model number is reported. */
static void finish(const model *m, oltr_status status, const oltr_error *error)
{
    ensemble *e = m->e;
    pthread_mutex_lock(&e->lock);
    if (status == OLTR_OK) {
        e->done++;
        e->epochs_of_done += e->epochs[m->number];
    } else if (e->error.code == OLTR_OK || m->number < e->failed) {
        e->failed = m->number;
        e->error = *error;
    }
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void *work(void *context)
{
    ensemble *e = context;
    model m;
    while (take(e, &m)) {
        oltr_error error = {OLTR_OK, ""};
        oltr_status status = train_one(&m, &error);
        finish(&m, status, &error);
    }
    pthread_mutex_lock(&e->lock);
    e->working--;
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- reporting */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Under the lock. */
static scores_progress state_of(const ensemble *e, double seconds)
{
    const scores_options *o = e->options;
    scores_progress s = {.models = o->models, .done = e->done, .seconds = seconds};
    uint32_t begun = 0;
    for (uint32_t m = 0; m < o->models; m++) {
        s.epochs += e->epochs[m];
        s.ndcg += e->epochs[m] > 0 ? e->ndcg[m] : 0;
        begun += e->epochs[m] > 0;
    }
    s.ndcg = begun > 0 ? s.ndcg / begun : 0;
    double expected = e->done > 0 ? (double)e->epochs_of_done / e->done : o->scorer.epochs;
    double running = (double)(s.epochs - e->epochs_of_done),
           left = (o->models - e->done) * expected;
    double share =
        (double)s.epochs / ((double)e->epochs_of_done + (left > running ? left : running));
    s.share = e->done == o->models ? 1 : share < 1 ? share : 1;
    return s;
}

static void wait_and_report(ensemble *e, double start)
{
    const scores_options *o = e->options;
    double next = start + o->every;
    pthread_mutex_lock(&e->lock);
    while (e->working > 0) {
        double until = o->progress ? next : now() + 1;
        struct timespec t = {(time_t)until, 0};
        t.tv_nsec = (long)((until - (double)t.tv_sec) * 1e9);
        pthread_cond_timedwait(&e->changed, &e->lock, &t);
        if (o->progress && now() >= next) {
            scores_progress s = state_of(e, now() - start);
            pthread_mutex_unlock(&e->lock);
            o->progress(o->context, &s);
            pthread_mutex_lock(&e->lock);
            next = now() + o->every;
        }
    }
    scores_progress last = state_of(e, now() - start);
    pthread_mutex_unlock(&e->lock);
    if (o->progress && last.done == last.models)
        o->progress(o->context, &last);
}

static void run_threads(ensemble *e)
{
    uint32_t wanted = e->options->threads > 0 ? e->options->threads : 1, started = 0;
    wanted = wanted < e->options->models ? wanted : e->options->models;
    wanted = wanted < MOST_THREADS ? wanted : MOST_THREADS;
    pthread_t *thread = malloc(wanted * sizeof *thread);
    double start = now();
    e->working = wanted;
    while (thread && started < wanted && pthread_create(&thread[started], NULL, work, e) == 0)
        started++;
    pthread_mutex_lock(&e->lock);
    e->working -= wanted - started;
    pthread_mutex_unlock(&e->lock);
    if (started == 0)
        set_error(&e->error, OLTR_ENOMEM, "no thread can be started");
    wait_and_report(e, start);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

/* A condition whose timeouts use the clock of now(). */
static bool make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

static void run(ensemble *e)
{
    if (pthread_mutex_init(&e->lock, NULL) != 0) {
        set_error(&e->error, OLTR_ENOMEM, "no lock can be made");
        return;
    }
    if (make_condition(&e->changed)) {
        run_threads(e);
        pthread_cond_destroy(&e->changed);
    } else {
        set_error(&e->error, OLTR_ENOMEM, "no condition can be made");
    }
    pthread_mutex_destroy(&e->lock);
}

oltr_status scores_train(const oltr_dataset *train, const oltr_dataset *vali,
                         const oltr_dataset *test, const scores_options *options, scores *out,
                         oltr_error *error)
{
    *out = (scores){0, 0, NULL};
    if (test->dim != train->dim)
        return set_error(error, OLTR_EMISMATCH,
                         "the test queries have %u features, the training queries %u", test->dim,
                         train->dim);
    oltr_status status = scores_new(test->n_rows, options->models, out, error);
    if (status == OLTR_OK && options->raw)
        status = scores_new(test->n_rows, options->models, options->raw, error);
    if (status != OLTR_OK) {
        scores_free(out);
        return status;
    }
    ensemble e = {.train = train, .vali = vali, .test = test, .options = options, .out = out};
    e.epochs = calloc(options->models, sizeof *e.epochs);
    e.ndcg = calloc(options->models, sizeof *e.ndcg);
    if (e.epochs && e.ndcg)
        run(&e);
    else
        set_error(&e.error, OLTR_ENOMEM, "out of memory");
    free(e.epochs);
    free(e.ndcg);
    if (e.error.code == OLTR_OK)
        return OLTR_OK;
    scores_free(out);
    scores_free(options->raw);
    return set_error(error, e.error.code, "%s", e.error.msg);
}
