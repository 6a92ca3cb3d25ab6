/* cmd_policies.c - `oltr policies`: the engine's catalogue, for people and as the tables of the
 * documentation. */
#include "app/verbs/verbs.h"
#include "engine/base/nearest.h"
#include "engine/base/quote.h"
#include "lab/plan/param_text.h"

#include <oltr/oltr.h>
#include <string.h>

const struct option policies_options[] = {
    {0, "markdown", NULL, NULL, "print tables in Markdown"},
    {0, NULL, NULL, NULL, NULL},
};

enum { INDENT = 24 };

static const char *rewards_of(const oltr_policy_info *info)
{
    return info->rewards == OLTR_CLICKS ? "clicks" : "reals";
}

/* ---- parameters */

static void param_entry(const oltr_param *param)
{
    char initial[PARAM_TEXT_SIZE], values[PARAM_TEXT_SIZE];
    printf("  %-14s ", param->name);
    help_fold(stdout, param->help, 17, 17);
    printf("%17s%s; default %s\n", "", param_values(param, values), param_default(param, initial));
}

static void param_markdown(const oltr_policy_info *info)
{
    char initial[PARAM_TEXT_SIZE], values[PARAM_TEXT_SIZE];
    if (info->n_params == 0) {
        puts("This policy has no parameters.");
        return;
    }
    puts("| parameter | default | values | meaning |\n|---|---|---|---|");
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *param = &info->params[i];
        printf("| `%s` | %s | %s | %s |\n", param->name, param_default(param, initial),
               param_values(param, values), param->help);
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
    char abilities[PARAM_TEXT_SIZE];
    snprintf(abilities, sizeof abilities, "accepts %s%s%s%s%s%s%s%s",
             info->rewards == OLTR_CLICKS ? "clicks (0 or 1)" : "any real reward",
             info->contextual ? ", needs features" : "", info->uses_prior ? ", takes a prior" : "",
             info->can_predict ? ", predicts" : "", info->can_merge ? ", merges" : "",
             info->can_forget ? ", forgets" : "",
             info->exact_copy ? ", copies give the same bits" : "",
             info->order_free ? ", the order of lessons does not matter" : "");
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
