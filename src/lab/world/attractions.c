/* attractions.c - the largest and the smallest attractions of an instance, for the value of the
 * best and the worst list.  One pass with a heap of k numbers: O(n log k), no memory of its own. */
#include <math.h>
#include <string.h>

#include "lab/world/world.h"

/* Puts `key` into the heap of n numbers whose smallest is at the root, in place of that root. */
static void replace_root(double *heap, uint32_t n, double key)
{
    uint32_t at = 0;
    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (!(heap[child] < key))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = key;
}

/* The k largest of sign * attraction * weight, falling: a heap of the best so far, then sorted in
 * place. */
static const double *extremes(const instance *truth, const double *weight, uint32_t k, double sign)
{
    double *heap = truth->room;
    for (uint32_t i = 0; i < k; i++)
        heap[i] = -INFINITY;
    for (uint32_t i = 0; i < truth->n_items; i++) {
        double key = sign * truth->attraction[i] * (weight ? weight[i] : 1);
        if (!(key <= heap[0]))
            replace_root(heap, k, key);
    }
    for (uint32_t n = k; n > 1; n--) {
        double smallest = heap[0];
        replace_root(heap, n - 1, heap[n - 1]);
        heap[n - 1] = smallest;
    }
    for (uint32_t i = 0; i < k; i++)
        heap[i] *= sign;
    return heap;
}

const double *largest_products(const instance *truth, const double *weight, uint32_t k)
{
    return extremes(truth, weight, k, 1);
}

const double *smallest_products(const instance *truth, const double *weight, uint32_t k)
{
    return extremes(truth, weight, k, -1);
}

/* ---- the largest, kept */

/* Puts an item that is not there into its place, behind those of equal value; of too many the last
 * stays outside. */
static void insert(oltr_largest *kept, uint32_t item, double value)
{
    if (kept->n == LARGEST_KEPT) {
        kept->bound = kept->value[kept->n - 1];
        if (value <= kept->bound)
            return;
        kept->n--;
    }
    uint32_t at = kept->n;
    for (; at > 0 && kept->value[at - 1] < value; at--) {
        kept->value[at] = kept->value[at - 1];
        kept->item[at] = kept->item[at - 1];
    }
    kept->value[at] = value;
    kept->item[at] = item;
    kept->n++;
}

static void find_largest(const instance *truth, oltr_largest *kept)
{
    *kept = (oltr_largest){.known = true, .bound = -INFINITY};
    for (uint32_t i = 0; i < truth->n_items; i++)
        if (truth->attraction[i] >= kept->bound)
            insert(kept, i, truth->attraction[i]);
}

void attraction_changed(const instance *truth, uint32_t item)
{
    oltr_largest *kept = truth->largest;
    uint32_t at = 0;
    if (!kept || !kept->known)
        return;
    while (at < kept->n && kept->item[at] != item)
        at++;
    if (at < kept->n) {
        kept->n--;
        memmove(kept->item + at, kept->item + at + 1, (kept->n - at) * sizeof *kept->item);
        memmove(kept->value + at, kept->value + at + 1, (kept->n - at) * sizeof *kept->value);
    }
    if (truth->attraction[item] >= kept->bound)
        insert(kept, item, truth->attraction[item]);
}

const double *largest_attractions(const instance *truth, uint32_t k)
{
    oltr_largest *kept = truth->largest;
    if (!kept || k > LARGEST_KEPT / 2)
        return extremes(truth, NULL, k, 1);
    if (!kept->known || kept->n < k)
        find_largest(truth, kept);
    memcpy(truth->room, kept->value, k * sizeof *truth->room);
    return truth->room;
}

const double *smallest_attractions(const instance *truth, uint32_t k)
{
    return extremes(truth, NULL, k, -1);
}
