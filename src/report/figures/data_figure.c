/* data_figure.c - see data_figure.h.
 *
 * Four panels.  Above: the share of each label, and the number of documents of a query.  Below, one
 * thin column for each feature: the range of its values (all, the middle 90 %, the median, on a
 * logarithmic scale with both signs), and the share of zeros.
 *
 * The data is one CSV file of three tables with two blank lines between them; gnuplot calls them
 * index 0, 1, 2. */
#include "report/figures/data_figure.h"

#include "report/figures/figure.h"
#include "report/figures/gnuplot_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1000, HEIGHT = 860, MOST_BINS = 40 };

/* ---- the data */

static void write_labels(const struct description *d, struct text *out)
{
    text_add(out, "label,rows,percent\n");
    for (int g = 0; g <= d->largest_grade; g++) {
        text_printf(out, "%d,%llu,%.4g\n", g, (unsigned long long)d->grade[g],
                    d->rows > 0 ? 100 * (double)d->grade[g] / d->rows : 0);
    }
}

/* The width of a bin: 1, 2 or 5 times a power of ten. */
static uint32_t bin_width(uint32_t most)
{
    static const uint32_t lead[] = {1, 2, 5};
    for (uint32_t power = 1;; power *= 10) {
        for (int i = 0; i < 3; i++)
            if (most / (lead[i] * power) < MOST_BINS)
                return lead[i] * power;
    }
}

static void write_sizes(const oltr_dataset *dataset, const struct description *d, struct text *out)
{
    uint32_t width = bin_width(d->most), count[MOST_BINS] = {0};
    for (uint32_t q = 0; q < dataset->n_queries; q++)
        count[(dataset->first_row[q + 1] - dataset->first_row[q]) / width]++;
    text_add(out, "\n\ndocuments,queries\n");
    for (uint32_t i = 0; i <= d->most / width; i++)
        text_printf(out, "%.9g,%u\n", (i + (width > 1 ? 0.5 : 0)) * width, count[i]);
}

/* sign(x) log10(1 + |x|): decades of either sign. */
static double decades(float x)
{
    return copysign(log10(1 + fabs((double)x)), (double)x);
}

static void write_columns(const struct description *d, struct text *out)
{
    text_add(out, "\n\nfeature,low,p05,median,p95,high,zeros\n");
    for (uint32_t j = 0; j < d->dim; j++) {
        const struct described_column *c = &d->column[j];
        text_printf(out, "%u,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n", j + 1, decades(c->low),
                    decades(c->p05), decades(c->median), decades(c->p95), decades(c->high),
                    d->rows > 0 ? 100 * (double)c->zeros / d->rows : 0);
    }
}

/* ---- the script */

static void panel(struct text *out, double left, double right, double bottom, double top)
{
    text_printf(out,
                "    set lmargin at screen %.3f\n    set rmargin at screen %.3f\n    set bmargin "
                "at screen %.3f\n"
                "    set tmargin at screen %.3f\n",
                left, right, bottom, top);
}

static void add_labels(const struct description *d, struct text *out)
{
    double most = 0;
    for (int g = 0; g <= d->largest_grade; g++)
        most = fmax(most, d->rows > 0 ? 100 * (double)d->grade[g] / d->rows : 0);
    panel(out, 0.085, 0.44, 0.69, 0.89);
    text_add(
        out,
        "    set title 'labels' font ',13'\n    set xlabel 'label'\n    set ylabel 'rows (%)'\n");
    text_printf(out,
                "    set xrange [-0.6:%.1f]\n    set yrange [0:%.4g]\n    set xtics 1\n    set "
                "ytics autofreq\n",
                d->largest_grade + 0.6, most * 1.2);
    text_add(out,
             "    plot data index 0 every ::1 using 1:3 with boxes linecolor rgb blue fillstyle "
             "solid 1 noborder, \\\n         data index 0 every ::1 using 1:3:(sprintf('%.3g %%', "
             "$3)) with labels offset 0,0.7 textcolor rgb '#333333' font ',11'\n");
}

static void add_sizes(const struct description *d, struct text *out)
{
    panel(out, 0.56, 0.975, 0.69, 0.89);
    text_add(out, "    set title 'documents of a query' font ',13'\n    set xlabel 'documents'\n"
                  "    set ylabel 'queries'\n    set xtics autofreq\n");
    text_printf(out,
                "    set boxwidth %u\n    set xrange [0:%u]\n    set yrange [0:*]\n"
                "    set offsets 0, 0, graph 0.2, 0\n", /* the mean is written above the bars */
                bin_width(d->most), (d->most / bin_width(d->most) + 1) * bin_width(d->most));
    text_printf(out,
                "    set arrow 1 from %.6g, graph 0 to %.6g, graph 1 nohead linecolor rgb orange "
                "linewidth 1.5 dashtype (6,4) front\n"
                "    set label 1 'mean %.1f' at %.6g, graph 0.92 left offset 0.8,0 textcolor rgb "
                "orange font ',11' front\n",
                d->mean, d->mean, d->mean, d->mean);
    text_add(out, "    plot data index 1 every ::1 using 1:2 with boxes linecolor rgb blue "
                  "fillstyle solid 1 border rgb 'white'\n    unset arrow 1\n    unset label 1\n"
                  "    unset offsets\n");
}

/* A tic at the value and, with a minus sign, at its negative, where they are in the range. */
static void add_tic_pair(struct text *out, const char *label, double value, double low, double high)
{
    double at = log10(1 + value);
    if (at <= high)
        text_printf(out, ", '%s' %.6g", label, at);
    if (-at >= low)
        text_printf(out, ", '−%s' %.6g", label, -at);
}

/* Powers of ten, as many as are readable; round numbers in a narrow range. */
static void add_value_tics(const struct description *d, struct text *out)
{
    static const char *const power[] = {"",    "10",  "100", "10³", "10⁴",
                                        "10⁵", "10⁶", "10⁷", "10⁸", "10⁹"};
    static const double small[] = {0.1, 0.25, 0.5, 1, 2, 5};
    enum { N_POWERS = sizeof power / sizeof *power, N_SMALL = sizeof small / sizeof *small };
    double low = decades(d->low), high = decades(d->high);
    int step = (int)((high - low) / 8) + 1;
    char label[16];
    text_add(out, "    set ytics ('0' 0");
    for (int i = 0; i < N_SMALL && high - low < 1.1; i++) {
        (void)snprintf(label, sizeof label, "%g", small[i]);
        add_tic_pair(out, label, small[i], low, high);
    }
    for (int i = step; i <= fmax(high, -low); i += step) {
        (void)snprintf(label, sizeof label, "1e%d", i);
        add_tic_pair(out, i < N_POWERS ? power[i] : label, pow(10, i), low, high);
    }
    text_add(out, ")\n");
}

/* Boxes between two columns of the table. */
static void add_boxes(struct text *out, int low, int high, const char *colour)
{
    text_printf(out,
                "data index 2 every ::1 using 1:%d:($1-0.4):($1+0.4):%d:%d with boxxyerror "
                "linecolor rgb %s fillstyle solid 1 noborder, \\\n         ",
                low, low, high, colour);
}

static void add_columns(const struct description *d, struct text *out)
{
    panel(out, 0.085, 0.975, 0.315, 0.555);
    text_add(
        out,
        "    set title 'where the values of each feature lie: all of them, the middle 90 %, the "
        "median' font ',13'\n    unset xlabel\n    set ylabel 'value'\n    set boxwidth 0.8\n");
    text_printf(out, "    set xrange [0:%u]\n    set yrange [*:*]\n    set format x ''\n",
                d->dim + 1);
    add_value_tics(d, out);
    text_add(out, "    plot ");
    add_boxes(out, 2, 6, "pale");
    add_boxes(out, 3, 5, "blue");
    text_add(out, "data index 2 every ::1 using 1:4 with points pointtype 7 pointsize dot "
                  "linecolor rgb orange\n");
    panel(out, 0.085, 0.975, 0.085, 0.245);
    text_add(out, "    set title 'how many are zero' font ',13'\n    set xlabel 'feature'\n    set "
                  "ylabel 'zeros (%)'\n"
                  "    set yrange [0:100]\n    set ytics 25\n    set format x '%g'\n"
                  "    plot data index 2 every ::1 using 1:7 with boxes linecolor rgb blue "
                  "fillstyle solid 1 noborder\n");
}

static void write_script(const char *file, const char *title, const struct description *d,
                         struct text *out)
{
    gnuplot_head(out, file, title);
    text_printf(out,
                "unset title\ndata   = '%s.csv'\nblue   = '#2B83BA'\npale   = '#CFE0EC'\norange = "
                "'#D55E00'\n"
                "dot    = %.2f   # the size of a median\n",
                file, fmin(0.8, 0.25 + 15.0 / d->dim));
    gnuplot_formats(out, file, WIDTH, HEIGHT);
    text_add(out, "    set multiplot title ");
    gnuplot_string(out, title);
    text_add(
        out,
        " font ',15'\n    unset key\n    set tics\n    set boxwidth 0.72\n    set format x '%g'\n");
    gnuplot_look(out);
    add_labels(d, out);
    add_sizes(d, out);
    add_columns(d, out);
    text_add(out, "    unset multiplot\n}\nset output\n");
}

oltr_status data_figure_script(const char *file, const char *title, const oltr_dataset *dataset,
                               const struct description *d, struct text *script, struct text *data,
                               oltr_error *error)
{
    write_labels(d, data);
    write_sizes(dataset, d, data);
    write_columns(d, data);
    write_script(file, title, d, script);
    return script->failed || data->failed ? set_error(error, OLTR_ENOMEM, "%s: out of memory", file)
                                          : OLTR_OK;
}
