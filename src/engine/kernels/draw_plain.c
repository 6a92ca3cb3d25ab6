/* draw_plain.c - the plain C twins of the draws; draw_kernels.h says what they compute. */
#include "engine/kernels/table.h"

#include "engine/kernels/float_math.h"
#include "engine/kernels/philox.h"

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

const float *prefetched_normals_plain(const oltr_rng *rng, normals_ahead *ahead)
{
    standard_normals_plain(rng, NORMAL_GROUP, ahead->z[0]);
    return ahead->z[0];
}

void prefetched_scores_plain(const oltr_rng *rng, normals_ahead *ahead, const float *mean,
                             const float *sd, float *out)
{
    (void)ahead;
    gauss_scores_plain(rng, mean, sd, NULL, NORMAL_GROUP, out);
}

static float gumbel_at(const oltr_rng *rng, uint32_t item)
{
    uint32_t word[4];
    words_at(rng, item / NORMAL_GROUP * LANES + item % LANES, 0, word);
    return gumbel_float(word[item / LANES % 4]);
}

void gumbels_plain(const oltr_rng *rng, const uint32_t *item, size_t n, float *out)
{
    for (size_t j = 0; item && j < n; j++)
        out[j] = gumbel_at(rng, item[j]);
    for (size_t group = 0; !item && group < n; group += NORMAL_GROUP)
        for (size_t l = 0; l < LANES; l++) {
            uint32_t word[4];
            words_at(rng, (uint32_t)(group / NORMAL_GROUP * LANES + l), 0, word);
            for (size_t j = 0; j < 4; j++)
                out[group + LANES * j + l] = gumbel_float(word[j]);
        }
}

void exponentials_plain(const oltr_rng *rng, size_t n, float *out)
{
    for (size_t group = 0; group < n; group += NORMAL_GROUP)
        for (size_t l = 0; l < LANES; l++) {
            uint32_t word[4];
            words_at(rng, (uint32_t)(group / NORMAL_GROUP * LANES + l), 0, word);
            for (size_t j = 0; j < 4; j++)
                out[group + LANES * j + l] = -log_uniform_float(word[j]);
        }
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

static bool gamma_accepts(float d, float t, float x, float u)
{
    float tx = t * x;
    if (!(t > -1))
        return false;
    return (t > SQUEEZE_FROM && u < fmaf(-SQUEEZE * tx, tx, 1)) || log_float(u) < acceptance(d, t);
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
            bool raised = s->n_powers && (s->pa[i] > 0 || s->pb[i] > 0);
            return raised ? with_powers(rng, s, i, odds) : odds;
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
