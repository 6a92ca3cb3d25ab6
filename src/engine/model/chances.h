/* chances.h - how likely a list is, computed exactly: for each candidate the chance to be in the
 * list and to be its first, and for one list the chance of each of its beginnings.
 *
 * The candidates have independent random scores (score_laws of score_walk.h).  The chances are
 * integrals of one variable, not simulations.  Errors are below 1e-11, with shapes beyond 1e9 below
 * 1e-9.  A policy that draws its scores in float32 deviates from these laws by more than that.
 */
#ifndef OLTR_ENGINE_MODEL_CHANCES_H
#define OLTR_ENGINE_MODEL_CHANCES_H

#include "engine/model/score_walk.h"

/* How a list is chosen: the k best by score, with at least least_fresh and at most most_fresh fresh
 * items (see oltr_show in oltr/model.h). */
typedef struct list_rule {
    uint32_t k;           /* 1 to n */
    const uint8_t *fresh; /* (n) not 0: fresh; or NULL: no item is */
    uint32_t least_fresh, most_fresh;
} list_rule;

/* The number of fresh items in a list of k, after what there is.  With f fresh items among the k
 * best, the list has the clamp(f, least, most) best fresh ones and for the rest the best others.
 * Where least_fresh is larger than most_fresh, the latter counts. */
typedef struct fresh_range {
    uint32_t least, most;
} fresh_range;
/* k <= n_fresh + n_others */
fresh_range fresh_range_of(uint32_t k, uint32_t n_fresh, uint32_t n_others, uint32_t least_fresh,
                           uint32_t most_fresh);

/* For each candidate the chance to be in the list, and to be the first of it; either array may be
 * NULL.  OLTR_ESLOTS: k is 0 or above n; OLTR_EINVAL: a law is not valid; OLTR_ENOMEM. */
oltr_status list_chances(const score_laws *laws, const list_rule *rule, const oltr_memory *memory,
                         double *in_list, double *first);

/* For j = 1..k the chance that the first j slots show the items shown[0..j-1] in this order,
 * without a rule about fresh items.  OLTR_EITEM: an item is not below n or occurs twice. */
oltr_status list_prefix_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                                const oltr_memory *memory, double *chance);

/* For j = 0..k-1 and each item the chance that the first j slots show shown[0..j-1] and slot j + 1
 * the item: next is (k, n) row-major, 0 for the items above.  The same statuses. */
oltr_status list_next_chances(const score_laws *laws, const uint32_t *shown, uint32_t k,
                              const oltr_memory *memory, double *next);

#endif
