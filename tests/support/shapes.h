/* shapes.h - the arrays that the float32 Beta sampler reads (rng/sample.h), made from the shapes as
 * its header says. */
#ifndef OLTR_TESTS_SHAPES_H
#define OLTR_TESTS_SHAPES_H

#include "support/unit.h"
#include "engine/rng/sample.h"

typedef struct shape_arrays {
    float *ca, *cb, *da, *db, *log_da_db, *pa, *pb;
    uint32_t n_powers;
} shape_arrays;

static inline shape_arrays shapes_new(size_t n)
{
    size_t room = padded(n);
    shape_arrays s = {.ca = exactly(room, sizeof(float)),
                      .cb = exactly(room, sizeof(float)),
                      .da = exactly(room, sizeof(float)),
                      .db = exactly(room, sizeof(float)),
                      .log_da_db = exactly(room, sizeof(float)),
                      .pa = exactly(room, sizeof(float)),
                      .pb = exactly(room, sizeof(float))};
    return s;
}

static inline void shapes_free(shape_arrays *s)
{
    free(s->ca);
    free(s->cb);
    free(s->da);
    free(s->db);
    free(s->log_da_db);
    free(s->pa);
    free(s->pb);
}

/* Once for each item. */
static inline void shapes_set(shape_arrays *s, size_t i, double a, double b)
{
    beta_shape one = beta_shape_of(a, b);
    s->ca[i] = one.ca;
    s->cb[i] = one.cb;
    s->da[i] = one.da;
    s->db[i] = one.db;
    s->log_da_db[i] = one.log_da_db;
    s->pa[i] = one.pa;
    s->pb[i] = one.pb;
    s->n_powers += one.pa > 0 || one.pb > 0;
}

static inline beta_shapes shapes_view(const shape_arrays *s)
{
    return (beta_shapes){s->ca, s->cb, s->da, s->db, s->log_da_db, s->pa, s->pb, s->n_powers};
}

#endif
