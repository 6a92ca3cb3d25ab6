/* forest_figure.c - see forest_figure.h.  Rows are numbered from the top; each group has a line of
 * its own above its rows. */
#include "report/figures/forest_figure.h"

#include "engine/base/error.h"
#include "report/figures/gnuplot.h"
#include "report/figures/gnuplot_text.h"
#include "report/figures/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 860, TOP_AND_BOTTOM = 130, LINE = 22 };

static bool begins_group(const struct forest *f, uint32_t i)
{
    return i == 0 || strcmp(f->row[i].group, f->row[i - 1].group) != 0;
}

static uint32_t count_groups(const struct forest *f)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < f->n; i++)
        groups += begins_group(f, i);
    return groups;
}

/* What is drawn of a row. */
enum part { AS_FULL, AS_OPEN, AS_INTERVAL };

static bool has_part(const struct forest_row *row, enum part part)
{
    if (!isfinite(row->value))
        return false;
    return part == AS_INTERVAL ? isfinite(row->low) && isfinite(row->high)
                               : row->doubtful == (part == AS_OPEN);
}

static bool group_has(const struct forest *f, uint32_t group, enum part part)
{
    uint32_t g = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        g += begins_group(f, i);
        if (g == group + 1 && has_part(&f->row[i], part))
            return true;
    }
    return false;
}

/* group,place,value,low,high,doubtful: places fall from the top, a line for each group. */
static void write_data(const struct forest *f, uint32_t lines, struct text *out)
{
    uint32_t group = 0, line = lines;
    text_add(out, "group,place,value,low,high,doubtful\n");
    for (uint32_t i = 0; i < f->n; i++) {
        const struct forest_row *row = &f->row[i];
        group += begins_group(f, i);
        line -= begins_group(f, i) ? 2 : 1;
        const double value[] = {row->value, row->low, row->high};
        text_printf(out, "%u,%u", group - 1, line + 1);
        for (int j = 0; j < 3; j++)
            if (isfinite(value[j]))
                text_printf(out, ",%.9g", value[j]);
            else
                text_add(out, ",NaN");
        text_printf(out, ",%d\n", row->doubtful);
    }
}

/* The names of the rows on the axis, those of the groups above them. */
static void write_names(const struct forest *f, uint32_t lines, const struct style *style,
                        struct text *out)
{
    uint32_t line = lines, group = 0;
    text_add(out, "    set ytics (");
    for (uint32_t i = 0; i < f->n; i++) {
        line -= begins_group(f, i) ? 2 : 1;
        gnuplot_tic(out, f->row[i].name);
        text_printf(out, " %u%s", line + 1, i + 1 < f->n ? ", " : "");
    }
    text_add(out, ") scale 0 font ',11'\n");
    line = lines;
    for (uint32_t i = 0; i < f->n; i++) {
        if (begins_group(f, i)) {
            text_printf(out, "    set label %u ", ++group);
            gnuplot_string(out, f->row[i].group);
            text_printf(out,
                        " at graph 0, first %u left offset 0.6,0 font ',12' textcolor rgb '%s'\n",
                        line, style[group - 1].colour);
            line--;
        }
        line--;
    }
}

static void add_range(double value, double *low, double *high)
{
    if (isfinite(value)) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

/* The smallest and the largest number of the figure. */
static void find_range(const struct forest *f, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    add_range(f->low, low, high);
    add_range(f->high, low, high);
    add_range(f->value, low, high);
    for (uint32_t i = 0; i < f->n; i++) {
        add_range(f->row[i].value, low, high);
        add_range(f->row[i].low, low, high);
        add_range(f->row[i].high, low, high);
    }
}

static bool is_right(const struct forest *f, double value)
{
    double low, high;
    find_range(f, &low, &high);
    return value > low / 2 + high / 2;
}

static void write_range(const struct forest *f, struct text *out)
{
    double low, high;
    find_range(f, &low, &high);
    double room = high > low ? 0.04 * (high - low) : 0.05 * fabs(high) + 1e-9;
    if (isfinite(low))
        text_printf(out, "    set xrange [%.9g:%.9g]\n", low - room, high + room);
}

/* The band and the line of what was measured. */
static void write_measured(const struct forest *f, uint32_t lines, struct text *out)
{
    if (isfinite(f->low) && isfinite(f->high))
        text_printf(out,
                    "    set object 1 rectangle from %.9g, graph 0 to %.9g, graph 1 behind "
                    "fillcolor rgb '#E9EEF2' fillstyle solid 1 noborder\n",
                    f->low, f->high);
    text_printf(out,
                "    plot '+' using (%.9g):(%.1f):(0):(%.1f) every ::0::0 with vectors nohead "
                "linecolor rgb '#555555' linewidth 1.4 dashtype (4,3) title ",
                f->value, 0.4, lines + 0.2);
    gnuplot_string(out, f->measured);
}

static void write_circles(uint32_t group, enum part part, int type, const char *colour,
                          struct text *out)
{
    text_printf(out,
                ", \\\n         data skip 1 using ($1 == %u && $6 == %d ? $3 : NaN):2 with points "
                "linecolor rgb '%s' linewidth 1.6 pointtype %d pointsize 0.8 notitle",
                group, part == AS_OPEN, colour, type);
}

/* What a row lacks, in words beside its point; without a point at the left. */
static void write_lacks(const struct forest *f, uint32_t lines, struct text *out)
{
    uint32_t line = lines;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct forest_row *row = &f->row[i];
        line -= begins_group(f, i) ? 2 : 1;
        if (!isfinite(row->value))
            text_printf(out, "    set label 'no estimate' at graph 0, first %u left offset 0.6,0",
                        line + 1);
        else if (!has_part(row, AS_INTERVAL))
            text_printf(out, "    set label 'no interval' at first %.9g, first %u %s", row->value,
                        line + 1, is_right(f, row->value) ? "right offset -1,0" : "offset 1,0");
        else
            continue;
        text_add(out, " font ',10' textcolor rgb '#555555'\n");
    }
}

/* The interval of a row without one would be drawn from the edge, so such rows have a point only.
 * Open points are white discs with a rim: they cover an interval that is narrower. */
static void write_points(const struct forest *f, uint32_t groups, const struct style *style,
                         struct text *out)
{
    for (uint32_t g = 0; g < groups; g++) {
        const char *colour = style[g].colour;
        if (group_has(f, g, AS_INTERVAL))
            text_printf(out,
                        ", \\\n         data skip 1 using ($1 == %u && $4 <= $5 ? $3 : "
                        "NaN):2:4:5 with xerrorbars linecolor rgb '%s' linewidth 1.6 pointtype 7 "
                        "pointsize 0 notitle",
                        g, colour);
        if (group_has(f, g, AS_FULL))
            write_circles(g, AS_FULL, 7, colour, out);
        if (group_has(f, g, AS_OPEN)) {
            write_circles(g, AS_OPEN, 7, "#FFFFFF", out);
            write_circles(g, AS_OPEN, 6, colour, out);
        }
    }
}

static bool any_doubt(const struct forest *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->row[i].doubtful)
            return true;
    return false;
}

static void write_script(const char *name, const struct forest *f, const struct style *style,
                         struct text *out)
{
    uint32_t groups = count_groups(f), lines = f->n + groups;
    int height = TOP_AND_BOTTOM + LINE * (int)(lines > 4 ? lines : 4);
    gnuplot_head(out, name, f->title);
    text_printf(out, "data = '%s.csv'\n", name);
    gnuplot_formats(out, name, WIDTH, height);
    text_add(out, "    set title ");
    gnuplot_string(out, f->title);
    text_add(out, " font ',15' offset 0,1.4\n");
    gnuplot_look(out);
    text_add(out, "    set border 1\n    unset grid\n    set grid xtics back linetype 1 linecolor "
                  "rgb '#E4E4E4' linewidth 0.8\n    set samples 2\n    set xlabel ");
    gnuplot_string(out, f->axis);
    text_printf(out,
                "\n    set yrange [0.4:%.1f]\n    set tmargin 5\n    set bmargin 4\n    set "
                "rmargin 3\n    set key at graph 0.5, screen %.4f center top horizontal Left "
                "reverse samplen 2 font ',11'\n",
                lines + 0.8, 1 - 44.0 / height);
    write_names(f, lines, style, out);
    write_lacks(f, lines, out);
    write_range(f, out);
    write_measured(f, lines, out);
    if (any_doubt(f))
        text_add(out,
                 ", \\\n         NaN with points linecolor rgb '#555555' pointtype 6 title 'not "
                 "to be trusted: see the warnings'");
    write_points(f, groups, style, out);
    text_add(out, "\n}\nset output\n");
}

oltr_status forest_figure_draw(const char *folder, const char *name, const struct forest *forest,
                               oltr_error *error)
{
    uint32_t groups = count_groups(forest), g = 0;
    struct text script = {0}, data = {0};
    const char **label = calloc(groups + 1, sizeof *label);
    struct style *style = calloc(groups + 1, sizeof *style);
    oltr_status status = label && style ? OLTR_OK : set_error(error, OLTR_ENOMEM, "out of memory");
    if (status == OLTR_OK) {
        for (uint32_t i = 0; i < forest->n; i++)
            if (begins_group(forest, i))
                label[g++] = forest->row[i].group;
        style_assign(label, groups, style);
        write_script(name, forest, style, &script);
        write_data(forest, forest->n + groups, &data);
        status = gnuplot_draw(folder, name, &script, &data, error);
    }
    free(label);
    free(style);
    text_free(&script);
    text_free(&data);
    return status;
}
