/* model_priors.c - see model_priors.h. */
#include "app/verbs/model_priors.h"

#include "app/verbs/model_family.h"

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

/* All of them at once, and if they are refused one by one on a copy, to find the line. */
int model_priors_give(const char *path, const struct prior_table *table, oltr_model *model)
{
    oltr_error error = {OLTR_OK, ""}, why = {OLTR_OK, ""};
    if (oltr_model_prior(model, table->name, table->pair, table->n, &error) == OLTR_OK)
        return EXIT_OK;
    oltr_model *copy = oltr_model_copy(model, NULL, &why);
    for (uint32_t i = 0; copy && i < table->n; i++) {
        bool refused = oltr_model_prior(copy, &table->name[i], &table->pair[2 * (size_t)i], 1,
                                        &why) != OLTR_OK;
        if (refused) {
            oltr_model_free(copy);
            return complain(EXIT_USAGE, "%s:%llu: %s", path, (unsigned long long)table->line[i],
                            why.msg);
        }
    }
    oltr_model_free(copy);
    return complain(EXIT_USAGE, "%s: %s", path, error.msg);
}
