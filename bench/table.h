/* table.h - what the benches found, as one Markdown table for people and as JSON for programs. */
#ifndef OLTR_BENCH_TABLE_H
#define OLTR_BENCH_TABLE_H

#include "measure.h"

typedef enum sense { NO_TARGET, AT_MOST, AT_LEAST } sense;

enum { MAX_ROWS = 64, TEXT = 128 };

typedef struct row {
    char name[TEXT], note[TEXT], unit[16];
    spread value;
    sense sense;
    double target;
} row;

typedef struct table {
    uint32_t n;
    row row[MAX_ROWS];
} table;

/* A new row, to be filled in by the caller; its name and unit are set. */
row *table_add(table *t, const char *unit, const char *name);

int row_passes(const row *r);
int table_passes(const table *t);
void table_print(const table *t);
void table_write_json(const table *t, const char *path, uint32_t repetitions);

#endif
