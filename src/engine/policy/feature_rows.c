/* feature_rows.c - see feature_rows.h. */
#include "engine/policy/feature_rows.h"

#include <stdlib.h>

#include "engine/posterior/logistic.h"

const char *const norm_choices[] = {"accept", "scale", "refuse", NULL};

#define SLACK 1e-6 /* a row scaled to length 1 in float32 may come out a little longer */

size_t feature_min_saved(const oltr_settings *settings)
{
    return (size_t)settings->dim * (settings->dim + 1) / 2;
}

static feature_scratch_plan plan_scratch(uint32_t n_items, uint32_t dim)
{
    feature_scratch_plan p = {.score = 0};
    layout l = scores_plan(n_items, &p.best);
    p.width = layout_take(&l, padded(n_items), sizeof(double));
    p.more = layout_take(&l, (SEVERAL - 2) * (size_t)padded(n_items), sizeof(double));
    p.theta = layout_take(&l, SEVERAL * (size_t)dim, sizeof(double));
    p.single = layout_take(&l, padded(dim), sizeof(float));
    p.gather = layout_take(&l, (size_t)QUADRATIC_ITEMS * dim, sizeof(float));
    p.work = layout_take(&l, ldl_quadratic_work(dim), sizeof(double));
    p.bytes = layout_bytes(&l);
    return p;
}

feature_rows feature_rows_plan(layout *l, const oltr_settings *settings, uint32_t norm)
{
    return (feature_rows){settings->n_items, settings->dim, norm,
                          layout_take(l, (size_t)LEARN_BATCH * settings->dim, sizeof(float)),
                          plan_scratch(settings->n_items, settings->dim)};
}

size_t feature_scratch_bytes(const oltr_settings *settings)
{
    return plan_scratch(settings->n_items, settings->dim).bytes;
}

static double length_of(const float *x, uint32_t dim)
{
    double square = 0;
    for (uint32_t i = 0; i < dim; i++)
        square += (double)x[i] * (double)x[i];
    return sqrt(square);
}

bool row_is_too_long(const feature_rows *rows, const float *x)
{
    return rows->norm == NORM_REFUSE && !(length_of(x, rows->dim) <= 1 + SLACK);
}

/* ---- learning */

static const float *scaled(void *state, const feature_rows *rows, const float *x, uint32_t i)
{
    double length = rows->norm == NORM_SCALE ? length_of(x, rows->dim) : 0;
    if (!(length > 1 + SLACK))
        return x;
    float *copy = floats_at(state, rows->scaled) + (size_t)i * rows->dim;
    for (uint32_t j = 0; j < rows->dim; j++)
        copy[j] = (float)((double)x[j] / length);
    return copy;
}

bool batch_next(row_batch *b, void *state, const feature_rows *rows, const candidates *from,
                const oltr_ranking *shown, const oltr_feedback *seen, uint32_t end)
{
    b->start += b->n;
    b->n = 0;
    b->weight = seen->weight ? seen->weight + b->start : NULL;
    for (uint32_t slot = b->start; slot < end && b->n < LEARN_BATCH; slot++, b->n++) {
        uint32_t row = row_of_item(from, shown->item[slot]);
        b->x[b->n] = scaled(state, rows, from->x + row * from->stride, b->n);
        b->y[b->n] = slot < seen->n_examined ? seen->reward[slot] : 0;
    }
    return b->n > 0;
}

/* ---- ranking */

/* What scaling the rows does to values that are proportional to them: those of rows longer than 1
 * are divided by the length.  OLTR_EFEATURE for a row that is refused. */
static oltr_status scale_values(const feature_rows *rows, const candidates *from, double *value)
{
    for (uint32_t j = 0; rows->norm != NORM_ACCEPT && j < from->n; j++) {
        double length = length_of(from->x + j * from->stride, rows->dim);
        if (rows->norm == NORM_REFUSE && !(length <= 1 + SLACK))
            return OLTR_EFEATURE;
        if (length > 1 + SLACK)
            value[j] /= length;
    }
    return OLTR_OK;
}

/* x'theta of every candidate. */
static oltr_status score_rows(const feature_rows *rows, const candidates *from, const double *theta,
                              double *score)
{
    if (!rows_times(from->x, from->stride, from->n, rows->dim, theta, score))
        return OLTR_EFEATURE; /* theta is finite, so a feature is not */
    return scale_values(rows, from, score);
}

static oltr_status show_scored(const feature_rows *rows, double *score, const candidates *from,
                               const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    double_scores s = {score, doubles_at(scratch, rows->scratch.best)};
    show_best(s, &(candidates){.n = from->n}, rng, out); /* places, not yet items */
    bool good = rows_within(from->x, from->stride, out->item, out->k, rows->dim, LARGEST_FEATURE);
    places_to_items(from, out);
    return good ? OLTR_OK : OLTR_EFEATURE;
}

static void sample_into(double *theta, const feature_rows *rows, const ldl *factor,
                        const double *center, double spread, const oltr_rng *rng, void *scratch)
{
    const float *z = standard_normals_ahead(rng, ahead_of(scratch), rows->dim,
                                            floats_at(scratch, rows->scratch.single));
    ldl_sample(factor, spread, z, theta);
    for (uint32_t i = 0; center && i < rows->dim; i++)
        theta[i] += center[i];
}

double *sample_theta(const feature_rows *rows, const ldl *factor, const double *center,
                     double spread, const oltr_rng *rng, void *scratch)
{
    double *theta = doubles_at(scratch, rows->scratch.theta);
    sample_into(theta, rows, factor, center, spread, rng, scratch);
    return theta;
}

oltr_status rank_by_theta(const feature_rows *rows, const double *theta, const candidates *from,
                          const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    double *score = doubles_at(scratch, rows->scratch.score);
    oltr_status status = score_rows(rows, from, theta, score);
    return status == OLTR_OK ? show_scored(rows, score, from, rng, scratch, out) : status;
}

oltr_status rank_by_sample(const feature_rows *rows, const ldl *factor, const double *center,
                           double spread, const candidates *from, const oltr_rng *rng,
                           void *scratch, const oltr_ranking *out)
{
    const double *theta = sample_theta(rows, factor, center, spread, rng, scratch);
    return rank_by_theta(rows, theta, from, rng, scratch, out);
}

_Static_assert((int)SEVERAL == (int)OLTR_RANKED_TOGETHER, "a theta for each list");

oltr_status rank_by_samples(const feature_rows *rows, const ldl *factor, const double *center,
                            double spread, const candidates *from, const oltr_rng *rng,
                            void *scratch, const oltr_ranking *out)
{
    double *more = doubles_at(scratch, rows->scratch.more),
           *score[SEVERAL] = {doubles_at(scratch, rows->scratch.score),
                              doubles_at(scratch, rows->scratch.width), more,
                              more + padded(rows->n_items)};
    const double *theta[SEVERAL];
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; i < SEVERAL; i++) {
        double *own = doubles_at(scratch, rows->scratch.theta) + i * (size_t)rows->dim;
        sample_into(own, rows, factor, center, spread, &rng[i], scratch);
        theta[i] = own;
    }
    if (!rows_times_several(from->x, from->stride, from->n, rows->dim, theta, score))
        return OLTR_EFEATURE;
    for (uint32_t i = 0; i < SEVERAL && status == OLTR_OK; i++) {
        status = scale_values(rows, from, score[i]);
        if (status == OLTR_OK)
            status = show_scored(rows, score[i], from, &rng[i], scratch, &out[i]);
    }
    return status;
}

static bool has_covariances(const upper_bound *b)
{
    return b->covariances && row_covariances_on(b->covariances);
}

/* The means and forms of rows that are all covered; false, and nothing, if one is not. */
static bool read_covered(const upper_bound *b, const candidates *from, double *mean, double *form)
{
    if (!has_covariances(b) || !row_forms_have(b->state, b->forms, from))
        return false;
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t item = from->item ? from->item[j] : j;
        mean[j] = covered_mean(b->state, b->covariances, 0, item);
        form[j] = row_forms_at(b->state, b->forms, item)->form;
    }
    return true;
}

/* The same from the factor, or from one made in the scratch where that of the state is out of date.
 */
static oltr_status find_means_and_forms(const feature_rows *rows, const upper_bound *b,
                                        const candidates *from, void *scratch, double *mean,
                                        double *form)
{
    double *theta = doubles_at(scratch, rows->scratch.theta);
    ldl factor = has_covariances(b) ? covered_factor_in(b->state, b->covariances, 0, b->model,
                                                        doubles_at(scratch, rows->scratch.bytes))
                                    : linear_factor(b->state, b->model);
    if (!b->theta)
        ldl_sample(&factor, 0, NULL, theta);
    if (!rows_times(from->x, from->stride, from->n, rows->dim, b->theta ? b->theta : theta, mean))
        return OLTR_EFEATURE;
    row_forms_of(b->state, b->forms, &factor, from, form, floats_at(scratch, rows->scratch.gather),
                 doubles_at(scratch, rows->scratch.work));
    return OLTR_OK;
}

row_covariances covariances_of(layout *l, const oltr_settings *settings, uint32_t norm,
                               uint32_t models)
{
    return row_covariances_plan(l, norm == NORM_SCALE ? UINT32_MAX : settings->n_items,
                                settings->dim, models);
}

/* A factor is made only where covariances are kept, with few items.  Its room is always there: a
 * scratch of more items must serve fewer. */
size_t bound_scratch_bytes(const oltr_settings *settings)
{
    layout l = {feature_scratch_bytes(settings), false};
    layout_take(&l, covered_factor_doubles(settings->dim), sizeof(double));
    return layout_bytes(&l);
}

oltr_status rank_by_upper_bound(const feature_rows *rows, const upper_bound *bound,
                                const candidates *from, const oltr_rng *rng, void *scratch,
                                const oltr_ranking *out)
{
    double *score = doubles_at(scratch, rows->scratch.score);
    double *deviation = doubles_at(scratch, rows->scratch.width);
    oltr_status status = read_covered(bound, from, score, deviation)
                             ? OLTR_OK
                             : find_means_and_forms(rows, bound, from, scratch, score, deviation);
    if (status == OLTR_OK)
        status = scale_values(rows, from, score);
    if (status != OLTR_OK)
        return status;
    for (uint32_t j = 0; j < from->n; j++)
        deviation[j] = sqrt(deviation[j]);
    scale_values(rows, from, deviation);
    for (uint32_t j = 0; j < from->n; j++) {
        double upper = score[j] + bound->width * deviation[j];
        score[j] = upper < bound->most ? upper : bound->most;
    }
    return show_scored(rows, score, from, rng, scratch, out);
}

/* ---- prediction */

/* x'theta and x'V^-1 x, of rows as they are. */
static oltr_status moments(const feature_rows *rows, const ldl *factor, const double *theta,
                           const candidates *from, double *mean, double *variance)
{
    double *work = malloc(linear_work(rows->dim) * sizeof *work);
    if (!work)
        return OLTR_ENOMEM;
    linear_predict_with(factor, theta, from->x, from->stride, from->n, mean, variance, work);
    free(work);
    return OLTR_OK;
}

oltr_status predict_scores(const feature_rows *rows, const ldl *factor, const double *theta,
                           double spread, const candidates *from, double *mean, double *sd)
{
    oltr_status status = moments(rows, factor, theta, from, mean, sd);
    if (status != OLTR_OK)
        return status;
    for (uint32_t j = 0; sd && j < from->n; j++)
        sd[j] = spread * sqrt(sd[j]);
    if (sd)
        scale_values(rows, from, sd);
    return scale_values(rows, from, mean);
}

oltr_status predict_covered(const feature_rows *rows, const upper_bound *of, double spread,
                            const candidates *from, double *mean, double *sd)
{
    size_t bytes = covered_factor_doubles(rows->dim) * sizeof(double);
    double *memory = aligned_alloc(LAYOUT_ALIGN, align_up(bytes));
    if (!memory)
        return OLTR_ENOMEM;
    ldl factor = covered_factor_in(of->state, of->covariances, 0, of->model, memory);
    oltr_status status = predict_scores(rows, &factor, NULL, spread, from, mean, sd);
    free(memory);
    return status;
}

oltr_status predict_chances(const feature_rows *rows, uint32_t link, const ldl *factor,
                            const double *theta, double spread, const candidates *from,
                            double *mean, double *sd)
{
    oltr_status status = moments(rows, factor, theta, from, mean, sd);
    if (status != OLTR_OK)
        return status;
    status = scale_values(rows, from, mean);
    for (uint32_t j = 0; j < from->n; j++) {
        link_values at = link_here(link, mean[j]);
        mean[j] = at.mean;
        if (sd) /* the order for logit is fixed: stored predictions depend on its bits */
            sd[j] = link == LINK_LOGIT ? spread * sqrt(sd[j]) * at.mean * at.rest
                                       : spread * sqrt(sd[j]) * at.slope;
    }
    if (sd)
        scale_values(rows, from, sd);
    return status;
}
