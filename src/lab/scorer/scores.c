/* scores.c - memory for scores, and the priors that are made of them; see scores.h. */
#include "lab/scorer/scores.h"

#include <math.h>
#include <stdlib.h>

oltr_status scores_new(uint32_t n_rows, uint32_t n_models, scores *out, oltr_error *error)
{
    *out = (scores){n_rows, n_models, NULL};
    size_t rows = n_rows > 0 ? n_rows : 1; /* calloc(0) may return NULL */
    if (n_models == 0 || n_models > SCORES_MOST_MODELS)
        return set_error(error, OLTR_EINVAL, "there must be 1 to %d models, not %u",
                         SCORES_MOST_MODELS, n_models);
    out->score = calloc(rows, n_models * sizeof(float));
    if (!out->score)
        return set_error(error, OLTR_ENOMEM, "no memory for %u x %u scores", n_rows, n_models);
    return OLTR_OK;
}

void scores_free(scores *s)
{
    if (!s)
        return;
    free(s->score);
    *s = (scores){0, 0, NULL};
}

static double with_margin(double score)
{
    return fmin(fmax(score, SCORE_MARGIN), 1 - SCORE_MARGIN);
}

static double spread(const float *score, uint32_t n, double mean)
{
    double sum = 0;
    for (uint32_t m = 0; m < n; m++) {
        double d = with_margin(score[m]) - mean;
        sum += d * d;
    }
    double variance = n > 1 ? sum / (n - 1) : mean * (1 - mean) / 2;
    return fmax(sqrt(variance), SCORE_LEAST_SD);
}

void scores_prior(const scores *s, double *a, double *b, double *mean, double *sd)
{
    for (uint32_t row = 0; row < s->n_rows; row++) {
        const float *score = s->score + (size_t)row * s->n_models;
        double sum = 0;
        for (uint32_t m = 0; m < s->n_models; m++)
            sum += with_margin(score[m]);
        if (a)
            a[row] = sum;
        if (b)
            b[row] = s->n_models - sum;
        if (mean)
            mean[row] = sum / s->n_models;
        if (sd)
            sd[row] = spread(score, s->n_models, sum / s->n_models);
    }
}
