/* toprank.c - TopRank: Lattimore, Kveton, Li and Szepesvari (NeurIPS 2018).
 *
 * State.  For every pair of items: S_ij, how much oftener i was clicked than j while both were in
 * one block; N_ij, how often exactly one of them was; and the relation "i beats j".
 *
 * Rule.  Block 1 are the items beaten by no item, block 2 those beaten by items of block 1 only,
 * and so on.  Blocks fill the slots in order, each in a fresh uniform order: the score is minus the
 * block, and ties are broken at random.
 *
 * Learning.  A click on i counts against every unclicked j of its block, shown or not.  i beats j,
 * for good, once
 *     S_ij >= sqrt(2 N_ij log(c sqrt(N_ij) / delta)),
 *     c = 4 sqrt(2/pi) / erf(sqrt 2),    delta = 1/horizon.
 * (The paper prints c = 3.43; its own formula gives 3.3437.)
 *
 * The released code of the GTS paper has "i beats j" while S_ij > 2 sqrt((N_ij + 1) log(horizon)):
 * no edge is for good (rule: released).
 *
 * If the relation ever has a cycle, the items on it and behind it make one last block.
 *
 * Cost.  A click touches the pairs of one block, O(L); a new edge renews the blocks, O(L^2).  The
 * method needs O(L^2) memory.
 */
#include "engine/policy/candidate_scores.h"

enum { P_HORIZON, P_RULE, N_PARAMS };
enum { PRINTED, RELEASED };
static const char *const rules[] = {"printed", "released", NULL};
static const oltr_param params[N_PARAMS] = {
    {"horizon", OLTR_INTEGER, 10000, 2, 1e15, NULL,
     "the number of rounds it is made for; delta = 1/horizon"},
    {"rule", OLTR_CHOICE, PRINTED, 0, 1, rules,
     "when one item beats another: as printed, or as in the released code"},
};

typedef struct toprank_state {
    uint32_t n_items;
    size_t wins;      /* (pairs) doubles: S_ij, i < j */
    size_t decided;   /* (pairs) doubles: N_ij */
    size_t relation;  /* (pairs) doubles: 1 where i beats j, -1 where j beats i, else 0 */
    size_t block;     /* (n_items) words: the block of every item, derived */
    size_t partial;   /* (n_items) words: blocks of a subset, while it is learned from */
    size_t beaten_by; /* (n_items) words: room for partition() */
    size_t bytes;
    double log_scale; /* log(c / delta); released: log(horizon) */
    uint32_t rule;
} toprank_state;

static toprank_state plan(const oltr_settings *settings)
{
    double c = 4 * sqrt(2 / acos(-1)) / erf(sqrt(2)), log_horizon = log(param(settings, P_HORIZON));
    toprank_state p = {.n_items = settings->n_items, .rule = choice(settings, P_RULE)};
    size_t pairs = (size_t)p.n_items * (p.n_items - 1) / 2;
    layout l = {align_up(sizeof p), 0};
    p.wins = layout_take(&l, pairs, sizeof(double));
    p.decided = layout_take(&l, pairs, sizeof(double));
    p.relation = layout_take(&l, pairs, sizeof(double));
    p.block = layout_take(&l, p.n_items, sizeof(uint32_t));
    p.partial = layout_take(&l, p.n_items, sizeof(uint32_t));
    p.beaten_by = layout_take(&l, p.n_items, sizeof(uint32_t));
    p.bytes = layout_bytes(&l);
    p.log_scale = p.rule == RELEASED ? log_horizon : log(c) + log_horizon;
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return settings->n_items <= MOST_COMPARED_ITEMS ? plan(settings).bytes : 0;
}

/* The place of the pair {i, j}, and the sign of its antisymmetric entries as seen from i. */
static size_t pair_of(const toprank_state *p, uint32_t i, uint32_t j, double *sign)
{
    size_t low = i < j ? i : j, high = i < j ? j : i;
    *sign = i < j ? 1 : -1;
    return low * (2 * (size_t)p->n_items - low - 1) / 2 + (high - low - 1);
}

static bool beats(const toprank_state *p, uint32_t i, uint32_t j)
{
    double sign;
    size_t pair = pair_of(p, i, j, &sign);
    return doubles_at(p, p->relation)[pair] * sign > 0;
}

/* The block of each candidate: repeatedly remove the items that no remaining item beats. */
static void partition(const toprank_state *p, const candidates *from, uint32_t *beaten_by,
                      uint32_t *block)
{
    const uint32_t unplaced = UINT32_MAX;
    uint32_t placed = 0;
    for (uint32_t j = 0; j < from->n; j++) {
        block[j] = unplaced;
        beaten_by[j] = 0;
        for (uint32_t i = 0; i < from->n; i++)
            beaten_by[j] += i != j && beats(p, candidate(from, i), candidate(from, j));
    }
    for (uint32_t level = 0; placed < from->n; level++) {
        uint32_t before = placed;
        for (uint32_t j = 0; j < from->n; j++)
            if (block[j] == unplaced && beaten_by[j] == 0) {
                block[j] = level;
                placed++;
            }
        for (uint32_t j = 0; j < from->n; j++) {
            if (block[j] == unplaced && placed == before) { /* a cycle: all that is left */
                block[j] = level;
                placed = from->n;
            } else if (block[j] == level)
                for (uint32_t i = 0; i < from->n; i++)
                    beaten_by[i] -=
                        block[i] == unplaced && beats(p, candidate(from, j), candidate(from, i));
        }
    }
}

/* Zeros in the room of partition(): equal states have equal bytes. */
static void clear_room(toprank_state *p)
{
    memset(words_in(p, p->partial), 0, p->n_items * sizeof(uint32_t));
    memset(words_in(p, p->beaten_by), 0, p->n_items * sizeof(uint32_t));
}

static void refresh(void *state, uint64_t t)
{
    toprank_state *p = state;
    candidates all = {.n = p->n_items};
    (void)t;
    partition(p, &all, words_in(p, p->beaten_by), words_in(p, p->block));
    clear_room(p);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(toprank_state *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

typedef struct toprank_scratch {
    size_t block, beaten_by, bytes;
} toprank_scratch;

static toprank_scratch plan_scratch(uint32_t n_items)
{
    size_t best;
    layout l = scores_plan(n_items, &best);
    toprank_scratch s = {.block = layout_take(&l, n_items, sizeof(uint32_t))};
    s.beaten_by = layout_take(&l, n_items, sizeof(uint32_t));
    s.bytes = layout_bytes(&l);
    return s;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    return plan_scratch(settings->n_items).bytes;
}

static bool is_all(const toprank_state *p, const candidates *from)
{
    return !from->item && from->n == p->n_items;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const toprank_state *p = state;
    double_scores s = scores_in(scratch, p->n_items);
    toprank_scratch own = plan_scratch(p->n_items);
    const uint32_t *block = words_in(p, p->block);
    (void)t;
    if (!is_all(p, from)) {
        partition(p, from, words_in(scratch, own.beaten_by), words_in(scratch, own.block));
        block = words_in(scratch, own.block);
    }
    for (uint32_t j = 0; j < from->n; j++)
        s.score[j] = -(double)block[j];
    return show_best(s, from, rng, out);
}

/* True where the pair's sums, as seen from its first item, make it the winner. */
static bool wins_pair(const toprank_state *p, double wins, double decided)
{
    if (p->rule == RELEASED)
        return wins > 2 * sqrt((decided + 1) * p->log_scale);
    return decided > 0 && wins >= sqrt(2 * decided * (p->log_scale + 0.5 * log(decided)));
}

/* Counts a click on i against j; true when the relation changed. */
static bool count_against(toprank_state *p, uint32_t i, uint32_t j)
{
    double sign, *relation, before;
    size_t pair = pair_of(p, i, j, &sign);
    doubles_at(p, p->wins)[pair] += sign;
    doubles_at(p, p->decided)[pair] += 1;
    double wins = sign * doubles_at(p, p->wins)[pair], decided = doubles_at(p, p->decided)[pair];
    relation = &doubles_at(p, p->relation)[pair];
    before = *relation;
    if (wins_pair(p, wins, decided))
        *relation = before != 0 && p->rule == PRINTED ? before : sign;
    else if (p->rule == RELEASED)
        *relation = wins_pair(p, -wins, decided) ? -sign : 0;
    return *relation < before || *relation > before;
}

static bool was_clicked(const oltr_ranking *shown, const oltr_feedback *seen, uint32_t item)
{
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        if (shown->item[slot] == item)
            return seen->reward[slot] > 0;
    return false;
}

/* Counts the click in this slot against the rest of its block; true when the relation changed. */
static bool learn_click(toprank_state *p, const candidates *from, const uint32_t *block,
                        const oltr_ranking *shown, const oltr_feedback *seen, uint32_t slot)
{
    uint32_t clicked = shown->item[slot], place = row_of_item(from, clicked);
    bool changed = false;
    for (uint32_t j = 0; j < from->n; j++)
        if (block[j] == block[place] && j != place && !was_clicked(shown, seen, candidate(from, j)))
            changed |= count_against(p, clicked, candidate(from, j));
    return changed;
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    toprank_state *p = state;
    const uint32_t *block = words_in(p, p->block);
    bool changed = false;
    if (!is_all(p, from)) {
        partition(p, from, words_in(p, p->beaten_by), words_in(p, p->partial));
        block = words_in(p, p->partial);
    }
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        if (seen->reward[slot] > 0)
            changed |= learn_click(p, from, block, shown, seen, slot);
    if (changed)
        refresh(state, t);
    else if (!is_all(p, from))
        clear_room(p);
    return OLTR_OK;
}

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    const toprank_state *p = state;
    size_t pairs = (size_t)p->n_items * (p->n_items - 1) / 2;
    out[0] = (sum_array){"wins", doubles_at(p, p->wins), pairs, NULL};
    out[1] = (sum_array){"decided", doubles_at(p, p->decided), pairs, NULL};
    out[2] = (sum_array){"relation", doubles_at(p, p->relation), pairs, NULL};
    return 3;
}

static size_t min_saved_numbers(const oltr_settings *settings)
{
    return 3 * ((size_t)settings->n_items * (settings->n_items - 1) / 2);
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const toprank_state *p = state;
    (void)t;
    const double *wins = doubles_at(p, p->wins), *decided = doubles_at(p, p->decided),
                 *r = doubles_at(p, p->relation);
    for (size_t pair = 0; pair < (size_t)p->n_items * (p->n_items - 1) / 2; pair++) {
        bool known = fabs(r[pair]) < 0.5 ? r[pair] >= 0 && r[pair] <= 0
                                         : fabs(r[pair]) >= 1 && fabs(r[pair]) <= 1;
        if (!(isfinite(decided[pair]) && fabs(wins[pair]) <= decided[pair] && known))
            return set_error(
                error, OLTR_ESTATE,
                "pair %zu: %g wins in %g decided rounds with relation %g are impossible", pair,
                wins[pair], decided[pair], r[pair]);
    }
    return OLTR_OK;
}

const policy_ops toprank_ops = {
    .info =
        {.name = "toprank",
         .title = "TopRank",
         .source = "Lattimore, Kveton, Li, Szepesvari: TopRank: A Practical Algorithm for Online "
                   "Stochastic Ranking, NeurIPS 2018",
         .summary =
             "Sorts the items into blocks by pairwise comparisons and shuffles within the blocks.",
         .rewards = OLTR_CLICKS,
         .knows_slots = 1,
         .exact_copy = 1,
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
