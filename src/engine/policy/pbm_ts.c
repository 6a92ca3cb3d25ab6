/* pbm_ts.c - Thompson sampling in the position-based model (PBM-TS): the posterior of Lagree,
 * Vernade and Cappe (NeurIPS 2016) sampled exactly.
 *
 * Model.  A user examines slot l with the known chance kappa_l (examination.h), independently of
 * the other slots, and clicks an examined item i with chance nu_i.  So a slot without a click is
 * not a skip: it was perhaps not examined.
 *
 * State.  Of every item N showings, S clicks, and M_l showings without a click in slot l: of a
 * click it does not matter in which slot it was, as kappa_l is only a factor of the likelihood.
 * min(slots, 8) slots have sums of their own.  A miss in slot l behind the last of them, m, counts
 * there as kappa_l / kappa_m misses (rounded to a multiple of 2^-10, at most 1): the likelihood is
 * then right to first order in kappa theta.
 *
 * Rule.  Draw theta_i from the posterior (kernels/rate_kernels.h) for every item.  The largest
 * theta gets the slot with the largest kappa, and so on.
 *
 * With every kappa 1 the posterior is Beta(1 + S, 1 + N - S), and it is drawn as ts-beta draws it:
 * lists and scores are then those of ts-beta with its default prior, to the bit.
 *
 * Cost.  O(L) draws, eight at a time, whatever the number of slots is; learning derives the hats of
 * the shown items, four at a time.
 */
#include "engine/policy/beta_policy.h"
#include "engine/policy/examination.h"
#include "engine/posterior/biased_rate.h"

enum { P_SLOTS, P_DECAY, N_PARAMS = P_DECAY + EXAMINE_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"slots", OLTR_INTEGER, EXAMINE_SLOTS, 1, 1e6, NULL,
     "slots of the lists; the first 8 of them have sums of their own"},
    EXAMINE_PARAM_ROWS,
};

typedef struct pbm_ts_state {
    item_sums sums;      /* first: see item_policy.h */
    size_t missed;       /* (n_own, padded) doubles: M_l */
    size_t number, mode; /* of rate_items, derived; none where all is certain */
    size_t bytes;
    uint32_t n_own;
    examination examine;
} pbm_ts_state;

static pbm_ts_state plan(const oltr_settings *settings)
{
    const uint32_t n = settings->n_items;
    pbm_ts_state p = {.examine = examination_of(settings, P_DECAY)};
    double slots = param(settings, P_SLOTS);
    layout l = {align_up(sizeof p), false};
    p.n_own = slots < EXAMINE_SLOTS ? (uint32_t)slots : EXAMINE_SLOTS;
    p.sums = item_sums_plan(&l, n);
    p.missed = layout_take(&l, p.n_own * padded(n), sizeof(double));
    if (!p.examine.certain) {
        p.number = layout_take(&l, RATE_NUMBERS * padded(n), sizeof(float));
        p.mode = layout_take(&l, padded(n), sizeof(double));
    }
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

/* (n_items) M_l */
static double *missed_in(const pbm_ts_state *p, uint32_t slot)
{
    return doubles_at(p, p->missed) + slot * padded(p->sums.n_items);
}

static rate_items items_of(const pbm_ts_state *p)
{
    return (rate_items){.clicks = doubles_at(p, p->sums.reward),
                        .missed = doubles_at(p, p->missed),
                        .kappa = p->examine.kappa,
                        .n_slots = p->n_own,
                        .number = floats_at(p, p->number),
                        .mode = doubles_at(p, p->mode),
                        .stride = padded(p->sums.n_items)};
}

static void refresh_items(pbm_ts_state *p, const uint32_t *item, uint32_t n)
{
    if (p->examine.certain)
        return;
    rate_items items = items_of(p);
    KERNEL(rate_hats_of)(&items, item, n);
}

enum { BLOCK = 64 }; /* items that are refreshed by one call */

static void refresh(void *state, uint64_t t)
{
    pbm_ts_state *p = state;
    (void)t;
    for (uint32_t i = 0; i < p->sums.n_items; i += BLOCK) {
        uint32_t item[BLOCK], left = p->sums.n_items - i, n = left < BLOCK ? left : BLOCK;
        for (uint32_t j = 0; j < n; j++)
            item[j] = i + j;
        refresh_items(p, item, n);
    }
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(pbm_ts_state *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

/* ---- ranking */

/* The shapes of ts-beta, which are computed for each request: (5, padded) floats. */
enum { CA, CB, DA, DB, LOG_DA_DB, N_NUMBERS };

typedef struct pbm_ts_scratch {
    size_t number, todo, draws, best; /* of the draws as in ts-beta */
    size_t bytes;
} pbm_ts_scratch;

static pbm_ts_scratch plan_scratch(uint32_t n_items)
{
    layout l = placed_plan(n_items);
    pbm_ts_scratch s = {.number = layout_take(&l, N_NUMBERS * padded(n_items), sizeof(float))};
    s.todo = layout_take(&l, padded(n_items), sizeof(uint32_t));
    s.draws = layout_take(&l, padded(n_items), sizeof(float));
    s.best = layout_take(&l, topk_room(n_items), sizeof(float));
    s.bytes = layout_bytes(&l);
    return s;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    return plan_scratch(settings->n_items).bytes;
}

/* Every slot is examined: the lists of ts-beta. */
static void rank_certain(const pbm_ts_state *p, const candidates *from, const oltr_rng *rng,
                         void *scratch, const oltr_ranking *out)
{
    pbm_ts_scratch s = plan_scratch(p->sums.n_items);
    size_t stride = padded(p->sums.n_items);
    const double *n = doubles_at(p, p->sums.examined), *clicks = doubles_at(p, p->sums.reward);
    float *to = floats_at(scratch, s.number);
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t i = candidate(from, j);
        beta_shape b = beta_shape_of(1 + clicks[i], 1 + (n[i] - clicks[i]));
        to[CA * stride + i] = b.ca;
        to[CB * stride + i] = b.cb;
        to[DA * stride + i] = b.da;
        to[DB * stride + i] = b.db;
        to[LOG_DA_DB * stride + i] = b.log_da_db;
    }
    for (size_t k = 0; !from->item && k < N_NUMBERS; k++)
        memset(to + k * stride + from->n, 0, (stride - from->n) * sizeof *to);
    beta_shapes shapes = {to + CA * stride,
                          to + CB * stride,
                          to + DA * stride,
                          to + DB * stride,
                          to + LOG_DA_DB * stride,
                          NULL,
                          NULL,
                          0};
    rank_by_beta(rng, &shapes, from, words_in(scratch, s.todo), floats_at(scratch, s.draws),
                 floats_at(scratch, s.best), out);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const pbm_ts_state *p = state;
    (void)t;
    if (p->examine.certain) {
        rank_certain(p, from, rng, scratch, out);
        return OLTR_OK;
    }
    rate_items items = items_of(p);
    double *draw = scores_in(scratch, p->sums.n_items).score;
    KERNEL(rate_draws)(rng, &items, from->item, from->n, draw);
    show_placed(&p->examine, p->sums.n_items, from, rng, scratch, out);
    return OLTR_OK;
}

/* ---- learning */

/* How many misses of its array a miss in this slot counts for. */
static double miss_in(const pbm_ts_state *p, uint32_t slot, uint32_t *array)
{
    *array = slot < p->n_own ? slot : p->n_own - 1;
    if (slot < p->n_own)
        return 1;
    double ratio = examination_at(&p->examine, slot) / p->examine.kappa[*array];
    return fmin(1, fmax(1, rint(ratio * 1024)) / 1024);
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    pbm_ts_state *p = state;
    (void)t;
    item_policy_add(state, shown, seen);
    for (uint32_t i = 0; i < seen->n_examined; i++) {
        uint32_t array;
        double miss = miss_in(p, oltr_slot_of(from, i), &array);
        if (!(seen->reward[i] > 0))
            missed_in(p, array)[shown->item[i]] += weight_of_slot(seen, i) * miss;
    }
    refresh_items(p, shown->item, seen->n_examined);
    return OLTR_OK;
}

/* ---- what the engine asks of every policy */

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    static const char *const name[EXAMINE_SLOTS] = {"missed1", "missed2", "missed3", "missed4",
                                                    "missed5", "missed6", "missed7", "missed8"};
    const pbm_ts_state *p = state;
    uint32_t n = item_policy_sums(state, out);
    for (uint32_t slot = 0; slot < p->n_own; slot++)
        out[n++] = (sum_array){name[slot], missed_in(p, slot), p->sums.n_items, NULL, 0};
    return n;
}

static size_t min_saved_numbers(const oltr_settings *settings)
{
    return (2 + (size_t)plan(settings).n_own) * settings->n_items;
}

/* M <= N needs no tolerance: see items.c. */
static oltr_status check_item(const void *state, uint64_t t, uint32_t i, oltr_error *error)
{
    const pbm_ts_state *p = state;
    double n = doubles_at(p, p->sums.examined)[i];
    for (uint32_t slot = 0; slot < p->n_own; slot++) {
        double missed = missed_in(p, slot)[i];
        if (!(missed >= 0 && missed <= n))
            return set_error(error, OLTR_ESTATE,
                             "item %u: %g misses in slot %u of %g showings are impossible", i,
                             missed, slot + 1, n);
    }
    return item_sums_check_one(p, &p->sums, t, true, i, error);
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    return check_each_item(state, t, check_item, error);
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    oltr_status status = check_item(state, t, item, error);
    (void)settings, (void)before;
    if (status == OLTR_OK)
        refresh_items(state, &item, 1);
    return status;
}

static void predict_item(const pbm_ts_state *p, uint32_t i, double *mean, double *sd)
{
    double a = 1 + doubles_at(p, p->sums.reward)[i];
    double b = 1 + (doubles_at(p, p->sums.examined)[i] - doubles_at(p, p->sums.reward)[i]);
    if (p->examine.certain) {
        *mean = a / (a + b);
        *sd = beta_sd(a, b);
    } else {
        rate_items items = items_of(p);
        rate_moments(&items, i, mean, sd);
    }
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        double unread;
        predict_item(state, candidate(from, j), &mean[j], sd ? &sd[j] : &unread);
    }
    return OLTR_OK;
}

const policy_ops pbm_ts_ops = {
    .info = {.name = "pbm-ts",
             .title = "Thompson sampling in the position-based model (PBM-TS)",
             .source = "Lagree, Vernade, Cappe: Multiple-Play Bandits in the Position-Based Model, "
                       "NeurIPS 2016",
             .summary = "Samples every item's attraction given how likely each slot is examined, "
                        "and shows the largest samples.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO,
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
    .overflows = item_policy_overflows,
    .refresh = refresh,
    .renew_item = renew_item,
    .check = check,
    .predict = predict,
};
