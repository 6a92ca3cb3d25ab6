/* cmd_ope.c - `oltr ope`: what other policies would have earned on a log.  The log is read into
 * memory (app/ope/ope_data.h), every policy gives its chances (policy_chances.h), and the
 * estimators of oltr/ope.h give the values. */
#include "app/args/value.h"
#include "app/verbs/log_reading.h"
#include "app/verbs/model_priors.h"
#include "app/verbs/offers.h"
#include "app/verbs/ope_run.h"
#include "engine/base/error.h"
#include "report/figures/forest_figure.h"
#include "report/io/whole_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_FOLDS = 5 };

const char *const ope_intervals[] = {"bootstrap", "bernstein", "normal", NULL};

const struct option ope_options[] = {
    {'p', "policy", "POLICY", NULL,
     "evaluate this policy: NAME, NAME:KEY=VALUE,..., greedy:..., columns:NAME or log:FILE; may be "
     "given several times",
     NULL, offer_policies},
    {'m', "model", "MODEL", NULL,
     "evaluate a model in a file, with what it believes now; greedy:MODEL ranks by its mean"},
    {0, "train", "FILE", NULL, "policies learn from this log first; not from LOG itself"},
    {0, "train-share", "SHARE", NULL,
     "policies learn from this share of the lists, chosen by their ids, and are evaluated on the "
     "others (default: 0)"},
    {0, "prior", "FILE", NULL,
     "priors of items for the policies that take them, as in CSV files of "
     "`oltr model create`"},
    {'e', "estimator", "NAME,...", NULL,
     "sips, iips, rips, snsips, sniips, snrips, dr, dm or replay (default: all that the log "
     "permits)"},
    {'i', "interval", "NAME", NULL,
     "bootstrap (default), normal, or bernstein, which is wide and holds for any number of lists "
     "if "
     "--bound does",
     ope_intervals},
    {0, "confidence", "SHARE", NULL, "of the intervals (default: 0.95)"},
    {0, "resamples", "N", NULL, "of the bootstrap (default: 1000)"},
    {0, "bound", "X", NULL,
     "with bernstein: the largest less the smallest term that any list can have (default: those of "
     "the log, an approximation)"},
    {0, "draws", "N", NULL,
     "chances of models as shares of N drawn lists (default: exact; 1000 for policies that have no "
     "exact chances)"},
    {0, "folds", "N", NULL,
     "of dr and dm: predict the rewards of a list from the other folds (default: 5)"},
    {'s', "seed", "N", NULL, "of resamples and draws (default: 1)"},
    {'o', "output", "DIR", NULL,
     "write table.csv, estimates.json and the figure fig-ope (.svg, .png, .pdf, .gp) to this "
     "folder"},
    {0, "json", NULL, NULL, "print the estimates as JSON"},
    {0, "columns", "ROLE=NAME,...", NULL,
     "columns with other names than the usual ones; roles as of `oltr model learn`, and prefix and "
     "slot for the propensities"},
    {0, "format", "NAME", NULL, "csv or jsonl (default: by the first byte of the file)",
     log_format_words},
    {0, "open", "N", NULL,
     "collect the rows of up to N lists at a time (default: 1000; of JSON lines 100000)"},
    {0, "wait", "TIME", NULL,
     "close a list that began so long ago, by the times in the log (default: 1h for queries of "
     "UBI)"},
    {0, "unseen", "RULE", NULL,
     "a decision or a query without an outcome: seen (default: looked at, and not clicked) or skip",
     log_unseen_words},
    {0, "clicks", "ACTION,...", NULL,
     "of UBI, the actions that count as a click (default: click,click_through)"},
    {0, "impressions", "ACTION,...", NULL,
     "of UBI, the actions that say an item was looked at (default: impression)"},
    {0, "shown", "N", NULL, "of UBI, only the first N hits of a query were shown"},
    {0, "lenient", NULL, NULL, "skip bad lines and count them, instead of stopping at the first"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- options */

static int choose(struct ope_run *run, const char *names)
{
    oltr_error error = {OLTR_OK, ""};
    for (const char *at = names;; at++) {
        char name[32];
        oltr_ope_estimator estimator;
        size_t size = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(size < 31 ? size : 31), at);
        if (oltr_ope_find(name, &estimator, &error) != OLTR_OK)
            return complain(EXIT_USAGE, "--estimator: %s", error.msg);
        run->chosen[estimator] = run->any_chosen = true;
        at += size;
        if (*at == '\0')
            return EXIT_OK;
    }
}

static int read_estimators(struct ope_run *run)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < run->arguments->n_given; i++)
        if (strcmp(run->arguments->given[i].option->name, "estimator") == 0)
            code = choose(run, run->arguments->given[i].value);
    return code;
}

static int read_numbers(struct ope_run *run)
{
    const struct arguments *arguments = run->arguments;
    oltr_ope_options *o = &run->options;
    *o = (oltr_ope_options){.size = sizeof *o, .bootstrap = 1000, .seed = 1, .confidence = 0.95};
    run->folds = DEFAULT_FOLDS;
    int code = value_word(arguments, "interval", &o->interval);
    code = code == EXIT_OK ? value_real(arguments, "confidence", 0.01, 0.999999, &o->confidence)
                           : code;
    code =
        code == EXIT_OK ? value_whole32(arguments, "resamples", 20, 1000000, &o->bootstrap) : code;
    code = code == EXIT_OK ? value_real(arguments, "bound", 1e-300, 1e300, &o->bound) : code;
    code = code == EXIT_OK ? value_whole(arguments, "seed", 0, UINT64_MAX, &o->seed) : code;
    code = code == EXIT_OK ? value_whole32(arguments, "draws", 1, 1 << 24, &run->draws) : code;
    code = code == EXIT_OK ? value_whole32(arguments, "folds", 2, 100, &run->folds) : code;
    return code == EXIT_OK ? value_real(arguments, "train-share", 0, 0.99, &run->data.train_share)
                           : code;
}

/* --bound is read by one kind of interval only. */
static int check_numbers(const struct ope_run *run)
{
    if (!arguments_has(run->arguments, "bound") || run->options.interval == OLTR_OPE_BERNSTEIN)
        return EXIT_OK;
    return complain(EXIT_USAGE, "--bound is of --interval bernstein, and this interval is %s",
                    ope_intervals[run->options.interval]);
}

/* ---- the log */

/* Whether another log than that of the evaluation is read with the same options. */
static bool reads_another(const struct ope_run *run)
{
    bool another = arguments_has(run->arguments, "train");
    for (uint32_t i = 0; i < run->n_policies; i++)
        another = another || run->policy[i].form == BY_LOG;
    return another;
}

/* Options of UBI, and the log has not a line of it. */
static int check_ubi(const struct ope_run *run)
{
    static const char *const of_ubi[] = {"clicks", "impressions", "shown", NULL};
    const struct log_report *r = &run->report;
    if (r->queries + r->events + r->other > 0 || r->bad > 0 || reads_another(run))
        return EXIT_OK;
    for (uint32_t i = 0; of_ubi[i]; i++)
        if (arguments_has(run->arguments, of_ubi[i]))
            return complain(EXIT_USAGE,
                            "--%s is of queries and events of UBI, and %s has none of them",
                            of_ubi[i], run->arguments->operand[0]);
    return EXIT_OK;
}

static int read_log(struct ope_run *run)
{
    oltr_error error = {OLTR_OK, ""};
    struct log_found found;
    const char *column[MOST_POLICIES];
    struct log_files *files = &run->files;
    for (uint32_t i = 0; i < run->n_policies; i++)
        if (run->policy[i].form == BY_COLUMNS)
            column[run->policy[i].column] = run->policy[i].text;
    if (ope_data_columns(&run->data, column, run->n_columns, &error) != OLTR_OK)
        return complain_of(&error);
    *files = (struct log_files){.path = run->arguments->operand, .n = run->arguments->n_operands};
    files->options.names.extra = run->data.extra;
    files->options.names.n_extra = run->data.n_columns;
    int code = log_reading_options(run->arguments, files);
    if (code != EXIT_OK)
        return code;
    run->report.lenient = arguments_has(run->arguments, "lenient");
    run->data.open = files->capacity > 0 ? files->capacity : LOG_OPEN_ROWS;
    files->join.take = ope_data_take;
    files->join.with = &run->data;
    files->join.report = &run->report;
    files->join.remember = 1 << 16;
    if (log_files_learn(files, &found, &error) != OLTR_OK ||
        ope_data_end(&run->data, &error) != OLTR_OK)
        return complain_of(&error);
    model_say_skipped(&run->report);
    return EXIT_OK;
}

/* What was read and is in no list. */
static void add_dropped(struct text *out, uint64_t n, const char *one, const char *many,
                        const char *what)
{
    char number[GROUPED_SIZE];
    if (n > 0)
        text_printf(out, "; %s %s %s", model_grouped(n, number), n == 1 ? one : many, what);
}

static int too_few(const struct ope_run *run)
{
    const struct log_report *r = &run->report;
    struct text dropped = {0};
    add_dropped(&dropped, r->orphans, "click or impression", "clicks or impressions",
                "without a list in the log");
    add_dropped(&dropped, r->late, "outcome", "outcomes",
                "after the list was closed (--wait, --open)");
    add_dropped(&dropped, r->other, "event", "events",
                "with another action (--clicks, --impressions)");
    add_dropped(&dropped, r->unseen_skipped, "list", "lists", "without an outcome left out");
    int code = complain(EXIT_USAGE, "%s: %llu list%s; an evaluation needs at least 2%s",
                        run->arguments->operand[0], (unsigned long long)run->data.eval.n,
                        plural_s(run->data.eval.n), dropped.bytes ? dropped.bytes : "");
    text_free(&dropped);
    return code;
}

static int check_log(struct ope_run *run)
{
    const struct ope_data *data = &run->data;
    if (data->eval.n >= 2)
        return EXIT_OK;
    if (data->train.n > 0)
        return complain(EXIT_USAGE,
                        "%s: of %llu lists, %llu are left to evaluate on; give a smaller "
                        "--train-share, or more lists",
                        run->arguments->operand[0],
                        (unsigned long long)(data->train.n + data->eval.n),
                        (unsigned long long)data->eval.n);
    return too_few(run);
}

/* ---- output */

static void add_heading(const struct ope_run *run, struct text *out)
{
    const struct ope_data *data = &run->data;
    char lists[GROUPED_SIZE], items[GROUPED_SIZE], train[GROUPED_SIZE];
    text_printf(out, "%s: %s %s%s", run->arguments->operand[0], model_grouped(data->eval.n, lists),
                data->by_row ? "row" : "list", plural_s(data->eval.n));
    if (!data->by_row)
        text_printf(out, " of up to %u slot%s", data->eval.k, plural_s(data->eval.k));
    text_printf(out, ", %s item%s", model_grouped(data->items.n, items), plural_s(data->items.n));
    if (data->train.n > 0)
        text_printf(out, "; %s others to learn from", model_grouped(data->train.n, train));
    text_printf(out, "\nthe value of a policy is the mean reward of a %s\n\n",
                data->by_row ? "row" : "list");
}

static int print(const struct ope_run *run)
{
    struct text out = {0};
    if (arguments_has(run->arguments, "json")) {
        ope_results_json(&run->results, &out);
    } else {
        add_heading(run, &out);
        ope_results_text(&run->results, &out);
    }
    int code = print_text(&out);
    text_free(&out);
    return code;
}

static oltr_status draw(const struct ope_run *run, const char *folder, oltr_error *error)
{
    const struct ope_results *results = &run->results;
    const struct ope_estimate *logged = &results->estimate[0];
    struct forest_row *row = calloc(results->n, sizeof *row);
    char title[160], axis[120], lists[GROUPED_SIZE];
    const char *slash = strrchr(results->log, '/');
    if (!row)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    for (uint32_t i = 1; i < results->n; i++) {
        const struct ope_estimate *e = &results->estimate[i];
        row[i - 1] = (struct forest_row){.group = e->policy,
                                         .name = e->estimator,
                                         .value = e->result.value,
                                         .low = e->result.low,
                                         .high = e->result.high,
                                         .doubtful = e->result.warning[0] != '\0'};
    }
    snprintf(title, sizeof title, "What policies would have earned on %.60s",
             slash ? slash + 1 : results->log);
    snprintf(axis, sizeof axis, "mean reward of a %s (%s %s%s), %.4g %% intervals by %s",
             results->by_row ? "row" : "list", model_grouped(results->lists, lists),
             results->by_row ? "row" : "list", plural_s(results->lists), 100 * results->confidence,
             results->interval);
    struct forest forest = {.title = title,
                            .axis = axis,
                            .measured = "as logged",
                            .value = logged->result.value,
                            .low = logged->result.low,
                            .high = logged->result.high,
                            .n = results->n - 1,
                            .row = row};
    oltr_status status =
        forest.n > 0 ? forest_figure_draw(folder, "fig-ope", &forest, error) : OLTR_OK;
    free(row);
    return status;
}

static int write_files(const struct ope_run *run)
{
    const char *folder = arguments_value(run->arguments, "output");
    oltr_error error = {OLTR_OK, ""};
    struct text csv = {0}, json = {0};
    if (!folder)
        return EXIT_OK;
    ope_results_csv(&run->results, &csv);
    ope_results_json(&run->results, &json);
    oltr_status status = file_write_in(folder, "table.csv", &csv, &error);
    if (status == OLTR_OK)
        status = file_write_in(folder, "estimates.json", &json, &error);
    if (status == OLTR_OK)
        status = draw(run, folder, &error);
    text_free(&csv);
    text_free(&json);
    return status == OLTR_OK ? EXIT_OK : complain_failed(&error);
}

/* A log in the folder that has the name of a file which is written. */
static int check_overwrite(const struct arguments *arguments, const char *folder, const char *name)
{
    char path[4096];
    const char *taken = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (uint32_t i = 0; i < arguments->n_operands; i++)
        taken = is_one_file(path, arguments->operand[i]) ? path : taken;
    for (uint32_t i = 0; i < arguments->n_given; i++) {
        const char *value = arguments->given[i].value;
        taken = value && is_one_file(path, value) ? path : taken;
    }
    return taken ? complain(EXIT_USAGE, "%s is read, and would be overwritten by --output %s",
                            taken, folder)
                 : EXIT_OK;
}

/* The folder is made before the work, so that a bad one is found at once. */
static int make_output(const struct arguments *arguments)
{
    static const char *const written[] = {
        "table.csv",   "estimates.json", "fig-ope.csv", "fig-ope.gp",
        "fig-ope.svg", "fig-ope.png",    "fig-ope.pdf", NULL};
    const char *folder = arguments_value(arguments, "output");
    oltr_error error = {OLTR_OK, ""};
    int code = EXIT_OK;
    if (folder && (file_make_folder(folder, &error) != OLTR_OK ||
                   file_probe_folder(folder, &error) != OLTR_OK))
        return complain_failed(&error);
    for (uint32_t i = 0; folder && code == EXIT_OK && written[i]; i++)
        code = check_overwrite(arguments, folder, written[i]);
    return code;
}

/* Whether there is an estimate of any policy. */
static int check_made(const struct ope_run *run)
{
    for (uint32_t i = 1; i < run->results.n; i++)
        if (isfinite(run->results.estimate[i].result.value))
            return EXIT_OK;
    if (run->n_policies == 0)
        return EXIT_OK;
    const char *why = run->results.n > 1 ? run->results.estimate[1].result.warning : "";
    return complain(EXIT_FAILED, "%s: no estimate could be made: %s", run->arguments->operand[0],
                    run->reason[0] != '\0' ? run->reason : why);
}

/* ---- the command */

static void run_free(struct ope_run *run)
{
    ope_free_policies(run);
    ope_results_free(&run->results);
    ope_data_free(&run->data);
    free(run->rate);
    free(run);
}

int cmd_ope(const struct arguments *arguments)
{
    struct ope_run *run = calloc(1, sizeof *run);
    if (!run)
        return complain_no_memory();
    run->arguments = arguments;
    int code = ope_read_policies(run);
    code = code == EXIT_OK ? read_estimators(run) : code;
    code = code == EXIT_OK ? read_numbers(run) : code;
    code = code == EXIT_OK ? check_numbers(run) : code;
    code = code == EXIT_OK ? ope_make_models(run) : code;
    code = code == EXIT_OK ? make_output(arguments) : code;
    code = code == EXIT_OK ? read_log(run) : code;
    code = code == EXIT_OK ? check_ubi(run) : code;
    code = code == EXIT_OK ? check_log(run) : code;
    code = code == EXIT_OK ? ope_name_all_items(run) : code;
    code = code == EXIT_OK ? ope_evaluate_all(run) : code;
    code = code == EXIT_OK ? print(run) : code;
    code = code == EXIT_OK ? write_files(run) : code;
    code = code == EXIT_OK ? check_made(run) : code;
    run_free(run);
    return code;
}
