/* reading.h - which slots of a list count as examined for a policy.
 *
 * A click model gives the click of every slot and which slots were really examined.  A real page
 * does not know the latter, so a rule decides, OLTR_SEEN_... of oltr/sim.h:
 *
 *     first   down to the first click
 *     last    down to the last click
 *     true    what was really examined
 *     all     every slot
 *
 * A list without a click counts as examined whole in the first two.
 */
#ifndef OLTR_LAB_SIM_READING_H
#define OLTR_LAB_SIM_READING_H

#include "lab/world/world.h"

/* The reading of a contestant: its own, or that of the world.  OLTR_SEEN_USUAL: what scan() of the
 * click model says.  An error where the policy cannot learn from these users, or cannot forget. */
oltr_status reading_of(const oltr_world *world, const click_ops *clicks, const oltr_contestant *c,
                       uint32_t *seen, oltr_error *error);

/* The feedback for k slots; both arrays are (k), and the feedback points to them. */
oltr_feedback read_clicks(uint32_t seen, uint32_t k, const double *click, const uint8_t *examined);

#endif
