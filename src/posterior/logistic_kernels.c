/* logistic_kernels.c - response, pull and range, see logistic_kernels.h.
 *
 * The exponential is our own: exp(-a) = 2^k exp(r) with |r| <= ln(2)/2 and the Taylor polynomial of degree 13, whose remainder is 4e-18.  It has
 * no branch and no table, costs a few nanoseconds for four, and, unlike the C library's, gives the same bits on every machine.
 */
#include "posterior/logistic_kernels.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"

#if OLTR_HAVE_AVX2
#include <immintrin.h>
#endif

typedef double four __attribute__((vector_size(32)));
typedef uint64_t four_words __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));
typedef uint64_t eight_words __attribute__((vector_size(64)));

#define BODY static inline __attribute__((always_inline))

/* e^-746 is 0 in double, and so is that of all beyond */
#define LOWEST 746.0
#define LOG2_E 0x1.71547652b82fep0
#define LN2_HIGH 0x1.62e42fefa0000p-1 /* its last bits are zero: a product with k is exact */
#define LN2_LOW 0x1.cf79abc9e3b3ap-40
#define ROUNDING 0x1.8p52 /* adding it rounds to an integer, which then stands in the low bits */

#define LANES 4
#define VECTOR four
#define WORDS four_words
#define RESPOND respond_fours
#include "posterior/respond_body.h"
#undef LANES
#undef VECTOR
#undef WORDS
#undef RESPOND

#define SPLAT(x) ((four){(x), (x), (x), (x)})

/* Kernel: a NaN ends up in neither bound, but cannot arise from finite non-negative a, b and positive c. */
BODY void ratio_range_body(size_t n, const double *a, const double *b, const double *c, double range[2])
{
    four least = SPLAT(1.0), most = SPLAT(1.0);
    double least_of[4], most_of[4];
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        four x, y, z;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        memcpy(&z, c + i, sizeof z);
        four ratio = (x + z) / (y + z);
        four_words less = (four_words)(ratio < least), more = (four_words)(ratio > most);
        least = (four)(((four_words)ratio & less) | ((four_words)least & ~less));
        most = (four)(((four_words)ratio & more) | ((four_words)most & ~more));
    }
    memcpy(least_of, &least, sizeof least);
    memcpy(most_of, &most, sizeof most);
    range[0] = range[1] = 1;
    for (; i < n; i++) {
        double ratio = (a[i] + c[i]) / (b[i] + c[i]);
        range[0] = ratio < range[0] ? ratio : range[0];
        range[1] = ratio > range[1] ? ratio : range[1];
    }
    for (int k = 0; k < 4; k++) {
        range[0] = least_of[k] < range[0] ? least_of[k] : range[0];
        range[1] = most_of[k] > range[1] ? most_of[k] : range[1];
    }
}

void respond_plain(size_t n, const double *z, const double *examined, const double *clicked, double *residual,
                   double *curvature)
{
    respond_fours(0, respond_padded(n), z, examined, clicked, residual, curvature);
}

void rows_pull_plain(const float *x, size_t n, uint32_t dim, const double *c, double *out)
{
    for (size_t r = 0; r < n; r++)
        for (uint32_t j = 0; j < dim; j++)
            out[j] = fma(c[r], (double)x[r * dim + j], out[j]);
}

void ratio_range_plain(size_t n, const double *a, const double *b, const double *c, double range[2])
{
    ratio_range_body(n, a, b, c, range);
}

#if OLTR_HAVE_AVX2

OLTR_TARGET_AVX2 void respond_avx2(size_t n, const double *z, const double *examined, const double *clicked,
                                   double *residual, double *curvature)
{
    respond_fours(0, respond_padded(n), z, examined, clicked, residual, curvature);
}

#define LANES 8
#define VECTOR eight
#define WORDS eight_words
#define RESPOND respond_eights
#include "posterior/respond_body.h"

/* Vectors of eight, and one of four where that is enough. */
OLTR_TARGET_AVX512 void respond_avx512(size_t n, const double *z, const double *examined, const double *clicked,
                                       double *residual, double *curvature)
{
    size_t all = respond_padded(n), i = respond_eights(0, all, z, examined, clicked, residual, curvature);
    respond_fours(i, all, z, examined, clicked, residual, curvature);
}

/* Kernel: `vectors` (a constant) times four columns at once, summed in registers over all rows.  The last vector has `last` columns. */
OLTR_TARGET_AVX2 BODY void pull_columns(const float *x, size_t n, uint32_t dim, const double *c, double *out,
                                        int vectors, int last)
{
    static const int32_t lanes[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)(lanes + 4 - last));
    __m256d sum[8] = {_mm256_setzero_pd()};
    for (int v = 0; v < vectors; v++)
        sum[v] = v + 1 < vectors ? _mm256_loadu_pd(out + 4 * v)
                                 : _mm256_maskload_pd(out + 4 * v, _mm256_cvtepi32_epi64(mask));
    for (size_t r = 0; r < n; r++, x += dim) {
        __m256d weight = _mm256_broadcast_sd(c + r);
        for (int v = 0; v + 1 < vectors; v++)
            sum[v] = _mm256_fmadd_pd(weight, _mm256_cvtps_pd(_mm_loadu_ps(x + 4 * v)), sum[v]);
        __m128 tail = last == 4 ? _mm_loadu_ps(x + 4 * (vectors - 1)) : _mm_maskload_ps(x + 4 * (vectors - 1), mask);
        sum[vectors - 1] = _mm256_fmadd_pd(weight, _mm256_cvtps_pd(tail), sum[vectors - 1]);
    }
    for (int v = 0; v + 1 < vectors; v++)
        _mm256_storeu_pd(out + 4 * v, sum[v]);
    _mm256_maskstore_pd(out + 4 * (vectors - 1), _mm256_cvtepi32_epi64(mask), sum[vectors - 1]);
}

OLTR_TARGET_AVX2 void rows_pull_avx2(const float *x, size_t n, uint32_t dim, const double *c, double *out)
{
    uint32_t j = 0;
    for (; dim - j >= 32; j += 32)
        pull_columns(x + j, n, dim, c, out + j, 8, 4);
    if (dim - j > 16) {
        pull_columns(x + j, n, dim, c, out + j, 4, 4);
        j += 16;
    }
    uint32_t left = dim - j;
    int last = left % 4 ? (int)(left % 4) : 4;
    switch ((left + 3) / 4) {
    case 1:
        pull_columns(x + j, n, dim, c, out + j, 1, last);
        break;
    case 2:
        pull_columns(x + j, n, dim, c, out + j, 2, last);
        break;
    case 3:
        pull_columns(x + j, n, dim, c, out + j, 3, last);
        break;
    case 4:
        pull_columns(x + j, n, dim, c, out + j, 4, last);
        break;
    default: /* nothing left */
        break;
    }
}

OLTR_TARGET_AVX2 void ratio_range_avx2(size_t n, const double *a, const double *b, const double *c, double range[2])
{
    ratio_range_body(n, a, b, c, range);
}

#else

void respond_avx512(size_t n, const double *z, const double *examined, const double *clicked, double *residual,
                    double *curvature)
{
    respond_plain(n, z, examined, clicked, residual, curvature);
}

void respond_avx2(size_t n, const double *z, const double *examined, const double *clicked, double *residual,
                  double *curvature)
{
    respond_plain(n, z, examined, clicked, residual, curvature);
}

void rows_pull_avx2(const float *x, size_t n, uint32_t dim, const double *c, double *out)
{
    rows_pull_plain(x, n, dim, c, out);
}

void ratio_range_avx2(size_t n, const double *a, const double *b, const double *c, double range[2])
{
    ratio_range_plain(n, a, b, c, range);
}

#endif

void respond(size_t n, const double *z, const double *examined, const double *clicked, double *residual,
             double *curvature)
{
    (cpu_has_avx512() ? respond_avx512
     : cpu_has_avx2() ? respond_avx2
                      : respond_plain)(n, z, examined, clicked, residual, curvature);
}

void rows_pull(const float *x, size_t n, uint32_t dim, const double *c, double *out)
{
    (cpu_has_avx2() ? rows_pull_avx2 : rows_pull_plain)(x, n, dim, c, out);
}

void ratio_range(size_t n, const double *a, const double *b, const double *c, double range[2])
{
    (cpu_has_avx2() ? ratio_range_avx2 : ratio_range_plain)(n, a, b, c, range);
}
