/* race.c - rounds of sampler: race compared with rounds of the full sampler, and rounds of policies
 * that compute one index for each class of items with rounds that compute every index, from ten
 * thousand to ten million items.
 *
 * A round is oltr_rank, a user, oltr_learn: with the race that includes its index.  Both policies
 * of a comparison play in turn in one process.  Rows: the full round / the race's round at each
 * size, under a common prior and under priors of the items; how the race's round grows with the
 * number of items; rounds after many others; bytes of the index; items that are set anew; lists
 * from named candidates.
 *
 * Classes are kept without a choice.  The full round is that of a policy whose index is taken away:
 * its state then is that of a policy with few items.
 * --long plays 10^6 rounds of each kind over the largest number of items instead, and tests the
 * policy with oltr_check() ten times: the index must be the one that building it anew makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "table.h"

#include "engine/policy/block.h"
#include "engine/policy/click_rate.h"
#include "engine/policy/index_cache.h"
#include "engine/policy/rounds.h"
#include "engine/race/race.h"

enum { SLOTS = 10, WARMUP = 300, REPETITIONS = 15, WORDS = 1 << 14 };

typedef struct options {
    uint32_t repetitions;
    const char *json, *kind; /* NULL: both policies */
    uint32_t largest;        /* number of items */
    bool strict, quick, lasting;
} options;

/* A policy and its users.  Item i has attraction Beta(a_i, b_i), a_i from 1 to 10; of a million
 * items most are seldom shown. */
typedef struct side {
    oltr_policy *policy;
    oltr_scratch *scratch;
    const uint32_t *threshold; /* (n_items) a random word below it is a click */
    const uint32_t *word;      /* (WORDS) */
    uint64_t t;
} side;

typedef struct shop {
    uint32_t n_items;
    double *a, *b;
    uint32_t *threshold, *word;
} shop;

static shop shop_new(uint32_t n_items)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 0), 1, 0);
    shop s = {n_items, array_of(n_items, sizeof(double)), array_of(n_items, sizeof(double)),
              array_of(n_items, sizeof(uint32_t)), array_of(WORDS, sizeof(uint32_t))};
    for (uint32_t i = 0; i < n_items; i++) {
        s.a[i] = 1 + oltr_rng_below(&rng, 10);
        s.b[i] = 10 + oltr_rng_below(&rng, 10);
        s.threshold[i] = (uint32_t)(oltr_rng_beta(&rng, s.a[i], s.b[i]) * 0x1p32);
    }
    for (uint32_t i = 0; i < WORDS; i++)
        s.word[i] = oltr_rng_u32(&rng);
    return s;
}

static void shop_free(shop *s)
{
    free(s->a);
    free(s->b);
    free(s->threshold);
    free(s->word);
}

static void set(oltr_settings *settings, const char *name, const char *value)
{
    oltr_error error;
    if (oltr_settings_set(settings, name, value, &error) != OLTR_OK)
        die("%s", error.msg);
}

static side side_new(const shop *s, const char *kind, bool own_priors, bool race)
{
    oltr_settings settings;
    oltr_error error;
    if (oltr_settings_init(&settings, kind, s->n_items, &error) != OLTR_OK)
        die("%s", error.msg);
    if (own_priors) {
        settings.prior = (oltr_prior){.a = s->a, .b = s->b};
        set(&settings, "prior", "full");
    }
    if (race)
        set(&settings, "sampler", "race");
    side x = {.policy = oltr_policy_new(&settings, &error),
              .threshold = s->threshold,
              .word = s->word,
              .t = 1};
    if (!x.policy)
        die("%s", error.msg);
    x.scratch = oltr_scratch_new(x.policy);
    if (!x.scratch)
        die("out of memory");
    return x;
}

static void side_free(side *x)
{
    oltr_scratch_free(x->scratch);
    oltr_policy_free(x->policy);
}

static void play(void *side_, uint32_t rounds)
{
    side *x = side_;
    for (; rounds; rounds--, x->t++) {
        uint32_t item[SLOTS], seen = 0;
        double reward[SLOTS];
        oltr_ranking shown = {.k = SLOTS, .item = item};
        oltr_status ranked = oltr_rank(x->policy, NULL, oltr_rng_at(oltr_rng_make(1, 1), 0, x->t),
                                       x->scratch, &shown);
        for (bool clicked = false; seen < SLOTS && !clicked; seen++) {
            clicked = x->word[(x->t * SLOTS + seen) % WORDS] < x->threshold[item[seen]];
            reward[seen] = clicked;
        }
        oltr_feedback feedback = {seen, reward};
        if (ranked != OLTR_OK || oltr_learn(x->policy, NULL, &shown, &feedback) != OLTR_OK)
            die("a round failed");
    }
}

static void number_row(table *t, double value, const char *unit, sense bound, double target,
                       const char *name)
{
    table_add(t, unit, (spread){value, value, value}, bound, target, "%s", name);
}

/* ---- classes */

/* The state of cascade-klucb begins so. */
typedef struct klucb_front {
    item_sums sums;
    index_cache index;
} klucb_front;

/* Makes a policy compute every item.  bayes-ucb does so under priors of the items. */
static void take_classes_away(side *x)
{
    void *state = policy_state(x->policy);
    if (strcmp(x->policy->ops->info.name, "bayes-ucb") == 0)
        return;
    if (strcmp(x->policy->ops->info.name, "cascade-klucb") == 0)
        ((klucb_front *)state)->index.classes = 0;
    else
        ((click_rate_state *)state)->classes = 0;
    x->policy->ops->refresh(state, 1);
}

static void class_sizes(table *t, const options *o, const char *kind, const double target[3])
{
    static const uint32_t n_items[3] = {10000, 100000, 1000000};
    static variant v[2];
    for (int i = 0; i < 3 && n_items[i] <= o->largest; i++) {
        shop s = shop_new(n_items[i]);
        for (uint32_t j = 0; j < n_items[i]; j++)
            s.a[j] = s.b[j] = 1; /* the common prior */
        side classes = side_new(&s, kind, false, false);
        side full = side_new(&s, kind, strcmp(kind, "bayes-ucb") == 0, false);
        take_classes_away(&full);
        play(&classes, o->quick ? 10 : 2 * WARMUP);
        play(&full, o->quick ? 1 : 2);
        v[0] = (variant){.play = play, .context = &full, .rounds = 10000000 / n_items[i] / 5 + 1};
        v[1] = (variant){.play = play, .context = &classes, .rounds = 1000};
        if (o->quick)
            v[0].rounds = v[1].rounds = 1;
        measure(v, 2, o->repetitions);
        row *r = table_add(t, "", ratio(&v[0], &v[1], o->repetitions),
                           target[i] > 0 ? AT_LEAST : NO_TARGET, target[i],
                           "%s L=%u: full round / round by classes", kind, n_items[i]);
        row_note(r, "%.1f us / %.2f us", median_ns(&v[0], o->repetitions) / 1e3,
                 median_ns(&v[1], o->repetitions) / 1e3);
        side_free(&classes);
        side_free(&full);
        shop_free(&s);
    }
}

/* Policies that learn nothing: a round of a million items. */
static void no_learning(table *t, const options *o, const char *kind)
{
    static variant v;
    shop s = shop_new(o->largest < 1000000 ? o->largest : 1000000);
    side x = side_new(&s, kind, strcmp(kind, "ensemble") == 0, false);
    v = (variant){.play = play, .context = &x, .rounds = o->quick ? 1 : 5000};
    measure(&v, 1, o->repetitions);
    char name[TEXT];
    snprintf(name, sizeof name, "%s L=%u: a round", kind, s.n_items);
    number_row(t, median_ns(&v, o->repetitions) / 1e3, "us", NO_TARGET, 0, name);
    side_free(&x);
    shop_free(&s);
}

/* Sets items anew, one after the other. */
static void put(void *side_, uint32_t items)
{
    side *x = side_;
    uint32_t n = oltr_policy_settings(x->policy)->n_items;
    for (; items; items--, x->t++)
        if (oltr_item_reset(x->policy, (uint32_t)(x->t * 2654435761u % n), NULL) != OLTR_OK)
            die("an item could not be reset");
}

/* Rounds of a repetition, of about 10 ms. */
static uint32_t rounds_for(uint32_t n_items, bool race, bool beta)
{
    double ns = race ? 20000 : n_items * (beta ? 16.0 : 1.0);
    return (uint32_t)(10e6 / ns) + 1;
}

static double compare(table *t, const options *o, const char *kind, bool own, uint32_t n_items,
                      double target)
{
    static variant v[2];
    bool beta = strcmp(kind, "ts-beta") == 0;
    const char *priors = own ? "own priors" : "common prior";
    shop s = shop_new(n_items);
    side race = side_new(&s, kind, own, true), full = side_new(&s, kind, own, false);
    play(&race, o->quick ? 10 : 20 * WARMUP);
    play(&full, o->quick ? 1 : 2);
    v[0] = (variant){.play = play, .context = &full, .rounds = rounds_for(n_items, false, beta)};
    v[1] = (variant){.play = play, .context = &race, .rounds = rounds_for(n_items, true, beta)};
    if (o->quick)
        v[0].rounds = v[1].rounds = 1;
    measure(v, 2, o->repetitions);
    row *r =
        table_add(t, "", ratio(&v[0], &v[1], o->repetitions), target > 0 ? AT_LEAST : NO_TARGET,
                  target, "%s L=%u, %s: full round / race", kind, n_items, priors);
    row_note(r, "%.1f us / %.1f us", median_ns(&v[0], o->repetitions) / 1e3,
             median_ns(&v[1], o->repetitions) / 1e3);
    side_free(&race);
    side_free(&full);
    shop_free(&s);
    return median_ns(&v[1], o->repetitions);
}

static void sizes(table *t, const options *o, const char *kind, bool own, const double target[4])
{
    static const uint32_t n_items[4] = {10000, 100000, 1000000, 10000000};
    double ns[4] = {0};
    char name[TEXT];
    for (int i = 0; i < 4 && n_items[i] <= o->largest; i++) {
        ns[i] = compare(t, o, kind, own, n_items[i], target[i]);
        double bytes = (double)race_index_bytes(n_items[i]) / n_items[i];
        snprintf(name, sizeof name, "%s L=%u: index, bytes an item", kind, n_items[i]);
        if (!own)
            number_row(t, bytes, "B", n_items[i] >= 1000000 ? AT_MOST : NO_TARGET, 16, name);
    }
    snprintf(name, sizeof name, "%s, %s: race at 10^7 / at 10^6", kind, own ? "own" : "common");
    if (ns[3] > 0)
        number_row(t, ns[3] / ns[2], "", own ? NO_TARGET : AT_MOST, 2.2, name);
}

/* The first rounds, and those after two million others. */
static void late(table *t, const options *o, const char *kind)
{
    static variant v[2];
    shop s = shop_new(1000000);
    side early = side_new(&s, kind, false, true), old = side_new(&s, kind, false, true);
    play(&early, 1000);
    for (uint32_t done = 0; done < (o->quick ? 10 : 2000000); done += 10)
        play(&old, 10);
    v[0] = (variant){.play = play, .context = &old, .rounds = o->quick ? 1 : 500};
    v[1] = (variant){.play = play, .context = &early, .rounds = o->quick ? 1 : 500};
    measure(v, 2, o->repetitions);
    row *r = table_add(t, "", ratio(&v[0], &v[1], o->repetitions), AT_MOST, 2,
                       "%s L=1000000: rounds after 2 x 10^6 / first rounds", kind);
    row_note(r, "%.1f us / %.1f us", median_ns(&v[0], o->repetitions) / 1e3,
             median_ns(&v[1], o->repetitions) / 1e3);
    side_free(&early);
    side_free(&old);
    shop_free(&s);
}

static void resets(table *t, const options *o)
{
    static variant v;
    shop s = shop_new(1000000);
    side x = side_new(&s, "gts", true, true);
    v = (variant){.play = put, .context = &x, .rounds = 5000};
    play(&x, o->quick ? 10 : 5000);
    measure(&v, 1, o->repetitions);
    number_row(t, median_ns(&v, o->repetitions) / 1e3, "us", AT_MOST, 1,
               "gts L=1000000, own priors: an item set anew");
    side_free(&x);
    shop_free(&s);
}

/* ---- named candidates */

enum { NAMED = 100000, OF_ITEMS = 1000000 };

/* Lists from NAMED candidates of OF_ITEMS items, or from a policy that has no others. */
typedef struct asker {
    const oltr_policy *policy;
    oltr_scratch *scratch;
    const uint32_t *name; /* (NAMED), or NULL */
    uint64_t t;
} asker;

static oltr_query query_of(const asker *a)
{
    return (oltr_query){.n_items = NAMED, .item = a->name};
}

static void ask(void *asker_, uint32_t lists)
{
    asker *a = asker_;
    for (; lists; lists--) {
        uint32_t item[SLOTS];
        oltr_ranking out = {.k = SLOTS, .item = item};
        oltr_query query = query_of(a);
        if (oltr_rank(a->policy, &query, oltr_rng_at(oltr_rng_make(1, 1), 0, a->t++), a->scratch,
                      &out) != OLTR_OK)
            die("a list failed");
    }
}

/* What a list begins with: are all candidates items, and named once? */
static void check_names(void *asker_, uint32_t lists)
{
    asker *a = asker_;
    for (; lists; lists--) {
        uint32_t item[SLOTS];
        oltr_ranking out = {.k = SLOTS, .item = item};
        oltr_query query = query_of(a);
        candidates from;
        if (check_ranking(a->policy, &query, &out, a->scratch, &from) != OLTR_OK)
            die("a check failed");
    }
}

/* Distinct items from all of OF_ITEMS: the step has no divisor in common with it. */
static uint32_t *names_in_order(bool ascending)
{
    uint32_t *name = array_of(NAMED, sizeof *name);
    for (uint32_t i = 0; i < NAMED; i++)
        name[i] =
            ascending ? i * (OF_ITEMS / NAMED) : (uint32_t)((uint64_t)i * 777767777u % OF_ITEMS);
    return name;
}

static void named(table *t, const options *o, const char *kind)
{
    static variant v[4];
    shop few = shop_new(NAMED), many = shop_new(OF_ITEMS);
    side alone = side_new(&few, kind, false, false), all = side_new(&many, kind, false, false);
    uint32_t *mixed = names_in_order(false), *ascending = names_in_order(true);
    asker a[4] = {{alone.policy, alone.scratch, NULL, 1},
                  {all.policy, all.scratch, ascending, 1},
                  {all.policy, all.scratch, mixed, 1},
                  {all.policy, all.scratch, mixed, 1}};
    for (int i = 0; i < 4; i++)
        v[i] = (variant){.play = i < 3 ? ask : check_names,
                         .context = &a[i],
                         .rounds = o->quick                       ? 1
                                   : strcmp(kind, "ts-beta") == 0 ? 5
                                                                  : 50};
    measure(v, 4, o->repetitions);
    for (int i = 1; i < 4; i++) {
        static const char *const what[] = {"", "in ascending order", "in any order",
                                           "in any order, the check alone"};
        row *r = table_add(t, "", ratio(&v[i], &v[0], o->repetitions), NO_TARGET, 0,
                           "%s: %u of %u named, %s / %u without names", kind, (unsigned)NAMED,
                           (unsigned)OF_ITEMS, what[i], (unsigned)NAMED);
        row_note(r, "%.1f us / %.1f us", median_ns(&v[i], o->repetitions) / 1e3,
                 median_ns(&v[0], o->repetitions) / 1e3);
    }
    free(mixed);
    free(ascending);
    side_free(&alone);
    side_free(&all);
    shop_free(&few);
    shop_free(&many);
}

/* One long run, with the invariants of the policy tested after each tenth of it. */
static void last(const options *o, const char *kind)
{
    uint32_t tenth = o->quick ? 10 : 100000;
    shop s = shop_new(o->largest);
    side x = side_new(&s, kind, false, true);
    oltr_error error;
    for (uint32_t i = 1; i <= 10; i++) {
        uint64_t start = thread_ns();
        play(&x, tenth);
        uint64_t took = thread_ns() - start;
        if (oltr_check(x.policy, &error) != OLTR_OK)
            die("%s after %u rounds: %s", kind, i * tenth, error.msg);
        printf("%-8s L=%u: %8u rounds, %.1f us a round, checked\n", kind, o->largest, i * tenth,
               (double)took / 1e3 / tenth);
        fflush(stdout);
    }
    side_free(&x);
    shop_free(&s);
}

static options read_options(int argc, char **argv)
{
    options o = {.repetitions = REPETITIONS, .largest = 10000000};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quick") == 0)
            o.quick = true, o.repetitions = 1, o.largest = 100000;
        else if (strcmp(argv[i], "--long") == 0)
            o.lasting = true;
        else if (strcmp(argv[i], "--strict") == 0)
            o.strict = true;
        else if (value && strcmp(argv[i], "--repetitions") == 0)
            o.repetitions = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (value && strcmp(argv[i], "--largest") == 0)
            o.largest = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (value && strcmp(argv[i], "--kind") == 0)
            o.kind = argv[++i];
        else if (value && strcmp(argv[i], "--json") == 0)
            o.json = argv[++i];
        else
            die("usage: bench_race [--repetitions N | --quick] [--long] [--largest ITEMS] "
                "[--kind gts | ts-beta | classes | named | late] [--json FILE] [--strict]");
    }
    if (o.repetitions < 1 || o.repetitions > MAX_REPETITIONS)
        die("--repetitions takes a number from 1 to %d", MAX_REPETITIONS);
    return o;
}

int main(int argc, char **argv)
{
    static table t;
    options o = read_options(argc, argv);
    if (o.lasting) {
        if (!o.kind || strcmp(o.kind, "gts") == 0)
            last(&o, "gts");
        if (!o.kind || strcmp(o.kind, "ts-beta") == 0)
            last(&o, "ts-beta");
        return 0;
    }
    if (!o.kind || strcmp(o.kind, "gts") == 0) {
        sizes(&t, &o, "gts", false, (const double[]){0.9, 0, 80, 500});
        sizes(&t, &o, "gts", true, (const double[]){0.9, 0, 50, 0});
    }
    if (!o.kind || strcmp(o.kind, "ts-beta") == 0) {
        sizes(&t, &o, "ts-beta", false, (const double[]){0.9, 0, 500, 0});
        sizes(&t, &o, "ts-beta", true, (const double[]){0.9, 0, 300, 0});
    }
    if (!o.kind || strcmp(o.kind, "classes") == 0) {
        class_sizes(&t, &o, "cascade-ucb1", (const double[]){0, 250, 1500});
        class_sizes(&t, &o, "cascade-ucbv", (const double[]){0, 0, 0});
        class_sizes(&t, &o, "cascade-klucb", (const double[]){0, 0, 0});
        class_sizes(&t, &o, "bayes-ucb", (const double[]){0, 0, 0});
        class_sizes(&t, &o, "ts-cascade", (const double[]){0, 0, 0});
        class_sizes(&t, &o, "epsilon-greedy", (const double[]){0, 0, 0});
        no_learning(&t, &o, "random");
        no_learning(&t, &o, "ensemble");
    }
    if ((!o.kind || strcmp(o.kind, "named") == 0) && (o.largest >= OF_ITEMS || o.quick)) {
        named(&t, &o, "gts");
        named(&t, &o, "ts-beta");
    }
    if ((!o.kind || strcmp(o.kind, "late") == 0) && o.largest >= 1000000) {
        late(&t, &o, "gts");
        late(&t, &o, "ts-beta");
        resets(&t, &o);
    }
    table_print(&t);
    if (o.json)
        table_write_json(&t, o.json, o.repetitions);
    return o.strict && !table_passes(&t);
}
