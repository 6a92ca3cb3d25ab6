/* features.c - what rows of features add to a policy: their layout, their size, and rows that are
 * longer than 1.
 *
 * Runs on every variant that takes features.  The parameter `norm` says what happens to a row that
 * is longer than 1: it is scaled, refused or accepted.  A logistic posterior keeps rows; the last
 * two checks are about how many.
 */
#include "conform/fixtures.h"

static variant_list variants;

static bool is_logts(const variant *v)
{
    return is_kind(v, "logts");
}

static bool logistic_with_default_rows(const variant *v)
{
    return has_logistic_posterior(v->info) && !v->at_bound;
}

/* Whether what is summed depends on the estimates at the time. */
static bool sums_depend_on_estimates(const variant *v)
{
    return is_kind(v, "logts-newton") || is_kind(v, "cascade-woful") ||
           (is_logts(v) && (chosen(v, "weights", "stale") || param_of(v, "rows") > 0));
}

static bool has_norm(const variant *v, const char *choice)
{
    return has_features(v) && !v->at_bound && chosen(v, "norm", choice);
}

static bool accepts(const variant *v)
{
    return has_norm(v, "accept");
}

static bool scales(const variant *v)
{
    return has_norm(v, "scale");
}

static bool refuses(const variant *v)
{
    return has_norm(v, "refuse");
}

/* ---- layout */

/* Row j is at j * stride; a stride of 0 means that the rows are adjacent. */
static void the_stride_is_only_layout(void **state)
{
    oltr_policy *wide = new_policy(*state), *tight = new_policy(*state);
    dice d = {2};
    for (uint64_t round = 0; round < 40; round++) {
        request r;
        float x[ITEMS * DIM];
        uint32_t one[ITEMS], other[ITEMS];
        double score[2][ITEMS];
        draw_request(&d, wide, FROM_POOL, &r);
        for (uint32_t j = 0; j < r.query.n_items; j++)
            memcpy(x + j * DIM, r.x + j * STRIDE, DIM * sizeof *x);
        oltr_query packed = r.query;
        packed.stride = round % 2 ? 0 : DIM;
        packed.x = x;
        expect(rank_with(wide, r.asked, round, r.query.n_items, one, score[0]), OLTR_OK);
        expect(rank_with(tight, &packed, round, r.query.n_items, other, score[1]), OLTR_OK);
        assert_memory_equal(one, other, r.query.n_items * sizeof *one);
        assert_memory_equal(score[0], score[1], r.query.n_items * sizeof **score);
        expect(learn_request(wide, &r), OLTR_OK);
        r.query = packed;
        expect(learn_request(tight, &r), OLTR_OK);
    }
    assert_true(same_state(wide, tight));
    oltr_policy_free(wide);
    oltr_policy_free(tight);
}

/* ---- size */

/* A float whose square overflows is refused, or scaled where the settings say so. */
static void huge_features(void **state)
{
    static const float huge[] = {1e20F, -1e20F, 3e38F};
    oltr_policy *p = new_policy(*state);
    learn_many(p, 7, 30);
    for (size_t i = 0; i < COUNT(huge); i++) {
        float x[2 * DIM] = {0.25F, 0.5F, huge[i]};
        uint32_t item[2] = {0, 1};
        double reward[2] = {1, 0};
        oltr_query query = {2, NULL, DIM, 0, x};
        image before = image_of(p);
        oltr_status status =
            oltr_learn(p, &query, &(oltr_ranking){2, item, NULL}, &(oltr_feedback){2, reward});
        if (!chosen(*state, "norm", "scale"))
            expect(status, OLTR_EFEATURE);
        assert_true(status == OLTR_OK || status == OLTR_EFEATURE);
        assert_int_equal(same_images(before, image_of(p)), status != OLTR_OK);
        assert_sound(p);
        learn_many(p, i, 5);
    }
    oltr_policy_free(copy_of(p));
    oltr_policy_free(p);
}

/* For rows of any length that is taken, the policy stays sound and its numbers finite. */
static void long_features_do_no_harm(void **state)
{
    static const float length[] = {1e2F, 1e4F, 1e6F, 1e10F, 1e15F};
    for (size_t i = 0; i < COUNT(length); i++) {
        oltr_policy *p = new_policy(*state);
        dice d = {70 + i};
        char what[64];
        snprintf(what, sizeof what, "features of %g", (double)length[i]);
        for (uint64_t round = 0; round < 40; round++) {
            request r;
            draw_request(&d, p, FROM_POOL, &r);
            r.x[STRIDE * below(&d, r.query.n_items)] = round % 2 ? length[i] : -length[i];
            oltr_status status = learn_request(p, &r);
            assert_true(status == OLTR_OK || status == OLTR_EFEATURE);
            draw_request(&d, p, FROM_POOL, &r);
            rank_and_check(p, r.asked, round, r.query.n_items);
            assert_numbers(p, r.asked, what);
        }
        assert_usable(p, what);
        oltr_policy_free(p);
    }
}

/* A list is refused by both calls or by none, and the largest feature that is allowed by none. */
static void rank_and_learn_refuse_the_same(void **state)
{
    static const float largest[] = {1e6F, -1e6F, 1.0000001e6F, -2e6F, 1e7F, 1e12F, 1e19F};
    oltr_policy *p = new_policy(*state);
    dice d = {71};
    learn_many(p, 7, 30);
    for (int n = 0; n < 200; n++) {
        request r;
        draw_request(&d, p, FROM_POOL, &r);
        uint32_t far = below(&d, COUNT(largest));
        r.x[STRIDE * below(&d, r.query.n_items) + below(&d, DIM)] = largest[far];
        r.k = n % 2 ? r.query.n_items : r.k;
        r.n_examined = 0;
        oltr_status ranked = rank_with(p, r.asked, (uint64_t)n, r.k, r.shown, NULL);
        if (ranked == OLTR_EFEATURE && chosen(*state, "norm", "refuse"))
            continue; /* a candidate that is too long: no list was made */
        expect(learn_request(p, &r), ranked);
        if (r.k == r.query.n_items)
            expect(ranked, far < 2 ? OLTR_OK : OLTR_EFEATURE);
    }
    oltr_policy_free(p);
}

static void settings_need_a_dimension(void **state)
{
    oltr_settings s = settings_for(*state, ITEMS);
    oltr_error error = {OLTR_OK, ""};
    s.dim = 0;
    assert_null(oltr_policy_new(&s, &error));
    expect_error(error.code, &error, OLTR_EFEATURE, "dim");
    assert_int_equal(oltr_policy_bytes(&s, &error), 0);
    s.dim = UINT32_MAX; /* its size would overflow */
    assert_null(oltr_policy_new(&s, &error));
    assert_int_not_equal(error.code, OLTR_OK);
}

/* ---- rows longer than 1 */

/* Every row at this length. */
static void stretch(request *r, double length)
{
    for (uint32_t j = 0; j < r->query.n_items; j++) {
        float *x = r->x + j * STRIDE;
        double square = 0;
        for (uint32_t i = 0; i < DIM; i++)
            square += (double)x[i] * (double)x[i];
        for (uint32_t i = 0; i < DIM; i++)
            x[i] = (float)((double)x[i] * length / sqrt(square));
    }
}

/* The two policies learn from the same rows, at length 1 and at length 5. */
static void teach_both(oltr_policy *p, oltr_policy *q, uint32_t rounds)
{
    dice d = {12};
    for (uint32_t t = 0; t < rounds; t++) {
        request r;
        draw_request(&d, p, FROM_POOL, &r);
        stretch(&r, 1);
        expect(learn_request(p, &r), OLTR_OK);
        stretch(&r, 5);
        expect(learn_request(q, &r), OLTR_OK);
    }
}

/* The scores that two policies give the candidates of two requests. */
static void assert_scores(const oltr_policy *p, const request *one, const oltr_policy *q,
                          const request *other, double tolerance)
{
    for (uint64_t round = 0; round < 4; round++) {
        uint32_t item[ITEMS], n = one->query.n_items;
        double score[ITEMS], by_item[2][ITEMS] = {{0}};
        for (int side = 0; side < 2; side++) {
            expect(rank_with(side ? q : p, side ? other->asked : one->asked, round, n, item, score),
                   OLTR_OK);
            for (uint32_t s = 0; s < n; s++)
                by_item[side][item[s]] = score[s];
        }
        for (uint32_t i = 0; i < ITEMS; i++)
            if (!near(by_item[0][i], by_item[1][i], tolerance))
                fail_msg("item %u scores %.9g and %.9g", i, by_item[0][i], by_item[1][i]);
    }
}

static void long_rows_are_scaled(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v), *q = new_policy(v);
    double mean[2][ITEMS], sd[2][ITEMS];
    bool drifts = is_logts(v) && chosen(v, "weights", "fresh");
    double allowed = drifts ? param_of(v, "drift") + 2e-5 : 2e-5;
    teach_both(p, q, 150);
    assert_sound(q);
    for (uint64_t seed = 20; seed < 30; seed++) {
        request one, other;
        draw_request(&(dice){seed}, p, NEVER_AGAIN, &one);
        draw_request(&(dice){seed}, p, NEVER_AGAIN, &other);
        stretch(&one, 1);
        stretch(&other, 5);
        assert_scores(p, &one, p, &other, 1e-5); /* rows of a request */
        if (!drifts)
            assert_scores(p, &one, q, &other, 1e-4); /* rows that were learned from */
        if (!v->info->can_predict)
            continue;
        expect(oltr_predict(p, one.asked, mean[0], sd[0]), OLTR_OK);
        expect(oltr_predict(q, other.asked, mean[1], sd[1]), OLTR_OK);
        for (uint32_t j = 0; j < one.query.n_items; j++)
            assert_true(near(mean[0][j], mean[1][j], 1e-5) &&
                        fabs(sd[0][j] - sd[1][j]) <= allowed * sd[0][j]);
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* Only rows above length 1 are touched: below it, scaling is accepting, to the bit. */
static void short_rows_are_left_alone(void **state)
{
    variant w = with_choice(*(const variant *)*state, "norm", "accept");
    oltr_policy *p = new_policy(*state), *q = new_policy(&w);
    learn_many(p, 1, 60);
    learn_many(q, 1, 60);
    image x = image_of(p), y = image_of(q);
    anatomy a = dissect_image(&x), b = dissect_image(&y);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.byte + a.n_sums, y.byte + b.n_sums, a.n_derived - a.n_sums);
    assert_same_lists(p, q);
    free(x.byte);
    free(y.byte);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* Neither ranked, learned from nor predicted. */
static void refuse_rows(oltr_policy *p, const float *x)
{
    uint32_t item[2] = {0, 1};
    double reward = 0, mean[2];
    oltr_query query = {2, NULL, DIM, 0, x};
    image before = image_of(p);
    expect(rank_with(p, &query, 1, 1, item, NULL), OLTR_EFEATURE);
    expect(oltr_learn(p, &query, &(oltr_ranking){1, item, NULL}, &(oltr_feedback){1, &reward}),
           OLTR_EFEATURE);
    if (oltr_policy_settings(p)->info->can_predict)
        expect(oltr_predict(p, &query, mean, NULL), OLTR_EFEATURE);
    assert_unchanged(p, before);
}

static void long_rows_are_refused(void **state)
{
    oltr_policy *p = new_policy(*state);
    float five[2 * DIM] = {5, 0, 0, 0, 0.5F}, barely[2 * DIM] = {0.8F, 0.61F, 0, 0, 0.5F},
                   one[2 * DIM] = {1, 0, 0, 0, 0, 1};
    oltr_query fine = {2, NULL, DIM, 0, one};
    uint32_t item[2];
    learn_many(p, 13, 30);
    refuse_rows(p, five);
    refuse_rows(p, barely);
    expect(rank_with(p, &fine, 1, 2, item, NULL), OLTR_OK); /* exactly 1 is not longer than 1 */
    oltr_policy_free(p);
}

/* Taken as they are: a row of length 5 counts 25 times as much in a sum of squares. */
static void long_rows_are_accepted(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v), *q = new_policy(v);
    teach_both(p, q, 60);
    assert_sound(q);
    image x = image_of(p), y = image_of(q);
    anatomy a = dissect_image(&x), b = dissect_image(&y);
    const field *f = sum_named(&a, "gram"), *g = sum_named(&b, "gram");
    for (size_t j = 0; f && !sums_depend_on_estimates(v) && j < f->n; j++)
        assert_true(near(25 * number_at(x.byte + f->value + 8 * j),
                         number_at(y.byte + g->value + 8 * j), 1e-5));
    free(x.byte);
    free(y.byte);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- the rows that a logistic posterior keeps */

static double rows_in(const oltr_policy *p, size_t *size)
{
    image m = image_of(p);
    anatomy a = dissect_image(&m);
    assert_non_null(sum_named(&a, "count"));
    double n = number_at(m.byte + sum_named(&a, "count")->value);
    if (size)
        *size = m.size;
    free(m.byte);
    return n;
}

/* Twelve different rows take the room of twelve, after any number of rounds. */
static void repeated_rows_cost_no_room(void **state)
{
    enum { L = 12 };
    oltr_policy *p = policy_of(*state, L);
    dice d = {16};
    size_t early = 0, late = 0;
    request r;
    whole_request(p, &r);
    for (uint32_t j = 0; j < L; j++)
        memcpy(r.x + j * STRIDE, pool_row(j), DIM * sizeof(float));
    r.k = 3;
    for (uint32_t t = 1; t <= 4000; t++) {
        draw_items(&d, L, 3, r.shown);
        draw_feedback(&d, OLTR_CLICKS, &r);
        expect(learn_request(p, &r), OLTR_OK);
        if (t == 400)
            assert_true(rows_in(p, &early) >= L && rows_in(p, NULL) <= L);
    }
    assert_true(rows_in(p, &late) >= L && rows_in(p, NULL) <= L);
    assert_int_equal(early, late);
    assert_sound(p);
    oltr_policy_free(p);
}

/* With room for 16 rows and a thousand different ones, the estimate stays near that with room for
 * all. */
static void rows_that_never_repeat_are_absorbed(void **state)
{
    variant roomy = with(with(*(const variant *)*state, "rows", 8192), "lambda", 1),
            narrow = with(roomy, "rows", 16);
    oltr_policy *all = new_policy(&roomy), *some = new_policy(&narrow);
    double mean[2][ITEMS], worst = 0;
    for (uint64_t part = 0; part < (EFFORT > 1 ? 5 : 2); part++) {
        learn_rows(all, part, 200, NEVER_AGAIN);
        learn_rows(some, part, 200, NEVER_AGAIN);
        assert_sound(all);
        assert_sound(some);
        assert_true(rows_in(all, NULL) > 200 && rows_in(some, NULL) <= 16);
    }
    for (uint64_t seed = 40; seed < 50; seed++) {
        request r;
        draw_request(&(dice){seed}, all, NEVER_AGAIN, &r);
        expect(oltr_predict(all, r.asked, mean[0], NULL), OLTR_OK);
        expect(oltr_predict(some, r.asked, mean[1], NULL), OLTR_OK);
        for (uint32_t j = 0; j < r.query.n_items; j++)
            worst = fmax(worst, fabs(mean[0][j] - mean[1][j]));
    }
    if (worst > 0.05)
        fail_msg("the chance of a click differs by %g, expected at most 0.05", worst);
    oltr_policy_free(copy_of(some));
    oltr_policy_free(all);
    oltr_policy_free(some);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_SOME_VARIANTS(&all, &variants, the_stride_is_only_layout, has_features);
    ON_SOME_VARIANTS(&all, &variants, huge_features, has_features);
    ON_SOME_VARIANTS(&all, &variants, long_features_do_no_harm, has_features);
    ON_SOME_VARIANTS(&all, &variants, rank_and_learn_refuse_the_same, has_features);
    ON_SOME_VARIANTS(&all, &variants, settings_need_a_dimension, has_features);
    ON_SOME_VARIANTS(&all, &variants, long_rows_are_scaled, scales);
    ON_SOME_VARIANTS(&all, &variants, short_rows_are_left_alone, scales);
    ON_SOME_VARIANTS(&all, &variants, long_rows_are_refused, refuses);
    ON_SOME_VARIANTS(&all, &variants, long_rows_are_accepted, accepts);
    ON_SOME_VARIANTS(&all, &variants, repeated_rows_cost_no_room, logistic_with_default_rows);
    ON_SOME_VARIANTS(&all, &variants, rows_that_never_repeat_are_absorbed,
                     logistic_with_default_rows);
    return cmocka_run_group_tests_name("rows of features", all.test, NULL, NULL);
}
