/* model_rank.c - lists: by the policy's own rule, by the mean, and with bounds on fresh items.
 *
 * With bounds, the list has as many fresh items as the unbounded list, moved into the bounds: the
 * best fresh ones and the best others.  Where that is another number, the group of which more are
 * needed is ranked alone, and the chosen items once more for their order, as an item draws the same
 * score among any candidates.  So the time is that of up to three plain lists; to rank all
 * candidates takes 60 times as long with 65,536 of them.
 */
#include "engine/model/model_rank.h"

#include "engine/model/fresh_rule.h"
#include "engine/policy/rounds.h"
#include "engine/select/topk.h"

/* ---- checks */

oltr_status check_show(const oltr_model *m, const oltr_show *show, oltr_error *error)
{
    if (!show || show->greedy > 1)
        return set_error(error, OLTR_EINVAL, "a list needs a number of slots, and greedy 0 or 1");
    if (is_later(show->reserved))
        return set_error(error, OLTR_EINVAL, "reserved members of a show must be NULL");
    if (show->k < 1)
        return set_error(error, OLTR_ESLOTS, "a list has at least 1 slot");
    if (!(show->fresh_below >= 0))
        return set_error(error, OLTR_EVALUE, "fresh_below is a number of observations, 0 or more");
    if (show->greedy && !m->settings.policy.info->can_predict)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s has no mean to rank by: leave out greedy, or choose another kind",
                         m->settings.policy.info->name);
    return fresh_rule_check(m, show, error);
}

/* ---- places */

/* Numbers of items become places in the list. */
static oltr_status to_places(const candidates_view *view, oltr_model_scratch *scratch,
                             uint32_t *item, uint32_t k, oltr_error *error)
{
    uint32_t *place = grow(scratch, &scratch->place, view->policy->n_items * sizeof *place);
    if (!place)
        return set_error(error, OLTR_ENOMEM, "no memory for the places of the candidates");
    for (uint32_t j = 0; j < view->n; j++)
        place[view->query.item[j]] = j;
    for (uint32_t slot = 0; slot < k; slot++)
        item[slot] = place[item[slot]];
    return OLTR_OK;
}

/* ---- ranking */

static oltr_status rank_by_policy(const candidates_view *view, oltr_rng rng,
                                  oltr_model_scratch *scratch, oltr_ranking *out, oltr_error *error)
{
    oltr_scratch *own = policy_scratch(scratch, view->policy);
    if (!own)
        return set_error(error, OLTR_ENOMEM, "no memory to rank %u candidates", view->n);
    oltr_status status = oltr_rank(view->policy, &view->query, rng, own, out);
    if (status == OLTR_EITEM && view->named)
        return refuse_twice(view->query.item, view->n, error);
    if (status != OLTR_OK)
        return oltr_explain_rank(view->policy, &view->query, rng, own, out, error);
    return view->named ? to_places(view, scratch, out->item, out->k, error) : OLTR_OK;
}

oltr_status check_distinct(const candidates_view *view, oltr_model_scratch *scratch,
                           oltr_error *error)
{
    uint32_t n_items = view->policy->n_items;
    if (!view->named)
        return OLTR_OK;
    uint32_t *place = grow(scratch, &scratch->place, n_items * sizeof *place);
    if (!place)
        return set_error(error, OLTR_ENOMEM, "no memory for the places of the candidates");
    for (uint32_t j = 0; j < view->n; j++)
        place[view->query.item[j]] = j;
    for (uint32_t j = 0; j < view->n; j++)
        if (place[view->query.item[j]] != j)
            return refuse_twice(view->query.item, view->n, error);
    return OLTR_OK;
}

/* Places in out->item. */
static oltr_status rank_by_mean(const candidates_view *view, oltr_rng rng,
                                oltr_model_scratch *scratch, oltr_ranking *out, oltr_error *error)
{
    double *mean = grow(scratch, &scratch->score, padded(view->n) * sizeof *mean);
    double *best = grow(scratch, &scratch->best, topk_room(view->n) * sizeof *best);
    if (!mean || !best)
        return set_error(error, OLTR_ENOMEM, "no memory to rank %u candidates", view->n);
    oltr_status status = check_distinct(view, scratch, error);
    if (status != OLTR_OK)
        return status;
    status = oltr_predict(view->policy, &view->query, mean, NULL);
    if (status != OLTR_OK)
        return explain_prediction(view->policy, &view->query, status, error);
    for (size_t j = view->n; j < padded(view->n); j++)
        mean[j] = -INFINITY;
    topk_f64(mean, view->n, out->k, &rng, best, out->item, out->score);
    return OLTR_OK;
}

oltr_status rank_places(const candidates_view *view, oltr_rng rng, bool greedy,
                        oltr_model_scratch *scratch, oltr_ranking *out, oltr_error *error)
{
    return (greedy ? rank_by_mean : rank_by_policy)(view, rng, scratch, out, error);
}

/* ---- bounds on fresh items */

/* Some of the candidates: their numbers as the policy takes them, and their places in the list. */
typedef struct part {
    uint32_t n, *item, *place; /* (n) */
} part;

static void part_add(part *p, const candidates_view *view, uint32_t place)
{
    p->item[p->n] = view->named ? view->query.item[place] : place;
    p->place[p->n++] = place;
}

/* The out->k best of a part, as places in the whole list. */
static oltr_status rank_part(const candidates_view *view, const part *p, oltr_rng rng,
                             oltr_model_scratch *scratch, oltr_ranking *out, oltr_error *error)
{
    candidates_view alone = *view;
    alone.named = true;
    alone.n = p->n;
    alone.query = (oltr_query){.n_items = p->n, .item = p->item};
    oltr_status status = rank_by_policy(&alone, rng, scratch, out, error);
    for (uint32_t slot = 0; status == OLTR_OK && slot < out->k; slot++)
        out->item[slot] = p->place[out->item[slot]];
    return status;
}

/* Of the unbounded list in show->place, `kept` items of one group stay, and the others give way to
 * the best of the other group, all of whom are in `group`. */
static oltr_status exchange(const candidates_view *view, oltr_rng rng, const fresh_rule *rule,
                            bool fresh_stay, uint32_t kept, part *group,
                            oltr_model_scratch *scratch, oltr_show *show, oltr_error *error)
{
    uint32_t *best = group->place + view->n; /* (k) */
    oltr_ranking more = {.k = show->k - kept, .item = best};
    oltr_status status = rank_part(view, group, rng, scratch, &more, error);
    if (status != OLTR_OK)
        return status;
    group->n = 0;
    for (uint32_t slot = 0; group->n < kept; slot++)
        if (is_fresh(rule, show->place[slot]) == fresh_stay)
            part_add(group, view, show->place[slot]);
    for (uint32_t slot = 0; slot < more.k; slot++)
        part_add(group, view, best[slot]);
    oltr_ranking all = {.k = show->k, .item = show->place, .score = show->score};
    return rank_part(view, group, rng, scratch, &all, error);
}

static oltr_status rank_drawn_with_rule(const candidates_view *view, oltr_rng rng,
                                        oltr_model_scratch *scratch, oltr_show *show,
                                        oltr_error *error)
{
    oltr_ranking unbounded = {.k = show->k, .item = show->place, .score = show->score};
    oltr_status status = rank_by_policy(view, rng, scratch, &unbounded, error);
    if (status != OLTR_OK)
        return status;
    fresh_rule rule = fresh_rule_of(view, show);
    uint32_t had = fresh_in(&rule, show->place), wanted = fresh_wanted(&rule, had);
    if (wanted == had)
        return OLTR_OK;
    uint32_t *numbers = grow(scratch, &scratch->order, fresh_room(view->n, show->k));
    if (!numbers)
        return set_error(error, OLTR_ENOMEM, "no memory to rank %u candidates", view->n);
    part group = {0, numbers, numbers + view->n};
    for (uint32_t j = 0; j < view->n; j++)
        if (is_fresh(&rule, j) == (wanted > had))
            part_add(&group, view, j);
    uint32_t kept = wanted > had ? show->k - wanted : wanted;
    return exchange(view, rng, &rule, wanted < had, kept, &group, scratch, show, error);
}

/* Scores that are not drawn may tie, and all candidates in one order give tied ones equal chances.
 * Scores that depend on the other candidates must be those among all of them. */
static oltr_status rank_all_with_rule(const candidates_view *view, oltr_rng rng,
                                      oltr_model_scratch *scratch, oltr_show *show,
                                      oltr_error *error)
{
    uint32_t *order = grow(scratch, &scratch->order, view->n * sizeof *order);
    double *score = grow(scratch, &scratch->all, view->n * sizeof *score);
    oltr_ranking all = {.k = view->n, .item = order, .score = score};
    oltr_status status =
        order && score ? rank_places(view, rng, show->greedy, scratch, &all, error)
                       : set_error(error, OLTR_ENOMEM, "no memory to rank %u candidates", view->n);
    if (status == OLTR_OK) {
        fresh_rule rule = fresh_rule_of(view, show);
        fresh_rule_apply(&rule, order, score, show);
    }
    return status;
}

static oltr_status rank_with_rule(const candidates_view *view, oltr_rng rng,
                                  oltr_model_scratch *scratch, oltr_show *show, oltr_error *error)
{
    const policy_ops *ops = view->policy->ops;
    bool all = show->greedy || ops->info.fixed_scores || ops->relative_scores;
    return (all ? rank_all_with_rule : rank_drawn_with_rule)(view, rng, scratch, show, error);
}

oltr_status rank_view(const candidates_view *view, oltr_rng rng, oltr_model_scratch *scratch,
                      oltr_show *show, oltr_error *error)
{
    show->k = show->k < view->n ? show->k : view->n;
    if (show->k == 0)
        return OLTR_OK;
    if (show->fresh_below > 0)
        return rank_with_rule(view, rng, scratch, show, error);
    oltr_ranking out = {.k = show->k, .item = show->place, .score = show->score};
    return rank_places(view, rng, show->greedy, scratch, &out, error);
}

oltr_status oltr_model_rank(const oltr_model *model, const oltr_list *list, oltr_rng rng,
                            oltr_model_scratch *scratch, oltr_show *show, oltr_error *error)
{
    candidates_view view;
    oltr_status status = check_list(model, list, error);
    if (status == OLTR_OK)
        status = check_show(model, show, error);
    if (status == OLTR_OK && (!scratch || !show->place))
        status = set_error(error, OLTR_EINVAL, "a scratch and room for the places are needed");
    if (status != OLTR_OK)
        return status;
    status = view_begin(model, list, scratch, &view, error);
    uint32_t k = show->k;
    if (status == OLTR_OK)
        status = rank_view(&view, rng, scratch, show, error);
    if (status != OLTR_OK)
        show->k = k;
    view_end(&view);
    return status;
}

oltr_status oltr_model_ready(const oltr_model *model, uint32_t n, oltr_model_scratch *scratch,
                             oltr_error *error)
{
    if (!model || !scratch)
        return set_error(error, OLTR_EINVAL, "a model and a scratch are needed");
    size_t count = n > model->names.n ? n : model->names.n;
    bool good = policy_scratch(scratch, model->policy) &&
                grow(scratch, &scratch->item, count * sizeof(uint32_t)) &&
                grow(scratch, &scratch->order, fresh_room(count, count)) &&
                grow(scratch, &scratch->place, model->settings.policy.n_items * sizeof(uint32_t)) &&
                grow(scratch, &scratch->score, padded(count) * sizeof(double)) &&
                grow(scratch, &scratch->best, topk_room(count) * sizeof(double)) &&
                grow(scratch, &scratch->all, count * sizeof(double));
    return good ? OLTR_OK
                : set_error(error, OLTR_ENOMEM, "no memory to rank %zu candidates", count);
}

oltr_rng oltr_rng_text(const void *bytes, size_t size)
{
    static const uint64_t key[2] = {0x6F6C74722D726E67u, 0x7365656420746578u}; /* never changes */
    hash128 hash = siphash(key, size ? bytes : "", size);
    return oltr_rng_make(hash.word[0], hash.word[1]);
}
