/* config_parts.h - the sections of an experiment file, one reader each.  Private to config*.c. */
#ifndef CLI_CONFIG_PARTS_H
#define CLI_CONFIG_PARTS_H

#include "config.h"
#include "plan/fields.h"

enum { MOST_FIGURES = 1000, MOST_CLAIMS = 1000, MOST_TESTS = 100 };

bool config_figures(const struct reader *reader, const struct node *root, struct config *config);
bool config_claims(const struct reader *reader, const struct node *root, struct config *config);
bool config_concentration(const struct reader *reader, const struct node *root, struct config *config);

#endif
