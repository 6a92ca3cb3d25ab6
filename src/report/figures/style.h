/* style.h - the colour, dash and point of a label, the same in every figure of the project. */
#ifndef OLTR_REPORT_FIGURES_STYLE_H
#define OLTR_REPORT_FIGURES_STYLE_H

#include <stddef.h>

struct style {
    char colour[8];   /* "#RRGGBB" */
    const char *dash; /* a gnuplot dash type */
    int point;        /* a gnuplot point type */
};

/* Styles for the labels of one experiment, in its order.  Labels the project knows have their fixed
 * style; "X (words)" and "X words" have a shade of the colour of X; others get the first free
 * colours, so the same experiment always looks the same. */
void style_assign(const char *const *label, size_t count, struct style *style);

#endif
