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
 * Rule.  Draw theta_i from the posterior (biased_rate.h) for every item.  The largest theta gets
 * the slot with the largest kappa, and so on.
 *
 * With every kappa 1 the posterior is Beta(1 + S, 1 + N - S), and it is drawn as ts-beta draws it:
 * lists and scores are then those of ts-beta with its default prior, to the bit.
 *
 * Cost.  A draw takes a counter of the generator and half of the time a logarithm; two draws in
 * five also take a series for each slot.  It is repeated with a chance of 0.1 to 0.2.  Learning
 * renews the hat of each shown item, some 15 logarithms with 3 slots.
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
    item_sums sums;               /* first: see item_policy.h */
    size_t missed[EXAMINE_SLOTS]; /* (n_items) doubles each, of the first n_own: M_l */
    size_t hat;                   /* (n_items) rate_hat, derived; none where all is certain */
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
    for (uint32_t slot = 0; slot < p.n_own; slot++)
        p.missed[slot] = layout_take(&l, n, sizeof(double));
    p.hat = layout_take(&l, p.examine.certain ? 0 : n, sizeof(rate_hat));
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

/* Fewer observations count as none: they change no digit of the density. */
#define LEAST_COUNT 1e-100

static rate_hat *hat_of(const pbm_ts_state *p, uint32_t i)
{
    return (rate_hat *)(void *)((unsigned char *)p + p->hat) + i;
}

static biased_rate rate_of(const pbm_ts_state *p, uint32_t i)
{
    double clicks = doubles_at(p, p->sums.reward)[i];
    biased_rate r = {.clicks = clicks > LEAST_COUNT ? clicks : 0};
    for (uint32_t slot = 0; slot < p->n_own; slot++) {
        double missed = doubles_at(p, p->missed[slot])[i];
        if (missed > LEAST_COUNT) {
            r.missed[r.n] = missed;
            r.kappa[r.n++] = p->examine.kappa[slot];
        }
    }
    return r;
}

static void refresh_item(pbm_ts_state *p, uint32_t i)
{
    if (p->examine.certain)
        return;
    biased_rate r = rate_of(p, i);
    *hat_of(p, i) = rate_hat_of(&r);
}

static void refresh(void *state, uint64_t t)
{
    pbm_ts_state *p = state;
    (void)t;
    for (uint32_t i = 0; i < p->sums.n_items; i++)
        refresh_item(p, i);
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
    size_t item, score;               /* (n_items) a list before it is moved to the slots */
    size_t number, todo, draws, best; /* of the draws as in ts-beta */
    size_t words;                     /* (4, padded) */
    size_t bytes;
} pbm_ts_scratch;

static pbm_ts_scratch plan_scratch(uint32_t n_items)
{
    size_t best;
    layout l = scores_plan(n_items, &best);
    pbm_ts_scratch s = {.item = layout_take(&l, n_items, sizeof(uint32_t))};
    s.score = layout_take(&l, n_items, sizeof(double));
    s.number = layout_take(&l, N_NUMBERS * padded(n_items), sizeof(float));
    s.todo = layout_take(&l, padded(n_items), sizeof(uint32_t));
    s.draws = layout_take(&l, padded(n_items), sizeof(float));
    s.best = layout_take(&l, topk_room(n_items), sizeof(float));
    s.words = layout_take(&l, 4 * padded(n_items), sizeof(uint32_t));
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

/* First all draws that need no counts, then the others: a list of those takes the place of a jump
 * that is hard to predict. */
static void draw_all(const pbm_ts_state *p, const candidates *from, const oltr_rng *rng,
                     uint32_t *words, uint32_t *todo, double *draw)
{
    const size_t stride = padded(from->n);
    uint32_t left = 0;
    KERNEL(item_words)(rng, from->item, from->n, words);
    for (uint32_t j = 0; j < from->n; j++) {
        const uint32_t *w = words + j, word[4] = {w[0], w[stride], w[2 * stride], w[3 * stride]};
        todo[left] = j;
        left += !rate_draw_at_once(hat_of(p, candidate(from, j)), word, &draw[j]);
    }
    for (uint32_t n = 0; n < left; n++) {
        uint32_t j = todo[n], i = candidate(from, j);
        const uint32_t *w = words + j, word[4] = {w[0], w[stride], w[2 * stride], w[3 * stride]};
        biased_rate r = rate_of(p, i);
        draw[j] = rate_draw(&r, hat_of(p, i), rng, i, word);
    }
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const pbm_ts_state *p = state;
    double_scores s = scores_in(scratch, p->sums.n_items);
    (void)t;
    if (p->examine.certain) {
        rank_certain(p, from, rng, scratch, out);
        return OLTR_OK;
    }
    pbm_ts_scratch own = plan_scratch(p->sums.n_items);
    draw_all(p, from, rng, words_in(scratch, own.words), words_in(scratch, own.todo), s.score);
    show_best(s, from, rng, out);
    if (!p->examine.falls) {
        examination_place(&p->examine, out, words_in(scratch, own.item),
                          doubles_at(scratch, own.score));
    }
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
            doubles_at(p, p->missed[array])[shown->item[i]] += weight_of_slot(seen, i) * miss;
        refresh_item(p, shown->item[i]);
    }
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
        out[n++] =
            (sum_array){name[slot], doubles_at(p, p->missed[slot]), p->sums.n_items, NULL, 0};
    return n;
}

static size_t min_saved_numbers(const oltr_settings *settings)
{
    return (2 + (size_t)plan(settings).n_own) * settings->n_items;
}

/* M <= N needs no tolerance: see items.c. */
static oltr_status check_item(const pbm_ts_state *p, uint64_t t, uint32_t i, oltr_error *error)
{
    double n = doubles_at(p, p->sums.examined)[i];
    for (uint32_t slot = 0; slot < p->n_own; slot++) {
        double missed = doubles_at(p, p->missed[slot])[i];
        if (!(missed >= 0 && missed <= n))
            return set_error(error, OLTR_ESTATE,
                             "item %u: %g misses in slot %u of %g showings are impossible", i,
                             missed, slot + 1, n);
    }
    return item_sums_check_one(p, &p->sums, t, true, i, error);
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const pbm_ts_state *p = state;
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < p->sums.n_items; i++)
        status = check_item(p, t, i, error);
    return status;
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

static void predict_item(const pbm_ts_state *p, uint32_t i, double *mean, double *sd)
{
    double a = 1 + doubles_at(p, p->sums.reward)[i];
    double b = 1 + (doubles_at(p, p->sums.examined)[i] - doubles_at(p, p->sums.reward)[i]);
    if (p->examine.certain) {
        *mean = a / (a + b);
        *sd = beta_sd(a, b);
    } else {
        biased_rate r = rate_of(p, i);
        rate_moments(&r, hat_of(p, i), mean, sd);
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
