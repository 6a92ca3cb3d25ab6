/* nearest.h - the known name nearest to a mistyped one, for "did you mean". */
#ifndef OLTR_ENGINE_BASE_NEAREST_H
#define OLTR_ENGINE_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL while no known name is near enough */
    size_t distance;
};

/* Start with the word, offer every known name, then read `best`.  The word itself is no suggestion:
 * it may be known elsewhere than where it was used. */
struct nearest nearest_to(const char *word);
void nearest_offer(struct nearest *nearest, const char *known);

/* The best of n names, `stride` bytes apart, each a const char *; or NULL. */
const char *nearest_name(const char *word, const void *names, size_t n, size_t stride);

/* "; did you mean `best`?", or "" when nothing is near.  Returns the buffer. */
enum { HINT_SIZE = 96 };
const char *nearest_hint(const struct nearest *nearest, char hint[HINT_SIZE]);

#endif
