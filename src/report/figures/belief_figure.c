/* belief_figure.c - see belief_figure.h.  gnuplot_draw() leaves five files; they are drawn into a
 * folder of their own beside the file, and the one that was asked for is moved out. */
#define _POSIX_C_SOURCE 200809L
#include "report/figures/belief_figure.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "report/figures/gnuplot.h"
#include "report/figures/gnuplot_text.h"
#include "report/io/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 860, TOP_AND_BOTTOM = 150, BAR = 19 };
static const char name[] = "belief";

/* ---- the script */

static void write_data(const struct belief_bar *bar, uint32_t n, struct text *out)
{
    text_add(out, "place,mean,sd,prior\n");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(out, "%u", n - i);
        const double value[] = {bar[i].mean, bar[i].sd, bar[i].prior};
        for (int j = 0; j < 3; j++)
            if (isfinite(value[j]))
                text_printf(out, ",%.9g", value[j]);
            else
                text_add(out, ",NaN");
        text_add(out, "\n");
    }
}

static bool has_priors(const struct belief_bar *bar, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(bar[i].prior))
            return true;
    return false;
}

static void write_script(const char *title, const struct belief_bar *bar, uint32_t n,
                         struct text *out)
{
    int height = TOP_AND_BOTTOM + BAR * (int)(n > 4 ? n : 4);
    gnuplot_head(out, name, title);
    text_printf(out, "data = '%s.csv'\nblue = '#2B83BA'\npale = '#CFE0EC'\norange = '#D55E00'\n",
                name);
    gnuplot_formats(out, name, WIDTH, height);
    text_add(out, "    set title ");
    gnuplot_string(out, title);
    text_add(out, " font ',15' offset 0,2.2\n");
    gnuplot_look(out);
    text_add(out, "    set ytics (");
    for (uint32_t i = 0; i < n; i++) {
        gnuplot_tic(out, bar[i].name);
        text_printf(out, " %u%s", n - i, i + 1 < n ? ", " : "");
    }
    text_printf(
        out,
        ") font ',11'\n    set yrange [0.4:%.1f]\n    set xlabel 'belief about the reward'\n"
        "    set tmargin 6\n    set bmargin 4\n    set rmargin 3\n"
        "    set key at graph 0.5, screen %.4f center top horizontal Left reverse samplen 1.5 "
        "width -1 font ',11'\n    unset grid\n"
        "    set grid xtics back linetype 1 linecolor rgb '#E4E4E4' linewidth 0.8\n",
        n + 0.6, 1 - 56.0 / height);
    text_add(out, "    plot data skip 1 using 2:1:($2-2*$3):($2+2*$3):($1-0.3):($1+0.3) with "
                  "boxxyerror linecolor rgb pale fillstyle solid 1 noborder title '± 2 sd', \\\n"
                  "         data skip 1 using 2:1:($2-$3):($2+$3):($1-0.3):($1+0.3) with "
                  "boxxyerror linecolor rgb blue fillstyle solid 1 noborder title '± 1 sd', \\\n"
                  "         data skip 1 using 2:1 with points pointtype 7 pointsize 0.6 linecolor "
                  "rgb 'black' title 'mean'");
    if (has_priors(bar, n))
        text_add(out, ", \\\n         data skip 1 using 4:1 with points pointtype 2 pointsize 0.8 "
                      "linewidth 1.6 linecolor rgb orange title 'mean of the prior'");
    text_add(out, "\n}\nset output\n");
}

/* ---- the file */

/* svg, png or pdf; NULL: another ending. */
static const char *ending_of(const char *file)
{
    static const char *const endings[] = {"svg", "png", "pdf"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && dot > file && i < 3; i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return endings[i];
    return NULL;
}

static void remove_folder(const char *folder)
{
    DIR *files = opendir(folder);
    for (const struct dirent *entry; files && (entry = readdir(files));)
        (void)unlinkat(dirfd(files), entry->d_name, 0); /* fails for `.` and `..` */
    if (files)
        (void)closedir(files);
    (void)rmdir(folder);
}

/* Draws in `folder` and moves the picture to its place. */
static oltr_status draw_in(const char *folder, const char *ending, const char *file,
                           const struct text *script, const struct text *data, oltr_error *error)
{
    char picture[sizeof name + 8];
    oltr_status status = gnuplot_draw(folder, name, script, data, error);
    if (status != OLTR_OK)
        return status;
    snprintf(picture, sizeof picture, "%s.%s", name, ending);
    char *from = file_join(folder, picture);
    int why = !from ? ENOMEM : rename(from, file) == 0 ? 0 : errno;
    free(from);
    return why == 0 ? OLTR_OK
                    : set_error(error, why == ENOMEM ? OLTR_ENOMEM : OLTR_EIO,
                                "%s: cannot write it: %s", file, strerror(why));
}

oltr_status belief_figure_draw(const char *file, const char *title, const struct belief_bar *bar,
                               uint32_t n, oltr_error *error)
{
    const char *ending = ending_of(file);
    struct text script = {0}, data = {0};
    if (!ending)
        return set_error(error, OLTR_EVALUE, "%s: a figure ends in .svg, .png or .pdf", file);
    size_t size = strlen(file) + sizeof ".XXXXXX";
    char *folder = malloc(size);
    if (!folder)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    snprintf(folder, size, "%s.XXXXXX", file);
    write_script(title, bar, n, &script);
    write_data(bar, n, &data);
    oltr_status status = mkdtemp(folder) ? draw_in(folder, ending, file, &script, &data, error)
                                         : set_error(error, OLTR_EIO, "%s: cannot write it: %s",
                                                     file, strerror(errno));
    if (access(folder, F_OK) == 0)
        remove_folder(folder);
    free(folder);
    text_free(&script);
    text_free(&data);
    return status;
}
