/* tree.h - a YAML document as a small tree whose every node knows where it came from, so that every error can say so.
 *
 * What experiments need of YAML is maps, lists and scalars.  Aliases, merge keys, tags and second documents are
 * refused in words: a file should say what it means at the place where it means it. */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include "pool.h"
#include "report/text.h"

#include <jansson.h>
#include <oltr/oltr.h>
#include <stdbool.h>

enum node_type { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_type type;
    const char *origin;  /* the file, or the flag that set it */
    size_t line, column; /* from 1; 0: it came from a flag */
    struct node *key;    /* in a map: the scalar before the colon */
    struct node *next;   /* the next entry of the same list or map */
    const char *text;    /* of a scalar */
    bool quoted;         /* of a scalar */
    bool flow;           /* a list or map written in [] or {} */
    struct node *first, *last;
    size_t count; /* entries of a list or map */
};

/* One change of the document: a key like world.items or policies.GTS.sigma, and its new value. */
struct override {
    const char *origin; /* "--rounds": for messages */
    const char *key, *value;
    size_t line, column; /* 0 for flags; a swept value has its place in the file */
};

/* The root of the document, or NULL and an error that names file, line and column. */
struct node *tree_parse(struct pool *pool, const char *name, const char *text, size_t length, oltr_error *error);

/* The entry of a map, or NULL. */
struct node *tree_get(const struct node *map, const char *key);

/* Sets one key, adding it where it is missing.  Entries of a list are found by their `name` or `file`. */
oltr_status tree_set(struct pool *pool, struct node *root, const struct override *override, oltr_error *error);

/* Fills the error as "file:line:column: words" and returns its code, OLTR_EVALUE. */
oltr_status tree_fail(const struct node *where, oltr_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The tree as YAML, and as JSON (a new reference; NULL when memory ran out). */
bool tree_yaml(const struct node *root, struct text *out);
json_t *tree_json(const struct node *node);

#endif
