/* generate.c - generated data: the same bytes everywhere (pinned), sizes and label shares as
 * documented, learnable; and the text of a dataset, which must be read back equal to the bit. */
#define _GNU_SOURCE 1
#include "lab/data/generate.h"

#include <float.h>

#include "engine/base/bytes.h"
#include "lab/data/dataset.h"
#include "lab/data/write_text.h"
#include "support/texts.h"

static oltr_status dataset_write_text(const oltr_dataset *dataset, const char *path,
                                      oltr_error *error)
{
    dataset_text *text = dataset_text_open(path, error);
    if (!text)
        return error ? error->code : OLTR_EIO;
    oltr_status status = dataset_text_add(text, dataset, error);
    oltr_status closed =
        dataset_text_close(text, status == OLTR_OK, status == OLTR_OK ? error : NULL);
    return status != OLTR_OK ? status : closed;
}

static const char *const path = "generate.test.txt";

static oltr_dataset *made(const char *shape, const char *split, uint32_t n_queries, uint64_t seed)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *d = dataset_generate(shape, split, n_queries, seed, &error);
    if (!d)
        fail_msg("%s", error.msg);
    return d;
}

/* ---- the bytes */

/* Every machine, compiler and kernel must make these. */
static void bytes_are_pinned(void **state)
{
    static const struct {
        const char *shape, *split;
        uint64_t seed, crc;
    } pinned[] = {
        {"web30k", "train", 1, 0x7ce5615f9f4d84e5},
        {"web30k", "test", 2, 0x30792418879ccb8e},
        {"istella", "train", 1, 0x7885cb5944842605},
        {"istella", "vali", 2, 0x7e98fcad011432dc},
    };
    for (size_t i = 0; i < COUNT(pinned); i++) {
        oltr_dataset *d = made(pinned[i].shape, pinned[i].split, 5, pinned[i].seed);
        assert_int_equal(dataset_write_text(d, path, NULL), OLTR_OK);
        size_t size;
        unsigned char *bytes = read_bytes(path, &size);
        uint64_t crc = crc64(bytes, size);
        if (crc != pinned[i].crc)
            fail_msg("%s %s seed %d: the text is now 0x%016llx", pinned[i].shape, pinned[i].split,
                     (int)pinned[i].seed, (unsigned long long)crc);
        free(bytes);
        oltr_dataset_free(d);
    }
    remove(path);
}

static void text_reads_back_equal(void **state)
{
    for (uint32_t i = 0; i < oltr_shape_count(); i++) {
        oltr_error error = {OLTR_OK, ""};
        oltr_read_report report;
        oltr_dataset *d = made(oltr_shape_at(i)->name, "vali", 12, 9);
        assert_int_equal(dataset_write_text(d, path, NULL), OLTR_OK);
        oltr_dataset *back = oltr_dataset_read(path, NULL, &report, &error);
        if (!back)
            fail_msg("%s", error.msg);
        assert_same_dataset(d, back);
        uint64_t markers = 0;
        for (size_t k = 0; k < (size_t)d->n_rows * d->dim; k++)
            markers += d->x[k] >= FLT_MAX;
        assert_int_equal(report.clamped, markers);
        assert_true((markers > 0) == (strcmp(oltr_shape_at(i)->name, "istella") == 0));
        oltr_dataset_free(back);
        oltr_dataset_free(d);
    }
    remove(path);
}

/* A smaller set is the beginning of a larger one, and parts are parts. */
static void queries_stand_alone(void **state)
{
    static const uint32_t begin[] = {0, 1, 2, 3}, middle[] = {4, 5, 6};
    oltr_dataset *all = made("web30k", "train", 9, 3), *few = made("web30k", "train", 4, 3);
    oltr_dataset *first = dataset_pick(all, begin, 4, NULL),
                 *picked = dataset_pick(all, middle, 3, NULL);
    oltr_dataset *part = dataset_generate_part("web30k", "train", 4, 3, 3, NULL);
    assert_same_dataset(few, first);
    assert_same_dataset(part, picked);
    oltr_dataset *other = made("web30k", "test", 4, 3), *seed = made("web30k", "train", 4, 4);
    assert_true(other->n_rows != few->n_rows || memcmp(other->x, few->x, 4096) != 0);
    assert_true(seed->n_rows != few->n_rows || memcmp(seed->x, few->x, 4096) != 0);
    assert_true(other->query[0] != few->query[0] && other->query[0] != few->query[1]);
    oltr_dataset *sets[] = {all, few, first, picked, part, other, seed};
    for (size_t i = 0; i < COUNT(sets); i++)
        oltr_dataset_free(sets[i]);
}

/* ---- the facts */

typedef struct facts {
    const char *shape;
    uint32_t n_queries, dim;
    double documents, share[5], zeros, constant;
} facts;

static void check_facts(const facts *f)
{
    oltr_dataset *d = made(f->shape, "train", f->n_queries, 1);
    double rows = d->n_rows, share[5] = {0}, zeros = 0, constant = 0;
    assert_int_equal(d->dim, f->dim);
    assert_true(fabs(rows / f->n_queries / f->documents - 1) < 0.05);
    for (uint32_t i = 0; i < d->n_rows; i++)
        share[d->grade[i]] += 100 / rows;
    for (int g = 0; g < 5; g++)
        if (fabs(share[g] - f->share[g]) > 0.3 + 0.04 * f->share[g])
            fail_msg("%s: %.2f %% of the labels are %d", f->shape, share[g], g);
    for (uint32_t j = 0; j < d->dim; j++) {
        bool same = true;
        for (uint32_t i = 0; i < d->n_rows; i++) {
            float x = d->x[(size_t)i * d->dim + j];
            assert_true(isfinite(x));
            zeros += !(x > 0 || x < 0);
            same &= !(x > d->x[j] || x < d->x[j]);
        }
        constant += same;
    }
    assert_true(fabs(zeros / rows / d->dim - f->zeros) < 0.03);
    assert_true(fabs(constant - f->constant) < 0.5);
    oltr_dataset_free(d);
}

static void facts_are_as_documented(void **state)
{
    static const facts web30k = {"web30k", 400, 136, 120, {51.5, 32.5, 13.4, 1.9, 0.8}, 0.37, 0};
    static const facts istella = {"istella", 200, 220, 316, {96.3, 1.2, 1.2, 0.8, 0.5}, 0.51, 4};
    check_facts(&web30k);
    check_facts(&istella);
}

/* ---- how hard it is */

static double gain(const oltr_dataset *d, uint32_t row)
{
    return (double)((1 << d->grade[row]) - 1);
}

/* The ten highest of a query, by selection; `sign` turns the order round. */
static double dcg(const oltr_dataset *d, uint32_t q, const double *score)
{
    uint32_t first = d->first_row[q], n = d->first_row[q + 1] - first;
    unsigned char *taken = exactly(n, 1);
    double sum = 0;
    for (uint32_t slot = 0; slot < 10 && slot < n; slot++) {
        uint32_t best = n;
        for (uint32_t i = 0; i < n; i++)
            if (!taken[i] && (best == n || score[first + i] > score[first + best]))
                best = i;
        taken[best] = 1;
        sum += gain(d, first + best) / log2(slot + 2.0);
    }
    free(taken);
    return sum;
}

static double ndcg(const oltr_dataset *d, const double *score)
{
    double *ideal = exactly(d->n_rows, sizeof *ideal), sum = 0, n = 0;
    for (uint32_t i = 0; i < d->n_rows; i++)
        ideal[i] = gain(d, i);
    for (uint32_t q = 0; q < d->n_queries; q++) {
        double best = dcg(d, q, ideal);
        sum += best > 0 ? dcg(d, q, score) / best : 0;
        n += best > 0;
    }
    free(ideal);
    return sum / n;
}

/* No better than chance, one good feature, many of them in a plain sum: each step must be worth
 * something, none all. */
static void relevance_shows_in_the_features(void **state)
{
    oltr_dataset *d = made("web30k", "test", 150, 1);
    double *chance = exactly(d->n_rows, sizeof *chance), *one = exactly(d->n_rows, sizeof *one);
    double *many = exactly(d->n_rows, sizeof *many);
    dice from = {1};
    for (uint32_t i = 0; i < d->n_rows; i++) {
        const float *x = d->x + (size_t)i * d->dim;
        chance[i] = unit(&from);
        one[i] = (double)x[107]; /* BM25 of the title */
        for (uint32_t j = 105; j < 110; j++)
            many[i] += log1p(fabs((double)x[j]));
        many[i] +=
            0.5 * log1p((double)x[134]) + 0.5 * log1p((double)x[135]) + 0.2 * log1p((double)x[127]);
    }
    double a = ndcg(d, chance), b = ndcg(d, one), c = ndcg(d, many);
    if (!(a > 0.15 && a < 0.22 && b > 0.28 && b < 0.37 && c > b + 0.04 && c < 0.5))
        fail_msg("NDCG@10: chance %.3f, one feature %.3f, a sum of eight %.3f", a, b, c);
    free(chance);
    free(one);
    free(many);
    oltr_dataset_free(d);
}

/* ---- numbers */

static void number_is(float x, const char *want)
{
    char text[NUMBER_ROOM + 1];
    text[write_number(x, text)] = '\0';
    assert_string_equal(text, want);
}

static void numbers_read_back(void **state)
{
    number_is(0, "0");
    number_is(-0.0f, "-0");
    number_is(1, "1");
    number_is(0.1f, "0.1");
    number_is(-72.906189f, "-72.90619");
    number_is(8e-6f, "0.000008");
    number_is(1e-7f, "1.00000001e-07");
    number_is(16777216, "16777216");
    number_is(0x1p62f, "4611686018427387904");
    number_is(0x1p64f, "1.84467441e+19");
    number_is(FLT_MAX, "1.79769313486e+308");
    number_is(-FLT_MAX, "-1.79769313486e+308");
    dice from = {7};
    for (int i = 0; i < 100000 * EFFORT; i++) {
        uint32_t bits = roll32(&from);
        float x, back;
        memcpy(&x, &bits, sizeof x);
        if (i % 2)
            x = (float)below(&from, 1u << 30) / 1e6f;
        char text[NUMBER_ROOM + 1];
        if (!isfinite(x) || fabsf(x) >= FLT_MAX)
            continue;
        text[write_number(x, text)] = '\0';
        back = strtof(text, NULL);
        if (memcmp(&back, &x, sizeof x) != 0)
            fail_msg("%a is written as %s", (double)x, text);
    }
}

/* ---- stopping */

static int stop_after(void *context)
{
    return (*(int *)context)-- <= 0;
}

static void generation_can_be_stopped(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    int left = 3, many = 100;
    oltr_read_options options = {.stop = stop_after, .context = &left};
    (void)state;
    assert_null(dataset_generate_watched("web30k", "train", 5, 1, &options, &error));
    assert_int_equal(error.code, OLTR_EINTERRUPTED);
    assert_int_equal(left, -1); /* asked before each of the first four queries */
    options.context = &many;
    oltr_dataset *d = dataset_generate_watched("web30k", "train", 5, 1, &options, &error),
                 *plain = made("web30k", "train", 5, 1);
    assert_same_dataset(d, plain);
    oltr_dataset_free(d);
    oltr_dataset_free(plain);
}

/* ---- refusals */

static void refusals(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(dataset_generate("web03k", "train", 1, 1, &error));
    assert_int_equal(error.code, OLTR_EVALUE);
    assert_non_null(strstr(error.msg, "did you mean `web30k`?"));
    assert_null(dataset_generate("zzzzzzzzzz", "train", 1, 1, &error));
    assert_non_null(strstr(error.msg, "there are web30k and istella"));
    assert_null(dataset_generate("web30k", "dev", 1, 1, &error));
    assert_non_null(strstr(error.msg, "train, vali and test"));
    assert_null(dataset_generate_part("web30k", "train", UINT32_MAX, 1, 1, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
    oltr_dataset *d = made("web30k", "train", 1, 1);
    assert_int_equal(dataset_write_text(d, "no-such-folder/x.txt", &error), OLTR_EIO);
    dataset_x(d)[3] = NAN;
    assert_int_equal(dataset_write_text(d, path, &error), OLTR_EFEATURE);
    assert_non_null(strstr(error.msg, "row 1: feature 4 is not finite"));
    assert_null(fopen(path, "rb"));
    oltr_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_pinned),
        cmocka_unit_test(text_reads_back_equal),
        cmocka_unit_test(queries_stand_alone),
        cmocka_unit_test(facts_are_as_documented),
        cmocka_unit_test(relevance_shows_in_the_features),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(generation_can_be_stopped),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
