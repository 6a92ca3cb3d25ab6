/* block.h - the blocks of memory behind oltr_policy and oltr_scratch, and what the files that work
 * on them share: policy.c makes them, rounds.c plays, snapshot.c saves and loads, growth.c resizes.
 */
#ifndef OLTR_ENGINE_POLICY_BLOCK_H
#define OLTR_ENGINE_POLICY_BLOCK_H

#include "engine/base/memory.h"
#include "engine/policy/ops.h"

/* The header of a policy, 64 bytes.  In its block follow, in this order: settings of its own, the
 * state, the marks, two arrays of the prior, and the room for a compacted list (rounds.c); each but
 * the state only where it is needed. */
struct oltr_policy {
    const policy_ops *ops;
    const oltr_settings *settings; /* its own, or those that a model lends it */
    uint64_t rounds;               /* how often it has learned */
    size_t marks;                  /* offset from the header: where the state ends */
    size_t bytes;                  /* of the whole block */
    size_t scratch_bytes;          /* that a ranking needs */
    uint32_t state;                /* offset from the header */
    uint32_t n_items;              /* as in the settings */
    uint32_t stamp;                /* of the marks that find a repeated item */
    bool placed;                   /* the memory is the caller's */
};

/* The settings point into the block: their memory hook to `memory`, their prior to its arrays. */
typedef struct own_settings {
    oltr_settings settings;
    oltr_memory memory;
} own_settings;

struct oltr_scratch {
    size_t bytes; /* for the policy's own use, after the marks and the prefetched normals */
    uint32_t n_items, stamp;
    size_t marks, own;
    size_t whole; /* bytes of the block */
    oltr_memory memory;
};

static inline void *policy_state(const oltr_policy *policy)
{
    return (unsigned char *)policy + policy->state;
}

static inline size_t policy_state_bytes(const oltr_policy *policy)
{
    return policy->marks - policy->state;
}

/* Up to so many items are marked on the stack (rounds.c). */
enum { FEW_ITEMS = 64 };
static inline size_t mark_bytes(uint32_t n_items)
{
    return n_items <= FEW_ITEMS ? 0 : align_up(n_items * sizeof(uint32_t));
}

/* The two arrays of its prior, where it is given. */
static inline double *policy_prior(const oltr_policy *policy)
{
    return doubles_at(policy, policy->marks + mark_bytes(policy->n_items));
}

/* ---- settings that are lent
 *
 * A model keeps settings for its caller, and a second copy with a memory hook would take 264 bytes,
 * 9 % of a model of 30 items.  So a policy without a prior can be made without settings of its own.
 * Those that it is lent must be plain, have its number of items, and outlive it; policy_lend()
 * replaces them by equal ones, and does nothing to a policy with settings of its own. */

/* Without prior, and with 0 for values that no parameter reads, so that equal settings have equal
 * bytes. */
oltr_settings plain_settings(const oltr_settings *settings);
oltr_policy *policy_new_lent(const oltr_settings *settings, oltr_error *error);
void policy_lend(oltr_policy *policy, const oltr_settings *settings);
/* oltr_policy_copy() of a policy without a prior, with settings that are lent; its memory is from
 * their hook. */
oltr_policy *policy_copy_lent(const oltr_policy *policy, const oltr_settings *settings,
                              oltr_error *error);

/* Bytes of a scratch whose policy needs `own_bytes` of it, and the offsets of the marks and of that
 * part in it; 0 when the size does not fit in memory. */
size_t scratch_block_bytes(uint32_t n_items, size_t own_bytes, size_t *marks, size_t *own);

/* oltr_scratch_new() with memory from another hook, or NULL.  The new one also serves whatever
 * `least` does, so that two policies that take turns do not replace each other's; `least` may be
 * NULL. */
oltr_scratch *scratch_in(const oltr_policy *policy, const oltr_scratch *least,
                         const oltr_memory *memory);

/* The longest list that may come with a mask, and the room of the block for it, compacted
 * (rounds.c).  A policy of at most SHORT_LIST items needs none. */
enum { SHORT_LIST = 256 };
static inline uint32_t masked_slots(const oltr_settings *settings)
{
    return settings->n_items < OLTR_MAX_MASKED ? settings->n_items : OLTR_MAX_MASKED;
}
size_t compact_room_bytes(const oltr_settings *settings);

/* OLTR_ESTATE unless its sums are what learning can leave. */
oltr_status policy_check_sums(const oltr_policy *policy, oltr_error *error);

/* Bytes of the policy with another number of items and settings of its own; 0 when they do not fit
 * in memory. */
size_t policy_bytes_with(const oltr_policy *policy, uint32_t n_items);

/* A copy with n_items items, more than the policy has.  The new ones are room: what is derived does
 * not depend on how many there are.  prior as of oltr_policy_resize(); NULL with an error.  lent:
 * settings for the copy, or NULL for its own. */
oltr_policy *policy_with_more_room(const oltr_policy *policy, uint32_t n_items,
                                   const oltr_prior *prior, const oltr_settings *lent,
                                   oltr_error *error);

/* For oltr_merge() into a policy whose items are numbered in another way: a copy of `like`, which
 * is by_item, with the sums of the first n items of `from`, item i at place[i], and nothing else.
 * Only its sums and its rounds are right; nothing is derived from them. */
oltr_policy *policy_regrouped(const oltr_policy *like, const oltr_policy *from,
                              const uint32_t *place, uint32_t n, oltr_error *error);

/* The snapshot of the first n items alone, of a policy that is by_item and whose other items have
 * no observations.  As oltr_save_bound() and oltr_save(). */
size_t policy_save_first_bound(const oltr_policy *policy, uint32_t n);
oltr_status policy_save_first(const oltr_policy *policy, uint32_t n, void *buffer, size_t capacity,
                              size_t *written);

/* The two arrays of a prior that is given; and a prior of the same form whose arrays are at `to`,
 * the second after the first. */
static inline const double *prior_first(const oltr_prior *prior)
{
    return prior->a ? prior->a : prior->mean;
}

static inline const double *prior_second(const oltr_prior *prior)
{
    return prior->a ? prior->b : prior->sd;
}

static inline oltr_prior prior_at(const oltr_prior *like, const double *to, size_t n)
{
    return like->a ? (oltr_prior){.a = to, .b = to + n} : (oltr_prior){.mean = to, .sd = to + n};
}

#endif
