/* curves.c - see curves.h.  A figure over rounds has a curve for each policy and swept value; one
 * over the sweep has a curve for each policy, or with two keys for each policy and value of the
 * second key.  Each bound is one more curve. */
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

/* The rows of what the figure shows. */
static const struct result_table *rows_of(const struct drawing *drawing)
{
    static const struct result_table none;
    static const uint32_t metric[N_FIGURE_Y] = {
        [FIGURE_CTR] = METRIC_CTR, [FIGURE_NDCG] = METRIC_NDCG, [FIGURE_WORST] = METRIC_WORST};
    const struct figure_scene *scene = drawing->scene;
    if (drawing->figure->y == FIGURE_REGRET)
        return scene->results;
    return scene->metric ? &scene->metric[metric[drawing->figure->y]] : &none;
}

/* One policy over the rounds of one point. */
static bool curve_of_rounds(struct drawing *drawing, struct curve *curve, const char *policy,
                            const char *sweep)
{
    const struct result_table *table = rows_of(drawing);
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

static const struct figure_point *point_at(const struct drawing *drawing, uint32_t position)
{
    return &drawing->scene->point[drawing->order[position]];
}

double sweep_place(const struct drawing *drawing, uint32_t position)
{
    const char *value = point_at(drawing, position)->value[0];
    uint32_t place = 0;
    if (drawing->numeric)
        return strtod(value, NULL);
    for (uint32_t i = 0; i < position; i++)
        place += strcmp(point_at(drawing, i)->value[0], point_at(drawing, i + 1)->value[0]) != 0;
    return place;
}

bool sweep_begins(const struct drawing *drawing, uint32_t position)
{
    return position == 0 || sweep_place(drawing, position) > sweep_place(drawing, position - 1);
}

bool sweep_has_tics(const struct drawing *drawing)
{
    uint32_t tics = 0;
    for (uint32_t i = 0; i < drawing->scene->n_points; i++)
        tics += sweep_begins(drawing, i);
    return !drawing->numeric || tics <= 12;
}

/* How many values the second key has; 1 without one.  They come first in the list of points. */
static uint32_t second_values(const struct figure_scene *scene)
{
    uint32_t count = 0;
    while (count < scene->n_points &&
           strcmp(scene->point[count].value[0], scene->point[0].value[0]) == 0)
        count++;
    return scene->key[1] ? count : 1;
}

/* The last regret of one policy over the sweep, at this value of the second key. */
static bool curve_of_sweep(struct drawing *drawing, struct curve *curve, const char *policy,
                           const char *second)
{
    bool made = true;
    for (uint32_t i = 0; made && i < drawing->scene->n_points; i++) {
        const struct figure_point *point = point_at(drawing, i);
        const struct result_row *row =
            result_last(rows_of(drawing), point->sweep, policy, drawing->figure->rounds);
        if (strcmp(point->value[1], second) != 0)
            continue;
        made = !row || add_row(drawing, curve, sweep_place(drawing, i), row);
    }
    return made;
}

/* A bound at one x.  Over the rounds of several points: the largest of their upper bounds and the
 * smallest of their lower ones, which hold for all. */
static double bound_at(const struct drawing *drawing, enum bound which, double x)
{
    bool sweep = drawing->figure->x == FIGURE_SWEEP;
    double bound = NAN;
    for (uint32_t p = 0; p < drawing->scene->n_points; p++) {
        const struct figure_point *point = &drawing->scene->point[drawing->order[p]];
        struct bound_problem problem = figure_problem(point, sweep ? (double)point->rounds : x);
        if (sweep && sweep_place(drawing, p) != x)
            continue;
        double here = bound_value(which, &problem);
        bound = bound_infos[which].is_lower ? fmin(bound, here) : fmax(bound, here);
    }
    return bound;
}

static bool curve_of_bound(const struct drawing *drawing, struct curve *curve, enum bound which,
                           const struct curve *other)
{
    static const char *const dashes[N_BOUNDS] = {"(1,4)",         "(3,5)", "(8,4)", "(12,4,2,4)",
                                                 "(6,3,2,3,2,3)", "(2,2)", "(14,6)"};
    bool made = true;
    for (size_t i = 0; made && i < other->count; i++)
        made = curve_add(curve, other->point[i].x, bound_at(drawing, which, other->point[i].x), 0);
    curve->is_bound = true;
    curve->style = (struct style){"#000000", dashes[which], 0};
    (void)snprintf(curve->label, sizeof curve->label, "%s", bound_infos[which].label);
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

/* Curves of several swept values: several policies keep their colours and the value is the dash; a
 * single policy uses all colours. */
static void name_swept_curve(const struct drawing *drawing, struct curve *curve, const char *policy,
                             const char *key, const char *value, uint32_t position)
{
    static const char *const dashes[] = {"solid", "(12,4)", "(2,3)", "(12,4,2,4)", "(6,4)"};
    static const char *const letters[] = {"a", "b", "c", "d", "e", "f",
                                          "g", "h", "i", "j", "k", "l"};
    enum { N_LETTERS = sizeof letters / sizeof letters[0] };
    if (drawing->figure->n_policies > 1) {
        curve->style.dash = dashes[position % (sizeof dashes / sizeof dashes[0])];
        name_curve(curve, policy, ", ", value);
        return;
    }
    struct style fresh[N_LETTERS];
    style_assign(letters, N_LETTERS, fresh);
    curve->style = fresh[position % N_LETTERS];
    name_curve(curve, key, " = ", value);
}

/* ---- all curves */

/* Insertion sort: a sweep has few points, and equal numbers must keep the order of the file. */
static bool order_points(struct drawing *drawing)
{
    const struct figure_scene *scene = drawing->scene;
    drawing->order = calloc(scene->n_points, sizeof *drawing->order);
    drawing->numeric = true;
    for (uint32_t p = 0; p < scene->n_points; p++)
        drawing->numeric = drawing->numeric && number_is_plain(scene->point[p].value[0]);
    for (uint32_t p = 0; drawing->order && p < scene->n_points; p++) {
        uint32_t at = p;
        for (; drawing->numeric && at > 0; at--) {
            const char *before = scene->point[drawing->order[at - 1]].value[0];
            if (strtod(before, NULL) <= strtod(scene->point[p].value[0], NULL))
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

static struct curve *new_policy_curve(struct drawing *drawing, const char *policy,
                                      const struct style *style)
{
    struct curve *curve = new_curve(drawing);
    curve->style = *style_in(drawing->scene, style, policy);
    name_curve(curve, policy, "", "");
    return curve;
}

static bool add_over_rounds(struct drawing *drawing, const char *policy, const struct style *style)
{
    const struct figure_scene *scene = drawing->scene;
    bool made = true;
    for (uint32_t p = 0; made && p < scene->n_points; p++) {
        struct curve *curve = new_policy_curve(drawing, policy, style);
        const char *value = point_at(drawing, p)->sweep;
        if (scene->sweep_key)
            name_swept_curve(drawing, curve, policy, scene->sweep_key, value, p);
        made = curve_of_rounds(drawing, curve, policy, value);
    }
    return made;
}

/* "prior_shift = 2" of the second key world.prior_shift. */
static const char *second_label(const struct figure_scene *scene, uint32_t i,
                                char label[CURVE_LABEL_SIZE])
{
    const char *dot = strrchr(scene->key[1], '.');
    (void)snprintf(label, CURVE_LABEL_SIZE, "%s = %s", dot ? dot + 1 : scene->key[1],
                   scene->point[i].value[1]);
    return label;
}

static bool add_over_sweep(struct drawing *drawing, const char *policy, const struct style *style)
{
    const struct figure_scene *scene = drawing->scene;
    bool made = true;
    for (uint32_t i = 0; made && i < second_values(scene); i++) {
        struct curve *curve = new_policy_curve(drawing, policy, style);
        const char *value = scene->point[i].value[1];
        bool several = drawing->figure->n_policies > 1;
        char label[CURVE_LABEL_SIZE];
        if (scene->key[1])
            name_swept_curve(drawing, curve, policy, scene->key[1],
                             several ? second_label(scene, i, label) : value, i);
        made = curve_of_sweep(drawing, curve, policy, value);
    }
    return made;
}

static bool add_curves(struct drawing *drawing)
{
    const struct figure *figure = drawing->figure;
    const struct figure_scene *scene = drawing->scene;
    struct style *style = calloc(scene->n_policies + 1, sizeof *style);
    drawing->curve =
        calloc((size_t)figure->n_policies * scene->n_points + N_BOUNDS, sizeof *drawing->curve);
    bool made = style && drawing->curve && order_points(drawing);
    if (made)
        style_assign(scene->policy, scene->n_policies, style);
    for (uint32_t i = 0; made && i < figure->n_policies; i++)
        made = figure->x == FIGURE_ROUND ? add_over_rounds(drawing, figure->policy[i], style)
                                         : add_over_sweep(drawing, figure->policy[i], style);
    for (int b = 0; made && b < N_BOUNDS; b++)
        if (figure->bounds & 1u << b)
            made = curve_of_bound(drawing, new_curve(drawing), (enum bound)b, &drawing->curve[0]);
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

/* The y axis begins at 0, at the lowest value of a click rate or NDCG, and if it is logarithmic at
 * the lowest after the start. */
static void set_y_axis(struct drawing *drawing)
{
    double low = drawing->y_low, high = drawing->y_high > 0 ? drawing->y_high : 1;
    double margin = fmax(0.04 * (high - low), 0.005);
    bool free = !figure_is_from_zero(drawing->figure), sweep = drawing->figure->x == FIGURE_SWEEP;
    if (drawing->log_y && !drawing->log_x && !sweep)
        low = fmax(low, low_after_start(drawing));
    drawing->axis_low = drawing->log_y ? low * 0.8 : free ? low - margin : 0;
    drawing->axis_high = drawing->log_y ? high * 1.25 : free ? high + margin : high * 1.04;
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
    set_y_axis(drawing);
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
            return set_error(error, OLTR_EINVAL,
                             "%s: %s.csv has no %s of `%s` up to the last round of this figure",
                             figure->file, figure->y == FIGURE_REGRET ? "results" : "metrics",
                             figure->y == FIGURE_REGRET ? "row" : figure_y_names[figure->y],
                             quote_input(drawing->curve[i].label, label));
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
    const char *key = drawing->figure->x == FIGURE_ROUND ? "round" : drawing->scene->key[0];
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
    const char *title = figure_y_titles[drawing->figure->y];
    bool sweep = drawing->figure->x == FIGURE_SWEEP;
    uint64_t rounds = sweep ? common_last_round(drawing) : 0;
    gnuplot_grouped((double)rounds, number, sizeof number);
    if (rounds > 0)
        (void)snprintf(out, AXIS_TITLE_SIZE, "%s after %s rounds", title, number);
    else
        (void)snprintf(out, AXIS_TITLE_SIZE, "%s%s", sweep ? "final " : "", title);
}

/* ---- points */

bool drawing_is_joined(const struct drawing *drawing)
{
    return drawing->figure->x == FIGURE_ROUND || drawing->numeric || drawing->scene->key[1];
}

double curve_shift(const struct drawing *drawing, const struct curve *curve)
{
    double place = ((double)curve->order + 0.5) / (double)drawing->n_curves;
    return drawing_is_joined(drawing) ? 0 : 0.5 * (place - 0.5);
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
