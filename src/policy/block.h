/* block.h - the header of a policy's block of memory; policy.c makes it, snapshot.c writes it down. */
#ifndef OLTR_POLICY_BLOCK_H
#define OLTR_POLICY_BLOCK_H

#include "policy/policy.h"

struct oltr_policy {
    const policy_ops *ops;
    oltr_settings settings; /* its prior points into this block */
    uint64_t rounds;        /* how often it has learned */
    size_t marks, state;    /* offsets from the header */
    size_t bytes;           /* of the whole block */
    size_t scratch_bytes;   /* that a ranking needs */
    uint32_t stamp;         /* of the marks that find a repeated item */
};

static inline void *policy_state(const oltr_policy *policy)
{
    return (unsigned char *)policy + policy->state;
}

#endif
