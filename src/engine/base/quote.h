/* quote.h - quotes what the user typed in a message: it may be long, or hold control characters
 * that a terminal would obey. */
#ifndef OLTR_ENGINE_BASE_QUOTE_H
#define OLTR_ENGINE_BASE_QUOTE_H

#include "engine/base/error.h"

/* `text` on one line, without control characters, never longer than the buffer. */
enum { QUOTE_SIZE = 56 };
const char *quote_input(const char *text, char buffer[QUOTE_SIZE]);

#endif
