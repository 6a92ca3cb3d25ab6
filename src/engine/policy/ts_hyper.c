/* ts_hyper.c - Thompson sampling that learns how wrong its prior is (ts-hyper); defined for oltr.
 *
 * Belief.  The prior that the caller gives, the told prior Beta(a_i, b_i), is right up to a
 * recalibration: a shift s of all log-odds, a slope r for how much of the told order holds, and a
 * weight w, the factor of the number of observations that it is worth.
 * The recalibration is unknown and has a posterior over a grid (posterior/recalibration.h).  Given
 * one, the attraction of item i is Beta(a_i(s,r,w) + S_i, b_i(s,r,w) + N_i - S_i).
 *
 * Rule.  Draw one recalibration from its posterior, draw theta_i for every item, show the K
 * largest. On a grid of the one cell (0, 1, 1) this is ts-beta to the bit.
 *
 * Without a told prior every item has Beta(a, b) of the parameters, and the slope means nothing:
 * the policy learns the level and the spread of the click rates by itself.
 *
 * State.  Per item the sums N and S, 16 bytes, and as many for the told shapes where items have
 * their own; and 18 bytes for each cell of the grid, of which the default has 126, with told priors
 * 378, padded to 140 and 420.
 *
 * Cost.  Ranking takes 1.6 to 1.9 times as long as with ts-beta, because the shapes change with the
 * drawn recalibration.  Learning multiplies the weights of all cells, some 100 ns per examined item
 * with the default grid.
 */
#include "engine/policy/beta_policy.h"
#include "engine/posterior/recalibration.h"

enum {
    PRIOR = BETA_PRIOR,
    A = BETA_A,
    B = BETA_B,
    SHIFT_MIN,
    SHIFT_MAX,
    SHIFT_SD,
    SLOPE,
    SLOPE_NONE,
    SLOPE_HALF,
    WEIGHT_MIN,
    WEIGHT_MAX,
    WEIGHT_SD,
    N_PARAMS
};
enum { SLOPE_LEARNED, SLOPE_FIXED };
static const char *const slope_choices[] = {"learned", "fixed", NULL};

static const oltr_param params[N_PARAMS] = {
    {"prior", OLTR_CHOICE, PRIOR_NONE, 0, 2, prior_choices,
     "what is told about the items: nothing, the means of the prior (weighing as much as a + b), "
     "or all of it"},
    {"a", OLTR_REAL, 1, 1e-3, 1e6, NULL,
     "first shape of every item's told prior, where it is not taken from the prior"},
    {"b", OLTR_REAL, 1, 1e-3, 1e6, NULL,
     "second shape of every item's told prior, where it is not taken from the prior"},
    {"shift_min", OLTR_REAL, -8, -20, 0, NULL,
     "the least shift of the log-odds in the grid; shifts are multiples of 1/2 from -3 to 2, and "
     "whole numbers beyond"},
    {"shift_max", OLTR_REAL, 4, 0, 20, NULL, "the largest shift of the log-odds in the grid"},
    {"shift_sd", OLTR_REAL, 3, 1e-3, 1e3, NULL,
     "standard deviation of the hyperprior of the shift, which is normal around 0"},
    {"slope", OLTR_CHOICE, SLOPE_LEARNED, 0, 1, slope_choices,
     "whether it is learned how much of the told order holds (none, half or all of it), or all of "
     "it is believed"},
    {"slope_none", OLTR_REAL, 0.4, 0, 1e6, NULL,
     "hyperprior: how likely it is that the told order means nothing, relative to 1 for that it "
     "holds"},
    {"slope_half", OLTR_REAL, 0.6, 0, 1e6, NULL,
     "hyperprior: how likely it is that the told log-odds are twice too far apart, relative to 1 "
     "for that they are right"},
    {"weight_min", OLTR_REAL, 0.25, 0x1p-10, 1, NULL,
     "the least factor of the told a + b in the grid; factors are powers of 2"},
    {"weight_max", OLTR_REAL, 16, 1, 0x1p10, NULL,
     "the largest factor of the told a + b in the grid"},
    {"weight_sd", OLTR_REAL, 1.5, 1e-3, 1e3, NULL,
     "standard deviation of the hyperprior of the factor's logarithm, which is normal around 0"},
};

static recalibration_plan plan_of(const oltr_settings *settings)
{
    return (recalibration_plan){.shift_min = param(settings, SHIFT_MIN),
                                .shift_max = param(settings, SHIFT_MAX),
                                .shift_sd = param(settings, SHIFT_SD),
                                .weight_min = param(settings, WEIGHT_MIN),
                                .weight_max = param(settings, WEIGHT_MAX),
                                .weight_sd = param(settings, WEIGHT_SD),
                                .slopes = takes_prior(settings) &&
                                          choice(settings, SLOPE) == SLOPE_LEARNED,
                                .slope_none = param(settings, SLOPE_NONE),
                                .slope_half = param(settings, SLOPE_HALF)};
}

/* ---- the state */

/* Behind the scores, and with the numbers of the sampler: seven arrays of padded(n_items). */
typedef struct ts_hyper_scratch {
    size_t best, todo, numbers, bytes;
} ts_hyper_scratch;

static ts_hyper_scratch plan_scratch(uint32_t n_items)
{
    layout l = {padded(n_items) * sizeof(float), 0};
    ts_hyper_scratch s = {.best = layout_take(&l, topk_room(n_items), sizeof(float))};
    s.todo = layout_take(&l, padded(n_items), sizeof(uint32_t));
    s.numbers = layout_take(&l, 7 * padded(n_items), sizeof(float));
    s.bytes = layout_bytes(&l);
    return s;
}

typedef struct ts_hyper_state {
    beta_items items; /* first: see item_policy.h; their priors are the told ones */
    recalibration grid;
    size_t bytes;
    ts_hyper_scratch scratch;
} ts_hyper_state;

static ts_hyper_state plan(const oltr_settings *settings)
{
    const recalibration_plan grid = plan_of(settings);
    ts_hyper_state p = {.scratch = plan_scratch(settings->n_items)};
    layout l = {sizeof p, 0};
    p.items = beta_items_plan(&l, settings->n_items, takes_prior(settings));
    p.grid = recalibration_layout(&l, &grid);
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    return plan_scratch(settings->n_items).bytes;
}

static item_evidence evidence(const ts_hyper_state *p, uint32_t i)
{
    const beta_pair told = beta_prior(p, &p->items, i);
    return (item_evidence){.a = told.a,
                           .b = told.b,
                           .examined = doubles_at(p, p->items.sums.examined)[i],
                           .clicked = doubles_at(p, p->items.sums.reward)[i]};
}

static void add_item(ts_hyper_state *p, uint32_t i)
{
    const item_evidence e = evidence(p, i);
    recalibration_add(p, &p->grid, &e, 1);
}

/* How much rounding may change the logarithm of a weight: that of one factor for each observation,
 * and that of the misses, which are a difference of the sums. */
static double rounding(const ts_hyper_state *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->items.sums.n_items; i++) {
        const item_evidence e = evidence(p, i);
        const double missed = e.examined - e.clicked;
        sum += 1e-12 * e.examined + (missed > 0 ? 1e-15 * (e.examined / missed) : 0);
    }
    return sum;
}

static void refresh(void *state, uint64_t t)
{
    ts_hyper_state *p = state;
    (void)t;
    recalibration_clear(state, &p->grid);
    for (uint32_t i = 0; i < p->items.sums.n_items; i++)
        add_item(p, i);
}

/* ---- the told prior */

static void set_told(ts_hyper_state *p, const oltr_settings *settings, uint32_t i)
{
    const uint32_t take = choice(settings, PRIOR);
    double a = param(settings, A), b = param(settings, B);
    if (take == PRIOR_MEAN)
        prior_shapes_of_mean(&settings->prior, i, a + b, &a, &b);
    else if (take == PRIOR_FULL)
        prior_told(&settings->prior, i, &a, &b);
    doubles_at(p, p->items.a0)[item_prior_at(&p->items.priors, i)] = a;
    doubles_at(p, p->items.b0)[item_prior_at(&p->items.priors, i)] = b;
}

static oltr_status check_told(const oltr_settings *settings, uint32_t item, oltr_error *error)
{
    return takes_prior(settings) ? prior_check_told(&settings->prior, item, error) : OLTR_OK;
}

static oltr_status check_settings(const oltr_settings *settings, oltr_error *error)
{
    oltr_status status = require_prior(settings, takes_prior(settings), false, error);
    for (uint32_t i = 0; status == OLTR_OK && i < settings->n_items; i++)
        status = check_told(settings, i, error);
    return status;
}

/* exp(-mean of the told log-odds). */
static double centre_of(const ts_hyper_state *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->items.sums.n_items; i++) {
        const beta_pair told = beta_prior(p, &p->items, i);
        sum += log(told.a / told.b);
    }
    return exp(-sum / p->items.sums.n_items);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    ts_hyper_state *p = state;
    oltr_status status = check_settings(settings, error);
    if (status != OLTR_OK)
        return status;
    *p = plan(settings);
    for (uint32_t i = 0; i < p->items.priors.n; i++)
        set_told(p, settings, i);
    recalibration_init(state, &p->grid);
    *doubles_at(state, p->grid.centre) = centre_of(p);
    return OLTR_OK;
}

/* An item changes the logarithms of the weights by at most about the lesser of its observations and
 * its told a + b.  Taking more than this away leaves too much rounding: all is derived anew. */
#define MOST_TAKEN_AWAY 1e6

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    ts_hyper_state *p = state;
    oltr_status status = check_told(settings, item, error);
    if (status == OLTR_OK)
        status = item_sums_check_one(state, &p->items.sums, t, true, item, error);
    if (status != OLTR_OK)
        return status;
    item_evidence old = evidence(p, item);
    old.examined = before[0];
    old.clicked = before[1];
    const bool derive = fmin(old.examined, old.a + old.b) > MOST_TAKEN_AWAY;
    if (!derive)
        recalibration_add(state, &p->grid, &old, -1);
    set_told(p, settings, item);
    if (!derive)
        add_item(p, item);
    else
        refresh(state, t);
    return OLTR_OK;
}

/* ---- ranking */

enum { BLOCK = 64 };

static beta_numbers numbers_at(const ts_hyper_state *p, void *scratch, size_t from)
{
    const size_t n = padded(p->items.sums.n_items);
    float *at = floats_at(scratch, p->scratch.numbers) + from;
    return (beta_numbers){at, at + n, at + 2 * n, at + 3 * n, at + 4 * n, at + 5 * n, at + 6 * n};
}

static told_priors told_of(const ts_hyper_state *p)
{
    return (told_priors){doubles_at(p, p->items.a0), doubles_at(p, p->items.b0),
                         p->items.priors.mask != 0};
}

/* The numbers of the sampler for all items, or for those listed, at their places. Returns whether
 * any has a shape below 1. */
static bool shape_all(const ts_hyper_state *p, const grid_cell *cell, size_t n, void *scratch)
{
    const double *examined = doubles_at(p, p->items.sums.examined),
                 *clicked = doubles_at(p, p->items.sums.reward);
    told_priors told = told_of(p);
    bool powers = false;
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t m = n - i < BLOCK ? n - i : BLOCK;
        const beta_numbers out = numbers_at(p, scratch, i);
        double a[BLOCK], b[BLOCK];
        KERNEL(recalibrate_items)(cell, m, &told, examined + i, clicked + i, a, b);
        powers |= KERNEL(beta_numbers_of)(a, b, m, &out);
        told.a += told.own ? BLOCK : 0;
        told.b += told.own ? BLOCK : 0;
    }
    return powers;
}

static bool shape_listed(const ts_hyper_state *p, const grid_cell *cell, const uint32_t *item,
                         size_t n, void *scratch)
{
    const told_priors same = told_of(p);
    bool powers = false;
    for (size_t start = 0; start < n; start += BLOCK) {
        const size_t m = n - start < BLOCK ? n - start : BLOCK;
        double a0[BLOCK], b0[BLOCK], examined[BLOCK], clicked[BLOCK], a[BLOCK], b[BLOCK];
        float out[7][BLOCK];
        for (size_t j = 0; j < m; j++) {
            const item_evidence e = evidence(p, item[start + j]);
            a0[j] = e.a;
            b0[j] = e.b;
            examined[j] = e.examined;
            clicked[j] = e.clicked;
        }
        const told_priors told = same.own ? (told_priors){a0, b0, true} : same;
        KERNEL(recalibrate_items)(cell, m, &told, examined, clicked, a, b);
        powers |= KERNEL(beta_numbers_of)(
            a, b, m, &(beta_numbers){out[0], out[1], out[2], out[3], out[4], out[5], out[6]});
        float *to = floats_at(scratch, p->scratch.numbers);
        for (int v = 0; v < 7; v++, to += padded(p->items.sums.n_items))
            for (size_t j = 0; j < m; j++)
                to[item[start + j]] = out[v][j];
    }
    return powers;
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const ts_hyper_state *p = state;
    const grid_cell cell = recalibration_draw(state, &p->grid, rng);
    const bool powers = from->item ? shape_listed(p, &cell, from->item, from->n, scratch)
                                   : shape_all(p, &cell, from->n, scratch);
    const beta_numbers s = numbers_at(p, scratch, 0);
    const beta_shapes shapes = {s.ca, s.cb, s.da, s.db, s.log_da_db, s.pa, s.pb, powers};
    (void)t;
    rank_by_beta(rng, &shapes, from, words_in(scratch, p->scratch.todo), floats_at(scratch, 0),
                 floats_at(scratch, p->scratch.best), out);
    return OLTR_OK;
}

/* ---- learning */

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    ts_hyper_state *p = state;
    (void)t, (void)from;
    for (uint32_t slot = 0; slot < seen->n_examined; slot++) {
        const uint32_t i = shown->item[slot];
        const item_evidence before = evidence(p, i);
        const double weight = weight_of_slot(seen, slot);
        recalibration_observe(state, &p->grid, &before, seen->reward[slot] > 0, weight);
        item_sums_add(state, &p->items.sums, i, seen->reward[slot], weight);
    }
    return OLTR_OK;
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    const ts_hyper_state *p = state;
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        const item_evidence e = evidence(p, candidate(from, j));
        double deviation;
        recalibration_predict(state, &p->grid, &e, &mean[j], &deviation);
        if (sd)
            sd[j] = deviation;
    }
    return OLTR_OK;
}

static uint32_t hyper(const void *state, uint32_t index, oltr_hyper *out)
{
    const ts_hyper_state *p = state;
    if (out)
        recalibration_marginal(state, &p->grid, index, out);
    return GRID_AXES;
}

/* ---- the law of a list */

static double part_chance(const void *state, uint32_t part)
{
    const ts_hyper_state *p = state;
    return recalibration_chance(state, &p->grid, part);
}

/* Given a recalibration, the scores are independent. */
static oltr_law laws(const void *state, uint64_t t, uint32_t part, const candidates *from,
                     double *first, double *second)
{
    const ts_hyper_state *p = state;
    const grid_cell cell = recalibration_cell(state, &p->grid, part);
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        const item_evidence e = evidence(p, candidate(from, j));
        recalibration_posterior(&cell, &e, &first[j], &second[j]);
    }
    return OLTR_LAW_BETA;
}

static uint32_t parts(const void *state)
{
    const ts_hyper_state *p = state;
    return p->grid.n_cells;
}

/* ---- snapshots */

static uint32_t derived(const void *state, sum_array out[MAX_SUMS])
{
    const ts_hyper_state *p = state;
    out[0] = (sum_array){"centre", doubles_at(state, p->grid.centre), 1, NULL};
    out[1] = (sum_array){"factor", doubles_at(state, p->grid.factor), p->grid.n_cells, NULL};
    out[2] = (sum_array){"exponent", doubles_at(state, p->grid.exponent), p->grid.n_cells, NULL};
    return 3;
}

#define LEAST_CENTRE 1e-22 /* LEAST_SHAPE / LARGEST_SHAPE is 1e-21 */

/* Loading derives the weights anew, and then takes the saved ones if they agree.  So weights that
 * do not follow from the sums are never used, and a saved policy always loads. */
static oltr_status resume(void *state, uint64_t t, oltr_error *error)
{
    ts_hyper_state *p = state;
    const size_t n = p->grid.n_cells;
    const double centre = *doubles_at(state, p->grid.centre);
    double factor[MOST_CELLS], exponent[MOST_CELLS];
    memcpy(factor, doubles_at(state, p->grid.factor), n * sizeof *factor);
    memcpy(exponent, doubles_at(state, p->grid.exponent), n * sizeof *exponent);
    if (!(centre >= LEAST_CENTRE && centre <= 1 / LEAST_CENTRE))
        return set_error(error, OLTR_ESTATE, "a centre of %g is impossible", centre);
    if (!recalibration_possible(state, &p->grid, factor, exponent))
        return set_error(error, OLTR_ESTATE,
                         "the weights of the recalibrations are impossible: a factor is in (0, 1], "
                         "an exponent whole and at most 0, and one of them is 0");
    refresh(state, t);
    if (recalibration_agrees(state, &p->grid, factor, exponent, rounding(p)))
        recalibration_take(state, &p->grid, factor, exponent);
    return OLTR_OK;
}

/* More room leaves the centre and the weights as they are. */
static void carry(void *state, const void *from)
{
    ts_hyper_state *p = state;
    const ts_hyper_state *q = from;
    *doubles_at(state, p->grid.centre) = *doubles_at(from, q->grid.centre);
    recalibration_take(state, &p->grid, doubles_at(from, q->grid.factor),
                       doubles_at(from, q->grid.exponent));
}

static int agrees(const void *state, const void *anew)
{
    const ts_hyper_state *p = state;
    const double *factor = doubles_at(state, p->grid.factor),
                 *exponent = doubles_at(state, p->grid.exponent);
    return recalibration_possible(state, &p->grid, factor, exponent) &&
           recalibration_agrees(anew, &p->grid, factor, exponent, rounding(p));
}

const policy_ops ts_hyper_ops = {
    .info = {.name = "ts-hyper",
             .title = "Thompson sampling that learns how wrong its prior is (TS-Hyper)",
             .source = "oltr",
             .summary = "Samples a recalibration of the prior from its posterior, then every "
                        "item's attraction, and shows the largest samples.",
             .rewards = OLTR_CLICKS,
             .can_predict = 1,
             .can_merge = 1,
             .can_forget = 1,
             .takes_weights = 1,
             .by_item = 1,
             .can_resize = 1,
             .exact_copy = 1,
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
    .predict = predict,
    .hyper = hyper,
    .derived = derived,
    .resume = resume,
    .agrees = agrees,
    .carry = carry,
    .parts = parts,
    .part_chance = part_chance,
    .laws = laws,
};
