/* job.c - runs one experiment: reads its file, loads its data, simulates, writes and draws.
 *
 * Mistakes in the request are reported before the first round is simulated.  Results are written
 * before figures, so that a failure of gnuplot costs no results.  A job may be one shard of
 * several, or a rank of a team (team.h): then each process computes a part, and the parts are added
 * up in the end. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/job.h"

#include "app/args/complain.h"
#include "app/run/finished.h"
#include "app/run/full_size.h"
#include "app/run/output.h"
#include "app/run/prepare.h"
#include "app/run/shard.h"
#include "app/run/simulate.h"
#include "app/run/stop.h"
#include "app/run/team.h"
#include "app/run/unread.h"
#include "report/figures/draw.h"
#include "report/io/whole_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- before the simulation */

static int read_experiment(struct job *job)
{
    struct text text = {0};
    oltr_error error = {OLTR_OK, ""};
    bool is_stdin = strcmp(job->file, "-") == 0;
    const char *name = is_stdin ? "stdin" : job->file;
    if (is_stdin && team_of_process()->size > 1) /* mpirun gives it to rank 0 alone */
        return complain(EXIT_USAGE, "with MPI an experiment cannot be read from standard input: "
                                    "give the name of a file");
    if (!is_stdin && is_folder(job->file))
        return complain(EXIT_USAGE,
                        "%s is a folder; give the experiment file, like %s/experiment.yaml",
                        job->file, job->file);
    oltr_status status =
        is_stdin ? file_read_stream(stdin, name, &text, &error) : file_read(name, &text, &error);
    if (status == OLTR_OK)
        status = config_open(name, text.bytes, text.length, &job->config, &error);
    text_free(&text);
    int code = status == OLTR_OK ? EXIT_OK
               : stop_asked()    ? stopped_early() /* a signal ends the reading of a pipe */
                                 : complain_of(&error);
    if (code == EXIT_OK && job->full)
        code = full_size_choose(job);
    if (code == EXIT_OK && config_read(&job->config, &job->overrides, &error) != OLTR_OK)
        code = complain_of(&error);
    return code;
}

/* Running a folder's own experiment.yaml into the same folder must not change that file. */
static int check_same_file(struct job *job)
{
    struct stat input, output;
    char *path = file_join(job->folder, "experiment.yaml");
    job->keep_experiment = path && stat(job->file, &input) == 0 && stat(path, &output) == 0 &&
                           input.st_dev == output.st_dev && input.st_ino == output.st_ino;
    free(path);
    if (job->keep_experiment && job->overrides.count > 0)
        return complain(
            EXIT_USAGE,
            "%s would be overwritten by its changed copy; choose another folder with --output",
            job->file);
    return EXIT_OK;
}

/* Results of a finished run are replaced only by --force. */
static int check_finished(struct job *job)
{
    bool whole = finished_there(job->folder), shard = shard_is_there(job);
    if (!whole && (!shard || job->resume))
        return EXIT_OK; /* resume_shard() reads a finished shard when the data are there */
    if (!job->resume)
        return complain(
            EXIT_USAGE,
            "%s holds the results of a finished %s: choose another folder with --output, or "
            "replace them with --force",
            job->folder, whole ? "run" : "shard");
    job->is_finished = finished_same(job->folder, &job->config, job->threads, &job->is_drawn);
    if (!job->is_finished && !job->force)
        return complain(
            EXIT_USAGE,
            "%s holds the finished results of another experiment, of other settings or data, or of "
            "another version of oltr: choose another folder with --output, or replace them with "
            "--force",
            job->folder);
    return EXIT_OK;
}

/* Reads the experiment and makes the folder: all that can fail before anything is computed. */
static int begin(struct job *job)
{
    oltr_error error = {OLTR_OK, ""};
    int code = job->config.plan ? EXIT_OK : read_experiment(job);
    if (code == EXIT_OK)
        code = check_same_file(job);
    if (code == EXIT_OK && job->shard.count > 0 && job->config.is_concentration)
        code = complain(EXIT_USAGE, "this experiment has no simulation to split into shards");
    if (code == EXIT_OK && (!job->force || job->watch))
        code = check_finished(job);
    if (code == EXIT_OK && !job->is_finished &&
        (file_make_folder(job->folder, &error) != OLTR_OK ||
         file_probe_folder(job->folder, &error) != OLTR_OK))
        code = complain_failed(&error);
    return code;
}

/* In a team the leader goes first, so that the others find the scores that it has written.
 * `other`: a folder that may have them too, or NULL. */
static int get_data(struct job *job, const char *other)
{
    oltr_error error = {OLTR_OK, ""};
    bool leads = team_leads();
    oltr_status status = leads ? prepare_data(job, other, &error) : OLTR_OK;
    if (team_of_process()->worst(status == OLTR_OK ? EXIT_OK : EXIT_FAILED) == EXIT_OK && !leads)
        status = prepare_data(job, other, &error);
    if (status == OLTR_EINTERRUPTED && job->watch)
        return EXIT_STOPPED; /* the caller reports it */
    if (status == OLTR_EINTERRUPTED)
        return stopped_early();
    return status == OLTR_OK ? EXIT_OK : complain_of(&error);
}

/* ---- after the simulation */

static int draw(const struct job *job, uint32_t *drawn)
{
    oltr_error error = {OLTR_OK, ""};
    if (draw_folder(job->folder, stop_asked, drawn, &error) == OLTR_OK)
        return EXIT_OK;
    return complain(error.code == OLTR_EINTERRUPTED ? EXIT_STOPPED : EXIT_FAILED,
                    "the results are in %s, but not all figures: %s", job->folder, error.msg);
}

/* Writes, draws, and says where everything is.  `partial`: NULL where nothing was simulated.  If
 * the results cannot be written, their sums are kept there; those of a team fit no partial file. */
static int finish(const struct job *job, const char *partial)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t drawn = 0;
    bool alone = team_of_process()->size == 1;
    if (finished_remove(job->folder, &error) != OLTR_OK || output_write(job, &error) != OLTR_OK) {
        complain_failed(&error);
        if (partial && alone && oltr_results_save(job->results, partial, NULL) == OLTR_OK)
            complain(0,
                     "the simulation is kept in %s; the same command with --resume writes its "
                     "results",
                     partial);
        return EXIT_FAILED;
    }
    if (partial && alone)
        remove_partial(partial);
    if (job->results && !job->quiet) {
        output_table(job);
        unread_warn(&job->config);
    }
    int code = job->figures ? draw(job, &drawn) : EXIT_OK;
    if (!job->quiet && code == EXIT_OK)
        printf("results%s in %s\n",
               drawn == 1  ? " and 1 figure"
               : drawn > 1 ? " and figures"
                           : "",
               job->folder);
    return code;
}

/* A shard leaves its sums, and the experiment they belong to. */
static int finish_shard(const struct job *job)
{
    oltr_error error = {OLTR_OK, ""};
    char *path = shard_file(job->folder, job->shard);
    if (!path)
        return complain_no_memory();
    oltr_status status = output_experiment(job, &error);
    if (status == OLTR_OK)
        status = oltr_results_save(job->results, path, &error);
    if (status == OLTR_OK && !job->quiet)
        printf("shard %u of %u is in %s; when all are done, `oltr merge` with their folders puts "
               "them together\n",
               (unsigned)job->shard.index + 1, (unsigned)job->shard.count, path);
    free(path);
    return status == OLTR_OK ? EXIT_OK : complain_failed(&error);
}

/* ---- an earlier run */

/* What --resume does with a run that is finished: draws what is missing. */
static int say_finished(const struct job *job)
{
    uint32_t drawn = 0;
    int code = EXIT_OK;
    if (!team_leads())
        return EXIT_OK;
    if (job->figures && !job->is_drawn)
        code = draw(job, &drawn);
    if (code == EXIT_OK && !job->quiet)
        printf("already finished: the results are in %s%s\n", job->folder,
               drawn > 0 ? "; the figures are drawn" : "");
    return code;
}

/* A finished shard must be one of this experiment. */
static int resume_shard(const struct job *job)
{
    oltr_error error = {OLTR_OK, ""};
    char *path = shard_file(job->folder, job->shard);
    int code = path ? EXIT_OK : complain_no_memory();
    if (path && oltr_results_load(job->results, path, &error) != OLTR_OK)
        code =
            complain(EXIT_USAGE,
                     "%s; choose another folder with --output, or replace the shard with --force",
                     error.msg);
    else if (path && !job->quiet)
        printf("already finished: shard %u of %u is in %s\n", (unsigned)job->shard.index + 1,
               (unsigned)job->shard.count, path);
    free(path);
    return code;
}

/* ---- the whole */

static int run_regret(struct job *job)
{
    const struct team *team = team_of_process();
    char *partial = shard_partial(job->folder, shard_of(job));
    job->results = partial ? results_for(job) : NULL;
    if (!partial)
        complain_no_memory();
    int code = team->worst(job->results ? EXIT_OK : EXIT_FAILED);
    if (code == EXIT_OK && job->resume && !job->force && shard_is_there(job)) {
        free(partial); /* a team has no shards to resume */
        return resume_shard(job);
    }
    if (code == EXIT_OK && job->full)
        code = team->worst(full_size_announce(job));
    if (code == EXIT_OK)
        code = simulate(job, partial);
    if (code == EXIT_OK && team_leads())
        code = job->shard.count > 0 ? finish_shard(job) : finish(job, partial);
    code = team->worst(code);
    if (code == EXIT_OK)
        remove_partial(partial);
    free(partial);
    return code;
}

int job_run(struct job *job)
{
    stop_catch_signals();
    int code = team_of_process()->worst(begin(job));
    if (code == EXIT_OK && job->is_finished)
        return say_finished(job);
    if (code == EXIT_OK)
        code = team_of_process()->worst(get_data(job, NULL));
    if (code == EXIT_OK && !job->config.is_concentration)
        code = run_regret(job);
    else if (code == EXIT_OK && team_leads())
        code = finish(job, NULL);
    return code;
}

int job_merge(struct job *job, uint32_t n_folders, const char *const *shards)
{
    int code = begin(job);
    if (code == EXIT_OK && job->config.is_concentration)
        code = complain(EXIT_USAGE, "%s has no simulation: there is nothing to merge", job->file);
    if (code == EXIT_OK)
        code = get_data(job, shards[0]);
    if (code == EXIT_OK)
        code = shards_merge(job, n_folders, shards);
    return code == EXIT_OK ? finish(job, NULL) : code;
}

void job_free(struct job *job)
{
    oltr_results_free(job->results);
    config_free(&job->config);
    prepared_free(job->data);
    pool_free(&job->pool);
    *job = (struct job){0};
}
