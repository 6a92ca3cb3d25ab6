/* nearest.h - "did you mean": offer it every known name, then ask for the nearest. */
#ifndef OLTR_BASE_NEAREST_H
#define OLTR_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL while nothing is near enough to be what was meant */
    size_t distance;
};

struct nearest nearest_to(const char *word);
void nearest_offer(struct nearest *nearest, const char *known);

#endif
