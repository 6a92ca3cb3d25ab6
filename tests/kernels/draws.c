/* draws.c - the checks of draw_kernels.h. */
#include <float.h>

#include "harness.h"
#include "support/shapes.h"

enum { LARGE = 10000, LARGEST_SMALL = 300 };

/* Lengths 1..300, then `large` times a long one. */
static size_t length_of(int i)
{
    return i < LARGEST_SMALL ? (size_t)i + 1 : LARGE;
}

void check_standard_normals(uint32_t cpu)
{
    dice from = {1};
    for (int i = 0; i < LARGEST_SMALL + 2 * EFFORT; i++) {
        size_t n = length_of(i);
        void *out[2];
        oltr_rng rng = generator(&from);
        describe("n %zu", n);
        guarded_pair(out, padded(n), sizeof(float), NULL);
        standard_normals_plain(&rng, n, out[0]);
        KERNEL_AT(standard_normals, cpu)(&rng, n, out[1]);
        same_floats("a normal", out[0], out[1], padded(n));
        release();
    }
}

void check_gumbels(uint32_t cpu)
{
    dice from = {12};
    for (int i = 0; i < LARGEST_SMALL + 2 * EFFORT; i++) {
        size_t n = length_of(i);
        uint32_t *item = guarded(n, sizeof *item);
        size_t m = random_subset(&from, item, n);
        void *all[2], *list[2];
        oltr_rng rng = generator(&from);
        describe("n %zu, list of %zu", n, m);
        guarded_pair(all, padded(n), sizeof(float), NULL);
        guarded_pair(list, m, sizeof(float), NULL);
        for (int v = 0; v < 2; v++) {
            gumbels_fn *draw = v ? KERNEL_AT(gumbels, cpu) : gumbels_plain;
            draw(&rng, NULL, n, all[v]);
            draw(&rng, item, m, list[v]);
        }
        same_floats("a Gumbel variable", all[0], all[1], padded(n));
        same_floats("one of a list", list[0], list[1], m);
        for (size_t j = 0; j < m; j++)
            assert_true(memcmp((float *)list[0] + j, (float *)all[0] + item[j], sizeof(float)) ==
                        0);
        release();
    }
}

void check_exponentials(uint32_t cpu)
{
    dice from = {14};
    for (int i = 0; i < LARGEST_SMALL + 2 * EFFORT; i++) {
        size_t n = length_of(i);
        void *out[2];
        oltr_rng rng = generator(&from);
        describe("n %zu", n);
        guarded_pair(out, padded(n), sizeof(float), NULL);
        exponentials_plain(&rng, n, out[0]);
        KERNEL_AT(exponentials, cpu)(&rng, n, out[1]);
        same_floats("an exponential variable", out[0], out[1], padded(n));
        release();
    }
}

/* Normals up to the ends of the table, and tilts under which none, some or all are rejected. */
void check_jacobi_sums(uint32_t cpu)
{
    static const float most_tilt[] = {0, 1, 1e30f};
    dice from = {15};
    for (size_t n = 0; n <= LARGEST_SMALL; n++) {
        size_t room = (n + JACOBI_LANES - 1) / JACOBI_LANES * JACOBI_LANES;
        float *normal = guarded(room, sizeof *normal), *wait = guarded(room, sizeof *wait),
              *tilt = guarded(room, sizeof *tilt);
        uint32_t *sum = guarded(room, sizeof *sum), rejected = 0;
        void *out[2];
        describe("n %zu", n);
        for (size_t i = 0; i < room; i++) {
            normal[i] = (float)(13.32 * unit(&from) - 6.66) * (i % 3 ? 0.2f : 1);
            wait[i] = i % 7 ? (float)-log(unit(&from)) : 0;
            tilt[i] = (float)unit(&from) * most_tilt[n % 3];
            sum[i] = (uint32_t)below(&from, 1u << 31);
        }
        guarded_pair(out, room, sizeof(float), NULL);
        jacobi_sums_plain(n, normal, wait, sum, tilt, out[0]);
        KERNEL_AT(jacobi_sums, cpu)(n, normal, wait, sum, tilt, out[1]);
        same_floats("a sum", out[0], out[1], n);
        for (size_t i = 0; i < n; i++)
            rejected += ((float *)out[0])[i] < 0;
        same_bool("that without a tilt none is rejected", n % 3 == 0, n % 3 == 0 && !rejected);
        release();
    }
}

/* Ordinary beliefs, or the ends of what a float can hold. */
static void random_beliefs(dice *from, bool strange, size_t n, float *mean, float *sd)
{
    for (size_t i = 0; i < n; i++) {
        mean[i] = strange ? strange_float(from) : (float)(2 * unit(from) - 1);
        sd[i] = strange ? fabsf(strange_float(from)) : (float)unit(from);
    }
    if (strange && below(from, 2))
        mean[below(from, (uint32_t)n)] = INFINITY;
}

void check_gauss_scores(uint32_t cpu)
{
    dice from = {2};
    for (int i = 0; i < 2 * LARGEST_SMALL + 10 * EFFORT; i++) {
        size_t n = length_of(i / 2), room = padded(n);
        float *mean = guarded(room, sizeof *mean), *sd = guarded(room, sizeof *sd);
        uint32_t *item = guarded(n, sizeof *item);
        size_t m = random_subset(&from, item, n);
        void *all[2], *list[2];
        oltr_rng rng = generator(&from);
        describe("n %zu, list of %zu, strange %d", n, m, i % 2);
        random_beliefs(&from, i % 2, room, mean, sd);
        guarded_pair(all, room, sizeof(float), NULL);
        guarded_pair(list, m, sizeof(float), NULL);
        for (int v = 0; v < 2; v++) {
            gauss_scores_fn *scores = v ? KERNEL_AT(gauss_scores, cpu) : gauss_scores_plain;
            scores(&rng, mean, sd, NULL, n, all[v]);
            scores(&rng, mean, sd, item, m, list[v]);
        }
        same_floats("a score", all[0], all[1], room);
        same_floats("a score of the list", list[0], list[1], m);
        release();
    }
}

/* Rounds in order past the end of the low 32 bits, then mixed with rounds before, after, and of
 * other generators. */
static oltr_rng next_round(dice *from, uint64_t *round, int call)
{
    uint32_t what = call < 160 ? 100 : below(from, 101);
    *round += what < 2 ? 3 : what < 4 ? 0 : what < 6 ? -(uint64_t)2 : 1;
    return oltr_rng_at(oltr_rng_make(3, what == 6), what == 7, *round);
}

void check_prefetched_normals(uint32_t cpu)
{
    dice from = {3};
    normals_ahead *ahead = guarded_aligned(1, sizeof *ahead);
    uint64_t round = 0xFFFFFFFF - 80;
    for (int call = 0; call < 2000; call++) {
        float twin[NORMAL_GROUP];
        oltr_rng rng = next_round(&from, &round, call);
        describe("call %d", call);
        standard_normals_plain(&rng, NORMAL_GROUP, twin);
        for (int again = 0; again <= call / 40 % 2; again++)
            same_floats("a normal", twin, KERNEL_AT(prefetched_normals, cpu)(&rng, ahead),
                        NORMAL_GROUP);
    }
}

void check_prefetched_scores(uint32_t cpu)
{
    dice from = {4};
    normals_ahead *ahead = guarded_aligned(1, sizeof *ahead);
    float *mean = guarded(NORMAL_GROUP, sizeof *mean), *sd = guarded(NORMAL_GROUP, sizeof *sd);
    uint64_t round = 0xFFFFFFFF - 80;
    void *out[2];
    guarded_pair(out, NORMAL_GROUP, sizeof(float), NULL);
    for (int call = 0; call < 2000; call++) {
        oltr_rng rng = next_round(&from, &round, call);
        describe("call %d", call);
        random_beliefs(&from, call % 2, NORMAL_GROUP, mean, sd);
        gauss_scores_plain(&rng, mean, sd, NULL, NORMAL_GROUP, out[0]);
        KERNEL_AT(prefetched_scores, cpu)(&rng, ahead, mean, sd, out[1]);
        same_floats("a score", out[0], out[1], NORMAL_GROUP);
    }
}

enum { SHAPE_KINDS = 5 };

static double random_shape(dice *from, uint32_t kind)
{
    static const double mixed[] = {1e-3, 0.5, 1 - 1e-16, 1, 1 + 1e-15, 1.0001, 1.5, 2, 100, 1e6};
    switch (kind) {
    case 0:
        return 1 + below(from, 50);
    case 1:
        return log_uniform(from, 1e-3, 1);
    case 2:
        return log_uniform(from, 1e3, 1e6);
    case 3:
        return below(from, 2) ? log_uniform(from, 1e-300, 1) : log_uniform(from, 1, 1e15);
    default:
        return mixed[below(from, LENGTH(mixed))];
    }
}

static void compare_beta(dice *from, uint32_t cpu, size_t n, uint32_t kind)
{
    shape_arrays s = shapes_new(n);
    for (size_t i = 0; i < n; i++)
        shapes_set(&s, i, random_shape(from, kind), random_shape(from, kind));
    beta_shapes shapes = shapes_view(&s);
    uint32_t *item = guarded(n, sizeof *item), *todo = guarded(padded(n), sizeof *todo);
    size_t m = random_subset(from, item, n);
    oltr_rng rng = generator(from);
    void *all[2], *list[2];
    describe("n %zu, list of %zu, kind %u", n, m, kind);
    guarded_pair(all, padded(n), sizeof(float), NULL);
    guarded_pair(list, m, sizeof(float), NULL);
    for (int v = 0; v < 2; v++) {
        beta_scores_fn *scores = v ? KERNEL_AT(beta_scores, cpu) : beta_scores_plain;
        scores(&rng, &shapes, NULL, n, todo, all[v]);
        scores(&rng, &shapes, item, m, todo, list[v]);
    }
    same_floats("a score", all[0], all[1], padded(n));
    same_floats("a score of the list", list[0], list[1], m);
    shapes_free(&s);
    release();
}

void check_beta_scores(uint32_t cpu)
{
    dice from = {5};
    for (size_t n = 1; n <= LARGEST_SMALL; n++)
        for (uint32_t kind = 0; kind < SHAPE_KINDS; kind++)
            compare_beta(&from, cpu, n, kind);
    for (uint32_t i = 0; i < 5 * EFFORT; i++)
        compare_beta(&from, cpu, LARGE, i % SHAPE_KINDS);
}

static void compare_directions(dice *from, uint32_t cpu, uint64_t first, size_t n, uint32_t dim)
{
    double *theta = guarded(dim, sizeof *theta);
    void *x[2], *product[2];
    oltr_rng rng = generator(from);
    describe("rows %zu, features %u", n, dim);
    for (uint32_t j = 0; j < dim; j++)
        theta[j] = 2 * unit(from) - 1;
    guarded_pair(x, n * dim, sizeof(float), NULL);
    guarded_pair(product, n, sizeof(double), NULL);
    cube_directions_plain(&rng, first, n, dim, theta, x[0], product[0]);
    KERNEL_AT(cube_directions, cpu)(&rng, first, n, dim, theta, x[1], product[1]);
    same_floats("a feature", x[0], x[1], n * dim);
    same_doubles("a product", product[0], product[1], n);
    release();
}

void check_cube_directions(uint32_t cpu)
{
    static const size_t rows[] = {1, 2, 5, 31, 32, 33, 70};
    static const uint32_t dims[] = {67, 136, 220, 1000}, beyond[] = {3, 136, 4096};
    dice from = {6};
    for (size_t r = 0; r < LENGTH(rows); r++) {
        for (uint32_t dim = 1; dim <= 40; dim++)
            compare_directions(&from, cpu, 0, rows[r], dim);
        for (size_t d = 0; d < LENGTH(dims); d++)
            compare_directions(&from, cpu, 32 * (uint64_t)d, rows[r], dims[d]);
    }
    for (size_t d = 0; d < LENGTH(beyond); d++) { /* 2^34 numbers use up one purpose */
        uint64_t last = (UINT64_C(1) << 34) / beyond[d] / 32 * 32;
        compare_directions(&from, cpu, last - 32, 96, beyond[d]);
        compare_directions(&from, cpu, 2 * last, 40, beyond[d]);
    }
}

/* ---- attractions */

enum { COUNT_KINDS = 4 };

/* Whole numbers; items without clicks or misses; the ends of what is allowed; around the least. */
static double random_count(dice *from, uint32_t kind)
{
    if (one_in(from, 3))
        return 0;
    switch (kind) {
    case 0:
        return below(from, 50);
    case 1:
        return floor(log_uniform(from, 1, 1e6));
    case 2:
        return log_uniform(from, 1e-12, 1e15);
    default:
        return log_uniform(from, RATE_LEAST_COUNT / 2, 10);
    }
}

/* n items with random counts and room for what is derived of them. */
static rate_items random_items(dice *from, size_t n, uint32_t kind, double kappa[RATE_SLOTS])
{
    const size_t stride = padded(n);
    const uint32_t slots = 1 + below(from, RATE_SLOTS);
    double *clicks = guarded(stride, sizeof *clicks);
    double *missed = guarded(slots * stride, sizeof *missed);
    for (size_t i = 0; i < n; i++)
        clicks[i] = random_count(from, kind);
    for (uint32_t slot = 0; slot < slots; slot++) {
        kappa[slot] = one_in(from, 3) ? 1 / (slot + 1.0) : log_uniform(from, 0x1p-20, 1);
        for (size_t i = 0; i < n; i++)
            missed[slot * stride + i] = random_count(from, kind);
    }
    return (rate_items){.clicks = clicks,
                        .missed = missed,
                        .kappa = kappa,
                        .n_slots = slots,
                        .number = guarded(RATE_NUMBERS * stride, sizeof(float)),
                        .mode = guarded(stride, sizeof(double)),
                        .stride = stride};
}

void check_rate_hats_of(uint32_t cpu)
{
    dice from = {13};
    for (int i = 0; i < COUNT_KINDS * LARGEST_SMALL; i++) {
        size_t n = length_of(i / COUNT_KINDS);
        double kappa[RATE_SLOTS];
        uint32_t kind = (uint32_t)i % COUNT_KINDS, *item = guarded(n, sizeof *item);
        rate_items items = random_items(&from, n, kind, kappa);
        size_t m = random_subset(&from, item, n);
        void *number[2], *mode[2];
        describe("%zu of %zu items, kind %u", m, n, kind);
        guarded_pair(number, RATE_NUMBERS * items.stride, sizeof(float), NULL);
        guarded_pair(mode, items.stride, sizeof(double), NULL);
        for (int v = 0; v < 2; v++) {
            items.number = number[v];
            items.mode = mode[v];
            (v ? KERNEL_AT(rate_hats_of, cpu) : rate_hats_of_plain)(&items, item, m);
        }
        same_floats("a number", number[0], number[1], RATE_NUMBERS * items.stride);
        same_doubles("a mode", mode[0], mode[1], items.stride);
        release();
    }
}

static void compare_rates(dice *from, uint32_t cpu, size_t n, uint32_t kind)
{
    double kappa[RATE_SLOTS];
    rate_items items = random_items(from, n, kind, kappa);
    uint32_t *item = guarded(n, sizeof *item);
    oltr_rng rng = generator(from);
    void *all[2], *list[2];
    for (uint32_t i = 0; i < n; i++)
        rate_hats_of_plain(&items, &i, 1);
    size_t m = random_subset(from, item, n);
    describe("n %zu, list of %zu, kind %u", n, m, kind);
    guarded_pair(all, padded(n), sizeof(double), NULL);
    guarded_pair(list, padded(m), sizeof(double), NULL);
    for (int v = 0; v < 2; v++) {
        rate_draws_fn *draw = v ? KERNEL_AT(rate_draws, cpu) : rate_draws_plain;
        draw(&rng, &items, NULL, n, all[v]);
        draw(&rng, &items, item, m, list[v]);
    }
    same_doubles("a draw", all[0], all[1], n);
    same_doubles("a draw of the list", list[0], list[1], m);
    for (size_t j = 0; j < m; j++)
        assert_memory_equal((double *)list[0] + j, (double *)all[0] + item[j], sizeof(double));
    release();
}

void check_rate_draws(uint32_t cpu)
{
    dice from = {14};
    for (size_t n = 1; n <= LARGEST_SMALL; n++)
        for (uint32_t kind = 0; kind < COUNT_KINDS; kind++)
            compare_rates(&from, cpu, n, kind);
    for (uint32_t i = 0; i < COUNT_KINDS * EFFORT; i++)
        compare_rates(&from, cpu, LARGE, i % COUNT_KINDS);
}
