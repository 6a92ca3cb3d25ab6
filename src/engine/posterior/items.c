/* items.c - the invariant of the per-item sums. */
#include "engine/posterior/items.h"

#include <math.h>

#include "engine/limits.h"

#define FORGOTTEN                                                                                  \
    1e-290 /* a sum of rewards may be left of observations that were forgotten until nothing was   \
              left */

int item_sums_overflow(const void *state, const item_sums *sums, uint64_t t, uint32_t item,
                       double weight)
{
    return !(doubles_at(state, sums->examined)[item] + weight <= MOST_OBSERVATIONS + (double)t);
}

oltr_status item_sums_check_one(const void *state, const item_sums *sums, uint64_t t, int clicks,
                                uint32_t item, oltr_error *error)
{
    double n = doubles_at(state, sums->examined)[item], s = doubles_at(state, sums->reward)[item];
    if (!(n >= 0 && n <= MOST_OBSERVATIONS + (double)t &&
          fabs(s) <= n * LARGEST_REWARD * (1 + 1e-9) + FORGOTTEN))
        return set_error(error, OLTR_ESTATE,
                         "item %u: %g observations with rewards of %g cannot be", item, n, s);
    if (clicks &&
        !(s >= 0 && s <= n)) /* rounding is monotone: no sum, product or quotient breaks it */
        return set_error(error, OLTR_ESTATE, "item %u: %g clicks in %g observations cannot be",
                         item, s, n);
    return OLTR_OK;
}

oltr_status item_sums_check(const void *state, const item_sums *sums, uint64_t t, int clicks,
                            oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < sums->n_items; i++)
        status = item_sums_check_one(state, sums, t, clicks, i, error);
    return status;
}
