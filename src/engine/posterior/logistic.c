/* logistic.c - what a logistic model has learned: counts for each distinct row, and the quadratic
 * rest of absorbed rows.  See logistic.h.
 *
 * Rows are found by a hash of their bytes in a table with open addressing and linear probing.  The
 * table is at most half full, holds the number of the row plus one (0: free), and closes the gap
 * when a row leaves it, so that it never needs cleaning.
 *
 * Rows are in one of two queues, single rows and rows that count for more than one observation,
 * each in the order in which they were last examined.  When a new row finds no place, the oldest
 * rows are absorbed, up to ABSORB_ROWS at a time because one pass over P serves several rows.  An
 * absorbed row keeps its place and its entry in the table, with a count of 0, until a new row takes
 * the place; so which rows are where follows from the sums alone.
 */
#include "engine/posterior/logistic.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/table.h"
#include "engine/posterior/logistic_model.h"

/* What logistic_check_derived calls a root: so near to it relative to 1 + |theta|, or in posterior
 * deviations, which is all that can be had when the condition of H is beyond double precision; and
 * how far from the drift's bound rounding may take the factor. */
static const double NEAR_ROOT = 1e-7, NEAR_ROOT_DEVIATIONS = 5e-4, NEAR_FACTOR = 1e-6;
static const double NEAR_FOLLOWED =
    0.03; /* the same after rounds of bounded work, which leave 0.01 */

/* The weight of an observed row enters the factor when it is so many times the one that is there:
 * rows seen a thousand times cost an update now and then instead of one a round, and steps do not
 * become more.  A twenty-fifth of the default drift; where the drift is less than this, the end of
 * the climb puts right what is left. */
static const double WORTHWHILE = 1.004;

/* Rows that are absorbed at once, where the window is not small; a multiple of RESIDUAL_LANES. */
enum { ABSORB_ROWS = 8 };

/* A row is absorbed with the weight it has in the factor where that is as near as this to its own,
 * so that the factor stays as it is. */
static const double NEAR_WEIGHT = 0.02;

static const double MOST_SINCE =
    0x1p53; /* the largest of the numbers that record how theta was reached */

double sigmoid(double z)
{
    /* the residual of a row examined once and not clicked is -mu: the same bits here as in the
     * solver */
    const double score[RESIDUAL_LANES] = {z}, examined[RESIDUAL_LANES] = {1},
                 clicked[RESIDUAL_LANES] = {0};
    double residual[RESIDUAL_LANES], curvature[RESIDUAL_LANES];
    KERNEL(logistic_residuals)(1, score, examined, clicked, residual, curvature);
    return -residual[0];
}

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
    if (capacity > UINT32_MAX / 4 ||
        !p.table_size) { /* rows, and places in the queues, are numbered by words */
        l->overflow = 1;
        return p;
    }
    p.capacity = (uint32_t)capacity;
    p.window = (uint32_t)(window < capacity ? window : capacity);
    p.thorough = p.capacity;
    size_t rows = residuals_padded(capacity), packed = (size_t)dim * ((size_t)dim + 1) / 2;
    p.count = layout_take(l, 2, sizeof(double));
    p.row = layout_take(l, capacity * dim, sizeof(float));
    p.examined = layout_take(l, rows, sizeof(double));
    p.clicked = layout_take(l, rows, sizeof(double));
    p.last = layout_take(l, rows, sizeof(double));
    p.precision = layout_take(l, packed, sizeof(double));
    p.pull = layout_take(l, dim, sizeof(double));
    p.table = layout_take(l, p.table_size, sizeof(uint32_t));
    p.theta = layout_take(l, logistic_estimate(dim), sizeof(double));
    p.factor = layout_take(l, ldl_doubles(dim), sizeof(double));
    p.weight = layout_take(l, rows, sizeof(double));
    p.share = layout_take(l, rows, sizeof(double));
    p.score = layout_take(l, rows, sizeof(double));
    p.queue = layout_take(l, 2 * (capacity + 2), sizeof(uint32_t));
    p.work = layout_take(l, model_work(dim, p.capacity), sizeof(double));
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
    size_t mask;
    const float *row;
    uint32_t dim;
} row_table;

static row_table table_of(const void *state, const logistic *p)
{
    row_table t = {words_in(state, p->table), p->table_size - 1, floats_at(state, p->row), p->dim};
    return t;
}

static size_t home_of(const row_table *t, const float *row)
{
    return (size_t)hash_row(row, t->dim) & t->mask;
}

/* Where the row is in the table, or the free slot where it would be. */
static size_t find_slot(const row_table *t, const float *row)
{
    size_t at = home_of(t, row);
    while (t->slot[at] &&
           memcmp(t->row + (size_t)(t->slot[at] - 1) * t->dim, row, t->dim * sizeof *row) != 0)
        at = (at + 1) & t->mask;
    return at;
}

/* Frees a slot and moves up those behind it that it had pushed away from home. */
static void free_slot(const row_table *t, size_t gap)
{
    for (size_t at = (gap + 1) & t->mask; t->slot[at]; at = (at + 1) & t->mask) {
        size_t home = home_of(t, t->row + (size_t)(t->slot[at] - 1) * t->dim);
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

/* ---- the queues */

/* Circular lists through two sentinels behind the rows: capacity for single rows, capacity + 1 for
 * the others. */
typedef struct link {
    uint32_t before, after;
} link;

static link *links_of(const void *state, const logistic *p)
{
    return (link *)(void *)words_in(state, p->queue);
}

static uint32_t queue_for(const void *state, const logistic *p, uint32_t r)
{
    return p->capacity + (doubles_at(state, p->examined)[r] > 1);
}

static void leave_queue(void *state, logistic *p, uint32_t r, uint32_t queue)
{
    link *l = links_of(state, p);
    l[l[r].before].after = l[r].after;
    l[l[r].after].before = l[r].before;
    p->singles -= queue == p->capacity;
}

/* Behind `place`, a row or the sentinel of that queue. */
static void enter_queue(void *state, logistic *p, uint32_t r, uint32_t queue, uint32_t place)
{
    link *l = links_of(state, p);
    l[r] = (link){place, l[place].after};
    l[l[r].after].before = l[place].after = r;
    p->singles += queue == p->capacity;
}

static int is_older(const double *last, uint32_t a, uint32_t b)
{
    return last[a] < last[b] || (last[a] <= last[b] && a < b);
}

/* Restores a heap of n rows, the most recent one first, below its element i. */
static void sift(uint32_t *heap, uint32_t n, uint32_t i, const double *last)
{
    uint32_t row = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && is_older(last, heap[child], heap[child + 1]);
        if (!is_older(last, row, heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = row;
}

/* The queues of the rows in use, derived from the sums.  Sorted in the scratch of the solver. */
static void fill_queues(void *state, logistic *p)
{
    link *l = links_of(state, p);
    uint32_t n = (uint32_t)doubles_at(state, p->count)[0], *heap = words_in(state, p->work);
    const double *last = doubles_at(state, p->last);
    for (uint32_t queue = p->capacity; queue < p->capacity + 2; queue++)
        l[queue] = (link){queue, queue};
    p->singles = 0;
    for (uint32_t r = 0; r < n; r++)
        heap[r] = r;
    for (uint32_t i = n / 2; i-- > 0;)
        sift(heap, n, i, last);
    for (; n > 0; n--) { /* the most recent first, each in front of all before */
        uint32_t r = heap[0], queue = queue_for(state, p, r);
        heap[0] = heap[n - 1];
        if (n > 1)
            sift(heap, n - 1, 0, last);
        enter_queue(state, p, r, queue, queue);
    }
}

/* ---- rows come and go */

/* Where P is flat but for lambda in some direction and steep in others, the rounding of P theta
 * alone could move theta.  A part of each absorbed diagonal, larger than those roundings and too
 * small to matter, is added against that.  The gradient at theta stays as it is. */
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

/* The weights that rows have in the factor are near enough to theirs at theta, or are corrected
 * there.  weight: what P will get, which is exactly what the factor has. */
static void settle_weights(model *m, const uint32_t *row, double *weight, uint32_t n)
{
    uint32_t off[ABSORB_ROWS], k = 0;
    double right[ABSORB_ROWS];
    for (uint32_t i = 0; i < n; i++) {
        if (fabs(weight[i] - m->weight[row[i]]) > NEAR_WEIGHT * weight[i]) {
            off[k] = row[i];
            right[k++] = weight[i];
        }
    }
    model_reweigh(m, off, right, k);
    for (uint32_t i = 0; i < n; i++)
        weight[i] = m->weight[row[i]];
}

/* What rows are absorbed with, in whole vectors. */
typedef struct absorption {
    const float *x[ABSORB_ROWS];
    double score[ABSORB_ROWS], residual[ABSORB_ROWS], weight[ABSORB_ROWS];
} absorption;

static absorption absorption_of(const model *m, const uint32_t *row, uint32_t n)
{
    absorption a = {.score = {0}};
    double examined[ABSORB_ROWS] = {0}, clicked[ABSORB_ROWS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        a.x[i] = m->row + (size_t)row[i] * m->dim;
        rows_times(a.x[i], m->dim, 1, m->dim, m->theta, a.score + i);
        examined[i] = m->examined[row[i]];
        clicked[i] = m->clicked[row[i]];
    }
    KERNEL(logistic_residuals)(n, a.score, examined, clicked, a.residual, a.weight);
    return a;
}

/* The root will move on by about the posterior's own spread, so a score by v = x'F^-1 x in the mean
 * square; the mean of the row's residual is then smaller by w (1 - 2 mu) v / 2, its third
 * derivative at work, which a quadratic at theta alone would leave out. Halves the error of
 * absorption (docs/numerics.md).  Beyond v = 1 the expansion says too much. */
static void look_ahead(model *m, absorption *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double v;
        ldl_quadratic(&m->factor, a->x[i], m->dim, 1, &v, m->quadratic);
        double less = 0.5 * a->weight[i] * (1 - 2 * sigmoid(a->score[i])) * fmin(v, 1);
        a->residual[i] -= less;
        less = -less;
        KERNEL(linear_terms)(a->x[i], 1, m->dim, &less, m->gradient);
    }
}

/* The rows' part of the log posterior becomes a quadratic, and they themselves count nothing any
 * more: that with their residuals and weights at theta, which leaves the gradient there as it is;
 * `ahead`: but for what look_ahead() adds to it.  The factor keeps their weights. */
static void absorb(void *state, const logistic *p, model *m, const uint32_t *row, uint32_t n,
                   int ahead)
{
    const double none[ABSORB_ROWS] = {0};
    absorption a = absorption_of(m, row, n);
    if (ahead)
        look_ahead(m, &a, n);
    settle_weights(m, row, a.weight, n);
    memset(m->nothing, 0, m->dim * sizeof *m->nothing);
    gram_add(doubles_at(state, p->precision), m->nothing, m->dim, a.x, none, a.weight, n);
    for (uint32_t i = 0; i < n; i++) {
        double pull = a.residual[i] + a.weight[i] * a.score[i];
        KERNEL(linear_terms)(a.x[i], 1, m->dim, &pull, doubles_at(state, p->pull));
        steady(state, p, m, a.x[i], a.weight[i]);
        doubles_at(state, p->examined)[row[i]] = doubles_at(state, p->clicked)[row[i]] =
            m->weight[row[i]] = 0;
    }
    *m->absorbed = 1;
    if (!model_is_sound(
            m)) { /* lowered weights have spoilt the factor: all is evaluated and made anew */
        model_evaluate(m);
        model_rebuild(m);
        *m->settled = UNKNOWN;
    }
}

/* What comes in, and how much of it is where. */
typedef struct intake {
    void *state;
    logistic *p;
    model m;        /* its gradient is that of the observations below, if theta is settled */
    double solved;  /* a running number: rows examined after it may hold what theta has not seen */
    double counted; /* what `solved` may become when the root is found */
    uint32_t n; /* observations that are counted, but neither in the factor nor in the gradient */
    uint32_t row[MODEL_BATCH];
    double click[MODEL_BATCH], times[MODEL_BATCH]; /* weighted clicks, and weights */
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
    if (!(*in->m.settled >= FOLLOWING))
        memset(in->m.gradient, 0, in->m.dim * sizeof(double));
}

/* Observations enter the gradient at theta, and the factor: their rows get there the weights they
 * have at theta, unless that is hardly more than they had. */
static void intake_flush(intake *in)
{
    model *m = &in->m;
    double score[MODEL_BATCH], residual[MODEL_BATCH], each[MODEL_BATCH], weight[MODEL_BATCH];
    uint32_t row[MODEL_BATCH], gained = 0;
    for (uint32_t i = 0; i < residuals_padded(in->n); i++) {
        score[i] = i < in->n ? m->score[in->row[i]] : 0;
        in->click[i] = i < in->n ? in->click[i] : 0;
        in->times[i] = i < in->n ? in->times[i] : 1;
    }
    KERNEL(logistic_residuals)(in->n, score, in->times, in->click, residual, each);
    for (uint32_t i = 0; i < in->n; i++) {
        uint32_t r = in->row[i];
        KERNEL(linear_terms)(m->row + (size_t)r * m->dim, 1, m->dim, residual + i, m->gradient);
        double all = m->examined[r] * (each[i] / in->times[i]);
        if (all > WORTHWHILE * m->weight[r]) {
            row[gained] = r;
            weight[gained++] = all;
        }
    }
    m->effort->entered += model_reweigh(m, row, weight, gained);
    in->n = 0;
}

/* Sums that were learned keep theta within the bound.  Forged ones whose P is not positive
 * semidefinite have no root, and the steps towards it lead out: theta begins again at 0. */
static void keep_in_bounds(model *m)
{
    double square = 0;
    for (uint32_t j = 0; j < m->dim; j++)
        square += m->theta[j] * m->theta[j];
    if (square <= LOGISTIC_LONGEST_THETA * LOGISTIC_LONGEST_THETA)
        return;
    memset(m->theta, 0, m->dim * sizeof *m->theta);
    model_evaluate(m);
    model_rebuild(m);
    *m->settled = UNKNOWN;
}

/* Rows that were absorbed, or seen again, may have left so few single ones that the round has to
 * end at the root: what rounds of bounded work left of the gradient is not good enough for that. */
static void become_thorough(intake *in)
{
    model *m = &in->m;
    if (!m->followed || in->p->singles > in->p->thorough)
        return;
    m->followed = 0;
    *m->settled = UNKNOWN;
}

static void intake_solve(intake *in)
{
    model *m = &in->m;
    intake_flush(in);
    become_thorough(in);
    int evaluated = !(*m->settled > UNKNOWN);
    if (evaluated)
        model_evaluate(m);
    *m->settled = m->followed ? model_follow(m, evaluated) : model_solve(m, evaluated);
    keep_in_bounds(m);
}

/* The next row to be absorbed: the oldest single row where there are too many of them, or else the
 * oldest of all.  `place` is what the last one went behind. */
static uint32_t oldest(const intake *in, uint32_t place)
{
    const logistic *p = in->p;
    const link *l = links_of(in->state, p);
    uint32_t single = l[place].after, other = l[p->capacity + 1].after;
    if (p->singles >= p->window || other >= p->capacity)
        return single;
    return single < p->capacity && is_older(doubles_at(in->state, p->last), single, other) ? single
                                                                                           : other;
}

/* Absorbs the oldest rows, which then are the first of the single ones, with a count of 0.  If
 * theta has not seen all of the first, the root is found before. */
static void absorb_oldest(intake *in)
{
    logistic *p = in->p;
    const double *last = doubles_at(in->state, p->last);
    uint32_t row[ABSORB_ROWS], n = 0, place = p->capacity, r = oldest(in, place);
    uint32_t most = p->window >= 8 * ABSORB_ROWS ? ABSORB_ROWS : 1;
    if (last[r] > in->solved) {
        intake_solve(in);
        intake_start(in);
        in->solved = in->counted;
    }
    for (; n < most && r < p->capacity && last[r] <= in->solved; r = oldest(in, place)) {
        leave_queue(in->state, p, r, queue_for(in->state, p, r));
        enter_queue(in->state, p, r, p->capacity, place);
        row[n++] = place = r;
    }
    absorb(in->state, p, &in->m, row, n, 1);
}

/* A place for one more row: that of a row that counts nothing, a new one, or that of a row that is
 * absorbed. */
static uint32_t make_room(intake *in)
{
    logistic *p = in->p;
    double *count = doubles_at(in->state, p->count), *examined = doubles_at(in->state, p->examined);
    const link *first = &links_of(in->state, p)[p->capacity];
    if (!(first->after < p->capacity && examined[first->after] <= 0)) {
        if (count[0] < p->capacity && p->singles < p->window) {
            in->m.rows++;
            return (uint32_t)count[0]++;
        }
        absorb_oldest(in);
    }
    uint32_t r = first->after;
    leave_queue(in->state, p, r, p->capacity);
    row_table t = table_of(in->state, p);
    free_slot(&t, find_slot(&t, t.row + (size_t)r * t.dim));
    return r;
}

/* The row's number; a new one gets a place, with nothing counted yet. */
static uint32_t place_of(intake *in, const float *x)
{
    row_table t = table_of(in->state, in->p);
    copy_row(in->m.incoming, x, t.dim);
    size_t at = find_slot(&t, in->m.incoming);
    if (t.slot[at])
        return t.slot[at] - 1;
    uint32_t r = make_room(in);
    float *kept = floats_at(in->state, in->p->row) + (size_t)r * t.dim;
    memcpy(kept, in->m.incoming, t.dim * sizeof *kept);
    t.slot[find_slot(&t, kept)] = r + 1;
    doubles_at(in->state, in->p->examined)[r] = doubles_at(in->state, in->p->clicked)[r] =
        in->m.weight[r] = 0;
    in->m.share[r] = model_share(&in->m, kept);
    enter_queue(in->state, in->p, r, in->p->capacity,
                links_of(in->state, in->p)[in->p->capacity].before);
    rows_times(kept, t.dim, 1, t.dim, in->m.theta, in->m.score + r);
    return r;
}

/* `times` more observations of a row.  At the bound, older ones are forgotten to make room: shares
 * of clicks stay right. */
static void count_row(intake *in, uint32_t r, double times, double clicks)
{
    double *examined = doubles_at(in->state, in->p->examined) + r,
           *clicked = doubles_at(in->state, in->p->clicked) + r;
    leave_queue(in->state, in->p, r, queue_for(in->state, in->p, r));
    *examined += times;
    *clicked += clicks;
    if (*examined > LOGISTIC_MOST_COUNT) {
        *clicked *= LOGISTIC_MOST_COUNT / *examined;
        *examined = LOGISTIC_MOST_COUNT;
    }
    doubles_at(in->state, in->p->last)[r] = in->counted;
    uint32_t queue = queue_for(in->state, in->p, r);
    enter_queue(in->state, in->p, r, queue, links_of(in->state, in->p)[queue].before);
}

/* Counts n observations, each in its row. */
static void intake_rows(intake *in, const float *const *x, const double *y, const double *weight,
                        uint32_t n)
{
    double *clock = &doubles_at(in->state, in->p->count)[1];
    intake_start(in);
    for (uint32_t i = 0; i < n; i++) {
        if (in->n == MODEL_BATCH)
            intake_flush(in);
        uint32_t r = place_of(in, x[i]);
        in->counted = ++*clock;
        double times = weight ? weight[i] : 1;
        count_row(in, r, times, times * y[i]);
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
    intake_open(&in, state, p);
    intake_rows(&in, x, y, weight, n);
    intake_solve(&in);
}

void logistic_add(void *state, logistic *p, const float *const *x, const double *y, uint32_t n)
{
    logistic_add_weighted(state, p, x, y, NULL, n);
}

void logistic_add_plainly(void *state, logistic *p, const float *const *x, const double *y,
                          uint32_t n)
{
    intake in;
    intake_open(&in, state, p);
    intake_rows(&in, x, y, NULL, n);
    logistic_solve_plainly(state, p);
}

/* ---- the sums as a whole */

/* The root, and the factor there, after a change of the sums that is more than a few observations.
 */
static void derive(void *state, logistic *p)
{
    model m = model_of(state, p, &p->effort);
    model_evaluate(&m);
    model_rebuild(&m);
    *m.settled = model_solve(&m, 1);
    keep_in_bounds(&m);
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
    double *theta = doubles_at(state, p->theta);
    memset(theta, 0, logistic_estimate(p->dim) * sizeof *theta);
    theta[2 * p->dim + 2] = any_on_diagonal(doubles_at(state, p->precision), p->dim);
    fill_table(state, p);
    fill_queues(state, p);
    derive(state, p);
}

static int is_within(const double *x, size_t n, double least, double most)
{
    for (size_t i = 0; i < n; i++)
        if (!(x[i] >= least && x[i] <= most))
            return 0;
    return 1;
}

/* ---- merging */

static void *both_new(const logistic *p, size_t rows, logistic *both)
{
    layout l = {0, 0};
    rows = rows ? rows : 1;
    *both = logistic_plan(&l, p->dim, rows, rows, p->lambda, p->drift);
    void *state = l.overflow ? NULL : aligned_alloc(LAYOUT_ALIGN, l.used);
    if (state)
        memset(state, 0, l.used);
    return state;
}

/* Adds the rows of `from` that count anything, and P and q, to the history in `state`; returns 0
 * when a bound is passed.  Its history counts as later than what is there, in its own order. */
static int add_history(void *state, const logistic *p, const void *from_state, const logistic *from)
{
    row_table t = table_of(state, p);
    double *count = doubles_at(state, p->count), before = count[1];
    const double *examined = doubles_at(from_state, from->examined),
                 *clicked = doubles_at(from_state, from->clicked),
                 *last = doubles_at(from_state, from->last),
                 *other = doubles_at(from_state, from->count);
    size_t packed = (size_t)p->dim * (p->dim + 1) / 2;
    for (uint32_t i = 0; i < (uint32_t)other[0]; i++) {
        const float *x = floats_at(from_state, from->row) + (size_t)i * p->dim;
        size_t at = find_slot(&t, x);
        if (!(examined[i] > 0))
            continue;
        if (!t.slot[at]) {
            memcpy(floats_at(state, p->row) + (size_t)count[0] * p->dim, x, p->dim * sizeof *x);
            t.slot[at] = (uint32_t)++count[0];
        }
        uint32_t r = t.slot[at] - 1;
        doubles_at(state, p->examined)[r] += examined[i];
        doubles_at(state, p->clicked)[r] += clicked[i];
        doubles_at(state, p->last)[r] = before + last[i];
        if (!(doubles_at(state, p->examined)[r] <= LOGISTIC_MOST_COUNT))
            return 0;
    }
    count[1] += other[1];
    for (size_t i = 0; i < packed; i++)
        doubles_at(state, p->precision)[i] += doubles_at(from_state, from->precision)[i];
    for (uint32_t j = 0; j < p->dim; j++)
        doubles_at(state, p->pull)[j] += doubles_at(from_state, from->pull)[j];
    return count[1] <= LOGISTIC_MOST_OBSERVATIONS &&
           is_within(doubles_at(state, p->precision), packed, -LOGISTIC_MOST_SUM,
                     LOGISTIC_MOST_SUM) &&
           is_within(doubles_at(state, p->pull), p->dim, -LOGISTIC_MOST_SUM, LOGISTIC_MOST_SUM);
}

/* Absorbs the oldest rows of `both`, whose root is known, until the rest fits into a model of this
 * capacity and window. */
static void absorb_what_does_not_fit(void *state, logistic *both, uint32_t capacity,
                                     uint32_t window)
{
    const link *l = links_of(state, both);
    model m = model_of(state, both, &both->effort);
    uint32_t left = m.rows;
    while (left > capacity || both->singles > window) {
        uint32_t row[ABSORB_ROWS], n = 0;
        while (n < ABSORB_ROWS && (left > capacity || both->singles > window)) {
            uint32_t single = l[both->capacity].after, other = l[both->capacity + 1].after;
            int is_single =
                both->singles > window || other >= both->capacity ||
                (single < both->capacity && is_older(doubles_at(state, both->last), single, other));
            row[n] = is_single ? single : other;
            leave_queue(state, both, row[n++], both->capacity + !is_single);
            left--;
        }
        absorb(state, both, &m, row, n, 0);
    }
}

/* The rows of `both` that count anything, and its P and q, replace what is in `state`. */
static void take_history(void *state, logistic *p, const void *from_state, const logistic *both)
{
    uint32_t n = 0;
    const double *count = doubles_at(from_state, both->count);
    for (uint32_t i = 0; i < (uint32_t)count[0]; i++) {
        if (!(doubles_at(from_state, both->examined)[i] > 0))
            continue;
        memcpy(floats_at(state, p->row) + (size_t)n * p->dim,
               floats_at(from_state, both->row) + (size_t)i * p->dim, p->dim * sizeof(float));
        doubles_at(state, p->examined)[n] = doubles_at(from_state, both->examined)[i];
        doubles_at(state, p->clicked)[n] = doubles_at(from_state, both->clicked)[i];
        doubles_at(state, p->last)[n++] = doubles_at(from_state, both->last)[i];
    }
    doubles_at(state, p->count)[0] = n;
    doubles_at(state, p->count)[1] = count[1];
    memcpy(doubles_at(state, p->precision), doubles_at(from_state, both->precision),
           (size_t)p->dim * (p->dim + 1) / 2 * sizeof(double));
    memcpy(doubles_at(state, p->pull), doubles_at(from_state, both->pull), p->dim * sizeof(double));
}

oltr_status logistic_merge(void *state, logistic *p, const void *from_state, const logistic *from)
{
    logistic both;
    size_t rows =
        (size_t)doubles_at(state, p->count)[0] + (size_t)doubles_at(from_state, from->count)[0];
    void *work = both_new(p, rows, &both);
    if (!work)
        return OLTR_ENOMEM;
    if (!add_history(work, &both, state, p) || !add_history(work, &both, from_state, from)) {
        free(work);
        return OLTR_ESTATE;
    }
    logistic_refresh(work, &both);
    absorb_what_does_not_fit(work, &both, p->capacity, p->window);
    take_history(state, p, work, &both);
    free(work);
    logistic_refresh(state, p);
    return OLTR_OK;
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
    fill_queues(state, p);
    derive(state, p);
}

/* ---- checks */

static oltr_status check_row(const void *state, const logistic *p, uint32_t r, oltr_error *error)
{
    double n = doubles_at(state, p->examined)[r], s = doubles_at(state, p->clicked)[r],
           last = doubles_at(state, p->last)[r];
    const float *x = floats_at(state, p->row) + (size_t)r * p->dim;
    if (!(n >= 0 && n <= LOGISTIC_MOST_COUNT && s >= 0 && s <= n * (1 + 1e-12)))
        return set_error(error, OLTR_ESTATE, "row %u: %g clicks in %g observations cannot be", r, s,
                         n);
    if (!(last >= 0 && last <= doubles_at(state, p->count)[1]))
        return set_error(error, OLTR_ESTATE,
                         "row %u: last examined at observation %g, which is yet to come", r, last);
    for (uint32_t j = 0; j < p->dim; j++)
        if (!isfinite(x[j]))
            return set_error(error, OLTR_ESTATE, "row %u: feature %u is %g", r, j, (double)x[j]);
    return OLTR_OK;
}

oltr_status logistic_check(const void *state, const logistic *p, oltr_error *error)
{
    const double *count = doubles_at(state, p->count), *precision = doubles_at(state, p->precision),
                 *pull = doubles_at(state, p->pull);
    if (!(count[0] >= 0 && count[0] <= p->capacity && count[0] == floor(count[0])))
        return set_error(error, OLTR_ESTATE, "%g rows where there is room for %u cannot be",
                         count[0], p->capacity);
    if (!(count[1] >= 0 && count[1] <= LOGISTIC_MOST_OBSERVATIONS))
        return set_error(error, OLTR_ESTATE, "%g observations cannot be", count[1]);
    for (uint32_t r = 0; r < (uint32_t)count[0]; r++)
        if (check_row(state, p, r, error) != OLTR_OK)
            return OLTR_ESTATE;
    for (uint32_t j = 0; j < p->dim; j++) {
        if (!(fabs(pull[j]) <= LOGISTIC_MOST_SUM) || !(precision[0] >= 0))
            return set_error(error, OLTR_ESTATE,
                             "absorbed rows: feature %u with a precision of %g and a pull of %g", j,
                             precision[0], pull[j]);
        for (uint32_t i = j; i < p->dim; i++)
            if (!(fabs(*precision++) <= LOGISTIC_MOST_SUM))
                return set_error(error, OLTR_ESTATE,
                                 "absorbed rows: a precision of %g of features %u and %u cannot be",
                                 precision[-1], i, j);
    }
    return OLTR_OK;
}

static oltr_status check_table(const void *state, const logistic *p, oltr_error *error)
{
    row_table t = table_of(state, p);
    if (!(doubles_at(state, p->theta)[2 * p->dim + 2] > 0) &&
        any_on_diagonal(doubles_at(state, p->precision), p->dim))
        return set_error(error, OLTR_ESTATE, "rows were absorbed, and the solver does not know it");
    for (uint32_t r = 0; r < (uint32_t)doubles_at(state, p->count)[0]; r++)
        if (t.slot[find_slot(&t, t.row + (size_t)r * t.dim)] != r + 1)
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

/* A weight w of H and v of F with |w - v| <= drift v differ by at most drift / (1 - drift) of w. */
static oltr_status check_factor(model *m, oltr_error *error)
{
    double allowed = 1.5 * m->drift / (1 - m->drift) + NEAR_FACTOR;
    if (m->followed) /* weights may be off by any amount: the factor is that of its own */
        memcpy(m->curvature, m->weight, m->rows * sizeof *m->curvature);
    else if (!KERNEL(weights_near)(m->rows, m->curvature, m->weight, m->share,
                                   1.5 * m->drift + NEAR_FACTOR))
        return set_error(error, OLTR_ESTATE,
                         "a weight in the factor is too far from the curvature of its row");
    model_hessian(m);
    for (uint32_t j = 0; j < m->dim; j++) {
        double distance = ldl_column_error(&m->factor, m->gram, m->lambda, j, m->step);
        if (!(m->factor.d[j] > 0) || !(distance <= allowed))
            return set_error(error, OLTR_ESTATE,
                             "the factor is %g away from the curvature at feature %u", distance, j);
    }
    return OLTR_OK;
}

/* How many posterior deviations the rounding of the gradient can amount to: with b_j a bound on
 * that of element j, at most the sum of b_j sqrt((F^-1)_jj). */
static double rounding_deviations(model *m)
{
    double *bound = m->gradient_next, sum = 0;
    model_rounding(m, bound);
    memset(m->incoming, 0, m->dim * sizeof *m->incoming);
    for (uint32_t j = 0; j < m->dim; j++) {
        double variance;
        m->incoming[j] = 1;
        ldl_quadratic(&m->factor, m->incoming, m->dim, 1, &variance, m->quadratic);
        m->incoming[j] = 0;
        sum += bound[j] * sqrt(variance);
    }
    return sum;
}

static oltr_status check_root(model *m, oltr_error *error)
{
    double allowed = m->followed ? NEAR_FOLLOWED : NEAR_ROOT_DEVIATIONS;
    model_evaluate(m);
    for (uint32_t j = 0; j < m->dim; j++)
        if (!isfinite(m->theta[j]) || !isfinite(m->gradient[j]))
            return set_error(error, OLTR_ESTATE,
                             "the estimate of feature %u is %g, which is no root", j, m->theta[j]);
    ldl_solve(&m->factor, m->gradient, m->step);
    double size = norm(m->step, m->dim), scale = 1 + norm(m->theta, m->dim), slope = 0;
    for (uint32_t j = 0; j < m->dim; j++)
        slope += m->gradient[j] * m->step[j];
    if (m->followed && !(*m->settled >= SETTLED && *m->settled <= SETTLED))
        return OLTR_OK; /* on its way to the root */
    if (size <= NEAR_ROOT * scale ||
        (slope >= 0 && sqrt(slope) <= allowed + rounding_deviations(m)))
        return OLTR_OK;
    return set_error(error, OLTR_ESTATE,
                     "the estimate is %g away from the root of the score equation", size);
}

/* Root and factor, measured with a scratch of its own: the state is read only. */
static oltr_status check_solution(const void *state, const logistic *p, oltr_error *error)
{
    uint32_t rows = (uint32_t)doubles_at(state, p->count)[0];
    size_t solver = model_work(p->dim, rows);
    double *work =
        aligned_alloc(LAYOUT_ALIGN, align_up((solver + residuals_padded(rows)) * sizeof *work));
    if (!work)
        return set_error(error, OLTR_ENOMEM,
                         "no memory to check the root of the score equation with");
    logistic_effort none;
    model m = model_with(state, p, &none, work, rows, work + solver);
    oltr_status status = check_root(&m, error);
    if (status == OLTR_OK)
        status = check_factor(&m, error);
    free(work);
    return status;
}

oltr_status logistic_check_derived(const void *state, const logistic *p, oltr_error *error)
{
    oltr_status status = check_table(state, p, error);
    return status == OLTR_OK ? check_solution(state, p, error) : status;
}

/* ---- exact copies */

/* Whether each number is one that learning can leave, looked at by itself.  A factorisation stops
 * at pivots of 2^-52 of the diagonal, which is lambda or more. */
static oltr_status check_copied(const void *state, const logistic *p, oltr_error *error)
{
    const double *theta = doubles_at(state, p->theta);
    size_t rows = (size_t)doubles_at(state, p->count)[0];
    ldl f = logistic_factor(state, p);
    if (!is_within(theta, p->dim, -LOGISTIC_LONGEST_THETA, LOGISTIC_LONGEST_THETA) ||
        !is_within(theta + p->dim, p->dim, -DBL_MAX, DBL_MAX) ||
        !is_within(theta + 2 * p->dim, LOGISTIC_PATH, 0, MOST_SINCE))
        return set_error(error, OLTR_ESTATE, "the estimate is not one that learning can leave");
    if (!is_within(f.d, p->dim, 0x1p-60 * p->lambda, DBL_MAX) ||
        !is_within(f.l, p->dim * f.stride, -DBL_MAX, DBL_MAX))
        return set_error(error, OLTR_ESTATE,
                         "the factor of the curvature is not one that learning can leave");
    if (!is_within(doubles_at(state, p->weight), rows, 0, LOGISTIC_MOST_COUNT) ||
        !is_within(doubles_at(state, p->score), rows, -DBL_MAX, DBL_MAX))
        return set_error(error, OLTR_ESTATE,
                         "the weight or the score of a row is not one that learning can leave");
    return OLTR_OK;
}

/* Numbers that are possible but do not fit the sums are derived anew: then the copy is another, and
 * sound. */
oltr_status logistic_resume(void *state, logistic *p, oltr_error *error)
{
    oltr_status status = check_copied(state, p, error);
    if (status != OLTR_OK)
        return status;
    fill_table(state, p);
    fill_queues(state, p);
    if (!(doubles_at(state, p->theta)[2 * p->dim + 2] > 0) &&
        any_on_diagonal(doubles_at(state, p->precision), p->dim))
        status = OLTR_ESTATE;
    if (status == OLTR_OK)
        status = check_solution(state, p, error);
    if (status == OLTR_ENOMEM)
        return status;
    if (status != OLTR_OK)
        logistic_refresh(state, p);
    return OLTR_OK;
}
