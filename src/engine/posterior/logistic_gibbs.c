/* logistic_gibbs.c - see logistic_gibbs.h. */
#include "engine/posterior/logistic_gibbs.h"

#include <string.h>

#include "engine/posterior/logistic_view.h"
#include "engine/rng/polya_gamma.h"
#include "engine/rng/sample.h"

/* The generators of a sweep. */
enum { FOR_THETA, FOR_NORMALS, FOR_EXACT };

logistic_gibbs_plan logistic_gibbs_planned(layout *l, uint32_t dim, size_t capacity)
{
    size_t rows = residuals_padded(capacity);
    return (logistic_gibbs_plan){.score = layout_take(l, rows, sizeof(double)),
                                 .at_root = layout_take(l, rows, sizeof(double)),
                                 .half = layout_take(l, rows, sizeof(double)),
                                 .centred = layout_take(l, rows, sizeof(double)),
                                 .slope = layout_take(l, rows, sizeof(double)),
                                 .weight = layout_take(l, rows, sizeof(double)),
                                 .normal = layout_take(l, padded(capacity), sizeof(float)),
                                 .standard = layout_take(l, padded(dim), sizeof(float)),
                                 .pull = layout_take(l, dim, sizeof(double)),
                                 .moment = layout_take(l, dim, sizeof(double)),
                                 .nothing = layout_take(l, dim, sizeof(double)),
                                 .gram = layout_take(l, packed_size(dim), sizeof(double)),
                                 .factor = layout_take(l, ldl_doubles(dim), sizeof(double))};
}

/* A chain: what is learned, which it only reads, and its arrays. */
typedef struct chain {
    logistic copy;
    logistic_view v;
    double *score, *at_root, *half, *centred, *slope, *weight, *pull, *moment, *nothing, *gram;
    float *normal, *standard;
    ldl factor;
    bool any_large; /* rows whose weight is a normal */
} chain;

/* The parts that no sweep changes: N/2, x'theta_hat and h. */
static void prepare(chain *c)
{
    const logistic_view *v = &c->v;
    uint32_t all = (uint32_t)residuals_padded(v->rows);
    rows_times(v->row, v->dim, v->rows, v->dim, v->theta, c->at_root);
    for (uint32_t r = 0; r < all; r++) {
        c->half[r] = r < v->rows ? v->examined[r] / 2 : 0;
        c->any_large |= c->half[r] > POLYA_GAMMA_EXACT / 2.0;
        c->score[r] = 0;
    }
    for (uint32_t j = 0; j < v->dim; j++)
        c->pull[j] = v->linear_term[j] - v->lambda * v->theta[j];
    if (v->path->has_absorbed > 0)
        KERNEL(subtract_product)(c->pull, v->precision, v->theta, v->dim);
    memset(c->nothing, 0, v->dim * sizeof *c->nothing);
}

static void chain_begin(chain *c, const void *state, const logistic *p,
                        const logistic_gibbs_plan *plan, void *work)
{
    c->copy = *p;
    c->v = logistic_view_with(state, &c->copy, NULL, 0, NULL);
    c->score = doubles_at(work, plan->score);
    c->at_root = doubles_at(work, plan->at_root);
    c->half = doubles_at(work, plan->half);
    c->centred = doubles_at(work, plan->centred);
    c->slope = doubles_at(work, plan->slope);
    c->weight = doubles_at(work, plan->weight);
    c->pull = doubles_at(work, plan->pull);
    c->moment = doubles_at(work, plan->moment);
    c->nothing = doubles_at(work, plan->nothing);
    c->gram = doubles_at(work, plan->gram);
    c->normal = floats_at(work, plan->normal);
    c->standard = floats_at(work, plan->standard);
    c->factor = ldl_view(doubles_at(work, plan->factor), p->dim);
    c->any_large = false;
    prepare(c);
}

/* w of every row, given theta.  S = N/2 in the residuals leaves N (1/2 - mu). */
static void draw_weights(chain *c, const oltr_rng *rng, const double *theta)
{
    const logistic_view *v = &c->v;
    oltr_rng exact = oltr_rng_at(*rng, FOR_EXACT, 1), normals = oltr_rng_at(*rng, FOR_NORMALS, 1);
    rows_times(v->row, v->dim, v->rows, v->dim, theta, c->score);
    if (c->any_large) {
        standard_normals(&normals, v->rows, c->normal);
        residuals_of(v)(v->rows, c->score, v->examined, c->half, c->centred, c->slope);
    }
    for (uint32_t r = 0; r < v->rows; r++) {
        double n = v->examined[r], z = c->score[r];
        c->weight[r] =
            n <= POLYA_GAMMA_EXACT
                ? polya_gamma_exact(&exact, n, z)
                : polya_gamma_normal(polya_gamma_moments_from(n, z, -c->centred[r], c->slope[r]),
                                     (double)c->normal[r]);
    }
}

/* A - lambda I in `gram`. */
static void add_rows(chain *c)
{
    static const double no_moment[VIEW_BATCH];
    const logistic_view *v = &c->v;
    const float *x[VIEW_BATCH];
    size_t bytes = packed_size(v->dim) * sizeof *c->gram;
    if (v->path->has_absorbed > 0)
        memcpy(c->gram, v->precision, bytes);
    else
        memset(c->gram, 0, bytes);
    for (uint32_t r = 0; r < v->rows; r += VIEW_BATCH) {
        uint32_t n = v->rows - r < VIEW_BATCH ? v->rows - r : VIEW_BATCH;
        for (uint32_t i = 0; i < n; i++)
            x[i] = row_at(v, r + i);
        gram_add(c->gram, c->nothing, v->dim, x, no_moment, c->weight + r, n);
    }
}

/* Sums that no rows can have, of a forged snapshot, may have no factor: the diagonal alone leaves
 * everything finite. */
static void factor_of_sweep(chain *c)
{
    const double *packed = c->gram;
    if (ldl_factor_nearby(&c->factor, c->gram, c->moment, c->v.lambda) >= 0)
        return;
    ldl_reset(&c->factor, c->v.lambda);
    for (uint32_t j = 0; j < c->v.dim; packed += c->v.dim - j, j++)
        c->factor.d[j] += *packed;
}

/* theta given the weights: theta_hat and a draw around the mean of the rest. */
static void draw_theta(chain *c, const oltr_rng *rng, double *theta)
{
    const logistic_view *v = &c->v;
    oltr_rng own = oltr_rng_at(*rng, FOR_THETA, 1);
    for (uint32_t r = 0; r < v->rows; r++)
        c->centred[r] = (v->clicked[r] - c->half[r]) - c->weight[r] * c->at_root[r];
    memcpy(c->moment, c->pull, v->dim * sizeof *c->moment);
    KERNEL(linear_terms)(v->row, v->rows, v->dim, c->centred, c->moment);
    add_rows(c);
    factor_of_sweep(c);
    standard_normals(&own, v->dim, c->standard);
    ldl_sample(&c->factor, 1, c->standard, theta);
    for (uint32_t j = 0; j < v->dim; j++)
        theta[j] += v->theta[j];
}

void logistic_gibbs(const void *state, const logistic *p, const logistic_gibbs_plan *plan,
                    const oltr_rng *rng, uint32_t sweeps, double *theta, void *work)
{
    chain c;
    if (sweeps == 0)
        return;
    chain_begin(&c, state, p, plan, work);
    for (uint32_t s = 0; s < sweeps; s++) {
        oltr_rng own = oltr_rng_fork(*rng, s);
        draw_weights(&c, &own, theta);
        draw_theta(&c, &own, theta);
    }
}
