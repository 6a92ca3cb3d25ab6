/* ope_intervals.c - how often the intervals of off-policy estimates hold the value.
 *
 * 1,000 logs of 400 lists, from an enumerated world whose value is known.  The number of intervals
 * of confidence c that hold it is binomial.  Bootstrap and normal intervals are right for large n
 * only; 2 % are allowed for the skew of the weights at n = 400.  So a count is accepted between the
 * 1e-8 quantiles of binomials with c - 0.02 and c + 0.02: with 12 counts of two sides the
 * false-alarm rate is below 1e-6.  For c = 0.9 that is 819 to 963.  Intervals of three quarters of
 * the width must be rejected, so the bounds can fail.
 *
 * Empirical Bernstein holds for any n and is wide: at least c, and it is not near c.
 */
#include "support/slates.h"

#include <gsl/gsl_cdf.h>

#include <oltr/ope.h>

enum { LOGS = EFFORT > 1 ? 1000 : 125, N = 400, K = 3, RESAMPLES = 100 };

static const double skew = 0.02, tail = 1e-8;

typedef struct drawn {
    double reward[N][K], logged[N][K], evaluated[N][K], logged_slot[N][K], evaluated_slot[N][K];
    double q[N][K], v[N][K];
} drawn;

typedef struct scene {
    slates s;
    slate_world w;
    slate_policy logged, evaluated;
} scene;

static scene make_scene(dice *from, slate_users users)
{
    scene c = {.s = slates_of(K), .w = slate_world_make(from, users)};
    c.logged = slate_plackett_luce(from, &c.s, 1);
    c.evaluated = slate_plackett_luce(from, &c.s, 2);
    return c;
}

/* Predictions that are wrong, but right on average over the policy: q is v. */
static oltr_ope_log draw_log(dice *from, const scene *c, drawn *x)
{
    for (int i = 0; i < N; i++) {
        uint32_t list = slate_draw_list(from, &c->s, &c->logged);
        uint32_t clicks = slate_draw_clicks(from, &c->w, c->s.item[list], K);
        for (uint32_t l = 0; l < K; l++) {
            uint32_t item = c->s.item[list][l];
            x->reward[i][l] = clicks >> l & 1;
            x->logged[i][l] = c->logged.prefix[list][l];
            x->evaluated[i][l] = c->evaluated.prefix[list][l];
            x->logged_slot[i][l] = c->logged.slot[l][item];
            x->evaluated_slot[i][l] = c->evaluated.slot[l][item];
            x->q[i][l] = x->v[i][l] = 0.25 * (K - l);
        }
    }
    return (oltr_ope_log){.n = N,
                          .k = K,
                          .reward = x->reward[0],
                          .logged_prefix = x->logged[0],
                          .evaluated_prefix = x->evaluated[0],
                          .logged_slot = x->logged_slot[0],
                          .evaluated_slot = x->evaluated_slot[0],
                          .q = x->q[0],
                          .v = x->v[0]};
}

typedef struct counts {
    unsigned held, held_narrow; /* by the interval, and by one of three quarters of its width */
} counts;

static void count(const oltr_ope_log *log, oltr_ope_estimator e, uint32_t interval,
                  double confidence, uint64_t seed, double value, counts *to)
{
    const oltr_ope_options o = {
        .interval = interval, .bootstrap = RESAMPLES, .confidence = confidence, .seed = seed};
    oltr_ope_result r;
    assert_int_equal(oltr_ope_estimate(log, e, &o, &r, NULL), OLTR_OK);
    double low = r.value + 0.75 * (r.low - r.value), high = r.value + 0.75 * (r.high - r.value);
    to->held += r.low <= value && value <= r.high;
    to->held_narrow += low <= value && value <= high;
}

static bool is_too_few(unsigned held, double confidence)
{
    return gsl_cdf_binomial_P(held, confidence - skew, LOGS) < tail;
}

static bool is_too_many(unsigned held, double confidence)
{
    double most = fmin(confidence + skew, 1 - 1e-12);
    return held > 0 && gsl_cdf_binomial_Q(held - 1, most, LOGS) < tail;
}

static void judge(const char *what, counts c, double confidence)
{
    print_message("%-28s %5.1f %% of %.0f %%\n", what, 100.0 * c.held / LOGS, 100 * confidence);
    assert_false(is_too_few(c.held, confidence));
    assert_false(is_too_many(c.held, confidence));
    if (EFFORT > 1)
        assert_true(is_too_few(c.held_narrow, confidence));
}

typedef struct row {
    oltr_ope_estimator estimator;
    slate_users users; /* a click model under which it is right */
    uint32_t interval;
    double confidence;
} row;

static void hold_as_often_as_they_say(void **state)
{
    static const row rows[] = {
        {OLTR_OPE_SIPS, DBN, OLTR_OPE_NORMAL, 0.9},
        {OLTR_OPE_IIPS, PBM, OLTR_OPE_NORMAL, 0.9},
        {OLTR_OPE_RIPS, DCM, OLTR_OPE_NORMAL, 0.9},
        {OLTR_OPE_SNSIPS, DBN, OLTR_OPE_NORMAL, 0.9},
        {OLTR_OPE_SNIIPS, PBM, OLTR_OPE_NORMAL, 0.9},
        {OLTR_OPE_SNRIPS, DCM, OLTR_OPE_NORMAL, 0.9},
        {OLTR_OPE_DR, DCM, OLTR_OPE_NORMAL, 0.9},
        {OLTR_OPE_RIPS, DCM, OLTR_OPE_NORMAL, 0.7},
        {OLTR_OPE_SIPS, DBN, OLTR_OPE_BOOTSTRAP, 0.9},
        {OLTR_OPE_RIPS, DCM, OLTR_OPE_BOOTSTRAP, 0.9},
        {OLTR_OPE_SNRIPS, DCM, OLTR_OPE_BOOTSTRAP, 0.9},
        {OLTR_OPE_DR, DCM, OLTR_OPE_BOOTSTRAP, 0.8},
    };
    dice from = {41};
    drawn *x = exactly(1, sizeof *x);
    for (slate_users users = 0; users < SLATE_USERS; users++) {
        scene c = make_scene(&from, users);
        double value = slate_value(&c.s, &c.w, &c.evaluated);
        counts held[COUNT(rows)] = {{0, 0}};
        for (uint64_t i = 0; users != CASCADE && i < LOGS; i++) {
            oltr_ope_log log = draw_log(&from, &c, x);
            for (size_t j = 0; j < COUNT(rows); j++)
                if (rows[j].users == users)
                    count(&log, rows[j].estimator, rows[j].interval, rows[j].confidence, i, value,
                          &held[j]);
        }
        for (size_t j = 0; j < COUNT(rows); j++)
            if (rows[j].users == users) {
                char what[64];
                snprintf(what, sizeof what, "%s, %s", oltr_ope_name(rows[j].estimator),
                         rows[j].interval == OLTR_OPE_NORMAL ? "normal" : "bootstrap");
                judge(what, held[j], rows[j].confidence);
            }
    }
    free(x);
}

/* The terms of rips are from 0 to the sum of the largest weights of the slots. */
static double range_of(const scene *c)
{
    double range = 0;
    for (uint32_t l = 0; l < K; l++) {
        double most = 0;
        for (uint32_t i = 0; i < c->s.n; i++)
            most = fmax(most, c->evaluated.prefix[i][l] / c->logged.prefix[i][l]);
        range += most;
    }
    return range;
}

/* Of 1,000 intervals of 50 %, 500 would do; Bernstein's inequality is not tight, and most hold.
 * Each is as wide as the formula, which is at least sqrt(2 log 8) = 2.04 standard errors. */
static void bernstein_holds_more_often(void **state)
{
    dice from = {42};
    drawn *x = exactly(1, sizeof *x);
    scene c = make_scene(&from, CASCADE);
    double value = slate_value(&c.s, &c.w, &c.evaluated);
    unsigned held[2] = {0, 0};
    for (uint64_t i = 0; i < LOGS; i++) {
        oltr_ope_log log = draw_log(&from, &c, x);
        for (int given = 0; given < 2; given++) {
            const oltr_ope_options o = {.interval = OLTR_OPE_BERNSTEIN,
                                        .confidence = 0.5,
                                        .bound = given ? range_of(&c) : 0};
            oltr_ope_result r;
            assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_RIPS, &o, &r, NULL), OLTR_OK);
            assert_true(r.high - r.value >= 2.039 * r.se);
            held[given] += r.low <= value && value <= r.high;
        }
    }
    print_message("bernstein: %.1f %% and, with a bound, %.1f %% of 50 %%\n",
                  100.0 * held[0] / LOGS, 100.0 * held[1] / LOGS);
    for (int given = 0; given < 2; given++) /* 95 %: 2.04 standard errors, and more */
        assert_true(gsl_cdf_binomial_P(held[given], 0.95, LOGS) > tail);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hold_as_often_as_they_say),
        cmocka_unit_test(bernstein_holds_more_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
