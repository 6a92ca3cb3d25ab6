/* chances.c - the chances of lists: closed forms, all orders of ties, a million lists under random
 * rules, and laws at the ends of what is allowed.
 *
 * Independent of the implementation: the differences of normals, the sum for two Betas with a whole
 * shape, and Beta(a,1), whose scores rank like the model of Plackett and Luce, because -log X is
 * exponential with rate a; so do Gumbel scores whose locations are log a.  The lists of the
 * simulations are made by exchanging items one by one until the rule holds, which is another
 * definition than that of chances.c.
 */
#define _DEFAULT_SOURCE 1 /* posix_memalign() */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "support/stat.h"
#include "support/oracle.h"
#include "engine/model/chances.h"

enum { MOST = 400 }; /* items of a case */

typedef struct list_case {
    score_kind kind;
    uint32_t n, k, least, most;
    bool ruled;
    double first_number[MOST], second_number[MOST];
    uint8_t fresh[MOST];
    double in_list[MOST], first[MOST]; /* the answers */
} list_case;

static score_laws laws_of(const list_case *c)
{
    return (score_laws){c->kind, c->n, c->first_number,
                        c->kind == SCORE_FIXED ? NULL : c->second_number};
}

static list_rule rule_of(const list_case *c)
{
    return (list_rule){c->k, c->ruled ? c->fresh : NULL, c->least, c->most};
}

static void near(const char *what, double got, double right, double tolerance)
{
    if (!(fabs(got - right) <= tolerance))
        fail_msg("%s: %.17g, right is %.17g", what, got, right);
}

/* Computes the chances, and checks what is true of all: they are chances, and their sums. */
static void solve(list_case *c)
{
    score_laws laws = laws_of(c);
    list_rule rule = rule_of(c);
    assert_int_equal(list_chances(&laws, &rule, NULL, c->in_list, c->first), OLTR_OK);
    double slots = 0, firsts = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        assert_true(c->in_list[i] >= 0 && c->in_list[i] <= 1);
        assert_true(c->first[i] >= 0 && c->first[i] <= c->in_list[i] + 1e-12);
        slots += c->in_list[i];
        firsts += c->first[i];
    }
    near("the sum of the chances to be in the list", slots, c->k, 1e-10);
    near("the sum of the chances to be first", firsts, 1, 1e-11);
}

static void add_item(list_case *c, double first, double second)
{
    c->first_number[c->n] = first;
    c->second_number[c->n++] = second;
}

/* ---- two items */

static double duel(score_kind kind, double a, double b, double c, double d)
{
    list_case two = {.kind = kind, .k = 1};
    add_item(&two, a, b);
    add_item(&two, c, d);
    solve(&two);
    near("first and in a list of one", two.first[0], two.in_list[0], 1e-15);
    return two.first[0];
}

static void two_normals_differ_by_a_normal(void **state)
{
    dice from = {1};
    for (int i = 0; i < 4000; i++) {
        double scale = log_uniform(&from, 1e-9, 1e9), ratio = log_uniform(&from, 1e-12, 1e12);
        double s1 = scale, s2 = scale * ratio, s = hypot(s1, s2),
               gap = s * 10 * (unit(&from) - 0.5);
        double m2 = i % 2 ? 0 : floor(scale * normal(&from)), m1 = m2 + gap;
        double right = gsl_cdf_ugaussian_P((m1 - m2) / s);
        near("two normals", duel(SCORE_NORMAL, m1, s1, m2, s2), right, 1e-12);
    }
}

/* Deviations that are far smaller than the rounding error of the means. */
static void narrow_normals_far_from_zero_are_compared(void **state)
{
    static const double mean[] = {1e9, -1e9, 1e30, 12345.678};
    for (unsigned i = 0; i < COUNT(mean); i++)
        for (double sd = 1e-30; sd < 1e-9; sd *= 1e3) {
            near("equal", duel(SCORE_NORMAL, mean[i], sd, mean[i], 7 * sd), 0.5, 1e-13);
            double more = nextafter(mean[i], INFINITY);
            double right = gsl_cdf_ugaussian_P((more - mean[i]) / (sd * sqrt(2)));
            near("the next number", duel(SCORE_NORMAL, more, sd, mean[i], sd), right, 1e-13);
            near("and back", duel(SCORE_NORMAL, mean[i], sd, more, sd), 1 - right, 1e-13);
        }
    near("widest", duel(SCORE_NORMAL, 1e100, 1e100, 0, 1e100), gsl_cdf_ugaussian_P(sqrt(0.5)),
         1e-12);
    near("narrowest", duel(SCORE_NORMAL, 1e-100, 1e-100, 0, 1e-100), gsl_cdf_ugaussian_P(sqrt(0.5)),
         1e-12);
    near("both", duel(SCORE_NORMAL, 0.5e100, 1e-100, 0, 1e100), gsl_cdf_ugaussian_P(0.5), 1e-12);
}

/* P(X > Y), X ~ Beta(a,b) with a whole a, Y ~ Beta(c,d): the sum over i < a of
 * B(c+i, b+d) / ((b+i) B(1+i, b) B(c,d)). */
static double whole_duel(unsigned a, double b, double c, double d)
{
    long double sum = 0;
    for (unsigned i = 0; i < a; i++)
        sum += expl(oracle_log_beta(c + i, b + d) - oracle_log_beta(1.0L + i, b) -
                    oracle_log_beta(c, d)) /
               (b + i);
    return (double)sum;
}

static void two_betas_follow_the_sum_for_whole_shapes(void **state)
{
    dice from = {2};
    for (int i = 0; i < 4000; i++) {
        unsigned a = 1 + below(&from, i % 2 ? 5 : 300);
        double b = log_uniform(&from, 1e-3, 1e3), c = log_uniform(&from, 1e-3, 1e3),
               d = log_uniform(&from, 1e-3, 1e3);
        double right = whole_duel(a, b, c, d), got = duel(SCORE_BETA, a, b, c, d);
        if (!(fabs(got - right) <= 1e-11))
            fail_msg("Beta(%u,%g) over Beta(%g,%g): %.17g, right is %.17g", a, b, c, d, got, right);
    }
}

/* The same integral by the trapezoidal rule over the log-odds, with the tails of oracle.h. */
static double slow_duel(double a, double b, double c, double d)
{
    double mode = log(a / b), step = 0.1 / sqrt(a / (a + b) * b), sum = 0;
    for (int i = -100; i <= 100; i++) {
        long double u = (long double)mode + i * (long double)step;
        long double x = 1 / (1 + expl(-u)), y = 1 / (1 + expl(u));
        long double density = expl(a * logl(x) + b * logl(y) - oracle_log_beta(a, b));
        sum += (double)density * oracle_beta(c, d, (double)x, (double)y).lower;
    }
    return sum * step;
}

static void two_betas_of_many_observations_agree_with_a_slow_integral(void **state)
{
    dice from = {3};
    for (int i = 0; i < 5 * EFFORT; i++) {
        double n = log_uniform(&from, 1e3, 1e8), p = 0.01 + 0.9 * unit(&from);
        double m = n * log_uniform(&from, 0.01, 1), sd = sqrt(p * (1 - p) * (1 / n + 1 / m));
        double q = p + 2 * sd * normal(&from);
        q = q < 0.001 ? 0.001 : q;
        double right = slow_duel(n * p, n * (1 - p), m * q, m * (1 - q));
        near("two betas", duel(SCORE_BETA, n * p, n * (1 - p), m * q, m * (1 - q)), right, 1e-9);
    }
}

/* So many observations make a score a number: the other law's distribution function. */
static void a_certain_item_wins_with_the_tail_of_the_other(void **state)
{
    for (int i = 1; i < 20; i++) {
        double p = i / 20.0, n = 1e12;
        oracle_tails two = oracle_beta(2, 3, p, 1 - p), small = oracle_beta(1e-3, 0.5, p, 1 - p);
        near("Beta(2,3)", duel(SCORE_BETA, n * p, n * (1 - p), 2, 3), two.lower, 1e-11);
        near("Beta(0.001,0.5)", duel(SCORE_BETA, n * p, n * (1 - p), 1e-3, 0.5), small.lower,
             1e-11);
    }
    near("1e16 and 1e16", duel(SCORE_BETA, 1e16, 1e16, 1e16, 1e16), 0.5, 1e-12);
    near("1e16 and 1", duel(SCORE_BETA, 1e16, 1e16, 1, 1), 0.5, 1e-9);
}

/* Beta(a,b) with tiny shapes is 0 or 1: 1 with the chance a / (a+b). */
static void the_smallest_shapes_are_coins(void **state)
{
    double e = 1e-9, half = duel(SCORE_BETA, e, e, 3, 4);
    near("a coin and a rate", half, 0.5, 1e-8);
    near("an unfair coin", duel(SCORE_BETA, e, 3 * e, 5, 0.2), 0.25, 1e-7);
    near("two coins", duel(SCORE_BETA, e, e, e, e), 0.5, 1e-12);
    near("ends", duel(SCORE_BETA, 1e16, 1e-9, 1e-9, 1e16), 1, 1e-12);
}

/* ---- Plackett and Luce */

static list_case rates_case(dice *from, uint32_t n, double low, double high)
{
    list_case c = {.kind = SCORE_BETA};
    while (c.n < n)
        add_item(&c, log_uniform(from, low, high), 1);
    return c;
}

/* The same chances by Gumbel scores. */
static list_case as_gumbel(const list_case *c)
{
    list_case same = *c;
    same.kind = SCORE_GUMBEL;
    for (uint32_t i = 0; i < c->n; i++)
        same.first_number[i] = log(c->first_number[i]);
    return same;
}

static double total(const list_case *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n; i++)
        sum += c->first_number[i];
    return sum;
}

/* Without item j; a difference from the total would lose the small ones. */
static double total_without(const list_case *c, uint32_t j)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n; i++)
        sum += i == j ? 0 : c->first_number[i];
    return sum;
}

static void powers_of_uniforms_rank_like_plackett_and_luce(void **state)
{
    dice from = {4};
    for (int round = 0; round < 300; round++) {
        double spread = round % 3 ? 10 : 1e9;
        list_case c = rates_case(&from, 2 + below(&from, 30), 1 / spread, spread);
        double all = total(&c);
        c.k = 2;
        solve(&c);
        list_case same = as_gumbel(&c);
        solve(&same);
        for (uint32_t i = 0; i < c.n; i++) {
            double a = c.first_number[i], second = 0;
            for (uint32_t j = 0; j < c.n; j++)
                if (j != i)
                    second += c.first_number[j] / all * (a / total_without(&c, j));
            near("first", c.first[i], a / all, 1e-12);
            near("one of two", c.in_list[i], a / all + second, 1e-11);
            near("first by Gumbel", same.first[i], a / all, 1e-11);
            near("one of two by Gumbel", same.in_list[i], a / all + second, 1e-11);
        }
    }
}

/* Beta(1,b): the lowest of all is item i with the chance b_i / sum b. */
static void the_last_is_left_out_of_a_list_of_all_but_one(void **state)
{
    dice from = {5};
    for (int round = 0; round < 100; round++) {
        list_case c = rates_case(&from, 2 + below(&from, 30), 1e-2, 1e2);
        double all = total(&c);
        for (uint32_t i = 0; i < c.n; i++) {
            c.second_number[i] = c.first_number[i];
            c.first_number[i] = 1;
        }
        c.k = c.n - 1;
        solve(&c);
        for (uint32_t i = 0; i < c.n; i++)
            near("all but the last", c.in_list[i], 1 - c.second_number[i] / all, 1e-11);
    }
}

static void prefixes_follow_plackett_and_luce(void **state)
{
    dice from = {6};
    for (int round = 0; round < 300; round++) {
        double spread = round % 3 ? 10 : 1e9;
        list_case c = rates_case(&from, 2 + below(&from, 100), 1 / spread, spread);
        list_case same = as_gumbel(&c);
        score_laws laws = laws_of(round % 2 ? &same : &c);
        uint32_t shown[MOST], k = 1 + below(&from, c.n < 20 ? c.n : 20);
        double chance[MOST], left[MOST + 1] = {0}, right = 1;
        for (uint32_t i = 0; i < c.n; i++)
            shown[i] = i;
        shuffle(&from, shown, c.n);
        for (uint32_t i = c.n; i-- > 0;)
            left[i] = left[i + 1] + c.first_number[shown[i]];
        assert_int_equal(list_prefix_chances(&laws, shown, k, NULL, chance), OLTR_OK);
        for (uint32_t j = 0; j < k; j++) {
            right *= c.first_number[shown[j]] / left[j];
            near("a prefix", chance[j], right, 1e-15 + (round % 2 ? 1e-12 : 1e-9) * right);
        }
    }
}

/* By Plackett and Luce, the item after a beginning has its rate over the rates that are left. */
static void what_follows_is_plackett_and_luce(void **state)
{
    dice from = {61};
    for (int round = 0; round < 100; round++) {
        double spread = round % 3 ? 10 : 1e6;
        list_case c = rates_case(&from, 2 + below(&from, 40), 1 / spread, spread);
        list_case same = as_gumbel(&c);
        score_laws laws = laws_of(round % 2 ? &same : &c);
        uint32_t shown[MOST], k = 1 + below(&from, c.n < 10 ? c.n : 10);
        double beginning = 1, left = total(&c);
        double *next = exactly((size_t)k * c.n, sizeof *next);
        for (uint32_t i = 0; i < c.n; i++)
            shown[i] = i;
        shuffle(&from, shown, c.n);
        assert_int_equal(list_next_chances(&laws, shown, k, NULL, next), OLTR_OK);
        for (uint32_t j = 0; j < k; j++) {
            for (uint32_t i = j; i < c.n; i++) {
                double right = beginning * c.first_number[shown[i]] / left;
                near("what follows", next[j * c.n + shown[i]], right, 1e-15 + 1e-7 * right);
            }
            for (uint32_t i = 0; i < j; i++)
                assert_true(next[j * c.n + shown[i]] == 0);
            beginning *= c.first_number[shown[j]] / left;
            left -= c.first_number[shown[j]];
        }
        free(next);
    }
}

/* The items that follow a beginning share its chance, and the one shown next has that of the
 * beginning with it. */
static void followers_share_the_chance_of_a_beginning(const score_laws *laws, const uint32_t *shown,
                                                      uint32_t k)
{
    double chance[MOST], *next = exactly((size_t)k * laws->n, sizeof *next);
    assert_int_equal(list_prefix_chances(laws, shown, k, NULL, chance), OLTR_OK);
    assert_int_equal(list_next_chances(laws, shown, k, NULL, next), OLTR_OK);
    for (uint32_t j = 0; j < k; j++) {
        double sum = 0;
        for (uint32_t i = 0; i < laws->n; i++)
            sum += next[j * laws->n + i];
        near("followers", sum, j > 0 ? chance[j - 1] : 1, 1e-10);
        near("the one shown", next[j * laws->n + shown[j]], chance[j], 1e-12);
    }
    free(next);
}

static void beginnings_are_shared_by_what_follows(void **state)
{
    static const score_kind kind[] = {SCORE_NORMAL, SCORE_BETA, SCORE_GUMBEL, SCORE_FIXED};
    dice from = {62};
    for (int round = 0; round < 200; round++) {
        list_case c = {.kind = kind[round % 4]};
        uint32_t shown[MOST], n = 1 + below(&from, 25);
        while (c.n < n)
            add_item(&c,
                     c.kind == SCORE_FIXED  ? below(&from, 3)
                     : c.kind == SCORE_BETA ? 0.2 + 5 * unit(&from)
                                            : 3 * unit(&from),
                     c.kind == SCORE_BETA     ? 0.2 + 20 * unit(&from)
                     : c.kind == SCORE_GUMBEL ? 1
                                              : 0.05 + unit(&from));
        for (uint32_t i = 0; i < n; i++)
            shown[i] = i;
        shuffle(&from, shown, n);
        score_laws laws = laws_of(&c);
        followers_share_the_chance_of_a_beginning(&laws, shown, 1 + below(&from, n));
    }
}

/* ---- equal items */

/* The mean number of fresh items in a list of equal items, by the hypergeometric law. */
static double mean_fresh(const list_case *c, uint32_t n_fresh)
{
    double mean = 0;
    fresh_range range = fresh_range_of(c->k, n_fresh, c->n - n_fresh, c->least, c->most);
    for (uint32_t f = 0; f <= c->k; f++)
        mean += gsl_ran_hypergeometric_pdf(f, n_fresh, c->n - n_fresh, c->k) *
                fmin(fmax(f, range.least), range.most);
    return mean;
}

static void equal_items_share_the_list(list_case *c)
{
    uint32_t n_fresh = 0;
    for (uint32_t i = 0; i < c->n; i++)
        n_fresh += c->ruled && c->fresh[i];
    uint32_t others = c->n - n_fresh;
    fresh_range range = fresh_range_of(c->k, n_fresh, others, c->least, c->most);
    double fresh = mean_fresh(c, n_fresh);
    uint32_t leaders = (range.most > 0 ? n_fresh : 0) + (range.least < c->k ? others : 0);
    solve(c);
    for (uint32_t i = 0; i < c->n; i++) {
        bool is_fresh = c->ruled && c->fresh[i];
        bool can_lead = is_fresh ? range.most > 0 : range.least < c->k;
        near("in the list", c->in_list[i], is_fresh ? fresh / n_fresh : (c->k - fresh) / others,
             1e-12);
        near("first", c->first[i], can_lead ? 1.0 / leaders : 0, 1e-12);
    }
}

static void equal_items_have_equal_chances_by_group(void **state)
{
    static const double law[][3] = {{SCORE_NORMAL, 3, 0.1},  {SCORE_NORMAL, -1e9, 1e-9},
                                    {SCORE_BETA, 1, 1},      {SCORE_BETA, 1e9, 3e9},
                                    {SCORE_BETA, 1e-3, 0.2}, {SCORE_BETA, 50, 0.01},
                                    {SCORE_FIXED, 7, 0},     {SCORE_FIXED, -INFINITY, 0}};
    dice from = {7};
    for (int round = 0; round < 50 * EFFORT; round++) {
        const double *one = law[below(&from, COUNT(law))];
        list_case c = {.kind = (score_kind)one[0], .ruled = !one_in(&from, 4)};
        uint32_t n = 1 + below(&from, round % 20 ? 20 : MOST), one_of = 1 + below(&from, 4);
        while (c.n < n) {
            c.fresh[c.n] = one_in(&from, one_of);
            add_item(&c, one[1], one[2]);
        }
        c.k = 1 + below(&from, n);
        c.least = below(&from, c.k + 2);
        c.most = below(&from, c.k + 2);
        equal_items_share_the_list(&c);
    }
}

/* ---- lists by exchange, against which simulations and all orders are counted */

/* From the k best, exchanges the worst fresh item for the best other one that is left, or the other
 * way round, while the rule is broken and there is an item to exchange.  chosen: (n) by place in
 * the order. */
static void exchange(const bool *fresh, uint32_t n, bool out, bool *chosen)
{
    uint32_t leaves = n, comes = n;
    for (uint32_t i = 0; i < n; i++)
        if (chosen[i] && fresh[i] == out)
            leaves = i;
    for (uint32_t i = n; i-- > 0;)
        if (!chosen[i] && fresh[i] != out)
            comes = i;
    if (leaves < n && comes < n) {
        chosen[leaves] = false;
        chosen[comes] = true;
    }
}

/* The places of the list for the items in this order, best first. */
static void choose(const list_case *c, const uint32_t *order, bool *chosen)
{
    bool fresh[MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        fresh[i] = c->ruled && c->fresh[order[i]];
        chosen[i] = i < c->k;
        count += chosen[i] && fresh[i];
    }
    if (!c->ruled)
        return;
    for (uint32_t f = count; f > c->most; f--)
        exchange(fresh, c->n, true, chosen);
    for (uint32_t f = count; f < c->least && f < c->most; f++)
        exchange(fresh, c->n, false, chosen);
}

static void count_list(const list_case *c, const uint32_t *order, unsigned *in_list,
                       unsigned *first)
{
    bool chosen[MOST], led = false;
    choose(c, order, chosen);
    for (uint32_t i = 0; i < c->n; i++)
        if (chosen[i]) {
            in_list[order[i]]++;
            first[order[i]] += !led;
            led = true;
        }
}

/* ---- fixed scores: all orders of the ties */

typedef struct all_orders {
    const list_case *of;
    uint32_t order[8];
    unsigned in_list[8], first[8], orders;
} all_orders;

static void count_orders(all_orders *all, uint32_t from)
{
    const list_case *c = all->of;
    if (from == c->n) {
        all->orders++;
        count_list(c, all->order, all->in_list, all->first);
        return;
    }
    double best = -INFINITY;
    for (uint32_t i = from; i < c->n; i++)
        best = fmax(best, c->first_number[all->order[i]]);
    for (uint32_t i = from; i < c->n; i++) {
        uint32_t held = all->order[i];
        if (c->first_number[held] != best)
            continue;
        all->order[i] = all->order[from];
        all->order[from] = held;
        count_orders(all, from + 1);
        all->order[from] = all->order[i];
        all->order[i] = held;
    }
}

static void ties_are_broken_in_all_orders(void **state)
{
    static const double score[] = {-INFINITY, -1, 0.0, -0.0, 2.5, INFINITY};
    dice from = {8};
    for (int round = 0; round < 250 * EFFORT; round++) {
        list_case c = {.kind = SCORE_FIXED, .ruled = !one_in(&from, 4)};
        uint32_t n = 1 + below(&from, 7), values = 1 + below(&from, COUNT(score));
        while (c.n < n) {
            c.fresh[c.n] = (uint8_t)(below(&from, 2) * (1 + below(&from, 255)));
            add_item(&c, score[below(&from, values)], NAN);
        }
        c.k = 1 + below(&from, n);
        c.least = below(&from, n + 2);
        c.most = below(&from, n + 2);
        solve(&c);
        all_orders all = {.of = &c, .order = {0, 1, 2, 3, 4, 5, 6, 7}};
        count_orders(&all, 0);
        for (uint32_t i = 0; i < n; i++) {
            near("in the list", c.in_list[i], (double)all.in_list[i] / all.orders, 1e-14);
            near("first", c.first[i], (double)all.first[i] / all.orders, 1e-14);
        }
    }
}

static void fixed_prefixes_divide_by_the_ties(void **state)
{
    static const double score[] = {1, INFINITY, 1, -INFINITY, INFINITY, 1};
    static const uint32_t right[] = {4, 1, 2, 5, 0, 3}, wrong[] = {1, 2, 4};
    static const double chance[] = {1.0 / 2, 1.0 / 2, 1.0 / 6, 1.0 / 12, 1.0 / 12, 1.0 / 12};
    score_laws laws = {SCORE_FIXED, 6, score, NULL};
    double got[6];
    assert_int_equal(list_prefix_chances(&laws, right, 6, NULL, got), OLTR_OK);
    for (int j = 0; j < 6; j++)
        near("a prefix", got[j], chance[j], 1e-15);
    assert_int_equal(list_prefix_chances(&laws, wrong, 3, NULL, got), OLTR_OK);
    assert_true(got[0] == 0.5 && got[1] == 0 && got[2] == 0);
}

/* ---- simulations */

enum { ITEMS = 9, RULES = 6, PREFIX = 4, DRAWS = 125000 * EFFORT };

typedef struct simulation {
    list_case rule[RULES]; /* the same laws under several rules */
    unsigned in_list[RULES][ITEMS], first[RULES][ITEMS];
    uint32_t shown[ITEMS];
    unsigned prefix[PREFIX];
} simulation;

typedef void (*draw_law)(dice *from, double *first, double *second);

static void similar_normal(dice *from, double *first, double *second)
{
    *first = normal(from);
    *second = log_uniform(from, 0.3, 3);
}

static void uneven_normal(dice *from, double *first, double *second)
{
    *first = normal(from);
    *second = log_uniform(from, 1e-4, 30);
}

static void some_beta(dice *from, double *first, double *second)
{
    double n = log_uniform(from, 0.5, 300), p = 0.1 + 0.5 * unit(from);
    *first = n * p;
    *second = n * (1 - p);
}

static void tied_score(dice *from, double *first, double *second)
{
    *first = below(from, 4);
    *second = 0;
}

static void make_rules(simulation *s, score_kind kind, draw_law law, dice *from)
{
    list_case c = {.kind = kind};
    while (c.n < ITEMS) {
        double first, second;
        c.fresh[c.n] = one_in(from, 2);
        law(from, &first, &second);
        add_item(&c, first, second);
    }
    for (int r = 0; r < RULES; r++) {
        c.k = 1 + below(from, ITEMS);
        c.least = below(from, c.k + 1);
        c.most = below(from, c.k + 1);
        c.ruled = r > 0;
        s->rule[r] = c;
        solve(&s->rule[r]);
    }
}

static double draw_score(const list_case *c, uint32_t i, dice *from, gsl_rng *rng)
{
    double first = c->first_number[i], second = c->second_number[i];
    if (c->kind == SCORE_BETA)
        return gsl_ran_beta(rng, first, second);
    return c->kind == SCORE_NORMAL ? first + second * normal(from) : first + 0.5 * unit(from);
}

/* One order of the items by drawn scores; ties of fixed ones are broken by the draws. */
static void draw_order(const list_case *c, dice *from, gsl_rng *rng, uint32_t *order)
{
    double score[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++) {
        score[i] = draw_score(c, i, from, rng);
        uint32_t at = i;
        for (; at > 0 && score[order[at - 1]] < score[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void play(simulation *s, dice *from, gsl_rng *rng)
{
    for (int draw = 0; draw < DRAWS; draw++) {
        uint32_t order[ITEMS];
        draw_order(&s->rule[0], from, rng, order);
        for (int r = 0; r < RULES; r++)
            count_list(&s->rule[r], order, s->in_list[r], s->first[r]);
        for (uint32_t j = 0; j < PREFIX && order[j] == s->shown[j]; j++)
            s->prefix[j]++;
    }
}

/* The rarer of an event and its opposite. */
static void chance_agrees(const char *what, unsigned count, double chance)
{
    if (chance <= 0.5)
        check_count(what, "drawn", count, DRAWS * chance);
    else
        check_count(what, "not drawn", DRAWS - count, DRAWS * (1 - chance));
}

static void draws_agree(score_kind kind, draw_law law, uint64_t seed)
{
    dice from = {seed};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    simulation *s = exactly(1, sizeof *s);
    double prefix[PREFIX];
    make_rules(s, kind, law, &from);
    draw_order(&s->rule[0], &from, rng, s->shown);
    score_laws laws = laws_of(&s->rule[0]);
    assert_int_equal(list_prefix_chances(&laws, s->shown, PREFIX, NULL, prefix), OLTR_OK);
    play(s, &from, rng);
    for (int r = 0; r < RULES; r++)
        for (uint32_t i = 0; i < ITEMS; i++) {
            chance_agrees("in the list", s->in_list[r][i], s->rule[r].in_list[i]);
            chance_agrees("first", s->first[r][i], s->rule[r].first[i]);
        }
    for (int j = 0; j < PREFIX; j++)
        chance_agrees("prefix", s->prefix[j], prefix[j]);
    gsl_rng_free(rng);
    free(s);
}

static void a_million_lists_of_similar_normals_agree(void **state)
{
    draws_agree(SCORE_NORMAL, similar_normal, 11);
}

static void a_million_lists_of_uneven_normals_agree(void **state)
{
    draws_agree(SCORE_NORMAL, uneven_normal, 12);
}

static void a_million_lists_of_betas_agree(void **state)
{
    draws_agree(SCORE_BETA, some_beta, 13);
}

static void a_million_lists_of_tied_scores_agree(void **state)
{
    draws_agree(SCORE_FIXED, tied_score, 14);
}

/* ---- the rule */

static void the_range_of_fresh_items_is_what_exchanges_reach(void **state)
{
    for (uint32_t fresh = 0; fresh < 6; fresh++)
        for (uint32_t others = fresh == 0; others < 6; others++)
            for (uint32_t k = 1; k <= fresh + others; k++)
                for (uint32_t least = 0; least < 8; least++)
                    for (uint32_t most = 0; most < 8; most++) {
                        uint32_t needed = k > others ? k - others : 0, room = k < fresh ? k : fresh;
                        fresh_range r = fresh_range_of(k, fresh, others, least, most);
                        assert_true(needed <= r.least && r.least <= r.most && r.most <= room);
                        assert_true(r.most <= most || r.most == needed);
                        assert_true(r.least >= least || r.least == r.most);
                        assert_true(r.most == most || r.most == room || r.most == needed);
                        assert_true(r.least == least || r.least == r.most || r.least == needed);
                    }
}

/* Laws of all sizes; type 0 to 2 are normal, the others Beta. */
static void draw_wild(dice *from, unsigned type, double *first, double *second)
{
    *second = log_uniform(from, 1e-9, 1e9);
    *first = type == 0 ? 0.5 : normal(from) * (type == 1 ? 1 : log_uniform(from, 1e-9, 1e9));
    if (type == 2)
        *second = log_uniform(from, 0.1, 10);
    if (type == 3 || type == 4)
        *first = log_uniform(from, type == 3 ? 1e-9 : 1e-3, type == 3 ? 1e12 : 1e3);
    if (type == 4)
        *second = log_uniform(from, 1e-3, 1e3);
    if (type == 5) {
        double p = log_uniform(from, 1e-3, 0.5), n = log_uniform(from, 1e-2, 1e12);
        *first = n * p;
        *second = n * (1 - p);
    }
}

static list_case wild_case(dice *from, uint32_t largest)
{
    unsigned type = below(from, 6);
    list_case c = {.kind = type < 3 ? SCORE_NORMAL : SCORE_BETA, .ruled = below(from, 2)};
    uint32_t n = 1 + below(from, largest);
    while (c.n < n) {
        double first, second;
        c.fresh[c.n] = one_in(from, 3);
        draw_wild(from, type, &first, &second);
        add_item(&c, first, second);
    }
    c.k = 1 + below(from, n);
    c.least = below(from, c.k + 2);
    c.most = below(from, c.k + 2);
    return c;
}

static void chances_of_wild_laws_sum_to_the_slots(void **state)
{
    dice from = {15};
    for (int round = 0; round < 250 * EFFORT; round++) {
        list_case c = wild_case(&from, round % 100 ? 12 : MOST);
        solve(&c);
    }
}

/* The order of the items changes nothing, nor does a rule that every list keeps; a list of all
 * items has all. */
static void chances_belong_to_items_not_to_places(void **state)
{
    dice from = {16};
    for (int round = 0; round < 25 * EFFORT; round++) {
        list_case c = wild_case(&from, 30), turned = c;
        for (uint32_t i = 0; i < c.n; i++) {
            turned.first_number[i] = c.first_number[c.n - 1 - i];
            turned.second_number[i] = c.second_number[c.n - 1 - i];
            turned.fresh[i] = c.fresh[c.n - 1 - i];
        }
        solve(&c);
        solve(&turned);
        for (uint32_t i = 0; i < c.n; i++) {
            near("in the list", turned.in_list[c.n - 1 - i], c.in_list[i], 1e-13);
            near("first", turned.first[c.n - 1 - i], c.first[i], 1e-13);
        }
        list_case free_rule = c, none = c, whole = c;
        free_rule.ruled = true;
        free_rule.least = 0;
        free_rule.most = none.least = none.most = UINT32_MAX;
        none.ruled = false;
        whole.k = c.n;
        solve(&free_rule);
        solve(&none);
        solve(&whole);
        assert_memory_equal(free_rule.in_list, none.in_list, c.n * sizeof(double));
        assert_memory_equal(free_rule.first, none.first, c.n * sizeof(double));
        for (uint32_t i = 0; i < c.n; i++)
            assert_true(whole.in_list[i] == 1);
    }
}

/* One item that is certain among wide ones: so many of the others are above it. */
static void a_spike_among_wide_items_counts_those_above(void **state)
{
    dice from = {17};
    for (int round = 0; round < 200; round++) {
        list_case c = {.kind = SCORE_NORMAL};
        double chance = unit(&from), at = gsl_cdf_ugaussian_Qinv(chance);
        uint32_t n = 2 + below(&from, 100);
        for (uint32_t i = 0; i + 1 < n; i++)
            add_item(&c, 1e3, 1e9);
        add_item(&c, 1e3 + 1e9 * at, 1e-9);
        c.k = 1 + below(&from, n - 1);
        solve(&c);
        double sure = (c.first_number[n - 1] - 1e3) / 1e9;
        double right = gsl_cdf_binomial_P(c.k - 1, gsl_cdf_ugaussian_Q(sure), n - 1);
        near("the spike", c.in_list[n - 1], right, 1e-11);
        near("a wide one", c.in_list[0], (c.k - right) / (n - 1), 1e-11);
    }
}

static void one_candidate_is_the_list(void **state)
{
    static const score_kind kind[] = {SCORE_NORMAL, SCORE_BETA, SCORE_FIXED};
    for (unsigned i = 0; i < COUNT(kind); i++)
        for (int ruled = 0; ruled < 2; ruled++) {
            list_case c = {.kind = kind[i], .k = 1, .ruled = ruled, .fresh = {1}};
            add_item(&c, 2, 3);
            solve(&c);
            assert_true(c.in_list[0] == 1);
            near("first", c.first[0], 1, 1e-13);
        }
}

/* ---- prefixes */

enum { SHORT = 3 }; /* the longest list of which all are made */

typedef struct all_lists {
    double in_list[6], first[6], sum;
} all_lists;

/* The list whose places are the digits of `code`; false where an item occurs twice. */
static bool list_of_code(uint32_t code, uint32_t n, uint32_t shown[SHORT])
{
    for (int j = 0; j < SHORT; j++, code /= n)
        shown[j] = code % n;
    return shown[0] != shown[1] && shown[0] != shown[2] && shown[1] != shown[2];
}

static void add_list(all_lists *all, const list_case *c, const uint32_t shown[SHORT])
{
    double chance[SHORT];
    score_laws laws = laws_of(c);
    assert_int_equal(list_prefix_chances(&laws, shown, SHORT, NULL, chance), OLTR_OK);
    near("a prefix of one", chance[0], c->first[shown[0]], 1e-12);
    all->sum += chance[SHORT - 1];
    all->first[shown[0]] += chance[SHORT - 1];
    for (int j = 0; j < SHORT; j++)
        all->in_list[shown[j]] += chance[SHORT - 1];
}

static void all_lists_together_are_the_chances(void **state)
{
    dice from = {18};
    for (int round = 0; round < 20 * EFFORT; round++) {
        list_case c = wild_case(&from, 6);
        if (c.n < SHORT)
            continue;
        c.ruled = false;
        c.k = SHORT;
        solve(&c);
        all_lists all = {.sum = 0};
        uint32_t shown[SHORT];
        for (uint32_t code = 0; code < c.n * c.n * c.n; code++)
            if (list_of_code(code, c.n, shown))
                add_list(&all, &c, shown);
        near("all lists", all.sum, 1, 1e-12);
        for (uint32_t i = 0; i < c.n; i++) {
            near("lists with the item", all.in_list[i], c.in_list[i], 1e-12);
            near("lists with the item first", all.first[i], c.first[i], 1e-12);
        }
    }
}

static void equal_items_make_all_lists_alike(void **state)
{
    static const double law[][3] = {
        {SCORE_NORMAL, 1, 2}, {SCORE_BETA, 3, 1}, {SCORE_BETA, 0.1, 0.1}};
    for (unsigned i = 0; i < COUNT(law); i++) {
        list_case c = {.kind = (score_kind)law[i][0]};
        uint32_t shown[40];
        double chance[40], right = 1;
        for (uint32_t j = 0; j < 40; j++) {
            add_item(&c, law[i][1], law[i][2]);
            shown[j] = 39 - j;
        }
        score_laws laws = laws_of(&c);
        assert_int_equal(list_prefix_chances(&laws, shown, 40, NULL, chance), OLTR_OK);
        for (uint32_t j = 0; j < 40; j++) {
            right /= 40 - j;
            near("relative to 1 / (40 39 38 ...)", chance[j] / right, 1, 1e-8);
        }
    }
}

/* ---- the walk: distribution functions at the points, and how many panels */

/* At `beyond` the mode. */
static double below_of_law(const list_case *c, double beyond)
{
    double a = c->first_number[0], b = c->second_number[0], at = log(a / b) + beyond;
    if (c->kind == SCORE_NORMAL)
        return gsl_cdf_ugaussian_P(beyond / b);
    if (c->kind == SCORE_GUMBEL)
        return exp(-exp(-beyond));
    return oracle_beta(a, b, 1 / (1 + exp(-at)), 1 / (1 + exp(at))).lower;
}

static void distribution_functions_are_those_of_the_laws(void **state)
{
    dice from = {19};
    for (int round = 0; round < 100 * EFFORT; round++) {
        list_case c = {.kind = round % 4 ? SCORE_BETA : SCORE_NORMAL, .k = 1};
        add_item(&c, log_uniform(&from, 1e-3, 1e4), log_uniform(&from, 1e-3, 1e4));
        if (round % 8 == 4) {
            c.kind = SCORE_GUMBEL;
            c.second_number[0] = 1;
        }
        score_laws laws = laws_of(&c);
        score_walk *walk = walk_new(&laws, NULL, false, NULL);
        assert_non_null(walk);
        while (walk_step(walk))
            for (int i = 0; i < WALK_NODES; i++) {
                double from_mode = walk->at.high - walk->item[0].mode + walk->at.low;
                double beyond = from_mode + walk->width * walk->point[i];
                if (c.kind != SCORE_BETA || fabs(walk->item[0].mode + beyond) < 30)
                    near("below", walk->below[0].at[i], below_of_law(&c, beyond), 1e-11);
            }
        near("below the end", walk->item[0].below_right, 1, 1e-12);
        walk_free(walk);
    }
}

static unsigned panels_of(const list_case *c)
{
    score_laws laws = laws_of(c);
    score_walk *walk = walk_new(&laws, NULL, false, NULL);
    unsigned panels = 0;
    assert_non_null(walk);
    while (walk_step(walk))
        panels++;
    walk_free(walk);
    return panels;
}

static void items_that_overlap_share_panels(void **state)
{
    list_case *equal = exactly(1, sizeof *equal), *apart = exactly(1, sizeof *apart),
              *uneven = exactly(1, sizeof *uneven), *beta = exactly(1, sizeof *beta);
    dice from = {20};
    equal->kind = apart->kind = uneven->kind = SCORE_NORMAL;
    beta->kind = SCORE_BETA;
    while (equal->n < MOST) {
        add_item(apart, equal->n, 1e-3);
        add_item(uneven, normal(&from), log_uniform(&from, 1e-6, 1e6));
        add_item(beta, log_uniform(&from, 1, 1e3), log_uniform(&from, 1, 1e3));
        add_item(equal, 0, 1);
    }
    assert_in_range(panels_of(equal), 12, 70);
    assert_in_range(panels_of(beta), 20, 400);
    assert_in_range(panels_of(uneven), 100, 13 * MOST);
    assert_in_range(panels_of(apart), 12 * MOST, 13 * MOST);
    free(equal);
    free(apart);
    free(uneven);
    free(beta);
}

/* ---- what is refused */

static oltr_status status_of(score_kind kind, double first, double second)
{
    double firsts[] = {1, first}, seconds[] = {1, second}, in_list[2], lead[2];
    score_laws laws = {kind, 2, firsts, seconds};
    list_rule rule = {.k = 1};
    uint32_t shown = 0;
    oltr_status status = list_chances(&laws, &rule, NULL, in_list, lead);
    assert_int_equal(list_prefix_chances(&laws, &shown, 1, NULL, lead), status);
    return status;
}

static void laws_out_of_bounds_are_refused(void **state)
{
    static const double bad_sd[] = {0, -1, NAN, INFINITY, 1e-101, 1e101};
    static const double bad_shape[] = {0, -1, NAN, INFINITY, 0.9e-9, 1.1e16};
    for (unsigned i = 0; i < COUNT(bad_sd); i++) {
        assert_int_equal(status_of(SCORE_NORMAL, 0, bad_sd[i]), OLTR_EINVAL);
        assert_int_equal(status_of(SCORE_BETA, 1, bad_shape[i]), OLTR_EINVAL);
        assert_int_equal(status_of(SCORE_BETA, bad_shape[i], 1), OLTR_EINVAL);
    }
    assert_int_equal(status_of(SCORE_NORMAL, NAN, 1), OLTR_EINVAL);
    assert_int_equal(status_of(SCORE_NORMAL, INFINITY, 1), OLTR_EINVAL);
    assert_int_equal(status_of(SCORE_NORMAL, -1.1e100, 1), OLTR_EINVAL);
    assert_int_equal(status_of(SCORE_GUMBEL, NAN, 1), OLTR_EINVAL);
    assert_int_equal(status_of(SCORE_GUMBEL, -1.1e100, 1), OLTR_EINVAL);
    assert_int_equal(status_of(SCORE_GUMBEL, 0, 2), OLTR_EINVAL);
    assert_int_equal(status_of(SCORE_GUMBEL, -1e22, 1), OLTR_OK);
    assert_int_equal(status_of(SCORE_FIXED, NAN, 1), OLTR_EINVAL);
    assert_int_equal(status_of(SCORE_FIXED, -INFINITY, NAN), OLTR_OK);
    assert_int_equal(status_of(SCORE_BETA, 1e-9, 1e16), OLTR_OK);
}

static void slots_and_items_are_checked(void **state)
{
    list_case c = {.kind = SCORE_NORMAL};
    add_item(&c, 1, 1);
    add_item(&c, 1, 2);
    score_laws laws = laws_of(&c);
    double chance[3];
    static const uint32_t right[] = {1, 0}, twice[] = {1, 1}, beyond[] = {0, 2};
    static const uint32_t bad_k[] = {0, 3, UINT32_MAX};
    for (unsigned i = 0; i < COUNT(bad_k); i++) {
        list_rule rule = {.k = bad_k[i]};
        assert_int_equal(list_chances(&laws, &rule, NULL, c.in_list, c.first), OLTR_ESLOTS);
        assert_int_equal(list_prefix_chances(&laws, right, bad_k[i], NULL, chance), OLTR_ESLOTS);
    }
    assert_int_equal(list_prefix_chances(&laws, right, 2, NULL, chance), OLTR_OK);
    assert_int_equal(list_prefix_chances(&laws, twice, 2, NULL, chance), OLTR_EITEM);
    assert_int_equal(list_prefix_chances(&laws, beyond, 2, NULL, chance), OLTR_EITEM);
}

static void either_array_may_be_left_out(void **state)
{
    dice from = {21};
    for (int round = 0; round < 50; round++) {
        list_case c = wild_case(&from, 20);
        if (round % 3 == 0)
            c.kind = SCORE_FIXED;
        solve(&c);
        score_laws laws = laws_of(&c);
        list_rule rule = rule_of(&c);
        double in_list[20], first[20];
        assert_int_equal(list_chances(&laws, &rule, NULL, in_list, NULL), OLTR_OK);
        assert_int_equal(list_chances(&laws, &rule, NULL, NULL, first), OLTR_OK);
        assert_memory_equal(in_list, c.in_list, c.n * sizeof(double));
        assert_memory_equal(first, c.first, c.n * sizeof(double));
    }
}

/* ---- memory */

typedef struct purse {
    long until_refusal, held, taken, most_held;
} purse;

static void *take(void *with, size_t bytes, size_t align)
{
    purse *p = with;
    void *block = NULL;
    if (p->until_refusal-- == 0 || posix_memalign(&block, align, bytes) != 0)
        return NULL;
    memset(block, 0xA5, bytes);
    p->held += (long)bytes;
    p->most_held = p->held > p->most_held ? p->held : p->most_held;
    p->taken++;
    return block;
}

static void give(void *with, void *block, size_t bytes)
{
    ((purse *)with)->held -= (long)bytes;
    free(block);
}

static void every_refusal_of_memory_is_reported(void **state)
{
    dice from = {22};
    for (int round = 0; round < 30; round++) {
        list_case c = wild_case(&from, 30), other;
        if (round % 3 == 0)
            c.kind = SCORE_FIXED;
        solve(&c);
        score_laws laws = laws_of(&c);
        list_rule rule = rule_of(&c);
        uint32_t shown = 0;
        for (long refused = 0; refused < 4; refused++) {
            purse p = {.until_refusal = refused};
            oltr_memory memory = {take, give, &p};
            oltr_status status = list_chances(&laws, &rule, &memory, other.in_list, other.first);
            assert_int_equal(status, p.until_refusal < 0 ? OLTR_ENOMEM : OLTR_OK);
            if (status == OLTR_OK)
                assert_memory_equal(other.in_list, c.in_list, c.n * sizeof(double));
            p.until_refusal = refused;
            status = list_prefix_chances(&laws, &shown, 1, &memory, other.first);
            assert_int_equal(status, p.until_refusal < 0 ? OLTR_ENOMEM : OLTR_OK);
            assert_int_equal(p.held, 0);
            assert_true(refused == 0 || p.taken > 0);
        }
    }
}

static long memory_for(uint32_t n, uint32_t k)
{
    list_case c = {.kind = SCORE_NORMAL, .k = k};
    while (c.n < n)
        add_item(&c, c.n, 0.1);
    purse p = {.until_refusal = -1};
    oltr_memory memory = {take, give, &p};
    score_laws laws = laws_of(&c);
    list_rule rule = rule_of(&c);
    assert_int_equal(list_chances(&laws, &rule, &memory, c.in_list, c.first), OLTR_OK);
    assert_int_equal(p.held, 0);
    return p.most_held;
}

/* Some 500 bytes an item, and those of some 70 items' counts. */
static void memory_does_not_grow_with_items_times_slots(void **state)
{
    assert_in_range(memory_for(MOST, 1), 200 * MOST, 700 * MOST);
    assert_in_range(memory_for(MOST, 100), 1, 700 * MOST + 80 * 100 * sizeof(walk_nodes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_normals_differ_by_a_normal),
        cmocka_unit_test(narrow_normals_far_from_zero_are_compared),
        cmocka_unit_test(two_betas_follow_the_sum_for_whole_shapes),
        cmocka_unit_test(two_betas_of_many_observations_agree_with_a_slow_integral),
        cmocka_unit_test(a_certain_item_wins_with_the_tail_of_the_other),
        cmocka_unit_test(the_smallest_shapes_are_coins),
        cmocka_unit_test(powers_of_uniforms_rank_like_plackett_and_luce),
        cmocka_unit_test(the_last_is_left_out_of_a_list_of_all_but_one),
        cmocka_unit_test(prefixes_follow_plackett_and_luce),
        cmocka_unit_test(what_follows_is_plackett_and_luce),
        cmocka_unit_test(beginnings_are_shared_by_what_follows),
        cmocka_unit_test(equal_items_have_equal_chances_by_group),
        cmocka_unit_test(ties_are_broken_in_all_orders),
        cmocka_unit_test(fixed_prefixes_divide_by_the_ties),
        cmocka_unit_test(a_million_lists_of_similar_normals_agree),
        cmocka_unit_test(a_million_lists_of_uneven_normals_agree),
        cmocka_unit_test(a_million_lists_of_betas_agree),
        cmocka_unit_test(a_million_lists_of_tied_scores_agree),
        cmocka_unit_test(the_range_of_fresh_items_is_what_exchanges_reach),
        cmocka_unit_test(chances_of_wild_laws_sum_to_the_slots),
        cmocka_unit_test(chances_belong_to_items_not_to_places),
        cmocka_unit_test(a_spike_among_wide_items_counts_those_above),
        cmocka_unit_test(one_candidate_is_the_list),
        cmocka_unit_test(all_lists_together_are_the_chances),
        cmocka_unit_test(equal_items_make_all_lists_alike),
        cmocka_unit_test(distribution_functions_are_those_of_the_laws),
        cmocka_unit_test(items_that_overlap_share_panels),
        cmocka_unit_test(laws_out_of_bounds_are_refused),
        cmocka_unit_test(slots_and_items_are_checked),
        cmocka_unit_test(either_array_may_be_left_out),
        cmocka_unit_test(every_refusal_of_memory_is_reported),
        cmocka_unit_test(memory_does_not_grow_with_items_times_slots),
        cmocka_unit_test(stat_false_alarms), /* last: it counts the others */
    };
    return cmocka_run_group_tests(tests, stat_setup, NULL);
}
