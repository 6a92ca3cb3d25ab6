/* cmd_merge.c - `oltr merge`: the shards of a run, put together to the same bytes as one run. */
#include "app/args/command.h"
#include "app/run/job.h"
#include "report/io/whole_file.h"

#include <stdlib.h>

const struct option merge_options[] = {
    {'o', "output", "DIR", NULL, "where the results go (default: the first folder)"},
    {0, "force", NULL, NULL, "replace the results of a finished run, and remove its figures"},
    {0, "no-figures", NULL, NULL, "draw nothing"},
    {'q', "quiet", NULL, NULL, "no table; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_merge(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "output");
    if (output && *output == '\0')
        return complain(EXIT_USAGE, "--output needs the name of a folder");
    for (uint32_t i = 0; i < arguments->n_operands; i++) {
        int code = need_folder(arguments->operand[i]);
        if (code != EXIT_OK)
            return code;
    }
    char *experiment = file_join(arguments->operand[0], "experiment.yaml");
    if (!experiment)
        return complain(EXIT_FAILED, "out of memory");
    struct job job = {
        .file = experiment,
        .folder = output ? output : arguments->operand[0],
        .quiet = arguments_has(arguments, "quiet"),
        .force = arguments_has(arguments, "force"),
        .figures = !arguments_has(arguments, "no-figures"),
        .threads = 1,
    };
    int code = job_merge(&job, arguments->n_operands, arguments->operand);
    free(experiment);
    return code;
}
