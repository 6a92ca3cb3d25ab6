/* network.h - a feed-forward network that gives each row of inputs a score, its gradient, and the
 * loss of a list.
 *
 * Hidden layers are rectified, the output is linear.  All weights are in one array, layer after
 * layer, each as a (inputs, outputs) row-major matrix and its (outputs) offsets; so the optimiser
 * has one long vector.  OpenBLAS computes the matrix products.
 *
 * With NETWORK_DOUBLE the file compiles for double instead of float: the tests compare the gradient
 * with differences of the loss. */
#ifndef OLTR_LAB_SCORER_NETWORK_H
#define OLTR_LAB_SCORER_NETWORK_H

#include <oltr/oltr.h>
#include <stdbool.h>

#ifdef NETWORK_DOUBLE
typedef double real;
#else
typedef float real;
#endif

enum { MOST_HIDDEN = 3, MOST_LAYERS = MOST_HIDDEN + 1 };

struct blas; /* blas.h */

typedef struct network {
    const struct blas *blas;         /* begun; the passes need it */
    uint32_t n_layers;               /* of weights: the hidden ones and the last */
    uint32_t width[MOST_LAYERS + 1]; /* of the inputs, the hidden layers, and 1 */
    size_t at[MOST_LAYERS + 1]; /* where the weights of a layer begin; the last is their number */
} network;

network network_make(uint32_t inputs, const uint32_t *hidden, uint32_t n_hidden);
static inline size_t network_weights(const network *n)
{
    return n->at[n->n_layers];
}

/* He et al. (2015): normal weights of variance 2 / inputs; offsets 0. */
void network_start(const network *n, oltr_rng rng, real *weight);

/* Room for one pass over at most `rows` rows. */
typedef struct pass {
    uint32_t rows;
    real *layer[MOST_LAYERS + 1]; /* (rows, width): the inputs, to be filled; ...; the scores */
    real *back[2];                /* (rows, widest) the gradient of two neighbouring layers */
    real *block;
    real keep; /* what the last forward pass kept of its hidden units */
} pass;

bool pass_make(pass *p, const network *n, uint32_t rows); /* false without memory */
void pass_free(pass *p);

/* Scores the first n_rows rows of p->layer[0].  With drop > 0 each hidden unit is left out with
 * that chance (rounded to 1/256) and the rest are scaled up; rng decides which. */
void network_forward(const network *n, const real *weight, pass *p, uint32_t n_rows, double drop,
                     oltr_rng rng);

/* After the forward pass: the gradient of the loss over all weights, from that over the scores
 * (n_rows). */
void network_backward(const network *n, const real *weight, pass *p, uint32_t n_rows,
                      const real *score_gradient, real *gradient);

/* The listwise softmax loss of one query, - sum_i p_i log softmax(score)_i with p_i = gain_i / sum
 * of gains; and `scale` times its gradient over the scores.  A query without a gain has loss and
 * gradient 0. */
double listwise_loss(const double *gain, const real *score, uint32_t n, double scale,
                     real *gradient);

#endif
