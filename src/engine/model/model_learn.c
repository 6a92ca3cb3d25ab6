/* model_learn.c - lessons, forgetting, and merging by name.
 *
 * A lesson is checked, room is made, unknown names are added, and the policy learns.  If the policy
 * refuses, the added names are taken back: nothing but room has changed.
 */
#include "engine/model/candidates_view.h"

/* ---- what was examined */

static bool is_clicked(double reward)
{
    return reward > 0;
}

/* How many slots a rule covers. */
static uint32_t depth_by_rule(uint32_t rule, const double *reward, uint32_t n)
{
    uint32_t first = 0, last = 0; /* clicked slots, from 1 */
    for (uint32_t slot = 0; slot < n; slot++)
        if (is_clicked(reward[slot])) {
            first = first ? first : slot + 1;
            last = slot + 1;
        }
    if (rule == OLTR_EXAMINE_ALL || !first)
        return n;
    return rule == OLTR_EXAMINE_CASCADE ? first : last;
}

/* A click where nothing was examined contradicts the lesson. */
static oltr_status check_clicks_seen(const oltr_lesson *lesson, uint32_t depth, oltr_error *error)
{
    for (uint32_t slot = 0; slot < lesson->shown.n; slot++) {
        bool seen =
            lesson->examine == OLTR_EXAMINE_MASK ? lesson->examined[slot] != 0 : slot < depth;
        if (!seen && is_clicked(lesson->reward[slot]))
            return set_error(error, OLTR_EEXAMINED,
                             "slot %u was clicked and not examined: examine it, or leave its "
                             "reward 0",
                             slot);
    }
    return OLTR_OK;
}

static oltr_status feedback_of(const oltr_model *m, const oltr_lesson *lesson, oltr_feedback *seen,
                               oltr_error *error)
{
    uint32_t n = lesson->shown.n,
             rule = lesson->examine == OLTR_EXAMINE_RULE ? m->settings.examine : lesson->examine;
    *seen = (oltr_feedback){.n_examined = n, .reward = lesson->reward, .weight = lesson->weight};
    if (rule == OLTR_EXAMINE_MASK && !lesson->examined)
        return set_error(error, OLTR_EEXAMINED, "the mask of examined slots is missing");
    if (rule == OLTR_EXAMINE_DEPTH && lesson->depth > n)
        return set_error(error, OLTR_EEXAMINED, "%u slots were examined of %u shown ones",
                         lesson->depth, n);
    if (rule == OLTR_EXAMINE_MASK)
        seen->examined = lesson->examined;
    else
        seen->n_examined =
            rule == OLTR_EXAMINE_DEPTH ? lesson->depth : depth_by_rule(rule, lesson->reward, n);
    return rule == OLTR_EXAMINE_MASK || rule == OLTR_EXAMINE_DEPTH
               ? check_clicks_seen(lesson, seen->n_examined, error)
               : OLTR_OK;
}

/* ---- a lesson */

static oltr_status check_lesson(const oltr_model *m, const oltr_lesson *lesson, oltr_error *error)
{
    if (!m || !lesson)
        return set_error(error, OLTR_EINVAL, "a model and a lesson are needed");
    if (is_later(lesson->reserved))
        return set_error(error, OLTR_EINVAL, "reserved members of a lesson must be NULL");
    oltr_status status = check_list(m, &lesson->shown, error);
    if (status != OLTR_OK)
        return status;
    if (lesson->shown.n < 1 || lesson->shown.n > OLTR_MOST_SHOWN)
        return set_error(error, OLTR_ESLOTS, "a lesson shows 1 to %d items, not %u",
                         OLTR_MOST_SHOWN, lesson->shown.n);
    if (!lesson->reward || lesson->examine > OLTR_EXAMINE_MASK)
        return set_error(error, OLTR_EINVAL,
                         "a reward for each slot and a rule of oltr_examine "
                         "are needed");
    return lesson->shown.name ? check_names(lesson->shown.name, lesson->shown.n, "slot", error)
                              : OLTR_OK;
}

/* The numbers of the shown items; NO_NAME of unknown names. */
static void find_shown(const oltr_model *m, const oltr_list *shown,
                       uint32_t number[OLTR_MOST_SHOWN])
{
    if (shown->name)
        names_find_all(&m->names, shown->name, shown->n, number);
    else
        for (uint32_t slot = 0; slot < shown->n; slot++)
            number[slot] = slot;
}

/* Unknown names are added, as the last ones, and get their numbers. */
static oltr_status add_unknown(oltr_model *m, const oltr_list *shown, bool id,
                               uint32_t number[OLTR_MOST_SHOWN], oltr_error *error)
{
    uint32_t unknown = 0;
    size_t bytes = 0;
    for (uint32_t slot = 0; slot < shown->n; slot++)
        if (number[slot] == NO_NAME) {
            unknown++;
            bytes += shown->name[slot].size;
        }
    oltr_status status = model_reserve(m, unknown, bytes, id, error);
    for (uint32_t slot = 0; status == OLTR_OK && unknown && slot < shown->n; slot++)
        if (number[slot] == NO_NAME)
            number[slot] = names_add(&m->names, shown->name[slot]);
    return status;
}

static oltr_status refuse_lesson(const oltr_model *m, const oltr_query *query,
                                 const oltr_ranking *list, const oltr_feedback *seen,
                                 oltr_status status, oltr_error *error)
{
    if (status == OLTR_EITEM && !query)
        return refuse_twice(list->item, list->k, error);
    oltr_explain_learn(m->policy, query, list, seen, error);
    if (error && error->code != status)
        set_error(error, status, "%s", oltr_strerror(status));
    return status;
}

static oltr_status teach(oltr_model *m, const oltr_list *shown, uint32_t *number,
                         const oltr_feedback *seen, oltr_error *error)
{
    oltr_query rows = plain_query(m, shown);
    const oltr_query *query = shown->x ? &rows : NULL;
    oltr_ranking list = {.k = shown->n, .item = number};
    oltr_status status = oltr_learn(m->policy, query, &list, seen);
    return status == OLTR_OK ? OLTR_OK : refuse_lesson(m, query, &list, seen, status, error);
}

static oltr_status learn_new(oltr_model *m, const oltr_lesson *lesson, uint32_t *number,
                             const id_ticket *ticket, oltr_error *error)
{
    uint32_t before = m->names.n;
    oltr_feedback seen;
    oltr_status status = feedback_of(m, lesson, &seen, error);
    if (status == OLTR_OK)
        status = add_unknown(m, &lesson->shown, ticket->given, number, error);
    if (status != OLTR_OK)
        return status;
    status = teach(m, &lesson->shown, number, &seen, error);
    if (status != OLTR_OK) {
        names_undo(&m->names, before);
        return status;
    }
    uint64_t now = oltr_model_lessons(m);
    for (uint32_t slot = 0; lesson->shown.name && slot < lesson->shown.n; slot++)
        m->names.last[number[slot]] = now;
    keep_ticket(m, ticket);
    return OLTR_OK;
}

oltr_status oltr_model_learn(oltr_model *model, const oltr_lesson *lesson, int *applied,
                             oltr_error *error)
{
    uint32_t number[OLTR_MOST_SHOWN];
    id_ticket ticket = {.seen = false};
    oltr_status status = check_lesson(model, lesson, error);
    if (status == OLTR_OK)
        status = take_ticket(model, lesson->id, &ticket, error);
    if (status == OLTR_OK) {
        find_shown(model, &lesson->shown, number);
        look_for_ticket(model, &ticket);
    }
    if (status == OLTR_OK && !ticket.seen)
        status = learn_new(model, lesson, number, &ticket, error);
    if (applied)
        *applied = status == OLTR_OK && !ticket.seen;
    return status;
}

/* ---- forgetting */

static oltr_status forget_new(oltr_model *m, double keep, const id_ticket *ticket,
                              oltr_error *error)
{
    if (ticket->given && model_reserve(m, 0, 0, true, error) != OLTR_OK)
        return OLTR_ENOMEM;
    oltr_status status = oltr_forget(m->policy, keep);
    if (status == OLTR_EUNSUPPORTED)
        return set_error(error, status, "%s cannot forget", m->settings.policy.info->name);
    if (status != OLTR_OK)
        return set_error(error, status, "keep is from 0 to 1, not %g", keep);
    keep_ticket(m, ticket);
    return OLTR_OK;
}

oltr_status oltr_model_forget(oltr_model *model, double keep, oltr_name id, int *applied,
                              oltr_error *error)
{
    id_ticket ticket = {.seen = false};
    oltr_status status = model ? take_ticket(model, id, &ticket, error)
                               : set_error(error, OLTR_EINVAL, "there is no model");
    if (status == OLTR_OK)
        look_for_ticket(model, &ticket);
    if (status == OLTR_OK && !ticket.seen)
        status = forget_new(model, keep, &ticket, error);
    if (applied)
        *applied = status == OLTR_OK && !ticket.seen;
    return status;
}

/* ---- merging */

static bool same_kind(const oltr_model *a, const oltr_model *b)
{
    const oltr_settings *p = a->policy->settings, *q = b->policy->settings;
    return p->info == q->info && p->dim == q->dim && has_priors(a) == has_priors(b) &&
           memcmp(p->value, q->value, sizeof p->value) == 0 &&
           (!p->info->contextual || p->n_items == q->n_items);
}

static oltr_status check_merge(const oltr_model *into, const oltr_model *from, oltr_error *error)
{
    if (!into || !from || into == from)
        return set_error(error, OLTR_EINVAL, "two different models are needed to merge them");
    if (!into->settings.policy.info->can_merge)
        return set_error(error, OLTR_EUNSUPPORTED, "%s cannot be merged",
                         into->settings.policy.info->name);
    if (!same_kind(into, from))
        return set_error(error, OLTR_EMISMATCH,
                         "these models differ in kind, parameters, features or in having priors, "
                         "and do not belong together");
    return OLTR_OK;
}

/* The priors of the items that `into` did not have, in a policy that will replace its own. */
static oltr_status bring_priors(oltr_policy *trial, const oltr_model *from, const uint32_t *number,
                                uint32_t known, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && has_priors(from) && i < from->names.n; i++) {
        double pair[2];
        item_pair(from, i, pair);
        if (number[i] >= known)
            status = oltr_item_renew(trial, number[i], pair[0], pair[1], 1, error);
    }
    return status;
}

static oltr_status merge_policies(oltr_model *into, const oltr_model *from, const uint32_t *number,
                                  uint32_t known, oltr_error *error)
{
    oltr_policy *trial = policy_to_change(into, error);
    oltr_status status = trial ? bring_priors(trial, from, number, known, error) : OLTR_ENOMEM;
    oltr_policy *sums = status == OLTR_OK
                            ? policy_regrouped(trial, from->policy, number, from->names.n, error)
                            : NULL;
    if (status == OLTR_OK)
        status = sums ? oltr_merge(trial, sums) : OLTR_ENOMEM;
    if (status != OLTR_OK)
        set_error(error, status, "%s", oltr_strerror(status));
    oltr_policy_free(sums);
    if (status == OLTR_OK)
        keep_policy(into, trial);
    else
        oltr_policy_free(trial);
    return status;
}

/* An item that one of the two showed d lessons ago was shown d lessons ago. */
static void merge_last(oltr_model *into, const oltr_model *from, const uint32_t *number,
                       uint32_t known, uint64_t before)
{
    uint64_t now = oltr_model_lessons(into), added = oltr_model_lessons(from);
    for (uint32_t i = 0; i < known; i++)
        into->names.last[i] += now - before;
    for (uint32_t i = 0; i < from->names.n; i++) {
        uint64_t last = now - (added - from->names.last[i]), *own = &into->names.last[number[i]];
        *own = number[i] >= known || last > *own ? last : *own;
    }
}

static oltr_status merge_items(oltr_model *into, const oltr_model *from, uint32_t *number,
                               oltr_error *error)
{
    uint32_t known = into->names.n, unknown = 0;
    uint64_t before = oltr_model_lessons(into);
    size_t bytes = 0;
    for (uint32_t i = 0; i < from->names.n; i++)
        if (names_find(&into->names, names_at(&from->names, i)) == NO_NAME) {
            unknown++;
            bytes += names_at(&from->names, i).size;
        }
    oltr_status status = model_reserve(into, unknown, bytes, true, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < from->names.n; i++)
        number[i] = names_add(&into->names, names_at(&from->names, i));
    status = merge_policies(into, from, number, known, error);
    if (status == OLTR_OK)
        merge_last(into, from, number, known, before);
    else
        names_undo(&into->names, known);
    return status;
}

static oltr_status merge_named(oltr_model *into, const oltr_model *from, oltr_error *error)
{
    size_t bytes = from->names.n ? from->names.n * sizeof(uint32_t) : 1;
    uint32_t *number = memory_take(&into->memory, bytes);
    if (!number)
        return set_error(error, OLTR_ENOMEM, "no memory to merge %u items", from->names.n);
    oltr_status status = merge_items(into, from, number, error);
    memory_give(&into->memory, number, bytes);
    return status;
}

static oltr_status merge_rows(oltr_model *into, const oltr_model *from, oltr_error *error)
{
    oltr_status status = model_reserve(into, 0, 0, true, error);
    if (status != OLTR_OK)
        return status;
    status = oltr_merge(into->policy, from->policy);
    return status == OLTR_OK ? OLTR_OK : set_error(error, status, "%s", oltr_strerror(status));
}

oltr_status oltr_model_merge(oltr_model *into, const oltr_model *from, oltr_name id, int *applied,
                             oltr_error *error)
{
    id_ticket ticket = {.seen = false};
    oltr_status status = check_merge(into, from, error);
    if (status == OLTR_OK)
        status = take_ticket(into, id, &ticket, error);
    if (status == OLTR_OK)
        look_for_ticket(into, &ticket);
    if (status == OLTR_OK && !ticket.seen) {
        status = (is_contextual(into) ? merge_rows : merge_named)(into, from, error);
        if (status == OLTR_OK)
            keep_ticket(into, &ticket);
    }
    if (applied)
        *applied = status == OLTR_OK && !ticket.seen;
    return status;
}
