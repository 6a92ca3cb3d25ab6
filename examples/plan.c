/* plan.c - an experiment from a JSON text, run by the library: what `oltr run` does, without files.
 *
 *   cc -I include examples/plan.c -loltr-lab -loltr -o plan && ./plan
 *
 * JSON is YAML, so the same call reads the experiment files of the program.  An override changes
 * one key of the text.
 */
#include <oltr/plan.h>

#include <stdio.h>
#include <string.h>

static const char text[] =
    "{\"title\": \"Two samplers\", \"rounds\": 1000, \"slots\": 3, \"replications\": 40,"
    " \"world\": {\"kind\": \"beta\", \"items\": 30},"
    " \"policies\": [{\"name\": \"GTS\", \"kind\": \"gts\"},"
    "              {\"name\": \"TS-Beta\", \"kind\": \"ts-beta\", \"prior\": \"full\"}],"
    " \"sweep\": {\"key\": \"world.misspecification\", \"values\": [0, 4]}}";

static void print_regrets(const oltr_plan *plan, const oltr_results *results)
{
    const oltr_experiment *points = oltr_plan_points(plan);
    printf("%s\n", oltr_plan_title(plan));
    for (uint32_t p = 0; p < oltr_plan_n_points(plan); p++)
        for (uint32_t i = 0; i < points[p].n_policies; i++) {
            oltr_outcome at_end = oltr_results_at(results, p, i, points[p].n_checkpoints - 1);
            printf("%s = %s  %-8s regret %.2f +- %.2f\n", oltr_plan_sweep_key(plan),
                   oltr_plan_sweep_value(plan, p), points[p].policy[i].label, at_end.regret,
                   at_end.regret_se);
        }
}

int main(void)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_override wrong = {.key = "world.items", .value = "2"},
                  shorter = {.key = "rounds", .value = "500"};
    if (oltr_plan_parse("two.json", text, strlen(text), &wrong, 1, &error))
        return 1; /* 2 items cannot fill 3 slots */
    printf("%s\n", error.msg);

    oltr_plan *plan = oltr_plan_parse("two.json", text, strlen(text), &shorter, 1, &error);
    oltr_results *results = plan ? oltr_plan_results(plan, &error) : NULL;
    oltr_status status = OLTR_EINVAL;
    if (results)
        status = oltr_run(oltr_plan_points(plan), oltr_plan_n_points(plan), NULL, results, &error);
    if (status == OLTR_OK)
        print_regrets(plan, results);
    else
        fprintf(stderr, "%s\n", error.msg);
    oltr_results_free(results);
    oltr_plan_free(plan);
    return status != OLTR_OK;
}
