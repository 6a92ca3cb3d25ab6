/* seats.c - makes the policies of a contestant; see seats.h.
 *
 * All policies of one contestant are in one block of memory, made once and used by one contestant
 * after the other, so that replications allocate nothing.  A single policy of many megabytes gets a
 * block of its own from the system, whose pages take no memory before they are written: with a
 * million items some have room that most runs never need. */
#define _POSIX_C_SOURCE 200809L
#include "lab/sim/seats.h"

#include <stdlib.h>

#include "engine/base/reads_prior.h"

enum { ALIGNMENT = 64, LARGE_BLOCK = 1 << 24 };

/* ---- settings */

/* Where the world has both forms of a prior, each policy gets the one that it takes. */
static oltr_prior prior_for(const instance *of, const oltr_settings *settings)
{
    bool moments = of->tells_moments && (settings->info->takes_moments || !of->tells);
    if (!prior_is_taken(settings) || (!moments && !of->tells))
        return (oltr_prior){NULL, NULL, NULL, NULL};
    return moments ? (oltr_prior){.mean = of->mean, .sd = of->sd}
                   : (oltr_prior){.a = of->a, .b = of->b};
}

static uint32_t most_items(const seats *s, uint32_t contestant)
{
    uint32_t items = s->experiment->policy[contestant].items;
    return items ? items : UINT32_MAX;
}

/* Of the instance, or of one query of all, or of all documents. */
static oltr_settings settings_of(const seats *s, const instance *truth, uint32_t contestant,
                                 uint32_t seat)
{
    const oltr_contestant *c = &s->experiment->policy[contestant];
    const oltr_dataset *data = s->experiment->world.dataset;
    oltr_settings settings = c->settings;
    instance of = s->n_queries ? s->all : *truth;
    if (s->n_queries && !c->shared) {
        uint32_t first = data->first_row[seat];
        of.a += first;
        of.b += first;
        of.mean += first;
        of.sd += first;
        of.n_items = query_size(data, seat);
    }
    settings.n_items = known_items(most_items(s, contestant), &of);
    settings.dim = truth->dim;
    settings.prior = prior_for(&of, &settings);
    return settings;
}

static uint32_t seats_for(const seats *s, uint32_t contestant)
{
    return s->n_queries && !s->experiment->policy[contestant].shared ? s->n_queries : 1;
}

/* ---- memory */

static oltr_status no_memory(const seats *s, oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "no memory for the policies of %u queries", s->n_queries);
}

static oltr_status make_prior(seats *s, oltr_error *error)
{
    const oltr_dataset *data = s->experiment->world.dataset;
    size_t rows = data->n_rows;
    double *prior = calloc(4 * rows, sizeof *prior);
    s->all = (instance){.n_items = data->n_rows, .a = prior};
    s->item = calloc(rows, sizeof *s->item);
    if (!prior || !s->item)
        return no_memory(s, error);
    s->all.b = prior + rows;
    s->all.mean = prior + 2 * rows;
    s->all.sd = prior + 3 * rows;
    for (uint32_t i = 0; i < data->n_rows; i++)
        s->item[i] = i;
    dataset_prior(&s->experiment->world, 0, data->n_rows, &s->all);
    return OLTR_OK;
}

static oltr_status policy_error(const seats *s, uint32_t contestant, const oltr_error *why,
                                oltr_error *error)
{
    return set_error(error, why->code, "policy %s: %.200s", s->experiment->policy[contestant].label,
                     why->msg);
}

static oltr_status check_items(const seats *s, const oltr_contestant *c, oltr_error *error)
{
    const oltr_experiment *e = s->experiment;
    if (c->items && e->world.dataset)
        return set_error(
            error, OLTR_EINVAL,
            "policy %s: `items` is for worlds whose items are the same in every round; "
            "a dataset has the documents of its queries: leave it out",
            c->label);
    if (c->items && (c->items < e->slots || c->items > e->world.n_items))
        return set_error(error, OLTR_EITEM,
                         "policy %s: `items` is %u, and must be from the number of slots (%u) to "
                         "the %u items of the world",
                         c->label, c->items, e->slots, e->world.n_items);
    return OLTR_OK;
}

static oltr_status check_contestant(const seats *s, const instance *truth, uint32_t contestant,
                                    oltr_error *error)
{
    const oltr_contestant *c = &s->experiment->policy[contestant];
    if (c->settings.info->contextual && !truth->dim)
        return set_error(error, OLTR_EFEATURE,
                         "policy %s: %s ranks by features, and this world has none: take world "
                         "linear, logistic, scalar, or dataset or fixed with features",
                         c->label, c->settings.info->name);
    if (c->shared && !s->n_queries)
        return set_error(error, OLTR_EINVAL,
                         "policy %s: `shared` needs queries that share the rounds: a world of kind "
                         "dataset with `traffic: interleaved` or `in-turn`",
                         c->label);
    return check_items(s, c, error);
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The bytes of all policies of one contestant. */
static oltr_status measure(seats *s, const instance *truth, uint32_t contestant, oltr_error *error)
{
    oltr_status status = check_contestant(s, truth, contestant, error);
    size_t sum = 0;
    for (uint32_t seat = 0; status == OLTR_OK && seat < seats_for(s, contestant); seat++) {
        oltr_error why = {OLTR_EINVAL, ""};
        oltr_settings settings = settings_of(s, truth, contestant, seat);
        size_t bytes = oltr_policy_bytes(&settings, &why);
        if (!bytes)
            return policy_error(s, contestant, &why, error);
        sum += aligned(bytes);
    }
    s->bytes = sum > s->bytes ? sum : s->bytes;
    return status;
}

/* The block of all, as large as it must be by now. */
static oltr_status make_room(seats *s, oltr_error *error)
{
    if (s->bytes <= s->held)
        return OLTR_OK;
    free(s->memory);
    s->memory = aligned_alloc(ALIGNMENT, s->bytes);
    s->held = s->memory ? s->bytes : 0;
    return s->memory
               ? OLTR_OK
               : set_error(error, OLTR_ENOMEM, "no memory for a policy of %zu bytes", s->bytes);
}

oltr_status seats_make(seats *s, const oltr_experiment *experiment, const instance *truth,
                       oltr_error *error)
{
    bool traffic = world_has_traffic(&experiment->world);
    *s = (seats){.experiment = experiment,
                 .n_queries = traffic ? experiment->world.dataset->n_queries : 0};
    oltr_status status = traffic ? make_prior(s, error) : OLTR_OK;
    s->policy = calloc((size_t)s->n_queries + 1, sizeof(oltr_policy *));
    if (status == OLTR_OK && !s->policy)
        status = no_memory(s, error);
    for (uint32_t i = 0; status == OLTR_OK && i < experiment->n_policies; i++)
        status = measure(s, truth, i, error);
    s->own_blocks = !traffic && s->bytes > LARGE_BLOCK;
    return status == OLTR_OK && !s->own_blocks ? make_room(s, error) : status;
}

void seats_free(seats *s)
{
    seats_leave(s);
    free(s->all.a);
    free(s->item);
    free(s->policy);
    free(s->memory);
    *s = (seats){.experiment = NULL};
}

/* ---- a replication */

/* A policy of fewer items may need more: some keep what would be too much for many. */
static oltr_status room_for(seats *s, const instance *truth, uint32_t contestant, oltr_error *error)
{
    if (s->own_blocks)
        return OLTR_OK;
    oltr_status status = measure(s, truth, contestant, error);
    return status == OLTR_OK ? make_room(s, error) : status;
}

oltr_status seats_take(seats *s, const instance *truth, uint32_t contestant, oltr_error *error)
{
    size_t used = 0;
    oltr_status status = room_for(s, truth, contestant, error);
    if (status != OLTR_OK)
        return status;
    s->shared = s->experiment->policy[contestant].shared;
    s->most_items = most_items(s, contestant);
    for (uint32_t seat = 0; seat < seats_for(s, contestant); seat++) {
        oltr_error why = {OLTR_ENOMEM, "out of memory"};
        oltr_settings settings = settings_of(s, truth, contestant, seat);
        oltr_policy *policy =
            s->own_blocks ? oltr_policy_new(&settings, &why)
                          : oltr_policy_place(s->memory + used, s->held - used, &settings, &why);
        if (!policy)
            return policy_error(s, contestant, &why, error);
        s->policy[s->n++] = policy;
        used += aligned(oltr_policy_bytes(&settings, NULL));
    }
    return OLTR_OK;
}

void seats_leave(seats *s)
{
    while (s->n)
        oltr_policy_free(s->policy[--s->n]); /* ends it; the block of all stays */
}

const oltr_policy *seats_largest(const seats *s)
{
    return s->policy[s->n > 1 ? largest_query(s->experiment->world.dataset) : 0];
}
