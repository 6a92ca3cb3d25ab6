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
 */
#include "engine/policy/beta_policy.h"

/* Where a ranking keeps its scores: planned once, read every round. */
typedef struct ts_beta_scratch {
    size_t best, todo, bytes;
} ts_beta_scratch;

static ts_beta_scratch plan_scratch(uint32_t n_items)
{
    layout l = {padded(n_items) * sizeof(float), 0};
    ts_beta_scratch s = {.best = layout_take(&l, topk_room(n_items), sizeof(float))};
    s.todo = layout_take(&l, padded(n_items), sizeof(uint32_t));
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
    p.items = beta_items_plan(&l, n, takes_prior(settings));
    p.number = layout_take(&l, p.n_numbers * padded(n), sizeof(float));
    p.bytes = layout_bytes(&l);
    p.scratch = plan_scratch(n);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
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
        to[PA * stride] = number[PA][from];
        to[PB * stride] = number[PB][from];
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

static void refresh(void *state, uint64_t t)
{
    ts_beta_state *p = state;
    uint32_t n = p->items.sums.n_items;
    (void)t;
    p->n_powers = 0;
    memset(numbers_of(p, 0), 0, p->n_numbers * padded(n) * sizeof(float));
    for (uint32_t i = 0; i < n; i += TOGETHER) {
        uint32_t item[TOGETHER], m = n - i < TOGETHER ? n - i : TOGETHER;
        for (uint32_t j = 0; j < m; j++)
            item[j] = i + j;
        refresh_together(p, item, m);
    }
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    ts_beta_state *p = state;
    *p = plan(settings);
    oltr_status status = beta_init(state, settings, error);
    if (status == OLTR_OK)
        refresh(state, 1);
    return status;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    return plan_scratch(settings->n_items).bytes;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const ts_beta_state *p = state;
    beta_shapes shapes = {
        numbers_of(p, CA),        numbers_of(p, CB), numbers_of(p, DA), numbers_of(p, DB),
        numbers_of(p, LOG_DA_DB), numbers_of(p, PA), numbers_of(p, PB), p->n_powers};
    (void)t;
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
    return OLTR_OK;
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    oltr_status status = beta_renew(state, t, settings, item, error);
    (void)before;
    if (status == OLTR_OK)
        refresh_items(state, &item, 1);
    return status;
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
             .n_params = BETA_PARAMS,
             .params = beta_params},
    ITEM_POLICY_OPS,
    .state_bytes = state_bytes,
    .scratch_bytes = scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = learn,
    .refresh = refresh,
    .renew_item = renew_item,
    .check = check_clicks,
    .predict = beta_predict,
    .laws = laws,
};
