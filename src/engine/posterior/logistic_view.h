/* logistic_view.h - one logistic posterior as arrays, and what its four files share:
 * logistic.c learns, absorbs and merges; logistic_rows.c finds and orders the rows;
 * logistic_solve.c has the root and the factor; logistic_check.c checks and resumes.
 */
#ifndef OLTR_ENGINE_POSTERIOR_LOGISTIC_VIEW_H
#define OLTR_ENGINE_POSTERIOR_LOGISTIC_VIEW_H

#include "engine/posterior/logistic.h"

enum { VIEW_BATCH = 64 }; /* rows given to a kernel in one call */

/* What a round leaves for the next about the gradient at theta (logistic_path.known).  With the
 * latter two, `score` is at or near x'theta; with the first, the next round evaluates. */
enum { NOTHING_KNOWN, THETA_IS_ROOT, GRADIENT_KNOWN };

/* A row's neighbours in its queue. */
typedef struct row_link {
    uint32_t before, after;
} row_link;

typedef struct logistic_view {
    void *state;
    logistic *p;
    uint32_t dim, rows, capacity; /* rows in use, and room for how many */
    double lambda, drift;
    bool bounded_work; /* the round may end short of the root */
    bool exchanged;    /* during a solve: theta, gradient and score are in the scratch */
    /* Learned. */
    logistic_count *count;
    float *row;                      /* (rows, dim) */
    double *examined, *clicked;      /* (rows) */
    double *last;                    /* (rows) */
    double *precision, *linear_term; /* P packed, q */
    /* Derived, kept from round to round. */
    uint32_t *table; /* (table_size) */
    row_link *queue; /* (capacity + 2) */
    double *theta;   /* (dim) */
    logistic_path *path;
    ldl factor;
    double *weight; /* (rows) in the factor */
    double *share;  /* (rows) lambda / (capacity |x|^2): the sum of share x x' is below lambda I */
    /* At theta once logistic_evaluate() has seen it; score and gradient are kept, too. */
    double *score, *residual, *curvature; /* (rows) x'theta, S - N mu, N mu' */
    double *gradient;                     /* (dim) g(theta), which points uphill */
    /* Scratch. */
    float *incoming;                           /* (dim) a row that is looked up */
    double *score_next, *move;                 /* (rows) */
    double *theta_next, *gradient_next, *step; /* (dim) */
    double *nothing;   /* (dim) zeros: the right-hand side that the factor does not have */
    double *gram;      /* (dim (dim+1) / 2) */
    double *update;    /* ldl_update_work(dim) */
    double *quadratic; /* ldl_quadratic_work(dim) */
} logistic_view;

/* How many doubles of scratch a view takes. */
size_t logistic_work(uint32_t dim, uint32_t capacity);
logistic_view logistic_view_of(void *state, logistic *p);
void logistic_view_set(logistic_view *v, void *state, logistic *p); /* the same in place */
/* The same with the caller's scratch for all that is not kept: logistic_work(dim, rows) doubles and
 * `score`, (residuals_padded(rows)) doubles. */
logistic_view logistic_view_with(const void *state, logistic *p, double *work, uint32_t rows,
                                 double *score);

static inline float *row_at(const logistic_view *v, uint32_t r)
{
    return v->row + (size_t)r * v->dim;
}

/* The kernel of the link. */
static inline residuals_fn *residuals_of(const logistic_view *v)
{
    return link_residuals(v->p->link, cpu_in_use());
}

static inline size_t packed_size(uint32_t dim)
{
    return (size_t)dim * ((size_t)dim + 1) / 2;
}

/* ---- logistic_rows.c */

#define NO_ROW UINT32_MAX

/* Copies a row, -0.0 as 0.0: they are the same feature. */
void logistic_copy_row(float *to, const float *from, uint32_t dim);
/* The number of this row, or NO_ROW. */
uint32_t logistic_find_row(const logistic_view *v, const float *x);
/* Row r enters the table, or leaves it. */
void logistic_enter_table(const logistic_view *v, uint32_t r);
void logistic_leave_table(const logistic_view *v, uint32_t r);

/* Two queues, each from the least to the most recently examined row, are circular lists through a
 * sentinel: `capacity` for single rows, `capacity + 1` for the others. */
uint32_t queue_for(const logistic_view *v, uint32_t r);
void leave_queue(logistic_view *v, uint32_t r); /* before its count changes */
/* After `place`, a row or the sentinel of that queue. */
void enter_queue(logistic_view *v, uint32_t r, uint32_t queue, uint32_t place);
static inline uint32_t queue_end(const logistic_view *v, uint32_t queue)
{
    return v->queue[queue].before;
}
/* The next row to absorb: the first single row after `place`, or the first of the others if that is
 * older and singles need not go first; a sentinel when there is none. */
uint32_t oldest_row(const logistic_view *v, uint32_t place, bool singles_first);

/* Derives table and shares, and the queues, from the sums. */
void logistic_fill_table(logistic_view *v);
void logistic_fill_queues(logistic_view *v);

/* ---- logistic_solve.c */

/* score, residual, curvature and gradient at theta. */
void logistic_evaluate(logistic_view *v);
/* A bound on the rounding of each element of that gradient: u (d + R + 16) times the sum of the
 * absolute values of its terms, u = 2^-53; the rounding of a score counts with the curvature. */
void logistic_gradient_rounding(const logistic_view *v, double *bound);
/* gram gains the sum over all rows of weight x x'.  nothing: (dim) zeros, which stay. */
void logistic_add_rows(const logistic_view *v, const double *weight, double *gram, double *nothing);
/* H - lambda I at the point that was last evaluated, in `gram`; and the factor of H there. */
void logistic_hessian(logistic_view *v);
void logistic_build_factor(logistic_view *v);
/* The weights of n <= VIEW_BATCH rows become these in the factor.  Returns how many changed. */
uint32_t logistic_set_weights(logistic_view *v, const uint32_t *row, const double *weight,
                              uint32_t n);
/* Whether lowered weights have left the factor enough of its precision.  In rounds of bounded work
 * it is compared with its weights now and then, and the path records that. */
bool logistic_confirm_factor(logistic_view *v);
/* The share of a row. */
double logistic_share(const logistic_view *v, const float *x);
/* Finds the root from theta on, and brings the factor within the drift.  `evaluated`: the gradient
 * is exact; otherwise score and gradient are near those at theta, which is enough for a first step.
 * Returns what is known of the gradient then. */
int logistic_solve(logistic_view *v, bool evaluated);
/* The same with bounded work: at most BOUNDED_STEPS steps towards the root, and a few corrections
 * of the factor. */
int logistic_approach(logistic_view *v, bool evaluated);

/* ---- logistic_check.c */

/* Whether rows were absorbed, from the diagonal of P. */
bool logistic_absorbed_any(const logistic_view *v);

#endif
