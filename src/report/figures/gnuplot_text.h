/* gnuplot_text.h - pieces of a gnuplot script: strings from files (titles, labels, swept values),
 * tics, and what all scripts have. */
#ifndef OLTR_REPORT_FIGURES_GNUPLOT_TEXT_H
#define OLTR_REPORT_FIGURES_GNUPLOT_TEXT_H

#include "engine/base/text.h"

/* Adds `string` as a gnuplot string that shows exactly these characters; what cannot be shown in
 * one line of an SVG is replaced: control characters by blanks, bytes that are not UTF-8 by
 * U+FFFD. */
void gnuplot_string(struct text *out, const char *string);

/* The same as the label of a tic, where gnuplot would take %g for the place of its number. */
void gnuplot_tic(struct text *out, const char *label);

/* 10000 as "10,000"; numbers that are not whole, or small, as they are. */
void gnuplot_grouped(double value, char *out, size_t size);

/* One tic, and the tics of an axis at 1, 2 or 5 times a power of ten. */
void gnuplot_tic_at(struct text *out, double value, bool first);
void gnuplot_tics(struct text *out, char axis, double low, double high);

/* The parts that all scripts share. */
void gnuplot_head(struct text *out, const char *file, const char *title);
void gnuplot_look(struct text *out); /* border, grid, tics */
/* Opens the loop over svg, png and pdf. */
void gnuplot_formats(struct text *out, const char *file, int width, int height);

#endif
