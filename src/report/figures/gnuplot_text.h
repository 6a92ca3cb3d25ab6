/* gnuplot_text.h - strings of other people in a gnuplot script: titles, labels of policies, swept
 * values, names of files. Every one of them goes through here. */
#ifndef OLTR_REPORT_FIGURES_GNUPLOT_TEXT_H
#define OLTR_REPORT_FIGURES_GNUPLOT_TEXT_H

#include "engine/base/text.h"

/* Adds `string` as a gnuplot string that shows exactly these characters; what cannot be shown in
 * one line of an SVG is replaced: control characters by blanks, bytes that are not UTF-8 by
 * U+FFFD. */
void gnuplot_string(struct text *out, const char *string);

/* The same as the label of a tic, where gnuplot would take %g for the place of its number. */
void gnuplot_tic(struct text *out, const char *label);

#endif
