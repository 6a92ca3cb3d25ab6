/* registry.c - all policies of the catalogue, one line each. */
#include "engine/base/nearest.h"
#include "engine/policy/settings.h"

/* clang-format off */
#define POLICY_LIST(X)                                             \
    X(gts)              /* the paper's Algorithm 1 */              \
    X(ts_hyper)         /* it learns how wrong its prior is */     \
    X(ts_beta)          /* baselines with a prior */               \
    X(bayes_ucb)                                                   \
    X(ts_cascade)       /* and without */                          \
    X(cascade_ucb1)                                                \
    X(cascade_klucb)                                               \
    X(cascade_ucbv)                                                \
    X(toprank)                                                     \
    X(maillard)                                                    \
    X(epsilon_greedy)                                              \
    X(bubblerank)       /* a list that is improved step by step */ \
    X(pbm_ts)           /* slots that are perhaps not examined */  \
    X(pbm_ucb)                                                     \
    X(lints)            /* with features: Algorithms 2, 3 and 4 */ \
    X(logts)                                                       \
    X(logts_newton)                                                \
    X(lints_cascade)    /* and their baselines */                  \
    X(cascade_lints)                                               \
    X(cascade_linucb)                                              \
    X(cascade_woful)                                               \
    X(glm_ucb)                                                     \
    X(pg_ts)                                                       \
    X(ensemble)         /* these do not learn */                   \
    X(random)
/* clang-format on */

#define DECLARE(name) extern const policy_ops name##_ops;
#define ADDRESS(name) &name##_ops,

POLICY_LIST(DECLARE)

static const policy_ops *const registry[] = {POLICY_LIST(ADDRESS)};
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
