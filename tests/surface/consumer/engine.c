/* engine.c - a program of somebody who knows only the installed headers of the engine: serves a few
 * rounds and keeps what was learned. */
#include <oltr/oltr.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int serve(void)
{
    oltr_settings settings;
    oltr_error error;
    uint32_t item[3];
    double reward[3] = {0, 1, 0};
    oltr_ranking list = {.k = 3, .item = item};
    oltr_feedback seen = {.n_examined = 2, .reward = reward};
    if (oltr_settings_init(&settings, "ts-beta", 10, &error) != OLTR_OK)
        return 1;
    oltr_policy *policy = oltr_policy_new(&settings, &error);
    oltr_scratch *scratch = oltr_scratch_new(policy);
    for (uint64_t t = 1; t <= 100; t++)
        if (oltr_rank(policy, NULL, oltr_rng_at(oltr_rng_make(1, 0), 0, t), scratch, &list) !=
                OLTR_OK ||
            oltr_learn(policy, NULL, &list, &seen) != OLTR_OK)
            return 1;
    size_t size = oltr_save_bound(policy);
    void *bytes = malloc(size);
    int kept = oltr_save(policy, bytes, size, &size) == OLTR_OK;
    oltr_policy *again = oltr_load(bytes, size, &error);
    printf("%u %u %u after %llu rounds\n", item[0], item[1], item[2],
           (unsigned long long)oltr_policy_rounds(again));
    free(bytes);
    oltr_scratch_free(scratch);
    oltr_policy_free(policy);
    oltr_policy_free(again);
    return !kept;
}

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], oltr_version()) != 0)
        return 1;
    return serve();
}
