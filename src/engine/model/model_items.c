/* model_items.c - the items of a model: room for more, priors, and removal.
 *
 * An item that is removed gives its number to the last one, which takes constant time; the policy
 * keeps its room.
 */
#include "engine/model/model_parts.h"

#include <stdlib.h>

/* ---- room */

static uint32_t power_of_two(uint64_t n)
{
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static oltr_status reserve_last(oltr_model *m, uint32_t n)
{
    if (n <= m->last_room)
        return OLTR_OK;
    uint32_t room = power_of_two(n);
    uint64_t *last = memory_take_small(&m->memory, room * sizeof *last);
    if (!last)
        return OLTR_ENOMEM;
    memcpy(last, m->last, m->names.n * sizeof *last);
    memory_give_small(&m->memory, m->last, m->last_room * sizeof *last);
    m->last = last;
    m->last_room = room;
    return OLTR_OK;
}

static oltr_status reserve_policy(oltr_model *m, uint32_t n, oltr_error *error)
{
    if (n <= m->settings.policy.n_items)
        return OLTR_OK;
    oltr_error why = {OLTR_ENOMEM, ""};
    oltr_policy *larger = policy_with_room(m, power_of_two(n), &why);
    if (!larger)
        return set_error(error, why.code, "%s", why.msg);
    oltr_policy_free(m->policy);
    m->policy = larger;
    m->settings.policy.n_items = power_of_two(n);
    return OLTR_OK;
}

static oltr_status reserve_items(oltr_model *m, uint32_t more, size_t bytes, oltr_error *error)
{
    uint64_t n = (uint64_t)m->names.n + more;
    if (n > m->settings.most_items)
        return set_error(error, OLTR_EFULL,
                         "the model has %u items and may have %u (most_items): remove or trim "
                         "some, or make it anew with more",
                         m->names.n, m->settings.most_items);
    oltr_status status = names_reserve(&m->names, more, bytes, &m->memory);
    if (status == OLTR_OK)
        status = reserve_last(m, (uint32_t)n);
    if (status != OLTR_OK)
        return set_error(error, status, "no memory for %u more names", more);
    return reserve_policy(m, (uint32_t)n + 1, error);
}

oltr_status model_reserve(oltr_model *m, uint32_t more, size_t bytes, bool id, oltr_error *error)
{
    if (id && ids_reserve(&m->ids, m->ids.n + 1, &m->memory) != OLTR_OK)
        return set_error(error, OLTR_ENOMEM, "no memory for one more id");
    return is_contextual(m) ? OLTR_OK : reserve_items(m, more, bytes, error);
}

/* ---- names */

oltr_status check_names(const oltr_name *name, uint32_t n, const char *what, oltr_error *error)
{
    if (n && !name)
        return set_error(error, OLTR_EINVAL, "the names are missing");
    for (uint32_t i = 0; i < n; i++)
        if (!name_is_valid(name[i]))
            return set_error(error, OLTR_ENAME, "%s %u: a name has 1 to %d bytes, not %u", what, i,
                             OLTR_LONGEST_NAME, name[i].bytes ? name[i].size : 0);
    return OLTR_OK;
}

oltr_status take_ticket(const oltr_model *m, oltr_name id, id_ticket *ticket, oltr_error *error)
{
    *ticket = (id_ticket){.given = id.size != 0};
    if (!ticket->given)
        return OLTR_OK;
    if (!name_is_valid(id))
        return set_error(error, OLTR_ENAME, "an id has 1 to %d bytes, not %u", OLTR_LONGEST_NAME,
                         id.bytes ? id.size : 0);
    ticket->hash = id_hash(id.bytes, id.size);
    ticket->seen = ids_has(&m->ids, ticket->hash);
    return OLTR_OK;
}

uint32_t oltr_model_items(const oltr_model *model)
{
    return model ? model->names.n : 0;
}

oltr_name oltr_model_name(const oltr_model *model, uint32_t item)
{
    if (!model || item >= model->names.n)
        return (oltr_name){NULL, 0};
    return names_at(&model->names, item);
}

int64_t oltr_model_find(const oltr_model *model, oltr_name name)
{
    if (!model || is_contextual(model) || !name_is_valid(name))
        return -1;
    uint32_t item = names_find(&model->names, name);
    return item == NO_NAME ? -1 : (int64_t)item;
}

int oltr_model_seen(const oltr_model *model, oltr_name id)
{
    return model && name_is_valid(id) && ids_has(&model->ids, id_hash(id.bytes, id.size));
}

/* What all calls about names require. */
static oltr_status check_call(const oltr_model *m, const oltr_name *name, uint32_t n,
                              oltr_error *error)
{
    if (!m)
        return set_error(error, OLTR_EINVAL, "there is no model");
    if (is_contextual(m))
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s ranks rows of features: its models have no items with names",
                         m->settings.policy.info->name);
    return check_names(name, n, "name", error);
}

/* ---- priors */

void item_pair(const oltr_model *m, uint32_t item, double pair[2])
{
    const oltr_prior *prior = &m->policy->settings.prior;
    pair[0] = has_priors(m) ? prior_first(prior)[item] : NAN;
    pair[1] = has_priors(m) ? prior_second(prior)[item] : NAN;
}

typedef struct placed {
    uint32_t number, place;
} placed;

static int compare(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The first place whose number occurs before; n when there is none. */
static uint32_t second_place(placed *all, uint32_t n)
{
    uint32_t place = n;
    qsort(all, n, sizeof *all, compare);
    for (uint32_t i = 1; i < n; i++)
        if (all[i].number == all[i - 1].number && all[i].place < place)
            place = all[i].place;
    return place;
}

oltr_status refuse_twice(const uint32_t *number, uint32_t n, oltr_error *error)
{
    for (uint32_t j = 1; j < n && n <= 4096; j++)
        for (uint32_t i = 0; i < j; i++)
            if (number[i] == number[j])
                return set_error(error, OLTR_ENAME,
                                 "name %u occurs twice in the list: name %u is the same", j, i);
    return set_error(error, OLTR_ENAME, "a name occurs twice in the list");
}

/* Adds the names that are unknown; their numbers are the last ones. */
static oltr_status add_names(oltr_model *m, const oltr_name *name, uint32_t n, uint32_t *number,
                             oltr_error *error)
{
    uint32_t unknown = 0;
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        if (names_find(&m->names, name[i]) == NO_NAME) {
            unknown++;
            bytes += name[i].size;
        }
    oltr_status status = model_reserve(m, unknown, bytes, false, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        number[i] = names_add(&m->names, name[i]);
    return OLTR_OK;
}

/* A copy gets the priors and replaces the policy when all were accepted.  A single prior needs no
 * copy: it is refused before anything changes. */
static oltr_status set_priors(oltr_model *m, const uint32_t *item, const double *pair, uint32_t n,
                              oltr_error *error)
{
    oltr_policy *to = n > 1 ? oltr_policy_copy(m->policy, NULL, error) : m->policy;
    oltr_status status = to ? OLTR_OK : OLTR_ENOMEM;
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++) {
        oltr_error why = {OLTR_OK, ""};
        status = oltr_item_renew(to, item[i], pair[2 * i], pair[2 * i + 1], 1, &why);
        if (status != OLTR_OK)
            set_error(error, status, "prior %u: %.200s", i, why.msg);
    }
    if (n > 1) {
        oltr_policy_free(status == OLTR_OK ? m->policy : to);
        m->policy = status == OLTR_OK ? to : m->policy;
    }
    return status;
}

static oltr_status set_priors_by_name(oltr_model *m, const oltr_name *name, const double *pair,
                                      uint32_t n, uint32_t *number, placed *sorted,
                                      oltr_error *error)
{
    uint32_t before = m->names.n;
    oltr_status status = add_names(m, name, n, number, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (placed){number[i], i};
    uint32_t twice = second_place(sorted, n);
    status = twice < n ? set_error(error, OLTR_ENAME, "name %u occurs twice in the list", twice)
                       : set_priors(m, number, pair, n, error);
    if (status != OLTR_OK)
        names_undo(&m->names, before);
    for (uint32_t i = before; i < m->names.n; i++)
        m->last[i] = oltr_model_lessons(m);
    return status;
}

oltr_status oltr_model_prior(oltr_model *model, const oltr_name *name, const double *pair,
                             uint32_t n, oltr_error *error)
{
    oltr_status status = check_call(model, name, n, error);
    if (status != OLTR_OK || n == 0)
        return status;
    if (!pair)
        return set_error(error, OLTR_EINVAL, "the priors are missing");
    if (!has_priors(model))
        return set_error(error, OLTR_EPRIOR,
                         "the model was made without priors: make it with a default prior "
                         "(default_prior), and with `prior: full`");
    for (uint32_t i = 0; i < n; i++) {
        oltr_error why = {OLTR_OK, ""};
        if (check_pair(model->settings.policy.info, pair + 2 * (size_t)i, &why) != OLTR_OK)
            return set_error(error, why.code, "prior %u: %.200s", i, why.msg);
    }
    size_t bytes = n * (sizeof(placed) + sizeof(uint32_t));
    placed *sorted = memory_take(&model->memory, bytes);
    if (!sorted)
        return set_error(error, OLTR_ENOMEM, "no memory for the numbers of %u items", n);
    uint32_t *number = (uint32_t *)(void *)(sorted + n);
    status = set_priors_by_name(model, name, pair, n, number, sorted, error);
    memory_give(&model->memory, sorted, bytes);
    return status;
}

/* ---- removal */

/* Puts the last item in the place of another, and leaves an item without a name behind. */
static oltr_status remove_item(oltr_model *m, uint32_t item, oltr_error *error)
{
    double number[OLTR_MAX_ITEM_NUMBERS];
    uint32_t last = m->names.n - 1, n;
    oltr_status status = oltr_item_get(m->policy, last, number, OLTR_MAX_ITEM_NUMBERS, &n);
    if (status == OLTR_OK && item != last)
        status = oltr_item_put(m->policy, item, number, n, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        number[i] = has_priors(m) && i + 2 >= n ? m->settings.prior[i + 2 - n] : 0;
    status = oltr_item_put(m->policy, last, number, n, error);
    if (status != OLTR_OK)
        return status;
    m->last[item] = m->last[last];
    names_remove(&m->names, item);
    return OLTR_OK;
}

oltr_status oltr_model_remove(oltr_model *model, const oltr_name *name, uint32_t n,
                              uint32_t *removed, oltr_error *error)
{
    uint32_t count = 0;
    oltr_status status = check_call(model, name, n, error);
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++) {
        uint32_t item = names_find(&model->names, name[i]);
        if (item == NO_NAME)
            continue;
        status = remove_item(model, item, error);
        count++;
    }
    if (status == OLTR_OK)
        names_compact(&model->names, &model->memory);
    if (removed)
        *removed = status == OLTR_OK ? count : 0;
    return status;
}

oltr_status oltr_model_reset(oltr_model *model, const oltr_name *name, uint32_t n, uint32_t *reset,
                             oltr_error *error)
{
    uint32_t count = 0;
    oltr_status status = check_call(model, name, n, error);
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++) {
        uint32_t item = names_find(&model->names, name[i]);
        if (item == NO_NAME)
            continue;
        status = oltr_item_reset(model->policy, item, error);
        count++;
    }
    if (reset)
        *reset = status == OLTR_OK ? count : 0;
    return status;
}

oltr_status oltr_model_trim(oltr_model *model, uint64_t idle, uint32_t *removed, oltr_error *error)
{
    uint32_t count = 0;
    oltr_status status = check_call(model, NULL, 0, error);
    if (status == OLTR_OK && idle < 1)
        status = set_error(error, OLTR_EVALUE, "idle is a number of lessons, at least 1");
    uint64_t now = oltr_model_lessons(model);
    for (uint32_t i = status == OLTR_OK ? model->names.n : 0; i-- > 0 && status == OLTR_OK;) {
        if (idle > now || model->last[i] > now - idle)
            continue;
        status = remove_item(model, i, error);
        count++;
    }
    if (status == OLTR_OK)
        names_compact(&model->names, &model->memory);
    if (removed)
        *removed = status == OLTR_OK ? count : 0;
    return status;
}
