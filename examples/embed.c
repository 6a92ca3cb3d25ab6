/* embed.c - the engine behind a page, in one file: rank, show, learn from clicks, save.
 *
 * A thousand items at the click rates of a real page: most between 0.5 % and 2 %, one in fifty at
 * 5 %.  The list starts as good as a random one; the program prints how it gets better.
 */
#include <oltr/oltr.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 1000, SLOTS = 10, REQUESTS = 40000, REPORT_EVERY = 10000, LAST = 1000 };

static bool is_good(uint32_t item)
{
    return item % 50 == 7;
}

static double click_rate(uint32_t item)
{
    return is_good(item) ? 0.05 : 0.005 + 0.015 * (item * 37 % ITEMS) / ITEMS;
}

/* Simulates the page: user `t` scans the list and clicks the first item that attracts them.
 * Returns how many slots they looked at. */
static uint32_t show(const oltr_ranking *list, uint64_t t, double click[])
{
    oltr_rng user = oltr_rng_at(oltr_rng_make(7, 0), 1, t);
    for (uint32_t slot = 0; slot < list->k; slot++) {
        click[slot] = oltr_rng_uniform(&user) < click_rate(list->item[slot]);
        if (click[slot] > 0)
            return slot + 1;
    }
    return list->k;
}

/* One request; returns 1 for a click, 0 for none, -1 for an error. */
static int serve(oltr_policy *policy, oltr_scratch *scratch, uint64_t t, oltr_ranking *list)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(42, 0), 0, t); /* another list for each request */
    double click[SLOTS];
    if (oltr_rank(policy, NULL, rng, scratch, list) != OLTR_OK)
        return -1;
    oltr_feedback seen = {.n_examined = show(list, t, click), .reward = click};
    if (oltr_learn(policy, NULL, list, &seen) != OLTR_OK)
        return -1;
    return click[seen.n_examined - 1] > 0;
}

/* Every 10,000 requests it prints how good the lists of the last 1,000 were. */
static bool serve_all(oltr_policy *policy, oltr_scratch *scratch)
{
    uint32_t item[SLOTS], good = 0;
    oltr_ranking list = {.k = SLOTS, .item = item};
    for (uint64_t t = 1, clicks = 0; t <= REQUESTS; t++) {
        int clicked = serve(policy, scratch, t, &list);
        if (clicked < 0)
            return false;
        if ((t - 1) % REPORT_EVERY == REPORT_EVERY - LAST)
            clicks = good = 0;
        clicks += (uint64_t)clicked;
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            good += is_good(item[slot]);
        if (t % REPORT_EVERY == 0)
            printf("after %5llu requests: %4.1f %% clicked; of %u items shown, %.1f were good\n",
                   (unsigned long long)t, 100.0 * (double)clicks / LAST, SLOTS,
                   (double)good / LAST);
    }
    return true;
}

/* Saves the policy and loads it again. */
static bool save_and_load(const oltr_policy *policy)
{
    size_t size = oltr_save_bound(policy);
    void *snapshot = malloc(size);
    if (!snapshot || oltr_save(policy, snapshot, size, &size) != OLTR_OK) {
        free(snapshot);
        return false;
    }
    oltr_policy *again = oltr_load(snapshot, size, NULL);
    if (again)
        printf("%zu bytes hold all that was learned in %llu requests\n", size,
               (unsigned long long)oltr_policy_rounds(again));
    oltr_policy_free(again);
    free(snapshot);
    return again != NULL;
}

int main(void)
{
    oltr_error error;
    oltr_settings settings;
    if (oltr_settings_init(&settings, "ts-hyper", ITEMS, &error) != OLTR_OK) {
        fprintf(stderr, "embed: %s\n", error.msg);
        return 1;
    }
    oltr_policy *policy = oltr_policy_new(&settings, &error);
    oltr_scratch *scratch = oltr_scratch_new(policy); /* one per ranking thread */
    bool done = policy && scratch && serve_all(policy, scratch) && save_and_load(policy);
    oltr_policy_free(policy);
    oltr_scratch_free(scratch);
    return !done;
}
