/* model_parts.h - the model as its files share it: model.c makes, model_items.c keeps the items,
 * model_rank.c ranks and explains, model_learn.c learns and merges, model_like.c makes children,
 * model_image.c saves and loads, propensity.c computes chances.
 *
 * A model by item is a policy with room for more items than there are names: items 0..n-1 have a
 * name, and those behind them have the default prior and no observations.  There is always at least
 * one of these, which stands for any unknown item.  The room is in no image and changes no result.
 */
#ifndef OLTR_ENGINE_MODEL_MODEL_PARTS_H
#define OLTR_ENGINE_MODEL_MODEL_PARTS_H

#include <math.h>
#include <oltr/model.h>

#include "engine/base/memory.h"
#include "engine/model/ids.h"
#include "engine/model/names.h"
#include "engine/policy/block.h"

struct oltr_model {
    oltr_model_settings settings; /* policy.n_items: the room; policy.memory: NULL or the hook */
    oltr_policy *policy;          /* without priors, policy.settings are lent to it */
    names names;                  /* of a contextual model empty, without memory */
    ids ids;
    oltr_memory memory; /* without functions: the C library */
};

static inline bool is_contextual(const oltr_model *m)
{
    return m->settings.policy.info->contextual;
}

static inline bool has_priors(const oltr_model *m)
{
    return !isnan(m->settings.prior[0]);
}

/* Whether one of n pointers of a later version is set. */
static inline bool is_later(const void *const *reserved)
{
    return reserved[0] || reserved[1];
}

/* OLTR_OK, or why these settings cannot be those of a model. */
oltr_status model_settings_check(const oltr_model_settings *settings, oltr_error *error);

/* A model of these settings around a policy, which it owns from then on, also on failure.  n: names
 * to make room for. */
oltr_model *model_around(oltr_policy *policy, const oltr_model_settings *settings, uint32_t n,
                         const oltr_memory *memory, oltr_error *error);

/* The room of a policy that must have n items.  The arrays that are drawn from have whole groups of
 * items, so that less room saves little. */
static inline uint32_t policy_room(uint32_t n)
{
    return room_for(n > NORMAL_GROUP ? n : NORMAL_GROUP);
}

/* The policy with room for more items: n_items of them, the new ones with the default prior.  lent:
 * its settings, or NULL for its own. */
oltr_policy *policy_with_room(const oltr_model *m, uint32_t n_items, const oltr_settings *lent,
                              oltr_error *error);

/* A copy of the policy, to be changed and kept. */
oltr_policy *policy_to_change(const oltr_model *m, oltr_error *error);
/* This policy, with settings that are lent or its own, takes the place of the model's. */
void keep_policy(oltr_model *m, oltr_policy *policy);

/* Whether the items behind the named ones have the default prior and no observations, and there is
 * at least one. */
bool room_is_empty(const oltr_model *m);

/* Room for `more` names with `bytes` bytes, for one more id, and for the item that stands for
 * unknown ones.  OLTR_EFULL or OLTR_ENOMEM change nothing but room. */
oltr_status model_reserve(oltr_model *m, uint32_t more, size_t bytes, bool id, oltr_error *error);

/* OLTR_ENAME with a sentence unless all names are valid. */
oltr_status check_names(const oltr_name *name, uint32_t n, const char *what, oltr_error *error);

/* OLTR_ENAME: which of n numbers of items occurs twice, in a list that has one. */
oltr_status refuse_twice(const uint32_t *number, uint32_t n, oltr_error *error);

/* OLTR_EPRIOR unless the pair is a prior of this kind. */
oltr_status check_pair(const oltr_policy_info *info, const double pair[2], oltr_error *error);

/* Item `item` has a prior of its own or the default one: its pair. */
void item_pair(const oltr_model *m, uint32_t item, double pair[2]);

/* For an id with its lesson, a forgetting or a merge. */
typedef struct id_ticket {
    bool given, seen;
    hash128 hash;
} id_ticket;
/* The hash of an id, before it is looked for.  OLTR_ENAME for an id that is too long. */
oltr_status take_ticket(const oltr_model *m, oltr_name id, id_ticket *ticket, oltr_error *error);
/* Whether the id was seen. */
void look_for_ticket(const oltr_model *m, id_ticket *ticket);
static inline void keep_ticket(oltr_model *m, const id_ticket *ticket)
{
    if (ticket->given)
        ids_add(&m->ids, ticket->hash);
}

#endif
