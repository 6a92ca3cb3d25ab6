/* plan_results.c - runs an experiment file by the public headers of liboltr-lab alone, and prints
 * the results.csv that `oltr run` writes.  tests/app/dataset.sh compares the two.
 *
 *   plan_results FILE.yaml */
#include <oltr/plan.h>

#include <stdio.h>
#include <stdlib.h>

static char *read_all(const char *path, size_t *length)
{
    enum { MOST = 1 << 16 };
    char *text = malloc(MOST);
    FILE *file = text ? fopen(path, "rb") : NULL;
    *length = file ? fread(text, 1, MOST, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static void print_table(const oltr_plan *plan, const oltr_results *results)
{
    const oltr_experiment *points = oltr_plan_points(plan);
    printf("sweep,policy,round,regret,regret_se,reward,replications\n");
    for (uint32_t p = 0; p < oltr_plan_n_points(plan); p++)
        for (uint32_t i = 0; i < points[p].n_policies; i++)
            for (uint32_t c = 0; c < points[p].n_checkpoints; c++) {
                oltr_outcome at = oltr_results_at(results, p, i, c);
                const char *sweep = oltr_plan_sweep_value(plan, p);
                printf("%s,%s,%llu,%.9g,%.9g,%.9g,%u\n", sweep ? sweep : "",
                       points[p].policy[i].label, (unsigned long long)points[p].checkpoint[c],
                       at.regret, at.regret_se, at.reward, at.replications);
            }
}

int main(int argc, char **argv)
{
    oltr_error error = {OLTR_EINVAL, "usage: plan_results FILE.yaml"};
    size_t length = 0;
    char *text = argc == 2 ? read_all(argv[1], &length) : NULL;
    oltr_plan *plan = text ? oltr_plan_parse(argv[1], text, length, NULL, 0, &error) : NULL;
    oltr_status status = plan ? oltr_plan_load_data(plan, NULL, &error) : error.code;
    oltr_results *results = status == OLTR_OK ? oltr_plan_results(plan, &error) : NULL;
    status = results
                 ? oltr_run(oltr_plan_points(plan), oltr_plan_n_points(plan), NULL, results, &error)
                 : error.code;
    if (status == OLTR_OK)
        print_table(plan, results);
    else
        fprintf(stderr, "%s\n", error.msg);
    oltr_results_free(results);
    oltr_plan_free(plan);
    free(text);
    return status != OLTR_OK;
}
