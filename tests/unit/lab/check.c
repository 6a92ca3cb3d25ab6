/* check.c - the measures of a prior, on priors whose quality is known: the truth itself, the base
 * rate, and a prior that is sure of itself and wrong.  Sizes and errors are compared with slow
 * twins.
 */
#include "support/judged.h"

#include "lab/scorer/prior_quality.h"

static double attraction[GRADES];

static int make_attraction(void **state)
{
    for (int g = 0; g < GRADES; g++)
        attraction[g] = g <= 4 ? (pow(2, g) - 1) / 16 : 1;
    return 0;
}

static int near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

static prior_check run(const oltr_dataset *d, const scores *s)
{
    prior_check c;
    oltr_error error = {OLTR_OK, ""};
    if (prior_check_run(d, s, attraction, &c, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return c;
}

static scores scores_for(const oltr_dataset *d, uint32_t models)
{
    scores s;
    assert_int_equal(scores_new(d->n_rows, models, &s, NULL), OLTR_OK);
    return s;
}

static void truth_is_best(void **state)
{
    oltr_dataset *d = judged_queries(1, 30, 20, 4);
    scores s = scores_for(d, 2);
    for (uint32_t row = 0; row < d->n_rows; row++)
        s.score[2 * row] = s.score[2 * row + 1] = (float)attraction[d->grade[row]];
    prior_check c = run(d, &s);
    assert_int_equal(c.n_rows, d->n_rows);
    assert_int_equal(c.n_queries, 30);
    for (int i = 0; i < CHECK_CUTS; i++) {
        assert_true(near(c.mean.ndcg[i], 1, 1e-12) && near(c.single.ndcg[i], 1, 1e-12));
        assert_true(c.random.ndcg[i] < c.feature.ndcg[i] && c.feature.ndcg[i] < 1);
    }
    assert_true(c.feature_id == 1 || c.feature_id == 2); /* where the truth was planted */
    assert_true(near(c.log_loss, c.log_loss_truth, 2e-3) &&
                c.log_loss >= c.log_loss_truth); /* the margin costs a little */
    assert_true(c.log_loss < c.log_loss_feature && c.log_loss_feature <= c.log_loss_base);
    assert_true(near(c.mean_score, c.base_rate, 1e-3) && c.calibration_error < 2e-3);
    assert_true(c.honest_size > 1e4 && c.claimed_size == 2);
    assert_true(isinf(c.helps_until) && c.worth > 100);
    scores_free(&s);
    oltr_dataset_free(d);
}

static void base_rate_is_calibrated_and_blind(void **state)
{
    oltr_dataset *d = judged_queries(1, 30, 20, 4);
    scores s = scores_for(d, 1);
    double mean = 0;
    for (uint32_t row = 0; row < d->n_rows; row++)
        mean += attraction[d->grade[row]] / d->n_rows;
    for (uint32_t row = 0; row < d->n_rows; row++)
        s.score[row] = (float)mean;
    prior_check c = run(d, &s);
    for (int i = 0; i < CHECK_CUTS; i++)
        assert_true(near(c.mean.ndcg[i], c.random.ndcg[i], 1e-12));
    assert_true(near(c.log_loss, c.log_loss_base, 1e-7));
    assert_true(near(c.honest_size, c.honest_base, 1e-5));
    assert_true(isnan(c.spread_size)); /* one model has no spread */
    assert_int_equal(c.n_bins, CHECK_BINS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c.n_bins; i++)
        n += c.bin[i].n;
    assert_int_equal(n, d->n_rows);
    scores_free(&s);
    oltr_dataset_free(d);
}

/* Ten models that agree, and are wrong. */
static void certainty_is_seen_through(void **state)
{
    oltr_dataset *d = judged_queries(1, 30, 20, 4);
    scores s = scores_for(d, 10);
    dice from = {5};
    double possible = 0, error = 0, between = 0;
    for (uint32_t row = 0; row < d->n_rows; row++) {
        double truth = attraction[d->grade[row]], m = 0, v = 0;
        for (uint32_t j = 0; j < 10; j++)
            s.score[10 * row + j] = (float)(0.7 - 0.5 * truth + 0.02 * unit(&from));
        for (uint32_t j = 0; j < 10; j++)
            m += (double)s.score[10 * row + j] / 10;
        for (uint32_t j = 0; j < 10; j++)
            v += pow((double)s.score[10 * row + j] - m, 2) / 9;
        possible += m * (1 - m);
        between += v;
        error += (m - truth) * (m - truth);
    }
    prior_check c = run(d, &s);
    assert_true(near(c.spread_size, possible / between - 1, 1e-6 * c.spread_size) &&
                c.spread_size > 1000);
    assert_true(near(c.honest_size, fmax(0, possible / error - 1), 1e-6) && c.honest_size < 1);
    assert_true(c.mean.ndcg[2] < c.random.ndcg[2] && c.log_loss > c.log_loss_base);
    assert_true(c.calibration_error > 0.3 && c.worth == 0 &&
                c.helps_until == 0); /* 1/2 is nearer to the truth */
    scores_free(&s);
    oltr_dataset_free(d);
}

/* The expected error of the posterior mean, by summing over all numbers of clicks. */
static double slow_error(const oltr_dataset *d, const scores *s, uint32_t seen, double size)
{
    double sum = 0;
    for (uint32_t row = 0; row < d->n_rows; row++) {
        double t = attraction[d->grade[row]], m = s ? (double)s->score[row] : 0.5;
        for (uint32_t clicks = 0; clicks <= seen; clicks++) {
            double chance =
                exp(lgamma(seen + 1.0) - lgamma(clicks + 1.0) - lgamma(seen - clicks + 1.0)) *
                pow(t, clicks) * pow(1 - t, seen - clicks);
            sum += chance * pow((size * m + clicks) / (size + seen) - t, 2);
        }
    }
    return sqrt(sum / d->n_rows);
}

static void errors_are_expectations(void **state)
{
    oltr_dataset *d = judged_queries(1, 10, 10, 4);
    scores s = scores_for(d, 1);
    dice from = {5};
    for (uint32_t row = 0; row < d->n_rows; row++)
        s.score[row] = (float)(0.1 + 0.5 * unit(&from));
    prior_check c = run(d, &s);
    scores base = scores_for(d, 1);
    for (uint32_t row = 0; row < d->n_rows; row++)
        base.score[row] = (float)c.base_rate;
    uint32_t better = 0;
    for (int i = 0; check_points[i] <= 50; i++) {
        assert_true(near(c.error[i].prior, slow_error(d, &s, check_points[i], 1), 1e-6));
        assert_true(near(c.error[i].base, slow_error(d, &base, check_points[i], 1), 1e-6));
        assert_true(near(c.error[i].flat, slow_error(d, NULL, check_points[i], 2), 1e-6));
        assert_true(
            near(c.error[i].honest, slow_error(d, &s, check_points[i], c.honest_size), 1e-6));
        better += c.error[i].flat < c.error[i].prior && better == 0;
    }
    for (uint32_t seen = 0; seen < c.worth && seen < 50; seen++)
        assert_true(slow_error(d, NULL, seen, 2) > c.error[0].prior - 1e-9);
    for (uint32_t seen = 0; seen < c.helps_until && seen < 50; seen++)
        assert_true(slow_error(d, NULL, seen, 2) >= slow_error(d, &s, seen, 1) - 1e-9);
    assert_true(better == 0 || c.helps_until <= 50);
    scores_free(&base);
    scores_free(&s);
    oltr_dataset_free(d);
}

static void refuses_strangers(void **state)
{
    oltr_dataset *d = judged_queries(1, 3, 10, 4);
    scores s;
    prior_check c;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(scores_new(d->n_rows + 1, 1, &s, NULL), OLTR_OK);
    assert_int_equal(prior_check_run(d, &s, attraction, &c, &error), OLTR_EMISMATCH);
    assert_non_null(strstr(error.msg, "documents, but the dataset has"));
    scores_free(&s);
    oltr_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_best),
        cmocka_unit_test(base_rate_is_calibrated_and_blind),
        cmocka_unit_test(certainty_is_seen_through),
        cmocka_unit_test(errors_are_expectations),
        cmocka_unit_test(refuses_strangers),
    };
    return cmocka_run_group_tests(tests, make_attraction, NULL);
}
