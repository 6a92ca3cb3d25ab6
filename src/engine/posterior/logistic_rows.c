/* logistic_rows.c - which row of features is where, and which was examined least recently.
 *
 * Rows are found by a hash of their bytes in a table with open addressing and linear probing.  The
 * table is at most half full, holds the number of the row plus one (0: free), and closes the gap
 * when a row leaves it, so that it never needs cleaning.
 *
 * Rows are in one of two queues, single rows and rows that count for more than one observation,
 * each in the order in which they were last examined.  Ties go to the lower row.
 */
#include "engine/posterior/logistic_view.h"

#include <string.h>

/* ---- the table */

/* The sum has the bits of 0.0 for both zeros. */
void logistic_copy_row(float *to, const float *from, uint32_t dim)
{
    for (uint32_t j = 0; j < dim; j++)
        to[j] = from[j] + 0.0f;
}

static uint64_t hash_row(const float *row, uint32_t dim)
{
    uint64_t h = dim;
    for (uint32_t j = 0; j < dim; j += 2) {
        uint64_t word = 0;
        memcpy(&word, row + j, (dim - j < 2 ? 1 : 2) * sizeof *row);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return h;
}

static size_t home_of(const logistic_view *v, const float *row)
{
    return (size_t)hash_row(row, v->dim) & (v->p->table_size - 1);
}

static size_t next_slot(const logistic_view *v, size_t slot)
{
    return (slot + 1) & (v->p->table_size - 1);
}

/* Where the row is in the table, or the free slot where it would be. */
static size_t find_slot(const logistic_view *v, const float *row)
{
    size_t slot = home_of(v, row);
    while (v->table[slot] && memcmp(row_at(v, v->table[slot] - 1), row, v->dim * sizeof *row) != 0)
        slot = next_slot(v, slot);
    return slot;
}

uint32_t logistic_find_row(const logistic_view *v, const float *x)
{
    return v->table[find_slot(v, x)] - 1; /* 0 - 1 is NO_ROW */
}

void logistic_enter_table(const logistic_view *v, uint32_t r)
{
    v->table[find_slot(v, row_at(v, r))] = r + 1;
}

/* Frees the row's slot, and moves up those behind it that it had pushed away from home. */
void logistic_leave_table(const logistic_view *v, uint32_t r)
{
    size_t gap = find_slot(v, row_at(v, r)), mask = v->p->table_size - 1;
    for (size_t at = next_slot(v, gap); v->table[at]; at = next_slot(v, at)) {
        size_t home = home_of(v, row_at(v, v->table[at] - 1));
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            v->table[gap] = v->table[at];
            gap = at;
        }
    }
    v->table[gap] = 0;
}

void logistic_fill_table(logistic_view *v)
{
    memset(v->table, 0, v->p->table_size * sizeof *v->table);
    for (uint32_t r = 0; r < v->rows; r++) {
        logistic_copy_row(row_at(v, r), row_at(v, r), v->dim);
        logistic_enter_table(v, r);
        v->share[r] = logistic_share(v, row_at(v, r));
    }
}

/* ---- the queues */

uint32_t queue_for(const logistic_view *v, uint32_t r)
{
    return v->capacity + (v->examined[r] > 1);
}

void leave_queue(logistic_view *v, uint32_t r)
{
    row_link link = v->queue[r];
    v->queue[link.before].after = link.after;
    v->queue[link.after].before = link.before;
    v->p->n_singles -= queue_for(v, r) == v->capacity;
}

void enter_queue(logistic_view *v, uint32_t r, uint32_t queue, uint32_t place)
{
    uint32_t after = v->queue[place].after;
    v->queue[r] = (row_link){place, after};
    v->queue[after].before = v->queue[place].after = r;
    v->p->n_singles += queue == v->capacity;
}

static bool is_older(const double *last, uint32_t a, uint32_t b)
{
    return last[a] < last[b] || (last[a] <= last[b] && a < b);
}

uint32_t oldest_row(const logistic_view *v, uint32_t place, bool singles_first)
{
    uint32_t single = v->queue[place].after, other = v->queue[v->capacity + 1].after;
    if (singles_first || other >= v->capacity)
        return single;
    return single < v->capacity && is_older(v->last, single, other) ? single : other;
}

/* Restores a heap of n rows, the most recent one first, below its element i. */
static void sift(uint32_t *heap, uint32_t n, uint32_t i, const double *last)
{
    uint32_t row = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && is_older(last, heap[child], heap[child + 1]);
        if (!is_older(last, row, heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = row;
}

/* By a heapsort in the scratch of the solver. */
void logistic_fill_queues(logistic_view *v)
{
    uint32_t n = v->rows, *heap = words_in(v->state, v->p->work);
    for (uint32_t queue = v->capacity; queue < v->capacity + 2; queue++)
        v->queue[queue] = (row_link){queue, queue};
    v->p->n_singles = 0;
    for (uint32_t r = 0; r < n; r++)
        heap[r] = r;
    for (uint32_t i = n / 2; i-- > 0;)
        sift(heap, n, i, v->last);
    for (; n > 0; n--) { /* the most recent first, each in front of all before */
        uint32_t r = heap[0], queue = queue_for(v, r);
        heap[0] = heap[n - 1];
        if (n > 1)
            sift(heap, n - 1, 0, v->last);
        enter_queue(v, r, queue, queue);
    }
}
