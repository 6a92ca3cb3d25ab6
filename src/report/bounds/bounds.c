/* bounds.c - see bounds.h.
 *
 * The theorems are those of Azizi, Meshi, Zoghi and Karimzadehgan (AISTATS 2023), as printed:
 *
 *     1   22 K sqrt(L T)
 *     2   (1 - 1/T) 4 d K (gamma + beta) sqrt(2 T d log(1 + T/lambda)) + 1
 *         beta and gamma at delta / 2, delta = 1 / (T (log2 T + 2))
 *     3   K l/kappa (beta + d gamma) sqrt(2 T d log(1 + T/lambda))
 *           + K 2 gamma / (0.1 kappa) sqrt(8 T/lambda log(4/delta))
 *         beta and gamma at delta / (4 T), delta = 1/T, as its proof chooses it
 *     4   K sqrt(2 L (d log(2 S T + 1) + 1))
 *
 *     beta(delta)  = sigma^2 sqrt(2 log(((lambda + T) / lambda)^(d/2) / delta)) + sqrt(lambda) S
 *     gamma(delta) = beta(delta) sqrt(2 d log(2 d / delta))
 *
 * Theorem 2 is printed in order of growth only; the formula is the last line of its proof with
 * constants.  The proof of Theorem 4 bounds a sum over T rounds by 2 K L instead of 2 K L T; with
 * the T the bound is sqrt(T) times as large.
 *
 * Constants: lambda = 1e-4 and S = 1 are the paper's.  It gives no sigma; 1/2 is the largest
 * standard deviation of a click, and the default of lints.  l = 1/4 is the slope of the sigmoid at
 * 0, kappa its slope at S.  The logarithm in delta has base 2, as in lints (the lemma on doubling
 * blocks needs it).
 *
 * The lower bound is that of Kveton, Szepesvari, Wen and Ashkan (ICML 2015) for consistent policies
 * where K items have attraction p and the others p - D:
 *
 *     (L - K) D (1 - p)^(K - 1) / kl(p - D, p) log T
 *
 * It is a limit for large T: at small T a policy may be below it. */
#include "report/bounds/bounds.h"

#include <math.h>
#include <string.h>

static const double LAMBDA = 1e-4, S = 1, SIGMA = 0.5;

const struct bound_info bound_infos[N_BOUNDS] = {
    [BOUND_TRIVIAL] = {"trivial", "all that can be lost: T", false},
    [BOUND_THM1] = {"thm1", "Theorem 1: 22 K √(L T)", false},
    [BOUND_THM2] = {"thm2", "Theorem 2", false},
    [BOUND_THM3] = {"thm3", "Theorem 3", false},
    [BOUND_THM4] = {"thm4", "Theorem 4 as printed", false},
    [BOUND_THM4_SQRT] = {"thm4-sqrt-t", "Theorem 4 with √T", false},
    [BOUND_LOWER] = {"lower", "lower bound (Kveton 2015)", true},
};

enum bound bound_find(const char *name)
{
    int i = 0;
    while (i < N_BOUNDS && strcmp(bound_infos[i].name, name) != 0)
        i++;
    return (enum bound)i;
}

/* Two levels: `slots` items have the larger attraction, all others the smaller one. */
static void find_levels(const oltr_experiment *point, struct bound_problem *problem)
{
    const double *nu = point->world.attraction;
    double better = 0, worse = 1;
    uint32_t n_better = 0, n_worse = 0, n = point->world.n_items;
    for (uint32_t i = 0; i < n; i++) {
        better = fmax(better, nu[i]);
        worse = fmin(worse, nu[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        n_better += nu[i] == better;
        n_worse += nu[i] == worse;
    }
    if (better > worse && n_better == point->slots && n_better + n_worse == n) {
        problem->better = better;
        problem->worse = worse;
    }
}

struct bound_problem bound_problem_of(const oltr_experiment *point)
{
    struct bound_problem problem = {
        .rounds = (double)point->rounds, .slots = point->slots, .items = point->world.n_items};
    const char *kind = point->world.kind;
    if (!kind || strcmp(kind, "dataset") != 0)
        problem.dim = point->world.dim;
    if (kind && strcmp(kind, "fixed") == 0)
        find_levels(point, &problem);
    return problem;
}

const char *bound_lacks(enum bound bound, const struct bound_problem *problem)
{
    bool features = bound >= BOUND_THM2 && bound <= BOUND_THM4_SQRT;
    if (features && problem->dim == 0)
        return "needs a world with features, like linear or logistic";
    if (bound == BOUND_LOWER &&
        !(problem->better < 1 && problem->better > problem->worse && problem->worse > 0))
        return "needs a world of kind fixed in which `slots` items have one attraction below 1 and "
               "all others the same smaller one above 0";
    return NULL;
}

static double beta(const struct bound_problem *p, double delta)
{
    double log_ratio = p->dim * log1p(p->rounds / LAMBDA) - 2 * log(delta);
    return SIGMA * SIGMA * sqrt(log_ratio) + sqrt(LAMBDA) * S;
}

static double gamma_over_beta(const struct bound_problem *p, double delta)
{
    return sqrt(2.0 * p->dim * log(2.0 * p->dim / delta));
}

/* sqrt(2 T d log(1 + T/lambda)) */
static double potential(const struct bound_problem *p)
{
    return sqrt(2 * p->rounds * p->dim * log1p(p->rounds / LAMBDA));
}

static double theorem2(const struct bound_problem *p)
{
    double delta = 1 / (p->rounds * (log2(p->rounds) + 2)) / 2;
    double radii = beta(p, delta) * (1 + gamma_over_beta(p, delta));
    return (1 - 1 / p->rounds) * 4 * p->dim * p->slots * radii * potential(p) + 1;
}

static double theorem3(const struct bound_problem *p)
{
    double delta = 1 / p->rounds, part = delta / (4 * p->rounds);
    double kappa = exp(S) / ((1 + exp(S)) * (1 + exp(S))), slope = 0.25;
    double b = beta(p, part), g = b * gamma_over_beta(p, part);
    return p->slots * slope / kappa * (b + g * p->dim) * potential(p) +
           p->slots * 2 * g / (0.1 * kappa) * sqrt(8 * p->rounds / LAMBDA * log(4 / delta));
}

static double theorem4(const struct bound_problem *p)
{
    return p->slots * sqrt(2.0 * p->items * (p->dim * log(2 * S * p->rounds + 1) + 1));
}

static double bernoulli_kl(double p, double q)
{
    return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q));
}

static double lower(const struct bound_problem *p)
{
    double others = (double)p->items - p->slots, gap = p->better - p->worse;
    return others * gap * pow(1 - p->better, p->slots - 1.0) / bernoulli_kl(p->worse, p->better) *
           log(p->rounds);
}

double bound_value(enum bound bound, const struct bound_problem *p)
{
    switch (bound) {
    case BOUND_TRIVIAL:
        return p->rounds;
    case BOUND_THM1:
        return 22.0 * p->slots * sqrt(p->items * p->rounds);
    case BOUND_THM2:
        return theorem2(p);
    case BOUND_THM3:
        return theorem3(p);
    case BOUND_THM4:
        return theorem4(p);
    case BOUND_THM4_SQRT:
        return theorem4(p) * sqrt(p->rounds);
    case BOUND_LOWER:
        return lower(p);
    case N_BOUNDS:
        break;
    }
    return NAN;
}
