/* items.c - the bounds of the per-item sums (items.h). */
#include "engine/posterior/items.h"

#include <math.h>

#include "engine/limits.h"

bool item_sums_overflow(const void *state, const item_sums *sums, uint64_t t, uint32_t item,
                        double weight)
{
    return !(doubles_at(state, sums->examined)[item] + weight <= MOST_OBSERVATIONS + (double)t);
}

/* S <= N of clicks needs no tolerance: rounding is monotone, so no sum, product or quotient of both
 * breaks it. */
oltr_status item_sums_check_one(const void *state, const item_sums *sums, uint64_t t, bool clicks,
                                uint32_t item, oltr_error *error)
{
    double n = doubles_at(state, sums->examined)[item], s = doubles_at(state, sums->reward)[item];
    if (!(n >= 0 && n <= MOST_OBSERVATIONS + (double)t &&
          fabs(s) <= n * LARGEST_REWARD * (1 + 1e-9) + FORGOTTEN_SUM))
        return set_error(error, OLTR_ESTATE,
                         "item %u: %g observations with rewards of %g are impossible", item, n, s);
    if (clicks && !(s >= 0 && s <= n))
        return set_error(error, OLTR_ESTATE, "item %u: %g clicks in %g observations are impossible",
                         item, s, n);
    return OLTR_OK;
}

oltr_status item_sums_check(const void *state, const item_sums *sums, uint64_t t, bool clicks,
                            oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < sums->n_items; i++)
        status = item_sums_check_one(state, sums, t, clicks, i, error);
    return status;
}
