/* slot_definitions.c - are the policies that learn from the numbers of slots the algorithms of
 * their papers?  pbm-ts, pbm-ucb and bubblerank, each against a slow twin that counts every item in
 * every slot and has the whole relation of all pairs; see item_definitions.c for the others.
 * Where a test is statistical its seed is fixed, and the chance of a false alarm over the whole
 * file is below 1e-6.
 */
#include "conform/fixtures.h"

enum { L = 12, NODES = 4000, DRAWS = 2000 * EFFORT, KEPT = 8 };

/* ---- the twin of the position-based model */

typedef struct twin {
    double kappa[L];
    double shown[L][L], clicks[L][L]; /* of item i in slot l */
    uint64_t t;
} twin;

static double rounded(double kappa)
{
    return fmax(1, rint(kappa * 1048576)) / 1048576;
}

static twin new_twin(const variant *v)
{
    twin w = {.t = 1};
    double last = 1, at = 1;
    for (int l = 1; l <= L; l++) {
        char name[24];
        snprintf(name, sizeof name, "examine%d", l);
        double given = l <= KEPT ? param_of(v, name) : 0;
        if (given > 0) {
            last = given;
            at = l;
        }
        w.kappa[l - 1] = rounded(last * pow(at / l, param_of(v, "decay")));
    }
    return w;
}

static double sum_over(const double *x, const double *factor)
{
    double sum = 0;
    for (int l = 0; l < L; l++)
        sum += x[l] * (factor ? factor[l] : 1);
    return sum;
}

/* A list of k of the first n items, some slots of which are left out by a mask, some by the end. */
typedef struct page {
    uint32_t k, n_examined, item[L];
    double reward[L];
    uint8_t examined[L];
    bool masked;
} page;

static page draw_page(dice *d, const twin *w, uint32_t k, uint32_t n)
{
    page p = {.k = k, .n_examined = k, .masked = one_in(d, 3)};
    draw_items(d, n, k, p.item);
    for (uint32_t l = 0; l < k; l++) {
        p.reward[l] = unit(d) < w->kappa[l] * (0.05 + 0.07 * p.item[l]);
        p.examined[l] = !p.masked || !one_in(d, 4);
    }
    return p;
}

static void teach(oltr_policy *policy, twin *w, page *p)
{
    oltr_ranking shown = {p->k, p->item, NULL};
    oltr_feedback seen = {p->n_examined, p->reward, p->masked ? p->examined : NULL, NULL};
    expect(oltr_learn(policy, NULL, &shown, &seen), OLTR_OK);
    for (uint32_t l = 0; l < p->n_examined; l++)
        if (p->examined[l]) {
            w->shown[p->item[l]][l] += 1;
            w->clicks[p->item[l]][l] += p->reward[l];
        }
    w->t++;
}

/* ---- PBM-UCB */

static double ucb_index(const twin *w, double eps, int i)
{
    double s = sum_over(w->clicks[i], NULL), n = sum_over(w->shown[i], NULL);
    double nt = sum_over(w->shown[i], w->kappa);
    if (nt <= 0)
        return (double)INFINITY;
    return s / nt + sqrt(n / nt) * sqrt((1 + eps) * log((double)w->t) / (2 * nt));
}

static bool is_ucb(const variant *v)
{
    return is_kind(v, "pbm-ucb");
}

/* The slots from the most examined one, those of equal chance in their order. */
static void order_slots(const twin *w, uint32_t k, uint32_t *order)
{
    bool taken[L] = {false};
    for (uint32_t place = 0; place < k; place++) {
        uint32_t best = k;
        for (uint32_t l = 0; l < k; l++)
            if (!taken[l] && (best == k || w->kappa[l] > w->kappa[best]))
                best = l;
        taken[best] = true;
        order[place] = best;
    }
}

/* Scores are indices, and fall in the order of the slots; none that is left out has a larger one.
 */
static void assert_ucb_list(const oltr_policy *p, const twin *w, double eps, uint32_t k)
{
    uint32_t item[L], order[L];
    double score[L], least = (double)INFINITY;
    bool shown[L] = {false};
    expect(rank_with(p, NULL, w->t, k, item, score), OLTR_OK);
    order_slots(w, k, order);
    for (uint32_t place = 0; place < k; place++) {
        uint32_t slot = order[place];
        double index = ucb_index(w, eps, (int)item[slot]);
        if (!near(score[slot], index, 1e-9))
            fail_msg("round %u, item %u: score %.17g, its index is %.17g", (unsigned)w->t,
                     item[slot], score[slot], index);
        assert_true(index <= least || near(index, least, 1e-9));
        least = index;
        shown[item[slot]] = true;
    }
    for (int i = 0; i < L; i++)
        assert_true(shown[i] || ucb_index(w, eps, i) <= least * (1 + 1e-9));
}

static void play_ucb(const variant *v)
{
    oltr_policy *p = policy_of(v, L);
    twin w = new_twin(v);
    dice d = {61};
    for (int round = 0; round < 300; round++) {
        uint32_t k = 1 + below(&d, L);
        assert_ucb_list(p, &w, param_of(v, "eps"), k);
        page shown = draw_page(&d, &w, k, L);
        teach(p, &w, &shown);
    }
    assert_sound(p);
    oltr_policy_free(p);
}

static void ucb_scores_are_indices(void **state)
{
    play_ucb(*state);
}

/* With every kappa 1 the index is that of UCB1, S/N + sqrt((1 + eps) log t / (2 N)). */
static void certain_slots_are_ucb1(void **state)
{
    variant v = with(with(variant_of("pbm-ucb"), "decay", 0), "eps", 2);
    oltr_policy *p = policy_of(&v, L);
    double n[L] = {0}, s[L] = {0}, score[L];
    uint32_t item[L];
    dice d = {66};
    twin w = new_twin(&v);
    for (int round = 0; round < 300; round++) {
        page shown = draw_page(&d, &w, 1 + below(&d, L), L);
        teach(p, &w, &shown);
        for (uint32_t l = 0; l < shown.n_examined; l++) {
            n[shown.item[l]] += shown.examined[l];
            s[shown.item[l]] += shown.examined[l] ? shown.reward[l] : 0;
        }
        expect(rank_with(p, NULL, w.t, L, item, score), OLTR_OK);
        for (uint32_t l = 0; l < L; l++) {
            uint32_t i = item[l];
            double bound = s[i] / n[i] + sqrt(3 * log((double)w.t) / (2 * n[i]));
            assert_true(n[i] > 0 ? near(score[l], bound, 1e-12) : isinf(score[l]));
        }
    }
    oltr_policy_free(p);
}

/* A page whose second slot is the one that users look at. */
static void the_best_item_is_where_users_look(void **state)
{
    variant v = with(with(variant_of("pbm-ucb"), "examine1", 0.3), "examine2", 1);
    play_ucb(&v);
    v = with(with(v, "examine4", 0.9), "examine7", 0.95); /* the ninth is above the first */
    play_ucb(&v);
}

/* ---- PBM-TS */

static bool is_ts(const variant *v)
{
    return is_kind(v, "pbm-ts");
}

static double log_density(const twin *w, int i, double theta)
{
    double sum = 0;
    for (int l = 0; l < L; l++) {
        double missed = w->shown[i][l] - w->clicks[i][l];
        sum += w->clicks[i][l] > 0 ? w->clicks[i][l] * log(theta) : 0;
        sum += missed > 0 ? missed * log(1 - w->kappa[l] * theta) : 0;
    }
    return sum;
}

/* The distribution function at (j + 1) / NODES, mean and deviation, by the midpoint rule. */
typedef struct posterior {
    double mean, sd, below[NODES];
} posterior;

static void integrate(const twin *w, int i, posterior *out)
{
    double top = -(double)INFINITY, all = 0, first = 0, second = 0;
    for (int j = 0; j < NODES; j++)
        top = fmax(top, log_density(w, i, (j + 0.5) / NODES));
    for (int j = 0; j < NODES; j++) {
        double theta = (j + 0.5) / NODES, mass = exp(log_density(w, i, theta) - top);
        all += mass;
        first += mass * theta;
        second += mass * theta * theta;
        out->below[j] = all;
    }
    out->mean = first / all;
    out->sd = sqrt(second / all - out->mean * out->mean);
    for (int j = 0; j < NODES; j++)
        out->below[j] /= all;
}

static double below_of(const posterior *law, double theta)
{
    double at = theta * NODES;
    int j = (int)fmin(at, NODES - 1);
    double left = j ? law->below[j - 1] : 0;
    return left + (at - j) * (law->below[j] - left);
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Kolmogorov's distance; P(sqrt(n) D > 3.3) < 1e-9. */
static void assert_law(double *sample, const posterior *law, int i)
{
    double distance = 0;
    qsort(sample, DRAWS, sizeof *sample, ascending);
    for (int n = 0; n < DRAWS; n++) {
        double f = below_of(law, sample[n]);
        distance = fmax(distance, fmax((n + 1.0) / DRAWS - f, f - (double)n / DRAWS));
    }
    if (distance * sqrt(DRAWS) > 3.3)
        fail_msg("item %d: Kolmogorov's sqrt(n) D = %.3g", i, distance * sqrt(DRAWS));
}

static void draw_all(const oltr_policy *p, double sample[L][DRAWS])
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    for (uint32_t n = 0; n < DRAWS; n++) {
        uint32_t item[L];
        double score[L];
        oltr_ranking out = {L, item, score};
        expect(oltr_rank(p, NULL, oltr_rng_at(oltr_rng_make(5, 6), 0, n), scratch, &out), OLTR_OK);
        for (uint32_t slot = 0; slot < L; slot++)
            sample[item[slot]][n] = score[slot];
    }
    oltr_scratch_free(scratch);
}

/* Lists of as many slots as have sums of their own: the posterior is exact.  The last item stays
 * unseen. */
static void ts_samples_its_posterior(void **state)
{
    static double sample[L][DRAWS];
    static posterior law;
    const variant *v = *state;
    oltr_policy *p = policy_of(v, L);
    twin w = new_twin(v);
    double mean[L], sd[L];
    uint32_t own = param_of(v, "slots") < KEPT ? (uint32_t)param_of(v, "slots") : KEPT;
    dice d = {62};
    for (int round = 0; round < 60; round++) {
        page shown = draw_page(&d, &w, 1 + below(&d, own), L - 1);
        teach(p, &w, &shown);
    }
    draw_all(p, sample);
    expect(oltr_predict(p, NULL, mean, sd), OLTR_OK);
    for (int i = 0; i < L; i++) {
        integrate(&w, i, &law);
        assert_law(sample[i], &law, i);
        if (!near(mean[i], law.mean, 1e-6) || !near(sd[i], law.sd, 1e-6))
            fail_msg("item %d: mean %.12g and sd %.12g, should be %.12g and %.12g", i, mean[i],
                     sd[i], law.mean, law.sd);
    }
    assert_sound(p);
    oltr_policy_free(p);
}

static bool is_ts_to_sample(const variant *v)
{
    return is_ts(v) && !(param_of(v, "slots") > KEPT);
}

/* A slot behind those with sums of their own: nearly the posterior. */
static void later_slots_are_nearly_right(void **state)
{
    static posterior law;
    variant v = variant_of("pbm-ts");
    oltr_policy *p = policy_of(&v, L);
    twin w = new_twin(&v);
    double mean[L], sd[L];
    dice d = {63};
    for (int round = 0; round < 400; round++) {
        page shown = draw_page(&d, &w, L, L);
        teach(p, &w, &shown);
    }
    expect(oltr_predict(p, NULL, mean, sd), OLTR_OK);
    for (int i = 0; i < L; i++) {
        integrate(&w, i, &law);
        if (!(fabs(mean[i] - law.mean) < 0.05 * law.sd))
            fail_msg("item %d: mean %g, should be %g with deviation %g", i, mean[i], law.mean,
                     law.sd);
    }
    oltr_policy_free(p);
}

/* With every kappa 1 all lists and scores are those of ts-beta. */
static void certain_slots_are_ts_beta(void **state)
{
    variant flat = with(variant_of("pbm-ts"), "decay", 0), beta = variant_of("ts-beta");
    oltr_policy *p = policy_of(&flat, 40), *q = policy_of(&beta, 40);
    dice d = {64};
    for (uint32_t round = 0; round < 200; round++) {
        request r;
        double one[MOST_ITEMS], other[MOST_ITEMS], sd[2][MOST_ITEMS];
        uint32_t x[MOST_ITEMS], y[MOST_ITEMS];
        draw_request(&d, p, FROM_POOL, &r);
        expect(rank_with(p, r.asked, round, r.query.n_items, x, one), OLTR_OK);
        expect(rank_with(q, r.asked, round, r.query.n_items, y, other), OLTR_OK);
        assert_memory_equal(x, y, r.query.n_items * sizeof *x);
        assert_memory_equal(one, other, r.query.n_items * sizeof *one);
        expect(oltr_predict(p, NULL, one, sd[0]), OLTR_OK);
        expect(oltr_predict(q, NULL, other, sd[1]), OLTR_OK);
        assert_memory_equal(one, other, 40 * sizeof *one);
        assert_memory_equal(sd[0], sd[1], 40 * sizeof *one);
        expect(learn_request(p, &r), OLTR_OK);
        expect(learn_request(q, &r), OLTR_OK);
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* N, S, M_1, M_2 at the ends of what is allowed: draws are numbers in [0,1], within some deviations
 * of the mean, and take no time. */
static void extreme_counts_are_sampled(void **state)
{
    static const double counts[][4] = {
        {1e15, 0, 1e15, 0},     {1e15, 1e15, 0, 0}, {1e15, 5e14, 5e14, 0}, {1e15, 1, 0, 1e15},
        {1e15, 1e15, 1, 1},     {3, 1e-90, 2, 1},   {1e-80, 1e-80, 0, 0},  {1, 0.999, 1e-3, 0},
        {1e15, 1e15, 1e-60, 0}, {2, 1, 1e-99, 1},   {1e12, 9e11, 0, 1e11}, {1e9, 5e8, 1, 5e8}};
    variant v = with(with(variant_of("pbm-ts"), "slots", 2), "examine2", 0.5);
    oltr_policy *p = policy_of(&v, 1);
    oltr_error error = {OLTR_OK, ""};
    clock_t begun = clock();
    for (size_t c = 0; c < COUNT(counts); c++) {
        double mean, sd, score;
        uint32_t item;
        if (oltr_item_put(p, 0, counts[c], 4, &error) != OLTR_OK)
            fail_msg("counts %zu: %s", c, error.msg);
        expect(oltr_predict(p, NULL, &mean, &sd), OLTR_OK);
        assert_true(mean >= 0 && mean <= 1 && sd >= 0 && sd <= 0.5);
        for (uint32_t round = 0; round < 200; round++) {
            expect(rank_with(p, NULL, round, 1, &item, &score), OLTR_OK);
            if (!(score >= 0 && score <= 1 && fabs(score - mean) <= 30 * sd + 1e-15))
                fail_msg("counts %zu: a draw of %.17g, mean %.17g, sd %.17g", c, score, mean, sd);
        }
        assert_swift(begun, "extreme counts");
    }
    oltr_policy_free(p);
}

/* ---- BubbleRank */

typedef struct bubble {
    double s[L][L], n[L][L];
    uint32_t base[L];
    double log_scale;
    uint64_t t;
    uint32_t exchanged;
} bubble;

static bool is_bubble(const variant *v)
{
    return is_kind(v, "bubblerank");
}

static bubble new_bubble(const variant *v)
{
    bubble w;
    memset(&w, 0, sizeof w);
    w.t = 1;
    w.log_scale = 4 * log(param_of(v, "horizon"));
    for (uint32_t i = 0; i < L; i++) { /* by insertion: the largest mean first */
        uint32_t at = i;
        for (; at > 0 && takes_prior(v) &&
               known_prior()->mean[w.base[at - 1]] < known_prior()->mean[i];
             at--)
            w.base[at] = w.base[at - 1];
        w.base[at] = i;
    }
    return w;
}

static bool is_better(const bubble *w, uint32_t i, uint32_t j)
{
    return w->s[i][j] > 2 * sqrt(w->n[i][j] * w->log_scale);
}

/* The base list of the items in `in`; returns how many. */
static uint32_t base_of(const bubble *w, const bool in[L], uint32_t base[L])
{
    uint32_t n = 0;
    for (uint32_t at = 0; at < L; at++)
        if (in[w->base[at]])
            base[n++] = w->base[at];
    return n;
}

/* The list is the base list but for exchanges of the undecided pairs of this round.  Counts them,
 * and how often they are exchanged. */
static void assert_neighbours(const bubble *w, const uint32_t *base, uint32_t n,
                              const uint32_t *item, uint32_t k, uint32_t count[2])
{
    uint32_t slot = 0;
    for (; slot < w->t % 2 && slot < k; slot++)
        assert_int_equal(item[slot], base[slot]);
    for (; slot < k; slot += 2) {
        bool paired = slot + 1 < n && !is_better(w, base[slot], base[slot + 1]);
        bool swapped = paired && item[slot] == base[slot + 1];
        count[0] += paired;
        count[1] += swapped;
        assert_int_equal(item[slot], base[slot + swapped]);
        if (slot + 1 < k)
            assert_int_equal(item[slot + 1], base[slot + !swapped]);
    }
}

static void win(bubble *w, uint32_t i, uint32_t j)
{
    w->s[i][j] += 1;
    w->s[j][i] -= 1;
    w->n[i][j] += 1;
    w->n[j][i] += 1;
}

static void teach_bubble(bubble *w, const bool in[L], const page *p)
{
    uint32_t base[L], n = base_of(w, in, base);
    for (uint32_t slot = w->t % 2; slot < p->k; slot += 2) {
        bool one = slot < p->n_examined && p->reward[slot] > 0;
        if (slot + 1 < p->k) {
            bool other = slot + 1 < p->n_examined && p->reward[slot + 1] > 0;
            if (one != other)
                win(w, p->item[slot + !one], p->item[slot + one]);
        } else if (one && slot + 1 < n && !is_better(w, base[slot], base[slot + 1]))
            win(w, p->item[slot], base[slot + (p->item[slot] == base[slot])]);
    }
    for (uint32_t at = 0; at < p->k && at + 1 < n; at++)
        if (is_better(w, base[at + 1], base[at])) {
            uint32_t i = base[at], j = base[at + 1], a = 0, b = 0;
            while (w->base[a] != i)
                a++;
            while (w->base[b] != j)
                b++;
            w->base[a] = base[at] = j;
            w->base[b] = base[at + 1] = i;
            w->exchanged++;
        }
    w->t++;
}

/* Users of the cascade and of the position-based model in turn. */
static void read_page(dice *d, page *p)
{
    bool cascade = roll(d) & 1;
    p->n_examined = p->k;
    for (uint32_t slot = 0; slot < p->k; slot++) {
        double chance = 0.05 + 0.9 * (double)(p->item[slot] * 5 % L) / L;
        p->reward[slot] = unit(d) < chance * (cascade ? 1 : 1 / (slot + 1.0));
        if (cascade && p->reward[slot] > 0) {
            p->n_examined = slot + 1;
            return;
        }
    }
}

static void play_bubble(const variant *v, bool subsets, uint32_t rounds)
{
    oltr_policy *p = policy_of(v, L);
    bubble w = new_bubble(v);
    uint32_t count[2] = {0, 0};
    dice d = {65};
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t some[L], base[L], n = subsets ? 2 + below(&d, L - 1) : L;
        bool in[L] = {false};
        oltr_query query = {n, some};
        page shown = {.k = round % 3 ? 1 + below(&d, n < 5 ? n : 5) : n};
        draw_items(&d, L, n, some);
        for (uint32_t j = 0; j < n; j++)
            in[some[j]] = true;
        expect(rank_with(p, subsets ? &query : NULL, round, shown.k, shown.item, NULL), OLTR_OK);
        assert_neighbours(&w, base, base_of(&w, in, base), shown.item, shown.k, count);
        read_page(&d, &shown);
        oltr_ranking list = {shown.k, shown.item, NULL};
        oltr_feedback seen = {shown.n_examined, shown.reward};
        expect(oltr_learn(p, subsets ? &query : NULL, &list, &seen), OLTR_OK);
        teach_bubble(&w, in, &shown);
    }
    double z = (count[1] - 0.5 * count[0]) / sqrt(0.25 * count[0]);
    if (!(fabs(z) < 6)) /* P < 2e-9 */
        fail_msg("%u of %u undecided pairs were exchanged (z = %.2f)", count[1], count[0], z);
    assert_sound(p);
    oltr_policy_free(p);
    if (param_of(v, "horizon") < 3)
        if (w.exchanged < 10) /* there was little to compare */
            fail_msg("only %u exchanges", w.exchanged);
}

static void lists_differ_by_neighbours(void **state)
{
    play_bubble(*state, false, 6000);
}

static void lists_of_some_items_differ_by_neighbours(void **state)
{
    play_bubble(*state, true, 6000);
}

/* ---- the suite */

int main(void)
{
    static suite all;
    static variant_list variants;
    list_variants(&variants);
    ON_SOME_VARIANTS(&all, &variants, ucb_scores_are_indices, is_ucb);
    ONCE(&all, certain_slots_are_ucb1);
    ONCE(&all, the_best_item_is_where_users_look);
    ON_SOME_VARIANTS(&all, &variants, ts_samples_its_posterior, is_ts_to_sample);
    ONCE(&all, later_slots_are_nearly_right);
    ONCE(&all, certain_slots_are_ts_beta);
    ONCE(&all, extreme_counts_are_sampled);
    ON_SOME_VARIANTS(&all, &variants, lists_differ_by_neighbours, is_bubble);
    ON_SOME_VARIANTS(&all, &variants, lists_of_some_items_differ_by_neighbours, is_bubble);
    return cmocka_run_group_tests_name("policies that learn from slots", all.test, NULL, NULL);
}
