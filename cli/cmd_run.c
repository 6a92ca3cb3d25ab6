/* cmd_run.c - `oltr run`: an experiment file in, a folder of results out.
 *
 * Everything that can be wrong with the request is found before the first round is simulated.  The results are written
 * before the figures, so that no trouble with gnuplot can cost a run. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"
#include "output.h"
#include "progress.h"
#include "report/draw.h"
#include "report/shown.h"
#include "report/files.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const struct option run_options[] = {
    {'o', "output", "DIR", NULL, "where the results go (default: out/ and the name of FILE without its ending)"},
    {'s', "seed", "N", "seed", "the seed of all random numbers"},
    {'j', "threads", "N", NULL, "how many threads work (default, or 0: one for each processor)"},
    {'K', "slots", "N", "slots", "how many items are shown"},
    {0, "rounds", "N", "rounds", "how many rounds are played"},
    {0, "replications", "N", "replications", "how often everything is repeated"},
    {0, "checkpoints", "N", "checkpoints", "how many rounds are recorded; or a list, [10, 100]"},
    {0, "set", "KEY=VALUE", NULL,
     "set any key of the file, like world.items=100 or policies.GTS.sigma=1; may be given often"},
    {0, "resume", NULL, NULL, "go on with a run that was stopped"},
    {0, "no-figures", NULL, NULL, "draw nothing"},
    {'q', "quiet", NULL, NULL, "no progress and no table; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- stopping ------------------------------------------------------------------------------------------- */

static atomic_int stop_asked; /* the one variable that a signal handler can reach */

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    atomic_store(&stop_asked, 1);
}

/* SA_RESETHAND: the second signal finds the default, and ends the program. */
static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ask_to_stop;
    action.sa_flags = (int)SA_RESETHAND;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static int should_stop(void *context)
{
    (void)context;
    return atomic_load(&stop_asked);
}

static int may_go_on(void)
{
    return !atomic_load(&stop_asked);
}

/* ---- the request ---------------------------------------------------------------------------------------- */

struct request {
    const struct arguments *arguments;
    const char *file;
    char *folder, *partial;
    bool quiet, resume, figures;
    uint32_t threads;
    struct override *override; /* (n_overrides) what flags change in the file */
    char **flag;               /* (n_overrides) the same in words: "--rounds 100" */
    uint32_t n_overrides;
    struct pool pool; /* the strings of the overrides */
};

static void request_free(struct request *request)
{
    for (uint32_t i = 0; request->flag != NULL && i < request->n_overrides; i++) {
        free(request->flag[i]);
    }
    free(request->flag);
    free(request->override);
    free(request->folder);
    free(request->partial);
    pool_free(&request->pool);
}

static char *flag_text(const struct given *given)
{
    size_t size = strlen(given->option->name) + strlen(given->value) + 4;
    char *text = malloc(size);
    if (text != NULL) {
        (void)snprintf(text, size, "--%s %s", given->option->name, given->value);
    }
    return text;
}

/* "--set KEY=VALUE", or a flag that stands for a key. */
static int add_override(struct request *request, const struct given *given)
{
    struct override *override = &request->override[request->n_overrides];
    char *flag = flag_text(given), word[SHOWN_SIZE];
    request->flag[request->n_overrides] = flag;
    if (flag == NULL) {
        return complain(EXIT_FAILED, "out of memory");
    }
    request->n_overrides++;
    const char *equals = strchr(given->value, '=');
    bool is_set = given->option->key == NULL;
    if (is_set && (equals == NULL || equals == given->value)) {
        return complain(EXIT_USAGE, "--set needs KEY=VALUE, like --set world.items=100, not `%s`",
                        shown(given->value, word));
    }
    const char *key =
        is_set ? pool_text(&request->pool, given->value, (size_t)(equals - given->value)) : given->option->key;
    (void)shown(flag, word);
    const char *origin = pool_text(&request->pool, word, strlen(word));
    if (key == NULL || origin == NULL) {
        return complain(EXIT_FAILED, "out of memory");
    }
    *override = (struct override){.origin = origin, .key = key, .value = is_set ? equals + 1 : given->value};
    return EXIT_OK;
}

static int add_overrides(struct request *request)
{
    const struct arguments *arguments = request->arguments;
    int code = EXIT_OK;
    request->override = calloc(arguments->n_given + 1, sizeof *request->override);
    request->flag = calloc(arguments->n_given + 1, sizeof *request->flag);
    if (request->override == NULL || request->flag == NULL) {
        return complain(EXIT_FAILED, "out of memory");
    }
    for (uint32_t i = 0; code == EXIT_OK && i < arguments->n_given; i++) {
        const struct given *given = &arguments->given[i];
        if (given->option->key != NULL || strcmp(given->option->name, "set") == 0) {
            code = add_override(request, given);
        }
    }
    return code;
}

static int read_threads(struct request *request)
{
    const char *text = arguments_value(request->arguments, "threads");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char word[SHOWN_SIZE];
    unsigned long value = 0;
    if (text != NULL) {
        if (*text == '\0' || strlen(text) > 4 || text[strspn(text, "0123456789")] != '\0') {
            return complain(EXIT_USAGE, "--threads must be a whole number up to 9999, not `%s`", shown(text, word));
        }
        value = strtoul(text, NULL, 10);
    }
    request->threads = value > 0 ? (uint32_t)value : processors > 0 ? (uint32_t)processors : 1;
    return EXIT_OK;
}

/* out/ and the name of the file without folders and ending. */
static char *default_folder(const char *file)
{
    const char *slash = strrchr(file, '/'), *start = slash != NULL ? slash + 1 : file, *dot = strrchr(start, '.');
    size_t length = dot != NULL && dot > start ? (size_t)(dot - start) : strlen(start);
    bool is_stdin = strcmp(file, "-") == 0;
    char *folder = malloc(length + 16);
    if (folder != NULL) {
        (void)snprintf(folder, length + 16, "out/%.*s", is_stdin ? 5 : (int)length, is_stdin ? "stdin" : start);
    }
    return folder;
}

static int read_request(const struct arguments *arguments, struct request *request)
{
    const char *output = arguments_value(arguments, "output");
    *request = (struct request){.arguments = arguments, .file = arguments->operand[0]};
    request->quiet = arguments_value(arguments, "quiet") != NULL;
    request->resume = arguments_value(arguments, "resume") != NULL;
    request->figures = arguments_value(arguments, "no-figures") == NULL;
    if (output != NULL && *output == '\0') {
        return complain(EXIT_USAGE, "--output needs the name of a folder");
    }
    request->folder = output != NULL ? strdup(output) : default_folder(request->file);
    request->partial = request->folder != NULL ? file_join(request->folder, "partial.oltr") : NULL;
    if (request->partial == NULL) {
        return complain(EXIT_FAILED, "out of memory");
    }
    int code = read_threads(request);
    return code == EXIT_OK ? add_overrides(request) : code;
}

static int read_config(const struct request *request, struct config *config)
{
    struct text text = {0};
    oltr_error error = {OLTR_OK, ""};
    bool is_stdin = strcmp(request->file, "-") == 0;
    const char *name = is_stdin ? "stdin" : request->file;
    struct overrides overrides = {request->n_overrides, request->override};
    oltr_status status = is_stdin ? file_read_stream(stdin, name, &text, &error) : file_read(name, &text, &error);
    if (status == OLTR_OK) {
        status = config_parse(name, text.bytes, text.length, &overrides, config, &error);
    }
    text_free(&text);
    return status == OLTR_OK ? EXIT_OK : complain(status == OLTR_ENOMEM ? EXIT_FAILED : EXIT_USAGE, "%s", error.msg);
}

/* Running a folder's own experiment.yaml into the same folder must not overwrite the file that is being run. */
static int check_same_file(const struct request *request, bool *same)
{
    struct stat input, output;
    char *path = file_join(request->folder, "experiment.yaml");
    *same = path != NULL && stat(request->file, &input) == 0 && stat(path, &output) == 0 &&
            input.st_dev == output.st_dev && input.st_ino == output.st_ino;
    free(path);
    if (*same && request->n_overrides > 0) {
        return complain(EXIT_USAGE, "%s would be overwritten by its changed copy; choose another folder with --output",
                        request->file);
    }
    return EXIT_OK;
}

/* ---- the simulation ------------------------------------------------------------------------------------- */

static void show_progress(void *context, const oltr_progress *state)
{
    progress_show(context, state);
}

static int interrupted(const struct request *request, const struct config *config, const oltr_results *results)
{
    return complain(EXIT_FAILED,
                    "stopped after %llu of %llu replications; they are kept in %s\n"
                    "oltr: the same command with --resume goes on from there",
                    (unsigned long long)progress_done(config, results), (unsigned long long)progress_total(config),
                    request->partial);
}

static int load_partial(const struct request *request, oltr_results *results)
{
    oltr_error error = {OLTR_OK, ""};
    bool there = access(request->partial, F_OK) == 0;
    if (there && !request->resume && !request->quiet) {
        (void)complain(0, "starting anew; what an earlier run left in %s is not used (--resume would)",
                       request->partial);
    }
    if (!there && request->resume && !request->quiet) {
        (void)complain(0, "there is no %s to resume; starting from the beginning", request->partial);
    }
    if (there && request->resume && oltr_results_load(results, request->partial, &error) != OLTR_OK) {
        return complain(EXIT_FAILED, "cannot resume: %s", error.msg);
    }
    return EXIT_OK;
}

static int simulate(const struct request *request, const struct config *config, oltr_results *results)
{
    oltr_error error = {OLTR_OK, ""};
    struct progress progress = progress_begin(config, results);
    oltr_run_options options = {
        .threads = request->threads,
        .partial = request->partial,
        .progress = request->quiet ? NULL : show_progress,
        .every = progress_every(&progress),
        .stop = should_stop,
        .context = &progress,
    };
    oltr_status status = oltr_run(config->points, config->n_points, &options, results, &error);
    if (!request->quiet) {
        progress_end(&progress);
    }
    if (status == OLTR_EINTERRUPTED) {
        return interrupted(request, config, results);
    }
    return status == OLTR_OK ? EXIT_OK : complain(EXIT_FAILED, "%s", error.msg);
}

static double now(void)
{
    struct timespec time = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static int draw(const struct run *run, uint32_t *drawn)
{
    oltr_error error = {OLTR_OK, ""};
    if (draw_folder(run->folder, may_go_on, drawn, &error) == OLTR_OK) {
        return EXIT_OK;
    }
    return complain(EXIT_FAILED, "the results are in %s, but not all figures: %s", run->folder, error.msg);
}

/* Writes, draws, and says where everything is. */
static int finish(const struct request *request, const struct run *run)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t drawn = 0;
    if (output_write(run, &error) != OLTR_OK) {
        return complain(EXIT_FAILED, "%s", error.msg);
    }
    if (run->results != NULL) {
        if (unlink(request->partial) != 0 && errno != ENOENT) {
            (void)complain(0, "%s is not needed any more, but cannot be removed: %s", request->partial,
                           strerror(errno));
        }
        if (!request->quiet) {
            output_table(run);
        }
    }
    int code = request->figures ? draw(run, &drawn) : EXIT_OK;
    if (!request->quiet && code == EXIT_OK) {
        (void)printf("results%s in %s\n", drawn == 1 ? " and 1 figure" : drawn > 1 ? " and figures" : "", run->folder);
    }
    return code;
}

static int run_regret(const struct request *request, struct run *run)
{
    oltr_error error = {OLTR_OK, ""};
    const struct config *config = run->config;
    oltr_results *results = oltr_results_new(config->points, config->n_points, &error);
    if (results == NULL) {
        return complain(EXIT_FAILED, "%s", error.msg);
    }
    int code = load_partial(request, results);
    double start = now();
    if (code == EXIT_OK) {
        catch_signals();
        code = simulate(request, config, results);
    }
    if (code == EXIT_OK) {
        run->seconds = now() - start;
        run->results = results;
        code = finish(request, run);
    }
    oltr_results_free(results);
    return code;
}

static int run_in_folder(const struct request *request, const struct config *config)
{
    struct run run = {
        .config = config,
        .file = request->file,
        .folder = request->folder,
        .n_flags = request->n_overrides,
        .flag = (const char *const *)request->flag,
        .threads = request->threads,
    };
    oltr_error error = {OLTR_OK, ""};
    int code = check_same_file(request, &run.keep_experiment);
    if (code != EXIT_OK) {
        return code;
    }
    if (file_make_folder(request->folder, &error) != OLTR_OK) {
        return complain(EXIT_FAILED, "%s", error.msg);
    }
    return config->kind == CONFIG_REGRET ? run_regret(request, &run) : finish(request, &run);
}

int cmd_run(const struct arguments *arguments)
{
    struct request request;
    struct config config = {0};
    int code = read_request(arguments, &request);
    if (code == EXIT_OK) {
        code = read_config(&request, &config);
    }
    if (code == EXIT_OK) {
        code = run_in_folder(&request, &config);
    }
    config_free(&config);
    request_free(&request);
    return code;
}
