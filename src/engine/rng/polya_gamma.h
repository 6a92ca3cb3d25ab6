/* polya_gamma.h - draws from the Polya-Gamma distribution PG(n, z) (Polson, Scott and Windle 2013).
 *
 * Definition.  PG(1, z) has the Laplace transform E exp(-t w) = cosh(z/2) / cosh(sqrt(z^2 + 2t)/2);
 * PG(n, z) is the sum of n independent draws of it.  n is a whole number here.  Given w, a logistic
 * likelihood is a normal one: posterior/logistic_gibbs.h.
 *
 * Draws.  Up to POLYA_GAMMA_EXACT the law is exact but for the rounding of floats, which moves a
 * quantile by 1.1e-6 of itself at most.  For |z| < 3.1, w is the sum of a few draws of PG(b, z), b
 * a power of two (kernels/jacobi_kernels.h): the fewest, but for sizes of which less than 0.6 would
 * be accepted.  Beyond, it is the sum of n draws of PG(1, z) in double, 100 ns each.  Above
 * POLYA_GAMMA_EXACT, w is a cubic of a normal with the mean, the variance and the skewness of
 * PG(n, z) (kernels/logistic_kernels.h).  At z = 0 the distance of the distribution functions is
 * 2e-4 for n = 16 already; that of a normal would be 0.032.
 */
#ifndef OLTR_ENGINE_RNG_POLYA_GAMMA_H
#define OLTR_ENGINE_RNG_POLYA_GAMMA_H

#include "engine/kernels/table.h"

enum { POLYA_GAMMA_EXACT = 20 };

/* Rows with counts n, those of at most POLYA_GAMMA_EXACT apart from the others, and room to draw
 * their w.  Arrays have room for weights_padded(rows). */
typedef struct polya_gamma_rows {
    uint32_t n_few, n_many;
    uint32_t *few, *many; /* (rows) which these are, n = 0 left out */
    double *count;        /* (n_many) their n */
    double *one, *half;   /* (n_many) 1 and 1/2 */
    double *z, *residual, *slope, *drawn;
} polya_gamma_rows;

/* Arrays of doubles that it has. */
enum { POLYA_GAMMA_DOUBLES = 7 };
/* In memory of POLYA_GAMMA_DOUBLES and two words times weights_padded(rows). */
polya_gamma_rows polya_gamma_rows_of(size_t rows, const double *n, double *doubles,
                                     uint32_t *words);

/* Proposals of sums of Jacobi variables, used up one after the other, and the sums for which they
 * are tried. */
enum { PROPOSALS = 128, SUMS = 256 };
typedef struct polya_gamma_source {
    oltr_rng rng;
    uint32_t stream;      /* of the normals; the next one has the exponentials */
    uint32_t round, used; /* how often they were made, and how many of the last are used */
    oltr_rng tilted;      /* for draws at large |z| */
    uint32_t sum[SUMS + JACOBI_LANES]; /* JACOBI_SIZES times its row, and its size */
    float tilt[SUMS + JACOBI_LANES], x[SUMS + JACOBI_LANES];
    float normal[PROPOSALS + JACOBI_LANES], exponential[PROPOSALS + JACOBI_LANES];
} polya_gamma_source;

/* With the streams first, first + 1 and first + 2 of the generator. */
void polya_gamma_begin(polya_gamma_source *source, const oltr_rng *rng, uint32_t first);

/* Draws w of every row: exact draws from the source, the others from (padded(n_many)) standard
 * normals.  n, z and weight: (rows).  0 for n = 0 and for a z that is infinite or NaN. */
void polya_gamma_draw(polya_gamma_source *source, const polya_gamma_rows *rows, const double *n,
                      const double *z, const float *normal, double *weight);

#endif
