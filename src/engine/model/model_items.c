/* model_items.c - the items of a model: room for more, priors, and removal.
 *
 * An item that is removed gives its number to the last one, which takes constant time; the policy
 * keeps its room.
 */
#include "engine/model/model_parts.h"

#include <stdlib.h>

/* ---- room */

static oltr_status give_room(oltr_model *m, uint32_t n_items, oltr_error *error)
{
    oltr_error why = {OLTR_ENOMEM, ""};
    oltr_settings settings = m->settings.policy;
    settings.n_items = n_items;
    oltr_policy *larger = policy_with_room(m, n_items, has_priors(m) ? NULL : &settings, &why);
    if (!larger)
        return set_error(error, why.code, "%s", why.msg);
    keep_policy(m, larger);
    return OLTR_OK;
}

static oltr_status reserve_policy(oltr_model *m, uint32_t n, oltr_error *error)
{
    return n <= m->settings.policy.n_items ? OLTR_OK : give_room(m, policy_room(n), error);
}

static oltr_status check_most_items(const oltr_model *m, uint64_t n, oltr_error *error)
{
    if (n <= m->settings.most_items)
        return OLTR_OK;
    return set_error(error, OLTR_EFULL,
                     "the model has %u items and may have %u (most_items): remove or trim some, or "
                     "make it anew with more",
                     m->names.n, m->settings.most_items);
}

static oltr_status reserve_items(oltr_model *m, uint32_t more, size_t bytes, oltr_error *error)
{
    uint64_t n = (uint64_t)m->names.n + more;
    oltr_status status = check_most_items(m, n, error);
    if (status != OLTR_OK)
        return status;
    status = names_reserve(&m->names, more, bytes, &m->memory);
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
    ids_fetch(&m->ids, ticket->hash);
    return OLTR_OK;
}

void look_for_ticket(const oltr_model *m, id_ticket *ticket)
{
    ticket->seen = ticket->given && ids_has(&m->ids, ticket->hash);
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

/* The policy gets exactly the room: with twice as much, as when it grows by itself, half of it
 * would stay empty where most_items is n. */
oltr_status oltr_model_reserve(oltr_model *model, uint32_t n, oltr_error *error)
{
    oltr_status status = check_call(model, NULL, 0, error);
    if (status == OLTR_OK)
        status = check_most_items(model, n, error);
    if (status != OLTR_OK || n <= model->names.n)
        return status;
    if (n >= model->settings.policy.n_items)
        status = give_room(model, n + 1, error);
    return status == OLTR_OK ? model_reserve(model, n - model->names.n, 0, false, error) : status;
}

/* ---- priors */

void item_pair(const oltr_model *m, uint32_t item, double pair[2])
{
    const oltr_prior *prior = &m->policy->settings->prior;
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
    names_find_all(&m->names, name, n, number);
    for (uint32_t i = 0; i < n; i++)
        if (number[i] == NO_NAME) {
            unknown++;
            bytes += name[i].size;
        }
    oltr_status status = model_reserve(m, unknown, bytes, false, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; unknown && i < n; i++)
        if (number[i] == NO_NAME)
            number[i] = names_add(&m->names, name[i]);
    return OLTR_OK;
}

/* What setting many priors needs. */
typedef struct prior_room {
    double *before; /* (n, 2) the priors that the items had */
    placed *sorted; /* (n) */
    uint32_t *number;
} prior_room;

static oltr_status set_prior(oltr_policy *policy, uint32_t item, const double *pair, uint32_t i,
                             oltr_error *error)
{
    oltr_error why;
    why.msg[0] = 0;
    oltr_status status = oltr_item_renew(policy, item, pair[0], pair[1], 1, &why);
    return status == OLTR_OK ? OLTR_OK : set_error(error, status, "prior %u: %.200s", i, why.msg);
}

/* When one is refused, the items before it get their priors back. */
static oltr_status set_priors_in_place(oltr_model *m, const double *pair, uint32_t n,
                                       const prior_room *room, oltr_error *error)
{
    const uint32_t *item = room->number;
    oltr_status status = OLTR_OK;
    uint32_t set = 0;
    for (; set < n; set++) {
        item_pair(m, item[set], room->before + 2 * (size_t)set);
        status = set_prior(m->policy, item[set], pair + 2 * (size_t)set, set, error);
        if (status != OLTR_OK)
            break;
    }
    while (status != OLTR_OK && set-- > 0)
        set_prior(m->policy, item[set], room->before + 2 * (size_t)set, set, NULL);
    return status;
}

/* A copy gets the priors and replaces the policy when all were accepted. */
static oltr_status set_priors_in_copy(oltr_model *m, const uint32_t *item, const double *pair,
                                      uint32_t n, oltr_error *error)
{
    oltr_policy *to = policy_to_change(m, error);
    oltr_status status = to ? OLTR_OK : OLTR_ENOMEM;
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++)
        status = set_prior(to, item[i], pair + 2 * (size_t)i, i, error);
    if (status == OLTR_OK)
        keep_policy(m, to);
    else
        oltr_policy_free(to);
    return status;
}

/* A policy that saves what it derives from its items (ts-hyper) rounds when it takes a prior back,
 * so it is copied.  A single prior is refused before anything changes. */
static oltr_status set_priors(oltr_model *m, const double *pair, uint32_t n, const prior_room *room,
                              oltr_error *error)
{
    return n > 1 && m->policy->ops->derived ? set_priors_in_copy(m, room->number, pair, n, error)
                                            : set_priors_in_place(m, pair, n, room, error);
}

static oltr_status set_priors_by_name(oltr_model *m, const oltr_name *name, const double *pair,
                                      uint32_t n, const prior_room *room, oltr_error *error)
{
    uint32_t before = m->names.n;
    oltr_status status = add_names(m, name, n, room->number, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        room->sorted[i] = (placed){room->number[i], i};
    uint32_t twice = second_place(room->sorted, n);
    status = twice < n ? set_error(error, OLTR_ENAME, "name %u occurs twice in the list", twice)
                       : set_priors(m, pair, n, room, error);
    if (status != OLTR_OK)
        names_undo(&m->names, before);
    for (uint32_t i = before; i < m->names.n; i++)
        m->names.last[i] = oltr_model_lessons(m);
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
    oltr_error why;
    for (uint32_t i = 0; i < n; i++)
        if (check_pair(model->settings.policy.info, pair + 2 * (size_t)i, &why) != OLTR_OK)
            return set_error(error, why.code, "prior %u: %.200s", i, why.msg);
    size_t bytes = n * (2 * sizeof(double) + sizeof(placed) + sizeof(uint32_t));
    prior_room room = {.before = memory_take(&model->memory, bytes)};
    if (!room.before)
        return set_error(error, OLTR_ENOMEM, "no memory for the numbers of %u items", n);
    room.sorted = (placed *)(void *)(room.before + 2 * (size_t)n);
    room.number = (uint32_t *)(void *)(room.sorted + n);
    status = set_priors_by_name(model, name, pair, n, &room, error);
    memory_give(&model->memory, room.before, bytes);
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
        if (idle > now || model->names.last[i] > now - idle)
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
