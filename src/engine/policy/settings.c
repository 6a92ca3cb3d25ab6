/* settings.c - parameters of a policy as text: set by name within bounds, and read back. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/nearest.h"
#include "engine/base/plain_real.h"
#include "engine/policy/settings.h"

static oltr_status check_items(uint32_t n_items, oltr_error *error)
{
    if (n_items < 1 || n_items > MOST_POLICY_ITEMS)
        return set_error(error, OLTR_EITEM, "a policy needs 1 to %d items, not %u",
                         MOST_POLICY_ITEMS, n_items);
    return OLTR_OK;
}

/* The struct itself: made for this oltr or an older one, and zeros in the room for later ones. */
static oltr_status check_layout(const oltr_settings *settings, oltr_error *error)
{
    if (settings->size > sizeof *settings)
        return set_error(
            error, OLTR_EINVAL,
            "these settings of %u bytes were made for a newer oltr; this one has %zu bytes of them",
            settings->size, sizeof *settings);
    if (settings->size != 0 && settings->size != sizeof *settings)
        return set_error(error, OLTR_EINVAL,
                         "settings of %u bytes are none; make them with oltr_settings_init()",
                         settings->size);
    if (settings->reserved32 || !is_zero(settings->reserved, sizeof settings->reserved) ||
        !is_zero(settings->prior.reserved, sizeof settings->prior.reserved))
        return set_error(
            error, OLTR_EINVAL,
            "reserved members of the settings must be 0; begin with oltr_settings_init()");
    if (settings->custom_bytes && !settings->custom)
        return set_error(error, OLTR_EINVAL, "custom_bytes is %zu, but there is nothing at custom",
                         settings->custom_bytes);
    if (!memory_is_whole(settings->memory))
        return set_error(error, OLTR_EINVAL, "a memory hook needs both take and give");
    return OLTR_OK;
}

static oltr_status check_values(const oltr_settings *settings, oltr_error *error)
{
    const oltr_policy_info *info = settings->info;
    for (uint32_t i = 0; i < info->n_params; i++)
        if (!param_fits(&info->params[i], settings->value[i]))
            return set_error(error, OLTR_EVALUE, "%s must be a %s between %g and %g, not %g",
                             info->params[i].name,
                             info->params[i].type == OLTR_REAL ? "number" : "whole number",
                             info->params[i].min, info->params[i].max, settings->value[i]);
    return OLTR_OK;
}

oltr_status settings_check(const oltr_settings *settings, oltr_error *error)
{
    const oltr_policy_info *info = settings->info;
    oltr_status status = check_layout(settings, error);
    if (status == OLTR_OK)
        status = check_items(settings->n_items, error);
    if (status != OLTR_OK)
        return status;
    if (info->contextual && (settings->dim < 1 || settings->dim > MOST_FEATURES))
        return set_error(error, OLTR_EFEATURE,
                         "%s ranks by features: give it a dim from 1 to %d, not %u", info->name,
                         MOST_FEATURES, settings->dim);
    return check_values(settings, error);
}

static oltr_status fill_in(oltr_settings *settings, const oltr_policy_info *info, uint32_t n_items,
                           oltr_error *error)
{
    oltr_status status = check_items(n_items, error);
    if (status != OLTR_OK)
        return status;
    *settings = (oltr_settings){.info = info, .n_items = n_items, .size = sizeof *settings};
    for (uint32_t i = 0; i < info->n_params; i++)
        settings->value[i] = info->params[i].initial;
    return OLTR_OK;
}

oltr_status oltr_settings_init(oltr_settings *settings, const char *kind, uint32_t n_items,
                               oltr_error *error)
{
    if (!settings)
        return set_error(error, OLTR_EINVAL, "there are no settings to fill in");
    const oltr_policy_info *info = oltr_policy_info_by_name(kind, error);
    if (!info)
        return kind ? OLTR_EKIND : OLTR_EINVAL;
    return fill_in(settings, info, n_items, error);
}

/* A parameter that can be set, shown and saved. */
static bool good_param(const oltr_param *p)
{
    double choices = 0;
    if (!p->name || !*p->name || strlen(p->name) > LONGEST_NAME || !p->help)
        return false;
    if (!param_fits(p, p->initial) || !isfinite(p->min) || !isfinite(p->max))
        return false;
    if (p->type != OLTR_CHOICE)
        return p->type == OLTR_REAL || p->type == OLTR_INTEGER;
    while (p->choices && p->choices[(size_t)choices])
        choices++;
    return p->min >= 0 && p->max < choices;
}

/* No two parameters of one name, and each a good one. */
static bool good_table(const oltr_policy_info *info)
{
    for (uint32_t i = 0; i < info->n_params; i++) {
        if (!good_param(&info->params[i]))
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(info->params[i].name, info->params[j].name) == 0)
                return false;
    }
    return true;
}

/* All that a policy from outside must have. */
static const char *missing(const oltr_policy_ops *ops)
{
    const oltr_policy_info *info = &ops->info;
    if (info->ops != ops)
        return "info.ops, which must point to the struct itself";
    if (!info->name || !*info->name || strlen(info->name) > LONGEST_NAME || !info->title ||
        !info->source || !info->summary)
        return "a name of up to 63 bytes, a title, a source or a summary";
    if (info->n_params > OLTR_MAX_PARAMS || (info->n_params && !info->params))
        return "its table of parameters, or has too many of them";
    if (!good_table(info))
        return "a name, a default within bounds, help or choices of a parameter, or has two of one "
               "name";
    if (!ops->state_bytes || !ops->scratch_bytes || !ops->init || !ops->rank || !ops->learn ||
        !ops->sums || !ops->refresh || !ops->check)
        return "one of the required operations";
    if (info->by_item && !ops->renew_item)
        return "the operation renew_item, which by_item promises";
    if (info->can_resize && !info->by_item && !info->contextual)
        return "what can_resize needs: to be by_item or contextual";
    if (!ops->derived != !ops->resume)
        return "one of derived and resume, which belong together";
    if (ops->least_sums && !ops->merge)
        return "the operation merge, which least_sums needs";
    if (!ops->predict && info->can_predict)
        return "the operation predict, which its info promises";
    return NULL;
}

oltr_status oltr_settings_init_custom(oltr_settings *settings, const oltr_policy_ops *ops,
                                      uint32_t n_items, oltr_error *error)
{
    if (!settings || !ops)
        return set_error(error, OLTR_EINVAL, "settings and the operations of a policy are needed");
    const char *lack = missing(ops);
    if (lack)
        return set_error(error, OLTR_EINVAL, "the policy lacks %s", lack);
    return fill_in(settings, &ops->info, n_items, error);
}

static void unknown_param(const oltr_policy_info *info, const char *name, oltr_error *error)
{
    const char *near = info->n_params ? nearest_name(name, &info->params[0].name, info->n_params,
                                                     sizeof info->params[0])
                                      : NULL;
    if (near)
        set_error(error, OLTR_EPARAM, "%s has no parameter '%s'; did you mean '%s'?", info->name,
                  name, near);
    else
        set_error(error, OLTR_EPARAM,
                  "%s has no parameter '%s'; `oltr policies %s` lists what it has", info->name,
                  name, info->name);
}

static oltr_status set_choice(const oltr_param *p, const char *text, double *value,
                              oltr_error *error)
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
    return set_error(error, OLTR_EVALUE, "%s must be one of %s, not '%s'", p->name, list, text);
}

/* Checks a number for this parameter; `text` is how the caller wrote it, or NULL. */
static oltr_status set_value(const oltr_param *p, double x, const char *text, double *value,
                             oltr_error *error)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.17g", x);
    text = text ? text : digits;
    if (!isfinite(x))
        return set_error(error, OLTR_EVALUE, "%s must be a number, not '%s'", p->name, text);
    if (p->type != OLTR_REAL && (x < rint(x) || x > rint(x)))
        return set_error(error, OLTR_EVALUE, "%s must be a whole number, not '%s'", p->name, text);
    if (x < p->min || x > p->max)
        return set_error(error, OLTR_EVALUE, "%s must lie between %g and %g, not at %s", p->name,
                         p->min, p->max, text);
    *value = x;
    return OLTR_OK;
}

static oltr_status set_number(const oltr_param *p, const char *text, double *value,
                              oltr_error *error)
{
    char *end;
    double x = plain_real(text, &end);
    if (end == text || *end)
        return set_error(error, OLTR_EVALUE, "%s must be a number, not '%s'", p->name, text);
    return set_value(p, x, text, value, error);
}

uint32_t param_named(const oltr_policy_info *info, const char *name)
{
    uint32_t i = 0;
    while (i < info->n_params && strcmp(name, info->params[i].name) != 0)
        i++;
    return i;
}

/* The parameter of this name in settings, and where its value is; NULL with an error. */
static const oltr_param *find_param(oltr_settings *settings, const char *name, double **value,
                                    oltr_error *error)
{
    const oltr_policy_info *info = settings->info;
    uint32_t i = param_named(info, name);
    if (i == info->n_params) {
        unknown_param(info, name, error);
        return NULL;
    }
    *value = &settings->value[i];
    return &info->params[i];
}

static oltr_status missing_argument(oltr_error *error)
{
    return set_error(error, OLTR_EINVAL,
                     "settings, the name of a parameter and its value are needed");
}

oltr_status oltr_settings_set(oltr_settings *settings, const char *name, const char *text,
                              oltr_error *error)
{
    double *value;
    if (!settings || !policy_ops_of(settings->info) || !name || !text)
        return missing_argument(error);
    const oltr_param *p = find_param(settings, name, &value, error);
    if (!p)
        return OLTR_EPARAM;
    return (p->type == OLTR_CHOICE ? set_choice : set_number)(p, text, value, error);
}

oltr_status oltr_settings_set_number(oltr_settings *settings, const char *name, double number,
                                     oltr_error *error)
{
    double *value;
    if (!settings || !policy_ops_of(settings->info) || !name)
        return missing_argument(error);
    const oltr_param *p = find_param(settings, name, &value, error);
    return p ? set_value(p, number, NULL, value, error) : OLTR_EPARAM;
}

/* The shortest decimal that reads back as the same value; what snprintf() returns. */
static int write_number(double value, char *text, size_t size)
{
    int n = -1;
    for (int digits = 6; digits <= 17; digits++) {
        n = plain_print(text, size, "%.*g", digits, value);
        double back = n < 0 || (size_t)n >= size ? value : plain_real(text, NULL);
        if (back <= value && back >= value)
            break;
    }
    return n;
}

oltr_status oltr_settings_get(const oltr_settings *settings, uint32_t index, char *text,
                              size_t size)
{
    if (!settings || !policy_ops_of(settings->info) || index >= settings->info->n_params || !text)
        return OLTR_EINVAL;
    const oltr_param *p = &settings->info->params[index];
    double value = settings->value[index];
    if (!param_fits(p, value))
        return OLTR_EVALUE;
    int n = p->type == OLTR_CHOICE ? snprintf(text, size, "%s", p->choices[(uint32_t)value])
                                   : write_number(value, text, size);
    return n >= 0 && (size_t)n < size ? OLTR_OK : OLTR_EBUFFER;
}
