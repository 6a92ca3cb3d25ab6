/* linear.c - see linear.h.
 *
 * The sums define the posterior.  The factor follows them by updates, which are backward stable: an
 * update leaves an error of a few roundings of the present numbers, and as these grow, old errors
 * become relatively smaller.  Sums and factor drift apart nevertheless, because the sums round too:
 * where the same few rows repeat, so do the roundings of their addends, and a sum strays from the
 * exact one by up to about 1e-17 of itself a row (the factor less).  After a million rows they are
 * 1e-11 apart (bench/linear.c).
 */
#include "engine/posterior/linear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/limits.h"
#include "engine/kernels/table.h"

enum { CHECK_EVERY = 256 }; /* rows; a comparison costs about as much as the update of a round */

/* How far the factor may be from the sums before it is made anew.  Rounding alone takes it so far
 * once in a million rows or never, so that a factorisation is either that rare or repairs something
 * else (an overflow, a bit flip, a bug).  A hundredth of PROMISED, the bound that
 * linear_check_factor() tests: a column is compared only every 256 dim rows. */
static const double DRIFT = 1e-11, PROMISED = 1e-9;

/* How far a loaded factor may be; one that is further is made anew from the sums.  Between two
 * comparisons of a column an error grows by at most 2^-53 * 256 * 4096 = 1e-10: so learning never
 * leaves so much, and a loaded factor stays within PROMISED until its next comparison. */
static const double RESUMED = 5e-10;

/* How far rounding may carry sums beyond what exact ones can be: 2^-54 a row at the worst, so that
 * 10^12 rows are covered. */
static const double STRAY = 1e-4;
/* b'V^-1 b of any sums within the limits is less, and its square root finite. */
static const double MOST_EXPLAINED = 1e180;

linear linear_plan(layout *l, uint32_t dim, double ridge)
{
    linear p = {.dim = dim, .ridge = ridge};
    size_t d = dim;
    p.gram = layout_take(l, d * (d + 1) / 2, sizeof(double));
    p.moment = layout_take(l, d, sizeof(double));
    p.factor = layout_take(l, ldl_doubles(dim), sizeof(double));
    p.work = layout_take(l, ldl_update_work(dim), sizeof(double));
    return p;
}

/* Returns the lift. */
static double factor_sums(const linear *p, const double *gram, const double *moment, const ldl *f)
{
    double lift = ldl_factor_nearby(f, gram, moment, p->ridge);
    if (lift < 0) /* no sums of squares: linear_check() refuses them; until then, the prior */
        ldl_reset(f, p->ridge);
    return fmax(lift, 0);
}

ldl linear_factor_of(const linear *p, const double *gram, const double *moment, double *memory)
{
    ldl f = ldl_view(memory, p->dim);
    factor_sums(p, gram, moment, &f);
    return f;
}

void linear_refresh(void *state, linear *p)
{
    ldl f = linear_factor(state, p);
    p->watch.lift = factor_sums(p, doubles_at(state, p->gram), doubles_at(state, p->moment), &f);
    p->watch.rows = 0;
    p->watch.squares = ldl_explained(&f);
}

/* Whether all pivots are above 0 and finite, which they are not after an overflow.  As integers,
 * the bits of such numbers are 1 to those of DBL_MAX: outside, one difference or the other is
 * negative. */
static bool diagonal_is_healthy(const ldl *f)
{
    static const double most = DBL_MAX;
    uint64_t limit, bits, negative = 0;
    memcpy(&limit, &most, sizeof limit);
    for (size_t j = 0; j < f->dim; j++) {
        memcpy(&bits, f->d + j, sizeof bits);
        negative |= (bits - 1) | (limit - bits);
    }
    return !(negative >> 63);
}

/* The watch holds the sum of squared rewards; by Cauchy and Schwarz the sums give a lower bound of
 * it, whatever a snapshot holds in the watch. */
static double moment_error(const void *state, const linear *p, const ldl *f, double *work)
{
    const double *gram = doubles_at(state, p->gram), *moment = doubles_at(state, p->moment);
    double squares = p->watch.squares + FORGOTTEN_SUM;
    for (size_t j = 0; j < p->dim; j++)
        squares =
            fmax(squares, moment[j] * moment[j] / (gram[packed_column(p->dim, j)] + p->ridge));
    return ldl_moment_error(f, gram, moment, p->ridge, squares, work);
}

static bool has_drifted(const void *state, linear *p, const ldl *f, uint32_t n_rows)
{
    double *work = doubles_at(state, p->work);
    if (!diagonal_is_healthy(f))
        return true;
    p->watch.rows += n_rows;
    if (p->watch.rows < CHECK_EVERY)
        return false;
    uint32_t column = ((uint32_t)p->watch.column + 1) % p->dim;
    p->watch.rows = 0;
    p->watch.column = column;
    return !(ldl_column_error(f, doubles_at(state, p->gram), p->ridge, column, work) <=
                 DRIFT + p->watch.lift &&
             moment_error(state, p, f, work) <= DRIFT);
}

bool linear_add(void *state, linear *p, const float *const *x, const double *y,
                const double *weight, uint32_t n_rows)
{
    ldl f = linear_factor(state, p);
    ldl_learn(&f, doubles_at(state, p->gram), doubles_at(state, p->moment), x, y, weight, n_rows,
              doubles_at(state, p->work));
    for (uint32_t k = 0; k < n_rows; k++)
        p->watch.squares += (weight ? weight[k] : 1) * (y[k] * y[k]);
    if (!has_drifted(state, p, &f, n_rows))
        return false;
    linear_refresh(state, p);
    return true;
}

void linear_fade(void *state, const linear *p, double keep)
{
    double *gram = doubles_at(state, p->gram), *moment = doubles_at(state, p->moment);
    for (size_t i = 0; i < (size_t)p->dim * (p->dim + 1) / 2; i++)
        gram[i] *= keep;
    for (size_t i = 0; i < p->dim; i++)
        moment[i] *= keep;
}

size_t linear_work(uint32_t dim)
{
    return ceil4(dim) + ldl_quadratic_work(dim);
}

void linear_predict_with(const ldl *factor, const double *theta, const float *x, size_t stride,
                         uint32_t n, double *mean, double *variance, double *work)
{
    if (!theta)
        ldl_sample(factor, 0, NULL, work);
    rows_times(x, stride, n, factor->dim, theta ? theta : work, mean);
    if (variance)
        ldl_quadratic(factor, x, stride, n, variance, work + ceil4(factor->dim));
}

/* sqrt(sum w x_j^2), the length of a feature over all rows; above 0 even where forgetting has left
 * nothing of the squares but something of the products. */
static double length(double square)
{
    return sqrt(square + FORGOTTEN_SUM);
}

/* Cauchy and Schwarz: |sum x_i x_j| <= sqrt(sum x_i^2 sum x_j^2). */
static oltr_status check_column(const linear *p, const double *gram, double most, uint32_t j,
                                oltr_error *error)
{
    const double *column = gram + packed_column(p->dim, j) - j;
    if (!(column[j] >= 0 && column[j] <= most))
        return set_error(error, OLTR_ESTATE, "feature %u: a sum of squares of %g is impossible", j,
                         column[j]);
    for (uint32_t i = j + 1; i < p->dim; i++) {
        double other = gram[packed_column(p->dim, i)];
        if (!(fabs(column[i]) <= length(column[j]) * length(other) * (1 + STRAY)))
            return set_error(error, OLTR_ESTATE,
                             "features %u and %u: a sum of products of %g with squares of %g and "
                             "%g is impossible",
                             j, i, column[i], column[j], other);
    }
    return OLTR_OK;
}

/* Every pair of features can be possible while the whole matrix is not: test that it is close to
 * positive semidefinite. */
static oltr_status check_together(const linear *p, const double *gram, oltr_error *error)
{
    double *memory = aligned_alloc(LAYOUT_ALIGN, align_up(ldl_doubles(p->dim) * sizeof *memory));
    if (!memory)
        return set_error(error, OLTR_ENOMEM, "no memory to factor the sums of products");
    ldl f = ldl_view(memory, p->dim);
    double lift = ldl_factor_nearby(&f, gram, NULL, p->ridge);
    free(memory);
    return lift >= 0
               ? OLTR_OK
               : set_error(error, OLTR_ESTATE,
                           "the sums of products of features are impossible: no rows have them");
}

oltr_status linear_check_within(const void *state, const linear *p, const linear_limits *limits,
                                oltr_error *error)
{
    const double *gram = doubles_at(state, p->gram), *moment = doubles_at(state, p->moment);
    double weight = limits ? limits->rows * limits->weight * (1 + STRAY) : DBL_MAX / 1e12;
    for (uint32_t j = 0; j < p->dim; j++) {
        oltr_status status =
            check_column(p, gram, weight * LARGEST_FEATURE * LARGEST_FEATURE, j, error);
        if (status != OLTR_OK)
            return status;
        double square = gram[packed_column(p->dim, j)],
               most = limits ? length(square) * sqrt(weight) * limits->reward : DBL_MAX;
        if (!(fabs(moment[j]) <= most))
            return set_error(
                error, OLTR_ESTATE,
                "feature %u: a sum of feature times reward of %g with squares of %g is impossible",
                j, moment[j], square);
    }
    return check_together(p, gram, error);
}

static oltr_status check_factor(const void *state, const linear *p, double most, oltr_error *error)
{
    const double *gram = doubles_at(state, p->gram);
    ldl f = linear_factor(state, p);
    double worst = 0, *work = malloc(p->dim * sizeof *work);
    if (!work)
        return set_error(error, OLTR_ENOMEM, "no memory to compare the factor with the sums");
    for (uint32_t j = 0; j < p->dim; j++)
        worst = fmax(worst, ldl_column_error(&f, gram, p->ridge, j, work));
    worst = fmax(worst - p->watch.lift, moment_error(state, p, &f, work));
    free(work);
    if (diagonal_is_healthy(&f) && worst <= most)
        return OLTR_OK;
    return set_error(error, OLTR_ESTATE, "the factor is %g away from the sums it must follow from",
                     worst);
}

oltr_status linear_check_factor(const void *state, const linear *p, oltr_error *error)
{
    return check_factor(state, p, PROMISED, error);
}

/* ---- exact copies */

uint32_t linear_list_derived(const void *state, const linear *p,
                             const char *const names[LINEAR_DERIVED],
                             oltr_sum_array out[LINEAR_DERIVED])
{
    ldl f = linear_factor(state, p);
    size_t d = p->dim;
    out[0] =
        (oltr_sum_array){.name = names[0], .value = f.l, .n = d * (d + 1) / 2, .stride = f.stride};
    out[1] = (oltr_sum_array){.name = names[1], .value = f.d, .n = d};
    out[2] = (oltr_sum_array){
        .name = names[2], .value = doubles_at(&p->watch, 0), .n = sizeof p->watch / sizeof(double)};
    return LINEAR_DERIVED;
}

static bool is_whole_below(double value, double end)
{
    return value >= 0 && value < end && value <= floor(value);
}

/* Column j has the rows j+1..dim, the last of which belongs to the right-hand side. */
static bool columns_are_finite(const ldl *f)
{
    for (size_t j = 0; j < f->dim; j++)
        for (size_t r = j + 1; r <= f->dim; r++)
            if (!isfinite(f->l[j * f->stride + r]))
                return false;
    return true;
}

oltr_status linear_resume_outdated(const void *state, const linear *p, oltr_error *error)
{
    ldl f = linear_factor(state, p);
    const linear_watch *w = &p->watch;
    if (!is_whole_below(w->rows, CHECK_EVERY) || !is_whole_below(w->column, p->dim) ||
        !(w->lift >= 0 && w->lift <= LDL_MOST_LIFT) ||
        !(w->squares >= 0 && w->squares <= MOST_EXPLAINED))
        return set_error(
            error, OLTR_ESTATE,
            "the watch over the factor is impossible: %g rows, column %g, lift %g, squares %g",
            w->rows, w->column, w->lift, w->squares);
    for (uint32_t j = 0; j < p->dim; j++)
        if (!(f.d[j] >=
              0x1p-60 * p->ridge)) /* a row only adds, and a factorisation stops at 2^-52 */
            return set_error(error, OLTR_ESTATE,
                             "pivot %u of the factor is %g, too small for a ridge of %g", j, f.d[j],
                             p->ridge);
    if (!diagonal_is_healthy(&f) || !columns_are_finite(&f))
        return set_error(error, OLTR_ESTATE, "the factor holds something that is no number");
    return OLTR_OK;
}

oltr_status linear_resume(void *state, linear *p, oltr_error *error)
{
    oltr_status status = linear_resume_outdated(state, p, error);
    if (status != OLTR_OK)
        return status;
    status = check_factor(state, p, RESUMED, NULL);
    if (status == OLTR_ENOMEM)
        return set_error(error, OLTR_ENOMEM, "no memory to compare the factor with the sums");
    if (status != OLTR_OK)
        linear_refresh(state, p);
    return OLTR_OK;
}
