/* config_parts.h - the readers of the sections of an experiment file.  Private to this folder. */
#ifndef OLTR_APP_CONFIG_CONFIG_PARTS_H
#define OLTR_APP_CONFIG_CONFIG_PARTS_H

#include "app/config/config.h"
#include "lab/plan/fields.h"

enum { MOST_FIGURES = 1000, MOST_CLAIMS = 1000, MOST_TESTS = 100 };

/* The names that figures and tests may use: labels of policies, or of posteriors. */
struct names {
    uint32_t count;
    const char **name; /* (count) */
};
bool config_names(const struct reader *reader, const struct config *config, struct names *names);
/* One of `count` names, or a list of names without repetition; `what` they are, for messages. */
bool read_name(const struct reader *reader, const struct node *node, uint32_t count,
               const char *const *name, const char *what, const char **out);
bool read_names(const struct reader *reader, const struct node *list, const struct names *names,
                const char *what, const char ***out, uint32_t *count);

/* A bound of the theory that all points of the experiment have what it needs for. */
bool read_bound(const struct reader *reader, const struct node *node, const struct config *config,
                enum bound *out);

bool config_figures(const struct reader *reader, const struct node *root, const struct names *names,
                    struct config *config);
bool config_claims(const struct reader *reader, const struct node *root, const struct names *names,
                   struct config *config);
bool config_concentration(const struct reader *reader, const struct node *root,
                          struct config *config);

#endif
