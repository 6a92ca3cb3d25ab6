/* pbm_ucb.c - PBM-UCB: Lagree, Vernade and Cappe (NeurIPS 2016).
 *
 * Model.  A user examines slot l with the known chance kappa_l (examination.h) and clicks an
 * examined item i with chance nu_i: a slot without a click was perhaps not examined.
 *
 * State.  Of every item N showings, S clicks, and E, the sum of the kappa of the slots in which it
 * was shown: how often it was examined, on average.
 *
 * Rule.  Rank by
 *     S/E + sqrt(N/E) sqrt((1 + eps) log t / (2 E)),
 * where N/E accounts for the larger variance of clicks in slots that are rarely examined.  The
 * largest index gets the slot with the largest kappa, and so on.  Items never shown come first.
 * With every kappa 1 it is the index of UCB1 with the width (1 + eps)/2.
 *
 * Cost.  One square root for each item; learning is O(1) per shown item.
 */
#include "engine/policy/examination.h"
#include "engine/policy/item_policy.h"

enum { P_EPS, P_DECAY, N_PARAMS = P_DECAY + EXAMINE_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"eps", OLTR_REAL, 0, 0, 1e6, NULL, "the width of the confidence bound is (1 + eps) log t"},
    EXAMINE_PARAM_ROWS,
};

typedef struct pbm_ucb_state {
    item_sums sums;  /* first: see item_policy.h */
    size_t expected; /* (n_items) doubles: E */
    size_t rate;     /* (n_items) doubles: S/E, derived; infinite of unseen items */
    size_t spread;   /* (n_items) doubles: N / (2 E^2), derived */
    size_t bytes;
    double scale; /* 1 + eps */
    examination examine;
} pbm_ucb_state;

static pbm_ucb_state plan(const oltr_settings *settings)
{
    const uint32_t n = settings->n_items;
    pbm_ucb_state p = {.scale = 1 + param(settings, P_EPS),
                       .examine = examination_of(settings, P_DECAY)};
    layout l = {align_up(sizeof p), false};
    p.sums = item_sums_plan(&l, n);
    p.expected = layout_take(&l, n, sizeof(double));
    p.rate = layout_take(&l, n, sizeof(double));
    p.spread = layout_take(&l, n, sizeof(double));
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static void refresh_item(pbm_ucb_state *p, uint32_t i)
{
    double n = doubles_at(p, p->sums.examined)[i], s = doubles_at(p, p->sums.reward)[i];
    double e = doubles_at(p, p->expected)[i];
    bool seen = item_is_seen(e);
    doubles_at(p, p->rate)[i] = seen ? s / e : INFINITY;
    doubles_at(p, p->spread)[i] = seen ? n / e / (2 * e) : 0;
}

static void refresh(void *state, uint64_t t)
{
    pbm_ucb_state *p = state;
    (void)t;
    for (uint32_t i = 0; i < p->sums.n_items; i++)
        refresh_item(p, i);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(pbm_ucb_state *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const pbm_ucb_state *p = state;
    double *index = scores_in(scratch, p->sums.n_items).score;
    const double *rate = doubles_at(p, p->rate), *spread = doubles_at(p, p->spread);
    double budget = p->scale * log((double)t);
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t i = candidate(from, j);
        index[j] = rate[i] + sqrt(budget * spread[i]);
    }
    show_placed(&p->examine, p->sums.n_items, from, rng, scratch, out);
    return OLTR_OK;
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    pbm_ucb_state *p = state;
    (void)t;
    item_policy_add(state, shown, seen);
    for (uint32_t i = 0; i < seen->n_examined; i++) {
        double kappa = examination_at(&p->examine, oltr_slot_of(from, i));
        doubles_at(p, p->expected)[shown->item[i]] += weight_of_slot(seen, i) * kappa;
        refresh_item(p, shown->item[i]);
    }
    return OLTR_OK;
}

static uint32_t list_sums(const void *state, sum_array out[MAX_SUMS])
{
    const pbm_ucb_state *p = state;
    uint32_t n = item_policy_sums(state, out);
    out[n] = (sum_array){"expected", doubles_at(p, p->expected), p->sums.n_items, NULL, 0};
    return n + 1;
}

static size_t min_saved_numbers(const oltr_settings *settings)
{
    return 3 * (size_t)settings->n_items;
}

/* E <= N needs no tolerance: see items.c. */
static oltr_status check_item(const void *state, uint64_t t, uint32_t i, oltr_error *error)
{
    const pbm_ucb_state *p = state;
    double n = doubles_at(p, p->sums.examined)[i], e = doubles_at(p, p->expected)[i];
    if (!(e >= 0 && e <= n))
        return set_error(error, OLTR_ESTATE,
                         "item %u: %g expected examinations in %g showings are impossible", i, e,
                         n);
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
        refresh_item(state, item);
    return status;
}

/* The share of clicks, at most 1, and a bound on its standard error: sum of kappa^2 >= E^2 / N. */
static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const pbm_ucb_state *p = state;
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t i = candidate(from, j);
        double n = doubles_at(p, p->sums.examined)[i], e = doubles_at(p, p->expected)[i];
        bool seen = item_is_seen(e);
        mean[j] = seen ? fmin(1, doubles_at(p, p->rate)[i]) : 0;
        if (sd)
            sd[j] = seen ? sqrt(mean[j] * fmax(0, 1 - mean[j] * (e / n)) / e) : 0.5;
    }
    return OLTR_OK;
}

const policy_ops pbm_ucb_ops = {
    .info = {.name = "pbm-ucb",
             .title = "PBM-UCB",
             .source = "Lagree, Vernade, Cappe: Multiple-Play Bandits in the Position-Based Model, "
                       "NeurIPS 2016",
             .summary = "Ranks by an upper confidence bound of every item's clicks over how often "
                        "its slots are examined.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO,
             .knows_slots = 1,
             .fixed_scores = 1,
             .n_params = N_PARAMS,
             .params = params},
    .state_bytes = state_bytes,
    .scratch_bytes = placed_bytes,
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
