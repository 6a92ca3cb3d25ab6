/* fixtures.h - every policy of the catalogue in every setting worth a test, and rounds to feed it
 * with.
 *
 * The conformance tests know no policy by name.  They take what the catalogue says a policy can be
 * (its choices, its bounds, its use of a prior) and make a variant of each, so that a new line in
 * the registry is tested from its first day.
 */
#ifndef CONFORM_FIXTURES_H
#define CONFORM_FIXTURES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <oltr/oltr.h>

enum { MOST_ITEMS = 512, MOST_SLOTS = 64, MOST_VARIANTS = 128 };

/* ---- dice: the tests' own generator (splitmix64), so that no test leans on the one it tests */

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t roll(dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline uint32_t below(dice *d, uint32_t n)
{
    return (uint32_t)((roll(d) >> 32) * n >> 32);
}

static inline double unit(dice *d)
{
    return (double)(roll(d) >> 11) * 0x1p-53;
}

static inline void shuffle(dice *d, uint32_t *x, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = below(d, i), held = x[i - 1];
        x[i - 1] = x[j];
        x[j] = held;
    }
}

/* `n` distinct items out of 0..n_items-1, in random order. */
static inline void draw_items(dice *d, uint32_t n_items, uint32_t n, uint32_t *out)
{
    uint32_t all[MOST_ITEMS];
    assert_true(n <= n_items && n_items <= MOST_ITEMS);
    for (uint32_t i = 0; i < n_items; i++)
        all[i] = i;
    shuffle(d, all, n_items);
    memcpy(out, all, n * sizeof *out);
}

/* ---- priors: one belief in both forms; all shapes above 1, no two items alike */

typedef enum prior_form { NO_PRIOR, SHAPES, MOMENTS } prior_form;

typedef struct prior_arrays {
    double a[MOST_ITEMS], b[MOST_ITEMS], mean[MOST_ITEMS], sd[MOST_ITEMS];
} prior_arrays;

static inline void fill_prior(prior_arrays *p)
{
    for (uint32_t i = 0; i < MOST_ITEMS; i++) {
        double a = 1.25 + (7 * i) % 10 + i / 4096.0, b = 10 + i % 3, n = a + b;
        p->a[i] = a;
        p->b[i] = b;
        p->mean[i] = a / n;
        p->sd[i] = sqrt(a * b / (n * n * (n + 1)));
    }
}

static inline oltr_prior prior_of(const prior_arrays *p, prior_form form)
{
    oltr_prior none = {NULL, NULL, NULL, NULL};
    oltr_prior shapes = {.a = p->a, .b = p->b}, moments = {.mean = p->mean, .sd = p->sd};
    return form == SHAPES ? shapes : form == MOMENTS ? moments : none;
}

/* ---- variants: a kind, its parameters, and the form of the prior it is given */

typedef struct variant {
    const oltr_policy_info *info;
    double value[OLTR_MAX_PARAMS];
    prior_form form;
    char name[160];
} variant;

typedef struct variant_list {
    uint32_t n;
    variant at[MOST_VARIANTS];
} variant_list;

/* The index of a parameter, or n_params. */
static inline uint32_t param_index(const oltr_policy_info *info, const char *name)
{
    uint32_t i = 0;
    while (i < info->n_params && strcmp(info->params[i].name, name) != 0)
        i++;
    return i;
}

static inline double param_of(const variant *v, const char *name)
{
    uint32_t i = param_index(v->info, name);
    return i < v->info->n_params ? v->value[i] : 0;
}

/* Whether the choice `name` stands at `choice`. */
static inline int chosen(const variant *v, const char *name, const char *choice)
{
    uint32_t i = param_index(v->info, name);
    return i < v->info->n_params &&
           strcmp(v->info->params[i].choices[(uint32_t)v->value[i]], choice) == 0;
}

static inline int takes_prior(const variant *v)
{
    return v->info->uses_prior && param_of(v, "prior") > 0;
}

static inline void name_variant(variant *v)
{
    static const char *const forms[] = {"", " <shapes>", " <moments>"};
    int used = snprintf(v->name, sizeof v->name, "%s%s", v->info->name, forms[v->form]);
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        const oltr_param *p = &v->info->params[i];
        if (v->value[i] >= p->initial && v->value[i] <= p->initial)
            continue;
        size_t room = sizeof v->name - (size_t)used;
        used += p->type == OLTR_CHOICE
                    ? snprintf(v->name + used, room, " %s=%s", p->name,
                               p->choices[(uint32_t)v->value[i]])
                    : snprintf(v->name + used, room, " %s=%g", p->name, v->value[i]);
    }
}

static inline void add_variant(variant_list *list, variant v, prior_form form)
{
    assert_true(list->n < MOST_VARIANTS);
    v.form = form;
    name_variant(&v);
    list->at[list->n++] = v;
}

static inline variant plain_variant(const oltr_policy_info *info)
{
    variant v = {.info = info};
    for (uint32_t i = 0; i < info->n_params; i++)
        v.value[i] = info->params[i].initial;
    return v;
}

/* Steps the choices like the wheels of a counter; 0 when all are back at their first. */
static inline int next_choices(variant *v)
{
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        const oltr_param *p = &v->info->params[i];
        if (p->type != OLTR_CHOICE)
            continue;
        v->value[i] += 1;
        if (p->choices[(uint32_t)v->value[i]])
            return 1;
        v->value[i] = 0;
    }
    return 0;
}

/* Every combination of choices; with the prior in both forms where one is taken. */
static inline void add_choices(variant_list *list, const oltr_policy_info *info)
{
    variant v = plain_variant(info);
    for (uint32_t i = 0; i < info->n_params; i++)
        if (info->params[i].type == OLTR_CHOICE)
            v.value[i] = 0;
    do {
        if (!takes_prior(&v)) {
            add_variant(list, v, NO_PRIOR);
        } else {
            add_variant(list, v, MOMENTS);
            add_variant(list, v, SHAPES);
        }
    } while (next_choices(&v));
}

/* Every number at its bounds. */
static inline void add_bounds(variant_list *list, const oltr_policy_info *info)
{
    for (uint32_t i = 0; i < info->n_params; i++)
        for (int high = 0; high < 2 && info->params[i].type != OLTR_CHOICE; high++) {
            variant v = plain_variant(info);
            v.value[i] = high ? info->params[i].max : info->params[i].min;
            add_variant(list, v, NO_PRIOR);
        }
}

static inline void list_variants(variant_list *list)
{
    list->n = 0;
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        if (oltr_policy_info_at(i)->contextual)
            continue; /* contextual.c has them */
        add_choices(list, oltr_policy_info_at(i));
        add_bounds(list, oltr_policy_info_at(i));
    }
}

/* The settings of a variant; the arrays of `own` must outlive them. */
static inline oltr_settings settings_of(const variant *v, uint32_t n_items, const prior_arrays *own)
{
    oltr_settings s;
    assert_int_equal(oltr_settings_init(&s, v->info->name, n_items, NULL), OLTR_OK);
    memcpy(s.value, v->value, sizeof s.value);
    s.prior = prior_of(own, v->form);
    return s;
}

static inline oltr_policy *new_policy(const variant *v, uint32_t n_items)
{
    prior_arrays own;
    oltr_error error = {OLTR_OK, ""};
    fill_prior(&own);
    oltr_settings s = settings_of(v, n_items, &own);
    oltr_policy *p = oltr_policy_new(&s, &error);
    if (!p)
        fail_msg("%s with %u items: %s", v->name, n_items, error.msg);
    return p;
}

/* Work of microseconds must not take seconds, whatever the numbers in it: some inputs come from
 * strangers. */
static inline void assert_swift(clock_t since, const char *what)
{
    double seconds = (double)(clock() - since) / CLOCKS_PER_SEC;
    if (seconds > 2)
        fail_msg("%s took %.3g s", what, seconds);
}

/* ---- snapshots as values */

typedef struct image {
    size_t size;
    unsigned char *byte;
} image;

static inline image image_of(const oltr_policy *p)
{
    image m = {0, NULL};
    size_t bound = oltr_save_bound(p);
    m.byte = malloc(bound);
    assert_non_null(m.byte);
    assert_int_equal(oltr_save(p, m.byte, bound, &m.size), OLTR_OK);
    return m;
}

static inline int same_image(image x, image y)
{
    return x.size == y.size && memcmp(x.byte, y.byte, x.size) == 0;
}

static inline int same_state(const oltr_policy *p, const oltr_policy *q)
{
    image x = image_of(p), y = image_of(q);
    int same = same_image(x, y);
    free(x.byte);
    free(y.byte);
    return same;
}

static inline oltr_policy *copy_of(const oltr_policy *p)
{
    oltr_error error = {OLTR_OK, ""};
    image m = image_of(p);
    oltr_policy *copy = oltr_load(m.byte, m.size, &error);
    free(m.byte);
    if (!copy)
        fail_msg("a saved policy does not load: %s", error.msg);
    return copy;
}

/* ---- rounds */

/* One round as it could have been anywhere: a list, how far it was read, and what it earned. */
typedef struct event {
    uint32_t k, n_examined;
    uint32_t item[MOST_SLOTS];
    double reward[MOST_SLOTS];
} event;

/* Clicks with a taste for some items; rewards that are not clicks are eighths, so that their sums
 * are exact in any order. */
static inline double draw_reward(dice *d, oltr_rewards kind, uint32_t item)
{
    if (kind == OLTR_CLICKS)
        return unit(d) < 0.05 + 0.05 * ((item * 7) % 13);
    return (double)below(d, 65) / 8 - 4;
}

static inline void draw_feedback(dice *d, oltr_rewards kind, event *e)
{
    e->n_examined = below(d, e->k + 1);
    for (uint32_t s = 0; s < e->n_examined; s++)
        e->reward[s] = draw_reward(d, kind, e->item[s]);
}

static inline event draw_event(dice *d, oltr_rewards kind, uint32_t n_items)
{
    event e;
    uint32_t most = n_items < MOST_SLOTS ? n_items : MOST_SLOTS;
    e.k = 1 + below(d, most);
    draw_items(d, n_items, e.k, e.item);
    draw_feedback(d, kind, &e);
    return e;
}

static inline oltr_status learn_event(oltr_policy *p, event *e)
{
    oltr_ranking shown = {e->k, e->item, NULL};
    oltr_feedback seen = {e->n_examined, e->reward};
    return oltr_learn(p, NULL, &shown, &seen);
}

/* The same `rounds` rounds for the same seed, whatever the policy. */
static inline void learn_many(oltr_policy *p, uint64_t seed, uint32_t rounds)
{
    dice d = {seed};
    const oltr_settings *s = oltr_policy_settings(p);
    for (uint32_t t = 0; t < rounds; t++) {
        event e = draw_event(&d, s->info->rewards, s->n_items);
        assert_int_equal(learn_event(p, &e), OLTR_OK);
    }
}

/* ---- lists */

static inline oltr_status rank_at(const oltr_policy *p, const oltr_query *query, uint64_t round,
                                  uint32_t k, uint32_t *item, double *score)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_ranking out = {k, item, score};
    assert_non_null(scratch);
    oltr_status status =
        oltr_rank(p, query, oltr_rng_at(oltr_rng_make(7, 3), 0, round), scratch, &out);
    oltr_scratch_free(scratch);
    return status;
}

static inline int is_candidate(const oltr_query *query, uint32_t n_items, uint32_t item)
{
    if (!query || !query->item)
        return item < (query ? query->n_items : n_items);
    for (uint32_t j = 0; j < query->n_items; j++)
        if (query->item[j] == item)
            return 1;
    return 0;
}

/* Distinct candidates, in order of their scores, all of which are numbers. */
static inline void assert_valid_list(const oltr_query *query, uint32_t n_items, uint32_t k,
                                     const uint32_t *item, const double *score)
{
    unsigned char shown[MOST_ITEMS] = {0};
    for (uint32_t s = 0; s < k; s++) {
        assert_true(is_candidate(query, n_items, item[s]));
        assert_false(shown[item[s]]);
        shown[item[s]] = 1;
        assert_true(s == 0 ? score[s] >= score[s] : score[s] <= score[s - 1]);
    }
}

/* Two policies that believe the same show the same, for a few generators. */
static inline void assert_same_lists(const oltr_policy *p, const oltr_policy *q)
{
    uint32_t n = oltr_policy_settings(p)->n_items, k = n < MOST_SLOTS ? n : MOST_SLOTS;
    uint32_t x[MOST_SLOTS], y[MOST_SLOTS];
    for (uint64_t round = 0; round < 5; round++) {
        assert_int_equal(rank_at(p, NULL, round, k, x, NULL), OLTR_OK);
        assert_int_equal(rank_at(q, NULL, round, k, y, NULL), OLTR_OK);
        assert_memory_equal(x, y, k * sizeof *x);
    }
}

#endif
