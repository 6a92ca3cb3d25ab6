/* family.h - what a race has to know about the posteriors of the items: which cell an item belongs
 * to, a bound for all that a cell can hold, and the value of an item at an exponential.
 *
 * Hazards.  An item's sample is X_i = Q_i(E_i), E_i a standard exponential and Q_i(u) the value
 * that X_i exceeds with probability 1 - exp(-u): decreasing in u.  Its inverse, the hazard of a
 * value tau, is u = -log P(X_i <= tau).
 *
 * A cell is a set of posteriors, given by its shape; an item is in the cell of its posterior,
 * whatever happened before.  The bound of a cell has Q(u) >= Q_i(u) for every posterior in it and
 * every u; where it cannot be had, its hazard is infinite, and every member is looked at.
 */
#ifndef OLTR_ENGINE_RACE_FAMILY_H
#define OLTR_ENGINE_RACE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cell_shape {
    double bound[3];  /* normal: mean, deviations above and below it; Beta: both shapes */
    double middle[2]; /* a typical posterior: mean and deviation, or both shapes */
} cell_shape;

typedef struct cell_place {
    uint32_t key; /* cells with equal keys are equal */
    cell_shape shape;
} cell_place;

struct race_family;

/* The items of a policy, as its state has them. */
typedef struct race_items {
    const struct race_family *family;
    uint32_t n_items;
    bool common;            /* all have one prior: equal sums are equal posteriors */
    const double *n, *s;    /* (n_items) observations and rewards */
    const float *mean, *sd; /* normal: (n_items) posteriors */
    const double *a0, *b0;  /* Beta: (n_items) shapes of the priors; (1) where it is common */
    double step[2];         /* of the grid: see the families */
} race_items;

typedef struct race_family {
    cell_place (*place)(const race_items *items, uint32_t item);
    /* At least the hazard of tau of every posterior in the cell; and that of its middle. */
    double (*bound_hazard)(const cell_shape *shape, double tau);
    double (*middle_hazard)(const cell_shape *shape, double tau);
    /* A distance in tau over which hazards change by a small factor. */
    double (*scale)(const cell_shape *shape);
    double (*value)(const race_items *items, uint32_t item, double u);
    void (*prefetch)(const race_items *items, uint32_t item);
    double step[2]; /* the usual grid */
} race_family;

extern const race_family normal_race, beta_race;

/* beta_race needs priors whose shapes are at least this. */
#define BETA_RACE_LEAST 0.1

/* Under a common prior, items with fewer than CLASS_N observations, whole numbers of them and of
 * the rewards, make a class of equal posteriors: a cell whose bound is exact. */
enum { CLASS_N = 16 };
static inline bool in_class(const race_items *items, uint32_t item, uint32_t *number)
{
    double n = items->n[item], s = items->s[item];
    if (!(items->common && n < CLASS_N && s >= 0 && s <= n))
        return false;
    uint32_t whole_n = (uint32_t)n, whole_s = (uint32_t)s;
    *number = whole_n * CLASS_N + whole_s;
    return !((double)whole_n < n) && !((double)whole_s < s);
}

#endif
