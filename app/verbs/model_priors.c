/* model_priors.c - see model_priors.h. */
#include "app/verbs/model_priors.h"

#include "app/verbs/model_family.h"

#include <stdlib.h>
#include <string.h>

int model_columns(const struct arguments *arguments, struct log_names *names)
{
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, "columns") == 0 &&
            log_names_add(names, arguments->given[i].value, &error) != OLTR_OK)
            return complain(EXIT_USAGE, "%s", error.msg);
    return EXIT_OK;
}

void model_say_skipped(const struct log_report *report)
{
    uint64_t all = report->bad + report->bad_lists;
    char lines[GROUPED_SIZE], lists[GROUPED_SIZE];
    if (all == 0)
        return;
    for (uint64_t i = 0; i < all && i < LOG_BAD_SHOWN; i++)
        complain(0, "skipped: %s", report->message[i]);
    complain(0, "skipped %s line%s and %s list%s%s", model_grouped(report->bad, lines),
             plural_s(report->bad), model_grouped(report->bad_lists, lists),
             plural_s(report->bad_lists), all > LOG_BAD_SHOWN ? "; the first are above" : "");
}

int model_priors_read(const struct arguments *arguments, const char *path,
                      const oltr_policy_info *info, struct prior_table *out)
{
    oltr_error error = {OLTR_OK, ""};
    struct log_names names = {.features = NULL};
    struct log_report report = {.lenient = arguments_has(arguments, "lenient")};
    *out = (struct prior_table){.n = 0};
    int code = model_columns(arguments, &names);
    if (code != EXIT_OK)
        return code;
    if (!info->uses_prior || info->contextual)
        return complain(EXIT_USAGE, "%s takes no priors of items; `oltr policies` says which do",
                        info->name);
    if (prior_csv_read(path, info->takes_moments, &names, &report, out, &error) != OLTR_OK)
        return complain_of(&error);
    model_say_skipped(&report);
    return EXIT_OK;
}

/* ---- which line was refused */

struct named_line {
    oltr_name name;
    uint64_t line;
};

static int by_name(const void *x, const void *y)
{
    const struct named_line *a = x, *b = y;
    uint32_t size = a->name.size < b->name.size ? a->name.size : b->name.size;
    int order = memcmp(a->name.bytes, b->name.bytes, size);
    if (order == 0)
        order = (a->name.size > b->name.size) - (a->name.size < b->name.size);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static bool is_same_name(oltr_name a, oltr_name b)
{
    return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* Complains about an item that has two lines; EXIT_OK if there is none. */
static int find_twice(const char *path, const struct prior_table *table)
{
    struct named_line *line = calloc(table->n, sizeof *line);
    char word[LOG_QUOTE_SIZE];
    int code = line ? EXIT_OK : complain_no_memory();
    for (uint32_t i = 0; line && i < table->n; i++)
        line[i] = (struct named_line){table->name[i], table->line[i]};
    if (line)
        qsort(line, table->n, sizeof *line, by_name);
    for (uint32_t i = 1; code == EXIT_OK && i < table->n; i++)
        if (is_same_name(line[i - 1].name, line[i].name))
            code =
                complain(EXIT_USAGE, "%s:%llu: item `%s` a second time; the first is in line %llu",
                         path, (unsigned long long)line[i].line,
                         log_quote(line[i].name.bytes, line[i].name.size, word),
                         (unsigned long long)line[i - 1].line);
    free(line);
    return code;
}

/* Complains about the first line that the model refuses by itself; EXIT_OK if there is none. */
static int find_refused(const char *path, const struct prior_table *table, const oltr_model *model)
{
    oltr_error why = {OLTR_OK, ""};
    oltr_model *copy = oltr_model_copy(model, NULL, &why);
    int code = copy ? EXIT_OK : complain_failed(&why);
    for (uint32_t i = 0; code == EXIT_OK && i < table->n; i++)
        if (oltr_model_prior(copy, &table->name[i], &table->pair[2 * (size_t)i], 1, &why) !=
            OLTR_OK)
            code = complain(EXIT_USAGE, "%s:%llu: %s", path, (unsigned long long)table->line[i],
                            why.msg);
    oltr_model_free(copy);
    return code;
}

int model_priors_give(const char *path, const struct prior_table *table, oltr_model *model)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_model_prior(model, table->name, table->pair, table->n, &error) == OLTR_OK)
        return EXIT_OK;
    int code = find_twice(path, table);
    if (code == EXIT_OK)
        code = find_refused(path, table, model);
    return code != EXIT_OK ? code : complain(EXIT_USAGE, "%s: %s", path, error.msg);
}
