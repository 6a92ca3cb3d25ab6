/* keys.h - every key an experiment file may have, once: for checking, for "did you mean", and for
 * the help.  Parameters of worlds and click models are in their own tables (oltr/world_ops.h);
 * world_keys.c joins them with the keys below. */
#ifndef OLTR_LAB_PLAN_KEYS_H
#define OLTR_LAB_PLAN_KEYS_H

struct key {
    const char *name;
    const char *example; /* what may follow the colon */
    const char *help;
};

struct key_section {
    const char *title;      /* "world" */
    const struct key *keys; /* ends with a name of NULL */
    const char *note;       /* or NULL */
};

extern const struct key experiment_keys[], prior_keys[], generated_keys[], drift_keys[],
    policy_keys[], forget_keys[], sweep_keys[], figure_keys[], concentration_keys[], panel_keys[],
    claim_keys[], test_keys[];
/* Of the section `world`: of every kind; of those that are given a number of items; of those with
 * one of the traits OLTR_WORLD_... */
extern const struct key kind_keys[], item_keys[], shift_keys[], given_prior_keys[],
    attraction_keys[], drifting_keys[], dataset_keys[], fitted_keys[];

/* All sections in the order in which they are explained, in the pool; ends with a title of NULL.
 * NULL without memory. */
struct pool;
const struct key_section *key_sections(struct pool *pool);

#endif
