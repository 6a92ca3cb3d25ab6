/* model_like.c - a model whose prior is what another one believes.
 *
 * By item, the belief of the parent, mean and standard deviation, becomes the child's prior: as
 * moments, with the deviation divided by sqrt(strength), or as Beta shapes of the same mean and
 * deviation times strength.  For a Beta posterior these are its own shapes.  The parent's belief
 * about an unknown item becomes the default prior.
 *
 * A linear or logistic posterior is its sums; the child has them, multiplied by strength.
 */
#include "engine/model/model_parts.h"

#include "engine/policy/settings.h"
#include "engine/posterior/item_prior.h"

/* The prior that is as sure as `strength` times the belief; a Beta weighs at least LEAST_TOLD. */
static void pair_of_belief(bool moments, double mean, double sd, double strength, double pair[2])
{
    if (moments) {
        pair[0] = mean;
        pair[1] = sd / sqrt(strength);
        return;
    }
    double weight = fmax(mean * (1 - mean) / (sd * sd) - 1, LEAST_TOLD) * strength;
    pair[0] = fmax(mean * weight, LEAST_SHAPE);
    pair[1] = fmax((1 - mean) * weight, LEAST_SHAPE);
}

static oltr_status check_parent(const oltr_model *parent, double strength,
                                const oltr_memory *memory, oltr_error *error)
{
    if (!parent || !memory_is_whole(memory))
        return set_error(
            error, OLTR_EINVAL,
            "a parent is needed, and a memory hook has both take and give, or is NULL");
    if (!(strength > 0 && strength <= 1))
        return set_error(error, OLTR_EVALUE, "strength is above 0 and at most 1, not %g", strength);
    const oltr_policy_info *info = parent->settings.policy.info;
    bool possible = info->contextual ? info->can_forget : info->uses_prior && info->can_predict;
    if (!possible)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s has no prior that a belief could become: copy the model instead",
                         info->name);
    return OLTR_OK;
}

/* ---- with features */

static oltr_model *like_rows(const oltr_model *parent, double strength, const oltr_memory *memory,
                             oltr_error *error)
{
    oltr_model *child = oltr_model_copy(parent, memory, error);
    if (!child)
        return NULL;
    ids_end(&child->ids, &child->memory);
    oltr_status status = oltr_forget(child->policy, strength);
    if (status == OLTR_OK)
        return child;
    set_error(error, status, "%s", oltr_strerror(status));
    oltr_model_free(child);
    return NULL;
}

/* ---- by item */

/* The settings of a child: those of the parent, and its belief about an unknown item. */
static oltr_status settings_of_child(const oltr_model *parent, oltr_model_settings *settings,
                                     oltr_error *error)
{
    double mean, sd;
    *settings = parent->settings;
    uint32_t unknown = parent->names.n;
    oltr_query query = {.n_items = 1, .item = &unknown};
    oltr_status status = oltr_predict(parent->policy, &query, &mean, &sd);
    if (status != OLTR_OK)
        return set_error(error, status, "%s", oltr_strerror(status));
    pair_of_belief(settings->policy.info->takes_moments, mean, sd, 1, settings->prior);
    return oltr_settings_set(&settings->policy, "prior", "full", error);
}

/* The prior of every item of the parent, as pairs (n, 2). */
static oltr_status read_beliefs(const oltr_model *parent, double strength, double *pair,
                                oltr_error *error)
{
    bool moments = parent->settings.policy.info->takes_moments;
    for (uint32_t i = 0; i < parent->names.n; i++) {
        double mean, sd;
        oltr_query query = {.n_items = 1, .item = &i};
        oltr_status status = oltr_predict(parent->policy, &query, &mean, &sd);
        if (status != OLTR_OK)
            return set_error(error, status, "%s", oltr_strerror(status));
        pair_of_belief(moments, mean, sd, strength, pair + 2 * (size_t)i);
    }
    return OLTR_OK;
}

static oltr_status give_beliefs(oltr_model *child, const oltr_model *parent, double strength,
                                oltr_error *error)
{
    uint32_t n = parent->names.n;
    size_t pair_bytes = 2 * (size_t)n * sizeof(double), name_bytes = n * sizeof(oltr_name);
    double *pair = memory_take(&child->memory, pair_bytes);
    oltr_name *name = memory_take(&child->memory, name_bytes);
    oltr_status status = pair && name ? read_beliefs(parent, strength, pair, error)
                                      : set_error(error, OLTR_ENOMEM, "no memory for a child");
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++)
        name[i] = names_at(&parent->names, i);
    if (status == OLTR_OK)
        status = oltr_model_prior(child, name, pair, n, error);
    memory_give(&child->memory, pair, pair_bytes);
    memory_give(&child->memory, name, name_bytes);
    return status;
}

static oltr_model *like_items(const oltr_model *parent, double strength, const oltr_memory *memory,
                              oltr_error *error)
{
    oltr_model_settings settings;
    if (settings_of_child(parent, &settings, error) != OLTR_OK)
        return NULL;
    settings.policy.memory = memory ? memory : parent->settings.policy.memory;
    oltr_model *child = oltr_model_new(&settings, error);
    if (!child || !parent->names.n || give_beliefs(child, parent, strength, error) == OLTR_OK)
        return child;
    oltr_model_free(child);
    return NULL;
}

oltr_model *oltr_model_like(const oltr_model *parent, double strength, const oltr_memory *memory,
                            oltr_error *error)
{
    if (check_parent(parent, strength, memory, error) != OLTR_OK)
        return NULL;
    return (is_contextual(parent) ? like_rows : like_items)(parent, strength, memory, error);
}
