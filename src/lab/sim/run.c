/* run.c - all replications of all points, over threads.
 *
 * Workers take the next replication that is not done from one counter, play it in an arena of their
 * own, and add its curves to the results under a lock.  Which worker plays what does not matter to
 * the result (results.h).  The calling thread reports progress and writes the partial file until
 * they are done.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/struct_check.h"
#include "lab/sim/arena.h"
#include "lab/sim/results.h"
#include "lab/sim/thread_hooks.h"
#include "lab/sim/workload.h"

typedef struct run {
    const oltr_experiment *points;
    const oltr_run_options *options;
    oltr_results *results;
    workload *work;
    atomic_int ending;    /* a stop was requested, or a worker failed: all stop at the next look */
    pthread_mutex_t lock; /* of all below, and of results */
    pthread_cond_t changed;
    uint32_t point, replication; /* the next to hand out */
    uint32_t working;            /* threads that are not finished */
    bool stopped;
    oltr_error error; /* of the first worker that failed; code OK: none did */
} run;

typedef struct task {
    uint32_t point, replication;
} task;

/* One thread. */
typedef struct worker {
    run *run;
    arena *arena; /* of task.point, or NULL */
    task task;
} worker;

static int stopped(void *context)
{
    run *r = ((worker *)context)->run;
    if (!atomic_load_explicit(&r->ending, memory_order_relaxed) && r->options->stop &&
        r->options->stop(r->options->context))
        atomic_store_explicit(&r->ending, 1, memory_order_relaxed);
    return atomic_load_explicit(&r->ending, memory_order_relaxed);
}

static void played(void *context, uint32_t policy, uint64_t rounds, uint64_t ns)
{
    const worker *w = context;
    workload_add(w->run->work, w->task.point, policy, rounds, ns);
}

static bool in_shard(oltr_shard shard, uint32_t replication)
{
    return shard.count < 2 || replication % shard.count == shard.index;
}

/* The next replication to play; false when there is none. */
static bool take(run *r, task *next)
{
    bool found = false;
    pthread_mutex_lock(&r->lock);
    while (!found && r->point < r->results->n_points && !r->stopped && r->error.code == OLTR_OK) {
        const point_results *p = &r->results->point[r->point];
        if (r->replication >= p->replications) {
            r->point++;
            r->replication = 0;
            continue;
        }
        found = !p->whole[r->replication] && in_shard(r->options->shard, r->replication);
        *next = (task){r->point, r->replication++};
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}

static void finish(worker *w)
{
    run *r = w->run;
    curves of = arena_curves(w->arena);
    pthread_mutex_lock(&r->lock);
    results_add(r->results, w->task.point, w->task.replication, &of);
    pthread_mutex_unlock(&r->lock);
}

/* Keeps the first error: workers that stop because another one failed have none. */
static void end_run(run *r, const oltr_error *why)
{
    pthread_mutex_lock(&r->lock);
    if (why->code != OLTR_EINTERRUPTED && r->error.code == OLTR_OK)
        r->error = *why;
    r->stopped = true;
    atomic_store_explicit(&r->ending, 1, memory_order_relaxed);
    pthread_mutex_unlock(&r->lock);
}

/* Plays the task in the arena of its point. */
static oltr_status play(worker *w, uint32_t last_point, oltr_error *error)
{
    arena_watch watch = {stopped, played, w};
    if (w->task.point != last_point) {
        arena_free(w->arena);
        w->arena = arena_new(&w->run->points[w->task.point], &watch, error);
    }
    if (!w->arena)
        return error->code;
    oltr_status status = arena_play(w->arena, w->task.replication, error);
    error->code = status;
    return status;
}

static void *work(void *context)
{
    run *r = context;
    worker w = {.run = r};
    uint32_t point = UINT32_MAX;
    while (take(r, &w.task)) {
        oltr_error error = {OLTR_OK, ""};
        if (play(&w, point, &error) != OLTR_OK) {
            end_run(r, &error);
            break;
        }
        point = w.task.point;
        finish(&w);
    }
    arena_free(w.arena);
    pthread_mutex_lock(&r->lock);
    r->working--;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void *work_between_hooks(void *context)
{
    run *r = context;
    uint32_t begun;
    oltr_error why = {thread_hooks_begin(r->points, r->results->n_points, &begun),
                      "a policy's thread_begin operation failed"};
    if (why.code != OLTR_OK)
        end_run(r, &why);
    work(r); /* after a failure there is nothing to take */
    thread_hooks_end(r->points, r->results->n_points, begun);
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits for a change or until `until`, on the clock of now(). */
static void wait_until(run *r, double until)
{
    struct timespec t = {(time_t)until, (long)((until - (double)(time_t)until) * 1e9)};
    pthread_cond_timedwait(&r->changed, &r->lock, &t);
}

static void report(const run *r, double since)
{
    oltr_progress p = {.seconds = now() - since, .results = r->results};
    if (!r->options->progress)
        return;
    for (uint32_t i = 0; i < r->results->n_points; i++) {
        p.done += r->results->point[i].done;
        p.total += oltr_shard_replications(r->options->shard, r->results->point[i].replications);
    }
    workload_report(r->work, &p);
    r->options->progress(r->options->context, &p);
}

enum { SECONDS_BETWEEN_SAVES = 10, TIMES_OF_A_SAVE = 50 };

/* Writes the partial file; returns when to write it again.  Nothing is added to the results
 * meanwhile, and those of thousands of queries have hundreds of megabytes: so at most a fiftieth of
 * the time goes into saves.  The file is a precaution: a save that fails loses nothing that is in
 * memory, so the run goes on and the next save tries again. */
static double save_partial(const run *r)
{
    double begun = now();
    if (r->options->partial)
        oltr_results_save(r->results, r->options->partial, NULL);
    double ended = now();
    return ended + fmax(SECONDS_BETWEEN_SAVES, TIMES_OF_A_SAVE * (ended - begun));
}

/* Called with the lock held; returns when all workers have finished. */
static void watch(run *r, double since)
{
    double every = r->options->every > 0.02 ? r->options->every : 0.02;
    double next_report = since + every, next_save = since + SECONDS_BETWEEN_SAVES;
    while (r->working) {
        wait_until(r, next_report < next_save ? next_report : next_save);
        double time = now();
        if (time >= next_report) {
            report(r, since);
            next_report = time + every;
        }
        if (time >= next_save)
            next_save = save_partial(r);
    }
}

static uint32_t start(run *r, pthread_t *thread, uint32_t n)
{
    uint32_t started = 0;
    pthread_mutex_lock(&r->lock);
    while (started < n && pthread_create(&thread[started], NULL, work_between_hooks, r) == 0)
        started++;
    r->working = started;
    pthread_mutex_unlock(&r->lock);
    return started;
}

static uint32_t thread_count(const oltr_run_options *options)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (options->threads)
        return options->threads < 1024 ? options->threads : 1024;
    return cores > 0 && cores < 1024 ? (uint32_t)cores : 1;
}

static oltr_status run_threads(run *r, oltr_error *error)
{
    uint32_t n = thread_count(r->options);
    double since = now();
    pthread_t *thread = calloc(n, sizeof *thread);
    if (!thread)
        return set_error(error, OLTR_ENOMEM, "no memory for %u threads", n);
    uint32_t started = start(r, thread, n);
    pthread_mutex_lock(&r->lock);
    oltr_status status = OLTR_OK;
    watch(r, since);
    report(r, since);
    if (r->stopped && r->options->partial)
        status = oltr_results_save(r->results, r->options->partial, error);
    pthread_mutex_unlock(&r->lock);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (!started)
        return set_error(error, OLTR_ENOMEM, "no thread could be started");
    return status;
}

static void init_wait(run *r)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&r->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Whether there is everything that the digest reads: the caller may bring other points than those
 * that the results were made for. */
static bool is_whole(const oltr_experiment *e)
{
    const oltr_dataset *data = e->world.dataset;
    bool whole = e->checkpoint && e->policy && (e->world.custom || !e->world.custom_bytes) &&
                 (!data || (data->query && data->first_row && (data->x || !data->dim)));
    for (uint32_t i = 0; whole && i < e->n_policies; i++) {
        const oltr_settings *s = &e->policy[i].settings;
        whole = e->policy[i].label && s->info && (s->custom || !s->custom_bytes);
    }
    return whole;
}

static oltr_status check(const oltr_experiment *points, uint32_t n_points,
                         const oltr_run_options *options, const oltr_results *results,
                         oltr_error *error)
{
    bool whole = points && results && results->n_points == n_points;
    for (uint32_t i = 0; whole && i < n_points; i++)
        whole = is_whole(&points[i]);
    if (!whole)
        return set_error(error, OLTR_EINVAL,
                         "results must be made for these points with oltr_results_new()");
    if (options && (size_check("run options", options->size, sizeof *options, error) != OLTR_OK ||
                    reserved_check("run options", 0, options->reserved, sizeof options->reserved,
                                   error) != OLTR_OK ||
                    reserved_check("a shard", 0, options->shard.reserved,
                                   sizeof options->shard.reserved, error) != OLTR_OK))
        return OLTR_EINVAL;
    if (options && options->shard.count && options->shard.index >= options->shard.count)
        return set_error(error, OLTR_EINVAL, "shard %u of %u: the index must be below the count",
                         options->shard.index, options->shard.count);
    uint64_t digest = experiment_digest(points, n_points);
    if (!digest)
        return set_error(error, OLTR_ENOMEM, "no memory for a run");
    if (digest != results->digest)
        return set_error(
            error, OLTR_EMISMATCH,
            "these are the results of another experiment; make new ones with oltr_results_new()");
    return OLTR_OK;
}

oltr_status oltr_run(const oltr_experiment *points, uint32_t n_points,
                     const oltr_run_options *options, oltr_results *results, oltr_error *error)
{
    static const oltr_run_options plain = {.threads = 0};
    oltr_status status = check(points, n_points, options, results, error);
    if (status != OLTR_OK)
        return status;
    run r = {.points = points,
             .options = options ? options : &plain,
             .results = results,
             .error = {OLTR_OK, ""}};
    r.work = workload_new(points, n_points, results, r.options->shard);
    if (!r.work)
        return set_error(error, OLTR_ENOMEM, "no memory for a run");
    init_wait(&r);
    status = run_threads(&r, error);
    pthread_mutex_destroy(&r.lock);
    pthread_cond_destroy(&r.changed);
    workload_free(r.work);
    if (status != OLTR_OK)
        return status;
    if (r.error.code != OLTR_OK)
        return set_error(error, r.error.code, "%s", r.error.msg);
    if (r.stopped)
        return set_error(error, OLTR_EINTERRUPTED, "%s", oltr_strerror(OLTR_EINTERRUPTED));
    return OLTR_OK;
}
