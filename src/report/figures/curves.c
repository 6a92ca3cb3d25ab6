/* curves.c - see curves.h.  A figure over rounds has a curve for each policy and swept value; one
 * over the sweep has a curve for each policy.  The bound of Theorem 1 is one more curve. */
#include "report/figures/curves.h"

#include "engine/base/quote.h"
#include "report/figures/gnuplot_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one curve */

static bool curve_add(struct curve *curve, double x, double y, double se)
{
    if (curve->count == curve->capacity) {
        size_t capacity = 2 * curve->capacity + 32;
        struct curve_point *grown = realloc(curve->point, capacity * sizeof *grown);
        if (!grown)
            return false;
        curve->point = grown;
        curve->capacity = capacity;
    }
    curve->point[curve->count++] = (struct curve_point){x, y, se};
    return true;
}

static bool add_row(struct drawing *drawing, struct curve *curve, double x,
                    const struct result_row *row)
{
    if (row->replications < drawing->replications)
        drawing->replications = row->replications;
    return curve_add(curve, x, row->regret, row->regret_se);
}

/* One policy over the rounds of one point. */
static bool curve_of_rounds(struct drawing *drawing, struct curve *curve, const char *policy,
                            const char *sweep)
{
    const struct result_table *table = drawing->scene->results;
    uint64_t last = drawing->figure->rounds ? drawing->figure->rounds : UINT64_MAX;
    bool made = true;
    for (size_t i = 0; made && i < table->count; i++) {
        const struct result_row *row = &table->row[i];
        if (row->round <= last && strcmp(row->policy, policy) == 0 &&
            strcmp(row->sweep, sweep) == 0)
            made = add_row(drawing, curve, (double)row->round, row);
    }
    return made;
}

double sweep_place(const struct drawing *drawing, uint32_t position)
{
    const char *value = drawing->scene->point[drawing->order[position]].sweep;
    return drawing->numeric ? strtod(value, NULL) : (double)position;
}

/* The last regret of one policy over the sweep. */
static bool curve_of_sweep(struct drawing *drawing, struct curve *curve, const char *policy)
{
    bool made = true;
    for (uint32_t i = 0; made && i < drawing->scene->n_points; i++) {
        const char *sweep = drawing->scene->point[drawing->order[i]].sweep;
        const struct result_row *row =
            result_last(drawing->scene->results, sweep, policy, drawing->figure->rounds);
        made = !row || add_row(drawing, curve, sweep_place(drawing, i), row);
    }
    return made;
}

/* Theorem 1 at one x.  Over the rounds of several points: the largest of their bounds, which holds
 * for all. */
static double bound_at(const struct drawing *drawing, double x)
{
    bool sweep = drawing->figure->x == FIGURE_SWEEP;
    double bound = 0;
    for (uint32_t p = 0; p < drawing->scene->n_points; p++) {
        const struct figure_point *point = &drawing->scene->point[drawing->order[p]];
        double rounds = sweep ? (double)point->rounds : x;
        if (!sweep || sweep_place(drawing, p) == x)
            bound = fmax(bound, 22.0 * point->slots * sqrt(point->items * rounds));
    }
    return bound;
}

static bool curve_of_bound(const struct drawing *drawing, struct curve *curve,
                           const struct curve *other)
{
    bool made = true;
    for (size_t i = 0; made && i < other->count; i++)
        made = curve_add(curve, other->point[i].x, bound_at(drawing, other->point[i].x), 0);
    curve->is_bound = true;
    curve->style = (struct style){"#000000", "(3,5)", 0};
    (void)snprintf(curve->label, sizeof curve->label, "Theorem 1: 22 K √(L T)");
    return made;
}

/* ---- names and colours */

static const struct style *style_in(const struct figure_scene *scene, const struct style *style,
                                    const char *policy)
{
    for (uint32_t i = 0; i < scene->n_policies; i++)
        if (strcmp(scene->policy[i], policy) == 0)
            return &style[i];
    return &style[0];
}

/* Two names side by side, or one alone; long ones are cut. */
static void name_curve(struct curve *curve, const char *first, const char *between,
                       const char *second)
{
    size_t most = *second ? CURVE_LABEL_SIZE / 2 - 10 : CURVE_LABEL_SIZE - 1;
    (void)snprintf(curve->label, sizeof curve->label, "%.*s%s%.*s", (int)text_cut(first, most),
                   first, between, (int)text_cut(second, most), second);
}

/* Round curves of a sweep: several policies keep their colours and the swept value is the dash; a
 * single policy uses all colours. */
static void name_swept_curve(const struct drawing *drawing, struct curve *curve, const char *policy,
                             uint32_t position)
{
    static const char *const dashes[] = {"solid", "(12,4)", "(2,3)", "(12,4,2,4)", "(6,4)"};
    static const char *const letters[] = {"a", "b", "c", "d", "e", "f",
                                          "g", "h", "i", "j", "k", "l"};
    enum { N_LETTERS = sizeof letters / sizeof letters[0] };
    const char *value = drawing->scene->point[drawing->order[position]].sweep;
    if (drawing->figure->n_policies > 1) {
        curve->style.dash = dashes[position % (sizeof dashes / sizeof dashes[0])];
        name_curve(curve, policy, ", ", value);
        return;
    }
    struct style fresh[N_LETTERS];
    style_assign(letters, N_LETTERS, fresh);
    curve->style = fresh[position % N_LETTERS];
    name_curve(curve, drawing->scene->sweep_key, " = ", value);
}

/* ---- all curves */

/* Insertion sort: a sweep has few points, and equal numbers must keep the order of the file. */
static bool order_points(struct drawing *drawing)
{
    const struct figure_scene *scene = drawing->scene;
    drawing->order = calloc(scene->n_points, sizeof *drawing->order);
    drawing->numeric = true;
    for (uint32_t p = 0; p < scene->n_points; p++)
        drawing->numeric = drawing->numeric && number_is_plain(scene->point[p].sweep);
    for (uint32_t p = 0; drawing->order && p < scene->n_points; p++) {
        uint32_t at = p;
        for (; drawing->numeric && at > 0; at--) {
            const char *before = scene->point[drawing->order[at - 1]].sweep;
            if (strtod(before, NULL) <= strtod(scene->point[p].sweep, NULL))
                break;
            drawing->order[at] = drawing->order[at - 1];
        }
        drawing->order[at] = p;
    }
    return drawing->order;
}

static struct curve *new_curve(struct drawing *drawing)
{
    struct curve *curve = &drawing->curve[drawing->n_curves];
    curve->order = drawing->n_curves++;
    return curve;
}

static bool add_policy(struct drawing *drawing, const char *policy, const struct style *style)
{
    const struct figure_scene *scene = drawing->scene;
    bool over_rounds = drawing->figure->x == FIGURE_ROUND, made = true;
    for (uint32_t p = 0; made && p < (over_rounds ? scene->n_points : 1); p++) {
        struct curve *curve = new_curve(drawing);
        curve->style = *style_in(scene, style, policy);
        name_curve(curve, policy, "", "");
        if (over_rounds && scene->sweep_key)
            name_swept_curve(drawing, curve, policy, p);
        made = over_rounds
                   ? curve_of_rounds(drawing, curve, policy, scene->point[drawing->order[p]].sweep)
                   : curve_of_sweep(drawing, curve, policy);
    }
    return made;
}

static bool add_curves(struct drawing *drawing)
{
    const struct figure *figure = drawing->figure;
    const struct figure_scene *scene = drawing->scene;
    struct style *style = calloc(scene->n_policies + 1, sizeof *style);
    drawing->curve =
        calloc((size_t)figure->n_policies * scene->n_points + 1, sizeof *drawing->curve);
    bool made = style && drawing->curve && order_points(drawing);
    if (made)
        style_assign(scene->policy, scene->n_policies, style);
    for (uint32_t i = 0; made && i < figure->n_policies; i++)
        made = add_policy(drawing, figure->policy[i], style);
    if (made && figure->bounds)
        made = curve_of_bound(drawing, new_curve(drawing), &drawing->curve[0]);
    free(style);
    return made;
}

/* ---- the drawing */

static void widen(double *low, double *high, double value)
{
    if (value > 0 && (*low <= 0 || value < *low))
        *low = value;
    if (value > *high)
        *high = value;
}

static void measure(struct drawing *drawing)
{
    int bands = drawing->figure->bands;
    drawing->x_low = HUGE_VAL;
    drawing->x_high = -HUGE_VAL;
    for (size_t i = 0; i < drawing->n_curves; i++) {
        const struct curve *curve = &drawing->curve[i];
        for (const struct curve_point *at = curve->point; at < curve->point + curve->count; at++) {
            drawing->x_low = fmin(drawing->x_low, at->x);
            drawing->x_high = fmax(drawing->x_high, at->x);
            /* a band that reaches down to zero must not stretch a logarithmic axis without end */
            widen(&drawing->y_low, &drawing->y_high, fmax(at->y - bands * at->se, at->y / 3));
            widen(&drawing->y_low, &drawing->y_high, at->y + bands * at->se);
        }
    }
}

/* ---- the axes */

static const double LOG_RANGE = 20; /* largest over smallest value, above which an axis is log */

/* The smallest and the largest value that a reader compares: the ends of curves over rounds, which
 * all begin near zero, and every point of a sweep. */
static void compared_range(const struct drawing *drawing, double *low, double *high)
{
    bool sweep = drawing->figure->x == FIGURE_SWEEP;
    *low = *high = 0;
    for (size_t i = 0; i < drawing->n_curves; i++) {
        const struct curve *curve = &drawing->curve[i];
        for (size_t j = sweep ? 0 : curve->count - 1; j < curve->count; j++)
            widen(low, high, curve->point[j].y);
    }
}

/* The smallest value after the first hundredth of the rounds: the steep start would take up most of
 * a logarithmic axis. */
static double low_after_start(const struct drawing *drawing)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < drawing->n_curves; i++) {
        const struct curve *curve = &drawing->curve[i];
        for (size_t j = 0; j < curve->count; j++)
            if (curve->point[j].x >= drawing->x_high / 100)
                widen(&low, &high, curve->point[j].y);
    }
    return low;
}

/* Swept numbers above zero may have a logarithmic axis; rounds have one if the file asks for it. */
static void choose_axes(struct drawing *drawing)
{
    enum figure_log log = drawing->figure->log;
    bool sweep = drawing->figure->x == FIGURE_SWEEP;
    double low, high, x_low = drawing->x_low, x_high = drawing->x_high;
    compared_range(drawing, &low, &high);
    drawing->log_y =
        drawing->y_low > 0 &&
        (log == FIGURE_LOG_ALWAYS || (log == FIGURE_LOG_AUTO && low > 0 && high > LOG_RANGE * low));
    drawing->log_x = x_low > 0 && x_high > x_low && (!sweep || drawing->numeric) &&
                     (log == FIGURE_LOG_ALWAYS ||
                      (log == FIGURE_LOG_AUTO && sweep && x_high > LOG_RANGE * x_low));
    double top = drawing->y_high > 0 ? drawing->y_high * 1.04 : 1, bottom = drawing->y_low;
    if (drawing->log_y && !drawing->log_x && !sweep)
        bottom = fmax(bottom, low_after_start(drawing));
    drawing->axis_low = drawing->log_y ? bottom * 0.8 : 0;
    drawing->axis_high = drawing->log_y ? top * 1.2 : top;
}

static int by_end(const void *left, const void *right)
{
    const struct curve *a = left, *b = right;
    double end_a = a->point[a->count - 1].y, end_b = b->point[b->count - 1].y;
    if (end_a > end_b || end_a < end_b)
        return end_a > end_b ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

oltr_status drawing_make(struct drawing *drawing, const struct figure *figure,
                         const struct figure_scene *scene, oltr_error *error)
{
    char label[QUOTE_SIZE];
    *drawing = (struct drawing){.figure = figure, .scene = scene, .replications = UINT64_MAX};
    if (!add_curves(drawing))
        return set_error(error, OLTR_ENOMEM, "%s: out of memory", figure->file);
    for (size_t i = 0; i < drawing->n_curves; i++)
        if (drawing->curve[i].count == 0)
            return set_error(
                error, OLTR_EINVAL,
                "%s: results.csv has no row of `%s` up to the last round of this figure",
                figure->file, quote_input(drawing->curve[i].label, label));
    qsort(drawing->curve, drawing->n_curves, sizeof *drawing->curve, by_end);
    measure(drawing);
    choose_axes(drawing);
    return OLTR_OK;
}

/* ---- titles of the axes */

const char *drawing_x_title(const struct drawing *drawing)
{
    static const struct {
        const char *key, *title;
    } known[] = {
        {"world.misspecification", "misspecification c"},
        {"world.items", "items L"},
        {"slots", "slots K"},
        {"rounds", "rounds T"},
    };
    const char *key = drawing->figure->x == FIGURE_ROUND ? "round" : drawing->scene->sweep_key;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(key, known[i].key) == 0)
            return known[i].title;
    return key;
}

/* The round at which the sweep is cut, if it is the same for all points; else 0. */
static uint64_t common_last_round(const struct drawing *drawing)
{
    const struct figure_scene *scene = drawing->scene;
    uint64_t limit = drawing->figure->rounds ? drawing->figure->rounds : UINT64_MAX, first = 0;
    for (uint32_t p = 0; p < scene->n_points; p++) {
        uint64_t rounds = scene->point[p].rounds < limit ? scene->point[p].rounds : limit;
        if (p > 0 && rounds != first)
            return 0;
        first = rounds;
    }
    return first;
}

void drawing_y_title(const struct drawing *drawing, char out[AXIS_TITLE_SIZE])
{
    char number[40];
    uint64_t rounds = drawing->figure->x == FIGURE_SWEEP ? common_last_round(drawing) : 0;
    gnuplot_grouped((double)rounds, number, sizeof number);
    (void)snprintf(out, AXIS_TITLE_SIZE, "%scumulative regret%s%s%s",
                   drawing->figure->x == FIGURE_SWEEP && rounds == 0 ? "final " : "",
                   rounds > 0 ? " after " : "", rounds > 0 ? number : "",
                   rounds > 0 ? " rounds" : "");
}

/* ---- reading */

bool drawing_next(struct drawing *drawing, double *x)
{
    bool found = false;
    struct curve *end = drawing->curve + drawing->n_curves;
    for (const struct curve *c = drawing->curve; c < end; c++)
        if (c->read < c->count && (!found || c->point[c->read].x < *x)) {
            *x = c->point[c->read].x;
            found = true;
        }
    for (struct curve *c = drawing->curve; c < end; c++) {
        c->here = c->read < c->count && c->point[c->read].x <= *x ? &c->point[c->read] : NULL;
        c->read = !found ? 0 : c->read + (c->here ? 1 : 0);
    }
    return found;
}

void drawing_free(struct drawing *drawing)
{
    for (size_t i = 0; drawing->curve && i < drawing->n_curves; i++)
        free(drawing->curve[i].point);
    free(drawing->curve);
    free(drawing->order);
}
