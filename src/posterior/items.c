/* items.c - the invariant of the per-item sums. */
#include "posterior/items.h"

#include <math.h>

oltr_status item_sums_check(const void *state, const item_sums *sums, int clicks, oltr_error *error)
{
    const double *n = doubles_at(state, sums->examined), *s = doubles_at(state, sums->reward);
    for (uint32_t i = 0; i < sums->n_items; i++) {
        if (!(isfinite(n[i]) && n[i] >= 0 && isfinite(s[i])))
            return fail(error, OLTR_ESTATE, "item %u: %g observations with rewards of %g cannot be", i, n[i], s[i]);
        if (clicks && !(s[i] >= 0 && s[i] <= n[i] * (1 + 1e-12)))
            return fail(error, OLTR_ESTATE, "item %u: %g clicks in %g observations cannot be", i, s[i], n[i]);
    }
    return OLTR_OK;
}
