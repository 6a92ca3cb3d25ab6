/* row_covariances.c - see row_covariances.h. */
#include "engine/posterior/row_covariances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/kernels/table.h"
#include "engine/limits.h"

enum {
    LEAST_DIM = 32,     /* where row_forms.h begins */
    MOST_DIM = 512,     /* a ranking of other rows makes a factor in its scratch: at most 2 MiB */
    MOST_ROWS = 512,    /* a matrix takes at most 2 MiB */
    ROWS_BY_DIM = 3,    /* L^2 / 2 is less than 2 d^2 + L d up to L = 3.2 d */
    MOST_SPAN = 4096,   /* learned rows */
    LEAST_SPAN = 256,   /* below that the factor is kept instead */
    LEAST_WAIT = 32,    /* rounds; covering the rows costs as much as is saved in about ten */
    MOST_WAIT = 1024,   /* rounds */
    LONG_COVERED = 128, /* rounds after which covering has saved more than it cost */
    WATCH = sizeof(covariances_watch) / sizeof(double),
};

static const double LEAST_PART = 1.0 / 16; /* of what a form was when it was computed */
static const double SMALL_PART = 1.0 / 4;  /* computed anew when another one is */
static const double NOTICED = 1e-10, PROMISED = 1e-9, RESUMED = 5e-10; /* relative errors */

static const covariances_watch nothing_covered = {.span = MOST_SPAN, .wait = LEAST_WAIT};

/* ---- places */

static size_t stride_for(size_t rows)
{
    return (rows + COVERED_FIRST + 7) & ~(size_t)7;
}

static uint32_t rows_of(const row_covariances *c)
{
    return (uint32_t)c->watch.rows;
}

row_covariances row_covariances_plan(layout *l, uint32_t n_items, uint32_t dim, uint32_t models)
{
    row_covariances c = {.models = models, .dim = dim, .watch = nothing_covered};
    if (dim < LEAST_DIM || dim > MOST_DIM || n_items > MOST_ROWS || n_items > ROWS_BY_DIM * dim)
        return c;
    size_t stride = stride_for(n_items);
    c.room = n_items;
    for (uint32_t k = 0; k < models; k++) {
        c.g[k] = layout_take(l, stride * stride, sizeof(double));
        c.count[k] = layout_take(l, 2 * (size_t)n_items, sizeof(double));
    }
    c.x = layout_take(l, (size_t)n_items * dim, sizeof(float));
    c.work = layout_take(l, FORMS_BATCH * stride, sizeof(double));
    c.solution = layout_take(l, FORMS_BATCH * ceil4(dim) + ldl_quadratic_work(dim), sizeof(double));
    return c;
}

/* Both places of an element of the matrix, where there are two. */
static void set_element(double *g, size_t stride, size_t i, size_t j, double value)
{
    size_t row = i > j ? i : j, column = i > j ? j : i;
    g[column * stride + row] = value;
    if (column >= (row & ~(size_t)7))
        g[row * stride + column] = value;
}

static double form_at(const double *g, size_t stride, uint32_t item)
{
    return g[(COVERED_FIRST + item) * (stride + 1)];
}

static double made_at(const double *g, size_t stride, uint32_t item)
{
    return g[COVERED_MADE * stride + COVERED_FIRST + item];
}

/* ---- counts */

static bool is_whole(double value, double most)
{
    return value >= 0 && value <= most && value <= floor(value);
}

/* A snapshot that is being read may hold anything. */
static uint32_t rows_counted(const row_covariances *c)
{
    return is_whole(c->counted, c->room) ? (uint32_t)c->counted : 0;
}

/* gram and moment gain the counts of regression k. */
static void add_counts(const void *state, const row_covariances *c, uint32_t k, double *gram,
                       double *moment)
{
    const double *weights = doubles_at(state, c->count[k]), *rewards = weights + c->room;
    const float *x[FORMS_BATCH];
    double y[FORMS_BATCH], weight[FORMS_BATCH];
    uint32_t n = 0;
    for (uint32_t i = 0, end = rows_counted(c); i < end; i++) {
        if (weights[i] > 0) {
            x[n] = floats_at(state, c->x) + (size_t)i * c->dim;
            weight[n] = weights[i];
            y[n++] = rewards[i] / weights[i];
        }
        if (n == FORMS_BATCH || (n && i + 1 == end)) {
            gram_add(gram, moment, c->dim, x, y, weight, n);
            n = 0;
        }
    }
}

/* The sums of regression k take its counts. */
static void settle(void *state, const row_covariances *c, uint32_t k, const linear *model)
{
    add_counts(state, c, k, doubles_at(state, model->gram), doubles_at(state, model->moment));
    if (c->room)
        memset(doubles_at(state, c->count[k]), 0, 2 * (size_t)c->room * sizeof(double));
}

static void settle_all(void *state, row_covariances *c, linear *const *model)
{
    for (uint32_t k = 0; k < c->models; k++)
        settle(state, c, k, model[k]);
    c->counted = 0;
}

void row_covariances_reset(void *state, row_covariances *c, linear *const *model)
{
    settle_all(state, c, model);
    c->watch = nothing_covered;
}

void row_covariances_add(void *into, linear *const *into_model, const void *state,
                         const row_covariances *c, const linear *const *model)
{
    for (uint32_t k = 0; k < c->models; k++) {
        const size_t dim = model[k]->dim;
        double *gram = doubles_at(into, into_model[k]->gram),
               *moment = doubles_at(into, into_model[k]->moment);
        for (size_t i = 0; i < dim * (dim + 1) / 2; i++)
            gram[i] += doubles_at(state, model[k]->gram)[i];
        for (size_t i = 0; i < dim; i++)
            moment[i] += doubles_at(state, model[k]->moment)[i];
        add_counts(state, c, k, gram, moment);
    }
}

ldl covered_factor_in(const void *state, const row_covariances *c, uint32_t which,
                      const linear *model, double *memory)
{
    const size_t dim = model->dim, packed = dim * (dim + 1) / 2;
    double *gram = memory + ldl_doubles(model->dim), *moment = gram + packed;
    memcpy(gram, doubles_at(state, model->gram), packed * sizeof *gram);
    memcpy(moment, doubles_at(state, model->moment), dim * sizeof *moment);
    add_counts(state, c, which, gram, moment);
    return linear_factor_of(model, gram, moment, memory);
}

uint32_t row_covariances_sums(const void *state, const row_covariances *c,
                              oltr_sum_array out[COVARIANCES_SUMS])
{
    static const char *const names[MOST_COVERED_MODELS][2] = {
        {"counted-weights", "counted-rewards"}, {"more-weights", "more-rewards"}};
    const size_t n = rows_counted(c);
    out[0] = (oltr_sum_array){.name = "counted", .value = doubles_at(&c->counted, 0), .n = 1};
    out[1] =
        (oltr_sum_array){.name = "counted-rows", .single = floats_at(state, c->x), .n = n * c->dim};
    for (uint32_t k = 0; k < c->models; k++)
        for (uint32_t i = 0; i < 2; i++)
            out[2 + 2 * k + i] =
                (oltr_sum_array){.name = names[k][i],
                                 .value = doubles_at(state, c->count[k]) + i * (size_t)c->room,
                                 .n = n};
    return 2 + 2 * c->models;
}

/* Of one regression.  Sums of many addends may stray by their rounding. */
static bool counts_are_possible(const void *state, const row_covariances *c, uint32_t k,
                                double most)
{
    const double *weights = doubles_at(state, c->count[k]), *rewards = weights + c->room;
    const double slack = 1 + 1e-9;
    double sum = 0;
    for (uint32_t i = 0; i < rows_counted(c); i++) {
        if (!(weights[i] >= 0 && rewards[i] >= 0 && rewards[i] <= weights[i] * slack))
            return false;
        sum += weights[i];
    }
    return sum <= most * slack;
}

oltr_status row_covariances_check_counts(const void *state, const row_covariances *c, double most,
                                         oltr_error *error)
{
    bool possible = is_whole(c->counted, c->room);
    for (uint32_t k = 0; k < c->models; k++)
        possible = possible && counts_are_possible(state, c, k, most);
    if (!possible)
        return set_error(error, OLTR_ESTATE, "the counts of rows are impossible");
    if (rows_counted(c) && !rows_within(floats_at(state, c->x), c->dim, NULL, rows_counted(c),
                                        c->dim, LARGEST_FEATURE))
        return set_error(error, OLTR_ESTATE, "a counted row has a feature that is impossible");
    return OLTR_OK;
}

/* ---- from a factor */

/* A list of items. */
typedef struct items {
    uint32_t n, item[MOST_ROWS];
} items;

/* The products of n <= FORMS_BATCH items with all rows.  Returns the largest relative difference of
 * a form to what it was. */
static double compute_batch(void *state, const row_covariances *c, double *g, const row_forms *rows,
                            const ldl *factor, const uint32_t *item, uint32_t n)
{
    const uint32_t count = rows_of(c);
    const size_t stride = covered_stride(c), column = ceil4(rows->dim);
    const float *x[MOST_ROWS], *own[FORMS_BATCH];
    double *solution = doubles_at(state, c->solution), *out = doubles_at(state, c->work), worst = 0;
    for (uint32_t i = 0; i < count; i++)
        x[i] = row_forms_features(state, rows, i);
    for (uint32_t k = 0; k < n; k++)
        own[k] = x[item[k]];
    KERNEL(ldl_solve_rows)(factor, own, n, solution, column, solution + FORMS_BATCH * column);
    KERNEL(rows_times_columns)(x, count, rows->dim, solution, column, n, out);
    for (uint32_t k = 0; k < n; k++) {
        double before = form_at(g, stride, item[k]), now = out[(size_t)k * count + item[k]];
        worst = fmax(worst, fabs(before - now) > 0 ? fabs(before - now) / now : 0);
        for (uint32_t i = 0; i < count; i++)
            set_element(g, stride, COVERED_FIRST + i, COVERED_FIRST + item[k],
                        out[(size_t)k * count + i]);
        set_element(g, stride, COVERED_MADE, COVERED_FIRST + item[k], now);
    }
    return worst;
}

static void compute_means(void *state, const row_covariances *c, double *g, const row_forms *rows,
                          const ldl *factor)
{
    double *theta = doubles_at(state, c->solution), *mean = doubles_at(state, c->work);
    ldl_sample(factor, 0, NULL, theta);
    rows_times(row_forms_features(state, rows, 0), rows->dim, rows_of(c), rows->dim, theta, mean);
    for (uint32_t i = 0; i < rows_of(c); i++)
        set_element(g, covered_stride(c), COVERED_MEAN, COVERED_FIRST + i, mean[i]);
}

static double compute(void *state, const row_covariances *c, double *g, const row_forms *rows,
                      const ldl *factor, const items *list)
{
    double worst = 0;
    for (uint32_t first = 0; first < list->n; first += FORMS_BATCH) {
        uint32_t n = list->n - first < FORMS_BATCH ? list->n - first : FORMS_BATCH;
        worst = fmax(worst, compute_batch(state, c, g, rows, factor, list->item + first, n));
    }
    compute_means(state, c, g, rows, factor);
    return worst;
}

/* The items whose form is less than `part` of what it was. */
static void list_smaller(const row_covariances *c, const double *g, double part, items *list)
{
    const size_t stride = covered_stride(c);
    list->n = 0;
    for (uint32_t i = 0; i < rows_of(c); i++)
        if (!(form_at(g, stride, i) >= part * made_at(g, stride, i)))
            list->item[list->n++] = i;
}

static void list_all(const row_covariances *c, items *list)
{
    list->n = rows_of(c);
    for (uint32_t i = 0; i < list->n; i++)
        list->item[i] = i;
}

/* Forms that row_forms_of() and a later round with the factor read. */
static void publish(void *state, const row_covariances *c, const row_forms *rows)
{
    const double *g = doubles_at(state, c->g[0]);
    const size_t stride = covered_stride(c);
    for (uint32_t i = 0; i < rows_of(c); i++) {
        row_form *r = row_forms_at(state, rows, i);
        r->form = form_at(g, stride, i);
        r->made = made_at(g, stride, i);
    }
}

/* ---- which rounds */

/* All rows that are kept were candidates, as they were, and there are no others. */
static bool all_stay(const row_covariances *c, const row_forms *rows)
{
    return c->room && rows->n_new == 0 && rows->n_kept > 0 && rows->n_kept <= c->room &&
           rows->n_kept == (uint32_t)rows->watch.used;
}

static void leave(void *state, row_covariances *c, linear *const *model)
{
    covariances_watch *w = &c->watch;
    settle_all(state, c, model);
    for (uint32_t k = 0; k < c->models; k++)
        linear_refresh(state, model[k]);
    w->wait = w->quiet < LONG_COVERED ? fmin(2 * w->wait, MOST_WAIT) : LEAST_WAIT;
    w->rows = w->learned = w->quiet = 0;
}

bool row_covariances_begin(void *state, row_covariances *c, const row_forms *rows,
                           linear *const *model)
{
    covariances_watch *w = &c->watch;
    bool stay = all_stay(c, rows);
    if (row_covariances_on(c) && !(stay && rows->n_kept == rows_of(c)))
        leave(state, c, model);
    w->quiet = stay ? fmin(w->quiet + 1, MOST_WAIT) : 0;
    return row_covariances_on(c);
}

void row_covariances_enter(void *state, row_covariances *c, const row_forms *rows,
                           linear *const *model)
{
    covariances_watch *w = &c->watch;
    items all;
    if (!c->room || !(w->quiet >= w->wait && w->span > 0))
        return;
    w->rows = c->counted = rows->n_kept;
    w->learned = w->quiet = 0;
    memcpy(floats_at(state, c->x), row_forms_features(state, rows, 0),
           (size_t)rows_of(c) * c->dim * sizeof(float));
    list_all(c, &all);
    for (uint32_t k = 0; k < c->models; k++) {
        ldl factor = linear_factor(state, model[k]);
        double *g = doubles_at(state, c->g[k]);
        memset(g, 0, covered_stride(c) * covered_stride(c) * sizeof *g);
        compute(state, c, g, rows, &factor, &all);
    }
    publish(state, c, rows);
}

/* ---- learning */

/* Column q of the matrix, to its full length. */
static void load_column(const double *g, size_t stride, size_t q, double *restrict out)
{
    const size_t first = q & ~(size_t)7;
    for (size_t i = 0; i < first; i++)
        out[i] = g[i * stride + q];
    memcpy(out + first, g + q * stride + first, (stride - first) * sizeof *out);
}

void row_covariances_learn(void *state, const row_covariances *c, uint32_t which, const double *y,
                           const double *weight, const uint32_t *item, uint32_t n)
{
    const size_t stride = covered_stride(c);
    double m[FORMS_BATCH * FORMS_BATCH], root[FORMS_BATCH];
    double *g = doubles_at(state, c->g[which]), *t = doubles_at(state, c->work);
    double *weights = doubles_at(state, c->count[which]), *rewards = weights + c->room;
    for (uint32_t k = 0; k < n; k++) {
        double *own = t + k * stride, times = weight ? weight[k] : 1;
        weights[item[k]] += times;
        rewards[item[k]] += times * y[k];
        load_column(g, stride, COVERED_FIRST + item[k], own);
        for (uint32_t i = 0; i < n; i++)
            m[k * n + i] = own[COVERED_FIRST + item[i]];
        own[COVERED_MEAN] -= y[k];
        own[COVERED_MADE] = 0;
        root[k] = sqrt(times);
    }
    forms_cholesky(m, root, n);
    KERNEL(whiten)(m, root, n, t, stride);
    KERNEL(lose_squares)(g, stride, t, n);
}

/* Computes the forms of the listed items, and all means, from a new factor. */
static double renew(void *state, const row_covariances *c, uint32_t which, const row_forms *rows,
                    linear *model, const items *list)
{
    settle(state, c, which, model);
    linear_refresh(state, model);
    ldl factor = linear_factor(state, model);
    return compute(state, c, doubles_at(state, c->g[which]), rows, &factor, list);
}

/* Everything.  Returns the largest difference that was found. */
static double renew_all(void *state, row_covariances *c, const row_forms *rows,
                        linear *const *model)
{
    double worst = 0;
    items all;
    list_all(c, &all);
    for (uint32_t k = 0; k < c->models; k++)
        worst = fmax(worst, renew(state, c, k, rows, model[k], &all));
    c->watch.learned = 0;
    return worst;
}

/* What has become small.  Returns the largest difference that was found. */
static double renew_smaller(void *state, const row_covariances *c, const row_forms *rows,
                            linear *const *model)
{
    double worst = 0;
    items list;
    for (uint32_t k = 0; k < c->models; k++) {
        const double *g = doubles_at(state, c->g[k]);
        list_smaller(c, g, LEAST_PART, &list);
        if (!list.n)
            continue;
        list_smaller(c, g, SMALL_PART, &list);
        worst = fmax(worst, renew(state, c, k, rows, model[k], &list));
    }
    return worst;
}

void row_covariances_end(void *state, row_covariances *c, const row_forms *rows,
                         linear *const *model, uint32_t n_rows)
{
    covariances_watch *w = &c->watch;
    w->learned += n_rows;
    bool due = w->learned >= w->span;
    double worst = due ? renew_all(state, c, rows, model) : renew_smaller(state, c, rows, model);
    if (!(worst <= NOTICED)) {
        if (!due)
            renew_all(state, c, rows, model);
        w->span = w->span > LEAST_SPAN ? w->span / 2 : 0;
    } else if (due)
        w->span = fmin(2 * w->span, MOST_SPAN);
    publish(state, c, rows);
    if (!(w->span > 0))
        leave(state, c, model);
}

/* ---- snapshots and checks */

/* The largest error of a form of regression k relative to itself, and of a mean relative to the
 * most it could be: |x'V^-1 b| <= sqrt(x'V^-1 x b'V^-1 b).  memory: worst_memory(). */
static size_t worst_memory(uint32_t dim)
{
    return covered_factor_doubles(dim) + linear_work(dim);
}

static double worst_of(const void *state, const row_covariances *c, uint32_t k,
                       const row_forms *rows, const linear *model, double *memory)
{
    ldl factor = covered_factor_in(state, c, k, model, memory);
    double worst = 0, explained = ldl_explained(&factor),
           *work = memory + covered_factor_doubles(model->dim);
    for (uint32_t i = 0; i < rows_of(c); i++) {
        double mean, form, kept = covered_form(state, c, k, i);
        linear_predict_with(&factor, NULL, row_forms_features(state, rows, i), rows->dim, 1, &mean,
                            &form, work);
        double off = fabs(kept - form), away = fabs(covered_mean(state, c, k, i) - mean);
        worst = off > 0 || isnan(off) ? fmax(worst, isnan(off) ? INFINITY : off / form) : worst;
        if (away > 0 || isnan(away))
            worst =
                fmax(worst, isnan(away) ? INFINITY : away / (fabs(mean) + sqrt(form * explained)));
    }
    return worst;
}

/* A negative number without memory. */
static double worst_of_all(const void *state, const row_covariances *c, const row_forms *rows,
                           linear *const *model)
{
    uint32_t dim = model[0]->dim;
    double worst = 0,
           *memory = aligned_alloc(LAYOUT_ALIGN, align_up(worst_memory(dim) * sizeof *memory));
    if (!memory)
        return -1;
    for (uint32_t k = 0; k < c->models; k++)
        worst = fmax(worst, worst_of(state, c, k, rows, model[k], memory));
    free(memory);
    return worst;
}

oltr_status row_covariances_check(const void *state, const row_covariances *c,
                                  const row_forms *rows, linear *const *model, oltr_error *error)
{
    double worst = row_covariances_on(c) ? worst_of_all(state, c, rows, model) : 0;
    if (worst < 0)
        return set_error(error, OLTR_ENOMEM, "no memory to compare covariances with the sums");
    if (worst <= PROMISED)
        return OLTR_OK;
    return set_error(error, OLTR_ESTATE, "a kept covariance is %g away from a fresh one", worst);
}

/* A snapshot that is being read may hold anything. */
static uint32_t rows_listed(const row_covariances *c)
{
    return is_whole(c->watch.rows, c->room) ? rows_of(c) : 0;
}

uint32_t row_covariances_list(const void *state, const row_covariances *c,
                              oltr_sum_array out[COVARIANCES_DERIVED])
{
    static const char *const names[MOST_COVERED_MODELS] = {"covariances", "more-covariances"};
    const size_t rows = rows_listed(c), columns = rows ? rows + COVERED_FIRST : 0;
    if (!c->room)
        return 0;
    out[0] = (oltr_sum_array){
        .name = "covariances-watch", .value = doubles_at(&c->watch, 0), .n = WATCH};
    for (uint32_t k = 0; k < c->models; k++) /* a triangle begins below its diagonal: ours on it */
        out[1 + k] = (oltr_sum_array){.name = names[k],
                                      .value = doubles_at(state, c->g[k]) - 1,
                                      .n = columns * (columns + 1) / 2,
                                      .stride = rows ? stride_for(rows) : 0};
    return 1 + c->models;
}

static bool watch_is_possible(const covariances_watch *w, const row_covariances *c,
                              const row_forms *rows)
{
    return is_whole(w->rows, c->room) && is_whole(w->learned, MOST_SPAN) &&
           is_whole(w->span, MOST_SPAN) && is_whole(w->quiet, MOST_WAIT) &&
           is_whole(w->wait, MOST_WAIT) && w->wait >= LEAST_WAIT && rows_counted(c) == w->rows &&
           (!(w->rows > 0) ||
            (w->span > 0 && w->rows <= rows->watch.kept && w->rows >= rows->watch.used));
}

/* What the snapshot does not hold: the other places of elements near the diagonal. */
static bool complete(double *g, size_t stride, size_t columns)
{
    for (size_t j = 0; j < stride; j++)
        for (size_t i = j & ~(size_t)7; i < stride; i++)
            if (i >= columns || j >= columns)
                g[j * stride + i] = 0;
            else if (!isfinite(g[j * stride + i]) && i >= j)
                return false;
            else if (i < j)
                g[j * stride + i] = g[i * stride + j];
    return true;
}

/* Whether the forms of the rows are those of regression 0. */
static bool are_published(const void *state, const row_covariances *c, const row_forms *rows)
{
    for (uint32_t i = 0; i < rows_of(c); i++) {
        const row_form *r = row_forms_at(state, rows, i);
        double form = covered_form(state, c, 0, i);
        if (r->form < form || r->form > form || r->version < rows->watch.version)
            return false;
    }
    return true;
}

/* Drops them where they do not fit. */
static oltr_status compare_resumed(void *state, row_covariances *c, const row_forms *rows,
                                   linear *const *model, oltr_error *error)
{
    double worst = worst_of_all(state, c, rows, model);
    if (worst < 0)
        return set_error(error, OLTR_ENOMEM, "no memory to compare covariances with the sums");
    if (worst <= RESUMED && are_published(state, c, rows))
        return OLTR_OK;
    row_covariances_reset(state, c, model);
    for (uint32_t k = 0; k < c->models; k++)
        linear_refresh(state, model[k]);
    return OLTR_OK;
}

static oltr_status resume_covered(void *state, row_covariances *c, row_forms *rows,
                                  linear *const *model, oltr_error *error)
{
    oltr_status status = row_forms_resume(state, rows, NULL, error);
    if (status == OLTR_OK && memcmp(floats_at(state, c->x), row_forms_features(state, rows, 0),
                                    (size_t)rows_of(c) * c->dim * sizeof(float)) != 0)
        return set_error(error, OLTR_ESTATE, "the rows that have counts are not those covered");
    for (uint32_t k = 0; status == OLTR_OK && k < c->models; k++) {
        status = linear_resume_outdated(state, model[k], error);
        if (status == OLTR_OK && !complete(doubles_at(state, c->g[k]), covered_stride(c),
                                           rows_of(c) + (size_t)COVERED_FIRST))
            status = set_error(error, OLTR_ESTATE, "a kept covariance is no number");
    }
    return status == OLTR_OK ? compare_resumed(state, c, rows, model, error) : status;
}

oltr_status row_covariances_resume(void *state, row_covariances *c, row_forms *rows,
                                   linear *const *model, oltr_error *error)
{
    if (!watch_is_possible(&c->watch, c, rows))
        return set_error(error, OLTR_ESTATE, "the kept covariances of rows are impossible");
    bool covered = row_covariances_on(c);
    oltr_status status = covered ? resume_covered(state, c, rows, model, error) : OLTR_OK;
    for (uint32_t k = 0; status == OLTR_OK && !covered && k < c->models; k++)
        status = linear_resume(state, model[k], error);
    if (status != OLTR_OK || row_covariances_on(c))
        return status;
    ldl factor = linear_factor(state, model[0]);
    return row_forms_resume(state, rows, &factor, error);
}
