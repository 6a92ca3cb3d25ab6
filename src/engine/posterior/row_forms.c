/* row_forms.c - see row_forms.h. */
#include "engine/posterior/row_forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/limits.h"
#include "engine/kernels/table.h"

enum {
    LEAST_DIM = 32,         /* with fewer features fresh forms cost no more than comparing rows */
    MOST_ROWS = 4096,       /* bounds of what is kept: 1 MiB of features */
    MOST_FLOATS = 1 << 18,  /* */
    ROWS_TO_RENEWAL = 4096, /* learned until a form is computed anew */
    SLICES = 16,            /* one in so many rows is compared when nothing seems to change */
    LONGEST_PAUSE = 16,     /* rounds */
    CALM = 16,              /* rounds after which a change costs no pause again */
    BLOCK = 64,             /* rows corrected together */
    WATCH = sizeof(forms_watch) / sizeof(double),
    FORM = sizeof(row_form) / sizeof(double),
};

static const double LEAST_PART = 1.0 / 16; /* of what a form was when it was computed */
static const double NOTICED = 1e-10, PROMISED = 1e-9, RESUMED = 5e-10; /* relative errors */

/* ---- places */

static uint32_t item_at(const oltr_candidates *from, uint32_t j)
{
    return from->item ? from->item[j] : j;
}

static bool is_same(const void *state, const row_forms *p, uint32_t item, const float *x)
{
    return memcmp(row_forms_features(state, p, item), x, p->dim * sizeof *x) == 0;
}

row_forms row_forms_plan(layout *l, uint32_t n_items, uint32_t dim)
{
    row_forms p = {.dim = dim};
    if (dim < LEAST_DIM || dim > MOST_FLOATS)
        return p;
    uint32_t most = MOST_FLOATS / dim < MOST_ROWS ? MOST_FLOATS / dim : MOST_ROWS;
    p.rows = n_items < most ? n_items : most;
    p.x = layout_take(l, (size_t)p.rows * dim, sizeof(float));
    p.row = layout_take(l, p.rows, sizeof(row_form));
    p.list = layout_take(l, p.rows, sizeof(uint32_t));
    p.work = layout_take(l, FORMS_BATCH * ceil4(dim) + ldl_quadratic_work(dim), sizeof(double));
    p.watch.version = 1;
    return p;
}

/* The features too: a snapshot holds those of the rows 0..used-1, whether they were candidates or
 * not, and a loaded copy has zeros behind them. */
void row_forms_reset(void *state, row_forms *p)
{
    memset(row_forms_at(state, p, 0), 0, p->rows * sizeof(row_form));
    memset(floats_at(state, p->x), 0, (size_t)p->rows * p->dim * sizeof(float));
    p->watch = (forms_watch){.version = 1};
}

static bool has_form(const void *state, const row_forms *p, uint32_t item)
{
    const row_form *r = row_forms_at(state, p, item);
    return r->form >= 0 && r->version >= p->watch.version;
}

/* ---- which rows stay */

/* The rows that were shown and some of the others are as they were, and have a form. */
static bool seems_unchanged(const void *state, const row_forms *p, const oltr_candidates *from,
                            const oltr_ranking *shown, double version)
{
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        uint32_t item = shown->item[slot], j = oltr_row_of(from, item);
        if (item < p->rows && !(row_forms_at(state, p, item)->version >= version &&
                                is_same(state, p, item, from->x + j * from->stride)))
            return false;
    }
    for (uint32_t j = (uint32_t)fmod(version, SLICES); j < from->n; j += SLICES) {
        uint32_t item = item_at(from, j);
        if (item < p->rows && !is_same(state, p, item, from->x + j * from->stride))
            return false;
    }
    return true;
}

/* Puts the row into the list if it was a candidate of the last round, else takes its features.
 * Returns whether they have changed. */
static bool take_row(void *state, row_forms *p, uint32_t item, const float *x, double last,
                     bool unchanged)
{
    row_form *r = row_forms_at(state, p, item);
    uint32_t *list = words_in(state, p->list);
    bool current = r->version >= last;
    r->version = last + 1;
    if (current && ((unchanged && r->form >= 0) || is_same(state, p, item, x))) {
        if (r->form >= 0)
            list[p->n_kept++] = item;
        else
            list[p->rows - ++p->n_new] = item;
        return false;
    }
    r->form = -1;
    if (rows_within(x, p->dim, NULL, 1, p->dim, LARGEST_FEATURE))
        memcpy(row_forms_features(state, p, item), x, p->dim * sizeof *x);
    else
        r->version = 0;
    return true;
}

/* Where most rows have changed, the next rounds do not look at them: so rows that always change
 * cost no more than without all this. */
static void note_changes(row_forms *p, uint32_t changed, uint32_t n)
{
    forms_watch *w = &p->watch;
    if (2 * (uint64_t)changed <= n) {
        w->calm = fmin(w->calm + 1, CALM);
        w->patience = w->calm < CALM ? w->patience : 0;
        return;
    }
    w->calm = 0;
    w->pause = w->patience;
    w->patience = fmin(w->patience > 0 ? 2 * w->patience : 1, LONGEST_PAUSE);
}

static void drop_forms(void *state, row_forms *p)
{
    for (uint32_t i = 0; i < p->n_kept; i++)
        row_forms_at(state, p, words_in(state, p->list)[i])->form = -1;
    p->n_kept = p->n_new = 0;
}

void row_forms_begin(void *state, row_forms *p, const oltr_candidates *from,
                     const oltr_ranking *shown)
{
    forms_watch *w = &p->watch;
    double last = w->version;
    uint32_t changed = 0;
    p->n_kept = p->n_new = 0;
    p->again = false;
    if (!p->rows)
        return;
    if (w->pause > 0) { /* no row has a form */
        w->pause--;
        return;
    }
    w->version++;
    bool unchanged = w->kept > 0 && seems_unchanged(state, p, from, shown, last);
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t item = item_at(from, j);
        if (item >= p->rows)
            continue;
        changed += take_row(state, p, item, from->x + j * from->stride, last, unchanged);
        w->used = fmax(w->used, item + 1.0);
    }
    note_changes(p, changed, from->n);
    if (w->pause > 0)
        drop_forms(state, p);
}

/* ---- corrections */

/* The matrix is I and more, so every pivot is at least 1 but for rounding. */
void forms_cholesky(double *m, const double *root, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = k; i < n; i++)
            m[k * n + i] = root[k] * root[i] * m[k * n + i] + (i == k);
    for (uint32_t k = 0; k < n; k++) {
        double pivot = sqrt(fmax(m[k * n + k], 1));
        m[k * n + k] = pivot;
        for (uint32_t i = k + 1; i < n; i++)
            m[k * n + i] /= pivot;
        for (uint32_t j = k + 1; j < n; j++)
            for (uint32_t i = j; i < n; i++)
                m[j * n + i] -= m[k * n + i] * m[k * n + j];
    }
}

/* out[i] = |C^-1 W^(1/2) s_i|^2 of rows whose products s are given, (n, rows). */
static void squares(const double *c, const double *root, uint32_t n, double *restrict s,
                    uint32_t rows, double *restrict out)
{
    KERNEL(whiten)(c, root, n, s, rows);
    for (uint32_t i = 0; i < rows; i++)
        out[i] = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < rows; i++)
            out[i] += s[(size_t)k * rows + i] * s[(size_t)k * rows + i];
}

static void correct_rows(void *state, const row_forms *p, const double *solution, const double *c,
                         const double *root, uint32_t n)
{
    const uint32_t *list = words_in(state, p->list);
    double s[FORMS_BATCH * BLOCK], less[BLOCK];
    const float *x[BLOCK];
    for (uint32_t first = 0; first < p->n_kept; first += BLOCK) {
        uint32_t rows = p->n_kept - first < BLOCK ? p->n_kept - first : BLOCK;
        for (uint32_t i = 0; i < rows; i++)
            x[i] = row_forms_features(state, p, list[first + i]);
        KERNEL(rows_times_columns)(x, rows, p->dim, solution, ceil4(p->dim), n, s);
        squares(c, root, n, s, rows, less);
        for (uint32_t i = 0; i < rows; i++)
            row_forms_at(state, p, list[first + i])->form -= less[i];
    }
}

/* Whether the kept forms of observed rows are as far from fresh ones as rounding should not take
 * them. */
static bool is_noticed(const void *state, const row_forms *p, const double *m, const uint32_t *item,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const row_form *r = item[i] < p->rows ? row_forms_at(state, p, item[i]) : NULL;
        double fresh = m[i * n + i];
        if (r && r->form >= 0 && r->version >= p->watch.version &&
            !(fabs(r->form - fresh) <= NOTICED * fresh))
            return true;
    }
    return false;
}

void row_forms_correct(void *state, row_forms *p, const ldl *before, const float *const *x,
                       const double *weight, const uint32_t *item, uint32_t n, bool exact)
{
    double m[FORMS_BATCH * FORMS_BATCH], root[FORMS_BATCH], *solution = doubles_at(state, p->work);
    const size_t stride = ceil4(p->dim);
    if (!p->n_kept)
        return;
    KERNEL(ldl_solve_rows)(before, x, n, solution, stride, solution + FORMS_BATCH * stride);
    KERNEL(rows_times_columns)(x, n, p->dim, solution, stride, n, m);
    p->again |= exact && is_noticed(state, p, m, item, n);
    for (uint32_t k = 0; k < n; k++)
        root[k] = sqrt(weight ? weight[k] : 1);
    forms_cholesky(m, root, n);
    correct_rows(state, p, solution, m, root, n);
    p->watch.due += (double)n * p->n_kept / ROWS_TO_RENEWAL;
}

/* ---- forms from the factor */

/* Items whose forms are computed side by side. */
typedef struct renewal {
    uint32_t n, item[QUADRATIC_ITEMS];
} renewal;

static void renew_all(void *state, const row_forms *p, const ldl *factor, renewal *b)
{
    double form[QUADRATIC_ITEMS], *work = doubles_at(state, p->work);
    float *x = (float *)(void *)work; /* no solutions are there by now */
    for (uint32_t i = 0; i < b->n; i++)
        memcpy(x + (size_t)i * p->dim, row_forms_features(state, p, b->item[i]),
               p->dim * sizeof *x);
    ldl_quadratic(factor, x, p->dim, b->n, form, work + FORMS_BATCH * ceil4(p->dim));
    for (uint32_t i = 0; i < b->n; i++) {
        row_form *r = row_forms_at(state, p, b->item[i]);
        r->form = r->made = form[i];
    }
    b->n = 0;
}

static void renew(void *state, const row_forms *p, const ldl *factor, renewal *b, uint32_t item)
{
    b->item[b->n++] = item;
    if (b->n == QUADRATIC_ITEMS)
        renew_all(state, p, factor, b);
}

static void renew_in_turn(void *state, row_forms *p, const ldl *factor, renewal *b)
{
    const uint32_t *list = words_in(state, p->list);
    forms_watch *w = &p->watch;
    for (uint32_t i = 0; w->due >= 1 && i < p->n_kept; i++) {
        w->turn = fmod(w->turn, p->n_kept);
        renew(state, p, factor, b, list[(uint32_t)w->turn]);
        w->turn++;
        w->due--;
    }
    w->due = fmin(w->due, 1);
}

void row_forms_end(void *state, row_forms *p, const ldl *after, bool made_anew)
{
    const uint32_t *list = words_in(state, p->list);
    renewal b = {.n = 0};
    if (!p->rows)
        return;
    for (uint32_t i = 0; i < p->n_kept; i++) {
        const row_form *r = row_forms_at(state, p, list[i]);
        if (p->again || made_anew || !(r->form >= LEAST_PART * r->made))
            renew(state, p, after, &b, list[i]);
    }
    for (uint32_t i = 0; i < p->n_new; i++)
        renew(state, p, after, &b, list[p->rows - 1 - i]);
    if (p->n_kept)
        renew_in_turn(state, p, after, &b);
    if (b.n)
        renew_all(state, p, after, &b);
    p->watch.kept = (double)p->n_kept + p->n_new;
}

/* ---- ranking */

static bool is_kept(const void *state, const row_forms *p, uint32_t item, const float *x)
{
    return item < p->rows && has_form(state, p, item) && is_same(state, p, item, x);
}

bool row_forms_have(const void *state, const row_forms *p, const oltr_candidates *from)
{
    for (uint32_t j = 0; j < from->n; j++)
        if (!is_kept(state, p, item_at(from, j), from->x + j * from->stride))
            return false;
    return true;
}

/* Candidates whose forms are not kept. */
typedef struct others {
    uint32_t n, row[QUADRATIC_ITEMS];
    float *x; /* their features */
} others;

static void forms_of_others(const ldl *factor, others *o, double *out, double *work)
{
    double form[QUADRATIC_ITEMS];
    ldl_quadratic(factor, o->x, factor->dim, o->n, form, work);
    for (uint32_t i = 0; i < o->n; i++)
        out[o->row[i]] = form[i];
    o->n = 0;
}

void row_forms_of(const void *state, const row_forms *p, const ldl *factor,
                  const oltr_candidates *from, double *out, float *gather, double *work)
{
    others o = {.x = gather};
    if (!(p->watch.kept > 0)) {
        ldl_quadratic(factor, from->x, from->stride, from->n, out, work);
        return;
    }
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t item = item_at(from, j);
        const float *x = from->x + j * from->stride;
        if (is_kept(state, p, item, x)) {
            out[j] = row_forms_at(state, p, item)->form;
            continue;
        }
        memcpy(gather + (size_t)o.n * p->dim, x, p->dim * sizeof *x);
        o.row[o.n++] = j;
        if (o.n == QUADRATIC_ITEMS)
            forms_of_others(factor, &o, out, work);
    }
    if (o.n)
        forms_of_others(factor, &o, out, work);
}

/* ---- snapshots and checks */

static bool is_whole(double value, double most)
{
    return value >= 0 && value <= most && value <= floor(value);
}

static uint32_t rows_used(const row_forms *p)
{
    return is_whole(p->watch.used, p->rows) ? (uint32_t)p->watch.used : 0;
}

/* The largest relative error of a form; a negative number without memory. */
static double worst_error(const void *state, const row_forms *p, const ldl *factor)
{
    double worst = 0, *work = malloc(ldl_quadratic_work(p->dim) * sizeof *work);
    if (!work)
        return -1;
    for (uint32_t item = 0, used = rows_used(p); item < used; item++) {
        double fresh, form = row_forms_at(state, p, item)->form;
        if (!has_form(state, p, item))
            continue;
        ldl_quadratic(factor, row_forms_features(state, p, item), p->dim, 1, &fresh, work);
        double error = fabs(form - fresh) > 0 ? fabs(form - fresh) / fresh : 0;
        worst = error <= worst ? worst : error;
    }
    free(work);
    return worst;
}

oltr_status row_forms_check(const void *state, const row_forms *p, const ldl *factor,
                            oltr_error *error)
{
    double worst = p->watch.kept > 0 ? worst_error(state, p, factor) : 0;
    if (worst < 0)
        return set_error(error, OLTR_ENOMEM, "no memory to compare forms with the factor");
    if (worst <= PROMISED)
        return OLTR_OK;
    return set_error(error, OLTR_ESTATE, "a kept form is %g away from a fresh one", worst);
}

uint32_t row_forms_list(const void *state, const row_forms *p, oltr_sum_array out[FORMS_DERIVED])
{
    size_t used = rows_used(p);
    if (!p->rows)
        return 0;
    out[0] = (oltr_sum_array){.name = "kept-watch", .value = doubles_at(&p->watch, 0), .n = WATCH};
    out[1] =
        (oltr_sum_array){.name = "kept-rows", .single = floats_at(state, p->x), .n = used * p->dim};
    out[2] = (oltr_sum_array){
        .name = "kept-forms", .value = doubles_at(state, p->row), .n = FORM * used};
    return FORMS_DERIVED;
}

static bool is_possible(const void *state, const row_forms *p)
{
    const forms_watch *w = &p->watch;
    if (!is_whole(w->used, p->rows) || !is_whole(w->version - 1, 0x1p53) ||
        !is_whole(w->kept, w->used) || !is_whole(w->pause, LONGEST_PAUSE) ||
        !is_whole(w->patience, LONGEST_PAUSE) || !is_whole(w->calm, CALM) ||
        !is_whole(w->turn, p->rows) || !(w->due >= 0 && w->due <= 1))
        return false;
    for (uint32_t item = 0; item < rows_used(p); item++) {
        const row_form *r = row_forms_at(state, p, item);
        if (!(r->form >= -1 && isfinite(r->form) && isfinite(r->made)) ||
            !is_whole(r->version, w->version))
            return false;
    }
    return !rows_used(p) ||
           rows_within(floats_at(state, p->x), p->dim, NULL, rows_used(p), p->dim, LARGEST_FEATURE);
}

oltr_status row_forms_resume(void *state, row_forms *p, const ldl *factor, oltr_error *error)
{
    if (!p->rows)
        return OLTR_OK;
    if (!is_possible(state, p))
        return set_error(error, OLTR_ESTATE, "the kept forms of rows are impossible");
    double worst = factor && p->watch.kept > 0 ? worst_error(state, p, factor) : 0;
    if (worst < 0)
        return set_error(error, OLTR_ENOMEM, "no memory to compare forms with the factor");
    if (!(worst <= RESUMED))
        row_forms_reset(state, p);
    return OLTR_OK;
}
