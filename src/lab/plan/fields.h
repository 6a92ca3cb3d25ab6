/* fields.h - scalars and lists out of the tree, checked.  Every function returns false after
 * filling in the error, so readers chain with &&. */
#ifndef OLTR_LAB_PLAN_FIELDS_H
#define OLTR_LAB_PLAN_FIELDS_H

#include "lab/lab_limits.h"
#include "lab/plan/keys.h"
#include "lab/plan/tree.h"

struct reader {
    struct pool *pool;
    oltr_error *error; /* never NULL */
};

bool read_bad(const struct reader *reader, const struct node *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool read_no_memory(const struct reader *reader);

bool read_is_map(const struct reader *reader, const struct node *node, const struct key *keys);
/* A map in which every key is known. */
bool read_map_keys(const struct reader *reader, const struct node *map, const char *section,
                   const struct key *keys);
/* The entry of a key that must be there. */
bool read_required(const struct reader *reader, const struct node *map, const struct key *keys,
                   const char *name, const struct node **out);

bool read_whole(const struct reader *reader, const struct node *node, uint64_t low, uint64_t high,
                uint64_t *out);
bool read_whole32(const struct reader *reader, const struct node *node, uint32_t low, uint32_t high,
                  uint32_t *out);
/* The entry of a map: required if its keys are given, else optional and *out kept. */
bool read_count(const struct reader *reader, const struct node *map, const struct key *required,
                const char *name, uint32_t low, uint32_t high, uint32_t *out);
bool read_real(const struct reader *reader, const struct node *node, double low, double high,
               double *out);
bool read_truth(const struct reader *reader, const struct node *node, bool *out);
/* One line of text, not empty, at most LONGEST_LINE bytes. */
bool read_line(const struct reader *reader, const struct node *node, const char **out);
/* The same, as long as a paragraph. */
bool read_paragraph(const struct reader *reader, const struct node *node, const char **out);
/* The name of a file or a folder: the same, but longer. */
bool read_path(const struct reader *reader, const struct node *node, const char **out);
/* One of some words, which end with NULL; *out is its place among them. */
bool read_word(const struct reader *reader, const struct node *node, const char *const *words,
               size_t *out);
/* Is it one of them?  No words, if they are NULL. */
bool is_word(const struct node *node, const char *const *words, size_t *out);
/* A list of numbers, not empty. */
bool read_reals(const struct reader *reader, const struct node *node, double low, double high,
                const double **out, uint32_t *count);
bool read_list(const struct reader *reader, const struct node *node);

#endif
