/* end_labels.c - see end_labels.h.
 *
 * The places are the solution of a small least-squares problem.  With u_i = place_i - i gap the
 * condition is that u rises, so the best u is an isotonic regression: neighbours that are out of
 * order are pooled into their mean until none are (pool adjacent violators).  Clamping u to an
 * interval keeps the order, and the result is still the best one inside it. */
#include "report/figures/end_labels.h"

#include "report/figures/gnuplot_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_LABELS = 24,
    FIRST_LABEL = 10 /* label 1 is the note */,
    LINE_HEIGHT = 17,
    LETTER_WIDTH = 9,
    TITLE_SIZE = 16,
    TITLE_LETTER_WIDTH = 11,
    LEADER = 22,
    BEYOND = 8 /* the free space behind the longest name */
};
static const double TOP = 0.9, BOTTOM = 0.125; /* the plot, in parts of the figure */

/* A run of places with one common u: their mean. */
struct pool {
    double sum;
    size_t count;
};

static double pool_mean(const struct pool *pool)
{
    return pool->sum / (double)pool->count;
}

static void spread_evenly(double *place, size_t count, double low, double high)
{
    for (size_t i = 0; i < count; i++)
        place[i] = low + (high - low) * (double)i / (double)(count - 1);
}

void spread_places(double *place, size_t count, double gap, double low, double high)
{
    struct pool *pool = calloc(count + 1, sizeof *pool);
    double room = high - low - gap * ((double)count - 1);
    size_t pools = 0, at = 0;
    if (count > 1 && (!pool || room < 0))
        spread_evenly(place, count, low, high);
    for (size_t i = 0; pool && room >= 0 && i < count; i++) {
        pool[pools++] = (struct pool){place[i] - gap * (double)i, 1};
        for (; pools > 1 && pool_mean(&pool[pools - 2]) > pool_mean(&pool[pools - 1]); pools--) {
            pool[pools - 2].sum += pool[pools - 1].sum;
            pool[pools - 2].count += pool[pools - 1].count;
        }
    }
    for (size_t p = 0; p < pools; p++)
        for (size_t i = 0; i < pool[p].count; i++, at++)
            place[at] = fmin(fmax(pool_mean(&pool[p]), low), low + room) + gap * (double)at;
    free(pool);
}

bool end_labels_fit(const struct drawing *drawing)
{
    return drawing->n_curves <= MOST_LABELS;
}

/* The end of a curve as a part of the height of the plot. */
static double end_height(const struct drawing *drawing, const struct curve *curve)
{
    double y = curve->point[curve->count - 1].y, low = drawing->axis_low, high = drawing->axis_high;
    double part =
        drawing->log_y ? log(fmax(y, low) / low) / log(high / low) : (y - low) / (high - low);
    return fmin(fmax(part, 0), 1);
}

static size_t letters(const char *string)
{
    size_t count = 0;
    while (*string) {
        size_t length = text_character(string);
        string += length > 0 ? length : 1;
        count++;
    }
    return count;
}

/* The left margin is as wide as the title of the axis and its longest number, which has the digits
 * of the largest power of ten. */
static double left_edge(const struct drawing *drawing, int width)
{
    char number[40];
    double high = fmax(drawing->axis_high, 1);
    gnuplot_grouped(pow(10, floor(log10(high))), number, sizeof number);
    return fmax((double)letters(number) * LETTER_WIDTH + 36, 84) / width;
}

/* The right margin is as wide as the longest name, but at most two fifths of the figure. */
static double right_edge(const struct drawing *drawing, int width)
{
    size_t most = 0;
    for (size_t i = 0; i < drawing->n_curves; i++) {
        size_t count = letters(drawing->curve[i].label);
        most = count > most ? count : most;
    }
    return fmax(1 - ((double)most * LETTER_WIDTH + LEADER + BEYOND) / width, 0.6);
}

/* A title that is longer than the figure gets a smaller font; it is centred above the plot. */
static void add_title_size(struct text *out, const char *title, double left, double right,
                           int width)
{
    double centre = (left + right) / 2, room = 2 * fmin(centre, 1 - centre) * width,
           wanted = (double)letters(title) * TITLE_LETTER_WIDTH;
    if (wanted > room)
        text_printf(out, "set title font ',%.3g'\n", TITLE_SIZE * room / wanted);
}

/* A name that is longer than the margin is cut, and ends with an ellipsis. */
static void add_name(struct text *out, const char *name, double right, int width)
{
    char cut[CURVE_LABEL_SIZE + 4];
    size_t room = (size_t)(((1 - right) * width - LEADER - BEYOND) / LETTER_WIDTH + 1e-6), size = 0;
    if (letters(name) <= room) {
        gnuplot_string(out, name);
        return;
    }
    for (size_t i = 0; i + 1 < room; i++) {
        size_t length = text_character(name + size);
        size += length > 0 ? length : 1;
    }
    (void)snprintf(cut, sizeof cut, "%.*s…", (int)size, name);
    gnuplot_string(out, cut);
}

/* The curves are sorted, the highest end first. */
void end_labels(const struct drawing *drawing, int width, int height, struct text *out)
{
    size_t count = drawing->n_curves;
    double place[MOST_LABELS], left = left_edge(drawing, width), right = right_edge(drawing, width);
    double tall = (TOP - BOTTOM) * height, leader = LEADER / ((right - left) * width);
    for (size_t i = 0; i < count; i++)
        place[i] = end_height(drawing, &drawing->curve[count - 1 - i]);
    spread_places(place, count, LINE_HEIGHT / tall, -0.04, 1.04);
    text_printf(out,
                "unset key\nset lmargin at screen %.4g\nset rmargin at screen %.4g\n"
                "set tmargin at screen %.4g\nset bmargin at screen %.4g\n",
                left, right, TOP, BOTTOM);
    add_title_size(out, drawing->figure->title, left, right, width);
    for (size_t i = 0; i < count; i++) {
        const struct curve *curve = &drawing->curve[i];
        const struct curve_point *end = &curve->point[curve->count - 1];
        double y = place[count - 1 - i];
        text_printf(out,
                    "set arrow from first %.12g,graph %.5g to graph %.5g,graph %.5g nohead "
                    "linecolor rgb '%s' linewidth 0.8\nset label %zu ",
                    end->x + curve_shift(drawing, curve), end_height(drawing, curve), 1 + leader, y,
                    curve->style.colour, FIRST_LABEL + i);
        add_name(out, curve->label, right, width);
        text_printf(out, " at graph %.5g,graph %.5g left textcolor rgb '%s'\n", 1 + leader * 1.25,
                    y, curve->style.colour);
    }
}
