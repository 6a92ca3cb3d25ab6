/* sample.c - the plain C twins of the samplers, and the choice between them and the AVX2 kernels.
 *
 * Normals: the counters 8g..8g+7 make the normals of the items 32g..32g+31; word j of counter 8g+l belongs to item
 * 32g+8j+l, which is how the words of eight counters lie in four vectors.  Words 0,1 and words 2,3 make a pair each.
 *
 * Beta: position i, attempt by attempt: words 0,1 make the normals of the two gammas, words 2,3 decide whether each is accepted.
 * If either is rejected both are drawn again: the law of an accepted pair is the same.
 */
#include "rng/sample.h"

#include "base/cpu.h"
#include "rng/float_math.h"
#include "rng/philox.h"

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

void gauss_scores_plain(const oltr_rng *rng, const float *mean, const float *sd, const uint32_t *item, size_t n,
                        float *out)
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

/* log of density over envelope, for d = shape - 1/3 and t = c x: 3 log(1+t) - 3t + 3t^2/2 - t^3, times d.  Where the
 * polynomial of the logarithm holds, its leading terms cancel on paper instead of in floats. */
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

float beta_small_shape(const oltr_rng *rng, uint32_t item, double a, double b)
{
    oltr_rng own = oltr_rng_fork(*rng, item);
    double log_x = 0, log_y = 0;
    log_x = log(oltr_rng_gamma(&own, a < 1 ? a + 1 : a)) + (a < 1 ? log(oltr_rng_uniform(&own)) / a : 0);
    log_y = log(oltr_rng_gamma(&own, b < 1 ? b + 1 : b)) + (b < 1 ? log(oltr_rng_uniform(&own)) / b : 0);
    double odds = log_x - log_y; /* a shape of 1e-300 would leave the floats */
    return (float)(odds > 1e38 ? 1e38 : odds < -1e38 ? -1e38 : odds);
}

static float beta_at(const oltr_rng *rng, const beta_shapes *s, uint32_t i)
{
    if (s->da[i] < 0)
        return beta_small_shape(rng, i, s->a[i], s->b[i]);
    for (uint32_t attempt = 0;; attempt = (attempt + 1) & 0x7FFF) {
        uint32_t word[4];
        float xa, xb;
        words_at(rng, i, attempt, word);
        box_muller(word[0], word[1], &xa, &xb);
        float ta = s->ca[i] * xa, tb = s->cb[i] * xb;
        if (gamma_accepts(s->da[i], ta, xa, uniform_float(word[2])) &&
            gamma_accepts(s->db[i], tb, xb, uniform_float(word[3])))
            return fmaf(3, log_float((1 + ta) / (1 + tb)), s->log_da_db[i]);
    }
}

void beta_scores_plain(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item, size_t n, uint32_t *todo,
                       float *out)
{
    (void)todo;
    for (size_t j = 0; j < n; j++)
        out[j] = beta_at(rng, shapes, item ? item[j] : (uint32_t)j);
    if (!item)
        for (size_t j = n; j < padded(n); j++)
            out[j] = -INFINITY;
}

void gauss_scores(const oltr_rng *rng, const float *mean, const float *sd, const uint32_t *item, size_t n, float *out)
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

void gauss_scores_ahead(const oltr_rng *rng, normals_ahead *ahead, const float *mean, const float *sd,
                        const uint32_t *item, size_t n, float *out)
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

void beta_scores(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item, size_t n, uint32_t *todo,
                 float *out)
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

void gauss_scores_avx512(const oltr_rng *rng, const float *mean, const float *sd, size_t n, float *out)
{
    gauss_scores_plain(rng, mean, sd, NULL, n, out);
}

void gauss_scores_ahead_avx512(const oltr_rng *rng, normals_ahead *ahead, const float *mean, const float *sd,
                               float *out)
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

void gauss_scores_avx2(const oltr_rng *rng, const float *mean, const float *sd, const uint32_t *item, size_t n,
                       float *out)
{
    gauss_scores_plain(rng, mean, sd, item, n, out);
}

void beta_scores_avx2(const oltr_rng *rng, const beta_shapes *shapes, const uint32_t *item, size_t n, uint32_t *todo,
                      float *out)
{
    beta_scores_plain(rng, shapes, item, n, todo, out);
}
#endif
