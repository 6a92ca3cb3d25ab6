/* simulate.c - runs the simulation of a job; see simulate.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/simulate.h"

#include "app/args/complain.h"
#include "app/run/progress.h"
#include "app/run/stop.h"
#include "app/run/team.h"
#include "engine/base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

oltr_results *results_for(const struct job *job)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *results = oltr_plan_results(job->config.plan, &error);
    if (!results)
        complain_failed(&error);
    return results;
}

oltr_shard shard_of(const struct job *job)
{
    const struct team *team = team_of_process();
    return team->size > 1 ? (oltr_shard){team->rank, team->size} : job->shard;
}

/* ---- the partial file */

void remove_partial(const char *partial)
{
    temp_file_clean(partial);
    if (unlink(partial) != 0 && errno != ENOENT)
        complain(0, "%s is not needed any more, but cannot be removed: %s", partial,
                 strerror(errno));
}

static int load_partial(const struct job *job, const char *partial)
{
    oltr_error error = {OLTR_OK, ""};
    bool there = access(partial, F_OK) == 0;
    if (there && !job->resume && !job->quiet)
        complain(0, "starting anew: %s of an earlier run is not used; --resume would use it",
                 partial);
    if (!there && job->resume && !job->quiet)
        complain(0, "there is no %s to resume; starting from the beginning", partial);
    if (!there || !job->resume || oltr_results_load(job->results, partial, &error) == OLTR_OK)
        return EXIT_OK;
    return job->watch ? complain(EXIT_OK, "not resumed, but run from the beginning: %s", error.msg)
                      : complain(EXIT_FAILED, "cannot resume: %s", error.msg);
}

static int interrupted(const struct job *job, const char *partial)
{
    unsigned long long done = progress_done(job->config.plan, job->results),
                       total = progress_total(job->config.plan, shard_of(job));
    if (done > 0)
        return complain(EXIT_STOPPED,
                        "stopped after %llu of %llu replication%s; they are kept in %s\n"
                        "oltr: the same command with --resume goes on from there",
                        done, total, plural_s(total), partial);
    remove_partial(partial);
    if (total == 1)
        return complain(EXIT_STOPPED,
                        "stopped before its one replication was finished; nothing is kept");
    return complain(EXIT_STOPPED,
                    "stopped before the first of %llu replications was finished; nothing is kept",
                    total);
}

/* ---- this process */

static int run_shard(struct job *job, const char *partial)
{
    oltr_error error = {OLTR_OK, ""};
    struct progress line = progress_begin(job->config.plan);
    bool has_line = !job->quiet && !job->watch && team_leads();
    struct job_watch watch = {has_line ? progress_show : NULL, &line, progress_every(&line)};
    if (job->watch)
        watch = *job->watch;
    oltr_run_options options = {
        .threads = job->threads,
        .partial = partial,
        .progress = watch.progress,
        .every = watch.every,
        .stop = should_stop,
        .context = watch.context,
        .shard = shard_of(job),
    };
    oltr_status status = oltr_run(job->config.plan->points, job->config.plan->n_points, &options,
                                  job->results, &error);
    if (has_line)
        progress_end(&line);
    if (status == OLTR_EINTERRUPTED)
        return job->watch ? EXIT_STOPPED : interrupted(job, partial);
    return status == OLTR_OK ? EXIT_OK : complain_failed(&error);
}

/* ---- all ranks */

/* Adds what rank `rank` sends. */
static int gather_from(const struct job *job, uint32_t rank)
{
    oltr_error error = {OLTR_ENOMEM, "out of memory"};
    char name[40];
    size_t size = 0;
    unsigned char *bytes = team_of_process()->receive(rank, &size);
    oltr_results *part = bytes ? results_for(job) : NULL;
    oltr_status status = OLTR_ENOMEM;
    snprintf(name, sizeof name, "the results of rank %u", (unsigned)rank);
    if (part)
        status = oltr_results_unpack(part, bytes, size, name, &error);
    if (status == OLTR_OK)
        status = oltr_results_merge(job->results, part, &error);
    oltr_results_free(part);
    free(bytes);
    return status == OLTR_OK ? EXIT_OK : complain_failed(&error);
}

static int send_to_leader(const oltr_results *results)
{
    size_t size = oltr_results_size(results);
    unsigned char *bytes = malloc(size);
    if (!bytes) { /* the leader blocks until it receives a message */
        team_of_process()->send("", 0);
        return complain_no_memory();
    }
    oltr_results_pack(results, bytes);
    bool sent = team_of_process()->send(bytes, size);
    free(bytes);
    return sent ? EXIT_OK : complain(EXIT_FAILED, "the results could not be sent to rank 0");
}

static int gather(const struct job *job)
{
    int code = EXIT_OK;
    if (!team_leads())
        return send_to_leader(job->results);
    for (uint32_t rank = 1; rank < team_of_process()->size; rank++) {
        int got = gather_from(job, rank);
        code = got != EXIT_OK ? got : code;
    }
    return code;
}

int simulate(struct job *job, const char *partial)
{
    const struct team *team = team_of_process();
    double start = progress_now();
    int code = load_partial(job, partial);
    if (code == EXIT_OK)
        code = run_shard(job, partial);
    code = team->worst(code);
    if (code == EXIT_OK && team->size > 1)
        code = team->worst(gather(job));
    job->seconds = progress_now() - start;
    return code;
}
