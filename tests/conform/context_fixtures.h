/* context_fixtures.h - every policy with context in every setting worth a test, and requests whose
 * features change from round to round.
 *
 * What the three files conform/contextual*.c share: dice of their own, requests, snapshots as
 * values, and a second reading of the snapshot format that shares no code with the library.  The
 * policies come from the catalogue, not from a list, so a new one is tested from its first day.
 */
#ifndef CONFORM_CONTEXT_FIXTURES_H
#define CONFORM_CONTEXT_FIXTURES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oltr/oltr.h>

enum { ITEMS = 20, DIM = 4, STRIDE = 7, POOL = 40, MOST_VARIANTS = 160, MOST_TESTS = 4000 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- dice: splitmix64, so that no test leans on the generator it tests */

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

static inline void draw_distinct(dice *d, uint32_t of, uint32_t n, uint32_t *out)
{
    uint32_t all[POOL];
    assert_true(n <= of && of <= POOL);
    for (uint32_t i = 0; i < of; i++)
        all[i] = i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = i + below(d, of - i), held = all[i];
        out[i] = all[j];
        all[j] = held;
    }
}

/* A row a little shorter than 1, so that no setting refuses it. */
static inline void draw_row(dice *d, uint32_t dim, float *x)
{
    double square = 0, v[64];
    for (uint32_t i = 0; i < dim; i++) {
        v[i] = 2 * unit(d) - 0.7;
        square += v[i] * v[i];
    }
    double length = (0.5 + 0.49 * unit(d)) / sqrt(square);
    for (uint32_t i = 0; i < dim; i++)
        x[i] = (float)(length * v[i]);
}

static inline double logistic_of(double z)
{
    return 1 / (1 + exp(-z));
}

/* ---- variants: a kind and its parameters */

typedef struct variant {
    const oltr_policy_info *info;
    double value[OLTR_MAX_PARAMS];
    int at_bound; /* some number stands at its smallest or largest */
    char name[128];
} variant;

typedef struct variant_list {
    uint32_t n;
    variant at[MOST_VARIANTS];
} variant_list;

static inline int is_kind(const variant *v, const char *name)
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

static inline int chosen(const variant *v, const char *name, const char *choice)
{
    uint32_t i = param_index(v->info, name);
    return i < v->info->n_params &&
           strcmp(v->info->params[i].choices[(uint32_t)v->value[i]], choice) == 0;
}

static inline void name_variant(variant *v)
{
    int used = snprintf(v->name, sizeof v->name, "%s", v->info->name);
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

static inline void add_variant(variant_list *list, variant v)
{
    assert_true(list->n < MOST_VARIANTS);
    list->at[list->n++] = v;
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

static inline void add_choices(variant_list *list, const oltr_policy_info *info)
{
    variant v = plain_variant(info);
    for (uint32_t i = 0; i < info->n_params; i++)
        if (info->params[i].type == OLTR_CHOICE)
            v.value[i] = 0;
    do {
        name_variant(&v);
        add_variant(list, v);
    } while (next_choices(&v));
}

/* Every number at its bounds; but not a million rows, which would be a test of patience. */
static inline void add_bounds(variant_list *list, const oltr_policy_info *info)
{
    for (uint32_t i = 0; i < info->n_params; i++)
        for (int high = 0; high < 2 && info->params[i].type != OLTR_CHOICE; high++) {
            const oltr_param *p = &info->params[i];
            variant v = with(plain_variant(info), p->name,
                             !high                          ? p->min
                             : strcmp(p->name, "rows") == 0 ? 16
                                                            : p->max);
            v.at_bound = 1;
            add_variant(list, v);
        }
}

static inline void list_variants(variant_list *list)
{
    list->n = 0;
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        if (oltr_policy_info_at(i)->contextual) {
            add_choices(list, oltr_policy_info_at(i));
            add_bounds(list, oltr_policy_info_at(i));
        }
}

static inline oltr_settings settings_of(const variant *v, uint32_t n_items, uint32_t dim)
{
    oltr_settings s;
    assert_int_equal(oltr_settings_init(&s, v->info->name, n_items, NULL), OLTR_OK);
    memcpy(s.value, v->value, sizeof s.value);
    s.dim = dim;
    return s;
}

static inline oltr_policy *new_policy(const variant *v)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_settings s = settings_of(v, ITEMS, DIM);
    oltr_policy *p = oltr_policy_new(&s, &error);
    if (!p)
        fail_msg("%s: %s", v->name, error.msg);
    return p;
}

/* ---- requests: candidates with features, a list, and what was seen of it */

typedef enum row_source { FROM_POOL, NEVER_AGAIN } row_source;

typedef struct request {
    oltr_query query;
    uint32_t item[ITEMS], shown[ITEMS];
    uint32_t k, n_examined;
    double reward[ITEMS];
    float x[ITEMS * STRIDE];
} request;

/* The features of the pool, the same in all tests. */
static inline const float *pool_row(uint32_t i)
{
    static float row[POOL][DIM];
    static int drawn;
    dice d = {4711};
    for (uint32_t j = 0; !drawn && j < POOL; j++)
        draw_row(&d, DIM, row[j]);
    drawn = 1;
    return row[i];
}

/* What lies between the rows must not be read. */
static inline void fill_rows(request *r, dice *d, row_source source)
{
    for (uint32_t j = 0; j < r->query.n_items; j++) {
        for (uint32_t i = 0; i < STRIDE; i++)
            r->x[j * STRIDE + i] = NAN;
        if (source == FROM_POOL)
            memcpy(r->x + j * STRIDE, pool_row(below(d, POOL)), DIM * sizeof(float));
        else
            draw_row(d, DIM, r->x + j * STRIDE);
    }
}

static inline uint32_t row_index(const request *r, uint32_t item)
{
    uint32_t j = 0;
    while (r->query.item && r->query.item[j] != item)
        j++;
    return r->query.item ? j : item;
}

/* Clicks with a taste, as a user who reads on after a click; rewards that are not clicks are
 * eighths, whose sums are exact. */
static inline void draw_feedback(dice *d, oltr_rewards kind, request *r)
{
    r->n_examined = below(d, r->k + 1);
    for (uint32_t s = 0; s < r->n_examined; s++) {
        const float *x = r->x + row_index(r, r->shown[s]) * STRIDE;
        double taste = 0.4 + 0.3 * (double)x[0] - 0.25 * (double)x[DIM - 1];
        r->reward[s] = kind == OLTR_CLICKS ? unit(d) < taste : (double)below(d, 65) / 8 - 4;
    }
}

/* Any number of candidates, named or not, and a list of some of them.  The request holds pointers
 * to itself: it may not be copied. */
static inline void draw_request(dice *d, oltr_rewards kind, row_source source, request *r)
{
    uint32_t n = 1 + below(d, ITEMS), place[ITEMS];
    draw_distinct(d, ITEMS, n, r->item);
    r->query = (oltr_query){n, below(d, 2) ? r->item : NULL, DIM, STRIDE, r->x};
    fill_rows(r, d, source);
    r->k = 1 + below(d, n < 6 ? n : 6);
    draw_distinct(d, n, r->k, place);
    for (uint32_t s = 0; s < r->k; s++)
        r->shown[s] = r->query.item ? r->item[place[s]] : place[s];
    draw_feedback(d, kind, r);
}

static inline oltr_status learn_request(oltr_policy *p, request *r)
{
    oltr_ranking shown = {r->k, r->shown, NULL};
    oltr_feedback seen = {r->n_examined, r->reward};
    return oltr_learn(p, &r->query, &shown, &seen);
}

/* The same `rounds` requests for the same seed, whatever the policy. */
static inline void learn_many(oltr_policy *p, uint64_t seed, uint32_t rounds, row_source source)
{
    dice d = {seed};
    request r;
    for (uint32_t t = 0; t < rounds; t++) {
        draw_request(&d, oltr_policy_settings(p)->info->rewards, source, &r);
        assert_int_equal(learn_request(p, &r), OLTR_OK);
    }
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

static inline void assert_sound(const oltr_policy *p)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_check(p, &error) != OLTR_OK)
        fail_msg("after %llu rounds: %s", (unsigned long long)oltr_policy_rounds(p), error.msg);
}

static inline int near(double x, double y, double tolerance)
{
    return fabs(x - y) <= tolerance * fmax(1, fabs(y));
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

static inline image copy_image(const image *m)
{
    image copy = {m->size, malloc(m->size)};
    assert_non_null(copy.byte);
    memcpy(copy.byte, m->byte, m->size);
    return copy;
}

/* Compares, and gives both back. */
static inline int same_images(image x, image y)
{
    int same = x.size == y.size && memcmp(x.byte, y.byte, x.size) == 0;
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

/* ---- the format, read a second time */

enum { AT_VERSION = 8, AT_RESERVED = 12, AT_LENGTH = 16, AT_KIND = 24, MOST_SUMS = 16 };

typedef struct sum_field {
    size_t name, count, value; /* where they stand */
    uint64_t n;                /* how many numbers */
    char text[64];
} sum_field;

typedef struct anatomy {
    size_t items, dim, rounds, n_params, prior, n_sums, n_derived, checksum;
    uint32_t sums, derived;
    sum_field sum[MOST_SUMS], derived_array[MOST_SUMS];
} anatomy;

static inline uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

static inline void set_little(unsigned char *at, int bytes, uint64_t x)
{
    for (int i = 0; i < bytes; i++, x >>= 8)
        at[i] = (unsigned char)x;
}

static inline double number_at(const unsigned char *at)
{
    uint64_t bits = little(at, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void set_number(unsigned char *at, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    set_little(at, 8, bits);
}

/* CRC-64/XZ, four bits at a time. */
static inline uint64_t second_crc64(const unsigned char *at, size_t n)
{
    uint64_t crc = ~(uint64_t)0, table[16];
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xC96C5795D7870F42u : table[i] >> 1;
    }
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* Makes the length and the checksum right again. */
static inline void seal(image *m)
{
    set_little(m->byte + AT_LENGTH, 8, m->size);
    set_little(m->byte + m->size - 8, 8, second_crc64(m->byte, m->size - 8));
}

static inline size_t read_text(const unsigned char *byte, size_t at, char out[64])
{
    size_t n = (size_t)little(byte + at, 4);
    assert_true(n < 64);
    memcpy(out, byte + at + 4, n);
    out[n] = 0;
    return at + 4 + n;
}

/* Arrays with names and counts, from where their number stands; returns where they end. */
static inline size_t read_arrays(const image *m, size_t at, uint32_t *n, sum_field *array)
{
    *n = (uint32_t)little(m->byte + at, 4);
    assert_true(*n <= MOST_SUMS);
    at += 4;
    for (uint32_t i = 0; i < *n; i++) {
        sum_field *f = &array[i];
        f->name = at;
        f->count = read_text(m->byte, at, f->text);
        f->n = little(m->byte + f->count, 8);
        f->value = f->count + 8;
        at = f->value + 8 * (size_t)f->n;
    }
    return at;
}

/* Dissects a snapshot that is known to be good. */
static inline anatomy dissect(const image *m)
{
    anatomy a = {0};
    char text[64];
    a.items = read_text(m->byte, AT_KIND, text);
    a.dim = a.items + 4;
    a.rounds = a.dim + 4;
    a.n_params = a.rounds + 8;
    a.prior = a.n_params + 4;
    for (uint64_t i = little(m->byte + a.n_params, 4); i > 0; i--)
        a.prior = read_text(m->byte, a.prior, text) + 8;
    assert_int_equal(little(m->byte + a.prior, 4), 0);
    a.n_sums = a.prior + 4;
    a.n_derived = read_arrays(m, a.n_sums, &a.sums, a.sum);
    a.checksum = read_arrays(m, a.n_derived, &a.derived, a.derived_array);
    assert_int_equal(a.checksum + 8, m->size);
    return a;
}

/* The sum of that name, or NULL. */
static inline const sum_field *sum_named(const anatomy *a, const char *name)
{
    for (uint32_t s = 0; s < a->sums; s++)
        if (strcmp(a->sum[s].text, name) == 0)
            return &a->sum[s];
    return NULL;
}

/* ---- a cmocka group that is put together at run time: each pair of a check and a variant is a
 * test of its own */

typedef struct suite {
    size_t n;
    struct CMUnitTest test[MOST_TESTS]; /* those without a name are not run */
    char name[MOST_TESTS][200];
} suite;

static inline void add_test(suite *s, const char *check, const char *subject,
                            CMUnitTestFunction run, const void *state)
{
    union {
        const void *given;
        void *passed;
    } same = {state};
    assert_true(s->n < MOST_TESTS);
    snprintf(s->name[s->n], sizeof s->name[0], "%s: %s", check, subject);
    s->test[s->n] = (struct CMUnitTest){s->name[s->n], run, NULL, NULL, same.passed};
    s->n++;
}

static inline void add_for_variants(suite *s, const variant_list *list, const char *check,
                                    CMUnitTestFunction run, int (*applies)(const variant *))
{
    for (uint32_t i = 0; i < list->n; i++)
        if (!applies || applies(&list->at[i]))
            add_test(s, check, list->at[i].name, run, &list->at[i]);
}

#define ON_VARIANTS(s, list, f) add_for_variants(s, list, #f, f, NULL)
#define ON_SOME_VARIANTS(s, list, f, applies) add_for_variants(s, list, #f, f, applies)

#endif
