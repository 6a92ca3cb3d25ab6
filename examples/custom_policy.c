/* custom_policy.c - a policy outside the library, used like those of the catalogue.
 *
 * Epsilon-greedy: mostly show the items with the largest share of clicks so far, and with
 * probability epsilon a list drawn at random.  It learns two sums per item, how often it was
 * examined and clicked; the library then provides snapshots, merging, forgetting and
 * resizing.  Data that are not parameters, here whether a random list may be shown at all, are
 * passed in settings.custom.
 */
#include <oltr/policy_ops.h>
#include <oltr/sim.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the policy */

enum { P_EPSILON, N_PARAMS };
static const oltr_param params[N_PARAMS] = {
    {"epsilon", OLTR_REAL, 0.1, 0, 1, NULL, "the chance of a list drawn at random"},
};

/* What the policy shares with the program. */
typedef struct rules {
    bool explore; /* false: never a random list */
} rules;

typedef struct greedy {
    const rules *rules; /* settings.custom: the one pointer a state may hold */
    double epsilon;
    uint32_t n_items;
    double sum[]; /* (2, n_items) examined, clicked */
} greedy;

static size_t state_bytes(const oltr_settings *settings)
{
    return sizeof(greedy) + 2 * sizeof(double) * settings->n_items;
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    greedy *p = state; /* all zero */
    if (!settings->custom) {
        *error = (oltr_error){OLTR_EINVAL, "epsilon-greedy needs its rules in settings.custom"};
        return OLTR_EINVAL;
    }
    p->rules = settings->custom;
    p->epsilon = settings->value[P_EPSILON];
    p->n_items = settings->n_items;
    return OLTR_OK;
}

/* An unseen item gets 1, so it is tried before all others. */
static double share(const greedy *p, uint32_t item)
{
    double examined = p->sum[item], clicked = p->sum[p->n_items + item];
    return examined > 0 ? clicked / examined : 1;
}

static oltr_status rank(const void *state, uint64_t t, const oltr_candidates *from,
                        const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    const greedy *p = state;
    double *score = oltr_scores(scratch);
    oltr_rng coin = oltr_rng_fork(*rng, 1); /* ties are broken by *rng itself */
    bool explores = p->rules->explore && oltr_rng_uniform(&coin) < p->epsilon;
    (void)t;
    for (uint32_t j = 0; j < from->n; j++)
        score[j] = explores ? 0 : share(p, from->item ? from->item[j] : j);
    return oltr_show_best(scratch, from, rng, out);
}

static oltr_status learn(void *state, uint64_t t, const oltr_candidates *from,
                         const oltr_ranking *shown, const oltr_feedback *seen)
{
    greedy *p = state;
    (void)t;
    (void)from;
    for (uint32_t slot = 0; slot < seen->n_examined; slot++) {
        double weight = seen->weight ? seen->weight[slot] : 1;
        p->sum[shown->item[slot]] += weight;
        p->sum[p->n_items + shown->item[slot]] += weight * seen->reward[slot];
    }
    return OLTR_OK;
}

static uint32_t sums(const void *state, oltr_sum_array out[OLTR_MAX_SUMS])
{
    greedy *p = (greedy *)(uintptr_t)state;
    out[0] = (oltr_sum_array){.name = "examined", .value = p->sum, .n = p->n_items};
    out[1] = (oltr_sum_array){.name = "clicked", .value = p->sum + p->n_items, .n = p->n_items};
    return 2;
}

static void refresh(void *state, uint64_t t) /* nothing is derived from the sums */
{
    (void)state;
    (void)t;
}

static oltr_status check_item(const greedy *p, uint32_t i, oltr_error *error)
{
    double examined = p->sum[i], clicked = p->sum[p->n_items + i];
    if (clicked >= 0 && clicked <= examined)
        return OLTR_OK;
    if (error)
        *error = (oltr_error){OLTR_ESTATE, "an item has more clicks than it was examined"};
    return OLTR_ESTATE;
}

static oltr_status check(const void *state, uint64_t t, oltr_error *error)
{
    const greedy *p = state;
    oltr_status status = OLTR_OK;
    (void)t;
    for (uint32_t i = 0; status == OLTR_OK && i < p->n_items; i++)
        status = check_item(p, i, error);
    return status;
}

/* After the sums of one item were put or reset.  Nothing is derived, so they need only be
 * checked. */
static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    (void)t;
    (void)settings;
    (void)before;
    return check_item(state, item, error);
}

static const oltr_policy_ops greedy_ops = {
    .info = {.name = "epsilon-greedy",
             .title = "Epsilon-greedy",
             .source = "examples/custom_policy.c",
             .summary =
                 "Shows the items with the largest share of clicks, or now and then a random list.",
             .rewards = OLTR_CLICKS,
             .can_merge = 1,
             .can_forget = 1,
             .takes_weights = 1,
             .by_item = 1,
             .can_resize = 1,
             .n_params = N_PARAMS,
             .params = params,
             .ops = &greedy_ops},
    .state_bytes = state_bytes,
    .scratch_bytes = oltr_scores_bytes,
    .init = init,
    .rank = rank,
    .learn = learn,
    .sums = sums,
    .refresh = refresh,
    .check = check,
    .renew_item = renew_item,
};

/* ---- an experiment with it */

enum { ITEMS = 30, POLICIES = 3 };

static int fail(const oltr_error *error)
{
    fprintf(stderr, "custom_policy: %s\n", error->msg);
    return 1;
}

int main(void)
{
    static const uint64_t last = 2000;
    static const rules house = {.explore = 1};
    oltr_error error = {OLTR_OK, ""};
    oltr_contestant policy[POLICIES] = {
        {.label = "GTS"}, {.label = "epsilon-greedy"}, {.label = "random"}};
    if (oltr_settings_init(&policy[0].settings, "gts", ITEMS, &error) != OLTR_OK ||
        oltr_settings_init_custom(&policy[1].settings, &greedy_ops, ITEMS, &error) != OLTR_OK ||
        oltr_settings_set(&policy[1].settings, "epsilon", "0.05", &error) != OLTR_OK ||
        oltr_settings_init(&policy[2].settings, "random", ITEMS, &error) != OLTR_OK)
        return fail(&error);
    policy[1].settings.custom = &house;
    policy[1].settings.custom_bytes =
        sizeof house; /* partial results with other rules are refused */
    oltr_experiment experiment = {.seed = 1,
                                  .rounds = last,
                                  .slots = 3,
                                  .replications = 50,
                                  .n_checkpoints = 1,
                                  .checkpoint = &last,
                                  .world = {.kind = "beta", .clicks = "cascade", .n_items = ITEMS},
                                  .n_policies = POLICIES,
                                  .policy = policy};
    oltr_results *results = oltr_results_new(&experiment, 1, &error);
    if (!results || oltr_run(&experiment, 1, NULL, results, &error) != OLTR_OK)
        return fail(&error);
    for (uint32_t i = 0; i < POLICIES; i++) {
        oltr_outcome outcome = oltr_results_at(results, 0, i, 0);
        printf("%-15s regret %8.2f, standard error %.2f\n", policy[i].label, outcome.regret,
               outcome.regret_se);
    }
    oltr_estimate gain = oltr_results_pair(results, 0, 1, 2, 0);
    printf("epsilon-greedy against random: %.2f, standard error %.2f\n", gain.mean, gain.se);
    oltr_results_free(results);
    return gain.mean < -5 * gain.se ? 0 : 1;
}
