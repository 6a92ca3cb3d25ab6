/* rows.h - the rows of a text while it is read: a matrix that grows in both directions without ever
 * being there twice.
 *
 * Neither the number of rows nor the number of features is known before the end.  The matrix lies
 * in pages of its own, which the system moves without copying when there must be more of them; only
 * a row that is wider than all before makes the others move.
 */
#ifndef OLTR_LAB_DATA_ROWS_H
#define OLTR_LAB_DATA_ROWS_H

#include <oltr/sim.h>

#include "engine/base/error.h"

/* Rows of one query that stand together in the text. */
typedef struct run {
    uint64_t query;
    uint32_t rows;
} run;

/* Rows on their way from a parser into the matrix. */
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

/* 0 without memory.  The batch is emptied. */
int batch_shape(batch *b, uint32_t width);
void batch_free(batch *b);
/* The next row of a batch that has room; batch_keep() makes it part of it. */
float *batch_row(batch *b);
void batch_keep(batch *b, uint64_t query, uint8_t grade);

/* Is there room for these rows?  If not, rows_grow() makes it, for `expected` rows in all if it
 * can; 0 without memory.  Nobody may copy meanwhile. */
int rows_have_room(const rows *r, const batch *b);
int rows_grow(rows *r, const batch *b, uint64_t expected);
/* Appends grades and runs, and returns the place for the features; 0 without memory. */
int rows_claim(rows *r, const batch *b, uint64_t *first);
/* Copies the features there; any number of threads at once. */
void rows_copy(rows *r, const batch *b, uint64_t first);

/* Brings the rows of each query together, in the order of the text, and makes a dataset of `dim`
 * features of them. */
oltr_dataset *rows_finish(rows *r, uint32_t dim, oltr_error *error);
void rows_free(rows *r);

#endif
