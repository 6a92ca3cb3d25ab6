/* settings.h - lookups and checks of settings for the engine's own files (settings.c, registry.c).
 */
#ifndef OLTR_ENGINE_POLICY_SETTINGS_H
#define OLTR_ENGINE_POLICY_SETTINGS_H

#include "engine/base/struct_check.h"
#include "engine/policy/ops.h"

/* The operations of a policy of the catalogue or from outside; NULL for an info that is neither. */
const policy_ops *policy_ops_of(const oltr_policy_info *info);

/* Checks everything but the prior, in settings that may have been filled in by hand. */
oltr_status settings_check(const oltr_settings *settings, oltr_error *error);

/* The index of the parameter of this name, or n_params. */
uint32_t param_named(const oltr_policy_info *info, const char *name);

/* Whether a value is within the bounds of a parameter, and whole where it must be. */
static inline bool param_fits(const oltr_param *p, double value)
{
    bool whole = value >= rint(value) && value <= rint(value);
    return value >= p->min && value <= p->max && (p->type == OLTR_REAL || whole);
}

#endif
