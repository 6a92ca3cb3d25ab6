/* ope_evaluate.c - the chances of a model for the lists of a log: oltr_ope_evaluate().
 *
 * Exactly.  The engine integrates over the laws of the scores: the chances of the beginnings of the
 * list (oltr_model_list_propensity), of what may follow each (oltr_model_next_propensity), and of
 * every candidate in every slot (oltr_model_slot_propensity).  Those of slots depend on the
 * candidates alone, and are kept for them; the others are kept for candidates and list.
 *
 * By draws.  D lists are drawn for each list of the log, by generators of its number, and the
 * evaluated policy is replaced by "show one of these D lists": its chances are shares, and q and v
 * are means over the drawn lists.  For this policy all estimators are exact, and its value has the
 * expectation of the value of the model, as the draws do not depend on the log.  So draws add
 * variance and no bias.
 *
 * q and v.  dr is unbiased for any q with v_l = E[q_l | the items above].  Exactly: q_l is
 * rate(l, a_l) + c_l, where c_l, what the policy is expected to earn below slot l, does not depend
 * on the items above, so v_l is the mean of rate(l, a) over what follows, plus c_l; and v_1 is what
 * the policy is expected to earn.  By draws: q_l and v_l are the means of the predicted rewards
 * from slot l on over the drawn lists that begin as the shown one, down to slot l and to slot l
 * - 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/struct_check.h"
#include "lab/ope/ope_cache.h"
#include <oltr/ope.h>

enum { CACHE_BYTES = 64 << 20, MOST_DRAWS = 1 << 24 };

struct oltr_ope_evaluator {
    const oltr_model *model;
    oltr_ope_policy policy;
    oltr_model_scratch *scratch;
    ope_cache cache;
    unsigned char *key; /* (key_room) of the list that is evaluated */
    size_t key_size, key_room;
    size_t key_candidates; /* bytes of the key that are those of the candidates */
    double *room;          /* (room_n) */
    size_t room_n;
    uint32_t *drawn; /* (drawn_n) a list */
    uint32_t drawn_n;
};

/* ---- making */

/* Exact chances of a list of one candidate: OLTR_EUNSUPPORTED for kinds without them. */
static oltr_status try_exact(const oltr_ope_evaluator *e, oltr_error *error)
{
    const oltr_settings *policy = &oltr_model_settings_of(e->model)->policy;
    oltr_name name = {"?", 1};
    oltr_list list = {.n = 1, .name = &name};
    uint32_t place = 0;
    double chance;
    float *x = policy->info->contextual ? calloc(policy->dim, sizeof *x) : NULL;
    if (policy->info->contextual) {
        if (!x)
            return set_error(error, OLTR_ENOMEM, "out of memory");
        list = (oltr_list){.n = 1, .x = x};
    }
    oltr_status status = oltr_model_list_propensity(e->model, &list, &place, 1, e->policy.greedy,
                                                    e->scratch, &chance, error);
    free(x);
    return status;
}

static oltr_status check_policy(const oltr_ope_policy *policy, oltr_error *error)
{
    if (size_check("options of a policy", policy->size, sizeof *policy, error) != OLTR_OK ||
        reserved_check("the options of a policy", policy->reserved32, policy->reserved,
                       sizeof policy->reserved, error) != OLTR_OK)
        return OLTR_EINVAL;
    if (policy->greedy > 1)
        return set_error(error, OLTR_EINVAL, "greedy is 0 or 1, not %u", policy->greedy);
    if (policy->draws > MOST_DRAWS)
        return set_error(error, OLTR_EVALUE, "at most %d draws, not %u", MOST_DRAWS, policy->draws);
    return OLTR_OK;
}

static oltr_ope_evaluator *evaluator_begin(const oltr_model *model, const oltr_ope_policy *policy)
{
    oltr_ope_evaluator *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->model = model;
    e->policy = *policy;
    e->cache.most = policy->cache_bytes > 0 ? policy->cache_bytes : CACHE_BYTES;
    e->scratch = oltr_model_scratch_new(NULL);
    if (e->scratch)
        return e;
    free(e);
    return NULL;
}

oltr_ope_evaluator *oltr_ope_evaluator_new(const oltr_model *model, const oltr_ope_policy *policy,
                                           oltr_error *error)
{
    static const oltr_ope_policy defaults = {.size = sizeof defaults};
    policy = policy ? policy : &defaults;
    if (!model) {
        set_error(error, OLTR_EINVAL, "a model is needed");
        return NULL;
    }
    if (check_policy(policy, error) != OLTR_OK)
        return NULL;
    oltr_ope_evaluator *e = evaluator_begin(model, policy);
    if (!e) {
        set_error(error, OLTR_ENOMEM, "out of memory");
        return NULL;
    }
    if (policy->draws == 0 && try_exact(e, error) != OLTR_OK) {
        oltr_ope_evaluator_free(e);
        return NULL;
    }
    return e;
}

void oltr_ope_evaluator_free(oltr_ope_evaluator *evaluator)
{
    if (!evaluator)
        return;
    oltr_model_scratch_free(evaluator->scratch);
    ope_cache_free(&evaluator->cache);
    free(evaluator->key);
    free(evaluator->room);
    free(evaluator->drawn);
    free(evaluator);
}

/* ---- memory */

static double *take_room(oltr_ope_evaluator *e, size_t n, oltr_error *error)
{
    if (n > e->room_n) {
        double *room = realloc(e->room, n * sizeof *room);
        if (!room) {
            set_error(error, OLTR_ENOMEM, "no memory for %zu chances", n);
            return NULL;
        }
        e->room = room;
        e->room_n = n;
    }
    return e->room;
}

static uint32_t *take_list(oltr_ope_evaluator *e, uint32_t k, oltr_error *error)
{
    if (k > e->drawn_n) {
        uint32_t *drawn = realloc(e->drawn, k * sizeof *drawn);
        if (!drawn) {
            set_error(error, OLTR_ENOMEM, "no memory for a list of %u", k);
            return NULL;
        }
        e->drawn = drawn;
        e->drawn_n = k;
    }
    return e->drawn;
}

/* ---- keys: what the chances depend on */

static bool add_key(oltr_ope_evaluator *e, const void *bytes, size_t size)
{
    if (e->key_room - e->key_size < size) {
        size_t room = 2 * e->key_room + size + 256;
        unsigned char *key = realloc(e->key, room);
        if (!key)
            return false;
        e->key = key;
        e->key_room = room;
    }
    memcpy(e->key + e->key_size, bytes, size);
    e->key_size += size;
    return true;
}

static bool add_candidates(oltr_ope_evaluator *e, const oltr_list *list)
{
    uint32_t dim = oltr_model_settings_of(e->model)->policy.dim;
    size_t stride = list->stride > 0 ? list->stride : dim;
    bool good = add_key(e, &list->n, sizeof list->n);
    for (uint32_t i = 0; good && list->name && i < list->n; i++)
        good = add_key(e, &list->name[i].size, sizeof list->name[i].size) &&
               add_key(e, list->name[i].bytes, list->name[i].size);
    for (uint32_t i = 0; good && list->x && i < list->n; i++)
        good = add_key(e, list->x + i * stride, dim * sizeof *list->x);
    return good;
}

/* The candidates and the slots; then what was shown. */
static oltr_status make_key(oltr_ope_evaluator *e, const oltr_ope_shown *shown, oltr_error *error)
{
    e->key_size = 0;
    bool good = add_key(e, &shown->k, sizeof shown->k) && add_candidates(e, &shown->candidates);
    e->key_candidates = e->key_size;
    good = good && add_key(e, shown->place, shown->k * sizeof *shown->place);
    return good ? OLTR_OK : set_error(error, OLTR_ENOMEM, "out of memory");
}

/* ---- exactly */

/* What is kept: the key ends with one of these. */
enum { OF_SLOTS = 's', OF_PREFIX = 'p', OF_NEXT = 'n' };

typedef struct exact_call {
    oltr_ope_evaluator *e;
    const oltr_ope_shown *shown;
    uint32_t n; /* candidates */
    oltr_error *error;
} exact_call;

static oltr_status compute(const exact_call *c, char what, double *out)
{
    const oltr_ope_shown *s = c->shown;
    oltr_ope_evaluator *e = c->e;
    if (what == OF_SLOTS)
        return oltr_model_slot_propensity(e->model, &s->candidates, s->k, e->policy.greedy,
                                          e->scratch, out, c->error);
    if (what == OF_NEXT)
        return oltr_model_next_propensity(e->model, &s->candidates, s->place, s->k,
                                          e->policy.greedy, e->scratch, out, c->error);
    return oltr_model_list_propensity(e->model, &s->candidates, s->place, s->k, e->policy.greedy,
                                      e->scratch, out, c->error);
}

/* The numbers of one kind for this list, kept or computed: valid until the next call. */
static const double *exact_numbers(const exact_call *c, char what, oltr_status *status)
{
    oltr_ope_evaluator *e = c->e;
    char key_end = what;
    size_t n = what == OF_PREFIX ? c->shown->k : (size_t)c->shown->k * c->n;
    *status = make_key(e, c->shown, c->error);
    if (*status != OLTR_OK)
        return NULL;
    if (what == OF_SLOTS)
        e->key_size = e->key_candidates;
    if (!add_key(e, &key_end, 1)) {
        *status = set_error(c->error, OLTR_ENOMEM, "out of memory");
        return NULL;
    }
    const double *kept = ope_cache_find(&e->cache, e->key, e->key_size);
    if (kept)
        return kept;
    double *room = take_room(e, n, c->error);
    *status = room ? compute(c, what, room) : OLTR_ENOMEM;
    if (*status != OLTR_OK)
        return NULL;
    ope_cache_keep(&e->cache, e->key, e->key_size, room, n);
    return room;
}

static oltr_status exact_slots(const exact_call *c, const oltr_ope_chances *out)
{
    const oltr_ope_shown *s = c->shown;
    oltr_status status;
    const double *chance = exact_numbers(c, OF_SLOTS, &status);
    for (uint32_t l = 0; chance && out->slot && l < s->k; l++)
        out->slot[l] = fmin(chance[(size_t)l * c->n + s->place[l]], 1);
    double below = 0; /* what is expected of the slots below l */
    for (uint32_t l = s->k; chance && out->q && l-- > 0;) {
        out->q[l] = s->rate[(size_t)l * c->n + s->place[l]] + below;
        out->v[l] = below;
        for (uint32_t j = 0; j < c->n; j++)
            below += chance[(size_t)l * c->n + j] * s->rate[(size_t)l * c->n + j];
    }
    return status;
}

/* Adds to v the mean over what follows; after exact_slots(). */
static oltr_status exact_next(const exact_call *c, const oltr_ope_chances *out)
{
    const oltr_ope_shown *s = c->shown;
    oltr_status status;
    const double *chance = exact_numbers(c, OF_NEXT, &status);
    double before = 1;
    for (uint32_t l = 0; chance && l < s->k; l++) {
        const double *row = chance + (size_t)l * c->n;
        double sum = 0;
        for (uint32_t j = 0; j < c->n; j++)
            sum += row[j] * s->rate[(size_t)l * c->n + j];
        out->v[l] = before > 0 ? out->v[l] + sum / before : 0;
        before = row[s->place[l]];
        if (out->prefix)
            out->prefix[l] = before;
    }
    return status;
}

/* Rounding may let a chance rise by its last digits. */
static void let_fall(double *prefix, uint32_t k)
{
    for (uint32_t l = 1; l < k; l++)
        prefix[l] = fmin(prefix[l], prefix[l - 1]);
}

static oltr_status evaluate_exactly(const exact_call *c, const oltr_ope_chances *out)
{
    oltr_status status = out->slot || out->q ? exact_slots(c, out) : OLTR_OK;
    if (status == OLTR_OK && out->q)
        status = exact_next(c, out);
    else if (status == OLTR_OK && out->prefix) {
        const double *chance = exact_numbers(c, OF_PREFIX, &status);
        if (chance)
            memcpy(out->prefix, chance, c->shown->k * sizeof *chance);
    }
    if (status == OLTR_OK && out->prefix)
        let_fall(out->prefix, c->shown->k);
    return status;
}

/* ---- by draws */

/* One list; draw 0 is that of `match`. */
static oltr_status draw_list(const exact_call *c, uint32_t draw, uint32_t *list)
{
    oltr_rng rng = oltr_rng_make(c->e->policy.seed, c->shown->number);
    oltr_show show = {.k = c->shown->k, .greedy = c->e->policy.greedy, .place = list};
    return oltr_model_rank(c->e->model, &c->shown->candidates, oltr_rng_at(rng, 0, draw),
                           c->e->scratch, &show, c->error);
}

/* Sums over draws, (k) each. */
typedef struct draw_sums {
    double *prefix, *slot, *q, *v;
} draw_sums;

static void add_draw(const exact_call *c, const uint32_t *list, draw_sums *sums)
{
    const oltr_ope_shown *s = c->shown;
    uint32_t same = 0;
    while (same < s->k && list[same] == s->place[same])
        sums->prefix[same++]++;
    for (uint32_t l = 0; l < s->k; l++)
        sums->slot[l] += list[l] == s->place[l];
    double from = 0; /* predicted from slot l on */
    for (uint32_t l = s->k; s->rate && l-- > 0;) {
        from += s->rate[(size_t)l * c->n + list[l]];
        sums->q[l] += l < same ? from : 0;
        sums->v[l] += l <= same ? from : 0;
    }
}

static void give_shares(const exact_call *c, const draw_sums *sums, const oltr_ope_chances *out)
{
    double draws = c->e->policy.draws, before = draws;
    for (uint32_t l = 0; l < c->shown->k; l++) {
        double count = sums->prefix[l];
        if (out->q) {
            out->q[l] = count > 0 ? sums->q[l] / count : 0;
            out->v[l] = before > 0 ? sums->v[l] / before : 0;
        }
        if (out->prefix)
            out->prefix[l] = count / draws;
        if (out->slot)
            out->slot[l] = sums->slot[l] / draws;
        before = count;
    }
}

static oltr_status evaluate_by_draws(const exact_call *c, const oltr_ope_chances *out)
{
    uint32_t k = c->shown->k, *list = take_list(c->e, k, c->error);
    double *room = list ? take_room(c->e, 4 * (size_t)k, c->error) : NULL;
    if (!room)
        return OLTR_ENOMEM;
    draw_sums sums = {room, room + k, room + 2 * (size_t)k, room + 3 * (size_t)k};
    oltr_status status = OLTR_OK;
    memset(room, 0, 4 * (size_t)k * sizeof *room);
    for (uint32_t d = 1; status == OLTR_OK && d <= c->e->policy.draws; d++) {
        status = draw_list(c, d, list);
        if (status == OLTR_OK)
            add_draw(c, list, &sums);
    }
    if (status == OLTR_OK)
        give_shares(c, &sums, out);
    return status;
}

static oltr_status find_match(const exact_call *c, uint8_t *match)
{
    uint32_t *list = take_list(c->e, c->shown->k, c->error);
    oltr_status status = list ? draw_list(c, 0, list) : OLTR_ENOMEM;
    if (status == OLTR_OK)
        *match = memcmp(list, c->shown->place, c->shown->k * sizeof *list) == 0;
    return status;
}

/* ---- the call */

static oltr_status check_shown(const oltr_ope_shown *shown, uint32_t n, oltr_error *error)
{
    if (reserved_check("a list", shown->reserved32, shown->reserved, sizeof shown->reserved,
                       error) != OLTR_OK)
        return OLTR_EINVAL;
    if (!shown->place || shown->k < 1 || shown->k > n)
        return set_error(error, OLTR_ESLOTS, "what was shown must be 1 to %u places, not %u", n,
                         shown->place ? shown->k : 0);
    for (uint32_t l = 0; l < shown->k; l++) {
        if (shown->place[l] >= n)
            return set_error(error, OLTR_EITEM, "slot %u: place %u is not below the %u candidates",
                             l + 1, shown->place[l], n);
        for (uint32_t above = 0; above < l; above++)
            if (shown->place[above] == shown->place[l])
                return set_error(error, OLTR_EITEM, "slots %u and %u show the same candidate",
                                 above + 1, l + 1);
    }
    for (size_t i = 0; shown->rate && i < (size_t)shown->k * n; i++)
        if (!isfinite(shown->rate[i]))
            return set_error(error, OLTR_EVALUE, "a predicted reward must be a finite number");
    return OLTR_OK;
}

oltr_status oltr_ope_evaluate(oltr_ope_evaluator *evaluator, const oltr_ope_shown *shown,
                              const oltr_ope_chances *out, oltr_error *error)
{
    if (!evaluator || !shown || !out)
        return set_error(error, OLTR_EINVAL,
                         "an evaluator, a list and room for chances are needed");
    if (!out->q != !out->v || (out->q && !shown->rate))
        return set_error(error, OLTR_EINVAL,
                         "q and v are computed together, from predicted rewards");
    if (reserved_check("chances", 0, out->reserved, sizeof out->reserved, error) != OLTR_OK)
        return OLTR_EINVAL;
    const oltr_list *from = &shown->candidates;
    uint32_t n = from->name || from->x ? from->n : oltr_model_items(evaluator->model);
    oltr_status status = check_shown(shown, n, error);
    exact_call call = {evaluator, shown, n, error};
    if (status == OLTR_OK && (out->prefix || out->slot || out->q))
        status = evaluator->policy.draws > 0 ? evaluate_by_draws(&call, out)
                                             : evaluate_exactly(&call, out);
    return status == OLTR_OK && out->match ? find_match(&call, out->match) : status;
}
