/* plan_parts.h - the sections of an experiment file, one reader each.  Private to plan*.c. */
#ifndef OLTR_LAB_PLAN_PLAN_PARTS_H
#define OLTR_LAB_PLAN_PLAN_PARTS_H

#include <oltr/world_ops.h>

#include "lab/plan/fields.h"
#include "lab/plan/plan_internal.h"

bool plan_world(const struct reader *reader, const struct node *root, oltr_world *world,
                oltr_data_plan *data);
/* What a world of kind dataset is made of. */
bool plan_data(const struct reader *reader, const struct node *map, oltr_world *world,
               oltr_data_plan *data);
/* The click model of a world of kind fitted; NULL with the error set. */
const oltr_click_ops *fitted_clicks(const struct reader *reader, const struct node *map);
/* The file that it is read from. */
bool plan_fitted(const struct reader *reader, const struct node *map, oltr_world *world,
                 oltr_data_plan *data);
/* One of the names of a catalogue; *out is its place in it. */
bool plan_name(const struct reader *reader, const struct node *node, const char *what,
               uint32_t (*count)(void), const oltr_named *(*at)(uint32_t), uint32_t *out);
/* Has the kind of this world a trait, OLTR_WORLD_...? */
bool has_trait(const oltr_world *world, uint32_t trait);
bool plan_policies(const struct reader *reader, const struct node *root, const oltr_data_plan *data,
                   oltr_experiment *point);
/* The axes of the sweep, and how many points they make. */
bool plan_sweep(const struct reader *reader, oltr_plan *plan);
/* The document of one point; NULL with the error set. */
const struct node *plan_sweep_to(const struct reader *reader, const oltr_plan *plan,
                                 uint32_t point);
bool plan_notes(const struct reader *reader, const struct node *root, oltr_plan *plan);

#endif
