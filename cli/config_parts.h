/* config_parts.h - the sections of an experiment file, one reader each.  Private to config*.c. */
#ifndef CLI_CONFIG_PARTS_H
#define CLI_CONFIG_PARTS_H

#include "config.h"
#include "read.h"

enum {
    MOST_ITEMS = 10000000,
    MOST_CHECKPOINTS = 1000000,
    MOST_POLICIES = 1000,
    MOST_POINTS = 1000,
    MOST_FIGURES = 1000,
    MOST_CLAIMS = 1000,
    MOST_TESTS = 100
};

/* The world, all but the slots examined without a click, which depend on how many slots there are. */
bool config_world(const struct reader *reader, const struct node *root, oltr_world *world, struct data_plan *plan);
/* What a world of kind dataset is made of. */
bool config_data(const struct reader *reader, const struct node *map, oltr_world *world, struct data_plan *plan);
/* One of the names of a catalogue. */
bool config_name(const struct reader *reader, const struct node *node, const char *what, uint32_t (*count)(void),
                 const oltr_named *(*at)(uint32_t), const char **out);
bool config_no_click(const struct reader *reader, const struct node *world, uint32_t slots, uint32_t *out);
bool config_policies(const struct reader *reader, const struct node *root, const struct data_plan *plan,
                     oltr_experiment *point);
bool config_figures(const struct reader *reader, const struct node *root, struct config *config);
bool config_notes(const struct reader *reader, const struct node *root, struct config *config);
bool config_claims(const struct reader *reader, const struct node *root, struct config *config);
bool config_concentration(const struct reader *reader, const struct node *root, struct config *config);

#endif
