/* unread.c - see unread.h.  The table repeats what the help of each parameter says;
 * tests/app/sweep.sh compares the two. */
#include "app/run/unread.h"

#include "engine/base/quote.h"
#include "lab/plan/plan_internal.h"

#include <stdio.h>
#include <string.h>

static const struct reading {
    const char *kind, *param;
    const char *by, *word; /* the parameter that decides, and a word of it, with which */
    bool read;             /* `param` is read with this word alone, or with all others */
} readings[] = {
    {"cascade-linucb", "sigma", "width", "released", false},
    {"cascade-linucb", "c", "width", "given", true},
    {"cascade-linucb", "S", "width", "printed", true},
    {"cascade-ucb1", "alpha", "bonus", "released", false},
    {"cascade-woful", "S", "variant", "released", false},
    {"glm-ucb", "alpha", "width", "given", true},
    {"glm-ucb", "sigma", "width", "theory", true},
    {"glm-ucb", "S", "width", "theory", true},
    {"glm-ucb", "horizon", "width", "theory", true},
    {"lints", "lambda", "radius", "released", false},
    {"lints", "S", "radius", "theory", true},
    {"lints", "sigma", "radius", "released", false},
    {"lints", "horizon", "radius", "theory", true},
    {"lints-cascade", "lambda", "variant", "released", false},
    {"lints-cascade", "R", "variant", "released", false},
    {"logts", "S", "scale", "theory", true},
    {"logts", "sigma", "scale", "theory", true},
    {"logts", "horizon", "scale", "theory", true},
    {"logts", "drift", "weights", "fresh", true},
    {"logts-newton", "alpha", "step", "exact", false},
};
enum { N_READINGS = sizeof readings / sizeof *readings };

/* Whether the settings have this word for the parameter that decides. */
static bool has_word(const oltr_settings *settings, const struct reading *reading)
{
    const oltr_policy_info *info = settings->info;
    for (uint32_t i = 0; i < info->n_params; i++)
        if (strcmp(info->params[i].name, reading->by) == 0)
            return strcmp(info->params[i].choices[(size_t)settings->value[i]], reading->word) == 0;
    return false;
}

/* Whether any point of the sweep reads it: the choice may be swept. */
static bool is_read(const oltr_plan *plan, uint32_t policy, const struct reading *reading)
{
    for (uint32_t p = 0; p < plan->n_points; p++)
        if (has_word(&plan->points[p].policy[policy].settings, reading) == reading->read)
            return true;
    return false;
}

static void warn(const char *label, const struct reading *r)
{
    char name[QUOTE_SIZE];
    printf("warning: %s has `%s`, which %s reads only %s `%s: %s`\n", quote_input(label, name),
           r->param, r->kind, r->read ? "with" : "without", r->by, r->word);
}

void unread_warn(const struct config *config)
{
    const oltr_plan *plan = config->plan;
    const struct node *list = tree_get(plan->root, "policies");
    uint32_t policy = 0;
    for (const struct node *map = list ? list->first : NULL; map; map = map->next, policy++) {
        const oltr_contestant *of = &plan->points[0].policy[policy];
        for (const struct reading *r = readings; r < readings + N_READINGS; r++)
            if (strcmp(r->kind, of->settings.info->name) == 0 && tree_get(map, r->param) &&
                !is_read(plan, policy, r))
                warn(of->label, r);
    }
}
