/* propensity.c - how likely each candidate is shown: exactly from the laws of the scores, or by
 * making many lists.
 *
 * The scores are independent for policies that draw each item by itself (gts, ts-beta), and fixed
 * for those that do not draw (upper bounds, greedy lists): chances.h integrates over them. ts-hyper
 * draws one recalibration for all items, ts-cascade one normal, and policies with features one
 * theta: their lists are drawn.
 */
#include "engine/model/chances.h"
#include "engine/model/fresh_rule.h"
#include "engine/model/model_rank.h"

typedef struct question {
    const oltr_model *model;
    const oltr_list *list;
    oltr_show show; /* k at most the candidates */
    oltr_model_scratch *scratch;
    double *in_list, *first; /* (n) or NULL */
} question;

/* ---- by drawing */

static void count_list(const question *q, const oltr_show *show)
{
    for (uint32_t slot = 0; q->in_list && slot < show->k; slot++)
        q->in_list[show->place[slot]]++;
    if (q->first)
        q->first[show->place[0]]++;
}

static oltr_status draw_lists(const question *q, const candidates_view *view, uint32_t draws,
                              oltr_rng rng, uint32_t *place, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t d = 1; status == OLTR_OK && d <= draws; d++) {
        oltr_show show = q->show;
        show.place = place;
        show.score = NULL;
        status = rank_view(view, q->list, oltr_rng_at(rng, 0, d), q->scratch, &show, error);
        if (status == OLTR_OK)
            count_list(q, &show);
    }
    return status;
}

static oltr_status chances_by_draws(const question *q, const candidates_view *view, uint32_t draws,
                                    oltr_rng rng, oltr_error *error)
{
    size_t bytes = q->show.k * sizeof(uint32_t);
    uint32_t *place = memory_take(&q->scratch->memory, bytes);
    if (!place)
        return set_error(error, OLTR_ENOMEM, "no memory for a list of %u", q->show.k);
    oltr_status status = draw_lists(q, view, draws, rng, place, error);
    memory_give(&q->scratch->memory, place, bytes);
    for (uint32_t j = 0; j < view->n; j++) {
        if (q->in_list)
            q->in_list[j] /= draws;
        if (q->first)
            q->first[j] /= draws;
    }
    return status;
}

/* ---- exactly */

typedef struct law_room {
    double *first, *second; /* (n) */
    uint32_t *order;        /* (n) */
    uint8_t *fresh;         /* (n) */
    void *block;
    size_t bytes;
} law_room;

static bool take_room(law_room *room, uint32_t n, const oltr_memory *memory)
{
    room->bytes = n * (2 * sizeof(double) + sizeof(uint32_t) + 1);
    room->block = memory_take(memory, room->bytes);
    room->first = room->block;
    room->second = room->first + n;
    room->order = (uint32_t *)(void *)(room->second + n);
    room->fresh = (uint8_t *)(room->order + n);
    return room->block;
}

/* The scores of a policy that does not draw: those of a list of all candidates. */
static oltr_status fixed_scores(const question *q, const candidates_view *view, law_room *room,
                                oltr_error *error)
{
    oltr_ranking all = {.k = view->n, .item = room->order, .score = room->second};
    oltr_status status =
        rank_places(view, q->list, oltr_rng_make(0, 0), false, q->scratch, &all, error);
    for (uint32_t j = 0; status == OLTR_OK && j < view->n; j++)
        room->first[room->order[j]] = room->second[j];
    return status;
}

static oltr_status read_laws(const question *q, const candidates_view *view, law_room *room,
                             oltr_law *law, oltr_error *error)
{
    const oltr_policy *policy = view->policy;
    candidates from = {.n = view->n, .item = view->query.item, .x = view->query.x};
    *law = OLTR_LAW_FIXED;
    oltr_status status = check_distinct(view, q->list, q->scratch, error);
    if (status != OLTR_OK)
        return status;
    if (q->show.greedy)
        return oltr_model_predict(q->model, q->list, room->first, NULL, error);
    if (policy->ops->info.fixed_scores)
        return fixed_scores(q, view, room, error);
    if (!policy->ops->laws)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "the scores of %s are not independent, so its chances are not computed: "
                         "give a number of draws",
                         policy->ops->info.name);
    *law = policy->ops->laws(policy_state(policy), policy->rounds + 1, &from, room->first,
                             room->second);
    return OLTR_OK;
}

static list_rule rule_of(const question *q, const candidates_view *view, law_room *room)
{
    list_rule rule = {.k = q->show.k};
    if (!(q->show.fresh_below > 0))
        return rule;
    fresh_rule fresh = fresh_rule_of(view, &q->show);
    for (uint32_t j = 0; j < view->n; j++)
        room->fresh[j] = is_fresh(&fresh, j);
    rule.fresh = room->fresh;
    rule.least_fresh = q->show.least_fresh;
    rule.most_fresh = q->show.most_fresh;
    return rule;
}

static const score_kind kind_of[] = {[OLTR_LAW_NORMAL] = SCORE_NORMAL,
                                     [OLTR_LAW_BETA] = SCORE_BETA,
                                     [OLTR_LAW_FIXED] = SCORE_FIXED};

static oltr_status exact_chances(const question *q, const candidates_view *view, oltr_error *error)
{
    law_room room;
    oltr_law law;
    if (!take_room(&room, view->n, &q->scratch->memory))
        return set_error(error, OLTR_ENOMEM, "no memory for the laws of %u scores", view->n);
    oltr_status status = read_laws(q, view, &room, &law, error);
    if (status == OLTR_OK) {
        score_laws laws = {kind_of[law], view->n, room.first, room.second};
        list_rule rule = rule_of(q, view, &room);
        status = list_chances(&laws, &rule, &q->scratch->memory, q->in_list, q->first);
        if (status != OLTR_OK)
            set_error(error, status, "%s", oltr_strerror(status));
    }
    memory_give(&q->scratch->memory, room.block, room.bytes);
    return status;
}

/* ---- the call */

static oltr_status answer(question *q, uint32_t draws, oltr_rng rng, oltr_error *error)
{
    candidates_view view;
    oltr_status status = view_begin(q->model, q->list, q->scratch, &view, error);
    if (status == OLTR_OK && view.n) {
        q->show.k = q->show.k < view.n ? q->show.k : view.n;
        if (q->in_list)
            memset(q->in_list, 0, view.n * sizeof *q->in_list);
        if (q->first)
            memset(q->first, 0, view.n * sizeof *q->first);
        status =
            draws ? chances_by_draws(q, &view, draws, rng, error) : exact_chances(q, &view, error);
    }
    view_end(&view);
    return status;
}

oltr_status oltr_model_propensity(const oltr_model *model, const oltr_list *list,
                                  const oltr_show *show, uint32_t draws, oltr_rng rng,
                                  oltr_model_scratch *scratch, double *in_list, double *first,
                                  oltr_error *error)
{
    oltr_status status = check_list(model, list, error);
    if (status == OLTR_OK)
        status = check_show(model, show, error);
    if (status == OLTR_OK && !scratch)
        status = set_error(error, OLTR_EINVAL, "a scratch is needed");
    if (status != OLTR_OK)
        return status;
    question q = {.model = model,
                  .list = list,
                  .show = *show,
                  .scratch = scratch,
                  .in_list = in_list,
                  .first = first};
    return answer(&q, draws, rng, error);
}
