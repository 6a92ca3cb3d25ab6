/* job.c - an experiment file in, a folder of results out.
 *
 * Everything that can be wrong with the request is found before the first round is simulated.  The
 * results are written before the figures, so that no trouble with gnuplot can cost a run.  A run
 * may be one of several shards, or a rank of a team (team.h): then what is computed is a part, and
 * the parts are put together in the end. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/job.h"

#include "app/args/command.h"
#include "app/run/finished.h"
#include "app/run/output.h"
#include "app/run/prepare.h"
#include "app/run/progress.h"
#include "engine/base/file.h"
#include "report/figures/draw.h"
#include "report/io/whole_file.h"
#include "engine/base/quote.h"
#include "app/run/shard.h"
#include "app/run/stop.h"
#include "app/run/team.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_leader(void)
{
    return team_of_process()->rank == 0;
}

/* ---- the experiment */

static int read_config(const struct job *job, struct config *config)
{
    struct text text = {0};
    oltr_error error = {OLTR_OK, ""};
    bool is_stdin = strcmp(job->file, "-") == 0;
    const char *name = is_stdin ? "stdin" : job->file;
    if (is_stdin && team_of_process()->size > 1) { /* mpirun hands it to rank 0 alone */
        return is_leader()
                   ? complain(EXIT_USAGE,
                              "only one rank gets the standard input: give the name of a file")
                   : EXIT_USAGE;
    }
    if (!is_stdin && is_folder(job->file))
        return complain(EXIT_USAGE,
                        "%s is a folder; give the experiment file, like %s/experiment.yaml",
                        job->file, job->file);
    struct overrides overrides = {job->n_overrides, job->override};
    oltr_status status =
        is_stdin ? file_read_stream(stdin, name, &text, &error) : file_read(name, &text, &error);
    if (status == OLTR_OK)
        status = config_parse(name, text.bytes, text.length, &overrides, config, &error);
    text_free(&text);
    return status == OLTR_OK ? EXIT_OK : complain_of(&error);
}

/* Running a folder's own experiment.yaml into the same folder must not overwrite the file that is
 * being run. */
static int check_same_file(const struct job *job, bool *same)
{
    struct stat input, output;
    char *path = file_join(job->folder, "experiment.yaml");
    *same = path && stat(job->file, &input) == 0 && stat(path, &output) == 0 &&
            input.st_dev == output.st_dev && input.st_ino == output.st_ino;
    free(path);
    if (*same && job->n_overrides > 0)
        return complain(
            EXIT_USAGE,
            "%s would be overwritten by its changed copy; choose another folder with --output",
            job->file);
    return EXIT_OK;
}

/* ---- the simulation */

/* A rank of a team has the shard of its number. */
static oltr_shard shard_of(const struct job *job)
{
    const struct team *team = team_of_process();
    return team->size > 1 ? (oltr_shard){team->rank, team->size} : job->shard;
}

static void show_progress(void *context, const oltr_progress *state)
{
    progress_show(context, state);
}

static int should_stop(void *context)
{
    (void)context;
    return stop_asked();
}

static int may_go_on(void)
{
    return !stop_asked();
}

static void remove_partial(const char *partial)
{
    temp_file_clean(partial);
    if (unlink(partial) != 0 && errno != ENOENT)
        complain(0, "%s is not needed any more, but cannot be removed: %s", partial,
                 strerror(errno));
}

static int interrupted(const struct job *job, const struct config *config, const char *partial,
                       const oltr_results *results)
{
    uint64_t done = progress_done(config, results), total = progress_total(config, shard_of(job));
    if (done == 0) {
        remove_partial(partial);
        return total == 1
                   ? complain(EXIT_STOPPED,
                              "stopped before its one replication was finished; nothing is kept")
                   : complain(EXIT_STOPPED,
                              "stopped before the first of %llu replications was finished; nothing "
                              "is kept",
                              (unsigned long long)total);
    }
    return complain(EXIT_STOPPED,
                    "stopped after %llu of %llu replication%s; what is done is kept in %s\n"
                    "oltr: the same command with --resume goes on from there",
                    (unsigned long long)done, (unsigned long long)total, plural_s(total), partial);
}

static int load_partial(const struct job *job, const char *partial, oltr_results *results)
{
    oltr_error error = {OLTR_OK, ""};
    bool there = access(partial, F_OK) == 0;
    if (there && !job->resume && !job->quiet)
        complain(0, "starting anew; what an earlier run left in %s is not used (--resume would)",
                 partial);
    if (!there && job->resume && !job->quiet)
        complain(0, "there is no %s to resume; starting from the beginning", partial);
    if (!there || !job->resume || oltr_results_load(results, partial, &error) == OLTR_OK)
        return EXIT_OK;
    if (job->watch)
        return complain(EXIT_OK, "not resumed, but run from the beginning: %s", error.msg);
    return complain(EXIT_FAILED, "cannot resume: %s", error.msg);
}

static int simulate(const struct job *job, const struct config *config, const char *partial,
                    oltr_results *results)
{
    oltr_error error = {OLTR_OK, ""};
    bool shown = !job->quiet && is_leader();
    struct progress progress = progress_begin(config);
    oltr_run_options options = {
        .threads = job->threads,
        .partial = partial,
        .progress = job->watch ? job->watch->progress
                    : shown    ? show_progress
                               : NULL,
        .every = job->watch ? job->watch->every : progress_every(&progress),
        .stop = should_stop,
        .context = job->watch ? job->watch->context : &progress,
        .shard = shard_of(job),
    };
    oltr_status status = oltr_run(config->points, config->n_points, &options, results, &error);
    if (shown)
        progress_end(&progress);
    if (status == OLTR_EINTERRUPTED && job->watch)
        return EXIT_STOPPED;
    if (status == OLTR_EINTERRUPTED)
        return interrupted(job, config, partial, results);
    return status == OLTR_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", error.msg);
}

static double now(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- putting parts together */

static oltr_results *make_results(const struct config *config)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *results = oltr_plan_results(config->source, &error);
    if (!results)
        complain(EXIT_FAILED, "%s", error.msg);
    return results;
}

/* Adds what rank `rank` sends. */
static int gather_from(const struct config *config, uint32_t rank, oltr_results *results)
{
    oltr_error error = {OLTR_ENOMEM, "out of memory"};
    char name[40];
    size_t size = 0;
    unsigned char *bytes = team_of_process()->receive(rank, &size);
    oltr_results *part = bytes ? make_results(config) : NULL;
    oltr_status status = OLTR_ENOMEM;
    snprintf(name, sizeof name, "what rank %u sent", (unsigned)rank);
    if (part)
        status = oltr_results_unpack(part, bytes, size, name, &error);
    if (status == OLTR_OK)
        status = oltr_results_merge(results, part, &error);
    oltr_results_free(part);
    free(bytes);
    return status == OLTR_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", error.msg);
}

static int hand_over(const oltr_results *results)
{
    size_t size = oltr_results_size(results);
    unsigned char *bytes = malloc(size);
    if (!bytes) { /* rank 0 waits for something */
        (void)team_of_process()->send("", 0);
        return complain(EXIT_FAILED, "out of memory");
    }
    oltr_results_pack(results, bytes);
    bool sent = team_of_process()->send(bytes, size);
    free(bytes);
    return sent ? EXIT_OK : complain(EXIT_FAILED, "the results could not be sent to rank 0");
}

/* Everybody's results to rank 0. */
static int gather(const struct config *config, oltr_results *results)
{
    int code = EXIT_OK;
    if (!is_leader())
        return hand_over(results);
    for (uint32_t rank = 1; rank < team_of_process()->size; rank++) {
        int got = gather_from(config, rank, results);
        code = got != EXIT_OK ? got : code;
    }
    return code;
}

static int merge_file(const struct config *config, const char *path, oltr_results *results)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *part = make_results(config);
    if (!part)
        return EXIT_FAILED;
    oltr_status status = oltr_results_load(part, path, &error);
    if (status == OLTR_OK && oltr_results_merge(results, part, &error) != OLTR_OK) {
        oltr_results_free(part);
        return complain(EXIT_FAILED, "%s: %s; give every shard once", path, error.msg);
    }
    oltr_results_free(part);
    if (status == OLTR_EMISMATCH)
        return complain(
            EXIT_FAILED,
            "%s is a shard of another experiment, of this one with other settings, or of data that "
            "have changed; run it again with the experiment.yaml of the first folder",
            path);
    return status == OLTR_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", error.msg);
}

static int merge_folder(const struct config *config, const char *folder, oltr_results *results,
                        uint32_t *files)
{
    DIR *open = opendir(folder);
    int code = EXIT_OK;
    if (!open)
        return complain(EXIT_USAGE, "cannot look into %s: %s", folder, strerror(errno));
    for (const struct dirent *entry; code == EXIT_OK && (entry = readdir(open));) {
        if (shard_is_file(entry->d_name)) {
            char *path = file_join(folder, entry->d_name);
            code =
                path ? merge_file(config, path, results) : complain(EXIT_FAILED, "out of memory");
            free(path);
            ++*files;
        }
    }
    closedir(open);
    return code;
}

static int merge_folders(const struct config *config, uint32_t n_folders, const char *const *folder,
                         oltr_results *results)
{
    uint32_t files = 0;
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < n_folders; i++)
        code = merge_folder(config, folder[i], results, &files);
    uint64_t done = progress_done(config, results),
             total = progress_total(config, (oltr_shard){0, 0});
    if (code == EXIT_OK && files == 0)
        return complain(
            EXIT_USAGE,
            "there is no shard-1-of-2.oltr or the like; `oltr run --shard 1/2` makes them");
    if (code == EXIT_OK && done < total)
        return complain(
            EXIT_FAILED,
            "%llu of %llu replication%s missing: run the other shards, and name their folders",
            (unsigned long long)(total - done), (unsigned long long)total,
            total == 1 ? " is" : "s are");
    return code;
}

/* ---- the end */

static int draw(const struct run *run, uint32_t *drawn)
{
    oltr_error error = {OLTR_OK, ""};
    if (draw_folder(run->folder, may_go_on, drawn, &error) == OLTR_OK)
        return EXIT_OK;
    return complain(error.code == OLTR_EINTERRUPTED ? EXIT_STOPPED : EXIT_FAILED,
                    "the results are in %s, but not all figures: %s", run->folder, error.msg);
}

/* The results could not be written: at least the sums must not be lost.  Those of a team are in no
 * one's partial file. */
static void keep_sums(const struct run *run, const char *partial)
{
    if (team_of_process()->size == 1 && oltr_results_save(run->results, partial, NULL) == OLTR_OK)
        complain(
            0,
            "what was simulated is kept in %s; the same command with --resume writes the results",
            partial);
}

/* Writes, draws, and says where everything is.  `partial`: NULL where nothing was simulated. */
static int finish(const struct job *job, const struct run *run, const char *partial)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t drawn = 0;
    if (finished_remove(run->folder, &error) != OLTR_OK || output_write(run, &error) != OLTR_OK) {
        complain(EXIT_FAILED, "%s", error.msg);
        if (partial)
            keep_sums(run, partial);
        return EXIT_FAILED;
    }
    if (partial && team_of_process()->size == 1)
        remove_partial(partial);
    if (run->results && !job->quiet)
        output_table(run);
    int code = job->figures ? draw(run, &drawn) : EXIT_OK;
    if (!job->quiet && code == EXIT_OK)
        printf("results%s in %s\n",
               drawn == 1  ? " and 1 figure"
               : drawn > 1 ? " and figures"
                           : "",
               run->folder);
    return code;
}

/* A shard leaves its sums, and the experiment they belong to. */
static int finish_shard(const struct job *job, const struct run *run)
{
    oltr_error error = {OLTR_OK, ""};
    char *path = shard_file(run->folder, job->shard);
    oltr_status status =
        !path ? set_error(&error, OLTR_ENOMEM, "out of memory") : output_experiment(run, &error);
    if (status == OLTR_OK)
        status = oltr_results_save(run->results, path, &error);
    if (status == OLTR_OK && !job->quiet)
        printf("shard %u of %u is in %s; when all are done, `oltr merge` with their folders puts "
               "them together\n",
               (unsigned)job->shard.index + 1, (unsigned)job->shard.count, path);
    free(path);
    return status == OLTR_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", error.msg);
}

/* ---- an earlier run */

static bool shard_is_there(const struct job *job)
{
    char *path = job->shard.count > 0 ? shard_file(job->folder, job->shard) : NULL;
    bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

/* A finished folder, or a finished shard, is not overwritten. */
static int check_finished(const struct job *job, const struct config *config, struct run *run)
{
    bool whole = finished_there(job->folder), shard = shard_is_there(job);
    if (!whole && (!shard || job->resume))
        return EXIT_OK; /* resume_shard() looks into a shard, when the data are there */
    if (!job->resume)
        return complain(EXIT_USAGE,
                        "%s holds the results of a finished %s: choose another folder with "
                        "--output, or replace them with --force",
                        job->folder, whole ? "run" : "shard");
    run->is_finished = true;
    if (!finished_same(job->folder, config, job->threads, &run->is_drawn))
        return complain(EXIT_USAGE,
                        "%s holds the finished results of another experiment, of other settings or "
                        "data, or of another version of oltr: choose another folder with --output, "
                        "or replace them with --force",
                        job->folder);
    return EXIT_OK;
}

/* What --resume does with a run that is finished: draws what is missing. */
static int say_finished(const struct job *job, const struct run *run)
{
    uint32_t drawn = 0;
    int code = EXIT_OK;
    if (!is_leader())
        return EXIT_OK;
    if (job->figures && !run->is_drawn)
        code = draw(run, &drawn);
    if (code == EXIT_OK && !job->quiet)
        printf("already finished: the results are in %s%s\n", run->folder,
               drawn > 0 ? "; the figures are drawn" : "");
    return code;
}

/* *done: the shard is there already, of this very experiment. */
static int resume_shard(const struct job *job, oltr_results *results, bool *done)
{
    oltr_error error = {OLTR_OK, ""};
    int code = EXIT_OK;
    *done = job->resume && !job->force && shard_is_there(job);
    char *path = *done ? shard_file(job->folder, job->shard) : NULL;
    if (*done && (!path || oltr_results_load(results, path, &error) != OLTR_OK)) {
        code =
            complain(EXIT_USAGE,
                     "%s; choose another folder with --output, or replace the shard with --force",
                     path ? error.msg : "out of memory");
    } else if (*done && !job->quiet) {
        printf("already finished: shard %u of %u is in %s\n", (unsigned)job->shard.index + 1,
               (unsigned)job->shard.count, path);
    }
    free(path);
    return code;
}

/* ---- the whole */

static int run_part(const struct job *job, struct run *run, const char *partial,
                    oltr_results *results)
{
    const struct team *team = team_of_process();
    double start = now();
    bool done = false;
    int code = resume_shard(job, results, &done);
    if (done)
        return code; /* a team has no shards to resume */
    code = load_partial(job, partial, results);
    if (code == EXIT_OK) {
        stop_catch_signals();
        code = simulate(job, run->config, partial, results);
    }
    code = team->worst(code);
    if (code == EXIT_OK && team->size > 1)
        code = team->worst(gather(run->config, results));
    run->seconds = now() - start;
    run->results = results;
    if (code == EXIT_OK && is_leader())
        code = job->shard.count > 0 ? finish_shard(job, run) : finish(job, run, partial);
    code = team->worst(code);
    if (code == EXIT_OK)
        remove_partial(partial);
    return code;
}

static int run_regret(const struct job *job, struct run *run)
{
    char *partial = shard_partial(job->folder, shard_of(job));
    oltr_results *results = partial ? make_results(run->config) : NULL;
    int code = team_of_process()->worst(results ? EXIT_OK : EXIT_FAILED);
    if (!partial)
        complain(EXIT_FAILED, "out of memory");
    if (code == EXIT_OK)
        code = run_part(job, run, partial, results);
    oltr_results_free(results);
    free(partial);
    return code;
}

static struct run run_of(const struct job *job, const struct config *config)
{
    return (struct run){
        .config = config,
        .file = job->file,
        .folder = job->folder,
        .n_flags = job->n_overrides,
        .flag = job->flag,
        .threads = job->threads,
    };
}

/* Of a team rank 0 goes first, so that the others find the scores that it has left. */
static int get_data(const struct job *job, const char *other, struct config *config,
                    struct prepared **data)
{
    oltr_error error = {OLTR_OK, ""};
    bool leader = is_leader();
    struct prepare_options options = {job->folder, other, job->threads, job->quiet || !leader,
                                      leader};
    oltr_status status = leader ? prepare_data(config, &options, data, &error) : OLTR_OK;
    if (team_of_process()->worst(status == OLTR_OK ? EXIT_OK : EXIT_FAILED) == EXIT_OK && !leader)
        status = prepare_data(config, &options, data, &error);
    if (status == OLTR_EINTERRUPTED && job->watch)
        return EXIT_STOPPED; /* who looks on says it */
    return status == OLTR_OK ? EXIT_OK : complain_of(&error);
}

/* Reads the experiment and makes the folder: all that can fail before anything is computed. */
static int begin(const struct job *job, struct config *config, struct run *run)
{
    oltr_error error = {OLTR_OK, ""};
    int code = read_config(job, config);
    *run = run_of(job, config);
    if (code == EXIT_OK)
        code = check_same_file(job, &run->keep_experiment);
    if (code == EXIT_OK && job->shard.count > 0 && config->kind != CONFIG_REGRET)
        code = complain(EXIT_USAGE,
                        "this experiment simulates nothing that could be split into shards");
    if (code == EXIT_OK && !job->force)
        code = check_finished(job, config, run);
    if (code == EXIT_OK && !run->is_finished &&
        (file_make_folder(job->folder, &error) != OLTR_OK ||
         file_probe_folder(job->folder, &error) != OLTR_OK))
        code = complain(EXIT_FAILED, "%s", error.msg);
    return code;
}

int job_run(const struct job *job)
{
    struct config config = {0};
    struct run run;
    struct prepared *data = NULL;
    int code = team_of_process()->worst(begin(job, &config, &run));
    if (code == EXIT_OK && run.is_finished) {
        code = say_finished(job, &run);
        config_free(&config);
        return code;
    }
    if (code == EXIT_OK) {
        code = team_of_process()->worst(get_data(job, NULL, &config, &data));
        run.data = data;
    }
    if (code == EXIT_OK && config.kind == CONFIG_REGRET)
        code = run_regret(job, &run);
    else if (code == EXIT_OK && is_leader())
        code = finish(job, &run, NULL);
    config_free(&config);
    prepared_free(data);
    return code;
}

int job_merge(const struct job *job, uint32_t n_folders, const char *const *shards)
{
    struct config config = {0};
    struct run run;
    struct prepared *data = NULL;
    int code = begin(job, &config, &run);
    oltr_results *results = NULL;
    if (code == EXIT_OK && config.kind != CONFIG_REGRET)
        code = complain(EXIT_USAGE, "%s simulates nothing: there is nothing to merge", job->file);
    if (code == EXIT_OK) {
        code = get_data(job, shards[0], &config, &data);
        run.data = data;
    }
    if (code == EXIT_OK) {
        results = make_results(&config);
        code = results ? merge_folders(&config, n_folders, shards, results) : EXIT_FAILED;
    }
    if (code == EXIT_OK) {
        run.results = results;
        code = finish(job, &run, NULL);
    }
    oltr_results_free(results);
    config_free(&config);
    prepared_free(data);
    return code;
}
