/* growth.c - items that come and go, over every kind of the catalogue.
 *
 * A policy that was resized, or whose items were put, reset or renewed, is compared with one that
 * was made that way from the beginning: the same snapshot, and the same lists.  What is refused
 * changes nothing.
 */
#include "conform/fixtures.h"

enum { FEW = 12, MANY = 40, K = 5, ROUNDS = 80 };

static oltr_policy *make(const oltr_policy_info *info, uint32_t n_items, prior_form form)
{
    variant v = with_prior(plain_variant(info), form);
    return policy_of(&v, n_items);
}

static oltr_policy *make_named(const char *kind, uint32_t n_items, prior_form form)
{
    return make(oltr_policy_info_by_name(kind, NULL), n_items, form);
}

/* The same lessons, from the items below n, for any policy that has them. */
static void teach(oltr_policy *p, uint64_t seed, uint32_t n)
{
    const oltr_policy_info *info = oltr_policy_settings(p)->info;
    dice d = {seed};
    for (uint32_t t = 0; t < ROUNDS; t++) {
        request r = {.query = {.n_items = n}, .asked = &r.query, .k = K};
        draw_items(&d, n, K, r.shown);
        if (info->contextual) {
            r.query = (oltr_query){n, NULL, DIM, STRIDE, r.x};
            fill_rows(&r, &d, FROM_POOL);
        }
        draw_feedback(&d, info->rewards, &r);
        expect(learn_request(p, &r), OLTR_OK);
    }
}

/* The same numbers of every item, and beliefs that differ by rounding alone. */
static void assert_close(const oltr_policy *p, const oltr_policy *q)
{
    double x[OLTR_MAX_ITEM_NUMBERS], y[OLTR_MAX_ITEM_NUMBERS], mean[2][MANY], sd[2][MANY];
    uint32_t n = oltr_policy_settings(p)->n_items, numbers;
    expect(oltr_predict(p, NULL, mean[0], sd[0]), OLTR_OK);
    expect(oltr_predict(q, NULL, mean[1], sd[1]), OLTR_OK);
    for (uint32_t i = 0; i < n; i++) {
        expect(oltr_item_get(p, i, x, OLTR_MAX_ITEM_NUMBERS, &numbers), OLTR_OK);
        expect(oltr_item_get(q, i, y, OLTR_MAX_ITEM_NUMBERS, &numbers), OLTR_OK);
        assert_memory_equal(x, y, numbers * sizeof *x);
        assert_true(fabs(mean[0][i] - mean[1][i]) <= 1e-12 && fabs(sd[0][i] - sd[1][i]) <= 1e-12);
    }
}

/* A kind whose snapshots depend on the order of lessons has rounding that does. */
static void assert_same(const oltr_policy *p, const oltr_policy *q)
{
    const oltr_policy_info *info = oltr_policy_settings(p)->info;
    assert_sound(p);
    if (info->by_item && !info->order_free) {
        assert_close(p, q);
        return;
    }
    assert_true(same_state(p, q));
    assert_same_lists(p, q);
}

/* ---- another size */

static void resize_as_if_made_so(const oltr_policy_info *info, prior_form form, uint32_t from,
                                 uint32_t to)
{
    oltr_policy *p = make(info, from, form), *q = make(info, to, form);
    oltr_prior more = prior_from(known_prior(), info->uses_prior ? form : NO_PRIOR, from);
    uint32_t both = from < to ? from : to;
    oltr_error error = {OLTR_OK, ""};
    teach(p, 1, both);
    teach(q, 1, both);
    if (oltr_policy_resize(&p, to, to > from ? &more : NULL, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_int_equal(oltr_policy_settings(p)->n_items, to);
    assert_same(p, q);
    teach(p, 2, to);
    teach(q, 2, to);
    assert_same(p, q);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

static void a_resized_policy_is_as_if_made_so(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = NO_PRIOR; info->can_resize && form <= MOMENTS; form++) {
        resize_as_if_made_so(info, form, FEW, MANY);
        resize_as_if_made_so(info, form, MANY, FEW);
        resize_as_if_made_so(info, form, FEW, FEW);
        resize_as_if_made_so(info, form, FEW, FEW + 1);
    }
}

static void refuse_resize(oltr_policy **p, uint32_t n, const oltr_prior *prior, oltr_status wanted,
                          const char *words)
{
    oltr_policy *before = *p;
    image x = image_of(*p);
    oltr_error error = {OLTR_OK, ""};
    expect_error(oltr_policy_resize(p, n, prior, &error), &error, wanted, words);
    assert_ptr_equal(*p, before);
    assert_unchanged(*p, x);
}

static void resizes_that_cannot_be(void **state)
{
    double bad_a[MANY] = {0}, bad_b[MANY] = {0};
    oltr_prior shapes = prior_from(known_prior(), SHAPES, FEW),
               moments = prior_from(known_prior(), MOMENTS, FEW), bad = {.a = bad_a, .b = bad_b};
    variant gts = variant_of("gts");
    oltr_settings s = settings_for(&gts, FEW);
    oltr_error error;
    oltr_policy *p = make_named("ts-beta", FEW, SHAPES);
    oltr_policy *plain = make_named("gts", FEW, NO_PRIOR);
    oltr_policy *pairs = make_named("toprank", FEW, NO_PRIOR);
    size_t bytes = oltr_policy_bytes(&s, NULL);
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    oltr_policy *placed = oltr_policy_place(memory, bytes, &s, NULL);
    refuse_resize(&p, MANY, NULL, OLTR_EPRIOR, "a and b");
    refuse_resize(&p, MANY, &moments, OLTR_EPRIOR, "a and b");
    refuse_resize(&p, MANY, &bad, OLTR_EPRIOR, "Beta(0, 0)");
    refuse_resize(&p, FEW - 1, &shapes, OLTR_EPRIOR, "no new items");
    refuse_resize(&p, 0, NULL, OLTR_EITEM, "items");
    refuse_resize(&plain, MANY, &moments, OLTR_EPRIOR, "without a prior");
    refuse_resize(&pairs, MANY, NULL, OLTR_EUNSUPPORTED, "toprank cannot be resized");
    refuse_resize(&placed, MANY, NULL, OLTR_EUNSUPPORTED, "memory of the caller");
    expect(oltr_policy_resize(NULL, MANY, NULL, &error), OLTR_EINVAL);
    oltr_policy_free(placed); /* leaves the memory alone */
    free(memory);
    oltr_policy_free(p);
    oltr_policy_free(plain);
    oltr_policy_free(pairs);
}

/* logts of fewer items has room for fewer rows. */
static void what_was_learned_must_fit(void **state)
{
    oltr_policy *p = make_named("logts", 400, NO_PRIOR);
    oltr_error error = {OLTR_OK, ""};
    for (uint64_t seed = 1; seed < 25; seed++)
        teach(p, seed, MANY);
    image before = image_of(p);
    oltr_status status = oltr_policy_resize(&p, FEW, NULL, &error);
    bool same = same_images(before, image_of(p));
    assert_true(status == OLTR_OK || (status == OLTR_EFULL && same));
    assert_sound(p);
    oltr_policy_free(p);
}

/* ---- one item */

static uint32_t numbers_of(const oltr_policy *p, uint32_t item, double *number)
{
    uint32_t n = 0;
    expect(oltr_item_get(p, item, number, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
    return n;
}

/* Item after item from one policy to a new one: the same but for the rounds. */
static void numbers_are_all_there_is(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = NO_PRIOR; info->by_item && form <= MOMENTS; form++) {
        oltr_policy *p = make(info, FEW, form), *q = make(info, FEW, form);
        double number[OLTR_MAX_ITEM_NUMBERS];
        teach(p, 3, FEW);
        teach(q, 4, FEW); /* as many rounds */
        for (uint32_t i = 0; i < FEW; i++)
            expect(oltr_item_put(q, i, number, numbers_of(p, i, number), NULL), OLTR_OK);
        assert_same(p, q);
        oltr_policy_free(p);
        oltr_policy_free(q);
    }
}

/* Item 2 goes: the last takes its place. */
static void removal_is_a_swap_with_the_last(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = NO_PRIOR; info->by_item && form <= MOMENTS; form++) {
        oltr_policy *p = make(info, FEW, form);
        double last[OLTR_MAX_ITEM_NUMBERS], now[OLTR_MAX_ITEM_NUMBERS];
        teach(p, 5, FEW);
        uint32_t n = numbers_of(p, FEW - 1, last);
        expect(oltr_item_put(p, 2, last, n, NULL), OLTR_OK);
        expect(oltr_policy_resize(&p, FEW - 1, NULL, NULL), OLTR_OK);
        assert_int_equal(numbers_of(p, 2, now), n);
        assert_memory_equal(now, last, n * sizeof *now);
        assert_sound(p);
        teach(p, 6, FEW - 1);
        oltr_policy_free(p);
    }
}

static void a_reset_item_has_its_prior_and_nothing_else(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = NO_PRIOR; info->by_item && form <= MOMENTS; form++) {
        oltr_policy *p = make(info, FEW, form), *fresh = make(info, FEW, form);
        double x[OLTR_MAX_ITEM_NUMBERS], y[OLTR_MAX_ITEM_NUMBERS];
        teach(p, 7, FEW);
        for (uint32_t i = 0; i < FEW; i += 3) {
            expect(oltr_item_reset(p, i, NULL), OLTR_OK);
            uint32_t n = numbers_of(p, i, x);
            assert_int_equal(numbers_of(fresh, i, y), n);
            assert_memory_equal(x, y, n * sizeof *x);
        }
        assert_sound(p);
        oltr_policy_free(p);
        oltr_policy_free(fresh);
    }
}

static void exchange(double *x, double *y)
{
    double was = *x;
    *x = *y;
    *y = was;
}

/* Two items exchange their priors: as if made with these; with the lessons, or as if it had missed
 * those of one of them.  The mean of all priors, to which ts-hyper compares, stays the same. */
static void a_renewed_item_is_as_if_made_so(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = SHAPES; info->by_item && info->uses_prior && form <= MOMENTS; form++) {
        variant v = with_prior(plain_variant(info), form);
        oltr_settings s = settings_for(&v, FEW);
        prior_arrays own = *known_prior();
        exchange(&own.a[4], &own.a[5]);
        exchange(&own.b[4], &own.b[5]);
        exchange(&own.mean[4], &own.mean[5]);
        exchange(&own.sd[4], &own.sd[5]);
        s.prior = prior_from(&own, form, 0);
        const double *first = form == SHAPES ? own.a : own.mean,
                     *second = form == SHAPES ? own.b : own.sd;
        oltr_policy *p = make(info, FEW, form), *q = oltr_policy_new(&s, NULL);
        teach(p, 8, FEW);
        teach(q, 8, FEW);
        for (uint32_t i = 4; i <= 5; i++)
            expect(oltr_item_renew(p, i, first[i], second[i], 1, NULL), OLTR_OK);
        assert_same(p, q);
        expect(oltr_item_renew(p, 4, first[4], second[4], 0, NULL), OLTR_OK);
        expect(oltr_item_reset(q, 4, NULL), OLTR_OK);
        assert_same(p, q);
        oltr_policy_free(p);
        oltr_policy_free(q);
    }
}

static void refuse_put(oltr_policy *p, uint32_t item, const double *number, uint32_t n,
                       oltr_status wanted)
{
    image before = image_of(p);
    oltr_error error = {OLTR_OK, ""};
    expect_error(oltr_item_put(p, item, number, n, &error), &error, wanted, "");
    assert_true(strlen(error.msg) > 0);
    assert_unchanged(p, before);
    assert_sound(p);
}

static void impossible_items_are_refused(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_policy *p = make(info, FEW, SHAPES);
    double good[OLTR_MAX_ITEM_NUMBERS] = {0}, bad[OLTR_MAX_ITEM_NUMBERS];
    uint32_t n = 99;
    oltr_error error = {OLTR_OK, ""};
    teach(p, 9, FEW);
    if (!info->by_item) {
        expect(oltr_item_get(p, 0, good, 1, &n), OLTR_EUNSUPPORTED);
        refuse_put(p, 0, good, 2, OLTR_EUNSUPPORTED);
        expect(oltr_item_reset(p, 0, &error), OLTR_EUNSUPPORTED);
        expect(oltr_item_renew(p, 0, 1, 1, 1, &error), OLTR_EUNSUPPORTED);
        oltr_policy_free(p);
        return;
    }
    n = numbers_of(p, 1, good);
    refuse_put(p, FEW, good, n, OLTR_EITEM);
    refuse_put(p, 1, good, n + 1, OLTR_EINVAL);
    for (uint32_t i = 0; i < n; i++) {
        memcpy(bad, good, sizeof bad);
        bad[i] = NAN;
        refuse_put(p, 1, bad, n, OLTR_ESTATE);
        bad[i] =
            i == 1 && n == 4
                ? 1e50
                : -1; /* more rewards than observations allow, or fewer than none of something */
        refuse_put(p, 1, bad, n, i + 2 >= n && info->uses_prior ? OLTR_EPRIOR : OLTR_ESTATE);
    }
    if (n)
        expect(oltr_item_get(p, 1, bad, n - 1, &n), OLTR_EBUFFER);
    expect(oltr_item_get(p, FEW, bad, n, &n), OLTR_EITEM);
    expect(oltr_item_get(p, 1, bad, n, NULL), OLTR_EINVAL);
    expect(oltr_item_renew(p, 1, -1, 1, 1, &error), OLTR_EPRIOR);
    expect(oltr_item_reset(NULL, 1, &error), OLTR_EINVAL);
    oltr_policy_free(p);
}

int main(void)
{
    static suite s;
    ON_KINDS(&s, a_resized_policy_is_as_if_made_so);
    ONCE(&s, resizes_that_cannot_be);
    ONCE(&s, what_was_learned_must_fit);
    ON_KINDS(&s, numbers_are_all_there_is);
    ON_KINDS(&s, removal_is_a_swap_with_the_last);
    ON_KINDS(&s, a_reset_item_has_its_prior_and_nothing_else);
    ON_KINDS(&s, a_renewed_item_is_as_if_made_so);
    ON_KINDS(&s, impossible_items_are_refused);
    return cmocka_run_group_tests_name("growth", s.test, NULL, NULL);
}
