/* main.c - a program of somebody who knows only the installed headers: serves a few rounds, keeps what was learned, and runs a small experiment. */
#include <oltr/oltr.h>
#include <oltr/plan.h>
#include <oltr/sim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int serve(void)
{
    oltr_settings settings;
    oltr_error error;
    uint32_t item[3];
    double reward[3] = {0, 1, 0};
    oltr_ranking list = {3, item, NULL};
    oltr_feedback seen = {2, reward};
    if (oltr_settings_init(&settings, "ts-beta", 10, &error) != OLTR_OK)
        return 1;
    oltr_policy *policy = oltr_policy_new(&settings, &error);
    oltr_scratch *scratch = oltr_scratch_new(policy);
    for (uint64_t t = 1; t <= 100; t++)
        if (oltr_rank(policy, NULL, oltr_rng_at(oltr_rng_make(1, 0), 0, t), scratch, &list) != OLTR_OK ||
            oltr_learn(policy, NULL, &list, &seen) != OLTR_OK)
            return 1;
    size_t size = oltr_save_bound(policy);
    void *bytes = malloc(size);
    int kept = oltr_save(policy, bytes, size, &size) == OLTR_OK;
    oltr_policy *again = oltr_load(bytes, size, &error);
    printf("%u %u %u after %llu rounds\n", item[0], item[1], item[2], (unsigned long long)oltr_policy_rounds(again));
    free(bytes);
    oltr_scratch_free(scratch);
    oltr_policy_free(policy);
    oltr_policy_free(again);
    return !kept;
}

static int simulate(void)
{
    static const uint64_t end = 200;
    oltr_contestant policy = {.label = "x"};
    oltr_error error;
    if (oltr_settings_init(&policy.settings, "gts", 8, &error) != OLTR_OK)
        return 1;
    oltr_experiment e = {
        .seed = 1, .rounds = end, .slots = 2, .replications = 4, .n_checkpoints = 1, .checkpoint = &end};
    e.world.kind = "beta";
    e.world.clicks = "cascade";
    e.world.n_items = 8;
    e.n_policies = 1;
    e.policy = &policy;
    oltr_results *results = oltr_results_new(&e, 1, &error);
    if (!results || oltr_run(&e, 1, NULL, results, &error) != OLTR_OK)
        return 1;
    printf("regret %.6f after %llu rounds\n", oltr_results_at(results, 0, 0, 0).regret, (unsigned long long)end);
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
    oltr_results *results = plan ? oltr_results_new(oltr_plan_points(plan), oltr_plan_n_points(plan), &error) : NULL;
    if (!results || oltr_run(oltr_plan_points(plan), oltr_plan_n_points(plan), NULL, results, &error) != OLTR_OK)
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
    return serve() || simulate() || simulate_plan();
}
