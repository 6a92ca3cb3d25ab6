/* rows.h - the rows of a text while it is read: a matrix that grows in both directions without a
 * second copy.
 *
 * Neither the number of rows nor the number of features is known before the end.  The matrix is in
 * mapped pages, which mremap() enlarges without copying; only a row that is wider than all before
 * makes the others move.
 */
#ifndef OLTR_LAB_DATA_ROWS_H
#define OLTR_LAB_DATA_ROWS_H

#include <stdbool.h>

#include <oltr/sim.h>

#include "engine/base/error.h"

/* Consecutive rows of one query in the text. */
typedef struct run {
    uint64_t query;
    uint32_t rows;
} run;

/* Rows that were parsed and are not in the matrix yet. */
typedef struct batch {
    uint32_t n, room, width; /* rows, rows that fit, features of each */
    uint32_t n_runs;
    float *x;       /* (room, width) */
    uint8_t *grade; /* (MOST_BATCH_ROWS) */
    run *run;       /* (MOST_BATCH_ROWS) */
} batch;

enum { MOST_BATCH_ROWS = 1 << 15, BATCH_FLOATS = 1 << 17 };

typedef struct rows {
    float *x;     /* (capacity, stride) in pages of its own */
    size_t bytes; /* of x */
    uint64_t n, capacity;
    uint32_t stride; /* >= the features of any row */
    uint8_t *grade;
    run *run;
    size_t n_runs, grade_room, run_room;
} rows;

/* False without memory.  The batch is emptied. */
bool batch_shape(batch *b, uint32_t width);
void batch_free(batch *b);
/* The next row of a batch that has room; batch_keep() makes it part of it. */
float *batch_row(batch *b);
void batch_keep(batch *b, uint64_t query, uint8_t grade);

/* Is there room for these rows?  If not, rows_grow() makes it, for `expected` rows in all if it
 * can; false without memory.  No thread may copy meanwhile. */
bool rows_have_room(const rows *r, const batch *b);
bool rows_grow(rows *r, const batch *b, uint64_t expected);
/* Appends grades and runs, and returns the place for the features; false without memory. */
bool rows_claim(rows *r, const batch *b, uint64_t *first);
/* Copies the features there; any number of threads at once. */
void rows_copy(rows *r, const batch *b, uint64_t first);

/* Brings the rows of each query together, in the order of the text, and makes a dataset of `dim`
 * features of them. */
oltr_dataset *rows_finish(rows *r, uint32_t dim, oltr_error *error);
void rows_free(rows *r);

#endif
