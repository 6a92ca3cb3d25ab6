/* cmd_run.c - `oltr run`: the command line as a job (app/run/job.h). */
#include "app/args/value.h"
#include "app/run/shard.h"
#include "app/run/team.h"
#include "app/verbs/verbs.h"
#include "app/verbs/offers.h"
#include "engine/base/quote.h"

#include <string.h>

const struct option run_options[] = {
    {'o', "output", "DIR", NULL,
     "the folder for the results (default: out/ and the name of FILE without its ending)"},
    {'s', "seed", "N", "seed", "the seed of all random numbers"},
    {'j', "threads", "N", NULL, "the number of threads (default, or 0: one for each processor)"},
    {'K', "slots", "N", "slots", "the number of items shown in a round"},
    {0, "rounds", "N", "rounds", "the number of rounds"},
    {0, "replications", "N", "replications", "the number of repetitions with other random numbers"},
    {0, "checkpoints", "N", "checkpoints",
     "the number of recorded rounds, or a list like [10, 100]"},
    {0, "data", "DIR", "world.data",
     "the folder of a dataset: train.txt, vali.txt, test.txt (for worlds of kind dataset), or of a "
     "file of click models (kind fitted)"},
    {0, "set", "KEY=VALUE", NULL,
     "set any key of the file, like world.items=100 or policies.GTS.sigma=1; may be repeated",
     .offer = offer_experiment_keys},
    {0, "full", NULL, NULL,
     "the paper's size, for worlds of kind dataset: every test query, 50 replications, 10,000 "
     "rounds; says first what that will cost here"},
    {0, "shard", "I/N", NULL, "run only part I of N; `oltr merge` adds up the parts"},
    {0, "resume", NULL, NULL,
     "go on with a run that was stopped; results of a finished run stay as they are"},
    {0, "force", NULL, NULL, "replace the results of a finished run, and remove its figures"},
    {0, "no-figures", NULL, NULL, "draw nothing"},
    {'q', "quiet", NULL, NULL, "no progress and no table; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* "--set KEY=VALUE", or an option that sets a key of its own. */
static int add_override(struct job *job, const struct given *given, struct override *override)
{
    const char *equals = strchr(given->value, '='), *key = given->option->key;
    char word[QUOTE_SIZE];
    const char *flag = pool_printf(&job->pool, "--%s %s", given->option->name, given->value);
    const char *origin = flag ? pool_printf(&job->pool, "%s", quote_input(flag, word)) : NULL;
    if (!key && (!equals || equals == given->value))
        return complain(EXIT_USAGE, "--set needs KEY=VALUE, like --set world.items=100, not `%s`",
                        quote_input(given->value, word));
    const char *value = key ? given->value : equals + 1;
    if (!key)
        key = pool_text(&job->pool, given->value, (size_t)(equals - given->value));
    if (!origin || !key)
        return complain_no_memory();
    *override = (struct override){.origin = origin, .key = key, .value = value};
    job->flag[job->n_flags++] = flag;
    job->overrides.count++;
    return EXIT_OK;
}

static int add_overrides(const struct arguments *arguments, struct job *job)
{
    struct override *override = pool_get(&job->pool, arguments->n_given, sizeof *override);
    int code = EXIT_OK;
    job->overrides.item = override;
    job->flag = pool_get(&job->pool, arguments->n_given + 1, sizeof *job->flag);
    if (!override || !job->flag)
        return complain_no_memory();
    if (job->full)
        job->flag[job->n_flags++] = "--full";
    for (uint32_t i = 0; code == EXIT_OK && i < arguments->n_given; i++) {
        const struct given *given = &arguments->given[i];
        if (given->option->key || strcmp(given->option->name, "set") == 0)
            code = add_override(job, given, &override[job->overrides.count]);
    }
    return code;
}

static int read_shard(const struct arguments *arguments, struct job *job)
{
    const char *text = arguments_value(arguments, "shard");
    char word[QUOTE_SIZE];
    if (text && !shard_parse(text, &job->shard))
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
static const char *default_folder(struct pool *pool, const char *file)
{
    const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file,
               *dot = strrchr(start, '.');
    if (strcmp(file, "-") == 0)
        return "out/stdin";
    return pool_printf(pool, "out/%.*s", (int)(dot && dot > start ? dot - start : 4096), start);
}

int cmd_run(const struct arguments *arguments)
{
    struct job job = {
        .file = arguments->operand[0],
        .folder = arguments_value(arguments, "output"),
        .quiet = arguments_has(arguments, "quiet"),
        .resume = arguments_has(arguments, "resume"),
        .full = arguments_has(arguments, "full"),
        .force = arguments_has(arguments, "force"),
        .figures = !arguments_has(arguments, "no-figures"),
    };
    if (!job.folder)
        job.folder = default_folder(&job.pool, job.file);
    int code = job.folder ? value_threads(arguments, &job.threads) : complain_no_memory();
    if (code == EXIT_OK)
        code = read_shard(arguments, &job);
    if (code == EXIT_OK)
        code = add_overrides(arguments, &job);
    if (code == EXIT_OK)
        code = job_run(&job);
    job_free(&job);
    return code;
}
