/* keys.h - every key an experiment file may have, once: for checking, for "did you mean", and for
 * the help. */
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

extern const struct key experiment_keys[], world_keys[], prior_keys[], generated_keys[],
    policy_keys[], sweep_keys[], figure_keys[], concentration_keys[], panel_keys[], claim_keys[],
    test_keys[];

/* All sections in the order in which they are explained; ends with a title of NULL. */
extern const struct key_section key_sections[];

#endif
