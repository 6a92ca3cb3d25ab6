/* page_figure.c - one figure of the page.
 *
 * The curves come from the figure's own data file and end in a block of JSON that page.js gives to
 * dygraphs.  The drawn SVG stands beside it, for paper, for browsers without JavaScript, and for
 * what dygraphs cannot draw. */
#include "report/page/page_parts.h"

#include "engine/base/error.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"
#include "report/page/html.h"
#include "report/figures/style.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 160 }; /* of a plot: more than a screen can show apart */

/* ---- the data file */

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
    for (; *text != '\0' && (quoted || (*text != '\n' && *text != '\r')); text++) {
        quoted = *text == '"' ? !quoted : quoted;
        count += *text == ',' && !quoted;
    }
    return count;
}

/* Reads a table of numbers with a heading; false if it is not one. */
static bool sheet_parse(struct sheet *sheet)
{
    char *at = sheet->memory.bytes;
    size_t lines = csv_lines(&sheet->memory);
    if (at == NULL || strlen(at) != sheet->memory.length)
        return false;
    sheet->columns = count_columns(at);
    sheet->cell = calloc(lines * (size_t)sheet->columns + 1, sizeof *sheet->cell);
    int count = sheet->cell == NULL ? 0 : csv_record(&at, sheet->cell, sheet->columns);
    if (count != sheet->columns)
        return false;
    while (*at != '\0') {
        char **row = sheet->cell + (sheet->rows + 1) * (size_t)sheet->columns;
        if (csv_record(&at, row, sheet->columns) != sheet->columns)
            return false;
        for (int i = 0; i < sheet->columns; i++)
            if (row[i][0] != '\0' && !number_is_plain(row[i]))
                return false;
        sheet->rows++;
    }
    return sheet->rows > 0;
}

static bool sheet_read(const char *folder, const char *figure, struct sheet *sheet)
{
    char name[128];
    memset(sheet, 0, sizeof *sheet);
    return snprintf(name, sizeof name, "%s.csv", figure) < (int)sizeof name &&
           file_read_in(folder, name, &sheet->memory, NULL) == OLTR_OK && sheet_parse(sheet);
}

static const char *sheet_at(const struct sheet *sheet, size_t row, int column)
{
    return sheet->cell[(row + 1) * (size_t)sheet->columns + (size_t)column];
}

/* ---- the plot */

/* Columns of a sheet that are drawn together: x, then each curve with `step` columns, its error
 * second if step is 2. */
struct plot {
    const struct sheet *sheet;
    int x, first, curves, step;
    const char *title, *x_title, *y_title;
    const struct figure *figure;
    const struct folder *folder;
};

static const char *curve_label(const struct plot *plot, int curve)
{
    return plot->sheet->cell[plot->first + curve * plot->step];
}

/* A gnuplot dash "(12,4)" as JSON, [12,4]. */
static void add_dash(struct text *out, const char *dash)
{
    if (dash[0] != '(') {
        text_add(out, "null");
        return;
    }
    text_printf(out, "[%.*s]", (int)strcspn(dash + 1, ")"), dash + 1);
}

/* The colours of the drawn figure: they belong to the labels of the whole experiment. */
static bool add_styles(const struct plot *plot, struct text *out)
{
    const struct figure_scene *scene = &plot->folder->manifest.scene;
    bool own = scene->n_policies == 0; /* posteriors */
    size_t count = own ? (size_t)plot->curves : scene->n_policies;
    const char **label = calloc(count + 1, sizeof *label);
    struct style *style = calloc(count + 1, sizeof *style);
    bool room = label != NULL && style != NULL;
    for (size_t i = 0; room && i < count; i++)
        label[i] = own ? curve_label(plot, (int)i) : scene->policy[i];
    if (room)
        style_assign(label, count, style);
    text_add(out, ",\"curves\":[");
    for (int i = 0; room && i < plot->curves; i++) {
        struct style found = {"#777777", "(2,3)", 0}; /* a bound is no policy */
        for (size_t j = 0; j < count; j++)
            found = strcmp(label[j], curve_label(plot, i)) == 0 ? style[j] : found;
        text_add(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        html_json(out, curve_label(plot, i));
        text_printf(out, ",\"colour\":\"%s\",\"dash\":", found.colour);
        add_dash(out, found.dash);
        text_add(out, "}");
    }
    text_add(out, "]");
    free(label);
    free(style);
    return room;
}

static void add_number(struct text *out, const char *cell)
{
    if (*cell == '\0')
        text_add(out, "null");
    else
        text_printf(out, "%.5g", strtod(cell, NULL));
}

static void add_row(const struct plot *plot, size_t row, struct text *out)
{
    text_printf(out, "[%.9g", strtod(sheet_at(plot->sheet, row, plot->x), NULL));
    for (int i = 0; i < plot->curves; i++) {
        for (int j = 0; j < plot->step; j++) {
            text_add(out, ",");
            add_number(out, sheet_at(plot->sheet, row, plot->first + i * plot->step + j));
        }
    }
    text_add(out, "]");
}

/* Every row, or so many that the eye sees no difference; always the first and the last. */
static void add_data(const struct plot *plot, struct text *out)
{
    size_t rows = plot->sheet->rows, every = (rows + MOST_ROWS - 1) / MOST_ROWS;
    text_add(out, ",\"rows\":[");
    for (size_t row = 0; row < rows; row++) {
        if (row % every == 0 || row + 1 == rows || row < 5) {
            text_add(out, row > 0 ? ",\n" : "\n");
            add_row(plot, row, out);
        }
    }
    text_add(out, "]");
}

/* A sweep has a tick at each of its values. */
static void add_ticks(const struct plot *plot, struct text *out)
{
    const struct figure_scene *scene = &plot->folder->manifest.scene;
    if (plot->figure->x != FIGURE_SWEEP || scene->n_points != plot->sheet->rows ||
        scene->n_points > 12)
        return;
    bool numeric = true;
    for (uint32_t i = 0; i < scene->n_points; i++)
        numeric = numeric && number_is_plain(scene->point[i].sweep);
    text_add(out, ",\"ticks\":[");
    for (uint32_t i = 0; i < scene->n_points; i++) {
        double x =
            strtod(numeric ? scene->point[i].sweep : sheet_at(plot->sheet, i, plot->x), NULL);
        text_printf(out, "%s[%.9g,", i > 0 ? "," : "", x);
        html_json(out, scene->point[i].sweep);
        text_add(out, "]");
    }
    text_add(out, "]");
}

static bool add_plot(const struct plot *plot, struct text *out)
{
    text_add(out, "<div class=\"plot\"><script type=\"application/json\">{\"title\":");
    html_json(out, plot->title);
    text_add(out, ",\"x\":");
    html_json(out, plot->x_title);
    text_add(out, ",\"y\":");
    html_json(out, plot->y_title);
    text_printf(out, ",\"bands\":%d,\"errors\":%s,\"log\":%s,\"marks\":%s", plot->figure->bands,
                plot->step == 2 ? "true" : "false", plot->figure->log ? "true" : "false",
                plot->figure->x == FIGURE_SWEEP ? "true" : "false");
    bool room = add_styles(plot, out);
    add_ticks(plot, out);
    add_data(plot, out);
    text_add(out, "}</script></div>\n");
    return room;
}

static bool add_regret_plot(const struct folder *folder, const struct figure *figure,
                            const struct sheet *sheet, struct text *out)
{
    bool sweep = figure->x == FIGURE_SWEEP;
    struct plot plot = {sheet,
                        0,
                        1,
                        (sheet->columns - 1) / 2,
                        2,
                        figure->title,
                        sheet->cell[0],
                        sweep ? "final cumulative regret" : "cumulative regret",
                        figure,
                        folder};
    return add_plot(&plot, out);
}

/* One panel for each attraction: "x at 0.1", then its posteriors, again and again. */
static bool add_density_plots(const struct folder *folder, const struct figure *figure,
                              const struct sheet *sheet, struct text *out)
{
    bool room = true;
    for (int x = 0, next; room && x < sheet->columns; x = next) {
        for (next = x + 1; next < sheet->columns && strncmp(sheet->cell[next], "x at ", 5) != 0;
             next++) {
        }
        char title[80];
        (void)snprintf(title, sizeof title, "attraction %.40s", sheet->cell[x] + 5);
        struct plot plot = {sheet,        x,         x + 1,  next - x - 1, 1, title,
                            "attraction", "density", figure, folder};
        room = add_plot(&plot, out);
    }
    return room;
}

/* ---- in words */

static void describe_regret(const struct figure *figure, const struct sheet *sheet,
                            struct text *out)
{
    size_t last = sheet->rows - 1;
    text_printf(out, "%s against %s, ",
                figure->x == FIGURE_SWEEP ? "Final cumulative regret" : "Cumulative regret",
                figure->x == FIGURE_SWEEP ? "the swept value" : "rounds");
    text_printf(out, "from %s to %s. At %s, from the highest: ", sheet_at(sheet, 0, 0),
                sheet_at(sheet, last, 0), sheet_at(sheet, last, 0));
    for (int i = 1; i + 1 < sheet->columns; i += 2) {
        text_printf(out, "%s%s ", i > 1 ? ", " : "", sheet->cell[i]);
        html_estimate(out, strtod(sheet_at(sheet, last, i), NULL),
                      strtod(sheet_at(sheet, last, i + 1), NULL));
    }
    text_add(out, ".");
}

static void describe_density(const struct folder *folder, struct text *out)
{
    text_add(out,
             "Posterior densities of one item, a panel for each attraction. Standard deviations: ");
    for (size_t i = 0; i < folder->n_posteriors; i++) {
        const struct posterior_row *row = &folder->posterior[i];
        text_printf(out, "%s%s at %s %.3f", i > 0 ? ", " : "", row->posterior, row->attraction,
                    row->value[1]);
    }
    text_add(out, ".");
}

/* ---- the figure */

void page_anchor(struct text *out, const char *experiment, const char *figure)
{
    text_printf(out, "%s%s%s", experiment, figure != NULL ? "-" : "", figure != NULL ? figure : "");
}

static void add_files(const struct report_experiment *experiment, const char *figure,
                      struct text *out)
{
    static const struct {
        const char *ending, *name;
    } files[] = {
        {"csv", "data"}, {"svg", "SVG"}, {"pdf", "PDF"}, {"png", "PNG"}, {"gp", "gnuplot script"}};
    text_add(out, "<p class=\"files\">");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        text_printf(out, "<a href=\"%s/%s.%s\">%s</a> ", experiment->name, figure, files[i].ending,
                    files[i].name);
    }
    text_printf(out, "<a href=\"%s/experiment.yaml\">experiment file</a></p>\n", experiment->name);
}

static void add_head(const struct report_experiment *experiment, const struct figure *figure,
                     struct text *out)
{
    text_add(out, "<figure class=\"figure\" id=\"");
    page_anchor(out, experiment->name, figure->file);
    text_add(out, "\">\n<h3>");
    html_text(out, figure->title);
    text_add(out,
             figure->label != NULL ? " <span class=\"label\">" : " <span class=\"label beyond\">");
    html_text(out, figure->label != NULL ? figure->label : "not in the paper");
    text_add(out, "</span></h3>\n");
}

/* The plots and the drawn picture; false: one of the files is not there. */
static bool add_picture(const struct report_experiment *experiment, const struct figure *figure,
                        const struct sheet *sheet, struct text *out)
{
    const struct folder *folder = &experiment->folder;
    struct text svg = {0}, words = {0};
    char name[128];
    bool there = snprintf(name, sizeof name, "%s.svg", figure->file) < (int)sizeof name &&
                 file_read_in(experiment->path, name, &svg, NULL) == OLTR_OK && svg.length > 0;
    if (there) {
        bool room = folder->manifest.is_concentration
                        ? add_density_plots(folder, figure, sheet, out)
                        : add_regret_plot(folder, figure, sheet, out);
        out->failed = out->failed || !room;
        if (folder->manifest.is_concentration)
            describe_density(folder, &words);
        else
            describe_regret(figure, sheet, &words);
        text_add(out, "<img class=\"still\" width=\"960\" src=\"");
        html_svg(out, svg.bytes);
        text_add(out, "\" alt=\"");
        html_text(out, words.bytes != NULL ? words.bytes : "");
        text_add(out, "\">\n<figcaption>");
        html_text(out, figure->caption != NULL ? figure->caption : "");
        text_add(out, "<details class=\"words\"><summary>In words</summary><p>");
        html_text(out, words.bytes != NULL ? words.bytes : "");
        text_add(out, "</p></details></figcaption>\n");
    }
    text_free(&svg);
    text_free(&words);
    return there;
}

oltr_status page_figure(const struct report_experiment *experiment, const struct figure *figure,
                        struct text *out, uint32_t *missing, oltr_error *error)
{
    struct sheet sheet;
    add_head(experiment, figure, out);
    bool shown = sheet_read(experiment->path, figure->file, &sheet) &&
                 add_picture(experiment, figure, &sheet, out);
    if (shown) {
        add_files(experiment, figure->file, out);
    } else {
        ++*missing;
        text_add(out, "<p class=\"trouble\">This figure was not drawn; <code>oltr plot</code> on "
                      "its folder draws "
                      "it.</p>\n");
    }
    page_claims(experiment, figure->file, out);
    text_add(out, "</figure>\n");
    sheet_free(&sheet);
    return out->failed ? set_error(error, OLTR_ENOMEM, "index.html: out of memory") : OLTR_OK;
}
