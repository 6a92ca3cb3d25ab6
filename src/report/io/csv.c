/* csv.c - see csv.h.  One pass over the text; fields are unquoted where they are. */
#include "report/io/csv.h"

#include "engine/base/error.h"
#include "report/io/whole_file.h"

#include <stdlib.h>
#include <string.h>

void csv_field(struct text *out, const char *field)
{
    if (!strpbrk(field, ",\"\r\n")) {
        text_add(out, field);
        return;
    }
    text_add(out, "\"");
    for (; *field; field++) {
        text_bytes(out, field, 1);
        if (*field == '"')
            text_add(out, "\"");
    }
    text_add(out, "\"");
}

/* Unquotes the field that begins after the quote at `from`; returns where the field ends, NULL if
 * it never does. */
static char *unquote(char *from)
{
    char *to = from;
    for (;; from++) {
        if (!*from)
            return NULL;
        if (*from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    if (*from && !strchr(",\r\n", *from))
        return NULL; /* text between the closing quote and the comma */
    if (to < from)
        *to = '\0';
    return from;
}

/* Ends the field at `end`, steps over the separator; *more says whether the record goes on. */
static char *step(char *end, bool *more)
{
    *more = *end == ',';
    if (*end == '\r' && end[1] == '\n')
        *end++ = '\0';
    if (*end)
        *end++ = '\0';
    return end;
}

int csv_record(char **at, char **field, int capacity)
{
    int count = 0;
    bool more = **at;
    while (more) {
        if (count == capacity)
            return -1;
        bool quoted = **at == '"';
        field[count++] = *at + quoted;
        char *end = quoted ? unquote(*at + 1) : *at + strcspn(*at, ",\r\n");
        if (!end)
            return -1;
        *at = step(end, &more);
    }
    return count;
}

size_t csv_lines(const struct text *text)
{
    size_t lines = 1;
    for (size_t i = 0; i < text->length; i++)
        lines += text->bytes[i] == '\n' || text->bytes[i] == '\r'; /* either alone ends a record */
    return lines;
}

/* ---- files of known columns */

enum { MOST_COLUMNS = 8 };

void csv_heading(struct text *out, const struct csv_column *column, size_t n_columns)
{
    for (size_t i = 0; i < n_columns; i++)
        text_printf(out, "%s%c", column[i].name, i + 1 < n_columns ? ',' : '\n');
}

static bool is_heading(char **field, const struct csv_column *column, size_t n_columns)
{
    bool same = true;
    for (size_t i = 0; same && i < n_columns; i++)
        same = strcmp(field[i], column[i].name) == 0;
    return same;
}

static bool parse_row(char **field, const struct csv_column *column, size_t n_columns, char *row)
{
    for (size_t i = 0; i < n_columns; i++, column++) {
        const char *text = field[i];
        uint64_t count = strtoull(text, NULL, 10);
        double number = strtod(text, NULL);
        if (column->kind == CSV_TEXT)
            memcpy(row + column->offset, &text, sizeof text);
        else if (column->kind == CSV_COUNT && count_is_plain(text))
            memcpy(row + column->offset, &count, sizeof count);
        else if (column->kind == CSV_NUMBER && number_is_plain(text))
            memcpy(row + column->offset, &number, sizeof number);
        else
            return false;
    }
    return true;
}

oltr_status csv_read(const char *folder, const char *name, const struct csv_column *column,
                     size_t n_columns, size_t row_size, struct csv_rows *rows, oltr_error *error)
{
    char *field[MOST_COLUMNS];
    int n = (int)n_columns, found;
    memset(rows, 0, sizeof *rows);
    oltr_status status = file_read_in(folder, name, &rows->memory, error);
    if (status != OLTR_OK)
        return status;
    char *at = rows->memory.bytes;
    if (strlen(at) != rows->memory.length)
        return set_error(error, OLTR_EDATA, "%s/%s: has zero bytes in it; it is not a text file",
                         folder, name);
    rows->row = calloc(csv_lines(&rows->memory), row_size);
    if (!rows->row)
        return set_error(error, OLTR_ENOMEM, "%s/%s: out of memory", folder, name);
    if (csv_record(&at, field, n) != n || !is_heading(field, column, n_columns))
        return set_error(error, OLTR_EDATA, "%s/%s: line 1 is not the heading that oltr run writes",
                         folder, name);
    for (; (found = csv_record(&at, field, n)) != 0; rows->count++)
        if (found != n ||
            !parse_row(field, column, n_columns, (char *)rows->row + rows->count * row_size))
            return set_error(
                error, OLTR_EDATA,
                "%s/%s: record %zu is broken; run the experiment again to get a good file", folder,
                name, rows->count + 2);
    return OLTR_OK;
}

void csv_free(struct csv_rows *rows)
{
    free(rows->row);
    text_free(&rows->memory);
    memset(rows, 0, sizeof *rows);
}
