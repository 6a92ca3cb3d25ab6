/* policies.c - what every policy promises, whoever it is: one suite over the whole catalogue in all
 * its settings.
 *
 * A policy's own tests show that it is the algorithm of its paper.  This file shows that it is a
 * policy: that lists are lists, that a const policy stays as it was, that what was saved, merged or
 * faded is what the header says, and that bad input is refused by name and leaves no trace. Each
 * check runs on each variant of fixtures.h as a test of its own.
 */
#include "conform/format.h"
#include "conform/suite.h"

static variant_list variants;
static prior_arrays priors;
static unsigned char provoked[OLTR_STATUS_COUNT];

/* Remembers which status codes were seen, for the last test. */
static void expect(oltr_status got, oltr_status wanted)
{
    if (got != wanted)
        fail_msg("got %s, wanted %s", oltr_status_name(got), oltr_status_name(wanted));
    provoked[wanted] = 1;
}

/* A refused policy: NULL, the code, and a text. */
static void expect_refused(const oltr_settings *s, oltr_status wanted)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_policy_new(s, &error);
    assert_null(p);
    expect(error.code, wanted);
    assert_true(strlen(error.msg) > 10);
}

/* ---- lists */

static void rank_and_check(const oltr_policy *p, const oltr_query *query, uint64_t round,
                           uint32_t k)
{
    uint32_t item[MOST_ITEMS], again[MOST_ITEMS], n = oltr_policy_settings(p)->n_items;
    double score[MOST_ITEMS];
    expect(rank_at(p, query, round, k, item, score), OLTR_OK);
    assert_valid_list(query, n, k, item, score);
    expect(rank_at(p, query, round, k, again, NULL),
           OLTR_OK); /* same generator, same list; scores are optional */
    assert_memory_equal(item, again, k * sizeof *item);
}

static void lists_are_lists(void **state)
{
    static const uint32_t sizes[] = {1, 2, 7, 12, 40};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        oltr_policy *p = new_policy(*state, sizes[s]);
        for (uint32_t k = 1; k <= sizes[s]; k += 1 + k / 4) {
            rank_and_check(p, NULL, k, k);
            learn_many(p, k, 3);
        }
        rank_and_check(p, NULL, 99, sizes[s]);
        oltr_policy_free(p);
    }
}

static void any_number_of_items(void **state)
{
    static const uint32_t sizes[] = {3,  4,  5,  8,   9,   15,  16,  17,  31,  32,  33,
                                     63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 300};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        oltr_policy *p = new_policy(*state, sizes[s]);
        rank_and_check(p, NULL, 1, sizes[s]);
        learn_many(p, 1, 2);
        rank_and_check(p, NULL, 2, 1);
        rank_and_check(p, NULL, 3, sizes[s] / 2);
        rank_and_check(p, NULL, 4, sizes[s] - 1);
        rank_and_check(p, NULL, 5, sizes[s]);
        oltr_policy_free(p);
    }
}

static void slots_are_bounded(void **state)
{
    oltr_policy *p = new_policy(*state, 5);
    uint32_t item[8], some[3] = {4, 0, 2};
    oltr_query three = {3, NULL}, named = {3, some}, empty = {0, NULL};
    expect(rank_at(p, NULL, 1, 0, item, NULL), OLTR_ESLOTS);
    expect(rank_at(p, NULL, 1, 6, item, NULL), OLTR_ESLOTS);
    expect(rank_at(p, NULL, 1, UINT32_MAX, item, NULL), OLTR_ESLOTS);
    expect(rank_at(p, &three, 1, 4, item, NULL), OLTR_ESLOTS);
    expect(rank_at(p, &named, 1, 4, item, NULL), OLTR_ESLOTS);
    expect(rank_at(p, &empty, 1, 1, item, NULL), OLTR_ESLOTS);
    oltr_policy_free(p);
}

static void missing_arguments_of_rank(void **state)
{
    oltr_policy *p = new_policy(*state, 5);
    oltr_scratch *scratch = oltr_scratch_new(p);
    uint32_t item[2];
    oltr_rng rng = oltr_rng_make(1, 1);
    oltr_ranking out = {2, item, NULL}, nowhere = {2, NULL, NULL};
    expect(oltr_rank(NULL, NULL, rng, scratch, &out), OLTR_EINVAL);
    expect(oltr_rank(p, NULL, rng, NULL, &out), OLTR_EINVAL);
    expect(oltr_rank(p, NULL, rng, scratch, NULL), OLTR_EINVAL);
    expect(oltr_rank(p, NULL, rng, scratch, &nowhere), OLTR_EINVAL);
    assert_null(oltr_scratch_new(NULL));
    oltr_scratch_free(NULL);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    oltr_policy_free(NULL);
    assert_null(oltr_policy_settings(NULL));
    assert_int_equal(oltr_policy_rounds(NULL), 0);
}

static void subsets_are_respected(void **state)
{
    enum { N = 70 };
    oltr_policy *p = new_policy(*state, N);
    dice d = {11};
    uint32_t some[N];
    for (uint32_t round = 0; round < 60; round++) {
        oltr_query named = {1 + below(&d, N), some}, first = {1 + below(&d, N), NULL};
        draw_items(&d, N, named.n_items, some);
        rank_and_check(p, &named, round, 1 + below(&d, named.n_items));
        rank_and_check(p, &named, round, named.n_items);
        rank_and_check(p, &first, round, 1 + below(&d, first.n_items));
        learn_many(p, round, 1);
    }
    oltr_policy_free(p);
}

/* Learning from subsets keeps the state sound, and moves nothing but what was shown. */
static void subsets_are_learned_from(void **state)
{
    enum { N = 20 };
    const variant *v = *state;
    oltr_policy *p = new_policy(v, N);
    dice d = {12};
    uint32_t some[N];
    for (uint32_t round = 0; round < 200; round++) {
        oltr_query query = {2 + below(&d, N - 1), some};
        event e;
        draw_items(&d, N, query.n_items, some);
        e.k = 1 + below(&d, query.n_items);
        expect(rank_at(p, &query, round, e.k, e.item, NULL), OLTR_OK);
        draw_feedback(&d, v->info->rewards, &e);
        oltr_ranking shown = {e.k, e.item, NULL};
        oltr_feedback seen = {e.n_examined, e.reward};
        expect(oltr_learn(p, &query, &shown, &seen), OLTR_OK);
        assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    }
    assert_int_equal(oltr_policy_rounds(p), 200);
    oltr_policy_free(p);
}

static void bad_candidates_are_refused(void **state)
{
    oltr_policy *p = new_policy(*state, 5);
    uint32_t item[8], twice[3] = {1, 2, 1}, beyond[3] = {0, 5, 1}, far[2] = {0, UINT32_MAX},
                      many[6] = {0, 1, 2, 3, 4, 0};
    oltr_query repeated = {3, twice}, outside = {3, beyond}, off = {2, far}, more = {6, NULL},
               longer = {6, many};
    expect(rank_at(p, &repeated, 1, 1, item, NULL), OLTR_EITEM);
    expect(rank_at(p, &outside, 1, 1, item, NULL), OLTR_EITEM);
    expect(rank_at(p, &off, 1, 1, item, NULL), OLTR_EITEM);
    expect(rank_at(p, &more, 1, 1, item, NULL), OLTR_EITEM);
    expect(rank_at(p, &longer, 1, 1, item, NULL), OLTR_EITEM);
    oltr_policy_free(p);
}

/* A refused query must not spoil the scratch for the next one. */
static void a_scratch_survives_refusals(void **state)
{
    oltr_policy *p = new_policy(*state, 5);
    oltr_scratch *scratch = oltr_scratch_new(p);
    uint32_t item[5], wanted[5], twice[2] = {1, 1}, some[2] = {1, 3};
    oltr_query bad = {2, twice}, good = {2, some};
    oltr_ranking out = {2, item, NULL};
    oltr_rng rng = oltr_rng_at(oltr_rng_make(7, 3), 0, 4);
    expect(rank_at(p, &good, 4, 2, wanted, NULL), OLTR_OK);
    for (int i = 0; i < 10; i++) {
        expect(oltr_rank(p, &bad, rng, scratch, &out), OLTR_EITEM);
        expect(oltr_rank(p, &good, rng, scratch, &out), OLTR_OK);
        assert_memory_equal(item, wanted, 2 * sizeof *item);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* Everything is a draw at first, except the fixed list of a prior. */
static void rounds_differ(void **state)
{
    enum { N = 40 };
    const variant *v = *state;
    oltr_policy *p = new_policy(v, N);
    uint32_t x[N], y[N];
    int differ = 0;
    rank_at(p, NULL, 0, N, x, NULL);
    for (uint64_t round = 1; round < 4; round++) {
        rank_at(p, NULL, round, N, y, NULL);
        differ += memcmp(x, y, sizeof x) != 0;
    }
    int fixed = v->info->rewards == OLTR_REALS && !v->info->can_predict && takes_prior(v);
    assert_int_equal(differ, fixed ? 0 : 3);
    oltr_policy_free(p);
}

static void reading_leaves_no_trace(void **state)
{
    enum { N = 30 };
    oltr_policy *p = new_policy(*state, N);
    uint32_t item[N];
    double mean[N], sd[N];
    learn_many(p, 5, 40);
    image before = image_of(p);
    for (uint64_t round = 0; round < 20; round++)
        expect(rank_at(p, NULL, round, N, item, NULL), OLTR_OK);
    oltr_predict(p, NULL, mean, sd);
    oltr_check(p, NULL);
    image after = image_of(p);
    assert_true(same_image(before, after));
    assert_int_equal(oltr_policy_rounds(p), 40);
    free(before.byte);
    free(after.byte);
    oltr_policy_free(p);
}

static void a_small_scratch_is_refused(void **state)
{
    oltr_policy *small = new_policy(*state, 4), *large = new_policy(*state, 300);
    oltr_scratch *tight = oltr_scratch_new(small), *wide = oltr_scratch_new(large);
    uint32_t item[4], wanted[4];
    oltr_ranking out = {4, item, NULL};
    oltr_rng rng = oltr_rng_at(oltr_rng_make(7, 3), 0, 1);
    expect(oltr_rank(large, NULL, rng, tight, &out), OLTR_ESCRATCH);
    expect(oltr_rank(small, NULL, rng, wide, &out), OLTR_OK); /* a larger one will do */
    expect(rank_at(small, NULL, 1, 4, wanted, NULL), OLTR_OK);
    assert_memory_equal(item, wanted, sizeof item);
    oltr_scratch_free(tight);
    oltr_scratch_free(wide);
    oltr_policy_free(small);
    oltr_policy_free(large);
}

/* The scratch of any other kind is refused, or good enough for the same list. */
static void a_foreign_scratch_is_harmless(void **state)
{
    enum { N = 50 };
    oltr_policy *p = new_policy(*state, N);
    uint32_t item[N], wanted[N];
    oltr_ranking out = {N, item, NULL};
    expect(rank_at(p, NULL, 1, N, wanted, NULL), OLTR_OK);
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        variant other = plain_variant(oltr_policy_info_at(i));
        if (other.info->contextual)
            continue;
        oltr_policy *q = new_policy(&other, N);
        oltr_scratch *scratch = oltr_scratch_new(q);
        oltr_status status =
            oltr_rank(p, NULL, oltr_rng_at(oltr_rng_make(7, 3), 0, 1), scratch, &out);
        assert_true(status == OLTR_OK || status == OLTR_ESCRATCH);
        if (status == OLTR_OK)
            assert_memory_equal(item, wanted, sizeof item);
        oltr_scratch_free(scratch);
        oltr_policy_free(q);
    }
    oltr_policy_free(p);
}

/* ---- learning */

static void rounds_are_counted(void **state)
{
    oltr_policy *p = new_policy(*state, 6);
    uint32_t item[2] = {3, 1};
    oltr_ranking shown = {2, item, NULL};
    oltr_feedback nothing = {0, NULL};
    assert_int_equal(oltr_policy_rounds(p), 0);
    expect(oltr_learn(p, NULL, &shown, &nothing),
           OLTR_OK); /* nobody looked: a round all the same */
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
    image after = image_of(p);
    assert_true(same_image(before, after));
    free(before.byte);
    free(after.byte);
}

static void bad_rewards_are_refused(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 6);
    uint32_t item[3] = {3, 1, 5};
    oltr_ranking shown = {3, item, NULL};
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0.5, 2, -1, 1e-300};
    size_t n = v->info->rewards == OLTR_CLICKS ? sizeof bad / sizeof *bad : 3;
    learn_many(p, 3, 20);
    for (size_t i = 0; i < n; i++)
        for (uint32_t slot = 0; slot < 3; slot++) {
            double reward[3] = {0, 0, 0};
            oltr_feedback seen = {3, reward};
            reward[slot] = bad[i];
            refuse(p, NULL, &shown, &seen, OLTR_EREWARD);
        }
    double unread[3] = {0, 1, (double)NAN}; /* what was not examined is not read */
    oltr_feedback two = {2, unread};
    expect(oltr_learn(p, NULL, &shown, &two), OLTR_OK);
    oltr_policy_free(p);
}

static void bad_lists_are_not_learned(void **state)
{
    oltr_policy *p = new_policy(*state, 6);
    uint32_t twice[3] = {3, 1, 3}, beyond[3] = {0, 1, 6}, fine[7] = {3, 1, 5, 0, 2, 4, 4},
             some[2] = {3, 1}, same[2] = {3, 3};
    double reward[7] = {0, 0, 0, 0, 0, 0, 0};
    oltr_feedback seen = {2, reward}, four = {4, reward}, blind = {1, NULL};
    oltr_ranking repeated = {3, twice, NULL}, outside = {3, beyond, NULL}, good = {3, fine, NULL},
                 none = {0, fine, NULL};
    oltr_ranking missing = {3, NULL, NULL}, seven = {7, fine, NULL};
    oltr_query two = {2, some}, more = {7, NULL}, doubled = {2, same};
    learn_many(p, 4, 20);
    refuse(p, NULL, &repeated, &seen, OLTR_EITEM);
    refuse(p, NULL, &outside, &seen, OLTR_EITEM);
    refuse(p, &doubled, &(oltr_ranking){1, fine, NULL}, &(oltr_feedback){1, reward}, OLTR_EITEM);
    refuse(p, &more, &good, &seen, OLTR_EITEM);
    refuse(p, NULL, &good, &four, OLTR_EEXAMINED);
    refuse(p, NULL, &none, &(oltr_feedback){0, NULL}, OLTR_ESLOTS);
    refuse(p, NULL, &seven, &seen, OLTR_ESLOTS);
    refuse(p, &two, &good, &seen, OLTR_ESLOTS);
    refuse(p, NULL, NULL, &seen, OLTR_EINVAL);
    refuse(p, NULL, &missing, &seen, OLTR_EINVAL);
    refuse(p, NULL, &good, NULL, OLTR_EINVAL);
    refuse(p, NULL, &good, &blind, OLTR_EINVAL);
    expect(oltr_learn(NULL, NULL, &good, &seen), OLTR_EINVAL);
    assert_int_equal(oltr_policy_rounds(p), 20);
    oltr_policy_free(p);
}

/* An item that was no candidate is not learned from, whether the candidates are named or the first
 * so many. */
static void strangers_in_a_list_are_refused(void **state)
{
    oltr_policy *p = new_policy(*state, 6);
    uint32_t outside[2] = {1, 5}, inside[2] = {2, 1}, some[3] = {2, 1, 0};
    double reward[2] = {0, 1};
    oltr_ranking bad = {2, outside, NULL}, good = {2, inside, NULL};
    oltr_feedback seen = {2, reward}, first_only = {1, reward};
    oltr_query named = {3, some}, first = {3, NULL};
    learn_many(p, 4, 20);
    for (uint64_t i = 0; i < 20; i++) {
        refuse(p, i % 2 ? &named : &first, &bad, &seen, OLTR_EITEM);
        refuse(p, i % 2 ? &named : &first, &bad, &first_only, OLTR_EITEM); /* examined or not */
        expect(oltr_learn(p, i % 2 ? &first : &named, &good, &seen), OLTR_OK);
        assert_int_equal(oltr_policy_rounds(p), 21 + i);
    }
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    oltr_policy_free(p);
}

static void the_state_stays_sound(void **state)
{
    enum { N = 20, ROUNDS = 3000 };
    const variant *v = *state;
    oltr_policy *p = new_policy(v, N);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_error error = {OLTR_OK, ""};
    dice d = {21};
    for (uint64_t round = 0; round < ROUNDS; round++) {
        event e = {.k = 1 + below(&d, N)};
        double score[N];
        oltr_ranking shown = {e.k, e.item, score};
        expect(oltr_rank(p, NULL, oltr_rng_at(oltr_rng_make(1, 2), 0, round), scratch, &shown),
               OLTR_OK);
        assert_valid_list(NULL, N, e.k, e.item, score);
        draw_feedback(&d, v->info->rewards, &e);
        expect(learn_event(p, &e), OLTR_OK);
    }
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    expect(oltr_check(NULL, &error), OLTR_EINVAL);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* ---- saving, merging, fading */

static void a_copy_goes_on_alike(void **state)
{
    oltr_policy *p = new_policy(*state, 12);
    for (uint64_t part = 0; part < 6; part++) {
        oltr_policy *copy = copy_of(p);
        assert_true(same_state(p, copy));
        assert_int_equal(oltr_policy_rounds(p), oltr_policy_rounds(copy));
        assert_int_equal(oltr_check(copy, NULL), OLTR_OK);
        assert_same_lists(p, copy);
        learn_many(p, part, 30);
        learn_many(copy, part, 30);
        assert_true(same_state(p, copy));
        assert_same_lists(p, copy);
        oltr_policy_free(copy);
    }
    oltr_policy_free(p);
}

static void a_copy_has_the_same_settings(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 9), *copy = copy_of(p);
    const oltr_settings *s = oltr_policy_settings(copy);
    assert_ptr_equal(s->info, v->info);
    assert_int_equal(s->n_items, 9);
    assert_memory_equal(s->value, oltr_policy_settings(p)->value, sizeof s->value);
    oltr_prior prior = s->prior, wanted = prior_of(&priors, v->form);
    assert_int_equal(prior.a != NULL, wanted.a != NULL);
    assert_int_equal(prior.mean != NULL, wanted.mean != NULL);
    if (prior.a) {
        assert_memory_equal(prior.a, wanted.a, 9 * sizeof(double));
        assert_memory_equal(prior.b, wanted.b, 9 * sizeof(double));
    }
    if (prior.mean) {
        assert_memory_equal(prior.mean, wanted.mean, 9 * sizeof(double));
        assert_memory_equal(prior.sd, wanted.sd, 9 * sizeof(double));
    }
    oltr_policy_free(copy);
    oltr_policy_free(p);
}

static void assert_same_belief(const oltr_policy *p, const oltr_policy *q)
{
    double m[2][MOST_ITEMS], s[2][MOST_ITEMS];
    uint32_t n = oltr_policy_settings(p)->n_items;
    if (!oltr_policy_settings(p)->info->can_predict)
        return;
    assert_int_equal(oltr_predict(p, NULL, m[0], s[0]), OLTR_OK);
    assert_int_equal(oltr_predict(q, NULL, m[1], s[1]), OLTR_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(fabs(m[0][i] - m[1][i]) <= 1e-12 * fabs(m[0][i]));
        assert_true(fabs(s[0][i] - s[1][i]) <= 1e-12 * s[0][i]);
    }
}

static void merging_is_learning_both(void **state)
{
    const variant *v = *state;
    oltr_policy *one = new_policy(v, 12), *other = new_policy(v, 12), *both = new_policy(v, 12);
    learn_many(one, 1, 150);
    learn_many(other, 2, 250);
    image kept = image_of(other);
    if (!v->info->can_merge) {
        image before = image_of(one);
        expect(oltr_merge(one, other), OLTR_EUNSUPPORTED);
        image after = image_of(one);
        assert_true(same_image(before, after));
        free(before.byte);
        free(after.byte);
    } else {
        learn_many(both, 1, 150);
        learn_many(both, 2, 250);
        expect(oltr_merge(one, other), OLTR_OK);
        assert_true(same_state(one, both));
        assert_int_equal(oltr_policy_rounds(one), 400);
        assert_int_equal(oltr_check(one, NULL), OLTR_OK);
        assert_same_lists(one, both);
        assert_same_belief(one, both);
        learn_many(one, 3, 20);
        learn_many(both, 3, 20);
        assert_true(same_state(one, both));
    }
    image still = image_of(other);
    assert_true(same_image(kept, still));
    free(kept.byte);
    free(still.byte);
    oltr_policy_free(one);
    oltr_policy_free(other);
    oltr_policy_free(both);
}

/* Refused, by name, with both untouched. */
static void refuse_merge(oltr_policy *into, const oltr_policy *from)
{
    image before = image_of(into);
    int can = oltr_policy_settings(into)->info->can_merge;
    oltr_status status = oltr_merge(into, from);
    assert_true(status == OLTR_EMISMATCH || (!can && status == OLTR_EUNSUPPORTED));
    provoked[status] = 1;
    image after = image_of(into);
    assert_true(same_image(before, after));
    free(before.byte);
    free(after.byte);
}

static void refuse_merge_of(oltr_policy *p, const oltr_settings *s)
{
    oltr_policy *q = oltr_policy_new(s, NULL);
    if (!q)
        return; /* such a policy does not exist */
    learn_many(q, 5, 3);
    refuse_merge(p, q);
    oltr_policy_free(q);
}

static void strangers_do_not_merge(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 12);
    learn_many(p, 1, 10);
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        variant other = plain_variant(oltr_policy_info_at(i));
        if (other.info == v->info || other.info->contextual)
            continue;
        oltr_policy *q = new_policy(&other, 12);
        refuse_merge(p, q);
        oltr_policy_free(q);
    }
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        oltr_settings s = settings_of(v, 12, &priors);
        s.value[i] =
            s.value[i] > s.info->params[i].min ? s.info->params[i].min : s.info->params[i].max;
        refuse_merge_of(p, &s);
    }
    oltr_settings more = settings_of(v, 13, &priors);
    refuse_merge_of(p, &more);
    expect(oltr_merge(p, NULL), OLTR_EINVAL);
    expect(oltr_merge(NULL, p), OLTR_EINVAL);
    oltr_policy_free(p);
}

static void other_priors_do_not_merge(void **state)
{
    const variant *v = *state;
    prior_arrays moved = priors;
    oltr_policy *p = new_policy(v, 12);
    learn_many(p, 1, 10);
    for (int form = NO_PRIOR; form <= MOMENTS; form++) {
        variant w = *v;
        w.form = (prior_form)form;
        oltr_settings s = settings_of(&w, 12, &moved);
        if (w.form != v->form) { /* another form, or none where there was one */
            refuse_merge_of(p, &s);
        } else if (w.form != NO_PRIOR) { /* the same form, another number at the very end */
            moved.b[11] += 1;
            moved.sd[11] *= 1.0001;
            refuse_merge_of(p, &s);
        }
    }
    oltr_policy_free(p);
}

/* What would be counted twice while it is read is refused. */
static void merging_with_oneself(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 12);
    learn_many(p, 1, 60);
    image before = image_of(p);
    expect(oltr_merge(p, p), OLTR_EINVAL);
    image after = image_of(p);
    assert_true(same_image(before, after));
    free(before.byte);
    free(after.byte);
    oltr_policy_free(p);
}

static void assert_alive(const oltr_policy *old)
{
    oltr_policy *p = copy_of(old);
    double mean[16], sd[16];
    for (uint64_t round = 0; round < 3; round++) {
        rank_and_check(p, NULL, round, 16);
        assert_int_equal(oltr_check(p, NULL), OLTR_OK);
        learn_many(p, round, 1);
    }
    if (oltr_policy_settings(p)->info->can_predict) {
        assert_int_equal(oltr_predict(p, NULL, mean, sd), OLTR_OK);
        for (int i = 0; i < 16; i++)
            assert_true(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0);
    }
    oltr_policy_free(p);
}

/* Doubling brings a clock to 2^47 rounds in no time; lists and beliefs must still be lists and
 * beliefs. */
static void a_long_life(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 16);
    learn_many(p, 9, 1024);
    assert_alive(p);
    for (int doubling = 1; doubling <= 37 && v->info->can_merge; doubling++) {
        oltr_policy *copy = copy_of(p);
        expect(oltr_merge(p, copy), OLTR_OK);
        oltr_policy_free(copy);
        assert_int_equal(oltr_policy_rounds(p), (uint64_t)1024 << doubling);
        assert_alive(p);
    }
    oltr_policy_free(p);
}

/* Every sum of `y` is `keep` times that of `x`. */
static void assert_faded(const image *x, const image *y, double keep)
{
    anatomy a = dissect(x->byte, x->size), b = dissect(y->byte, y->size);
    assert_int_equal(a.sums, b.sums);
    for (uint32_t i = 0; i < a.sums; i++)
        for (size_t j = 0; j < a.sum[i].n; j++) {
            double was = number_at(x->byte + a.sum[i].value + 8 * j),
                   is = number_at(y->byte + b.sum[i].value + 8 * j);
            assert_true(is >= was * keep && is <= was * keep);
        }
}

static void fading_scales_every_sum(void **state)
{
    const variant *v = *state;
    static const double keeps[] = {1, 0.5, 0.25, 0};
    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
        oltr_policy *p = new_policy(v, 12);
        learn_many(p, 1, 200);
        image before = image_of(p);
        expect(oltr_forget(p, keeps[i]), v->info->can_forget ? OLTR_OK : OLTR_EUNSUPPORTED);
        image after = image_of(p);
        if (v->info->can_forget)
            assert_faded(&before, &after, keeps[i]);
        if (i == 0 || !v->info->can_forget)
            assert_true(same_image(before, after));
        assert_int_equal(oltr_check(p, NULL), OLTR_OK);
        oltr_policy *copy = copy_of(p);
        assert_same_lists(p, copy);
        learn_many(p, 2, 50);
        learn_many(copy, 2, 50);
        assert_int_equal(oltr_check(p, NULL), OLTR_OK);
        assert_true(same_state(p, copy));
        rank_and_check(p, NULL, 1, 12);
        free(before.byte);
        free(after.byte);
        oltr_policy_free(copy);
        oltr_policy_free(p);
    }
}

static void forgetting_all_is_a_new_start(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 12), *fresh = new_policy(v, 12);
    learn_many(p, 1, 100);
    if (v->info->can_forget) {
        expect(oltr_forget(p, 0), OLTR_OK);
        assert_same_belief(fresh, p);
    }
    oltr_policy_free(p);
    oltr_policy_free(fresh);
}

static void bad_fading_is_refused(void **state)
{
    const double bad[] = {-0.1, 1.0000001, 2, (double)NAN, (double)INFINITY, -(double)INFINITY};
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 12);
    learn_many(p, 1, 20);
    image before = image_of(p);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        oltr_status status = oltr_forget(p, bad[i]);
        assert_true(status == OLTR_EINVAL || (!v->info->can_forget && status == OLTR_EUNSUPPORTED));
    }
    expect(oltr_forget(NULL, 0.5), OLTR_EINVAL);
    image after = image_of(p);
    assert_true(same_image(before, after));
    free(before.byte);
    free(after.byte);
    oltr_policy_free(p);
}

/* ---- predicting */

static void assert_good_predictions(const oltr_policy *p)
{
    enum { N = 30 };
    double mean[N], sd[N], alone[N], some_mean[3], some_sd[3];
    uint32_t some[3] = {29, 0, 7};
    oltr_query three = {3, some}, first = {2, NULL};
    expect(oltr_predict(p, NULL, mean, sd), OLTR_OK);
    for (uint32_t i = 0; i < N; i++)
        assert_true(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0);
    expect(oltr_predict(p, NULL, alone, NULL), OLTR_OK);
    assert_memory_equal(mean, alone, sizeof mean);
    expect(oltr_predict(p, &three, some_mean, some_sd), OLTR_OK);
    for (uint32_t j = 0; j < 3; j++) {
        assert_memory_equal(&some_mean[j], &mean[some[j]], sizeof *mean);
        assert_memory_equal(&some_sd[j], &sd[some[j]], sizeof *sd);
    }
    expect(oltr_predict(p, &first, some_mean, some_sd), OLTR_OK);
    assert_memory_equal(some_mean, mean, 2 * sizeof *mean);
}

static void predictions_are_numbers(void **state)
{
    const variant *v = *state;
    oltr_policy *p = new_policy(v, 30);
    double mean[32], sd[32];
    uint32_t beyond[2] = {0, 30};
    oltr_query outside = {2, beyond}, more = {31, NULL};
    if (!v->info->can_predict) {
        expect(oltr_predict(p, NULL, mean, sd), OLTR_EUNSUPPORTED);
    } else {
        for (uint64_t part = 0; part < 4; part++) {
            assert_good_predictions(p);
            learn_many(p, part, 50);
        }
        expect(oltr_predict(p, &outside, mean, sd), OLTR_EITEM);
        expect(oltr_predict(p, &more, mean, sd), OLTR_EITEM);
    }
    expect(oltr_predict(NULL, NULL, mean, sd), OLTR_EINVAL);
    expect(oltr_predict(p, NULL, NULL, sd), OLTR_EINVAL);
    oltr_policy_free(p);
}

/* The largest rewards that are taken, of both signs and mixed with small ones. */
static void huge_rewards(void **state)
{
    const variant *v = *state;
    static const double huge[] = {1e30, -1e30, 1, 1e-300, 1e30, 0, -1e15};
    oltr_policy *p = new_policy(v, 7);
    double mean[7], sd[7];
    if (v->info->rewards == OLTR_REALS)
        for (uint32_t round = 0; round < 70; round++) {
            event e = {.k = 7, .n_examined = 7};
            for (uint32_t s = 0; s < 7; s++) {
                e.item[s] = s;
                e.reward[s] = huge[(s + round / 10) % 7];
            }
            expect(learn_event(p, &e), OLTR_OK);
            assert_int_equal(oltr_check(p, NULL), OLTR_OK);
            rank_and_check(p, NULL, round, 7);
            for (uint32_t i = 0; v->info->can_predict && i < 7; i++) {
                assert_int_equal(oltr_predict(p, NULL, mean, sd), OLTR_OK);
                assert_true(isfinite(mean[i]) && isfinite(sd[i]) && sd[i] >= 0);
            }
        }
    oltr_policy_free(copy_of(p));
    oltr_policy_free(p);
}

/* ---- memory of the caller */

static void the_callers_memory_will_do(void **state)
{
    const variant *v = *state;
    oltr_settings s = settings_of(v, 12, &priors);
    size_t bytes = oltr_policy_bytes(&s, NULL);
    assert_true(bytes > 0);
    unsigned char *room = aligned_alloc(64, (bytes + 191) / 64 * 64);
    memset(room, 0xA5, bytes + 64);
    oltr_policy *placed = oltr_policy_place(room, bytes, &s, NULL), *made = new_policy(v, 12);
    assert_non_null(placed);
    learn_many(placed, 1, 100);
    learn_many(made, 1, 100);
    assert_true(same_state(placed, made));
    assert_same_lists(placed, made);
    for (size_t i = bytes; i < bytes + 64; i++)
        assert_int_equal(room[i], 0xA5);
    free(room);
    oltr_policy_free(made);
}

static void bad_memory_is_refused(void **state)
{
    const variant *v = *state;
    oltr_settings s = settings_of(v, 12, &priors);
    size_t bytes = oltr_policy_bytes(&s, NULL);
    unsigned char *room = aligned_alloc(64, (bytes + 191) / 64 * 64);
    static const size_t shifts[] = {1, 8, 16, 32};
    oltr_error error = {OLTR_OK, ""};
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        assert_null(oltr_policy_place(room + shifts[i], bytes, &s, &error));
        expect(error.code, OLTR_EINVAL);
        assert_non_null(strstr(error.msg, "64"));
    }
    assert_null(oltr_policy_place(room, bytes - 1, &s, &error));
    expect(error.code, OLTR_EINVAL);
    assert_null(oltr_policy_place(room, 0, &s, NULL));
    assert_null(oltr_policy_place(NULL, bytes, &s, NULL));
    assert_null(oltr_policy_place(room, bytes, NULL, NULL));
    free(room);
}

/* ---- settings by hand, and bad priors */

static void settings_by_hand_are_checked(void **state)
{
    const variant *v = *state;
    oltr_settings good = settings_of(v, 12, &priors), s = good;
    s.n_items = 0;
    expect_refused(&s, OLTR_EITEM);
    s = good;
    s.info = NULL;
    expect_refused(&s, OLTR_EINVAL);
    oltr_policy_info stranger = *v->info;
    s.info = &stranger;
    expect_refused(&s, OLTR_EINVAL);
    expect_refused(NULL, OLTR_EINVAL);
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        const oltr_param *p = &v->info->params[i];
        const double bad[] = {p->max + fabs(p->max) + 1, p->min - fabs(p->min) - 1, (double)NAN,
                              (double)INFINITY};
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
            s = good;
            s.value[i] = bad[j];
            expect_refused(&s, OLTR_EVALUE);
        }
    }
}

/* Half a choice is none: a policy made with it could be saved, but its snapshot would be
 * refused. */
static void whole_numbers_are_whole(void **state)
{
    const variant *v = *state;
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        oltr_settings s = settings_of(v, 12, &priors);
        if (v->info->params[i].type == OLTR_REAL)
            continue;
        s.value[i] = v->info->params[i].min + 0.5;
        expect_refused(&s, OLTR_EVALUE);
    }
}

static void a_missing_prior_is_refused(void **state)
{
    const variant *v = *state;
    oltr_settings s = settings_of(v, 12, &priors);
    s.prior = (oltr_prior){NULL, NULL, NULL, NULL};
    if (takes_prior(v))
        expect_refused(&s, OLTR_EPRIOR);
    oltr_prior halves[] = {{.a = priors.a},
                           {.b = priors.b},
                           {.mean = priors.mean},
                           {.sd = priors.sd},
                           {.a = priors.a, .sd = priors.sd},
                           {.a = priors.a, .b = priors.b, .mean = priors.mean},
                           {priors.a, priors.b, priors.mean, priors.sd}};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        s.prior = halves[i];
        expect_refused(&s, OLTR_EPRIOR);
    }
}

static void bad_priors_are_refused(void **state)
{
    const variant *v = *state;
    const double never[] = {0, -1, (double)NAN, (double)INFINITY, -(double)INFINITY};
    prior_arrays own = priors;
    oltr_settings s = settings_of(v, 12, &own);
    double *places[] = {&own.a[11], &own.b[0], &own.sd[11], &own.mean[5]};
    for (size_t place = 0; place < 4; place++)
        for (size_t i = place == 3 ? 2 : 0; i < sizeof never / sizeof *never; i++) {
            own = priors;
            *places[place] = never[i];
            s.prior = prior_of(&own, place < 2 ? SHAPES : MOMENTS);
            expect_refused(&s, OLTR_EPRIOR);
        }
}

/* All that is asked of a policy, with words about the prior when it fails. */
static void assert_usable(oltr_policy *p, double first, double second)
{
    enum { N = 8 };
    clock_t begun = clock();
    uint32_t item[N];
    double score[N], mean[N] = {0}, sd[N] = {0};
    for (uint64_t round = 0; round < 4; round++) {
        assert_int_equal(rank_at(p, NULL, round, N, item, score), OLTR_OK);
        oltr_predict(p, NULL, mean, sd);
        for (uint32_t i = 0; i < N; i++)
            if (item[i] >= N || !(i ? score[i] <= score[i - 1] : score[i] >= score[i]) ||
                !isfinite(mean[i]) || !isfinite(sd[i]) || sd[i] < 0)
                fail_msg("prior (%g, %g): slot %u has item %u of %d, score %g; item %u has mean "
                         "%g, sd %g",
                         first, second, i, item[i], N, score[i], i, mean[i], sd[i]);
        assert_valid_list(NULL, N, N, item, score);
        learn_many(p, round, 2);
        assert_swift(begun, "a few rounds with an extreme prior");
    }
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    oltr_policy_free(copy_of(p));
}

/* A prior at the ends of the doubles is refused by name, or it makes a policy like any other. */
static void extreme_priors_are_usable_or_refused(void **state)
{
    const variant *v = *state;
    static const double extreme[] = {1e-300, 1e-30, 1e-6, 1e6, 1e30, 1e300};
    for (size_t i = 0; i < 36 && takes_prior(v); i++) {
        double first = extreme[i / 6], second = extreme[i % 6];
        prior_arrays own = priors;
        oltr_error error = {OLTR_OK, ""};
        own.a[3] = own.mean[3] = first;
        own.b[3] = own.sd[3] = second;
        oltr_settings s = settings_of(v, 8, &own);
        oltr_policy *p = oltr_policy_new(&s, &error);
        if (p)
            assert_usable(p, first, second);
        else
            expect(error.code, OLTR_EPRIOR);
        oltr_policy_free(p);
    }
}

/* The prior is copied: what the caller does with the arrays afterwards is the caller's business. */
static void the_prior_is_copied(void **state)
{
    const variant *v = *state;
    prior_arrays own = priors;
    oltr_settings s = settings_of(v, 12, &own);
    oltr_policy *p = oltr_policy_new(&s, NULL), *q = new_policy(v, 12);
    memset(&own, 0xFF, sizeof own);
    learn_many(p, 1, 30);
    learn_many(q, 1, 30);
    assert_true(same_state(p, q));
    assert_same_lists(p, q);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- the catalogue and settings as text: one test a kind */

static void the_entry_is_complete(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_error error;
    assert_true(strlen(info->name) && strlen(info->title) && strlen(info->source) &&
                strlen(info->summary));
    assert_ptr_equal(oltr_policy_info_by_name(info->name, &error), info);
    assert_true(info->n_params <= OLTR_MAX_PARAMS);
    assert_int_equal(info->uses_prior != 0, param_index(info, "prior") < info->n_params);
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *p = &info->params[i];
        assert_true(strlen(p->name) && strlen(p->help) && p->min <= p->initial &&
                    p->initial <= p->max);
        assert_int_equal(param_index(info, p->name), i);
        assert_int_equal(p->choices != NULL, p->type == OLTR_CHOICE);
        for (uint32_t c = 0; p->choices && c <= (uint32_t)p->max; c++)
            assert_true(strlen(p->choices[c]));
        if (p->choices)
            assert_null(p->choices[(uint32_t)p->max + 1]);
    }
}

/* The name with its last letter doubled, or cut off. */
static void misspell(const char *name, int cut, char out[64])
{
    size_t n = strlen(name);
    snprintf(out, 64, "%s", name);
    if (cut && n > 2)
        out[n - 1] = 0;
    else
        out[n] = name[n - 1], out[n + 1] = 0;
}

static void typos_are_understood(void **state)
{
    const oltr_policy_info *info = *state;
    char typo[64], hint[80];
    oltr_settings s;
    oltr_error error;
    for (int cut = 0; cut < 2; cut++) {
        misspell(info->name, cut, typo);
        snprintf(hint, sizeof hint, "did you mean '%s",
                 cut ? "" : info->name); /* cut off, it may be near two */
        expect(oltr_settings_init(&s, typo, 5, &error), OLTR_EKIND);
        assert_non_null(strstr(error.msg, hint));
        assert_null(oltr_policy_info_by_name(typo, &error));
        expect(oltr_settings_init(&s, info->name, 5, &error), OLTR_OK);
        for (uint32_t i = 0; i < info->n_params; i++) {
            misspell(info->params[i].name, cut, typo);
            if (strlen(info->params[i].name) < 3 || param_index(info, typo) < info->n_params)
                continue;
            snprintf(hint, sizeof hint, "did you mean '%s'", info->params[i].name);
            expect(oltr_settings_set(&s, typo, "1", &error), OLTR_EPARAM);
            assert_int_equal(error.code, OLTR_EPARAM);
            assert_non_null(strstr(error.msg, hint));
        }
    }
    expect(oltr_settings_set(&s, "zzqqxxkkvv", "1", &error), OLTR_EPARAM);
    assert_null(strstr(error.msg, "did you mean"));
    assert_non_null(strstr(error.msg, info->name));
    expect(oltr_settings_set(&s, "", "1", &error), OLTR_EPARAM);
}

static void set_and_refuse(oltr_settings *s, const char *name, const char *text)
{
    oltr_settings before = *s;
    oltr_error error = {OLTR_OK, ""};
    expect(oltr_settings_set(s, name, text, &error), OLTR_EVALUE);
    assert_int_equal(error.code, OLTR_EVALUE);
    assert_non_null(strstr(error.msg, name));
    assert_memory_equal(s, &before, sizeof before);
    expect(oltr_settings_set(s, name, text, NULL), OLTR_EVALUE);
}

static void bad_values_are_refused(void **state)
{
    const oltr_policy_info *info = *state;
    static const char *const nonsense[] = {"",     "x",    "1x",    "nan", "inf",
                                           "-inf", "1 2",  "1e999", "0x",  "none?",
                                           "1,5",  "true", "--1",   " ",   "1..2"};
    oltr_settings s;
    char text[64];
    oltr_settings_init(&s, info->name, 5, NULL);
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *p = &info->params[i];
        for (size_t j = 0; j < sizeof nonsense / sizeof *nonsense; j++)
            set_and_refuse(&s, p->name, nonsense[j]);
        if (p->type == OLTR_CHOICE) {
            set_and_refuse(&s, p->name, "0"); /* by name, not by number */
            continue;
        }
        snprintf(text, sizeof text, "%.17g", p->max + fabs(p->max) * 1e-15 + (p->max <= 0));
        set_and_refuse(&s, p->name, text);
        snprintf(text, sizeof text, "%.17g", p->min - fabs(p->min) * 1e-15 - 1e-9);
        set_and_refuse(&s, p->name, text);
        if (p->type == OLTR_INTEGER)
            set_and_refuse(&s, p->name, "2.5");
    }
}

/* The error text of a choice names what can be chosen. */
static void choices_are_listed(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_settings s;
    oltr_error error;
    oltr_settings_init(&s, info->name, 5, NULL);
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *p = &info->params[i];
        if (p->type != OLTR_CHOICE)
            continue;
        expect(oltr_settings_set(&s, p->name, "elephant", &error), OLTR_EVALUE);
        for (uint32_t c = 0; p->choices[c]; c++)
            assert_non_null(strstr(error.msg, p->choices[c]));
    }
}

static void read_back(const oltr_settings *s, uint32_t i)
{
    char text[64], tiny[2];
    oltr_settings other;
    oltr_settings_init(&other, s->info->name, s->n_items, NULL);
    expect(oltr_settings_get(s, i, text, sizeof text), OLTR_OK);
    expect(oltr_settings_set(&other, s->info->params[i].name, text, NULL), OLTR_OK);
    assert_memory_equal(&other.value[i], &s->value[i], sizeof(double));
    if (strlen(text) >= 2)
        expect(oltr_settings_get(s, i, tiny, sizeof tiny), OLTR_EBUFFER);
    expect(oltr_settings_get(s, i, text, strlen(text)), OLTR_EBUFFER);
}

static void settings_read_back(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_settings s;
    char text[64];
    dice d = {31};
    oltr_settings_init(&s, info->name, 5, NULL);
    for (uint32_t i = 0; i < info->n_params; i++) {
        const oltr_param *p = &info->params[i];
        for (int n = 0; n < 50; n++) {
            double u = n == 0 ? 0 : n == 1 ? 1 : unit(&d);
            s.value[i] = p->min + (p->max - p->min) * u * (n % 2 ? 1 : 1e-3 * u);
            if (p->type != OLTR_REAL)
                s.value[i] = rint(s.value[i]);
            read_back(&s, i);
        }
    }
    expect(oltr_settings_get(&s, info->n_params, text, sizeof text), OLTR_EINVAL);
    expect(oltr_settings_get(NULL, 0, text, sizeof text), OLTR_EINVAL);
    expect(oltr_settings_get(&s, 0, NULL, 0), OLTR_EINVAL);
}

static void missing_arguments_of_settings(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_settings s;
    oltr_error error;
    expect(oltr_settings_init(NULL, info->name, 5, &error), OLTR_EINVAL);
    expect(oltr_settings_init(&s, NULL, 5, &error), OLTR_EINVAL);
    expect(oltr_settings_init(&s, info->name, 0, &error), OLTR_EITEM);
    expect(oltr_settings_init(&s, "zzqqxxkkvv", 5, &error), OLTR_EKIND);
    assert_null(strstr(error.msg, "did you mean"));
    expect(oltr_settings_init(&s, info->name, 5, NULL), OLTR_OK);
    expect(oltr_settings_set(&s, NULL, "1", &error), OLTR_EINVAL);
    expect(oltr_settings_set(&s, "x", NULL, &error), OLTR_EINVAL);
    expect(oltr_settings_set(NULL, "x", "1", &error), OLTR_EINVAL);
    assert_int_equal(oltr_policy_bytes(NULL, &error), 0);
    assert_null(oltr_policy_info_by_name(NULL, &error));
    assert_null(oltr_policy_info_at(oltr_policy_count()));
}

/* ---- the status codes */

/* Where the codes are provoked that this file does not provoke. */
static const struct {
    oltr_status status;
    const char *file;
} elsewhere[] = {
    {OLTR_ENOMEM, "conform/memory.c"},
    {OLTR_ESTATE, "conform/snapshots.c"},
    {OLTR_ETRUNCATED, "conform/snapshots.c"},
    {OLTR_EMAGIC, "conform/snapshots.c"},
    {OLTR_EVERSION, "conform/snapshots.c"},
    {OLTR_ECHECKSUM, "conform/snapshots.c"},
    {OLTR_ECORRUPT, "conform/snapshots.c"},
    {OLTR_EIO, "conform/worlds.c"},
    {OLTR_EINTERRUPTED, "conform/worlds.c"},
    {OLTR_EFEATURE, "conform/contextual.c"},
    {OLTR_EDATA, "unit/reader.c"},
    {OLTR_EFULL, "a policy that cannot grow; no call gives it yet"},
    {OLTR_ENAME, "items with names; no call gives it yet"},
};

static void every_status_is_provoked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        provoked[elsewhere[i].status] = 1;
    for (int s = 0; s < OLTR_STATUS_COUNT; s++)
        if (!provoked[s])
            fail_msg("no test provokes %s", oltr_status_name((oltr_status)s));
}

static void every_status_has_words(void **state)
{
    (void)state;
    for (int s = 0; s < OLTR_STATUS_COUNT; s++) {
        assert_true(strncmp(oltr_status_name((oltr_status)s), "OLTR_", 5) == 0);
        assert_true(strlen(oltr_strerror((oltr_status)s)) >= 2);
        for (int other = 0; other < s; other++)
            assert_string_not_equal(oltr_strerror((oltr_status)s),
                                    oltr_strerror((oltr_status)other));
    }
    assert_non_null(oltr_strerror(OLTR_STATUS_COUNT)); /* what is no code has words too */
    assert_non_null(oltr_strerror((oltr_status)-1));
    assert_non_null(oltr_status_name((oltr_status)9999));
    assert_true(strlen(oltr_version()) >= 5);
}

/* ---- the suite */

static void add_lists(suite *s)
{
    ON_VARIANTS(s, &variants, lists_are_lists);
    ON_VARIANTS(s, &variants, any_number_of_items);
    ON_VARIANTS(s, &variants, slots_are_bounded);
    ON_VARIANTS(s, &variants, missing_arguments_of_rank);
    ON_VARIANTS(s, &variants, subsets_are_respected);
    ON_VARIANTS(s, &variants, subsets_are_learned_from);
    ON_VARIANTS(s, &variants, bad_candidates_are_refused);
    ON_VARIANTS(s, &variants, a_scratch_survives_refusals);
    ON_VARIANTS(s, &variants, rounds_differ);
    ON_VARIANTS(s, &variants, reading_leaves_no_trace);
    ON_VARIANTS(s, &variants, a_small_scratch_is_refused);
    ON_VARIANTS(s, &variants, a_foreign_scratch_is_harmless);
}

static void add_learning(suite *s)
{
    ON_VARIANTS(s, &variants, rounds_are_counted);
    ON_VARIANTS(s, &variants, bad_rewards_are_refused);
    ON_VARIANTS(s, &variants, bad_lists_are_not_learned);
    ON_VARIANTS(s, &variants, strangers_in_a_list_are_refused);
    ON_VARIANTS(s, &variants, the_state_stays_sound);
}

static void add_state(suite *s)
{
    ON_VARIANTS(s, &variants, a_copy_goes_on_alike);
    ON_VARIANTS(s, &variants, a_copy_has_the_same_settings);
    ON_VARIANTS(s, &variants, merging_is_learning_both);
    ON_VARIANTS(s, &variants, strangers_do_not_merge);
    ON_VARIANTS(s, &variants, other_priors_do_not_merge);
    ON_VARIANTS(s, &variants, merging_with_oneself);
    ON_VARIANTS(s, &variants, a_long_life);
    ON_VARIANTS(s, &variants, fading_scales_every_sum);
    ON_VARIANTS(s, &variants, forgetting_all_is_a_new_start);
    ON_VARIANTS(s, &variants, bad_fading_is_refused);
    ON_VARIANTS(s, &variants, predictions_are_numbers);
    ON_VARIANTS(s, &variants, huge_rewards);
}

static void add_making(suite *s)
{
    ON_VARIANTS(s, &variants, the_callers_memory_will_do);
    ON_VARIANTS(s, &variants, bad_memory_is_refused);
    ON_VARIANTS(s, &variants, settings_by_hand_are_checked);
    ON_VARIANTS(s, &variants, whole_numbers_are_whole);
    ON_VARIANTS(s, &variants, a_missing_prior_is_refused);
    ON_VARIANTS(s, &variants, bad_priors_are_refused);
    ON_VARIANTS(s, &variants, extreme_priors_are_usable_or_refused);
    ON_VARIANTS(s, &variants, the_prior_is_copied);
}

static void add_catalogue(suite *s)
{
    ON_KINDS(s, the_entry_is_complete);
    ON_KINDS(s, typos_are_understood);
    ON_KINDS(s, bad_values_are_refused);
    ON_KINDS(s, choices_are_listed);
    ON_KINDS(s, settings_read_back);
    ON_KINDS(s, missing_arguments_of_settings);
    add_test(s, "every_status_has_words", "oltr_status", every_status_has_words, NULL);
    add_test(s, "every_status_is_provoked", "oltr_status", every_status_is_provoked, NULL);
}

int main(void)
{
    static suite all;
    fill_prior(&priors);
    list_variants(&variants);
    add_lists(&all);
    add_learning(&all);
    add_state(&all);
    add_making(&all);
    add_catalogue(&all);
    return cmocka_run_group_tests_name("every policy keeps every promise", all.test, NULL, NULL);
}
