/* ope_bootstrap.h - percentiles of an estimate over resampled lists.
 *
 * The Poisson bootstrap: in resample b, list i counts Poisson(1) times, a function of (seed, b, i)
 * by Philox.  Compared with drawing n lists, the size of a resample varies by its square root,
 * which does not affect ratios of sums, and lists are read in order: a block of lists is added to
 * all resamples while it is in the cache.  Cost: O(n (B + columns B)) time, O(B columns) memory.
 */
#ifndef OLTR_LAB_OPE_OPE_BOOTSTRAP_H
#define OLTR_LAB_OPE_OPE_BOOTSTRAP_H

#include "lab/ope/ope_rows.h"

/* The interval of this confidence; two NANs where more than a tenth of the resamples have no
 * value. */
oltr_status ope_bootstrap(const ope_rows *rows, uint32_t resamples, uint64_t seed,
                          double confidence, double *low, double *high, oltr_error *error);

#endif
