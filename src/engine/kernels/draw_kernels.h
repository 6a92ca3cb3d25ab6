/* draw_kernels.h - the draws of a ranking: one sample of the posterior of each item, in float32.
 *
 * Item i of a round always gets the same draw, whichever other candidates there are: a ranking of a
 * subset is the ranking of everything with the rest left out.
 *
 * Normals: the counters 8g..8g+7 make the normals of the items 32g..32g+31; word j of counter 8g+l
 * belongs to item 32g+8j+l, which is how the words of eight counters lie in four vectors.  Words
 * 0,1 and words 2,3 make a pair each.
 *
 * Directions: feature j of row i is number m = i dim + j, and made of word floor(m / 8) mod 4 of
 * counter 8 floor(m / 32) + m mod 8.  Counters beyond 2^32 go on in the purpose.  The squares of a
 * row are exact in double and add up in four interleaved sets of four partial sums; every number is
 * then multiplied by the float nearest to 1 / sqrt(sum).  The products with theta add up likewise,
 * each one fused.
 *
 * Beta: position i, attempt by attempt: words 0,1 make the normals of the two gammas, words 2,3
 * decide whether each is accepted.  If either is rejected both are drawn again: the law of an
 * accepted pair is the same.  Shapes below 1 are raised by 1 first, and words 0,1 of another
 * purpose make the uniforms whose powers take that back.
 *
 * "Padded" arrays have padded(n) elements, so that a kernel may read whole vectors.
 */
#ifndef OLTR_ENGINE_KERNELS_DRAW_KERNELS_H
#define OLTR_ENGINE_KERNELS_DRAW_KERNELS_H

#include <oltr/oltr.h>

enum { LANES = 8, NORMAL_GROUP = 32 }; /* a vector of counters yields 32 normals */

static inline size_t padded(size_t n)
{
    return (n + NORMAL_GROUP - 1) / NORMAL_GROUP * NORMAL_GROUP;
}

/* n standard normals, numbered as the items; out is padded. */
typedef void standard_normals_fn(const oltr_rng *rng, size_t n, float *out);

/* out[j] = mean[i] + sd[i] * z_i of candidate j, where i = item[j], or j when item is NULL. Without
 * `item`, mean, sd and out are padded, and the padding of `out` is written too. */
typedef void gauss_scores_fn(const oltr_rng *rng, const float *mean, const float *sd,
                             const uint32_t *item, size_t n, float *out);

/* The normals of a group depend on the generator alone, and a thread that ranks round after round
 * needs those of round t + 1 next.  To make 32 normals is a chain of some 160 cycles of dependent
 * operations, which leaves most of the processor idle.  So the AVX-512 kernels, once calls have
 * been one round apart, make the normals of AHEAD rounds side by side, in little more time than
 * those of one.  Other rounds are computed directly: this changes the time of a call and never its
 * result. All zero at first; one for each thread. */
enum { AHEAD = 8 };
typedef struct normals_ahead {
    _Alignas(
        64) float z[2 * AHEAD][NORMAL_GROUP]; /* one half is used up before the other is made */
    oltr_rng next;                            /* the generator that is expected next */
    uint32_t at;                              /* the number of its normals, from 1; 0: not made */
} normals_ahead;

/* The first 32 normals of the generator's round, which are somewhere in `ahead`. */
typedef const float *prefetched_normals_fn(const oltr_rng *rng, normals_ahead *ahead);
/* gauss_scores of n <= 32 items without a list. */
typedef void prefetched_scores_fn(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                                  const float *sd, float *out);

/* What Marsaglia and Tsang's method needs of Gamma(a) and Gamma(b) to draw from Beta(a,b).  It
 * needs a shape of at least 1; below, Gamma(a) = Gamma(a + 1) U^(1/a).  The draw is compared by its
 * log-odds, so the power is a product and nothing underflows. */
typedef struct beta_shapes {
    const float *ca, *cb;   /* (padded) 1 / sqrt(9 d) */
    const float *da, *db;   /* (padded) shape - 1/3, of the shape raised by 1 if it is below 1 */
    const float *log_da_db; /* (padded) log(da / db) */
    const float *pa, *pb;   /* (padded) the powers 1 / shape of those below 1; 0 of others; not read
                               where n_powers is 0 */
    uint32_t n_powers;      /* how many items have one */
} beta_shapes;

/* out[j] = the log-odds log(x / (1 - x)) of a draw x ~ Beta(a_i, b_i) of candidate j; `todo` is
 * room for padded(n). Without `item`, out is padded and its padding is written (with -infinity). */
typedef void beta_scores_fn(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item,
                            size_t n, uint32_t *todo, float *out);

/* out[j] = the standard Gumbel variable of item[j], or of item j when item is NULL; out is padded.
 * Word floor(i / 8) mod 4 of counter 8 floor(i / 32) + i mod 8 makes that of item i. */
typedef void gumbels_fn(const oltr_rng *rng, const uint32_t *item, size_t n, float *out);

/* n standard exponential variables, -log u; out is padded.  The words are those of gumbels. */
typedef void exponentials_fn(const oltr_rng *rng, size_t n, float *out);

/* The rows first..first+n-1 of dim numbers, each row uniform on the cube (0,1]^dim and scaled to
 * length 1, and their products with theta.  theta: (dim); out: (n, dim), not padded; product: (n).
 * first is a multiple of DIRECTION_ROWS, which makes whole groups of 32 numbers for every dim. */
enum { DIRECTION_ROWS = 32 };
typedef void cube_directions_fn(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                                const double *theta, float *out, double *product);

#endif
