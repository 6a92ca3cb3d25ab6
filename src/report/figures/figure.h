/* figure.h - a view of an experiment's results: which policies, which rounds, against what. */
#ifndef OLTR_REPORT_FIGURES_FIGURE_H
#define OLTR_REPORT_FIGURES_FIGURE_H

#include "report/io/result_table.h"
#include "engine/base/text.h"

#include <stdbool.h>

enum figure_x { FIGURE_ROUND, FIGURE_SWEEP };

/* auto: an axis is logarithmic if its values differ by more than a factor of 20; the rounds never
 * are. */
enum figure_log { FIGURE_LOG_AUTO, FIGURE_LOG_NEVER, FIGURE_LOG_ALWAYS };

struct figure {
    const char *file; /* the name without its ending */
    const char *title;
    const char *label;   /* in the paper, "fig:stand"; NULL: it is not in the paper */
    const char *caption; /* under the figure in a report, or NULL */
    uint32_t n_policies;
    const char **policy; /* (n_policies) labels */
    uint64_t rounds;     /* the last round shown; 0: all */
    enum figure_x x;
    int bands;   /* half the height of a band, in standard errors: 0..3 */
    bool bounds; /* draw the bound of Theorem 1, 22 K sqrt(L t) */
    enum figure_log log;
};

/* What a figure needs of the experiment besides its rows. */
struct figure_point {
    const char *sweep; /* the swept value; "" without a sweep */
    uint64_t rounds;
    uint32_t slots, items;
};

struct figure_scene {
    const char *sweep_key; /* NULL without a sweep */
    uint32_t n_points;
    const struct figure_point *point; /* (n_points) */
    uint32_t queries; /* of judged data, whose spread gives the standard errors; 0: no such data */
    uint32_t n_policies;
    const char *const *policy; /* (n_policies) all labels of the experiment, in its order */
    const struct result_table *results;
};

/* A name for the files of a figure: plain, and not the name of another file of the folder. */
bool figure_name_is_good(const char *name);

/* Writes the gnuplot script <file>.gp and its data <file>.csv into the two texts. */
oltr_status figure_script(const struct figure *figure, const struct figure_scene *scene,
                          struct text *script, struct text *data, oltr_error *error);

#endif
