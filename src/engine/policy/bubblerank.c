/* bubblerank.c - BubbleRank: Li, Kveton, Lattimore, Markov, de Rijke, Szepesvari and Zoghi (UAI
 * 2019).
 *
 * State.  A base list of all items, at first in the order of the prior.  For every pair of items
 * s_ij, how much oftener i was clicked than j while the two were compared, and n_ij, how often
 * exactly one of them was.
 *
 * Rule.  In round t, with h = t mod 2, the slots 2k-1+h and 2k+h are a pair, k = 1, 2, ...  Of a
 * pair with i above j in the base list the two exchange places with chance 1/2, unless
 *     s_ij > 2 sqrt(n_ij log(1/delta)),   delta = horizon^-4,
 * when i is known to be better.  So a shown list differs from the base list by exchanges of
 * neighbours only.
 *
 * Learning.  Of the shown pairs of the round with exactly one click the sums are renewed; a slot
 * that was not examined counts as one without a click.  Then, from the top of the list, i and j
 * below it exchange places in the base list for good once s_ji > 2 sqrt(n_ij log(1/delta)).
 *
 * The paper has as many slots as items.  With more items than slots, a last slot without a partner
 * is paired with the next item of the base list: each of the two is shown with chance 1/2, and a
 * click on the shown one counts against the other, while the pair is undecided.
 *
 * Rounds.  Which slots were pairs follows from the number of the round, so that a list must be
 * learned before the next one is ranked, as experiments do.
 *
 * Cost.  A list of all items takes O(K); of a subset of n it selects the first of them in the base
 * list, O(n).  The pairs take 8 L^2 bytes.
 */
#include "engine/kernels/philox.h"
#include "engine/policy/candidate_scores.h"
#include "engine/posterior/item_prior.h"

enum { P_PRIOR, P_HORIZON, N_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"prior", OLTR_CHOICE, PRIOR_NONE, 0, 2, prior_choices,
     "whether the base list is at first in the order of the prior's means; mean and full are the "
     "same here, with none it is in the order of the items"},
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL,
     "the number of rounds it is made for; delta = horizon^-4"},
};

typedef struct bubblerank_state {
    uint32_t n_items;
    size_t wins;    /* (pairs) doubles: s_ij, i < j */
    size_t decided; /* (pairs) doubles: n_ij */
    size_t base;    /* (n_items) doubles: the item at each place of the base list */
    size_t place;   /* (n_items) words: the place of each item, derived */
    size_t first;   /* (n_items) words: the base list of a request, while learning; else 0 */
    size_t slots;   /* (n_items) words: the shown list, while learning; else 0 */
    size_t bytes;
    double scale; /* 4 log(1/delta) */
} bubblerank_state;

static size_t pairs_of(uint32_t n_items)
{
    return (size_t)n_items * (n_items - 1) / 2;
}

static bubblerank_state plan(const oltr_settings *settings)
{
    bubblerank_state p = {.n_items = settings->n_items};
    layout l = {align_up(sizeof p), false};
    p.wins = layout_take(&l, pairs_of(p.n_items), sizeof(double));
    p.decided = layout_take(&l, pairs_of(p.n_items), sizeof(double));
    p.base = layout_take(&l, p.n_items, sizeof(double));
    p.place = layout_take(&l, p.n_items, sizeof(uint32_t));
    p.first = layout_take(&l, p.n_items, sizeof(uint32_t));
    p.slots = layout_take(&l, p.n_items, sizeof(uint32_t));
    p.bytes = layout_bytes(&l);
    p.scale = 16 * log(param(settings, P_HORIZON));
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return settings->n_items <= MOST_COMPARED_ITEMS ? plan(settings).bytes : 0;
}

static uint32_t base_at(const bubblerank_state *p, uint32_t place)
{
    return (uint32_t)doubles_at(p, p->base)[place];
}

static void refresh(void *state, uint64_t t)
{
    bubblerank_state *p = state;
    (void)t;
    for (uint32_t place = 0; place < p->n_items; place++)
        words_in(p, p->place)[base_at(p, place)] = place;
}

/* ---- the first base list */

/* By falling means; of equal means the smaller item comes first. */
static bool comes_before(const oltr_prior *prior, double i, double j)
{
    double a = prior_mean(prior, (uint32_t)i), b = prior_mean(prior, (uint32_t)j);
    return a > b || (!(a < b) && i < j);
}

static void sift(double *heap, size_t n, size_t at, const oltr_prior *prior)
{
    double held = heap[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * child + 1) {
        if (child + 1 < n && comes_before(prior, heap[child], heap[child + 1]))
            child++;
        if (!comes_before(prior, held, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = held;
}

/* Heapsort, which takes no memory; the root of the heap is the last of the list. */
static void sort_base(double *base, size_t n, const oltr_prior *prior)
{
    for (size_t at = n / 2; at-- > 0;)
        sift(base, n, at, prior);
    for (size_t end = n; end-- > 1;) {
        double last = base[0];
        base[0] = base[end];
        base[end] = last;
        sift(base, end, 0, prior);
    }
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    bubblerank_state *p = state;
    bool told = choice(settings, P_PRIOR) != PRIOR_NONE;
    *p = plan(settings);
    oltr_status status = require_prior(settings, told, false, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < p->n_items; i++)
        doubles_at(p, p->base)[i] = i;
    if (told)
        sort_base(doubles_at(p, p->base), p->n_items, &settings->prior);
    refresh(state, 1);
    return OLTR_OK;
}

/* ---- the base list of a request */

/* The m candidates that come first in the base list, in its order. */
static void begin_list(const bubblerank_state *p, const candidates *from, uint32_t m, uint32_t *out)
{
    const uint32_t *place = words_in(p, p->place);
    bool all = !from->item && from->n == p->n_items;
    for (uint32_t j = 0, found = 0; j < from->n && !all; j++) {
        uint32_t one = place[candidate(from, j)], at = found;
        if (found == m && one > out[m - 1])
            continue;
        for (at -= found == m; at > 0 && out[at - 1] > one; at--)
            out[at] = out[at - 1];
        out[at] = one;
        found += found < m;
    }
    for (uint32_t at = 0; at < m; at++)
        out[at] = base_at(p, all ? at : out[at]);
}

/* How many of them matter to a list of k: one more than are shown, where there is one. */
static uint32_t begun(const candidates *from, uint32_t k)
{
    return k < from->n ? k + 1 : k;
}

/* ---- pairs */

/* The place of the pair {i, j}, and the sign of its wins as seen from i. */
static size_t pair_of(const bubblerank_state *p, uint32_t i, uint32_t j, double *sign)
{
    size_t low = i < j ? i : j, high = i < j ? j : i;
    *sign = i < j ? 1 : -1;
    return low * (2 * (size_t)p->n_items - low - 1) / 2 + (high - low - 1);
}

/* Whether i is known to be better than j; squares take the place of the root. */
static bool beats(const bubblerank_state *p, uint32_t i, uint32_t j)
{
    double sign;
    size_t pair = pair_of(p, i, j, &sign);
    double lead = sign * doubles_at(p, p->wins)[pair];
    return lead > 0 && lead * lead > p->scale * doubles_at(p, p->decided)[pair];
}

/* One of the two was clicked, and the other was not. */
static void count_win(bubblerank_state *p, uint32_t clicked, uint32_t other)
{
    double sign;
    size_t pair = pair_of(p, clicked, other, &sign);
    doubles_at(p, p->wins)[pair] += sign;
    doubles_at(p, p->decided)[pair] += 1;
}

/* ---- ranking */

static size_t scratch_bytes(const oltr_settings *settings)
{
    layout l = {0, false};
    layout_take(&l, settings->n_items, sizeof(uint32_t));
    return layout_bytes(&l);
}

/* Slots are numbered from 0: the first of a pair is h, h + 2, ...  The score is minus the slot; two
 * that may exchange places have that of the first. */
static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const bubblerank_state *p = state;
    uint32_t *first = words_in(scratch, 0), k = out->k, m = begun(from, k);
    begin_list(p, from, m, first);
    for (uint32_t slot = 0; out->score && slot < k; slot++)
        out->score[slot] = -(double)slot;
    for (uint32_t slot = t % 2; slot < k && slot + 1 < m; slot += 2) {
        uint32_t word[4], pair[2] = {first[slot], first[slot + 1]};
        if (beats(p, pair[0], pair[1]))
            continue;
        if (out->score && slot + 1 < k)
            out->score[slot + 1] = -(double)slot;
        words_at(rng, slot, 0, word);
        first[slot] = pair[word[0] >> 31]; /* a branch mispredicts every other time */
        first[slot + 1] = pair[~word[0] >> 31];
    }
    memcpy(out->item, first, k * sizeof *first);
    return OLTR_OK;
}

/* ---- learning */

/* 2 item + (1 where it was clicked) of each slot, at its number.  The list may be compacted. */
static void fill_slots(const candidates *from, const oltr_ranking *shown, const oltr_feedback *seen,
                       uint32_t *slots)
{
    for (uint32_t i = 0; i < shown->k; i++) {
        uint32_t clicked = i < seen->n_examined && seen->reward[i] > 0;
        slots[oltr_slot_of(from, i)] = 2 * shown->item[i] + clicked;
    }
}

static void learn_pair(bubblerank_state *p, uint32_t one, uint32_t other)
{
    if ((one & 1) > (other & 1))
        count_win(p, one / 2, other / 2);
    else if ((one & 1) < (other & 1))
        count_win(p, other / 2, one / 2);
}

/* The last slot, of which i or the next item of the base list j was shown. */
static void learn_last(bubblerank_state *p, uint32_t shown, uint32_t i, uint32_t j)
{
    if ((shown & 1) && (shown / 2 == i || shown / 2 == j) && !beats(p, i, j))
        count_win(p, shown / 2, shown / 2 == i ? j : i);
}

static void exchange(bubblerank_state *p, uint32_t i, uint32_t j)
{
    uint32_t *place = words_in(p, p->place), held = place[i];
    place[i] = place[j];
    place[j] = held;
    doubles_at(p, p->base)[place[i]] = i;
    doubles_at(p, p->base)[place[j]] = j;
}

/* From the top: items that are known to be better than the one above take its place. */
static void sweep(bubblerank_state *p, uint32_t *first, uint32_t m)
{
    for (uint32_t at = 0; at + 1 < m; at++) {
        uint32_t i = first[at], j = first[at + 1];
        if (!beats(p, j, i))
            continue;
        exchange(p, i, j);
        first[at] = j;
        first[at + 1] = i;
    }
}

/* t is the number of the next round, so that the list was that of the round before. */
static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    bubblerank_state *p = state;
    uint32_t *first = words_in(p, p->first), *slots = words_in(p, p->slots);
    uint32_t k = shown->k, m = begun(from, k);
    begin_list(p, from, m, first);
    fill_slots(from, shown, seen, slots);
    for (uint32_t slot = (t - 1) % 2; slot < k; slot += 2)
        if (slot + 1 < k)
            learn_pair(p, slots[slot], slots[slot + 1]);
        else if (slot + 1 < m)
            learn_last(p, slots[slot], first[slot], first[slot + 1]);
    sweep(p, first, m);
    memset(first, 0, m * sizeof *first);
    memset(slots, 0, k * sizeof *slots);
    return OLTR_OK;
}

/* ---- what the engine asks of every policy */

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    const bubblerank_state *p = state;
    size_t pairs = pairs_of(p->n_items);
    out[0] = (sum_array){"wins", doubles_at(p, p->wins), pairs, NULL, 0};
    out[1] = (sum_array){"decided", doubles_at(p, p->decided), pairs, NULL, 0};
    out[2] = (sum_array){"base", doubles_at(p, p->base), p->n_items, NULL, 0};
    return 3;
}

static size_t min_saved_numbers(const oltr_settings *settings)
{
    return 2 * pairs_of(settings->n_items) + settings->n_items;
}

static oltr_status check_pairs(const bubblerank_state *p, oltr_error *error)
{
    const double *wins = doubles_at(p, p->wins), *decided = doubles_at(p, p->decided);
    for (size_t pair = 0; pair < pairs_of(p->n_items); pair++)
        if (!(isfinite(decided[pair]) && fabs(wins[pair]) <= decided[pair]))
            return set_error(error, OLTR_ESTATE,
                             "pair %zu: %g wins in %g decided rounds are impossible", pair,
                             wins[pair], decided[pair]);
    return OLTR_OK;
}

/* Every item once. */
static oltr_status check_base(const bubblerank_state *p, oltr_error *error)
{
    uint8_t seen[MOST_COMPARED_ITEMS / 8 + 1] = {0};
    const double *base = doubles_at(p, p->base);
    for (uint32_t place = 0; place < p->n_items; place++) {
        double item = base[place];
        bool whole = item >= 0 && item < p->n_items && item >= rint(item) && item <= rint(item);
        uint32_t i = whole ? (uint32_t)item : 0;
        if (!whole || seen[i / 8] & 1u << i % 8)
            return set_error(error, OLTR_ESTATE,
                             "place %u of the base list has item %g: each of the %u items must "
                             "occur once",
                             place, item, p->n_items);
        seen[i / 8] |= (uint8_t)(1u << i % 8);
    }
    return OLTR_OK;
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    (void)t;
    oltr_status status = check_pairs(state, error);
    return status == OLTR_OK ? check_base(state, error) : status;
}

const policy_ops bubblerank_ops = {
    .info = {.name = "bubblerank",
             .title = "BubbleRank",
             .source = "Li, Kveton, Lattimore, Markov, de Rijke, Szepesvari, Zoghi: BubbleRank: "
                       "Safe Online Learning to Re-Rank via Implicit Click Feedback, UAI 2019",
             .summary = "Starts from the prior's list and improves it by exchanging neighbours "
                        "whose order clicks have decided.",
             .rewards = OLTR_CLICKS,
             .uses_prior = 1,
             .exact_copy = 1,
             .knows_slots = 1,
             .n_params = N_PARAMS,
             .params = params},
    .state_bytes = state_bytes,
    .scratch_bytes = scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = learn,
    .sums = list_sums,
    .min_saved_numbers = min_saved_numbers,
    .refresh = refresh,
    .check = check,
};
