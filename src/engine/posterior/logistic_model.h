/* logistic_model.h - what logistic.c (what is learned) and logistic_solve.c (what is derived from
 * it) share: one state, seen as arrays. */
#ifndef OLTR_ENGINE_POSTERIOR_LOGISTIC_MODEL_H
#define OLTR_ENGINE_POSTERIOR_LOGISTIC_MODEL_H

#include "engine/posterior/logistic.h"

enum {
    MODEL_BATCH = 64, /* rows given to a kernel of math/ldl.h in one call */
};

/* What a round leaves for the next: theta is the root, so that the gradient there is 0; or
 * `gradient` is exact at theta; with `score` at or near theta in both. Or neither, and the next
 * round evaluates. */
enum { UNKNOWN, SETTLED, FOLLOWING };

typedef struct model {
    uint32_t dim, rows, capacity; /* rows in use, and room for how many */
    double lambda, drift;
    int followed;                     /* rounds are of bounded work */
    const float *row;                 /* (rows, dim) */
    const double *examined, *clicked; /* (rows) */
    const double *precision, *pull;   /* P - lambda I packed, q */
    double *theta;                    /* (dim) */
    double *weight;                   /* (rows) in the factor */
    double *share; /* (rows) lambda / (capacity |x|^2): the sum of share x x' is below lambda I */
    ldl factor;
    /* The share of its precision that lowered weights have left the factor since it was built: what
     * was left of each, multiplied, as if all rows had one direction; with `followed`, that of the
     * worst, because rows that never repeat have many directions. */
    double *kept;
    double *settled;  /* SETTLED, FOLLOWING or UNKNOWN: what is known of the gradient at theta */
    double *absorbed; /* 1: P - lambda I may be other than zero */
    double *since;    /* rounds of bounded work since the factor was built */
    logistic_effort *effort;
    /* scratch but for the score; score, residual, curvature and gradient belong to theta once
     * `evaluate` has seen it */
    float *incoming;                      /* (dim) a row on its way to the table */
    double *score, *residual, *curvature; /* (rows) x'theta, S - N mu, N mu (1 - mu) */
    double *gradient; /* (dim) of the log posterior, so uphill: the score equation's left side; kept
                         like score */
    double *score_next, *move;                 /* (rows) */
    double *theta_next, *gradient_next, *step; /* (dim) */
    double *nothing;   /* (dim) zeros: the right-hand side that the factor does not have */
    double *gram;      /* (dim (dim+1) / 2) */
    double *update;    /* ldl_update_work(dim) */
    double *quadratic; /* ldl_quadratic_work(dim) */
} model;

/* How many doubles of scratch a model takes. */
size_t model_work(uint32_t dim, uint32_t capacity);
model model_of(const void *state, const logistic *p, logistic_effort *effort);
/* The same with a scratch of the caller's for all that is not kept: model_work(dim, rows) doubles
 * and `score`, (residuals_padded(rows)) doubles. */
model model_with(const void *state, const logistic *p, logistic_effort *effort, double *work,
                 uint32_t rows, double *score);

/* What a row gets as its share; for a row that is new. */
double model_share(const model *m, const float *x);
/* score, residual, curvature and gradient at theta. */
void model_evaluate(model *m);
/* A bound on the rounding of each element of that gradient: u (d + R + 16) times the sum of the
 * absolute values of its terms, u = 2^-53; the rounding of a score counts with the curvature there.
 */
void model_rounding(const model *m, double *bound);
/* H - lambda I at the point that was last evaluated, in `gram`, and then the factor of H there. */
void model_hessian(model *m);
void model_rebuild(model *m);
/* The root from theta on, with the factor that is there, and the factor brought within the drift.
 * `evaluated`: model_evaluate has seen theta; otherwise score and gradient are near those at theta,
 * which is enough for a first step.  Returns whether it converged: if so, `score` is near that at
 * the root. */
int model_solve(model *m, int evaluated);
/* The same with bounded work: at most FOLLOW_STEPS steps towards the root, to 1 % of a posterior
 * deviation where that is enough, and a few corrections of the factor. Returns what is known of the
 * gradient then. */
int model_follow(model *m, int evaluated);
/* Whether lowered weights have left the factor enough of its precision. */
int model_is_sound(const model *m);
/* The weights of n rows, at most MODEL_BATCH, become these in the factor.  Returns how many were
 * others before. */
uint32_t model_reweigh(model *m, const uint32_t *rows, const double *weight, uint32_t n);

#endif
