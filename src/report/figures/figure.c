/* figure.c - see figure.h.
 *
 * <file>.csv has a column of means and one of standard errors for each curve.  <file>.gp is a short
 * script that people can edit: the width of the bands, the colours and the titles are easy to find.
 * The names are at the ends of the curves. */
#include "report/figures/figure.h"

#include "engine/base/error.h"
#include "report/figures/curves.h"
#include "report/figures/end_labels.h"
#include "report/figures/gnuplot_text.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, HEIGHT = 540 };

const char *const figure_y_names[N_FIGURE_Y + 1] = {"regret", "ctr", "ndcg", "worst", NULL};
const char *const figure_y_titles[N_FIGURE_Y] = {
    "cumulative regret", "click rate (expected reward of a round)", "NDCG of the shown list",
    "largest cumulative regret of a replication"};

bool figure_name_is_good(const char *name)
{
    static const char *const taken[] = {"results", "summary", "manifest", "experiment", "density",
                                        "partial", "pairs",   "claims",   "queries",    "metrics"};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return file_name_is_plain(name);
}

/* ---- tics */

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
                gnuplot_tic_at(out, value, first);
                first = false;
            }
        }
    }
    text_add(out, ")\n");
}

static void sweep_tics(const struct drawing *drawing, struct text *out)
{
    const struct figure_scene *scene = drawing->scene;
    if (!sweep_has_tics(drawing)) {
        gnuplot_tics(out, 'x', drawing->x_low, drawing->x_high);
        return;
    }
    text_add(out, "set xtics (");
    for (uint32_t i = 0; i < scene->n_points; i++) {
        if (!sweep_begins(drawing, i))
            continue;
        text_add(out, i > 0 ? ", " : "");
        gnuplot_tic(out, scene->point[drawing->order[i]].value[0]);
        text_printf(out, " %.12g", sweep_place(drawing, i));
    }
    text_add(out, ")\n");
}

/* ---- the script */

static void add_axis_titles(const struct drawing *drawing, struct text *out)
{
    char title[AXIS_TITLE_SIZE];
    drawing_y_title(drawing, title);
    text_add(out, "set xlabel ");
    gnuplot_string(out, drawing_x_title(drawing));
    text_add(out, "\nset ylabel ");
    gnuplot_string(out, title);
    text_add(out, "\n");
}

static void add_y_axis(const struct drawing *drawing, struct text *out)
{
    text_printf(out, "set yrange [%.6g:%.6g]\n", drawing->axis_low, drawing->axis_high);
    if (drawing->log_y)
        log_tics(out, 'y', drawing->axis_low, drawing->axis_high);
    else
        gnuplot_tics(out, 'y', drawing->axis_low, drawing->axis_high);
}

static void add_sweep_axis(const struct drawing *drawing, struct text *out)
{
    double low = drawing->x_low, high = drawing->x_high;
    if (drawing->log_x) {
        double margin = pow(high / low, 0.04);
        text_printf(out, "set logscale x 10\nset xrange [%.12g:%.12g]\n", low / margin,
                    high * margin);
    } else {
        double margin = !drawing_is_joined(drawing) ? 0.4 : high > low ? (high - low) * 0.04 : 0.5;
        text_printf(out, "set xrange [%.12g:%.12g]\n", low - margin, high + margin);
    }
    sweep_tics(drawing, out);
}

static void add_x_axis(const struct drawing *drawing, struct text *out)
{
    double low = drawing->x_low, high = drawing->x_high;
    if (drawing->figure->x == FIGURE_SWEEP) {
        add_sweep_axis(drawing, out);
    } else if (drawing->log_x) {
        text_printf(out, "set xrange [%.12g:%.12g]\n", low, high);
        log_tics(out, 'x', low, high);
    } else {
        text_printf(out, "set xrange [0:%.12g]\n", high);
        gnuplot_tics(out, 'x', 0, high);
    }
}

/* The meaning of the bands, small, in the corner: a figure is often seen without its page. */
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
            gnuplot_grouped(drawing->scene->queries, number, sizeof number);
            text_printf(out, " over %s quer%s", number, plural_ies(drawing->scene->queries));
        }
        text_add(out, ", ");
    }
    gnuplot_grouped((double)drawing->replications, number, sizeof number);
    text_printf(out,
                "%s replication%s' at screen 0.985,0.03 right font ',9' textcolor rgb '#777777'\n",
                number, plural_s(drawing->replications));
}

/* The column of x; points that are not joined stand side by side. */
static const char *x_column(const struct drawing *drawing, const struct curve *curve, char out[24])
{
    double shift = curve_shift(drawing, curve);
    (void)snprintf(out, 24, shift < 0 || shift > 0 ? "($1%+.4f)" : "1", shift);
    return out;
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
        char x[24];
        text_printf(out,
                    "data skip 1 using %s:%zu:(bands*$%zu) with yerrorbars linecolor rgb '%s' "
                    "linewidth 1.2 pointtype 0 notitle, \\\n         ",
                    x_column(drawing, curve, x), column, column + 1, curve->style.colour);
    }
}

static void add_line(const struct drawing *drawing, const struct curve *curve, size_t column,
                     struct text *out)
{
    bool joined = drawing_is_joined(drawing);
    char x[24];
    bool marks = !joined || (drawing->figure->x == FIGURE_SWEEP && !curve->is_bound);
    const char *with = !joined ? "points" : marks ? "linespoints" : "lines";
    text_printf(out,
                "data skip 1 using %s:%zu with %s linecolor rgb '%s' linewidth width dashtype %s ",
                x_column(drawing, curve, x), column, with, curve->style.colour, curve->style.dash);
    if (marks)
        text_printf(out, "pointtype %d pointsize 0.9 ", curve->is_bound ? 2 : curve->style.point);
    if (end_labels_fit(drawing)) {
        text_add(out, "notitle");
        return;
    }
    text_add(out, "title ");
    gnuplot_string(out, curve->label);
}

/* The bands first: lines are drawn over them. */
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
    gnuplot_head(out, figure->file, figure->title);
    text_printf(out, "data  = '%s.csv'\n", figure->file);
    text_printf(out, "bands = %d     # half the height of a band, in standard errors\n",
                figure->bands);
    text_add(out, "width = 2.2   # of the lines\n\n");
    add_axis_titles(drawing, out);
    add_x_axis(drawing, out);
    add_y_axis(drawing, out);
    gnuplot_look(out);
    if (end_labels_fit(drawing))
        end_labels(drawing, WIDTH, HEIGHT, out);
    else
        text_add(out, "set key outside right center vertical Left reverse samplen 3.2 "
                      "spacing 1.25 width 1\n");
    add_note(drawing, out);
    gnuplot_formats(out, figure->file, WIDTH, HEIGHT);
    add_plot(drawing, out);
}

/* ---- the data */

static void write_heading(const struct drawing *drawing, struct text *out)
{
    csv_field(out, drawing->figure->x == FIGURE_ROUND ? "round" : drawing->scene->key[0]);
    for (size_t i = 0; i < drawing->n_curves; i++) {
        char name[CURVE_LABEL_SIZE + 4];
        text_add(out, ",");
        csv_field(out, drawing->curve[i].label);
        text_add(out, ",");
        (void)snprintf(name, sizeof name, "%s se", drawing->curve[i].label);
        csv_field(out, name);
    }
    text_add(out, "\n");
}

static void write_data(struct drawing *drawing, struct text *out)
{
    double x;
    write_heading(drawing, out);
    while (drawing_next(drawing, &x)) {
        text_printf(out, "%.12g", x);
        for (size_t i = 0; i < drawing->n_curves; i++) {
            const struct curve_point *here = drawing->curve[i].here;
            if (here)
                text_printf(out, ",%.9g,%.9g", here->y, here->se);
            else
                text_add(out, ",,");
        }
        text_add(out, "\n");
    }
}

/* ---- the figure */

oltr_status figure_script(const struct figure *figure, const struct figure_scene *scene,
                          struct text *script, struct text *data, oltr_error *error)
{
    struct drawing drawing;
    oltr_status status = drawing_make(&drawing, figure, scene, error);
    if (status == OLTR_OK) {
        write_script(&drawing, script);
        write_data(&drawing, data);
        if (script->failed || data->failed)
            status = set_error(error, OLTR_ENOMEM, "%s: out of memory", figure->file);
    }
    drawing_free(&drawing);
    return status;
}
