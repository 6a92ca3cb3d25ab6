/* table.h - the results of a bench, printed as one Markdown table and written as JSON. */
#ifndef OLTR_BENCH_TABLE_H
#define OLTR_BENCH_TABLE_H

#include <stdbool.h>

#include "measure.h"

typedef enum sense { NO_TARGET, AT_MOST, AT_LEAST } sense;

enum { MAX_ROWS = 64, TEXT = 128 };

typedef struct row {
    char name[TEXT], note[TEXT];
    const char *unit;
    spread value;
    sense bound;
    double target;
} row;

typedef struct table {
    uint32_t n;
    row row[MAX_ROWS];
} table;

#if defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* Appends a row; its name is given by the format.  `unit` must stay valid. */
PRINTF_LIKE(6, 7)
row *table_add(table *t, const char *unit, spread value, sense bound, double target,
               const char *format, ...);
PRINTF_LIKE(2, 3) void row_note(row *r, const char *format, ...);

bool table_passes(const table *t);
void table_print(const table *t);
void table_write_json(const table *t, const char *path, uint32_t repetitions);

#endif
