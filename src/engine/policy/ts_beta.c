/* ts_beta.c - Thompson sampling with a Beta posterior (TS-Beta): Kveton, Meshi, Zoghi and Qin
 * (2022).
 *
 * Belief.  The attraction of item i is Beta(a_i + S_i, b_i + N_i - S_i).
 *
 * Rule.  Draw theta_i from it for every item, show the K largest.  With Beta(1,1) this is CTS, the
 * cascade Thompson sampling of Zhong, Cheung and Tan.
 *
 * The draw is a ratio of two gammas (Marsaglia and Tsang 2000) in float32, eight items at a time.
 * Items are ranked by the log-odds of theta, which has the same order but distinguishes values that
 * round to 0 or 1; the score that is shown is theta.
 *
 * Cost.  O(L) pairs of gammas; learning is O(1) per examined item.
 *
 * Millions of items (sampler: race).  The same law from other random numbers, in a time that hardly
 * grows with L: race/race.h.  It needs 4096 candidates, all items, a list of at most a 64th of
 * them, and priors whose shapes are at least 0.1; other requests sample every candidate.
 */
#include "engine/policy/beta_policy.h"
#include "engine/race/race.h"

enum { P_SAMPLER = BETA_PARAMS, N_PARAMS };
enum { GAMMAS, RACE };

static const char *const samplers[] = {"gammas", "race", NULL};
static const oltr_param params[N_PARAMS] = {
    BETA_PARAM_ROWS,
    {"sampler", OLTR_CHOICE, GAMMAS, 0, 1, samplers,
     "draw every item as a ratio of two gammas; race: the same law, for millions of items in "
     "microseconds"},
};

/* With fewer items there is no request that a race would serve, and no index. */
static bool has_race(const oltr_settings *settings)
{
    return choice(settings, P_SAMPLER) == RACE && settings->n_items >= RACE_LEAST_ITEMS;
}

/* Where a ranking keeps its scores: planned once, read every round. */
typedef struct ts_beta_scratch {
    size_t best, todo, bytes;
} ts_beta_scratch;

/* A race has its room from the beginning on. */
static ts_beta_scratch plan_scratch(uint32_t n_items, bool races)
{
    layout l = {padded(n_items) * sizeof(float), 0};
    ts_beta_scratch s = {.best = layout_take(&l, topk_room(n_items), sizeof(float))};
    s.todo = layout_take(&l, padded(n_items), sizeof(uint32_t));
    size_t room = races ? race_scratch_bytes(n_items) : 0;
    if (room > l.used)
        l.used = room;
    s.bytes = layout_bytes(&l);
    return s;
}

/* The arrays of beta_shapes; the powers are the last two. */
enum { CA, CB, DA, DB, LOG_DA_DB, PA, PB, N_NUMBERS };

typedef struct ts_beta_state {
    beta_items items; /* first: see beta_policy.h */
    size_t number;    /* (n_numbers, padded) floats of the sampler, derived */
    uint32_t n_numbers;
    uint32_t n_powers; /* items with a shape below 1, derived */
    uint32_t n_small;  /* priors with a shape below BETA_RACE_LEAST, derived */
    size_t small; /* (priors.n / 32 + 1) words: which they are, one bit each, derived; 0 without
                     a race */
    size_t race;  /* race_index, derived, behind all other arrays; 0 without one; while n_small is
                     not 0 it is not kept: no request reads it */
    size_t bytes;
    ts_beta_scratch scratch;
} ts_beta_state;

/* Observations add to the shapes.  So where all begin with at least 1 there are no powers. */
static bool has_powers(const oltr_settings *settings)
{
    return takes_prior(settings) || param(settings, BETA_A) < 1 || param(settings, BETA_B) < 1;
}

static ts_beta_state plan(const oltr_settings *settings)
{
    const uint32_t n = settings->n_items;
    ts_beta_state p = {.n_numbers = has_powers(settings) ? N_NUMBERS : PA};
    layout l = {sizeof p, 0};
    p.items = beta_plan(&l, settings);
    p.number = layout_take(&l, p.n_numbers * padded(n), sizeof(float));
    if (has_race(settings)) {
        p.small = layout_take(&l, p.items.priors.n / 32 + 1, sizeof(uint32_t));
        p.race = layout_take(&l, race_index_bytes(n), 1);
    }
    p.bytes = layout_bytes(&l);
    p.scratch = plan_scratch(n, has_race(settings));
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static race_index *index_of(const ts_beta_state *p)
{
    return (race_index *)(void *)((unsigned char *)p + p->race);
}

static race_items items_of(const ts_beta_state *p)
{
    return (race_items){.family = &beta_race,
                        .n_items = p->items.sums.n_items,
                        .common = p->items.priors.n == 1,
                        .n = doubles_at(p, p->items.sums.examined),
                        .s = doubles_at(p, p->items.sums.reward),
                        .a0 = doubles_at(p, p->items.a0),
                        .b0 = doubles_at(p, p->items.b0),
                        .step = {beta_race.step[0], beta_race.step[1]}};
}

/* The prior of an item may have changed. */
static void note_small_prior(ts_beta_state *p, uint32_t i)
{
    beta_pair prior = beta_prior(p, &p->items, i);
    uint32_t *word = &words_in(p, p->small)[item_prior_at(&p->items.priors, i) / 32];
    uint32_t bit = 1u << item_prior_at(&p->items.priors, i) % 32;
    bool was_small = *word & bit, is_small = prior.a < BETA_RACE_LEAST || prior.b < BETA_RACE_LEAST;
    if (was_small == is_small)
        return;
    *word ^= bit;
    p->n_small += is_small ? 1 : UINT32_MAX;
}

static void refresh_race(ts_beta_state *p)
{
    race_items items = items_of(p);
    memset(words_in(p, p->small), 0, (p->items.priors.n / 32 + 1) * sizeof(uint32_t));
    p->n_small = 0;
    for (uint32_t i = 0; i < p->items.priors.n; i++)
        note_small_prior(p, i);
    if (!p->n_small)
        race_build(index_of(p), &items);
}

static void move_items(ts_beta_state *p, const uint32_t *item, uint32_t n, uint32_t k)
{
    race_items items = items_of(p);
    if (!p->n_small)
        race_learned(index_of(p), &items, item, n, k);
}

/* The prior or the sums of an item have changed.  Without the last small prior there is an index
 * again. */
static void renew_in_race(ts_beta_state *p, uint32_t item)
{
    bool was_kept = !p->n_small;
    race_items items = items_of(p);
    note_small_prior(p, item);
    if (was_kept || p->n_small)
        move_items(p, &item, 1, index_of(p)->k);
    else
        race_build(index_of(p), &items);
}

/* NULL for powers that are not kept. */
static float *numbers_of(const ts_beta_state *p, uint32_t which)
{
    if (which >= p->n_numbers)
        return NULL;
    return floats_at(p, p->number) + which * padded(p->items.sums.n_items);
}

/* How many items are renewed by one call of the kernel.  It computes four in the time of one, and
 * a processor overlaps several fours. */
enum { TOGETHER = 4 * GRID_WIDTH };

/* A power that is 0 already is not written: the system provides a page when it is first written,
 * and where only one of the shapes is below 1 the other powers take no memory, 4 bytes an item. */
static void set_power(float *power, float value)
{
    if (*power != value)
        *power = value;
}

/* Stores the numbers of an item, place `from` of what the kernel computed. */
static void set_shape(ts_beta_state *p, uint32_t i, float number[N_NUMBERS][TOGETHER],
                      uint32_t from)
{
    const size_t stride = padded(p->items.sums.n_items);
    float *to = floats_at(p, p->number) + i;
    bool has_powers = number[PA][from] > 0 || number[PB][from] > 0;
    if (p->n_numbers == N_NUMBERS && (p->n_powers > 0 || has_powers)) { /* else all are 0 */
        p->n_powers -= to[PA * stride] > 0 || to[PB * stride] > 0;
        p->n_powers += has_powers;
        set_power(&to[PA * stride], number[PA][from]);
        set_power(&to[PB * stride], number[PB][from]);
    }
    for (uint32_t k = 0; k < PA; k++)
        to[k * stride] = number[k][from];
}

static void refresh_together(ts_beta_state *p, const uint32_t *item, uint32_t n)
{
    double a[TOGETHER], b[TOGETHER];
    float out[N_NUMBERS][TOGETHER];
    for (uint32_t j = 0; j < n; j++) {
        beta_pair q = beta_posterior(p, &p->items, item[j]);
        a[j] = q.a;
        b[j] = q.b;
    }
    for (uint32_t j = n; j % GRID_WIDTH != 0; j++)
        a[j] = b[j] = 1;
    KERNEL(beta_numbers_of)
    (a, b, n,
     &(beta_numbers){out[CA], out[CB], out[DA], out[DB], out[LOG_DA_DB], out[PA], out[PB]});
    for (uint32_t j = 0; j < n; j++)
        set_shape(p, item[j], out, j);
}

static void refresh_items(ts_beta_state *p, const uint32_t *item, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += TOGETHER)
        refresh_together(p, item + i, n - i < TOGETHER ? n - i : TOGETHER);
}

static void clear_powers(ts_beta_state *p)
{
    size_t n = (N_NUMBERS - PA) * padded(p->items.sums.n_items);
    for (size_t i = 0; p->n_powers > 0 && i < n; i++)
        set_power(&numbers_of(p, PA)[i], 0);
    p->n_powers = 0;
}

static void refresh(void *state, uint64_t t)
{
    ts_beta_state *p = state;
    uint32_t n = p->items.sums.n_items;
    (void)t;
    clear_powers(p);
    for (uint32_t i = 0; i < n; i += TOGETHER) {
        uint32_t item[TOGETHER], m = n - i < TOGETHER ? n - i : TOGETHER;
        for (uint32_t j = 0; j < m; j++)
            item[j] = i + j;
        refresh_together(p, item, m);
    }
    if (p->race)
        refresh_race(p);
}

/* More room is a new index: one pass is faster than moving every item with observations. */
static void carry(void *state, const void *from)
{
    (void)from;
    refresh(state, 1);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    ts_beta_state *p = state;
    *p = plan(settings);
    oltr_status status = beta_init(state, settings, error);
    if (p->race) {
        item_sums_touch(p, &p->items.sums);
        race_index_init(index_of(p), settings->n_items, settings->n_items / RACE_ITEMS_PER_SLOT);
    }
    if (status == OLTR_OK)
        refresh(state, 1);
    return status;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    return plan_scratch(settings->n_items, has_race(settings)).bytes;
}

/* The score that is shown is theta. */
static void rank_by_race(const ts_beta_state *p, const oltr_rng *rng, uint32_t n, void *scratch,
                         const oltr_ranking *out)
{
    race_items items = items_of(p);
    race_rank(index_of(p), &items, rng, n, out->k, scratch, out->item, out->score);
    for (uint32_t slot = 0; out->score && slot < out->k; slot++)
        out->score[slot] = 1 / (1 + exp(-out->score[slot]));
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const ts_beta_state *p = state;
    beta_shapes shapes = {
        numbers_of(p, CA),        numbers_of(p, CB), numbers_of(p, DA), numbers_of(p, DB),
        numbers_of(p, LOG_DA_DB), numbers_of(p, PA), numbers_of(p, PB), p->n_powers};
    (void)t;
    if (p->race && !p->n_small && !from->item && race_serves(index_of(p), from->n, out->k)) {
        rank_by_race(p, rng, from->n, scratch, out);
        return OLTR_OK;
    }
    rank_by_beta(rng, &shapes, from, words_in(scratch, p->scratch.todo), floats_at(scratch, 0),
                 floats_at(scratch, p->scratch.best), out);
    return OLTR_OK;
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    ts_beta_state *p = state;
    (void)t, (void)from;
    item_policy_add(state, shown, seen);
    refresh_items(p, shown->item, seen->n_examined);
    if (p->race)
        move_items(p, shown->item, seen->n_examined, shown->k);
    return OLTR_OK;
}

/* Everything but the index byte by byte, of the index the members of its cells. */
static int agrees(const void *state, const void *anew)
{
    const ts_beta_state *p = state, *q = anew;
    return memcmp(p, q, p->race ? p->race : p->bytes) == 0 &&
           (!p->race || p->n_small || race_index_agrees(index_of(p), index_of(q)));
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    ts_beta_state *p = state;
    oltr_status status = beta_renew(state, t, settings, item, error);
    (void)before;
    if (status != OLTR_OK)
        return status;
    refresh_items(p, &item, 1);
    if (p->race)
        renew_in_race(p, item);
    return OLTR_OK;
}

static oltr_law laws(const void *state, uint64_t t, uint32_t part, const candidates *from,
                     double *first, double *second)
{
    const ts_beta_state *p = state;
    (void)t, (void)part;
    for (uint32_t j = 0; j < from->n; j++) {
        beta_pair q = beta_posterior(p, &p->items, candidate(from, j));
        first[j] = q.a;
        second[j] = q.b;
    }
    return OLTR_LAW_BETA;
}

const policy_ops ts_beta_ops = {
    .info = {.name = "ts-beta",
             .title = "Thompson sampling with a Beta posterior (TS-Beta, CTS)",
             .source = "Kveton, Meshi, Zoghi, Qin: On the Value of Prior in Online Learning to "
                       "Rank, AISTATS 2022",
             .summary = "Samples every item's attraction from its Beta posterior and shows the "
                        "largest samples.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO,
             .uses_prior = 1,
             .n_params = N_PARAMS,
             .params = params},
    ITEM_POLICY_OPS,
    .state_bytes = state_bytes,
    .scratch_bytes = scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = learn,
    .refresh = refresh,
    .renew_item = renew_item,
    .check = check_clicks,
    .agrees = agrees,
    .carry = carry,
    .predict = beta_predict,
    .laws = laws,
};
