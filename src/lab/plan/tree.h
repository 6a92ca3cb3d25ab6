/* tree.h - a YAML document as a small tree.  Every node has its line and column, so that every
 * error can name them.
 *
 * Experiments need maps, lists and scalars.  Aliases, merge keys, tags and second documents are
 * refused, so that every value is written where it is used. */
#ifndef OLTR_LAB_PLAN_TREE_H
#define OLTR_LAB_PLAN_TREE_H

#include "lab/plan/pool.h"
#include "engine/base/text.h"

#include <oltr/oltr.h>
#include <stdbool.h>

enum node_type { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_type type;
    const char *origin;  /* the file, or the flag that set it */
    size_t line, column; /* from 1; 0: it came from a flag */
    struct node *parent; /* the list or map it is in, also of a key; NULL: the root */
    struct node *key;    /* in a map: the scalar before the colon */
    struct node *next;   /* the next entry of the same list or map */
    const char *text;    /* of a scalar */
    bool quoted;         /* of a scalar */
    bool is_set;         /* by an override or a sweep, not by the file itself */
    bool flow;           /* a list or map written in [] or {} */
    struct node *first, *last;
    size_t count; /* entries of a list or map */
};

/* One change of the document: a key like world.items or policies.GTS.sigma, and its new value. */
struct override {
    const char *origin; /* "--rounds": for messages */
    const char *key, *value;
    size_t line, column;      /* 0 for flags; a swept value has its place in the file */
    const struct node *where; /* the key of a swept value; NULL: with the value */
};

enum { MOST_KEYS = 200 }; /* in one map of an experiment, where they are looked for one by one */

/* The root of the document, whose maps may have so many keys; or NULL and an error that names
 * file, line and column.  Of an empty file it says what is needed. */
struct node *tree_parse(struct pool *pool, const char *name, const char *text, size_t length,
                        size_t most_keys, const char *needs, oltr_error *error);

/* The entry of a map, or NULL. */
struct node *tree_get(const struct node *map, const char *key);

/* A copy that can be changed without a change of the original; NULL without memory. */
struct node *tree_copy(struct pool *pool, const struct node *root);

/* Sets one key, adding it where it is missing.  Entries of a list are found by their `name`,
 * `file`, `kind` or `key`. */
oltr_status tree_set(struct pool *pool, struct node *root, const struct override *override,
                     oltr_error *error);

/* Fills the error as "file:line:column: path: words" and returns its code, OLTR_EVALUE. */
oltr_status tree_fail(const struct node *where, oltr_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same without the path: the sentence says what it is about. */
oltr_status tree_fail_at(const struct node *where, oltr_error *error, const char *sentence);

/* Which of two nodes that contradict each other is to blame: `second` if only that one was set
 * by an override or a sweep. */
const struct node *tree_blame(const struct node *first, const struct node *second);

/* The tree as YAML. */
bool tree_yaml(const struct node *root, struct text *out);

#endif
