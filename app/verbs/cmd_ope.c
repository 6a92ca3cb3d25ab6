/* cmd_ope.c - `oltr ope`: what other policies would have earned on a log.  The log is read into
 * memory (app/ope/ope_data.h), every policy gives its chances (policy_chances.h), and the
 * estimators of oltr/ope.h give the values. */
#define _GNU_SOURCE 1 /* getentropy */
#include "app/args/value.h"
#include "app/ope/ope_results.h"
#include "app/verbs/log_reading.h"
#include "app/verbs/model_family.h"
#include "app/verbs/model_priors.h"
#include "app/verbs/offers.h"
#include "engine/base/error.h"
#include "engine/base/quote.h"
#include "report/figures/forest_figure.h"
#include "report/io/whole_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const intervals[] = {"bootstrap", "bernstein", "normal", NULL};

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
     intervals},
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

enum { DEFAULT_DRAWS = 1000, DEFAULT_FOLDS = 5, MOST_POLICIES = 64, LABEL_SIZE = 256 };
#define RATE_STRENGTH 20 /* observations; see oltr_ope_rates() */

enum policy_form { BY_KIND, BY_MODEL, BY_COLUMNS, BY_LOG };

struct evaluated {
    const char *label; /* as it was given */
    const char *text;  /* without greedy: and its form */
    enum policy_form form;
    bool greedy;
    uint32_t column; /* BY_COLUMNS: number of the pair */
    oltr_model *own; /* BY_KIND */
    oltr_store *store;
    const oltr_model *model;
};

struct ope_run {
    const struct arguments *arguments;
    struct log_files files;
    struct log_report report;
    struct ope_data data;
    struct evaluated policy[MOST_POLICIES];
    char label[MOST_POLICIES][LABEL_SIZE];
    uint32_t n_policies, n_columns;
    bool chosen[OLTR_OPE_ESTIMATORS], any_chosen;
    oltr_ope_options options;
    uint32_t draws, folds;
    double *rate;
    struct ope_results results;
};

/* ---- options */

static bool cut_prefix(const char **text, const char *prefix)
{
    size_t size = strlen(prefix);
    if (strncmp(*text, prefix, size) != 0)
        return false;
    *text += size;
    return true;
}

static bool is_taken(const struct ope_run *run, const char *label)
{
    for (uint32_t i = 0; i < run->n_policies; i++)
        if (strcmp(run->policy[i].label, label) == 0)
            return true;
    return false;
}

/* Without the folders of a path, where that is no other's name. */
static void shorten_label(struct ope_run *run, struct evaluated *p)
{
    const char *slash = strrchr(p->text, '/');
    char *room = run->label[run->n_policies];
    if (!slash || (p->form != BY_MODEL && p->form != BY_LOG))
        return;
    snprintf(room, LABEL_SIZE, "%s%s%.200s", p->greedy ? "greedy:" : "",
             p->form == BY_LOG ? "log:" : "", slash + 1);
    p->label = is_taken(run, room) ? p->label : room;
}

static int add_policy(struct ope_run *run, const char *label, bool is_model)
{
    struct evaluated *p = &run->policy[run->n_policies];
    char word[QUOTE_SIZE];
    if (run->n_policies == MOST_POLICIES)
        return complain(EXIT_USAGE, "at most %d policies in one command", MOST_POLICIES);
    if (is_taken(run, label))
        return complain(EXIT_USAGE, "the policy `%s` is given twice", quote_input(label, word));
    *p = (struct evaluated){.label = label, .text = label, .form = is_model ? BY_MODEL : BY_KIND};
    p->greedy = cut_prefix(&p->text, "greedy:");
    if (!is_model && cut_prefix(&p->text, "columns:"))
        p->form = BY_COLUMNS;
    else if (!is_model && cut_prefix(&p->text, "log:"))
        p->form = BY_LOG;
    if (p->greedy && (p->form == BY_COLUMNS || p->form == BY_LOG))
        return complain(EXIT_USAGE, "`%s`: only a policy or a model can be greedy",
                        quote_input(label, word));
    if (p->text[0] == '\0')
        return complain(EXIT_USAGE, "`%s` names no policy", quote_input(label, word));
    p->column = p->form == BY_COLUMNS ? run->n_columns++ : 0;
    shorten_label(run, p);
    run->n_policies++;
    return EXIT_OK;
}

static int read_policies(struct ope_run *run)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < run->arguments->n_given; i++) {
        const struct given *given = &run->arguments->given[i];
        bool is_model = strcmp(given->option->name, "model") == 0;
        if (is_model || strcmp(given->option->name, "policy") == 0)
            code = add_policy(run, given->value, is_model);
    }
    return code;
}

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

/* ---- the log */

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
    return complain(EXIT_USAGE, "%s: %llu list%s; an evaluation needs at least 2",
                    run->arguments->operand[0], (unsigned long long)data->eval.n,
                    plural_s(data->eval.n));
}

/* ---- policies that learn */

static bool learns(const oltr_policy_info *info)
{
    return info->can_predict || info->rewards == OLTR_CLICKS;
}

/* NAME or NAME:KEY=VALUE,...; a value may have commas, as in default_prior=1,9. */
static int read_settings(const struct evaluated *p, oltr_model_settings *settings)
{
    oltr_error error = {OLTR_OK, ""};
    char name[64], word[QUOTE_SIZE];
    size_t size = strcspn(p->text, ":");
    snprintf(name, sizeof name, "%.*s", (int)(size < 63 ? size : 63), p->text);
    if (oltr_model_settings_init(settings, name, &error) != OLTR_OK)
        return complain(EXIT_USAGE, "--policy %s: %s", quote_input(p->label, word), error.msg);
    for (const char *at = p->text + size; *at != '\0';) {
        char key[64], value[128];
        size_t length = strcspn(++at, "="), end = length;
        for (end = strcspn(at, ","); at[end] == ',' && !strchr(at + end + 1, '=');)
            end = strlen(at);
        if (at[length] != '=' || length >= end || length >= sizeof key ||
            end - length - 1 >= sizeof value)
            return complain(EXIT_USAGE,
                            "--policy %s: parameters are KEY=VALUE with commas between them, like "
                            "ts-beta:prior=full",
                            quote_input(p->label, word));
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        snprintf(value, sizeof value, "%.*s", (int)(end - length - 1), at + length + 1);
        if (oltr_model_settings_set(settings, key, value, &error) != OLTR_OK)
            return complain(EXIT_USAGE, "--policy %s: %s", quote_input(p->label, word), error.msg);
        at += end;
    }
    return EXIT_OK;
}

static int make_with_priors(struct ope_run *run, struct evaluated *p, oltr_model_settings *settings,
                            const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    const oltr_policy_info *info = settings->policy.info;
    struct prior_table table;
    int code = model_priors_read(run->arguments, path, info, &table);
    if (code == EXIT_OK && oltr_settings_set(&settings->policy, "prior", "full", &error) != OLTR_OK)
        code = complain(EXIT_USAGE, "%s", error.msg);
    if (code == EXIT_OK && isnan(settings->prior[0]))
        prior_table_average(&table, info->takes_moments, settings->prior);
    p->own = code == EXIT_OK ? oltr_model_new(settings, &error) : NULL;
    if (code == EXIT_OK)
        code = p->own ? model_priors_give(path, &table, p->own)
                      : complain(EXIT_USAGE, "%s", error.msg);
    prior_table_free(&table);
    return code;
}

static int make_model(struct ope_run *run, struct evaluated *p)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings;
    const char *prior = arguments_value(run->arguments, "prior");
    char word[QUOTE_SIZE];
    int code = read_settings(p, &settings);
    if (code != EXIT_OK)
        return code;
    if (getentropy(settings.name_key, sizeof settings.name_key) != 0)
        return complain(EXIT_FAILED, "the system has no random numbers");
    if (settings.policy.info->contextual)
        return complain(EXIT_USAGE,
                        "--policy %s: a policy with features is not evaluated by this command; "
                        "oltr_ope_evaluate() of the library does it",
                        quote_input(p->label, word));
    if (prior && settings.policy.info->uses_prior)
        code = make_with_priors(run, p, &settings, prior);
    else if (!(p->own = oltr_model_new(&settings, &error)))
        code = complain(EXIT_USAGE, "--policy %s: %s", quote_input(p->label, word), error.msg);
    p->model = p->own;
    return code;
}

static oltr_status learn_lesson(void *with, const oltr_lesson *lesson, int *applied,
                                oltr_error *error)
{
    return oltr_model_learn(with, lesson, applied, error);
}

/* The same file under any name. */
static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return strcmp(one, other) == 0 || (stat(one, &a) == 0 && stat(other, &b) == 0 &&
                                       a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static int train_on_file(struct ope_run *run, const struct evaluated *p, const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    struct log_found found;
    struct log_report report = {.lenient = run->report.lenient};
    struct log_files files = {.path = &path, .n = 1};
    for (uint32_t i = 0; i < run->arguments->n_operands; i++)
        if (same_file(path, run->arguments->operand[i]))
            return complain(
                EXIT_USAGE,
                "--train %s is the log of the evaluation, and a policy that has learned "
                "from its lists looks better than it is: give another log, or "
                "--train-share 0.5",
                path);
    files.options.names.extra = run->data.extra;
    files.options.names.n_extra = OPE_LOGGED;
    int code = log_reading_options(run->arguments, &files);
    if (code != EXIT_OK)
        return code;
    files.options.clicks_only = oltr_model_settings_of(p->own)->policy.info->rewards == OLTR_CLICKS;
    files.join.learn = learn_lesson;
    files.join.with = p->own;
    files.join.report = &report;
    files.join.remember = 1 << 16;
    return log_files_learn(&files, &found, &error) == OLTR_OK ? EXIT_OK : complain_of(&error);
}

static int train_on_share(struct ope_run *run, const struct evaluated *p)
{
    const struct ope_lists *from = &run->data.train;
    oltr_error error = {OLTR_OK, ""};
    oltr_name *name = calloc((size_t)from->k + 1, sizeof *name);
    oltr_status status = name ? OLTR_OK : set_error(&error, OLTR_ENOMEM, "out of memory");
    for (uint64_t i = 0; status == OLTR_OK && i < from->n; i++) {
        uint64_t at = i * from->k;
        for (uint32_t l = 0; l < from->length[i]; l++)
            name[l] = name_table_at(&run->data.items, from->item[at + l]);
        oltr_lesson lesson = {.shown = {.n = from->length[i], .name = name},
                              .reward = from->reward + at,
                              .id = from->id[i]};
        if (from->examined[at] != EXAMINED_UNKNOWN) {
            lesson.examine = OLTR_EXAMINE_MASK;
            lesson.examined = from->examined + at;
        }
        status = oltr_model_learn(p->own, &lesson, NULL, &error);
        if (status != OLTR_OK)
            complain(0, "%s:%llu: the policy cannot learn this list", run->data.file,
                     (unsigned long long)from->line[i]);
    }
    free(name);
    return status == OLTR_OK ? EXIT_OK : complain_of(&error);
}

static int train(struct ope_run *run, struct evaluated *p)
{
    int code = EXIT_OK;
    bool trained = run->data.train.n > 0;
    for (uint32_t i = 0; code == EXIT_OK && i < run->arguments->n_given; i++)
        if (strcmp(run->arguments->given[i].option->name, "train") == 0) {
            code = train_on_file(run, p, run->arguments->given[i].value);
            trained = true;
        }
    if (code == EXIT_OK && run->data.train.n > 0)
        code = train_on_share(run, p);
    if (!trained && learns(oltr_model_settings_of(p->own)->policy.info))
        ope_results_note(&run->results,
                         "%s: it has learned nothing: give --train LOG or --train-share SHARE",
                         p->label);
    return code;
}

static int open_model(struct evaluated *p)
{
    char word[QUOTE_SIZE];
    int code = model_open(p->text, false, OLTR_SYNC_NONE, &p->store);
    if (code != EXIT_OK)
        return code;
    p->model = oltr_store_read(p->store);
    if (oltr_model_settings_of(p->model)->policy.info->contextual)
        return complain(EXIT_USAGE,
                        "--model %s: a policy with features is not evaluated by this command; "
                        "oltr_ope_evaluate() of the library does it",
                        quote_input(p->label, word));
    return EXIT_OK;
}

/* Lists that the model has learned already. */
static void note_learned(struct ope_run *run, const struct evaluated *p)
{
    const struct ope_lists *lists = &run->data.eval;
    uint64_t known = 0;
    char number[GROUPED_SIZE];
    for (uint64_t i = 0; i < lists->n; i++)
        known += lists->id[i].size > 0 && oltr_model_seen(p->model, lists->id[i]);
    if (known > 0)
        ope_results_note(&run->results,
                         "%s: biased: the model has learned %s of these lists, and looks better on "
                         "them than it is",
                         p->label, model_grouped(known, number));
}

static int make_models(struct ope_run *run)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < run->n_policies; i++) {
        struct evaluated *p = &run->policy[i];
        if (p->form == BY_MODEL)
            code = open_model(p);
        else if (p->form == BY_KIND)
            code = make_model(run, p);
    }
    return code;
}

/* ---- evaluating */

static bool is_ratio(uint32_t estimator)
{
    return estimator == OLTR_OPE_SNSIPS || estimator == OLTR_OPE_SNIIPS ||
           estimator == OLTR_OPE_SNRIPS || estimator == OLTR_OPE_REPLAY;
}

/* Replay is right only where all lists had the same chance. */
static bool is_uniform(const struct ope_data *data)
{
    const struct ope_lists *lists = &data->eval;
    const double *prefix = lists->column[OPE_PREFIX];
    for (uint64_t i = 0; prefix && i < lists->n; i++) {
        double first = prefix[lists->length[0] - 1],
               this = prefix[i * lists->k + lists->length[i] - 1];
        if (lists->length[i] != lists->length[0] || fabs(this - first) > 1e-9 * first)
            return false;
    }
    return prefix;
}

/* Which estimators to try: those that were asked for, or all that may be right. */
static bool is_tried(const struct ope_run *run, uint32_t estimator)
{
    if (run->any_chosen)
        return run->chosen[estimator];
    if (run->options.interval == OLTR_OPE_BERNSTEIN && is_ratio(estimator))
        return false;
    return estimator != OLTR_OPE_REPLAY || is_uniform(&run->data);
}

static struct chances_wanted what_is_wanted(const struct ope_run *run)
{
    const struct ope_data *data = &run->data;
    bool prefix = data->eval.column[OPE_PREFIX], slot = data->eval.column[OPE_SLOT];
    struct chances_wanted w = {
        .draws = run->draws, .seed = run->options.seed, .rate = run->rate, .folds = run->folds};
    w.prefix = prefix && !data->by_row &&
               (is_tried(run, OLTR_OPE_SIPS) || is_tried(run, OLTR_OPE_RIPS) ||
                is_tried(run, OLTR_OPE_SNSIPS) || is_tried(run, OLTR_OPE_SNRIPS));
    w.slot = slot && (is_tried(run, OLTR_OPE_IIPS) || is_tried(run, OLTR_OPE_SNIIPS));
    w.rewards =
        !data->by_row && (is_tried(run, OLTR_OPE_DM) || (prefix && is_tried(run, OLTR_OPE_DR)));
    w.match = !data->by_row && is_tried(run, OLTR_OPE_REPLAY);
    return w;
}

/* The predicted rewards behind dr and dm. */
static int predict_rewards(struct ope_run *run)
{
    const struct ope_lists *lists = &run->data.eval;
    oltr_error error = {OLTR_OK, ""};
    if (!what_is_wanted(run).rewards)
        return EXIT_OK;
    size_t all = (size_t)run->folds * lists->k * run->data.items.n;
    uint32_t *fold = calloc(lists->n + 1, sizeof *fold);
    run->rate = calloc(all + 1, sizeof *run->rate);
    oltr_ope_log log = {
        .n = lists->n, .k = lists->k, .length = lists->length, .reward = lists->reward};
    for (uint64_t i = 0; fold && i < lists->n; i++)
        fold[i] = ope_fold(lists->choice[i], run->folds);
    oltr_status status = fold && run->rate
                             ? oltr_ope_rates(&log, lists->item, run->data.items.n, fold,
                                              run->folds, RATE_STRENGTH, run->rate, &error)
                             : set_error(&error, OLTR_ENOMEM, "out of memory");
    free(fold);
    return status == OLTR_OK ? EXIT_OK : complain_of(&error);
}

static oltr_status find_model_chances(struct ope_run *run, const struct evaluated *p,
                                      struct ope_estimate *row, struct policy_chances *out,
                                      oltr_error *error)
{
    struct chances_wanted wanted = what_is_wanted(run);
    oltr_status status = chances_of_model(&run->data, p->model, p->greedy, &wanted, out, error);
    if (status == OLTR_EUNSUPPORTED && wanted.draws == 0) {
        policy_chances_free(out);
        wanted.draws = DEFAULT_DRAWS;
        status = chances_of_model(&run->data, p->model, p->greedy, &wanted, out, error);
    }
    snprintf(row->chances, sizeof row->chances, wanted.draws > 0 ? "%u draws" : "exact",
             wanted.draws);
    return status;
}

static int find_log_chances(struct ope_run *run, const struct evaluated *p,
                            struct policy_chances *out)
{
    oltr_error error = {OLTR_OK, ""};
    struct ope_data other = {.open = run->data.open};
    struct log_found found;
    struct log_report report = {.lenient = run->report.lenient};
    struct log_files files = {.path = &p->text, .n = 1};
    oltr_status status = ope_data_columns(&other, NULL, 0, &error);
    files.options.names.extra = other.extra;
    files.options.names.n_extra = other.n_columns;
    int code =
        status == OLTR_OK ? log_reading_options(run->arguments, &files) : complain_of(&error);
    files.join.take = ope_data_take;
    files.join.with = &other;
    files.join.report = &report;
    files.join.remember = 1 << 16;
    if (code == EXIT_OK && (log_files_learn(&files, &found, &error) != OLTR_OK ||
                            ope_data_end(&other, &error) != OLTR_OK ||
                            chances_of_shares(&run->data, &other, out, &error) != OLTR_OK))
        code = complain_of(&error);
    ope_data_free(&other);
    return code;
}

static int find_chances(struct ope_run *run, const struct evaluated *p, struct ope_estimate *row,
                        struct policy_chances *out)
{
    oltr_error error = {OLTR_OK, ""};
    *out = (struct policy_chances){.borrowed = false};
    if (p->form == BY_COLUMNS) {
        snprintf(row->chances, sizeof row->chances, "columns");
        chances_of_columns(&run->data, p->column, out);
        return out->prefix || out->slot
                   ? EXIT_OK
                   : complain(EXIT_USAGE, "%s has neither %s_prefix nor %s_slot", run->data.file,
                              p->text, p->text);
    }
    if (p->form == BY_LOG) {
        snprintf(row->chances, sizeof row->chances, "shares");
        return find_log_chances(run, p, out);
    }
    return find_model_chances(run, p, row, out, &error) == OLTR_OK ? EXIT_OK : complain_of(&error);
}

static int estimate_all(struct ope_run *run, const struct evaluated *p,
                        const struct policy_chances *chances, struct ope_estimate *row)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t done = 0;
    const char *why = NULL;
    for (uint32_t e = 0; e < OLTR_OPE_ESTIMATORS; e++) {
        if (!is_tried(run, e))
            continue;
        if (!ope_can_estimate(&run->data, chances, (oltr_ope_estimator)e, &why)) {
            if (run->any_chosen)
                ope_results_note(&run->results, "%s, %s: %s", p->label,
                                 oltr_ope_name((oltr_ope_estimator)e), why);
            continue;
        }
        if (ope_results_add(&run->results, &run->data, chances, (oltr_ope_estimator)e,
                            &run->options, row, &error) != OLTR_OK)
            return complain_of(&error);
        done++;
    }
    if (done == 0 && !run->any_chosen)
        ope_results_note(&run->results, "%s: nothing can be estimated: %s", p->label,
                         why ? why : "the log has no propensities");
    return EXIT_OK;
}

static int evaluate(struct ope_run *run, struct evaluated *p)
{
    struct ope_estimate row = {.policy = p->label};
    struct policy_chances chances = {.borrowed = false};
    int code = p->form == BY_KIND ? train(run, p) : EXIT_OK;
    if (p->form == BY_MODEL)
        note_learned(run, p);
    if (code == EXIT_OK)
        code = find_chances(run, p, &row, &chances);
    if (code == EXIT_OK)
        code = estimate_all(run, p, &chances, &row);
    policy_chances_free(&chances);
    return code;
}

static void note_log(struct ope_run *run)
{
    const struct log_report *r = &run->report;
    struct ope_results *to = &run->results;
    char number[GROUPED_SIZE], items[GROUPED_SIZE];
    bool models = false;
    for (uint32_t i = 0; i < run->n_policies; i++)
        models = models || run->policy[i].model;
    if (run->data.by_row)
        ope_results_note(to, "the log has no list ids: every row is a list of its own, values are "
                             "mean rewards of a row, and only iips and sniips can be computed");
    if (models && (run->data.no_candidates || run->data.all_items))
        ope_results_note(to, "candidates: the log %s; all %s items of it are taken",
                         run->data.no_candidates ? "does not say what could have been shown"
                                                 : "says that all items of a model were ranked",
                         model_grouped(run->data.items.n, items));
    if (r->orphans > 0)
        ope_results_note(to, "%s click%s or impression%s without a list in the log",
                         model_grouped(r->orphans, number), plural_s(r->orphans),
                         plural_s(r->orphans));
    if (r->late + r->elsewhere > 0)
        ope_results_note(to, "%s outcome%s after the list was closed, or not on what it showed",
                         model_grouped(r->late + r->elsewhere, number),
                         plural_s(r->late + r->elsewhere));
    if (r->unseen_learned > 0)
        ope_results_note(
            to,
            "%s list%s without an outcome counted as not clicked (--unseen skip leaves "
            "them out)",
            model_grouped(r->unseen_learned, number), plural_s(r->unseen_learned));
    if (r->unseen_skipped > 0)
        ope_results_note(to, "%s list%s without an outcome left out",
                         model_grouped(r->unseen_skipped, number), plural_s(r->unseen_skipped));
}

static int evaluate_all(struct ope_run *run)
{
    oltr_error error = {OLTR_OK, ""};
    struct ope_results *results = &run->results;
    results->log = run->arguments->operand[0];
    results->lists = run->data.eval.n;
    results->slots = run->data.by_row ? 1 : run->data.eval.k;
    results->items = run->data.items.n;
    results->by_row = run->data.by_row;
    results->confidence = run->options.confidence;
    results->interval = intervals[run->options.interval];
    int code = predict_rewards(run);
    if (code == EXIT_OK &&
        ope_results_add_logged(results, &run->data, &run->options, &error) != OLTR_OK)
        code = complain_of(&error);
    for (uint32_t i = 0; code == EXIT_OK && i < run->n_policies; i++)
        code = evaluate(run, &run->policy[i]);
    if (code == EXIT_OK)
        note_log(run);
    return code;
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
    text_printf(out, "; the value of a policy is the mean reward of a %s\n\n",
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
    if (!out.failed)
        fwrite(out.bytes, 1, out.length, stdout); /* main reports a failure */
    bool failed = out.failed;
    text_free(&out);
    return failed ? complain_no_memory() : EXIT_OK;
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

/* The folder is made before the work, so that a bad one is found at once. */
static int make_output(const struct arguments *arguments)
{
    const char *folder = arguments_value(arguments, "output");
    oltr_error error = {OLTR_OK, ""};
    return !folder || (file_make_folder(folder, &error) == OLTR_OK &&
                       file_probe_folder(folder, &error) == OLTR_OK)
               ? EXIT_OK
               : complain_failed(&error);
}

/* ---- the command */

static void run_free(struct ope_run *run)
{
    for (uint32_t i = 0; i < run->n_policies; i++) {
        struct evaluated *p = &run->policy[i];
        oltr_model_free(p->own);
        if (p->store && p->model)
            oltr_store_done(p->store);
        (void)model_close(p->store, EXIT_OK);
    }
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
    int code = read_policies(run);
    code = code == EXIT_OK ? read_estimators(run) : code;
    code = code == EXIT_OK ? read_numbers(run) : code;
    code = code == EXIT_OK ? make_models(run) : code;
    code = code == EXIT_OK ? make_output(arguments) : code;
    code = code == EXIT_OK ? read_log(run) : code;
    code = code == EXIT_OK ? check_log(run) : code;
    code = code == EXIT_OK ? evaluate_all(run) : code;
    code = code == EXIT_OK ? print(run) : code;
    code = code == EXIT_OK ? write_files(run) : code;
    run_free(run);
    return code;
}
