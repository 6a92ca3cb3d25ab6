/* logistic_solve.c - the root of the score equation, see logistic.h.
 *
 * The log posterior is concave.  Steps s = F^-1 g climb it, where F is the Hessian H with the
 * weights of earlier rounds, kept as a factor.  A step costs O(R d + d^2), a new factor O(R d^2 +
 * d^3).  How far F is from H follows from the weights alone: if all weights are within a share
 * `off` < 1 of those in F, then
 *     (1 - off) F <= H <= (1 + off) F
 * in the order of positive definite matrices.  Three things follow.
 *
 * Which steps.  A step shrinks the error to a share `off` of it, or less.  When steps shrink
 * slowly, or were damped, the weights that are off are corrected, each by an update of rank one and
 * O(d^2): mostly they are the few rows that were just seen for the first time or with an unlikely
 * result.  Where that would cost more than a new factor, the factor is built anew, and the next
 * step is Newton's own.  After three or more steps, F is tightened to 2 %: the same few weights
 * would make the next rounds as long.
 *
 * When to end.  The error e of theta solves H e = g up to the change of H on the way, so in the
 * norm of F
 *     |e| <= |s| / (1 - off),       |e - s| <= ((1 + off) e^m - 1) |s| / (1 - off),
 * where e^m bounds the factor by which a weight changes on the way.  m is the largest move of a
 * score times the largest |mu''/mu'|, the bend of the link, between the scores at both ends: 1 for
 * logit, at most 38 for probit and 708 for cloglog, as far as weights are not 0.  The iteration
 * ends with the step that leaves less than TOLERANCE.  The accuracy is promised in the length of
 * theta.  What is left may be where F has little curvature, however much it has along s; so it
 * counts with the least curvature that a step of this solve had, and steps tend to those
 * directions.  (That is no bound, but over many kinds of data the error stays within five times
 * TOLERANCE.)  The end of the last step is not evaluated; nor is the start of a round, at the last
 * root: there the gradient of the old observations is zero, so that of the new ones is all.
 *
 * Safeguard.  A step is taken whole only if the objective certainly rises along it.  With phi the
 * objective along s, concave: if the slope at the end is still uphill, it rose all the way.  If
 * not, phi'' varies along the step by a factor e^m at most, so
 *     phi(1) - phi(0) >= phi'(0) - e^m / 2 (phi'(0) - phi'(1)).
 * Otherwise the step is halved until one of the two holds; for a short enough one the first does.
 * Only slopes are needed, no logarithms and no difference of two nearly equal objectives, so the
 * safeguard is exact to the last digit.  Along a step scores are linear: a halving costs O(R).
 * In the tails of probit and cloglog weights change by large factors, and e^m would refuse good
 * steps.  There a third test follows: phi' falls, so
 *     phi(1) - phi(0) >= (phi'(1/2) + phi'(1)) / 2,
 * which needs no bound on phi''.
 *
 * Precision.  Where H is singular to working precision (features of 1e6 with a ridge of 1e-4), the
 * flat directions of theta are determined no better than the gradient, and steps stop shrinking
 * before TOLERANCE.  delta^2 = g's is the error in posterior deviations; steps that are negligible
 * by this measure and do not shrink end the iteration.  A factor of other weights can call long
 * steps short; so from there on Newton's own steps are taken, each with a new factor, until they
 * stall, too.
 *
 * Bounded work.  Where rows never repeat, early rounds move the root far: with fewer rows than
 * features a new row is fitted at a score of 5 to 10, which takes as many steps and changes most
 * weights in F.  logistic_approach() takes BOUNDED_STEPS of them, corrects the BOUNDED_ROWS weights
 * that are furthest off, and leaves the rest to the next round, with the gradient where it arrived.
 * Late rounds end within BOUNDED_NEAR posterior deviations of the root.
 */
#include "engine/posterior/logistic_view.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/table.h"

enum {
    MAX_STEPS = 400,    /* reached only where huge features exhaust the precision of doubles */
    MAX_HALVINGS = 120, /* 2^-120 of a step is negligible */
    MAX_STALLED = 3,    /* negligible steps in a row that do not shrink */
    MANY_STEPS = 3,     /* after so many evaluated steps the factor is tightened */
    REBUILD_COST = 6,   /* a new factor costs as much as updates by (R + d/3) / 6 rows */
    BOUNDED_STEPS = 2,  /* evaluated steps of a round of bounded work */
    BOUNDED_ROWS = 8,   /* weights that such a round corrects in the factor */
};
/* Lowered weights may leave so much of the factor's precision, without a new one.  A round of
 * bounded work lowers no weight to less than MOST_LOWERED of it, and such rounds together lower
 * none to less than LEAST_UNCHECKED before the factor is compared with its weights. */
static const double LEAST_PRECISION_LEFT = 1e-3, MOST_LOWERED = 1e-2, LEAST_UNCHECKED = 0.1;
static const double CLOSE = 0.02;        /* how near an adjusted factor has its weights */
static const double SMALL_MOVE = 0.02;   /* of a weight, relatively */
static const double SETTLING = 2;        /* drifts: after smaller moves, weights are at rest */
static const double UNSEEN_PART = 0.01;  /* of the drift: what unseen moves of weights may take */
static const double SLOW = 0.35;         /* a rate of steps that calls for an adjustment */
static const double STALL_RATE = 0.9;    /* steps that shrink less than this, and ... */
static const double NEGLIGIBLE = 1e-10;  /* ... whose delta^2 is below this, are rounding */
static const double TOLERANCE = 1e-9;    /* of what the last step leaves, relative to 1 + |theta| */
static const double BOUNDED_NEAR = 0.01; /* the same of bounded work, in posterior deviations */
static const double MOST_DRIFT = 1e-10;  /* of the factor's diagonal, a tenth of what is promised */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/* ---- the view */

/* The next n doubles of the scratch at `base`, which is NULL while it is only measured. */
static double *take(double *base, size_t *used, size_t n)
{
    double *here = base ? base + *used : NULL;
    *used += (n + 7) / 8 * 8; /* whole cache lines, so that the next array is aligned */
    return here;
}

static inline size_t place_scratch(logistic_view *v, double *base, uint32_t dim, uint32_t capacity)
{
    size_t rows = residuals_padded(capacity), used = 0;
    v->incoming = (float *)(void *)take(base, &used, ((size_t)dim + 1) / 2);
    v->residual = take(base, &used, rows);
    v->curvature = take(base, &used, rows);
    v->score_next = take(base, &used, rows);
    v->move = take(base, &used, rows);
    v->gradient = take(base, &used, dim);
    v->theta_next = take(base, &used, dim);
    v->gradient_next = take(base, &used, dim);
    v->step = take(base, &used, dim);
    v->nothing = take(base, &used, dim);
    v->gram = take(base, &used, packed_size(dim));
    v->update = take(base, &used, ldl_update_work(dim));
    v->quadratic = take(base, &used, ldl_quadratic_work(dim));
    return used;
}

size_t logistic_work(uint32_t dim, uint32_t capacity)
{
    logistic_view v;
    return place_scratch(&v, NULL, dim, capacity);
}

/* Member by member, in place: to clear a view and copy its 350 bytes takes 10 ns of a round. */
static inline void set_view(logistic_view *v, const void *state, logistic *p, double *work,
                            uint32_t rows, double *score)
{
    v->state = doubles_at(state, 0);
    v->p = p;
    v->dim = p->dim;
    v->capacity = p->capacity;
    v->lambda = p->lambda;
    v->drift = p->drift;
    v->bounded_work = p->n_singles > p->thorough;
    v->exchanged = false;
    v->count = (logistic_count *)(void *)doubles_at(state, p->count);
    v->rows = (uint32_t)v->count->n_rows;
    v->row = floats_at(state, p->row);
    v->examined = doubles_at(state, p->examined);
    v->clicked = doubles_at(state, p->clicked);
    v->last = doubles_at(state, p->last);
    v->precision = doubles_at(state, p->precision);
    v->linear_term = doubles_at(state, p->linear_term);
    v->table = words_in(state, p->table);
    v->queue = (row_link *)(void *)words_in(state, p->queue);
    v->theta = doubles_at(state, p->theta);
    v->path = (logistic_path *)(void *)(v->theta + 2 * p->dim);
    v->factor = logistic_factor(state, p);
    v->weight = doubles_at(state, p->weight);
    v->share = doubles_at(state, p->share);
    v->score = score;
    place_scratch(v, work, p->dim, rows);
}

void logistic_view_set(logistic_view *v, void *state, logistic *p)
{
    set_view(v, state, p, doubles_at(state, p->work), p->capacity, doubles_at(state, p->score));
    v->gradient = v->theta + p->dim;
}

logistic_view logistic_view_of(void *state, logistic *p)
{
    logistic_view v;
    logistic_view_set(&v, state, p);
    return v;
}

logistic_view logistic_view_with(const void *state, logistic *p, double *work, uint32_t rows,
                                 double *score)
{
    logistic_view v;
    set_view(&v, state, p, work, rows, score);
    return v;
}

/* ---- the gradient */

/* The gradient at theta, with residual and curvature, from the scores at theta. */
static void evaluate_at(logistic_view *v, const double *theta, double *score, double *gradient)
{
    for (uint32_t j = 0; j < v->dim; j++)
        gradient[j] = v->linear_term[j] - v->lambda * theta[j];
    if (v->path->has_absorbed > 0)
        KERNEL(subtract_product)(gradient, v->precision, theta, v->dim);
    rows_times(v->row, v->dim, v->rows, v->dim, theta, score);
    residuals_of(v)(v->rows, score, v->examined, v->clicked, v->residual, v->curvature);
    KERNEL(linear_terms)(v->row, v->rows, v->dim, v->residual, gradient);
}

void logistic_evaluate(logistic_view *v)
{
    evaluate_at(v, v->theta, v->score, v->gradient);
}

/* sum of |x_j theta_j|: what the roundings of a score are proportional to. */
static double absolute_score(const float *x, const double *theta, uint32_t dim)
{
    double sum = 0;
    for (uint32_t j = 0; j < dim; j++)
        sum += fabs((double)x[j] * theta[j]);
    return sum;
}

/* |P| |theta| of a packed symmetric P. */
static void add_absolute_product(double *out, const double *packed, const double *theta,
                                 uint32_t dim)
{
    for (uint32_t j = 0; j < dim; j++, packed++) {
        out[j] += fabs(*packed * theta[j]);
        for (uint32_t i = j + 1; i < dim; i++) {
            packed++;
            out[j] += fabs(*packed * theta[i]);
            out[i] += fabs(*packed * theta[j]);
        }
    }
}

void logistic_gradient_rounding(const logistic_view *v, double *bound)
{
    double unit = 0x1p-53 * (v->dim + v->rows + 16.0);
    for (uint32_t j = 0; j < v->dim; j++)
        bound[j] = fabs(v->linear_term[j]) + v->lambda * fabs(v->theta[j]);
    if (v->path->has_absorbed > 0)
        add_absolute_product(bound, v->precision, v->theta, v->dim);
    for (uint32_t r = 0; r < v->rows; r++) {
        const float *x = row_at(v, r);
        link_values at = link_here(v->p->link, v->score[r]);
        double missed = v->examined[r] - v->clicked[r];
        double terms = v->clicked[r] * at.rest + missed * at.mean +
                       v->curvature[r] * absolute_score(x, v->theta, v->dim);
        for (uint32_t j = 0; j < v->dim; j++)
            bound[j] += terms * fabs((double)x[j]);
    }
    for (uint32_t j = 0; j < v->dim; j++)
        bound[j] *= unit;
}

/* ---- the factor */

static const double no_moment[VIEW_BATCH]; /* zeros: the factor has no right-hand side here */

void logistic_add_rows(const logistic_view *v, const double *weight, double *gram, double *nothing)
{
    const float *x[VIEW_BATCH];
    for (uint32_t r = 0; r < v->rows; r += VIEW_BATCH) {
        uint32_t n = v->rows - r < VIEW_BATCH ? v->rows - r : VIEW_BATCH;
        for (uint32_t i = 0; i < n; i++)
            x[i] = row_at(v, r + i);
        gram_add(gram, nothing, v->dim, x, no_moment, weight + r, n);
    }
}

void logistic_hessian(logistic_view *v)
{
    memset(v->nothing, 0, v->dim * sizeof *v->nothing);
    if (v->path->has_absorbed > 0)
        memcpy(v->gram, v->precision, packed_size(v->dim) * sizeof *v->gram);
    else
        memset(v->gram, 0, packed_size(v->dim) * sizeof *v->gram);
    logistic_add_rows(v, v->curvature, v->gram, v->nothing);
}

/* For sums that no rows can have, which logistic_check() lets pass: steps still climb, and all is
 * finite. */
static void factor_diagonal(logistic_view *v)
{
    const double *packed = v->gram;
    ldl_reset(&v->factor, v->lambda);
    for (uint32_t j = 0; j < v->dim; packed += v->dim - j, j++)
        v->factor.d[j] += *packed;
}

void logistic_build_factor(logistic_view *v)
{
    logistic_hessian(v);
    if (ldl_factor_nearby(&v->factor, v->gram, NULL, v->lambda) < 0)
        factor_diagonal(v);
    memcpy(v->weight, v->curvature, v->rows * sizeof *v->weight);
    v->path->precision_left = 1;
    v->path->rounds_passed = 0;
    v->p->effort.refreshes++;
}

uint32_t logistic_set_weights(logistic_view *v, const uint32_t *row, const double *weight,
                              uint32_t n)
{
    const float *x[VIEW_BATCH];
    double more[VIEW_BATCH], left = 1;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = row[i];
        if (weight[i] == v->weight[r])
            continue;
        x[changed] = row_at(v, r);
        more[changed++] = weight[i] - v->weight[r];
        double part = smaller(1, (weight[i] + v->share[r]) / (v->weight[r] + v->share[r]));
        left = v->bounded_work ? smaller(left, part) : left * part;
        v->weight[r] = weight[i];
    }
    v->path->precision_left *= left;
    if (changed)
        ldl_update(&v->factor, x, no_moment, more, changed, v->update);
    return changed;
}

double logistic_share(const logistic_view *v, const float *x)
{
    double square = 0;
    for (uint32_t j = 0; j < v->dim; j++)
        square += (double)x[j] * (double)x[j];
    return v->lambda / (v->capacity * fmax(square, 1e-200));
}

/* Whether (1 - off) F <= H <= (1 + off) F, with H at the point last evaluated.  Part of lambda I
 * can be divided among the rows as weights of their own, the shares: a weight that is small
 * relative to its share cannot matter, however much it changes. */
static bool factor_is_near(const logistic_view *v, double off)
{
    return KERNEL(weights_near)(v->rows, v->curvature, v->weight, v->share, off);
}

static void add_squares(double *restrict sum, const float *restrict x, double weight, uint32_t dim)
{
    for (uint32_t j = 0; j < dim; j++)
        sum[j] += weight * ((double)x[j] * (double)x[j]);
}

static void subtract_squares(double *restrict sum, const double *restrict l, double d, size_t from,
                             size_t to)
{
    for (size_t j = from; j < to; j++)
        sum[j] -= l[j] * l[j] * d;
}

/* Whether the diagonal of the factor is that of its weights, up to rounding. */
static bool factor_has_its_weights(const logistic_view *v)
{
    const ldl *f = &v->factor;
    const double *packed = v->precision;
    double *whole = v->nothing, *rest = v->step;
    for (uint32_t j = 0; j < v->dim; packed += v->dim - j, j++)
        whole[j] = v->lambda + *packed;
    for (uint32_t r = 0; r < v->rows; r++)
        if (v->weight[r] > 0)
            add_squares(whole, row_at(v, r), v->weight[r], v->dim);
    memcpy(rest, whole, v->dim * sizeof *rest);
    for (uint32_t k = 0; k < v->dim; k++) {
        rest[k] -= f->d[k];
        subtract_squares(rest, f->l + k * f->stride, f->d[k], k + 1, v->dim);
    }
    for (uint32_t j = 0; j < v->dim; j++)
        if (!(fabs(rest[j]) <= MOST_DRIFT * whole[j]))
            return false;
    return true;
}

/* Pivots of less than half of lambda, the least that H has, show that rounding has spoilt the
 * factor.  The comparison costs O(R d + d^2). */
bool logistic_confirm_factor(logistic_view *v)
{
    for (uint32_t j = 0; j < v->dim; j++)
        if (!(v->factor.d[j] >= v->lambda / 2))
            return false;
    if (v->path->precision_left >= (v->bounded_work ? LEAST_UNCHECKED : LEAST_PRECISION_LEFT))
        return true;
    if (!v->bounded_work || !factor_has_its_weights(v))
        return false;
    v->path->precision_left = 1;
    return true;
}

/* The rows whose weights are off by more than `drift`; returns how many, or more than `most`. */
static uint32_t rows_off(const logistic_view *v, double drift, uint32_t most, uint32_t *row)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < v->rows && n <= most; r++) {
        double now = v->curvature[r] + v->share[r], then = v->weight[r] + v->share[r];
        if (fabs(now - then) > drift * then) {
            if (n < most)
                row[n] = r;
            n++;
        }
    }
    return n;
}

/* Corrects the weights that are off by more than `drift`, each by an update of rank one, or all of
 * them by a new factor where that is cheaper.  Lowering a weight to a share q of itself leaves only
 * q of the factor's precision; when too little is left, or rounding has spoilt the factor all the
 * same, it is built anew. */
static void adjust_factor(logistic_view *v, double drift)
{
    uint32_t row[VIEW_BATCH], most = (v->rows + v->dim / 3) / REBUILD_COST;
    double weight[VIEW_BATCH];
    most = most < VIEW_BATCH ? most : VIEW_BATCH;
    uint32_t n = rows_off(v, drift, most, row);
    if (n > most) {
        logistic_build_factor(v);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        weight[i] = v->curvature[row[i]];
    logistic_set_weights(v, row, weight, n);
    v->p->effort.adjustments += n;
    if (!logistic_confirm_factor(v))
        logistic_build_factor(v);
}

/* ---- one step */

/* Whether the objective certainly rises, given the slopes at both ends and the largest move of a
 * weight; e^m <= 1 + m + m^2 for m <= 1.79. */
static bool certainly_rises(double slope, double slope_end, double largest_move)
{
    if (slope_end >= 0)
        return true;
    double half = 0.5 * (1 + largest_move + largest_move * largest_move);
    return half < 1 && (1 - half) * slope + half * slope_end > 0;
}

/* In four lanes, so that each row does not depend on the one before. */
static double largest_move(const logistic_view *v)
{
    double largest[4] = {0, 0, 0, 0};
    uint32_t r = 0;
    for (; r + 4 <= v->rows; r += 4)
        for (uint32_t i = 0; i < 4; i++)
            largest[i] = larger(fabs(v->score_next[r + i] - v->score[r + i]), largest[i]);
    for (; r < v->rows; r++)
        largest[0] = larger(fabs(v->score_next[r] - v->score[r]), largest[0]);
    return larger(larger(largest[0], largest[1]), larger(largest[2], largest[3]));
}

/* The largest |mu''/mu'| of a link other than logit, at the scores of all rows and as far as
 * `reach` beyond them.  It falls from left to right, so the ends have it. */
static double bend_around(const logistic_view *v, const double *score, double reach)
{
    double least = 0, most = 0;
    for (uint32_t r = 0; r < v->rows; r++) {
        least = smaller(score[r], least);
        most = larger(score[r], most);
    }
    return larger(fabs(link_here(v->p->link, least - reach).bend),
                  fabs(link_here(v->p->link, most + reach).bend));
}

/* By how much the logarithm of a weight moves at most from `score` to `score_next`. */
static double largest_weight_move(const logistic_view *v)
{
    double move = largest_move(v);
    return v->p->link == LINK_LOGIT
               ? move
               : move * larger(bend_around(v, v->score, 0), bend_around(v, v->score_next, 0));
}

/* The slope along `step` of all but the rows: at the start, and how much it falls in a whole step.
 */
typedef struct quadratic_slope {
    double start, fall;
} quadratic_slope;

static quadratic_slope slope_of_prior(logistic_view *v, double *product)
{
    uint32_t d = v->dim;
    quadratic_slope q = {dot(v->linear_term, v->step, d) - v->lambda * dot(v->theta, v->step, d),
                         v->lambda * dot(v->step, v->step, d)};
    if (v->path->has_absorbed > 0) {
        memset(product, 0, d * sizeof *product);
        KERNEL(subtract_product)(product, v->precision, v->step, d);
        q.start += dot(v->theta, product, d);
        q.fall -= dot(v->step, product, d);
    }
    return q;
}

/* The slope at `length` of the step whose moves of scores are in `move`. */
static double slope_at(const logistic_view *v, const quadratic_slope *prior, double length)
{
    double sum = prior->start - length * prior->fall;
    for (uint32_t r = 0; r < v->rows; r += VIEW_BATCH) {
        double score[VIEW_BATCH], residual[VIEW_BATCH], curvature[VIEW_BATCH];
        uint32_t n = v->rows - r < VIEW_BATCH ? v->rows - r : VIEW_BATCH;
        for (uint32_t i = 0; i < residuals_padded(n); i++)
            score[i] = i < n ? v->score[r + i] + length * v->move[r + i] : 0;
        residuals_of(v)(n, score, v->examined + r, v->clicked + r, residual, curvature);
        sum += dot(residual, v->move + r, n);
    }
    return sum;
}

/* Whether the objective rises along `length` of the step, by the slope in the middle.  For logit
 * the other tests are enough. */
static bool rises_by_middle(const logistic_view *v, const quadratic_slope *prior, double length,
                            double slope_end)
{
    return v->p->link != LINK_LOGIT && slope_at(v, prior, length / 2) + slope_end > 0;
}

static void set_moves(logistic_view *v)
{
    for (uint32_t r = 0; r < v->rows; r++)
        v->move[r] = v->score_next[r] - v->score[r];
}

/* The same for the whole step, after try_step(). */
static bool whole_step_rises(logistic_view *v, double slope_end)
{
    if (v->p->link == LINK_LOGIT)
        return false;
    quadratic_slope prior = slope_of_prior(v, v->nothing);
    set_moves(v);
    return rises_by_middle(v, &prior, 1, slope_end);
}

/* The largest of 1/2, 1/4, ... of the step along which the objective rises, or 0 when rounding
 * hides all of them. */
static double halve_step(logistic_view *v, double slope)
{
    double move = largest_weight_move(v), length = 1;
    set_moves(v);
    quadratic_slope prior = slope_of_prior(v, v->gradient_next);
    for (int i = 0; i < MAX_HALVINGS; i++) {
        length /= 2;
        v->p->effort.halvings++;
        for (uint32_t r = 0; r < v->rows; r++)
            v->score_next[r] = v->score[r] + length * v->move[r];
        residuals_of(v)(v->rows, v->score_next, v->examined, v->clicked, v->residual, v->curvature);
        double slope_end = prior.start - length * prior.fall + dot(v->residual, v->move, v->rows);
        if (certainly_rises(slope, slope_end, length * move) ||
            rises_by_middle(v, &prior, length, slope_end))
            return length;
    }
    return 0;
}

static void try_step(logistic_view *v, double length)
{
    for (uint32_t j = 0; j < v->dim; j++)
        v->theta_next[j] = v->theta[j] + length * v->step[j];
    evaluate_at(v, v->theta_next, v->score_next, v->gradient_next);
}

static void exchange(double **a, double **b)
{
    double *other = *a;
    *a = *b;
    *b = other;
}

/* The arrays change places: a copy of the gradient, which the next step reads at once, would delay
 * that step.  end_steps() puts them back. */
static void accept_step(logistic_view *v)
{
    exchange(&v->theta, &v->theta_next);
    exchange(&v->gradient, &v->gradient_next);
    exchange(&v->score, &v->score_next);
    v->exchanged = !v->exchanged;
}

/* After the steps of a solve, theta, gradient and score are those of the state again. */
static void end_steps(logistic_view *v)
{
    if (!v->exchanged)
        return;
    accept_step(v);
    memcpy(v->theta, v->theta_next, v->dim * sizeof *v->theta);
    memcpy(v->gradient, v->gradient_next, v->dim * sizeof *v->gradient);
    memcpy(v->score, v->score_next, v->rows * sizeof *v->score);
}

/* Goes along the step as far as the objective rises; returns how far, 0 for not at all.  move: a
 * bound on that of any weight in the whole step, and then in the part that was taken; where the
 * bound is not small, the largest move takes its place. */
static double damped_step(logistic_view *v, double slope, double *move)
{
    double length = 1;
    try_step(v, length);
    if (*move > SMALL_MOVE)
        *move = largest_weight_move(v);
    double slope_end = dot(v->gradient_next, v->step, v->dim);
    if (!certainly_rises(slope, slope_end, *move) && !whole_step_rises(v, slope_end)) {
        length = halve_step(v, slope);
        try_step(v, length);
        *move *= length;
    }
    v->p->effort.steps++;
    if (length > 0)
        accept_step(v);
    return length;
}

/* ---- Newton's method */

typedef struct newton_state {
    double reach;           /* the largest |x_r|: no score moves more than reach times the step */
    double delta;           /* of the last step: the root of slope = g's */
    double least_curvature; /* the least slope / |s|^2 that a step has met */
    double unseen;          /* a bound on the move of any weight by a step that is not evaluated */
    double move;            /* the same of the last step that was */
    double near;            /* weights are within this share of those in F at the last evaluation */
    bool evaluated;         /* the gradient is exact */
    bool adjusted;          /* no step since the factor was corrected */
    bool built;             /* the factor was built anew in this solve */
    bool damped;            /* the last step was shortened */
    uint32_t taken;         /* steps that were evaluated */
    uint32_t stalled;       /* steps in a row that are negligible and did not shrink */
} newton_state;

typedef enum progress { GOES_ON, CONVERGED, STALLED } progress;

static double least_share(const logistic_view *v)
{
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    uint32_t r = 0;
    for (; r + 4 <= v->rows; r += 4)
        for (uint32_t i = 0; i < 4; i++)
            least[i] = smaller(v->share[r + i], least[i]);
    for (; r < v->rows; r++)
        least[0] = smaller(v->share[r], least[0]);
    return smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
}

static newton_state newton_start(const logistic_view *v, bool evaluated)
{
    return (newton_state){.delta = INFINITY,
                          .least_curvature = INFINITY,
                          .near = INFINITY,
                          .evaluated = evaluated,
                          .reach = sqrt(v->lambda / (v->capacity * least_share(v)))};
}

/* step = F^-1 gradient; returns the slope along it, which is its square in the norm of F. */
static double find_step(logistic_view *v, newton_state *n)
{
    ldl_solve(&v->factor, v->gradient, v->step);
    double slope = dot(v->gradient, v->step, v->dim), square = dot(v->step, v->step, v->dim);
    n->unseen = n->reach * sqrt(square);
    if (v->p->link != LINK_LOGIT)
        n->unseen *= bend_around(v, v->score, smaller(n->unseen, 1));
    if (slope < n->least_curvature * square)
        n->least_curvature = slope / square;
    return slope;
}

/* How far from those in F the weights may be if a step of this size may leave so much: the bound at
 * the head of this file, solved for off.  Negative if the step is too long for that. */
static double off_for(const newton_state *n, double size, double left)
{
    double bend = 1 + n->unseen + n->unseen * n->unseen; /* >= e^unseen below 1 */
    return n->unseen < 1 ? (left - size * (bend - 1)) / (left + size * bend) : -1;
}

/* The same for a step that is to be the last. */
static double off_for_last(const logistic_view *v, const newton_state *n, double slope)
{
    double left = TOLERANCE * (1 + sqrt(dot(v->theta, v->theta, v->dim)));
    return n->evaluated ? off_for(n, sqrt(slope / n->least_curvature), left) : -1;
}

static bool is_last(const logistic_view *v, newton_state *n, double slope)
{
    double off = off_for_last(v, n, slope);
    bool last = off >= 0 && factor_is_near(v, off);
    n->near = last ? off : INFINITY;
    return last;
}

/* Takes the step; the last one whole and without an evaluation. */
static progress take_step(logistic_view *v, newton_state *n, double slope, bool last)
{
    if (!(slope > 0 && isfinite(slope)))
        return slope == 0 ? CONVERGED : STALLED;
    if (last) {
        for (uint32_t j = 0; j < v->dim; j++)
            v->theta[j] += v->step[j];
        v->p->effort.steps++;
        return CONVERGED;
    }
    bool stalls = slope < NEGLIGIBLE && sqrt(slope) > STALL_RATE * n->delta;
    n->stalled = stalls ? n->stalled + 1 : 0;
    n->delta = sqrt(slope);
    n->move = n->unseen;
    double length = damped_step(v, slope, &n->move);
    n->evaluated = true;
    n->unseen = 0;
    n->adjusted = false;
    n->taken++;
    n->damped = length < 1;
    return length > 0 && n->stalled < MAX_STALLED ? GOES_ON : STALLED;
}

/* Whether the factor should be corrected before the next step: when the last one was damped, when
 * steps shrink too slowly, or when it would have to be corrected at the end anyway and the weights
 * will hardly move any more. */
static bool needs_adjustment(const logistic_view *v, const newton_state *n, double slope)
{
    if (!n->evaluated || n->adjusted)
        return false;
    return n->damped || !(sqrt(slope) <= SLOW * n->delta) ||
           (n->move < SETTLING * v->drift && !factor_is_near(v, v->drift));
}

/* Steps that are slow with all weights in place mean that rounding has spoilt the factor; or, if it
 * is new, that H is too ill-conditioned for it. */
static void correct_factor(logistic_view *v, newton_state *n)
{
    uint64_t before = v->p->effort.refreshes;
    if (!factor_is_near(v, CLOSE))
        adjust_factor(v, CLOSE);
    else if (!n->built)
        logistic_build_factor(v);
    n->built |= v->p->effort.refreshes > before;
    n->adjusted = true;
}

static progress newton_step(logistic_view *v, newton_state *n)
{
    double slope = find_step(v, n);
    bool last = is_last(v, n, slope);
    if (!last && needs_adjustment(v, n, slope)) {
        correct_factor(v, n);
        slope = find_step(v, n);
        last = is_last(v, n, slope);
    }
    return take_step(v, n, slope, last);
}

/* Brings the factor within the drift at the root, and closer after many steps, which saves steps in
 * later rounds.  The last step moves a weight by a factor of e^unseen at most, which is negligible
 * unless features are huge. */
static void finish_factor(logistic_view *v, const newton_state *n)
{
    double allowed = n->taken < MANY_STEPS ? v->drift : fmin(v->drift, CLOSE),
           unseen = 2 * n->unseen;
    if (v->drift > 0 && n->near + unseen <= allowed)
        return;
    if (v->drift <= 0 || !n->evaluated || unseen > UNSEEN_PART * v->drift) {
        logistic_evaluate(v);
        unseen = 0;
    }
    if (v->drift <= 0)
        logistic_build_factor(v);
    else if (!factor_is_near(v, allowed - unseen))
        adjust_factor(v, allowed / 2);
}

/* Newton's own steps, each with a new factor, from theta on. */
static void newton_plainly(logistic_view *v)
{
    progress now = GOES_ON;
    logistic_evaluate(v);
    newton_state n = newton_start(v, true);
    for (int i = 0; i < MAX_STEPS && now == GOES_ON; i++) {
        logistic_build_factor(v);
        double slope = find_step(v, &n);
        now = take_step(v, &n, slope, off_for_last(v, &n, slope) >= 0);
    }
    end_steps(v);
}

/* An iteration that stalls may have been misled by its factor: one of other weights calls a long
 * step short.  Newton's own steps go on from there until they stall too, which is the limit of
 * double precision, and leave the factor of that place. */
int logistic_solve(logistic_view *v, bool evaluated)
{
    newton_state n = newton_start(v, evaluated);
    progress now = GOES_ON;
    v->p->effort.solves++;
    for (int i = 0; i < MAX_STEPS && now == GOES_ON; i++)
        now = newton_step(v, &n);
    end_steps(v);
    if (now == CONVERGED) {
        finish_factor(v, &n);
        return THETA_IS_ROOT;
    }
    newton_plainly(v);
    logistic_evaluate(v);
    logistic_build_factor(v);
    return NOTHING_KNOWN;
}

void logistic_solve_plainly(void *state, logistic *p)
{
    logistic_view v = logistic_view_of(state, p);
    p->effort.solves++;
    newton_plainly(&v);
    v.path->known = NOTHING_KNOWN;
}

/* ---- a round of bounded work */

/* The BOUNDED_ROWS rows, or fewer, whose weights in the factor are furthest off, of those off by
 * more than the drift; returns how many are. */
static uint32_t furthest_off(const logistic_view *v, uint32_t *row, uint32_t *n)
{
    double off[BOUNDED_ROWS];
    uint32_t all = 0;
    *n = 0;
    for (uint32_t r = 0; r < v->rows; r++) {
        double then = v->weight[r] + v->share[r], now = v->curvature[r] + v->share[r],
               ratio = larger(now, then) / smaller(now, then);
        if (!(fabs(now - then) > v->drift * then))
            continue;
        all++;
        if (*n == BOUNDED_ROWS && !(ratio > off[*n - 1]))
            continue;
        uint32_t at = *n < BOUNDED_ROWS ? (*n)++ : BOUNDED_ROWS - 1;
        for (; at > 0 && ratio > off[at - 1]; at--) {
            off[at] = off[at - 1];
            row[at] = row[at - 1];
        }
        off[at] = ratio;
        row[at] = r;
    }
    return all;
}

/* Corrects the weights that are furthest off.  Builds a new factor only when the rounds since the
 * last one have together cost as much, or lowered weights have spoilt it. */
static void correct_few(logistic_view *v)
{
    uint32_t row[BOUNDED_ROWS], n;
    double weight[BOUNDED_ROWS];
    uint32_t all = furthest_off(v, row, &n);
    double passed = ++v->path->rounds_passed;
    if (all > BOUNDED_ROWS && passed * BOUNDED_ROWS >= v->rows / 2 + v->dim / 6) {
        logistic_build_factor(v);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        weight[i] = larger(v->curvature[row[i]], MOST_LOWERED * v->weight[row[i]]);
    v->p->effort.adjustments += logistic_set_weights(v, row, weight, n);
    if (!logistic_confirm_factor(v))
        logistic_build_factor(v);
}

int logistic_approach(logistic_view *v, bool evaluated)
{
    newton_state n = newton_start(v, evaluated);
    progress now = GOES_ON;
    v->p->effort.solves++;
    while (now == GOES_ON && n.taken < BOUNDED_STEPS) {
        double slope = find_step(v, &n),
               off = n.evaluated ? off_for(&n, sqrt(slope), BOUNDED_NEAR) : -1;
        now = take_step(v, &n, slope, off >= 0 && factor_is_near(v, off));
    }
    end_steps(v);
    if (!n.evaluated) {
        logistic_evaluate(v);
        now = GOES_ON;
    }
    correct_few(v);
    if (now == CONVERGED)
        memset(v->gradient, 0, v->dim * sizeof *v->gradient);
    return now == CONVERGED ? THETA_IS_ROOT : now == GOES_ON ? GRADIENT_KNOWN : NOTHING_KNOWN;
}
