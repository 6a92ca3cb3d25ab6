/* link.h - a link by its number: its kernel, and mu at one score.  The links: link_kernels.h. */
#ifndef OLTR_ENGINE_KERNELS_LINK_H
#define OLTR_ENGINE_KERNELS_LINK_H

#include "engine/kernels/table.h"

enum { LINK_LOGIT, LINK_PROBIT, LINK_CLOGLOG, N_LINKS };
extern const char *const link_names[N_LINKS + 1]; /* for a parameter; ends with NULL */

/* The kernel of a link for a processor. */
static inline residuals_fn *link_residuals(uint32_t link, uint32_t cpu)
{
    return link == LINK_LOGIT    ? KERNEL_AT(logistic_residuals, cpu)
           : link == LINK_PROBIT ? KERNEL_AT(probit_residuals, cpu)
                                 : KERNEL_AT(cloglog_residuals, cpu);
}

/* mu, 1 - mu and mu', of the same bits as residuals; and mu''/mu', the relative change of a weight
 * with its score.  This falls from left to right for every link; where mu' is 0 in doubles, it
 * stays at the last value. */
typedef struct link_values {
    double mean, rest, slope, bend;
} link_values;
link_values link_at(uint32_t link, uint32_t cpu, double z);

#endif
