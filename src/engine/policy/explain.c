/* explain.c - the slot, item, candidate or feature for which rank or learn refused a call.
 *
 * The status comes from the checks in rounds.c; this file only finds the place, by a plain search
 * in the order of those checks.
 */
#include <stdlib.h>

#include "engine/policy/rounds.h"

/* A call and its status. */
typedef struct refusal {
    const oltr_policy *policy;
    const oltr_query *query;
    const oltr_ranking *ranking;
    const oltr_feedback *feedback; /* NULL when ranking */
    const oltr_scratch *scratch;
    candidates from;
    oltr_status status;
    oltr_error *error;
} refusal;

/* The sentence of refusal `r`, as in printf. */
#define EXPLAIN(...) set_error(r->error, r->status, __VA_ARGS__)

static oltr_status explain_plainly(const refusal *r)
{
    return EXPLAIN("%s", oltr_strerror(r->status));
}

/* ---- arguments that are missing */

static oltr_status explain_arguments(const refusal *r)
{
    if (!r->policy)
        return EXPLAIN("there is no policy");
    if (!r->ranking || !r->ranking->item)
        return EXPLAIN("there is no ranking, or it has no array for its items");
    if (!r->feedback && !r->scratch)
        return EXPLAIN("there is no scratch to rank with, or no feedback to learn from");
    if (r->feedback && r->feedback->n_examined && !r->feedback->reward)
        return EXPLAIN("%u slots were examined, but there are no rewards", r->feedback->n_examined);
    return EXPLAIN("the reserved members of the query, the ranking or the feedback are not zero: "
                   "fill the struct with {0} first, or load the newer oltr it was made for");
}

/* ---- items */

static uint32_t row_by_search(const candidates *from, uint32_t item)
{
    uint32_t row = from->item ? 0 : item;
    while (from->item && row < from->n && from->item[row] != item)
        row++;
    return row < from->n ? row : UINT32_MAX;
}

/* The first place in a list that repeats an earlier one, or n. */
static uint32_t first_repeat(const uint32_t *item, uint32_t n, uint32_t n_items)
{
    unsigned char *seen = calloc(n_items, 1);
    uint32_t j = 0;
    while (seen && j < n && !seen[item[j]])
        seen[item[j++]] = 1;
    free(seen);
    return seen ? j : n;
}

/* What is wrong with a list, all of whose items must be below n_items and different; OLTR_OK when
 * nothing is found. */
static oltr_status explain_list(const refusal *r, const uint32_t *item, uint32_t n,
                                uint32_t n_items, const char *what)
{
    for (uint32_t j = 0; j < n; j++)
        if (item[j] >= n_items)
            return EXPLAIN("%s %u is item %u, and the items are 0 to %u", what, j, item[j],
                           n_items - 1);
    uint32_t j = first_repeat(item, n, n_items), before = 0;
    if (j == n)
        return OLTR_OK;
    while (item[before] != item[j])
        before++;
    return EXPLAIN("%s %u and %s %u are both item %u: an item may be in a list only once", what,
                   before, what, j, item[j]);
}

static oltr_status explain_items(const refusal *r)
{
    uint32_t n_items = r->policy->n_items;
    if (r->from.n > n_items)
        return EXPLAIN("the query has %u candidates, and the policy was made for %u at most",
                       r->from.n, n_items);
    if (r->from.item && explain_list(r, r->from.item, r->from.n, n_items, "candidate") != OLTR_OK)
        return r->status;
    if (!r->feedback)
        return explain_plainly(r);
    if (explain_list(r, r->ranking->item, r->ranking->k, r->from.item ? n_items : r->from.n,
                     "slot") != OLTR_OK)
        return r->status;
    for (uint32_t slot = 0; slot < r->ranking->k; slot++)
        if (row_by_search(&r->from, r->ranking->item[slot]) == UINT32_MAX)
            return EXPLAIN("slot %u shows item %u, which is not among the %u candidates", slot,
                           r->ranking->item[slot], r->from.n);
    return explain_plainly(r);
}

/* ---- features */

static oltr_status explain_shape(const refusal *r)
{
    uint32_t dim = r->policy->settings->dim, given = r->query ? r->query->dim : 0;
    if (!r->from.x)
        return EXPLAIN("%s ranks by features, and the query has none: give rows of %u floats in x",
                       r->policy->ops->info.name, dim);
    if (given != dim)
        return EXPLAIN("the query has %u features, the policy was made for %u", given, dim);
    if (r->from.stride < dim)
        return EXPLAIN("a stride of %zu floats is less than the %u features of a row",
                       r->from.stride, dim);
    return OLTR_OK;
}

/* One candidate; a feature must be within `largest`.  OLTR_OK when nothing is found. */
static oltr_status explain_row(const refusal *r, uint32_t row, double largest)
{
    const float *x = r->from.x + row * r->from.stride;
    uint32_t item = candidate(&r->from, row);
    for (uint32_t f = 0; f < r->policy->settings->dim; f++)
        if (!(fabs((double)x[f]) <= largest))
            return EXPLAIN(
                "candidate %u (item %u): feature %u is %g, and must be a number of at most %g", row,
                item, f, (double)x[f], (double)LARGEST_FEATURE);
    if (r->policy->ops->row_rejected && r->policy->ops->row_rejected(policy_state(r->policy), x))
        return EXPLAIN("candidate %u (item %u): its features are longer than 1, which norm: refuse "
                       "does not allow",
                       row, item);
    return OLTR_OK;
}

/* A ranking scores every candidate, and bounds the features of those it shows. */
static oltr_status explain_features(const refusal *r)
{
    if (explain_shape(r) != OLTR_OK)
        return r->status;
    for (uint32_t row = 0; !r->feedback && row < r->from.n; row++)
        if (explain_row(r, row, 3.5e38) != OLTR_OK)
            return r->status;
    for (uint32_t slot = 0; slot < r->ranking->k; slot++) {
        uint32_t row = row_by_search(&r->from, r->ranking->item[slot]);
        if (row != UINT32_MAX && explain_row(r, row, (double)LARGEST_FEATURE) != OLTR_OK)
            return r->status;
    }
    return explain_plainly(r);
}

/* ---- slots */

static oltr_status explain_slots(const refusal *r)
{
    uint32_t k = r->ranking->k;
    if (k < 1 || k > r->from.n)
        return EXPLAIN("a list of %u slots cannot be filled from %u candidates", k, r->from.n);
    return EXPLAIN("a list with a mask may have %u slots here, not %u",
                   masked_slots(r->policy->settings), k);
}

static oltr_status explain_examined(const refusal *r)
{
    const oltr_feedback *seen = r->feedback;
    if (seen->n_examined > r->ranking->k)
        return EXPLAIN("%u slots were examined of a list of %u", seen->n_examined, r->ranking->k);
    for (uint32_t slot = 0; seen->examined && slot < seen->n_examined; slot++)
        if (seen->examined[slot] > 1)
            return EXPLAIN("slot %u: the mask holds %u, and must be 0 or 1", slot,
                           (unsigned)seen->examined[slot]);
    return explain_plainly(r);
}

static oltr_status explain_reward(const refusal *r, uint32_t slot)
{
    bool clicks = r->policy->ops->info.rewards == OLTR_CLICKS;
    double reward = r->feedback->reward[slot];
    uint32_t item = r->ranking->item[slot];
    if (bad_reward(reward, clicks) && clicks)
        return EXPLAIN("slot %u (item %u): a reward of %g, and %s learns from clicks, 0 or 1", slot,
                       item, reward, r->policy->ops->info.name);
    if (bad_reward(reward, clicks))
        return EXPLAIN("slot %u (item %u): a reward of %g, and it must be a number within %g", slot,
                       item, reward, LARGEST_REWARD);
    if (r->feedback->weight && bad_weight(r->feedback->weight[slot]))
        return EXPLAIN("slot %u (item %u): a weight of %g, and it must be above 0 and at most %g",
                       slot, item, r->feedback->weight[slot], OLTR_MAX_WEIGHT);
    return OLTR_OK;
}

static oltr_status explain_rewards(const refusal *r)
{
    const oltr_feedback *seen = r->feedback;
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        if ((!seen->examined || seen->examined[slot]) && explain_reward(r, slot) != OLTR_OK)
            return r->status;
    return explain_plainly(r);
}

/* ---- the rest */

static oltr_status explain_state(const refusal *r)
{
    if (r->policy->rounds >= MOST_ROUNDS)
        return EXPLAIN("the policy has learned %llu rounds, the most it may: begin a new one",
                       (unsigned long long)r->policy->rounds);
    for (uint32_t slot = 0; slot < r->feedback->n_examined; slot++) {
        oltr_feedback one = {.n_examined = 1,
                             .reward = r->feedback->reward + slot,
                             .weight = r->feedback->weight + slot};
        oltr_ranking list = {.k = 1, .item = r->ranking->item + slot};
        if ((!r->feedback->examined || r->feedback->examined[slot]) &&
            r->policy->ops->overflows(policy_state(r->policy), r->policy->rounds + 2, &list, &one))
            return EXPLAIN(
                "slot %u (item %u): with another %g its observations are more than can be kept",
                slot, list.item[0], one.weight[0]);
    }
    return explain_plainly(r);
}

/* What can be wrong with a ranking and with a lesson alike. */
static oltr_status explain_list_and_query(const refusal *r)
{
    switch (r->status) {
    case OLTR_OK:
        if (r->error)
            *r->error = (oltr_error){OLTR_OK, ""};
        return OLTR_OK;
    case OLTR_EINVAL:
        return explain_arguments(r);
    case OLTR_EITEM:
        return explain_items(r);
    case OLTR_EFEATURE:
        return explain_features(r);
    case OLTR_ESLOTS:
        return explain_slots(r);
    case OLTR_ESCRATCH:
        return EXPLAIN("the scratch was made for a smaller policy, of %u items; make one with "
                       "oltr_scratch_new() of this one",
                       r->scratch->n_items);
    default:
        return explain_plainly(r);
    }
}

static oltr_status explain_lesson(const refusal *r)
{
    switch (r->status) {
    case OLTR_EEXAMINED:
        return explain_examined(r);
    case OLTR_EREWARD:
        return explain_rewards(r);
    case OLTR_ESTATE:
        return explain_state(r);
    case OLTR_EUNSUPPORTED:
        return EXPLAIN(
            "%s does not learn from weights; use a policy with takes_weights in the catalogue",
            r->policy->ops->info.name);
    default:
        return explain_list_and_query(r);
    }
}

oltr_status oltr_explain_rank(const oltr_policy *policy, const oltr_query *query, oltr_rng rng,
                              oltr_scratch *scratch, oltr_ranking *ranking, oltr_error *error)
{
    refusal r = {policy, query, ranking, NULL, scratch, {0}, OLTR_OK, error};
    if (policy)
        r.from = candidates_of(policy, query);
    candidates from;
    r.status = check_ranking(policy, query, ranking, scratch, &from);
    if (r.status != OLTR_OK)
        return explain_list_and_query(&r);
    r.status = rank_checked(policy, &from, &rng, scratch, ranking);
    bool known = r.status == OLTR_OK || (r.status == OLTR_EFEATURE && policy->ops->info.contextual);
    return known ? explain_list_and_query(&r) : explain_plainly(&r);
}

oltr_status oltr_explain_learn(const oltr_policy *policy, const oltr_query *query,
                               const oltr_ranking *ranking, const oltr_feedback *feedback,
                               oltr_error *error)
{
    refusal r = {policy, query, ranking, feedback, NULL, {0}, OLTR_EINVAL, error};
    candidates from;
    uint32_t last = 0;
    if (!policy || !feedback)
        return explain_arguments(&r);
    r.from = candidates_of(policy, query);
    item_marks marks = {calloc(policy->n_items, sizeof(uint32_t)), &last, policy->n_items};
    if (!marks.word)
        return set_error(error, OLTR_ENOMEM, "no memory to check %u items", policy->n_items);
    r.status = check_learning(policy, &marks, query, ranking, feedback, &from);
    free(marks.word);
    return explain_lesson(&r);
}

oltr_status explain_prediction(const oltr_policy *policy, const oltr_query *query,
                               oltr_status status, oltr_error *error)
{
    refusal r = {.policy = policy,
                 .query = query,
                 .from = candidates_of(policy, query),
                 .status = status,
                 .error = error};
    if (status == OLTR_EITEM)
        return explain_items(&r);
    if (status == OLTR_EFEATURE && explain_shape(&r) != OLTR_OK)
        return status;
    for (uint32_t row = 0; status == OLTR_EFEATURE && row < r.from.n; row++)
        if (explain_row(&r, row, (double)LARGEST_FEATURE) != OLTR_OK)
            return status;
    return explain_plainly(&r);
}
