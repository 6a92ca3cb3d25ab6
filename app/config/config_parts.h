/* config_parts.h - the sections of an experiment file, one reader each.  Private to config*.c. */
#ifndef OLTR_APP_CONFIG_CONFIG_PARTS_H
#define OLTR_APP_CONFIG_CONFIG_PARTS_H

#include "app/config/config.h"
#include "lab/plan/fields.h"

enum { MOST_FIGURES = 1000, MOST_CLAIMS = 1000, MOST_TESTS = 100 };

bool config_figures(const struct reader *reader, const struct node *root, struct config *config);
bool config_claims(const struct reader *reader, const struct node *root, struct config *config);
bool config_concentration(const struct reader *reader, const struct node *root,
                          struct config *config);

#endif
