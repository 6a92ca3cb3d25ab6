/* tree_json.h - the document of an experiment as JSON, for manifests. */
#ifndef OLTR_APP_CONFIG_TREE_JSON_H
#define OLTR_APP_CONFIG_TREE_JSON_H

#include "lab/plan/tree.h"

#include <jansson.h>

/* A new reference; NULL when memory ran out. */
json_t *tree_json(const struct node *node);

#endif
