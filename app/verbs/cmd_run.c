/* cmd_run.c - `oltr run`: what the command line asks for, as a job (job.h). */
#define _POSIX_C_SOURCE 200809L
#include "app/args/command.h"
#include "app/run/job.h"
#include "engine/base/quote.h"
#include "app/run/shard.h"
#include "app/run/team.h"
#include "app/args/value.h"

#include <stdlib.h>
#include <string.h>

const struct option run_options[] = {
    {'o', "output", "DIR", NULL,
     "where the results go (default: out/ and the name of FILE without its ending)"},
    {'s', "seed", "N", "seed", "the seed of all random numbers"},
    {'j', "threads", "N", NULL, "how many threads work (default, or 0: one for each processor)"},
    {'K', "slots", "N", "slots", "how many items are shown"},
    {0, "rounds", "N", "rounds", "how many rounds are played"},
    {0, "replications", "N", "replications", "how often everything is repeated"},
    {0, "checkpoints", "N", "checkpoints", "how many rounds are recorded; or a list, [10, 100]"},
    {0, "data", "DIR", "world.data",
     "the folder of a dataset: train.txt, vali.txt, test.txt (for worlds of kind dataset)"},
    {0, "set", "KEY=VALUE", NULL,
     "set any key of the file, like world.items=100 or policies.GTS.sigma=1; may be given often"},
    {0, "shard", "I/N", NULL, "run only part I of N, to be put together by `oltr merge`"},
    {0, "resume", NULL, NULL,
     "go on with a run that was stopped; one that is finished is left as it is"},
    {0, "force", NULL, NULL, "replace the results of a finished run, and remove its figures"},
    {0, "no-figures", NULL, NULL, "draw nothing"},
    {'q', "quiet", NULL, NULL, "no progress and no table; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- the request */

struct request {
    const struct arguments *arguments;
    const char *file;
    char *folder;
    bool quiet, resume, force, figures;
    uint32_t threads;
    struct override *override; /* (n_overrides) what flags change in the file */
    char **flag;               /* (n_overrides) the same in words: "--rounds 100" */
    uint32_t n_overrides;
    oltr_shard shard;
    struct pool pool; /* the strings of the overrides */
};

static void request_free(struct request *request)
{
    for (uint32_t i = 0; request->flag && i < request->n_overrides; i++)
        free(request->flag[i]);
    free(request->flag);
    free(request->override);
    free(request->folder);
    pool_free(&request->pool);
}

static char *flag_text(const struct given *given)
{
    size_t size = strlen(given->option->name) + strlen(given->value) + 4;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "--%s %s", given->option->name, given->value);
    return text;
}

/* "--set KEY=VALUE", or a flag that stands for a key. */
static int add_override(struct request *request, const struct given *given)
{
    struct override *override = &request->override[request->n_overrides];
    char *flag = flag_text(given), word[QUOTE_SIZE];
    request->flag[request->n_overrides] = flag;
    if (!flag)
        return complain(EXIT_FAILED, "out of memory");
    request->n_overrides++;
    const char *equals = strchr(given->value, '=');
    bool is_set = !given->option->key;
    if (is_set && (!equals || equals == given->value))
        return complain(EXIT_USAGE, "--set needs KEY=VALUE, like --set world.items=100, not `%s`",
                        quote_input(given->value, word));
    const char *key = is_set
                          ? pool_text(&request->pool, given->value, (size_t)(equals - given->value))
                          : given->option->key;
    quote_input(flag, word);
    const char *origin = pool_text(&request->pool, word, strlen(word));
    if (!key || !origin)
        return complain(EXIT_FAILED, "out of memory");
    *override = (struct override){
        .origin = origin, .key = key, .value = is_set ? equals + 1 : given->value};
    return EXIT_OK;
}

static int add_overrides(struct request *request)
{
    const struct arguments *arguments = request->arguments;
    int code = EXIT_OK;
    request->override = calloc(arguments->n_given + 1, sizeof *request->override);
    request->flag = calloc(arguments->n_given + 1, sizeof *request->flag);
    if (!request->override || !request->flag)
        return complain(EXIT_FAILED, "out of memory");
    for (uint32_t i = 0; code == EXIT_OK && i < arguments->n_given; i++) {
        const struct given *given = &arguments->given[i];
        if (given->option->key || strcmp(given->option->name, "set") == 0)
            code = add_override(request, given);
    }
    return code;
}

static int read_shard(struct request *request)
{
    const char *text = arguments_value(request->arguments, "shard");
    char word[QUOTE_SIZE];
    if (text && !shard_parse(text, &request->shard))
        return complain(EXIT_USAGE,
                        "--shard must be I/N, part I of N parts, from 1/N to N/N and N at most "
                        "1000000, like 2/3; not `%s`",
                        quote_input(text, word));
    if (text && team_of_process()->size > 1)
        return complain(EXIT_USAGE,
                        "--shard is for runs without MPI; here every rank has a shard already");
    return EXIT_OK;
}

/* out/ and the name of the file without folders and ending. */
static char *default_folder(const char *file)
{
    const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file,
               *dot = strrchr(start, '.');
    size_t length = dot && dot > start ? (size_t)(dot - start) : strlen(start);
    bool is_stdin = strcmp(file, "-") == 0;
    char *folder = malloc(length + 16);
    if (folder)
        snprintf(folder, length + 16, "out/%.*s", is_stdin ? 5 : (int)length,
                 is_stdin ? "stdin" : start);
    return folder;
}

static int read_request(const struct arguments *arguments, struct request *request)
{
    const char *output = arguments_value(arguments, "output");
    *request = (struct request){.arguments = arguments, .file = arguments->operand[0]};
    request->quiet = arguments_has(arguments, "quiet");
    request->resume = arguments_has(arguments, "resume");
    request->force = arguments_has(arguments, "force");
    request->figures = !arguments_has(arguments, "no-figures");
    if (output && *output == '\0')
        return complain(EXIT_USAGE, "--output needs the name of a folder");
    request->folder = output ? strdup(output) : default_folder(request->file);
    if (!request->folder)
        return complain(EXIT_FAILED, "out of memory");
    int code = value_threads(arguments, &request->threads);
    if (code == EXIT_OK)
        code = read_shard(request);
    return code == EXIT_OK ? add_overrides(request) : code;
}

int cmd_run(const struct arguments *arguments)
{
    struct request request;
    int code = read_request(arguments, &request);
    struct job job = {
        .file = request.file,
        .folder = request.folder,
        .quiet = request.quiet,
        .resume = request.resume,
        .force = request.force,
        .figures = request.figures,
        .threads = request.threads,
        .shard = request.shard,
        .n_overrides = request.n_overrides,
        .override = request.override,
        .flag = (const char *const *)request.flag,
    };
    if (code == EXIT_OK)
        code = job_run(&job);
    request_free(&request);
    return code;
}
