/* click_models.c - users who click more than once: their chances, what policies are told of them,
 * the limits in which click models are equal, and what is refused.
 *
 * worlds.c and truths.c play every click model against a twin.  Here are the closed forms: values
 * by hand, the bias of a reading by enumeration, expected clicks of every slot.  Seeds are fixed;
 * each statistical bound is six standard errors, a false-alarm rate below 2e-9 each.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/scenes.h"
#include "lab/sim/reading.h"

/* ---- users */

/* Every slot is examined, and clicked, as often as the definition says; and clicks are only where
 * users looked. */
static void users_click_as_often_as_expected(void **state)
{
    enum { USERS = 4000 };
    oltr_world world = world_of(*state);
    const oltr_click_ops *clicks = click_ops_of(world.clicks, NULL);
    uint32_t item[SLOTS] = {5, 1, 3}, clicked[SLOTS] = {0}, looked[SLOTS] = {0};
    oltr_ranking list = {SLOTS, item, NULL};
    double seen[SLOTS];
    truth w;
    draw_truth(&world, 11, 0, &w);
    chances_to_be_seen(&world, w.attraction, item, SLOTS, seen);
    for (uint64_t t = 1; t <= USERS; t++) {
        double click[SLOTS];
        uint8_t examined[SLOTS];
        oltr_rng user = oltr_rng_at(oltr_rng_make(11, 0), STREAM_USERS, t);
        clicks->browse(&world, &w.as, &user, &list, click, examined);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            assert_true(click[slot] <= examined[slot]);
            looked[slot] += examined[slot];
            clicked[slot] += click[slot] > 0;
        }
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        double p = seen[slot], q = p * w.attraction[item[slot]];
        assert_true(fabs(looked[slot] - USERS * p) <= 6 * sqrt(USERS * p * (1 - p)) + 1e-9);
        assert_true(fabs(clicked[slot] - USERS * q) <= 6 * sqrt(USERS * q * (1 - q)) + 1e-9);
    }
}

/* ---- values by hand: four items, two slots */

static double best_of(const oltr_world *world, double *nu, double *worst)
{
    double room[4];
    oltr_instance of = {.n_items = 4, .attraction = nu, .room = room};
    const oltr_click_ops *clicks = click_ops_of(world->clicks, NULL);
    double best = clicks->best(world, &of, 2);
    *worst = clicks->worst(world, &of, 2);
    return best;
}

static void values_by_hand(void **state)
{
    static const double leave[2] = {0.9, 0.4}, rising[2] = {0.4, 0.9}, dbn[] = {0.6, 0.5, 1};
    double nu[4] = {0.1, 0.5, 0.3, 0.2}, worst;
    oltr_world dcm = {.kind = "fixed", .n_items = 4, .clicks = "dcm", .slot_chance = leave};
    oltr_world pbm = {.kind = "fixed", .n_items = 4, .clicks = "pbm"};
    oltr_world sat = {.kind = "fixed", .n_items = 4, .clicks = "dbn", .click_values = dbn};
    assert_true(near(best_of(&dcm, nu, &worst), 1 - (1 - 0.9 * 0.5) * (1 - 0.4 * 0.3), 1e-15));
    assert_true(near(worst, 1 - (1 - 0.9 * 0.1) * (1 - 0.4 * 0.2), 1e-15));
    assert_true(near(best_of(&pbm, nu, &worst), 0.5 + 0.3 / 2, 1e-15));
    assert_true(near(worst, 0.1 + 0.2 / 2, 1e-15));
    pbm.slot_chance = rising; /* the best item is in the second slot */
    assert_true(near(best_of(&pbm, nu, &worst), 0.4 * 0.3 + 0.9 * 0.5, 1e-15));
    assert_true(near(worst, 0.4 * 0.2 + 0.9 * 0.1, 1e-15));
    assert_true(near(best_of(&sat, nu, &worst), 0.3 + 0.7 * 0.5 * 0.18, 1e-15));
    assert_true(near(worst, 0.06 + 0.94 * 0.5 * 0.12, 1e-15));
}

/* Parameters of the instance take the place of those of the world, and every list of three of eight
 * items is at most as good as the best. */
static void instances_have_their_own_users(void **state)
{
    static const double chance[SLOTS] = {0.2, 0.9, 0.4}, go_on = 0.7,
                        satisfied[N] = {0.9, 0.2, 0.5, 0.3, 1, 0.1, 0.6, 0.8};
    static const char *const models[] = {"dcm", "pbm", "dbn"};
    double nu[N], room[N];
    memcpy(nu, attraction, sizeof nu);
    for (size_t m = 0; m < COUNT(models); m++) {
        oltr_world world = {.kind = "fixed", .n_items = N, .clicks = models[m]};
        const oltr_click_ops *clicks = click_ops_of(models[m], NULL);
        oltr_instance of = {.n_items = N,
                            .attraction = nu,
                            .room = room,
                            .slot_chance = m < 2 ? chance : NULL,
                            .item_chance = m == 2 ? satisfied : NULL,
                            .user_chance = m == 2 ? &go_on : NULL};
        double most = 0, least = 9;
        for (uint32_t code = 0; code < N * N * N; code++) {
            uint32_t item[SLOTS] = {code % N, code / N % N, code / N / N};
            if (item[0] == item[1] || item[0] == item[2] || item[1] == item[2])
                continue;
            double value = clicks->value(&world, &of, item, SLOTS);
            most = fmax(most, value);
            least = fmin(least, value);
        }
        assert_true(near(clicks->best(&world, &of, SLOTS), most, 1e-15));
        assert_true(near(clicks->worst(&world, &of, SLOTS), least, 1e-15));
    }
}

/* ---- readings */

/* What a reading makes of one user. */
static void read_one(uint32_t seen, const double *click, const uint8_t *examined, uint32_t wanted)
{
    oltr_feedback got = read_clicks(seen, SLOTS, click, examined);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        bool counts = slot < got.n_examined && (!got.examined || got.examined[slot]);
        assert_int_equal(counts, wanted >> slot & 1);
    }
    assert_ptr_equal(got.reward, click);
}

static void readings_are_as_named(void **state)
{
    static const double none[SLOTS] = {0}, two[SLOTS] = {1, 1, 0}, end[SLOTS] = {0, 0, 1};
    static const uint8_t prefix[SLOTS] = {1, 1, 0}, hole[SLOTS] = {1, 0, 1}, nothing[SLOTS] = {0};
    read_one(OLTR_SEEN_FIRST, none, prefix, 7);
    read_one(OLTR_SEEN_LAST, none, prefix, 7);
    read_one(OLTR_SEEN_TRUE, none, prefix, 3);
    read_one(OLTR_SEEN_ALL, none, nothing, 7);
    read_one(OLTR_SEEN_FIRST, two, prefix, 1);
    read_one(OLTR_SEEN_LAST, two, prefix, 3);
    read_one(OLTR_SEEN_ALL, two, prefix, 7);
    read_one(OLTR_SEEN_TRUE, end, hole, 5);
    read_one(OLTR_SEEN_TRUE, none, nothing, 0);
    assert_null(read_clicks(OLTR_SEEN_TRUE, SLOTS, none, prefix).examined); /* a prefix: no mask */
    assert_non_null(read_clicks(OLTR_SEEN_TRUE, SLOTS, end, hole).examined);
}

/* The click rate that a reading gives to a slot of the dependent click model, by enumeration: which
 * items attract, and after which clicks users leave. */
static double rate_read(uint32_t seen, uint32_t slot, double nu, double leave)
{
    double counted = 0, clicks = 0;
    for (uint32_t code = 0; code < 1U << 2 * SLOTS; code++) {
        double click[SLOTS] = {0}, chance = 1;
        uint8_t examined[SLOTS] = {0};
        bool there = true;
        for (uint32_t k = 0; k < SLOTS; k++) {
            bool attracts = code >> k & 1, leaves = code >> (SLOTS + k) & 1;
            chance *= (attracts ? nu : 1 - nu) * (leaves ? leave : 1 - leave);
            examined[k] = there;
            click[k] = there && attracts;
            there = there && !(attracts && leaves);
        }
        oltr_feedback got = read_clicks(seen, SLOTS, click, examined);
        counted += slot < got.n_examined ? chance : 0;
        clicks += slot < got.n_examined ? chance * click[slot] : 0;
    }
    return clicks / counted;
}

/* Down to the last click, a skip of the second slot counts only if the third is clicked, or none
 * is: the slot looks better than it is.  The other two readings are unbiased in every slot. */
static void the_last_click_is_a_biased_reading(void **state)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        assert_true(near(rate_read(OLTR_SEEN_FIRST, slot, 0.2, 0.5), 0.2, 1e-12));
        assert_true(near(rate_read(OLTR_SEEN_TRUE, slot, 0.2, 0.5), 0.2, 1e-12));
    }
    assert_true(near(rate_read(OLTR_SEEN_LAST, 1, 0.2, 0.5), 0.2153, 5e-5));
    assert_true(rate_read(OLTR_SEEN_ALL, 2, 0.2, 0.5) < 0.2);
}

/* ---- limits in which models are equal */

static oltr_results *run_as(const char *scene_name, const char *clicks, const double *values,
                            const double *of_slots)
{
    static stage s; /* oltr_results keep pointers to the points */
    set_stage(&s, scene_named(scene_name));
    s.e.world.clicks = clicks;
    s.e.world.click_values = values;
    s.e.world.slot_chance = of_slots;
    add_policy(&s, "gts");
    add_policy(&s, "cascade-klucb");
    add_policy(&s, "toprank");
    return run(&s.e, 1, 1);
}

static void assert_same_curves(const oltr_results *x, const oltr_results *y)
{
    for (uint32_t j = 0; j < 3; j++)
        for (uint32_t m = 0; m < MARKS; m++)
            assert_true(same_outcome(oltr_results_at(x, 0, j, m), oltr_results_at(y, 0, j, m)));
}

static void limits_are_the_cascade(void **state)
{
    static const double at_once[] = {1, OLTR_SEEN_LAST - 1}, sure[] = {1, 1, OLTR_SEEN_LAST - 1},
                        ones[SLOTS] = {1, 1, 1}, most[] = {0.9, OLTR_SEEN_LAST - 1};
    oltr_results *cascade = run_as("beta", "cascade", NULL, NULL),
                 *dcm = run_as("beta", "dcm", at_once, NULL),
                 *by_slot = run_as("beta", "dcm", NULL, ones),
                 *dbn = run_as("beta", "dbn", sure, NULL),
                 *other = run_as("beta", "dcm", most, NULL);
    assert_same_curves(cascade, dcm);
    assert_same_curves(cascade, by_slot);
    assert_same_curves(cascade, dbn);
    assert_false(same_outcome(oltr_results_at(cascade, 0, 0, MARKS - 1),
                              oltr_results_at(other, 0, 0, MARKS - 1)));
    oltr_results_free(cascade);
    oltr_results_free(dcm);
    oltr_results_free(by_slot);
    oltr_results_free(dbn);
    oltr_results_free(other);
}

/* The readings of a cascade: first, last and true are what its scan says. */
static void a_cascade_can_be_read_otherwise(void **state)
{
    static stage s;
    set_stage(&s, scene_named("beta"));
    for (uint32_t i = 0; i <= COUNT(readings); i++)
        add_policy(&s, "gts")->learning = i ? &readings[i - 1] : NULL;
    oltr_results *r = run(&s.e, 1, 1);
    for (uint32_t i = 1; i <= COUNT(readings); i++)
        assert_int_equal(
            same_outcome(oltr_results_at(r, 0, 0, MARKS - 1), oltr_results_at(r, 0, i, MARKS - 1)),
            readings[i - 1].seen != OLTR_SEEN_ALL);
    oltr_results_free(r);
}

/* Slots that are always examined: clicks are independent, and all readings but those that end at a
 * click are the same. */
static void slots_that_are_always_examined(void **state)
{
    static const double ones[SLOTS] = {1, 1, 1};
    static stage s;
    oltr_world world = world_of(scene_named("fixed"));
    truth w;
    world.clicks = "pbm";
    world.slot_chance = ones;
    draw_truth(&world, 11, 0, &w);
    for (uint64_t t = 1; t <= 500; t++) {
        uint32_t item[SLOTS] = {5, 1, 3};
        double click[SLOTS], reward;
        uint8_t examined[SLOTS];
        oltr_rng user = oltr_rng_at(oltr_rng_make(11, 0), STREAM_USERS, t);
        oltr_ranking list = {SLOTS, item, NULL};
        click_ops_of("pbm", NULL)->browse(&world, &w.as, &user, &list, click, examined);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            oltr_ranking alone = {1, &item[slot], NULL};
            click_ops_of("cascade", NULL)->scan(&world, &w.as, &user, &alone, &reward);
            assert_true(examined[slot] && same_double(click[slot], reward));
        }
    }
    set_stage(&s, scene_named("fixed"));
    s.e.world.clicks = "pbm";
    s.e.world.slot_chance = ones;
    add_policy(&s, "ts-beta")->learning = &readings[1];
    add_policy(&s, "ts-beta")->learning = &readings[3];
    oltr_results *r = run(&s.e, 1, 1);
    assert_true(
        same_outcome(oltr_results_at(r, 0, 0, MARKS - 1), oltr_results_at(r, 0, 1, MARKS - 1)));
    oltr_results_free(r);
}

/* ---- forgetting */

/* Regret of a policy that is told to forget, by a loop of rank, learn and oltr_forget(). */
static double regret_by_hand(const oltr_experiment *e, const oltr_learning *how, uint64_t r)
{
    truth w;
    double lost = 0;
    draw_truth(&e->world, e->seed, r, &w);
    oltr_policy *p = policy_from(&e->policy[0].settings);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_rng rng = oltr_rng_make(e->seed, r);
    for (uint64_t t = 1; t <= e->rounds; t++) {
        uint32_t item[SLOTS];
        double click[SLOTS], none = 1;
        oltr_ranking list = {e->slots, item, NULL};
        oltr_query query = {.n_items = N};
        oltr_rng user = oltr_rng_at(rng, STREAM_USERS, t);
        expect(oltr_rank(p, &query, oltr_rng_at(rng, STREAM_POLICY, t), scratch, &list), OLTR_OK);
        uint32_t n = click_ops_of("cascade", NULL)->scan(&e->world, &w.as, &user, &list, click);
        oltr_feedback seen = {n, click};
        expect(oltr_learn(p, &query, &list, &seen), OLTR_OK);
        if (t % how->forget_every == 0)
            expect(oltr_forget(p, how->forget_keep), OLTR_OK);
        for (uint32_t slot = 0; slot < e->slots; slot++)
            none *= 1 - w.attraction[item[slot]];
        lost += none - best_no_click(w.attraction, e->slots);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    return lost;
}

static void policies_can_forget(void **state)
{
    static const oltr_learning none = {.forget_every = 7, .forget_keep = 1},
                               half = {.forget_every = 10, .forget_keep = 0.5},
                               all = {.forget_every = 1, .forget_keep = 0};
    static const oltr_learning *const how[] = {&none, &half, &all};
    static stage s;
    set_stage(&s, scene_named("fixed"));
    add_policy(&s, "ts-beta");
    for (size_t i = 0; i < COUNT(how); i++)
        add_policy(&s, "ts-beta")->learning = how[i];
    oltr_results *r = run(&s.e, 1, 1);
    for (uint32_t i = 0; i < COUNT(how); i++) {
        double sum = 0, got = oltr_results_at(r, 0, i + 1, MARKS - 1).regret;
        for (uint64_t replication = 0; replication < s.e.replications; replication++)
            sum += regret_by_hand(&s.e, how[i], replication);
        assert_true(near(got, sum / s.e.replications, 1e-9));
        assert_int_equal(same_outcome(oltr_results_at(r, 0, 0, MARKS - 1),
                                      oltr_results_at(r, 0, i + 1, MARKS - 1)),
                         i == 0);
    }
    oltr_results_free(r);
}

/* ---- what is refused */

static void expect_refused(const stage *s, oltr_status status, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    expect_error(oltr_experiment_check(&s->e, &error), &error, status, words);
}

/* Every kind without features plays with pbm users, or is refused and plays with a named reading.
 */
static void a_kind_knows_slots_or_names_a_reading(void **state)
{
    static const oltr_learning last = {.seen = OLTR_SEEN_LAST};
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        oltr_error error = {OLTR_OK, ""};
        static stage s;
        if (info->contextual)
            continue;
        set_stage(&s, scene_named("uniform, pbm"));
        add_policy(&s, info->name)->learning = NULL;
        if (info->knows_slots)
            expect(oltr_experiment_check(&s.e, &error), OLTR_OK);
        else
            expect_refused(&s, OLTR_EINVAL, info->name);
        s.policy[0].learning = &last;
        expect(oltr_experiment_check(&s.e, &error), OLTR_OK);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    static const double rising[SLOTS] = {0.1, 0.2, 0.3}, beyond[SLOTS] = {1, 1.5, 1},
                        odd[SLOTS] = {1, NAN, 1}, negative[] = {-0.5, 1};
    static const oltr_learning unknown = {.seen = 5}, last = {.seen = OLTR_SEEN_LAST},
                               more = {.forget_every = 3, .forget_keep = 1.5},
                               some = {.forget_every = 3, .forget_keep = 0.5};
    static stage s;
    set_stage(&s, scene_named("uniform, pbm"));
    add_policy(&s, "ts-beta")->learning = NULL;
    expect_refused(&s, OLTR_EINVAL, "name how it misreads them, `seen: last`");
    s.policy[0].learning = &some; /* forgetting is no reading */
    expect_refused(&s, OLTR_EINVAL, "is no skip");
    s.policy[0].learning = &unknown;
    expect_refused(&s, OLTR_EINVAL, "there is no reading 5");
    s.policy[0].learning = &last;
    s.e.world.slot_chance = beyond;
    expect_refused(&s, OLTR_EINVAL, "examine of slot 2 must be from 0 to 1, not 1.5");
    s.e.world.slot_chance = odd;
    expect_refused(&s, OLTR_EINVAL, "examine of slot 2 must be from 0 to 1, not nan");
    s.e.world.slot_chance = rising;
    expect(oltr_experiment_check(&s.e, NULL), OLTR_OK);
    s.e.world.clicks = "dcm";
    expect_refused(&s, OLTR_EINVAL, "leave must not rise from slot to slot, and 0.2 of slot 2");
    s.e.world.clicks = "cascade";
    expect_refused(&s, OLTR_EINVAL, "cascade has no parameter with a number for each slot");
    s.e.world.slot_chance = NULL;
    s.policy[0].learning = &more;
    expect_refused(&s, OLTR_EINVAL, "what `forget` keeps must be from 0 to 1, not 1.5");
    s.e.world.clicks = "dcm";
    s.e.world.click_values = negative;
    expect_refused(&s, OLTR_EINVAL, "leave must be from 0 to 1, not -0.5");
    set_small_stage(&s, "fixed", "toprank");
    s.policy[0].learning = &some;
    expect_refused(&s, OLTR_EINVAL, "toprank cannot forget: leave `forget` out");
    set_small_stage(&s, "scalar", "lints");
    s.policy[0].learning = &last;
    expect_refused(&s, OLTR_EINVAL, "abandon gives real rewards: leave it out");
}

/* A click model of a program with browse alone, and one that is wrong. */
static void own_models_can_browse(void **state)
{
    static oltr_click_ops own;
    static stage s;
    own = *click_ops_of("dcm", NULL);
    own.info.name = "own";
    set_small_stage(&s, "fixed, dcm, patient users", "gts");
    oltr_results *named = run(&s.e, 1, 1);
    s.e.world.custom_clicks = &own;
    oltr_results *r = run(&s.e, 1, 1);
    assert_true(same_outcome(oltr_results_at(named, 0, 0, 2), oltr_results_at(r, 0, 0, 2)));
    oltr_results_free(named);
    oltr_results_free(r);
    own.rewards = OLTR_REALS;
    expect_refused(&s, OLTR_EINVAL, "its rewards must be OLTR_CLICKS");
    own.rewards = OLTR_CLICKS;
    own.browse = NULL;
    expect_refused(&s, OLTR_EINVAL, "needs a name, scan or browse, value and best");
}

int main(void)
{
    static suite all;
    ON_SCENES(&all, users_click_as_often_as_expected, browses);
    ONCE(&all, values_by_hand);
    ONCE(&all, instances_have_their_own_users);
    ONCE(&all, readings_are_as_named);
    ONCE(&all, the_last_click_is_a_biased_reading);
    ONCE(&all, limits_are_the_cascade);
    ONCE(&all, a_cascade_can_be_read_otherwise);
    ONCE(&all, slots_that_are_always_examined);
    ONCE(&all, policies_can_forget);
    ONCE(&all, a_kind_knows_slots_or_names_a_reading);
    ONCE(&all, what_cannot_be_is_refused);
    ONCE(&all, own_models_can_browse);
    return cmocka_run_group_tests_name("click models", all.test, NULL, NULL);
}
