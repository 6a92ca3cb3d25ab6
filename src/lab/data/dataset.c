/* dataset.c - see dataset.h. */
#include "lab/data/dataset.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/base/layout.h"

/* What a dataset is made of besides the struct: `map`, if any, are pages that hold the features or
 * all arrays. */
typedef struct holder {
    oltr_dataset dataset;
    void *map;
    size_t map_size;
} holder;

static void *no_memory(uint32_t n_rows, uint32_t dim, oltr_error *error)
{
    set_error(error, OLTR_ENOMEM, "no memory for a dataset of %u rows of %u features", n_rows, dim);
    return NULL;
}

/* A block with the small arrays, and room for `n_floats`. */
static holder *holder_new(uint32_t n_queries, uint32_t n_rows, uint32_t dim, size_t n_floats,
                          oltr_error *error)
{
    layout l = {align_up(sizeof(holder)), 0};
    size_t query = layout_take(&l, n_queries, sizeof(uint64_t));
    size_t first_row = layout_take(&l, (size_t)n_queries + 1, sizeof(uint32_t));
    size_t grade = layout_take(&l, n_rows, sizeof(uint8_t));
    size_t x = layout_take(&l, n_floats, sizeof(float));
    unsigned char *block = l.overflow ? NULL : calloc(1, layout_bytes(&l));
    if (!block)
        return no_memory(n_rows, dim, error);
    holder *h = (holder *)(void *)block;
    oltr_dataset *d = &h->dataset;
    *d = (oltr_dataset){.n_queries = n_queries, .n_rows = n_rows, .dim = dim, .memory = h};
    d->query = (uint64_t *)(void *)(block + query);
    d->first_row = (uint32_t *)(void *)(block + first_row);
    d->grade = block + grade;
    d->x = (float *)(void *)(block + x);
    return h;
}

oltr_dataset *dataset_new(uint32_t n_queries, uint32_t n_rows, uint32_t dim, oltr_error *error)
{
    holder *h = holder_new(n_queries, n_rows, dim, (size_t)n_rows * dim, error);
    return h ? &h->dataset : NULL;
}

oltr_dataset *dataset_around(uint32_t n_queries, uint32_t n_rows, uint32_t dim, float *x,
                             size_t map_size, oltr_error *error)
{
    holder *h = holder_new(n_queries, n_rows, dim, 0, error);
    if (!h)
        return NULL;
    h->dataset.x = x;
    h->map = x;
    h->map_size = map_size;
    return &h->dataset;
}

oltr_dataset *dataset_of_map(const oltr_dataset *arrays, void *map, size_t map_size,
                             oltr_error *error)
{
    holder *h = malloc(sizeof *h);
    if (!h)
        return no_memory(arrays->n_rows, arrays->dim, error);
    *h = (holder){*arrays, map, map_size};
    h->dataset.memory = h;
    return &h->dataset;
}

void oltr_dataset_free(oltr_dataset *dataset)
{
    holder *h = dataset ? dataset->memory : NULL;
    if (h && h->map)
        munmap(h->map, h->map_size);
    free(h);
}

/* The arrays are const for readers; their memory was allocated here and may be written. */
uint64_t *dataset_query(oltr_dataset *d)
{
    return (uint64_t *)(uintptr_t)d->query;
}

uint32_t *dataset_first_row(oltr_dataset *d)
{
    return (uint32_t *)(uintptr_t)d->first_row;
}

uint8_t *dataset_grade(oltr_dataset *d)
{
    return (uint8_t *)(uintptr_t)d->grade;
}

float *dataset_x(oltr_dataset *d)
{
    return (float *)(uintptr_t)d->x;
}

static uint32_t documents(const oltr_dataset *d, uint32_t q)
{
    return d->first_row[q + 1] - d->first_row[q];
}

oltr_dataset *dataset_pick(const oltr_dataset *from, const uint32_t *query, uint32_t n_queries,
                           oltr_error *error)
{
    uint32_t n_rows = 0;
    for (uint32_t i = 0; i < n_queries; i++)
        n_rows += documents(from, query[i]);
    oltr_dataset *to = dataset_new(n_queries, n_rows, from->dim, error);
    if (!to)
        return NULL;
    uint32_t row = 0;
    for (uint32_t i = 0; i < n_queries; i++) {
        uint32_t n = documents(from, query[i]), first = from->first_row[query[i]];
        dataset_query(to)[i] = from->query[query[i]];
        dataset_first_row(to)[i] = row;
        memcpy(dataset_grade(to) + row, from->grade + first, n);
        memcpy(dataset_x(to) + (size_t)row * to->dim, from->x + (size_t)first * to->dim,
               (size_t)n * to->dim * sizeof(float));
        row += n;
    }
    dataset_first_row(to)[n_queries] = row;
    return to;
}

oltr_dataset *dataset_like(const oltr_dataset *from, uint32_t dim, oltr_error *error)
{
    oltr_dataset *to = dataset_new(from->n_queries, from->n_rows, dim, error);
    if (!to)
        return NULL;
    memcpy(dataset_query(to), from->query, from->n_queries * sizeof *from->query);
    memcpy(dataset_first_row(to), from->first_row,
           ((size_t)from->n_queries + 1) * sizeof *from->first_row);
    memcpy(dataset_grade(to), from->grade, from->n_rows);
    return to;
}

oltr_status dataset_widen(oltr_dataset **data, uint32_t dim, oltr_error *error)
{
    const oltr_dataset *from = *data;
    if (from->dim >= dim)
        return OLTR_OK;
    oltr_dataset *to = dataset_like(from, dim, error);
    if (!to)
        return OLTR_ENOMEM;
    for (uint32_t row = 0; row < from->n_rows; row++)
        memcpy(dataset_x(to) + (size_t)row * dim, from->x + (size_t)row * from->dim,
               from->dim * sizeof *from->x);
    oltr_dataset_free(*data);
    *data = to;
    return OLTR_OK;
}
