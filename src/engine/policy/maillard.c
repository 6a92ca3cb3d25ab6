/* maillard.c - Maillard sampling in the Kullback-Leibler form (KL-MS): Maillard (2011), Bian and
 * Jun (AISTATS 2022), Qin, Jun and Zhang (NeurIPS 2023).
 *
 * Rule.  With p_i = S_i/N_i and p_max the largest of them among the candidates, an item has the
 * weight
 *     w_i = exp(-N_i kl(p_i, p_max)),    kl that of two Bernoulli variables.
 * The list is drawn from the items without replacement, each time with chances proportional to the
 * weights of those that are left (Plackett and Luce).  Items never examined come before all others,
 * in random order.  The papers have one slot; the list is our extension of it.
 *
 * Draw.  The K largest of log w_i + G_i, with independent Gumbel variables G_i = -log(-log u) in
 * float32, are such a list (Gumbel-top-K).  So the chance of a list is a product of shares of
 * weights, and the first slot shows item i with chance w_i / sum of w.
 *
 * Numbers.  Unseen items have the log-weight UNSEEN: all others have at most 0, and come first with
 * a chance below exp(-1000).  Where p_max is 1 every miss makes the weight 0; the limit p_max -> 1
 * is taken, in which fewer misses come first.  kl is p log p + (1-p) log(1-p), which is kept for
 * each item, minus p log p_max + (1-p) log(1-p_max): beyond 1e6 observations that cancels too many
 * digits, and kl is computed from the difference.
 *
 * Cost.  A few multiplications and the Gumbel variable of each item, by the kernel `gumbels`.
 */
#include "engine/policy/item_policy.h"

static const double UNSEEN = 1000, LOG_NOTHING = -1e6, MANY = 1e6;

typedef struct maillard_state {
    item_sums sums; /* first: see item_policy.h */
    size_t rate;    /* (n_items) doubles: p, derived; 0 of unseen items */
    size_t order;   /* (n_items) doubles: p log p + (1-p) log(1-p), derived */
    size_t bytes;
} maillard_state;

static maillard_state plan(const oltr_settings *settings)
{
    maillard_state p = {.bytes = 0};
    layout l = {align_up(sizeof p), false};
    p.sums = item_sums_plan(&l, settings->n_items);
    p.rate = layout_take(&l, settings->n_items, sizeof(double));
    p.order = layout_take(&l, settings->n_items, sizeof(double));
    p.bytes = layout_bytes(&l);
    return p;
}

static size_t state_bytes(const oltr_settings *settings)
{
    return plan(settings).bytes;
}

static double times_log(double p)
{
    return p > 0 ? p * log(p) : 0;
}

static void refresh_item(maillard_state *p, uint32_t i)
{
    double n = doubles_at(p, p->sums.examined)[i], s = doubles_at(p, p->sums.reward)[i];
    double rate = item_is_seen(n) ? s / n : 0;
    doubles_at(p, p->rate)[i] = rate;
    doubles_at(p, p->order)[i] = times_log(rate) + times_log(1 - rate);
}

static void refresh(void *state, uint64_t t)
{
    maillard_state *p = state;
    (void)t;
    for (uint32_t i = 0; i < p->sums.n_items; i++)
        refresh_item(p, i);
}

static oltr_status init(void *state, const oltr_settings *settings, oltr_error *error)
{
    (void)error;
    *(maillard_state *)state = plan(settings);
    refresh(state, 1);
    return OLTR_OK;
}

/* ---- weights */

static double largest_rate(const maillard_state *p, const candidates *from)
{
    const double *rate = doubles_at(p, p->rate);
    double most = 0;
    for (uint32_t j = 0; j < from->n; j++) {
        double one = rate[candidate(from, j)];
        most = one > most ? one : most;
    }
    return most;
}

static double log_weight(const maillard_state *p, uint32_t i, double most, double log_most,
                         double log_rest)
{
    double n = doubles_at(p, p->sums.examined)[i], rate = doubles_at(p, p->rate)[i];
    if (!item_is_seen(n))
        return UNSEEN;
    double kl = doubles_at(p, p->order)[i] - rate * log_most - (1 - rate) * log_rest;
    if (n > MANY && most < 1)
        kl = rate * log1p((rate - most) / most) + (1 - rate) * log1p((most - rate) / (1 - most));
    return kl > 0 && rate < most ? -n * kl : 0;
}

static void log_weights(const maillard_state *p, const candidates *from, double *out)
{
    double most = largest_rate(p, from), log_most = most > 0 ? log(most) : 0;
    double log_rest = most < 1 ? log1p(-most) : LOG_NOTHING;
    for (uint32_t j = 0; j < from->n; j++)
        out[j] = log_weight(p, candidate(from, j), most, log_most, log_rest);
}

/* ---- ranking */

/* Behind the scores: the Gumbel variables. */
static layout plan_scratch(uint32_t n_items, size_t *gumbel)
{
    size_t best;
    layout l = scores_plan(n_items, &best);
    *gumbel = layout_take(&l, padded(n_items), sizeof(float));
    return l;
}

static size_t scratch_bytes(const oltr_settings *settings)
{
    size_t gumbel;
    layout l = plan_scratch(settings->n_items, &gumbel);
    return layout_bytes(&l);
}

static oltr_status rank(const void *state, uint64_t t, const candidates *from, const oltr_rng *rng,
                        void *scratch, const oltr_ranking *out)
{
    const maillard_state *p = state;
    double_scores s = scores_in(scratch, p->sums.n_items);
    size_t at;
    plan_scratch(p->sums.n_items, &at);
    float *gumbel = floats_at(scratch, at);
    (void)t;
    log_weights(p, from, s.score);
    KERNEL(gumbels)(rng, from->item, from->n, gumbel);
    for (uint32_t j = 0; j < from->n; j++)
        s.score[j] += (double)gumbel[j];
    return show_best(s, from, rng, out);
}

static oltr_law laws(const void *state, uint64_t t, uint32_t part, const candidates *from,
                     double *first, double *second)
{
    (void)t, (void)part;
    log_weights(state, from, first);
    for (uint32_t j = 0; j < from->n; j++)
        second[j] = 1;
    return OLTR_LAW_GUMBEL;
}

/* ---- learning */

static oltr_status learn(void *state, uint64_t t, const candidates *from, const oltr_ranking *shown,
                         const oltr_feedback *seen)
{
    (void)t, (void)from;
    item_policy_add(state, shown, seen);
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        refresh_item(state, shown->item[slot]);
    return OLTR_OK;
}

static oltr_status renew_item(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                              const double *before, oltr_error *error)
{
    maillard_state *p = state;
    oltr_status status = item_sums_check_one(p, &p->sums, t, true, item, error);
    (void)settings, (void)before;
    if (status == OLTR_OK)
        refresh_item(p, item);
    return status;
}

const policy_ops maillard_ops = {
    .info = {.name = "maillard",
             .title = "Maillard sampling (KL-MS)",
             .source =
                 "Qin, Jun, Zhang: Kullback-Leibler Maillard Sampling for Multi-armed Bandits "
                 "with Bounded Rewards, NeurIPS 2023",
             .summary = "Draws the list by weights that fall with the evidence against each item; "
                        "the chance of every list has a closed form.",
             .rewards = OLTR_CLICKS,
             ITEM_POLICY_INFO},
    ITEM_POLICY_OPS,
    .state_bytes = state_bytes,
    .scratch_bytes = scratch_bytes,
    .init = init,
    .rank = rank,
    .learn = learn,
    .refresh = refresh,
    .renew_item = renew_item,
    .check = check_clicks,
    .predict = predict_clicks,
    .laws = laws,
    .relative_scores = 1,
};
