/* quote.h - what people typed, made fit to be quoted in a message. */
#ifndef OLTR_ENGINE_BASE_QUOTE_H
#define OLTR_ENGINE_BASE_QUOTE_H

#include "engine/base/error.h"

/* `text` on one line, without control characters, never longer than the buffer. */
enum { QUOTE_SIZE = 56 };
const char *quote_input(const char *text, char buffer[QUOTE_SIZE]);

#endif
