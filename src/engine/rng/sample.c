/* sample.c - the plain C twins of the samplers, and the choice between them and the AVX2 kernels.
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
 * decide whether each is accepted. If either is rejected both are drawn again: the law of an
 * accepted pair is the same.  Shapes below 1 are raised by 1 first, and words 0,1 of another
 * purpose make the uniforms whose powers take that back.
 */
#include "engine/rng/sample.h"

#include "engine/kernels/cpu.h"
#include "engine/rng/float_math.h"
#include "engine/rng/philox.h"

static float normal_at(const oltr_rng *rng, uint32_t item)
{
    uint32_t word[4], j = item % NORMAL_GROUP / LANES;
    float z[2];
    words_at(rng, item / NORMAL_GROUP * LANES + item % LANES, 0, word);
    box_muller(word[j & 2], word[(j & 2) + 1], &z[0], &z[1]);
    return z[j & 1];
}

void standard_normals_plain(const oltr_rng *rng, size_t n, float *out)
{
    for (size_t group = 0; group < n; group += NORMAL_GROUP)
        for (size_t l = 0; l < LANES; l++) {
            uint32_t word[4];
            float *lane = out + group + l;
            words_at(rng, (uint32_t)(group / NORMAL_GROUP * LANES + l), 0, word);
            box_muller(word[0], word[1], &lane[0], &lane[LANES]);
            box_muller(word[2], word[3], &lane[2 * LANES], &lane[3 * LANES]);
        }
}

void gauss_scores_plain(const oltr_rng *rng, const float *mean, const float *sd,
                        const uint32_t *item, size_t n, float *out)
{
    if (item) {
        for (size_t j = 0; j < n; j++)
            out[j] = fmaf(sd[item[j]], normal_at(rng, item[j]), mean[item[j]]);
        return;
    }
    standard_normals_plain(rng, n, out);
    for (size_t i = 0; i < padded(n); i++)
        out[i] = fmaf(sd[i], out[i], mean[i]);
}

/* The group's 32 uniforms, or the first n of them. */
static void uniform_group(const oltr_rng *rng, uint64_t group, size_t n, float *out)
{
    for (uint32_t l = 0; l < LANES && l < n; l++) {
        uint64_t counter = group * LANES + l;
        uint32_t word[4];
        words_at(rng, (uint32_t)counter, (uint32_t)(counter >> 32), word);
        for (size_t j = 0; j < 4 && LANES * j + l < n; j++)
            out[LANES * j + l] = uniform_float(word[j]);
    }
}

static double sum_of_parts(const double part[4][4])
{
    double four[4];
    for (size_t l = 0; l < 4; l++)
        four[l] = (part[0][l] + part[1][l]) + (part[2][l] + part[3][l]);
    return (four[0] + four[1]) + (four[2] + four[3]);
}

/* To length 1; returns the product with theta. */
static double scale_row(float *row, uint32_t dim, const double *theta)
{
    double squares[4][4] = {{0}}, products[4][4] = {{0}};
    for (size_t j = 0; j < dim; j++)
        squares[j / 4 % 4][j % 4] += (double)row[j] * (double)row[j];
    float factor = (float)(1 / sqrt(sum_of_parts((const double(*)[4])squares)));
    for (size_t j = 0; j < dim; j++) {
        double *sum = &products[j / 4 % 4][j % 4];
        row[j] *= factor;
        *sum = fma((double)row[j], theta[j], *sum);
    }
    return sum_of_parts((const double(*)[4])products);
}

void cube_directions_plain(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                           const double *theta, float *out, double *product)
{
    const size_t count = n * dim;
    const uint64_t group = first * dim / NORMAL_GROUP;
    for (size_t g = 0; g * NORMAL_GROUP < count; g++) {
        size_t left = count - g * NORMAL_GROUP;
        uniform_group(rng, group + g, left < NORMAL_GROUP ? left : NORMAL_GROUP,
                      out + g * NORMAL_GROUP);
    }
    for (size_t i = 0; i < n; i++)
        product[i] = scale_row(out + i * dim, dim, theta);
}

/* log of density over envelope, for d = shape - 1/3 and t = c x: 3 log(1+t) - 3t + 3t^2/2 - t^3,
 * times d.  Where the polynomial of the logarithm holds, its leading terms cancel on paper instead
 * of in floats. */
static float acceptance(float d, float t)
{
    float cube = t * t * t;
    if (t > LOG_T_MIN && t < LOG_T_MAX)
        return d * (cube * fmaf(3, log_p(t), -1));
    return d * (fmaf(3, log_float(1 + t), fmaf(-3, t, fmaf(1.5f * t, t, -cube))));
}

static int gamma_accepts(float d, float t, float x, float u)
{
    float tx = t * x;
    if (!(t > -1))
        return 0;
    return (t > SQUEEZE_FROM && u < fmaf(-SQUEEZE * tx, tx, 1)) || log_float(u) < acceptance(d, t);
}

/* A power beyond this would leave the floats once it is multiplied by a logarithm, at most 22.2.
 * Such a draw is 0 or 1 for all purposes; the two powers are lessened by one factor, so that the
 * odds of the one and the other stay right. */
#define LARGEST_POWER 1e36

static double power_of(double shape, double least)
{
    if (shape >= 1)
        return 0;
    return least >= 1 / LARGEST_POWER ? 1 / shape : least / shape * LARGEST_POWER;
}

beta_shape beta_shape_of(double a, double b)
{
    double da = a - 1.0 / 3 + (a < 1), db = b - 1.0 / 3 + (b < 1), least = fmin(a, b);
    return (beta_shape){(float)(1 / sqrt(9 * da)),
                        (float)(1 / sqrt(9 * db)),
                        (float)da,
                        (float)db,
                        (float)log(da / db),
                        (float)power_of(a, least),
                        (float)power_of(b, least)};
}

/* The log-odds of Gamma(a) against Gamma(b), of those of the raised shapes. */
static float with_powers(const oltr_rng *rng, const beta_shapes *s, uint32_t i, float odds)
{
    uint32_t word[4];
    words_at(rng, i, PURPOSE_POWERS, word);
    float second = log_uniform_float(word[1]) * s->pb[i];
    return odds + fmaf(log_uniform_float(word[0]), s->pa[i], -second);
}

static float beta_at(const oltr_rng *rng, const beta_shapes *s, uint32_t i)
{
    for (uint32_t attempt = 0;; attempt = (attempt + 1) & 0x7FFF) {
        uint32_t word[4];
        float xa, xb;
        words_at(rng, i, attempt, word);
        box_muller(word[0], word[1], &xa, &xb);
        float ta = s->ca[i] * xa, tb = s->cb[i] * xb;
        if (gamma_accepts(s->da[i], ta, xa, uniform_float(word[2])) &&
            gamma_accepts(s->db[i], tb, xb, uniform_float(word[3]))) {
            float odds = fmaf(3, log_float((1 + ta) / (1 + tb)), s->log_da_db[i]);
            return s->pa[i] > 0 || s->pb[i] > 0 ? with_powers(rng, s, i, odds) : odds;
        }
    }
}

void beta_scores_plain(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item,
                       size_t n, uint32_t *todo, float *out)
{
    (void)todo;
    for (size_t j = 0; j < n; j++)
        out[j] = beta_at(rng, shapes, item ? item[j] : (uint32_t)j);
    if (!item)
        for (size_t j = n; j < padded(n); j++)
            out[j] = -INFINITY;
}

void gauss_scores(const oltr_rng *rng, const float *mean, const float *sd, const uint32_t *item,
                  size_t n, float *out)
{
    if (!item && cpu_has_avx512())
        gauss_scores_avx512(rng, mean, sd, n, out);
    else if (cpu_has_avx2())
        gauss_scores_avx2(rng, mean, sd, item, n, out);
    else
        gauss_scores_plain(rng, mean, sd, item, n, out);
}

void standard_normals(const oltr_rng *rng, size_t n, float *out)
{
    if (cpu_has_avx512())
        standard_normals_avx512(rng, n, out);
    else if (cpu_has_avx2())
        standard_normals_avx2(rng, n, out);
    else
        standard_normals_plain(rng, n, out);
}

void cube_directions(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                     const double *theta, float *out, double *product)
{
    if (cpu_has_avx2())
        cube_directions_avx2(rng, first, n, dim, theta, out, product);
    else
        cube_directions_plain(rng, first, n, dim, theta, out, product);
}

void gauss_scores_ahead(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                        const float *sd, const uint32_t *item, size_t n, float *out)
{
    if (!item && n <= NORMAL_GROUP && cpu_has_avx512())
        gauss_scores_ahead_avx512(rng, ahead, mean, sd, out);
    else
        gauss_scores(rng, mean, sd, item, n, out);
}

const float *standard_normals_ahead(const oltr_rng *rng, normals_ahead *ahead, size_t n, float *out)
{
    if (n <= NORMAL_GROUP && cpu_has_avx512())
        return standard_normals_ahead_avx512(rng, ahead);
    standard_normals(rng, n, out);
    return out;
}

void beta_scores(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item, size_t n,
                 uint32_t *todo, float *out)
{
    if (cpu_has_avx2())
        beta_scores_avx2(rng, shapes, item, n, todo, out);
    else
        beta_scores_plain(rng, shapes, item, n, todo, out);
}

#if !OLTR_HAVE_AVX2
/* Never called: cpu_has_avx2() and cpu_has_avx512() are 0 in such a build. */
void standard_normals_avx512(const oltr_rng *rng, size_t n, float *out)
{
    standard_normals_plain(rng, n, out);
}

void gauss_scores_avx512(const oltr_rng *rng, const float *mean, const float *sd, size_t n,
                         float *out)
{
    gauss_scores_plain(rng, mean, sd, NULL, n, out);
}

void gauss_scores_ahead_avx512(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                               const float *sd, float *out)
{
    (void)ahead;
    gauss_scores_plain(rng, mean, sd, NULL, NORMAL_GROUP, out);
}

const float *standard_normals_ahead_avx512(const oltr_rng *rng, normals_ahead *ahead)
{
    standard_normals_plain(rng, NORMAL_GROUP, ahead->z[0]);
    return ahead->z[0];
}

void standard_normals_avx2(const oltr_rng *rng, size_t n, float *out)
{
    standard_normals_plain(rng, n, out);
}

void cube_directions_avx2(const oltr_rng *rng, uint64_t first, size_t n, uint32_t dim,
                          const double *theta, float *out, double *product)
{
    cube_directions_plain(rng, first, n, dim, theta, out, product);
}

void gauss_scores_avx2(const oltr_rng *rng, const float *mean, const float *sd,
                       const uint32_t *item, size_t n, float *out)
{
    gauss_scores_plain(rng, mean, sd, item, n, out);
}

void beta_scores_avx2(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item,
                      size_t n, uint32_t *todo, float *out)
{
    beta_scores_plain(rng, shapes, item, n, todo, out);
}
#endif
