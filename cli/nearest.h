/* nearest.h - "did you mean" as it stands in the program's messages. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include "base/nearest.h"

/* "; did you mean `best`?", or "" when nothing is near.  Returns the buffer. */
enum { HINT_SIZE = 96 };
const char *nearest_hint(const struct nearest *nearest, char hint[HINT_SIZE]);

#endif
