/* epsilon_greedy.c - epsilon-greedy lists: the items with the largest click rates, and a random
 * item in a share epsilon of the slots.
 *
 * Rule.  The rate of an item is
 *     r_i = (S_i + looks start) / (N_i + looks),
 * and `start` while it was never examined.  The list is filled slot after slot: with chance 1 -
 * epsilon by the candidate with the largest rate that is not in the list yet, with chance epsilon
 * by any candidate that is not in the list yet, all equally likely.  Ties of the rate are broken
 * uniformly.  start: 0 and looks: 1, the defaults, are the greedy rule S/(N + 1) of the released
 * code of the GTS paper, with exploration.
 *
 * For one item the rule is that of textbooks (Sutton and Barto).  For lists, each slot explores by
 * itself, as Hofmann, Whiteson and de Rijke (2013) have it: a page then always has most of its good
 * items.  To explore with a whole list instead, mix this policy with `random`.
 *
 * Scores.  The score of a slot is the largest rate that is left for it; an explored item has a
 * smaller rate than that, or the same.
 *
 * Draw.  A word of the generator for each slot says whether it explores.  What explored slots show
 * is drawn by a fork of the generator, so that it is independent of the ties.  An item that is
 * already shown is drawn again: less than one draw more for each explored slot while the list is at
 * most half of the candidates.
 *
 * Cost.  Items of one rate are a class (click_rate.h), so that a short list of many items takes one
 * pass over the different rates.
 */
#include "engine/kernels/philox.h"
#include "engine/policy/click_rate.h"

enum { P_EPSILON, P_START, P_LOOKS, N_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"epsilon", OLTR_REAL, 0.1, 0, 1, NULL,
     "the chance of a slot to show any candidate instead of the best one"},
    {"start", OLTR_REAL, 0, 0, 1, NULL, "the click rate of an item that was never examined"},
    {"looks", OLTR_REAL, 1, 0, 1e6, NULL,
     "how many observations `start` counts for; 0: the rate is the share of clicks"},
};

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    double start = param(settings, P_START), looks = param(settings, P_LOOKS);
    (void)error;
    return click_rate_init(state, settings,
                           (click_rate_state){.unseen = start,
                                              .added_clicks = start * looks,
                                              .added_looks = looks,
                                              .by_rate = 1,
                                              .alpha = param(settings, P_EPSILON)});
}

/* ---- ranking */

/* In the scratch, which the list of the best does not need any more. */
typedef struct explore_room {
    size_t best;  /* (n_items) words: the best candidates, best first */
    size_t where; /* (n_items) words: the slot of a candidate that is in the list; else anything */
    size_t rate;  /* (n_items) doubles: of the best, where scores are asked for */
} explore_room;

static layout plan_room(uint32_t n_items, explore_room *room)
{
    layout l = {0, false};
    room->best = layout_take(&l, n_items, sizeof(uint32_t));
    room->where = layout_take(&l, n_items, sizeof(uint32_t));
    room->rate = layout_take(&l, n_items, sizeof(double));
    return l;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    explore_room room;
    layout l = plan_room(settings->n_items, &room);
    size_t own = layout_bytes(&l), ranking = click_rate_scratch_bytes(settings);
    return own && ranking && own > ranking ? own : ranking;
}

/* A list that is being filled. */
typedef struct mixed_list {
    uint32_t *place, filled; /* candidates, by their places */
    uint32_t *where;
} mixed_list;

static bool is_shown(const mixed_list *list, uint32_t place)
{
    uint32_t slot = list->where[place];
    return slot < list->filled && list->place[slot] == place;
}

static void show(mixed_list *list, uint32_t place)
{
    list->where[place] = list->filled;
    list->place[list->filled++] = place;
}

/* The slots 4m..4m+3 have the words of one counter. */
typedef struct slot_coins {
    uint32_t word[4];
} slot_coins;

static bool explores(const click_rate_state *p, const oltr_rng *rng, uint32_t slot,
                     slot_coins *coins)
{
    if (slot % 4 == 0)
        words_at(rng, slot / 4, 0, coins->word);
    return uniform_of_word(coins->word[slot % 4]) < p->alpha;
}

static bool any_explores(const click_rate_state *p, const oltr_rng *rng, uint32_t k)
{
    slot_coins coins = {{0}};
    bool any = false;
    for (uint32_t slot = 0; slot < k && !any; slot++)
        any = explores(p, rng, slot, &coins);
    return any;
}

static uint32_t any_left(oltr_rng *rng, const mixed_list *list, uint32_t n)
{
    uint32_t place = oltr_rng_below(rng, n);
    while (is_shown(list, place))
        place = oltr_rng_below(rng, n);
    return place;
}

/* Replaces slots of a list of the best places.  Of the first s + 1 of the best one is left for slot
 * s, so that no other is needed. */
static void explore(const click_rate_state *p, uint32_t n, const oltr_rng *rng, void *scratch,
                    const oltr_ranking *out)
{
    oltr_rng own = oltr_rng_fork(*rng, 0);
    slot_coins coins = {{0}};
    explore_room room;
    plan_room(p->sums.n_items, &room);
    uint32_t *best = words_in(scratch, room.best), next = 0;
    double *rate = doubles_at(scratch, room.rate);
    mixed_list list = {.place = out->item, .where = words_in(scratch, room.where)};
    memcpy(best, out->item, out->k * sizeof *best);
    if (out->score)
        memcpy(rate, out->score, out->k * sizeof *rate);
    while (list.filled < out->k) {
        while (is_shown(&list, best[next]))
            next++;
        if (out->score)
            out->score[list.filled] = rate[next];
        bool any = explores(p, rng, list.filled, &coins);
        show(&list, any ? any_left(&own, &list, n) : best[next]);
    }
}

static void indices(const rate_clock *clock, const double *rate, const double *weight, uint32_t n,
                    double *restrict index)
{
    (void)clock, (void)weight;
    memcpy(index, rate, n * sizeof *index);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const click_rate_state *p = state;
    rate_clock clock = {.bound = 0};
    (void)t;
    click_rate_best(p, indices, &clock, from, rng, scratch, out);
    if (p->alpha > 0 && any_explores(p, rng, out->k))
        explore(p, from->n, rng, scratch, out);
    places_to_items(from, out);
    return OLTR_OK;
}

/* The rate, and its binomial standard error. */
static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const click_rate_state *p = state;
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t i = candidate(from, j);
        double n = doubles_at(p, p->sums.examined)[i] + p->added_looks;
        mean[j] = click_rate_of(p, i);
        if (sd)
            sd[j] = item_is_seen(n) ? fmin(0.5, sqrt(mean[j] * (1 - mean[j]) / n)) : 0.5;
    }
    return OLTR_OK;
}

const policy_ops epsilon_greedy_ops = {
    .info = {.name = "epsilon-greedy",
             .title = "Epsilon-greedy",
             .source = "Hofmann, Whiteson, de Rijke: Balancing Exploration and Exploitation in "
                       "Listwise and Pairwise Online Learning to Rank, Information Retrieval 2013",
             .summary = "Shows the items with the largest click rates, and in a share of the slots "
                        "any other item.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO,
             .n_params = N_PARAMS,
             .params = params},
    ITEM_POLICY_OPS,
    .state_bytes = click_rate_bytes,
    .scratch_bytes = scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = click_rate_learn,
    .refresh = click_rate_refresh,
    .renew_item = click_rate_renew,
    .check = check_clicks,
    .agrees = click_rate_agrees,
    .predict = predict,
    .relative_scores = 1,
};
