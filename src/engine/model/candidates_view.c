/* candidates_view.c - see candidates_view.h. */
#include "engine/model/candidates_view.h"

oltr_model_scratch *oltr_model_scratch_new(const oltr_memory *memory)
{
    oltr_model_scratch *scratch =
        memory_is_whole(memory) ? memory_take(memory, sizeof *scratch) : NULL;
    if (scratch && memory)
        scratch->memory = *memory;
    return scratch;
}

void oltr_model_scratch_free(oltr_model_scratch *scratch)
{
    if (!scratch)
        return;
    oltr_memory memory = scratch->memory;
    grown *const array[] = {&scratch->item,  &scratch->place, &scratch->order,
                            &scratch->score, &scratch->best,  &scratch->all};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        memory_give(&memory, array[i]->at, array[i]->bytes);
    names_end(&scratch->unknown, &memory);
    oltr_scratch_free(scratch->own);
    memory_give(&memory, scratch, sizeof *scratch);
}

uint32_t oltr_model_unknown(const oltr_model_scratch *scratch)
{
    return scratch ? scratch->n_unknown : 0;
}

void *grow(oltr_model_scratch *scratch, grown *array, size_t bytes)
{
    if (bytes <= array->bytes)
        return array->at;
    size_t room = array->bytes + array->bytes / 2;
    room = room < bytes ? bytes : room;
    void *block = memory_take(&scratch->memory, room);
    if (!block)
        return NULL;
    memory_give(&scratch->memory, array->at, array->bytes);
    *array = (grown){block, room};
    return block;
}

oltr_scratch *policy_scratch(oltr_model_scratch *scratch, const oltr_policy *policy)
{
    oltr_scratch *own = scratch->own;
    if (own && own->n_items >= policy->n_items && own->bytes >= policy->scratch_bytes)
        return own;
    own = scratch_in(policy, scratch->own, &scratch->memory);
    if (!own)
        return NULL;
    oltr_scratch_free(scratch->own);
    scratch->own = own;
    return own;
}

oltr_status check_list(const oltr_model *m, const oltr_list *list, oltr_error *error)
{
    if (!m || !list)
        return set_error(error, OLTR_EINVAL, "a model and a list are needed");
    if (is_later(list->reserved))
        return set_error(error, OLTR_EINVAL, "reserved members of a list must be NULL");
    if (list->name && list->x)
        return set_error(error, OLTR_EINVAL, "a list has names or rows of features, not both");
    if (is_contextual(m) && !list->x)
        return set_error(error, OLTR_EFEATURE, "%s ranks rows of features: give %u for each row",
                         m->settings.policy.info->name, m->settings.policy.dim);
    if (!is_contextual(m) && list->x)
        return set_error(error, OLTR_EFEATURE, "%s takes names, not rows of features",
                         m->settings.policy.info->name);
    if (list->n && !list->name && !list->x)
        return set_error(error, OLTR_EINVAL, "the names of the list are missing");
    return OLTR_OK;
}

oltr_query plain_query(const oltr_model *m, const oltr_list *list)
{
    if (list->x)
        return (oltr_query){.n_items = list->n,
                            .dim = m->settings.policy.dim,
                            .stride = list->stride,
                            .x = list->x};
    return (oltr_query){.n_items = m->names.n};
}

/* The number of an unknown name: behind the last item, in the order of the list. */
static oltr_status number_unknown(const oltr_model *m, oltr_name name, uint32_t at,
                                  oltr_model_scratch *scratch, uint32_t *number, oltr_error *error)
{
    names *t = &scratch->unknown;
    oltr_status status =
        t->slot ? OLTR_OK : names_init(t, m->settings.name_key, 16, &scratch->memory);
    if (status == OLTR_OK)
        status = names_reserve(t, 1, name.size, &scratch->memory);
    if (status != OLTR_OK)
        return set_error(error, status, "no memory for unknown names");
    uint32_t before = t->n, found = names_add(t, name);
    if (found < before)
        return set_error(error, OLTR_ENAME, "name %u occurs twice in the list", at);
    *number = m->names.n + found;
    return OLTR_OK;
}

static oltr_status number_names(const oltr_model *m, const oltr_list *list,
                                oltr_model_scratch *scratch, uint32_t *number, oltr_error *error)
{
    oltr_status status = check_names(list->name, list->n, "name", error);
    if (status != OLTR_OK)
        return status;
    names_clear(&scratch->unknown);
    names_find_all(&m->names, list->name, list->n, number);
    for (uint32_t j = 0; status == OLTR_OK && j < list->n; j++)
        if (number[j] == NO_NAME)
            status = number_unknown(m, list->name[j], j, scratch, &number[j], error);
    return status;
}

/* One name more than there are items behind the named ones needs a copy. */
static oltr_status make_room(const oltr_model *m, candidates_view *view, oltr_error *error)
{
    oltr_error why = {OLTR_ENOMEM, ""};
    uint32_t needed = m->names.n + view->n_unknown;
    if (needed <= m->settings.policy.n_items)
        return OLTR_OK;
    view->copy = policy_with_room(m, needed, NULL, &why);
    if (!view->copy)
        return set_error(error, why.code, "%s", why.msg);
    view->policy = view->copy;
    return OLTR_OK;
}

oltr_status view_begin(const oltr_model *m, const oltr_list *list, oltr_model_scratch *scratch,
                       candidates_view *view, oltr_error *error)
{
    *view = (candidates_view){.policy = m->policy, .named = list->name != NULL};
    scratch->n_unknown = 0;
    view->query = plain_query(m, list);
    view->n = view->query.n_items;
    if (!view->named)
        return OLTR_OK;
    uint32_t *number = grow(scratch, &scratch->item, list->n * sizeof *number);
    if (list->n && !number)
        return set_error(error, OLTR_ENOMEM, "no memory for %u candidates", list->n);
    oltr_status status = number_names(m, list, scratch, number, error);
    if (status != OLTR_OK)
        return status;
    view->query = (oltr_query){.n_items = list->n, .item = number};
    view->n = list->n;
    view->n_unknown = scratch->n_unknown = scratch->unknown.n;
    return make_room(m, view, error);
}

void view_end(candidates_view *view)
{
    oltr_policy_free(view->copy);
    view->copy = NULL;
}
