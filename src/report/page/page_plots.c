/* page_plots.c - the interactive plots of a figure, from the figure's own data file.
 *
 * The file of a regret figure has x and then a mean and a standard error for each curve: one plot.
 * That of a density figure has, for each attraction, "x at 0.1" and then a column for each
 * posterior: one plot for each attraction. */
#include "report/page/page.h"

#include "report/figures/style.h"
#include "report/io/csv.h"
#include "report/io/json_text.h"
#include "report/io/whole_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 160 }; /* of a plot; a screen shows no more of them apart */

/* ---- the data file ---- */

struct sheet {
    struct text memory;
    int columns;
    size_t rows;
    char **cell; /* (1 + rows, columns): the heading first */
};

static void sheet_free(struct sheet *sheet)
{
    free(sheet->cell);
    text_free(&sheet->memory);
}

static int count_columns(const char *text)
{
    int count = 1;
    bool quoted = false;
    for (; *text && (quoted || !strchr("\r\n", *text)); text++) {
        quoted ^= *text == '"';
        count += *text == ',' && !quoted;
    }
    return count;
}

/* Reads a table of numbers with a heading; false if it is not one. */
static bool sheet_parse(struct sheet *sheet)
{
    char *at = sheet->memory.bytes;
    size_t lines = csv_lines(&sheet->memory);
    if (!at || strlen(at) != sheet->memory.length)
        return false;
    sheet->columns = count_columns(at);
    sheet->cell = calloc(lines * (size_t)sheet->columns + 1, sizeof *sheet->cell);
    if (!sheet->cell || csv_record(&at, sheet->cell, sheet->columns) != sheet->columns)
        return false;
    while (*at) {
        char **row = sheet->cell + ++sheet->rows * (size_t)sheet->columns;
        if (csv_record(&at, row, sheet->columns) != sheet->columns)
            return false;
        for (int i = 0; i < sheet->columns; i++)
            if (*row[i] && !number_is_plain(row[i]))
                return false;
    }
    return sheet->rows > 0;
}

static bool sheet_read(const char *folder, const char *figure, struct sheet *sheet)
{
    char name[128];
    return snprintf(name, sizeof name, "%s.csv", figure) < (int)sizeof name &&
           file_read_in(folder, name, &sheet->memory, NULL) == OLTR_OK && sheet_parse(sheet);
}

/* ---- one plot ---- */

/* Columns that are drawn together: x, then `step` columns for each curve. */
struct plot {
    const struct sheet *sheet;
    const struct figure_scene *scene;
    int x, first, curves, step;
    const char *title, *x_title, *y_title;
};

static const char *curve_label(const struct plot *plot, int curve)
{
    return plot->sheet->cell[plot->first + curve * plot->step];
}

/* A gnuplot dash "(12,4)" as [12,4]; null: solid. */
static json_t *dash_json(const char *dash)
{
    json_t *array = *dash == '(' ? json_array() : json_null();
    for (char *at = (char *)dash; *dash == '(' && *at && *at != ')';)
        array = json_with(array, json_integer(strtol(at + 1, &at, 10)));
    return array;
}

/* The colours of the drawn figure, which belong to the labels of the whole experiment. */
static json_t *curves_json(const struct plot *plot)
{
    bool own = plot->scene->n_policies == 0; /* posteriors */
    size_t count = own ? (size_t)plot->curves : plot->scene->n_policies;
    const char **label = calloc(count + 1, sizeof *label);
    struct style *style = calloc(count + 1, sizeof *style);
    json_t *array = label && style ? json_array() : NULL;
    for (size_t i = 0; array && i < count; i++)
        label[i] = own ? curve_label(plot, (int)i) : plot->scene->policy[i];
    if (array)
        style_assign(label, count, style);
    for (int i = 0; array && i < plot->curves; i++) {
        struct style found = {"#777777", "(2,3)", 0}; /* a bound is no policy */
        for (size_t j = 0; j < count; j++)
            found = strcmp(label[j], curve_label(plot, i)) == 0 ? style[j] : found;
        array = json_with(array, json_pack("{s:o, s:s, s:o}", "name",
                                           json_any_string(curve_label(plot, i)), "colour",
                                           found.colour, "dash", dash_json(found.dash)));
    }
    free(label);
    free(style);
    return array;
}

/* A cell with so many digits; an empty one is null. */
static json_t *cell_json(const char *cell, int digits)
{
    char rounded[40];
    (void)snprintf(rounded, sizeof rounded, "%.*g", digits, strtod(cell, NULL));
    json_t *number = *cell ? json_real(strtod(rounded, NULL)) : NULL;
    return number ? number : json_null();
}

/* Every row, or so many that no difference is seen; always the first ones and the last.  Five
 * digits are enough for a curve; the last row is also printed. */
static json_t *rows_json(const struct plot *plot)
{
    const struct sheet *sheet = plot->sheet;
    size_t every = (sheet->rows + MOST_ROWS - 1) / MOST_ROWS;
    json_t *rows = json_array();
    for (size_t i = 0; i < sheet->rows; i++) {
        bool last = i + 1 == sheet->rows;
        if (i % every != 0 && !last && i >= 5)
            continue;
        char **cell = sheet->cell + (i + 1) * (size_t)sheet->columns;
        json_t *row = json_with(json_array(), cell_json(cell[plot->x], 9));
        for (int j = 0; j < plot->curves * plot->step; j++)
            row = json_with(row, cell_json(cell[plot->first + j], last ? 9 : 5));
        rows = json_with(rows, row);
    }
    return rows;
}

static json_t *plot_json(const struct plot *plot)
{
    return json_pack("{s:o, s:o, s:s, s:b, s:o, s:o}", "title", json_any_string(plot->title), "x",
                     json_any_string(plot->x_title), "y", plot->y_title, "errors", plot->step == 2,
                     "curves", curves_json(plot), "rows", rows_json(plot));
}

/* ---- the plots of a figure ---- */

static json_t *regret_plots(const struct figure_scene *scene, const struct figure *figure,
                            const struct sheet *sheet)
{
    struct plot plot = {.sheet = sheet,
                        .scene = scene,
                        .first = 1,
                        .curves = (sheet->columns - 1) / 2,
                        .step = 2,
                        .title = figure->title,
                        .x_title = sheet->cell[0]};
    plot.y_title = figure->x == FIGURE_SWEEP ? "final cumulative regret" : "cumulative regret";
    return json_with(json_array(), plot_json(&plot));
}

static json_t *density_plots(const struct figure_scene *scene, const struct sheet *sheet)
{
    static const char mark[] = "x at ";
    json_t *plots = json_array();
    for (int x = 0, next; x < sheet->columns; x = next) {
        for (next = x + 1; next < sheet->columns && strncmp(sheet->cell[next], mark, 5) != 0;)
            next++;
        bool marked = strncmp(sheet->cell[x], mark, 5) == 0;
        char title[80];
        (void)snprintf(title, sizeof title, "attraction %.40s", sheet->cell[x] + (marked ? 5 : 0));
        struct plot plot = {sheet, scene,        x,        x + 1, next - x - 1, 1,
                            title, "attraction", "density"};
        plots = json_with(plots, plot_json(&plot));
    }
    return plots;
}

json_t *page_plots(const struct report_experiment *experiment, const struct figure *figure)
{
    const struct manifest *manifest = &experiment->folder.manifest;
    struct sheet sheet = {0};
    json_t *plots = NULL;
    if (sheet_read(experiment->path, figure->file, &sheet))
        plots = manifest->is_concentration ? density_plots(&manifest->scene, &sheet)
                                           : regret_plots(&manifest->scene, figure, &sheet);
    sheet_free(&sheet);
    return plots;
}
