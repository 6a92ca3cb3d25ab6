/* figure.c - see figure.h.
 *
 * Two files come out: <file>.csv, one column of means and one of standard errors for each curve,
 * and <file>.gp, a short script that a person can restyle: the width of the bands, the colours and
 * the titles stand in plain sight.  The legend stands beside the plot, in the order in which the
 * curves end, so the eye can go straight across. */
#include "report/figures/figure.h"

#include "report/io/csv.h"
#include "engine/base/quote.h"
#include "report/io/whole_file.h"
#include "report/figures/gnuplot_text.h"
#include "report/figures/style.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, HEIGHT = 540, LABEL_SIZE = 200 };

struct curve {
    char label[LABEL_SIZE];
    struct style style;
    bool is_bound;
    size_t order; /* among the curves, before sorting */
    size_t count;
    double *x, *y, *se; /* (count) x ascending; one block, freed through x */
};

struct drawing {
    const struct figure *figure;
    const struct figure_scene *scene;
    bool numeric;    /* the swept values are numbers */
    uint32_t *order; /* (n_points) the points by ascending swept value */
    size_t n_curves;
    struct curve *curve;
    double y_low, y_high; /* of all that is drawn; y_low is the smallest above zero */
    double x_low, x_high;
    uint32_t replications; /* the fewest of any point drawn */
};

bool figure_name_is_good(const char *name)
{
    static const char *const taken[] = {"results", "summary", "manifest", "experiment", "density",
                                        "partial", "pairs",   "claims",   "queries"};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return file_name_is_plain(name);
}

/* ---- curves */

static bool curve_reserve(struct curve *curve, size_t count)
{
    curve->x = calloc(3 * count + 1, sizeof(double));
    curve->y = curve->x == NULL ? NULL : curve->x + count;
    curve->se = curve->x == NULL ? NULL : curve->x + 2 * count;
    return curve->x != NULL;
}

static void curve_add(struct drawing *drawing, struct curve *curve, double x,
                      const struct result_row *row)
{
    curve->x[curve->count] = x;
    curve->y[curve->count] = row->regret;
    curve->se[curve->count++] = row->regret_se;
    if (row->replications < drawing->replications)
        drawing->replications = row->replications;
}

static bool row_is_of(const struct result_row *row, const char *policy, const char *sweep)
{
    return strcmp(row->policy, policy) == 0 && strcmp(row->sweep, sweep) == 0;
}

static uint64_t last_round(const struct figure *figure)
{
    return figure->rounds == 0 ? UINT64_MAX : figure->rounds;
}

/* One policy over the rounds of one point. */
static bool curve_of_rounds(struct drawing *drawing, struct curve *curve, const char *policy,
                            const char *sweep)
{
    const struct result_table *table = drawing->scene->results;
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++)
        count += row_is_of(&table->row[i], policy, sweep);
    if (!curve_reserve(curve, count))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const struct result_row *row = &table->row[i];
        if (row_is_of(row, policy, sweep) && row->round <= last_round(drawing->figure))
            curve_add(drawing, curve, (double)row->round, row);
    }
    return true;
}

static const struct result_row *final_row(const struct drawing *drawing, const char *policy,
                                          const char *sweep)
{
    const struct result_table *table = drawing->scene->results;
    const struct result_row *last = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct result_row *row = &table->row[i];
        if (row_is_of(row, policy, sweep) && row->round <= last_round(drawing->figure) &&
            (last == NULL || row->round > last->round))
            last = row;
    }
    return last;
}

/* Where a point of the sweep stands on the x axis: at its number, or in its place in the list. */
static double sweep_place(const struct drawing *drawing, uint32_t position)
{
    const char *value = drawing->scene->point[drawing->order[position]].sweep;
    return drawing->numeric ? strtod(value, NULL) : (double)position;
}

/* The last regret of one policy over the sweep. */
static bool curve_of_sweep(struct drawing *drawing, struct curve *curve, const char *policy)
{
    if (!curve_reserve(curve, drawing->scene->n_points))
        return false;
    for (uint32_t i = 0; i < drawing->scene->n_points; i++) {
        const char *sweep = drawing->scene->point[drawing->order[i]].sweep;
        const struct result_row *row = final_row(drawing, policy, sweep);
        if (row != NULL)
            curve_add(drawing, curve, sweep_place(drawing, i), row);
    }
    return true;
}

/* Theorem 1 at every x of another curve.  With several points: the largest of their bounds, which
 * holds for all. */
static bool curve_of_bound(const struct drawing *drawing, struct curve *curve,
                           const struct curve *other)
{
    if (!curve_reserve(curve, other->count))
        return false;
    for (size_t i = 0; i < other->count; i++) {
        double bound = 0;
        for (uint32_t p = 0; p < drawing->scene->n_points; p++) {
            const struct figure_point *point = &drawing->scene->point[drawing->order[p]];
            bool sweep = drawing->figure->x == FIGURE_SWEEP,
                 here = !sweep || sweep_place(drawing, p) == other->x[i];
            double rounds = sweep ? (double)point->rounds : other->x[i];
            double value = 22.0 * point->slots * sqrt(point->items * rounds);
            bound = here && value > bound ? value : bound;
        }
        curve->x[i] = other->x[i];
        curve->y[i] = bound;
    }
    curve->count = other->count;
    curve->is_bound = true;
    curve->style = (struct style){"#000000", "(3,5)", 0};
    (void)snprintf(curve->label, sizeof curve->label, "Theorem 1: 22 K √(L T)");
    return true;
}

/* ---- the drawing */

static void drawing_free(struct drawing *drawing)
{
    for (size_t i = 0; drawing->curve != NULL && i < drawing->n_curves; i++)
        free(drawing->curve[i].x);
    free(drawing->curve);
    free(drawing->order);
}

/* Insertion sort: a sweep has few points, and equal numbers must keep the order of the file. */
static bool order_points(struct drawing *drawing)
{
    const struct figure_scene *scene = drawing->scene;
    drawing->order = calloc(scene->n_points, sizeof *drawing->order);
    drawing->numeric = true;
    for (uint32_t p = 0; p < scene->n_points; p++)
        drawing->numeric = drawing->numeric && number_is_plain(scene->point[p].sweep);
    for (uint32_t p = 0; drawing->order != NULL && p < scene->n_points; p++) {
        uint32_t at = p;
        for (; drawing->numeric && at > 0; at--) {
            const char *before = scene->point[drawing->order[at - 1]].sweep;
            if (strtod(before, NULL) <= strtod(scene->point[p].sweep, NULL))
                break;
            drawing->order[at] = drawing->order[at - 1];
        }
        drawing->order[at] = p;
    }
    return drawing->order != NULL;
}

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
    size_t most = *second != '\0' ? LABEL_SIZE / 2 - 10 : LABEL_SIZE - 1;
    (void)snprintf(curve->label, sizeof curve->label, "%.*s%s%.*s", (int)text_cut(first, most),
                   first, between, (int)text_cut(second, most), second);
}

/* Round curves of a sweep: several policies keep their colours and the swept value is the dash; a
 * single policy has the colours to itself. */
static void name_swept_curve(const struct drawing *drawing, struct curve *curve, const char *policy,
                             uint32_t position)
{
    static const char *const dashes[] = {"solid", "(12,4)", "(2,3)", "(12,4,2,4)", "(6,4)"};
    static const char *const letters[] = {"a", "b", "c", "d", "e", "f",
                                          "g", "h", "i", "j", "k", "l"};
    const char *value = drawing->scene->point[drawing->order[position]].sweep;
    if (drawing->figure->n_policies > 1) {
        curve->style.dash = dashes[position % (sizeof dashes / sizeof dashes[0])];
        name_curve(curve, policy, ", ", value);
        return;
    }
    enum { N_LETTERS = sizeof letters / sizeof letters[0] };
    struct style fresh[N_LETTERS];
    style_assign(letters, N_LETTERS, fresh);
    curve->style = fresh[position % N_LETTERS];
    name_curve(curve, drawing->scene->sweep_key, " = ", value);
}

static bool add_policy(struct drawing *drawing, const char *policy, const struct style *style)
{
    const struct figure_scene *scene = drawing->scene;
    bool over_rounds = drawing->figure->x == FIGURE_ROUND, made = true;
    uint32_t curves = over_rounds ? scene->n_points : 1;
    for (uint32_t p = 0; made && p < curves; p++) {
        struct curve *curve = &drawing->curve[drawing->n_curves];
        curve->order = drawing->n_curves++;
        curve->style = *style_in(scene, style, policy);
        name_curve(curve, policy, "", "");
        if (over_rounds && scene->sweep_key != NULL)
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
    bool made = style != NULL && drawing->curve != NULL && order_points(drawing);
    if (made)
        style_assign(scene->policy, scene->n_policies, style);
    for (uint32_t i = 0; made && i < figure->n_policies; i++)
        made = add_policy(drawing, figure->policy[i], style);
    if (made && figure->bounds) {
        struct curve *bound = &drawing->curve[drawing->n_curves];
        bound->order = drawing->n_curves++;
        made = curve_of_bound(drawing, bound, &drawing->curve[0]);
    }
    free(style);
    return made;
}

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
        for (size_t j = 0; j < curve->count; j++) {
            drawing->x_low = fmin(drawing->x_low, curve->x[j]);
            drawing->x_high = fmax(drawing->x_high, curve->x[j]);
            /* a band that reaches down to zero must not stretch a logarithmic axis without end */
            widen(&drawing->y_low, &drawing->y_high,
                  fmax(curve->y[j] - bands * curve->se[j], curve->y[j] / 3));
            widen(&drawing->y_low, &drawing->y_high, curve->y[j] + bands * curve->se[j]);
        }
    }
}

static double end_of(const struct curve *curve)
{
    return curve->count > 0 ? curve->y[curve->count - 1] : 0;
}

static int by_end(const void *left, const void *right)
{
    const struct curve *a = left, *b = right;
    if (end_of(a) > end_of(b) || end_of(a) < end_of(b))
        return end_of(a) > end_of(b) ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- numbers on the axes */

/* 10000 as "10,000"; numbers that are not whole, or small, as they are. */
static void grouped(double value, char *out, size_t size)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.12g", value);
    int whole = (int)strspn(digits, "0123456789");
    if (whole < 4 || whole != length) {
        (void)snprintf(out, size, "%s", digits);
        return;
    }
    size_t at = 0;
    for (int i = 0; i < length && at + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static void add_tic(struct text *out, double value, bool first)
{
    char label[40];
    grouped(value, label, sizeof label);
    text_printf(out, "%s'%s' %.12g", first ? "" : ", ", label, value);
}

/* 1, 2 or 5 times a power of ten: four to eight steps over the range. */
static double nice_step(double range)
{
    double raw = range / 6, power = pow(10, floor(log10(raw))), lead = raw / power;
    return power * (lead <= 1.5 ? 1 : lead <= 3.5 ? 2 : lead <= 7.5 ? 5 : 10);
}

void figure_tics(struct text *out, char axis, double low, double high)
{
    double step = nice_step(high > low ? high - low : 1);
    text_printf(out, "set %ctics (", axis);
    double first = ceil(low / step - 1e-9);
    for (int i = 0; i < 20 && (first + i) * step <= high * (1 + 1e-9); i++)
        add_tic(out, (first + i) * step, i == 0);
    text_add(out, ")\n");
}

static void log_tics(struct text *out, char axis, double low, double high)
{
    static const double leads[] = {1, 2, 5};
    bool dense = high / low < 200;
    bool first = true;
    text_printf(out, "set logscale %c 10\nset %ctics (", axis, axis);
    for (double power = pow(10, floor(log10(low))); power <= high * 1.001; power *= 10) {
        for (size_t i = 0; i < (dense ? 3 : 1); i++) {
            double value = power * leads[i];
            if (value >= low * 0.999 && value <= high * 1.001) {
                add_tic(out, value, first);
                first = false;
            }
        }
    }
    text_add(out, ")\n");
}

static void sweep_tics(const struct drawing *drawing, struct text *out)
{
    const struct figure_scene *scene = drawing->scene;
    if (drawing->numeric && scene->n_points > 12) {
        figure_tics(out, 'x', drawing->x_low, drawing->x_high);
        return;
    }
    text_add(out, "set xtics (");
    for (uint32_t i = 0; i < scene->n_points; i++) {
        text_add(out, i > 0 ? ", " : "");
        gnuplot_tic(out, scene->point[drawing->order[i]].sweep);
        text_printf(out, " %.12g", sweep_place(drawing, i));
    }
    text_add(out, ")\n");
}

/* ---- the script */

void figure_head(struct text *out, const char *file, const char *title)
{
    text_printf(out,
                "# %s.gp - drawn by oltr %s from %s.csv beside it.\n"
                "# To restyle: edit, then run `gnuplot %s.gp` in this folder.\n\n"
                "set encoding utf8\nset datafile separator comma\nset title ",
                file, oltr_version(), file, file);
    gnuplot_string(out, title);
    text_add(out, " font ',16'\n");
}

void figure_look(struct text *out)
{
    text_add(out, "set border 3 linecolor rgb '#555555' linewidth 1\n"
                  "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
                  "set grid xtics ytics back linetype 1 linecolor rgb '#E4E4E4' linewidth 0.8\n");
}

/* PNG has twice the dots of the SVG, for sharp text on any screen.  Each format has its own idea of
 * a point; the scales make them look alike. */
void figure_formats(struct text *out, const char *file, int width, int height)
{
    text_printf(out,
                "\ndo for [format in 'svg png pdf'] {\n"
                "    if (format eq 'svg') {\n"
                "        set terminal svg size %d,%d background 'white' noenhanced "
                "font 'DejaVu Sans,Verdana,Helvetica,sans-serif,13'\n    }\n"
                "    if (format eq 'png') {\n"
                "        set terminal pngcairo size %d,%d noenhanced font 'DejaVu Sans,12' "
                "fontscale 1.75 linewidth 2 pointscale 2\n    }\n"
                "    if (format eq 'pdf') {\n"
                "        set terminal pdfcairo size %.2fin,%.2fin noenhanced font 'DejaVu Sans,12' "
                "fontscale 0.6 linewidth 1 pointscale 0.6 dashlength 1.7\n    }\n"
                "    set output '%s.'.format\n",
                width, height, 2 * width, 2 * height, width / 120.0, height / 120.0, file);
}

static const char *sweep_title(const char *key)
{
    static const struct {
        const char *key, *title;
    } known[] = {
        {"world.misspecification", "misspecification c"},
        {"world.items", "items L"},
        {"slots", "slots K"},
        {"rounds", "rounds T"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(key, known[i].key) == 0)
            return known[i].title;
    return key;
}

/* The round at which the sweep is cut, if it is the same for all points; else 0. */
static uint64_t common_last_round(const struct drawing *drawing)
{
    const struct figure_scene *scene = drawing->scene;
    uint64_t limit = last_round(drawing->figure), first = 0;
    for (uint32_t p = 0; p < scene->n_points; p++) {
        uint64_t rounds = scene->point[p].rounds < limit ? scene->point[p].rounds : limit;
        if (p > 0 && rounds != first)
            return 0;
        first = rounds;
    }
    return first;
}

static void add_axis_titles(const struct drawing *drawing, struct text *out)
{
    if (drawing->figure->x == FIGURE_ROUND) {
        text_add(out, "set xlabel 'round'\nset ylabel 'cumulative regret'\n");
        return;
    }
    text_add(out, "set xlabel ");
    gnuplot_string(out, sweep_title(drawing->scene->sweep_key));
    uint64_t rounds = common_last_round(drawing);
    char number[40];
    grouped((double)rounds, number, sizeof number);
    text_printf(out,
                rounds > 0 ? "\nset ylabel 'cumulative regret after %s rounds'\n"
                           : "\nset ylabel 'final cumulative regret'\n",
                number);
}

static void add_y_axis(const struct drawing *drawing, struct text *out)
{
    double top = drawing->y_high > 0 ? drawing->y_high * 1.04 : 1;
    if (drawing->figure->log && drawing->y_low > 0) {
        text_printf(out, "set yrange [%.6g:%.6g]\n", drawing->y_low * 0.8, top * 1.2);
        log_tics(out, 'y', drawing->y_low * 0.8, top * 1.2);
    } else {
        text_printf(out, "set yrange [0:%.6g]\n", top);
        figure_tics(out, 'y', 0, top);
    }
}

/* Swept numbers above zero follow the wish for logarithmic axes; words and zeros cannot. */
static void add_sweep_axis(const struct drawing *drawing, struct text *out)
{
    double low = drawing->x_low, high = drawing->x_high;
    if (drawing->figure->log && drawing->numeric && low > 0 && high > low) {
        double margin = pow(high / low, 0.04);
        text_printf(out, "set logscale x 10\nset xrange [%.12g:%.12g]\n", low / margin,
                    high * margin);
    } else {
        double margin = high > low ? (high - low) * 0.04 : 0.5;
        text_printf(out, "set xrange [%.12g:%.12g]\n", low - margin, high + margin);
    }
    sweep_tics(drawing, out);
}

static void add_x_axis(const struct drawing *drawing, struct text *out)
{
    double low = drawing->x_low, high = drawing->x_high;
    if (drawing->figure->x == FIGURE_SWEEP) {
        add_sweep_axis(drawing, out);
    } else if (drawing->figure->log && high > low) {
        text_printf(out, "set xrange [%.12g:%.12g]\n", low, high);
        log_tics(out, 'x', low, high);
    } else {
        text_printf(out, "set xrange [0:%.12g]\n", high);
        figure_tics(out, 'x', 0, high);
    }
}

/* What the band is, small, in the corner: a figure is often seen without its page. */
static void add_note(const struct drawing *drawing, struct text *out)
{
    int bands = drawing->figure->bands;
    char number[40];
    text_printf(out, "set label 1 '");
    if (bands > 0) {
        text_printf(out, "%s: ± %d standard error%s",
                    drawing->figure->x == FIGURE_ROUND ? "bands" : "bars", bands,
                    bands > 1 ? "s" : "");
        if (drawing->scene->queries > 0) {
            grouped(drawing->scene->queries, number, sizeof number);
            text_printf(out, " over %s quer%s", number, plural_ies(drawing->scene->queries));
        }
        text_add(out, ", ");
    }
    grouped(drawing->replications, number, sizeof number);
    text_printf(out,
                "%s replication%s' at screen 0.985,0.03 right font ',9' textcolor rgb '#777777'\n",
                number, plural_s(drawing->replications));
}

static void add_band(const struct drawing *drawing, const struct curve *curve, size_t column,
                     struct text *out)
{
    if (curve->is_bound || drawing->figure->bands == 0)
        return;
    if (drawing->figure->x == FIGURE_ROUND) {
        text_printf(
            out,
            "data skip 1 using 1:($%zu - bands*$%zu):($%zu + bands*$%zu) with filledcurves "
            "linecolor rgb '%s' fillstyle transparent solid 0.2 noborder notitle, \\\n         ",
            column, column + 1, column, column + 1, curve->style.colour);
    } else {
        text_printf(
            out,
            "data skip 1 using 1:%zu:(bands*$%zu) with yerrorbars linecolor rgb '%s' linewidth 1.2 "
            "pointtype 0 notitle, \\\n         ",
            column, column + 1, curve->style.colour);
    }
}

static void add_line(const struct drawing *drawing, const struct curve *curve, size_t column,
                     struct text *out)
{
    bool marks = drawing->figure->x == FIGURE_SWEEP && !curve->is_bound;
    text_printf(out,
                "data skip 1 using 1:%zu with %s linecolor rgb '%s' linewidth width dashtype %s ",
                column, marks ? "linespoints" : "lines", curve->style.colour, curve->style.dash);
    if (marks)
        text_printf(out, "pointtype %d pointsize 0.9 ", curve->style.point);
    text_add(out, "title ");
    gnuplot_string(out, curve->label);
}

/* The bands go under all lines. */
static void add_plot(const struct drawing *drawing, struct text *out)
{
    text_add(out, "    plot ");
    for (size_t i = 0; i < drawing->n_curves; i++)
        add_band(drawing, &drawing->curve[i], 2 + 2 * i, out);
    for (size_t i = 0; i < drawing->n_curves; i++) {
        add_line(drawing, &drawing->curve[i], 2 + 2 * i, out);
        text_add(out, i + 1 < drawing->n_curves ? ", \\\n         " : "\n");
    }
    text_add(out, "}\nset output\n");
}

static void write_script(const struct drawing *drawing, struct text *out)
{
    const struct figure *figure = drawing->figure;
    figure_head(out, figure->file, figure->title);
    text_printf(out, "data  = '%s.csv'\n", figure->file);
    text_printf(out, "bands = %d     # half the height of a band, in standard errors\n",
                figure->bands);
    text_add(out, "width = 2.2   # of the lines\n\n");
    add_axis_titles(drawing, out);
    add_x_axis(drawing, out);
    add_y_axis(drawing, out);
    figure_look(out);
    text_add(
        out,
        "set key outside right center vertical Left reverse samplen 3.2 spacing 1.25 width 1\n");
    add_note(drawing, out);
    figure_formats(out, figure->file, WIDTH, HEIGHT);
    add_plot(drawing, out);
}

/* ---- the data */

static void write_heading(const struct drawing *drawing, struct text *out)
{
    csv_field(out, drawing->figure->x == FIGURE_ROUND ? "round" : drawing->scene->sweep_key);
    for (size_t i = 0; i < drawing->n_curves; i++) {
        char name[LABEL_SIZE + 4];
        text_add(out, ",");
        csv_field(out, drawing->curve[i].label);
        text_add(out, ",");
        (void)snprintf(name, sizeof name, "%s se", drawing->curve[i].label);
        csv_field(out, name);
    }
    text_add(out, "\n");
}

/* The smallest x that some curve has not written yet; false when all are through. */
static bool next_x(const struct drawing *drawing, const size_t *at, double *x)
{
    bool found = false;
    for (size_t i = 0; i < drawing->n_curves; i++) {
        const struct curve *curve = &drawing->curve[i];
        if (at[i] < curve->count && (!found || curve->x[at[i]] < *x)) {
            *x = curve->x[at[i]];
            found = true;
        }
    }
    return found;
}

/* Curves need not have the same x values: what one of them lacks is left empty. */
static bool write_data(const struct drawing *drawing, struct text *out)
{
    size_t *at = calloc(drawing->n_curves + 1, sizeof *at);
    double x = 0;
    write_heading(drawing, out);
    while (at != NULL && next_x(drawing, at, &x)) {
        text_printf(out, "%.12g", x);
        for (size_t i = 0; i < drawing->n_curves; i++) {
            const struct curve *curve = &drawing->curve[i];
            if (at[i] < curve->count && curve->x[at[i]] <= x) {
                text_printf(out, ",%.9g,%.9g", curve->y[at[i]], curve->se[at[i]]);
                at[i]++;
            } else {
                text_add(out, ",,");
            }
        }
        text_add(out, "\n");
    }
    bool written = at != NULL;
    free(at);
    return written;
}

/* ---- the figure */

static const char *missing_policy(const struct drawing *drawing)
{
    for (uint32_t i = 0; i < drawing->n_curves; i++)
        if (drawing->curve[i].count == 0)
            return drawing->curve[i].label;
    return NULL;
}

oltr_status figure_script(const struct figure *figure, const struct figure_scene *scene,
                          struct text *script, struct text *data, oltr_error *error)
{
    struct drawing drawing = {.figure = figure, .scene = scene, .replications = UINT32_MAX};
    oltr_status status = OLTR_OK;
    char label[QUOTE_SIZE];
    if (!add_curves(&drawing)) {
        status = set_error(error, OLTR_ENOMEM, "%s: out of memory", figure->file);
    } else if (missing_policy(&drawing) != NULL) {
        status = set_error(error, OLTR_EINVAL,
                           "%s: results.csv has no row of `%s` up to the last round of this figure",
                           figure->file, quote_input(missing_policy(&drawing), label));
    } else {
        qsort(drawing.curve, drawing.n_curves, sizeof *drawing.curve, by_end);
        measure(&drawing);
        write_script(&drawing, script);
        if (!write_data(&drawing, data) || script->failed || data->failed)
            status = set_error(error, OLTR_ENOMEM, "%s: out of memory", figure->file);
    }
    drawing_free(&drawing);
    return status;
}
