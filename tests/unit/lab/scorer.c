/* scorer.c - scorers learn what is planted, are the same for a seed whatever the threads, live with
 * absurd features, and say what is wrong with data they cannot learn from.  Calibration finds a
 * known curve and never turns an order round.
 */
#include "support/judged.h"

#include <float.h>
#include <stdatomic.h>

#include "lab/scorer/calibration.h"
#include "lab/scorer/prior_quality.h"

static scorer_options quick(uint64_t seed)
{
    scorer_options o = scorer_defaults();
    o.hidden[0] = 24;
    o.hidden[1] = 12;
    o.epochs = 40;
    o.patience = 40;
    o.seed = seed;
    return o;
}

static part all_of(const oltr_dataset *d)
{
    return (part){d, d->n_queries, NULL};
}

static scorer *train(const oltr_dataset *a, const oltr_dataset *b, const scorer_options *o)
{
    oltr_error error = {OLTR_OK, ""};
    part p = all_of(a), v = all_of(b);
    scorer *r = scorer_train(&p, &v, NULL, o, NULL, &error);
    if (!r)
        fail_msg("%s", error.msg);
    return r;
}

/* ---- learning */

static void learns_what_is_planted(void **state)
{
    oltr_dataset *a = judged_queries(1, 60, 30, 8), *b = judged_queries(2, 20, 30, 8),
                 *c = judged_queries(3, 40, 30, 8);
    scorer_options o = quick(4);
    scorer *r = train(a, b, &o);
    float *score = exactly(c->n_rows, sizeof *score);
    ranked *room = exactly(most_documents(c), sizeof *room);
    assert_int_equal(scorer_score(r, c, NULL, score, 1, NULL), OLTR_OK);
    double learned = ndcg_mean(c, score, 1, 10, room, NULL, NULL);
    for (uint32_t row = 0; row < c->n_rows; row++)
        assert_true(score[row] > 0 && score[row] < 1);
    uint32_t feature;
    bool falls;
    best_feature(c, 10, score, room, &feature, &falls);
    feature_scores(c, feature, falls, score);
    double single = ndcg_mean(c, score, 1, 10, room, NULL, NULL);
    assert_true(scorer_epoch(r) >= 1 && scorer_epoch(r) <= o.epochs && scorer_ndcg(r) > 0);
    if (!(learned > single + 0.1 && learned > 0.6)) /* 0.87 and 0.48 when this was written */
        fail_msg("NDCG@10 %.3f; the best feature has %.3f", learned, single);
    scorer_free(r);
    free(score);
    free(room);
    oltr_dataset_free(a);
    oltr_dataset_free(b);
    oltr_dataset_free(c);
}

static scores ensemble(const oltr_dataset *a, const oltr_dataset *b, const oltr_dataset *c,
                       uint32_t threads, uint64_t seed)
{
    scores s;
    oltr_error error = {OLTR_OK, ""};
    scores_options o = {.models = 4, .threads = threads, .scorer = quick(seed)};
    o.scorer.epochs = 4;
    if (scores_train(a, b, c, &o, &s, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return s;
}

static void threads_do_not_matter(void **state)
{
    oltr_dataset *a = judged_queries(1, 12, 20, 6), *b = judged_queries(2, 6, 20, 6),
                 *c = judged_queries(3, 5, 20, 6);
    scores one = ensemble(a, b, c, 1, 9), four = ensemble(a, b, c, 4, 9),
           other = ensemble(a, b, c, 3, 10);
    size_t bytes = (size_t)one.n_rows * one.n_models * sizeof *one.score;
    assert_int_equal(one.n_rows, c->n_rows);
    assert_memory_equal(one.score, four.score, bytes);
    assert_memory_not_equal(one.score, other.score, bytes);
    for (uint32_t m = 1; m < one.n_models; m++) /* each has its own half, and so its own view */
        assert_true(one.score[m] != one.score[0]);
    scores_free(&one);
    scores_free(&four);
    scores_free(&other);
    oltr_dataset_free(a);
    oltr_dataset_free(b);
    oltr_dataset_free(c);
}

/* Values that a reader may let through, and worse. */
static void absurd_features_do_no_harm(void **state)
{
    static const float absurd[] = {FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN, 1e-45f, -0.0f};
    oltr_dataset *a = judged_queries(1, 20, 20, 6), *b = judged_queries(2, 8, 20, 6);
    for (uint32_t i = 0; i < 7; i++) {
        dataset_x(a)[(size_t)i * 6 + 3] = absurd[i];
        dataset_x(b)[(size_t)i * 6 + i % 6] = absurd[i];
    }
    scorer_options o = quick(4);
    o.epochs = 10;
    scorer *r = train(a, b, &o);
    float *score = exactly(b->n_rows, sizeof *score);
    assert_int_equal(scorer_score(r, b, NULL, score, 1, NULL), OLTR_OK);
    for (uint32_t row = 0; row < b->n_rows; row++)
        assert_true(score[row] > 0 && score[row] < 1); /* not NaN */
    free(score);
    scorer_free(r);
    oltr_dataset_free(a);
    oltr_dataset_free(b);
}

/* ---- refusals */

static void refuses(const oltr_dataset *a, const oltr_dataset *b, const scorer_options *o,
                    const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    part p = all_of(a), v = all_of(b);
    assert_null(scorer_train(&p, &v, NULL, o, NULL, &error));
    if (error.code == OLTR_OK || !strstr(error.msg, words))
        fail_msg("expected `%s`, got `%s`", words, error.msg);
}

static void says_what_is_wrong(void **state)
{
    oltr_dataset *a = judged_queries(1, 6, 10, 4), *wide = judged_queries(2, 3, 10, 5);
    oltr_dataset *flat = judged_queries(3, 6, 10, 4), *dull = judged_queries(4, 6, 10, 1);
    memset(dataset_grade(flat), 0, flat->n_rows);
    memset(dataset_grade(dull), 1, dull->n_rows);
    scorer_options good = quick(1), o;
    refuses(a, wide, &good, "the validation queries have 5 features, the training queries 4");
    refuses(flat, a, &good, "none of the 6 training queries has a document with a grade above 0");
    refuses(a, flat, &good, "none of the 6 validation queries has a document with a grade above 0");
    refuses(dull, dull, &good, "no feature varies among the training documents");
    o = good, o.n_hidden = 0;
    refuses(a, a, &o, "1 to 3 hidden layers");
    o = good, o.hidden[1] = 5000;
    refuses(a, a, &o, "of 1 to 4096 units");
    o = good, o.batch = 0;
    refuses(a, a, &o, "a batch 1 to 1024 queries");
    o = good, o.rate = NAN;
    refuses(a, a, &o, "the rate must be in");
    o = good, o.dropout = 1;
    refuses(a, a, &o, "dropout in [0, 0.95]");
    oltr_error error = {OLTR_OK, ""};
    scorer *r = train(a, a, &good);
    float score[64];
    assert_int_equal(scorer_score(r, wide, NULL, score, 1, &error), OLTR_EMISMATCH);
    assert_non_null(strstr(error.msg, "trained on 4 features, this dataset has 5"));
    scorer_free(r);
    scorer_free(NULL);
    scores s;
    scores_options e = {.models = 2, .threads = 2, .scorer = good};
    assert_int_equal(scores_train(a, a, wide, &e, &s, &error), OLTR_EMISMATCH);
    assert_int_equal(scores_train(a, flat, a, &e, &s, &error), OLTR_EVALUE);
    assert_non_null(strstr(error.msg, "validation queries"));
    assert_null(s.score);
    e.models = 0;
    assert_int_equal(scores_train(a, a, a, &e, &s, &error), OLTR_EINVAL);
    oltr_dataset_free(a);
    oltr_dataset_free(wide);
    oltr_dataset_free(flat);
    oltr_dataset_free(dull);
}

typedef struct watch {
    uint32_t reports;
    double share;
    atomic_uint asked;
} watch;

static void note(void *context, const scores_progress *p)
{
    watch *w = context;
    w->reports++;
    w->share = p->share;
    assert_true(p->done <= p->models && p->share >= 0 && p->share <= 1 && p->ndcg >= 0 &&
                p->ndcg <= 1);
}

static int stop_soon(void *context)
{
    return atomic_fetch_add(&((watch *)context)->asked, 1) > 20;
}

static int stop_now(void *context)
{
    (void)context;
    return 1;
}

static void scoring_stops_when_asked(void **state)
{
    oltr_dataset *a = judged_queries(1, 20, 20, 6);
    scorer_options o = quick(4);
    scorer *r = train(a, a, &o);
    float *score = exactly(a->n_rows, sizeof *score);
    scorer_hooks hooks = {.stop = stop_now};
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(scorer_score(r, a, &hooks, score, 1, &error), OLTR_EINTERRUPTED);
    assert_string_equal(error.msg, "stopped before all rows were scored");
    assert_int_equal(scorer_output(r, a, &hooks, score, 1, NULL), OLTR_EINTERRUPTED);
    free(score);
    scorer_free(r);
    oltr_dataset_free(a);
}

static void stops_when_asked(void **state)
{
    oltr_dataset *a = judged_queries(1, 20, 20, 6);
    watch w = {0};
    scores s;
    oltr_error error = {OLTR_OK, ""};
    scores_options o = {
        .models = 3, .threads = 2, .scorer = quick(1), .stop = stop_soon, .context = &w};
    assert_int_equal(scores_train(a, a, a, &o, &s, &error), OLTR_EINTERRUPTED);
    assert_null(s.score);
    o.stop = NULL;
    o.progress = note;
    o.every = 0;
    o.scorer.epochs = 3;
    assert_int_equal(scores_train(a, a, a, &o, &s, &error), OLTR_OK);
    assert_true(w.reports > 0);
    scores_free(&s);
    oltr_dataset_free(a);
}

/* ---- calibration */

static void finds_a_known_curve(void **state)
{
    enum { N = 2000 };
    float *score = exactly(N, sizeof *score);
    double *target = exactly(N, sizeof *target);
    for (int i = 0; i < N; i++) {
        score[i] = (float)(1000 + 0.01 * i); /* far from 0, and of another scale */
        target[i] = 1 / (1 + exp(-(0.3 * (double)score[i] - 303)));
    }
    calibration c = calibration_fit(score, target, N);
    assert_true(fabs(c.slope - 0.3) < 1e-3 && fabs(c.offset + 303) < 1);
    for (int i = 0; i < N; i++) {
        assert_true(fabs((double)calibrated(&c, score[i]) - target[i]) < 1e-4);
        assert_true(i == 0 || calibrated(&c, score[i]) >= calibrated(&c, score[i - 1]));
    }
    for (int i = 0; i < N; i++)
        target[i] =
            1 -
            target[i]; /* the wrong way round: almost flat, at the base rate, and still rising */
    c = calibration_fit(score, target, N);
    double mean = 0;
    for (int i = 0; i < N; i++)
        mean += target[i] / N;
    assert_true(c.slope > 0 && fabs((double)calibrated(&c, score[N / 2]) - mean) < 1e-3);
    free(score);
    free(target);
}

static void calibration_stays_within_bounds(void **state)
{
    const float apart[] = {-5, -4, 4, 5}, equal[] = {2, 2, 2, 2};
    const double truth[] = {0, 0, 1, 1}, never[4] = {0};
    calibration c = calibration_fit(apart, truth, 4); /* separable */
    assert_true(isfinite(c.slope) && c.slope > 0 && isfinite(c.offset));
    assert_true(calibrated(&c, -FLT_MAX) > 0 && calibrated(&c, FLT_MAX) < 1);
    assert_true(calibrated(&c, -5) < 0.05f && calibrated(&c, 5) > 0.95f);
    c = calibration_fit(apart, never, 4);
    assert_true(isfinite(c.slope) && c.slope > 0 && calibrated(&c, 5) < 0.05f &&
                calibrated(&c, 5) > 0);
    c = calibration_fit(equal, truth, 4);
    assert_true(fabs((double)calibrated(&c, 2) - 0.5) < 1e-6);
    c = calibration_fit(equal, truth, 0);
    assert_true(isfinite(c.slope) && isfinite(c.offset));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_what_is_planted),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(absurd_features_do_no_harm),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(scoring_stops_when_asked),
        cmocka_unit_test(finds_a_known_curve),
        cmocka_unit_test(calibration_stays_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
