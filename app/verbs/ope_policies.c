/* ope_policies.c - the policies of `oltr ope`: by name, trained here; models in files; columns of
 * the log; other logs. */
#define _GNU_SOURCE 1 /* getentropy */
#include "app/verbs/log_reading.h"
#include "app/verbs/model_priors.h"
#include "app/verbs/ope_run.h"
#include "engine/base/error.h"
#include "engine/base/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- --policy and --model */

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

int ope_read_policies(struct ope_run *run)
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

/* ---- policies that learn */

static bool learns(const oltr_policy_info *info)
{
    return info->can_predict || info->rewards == OLTR_CLICKS;
}

/* Whether there is a `=` before the next comma. */
static bool begins_key(const char *text)
{
    return text[strcspn(text, "=,")] == '=';
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
        for (end = strcspn(at, ","); at[end] == ',' && !begins_key(at + end + 1);)
            end += 1 + strcspn(at + end + 1, ",");
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

static int train_on_file(struct ope_run *run, const struct evaluated *p, const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    struct log_found found;
    struct log_report report = {.lenient = run->report.lenient};
    struct log_files files = {.path = &path, .n = 1};
    for (uint32_t i = 0; i < run->arguments->n_operands; i++)
        if (is_one_file(path, run->arguments->operand[i]))
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
            complain(0, "%s:%llu: the policy cannot learn this list", from->file[i],
                     (unsigned long long)from->line[i]);
    }
    free(name);
    return status == OLTR_OK ? EXIT_OK : complain_of(&error);
}

int ope_train(struct ope_run *run, struct evaluated *p)
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
    p->model = oltr_store_read(p->store); /* until ope_free_policies() */
    if (oltr_model_settings_of(p->model)->policy.info->contextual)
        return complain(EXIT_USAGE,
                        "--model %s: a policy with features is not evaluated by this command; "
                        "oltr_ope_evaluate() of the library does it",
                        quote_input(p->label, word));
    return EXIT_OK;
}

/* Lists that the model has learned already. */
void ope_note_learned(struct ope_run *run, const struct evaluated *p)
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

/* --prior FILE where no policy by name takes priors of items. */
static int check_prior(const struct ope_run *run)
{
    bool taken = !arguments_has(run->arguments, "prior");
    for (uint32_t i = 0; i < run->n_policies; i++)
        taken = taken || (run->policy[i].form == BY_KIND &&
                          oltr_model_settings_of(run->policy[i].own)->policy.info->uses_prior);
    return taken ? EXIT_OK
                 : complain(EXIT_USAGE,
                            "--prior %s: no --policy NAME of this command takes priors "
                            "of items; `oltr policies` says which do",
                            arguments_value(run->arguments, "prior"));
}

int ope_make_models(struct ope_run *run)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < run->n_policies; i++) {
        struct evaluated *p = &run->policy[i];
        if (p->form == BY_MODEL)
            code = open_model(p);
        else if (p->form == BY_KIND)
            code = make_model(run, p);
    }
    return code == EXIT_OK ? check_prior(run) : code;
}

/* ---- the names of all items */

bool ope_has_models(const struct ope_run *run)
{
    bool models = false;
    for (uint32_t i = 0; i < run->n_policies; i++)
        models = models || run->policy[i].model;
    return models;
}

/* Whether the model has n items, and among them the first `known` of the log. */
static bool has_items(const struct ope_run *run, const oltr_model *model, uint32_t n,
                      uint32_t known)
{
    bool found = oltr_model_items(model) == n;
    for (uint32_t i = 0; found && i < known; i++)
        found = oltr_model_find(model, name_table_at(&run->data.items, i)) >= 0;
    return found;
}

static int refuse_items(const struct all_items *said, uint32_t known)
{
    char all[GROUPED_SIZE], number[GROUPED_SIZE];
    return complain(EXIT_USAGE,
                    "%s:%llu: all %s items of a model were ranked (\"all_items\"), and the names "
                    "of %s are known: log requests with `items`, or give the model of that time by "
                    "--model",
                    said->file, (unsigned long long)said->line, model_grouped(said->n, all),
                    model_grouped(known, number));
}

static int add_items(struct ope_run *run, const struct evaluated *p)
{
    run->items_from = p->label;
    for (uint32_t i = 0; i < oltr_model_items(p->model); i++)
        if (name_table_add(&run->data.items, oltr_model_name(p->model, i)) == NO_NAME)
            return complain_no_memory();
    return EXIT_OK;
}

int ope_name_all_items(struct ope_run *run)
{
    const struct all_items *said = ope_data_other_items(&run->data);
    uint32_t known = run->data.items.n;
    int code = EXIT_OK;
    if (!said || !ope_has_models(run))
        return EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < run->n_policies; i++) {
        const struct evaluated *p = &run->policy[i];
        if (p->form != BY_MODEL || !has_items(run, p->model, said->n, known))
            continue;
        if (run->items_from && !has_items(run, p->model, said->n, run->data.items.n))
            return complain(EXIT_USAGE,
                            "%s:%llu: all %u items of a model were ranked; %s and %s have so many, "
                            "and not the same: give only the model of that time by --model",
                            said->file, (unsigned long long)said->line, said->n, run->items_from,
                            p->label);
        code = run->items_from ? EXIT_OK : add_items(run, p);
    }
    said = ope_data_other_items(&run->data); /* lists may say different numbers */
    return code == EXIT_OK && said ? refuse_items(said, run->data.items.n) : code;
}

void ope_free_policies(struct ope_run *run)
{
    for (uint32_t i = 0; i < run->n_policies; i++) {
        struct evaluated *p = &run->policy[i];
        oltr_model_free(p->own);
        if (p->store && p->model)
            oltr_store_done(p->store);
        (void)model_close(p->store, EXIT_OK);
    }
}
