/* logistic.c - the checks of link_kernels.h and logistic_kernels.h. */
#include "harness.h"

enum { ROWS = 67, FEATURES = 70 };

static double spread(dice *from, double scale)
{
    return scale * (2 * unit(from) - 1) * (unit(from) < 0.1 ? 30 : 1);
}

static void check_residuals(residuals_fn *twin, residuals_fn *version)
{
    static const double strange[] = {NAN,   INFINITY, -INFINITY, 0.0,  -0.0,  708,
                                     -708,  709,      5e-324,    37.6, -37.6, 37.7,
                                     -37.7, 6.562,    6.57,      7,    7.1};
    static const double scale[] = {1, 100, 1e200};
    dice from = {11};
    for (uint32_t n = 0; n <= ROWS; n++)
        for (uint32_t kind = 0; kind < 4; kind++) {
            size_t room = residuals_padded(n);
            double *z = guarded(room, sizeof *z), *examined = guarded(room, sizeof *z),
                   *clicked = guarded(room, sizeof *z);
            void *residual[2], *curvature[2];
            describe("rows %u, kind %u", n, kind);
            for (size_t i = 0; i < room; i++) {
                z[i] =
                    kind < 3 ? spread(&from, scale[kind]) : strange[below(&from, LENGTH(strange))];
                examined[i] = below(&from, 1000);
                clicked[i] = floor(examined[i] * unit(&from));
            }
            guarded_pair(residual, room, sizeof *z, NULL);
            guarded_pair(curvature, room, sizeof *z, NULL);
            for (int v = 0; v < 2; v++)
                (v ? version : twin)(n, z, examined, clicked, residual[v], curvature[v]);
            same_doubles("a residual", residual[0], residual[1], room);
            same_doubles("a curvature", curvature[0], curvature[1], room);
            for (size_t i = 0; i < n; i++) /* NaN in a score does not spread */
                same_bool("that residuals are finite", true,
                          isfinite(((double *)residual[0])[i]) && ((double *)curvature[0])[i] >= 0);
            release();
        }
}

void check_logistic_residuals(uint32_t cpu)
{
    check_residuals(logistic_residuals_plain, KERNEL_AT(logistic_residuals, cpu));
}

void check_probit_residuals(uint32_t cpu)
{
    check_residuals(probit_residuals_plain, KERNEL_AT(probit_residuals, cpu));
}

void check_cloglog_residuals(uint32_t cpu)
{
    check_residuals(cloglog_residuals_plain, KERNEL_AT(cloglog_residuals, cpu));
}

void check_linear_terms(uint32_t cpu)
{
    dice from = {12};
    for (uint32_t dim = 1; dim <= FEATURES; dim++)
        for (uint32_t n = 0; n <= 40; n += 1 + below(&from, 3)) {
            float *x = guarded((size_t)n * dim, sizeof *x);
            double *c = guarded(n, sizeof *c), *start = guarded(dim, sizeof *start);
            void *out[2];
            describe("rows %u, features %u", n, dim);
            for (uint32_t i = 0; i < n * dim; i++)
                x[i] = n % 2 ? strange_float(&from) : (float)spread(&from, 1);
            for (uint32_t i = 0; i < n; i++)
                c[i] = n % 5 ? spread(&from, 100) : spread(&from, 1e300);
            for (uint32_t j = 0; j < dim; j++)
                start[j] = spread(&from, 1);
            guarded_pair(out, dim, sizeof *start, start);
            linear_terms_plain(x, n, dim, c, out[0]);
            KERNEL_AT(linear_terms, cpu)(x, n, dim, c, out[1]);
            same_doubles("a sum", out[0], out[1], dim);
            release();
        }
}

/* Bounds that one weight reaches exactly, misses by the last bit, or by far; NaN is near nothing.
 */
void check_weights_near(uint32_t cpu)
{
    dice from = {13};
    for (uint32_t n = 0; n <= ROWS; n++) {
        double *now = guarded(n, sizeof *now), *then = guarded(n, sizeof *now),
               *share = guarded(n, sizeof *now);
        describe("weights %u", n);
        for (uint32_t i = 0; i < n; i++) {
            then[i] = 1000 * unit(&from);
            now[i] = then[i] * (1 + 0.1 * unit(&from));
            share[i] = 1e-6 * unit(&from);
        }
        for (uint32_t round = 0; n > 0 && round < 3 * n; round++) {
            uint32_t i = round % n;
            double off = fabs(now[i] - then[i]) / (then[i] + share[i]), old = now[i];
            if (round / n == 2)
                now[i] = round % 2 ? NAN : INFINITY;
            off = round / n == 1 ? nextafter(off, 0) : off + 0.1 * (round % 3 == 0);
            same_bool("whether all are near", weights_near_plain(n, now, then, share, off),
                      KERNEL_AT(weights_near, cpu)(n, now, then, share, off));
            now[i] = old;
        }
        same_bool("that equal weights are near", true,
                  KERNEL_AT(weights_near, cpu)(n, then, then, share, 0));
        release();
    }
}

void check_subtract_product(uint32_t cpu)
{
    dice from = {14};
    for (uint32_t dim = 1; dim <= FEATURES; dim++)
        for (int strange = 0; strange < 2; strange++) {
            const size_t packed = (size_t)dim * (dim + 1) / 2;
            double *a = guarded(packed, sizeof *a), *x = guarded(dim, sizeof *x),
                   *start = guarded(dim, sizeof *x);
            void *out[2];
            describe("features %u, strange %d", dim, strange);
            for (size_t i = 0; i < packed; i++)
                a[i] = strange ? (double)strange_float(&from) : spread(&from, 1);
            for (uint32_t j = 0; j < dim; j++) {
                x[j] = strange ? (double)strange_float(&from) : spread(&from, 1);
                start[j] = spread(&from, 1);
            }
            guarded_pair(out, dim, sizeof *x, start);
            subtract_product_plain(out[0], a, x, dim);
            KERNEL_AT(subtract_product, cpu)(out[1], a, x, dim);
            same_doubles("an element", out[0], out[1], dim);
            release();
        }
}

/* Scores on both sides of the two forms, and where nothing is left of a weight. */
void check_polya_gamma_normals(uint32_t cpu)
{
    static const double strange[] = {NAN,  INFINITY, -INFINITY, 0.0,    -0.0,  0.5,
                                     -0.5, 0.4999,   1e-310,    -1e-20, 1e300, 800};
    dice from = {15};
    for (uint32_t rows = 0; rows <= ROWS; rows++) {
        size_t n = weights_padded(rows);
        double *count = guarded(n, sizeof *count), *z = guarded(n, sizeof *z),
               *residual = guarded(n, sizeof *z), *slope = guarded(n, sizeof *z),
               *one = guarded(n, sizeof *z), *half = guarded(n, sizeof *z);
        float *standard = guarded(n, sizeof *standard);
        void *weight[2];
        describe("rows %u", rows);
        for (size_t i = 0; i < n; i++) {
            count[i] = floor(exp(27 * unit(&from)));
            z[i] = i % 5 ? spread(&from, 3) : strange[below(&from, LENGTH(strange))];
            one[i] = 1;
            half[i] = 0.5;
            standard[i] = (float)(13.32 * unit(&from) - 6.66);
        }
        logistic_residuals_plain(n, z, one, half, residual, slope);
        guarded_pair(weight, n, sizeof *z, NULL);
        polya_gamma_normals_plain(n, count, z, residual, slope, standard, weight[0]);
        KERNEL_AT(polya_gamma_normals, cpu)(n, count, z, residual, slope, standard, weight[1]);
        same_doubles("a weight", weight[0], weight[1], n);
        for (size_t i = 0; i < n; i++) /* NaN does not spread */
            same_bool("that a weight is finite", true,
                      isfinite(((double *)weight[0])[i]) && ((double *)weight[0])[i] >= 0);
        release();
    }
}

void check_weighted_sum(uint32_t cpu)
{
    dice from = {16};
    for (size_t length = 0; length <= 5 * SUM_COLUMNS; length += SUM_COLUMNS)
        for (uint32_t n = 0; n <= 40; n++) {
            double *p = guarded(n * length, sizeof *p), *c = guarded(n, sizeof *c);
            void *out[2];
            describe("rows %u, columns %zu", n, length);
            for (size_t i = 0; i < n * length; i++)
                p[i] = n % 2 ? (double)strange_float(&from) : spread(&from, 1);
            for (uint32_t r = 0; r < n; r++)
                c[r] = spread(&from, n % 5 ? 100 : 1e300);
            guarded_pair(out, length, sizeof *c, NULL);
            weighted_sum_plain(p, n, length, c, out[0]);
            KERNEL_AT(weighted_sum, cpu)(p, n, length, c, out[1]);
            same_doubles("a sum", out[0], out[1], length);
            release();
        }
}

void check_row_products(uint32_t cpu)
{
    dice from = {17};
    for (uint32_t dim = 1; dim <= 40; dim++)
        for (uint32_t n = 0; n <= 9; n += 1 + n / 3) {
            size_t packed = (size_t)dim * (dim + 1) / 2,
                   length = packed + below(&from, 3) * (dim + 5), all = n * length;
            float *x = guarded((size_t)n * dim, sizeof *x);
            void *out[2];
            describe("rows %u, features %u, numbers %zu", n, dim, length);
            for (uint32_t i = 0; i < n * dim; i++)
                x[i] = n % 2 ? strange_float(&from) : (float)spread(&from, 1);
            guarded_pair(out, all + PRODUCT_LANES, sizeof(double), NULL);
            row_products_plain(x, n, dim, length, out[0]);
            KERNEL_AT(row_products, cpu)(x, n, dim, length, out[1]);
            same_doubles("a product", out[0], out[1], all);
            release();
        }
}
