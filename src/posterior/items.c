/* items.c - the invariant of the per-item sums. */
#include "posterior/items.h"

#include <math.h>

#include "base/limits.h"

#define FORGOTTEN 1e-290 /* a sum of rewards may be left of observations that were forgotten until nothing was left */

int item_sums_overflow(const void *state, const item_sums *sums, uint64_t t, uint32_t item, double weight)
{
    return !(doubles_at(state, sums->examined)[item] + weight <= MOST_OBSERVATIONS + (double)t);
}

oltr_status item_sums_check(const void *state, const item_sums *sums, uint64_t t, int clicks, oltr_error *error)
{
    const double *n = doubles_at(state, sums->examined), *s = doubles_at(state, sums->reward);
    for (uint32_t i = 0; i < sums->n_items; i++) {
        if (!(n[i] >= 0 && n[i] <= MOST_OBSERVATIONS + (double)t &&
              fabs(s[i]) <= n[i] * LARGEST_REWARD * (1 + 1e-9) + FORGOTTEN))
            return fail(error, OLTR_ESTATE, "item %u: %g observations with rewards of %g cannot be", i, n[i], s[i]);
        if (clicks && !(s[i] >= 0 && s[i] <= n[i])) /* rounding is monotone: no sum, product or quotient breaks it */
            return fail(error, OLTR_ESTATE, "item %u: %g clicks in %g observations cannot be", i, s[i], n[i]);
    }
    return OLTR_OK;
}
