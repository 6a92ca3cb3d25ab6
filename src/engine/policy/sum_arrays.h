/* sum_arrays.h - an oltr_sum_array of doubles as pieces that are contiguous in memory: one piece,
 * or the columns of a triangle.
 */
#ifndef OLTR_ENGINE_POLICY_SUM_ARRAYS_H
#define OLTR_ENGINE_POLICY_SUM_ARRAYS_H

#include "engine/policy/ops.h"

typedef struct sum_piece {
    double *value;
    size_t n;
} sum_piece;

/* How many pieces; 0 for an array of floats. */
static inline size_t sum_pieces(const sum_array *a)
{
    size_t columns = a->value != NULL;
    while (a->stride && columns * (columns + 1) / 2 < a->n)
        columns++;
    return columns;
}

/* Piece j of `pieces`: of a triangle, column j with the rows j+1 to `pieces`. */
static inline sum_piece sum_piece_at(const sum_array *a, size_t pieces, size_t j)
{
    return a->stride ? (sum_piece){a->value + j * a->stride + j + 1, pieces - j}
                     : (sum_piece){a->value, a->n};
}

#endif
