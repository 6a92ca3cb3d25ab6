/* dataset.c - see dataset.h. */
#include "data/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "base/layout.h"

oltr_dataset *dataset_new(uint32_t n_queries, uint32_t n_rows, uint32_t dim, oltr_error *error)
{
    layout l = {align_up(sizeof(oltr_dataset)), 0};
    size_t query = layout_take(&l, n_queries, sizeof(uint64_t));
    size_t first_row = layout_take(&l, (size_t)n_queries + 1, sizeof(uint32_t));
    size_t grade = layout_take(&l, n_rows, sizeof(uint8_t));
    size_t x = layout_take(&l, (size_t)n_rows * dim, sizeof(float));
    unsigned char *block = l.overflow ? NULL : calloc(1, l.used);
    if (!block) {
        fail(error, OLTR_ENOMEM, "no memory for a dataset of %u rows of %u features", n_rows, dim);
        return NULL;
    }
    oltr_dataset *d = (oltr_dataset *)(void *)block;
    *d = (oltr_dataset){.n_queries = n_queries, .n_rows = n_rows, .dim = dim, .memory = block};
    d->query = (uint64_t *)(void *)(block + query);
    d->first_row = (uint32_t *)(void *)(block + first_row);
    d->grade = block + grade;
    d->x = (float *)(void *)(block + x);
    return d;
}

void oltr_dataset_free(oltr_dataset *dataset)
{
    if (dataset)
        free(dataset->memory);
}

/* The arrays are const for readers; they lie in the block of the dataset, which is ours to write. */
static void *at(oltr_dataset *d, const void *array)
{
    return (unsigned char *)d->memory + ((const unsigned char *)array - (const unsigned char *)d->memory);
}

uint64_t *dataset_query(oltr_dataset *d)
{
    return at(d, d->query);
}

uint32_t *dataset_first_row(oltr_dataset *d)
{
    return at(d, d->first_row);
}

uint8_t *dataset_grade(oltr_dataset *d)
{
    return at(d, d->grade);
}

float *dataset_x(oltr_dataset *d)
{
    return at(d, d->x);
}

static uint32_t documents(const oltr_dataset *d, uint32_t q)
{
    return d->first_row[q + 1] - d->first_row[q];
}

oltr_dataset *dataset_pick(const oltr_dataset *from, const uint32_t *query, uint32_t n_queries, oltr_error *error)
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
