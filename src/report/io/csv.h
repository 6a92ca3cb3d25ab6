/* csv.h - comma-separated values after RFC 4180, written with '\n' line ends, read with either. */
#ifndef OLTR_REPORT_IO_CSV_H
#define OLTR_REPORT_IO_CSV_H

#include "engine/base/text.h"

/* Adds one field, in quotes if it needs them. */
void csv_field(struct text *out, const char *field);

/* Reads one record from *at and moves *at behind it.  Fields are unquoted in place: the text is
 * changed, and field[i] points into it.  Returns the number of fields, 0 at the end of the text, -1
 * for a broken record (an open quote, or more than `capacity` fields). */
int csv_record(char **at, char **field, int capacity);

/* No fewer than there are records in the text. */
size_t csv_lines(const struct text *text);

#endif
