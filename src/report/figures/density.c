/* density.c - see density.h.
 *
 * An item of attraction nu was examined n times and clicked s = round(n nu) times, the expected
 * number.  The Beta posterior from a flat prior is Beta(1+s, 1+n-s).  The Gaussian posterior of GTS
 * from N(0,1) has
 *     variance v = 1 / (1 + n/sigma^2),    mean m = v s/sigma^2.
 * coverage95 answers what the picture cannot: how often, over s ~ Binomial(n, nu), the central 95%
 * interval of the posterior holds the true nu.  It is summed over all s, not sampled.
 *
 * Digamma at whole numbers is a harmonic sum, and the Beta's parameters here are whole numbers. */
#include "report/figures/density.h"

#include "engine/special/special.h"

#include <math.h>

static const double TAIL = 0.025, NORMAL_975 = 1.959963984540054, PI = 3.14159265358979323846;
enum { HALF_GRID = 180 }; /* points on each side of the attraction */

/* ---- the two posteriors */

struct beta {
    double a, b;
};

struct gauss {
    double mean, sd;
};

static struct beta beta_after(double n, double s)
{
    return (struct beta){1 + s, 1 + n - s};
}

static struct gauss gauss_after(double n, double s, double sigma)
{
    double variance = 1 / (1 + n / (sigma * sigma));
    return (struct gauss){variance * s / (sigma * sigma), sqrt(variance)};
}

static double beta_sd(struct beta beta)
{
    double total = beta.a + beta.b;
    return sqrt(beta.a * beta.b / (total * total * (total + 1)));
}

static double beta_density(struct beta beta, double x)
{
    if (x > 0 && x < 1)
        return beta_power(beta.a, beta.b, x, 1 - x) / (x * (1 - x));
    return x == 0 && beta.a == 1 ? beta.b : x == 1 && beta.b == 1 ? beta.a : 0;
}

static double gauss_density(struct gauss gauss, double x)
{
    double z = (x - gauss.mean) / gauss.sd;
    return exp(-0.5 * z * z) / (gauss.sd * sqrt(2 * PI));
}

/* psi(n) - psi(1) of a whole n. */
static double harmonic(double n)
{
    double sum = 0;
    for (double k = 1; k < n; k++)
        sum += 1 / k;
    return sum;
}

static double beta_entropy(struct beta beta)
{
    double a = beta.a, b = beta.b, log_b = log_gamma(a) + log_gamma(b) - log_gamma(a + b);
    return log_b - (a - 1) * harmonic(a) - (b - 1) * harmonic(b) + (a + b - 2) * harmonic(a + b);
}

static double gauss_entropy(struct gauss gauss)
{
    return 0.5 * log(2 * PI * exp(1) * gauss.sd * gauss.sd);
}

/* ---- coverage */

static int beta_covers(struct beta beta, double nu)
{
    double lower, upper;
    beta_tails(beta.a, beta.b, nu, 1 - nu, &lower, &upper);
    return lower >= TAIL && upper >= TAIL;
}

static int gauss_covers(struct gauss gauss, double nu)
{
    return fabs(nu - gauss.mean) <= NORMAL_975 * gauss.sd;
}

static double binomial(double n, double s, double nu)
{
    if (nu <= 0 || nu >= 1)
        return s == (nu <= 0 ? 0 : n);
    return exp(log_gamma(n + 1) - log_gamma(s + 1) - log_gamma(n - s + 1) + s * log(nu) +
               (n - s) * log1p(-nu));
}

/* sigma 0 stands for the Beta posterior. */
static double coverage(double n, double nu, double sigma)
{
    double sum = 0;
    for (double s = 0; s <= n; s++) {
        int covers = sigma > 0 ? gauss_covers(gauss_after(n, s, sigma), nu)
                               : beta_covers(beta_after(n, s), nu);
        sum += covers ? binomial(n, s, nu) : 0;
    }
    return sum;
}

/* ---- the tables */

static double clicks(const struct concentration *c, double nu)
{
    return round(c->observations * nu);
}

static void add_name(struct text *out, double nu, double sigma)
{
    text_printf(out, "%.9g,", nu);
    if (sigma > 0)
        text_printf(out, "Gaussian (sigma %.9g)", sigma);
    else
        text_add(out, "Beta");
}

/* Four deviations of the widest posterior: the same scale in every panel. */
static double half_width(const struct concentration *c)
{
    double widest = 0;
    for (uint32_t i = 0; i < c->n_attractions; i++) {
        double s = clicks(c, c->attraction[i]);
        widest = fmax(widest, beta_sd(beta_after(c->observations, s)));
        for (uint32_t j = 0; j < c->n_sigmas; j++)
            widest = fmax(widest, gauss_after(c->observations, s, c->sigma[j]).sd);
    }
    return 4 * widest;
}

static void add_density(const struct concentration *c, double nu, double sigma, double half,
                        struct text *out)
{
    double n = c->observations, s = clicks(c, nu);
    for (int i = -HALF_GRID; i <= HALF_GRID; i++) {
        double x = nu + half * i / HALF_GRID;
        double density = sigma > 0 ? gauss_density(gauss_after(n, s, sigma), x)
                                   : beta_density(beta_after(n, s), x);
        add_name(out, nu, sigma);
        text_printf(out, ",%.9g,%.9g\n", x, density);
    }
}

void density_csv(const struct concentration *c, struct text *out)
{
    double half = half_width(c);
    text_add(out, "attraction,posterior,x,density\n");
    for (uint32_t i = 0; i < c->n_attractions; i++) {
        add_density(c, c->attraction[i], 0, half, out);
        for (uint32_t j = 0; j < c->n_sigmas; j++)
            add_density(c, c->attraction[i], c->sigma[j], half, out);
    }
}

static void summarise_beta(const struct concentration *c, double nu, struct text *out)
{
    double n = c->observations;
    struct beta beta = beta_after(n, clicks(c, nu));
    double width =
        beta_quantile_upper(beta.a, beta.b, TAIL) - beta_quantile_upper(beta.a, beta.b, 1 - TAIL);
    add_name(out, nu, 0);
    text_printf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g\n", beta.a / (beta.a + beta.b), beta_sd(beta),
                beta_entropy(beta), width, coverage(n, nu, 0));
}

static void summarise_gauss(const struct concentration *c, double nu, double sigma,
                            struct text *out)
{
    double n = c->observations;
    struct gauss gauss = gauss_after(n, clicks(c, nu), sigma);
    add_name(out, nu, sigma);
    text_printf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g\n", gauss.mean, gauss.sd, gauss_entropy(gauss),
                2 * NORMAL_975 * gauss.sd, coverage(n, nu, sigma));
}

void density_summary(const struct concentration *c, struct text *out)
{
    text_add(out, "attraction,posterior,mean,sd,entropy,width95,coverage95\n");
    for (uint32_t i = 0; i < c->n_attractions; i++) {
        summarise_beta(c, c->attraction[i], out);
        for (uint32_t j = 0; j < c->n_sigmas; j++)
            summarise_gauss(c, c->attraction[i], c->sigma[j], out);
    }
}
