/* policy.c - a policy as an object: makes, copies, frees, merges, forgets, checks.  rounds.c ranks
 * and learns, snapshot.c saves and loads, growth.c changes the items.
 *
 * One block of memory holds all of it: see block.h.
 */
#include "engine/policy/block.h"

#include "engine/base/reads_prior.h"
#include "engine/policy/settings.h"
#include "engine/posterior/item_prior.h"

/* Where everything is in the block: see block.h. */
static oltr_policy plan_block(const oltr_settings *settings, const policy_ops *ops, bool lent)
{
    layout l = {sizeof(oltr_policy) + (lent ? 0 : sizeof(own_settings)), false};
    size_t state_bytes = ops->state_bytes(settings);
    oltr_policy p = {
        .ops = ops, .scratch_bytes = ops->scratch_bytes(settings), .n_items = settings->n_items};
    p.state = (uint32_t)layout_take(&l, state_bytes, 1);
    p.marks = layout_take(&l, mark_bytes(settings->n_items), 1);
    layout_take(&l, prior_given(&settings->prior) ? 2 * (size_t)settings->n_items : 0,
                sizeof(double));
    layout_take(&l, compact_room_bytes(settings), 1);
    p.bytes = state_bytes == 0 || p.scratch_bytes == 0 ? 0 : layout_bytes(&l);
    return p;
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

static size_t bytes_of(const oltr_settings *settings, bool lent, oltr_error *error)
{
    if (check_settings(settings, error) != OLTR_OK)
        return 0;
    size_t bytes = plan_block(settings, policy_ops_of(settings->info), lent).bytes;
    if (!bytes)
        set_error(error, OLTR_EITEM, "%s cannot hold %u items in memory", settings->info->name,
                  settings->n_items);
    return bytes;
}

size_t oltr_policy_bytes(const oltr_settings *settings, oltr_error *error)
{
    return bytes_of(settings, false, error);
}

size_t policy_bytes_with(const oltr_policy *policy, uint32_t n_items)
{
    oltr_settings settings = *policy->settings;
    settings.n_items = n_items;
    return plan_block(&settings, policy->ops, false).bytes;
}

oltr_settings plain_settings(const oltr_settings *settings)
{
    const oltr_policy_info *info = settings->info;
    oltr_settings plain = {.info = info,
                           .n_items = settings->n_items,
                           .dim = settings->dim,
                           .memory = settings->memory,
                           .custom = settings->custom,
                           .custom_bytes = settings->custom_bytes,
                           .size = sizeof plain};
    for (uint32_t i = 0; i < info->n_params; i++)
        plain.value[i] = settings->value[i] + 0.0; /* -0 becomes 0 */
    return plain;
}

/* Gives a policy settings of its own, but for the numbers of the prior. */
static void set_own(oltr_policy *policy, const oltr_settings *settings, const oltr_memory *memory)
{
    own_settings *to = (own_settings *)(void *)(policy + 1);
    to->settings = plain_settings(settings);
    if (prior_given(&settings->prior))
        to->settings.prior = prior_at(&settings->prior, policy_prior(policy), settings->n_items);
    to->memory = memory ? *memory : (oltr_memory){.take = NULL};
    to->settings.memory = to->memory.take ? &to->memory : NULL;
    policy->settings = &to->settings;
}

static void copy_prior(oltr_policy *to, const oltr_prior *prior)
{
    double *number = policy_prior(to);
    memcpy(number, prior_first(prior), to->n_items * sizeof *number);
    memcpy(number + to->n_items, prior_second(prior), to->n_items * sizeof *number);
}

/* What is wrong with the name of an array that a policy from outside lists, or NULL. */
static const char *name_fault(const sum_array *array)
{
    return array->name && strlen(array->name) <= LONGEST_NAME
               ? NULL
               : "an array without a name, or with one of more than 63 bytes";
}

/* What is wrong with an array of its sums, or NULL. */
static const char *array_fault(const oltr_policy *policy, const sum_array *array)
{
    const policy_ops *ops = policy->ops;
    bool adds = ops->info.can_merge && !ops->merge, fades = ops->info.can_forget && !ops->forget;
    if (name_fault(array))
        return name_fault(array);
    if (ops->info.by_item && (!array->value || array->stride || array->n != policy->n_items))
        return "an array that is not one number for each item, which by_item promises";
    if (array->single && !array->value && (adds || fades))
        return "floats, which only operations merge and forget of its own can add and multiply";
    return NULL;
}

/* A policy from outside can only be asked for its arrays when it is made. */
static oltr_status check_arrays(const oltr_policy *policy, oltr_error *error)
{
    sum_array array[MAX_SUMS];
    const policy_ops *ops = policy->ops;
    const char *fault = NULL;
    uint32_t most = ops->info.by_item ? OLTR_MAX_ITEM_NUMBERS - 2 : MAX_SUMS,
             n = ops->sums(policy_state(policy), array);
    if (n > most)
        return set_error(error, OLTR_EINVAL, "the policy '%s' lists %u arrays of sums, at most %u",
                         ops->info.name, n, most);
    for (uint32_t a = 0; a < n && !fault; a++)
        fault = array_fault(policy, &array[a]);
    n = ops->derived ? ops->derived(policy_state(policy), array) : 0;
    for (uint32_t a = 0; a < n && !fault; a++)
        fault = name_fault(&array[a]);
    return fault ? set_error(error, OLTR_EINVAL, "the policy '%s' lists %s", ops->info.name, fault)
                 : OLTR_OK;
}

/* In memory that is zero. */
static oltr_policy *make(void *zeros, const oltr_settings *settings, bool lent, oltr_error *error)
{
    oltr_policy *policy = zeros;
    *policy = plan_block(settings, policy_ops_of(settings->info), lent);
    policy->settings = settings;
    if (!lent)
        set_own(policy, settings, settings->memory);
    if (prior_given(&settings->prior))
        copy_prior(policy, &settings->prior);
    oltr_error said = {OLTR_OK, ""};
    oltr_status status = policy->ops->init(policy_state(policy), policy->settings, &said);
    if (pass_error(status, &said, error) != OLTR_OK)
        return NULL;
    if (!policy->ops->info.ops || check_arrays(policy, error) == OLTR_OK)
        return policy;
    if (policy->ops->end)
        policy->ops->end(policy_state(policy));
    return NULL;
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
    oltr_policy *policy = make(memory, settings, false, error);
    if (policy)
        policy->placed = true;
    return policy;
}

static oltr_policy *make_new(const oltr_settings *settings, bool lent, oltr_error *error)
{
    size_t bytes = bytes_of(settings, lent, error);
    if (!bytes)
        return NULL;
    void *zeros = memory_take(settings->memory, bytes);
    if (!zeros) {
        set_error(error, OLTR_ENOMEM, "no memory for %zu bytes of %s with %u items", bytes,
                  settings->info->name, settings->n_items);
        return NULL;
    }
    oltr_policy *policy = make(zeros, settings, lent, error);
    if (!policy)
        memory_give(settings->memory, zeros, bytes);
    return policy;
}

oltr_policy *oltr_policy_new(const oltr_settings *settings, oltr_error *error)
{
    return make_new(settings, false, error);
}

oltr_policy *policy_new_lent(const oltr_settings *settings, oltr_error *error)
{
    return make_new(settings, true, error);
}

static bool is_lent(const oltr_policy *policy)
{
    return policy->settings != &((const own_settings *)(const void *)(policy + 1))->settings;
}

void policy_lend(oltr_policy *policy, const oltr_settings *settings)
{
    if (is_lent(policy))
        policy->settings = settings;
}

void oltr_policy_free(oltr_policy *policy)
{
    if (!policy)
        return;
    const oltr_memory *hook = policy->settings->memory;
    oltr_memory memory = {.take = NULL}; /* the hook goes with the block that it frees */
    if (hook)
        memory = *hook;
    if (policy->ops->end)
        policy->ops->end(policy_state(policy));
    if (!policy->placed)
        memory_give(&memory, policy, policy->bytes);
}

/* lent: the settings of the copy; NULL: its own. */
static oltr_policy *copy_of(const oltr_policy *policy, const oltr_settings *lent,
                            const oltr_memory *memory, oltr_error *error)
{
    size_t head = align_up(sizeof *policy + (lent ? 0 : sizeof(own_settings)));
    size_t rest = policy->bytes - policy->state;
    oltr_policy *copy = memory_take(memory, head + rest);
    if (!copy) {
        set_error(error, OLTR_ENOMEM, "no memory for the %zu bytes of a copy", head + rest);
        return NULL;
    }
    *copy = *policy;
    copy->state = (uint32_t)head;
    copy->marks = head + policy_state_bytes(policy);
    copy->bytes = head + rest;
    copy->placed = false;
    copy->settings = lent;
    if (!lent)
        set_own(copy, policy->settings, memory);
    memcpy(policy_state(copy), policy_state(policy), rest);
    if (copy->ops->copied)
        copy->ops->copied(policy_state(copy));
    return copy;
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
    return copy_of(policy, NULL, memory ? memory : policy->settings->memory, error);
}

oltr_policy *policy_copy_lent(const oltr_policy *policy, const oltr_settings *settings,
                              oltr_error *error)
{
    return copy_of(policy, settings, settings->memory, error);
}

const oltr_settings *oltr_policy_settings(const oltr_policy *policy)
{
    return policy ? policy->settings : NULL;
}

uint64_t oltr_policy_rounds(const oltr_policy *policy)
{
    return policy ? policy->rounds : 0;
}

size_t scratch_block_bytes(uint32_t n_items, size_t own_bytes, size_t *marks, size_t *own)
{
    layout l = {align_up(sizeof(oltr_scratch)), false};
    *marks = layout_take(&l, n_items, sizeof(uint32_t));
    *own = layout_take(&l, sizeof(normals_ahead), 1) + sizeof(normals_ahead);
    layout_take(&l, own_bytes, 1);
    return layout_bytes(&l);
}

oltr_scratch *scratch_in(const oltr_policy *policy, const oltr_scratch *least,
                         const oltr_memory *memory)
{
    bool more_items = least && least->n_items > policy->n_items;
    bool more_bytes = least && least->bytes > policy->scratch_bytes;
    uint32_t n_items = more_items ? least->n_items : policy->n_items;
    size_t bytes = more_bytes ? least->bytes : policy->scratch_bytes, marks, own;
    size_t whole = scratch_block_bytes(n_items, bytes, &marks, &own);
    oltr_scratch *scratch = whole ? memory_take(memory, whole) : NULL;
    if (!scratch)
        return NULL;
    *scratch = (oltr_scratch){
        .bytes = bytes, .n_items = n_items, .marks = marks, .own = own, .whole = whole};
    if (memory)
        scratch->memory = *memory;
    return scratch;
}

oltr_scratch *oltr_scratch_new(const oltr_policy *policy)
{
    return policy ? scratch_in(policy, NULL, policy->settings->memory) : NULL;
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
    const oltr_prior *p = &a->settings->prior, *q = &b->settings->prior;
    size_t bytes = a->n_items * sizeof(double);
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
    const oltr_settings *p = a->settings, *q = b->settings;
    return a->ops == b->ops && p->n_items == q->n_items && p->dim == q->dim &&
           !memcmp(p->value, q->value, sizeof p->value) && same_prior(a, b) && same_custom(p, q);
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
        memcpy(policy_state(into), policy_state(trial), policy_state_bytes(into));
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
    keep = fabs(keep);  /* -0 would give sums of -0 */
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
    oltr_error said = {OLTR_OK, ""};
    if (policy->ops->check_derived)
        return pass_error(policy->ops->check_derived(policy_state(policy), &said), &said, error);
    oltr_policy *copy = oltr_policy_copy(policy, NULL, error);
    if (!copy)
        return OLTR_ENOMEM;
    copy->ops->refresh(policy_state(copy), copy->rounds + 1);
    const void *was = policy_state(policy), *anew = policy_state(copy);
    bool same = policy->ops->agrees ? policy->ops->agrees(was, anew)
                                    : memcmp(was, anew, policy_state_bytes(policy)) == 0;
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
    oltr_error said = {OLTR_OK, ""};
    oltr_status status = check_sizes(policy, error);
    if (status != OLTR_OK)
        return status;
    status = policy->ops->check(policy_state(policy), policy->rounds + 1, &said);
    return pass_error(status, &said, error);
}

oltr_status oltr_check(const oltr_policy *policy, oltr_error *error)
{
    if (!policy)
        return set_error(error, OLTR_EINVAL, "there is no policy to check");
    oltr_status status = policy_check_sums(policy, error);
    return status == OLTR_OK ? check_derived(policy, error) : status;
}
