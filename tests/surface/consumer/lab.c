/* lab.c - a program of somebody who knows only the installed headers of the lab: runs a small
 * experiment, filled in by hand and by a text. */
#include <oltr/plan.h>
#include <oltr/sim.h>

#include <stdio.h>
#include <string.h>

static int simulate(void)
{
    static const uint64_t end = 200;
    oltr_contestant policy = {.label = "x"};
    oltr_error error;
    if (oltr_settings_init(&policy.settings, "gts", 8, &error) != OLTR_OK)
        return 1;
    oltr_experiment e = {.seed = 1,
                         .rounds = end,
                         .slots = 2,
                         .replications = 4,
                         .n_checkpoints = 1,
                         .checkpoint = &end};
    e.world.kind = "beta";
    e.world.clicks = "cascade";
    e.world.n_items = 8;
    e.n_policies = 1;
    e.policy = &policy;
    oltr_results *results = oltr_results_new(&e, 1, &error);
    if (!results || oltr_run(&e, 1, NULL, results, &error) != OLTR_OK)
        return 1;
    printf("regret %.6f after %llu rounds\n", oltr_results_at(results, 0, 0, 0).regret,
           (unsigned long long)end);
    oltr_results_free(results);
    return 0;
}

/* The same by a text, which is JSON and YAML at once. */
static int simulate_plan(void)
{
    static const char text[] =
        "{\"rounds\":200,\"slots\":3,\"replications\":4,\"world\":{\"kind\":\"beta\",\"items\":10},"
        "\"policies\":[{\"kind\":\"gts\"}]}";
    oltr_error error;
    oltr_plan *plan = oltr_plan_parse("plan.json", text, sizeof text - 1, NULL, 0, &error);
    oltr_results *results =
        plan ? oltr_results_new(oltr_plan_points(plan), oltr_plan_n_points(plan), &error) : NULL;
    if (!results || oltr_run(oltr_plan_points(plan), oltr_plan_n_points(plan), NULL, results,
                             &error) != OLTR_OK)
        return 1;
    oltr_outcome end = oltr_results_at(results, 0, 0, oltr_plan_points(plan)->n_checkpoints - 1);
    printf("a plan: regret %.3f\n", end.regret);
    oltr_results_free(results);
    oltr_plan_free(plan);
    return end.replications != 4;
}

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], oltr_version()) != 0)
        return 1;
    return simulate() || simulate_plan();
}
