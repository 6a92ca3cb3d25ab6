/* item_definitions.c - is each policy without features the algorithm that its paper defines?
 *
 * For every policy there is a slow and obvious twin here, written from the definition alone:
 * indices straight from the formula, inverses by bisection on GSL's forward functions, TopRank with
 * dense matrices that are partitioned from scratch every round.  Engine and twin see the same
 * random clicks; after every round the engine's scores must be the twin's indices, and its list
 * their top K.  Samplers are compared with the law they must sample from.  Where a test is
 * statistical its seed is fixed, and the chance of a false alarm over the whole file is below 1e-6.
 */
#include "conform/fixtures.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>

enum { L = 12, SLOTS = 4, ROUNDS = 400 };

static variant_list variants;

/* A list, how far it was read, and its clicks. */
typedef struct event {
    uint32_t k, n_examined, item[ITEMS];
    double reward[ITEMS];
} event;

static void learn_from(oltr_policy *p, const oltr_query *query, event *e)
{
    oltr_ranking shown = {e->k, e->item, NULL};
    oltr_feedback seen = {e->n_examined, e->reward};
    expect(oltr_learn(p, query, &shown, &seen), OLTR_OK);
}

/* A list of any of the first n items, read up to any slot. */
static event draw_event(dice *d, oltr_rewards kind, uint32_t n)
{
    event e = {.k = 1 + below(d, n)};
    draw_items(d, n, e.k, e.item);
    e.n_examined = below(d, e.k + 1);
    for (uint32_t s = 0; s < e.n_examined; s++)
        e.reward[s] = draw_reward(d, kind, 0.05 + 0.05 * (e.item[s] * 7 % 13));
    return e;
}

/* ---- the twin: counts, and the prior as the settings mean it */

typedef struct twin {
    const variant *v;
    double n[L], s[L]; /* observations and clicks */
    double a[L], b[L]; /* Beta prior */
    uint64_t t;        /* the round to be ranked, from 1 */
} twin;

static twin new_twin(const variant *v)
{
    twin w = {.v = v, .t = 1};
    for (int i = 0; i < L; i++) {
        double weight = param_of(v, "a") + param_of(v, "b");
        w.a[i] = param_of(v, "a");
        w.b[i] = param_of(v, "b");
        if (chosen(v, "prior", "full")) {
            w.a[i] = known_prior()->a[i];
            w.b[i] = known_prior()->b[i];
        } else if (chosen(v, "prior", "mean")) {
            w.a[i] = weight * known_prior()->mean[i];
            w.b[i] = weight * (1 - known_prior()->mean[i]);
        }
    }
    return w;
}

static void teach_twin(twin *w, const event *e)
{
    for (uint32_t slot = 0; slot < e->n_examined; slot++) {
        w->n[e->item[slot]] += 1;
        w->s[e->item[slot]] += e->reward[slot];
    }
    w->t++;
}

static double share(const twin *w, int i)
{
    return w->n[i] > 0 ? w->s[i] / w->n[i] : 0;
}

/* ---- indices */

static double ucb1_index(const twin *w, int i)
{
    double t = (double)w->t;
    if (w->n[i] <= 0)
        return (double)INFINITY;
    if (chosen(w->v, "bonus", "released"))
        return share(w, i) + fmax(sqrt(2 * log(t - 1)), 2) / sqrt(w->n[i]);
    return share(w, i) + sqrt(param_of(w->v, "alpha") * log(t - 1) / w->n[i]);
}

static double ucbv_index(const twin *w, int i)
{
    double p = share(w, i), log_t = log((double)w->t);
    if (w->n[i] <= 0)
        return (double)INFINITY;
    return fmin(1, p + sqrt(4 * p * (1 - p) * log_t / w->n[i]) + 6 * log_t / w->n[i]);
}

static double divergence(double p, double q)
{
    return (p > 0 ? p * log(p / q) : 0) + (p < 1 ? (1 - p) * log((1 - p) / (1 - q)) : 0);
}

static double kl_budget(const twin *w)
{
    double log_t = log((double)w->t);
    if (chosen(w->v, "budget",
               "released")) { /* computed when the last round ended, by its number */
        double log_last = log(fmax(1, (double)w->t - 1));
        return log_last + 3 * log(log_last + 1);
    }
    return w->t < 3 ? 0 : log_t + 3 * log(log_t);
}

static double klucb_index(const twin *w, int i)
{
    double p = share(w, i), low = p, high = 1;
    if (w->n[i] <= 0)
        return (double)INFINITY;
    for (int step = 0; step < 100; step++) {
        double q = low + (high - low) / 2;
        if (w->n[i] * divergence(p, q) <= kl_budget(w))
            low = q;
        else
            high = q;
    }
    return low;
}

static double bayes_index(const twin *w, int i)
{
    double a = w->a[i] + w->s[i], b = w->b[i] + w->n[i] - w->s[i], low = 0, high = 1;
    if (w->t == 1)
        return 0; /* the quantile of level 0 */
    for (int step = 0; step < 200; step++) {
        double x = low + (high - low) / 2;
        if (gsl_cdf_beta_Q(x, a, b) > 1 / (double)w->t)
            low = x;
        else
            high = x;
    }
    return low;
}

static double ensemble_index(const twin *w, int i)
{
    double a = known_prior()->a[i], b = known_prior()->b[i];
    if (!takes_prior(w->v))
        return 0;
    return chosen(w->v, "rule", "map")        ? (a - 1) / (a + b - 2)
           : chosen(w->v, "rule", "released") ? a
                                              : a / (a + b);
}

typedef struct index_rule {
    const char *kind;
    double (*of)(const twin *, int item);
    double tolerance; /* relative, of numbers up to 1 absolute */
} index_rule;
/* clang-format off */
static const index_rule rules[] = {
    {"cascade-ucb1", ucb1_index, 1e-12},
    {"cascade-ucbv", ucbv_index, 1e-12},
    {"cascade-klucb", klucb_index, 1e-10},
    {"bayes-ucb", bayes_index, 1e-9},
    {"ensemble", ensemble_index, 1e-12},
};
/* clang-format on */

static const index_rule *rule_of(const variant *v)
{
    for (size_t r = 0; r < COUNT(rules); r++)
        if (is_kind(v, rules[r].kind))
            return &rules[r];
    return NULL;
}

static bool has_index(const variant *v)
{
    return rule_of(v);
}

/* The scores are the indices, and nothing that was left out has a higher one. */
static void assert_top(const twin *w, const index_rule *rule, const oltr_query *query, uint32_t k,
                       const uint32_t *item, const double *score)
{
    double index[L], least = (double)INFINITY;
    bool shown[L] = {false};
    for (int i = 0; i < L; i++)
        index[i] = rule->of(w, i);
    for (uint32_t slot = 0; slot < k; slot++) {
        if (!is_candidate(query, L, item[slot]))
            fail_msg("round %u: slot %u shows item %u, which is no candidate (does an index give a "
                     "NaN?)",
                     (unsigned)w->t, slot, item[slot]);
        double wanted = index[item[slot]];
        if (takes_prior(w->v) || !is_kind(w->v, "ensemble"))
            if (!near(score[slot], wanted, rule->tolerance))
                fail_msg("round %u, item %u (%g of %g): score %.17g, but its index is %.17g",
                         (unsigned)w->t, item[slot], w->s[item[slot]], w->n[item[slot]],
                         score[slot], wanted);
        if (wanted > least && !near(wanted, least, rule->tolerance))
            fail_msg("round %u: slot %u has a higher index than the one before", (unsigned)w->t,
                     slot);
        least = wanted;
        shown[item[slot]] = true;
    }
    for (int i = 0; i < L; i++)
        if (is_candidate(query, L, (uint32_t)i) && !shown[i] && index[i] > least &&
            !near(index[i], least, rule->tolerance))
            fail_msg("round %u: item %d has index %.17g, yet it is not shown", (unsigned)w->t, i,
                     index[i]);
}

/* Users who scan from the top and leave at their first click; some items never please, one always
 * does. */
static void browse(dice *d, event *e)
{
    for (uint32_t slot = 0; slot < e->k; slot++) {
        e->reward[slot] = unit(d) < e->item[slot] / (L - 1.0);
        e->n_examined = slot + 1;
        if (e->reward[slot] > 0)
            return;
    }
}

static void scores_are_indices(void **state)
{
    const variant *v = *state;
    oltr_policy *p = policy_of(v, L);
    twin w = new_twin(v);
    dice d = {41};
    for (uint32_t round = 0; round < 50 * EFFORT; round++) {
        event e = {.k = round % 7 ? SLOTS : L};
        double score[L];
        expect(rank_with(p, NULL, round, e.k, e.item, score), OLTR_OK);
        assert_top(&w, rule_of(v), NULL, e.k, e.item, score);
        uint32_t some[L], named[L];
        oltr_query query = {1 + below(&d, L), some};
        draw_items(&d, L, query.n_items, some);
        expect(rank_with(p, &query, round, query.n_items, named, score), OLTR_OK);
        assert_top(&w, rule_of(v), &query, query.n_items, named, score);
        e.k = SLOTS;
        browse(&d, &e);
        learn_from(p, NULL, &e);
        teach_twin(&w, &e);
    }
    oltr_policy_free(p);
}

/* The twin of a new policy goes into `rules`, or gets tests and a line here. */
static void every_kind_has_a_twin(void **state)
{
    static const char *const others[] = {"gts",           "ts-hyper",   "ts-beta",  "ts-cascade",
                                         "toprank",       "random",     "maillard", "pbm-ts",
                                         "pbm-ucb",       "bubblerank", /* slot_definitions.c */
                                         "epsilon-greedy"};
    const oltr_policy_info *info = *state;
    bool found = false;
    for (size_t r = 0; r < COUNT(rules); r++)
        found |= strcmp(info->name, rules[r].kind) == 0;
    for (size_t i = 0; i < COUNT(others); i++)
        found |= strcmp(info->name, others[i]) == 0;
    if (!found && !info->contextual)
        fail_msg("%s has no twin of its definition; add one to `rules` in this file", info->name);
}

/* The same after long silences: the clock runs by thousands of rounds while the counts stand
 * still. */
static void indices_follow_the_clock(void **state)
{
    const variant *v = *state;
    oltr_policy *p = policy_of(v, L);
    twin w = new_twin(v);
    dice d = {42};
    for (uint32_t part = 0; part < 12; part++) {
        event e = {.k = L};
        double score[L];
        for (uint32_t again = 0; again < 30; again++) {
            draw_items(&d, L, e.k, e.item);
            browse(&d, &e);
            learn_from(p, NULL, &e);
            teach_twin(&w, &e);
        }
        e.n_examined = 0;
        for (uint32_t silence = 0; silence < (uint32_t)1 << part; silence++) {
            learn_from(p, NULL, &e);
            teach_twin(&w, &e);
        }
        expect(rank_with(p, NULL, part, L, e.item, score), OLTR_OK);
        assert_top(&w, rule_of(v), NULL, L, e.item, score);
    }
    oltr_policy_free(p);
}

/* ---- TS-Cascade: one normal for all */

static bool is_ts_cascade(const variant *v)
{
    return is_kind(v, "ts-cascade");
}

static double cascade_width(const twin *w, int i)
{
    double p = share(w, i), log_t = log((double)w->t + chosen(w->v, "clock", "printed"));
    return fmax(sqrt(p * (1 - p) * log_t / (w->n[i] + 1)), log_t / (w->n[i] + 1));
}

/* The Z that every score must have in common, taken from the item with the widest bound. */
static double common_normal(const twin *w, const uint32_t *item, const double *score)
{
    uint32_t widest = 0;
    for (uint32_t slot = 0; slot < L; slot++)
        if (cascade_width(w, (int)item[slot]) > cascade_width(w, (int)item[widest]))
            widest = slot;
    double width = cascade_width(w, (int)item[widest]);
    return width > 0 ? (score[widest] - share(w, (int)item[widest])) / width : 0;
}

static void one_normal_for_all(void **state)
{
    const variant *v = *state;
    oltr_policy *p = policy_of(v, L);
    twin w = new_twin(v);
    dice d = {43};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        event e = {.k = L};
        double score[L];
        expect(rank_with(p, NULL, round, L, e.item, score), OLTR_OK);
        double z = common_normal(&w, e.item, score);
        for (uint32_t slot = 0; slot < L; slot++) {
            int i = (int)e.item[slot];
            assert_true(near(score[slot], share(&w, i) + z * cascade_width(&w, i), 1e-9));
        }
        expect(rank_with(p, NULL, round, SLOTS, e.item, NULL), OLTR_OK);
        e.k = SLOTS;
        browse(&d, &e);
        learn_from(p, NULL, &e);
        teach_twin(&w, &e);
    }
    oltr_policy_free(p);
}

/* ---- laws: a sample against a distribution function */

enum { DRAWS = 2500 * EFFORT };

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Kolmogorov's distance; P(sqrt(n) D > 3.3) < 1e-9. */
static void assert_law(double *sample, uint32_t n, double (*cdf)(const double *law, double x),
                       const double *law)
{
    double distance = 0;
    qsort(sample, n, sizeof *sample, ascending);
    for (uint32_t i = 0; i < n; i++) {
        double f = cdf(law, sample[i]);
        distance = fmax(distance, fmax((i + 1.0) / n - f, f - (double)i / n));
    }
    if (distance * sqrt(n) > 3.3)
        fail_msg("sample of %u: Kolmogorov's sqrt(n) D = %.3g (law: %g, %g)", n, distance * sqrt(n),
                 law[0], law[1]);
}

typedef struct moments {
    double mean, sd, kurtosis; /* kurtosis: fourth central moment over sd^4 */
} moments;

/* Sample mean and variance in units of their own standard errors; P(|z| > 6.5) < 1e-10.  The scores
 * pass through float32. */
static void assert_moments(const double *x, moments law)
{
    double sum = 0, squares = 0, rounding = 4e-7 * (fabs(law.mean) + law.sd);
    for (uint32_t n = 0; n < DRAWS; n++)
        sum += x[n] - law.mean;
    for (uint32_t n = 0; n < DRAWS; n++)
        squares += (x[n] - law.mean) * (x[n] - law.mean);
    double bias = sum / DRAWS, ratio = squares / DRAWS / (law.sd * law.sd);
    if (fabs(bias) > 6.5 * law.sd / sqrt(DRAWS) + rounding)
        fail_msg("sample mean is %.9g, should be %.9g", law.mean + bias, law.mean);
    if (fabs(ratio - 1) > 6.5 * sqrt((law.kurtosis - 1) / DRAWS) + 2 * rounding / law.sd)
        fail_msg("sample variance is %.6g times what it should be", ratio);
}

static double normal_law(const double *law, double x)
{
    return gsl_cdf_gaussian_P(x - law[0], law[1]);
}

static double beta_law(const double *law, double x)
{
    return gsl_cdf_beta_P(x, law[0], law[1]);
}

static void the_common_normal_is_normal(void **state)
{
    const variant *v = *state;
    static double z[DRAWS];
    const double standard[2] = {0, 1};
    oltr_policy *p = policy_of(v, L);
    twin w = new_twin(v);
    dice d = {44};
    for (uint32_t round = 0; round < 50; round++) {
        event e = draw_event(&d, OLTR_CLICKS, L);
        learn_from(p, NULL, &e);
        teach_twin(&w, &e);
    }
    for (uint32_t n = 0; n < DRAWS; n++) {
        uint32_t item[L];
        double score[L];
        expect(rank_with(p, NULL, n, L, item, score), OLTR_OK);
        z[n] = common_normal(&w, item, score);
    }
    assert_moments(z, (moments){0, 1, 3});
    assert_law(z, DRAWS, normal_law, standard);
    oltr_policy_free(p);
}

/* ---- samplers */

static double gts_released_variance(int i)
{
    return 1 / (4 * (2 * known_prior()->a[i] + 1));
}

/* Mean and standard deviation that GTS must sample item i from. */
static void gts_posterior(const twin *w, int i, double *mean, double *sd)
{
    const variant *v = w->v;
    double sigma = param_of(v, "sigma"), m0 = param_of(v, "mean"), s0 = param_of(v, "sd");
    bool released = chosen(v, "sampler", "released"), full = chosen(v, "prior", "full");
    if (released && chosen(v, "prior", "none")) {
        *mean = share(w, i);
        *sd = 1 / fmax(1, w->n[i]);
        return;
    }
    m0 = chosen(v, "prior", "mean") || full ? known_prior()->mean[i] : m0;
    s0 = chosen(v, "prior", "sd") || full ? known_prior()->sd[i] : s0;
    double variance = released ? gts_released_variance(i) : s0 * s0;
    double posterior = 1 / (1 / variance + w->n[i] / (sigma * sigma));
    *mean = posterior * (m0 / variance + w->s[i] / (sigma * sigma));
    *sd = released && !full ? 1 / (w->n[i] + 1) : sqrt(posterior);
}

static bool is_gts(const variant *v)
{
    /* the released code has no prior whose deviation alone is taken */
    return is_kind(v, "gts") && !(chosen(v, "sampler", "released") && chosen(v, "prior", "sd"));
}

static bool is_beta(const variant *v)
{
    return is_kind(v, "ts-beta") || is_kind(v, "bayes-ucb");
}

static bool close_to(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fmax(fabs(x), fabs(y));
}

static void teach_both(oltr_policy *p, twin *w, dice *d, uint32_t rounds)
{
    for (uint32_t round = 0; round < rounds; round++) {
        event e = draw_event(d, w->v->info->rewards, L - 1); /* the last item stays unseen */
        learn_from(p, NULL, &e);
        teach_twin(w, &e);
    }
}

static void gts_believes_the_conjugate_posterior(void **state)
{
    oltr_policy *p = policy_of(*state, L);
    twin w = new_twin(*state);
    dice d = {45};
    for (uint32_t part = 0; part < 60; part++) {
        double mean[L], sd[L];
        expect(oltr_predict(p, NULL, mean, sd), OLTR_OK);
        for (int i = 0; i < L; i++) {
            double m, s;
            gts_posterior(&w, i, &m, &s);
            if (!near(mean[i], m, 1e-12) || !close_to(sd[i], s))
                fail_msg("item %d with sum %g of %g: %.17g, %.17g instead of %.17g, %.17g", i,
                         w.s[i], w.n[i], mean[i], sd[i], m, s);
        }
        teach_both(p, &w, &d, part);
    }
    oltr_policy_free(p);
}

static void beta_believes_the_conjugate_posterior(void **state)
{
    oltr_policy *p = policy_of(*state, L);
    twin w = new_twin(*state);
    dice d = {46};
    for (uint32_t part = 0; part < 60; part++) {
        double mean[L], sd[L];
        expect(oltr_predict(p, NULL, mean, sd), OLTR_OK);
        for (int i = 0; i < L; i++) {
            double a = w.a[i] + w.s[i], b = w.b[i] + w.n[i] - w.s[i], n = a + b;
            if (!close_to(mean[i], a / n) || !close_to(sd[i], sqrt(a * b / (n * n * (n + 1)))))
                fail_msg("Beta(%.17g, %.17g): mean %.17g, sd %.17g", a, b, mean[i], sd[i]);
        }
        teach_both(p, &w, &d, part);
    }
    oltr_policy_free(p);
}

/* The scores of DRAWS full lists, item by item. */
static void draw_scores(const oltr_policy *p, double sample[L][DRAWS])
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    for (uint32_t n = 0; n < DRAWS; n++) {
        uint32_t item[L];
        double score[L];
        oltr_ranking out = {L, item, score};
        expect(oltr_rank(p, NULL, oltr_rng_at(oltr_rng_make(5, 6), 0, n), scratch, &out), OLTR_OK);
        for (uint32_t slot = 0; slot < L; slot++)
            sample[item[slot]][n] = score[slot];
    }
    oltr_scratch_free(scratch);
}

static double correlation(const double *x, moments mx, const double *y, moments my, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (x[i] - mx.mean) / mx.sd * ((y[i] - my.mean) / my.sd);
    return sum / sqrt(n);
}

/* No item's draw tells anything of another's, nor of its own next one.  Products of heavy tails: a
 * wider bound. */
static void assert_independent(double x[L][DRAWS], const moments *law)
{
    for (int i = 0; i < L; i++) {
        assert_true(fabs(correlation(x[i], law[i], x[i] + 1, law[i], DRAWS - 1)) < 7.5);
        for (int j = 0; j < i; j++)
            assert_true(fabs(correlation(x[i], law[i], x[j], law[j], DRAWS)) < 7.5);
    }
}

static void gts_samples_its_posterior(void **state)
{
    static double sample[L][DRAWS];
    moments law[L];
    oltr_policy *p = policy_of(*state, L);
    twin w = new_twin(*state);
    dice d = {47};
    teach_both(p, &w, &d, 40);
    draw_scores(p, sample);
    for (int i = 0; i < L; i++) {
        gts_posterior(&w, i, &law[i].mean, &law[i].sd);
        law[i].kurtosis = 3;
        assert_moments(sample[i], law[i]);
    }
    assert_independent(sample, law);
    for (int i = 0; i < L; i++)
        assert_law(sample[i], DRAWS, normal_law, (const double[2]){law[i].mean, law[i].sd});
    oltr_policy_free(p);
}

static moments beta_moments(double a, double b)
{
    double n = a + b, mean = a / n, variance = a * b / (n * n * (n + 1));
    double excess =
        6 * ((a - b) * (a - b) * (n + 1) - a * b * (n + 2)) / (a * b * (n + 2) * (n + 3));
    return (moments){mean, sqrt(variance), 3 + excess};
}

static void ts_beta_samples_its_posterior(void **state)
{
    static double sample[L][DRAWS];
    moments law[L];
    oltr_policy *p = policy_of(*state, L);
    twin w = new_twin(*state);
    dice d = {48};
    teach_both(p, &w, &d, 40);
    draw_scores(p, sample);
    for (int i = 0; i < L; i++) {
        law[i] = beta_moments(w.a[i] + w.s[i], w.b[i] + w.n[i] - w.s[i]);
        assert_moments(sample[i], law[i]);
    }
    assert_independent(sample, law);
    for (int i = 0; i < L; i++)
        assert_law(sample[i], DRAWS, beta_law,
                   (const double[2]){w.a[i] + w.s[i], w.b[i] + w.n[i] - w.s[i]});
    oltr_policy_free(p);
}

static bool all_default_numbers(const variant *v)
{
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        const oltr_param *p = &v->info->params[i];
        if (p->type != OLTR_CHOICE && (v->value[i] < p->initial || v->value[i] > p->initial))
            return false;
    }
    return true;
}

static bool is_gts_to_sample(const variant *v)
{
    return is_gts(v) && all_default_numbers(v);
}

static bool is_ts_beta_to_sample(const variant *v)
{
    return is_kind(v, "ts-beta") && all_default_numbers(v);
}

/* ---- Maillard sampling */

static bool is_maillard(const variant *v)
{
    return is_kind(v, "maillard");
}

/* log w; an item that was not examined has no weight. */
static double maillard_weight(const twin *w, int i)
{
    double most = 0;
    for (int j = 0; j < L; j++)
        most = fmax(most, share(w, j));
    return -w->n[i] * divergence(share(w, i), most);
}

static double gumbel_law(const double *law, double x)
{
    return exp(-exp(law[0] - x));
}

/* Scores are log w plus independent Gumbel variables; the item that was not examined is first. */
static void maillard_scores_are_gumbel(void **state)
{
    static double sample[L][DRAWS];
    moments law[L];
    oltr_policy *p = policy_of(*state, L);
    twin w = new_twin(*state);
    dice d = {51};
    teach_both(p, &w, &d, 40);
    draw_scores(p, sample);
    for (int i = 0; i < L; i++) {
        double at = i == L - 1 ? 1000 : maillard_weight(&w, i);
        law[i] = (moments){at + 0.57721566490153286061, acos(-1) / sqrt(6), 5.4};
        assert_moments(sample[i], law[i]);
    }
    assert_independent(sample, law);
    for (int i = 0; i < L; i++)
        assert_law(sample[i], DRAWS, gumbel_law,
                   (const double[2]){law[i].mean - 0.57721566490153286061, 1});
    oltr_policy_free(p);
}

/* z of `count` among n with the chance p; P(|z| > 6.5) < 1e-10. */
static void assert_share(double count, double n, double p)
{
    double z = (count - n * p) / sqrt(n * p * (1 - p));
    if (!(fabs(z) < 6.5))
        fail_msg("%g of %g lists, expected is a share of %.6g (z = %.2f)", count, n, p, z);
}

/* Two arms with 3 of 10 and 6 of 12: w = exp(-10 kl(0.3, 0.5)) and 1.  Three: the list of two is
 * drawn without replacement. */
static void maillard_lists_have_their_chances(void **state)
{
    static const double counts[3][2] = {{10, 3}, {12, 6}, {4, 1}};
    oltr_policy *p = policy_of(*state, 3);
    const double w[3] = {exp(-10 * divergence(0.3, 0.5)), 1, exp(-4 * divergence(0.25, 0.5))};
    uint32_t two[] = {0, 1}, seen[3][3] = {{0}}, first = 0;
    oltr_query query = {2, two};
    for (uint32_t i = 0; i < 3; i++) {
        event e = {.k = 1, .n_examined = 1, .item = {i}};
        for (int t = 0; t < (int)counts[i][0]; t++) {
            e.reward[0] = t < (int)counts[i][1];
            learn_from(p, NULL, &e);
        }
    }
    for (uint32_t n = 0; n < DRAWS; n++) {
        uint32_t item[3];
        expect(rank_with(p, &query, n, 1, item, NULL), OLTR_OK);
        first += item[0] == 0;
        expect(rank_with(p, NULL, n, 2, item, NULL), OLTR_OK);
        seen[item[0]][item[1]]++;
    }
    assert_share(first, DRAWS, w[0] / (w[0] + w[1]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (i != j) {
                double all = w[0] + w[1] + w[2];
                assert_share(seen[i][j], DRAWS, w[i] / all * w[j] / (all - w[i]));
            }
    oltr_policy_free(p);
}

/* An item that is clicked each time makes every miss of the others decisive: fewer come first. */
static void maillard_with_a_sure_item(void **state)
{
    oltr_policy *p = policy_of(*state, 3);
    for (uint32_t t = 0; t < 30; t++) {
        event e = {.k = 3, .n_examined = 3, .item = {0, 1, 2}, .reward = {t > 20, 1, t > 3}};
        learn_from(p, NULL, &e);
    }
    for (uint32_t n = 0; n < 50; n++) {
        uint32_t item[3];
        expect(rank_with(p, NULL, n, 3, item, NULL), OLTR_OK);
        assert_true(item[0] == 1 && item[1] == 2 && item[2] == 0);
    }
    oltr_policy_free(p);
}

/* ---- epsilon-greedy */

static bool is_greedy(const variant *v)
{
    return is_kind(v, "epsilon-greedy");
}

static double greedy_rate(const twin *w, int i)
{
    double start = param_of(w->v, "start"), looks = param_of(w->v, "looks");
    return w->n[i] > 0 ? (w->s[i] + looks * start) / (w->n[i] + looks) : start;
}

/* The largest rate among the candidates that are left, and how many have it. */
static double best_left(const twin *w, const bool left[L], uint32_t *ties)
{
    double best = -1;
    for (int i = 0; i < L; i++)
        if (left[i] && greedy_rate(w, i) > best)
            best = greedy_rate(w, i);
    *ties = 0;
    for (int i = 0; i < L; i++)
        *ties += left[i] && greedy_rate(w, i) >= best;
    return best;
}

/* How often a slot has one of the best that are left, how often that is expected, and with which
 * variance. */
typedef struct greed {
    double had, expected, variance;
} greed;

static void count_greed(const twin *w, bool left[L], uint32_t k, const uint32_t *item,
                        const double *score, greed *g)
{
    double epsilon = param_of(w->v, "epsilon");
    for (uint32_t slot = 0, n = 0; slot < k; slot++, n = 0) {
        uint32_t ties;
        double best = best_left(w, left, &ties);
        for (int i = 0; i < L; i++)
            n += left[i];
        double chance = 1 - epsilon + epsilon * ties / n;
        if (!near(score[slot], best, 1e-12))
            fail_msg("round %u, slot %u: score %.17g, the largest rate left is %.17g",
                     (unsigned)w->t, slot, score[slot], best);
        assert_true(left[item[slot]]);
        left[item[slot]] = false;
        g->had += greedy_rate(w, (int)item[slot]) >= best;
        g->expected += chance;
        g->variance += chance * (1 - chance);
    }
}

static void slots_show_the_best_or_any(void **state)
{
    const variant *v = *state;
    oltr_policy *p = policy_of(v, L);
    twin w = new_twin(v);
    greed g = {0, 0, 0};
    dice d = {52};
    for (uint32_t round = 0; round < 4 * ROUNDS; round++) {
        event e = {.k = round % 7 ? SLOTS : L};
        double score[L], mean[L];
        uint32_t some[L];
        bool left[L] = {false};
        oltr_query query = {1 + below(&d, L), some}, *asked = round % 3 ? NULL : &query;
        draw_items(&d, L, query.n_items, some);
        if (asked && e.k > query.n_items)
            e.k = query.n_items;
        for (int i = 0; i < L; i++)
            left[i] = is_candidate(asked, L, (uint32_t)i);
        expect(oltr_predict(p, NULL, mean, NULL), OLTR_OK);
        for (int i = 0; i < L; i++)
            assert_true(near(mean[i], greedy_rate(&w, i), 1e-12));
        expect(rank_with(p, asked, round, e.k, e.item, score), OLTR_OK);
        count_greed(&w, left, e.k, e.item, score, &g);
        browse(&d, &e);
        learn_from(p, asked, &e);
        teach_twin(&w, &e);
    }
    if (!(fabs(g.had - g.expected) <= 6.5 * sqrt(g.variance) + 1e-9)) /* P < 1e-10 */
        fail_msg("%g slots show one of the best, %g are expected (variance %g)", g.had, g.expected,
                 g.variance);
    oltr_policy_free(p);
}

/* Rates 0.5, 0.25, 0.25 and 0.125: the chance of each list of two is a product over its slots of
 * epsilon / left, and 1 - epsilon over the ties where the item is one of the best. */
static void explored_lists_have_their_chances(void **state)
{
    static const double rate[4] = {0.5, 0.25, 0.25, 0.125};
    variant v = with(with(variant_of("epsilon-greedy"), "epsilon", 0.4), "looks", 0);
    oltr_policy *p = policy_of(&v, 4);
    uint32_t seen[4][4] = {{0}};
    for (uint32_t i = 0; i < 4; i++)
        expect(oltr_item_put(p, i, (const double[2]){8, 8 * rate[i]}, 2, NULL), OLTR_OK);
    for (uint32_t n = 0; n < DRAWS; n++) {
        uint32_t item[2];
        expect(rank_with(p, NULL, n, 2, item, NULL), OLTR_OK);
        seen[item[0]][item[1]]++;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double best = i == 0 ? 0.25 : 0.5, ties = i == 0 ? 2 : 1;
            double first = 0.4 / 4 + (i == 0 ? 0.6 : 0);
            double second = 0.4 / 3 + (near(rate[j], best, 1e-12) ? 0.6 / ties : 0);
            if (i != j)
                assert_share(seen[i][j], DRAWS, first * second);
        }
    oltr_policy_free(p);
}

/* ---- TopRank */

typedef struct top_twin {
    double horizon;
    bool released;
    double s[L][L], n[L][L]; /* S_ij, N_ij */
    int beats[L][L];         /* i beats j */
} top_twin;

/* Blocks of the items in `in`: what no remaining item beats, again and again; a rest of cycles is
 * one block. */
static void partition(const top_twin *w, const int in[L], int block[L])
{
    int left[L], now = 0, any = 1;
    memcpy(left, in, sizeof left);
    for (; any; now++) {
        int free_now[L] = {0}, found = 0;
        any = 0;
        for (int j = 0; j < L; j++) {
            free_now[j] = left[j];
            for (int i = 0; i < L; i++)
                free_now[j] &= !(left[i] && w->beats[i][j]);
            found |= free_now[j];
        }
        for (int j = 0; j < L; j++)
            if (left[j] && (free_now[j] || !found)) {
                block[j] = now;
                left[j] = 0;
            } else
                any |= left[j];
    }
}

static bool now_beats(const top_twin *w, int i, int j)
{
    const double c = 4 * sqrt(2 / acos(-1)) / erf(sqrt(2));
    double s = w->s[i][j], n = w->n[i][j];
    if (w->released)
        return s > 2 * sqrt((n + 1) * log(w->horizon));
    return n > 0 && s >= sqrt(2 * n * log(c * sqrt(n) * w->horizon));
}

static void teach_top(top_twin *w, const int in[L], const event *e)
{
    int block[L], click[L] = {0};
    partition(w, in, block);
    for (uint32_t slot = 0; slot < e->n_examined; slot++)
        click[e->item[slot]] = e->reward[slot] > 0;
    for (int i = 0; i < L; i++)
        for (int j = 0; j < L; j++)
            if (i != j && in[i] && in[j] && block[i] == block[j]) {
                w->s[i][j] += click[i] - click[j];
                w->n[i][j] += click[i] != click[j];
            }
    for (int i = 0; i < L; i++)
        for (int j = 0; j < L; j++)
            w->beats[i][j] = (!w->released && w->beats[i][j]) || now_beats(w, i, j);
}

/* The full list falls into blocks where its scores fall: the same blocks, in the same order.
 * Returns how many. */
static int assert_blocks(const oltr_policy *p, const top_twin *w, const oltr_query *query,
                         const int in[L], uint32_t round)
{
    uint32_t item[L], n = query ? query->n_items : L;
    int block[L], now = 0;
    double score[L];
    partition(w, in, block);
    expect(rank_with(p, query, round, n, item, score), OLTR_OK);
    for (uint32_t slot = 0; slot < n; slot++) {
        now += slot > 0 && score[slot] < score[slot - 1];
        if (block[item[slot]] != now)
            fail_msg("round %u: item %u stands in block %d, should stand in %d", round, item[slot],
                     now, block[item[slot]]);
    }
    return now + 1;
}

static top_twin new_top(const oltr_policy *p)
{
    const oltr_settings *s = oltr_policy_settings(p);
    variant v = {.info = s->info};
    memcpy(v.value, s->value, sizeof v.value);
    top_twin w;
    memset(&w, 0, sizeof w);
    w.horizon = param_of(&v, "horizon");
    w.released = chosen(&v, "rule", "released");
    return w;
}

/* Tastes turn over in the middle, so that edges meet counter-evidence. */
static double taste(uint32_t item, uint32_t round, uint32_t rounds)
{
    double up = item / (L - 1.0);
    return 0.02 + 0.9 * (round < rounds / 2 ? up : 1 - up);
}

static void scan(dice *d, event *e, uint32_t round, uint32_t rounds)
{
    int once = roll(d) & 1; /* half of the users leave at their first click, the others read on */
    for (uint32_t slot = 0; slot < e->k; slot++) {
        e->reward[slot] = unit(d) < taste(e->item[slot], round, rounds);
        e->n_examined = slot + 1;
        if (once && e->reward[slot] > 0)
            return;
    }
}

/* Returns the largest number of blocks met. */
static int play_toprank(oltr_policy *p, uint32_t rounds)
{
    static const int everyone[L] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    top_twin w = new_top(p);
    int most = 0;
    dice d = {49};
    for (uint32_t round = 0; round < rounds; round++) {
        event e = {.k = round % 2 ? SLOTS : L};
        int blocks = assert_blocks(p, &w, NULL, everyone, round);
        most = blocks > most ? blocks : most;
        expect(rank_with(p, NULL, round, e.k, e.item, NULL), OLTR_OK);
        scan(&d, &e, round, rounds);
        learn_from(p, NULL, &e);
        teach_top(&w, everyone, &e);
    }
    expect(oltr_check(p, NULL), OLTR_OK);
    return most;
}

static bool is_toprank(const variant *v)
{
    return is_kind(v, "toprank");
}

static void toprank_has_the_twins_blocks(void **state)
{
    static const double horizons[] = {2, 20, 1000};
    oltr_policy *p = policy_of(*state, L);
    play_toprank(p, 3000);
    oltr_policy_free(p);
    for (size_t h = 0; h < 3; h++) {
        variant v = *(const variant *)*state;
        v.value[param_index(v.info, "horizon")] = horizons[h];
        p = policy_of(&v, L);
        assert_true(play_toprank(p, 1500) >= 3); /* else there was little to compare */
        oltr_policy_free(p);
    }
}

/* Requests for a few of the items: they are partitioned, and compared, among themselves. */
static void toprank_with_subsets(void **state)
{
    variant v = *(const variant *)*state;
    v.value[param_index(v.info, "horizon")] = 20;
    oltr_policy *p = policy_of(&v, L);
    top_twin w = new_top(p);
    dice d = {50};
    for (uint32_t round = 0; round < 1500; round++) {
        uint32_t some[L];
        int in[L] = {0};
        oltr_query query = {2 + below(&d, L - 1), some};
        event e = {.k = 1 + below(&d, query.n_items < SLOTS ? query.n_items : SLOTS)};
        draw_items(&d, L, query.n_items, some);
        for (uint32_t j = 0; j < query.n_items; j++)
            in[some[j]] = 1;
        assert_blocks(p, &w, &query, in, round);
        expect(rank_with(p, &query, round, e.k, e.item, NULL), OLTR_OK);
        scan(&d, &e, round, 1500);
        learn_from(p, &query, &e);
        teach_top(&w, in, &e);
    }
    oltr_policy_free(p);
}

/* ---- ties: every order of equals is as likely as any other */

enum { EQUALS = 9, SHOWN = 4, LISTS = 3375 * EFFORT };

typedef struct tally {
    double slot[SHOWN][EQUALS], pair[EQUALS][EQUALS];
} tally;

static void assert_flat(const double *count, uint32_t n, double expected, double degrees)
{
    double chi2 = 0;
    for (uint32_t i = 0; i < n; i++)
        chi2 += (count[i] - expected) * (count[i] - expected) / expected;
    double p = gsl_cdf_chisq_Q(chi2, degrees);
    if (p < 1e-10)
        fail_msg("chi-square %.4g with %g degrees of freedom: p = %.3g", chi2, degrees, p);
}

/* `place` tells which of the EQUALS an item is. */
static void assert_uniform_lists(const oltr_policy *p, const oltr_query *query,
                                 const uint32_t *place)
{
    tally seen = {0};
    double others[EQUALS * (EQUALS - 1)];
    uint32_t m = 0;
    oltr_scratch *scratch = oltr_scratch_new(p);
    for (uint32_t n = 0; n < LISTS; n++) {
        uint32_t item[SHOWN];
        oltr_ranking out = {SHOWN, item, NULL};
        expect(oltr_rank(p, query, oltr_rng_at(oltr_rng_make(8, 9), 0, n), scratch, &out), OLTR_OK);
        for (uint32_t slot = 0; slot < SHOWN; slot++)
            seen.slot[slot][place[item[slot]]]++;
        seen.pair[place[item[0]]][place[item[SHOWN - 1]]]++;
    }
    for (uint32_t i = 0; i < EQUALS; i++)
        for (uint32_t j = 0; j < EQUALS; j++)
            if (i != j)
                others[m++] = seen.pair[i][j];
    for (uint32_t slot = 0; slot < SHOWN; slot++)
        assert_flat(seen.slot[slot], EQUALS, (double)LISTS / EQUALS, EQUALS - 1);
    assert_flat(others, EQUALS * (EQUALS - 1), (double)LISTS / (EQUALS * (EQUALS - 1)),
                EQUALS * (EQUALS - 1) - 1);
    oltr_scratch_free(scratch);
}

/* Without a prior no item is distinguished at first, except by BubbleRank, which begins with the
 * order of the items; BayesUCB has level 0 in its first round,
 * whatever its prior. */
static bool is_indifferent_at_first(const variant *v)
{
    return has_no_features(v) && !is_kind(v, "bubblerank") &&
           (!takes_prior(v) || is_kind(v, "bayes-ucb"));
}

static void first_lists_are_uniform(void **state)
{
    uint32_t place[EQUALS];
    oltr_policy *p = policy_of(*state, EQUALS);
    for (uint32_t i = 0; i < EQUALS; i++)
        place[i] = i;
    assert_uniform_lists(p, NULL, place);
    oltr_policy_free(p);
}

/* Each item was examined once, and none clicked: all are equals again.  Also those of a request in
 * any order. */
static void equals_stay_equals(void **state)
{
    enum { N = 14 };
    event e = {.k = N, .n_examined = N};
    uint32_t place[N] = {0}, some[EQUALS] = {13, 2, 7, 0, 11, 5, 3, 12, 8};
    oltr_query query = {EQUALS, some};
    oltr_policy *p = policy_of(*state, N);
    for (uint32_t i = 0; i < N; i++)
        e.item[i] = i;
    for (uint32_t i = 0; i < EQUALS; i++)
        place[some[i]] = i;
    for (int round = 0; round < 5; round++)
        learn_from(p, NULL, &e);
    assert_uniform_lists(p, &query, place);
    oltr_policy_free(p);
}

/* Showings in other slots are other observations to some. */
static bool has_no_prior(const variant *v)
{
    return has_no_features(v) && !takes_prior(v) && !is_kind(v, "bubblerank") &&
           !moves_the_best(v->info);
}

/* Beta(1e12, 1e-5) has a mean that rounds to 1: a policy with this prior must show the item first
 * until it is examined without a click. */
static void a_mean_that_rounds_to_1_is_believed(void **state)
{
    const oltr_policy_info *kind = *state;
    const double a[2] = {1, 1e12}, b[2] = {1, 1e-5};
    event silence = {.k = 2, .item = {0, 1}};
    variant v = with_choice(plain_variant(kind), "prior", "mean");
    oltr_settings s = settings_for(&v, 2);
    s.prior.a = a;
    s.prior.b = b;
    oltr_policy *p = policy_from(&s);
    for (uint32_t round = 0; round < 100; round++) {
        uint32_t item[2];
        double score[2];
        learn_from(p, NULL, &silence); /* the level of bayes-ucb is 0 at first */
        expect(rank_with(p, NULL, round, 2, item, score), OLTR_OK);
        assert_int_equal(item[0], 1);
        assert_true(score[0] > 0.999999 && score[1] < 1);
    }
    oltr_policy_free(p);
}

/* Shapes near 0 have no series, and a short list computes only the indices that may be in it: its
 * scores are the first of those of a list of all items, to the bit. */
static void short_lists_of_tiny_shapes(void **state)
{
    enum { SHORT = 5 };
    double a[ITEMS], b[ITEMS], all[ITEMS], score[SHORT];
    uint32_t every[ITEMS], item[SHORT], place[ITEMS];
    variant v = with_choice(plain_variant(*state), "prior", "full");
    oltr_settings s = settings_for(&v, ITEMS);
    dice d = {11};
    for (uint32_t i = 0; i < ITEMS; i++) {
        a[i] = pow(10, -1 - 3.0 * i / ITEMS);
        b[i] = pow(10, -1 + 2.0 * (i * 7 % ITEMS) / ITEMS);
    }
    s.prior.a = a;
    s.prior.b = b;
    oltr_policy *p = policy_from(&s);
    for (uint32_t round = 0; round < 1000; round++) {
        event e = {.k = 2, .n_examined = round % 4 ? 0 : 2, .reward = {below(&d, 2)}};
        draw_items(&d, ITEMS / 2, e.k, e.item); /* the others stay unseen */
        expect(rank_with(p, NULL, round, ITEMS, every, all), OLTR_OK);
        expect(rank_with(p, NULL, round, SHORT, item, score), OLTR_OK);
        for (uint32_t i = 0; i < ITEMS; i++)
            place[every[i]] = i;
        for (uint32_t i = 0; i < SHORT; i++)
            assert_true(score[i] == all[i] && score[i] == all[place[item[i]]]);
        learn_from(p, NULL, &e);
    }
    oltr_policy_free(p);
}

/* ---- the suite */

int main(void)
{
    static suite all;
    gsl_set_error_handler_off();
    list_variants(&variants);
    ON_KINDS(&all, every_kind_has_a_twin);
    ON_SOME_VARIANTS(&all, &variants, scores_are_indices, has_index);
    ON_SOME_VARIANTS(&all, &variants, indices_follow_the_clock, has_index);
    ON_SOME_VARIANTS(&all, &variants, one_normal_for_all, is_ts_cascade);
    ON_SOME_VARIANTS(&all, &variants, the_common_normal_is_normal, is_ts_cascade);
    ON_SOME_VARIANTS(&all, &variants, gts_believes_the_conjugate_posterior, is_gts);
    ON_SOME_VARIANTS(&all, &variants, beta_believes_the_conjugate_posterior, is_beta);
    ON_SOME_VARIANTS(&all, &variants, gts_samples_its_posterior, is_gts_to_sample);
    ON_SOME_VARIANTS(&all, &variants, ts_beta_samples_its_posterior, is_ts_beta_to_sample);
    ON_SOME_VARIANTS(&all, &variants, maillard_scores_are_gumbel, is_maillard);
    ON_SOME_VARIANTS(&all, &variants, maillard_lists_have_their_chances, is_maillard);
    ON_SOME_VARIANTS(&all, &variants, maillard_with_a_sure_item, is_maillard);
    ON_SOME_VARIANTS(&all, &variants, slots_show_the_best_or_any, is_greedy);
    ONCE(&all, explored_lists_have_their_chances);
    ON_SOME_VARIANTS(&all, &variants, toprank_has_the_twins_blocks, is_toprank);
    ON_SOME_VARIANTS(&all, &variants, toprank_with_subsets, is_toprank);
    ON_SOME_VARIANTS(&all, &variants, first_lists_are_uniform, is_indifferent_at_first);
    ON_SOME_VARIANTS(&all, &variants, equals_stay_equals, has_no_prior);
    for (int i = 0; i < 2; i++)
        add_test(&all, "a_mean_that_rounds_to_1_is_believed", i ? "bayes-ucb" : "ts-beta",
                 a_mean_that_rounds_to_1_is_believed,
                 oltr_policy_info_by_name(i ? "bayes-ucb" : "ts-beta", NULL));
    add_test(&all, "short_lists_of_tiny_shapes", "bayes-ucb", short_lists_of_tiny_shapes,
             oltr_policy_info_by_name("bayes-ucb", NULL));
    return cmocka_run_group_tests_name("every policy is the algorithm of its paper", all.test, NULL,
                                       NULL);
}
