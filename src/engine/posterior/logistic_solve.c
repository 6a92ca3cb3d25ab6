/* logistic_solve.c - the root of the score equation, see logistic.h.
 *
 * The log posterior is concave; we climb it by steps s = F^-1 g, where F is the Hessian H with the
 * weights of earlier rounds, kept as a factor.  A step costs O(R d + d^2), a new factor O(R d^2 +
 * d^3).  How far F is from H is known, from the weights alone: if all weights are within a share
 * `off` < 1 of those in F, then
 *     (1 - off) F <= H <= (1 + off) F
 * in the order of positive definite matrices.  Three things follow.
 *
 * Which steps.  A step shrinks the error to a share `off` of it, or less.  When steps shrink
 * slowly, or were damped, the weights that are off are put right, each by an update of rank one and
 * O(d^2): mostly these are the few rows that have just been seen for the first time, or that
 * surprised.  Where that would be dearer, there is a new factor, and the next step is Newton's own.
 * A long climb also ends with putting weights right: the same few that are off would make the next
 * rounds as long.
 *
 * When to end.  The error e of theta solves H e = g up to the change of H on the way, so in the
 * norm of F
 *     |e| <= |s| / (1 - off),       |e - s| <= ((1 + off) e^m - 1) |s| / (1 - off),
 * where m bounds the moves of the scores: weights change by a factor e^m at most, for |mu''| <=
 * mu'.  The climb ends with the step that leaves less than TOLERANCE.  The promise is about the
 * length of theta.  What is left may lie where F is soft, however stiff it is along s; so it counts
 * with the softest direction that a step of this climb had, and steps seek those.  (That is no
 * bound, but over many kinds of data the error stays within five times TOLERANCE.) Where the last
 * step leads to is not evaluated; nor is where a round begins, at the last root: there the gradient
 * of the old observations is zero, so that of the new ones is all there is.
 *
 * Safeguard.  A step is taken whole only if the objective certainly rises along it.  With phi the
 * objective along s, concave: if the slope at the end is still uphill, it rose all the way.  If
 * not, phi'' varies along the step by a factor e^m at most, so
 *     phi(1) - phi(0) >= phi'(0) - e^m / 2 (phi'(0) - phi'(1)).
 * Otherwise the step is halved until one of the two holds; for a short enough one the first does.
 * Only slopes are needed, no logarithms and no difference of two nearly equal objectives, so the
 * safeguard is sound to the last digit.  Along a step scores are linear: a halving costs O(R).
 *
 * Precision.  Where H is singular to working precision (features of 1e6 with a ridge of 1e-4), the
 * flat directions of theta are known no better than the gradient is, and steps stop shrinking
 * before TOLERANCE.  That is noticed: delta^2 = g's is the error in posterior deviations, and steps
 * that are negligible by this measure and do not shrink are the end.  A factor of other weights can
 * call long steps short; so from there on Newton's own steps are taken, each with a new factor,
 * until they stall too.
 *
 * Bounded work.  Where rows never repeat, early rounds move the root far: with fewer rows than
 * features a new row is fitted at a score of 5 to 10, which takes as many steps and most weights in
 * F with it.  model_follow() takes FOLLOW_STEPS of them, corrects the FOLLOW_ROWS weights that are
 * furthest off, and leaves the rest to the next round, with the gradient where it arrived.  Late
 * rounds end within FOLLOW_NEAR posterior deviations of the root.
 */
#include "engine/posterior/logistic_model.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/table.h"

enum {
    MAX_STEPS = 400, /* a bound, not a plan: met only where huge features leave doubles no room */
    MAX_HALVINGS = 120, /* 2^-120 of a step is nothing */
    MAX_STUCK = 3,
    PATIENCE = 3,     /* a climb of so many evaluated steps is a long one */
    REBUILD_COST = 6, /* a new factor costs as much as updates by (R + d/3) / 6 rows */
    FOLLOW_STEPS = 2, /* evaluated steps of a round of bounded work */
    FOLLOW_ROWS = 8,  /* weights that such a round corrects in the factor, those furthest off */
};
static const double LEAST_KEPT =
    1e-3; /* lowered weights may leave so much of the factor's precision, without a new one */
static const double MOST_LOWERED =
    1e-2; /* a round of bounded work leaves so much of a weight in the factor at least */
static const double CLOSE = 0.02;      /* how near an adjusted factor has its weights */
static const double SMALL_MOVE = 0.02; /* of a score, which changes a weight by as much */
static const double SETTLING =
    2; /* of drifts: after moves of scores smaller than this, weights are at rest */
static const double NOTHING =
    0.01;                        /* of the drift: what unseen moves of weights may take from it */
static const double SLOW = 0.35; /* a rate of steps that calls for an adjustment */
static const double STUCK = 0.9; /* steps that shrink less than this ... */
static const double NEGLIGIBLE = 1e-10; /* ... when delta^2 is below this, are rounding */
static const double TOLERANCE = 1e-9;   /* of what the last step leaves, relative to 1 + |theta| */
static const double FOLLOW_NEAR =
    0.01; /* posterior deviations that the last step of a round of bounded work may leave */

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

/* The next n doubles of the scratch at `base`, which is NULL while it is only measured. */
static double *take(double *base, size_t *used, size_t n)
{
    double *here = base ? base + *used : NULL;
    *used += (n + 7) / 8 * 8; /* whole cache lines, so that the next array is aligned */
    return here;
}

static size_t place_scratch(model *m, double *base, uint32_t dim, uint32_t capacity)
{
    size_t rows = residuals_padded(capacity), used = 0;
    m->incoming = (float *)(void *)take(base, &used, ((size_t)dim + 1) / 2);
    m->residual = take(base, &used, rows);
    m->curvature = take(base, &used, rows);
    m->score_next = take(base, &used, rows);
    m->move = take(base, &used, rows);
    m->gradient = take(base, &used, dim);
    m->theta_next = take(base, &used, dim);
    m->gradient_next = take(base, &used, dim);
    m->step = take(base, &used, dim);
    m->nothing = take(base, &used, dim);
    m->gram = take(base, &used, (size_t)dim * (dim + 1) / 2);
    m->update = take(base, &used, ldl_update_work(dim));
    m->quadratic = take(base, &used, ldl_quadratic_work(dim));
    return used;
}

size_t model_work(uint32_t dim, uint32_t capacity)
{
    model m;
    return place_scratch(&m, NULL, dim, capacity);
}

model model_of(const void *state, const logistic *p, logistic_effort *effort)
{
    model m = model_with(state, p, effort, doubles_at(state, p->work), p->capacity,
                         doubles_at(state, p->score));
    m.gradient = m.theta + p->dim;
    return m;
}

model model_with(const void *state, const logistic *p, logistic_effort *effort, double *work,
                 uint32_t rows, double *score)
{
    model m = {.dim = p->dim,
               .rows = (uint32_t)doubles_at(state, p->count)[0],
               .lambda = p->lambda,
               .drift = p->drift};
    m.capacity = p->capacity;
    m.followed = p->singles > p->thorough;
    m.row = floats_at(state, p->row);
    m.examined = doubles_at(state, p->examined);
    m.clicked = doubles_at(state, p->clicked);
    m.precision = doubles_at(state, p->precision);
    m.pull = doubles_at(state, p->pull);
    m.theta = doubles_at(state, p->theta);
    m.weight = doubles_at(state, p->weight);
    m.share = doubles_at(state, p->share);
    m.kept = m.theta + 2 * p->dim;
    m.settled = m.kept + 1;
    m.absorbed = m.kept + 2;
    m.since = m.kept + 3;
    m.factor = logistic_factor(state, p);
    m.effort = effort;
    m.score = score;
    place_scratch(&m, work, p->dim, rows);
    return m;
}

/* The gradient at theta, with residual and curvature; the scores at theta are known. */
static void evaluate_scored(model *m, const double *theta, const double *score, double *gradient)
{
    KERNEL(logistic_residuals)(m->rows, score, m->examined, m->clicked, m->residual, m->curvature);
    for (uint32_t j = 0; j < m->dim; j++)
        gradient[j] = m->pull[j] - m->lambda * theta[j];
    if (*m->absorbed > 0)
        KERNEL(subtract_product)(gradient, m->precision, theta, m->dim);
    KERNEL(linear_terms)(m->row, m->rows, m->dim, m->residual, gradient);
}

static void evaluate_at(model *m, const double *theta, double *score, double *gradient)
{
    rows_times(m->row, m->dim, m->rows, m->dim, theta, score);
    evaluate_scored(m, theta, score, gradient);
}

void model_evaluate(model *m)
{
    evaluate_at(m, m->theta, m->score, m->gradient);
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

void model_rounding(const model *m, double *bound)
{
    double unit = 0x1p-53 * (m->dim + m->rows + 16.0);
    for (uint32_t j = 0; j < m->dim; j++)
        bound[j] = fabs(m->pull[j]) + m->lambda * fabs(m->theta[j]);
    if (*m->absorbed > 0)
        add_absolute_product(bound, m->precision, m->theta, m->dim);
    for (uint32_t r = 0; r < m->rows; r++) {
        const float *x = m->row + (size_t)r * m->dim;
        double mu = sigmoid(m->score[r]), missed = m->examined[r] - m->clicked[r];
        double terms = m->clicked[r] * sigmoid(-m->score[r]) + missed * mu +
                       m->curvature[r] * absolute_score(x, m->theta, m->dim);
        for (uint32_t j = 0; j < m->dim; j++)
            bound[j] += terms * fabs((double)x[j]);
    }
    for (uint32_t j = 0; j < m->dim; j++)
        bound[j] *= unit;
}

/* ---- the factor */

static const double
    no_moment[MODEL_BATCH]; /* zeros: right-hand sides are not the factor's business here */

void model_hessian(model *m)
{
    const float *x[MODEL_BATCH];
    memset(m->nothing, 0, m->dim * sizeof *m->nothing);
    size_t packed = (size_t)m->dim * (m->dim + 1) / 2;
    if (*m->absorbed > 0)
        memcpy(m->gram, m->precision, packed * sizeof *m->gram);
    else
        memset(m->gram, 0, packed * sizeof *m->gram);
    for (uint32_t r = 0; r < m->rows; r += MODEL_BATCH) {
        uint32_t n = m->rows - r < MODEL_BATCH ? m->rows - r : MODEL_BATCH;
        for (uint32_t i = 0; i < n; i++)
            x[i] = m->row + (size_t)(r + i) * m->dim;
        gram_add(m->gram, m->nothing, m->dim, x, no_moment, m->curvature + r, n);
    }
}

/* For sums that no rows can have, which logistic_check() lets pass: steps still climb, and all is
 * finite. */
static void factor_diagonal(model *m)
{
    const double *packed = m->gram;
    ldl_reset(&m->factor, m->lambda);
    for (uint32_t j = 0; j < m->dim; packed += m->dim - j, j++)
        m->factor.d[j] += *packed;
}

void model_rebuild(model *m)
{
    model_hessian(m);
    if (ldl_factor_nearby(&m->factor, m->gram, NULL, m->lambda) <
        0) /* features of 1e6 swallow a ridge of 1e-4 */
        factor_diagonal(m);
    memcpy(m->weight, m->curvature, m->rows * sizeof *m->weight);
    *m->kept = 1;
    *m->since = 0;
    m->effort->refreshes++;
}

uint32_t model_reweigh(model *m, const uint32_t *rows, const double *weight, uint32_t n)
{
    const float *x[MODEL_BATCH];
    double more[MODEL_BATCH];
    uint32_t changed = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = rows[i];
        if (weight[i] == m->weight[r])
            continue;
        x[changed] = m->row + (size_t)r * m->dim;
        more[changed++] = weight[i] - m->weight[r];
        double left = smaller(1, (weight[i] + m->share[r]) / (m->weight[r] + m->share[r]));
        *m->kept = m->followed ? smaller(*m->kept, left) : *m->kept * left;
        m->weight[r] = weight[i];
    }
    if (changed)
        ldl_update(&m->factor, x, no_moment, more, changed, m->update);
    return changed;
}

double model_share(const model *m, const float *x)
{
    double square = 0;
    for (uint32_t j = 0; j < m->dim; j++)
        square += (double)x[j] * (double)x[j];
    return m->lambda / (m->capacity * fmax(square, 1e-200));
}

/* Whether (1 - off) F <= H <= (1 + off) F, with H at the point last evaluated.  Part of lambda I
 * can be dealt out to the rows as a weight of their own, the shares: what is small beside its share
 * cannot matter, however much it changes. */
static int is_near(const model *m, double off)
{
    return KERNEL(weights_near)(m->rows, m->curvature, m->weight, m->share, off);
}

/* The rows whose weights are off by more than `drift`, or more of them than `most`; returns how
 * many. */
static uint32_t rows_off(const model *m, double drift, uint32_t most, uint32_t *row)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < m->rows && n <= most; r++) {
        double now = m->curvature[r] + m->share[r], then = m->weight[r] + m->share[r];
        if (fabs(now - then) > drift * then) {
            if (n < most)
                row[n] = r;
            n++;
        }
    }
    return n;
}

/* All pivots of H are lambda or more. */
int model_is_sound(const model *m)
{
    for (uint32_t j = 0; j < m->dim; j++)
        if (!(m->factor.d[j] >= m->lambda / 2))
            return 0;
    return *m->kept >= LEAST_KEPT;
}

/* Puts right the weights that are off by more than `drift`, each by an update of rank one, or all
 * of them by a new factor where that is cheaper.  Lowering a weight to a share q of itself leaves
 * only q of the factor's precision; when too little is left of it, or rounding has spoilt the
 * factor all the same, there is a new one. */
static void adjust(model *m, double drift)
{
    uint32_t row[MODEL_BATCH], most = (m->rows + m->dim / 3) / REBUILD_COST;
    double weight[MODEL_BATCH];
    most = most < MODEL_BATCH ? most : MODEL_BATCH;
    uint32_t n = rows_off(m, drift, most, row);
    if (n > most) {
        model_rebuild(m);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        weight[i] = m->curvature[row[i]];
    model_reweigh(m, row, weight, n);
    m->effort->adjustments += n;
    if (!model_is_sound(m))
        model_rebuild(m);
}

/* ---- one step */

/* Does the objective certainly rise, given the slopes at both ends and the largest move of a score?
 */
static int certainly_rises(double slope, double slope_end, double largest_move)
{
    if (slope_end >= 0)
        return 1;
    double half = 0.5 * (1 + largest_move +
                         largest_move * largest_move); /* e^m <= 1 + m + m^2 for m <= 1.79 */
    return half < 1 && (1 - half) * slope + half * slope_end > 0;
}

/* In four lanes, so that each row does not depend on the one before. */
static double largest_move(const model *m)
{
    double largest[4] = {0, 0, 0, 0};
    uint32_t r = 0;
    for (; r + 4 <= m->rows; r += 4)
        for (uint32_t i = 0; i < 4; i++)
            largest[i] = larger(fabs(m->score_next[r + i] - m->score[r + i]), largest[i]);
    for (; r < m->rows; r++)
        largest[0] = larger(fabs(m->score_next[r] - m->score[r]), largest[0]);
    return larger(larger(largest[0], largest[1]), larger(largest[2], largest[3]));
}

/* The largest of 1/2, 1/4, ... of the step along which the objective rises, or 0 when there is none
 * that rounding lets us see. */
static double shorten(model *m, double slope)
{
    uint32_t d = m->dim;
    double largest = largest_move(m), length = 1;
    for (uint32_t r = 0; r < m->rows; r++)
        m->move[r] = m->score_next[r] - m->score[r];
    double prior = dot(m->pull, m->step, d) - m->lambda * dot(m->theta, m->step, d),
           bend = m->lambda * dot(m->step, m->step, d);
    if (*m->absorbed > 0) {
        memset(m->gradient_next, 0, d * sizeof *m->gradient_next);
        KERNEL(subtract_product)(m->gradient_next, m->precision, m->step, d);
        prior += dot(m->theta, m->gradient_next, d);
        bend -= dot(m->step, m->gradient_next, d);
    }
    for (int i = 0; i < MAX_HALVINGS; i++) {
        length /= 2;
        m->effort->halvings++;
        for (uint32_t r = 0; r < m->rows; r++)
            m->score_next[r] = m->score[r] + length * m->move[r];
        KERNEL(logistic_residuals)
        (m->rows, m->score_next, m->examined, m->clicked, m->residual, m->curvature);
        double slope_end = prior - length * bend + dot(m->residual, m->move, m->rows);
        if (certainly_rises(slope, slope_end, length * largest))
            return length;
    }
    return 0;
}

static void try_step(model *m, double length)
{
    for (uint32_t j = 0; j < m->dim; j++)
        m->theta_next[j] = m->theta[j] + length * m->step[j];
    evaluate_at(m, m->theta_next, m->score_next, m->gradient_next);
}

static void accept_step(model *m)
{
    memcpy(m->theta, m->theta_next, m->dim * sizeof *m->theta);
    memcpy(m->gradient, m->gradient_next, m->dim * sizeof *m->gradient);
    memcpy(m->score, m->score_next, m->rows * sizeof *m->score);
}

/* Goes along the step as far as the objective rises; returns how far, 0 for not at all.  move: a
 * bound on that of any score in the whole step, and then in that which was taken; the largest one
 * is looked for where the bound is not small. */
static double advance(model *m, double slope, double *move)
{
    double length = 1;
    try_step(m, length);
    if (*move > SMALL_MOVE)
        *move = largest_move(m);
    if (!certainly_rises(slope, dot(m->gradient_next, m->step, m->dim), *move)) {
        length = shorten(m, slope);
        try_step(m, length);
        *move *= length;
    }
    m->effort->steps++;
    if (length > 0)
        accept_step(m);
    return length;
}

/* ---- the climb */

typedef struct climb {
    double reach;   /* the largest |x_r|: no score moves more than reach times the step */
    double delta;   /* of the last step: the root of slope = g's */
    double softest; /* the least slope / |s|^2: as little curvature as a step has met */
    double unseen;  /* how far the step moves any score at most, until it is evaluated */
    double move;    /* the same of the last step that was */
    double near;    /* the weights are known to be within this share of those in F, where they were
                       last evaluated */
    int evaluated;  /* the gradient is exact */
    int adjusted;   /* no step since the factor was put right */
    int built;      /* the factor was built anew in this climb */
    uint32_t taken; /* steps that were evaluated */
    int damped;     /* the last step was shortened */
    uint32_t stuck; /* steps in a row that did not shrink although they are negligible */
} climb;

typedef enum progress { GOES_ON, CONVERGED, STALLED } progress;

static double least_share(const model *m)
{
    double least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    uint32_t r = 0;
    for (; r + 4 <= m->rows; r += 4)
        for (uint32_t i = 0; i < 4; i++)
            least[i] = smaller(m->share[r + i], least[i]);
    for (; r < m->rows; r++)
        least[0] = smaller(m->share[r], least[0]);
    return smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
}

static climb climb_start(const model *m, int evaluated)
{
    climb c = {.delta = INFINITY, .softest = INFINITY, .near = INFINITY, .evaluated = evaluated};
    c.reach = sqrt(m->lambda / (m->capacity * least_share(m)));
    return c;
}

/* step = F^-1 gradient; returns the slope along it, which is its square in the norm of F. */
static double find_step(model *m, climb *c)
{
    ldl_solve(&m->factor, m->gradient, m->step);
    double slope = dot(m->gradient, m->step, m->dim);
    double square = dot(m->step, m->step, m->dim);
    c->unseen = c->reach * sqrt(square);
    if (slope < c->softest * square)
        c->softest = slope / square;
    return slope;
}

static void take_last_step(model *m)
{
    for (uint32_t j = 0; j < m->dim; j++)
        m->theta[j] += m->step[j];
    m->effort->steps++;
}

/* How far from those in F the weights may be if a step of this size may leave so much: the bound at
 * the head of this file, solved for off.  Negative if the step is too long for that. */
static double off_for(const climb *c, double size, double left)
{
    double bend = 1 + c->unseen + c->unseen * c->unseen; /* >= e^unseen below 1 */
    return c->unseen < 1 ? (left - size * (bend - 1)) / (left + size * bend) : -1;
}

/* The same for a step that is to be the last. */
static double may_be_off(const model *m, const climb *c, double slope)
{
    if (!c->evaluated)
        return -1;
    double size = sqrt(slope / c->softest),
           left = TOLERANCE * (1 + sqrt(dot(m->theta, m->theta, m->dim)));
    return off_for(c, size, left);
}

static int is_last(const model *m, climb *c, double slope)
{
    double off = may_be_off(m, c, slope);
    int last = off >= 0 && is_near(m, off);
    c->near = last ? off : INFINITY;
    return last;
}

/* Takes the step. */
static progress step_on(model *m, climb *c, double slope, int last)
{
    if (!(slope > 0 && isfinite(slope)))
        return slope == 0 ? CONVERGED : STALLED;
    if (last) {
        take_last_step(m);
        return CONVERGED;
    }
    c->stuck = slope < NEGLIGIBLE && sqrt(slope) > STUCK * c->delta ? c->stuck + 1 : 0;
    c->delta = sqrt(slope);
    c->move = c->unseen;
    double length = advance(m, slope, &c->move);
    c->evaluated = 1;
    c->unseen = 0;
    c->adjusted = 0;
    c->taken++;
    c->damped = length < 1;
    return length > 0 && c->stuck < MAX_STUCK ? GOES_ON : STALLED;
}

/* Whether the factor should be put right before the next step: when the last one was damped, when
 * steps shrink too slowly, or when it would have to be put right at the end anyway and the weights
 * will hardly move any more. */
static int wants_adjustment(const model *m, const climb *c, double slope)
{
    if (!c->evaluated || c->adjusted)
        return 0;
    return c->damped || !(sqrt(slope) <= SLOW * c->delta) ||
           (c->move < SETTLING * m->drift && !is_near(m, m->drift));
}

/* Steps that are slow with all weights in place mean that rounding has spoilt the factor; or, if it
 * is new, that H is beyond it. */
static void put_right(model *m, climb *c)
{
    uint64_t before = m->effort->refreshes;
    if (!is_near(m, CLOSE))
        adjust(m, CLOSE);
    else if (!c->built)
        model_rebuild(m);
    c->built |= m->effort->refreshes > before;
    c->adjusted = 1;
}

static progress climb_on(model *m, climb *c)
{
    double slope = find_step(m, c);
    int last = is_last(m, c, slope);
    if (!last && wants_adjustment(m, c, slope)) {
        put_right(m, c);
        slope = find_step(m, c);
        last = is_last(m, c, slope);
    }
    return step_on(m, c, slope, last);
}

/* The factor within the drift at the root; and closer if the climb was a long one, which saves
 * steps in later rounds.  The last step moves a weight by a factor of e^unseen at most: by nothing
 * that counts, unless features are huge. */
static void finish(model *m, const climb *c)
{
    double allowed = c->taken < PATIENCE ? m->drift : fmin(m->drift, CLOSE), unseen = 2 * c->unseen;
    if (m->drift > 0 && c->near + unseen <= allowed)
        return;
    if (m->drift <= 0 || !c->evaluated || unseen > NOTHING * m->drift) {
        model_evaluate(m);
        unseen = 0;
    }
    if (m->drift <= 0)
        model_rebuild(m);
    else if (!is_near(m, allowed - unseen))
        adjust(m, allowed / 2);
}

/* Newton's own steps, each with a new factor, from theta on. */
static progress climb_plainly(model *m, int most)
{
    progress now = GOES_ON;
    model_evaluate(m);
    climb c = climb_start(m, 1);
    for (int i = 0; i < most && now == GOES_ON; i++) {
        model_rebuild(m);
        double slope = find_step(m, &c);
        now = step_on(m, &c, slope, may_be_off(m, &c, slope) >= 0);
    }
    return now;
}

/* A climb that stalls may have been misled by its factor: one of other weights calls a long step
 * short.  Newton's own steps go on from there until they stall too, which is where doubles end, and
 * leave the factor of that place. */
int model_solve(model *m, int evaluated)
{
    climb c = climb_start(m, evaluated);
    progress now = GOES_ON;
    m->effort->solves++;
    for (int i = 0; i < MAX_STEPS && now == GOES_ON; i++)
        now = climb_on(m, &c);
    if (now == CONVERGED) {
        finish(m, &c);
        return 1;
    }
    climb_plainly(m, MAX_STEPS);
    model_evaluate(m);
    model_rebuild(m);
    return 0;
}

/* ---- a round of bounded work */

/* The FOLLOW_ROWS rows, or fewer, whose weights in the factor are furthest off, of those off by
 * more than the drift; returns how many rows are. */
static uint32_t furthest_off(const model *m, uint32_t *row, uint32_t *n)
{
    double off[FOLLOW_ROWS];
    uint32_t all = 0;
    *n = 0;
    for (uint32_t r = 0; r < m->rows; r++) {
        double then = m->weight[r] + m->share[r], now = m->curvature[r] + m->share[r],
               ratio = larger(now, then) / smaller(now, then);
        if (!(fabs(now - then) > m->drift * then))
            continue;
        all++;
        if (*n == FOLLOW_ROWS && !(ratio > off[*n - 1]))
            continue;
        uint32_t at = *n < FOLLOW_ROWS ? (*n)++ : FOLLOW_ROWS - 1;
        for (; at > 0 && ratio > off[at - 1]; at--) {
            off[at] = off[at - 1];
            row[at] = row[at - 1];
        }
        off[at] = ratio;
        row[at] = r;
    }
    return all;
}

/* Corrects the weights that are furthest off.  A new factor only when the rounds since the last one
 * have together cost as much. */
static void correct_some(model *m)
{
    uint32_t row[FOLLOW_ROWS], n;
    double weight[FOLLOW_ROWS];
    uint32_t all = furthest_off(m, row, &n);
    ++*m->since;
    if (all > FOLLOW_ROWS && *m->since * FOLLOW_ROWS >= m->rows / 2 + m->dim / 6) {
        model_rebuild(m);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        weight[i] = larger(m->curvature[row[i]], MOST_LOWERED * m->weight[row[i]]);
    m->effort->adjustments += model_reweigh(m, row, weight, n);
    if (!model_is_sound(m))
        model_rebuild(m);
}

int model_follow(model *m, int evaluated)
{
    climb c = climb_start(m, evaluated);
    progress now = GOES_ON;
    m->effort->solves++;
    while (now == GOES_ON && c.taken < FOLLOW_STEPS) {
        double slope = find_step(m, &c),
               off = c.evaluated ? off_for(&c, sqrt(slope), FOLLOW_NEAR) : -1;
        now = step_on(m, &c, slope, off >= 0 && is_near(m, off));
    }
    if (!c.evaluated) {
        model_evaluate(m);
        now = GOES_ON;
    }
    correct_some(m);
    if (now == CONVERGED)
        memset(m->gradient, 0, m->dim * sizeof *m->gradient);
    return now == CONVERGED ? SETTLED : now == GOES_ON ? FOLLOWING : UNKNOWN;
}

void logistic_solve_plainly(void *state, logistic *p)
{
    model m = model_of(state, p, &p->effort);
    p->effort.solves++;
    climb_plainly(&m, MAX_STEPS);
    *m.settled = UNKNOWN;
}
