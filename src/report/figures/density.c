/* density.c - see density.h.
 *
 * An item of attraction nu was examined n times and clicked s = round(n nu) times, the expected
 * number.  The Beta posterior from a flat prior is Beta(1+s, 1+n-s).  The Gaussian posterior of GTS
 * from N(0,1) has
 *     variance v = 1 / (1 + n/sigma^2),    mean m = v s/sigma^2.
 * coverage95 is not in the picture: how often, over s ~ Binomial(n, nu), the central 95% interval
 * of the posterior contains the true nu.  It is summed over all s, not sampled.
 *
 * Digamma at whole numbers is a harmonic sum, and the Beta's parameters here are whole numbers. */
#include "report/figures/density.h"

#include "engine/special/special.h"

#include <math.h>

static const double TAIL = 0.025, NORMAL_975 = 1.959963984540054, PI = 3.14159265358979323846;
enum { HALF_GRID = 180 }; /* points on each side of the attraction */

/* ---- one posterior */

struct posterior {
    bool is_beta;
    double a, b; /* of the Beta */
    double mean, sd;
};

/* sigma 0: the Beta posterior. */
static struct posterior posterior_after(double n, double s, double sigma)
{
    double a = 1 + s, b = 1 + n - s, total = a + b;
    if (sigma > 0) {
        double variance = 1 / (1 + n / (sigma * sigma));
        return (struct posterior){false, 0, 0, variance * s / (sigma * sigma), sqrt(variance)};
    }
    return (struct posterior){true, a, b, a / (a + b), sqrt(a * b / (total * total * (total + 1)))};
}

static double density(struct posterior p, double x)
{
    double z = (x - p.mean) / p.sd;
    if (!p.is_beta)
        return exp(-0.5 * z * z) / (p.sd * sqrt(2 * PI));
    if (x > 0 && x < 1)
        return beta_power(p.a, p.b, x, 1 - x) / (x * (1 - x));
    return x == 0 && p.a == 1 ? p.b : x == 1 && p.b == 1 ? p.a : 0;
}

/* psi(n) - psi(1) of a whole n. */
static double harmonic(double n)
{
    double sum = 0;
    for (double k = 1; k < n; k++)
        sum += 1 / k;
    return sum;
}

static double entropy(struct posterior p)
{
    if (!p.is_beta)
        return 0.5 * log(2 * PI * exp(1) * p.sd * p.sd);
    double a = p.a, b = p.b, log_b = log_gamma(a) + log_gamma(b) - log_gamma(a + b);
    return log_b - (a - 1) * harmonic(a) - (b - 1) * harmonic(b) + (a + b - 2) * harmonic(a + b);
}

/* Of the central 95% interval. */
static double width(struct posterior p)
{
    return p.is_beta ? beta_quantile_upper(p.a, p.b, TAIL) - beta_quantile_upper(p.a, p.b, 1 - TAIL)
                     : 2 * NORMAL_975 * p.sd;
}

static bool covers(struct posterior p, double nu)
{
    double lower, upper;
    if (!p.is_beta)
        return fabs(nu - p.mean) <= NORMAL_975 * p.sd;
    beta_tails(p.a, p.b, nu, 1 - nu, &lower, &upper);
    return lower >= TAIL && upper >= TAIL;
}

static double binomial(double n, double s, double nu)
{
    if (nu <= 0 || nu >= 1)
        return s == (nu <= 0 ? 0 : n);
    return exp(log_gamma(n + 1) - log_gamma(s + 1) - log_gamma(n - s + 1) + s * log(nu) +
               (n - s) * log1p(-nu));
}

static double coverage(double n, double nu, double sigma)
{
    double sum = 0;
    for (double s = 0; s <= n; s++)
        sum += covers(posterior_after(n, s, sigma), nu) ? binomial(n, s, nu) : 0;
    return sum;
}

/* ---- the tables */

/* Posterior j of an attraction: the Beta, then the Gaussian for each sigma. */
static double sigma_of(const struct concentration *c, uint32_t j)
{
    return j == 0 ? 0 : c->sigma[j - 1];
}

static struct posterior posterior_at(const struct concentration *c, double nu, uint32_t j)
{
    return posterior_after(c->observations, round(c->observations * nu), sigma_of(c, j));
}

static void add_name(struct text *out, double nu, double sigma)
{
    text_printf(out, "%.9g,", nu);
    if (sigma > 0)
        text_printf(out, "Gaussian (sigma %.9g)", sigma);
    else
        text_add(out, "Beta");
}

void density_csv(const struct concentration *c, struct text *out)
{
    double widest = 0;
    for (uint32_t i = 0; i < c->n_attractions; i++)
        for (uint32_t j = 0; j <= c->n_sigmas; j++)
            widest = fmax(widest, posterior_at(c, c->attraction[i], j).sd);
    double half = 4 * widest; /* the same scale in every panel */
    text_add(out, "attraction,posterior,x,density\n");
    for (uint32_t i = 0; i < c->n_attractions; i++)
        for (uint32_t j = 0; j <= c->n_sigmas; j++)
            for (int k = -HALF_GRID; k <= HALF_GRID; k++) {
                double nu = c->attraction[i], x = nu + half * k / HALF_GRID;
                add_name(out, nu, sigma_of(c, j));
                text_printf(out, ",%.9g,%.9g\n", x, density(posterior_at(c, nu, j), x));
            }
}

void density_summary(const struct concentration *c, struct text *out)
{
    text_add(out, "attraction,posterior,mean,sd,entropy,width95,coverage95\n");
    for (uint32_t i = 0; i < c->n_attractions; i++)
        for (uint32_t j = 0; j <= c->n_sigmas; j++) {
            double nu = c->attraction[i];
            struct posterior p = posterior_at(c, nu, j);
            add_name(out, nu, sigma_of(c, j));
            text_printf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g\n", p.mean, p.sd, entropy(p), width(p),
                        coverage(c->observations, nu, sigma_of(c, j)));
        }
}
