/* link.c - links by number and mu at one score, see link.h.  No function of the C library, so that
 * the bits are the same on every machine. */
#include "engine/kernels/link.h"

/* Where mu' is 0 in doubles: a score of so many deviations, and a value of e^z. */
static const double LAST_DEVIATION = 38, LAST_HAZARD = 708;

const char *const link_names[N_LINKS + 1] = {"logit", "probit", "cloglog", NULL};

static double bend_of(uint32_t link, double z, const link_values *at)
{
    if (link == LINK_LOGIT)
        return 1 - 2 * at->mean;
    if (link == LINK_CLOGLOG) /* mu' = e^z (1 - mu) */
        return 1 - (at->rest > 0 ? at->slope / at->rest : LAST_HAZARD);
    return z > LAST_DEVIATION ? -LAST_DEVIATION : z > -LAST_DEVIATION ? -z : LAST_DEVIATION;
}

/* The residual of a row examined once is -mu without a click and 1 - mu with one. */
link_values link_at(uint32_t link, uint32_t cpu, double z)
{
    const double score[RESIDUAL_LANES] = {z, z}, examined[RESIDUAL_LANES] = {1, 1},
                 clicked[RESIDUAL_LANES] = {0, 1};
    double residual[RESIDUAL_LANES], curvature[RESIDUAL_LANES];
    link_residuals(link, cpu)(2, score, examined, clicked, residual, curvature);
    link_values at = {-residual[0], residual[1], curvature[0], 0};
    at.bend = bend_of(link, z, &at);
    return at;
}
