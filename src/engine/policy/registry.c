/* registry.c - all policies of the catalogue, one line each. */
#include "engine/base/nearest.h"
#include "engine/policy/settings.h"

extern const policy_ops gts_ops, ts_beta_ops, bayes_ucb_ops, ts_cascade_ops, cascade_ucb1_ops,
    cascade_klucb_ops, cascade_ucbv_ops, toprank_ops, lints_ops, logts_ops, logts_newton_ops,
    lints_cascade_ops, cascade_lints_ops, cascade_linucb_ops, cascade_woful_ops, ensemble_ops,
    random_ops;

/* clang-format off */
static const policy_ops *const registry[] = {
    /* the paper's Algorithm 1 */
    &gts_ops,
    /* baselines with a prior, and without */
    &ts_beta_ops, &bayes_ucb_ops,
    &ts_cascade_ops, &cascade_ucb1_ops, &cascade_klucb_ops, &cascade_ucbv_ops, &toprank_ops,
    /* with context: Algorithms 2, 3 and 4 of the paper, and their baselines */
    &lints_ops, &logts_ops, &logts_newton_ops,
    &lints_cascade_ops, &cascade_lints_ops, &cascade_linucb_ops, &cascade_woful_ops,
    /* these do not learn */
    &ensemble_ops, &random_ops,
};
/* clang-format on */
enum { COUNT = sizeof registry / sizeof *registry };

uint32_t oltr_policy_count(void)
{
    return COUNT;
}

const oltr_policy_info *oltr_policy_info_at(uint32_t index)
{
    return index < COUNT ? &registry[index]->info : NULL;
}

const oltr_policy_info *oltr_policy_info_by_name(const char *name, oltr_error *error)
{
    const char *names[COUNT];
    if (!name) {
        set_error(error, OLTR_EINVAL, "the name of a policy is missing");
        return NULL;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        names[i] = registry[i]->info.name;
        if (strcmp(name, names[i]) == 0)
            return &registry[i]->info;
    }
    const char *near = nearest_name(name, names, COUNT, sizeof *names);
    if (near)
        set_error(error, OLTR_EKIND, "no policy is called '%s'; did you mean '%s'?", name, near);
    else
        set_error(error, OLTR_EKIND, "no policy is called '%s'; `oltr policies` lists them", name);
    return NULL;
}

const policy_ops *policy_ops_of(const oltr_policy_info *info)
{
    for (uint32_t i = 0; i < COUNT; i++)
        if (&registry[i]->info == info)
            return registry[i];
    return info && info->ops && &info->ops->info == info ? info->ops : NULL;
}
