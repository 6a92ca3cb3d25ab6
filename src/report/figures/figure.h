/* figure.h - a view of an experiment's results: which policies, which rounds, against what.
 *
 * A figure over a sweep of two keys has the first on its axis and a curve for each policy and value
 * of the second. */
#ifndef OLTR_REPORT_FIGURES_FIGURE_H
#define OLTR_REPORT_FIGURES_FIGURE_H

#include "report/bounds/bounds.h"
#include "report/io/result_table.h"
#include "engine/base/text.h"

#include <stdbool.h>

enum figure_x { FIGURE_ROUND, FIGURE_SWEEP };

/* auto: an axis is logarithmic if its values differ by more than a factor of 20; the rounds never
 * are. */
enum figure_log { FIGURE_LOG_AUTO, FIGURE_LOG_NEVER, FIGURE_LOG_ALWAYS };

/* What is drawn: cumulative regret, a metric that need not begin at 0, or the largest regret. */
enum figure_y { FIGURE_REGRET, FIGURE_CTR, FIGURE_NDCG, FIGURE_WORST, N_FIGURE_Y };
extern const char *const figure_y_names[N_FIGURE_Y + 1]; /* of files; ends with NULL */
extern const char *const figure_y_titles[N_FIGURE_Y];    /* of axes */

struct figure {
    const char *file; /* the name without its ending */
    const char *title;
    const char *label;   /* in the paper, "fig:stand"; NULL: it is not in the paper */
    const char *caption; /* under the figure in a report, or NULL */
    uint32_t n_policies;
    const char **policy; /* (n_policies) labels */
    uint64_t rounds;     /* the last round shown; 0: all */
    enum figure_x x;
    enum figure_y y;
    int bands;       /* half the height of a band, in standard errors: 0..3 */
    unsigned bounds; /* a bit 1 << bound for each bound to draw (bounds.h) */
    enum figure_log log;
};

/* Does its axis begin at 0? */
static inline bool figure_is_from_zero(const struct figure *figure)
{
    return figure->y == FIGURE_REGRET || figure->y == FIGURE_WORST;
}

/* What a figure needs of the experiment besides its rows. */
struct figure_point {
    const char *sweep;    /* the swept value; "" without a sweep */
    const char *value[2]; /* of a sweep over two keys, that of each; else `sweep` and "" */
    uint64_t rounds;
    uint32_t slots, items;
    uint32_t dim;         /* features of an item; 0: none, or not known */
    double better, worse; /* the attractions if there are two, as bounds.h says; else 0 */
};

struct figure_scene {
    const char *sweep_key; /* NULL without a sweep */
    const char *key[2];    /* of a sweep over two keys, each; else `sweep_key` and NULL */
    uint32_t n_points;
    const struct figure_point *point; /* (n_points) */
    uint32_t queries; /* of judged data, whose spread gives the standard errors; 0: no such data */
    uint32_t n_policies;
    const char *const *policy; /* (n_policies) all labels of the experiment, in its order */
    const struct result_table *results;
    const struct result_table *metric; /* (N_METRICS), or NULL */
};

static inline struct bound_problem figure_problem(const struct figure_point *point, double rounds)
{
    return (struct bound_problem){rounds,     point->slots,  point->items,
                                  point->dim, point->better, point->worse};
}

/* A name for the files of a figure: plain, and not the name of another file of the folder. */
bool figure_name_is_good(const char *name);

/* Writes the gnuplot script <file>.gp and its data <file>.csv into the two texts. */
oltr_status figure_script(const struct figure *figure, const struct figure_scene *scene,
                          struct text *script, struct text *data, oltr_error *error);

#endif
