/* reads_prior.h - which policies read a prior: those of the catalogue that can, unless their
 * parameter `prior` is none. */
#ifndef OLTR_ENGINE_BASE_READS_PRIOR_H
#define OLTR_ENGINE_BASE_READS_PRIOR_H

#include <stdbool.h>
#include <string.h>
#include <oltr/oltr.h>

/* Whether this value is the choice of that name.  A value that is no choice is none of them. */
static inline bool choice_is(const oltr_param *param, double value, const char *name)
{
    for (uint32_t i = 0; param->choices[i]; i++)
        if (value >= i && value <= i)
            return strcmp(param->choices[i], name) == 0;
    return false;
}

static inline bool prior_is_taken(const oltr_settings *settings)
{
    const oltr_policy_info *info = settings->info;
    for (uint32_t i = 0; i < info->n_params; i++)
        if (info->params[i].type == OLTR_CHOICE && strcmp(info->params[i].name, "prior") == 0)
            return info->uses_prior && !choice_is(&info->params[i], settings->value[i], "none");
    return info->uses_prior;
}

#endif
