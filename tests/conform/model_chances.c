/* model_chances.c - lists of a model under rules of exploration, and the chances of its items.
 *
 * Rules: of all lists that obey the limits on fresh items, the one with the largest scores.  All
 * subsets of up to ten candidates are tried, with the scores of a ranking of all of them by the
 * same generator.  Limits that no list can obey are met as nearly as the candidates allow.
 *
 * Chances: those of redrawn lists are counted here again, list by list.  Exact ones must agree with
 * redrawn ones under every rule, add up to the number of slots, and to 1 for the first slot.
 * Comparisons by chance are made by support/stat.h at a declared rate of false alarms.
 */
#include "conform/model_fixtures.h"
#include "support/stat.h"

enum { MOST_CASE = 10, LISTS_OF_ALL = 125000 * EFFORT };

static variant_list variants;

/* Kinds with observations to count. */
static bool has_sums(const variant *v)
{
    return is_named_variant(v) && v->info->can_predict;
}

static bool draws_each_item(const variant *v)
{
    return is_named_variant(v) &&
           (is_kind(v, "gts") || is_kind(v, "ts-beta") || is_kind(v, "maillard"));
}

/* The weights of maillard are relative to the best of the candidates, and the slots of
 * epsilon-greedy to those above. */
static bool scores_alone(const variant *v)
{
    return is_named_variant(v) && !is_kind(v, "maillard") && !is_kind(v, "epsilon-greedy");
}

/* Their lists are drawn most often; those of the other kinds are fixed up to ties. */
static bool draws_lists(const variant *v)
{
    return draws_each_item(v) || (is_named_variant(v) && is_kind(v, "ts-hyper"));
}

/* ---- a scene: items with from 0 to some thirty observations, and names that are unknown */

typedef struct scene {
    oltr_model *model;
    oltr_model_scratch *scratch;
    uint32_t n;
    oltr_name name[MOST_CASE];
    double examined[MOST_CASE];
} scene;

static void open_scene(const variant *v, uint64_t seed, uint32_t n, scene *s)
{
    dice d = {seed};
    uint32_t which[MOST_CASE];
    s->model = model_of(v);
    s->scratch = oltr_model_scratch_new(NULL);
    s->n = n;
    teach_many(s->model, seed, 4, 10, 3); /* few observations */
    teach_many(s->model, seed + 1, 20, 13, 5);
    draw_items(&d, MOST_CASE, n, which);
    for (uint32_t i = 0; i < n; i++) {
        s->name[i] = name_at(10 + which[i]); /* from 18 on they are unknown */
        oltr_explained e = explain_one(s->model, s->name[i]);
        s->examined[i] = e.known ? e.examined : 0;
    }
}

static void close_scene(scene *s)
{
    oltr_model_scratch_free(s->scratch);
    oltr_model_free(s->model);
}

typedef struct shown_list {
    uint32_t place[MOST_CASE];
    double score[MOST_CASE];
} shown_list;

/* Ranks by the rule; the number of slots. */
static uint32_t rank_scene(const scene *s, const oltr_show *rule, oltr_rng rng, shown_list *out)
{
    oltr_list list = list_of(s->name, s->n);
    oltr_show show = *rule;
    oltr_error error = {OLTR_OK, ""};
    show.place = out->place;
    show.score = out->score;
    if (oltr_model_rank(s->model, &list, rng, s->scratch, &show, &error) != OLTR_OK)
        fail_msg("no list: %s", error.msg);
    return show.k;
}

/* The scores of all candidates. */
static void score_scene(const scene *s, bool greedy, oltr_rng rng, double *score)
{
    shown_list all;
    oltr_show rule = {.k = s->n, .greedy = greedy};
    assert_int_equal(rank_scene(s, &rule, rng, &all), s->n);
    for (uint32_t i = 0; i < s->n; i++)
        score[all.place[i]] = all.score[i];
}

/* ---- the best list by trying all */

static uint32_t bits_in(uint32_t set)
{
    uint32_t n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

static uint32_t least_of(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

/* The bounds on fresh items in a list of k: as near to those of the rule as the supply allows. */
static void possible_fresh(const scene *s, const oltr_show *rule, uint32_t *low, uint32_t *high)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < s->n; i++)
        fresh += s->examined[i] < rule->fresh_below;
    uint32_t others = s->n - fresh, k = least_of(rule->k, s->n);
    uint32_t fewest = k > others ? k - others : 0, most = least_of(fresh, k);
    *low = fewest;
    *high = most;
    if (!(rule->fresh_below > 0))
        return;
    if (rule->most_fresh < fewest)
        *high = fewest;
    else if (rule->least_fresh > most)
        *low = most;
    else {
        *low = rule->least_fresh > fewest ? rule->least_fresh : fewest;
        *high = rule->most_fresh < most ? rule->most_fresh : most;
    }
}

static uint32_t fresh_in(const scene *s, const oltr_show *rule, uint32_t set)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += (set >> i & 1) && s->examined[i] < rule->fresh_below;
    return n;
}

static void sorted_scores(const double *score, uint32_t set, double *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; set >> i; i++)
        if (set >> i & 1) {
            uint32_t at = n++;
            for (; at > 0 && out[at - 1] < score[i]; at--)
                out[at] = out[at - 1];
            out[at] = score[i];
        }
}

/* The lists with at least `low` and at most `high` fresh items are the bases of a matroid: the one
 * with the largest sum is also the largest slot by slot, so that infinite scores do no harm. */
static void best_scores(const scene *s, const oltr_show *rule, const double *score, double *best)
{
    uint32_t low, high, k = least_of(rule->k, s->n);
    double these[MOST_CASE];
    bool found = false;
    possible_fresh(s, rule, &low, &high);
    for (uint32_t set = 0; set < 1u << s->n; set++) {
        uint32_t fresh = fresh_in(s, rule, set), i = 0;
        if (bits_in(set) != k || fresh < low || fresh > high)
            continue;
        sorted_scores(score, set, these);
        while (found && i < k && same_number(these[i], best[i]))
            i++;
        if (!found || (i < k && these[i] > best[i]))
            memcpy(best, these, k * sizeof *best);
        found = true;
    }
    assert_true(found);
}

static void check_best_list(const scene *s, const oltr_show *rule, oltr_rng rng)
{
    double score[MOST_CASE], best[MOST_CASE];
    shown_list list;
    uint32_t set = 0, low, high;
    score_scene(s, rule->greedy, rng, score);
    best_scores(s, rule, score, best);
    possible_fresh(s, rule, &low, &high);
    uint32_t k = rank_scene(s, rule, rng, &list);
    assert_int_equal(k, least_of(rule->k, s->n));
    for (uint32_t i = 0; i < k; i++) {
        assert_true(list.place[i] < s->n && !(set >> list.place[i] & 1));
        set |= 1u << list.place[i];
        if (!same_number(list.score[i], best[i]) ||
            !same_number(list.score[i], score[list.place[i]]))
            fail_msg("slot %u of %u has the score %.9g, the best list %.9g (of %u candidates, "
                     "fresh below %g, at least %u, at most %u)",
                     i, k, list.score[i], best[i], s->n, rule->fresh_below, rule->least_fresh,
                     rule->most_fresh);
    }
    uint32_t fresh = fresh_in(s, rule, set);
    assert_true(fresh >= low && fresh <= high);
}

static oltr_show draw_rule(dice *d, uint32_t n)
{
    static const double below_what[] = {0, 1, 4, 8, 15, 1e9};
    oltr_show rule = {.k = 1 + below(d, n + 1), .fresh_below = below_what[below(d, 6)]};
    rule.least_fresh = below(d, 4);
    rule.most_fresh = rule.least_fresh + below(d, 4);
    return rule;
}

static void the_best_list_within_the_limits(void **state)
{
    const variant *v = *state;
    dice d = {3};
    for (uint64_t seed = 0; seed < 10; seed++) {
        scene s;
        open_scene(v, seed, 1 + below(&d, MOST_CASE), &s);
        for (uint32_t i = 0; i < 5 * EFFORT; i++) {
            oltr_show rule = draw_rule(&d, s.n);
            rule.greedy = below(&d, 2);
            check_best_list(&s, &rule, oltr_rng_make(seed, i));
        }
        close_scene(&s);
    }
}

/* Without fresh items the two numbers mean nothing, whatever they are. */
static void no_limit_without_fresh_items(void **state)
{
    scene s;
    open_scene(*state, 5, MOST_CASE, &s);
    for (uint32_t i = 0; i < 20; i++) {
        shown_list x, y;
        oltr_show plain = {.k = 4}, odd = {.k = 4, .least_fresh = 9, .most_fresh = i % 3};
        assert_int_equal(rank_scene(&s, &plain, rng_of(i), &x), 4);
        assert_int_equal(rank_scene(&s, &odd, rng_of(i), &y), 4);
        assert_memory_equal(x.place, y.place, 4 * sizeof *x.place);
        assert_memory_equal(x.score, y.score, 4 * sizeof *x.score);
    }
    close_scene(&s);
}

/* A greedy list is ranked by the predicted means, and the generator changes nothing but ties. */
static void greedy_lists_are_those_of_the_means(void **state)
{
    scene s;
    double mean[MOST_CASE], score[MOST_CASE];
    open_scene(*state, 6, MOST_CASE, &s);
    oltr_list list = list_of(s.name, s.n);
    expect(oltr_model_predict(s.model, &list, mean, NULL, NULL), OLTR_OK);
    for (uint32_t i = 0; i < 20; i++) {
        score_scene(&s, true, rng_of(i), score);
        for (uint32_t j = 0; j < s.n; j++)
            assert_true(same_number(score[j], mean[j]));
    }
    close_scene(&s);
}

/* ---- the noise of an item */

/* The same generator gives an item the same score, whatever else is in the list and in which
 * order.  Those that are unknown are a subject of model_faults.c. */
static void known_items_keep_their_noise(void **state)
{
    scene s;
    open_scene(*state, 8, MOST_CASE, &s);
    for (uint32_t i = 0; i < 20; i++) {
        double all[MOST_CASE], some[MOST_CASE];
        scene part = s;
        uint32_t order[MOST_CASE];
        dice d = {i};
        score_scene(&s, false, rng_of(i), all);
        draw_items(&d, s.n, s.n, order);
        part.n = 1 + below(&d, s.n);
        for (uint32_t j = 0; j < part.n; j++)
            part.name[j] = s.name[order[j]];
        score_scene(&part, false, rng_of(i), some);
        for (uint32_t j = 0; j < part.n; j++) {
            bool known = oltr_model_find(s.model, part.name[j]) >= 0;
            if (known && !same_number(some[j], all[order[j]]))
                fail_msg("an item has the score %.9g among all and %.9g among %u", all[order[j]],
                         some[j], part.n);
        }
    }
    close_scene(&s);
}

/* Two unknown items have the same prior and different noise. */
static void unknown_items_have_noise_of_their_own(void **state)
{
    scene s;
    open_scene(*state, 9, MOST_CASE, &s);
    uint32_t equal = 0;
    for (uint32_t i = 0; i < 100; i++) {
        double score[MOST_CASE];
        score_scene(&s, false, rng_of(i), score);
        for (uint32_t a = 0; a < s.n; a++)
            for (uint32_t b = 0; b < a; b++)
                equal += same_number(score[a], score[b]);
    }
    assert_true(equal < 5); /* floats that are equal by chance */
    close_scene(&s);
}

/* ---- redrawn chances */

/* By its definition: the share in the lists of the generators of rounds 1, 2, ... */
static void count_lists(const scene *s, const oltr_show *rule, oltr_rng rng, uint32_t draws,
                        uint32_t *in_list, uint32_t *first)
{
    memset(in_list, 0, s->n * sizeof *in_list);
    memset(first, 0, s->n * sizeof *first);
    for (uint32_t i = 1; i <= draws; i++) {
        shown_list list;
        uint32_t k = rank_scene(s, rule, oltr_rng_at(rng, 0, i), &list);
        for (uint32_t slot = 0; slot < k; slot++)
            in_list[list.place[slot]]++;
        first[list.place[0]]++;
    }
}

static void redrawn_chances_are_shares(void **state)
{
    const variant *v = *state;
    dice d = {11};
    enum { DRAWS = 40 };
    for (uint64_t seed = 0; seed < 4; seed++) {
        scene s;
        uint32_t in_list[MOST_CASE], first[MOST_CASE];
        double p[MOST_CASE], q[MOST_CASE], only_first[MOST_CASE];
        open_scene(v, seed, 2 + below(&d, MOST_CASE - 1), &s);
        oltr_show rule = v->info->can_predict ? draw_rule(&d, s.n) : (oltr_show){.k = 2};
        oltr_list list = list_of(s.name, s.n);
        oltr_rng rng = oltr_rng_make(seed, 2);
        count_lists(&s, &rule, rng, DRAWS, in_list, first);
        expect(oltr_model_propensity(s.model, &list, &rule, DRAWS, rng, s.scratch, p, q, NULL),
               OLTR_OK);
        expect(oltr_model_propensity(s.model, &list, &rule, DRAWS, rng, s.scratch, NULL, only_first,
                                     NULL),
               OLTR_OK);
        for (uint32_t i = 0; i < s.n; i++) {
            assert_true(same_number(p[i], (double)in_list[i] / DRAWS));
            assert_true(same_number(q[i], (double)first[i] / DRAWS));
            assert_true(same_number(q[i], only_first[i]));
        }
        close_scene(&s);
    }
}

/* ---- exact chances */

typedef struct chances {
    double in_list[MOST_CASE], first[MOST_CASE];
} chances;

/* False where the kind has none. */
static bool exact_chances(const scene *s, const oltr_show *rule, chances *out)
{
    oltr_list list = list_of(s->name, s->n);
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_model_propensity(s->model, &list, rule, 0, rng_of(0), s->scratch,
                                               out->in_list, out->first, &error);
    if (status != OLTR_OK && status != OLTR_EUNSUPPORTED)
        fail_msg("no chances: %s", error.msg);
    return status == OLTR_OK;
}

static void check_totals(const scene *s, const oltr_show *rule, const chances *c)
{
    double sum = 0, firsts = 0, k = least_of(rule->k, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        assert_true(c->in_list[i] >= 0 && c->in_list[i] <= 1);
        assert_true(c->first[i] >= 0 && c->first[i] <= c->in_list[i] + 1e-6);
        sum += c->in_list[i];
        firsts += c->first[i];
    }
    if (!(fabs(sum - k) <= 1e-6 && fabs(firsts - 1) <= 1e-6))
        fail_msg("chances add up to %.9g of %g, first ones to %.9g", sum, k, firsts);
}

/* Events of chance p in n draws; the rarer of the event and its opposite is counted. */
static void check_chance(const char *what, uint32_t events, double p, uint32_t n)
{
    char detail[80];
    snprintf(detail, sizeof detail, "of chance %.9g in %u lists", p, n);
    if (p <= 0.5)
        check_count(what, detail, events, p * n);
    else
        check_count(what, detail, n - events, (1 - p) * n);
}

static void compare_chances(const variant *v, const scene *s, const oltr_show *rule, uint32_t draws)
{
    chances c;
    uint32_t in_list[MOST_CASE], first[MOST_CASE];
    bool must_be_exact = rule->greedy || !(is_kind(v, "ts-cascade") || is_kind(v, "pbm-ts") ||
                                           is_kind(v, "epsilon-greedy"));
    if (!exact_chances(s, rule, &c)) {
        assert_false(must_be_exact);
        return;
    }
    check_totals(s, rule, &c);
    count_lists(s, rule, oltr_rng_make(99, draws), draws, in_list, first);
    for (uint32_t i = 0; i < s->n; i++) {
        check_chance("in the list", in_list[i], c.in_list[i], draws);
        check_chance("first", first[i], c.first[i], draws);
    }
}

/* Every rule, for a page of one, of some and of all candidates. */
static const oltr_show rules[] = {
    {.k = 1},
    {.k = 3},
    {.k = MOST_CASE},
    {.k = 4, .greedy = 1},
    {.k = 4, .greedy = 1, .fresh_below = 8, .least_fresh = 1, .most_fresh = 2},
    {.k = 4, .fresh_below = 8, .most_fresh = 0},
    {.k = 4, .fresh_below = 8, .most_fresh = 1},
    {.k = 3, .fresh_below = 4, .least_fresh = 2, .most_fresh = 3},
    {.k = 5, .fresh_below = 8, .least_fresh = 1, .most_fresh = 2},
    {.k = 7, .fresh_below = 8, .most_fresh = 1}, /* too few others */
    {.k = 4, .fresh_below = 1e9, .least_fresh = 2, .most_fresh = 3},
};

static void exact_chances_are_those_of_lists(void **state)
{
    const variant *v = *state;
    bool thorough = draws_lists(v);
    uint32_t n_thorough = 0;
    for (uint32_t i = 0; i < variants.n; i++)
        n_thorough += draws_lists(&variants.at[i]);
    uint32_t draws = LISTS_OF_ALL / (n_thorough * (uint32_t)COUNT(rules)) + 1;
    for (size_t i = 0; i < COUNT(rules); i += (EFFORT > 1) ? 1 : 2) {
        scene s;
        oltr_show rule = rules[i];
        if ((rule.greedy || rule.fresh_below > 0) && !v->info->can_predict)
            continue;
        open_scene(v, 20 + i, i % 2 ? 7 : MOST_CASE, &s);
        compare_chances(v, &s, &rule, thorough ? draws : 400);
        close_scene(&s);
    }
}

/* Chances do not depend on the generator, nor on the order of the candidates. */
static void exact_chances_belong_to_items(void **state)
{
    scene s;
    chances c, d;
    oltr_show rule = {.k = 3, .fresh_below = 8, .least_fresh = 1, .most_fresh = 2};
    open_scene(*state, 31, MOST_CASE, &s);
    scene turned = s;
    for (uint32_t i = 0; i < s.n; i++)
        turned.name[i] = s.name[s.n - 1 - i];
    assert_true(exact_chances(&s, &rule, &c));
    assert_true(exact_chances(&turned, &rule, &d));
    for (uint32_t i = 0; i < s.n; i++) {
        assert_true(fabs(c.in_list[i] - d.in_list[s.n - 1 - i]) <= 1e-9);
        assert_true(fabs(c.first[i] - d.first[s.n - 1 - i]) <= 1e-9);
    }
    close_scene(&s);
}

/* All items of a model, as a list that names none. */
static void chances_of_all_items(void **state)
{
    const variant *v = *state;
    scene s;
    double named[MOST_CASE], all[MOST_CASE];
    oltr_name name[MOST_CASE];
    oltr_show rule = {.k = 3};
    open_scene(v, 33, 2, &s);
    uint32_t n = oltr_model_items(s.model);
    assert_true(n <= MOST_CASE);
    for (uint32_t i = 0; i < n; i++)
        name[i] = oltr_model_name(s.model, i);
    oltr_list list = list_of(name, n), every = {0};
    for (uint32_t draws = 0; draws < 60; draws += 30) {
        oltr_status status = oltr_model_propensity(s.model, &list, &rule, draws, rng_of(1),
                                                   s.scratch, named, NULL, NULL);
        expect(oltr_model_propensity(s.model, &every, &rule, draws, rng_of(1), s.scratch, all, NULL,
                                     NULL),
               status);
        if (status == OLTR_OK)
            assert_memory_equal(named, all, n * sizeof *all);
    }
    close_scene(&s);
}

/* ---- the chance of a list, slot by slot */

enum { FEW = 4, SHOWN = 3 };

static bool list_chances_of(const scene *s, const uint32_t *place, bool greedy, double *chance)
{
    oltr_list list = list_of(s->name, s->n);
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_model_list_propensity(s->model, &list, place, SHOWN, greedy,
                                                    s->scratch, chance, &error);
    if (status != OLTR_OK && status != OLTR_EUNSUPPORTED)
        fail_msg("no chances: %s", error.msg);
    return status == OLTR_OK;
}

/* The next list of SHOWN of FEW places in the order of a counter; false behind the last. */
static bool next_list(uint32_t place[SHOWN])
{
    bool distinct = false;
    while (!distinct) {
        uint32_t i = SHOWN;
        while (i > 0 && ++place[i - 1] == FEW)
            place[--i] = 0;
        if (i == 0)
            return false;
        distinct = place[0] != place[1] && place[0] != place[2] && place[1] != place[2];
    }
    return true;
}

/* Every list of the draws, as a number. */
static void count_whole_lists(const scene *s, bool greedy, uint32_t draws,
                              uint32_t count[FEW][FEW][FEW])
{
    oltr_show rule = {.k = SHOWN, .greedy = greedy};
    for (uint32_t i = 0; i < draws; i++) {
        shown_list list;
        rank_scene(s, &rule, oltr_rng_at(oltr_rng_make(5, 6), 0, i + 1), &list);
        count[list.place[0]][list.place[1]][list.place[2]]++;
    }
}

/* The chances of all lists, and of what they begin with. */
typedef struct list_table {
    double one[FEW], two[FEW][FEW], three[FEW][FEW][FEW];
} list_table;

static void fill_table(const scene *s, bool greedy, list_table *t)
{
    uint32_t place[SHOWN] = {0, 0, 0};
    memset(t, 0, sizeof *t);
    while (next_list(place)) {
        double chance[SHOWN];
        assert_true(list_chances_of(s, place, greedy, chance));
        t->one[place[0]] = chance[0];
        t->two[place[0]][place[1]] = chance[1];
        t->three[place[0]][place[1]][place[2]] = chance[2];
    }
}

/* The chances of what can follow add up to that of the beginning, and those of all to 1. */
static void check_table(const list_table *t)
{
    double all = 0;
    for (uint32_t i = 0; i < FEW; i++) {
        double firsts = 0;
        for (uint32_t j = 0; j < FEW; j++) {
            double seconds = 0;
            for (uint32_t k = 0; k < FEW; k++)
                seconds += t->three[i][j][k];
            assert_true(fabs(seconds - t->two[i][j]) <= 1e-6);
            firsts += t->two[i][j];
        }
        assert_true(fabs(firsts - t->one[i]) <= 1e-6);
        all += t->one[i];
    }
    assert_true(fabs(all - 1) <= 1e-6);
}

/* The chance of a candidate in a slot is that of all lists that have it there; of a candidate after
 * a beginning, that of the longer beginning. */
static void compare_slots(const scene *s, bool greedy, const list_table *t)
{
    static const uint32_t place[SHOWN] = {2, 0, 3};
    oltr_list list = list_of(s->name, s->n);
    double slot[SHOWN * FEW], next[SHOWN * FEW], sum[SHOWN][FEW] = {{0}};
    expect(oltr_model_slot_propensity(s->model, &list, SHOWN, greedy, s->scratch, slot, NULL),
           OLTR_OK);
    expect(
        oltr_model_next_propensity(s->model, &list, place, SHOWN, greedy, s->scratch, next, NULL),
        OLTR_OK);
    for (uint32_t i = 0; i < FEW; i++)
        for (uint32_t j = 0; j < FEW; j++)
            for (uint32_t k = 0; k < FEW; k++) {
                sum[0][i] += t->three[i][j][k];
                sum[1][j] += t->three[i][j][k];
                sum[2][k] += t->three[i][j][k];
            }
    for (uint32_t i = 0; i < FEW; i++) {
        for (uint32_t l = 0; l < SHOWN; l++)
            assert_true(fabs(slot[l * FEW + i] - sum[l][i]) <= 1e-6);
        assert_true(fabs(next[i] - t->one[i]) <= 1e-9);
        assert_true(fabs(next[FEW + i] - t->two[2][i]) <= 1e-9);
        assert_true(fabs(next[2 * FEW + i] - t->three[2][0][i]) <= 1e-9);
    }
}

/* Each list is drawn as often as its chance says. */
static void compare_whole_lists(const scene *s, bool greedy, uint32_t draws, const list_table *t)
{
    static uint32_t count[FEW][FEW][FEW];
    uint32_t place[SHOWN] = {0, 0, 0};
    memset(count, 0, sizeof count);
    count_whole_lists(s, greedy, draws, count);
    while (next_list(place)) {
        uint32_t i = place[0], j = place[1], k = place[2];
        check_chance("the list", count[i][j][k], t->three[i][j][k], draws);
    }
}

static void chances_of_whole_lists(void **state)
{
    const variant *v = *state;
    for (int greedy = 0; greedy <= (v->info->can_predict != 0); greedy++) {
        scene s;
        chances c;
        list_table t;
        double chance[SHOWN];
        oltr_show rule = {.k = SHOWN, .greedy = (uint32_t)greedy};
        open_scene(v, 40, FEW, &s);
        bool exact = exact_chances(&s, &rule, &c);
        assert_int_equal(list_chances_of(&s, (uint32_t[]){0, 1, 2}, greedy, chance), exact);
        if (exact) {
            fill_table(&s, greedy, &t);
            check_table(&t);
            compare_slots(&s, greedy, &t);
            for (uint32_t i = 0; i < FEW; i++)
                assert_true(fabs(t.one[i] - c.first[i]) <= 1e-6);
            if (draws_lists(v) || is_kind(v, "random"))
                compare_whole_lists(&s, greedy, 1000 * EFFORT, &t);
        }
        close_scene(&s);
    }
}

/* ---- rows */

static void rows_have_redrawn_chances(void **state)
{
    enum { DRAWS = 30, ROWS = 6, K = 2 };
    oltr_model *m = model_of(*state);
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    float x[ROWS * DIM];
    double p[ROWS], q[ROWS];
    uint32_t in_list[ROWS] = {0}, first[ROWS] = {0}, place[K];
    teach_many(m, 1, 20, 0, 10);
    for (uint32_t i = 0; i < ROWS; i++)
        memcpy(x + i * DIM, pool_row(i), DIM * sizeof *x);
    oltr_list list = {.n = ROWS, .x = x};
    oltr_show rule = {.k = K, .place = place};
    expect(oltr_model_propensity(m, &list, &rule, DRAWS, rng_of(3), scratch, p, q, NULL), OLTR_OK);
    for (uint32_t i = 1; i <= DRAWS; i++) {
        expect(oltr_model_rank(m, &list, oltr_rng_at(rng_of(3), 0, i), scratch, &rule, NULL),
               OLTR_OK);
        first[place[0]]++;
        for (uint32_t slot = 0; slot < K; slot++)
            in_list[place[slot]]++;
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_true(same_number(p[i], (double)in_list[i] / DRAWS));
        assert_true(same_number(q[i], (double)first[i] / DRAWS));
    }
    oltr_model_scratch_free(scratch);
    oltr_model_free(m);
}

static bool has_rows(const variant *v)
{
    return is_model_variant(v) && v->info->contextual;
}

/* ---- the generator of a text */

static void a_text_is_a_generator(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } texts[] = {{"", 0}, {"a", 1}, {"b", 1}, {"a\0", 2}, {"\0", 1}, {"ab", 2}, {"ba", 2}};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t j = 0; j < COUNT(texts); j++) {
            oltr_rng x = oltr_rng_text(texts[i].text, texts[i].size),
                     y = oltr_rng_text(texts[j].text, texts[j].size);
            uint64_t a = (uint64_t)oltr_rng_u32(&x) << 32 | oltr_rng_u32(&x),
                     b = (uint64_t)oltr_rng_u32(&y) << 32 | oltr_rng_u32(&y);
            assert_int_equal(a == b, i == j);
        }
    oltr_rng none = oltr_rng_text(NULL, 0), empty = oltr_rng_text("", 0);
    assert_int_equal(oltr_rng_u32(&none), oltr_rng_u32(&empty));
    char longer[5000];
    memset(longer, 'x', sizeof longer);
    oltr_rng x = oltr_rng_text(longer, sizeof longer);
    longer[4999] = 'y';
    oltr_rng y = oltr_rng_text(longer, sizeof longer);
    assert_int_not_equal(oltr_rng_u32(&x), oltr_rng_u32(&y));
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_SOME_VARIANTS(&all, &variants, the_best_list_within_the_limits, has_sums);
    ON_SOME_VARIANTS(&all, &variants, no_limit_without_fresh_items, is_named_variant);
    ON_SOME_VARIANTS(&all, &variants, greedy_lists_are_those_of_the_means, has_sums);
    ON_SOME_VARIANTS(&all, &variants, known_items_keep_their_noise, scores_alone);
    ON_SOME_VARIANTS(&all, &variants, unknown_items_have_noise_of_their_own, draws_each_item);
    ON_SOME_VARIANTS(&all, &variants, redrawn_chances_are_shares, is_named_variant);
    ON_SOME_VARIANTS(&all, &variants, exact_chances_are_those_of_lists, is_named_variant);
    ON_SOME_VARIANTS(&all, &variants, exact_chances_belong_to_items, draws_each_item);
    ON_SOME_VARIANTS(&all, &variants, chances_of_all_items, is_named_variant);
    ON_SOME_VARIANTS(&all, &variants, chances_of_whole_lists, is_named_variant);
    ON_SOME_VARIANTS(&all, &variants, rows_have_redrawn_chances, has_rows);
    ONCE(&all, a_text_is_a_generator);
    ONCE(&all, stat_false_alarms);
    return cmocka_run_group_tests_name("chances of a model", all.test, stat_setup, NULL);
}
