/* csv.h - comma-separated values after RFC 4180, written with '\n' line ends, read with either. */
#ifndef OLTR_REPORT_IO_CSV_H
#define OLTR_REPORT_IO_CSV_H

#include "engine/base/text.h"

#include <oltr/oltr.h>

/* Adds one field, in quotes if it needs them. */
void csv_field(struct text *out, const char *field);

/* Reads one record from *at and moves *at behind it.  Fields are unquoted in place: the text is
 * changed, and field[i] points into it.  Returns the number of fields, 0 at the end of the text, -1
 * for a broken record (an open quote, or more than `capacity` fields). */
int csv_record(char **at, char **field, int capacity);

/* No fewer than there are records in the text. */
size_t csv_lines(const struct text *text);

/* A file of known columns, read into an array of structs. */
struct csv_column {
    const char *name;
    enum { CSV_TEXT, CSV_COUNT, CSV_NUMBER } kind;
    size_t offset; /* in the struct, of a const char *, a uint64_t or a double */
};
struct csv_rows {
    size_t count;
    void *row;          /* (count) structs, in the order of the file */
    struct text memory; /* the texts of the structs point into it */
};

/* Writes the heading. */
void csv_heading(struct text *out, const struct csv_column *column, size_t n_columns);

/* Reads folder/name; free the rows either way.  OLTR_EDATA: it is not such a file. */
oltr_status csv_read(const char *folder, const char *name, const struct csv_column *column,
                     size_t n_columns, size_t row_size, struct csv_rows *rows, oltr_error *error);
void csv_free(struct csv_rows *rows);

#endif
