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

/* Five digits are enough for a curve; the last row is also printed. */
static bool is_shown(size_t row, size_t rows)
{
    size_t every = (rows + MOST_ROWS - 1) / MOST_ROWS;
    return row % every == 0 || row < 5 || row + 1 == rows;
}

/* The array with a number of so many digits. */
static json_t *with_number(json_t *array, double value, int digits)
{
    char rounded[40];
    (void)snprintf(rounded, sizeof rounded, "%.*g", digits, value);
    json_t *number = json_real(strtod(rounded, NULL));
    return json_with(array, number ? number : json_null()); /* JSON has no infinity */
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
    return json_pack("{s:o, s:o, s:s, s:b, s:o, s:o}", "title", json_any_string(title), "x",
                     json_any_string(x), "y", y, "errors", errors, "curves", curves, "rows", rows);
}

/* ---- regret */

static json_t *row_json(const struct drawing *drawing, double x, int digits)
{
    json_t *row = with_number(json_array(), x, 9);
    for (size_t i = 0; i < drawing->n_curves; i++) {
        const struct curve_point *here = drawing->curve[i].here;
        row = here ? with_number(with_number(row, here->y, digits), here->se, digits)
                   : json_with(json_with(row, json_null()), json_null());
    }
    return row;
}

static json_t *regret_plots(const struct figure *figure, const struct figure_scene *scene)
{
    struct drawing drawing;
    json_t *curves = json_array(), *rows = json_array();
    bool made = drawing_make(&drawing, figure, scene, NULL) == OLTR_OK, sweep = figure->x;
    size_t count = 0, at = 0;
    double x;
    for (size_t i = 0; made && i < drawing.n_curves; i++)
        curves = json_with(curves, curve_json(drawing.curve[i].label, &drawing.curve[i].style));
    while (made && drawing_next(&drawing, &x))
        count++;
    for (; made && drawing_next(&drawing, &x); at++)
        if (is_shown(at, count))
            rows = json_with(rows, row_json(&drawing, x, at + 1 == count ? 9 : 5));
    drawing_free(&drawing);
    json_t *plot = plot_json(figure->title, sweep ? scene->key[0] : "round",
                             sweep && figure->y == FIGURE_REGRET ? "final cumulative regret"
                                                                 : figure_y_titles[figure->y],
                             true, curves, rows);
    return json_with(json_array(), made ? plot : NULL);
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
