/* nearest.h - "did you mean": offer it every known name, then ask for the nearest. */
#ifndef OLTR_ENGINE_BASE_NEAREST_H
#define OLTR_ENGINE_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL while nothing is near enough to be what was meant */
    size_t distance;
};

struct nearest nearest_to(const char *word);
void nearest_offer(struct nearest *nearest, const char *known);

/* "; did you mean `best`?", or "" when nothing is near.  Returns the buffer. */
enum { HINT_SIZE = 96 };
const char *nearest_hint(const struct nearest *nearest, char hint[HINT_SIZE]);

#endif
