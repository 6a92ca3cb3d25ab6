/* race_tests.c - the tests of the race (src/engine/race), and the proof that they have power.
 *
 * The files of the race are compiled into this program with OLTR_RACE_MUTATIONS.
 *   test_race                every test must pass
 *   test_race MUTATION TEST  with that deliberate error (mutation.h) the test must fail
 *   test_race all            prints which test finds which error
 *
 * Exact, bit by bit: the list does not depend on the threshold (aims of 0.1 and 4 of the usual
 * one), on the history of the index, on the instruction set, on how long the list is, or on items
 * behind the candidates.  By probability: inclusion in the list against quadrature, with forced
 * fallbacks and coarse cells; maxima in the far tail.  The seeds are fixed; under the null
 * hypothesis the limits are passed with a chance below 1e-6.  Classes (classes.h): every list is
 * that of the selection from all scores, whose ties tests/unit/engine/topk.c finds uniform.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/table.h"
#include "engine/race/class_rank.h"
#include "engine/race/mutation.h"
#include "engine/race/race.h"
#include "engine/special/normal_tail.h"
#include "engine/special/special.h"

int race_mutation;

enum { MOST_SLOTS = 64 };

/* Items with posteriors of their own, an index, and a scratch: what a policy has. */
typedef struct field {
    race_items items;
    double *n, *s, *prior_a, *prior_b;
    float *mean, *sd;
    race_index *index;
    void *scratch;
    bool common;
} field;

static void *zeros(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return memset(p, 0, (bytes + 63) / 64 * 64);
}

/* Normal: prior N(mean0, sd0^2), sigma = 1/2.  Beta: derived by the family itself. */
static void derive(field *f, uint32_t i)
{
    double mean0 = f->common ? 0 : 0.3 * sin(i), sd0 = f->common ? 1 : 0.2 + 0.1 * cos(3.0 * i);
    double v = 1 / (1 / (sd0 * sd0) + 4 * f->n[i]);
    f->mean[i] = (float)(v * (mean0 / (sd0 * sd0) + 4 * f->s[i]));
    f->sd[i] = (float)sqrt(v);
}

static field field_new(const race_family *family, uint32_t n, bool common)
{
    field f = {.common = common};
    f.n = zeros(n * sizeof *f.n);
    f.s = zeros(n * sizeof *f.s);
    f.mean = zeros(n * sizeof *f.mean);
    f.sd = zeros(n * sizeof *f.sd);
    f.prior_a = zeros(n * sizeof *f.prior_a);
    f.prior_b = zeros(n * sizeof *f.prior_b);
    for (uint32_t i = 0; i < n; i++) {
        f.prior_a[i] = common ? 1 : 1.2 + sin(i);
        f.prior_b[i] = common ? 3 : 6 + 3 * cos(3.0 * i);
        derive(&f, i);
    }
    f.index = zeros(race_index_bytes(n));
    f.scratch = zeros(race_scratch_bytes(n));
    f.items = (race_items){.family = family,
                           .n_items = n,
                           .common = common,
                           .n = f.n,
                           .s = f.s,
                           .mean = f.mean,
                           .sd = f.sd,
                           .a0 = f.prior_a,
                           .b0 = f.prior_b,
                           .step = {family->step[0], family->step[1]}};
    race_index_init(f.index, n, MOST_SLOTS);
    race_build(f.index, &f.items);
    return f;
}

static void field_free(field *f)
{
    void *const all[] = {f->n, f->s, f->mean, f->sd, f->prior_a, f->prior_b, f->index, f->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void observe(field *f, uint32_t i, double n, double s)
{
    f->n[i] += n;
    f->s[i] += s;
    derive(f, i);
}

static double rate_of(uint32_t i)
{
    return 0.02 + 0.5 * fabs(sin(0.37 * i)) * fabs(sin(0.37 * i));
}

/* A third of the items with few observations, a third in classes, a third on the grid; a few are
 * much better known than the rest. */
static void observe_some(field *f)
{
    oltr_rng g = oltr_rng_at(oltr_rng_make(77, 5), 1, 1);
    for (uint32_t i = 0; i < f->items.n_items; i++) {
        uint32_t n = i % 3 == 0   ? 3
                     : i % 3 == 1 ? oltr_rng_below(&g, 15)
                                  : 16 + oltr_rng_below(&g, 60);
        double s = 0, rate = i % 40 == 1 ? 0.7 : rate_of(i);
        n = i % 40 == 1 ? 400 : n;
        for (uint32_t j = 0; j < n; j++)
            s += oltr_rng_uniform(&g) < rate;
        observe(f, i, n, s);
    }
}

static void aim(field *f, double factor)
{
    f->index->aim = factor;
    race_build(f->index, &f->items);
}

static oltr_rng round_rng(uint64_t t)
{
    return oltr_rng_at(oltr_rng_make(2026, 3), 4, t);
}

static void list(const field *f, uint64_t t, uint32_t n, uint32_t k, uint32_t *item, double *score)
{
    oltr_rng rng = round_rng(t);
    race_rank(f->index, &f->items, &rng, n, k, f->scratch, item, score);
}

static bool same_lists(const field *a, const field *b, uint64_t t, uint32_t k)
{
    uint32_t x[MOST_SLOTS], y[MOST_SLOTS];
    double u[MOST_SLOTS], v[MOST_SLOTS];
    list(a, t, a->items.n_items, k, x, u);
    list(b, t, a->items.n_items, k, y, v);
    return !memcmp(x, y, k * sizeof *x) && !memcmp(u, v, k * sizeof *u);
}

/* One round of learning: a user who clicks the first attractive item. */
static void play(field *f, uint64_t t, uint32_t k)
{
    uint32_t item[MOST_SLOTS], seen = 0;
    oltr_rng user = oltr_rng_at(oltr_rng_make(5, 5), 9, t);
    list(f, t, f->items.n_items, k, item, NULL);
    for (bool clicked = false; seen < k && !clicked; seen++) {
        clicked = oltr_rng_uniform(&user) < rate_of(item[seen]);
        observe(f, item[seen], 1, clicked);
    }
    race_learned(f->index, &f->items, item, seen, k);
}

/* ---- invariants */

static bool threshold(const race_family *family, bool common)
{
    field f = field_new(family, 5000, common), g = field_new(family, 5000, common);
    bool same = true;
    observe_some(&f);
    observe_some(&g);
    aim(&f, 1);
    for (int i = 0; i < 2; i++) {
        aim(&g, i ? 4 : 0.1);
        for (uint64_t t = 0; t < 400; t++)
            same &= same_lists(&f, &g, t, 1 + (uint32_t)(t % 40));
    }
    field_free(&f);
    field_free(&g);
    return same;
}

/* While it learns, the index has the members that one from the sums has, and gives the same
 * lists. */
static bool history(const race_family *family, bool common)
{
    field f = field_new(family, 5000, common), g = field_new(family, 5000, common);
    bool same = true;
    for (uint64_t t = 0; t < 4000; t++) {
        play(&f, t, 1 + (uint32_t)(t / 1000) * 12);
        if (t % 500 < 499)
            continue;
        for (uint32_t i = 0; i < 5000; i++)
            observe(&g, i, f.n[i] - g.n[i], f.s[i] - g.s[i]);
        race_build(g.index, &g.items);
        same &= race_index_agrees(f.index, g.index);
        for (uint64_t later = t; later < t + 20; later++)
            same &= same_lists(&f, &g, later, 10);
    }
    field_free(&f);
    field_free(&g);
    return same;
}

static bool instructions(const race_family *family, bool common)
{
    field f = field_new(family, 5000, common);
    bool same = true;
    uint32_t best = oltr_cpu();
    observe_some(&f);
    race_build(f.index, &f.items);
    for (uint64_t t = 0; t < 300; t++) {
        uint32_t x[10], y[10];
        double u[10], v[10];
        oltr_cpu_limit(OLTR_CPU_PLAIN);
        list(&f, t, 5000, 10, x, u);
        for (uint32_t cpu = OLTR_CPU_PLAIN; cpu <= best; cpu++) {
            oltr_cpu_limit(cpu);
            list(&f, t, 5000, 10, y, v);
            same &= !memcmp(x, y, sizeof x) && !memcmp(u, v, sizeof u);
        }
    }
    oltr_cpu_limit(best);
    field_free(&f);
    return same;
}

static bool prefix(const race_family *family, bool common)
{
    field f = field_new(family, 5000, common);
    bool same = true;
    observe_some(&f);
    race_build(f.index, &f.items);
    for (uint64_t t = 0; t < 300; t++) {
        uint32_t all[MOST_SLOTS], some[MOST_SLOTS];
        list(&f, t, 5000, MOST_SLOTS, all, NULL);
        for (uint32_t k = 1; k < MOST_SLOTS; k = 2 * k + 1) {
            list(&f, t, 5000, k, some, NULL);
            same &= !memcmp(all, some, k * sizeof *all);
        }
    }
    field_free(&f);
    return same;
}

/* Items behind the candidates have no influence. */
static bool room(const race_family *family, bool common)
{
    field f = field_new(family, 5000, common), g = field_new(family, 9000, common);
    bool same = true;
    for (uint32_t i = 0; i < 5000; i += 3) {
        observe(&f, i, i % 40, i % 7 ? 0 : i % 40);
        observe(&g, i, i % 40, i % 7 ? 0 : i % 40);
    }
    race_build(f.index, &f.items);
    race_build(g.index, &g.items);
    for (uint64_t t = 0; t < 500; t++)
        same &= same_lists(&f, &g, t, 10);
    field_free(&f);
    field_free(&g);
    return same;
}

/* Lists of a 64th of the items, the longest that are raced for: the same for every threshold, a
 * prefix of longer ones, and every item once. */
static bool longest(const race_family *family, bool common)
{
    enum { ITEMS = 40000, LONG = ITEMS / RACE_ITEMS_PER_SLOT };
    static uint32_t item[2][2 * LONG];
    static double score[2][2 * LONG];
    field f = field_new(family, ITEMS, common);
    bool good = true;
    observe_some(&f);
    f.index->longest = LONG;
    for (uint64_t t = 0; t < 6; t++) {
        static unsigned char shown[ITEMS];
        f.index->k = t % 2 ? LONG : 10;
        memset(shown, 0, sizeof shown);
        aim(&f, 1);
        list(&f, t, ITEMS, LONG + 40, item[0], score[0]);
        aim(&f, t % 3 ? 0.1 : 4);
        list(&f, t, ITEMS, LONG, item[1], score[1]);
        good &= !memcmp(item[0], item[1], LONG * sizeof *item[0]) &&
                !memcmp(score[0], score[1], LONG * sizeof *score[0]);
        for (uint32_t j = 0; j < LONG; j++)
            good &= !shown[item[1][j]]++;
    }
    field_free(&f);
    return good;
}

/* Every item of a list once; lists of a third of the items read most of every cell. */
static bool distinct(const race_family *family, bool common)
{
    field f = field_new(family, 190, common), g = field_new(family, 3000, common);
    bool once = true;
    observe_some(&f);
    race_build(f.index, &f.items);
    for (uint64_t t = 0; t < 3000; t++) {
        const field *of = t % 2 ? &f : &g;
        unsigned char shown[3000] = {0};
        uint32_t item[MOST_SLOTS];
        list(of, t, of->items.n_items, MOST_SLOTS, item, NULL);
        for (uint32_t j = 0; j < MOST_SLOTS; j++)
            once &= !shown[item[j]]++;
    }
    field_free(&f);
    field_free(&g);
    return once;
}

/* A list of all items: both ways to read a cell reach every member. */
static bool whole(const race_family *family, bool common)
{
    bool all = true;
    for (uint32_t n = 1; n <= MOST_SLOTS; n = n * 3 + 1) {
        field f = field_new(family, n, common);
        uint32_t item[MOST_SLOTS];
        uint64_t shown = 0;
        list(&f, n, n, n, item, NULL);
        for (uint32_t j = 0; j < n; j++)
            shown |= (uint64_t)1 << item[j];
        all &= shown == ~(uint64_t)0 >> (64 - n);
        field_free(&f);
    }
    return all;
}

/* ---- bounds */

/* At the value of a random posterior at a random u, the hazard of its cell's bound is at least u:
 * from the far upper tail to far below the mean, on the usual grid and on a coarse one. */
static bool bound(const race_family *family, bool common)
{
    field f = field_new(family, 1, common);
    oltr_rng g = oltr_rng_at(oltr_rng_make(9, 9), 1, 1);
    uint32_t wrong = 0, points = family == &normal_race ? 1500000 : 40000;
    for (uint32_t p = 0; p < points; p++) {
        double n = exp(12 * oltr_rng_uniform(&g)) - 1, u = exp(-40 + 45 * oltr_rng_uniform(&g));
        f.n[0] = p % 4 ? n : floor(fmin(n, 40));
        f.s[0] = p % 4 ? n * oltr_rng_uniform(&g) : floor(f.n[0] * oltr_rng_uniform(&g));
        derive(&f, 0);
        f.items.step[0] = p % 2 ? 0.3 : family->step[0];
        f.items.step[1] = p % 2 ? 1 : family->step[1];
        cell_place place = family->place(&f.items, 0);
        double value = family->value(&f.items, 0, u);
        if (!(family->bound_hazard(&place.shape, value) >= u))
            wrong++;
    }
    field_free(&f);
    return wrong == 0;
}

/* ---- probabilities */

enum { FEW = 200 };

typedef struct tails {
    double lower, upper, density;
} tails;

static tails normal_tails(const field *f, uint32_t i, double v)
{
    double sd = (double)f->sd[i], z = (v - (double)f->mean[i]) / sd;
    return (tails){0.5 * erfc(-z / sqrt(2)), 0.5 * erfc(z / sqrt(2)),
                   exp(-z * z / 2) / sqrt(2 * 3.14159265358979324) / sd};
}

static tails beta_law_tails(const field *f, uint32_t i, double v)
{
    double a = f->prior_a[f->common ? 0 : i] + f->s[i];
    double b = f->prior_b[f->common ? 0 : i] + f->n[i] - f->s[i];
    double e = exp(-fabs(v)), x = v < 0 ? e / (1 + e) : 1 / (1 + e),
           y = v < 0 ? 1 / (1 + e) : e / (1 + e);
    tails t = {.density = beta_power(a, b, x, y)};
    beta_tails(a, b, x, y, &t.lower, &t.upper);
    return t;
}

/* The chance of each item to be among the k largest: an integral over its value of the chance that
 * fewer than k others are above it. */
static void inclusion_chances(const field *f, uint32_t k, double from, double to, double out[FEW])
{
    enum { POINTS = 600 };
    double h = (to - from) / POINTS;
    memset(out, 0, FEW * sizeof *out);
    for (int point = 0; point < POINTS; point++) {
        tails at[FEW];
        for (uint32_t i = 0; i < FEW; i++)
            at[i] = f->items.family == &normal_race
                        ? normal_tails(f, i, from + (point + 0.5) * h)
                        : beta_law_tails(f, i, from + (point + 0.5) * h);
        for (uint32_t i = 0; i < FEW; i++) {
            double above[MOST_SLOTS] = {1}, fewer = 0;
            if (at[i].density * h < 1e-12)
                continue;
            for (uint32_t j = 0; j < FEW; j++)
                for (uint32_t c = k; j != i && c-- > 0;)
                    above[c] = above[c] * at[j].lower + (c ? above[c - 1] * at[j].upper : 0);
            for (uint32_t c = 0; c < k; c++)
                fewer += above[c];
            out[i] += h * at[i].density * fewer;
        }
    }
}

/* The mean of z^2 over the items whose counts are nearly normal: about 1 with deviation 0.1. */
static double inclusion_z2(const field *f, uint32_t k, const double chance[FEW], uint32_t rounds)
{
    static double count[FEW];
    double sum = 0;
    uint32_t items = 0;
    memset(count, 0, sizeof count);
    for (uint32_t t = 0; t < rounds; t++) {
        uint32_t item[MOST_SLOTS];
        list(f, 1000000 + t, FEW, k, item, NULL);
        for (uint32_t j = 0; j < k; j++)
            count[item[j]]++;
    }
    for (uint32_t i = 0; i < FEW; i++) {
        double mean = rounds * chance[i], variance = mean * (1 - chance[i]);
        if (mean < 20 || rounds - mean < 20)
            continue;
        sum += (count[i] - mean) * (count[i] - mean) / variance;
        items++;
    }
    return items > 60 ? sum / items : 1e9;
}

/* With forced fallbacks; the usual cells, then coarse ones. */
static bool inclusion(const race_family *family, bool common)
{
    enum { SLOTS = 10 };
    bool normal = family == &normal_race, good = true;
    uint32_t rounds = normal ? 24000 : 8000;
    field f = field_new(family, FEW, common);
    double chance[FEW];
    observe_some(&f);
    inclusion_chances(&f, SLOTS, normal ? -1.5 : -8, normal ? 4 : 12, chance);
    for (int coarse = 0; coarse < 2; coarse++) {
        f.items.step[0] = coarse ? 0.3 : family->step[0];
        f.items.step[1] = coarse ? 1 : family->step[1];
        aim(&f, 0.15);
        double z2 = inclusion_z2(&f, SLOTS, chance, rounds);
        printf("    mean z^2 %.2f (%s cells)\n", z2, coarse ? "coarse" : "usual");
        good &= z2 < 1.6;
    }
    field_free(&f);
    return good;
}

/* Ten million items whose posteriors are all N(0, 1): one cell, and no arrays. */
static cell_place only_place(const race_items *items, uint32_t i)
{
    (void)items, (void)i;
    return (cell_place){0, {{0, 1, 1}, {0, 1}}};
}

static double standard_value(const race_items *items, uint32_t i, double u)
{
    (void)items, (void)i;
    return normal_at_hazard(u);
}

static void prefetch_nothing(const race_items *items, uint32_t i)
{
    (void)items, (void)i;
}

static int by_number(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Kolmogorov's distance of n numbers, which are sorted, to the uniform law, times sqrt(n): above
 * 2.8 with a chance of 3e-7. */
static double distance_to_uniform(double *x, uint32_t n)
{
    double most = 0;
    qsort(x, n, sizeof *x, by_number);
    for (uint32_t i = 0; i < n; i++) {
        double off = fabs(x[i] - (i + 0.5) / n) + 0.5 / n; /* the further end of the step */
        most = off > most ? off : most;
    }
    return most * sqrt(n);
}

/* The maxima: all of them by their law, those beyond 6, and those beyond 6.66, where the sampler in
 * float ends.  27 are expected there; Poisson's law gives fewer than 5, or 65 and more, with a
 * chance of 4e-8. */
static bool far_tail(const race_family *family, bool common)
{
    enum { ITEMS = 10000000, ROUNDS = 200000 };
    static double law[ROUNDS];
    race_family normals = normal_race;
    if (family != &normal_race || !common)
        return true;
    normals.place = only_place;
    normals.value = standard_value;
    normals.prefetch = prefetch_nothing;
    field f = {.items = {.family = &normals, .n_items = ITEMS}};
    f.index = zeros(race_index_bytes(ITEMS));
    f.scratch = zeros(race_scratch_bytes(ITEMS));
    race_index_init(f.index, ITEMS, 1);
    race_build(f.index, &f.items);
    double beyond_6 = ROUNDS * -expm1(-ITEMS * normal_hazard(6)),
           beyond_float = ROUNDS * -expm1(-ITEMS * normal_hazard(6.66)), count[2] = {0, 0};
    for (uint64_t t = 0; t < ROUNDS; t++) {
        uint32_t item;
        double score;
        list(&f, t, ITEMS, 1, &item, &score);
        count[0] += score > 6;
        count[1] += score > 6.66;
        law[t] = exp(-ITEMS * normal_hazard(score));
    }
    double distance = distance_to_uniform(law, ROUNDS);
    printf("    beyond 6: %.0f (%.1f expected), beyond 6.66: %.0f (%.1f), distance %.2f\n",
           count[0], beyond_6, count[1], beyond_float, distance);
    field_free(&f);
    return fabs(count[0] - beyond_6) < 5.5 * sqrt(beyond_6) && count[1] >= 5 && count[1] < 65 &&
           distance < 2.8;
}

/* ---- classes */

enum { CLASSED = 5000, CLASSED_SLOTS = CLASSED / 64 };

/* Items with keys, and their index. */
typedef struct classed {
    class_key key[CLASSED];
    class_index *index;
    double *score; /* of all items, then the room of the selection */
    void *scratch;
} classed;

static class_key key_of_item(const void *classed_, uint32_t item)
{
    return ((const classed *)classed_)->key[item];
}

static void derive_nothing(void *classed_, uint32_t place, class_key key)
{
    (void)classed_, (void)place, (void)key;
}

/* Eleven values for 21 keys: classes tie. */
static double score_of_key(class_key key)
{
    return (double)((uint32_t)(key.a * 7 + key.b * 5) % 11);
}

/* The list of the classes, and that of the selection from the scores of all items. */
static bool same_as_selection(classed *c, uint64_t t, uint32_t n, uint32_t k)
{
    uint32_t item[CLASSED_SLOTS], full[CLASSED_SLOTS];
    double score[CLASSED_SLOTS], full_score[CLASSED_SLOTS], *of_class = c->scratch;
    oltr_rng rng = round_rng(t);
    for (size_t i = 0; i < padded(CLASSED); i++)
        c->score[i] = i < n ? score_of_key(c->key[i]) : -(double)INFINITY;
    for (uint32_t place = 0; place < c->index->n_places; place++)
        of_class[place] = score_of_key(class_entries(c->index)[place].key);
    KERNEL(topk_f64)(c->score, n, k, &rng, c->score + padded(CLASSED), full, full_score);
    return class_rank(c->index, &rng, n, k, c->scratch, item, score) &&
           !memcmp(item, full, k * sizeof *item) && !memcmp(score, full_score, k * sizeof *score);
}

/* Items change their keys, and every list is that of the selection. */
static bool classes(const race_family *family, bool common)
{
    if (family != &normal_race || !common)
        return true;
    classed *c = zeros(sizeof *c);
    class_owner owner = {c, key_of_item, derive_nothing};
    oltr_rng g = oltr_rng_at(oltr_rng_make(3, 3), 1, 1);
    bool same = true;
    c->index = zeros(class_index_bytes(CLASSED));
    c->scratch = zeros(class_scratch_bytes(CLASSED));
    c->score = zeros((padded(CLASSED) + topk_room(CLASSED)) * sizeof *c->score);
    class_index_init(c->index, CLASSED);
    class_index_build(c->index, &owner);
    for (uint64_t t = 0; t < 1500 && same; t++) {
        uint32_t item[40], k = 1 + oltr_rng_below(&g, t % 10 ? 12 : CLASSED_SLOTS);
        for (uint32_t j = 0; j < 40; j++) {
            item[j] = oltr_rng_below(&g, t < 750 ? 100 : CLASSED); /* small classes at first */
            double a = oltr_rng_below(&g, 6);
            c->key[item[j]] = (class_key){a, oltr_rng_below(&g, (uint32_t)a + 1)};
        }
        class_index_moved(c->index, &owner, item, 40);
        same = same_as_selection(c, t, t % 3 ? CLASSED : CLASSED - 300, k);
    }
    void *const all[] = {c->index, c->scratch, c->score, c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return same;
}

/* ---- running */

typedef struct race_test {
    const char *name;
    bool (*run)(const race_family *family, bool common);
} race_test;

static const race_test tests[] = {
    {"threshold", threshold}, {"history", history}, {"instructions", instructions},
    {"prefix", prefix},       {"room", room},       {"distinct", distinct},
    {"whole", whole},         {"bound", bound},     {"inclusion", inclusion},
    {"far_tail", far_tail},   {"classes", classes}, {"longest", longest},
};
enum { N_TESTS = sizeof tests / sizeof *tests, N_MUTATIONS = SHORT_TAIL };

static const race_family *const families[] = {&normal_race, &beta_race};
enum { N_FAMILIES = sizeof families / sizeof *families };

/* To the first failure. */
static bool passes(const race_test *test)
{
    for (int f = 0; f < N_FAMILIES; f++)
        for (int common = 0; common < 2; common++)
            if (!test->run(families[f], common))
                return false;
    return true;
}

static int run_all(void)
{
    int failed = 0;
    for (int i = 0; i < N_TESTS; i++) {
        bool good = passes(&tests[i]);
        printf("%-12s %s\n", tests[i].name, good ? "passes" : "FAILS");
        failed += !good;
    }
    return failed != 0;
}

static int run_matrix(void)
{
    for (race_mutation = 1; race_mutation <= N_MUTATIONS; race_mutation++)
        for (int i = 0; i < N_TESTS; i++)
            if (!passes(&tests[i]))
                printf("error %d is found by %s\n", race_mutation, tests[i].name);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return run_all();
    if (argc == 2 && strcmp(argv[1], "all") == 0)
        return run_matrix();
    race_mutation = atoi(argv[1]);
    for (int i = 0; argc == 3 && i < N_TESTS; i++)
        if (strcmp(tests[i].name, argv[2]) == 0) {
            bool found = !passes(&tests[i]);
            printf("error %d: %s %s it\n", race_mutation, argv[2], found ? "finds" : "MISSES");
            return !found;
        }
    fprintf(stderr, "usage: test_race [all | MUTATION TEST]\n");
    return 2;
}
