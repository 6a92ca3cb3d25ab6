/* cmd_policies.c - `oltr policies`: the catalogue of the engine, as text or as the Markdown tables
 * of the documentation. */
#include "app/verbs/verbs.h"
#include "engine/base/nearest.h"
#include "engine/base/quote.h"

#include <oltr/oltr.h>
#include <math.h>
#include <string.h>

const struct option policies_options[] = {
    {0, "markdown", NULL, NULL, "print tables in Markdown"},
    {0, NULL, NULL, NULL, NULL},
};

enum { VALUE_SIZE = 160, INDENT = 24 };

static const char *rewards_of(const oltr_policy_info *info)
{
    return info->rewards == OLTR_CLICKS ? "clicks" : "reals";
}

/* ---- parameters */

static const char *default_of(const oltr_param *param, char text[VALUE_SIZE])
{
    if (param->type == OLTR_CHOICE)
        return param->choices[(size_t)param->initial];
    snprintf(text, VALUE_SIZE, "%.12g", param->initial);
    return text;
}

/* "none, mean, full" or "0 to 1"; bounds beyond 1e15 are left out. */
static const char *values_of(const oltr_param *param, char text[VALUE_SIZE])
{
    static const double FAR = 1e15;
    size_t used = 0;
    text[0] = '\0';
    if (param->type == OLTR_CHOICE) {
        for (const char *const *choice = param->choices;
             *choice && used + strlen(*choice) + 3 < VALUE_SIZE; choice++)
            used += (size_t)snprintf(text + used, VALUE_SIZE - used, "%s%s", used > 0 ? ", " : "",
                                     *choice);
        return text;
    }
    const char *kind = param->type == OLTR_INTEGER ? "whole, " : "";
    if (fabs(param->min) < FAR && fabs(param->max) < FAR) {
        snprintf(text, VALUE_SIZE, "%s%.9g to %.9g", kind, param->min, param->max);
    } else if (fabs(param->min) < FAR) {
        snprintf(text, VALUE_SIZE, "%sat least %.9g", kind, param->min);
    } else {
        snprintf(text, VALUE_SIZE, "%s",
                 param->type == OLTR_INTEGER ? "any whole number" : "any number");
    }
    return text;
}

static void param_entry(const oltr_param *param)
{
    char initial[VALUE_SIZE], values[VALUE_SIZE];
    printf("  %-14s ", param->name);
    help_fold(stdout, param->help, 17, 17);
    printf("%17s%s; default %s\n", "", values_of(param, values), default_of(param, initial));
}

static void param_markdown(const oltr_policy_info *info)
{
    char initial[VALUE_SIZE], values[VALUE_SIZE];
    if (info->n_params == 0) {
        puts("This policy has no parameters.");
        return;
    }
    puts("| parameter | default | values | meaning |\n|---|---|---|---|");
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *param = &info->params[i];
        printf("| `%s` | %s | %s | %s |\n", param->name, default_of(param, initial),
               values_of(param, values), param->help);
    }
}

/* ---- policies */

static void print_list(bool markdown)
{
    if (markdown)
        puts("| policy | title | rewards | summary |\n|---|---|---|---|");
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (markdown) {
            printf("| `%s` | %s | %s | %s |\n", info->name, info->title, rewards_of(info),
                   info->summary);
            continue;
        }
        printf("%-15s %-7s ", info->name, rewards_of(info));
        help_fold(stdout, info->title, INDENT, INDENT);
        printf("%*s", INDENT, "");
        help_fold(stdout, info->summary, INDENT, INDENT);
    }
    if (!markdown)
        puts("\n`oltr policies NAME` explains one of them with its parameters.");
}

static void field(const char *name, const char *value)
{
    printf("%-9s ", name);
    help_fold(stdout, value, 10, 10);
}

static void print_policy(const oltr_policy_info *info)
{
    char abilities[VALUE_SIZE];
    snprintf(abilities, sizeof abilities, "accepts %s%s%s%s%s%s%s%s",
             info->rewards == OLTR_CLICKS ? "clicks (0 or 1)" : "any real reward",
             info->contextual ? ", needs features" : "", info->uses_prior ? ", takes a prior" : "",
             info->can_predict ? ", predicts" : "", info->can_merge ? ", merges" : "",
             info->can_forget ? ", forgets" : "",
             info->exact_copy ? ", copies go on to the same bits" : "",
             info->order_free ? ", learns the same in any order" : "");
    field("name", info->name);
    field("title", info->title);
    field("source", info->source);
    field("summary", info->summary);
    field("can", abilities);
    puts(info->n_params > 0 ? "\nparameters:" : "\nIt has no parameters.");
    for (uint32_t i = 0; i < info->n_params; i++)
        param_entry(&info->params[i]);
}

static int unknown_policy(const char *name)
{
    char hint[HINT_SIZE], word[QUOTE_SIZE];
    struct nearest nearest = nearest_to(name);
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        nearest_offer(&nearest, oltr_policy_info_at(i)->name);
    return complain(EXIT_USAGE, "no policy is called `%s`%s", quote_input(name, word),
                    nearest.best ? nearest_hint(&nearest, hint)
                                 : "; `oltr policies` lists all of them");
}

int cmd_policies(const struct arguments *arguments)
{
    bool markdown = arguments_has(arguments, "markdown");
    if (arguments->n_operands == 0) {
        print_list(markdown);
        return EXIT_OK;
    }
    const oltr_policy_info *info = oltr_policy_info_by_name(arguments->operand[0], NULL);
    if (!info)
        return unknown_policy(arguments->operand[0]);
    if (markdown)
        param_markdown(info);
    else
        print_policy(info);
    return EXIT_OK;
}
