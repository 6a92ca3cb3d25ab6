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
    size_t score, best, todo, bytes;
} ts_beta_scratch;

static ts_beta_scratch plan_scratch(uint32_t n_items)
{
    layout l = {0, 0};
    ts_beta_scratch s = {.score = layout_take(&l, padded(n_items), sizeof(float))};
    s.best = layout_take(&l, topk_room(n_items), sizeof(float));
    s.todo = layout_take(&l, padded(n_items), sizeof(uint32_t));
    s.bytes = layout_bytes(&l);
    return s;
}

typedef struct ts_beta_state {
    beta_items items; /* first: see beta_policy.h */
    /* (padded) floats of the sampler, derived: see beta_shapes */
    size_t ca, cb, da, db, log_da_db, pa, pb;
    uint32_t n_powers; /* items with a shape below 1, derived */
    size_t bytes;
    ts_beta_scratch scratch;
} ts_beta_state;

static ts_beta_state plan(uint32_t n_items)
{
    ts_beta_state p = {.n_powers = 0};
    layout l = {align_up(sizeof p), 0};
    p.items = beta_items_plan(&l, n_items);
    p.ca = layout_take(&l, padded(n_items), sizeof(float));
    p.cb = layout_take(&l, padded(n_items), sizeof(float));
    p.da = layout_take(&l, padded(n_items), sizeof(float));
    p.db = layout_take(&l, padded(n_items), sizeof(float));
    p.log_da_db = layout_take(&l, padded(n_items), sizeof(float));
    p.pa = layout_take(&l, padded(n_items), sizeof(float));
    p.pb = layout_take(&l, padded(n_items), sizeof(float));
    p.bytes = layout_bytes(&l);
    p.scratch = plan_scratch(n_items);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings->n_items).bytes;
}

/* How many items are renewed by one call of the kernel.  It computes four in the time of one, and
 * a processor overlaps several fours. */
enum { TOGETHER = 4 * GRID_WIDTH };

/* Stores the numbers of an item, place `from` of what the kernel computed. */
static void set_shape(ts_beta_state *p, uint32_t i, float number[7][TOGETHER], uint32_t from)
{
    float *pa = floats_at(p, p->pa), *pb = floats_at(p, p->pb);
    p->n_powers -= pa[i] > 0 || pb[i] > 0;
    p->n_powers += number[5][from] > 0 || number[6][from] > 0;
    floats_at(p, p->ca)[i] = number[0][from];
    floats_at(p, p->cb)[i] = number[1][from];
    floats_at(p, p->da)[i] = number[2][from];
    floats_at(p, p->db)[i] = number[3][from];
    floats_at(p, p->log_da_db)[i] = number[4][from];
    pa[i] = number[5][from];
    pb[i] = number[6][from];
}

static void refresh_together(ts_beta_state *p, const uint32_t *item, uint32_t n)
{
    double a[TOGETHER], b[TOGETHER];
    float out[7][TOGETHER];
    for (uint32_t j = 0; j < n; j++) {
        beta_items_refresh(p, &p->items, item[j]);
        a[j] = doubles_at(p, p->items.a)[item[j]];
        b[j] = doubles_at(p, p->items.b)[item[j]];
    }
    for (uint32_t j = n; j % GRID_WIDTH != 0; j++)
        a[j] = b[j] = 1;
    KERNEL(beta_numbers_of)
    (a, b, n, &(beta_numbers){out[0], out[1], out[2], out[3], out[4], out[5], out[6]});
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
    (void)t;
    p->n_powers = 0;
    for (uint32_t i = 0; i < p->items.sums.n_items; i++) {
        floats_at(p, p->pa)[i] = floats_at(p, p->pb)[i] = 0;
        refresh_items(p, &i, 1);
    }
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    ts_beta_state *p = state;
    *p = plan(settings->n_items);
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
        floats_at(p, p->ca),        floats_at(p, p->cb), floats_at(p, p->da), floats_at(p, p->db),
        floats_at(p, p->log_da_db), floats_at(p, p->pa), floats_at(p, p->pb), p->n_powers};
    (void)t;
    rank_by_beta(rng, &shapes, from, words_in(scratch, p->scratch.todo),
                 floats_at(scratch, p->scratch.score), floats_at(scratch, p->scratch.best), out);
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
        uint32_t i = candidate(from, j);
        first[j] = doubles_at(p, p->items.a)[i];
        second[j] = doubles_at(p, p->items.b)[i];
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
