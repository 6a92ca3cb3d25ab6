/* factor.c - the checks of ldl_kernels.h: all numbers of features to 40 and some beyond, one to
 * nine rows, with and without weights, ordinary rows and rows of zeros, denormals and very large
 * numbers.
 */
#include "harness.h"

enum { MOST_ROWS = 9, ITEMS = 29 };

static uint32_t dim_of(uint32_t index)
{
    static const uint32_t large[] = {46, 136, 220, 301}; /* 301: more than a tile of gram_add */
    return index < 40 ? index + 1 : large[index - 40];
}
enum { N_DIMS = 44 };

/* Rows, and a factor and sums twice: for the twin and for the version. */
typedef struct bench {
    uint32_t dim;
    size_t stride; /* of x */
    float *x;      /* (ITEMS, stride) */
    const float *row[MOST_ROWS];
    double *y, *weight; /* (MOST_ROWS) */
    double *l[2];       /* memory of the factors */
    ldl factor[2];
    void *gram[2], *moment[2], *theta[2], *out[2];
    double *work;
} bench;

/* The doubles of l and d. */
static size_t factor_doubles(uint32_t dim)
{
    return dim * ldl_stride(dim) + ceil4(dim);
}

static bench bench_of(dice *from, uint32_t dim, bool strange)
{
    const size_t packed = (size_t)dim * (dim + 1) / 2;
    bench b = {.dim = dim, .stride = dim + below(from, 3)};
    describe("features %u, strange %d", dim, strange);
    b.x = guarded(ITEMS * b.stride - (b.stride - dim), sizeof *b.x);
    for (uint32_t i = 1; i < ITEMS; i++) /* row 0 is zero */
        for (uint32_t j = 0; j < dim; j++)
            b.x[i * b.stride + j] = strange ? strange_float(from) : (float)(2 * unit(from) - 1);
    b.y = guarded(MOST_ROWS, sizeof *b.y);
    b.weight = guarded(MOST_ROWS, sizeof *b.weight);
    guarded_pair(b.gram, packed, sizeof(double), NULL);
    guarded_pair(b.moment, dim, sizeof(double), NULL);
    guarded_pair(b.theta, dim, sizeof(double), NULL);
    guarded_pair(b.out, ITEMS, sizeof(double), NULL);
    for (int v = 0; v < 2; v++) {
        memset(b.gram[v], 0, packed * sizeof(double));
        memset(b.moment[v], 0, dim * sizeof(double));
        b.l[v] = guarded_aligned(factor_doubles(dim), sizeof(double));
        b.factor[v] = (ldl){dim, ldl_stride(dim), b.l[v], b.l[v] + dim * ldl_stride(dim)};
        for (size_t j = 0; j < ceil4(dim); j++)
            b.factor[v].d[j] = j < dim ? 0.25 : 1;
    }
    b.work = guarded((QUADRATIC_ITEMS + 1) * ldl_stride(dim), sizeof *b.work);
    return b;
}

/* Other rows, rewards and weights for the next call. */
static void choose_rows(bench *b, dice *from, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        b->row[k] = b->x + below(from, ITEMS) * b->stride;
        b->y[k] = 4 * unit(from) - 2;
        b->weight[k] = below(from, 5) ? 3 * unit(from) : 0;
    }
}

static const double *weights(const bench *b, uint32_t n)
{
    return n % 2 ? b->weight : NULL;
}

/* Both factors learn the same rows, by the twin. */
static void grow(bench *b, dice *from)
{
    choose_rows(b, from, MOST_ROWS);
    for (int v = 0; v < 2; v++)
        ldl_learn_plain(&b->factor[v], b->gram[v], b->moment[v], b->row, b->y, NULL, MOST_ROWS,
                        b->work);
}

static void compare_bench(const bench *b)
{
    const size_t packed = (size_t)b->dim * (b->dim + 1) / 2;
    same_doubles("the factor", b->l[0], b->l[1], factor_doubles(b->dim));
    same_doubles("a sum of products", b->gram[0], b->gram[1], packed);
    same_doubles("a moment", b->moment[0], b->moment[1], b->dim);
    same_doubles("theta", b->theta[0], b->theta[1], b->dim);
    same_doubles("an output", b->out[0], b->out[1], ITEMS);
}

/* Runs `step` with ordinary and with strange rows, on a factor of the prior and on one that grew.
 */
static void on_every_bench(uint32_t cpu, void step(bench *, dice *, uint32_t))
{
    dice from = {9};
    for (uint32_t i = 0; i < 2 * N_DIMS; i++) {
        bench b = bench_of(&from, dim_of(i / 2), i % 2);
        step(&b, &from, cpu);
        compare_bench(&b);
        grow(&b, &from);
        step(&b, &from, cpu);
        compare_bench(&b);
        release();
    }
}

static void factor_step(bench *b, dice *from, uint32_t cpu)
{
    const double lift = below(from, 2) ? 0 : 1e-3;
    bool made[2];
    made[0] = ldl_factor_plain(&b->factor[0], b->gram[0], b->moment[0], 0.25, lift);
    made[1] = KERNEL_AT(ldl_factor, cpu)(&b->factor[1], b->gram[1], b->moment[1], 0.25, lift);
    same_bool("whether there is a factor", made[0], made[1]);
    if (!made[0]) /* then its content means nothing */
        memcpy(b->l[1], b->l[0], factor_doubles(b->dim) * sizeof(double));
}

void check_ldl_factor(uint32_t cpu)
{
    on_every_bench(cpu, factor_step);
}

static void update_step(bench *b, dice *from, uint32_t cpu)
{
    for (uint32_t n = 1; n <= MOST_ROWS; n++) {
        choose_rows(b, from, n);
        ldl_update_plain(&b->factor[0], b->row, b->y, weights(b, n), n, b->work);
        KERNEL_AT(ldl_update, cpu)(&b->factor[1], b->row, b->y, weights(b, n), n, b->work);
    }
}

void check_ldl_update(uint32_t cpu)
{
    on_every_bench(cpu, update_step);
}

static void learn_step(bench *b, dice *from, uint32_t cpu)
{
    for (uint32_t n = 1; n <= MOST_ROWS; n++) {
        choose_rows(b, from, n);
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(ldl_learn, cpu) : ldl_learn_plain)(
                &b->factor[v], b->gram[v], b->moment[v], b->row, b->y, weights(b, n), n, b->work);
    }
}

void check_ldl_learn(uint32_t cpu)
{
    on_every_bench(cpu, learn_step);
}

static void gram_step(bench *b, dice *from, uint32_t cpu)
{
    for (uint32_t n = 1; n <= MOST_ROWS; n++) {
        choose_rows(b, from, n);
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(gram_add, cpu) : gram_add_plain)(b->gram[v], b->moment[v], b->dim,
                                                            b->row, b->y, weights(b, n), n);
    }
}

void check_gram_add(uint32_t cpu)
{
    on_every_bench(cpu, gram_step);
}

static void sample_step(bench *b, dice *from, uint32_t cpu)
{
    float *z = guarded(b->dim, sizeof *z);
    for (uint32_t j = 0; j < b->dim; j++)
        z[j] = (float)(4 * unit(from) - 2);
    for (int with = 0; with < 2; with++) {
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(ldl_sample, cpu) : ldl_sample_plain)(&b->factor[v], 0.3, with ? z : NULL,
                                                                b->theta[v]);
        compare_bench(b);
    }
}

void check_ldl_sample(uint32_t cpu)
{
    on_every_bench(cpu, sample_step);
}

/* Into another array, and in place. */
static void solve_step(bench *b, dice *from, uint32_t cpu)
{
    (void)from;
    for (int in_place = 0; in_place < 2; in_place++) {
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(ldl_solve, cpu) : ldl_solve_plain)(
                &b->factor[v], in_place ? b->theta[v] : b->moment[v], b->theta[v]);
        compare_bench(b);
    }
}

void check_ldl_solve(uint32_t cpu)
{
    on_every_bench(cpu, solve_step);
}

static void quadratic_step(bench *b, dice *from, uint32_t cpu)
{
    (void)from;
    for (uint32_t n = 1; n <= ITEMS; n += n < 6 ? 1 : 4) {
        const float *last = b->x + (ITEMS - n) * b->stride;
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(ldl_quadratic, cpu)
               : ldl_quadratic_plain)(&b->factor[v], last, b->stride, n, b->out[v], b->work);
        compare_bench(b);
    }
}

void check_ldl_quadratic(uint32_t cpu)
{
    on_every_bench(cpu, quadratic_step);
}

static void solve_rows_step(bench *b, dice *from, uint32_t cpu)
{
    const size_t stride = ceil4(b->dim) + 4;
    void *column[2];
    const float *row[ITEMS];
    guarded_pair(column, ITEMS * stride, sizeof(double), NULL);
    for (uint32_t n = 1; n <= ITEMS; n += n < 14 ? 1 : 5) {
        for (uint32_t k = 0; k < n; k++)
            row[k] = b->x + below(from, ITEMS) * b->stride;
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(ldl_solve_rows, cpu) : ldl_solve_rows_plain)(&b->factor[v], row, n,
                                                                        column[v], stride, b->work);
        same_doubles("a solution", column[0], column[1], ITEMS * stride);
    }
}

void check_ldl_solve_rows(uint32_t cpu)
{
    on_every_bench(cpu, solve_rows_step);
}

enum { MOST_COLUMNS = 7 };

static void columns_step(bench *b, dice *from, uint32_t cpu)
{
    const size_t stride = ceil4(b->dim);
    double *column = guarded(MOST_COLUMNS * stride, sizeof *column);
    void *out[2];
    const float *row[ITEMS];
    guarded_pair(out, (size_t)MOST_COLUMNS * ITEMS, sizeof(double), NULL);
    for (size_t i = 0; i < MOST_COLUMNS * stride; i++)
        column[i] = i % stride >= b->dim ? 0
                    : below(from, 9)     ? 2 * unit(from) - 1
                                         : (double)strange_float(from);
    for (uint32_t n = 1; n <= ITEMS; n += n < 6 ? 1 : 4) {
        uint32_t m = 1 + below(from, MOST_COLUMNS);
        for (uint32_t i = 0; i < n; i++)
            row[i] = b->x + below(from, ITEMS) * b->stride;
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(rows_times_columns, cpu)
               : rows_times_columns_plain)(row, n, b->dim, column, stride, m, out[v]);
        same_doubles("a product", out[0], out[1], (size_t)MOST_COLUMNS * ITEMS);
    }
}

void check_rows_times_columns(uint32_t cpu)
{
    on_every_bench(cpu, columns_step);
}

enum { MOST_LOST = 11 };

static void squares_step(bench *b, dice *from, uint32_t cpu)
{
    const size_t stride = (b->dim + (size_t)7) & ~(size_t)7;
    double *g[2], *t = guarded_aligned(MOST_LOST * stride, sizeof *t);
    for (int v = 0; v < 2; v++)
        g[v] = guarded_aligned(stride * stride, sizeof(double));
    for (size_t i = 0; i < stride * stride; i++)
        g[0][i] = g[1][i] = 2 * unit(from) - 1;
    for (size_t i = 0; i < MOST_LOST * stride; i++)
        t[i] = below(from, 9) ? 2 * unit(from) - 1 : (double)strange_float(from);
    for (uint32_t n = 0; n <= MOST_LOST; n++) {
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(lose_squares, cpu) : lose_squares_plain)(g[v], stride, t, n);
        same_doubles("what is left", g[0], g[1], stride * stride);
    }
}

void check_lose_squares(uint32_t cpu)
{
    on_every_bench(cpu, squares_step);
}

static void whiten_step(bench *b, dice *from, uint32_t cpu)
{
    const size_t columns = b->dim;
    double *s[2], *c = guarded_aligned(MOST_LOST * MOST_LOST, sizeof *c), root[MOST_LOST];
    for (int v = 0; v < 2; v++)
        s[v] = guarded_aligned(MOST_LOST * columns, sizeof(double));
    for (size_t i = 0; i < MOST_LOST * MOST_LOST; i++)
        c[i] = 1 + unit(from);
    for (uint32_t n = 0; n <= MOST_LOST; n++) {
        for (size_t i = 0; i < MOST_LOST * columns; i++)
            s[0][i] = s[1][i] = below(from, 9) ? 2 * unit(from) - 1 : (double)strange_float(from);
        for (uint32_t k = 0; k < MOST_LOST; k++)
            root[k] = 2 * unit(from);
        for (int v = 0; v < 2; v++)
            (v ? KERNEL_AT(whiten, cpu) : whiten_plain)(c, root, n, s[v], columns);
        same_doubles("a whitened number", s[0], s[1], MOST_LOST * columns);
    }
}

void check_whiten(uint32_t cpu)
{
    on_every_bench(cpu, whiten_step);
}

/* A feature that may be infinite or NaN in a place known to the caller. */
static float not_a_number(dice *from)
{
    static const float values[] = {INFINITY, -INFINITY, NAN, -NAN, 1.0000001e6F, -1.0000001e6F};
    return values[below(from, LENGTH(values))];
}

/* Rows that end before, at and behind the one that is not finite. */
static void times_step(bench *b, dice *from, uint32_t cpu)
{
    double *theta = b->theta[0];
    uint32_t bad = below(from, ITEMS);
    for (uint32_t j = 0; j < b->dim; j++)
        theta[j] = below(from, 9) ? 2 * unit(from) - 1 : (double)strange_float(from);
    memcpy(b->theta[1], theta, b->dim * sizeof *theta);
    for (uint32_t n = 0; n <= ITEMS; n++) {
        if (n == bad)
            b->x[bad * b->stride + below(from, b->dim)] = not_a_number(from);
        bool twin = rows_times_plain(b->x, b->stride, n, b->dim, theta, b->out[0]);
        same_bool("whether all are finite", twin,
                  KERNEL_AT(rows_times, cpu)(b->x, b->stride, n, b->dim, theta, b->out[1]));
        compare_bench(b);
    }
    memset(b->x + bad * b->stride, 0, b->dim * sizeof *b->x);
}

/* More rows than the caches hold are read in another order. */
static void compare_stream(dice *from, uint32_t cpu, uint32_t dim, size_t gap)
{
    uint32_t n = LDL_STREAM_FLOATS / dim + 3;
    size_t stride = dim + gap;
    float *x = guarded(n * stride, sizeof *x);
    double *theta = guarded(dim, sizeof *theta);
    void *out[2];
    describe("a stream of rows of %u features", dim);
    guarded_pair(out, n, sizeof(double), NULL);
    for (size_t i = 0; i < n * stride; i++)
        x[i] = (float)((i * 2654435761u >> 7) & 0xFFFF) * 0x1p-15F - 1;
    for (uint32_t j = 0; j < dim; j++)
        theta[j] = 2 * unit(from) - 1;
    for (int bad = 0; bad < 2; bad++) {
        bool twin = rows_times_plain(x, stride, n, dim, theta, out[0]);
        same_bool("whether all are finite", twin,
                  KERNEL_AT(rows_times, cpu)(x, stride, n, dim, theta, out[1]));
        same_doubles("a product", out[0], out[1], n);
        x[(n - 1) * stride + dim - 1] = NAN;
    }
    release();
}

void check_rows_times(uint32_t cpu)
{
    dice from = {10};
    on_every_bench(cpu, times_step);
    compare_stream(&from, cpu, 136, 0);
    compare_stream(&from, cpu, 29, 2);
    compare_stream(&from, cpu, 510, 40);
}

/* Both versions with the same thetas; the rows are those of the caller. */
static void compare_several(const float *x, size_t stride, uint32_t n, uint32_t dim,
                            double *theta[SEVERAL], uint32_t cpu, double *out[2][SEVERAL])
{
    bool good[2];
    for (int v = 0; v < 2; v++)
        good[v] = (v ? KERNEL_AT(rows_times_several, cpu) : rows_times_several_plain)(
            x, stride, n, dim, (const double *const *)theta, out[v]);
    same_bool("whether all are finite", good[0], good[1]);
    for (int k = 0; k < SEVERAL; k++)
        same_doubles("a product of several", out[0][k], out[1][k], n);
}

static void take_several(uint32_t n, uint32_t dim, dice *from, double *theta[SEVERAL],
                         double *out[2][SEVERAL])
{
    for (int k = 0; k < SEVERAL; k++) {
        theta[k] = guarded(dim, sizeof(double));
        for (uint32_t j = 0; j < dim; j++)
            theta[k][j] = below(from, 9) ? 2 * unit(from) - 1 : (double)strange_float(from);
        for (int v = 0; v < 2; v++)
            out[v][k] = guarded(n, sizeof(double));
    }
}

static void several_step(bench *b, dice *from, uint32_t cpu)
{
    double *theta[SEVERAL], *out[2][SEVERAL];
    uint32_t bad = below(from, ITEMS);
    take_several(ITEMS, b->dim, from, theta, out);
    for (uint32_t n = 0; n <= ITEMS; n++) {
        if (n == bad)
            b->x[bad * b->stride + below(from, b->dim)] = not_a_number(from);
        compare_several(b->x, b->stride, n, b->dim, theta, cpu, out);
    }
    memset(b->x + bad * b->stride, 0, b->dim * sizeof *b->x);
}

static void compare_stream_of_several(dice *from, uint32_t cpu, uint32_t dim, size_t gap)
{
    uint32_t n = LDL_STREAM_FLOATS / dim + 3;
    size_t stride = dim + gap;
    float *x = guarded((n - 1) * stride + dim, sizeof *x);
    double *theta[SEVERAL], *out[2][SEVERAL];
    describe("a stream of rows of %u features, several thetas", dim);
    take_several(n, dim, from, theta, out);
    for (size_t i = 0; i < (n - 1) * stride + dim; i++)
        x[i] = (float)((i * 2654435761u >> 7) & 0xFFFF) * 0x1p-15F - 1;
    compare_several(x, stride, n, dim, theta, cpu, out);
    x[(n / 2) * stride + dim - 1] = NAN;
    compare_several(x, stride, n, dim, theta, cpu, out);
    release();
}

void check_rows_times_several(uint32_t cpu)
{
    dice from = {12};
    on_every_bench(cpu, several_step);
    compare_stream_of_several(&from, cpu, 136, 0);
    compare_stream_of_several(&from, cpu, 29, 2);
}

static void within_step(bench *b, dice *from, uint32_t cpu)
{
    uint32_t all[ITEMS], bad = below(from, ITEMS);
    float *at = b->x + bad * b->stride + below(from, b->dim);
    for (uint32_t r = 0; r < ITEMS; r++)
        all[r] = ITEMS - 1 - r;
    for (int round = 0; round < 30; round++) {
        *at = round % 2 ? not_a_number(from) : strange_float(from);
        for (uint32_t n = bad; n <= ITEMS; n += n < bad + 2 ? 1 : ITEMS)
            for (int list = 0; list < 2; list++) {
                const uint32_t *row = list ? all : NULL;
                same_bool("whether all are within the bound",
                          rows_within_plain(b->x, b->stride, row, n, b->dim, 1e6F),
                          KERNEL_AT(rows_within, cpu)(b->x, b->stride, row, n, b->dim, 1e6F));
            }
    }
    *at = 0;
}

void check_rows_within(uint32_t cpu)
{
    on_every_bench(cpu, within_step);
}
