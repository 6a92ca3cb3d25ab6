/* experiments.c - what an experiment must be: every bad description is refused with words that say
 * why; and the checkpoints and defaults that are filled in.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/scenes.h"

/* Refused by the check, with and without an error to fill in, and by the run. */
static void refuse(const stage *s, oltr_status wanted, const char *words, const char *what)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_experiment_check(&s->e, &error);
    if (status != wanted || error.code != wanted || strlen(error.msg) < 10 ||
        !strstr(error.msg, words))
        fail_msg("%s: %s and '%s', expected %s with '%s'", what, oltr_status_name(status),
                 error.msg, oltr_status_name(wanted), words);
    expect(oltr_experiment_check(&s->e, NULL), wanted);
    oltr_results *r = oltr_results_new(&s->e, 1, &error);
    if (r) /* or the run itself says so */
        expect(oltr_run(&s->e, 1, &(oltr_run_options){.threads = 1}, r, NULL), wanted);
    oltr_results_free(r);
}

/* A good stage with one change. */
#define REFUSED(scene, kind, wanted, words, change)                                                \
    do {                                                                                           \
        stage s;                                                                                   \
        set_small_stage(&s, scene, kind);                                                          \
        oltr_experiment *e = &s.e;                                                                 \
        oltr_world *w = &e->world;                                                                 \
        oltr_contestant *c = &s.policy[0];                                                         \
        (void)w;                                                                                   \
        (void)c;                                                                                   \
        expect(oltr_experiment_check(e, NULL), OLTR_OK);                                           \
        change;                                                                                    \
        refuse(&s, wanted, words, #change);                                                        \
    } while (0)
#define BAD(wanted, change) REFUSED("fixed", "gts", wanted, "", change)

static void bad_numbers_are_refused(void **state)
{
    static const uint64_t down[3] = {5, 3, 10}, twice[3] = {3, 3, 10}, zero[3] = {0, 3, 10},
                          beyond[3] = {1, 3, 11};
    expect(oltr_experiment_check(NULL, NULL), OLTR_EINVAL);
    BAD(OLTR_ESLOTS, e->slots = N + 1);
    BAD(OLTR_ESLOTS, e->slots = 0);
    BAD(OLTR_EINVAL, e->rounds = 0);
    BAD(OLTR_EINVAL, e->rounds = UINT64_MAX);
    BAD(OLTR_EINVAL, e->replications = 0);
    BAD(OLTR_EINVAL, e->n_checkpoints = 0);
    BAD(OLTR_EINVAL, e->checkpoint = NULL);
    BAD(OLTR_EINVAL, e->checkpoint = down);
    BAD(OLTR_EINVAL, e->checkpoint = twice);
    BAD(OLTR_EINVAL, e->checkpoint = zero);
    BAD(OLTR_EINVAL, e->checkpoint = beyond);
    BAD(OLTR_EINVAL, e->n_policies = 0);
    BAD(OLTR_EINVAL, e->policy = NULL);
    BAD(OLTR_EINVAL, c->label = NULL);
    BAD(OLTR_EINVAL, w->custom_bytes = 8);
    BAD(OLTR_EINVAL, c->settings.info = NULL);
    BAD(OLTR_EINVAL, c->settings.n_items = N - 1);
    BAD(OLTR_EVALUE, c->settings.value[param_index(c->settings.info, "sigma")] = -1);
    BAD(OLTR_EVALUE, c->settings.value[param_index(c->settings.info, "sigma")] = (double)NAN);
}

static void bad_worlds_are_refused(void **state)
{
    const double nan_[N] = {(double)NAN}, high[N] = {0, 1.01}, low[N] = {-0.01},
                 infinite[N] = {(double)INFINITY};
    BAD(OLTR_EINVAL, w->kind = "fixd");
    BAD(OLTR_EINVAL, w->kind = NULL);
    BAD(OLTR_EINVAL, w->clicks = "cascada");
    BAD(OLTR_EINVAL, w->clicks = NULL);
    BAD(OLTR_EITEM, w->n_items = 0);
    BAD(OLTR_EINVAL, w->attraction = NULL);
    BAD(OLTR_EINVAL, w->attraction = nan_);
    BAD(OLTR_EINVAL, w->attraction = high);
    BAD(OLTR_EINVAL, w->attraction = low);
    BAD(OLTR_EINVAL, w->attraction = infinite);
    BAD(OLTR_EINVAL, w->kind = "beta"); /* which draws its own attractions */
    BAD(OLTR_EPRIOR, w->prior_a = shape_a);
    BAD(OLTR_EPRIOR, w->prior_b = shape_b);
    BAD(OLTR_EPRIOR, w->misspecification = 1);
    BAD(OLTR_EPRIOR, w->misspecification = (double)NAN);
}

static void bad_world_priors_are_refused(void **state)
{
    static const char *const names[] = {"fixed, given prior", "beta, given prior"};
    const double none[N] = {1, 1, 1, 0, 1, 1, 1, 1}, nan_[N] = {1, 1, 1, 1, 1, 1, 1, (double)NAN};
#define BAD_PRIOR(change) REFUSED(names[i], "gts", OLTR_EPRIOR, "", change)
    for (int i = 0; i < 2; i++) {
        BAD_PRIOR(w->prior_a = none);
        BAD_PRIOR(w->prior_b = none);
        BAD_PRIOR(w->prior_a = nan_);
        BAD_PRIOR(w->misspecification = 4);    /* the smallest b is 4 */
        BAD_PRIOR(w->misspecification = -0.5); /* the smallest a is 0.5 */
        BAD_PRIOR(w->misspecification = (double)INFINITY);
    }
}

/* ---- worlds and policies that do not fit */

static void policies_must_fit_the_world(void **state)
{
    const oltr_policy_info *info = *state;
    if (info->uses_prior) /* this world gives none */
        REFUSED("fixed", info->name, OLTR_EPRIOR, "",
                oltr_settings_set(&c->settings, "prior", "full", NULL));
    if (info->contextual) {
        const oltr_world plain = {.kind = "beta", .n_items = N, .clicks = "cascade"};
        REFUSED("linear", info->name, OLTR_EFEATURE, "features", *w = plain);
        REFUSED("linear", info->name, OLTR_EFEATURE, "features", (*w = plain, c->settings.dim = 0));
    }
    if (info->rewards == OLTR_CLICKS) { /* rewards there are no clicks */
        stage s;
        set_small_stage(&s, "scalar", info->name);
        refuse(&s, OLTR_EREWARD, info->name, "real rewards");
        refuse(&s, OLTR_EREWARD, "clicks", "real rewards");
    }
}

static void worlds_need_features(void **state)
{
    static const char *const names[] = {"linear", "logistic", "scalar"};
    for (size_t i = 0; i < COUNT(names); i++) {
        REFUSED(names[i], "random", OLTR_EFEATURE, "dim", w->dim = 0);
        REFUSED(names[i], "lints", OLTR_EFEATURE, "dim", w->dim = 0);
    }
    REFUSED("fixed, features", "lints", OLTR_EFEATURE, "features", w->features = NULL);
}

static void features_must_be_numbers(void **state)
{
    const float bad[] = {(float)NAN, (float)INFINITY, -(float)INFINITY};
    float own[N * DIM];
    for (size_t i = 0; i < COUNT(bad); i++)
        for (uint32_t at = 0; at < N * DIM; at += 11) {
            memcpy(own, features, sizeof own);
            own[at] = bad[i];
            REFUSED("fixed, features", "lints", OLTR_EFEATURE, "feature", w->features = own);
        }
}

static void attractions_must_be_probabilities(void **state)
{
    const double bad[] = {1.0001, 2, -1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < COUNT(bad); i++)
        REFUSED("linear", "lints", OLTR_EINVAL, "scale", w->scale = bad[i]);
    REFUSED("linear", "lints", OLTR_EINVAL, "theta", w->theta_on_sphere = 1);
}

static void users_must_stay_a_while(void **state)
{
    const double bad[] = {1, 1.5, -0.1, (double)NAN};
    for (size_t i = 0; i < COUNT(bad); i++) {
        REFUSED("scalar", "lints", OLTR_EINVAL, "leave", w->abandon = bad[i]);
        REFUSED("scalar", "lints", OLTR_EINVAL, "noise", w->noise_sd = -1 - fabs(bad[i]));
    }
    REFUSED("scalar", "lints", OLTR_EINVAL, "abandon", w->clicks = "cascade");
}

/* ---- what is filled in */

/* The number of features of a policy is that of its world. */
static void the_world_says_how_many_features(void **state)
{
    stage s, t;
    set_small_stage(&s, "linear", "lints");
    set_small_stage(&t, "linear", "lints");
    t.policy[0].settings.dim = 0;
    oltr_results *one = run(&s.e, 1, 1), *other = run(&t.e, 1, 1);
    assert_same_results(&s.e, 1, one, other);
    oltr_results_free(one);
    oltr_results_free(other);
}

/* Zeros in the description of a world mean its defaults. */
static void zeros_are_defaults(void **state)
{
    stage s;
    set_small_stage(&s, "beta", "gts");
    expect(oltr_settings_set(&add_policy(&s, "ts-beta")->settings, "prior", "full", NULL), OLTR_OK);
    oltr_results *plain = run(&s.e, 1, 1);
    s.e.world.a_max = 10;
    s.e.world.instances_per_prior = 1;
    for (uint32_t look = s.e.slots; look <= 1000; look += 1000 - s.e.slots) {
        s.e.world.examined_without_click = look;
        oltr_results *spelt = run(&s.e, 1, 1);
        assert_same_results(&s.e, 1, plain, spelt);
        oltr_results_free(spelt);
    }
    oltr_results_free(plain);
}

static bool contains(const uint64_t *x, uint32_t n, uint64_t value)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i] == value)
            return true;
    return false;
}

#define NOT_PLAYED(change)                                                                         \
    do {                                                                                           \
        stage s;                                                                                   \
        set_small_stage(&s, "fixed", "gts");                                                       \
        oltr_results *r = oltr_results_new(&s.e, 1, NULL);                                         \
        assert_non_null(r);                                                                        \
        change;                                                                                    \
        expect(oltr_run(&s.e, 1, NULL, r, NULL), OLTR_EINVAL);                                     \
        oltr_results_free(r);                                                                      \
    } while (0)

/* What changed since the results were made. */
static void incomplete_points_are_not_played(void **state)
{
    NOT_PLAYED(s.e.checkpoint = NULL);
    NOT_PLAYED(s.e.policy = NULL);
    NOT_PLAYED(s.policy[0].label = NULL);
    NOT_PLAYED(s.policy[0].settings.info = NULL);
    NOT_PLAYED(s.policy[0].settings.custom_bytes = 8);
    NOT_PLAYED(s.e.world.custom_bytes = 8);
    NOT_PLAYED(s.e.world.dataset = &(oltr_dataset){.n_queries = 1});
}

/* Rising, with all powers of ten and the last round, and one near each i/count of the way. */
static void checkpoints_are_as_described(void **state)
{
    static const uint64_t rounds[] = {1, 2, 9, 10, 11, 99, 1000, 12345, (uint64_t)1 << 40};
    static const uint32_t counts[] = {0, 1, 2, 7, 100, 1000};
    static uint64_t out[2000];
    for (size_t at = 0; at < COUNT(rounds) * COUNT(counts); at++) {
        uint64_t last = rounds[at / COUNT(counts)], part[3] = {0, 0, 777};
        uint32_t count = counts[at % COUNT(counts)], n = oltr_checkpoints(last, count, out, 2000);
        assert_true(n >= 1 && n <= count + 14 && out[n - 1] == last);
        assert_int_equal(oltr_checkpoints(last, count, NULL, 0), n);
        for (uint32_t i = 0; i < n; i++)
            assert_true(out[i] >= 1 && out[i] <= last && (i == 0 || out[i] > out[i - 1]));
        for (uint64_t power = 1; power <= last; power *= 10)
            assert_true(contains(out, n, power));
        for (uint64_t i = 1; i <= count; i++) {
            uint64_t even = (uint64_t)((double)last * (double)i / count);
            assert_true(even < 1 || contains(out, n, even) || contains(out, n, even + 1));
        }
        assert_int_equal(oltr_checkpoints(last, count, part, 2), n);
        assert_true(part[0] == out[0] && (n < 2 || part[1] == out[1]) && part[2] == 777);
    }
    assert_int_equal(oltr_checkpoints(0, 10, out, 2000), 0);
    assert_int_equal(oltr_checkpoints(30, UINT32_MAX, out, 2000), 30);
    assert_int_equal(oltr_checkpoints(30, UINT32_MAX - 20, NULL, 2000), 30);
}

int main(void)
{
    static suite all;
    ONCE(&all, bad_numbers_are_refused);
    ONCE(&all, bad_worlds_are_refused);
    ONCE(&all, bad_world_priors_are_refused);
    ON_KINDS(&all, policies_must_fit_the_world);
    ONCE(&all, worlds_need_features);
    ONCE(&all, features_must_be_numbers);
    ONCE(&all, attractions_must_be_probabilities);
    ONCE(&all, users_must_stay_a_while);
    ONCE(&all, the_world_says_how_many_features);
    ONCE(&all, zeros_are_defaults);
    ONCE(&all, incomplete_points_are_not_played);
    ONCE(&all, checkpoints_are_as_described);
    return cmocka_run_group_tests_name("what an experiment must be", all.test, NULL, NULL);
}
