/* growth.c - items that come and go, over every kind of the catalogue.
 *
 * A policy that was resized, or whose items were put, reset or renewed, is compared with one that
 * was made that way from the beginning: the same snapshot, and the same lists.  What is refused
 * changes nothing.
 */
#include "conform/suite.h"

enum { FEW = 12, MANY = 40, DIM = 4, K = 5, ROUNDS = 80 };

static prior_arrays priors;

/* The prior of the items from `first` on. */
static oltr_prior prior_from(prior_form form, uint32_t first)
{
    oltr_prior p = prior_of(&priors, form);
    if (form == SHAPES)
        p = (oltr_prior){.a = priors.a + first, .b = priors.b + first};
    if (form == MOMENTS)
        p = (oltr_prior){.mean = priors.mean + first, .sd = priors.sd + first};
    return p;
}

static oltr_settings settings_for(const oltr_policy_info *info, uint32_t n_items, prior_form form)
{
    oltr_settings s;
    assert_int_equal(oltr_settings_init(&s, info->name, n_items, NULL), OLTR_OK);
    s.dim = info->contextual ? DIM : 0;
    if (form != NO_PRIOR && info->uses_prior) {
        assert_int_equal(oltr_settings_set(&s, "prior", "full", NULL), OLTR_OK);
        s.prior = prior_from(form, 0);
    }
    return s;
}

static oltr_policy *policy_of(const oltr_policy_info *info, uint32_t n_items, prior_form form)
{
    oltr_settings s = settings_for(info, n_items, form);
    oltr_policy *p = oltr_policy_new(&s, NULL);
    assert_non_null(p);
    return p;
}

/* The same lessons, from the items below n, for any policy that has them. */
static void teach(oltr_policy *p, uint64_t seed, uint32_t n)
{
    const oltr_policy_info *info = oltr_policy_settings(p)->info;
    dice d = {seed};
    for (uint32_t t = 0; t < ROUNDS; t++) {
        uint32_t item[K];
        float x[MANY * DIM];
        double reward[K];
        draw_items(&d, n, K, item);
        for (uint32_t i = 0; i < MANY * DIM; i++)
            x[i] = (float)below(&d, 17) / 8 - 1;
        for (uint32_t s = 0; s < K; s++)
            reward[s] = draw_reward(&d, info->rewards, item[s]);
        oltr_query query = {
            .n_items = n, .dim = info->contextual ? DIM : 0, .x = info->contextual ? x : NULL};
        oltr_ranking shown = {.k = K, .item = item};
        oltr_feedback seen = {.n_examined = below(&d, K + 1), .reward = reward};
        assert_int_equal(oltr_learn(p, &query, &shown, &seen), OLTR_OK);
    }
}

static void assert_same(const oltr_policy *p, const oltr_policy *q)
{
    const oltr_settings *s = oltr_policy_settings(p);
    uint32_t x[K], y[K];
    float row[MANY * DIM];
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t i = 0; i < MANY * DIM; i++)
        row[i] = (float)(i % 11) / 8;
    oltr_query query = {.n_items = s->n_items, .dim = s->dim, .x = s->dim ? row : NULL};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_true(same_state(p, q));
    for (uint64_t round = 0; round < 5; round++) {
        assert_int_equal(rank_at(p, &query, round, K, x, NULL), OLTR_OK);
        assert_int_equal(rank_at(q, &query, round, K, y, NULL), OLTR_OK);
        assert_memory_equal(x, y, sizeof x);
    }
}

/* ---- another size */

static void resize_as_if_made_so(const oltr_policy_info *info, prior_form form, uint32_t from,
                                 uint32_t to)
{
    oltr_policy *p = policy_of(info, from, form), *q = policy_of(info, to, form);
    oltr_prior more = prior_from(info->uses_prior ? form : NO_PRIOR, from);
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
    assert_int_equal(oltr_policy_resize(p, n, prior, &error), wanted);
    if (!strstr(error.msg, words))
        fail_msg("'%s' does not say '%s'", error.msg, words);
    image y = image_of(*p);
    assert_true(*p == before && same_image(x, y));
    free(x.byte);
    free(y.byte);
}

static void resizes_that_cannot_be(void **state)
{
    double bad_a[MANY] = {0}, bad_b[MANY] = {0};
    oltr_prior shapes = prior_from(SHAPES, FEW), moments = prior_from(MOMENTS, FEW),
               bad = {.a = bad_a, .b = bad_b};
    oltr_settings s = settings_for(oltr_policy_info_by_name("gts", NULL), FEW, NO_PRIOR);
    oltr_error error;
    (void)state;
    oltr_policy *p = policy_of(oltr_policy_info_by_name("ts-beta", NULL), FEW, SHAPES);
    oltr_policy *plain = policy_of(oltr_policy_info_by_name("gts", NULL), FEW, NO_PRIOR);
    oltr_policy *pairs = policy_of(oltr_policy_info_by_name("toprank", NULL), FEW, NO_PRIOR);
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
    assert_int_equal(oltr_policy_resize(NULL, MANY, NULL, &error), OLTR_EINVAL);
    oltr_policy_free(placed); /* leaves the memory alone */
    free(memory);
    oltr_policy_free(p);
    oltr_policy_free(plain);
    oltr_policy_free(pairs);
}

/* logts of fewer items has room for fewer rows. */
static void what_was_learned_must_fit(void **state)
{
    oltr_settings s = settings_for(oltr_policy_info_by_name("logts", NULL), 400, NO_PRIOR);
    oltr_error error = {OLTR_OK, ""};
    (void)state;
    oltr_policy *p = oltr_policy_new(&s, &error);
    assert_non_null(p);
    for (uint64_t seed = 1; seed < 25; seed++)
        teach(p, seed, MANY);
    image x = image_of(p);
    oltr_status status = oltr_policy_resize(&p, FEW, NULL, &error);
    image y = image_of(p);
    assert_true(status == OLTR_OK || (status == OLTR_EFULL && same_image(x, y)));
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    free(x.byte);
    free(y.byte);
    oltr_policy_free(p);
}

/* ---- memory that ends */

typedef struct purse {
    long left, out;
} purse;

static void *take(void *with, size_t bytes, size_t align)
{
    purse *p = with;
    if (p->left-- <= 0)
        return NULL;
    p->out++;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

static void give(void *with, void *memory, size_t bytes)
{
    (void)bytes;
    ((purse *)with)->out -= memory != NULL;
    free(memory);
}

static void without_memory_nothing_changes(void **state)
{
    const oltr_policy_info *info = *state;
    purse own = {1000, 0};
    oltr_memory hook = {take, give, &own};
    oltr_settings s = settings_for(info, FEW, SHAPES);
    s.memory = &hook;
    oltr_policy *p = oltr_policy_new(&s, NULL), *q = oltr_policy_new(&s, NULL);
    oltr_prior more = prior_from(info->uses_prior ? SHAPES : NO_PRIOR, FEW);
    assert_true(p && q);
    teach(p, 1, FEW);
    teach(q, 2, FEW);
    for (int merging = 0; merging < 2; merging++)
        for (long left = 0, status = OLTR_ENOMEM; status == OLTR_ENOMEM; left++) {
            image x = image_of(p);
            own.left = left;
            if (merging)
                status = (long)oltr_merge(p, q);
            else
                status = (long)oltr_policy_resize(&p, FEW + 3, &more, NULL);
            if (!merging && status == OLTR_OK) {
                own.left = 1000;
                assert_int_equal(oltr_policy_resize(&p, FEW, NULL, NULL), OLTR_OK);
            }
            own.left = 1000;
            image y = image_of(p);
            assert_true(status == OLTR_OK || same_image(x, y));
            assert_true(left < 20);
            free(x.byte);
            free(y.byte);
            if (merging && !info->can_merge)
                break;
        }
    oltr_policy_free(p);
    oltr_policy_free(q);
    assert_int_equal(own.out, 0);
}

/* ---- one item */

static uint32_t numbers_of(const oltr_policy *p, uint32_t item, double *number)
{
    uint32_t n = 0;
    assert_int_equal(oltr_item_get(p, item, number, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
    return n;
}

/* Item after item from one policy to a new one: the same but for the rounds. */
static void numbers_are_all_there_is(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = NO_PRIOR; info->by_item && form <= MOMENTS; form++) {
        oltr_policy *p = policy_of(info, FEW, form), *q = policy_of(info, FEW, form);
        double number[OLTR_MAX_ITEM_NUMBERS];
        teach(p, 3, FEW);
        teach(q, 4, FEW); /* as many rounds */
        for (uint32_t i = 0; i < FEW; i++)
            assert_int_equal(oltr_item_put(q, i, number, numbers_of(p, i, number), NULL), OLTR_OK);
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
        oltr_policy *p = policy_of(info, FEW, form);
        double last[OLTR_MAX_ITEM_NUMBERS], now[OLTR_MAX_ITEM_NUMBERS];
        teach(p, 5, FEW);
        uint32_t n = numbers_of(p, FEW - 1, last);
        assert_int_equal(oltr_item_put(p, 2, last, n, NULL), OLTR_OK);
        assert_int_equal(oltr_policy_resize(&p, FEW - 1, NULL, NULL), OLTR_OK);
        assert_int_equal(numbers_of(p, 2, now), n);
        assert_memory_equal(now, last, n * sizeof *now);
        assert_int_equal(oltr_check(p, NULL), OLTR_OK);
        teach(p, 6, FEW - 1);
        oltr_policy_free(p);
    }
}

static void a_reset_item_has_its_prior_and_nothing_else(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = NO_PRIOR; info->by_item && form <= MOMENTS; form++) {
        oltr_policy *p = policy_of(info, FEW, form), *fresh = policy_of(info, FEW, form);
        double x[OLTR_MAX_ITEM_NUMBERS], y[OLTR_MAX_ITEM_NUMBERS];
        teach(p, 7, FEW);
        for (uint32_t i = 0; i < FEW; i += 3) {
            assert_int_equal(oltr_item_reset(p, i, NULL), OLTR_OK);
            uint32_t n = numbers_of(p, i, x);
            assert_int_equal(numbers_of(fresh, i, y), n);
            assert_memory_equal(x, y, n * sizeof *x);
        }
        assert_int_equal(oltr_check(p, NULL), OLTR_OK);
        oltr_policy_free(p);
        oltr_policy_free(fresh);
    }
}

/* As if it had been made with that prior; with the lessons, or as if it had missed those of that
 * item. */
static void a_renewed_item_is_as_if_made_so(void **state)
{
    const oltr_policy_info *info = *state;
    for (prior_form form = SHAPES; info->by_item && info->uses_prior && form <= MOMENTS; form++) {
        oltr_settings s = settings_for(info, FEW, form);
        prior_arrays own = priors;
        own.a[4] = 3.5;
        own.b[4] = 2.25;
        own.mean[4] = 0.625;
        own.sd[4] = 0.125;
        s.prior = prior_of(&own, form);
        oltr_policy *p = policy_of(info, FEW, form), *q = oltr_policy_new(&s, NULL);
        double first = form == SHAPES ? 3.5 : 0.625, second = form == SHAPES ? 2.25 : 0.125;
        teach(p, 8, FEW);
        teach(q, 8, FEW);
        assert_int_equal(oltr_item_renew(p, 4, first, second, 1, NULL), OLTR_OK);
        assert_same(p, q);
        assert_int_equal(oltr_item_renew(p, 4, first, second, 0, NULL), OLTR_OK);
        assert_int_equal(oltr_item_reset(q, 4, NULL), OLTR_OK);
        assert_same(p, q);
        oltr_policy_free(p);
        oltr_policy_free(q);
    }
}

static void refuse_put(oltr_policy *p, uint32_t item, const double *number, uint32_t n,
                       oltr_status wanted)
{
    image x = image_of(p);
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_item_put(p, item, number, n, &error), wanted);
    assert_int_equal(error.code, wanted);
    assert_true(strlen(error.msg) > 0);
    image y = image_of(p);
    assert_true(same_image(x, y));
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    free(x.byte);
    free(y.byte);
}

static void impossible_items_are_refused(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_policy *p = policy_of(info, FEW, SHAPES);
    double good[OLTR_MAX_ITEM_NUMBERS] = {0}, bad[OLTR_MAX_ITEM_NUMBERS];
    uint32_t n = 99;
    oltr_error error = {OLTR_OK, ""};
    teach(p, 9, FEW);
    if (!info->by_item) {
        assert_int_equal(oltr_item_get(p, 0, good, 1, &n), OLTR_EUNSUPPORTED);
        refuse_put(p, 0, good, 2, OLTR_EUNSUPPORTED);
        assert_int_equal(oltr_item_reset(p, 0, &error), OLTR_EUNSUPPORTED);
        assert_int_equal(oltr_item_renew(p, 0, 1, 1, 1, &error), OLTR_EUNSUPPORTED);
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
        assert_int_equal(oltr_item_get(p, 1, bad, n - 1, &n), OLTR_EBUFFER);
    assert_int_equal(oltr_item_get(p, FEW, bad, n, &n), OLTR_EITEM);
    assert_int_equal(oltr_item_get(p, 1, bad, n, NULL), OLTR_EINVAL);
    assert_int_equal(oltr_item_renew(p, 1, -1, 1, 1, &error), OLTR_EPRIOR);
    assert_int_equal(oltr_item_reset(NULL, 1, &error), OLTR_EINVAL);
    oltr_policy_free(p);
}

/* ---- the suite */

static void add_for_all(suite *s, const char *check, CMUnitTestFunction run)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        add_test(s, check, oltr_policy_info_at(i)->name, run, oltr_policy_info_at(i));
}
#define ON_ALL(s, f) add_for_all(s, #f, f)

int main(void)
{
    static suite s;
    fill_prior(&priors);
    ON_ALL(&s, a_resized_policy_is_as_if_made_so);
    add_test(&s, "resizes_that_cannot_be", "several", resizes_that_cannot_be, NULL);
    add_test(&s, "what_was_learned_must_fit", "logts", what_was_learned_must_fit, NULL);
    ON_ALL(&s, without_memory_nothing_changes);
    ON_ALL(&s, numbers_are_all_there_is);
    ON_ALL(&s, removal_is_a_swap_with_the_last);
    ON_ALL(&s, a_reset_item_has_its_prior_and_nothing_else);
    ON_ALL(&s, a_renewed_item_is_as_if_made_so);
    ON_ALL(&s, impossible_items_are_refused);
    return cmocka_run_group_tests_name("growth", s.test, NULL, NULL);
}
