/* prior_figure.c - see prior_figure.h.  Both scripts share their first and last lines. */
#include "report/figures/prior_figure.h"

#include "report/figures/figure.h"
#include "report/figures/gnuplot_text.h"
#include "report/figures/gnuplot.h"

#include <math.h>
#include <stdio.h>

enum { SIDE = 560, WIDTH = 860, HEIGHT = 480 };

static void begin(struct text *out, const char *file, const char *title, int width, int height)
{
    gnuplot_head(out, file, title);
    text_printf(out, "data  = '%s.csv'\nwidth = 2.2   # of the lines\n", file);
    gnuplot_formats(out, file, width, height);
    text_add(out, "    set title ");
    gnuplot_string(out, title);
    text_add(out, " font ',15'\n");
    gnuplot_look(out);
}

static oltr_status finish(const char *folder, const char *file, struct text *script,
                          struct text *data, oltr_error *error)
{
    text_add(script, "}\nset output\n");
    oltr_status status = gnuplot_draw(folder, file, script, data, error);
    text_free(script);
    text_free(data);
    return status;
}

oltr_status prior_draw_calibration(const char *folder, const struct prior_bin *bin, uint32_t n,
                                   oltr_error *error)
{
    struct text script = {0}, data = {0};
    double high = 0.01;
    text_add(&data, "score,attraction,se,documents\n");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&data, "%.9g,%.9g,%.9g,%u\n", bin[i].score, bin[i].attraction, bin[i].se,
                    bin[i].documents);
        high = fmax(high, fmax(bin[i].score, bin[i].attraction + bin[i].se));
    }
    high = fmin(1, high * 1.06);
    begin(&script, "calibration", "Calibration of the prior", SIDE, SIDE);
    text_printf(
        &script,
        "    set size square\n    set key top left Left reverse samplen 2\n"
        "    set xlabel 'mean score'\n    set ylabel 'mean attraction'\n"
        "    set xrange [0:%.6g]\n    set yrange [0:%.6g]\n    set xtics autofreq\n    set ytics "
        "autofreq\n"
        "    plot x with lines linecolor rgb '#666666' linewidth 1 dashtype (4,4) title "
        "'calibrated', \\\n"
        "         data skip 1 using 1:2:3 with yerrorbars linecolor rgb '#0072B2' linewidth width "
        "pointtype 7 pointsize 0.8 title 'a tenth of the documents ± 1 se'\n",
        high, high);
    return finish(folder, "calibration", &script, &data, error);
}

static void add_curve(struct text *out, int column, const char *colour, const char *dash,
                      const char *title)
{
    text_printf(out,
                "%sdata skip 1 using ($1 > 0 ? $1 : NaN):%d with lines linecolor rgb '%s' "
                "linewidth width dashtype %s title ",
                column > 2 ? ", \\\n         " : "    plot ", column, colour, dash);
    gnuplot_string(out, title);
}

oltr_status prior_draw_errors(const char *folder, const struct prior_error *point, uint32_t n,
                              double claimed, double honest, oltr_error *error)
{
    struct text script = {0}, data = {0};
    char title[80];
    double last = 1;
    text_add(&data, "observations,as it stands,honest size,base rate,flat\n");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&data, "%.9g,%.9g,%.9g,%.9g,%.9g\n", point[i].observations, point[i].prior,
                    point[i].honest, point[i].base, point[i].flat);
        last = fmax(last, point[i].observations);
    }
    begin(&script, "observations", "What the prior is worth", WIDTH, HEIGHT);
    text_printf(&script,
                "    set key top right Left reverse samplen 3\n    set xlabel 'observations of "
                "each document'\n"
                "    set ylabel 'error of the posterior mean (rms)'\n    set logscale xy\n    set "
                "xrange [1:%.6g]\n"
                "    set yrange [*:*]\n    set xtics autofreq\n    set ytics autofreq\n",
                last);
    (void)snprintf(title, sizeof title, "the prior as it stands, size %.4g", claimed);
    add_curve(&script, 2, "#0072B2", "1", title);
    (void)snprintf(title, sizeof title, "with its honest size, %.3g", honest);
    add_curve(&script, 3, "#009E73", "(12,4)", title);
    (void)snprintf(title, sizeof title, "the base rate for every document, size %.4g", claimed);
    add_curve(&script, 4, "#CC79A7", "(12,4,3,4)", title);
    add_curve(&script, 5, "#D55E00", "(4,3)", "no prior: Beta(1,1)");
    text_add(&script, "\n");
    return finish(folder, "observations", &script, &data, error);
}
