/* contextual.c - what every policy with context promises, whoever it is: one suite over the whole
 * catalogue in all its settings.
 *
 * conform/policies.c asks the same of policies without context, whose items stay what they are.
 * Here the candidates, their number, their order and their features change with every request, and
 * a row of features is one more thing that can be wrong: missing, too short, not a number, too
 * long. Each check runs on each variant of context_fixtures.h as a test of its own.
 */
#include "conform/context_fixtures.h"

static variant_list variants;

static void expect(oltr_status got, oltr_status wanted)
{
    if (got != wanted)
        fail_msg("got %s, wanted %s", oltr_status_name(got), oltr_status_name(wanted));
}

/* ---- lists */

static int is_candidate(const request *r, uint32_t item)
{
    uint32_t j = 0;
    while (j < r->query.n_items && (r->query.item ? r->query.item[j] : j) != item)
        j++;
    return j < r->query.n_items;
}

static void assert_valid_list(const request *r, uint32_t k, const uint32_t *item,
                              const double *score)
{
    unsigned char shown[ITEMS] = {0};
    for (uint32_t s = 0; s < k; s++) {
        assert_true(is_candidate(r, item[s]));
        assert_false(shown[item[s]]);
        shown[item[s]] = 1;
        if (!isfinite(score[s]) || (s && score[s] > score[s - 1]))
            fail_msg("slot %u of %u has score %g", s, k, score[s]);
    }
}

static void rank_and_check(const oltr_policy *p, const request *r, uint64_t round, uint32_t k)
{
    uint32_t item[ITEMS], again[ITEMS];
    double score[ITEMS];
    expect(rank_with(p, &r->query, round, k, item, score), OLTR_OK);
    assert_valid_list(r, k, item, score);
    expect(rank_with(p, &r->query, round, k, again, NULL),
           OLTR_OK); /* same generator, same list; scores are optional */
    assert_memory_equal(item, again, k * sizeof *item);
}

static void lists_are_lists(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    dice d = {1};
    for (uint64_t round = 0; round < 80; round++) {
        request r;
        draw_request(&d, v->info->rewards, round % 2 ? FROM_POOL : NEVER_AGAIN, &r);
        rank_and_check(p, &r, round, r.k);
        rank_and_check(p, &r, round, r.query.n_items);
        expect(rank_with(p, &r.query, round, r.query.n_items + 1, r.shown, NULL), OLTR_ESLOTS);
        expect(rank_with(p, &r.query, round, 0, r.shown, NULL), OLTR_ESLOTS);
        expect(learn_request(p, &r), OLTR_OK);
    }
    oltr_policy_free(p);
}

/* Rows stand where the stride says; a stride of 0 means that nothing lies between them. */
static void the_stride_is_only_layout(void **state)
{
    const variant *v = *state;
    oltr_policy *wide = new_policy(v), *tight = new_policy(v);
    dice d = {2};
    for (uint64_t round = 0; round < 40; round++) {
        request r;
        float x[ITEMS * DIM];
        uint32_t one[ITEMS], other[ITEMS];
        double score[2][ITEMS];
        draw_request(&d, v->info->rewards, FROM_POOL, &r);
        for (uint32_t j = 0; j < r.query.n_items; j++)
            memcpy(x + j * DIM, r.x + j * STRIDE, DIM * sizeof *x);
        oltr_query packed = r.query;
        packed.stride = round % 2 ? 0 : DIM;
        packed.x = x;
        expect(rank_with(wide, &r.query, round, r.query.n_items, one, score[0]), OLTR_OK);
        expect(rank_with(tight, &packed, round, r.query.n_items, other, score[1]), OLTR_OK);
        assert_memory_equal(one, other, r.query.n_items * sizeof *one);
        assert_memory_equal(score[0], score[1], r.query.n_items * sizeof **score);
        expect(learn_request(wide, &r), OLTR_OK);
        r.query = packed;
        expect(learn_request(tight, &r), OLTR_OK);
    }
    assert_true(same_images(image_of(wide), image_of(tight)));
    oltr_policy_free(wide);
    oltr_policy_free(tight);
}

static void reading_leaves_no_trace(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    dice d = {3};
    double mean[ITEMS], sd[ITEMS];
    learn_many(p, 3, 40, FROM_POOL);
    image before = image_of(p);
    for (uint64_t round = 0; round < 20; round++) {
        request r;
        draw_request(&d, v->info->rewards, NEVER_AGAIN, &r);
        expect(rank_with(p, &r.query, round, r.k, r.shown, NULL), OLTR_OK);
        expect(oltr_predict(p, &r.query, mean, sd),
               v->info->can_predict ? OLTR_OK : OLTR_EUNSUPPORTED);
        for (uint32_t j = 0; v->info->can_predict && j < r.query.n_items; j++)
            assert_true(isfinite(mean[j]) && isfinite(sd[j]) && sd[j] >= 0);
    }
    assert_sound(p);
    assert_true(same_images(before, image_of(p)));
    assert_int_equal(oltr_policy_rounds(p), 40);
    oltr_policy_free(p);
}

static void the_state_stays_sound(void **state)
{
    const variant *v = *state;
    const uint32_t rounds = v->at_bound ? 1000 : 2500;
    oltr_policy *p = new_policy(v);
    dice d = {4};
    for (uint64_t round = 0; round < rounds; round++) {
        request r;
        draw_request(&d, v->info->rewards, round % 50 ? FROM_POOL : NEVER_AGAIN, &r);
        if (round % 5 == 0)
            expect(rank_with(p, &r.query, round, r.k, r.shown, NULL), OLTR_OK);
        draw_feedback(&d, v->info->rewards, &r);
        expect(learn_request(p, &r), OLTR_OK);
        if (round % 250 == 0)
            assert_sound(p);
    }
    assert_sound(p);
    assert_int_equal(oltr_policy_rounds(p), rounds);
    oltr_policy *copy = copy_of(p);
    assert_sound(copy);
    oltr_policy_free(copy);
    oltr_policy_free(p);
}

/* ---- bad requests */

/* Neither ranked nor learned from, and the policy is as it was. */
static void refuse_round(oltr_policy *p, const oltr_query *query, oltr_status wanted)
{
    uint32_t item[1] = {0};
    double reward[1] = {0};
    oltr_ranking shown = {1, item, NULL};
    oltr_feedback seen = {1, reward};
    image before = image_of(p);
    expect(rank_with(p, query, 1, 1, item, NULL), wanted);
    item[0] = 0;
    expect(oltr_learn(p, query, &shown, &seen), wanted);
    assert_true(same_images(before, image_of(p)));
}

static void refuse_prediction(const oltr_policy *p, const oltr_query *query, oltr_status wanted)
{
    double mean[2 * ITEMS], sd[2 * ITEMS];
    if (!oltr_policy_settings(p)->info->can_predict)
        wanted = OLTR_EUNSUPPORTED;
    expect(oltr_predict(p, query, mean, sd), wanted);
    expect(oltr_predict(p, query, mean, NULL), wanted);
}

static void refuse_query(oltr_policy *p, const oltr_query *query, oltr_status wanted)
{
    refuse_round(p, query, wanted);
    refuse_prediction(p, query, wanted);
}

static void bad_requests_leave_no_trace(void **state)
{
    oltr_policy *p = new_policy(*state);
    float x[(ITEMS + 1) * DIM] = {0.25F};
    uint32_t twice[3] = {0, 2, 0}, beyond[3] = {0, 2, ITEMS};
    learn_many(p, 5, 30, FROM_POOL);
    refuse_query(p, NULL, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM, DIM, NULL}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, 0, 0, NULL}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM - 1, DIM, x}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM + 1, DIM + 1, x}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM, DIM - 1, x}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){ITEMS + 1, NULL, DIM, DIM, x}, OLTR_EITEM);
    refuse_round(p, &(oltr_query){3, twice, DIM, DIM, x}, OLTR_EITEM);
    refuse_query(p, &(oltr_query){3, beyond, DIM, DIM, x}, OLTR_EITEM);
    assert_sound(p);
    oltr_policy_free(p);
}

/* Wherever it stands.  `refuse` meets a query of which item 0 has the bad row. */
static void with_bad_rows(oltr_policy *p, void (*refuse)(oltr_policy *, const oltr_query *))
{
    const float bad[] = {(float)NAN, -(float)NAN, (float)INFINITY, -(float)INFINITY};
    learn_many(p, 6, 30, FROM_POOL);
    for (size_t i = 0; i < COUNT(bad); i++)
        for (uint32_t at = 0; at < 9 * DIM; at += 1 + at / DIM) {
            float x[9 * DIM] = {0.25F, 0.5F};
            uint32_t item[9];
            x[at] = bad[i];
            for (uint32_t j = 0; j < 9; j++)
                item[j] = j == 0 ? at / DIM : j == at / DIM ? 0 : j;
            refuse(p, &(oltr_query){9, item, DIM, 0, x});
        }
    assert_sound(p);
}

static void refuse_bad_round(oltr_policy *p, const oltr_query *query)
{
    refuse_round(p, query, OLTR_EFEATURE);
}

static void refuse_bad_prediction(oltr_policy *p, const oltr_query *query)
{
    refuse_prediction(p, query, OLTR_EFEATURE);
}

static void features_that_are_no_numbers(void **state)
{
    oltr_policy *p = new_policy(*state);
    with_bad_rows(p, refuse_bad_round);
    oltr_policy_free(p);
}

static void no_prediction_without_numbers(void **state)
{
    oltr_policy *p = new_policy(*state);
    with_bad_rows(p, refuse_bad_prediction);
    oltr_policy_free(p);
}

/* A float that no sum of squares survives is refused, or shortened where the settings say so. */
static void huge_features(void **state)
{
    const variant *v = *state;
    static const float huge[] = {1e20F, -1e20F, 3e38F};
    oltr_policy *p = new_policy(v);
    learn_many(p, 7, 30, FROM_POOL);
    for (size_t i = 0; i < COUNT(huge); i++) {
        float x[2 * DIM] = {0.25F, 0.5F, huge[i]};
        uint32_t item[2] = {0, 1};
        double reward[2] = {1, 0};
        oltr_query query = {2, NULL, DIM, 0, x};
        image before = image_of(p);
        oltr_status status =
            oltr_learn(p, &query, &(oltr_ranking){2, item, NULL}, &(oltr_feedback){2, reward});
        image after = image_of(p);
        if (!chosen(v, "norm", "scale"))
            expect(status, OLTR_EFEATURE);
        assert_true(status == OLTR_OK || status == OLTR_EFEATURE);
        assert_int_equal(same_images(before, after), status != OLTR_OK);
        assert_sound(p);
        learn_many(p, i, 5, FROM_POOL);
    }
    oltr_policy *copy = copy_of(p);
    oltr_policy_free(copy);
    oltr_policy_free(p);
}

/* Whatever length is taken, the policy remains one: sound, and with numbers for beliefs and
 * scores. */
static void long_features_do_no_harm(void **state)
{
    const variant *v = *state;
    static const float length[] = {1e2F, 1e4F, 1e6F, 1e10F, 1e15F};
    for (size_t i = 0; i < COUNT(length); i++) {
        oltr_policy *p = new_policy(v);
        dice d = {70 + i};
        double mean[ITEMS] = {0}, sd[ITEMS] = {0};
        for (uint64_t round = 0; round < 40; round++) {
            request r;
            draw_request(&d, v->info->rewards, FROM_POOL, &r);
            r.x[STRIDE * below(&d, r.query.n_items)] = round % 2 ? length[i] : -length[i];
            oltr_status status = learn_request(p, &r);
            assert_true(status == OLTR_OK || status == OLTR_EFEATURE);
            draw_request(&d, v->info->rewards, FROM_POOL, &r);
            rank_and_check(p, &r, round, r.query.n_items);
            if (v->info->can_predict)
                expect(oltr_predict(p, &r.query, mean, sd), OLTR_OK);
            for (uint32_t j = 0; j < r.query.n_items; j++)
                if (!isfinite(mean[j]) || !isfinite(sd[j]) || sd[j] < 0)
                    fail_msg("features of %g: mean %g, sd %g", (double)length[i], mean[j], sd[j]);
        }
        oltr_error error = {OLTR_OK, ""};
        if (oltr_check(p, &error) != OLTR_OK)
            fail_msg("features of %g: %s", (double)length[i], error.msg);
        oltr_policy_free(copy_of(p));
        oltr_policy_free(p);
    }
}

/* What is ranked can be learned: a list is refused by both or by none, and the largest feature that
 * is allowed by none. */
static void rank_and_learn_refuse_the_same(void **state)
{
    const variant *v = *state;
    static const float largest[] = {1e6F, -1e6F, 1.0000001e6F, -2e6F, 1e7F, 1e12F, 1e19F};
    oltr_policy *p = new_policy(v);
    oltr_scratch *scratch = oltr_scratch_new(p);
    dice d = {71};
    learn_many(p, 7, 30, FROM_POOL);
    for (int n = 0; n < 200; n++) {
        request r;
        draw_request(&d, v->info->rewards, FROM_POOL, &r);
        uint32_t far = below(&d, COUNT(largest)), k = n % 2 ? r.query.n_items : r.k;
        r.x[STRIDE * below(&d, r.query.n_items) + below(&d, DIM)] = largest[far];
        oltr_ranking out = {k, r.shown, NULL};
        oltr_status ranked = oltr_rank(p, &r.query, rng_of((uint64_t)n), scratch, &out);
        if (ranked == OLTR_EFEATURE && chosen(v, "norm", "refuse"))
            continue; /* any candidate that is too long is refused: the list was not made */
        expect(oltr_learn(p, &r.query, &out, &(oltr_feedback){0, NULL}), ranked);
        if (k == r.query.n_items)
            expect(ranked, far < 2 ? OLTR_OK : OLTR_EFEATURE);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

static void refuse_learning(oltr_policy *p, request *r, oltr_status wanted)
{
    image before = image_of(p);
    expect(learn_request(p, r), wanted);
    assert_true(same_images(before, image_of(p)));
}

static void bad_lists_are_not_learned(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    dice d = {8};
    learn_many(p, 8, 30, FROM_POOL);
    for (int n = 0; n < 30; n++) {
        request r;
        do
            draw_request(&d, v->info->rewards, FROM_POOL, &r);
        while (r.query.n_items == ITEMS || r.k < 2);
        uint32_t *last = &r.shown[r.k - 1], kept = *last;
        for (*last = 0; is_candidate(&r, *last); ++*last)
            ;
        refuse_learning(p, &r, OLTR_EITEM);
        *last = r.shown[0];
        refuse_learning(p, &r, OLTR_EITEM);
        *last = ITEMS;
        refuse_learning(p, &r, OLTR_EITEM);
        *last = kept;
        r.n_examined = r.k + 1;
        refuse_learning(p, &r, OLTR_EEXAMINED);
    }
    oltr_policy_free(p);
}

static void rewards_fit_the_policy(void **state)
{
    const variant *v = *state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0.5, 2, -1, 1e-300};
    oltr_policy *p = new_policy(v);
    dice d = {9};
    request r;
    learn_many(p, 9, 30, FROM_POOL);
    do
        draw_request(&d, v->info->rewards, FROM_POOL, &r);
    while (r.n_examined < 2);
    for (size_t i = 0; i < COUNT(bad); i++) {
        double kept = r.reward[1];
        r.reward[1] = bad[i];
        if (v->info->rewards == OLTR_CLICKS || i < 3)
            refuse_learning(p, &r, OLTR_EREWARD);
        else
            expect(learn_request(p, &r), OLTR_OK);
        r.reward[1] = kept;
    }
    assert_sound(p);
    oltr_policy_free(p);
}

static void settings_need_a_dimension(void **state)
{
    const variant *v = *state;
    oltr_settings s = settings_of(v, ITEMS, 0);
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_policy_new(&s, &error));
    expect(error.code, OLTR_EFEATURE);
    assert_non_null(strstr(error.msg, "dim"));
    assert_int_equal(oltr_policy_bytes(&s, &error), 0);
    s.dim = UINT32_MAX; /* no such memory: refused, not wrapped around */
    assert_null(oltr_policy_new(&s, &error));
    assert_int_not_equal(error.code, OLTR_OK);
}

/* ---- saving, merging, fading */

static int is_logts(const variant *v)
{
    return is_kind(v, "logts");
}

/* Whether what is summed depends on what was estimated when. */
static int sums_depend_on_estimates(const variant *v)
{
    return is_kind(v, "logts-newton") || is_kind(v, "cascade-woful") ||
           (is_logts(v) && chosen(v, "weights", "stale")) ||
           (is_logts(v) && param_of(v, "rows") > 0);
}

static int moderate(const variant *v)
{
    return !v->at_bound;
}

static void assert_near_sums(const oltr_policy *p, const oltr_policy *q, double tolerance)
{
    image x = image_of(p), y = image_of(q);
    anatomy a = dissect(&x), b = dissect(&y);
    assert_int_equal(x.size, y.size);
    for (uint32_t i = 0; i < a.sums; i++)
        for (size_t j = 0; j < a.sum[i].n; j++) {
            double one = number_at(x.byte + a.sum[i].value + 8 * j),
                   other = number_at(y.byte + b.sum[i].value + 8 * j);
            if (!near(one, other, tolerance))
                fail_msg("%s[%zu]: %.17g and %.17g", a.sum[i].text, j, one, other);
        }
    free(x.byte);
    free(y.byte);
}

/* How far means and standard deviations of two policies that know the same may be apart.  logts
 * promises its root to 1e-8, and with fresh weights a covariance within `drift` of the exact
 * one. */
typedef struct slack {
    double mean, sd;
} slack;

static slack slack_of(const variant *v, double exact)
{
    slack s = {exact, exact};
    if (is_logts(v)) {
        s.mean = 5e-8;
        s.sd = chosen(v, "weights", "fresh") ? param_of(v, "drift") + 1e-6 : 1e-6;
    }
    return s;
}

static void assert_same_belief(const oltr_policy *p, const oltr_policy *q, slack allowed)
{
    dice d = {10};
    double mean[2][ITEMS], sd[2][ITEMS];
    for (int n = 0; n < 5 && oltr_policy_settings(p)->info->can_predict; n++) {
        request r;
        draw_request(&d, OLTR_CLICKS, NEVER_AGAIN, &r);
        expect(oltr_predict(p, &r.query, mean[0], sd[0]), OLTR_OK);
        expect(oltr_predict(q, &r.query, mean[1], sd[1]), OLTR_OK);
        for (uint32_t j = 0; j < r.query.n_items; j++)
            if (!near(mean[0][j], mean[1][j], allowed.mean) ||
                fabs(sd[0][j] - sd[1][j]) > allowed.sd * sd[1][j] + 1e-15)
                fail_msg("mean %.17g and %.17g, sd %.17g and %.17g", mean[0][j], mean[1][j],
                         sd[0][j], sd[1][j]);
    }
}

/* The scores of the same generator, item by item: what belief there is, sampled. */
static void assert_same_scores(const oltr_policy *p, const oltr_policy *q, double tolerance)
{
    dice d = {11};
    for (uint64_t n = 0; n < 5; n++) {
        request r;
        uint32_t item[2][ITEMS];
        double score[ITEMS], by_item[2][ITEMS] = {{0}};
        draw_request(&d, OLTR_CLICKS, NEVER_AGAIN, &r);
        for (int side = 0; side < 2; side++) {
            expect(rank_with(side ? q : p, &r.query, n, r.query.n_items, item[side], score),
                   OLTR_OK);
            for (uint32_t s = 0; s < r.query.n_items; s++)
                by_item[side][item[side][s]] = score[s];
        }
        for (uint32_t i = 0; i < ITEMS; i++)
            if (!near(by_item[0][i], by_item[1][i], tolerance))
                fail_msg("item %u scores %.17g and %.17g", i, by_item[0][i], by_item[1][i]);
    }
}

static void a_copy_goes_on_alike(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    for (uint64_t part = 1; part < 6; part++) {
        learn_many(p, part, 40, part % 2 ? FROM_POOL : NEVER_AGAIN);
        oltr_policy *copy = copy_of(p);
        assert_true(same_images(image_of(p), image_of(copy)));
        assert_int_equal(oltr_policy_settings(copy)->dim, DIM);
        assert_sound(copy);
        assert_same_belief(copy, p, slack_of(v, 1e-9));
        learn_many(p, 100 + part, 40, FROM_POOL);
        learn_many(copy, 100 + part, 40, FROM_POOL);
        assert_sound(copy);
        assert_same_belief(copy, p, slack_of(v, 1e-9));
        if (!is_logts(v))
            assert_same_scores(copy, p, 1e-6);
        if (sums_depend_on_estimates(v))
            assert_near_sums(copy, p, is_logts(v) ? 1e-7 : 1e-9);
        else
            assert_true(same_images(image_of(p), image_of(copy)));
        oltr_policy_free(copy);
    }
    oltr_policy_free(p);
}

static void merging_is_learning_both(void **state)
{
    const variant *v = *state;
    oltr_policy *one = new_policy(v), *other = new_policy(v), *both = new_policy(v);
    learn_many(one, 1, 120, FROM_POOL);
    learn_many(other, 2, 180, FROM_POOL);
    learn_many(both, 1, 120, FROM_POOL);
    learn_many(both, 2, 180, FROM_POOL);
    image kept = image_of(other), before = image_of(one);
    expect(oltr_merge(one, other), v->info->can_merge ? OLTR_OK : OLTR_EUNSUPPORTED);
    assert_true(same_images(kept, image_of(other)));
    assert_int_equal(same_images(before, image_of(one)), !v->info->can_merge);
    if (v->info->can_merge) {
        slack allowed = slack_of(v, 1e-8);
        if (chosen(v, "weights", "stale"))
            allowed.sd = 1; /* whose estimates are stale is another matter */
        assert_int_equal(oltr_policy_rounds(one), 300);
        assert_sound(one);
        assert_same_belief(one, both, allowed);
        learn_many(one, 3, 30, FROM_POOL);
        learn_many(both, 3, 30, FROM_POOL);
        assert_same_belief(one, both, allowed);
        assert_sound(one);
        oltr_policy_free(copy_of(one));
    }
    oltr_policy_free(one);
    oltr_policy_free(other);
    oltr_policy_free(both);
}

static void refuse_merge_of(oltr_policy *into, const oltr_settings *s)
{
    oltr_policy *from = oltr_policy_new(s, NULL);
    int can = oltr_policy_settings(into)->info->can_merge;
    assert_non_null(from);
    image before = image_of(into);
    oltr_status status = oltr_merge(into, from);
    assert_true(status == OLTR_EMISMATCH || (!can && status == OLTR_EUNSUPPORTED));
    assert_true(same_images(before, image_of(into)));
    oltr_policy_free(from);
}

static void strangers_do_not_merge(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    learn_many(p, 1, 20, FROM_POOL);
    oltr_settings wider = settings_of(v, ITEMS, DIM + 1), more = settings_of(v, ITEMS + 1, DIM);
    refuse_merge_of(p, &wider);
    refuse_merge_of(p, &more);
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        oltr_settings s = settings_of(v, ITEMS, DIM);
        s.value[i] = s.value[i] > s.info->params[i].min ? s.info->params[i].min : s.value[i] + 1;
        if (s.value[i] > s.info->params[i].max)
            s.value[i] = s.info->params[i].max;
        refuse_merge_of(p, &s);
    }
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        if (oltr_policy_info_at(i)->contextual && oltr_policy_info_at(i) != v->info) {
            variant w = plain_variant(oltr_policy_info_at(i));
            oltr_settings s = settings_of(&w, ITEMS, DIM);
            refuse_merge_of(p, &s);
        }
    oltr_policy_free(p);
}

static void forgetting(void **state)
{
    const variant *v = *state;
    static const double keeps[] = {1, 0.5, 0.25, 0};
    for (size_t i = 0; i < COUNT(keeps); i++) {
        oltr_policy *p = new_policy(v), *fresh = new_policy(v);
        learn_many(p, 1, 100, FROM_POOL);
        image before = image_of(p);
        expect(oltr_forget(p, keeps[i]), v->info->can_forget ? OLTR_OK : OLTR_EUNSUPPORTED);
        int same = same_images(before, image_of(p));
        assert_true(same || (v->info->can_forget && keeps[i] < 1));
        assert_int_equal(oltr_policy_rounds(p), 100);
        assert_sound(p);
        if (v->info->can_forget && i == 3 &&
            !v->at_bound) { /* the belief of a newcomer, at this hour */
            slack mean_only = {1e-12, 1e300};
            assert_same_belief(fresh, p, mean_only);
        }
        learn_many(p, 2, 60, FROM_POOL);
        assert_sound(p);
        oltr_policy_free(copy_of(p));
        oltr_policy_free(fresh);
        oltr_policy_free(p);
    }
}

/* Linear sums are scaled one by one: half of everything learned twice is everything learned
 * once. */
static void forgetting_half_of_twice(void **state)
{
    const variant *v = *state;
    oltr_policy *twice = new_policy(v), *once = new_policy(v);
    learn_many(twice, 1, 100, FROM_POOL);
    oltr_policy *copy = copy_of(twice);
    expect(oltr_merge(twice, copy), OLTR_OK);
    expect(oltr_forget(twice, 0.5), OLTR_OK);
    learn_many(once, 1, 100, FROM_POOL);
    slack allowed = slack_of(v, 1e-9);
    allowed.sd = 1e300; /* the clock stands elsewhere, and the width follows the clock */
    assert_same_belief(twice, once, allowed);
    oltr_policy_free(copy);
    oltr_policy_free(twice);
    oltr_policy_free(once);
}

static int merges_and_forgets(const variant *v)
{
    return !v->at_bound && v->info->can_merge && v->info->can_forget && v->info->can_predict;
}

static void bad_forgetting_is_refused(void **state)
{
    const variant *v = *state;
    const double bad[] = {-0.1, 1.0000001, (double)NAN, (double)INFINITY};
    oltr_policy *p = new_policy(v);
    learn_many(p, 1, 20, FROM_POOL);
    image before = image_of(p);
    for (size_t i = 0; i < COUNT(bad); i++) {
        oltr_status status = oltr_forget(p, bad[i]);
        assert_true(status == OLTR_EINVAL || (!v->info->can_forget && status == OLTR_EUNSUPPORTED));
    }
    assert_true(same_images(before, image_of(p)));
    oltr_policy_free(p);
}

/* ---- rows longer than 1 */

/* Every row at length 1, or at `length`. */
static void stretch(request *r, double length)
{
    for (uint32_t j = 0; j < r->query.n_items; j++) {
        double square = 0;
        for (uint32_t i = 0; i < DIM; i++)
            square += (double)r->x[j * STRIDE + i] * (double)r->x[j * STRIDE + i];
        for (uint32_t i = 0; i < DIM; i++)
            r->x[j * STRIDE + i] = (float)((double)r->x[j * STRIDE + i] * length / sqrt(square));
    }
}

static int has_norm(const variant *v)
{
    return !v->at_bound && param_index(v->info, "norm") < v->info->n_params;
}

static int accepts(const variant *v)
{
    return has_norm(v) && chosen(v, "norm", "accept");
}

static int scales(const variant *v)
{
    return has_norm(v) && chosen(v, "norm", "scale");
}

static int refuses(const variant *v)
{
    return has_norm(v) && chosen(v, "norm", "refuse");
}

/* The two policies meet the same rows, at length 1 and at length 5. */
static void teach_both(oltr_policy *p, oltr_policy *q, uint32_t rounds, double length)
{
    dice d = {12};
    for (uint32_t t = 0; t < rounds; t++) {
        request r;
        draw_request(&d, oltr_policy_settings(p)->info->rewards, FROM_POOL, &r);
        stretch(&r, 1);
        expect(learn_request(p, &r), OLTR_OK);
        stretch(&r, length);
        expect(learn_request(q, &r), OLTR_OK);
    }
}

/* The scores that two policies give the candidates of two requests. */
static void assert_scores(const oltr_policy *p, const request *one, const oltr_policy *q,
                          const request *other, double tolerance)
{
    for (uint64_t round = 0; round < 4; round++) {
        uint32_t item[ITEMS];
        double score[ITEMS], by_item[2][ITEMS] = {{0}};
        for (int side = 0; side < 2; side++) {
            expect(rank_with(side ? q : p, side ? &other->query : &one->query, round,
                             one->query.n_items, item, score),
                   OLTR_OK);
            for (uint32_t s = 0; s < one->query.n_items; s++)
                by_item[side][item[s]] = score[s];
        }
        for (uint32_t i = 0; i < ITEMS; i++)
            if (!near(by_item[0][i], by_item[1][i], tolerance))
                fail_msg("item %u scores %.9g and %.9g", i, by_item[0][i], by_item[1][i]);
    }
}

static void long_rows_are_shortened(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v), *q = new_policy(v);
    request one, other;
    double mean[2][ITEMS], sd[2][ITEMS];
    teach_both(p, q, 150, 5);
    assert_sound(q);
    for (uint64_t seed = 20; seed < 30; seed++) {
        draw_request(&(dice){seed}, OLTR_CLICKS, NEVER_AGAIN, &one);
        draw_request(&(dice){seed}, OLTR_CLICKS, NEVER_AGAIN, &other);
        stretch(&one, 1);
        stretch(&other, 5);
        assert_scores(p, &one, p, &other, 1e-5); /* rows of a request */
        if (!is_logts(v) || !chosen(v, "weights", "fresh"))
            assert_scores(p, &one, q, &other, 1e-4); /* ... and rows learned from */
        if (!v->info->can_predict)
            continue;
        expect(oltr_predict(p, &one.query, mean[0], sd[0]), OLTR_OK);
        expect(oltr_predict(q, &other.query, mean[1], sd[1]), OLTR_OK);
        for (uint32_t j = 0; j < one.query.n_items; j++)
            assert_true(near(mean[0][j], mean[1][j], 1e-5) &&
                        fabs(sd[0][j] - sd[1][j]) <= (slack_of(v, 1e-5).sd + 1e-5) * sd[0][j]);
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* Only rows above length 1 are touched: at length 1/2 and less, scaling is accepting. */
static void short_rows_are_left_alone(void **state)
{
    const variant *v = *state;
    variant w = with_choice(*v, "norm", "accept");
    oltr_policy *p = new_policy(v), *q = new_policy(&w);
    request r;
    learn_many(p, 1, 60, FROM_POOL);
    learn_many(q, 1, 60, FROM_POOL);
    assert_near_sums(p, q, 0);
    draw_request(&(dice){31}, OLTR_CLICKS, NEVER_AGAIN, &r);
    assert_scores(p, &r, q, &r, 0);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

static void long_rows_are_refused(void **state)
{
    oltr_policy *p = new_policy(*state);
    float five[2 * DIM] = {5, 0, 0, 0, 0.5F}, barely[2 * DIM] = {0.8F, 0.61F, 0, 0, 0.5F},
                   one[2 * DIM] = {1, 0, 0, 0, 0, 1};
    oltr_query fine = {2, NULL, DIM, 0, one};
    uint32_t item[2];
    learn_many(p, 13, 30, FROM_POOL);
    refuse_query(p, &(oltr_query){2, NULL, DIM, 0, five}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){2, NULL, DIM, 0, barely}, OLTR_EFEATURE);
    expect(rank_with(p, &fine, 1, 2, item, NULL), OLTR_OK); /* exactly 1 is not longer than 1 */
    oltr_policy_free(p);
}

/* Taken as they are: a row of length 5 counts 25 times as much in a sum of squares. */
static void long_rows_are_accepted(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v), *q = new_policy(v);
    teach_both(p, q, 60, 5);
    assert_sound(q);
    image x = image_of(p), y = image_of(q);
    anatomy a = dissect(&x), b = dissect(&y);
    const sum_field *f = sum_named(&a, "gram"), *g = sum_named(&b, "gram");
    for (size_t j = 0; f && !sums_depend_on_estimates(v) && j < f->n; j++)
        assert_true(near(25 * number_at(x.byte + f->value + 8 * j),
                         number_at(y.byte + g->value + 8 * j), 1e-5));
    free(x.byte);
    free(y.byte);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- snapshots: nothing in them is believed */

static image make_image(const variant *v)
{
    oltr_policy *p = new_policy(v);
    learn_many(p, 1, 25, FROM_POOL);
    image m = image_of(p);
    oltr_policy_free(p);
    return m;
}

/* Loads from a block of exactly that size, so that a sanitizer sees a read beyond the end.  What is
 * taken must be a policy. */
static oltr_status load_status(const unsigned char *byte, size_t size, char words[256])
{
    oltr_error error = {OLTR_OK, ""};
    unsigned char *exact = malloc(size ? size : 1);
    memcpy(exact, byte, size);
    oltr_policy *p = oltr_load(exact, size, &error);
    free(exact);
    assert_true(p || (error.code != OLTR_OK && strlen(error.msg) > 10));
    memcpy(words, error.msg, sizeof error.msg);
    oltr_policy_free(p);
    return p ? OLTR_OK : error.code;
}

static void cut_short(void **state)
{
    image m = make_image(*state);
    char words[256];
    for (size_t size = 0; size < m.size; size++) {
        oltr_status status = load_status(m.byte, size, words);
        assert_true(status == OLTR_ETRUNCATED || (size < 8 && status == OLTR_EMAGIC));
    }
    assert_int_equal(load_status(m.byte, m.size, words), OLTR_OK);
    free(m.byte);
}

static void one_bit_wrong(void **state)
{
    image m = make_image(*state);
    char words[256];
    for (size_t bit = 0; bit < 8 * m.size; bit++) {
        m.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
        oltr_status status = load_status(m.byte, m.size, words);
        int in_head = bit / 8 < AT_KIND;
        if (in_head ? status == OLTR_OK : status != OLTR_ECHECKSUM)
            fail_msg("bit %zu of byte %zu: %s", bit % 8, bit / 8, oltr_status_name(status));
        m.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(m.byte);
}

static void expect_forged(const image *m, oltr_status wanted, oltr_status or_else, const char *what)
{
    image forged = copy_image(m);
    char words[256];
    seal(&forged);
    oltr_status got = load_status(forged.byte, forged.size, words);
    if (got != wanted && got != or_else)
        fail_msg("%s: got %s (%s), wanted %s", what, oltr_status_name(got), words,
                 oltr_status_name(wanted));
    free(forged.byte);
}

static void expect_number(const image *m, size_t at, double value, const char *what)
{
    image forged = copy_image(m);
    set_number(forged.byte + at, value);
    expect_forged(&forged, OLTR_ESTATE, OLTR_ECORRUPT, what);
    free(forged.byte);
}

static void expect_field(const image *m, size_t at, int bytes, uint64_t value, const char *what)
{
    image forged = copy_image(m);
    set_little(forged.byte + at, bytes, value);
    char words[256];
    seal(&forged);
    oltr_status got = load_status(forged.byte, forged.size, words);
    if (got == OLTR_OK || got == OLTR_ECHECKSUM || got == OLTR_EMAGIC)
        fail_msg("%s = %llu: %s", what, (unsigned long long)value, oltr_status_name(got));
    free(forged.byte);
}

static void sums_that_are_no_numbers(void **state)
{
    const double bad[] = {(double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY};
    image m = make_image(*state);
    anatomy a = dissect(&m);
    for (uint32_t s = 0; s < a.sums; s++)
        for (size_t j = 0; j < a.sum[s].n; j++)
            for (size_t i = 0; i < COUNT(bad); i++)
                expect_number(&m, a.sum[s].value + 8 * j, bad[i], a.sum[s].text);
    free(m.byte);
}

static void lies_about_counts(void **state)
{
    static const uint64_t lies[] = {0,         1, 3, 1u << 20, (uint64_t)1 << 32, (uint64_t)1 << 61,
                                    UINT64_MAX};
    image m = make_image(*state);
    anatomy a = dissect(&m);
    expect_field(&m, a.items, 4, 0, "items");
    expect_field(&m, a.dim, 4, 0, "dim");
    expect_field(&m, a.dim, 4, DIM - 1, "dim");
    expect_field(&m, a.dim, 4, DIM + 1, "dim");
    expect_field(&m, a.dim, 4, UINT32_MAX, "dim");
    expect_field(&m, a.rounds, 8, UINT64_MAX, "rounds");
    for (uint32_t s = 0; s < a.sums; s++) {
        for (size_t i = 0; i < COUNT(lies); i++)
            if (lies[i] != a.sum[s].n)
                expect_field(&m, a.sum[s].count, 8, lies[i], a.sum[s].text);
        expect_field(&m, a.sum[s].count, 8, a.sum[s].n + 1, a.sum[s].text);
        expect_field(&m, a.sum[s].count, 8, a.sum[s].n - 1, a.sum[s].text);
    }
    free(m.byte);
}

/* Packed by columns, the diagonal stands at 0, d, d + (d-1), ... */
static void squares_below_zero(void **state)
{
    static const char *const squares[] = {"gram", "weighted-gram", "precision"};
    image m = make_image(*state);
    anatomy a = dissect(&m);
    for (size_t q = 0; q < COUNT(squares); q++) {
        const sum_field *f = sum_named(&a, squares[q]);
        for (size_t c = 0, at = 0; f && f->n && c < DIM; at += DIM - c, c++) {
            expect_number(&m, f->value + 8 * at, -1, squares[q]);
            expect_number(&m, f->value + 8 * at, -1e300, squares[q]);
        }
    }
    free(m.byte);
}

/* Off the diagonal, a sum of squares cannot exceed what stands on it. */
static void squares_that_are_none(void **state)
{
    static const char *const squares[] = {"gram", "weighted-gram", "precision"};
    image m = make_image(*state);
    anatomy a = dissect(&m);
    for (size_t q = 0; q < COUNT(squares); q++) {
        const sum_field *f = sum_named(&a, squares[q]);
        if (f && f->n) {
            expect_number(&m, f->value + 8, 1e6, squares[q]);
            expect_number(&m, f->value + 8, -1e6, squares[q]);
        }
    }
    free(m.byte);
}

/* A ridge that is large beside the sums makes them possible again. */
static void expect_refused_or_sound(const image *m, const char *what)
{
    image forged = copy_image(m);
    oltr_error error = {OLTR_OK, ""};
    seal(&forged);
    oltr_policy *p = oltr_load(forged.byte, forged.size, &error);
    if (p ? oltr_check(p, &error) != OLTR_OK
          : error.code != OLTR_ESTATE && error.code != OLTR_ECORRUPT)
        fail_msg("%s: %s (%s)", what, oltr_status_name(error.code), error.msg);
    oltr_policy_free(p);
    free(forged.byte);
}

/* Each pair of features could be correlated at -0.9, but not all four of them at once: no sum of
 * squares looks so. */
static void correlations_that_cannot_be(void **state)
{
    static const char *const squares[] = {"gram", "weighted-gram"};
    for (size_t q = 0; q < COUNT(squares); q++) {
        image m = make_image(*state);
        anatomy a = dissect(&m);
        const sum_field *f = sum_named(&a, squares[q]);
        size_t diagonal[DIM];
        for (size_t c = 0, at = 0; c < DIM; at += DIM - c, c++)
            diagonal[c] = at;
        for (size_t c = 0; f && f->n && c < DIM; c++)
            for (size_t r = c + 1; r < DIM; r++) {
                double product = number_at(m.byte + f->value + 8 * diagonal[c]) *
                                 number_at(m.byte + f->value + 8 * diagonal[r]);
                set_number(m.byte + f->value + 8 * (diagonal[c] + r - c), -0.9 * sqrt(product));
            }
        if (f && f->n)
            expect_refused_or_sound(&m, squares[q]);
        free(m.byte);
    }
}

static void impossible_rows(void **state)
{
    image m = make_image(*state);
    anatomy a = dissect(&m);
    const sum_field *count = sum_named(&a, "count"), *examined = sum_named(&a, "examined"),
                    *clicked = sum_named(&a, "clicked");
    assert_true(count && examined && clicked && sum_named(&a, "row"));
    double n = number_at(m.byte + count->value);
    const double lies[] = {n + 1, n - 1, -1, n + 0.5, 1e300, 4294967296.0};
    for (size_t i = 0; i < COUNT(lies); i++)
        expect_number(&m, count->value, lies[i], "number of rows");
    for (size_t r = 0; r < examined->n; r++) {
        double seen = number_at(m.byte + examined->value + 8 * r);
        expect_number(&m, examined->value + 8 * r, -1, "examined");
        expect_number(&m, clicked->value + 8 * r, -1, "clicked");
        expect_number(&m, clicked->value + 8 * r, seen + 1, "more clicked than examined");
    }
    for (size_t j = 0; j < sum_named(&a, "row")->n; j++)
        expect_number(&m, sum_named(&a, "row")->value + 8 * j, 1e300,
                      "a row too large for its type");
    free(m.byte);
}

/* What is taken in the end is a policy like any other. */
static void assert_usable(oltr_policy *p, dice *d, const char *what)
{
    const oltr_settings *s = oltr_policy_settings(p);
    oltr_error error = {OLTR_OK, ""};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("%s was loaded, then found bad: %s", what, error.msg);
    for (uint64_t round = 0; round < 2; round++) {
        request r;
        uint32_t item[ITEMS];
        double score[ITEMS], mean[ITEMS] = {0}, sd[ITEMS] = {0};
        draw_request(d, s->info->rewards, FROM_POOL, &r);
        expect(rank_with(p, &r.query, round, r.query.n_items, item, score), OLTR_OK);
        assert_valid_list(&r, r.query.n_items, item, score);
        if (s->info->can_predict)
            expect(oltr_predict(p, &r.query, mean, sd), OLTR_OK);
        for (uint32_t j = 0; j < r.query.n_items; j++)
            if (!isfinite(mean[j]) || !isfinite(sd[j]) || sd[j] < 0)
                fail_msg("%s, candidate %u: mean %g, sd %g", what, j, mean[j], sd[j]);
        expect(learn_request(p, &r), OLTR_OK);
    }
    oltr_policy_free(copy_of(p));
}

static void try_forged(image *forged, dice *d, const char *what)
{
    seal(forged);
    oltr_policy *p = oltr_load(forged->byte, forged->size, NULL);
    if (p)
        assert_usable(p, d, what);
    oltr_policy_free(p);
    free(forged->byte);
}

static void random_forgeries(void **state)
{
    image m = make_image(*state);
    anatomy a = dissect(&m);
    dice d = {63};
    for (int n = 0; n < 150; n++) {
        image forged = copy_image(&m);
        char what[64];
        snprintf(what, sizeof what, "forgery %d", n);
        for (uint32_t change = 1 + below(&d, 3); change > 0; change--)
            forged.byte[AT_KIND + below(&d, (uint32_t)(a.checksum - AT_KIND))] ^=
                (unsigned char)(1u << below(&d, 8));
        set_little(forged.byte + a.items, 4, ITEMS);
        set_little(forged.byte + a.dim, 4, DIM);
        try_forged(&forged, &d, what);
    }
    free(m.byte);
}

static void forged_numbers(void **state)
{
    static const double worst[] = {0, 5e-324, 1e-300, 0.5, -1, 1e15, 1e30, -1e30, 1e100, 1e308};
    image m = make_image(*state);
    anatomy a = dissect(&m);
    dice d = {64};
    for (uint32_t s = 0; s < a.sums; s++)
        for (size_t j = 0; j < a.sum[s].n; j += 1 + a.sum[s].n / 12)
            for (size_t i = 0; i < COUNT(worst); i++) {
                image forged = copy_image(&m);
                char what[128];
                snprintf(what, sizeof what, "%s[%zu] = %g", a.sum[s].text, j, worst[i]);
                set_number(forged.byte + a.sum[s].value + 8 * j, worst[i]);
                try_forged(&forged, &d, what);
            }
    free(m.byte);
}

/* ---- memory: none is asked for in rank and learn */

static _Thread_local int allocations; /* calls of this thread since it was last set to zero */

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
int __real_posix_memalign(void **, size_t, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__wrap_aligned_alloc(size_t, size_t);
int __wrap_posix_memalign(void **, size_t, size_t);

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    allocations++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    allocations++;
    return __real_posix_memalign(out, alignment, size);
}

static void rank_and_learn_ask_for_no_memory(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    allocations = 0;
    oltr_scratch *scratch = oltr_scratch_new(p);
    assert_true(allocations > 0); /* the counter counts */
    dice d = {14};
    allocations = 0;
    for (uint64_t round = 0; round < 300; round++) {
        request r;
        draw_request(&d, v->info->rewards, round % 2 ? FROM_POOL : NEVER_AGAIN, &r);
        oltr_ranking shown = {r.k, r.shown, NULL};
        oltr_status ranked = oltr_rank(p, &r.query, rng_of(round), scratch, &shown);
        draw_feedback(&d, v->info->rewards, &r);
        oltr_status learned = learn_request(p, &r);
        if (allocations || ranked != OLTR_OK || learned != OLTR_OK)
            fail_msg("round %u: %d allocations, %s, %s", (uint32_t)round, allocations,
                     oltr_status_name(ranked), oltr_status_name(learned));
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* ---- the history of logts: rows that repeat, and rows that do not */

static double rows_in(const oltr_policy *p, size_t *size)
{
    image m = image_of(p);
    anatomy a = dissect(&m);
    assert_non_null(sum_named(&a, "count"));
    double n = number_at(m.byte + sum_named(&a, "count")->value);
    if (size)
        *size = m.size;
    free(m.byte);
    return n;
}

/* Twelve rows, thousands of rounds: twelve rows. */
static void repeated_rows_cost_no_room(void **state)
{
    enum { L = 12 };
    oltr_policy *p = new_policy(*state);
    dice d = {16};
    size_t early = 0, late = 0;
    for (uint32_t t = 1; t <= 4000; t++) {
        request r = {.k = 3};
        r.query = (oltr_query){L, NULL, DIM, STRIDE, r.x};
        for (uint32_t j = 0; j < L; j++)
            memcpy(r.x + j * STRIDE, pool_row(j), DIM * sizeof(float));
        draw_distinct(&d, L, 3, r.shown);
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

static int default_rows(const variant *v)
{
    return is_logts(v) && !v->at_bound;
}

/* With room for 16 rows and a thousand different ones, the estimate stays near that with room for
 * all. */
static void rows_that_never_repeat_are_absorbed(void **state)
{
    const variant *v = *state;
    variant roomy = with(with(*v, "rows", 8192), "lambda", 1), narrow = with(roomy, "rows", 16);
    oltr_policy *all = new_policy(&roomy), *some = new_policy(&narrow);
    double mean[2][ITEMS], worst = 0;
    for (uint64_t part = 0; part < 5; part++) {
        learn_many(all, part, 200, NEVER_AGAIN);
        learn_many(some, part, 200, NEVER_AGAIN);
        assert_sound(all);
        assert_sound(some);
        assert_true(rows_in(all, NULL) > 200 && rows_in(some, NULL) <= 16);
    }
    for (uint64_t seed = 40; seed < 50; seed++) {
        request r;
        draw_request(&(dice){seed}, OLTR_CLICKS, NEVER_AGAIN, &r);
        expect(oltr_predict(all, &r.query, mean[0], NULL), OLTR_OK);
        expect(oltr_predict(some, &r.query, mean[1], NULL), OLTR_OK);
        for (uint32_t j = 0; j < r.query.n_items; j++)
            worst = fmax(worst, fabs(mean[0][j] - mean[1][j]));
    }
    if (worst > 0.05)
        fail_msg("a click's chance is off by %g", worst);
    oltr_policy_free(copy_of(some));
    oltr_policy_free(all);
    oltr_policy_free(some);
}

/* ---- the suite */

static void add_rounds(suite *s)
{
    ON_VARIANTS(s, &variants, lists_are_lists);
    ON_VARIANTS(s, &variants, the_stride_is_only_layout);
    ON_VARIANTS(s, &variants, reading_leaves_no_trace);
    ON_VARIANTS(s, &variants, the_state_stays_sound);
    ON_VARIANTS(s, &variants, bad_requests_leave_no_trace);
    ON_VARIANTS(s, &variants, features_that_are_no_numbers);
    ON_VARIANTS(s, &variants, no_prediction_without_numbers);
    ON_VARIANTS(s, &variants, huge_features);
    ON_VARIANTS(s, &variants, long_features_do_no_harm);
    ON_VARIANTS(s, &variants, rank_and_learn_refuse_the_same);
    ON_VARIANTS(s, &variants, bad_lists_are_not_learned);
    ON_VARIANTS(s, &variants, rewards_fit_the_policy);
    ON_VARIANTS(s, &variants, settings_need_a_dimension);
    ON_VARIANTS(s, &variants, rank_and_learn_ask_for_no_memory);
}

static void add_state(suite *s)
{
    ON_SOME_VARIANTS(s, &variants, a_copy_goes_on_alike, moderate);
    ON_SOME_VARIANTS(s, &variants, merging_is_learning_both, moderate);
    ON_VARIANTS(s, &variants, strangers_do_not_merge);
    ON_VARIANTS(s, &variants, forgetting);
    ON_SOME_VARIANTS(s, &variants, forgetting_half_of_twice, merges_and_forgets);
    ON_VARIANTS(s, &variants, bad_forgetting_is_refused);
    ON_SOME_VARIANTS(s, &variants, long_rows_are_shortened, scales);
    ON_SOME_VARIANTS(s, &variants, short_rows_are_left_alone, scales);
    ON_SOME_VARIANTS(s, &variants, long_rows_are_refused, refuses);
    ON_SOME_VARIANTS(s, &variants, long_rows_are_accepted, accepts);
    ON_SOME_VARIANTS(s, &variants, repeated_rows_cost_no_room, default_rows);
    ON_SOME_VARIANTS(s, &variants, rows_that_never_repeat_are_absorbed, default_rows);
}

static void add_snapshots(suite *s)
{
    ON_SOME_VARIANTS(s, &variants, cut_short, accepts);
    ON_SOME_VARIANTS(s, &variants, one_bit_wrong, accepts);
    ON_SOME_VARIANTS(s, &variants, sums_that_are_no_numbers, accepts);
    ON_SOME_VARIANTS(s, &variants, lies_about_counts, accepts);
    ON_SOME_VARIANTS(s, &variants, squares_below_zero, accepts);
    ON_SOME_VARIANTS(s, &variants, squares_that_are_none, accepts);
    ON_SOME_VARIANTS(s, &variants, correlations_that_cannot_be, accepts);
    ON_SOME_VARIANTS(s, &variants, impossible_rows, default_rows);
    ON_VARIANTS(s, &variants, random_forgeries);
    ON_SOME_VARIANTS(s, &variants, forged_numbers, accepts);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    add_rounds(&all);
    add_state(&all);
    add_snapshots(&all);
    return cmocka_run_group_tests_name("every policy with context keeps every promise", all.test,
                                       NULL, NULL);
}
