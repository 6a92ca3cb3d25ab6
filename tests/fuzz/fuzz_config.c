/* fuzz_config.c - any bytes as an experiment file: read and checked whole, or refused with words;
 * never run. */
#include "target.h"

#include "app/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config config;
    oltr_error error = {OLTR_OK, ""};
    struct overrides none = {0, NULL};
    char *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read beyond the end */
    if (!exact)
        return 0;
    memcpy(exact, data, size);
    oltr_status status = config_open("fuzz.yaml", exact, size, &config, &error);
    if (status == OLTR_OK)
        status = config_read(&config, &none, &error);
    if (status == OLTR_OK) {
        must_hold(config.is_concentration || config.plan->n_points > 0, "an experiment has points");
        for (uint32_t i = 0; i < config.plan->n_points; i++)
            must_hold(plan_needs_data(config.plan, i) ||
                          oltr_experiment_check(&config.plan->points[i], NULL) == OLTR_OK,
                      "what was read can be run");
    } else {
        must_hold(error.code == status && error.msg[0] != 0, "a refusal has a code and words");
    }
    /* the library's call takes what the program takes, but for figures, claims and the kind that
     * simulates nothing */
    oltr_plan *plan = oltr_plan_parse("fuzz.yaml", exact, size, NULL, 0, &error);
    must_hold(plan || error.msg[0] != 0, "a refusal has words");
    must_hold(plan || status != OLTR_OK || config.is_concentration,
              "the library reads what the program reads");
    must_hold(!plan || oltr_plan_n_points(plan) > 0, "a plan has points");
    oltr_plan_free(plan);
    config_free(&config);
    free(exact);
    return 0;
}
