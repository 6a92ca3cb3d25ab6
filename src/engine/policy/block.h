/* block.h - the header of a policy's block of memory; policy.c makes it, snapshot.c writes it
 * down. */
#ifndef OLTR_ENGINE_POLICY_BLOCK_H
#define OLTR_ENGINE_POLICY_BLOCK_H

#include "engine/base/memory.h"
#include "engine/policy/ops.h"

struct oltr_policy {
    const policy_ops *ops;
    oltr_settings settings; /* its prior and its memory hook point into this block */
    uint64_t rounds;        /* how often it has learned */
    size_t prior;           /* offset from the header: two arrays of the prior, or nothing */
    size_t marks, state;    /* offsets from the header */
    size_t room;            /* offset of the room for a compacted list (rounds.c) */
    size_t bytes;           /* of the whole block */
    size_t scratch_bytes;   /* that a ranking needs */
    uint32_t stamp;         /* of the marks that find a repeated item */
    uint32_t placed;        /* 1: the block is the caller's */
    oltr_memory memory;     /* where the block is from; without functions: the C library */
};

struct oltr_scratch {
    size_t bytes; /* for the policy's own use, after the marks and the normals made ahead */
    uint32_t n_items, stamp;
    size_t marks, own;
    size_t whole; /* bytes of the block */
    oltr_memory memory;
};

/* How many columns a triangle of n numbers has, and where column j of one begins
 * (oltr_sum_array). */
static inline size_t triangle_columns(size_t n)
{
    size_t columns = 0;
    while (columns * (columns + 1) / 2 < n)
        columns++;
    return columns;
}

static inline double *triangle_column(const sum_array *sum, size_t j)
{
    return sum->value + j * sum->stride + j + 1;
}

/* The longest list that may come with a mask. */
static inline uint32_t masked_slots(const oltr_settings *settings)
{
    return settings->n_items < OLTR_MAX_MASKED ? settings->n_items : OLTR_MAX_MASKED;
}

/* rounds.c: of the room for such a list, compacted. */
size_t compact_room_bytes(const oltr_settings *settings);

static inline void *policy_state(const oltr_policy *policy)
{
    return (unsigned char *)policy + policy->state;
}

/* Bytes of a scratch whose policy needs `own_bytes` of it, and where in it the marks and that part
 * lie; 0 when the size does not fit. */
size_t scratch_block_bytes(const oltr_settings *settings, size_t own_bytes, size_t *marks,
                           size_t *own);

/* OLTR_ESTATE unless its sums are what learning can leave. */
oltr_status policy_check_sums(const oltr_policy *policy, oltr_error *error);

#endif
