/* polya_gamma.c - see polya_gamma.h.
 *
 * PG(1, z) = J / 4, where J with h = |z|/2 has the density
 *     f(x) = cosh(h) exp(-x h^2 / 2) sum_k (-1)^k a_k(x).
 * For large h, where most draws of h = 0 would be rejected, J is drawn by itself (Devroye 2009).
 * The coefficients have two forms, of which one falls fast below T = 0.64 and the other above:
 *     a_k(x) = pi (k + 1/2) (2 / (pi x))^(3/2) exp(-2 (k + 1/2)^2 / x)          x <= T
 *     a_k(x) = pi (k + 1/2) exp(-(k + 1/2)^2 pi^2 x / 2)                        x >  T
 * A proposal from the first term alone is an inverse Gaussian of mean 1/h, cut at T, or an
 * exponential of rate pi^2/8 + h^2/2 behind T.  It is accepted with the chance 1 - a_1/a_0
 * + a_2/a_0 - ..., whose partial sums are bounds from above and below in turn: so the draw is exact
 * with finitely many terms.  At least 0.99913 of the proposals are accepted.  a_1/a_0 is at most
 * 0.0058, so that most acceptances need no exponential.
 */
#include "engine/rng/polya_gamma.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846, T = 0.64;
static const double SURE = 1 - 0.0058; /* a_1/a_0 <= 3 exp(-4/T) = 0.00579 */
/* Above this h, the piece behind T has a chance below e^-170. */
static const double NEVER_BEHIND = 25;

/* ---- one at a time, for h T >= 1 */

typedef struct jacobi_law {
    double h;      /* |z| / 2 */
    double rate;   /* of the exponential behind T */
    double behind; /* the chance of a proposal behind T */
} jacobi_law;

static double normal_below(double x)
{
    return erfc(-x * sqrt(0.5)) / 2;
}

/* Both masses times e^h, so that neither underflows before it is negligible. */
static jacobi_law law_of(double h)
{
    jacobi_law law = {.h = h, .rate = PI * PI / 8 + h * h / 2};
    if (h > NEVER_BEHIND)
        return law;
    double behind = PI / (2 * law.rate) * exp(h - law.rate * T), root = sqrt(T);
    double before =
        2 * (normal_below((T * h - 1) / root) + exp(2 * h) * normal_below(-(T * h + 1) / root));
    law.behind = behind / (behind + before);
    return law;
}

/* Inverse Gaussian of mean 1/h <= T and shape 1, cut at T: the method of Michael, Schucany and Haas
 * (1976) until it is below T.  The two roots have the product 1/h^2; the smaller one is computed
 * without a difference. */
static double inverse_gaussian(oltr_rng *rng, double h)
{
    for (;;) {
        double normal = oltr_rng_normal(rng), a = normal * normal / h;
        double share = 1 / (1 + a / 2 + sqrt(a + a * a / 4)); /* the smaller root over the mean */
        if (oltr_rng_uniform(rng) * (1 + share) > 1)
            share = 1 / share;
        if (share <= T * h)
            return share / h;
    }
}

/* The alternating series: whether a proposal x is accepted. */
static bool is_accepted(double x, double u)
{
    double unit = x <= T ? 2 / x : PI * PI * x / 2, sum = 1;
    if (u <= SURE)
        return true;
    for (int k = 1;; k++) {
        double term = (2 * k + 1) * exp(-k * (k + 1) * unit);
        sum += k % 2 ? -term : term;
        if (k % 2 ? u <= sum : u > sum)
            return k % 2;
    }
}

static double jacobi(oltr_rng *rng, const jacobi_law *law)
{
    for (;;) {
        double u = oltr_rng_uniform(rng), x;
        if (u < law->behind) /* u / behind is uniform again */
            x = T - log(u / law->behind) / law->rate;
        else
            x = inverse_gaussian(rng, law->h);
        if (is_accepted(x, oltr_rng_uniform(rng)))
            return x;
    }
}

static double tilted_draw(oltr_rng *rng, double n, double z)
{
    double sum = 0;
    if (!(fabs(z) <= DBL_MAX))
        return 0;
    jacobi_law law = law_of(fabs(z) / 2);
    for (double k = 1; k <= n; k++)
        sum += jacobi(rng, &law);
    return sum / 4;
}

/* ---- sums of Jacobi variables, many at a time */

/* The most that 2^size h^2 may be: then at least 0.6 of the sums are accepted.  Of 0.7, 1, 1.4, 2
 * and 3 this was the fastest. */
static const double MOST_TILT = 1.0;

/* Variables whose sums are listed together. */
enum { AT_ONCE = 8 };

/* The sizes of the sums that make n variables, the largest first and none above `most`, in
 * [most][n]; and how many they are. */
static const uint8_t sizes_of[JACOBI_SIZES][AT_ONCE + 1][AT_ONCE] = {
    {{0},
     {0},
     {0, 0},
     {0, 0, 0},
     {0, 0, 0, 0},
     {0, 0, 0, 0, 0},
     {0, 0, 0, 0, 0, 0},
     {0, 0, 0, 0, 0, 0, 0},
     {0, 0, 0, 0, 0, 0, 0, 0}},
    {{0}, {0}, {1}, {1, 0}, {1, 1}, {1, 1, 0}, {1, 1, 1}, {1, 1, 1, 0}, {1, 1, 1, 1}},
    {{0}, {0}, {1}, {1, 0}, {2}, {2, 0}, {2, 1}, {2, 1, 0}, {2, 2}},
    {{0}, {0}, {1}, {1, 0}, {2}, {2, 0}, {2, 1}, {2, 1, 0}, {3}},
};
static const uint8_t sums_of[JACOBI_SIZES][AT_ONCE + 1] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8},
    {0, 1, 1, 2, 2, 3, 3, 4, 4},
    {0, 1, 1, 2, 1, 2, 2, 3, 2},
    {0, 1, 1, 2, 1, 2, 2, 3, 1},
};

/* The sums of n <= AT_ONCE variables become those from `at` on: eight entries without a branch, of
 * which those beyond the last are written over.  Returns how many sums there are now. */
static inline uint32_t add_sums(polya_gamma_source *s, uint32_t at, uint32_t row, uint32_t n,
                                double h2)
{
    uint32_t most = (2 * h2 <= MOST_TILT) + (uint32_t)(4 * h2 <= MOST_TILT) + (8 * h2 <= MOST_TILT);
    const uint8_t *restrict size = sizes_of[most][n];
    uint32_t *restrict sum = s->sum + at, first = row * JACOBI_SIZES;
    float *restrict tilts = s->tilt + at, tilt = (float)(h2 / 2);
    for (int i = 0; i < AT_ONCE; i++)
        sum[i] = first + size[i];
    for (int i = 0; i < AT_ONCE; i++)
        tilts[i] = tilt;
    return at + sums_of[most][n];
}

/* At most n proposals; returns how many there are. */
static uint32_t some_proposals(polya_gamma_source *s, uint32_t n)
{
    if (s->used == PROPOSALS) {
        const oltr_rng normals = oltr_rng_at(s->rng, s->stream, ++s->round),
                       exponentials = oltr_rng_at(s->rng, s->stream + 1, s->round);
        KERNEL(standard_normals)(&normals, PROPOSALS, s->normal);
        KERNEL(exponentials)(&exponentials, PROPOSALS, s->exponential);
        s->used = 0;
    }
    return n < PROPOSALS - s->used ? n : PROPOSALS - s->used;
}

/* One proposal for each of n sums, or for the first if there are fewer.  Those that are rejected
 * stay, before those that had none; returns how many stay. */
static uint32_t try_sums(polya_gamma_source *s, uint32_t n_sums, double *weight)
{
    uint32_t n = some_proposals(s, n_sums), left = 0, *sum = s->sum;
    float *tilt = s->tilt;
    KERNEL(jacobi_sums)(n, s->normal + s->used, s->exponential + s->used, sum, tilt, s->x);
    for (uint32_t i = 0; i < n; i++) {
        float x = s->x[i];
        weight[sum[i] / JACOBI_SIZES] += x < 0 ? 0 : (double)x / 4;
        sum[left] = sum[i];
        tilt[left] = tilt[i];
        left += x < 0;
    }
    memmove(sum + left, sum + n, (n_sums - n) * sizeof *sum);
    memmove(tilt + left, tilt + n, (n_sums - n) * sizeof *tilt);
    s->used += n;
    return left + (n_sums - n);
}

static void draw_few(polya_gamma_source *s, const polya_gamma_rows *rows, const double *n,
                     const double *z, double *weight)
{
    uint32_t sums = 0;
    for (uint32_t i = 0; i < rows->n_few; i++) {
        uint32_t r = rows->few[i];
        double h = z[r] / 2;
        weight[r] = 0;
        if (!(fabs(h) * T < 1)) {
            weight[r] = tilted_draw(&s->tilted, n[r], z[r]);
            continue;
        }
        uint32_t left = (uint32_t)n[r];
        for (; left > AT_ONCE; left -= AT_ONCE)
            sums = add_sums(s, sums, r, AT_ONCE, h * h);
        sums = add_sums(s, sums, r, left, h * h);
        while (sums > SUMS - POLYA_GAMMA_EXACT)
            sums = try_sums(s, sums, weight);
    }
    while (sums > 0)
        sums = try_sums(s, sums, weight);
}

/* One observation and half a click leave the residual 1/2 - mu and the slope mu'. */
static void draw_many(const polya_gamma_rows *rows, const double *z, const float *normal,
                      double *weight)
{
    size_t n = weights_padded(rows->n_many);
    for (uint32_t i = 0; i < rows->n_many; i++)
        rows->z[i] = z[rows->many[i]];
    KERNEL(logistic_residuals)(n, rows->z, rows->one, rows->half, rows->residual, rows->slope);
    KERNEL(polya_gamma_normals)
    (n, rows->count, rows->z, rows->residual, rows->slope, normal, rows->drawn);
    for (uint32_t i = 0; i < rows->n_many; i++)
        weight[rows->many[i]] = rows->drawn[i];
}

/* ---- */

polya_gamma_rows polya_gamma_rows_of(size_t rows, const double *n, double *doubles, uint32_t *words)
{
    size_t room = weights_padded(rows);
    polya_gamma_rows of = {.few = words,
                           .many = words + room,
                           .count = doubles,
                           .one = doubles + room,
                           .half = doubles + 2 * room,
                           .z = doubles + 3 * room,
                           .residual = doubles + 4 * room,
                           .slope = doubles + 5 * room,
                           .drawn = doubles + 6 * room};
    for (uint32_t r = 0; r < rows; r++) {
        of.few[of.n_few] = of.many[of.n_many] = r;
        of.count[of.n_many] = n[r];
        of.n_few += n[r] >= 1 && n[r] <= POLYA_GAMMA_EXACT;
        of.n_many += n[r] > POLYA_GAMMA_EXACT;
    }
    for (size_t i = 0; i < weights_padded(of.n_many); i++) {
        of.count[i] = i < of.n_many ? of.count[i] : 0;
        of.one[i] = 1;
        of.half[i] = 0.5;
        of.z[i] = 0;
    }
    return of;
}

void polya_gamma_begin(polya_gamma_source *source, const oltr_rng *rng, uint32_t first)
{
    source->rng = *rng;
    source->stream = first;
    source->round = 0;
    source->used = PROPOSALS;
    source->tilted = oltr_rng_at(*rng, first + 2, 1);
    memset(source->normal + PROPOSALS, 0, JACOBI_LANES * sizeof(float));
    memset(source->exponential + PROPOSALS, 0, JACOBI_LANES * sizeof(float));
}

void polya_gamma_draw(polya_gamma_source *source, const polya_gamma_rows *rows, const double *n,
                      const double *z, const float *normal, double *weight)
{
    if (rows->n_many > 0)
        draw_many(rows, z, normal, weight);
    draw_few(source, rows, n, z, weight);
}
