/* rounds.c - ranking and learning, for every policy of the catalogue in all its settings.
 *
 * Lists are valid, reading changes nothing, and bad input is refused with the right status and
 * leaves no trace.  Each check runs on each variant of fixtures.h as a test of its own.
 */
#include "conform/fixtures.h"

static variant_list variants;

/* ---- lists */

static void lists_are_valid(void **state)
{
    static const uint32_t sizes[] = {1, 2, 7, ITEMS, 70};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        oltr_policy *p = policy_of(*state, sizes[s]);
        dice d = {1};
        for (uint64_t round = 0; round < 8 + 4 * EFFORT; round++) {
            request r;
            draw_request(&d, p, round % 2 ? FROM_POOL : NEVER_AGAIN, &r);
            rank_and_check(p, r.asked, round, r.k);
            rank_and_check(p, r.asked, round, r.query.n_items);
            expect(rank_with(p, r.asked, round, r.query.n_items + 1, r.shown, NULL), OLTR_ESLOTS);
            expect(rank_with(p, r.asked, round, UINT32_MAX, r.shown, NULL), OLTR_ESLOTS);
            expect(rank_with(p, r.asked, round, 0, r.shown, NULL), OLTR_ESLOTS);
            expect(learn_request(p, &r), OLTR_OK);
        }
        oltr_policy_free(p);
    }
}

/* Around the widths of vectors and the sizes at which selection changes its algorithm. */
static void any_number_of_items(void **state)
{
    static const uint32_t sizes[] = {3,  4,  5,  8,   9,   15,  16,  17,  31,  32,  33,
                                     63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 300};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        oltr_policy *p = policy_of(*state, sizes[s]);
        request all;
        whole_request(p, &all);
        rank_and_check(p, all.asked, 1, sizes[s]);
        learn_many(p, 1, 2);
        rank_and_check(p, all.asked, 2, 1);
        rank_and_check(p, all.asked, 3, sizes[s] / 2);
        rank_and_check(p, all.asked, 4, sizes[s] - 1);
        rank_and_check(p, all.asked, 5, sizes[s]);
        oltr_policy_free(p);
    }
}

static void missing_arguments_of_rank(void **state)
{
    oltr_policy *p = new_policy(*state);
    oltr_scratch *scratch = oltr_scratch_new(p);
    uint32_t item[2];
    request r;
    oltr_rng rng = oltr_rng_make(1, 1);
    oltr_ranking out = {2, item, NULL}, nowhere = {2, NULL, NULL};
    oltr_query empty;
    whole_request(p, &r);
    empty = r.query;
    empty.n_items = 0;
    expect(rank_with(p, &empty, 1, 1, item, NULL), OLTR_ESLOTS);
    expect(oltr_rank(NULL, r.asked, rng, scratch, &out), OLTR_EINVAL);
    expect(oltr_rank(p, r.asked, rng, NULL, &out), OLTR_EINVAL);
    expect(oltr_rank(p, r.asked, rng, scratch, NULL), OLTR_EINVAL);
    expect(oltr_rank(p, r.asked, rng, scratch, &nowhere), OLTR_EINVAL);
    assert_null(oltr_scratch_new(NULL));
    oltr_scratch_free(NULL);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    oltr_policy_free(NULL);
    assert_null(oltr_policy_settings(NULL));
    assert_int_equal(oltr_policy_rounds(NULL), 0);
}

/* Every first list is drawn, except the fixed list of a prior.  With features an index may differ
 * from item to item, and nothing is drawn. */
static void rounds_differ(void **state)
{
    enum { N = 40 };
    const variant *v = *state;
    oltr_policy *p = policy_of(v, N);
    uint32_t x[N], y[N];
    int differ = 0;
    rank_with(p, NULL, 0, N, x, NULL);
    for (uint64_t round = 1; round < 4; round++) {
        rank_with(p, NULL, round, N, y, NULL);
        differ += memcmp(x, y, sizeof x) != 0;
    }
    bool fixed = v->info->rewards == OLTR_REALS && !v->info->can_predict && takes_prior(v);
    assert_int_equal(differ, fixed ? 0 : 3);
    oltr_policy_free(p);
}

static void reading_leaves_no_trace(void **state)
{
    oltr_policy *p = new_policy(*state);
    dice d = {3};
    learn_many(p, 5, 40);
    image before = image_of(p);
    for (uint64_t round = 0; round < 20; round++) {
        request r;
        draw_request(&d, p, NEVER_AGAIN, &r);
        expect(rank_with(p, r.asked, round, r.k, r.shown, NULL), OLTR_OK);
        assert_numbers(p, r.asked, "what was learned");
    }
    assert_sound(p);
    assert_unchanged(p, before);
    assert_int_equal(oltr_policy_rounds(p), 40);
    oltr_policy_free(p);
}

/* ---- the scratch */

static void a_small_scratch_is_refused(void **state)
{
    oltr_policy *small = policy_of(*state, 4), *large = policy_of(*state, 300);
    oltr_scratch *tight = oltr_scratch_new(small), *wide = oltr_scratch_new(large);
    uint32_t item[4], wanted[4];
    request few, many;
    oltr_ranking out = {4, item, NULL};
    whole_request(small, &few);
    whole_request(large, &many);
    expect(oltr_rank(large, many.asked, rng_of(1), tight, &out), OLTR_ESCRATCH);
    expect(oltr_rank(small, few.asked, rng_of(1), wide, &out), OLTR_OK); /* a larger one will do */
    expect(rank_with(small, few.asked, 1, 4, wanted, NULL), OLTR_OK);
    assert_memory_equal(item, wanted, sizeof item);
    oltr_scratch_free(tight);
    oltr_scratch_free(wide);
    oltr_policy_free(small);
    oltr_policy_free(large);
}

/* The scratch of any other kind is refused, or good enough for the same list. */
static void a_foreign_scratch_is_harmless(void **state)
{
    oltr_policy *p = new_policy(*state);
    uint32_t item[ITEMS], wanted[ITEMS];
    request r;
    oltr_ranking out = {ITEMS, item, NULL};
    whole_request(p, &r);
    expect(rank_with(p, r.asked, 1, ITEMS, wanted, NULL), OLTR_OK);
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        variant other = plain_variant(oltr_policy_info_at(i));
        oltr_policy *q = new_policy(&other);
        oltr_scratch *scratch = oltr_scratch_new(q);
        oltr_status status = oltr_rank(p, r.asked, rng_of(1), scratch, &out);
        assert_true(status == OLTR_OK || status == OLTR_ESCRATCH);
        if (status == OLTR_OK)
            assert_memory_equal(item, wanted, sizeof item);
        oltr_scratch_free(scratch);
        oltr_policy_free(q);
    }
    oltr_policy_free(p);
}

/* A refused query must not spoil the scratch for the next one. */
static void a_scratch_survives_refusals(void **state)
{
    oltr_policy *p = new_policy(*state);
    oltr_scratch *scratch = oltr_scratch_new(p);
    uint32_t item[2], wanted[2], twice[2] = {1, 1}, some[2] = {1, 3};
    request r;
    oltr_ranking out = {2, item, NULL};
    whole_request(p, &r);
    oltr_query bad = r.query, good = r.query;
    bad.n_items = good.n_items = 2;
    bad.item = twice;
    good.item = some;
    expect(rank_with(p, &good, 4, 2, wanted, NULL), OLTR_OK);
    for (int i = 0; i < 10; i++) {
        expect(oltr_rank(p, &bad, rng_of(4), scratch, &out), OLTR_EITEM);
        expect(oltr_rank(p, &good, rng_of(4), scratch, &out), OLTR_OK);
        assert_memory_equal(item, wanted, 2 * sizeof *item);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* ---- bad requests */

/* Neither ranked nor learned from, and the policy is as it was. */
static void refuse_round(oltr_policy *p, const oltr_query *query, oltr_status wanted)
{
    uint32_t item = 0;
    double reward = 0;
    oltr_ranking shown = {1, &item, NULL};
    oltr_feedback seen = {1, &reward};
    image before = image_of(p);
    expect(rank_with(p, query, 1, 1, &item, NULL), wanted);
    item = 0;
    expect(oltr_learn(p, query, &shown, &seen), wanted);
    assert_unchanged(p, before);
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

static void bad_candidates_are_refused(void **state)
{
    oltr_policy *p = new_policy(*state);
    uint32_t twice[3] = {0, 2, 0}, beyond[3] = {0, 2, ITEMS}, far[2] = {0, UINT32_MAX},
             many[ITEMS + 1] = {0};
    request r;
    learn_many(p, 5, 30);
    whole_request(p, &r);
    oltr_query q = r.query;
    q.n_items = ITEMS + 1;
    refuse_query(p, &q, OLTR_EITEM);
    q.item = many;
    refuse_round(p, &q, OLTR_EITEM);
    q.n_items = 3;
    q.item = twice; /* a prediction may have an item twice */
    refuse_round(p, &q, OLTR_EITEM);
    q.item = beyond;
    refuse_query(p, &q, OLTR_EITEM);
    q.n_items = 2;
    q.item = far;
    refuse_query(p, &q, OLTR_EITEM);
    assert_sound(p);
    oltr_policy_free(p);
}

static void bad_features_are_refused(void **state)
{
    oltr_policy *p = new_policy(*state);
    float x[ITEMS * DIM] = {0.25F};
    learn_many(p, 5, 30);
    refuse_query(p, NULL, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM, DIM, NULL}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, 0, 0, NULL}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM - 1, DIM, x}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM + 1, DIM + 1, x}, OLTR_EFEATURE);
    refuse_query(p, &(oltr_query){5, NULL, DIM, DIM - 1, x}, OLTR_EFEATURE);
    assert_sound(p);
    oltr_policy_free(p);
}

/* In every place of a query whose item 0 has the bad row. */
static void features_that_are_no_numbers(void **state)
{
    const float bad[] = {(float)NAN, -(float)NAN, (float)INFINITY, -(float)INFINITY};
    oltr_policy *p = new_policy(*state);
    learn_many(p, 6, 30);
    for (size_t i = 0; i < COUNT(bad); i++)
        for (uint32_t at = 0; at < 9 * DIM; at += 1 + at / DIM) {
            float x[9 * DIM] = {0.25F, 0.5F};
            uint32_t item[9];
            x[at] = bad[i];
            for (uint32_t j = 0; j < 9; j++)
                item[j] = j == 0 ? at / DIM : j == at / DIM ? 0 : j;
            refuse_query(p, &(oltr_query){9, item, DIM, 0, x}, OLTR_EFEATURE);
        }
    assert_sound(p);
    oltr_policy_free(p);
}

/* ---- learning */

static void rounds_are_counted(void **state)
{
    oltr_policy *p = new_policy(*state);
    request r;
    assert_int_equal(oltr_policy_rounds(p), 0);
    whole_request(p, &r);
    r.n_examined = 0; /* a round of which nothing was seen */
    expect(learn_request(p, &r), OLTR_OK);
    assert_int_equal(oltr_policy_rounds(p), 1);
    learn_many(p, 1, 9);
    assert_int_equal(oltr_policy_rounds(p), 10);
    oltr_policy_free(p);
}

static void refuse(oltr_policy *p, const oltr_query *query, const oltr_ranking *shown,
                   const oltr_feedback *seen, oltr_status wanted)
{
    image before = image_of(p);
    expect(oltr_learn(p, query, shown, seen), wanted);
    assert_unchanged(p, before);
}

static void rewards_fit_the_policy(void **state)
{
    const variant *v = *state;
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0.5, 2, -1, 1e-300};
    oltr_policy *p = new_policy(v);
    request r;
    learn_many(p, 3, 20);
    whole_request(p, &r);
    oltr_ranking shown = {3, r.shown, NULL};
    oltr_feedback seen = {3, r.reward};
    for (size_t i = 0; i < COUNT(bad); i++)
        for (uint32_t slot = 0; slot < 3; slot++) {
            r.reward[slot] = bad[i];
            if (v->info->rewards == OLTR_CLICKS || i < 3)
                refuse(p, r.asked, &shown, &seen, OLTR_EREWARD);
            else
                expect(oltr_learn(p, r.asked, &shown, &seen), OLTR_OK);
            r.reward[slot] = 0;
        }
    r.reward[2] = (double)NAN; /* a slot that was not examined is not read */
    seen.n_examined = 2;
    expect(oltr_learn(p, r.asked, &shown, &seen), OLTR_OK);
    assert_sound(p);
    oltr_policy_free(p);
}

static void bad_lists_are_not_learned(void **state)
{
    oltr_policy *p = new_policy(*state);
    request r;
    learn_many(p, 4, 20);
    whole_request(p, &r);
    uint32_t twice[3] = {3, 1, 3}, beyond[3] = {0, 1, ITEMS}, longest[ITEMS + 1] = {0};
    oltr_feedback seen = {2, r.reward}, four = {4, r.reward}, blind = {1, NULL};
    oltr_ranking repeated = {3, twice, NULL}, outside = {3, beyond, NULL},
                 good = {3, r.shown, NULL}, none = {0, r.shown, NULL}, missing = {3, NULL, NULL},
                 more = {ITEMS + 1, longest, NULL};
    oltr_query two = r.query;
    two.n_items = 2;
    refuse(p, r.asked, &repeated, &seen, OLTR_EITEM);
    refuse(p, r.asked, &outside, &seen, OLTR_EITEM);
    refuse(p, r.asked, &good, &four, OLTR_EEXAMINED);
    refuse(p, r.asked, &none, &(oltr_feedback){0, NULL}, OLTR_ESLOTS);
    refuse(p, r.asked, &more, &seen, OLTR_ESLOTS);
    refuse(p, &two, &good, &seen, OLTR_ESLOTS);
    refuse(p, r.asked, NULL, &seen, OLTR_EINVAL);
    refuse(p, r.asked, &missing, &seen, OLTR_EINVAL);
    refuse(p, r.asked, &good, NULL, OLTR_EINVAL);
    refuse(p, r.asked, &good, &blind, OLTR_EINVAL);
    expect(oltr_learn(NULL, r.asked, &good, &seen), OLTR_EINVAL);
    assert_int_equal(oltr_policy_rounds(p), 20);
    oltr_policy_free(p);
}

/* An item that was no candidate is not learned from, in an examined slot or behind the last one,
 * with named candidates and with the first so many. */
static void items_that_were_no_candidates_are_refused(void **state)
{
    oltr_policy *p = new_policy(*state);
    dice d = {8};
    learn_many(p, 8, 30);
    for (int n = 0; n < 30; n++) {
        request r;
        do
            draw_request(&d, p, FROM_POOL, &r);
        while (r.query.n_items == ITEMS || r.k < 2);
        oltr_ranking shown = {r.k, r.shown, NULL};
        oltr_feedback all = {r.k, r.reward}, first = {1, r.reward};
        uint32_t *last = &r.shown[r.k - 1], good = *last;
        memset(r.reward, 0, r.k * sizeof *r.reward);
        for (*last = 0; is_candidate(r.asked, ITEMS, *last); ++*last)
            ;
        refuse(p, r.asked, &shown, &all, OLTR_EITEM);
        refuse(p, r.asked, &shown, &first, OLTR_EITEM);
        *last = r.shown[0];
        refuse(p, r.asked, &shown, &first, OLTR_EITEM);
        *last = ITEMS;
        refuse(p, r.asked, &shown, &first, OLTR_EITEM);
        *last = good;
        expect(oltr_learn(p, r.asked, &shown, &first), OLTR_OK);
    }
    assert_int_equal(oltr_policy_rounds(p), 60);
    assert_sound(p);
    oltr_policy_free(p);
}

static void the_state_stays_sound(void **state)
{
    const variant *v = *state;
    const uint32_t rounds = EFFORT == 1 ? 500 : v->at_bound || v->form ? 1000 : 2500;
    oltr_policy *p = new_policy(v);
    oltr_scratch *scratch = oltr_scratch_new(p);
    dice d = {21};
    request r;
    double score[ITEMS];
    for (uint64_t round = 0; round < rounds; round++) {
        draw_request(&d, p, round % 50 ? FROM_POOL : NEVER_AGAIN, &r);
        oltr_ranking list = {r.k, r.shown, score};
        if (round % 2 == 0) {
            expect(oltr_rank(p, r.asked, rng_of(round), scratch, &list), OLTR_OK);
            assert_valid_list(p, r.asked, r.k, r.shown, score);
        }
        draw_feedback(&d, v->info->rewards, &r);
        expect(learn_request(p, &r), OLTR_OK);
        if (round < 100 || round % 250 == 0)
            assert_sound(p);
    }
    assert_sound(p);
    assert_int_equal(oltr_policy_rounds(p), rounds);
    oltr_policy *copy = copy_of(p);
    assert_sound(copy);
    expect(oltr_check(NULL, NULL), OLTR_EINVAL);
    oltr_policy_free(copy);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* The largest rewards that are taken, of both signs and mixed with small ones. */
static void huge_rewards(void **state)
{
    static const double huge[] = {1e30, -1e30, 1, 1e-300, 1e30, 0, -1e15};
    oltr_policy *p = policy_of(*state, 7);
    request r;
    whole_request(p, &r);
    for (uint32_t round = 0; round < 70; round++) {
        for (uint32_t s = 0; s < 7; s++)
            r.reward[s] = huge[(s + round / 10) % 7];
        expect(learn_request(p, &r), OLTR_OK);
        assert_sound(p);
        rank_and_check(p, r.asked, round, 7);
        assert_numbers(p, r.asked, "huge rewards");
    }
    oltr_policy_free(copy_of(p));
    oltr_policy_free(p);
}

static bool takes_reals(const variant *v)
{
    return v->info->rewards == OLTR_REALS && !v->at_bound;
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_VARIANTS(&all, &variants, lists_are_valid);
    ON_VARIANTS(&all, &variants, any_number_of_items);
    ON_VARIANTS(&all, &variants, missing_arguments_of_rank);
    ON_SOME_VARIANTS(&all, &variants, rounds_differ, has_no_features);
    ON_VARIANTS(&all, &variants, reading_leaves_no_trace);
    ON_VARIANTS(&all, &variants, a_small_scratch_is_refused);
    ON_VARIANTS(&all, &variants, a_foreign_scratch_is_harmless);
    ON_VARIANTS(&all, &variants, a_scratch_survives_refusals);
    ON_VARIANTS(&all, &variants, bad_candidates_are_refused);
    ON_SOME_VARIANTS(&all, &variants, bad_features_are_refused, has_features);
    ON_SOME_VARIANTS(&all, &variants, features_that_are_no_numbers, has_features);
    ON_VARIANTS(&all, &variants, rounds_are_counted);
    ON_VARIANTS(&all, &variants, rewards_fit_the_policy);
    ON_VARIANTS(&all, &variants, bad_lists_are_not_learned);
    ON_VARIANTS(&all, &variants, items_that_were_no_candidates_are_refused);
    ON_VARIANTS(&all, &variants, the_state_stays_sound);
    ON_SOME_VARIANTS(&all, &variants, huge_rewards, takes_reals);
    return cmocka_run_group_tests_name("every policy ranks and learns", all.test, NULL, NULL);
}
