/* fresh_rule.c - see fresh_rule.h. */
#include "engine/model/fresh_rule.h"

oltr_status fresh_rule_check(const oltr_model *m, const oltr_show *show, oltr_error *error)
{
    sum_array sums[MAX_SUMS];
    if (!(show->fresh_below > 0))
        return OLTR_OK;
    if (is_contextual(m) || m->policy->ops->sums(policy_state(m->policy), sums) == 0)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s does not count observations of items: leave out fresh_below",
                         m->settings.policy.info->name);
    if (show->least_fresh > show->most_fresh)
        return set_error(error, OLTR_EVALUE, "least_fresh %u is more than most_fresh %u",
                         show->least_fresh, show->most_fresh);
    return OLTR_OK;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

fresh_rule fresh_rule_of(const candidates_view *view, const oltr_show *show)
{
    sum_array sums[MAX_SUMS];
    view->policy->ops->sums(policy_state(view->policy), sums);
    fresh_rule rule = {.examined = sums[0].value,
                       .item = view->named ? view->query.item : NULL,
                       .below = show->fresh_below,
                       .n = view->n,
                       .k = show->k};
    uint32_t fresh = 0;
    for (uint32_t j = 0; j < rule.n; j++)
        fresh += is_fresh(&rule, j);
    rule.range = fresh_range_of(rule.k, fresh, rule.n - fresh, show->least_fresh, show->most_fresh);
    return rule;
}

uint32_t fresh_in(const fresh_rule *rule, const uint32_t *place)
{
    uint32_t fresh = 0;
    for (uint32_t slot = 0; slot < rule->k; slot++)
        fresh += is_fresh(rule, place[slot]);
    return fresh;
}

uint32_t fresh_wanted(const fresh_rule *rule, uint32_t had)
{
    return smaller(larger(had, rule->range.least), rule->range.most);
}

void fresh_rule_apply(const fresh_rule *rule, const uint32_t *order, const double *score,
                      oltr_show *show)
{
    uint32_t fresh = fresh_wanted(rule, fresh_in(rule, order)), others = rule->k - fresh, slot = 0;
    for (uint32_t j = 0; slot < rule->k; j++) {
        uint32_t *left = is_fresh(rule, order[j]) ? &fresh : &others;
        if (*left == 0)
            continue;
        --*left;
        show->place[slot] = order[j];
        if (show->score)
            show->score[slot] = score[j];
        slot++;
    }
}
