/* shown.h - what people typed, made fit to be quoted in a message. */
#ifndef OLTR_BASE_SHOWN_H
#define OLTR_BASE_SHOWN_H

#include "base/error.h"

/* `text` on one line, without control characters, never longer than the buffer. */
enum { SHOWN_SIZE = 56 };
const char *shown(const char *text, char buffer[SHOWN_SIZE]);

#endif
