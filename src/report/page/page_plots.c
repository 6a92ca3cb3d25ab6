/* page_plots.c - the interactive plots of a figure: the curves that gnuplot draws, as JSON.
 *
 * A regret figure is one plot, with a mean and a standard error for each curve.  A density figure
 * is one plot for each attraction, with a density for each posterior. */
#include "report/page/page.h"

#include "report/figures/curves.h"
#include "report/figures/density.h"
#include "report/io/json_text.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROWS = 160 }; /* of a plot; a screen shows no more of them apart */

/* Five digits are enough for a curve, three for its error; the last row is also printed. */
static bool is_shown(size_t row, size_t rows)
{
    size_t every = (rows + MOST_ROWS - 1) / MOST_ROWS;
    return row % every == 0 || row < 5 || row + 1 == rows;
}

/* A gnuplot dash "(12,4)" as [12,4]; null: solid. */
static json_t *dash_json(const char *dash)
{
    json_t *array = *dash == '(' ? json_array() : json_null();
    for (char *at = (char *)dash; *dash == '(' && *at && *at != ')';)
        array = json_with(array, json_integer(strtol(at + 1, &at, 10)));
    return array;
}

static json_t *curve_json(const char *name, const struct style *style)
{
    return json_pack("{s:o, s:s, s:o}", "name", json_any_string(name), "colour", style->colour,
                     "dash", dash_json(style->dash));
}

static json_t *plot_json(const char *title, const char *x, const char *y, bool errors,
                         json_t *curves, json_t *rows)
{
    return json_pack("{s:o, s:o, s:o, s:b, s:o, s:o}", "title", json_any_string(title), "x",
                     json_any_string(x), "y", json_any_string(y), "errors", errors, "curves",
                     curves, "rows", rows);
}

/* ---- regret */

static json_t *row_json(const struct drawing *drawing, double x, int digits)
{
    json_t *row = with_number(json_array(), x, 9);
    for (size_t i = 0; i < drawing->n_curves; i++) {
        const struct curve_point *here = drawing->curve[i].here;
        row =
            here ? with_number(with_number(row, here->y, digits), here->se, digits > 5 ? digits : 3)
                 : json_with(json_with(row, json_null()), json_null());
    }
    return row;
}

/* [x, words] of each tick of a sweep; null: the axis has numbers. */
static json_t *ticks_json(const struct drawing *drawing)
{
    const struct figure_scene *scene = drawing->scene;
    bool has = drawing->figure->x == FIGURE_SWEEP && sweep_has_tics(drawing);
    json_t *ticks = has ? json_array() : json_null();
    for (uint32_t i = 0; has && i < scene->n_points; i++)
        if (sweep_begins(drawing, i))
            ticks = json_with(ticks,
                              json_pack("[f, o]", sweep_place(drawing, i),
                                        json_any_string(scene->point[drawing->order[i]].value[0])));
    return ticks;
}

/* How far right of its x each curve has its points; null: they are joined. */
static json_t *shifts_json(const struct drawing *drawing)
{
    json_t *shifts = drawing_is_joined(drawing) ? json_null() : json_array();
    for (size_t i = 0; json_is_array(shifts) && i < drawing->n_curves; i++)
        shifts = with_number(shifts, curve_shift(drawing, &drawing->curve[i]), 5);
    return shifts;
}

static json_t *rows_json(struct drawing *drawing)
{
    json_t *rows = json_array();
    size_t count = 0, at = 0;
    double x;
    while (drawing_next(drawing, &x))
        count++;
    for (; drawing_next(drawing, &x); at++)
        if (is_shown(at, count))
            rows = json_with(rows, row_json(drawing, x, at + 1 == count ? 9 : 5));
    return rows;
}

static json_t *regret_plot(struct drawing *drawing)
{
    char y[AXIS_TITLE_SIZE];
    json_t *curves = json_array();
    drawing_y_title(drawing, y);
    for (size_t i = 0; i < drawing->n_curves; i++)
        curves = json_with(curves, curve_json(drawing->curve[i].label, &drawing->curve[i].style));
    json_t *plot = plot_json(drawing->figure->title, drawing_x_title(drawing), y, true, curves,
                             rows_json(drawing));
    json_t *axes = json_pack("{s:b, s:b, s:b, s:b, s:o, s:o}", "log_x", drawing->log_x, "log_y",
                             drawing->log_y, "from_zero", figure_is_from_zero(drawing->figure),
                             "marks", drawing->figure->x == FIGURE_SWEEP, "ticks",
                             ticks_json(drawing), "shifts", shifts_json(drawing));
    if (!axes || !plot || json_object_update(plot, axes) != 0) {
        json_decref(plot);
        plot = NULL;
    }
    json_decref(axes);
    return plot;
}

static json_t *regret_plots(const struct figure *figure, const struct figure_scene *scene)
{
    struct drawing drawing;
    bool made = drawing_make(&drawing, figure, scene, NULL) == OLTR_OK;
    json_t *plot = made ? regret_plot(&drawing) : NULL;
    drawing_free(&drawing);
    return json_with(json_array(), plot);
}

/* ---- densities */

static json_t *density_plot(const struct density_panels *panels, size_t panel)
{
    struct style style[MAX_POSTERIORS];
    char title[80];
    json_t *curves = json_array(), *rows = json_array();
    density_styles(panels, style);
    for (size_t q = 0; q < panels->n_posteriors; q++)
        curves = json_with(curves, curve_json(density_at(panels, 0, q, 0)->posterior, &style[q]));
    for (size_t i = 0; i < panels->n_points; i++) {
        if (!is_shown(i, panels->n_points))
            continue;
        json_t *row = with_number(json_array(), density_at(panels, panel, 0, i)->x, 9);
        for (size_t q = 0; q < panels->n_posteriors; q++)
            row = with_number(row, density_at(panels, panel, q, i)->density,
                              i + 1 == panels->n_points ? 9 : 5);
        rows = json_with(rows, row);
    }
    (void)snprintf(title, sizeof title, "attraction %.40s",
                   density_at(panels, panel, 0, 0)->attraction);
    return plot_json(title, "attraction", "density", false, curves, rows);
}

static json_t *density_plots(const char *folder)
{
    struct density_panels panels;
    json_t *plots = density_read(folder, &panels, NULL) == OLTR_OK ? json_array() : NULL;
    for (size_t p = 0; plots && p < panels.n_panels; p++)
        plots = json_with(plots, density_plot(&panels, p));
    csv_free(&panels.file);
    return plots;
}

json_t *page_plots(const struct report_experiment *experiment, const struct figure *figure)
{
    const struct manifest *manifest = &experiment->folder.manifest;
    return manifest->is_concentration ? density_plots(experiment->path)
                                      : regret_plots(figure, &manifest->scene);
}
