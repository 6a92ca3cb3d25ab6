/* growth.c - items that come and go: another number of them, and the numbers of one.
 *
 * A policy of another size is a new block, into which the sums are copied.  What belongs to one
 * item (info.by_item) is one number in each array of sums and a pair of the prior; renew_item()
 * derives the rest of it.
 */
#include "engine/policy/block.h"
#include "engine/policy/sum_arrays.h"
#include "engine/posterior/item_prior.h"

/* ---- another number of items */

static bool same_form(const oltr_prior *a, const oltr_prior *b)
{
    return !a->a == !b->a && !a->b == !b->b && !a->mean == !b->mean && !a->sd == !b->sd;
}

/* A prior for the new items must be given where one is needed, and only there. */
static oltr_status check_new_prior(const oltr_settings *old, uint32_t n_items,
                                   const oltr_prior *prior, oltr_error *error)
{
    static const oltr_prior none = {.a = NULL};
    const oltr_prior *given = prior ? prior : &none;
    bool needed = prior_given(&old->prior) && n_items > old->n_items;
    if (!needed && prior_given(given))
        return set_error(error, OLTR_EPRIOR, "%s",
                         n_items > old->n_items
                             ? "the policy was made without a prior: its new items have none either"
                             : "there are no new items: leave out their prior");
    if (!needed)
        return OLTR_OK;
    if (!same_form(given, &old->prior))
        return set_error(error, OLTR_EPRIOR,
                         "the policy was given a prior as %s: give the same for its %u new items",
                         old->prior.a ? "a and b" : "mean and sd", n_items - old->n_items);
    return prior_check(given, n_items - old->n_items, 0, error);
}

/* One array of the prior: of the items that stay, then of the new ones. */
static void join(double *to, const double *old, uint32_t kept, const double *more, uint32_t n_items)
{
    memcpy(to, old, kept * sizeof *to);
    if (n_items > kept)
        memcpy(to + kept, more, (n_items - kept) * sizeof *to);
}

static oltr_policy *make_resized(const oltr_policy *policy, uint32_t n_items,
                                 const oltr_prior *prior, oltr_error *error)
{
    oltr_settings settings = *policy->settings;
    uint32_t kept = n_items < settings.n_items ? n_items : settings.n_items;
    double *own = NULL;
    size_t bytes = 2 * (size_t)n_items * sizeof *own;
    if (prior_given(&settings.prior)) {
        own = memory_take(settings.memory, bytes);
        if (!own) {
            set_error(error, OLTR_ENOMEM, "no memory for the prior of %u items", n_items);
            return NULL;
        }
        join(own, prior_first(&settings.prior), kept, prior ? prior_first(prior) : NULL, n_items);
        join(own + n_items, prior_second(&settings.prior), kept, prior ? prior_second(prior) : NULL,
             n_items);
        settings.prior = prior_at(&settings.prior, own, n_items);
    }
    settings.n_items = n_items;
    oltr_policy *made = oltr_policy_new(&settings, error);
    memory_give(settings.memory, own, own ? bytes : 0);
    return made;
}

/* The first n numbers; of a triangle all. */
static void copy_array(const sum_array *to, const sum_array *from, size_t n)
{
    size_t pieces = sum_pieces(from);
    if (from->single)
        memcpy(to->single, from->single, n * sizeof *to->single);
    else if (!from->stride && n)
        memcpy(to->value, from->value, n * sizeof *to->value);
    for (size_t j = 0; from->stride && j < pieces; j++) {
        sum_piece piece = sum_piece_at(from, pieces, j);
        memcpy(sum_piece_at(to, pieces, j).value, piece.value, piece.n * sizeof *piece.value);
    }
}

/* Copies arrays of equal lengths; one may hold the length of the next.  false when one does not
 * fit.
 */
static bool copy_arrays(uint32_t (*list)(const void *, sum_array *), void *to_state,
                        const void *from_state)
{
    sum_array to[MAX_SUMS], from[MAX_SUMS];
    uint32_t n = list(from_state, from);
    for (uint32_t a = 0; a < n; a++) {
        if (list(to_state, to) != n || to[a].n != from[a].n)
            return false;
        copy_array(&to[a], &from[a], from[a].n);
    }
    return true;
}

/* Returns how many items stay. */
static uint32_t copy_items(oltr_policy *to, const oltr_policy *from)
{
    sum_array into[MAX_SUMS], sums[MAX_SUMS];
    uint32_t n = from->ops->sums(policy_state(from), sums);
    uint32_t a = to->n_items, b = from->n_items, kept = a < b ? a : b;
    to->ops->sums(policy_state(to), into);
    for (uint32_t i = 0; i < n; i++)
        copy_array(&into[i], &sums[i], kept);
    return kept;
}

/* In a policy that was just made, everything is derived for items without observations in round 1.
 * Renewing the first item updates what depends on the round; then only those with observations are
 * left.  A policy from outside may derive in other ways. */
static oltr_status derive_items(oltr_policy *to, uint32_t kept, oltr_error *error)
{
    static const double nothing[MAX_SUMS];
    sum_array sums[MAX_SUMS];
    uint32_t n = to->ops->sums(policy_state(to), sums);
    oltr_status status = OLTR_OK;
    if (to->ops->info.ops) {
        to->ops->refresh(policy_state(to), to->rounds + 1);
        return OLTR_OK;
    }
    for (uint32_t item = 0; status == OLTR_OK && item < kept; item++) {
        bool known = item == 0;
        for (uint32_t a = 0; a < n; a++)
            known |= !(fabs(sums[a].value[item]) <= 0);
        if (known)
            status = to->ops->renew_item(policy_state(to), to->rounds + 1, to->settings, item,
                                         nothing, error);
    }
    return status;
}

/* room: the new items are room alone, and must not change what is derived. */
static oltr_status carry_items(oltr_policy *to, const oltr_policy *from, bool room,
                               oltr_error *error)
{
    uint32_t kept = copy_items(to, from);
    if (!room || !to->ops->carry)
        return derive_items(to, kept, error);
    to->ops->carry(policy_state(to), policy_state(from));
    return OLTR_OK;
}

/* Sums for which `to`, which was just made, has no room of their own are added to the others.
 * OLTR_EFULL where that is not offered. */
static oltr_status fold_sums(oltr_policy *to, const oltr_policy *from)
{
    sum_array sums[MAX_SUMS];
    if (!from->ops->least_sums)
        return OLTR_EFULL;
    uint32_t n = to->ops->sums(policy_state(to), sums);
    for (uint32_t a = 0; a < n; a++)
        for (size_t i = 0; sums[a].value && i < sums[a].n; i++)
            sums[a].value[i] = 0;
    return to->ops->merge(policy_state(to), policy_state(from));
}

/* What was learned, and what is derived from it. */
static oltr_status carry_over(oltr_policy *to, const oltr_policy *from, bool room,
                              oltr_error *error)
{
    const policy_ops *ops = from->ops;
    oltr_error said = {OLTR_OK, ""};
    to->rounds = from->rounds;
    if (ops->info.by_item)
        return carry_items(to, from, room, error);
    bool whole = copy_arrays(ops->sums, policy_state(to), policy_state(from));
    oltr_status status = whole ? OLTR_OK : fold_sums(to, from);
    if (status == OLTR_OK)
        status = policy_check_sums(to, NULL);
    if (status == OLTR_ENOMEM)
        return set_error(error, status, "no memory to check what was learned");
    if (status != OLTR_OK)
        return set_error(error, OLTR_EFULL,
                         "%s of %u items has no room for what was learned: keep more items",
                         ops->info.name, to->n_items);
    if (whole && ops->derived && copy_arrays(ops->derived, policy_state(to), policy_state(from)))
        return pass_error(ops->resume(policy_state(to), to->rounds + 1, &said), &said, error);
    ops->refresh(policy_state(to), to->rounds + 1);
    return OLTR_OK;
}

/* `made` with what the policy has learned; it is freed when that does not fit. */
static oltr_policy *resized(oltr_policy *made, const oltr_policy *policy, bool room,
                            oltr_error *error)
{
    oltr_error why = {OLTR_OK, ""};
    oltr_status status = carry_over(made, policy, room, &why);
    if (status == OLTR_OK)
        return made;
    set_error(error, status, "%s", why.msg);
    oltr_policy_free(made);
    return NULL;
}

oltr_policy *policy_with_more_room(const oltr_policy *policy, uint32_t n_items,
                                   const oltr_prior *prior, const oltr_settings *lent,
                                   oltr_error *error)
{
    oltr_policy *made =
        lent ? policy_new_lent(lent, error) : make_resized(policy, n_items, prior, error);
    return made ? resized(made, policy, true, error) : NULL;
}

oltr_status oltr_policy_resize(oltr_policy **policy, uint32_t n_items, const oltr_prior *prior,
                               oltr_error *error)
{
    if (!policy || !*policy)
        return set_error(error, OLTR_EINVAL, "there is no policy to resize");
    oltr_policy *old = *policy;
    if (!old->ops->info.can_resize)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "%s cannot be resized: what it learns is not kept item by item",
                         old->ops->info.name);
    if (old->placed)
        return set_error(error, OLTR_EUNSUPPORTED,
                         "a policy in memory of the caller cannot be resized: save it, or copy it");
    oltr_status status = check_new_prior(old->settings, n_items, prior, error);
    if (status != OLTR_OK || n_items == old->n_items)
        return status;
    oltr_error why = {OLTR_ENOMEM, "no memory for the new size"};
    oltr_policy *made = make_resized(old, n_items, prior, &why);
    if (made)
        made = resized(made, old, false, &why);
    if (!made)
        return set_error(error, why.code, "%s", why.msg);
    *policy = made;
    oltr_policy_free(old);
    return OLTR_OK;
}

/* ---- one item */

oltr_policy *policy_regrouped(const oltr_policy *like, const oltr_policy *from,
                              const uint32_t *place, uint32_t n, oltr_error *error)
{
    sum_array to[MAX_SUMS], sums[MAX_SUMS];
    oltr_policy *made = oltr_policy_copy(like, NULL, error);
    if (!made)
        return NULL;
    uint32_t arrays = made->ops->sums(policy_state(made), to);
    from->ops->sums(policy_state(from), sums);
    for (uint32_t a = 0; a < arrays; a++) {
        memset(to[a].value, 0, to[a].n * sizeof *to[a].value);
        for (uint32_t i = 0; i < n; i++)
            to[a].value[place[i]] = sums[a].value[i];
    }
    made->rounds = from->rounds;
    return made;
}

/* Where the numbers of an item are: its sums, then its pair of the prior. */
typedef struct item_view {
    uint32_t n, n_sums;
    double *at[OLTR_MAX_ITEM_NUMBERS];
} item_view;

static item_view view_of(const oltr_policy *policy, uint32_t item)
{
    sum_array sums[MAX_SUMS];
    item_view v = {.n = policy->ops->sums(policy_state(policy), sums)};
    double *prior = policy_prior(policy);
    v.n_sums = v.n;
    for (uint32_t a = 0; a < v.n; a++)
        v.at[a] = sums[a].value + item;
    if (prior_given(&policy->settings->prior)) {
        v.at[v.n++] = prior + item;
        v.at[v.n++] = prior + policy->n_items + item;
    }
    return v;
}

static oltr_status check_item(const oltr_policy *policy, uint32_t item, oltr_error *error)
{
    if (!policy)
        return set_error(error, OLTR_EINVAL, "there is no policy");
    if (!policy->ops->info.by_item)
        return set_error(error, OLTR_EUNSUPPORTED, "%s does not keep what it learns item by item",
                         policy->ops->info.name);
    if (item >= policy->n_items)
        return set_error(error, OLTR_EITEM, "item %u: the items are 0 to %u", item,
                         policy->n_items - 1);
    return OLTR_OK;
}

oltr_status oltr_item_get(const oltr_policy *policy, uint32_t item, double *number,
                          uint32_t capacity, uint32_t *n)
{
    oltr_status status = check_item(policy, item, NULL);
    if (status != OLTR_OK)
        return status;
    if (!number || !n)
        return OLTR_EINVAL;
    item_view v = view_of(policy, item);
    *n = v.n;
    if (capacity < v.n)
        return OLTR_EBUFFER;
    for (uint32_t i = 0; i < v.n; i++)
        number[i] = *v.at[i];
    return OLTR_OK;
}

static void exchange(const item_view *v, double *number)
{
    for (uint32_t i = 0; i < v->n; i++) {
        double held = *v->at[i];
        *v->at[i] = number[i];
        number[i] = held;
    }
}

/* Writes the numbers and derives the rest; if they are refused, the old ones are restored.  After
 * exchange() `number` has the old ones, sums first. */
static oltr_status set_item(oltr_policy *policy, uint32_t item, double *number, oltr_error *error)
{
    item_view v = view_of(policy, item);
    for (uint32_t i = 0; i < v.n; i++)
        if (!(fabs(number[i]) <= LARGEST_SUM))
            return set_error(error, OLTR_ESTATE, "item %u: number %u is %g, and must be within %g",
                             item, i, number[i], LARGEST_SUM);
    exchange(&v, number);
    oltr_status status = prior_given(&policy->settings->prior)
                             ? prior_check_item(&policy->settings->prior, item, 0, error)
                             : OLTR_OK;
    if (status == OLTR_OK) {
        oltr_error said = {OLTR_OK, ""};
        status = policy->ops->renew_item(policy_state(policy), policy->rounds + 1, policy->settings,
                                         item, number, &said);
        pass_error(status, &said, error);
    }
    if (status != OLTR_OK)
        exchange(&v, number);
    return status;
}

oltr_status oltr_item_put(oltr_policy *policy, uint32_t item, const double *number, uint32_t n,
                          oltr_error *error)
{
    double own[OLTR_MAX_ITEM_NUMBERS];
    oltr_status status = check_item(policy, item, error);
    if (status != OLTR_OK)
        return status;
    uint32_t expected = view_of(policy, item).n;
    if ((expected && !number) || n != expected)
        return set_error(
            error, OLTR_EINVAL,
            "an item of this policy has %u numbers, not %u; oltr_item_get() gives them", expected,
            n);
    for (uint32_t i = 0; i < n; i++)
        own[i] = number[i];
    return set_item(policy, item, own, error);
}

/* Keeps the sums or sets them to 0, and sets the pair of the prior where it is given. */
static oltr_status renew(oltr_policy *policy, uint32_t item, const double *pair, bool keep,
                         oltr_error *error)
{
    double own[OLTR_MAX_ITEM_NUMBERS];
    item_view v = view_of(policy, item);
    for (uint32_t i = 0; i < v.n; i++)
        own[i] = i < v.n_sums && !keep ? 0 : *v.at[i];
    for (uint32_t i = 0; pair && i < 2; i++)
        own[v.n_sums + i] = pair[i];
    return set_item(policy, item, own, error);
}

oltr_status oltr_item_reset(oltr_policy *policy, uint32_t item, oltr_error *error)
{
    oltr_status status = check_item(policy, item, error);
    return status == OLTR_OK ? renew(policy, item, NULL, false, error) : status;
}

oltr_status oltr_item_renew(oltr_policy *policy, uint32_t item, double first, double second,
                            int keep, oltr_error *error)
{
    const double pair[2] = {first, second};
    oltr_status status = check_item(policy, item, error);
    if (status != OLTR_OK)
        return status;
    if (!prior_given(&policy->settings->prior))
        return set_error(error, OLTR_EPRIOR,
                         "the policy was made without a prior, and has none to renew");
    return renew(policy, item, pair, keep, error);
}
