/* embed.c - the engine behind a page, in one screen: rank, show, see what was clicked, learn, keep what was learned. */
#include <oltr/oltr.h>

#include <stdio.h>
#include <stdlib.h>

/* Stands for the page: user `t` scans the list and clicks the first item that attracts them.  Returns the slots they examined. */
static uint32_t show(const oltr_ranking *list, uint64_t t, double click[])
{
    static const double attraction[] = {0.05, 0.1, 0.05, 0.4, 0.1, 0.05, 0.3, 0.05, 0.1, 0.2};
    oltr_rng user = oltr_rng_at(oltr_rng_make(7, 0), 1, t);
    for (uint32_t slot = 0; slot < list->k; slot++) {
        click[slot] = oltr_rng_uniform(&user) < attraction[list->item[slot]];
        if (click[slot] > 0)
            return slot + 1;
    }
    return list->k;
}

int main(void)
{
    oltr_error error;
    oltr_settings settings;
    if (oltr_settings_init(&settings, "gts", 10, &error) != OLTR_OK ||
        oltr_settings_set(&settings, "sigma", "0.5", &error) != OLTR_OK) {
        fprintf(stderr, "embed: %s\n", error.msg);
        return 1;
    }
    oltr_policy *policy = oltr_policy_new(&settings, &error);
    oltr_scratch *scratch = oltr_scratch_new(policy); /* one per ranking thread */
    if (!policy || !scratch)
        return 1;

    uint32_t item[3];
    double click[3], clicks = 0;
    oltr_ranking list = {.k = 3, .item = item};
    for (uint64_t t = 1; t <= 5000; t++) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(42, 0), 0, t); /* request t has its own randomness */
        if (oltr_rank(policy, NULL, rng, scratch, &list) != OLTR_OK)
            return 1;
        oltr_feedback seen = {.n_examined = show(&list, t, click), .reward = click};
        if (oltr_learn(policy, NULL, &list, &seen) != OLTR_OK)
            return 1;
        clicks += click[seen.n_examined - 1];
    }
    printf("%.0f of 5000 users clicked; the list is now %u %u %u\n", clicks, item[0], item[1], item[2]);

    size_t size = oltr_save_bound(policy);
    void *snapshot = malloc(size);
    if (!snapshot || oltr_save(policy, snapshot, size, &size) != OLTR_OK)
        return 1;
    oltr_policy *again = oltr_load(snapshot, size, &error);
    printf("%zu bytes hold all that was learned in %llu rounds\n", size, (unsigned long long)oltr_policy_rounds(again));

    free(snapshot);
    oltr_policy_free(again);
    oltr_policy_free(policy);
    oltr_scratch_free(scratch);
    return 0;
}
