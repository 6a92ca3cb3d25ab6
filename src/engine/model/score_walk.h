/* score_walk.h - a walk along the axis of scores, from the lowest to the highest, that gives the
 * laws of n independent scores panel by panel.
 *
 * An integral over the score of one item of a function of the others' distribution functions needs
 * the density of the first and the distribution functions of the rest at the same points.  The walk
 * cuts the axis into panels on which all of them are smooth, puts Gauss and Legendre's points on
 * each, and gives at every point the distribution function of each score and its density times the
 * weight of the point.  score_walk.c says how panels are chosen and what the errors are.
 */
#ifndef OLTR_ENGINE_MODEL_SCORE_WALK_H
#define OLTR_ENGINE_MODEL_SCORE_WALK_H

#include <stdbool.h>
#include <oltr/oltr.h>

typedef enum score_kind { SCORE_NORMAL, SCORE_BETA, SCORE_FIXED, SCORE_GUMBEL } score_kind;

/* The laws of n independent scores.
 *   NORMAL  mean and standard deviation; |mean| up to 1e100, deviations from 1e-100 to 1e100
 *   BETA    the two shapes, from 1e-9 to 1e16
 *   GUMBEL  the location, up to 1e100 either way; the scale is 1
 *   FIXED   the score itself, which may be infinite; equal scores are ordered at random, every
 *           order with the same chance */
typedef struct score_laws {
    score_kind kind;
    uint32_t n;
    const double *first;  /* (n) means, shapes a, locations, or scores */
    const double *second; /* (n) deviations, shapes b, 1; not read of FIXED */
} score_laws;

/* Whether all numbers are within these bounds. */
bool score_laws_are_valid(const score_laws *laws);

enum { WALK_NODES = 16 };

/* A number at each point of a panel. */
typedef struct walk_nodes {
    double at[WALK_NODES];
} walk_nodes;

/* A place on the axis: high + low, low being what does not fit into high.  So a score of deviation
 * 1e-9 can have the mean 1e9. */
typedef struct walk_place {
    double high, low;
} walk_place;

typedef struct walk_item {
    double first, second;         /* of its law; those of -score when the walk goes down: a Gumbel
                                   * law then has the scale -1 */
    double mode, start_at, peak;  /* start_at: from mode to start; peak: the density at the mode */
    double x, y, sharpness, zone; /* of a Beta law: see score_walk.c */
    walk_place start, end;        /* outside, the law has less than 1e-17 */
    double start_width;           /* of a panel that begins at `start` */
    double below, below_right;    /* the distribution function at the panel's ends */
    uint32_t group;               /* 0 or 1 */
} walk_item;

/* One panel.  Items are in one of three states: those that start beyond the panel are above it with
 * certainty, those that end before it are below it, and those between have a row in the arrays.
 * Rows of group 0 come first. */
typedef struct score_walk {
    uint32_t n_rows[2]; /* of each group */
    uint32_t *row_item; /* (rows) */
    walk_nodes *below;  /* (rows) the chance that the item's score is below the point */
    walk_nodes *mass;   /* (rows) the density of its score, times the weight of the point */
    uint32_t above[2];  /* items of each group that start beyond the panel */
    double expected[2]; /* how many of each group are above the right end, on average */

    /* Of the walk itself. */
    const struct law_ops *ops;
    const oltr_memory *memory;
    size_t bytes;
    uint32_t n, n_order, next;               /* order[next] is the first item that starts beyond */
    walk_item *item;                         /* (n) */
    uint32_t *order;                         /* (n_order) by their start */
    uint32_t *active[2];                     /* items with rows */
    walk_place at, landing;                  /* the panel's left end; its right end, if it lands */
    bool lands;                              /* it ends at the start of an item */
    double width, widest;                    /* of the panel; what the counts allow the next one */
    double point[WALK_NODES];                /* on (0, 1) */
    double weight[WALK_NODES];               /* of points; they sum to 1 */
    double integral[WALK_NODES][WALK_NODES]; /* [j][i]: how much of the mass at point j is before
                                              * point i */
} score_walk;

/* The walk before its first panel; group may be NULL: all are in group 0.  downwards: of -score (of
 * a Beta law, of 1 - score), so that the walk begins with the highest.  The laws must be valid and
 * not FIXED.  NULL: no memory. */
score_walk *walk_new(const score_laws *laws, const uint8_t *group, bool downwards,
                     const oltr_memory *memory);
void walk_free(score_walk *walk); /* may be NULL */

/* Leaves out the items that end before `from`: they get no row.  Before the first panel. */
void walk_leave_out(score_walk *walk, walk_place from);

/* The next panel; false at the end. */
bool walk_step(score_walk *walk);

/* The integral of a function from the panel's left end to each point, and to the right end, which
 * is returned.  `mass` is the function times the weights of the points, as in `mass` of the walk.
 */
double walk_integral(const score_walk *walk, const walk_nodes *mass, walk_nodes *out);

/* Sorts n indices so that less(with, order[i], order[j]) implies i < j; without memory. */
void sort_indices(uint32_t *order, uint32_t n, bool (*less)(const void *with, uint32_t, uint32_t),
                  const void *with);

#endif
