/* state.c - what a policy has learned, as a value: copies, merging, forgetting, predictions.
 *
 * A copy goes on to the same bits.  Merging two policies is learning from both; forgetting scales
 * every sum.  What is refused leaves no trace.  Runs on every variant of fixtures.h.
 */
#include "conform/fixtures.h"

static variant_list variants;

/* How far the weights in the covariance of a logistic posterior may be off. */
static double drift_of(const variant *v)
{
    if (is_kind(v, "logts"))
        return chosen(v, "weights", "fresh") ? param_of(v, "drift") : 0;
    return is_kind(v, "pg-ts") ? 0.1 : 0;
}

static bool moderate(const variant *v)
{
    return !v->info->contextual || !v->at_bound;
}

/* ---- copies */

static void a_copy_goes_on_alike(void **state)
{
    oltr_policy *p = new_policy(*state);
    for (uint64_t part = 0; part < 6; part++) {
        oltr_policy *copy = copy_of(p);
        assert_true(same_state(p, copy));
        assert_int_equal(oltr_policy_rounds(p), oltr_policy_rounds(copy));
        assert_sound(copy);
        assert_same_lists(p, copy);
        learn_rows(p, part, 40, part % 2 ? FROM_POOL : NEVER_AGAIN);
        learn_rows(copy, part, 40, part % 2 ? FROM_POOL : NEVER_AGAIN);
        assert_true(same_state(p, copy));
        assert_same_lists(p, copy);
        oltr_policy_free(copy);
    }
    oltr_policy_free(p);
}

static void a_copy_has_the_same_settings(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v), *copy = copy_of(p);
    const oltr_settings *s = oltr_policy_settings(copy);
    oltr_prior wanted = prior_from(known_prior(), v->form, 0);
    const double *have[] = {s->prior.a, s->prior.b, s->prior.mean, s->prior.sd},
                 *want[] = {wanted.a, wanted.b, wanted.mean, wanted.sd};
    assert_ptr_equal(s->info, v->info);
    assert_int_equal(s->n_items, ITEMS);
    assert_int_equal(s->dim, v->info->contextual ? DIM : 0);
    assert_memory_equal(s->value, oltr_policy_settings(p)->value, sizeof s->value);
    for (size_t i = 0; i < COUNT(have); i++) {
        assert_int_equal(!have[i], !want[i]);
        if (have[i])
            assert_memory_equal(have[i], want[i], ITEMS * sizeof(double));
    }
    oltr_policy_free(copy);
    oltr_policy_free(p);
}

/* ---- merging */

/* How far means and deviations of two policies with the same data may differ: exactly equal sums
 * give equal bits without features.  A logistic posterior finds its root to 1e-8, and the
 * covariance of logts with fresh weights is within `drift` of the exact one, that of pg-ts within
 * 0.1; that of glm-ucb has no weights. */
typedef struct slack {
    double mean, sd;
} slack;

static slack slack_of(const variant *v, double linear)
{
    slack s = {linear, linear};
    if (!v->info->contextual)
        s = (slack){1e-12, 1e-12};
    if (has_logistic_posterior(v->info))
        s = (slack){5e-8, drift_of(v) + 1e-6};
    return s;
}

static void assert_same_belief(const oltr_policy *p, const oltr_policy *q, slack allowed)
{
    dice d = {10};
    double mean[2][ITEMS], sd[2][ITEMS];
    for (int n = 0; n < 5 && oltr_policy_settings(p)->info->can_predict; n++) {
        request r;
        draw_request(&d, p, NEVER_AGAIN, &r);
        expect(oltr_predict(p, r.asked, mean[0], sd[0]), OLTR_OK);
        expect(oltr_predict(q, r.asked, mean[1], sd[1]), OLTR_OK);
        for (uint32_t j = 0; j < r.query.n_items; j++)
            if (!near(mean[0][j], mean[1][j], allowed.mean) ||
                fabs(sd[0][j] - sd[1][j]) > allowed.sd * sd[1][j] + 1e-15)
                fail_msg("mean %.17g and %.17g, sd %.17g and %.17g", mean[0][j], mean[1][j],
                         sd[0][j], sd[1][j]);
    }
}

static void merging_is_learning_both(void **state)
{
    const variant *v = *state;
    oltr_policy *one = new_policy(v), *other = new_policy(v), *both = new_policy(v);
    slack allowed = slack_of(v, 1e-8);
    if (chosen(v, "weights", "stale"))
        allowed.sd = 1; /* the estimates of which the weights are stale differ */
    learn_many(one, 1, 120);
    learn_many(other, 2, 180);
    learn_many(both, 1, 120);
    learn_many(both, 2, 180);
    image kept = image_of(other), before = image_of(one);
    expect(oltr_merge(one, other), v->info->can_merge ? OLTR_OK : OLTR_EUNSUPPORTED);
    assert_unchanged(other, kept);
    assert_int_equal(same_images(before, image_of(one)), !v->info->can_merge);
    for (int more = 0; v->info->can_merge && more < 2; more++) {
        assert_int_equal(oltr_policy_rounds(one), 300 + 30 * more);
        assert_sound(one);
        assert_same_belief(one, both, allowed);
        if (v->info->order_free) {
            assert_true(same_state(one, both));
            assert_same_lists(one, both);
        }
        learn_many(one, 3, 30);
        learn_many(both, 3, 30);
    }
    oltr_policy_free(copy_of(one));
    oltr_policy_free(one);
    oltr_policy_free(other);
    oltr_policy_free(both);
}

/* Refused, with `into` untouched; settings that make no policy are passed over. */
static void refuse_merge_of(oltr_policy *into, const oltr_settings *s)
{
    oltr_policy *from = oltr_policy_new(s, NULL);
    bool can = oltr_policy_settings(into)->info->can_merge;
    if (!from)
        return;
    image before = image_of(into);
    oltr_status status = oltr_merge(into, from);
    assert_true(status == OLTR_EMISMATCH || (!can && status == OLTR_EUNSUPPORTED));
    assert_unchanged(into, before);
    oltr_policy_free(from);
}

static void other_settings_do_not_merge(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    learn_many(p, 1, 20);
    oltr_settings wider = settings_for(v, ITEMS), more = settings_for(v, ITEMS + 1);
    wider.dim++;
    refuse_merge_of(p, &more);
    if (v->info->contextual)
        refuse_merge_of(p, &wider);
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        const oltr_param *q = &v->info->params[i];
        oltr_settings s = settings_for(v, ITEMS);
        s.value[i] = s.value[i] > q->min ? q->min : fmin(s.value[i] + 1, q->max);
        refuse_merge_of(p, &s);
    }
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        variant w = plain_variant(oltr_policy_info_at(i));
        oltr_settings s = settings_for(&w, ITEMS);
        if (w.info != v->info)
            refuse_merge_of(p, &s);
    }
    expect(oltr_merge(p, NULL), OLTR_EINVAL);
    expect(oltr_merge(NULL, p), OLTR_EINVAL);
    oltr_policy_free(p);
}

static void other_priors_do_not_merge(void **state)
{
    prior_arrays moved = *known_prior();
    oltr_policy *p = new_policy(*state);
    learn_many(p, 1, 10);
    moved.b[ITEMS - 1] += 1;
    moved.sd[ITEMS - 1] *= 1.0001;
    for (prior_form form = NO_PRIOR; form <= MOMENTS; form++) {
        variant w = *(const variant *)*state;
        bool same = w.form == form;
        w.form = form;
        oltr_settings s = settings_for(&w, ITEMS);
        if (same) /* the same form, another number at the very end */
            s.prior = prior_from(&moved, form, 0);
        if (!same || form)
            refuse_merge_of(p, &s);
    }
    oltr_policy_free(p);
}

/* Its sums would change while they are read. */
static void a_policy_does_not_merge_with_itself(void **state)
{
    oltr_policy *p = new_policy(*state);
    learn_many(p, 1, 60);
    image before = image_of(p);
    expect(oltr_merge(p, p), OLTR_EINVAL);
    assert_unchanged(p, before);
    oltr_policy_free(p);
}

/* Doubling brings the clock to 2^47 rounds with 37 merges; the policy must still work. */
static void a_long_life(void **state)
{
    const variant *v = *state;
    const int merges = EFFORT > 1 ? 37 : 5;
    oltr_policy *p = policy_of(v, 16);
    learn_many(p, 9, 1024);
    for (int doubling = 0; doubling <= merges; doubling++) {
        oltr_policy *copy = copy_of(p);
        assert_usable(copy, "a long life");
        oltr_policy_free(copy);
        if (!v->info->can_merge || v->info->contextual)
            break;
        copy = copy_of(p);
        expect(oltr_merge(p, copy), OLTR_OK);
        oltr_policy_free(copy);
        assert_int_equal(oltr_policy_rounds(p), (uint64_t)2048 << doubling);
    }
    oltr_policy_free(p);
}

/* ---- forgetting */

/* Every sum is `keep` times what it was. */
static void assert_faded(const image *x, const image *y, double keep)
{
    anatomy a = dissect_image(x), b = dissect_image(y);
    assert_int_equal(a.sums, b.sums);
    for (uint32_t i = 0; i < a.sums; i++)
        for (size_t j = 0; j < a.sum[i].n; j++) {
            double was = number_at(x->byte + a.sum[i].value + 8 * j),
                   is = number_at(y->byte + b.sum[i].value + 8 * j);
            if (!(is >= was * keep && is <= was * keep))
                fail_msg("%s[%zu] was %.17g and is %.17g, expected %g times that", a.sum[i].text, j,
                         was, is, keep);
        }
}

static void forgetting_scales_what_was_learned(void **state)
{
    const variant *v = *state;
    static const double keeps[] = {1, 0.5, 0.25, 0};
    for (size_t i = 0; i < COUNT(keeps); i++) {
        oltr_policy *p = new_policy(v), *fresh = new_policy(v);
        learn_many(p, 1, 100);
        image before = image_of(p);
        expect(oltr_forget(p, keeps[i]), v->info->can_forget ? OLTR_OK : OLTR_EUNSUPPORTED);
        image after = image_of(p);
        /* a logistic posterior keeps rows, and counts them */
        if (v->info->can_forget && !has_logistic_posterior(v->info))
            assert_faded(&before, &after, keeps[i]);
        bool same = same_images(before, after);
        assert_true(same || (v->info->can_forget && keeps[i] < 1));
        assert_int_equal(oltr_policy_rounds(p), 100);
        assert_sound(p);
        if (v->info->can_forget && keeps[i] <= 0 && moderate(v)) /* the mean of a new policy */
            assert_same_belief(fresh, p, (slack){1e-12, v->info->contextual ? 1e300 : 1e-12});
        oltr_policy *copy = copy_of(p);
        assert_same_lists(p, copy);
        learn_many(p, 2, 60);
        learn_many(copy, 2, 60);
        assert_sound(p);
        assert_true(same_state(p, copy));
        oltr_policy_free(copy);
        oltr_policy_free(fresh);
        oltr_policy_free(p);
    }
}

/* Half of everything learned twice is everything learned once; but not the clock, and the width of
 * some policies follows the clock. */
static void forgetting_half_of_twice(void **state)
{
    const variant *v = *state;
    oltr_policy *twice = new_policy(v), *once = new_policy(v);
    learn_many(twice, 1, 100);
    learn_many(once, 1, 100);
    oltr_policy *copy = copy_of(twice);
    expect(oltr_merge(twice, copy), OLTR_OK);
    expect(oltr_forget(twice, 0.5), OLTR_OK);
    slack allowed = slack_of(v, 1e-9);
    allowed.sd = 1e300;
    assert_same_belief(twice, once, allowed);
    oltr_policy_free(copy);
    oltr_policy_free(twice);
    oltr_policy_free(once);
}

static bool merges_and_forgets(const variant *v)
{
    return moderate(v) && v->info->can_merge && v->info->can_forget && v->info->can_predict;
}

static void bad_forgetting_is_refused(void **state)
{
    const double bad[] = {-0.1, 1.0000001, 2, (double)NAN, (double)INFINITY, -(double)INFINITY};
    const variant *v = *state;
    oltr_policy *p = new_policy(v);
    learn_many(p, 1, 20);
    image before = image_of(p);
    for (size_t i = 0; i < COUNT(bad); i++) {
        oltr_status status = oltr_forget(p, bad[i]);
        assert_true(status == OLTR_EINVAL || (!v->info->can_forget && status == OLTR_EUNSUPPORTED));
    }
    expect(oltr_forget(NULL, 0.5), OLTR_EINVAL);
    assert_unchanged(p, before);
    oltr_policy_free(p);
}

/* ---- predictions */

/* Of some candidates as of all, with the deviation or without. */
static void predictions_belong_to_candidates(void **state)
{
    oltr_policy *p = new_policy(*state);
    double mean[ITEMS], sd[ITEMS], alone[ITEMS], some_mean[3], some_sd[3];
    uint32_t some[3] = {ITEMS - 1, 0, 7};
    float x[3 * STRIDE];
    request all;
    whole_request(p, &all);
    oltr_query three = all.query;
    three.n_items = 3;
    three.item = some;
    for (int j = 0; j < 3 && all.query.x; j++)
        memcpy(x + j * STRIDE, all.x + some[j] * STRIDE, STRIDE * sizeof *x);
    three.x = all.query.x ? x : NULL;
    for (uint64_t part = 0; part < 4; part++) {
        expect(oltr_predict(p, all.asked, mean, sd), OLTR_OK);
        assert_numbers(p, all.asked, "all items");
        expect(oltr_predict(p, all.asked, alone, NULL), OLTR_OK);
        assert_memory_equal(mean, alone, sizeof mean);
        expect(oltr_predict(p, &three, some_mean, some_sd), OLTR_OK);
        for (uint32_t j = 0; j < 3; j++) {
            assert_memory_equal(&some_mean[j], &mean[some[j]], sizeof *mean);
            assert_memory_equal(&some_sd[j], &sd[some[j]], sizeof *sd);
        }
        all.query.n_items = 2;
        expect(oltr_predict(p, &all.query, some_mean, some_sd), OLTR_OK);
        assert_memory_equal(some_mean, mean, 2 * sizeof *mean);
        all.query.n_items = ITEMS;
        learn_many(p, part, 50);
    }
    expect(oltr_predict(NULL, all.asked, mean, sd), OLTR_EINVAL);
    expect(oltr_predict(p, all.asked, NULL, sd), OLTR_EINVAL);
    oltr_policy_free(p);
}

static bool can_predict(const variant *v)
{
    return v->info->can_predict;
}

static void some_kinds_do_not_predict(void **state)
{
    oltr_policy *p = new_policy(*state);
    double mean[ITEMS], sd[ITEMS];
    request all;
    whole_request(p, &all);
    expect(oltr_predict(p, all.asked, mean, sd), OLTR_EUNSUPPORTED);
    expect(oltr_predict(p, all.asked, NULL, sd), OLTR_EINVAL);
    oltr_policy_free(p);
}

static bool cannot_predict(const variant *v)
{
    return !v->info->can_predict;
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_VARIANTS(&all, &variants, a_copy_goes_on_alike);
    ON_VARIANTS(&all, &variants, a_copy_has_the_same_settings);
    ON_SOME_VARIANTS(&all, &variants, merging_is_learning_both, moderate);
    ON_VARIANTS(&all, &variants, other_settings_do_not_merge);
    ON_VARIANTS(&all, &variants, other_priors_do_not_merge);
    ON_VARIANTS(&all, &variants, a_policy_does_not_merge_with_itself);
    ON_VARIANTS(&all, &variants, a_long_life);
    ON_VARIANTS(&all, &variants, forgetting_scales_what_was_learned);
    ON_SOME_VARIANTS(&all, &variants, forgetting_half_of_twice, merges_and_forgets);
    ON_VARIANTS(&all, &variants, bad_forgetting_is_refused);
    ON_SOME_VARIANTS(&all, &variants, predictions_belong_to_candidates, can_predict);
    ON_SOME_VARIANTS(&all, &variants, some_kinds_do_not_predict, cannot_predict);
    return cmocka_run_group_tests_name("what was learned is a value", all.test, NULL, NULL);
}
