/* logistic.c - what a logistic model has learned: counts for each distinct row, and the quadratic rest of rows long gone.  See logistic.h.
 *
 * Rows are found by a hash of their bytes in a table with open addressing and linear probing.  The table is at most half full, holds the number of
 * the row plus one (0: free), and closes the gap when a row leaves it, so that it never needs cleaning.
 */
#include "posterior/logistic.h"

#include <math.h>
#include <string.h>

#include "posterior/logistic_kernels.h"
#include "posterior/logistic_model.h"

/* What logistic_check_derived calls a root: so near to it relative to 1 + |theta|, or in posterior deviations, which is all that can be had when the condition
 * of H is beyond double precision; and how far from the drift's bound rounding may take the factor. */
static const double NEAR_ROOT = 1e-7, NEAR_ROOT_DEVIATIONS = 5e-4, NEAR_FACTOR = 1e-6;

/* The weight of an observed row enters the factor when it is so many times the one that is there: rows seen a thousand times cost an update now and then instead of one a
 * round, and steps do not become more.  A twenty-fifth of the default drift; where the drift is less than this, the end of the climb puts right what is left. */
static const double WORTHWHILE = 1.004;

double sigmoid(double z)
{
    /* the residual of a row examined once and not clicked is -mu: the same bits here as in the solver */
    const double score[RESPOND_LANES] = {z}, examined[RESPOND_LANES] = {1}, clicked[RESPOND_LANES] = {0};
    double residual[RESPOND_LANES], curvature[RESPOND_LANES];
    respond(1, score, examined, clicked, residual, curvature);
    return -residual[0];
}

logistic logistic_plan(layout *l, uint32_t dim, uint32_t capacity, double lambda, double drift)
{
    logistic p = {.dim = dim, .capacity = capacity, .lambda = lambda, .drift = drift, .table_size = 2};
    while (p.table_size < capacity || p.table_size - capacity < capacity)
        p.table_size *= 2; /* capacity is a number of rows in memory: far below 2^30 */
    size_t rows = respond_padded(capacity), packed = (size_t)dim * ((size_t)dim + 1) / 2;
    p.count = layout_take(l, 2, sizeof(double));
    p.row = layout_take(l, (size_t)capacity * dim, sizeof(float));
    p.examined = layout_take(l, rows, sizeof(double));
    p.clicked = layout_take(l, rows, sizeof(double));
    p.last = layout_take(l, rows, sizeof(double));
    p.precision = layout_take(l, packed, sizeof(double));
    p.pull = layout_take(l, dim, sizeof(double));
    p.table = layout_take(l, p.table_size, sizeof(uint32_t));
    p.theta = layout_take(l, dim, sizeof(double));
    p.factor = layout_take(l, ldl_doubles(dim), sizeof(double));
    p.weight = layout_take(l, rows, sizeof(double));
    p.share = layout_take(l, rows, sizeof(double));
    p.kept = layout_take(l, 1, sizeof(double));
    p.work = layout_take(l, model_work(dim, capacity), sizeof(double));
    return p;
}

/* ---- the table */

/* -0.0 and 0.0 are the same feature: the sum has the bits of 0.0 for both. */
static void copy_row(float *to, const float *from, uint32_t dim)
{
    for (uint32_t j = 0; j < dim; j++)
        to[j] = from[j] + 0.0f;
}

static uint64_t hash_row(const float *row, uint32_t dim)
{
    uint64_t h = dim;
    for (uint32_t j = 0; j < dim; j += 2) {
        uint64_t word = 0;
        memcpy(&word, row + j, (dim - j < 2 ? 1 : 2) * sizeof *row);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return h;
}

typedef struct row_table {
    uint32_t *slot;
    uint32_t mask;
    const float *row;
    uint32_t dim;
} row_table;

static row_table table_of(const void *state, const logistic *p)
{
    row_table t = {words_in(state, p->table), p->table_size - 1, floats_at(state, p->row), p->dim};
    return t;
}

static uint32_t home_of(const row_table *t, const float *row)
{
    return (uint32_t)hash_row(row, t->dim) & t->mask;
}

/* Where the row stands, or the free slot where it would. */
static uint32_t find_slot(const row_table *t, const float *row)
{
    uint32_t at = home_of(t, row);
    while (t->slot[at] && memcmp(t->row + (size_t)(t->slot[at] - 1) * t->dim, row, t->dim * sizeof *row) != 0)
        at = (at + 1) & t->mask;
    return at;
}

/* Frees a slot and moves up those behind it that it had pushed away from home. */
static void free_slot(const row_table *t, uint32_t gap)
{
    for (uint32_t at = (gap + 1) & t->mask; t->slot[at]; at = (at + 1) & t->mask) {
        uint32_t home = home_of(t, t->row + (size_t)(t->slot[at] - 1) * t->dim);
        if (((at - home) & t->mask) >= ((at - gap) & t->mask)) {
            t->slot[gap] = t->slot[at];
            gap = at;
        }
    }
    t->slot[gap] = 0;
}

/* All that is derived from the rows alone: the table and the shares. */
static void fill_table(void *state, const logistic *p)
{
    row_table t = table_of(state, p);
    logistic_effort none;
    model m = model_of(state, p, &none);
    memset(t.slot, 0, p->table_size * sizeof *t.slot);
    for (uint32_t r = 0; r < m.rows; r++) {
        float *row = floats_at(state, p->row) + (size_t)r * p->dim;
        copy_row(row, row, p->dim);
        t.slot[find_slot(&t, row)] = r + 1;
        m.share[r] = model_share(&m, row);
    }
}

/* ---- rows come and go */

static uint32_t least_recent(const void *state, const logistic *p)
{
    const double *last = doubles_at(state, p->last);
    uint32_t oldest = 0;
    for (uint32_t r = 1; r < p->capacity; r++)
        if (last[r] < last[oldest])
            oldest = r;
    return oldest;
}

/* A quadratic that is flat but for lambda in some direction, and steep in others, must not move theta by its own rounding: a part of its diagonal that is more than what the
 * roundings of P theta come to, and less than anybody could notice, stands against that.  The gradient at theta stays as it is. */
static void steady(void *state, const logistic *p, const model *m, const float *x, double weight)
{
    double *precision = doubles_at(state, p->precision), *pull = doubles_at(state, p->pull);
    double part = 0x1p-50 * m->dim * sqrt(m->dim);
    for (uint32_t j = 0; j < m->dim; precision += m->dim - j, j++) {
        double more = part * weight * (double)x[j] * (double)x[j];
        *precision += more;
        pull[j] += more * m->theta[j];
    }
}

/* A row's part of the log posterior becomes its quadratic at theta: the gradient there stays as it is.  The factor gets the very weight, since
 * from now on nothing will put it right. */
static void absorb(void *state, logistic *p, model *m, uint32_t r)
{
    double score[RESPOND_LANES] = {0}, residual[RESPOND_LANES], curvature[RESPOND_LANES];
    const double examined[RESPOND_LANES] = {m->examined[r]}, clicked[RESPOND_LANES] = {m->clicked[r]}, none = 0;
    const float *x = m->row + (size_t)r * m->dim;
    rows_times(x, m->dim, 1, m->dim, m->theta, score);
    respond(1, score, examined, clicked, residual, curvature);
    double pull = residual[0] + curvature[0] * score[0];
    model_reweigh(m, &r, curvature, 1);
    rows_pull(x, 1, m->dim, &pull, doubles_at(state, p->pull));
    memset(m->nothing, 0, m->dim * sizeof *m->nothing);
    gram_add(doubles_at(state, p->precision), m->nothing, m->dim, &x, &none, curvature, 1);
    steady(state, p, m, x, curvature[0]);
    m->absorbed = 1;
    p->absorbed = 1;
}

/* What comes in, and how much of it is where. */
typedef struct intake {
    void *state;
    logistic *p;
    model m;        /* its gradient is that of the observations below, if theta is settled */
    double solved;  /* a running number: rows examined after it may hold what theta has not seen */
    double counted; /* what `solved` may become when the root is found */
    uint32_t n;     /* observations that are counted, but neither in the factor nor in the gradient */
    uint32_t row[MODEL_BATCH];
    double click[MODEL_BATCH];
} intake;

/* With the arrays left alone: only what is counted of them is read. */
static void intake_open(intake *in, void *state, logistic *p)
{
    in->state = state;
    in->p = p;
    in->solved = in->counted = doubles_at(state, p->count)[1];
}

static void intake_start(intake *in)
{
    in->m = model_of(in->state, in->p, &in->p->effort);
    in->n = 0;
    memset(in->m.gradient, 0, in->m.dim * sizeof(double));
}

/* Observations enter the gradient at theta, and the factor: their rows get there the weights they have at theta, unless that is hardly more than they had. */
static void intake_flush(intake *in)
{
    model *m = &in->m;
    double score[MODEL_BATCH], once[MODEL_BATCH], residual[MODEL_BATCH], each[MODEL_BATCH], weight[MODEL_BATCH];
    uint32_t row[MODEL_BATCH], gained = 0;
    for (uint32_t i = 0; i < respond_padded(in->n); i++) {
        score[i] = i < in->n ? m->score[in->row[i]] : 0;
        in->click[i] = i < in->n ? in->click[i] : 0;
        once[i] = 1;
    }
    respond(in->n, score, once, in->click, residual, each);
    for (uint32_t i = 0; i < in->n; i++) {
        uint32_t r = in->row[i];
        rows_pull(m->row + (size_t)r * m->dim, 1, m->dim, residual + i, m->gradient);
        double all = m->examined[r] * each[i];
        if (all > WORTHWHILE * m->weight[r]) {
            row[gained] = r;
            weight[gained++] = all;
        }
    }
    m->effort->entered += model_reweigh(m, row, weight, gained);
    in->n = 0;
}

static void intake_solve(intake *in)
{
    intake_flush(in);
    if (!in->p->settled)
        model_evaluate(&in->m);
    in->p->settled = (uint32_t)model_solve(&in->m, !in->p->settled);
}

/* A place for one more row.  When all are taken, the least recent row leaves; if theta has not seen all of it, the root is found first. */
static uint32_t make_room(intake *in)
{
    double *count = doubles_at(in->state, in->p->count);
    if (count[0] < in->p->capacity) {
        in->m.rows++;
        return (uint32_t)count[0]++;
    }
    uint32_t r = least_recent(in->state, in->p);
    if (doubles_at(in->state, in->p->last)[r] > in->solved) {
        intake_solve(in);
        intake_start(in);
        in->solved = in->counted;
    }
    absorb(in->state, in->p, &in->m, r);
    row_table t = table_of(in->state, in->p);
    free_slot(&t, find_slot(&t, t.row + (size_t)r * t.dim));
    return r;
}

/* The row's number; a new one gets a place, with nothing counted yet. */
static uint32_t place_of(intake *in, const float *x)
{
    row_table t = table_of(in->state, in->p);
    copy_row(in->m.incoming, x, t.dim);
    uint32_t at = find_slot(&t, in->m.incoming);
    if (t.slot[at])
        return t.slot[at] - 1;
    uint32_t r = make_room(in);
    float *kept = floats_at(in->state, in->p->row) + (size_t)r * t.dim;
    memcpy(kept, in->m.incoming, t.dim * sizeof *kept);
    t.slot[find_slot(&t, kept)] = r + 1;
    doubles_at(in->state, in->p->examined)[r] = doubles_at(in->state, in->p->clicked)[r] = in->m.weight[r] = 0;
    in->m.share[r] = model_share(&in->m, kept);
    rows_times(kept, t.dim, 1, t.dim, in->m.theta, in->m.score + r);
    return r;
}

static void count_row(const intake *in, uint32_t r, double examined, double clicked, double when)
{
    doubles_at(in->state, in->p->examined)[r] += examined;
    doubles_at(in->state, in->p->clicked)[r] += clicked;
    doubles_at(in->state, in->p->last)[r] = when;
}

/* Counts n observations, each in its row. */
static void intake_rows(intake *in, const float *const *x, const double *y, uint32_t n)
{
    double *clock = &doubles_at(in->state, in->p->count)[1];
    intake_start(in);
    for (uint32_t i = 0; i < n; i++) {
        if (in->n == MODEL_BATCH)
            intake_flush(in);
        uint32_t r = place_of(in, x[i]);
        in->counted = ++*clock;
        count_row(in, r, 1, y[i], in->counted);
        in->row[in->n] = r;
        in->click[in->n++] = y[i];
    }
}

void logistic_add(void *state, logistic *p, const float *const *x, const double *y, uint32_t n)
{
    intake in;
    if (n == 0)
        return;
    intake_open(&in, state, p);
    intake_rows(&in, x, y, n);
    intake_solve(&in);
}

void logistic_add_plainly(void *state, logistic *p, const float *const *x, const double *y, uint32_t n)
{
    intake in;
    intake_open(&in, state, p);
    intake_rows(&in, x, y, n);
    logistic_solve_plainly(state, p);
}

/* ---- the sums as a whole */

/* The root, and the factor there, after a change of the sums that is more than a few observations. */
static void derive(void *state, logistic *p)
{
    model m = model_of(state, p, &p->effort);
    model_evaluate(&m);
    model_rebuild(&m);
    p->settled = (uint32_t)model_solve(&m, 1);
    model_evaluate(&m);
    model_rebuild(&m);
}

static int any_on_diagonal(const double *packed, uint32_t dim)
{
    for (uint32_t j = 0; j < dim; packed += dim - j, j++)
        if (*packed != 0)
            return 1;
    return 0;
}

void logistic_refresh(void *state, logistic *p)
{
    memset(doubles_at(state, p->theta), 0, p->dim * sizeof(double));
    fill_table(state, p);
    p->absorbed = (uint32_t)any_on_diagonal(doubles_at(state, p->precision), p->dim);
    derive(state, p);
}

static void merge_absorbed(void *state, logistic *p, const void *from_state, const logistic *from)
{
    const double *precision = doubles_at(from_state, from->precision), *pull = doubles_at(from_state, from->pull);
    for (size_t i = 0; i < (size_t)p->dim * (p->dim + 1) / 2; i++)
        doubles_at(state, p->precision)[i] += precision[i];
    for (uint32_t j = 0; j < p->dim; j++)
        doubles_at(state, p->pull)[j] += pull[j];
    p->absorbed |= from->absorbed;
}

/* The other's history counts as later than ours, in its own order. */
void logistic_merge(void *state, logistic *p, const void *from_state, const logistic *from)
{
    double *count = doubles_at(state, p->count), before = count[1];
    const double *other = doubles_at(from_state, from->count), *last = doubles_at(from_state, from->last);
    const double *examined = doubles_at(from_state, from->examined), *clicked = doubles_at(from_state, from->clicked);
    const float *row = floats_at(from_state, from->row);
    intake in;
    intake_open(&in, state, p); /* rows come in any order: all later ones are unseen */
    merge_absorbed(state, p, from_state, from);
    p->settled = 0;
    count[1] += other[1];
    intake_start(&in);
    for (uint32_t i = 0; i < (uint32_t)other[0]; i++) {
        count_row(&in, place_of(&in, row + (size_t)i * p->dim), examined[i], clicked[i], before + last[i]);
        p->settled = 0; /* should the next row need room, theta has not seen this one */
    }
    derive(state, p);
}

void logistic_forget(void *state, logistic *p, double keep)
{
    size_t packed = (size_t)p->dim * (p->dim + 1) / 2;
    for (uint32_t r = 0; r < p->capacity; r++) {
        doubles_at(state, p->examined)[r] *= keep;
        doubles_at(state, p->clicked)[r] *= keep;
    }
    for (size_t i = 0; i < packed; i++)
        doubles_at(state, p->precision)[i] *= keep;
    for (uint32_t j = 0; j < p->dim; j++)
        doubles_at(state, p->pull)[j] *= keep;
    derive(state, p);
}

/* ---- checks */

static oltr_status check_row(const void *state, const logistic *p, uint32_t r, oltr_error *error)
{
    double n = doubles_at(state, p->examined)[r], s = doubles_at(state, p->clicked)[r],
           last = doubles_at(state, p->last)[r];
    const float *x = floats_at(state, p->row) + (size_t)r * p->dim;
    if (!(isfinite(n) && n >= 0 && s >= 0 && s <= n * (1 + 1e-12)))
        return fail(error, OLTR_ESTATE, "row %u: %g clicks in %g observations cannot be", r, s, n);
    if (!(last >= 0 && last <= doubles_at(state, p->count)[1]))
        return fail(error, OLTR_ESTATE, "row %u: last examined at observation %g, which is yet to come", r, last);
    for (uint32_t j = 0; j < p->dim; j++)
        if (!isfinite(x[j]))
            return fail(error, OLTR_ESTATE, "row %u: feature %u is %g", r, j, (double)x[j]);
    return OLTR_OK;
}

oltr_status logistic_check(const void *state, const logistic *p, oltr_error *error)
{
    const double *count = doubles_at(state, p->count), *precision = doubles_at(state, p->precision),
                 *pull = doubles_at(state, p->pull);
    if (!(count[0] >= 0 && count[0] <= p->capacity && count[0] == floor(count[0])))
        return fail(error, OLTR_ESTATE, "%g rows where there is room for %u cannot be", count[0], p->capacity);
    if (!(count[1] >= 0 && isfinite(count[1])))
        return fail(error, OLTR_ESTATE, "%g observations cannot be", count[1]);
    for (uint32_t r = 0; r < (uint32_t)count[0]; r++)
        if (check_row(state, p, r, error) != OLTR_OK)
            return OLTR_ESTATE;
    for (uint32_t j = 0; j < p->dim; j++) {
        if (!isfinite(pull[j]) || !(precision[0] >= 0))
            return fail(error, OLTR_ESTATE, "absorbed rows: feature %u with a precision of %g and a pull of %g", j,
                        precision[0], pull[j]);
        for (uint32_t i = j; i < p->dim; i++)
            if (!isfinite(*precision++))
                return fail(error, OLTR_ESTATE, "absorbed rows: the precision of features %u and %u is not finite", i,
                            j);
    }
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

static oltr_status check_factor(model *m, oltr_error *error)
{
    model_hessian(m);
    for (uint32_t j = 0; j < m->dim; j++) {
        double distance = ldl_column_error(&m->factor, m->gram, m->lambda, j, m->step);
        if (!(m->factor.d[j] > 0) || !(distance <= 1.5 * m->drift + NEAR_FACTOR))
            return fail(error, OLTR_ESTATE, "the factor is %g away from the curvature at feature %u", distance, j);
    }
    return OLTR_OK;
}

/* Works in the scratch of the state, which means nothing between two calls; but for the scores at theta, which the next round builds on. */
oltr_status logistic_check_derived(const void *state, const logistic *p, oltr_error *error)
{
    logistic_effort none;
    model m = model_of(state, p, &none);
    m.score = m.score_next;
    row_table t = table_of(state, p);
    if (!p->absorbed && any_on_diagonal(doubles_at(state, p->precision), p->dim))
        return fail(error, OLTR_ESTATE, "rows were absorbed, and the solver does not know it");
    for (uint32_t r = 0; r < m.rows; r++)
        if (t.slot[find_slot(&t, m.row + (size_t)r * m.dim)] != r + 1)
            return fail(error, OLTR_ESTATE, "row %u is not where the table looks for it", r);
    model_evaluate(&m);
    ldl_solve(&m.factor, m.gradient, m.step);
    double size = norm(m.step, m.dim), scale = 1 + norm(m.theta, m.dim), slope = 0;
    for (uint32_t j = 0; j < m.dim; j++)
        slope += m.gradient[j] * m.step[j];
    if (!(size <= NEAR_ROOT * scale || (slope >= 0 && slope <= NEAR_ROOT_DEVIATIONS * NEAR_ROOT_DEVIATIONS)))
        return fail(error, OLTR_ESTATE, "the estimate is %g away from the root of the score equation", size);
    return check_factor(&m, error);
}
