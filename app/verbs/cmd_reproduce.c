/* cmd_reproduce.c - `oltr reproduce`: every experiment of the paper, one after the other, and a
 * report of all (app/run/series.h). */
#define _POSIX_C_SOURCE 200809L
#include "app/args/value.h"
#include "app/run/series.h"
#include "app/run/team.h"
#include "app/verbs/verbs.h"
#include "app/verbs/offers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const struct option reproduce_options[] = {
    {'o', "output", "DIR", NULL,
     "where the report goes (default: report; with --quick: report-quick)"},
    {0, "quick", NULL, NULL,
     "takes about a minute: few replications, so most claims are inconclusive"},
    {0, "data", "DIR", NULL,
     "where the data sets are: a folder for each experiment, DIR/web30k and DIR/istella with "
     "train.txt, vali.txt and test.txt, DIR/yandex with dev_40q.json"},
    {0, "experiments", "DIR", NULL,
     "where the experiment files are (default: those that came with the program)"},
    {'j', "threads", "N", NULL, "the number of threads (default, or 0: one for each processor)"},
    {'q', "quiet", NULL, NULL, "no progress; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

void offer_experiments(const struct completion *to)
{
    struct series series = {.output = "",
                            .experiments = arguments_value(to->arguments, "experiments")};
    if (series_find(&series) == EXIT_OK)
        for (uint32_t i = 0; i < series.count; i++)
            completion_word(to, series.item[i].name, "");
    series_free(&series);
}

int cmd_reproduce(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "output");
    struct series series = {
        .data = arguments_value(arguments, "data"),
        .experiments = arguments_value(arguments, "experiments"),
        .n_names = arguments->n_operands,
        .name = arguments->operand,
        .quick = arguments_has(arguments, "quick"),
        .quiet = arguments_has(arguments, "quiet"),
    };
    series.output = output ? output : series.quick ? "report-quick" : "report";
    if (team_of_process()->size > 1)
        return complain(
            EXIT_USAGE,
            "reproduce runs in one process; use `oltr`, or `oltr-mpi run` for one experiment");
    if (series.data && access(series.data, R_OK) != 0)
        return complain(EXIT_USAGE, "--data %s: %s", series.data, strerror(errno));
    int code = value_threads(arguments, &series.threads);
    if (code == EXIT_OK)
        code = series_find(&series);
    if (code == EXIT_OK)
        code = series_plan(&series);
    if (code == EXIT_OK)
        code = series_run(&series);
    series_free(&series);
    return code;
}
