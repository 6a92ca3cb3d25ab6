/* dataset_world.c - the world of judged documents is its definition: one bandit for each query.
 *
 * A small dataset with queries of different sizes is played by every policy of the catalogue, and
 * each curve is compared with a slow twin that makes a policy for each replication from the rows of
 * its query, its own form of the prior, and plain loops.  Seeds are fixed, everything compared is
 * exact but for the order of additions.
 */
#include "lab/world/world.h"

#include "support/unit.h"

#include <stdio.h>

enum { QUERIES = 4, ROWS = 6 + 3 + 9 + 5, DIM = 3, SLOTS = 3, MOST = 64, MARKS = 3 };
static const uint64_t marks[MARKS] = {1, 7, 60};
static const uint64_t ids[QUERIES] = {17, 4, 900000000000, 23};
static const uint32_t first_row[QUERIES + 1] = {0, 6, 9, 18, 23};

/* Everything that the world points at. */
typedef struct fixture {
    float x[ROWS * DIM];
    uint8_t grade[ROWS];
    double attraction[ROWS], a[ROWS], b[ROWS], mean[ROWS], sd[ROWS];
    oltr_dataset data;
    oltr_contestant policy[MOST];
    char label[MOST][64];
    uint32_t n_policies;
    oltr_experiment e;
    double room[ROWS];
} fixture;

static void add_policy(fixture *f, const oltr_policy_info *info, const char *prior)
{
    oltr_contestant *c = &f->policy[f->n_policies];
    char *label = f->label[f->n_policies++];
    assert_true(f->n_policies <= MOST);
    snprintf(label, sizeof f->label[0], "%s %s", info->name, prior);
    c->label = label;
    assert_int_equal(oltr_settings_init(&c->settings, info->name, 9, NULL), OLTR_OK);
    if (info->uses_prior)
        assert_int_equal(oltr_settings_set(&c->settings, "prior", prior, NULL), OLTR_OK);
}

static void fill_rows(fixture *f)
{
    dice from = {5};
    for (uint32_t i = 0; i < ROWS; i++) {
        double s[4] = {0}, sum = 0, squares = 0;
        for (uint32_t j = 0; j < DIM; j++)
            f->x[i * DIM + j] = (float)(unit(&from) - 0.5);
        f->grade[i] = (uint8_t)below(&from, 5);
        assert_int_equal(oltr_attraction_of_grade("err", f->grade[i], 4, &f->attraction[i], NULL),
                         OLTR_OK);
        for (int m = 0; m < 4; m++) { /* the scores of four models: spread wider than any Beta of
                                         that mean could be */
            s[m] = m % 2 ? 0.999 - 0.001 * unit(&from) : 0.001 * unit(&from);
            sum += s[m];
            squares += s[m] * s[m];
        }
        f->a[i] = sum;
        f->b[i] = 4 - sum;
        f->mean[i] = sum / 4;
        f->sd[i] =
            2 * sqrt(squares / 4 - f->mean[i] * f->mean[i]); /* no Beta has such a deviation */
    }
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    fill_rows(f);
    f->data = (oltr_dataset){QUERIES, ROWS, DIM, ids, first_row, f->grade, f->x, NULL};
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        add_policy(f, info, "none");
        if (info->uses_prior)
            add_policy(f, info, "full");
    }
    f->e = (oltr_experiment){.seed = 3,
                             .rounds = marks[MARKS - 1],
                             .slots = SLOTS,
                             .replications = 2 * QUERIES + 1,
                             .n_checkpoints = MARKS,
                             .checkpoint = marks,
                             .n_policies = f->n_policies,
                             .policy = f->policy};
    f->e.world = (oltr_world){.kind = "dataset",
                              .n_items = 9,
                              .dim = DIM,
                              .clicks = "cascade",
                              .dataset = &f->data,
                              .attraction = f->attraction,
                              .prior_a = f->a,
                              .prior_b = f->b,
                              .prior_mean = f->mean,
                              .prior_sd = f->sd};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static oltr_results *run(const oltr_experiment *e, uint32_t threads)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(e, 1, &error);
    oltr_run_options options = {.threads = threads};
    if (!r || oltr_run(e, 1, &options, r, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return r;
}

static bool same(oltr_outcome x, oltr_outcome y)
{
    return !memcmp(&x.regret, &y.regret, sizeof x.regret) &&
           !memcmp(&x.reward, &y.reward, sizeof x.reward) &&
           !memcmp(&x.regret_se, &y.regret_se, sizeof x.regret_se) &&
           x.replications == y.replications;
}

/* ---- the twin */

/* The chance that none of the k best attracts. */
static double best_no_click(const double *nu, uint32_t n, uint32_t k)
{
    bool taken[ROWS] = {false};
    double product = 1;
    for (uint32_t slot = 0; slot < k; slot++) {
        uint32_t best = n;
        for (uint32_t i = 0; i < n; i++)
            if (!taken[i] && (best == n || nu[i] > nu[best]))
                best = i;
        taken[best] = true;
        product *= 1 - nu[best];
    }
    return product;
}

/* Beta policies get Beta(a,b), gts the moments: by name, so that a wrong flag in the catalogue is
 * found. */
static void tell(const fixture *f, uint32_t first, oltr_settings *s)
{
    const oltr_world *w = &f->e.world;
    char choice[16] = "none"; /* `prior` is the first parameter of those that have it */
    if (!s->info->uses_prior || oltr_settings_get(s, 0, choice, sizeof choice) != OLTR_OK ||
        !strcmp(choice, "none"))
        return;
    if (w->prior_mean && (!strcmp(s->info->name, "gts") || !w->prior_a))
        s->prior = (oltr_prior){.mean = w->prior_mean + first, .sd = w->prior_sd + first};
    else if (w->prior_a)
        s->prior = (oltr_prior){.a = w->prior_a + first, .b = w->prior_b + first};
}

static double play(fixture *f, uint32_t policy, uint64_t replication, double *reward)
{
    uint32_t query = (uint32_t)(replication % QUERIES), first = first_row[query],
             n = first_row[query + 1] - first;
    const double *nu = f->attraction + first;
    oltr_settings s = f->policy[policy].settings;
    s.n_items = n;
    s.dim = DIM;
    tell(f, first, &s);
    oltr_policy *p = oltr_policy_new(&s, NULL);
    assert_non_null(p);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_rng rng = oltr_rng_make(f->e.seed, replication);
    oltr_query from = {.n_items = n, .dim = DIM, .x = f->x + (size_t)first * DIM};
    double regret = 0, best = best_no_click(nu, n, SLOTS);
    *reward = 0;
    for (uint64_t t = 1; t <= f->e.rounds; t++) {
        uint32_t item[SLOTS], examined = 0;
        double click[SLOTS] = {0}, none = 1;
        oltr_ranking list = {SLOTS, item, NULL};
        assert_int_equal(oltr_rank(p, &from, oltr_rng_at(rng, STREAM_POLICY, t), scratch, &list),
                         OLTR_OK);
        oltr_rng user = oltr_rng_at(rng, STREAM_USERS, t);
        instance truth = {.n_items = n, .attraction = f->attraction + first};
        examined = click_ops_of("cascade", NULL)->scan(&f->e.world, &truth, &user, &list, click);
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            none *= 1 - nu[item[slot]];
        oltr_feedback seen = {examined, click};
        assert_int_equal(oltr_learn(p, &from, &list, &seen), OLTR_OK);
        regret += none - best;
        *reward += 1 - none;
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    return regret;
}

static void assert_is_definition(fixture *f)
{
    oltr_results *r = run(&f->e, 2);
    for (uint32_t j = 0; j < f->n_policies; j++) {
        double regret = 0, reward = 0, one, n = f->e.replications;
        for (uint64_t replication = 0; replication < f->e.replications; replication++) {
            regret += play(f, j, replication, &one);
            reward += one;
        }
        oltr_outcome o = oltr_results_at(r, 0, j, MARKS - 1);
        if (!(fabs(o.regret - regret / n) < 1e-9 && fabs(o.reward - reward / n) < 1e-9))
            fail_msg("%s: regret %.12g instead of %.12g", f->label[j], o.regret, regret / n);
    }
    oltr_results_free(r);
}

static void a_run_is_its_definition(void **state)
{
    fixture *f = *state;
    assert_is_definition(f);
    for (uint32_t i = 0; i < ROWS;
         i++) /* a Beta has these, so that Beta policies can take them too */
        f->sd[i] = 0.1;
    f->e.world.prior_a = f->e.world.prior_b = NULL;
    assert_is_definition(f);
    f->e.world.prior_a = f->a;
    f->e.world.prior_b = f->b;
    f->e.world.prior_mean = f->e.world.prior_sd = NULL;
    assert_is_definition(f);
}

static void any_number_of_threads(void **state)
{
    const fixture *f = *state;
    oltr_results *one = run(&f->e, 1);
    for (uint32_t threads = 2; threads < 5; threads++) {
        oltr_results *many = run(&f->e, threads);
        for (uint32_t j = 0; j < f->n_policies; j++)
            for (uint32_t m = 0; m < MARKS; m++)
                assert_true(same(oltr_results_at(one, 0, j, m), oltr_results_at(many, 0, j, m)));
        oltr_results_free(many);
    }
    oltr_results_free(one);
}

/* ---- traffic: queries that share the rounds */

static const double interleaved[] = {1, 1000}, in_turn[] = {2, 4};

/* The query of each round, by the world's own advance(). */
static void queries_of_rounds(const fixture *f, uint64_t replication, uint32_t *query)
{
    double nu[9], a[9], b[9], mean[9], sd[9];
    instance truth = {.attraction = nu, .a = a, .b = b, .mean = mean, .sd = sd, .dim = DIM};
    const world_ops *ops = world_ops_of("dataset", NULL);
    ops->draw(&f->e.world, f->e.seed, replication, &truth, NULL);
    assert_int_equal(truth.n_items, 9); /* the largest, so that all have room */
    for (uint64_t t = 1; t <= f->e.rounds; t++) {
        ops->advance(&f->e.world, f->e.seed, replication, t, &truth, NULL);
        query[t] = truth.query;
        uint32_t first = first_row[query[t]];
        assert_int_equal(truth.n_items, first_row[query[t] + 1] - first);
        assert_ptr_equal(truth.x, f->x + (size_t)first * DIM);
        assert_memory_equal(nu, f->attraction + first, truth.n_items * sizeof *nu);
    }
}

/* One policy for each query with items of its own, or one whose items are all rows. */
static double play_traffic(fixture *f, uint32_t index, uint64_t replication)
{
    bool shared = f->policy[index].shared;
    uint32_t query[64], n_policies = shared ? 1 : QUERIES;
    oltr_policy *p[QUERIES];
    oltr_scratch *scratch[QUERIES];
    oltr_rng rng = oltr_rng_make(f->e.seed, replication);
    double regret = 0;
    queries_of_rounds(f, replication, query);
    for (uint32_t q = 0; q < n_policies; q++) {
        oltr_settings s = f->policy[index].settings;
        s.n_items = shared ? ROWS : first_row[q + 1] - first_row[q];
        s.dim = DIM;
        tell(f, shared ? 0 : first_row[q], &s);
        p[q] = oltr_policy_new(&s, NULL);
        assert_non_null(p[q]);
        scratch[q] = oltr_scratch_new(p[q]);
    }
    for (uint64_t t = 1; t <= f->e.rounds; t++) {
        uint32_t first = first_row[query[t]], n = first_row[query[t] + 1] - first,
                 q = shared ? 0 : query[t], all[9], item[SLOTS], place[SLOTS];
        double click[SLOTS] = {0}, none = 1;
        for (uint32_t i = 0; i < n; i++)
            all[i] = first + i;
        oltr_query from = {
            .n_items = n, .item = shared ? all : NULL, .dim = DIM, .x = f->x + (size_t)first * DIM};
        oltr_ranking list = {SLOTS, item, NULL}, places = {SLOTS, place, NULL};
        assert_int_equal(
            oltr_rank(p[q], &from, oltr_rng_at(rng, STREAM_POLICY, t), scratch[q], &list), OLTR_OK);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            place[slot] = shared ? item[slot] - first : item[slot];
            none *= 1 - f->attraction[first + place[slot]];
        }
        oltr_rng user = oltr_rng_at(rng, STREAM_USERS, t);
        instance truth = {.n_items = n, .attraction = f->attraction + first};
        oltr_feedback seen = {
            click_ops_of("cascade", NULL)->scan(&f->e.world, &truth, &user, &places, click), click};
        assert_int_equal(oltr_learn(p[q], &from, &list, &seen), OLTR_OK);
        regret += none - best_no_click(f->attraction + first, n, SLOTS);
    }
    for (uint32_t q = 0; q < n_policies; q++) {
        oltr_scratch_free(scratch[q]);
        oltr_policy_free(p[q]);
    }
    return regret;
}

/* Every policy of the catalogue, one for each query and shared. */
static void traffic_is_its_definition(void **state)
{
    fixture *f = *state;
    f->e.replications = 3;
    assert_int_equal(f->e.rounds, 60);
    for (int way = 0; way < 4; way++) {
        f->e.world.kind_values = way % 2 ? in_turn : interleaved;
        assert_int_equal(world_groups(&f->e.world), 1);
        for (uint32_t j = 0; j < f->n_policies; j++)
            f->policy[j].shared = way / 2;
        oltr_results *r = run(&f->e, 2);
        for (uint32_t j = 0; j < f->n_policies; j++) {
            double regret = 0;
            for (uint64_t replication = 0; replication < f->e.replications; replication++)
                regret += play_traffic(f, j, replication) / f->e.replications;
            double found = oltr_results_at(r, 0, j, MARKS - 1).regret;
            if (!(fabs(found - regret) < 1e-9))
                fail_msg("%s, way %d: regret %.12g instead of %.12g", f->label[j], way, found,
                         regret);
        }
        assert_int_equal(oltr_results_saturated(r, 0), 0);
        oltr_results_free(r);
    }
}

/* With one query there is nothing to share: the same bits in every way. */
static void one_query_has_no_traffic(void **state)
{
    fixture *f = *state;
    f->data.n_queries = 1;
    static const uint32_t only[2] = {0, 9};
    f->data.first_row = only;
    f->data.n_rows = 9;
    f->e.replications = 3;
    oltr_results *apart = run(&f->e, 1);
    for (int way = 0; way < 4; way++) {
        f->e.world.kind_values = way % 2 ? in_turn : interleaved;
        for (uint32_t j = 0; j < f->n_policies; j++)
            f->policy[j].shared = way / 2;
        oltr_results *r = run(&f->e, 1);
        for (uint32_t j = 0; j < f->n_policies; j++)
            assert_true(same(oltr_results_at(apart, 0, j, 2), oltr_results_at(r, 0, j, 2)));
        oltr_results_free(r);
    }
    oltr_results_free(apart);
}

/* Interleaved: each query equally often.  In turn: each once in a cycle, at every place of the
 * order equally often.  The seeds are fixed; bounds are five standard deviations. */
static void traffic_is_fair(void **state)
{
    fixture *f = *state;
    enum { CYCLES = 2000 };
    uint32_t query[64], seen[QUERIES] = {0}, at[QUERIES][QUERIES] = {{0}};
    f->e.world.kind_values = interleaved;
    for (uint64_t r = 0; r < 200; r++) {
        queries_of_rounds(f, r, query);
        for (uint64_t t = 1; t <= 60; t++)
            seen[query[t]]++;
    }
    for (uint32_t q = 0; q < QUERIES; q++)
        assert_true(fabs(seen[q] - 3000.0) < 5 * sqrt(12000 * 0.25 * 0.75));
    f->e.world.kind_values = in_turn;
    for (uint64_t r = 0; r < CYCLES; r++) {
        uint32_t once = 0;
        queries_of_rounds(f, r, query);
        for (uint64_t t = 1; t <= 60; t++)
            assert_int_equal(query[t], query[(t - 1) / 4 % QUERIES * 4 + 1]);
        for (uint32_t p = 0; p < QUERIES; p++) {
            at[p][query[4 * p + 1]]++;
            once |= 1u << query[4 * p + 1];
        }
        assert_int_equal(once, (1u << QUERIES) - 1);
    }
    for (uint32_t p = 0; p < QUERIES; p++)
        for (uint32_t q = 0; q < QUERIES; q++)
            assert_true(fabs(at[p][q] - CYCLES / 4.0) < 5 * sqrt(CYCLES * 0.25 * 0.75));
}

/* ---- feedback: users who click and give rewards */

/* One policy in one replication, from scan() and clicked() alone. */
static double play_feedback(fixture *f, uint32_t index, uint64_t replication)
{
    uint32_t query = (uint32_t)(replication % QUERIES), first = first_row[query],
             n = first_row[query + 1] - first, feedback = f->policy[index].feedback;
    const double *nu = f->attraction + first;
    const click_ops *users = click_ops_of("abandon", NULL);
    oltr_settings s = f->policy[index].settings;
    s.n_items = n;
    s.dim = DIM;
    tell(f, first, &s);
    oltr_policy *p = oltr_policy_new(&s, NULL);
    assert_non_null(p);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_rng rng = oltr_rng_make(f->e.seed, replication);
    oltr_query from = {.n_items = n, .dim = DIM, .x = f->x + (size_t)first * DIM};
    instance truth = {.n_items = n, .attraction = f->attraction + first, .room = f->room};
    double regret = 0, best = users->best(&f->e.world, &truth, SLOTS);
    for (uint64_t t = 1; t <= f->e.rounds; t++) {
        uint32_t item[SLOTS];
        double reward[SLOTS], click[SLOTS], told[SLOTS], value = 0, seen_by = 1;
        static const double two[SLOTS] = {2, 2, 2};
        oltr_ranking list = {SLOTS, item, NULL};
        assert_int_equal(oltr_rank(p, &from, oltr_rng_at(rng, STREAM_POLICY, t), scratch, &list),
                         OLTR_OK);
        oltr_rng user = oltr_rng_at(rng, STREAM_USERS, t);
        uint32_t examined = users->scan(&f->e.world, &truth, &user, &list, reward);
        users->clicked(&f->e.world, &truth, &user, &list, examined, click);
        for (uint32_t i = 0; i < SLOTS; i++, seen_by *= 1 - f->e.world.abandon)
            value += seen_by * nu[item[i]];
        for (uint32_t i = 0; i < examined; i++) {
            assert_true(click[i] == 0 || click[i] == 1);
            told[i] = feedback == OLTR_FEEDBACK_CLICKS ? click[i]
                      : feedback == OLTR_FEEDBACK_BOTH ? (click[i] + reward[i]) / 2
                                                       : reward[i];
        }
        oltr_feedback seen = {
            examined, told, NULL, feedback == OLTR_FEEDBACK_BOTH ? two : NULL, {NULL, NULL}};
        assert_int_equal(oltr_learn(p, &from, &list, &seen), OLTR_OK);
        regret += fmax(0, best - value);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    return regret;
}

static void feedback_is_its_definition(void **state)
{
    fixture *f = *state;
    static const char *const kinds[] = {"lints", "gts", "lints", "gts", "lints", "ts-beta"};
    static const uint32_t told[] = {OLTR_FEEDBACK_REWARDS, OLTR_FEEDBACK_BOTH,
                                    OLTR_FEEDBACK_CLICKS,  OLTR_FEEDBACK_CLICKS,
                                    OLTR_FEEDBACK_BOTH,    OLTR_FEEDBACK_CLICKS};
    memset(f->policy, 0, sizeof f->policy);
    f->n_policies = 0;
    for (uint32_t i = 0; i < 6; i++) {
        add_policy(f, oltr_policy_info_by_name(kinds[i], NULL), "none");
        f->policy[i].feedback = told[i];
    }
    f->e.n_policies = 6;
    f->e.world.clicks = "abandon";
    f->e.world.abandon = 0.2;
    f->e.world.noise_sd = 0.3;
    oltr_results *r = run(&f->e, 2);
    for (uint32_t j = 0; j < 6; j++) {
        double regret = 0, n = f->e.replications, found = oltr_results_at(r, 0, j, 2).regret;
        for (uint64_t replication = 0; replication < f->e.replications; replication++)
            regret += play_feedback(f, j, replication) / n;
        if (!(fabs(found - regret) < 1e-9))
            fail_msg("%s, feedback %u: regret %.12g instead of %.12g", f->label[j], told[j], found,
                     regret);
    }
    oltr_results_free(r);
    oltr_error error = {OLTR_OK, ""};
    f->policy[5].feedback = OLTR_FEEDBACK_REWARDS;
    assert_int_equal(oltr_experiment_check(&f->e, &error), OLTR_EREWARD);
    assert_non_null(strstr(error.msg, "or give it `feedback: clicks`"));
    f->policy[5].feedback = 3;
    assert_int_equal(oltr_experiment_check(&f->e, &error), OLTR_EINVAL);
    assert_int_equal(oltr_settings_init(&f->policy[5].settings, "toprank", 9, NULL), OLTR_OK);
    f->policy[5].feedback = OLTR_FEEDBACK_BOTH;
    assert_int_equal(oltr_experiment_check(&f->e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "toprank cannot learn two observations of one slot"));
}

/* The chance of a click is the attraction, whatever the reward.  Bounds: five deviations. */
static void clicks_have_the_chance_of_the_mean_reward(void **state)
{
    const fixture *f = *state;
    enum { USERS = 4000 };
    const click_ops *users = click_ops_of("abandon", NULL);
    oltr_world w = {.clicks = "abandon", .noise_sd = 0.4};
    double nu[] = {0.05, 0.4, 0.9}, clicks[3] = {0}, product[3] = {0}, reward[3], click[3];
    uint32_t item[3] = {2, 0, 1};
    instance truth = {.n_items = 3, .attraction = nu};
    oltr_ranking list = {3, item, NULL};
    for (uint64_t t = 1; t <= USERS; t++) {
        oltr_rng user = oltr_rng_at(oltr_rng_make(f->e.seed, 0), STREAM_USERS, t);
        assert_int_equal(users->scan(&w, &truth, &user, &list, reward), 3);
        users->clicked(&w, &truth, &user, &list, 3, click);
        for (int slot = 0; slot < 3; slot++) {
            clicks[item[slot]] += click[slot] / USERS;
            product[item[slot]] +=
                (click[slot] - nu[item[slot]]) * (reward[slot] - nu[item[slot]]) / USERS;
        }
    }
    for (int i = 0; i < 3; i++) {
        double sd = sqrt(nu[i] * (1 - nu[i]) / USERS);
        assert_true(fabs(clicks[i] - nu[i]) < 5 * sd);
        assert_true(fabs(product[i]) < 5 * sd * w.noise_sd);
    }
}

/* ---- one instance */

static void an_instance_is_a_query(void **state)
{
    const fixture *f = *state;
    double nu[9], a[9], b[9], mean[9], sd[9];
    instance truth = {.attraction = nu, .a = a, .b = b, .mean = mean, .sd = sd, .dim = DIM};
    const double shifts[] = {0, 0.5};
    assert_int_equal(world_groups(&f->e.world), QUERIES);
    assert_int_equal(world_fewest(&f->e.world), 3);
    assert_int_equal(world_largest(&f->e.world), 2);
    for (int shift = 0; shift < 2; shift++) {
        oltr_world w = f->e.world;
        w.misspecification = shifts[shift];
        for (uint64_t r = 0; r < 3 * QUERIES; r++) {
            uint32_t q = (uint32_t)(r % QUERIES);
            world_ops_of("dataset", NULL)->draw(&w, r, r, &truth, NULL);
            assert_int_equal(truth.n_items, first_row[q + 1] - first_row[q]);
            assert_ptr_equal(truth.x, f->x + first_row[q] * DIM);
            assert_true(truth.tells && truth.tells_moments);
            for (uint32_t i = 0; i < truth.n_items; i++) {
                uint32_t row = first_row[q] + i;
                assert_true(fabs(nu[i] - (pow(2, f->grade[row]) - 1) / 16) < 1e-15);
                assert_true(fabs(a[i] - f->a[row] - shifts[shift]) < 1e-15);
                assert_true(fabs(b[i] - f->b[row] + shifts[shift]) < 1e-15);
                assert_true(fabs(mean[i] - a[i] / (a[i] + b[i])) <
                            1e-12); /* moves as the Beta's does */
                assert_true(fabs(sd[i] - f->sd[row]) < 1e-15);
            }
        }
    }
}

static void other_worlds_are_one_group(void **state)
{
    oltr_world w = {.kind = "beta", .n_items = 5, .clicks = "cascade"};
    assert_int_equal(world_groups(&w), 1);
    assert_int_equal(world_fewest(&w), 5);
    assert_int_equal(world_largest(&w), 0);
}

/* ---- what is refused */

/* A good experiment after one change, and the words that the refusal must have. */
#define REFUSED(status, words, change)                                                             \
    do {                                                                                           \
        oltr_experiment e = f->e;                                                                  \
        oltr_dataset data = f->data;                                                               \
        oltr_error error = {OLTR_OK, ""};                                                          \
        e.world.dataset = &data;                                                                   \
        change;                                                                                    \
        assert_int_equal(oltr_experiment_check(&e, &error), status);                               \
        if (!strstr(error.msg, words))                                                             \
            fail_msg("%s", error.msg);                                                             \
    } while (0)

static void bad_worlds_are_refused(void **state)
{
    const fixture *f = *state;
    static const uint32_t hole[QUERIES + 1] = {0, 6, 6, 18, 23},
                                         late[QUERIES + 1] = {1, 6, 9, 18, 23};
    double high[ROWS], wide[ROWS];
    float odd[ROWS * DIM];
    memcpy(high, f->attraction, sizeof high);
    memcpy(wide, f->sd, sizeof wide);
    memcpy(odd, f->x, sizeof odd);
    high[22] = 1.5;
    wide[22] = 0;
    odd[ROWS * DIM - 1] = NAN;
    assert_int_equal(oltr_experiment_check(&f->e, NULL), OLTR_OK);
    REFUSED(OLTR_EINVAL, "needs a dataset", e.world.dataset = NULL);
    REFUSED(OLTR_EINVAL, "attraction of each", e.world.attraction = NULL);
    REFUSED(OLTR_EINVAL, "at least 1 query", data.n_queries = 0);
    REFUSED(OLTR_EINVAL, "all of its arrays", data.x = NULL);
    REFUSED(OLTR_EITEM, "query 4 of the dataset has no documents", data.first_row = hole);
    REFUSED(OLTR_EINVAL, "rows among them", data.first_row = late);
    REFUSED(OLTR_EITEM, "9 items with 3 features, not of 8 with 3", e.world.n_items = 8);
    REFUSED(OLTR_EITEM, "not of 9 with 2", e.world.dim = 2);
    REFUSED(OLTR_EINVAL, "row 22: an attraction", e.world.attraction = high);
    REFUSED(OLTR_EFEATURE, "row 22: feature 2 is not finite", data.x = odd);
    REFUSED(OLTR_EFEATURE, "has the features of its rows", e.world.features = f->x);
    REFUSED(OLTR_EPRIOR, "both a and b", e.world.prior_a = NULL);
    REFUSED(OLTR_EPRIOR, "both means", e.world.prior_sd = NULL);
    REFUSED(OLTR_EPRIOR, "row 22: mean", e.world.prior_sd = wide);
    REFUSED(OLTR_EPRIOR, "no such prior", e.world.misspecification = 3);
    REFUSED(OLTR_EPRIOR, "to misspecify",
            (e.world.prior_a = e.world.prior_b = NULL, e.world.misspecification = 0.1));
    REFUSED(OLTR_ESLOTS, "only 3 documents for 4 slots", e.slots = 4);
    REFUSED(OLTR_EINVAL, "are for world dataset", e.world.kind = "beta");
    static const double odd_way[] = {3, 1}, no_visits[] = {2, 0};
    REFUSED(OLTR_EINVAL, "traffic must be from 0 to 2 and whole, not 3",
            e.world.kind_values = odd_way);
    REFUSED(OLTR_EINVAL, "visits must be from 1", e.world.kind_values = no_visits);
    oltr_contestant shared = f->policy[0], told = f->policy[0], some = f->policy[0];
    shared.shared = 1;
    some.items = 3;
    told.feedback = OLTR_FEEDBACK_CLICKS;
    REFUSED(OLTR_EINVAL, "`shared` needs queries that share the rounds",
            (e.policy = &shared, e.n_policies = 1));
    REFUSED(OLTR_EINVAL, "`items` is for worlds whose items are the same in every round",
            (e.policy = &some, e.n_policies = 1));
    REFUSED(OLTR_EINVAL, "leave `feedback` out", (e.policy = &told, e.n_policies = 1));
    REFUSED(OLTR_EPRIOR, "none is given",
            (e.world.prior_a = e.world.prior_b = e.world.prior_mean = e.world.prior_sd = NULL));
    /* moments that no Beta has are no prior for a Beta policy */
    REFUSED(OLTR_EPRIOR, "no Beta distribution", e.world.prior_a = e.world.prior_b = NULL);
}

/* Partial results belong to the very data they were made with. */
static void the_digest_knows_the_data(void **state)
{
    const fixture *f = *state;
    char path[] = "dataset-world-partial.oltr";
    float x[ROWS * DIM];
    double moved[ROWS];
    static const uint64_t other_ids[QUERIES] = {17, 4, 900000000000, 24};
    oltr_results *r = run(&f->e, 1);
    assert_int_equal(oltr_results_save(r, path, NULL), OLTR_OK);
    for (int change = 0; change < 8; change++) {
        oltr_experiment e = f->e;
        oltr_dataset data = f->data;
        e.world.dataset = &data;
        memcpy(x, f->x, sizeof x);
        x[ROWS * DIM - 1] += 0.25f;
        const double *from[] = {NULL, NULL, NULL, f->attraction, f->a, f->b, f->mean, f->sd};
        if (from[change]) {
            memcpy(moved, from[change], sizeof moved);
            moved[ROWS - 1] += moved[ROWS - 1] > 0.5 ? -0.01 : 0.01;
        }
        if (change == 1)
            data.x = x;
        if (change == 2)
            data.query = other_ids;
        const double **to[] = {NULL,
                               NULL,
                               NULL,
                               &e.world.attraction,
                               &e.world.prior_a,
                               &e.world.prior_b,
                               &e.world.prior_mean,
                               &e.world.prior_sd};
        if (to[change])
            *to[change] = moved;
        oltr_results *other = oltr_results_new(&e, 1, NULL);
        assert_non_null(other);
        assert_int_equal(oltr_results_load(other, path, NULL), change ? OLTR_EMISMATCH : OLTR_OK);
        oltr_results_free(other);
    }
    oltr_results_free(r);
    remove(path);
}

/* ---- grades */

static double of_grade(const char *mapping, uint32_t grade, uint32_t largest)
{
    double value = -1;
    oltr_error error = {OLTR_OK, ""};
    if (oltr_attraction_of_grade(mapping, grade, largest, &value, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return value;
}

static void grades_have_their_tables(void **state)
{
    static const double table[4][5] = {
        {0, .2, .4, .8, 1}, {.05, .3, .5, .7, .95}, {.4, .6, .7, .8, .9}, {.4, .45, .5, .55, .6}};
    static const char *const names[] = {"err", "perfect", "navigational", "informational",
                                        "near-random"};
    assert_int_equal(oltr_mapping_count(), 6);
    assert_null(oltr_mapping_at(6));
    assert_string_equal(oltr_mapping_at(5)->name, "linear");
    for (uint32_t g = 0; g < 8; g++)
        assert_true(fabs(of_grade("linear", g, 7) - g / 7.0) < 1e-15);
    for (uint32_t m = 0; m < 5; m++) {
        assert_string_equal(oltr_mapping_at(m)->name, names[m]);
        for (uint32_t g = 0; g < 5; g++)
            assert_true(fabs(of_grade(names[m], g, 4) -
                             (m ? table[m - 1][g] : (pow(2, g) - 1) / 16)) < 1e-15);
    }
    assert_true(fabs(of_grade("err", 2, 2) - 0.75) < 1e-15);
    assert_true(fabs(of_grade("err", 30, 30) - 1) < 1e-8);
}

static void unknown_grades_are_refused(void **state)
{
    double out = 0;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_attraction_of_grade("perfekt", 1, 4, &out, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "did you mean 'perfect'"));
    assert_int_equal(oltr_attraction_of_grade(NULL, 1, 4, &out, &error), OLTR_EINVAL);
    assert_int_equal(oltr_attraction_of_grade("err", 1, 4, NULL, &error), OLTR_EINVAL);
    assert_int_equal(oltr_attraction_of_grade("err", 5, 4, &out, &error), OLTR_EVALUE);
    assert_non_null(strstr(error.msg, "grade 5"));
    assert_int_equal(oltr_attraction_of_grade("err", 0, 0, &out, &error), OLTR_EVALUE);
    assert_int_equal(oltr_attraction_of_grade("err", 0, 31, &out, &error), OLTR_EVALUE);
    assert_int_equal(oltr_attraction_of_grade("informational", 1, 2, &out, &error), OLTR_EVALUE);
    assert_non_null(strstr(error.msg, "take err"));
    assert_int_equal(oltr_attraction_of_grade("informational", 5, 4, &out, &error), OLTR_EVALUE);
}

/* Some policies keep more of a small query than of a large one (engine/posterior/row_covariances.c:
 * up to 96 rows of 32 features): the room for the largest query is not enough for all. */
static void small_queries_may_need_more_room(void **state)
{
    enum { WIDE = 32, MANY = 20 + 95 + 110 };
    static const uint32_t rows[QUERIES] = {0, 20, 115, MANY};
    static float x[MANY * WIDE];
    static uint8_t grade[MANY];
    static double attraction[MANY], a[MANY], b[MANY], mean[MANY], sd[MANY];
    fixture *f = *state;
    dice from = {6};
    for (uint32_t i = 0; i < MANY; i++) {
        for (uint32_t j = 0; j < WIDE; j++)
            x[i * WIDE + j] = (float)(unit(&from) - 0.5) / 4;
        attraction[i] = unit(&from);
        a[i] = b[i] = 1;
        mean[i] = 0.5;
        sd[i] = 0.2;
    }
    f->data = (oltr_dataset){QUERIES - 1, MANY, WIDE, ids, rows, grade, x, NULL};
    f->e.world.n_items = 110;
    f->e.world.dim = WIDE;
    f->e.world.attraction = attraction;
    f->e.world.prior_a = a;
    f->e.world.prior_b = b;
    f->e.world.prior_mean = mean;
    f->e.world.prior_sd = sd;
    f->e.replications = 2 * (QUERIES - 1);
    f->e.n_policies = 1;
    for (uint32_t j = 0; j < 2 * f->n_policies;
         j++) { /* alone, once without and once with traffic */
        f->e.policy = &f->policy[j / 2];
        f->policy[j / 2].settings.n_items = 110;
        f->e.world.kind_values = j % 2 ? interleaved : NULL;
        oltr_results_free(run(&f->e, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_is_its_definition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_number_of_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(traffic_is_its_definition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_query_has_no_traffic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(traffic_is_fair, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_queries_may_need_more_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(feedback_is_its_definition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clicks_have_the_chance_of_the_mean_reward, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_instance_is_a_query, set_up, tear_down),
        cmocka_unit_test(other_worlds_are_one_group),
        cmocka_unit_test_setup_teardown(bad_worlds_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_digest_knows_the_data, set_up, tear_down),
        cmocka_unit_test(grades_have_their_tables),
        cmocka_unit_test(unknown_grades_are_refused),
    };
    return cmocka_run_group_tests_name("the world of judged documents", tests, NULL, NULL);
}
