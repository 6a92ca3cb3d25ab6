/* gts.c - Gaussian Thompson sampling: Algorithm 1 of Azizi, Meshi, Zoghi and Karimzadehgan (AISTATS
 * 2023).
 *
 * Belief.  The reward of item i is N(nu_i, sigma^2), and nu_i a priori N(mu0, s0).  After N_i
 * observations that sum to S_i, nu_i is N(m_i, v_i) with
 *     1/v_i = 1/s0 + N_i/sigma^2        m_i = v_i (mu0/s0 + S_i/sigma^2).
 *
 * Rule.  Draw theta_i ~ N(m_i, v_i) for every item, show the K largest, best first.
 *
 * The paper's three names are three priors: GTS is N(0,1) for every item; GTS-Pmean takes mu0 from
 * an outside prior and keeps s0 = 1; GTS-P takes both.  `prior: sd` (the outside variance around a
 * mean of our own) is there for the paper's study of initial values.
 *
 * Where the paper is silent or slips: sigma has no value in it; we take 1/2, the largest standard
 * deviation a click can have.  It prints N(mu0, sigma0) and writes a variance: sigma0^2 is meant.
 * Sums run over past rounds only.
 *
 * The released code does something else (sampler: released).  GTS there draws from N(S_i/N_i, sd
 * 1/max(1,N_i)): the standard deviation, not the variance, falls with 1/N, and the prior is never
 * read.  GTS-Pmean there uses the posterior mean with sd 1/(N_i + 1), GTS-P the posterior; both
 * with 1/(4 (2a + 1)) for the variance of a Beta(a,b) prior, which is its value at b = a only.
 *
 * Cost.  O(L) normals in float32 and a selection; learning is O(1) per examined item.  The
 * posterior is kept in double precision, and its mean and standard deviation are copied to float32
 * for the sampler.
 *
 * Millions of items (sampler: race).  The same law from other random numbers, in a time that hardly
 * grows with L: race/race.h.  It needs 4096 candidates, all items, and a list of at most a 64th of
 * them; other requests sample every candidate.  Under prior: none, equal sums are equal posteriors,
 * and the bounds of most cells are exact.
 */
#include "engine/policy/item_policy.h"
#include "engine/policy/slots.h"
#include "engine/race/race.h"

enum { P_PRIOR, P_MEAN, P_SD, P_SIGMA, P_SAMPLER, N_PARAMS };
enum { TAKE_NONE, TAKE_MEAN, TAKE_SD, TAKE_FULL };
enum { POSTERIOR, RELEASED, RACE };

static const char *const takes[] = {"none", "mean", "sd", "full", NULL};
static const char *const samplers[] = {"posterior", "released", "race", NULL};
static const oltr_param params[N_PARAMS] = {
    {"prior", OLTR_CHOICE, TAKE_NONE, 0, 3, takes,
     "what is taken from the prior: nothing, its means (GTS-Pmean), its standard deviations, or "
     "all of it (GTS-P)"},
    {"mean", OLTR_REAL, 0, -1e6, 1e6, NULL,
     "prior mean mu0 of every item, where it is not taken from the prior"},
    {"sd", OLTR_REAL, 1, 1e-6, 1e6, NULL,
     "prior standard deviation sigma0 of every item, where it is not taken from the prior"},
    {"sigma", OLTR_REAL, 0.5, 1e-6, 1e6, NULL,
     "standard deviation of a reward; for clicks at rate p about sqrt(p (1 - p)), 0.1 at 1 %; the "
     "paper gives none"},
    {"sampler", OLTR_CHOICE, POSTERIOR, 0, 2, samplers,
     "draw from the posterior as printed, or with the standard deviation 1/n of the released code; "
     "race: from the posterior, for millions of items in microseconds"},
};

/* Where a ranking keeps its scores and then the group maxima of the selection: planned once, read
 * every round.  A race has its room from the beginning on. */
static layout plan_scratch(uint32_t n_items, bool races, size_t *best)
{
    layout l = {padded(n_items) * sizeof(float), 0};
    *best = layout_take(&l, topk_room(n_items), sizeof(float));
    size_t room = races ? race_scratch_bytes(n_items) : 0;
    if (room > l.used)
        l.used = room;
    return l;
}

/* With fewer items there is no request that a race would serve, and no index. */
static bool has_race(const oltr_settings *settings)
{
    return choice(settings, P_SAMPLER) == RACE && settings->n_items >= RACE_LEAST_ITEMS;
}

/* What the posterior of an item starts from. */
typedef struct gts_prior {
    double precision0, weighted0; /* 1/s0 and mu0/s0 */
} gts_prior;

/* The variance after one more observation does not depend on the reward, so it is computed ahead: a
 * division would delay the next list after a click.  A race takes microseconds, and computes it
 * when it is needed. */
typedef struct gts_state {
    item_sums sums; /* (dummy_item + 1) doubles */
    item_priors priors;
    size_t prior;         /* (priors.n) gts_prior */
    size_t mean, sd;      /* (dummy_item + 1) floats: what is sampled from, derived; padding
                             from n_items on */
    size_t next_variance; /* (dummy_item + 1) doubles, derived, where the posterior is sampled
                             from and there is no race; else 0 */
    size_t dummy_item;    /* never shown: slots that were not examined write there */
    size_t best;          /* in the scratch */
    size_t race;          /* race_index, derived, behind all other arrays; 0 without one */
    size_t bytes;         /* of the state */
    double precision;     /* of one observation: 1/sigma^2 */
    uint32_t sampler, take;
} gts_state;

static bool samples_posterior(const gts_state *g)
{
    return g->sampler != RELEASED || g->take == TAKE_FULL;
}

/* Mean and sd are read in vectors; what lies close to the arrays before it is not. */
static layout plan(const oltr_settings *settings, gts_state *g)
{
    size_t n = padded(settings->n_items) + 1;
    layout l = {sizeof *g, 0};
    *g = (gts_state){.precision = 1 / (param(settings, P_SIGMA) * param(settings, P_SIGMA)),
                     .sampler = choice(settings, P_SAMPLER),
                     .take = choice(settings, P_PRIOR),
                     .priors =
                         item_priors_of(settings->n_items, choice(settings, P_PRIOR) != TAKE_NONE),
                     .dummy_item = n - 1};
    g->prior = layout_take_close(&l, g->priors.n, sizeof(gts_prior));
    g->mean = layout_take(&l, n, sizeof(float));
    g->sd = layout_take(&l, n, sizeof(float));
    g->sums.n_items = settings->n_items;
    g->sums.examined = layout_take_close(&l, n, sizeof(double));
    g->sums.reward = layout_take_close(&l, n, sizeof(double));
    if (has_race(settings))
        g->race = layout_take(&l, race_index_bytes(settings->n_items), 1);
    else if (samples_posterior(g))
        g->next_variance = layout_take_close(&l, n, sizeof(double));
    g->bytes = layout_bytes(&l);
    plan_scratch(settings->n_items, g->race, &g->best);
    return l;
}

static size_t state_bytes(const oltr_settings *settings)
{
    gts_state g;
    layout l = plan(settings, &g);
    return layout_bytes(&l);
}

static gts_prior *priors_of(const gts_state *g)
{
    return (gts_prior *)(void *)((unsigned char *)g + g->prior);
}

static const gts_prior *prior_of(const gts_state *g, uint32_t i)
{
    return &priors_of(g)[item_prior_at(&g->priors, i)];
}

static double variance_of(const gts_prior *prior, double n, double precision)
{
    return 1 / (prior->precision0 + n * precision);
}

static double mean_of(const gts_prior *prior, double variance, double s, double precision)
{
    return variance * (prior->weighted0 + s * precision);
}

static race_index *index_of(const gts_state *g)
{
    return (race_index *)(void *)((unsigned char *)g + g->race);
}

static race_items items_of(const gts_state *g)
{
    return (race_items){.family = &normal_race,
                        .n_items = g->sums.n_items,
                        .common = g->take == TAKE_NONE,
                        .n = doubles_at(g, g->sums.examined),
                        .s = doubles_at(g, g->sums.reward),
                        .mean = floats_at(g, g->mean),
                        .sd = floats_at(g, g->sd),
                        .step = {normal_race.step[0], normal_race.step[1]}};
}

typedef struct moments {
    double mean, sd;
} moments;

static moments posterior(const gts_state *g, uint32_t i)
{
    const gts_prior *prior = prior_of(g, i);
    double variance = variance_of(prior, doubles_at(g, g->sums.examined)[i], g->precision);
    return (moments){mean_of(prior, variance, doubles_at(g, g->sums.reward)[i], g->precision),
                     sqrt(variance)};
}

static moments sampled_from(const gts_state *g, uint32_t i)
{
    if (samples_posterior(g))
        return posterior(g, i);
    double n = doubles_at(g, g->sums.examined)[i];
    if (g->take == TAKE_NONE)
        return (moments){item_is_seen(n) ? doubles_at(g, g->sums.reward)[i] / n : 0,
                         1 / fmax(1, n)};
    return (moments){posterior(g, i).mean, 1 / (n + 1)};
}

static void refresh_item(gts_state *g, uint32_t i)
{
    moments m = sampled_from(g, i);
    floats_at(g, g->mean)[i] = (float)m.mean;
    floats_at(g, g->sd)[i] = (float)m.sd;
}

/* All that is derived from the item's sums. */
static void derive_item(gts_state *g, uint32_t i)
{
    refresh_item(g, i);
    if (g->next_variance)
        doubles_at(g, g->next_variance)[i] =
            variance_of(prior_of(g, i), doubles_at(g, g->sums.examined)[i] + 1, g->precision);
}

static void refresh(void *state, uint64_t t)
{
    gts_state *g = state;
    (void)t;
    for (uint32_t i = 0; i < g->sums.n_items; i++)
        derive_item(g, i);
    for (size_t i = g->sums.n_items; i < g->dummy_item; i++) {
        floats_at(g, g->mean)[i] = -INFINITY; /* the padding is never shown */
        floats_at(g, g->sd)[i] = 0;
    }
    if (g->race) {
        race_items items = items_of(g);
        race_build(index_of(g), &items);
    }
}

/* More room is a new index: one pass is faster than moving every item with observations. */
static void carry(void *state, const void *from)
{
    (void)from;
    refresh(state, 1);
}

/* The standard deviation the released code gives a Beta(a,b) prior. */
static double released_sd(double a)
{
    return sqrt(1 / (4 * (2 * a + 1)));
}

static void set_prior(gts_state *g, const oltr_settings *settings, uint32_t i)
{
    bool take_mean = g->take == TAKE_MEAN || g->take == TAKE_FULL;
    bool take_sd = g->take == TAKE_SD || g->take == TAKE_FULL;
    double mean0 = take_mean ? prior_mean(&settings->prior, i) : param(settings, P_MEAN);
    double sd0 = take_sd ? prior_sd(&settings->prior, i) : param(settings, P_SD);
    if (g->sampler == RELEASED && g->take != TAKE_NONE)
        sd0 = released_sd(prior_a(&settings->prior, i));
    double precision0 = 1 / (sd0 * sd0);
    priors_of(g)[item_prior_at(&g->priors, i)] = (gts_prior){precision0, mean0 * precision0};
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    gts_state *g = state;
    plan(settings, g);
    oltr_status status =
        require_prior(settings, g->take != TAKE_NONE, g->sampler == RELEASED, error);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < g->priors.n; i++)
        set_prior(g, settings, i);
    if (g->race) {
        item_sums_touch(g, &g->sums);
        race_index_init(index_of(g), settings->n_items, settings->n_items / RACE_ITEMS_PER_SLOT);
    }
    refresh(g, 1);
    return OLTR_OK;
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    gts_state *g = state;
    oltr_status status =
        require_item_prior(settings, g->take != TAKE_NONE, g->sampler == RELEASED, item, error);
    (void)before;
    if (status == OLTR_OK)
        status = item_sums_check_one(state, &g->sums, t, false, item, error);
    if (status != OLTR_OK)
        return status;
    set_prior(g, settings, item);
    derive_item(g, item);
    if (g->race) {
        race_items items = items_of(g);
        race_learned(index_of(g), &items, &item, 1, index_of(g)->k);
    }
    return OLTR_OK;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    size_t best;
    layout l = plan_scratch(settings->n_items, has_race(settings), &best);
    return layout_bytes(&l);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const gts_state *g = state;
    const float *mean = floats_at(g, g->mean), *sd = floats_at(g, g->sd);
    float *score = floats_at(scratch, 0);
    bool all = !from->item && from->n == g->sums.n_items;
    (void)t;
    if (g->race && !from->item && race_serves(index_of(g), from->n, out->k)) {
        race_items items = items_of(g);
        race_rank(index_of(g), &items, rng, from->n, out->k, scratch, out->item, out->score);
        return OLTR_OK;
    }
    if (all && !out->score &&
        topk_gauss_ahead(rng, ahead_of(scratch), mean, sd, from->n, out->k, out->item))
        return OLTR_OK;
    gauss_scores_ahead(rng, ahead_of(scratch), mean, sd, from->item, from->n, score);
    if (!all)
        for (size_t j = from->n; j < padded(from->n); j++)
            score[j] = -INFINITY;
    topk_f32(score, from->n, out->k, rng, floats_at(scratch, g->best), out->item, out->score);
    places_to_items(from, out);
    return OLTR_OK;
}

/* The item to update for a slot: its own if it was examined, else dummy_item; without a jump
 * (slots.h). */
static size_t item_to_update(const gts_state *g, uint32_t item, uint32_t examined)
{
    return g->dummy_item ^ ((g->dummy_item ^ item) & -(size_t)examined);
}

static void learn_posterior(gts_state *g, const uint32_t *shown, uint32_t slots,
                            const oltr_feedback *seen)
{
    double *n = doubles_at(g, g->sums.examined), *s = doubles_at(g, g->sums.reward),
           *next_variance = doubles_at(g, g->next_variance), precision = g->precision;
    float *mean = floats_at(g, g->mean), *sd = floats_at(g, g->sd);
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t i = shown[slot];
        size_t to = item_to_update(g, i, was_examined(seen, slot));
        gts_prior prior = *prior_of(g, i);
        double count = n[i] + 1, sum = s[i] + branchless_reward(seen, slot);
        double variance = next_variance[i];
        mean[to] = (float)mean_of(&prior, variance, sum, precision);
        sd[to] = (float)sqrt(variance);
        n[to] = count;
        s[to] = sum;
        next_variance[to] = variance_of(&prior, count + 1, precision);
    }
}

static void learn_released(gts_state *g, const uint32_t *shown, uint32_t slots,
                           const oltr_feedback *seen)
{
    for (uint32_t slot = 0; slot < slots; slot++) {
        double examined = was_examined(seen, slot);
        item_sums_gain(g, &g->sums, shown[slot], examined,
                       examined * branchless_reward(seen, slot));
        refresh_item(g, shown[slot]);
    }
}

static void learn_weighted(gts_state *g, const uint32_t *shown, const oltr_feedback *seen)
{
    for (uint32_t slot = 0; slot < seen->n_examined; slot++) {
        item_sums_add(g, &g->sums, shown[slot], seen->reward[slot], weight_of_slot(seen, slot));
        derive_item(g, shown[slot]);
    }
}

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    gts_state *g = state;
    uint32_t slots = branchless_slots(shown->k, seen->n_examined);
    (void)t;
    (void)from;
    if (seen->weight || g->race)
        learn_weighted(g, shown->item, seen);
    else if (samples_posterior(g))
        learn_posterior(g, shown->item, slots, seen);
    else
        learn_released(g, shown->item, slots, seen);
    if (g->race) {
        race_items items = items_of(g);
        race_learned(index_of(g), &items, shown->item, seen->n_examined, shown->k);
    }
    return OLTR_OK;
}

/* Everything but the index byte by byte, of the index the members of its cells. */
static int agrees(const void *state, const void *anew)
{
    const gts_state *g = state, *h = anew;
    return memcmp(g, h, g->race ? g->race : g->bytes) == 0 &&
           (!g->race || race_index_agrees(index_of(g), index_of(h)));
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const gts_state *g = state;
    return item_sums_check(state, &g->sums, t, false, error);
}

static oltr_status predict(const void *state, uint64_t t, const candidates *from, double *mean,
                           double *sd)
{
    (void)t;
    for (uint32_t j = 0; j < from->n; j++) {
        moments m = sampled_from(state, candidate(from, j));
        mean[j] = m.mean;
        if (sd)
            sd[j] = m.sd;
    }
    return OLTR_OK;
}

/* What the sampler uses: the floats. */
static oltr_law laws(const void *state, uint64_t t, uint32_t part, const candidates *from,
                     double *first, double *second)
{
    const gts_state *g = state;
    (void)t, (void)part;
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t i = candidate(from, j);
        first[j] = (double)floats_at(g, g->mean)[i];
        second[j] = (double)floats_at(g, g->sd)[i];
    }
    return OLTR_LAW_NORMAL;
}

const policy_ops gts_ops = {
    .info = {.name = "gts",
             .title = "Gaussian Thompson sampling (GTS, GTS-Pmean, GTS-P)",
             .source = "Azizi, Meshi, Zoghi, Karimzadehgan: Overcoming Prior Misspecification in "
                       "Online Learning to Rank, 2023, Algorithm 1",
             .summary = "Samples every item's value from its Gaussian posterior and shows the "
                        "largest samples.",
             .rewards = OLTR_REALS,
             ITEM_POLICY_INFO,
             .uses_prior = 1,
             .takes_moments = 1,
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
    .check = check,
    .agrees = agrees,
    .carry = carry,
    .predict = predict,
    .laws = laws,
};
