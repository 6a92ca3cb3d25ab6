/* density_figure.c - the picture of density.csv: one panel for each attraction, the same scales in
 * all of them, and one legend below. */
#include "report/figures/density.h"

#include "engine/base/error.h"
#include "report/figures/figure.h"
#include "report/figures/gnuplot_text.h"
#include "report/figures/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PANELS = 8, PANEL_WIDTH = 380, HEIGHT = 430 };

static const struct csv_column columns[] = {
    {"attraction", CSV_TEXT, offsetof(struct density_row, attraction)},
    {"posterior", CSV_TEXT, offsetof(struct density_row, posterior)},
    {"x", CSV_NUMBER, offsetof(struct density_row, x)},
    {"density", CSV_NUMBER, offsetof(struct density_row, density)}};

const struct density_row *density_at(const struct density_panels *panels, size_t panel,
                                     size_t posterior, size_t point)
{
    return &panels->row[(panel * panels->n_posteriors + posterior) * panels->n_points + point];
}

/* ---- reading */

/* The sizes, from the first rows: those of the first attraction, and of its first posterior. */
static void measure(struct density_panels *panels)
{
    const struct density_row *row = panels->row;
    size_t of_panel = 0;
    for (; of_panel < panels->count; of_panel++) {
        if (strcmp(row[of_panel].attraction, row[0].attraction) != 0)
            break;
        panels->n_points +=
            panels->n_points == of_panel && strcmp(row[of_panel].posterior, row[0].posterior) == 0;
    }
    panels->n_posteriors = of_panel / (panels->n_points > 0 ? panels->n_points : 1);
    panels->n_panels = panels->count / (of_panel > 0 ? of_panel : 1);
    for (size_t i = 0; i < panels->count; i++)
        panels->high = fmax(panels->high, row[i].density);
}

/* Does every row have the names of its panel and posterior? */
static bool is_regular(const struct density_panels *panels)
{
    if (panels->count == 0 || panels->n_panels > MAX_PANELS ||
        panels->n_posteriors > MAX_POSTERIORS ||
        panels->count != panels->n_panels * panels->n_posteriors * panels->n_points)
        return false;
    for (size_t i = 0; i < panels->count; i++) {
        size_t series = i / panels->n_points;
        const struct density_row *row = &panels->row[i];
        size_t panel = series / panels->n_posteriors, posterior = series % panels->n_posteriors;
        if (!number_is_plain(row->attraction) || !text_is_line(row->posterior) ||
            strcmp(row->posterior, density_at(panels, 0, posterior, 0)->posterior) != 0 ||
            strcmp(row->attraction, density_at(panels, panel, 0, 0)->attraction) != 0)
            return false;
    }
    return true;
}

oltr_status density_read(const char *folder, struct density_panels *panels, oltr_error *error)
{
    memset(panels, 0, sizeof *panels);
    oltr_status status = csv_read(folder, "density.csv", columns, sizeof columns / sizeof *columns,
                                  sizeof *panels->row, &panels->file, error);
    if (status != OLTR_OK)
        return status;
    panels->row = panels->file.row;
    panels->count = panels->file.count;
    measure(panels);
    return is_regular(panels)
               ? OLTR_OK
               : set_error(error, OLTR_EDATA,
                           "%s/density.csv is broken; run the experiment again to get a good file",
                           folder);
}

void density_styles(const struct density_panels *panels, struct style style[MAX_POSTERIORS])
{
    const char *label[MAX_POSTERIORS];
    for (size_t q = 0; q < panels->n_posteriors; q++)
        label[q] = density_at(panels, 0, q, 0)->posterior;
    style_assign(label, panels->n_posteriors, style);
}

/* ---- the data: for each panel its x and one column for each posterior */

static void write_heading(const struct density_panels *panels, struct text *out)
{
    for (size_t p = 0; p < panels->n_panels; p++) {
        text_printf(out, "%sx at %s", p > 0 ? "," : "", density_at(panels, p, 0, 0)->attraction);
        for (size_t q = 0; q < panels->n_posteriors; q++) {
            text_add(out, ",");
            csv_field(out, density_at(panels, p, q, 0)->posterior);
        }
    }
    text_add(out, "\n");
}

static void write_data(const struct density_panels *panels, struct text *out)
{
    write_heading(panels, out);
    for (size_t i = 0; i < panels->n_points; i++) {
        for (size_t p = 0; p < panels->n_panels; p++) {
            text_printf(out, "%s%.9g", p > 0 ? "," : "", density_at(panels, p, 0, i)->x);
            for (size_t q = 0; q < panels->n_posteriors; q++)
                text_printf(out, ",%.9g", density_at(panels, p, q, i)->density);
        }
        text_add(out, "\n");
    }
}

/* ---- the script */

static void add_curves(const struct density_panels *panels, size_t panel, const struct style *style,
                       struct text *out)
{
    text_add(out, "    plot ");
    for (size_t pass = 0; pass < 2; pass++) { /* fills under lines */
        for (size_t q = 0; q < panels->n_posteriors; q++) {
            size_t x = 1 + panel * (panels->n_posteriors + 1);
            text_printf(out, "%sdata skip 1 using %zu:%zu with ",
                        pass + q > 0 ? ", \\\n         " : "", x, x + 1 + q);
            if (pass == 0) {
                text_printf(out,
                            "filledcurves y1=0 linecolor rgb '%s' fillstyle transparent solid 0.12 "
                            "noborder",
                            style[q].colour);
            } else {
                text_printf(out, "lines linecolor rgb '%s' linewidth width dashtype %s",
                            style[q].colour, style[q].dash);
            }
            text_add(out, " notitle");
        }
    }
    text_add(out, "\n");
}

static void add_panel(const struct density_panels *panels, size_t panel, const struct style *style,
                      struct text *out)
{
    const struct density_row *first = density_at(panels, panel, 0, 0),
                             *last = density_at(panels, panel, 0, panels->n_points - 1);
    double left = 0.06, width = (1 - left - 0.02) / (double)panels->n_panels;
    double from = left + width * (double)panel;
    text_printf(out, "    set lmargin at screen %.4f\n    set rmargin at screen %.4f\n", from,
                from + width - 0.025);
    text_printf(out, "    set title 'ν = %s' font ',13'\n    set xrange [%.6g:%.6g]\n    ",
                first->attraction, first->x, last->x);
    gnuplot_tics(out, 'x', first->x, last->x);
    text_printf(out,
                "    set arrow 1 from %s, graph 0 to %s, graph 1 nohead linecolor rgb '#666666' "
                "linewidth 1 dashtype (4,4) back\n",
                first->attraction, first->attraction);
    text_add(out, panel == 0 ? "    set ylabel 'posterior density'\n"
                             : "    unset ylabel\n    set format y ''\n");
    add_curves(panels, panel, style, out);
}

/* A last plot without axes carries the legend, below all panels. */
static void add_legend(const struct density_panels *panels, const struct style *style,
                       struct text *out)
{
    text_add(
        out,
        "    set lmargin at screen 0\n    set rmargin at screen 1\n    set bmargin at screen 0\n"
        "    set tmargin at screen 0.11\n    unset title\n    unset xlabel\n    unset ylabel\n    "
        "unset tics\n"
        "    unset border\n    unset grid\n    unset arrow 1\n    unset label 1\n    set xrange "
        "[0:1]\n"
        "    set yrange [0:1]\n    set key at screen 0.5,0.055 center center horizontal maxrows 1 "
        "Left reverse samplen 3 width 2\n    plot ");
    for (size_t q = 0; q < panels->n_posteriors; q++) {
        text_printf(out, "%sNaN with lines linecolor rgb '%s' linewidth width dashtype %s title ",
                    q > 0 ? ", \\\n         " : "", style[q].colour, style[q].dash);
        gnuplot_string(out, density_at(panels, 0, q, 0)->posterior);
    }
    text_add(out, "\n");
}

static void write_script(const char *file, const char *title, const struct density_panels *panels,
                         struct text *out)
{
    struct style style[MAX_POSTERIORS];
    density_styles(panels, style);
    gnuplot_head(out, file, title);
    text_printf(out, "data  = '%s.csv'\nwidth = 2.2   # of the lines\n", file);
    gnuplot_formats(out, file, PANEL_WIDTH * (int)panels->n_panels, HEIGHT);
    text_add(out, "    set multiplot title ");
    gnuplot_string(out, title);
    text_add(out, " font ',15'\n    unset key\n    set xlabel 'attraction'\n    set format y '%g'\n"
                  "    set bmargin at screen 0.25\n    set tmargin at screen 0.80\n    set tics\n");
    gnuplot_look(out);
    text_printf(out, "    set yrange [0:%.6g]\n    set ytics autofreq\n", panels->high * 1.06);
    for (size_t p = 0; p < panels->n_panels; p++)
        add_panel(panels, p, style, out);
    add_legend(panels, style, out);
    text_add(out, "    unset multiplot\n}\nset output\n");
}

oltr_status density_script(const char *folder, const struct figure *figure, struct text *script,
                           struct text *data, oltr_error *error)
{
    struct density_panels panels;
    oltr_status status = density_read(folder, &panels, error);
    if (status == OLTR_OK) {
        write_script(figure->file, figure->title, &panels, script);
        write_data(&panels, data);
    }
    csv_free(&panels.file);
    return status;
}
