/* ensemble.c - Ensemble: the fixed list by the prior, never learning (Kveton, Meshi, Zoghi and Qin
 * 2022).
 *
 * Rule.  Rank by the prior mean a/(a+b), or by its mode (a-1)/(a+b-2) where both shapes exceed 1
 * (rule: map).  The released code ranks by a alone (rule: released), which is the same order only
 * where a + b is the same for all items.  Without a prior all items tie.
 *
 * Millions of items.  A short list from all items does not look at every item, and is the same.
 * Items with equal scores are a class (race/classes.h), which serves priors with few distinct
 * values. Of priors with many, the best items are kept in order, at most TOP_ITEMS of them; a list
 * that would reach the last score of these, which items outside may have as well, looks at every
 * item. An item that is set anew takes its place in both.
 */
#include "engine/policy/no_learning.h"
#include "engine/race/class_rank.h"
#include "engine/posterior/item_prior.h"

enum { P_PRIOR, P_RULE, N_PARAMS };
enum { MEAN, MAP, RELEASED };
static const char *const rules[] = {"mean", "map", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"prior", OLTR_CHOICE, PRIOR_NONE, 0, 2, prior_choices,
     "whether there is a prior to rank by; mean and full are the same here, without one all items "
     "tie"},
    {"rule", OLTR_CHOICE, MEAN, 0, 2, rules,
     "rank by the prior's mean, by its mode, or by a as in the released code"},
};

/* More would make an item that is set anew slow: half of them are moved. */
enum { TOP_ITEMS = 4096 };

typedef struct ensemble_state {
    uint32_t n_items;
    uint32_t n_top;
    bool all_tie; /* without a prior */
    size_t score; /* (n_items) doubles */
    size_t top;   /* (TOP_ITEMS) words: the n_top best items, best first, equal ones by number;
                     derived; 0 with few items or without a prior */
    size_t class_score; /* (class_places) doubles, derived, as the classes where there is a top */
    size_t classes;     /* class_index */
    size_t bytes;
} ensemble_state;

static ensemble_state plan(const oltr_settings *settings)
{
    const uint32_t n_items = settings->n_items;
    ensemble_state p = {.n_items = n_items, .all_tie = choice(settings, P_PRIOR) == PRIOR_NONE};
    layout l = {align_up(sizeof p), 0};
    p.score = layout_take(&l, n_items, sizeof(double));
    if (n_items > TOP_ITEMS && !p.all_tie) {
        p.top = layout_take(&l, TOP_ITEMS, sizeof(uint32_t));
        p.class_score = layout_take(&l, class_places(n_items), sizeof(double));
        p.classes = layout_take(&l, class_index_bytes(n_items), 1);
    }
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    size_t scores = no_learning_scratch_bytes(settings),
           room = class_scratch_bytes(settings->n_items);
    return settings->n_items > TOP_ITEMS && room > scores ? room : scores;
}

static double score_of(const oltr_settings *settings, uint32_t i)
{
    if (choice(settings, P_PRIOR) == PRIOR_NONE)
        return 0.5;
    if (choice(settings, P_RULE) == MEAN)
        return prior_mean(&settings->prior, i);
    double a = prior_a(&settings->prior, i), b = prior_b(&settings->prior, i);
    if (choice(settings, P_RULE) == RELEASED)
        return a;
    return a > 1 && b > 1 ? (a - 1) / (a + b - 2) : a / (a + b);
}

/* ---- the best items in order */

static bool is_before(const ensemble_state *p, uint32_t a, uint32_t b)
{
    const double *score = doubles_at(p, p->score);
    return score[a] > score[b] || (score[a] >= score[b] && a < b);
}

/* A heap with the last of the best on top. */
static void sink(const ensemble_state *p, uint32_t *x, uint32_t at, uint32_t n)
{
    uint32_t moved = x[at];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_before(p, x[child], x[child + 1]))
            child++;
        if (!is_before(p, moved, x[child]))
            break;
        x[at] = x[child];
    }
    x[at] = moved;
}

static void build_top(ensemble_state *p)
{
    uint32_t *x = words_in(p, p->top), n = TOP_ITEMS;
    for (uint32_t i = 0; i < n; i++)
        x[i] = i;
    for (uint32_t i = n / 2; i-- > 0;)
        sink(p, x, i, n);
    for (uint32_t i = n; i < p->n_items; i++)
        if (is_before(p, i, x[0])) {
            x[0] = i;
            sink(p, x, 0, n);
        }
    for (uint32_t last = n; last-- > 1;) {
        uint32_t first = x[0];
        x[0] = x[last];
        x[last] = first;
        sink(p, x, 0, last);
    }
    p->n_top = n;
}

/* How many of the best come before an item. */
static uint32_t place_in_top(const ensemble_state *p, uint32_t item)
{
    uint32_t low = 0, high = p->n_top;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(p, words_in(p, p->top)[middle], item))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void leave_top(ensemble_state *p, uint32_t item)
{
    uint32_t *x = words_in(p, p->top), at = place_in_top(p, item);
    if (at == p->n_top || x[at] != item)
        return;
    memmove(x + at, x + at + 1, (p->n_top - at - 1) * sizeof *x);
    p->n_top--;
}

/* Behind the last of the best there may be others between it and the item. */
static void join_top(ensemble_state *p, uint32_t item)
{
    uint32_t *x = words_in(p, p->top), at = place_in_top(p, item);
    if (at < p->n_top) {
        p->n_top -= p->n_top == TOP_ITEMS;
        memmove(x + at + 1, x + at, (p->n_top - at) * sizeof *x);
        x[at] = item;
        p->n_top++;
    }
    if (p->n_top < TOP_ITEMS / 2)
        build_top(p);
}

/* ---- classes of equal scores */

static class_index *classes_of(const ensemble_state *p)
{
    return (class_index *)(void *)((unsigned char *)p + p->classes);
}

static class_key key_of(const void *state, uint32_t i)
{
    const ensemble_state *p = state;
    return (class_key){doubles_at(p, p->score)[i], 0};
}

static void derive_class(void *state, uint32_t place, class_key key)
{
    ensemble_state *p = state;
    doubles_at(p, p->class_score)[place] = key.a;
}

static bool rank_by_classes(const ensemble_state *p, uint32_t n, const oltr_rng *rng, void *scratch,
                            const oltr_ranking *out)
{
    const class_index *x = classes_of(p);
    if (!classes_serve(x, n, out->k))
        return false;
    memcpy(scratch, doubles_at(p, p->class_score), x->n_places * sizeof(double));
    return class_rank(x, rng, n, out->k, scratch, out->item, out->score);
}

/* ---- operations */

static void refresh(void *state, uint64_t t)
{
    ensemble_state *p = state;
    (void)t;
    if (!p->top)
        return;
    build_top(p);
    class_index_build(classes_of(p), &(class_owner){p, key_of, derive_class});
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    ensemble_state *p = state;
    *p = plan(settings);
    oltr_status status = require_prior(settings, choice(settings, P_PRIOR) != PRIOR_NONE,
                                       choice(settings, P_RULE) != MEAN, error);
    for (uint32_t i = 0; status == OLTR_OK && i < settings->n_items; i++)
        doubles_at(p, p->score)[i] = score_of(settings, i);
    if (p->classes)
        class_index_init(classes_of(p), settings->n_items);
    if (status == OLTR_OK)
        refresh(state, 1);
    return status;
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    ensemble_state *p = state;
    oltr_status status = require_item_prior(settings, choice(settings, P_PRIOR) != PRIOR_NONE,
                                            choice(settings, P_RULE) != MEAN, item, error);
    (void)t, (void)before;
    if (status != OLTR_OK)
        return status;
    if (p->top)
        leave_top(p, item);
    doubles_at(p, p->score)[item] = score_of(settings, item);
    if (p->top) {
        join_top(p, item);
        class_index_moved(classes_of(p), &(class_owner){p, key_of, derive_class}, &item, 1);
    }
    return OLTR_OK;
}

/* Of how many is known which are the best depends on the past. */
static int agrees(const void *state, const void *anew)
{
    const ensemble_state *p = state, *q = anew;
    uint32_t n = p->n_top < q->n_top ? p->n_top : q->n_top;
    return p->n_items == q->n_items && p->top == q->top &&
           memcmp(doubles_at(p, p->score), doubles_at(q, q->score), p->n_items * sizeof(double)) ==
               0 &&
           (!p->top ||
            (memcmp(words_in(p, p->top), words_in(q, q->top), n * sizeof(uint32_t)) == 0 &&
             class_index_agrees(classes_of(p), classes_of(q))));
}

/* ---- ranking */

/* Where the items that score as the best one at `from` end; and where those of them below n do. */
static uint32_t end_of_ties(const ensemble_state *p, uint32_t from, uint32_t n)
{
    const uint32_t *x = words_in(p, p->top);
    const double *score = doubles_at(p, p->score);
    uint32_t low = from, high = p->n_top;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (score[x[middle]] >= score[x[from]] && x[middle] < n)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The list from the best items; false where it would need others. */
static bool rank_from_top(const ensemble_state *p, uint32_t n, const oltr_rng *rng, uint32_t *room,
                          const oltr_ranking *out)
{
    const uint32_t *x = words_in(p, p->top);
    for (uint32_t from = 0, filled = 0, to; filled < out->k; from = to) {
        to = end_of_ties(p, from, UINT32_MAX);
        if (to == p->n_top)
            return false;
        uint32_t tied = end_of_ties(p, from, n) - from, left = out->k - filled;
        uint32_t take = tied < left ? tied : left;
        tied_ranks(rng, filled, tied, take, room, out->item + filled);
        for (uint32_t end = filled + take; filled < end; filled++) {
            out->item[filled] = x[from + out->item[filled]];
            if (out->score)
                out->score[filled] = doubles_at(p, p->score)[out->item[filled]];
        }
    }
    return true;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const ensemble_state *p = state;
    double_scores s = scores_in(scratch, p->n_items);
    (void)t;
    if (p->all_tie) {
        show_any(from, rng, scratch, doubles_at(p, p->score)[0], out);
        return OLTR_OK;
    }
    if (p->top && !from->item &&
        (rank_by_classes(p, from->n, rng, scratch, out) ||
         rank_from_top(p, from->n, rng, scratch, out)))
        return OLTR_OK;
    for (uint32_t j = 0; j < from->n; j++)
        s.score[j] = doubles_at(p, p->score)[candidate(from, j)];
    return show_best(s, from, rng, out);
}

const policy_ops ensemble_ops = {
    .info = {.name = "ensemble",
             .title = "Ensemble (the prior's own ranking)",
             .source = "Kveton, Meshi, Zoghi, Qin: On the Value of Prior in Online Learning to "
                       "Rank, AISTATS 2022",
             .summary = "Shows the fixed list of the prior and never learns.",
             NO_LEARNING_INFO,
             .fixed_scores = 1,
             .uses_prior = 1,
             .n_params = N_PARAMS,
             .params = params},
    NO_LEARNING_OPS,
    .refresh = refresh,
    .agrees = agrees,
    .state_bytes = state_bytes,
    .scratch_bytes = scratch_bytes,
    .init = init,
    .rank = rank,
    .renew_item = renew_item,
};
