/* logistic_kernels.c - linear terms, nearness and a packed product, see logistic_kernels.h.
 */
#include "engine/kernels/table.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/lanes.h"

typedef double four __attribute__((vector_size(32)));
typedef uint64_t four_words __attribute__((vector_size(32)));

/* Kernel: without an early exit, because the position of the first weight that is off is
 * unpredictable. */
ALWAYS_INLINE bool weights_near_body(size_t n, const double *now, const double *then,
                                     const double *share, double off)
{
    const four allowed = (four){0} + off;
    const four_words sign = (four_words){0} + 0x8000000000000000u;
    four_words near = ~(four_words){0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        four a, b, c;
        memcpy(&a, now + i, sizeof a);
        memcpy(&b, then + i, sizeof b);
        memcpy(&c, share + i, sizeof c);
        near &= (four_words)((four)((four_words)(a - b) & ~sign) <= allowed * (b + c));
    }
    uint64_t all = (near[0] & near[1]) & (near[2] & near[3]);
    for (; i < n; i++)
        all &= fabs(now[i] - then[i]) <= off * (then[i] + share[i]);
    return all != 0;
}

/* Kernel: one column below its diagonal: n elements a, with x below, out -= a x_j; returns the sum
 * of a x. */
ALWAYS_INLINE double column_product(double *out, const double *a, const double *x, size_t n,
                                    double xj)
{
    four even = {0}, odd = {0};
    const four by = (four){0} + xj;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        four a0, a1, x0, x1, y0, y1;
        memcpy(&a0, a + i, sizeof a0);
        memcpy(&a1, a + i + 4, sizeof a1);
        memcpy(&x0, x + i, sizeof x0);
        memcpy(&x1, x + i + 4, sizeof x1);
        memcpy(&y0, out + i, sizeof y0);
        memcpy(&y1, out + i + 4, sizeof y1);
        even += a0 * x0;
        odd += a1 * x1;
        y0 -= a0 * by;
        y1 -= a1 * by;
        memcpy(out + i, &y0, sizeof y0);
        memcpy(out + i + 4, &y1, sizeof y1);
    }
    even += odd;
    double sum = (even[0] + even[1]) + (even[2] + even[3]);
    for (; i < n; i++) {
        sum += a[i] * x[i];
        out[i] -= a[i] * xj;
    }
    return sum;
}

ALWAYS_INLINE void subtract_product_body(double *out, const double *packed, const double *x,
                                         uint32_t dim)
{
    for (uint32_t j = 0; j < dim; packed += dim - j, j++) {
        double sum = column_product(out + j + 1, packed + 1, x + j + 1, dim - j - 1, x[j]);
        out[j] -= packed[0] * x[j] + sum;
    }
}

void linear_terms_plain(const float *x, size_t n, uint32_t dim, const double *c, double *out)
{
    for (uint32_t j = 0; j < dim; j++) {
        double sum[2] = {out[j], 0};
        for (size_t r = 0; r < n; r++)
            sum[r % 2] = fma(c[r], (double)x[r * dim + j], sum[r % 2]);
        out[j] = sum[0] + sum[1];
    }
}

bool weights_near_plain(size_t n, const double *now, const double *then, const double *share,
                        double off)
{
    return weights_near_body(n, now, then, share, off);
}

void subtract_product_plain(double *out, const double *packed, const double *x, uint32_t dim)
{
    subtract_product_body(out, packed, x, dim);
}

#if OLTR_LANES

/* Kernel: c times one row of `vectors` times four columns joins the sums; the last vector has
 * `last` columns. */
LANES_INLINE void add_row(const float *x, const double *c, d4 sum[4], int vectors, size_t last)
{
    const d4 weight = d4_all(*c);
    const float *tail = x + 4 * (vectors - 1);
    for (int v = 0; v + 1 < vectors; v++)
        sum[v] = d4_fma(weight, d4_of_floats(f4_load(x + 4 * v)), sum[v]);
    f4 end = last == 4 ? f4_load(tail) : f4_load_first(tail, last);
    sum[vectors - 1] = d4_fma(weight, d4_of_floats(end), sum[vectors - 1]);
}

/* Kernel: `vectors` (a constant) times four columns at once, summed in registers over all rows,
 * even ones and odd ones. */
LANES_INLINE void add_columns(const float *x, size_t n, uint32_t dim, const double *c, double *out,
                              int vectors, size_t last)
{
    d4 even[4], odd[4];
    size_t r = 0;
    for (int v = 0; v < vectors; v++) {
        even[v] = d4_load_first(out + 4 * v, v + 1 < vectors ? 4 : last);
        odd[v] = d4_all(0);
    }
    for (; r + 2 <= n; r += 2, x += 2 * (size_t)dim) {
        add_row(x, c + r, even, vectors, last);
        add_row(x + dim, c + r + 1, odd, vectors, last);
    }
    if (r < n)
        add_row(x, c + r, even, vectors, last);
    for (int v = 0; v < vectors; v++)
        d4_store_first(out + 4 * v, d4_add(even[v], odd[v]), v + 1 < vectors ? 4 : last);
}

LANES_TARGET void VERSION(linear_terms)(const float *x, size_t n, uint32_t dim, const double *c,
                                        double *out)
{
    uint32_t j = 0;
    for (; dim - j > 16; j += 16)
        add_columns(x + j, n, dim, c, out + j, 4, 4);
    uint32_t left = dim - j;
    size_t last = left % 4 ? left % 4 : 4;
    switch ((left + 3) / 4) {
    case 1:
        add_columns(x + j, n, dim, c, out + j, 1, last);
        break;
    case 2:
        add_columns(x + j, n, dim, c, out + j, 2, last);
        break;
    case 3:
        add_columns(x + j, n, dim, c, out + j, 3, last);
        break;
    case 4:
        add_columns(x + j, n, dim, c, out + j, 4, last);
        break;
    default: /* nothing left */
        break;
    }
}

#endif

#if OLTR_X86

TARGET_AVX2 bool weights_near_avx2(size_t n, const double *now, const double *then,
                                   const double *share, double off)
{
    return weights_near_body(n, now, then, share, off);
}

TARGET_AVX2 void subtract_product_avx2(double *out, const double *packed, const double *x,
                                       uint32_t dim)
{
    subtract_product_body(out, packed, x, dim);
}

#endif
