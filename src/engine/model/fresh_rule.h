/* fresh_rule.h - lists with bounds on the number of fresh items: see oltr_show. */
#ifndef OLTR_ENGINE_MODEL_FRESH_RULE_H
#define OLTR_ENGINE_MODEL_FRESH_RULE_H

#include "engine/model/candidates_view.h"
#include "engine/model/chances.h"

typedef struct fresh_rule {
    const double *examined; /* by item */
    const uint32_t *item;   /* of each place, or NULL: the place itself */
    double below;
    uint32_t n, k;
    fresh_range range; /* how many fresh items the list may have */
} fresh_rule;

/* OLTR_OK where the rule is off; otherwise it needs items with observations, and least_fresh at
 * most most_fresh. */
oltr_status fresh_rule_check(const oltr_model *m, const oltr_show *show, oltr_error *error);

/* For show->k slots, which the candidates fill. */
fresh_rule fresh_rule_of(const candidates_view *view, const oltr_show *show);

static inline bool is_fresh(const fresh_rule *rule, uint32_t place)
{
    return rule->examined[rule->item ? rule->item[place] : place] < rule->below;
}

/* How many of the k places of a list are fresh. */
uint32_t fresh_in(const fresh_rule *rule, const uint32_t *place);

/* How many the list with the largest scores has, where the unbounded one has `had`. */
uint32_t fresh_wanted(const fresh_rule *rule, uint32_t had);

/* The list from all n places, best first, and their scores. */
void fresh_rule_apply(const fresh_rule *rule, const uint32_t *order, const double *score,
                      oltr_show *show);

#endif
