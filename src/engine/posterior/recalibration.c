/* recalibration.c - see recalibration.h.
 *
 * The largest exponent is 0.  Cells with an exponent below LEAST_SCALE_EXPONENT get the scale 0 and
 * are not drawn, until the exponents are taken out of the factors again: at the latest when the sum
 * of all cells has fallen to LEAST_TOTAL.  So what is left out has a chance below 2^-88.
 */
#include "engine/posterior/recalibration.h"

#include <math.h>
#include <string.h>

#include "engine/kernels/philox.h"
#include "engine/posterior/item_prior.h"
#include "engine/special/special.h"

#define LEAST_SCALE_EXPONENT (-160)
#define LEAST_TOTAL 0x1p-60
#define RENEWED_FACTOR 0x1p-700 /* factors below are brought back to [1/2, 1) */
#define LEAST_FACTOR 0x1p-900   /* one observation multiplies by more than 2^-200 */
#define REPLAYED_MOST 256 /* up to so many observations it is faster to repeat them one by one */
#define LN2 0x1.62e42fefa39efp-1
#define NO_CHANCE (-0x1p40) /* the hyperprior's logarithm in padding, and where its chance is 0 */
#define LEAST_EXPONENT (-0x1p62)

static bool is_whole(double x)
{
    return fabs(x - floor(x)) <= 0;
}

/* ---- the grid */

static uint32_t n_rows(const recalibration *r)
{
    return r->n_slopes * r->n_weights;
}

static double shift_after(double shift)
{
    return shift + (shift >= -3 && shift < 2 ? 0.5 : 1);
}

/* Writes the shifts between both ends unless out is NULL; returns how many. */
static uint32_t list_shifts(const recalibration_plan *plan, double *out)
{
    uint32_t n = 0;
    for (double s = -20; s <= plan->shift_max; s = shift_after(s))
        if (s >= plan->shift_min) {
            if (out)
                out[n] = s;
            n++;
        }
    return n;
}

static uint32_t list_weights(const recalibration_plan *plan, double *out)
{
    uint32_t n = 0;
    for (double w = 0x1p-10; w <= plan->weight_max; w *= 2)
        if (w >= plan->weight_min) {
            if (out)
                out[n] = w;
            n++;
        }
    return n;
}

recalibration recalibration_layout(layout *l, const recalibration_plan *plan)
{
    recalibration r = {.plan = *plan, .n_slopes = plan->slopes ? MOST_SLOPES : 1};
    r.n_weights = list_weights(plan, NULL);
    r.n_shifts = list_shifts(plan, NULL);
    r.n_padded = grid_padded(r.n_shifts);
    r.n_cells = r.n_slopes * r.n_weights * r.n_padded;
    r.centre = layout_take_close(l, 1, sizeof(double));
    r.odds = layout_take_close(l, r.n_padded, sizeof(double));
    r.weight = layout_take_close(l, r.n_weights, sizeof(double));
    r.total = layout_take_close(l, n_rows(&r), sizeof(double));
    r.factor = layout_take(l, r.n_cells, sizeof(double));
    r.exponent = layout_take_close(l, r.n_cells, sizeof(double));
    r.scale = layout_take_close(l, r.n_cells, sizeof(grid_scale));
    return r;
}

static double slope_at(const recalibration *r, uint32_t i)
{
    return r->n_slopes == 1 ? 1 : 0.5 * i;
}

/* The hyperprior of slope number i, not normalised. */
static double slope_chance(const recalibration_plan *plan, uint32_t i)
{
    const double chance[MOST_SLOPES] = {plan->slope_none, plan->slope_half, 1};
    return plan->slopes ? chance[i] : 1;
}

static double log_normal(double x, double sd)
{
    return -0.5 * (x / sd) * (x / sd);
}

/* The hyperprior of all cells, normalised, as logarithms to base 2. */
static void list_hyperprior(const void *state, const recalibration *r, double *prior)
{
    const recalibration_plan *plan = &r->plan;
    double shift[MOST_SHIFTS], sum = 0;
    list_shifts(plan, shift);
    for (uint32_t row = 0; row < n_rows(r); row++) {
        double log_weight = log(doubles_at(state, r->weight)[row % r->n_weights]);
        double log_row = log_normal(log_weight, plan->weight_sd);
        for (uint32_t s = 0; s < r->n_padded; s++) {
            double chance = s < r->n_shifts ? slope_chance(plan, row / r->n_weights) : 0;
            if (chance > 0)
                chance *= exp(log_normal(shift[s], plan->shift_sd) + log_row);
            prior[row * r->n_padded + s] = chance;
            sum += chance;
        }
    }
    for (uint32_t c = 0; c < r->n_cells; c++)
        prior[c] = prior[c] > 0 ? log2(prior[c] / sum) : NO_CHANCE;
}

void recalibration_init(void *state, const recalibration *r)
{
    double *odds = doubles_at(state, r->odds), shift[MOST_SHIFTS];
    list_weights(&r->plan, doubles_at(state, r->weight));
    list_shifts(&r->plan, shift);
    for (uint32_t s = 0; s < r->n_padded; s++)
        odds[s] = s < r->n_shifts ? exp(-shift[s]) : 1;
    *doubles_at(state, r->centre) = 1;
    recalibration_clear(state, r);
}

/* ---- scales */

/* Of a cell whose hyperprior is 0: a negative zero, which adds nothing to a total. */
#define NEVER ((grid_scale)0x8000)

static grid_scale *scales_of(const void *state, const recalibration *r)
{
    return (grid_scale *)(void *)((unsigned char *)state + r->scale);
}

static bool is_possible(const void *state, const recalibration *r, uint32_t cell)
{
    return scales_of(state, r)[cell] != NEVER;
}

static double scale_value(grid_scale scale)
{
    uint64_t bits = (uint64_t)(scale & ~NEVER) << GRID_SCALE_SHIFT;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double cell_weight(const void *state, const recalibration *r, uint32_t cell)
{
    return doubles_at(state, r->factor)[cell] * scale_value(scales_of(state, r)[cell]);
}

/* ---- factors and exponents */

/* The sum of the weights of all cells. */
static double grid_total(const void *state, const recalibration *r)
{
    double sum = 0;
    for (uint32_t row = 0; row < n_rows(r); row++)
        sum += doubles_at(state, r->total)[row];
    return sum;
}

static double row_total(const void *state, const recalibration *r, uint32_t row)
{
    double sum[GRID_WIDTH] = {0};
    for (uint32_t s = 0; s < r->n_padded; s++)
        sum[s % GRID_WIDTH] += cell_weight(state, r, row * r->n_padded + s);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Scales and totals from the exponents, the largest of which is 0. */
static void derive_scales(void *state, const recalibration *r)
{
    const double *exponent = doubles_at(state, r->exponent);
    grid_scale *scale = scales_of(state, r);
    for (uint32_t c = 0; c < r->n_cells; c++)
        if (is_possible(state, r, c))
            scale[c] = exponent[c] >= LEAST_SCALE_EXPONENT
                           ? (grid_scale)(GRID_SCALE_ONE + GRID_SCALE_STEP * (int)exponent[c])
                           : 0;
    for (uint32_t row = 0; row < n_rows(r); row++)
        doubles_at(state, r->total)[row] = row_total(state, r, row);
}

/* Takes the exponents out of the factors, and makes the largest 0. */
static void normalise(void *state, const recalibration *r)
{
    double *factor = doubles_at(state, r->factor), *exponent = doubles_at(state, r->exponent);
    double largest = -HUGE_VAL;
    for (uint32_t c = 0; c < r->n_cells; c++) {
        int e;
        factor[c] = frexp(factor[c], &e);
        exponent[c] += e;
        if (is_possible(state, r, c) && exponent[c] > largest)
            largest = exponent[c];
    }
    for (uint32_t c = 0; c < r->n_cells; c++) {
        exponent[c] -= largest;
        exponent[c] = exponent[c] > 0                ? 0
                      : exponent[c] < LEAST_EXPONENT ? LEAST_EXPONENT
                                                     : exponent[c];
    }
    derive_scales(state, r);
}

/* Multiplies a cell by 2^log2. */
static void multiply(double *factor, double *exponent, double log2)
{
    double whole = floor(log2);
    *factor *= exp2(log2 - whole);
    *exponent += whole;
}

void recalibration_clear(void *state, const recalibration *r)
{
    double *factor = doubles_at(state, r->factor), *exponent = doubles_at(state, r->exponent);
    double prior[MOST_CELLS];
    list_hyperprior(state, r, prior);
    for (uint32_t c = 0; c < r->n_cells; c++) {
        factor[c] = 0.5;
        exponent[c] = 0;
        scales_of(state, r)[c] = prior[c] > NO_CHANCE ? 0 : NEVER;
        if (prior[c] > NO_CHANCE)
            multiply(&factor[c], &exponent[c], prior[c]);
    }
    normalise(state, r);
}

void recalibration_take(void *state, const recalibration *r, const double *factor,
                        const double *exponent)
{
    memcpy(doubles_at(state, r->factor), factor, r->n_cells * sizeof *factor);
    memcpy(doubles_at(state, r->exponent), exponent, r->n_cells * sizeof *exponent);
    derive_scales(state, r);
}

/* ---- observations */

static grid_axes axes_of(const void *state, const recalibration *r)
{
    return (grid_axes){r->n_slopes, r->n_weights, r->n_padded, doubles_at(state, r->odds),
                       doubles_at(state, r->weight)};
}

static double tilt_of(const item_evidence *item, double slope, double centre)
{
    double x = item->a / item->b * centre;
    return slope >= 1 ? 1 : slope > 0 ? sqrt(x) : x;
}

/* Multiplies `factor` by the chances of one observation, and returns the least factor. */
static double observe_into(const void *state, const recalibration *r, const item_evidence *item,
                           bool clicked, double *factor, double *total)
{
    const grid_axes axes = axes_of(state, r);
    grid_lesson lesson = {.a = item->a,
                          .b = item->b,
                          .examined = item->examined,
                          .alike = clicked ? item->clicked : item->examined - item->clicked,
                          .clicked = clicked};
    for (uint32_t i = 0; i < r->n_slopes; i++)
        lesson.tilt[i] = tilt_of(item, slope_at(r, i), *doubles_at(state, r->centre));
    return KERNEL(grid_observe)(&axes, &lesson, factor, scales_of(state, r), total);
}

static void observe_one(void *state, const recalibration *r, const item_evidence *item,
                        bool clicked)
{
    double least = observe_into(state, r, item, clicked, doubles_at(state, r->factor),
                                doubles_at(state, r->total));
    if (!(least >= RENEWED_FACTOR && grid_total(state, r) >= LEAST_TOTAL))
        normalise(state, r);
}

grid_cell recalibration_cell(const void *state, const recalibration *r, uint32_t cell)
{
    uint32_t row = cell / r->n_padded;
    return (grid_cell){.odds = doubles_at(state, r->odds)[cell % r->n_padded],
                       .weight = doubles_at(state, r->weight)[row % r->n_weights],
                       .slope = slope_at(r, row / r->n_weights),
                       .centre = *doubles_at(state, r->centre)};
}

/* The prior of an item in a cell, without observations. */
static void prior_in(const grid_cell *cell, const item_evidence *item, double *a, double *b)
{
    double moved = item->b * (cell->odds * tilt_of(item, cell->slope, cell->centre));
    double share = cell->weight * (item->a + item->b) / (item->a + moved);
    *a = item->a * share;
    *b = moved * share;
}

/* The logarithm of the marginal likelihood of the item's observations in a cell, over their
 * likelihood at the observed rate, which is the same in all cells.  It is likelihood times prior
 * over posterior at any rate.  No digits cancel at the observed rate where the observations
 * outweigh the prior, and at the posterior's mean otherwise. */
static double log_marginal(const grid_cell *cell, const item_evidence *item)
{
    double missed = item->examined - item->clicked, n = item->examined + 1, a, b, likelihood = 0;
    double x = (item->clicked + 0.5) / n, y = (missed + 0.5) / n;
    prior_in(cell, item, &a, &b);
    if (a + b > item->examined) {
        double all = a + b + item->examined;
        double mean = (a + item->clicked) / all, rest = (b + missed) / all;
        likelihood = item->clicked * log(mean / x) + missed * log(rest / y);
        x = mean;
        y = rest;
    }
    return likelihood + log_beta_power(a, b, x, y) -
           log_beta_power(a + item->clicked, b + missed, x, y);
}

/* `sign` times the difference that the observations `to` make over `from`. */
static void multiply_all(void *state, const recalibration *r, const item_evidence *from,
                         const item_evidence *to, double sign)
{
    for (uint32_t c = 0; c < r->n_cells; c++) {
        grid_cell cell = recalibration_cell(state, r, c);
        double log_ratio = log_marginal(&cell, to) - (from ? log_marginal(&cell, from) : 0);
        multiply(&doubles_at(state, r->factor)[c], &doubles_at(state, r->exponent)[c],
                 sign * log_ratio / LN2);
    }
    normalise(state, r);
}

/* Steps to the next of an item's observations, clicks first; false after the last. */
static bool next_observation(const item_evidence *item, item_evidence *now, bool *clicked)
{
    *clicked = now->clicked < item->clicked;
    return now->examined < item->examined;
}

static void count_observation(item_evidence *now, bool clicked)
{
    now->examined++;
    now->clicked += clicked;
}

/* Divides by the chances of all observations of an item.  Their product is made apart, so that each
 * cell is divided once. */
static void divide_by_replayed(void *state, const recalibration *r, const item_evidence *item)
{
    double *factor = doubles_at(state, r->factor), *exponent = doubles_at(state, r->exponent);
    double product[MOST_CELLS], total[MOST_ROWS];
    item_evidence now = {.a = item->a, .b = item->b};
    bool clicked;
    for (uint32_t c = 0; c < r->n_cells; c++)
        product[c] = 1;
    for (; next_observation(item, &now, &clicked); count_observation(&now, clicked))
        if (!(observe_into(state, r, &now, clicked, product, total) >= RENEWED_FACTOR))
            for (uint32_t c = 0; c < r->n_cells; c++) {
                int e;
                product[c] = frexp(product[c], &e);
                exponent[c] -= e;
            }
    for (uint32_t c = 0; c < r->n_cells; c++)
        factor[c] /= product[c];
    normalise(state, r);
}

void recalibration_add(void *state, const recalibration *r, const item_evidence *item, int sign)
{
    item_evidence now = {.a = item->a, .b = item->b};
    bool clicked;
    if (!(item->examined > 0))
        return;
    if (!(item->examined <= REPLAYED_MOST) || !is_whole(item->examined) || !is_whole(item->clicked))
        multiply_all(state, r, NULL, item, sign);
    else if (sign < 0)
        divide_by_replayed(state, r, item);
    else
        for (; next_observation(item, &now, &clicked); count_observation(&now, clicked))
            observe_one(state, r, &now, clicked);
}

void recalibration_observe(void *state, const recalibration *r, const item_evidence *item,
                           bool clicked, double weight)
{
    if (!(fabs(weight - 1) > 0)) {
        observe_one(state, r, item, clicked);
        return;
    }
    item_evidence after = *item;
    after.examined += weight;
    after.clicked += clicked ? weight : 0;
    multiply_all(state, r, item, &after, 1);
}

/* ---- reading */

/* A number in (0,1) with 53 bits. */
static double uniform_of_words(const uint32_t word[2])
{
    return ((double)(word[0] >> 5) * 0x1p26 + (double)(word[1] >> 6) + 0.5) * 0x1p-53;
}

/* The entry of `weight` in which `target` falls, or the last that is not 0. */
static uint32_t entry_at(const double *weight, const grid_scale *scale, uint32_t n, double *target)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        double here = scale ? weight[i] * scale_value(scale[i]) : weight[i];
        if (!(here > 0))
            continue;
        last = i;
        if (*target < here)
            return i;
        *target -= here;
    }
    return last;
}

grid_cell recalibration_draw(const void *state, const recalibration *r, const oltr_rng *rng)
{
    const double *total = doubles_at(state, r->total);
    uint32_t word[4];
    words_at(rng, 0, PURPOSE_RECALIBRATION, word);
    double target = uniform_of_words(word) * grid_total(state, r);
    size_t first = (size_t)entry_at(total, NULL, n_rows(r), &target) * r->n_padded;
    uint32_t shift = entry_at(doubles_at(state, r->factor) + first, scales_of(state, r) + first,
                              r->n_padded, &target);
    return recalibration_cell(state, r, (uint32_t)first + shift);
}

double recalibration_chance(const void *state, const recalibration *r, uint32_t cell)
{
    return cell_weight(state, r, cell) / grid_total(state, r);
}

void recalibration_posterior(const grid_cell *cell, const item_evidence *item, double *a, double *b)
{
    prior_in(cell, item, a, b);
    *a += item->clicked;
    *b += item->examined - item->clicked;
}

/* The mean over the cells, and the variance around `centre`. */
static void average(const void *state, const recalibration *r, const item_evidence *item,
                    double centre, double *mean, double *variance)
{
    double first = 0, second = 0, sum = 0;
    for (uint32_t c = 0; c < r->n_cells; c++) {
        double weight = cell_weight(state, r, c), a, b;
        if (!(weight > 0))
            continue;
        grid_cell cell = recalibration_cell(state, r, c);
        recalibration_posterior(&cell, item, &a, &b);
        double n = a + b, m = a / n;
        sum += weight;
        first += weight * m;
        second += weight * (m * (b / n) / (n + 1) + (m - centre) * (m - centre));
    }
    *mean = first / sum;
    *variance = second / sum;
}

void recalibration_predict(const void *state, const recalibration *r, const item_evidence *item,
                           double *mean, double *sd)
{
    double centre, variance, a, b;
    if (r->n_shifts == 1 && n_rows(r) == 1) { /* as ts-beta, to the bit */
        grid_cell cell = recalibration_cell(state, r, 0);
        recalibration_posterior(&cell, item, &a, &b);
        *mean = a / (a + b);
        *sd = beta_sd(a, b);
        return;
    }
    average(state, r, item, 0, &centre, &variance);
    average(state, r, item, centre, mean, &variance);
    *sd = sqrt(variance);
}

void recalibration_marginal(const void *state, const recalibration *r, uint32_t axis,
                            oltr_hyper *out)
{
    static const char *const name[] = {"shift", "slope", "weight"};
    const uint32_t n[] = {r->n_shifts, r->n_slopes, r->n_weights};
    *out = (oltr_hyper){.name = name[axis], .n_values = n[axis]};
    if (axis == SHIFT_AXIS)
        list_shifts(&r->plan, out->value);
    for (uint32_t i = 0; axis == SLOPE_AXIS && i < n[axis]; i++)
        out->value[i] = slope_at(r, i);
    if (axis == WEIGHT_AXIS)
        list_weights(&r->plan, out->value);
    for (uint32_t c = 0; c < r->n_cells; c++) {
        const uint32_t row = c / r->n_padded,
                       at[] = {c % r->n_padded, row / r->n_weights, row % r->n_weights};
        if (c % r->n_padded < r->n_shifts)
            out->chance[at[axis]] += cell_weight(state, r, c);
    }
    double sum = 0; /* of these very numbers, so that no chance is above 1 */
    for (uint32_t i = 0; i < n[axis]; i++)
        sum += out->chance[i];
    for (uint32_t i = 0; i < n[axis]; i++)
        out->chance[i] /= sum;
    for (uint32_t i = 0; i < n[axis]; i++)
        out->mean += out->chance[i] * out->value[i];
    for (uint32_t i = 0; i < n[axis]; i++)
        out->sd += out->chance[i] * (out->value[i] - out->mean) * (out->value[i] - out->mean);
    out->sd = sqrt(out->sd);
}

/* Whether a saved cell is one that observations can leave. */
static bool is_weight(double factor, double exponent)
{
    return factor >= LEAST_FACTOR && factor <= 1 && exponent >= LEAST_EXPONENT && exponent <= 0 &&
           is_whole(exponent);
}

bool recalibration_possible(const void *state, const recalibration *r, const double *factor,
                            const double *exponent)
{
    double largest = -HUGE_VAL;
    for (uint32_t c = 0; c < r->n_cells; c++) {
        if (!is_weight(factor[c], exponent[c]))
            return false;
        if (is_possible(state, r, c))
            largest = fmax(largest, exponent[c]);
    }
    return largest >= 0;
}

/* Weights are known but for a common factor, so their ratios to the first cell are compared. */
bool recalibration_agrees(const void *state, const recalibration *r, const double *factor,
                          const double *exponent, double rounding)
{
    const double *own_factor = doubles_at(state, r->factor),
                 *own_exponent = doubles_at(state, r->exponent);
    double first = NAN;
    for (uint32_t c = 0; c < r->n_cells; c++) {
        if (!is_possible(state, r, c))
            continue;
        double log_weight = log2(factor[c]) + exponent[c],
               difference = log_weight - (log2(own_factor[c]) + own_exponent[c]);
        first = isnan(first) ? difference : first;
        if (!(fabs(difference - first) <= 1e-6 + rounding + 1e-12 * fabs(log_weight)))
            return false;
    }
    return true;
}
