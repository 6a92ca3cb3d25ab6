/* worlds.c - an experiment is a function of its description, in every world.
 *
 * The same bits come out for any number of threads, for a run that was stopped and resumed in
 * memory or from a file, and for a policy in any company.  A second simulator, written from the
 * definition, must get the same regret.
 */
#define _DEFAULT_SOURCE 1
#include "conform/scenes.h"
#include "engine/kernels/philox.h"
#include "support/files.h"

#include <stdatomic.h>

enum { POINTS = 2 };

/* A stage with two points, and the results of a whole run, of a short and of a long experiment. */
typedef struct trial {
    stage stage;
    oltr_experiment point[POINTS], longer[POINTS];
    oltr_results *whole, *long_whole;
} trial;

static trial trials[SCENES];

/* The longer ones have enough rounds to be stopped, and a few of the policies: what is stopped is
 * the replication, not the policy. */
static void set_trial(trial *t, const scene *from)
{
    static oltr_contestant third[SCENES][MOST_POLICIES];
    uint32_t n = 0;
    set_stage(&t->stage, from);
    add_policies(&t->stage);
    const uint32_t step = t->stage.e.n_policies > 8 ? 3 : 1;
    for (uint32_t j = 0; j < t->stage.e.n_policies; j += step)
        third[from - scenes][n++] = t->stage.policy[j];
    for (uint32_t i = 0; i < POINTS; i++) {
        t->point[i] = t->longer[i] = t->stage.e;
        t->point[i].seed = t->longer[i].seed = 11 + i;
        t->point[i].replications = (EFFORT > 1 ? 9 : 4) - 2 * i;
        t->longer[i].replications = 2 + i;
        t->longer[i].rounds = 700;
        t->longer[i].policy = third[from - scenes];
        t->longer[i].n_policies = n;
    }
    t->whole = run(t->point, POINTS, 1);
    t->long_whole = run(t->longer, POINTS, 1);
}

static void free_trial(trial *t)
{
    oltr_results_free(t->whole);
    oltr_results_free(t->long_whole);
}

/* ---- the same bits */

static void any_number_of_threads(void **state)
{
    static const uint32_t threads[] = {2, 7, 0};
    const trial *t = *state;
    for (size_t i = 0; i < COUNT(threads); i++) {
        oltr_results *many = run(t->point, POINTS, threads[i]);
        assert_same_results(t->point, POINTS, t->whole, many);
        oltr_results_free(many);
    }
}

/* Regret and reward grow (reals may be negative), share one optimum, and have all replications. */
static void curves_are_curves(void **state)
{
    const trial *t = *state;
    bool clicks = !is_scalar(t->stage.scene);
    double most = has_clicks(&t->stage.e.world, "pbm") ? SLOTS : 1;
    for (uint32_t i = 0; i < POINTS; i++)
        for (uint32_t j = 0; j < t->point[i].n_policies; j++) {
            oltr_outcome before = {0};
            for (uint32_t m = 0; m < MARKS; m++) {
                oltr_outcome now = oltr_results_at(t->whole, i, j, m),
                             first = oltr_results_at(t->whole, i, 0, m);
                assert_true(isfinite(now.regret) && now.regret >= before.regret);
                assert_true(now.regret_se >= 0 && (!clicks || now.reward >= before.reward));
                assert_true(!clicks ||
                            now.regret + now.reward <= most * (double)marks[m] * (1 + 1e-9));
                assert_true(fabs(now.regret + now.reward - first.regret - first.reward) <
                            1e-9 * (double)marks[m]);
                assert_int_equal(now.replications, t->point[i].replications);
                before = now;
            }
            assert_true(oltr_results_ns_per_round(t->whole, i, j) > 0);
        }
}

/* A curve does not depend on the other policies of the run, nor on their order. */
static void company_changes_nothing(void **state)
{
    const trial *t = *state;
    for (uint32_t j = 0; j < t->point[0].n_policies; j += 3) {
        oltr_experiment alone = t->point[0];
        oltr_contestant twins[2] = {t->stage.policy[j], t->stage.policy[j]};
        twins[0].label = "one";
        twins[1].label = "two";
        alone.n_policies = 2;
        alone.policy = twins;
        oltr_results *two = run(&alone, 1, 2);
        for (uint32_t m = 0; m < MARKS; m++) {
            oltr_outcome one = oltr_results_at(two, 0, 0, m);
            assert_true(same_outcome(one, oltr_results_at(two, 0, 1, m))); /* the same users */
            assert_true(same_outcome(one, oltr_results_at(t->whole, 0, j, m)));
        }
        oltr_results_free(two);
    }
}

static void another_seed_is_another_run(void **state)
{
    const trial *t = *state;
    oltr_experiment other = t->point[0];
    int changed = 0;
    other.seed += 100;
    oltr_results *different = run(&other, 1, 1);
    for (uint32_t j = 0; j < other.n_policies; j++)
        changed += !same_double(oltr_results_at(t->whole, 0, j, MARKS - 1).reward,
                                oltr_results_at(different, 0, j, MARKS - 1).reward);
    assert_true(changed > 1);
    oltr_results_free(different);
}

/* ---- stopping and resuming */

typedef struct watch {
    atomic_long until_stop; /* how often `stop` still says no; workers may ask at once */
    uint64_t done, total, calls;
    bool orderly;
} watch;

static int stop_later(void *context)
{
    watch *w = context;
    return atomic_fetch_sub(&w->until_stop, 1) <= 0;
}

static void see_progress(void *context, const oltr_progress *p)
{
    watch *w = context;
    w->orderly =
        w->orderly && p->done >= w->done && p->done <= p->total && p->results && p->seconds >= 0;
    w->done = p->done;
    w->total = p->total;
    w->calls++;
}

/* Runs to the end, stopped again and again; returns how often. */
static int run_in_pieces(const oltr_experiment *points, oltr_results *r, uint32_t threads)
{
    oltr_error error = {OLTR_OK, ""};
    for (int pieces = 0; pieces < 1000; pieces++) {
        watch w = {.until_stop = 12 << (pieces / 2), .orderly = true};
        oltr_run_options options = {threads, NULL, see_progress, 0, stop_later, &w};
        oltr_status status = oltr_run(points, POINTS, &options, r, &error);
        assert_true(w.orderly && w.calls > 0);
        if (status == OLTR_OK) {
            assert_int_equal(w.done, w.total);
            return pieces;
        }
        expect_error(status, &error, OLTR_EINTERRUPTED, "");
    }
    fail_msg("the run never ends");
    return 0;
}

static void stopped_and_resumed(void **state)
{
    const trial *t = *state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        oltr_results *pieces = new_results(t->longer, POINTS);
        assert_true(run_in_pieces(t->longer, pieces, threads) > 1);
        assert_same_results(t->longer, POINTS, t->long_whole, pieces);
        oltr_results_free(pieces);
    }
}

/* A run of short replications can be stopped, too. */
static void short_replications_can_be_stopped(void **state)
{
    const trial *t = *state;
    oltr_results *r = new_results(t->point, POINTS);
    watch w = {.until_stop = 0};
    oltr_run_options options = {.threads = 1, .stop = stop_later, .context = &w};
    expect(oltr_run(t->point, POINTS, &options, r, NULL), OLTR_EINTERRUPTED);
    assert_true(w.until_stop < 0);
    assert_true(oltr_results_at(r, 0, 0, 0).replications < t->point[0].replications);
    oltr_results_free(r);
}

/* New results for each piece, as in a new process: only the file connects them. */
static void resumed_from_a_file(void **state)
{
    const trial *t = *state;
    const char *path = path_of("partial");
    oltr_results *piece = NULL;
    oltr_status status = OLTR_EINTERRUPTED;
    int pieces = 0;
    for (; status == OLTR_EINTERRUPTED && pieces < 200; pieces++) {
        watch w = {.until_stop = 12 << (pieces / 2)};
        oltr_run_options options = {
            .threads = 2, .partial = path, .stop = stop_later, .context = &w};
        oltr_results_free(piece);
        piece = new_results(t->longer, POINTS);
        if (pieces)
            expect(oltr_results_load(piece, path, NULL), OLTR_OK);
        status = oltr_run(t->longer, POINTS, &options, piece, NULL);
    }
    expect(status, OLTR_OK);
    assert_true(pieces > 1);
    assert_same_results(t->longer, POINTS, t->long_whole, piece);
    oltr_results_free(piece);
    unlink(path);
}

static void saved_and_loaded(void **state)
{
    const trial *t = *state;
    const char *path = path_of("saved");
    oltr_results *copy = new_results(t->point, POINTS);
    expect(oltr_results_save(t->whole, path, NULL), OLTR_OK);
    expect(oltr_results_load(copy, path, NULL), OLTR_OK);
    assert_same_results(t->point, POINTS, t->whole, copy);
    oltr_run_options options = {.threads = 1};
    expect(oltr_run(t->point, POINTS, &options, copy, NULL), OLTR_OK); /* nothing is left to do */
    assert_same_results(t->point, POINTS, t->whole, copy);
    oltr_results_free(copy);
    unlink(path);
}

/* ---- the definition */

/* Whether the user of a round likes the item: asked with a list of this item alone, so that the
 * answer cannot depend on the list, and of the cascade, because all click models draw it alike. */
static bool pleases(const oltr_experiment *e, truth *t, oltr_rng user, uint32_t item)
{
    oltr_ranking alone = {1, &item, NULL};
    double reward = 0;
    click_ops_of("cascade", NULL)->scan(&e->world, &t->as, &user, &alone, &reward);
    return reward > 0;
}

/* What else a user decides, with a word of its own. */
static bool decides(oltr_rng user, uint32_t place, uint32_t purpose, double chance)
{
    uint32_t word[4];
    words_at(&user, place / 4, purpose, word);
    return (word[place % 4] + 0.5) / 4294967296.0 < chance;
}

/* Users of dcm, pbm and dbn: the click of every slot, and whether it was examined. */
static void browse_list(const oltr_experiment *e, truth *t, oltr_rng user, const uint32_t *item,
                        double *click, uint8_t *examined)
{
    bool there = true, by_item = has_clicks(&e->world, "dbn");
    for (uint32_t slot = 0; slot < e->slots; slot++) {
        slot_users u = users_of(&e->world, slot);
        examined[slot] =
            there && (!has_clicks(&e->world, "pbm") || decides(user, slot, 1, u.examine));
        click[slot] = examined[slot] && pleases(e, t, user, item[slot]);
        if (click[slot] > 0 && decides(user, by_item ? item[slot] : slot, 1, u.leave))
            there = false;
        if (by_item && !decides(user, slot, 2, u.go_on))
            there = false;
    }
}

/* What a policy is told: its own reading, or that of the world. */
static oltr_feedback told(const oltr_experiment *e, const oltr_contestant *c, const double *click,
                          uint8_t *examined)
{
    bool dbn = has_clicks(&e->world, "dbn");
    const double *values = e->world.click_values;
    uint32_t seen = c->learning                    ? c->learning->seen
                    : has_clicks(&e->world, "pbm") ? OLTR_SEEN_ALL
                    : values                       ? (uint32_t)values[dbn ? 2 : 1] + 1
                                                   : OLTR_SEEN_LAST;
    uint32_t first = e->slots, last = e->slots;
    for (uint32_t slot = e->slots; slot-- > 0;)
        first = click[slot] > 0 ? slot + 1 : first;
    for (uint32_t slot = 0; slot < e->slots; slot++)
        last = click[slot] > 0 ? slot + 1 : last;
    for (uint32_t slot = 0; slot < e->slots && seen != OLTR_SEEN_TRUE; slot++)
        examined[slot] = seen == OLTR_SEEN_ALL || slot < (seen == OLTR_SEEN_FIRST ? first : last);
    return (oltr_feedback){.n_examined = e->slots, .reward = click, .examined = examined};
}

/* The cascade: from the top to the first item that pleases; without one, as far as users look. */
static uint32_t scan_list(const oltr_experiment *e, truth *t, oltr_rng user, const uint32_t *item,
                          double *reward)
{
    uint32_t look = e->world.examined_without_click;
    for (uint32_t slot = 0; slot < e->slots; slot++) {
        reward[slot] = pleases(e, t, user, item[slot]);
        if (reward[slot] > 0)
            return slot + 1;
    }
    return look && look < e->slots ? look : e->slots;
}

/* NDCG of a list, from all attractions in falling order; NaN where means have any sign. */
static double ndcg_twin(const oltr_experiment *e, const truth *t, const uint32_t *item)
{
    double order[N], gain = 0, most = 0;
    memcpy(order, t->as.attraction, sizeof order);
    qsort(order, N, sizeof *order, falling);
    for (uint32_t k = 0; k < e->slots; k++) {
        gain += t->as.attraction[item[k]] / (log(k + 2) / log(2));
        most += order[k] / (log(k + 2) / log(2));
    }
    return strcmp(e->world.kind, "scalar") == 0 ? NAN : gain / most;
}

/* What one policy has reached at the end of one replication. */
typedef struct played {
    double regret, reward, ndcg;
    double gain; /* reward since the last checkpoint but one */
} played;

static played play_twin(const oltr_experiment *e, const oltr_contestant *c, uint64_t replication)
{
    truth t;
    uint32_t n = c->items ? c->items : N;
    draw_truth(&e->world, e->seed, replication, &t);
    bool given = e->world.prior_a && !e->world.kind_values; /* truths.c has those of the values */
    for (uint32_t i = 0; given && i < N; i++) {
        t.a[i] = e->world.prior_a[i] + e->world.misspecification;
        t.b[i] = e->world.prior_b[i] - e->world.misspecification;
    }
    oltr_settings s = c->settings;
    s.n_items = n;
    if (s.info->uses_prior && s.value[param_index(s.info, "prior")] > 0)
        s.prior = (oltr_prior){.a = t.a, .b = t.b};
    oltr_policy *p = policy_from(&s);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_rng rng = oltr_rng_make(e->seed, replication);
    double best = 0;
    played out = {0};
    for (uint64_t round = 1; round <= e->rounds; round++) {
        uint32_t item[SLOTS];
        double click[SLOTS], mean;
        uint8_t examined[SLOTS];
        oltr_ranking list = {e->slots, item, NULL};
        advance(&e->world, e->seed, replication, round, &t);
        oltr_query query = {.n_items = n, .dim = e->world.dim, .x = t.as.x};
        expect(oltr_rank(p, &query, oltr_rng_at(rng, STREAM_POLICY, round), scratch, &list),
               OLTR_OK);
        oltr_rng user = oltr_rng_at(rng, STREAM_USERS, round);
        oltr_feedback seen = {0, click};
        if (has_clicks(&e->world, "cascade")) {
            seen.n_examined = scan_list(e, &t, user, item, click);
        } else {
            browse_list(e, &t, user, item, click, examined);
            seen = told(e, c, click, examined);
        }
        expect(oltr_learn(p, &query, &list, &seen), OLTR_OK);
        double value = list_value(&e->world, t.as.attraction, item, e->slots);
        if (round == 1 || moves(&e->world))
            best = has_clicks(&e->world, "cascade")
                       ? 1 - best_no_click(t.as.attraction, e->slots)
                       : best_of_all_lists(&e->world, t.as.attraction, &mean);
        out.regret += best - value;
        out.reward += value;
        out.gain += round > e->checkpoint[e->n_checkpoints - 2] ? value : 0;
        out.ndcg = ndcg_twin(e, &t, item);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    return out;
}

/* Mean and standard error of the metric at the last checkpoint are those of the numbers. */
static void assert_metric(const trial *t, uint32_t policy, uint32_t metric, const double *x)
{
    const oltr_experiment *e = &t->point[0];
    double mean = 0, squares = 0, n = e->replications;
    for (uint32_t i = 0; i < e->replications; i++)
        mean += x[i] / n;
    for (uint32_t i = 0; i < e->replications; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    oltr_estimate m = oltr_results_metric(t->whole, 0, policy, MARKS - 1, metric);
    if (isnan(mean))
        assert_true(isnan(m.mean) && isnan(m.se) && m.replications == 0);
    else if (fabs(m.mean - mean) > 1e-9 || fabs(m.se - sqrt(squares / (n - 1) / n)) > 1e-9)
        fail_msg("metric %u of %s: %.12g (se %.9g), expected %.12g (%.9g)", metric,
                 e->policy[policy].label, m.mean, m.se, mean, sqrt(squares / (n - 1) / n));
}

static void a_run_is_its_definition(void **state)
{
    const trial *t = *state;
    const oltr_experiment *e = &t->point[0];
    for (uint32_t j = 0; j < e->n_policies; j++) {
        double sum = 0, squares = 0, rewards = 0, n = e->replications, rate[100], ndcg[100];
        assert_true(n <= 100);
        uint64_t last = e->checkpoint[MARKS - 1] - e->checkpoint[MARKS - 2];
        for (uint64_t replication = 0; replication < e->replications; replication++) {
            played twin = play_twin(e, &e->policy[j], replication);
            sum += twin.regret;
            squares += twin.regret * twin.regret;
            rewards += twin.reward;
            rate[replication] = twin.gain / (double)last;
            ndcg[replication] = twin.ndcg;
        }
        assert_metric(t, j, OLTR_CTR, rate);
        assert_metric(t, j, OLTR_NDCG, ndcg);
        oltr_outcome o = oltr_results_at(t->whole, 0, j, MARKS - 1);
        double se = sqrt(fmax(0, (squares - sum * sum / n) / (n - 1)) / n);
        if (fabs(o.regret - sum / n) > 1e-9 || fabs(o.reward - rewards / n) > 1e-9 ||
            fabs(o.regret_se - se) > 1e-6)
            fail_msg("%s: regret %.12g (se %.9g), expected %.12g (%.9g)", e->policy[j].label,
                     o.regret, o.regret_se, sum / n, se);
    }
}

/* Policies that know some of the items show only these; regret is against all of them. */
static void some_of_the_items(void **state)
{
    static oltr_contestant policy[MOST_POLICIES];
    oltr_experiment e = ((const trial *)*state)->point[0];
    e.replications = 2;
    for (uint32_t j = 0; j < e.n_policies; j++) {
        policy[j] = e.policy[j];
        policy[j].items = N - 1 - j % 3;
    }
    e.policy = policy;
    oltr_results *r = run(&e, 1, 2);
    for (uint32_t j = 0; j < e.n_policies; j++) {
        double mean = 0;
        for (uint64_t replication = 0; replication < 2; replication++)
            mean += play_twin(&e, &policy[j], replication).regret / 2;
        double regret = oltr_results_at(r, 0, j, MARKS - 1).regret;
        if (fabs(regret - mean) > 1e-9)
            fail_msg("%s, %u items: regret %.12g, expected %.12g", policy[j].label, policy[j].items,
                     regret, mean);
    }
    oltr_results_free(r);
}

/* A policy that knows all items plays as one that is not given their number; other numbers are
 * another experiment. */
static void all_of_the_items(void **state)
{
    static oltr_contestant policy[MOST_POLICIES];
    const trial *t = *state;
    oltr_experiment e = t->point[0];
    for (uint32_t j = 0; j < e.n_policies; j++) {
        policy[j] = e.policy[j];
        policy[j].items = N;
    }
    e.policy = policy;
    oltr_results *r = run(&e, 1, 1);
    for (uint32_t j = 0; j < e.n_policies; j++)
        assert_true(fabs(oltr_results_at(r, 0, j, MARKS - 1).regret -
                         oltr_results_at(t->whole, 0, j, MARKS - 1).regret) <= 0);
    policy[0].items = N - 1;
    oltr_error error;
    assert_int_equal(oltr_run(&e, 1, NULL, r, &error), OLTR_EMISMATCH);
    oltr_results_free(r);
    policy[0].items = SLOTS - 1;
    assert_int_equal(oltr_experiment_check(&e, &error), OLTR_EITEM);
    assert_non_null(strstr(error.msg, "must be from the number of slots"));
    policy[0].items = N + 1;
    assert_int_equal(oltr_experiment_check(&e, &error), OLTR_EITEM);
}

/* The click models that the twins of this suite play. */
static bool has_twin(const char *clicks)
{
    static const char *const known[] = {"cascade", "abandon", "dcm", "pbm", "dbn"};
    bool found = false;
    for (size_t i = 0; i < COUNT(known); i++)
        found = found || strcmp(clicks, known[i]) == 0;
    return found;
}

/* Every world of the catalogue is in a scene; dataset_world.c has the one of datasets, and
 * unit/lab/fitted_models.c that of fitted users. */
static void every_world_has_a_scene(void **state)
{
    for (uint32_t w = 0; w < oltr_world_count(); w++) {
        const char *name = oltr_world_at(w)->name;
        bool found = strcmp(name, "dataset") == 0 || strcmp(name, "fitted") == 0;
        for (size_t i = 0; i < SCENES; i++)
            found = found || strcmp(scenes[i].world.kind, name) == 0;
        if (!found || !strlen(oltr_world_at(w)->summary))
            fail_msg("world %s has no scene (add one to tests/conform/scenes.h) or no summary",
                     name);
    }
    for (uint32_t c = 0; c < oltr_clicks_count(); c++) {
        bool found = false;
        for (size_t i = 0; i < SCENES; i++)
            found = found || strcmp(world_of(&scenes[i]).clicks, oltr_clicks_at(c)->name) == 0;
        if (!found)
            fail_msg("click model %s has no scene; add one to tests/conform/scenes.h",
                     oltr_clicks_at(c)->name);
        else if (!has_twin(oltr_clicks_at(c)->name))
            fail_msg("click model %s has no twin; add one to browse_list() in this file and to "
                     "users_of() in scenes.h, then its name to has_twin()",
                     oltr_clicks_at(c)->name);
    }
    assert_null(oltr_world_at(oltr_world_count()));
    assert_null(oltr_clicks_at(oltr_clicks_count()));
}

int main(void)
{
    static suite all;
    for (size_t i = 0; i < SCENES; i++)
        set_trial(&trials[i], &scenes[i]);
#define ON_TRIALS(f)                                                                               \
    for (size_t i = 0; i < SCENES; i++)                                                            \
    add_test(&all, #f, scenes[i].name, f, &trials[i])
    ON_TRIALS(any_number_of_threads);
    ON_TRIALS(curves_are_curves);
    ON_TRIALS(company_changes_nothing);
    ON_TRIALS(another_seed_is_another_run);
    ON_TRIALS(stopped_and_resumed);
    ON_TRIALS(short_replications_can_be_stopped);
    ON_TRIALS(resumed_from_a_file);
    ON_TRIALS(saved_and_loaded);
    for (size_t i = 0; i < SCENES; i++)
        if (!is_scalar(&scenes[i]))
            add_test(&all, "a_run_is_its_definition", scenes[i].name, a_run_is_its_definition,
                     &trials[i]);
    for (size_t i = 0; i < SCENES; i++)
        if (!is_scalar(&scenes[i]))
            add_test(&all, "some_of_the_items", scenes[i].name, some_of_the_items, &trials[i]);
    add_test(&all, "all_of_the_items", scenes[0].name, all_of_the_items, &trials[0]);
    ONCE(&all, every_world_has_a_scene);
    int failed = cmocka_run_group_tests_name("an experiment is a function of its description",
                                             all.test, make_folder, remove_folder);
    for (size_t i = 0; i < SCENES; i++)
        free_trial(&trials[i]);
    return failed;
}
