/* policy.c - a policy as an object: makes, copies, frees, merges, forgets, checks.  rounds.c ranks
 * and learns, snapshot.c saves and loads, growth.c changes the items.
 *
 * One block of memory holds its header, a copy of the prior, the marks that find a repeated item,
 * the room for a compacted list, and the state of the policy.
 */
#include "engine/policy/block.h"

#include "engine/base/reads_prior.h"
#include "engine/policy/settings.h"
#include "engine/posterior/item_prior.h"

typedef struct block_plan {
    size_t prior, marks, room, state, bytes;
} block_plan;

static block_plan plan_block(const oltr_settings *settings, const policy_ops *ops)
{
    layout l = {align_up(sizeof(oltr_policy)), false};
    block_plan b;
    size_t state_bytes = ops->state_bytes(settings);
    b.prior = layout_take(&l, prior_given(&settings->prior) ? 2 * (size_t)settings->n_items : 0,
                          sizeof(double));
    b.marks = layout_take(&l, settings->n_items, sizeof(uint32_t));
    b.room = layout_take(&l, compact_room_bytes(settings), 1);
    b.state = layout_take(&l, state_bytes, 1);
    b.bytes = l.overflow || state_bytes == 0 || ops->scratch_bytes(settings) == 0 ? 0 : l.used;
    return b;
}

/* Settings may have been filled in by hand: every member is checked. */
static oltr_status check_settings(const oltr_settings *settings, oltr_error *error)
{
    if (!settings || !policy_ops_of(settings->info))
        return set_error(error, OLTR_EINVAL,
                         "settings are missing; make them with oltr_settings_init()");
    oltr_status status = settings_check(settings, error);
    if (status != OLTR_OK || !prior_given(&settings->prior))
        return status;
    if (!settings->info->uses_prior)
        return set_error(error, OLTR_EPRIOR, "%s takes no prior: leave it out of the settings",
                         settings->info->name);
    if (!prior_is_taken(settings))
        return set_error(
            error, OLTR_EPRIOR,
            "a prior is given, but %s has `prior: none` and would not read it: set its parameter "
            "prior to full (or mean), or leave the prior out of the settings",
            settings->info->name);
    return prior_check(&settings->prior, settings->n_items, 0, error);
}

size_t oltr_policy_bytes(const oltr_settings *settings, oltr_error *error)
{
    if (check_settings(settings, error) != OLTR_OK)
        return 0;
    size_t bytes = plan_block(settings, policy_ops_of(settings->info)).bytes;
    if (!bytes)
        set_error(error, OLTR_EITEM, "%s cannot hold %u items in memory", settings->info->name,
                  settings->n_items);
    return bytes;
}

static oltr_prior copy_prior(const oltr_prior *prior, double *to, uint32_t n)
{
    if (!prior_given(prior))
        return (oltr_prior){.a = NULL};
    memcpy(to, prior_first(prior), n * sizeof *to);
    memcpy(to + n, prior_second(prior), n * sizeof *to);
    return prior_at(prior, to, n);
}

/* The policy's own settings: prior and memory hook point into its block, and values that no
 * parameter reads are 0, so that equal settings have equal bytes. */
static void own_settings(oltr_policy *policy, const oltr_settings *settings, const block_plan *b)
{
    const oltr_policy_info *info = settings->info;
    oltr_settings *own = &policy->settings;
    own->info = info;
    own->n_items = settings->n_items;
    own->dim = settings->dim;
    own->custom = settings->custom;
    own->custom_bytes = settings->custom_bytes;
    own->size = sizeof *own;
    for (uint32_t i = 0; i < info->n_params; i++)
        own->value[i] = settings->value[i] + 0.0; /* -0 becomes 0 */
    own->prior = copy_prior(&settings->prior, doubles_at(policy, b->prior), settings->n_items);
    if (settings->memory) {
        policy->memory = *settings->memory;
        own->memory = &policy->memory;
    }
}

/* In memory that is zero. */
static oltr_policy *make(void *zeros, const oltr_settings *settings, oltr_error *error)
{
    const policy_ops *ops = policy_ops_of(settings->info);
    block_plan b = plan_block(settings, ops);
    oltr_policy *policy = zeros;
    *policy = (oltr_policy){.ops = ops,
                            .prior = b.prior,
                            .marks = b.marks,
                            .room = b.room,
                            .state = b.state,
                            .bytes = b.bytes,
                            .scratch_bytes = ops->scratch_bytes(settings)};
    own_settings(policy, settings, &b);
    return ops->init(policy_state(policy), &policy->settings, error) == OLTR_OK ? policy : NULL;
}

oltr_policy *oltr_policy_place(void *memory, size_t bytes, const oltr_settings *settings,
                               oltr_error *error)
{
    size_t needed = oltr_policy_bytes(settings, error);
    if (!needed)
        return NULL;
    if (!memory || (uintptr_t)memory % LAYOUT_ALIGN || bytes < needed) {
        set_error(error, OLTR_EINVAL,
                  "the memory must be aligned to %d bytes and at least %zu long", LAYOUT_ALIGN,
                  needed);
        return NULL;
    }
    memset(memory, 0, needed);
    oltr_policy *policy = make(memory, settings, error);
    if (policy)
        policy->placed = true;
    return policy;
}

oltr_policy *oltr_policy_new(const oltr_settings *settings, oltr_error *error)
{
    size_t bytes = oltr_policy_bytes(settings, error);
    if (!bytes)
        return NULL;
    void *zeros = memory_take(settings->memory, bytes);
    if (!zeros) {
        set_error(error, OLTR_ENOMEM, "no memory for %zu bytes of %s with %u items", bytes,
                  settings->info->name, settings->n_items);
        return NULL;
    }
    oltr_policy *policy = make(zeros, settings, error);
    if (!policy)
        memory_give(settings->memory, zeros, bytes);
    return policy;
}

void oltr_policy_free(oltr_policy *policy)
{
    if (!policy)
        return;
    oltr_memory memory = policy->memory; /* the hook goes with the block that it frees */
    if (policy->ops->end)
        policy->ops->end(policy_state(policy));
    if (!policy->placed)
        memory_give(&memory, policy, policy->bytes);
}

oltr_policy *oltr_policy_copy(const oltr_policy *policy, const oltr_memory *memory,
                              oltr_error *error)
{
    if (!policy || !memory_is_whole(memory)) {
        set_error(
            error, OLTR_EINVAL,
            "a policy is needed to copy it, and a memory hook has both take and give, or is NULL");
        return NULL;
    }
    const oltr_memory *from = memory ? memory : &policy->memory;
    oltr_policy *copy = memory_take(from, policy->bytes);
    if (!copy) {
        set_error(error, OLTR_ENOMEM, "no memory for the %zu bytes of a copy", policy->bytes);
        return NULL;
    }
    memcpy(copy, policy, policy->bytes);
    copy->memory = *from;
    copy->placed = false;
    copy->settings.memory = from->take ? &copy->memory : NULL;
    if (prior_given(&policy->settings.prior))
        copy->settings.prior = prior_at(&policy->settings.prior, doubles_at(copy, policy->prior),
                                        policy->settings.n_items);
    if (copy->ops->copied)
        copy->ops->copied(policy_state(copy));
    return copy;
}

const oltr_settings *oltr_policy_settings(const oltr_policy *policy)
{
    return policy ? &policy->settings : NULL;
}

uint64_t oltr_policy_rounds(const oltr_policy *policy)
{
    return policy ? policy->rounds : 0;
}

size_t scratch_block_bytes(const oltr_settings *settings, size_t own_bytes, size_t *marks,
                           size_t *own)
{
    layout l = {align_up(sizeof(oltr_scratch)), false};
    *marks = layout_take(&l, settings->n_items, sizeof(uint32_t));
    *own = layout_take(&l, sizeof(normals_ahead), 1) + sizeof(normals_ahead);
    layout_take(&l, own_bytes, 1);
    return layout_bytes(&l);
}

oltr_scratch *scratch_in(const oltr_policy *policy, const oltr_memory *memory)
{
    size_t marks, own,
        whole = scratch_block_bytes(&policy->settings, policy->scratch_bytes, &marks, &own);
    oltr_scratch *scratch = whole ? memory_take(memory, whole) : NULL;
    if (!scratch)
        return NULL;
    *scratch = (oltr_scratch){.bytes = policy->scratch_bytes,
                              .n_items = policy->settings.n_items,
                              .marks = marks,
                              .own = own,
                              .whole = whole,
                              .memory = *memory};
    return scratch;
}

oltr_scratch *oltr_scratch_new(const oltr_policy *policy)
{
    return policy ? scratch_in(policy, &policy->memory) : NULL;
}

void oltr_scratch_free(oltr_scratch *scratch)
{
    if (!scratch)
        return;
    oltr_memory memory = scratch->memory;
    memory_give(&memory, scratch, scratch->whole);
}

/* ---- sums: merging, forgetting, checking */

static bool same_prior(const oltr_policy *a, const oltr_policy *b)
{
    const oltr_prior *p = &a->settings.prior, *q = &b->settings.prior;
    size_t bytes = a->settings.n_items * sizeof(double);
    if (!prior_given(p) || !prior_given(q))
        return prior_given(p) == prior_given(q);
    return !p->a == !q->a && !memcmp(prior_first(p), prior_first(q), bytes) &&
           !memcmp(prior_second(p), prior_second(q), bytes);
}

static bool same_custom(const oltr_settings *a, const oltr_settings *b)
{
    return a->custom_bytes == b->custom_bytes &&
           (!a->custom_bytes || !memcmp(a->custom, b->custom, a->custom_bytes));
}

static bool same_settings(const oltr_policy *a, const oltr_policy *b)
{
    return a->ops == b->ops && a->settings.n_items == b->settings.n_items &&
           a->settings.dim == b->settings.dim &&
           !memcmp(a->settings.value, b->settings.value, sizeof a->settings.value) &&
           same_prior(a, b) && same_custom(&a->settings, &b->settings);
}

static void add_sums(oltr_policy *into, const oltr_policy *from)
{
    sum_array to[MAX_SUMS], add[MAX_SUMS];
    uint32_t n = into->ops->sums(policy_state(into), to);
    from->ops->sums(policy_state(from), add);
    for (uint32_t a = 0; a < n; a++)
        for (size_t i = 0; i < to[a].n; i++)
            to[a].value[i] += add[a].value[i];
}

/* Adds `from` to a copy of the state of `into` that is in `trial`, and derives the rest. */
static oltr_status merge_trial(oltr_policy *trial, const oltr_policy *from)
{
    oltr_status status = OLTR_OK;
    if (trial->ops->merge)
        status = trial->ops->merge(policy_state(trial), policy_state(from));
    else
        add_sums(trial, from);
    trial->rounds += from->rounds;
    if (status == OLTR_OK)
        status = policy_check_sums(trial, NULL);
    if (status == OLTR_OK)
        trial->ops->refresh(policy_state(trial), trial->rounds + 1);
    return status;
}

/* The sum of two valid states may exceed the bounds: so a copy is merged and checked first, and
 * `into` changes only on success. */
oltr_status oltr_merge(oltr_policy *into, const oltr_policy *from)
{
    if (!into || !from || into == from)
        return OLTR_EINVAL;
    if (!into->ops->info.can_merge)
        return OLTR_EUNSUPPORTED;
    if (!same_settings(into, from))
        return OLTR_EMISMATCH;
    if (into->rounds + from->rounds > MOST_ROUNDS)
        return OLTR_ESTATE;
    oltr_policy *trial = oltr_policy_copy(into, NULL, NULL);
    if (!trial)
        return OLTR_ENOMEM;
    oltr_status status = merge_trial(trial, from);
    if (status == OLTR_OK) {
        memcpy(policy_state(into), policy_state(trial), into->bytes - into->state);
        into->rounds = trial->rounds;
    }
    oltr_policy_free(trial);
    return status;
}

static void fade_sums(oltr_policy *policy, double keep)
{
    sum_array sums[MAX_SUMS];
    uint32_t n = policy->ops->sums(policy_state(policy), sums);
    for (uint32_t a = 0; a < n; a++)
        for (size_t i = 0; i < sums[a].n; i++)
            sums[a].value[i] *= keep;
}

oltr_status oltr_forget(oltr_policy *policy, double keep)
{
    if (!policy || !(keep >= 0 && keep <= 1))
        return OLTR_EINVAL;
    if (!policy->ops->info.can_forget)
        return OLTR_EUNSUPPORTED;
    if (keep >= 1)
        return OLTR_OK; /* nothing is forgotten: derived numbers keep their bits */
    if (policy->ops->forget)
        policy->ops->forget(policy_state(policy), keep);
    else
        fade_sums(policy, keep);
    policy->ops->refresh(policy_state(policy), policy->rounds + 1);
    return OLTR_OK;
}

/* Rebuilds the derived state from the sums in a copy, and compares. */
static oltr_status check_derived(const oltr_policy *policy, oltr_error *error)
{
    if (policy->ops->check_derived)
        return policy->ops->check_derived(policy_state(policy), error);
    oltr_policy *copy = oltr_policy_copy(policy, NULL, error);
    if (!copy)
        return OLTR_ENOMEM;
    copy->ops->refresh(policy_state(copy), copy->rounds + 1);
    const void *was = policy_state(policy), *anew = policy_state(copy);
    bool same = policy->ops->agrees ? policy->ops->agrees(was, anew)
                                    : memcmp(was, anew, policy->bytes - policy->state) == 0;
    oltr_policy_free(copy);
    return same ? OLTR_OK
                : set_error(error, OLTR_ESTATE,
                            "%s: what is derived from the sums does not follow from them",
                            policy->ops->info.name);
}

/* The bound on every learned number, of whatever policy. */
static oltr_status check_sizes(const oltr_policy *policy, oltr_error *error)
{
    sum_array sums[MAX_SUMS];
    uint32_t n = policy->ops->sums(policy_state(policy), sums);
    for (uint32_t a = 0; a < n; a++)
        for (size_t i = 0; sums[a].value && i < sums[a].n; i++)
            if (!(fabs(sums[a].value[i]) <= LARGEST_SUM))
                return set_error(
                    error, OLTR_ESTATE,
                    "%s: number %zu of '%s' is %g, and nothing that can be learned adds up to it",
                    policy->ops->info.name, i, sums[a].name, sums[a].value[i]);
    return OLTR_OK;
}

oltr_status policy_check_sums(const oltr_policy *policy, oltr_error *error)
{
    oltr_status status = check_sizes(policy, error);
    return status == OLTR_OK ? policy->ops->check(policy_state(policy), policy->rounds + 1, error)
                             : status;
}

oltr_status oltr_check(const oltr_policy *policy, oltr_error *error)
{
    if (!policy)
        return set_error(error, OLTR_EINVAL, "there is no policy to check");
    oltr_status status = policy_check_sums(policy, error);
    return status == OLTR_OK ? check_derived(policy, error) : status;
}
