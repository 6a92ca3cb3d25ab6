/* lab.c - a program of somebody who knows only the installed headers of the lab: runs a small experiment. */
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

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], oltr_version()) != 0)
        return 1;
    return simulate();
}
