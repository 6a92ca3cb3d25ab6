/* tree_json.h - the document of an experiment as JSON, for manifests. */
#ifndef CLI_TREE_JSON_H
#define CLI_TREE_JSON_H

#include "plan/tree.h"

#include <jansson.h>

/* A new reference; NULL when memory ran out. */
json_t *tree_json(const struct node *node);

#endif
