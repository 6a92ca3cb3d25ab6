/* settings.c - parameters of a policy as text: set by name within bounds, and read back. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"

enum { MOST_ITEMS = 1 << 28 };

static oltr_status fill_in(oltr_settings *settings, const oltr_policy_info *info, uint32_t n_items, oltr_error *error)
{
    if (n_items < 1 || n_items > MOST_ITEMS)
        return fail(error, OLTR_EITEM, "a policy needs 1 to %d items, not %u", MOST_ITEMS, n_items);
    *settings = (oltr_settings){.info = info, .n_items = n_items};
    for (uint32_t i = 0; i < info->n_params; i++)
        settings->value[i] = info->params[i].initial;
    return OLTR_OK;
}

oltr_status oltr_settings_init(oltr_settings *settings, const char *kind, uint32_t n_items, oltr_error *error)
{
    if (!settings)
        return fail(error, OLTR_EINVAL, "there are no settings to fill in");
    const oltr_policy_info *info = oltr_policy_info_by_name(kind, error);
    if (!info)
        return kind ? OLTR_EKIND : OLTR_EINVAL;
    return fill_in(settings, info, n_items, error);
}

/* All that a policy from outside must have. */
static const char *missing(const oltr_policy_ops *ops)
{
    const oltr_policy_info *info = &ops->info;
    if (info->ops != ops)
        return "info.ops, which must point to the struct itself";
    if (!info->name || !*info->name || strlen(info->name) > 63 || !info->title || !info->source || !info->summary)
        return "a name of up to 63 bytes, a title, a source or a summary";
    if (info->n_params > OLTR_MAX_PARAMS || (info->n_params && !info->params))
        return "its table of parameters, or has too many of them";
    if (!ops->state_bytes || !ops->scratch_bytes || !ops->init || !ops->rank || !ops->learn || !ops->sums ||
        !ops->refresh || !ops->check)
        return "one of the required operations";
    if (!ops->predict && info->can_predict)
        return "the operation predict, which its info promises";
    return NULL;
}

oltr_status oltr_settings_init_custom(oltr_settings *settings, const oltr_policy_ops *ops, uint32_t n_items,
                                      oltr_error *error)
{
    if (!settings || !ops)
        return fail(error, OLTR_EINVAL, "settings and the operations of a policy are needed");
    const char *lack = missing(ops);
    if (lack)
        return fail(error, OLTR_EINVAL, "the policy lacks %s", lack);
    return fill_in(settings, &ops->info, n_items, error);
}

static oltr_status unknown_param(const oltr_policy_info *info, const char *name, oltr_error *error)
{
    const char *near =
        info->n_params ? nearest_name(name, &info->params[0].name, info->n_params, sizeof info->params[0]) : NULL;
    if (near)
        return fail(error, OLTR_EPARAM, "%s has no parameter '%s'; did you mean '%s'?", info->name, name, near);
    return fail(error, OLTR_EPARAM, "%s has no parameter '%s'; `oltr policies %s` lists what it has", info->name, name,
                info->name);
}

static oltr_status set_choice(const oltr_param *p, const char *text, double *value, oltr_error *error)
{
    char list[160] = "";
    for (uint32_t i = 0; p->choices[i]; i++) {
        if (strcmp(text, p->choices[i]) == 0) {
            *value = i;
            return OLTR_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", p->choices[i]);
    }
    return fail(error, OLTR_EVALUE, "%s must be one of %s, not '%s'", p->name, list, text);
}

static oltr_status set_number(const oltr_param *p, const char *text, double *value, oltr_error *error)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x))
        return fail(error, OLTR_EVALUE, "%s must be a number, not '%s'", p->name, text);
    if (p->type == OLTR_INTEGER && (x < rint(x) || x > rint(x)))
        return fail(error, OLTR_EVALUE, "%s must be a whole number, not '%s'", p->name, text);
    if (x < p->min || x > p->max)
        return fail(error, OLTR_EVALUE, "%s must lie between %g and %g, not at %s", p->name, p->min, p->max, text);
    *value = x;
    return OLTR_OK;
}

oltr_status oltr_settings_set(oltr_settings *settings, const char *name, const char *text, oltr_error *error)
{
    if (!settings || !settings->info || !name || !text)
        return fail(error, OLTR_EINVAL, "settings, the name of a parameter and its value are needed");
    const oltr_policy_info *info = settings->info;
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *p = &info->params[i];
        if (strcmp(name, p->name) == 0)
            return (p->type == OLTR_CHOICE ? set_choice : set_number)(p, text, &settings->value[i], error);
    }
    return unknown_param(info, name, error);
}

oltr_status oltr_settings_get(const oltr_settings *settings, uint32_t index, char *text, size_t size)
{
    if (!settings || !settings->info || index >= settings->info->n_params || !text)
        return OLTR_EINVAL;
    const oltr_param *p = &settings->info->params[index];
    int n = -1;
    if (p->type == OLTR_CHOICE)
        n = snprintf(text, size, "%s", p->choices[(uint32_t)settings->value[index]]);
    else
        for (int digits = 6; digits <= 17; digits++) { /* the shortest that reads back */
            n = snprintf(text, size, "%.*g", digits, settings->value[index]);
            double back = strtod(text, NULL);
            if (n < 0 || (size_t)n >= size || (back <= settings->value[index] && back >= settings->value[index]))
                break;
        }
    return n >= 0 && (size_t)n < size ? OLTR_OK : OLTR_EBUFFER;
}
