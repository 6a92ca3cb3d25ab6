/* shapes.h - the arrays that the float32 Beta sampler wants (rng/sample.h), made from the shapes as its header says. */
#ifndef OLTR_TESTS_SHAPES_H
#define OLTR_TESTS_SHAPES_H

#include "unit.h"
#include "rng/sample.h"

typedef struct shape_arrays {
    float *ca, *cb, *da, *db, *log_da_db;
    double *a, *b;
    size_t n;
} shape_arrays;

static inline shape_arrays shapes_new(size_t n)
{
    size_t room = padded(n);
    shape_arrays s = {.ca = exactly(room, sizeof(float)),
                      .cb = exactly(room, sizeof(float)),
                      .da = exactly(room, sizeof(float)),
                      .db = exactly(room, sizeof(float)),
                      .log_da_db = exactly(room, sizeof(float)),
                      .a = exactly(n, sizeof(double)),
                      .b = exactly(n, sizeof(double)),
                      .n = n};
    return s;
}

static inline void shapes_free(shape_arrays *s)
{
    free(s->ca);
    free(s->cb);
    free(s->da);
    free(s->db);
    free(s->log_da_db);
    free(s->a);
    free(s->b);
}

static inline void shapes_set(shape_arrays *s, size_t i, double a, double b)
{
    double da = a - 1.0 / 3, db = b - 1.0 / 3;
    int small = a < 1 || b < 1;
    s->a[i] = a;
    s->b[i] = b;
    s->ca[i] = small ? NAN : (float)(1 / sqrt(9 * da));
    s->cb[i] = small ? NAN : (float)(1 / sqrt(9 * db));
    s->da[i] = small ? -1 : (float)da;
    s->db[i] = small ? -1 : (float)db;
    s->log_da_db[i] = small ? 0 : (float)log(da / db);
}

static inline beta_shapes shapes_view(const shape_arrays *s)
{
    return (beta_shapes){s->ca, s->cb, s->da, s->db, s->log_da_db, s->a, s->b};
}

#endif
