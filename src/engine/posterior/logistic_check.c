/* logistic_check.c - whether sums are possible, whether root and factor follow from them, and exact
 * copies.  See logistic.h.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/table.h"
#include "engine/limits.h"
#include "engine/posterior/logistic_view.h"

/* A root is so near to the exact one relative to 1 + |theta|; or so near in posterior deviations,
 * which is the accuracy limit when the condition of H is beyond double precision; or so near after
 * rounds of bounded work, which leave 0.01. */
static const double NEAR_ROOT = 1e-7, NEAR_ROOT_DEVIATIONS = 5e-4, NEAR_BOUNDED = 0.03;
/* What rounding may do: to a weight at the drift, whose last move was estimated, and beyond it; and
 * to the factor of the weights, which 4,500 random lives of tests/conform/lives.c left within
 * 1e-10. */
static const double NEAR_DRIFT = 1.02, NEAR_WEIGHT = 1e-6, NEAR_FACTOR = 1e-9;
/* The largest number of a logistic_path. */
static const double LARGEST_ON_PATH = 0x1p53;

bool logistic_absorbed_any(const logistic_view *v)
{
    const double *diagonal = v->precision;
    for (uint32_t j = 0; j < v->dim; diagonal += v->dim - j, j++)
        if (*diagonal != 0)
            return true;
    return false;
}

static bool all_within(const double *x, size_t n, double least, double most)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] >= least && x[i] <= most))
            return false;
    return true;
}

/* ---- sums */

static oltr_status check_row(const logistic_view *v, uint32_t r, oltr_error *error)
{
    double n = v->examined[r], s = v->clicked[r];
    if (!(n >= 0 && n <= MOST_ROW_OBSERVATIONS && s >= 0 && s <= n * (1 + 1e-12)))
        return set_error(error, OLTR_ESTATE, "row %u: %g clicks in %g observations are impossible",
                         r, s, n);
    if (!(v->last[r] >= 0 && v->last[r] <= v->count->n_observations))
        return set_error(error, OLTR_ESTATE,
                         "row %u: last examined at observation %g, which is yet to come", r,
                         v->last[r]);
    for (uint32_t j = 0; j < v->dim; j++)
        if (!isfinite(row_at(v, r)[j]))
            return set_error(error, OLTR_ESTATE, "row %u: feature %u is %g", r, j,
                             (double)row_at(v, r)[j]);
    return OLTR_OK;
}

static oltr_status check_absorbed(const logistic_view *v, oltr_error *error)
{
    const double *precision = v->precision;
    for (uint32_t j = 0; j < v->dim; j++) {
        if (!(fabs(v->linear_term[j]) <= LARGEST_ABSORBED) || !(precision[0] >= 0))
            return set_error(error, OLTR_ESTATE,
                             "absorbed rows: feature %u with a precision of %g and a linear term "
                             "of %g is impossible",
                             j, precision[0], v->linear_term[j]);
        for (uint32_t i = j; i < v->dim; i++)
            if (!(fabs(*precision++) <= LARGEST_ABSORBED))
                return set_error(
                    error, OLTR_ESTATE,
                    "absorbed rows: a precision of %g of features %u and %u is impossible",
                    precision[-1], i, j);
    }
    return OLTR_OK;
}

/* A view that only reads the sums. */
static logistic_view sums_of(const void *state, logistic *copy)
{
    return logistic_view_with(state, copy, NULL, 0, NULL);
}

oltr_status logistic_check(const void *state, const logistic *p, oltr_error *error)
{
    const logistic_count *count = (const logistic_count *)(const void *)doubles_at(state, p->count);
    logistic copy = *p;
    if (!(count->n_rows >= 0 && count->n_rows <= p->capacity &&
          count->n_rows == floor(count->n_rows)))
        return set_error(error, OLTR_ESTATE, "%g rows where there is room for %u are impossible",
                         count->n_rows, p->capacity);
    if (!(count->n_observations >= 0 && count->n_observations <= MOST_LOGISTIC_OBSERVATIONS))
        return set_error(error, OLTR_ESTATE, "%g observations are impossible",
                         count->n_observations);
    logistic_view v = sums_of(state, &copy);
    for (uint32_t r = 0; r < v.rows; r++)
        if (check_row(&v, r, error) != OLTR_OK)
            return OLTR_ESTATE;
    return check_absorbed(&v, error);
}

/* ---- root and factor */

static bool absorption_is_recorded(const logistic_view *v)
{
    return v->path->has_absorbed > 0 || !logistic_absorbed_any(v);
}

static oltr_status check_table(const void *state, const logistic *p, oltr_error *error)
{
    logistic copy = *p;
    logistic_view v = sums_of(state, &copy);
    if (!absorption_is_recorded(&v))
        return set_error(error, OLTR_ESTATE, "rows were absorbed, and the path does not record it");
    for (uint32_t r = 0; r < v.rows; r++)
        if (logistic_find_row(&v, row_at(&v, r)) != r)
            return set_error(error, OLTR_ESTATE, "row %u is not where the table looks for it", r);
    return OLTR_OK;
}

static double norm(const double *x, uint32_t n)
{
    double largest = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    for (uint32_t i = 0; i < n && largest > 0; i++)
        sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

/* Each weight in the factor is within the drift of the curvature of its row; after rounds of
 * bounded work it may be off by any amount.  The factor is that of the weights, up to rounding. */
static oltr_status check_factor(logistic_view *v, oltr_error *error)
{
    if (!v->bounded_work && !KERNEL(weights_near)(v->rows, v->curvature, v->weight, v->share,
                                                  NEAR_DRIFT * v->drift + NEAR_WEIGHT))
        return set_error(error, OLTR_ESTATE,
                         "a weight in the factor is too far from the curvature of its row");
    memcpy(v->curvature, v->weight, v->rows * sizeof *v->curvature);
    logistic_hessian(v);
    for (uint32_t j = 0; j < v->dim; j++) {
        double distance = ldl_column_error(&v->factor, v->gram, v->lambda, j, v->step);
        if (!(v->factor.d[j] > 0) || !(distance <= NEAR_FACTOR))
            return set_error(error, OLTR_ESTATE,
                             "the factor is %g away from that of its weights at feature %u",
                             distance, j);
    }
    return OLTR_OK;
}

/* How many posterior deviations the rounding of the gradient can amount to: with b_j a bound on
 * that of element j, at most the sum of b_j sqrt((F^-1)_jj). */
static double rounding_deviations(logistic_view *v)
{
    double *bound = v->gradient_next, sum = 0;
    logistic_gradient_rounding(v, bound);
    memset(v->incoming, 0, v->dim * sizeof *v->incoming);
    for (uint32_t j = 0; j < v->dim; j++) {
        double variance;
        v->incoming[j] = 1;
        ldl_quadratic(&v->factor, v->incoming, v->dim, 1, &variance, v->quadratic);
        v->incoming[j] = 0;
        sum += bound[j] * sqrt(variance);
    }
    return sum;
}

static bool theta_is_root(const logistic_view *v)
{
    return v->path->known >= THETA_IS_ROOT && v->path->known <= THETA_IS_ROOT;
}

/* After rounds of bounded work theta may be on its way to the root. */
static oltr_status check_root(logistic_view *v, oltr_error *error)
{
    double allowed = v->bounded_work ? NEAR_BOUNDED : NEAR_ROOT_DEVIATIONS, slope = 0;
    logistic_evaluate(v);
    for (uint32_t j = 0; j < v->dim; j++)
        if (!isfinite(v->theta[j]) || !isfinite(v->gradient[j]))
            return set_error(error, OLTR_ESTATE,
                             "the estimate of feature %u is %g, which is no root", j, v->theta[j]);
    ldl_solve(&v->factor, v->gradient, v->step);
    for (uint32_t j = 0; j < v->dim; j++)
        slope += v->gradient[j] * v->step[j];
    double size = norm(v->step, v->dim);
    if ((v->bounded_work && !theta_is_root(v)) ||
        size <= NEAR_ROOT * (1 + norm(v->theta, v->dim)) ||
        (slope >= 0 && sqrt(slope) <= allowed + rounding_deviations(v)))
        return OLTR_OK;
    return set_error(error, OLTR_ESTATE,
                     "the estimate is %g away from the root of the score equation", size);
}

/* Root and factor, measured with a scratch of its own: only reads the state. */
static oltr_status check_solution(const void *state, const logistic *p, oltr_error *error)
{
    logistic copy = *p;
    uint32_t rows = sums_of(state, &copy).rows;
    size_t solver = logistic_work(p->dim, rows);
    double *work =
        aligned_alloc(LAYOUT_ALIGN, align_up((solver + residuals_padded(rows)) * sizeof *work));
    if (!work)
        return set_error(error, OLTR_ENOMEM,
                         "no memory to check the root of the score equation with");
    logistic_view v = logistic_view_with(state, &copy, work, rows, work + solver);
    oltr_status status = check_root(&v, error);
    if (status == OLTR_OK)
        status = check_factor(&v, error);
    free(work);
    return status;
}

oltr_status logistic_check_derived(const void *state, const logistic *p, oltr_error *error)
{
    oltr_status status = check_table(state, p, error);
    return status == OLTR_OK ? check_solution(state, p, error) : status;
}

/* ---- exact copies */

/* Whether each number, by itself, is one that learning can leave.  A factorisation stops at pivots
 * of 2^-52 of the diagonal, which is lambda or more. */
static oltr_status check_copied(const logistic_view *v, oltr_error *error)
{
    const ldl *f = &v->factor;
    const char *what = NULL;
    if (!all_within(v->theta, v->dim, -LONGEST_LOGISTIC_THETA, LONGEST_LOGISTIC_THETA) ||
        !all_within(v->gradient, v->dim, -DBL_MAX, DBL_MAX) ||
        !all_within(&v->path->precision_left, sizeof *v->path / sizeof(double), 0, LARGEST_ON_PATH))
        what = "the estimate";
    else if (!all_within(f->d, v->dim, 0x1p-60 * v->lambda, DBL_MAX) ||
             !all_within(f->l, v->dim * f->stride, -DBL_MAX, DBL_MAX))
        what = "the factor of the curvature";
    else if (!all_within(v->weight, v->rows, 0, MOST_ROW_OBSERVATIONS) ||
             !all_within(v->score, v->rows, -DBL_MAX, DBL_MAX))
        what = "the weight or the score of a row";
    return what ? set_error(error, OLTR_ESTATE, "%s is not one that learning can leave", what)
                : OLTR_OK;
}

oltr_status logistic_resume(void *state, logistic *p, oltr_error *error)
{
    logistic_view v = logistic_view_of(state, p);
    oltr_status status = check_copied(&v, error);
    if (status != OLTR_OK)
        return status;
    logistic_fill_table(&v);
    logistic_fill_queues(&v);
    status = absorption_is_recorded(&v) ? check_solution(state, p, error) : OLTR_ESTATE;
    if (status == OLTR_ENOMEM)
        return status;
    if (status != OLTR_OK)
        logistic_refresh(state, p);
    return OLTR_OK;
}
