/* ope.c - off-policy evaluation.
 *
 * Unbiased: on worlds of 4 items and 2 slots all lists and clicks are enumerated, and the
 * expectation of each estimator is summed exactly.  Under the click model that it assumes it is the
 * value of the evaluated policy; under a wider one it is not.  The ratios, standard errors and
 * intervals are compared with a slow twin; intervals cover as often as they claim; a log of one
 * model predicts the reward of another on 20 worlds.
 */
#include "support/unit.h"

#include <oltr/model.h>
#include <oltr/ope.h>

enum { ITEMS = 4, LISTS = 12, K = 2 };

/* ---- enumerated worlds */

typedef struct world {
    double logged[LISTS], evaluated[LISTS]; /* chances of the ordered lists */
    double click[LISTS][4];                 /* of the four outcomes: bit l is a click in slot l */
} world;

static int list_first(int list)
{
    return list / (ITEMS - 1);
}

static int list_second(int list)
{
    int second = list % (ITEMS - 1);
    return second + (second >= list_first(list));
}

static void random_chances(dice *from, double *chance, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += chance[i] = 0.05 + unit(from);
    for (int i = 0; i < n; i++)
        chance[i] /= sum;
}

typedef enum clicks { SLOTWISE, DOWNWARD, ANYHOW } clicks;

/* SLOTWISE: the chance depends on item and slot.  DOWNWARD: also on the item and click above.
 * ANYHOW: the four outcomes of a list have any chances. */
static world make_world(dice *from, clicks kind)
{
    world w;
    double slotwise[ITEMS][K], downward[ITEMS][ITEMS][2];
    random_chances(from, w.logged, LISTS);
    random_chances(from, w.evaluated, LISTS);
    for (int a = 0; a < ITEMS; a++)
        for (int l = 0; l < K; l++)
            slotwise[a][l] = unit(from);
    for (int a = 0; a < ITEMS * ITEMS * 2; a++)
        (&downward[0][0][0])[a] = unit(from);
    for (int list = 0; list < LISTS; list++) {
        int a = list_first(list), b = list_second(list);
        for (int bits = 0; bits < 4; bits++) {
            double p = bits & 1 ? slotwise[a][0] : 1 - slotwise[a][0];
            double q = kind == SLOTWISE ? slotwise[b][1] : downward[a][b][bits & 1];
            w.click[list][bits] = p * (bits & 2 ? q : 1 - q);
        }
        if (kind == ANYHOW)
            random_chances(from, w.click[list], 4);
    }
    return w;
}

/* Chances of beginnings and of items in slots. */
static double begins(const double *chance, int item)
{
    double sum = 0;
    for (int list = 0; list < LISTS; list++)
        sum += list_first(list) == item ? chance[list] : 0;
    return sum;
}

static double is_second(const double *chance, int item)
{
    double sum = 0;
    for (int list = 0; list < LISTS; list++)
        sum += list_second(list) == item ? chance[list] : 0;
    return sum;
}

static double true_value(const world *w)
{
    double sum = 0;
    for (int list = 0; list < LISTS; list++)
        for (int bits = 0; bits < 4; bits++)
            sum += w->evaluated[list] * w->click[list][bits] * ((bits & 1) + (bits >> 1));
    return sum;
}

typedef struct arrays {
    double reward[2][K], logged[2][K], evaluated[2][K], logged_slot[2][K], evaluated_slot[2][K];
    double q[2][K], v[2][K];
} arrays;

/* Any predictions q, and v as their expectation under the evaluated policy. */
static void predict(const world *w, double q[ITEMS][ITEMS + 1], int list, double out_q[K],
                    double out_v[K])
{
    int a = list_first(list), b = list_second(list);
    out_q[0] = q[a][ITEMS];
    out_q[1] = q[a][b];
    out_v[0] = out_v[1] = 0;
    for (int other = 0; other < ITEMS; other++)
        out_v[0] += begins(w->evaluated, other) * q[other][ITEMS];
    for (int other = 0; other < LISTS; other++)
        if (list_first(other) == a)
            out_v[1] += w->evaluated[other] / begins(w->evaluated, a) * q[a][list_second(other)];
}

static oltr_ope_log log_of(const arrays *x, uint64_t n)
{
    return (oltr_ope_log){.n = n,
                          .k = K,
                          .reward = x->reward[0],
                          .logged_prefix = x->logged[0],
                          .evaluated_prefix = x->evaluated[0],
                          .logged_slot = x->logged_slot[0],
                          .evaluated_slot = x->evaluated_slot[0],
                          .q = x->q[0],
                          .v = x->v[0]};
}

/* The exact expectation of an estimator: all outcomes of one list, twice, times their chances. */
static double expectation(const world *w, oltr_ope_estimator estimator, double q[ITEMS][ITEMS + 1])
{
    double sum = 0;
    const oltr_ope_options options = {.interval = OLTR_OPE_NORMAL};
    for (int list = 0; list < LISTS; list++)
        for (int bits = 0; bits < 4; bits++) {
            arrays x;
            oltr_ope_result result;
            int a = list_first(list), b = list_second(list);
            for (int i = 0; i < 2; i++) {
                const double reward[] = {bits & 1, bits >> 1};
                const double logged[] = {begins(w->logged, a), w->logged[list]};
                const double evaluated[] = {begins(w->evaluated, a), w->evaluated[list]};
                const double in_logged[] = {logged[0], is_second(w->logged, b)};
                const double in_evaluated[] = {evaluated[0], is_second(w->evaluated, b)};
                memcpy(x.reward[i], reward, sizeof reward);
                memcpy(x.logged[i], logged, sizeof logged);
                memcpy(x.evaluated[i], evaluated, sizeof evaluated);
                memcpy(x.logged_slot[i], in_logged, sizeof in_logged);
                memcpy(x.evaluated_slot[i], in_evaluated, sizeof in_evaluated);
                predict(w, q, list, x.q[i], x.v[i]);
            }
            oltr_ope_log log = log_of(&x, 2);
            assert_int_equal(oltr_ope_estimate(&log, estimator, &options, &result, NULL), OLTR_OK);
            sum += w->logged[list] * w->click[list][bits] * result.value;
        }
    return sum;
}

static void is_unbiased_where_it_says(void **state)
{
    static const struct {
        oltr_ope_estimator estimator;
        clicks widest; /* click model */
    } claim[] = {{OLTR_OPE_SIPS, ANYHOW},
                 {OLTR_OPE_RIPS, DOWNWARD},
                 {OLTR_OPE_DR, DOWNWARD},
                 {OLTR_OPE_IIPS, SLOTWISE}};
    dice from = {11};
    for (int trial = 0; trial < 10; trial++)
        for (clicks kind = SLOTWISE; kind <= ANYHOW; kind++) {
            world w = make_world(&from, kind);
            double q[ITEMS][ITEMS + 1];
            for (int i = 0; i < ITEMS * (ITEMS + 1); i++)
                (&q[0][0])[i] = 3 * unit(&from);
            for (size_t c = 0; c < COUNT(claim); c++) {
                double bias = expectation(&w, claim[c].estimator, q) - true_value(&w);
                if (kind <= claim[c].widest)
                    assert_true(fabs(bias) < 1e-12);
                else
                    assert_true(fabs(bias) > 1e-9); /* the assumption is needed */
            }
        }
}

/* With the right q every term of dm, and the mean of dr, is right; dm is not with another. */
static void direct_method_needs_the_model(void **state)
{
    dice from = {12};
    world w = make_world(&from, DOWNWARD);
    double q[ITEMS][ITEMS + 1] = {{0}};
    for (int list = 0; list < LISTS; list++) {
        int a = list_first(list);
        double second = w.click[list][2] + w.click[list][3];
        q[a][list_second(list)] = second;
        q[a][ITEMS] = w.click[list][1] + w.click[list][3];
    }
    for (int list = 0; list < LISTS; list++)
        q[list_first(list)][ITEMS] += w.evaluated[list] / begins(w.evaluated, list_first(list)) *
                                      q[list_first(list)][list_second(list)];
    assert_true(fabs(expectation(&w, OLTR_OPE_DM, q) - true_value(&w)) < 1e-12);
    assert_true(fabs(expectation(&w, OLTR_OPE_DR, q) - true_value(&w)) < 1e-12);
    q[0][ITEMS] += 1;
    assert_true(fabs(expectation(&w, OLTR_OPE_DM, q) - true_value(&w)) > 1e-3);
    assert_true(fabs(expectation(&w, OLTR_OPE_DR, q) - true_value(&w)) < 1e-12);
}

/* ---- ratios and intervals against a slow twin */

enum { N = 300, SLOTS = 4 };

typedef struct sample {
    uint32_t length[N];
    double reward[N][SLOTS], logged[N][SLOTS], evaluated[N][SLOTS], q[N][SLOTS], v[N][SLOTS];
    uint8_t match[N];
} sample;

static void fill_sample(dice *from, sample *s, bool varying)
{
    for (int i = 0; i < N; i++) {
        double logged = 1, evaluated = 1;
        s->length[i] = varying ? 1 + (uint32_t)(SLOTS * unit(from)) : SLOTS;
        s->match[i] = unit(from) < 0.3;
        for (int l = 0; l < SLOTS; l++) {
            s->logged[i][l] = logged *= 0.2 + 0.8 * unit(from);
            s->evaluated[i][l] = evaluated *= unit(from) < 0.05 ? 0 : unit(from);
            s->reward[i][l] = unit(from) < 0.4;
            s->q[i][l] = unit(from);
            s->v[i][l] = unit(from);
        }
    }
}

static oltr_ope_log log_of_sample(const sample *s)
{
    return (oltr_ope_log){.n = N,
                          .k = SLOTS,
                          .length = s->length,
                          .reward = s->reward[0],
                          .logged_prefix = s->logged[0],
                          .evaluated_prefix = s->evaluated[0],
                          .logged_slot = s->logged[0],
                          .evaluated_slot = s->evaluated[0],
                          .q = s->q[0],
                          .v = s->v[0],
                          .match = s->match};
}

/* The estimate without list `skip` (N: with all), from the definitions. */
static double slow_value(const sample *s, oltr_ope_estimator estimator, int skip)
{
    double lists = 0, sum = 0, all = 0, num[SLOTS] = {0}, den[SLOTS] = {0}, with[SLOTS] = {0};
    for (int i = 0; i < N; i++) {
        if (i == skip)
            continue;
        int k = (int)s->length[i];
        double whole = s->evaluated[i][k - 1] / s->logged[i][k - 1], rewards = 0, before = 1;
        lists++;
        for (int l = 0; l < k; l++) {
            double w = s->evaluated[i][l] / s->logged[i][l];
            rewards += s->reward[i][l];
            num[l] += w * s->reward[i][l];
            den[l] += w;
            with[l]++;
            sum += estimator == OLTR_OPE_RIPS || estimator == OLTR_OPE_IIPS ? w * s->reward[i][l]
                   : estimator == OLTR_OPE_DR
                       ? before * s->v[i][l] + w * (s->reward[i][l] - s->q[i][l])
                       : 0;
            before = w;
        }
        sum += estimator == OLTR_OPE_DM ? s->v[i][0] : 0;
        sum += estimator == OLTR_OPE_SIPS || estimator == OLTR_OPE_SNSIPS ? whole * rewards : 0;
        sum += estimator == OLTR_OPE_REPLAY ? s->match[i] * rewards : 0;
        all += estimator == OLTR_OPE_REPLAY ? s->match[i] : whole;
    }
    if (estimator == OLTR_OPE_SNSIPS || estimator == OLTR_OPE_REPLAY)
        return sum / all;
    if (estimator != OLTR_OPE_SNIIPS && estimator != OLTR_OPE_SNRIPS)
        return sum / lists;
    double value = 0;
    for (int l = 0; l < SLOTS; l++)
        value += with[l] / lists * num[l] / den[l];
    return value;
}

static double jackknife(const sample *s, oltr_ope_estimator estimator)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < N; i++)
        mean += slow_value(s, estimator, i) / N;
    for (int i = 0; i < N; i++)
        squares += pow(slow_value(s, estimator, i) - mean, 2);
    return sqrt(squares * (N - 1) / N);
}

static void equals_the_slow_twin(void **state)
{
    dice from = {5};
    sample *s = exactly(1, sizeof *s);
    const oltr_ope_options options = {.interval = OLTR_OPE_NORMAL, .confidence = 0.9};
    for (int trial = 0; trial < 4; trial++) {
        fill_sample(&from, s, trial % 2 == 1);
        oltr_ope_log log = log_of_sample(s);
        for (oltr_ope_estimator e = 0; e < OLTR_OPE_ESTIMATORS; e++) {
            oltr_ope_result r;
            assert_int_equal(oltr_ope_estimate(&log, e, &options, &r, NULL), OLTR_OK);
            double slow = slow_value(s, e, N), se = jackknife(s, e);
            assert_true(fabs(r.value - slow) <= 1e-12 * fabs(slow));
            assert_true(fabs(r.se - se) <= 0.05 * se);
            assert_true(fabs(r.high - r.low - 2 * 1.6448536269514722 * r.se) <= 1e-9 * r.se);
        }
    }
    free(s);
}

/* Logarithms give the same numbers, and chances too small for a double. */
static void takes_logarithms(void **state)
{
    dice from = {6};
    sample *s = exactly(2, sizeof *s);
    fill_sample(&from, s, true);
    s[1] = s[0];
    for (int i = 0; i < N; i++)
        for (int l = 0; l < SLOTS; l++) {
            s[1].logged[i][l] = log(s->logged[i][l]) - 2000;
            s[1].evaluated[i][l] = log(s->evaluated[i][l]) - 2000;
        }
    oltr_ope_log plain = log_of_sample(s), logs = log_of_sample(s + 1);
    logs.logs = 1;
    for (oltr_ope_estimator e = 0; e < OLTR_OPE_ESTIMATORS; e++) {
        oltr_ope_result a, b;
        assert_int_equal(oltr_ope_estimate(&plain, e, NULL, &a, NULL), OLTR_OK);
        assert_int_equal(oltr_ope_estimate(&logs, e, NULL, &b, NULL), OLTR_OK);
        assert_true(fabs(a.value - b.value) <= 1e-10 * fabs(a.value));
        assert_true(fabs(a.low - b.low) <= 1e-9 && fabs(a.high - b.high) <= 1e-9);
        assert_int_equal(a.slot, b.slot);
    }
    free(s);
}

static void knows_weights(void **state)
{
    double reward[] = {1, 0, 1, 1}, logged[] = {0.5, 0.5, 0.5, 0.5}, evaluated[] = {1, 0, .25, .25};
    oltr_ope_log log = {
        .n = 4, .k = 1, .reward = reward, .logged_prefix = logged, .evaluated_prefix = evaluated};
    oltr_ope_result r;
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SIPS, NULL, &r, NULL), OLTR_OK);
    assert_true(fabs(r.value - 0.75) < 1e-15);
    assert_true(fabs(r.ess - 9 / 4.5) < 1e-12);
    assert_true(fabs(r.mean_weight - 0.75) < 1e-12 && fabs(r.largest - 2) < 1e-12);
    assert_true(fabs(r.largest_share - 2.0 / 3) < 1e-12 && fabs(r.zero_share - 0.25) < 1e-12);
    assert_non_null(strstr(r.warning, "effective size is 2"));
    assert_non_null(strstr(r.warning, "One list has 67 %"));
    memset(evaluated, 0, sizeof evaluated);
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNSIPS, NULL, &r, NULL), OLTR_OK);
    assert_true(isnan(r.value) && isnan(r.low) && r.ess == 0);
    assert_non_null(strstr(r.warning, "No support"));
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SIPS, NULL, &r, NULL), OLTR_OK);
    assert_true(r.value == 0);
    assert_non_null(strstr(r.warning, "No support"));
}

/* One list of 200 has a second slot: its weight says nothing about the mean weight, and most
 * resamples do not have it. */
static void says_little_about_one_list(void **state)
{
    enum { MANY = 200 };
    double x[2 * MANY], logged[2 * MANY], evaluated[2 * MANY];
    uint32_t length[MANY];
    for (int i = 0; i < MANY; i++) {
        length[i] = 1 + (i == 7);
        for (int l = 0; l < 2; l++) {
            x[2 * i + l] = l == 0;
            logged[2 * i + l] = l ? 0.2 : 0.5;
            evaluated[2 * i + l] = l ? 0.1 : 0.5;
        }
    }
    oltr_ope_log log = {.n = MANY,
                        .k = 2,
                        .length = length,
                        .reward = x,
                        .logged_prefix = logged,
                        .evaluated_prefix = evaluated};
    oltr_ope_result r;
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNRIPS, NULL, &r, NULL), OLTR_OK);
    assert_null(strstr(r.warning, "mean weight"));
    assert_non_null(strstr(r.warning, "effective size is 1 lists"));
    assert_true(isnan(r.low) && strstr(r.warning, "there is no bootstrap interval"));
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_RIPS, NULL, &r, NULL), OLTR_OK);
    assert_true(isfinite(r.low) && !strstr(r.warning, "bootstrap"));
}

/* Half of the evaluated policy's lists cannot occur in the log: the mean weight shows it. */
static void sees_missing_support(void **state)
{
    enum { MANY = 2000 };
    double *x = exactly(3 * MANY, sizeof *x);
    for (int i = 0; i < MANY; i++) {
        x[i] = 1;
        x[MANY + i] = 0.5;
        x[2 * MANY + i] = i % 2 ? 0.2 : 0.3;
    }
    oltr_ope_log log = {.n = MANY,
                        .k = 1,
                        .reward = x,
                        .logged_prefix = x + MANY,
                        .evaluated_prefix = x + 2 * MANY};
    oltr_ope_result r;
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNRIPS, NULL, &r, NULL), OLTR_OK);
    assert_non_null(strstr(r.warning, "mean weight is 0.5 and should be 1"));
    free(x);
}

static double bernstein_width(const sample *s, double mean, double confidence, double bound)
{
    double squares = 0, low = INFINITY, high = -INFINITY, d = 1 - confidence;
    for (int i = 0; i < N; i++) {
        int k = (int)s->length[i];
        double term = 0;
        for (int l = 0; l < k; l++)
            term += s->evaluated[i][k - 1] / s->logged[i][k - 1] * s->reward[i][l];
        squares += pow(term - mean, 2) / (N - 1);
        low = fmin(low, term);
        high = fmax(high, term);
    }
    double range = bound > 0 ? bound : high - low;
    return sqrt(2 * squares * log(4 / d) / N) + 7 * range * log(4 / d) / (3 * (N - 1));
}

static void bernstein_is_its_formula(void **state)
{
    dice from = {7};
    sample *s = exactly(1, sizeof *s);
    oltr_error error;
    oltr_ope_result r;
    fill_sample(&from, s, true);
    oltr_ope_log log = log_of_sample(s);
    for (int i = 0; i < 2; i++) {
        oltr_ope_options o = {.interval = OLTR_OPE_BERNSTEIN, .confidence = 0.8, .bound = i * 1e4};
        assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SIPS, &o, &r, NULL), OLTR_OK);
        double width = bernstein_width(s, r.value, 0.8, o.bound);
        assert_true(fabs(r.high - r.value - width) <= 1e-10 * width);
        assert_true(fabs(r.value - r.low - width) <= 1e-10 * width);
    }
    oltr_ope_options o = {.interval = OLTR_OPE_BERNSTEIN, .bound = 0.01};
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SIPS, &o, &r, &error), OLTR_EVALUE);
    assert_non_null(strstr(error.msg, "more than the bound"));
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNSIPS, &o, &r, &error), OLTR_EUNSUPPORTED);
    free(s);
}

static void bootstrap_is_a_function_of_the_seed(void **state)
{
    dice from = {8};
    sample *s = exactly(1, sizeof *s);
    oltr_ope_result a, b;
    fill_sample(&from, s, true);
    oltr_ope_log log = log_of_sample(s);
    for (oltr_ope_estimator e = 0; e < OLTR_OPE_ESTIMATORS; e++) {
        oltr_ope_options o = {.bootstrap = 4000, .seed = 3};
        assert_int_equal(oltr_ope_estimate(&log, e, &o, &a, NULL), OLTR_OK);
        assert_int_equal(oltr_ope_estimate(&log, e, &o, &b, NULL), OLTR_OK);
        assert_memory_equal(&a, &b, sizeof a);
        /* the spread of the resamples is the standard error */
        assert_true(fabs((a.high - a.low) / (2 * 1.96 * a.se) - 1) < 0.15);
        o.seed = 4;
        assert_int_equal(oltr_ope_estimate(&log, e, &o, &b, NULL), OLTR_OK);
        assert_true(a.low < b.low || a.low > b.low);
    }
    free(s);
}

/* ---- coverage */

static int draw_below(dice *from, const double *chance, int n)
{
    double u = unit(from);
    int i = 0;
    while (i < n - 1 && u >= chance[i])
        u -= chance[i++];
    return i;
}

enum { DRAWN = 4000, FEW = 200 };
typedef struct drawn {
    double reward[DRAWN][K], logged[DRAWN][K], evaluated[DRAWN][K];
} drawn;

static oltr_ope_log draw_log(dice *from, const world *w, drawn *x, int n)
{
    for (int i = 0; i < n; i++) {
        int list = draw_below(from, w->logged, LISTS), a = list_first(list);
        int bits = draw_below(from, w->click[list], 4);
        x->reward[i][0] = bits & 1;
        x->reward[i][1] = bits >> 1;
        x->logged[i][0] = begins(w->logged, a);
        x->logged[i][1] = w->logged[list];
        x->evaluated[i][0] = begins(w->evaluated, a);
        x->evaluated[i][1] = w->evaluated[list];
    }
    return (oltr_ope_log){.n = (uint64_t)n,
                          .k = K,
                          .reward = x->reward[0],
                          .logged_prefix = x->logged[0],
                          .evaluated_prefix = x->evaluated[0]};
}

/* Of 1000 logs about 900 intervals of confidence 0.9 hold the value.  Bounds: 6 standard deviations
 * of a binomial, and 2 % for skew; Bernstein is wider. */
static void covers_as_often_as_it_says(void **state)
{
    static const oltr_ope_estimator estimator[] = {OLTR_OPE_SIPS, OLTR_OPE_RIPS, OLTR_OPE_SNRIPS};
    enum { LOGS = 1000 };
    dice from = {9};
    drawn *x = exactly(1, sizeof *x);
    world w = make_world(&from, DOWNWARD);
    double value = true_value(&w);
    int covered[COUNT(estimator)][3] = {{0}};
    for (int i = 0; i < LOGS; i++) {
        oltr_ope_log log = draw_log(&from, &w, x, FEW);
        for (size_t e = 0; e < COUNT(estimator); e++)
            for (uint32_t interval = 0; interval < 3; interval++) {
                oltr_ope_options o = {.interval = interval, .bootstrap = 100, .confidence = 0.9};
                o.seed = (uint64_t)i;
                oltr_ope_result r;
                if (estimator[e] == OLTR_OPE_SNRIPS && interval == OLTR_OPE_BERNSTEIN)
                    continue;
                assert_int_equal(oltr_ope_estimate(&log, estimator[e], &o, &r, NULL), OLTR_OK);
                covered[e][interval] += r.low <= value && value <= r.high;
            }
    }
    for (size_t e = 0; e < COUNT(estimator); e++) {
        assert_in_range(covered[e][OLTR_OPE_BOOTSTRAP], 823, 977);
        assert_in_range(covered[e][OLTR_OPE_NORMAL], 823, 977);
    }
    assert_true(covered[0][OLTR_OPE_BERNSTEIN] > 980 && covered[1][OLTR_OPE_BERNSTEIN] > 980);
    free(x);
}

/* ---- the log of one model, and the reward of another */

static oltr_model *trained(dice *from, const char *kind, int lessons, const oltr_name *name,
                           const double *attraction)
{
    oltr_model_settings settings;
    assert_int_equal(oltr_model_settings_init(&settings, kind, NULL), OLTR_OK);
    oltr_model *model = oltr_model_new(&settings, NULL);
    assert_non_null(model);
    for (int i = 0; i < lessons; i++) {
        int a = (int)(ITEMS * unit(from)), b = (a + 1 + (int)(3 * unit(from))) % ITEMS;
        oltr_name shown[] = {name[a], name[b]};
        double reward[] = {unit(from) < attraction[a], 0};
        reward[1] = reward[0] == 0 && unit(from) < attraction[b];
        oltr_lesson lesson = {.shown = {.n = K, .name = shown}, .reward = reward};
        assert_int_equal(oltr_model_learn(model, &lesson, NULL, NULL), OLTR_OK);
    }
    return model;
}

/* The chances of all lists, exactly. */
static void list_chances_of(const oltr_model *model, const oltr_name *name, double *chance)
{
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_list list = {.n = ITEMS, .name = name};
    for (int i = 0; i < LISTS; i++) {
        uint32_t place[] = {(uint32_t)list_first(i), (uint32_t)list_second(i)};
        double prefix[K];
        assert_int_equal(
            oltr_model_list_propensity(model, &list, place, K, 0, scratch, prefix, NULL), OLTR_OK);
        chance[i] = prefix[1];
    }
    oltr_model_scratch_free(scratch);
}

static void predicts_another_policy(void **state)
{
    static const oltr_name name[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
    enum { WORLDS = 20 };
    dice from = {10};
    drawn *x = exactly(1, sizeof *x);
    for (int i = 0; i < WORLDS; i++) {
        world w = {{0}};
        double attraction[ITEMS];
        for (int a = 0; a < ITEMS; a++)
            attraction[a] = 0.1 + 0.5 * unit(&from);
        for (int list = 0; list < LISTS; list++) { /* the cascade */
            double a = attraction[list_first(list)], b = attraction[list_second(list)];
            const double click[] = {(1 - a) * (1 - b), a, (1 - a) * b, 0};
            memcpy(w.click[list], click, sizeof click);
        }
        oltr_model *logging = trained(&from, i % 2 ? "gts" : "ts-beta", 2, name, attraction);
        oltr_model *evaluated = trained(&from, "ts-beta", 15, name, attraction);
        list_chances_of(logging, name, w.logged);
        list_chances_of(evaluated, name, w.evaluated);
        oltr_ope_log log = draw_log(&from, &w, x, DRAWN);
        oltr_ope_options o = {.interval = OLTR_OPE_NORMAL};
        for (oltr_ope_estimator e = OLTR_OPE_SIPS; e <= OLTR_OPE_SNRIPS; e++) {
            oltr_ope_result r;
            if (e == OLTR_OPE_IIPS || e == OLTR_OPE_SNIIPS)
                continue;
            assert_int_equal(oltr_ope_estimate(&log, e, &o, &r, NULL), OLTR_OK);
            assert_true(fabs(r.value - true_value(&w)) <= 4 * r.se);
            assert_true(r.se < 0.1);
        }
        oltr_model_free(logging);
        oltr_model_free(evaluated);
    }
    free(x);
}

/* ---- hostile numbers */

static void refuse(const oltr_ope_log *log, oltr_ope_estimator e, oltr_status status,
                   const char *words)
{
    oltr_ope_result r;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_ope_estimate(log, e, NULL, &r, &error), status);
    if (!strstr(error.msg, words))
        fail_msg("`%s` does not say `%s`", error.msg, words);
}

static void refuses_numbers_that_cannot_be(void **state)
{
    static const double bad_logged[] = {0, -0.1, 1.1, NAN, INFINITY};
    static const double bad_evaluated[] = {-1e-9, 1.1, NAN, INFINITY};
    dice from = {13};
    sample *s = exactly(1, sizeof *s);
    fill_sample(&from, s, true);
    oltr_ope_log log = log_of_sample(s);
    double *logged = &s->logged[7][0], *evaluated = &s->evaluated[7][0], *reward = &s->reward[7][0];
    double kept[] = {*logged, *evaluated, *reward};
    for (oltr_ope_estimator e = 0; e < OLTR_OPE_DM; e++) {
        for (size_t i = 0; i < COUNT(bad_logged); i++, *logged = kept[0]) {
            *logged = bad_logged[i];
            refuse(&log, e, OLTR_EVALUE, "list 7, slot 1: a logged chance must be");
        }
        for (size_t i = 0; i < COUNT(bad_evaluated); i++, *evaluated = kept[1]) {
            *evaluated = bad_evaluated[i];
            refuse(&log, e, OLTR_EVALUE, "list 7, slot 1: a chance must be from 0 to 1");
        }
        *reward = NAN;
        refuse(&log, e, OLTR_EVALUE, "list 7, slot 1: a reward");
        *reward = kept[2];
    }
    s->length[7] = SLOTS;
    s->logged[7][1] = 0.9;
    s->logged[7][0] = 0.1;
    refuse(&log, OLTR_OPE_RIPS, OLTR_EVALUE, "list 7, slot 2: a list cannot begin so more often");
    s->length[7] = SLOTS + 1;
    refuse(&log, OLTR_OPE_RIPS, OLTR_EVALUE, "list 7 has 5 slots");
    log.logged_prefix = NULL;
    s->length[7] = 1;
    refuse(&log, OLTR_OPE_RIPS, OLTR_EINVAL, "rips needs logged_prefix");
    log.n = 1;
    refuse(&log, OLTR_OPE_RIPS, OLTR_EINVAL, "at least 2 lists");
    log.reserved[1] = s;
    refuse(&log, OLTR_OPE_RIPS, OLTR_EINVAL, "reserved");
    free(s);
}

static void refuse_options(const oltr_ope_options *options, const char *words)
{
    double reward[] = {1, 0};
    uint8_t match[] = {1, 1};
    oltr_ope_log log = {.n = 2, .k = 1, .reward = reward, .match = match};
    oltr_ope_result r;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_REPLAY, options, &r, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, words));
}

static void options_of_another_version_are_refused(void **state)
{
    uint32_t size = sizeof(oltr_ope_options);
    refuse_options(&(oltr_ope_options){.size = size + 8}, "of a newer oltr");
    refuse_options(&(oltr_ope_options){.size = size - 8}, "no oltr has");
    refuse_options(&(oltr_ope_options){.reserved[1] = 1}, "reserved");
    refuse_options(&(oltr_ope_options){.reserved32 = 1}, "reserved");
}

/* A logged chance of 1e-300 makes weights of 1e300: means refuse, ratios have a value. */
static void does_not_overflow(void **state)
{
    double reward[] = {1, 0, 1}, logged[] = {1e-300, 0.5, 1e-300}, evaluated[] = {0.3, 0.5, 0.1};
    oltr_ope_log log = {
        .n = 3, .k = 1, .reward = reward, .logged_prefix = logged, .evaluated_prefix = evaluated};
    oltr_ope_result r;
    refuse(&log, OLTR_OPE_SIPS, OLTR_EVALUE, "list 0, slot 1: the evaluated policy is exp(690)");
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNSIPS, NULL, &r, NULL), OLTR_OK);
    assert_true(fabs(r.value - 1) < 1e-12 && isfinite(r.se) && isfinite(r.largest));
    double logs[] = {-5000, -1, -9000}, all[] = {0, -1, -INFINITY};
    log.logs = 1;
    log.logged_prefix = logs;
    log.evaluated_prefix = all;
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNSIPS, NULL, &r, NULL), OLTR_OK);
    assert_true(fabs(r.value - 1) < 1e-12 && isfinite(r.largest) && isfinite(r.mean_weight));
    assert_non_null(strstr(r.warning, "One list has 100 %"));
}

static int stop_after(void *context)
{
    return (*(int *)context)-- <= 0;
}

/* Stopped at its first question, its second, ...: the call ends, and the stop is not asked again.
 */
static void can_be_stopped(void **state)
{
    dice from = {14};
    sample *s = exactly(1, sizeof *s);
    fill_sample(&from, s, true);
    oltr_ope_log log = log_of_sample(s);
    for (oltr_ope_estimator e = 0; e < OLTR_OPE_ESTIMATORS; e++) {
        oltr_status status = OLTR_EINTERRUPTED;
        int questions = 0, left;
        oltr_ope_result r, free_of_it;
        oltr_ope_options o = {.bootstrap = 20, .stop = stop_after, .context = &left};
        for (; status != OLTR_OK; questions++) {
            oltr_error error = {OLTR_OK, ""};
            left = questions;
            status = oltr_ope_estimate(&log, e, &o, &r, &error);
            assert_int_equal(left, status == OLTR_OK ? 0 : -1);
            assert_true(status == OLTR_OK || status == OLTR_EINTERRUPTED);
            assert_true(status == OLTR_OK || strstr(error.msg, "stopped before"));
        }
        assert_true(questions > 20); /* at every resample, and in every pass */
        o.stop = NULL;
        assert_int_equal(oltr_ope_estimate(&log, e, &o, &free_of_it, NULL), OLTR_OK);
        assert_memory_equal(&r, &free_of_it, sizeof r);
    }
    free(s);
}

/* A million slots: the sums of a thousand resamples would need gigabytes. */
static void refuses_sums_beyond_memory(void **state)
{
    enum { MANY = 1 << 20 };
    double *one = exactly(2 * (size_t)MANY, sizeof *one);
    for (size_t i = 0; i < 2 * (size_t)MANY; i++)
        one[i] = 0.5;
    oltr_ope_log log = {
        .n = 2, .k = MANY, .reward = one, .logged_slot = one, .evaluated_slot = one};
    oltr_ope_options o = {.interval = OLTR_OPE_NORMAL};
    oltr_ope_result r;
    refuse(&log, OLTR_OPE_SNIIPS, OLTR_EVALUE, "1000 resamples of 1048576 slots need more than");
    assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNIIPS, &o, &r, NULL), OLTR_OK);
    assert_true(fabs(r.value - MANY / 2) < 1e-6);
    log.k = MANY + 1;
    refuse(&log, OLTR_OPE_SNIIPS, OLTR_EINVAL, "1 to 1048576 slots");
    free(one);
}

static void knows_names(void **state)
{
    oltr_ope_estimator e;
    oltr_error error;
    for (oltr_ope_estimator i = 0; i < OLTR_OPE_ESTIMATORS; i++) {
        assert_int_equal(oltr_ope_find(oltr_ope_name(i), &e, NULL), OLTR_OK);
        assert_int_equal(e, i);
    }
    assert_null(oltr_ope_name(OLTR_OPE_ESTIMATORS));
    assert_int_equal(oltr_ope_find("dm", NULL, &error), OLTR_EINVAL);
    assert_int_equal(oltr_ope_find("snrisp", &e, &error), OLTR_EKIND);
    assert_non_null(strstr(error.msg, "snrips"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_unbiased_where_it_says),
        cmocka_unit_test(direct_method_needs_the_model),
        cmocka_unit_test(equals_the_slow_twin),
        cmocka_unit_test(takes_logarithms),
        cmocka_unit_test(knows_weights),
        cmocka_unit_test(says_little_about_one_list),
        cmocka_unit_test(sees_missing_support),
        cmocka_unit_test(bernstein_is_its_formula),
        cmocka_unit_test(bootstrap_is_a_function_of_the_seed),
        cmocka_unit_test(covers_as_often_as_it_says),
        cmocka_unit_test(predicts_another_policy),
        cmocka_unit_test(refuses_numbers_that_cannot_be),
        cmocka_unit_test(options_of_another_version_are_refused),
        cmocka_unit_test(does_not_overflow),
        cmocka_unit_test(can_be_stopped),
        cmocka_unit_test(refuses_sums_beyond_memory),
        cmocka_unit_test(knows_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
