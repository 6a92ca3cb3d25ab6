/* hyper.c - is ts-hyper the policy that its page defines?
 *
 * The twin here is written from the definition alone: the grid from the parameters, the shapes of
 * every item under every recalibration, and the weights as ratios of Gamma functions in long double
 * (2 to 6 calls for each item and cell).  After any life the chances that oltr_hyper_at() gives and
 * the beliefs of oltr_predict() must be the twin's to 1e-9.  The law of lists is compared with
 * integrals over the grid, and the whole model by simulation-based calibration: truths drawn from
 * the hyperprior must have uniform ranks in what the policy learns of them.
 *
 * Seeds are fixed.  Each statistical comparison has a false-alarm rate of 1e-10 (support/stat.h),
 * and a last test adds them up.
 */
#include "conform/fixtures.h"
#include "support/oracle.h"
#include "support/stat.h"

enum { MOST = 1000, CELLS = 46 * 3 * 21, SHIFT = 0, SLOPE = 1, WEIGHT = 2 };
static const double CLOSE = 1e-9;

/* ---- the twin: its grid */

typedef struct axis {
    uint32_t n;
    double value[OLTR_MAX_HYPER_VALUES], log_prior[OLTR_MAX_HYPER_VALUES];
} axis;

typedef struct twin {
    const oltr_settings *settings;
    axis axis[3];
    uint32_t items, cells;
    double centre;                                  /* the mean of the told log-odds */
    double a[MOST], b[MOST], n[MOST], clicks[MOST]; /* told shapes; observations and clicks */
    double chance[CELLS];                           /* slowest index: shift; fastest: weight */
} twin;

static double number(const twin *w, const char *name)
{
    return w->settings->value[param_index(w->settings->info, name)];
}

static bool is_set(const twin *w, const char *name, const char *choice)
{
    uint32_t i = param_index(w->settings->info, name);
    const oltr_param *p = &w->settings->info->params[i];
    return strcmp(p->choices[(uint32_t)w->settings->value[i]], choice) == 0;
}

static void add_value(axis *x, double value, double log_prior)
{
    x->value[x->n] = value;
    x->log_prior[x->n++] = log_prior;
}

static double log_normal(double x, double sd)
{
    return -x * x / (2 * sd * sd);
}

static void make_axes(twin *w)
{
    double low = number(w, "weight_min"), high = number(w, "weight_max");
    for (int half = -40; half <= 40; half++) {
        double s = half / 2.0;
        bool in_grid = half % 2 == 0 || (s >= -3 && s <= 2);
        if (in_grid && s >= number(w, "shift_min") && s <= number(w, "shift_max"))
            add_value(&w->axis[SHIFT], s, log_normal(s, number(w, "shift_sd")));
    }
    if (!is_set(w, "slope", "fixed") && !is_set(w, "prior", "none")) {
        add_value(&w->axis[SLOPE], 0, log(number(w, "slope_none")));
        add_value(&w->axis[SLOPE], 0.5, log(number(w, "slope_half")));
    }
    add_value(&w->axis[SLOPE], 1, 0);
    for (int power = -10; power <= 10; power++)
        if (ldexp(1, power) >= low && ldexp(1, power) <= high)
            add_value(&w->axis[WEIGHT], ldexp(1, power),
                      log_normal(power * log(2), number(w, "weight_sd")));
    w->cells = w->axis[SHIFT].n * w->axis[SLOPE].n * w->axis[WEIGHT].n;
}

/* ---- the twin: what it is told */

static void tell(twin *w, uint32_t i)
{
    const oltr_prior *told = &w->settings->prior;
    double sum = number(w, "a") + number(w, "b");
    bool none = is_set(w, "prior", "none"), full = is_set(w, "prior", "full");
    w->a[i] = none ? number(w, "a") : told->a ? told->a[i] : told->mean[i];
    w->b[i] = none ? number(w, "b") : told->a ? told->b[i] : 1 - told->mean[i];
    if (none || (full && told->a))
        return;
    if (full)
        sum = fmax(w->a[i] * w->b[i] / (told->sd[i] * told->sd[i]) - 1, 0.5);
    double factor = sum / (w->a[i] + w->b[i]);
    w->a[i] *= factor;
    w->b[i] *= factor;
}

static double told_log_odds(const twin *w, uint32_t i)
{
    return log(w->a[i]) - log(w->b[i]);
}

/* The settings must outlive the twin. */
static twin *twin_of(const oltr_settings *s)
{
    twin *w = exactly(1, sizeof *w);
    long double sum = 0;
    w->settings = s;
    w->items = s->n_items;
    assert_true(s->n_items <= MOST);
    make_axes(w);
    for (uint32_t i = 0; i < w->items; i++) {
        tell(w, i);
        sum += (long double)told_log_odds(w, i);
    }
    w->centre = (double)(sum / w->items);
    return w;
}

/* ---- the twin: weights */

typedef struct cell {
    double shift, slope, weight, log_prior;
} cell;

static cell cell_at(const twin *w, uint32_t j)
{
    const axis *x = w->axis;
    uint32_t weight = j % x[WEIGHT].n, slope = j / x[WEIGHT].n % x[SLOPE].n,
             shift = j / x[WEIGHT].n / x[SLOPE].n;
    return (cell){x[SHIFT].value[shift], x[SLOPE].value[slope], x[WEIGHT].value[weight],
                  x[SHIFT].log_prior[shift] + x[SLOPE].log_prior[slope] +
                      x[WEIGHT].log_prior[weight]};
}

typedef struct shapes {
    double a, b;
} shapes;

/* The told shapes of item i under a recalibration. */
static shapes recalibrated(const twin *w, const cell *c, uint32_t i)
{
    double n = c->weight * (w->a[i] + w->b[i]);
    double logit = w->centre + c->shift + c->slope * (told_log_odds(w, i) - w->centre);
    return (shapes){n / (1 + exp(-logit)), n / (1 + exp(logit))};
}

static shapes learned(const twin *w, const cell *c, uint32_t i)
{
    shapes s = recalibrated(w, c, i);
    return (shapes){s.a + w->clicks[i], s.b + (w->n[i] - w->clicks[i])};
}

/* log Gamma(x + n) - log Gamma(x). */
static long double log_rising(double x, double n)
{
    return n > 0 ? -oracle_log_gamma_step((long double)n, (long double)x) : 0;
}

static long double log_weight(const twin *w, const cell *c)
{
    long double sum = (long double)c->log_prior;
    for (uint32_t i = 0; i < w->items; i++)
        if (w->n[i] > 0) {
            shapes s = recalibrated(w, c, i);
            sum += log_rising(s.a, w->clicks[i]) + log_rising(s.b, w->n[i] - w->clicks[i]) -
                   log_rising(c->weight * (w->a[i] + w->b[i]), w->n[i]);
        }
    return sum;
}

static void weigh(twin *w)
{
    static long double log_of[CELLS];
    long double most = -INFINITY, sum = 0;
    for (uint32_t j = 0; j < w->cells; j++) {
        cell c = cell_at(w, j);
        log_of[j] = log_weight(w, &c);
        most = fmaxl(most, log_of[j]);
    }
    for (uint32_t j = 0; j < w->cells; j++)
        sum += expl(log_of[j] - most);
    for (uint32_t j = 0; j < w->cells; j++)
        w->chance[j] = (double)(expl(log_of[j] - most) / sum);
}

/* ---- engine against twin */

static oltr_hyper hyper_of(const oltr_policy *p, uint32_t index)
{
    oltr_hyper h;
    expect(oltr_hyper_at(p, index, &h), OLTR_OK);
    return h;
}

/* The chance that the twin gives to one value of an axis. */
static double marginal(const twin *w, uint32_t which, double value)
{
    double sum = 0;
    for (uint32_t j = 0; j < w->cells; j++) {
        cell c = cell_at(w, j);
        double at = which == SHIFT ? c.shift : which == SLOPE ? c.slope : c.weight;
        sum += at <= value && at >= value ? w->chance[j] : 0;
    }
    return sum;
}

static void assert_axis(const oltr_policy *p, const twin *w, uint32_t which)
{
    static const char *const name[] = {"shift", "slope", "weight"};
    const axis *x = &w->axis[which];
    oltr_hyper h = hyper_of(p, which);
    double mean = 0, square = 0;
    assert_string_equal(h.name, name[which]);
    assert_int_equal(h.n_values, x->n);
    for (uint32_t v = 0; v < x->n; v++) {
        double chance = marginal(w, which, x->value[v]);
        mean += chance * x->value[v];
        square += chance * x->value[v] * x->value[v];
        assert_true(near(h.value[v], x->value[v], 1e-15));
        if (!near(h.chance[v], chance, CLOSE))
            fail_msg("the chance of %s %g is %.17g, should be %.17g", h.name, x->value[v],
                     h.chance[v], chance);
    }
    assert_true(near(h.mean, mean, 1e-8));
    assert_true(near(h.sd * h.sd, fmax(0, square - mean * mean), 1e-6));
}

/* Mean and variance of item i, over all recalibrations. */
static void belief(const twin *w, uint32_t i, double *mean, double *variance)
{
    long double first = 0, within = 0, between = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t j = 0; j < w->cells; j++) {
            cell c = cell_at(w, j);
            shapes s = learned(w, &c, i);
            long double n = (long double)s.a + (long double)s.b, m = (long double)s.a / n;
            if (!pass)
                first += w->chance[j] * m;
            else {
                within += w->chance[j] * (m * ((long double)s.b / n) / (n + 1));
                between += w->chance[j] * (m - first) * (m - first);
            }
        }
    *mean = (double)first;
    *variance = (double)(within + between);
}

static void assert_beliefs(const oltr_policy *p, const twin *w)
{
    static double mean[MOST], sd[MOST];
    expect(oltr_predict(p, NULL, mean, sd), OLTR_OK);
    for (uint32_t i = 0; i < w->items; i++) {
        double first, variance;
        belief(w, i, &first, &variance);
        if (fabs(mean[i] - first) > CLOSE * first || !near(sd[i], sqrt(variance), CLOSE))
            fail_msg("item %u (%g of %g): mean %.17g, sd %.17g, should be %.17g and %.17g", i,
                     w->clicks[i], w->n[i], mean[i], sd[i], first, sqrt(variance));
    }
}

/* The sums are equal to rounding, and so is all that follows from them. */
static void assert_twin(const oltr_policy *p, twin *w)
{
    assert_sound(p);
    assert_int_equal(oltr_hyper_count(p), 3);
    for (uint32_t i = 0; i < w->items; i++) {
        double x[OLTR_MAX_ITEM_NUMBERS];
        uint32_t n;
        expect(oltr_item_get(p, i, x, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        assert_true(near(x[0], w->n[i], 1e-12) && near(x[1], w->clicks[i], 1e-12));
    }
    weigh(w);
    for (uint32_t which = 0; which < 3; which++)
        assert_axis(p, w, which);
    assert_beliefs(p, w);
}

/* What two policies have learned about their priors and items is the same to rounding. */
static void assert_alike(const oltr_policy *p, const oltr_policy *q)
{
    static double mean[2][MOST], sd[2][MOST];
    for (uint32_t which = 0; which < 3; which++) {
        oltr_hyper x = hyper_of(p, which), y = hyper_of(q, which);
        assert_int_equal(x.n_values, y.n_values);
        for (uint32_t v = 0; v < x.n_values; v++)
            assert_true(near(x.chance[v], y.chance[v], CLOSE));
    }
    expect(oltr_predict(p, NULL, mean[0], sd[0]), OLTR_OK);
    expect(oltr_predict(q, NULL, mean[1], sd[1]), OLTR_OK);
    for (uint32_t i = 0; i < oltr_policy_settings(p)->n_items; i++)
        assert_true(near(mean[0][i], mean[1][i], CLOSE) && near(sd[0][i], sd[1][i], CLOSE));
}

/* ---- lives */

/* One list with feedback.  Weights are exact in binary, so that sums are too. */
typedef struct lesson {
    uint32_t k, item[ITEMS];
    double reward[ITEMS], weight[ITEMS];
    uint8_t examined[ITEMS];
    bool masked, weighted;
} lesson;

/* Weighted lists are short: they take longer. */
static lesson draw_lesson(dice *d, uint32_t n_items, bool plain)
{
    static const double weights[] = {0.25, 1, 1.5, 2, 7};
    lesson e = {.masked = !plain && one_in(d, 3), .weighted = !plain && one_in(d, 3)};
    uint32_t most = e.weighted ? 4 : ITEMS;
    e.k = 1 + below(d, n_items < most ? n_items : most);
    draw_items(d, n_items, e.k, e.item);
    for (uint32_t slot = 0; slot < e.k; slot++) {
        e.reward[slot] = unit(d) < 0.02 + 0.03 * (e.item[slot] * 7 % 13);
        e.weight[slot] = weights[below(d, COUNT(weights))];
        e.examined[slot] = below(d, 2) != 0;
    }
    return e;
}

static void teach(oltr_policy *p, lesson *e)
{
    oltr_ranking shown = {e->k, e->item, NULL};
    oltr_feedback seen = {e->k,
                          e->reward,
                          e->masked ? e->examined : NULL,
                          e->weighted ? e->weight : NULL,
                          {NULL, NULL}};
    expect(oltr_learn(p, NULL, &shown, &seen), OLTR_OK);
}

static void teach_twin(twin *w, const lesson *e)
{
    for (uint32_t slot = 0; slot < e->k; slot++)
        if (!e->masked || e->examined[slot]) {
            double count = e->weighted ? e->weight[slot] : 1;
            w->n[e->item[slot]] += count;
            w->clicks[e->item[slot]] += count * e->reward[slot];
        }
}

static void fade(oltr_policy *p, twin *w, double keep)
{
    expect(oltr_forget(p, keep), OLTR_OK);
    for (uint32_t i = 0; i < w->items; i++) {
        w->n[i] *= keep;
        w->clicks[i] *= keep;
    }
}

/* Any lessons (plain: whole clicks of examined lists only). */
static void live(oltr_policy *p, twin *w, dice *d, uint32_t lessons, bool plain)
{
    for (uint32_t t = 0; t < lessons; t++) {
        lesson e = draw_lesson(d, oltr_policy_settings(p)->n_items, plain);
        teach(p, &e);
        if (w)
            teach_twin(w, &e);
    }
}

/* ---- settings to test: what is told, and grids */

static variant hyper(void)
{
    return variant_of("ts-hyper");
}

static variant told(prior_form form)
{
    return with_prior(hyper(), form);
}

static variant told_means(prior_form form)
{
    variant v = with_choice(hyper(), "prior", "mean");
    v.form = form;
    name_variant(&v);
    return v;
}

/* Parameters in pairs of a name and a value, to a NULL. */
static variant with_all(variant v, ...)
{
    va_list list;
    va_start(list, v);
    for (const char *name = va_arg(list, const char *); name; name = va_arg(list, const char *))
        v = with(v, name, va_arg(list, double));
    va_end(list);
    return v;
}

static variant one_cell(variant v)
{
    return with_choice(
        with_all(v, "shift_min", 0., "shift_max", 0., "weight_min", 1., "weight_max", 1., NULL),
        "slope", "fixed");
}

static variant_list settings_to_test;

static void list_settings(variant_list *list)
{
    variant full = told(SHAPES);
    add_variant(list, hyper());
    add_variant(list, with_all(hyper(), "a", 0.3, "b", 7., NULL));
    add_variant(list, full);
    add_variant(list, told(MOMENTS));
    add_variant(list, told_means(SHAPES));
    add_variant(list, with_all(told_means(MOMENTS), "a", 0.5, "b", 4., NULL));
    add_variant(list, with_choice(full, "slope", "fixed"));
    add_variant(list, with_choice(hyper(), "slope", "fixed"));
    add_variant(list, with_all(full, "shift_min", -20., "shift_max", 20., NULL));
    add_variant(list, with_all(full, "shift_min", 0., "shift_max", 0., NULL));
    add_variant(list, with_all(full, "shift_min", -3.4, "shift_max", 1.3, NULL));
    add_variant(list, with_all(full, "weight_min", 1. / 1024, "weight_max", 1024., NULL));
    add_variant(list, with_all(full, "weight_min", 0.3, "weight_max", 1.9, NULL));
    add_variant(list, with_all(full, "slope_none", 0., "slope_half", 5., NULL));
    add_variant(list, with_all(full, "slope_none", 1e6, "slope_half", 0., NULL));
    add_variant(list, with_all(full, "shift_sd", 0.1, "weight_sd", 0.2, NULL));
    add_variant(list, with_all(full, "shift_sd", 1000., "weight_sd", 1000., NULL));
    add_variant(list, with_all(full, "shift_sd", 0.001, "weight_sd", 0.001, NULL));
    add_variant(list, one_cell(full));
}

typedef struct pair {
    oltr_settings settings;
    oltr_policy *p;
    twin *w;
} pair;

static void start(pair *both, const variant *v, uint32_t n_items)
{
    both->settings = settings_for(v, n_items);
    both->p = policy_from(&both->settings);
    both->w = twin_of(&both->settings);
}

static void stop(pair *both)
{
    oltr_policy_free(both->p);
    free(both->w);
}

/* ---- definitions */

static void chances_and_beliefs_are_the_twins(void **state)
{
    dice d = {1};
    pair x;
    start(&x, *state, ITEMS);
    assert_twin(x.p, x.w);
    live(x.p, x.w, &d, 20, true);
    assert_twin(x.p, x.w);
    live(x.p, x.w, &d, 60, false);
    assert_twin(x.p, x.w);
    fade(x.p, x.w, 0.7);
    assert_twin(x.p, x.w);
    live(x.p, x.w, &d, 30, false);
    live(x.p, x.w, &d, 30, true);
    assert_twin(x.p, x.w);
    stop(&x);
}

/* A deviation that no Beta distribution has, or one that leaves less than half an observation. */
static void wide_deviations_count_half_an_observation(void **state)
{
    const double mean[] = {0.5, 0.1, 0.9, 0.3, 1e-6}, sd[] = {0.5, 2, 0.26, 0.4, 1e-3};
    const variant *const v = *state;
    dice d = {2};
    pair x = {.settings = settings_for(v, 5)};
    x.settings.prior = (oltr_prior){.mean = mean, .sd = sd};
    x.p = policy_from(&x.settings);
    x.w = twin_of(&x.settings);
    assert_twin(x.p, x.w);
    live(x.p, x.w, &d, 50, false);
    assert_twin(x.p, x.w);
    stop(&x);
}

/* Lists, scores and beliefs, for all items and for some. */
static void assert_same_bits(const oltr_policy *p, const oltr_policy *q, dice *d)
{
    double mean[2][ITEMS], sd[2][ITEMS], score[2][ITEMS];
    uint32_t item[2][ITEMS], some[ITEMS], k = 1 + below(d, ITEMS);
    oltr_query query = {k + below(d, ITEMS - k + 1), some};
    const oltr_query *asked = one_in(d, 3) ? NULL : &query;
    uint32_t n = asked ? query.n_items : ITEMS;
    uint64_t round = roll(d) >> 20;
    draw_items(d, ITEMS, query.n_items, some);
    for (int i = 0; i < 2; i++) {
        expect(rank_with(i ? q : p, asked, round, k, item[i], score[i]), OLTR_OK);
        expect(oltr_predict(i ? q : p, asked, mean[i], sd[i]), OLTR_OK);
    }
    assert_memory_equal(item[0], item[1], k * sizeof *item[0]);
    assert_memory_equal(score[0], score[1], k * sizeof *score[0]);
    assert_memory_equal(mean[0], mean[1], n * sizeof *mean[0]);
    assert_memory_equal(sd[0], sd[1], n * sizeof *sd[0]);
}

/* Shift 0, slope 1 and weight 1 leave nothing to learn about the prior. */
static void one_cell_is_ts_beta(void **state)
{
    const variant *const told_as = *state;
    variant beta = variant_of("ts-beta"), one = one_cell(*told_as);
    beta.form = told_as->form;
    beta = with(beta, "prior", param_of(told_as, "prior"));
    beta = with_all(beta, "a", param_of(told_as, "a"), "b", param_of(told_as, "b"), NULL);
    oltr_policy *p = new_policy(&one), *q = new_policy(&beta);
    dice d = {3};
    for (uint32_t round = 0; round < 40 * EFFORT; round++) {
        lesson e = draw_lesson(&d, ITEMS, false);
        assert_same_bits(p, q, &d);
        teach(p, &e);
        teach(q, &e);
        if (round % 64 == 63) {
            expect(oltr_forget(p, 0.9), OLTR_OK);
            expect(oltr_forget(q, 0.9), OLTR_OK);
        }
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* Factor by factor over 10^5 lessons, against the Gamma functions. */
static void many_lessons_keep_the_digits(void **state)
{
    enum { LESSONS = 12500 * EFFORT, K = 3 };
    static uint32_t item[LESSONS * K];
    static double reward[LESSONS * K];
    const oltr_lessons all = {.n = LESSONS, .k = K, .item = item, .reward = reward};
    uint32_t done;
    dice d = {4};
    pair x;
    start(&x, *state, ITEMS);
    for (uint32_t t = 0; t < LESSONS; t++) {
        draw_items(&d, ITEMS, K, item + t * K);
        for (uint32_t at = t * K; at < t * K + K; at++) {
            reward[at] = unit(&d) < 0.01 * item[at];
            x.w->n[item[at]] += 1;
            x.w->clicks[item[at]] += reward[at];
        }
    }
    expect(oltr_learn_many(x.p, NULL, &all, &done), OLTR_OK);
    assert_twin(x.p, x.w);
    stop(&x);
}

static void order_is_irrelevant(void **state)
{
    enum { LESSONS = 100 };
    static lesson all[LESSONS];
    oltr_policy *p = new_policy(*state), *q = new_policy(*state);
    uint32_t order[LESSONS];
    dice d = {5};
    for (uint32_t t = 0; t < LESSONS; t++) {
        all[t] = draw_lesson(&d, ITEMS, false);
        order[t] = t;
    }
    shuffle(&d, order, LESSONS);
    for (uint32_t t = 0; t < LESSONS; t++) {
        teach(p, &all[t]);
        teach(q, &all[order[t]]);
    }
    assert_alike(p, q);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

static void a_weight_of_2_is_the_same_twice(void **state)
{
    oltr_policy *p = new_policy(*state), *q = new_policy(*state);
    dice d = {6};
    for (uint32_t t = 0; t < 20; t++) {
        lesson e = draw_lesson(&d, ITEMS, true);
        teach(p, &e);
        teach(p, &e);
        e.weighted = true;
        for (uint32_t slot = 0; slot < e.k; slot++)
            e.weight[slot] = 2;
        teach(q, &e);
    }
    assert_alike(p, q);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- merging, forgetting, copies, single items */

static void a_merger_has_seen_both(void **state)
{
    dice d = {7};
    pair x;
    start(&x, *state, ITEMS);
    oltr_policy *from = policy_from(&x.settings), *both = policy_from(&x.settings);
    for (uint32_t t = 0; t < 80; t++) {
        lesson e = draw_lesson(&d, ITEMS, t % 2);
        teach(t % 3 ? x.p : from, &e);
        teach(both, &e);
        teach_twin(x.w, &e);
    }
    expect(oltr_merge(x.p, from), OLTR_OK);
    assert_alike(x.p, both);
    assert_twin(x.p, x.w);
    live(x.p, x.w, &d, 10, true);
    assert_twin(x.p, x.w);
    oltr_policy_free(from);
    oltr_policy_free(both);
    stop(&x);
}

static void assert_same_hyper(const oltr_policy *p, const oltr_policy *q)
{
    for (uint32_t which = 0; which < 3; which++) {
        oltr_hyper x = hyper_of(p, which), y = hyper_of(q, which);
        assert_memory_equal(x.chance, y.chance, x.n_values * sizeof *x.chance);
        assert_memory_equal(&x.mean, &y.mean, sizeof x.mean);
        assert_memory_equal(&x.sd, &y.sd, sizeof x.sd);
    }
}

static void nothing_kept_is_the_hyperprior(void **state)
{
    oltr_policy *fresh = new_policy(*state), *p = new_policy(*state);
    dice d = {8};
    live(p, NULL, &d, 20, false);
    expect(oltr_forget(p, 0), OLTR_OK);
    assert_same_hyper(p, fresh);
    for (int i = 0; i < 8; i++)
        assert_same_bits(p, fresh, &d);
    oltr_policy_free(fresh);
    oltr_policy_free(p);
}

/* Forgetting, again and again, leaves fractions of observations. */
static void fractions_of_observations_count(void **state)
{
    dice d = {9};
    pair x;
    start(&x, *state, ITEMS);
    for (uint32_t part = 0; part < 30; part++) {
        live(x.p, x.w, &d, 8, part % 2);
        fade(x.p, x.w, 0.5 + 0.5 * unit(&d));
        if (part % 10 == 9)
            assert_twin(x.p, x.w);
    }
    fade(x.p, x.w, 1e-12);
    assert_twin(x.p, x.w);
    stop(&x);
}

/* A loaded policy and a copy continue with the same bits, whatever happened before. */
static void copies_go_on_to_the_same_bits(void **state)
{
    oltr_policy *p = new_policy(*state);
    dice d = {10};
    for (uint32_t part = 0; part < 6; part++) {
        live(p, NULL, &d, 12, part % 3 == 0);
        if (part % 4 == 2)
            expect(oltr_forget(p, 0.8), OLTR_OK);
        oltr_policy *q = part % 2 ? copy_of(p) : oltr_policy_copy(p, NULL, NULL);
        dice same = d;
        assert_true(same_state(p, q));
        live(p, NULL, &d, 10, false);
        live(q, NULL, &same, 10, false);
        assert_true(same_state(p, q));
        assert_same_hyper(p, q);
        assert_same_bits(p, q, &d);
        oltr_policy_free(q);
    }
    oltr_policy_free(p);
}

/* The lesson without item i. */
static lesson without(const lesson *e, uint32_t i)
{
    lesson rest = *e;
    rest.k = 0;
    for (uint32_t slot = 0; slot < e->k; slot++)
        if (e->item[slot] != i) {
            rest.item[rest.k] = e->item[slot];
            rest.reward[rest.k] = e->reward[slot];
            rest.weight[rest.k] = e->weight[slot];
            rest.examined[rest.k++] = e->examined[slot];
        }
    return rest;
}

static void renew_same(oltr_policy *p, uint32_t i, int keep)
{
    double x[OLTR_MAX_ITEM_NUMBERS];
    uint32_t n;
    expect(oltr_item_get(p, i, x, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
    assert_int_equal(n, 4);
    expect(oltr_item_renew(p, i, x[2], x[3], keep, NULL), OLTR_OK);
}

/* Forgets item 4 in one of three ways. */
static void forget_item_4(oltr_policy *p, int way)
{
    double x[OLTR_MAX_ITEM_NUMBERS];
    uint32_t n;
    bool given = oltr_policy_settings(p)->prior.a || oltr_policy_settings(p)->prior.mean;
    if (way == 1 && given) {
        renew_same(p, 4, 1);
        renew_same(p, 4, 0);
    } else if (way == 2) {
        expect(oltr_item_get(p, 4, x, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        x[0] = x[1] = 0;
        expect(oltr_item_put(p, 4, x, n, NULL), OLTR_OK);
    } else
        expect(oltr_item_reset(p, 4, NULL), OLTR_OK);
}

static void a_forgotten_item_was_never_seen(void **state)
{
    for (int way = 0; way < 3; way++) {
        oltr_policy *p = new_policy(*state), *q = new_policy(*state);
        dice d = {11};
        for (uint32_t t = 0; t < 30; t++) {
            lesson e = draw_lesson(&d, ITEMS, false), rest = without(&e, 4);
            teach(p, &e);
            if (rest.k)
                teach(q, &rest);
        }
        forget_item_4(p, way);
        assert_sound(p);
        assert_alike(p, q);
        live(p, NULL, &d, 5, true);
        assert_sound(p);
        oltr_policy_free(p);
        oltr_policy_free(q);
    }
}

static oltr_policy *told_strongly(double strength)
{
    variant v = told(SHAPES);
    oltr_settings s = settings_for(&v, ITEMS);
    double a[ITEMS], b[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++) {
        a[i] = strength * s.prior.a[i];
        b[i] = strength * s.prior.b[i];
    }
    s.prior = (oltr_prior){.a = a, .b = b};
    return policy_from(&s);
}

/* Rounding of many observations under a strong prior must not stay behind when they go. */
static void a_heavy_item_leaves_nothing_behind(void **state)
{
    dice d = {22};
    for (double strength = 1; strength <= 1e10; strength *= 10) {
        oltr_policy *p = told_strongly(strength), *q = told_strongly(strength);
        double x[OLTR_MAX_ITEM_NUMBERS];
        uint32_t n;
        expect(oltr_item_get(p, 4, x, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        x[0] = 1e12;
        x[1] = unit(&d) * 1e12;
        expect(oltr_item_put(p, 4, x, n, NULL), OLTR_OK);
        for (uint32_t t = 0; t < 10; t++) {
            lesson e = {.k = 1, .item = {4}, .weighted = t % 2};
            e.reward[0] = one_in(&d, 3);
            e.weight[0] = log_uniform(&d, 1, OLTR_MAX_WEIGHT);
            teach(p, &e);
        }
        assert_sound(p);
        expect(oltr_item_reset(p, 4, NULL), OLTR_OK);
        assert_sound(p);
        assert_alike(p, q);
        oltr_policy_free(p);
        oltr_policy_free(q);
    }
}

/* Any sums can be put, and count as if they had been learned. */
static void sums_that_are_put_count(void **state)
{
    dice d = {12};
    pair x;
    start(&x, *state, ITEMS);
    live(x.p, x.w, &d, 30, false);
    for (uint32_t i = 0; i < ITEMS; i += 3) {
        double numbers[OLTR_MAX_ITEM_NUMBERS];
        uint32_t n;
        expect(oltr_item_get(x.p, i, numbers, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        x.w->n[i] = numbers[0] = log_uniform(&d, 0.01, 1e4);
        x.w->clicks[i] = numbers[1] = unit(&d) * numbers[0];
        expect(oltr_item_put(x.p, i, numbers, n, NULL), OLTR_OK);
    }
    assert_twin(x.p, x.w);
    live(x.p, x.w, &d, 30, false);
    assert_twin(x.p, x.w);
    stop(&x);
}

/* Another prior for some items: shapes change, the centre of the log-odds stays, also in a loaded
 * copy. */
static void a_renewed_prior_leaves_the_centre(void **state)
{
    dice d = {13};
    pair x;
    start(&x, *state, ITEMS);
    live(x.p, x.w, &d, 30, false);
    for (uint32_t i = 0; i < ITEMS; i += 4) {
        x.w->a[i] = log_uniform(&d, 0.1, 100);
        x.w->b[i] = log_uniform(&d, 0.1, 100);
        expect(oltr_item_renew(x.p, i, x.w->a[i], x.w->b[i], 1, NULL), OLTR_OK);
    }
    assert_twin(x.p, x.w);
    oltr_policy *q = copy_of(x.p);
    dice same = d;
    live(q, NULL, &same, 30, false);
    live(x.p, x.w, &d, 30, false);
    assert_twin(x.p, x.w);
    assert_twin(q, x.w);
    assert_true(same_state(x.p, q));
    oltr_policy_free(q);
    stop(&x);
}

/* More and fewer items: the centre is that of the items at hand. */
static void another_number_of_items_has_another_centre(void **state)
{
    static const uint32_t sizes[] = {ITEMS, 5, 40, 1, 30};
    const variant *const v = *state;
    dice d = {14};
    pair x;
    start(&x, v, sizes[0]);
    for (size_t step = 1; step < COUNT(sizes); step++) {
        uint32_t before = sizes[step - 1], now = sizes[step];
        oltr_prior more = prior_from(known_prior(), v->form, before);
        live(x.p, x.w, &d, 20, false);
        twin *was = x.w;
        expect(oltr_policy_resize(&x.p, now, now > before && v->form ? &more : NULL, NULL),
               OLTR_OK);
        x.settings.n_items = now;
        x.w = twin_of(&x.settings);
        memcpy(x.w->n, was->n, (now < before ? now : before) * sizeof *was->n);
        memcpy(x.w->clicks, was->clicks, (now < before ? now : before) * sizeof *was->n);
        free(was);
        assert_twin(x.p, x.w);
    }
    stop(&x);
}

/* ---- what it learns */

static double log_gamma_draw(dice *d, double shape)
{
    double c = shape < 1 ? shape + 2. / 3 : shape - 1. / 3;
    for (;;) { /* Marsaglia and Tsang 2000; below 1, Gamma(shape + 1) times u^(1/shape) */
        double z = normal(d), v = pow(1 + z / sqrt(9 * c), 3);
        if (v > 0 && log(1 - unit(d)) < z * z / 2 + c - c * v + c * log(v))
            return log(c * v) + (shape < 1 ? log(1 - unit(d)) / shape : 0);
    }
}

static double draw_beta(dice *d, double a, double b)
{
    double x = log_gamma_draw(d, a), y = log_gamma_draw(d, b);
    return 1 / (1 + exp(y - x));
}

/* Every item is examined `looks` times, in lists of all items. */
static void look(oltr_policy *p, dice *d, const double *nu, uint32_t looks)
{
    static uint32_t item[MOST];
    static double reward[MOST];
    uint32_t n = oltr_policy_settings(p)->n_items;
    oltr_ranking shown = {n, item, NULL};
    for (uint32_t i = 0; i < n; i++)
        item[i] = i;
    for (uint32_t t = 0; t < looks; t++) {
        for (uint32_t i = 0; i < n; i++)
            reward[i] = unit(d) < nu[i];
        expect(oltr_learn(p, NULL, &shown, &(oltr_feedback){n, reward}), OLTR_OK);
    }
}

static double chance_of_value(const oltr_policy *p, uint32_t which, double value)
{
    oltr_hyper h = hyper_of(p, which);
    for (uint32_t v = 0; v < h.n_values; v++)
        if (h.value[v] >= value && h.value[v] <= value)
            return h.chance[v];
    fail_msg("%g is not in the grid", value);
    return 0;
}

/* Told Beta(9,2), true Beta(1,10): the log-odds are off by log(1/10) - log(9/2) = -3.8, next to -4,
 * and the told weight is right.  Told the truth: shift 0. */
static void the_shift_is_found(void **state)
{
    static double nu[MOST], a[MOST], b[MOST];
    for (int right = 0; right < 2; right++) {
        variant v = told(SHAPES);
        dice d = {15};
        for (uint32_t i = 0; i < MOST; i++) {
            nu[i] = draw_beta(&d, 1, 10);
            a[i] = right ? 1 : 9;
            b[i] = right ? 10 : 2;
        }
        v.form = NO_PRIOR;
        oltr_settings s = settings_for(&v, MOST);
        s.prior = (oltr_prior){.a = a, .b = b};
        oltr_policy *p = policy_from(&s);
        look(p, &d, nu, 30);
        assert_true(chance_of_value(p, SHIFT, right ? 0 : -4) > 0.999);
        assert_true(chance_of_value(p, WEIGHT, 1) > 0.999);
        oltr_policy_free(p);
    }
}

/* The told order: right, worth nothing, and twice too wide. */
static void the_slope_is_found(void **state)
{
    static double nu[MOST], a[MOST], b[MOST];
    static const double slope[] = {0, 0.5, 1};
    for (size_t r = 0; r < COUNT(slope); r++) {
        variant v = told(SHAPES);
        dice d = {16};
        for (uint32_t i = 0; i < MOST; i++) {
            double z = -1 + 1.5 * normal(&d);
            a[i] = 20 / (1 + exp(-z));
            b[i] = 20 / (1 + exp(z));
            nu[i] = 1 / (1 + exp(-(-1 + slope[r] * (z + 1))));
        }
        v.form = NO_PRIOR;
        oltr_settings s = settings_for(&v, MOST);
        s.prior = (oltr_prior){.a = a, .b = b};
        oltr_policy *p = policy_from(&s);
        look(p, &d, nu, 30);
        assert_true(chance_of_value(p, SLOPE, slope[r]) > 0.999);
        assert_true(chance_of_value(p, SHIFT, 0) > 0.999);
        oltr_policy_free(p);
    }
}

/* ---- calibration: truths from the hyperprior */

enum { WORLDS = 500 * EFFORT, FEW = 8, BINS = EFFORT > 1 ? 20 : 5 };

static uint32_t draw_value(dice *d, const axis *x)
{
    double sum = 0, u = unit(d);
    uint32_t v = 0;
    for (uint32_t i = 0; i < x->n; i++)
        sum += exp(x->log_prior[i]);
    for (u *= sum; v + 1 < x->n && u >= exp(x->log_prior[v]); v++)
        u -= exp(x->log_prior[v]);
    return v;
}

/* The rank of the truth in the posterior, its own chance divided at random: uniform on 0..1. */
static double rank_of(dice *d, const oltr_policy *p, uint32_t which, uint32_t truth)
{
    oltr_hyper h = hyper_of(p, which);
    double sum = unit(d) * h.chance[truth];
    for (uint32_t v = 0; v < truth; v++)
        sum += h.chance[v];
    return sum;
}

/* Draws a recalibration, and attractions from the told prior under it. */
static void draw_world(dice *d, const twin *w, uint32_t truth[3], double *nu)
{
    cell c = {0};
    for (uint32_t which = 0; which < 3; which++)
        truth[which] = draw_value(d, &w->axis[which]);
    c.shift = w->axis[SHIFT].value[truth[SHIFT]];
    c.slope = w->axis[SLOPE].value[truth[SLOPE]];
    c.weight = w->axis[WEIGHT].value[truth[WEIGHT]];
    for (uint32_t i = 0; i < FEW; i++) {
        shapes s = recalibrated(w, &c, i);
        nu[i] = draw_beta(d, s.a, s.b);
    }
}

/* Adds up how far the truths are from their predictions, with the variance that is expected. */
static void add_errors(const oltr_policy *p, const double *nu, double *error, double *variance)
{
    double mean[FEW], sd[FEW];
    expect(oltr_predict(p, NULL, mean, sd), OLTR_OK);
    uint32_t i = oltr_policy_rounds(p) % FEW; /* one: items of a world are not independent */
    *error += nu[i] - mean[i];
    *variance += sd[i] * sd[i];
}

static void truths_have_uniform_ranks(void **state)
{
    unsigned count[3][BINS] = {{0}};
    double error = 0, variance = 0;
    dice d = {17};
    pair x;
    start(&x, *state, FEW);
    for (uint32_t world = 0; world < WORLDS; world++) {
        uint32_t truth[3];
        double nu[FEW];
        draw_world(&d, x.w, truth, nu);
        expect(oltr_forget(x.p, 0), OLTR_OK);
        look(x.p, &d, nu, 1 + below(&d, 20));
        for (uint32_t which = 0; which < 3; which++)
            count[which][(uint32_t)(BINS * rank_of(&d, x.p, which, truth[which]) * (1 - 1e-12))]++;
        add_errors(x.p, nu, &error, &variance);
    }
    check_uniform_cells("the rank of the shift", count[SHIFT], BINS);
    check_uniform_cells("the rank of the slope", count[SLOPE], BINS);
    check_uniform_cells("the rank of the weight", count[WEIGHT], BINS);
    check_within("predictions", "the mean error", error / sqrt(variance), z_threshold(ALPHA));
    stop(&x);
}

/* ---- the law of lists */

enum { SHOWN = 4, LISTS = 5000 * EFFORT, STEPS = 600 };

/* The chance of each item to have the largest sample, by steps in the log-odds of the sample. */
static void add_first(const twin *w, const cell *c, double chance, double *first)
{
    double below_step[SHOWN] = {0}, sum = 0, part[SHOWN] = {0};
    for (int step = 1; step <= STEPS; step++) {
        double x = step < STEPS ? 1 / (1 + exp(20 - 40.0 * step / STEPS)) : 1, f[SHOWN];
        for (uint32_t i = 0; i < SHOWN; i++) {
            shapes s = learned(w, c, i);
            f[i] = gsl_cdf_beta_P(x, s.a, s.b);
        }
        for (uint32_t i = 0; i < SHOWN; i++) {
            double others = 1;
            for (uint32_t j = 0; j < SHOWN; j++)
                others *= j == i ? f[i] - below_step[i] : (f[j] + below_step[j]) / 2;
            part[i] += others;
        }
        memcpy(below_step, f, sizeof f);
    }
    for (uint32_t i = 0; i < SHOWN; i++)
        sum += part[i];
    for (uint32_t i = 0; i < SHOWN; i++)
        first[i] += chance * part[i] / sum;
}

typedef struct lists {
    double first[SHOWN];
    double score[SHOWN][LISTS];
} lists;

static void draw_lists(const oltr_policy *p, lists *out)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    memset(out, 0, sizeof *out);
    for (uint32_t n = 0; n < LISTS; n++) {
        uint32_t item[SHOWN];
        double score[SHOWN];
        oltr_ranking list = {SHOWN, item, score};
        expect(oltr_rank(p, NULL, oltr_rng_at(oltr_rng_make(21, 4), 0, n), scratch, &list),
               OLTR_OK);
        out->first[item[0]]++;
        for (uint32_t slot = 0; slot < SHOWN; slot++)
            out->score[item[slot]][n] = score[slot];
    }
    oltr_scratch_free(scratch);
}

static void check_first(const twin *w, const lists *drawn)
{
    double law[SHOWN] = {0}, used = 0;
    for (uint32_t j = 0; j < w->cells; j++)
        if (w->chance[j] > 1e-6) {
            cell c = cell_at(w, j);
            add_first(w, &c, w->chance[j], law);
            used += w->chance[j];
        }
    for (uint32_t i = 0; i < SHOWN; i++)
        check_count("lists", "in which an item is first", (unsigned)drawn->first[i],
                    LISTS * law[i] / used);
}

/* The distribution function of one item's sample: a mixture over the grid. */
static const twin *mixture;

static double mixture_law(double x, const double *item)
{
    double sum = 0;
    for (uint32_t j = 0; j < mixture->cells; j++)
        if (mixture->chance[j] > 1e-9) {
            cell c = cell_at(mixture, j);
            shapes s = learned(mixture, &c, (uint32_t)*item);
            sum += mixture->chance[j] * gsl_cdf_beta_P(x, s.a, s.b);
        }
    return sum;
}

/* One recalibration for all items of a round: their samples go up and down together, as much as the
 * law says. */
static void check_products(const twin *w, const lists *drawn)
{
    for (uint32_t i = 1; i < SHOWN; i++) {
        double expected = 0, square = 0, sum = 0;
        for (uint32_t j = 0; j < w->cells; j++) {
            cell c = cell_at(w, j);
            shapes x = learned(w, &c, 0), y = learned(w, &c, i);
            double n = x.a + x.b, m = y.a + y.b;
            expected += w->chance[j] * (x.a / n) * (y.a / m);
            square += w->chance[j] * (x.a * (x.a + 1) / (n * (n + 1))) *
                      (y.a * (y.a + 1) / (m * (m + 1)));
        }
        for (uint32_t n = 0; n < LISTS; n++)
            sum += drawn->score[0][n] * drawn->score[i][n] - expected;
        check_within("the product of two samples", "its mean",
                     sum / sqrt(LISTS * (square - expected * expected)), z_threshold(ALPHA));
    }
}

static void lists_have_the_law_of_the_definition(void **state)
{
    static lists drawn;
    dice d = {18};
    pair x;
    start(&x, *state, SHOWN);
    live(x.p, x.w, &d, 3, true);
    for (int part = 0; part < 2; part++) {
        weigh(x.w);
        draw_lists(x.p, &drawn);
        check_first(x.w, &drawn);
        check_products(x.w, &drawn);
        live(x.p, x.w, &d, 6, false);
    }
    weigh(x.w);
    draw_lists(x.p, &drawn);
    mixture = x.w;
    for (uint32_t i = 0; i < SHOWN; i += 3) {
        sort_doubles(drawn.score[i], LISTS);
        check_ks("a sample", drawn.score[i], LISTS, mixture_law, &(double){i});
    }
    stop(&x);
}

/* ---- extremes: never a NaN, chances always add up to 1 */

static void assert_chances(const oltr_policy *p, const char *what)
{
    assert_sound(p);
    for (uint32_t which = 0; which < 3; which++) {
        oltr_hyper h = hyper_of(p, which);
        double sum = 0;
        for (uint32_t v = 0; v < h.n_values; v++) {
            assert_true(h.chance[v] >= 0 && h.chance[v] <= 1);
            sum += h.chance[v];
        }
        if (!near(sum, 1, 1e-12) || !isfinite(h.mean) || !isfinite(h.sd))
            fail_msg("%s: the chances of the %s add up to %.17g, its mean is %g, its sd %g", what,
                     h.name, sum, h.mean, h.sd);
    }
    assert_numbers(p, NULL, what);
    for (uint64_t round = 0; round < 5; round++)
        rank_and_check(p, NULL, round, oltr_policy_settings(p)->n_items);
}

static void a_million_clicks_on_one_item(void **state)
{
    enum { N = 31250 * EFFORT };
    static uint32_t item[N];
    static double reward[N];
    dice d = {19};
    pair x;
    start(&x, *state, 5);
    for (uint32_t t = 0; t < N; t++) {
        item[t] = 2;
        reward[t] = 1;
    }
    const oltr_lessons all = {.n = N, .k = 1, .item = item, .reward = reward};
    for (int part = 0; part < 4; part++) {
        expect(oltr_learn_many(x.p, NULL, &all, NULL), OLTR_OK);
        x.w->n[2] += N;
        x.w->clicks[2] += N;
        assert_chances(x.p, "clicks on one item");
        assert_twin(x.p, x.w);
        live(x.p, x.w, &d, 5, false);
    }
    stop(&x);
}

static void the_largest_weights(void **state)
{
    dice d = {20};
    pair x;
    start(&x, *state, 6);
    for (uint32_t t = 0; t < 30; t++) {
        lesson e = draw_lesson(&d, 6, true);
        e.weighted = true;
        for (uint32_t slot = 0; slot < e.k; slot++)
            e.weight[slot] = t % 3 ? OLTR_MAX_WEIGHT : 0x1p-20;
        teach(x.p, &e);
        teach_twin(x.w, &e);
        assert_chances(x.p, "large weights");
        if (t % 10 == 9)
            assert_twin(x.p, x.w);
    }
    stop(&x);
}

static void learn_heavily(oltr_policy *p, dice *d)
{
    lesson e = draw_lesson(d, oltr_policy_settings(p)->n_items, true);
    e.weighted = true;
    for (uint32_t slot = 0; slot < e.k; slot++)
        e.weight[slot] = log_uniform(d, 0.1, OLTR_MAX_WEIGHT);
    teach(p, &e);
}

/* Told shapes at both limits, in all combinations. */
static void the_most_extreme_told_shapes(void **state)
{
    static const double ends[] = {1e-9, 1, 1e12};
    enum { N = 9 };
    variant v = *(const variant *)*state;
    double a[N], b[N];
    dice d = {21};
    v.form = NO_PRIOR;
    for (uint32_t only = 0; only <= N; only++) { /* each alone in the first N rounds, then all */
        pair x = {.settings = settings_for(&v, only < N ? 3 : N)};
        for (uint32_t i = 0; i < N; i++) {
            a[i] = ends[(only < N ? only : i) / 3];
            b[i] = ends[(only < N ? only : i) % 3];
        }
        x.settings.prior = (oltr_prior){.a = a, .b = b};
        x.p = policy_from(&x.settings);
        x.w = twin_of(&x.settings);
        for (uint32_t part = 0; part < 4; part++) {
            assert_chances(x.p, "extreme shapes");
            if (is_set(x.w, "prior", "full")) /* some means are 1 but for rounding */
                assert_twin(x.p, x.w);
            live(x.p, x.w, &d, 15, part % 2 == 0);
        }
        for (uint32_t part = 0; part < 20; part++) {
            learn_heavily(x.p, &d);
            assert_chances(x.p, "extreme shapes and weights");
        }
        stop(&x);
    }
}

/* ---- memory */

/* At most 64 bytes for an item, its prior and the mark of repeated items included.  The grid, and
 * from OLTR_MAX_MASKED items on the room for masked lists, do not grow with the items. */
static void an_item_takes_at_most_64_bytes(void **state)
{
    enum { SMALL = OLTR_MAX_MASKED, LARGE = 2 * SMALL, BYTES = 64 };
    static double number[LARGE];
    oltr_settings s = settings_for(*state, SMALL);
    for (uint32_t i = 0; i < LARGE; i++)
        number[i] = 0.25; /* any prior */
    if (s.prior.a)
        s.prior = (oltr_prior){.a = number, .b = number};
    else if (s.prior.mean)
        s.prior = (oltr_prior){.mean = number, .sd = number};
    size_t few = oltr_policy_bytes(&s, NULL);
    s.n_items = LARGE;
    size_t many = oltr_policy_bytes(&s, NULL);
    assert_true(few > 0 && many > few);
    assert_true(many - few <= (size_t)BYTES * (LARGE - SMALL));
}

/* ---- the suite */

#define ON_SETTINGS(s, f) ON_VARIANTS(s, &settings_to_test, f)
#define ON_ONE(s, f, v) add_test(s, #f, (v)->name, f, v)

int main(void)
{
    static suite all;
    static variant none, with_shapes, with_moments, mean_of_shapes, mean_of_moments;
    none = hyper();
    with_shapes = told(SHAPES);
    with_moments = told(MOMENTS);
    mean_of_shapes = told_means(SHAPES);
    mean_of_moments = told_means(MOMENTS);
    const variant *const forms[] = {&none, &with_shapes, &with_moments, &mean_of_shapes,
                                    &mean_of_moments};
    list_settings(&settings_to_test);
    ON_SETTINGS(&all, chances_and_beliefs_are_the_twins);
    ON_SETTINGS(&all, nothing_kept_is_the_hyperprior);
    for (size_t i = 0; i < COUNT(forms); i++) {
        ON_ONE(&all, one_cell_is_ts_beta, forms[i]);
        ON_ONE(&all, copies_go_on_to_the_same_bits, forms[i]);
        ON_ONE(&all, order_is_irrelevant, forms[i]);
        ON_ONE(&all, a_weight_of_2_is_the_same_twice, forms[i]);
        ON_ONE(&all, a_merger_has_seen_both, forms[i]);
        ON_ONE(&all, a_forgotten_item_was_never_seen, forms[i]);
        ON_ONE(&all, sums_that_are_put_count, forms[i]);
        ON_ONE(&all, another_number_of_items_has_another_centre, forms[i]);
        ON_ONE(&all, an_item_takes_at_most_64_bytes, forms[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        ON_ONE(&all, many_lessons_keep_the_digits, forms[i]);
        ON_ONE(&all, fractions_of_observations_count, forms[i]);
        ON_ONE(&all, truths_have_uniform_ranks, forms[i]);
        ON_ONE(&all, lists_have_the_law_of_the_definition, forms[i]);
        ON_ONE(&all, a_million_clicks_on_one_item, forms[i]);
        ON_ONE(&all, the_largest_weights, forms[i]);
    }
    ON_ONE(&all, wide_deviations_count_half_an_observation, &with_moments);
    ON_ONE(&all, wide_deviations_count_half_an_observation, &mean_of_moments);
    ON_ONE(&all, a_renewed_prior_leaves_the_centre, &with_shapes);
    ON_ONE(&all, the_most_extreme_told_shapes, &with_shapes);
    ON_ONE(&all, the_most_extreme_told_shapes, &mean_of_shapes);
    ONCE(&all, a_heavy_item_leaves_nothing_behind);
    ONCE(&all, the_shift_is_found);
    ONCE(&all, the_slope_is_found);
    ONCE(&all, stat_false_alarms);
    return cmocka_run_group_tests_name("ts-hyper is what its page defines", all.test, stat_setup,
                                       NULL);
}
