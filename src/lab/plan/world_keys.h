/* world_keys.h - the keys of the section `world`: those of keys.h that its kind has, and the
 * parameters of its kind and of its click model. */
#ifndef OLTR_LAB_PLAN_WORLD_KEYS_H
#define OLTR_LAB_PLAN_WORLD_KEYS_H

#include <oltr/world_ops.h>

#include "lab/plan/fields.h"

/* Are all keys of the map those of this kind and this click model? */
bool world_keys_fit(const struct reader *reader, const struct node *map, const oltr_world_ops *kind,
                    const oltr_click_ops *clicks);

/* Has the kind of this world a key, "prior_n"? */
bool world_has_key(const oltr_world *world, const char *name);

/* Reads the parameters of both tables into the world; keys that are not given have their default.
 */
bool read_world_params(const struct reader *reader, const struct node *map,
                       const oltr_world_ops *kind, const oltr_click_ops *clicks, oltr_world *world);

/* All keys of the section with their help, each with the kinds that have it, and a note that
 * describes the kinds; in the pool, NULL without memory. */
const struct key *world_section(struct pool *pool, const char **note);

/* The parameters of all worlds and click models as a table in Markdown; false without memory. */
bool world_param_table(struct text *out);

#endif
