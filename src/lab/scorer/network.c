/* network.c - forward pass, gradient and loss, on matrix products; see network.h.  A pass costs
 * O(rows weights). */
#include "lab/scorer/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef NETWORK_DOUBLE /* in a test, which links OpenBLAS */
#include <cblas.h>
#define GEMM(n) ((void)(n), cblas_dgemm)
#else
#include "lab/scorer/blas.h"
#define GEMM(n) (n)->blas->sgemm
#endif

/* A row-major matrix, or its transpose. */
typedef struct matrix {
    const real *at;
    uint32_t columns; /* as it is stored */
    CBLAS_TRANSPOSE as;
} matrix;

/* result (rows, columns) = a b + keep result; `inner` columns of a, rows of b. */
static void multiply(const network *n, matrix a, matrix b, uint32_t rows, uint32_t columns,
                     uint32_t inner, real keep, real *result)
{
    GEMM(n)
    (CblasRowMajor, a.as, b.as, (int)rows, (int)columns, (int)inner, 1, a.at, (int)a.columns, b.at,
     (int)b.columns, keep, result, (int)columns);
}

network network_make(uint32_t inputs, const uint32_t *hidden, uint32_t n_hidden)
{
    network n = {.n_layers = n_hidden + 1};
    n.width[0] = inputs;
    for (uint32_t l = 0; l < n_hidden; l++)
        n.width[l + 1] = hidden[l];
    n.width[n.n_layers] = 1;
    for (uint32_t l = 0; l < n.n_layers; l++)
        n.at[l + 1] = n.at[l] + ((size_t)n.width[l] + 1) * n.width[l + 1];
    return n;
}

void network_start(const network *n, oltr_rng rng, real *weight)
{
    for (uint32_t l = 0; l < n->n_layers; l++) {
        size_t count = (size_t)n->width[l] * n->width[l + 1];
        double sd = sqrt(2.0 / n->width[l]);
        for (size_t i = 0; i < count; i++)
            weight[n->at[l] + i] = (real)(sd * oltr_rng_normal(&rng));
        memset(weight + n->at[l] + count, 0, n->width[l + 1] * sizeof *weight);
    }
}

/* ---- room */

bool pass_make(pass *p, const network *n, uint32_t rows)
{
    size_t all = 0, widest = 1;
    for (uint32_t l = 0; l <= n->n_layers; l++) {
        all += n->width[l];
        widest = n->width[l] > widest ? n->width[l] : widest;
    }
    *p = (pass){.rows = rows,
                .block = malloc((all + 2 * widest) * (rows > 0 ? rows : 1) * sizeof(real))};
    if (!p->block)
        return false;
    real *at = p->block;
    for (uint32_t l = 0; l <= n->n_layers; l++) {
        p->layer[l] = at;
        at += (size_t)rows * n->width[l];
    }
    p->back[0] = at;
    p->back[1] = at + (size_t)rows * widest;
    return true;
}

void pass_free(pass *p)
{
    free(p->block);
    *p = (pass){0};
}

/* ---- forward */

static void rectify(real *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = value[i] > 0 ? value[i] : 0;
}

/* Dropout: one random byte decides on one unit. */
static void leave_out(real *value, size_t n, uint32_t of_256, oltr_rng rng)
{
    real scale = (real)256 / (real)(256 - of_256);
    for (size_t i = 0; i < n; i += 4) {
        uint32_t word = oltr_rng_u32(&rng);
        for (size_t j = i; j < n && j < i + 4; j++, word >>= 8)
            value[j] = (word & 255) < of_256 ? 0 : value[j] * scale;
    }
}

void network_forward(const network *n, const real *weight, pass *p, uint32_t n_rows, double drop,
                     oltr_rng rng)
{
    uint32_t of_256 = (uint32_t)lrint(drop * 256);
    p->keep = (real)(256 - of_256) / 256;
    for (uint32_t l = 0; l < n->n_layers; l++) {
        uint32_t in = n->width[l], out = n->width[l + 1];
        const real *w = weight + n->at[l], *offset = w + (size_t)in * out;
        real *y = p->layer[l + 1];
        for (uint32_t row = 0; row < n_rows; row++)
            memcpy(y + (size_t)row * out, offset, out * sizeof *y);
        multiply(n, (matrix){p->layer[l], in, CblasNoTrans}, (matrix){w, out, CblasNoTrans}, n_rows,
                 out, in, 1, y);
        if (l + 1 == n->n_layers)
            break;
        rectify(y, (size_t)n_rows * out);
        if (of_256 > 0)
            leave_out(y, (size_t)n_rows * out, of_256, oltr_rng_fork(rng, l));
    }
}

/* ---- backward */

static void add_rows(const real *from, uint32_t n_rows, uint32_t width, real *sum)
{
    memset(sum, 0, width * sizeof *sum);
    for (uint32_t row = 0; row < n_rows; row++)
        for (uint32_t j = 0; j < width; j++)
            sum[j] += from[(size_t)row * width + j];
}

void network_backward(const network *n, const real *weight, pass *p, uint32_t n_rows,
                      const real *score_gradient, real *gradient)
{
    const real *delta = score_gradient;
    for (uint32_t l = n->n_layers; l-- > 0;) {
        uint32_t in = n->width[l], out = n->width[l + 1];
        real *g = gradient + n->at[l];
        multiply(n, (matrix){p->layer[l], in, CblasTrans}, (matrix){delta, out, CblasNoTrans}, in,
                 out, n_rows, 0, g);
        add_rows(delta, n_rows, out, g + (size_t)in * out);
        if (l == 0)
            break;
        real *before = p->back[l % 2];
        multiply(n, (matrix){delta, out, CblasNoTrans},
                 (matrix){weight + n->at[l], out, CblasTrans}, n_rows, in, out, 0, before);
        for (size_t i = 0; i < (size_t)n_rows * in; i++) /* 0: left out, or cut by the rectifier */
            before[i] = p->layer[l][i] > 0 ? before[i] / p->keep : 0;
        delta = before;
    }
}

/* ---- the loss */

double listwise_loss(const double *gain, const real *score, uint32_t n, double scale,
                     real *gradient)
{
    double gains = 0, largest = -INFINITY, sum = 0, loss = 0;
    for (uint32_t i = 0; i < n; i++) {
        gains += gain[i];
        largest = fmax(largest, (double)score[i]);
    }
    if (!(gains > 0)) {
        memset(gradient, 0, n * sizeof *gradient);
        return 0;
    }
    for (uint32_t i = 0; i < n; i++)
        sum += exp((double)score[i] - largest);
    double log_sum = largest + log(sum);
    for (uint32_t i = 0; i < n; i++) {
        double log_share = (double)score[i] - log_sum, target = gain[i] / gains;
        loss -= target * log_share;
        gradient[i] = (real)(scale * (exp(log_share) - target));
    }
    return loss;
}
