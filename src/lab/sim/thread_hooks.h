/* thread_hooks.h - the calls that custom policies need in each thread of a run (policy_ops.h). */
#ifndef OLTR_LAB_SIM_THREAD_HOOKS_H
#define OLTR_LAB_SIM_THREAD_HOOKS_H

#include <stdbool.h>

#include <oltr/policy_ops.h>
#include <oltr/sim.h>

/* Calls thread_begin() once for each different pair of operations and settings.custom in all
 * points.  *begun is how many are to be ended, also after a failure. */
oltr_status thread_hooks_begin(const oltr_experiment *points, uint32_t n_points, uint32_t *begun);
/* Calls thread_end() for the first `begun` of them. */
void thread_hooks_end(const oltr_experiment *points, uint32_t n_points, uint32_t begun);

#endif
