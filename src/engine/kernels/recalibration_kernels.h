/* recalibration_kernels.h - the arithmetic of ts-hyper (posterior/recalibration.h): the chances of
 * all recalibrations after one observation, the prior of all items under one recalibration, and
 * what the sampler needs of a Beta distribution.
 *
 * Every operation is one of + - * / sqrt in double, in a fixed order, so that all versions return
 * the same bits.
 */
#ifndef OLTR_ENGINE_KERNELS_RECALIBRATION_KERNELS_H
#define OLTR_ENGINE_KERNELS_RECALIBRATION_KERNELS_H

#include <stdbool.h>
#include <oltr/oltr.h>

enum { GRID_WIDTH = 4, MOST_SHIFTS = 64, MOST_SLOPES = 3 };

static inline uint32_t grid_padded(uint32_t n)
{
    return (n + GRID_WIDTH - 1) / GRID_WIDTH * GRID_WIDTH;
}

/* The cells of a grid are (slope, weight, shift), the shift counting fastest. */
typedef struct grid_axes {
    uint32_t n_slopes, n_weights;
    uint32_t n_shifts;    /* a multiple of GRID_WIDTH, at most MOST_SHIFTS */
    const double *odds;   /* (n_shifts) exp(-shift): what a shift multiplies the odds b : a with */
    const double *weight; /* (n_weights) */
} grid_axes;

/* The power of 2 that a factor is multiplied with: the upper 16 bits of that double.  The others
 * are 0. */
typedef uint16_t grid_scale;
enum { GRID_SCALE_SHIFT = 48, GRID_SCALE_ONE = 1023 << 4 /* 2^0 */, GRID_SCALE_STEP = 1 << 4 };

/* One observation of an item whose told prior is Beta(a, b). */
typedef struct grid_lesson {
    double a, b;
    double tilt[MOST_SLOPES]; /* what a slope multiplies the odds b : a with */
    double examined;          /* observations before it */
    double alike;             /* how many of these had the same outcome */
    bool clicked;
} grid_lesson;

/* Multiplies the factor of each cell by the chance that its prior and the earlier observations give
 * to the outcome.  total[row] becomes the sum of factor * scale over the shifts of a row (slope,
 * weight), added up in four interleaved partial sums.  Returns the least factor. */
typedef double grid_observe_fn(const grid_axes *axes, const grid_lesson *lesson, double *factor,
                               const grid_scale *scale, double *total);

/* One cell of the grid. */
typedef struct grid_cell {
    double odds, weight;
    double centre; /* exp(-mean log-odds of the told priors) */
    double slope;  /* 0, 0.5 or 1 */
} grid_cell;

/* The told priors Beta(a, b) of n items, or where `own` is false the one of all. */
typedef struct told_priors {
    const double *a, *b; /* (n) or (1) */
    bool own;
} told_priors;

/* The items' posteriors in that cell: a[i], b[i] from the told priors, and from the numbers of
 * observations and clicks.  Arrays of n; a and b are padded to GRID_WIDTH. */
typedef void recalibrate_items_fn(const grid_cell *cell, size_t n, const told_priors *told,
                                  const double *examined, const double *clicked, double *a,
                                  double *b);

/* What the sampler needs of Beta(a, b), see beta_shapes in draw_kernels.h. */
typedef struct beta_numbers {
    float *ca, *cb, *da, *db, *log_da_db, *pa, *pb;
} beta_numbers;

/* Of n distributions, the arrays padded to GRID_WIDTH: a, b above 0 also in the padding. Returns
 * whether one of them has a shape below 1. */
typedef bool beta_numbers_of_fn(const double *a, const double *b, size_t n,
                                const beta_numbers *out);

#endif
