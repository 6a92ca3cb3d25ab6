/* sample.h - the draws of a ranking: one sample of the belief in each item, in float32, many items
 * at a time.
 *
 * Item i of a round always gets the same draw, whichever candidates stand beside it: a ranking of a
 * subset is the ranking of everything with the rest left out.  Each function comes as a plain C
 * twin and an AVX2 kernel that give the same bits; the undecorated name picks one.
 *
 * "Padded" arrays have PADDED(n) elements, so that a kernel may read whole vectors.
 */
#ifndef OLTR_ENGINE_RNG_SAMPLE_H
#define OLTR_ENGINE_RNG_SAMPLE_H

#include <oltr/oltr.h>

enum { LANES = 8, NORMAL_GROUP = 32 }; /* a vector of counters yields 32 normals */

static inline size_t padded(size_t n)
{
    return (n + NORMAL_GROUP - 1) / NORMAL_GROUP * NORMAL_GROUP;
}

/* out[j] = mean[i] + sd[i] * z_i of candidate j, where i = item[j], or j when item is NULL. Without
 * `item`, mean, sd and out are padded, and the padding of `out` is written too. */
void gauss_scores(const oltr_rng *rng, const float *mean, const float *sd, const uint32_t *item,
                  size_t n, float *out);
void gauss_scores_plain(const oltr_rng *rng, const float *mean, const float *sd,
                        const uint32_t *item, size_t n, float *out);
void gauss_scores_avx2(const oltr_rng *rng, const float *mean, const float *sd,
                       const uint32_t *item, size_t n, float *out);
void gauss_scores_avx512(const oltr_rng *rng, const float *mean, const float *sd, size_t n,
                         float *out); /* without a list */

/* n standard normals, numbered as the items above; out is padded. */
void standard_normals(const oltr_rng *rng, size_t n, float *out);
void standard_normals_plain(const oltr_rng *rng, size_t n, float *out);
void standard_normals_avx2(const oltr_rng *rng, size_t n, float *out);
void standard_normals_avx512(const oltr_rng *rng, size_t n, float *out);

/* The rows first..first+n-1 of dim numbers, each row uniform on the cube (0,1]^dim and scaled to
 * length 1, and their products with theta.  theta: (dim); out: (n, dim), not padded; product: (n).
 * first is a multiple of DIRECTION_ROWS, which makes whole groups of 32 numbers for every dim. */
enum { DIRECTION_ROWS = 32 };
void cube_directions(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                     const double *theta, float *out, double *product);
void cube_directions_plain(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                           const double *theta, float *out, double *product);
void cube_directions_avx2(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                          const double *theta, float *out, double *product);

/* Normals of rounds to come.
 *
 * To make the 32 normals of a short list is a chain of some 160 cycles, each step waiting for the
 * one before, while most of the processor stands still. But they depend on the generator alone, and
 * whoever ranks round after round asks for those of round t + 1 next.  So, once calls have been one
 * round apart, the normals of AHEAD rounds are made side by side, in little more time than those of
 * one.  Whoever asks for others is given them, made on the spot: what is kept here decides how long
 * a call takes and nothing else.  All zero at first; one for each thread. */
enum { AHEAD = 8 };
typedef struct normals_ahead {
    _Alignas(
        64) float z[2 * AHEAD][NORMAL_GROUP]; /* one half is used up before the other is made */
    oltr_rng next;                            /* the generator that is expected next */
    uint32_t at;                              /* the number of its normals, from 1; 0: not made */
} normals_ahead;

/* The same as gauss_scores and standard_normals; the latter returns where the normals are, in `out`
 * or ahead. */
void gauss_scores_ahead(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                        const float *sd, const uint32_t *item, size_t n, float *out);
const float *standard_normals_ahead(const oltr_rng *rng, normals_ahead *ahead, size_t n,
                                    float *out);
/* n <= NORMAL_GROUP */
void gauss_scores_ahead_avx512(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                               const float *sd, float *out);
const float *standard_normals_ahead_avx512(const oltr_rng *rng, normals_ahead *ahead);

/* What Marsaglia and Tsang's method needs of Gamma(a) and Gamma(b) to draw from Beta(a,b).  It
 * wants a shape of at least 1; below, Gamma(a) = Gamma(a + 1) U^(1/a).  The draw is compared by its
 * log-odds, so the power is a product and nothing underflows. */
typedef struct beta_shapes {
    const float *ca, *cb;   /* (padded) 1 / sqrt(9 d) */
    const float *da, *db;   /* (padded) shape - 1/3, of the shape raised by 1 if it is below 1 */
    const float *log_da_db; /* (padded) log(da / db) */
    const float *pa, *pb;   /* (padded) the powers 1 / shape of those below 1; 0 of others */
    uint32_t n_powers;      /* how many items have one */
} beta_shapes;

typedef struct beta_shape {
    float ca, cb, da, db, log_da_db, pa, pb;
} beta_shape;

/* The entries of an item of Beta(a,b), a and b > 0. */
beta_shape beta_shape_of(double a, double b);

/* out[j] = the log-odds log(x / (1 - x)) of a draw x ~ Beta(a_i, b_i) of candidate j; `todo` is
 * room for padded(n). Without `item`, out is padded and its padding is written (with -infinity). */
void beta_scores(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item, size_t n,
                 uint32_t *todo, float *out);
void beta_scores_plain(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item,
                       size_t n, uint32_t *todo, float *out);
void beta_scores_avx2(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item,
                      size_t n, uint32_t *todo, float *out);

#endif
