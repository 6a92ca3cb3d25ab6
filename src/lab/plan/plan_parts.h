/* plan_parts.h - the sections of an experiment file, one reader each.  Private to plan*.c. */
#ifndef OLTR_LAB_PLAN_PLAN_PARTS_H
#define OLTR_LAB_PLAN_PLAN_PARTS_H

#include "lab/plan/fields.h"
#include "lab/plan/plan_internal.h"

enum {
    MOST_ITEMS = 10000000,
    MOST_CHECKPOINTS = 1000000,
    MOST_POLICIES = 1000,
    MOST_POINTS = 1000
};

/* The world, all but the slots examined without a click, which depend on how many slots there
 * are. */
bool plan_world(const struct reader *reader, const struct node *root, oltr_world *world,
                oltr_data_plan *data);
/* What a world of kind dataset is made of. */
bool plan_data(const struct reader *reader, const struct node *map, oltr_world *world,
               oltr_data_plan *data);
/* One of the names of a catalogue. */
bool plan_name(const struct reader *reader, const struct node *node, const char *what,
               uint32_t (*count)(void), const oltr_named *(*at)(uint32_t), const char **out);
bool plan_no_click(const struct reader *reader, const struct node *world, uint32_t slots,
                   uint32_t *out);
bool plan_policies(const struct reader *reader, const struct node *root, const oltr_data_plan *data,
                   oltr_experiment *point);
bool plan_notes(const struct reader *reader, const struct node *root, oltr_plan *plan);

#endif
