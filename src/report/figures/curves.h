/* curves.h - the curves of a figure: which rows of the results, under which names, in which
 * colours. */
#ifndef OLTR_REPORT_FIGURES_CURVES_H
#define OLTR_REPORT_FIGURES_CURVES_H

#include "report/figures/figure.h"
#include "report/figures/style.h"

enum { CURVE_LABEL_SIZE = 200 };

struct curve_point {
    double x, y, se;
};

struct curve {
    char label[CURVE_LABEL_SIZE];
    struct style style;
    bool is_bound;
    size_t order; /* among the curves, before sorting */
    size_t count, capacity;
    struct curve_point *point;      /* (count) x ascending */
    size_t read;                    /* points that drawing_next() has passed */
    const struct curve_point *here; /* the point at its x, or NULL */
};

struct drawing {
    const struct figure *figure;
    const struct figure_scene *scene;
    bool numeric;    /* the values of the swept key on the axis are numbers */
    uint32_t *order; /* (n_points) the points by ascending value of it */
    size_t n_curves;
    struct curve *curve;  /* (n_curves) the highest end first */
    double y_low, y_high; /* of all that is drawn; y_low is the smallest above zero */
    double x_low, x_high;
    bool log_x, log_y;          /* logarithmic axes */
    double axis_low, axis_high; /* of the y axis */
    uint64_t replications;      /* the fewest of any point drawn */
};

/* Free the drawing either way. */
oltr_status drawing_make(struct drawing *drawing, const struct figure *figure,
                         const struct figure_scene *scene, oltr_error *error);
void drawing_free(struct drawing *drawing);

/* Whether the points of a curve are joined.  Swept words have no order, so they are not, except
 * where the dash of a line is the value of a second key. */
bool drawing_is_joined(const struct drawing *drawing);
/* How far right of their place on the x axis the points of a curve are: 0 where they are joined. */
double curve_shift(const struct drawing *drawing, const struct curve *curve);

/* The titles of the axes. */
enum { AXIS_TITLE_SIZE = 120 };
const char *drawing_x_title(const struct drawing *drawing);
void drawing_y_title(const struct drawing *drawing, char out[AXIS_TITLE_SIZE]);

/* Goes to the next x that some curve has, and sets `here` of each curve: curves need not have the
 * same x values.  False at the end, and the next call begins again. */
bool drawing_next(struct drawing *drawing, double *x);

/* The x of a point of the sweep: its number, or the position of its value in the list. */
double sweep_place(const struct drawing *drawing, uint32_t position);

/* Whether this point is the first at its x (points that differ in the second key only have the same
 * one), and whether the axis has a tic at each such x: words, or a few numbers. */
bool sweep_begins(const struct drawing *drawing, uint32_t position);
bool sweep_has_tics(const struct drawing *drawing);

#endif
