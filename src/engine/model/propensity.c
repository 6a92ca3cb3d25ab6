/* propensity.c - how likely each candidate is shown: exactly from the laws of the scores, or by
 * making many lists.
 *
 * The scores are independent for policies that draw each item by itself (gts, ts-beta, maillard),
 * and fixed for those that do not draw (upper bounds, greedy lists): chances.h integrates over
 * them.  ts-hyper draws one recalibration for all items: its chances are those of independent
 * scores, averaged over the grid of recalibrations.  ts-cascade draws one normal for all items,
 * policies with features draw one theta, the slots of epsilon-greedy depend on each other, and the
 * distribution of pbm-ts is not among those of chances.h: for these, lists are drawn and counted.
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
    const uint32_t *shown;   /* (k) places: the chances of this list; or NULL */
    double *beginning;       /* (k) these chances */
    double *next;            /* (k, n) with `shown`: what follows each beginning */
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
        status = rank_view(view, oltr_rng_at(rng, 0, d), q->scratch, &show, error);
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
    double *first, *second;     /* (n) */
    double *in_list, *is_first; /* (n) the chances of one part */
    uint32_t *order;            /* (n) */
    uint8_t *fresh;             /* (n) */
    void *block;
    size_t bytes;
} law_room;

static bool take_room(law_room *room, uint32_t n, const oltr_memory *memory)
{
    room->bytes = n * (4 * sizeof(double) + sizeof(uint32_t) + 1);
    room->block = memory_take(memory, room->bytes);
    if (!room->block)
        return false;
    room->first = room->block;
    room->second = room->first + n;
    room->in_list = room->second + n;
    room->is_first = room->in_list + n;
    room->order = (uint32_t *)(void *)(room->is_first + n);
    room->fresh = (uint8_t *)(room->order + n);
    return true;
}

/* The scores of a policy that does not draw: those of a list of all candidates. */
static oltr_status fixed_scores(const question *q, const candidates_view *view, law_room *room,
                                oltr_error *error)
{
    oltr_ranking all = {.k = view->n, .item = room->order, .score = room->second};
    oltr_status status = rank_places(view, oltr_rng_make(0, 0), false, q->scratch, &all, error);
    for (uint32_t j = 0; status == OLTR_OK && j < view->n; j++)
        room->first[room->order[j]] = room->second[j];
    return status;
}

/* The laws of a list that is not drawn. */
static oltr_status read_fixed(const question *q, const candidates_view *view, law_room *room,
                              oltr_error *error)
{
    return q->show.greedy ? oltr_model_predict(q->model, q->list, room->first, NULL, error)
                          : fixed_scores(q, view, room, error);
}

/* How likely a part of a policy's draw must be to count.  The largest grid of ts-hyper has some
 * thousand parts, so what is left out is below 1e-8. */
#define LEAST_CHANCE 1e-12

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
                                     [OLTR_LAW_FIXED] = SCORE_FIXED,
                                     [OLTR_LAW_GUMBEL] = SCORE_GUMBEL};

/* Adds `chance` times the chances of the beginnings of a list under these laws. */
static oltr_status add_beginnings(const question *q, const score_laws *laws, law_room *room,
                                  double chance, oltr_error *error)
{
    oltr_status status =
        list_prefix_chances(laws, q->shown, q->show.k, &q->scratch->memory, room->in_list);
    if (status != OLTR_OK)
        return set_error(error, status, "%s", oltr_strerror(status));
    for (uint32_t slot = 0; slot < q->show.k; slot++)
        q->beginning[slot] += chance * room->in_list[slot];
    return OLTR_OK;
}

/* The same of what follows each beginning. */
static oltr_status add_next(const question *q, const score_laws *laws, double chance,
                            oltr_error *error)
{
    size_t bytes = (size_t)q->show.k * laws->n * sizeof(double);
    double *part = memory_take(&q->scratch->memory, bytes);
    if (!part)
        return set_error(error, OLTR_ENOMEM, "no memory for the chances of %u slots", q->show.k);
    oltr_status status = list_next_chances(laws, q->shown, q->show.k, &q->scratch->memory, part);
    for (size_t i = 0; status == OLTR_OK && i < bytes / sizeof *part; i++)
        q->next[i] += chance * part[i];
    memory_give(&q->scratch->memory, part, bytes);
    return status == OLTR_OK ? OLTR_OK : set_error(error, status, "%s", oltr_strerror(status));
}

/* Adds `chance` times the chances under these laws. */
static oltr_status add_chances(const question *q, const candidates_view *view, oltr_law law,
                               law_room *room, double chance, oltr_error *error)
{
    score_laws laws = {kind_of[law], view->n, room->first, room->second};
    list_rule rule = rule_of(q, view, room);
    if (q->next)
        return add_next(q, &laws, chance, error);
    if (q->shown)
        return add_beginnings(q, &laws, room, chance, error);
    oltr_status status =
        list_chances(&laws, &rule, &q->scratch->memory, room->in_list, room->is_first);
    if (status != OLTR_OK)
        return set_error(error, status, "%s", oltr_strerror(status));
    for (uint32_t j = 0; q->in_list && j < view->n; j++)
        q->in_list[j] += chance * room->in_list[j];
    for (uint32_t j = 0; q->first && j < view->n; j++)
        q->first[j] += chance * room->is_first[j];
    return OLTR_OK;
}

/* Of a policy that draws: part by part. */
static oltr_status drawn_chances(const question *q, const candidates_view *view, law_room *room,
                                 oltr_error *error)
{
    const policy_ops *ops = view->policy->ops;
    const void *state = policy_state(view->policy);
    candidates from = {.n = view->n, .item = view->query.item, .x = view->query.x};
    oltr_status status = OLTR_OK;
    if (!ops->laws)
        return set_error(
            error, OLTR_EUNSUPPORTED,
            "the scores of %s are not independent, or have no law that is integrated, so "
            "its chances cannot be computed: have them counted in drawn lists, by a number of "
            "draws",
            ops->info.name);
    for (uint32_t part = 0; status == OLTR_OK && part < (ops->parts ? ops->parts(state) : 1);
         part++) {
        double chance = ops->parts ? ops->part_chance(state, part) : 1;
        if (!(chance > LEAST_CHANCE))
            continue;
        oltr_law law =
            ops->laws(state, view->policy->rounds + 1, part, &from, room->first, room->second);
        status = add_chances(q, view, law, room, chance, error);
    }
    return status;
}

static oltr_status exact_chances(const question *q, const candidates_view *view, oltr_error *error)
{
    law_room room;
    if (!take_room(&room, view->n, &q->scratch->memory))
        return set_error(error, OLTR_ENOMEM, "no memory for the laws of %u scores", view->n);
    oltr_status status = check_distinct(view, q->scratch, error);
    if (status == OLTR_OK && (q->show.greedy || view->policy->ops->info.fixed_scores)) {
        status = read_fixed(q, view, &room, error);
        if (status == OLTR_OK)
            status = add_chances(q, view, OLTR_LAW_FIXED, &room, 1, error);
    } else if (status == OLTR_OK) {
        status = drawn_chances(q, view, &room, error);
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
        if (q->beginning)
            memset(q->beginning, 0, q->show.k * sizeof *q->beginning);
        if (q->next)
            memset(q->next, 0, (size_t)q->show.k * view.n * sizeof *q->next);
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

static uint32_t candidates_of(const oltr_model *model, const oltr_list *list)
{
    return list->name || list->x ? list->n : model->names.n;
}

/* Whether the places are those of different candidates. */
static oltr_status check_places(const uint32_t *place, uint32_t k, uint32_t n, oltr_error *error)
{
    if (k > n)
        return set_error(error, OLTR_ESLOTS, "a list of %u items has more than the %u candidates",
                         k, n);
    for (uint32_t slot = 0; slot < k; slot++) {
        if (place[slot] >= n)
            return set_error(error, OLTR_EITEM, "slot %u: place %u is not below the %u candidates",
                             slot, place[slot], n);
        for (uint32_t other = 0; other < slot; other++)
            if (place[other] == place[slot])
                return set_error(error, OLTR_EITEM, "slot %u has place %u, as slot %u has", slot,
                                 place[slot], other);
    }
    return OLTR_OK;
}

static oltr_status ask_about_list(const oltr_model *model, const oltr_list *list,
                                  const uint32_t *place, uint32_t k, uint32_t greedy,
                                  oltr_model_scratch *scratch, double *beginning, double *next,
                                  oltr_error *error)
{
    oltr_show show = {.k = k, .greedy = greedy};
    oltr_status status = check_list(model, list, error);
    if (status == OLTR_OK)
        status = check_show(model, &show, error);
    if (status != OLTR_OK)
        return status;
    if (!scratch || !place || (!beginning && !next))
        return set_error(error, OLTR_EINVAL, "a scratch, places and room for chances are needed");
    status = check_places(place, k, candidates_of(model, list), error);
    if (status != OLTR_OK)
        return status;
    question q = {.model = model,
                  .list = list,
                  .show = show,
                  .scratch = scratch,
                  .shown = place,
                  .beginning = beginning,
                  .next = next};
    return answer(&q, 0, oltr_rng_make(0, 0), error);
}

oltr_status oltr_model_list_propensity(const oltr_model *model, const oltr_list *list,
                                       const uint32_t *place, uint32_t k, uint32_t greedy,
                                       oltr_model_scratch *scratch, double *chance,
                                       oltr_error *error)
{
    return ask_about_list(model, list, place, k, greedy, scratch, chance, NULL, error);
}

oltr_status oltr_model_next_propensity(const oltr_model *model, const oltr_list *list,
                                       const uint32_t *place, uint32_t k, uint32_t greedy,
                                       oltr_model_scratch *scratch, double *chance,
                                       oltr_error *error)
{
    return ask_about_list(model, list, place, k, greedy, scratch, NULL, chance, error);
}

/* The chance to be among the first l less that to be among the first l - 1. */
static void to_slots(double *chance, uint32_t k, uint32_t n)
{
    for (uint32_t l = k; l-- > 1;)
        for (uint32_t j = 0; j < n; j++) {
            double *at = &chance[(size_t)l * n + j];
            *at = at[0] > *(at - n) ? at[0] - *(at - n) : 0;
        }
}

oltr_status oltr_model_slot_propensity(const oltr_model *model, const oltr_list *list, uint32_t k,
                                       uint32_t greedy, oltr_model_scratch *scratch, double *chance,
                                       oltr_error *error)
{
    oltr_status status = check_list(model, list, error);
    uint32_t n = status == OLTR_OK ? candidates_of(model, list) : 0;
    if (status == OLTR_OK && !chance)
        status = set_error(error, OLTR_EINVAL, "room for chances is needed");
    if (status == OLTR_OK && k > n)
        status = set_error(error, OLTR_ESLOTS, "a list of %u items has more than the %u candidates",
                           k, n);
    for (uint32_t l = 1; status == OLTR_OK && l <= (k > 0 ? k : 1); l++) {
        oltr_show show = {.k = k > 0 ? l : 0, .greedy = greedy};
        status = oltr_model_propensity(model, list, &show, 0, oltr_rng_make(0, 0), scratch,
                                       chance + (size_t)(l - 1) * n, NULL, error);
    }
    if (status == OLTR_OK)
        to_slots(chance, k, n);
    return status;
}
