/* fitted_models.c - click models from a file: what is read, what is refused, and worlds made of it.
 */
#define _DEFAULT_SOURCE 1
#include "support/files.h"

#include "lab/prepare/fitted_models.h"
#include "lab/world/world.h"

#include <math.h>
#include <oltr/plan.h>

static const char text[] =
    "{\"CM\": {\"7\": {\"attraction\": [0.3, 0.2, 0.4]}, \"12\": {\"attraction\": [0, 1]}},\n"
    " \"DCM\": {\"7\": {\"attraction\": [0.3, 0.2, 0.4], \"stop\": [0.1, 0.9, 0.5]},\n"
    "           \"12\": {\"attraction\": [0.6, 0.1], \"stop\": [1, 0.5]}},\n"
    " \"DBN\": {\"seven\": {\"attraction\": [0.3, 0.2, 0.4], \"satisfaction\": [0.1, 1, 0.5],\n"
    "                      \"abandon\": 0.25}},\n"
    " \"PBM\": {\"7\": {\"attraction\": [0.3, 0.2, 0.4], \"examination\": [1, 0.5, 0.25]}}}";

static bool near(double x, double y, double most)
{
    return fabs(x - y) <= most;
}

static void parse(const char *model, struct fitted_models *out)
{
    oltr_error error = {OLTR_OK, ""};
    if (fitted_models_parse("file", text, strlen(text), model, 2, out, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

static void numbers_are_those_of_the_file(void **state)
{
    struct fitted_models m;
    parse("DCM", &m);
    assert_int_equal(m.queries.n_queries, 2);
    assert_int_equal(m.queries.n_rows, 5);
    assert_int_equal(m.queries.query[0], 7);
    assert_int_equal(m.queries.query[1], 12);
    assert_int_equal(m.queries.first_row[1], 3);
    assert_true(near(m.attraction[2], 0.4, 0) && near(m.attraction[3], 0.6, 0));
    assert_int_equal(m.users.n_slots, 2);
    assert_true(near(m.users.slot_chance[1], 0.9, 0) && near(m.users.slot_chance[2], 1, 0));
    assert_null(m.users.item_chance);
    fitted_models_clear(&m);
    parse("DBN", &m);
    assert_int_equal(m.queries.query[0], 1); /* a name that is no number */
    assert_true(near(m.users.item_chance[1], 1, 0) && near(m.users.user_chance[0], 0.75, 0));
    assert_null(m.users.slot_chance);
    fitted_models_clear(&m);
    parse("CM", &m);
    assert_true(!m.users.slot_chance && !m.users.item_chance && !m.users.user_chance);
    fitted_models_clear(&m);
}

/* ---- what is refused */

static void refused(const char *model, const char *bad, const char *words)
{
    struct fitted_models m;
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = fitted_models_parse("file", bad, strlen(bad), model, 2, &m, &error);
    if (status == OLTR_OK || status != error.code || !strstr(error.msg, words))
        fail_msg("%s: expected '%s', got '%s'", bad, words, error.msg);
    assert_null(m.block);
}

static void errors_name_query_and_key(void **state)
{
    refused("CM", "", "");
    refused("CM", "[1, 2]", "must be a map of models");
    refused("CM", "{\"DCM\": {}}", "there must be queries of the model CM");
    refused("DCM", "{\"DCM\": {}}", "there must be queries of the model DCM");
    refused("DCM", "{\"DCM\": [1]}", "there must be queries of the model DCM");
    refused("DCM", "{\"DCM\": {\"7\": 3}}", "DCM.7: must be a map");
    refused("DCM", "{\"DCM\": {\"7\": {\"stop\": [1, 1]}}}", "DCM.7: `attraction` is missing");
    refused("DCM", "{\"DCM\": {\"7\": {\"attraction\": [0.1, 0.2]}}}", "DCM.7: `stop` is missing");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": [0.1]}}}",
            "CM.7.attraction: has 1 number, and there are 2 slots to fill");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": []}}}", "the list is empty");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": [0.1, NaN]}}}", "must be a number, not `NaN`");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": [0.1, 1.5]}}}", "must be at most 1, not 1.5");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": [0.1, -1]}}}", "must be at least 0, not -1");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": [0.1, 1e999]}}}", "CM.7.attraction");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": \"x\"}}}", "must be a list");
    refused("DCM", "{\"DCM\": {\"7\": {\"attraction\": [0.1, 0.2], \"stop\": [1]}}}",
            "DCM.7.stop: has 1 number, and there are 2 slots");
    refused("DBN",
            "{\"DBN\": {\"7\": {\"attraction\": [0.1, 0.2], \"satisfaction\": [1, 1, 1],"
            " \"abandon\": 0}}}",
            "DBN.7.satisfaction: has 3 numbers, and there are 2 documents");
    refused("DBN",
            "{\"DBN\": {\"7\": {\"attraction\": [0.1, 0.2], \"satisfaction\": [1, 1],"
            " \"abandon\": [1]}}}",
            "DBN.7.abandon: must be a number");
    refused("CM", "{\"CM\": {\"7\": {\"attraction\": [0, 1]}, \"7\": {\"attraction\": [0, 1]}}}",
            "is given twice");
    refused("UBM", text, "there is no click model 'UBM' to read");
}

/* ---- worlds */

#define HEAD "rounds: 50\nslots: 2\nreplications: 3\nworld: {kind: fitted, data: "
#define TAIL ", model: DCM}\npolicies: [{kind: gts}, {kind: random}]\n"

static oltr_plan *plan_of(const char *path)
{
    char yaml[600];
    oltr_error error = {OLTR_OK, ""};
    snprintf(yaml, sizeof yaml, HEAD "%s" TAIL, path);
    oltr_plan *plan = oltr_plan_parse("tiny.yaml", yaml, strlen(yaml), NULL, 0, &error);
    if (!plan)
        fail_msg("%s", error.msg);
    return plan;
}

static void a_plan_plays_its_queries(void **state)
{
    const char *path = write_text("models.json", text);
    oltr_error error = {OLTR_OK, ""};
    oltr_plan *plan = plan_of(path);
    assert_null(oltr_plan_results(plan, &error)); /* not before its file was read */
    if (oltr_plan_load_data(plan, NULL, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    const oltr_experiment *e = oltr_plan_points(plan);
    assert_string_equal(e->world.clicks, "dcm");
    assert_int_equal(e->world.n_items, 3);
    assert_int_equal(e->replications, 6); /* of each query */
    oltr_results *r = oltr_plan_results(plan, &error);
    oltr_run_options options = {.threads = 1};
    if (!r || oltr_run(e, 1, &options, r, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_int_equal(oltr_results_groups(r, 0), 2);
    /* query 7: 0.4 where 0.9 leave, 0.3 where 0.1 do; query 12: the list in its order */
    double best = 1 - (1 - 0.9 * 0.4) * (1 - 0.1 * 0.3), other = 1 - (1 - 0.6) * (1 - 0.5 * 0.1);
    oltr_outcome all = oltr_results_at(r, 0, 0, 0);
    assert_true(near((all.regret + all.reward), (best + other) / 2, 1e-9)); /* after one round */
    oltr_results_free(r);
    oltr_plan_free(plan);
    unlink(path);
}

static void files_that_are_not_there(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_plan *plan = plan_of(path_of("nothing.json"));
    assert_int_equal(oltr_plan_load_data(plan, NULL, &error), OLTR_EIO);
    assert_non_null(strstr(error.msg, "nothing.json"));
    assert_null(oltr_plan_points(plan)->world.dataset); /* as it was */
    oltr_plan_free(plan);
    plan = plan_of("/");
    assert_int_equal(oltr_plan_load_data(plan, NULL, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "name the file of the click models in it"));
    oltr_plan_free(plan);
}

static void world_refused(const char *yaml, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_plan *plan = oltr_plan_parse("tiny.yaml", yaml, strlen(yaml), NULL, 0, &error);
    if (plan || !strstr(error.msg, words))
        fail_msg("expected '%s', got '%s'", words, error.msg);
    oltr_plan_free(plan);
}

static void keys_that_do_not_fit(void **state)
{
#define WITH(keys)                                                                                 \
    "rounds: 9\nslots: 2\nreplications: 1\nworld: {kind: fitted, " keys                            \
    "}\npolicies: [{kind: gts}]\n"
    world_refused(WITH("data: x"), "`model` is missing");
    world_refused(WITH("model: DCM"), "or its folder with --data DIR");
    world_refused(WITH("data: x, model: UBM"), "UBM cannot be played");
    world_refused(WITH("data: x, model: CCM"), "CCM cannot be played");
    world_refused(WITH("data: x, model: XM"), "must be CM, DCM, DBN or PBM");
    world_refused(WITH("data: x, model: DCM, clicks: dcm"), "follows from `model`");
    world_refused(WITH("data: x, model: DCM, leave: 0.5"), "has it in its file");
    world_refused(WITH("data: x, model: PBM, examine: [1, 1]"), "has it in its file");
    world_refused(WITH("data: x, model: DBN, continue: 1"), "has it in its file");
    world_refused(WITH("data: x, model: CM, drift: {kind: walk, rate: 1}"),
                  "belongs to a world of kind beta");
    world_refused(WITH("data: x, model: CM, items: 4"), "`items` belongs to a world of kind");
}

/* ---- many queries */

enum { MANY = 20000 };

/* MANY queries, the last of which is called `last`. */
static char *many_queries(const char *last)
{
    size_t room = (size_t)MANY * 48, used = 0;
    char *long_text = malloc(room);
    assert_non_null(long_text);
    used += (size_t)snprintf(long_text, room, "{\"CM\": {");
    for (int i = 1; i < MANY; i++)
        used += (size_t)snprintf(long_text + used, room - used,
                                 "\"%d\": {\"attraction\": [0.1, 0.2]},\n", i);
    snprintf(long_text + used, room - used, "\"%s\": {\"attraction\": [0.1, 0.2]}}}", last);
    return long_text;
}

static void many_queries_are_read_and_a_repeated_one_is_found(void **state)
{
    struct fitted_models m;
    oltr_error error = {OLTR_OK, ""};
    char *good = many_queries("20000"), *bad = many_queries("150"), *late = many_queries("15000");
    if (fitted_models_parse("file", good, strlen(good), "CM", 2, &m, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_int_equal(m.queries.n_queries, MANY);
    assert_int_equal(m.queries.query[MANY - 1], MANY);
    fitted_models_clear(&m);
    refused("CM", bad, "file:20000:1: `150` is given twice (first in line 150)");
    refused("CM", late, "file:20000:1: `15000` is given twice (first in line 15000)");
    free(good);
    free(bad);
    free(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_file),
        cmocka_unit_test(errors_name_query_and_key),
        cmocka_unit_test(a_plan_plays_its_queries),
        cmocka_unit_test(files_that_are_not_there),
        cmocka_unit_test(keys_that_do_not_fit),
        cmocka_unit_test(many_queries_are_read_and_a_repeated_one_is_found),
    };
    return cmocka_run_group_tests_name("fitted click models", tests, make_folder, remove_folder);
}
