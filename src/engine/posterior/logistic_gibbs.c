/* logistic_gibbs.c - see logistic_gibbs.h. */
#include "engine/posterior/logistic_gibbs.h"

#include <string.h>

#include "engine/posterior/logistic_view.h"
#include "engine/rng/polya_gamma.h"
#include "engine/rng/sample.h"

/* Streams of a chain. */
enum { FOR_THETA, FOR_WEIGHTS, FOR_EXACT_WEIGHTS };
/* Normals that are made in one call, for several sweeps if they are few; and the most numbers of
 * rows that are kept, 64 KiB. */
enum { NORMALS = 512, MOST_PRODUCTS = 8192 };

static size_t columns_padded(size_t n)
{
    return (n + SUM_COLUMNS - 1) / SUM_COLUMNS * SUM_COLUMNS;
}

/* Doubles that rows take as products, and as columns. */
static size_t products_room(uint32_t dim, size_t rows)
{
    return rows * columns_padded(packed_size(dim)) + dim * columns_padded(rows) + PRODUCT_LANES;
}

static bool keeps_products(uint32_t dim, size_t rows)
{
    return products_room(dim, rows) <= MOST_PRODUCTS;
}

/* For how many sweeps n normals are made at once, and the room they take. */
static uint32_t sweeps_together(size_t n)
{
    return n > 0 && n < NORMALS ? NORMALS / (uint32_t)n : 1;
}

static size_t normals_room(size_t n)
{
    return n < NORMALS ? NORMALS : padded(n);
}

logistic_gibbs_plan logistic_gibbs_planned(layout *l, uint32_t dim, size_t capacity)
{
    size_t rows = columns_padded(capacity),
           kept = keeps_products(dim, capacity) ? products_room(dim, capacity) : MOST_PRODUCTS;
    return (logistic_gibbs_plan){
        .score = layout_take(l, rows, sizeof(double)),
        .at_root = layout_take(l, rows, sizeof(double)),
        .part = layout_take(l, rows, sizeof(double)),
        .weight = layout_take(l, rows, sizeof(double)),
        .draws = layout_take(l, POLYA_GAMMA_DOUBLES * weights_padded(capacity), sizeof(double)),
        .lists = layout_take(l, 2 * weights_padded(capacity), sizeof(uint32_t)),
        .normal = layout_take(l, normals_room(capacity), sizeof(float)),
        .standard = layout_take(l, normals_room(dim), sizeof(float)),
        .pull = layout_take(l, dim, sizeof(double)),
        .moment = layout_take(l, dim, sizeof(double)),
        .nothing = layout_take(l, dim, sizeof(double)),
        .gram = layout_take(l, columns_padded(packed_size(dim)), sizeof(double)),
        .product = layout_take(l, kept, sizeof(double)),
        .factor = layout_take(l, ldl_doubles(dim), sizeof(double))};
}

/* A chain: what is learned, which it only reads, and its arrays. */
typedef struct chain {
    logistic copy;
    logistic_view v;
    double *score, *at_root, *part, *weight, *pull, *moment, *nothing, *gram;
    double *product, *column; /* NULL: not kept */
    float *normal, *standard;
    ldl factor;
    polya_gamma_rows draws;
} chain;

/* x_i x_j of every row, which is exact, and the rows as columns. */
static void keep_products(chain *c)
{
    const logistic_view *v = &c->v;
    size_t numbers = columns_padded(packed_size(v->dim)), rows = columns_padded(v->rows);
    c->column = c->product + v->rows * numbers + PRODUCT_LANES;
    KERNEL(row_products)(v->row, v->rows, v->dim, numbers, c->product);
    memset(c->column, 0, v->dim * rows * sizeof *c->column);
    for (uint32_t r = 0; r < v->rows; r++)
        for (uint32_t j = 0; j < v->dim; j++)
            c->column[j * rows + r] = (double)row_at(v, r)[j];
}

static void make_scores(chain *c, const double *theta)
{
    const logistic_view *v = &c->v;
    size_t rows = columns_padded(v->rows);
    if (!c->product) {
        rows_times(v->row, v->dim, v->rows, v->dim, theta, c->score);
        return;
    }
    KERNEL(weighted_sum)(c->column, v->dim, rows, theta, c->score);
}

/* A - lambda I in `gram`. */
static void make_gram(chain *c)
{
    const logistic_view *v = &c->v;
    size_t packed = packed_size(v->dim);
    if (c->product) {
        KERNEL(weighted_sum)(c->product, v->rows, columns_padded(packed), c->weight, c->gram);
    } else {
        memset(c->gram, 0, packed * sizeof *c->gram);
        logistic_add_rows(v, c->weight, c->gram, c->nothing);
    }
    for (size_t i = 0; v->path->has_absorbed > 0 && i < packed; i++)
        c->gram[i] += v->precision[i];
}

/* The parts that no sweep changes: x'theta_hat, h, the weights of rows without a count, and
 * products. */
static void prepare(chain *c)
{
    const logistic_view *v = &c->v;
    rows_times(v->row, v->dim, v->rows, v->dim, v->theta, c->at_root);
    for (uint32_t j = 0; j < v->dim; j++)
        c->pull[j] = v->linear_term[j] - v->lambda * v->theta[j];
    if (v->path->has_absorbed > 0)
        KERNEL(subtract_product)(c->pull, v->precision, v->theta, v->dim);
    memset(c->nothing, 0, v->dim * sizeof *c->nothing);
    memset(c->weight, 0, v->rows * sizeof *c->weight);
    if (c->product)
        keep_products(c);
}

static void chain_begin(chain *c, const void *state, const logistic *p,
                        const logistic_gibbs_plan *plan, void *work)
{
    c->copy = *p;
    c->v = logistic_view_with(state, &c->copy, NULL, 0, NULL);
    c->score = doubles_at(work, plan->score);
    c->at_root = doubles_at(work, plan->at_root);
    c->part = doubles_at(work, plan->part);
    c->weight = doubles_at(work, plan->weight);
    c->pull = doubles_at(work, plan->pull);
    c->moment = doubles_at(work, plan->moment);
    c->nothing = doubles_at(work, plan->nothing);
    c->gram = doubles_at(work, plan->gram);
    c->product = keeps_products(p->dim, c->v.rows) ? doubles_at(work, plan->product) : NULL;
    c->normal = floats_at(work, plan->normal);
    c->standard = floats_at(work, plan->standard);
    c->factor = ldl_view(doubles_at(work, plan->factor), p->dim);
    c->draws = polya_gamma_rows_of(c->v.rows, c->v.examined, doubles_at(work, plan->draws),
                                   words_in(work, plan->lists));
    prepare(c);
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
static void draw_theta(chain *c, const float *standard, double *theta)
{
    const logistic_view *v = &c->v;
    for (uint32_t r = 0; r < v->rows; r++)
        c->part[r] = (v->clicked[r] - v->examined[r] / 2) - c->weight[r] * c->at_root[r];
    memcpy(c->moment, c->pull, v->dim * sizeof *c->moment);
    KERNEL(linear_terms)(v->row, v->rows, v->dim, c->part, c->moment);
    make_gram(c);
    factor_of_sweep(c);
    ldl_sample(&c->factor, 1, standard, theta);
    for (uint32_t j = 0; j < v->dim; j++)
        theta[j] += v->theta[j];
}

/* n normals of sweep s of `sweeps`. */
static const float *normals_of(const oltr_rng *rng, uint32_t stream, uint32_t s, uint32_t sweeps,
                               uint32_t n, float *room)
{
    uint32_t together = sweeps_together(n), place = s % together,
             made = sweeps - s < together ? sweeps - s : together;
    if (place == 0) {
        const oltr_rng own = oltr_rng_at(*rng, stream, s / together + 1);
        standard_normals(&own, made * (size_t)n, room);
    }
    return room + place * n;
}

void logistic_gibbs(const void *state, const logistic *p, const logistic_gibbs_plan *plan,
                    const oltr_rng *rng, uint32_t sweeps, double *theta, void *work)
{
    chain c;
    polya_gamma_source source;
    if (sweeps == 0)
        return;
    const oltr_rng own = oltr_rng_fork(*rng, 0);
    polya_gamma_begin(&source, &own, FOR_EXACT_WEIGHTS);
    chain_begin(&c, state, p, plan, work);
    for (uint32_t s = 0; s < sweeps; s++) {
        const float *normal = normals_of(&own, FOR_WEIGHTS, s, sweeps, c.draws.n_many, c.normal);
        make_scores(&c, theta);
        polya_gamma_draw(&source, &c.draws, c.v.examined, c.score, normal, c.weight);
        draw_theta(&c, normals_of(&own, FOR_THETA, s, sweeps, c.v.dim, c.standard), theta);
    }
}
