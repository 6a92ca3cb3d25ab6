/* logistic_kernels.c - linear terms, nearness, a packed product and Polya-Gamma normals, see
 * logistic_kernels.h.
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

/* g = tanh(z/2) / (2z) = sum_k c_k s^k, s = z^2, is the mean of PG(1, z).  Its cumulants are g, -2
 * g' and 4 g'', derivatives by s: the logarithm of the transform is a function of z^2 + 2t. */
enum { MEAN_TERMS = 10 };
static const double mean_terms[MEAN_TERMS] = {1.0 / 4,
                                              -1.0 / 48,
                                              1.0 / 480,
                                              -17.0 / 80640,
                                              31.0 / 1451520,
                                              -691.0 / 319334400,
                                              5461.0 / 24908083200,
                                              -929569.0 / 41845579776000,
                                              3202291.0 / 1422749712384000,
                                              -221930581.0 / 973160803270656000};
/* Below this |z| the cumulants are these series: their closed forms lose digits. */
#define SHORT_TILT 0.5

/* Kernel: both forms are computed, so that there is no branch. */
ALWAYS_INLINE void polya_gamma_normals_body(size_t n, const double *count, const double *z,
                                            const double *residual, const double *slope,
                                            const float *standard, double *weight)
{
    for (size_t r = 0; r < n / WEIGHT_LANES * WEIGHT_LANES; r++) {
        double s = z[r] * z[r], g = 0, g1 = 0, g2 = 0, inverse = 1 / z[r];
        for (int k = MEAN_TERMS - 1; k >= 0; k--) { /* Horner's scheme, and its derivatives */
            g2 = g2 * s + g1;
            g1 = g1 * s + g;
            g = g * s + mean_terms[k];
        }
        double far_mean = -residual[r] * inverse,
               far_variance = (far_mean - slope[r]) * inverse * inverse,
               far_third = (3 * far_variance - 2 * far_mean * slope[r]) * inverse * inverse;
        bool far = fabs(z[r]) >= SHORT_TILT;
        double mean = far ? far_mean : g, variance = far ? far_variance : -2 * g1,
               third = far ? far_third : 8 * g2, deviation = sqrt(count[r] * variance);
        double c = third / (2 * variance * deviation), a = (double)standard[r] / 3 - c / 9,
               e = c * a, w = count[r] * mean + deviation * (a * (3 + e * (3 + e)));
        weight[r] = w > 0 ? w : 0;
    }
}

/* Kernel: one column from the diagonal down, of n elements. */
ALWAYS_INLINE void column_products(const float *x, uint32_t n, double *restrict out)
{
    const double by = (double)x[0];
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (uint32_t k = 0; k < 8; k++)
            out[i + k] = by * (double)x[i + k];
    for (; i < n; i++)
        out[i] = by * (double)x[i];
}

ALWAYS_INLINE void row_products_body(const float *x, size_t n, uint32_t dim, size_t length,
                                     double *out)
{
    for (size_t r = 0; r < n; r++, x += dim) {
        double *end = out + length;
        for (uint32_t j = 0; j < dim; out += dim - j, j++)
            column_products(x + j, dim - j, out);
        memset(out, 0, (size_t)(end - out) * sizeof *out);
        out = end;
    }
}

void row_products_plain(const float *x, size_t n, uint32_t dim, size_t length, double *out)
{
    row_products_body(x, n, dim, length, out);
}

/* Kernel: `width` (a constant) columns in registers over all rows. */
ALWAYS_INLINE void sum_columns(const double *p, size_t n, size_t length, const double *c,
                               double *out, size_t width)
{
    double sum[2 * SUM_COLUMNS];
    for (size_t i = 0; i < width; i++)
        sum[i] = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < width; i++)
            sum[i] += c[r] * p[r * length + i];
    memcpy(out, sum, width * sizeof *sum);
}

ALWAYS_INLINE void weighted_sum_body(const double *p, size_t n, size_t length, const double *c,
                                     double *out, size_t i)
{
    for (; i < length; i += SUM_COLUMNS)
        sum_columns(p + i, n, length, c, out + i, SUM_COLUMNS);
}

void weighted_sum_plain(const double *p, size_t n, size_t length, const double *c, double *out)
{
    weighted_sum_body(p, n, length, c, out, 0);
}

void polya_gamma_normals_plain(size_t n, const double *count, const double *z,
                               const double *residual, const double *slope, const float *standard,
                               double *weight)
{
    polya_gamma_normals_body(n, count, z, residual, slope, standard, weight);
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
        even[v] = d4_load_pairs(out + 4 * v, v + 1 < vectors ? 4 : last);
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

TARGET_AVX2 void polya_gamma_normals_avx2(size_t n, const double *count, const double *z,
                                          const double *residual, const double *slope,
                                          const float *standard, double *weight)
{
    polya_gamma_normals_body(n, count, z, residual, slope, standard, weight);
}

TARGET_AVX512 void polya_gamma_normals_avx512(size_t n, const double *count, const double *z,
                                              const double *residual, const double *slope,
                                              const float *standard, double *weight)
{
    polya_gamma_normals_body(n, count, z, residual, slope, standard, weight);
}

TARGET_AVX2 void weighted_sum_avx2(const double *p, size_t n, size_t length, const double *c,
                                   double *out)
{
    weighted_sum_body(p, n, length, c, out, 0);
}

/* Twice as many columns fill eight registers, which hides the latency of an addition. */
TARGET_AVX512 void weighted_sum_avx512(const double *p, size_t n, size_t length, const double *c,
                                       double *out)
{
    size_t i = 0;
    for (; i + 2 * SUM_COLUMNS <= length; i += 2 * SUM_COLUMNS)
        sum_columns(p + i, n, length, c, out + i, 2 * SUM_COLUMNS);
    weighted_sum_body(p, n, length, c, out, i);
}

TARGET_AVX2 void row_products_avx2(const float *x, size_t n, uint32_t dim, size_t length,
                                   double *out)
{
    row_products_body(x, n, dim, length, out);
}

/* Whole vectors: what they write beyond a column is written over by the next, and what the last
 * writes by the zeros or by the next row. */
TARGET_AVX512 void row_products_avx512(const float *x, size_t n, uint32_t dim, size_t length,
                                       double *out)
{
    for (size_t r = 0; r < n; r++, x += dim) {
        double *end = out + length;
        for (uint32_t j = 0; j < dim; out += dim - j, j++) {
            const __m512d by = _mm512_set1_pd((double)x[j]);
            for (uint32_t i = j; i < dim; i += 8) {
                __mmask8 lanes = (__mmask8)(dim - i < 8 ? (1u << (dim - i)) - 1 : 0xFF);
                __m512d other = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lanes, x + i));
                _mm512_storeu_pd(out + (i - j), _mm512_mul_pd(by, other));
            }
        }
        memset(out, 0, (size_t)(end - out) * sizeof *out);
        out = end;
    }
}

#endif
