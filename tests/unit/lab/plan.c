/* plan.c - experiments from text: what a library call gives for it, and what it says when the
 * text is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include <oltr/plan.h>
#include <oltr/world_ops.h>

#define SMALL                                                                                      \
    "{\"rounds\": 50, \"slots\": 3, \"replications\": 4, \"checkpoints\": 5, "                     \
    "\"world\": {\"kind\": \"beta\", \"items\": 10}, "                                             \
    "\"policies\": [{\"name\": \"GTS\", \"kind\": \"gts\", \"note\": \"as printed\"}, {\"kind\": " \
    "\"ts-beta\"}]"

static oltr_plan *parse(const char *text, const oltr_override *overrides, uint32_t n,
                        oltr_error *error)
{
    *error = (oltr_error){OLTR_OK, ""};
    return oltr_plan_parse("folder/small.json", text, strlen(text), overrides, n, error);
}

static oltr_plan *good(const char *text)
{
    oltr_error error;
    oltr_plan *plan = parse(text, NULL, 0, &error);
    if (!plan)
        fail_msg("%s", error.msg);
    return plan;
}

static void refused(const char *text, const oltr_override *overrides, uint32_t n,
                    const char *message)
{
    oltr_error error;
    assert_null(parse(text, overrides, n, &error));
    assert_string_equal(error.msg, message);
    assert_int_not_equal(error.code, OLTR_OK);
    assert_null(oltr_plan_parse("folder/small.json", text, strlen(text), overrides, n, NULL));
}

static void json_is_read(void **state)
{
    oltr_plan *plan = good(SMALL "}");
    const oltr_experiment *point = oltr_plan_points(plan);
    assert_string_equal(oltr_plan_title(plan), "small");
    assert_int_equal(oltr_plan_n_points(plan), 1);
    assert_int_equal(point->rounds, 50);
    assert_int_equal(point->slots, 3);
    assert_int_equal(point->world.n_items, 10);
    assert_int_equal(point->n_policies, 2);
    assert_string_equal(point->policy[0].label, "GTS");
    assert_string_equal(point->policy[1].label, "ts-beta");
    assert_string_equal(oltr_plan_note(plan, 0), "as printed");
    assert_null(oltr_plan_note(plan, 1));
    assert_null(oltr_plan_sweep_key(plan));
    assert_null(oltr_plan_sweep_value(plan, 0));
    assert_null(oltr_plan_data(plan, 0));
    assert_int_equal(oltr_experiment_check(point, NULL), OLTR_OK);
    oltr_plan_free(plan);
}

static void compact_json_and_yaml_are_the_same(void **state)
{
    static const char yaml
        [] = "rounds: 50\nslots: 3\nreplications: 4\nworld: {kind: beta, items: 10}\n"
             "policies:\n  - kind: gts\n",
    json[] =
        "{\"rounds\":50,\"slots\":3,\"replications\":4,\"world\":{\"kind\":\"beta\",\"items\":10},"
        "\"policies\":[{\"kind\":\"gts\"}]}";
    oltr_plan *one = good(yaml), *two = good(json);
    oltr_results *of_one = oltr_results_new(oltr_plan_points(one), 1, NULL),
                 *of_two = oltr_results_new(oltr_plan_points(two), 1, NULL);
    assert_int_equal(oltr_run(oltr_plan_points(one), 1, NULL, of_one, NULL), OLTR_OK);
    assert_int_equal(oltr_run(oltr_plan_points(two), 1, NULL, of_two, NULL), OLTR_OK);
    assert_int_equal(oltr_results_merge(of_one, of_two, NULL),
                     OLTR_EMISMATCH); /* the same replications twice */
    uint32_t last = oltr_plan_points(one)->n_checkpoints - 1;
    assert_true(oltr_results_at(of_one, 0, 0, last).regret ==
                oltr_results_at(of_two, 0, 0, last).regret);
    oltr_results_free(of_one);
    oltr_results_free(of_two);
    oltr_plan_free(one);
    oltr_plan_free(two);
}

static void a_sweep_is_points(void **state)
{
    oltr_plan *plan =
        good(SMALL ", \"sweep\": {\"key\": \"world.items\", \"values\": [10, 20, 30]}}");
    assert_int_equal(oltr_plan_n_points(plan), 3);
    assert_string_equal(oltr_plan_sweep_key(plan), "world.items");
    assert_string_equal(oltr_plan_sweep_value(plan, 2), "30");
    assert_null(oltr_plan_sweep_value(plan, 3));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(oltr_plan_points(plan)[i].world.n_items, 10 * (i + 1));
    oltr_plan_free(plan);
}

/* Every combination, the second key fastest. */
static void a_sweep_over_two_keys_is_a_grid(void **state)
{
    oltr_plan *plan = good(SMALL ", \"sweep\": [{\"key\": \"world.items\", \"values\": [10, 20]}, "
                                 "{\"key\": \"slots\", \"name\": \"K\", \"values\": [1, 2, 3]}]}");
    assert_int_equal(oltr_plan_n_points(plan), 6);
    assert_string_equal(oltr_plan_sweep_key(plan), "world.items" OLTR_SWEEP_BETWEEN "K");
    assert_string_equal(oltr_plan_sweep_value(plan, 5), "20" OLTR_SWEEP_BETWEEN "3");
    assert_int_equal(oltr_plan_n_sweep_keys(plan), 2);
    assert_string_equal(oltr_plan_sweep_key_at(plan, 0), "world.items");
    assert_string_equal(oltr_plan_sweep_key_at(plan, 1), "K");
    assert_null(oltr_plan_sweep_key_at(plan, 2));
    assert_string_equal(oltr_plan_sweep_value_at(plan, 3, 0), "20");
    assert_string_equal(oltr_plan_sweep_value_at(plan, 4, 1), "2");
    assert_null(oltr_plan_sweep_value_at(plan, 6, 0));
    assert_null(oltr_plan_sweep_value_at(plan, 0, 2));
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(oltr_plan_points(plan)[i].world.n_items, i < 3 ? 10 : 20);
        assert_int_equal(oltr_plan_points(plan)[i].slots, 1 + i % 3);
    }
    oltr_plan_free(plan);
}

/* Each case sets the keys that it names, and no others. */
static void cases_set_several_keys(void **state)
{
    oltr_plan *plan =
        good(SMALL ", \"sweep\": {\"cases\": {\"plain\": {}, \"many\": "
                   "{\"world.items\": 99, \"slots\": 5}, \"short\": {\"rounds\": 9}}}}");
    const oltr_experiment *points = oltr_plan_points(plan);
    assert_int_equal(oltr_plan_n_points(plan), 3);
    assert_string_equal(oltr_plan_sweep_key(plan), "case");
    assert_string_equal(oltr_plan_sweep_value(plan, 1), "many");
    assert_int_equal(points[0].world.n_items, 10);
    assert_int_equal(points[1].world.n_items, 99);
    assert_int_equal(points[1].slots, 5);
    assert_int_equal(points[1].rounds, 50);
    assert_int_equal(points[2].world.n_items, 10);
    assert_int_equal(points[2].rounds, 9);
    oltr_plan_free(plan);
}

static void figures_and_claims_are_not_read(void **state)
{
    oltr_plan_free(good(SMALL ", \"figures\": [{\"nonsense\": 1}], \"claims\": 7}"));
}

/* The strings of an override may be gone after the call. */
static void overrides_change_it(void **state)
{
    char key[] = "policies.GTS.sigma", value[] = "0.25";
    oltr_override override[] = {{.key = key, .value = value},
                                {.key = "checkpoints", .value = "[10, 50]"}};
    oltr_error error;
    oltr_plan *plan = parse(SMALL "}", override, 2, &error);
    assert_non_null(plan);
    memset(key, 'x', sizeof key);
    memset(value, 'x', sizeof value);
    const oltr_settings *settings = &oltr_plan_points(plan)->policy[0].settings;
    for (uint32_t i = 0; i < settings->info->n_params; i++)
        if (strcmp(settings->info->params[i].name, "sigma") == 0)
            assert_true(settings->value[i] == 0.25);
    assert_int_equal(oltr_plan_points(plan)->n_checkpoints, 2);
    oltr_plan_free(plan);
}

static void errors_name_the_key_path(void **state)
{
    refused("rounds: 5\nslots: 3\nreplications: 1\nworld:\n  kind: beta\n  items: ten\n", NULL, 0,
            "folder/small.json:6:10: world.items: must be a whole number, not `ten`");
    refused("rounds: 5\nslots: 3\nreplications: 1\nworld: {kind: beta, items: 5}\npolicies: "
            "[{name: A, kind: gts, "
            "sigma: -1}]\n",
            NULL, 0,
            "folder/small.json:5:40: policies.A.sigma: sigma must lie between 1e-06 and 1e+06, not "
            "at -1");
    refused("rounds: 5\nslots: 1\nreplications: 1\nworld: {kind: fixed, attraction: [0.5, 2]}\n",
            NULL, 0, "folder/small.json:4:40: world.attraction[1]: must be at most 1, not 2");
    refused("[1]", NULL, 0,
            "folder/small.json:1:1: an experiment is a map of keys, like `rounds: 10000`");
    refused("kind: concentration", NULL, 0,
            "folder/small.json:1:7: kind: an experiment of kind concentration simulates nothing; "
            "`oltr run` draws it");
}

static void overrides_are_blamed_by_their_text(void **state)
{
    const oltr_override items = {.key = "world.items", .value = "2"},
                        named = {.key = "world.items", .value = "2", .origin = "items="},
                        unknown = {.key = "world.itmes", .value = "2"}, empty = {.key = "rounds"},
                        broken = {.key = "checkpoints", .value = "[1, x]"};
    refused(SMALL "}", &items, 1,
            "world.items=2: there are 3 slots, but the world has only 2 items to fill them");
    refused(SMALL "}", &named, 1,
            "items=: world.items: there are 3 slots, but the world has only 2 items to fill them");
    refused(SMALL "}", &unknown, 1, "world.itmes=2: unknown key in world; did you mean `items`?");
    refused(SMALL "}", &broken, 1,
            "checkpoints=[1, x]: checkpoints[1]: must be a whole number, not `x`");
    refused(SMALL "}", &empty, 1, "override 1 lacks a key or a value");
    refused(SMALL "}", NULL, 1, "a name, a text and the overrides are needed");
}

/* ---- parameters of worlds and click models */

/* How many items there are, or what says it. */
static const char *size_keys(const char *kind)
{
    return strcmp(kind, "dataset") == 0  ? "shape: web30k"
           : strcmp(kind, "fitted") == 0 ? "data: models.json, model: CM"
                                         : "items: 4";
}

/* Attractions, and a prior that can be wrong. */
static const char *other_keys(const char *kind)
{
    return strcmp(kind, "fixed") == 0 ? ", attraction: [0.1, 0.2, 0.3, 0.4], prior: {a: 1, b: 2}"
           : strstr(kind, "uniform")  ? ", prior_n: 20"
                                      : "";
}

static void try_value(const char *kind, const char *clicks, const char *name, const char *value,
                      bool fits)
{
    char text[256];
    oltr_override overrides[] = {{.key = name, .value = value},
                                 {.key = "world.clicks", .value = clicks}};
    uint32_t n = strcmp(kind, "fitted") == 0 ? 1 : 2; /* its click model follows from `model` */
    oltr_error error;
    (void)snprintf(text, sizeof text,
                   "{rounds: 5, slots: 2, replications: 1, world: {kind: %s, %s%s}, "
                   "policies: [{kind: random}]}",
                   kind, size_keys(kind), other_keys(kind));
    oltr_plan *plan = parse(text, overrides, n, &error);
    if (!plan != !fits)
        fail_msg("%s, %s: %s=%s: %s", kind, clicks, name, value, error.msg);
    assert_true(fits || strncmp(error.msg, name, strlen(name)) == 0);
    oltr_plan_free(plan);
}

/* The bounds are those of the table, the words its choices; a step beyond is refused by name. */
static void try_param(const char *kind, const char *clicks, const oltr_param *param)
{
    char name[64], value[64];
    double step = param->type == OLTR_REAL ? 1e-3 : 1, low = param->min, high = param->max;
    (void)snprintf(name, sizeof name, "world.%s", param->name);
    for (uint32_t i = 0; param->choices && param->choices[i]; i++)
        try_value(kind, clicks, name, param->choices[i], true);
    try_value(kind, clicks, name, "nonsense", false);
    if (param->type == OLTR_CHOICE)
        return;
    if (strcmp(param->name, "no_click") == 0)
        high = 2; /* the slots of the experiment */
    if (strcmp(kind, "linear") == 0 && strcmp(param->name, "scale") == 0)
        high = 1; /* attractions are probabilities */
    if (strcmp(param->name, "low") == 0) {
        low = strcmp(kind, "log-uniform") == 0 ? 1e-9 : 0;
        high = 0.1; /* the largest attraction */
    }
    if (strcmp(param->name, "high") == 0)
        low = 0.001; /* the smallest */
    const double tried[] = {low, high, param->min - step};
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(value, sizeof value, "%.15g", tried[i]);
        try_value(kind, clicks, name, value, i < 2);
    }
    (void)snprintf(value, sizeof value, "%.15g", param->max * (1 + 1e-9) + step);
    try_value(kind, clicks, name, value, false);
}

static void every_parameter_is_a_key(void **state)
{
    uint32_t tried = 0;
    for (uint32_t i = 0; i < oltr_world_count(); i++) {
        const oltr_world_ops *kind = oltr_world_ops_at(i);
        const char *clicks = kind->traits & OLTR_WORLD_REALS ? "abandon" : "cascade";
        for (uint32_t j = 0; j < kind->n_params; j++, tried++)
            try_param(kind->info.name, clicks, &kind->params[j].about);
    }
    for (uint32_t i = 0; i < oltr_clicks_count(); i++)
        for (uint32_t j = 0; j < oltr_click_ops_at(i)->n_params; j++, tried++)
            try_param("beta", oltr_clicks_at(i)->name, &oltr_click_ops_at(i)->params[j].about);
    assert_true(tried >= 17);
    assert_null(oltr_world_ops_at(oltr_world_count()));
    assert_null(oltr_click_ops_at(oltr_clicks_count()));
}

static void keys_of_others_are_refused(void **state)
{
    const oltr_override dim = {.key = "world.dim", .value = "3"},
                        noise = {.key = "world.noise_sd", .value = "3"},
                        far = {.key = "world.qqqqqqqq", .value = "3"};
    refused(SMALL "}", &dim, 1,
            "world.dim=3: `dim` belongs to a world of kind linear, logistic or scalar; this one is "
            "beta");
    refused(SMALL "}", &noise, 1,
            "world.noise_sd=3: `noise_sd` belongs to the click model abandon; this world has "
            "cascade");
    refused(SMALL "}", &far, 1,
            "world.qqqqqqqq=3: unknown key in world; `oltr help experiment` lists those that there "
            "are");
}

/* A sweep over the rate of a drift: each point has the kind of the file and a rate of its own. */
static void drift_is_a_kind_and_a_rate(void **state)
{
    static const char text[] = "{rounds: 5, slots: 2, replications: 1, policies: [{kind: random}], "
                               "world: {kind: uniform, items: 4, drift: {kind: %s, rate: 0}}, "
                               "sweep: {key: world.drift.rate, values: [0, 0.25]}}";
    for (int jumps = 0; jumps < 2; jumps++) {
        char filled[256];
        oltr_error error = {OLTR_OK, ""};
        (void)snprintf(filled, sizeof filled, text, jumps ? "jump" : "walk");
        oltr_plan *plan = parse(filled, NULL, 0, &error);
        assert_non_null(plan);
        for (uint32_t i = 0; i < 2; i++) {
            const oltr_world *world = &oltr_plan_points(plan)[i].world;
            double rate = i ? 0.25 : 0;
            assert_true(fabs(world->drift_walk - (jumps ? 0 : rate)) <= 0);
            assert_true(fabs(world->drift_jump - (jumps ? rate : 0)) <= 0);
        }
        oltr_plan_free(plan);
    }
}

static void nothing_in_nothing_out(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_plan_parse(NULL, "", 0, NULL, 0, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
    assert_null(oltr_plan_parse("x", NULL, 0, NULL, 0, &error));
    assert_null(oltr_plan_title(NULL));
    assert_int_equal(oltr_plan_n_points(NULL), 0);
    assert_null(oltr_plan_points(NULL));
    assert_null(oltr_plan_sweep_key(NULL));
    assert_null(oltr_plan_sweep_value(NULL, 0));
    assert_int_equal(oltr_plan_n_sweep_keys(NULL), 0);
    assert_null(oltr_plan_sweep_key_at(NULL, 0));
    assert_null(oltr_plan_sweep_value_at(NULL, 0, 0));
    assert_null(oltr_plan_note(NULL, 0));
    assert_null(oltr_plan_data(NULL, 0));
    assert_int_equal(oltr_plan_give_data(NULL, 0, NULL, &error), OLTR_EINVAL);
    assert_null(oltr_plan_results(NULL, &error));
    assert_string_equal(error.msg, "there is no plan");
    oltr_plan_free(NULL);
}

/* ---- data */

#define ON_DATA                                                                                    \
    "rounds: 20\nslots: 2\nreplications: 3\nworld: {kind: dataset, shape: web30k, rankers: 0, "    \
    "largest_grade: 4}\n"                                                                          \
    "policies: [{kind: gts}, {kind: lints}]\n"

static const uint64_t query[] = {7, 9};
static const uint32_t first_row[] = {0, 3, 5};
static const uint8_t grade[] = {0, 1, 4, 2, 0};
static const float x[] = {1, 0, 0, 1, 0.5F, 0.5F, 1, 0, 0, 1};
static const oltr_dataset two_queries = {2, 5, 2, query, first_row, grade, x, NULL};

static void data_must_be_given(void **state)
{
    oltr_plan *plan = good(ON_DATA);
    oltr_error error = {OLTR_OK, ""};
    const oltr_data_plan *needs = oltr_plan_data(plan, 0);
    assert_non_null(needs);
    assert_null(oltr_plan_data(plan, 1));
    assert_string_equal(needs->shape, "web30k");
    assert_null(needs->folder);
    assert_string_equal(needs->grades, "err");
    assert_string_equal(needs->normalise, "standard");
    assert_int_equal(needs->generated[0], 200);
    assert_null(oltr_results_new(oltr_plan_points(plan), 1, &error));
    assert_non_null(strstr(error.msg, "world dataset needs a dataset"));
    assert_non_null(strstr(error.msg, "oltr_plan_give_data()"));
    assert_null(oltr_plan_results(plan, &error));
    assert_string_equal(error.msg, "point 1 has no data yet: load them with oltr_plan_load_data(), "
                                   "or give them with oltr_plan_give_data()");
    oltr_plan_free(plan);
}

static void given_data_complete_it(void **state)
{
    oltr_plan *plan = good(ON_DATA);
    oltr_error error = {OLTR_OK, ""};
    oltr_plan_data_given given = {.dataset = &two_queries};
    for (int again = 0; again < 2;
         again++) { /* replications are of each query, however often data are given */
        assert_int_equal(oltr_plan_give_data(plan, 0, &given, &error), OLTR_OK);
        const oltr_experiment *point = oltr_plan_points(plan);
        assert_int_equal(point->replications, 6);
        assert_int_equal(point->world.n_items, 3);
        assert_int_equal(point->world.dim, 2);
        assert_true(point->world.attraction[2] == 15.0 / 16);
        assert_int_equal(point->policy[1].settings.n_items, 3);
    }
    oltr_results *results = oltr_plan_results(plan, &error);
    assert_int_equal(oltr_run(oltr_plan_points(plan), 1, NULL, results, &error), OLTR_OK);
    assert_int_equal(oltr_results_groups(results, 0), 2);
    oltr_results_free(results);
    oltr_plan_free(plan);
}

static void wrong_data_leave_it_alone(void **state)
{
    oltr_plan *plan = good(ON_DATA);
    oltr_dataset few = two_queries;
    oltr_plan_data_given given = {.dataset = &few};
    oltr_error error = {OLTR_OK, ""};
    static const uint32_t one_each[] = {0, 1, 2};
    few.first_row = one_each;
    few.n_rows = 2;
    assert_int_equal(oltr_plan_give_data(plan, 0, &given, &error), OLTR_ESLOTS);
    assert_int_equal(oltr_plan_give_data(plan, 0, NULL, &error), OLTR_EINVAL);
    assert_int_equal(oltr_plan_give_data(plan, 1, &given, &error), OLTR_EINVAL);
    few = two_queries;
    few.grade = (const uint8_t[]){0, 0, 5, 0, 0};
    assert_int_equal(oltr_plan_give_data(plan, 0, &given, &error), OLTR_EVALUE);
    assert_int_equal(oltr_plan_points(plan)->replications, 3);
    assert_null(oltr_plan_points(plan)->world.dataset);
    oltr_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(compact_json_and_yaml_are_the_same),
        cmocka_unit_test(a_sweep_is_points),
        cmocka_unit_test(a_sweep_over_two_keys_is_a_grid),
        cmocka_unit_test(cases_set_several_keys),
        cmocka_unit_test(figures_and_claims_are_not_read),
        cmocka_unit_test(overrides_change_it),
        cmocka_unit_test(errors_name_the_key_path),
        cmocka_unit_test(overrides_are_blamed_by_their_text),
        cmocka_unit_test(every_parameter_is_a_key),
        cmocka_unit_test(keys_of_others_are_refused),
        cmocka_unit_test(drift_is_a_kind_and_a_rate),
        cmocka_unit_test(nothing_in_nothing_out),
        cmocka_unit_test(data_must_be_given),
        cmocka_unit_test(given_data_complete_it),
        cmocka_unit_test(wrong_data_leave_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
