/* cmd_merge.c - `oltr merge`: adds up the shards of a run, to the same bytes as those of one run.
 */
#include "app/run/job.h"
#include "app/verbs/verbs.h"

const struct option merge_options[] = {
    {'o', "output", "DIR", NULL, "the folder for the results (default: the first folder)"},
    {0, "force", NULL, NULL, "replace the results of a finished run, and remove its figures"},
    {0, "no-figures", NULL, NULL, "draw nothing"},
    {'q', "quiet", NULL, NULL, "no table; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_merge(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "output"), *first = arguments->operand[0];
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < arguments->n_operands; i++)
        code = need_folder(arguments->operand[i]);
    if (code != EXIT_OK)
        return code;
    struct job job = {
        .folder = output ? output : first,
        .quiet = arguments_has(arguments, "quiet"),
        .force = arguments_has(arguments, "force"),
        .figures = !arguments_has(arguments, "no-figures"),
        .threads = 1,
    };
    job.file = pool_printf(&job.pool, "%s/experiment.yaml", first);
    code = job.file ? job_merge(&job, arguments->n_operands, arguments->operand)
                    : complain_no_memory();
    job_free(&job);
    return code;
}
