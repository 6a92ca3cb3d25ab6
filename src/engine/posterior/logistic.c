/* logistic.c - what a logistic posterior learns: counts for each distinct row, and the quadratics
 * of absorbed rows.  See logistic.h.
 *
 * A round counts its observations, each in its row (count_rows), brings them into the gradient and
 * the factor (enter_observations), and finds the root (find_root).  When a new row finds no place,
 * the oldest rows are absorbed, up to ABSORB_ROWS at a time because one pass over P serves several.
 * An absorbed row keeps its place and its entry in the table, with a count of 0, until a new row
 * takes the place; so which rows are where follows from the sums alone.
 */
#include "engine/posterior/logistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/table.h"
#include "engine/limits.h"
#include "engine/posterior/logistic_view.h"

/* The weight of an observed row enters the factor when it is so many times the one that is there:
 * rows seen a thousand times cost an update now and then instead of one a round, and the number of
 * steps stays the same.  A twenty-fifth of the default drift; where the drift is less than this,
 * the end of the solve corrects the rest. */
static const double WORTHWHILE = 1.004;

/* Rows that are absorbed at once, where the window is not small; a multiple of RESIDUAL_LANES. */
enum { ABSORB_ROWS = 8 };

/* A row is absorbed with the weight it has in the factor where that is as near as this to its own,
 * so that the factor stays as it is. */
static const double NEAR_WEIGHT = 0.02;

/* The least power of two that leaves half of the table free; 0 when there is none. */
static size_t table_size_for(size_t capacity)
{
    size_t size = 2;
    while (size && size / 2 < capacity)
        size *= 2;
    return size;
}

logistic logistic_plan(layout *l, uint32_t dim, size_t capacity, size_t window, double lambda,
                       double drift)
{
    logistic p = {
        .dim = dim, .lambda = lambda, .drift = drift, .table_size = table_size_for(capacity)};
    if (capacity > UINT32_MAX / 4 || !p.table_size) { /* rows and links are numbered by words */
        l->overflow = true;
        return p;
    }
    p.capacity = p.thorough = (uint32_t)capacity;
    p.window = (uint32_t)(window < capacity ? window : capacity);
    size_t rows = residuals_padded(capacity);
    p.count = layout_take(l, 1, sizeof(logistic_count));
    p.row = layout_take(l, capacity * dim, sizeof(float));
    p.examined = layout_take(l, rows, sizeof(double));
    p.clicked = layout_take(l, rows, sizeof(double));
    p.last = layout_take(l, rows, sizeof(double));
    p.precision = layout_take(l, packed_size(dim), sizeof(double));
    p.linear_term = layout_take(l, dim, sizeof(double));
    p.table = layout_take(l, p.table_size, sizeof(uint32_t));
    p.theta = layout_take(l, logistic_estimate(dim), sizeof(double));
    p.factor = layout_take(l, ldl_doubles(dim), sizeof(double));
    p.weight = layout_take(l, rows, sizeof(double));
    p.share = layout_take(l, rows, sizeof(double));
    p.score = layout_take(l, rows, sizeof(double));
    p.queue = layout_take(l, capacity + 2, sizeof(row_link));
    p.work = layout_take(l, logistic_work(dim, p.capacity), sizeof(double));
    return p;
}

/* ---- absorbing rows */

/* The quadratics that replace up to ABSORB_ROWS rows, in whole vectors. */
typedef struct absorption {
    const float *x[ABSORB_ROWS];
    double score[ABSORB_ROWS], residual[ABSORB_ROWS], weight[ABSORB_ROWS];
} absorption;

static absorption absorption_of(const logistic_view *v, const uint32_t *row, uint32_t n)
{
    absorption a = {.score = {0}};
    double examined[ABSORB_ROWS] = {0}, clicked[ABSORB_ROWS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        a.x[i] = row_at(v, row[i]);
        rows_times(a.x[i], v->dim, 1, v->dim, v->theta, a.score + i);
        examined[i] = v->examined[row[i]];
        clicked[i] = v->clicked[row[i]];
    }
    residuals_of(v)(n, a.score, examined, clicked, a.residual, a.weight);
    return a;
}

/* The root will move on by about the posterior's own spread, so a score by v = x'F^-1 x in the mean
 * square.  By the third derivative, the mean of the row's residual is then smaller by
 * N mu'' v / 2, which a quadratic at theta alone would leave out.  Halves the error of
 * absorption (docs/numerics.md).  Beyond v = 1 the expansion overstates. */
static void anticipate_moves(logistic_view *v, absorption *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double variance;
        ldl_quadratic(&v->factor, a->x[i], v->dim, 1, &variance, v->quadratic);
        double bend = link_here(v->p->link, a->score[i]).bend;
        double less = 0.5 * a->weight[i] * bend * fmin(variance, 1);
        a->residual[i] -= less;
        less = -less;
        KERNEL(linear_terms)(a->x[i], 1, v->dim, &less, v->gradient);
    }
}

/* Corrects weights in the factor that are too far from those at theta.  weight: what P will get,
 * which is then exactly what the factor has. */
static void match_factor(logistic_view *v, const uint32_t *row, double *weight, uint32_t n)
{
    uint32_t off[ABSORB_ROWS], n_off = 0;
    double correct[ABSORB_ROWS];
    for (uint32_t i = 0; i < n; i++)
        if (fabs(weight[i] - v->weight[row[i]]) > NEAR_WEIGHT * weight[i]) {
            off[n_off] = row[i];
            correct[n_off++] = weight[i];
        }
    logistic_set_weights(v, off, correct, n_off);
    for (uint32_t i = 0; i < n; i++)
        weight[i] = v->weight[row[i]];
}

/* Where P is flat but for lambda in some direction and steep in others, the rounding of P theta
 * alone could move theta.  So a part of each absorbed diagonal is added, larger than those
 * roundings and too small to matter.  The gradient at theta stays as it is. */
static void stabilise_diagonal(logistic_view *v, const float *x, double weight)
{
    double *diagonal = v->precision, part = 0x1p-50 * v->dim * sqrt(v->dim);
    for (uint32_t j = 0; j < v->dim; diagonal += v->dim - j, j++) {
        double more = part * weight * (double)x[j] * (double)x[j];
        *diagonal += more;
        v->linear_term[j] += more * v->theta[j];
    }
}

/* When lowered weights have spoilt the factor, everything is evaluated and the factor built anew.
 */
static void restart_at_theta(logistic_view *v)
{
    logistic_evaluate(v);
    logistic_build_factor(v);
    v->path->known = NOTHING_KNOWN;
}

/* Replaces the rows' part of the log posterior by the quadratics with their residuals and weights
 * at theta, which leaves the gradient there as it is, and sets their counts to 0.  `anticipate`:
 * but for what anticipate_moves() adds to it.  The factor keeps their weights. */
static void absorb(logistic_view *v, const uint32_t *row, uint32_t n, bool anticipate)
{
    const double none[ABSORB_ROWS] = {0};
    absorption a = absorption_of(v, row, n);
    if (anticipate)
        anticipate_moves(v, &a, n);
    match_factor(v, row, a.weight, n);
    memset(v->nothing, 0, v->dim * sizeof *v->nothing);
    gram_add(v->precision, v->nothing, v->dim, a.x, none, a.weight, n);
    for (uint32_t i = 0; i < n; i++) {
        double term = a.residual[i] + a.weight[i] * a.score[i];
        KERNEL(linear_terms)(a.x[i], 1, v->dim, &term, v->linear_term);
        stabilise_diagonal(v, a.x[i], a.weight[i]);
        v->examined[row[i]] = v->clicked[row[i]] = v->weight[row[i]] = 0;
    }
    v->path->has_absorbed = 1;
    if (!logistic_confirm_factor(v))
        restart_at_theta(v);
}

/* ---- learning */

/* One call of logistic_add(). */
typedef struct intake {
    logistic_view v; /* its gradient holds the observations that are not in `row` below */
    double solved;   /* theta has seen the observations up to this number */
    /* Observations that are counted, but neither in the factor nor in the gradient: */
    uint32_t n, row[VIEW_BATCH];
    double click[VIEW_BATCH], times[VIEW_BATCH]; /* weighted clicks, and weights */
} intake;

static void intake_start(intake *in, void *state, logistic *p)
{
    logistic_view_set(&in->v, state, p);
    in->n = 0;
    in->solved = in->v.count->n_observations;
    if (!(in->v.path->known >= GRADIENT_KNOWN))
        memset(in->v.gradient, 0, in->v.dim * sizeof(double));
}

/* Brings observations into the gradient at theta, and into the factor: their rows get there the
 * weights they have at theta, unless that is hardly more than they had. */
static void enter_observations(intake *in)
{
    logistic_view *v = &in->v;
    double score[VIEW_BATCH], residual[VIEW_BATCH], each[VIEW_BATCH], weight[VIEW_BATCH];
    uint32_t row[VIEW_BATCH], gained = 0;
    for (uint32_t i = 0; i < residuals_padded(in->n); i++) {
        score[i] = i < in->n ? v->score[in->row[i]] : 0;
        in->click[i] = i < in->n ? in->click[i] : 0;
        in->times[i] = i < in->n ? in->times[i] : 1;
    }
    residuals_of(v)(in->n, score, in->times, in->click, residual, each);
    for (uint32_t i = 0; i < in->n; i++) {
        uint32_t r = in->row[i];
        KERNEL(linear_terms)(row_at(v, r), 1, v->dim, residual + i, v->gradient);
        double all = v->examined[r] * (each[i] / in->times[i]);
        if (all > WORTHWHILE * v->weight[r]) {
            row[gained] = r;
            weight[gained++] = all;
        }
    }
    v->p->effort.entered += logistic_set_weights(v, row, weight, gained);
    in->n = 0;
}

/* Sums that were learned keep theta within the bound.  Forged ones whose P is not positive
 * semidefinite have no root, and steps lead out of bounds: theta begins again at 0. */
static void keep_in_bounds(logistic_view *v)
{
    double square = 0;
    for (uint32_t j = 0; j < v->dim; j++)
        square += v->theta[j] * v->theta[j];
    if (square <= LONGEST_LOGISTIC_THETA * LONGEST_LOGISTIC_THETA)
        return;
    memset(v->theta, 0, v->dim * sizeof *v->theta);
    restart_at_theta(v);
}

/* Rows that were absorbed, or seen again, may have left so few single ones that the round has to
 * end at the root.  The gradient that rounds of bounded work leave is not exact enough for that. */
static void find_root(intake *in)
{
    logistic_view *v = &in->v;
    enter_observations(in);
    if (v->bounded_work && v->p->n_singles <= v->p->thorough) {
        v->bounded_work = false;
        v->path->known = NOTHING_KNOWN;
    }
    bool evaluated = !(v->path->known > NOTHING_KNOWN);
    if (evaluated)
        logistic_evaluate(v);
    v->path->known =
        v->bounded_work ? logistic_approach(v, evaluated) : logistic_solve(v, evaluated);
    keep_in_bounds(v);
}

/* Absorbs the oldest rows, which then are the first of the single ones, with a count of 0.  If
 * theta has not seen all of the first one, the root is found before. */
static void absorb_oldest(intake *in)
{
    logistic_view *v = &in->v;
    const logistic *p = v->p;
    uint32_t row[ABSORB_ROWS], n = 0, place = v->capacity;
    uint32_t most = p->window >= 8 * ABSORB_ROWS ? ABSORB_ROWS : 1;
    uint32_t r = oldest_row(v, place, p->n_singles >= p->window);
    if (v->last[r] > in->solved) {
        find_root(in);
        intake_start(in, v->state, v->p);
    }
    for (; n < most && r < v->capacity && v->last[r] <= in->solved;
         r = oldest_row(v, place, p->n_singles >= p->window)) {
        leave_queue(v, r);
        enter_queue(v, r, v->capacity, place);
        row[n++] = place = r;
    }
    absorb(v, row, n, true);
}

/* A place for one more row: that of a row that counts nothing, a new one, or that of a row that is
 * absorbed now. */
static uint32_t make_room(intake *in)
{
    logistic_view *v = &in->v;
    const row_link *singles = &v->queue[v->capacity];
    if (!(singles->after < v->capacity && v->examined[singles->after] <= 0)) {
        if (v->count->n_rows < v->capacity && v->p->n_singles < v->p->window) {
            v->rows++;
            return (uint32_t)v->count->n_rows++;
        }
        absorb_oldest(in);
    }
    uint32_t r = singles->after;
    leave_queue(v, r);
    logistic_leave_table(v, r);
    return r;
}

/* The row's number; a new one gets a place, with nothing counted yet. */
static uint32_t place_of(intake *in, const float *x)
{
    logistic_view *v = &in->v;
    logistic_copy_row(v->incoming, x, v->dim);
    uint32_t r = logistic_find_row(v, v->incoming);
    if (r != NO_ROW)
        return r;
    r = make_room(in);
    memcpy(row_at(v, r), v->incoming, v->dim * sizeof *x);
    logistic_enter_table(v, r);
    v->examined[r] = v->clicked[r] = v->weight[r] = 0;
    v->share[r] = logistic_share(v, row_at(v, r));
    enter_queue(v, r, v->capacity, queue_end(v, v->capacity));
    rows_times(row_at(v, r), v->dim, 1, v->dim, v->theta, v->score + r);
    return r;
}

/* `times` more observations of a row.  At the bound, older ones are forgotten to make room: the
 * share of clicks stays right. */
static void count_row(logistic_view *v, uint32_t r, double times, double clicks)
{
    leave_queue(v, r);
    v->examined[r] += times;
    v->clicked[r] += clicks;
    if (v->examined[r] > MOST_ROW_OBSERVATIONS) {
        v->clicked[r] *= MOST_ROW_OBSERVATIONS / v->examined[r];
        v->examined[r] = MOST_ROW_OBSERVATIONS;
    }
    v->last[r] = ++v->count->n_observations;
    uint32_t queue = queue_for(v, r);
    enter_queue(v, r, queue, queue_end(v, queue));
}

static void count_rows(intake *in, const float *const *x, const double *y, const double *weight,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (in->n == VIEW_BATCH)
            enter_observations(in);
        uint32_t r = place_of(in, x[i]);
        double times = weight ? weight[i] : 1;
        count_row(&in->v, r, times, times * y[i]);
        in->row[in->n] = r;
        in->times[in->n] = times;
        in->click[in->n++] = times * y[i];
    }
}

void logistic_add_weighted(void *state, logistic *p, const float *const *x, const double *y,
                           const double *weight, uint32_t n)
{
    intake in;
    if (n == 0)
        return;
    intake_start(&in, state, p);
    count_rows(&in, x, y, weight, n);
    find_root(&in);
}

void logistic_add(void *state, logistic *p, const float *const *x, const double *y, uint32_t n)
{
    logistic_add_weighted(state, p, x, y, NULL, n);
}

void logistic_add_plainly(void *state, logistic *p, const float *const *x, const double *y,
                          uint32_t n)
{
    intake in;
    intake_start(&in, state, p);
    count_rows(&in, x, y, NULL, n);
    logistic_solve_plainly(state, p);
}

/* ---- the sums as a whole */

/* The root, and the factor there, after a change of the sums that is more than a few observations.
 */
static void derive(void *state, logistic *p)
{
    logistic_view v = logistic_view_of(state, p);
    logistic_evaluate(&v);
    logistic_build_factor(&v);
    v.path->known = logistic_solve(&v, true);
    keep_in_bounds(&v);
    logistic_evaluate(&v);
    logistic_build_factor(&v);
}

void logistic_refresh(void *state, logistic *p)
{
    logistic_view v = logistic_view_of(state, p);
    memset(v.theta, 0, logistic_estimate(p->dim) * sizeof *v.theta);
    v.path->has_absorbed = logistic_absorbed_any(&v);
    logistic_fill_table(&v);
    logistic_fill_queues(&v);
    derive(state, p);
}

void logistic_forget(void *state, logistic *p, double keep)
{
    logistic_view v = logistic_view_of(state, p);
    for (uint32_t r = 0; r < p->capacity; r++) {
        v.examined[r] *= keep;
        v.clicked[r] *= keep;
    }
    for (size_t i = 0; i < packed_size(p->dim); i++)
        v.precision[i] *= keep;
    for (uint32_t j = 0; j < p->dim; j++)
        v.linear_term[j] *= keep;
    logistic_fill_queues(&v);
    derive(state, p);
}

/* ---- merging: both histories in one large enough for both, then as much of it as fits */

static void *both_new(const logistic *p, size_t rows, logistic *both)
{
    layout l = {0, false};
    rows = rows ? rows : 1;
    *both = logistic_plan(&l, p->dim, rows, rows, p->lambda, p->drift);
    both->link = p->link;
    size_t bytes = layout_bytes(&l);
    void *state = bytes ? aligned_alloc(LAYOUT_ALIGN, bytes) : NULL;
    if (state)
        memset(state, 0, bytes);
    return state;
}

/* Adds row i of `from` to the same row of `to`, or to a new one; false when a bound is passed. */
static bool add_row(logistic_view *to, const logistic_view *from, uint32_t i, double before)
{
    uint32_t r = logistic_find_row(to, row_at(from, i));
    if (r == NO_ROW) {
        r = (uint32_t)to->count->n_rows++;
        memcpy(row_at(to, r), row_at(from, i), to->dim * sizeof(float));
        logistic_enter_table(to, r);
    }
    to->examined[r] += from->examined[i];
    to->clicked[r] += from->clicked[i];
    to->last[r] = before + from->last[i];
    return to->examined[r] <= MOST_ROW_OBSERVATIONS;
}

/* Adds the rows of `from` that count anything, P and q; false when a bound is passed.  Its history
 * counts as later than what is there, in its own order. */
static bool add_history(logistic_view *to, const logistic_view *from)
{
    double before = to->count->n_observations;
    bool good = true;
    for (uint32_t i = 0; good && i < from->rows; i++)
        if (from->examined[i] > 0)
            good = add_row(to, from, i, before);
    to->count->n_observations += from->count->n_observations;
    for (size_t i = 0; i < packed_size(to->dim); i++) {
        to->precision[i] += from->precision[i];
        good &= fabs(to->precision[i]) <= LARGEST_ABSORBED;
    }
    for (uint32_t j = 0; j < to->dim; j++) {
        to->linear_term[j] += from->linear_term[j];
        good &= fabs(to->linear_term[j]) <= LARGEST_ABSORBED;
    }
    return good && to->count->n_observations <= MOST_LOGISTIC_OBSERVATIONS;
}

/* Absorbs the oldest rows, at the root, until the rest fits into this capacity and window. */
static void absorb_excess(logistic_view *v, uint32_t capacity, uint32_t window)
{
    uint32_t left = v->rows;
    const uint32_t *n_singles = &v->p->n_singles;
    while (left > capacity || *n_singles > window) {
        uint32_t row[ABSORB_ROWS], n = 0;
        for (; n < ABSORB_ROWS && (left > capacity || *n_singles > window); left--) {
            row[n] = oldest_row(v, v->capacity, *n_singles > window);
            leave_queue(v, row[n++]);
        }
        absorb(v, row, n, false);
    }
}

/* The rows of `from` that count anything, and its P and q, replace those of `to`. */
static void take_history(logistic_view *to, const logistic_view *from)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->rows; i++) {
        if (!(from->examined[i] > 0))
            continue;
        memcpy(row_at(to, n), row_at(from, i), to->dim * sizeof(float));
        to->examined[n] = from->examined[i];
        to->clicked[n] = from->clicked[i];
        to->last[n++] = from->last[i];
    }
    *to->count = (logistic_count){n, from->count->n_observations};
    memcpy(to->precision, from->precision, packed_size(to->dim) * sizeof(double));
    memcpy(to->linear_term, from->linear_term, to->dim * sizeof(double));
}

oltr_status logistic_merge(void *state, logistic *p, const void *from_state, const logistic *from)
{
    logistic plan, from_plan = *from;
    logistic_view into = logistic_view_of(state, p);
    logistic_view add = logistic_view_with(from_state, &from_plan, NULL, 0, NULL);
    void *work = both_new(p, (size_t)into.rows + add.rows, &plan);
    if (!work)
        return OLTR_ENOMEM;
    logistic_view both = logistic_view_of(work, &plan);
    bool good = add_history(&both, &into) && add_history(&both, &add);
    if (good) {
        logistic_refresh(work, &plan);
        both = logistic_view_of(work, &plan);
        absorb_excess(&both, p->capacity, p->window);
        take_history(&into, &both);
        logistic_refresh(state, p);
    }
    free(work);
    return good ? OLTR_OK : OLTR_ESTATE;
}
