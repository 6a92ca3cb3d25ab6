/* feature_rows.c - see context.h. */
#include "engine/policy/feature_rows.h"

#include <math.h>

#include "engine/posterior/logistic.h"

const char *const norm_choices[] = {"accept", "scale", "refuse", NULL};

#define SLACK 1e-6 /* a row scaled to length 1 in float32 may come out a little longer */

size_t context_saved(const oltr_settings *settings)
{
    return (size_t)settings->dim * (settings->dim + 1) / 2;
}

static context_offsets plan_scratch(uint32_t n_items, uint32_t dim)
{
    layout l = {0, 0};
    context_offsets p = {.score = layout_take(&l, padded(n_items), sizeof(double))};
    p.best = layout_take(&l, topk_room(n_items), sizeof(double));
    p.width = layout_take(&l, n_items, sizeof(double));
    p.theta = layout_take(&l, dim, sizeof(double));
    p.single = layout_take(&l, padded(dim), sizeof(float));
    p.work = layout_take(&l, ldl_quadratic_work(dim), sizeof(double));
    p.bytes = l.overflow ? 0 : l.used;
    return p;
}

context context_plan(layout *l, const oltr_settings *settings, uint32_t norm)
{
    context c = {settings->n_items, settings->dim, norm, 0,
                 plan_scratch(settings->n_items, settings->dim)};
    c.rows = layout_take(l, (size_t)LEARN_BATCH * settings->dim, sizeof(float));
    return c;
}

static double length_of(const float *x, uint32_t dim)
{
    double square = 0;
    for (uint32_t i = 0; i < dim; i++)
        square += (double)x[i] * (double)x[i];
    return sqrt(square);
}

int context_refuses(const context *c, const float *x)
{
    return c->norm == NORM_REFUSE && !(length_of(x, c->dim) <= 1 + SLACK);
}

static const float *shortened(void *state, const context *c, const float *x, uint32_t slot)
{
    double length = c->norm == NORM_SCALE ? length_of(x, c->dim) : 0;
    if (!(length > 1 + SLACK))
        return x;
    float *copy = floats_at(state, c->rows) + (size_t)slot * c->dim;
    for (uint32_t i = 0; i < c->dim; i++)
        copy[i] = (float)((double)x[i] / length);
    return copy;
}

uint32_t context_gather(void *state, const context *c, const candidates *from,
                        const oltr_ranking *shown, const oltr_feedback *seen, uint32_t start,
                        uint32_t end, const float *x[LEARN_BATCH], double y[LEARN_BATCH])
{
    uint32_t n = 0;
    for (uint32_t slot = start; slot < end && n < LEARN_BATCH; slot++, n++) {
        uint32_t row = row_of_item(from, shown->item[slot]);
        x[n] = shortened(state, c, from->x + row * from->stride, n);
        y[n] = slot < seen->n_examined ? seen->reward[slot] : 0;
    }
    return n;
}

/* ---- scratch */

size_t context_scratch_bytes(const oltr_settings *settings)
{
    return plan_scratch(settings->n_items, settings->dim).bytes;
}

/* ---- scoring */

void context_sample(const context_scratch *s, const context *c, const ldl *factor, double scale,
                    const oltr_rng *rng)
{
    const float *z = standard_normals_ahead(rng, s->ahead, c->dim, s->single);
    ldl_sample(factor, scale, z, s->theta);
}

oltr_status context_shorten(const context *c, const candidates *from, double *value)
{
    for (uint32_t j = 0; c->norm != NORM_ACCEPT && j < from->n; j++) {
        double length = length_of(from->x + j * from->stride, c->dim);
        if (c->norm == NORM_REFUSE && !(length <= 1 + SLACK))
            return OLTR_EFEATURE;
        if (length > 1 + SLACK)
            value[j] /= length;
    }
    return OLTR_OK;
}

oltr_status context_scores(const context_scratch *s, const context *c, const candidates *from,
                           const double *theta)
{
    double *score = s->scores.score;
    if (!rows_times(from->x, from->stride, from->n, c->dim, theta, score))
        return OLTR_EFEATURE; /* theta is finite, so a feature is not */
    return context_shorten(c, from, score);
}

void context_widths(const context_scratch *s, const context *c, const candidates *from,
                    const ldl *factor)
{
    ldl_quadratic(factor, from->x, from->stride, from->n, s->width, s->work);
    for (uint32_t j = 0; j < from->n; j++)
        s->width[j] = sqrt(s->width[j]);
    context_shorten(c, from, s->width);
}

oltr_status context_show(const context_scratch *s, const context *c, const candidates *from,
                         const oltr_rng *rng, const oltr_ranking *out)
{
    show_best(s->scores, &(candidates){.n = from->n}, rng, out); /* places, not yet items */
    int bounded = rows_within(from->x, from->stride, out->item, out->k, c->dim, LARGEST_FEATURE);
    places_to_items(from, out);
    return bounded ? OLTR_OK : OLTR_EFEATURE;
}

oltr_status context_click_moments(const context *c, const candidates *from, double spread,
                                  double *mean, double *sd)
{
    oltr_status status = context_shorten(c, from, mean);
    for (uint32_t j = 0; sd && j < from->n; j++)
        sd[j] = spread * sqrt(sd[j]) * sigmoid(mean[j]) * sigmoid(-mean[j]);
    if (sd)
        context_shorten(c, from, sd);
    for (uint32_t j = 0; j < from->n; j++)
        mean[j] = sigmoid(mean[j]);
    return status;
}
