/* normaliser.c - the normaliser against a slow twin in double, against numbers worked out by hand,
 * and against hostile files. */
#include "lab/data/normaliser.h"

#include <float.h>
#include <stdio.h>

#include "engine/base/bytes.h"
#include "lab/data/dataset.h"
#include "support/unit.h"

enum { DIM = 7 };
static const char *const path = "normaliser.test.oltr";

static oltr_dataset *dataset_of(uint32_t n_queries, const uint32_t *documents, uint32_t dim)
{
    uint32_t n_rows = 0;
    for (uint32_t q = 0; q < n_queries; q++)
        n_rows += documents[q];
    oltr_dataset *d = dataset_new(n_queries, n_rows, dim, NULL);
    assert_non_null(d);
    for (uint32_t q = 0; q < n_queries; q++) {
        dataset_query(d)[q] = 10 + q;
        dataset_first_row(d)[q + 1] = dataset_first_row(d)[q] + documents[q];
    }
    for (uint32_t i = 0; i < n_rows; i++)
        dataset_grade(d)[i] = (uint8_t)(i % 5);
    return d;
}

/* Columns: 0 heavy-tailed, 1 sparse, 2 constant, 3 nearly constant, 4 small, 5 negative, 6 with
 * markers. */
static oltr_dataset *random_data(uint64_t seed)
{
    static const uint32_t documents[] = {5, 1, 40, 17, 0, 63};
    dice from = {seed};
    oltr_dataset *d = dataset_of(6, documents, DIM);
    for (uint32_t i = 0; i < d->n_rows; i++) {
        float *x = dataset_x(d) + (size_t)i * DIM;
        x[0] = (float)log_uniform(&from, 1e-3, 1e8);
        x[1] = one_in(&from, 20) ? (float)below(&from, 9) : 0;
        x[2] = 3.5f;
        x[3] = 100 + (float)below(&from, 2) * 0x1p-17f;
        x[4] = (float)unit(&from);
        x[5] = (float)-unit(&from) * 70;
        x[6] = one_in(&from, 10) ? FLT_MAX : (float)unit(&from) * 5;
    }
    return d;
}

static double squashed(float x)
{
    return x < 0 ? -log(1 + fabs((double)x)) : log(1 + (double)x);
}

static bool measured(float x)
{
    return fabsf(x) < FLT_MAX;
}

/* ---- standard */

typedef struct slow_column {
    double mean, sd, low, high;
} slow_column;

/* Two passes, in the plainest way. */
static slow_column slow_moments(const oltr_dataset *d, uint32_t j)
{
    slow_column c = {0, 0, 1e9, -1e9};
    double n = 0;
    for (uint32_t i = 0; i < d->n_rows; i++) {
        float x = d->x[(size_t)i * d->dim + j];
        if (!measured(x))
            continue;
        n++;
        c.mean += squashed(x);
        c.low = fmin(c.low, squashed(x));
        c.high = fmax(c.high, squashed(x));
    }
    c.mean /= n;
    for (uint32_t i = 0; i < d->n_rows; i++) {
        float x = d->x[(size_t)i * d->dim + j];
        c.sd += measured(x) ? (squashed(x) - c.mean) * (squashed(x) - c.mean) / n : 0;
    }
    c.sd = sqrt(c.sd);
    return c;
}

static void slow_row(const slow_column *c, const float *x, const uint32_t *column, uint32_t dim,
                     double *out)
{
    for (uint32_t i = 0; i < dim; i++) {
        const slow_column *k = &c[column[i]];
        double value = fmin(fmax(squashed(x[column[i]]), k->low), k->high);
        out[i] = (value - k->mean) / k->sd;
    }
}

static double norm(const double *x, uint32_t dim)
{
    double squares = 0;
    for (uint32_t i = 0; i < dim; i++)
        squares += x[i] * x[i];
    return sqrt(squares);
}

static double norm_of_floats(const float *x, uint32_t dim)
{
    double squares = 0;
    for (uint32_t i = 0; i < dim; i++)
        squares += (double)x[i] * x[i];
    return sqrt(squares);
}

static void standard_is_its_slow_twin(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        oltr_dataset *train = random_data(seed), *test = random_data(seed + 100);
        static const uint32_t kept[] = {0, 1, 4, 5, 6}; /* 2 is constant, 3 too nearly so */
        slow_column c[DIM];
        for (uint32_t j = 0; j < DIM; j++)
            c[j] = slow_moments(train, j);
        normaliser *n = normaliser_fit(train, NORMALISE_STANDARD, NULL);
        assert_non_null(n);
        assert_int_equal(n->dim_in, DIM);
        assert_int_equal(n->dim, 5);
        assert_memory_equal(n->column, kept, sizeof kept);
        double longest = 0, row[DIM];
        for (uint32_t i = 0; i < train->n_rows; i++) {
            slow_row(c, train->x + (size_t)i * DIM, kept, 5, row);
            longest = fmax(longest, norm(row, 5));
        }
        assert_true(fabs(n->longest / longest - 1) < 1e-12);
        const oltr_dataset *splits[] = {train, test};
        for (int s = 0; s < 2; s++) {
            oltr_dataset *to = normaliser_apply(n, splits[s], NULL);
            assert_non_null(to);
            double largest = 0;
            for (uint32_t i = 0; i < to->n_rows; i++) {
                slow_row(c, splits[s]->x + (size_t)i * DIM, kept, 5, row);
                double by = 1 / fmax(longest, norm(row, 5));
                for (uint32_t k = 0; k < 5; k++)
                    assert_true(fabs(to->x[(size_t)i * 5 + k] - row[k] * by) < 1e-6);
                double length = norm_of_floats(to->x + (size_t)i * 5, 5);
                assert_true(length <= 1);
                largest = fmax(largest, length);
            }
            assert_true(s == 1 || largest > 1 - 1e-6);
            oltr_dataset_free(to);
        }
        normaliser_free(n);
        oltr_dataset_free(train);
        oltr_dataset_free(test);
    }
}

/* One feature, e - 1 and 1 - e in turn: squashed to 1 and -1, mean 0, deviation 1, norm 1. */
static void standard_by_hand(void **state)
{
    static const uint32_t documents[] = {4};
    oltr_dataset *d = dataset_of(1, documents, 1);
    double e = exp(1);
    for (int i = 0; i < 4; i++)
        dataset_x(d)[i] = (float)(i % 2 ? 1 - e : e - 1);
    normaliser *n = normaliser_fit(d, NORMALISE_STANDARD, NULL);
    assert_non_null(n);
    assert_true(fabs(n->mean[0]) < 1e-7 && fabs(n->sd[0] - 1) < 1e-7 &&
                fabs(n->longest - 1) < 1e-7);
    oltr_dataset *to = normaliser_apply(n, d, NULL);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(to->x[i] - (i % 2 ? -1 : 1)) < 1e-6);
    assert_memory_equal(to->grade, d->grade, 4);
    assert_int_equal(to->query[0], 10);
    oltr_dataset_free(to);
    normaliser_free(n);
    oltr_dataset_free(d);
}

/* The largest floats change nothing for the rows without one, and take the place of the largest
 * measurement. */
static void markers_do_not_poison(void **state)
{
    static const uint32_t documents[] = {100};
    dice from = {5};
    oltr_dataset *clean = dataset_of(1, documents, 2), *marked = dataset_of(1, documents, 2);
    for (uint32_t i = 0; i < 100; i++) {
        float a = (float)unit(&from), b = (float)unit(&from);
        dataset_x(clean)[2 * i] = dataset_x(marked)[2 * i] = i < 50 ? a : 0.25f;
        dataset_x(clean)[2 * i + 1] = dataset_x(marked)[2 * i + 1] = b;
    }
    dataset_x(marked)[199] = FLT_MAX;
    dataset_x(marked)[197] = INFINITY;
    dataset_x(marked)[195] = -FLT_MAX;
    normaliser *n = normaliser_fit(clean, NORMALISE_STANDARD, NULL),
               *m = normaliser_fit(marked, NORMALISE_STANDARD, NULL);
    assert_true(m->longest < 1.2 * n->longest);
    assert_true(fabs(m->sd[1] / n->sd[1] - 1) < 0.1);
    oltr_dataset *to = normaliser_apply(m, marked, NULL);
    float high = 0, low = 0;
    for (uint32_t i = 0; i < 97; i++) {
        high = fmaxf(high, to->x[2 * i + 1]);
        low = fminf(low, to->x[2 * i + 1]);
    }
    assert_true(to->x[199] == high && to->x[197] == high && to->x[195] == low);
    oltr_dataset_free(to);
    normaliser_free(n);
    normaliser_free(m);
    oltr_dataset_free(clean);
    oltr_dataset_free(marked);
}

/* ---- minmax and none */

static void minmax_is_its_slow_twin(void **state)
{
    oltr_dataset *d = random_data(3);
    normaliser *n = normaliser_fit(d, NORMALISE_MINMAX, NULL);
    static const uint32_t kept[] = {0, 1, 3, 4, 5, 6};
    assert_int_equal(n->dim, 6);
    assert_memory_equal(n->column, kept, sizeof kept);
    oltr_dataset *to = normaliser_apply(n, d, NULL);
    for (uint32_t q = 0; q < d->n_queries; q++)
        for (uint32_t k = 0; k < 6; k++) {
            double low = 1e300, high = -1e300;
            for (uint32_t i = d->first_row[q]; i < d->first_row[q + 1]; i++) {
                float x = d->x[(size_t)i * DIM + kept[k]];
                low = measured(x) ? fmin(low, x) : low;
                high = measured(x) ? fmax(high, x) : high;
            }
            for (uint32_t i = d->first_row[q]; i < d->first_row[q + 1]; i++) {
                float x = d->x[(size_t)i * DIM + kept[k]], z = to->x[(size_t)i * 6 + k];
                double want = low > high     ? 0
                              : !measured(x) ? 1
                              : high > low   ? (x - low) / (high - low)
                                             : 0;
                assert_true(fabs(z - want) < 1e-7);
            }
        }
    oltr_dataset_free(to);
    normaliser_free(n);
    oltr_dataset_free(d);
}

static void none_changes_nothing(void **state)
{
    oltr_dataset *d = random_data(4);
    normaliser *n = normaliser_fit(d, NORMALISE_NONE, NULL);
    oltr_dataset *to = normaliser_apply(n, d, NULL);
    assert_int_equal(to->dim, DIM);
    assert_memory_equal(to->x, d->x, (size_t)d->n_rows * DIM * sizeof *d->x);
    assert_memory_equal(to->first_row, d->first_row, 7 * sizeof *d->first_row);
    oltr_dataset_free(to);
    normaliser_free(n);
    oltr_dataset_free(d);
}

/* ---- refusals */

static void refusals(void **state)
{
    static const uint32_t documents[] = {3}, nothing[] = {0};
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *flat = dataset_of(1, documents, 2), *empty = dataset_of(1, nothing, 2),
                 *other = dataset_of(1, documents, 3);
    for (int kind = NORMALISE_STANDARD; kind <= NORMALISE_MINMAX; kind++) {
        assert_null(normaliser_fit(flat, (normaliser_kind)kind, &error));
        assert_int_equal(error.code, OLTR_EFEATURE);
        assert_non_null(strstr(error.msg, "every feature is constant"));
    }
    assert_null(normaliser_fit(empty, NORMALISE_STANDARD, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
    dataset_x(flat)[0] = 1;
    normaliser *n = normaliser_fit(flat, NORMALISE_STANDARD, NULL);
    assert_non_null(n);
    assert_null(normaliser_apply(n, other, &error));
    assert_int_equal(error.code, OLTR_EMISMATCH);
    assert_non_null(strstr(error.msg, "2 features, and these rows have 3"));
    dataset_x(flat)[3] = NAN;
    assert_null(normaliser_apply(n, flat, &error));
    assert_null(normaliser_fit(flat, NORMALISE_STANDARD, &error));
    assert_int_equal(error.code, OLTR_EFEATURE);
    assert_non_null(strstr(error.msg, "row 2: feature 2 is not a number"));
    normaliser_kind kind;
    assert_int_equal(normaliser_kind_by_name("minmax", &kind, &error), OLTR_OK);
    assert_int_equal(kind, NORMALISE_MINMAX);
    assert_int_equal(normaliser_kind_by_name("maxmin", &kind, &error), OLTR_EVALUE);
    normaliser_free(n);
    oltr_dataset_free(flat);
    oltr_dataset_free(empty);
    oltr_dataset_free(other);
}

/* ---- files */

static size_t read_back(unsigned char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static normaliser *load_bytes(const unsigned char *bytes, size_t size, oltr_error *error)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return normaliser_load(path, error);
}

static void comes_back_from_a_file(void **state)
{
    oltr_dataset *train = random_data(1), *test = random_data(2);
    for (int kind = 0; kind < NORMALISER_KINDS; kind++) {
        normaliser *n = normaliser_fit(train, (normaliser_kind)kind, NULL);
        assert_int_equal(normaliser_save(n, path, NULL), OLTR_OK);
        normaliser *m = normaliser_load(path, NULL);
        assert_non_null(m);
        assert_int_equal(m->kind, kind);
        assert_int_equal(m->dim_in, DIM);
        oltr_dataset *a = normaliser_apply(n, test, NULL), *b = normaliser_apply(m, test, NULL);
        assert_memory_equal(a->x, b->x, (size_t)a->n_rows * a->dim * sizeof *a->x);
        oltr_dataset_free(a);
        oltr_dataset_free(b);
        normaliser_free(n);
        normaliser_free(m);
    }
    remove(path);
    oltr_dataset_free(train);
    oltr_dataset_free(test);
}

static void seal(unsigned char *bytes, size_t size)
{
    writer w = {bytes + size - 8, 8, 0};
    put_u64(&w, crc64(bytes, size - 8));
}

static void put_double(unsigned char *bytes, double value)
{
    writer w = {bytes, 8, 0};
    put_f64s(&w, &value, 1);
}

static void damaged_files_are_refused(void **state)
{
    enum { ROOM = 4096, HEAD = 32 };
    unsigned char bytes[ROOM], changed[ROOM];
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *train = random_data(1);
    normaliser *n = normaliser_fit(train, NORMALISE_STANDARD, NULL);
    assert_int_equal(normaliser_save(n, path, NULL), OLTR_OK);
    size_t size = read_back(bytes, ROOM);
    assert_int_equal(size, HEAD + 5 * (4 + 4 * 8) + 8);
    for (size_t cut = 0; cut < size; cut++)
        assert_null(load_bytes(bytes, cut, &error));
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(changed, bytes, size);
        changed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_null(load_bytes(changed, size, &error));
    }
    /* with a right checksum, but with what no fit could have given */
    static const struct {
        size_t at;
        double value;
        oltr_status code;
    } lies[] = {
        {24, 0, OLTR_ECORRUPT},
        {24, NAN, OLTR_ECORRUPT},
        {24, INFINITY, OLTR_ECORRUPT}, /* longest */
        {HEAD + 20, 1e9, OLTR_ECORRUPT},
        {HEAD + 20, NAN, OLTR_ECORRUPT}, /* mean */
        {HEAD + 60, 0, OLTR_ECORRUPT},
        {HEAD + 60, -1, OLTR_ECORRUPT},
        {HEAD + 60, NAN, OLTR_ECORRUPT}, /* sd */
        {HEAD + 100, -1e9, OLTR_ECORRUPT},
        {HEAD + 140, 1e9, OLTR_ECORRUPT}, /* low, high */
    };
    for (size_t i = 0; i < COUNT(lies); i++) {
        memcpy(changed, bytes, size);
        put_double(changed + lies[i].at, lies[i].value);
        seal(changed, size);
        assert_null(load_bytes(changed, size, &error));
        assert_int_equal(error.code, lies[i].code);
    }
    static const struct {
        size_t at;
        uint32_t value;
        oltr_status code;
    } words[] = {
        {8, 2, OLTR_EVERSION},    {8, 0, OLTR_ECORRUPT},
        {12, 3, OLTR_ECORRUPT},   {12, 1, OLTR_ECORRUPT},
        {16, 4, OLTR_ECORRUPT},   {20, 0, OLTR_ECORRUPT},
        {20, 6, OLTR_ECORRUPT},   {20, 0x80000005u, OLTR_ECORRUPT},
        {HEAD, 1, OLTR_ECORRUPT}, {HEAD + 16, 7, OLTR_ECORRUPT},
        {0, 0, OLTR_EMAGIC},
    };
    for (size_t i = 0; i < COUNT(words); i++) {
        memcpy(changed, bytes, size);
        writer w = {changed + words[i].at, 4, 0};
        put_u32(&w, words[i].value);
        seal(changed, size);
        assert_null(load_bytes(changed, size, &error));
        assert_int_equal(error.code, words[i].code);
    }
    normaliser_free(n);
    oltr_dataset_free(train);
    remove(path);
    assert_null(normaliser_load(path, &error));
    assert_int_equal(error.code, OLTR_EIO);
    assert_null(normaliser_load(".", &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_is_its_slow_twin), cmocka_unit_test(standard_by_hand),
        cmocka_unit_test(markers_do_not_poison),     cmocka_unit_test(minmax_is_its_slow_twin),
        cmocka_unit_test(none_changes_nothing),      cmocka_unit_test(refusals),
        cmocka_unit_test(comes_back_from_a_file),    cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
