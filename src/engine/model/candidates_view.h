/* candidates_view.h - the candidates of a request as the policy takes them: names become numbers of
 * items, and unknown names numbers behind the last item.
 *
 * Unknown items have the default prior and no observations, as have the items of the policy that
 * are behind the named ones.  Where there are fewer of these than unknown names, a copy of the
 * policy with more room stands in for the call: O(items), and rare, as the room doubles.
 */
#ifndef OLTR_ENGINE_MODEL_CANDIDATES_VIEW_H
#define OLTR_ENGINE_MODEL_CANDIDATES_VIEW_H

#include "engine/model/model_parts.h"

/* An array that grows. */
typedef struct grown {
    void *at;
    size_t bytes;
} grown;

struct oltr_model_scratch {
    oltr_memory memory;
    oltr_scratch *own; /* of the policy */
    names unknown;     /* of the request */
    uint32_t n_unknown;
    grown item;  /* (n) numbers of the candidates, uint32_t */
    grown place; /* (items of the policy) place in the list, uint32_t */
    grown order; /* (fresh_room(n, k)) numbers, places and a list, uint32_t */
    grown score; /* (padded(n)) scores, double */
    grown best;  /* (topk_room(n)) for the selection, double */
    grown all;   /* (n) the scores of all candidates, best first, double */
};

/* The bytes for the numbers and the places of n candidates, and a list of k of them. */
static inline size_t fresh_room(size_t n, size_t k)
{
    return (2 * n + k) * sizeof(uint32_t);
}

typedef struct candidates_view {
    const oltr_policy *policy;
    oltr_query query;
    uint32_t n, n_unknown;
    bool named;        /* query.item are the numbers of names */
    oltr_policy *copy; /* with more room, or NULL; view_end() frees it */
} candidates_view;

/* What a list must be for this model, but for its names. */
oltr_status check_list(const oltr_model *m, const oltr_list *list, oltr_error *error);

oltr_status view_begin(const oltr_model *m, const oltr_list *list, oltr_model_scratch *scratch,
                       candidates_view *view, oltr_error *error);
void view_end(candidates_view *view);

/* The array with room for so many bytes; its content is lost.  NULL without memory. */
void *grow(oltr_model_scratch *scratch, grown *array, size_t bytes);

/* The scratch of the policy, large enough for it.  NULL without memory. */
oltr_scratch *policy_scratch(oltr_model_scratch *scratch, const oltr_policy *policy);

/* The query of rows or of all items, without names. */
oltr_query plain_query(const oltr_model *m, const oltr_list *list);

#endif
