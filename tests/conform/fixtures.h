/* fixtures.h - every policy of the catalogue in every setting worth a test, and requests for it.
 *
 * The conformance tests name no policy.  They read from the catalogue what a policy can be (its
 * choices, its bounds, its use of a prior and of features) and make a variant of each, so that a
 * new line of the registry is tested from its first day.  A request has features where the policy
 * takes some.
 */
#ifndef CONFORM_FIXTURES_H
#define CONFORM_FIXTURES_H

#include "conform/suite.h"
#include "support/kinds.h"
#include "support/snapshot.h"

#include <time.h>

enum { ITEMS = 20, DIM = 4, STRIDE = 7, POOL = 40, MOST_ITEMS = 512, MOST_VARIANTS = 400 };

/* ---- priors: one belief in both forms; all shapes are above 1, no two items are alike */

typedef enum prior_form { NO_PRIOR, SHAPES, MOMENTS } prior_form;

typedef struct prior_arrays {
    double a[MOST_ITEMS], b[MOST_ITEMS], mean[MOST_ITEMS], sd[MOST_ITEMS];
} prior_arrays;

/* Filled by the first call, which must not come from a thread. */
static inline const prior_arrays *known_prior(void)
{
    static prior_arrays p;
    for (uint32_t i = 0; p.a[MOST_ITEMS - 1] <= 0 && i < MOST_ITEMS; i++) {
        double a = 1.25 + (7 * i) % 10 + i / 4096.0, b = 10 + i % 3, n = a + b;
        p.a[i] = a;
        p.b[i] = b;
        p.mean[i] = a / n;
        p.sd[i] = sqrt(a * b / (n * n * (n + 1)));
    }
    return &p;
}

/* The prior of the items from `first` on. */
static inline oltr_prior prior_from(const prior_arrays *p, prior_form form, uint32_t first)
{
    oltr_prior none = {NULL, NULL, NULL, NULL};
    oltr_prior shapes = {.a = p->a + first, .b = p->b + first};
    oltr_prior moments = {.mean = p->mean + first, .sd = p->sd + first};
    return form == SHAPES ? shapes : form == MOMENTS ? moments : none;
}

/* ---- variants: a kind, its parameters, and the form of the prior it is given */

typedef struct variant {
    const oltr_policy_info *info;
    double value[OLTR_MAX_PARAMS];
    prior_form form;
    bool at_bound; /* one number is at its smallest or largest */
    char name[160];
} variant;

typedef struct variant_list {
    uint32_t n;
    variant at[MOST_VARIANTS];
} variant_list;

static inline bool is_kind(const variant *v, const char *name)
{
    return strcmp(v->info->name, name) == 0;
}

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

static inline bool chosen(const variant *v, const char *name, const char *choice)
{
    uint32_t i = param_index(v->info, name);
    return i < v->info->n_params &&
           strcmp(v->info->params[i].choices[(uint32_t)v->value[i]], choice) == 0;
}

static inline bool takes_prior(const variant *v)
{
    return v->info->uses_prior && param_of(v, "prior") > 0;
}

static inline bool has_features(const variant *v)
{
    return v->info->contextual;
}

static inline bool has_no_features(const variant *v)
{
    return !v->info->contextual;
}

static inline void name_variant(variant *v)
{
    static const char *const forms[] = {"", " <shapes>", " <moments>"};
    int used = snprintf(v->name, sizeof v->name, "%s%s", v->info->name, forms[v->form]);
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        const oltr_param *p = &v->info->params[i];
        size_t room = sizeof v->name - (size_t)used;
        if (v->value[i] >= p->initial && v->value[i] <= p->initial)
            continue;
        used += p->type == OLTR_CHOICE
                    ? snprintf(v->name + used, room, " %s=%s", p->name,
                               p->choices[(uint32_t)v->value[i]])
                    : snprintf(v->name + used, room, " %s=%g", p->name, v->value[i]);
    }
}

static inline variant plain_variant(const oltr_policy_info *info)
{
    variant v = {.info = info};
    for (uint32_t i = 0; i < info->n_params; i++)
        v.value[i] = info->params[i].initial;
    name_variant(&v);
    return v;
}

static inline variant variant_of(const char *kind)
{
    const oltr_policy_info *info = oltr_policy_info_by_name(kind, NULL);
    assert_non_null(info);
    return plain_variant(info);
}

/* The same with one parameter changed. */
static inline variant with(variant v, const char *name, double value)
{
    uint32_t i = param_index(v.info, name);
    assert_true(i < v.info->n_params);
    v.value[i] = value;
    name_variant(&v);
    return v;
}

static inline variant with_choice(variant v, const char *name, const char *choice)
{
    uint32_t i = param_index(v.info, name), c = 0;
    assert_true(i < v.info->n_params);
    while (v.info->params[i].choices[c] && strcmp(v.info->params[i].choices[c], choice) != 0)
        c++;
    assert_non_null(v.info->params[i].choices[c]);
    return with(v, name, c);
}

/* The whole prior in this form; the policy without one where it takes none. */
static inline variant with_prior(variant v, prior_form form)
{
    if (form == NO_PRIOR || !v.info->uses_prior)
        return v;
    v.form = form;
    return with_choice(v, "prior", "full");
}

static inline void add_variant(variant_list *list, variant v)
{
    assert_true(list->n < MOST_VARIANTS);
    list->at[list->n++] = v;
}

/* Steps the choices like the wheels of a counter; false when all are back at their first. */
static inline bool next_choices(variant *v)
{
    for (uint32_t i = 0; i < v->info->n_params; i++) {
        const oltr_param *p = &v->info->params[i];
        if (p->type != OLTR_CHOICE)
            continue;
        v->value[i] += 1;
        if (p->choices[(uint32_t)v->value[i]])
            return true;
        v->value[i] = 0;
    }
    return false;
}

/* Every combination of choices; with the prior in both forms where one is taken. */
static inline void add_choices(variant_list *list, const oltr_policy_info *info)
{
    variant v = plain_variant(info);
    for (uint32_t i = 0; i < info->n_params; i++)
        if (info->params[i].type == OLTR_CHOICE)
            v.value[i] = 0;
    do
        for (v.form = takes_prior(&v) ? SHAPES : NO_PRIOR; v.form <= MOMENTS; v.form++) {
            name_variant(&v);
            add_variant(list, v);
            if (v.form == NO_PRIOR)
                break;
        }
    while (next_choices(&v));
}

/* Whether it is the number of a later slot, examine3 and so on, which is read like examine2. */
static inline bool is_like_another(const oltr_param *p)
{
    return strncmp(p->name, "examine", 7) == 0 && p->name[7] > '2';
}

/* The largest value that is tried: a million rows, or 100 sweeps, would take too long. */
static inline double largest_tried(const oltr_param *p)
{
    return strcmp(p->name, "rows") == 0 ? 16 : strcmp(p->name, "sweeps") == 0 ? 20 : p->max;
}

/* Every number at its bounds. */
static inline void add_bounds(variant_list *list, const oltr_policy_info *info)
{
    for (uint32_t i = 0; i < info->n_params; i++)
        for (int high = 0; high < 2 && info->params[i].type != OLTR_CHOICE; high++) {
            const oltr_param *p = &info->params[i];
            if (is_like_another(p))
                break;
            variant v = with(plain_variant(info), p->name, high ? largest_tried(p) : p->min);
            v.at_bound = true;
            add_variant(list, v);
        }
}

static inline void list_variants(variant_list *list)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        add_choices(list, oltr_policy_info_at(i));
        add_bounds(list, oltr_policy_info_at(i));
    }
}

static inline oltr_settings settings_for(const variant *v, uint32_t n_items)
{
    oltr_settings s;
    assert_int_equal(oltr_settings_init(&s, v->info->name, n_items, NULL), OLTR_OK);
    memcpy(s.value, v->value, sizeof s.value);
    s.dim = v->info->contextual ? DIM : 0;
    s.prior = prior_from(known_prior(), v->form, 0);
    return s;
}

static inline oltr_policy *policy_from(const oltr_settings *s)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_policy_new(s, &error);
    if (!p)
        fail_msg("%s with %u items: %s", s->info->name, s->n_items, error.msg);
    return p;
}

static inline oltr_policy *policy_of(const variant *v, uint32_t n_items)
{
    oltr_settings s = settings_for(v, n_items);
    return policy_from(&s);
}

static inline oltr_policy *new_policy(const variant *v)
{
    return policy_of(v, ITEMS);
}

/* ---- expectations */

static inline void assert_sound(const oltr_policy *p)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("after %llu rounds: %s", (unsigned long long)oltr_policy_rounds(p), error.msg);
}

static inline bool near(double x, double y, double tolerance)
{
    if (isinf(x) || isinf(y))
        return x >= y && x <= y;
    return fabs(x - y) <= tolerance * fmax(1, fabs(y));
}

/* Work of microseconds must not take seconds for any input: some of it is not trusted. */
static inline void assert_swift(clock_t since, const char *what)
{
    double seconds = (double)(clock() - since) / CLOCKS_PER_SEC;
    if (seconds > 2)
        fail_msg("%s took %.3g s, expected are microseconds", what, seconds);
}

/* ---- snapshots as values */

typedef struct image {
    size_t size;
    unsigned char *byte;
} image;

static inline image image_of(const oltr_policy *p)
{
    size_t bound = oltr_save_bound(p);
    image m = {0, exactly(bound, 1)};
    expect(oltr_save(p, m.byte, bound, &m.size), OLTR_OK);
    return m;
}

static inline image copy_image(const image *m)
{
    image copy = {m->size, exactly(m->size, 1)};
    memcpy(copy.byte, m->byte, m->size);
    return copy;
}

static inline anatomy dissect_image(const image *m)
{
    return dissect(m->byte, m->size);
}

/* Compares the two and frees them. */
static inline bool same_images(image x, image y)
{
    bool same = x.size == y.size && memcmp(x.byte, y.byte, x.size) == 0;
    free(x.byte);
    free(y.byte);
    return same;
}

static inline bool same_state(const oltr_policy *p, const oltr_policy *q)
{
    return same_images(image_of(p), image_of(q));
}

/* Frees the image. */
static inline void assert_unchanged(const oltr_policy *p, image before)
{
    assert_true(same_images(before, image_of(p)));
}

static inline oltr_policy *load_image(const image *m)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_load(m->byte, m->size, &error);
    if (!p)
        fail_msg("a snapshot does not load: %s", error.msg);
    return p;
}

static inline oltr_policy *copy_of(const oltr_policy *p)
{
    image m = image_of(p);
    oltr_policy *copy = load_image(&m);
    free(m.byte);
    return copy;
}

/* ---- requests: candidates, a list of some of them, and what was seen of it */

typedef enum row_source { FROM_POOL, NEVER_AGAIN } row_source;

typedef struct request {
    oltr_query query;
    const oltr_query *asked; /* &query, or NULL: all items */
    uint32_t item[MOST_ITEMS], shown[MOST_ITEMS], k, n_examined;
    double reward[MOST_ITEMS];
    float x[MOST_ITEMS * STRIDE];
} request;

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

/* A row a little shorter than 1, so that no setting refuses it. */
static inline void draw_row(dice *d, float *x)
{
    double square = 0, v[DIM];
    for (uint32_t i = 0; i < DIM; i++) {
        v[i] = 2 * unit(d) - 0.7;
        square += v[i] * v[i];
    }
    double length = (0.5 + 0.49 * unit(d)) / sqrt(square);
    for (uint32_t i = 0; i < DIM; i++)
        x[i] = (float)(length * v[i]);
}

/* Rows that are met again and again; the first call must not come from a thread. */
static inline const float *pool_row(uint32_t i)
{
    static float row[POOL][DIM];
    static bool drawn;
    dice d = {4711};
    for (uint32_t j = 0; !drawn && j < POOL; j++) {
        draw_row(&d, row[j]);
        drawn = j + 1 == POOL;
    }
    return row[i];
}

/* What is between the rows must not be read. */
static inline void fill_rows(request *r, dice *d, row_source rows)
{
    for (uint32_t j = 0; j < r->query.n_items; j++) {
        for (uint32_t i = DIM; i < STRIDE; i++)
            r->x[j * STRIDE + i] = NAN;
        if (rows == FROM_POOL)
            memcpy(r->x + j * STRIDE, pool_row(below(d, POOL)), DIM * sizeof(float));
        else
            draw_row(d, r->x + j * STRIDE);
    }
}

static inline uint32_t row_index(const request *r, uint32_t item)
{
    uint32_t j = 0;
    while (r->query.item && r->query.item[j] != item)
        j++;
    return r->query.item ? j : item;
}

/* Rewards that are not clicks are eighths, so that their sums are exact in any order. */
static inline double draw_reward(dice *d, oltr_rewards kind, double chance)
{
    return kind == OLTR_CLICKS ? unit(d) < chance : (double)below(d, 65) / 8 - 4;
}

static inline double chance_of(const request *r, uint32_t item)
{
    const float *x = r->x + row_index(r, item) * STRIDE;
    return r->query.x ? 0.4 + 0.3 * (double)x[0] - 0.25 * (double)x[DIM - 1]
                      : 0.05 + 0.05 * (item * 7 % 13);
}

static inline void draw_feedback(dice *d, oltr_rewards kind, request *r)
{
    r->n_examined = below(d, r->k + 1);
    for (uint32_t s = 0; s < r->n_examined; s++)
        r->reward[s] = draw_reward(d, kind, chance_of(r, r->shown[s]));
}

/* A request for n of the policy's items, the first or named ones, and a list of some of them.  It
 * holds pointers to itself and must not be copied. */
static inline void draw_request_of(dice *d, const oltr_policy *p, uint32_t n, row_source rows,
                                   request *r)
{
    const oltr_settings *s = oltr_policy_settings(p);
    uint32_t place[MOST_ITEMS], most = n < 6 || one_in(d, 4) ? n : 6;
    r->query = (oltr_query){.n_items = n, .item = below(d, 2) ? r->item : NULL};
    draw_items(d, s->n_items, n, r->item);
    if (s->info->contextual) {
        r->query.dim = DIM;
        r->query.stride = STRIDE;
        r->query.x = r->x;
        fill_rows(r, d, rows);
    }
    bool all = n == s->n_items && !r->query.item && !r->query.x;
    r->asked = all && below(d, 2) ? NULL : &r->query;
    r->k = 1 + below(d, most);
    draw_items(d, n, r->k, place);
    for (uint32_t slot = 0; slot < r->k; slot++)
        r->shown[slot] = r->query.item ? r->item[place[slot]] : place[slot];
    draw_feedback(d, s->info->rewards, r);
}

/* Any number of candidates; all of them one time in four. */
static inline void draw_request(dice *d, const oltr_policy *p, row_source rows, request *r)
{
    uint32_t n = oltr_policy_settings(p)->n_items;
    draw_request_of(d, p, one_in(d, 4) ? n : 1 + below(d, n), rows, r);
}

/* All items, with rows of the pool, in one list that was examined to the end. */
static inline void whole_request(const oltr_policy *p, request *r)
{
    uint32_t n = oltr_policy_settings(p)->n_items;
    dice d = {1};
    draw_request_of(&d, p, n, FROM_POOL, r);
    r->query.item = NULL;
    r->asked = &r->query;
    r->k = r->n_examined = n;
    for (uint32_t i = 0; i < n; i++) {
        r->shown[i] = i;
        r->reward[i] = 0;
    }
}

static inline oltr_status learn_request(oltr_policy *p, request *r)
{
    oltr_ranking shown = {r->k, r->shown, NULL};
    oltr_feedback seen = {r->n_examined, r->reward};
    return oltr_learn(p, r->asked, &shown, &seen);
}

static inline void learn_rows(oltr_policy *p, uint64_t seed, uint32_t rounds, row_source rows)
{
    dice d = {seed};
    request r;
    for (uint32_t t = 0; t < rounds; t++) {
        draw_request(&d, p, rows, &r);
        expect(learn_request(p, &r), OLTR_OK);
    }
}

/* The same requests for the same seed, for any two policies with the same items. */
static inline void learn_many(oltr_policy *p, uint64_t seed, uint32_t rounds)
{
    learn_rows(p, seed, rounds, FROM_POOL);
}

static inline oltr_rng rng_of(uint64_t round)
{
    return oltr_rng_at(oltr_rng_make(7, 3), 0, round);
}

static inline oltr_status rank_with(const oltr_policy *p, const oltr_query *query, uint64_t round,
                                    uint32_t k, uint32_t *item, double *score)
{
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_ranking out = {k, item, score};
    assert_non_null(scratch);
    oltr_status status = oltr_rank(p, query, rng_of(round), scratch, &out);
    oltr_scratch_free(scratch);
    return status;
}

/* ---- lists and beliefs */

static inline bool is_candidate(const oltr_query *query, uint32_t n_items, uint32_t item)
{
    if (!query || !query->item)
        return item < (query ? query->n_items : n_items);
    for (uint32_t j = 0; j < query->n_items; j++)
        if (query->item[j] == item)
            return true;
    return false;
}

/* Whether the best item may be in another slot than the first. */
static inline bool moves_the_best(const oltr_policy_info *info)
{
    return param_index(info, "examine1") < info->n_params;
}

/* Distinct candidates in order of their scores, which are numbers; an item that was never seen may
 * have an infinite one. */
static inline void assert_valid_list(const oltr_policy *p, const oltr_query *query, uint32_t k,
                                     const uint32_t *item, const double *score)
{
    const oltr_settings *s = oltr_policy_settings(p);
    bool shown[MOST_ITEMS] = {false};
    for (uint32_t slot = 0; slot < k; slot++) {
        if (!is_candidate(query, s->n_items, item[slot]) || shown[item[slot]])
            fail_msg("slot %u of %u shows item %u, expected a candidate that was not shown before",
                     slot, k, item[slot]);
        shown[item[slot]] = true;
        if (isnan(score[slot]) || (s->info->contextual && !isfinite(score[slot])) ||
            (slot && score[slot] > score[slot - 1] && !moves_the_best(s->info)))
            fail_msg("slot %u of %u has score %g, expected a number not above the last one", slot,
                     k, score[slot]);
    }
}

/* Means and deviations are numbers, where the kind predicts. */
static inline void assert_numbers(const oltr_policy *p, const oltr_query *query, const char *what)
{
    double mean[MOST_ITEMS], sd[MOST_ITEMS];
    uint32_t n = query ? query->n_items : oltr_policy_settings(p)->n_items;
    if (!oltr_policy_settings(p)->info->can_predict)
        return;
    expect(oltr_predict(p, query, mean, sd), OLTR_OK);
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(mean[i]) || !isfinite(sd[i]) || sd[i] < 0)
            fail_msg("%s: candidate %u has mean %g and sd %g, expected numbers", what, i, mean[i],
                     sd[i]);
}

/* A valid list, and the same one again from the same generator, without scores. */
static inline void rank_and_check(const oltr_policy *p, const oltr_query *query, uint64_t round,
                                  uint32_t k)
{
    uint32_t item[MOST_ITEMS], again[MOST_ITEMS];
    double score[MOST_ITEMS];
    expect(rank_with(p, query, round, k, item, score), OLTR_OK);
    assert_valid_list(p, query, k, item, score);
    expect(rank_with(p, query, round, k, again, NULL), OLTR_OK);
    assert_memory_equal(item, again, k * sizeof *item);
}

/* The same lists and scores, to the bit, for a few requests. */
static inline void assert_same_lists(const oltr_policy *p, const oltr_policy *q)
{
    dice d = {99};
    for (uint64_t round = 0; round < 5; round++) {
        request r;
        uint32_t x[MOST_ITEMS], y[MOST_ITEMS];
        double one[MOST_ITEMS], other[MOST_ITEMS];
        draw_request(&d, p, NEVER_AGAIN, &r);
        expect(rank_with(p, r.asked, round, r.query.n_items, x, one), OLTR_OK);
        expect(rank_with(q, r.asked, round, r.query.n_items, y, other), OLTR_OK);
        assert_memory_equal(x, y, r.query.n_items * sizeof *x);
        assert_memory_equal(one, other, r.query.n_items * sizeof *one);
    }
}

/* A sound policy that ranks, predicts numbers, learns, saves and loads. */
static inline void assert_usable(oltr_policy *p, const char *what)
{
    clock_t begun = clock();
    dice d = {64};
    oltr_error error = {OLTR_OK, ""};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("%s: %s", what, error.msg);
    for (uint64_t round = 0; round < 3; round++) {
        request r;
        draw_request(&d, p, FROM_POOL, &r);
        rank_and_check(p, r.asked, round, r.query.n_items);
        assert_numbers(p, r.asked, what);
        expect(learn_request(p, &r), OLTR_OK);
        assert_swift(begun, what);
    }
    oltr_policy *copy = copy_of(p);
    assert_true(same_state(p, copy));
    oltr_policy_free(copy);
}

/* ---- tests of variants */

/* `run` on every variant that `applies` to (NULL: all). */
static inline void add_for_variants(suite *s, const variant_list *list, const char *check,
                                    CMUnitTestFunction run, bool (*applies)(const variant *))
{
    for (uint32_t i = 0; i < list->n; i++)
        if (!applies || applies(&list->at[i]))
            add_test(s, check, list->at[i].name, run, &list->at[i]);
}

#define ON_VARIANTS(s, list, f) add_for_variants(s, list, #f, f, NULL)
#define ON_SOME_VARIANTS(s, list, f, applies) add_for_variants(s, list, #f, f, applies)

#endif
