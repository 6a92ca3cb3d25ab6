/* model.c - a model as an object: makes, copies, frees, checks. */
#include "engine/model/model_parts.h"

#include "engine/policy/settings.h"
#include "engine/posterior/item_prior.h"

enum { FIRST_ROOM = 8 }; /* items of a new model */

/* ---- the policy of a model */

/* Arrays of n default priors, one after the other; NULL without memory. */
static double *default_pairs(const oltr_model_settings *s, uint32_t n, const oltr_memory *memory)
{
    double *pair = memory_take(memory, 2 * (size_t)n * sizeof *pair);
    for (uint32_t i = 0; pair && i < n; i++) {
        pair[i] = s->prior[0];
        pair[n + i] = s->prior[1];
    }
    return pair;
}

static oltr_prior prior_of_pairs(const oltr_model_settings *s, const double *pair, uint32_t n)
{
    oltr_prior shapes = {.a = pair};
    oltr_prior moments = {.mean = pair};
    return prior_at(s->policy.info->takes_moments ? &moments : &shapes, pair, n);
}

static oltr_policy *make_with_priors(const oltr_model_settings *s, oltr_error *error)
{
    oltr_settings settings = s->policy;
    uint32_t n = settings.n_items;
    double *pair = default_pairs(s, n, settings.memory);
    if (!pair) {
        set_error(error, OLTR_ENOMEM, "no memory for the priors of a model");
        return NULL;
    }
    settings.prior = prior_of_pairs(s, pair, n);
    oltr_policy *policy = oltr_policy_new(&settings, error);
    memory_give(settings.memory, pair, 2 * n * sizeof *pair);
    return policy;
}

oltr_policy *policy_with_room(const oltr_model *m, uint32_t n_items, const oltr_settings *lent,
                              oltr_error *error)
{
    uint32_t more = n_items - m->settings.policy.n_items;
    size_t bytes = 2 * (size_t)more * sizeof(double);
    double *pair = has_priors(m) ? default_pairs(&m->settings, more, &m->memory) : NULL;
    if (has_priors(m) && !pair) {
        set_error(error, OLTR_ENOMEM, "no memory for the priors of %u more items", more);
        return NULL;
    }
    oltr_prior prior = {.a = NULL};
    if (pair)
        prior = prior_of_pairs(&m->settings, pair, more);
    oltr_policy *policy =
        policy_with_more_room(m->policy, n_items, pair ? &prior : NULL, lent, error);
    memory_give(&m->memory, pair, pair ? bytes : 0);
    return policy;
}

oltr_policy *policy_to_change(const oltr_model *m, oltr_error *error)
{
    return has_priors(m) ? oltr_policy_copy(m->policy, NULL, error)
                         : policy_copy_lent(m->policy, &m->settings.policy, error);
}

void keep_policy(oltr_model *m, oltr_policy *policy)
{
    oltr_policy_free(m->policy);
    m->policy = policy;
    m->settings.policy.n_items = policy->n_items;
    policy_lend(policy, &m->settings.policy);
}

/* ---- making and freeing */

static oltr_status make_tables(oltr_model *m, uint32_t n)
{
    uint32_t room = n > FIRST_ROOM ? n : FIRST_ROOM;
    m->ids = (ids){.window = m->settings.window};
    if (is_contextual(m))
        return OLTR_OK;
    return names_init(&m->names, m->settings.name_key, room, &m->memory);
}

oltr_model *model_around(oltr_policy *policy, const oltr_model_settings *settings, uint32_t n,
                         const oltr_memory *memory, oltr_error *error)
{
    oltr_model *m = memory_take_small(memory, sizeof *m);
    if (!m) {
        oltr_policy_free(policy);
        set_error(error, OLTR_ENOMEM, "no memory for a model");
        return NULL;
    }
    *m = (oltr_model){.settings = *settings, .policy = policy};
    if (memory)
        m->memory = *memory;
    m->settings.policy = plain_settings(policy->settings);
    m->settings.policy.memory = m->memory.take ? &m->memory : NULL;
    m->settings.size = sizeof m->settings;
    policy_lend(policy, &m->settings.policy);
    if (make_tables(m, n) == OLTR_OK)
        return m;
    set_error(error, OLTR_ENOMEM, "no memory for the names of a model");
    oltr_model_free(m);
    return NULL;
}

oltr_model *oltr_model_new(const oltr_model_settings *settings, oltr_error *error)
{
    if (model_settings_check(settings, error) != OLTR_OK)
        return NULL;
    oltr_model_settings own = *settings;
    if (!own.policy.info->contextual)
        own.policy.n_items = FIRST_ROOM;
    if (settings_check(&own.policy, error) != OLTR_OK)
        return NULL;
    own.policy = plain_settings(&own.policy);
    oltr_policy *policy =
        isnan(own.prior[0]) ? policy_new_lent(&own.policy, error) : make_with_priors(&own, error);
    return policy ? model_around(policy, &own, 0, own.policy.memory, error) : NULL;
}

void oltr_model_free(oltr_model *model)
{
    if (!model)
        return;
    oltr_memory memory = model->memory; /* the hook goes with the block that it frees */
    if (!is_contextual(model))
        names_end(&model->names, &memory);
    ids_end(&model->ids, &memory);
    oltr_policy_free(model->policy);
    memory_give_small(&memory, model, sizeof *model);
}

/* Names and ids of another model. */
static oltr_status copy_tables(oltr_model *to, const oltr_model *from)
{
    if (!is_contextual(from)) {
        names_end(&to->names, &to->memory);
        oltr_status status = names_copy(&to->names, &from->names, &to->memory);
        if (status != OLTR_OK)
            return status;
    }
    return ids_copy(&to->ids, &from->ids, &to->memory);
}

oltr_model *oltr_model_copy(const oltr_model *model, const oltr_memory *memory, oltr_error *error)
{
    if (!model || !memory_is_whole(memory)) {
        set_error(error, OLTR_EINVAL,
                  "a model is needed to copy it, and a memory hook has both take and give, or is "
                  "NULL");
        return NULL;
    }
    oltr_model_settings settings = model->settings;
    settings.policy.memory = memory ? memory : model->settings.policy.memory;
    oltr_policy *policy = has_priors(model)
                              ? oltr_policy_copy(model->policy, settings.policy.memory, error)
                              : policy_copy_lent(model->policy, &settings.policy, error);
    oltr_model *copy =
        policy ? model_around(policy, &settings, model->names.n, settings.policy.memory, error)
               : NULL;
    if (!copy || copy_tables(copy, model) == OLTR_OK)
        return copy;
    set_error(error, OLTR_ENOMEM, "no memory for a copy of the model");
    oltr_model_free(copy);
    return NULL;
}

/* ---- reading */

const oltr_model_settings *oltr_model_settings_of(const oltr_model *model)
{
    return model ? &model->settings : NULL;
}

const oltr_policy *oltr_model_policy(const oltr_model *model)
{
    return model ? model->policy : NULL;
}

uint64_t oltr_model_lessons(const oltr_model *model)
{
    return model ? oltr_policy_rounds(model->policy) : 0;
}

size_t oltr_model_bytes(const oltr_model *model)
{
    if (!model)
        return 0;
    size_t tables = is_contextual(model) ? 0 : names_bytes(&model->names);
    return sizeof *model + model->policy->bytes + tables + ids_bytes(&model->ids);
}

/* Whether every name is found under its own number. */
static bool names_are_found(const names *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!name_is_valid(names_at(t, i)) || names_find(t, names_at(t, i)) != i)
            return false;
    return true;
}

static bool ids_are_found(const ids *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (!ids_has(w, ids_at(w, i)))
            return false;
    return w->n <= w->window;
}

bool room_is_empty(const oltr_model *m)
{
    double number[OLTR_MAX_ITEM_NUMBERS], pair[2];
    uint32_t n;
    for (uint32_t i = m->names.n; i < m->settings.policy.n_items; i++) {
        if (oltr_item_get(m->policy, i, number, OLTR_MAX_ITEM_NUMBERS, &n) != OLTR_OK)
            return false;
        uint32_t sums = has_priors(m) ? n - 2 : n;
        for (uint32_t a = 0; a < sums; a++)
            if (!(fabs(number[a]) <= 0))
                return false;
        item_pair(m, i, pair);
        if (has_priors(m) && memcmp(pair, m->settings.prior, sizeof pair) != 0)
            return false;
    }
    return m->names.n < m->settings.policy.n_items;
}

oltr_status oltr_model_check(const oltr_model *model, oltr_error *error)
{
    if (!model)
        return set_error(error, OLTR_EINVAL, "there is no model to check");
    oltr_status status = oltr_check(model->policy, error);
    if (status != OLTR_OK)
        return status;
    if (!ids_are_found(&model->ids))
        return set_error(error, OLTR_ESTATE, "the table of ids does not hold what it lists");
    if (is_contextual(model))
        return OLTR_OK;
    if (!names_are_found(&model->names))
        return set_error(error, OLTR_ESTATE, "the table of names does not hold what it lists");
    if (!room_is_empty(model))
        return set_error(error, OLTR_ESTATE, "an item without a name has observations or a prior");
    return OLTR_OK;
}
