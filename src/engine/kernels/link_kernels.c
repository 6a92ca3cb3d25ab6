/* link_kernels.c - residuals and weights from scores, see link_kernels.h.
 *
 * The exponential is our own: it has no branch and no table, costs a few nanoseconds for four, and,
 * unlike the C library's, gives the same bits on every machine.  mu and 1 - mu are computed apart,
 * each with its own relative accuracy, because residuals of clicked rows are S (1 - mu):
 *
 * logit: e = exp(-|z|), then 1 / (1 + e) and e / (1 + e).
 *
 * probit: Phi(-x) = exp(-x^2 / 2) m(x), x = |z|, where m is Mills' ratio over sqrt(2 pi).
 * (1 + MILLS_SLOPE x) m(x) is smooth in t = (x - MILLS_PLACE) / (x + MILLS_PLACE), which maps
 * x >= 0 to [-1, 1): its Chebyshev series of degree 23, written as a polynomial, is within 3e-17.
 * The rounding of x^2 / 2 is taken back to first order.
 *
 * cloglog: u = e^z, then exp(-u) and 1 - exp(-u), the latter from exp(r) - 1 by its own series, so
 * that small chances are exact.
 *
 * Relative errors of mu, 1 - mu and mu' are below 1e-15 for all three; but exp(-u) has the error of
 * u, which counts u times.  Chances below 1e-307 are 0.
 */
#include "engine/kernels/table.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/lanes.h"

typedef double four __attribute__((vector_size(32)));
typedef uint64_t four_words __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));
typedef uint64_t eight_words __attribute__((vector_size(64)));

/* e^-708 is about the smallest normal number, and what is beyond counts as 0 */
#define LOWEST 708.0
#define LARGEST_DEVIATION 37.6 /* half its square is below LOWEST */
#define LARGEST_LOG_HAZARD 7.0 /* its exponential is above LOWEST */
#define LOG2_E 0x1.71547652b82fep0
#define LN2_HIGH 0x1.62e42fefa0000p-1 /* its last bits are zero: a product with k is exact */
#define LN2_LOW 0x1.cf79abc9e3b3ap-40
#define ROUNDING 0x1.8p52 /* adding it rounds to an integer, which is then in the low bits */
#define ONE_BY_ROOT_2_PI 0x1.9884533d43651p-2
#define MILLS_PLACE 5.0
#define MILLS_SLOPE 1.5

enum { MILLS_TERMS = 24 };
static const double mills_near[MILLS_TERMS] = {
    0x1.4ec0b88013f3ap-1,   -0x1.0cb236a6a53e9p-4,  -0x1.78777c9acfbc1p-7,  0x1.c635928c180f6p-5,
    -0x1.04373caae28c5p-4,  0x1.8d69ddce4c795p-5,   -0x1.be7c4590d8f45p-6,  0x1.678b5b595ea1fp-7,
    -0x1.57eaeeeaaa0afp-9,  -0x1.d1281c5812239p-15, 0x1.3e77db4c34ecdp-12,  -0x1.53494638de7e8p-14,
    -0x1.30c780f5cd573p-16, 0x1.dd5090e2f3346p-17,  0x1.f1c4c831b3da7p-23,  -0x1.17a16dd914797p-19,
    0x1.49e7927b05ff3p-23,  0x1.51e471747dfcbp-22,  -0x1.269237de98cf8p-25, -0x1.abf0e3d1fcf79p-25,
    0x1.4586afd5646f8p-28,  0x1.eb3c4326421e5p-28,  -0x1.8ca7b5249bd59p-32, -0x1.5a92c19bbba28p-31};

/* c becomes a b + c.  By address, for without AVX there is no settled way to pass such vectors. */
ALWAYS_INLINE four *fma_fours(const four *a, const four *b, four *c)
{
    for (int i = 0; i < 4; i++)
        (*c)[i] = fma((*a)[i], (*b)[i], (*c)[i]);
    return c;
}

#define TARGET
#define WIDTH 4
#define VECTOR four
#define WORDS four_words
#define FMA(a, b, c) (*fma_fours((four[]){a}, (four[]){b}, (four[]){c}))
#define OF(name) name##_of_fours
#include "engine/kernels/residuals_body.h"

/* The version of a link's kernel that is made of one kind of vector. */
#define RESIDUALS(kernel, version, target, body)                                                   \
    target void kernel##_residuals_##version(size_t n, const double *z, const double *examined,    \
                                             const double *clicked, double *residual,              \
                                             double *curvature)                                    \
    {                                                                                              \
        body(0, residuals_padded(n), z, examined, clicked, residual, curvature);                   \
    }

RESIDUALS(logistic, plain, , logit_of_fours)
RESIDUALS(probit, plain, , probit_of_fours)
RESIDUALS(cloglog, plain, , cloglog_of_fours)

#if OLTR_X86

#define TARGET TARGET_AVX2
#define WIDTH 4
#define VECTOR four
#define WORDS four_words
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define OF(name) name##_of_fours_fused
#include "engine/kernels/residuals_body.h"

RESIDUALS(logistic, avx2, TARGET_AVX2, logit_of_fours_fused)
RESIDUALS(probit, avx2, TARGET_AVX2, probit_of_fours_fused)
RESIDUALS(cloglog, avx2, TARGET_AVX2, cloglog_of_fours_fused)

#define TARGET TARGET_AVX512
#define WIDTH 8
#define VECTOR eight
#define WORDS eight_words
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define OF(name) name##_of_eights
#include "engine/kernels/residuals_body.h"

/* Vectors of eight, and one of four where that is enough. */
#define RESIDUALS_BY_EIGHT(kernel, body)                                                           \
    TARGET_AVX512 void kernel##_residuals_avx512(size_t n, const double *z,                        \
                                                 const double *examined, const double *clicked,    \
                                                 double *residual, double *curvature)              \
    {                                                                                              \
        size_t all = residuals_padded(n),                                                          \
               i = body##_of_eights(0, all, z, examined, clicked, residual, curvature);            \
        body##_of_fours_fused(i, all, z, examined, clicked, residual, curvature);                  \
    }

RESIDUALS_BY_EIGHT(logistic, logit)
RESIDUALS_BY_EIGHT(probit, probit)
RESIDUALS_BY_EIGHT(cloglog, cloglog)

#elif OLTR_ARM64

#define TARGET
#define WIDTH 2
#define VECTOR float64x2_t
#define WORDS uint64x2_t
#define FMA(a, b, c) vfmaq_f64(c, a, b)
#define OF(name) name##_of_twos
#include "engine/kernels/residuals_body.h"

RESIDUALS(logistic, neon, , logit_of_twos)
RESIDUALS(probit, neon, , probit_of_twos)
RESIDUALS(cloglog, neon, , cloglog_of_twos)

#endif
