/* beta_race.c - cells of Beta posteriors.  Values are the log-odds log(x / (1 - x)), which keep
 * apart what rounds to 0 or 1.
 *
 * Grid: the square roots of both shapes, in steps of step[0] and step[1]; below 1 their logarithms.
 * The deviation of the log-odds is about sqrt(1/a + 1/b), so that steps of 0.1 move the quantiles
 * by at most 0.2 to 0.3 deviations.
 *
 * Bound.  Beta(a, b) grows stochastically with a and falls with b: the bound is Beta(a_hi, b_lo).
 *
 * Keys have 32 bits, 16 for each shape, up to 4e7 with the usual steps.  Larger b share the last
 * cell of the row, which its bound allows; larger a have no bound, nor have b below the smallest
 * step.  The first half 65535 has the classes.
 *
 * The quantile is that of special.h, which ends at log-odds of 700 either way.  Shapes from
 * BETA_RACE_LEAST on do not get there.
 */
#include "engine/race/family.h"

#include <math.h>

#include "engine/race/mutation.h"
#include "engine/special/special.h"

enum { LOWEST = -400, HIGHEST = 65000 };

static double to_grid(double shape, double step)
{
    return (shape >= 1 ? sqrt(shape) : 1 + log(shape)) / step;
}

static double from_grid(double at, double step)
{
    double g = at * step;
    return g >= 1 ? g * g : exp(g - 1);
}

static double line_of(double shape, double step)
{
    return fmin(fmax(floor(to_grid(shape, step)), LOWEST), HIGHEST);
}

static void shapes_of(const race_items *items, uint32_t i, double *a, double *b)
{
    uint32_t prior = items->common ? 0 : i;
    *a = items->a0[prior] + items->s[i];
    *b = items->b0[prior] + (items->n[i] - items->s[i]);
}

static cell_place place(const race_items *items, uint32_t i)
{
    double a, b, step_a = items->step[0], step_b = items->step[1];
    uint32_t class;
    shapes_of(items, i, &a, &b);
    if (in_class(items, i, &class))
        return (cell_place){0xFFFF0000u | class, {{a, b, 0}, {a, b}}};
    double at_a = line_of(a, step_a), at_b = line_of(b, step_b);
    cell_place p = {
        (uint32_t)(at_a - LOWEST) << 16 | (uint32_t)(at_b - LOWEST),
        {{from_grid(at_a + 1, step_a) * (1 + 1e-12), from_grid(at_b, step_b) * (1 - 1e-12), 0},
         {from_grid(at_a + 0.5, step_a), from_grid(at_b + 0.5, step_b)}}};
    if (at_a >= HIGHEST || at_b <= LOWEST)
        p.shape.bound[0] = (double)INFINITY;
    return p;
}

static double hazard_of(double a, double b, double log_odds)
{
    double e = exp(-fabs(log_odds)), large = 1 / (1 + e), small = e / (1 + e), lower, upper;
    beta_tails(a, b, log_odds < 0 ? small : large, log_odds < 0 ? large : small, &lower, &upper);
    return upper < 0.5 ? -log1p(-upper) : -log(lower);
}

static double middle_hazard(const cell_shape *c, double tau)
{
    return hazard_of(c->middle[0], c->middle[1], tau);
}

static double bound_hazard(const cell_shape *c, double tau)
{
    if (MUTATED(MIDDLE_AS_BOUND))
        return middle_hazard(c, tau);
    if (!(c->bound[0] < (double)INFINITY))
        return (double)INFINITY;
    return hazard_of(c->bound[0], c->bound[1], tau) * (1 + 1e-7); /* beyond what rounding can do */
}

static double scale(const cell_shape *c)
{
    return 0.25 * sqrt(1 / c->middle[0] + 1 / c->middle[1]);
}

static double value(const race_items *items, uint32_t i, double u)
{
    double a, b, upper = -expm1(-u);
    shapes_of(items, i, &a, &b);
    /* Halley's error is cubed by a step: after 1e-5 one more step is exact. */
    return upper <= 0.5 ? beta_near(a, b, upper, 1e-5).next : -beta_near(b, a, exp(-u), 1e-5).next;
}

static void prefetch(const race_items *items, uint32_t i)
{
    __builtin_prefetch(&items->n[i]);
    __builtin_prefetch(&items->s[i]);
    if (!items->common) {
        __builtin_prefetch(&items->a0[i]);
        __builtin_prefetch(&items->b0[i]);
    }
}

const race_family beta_race = {.place = place,
                               .bound_hazard = bound_hazard,
                               .middle_hazard = middle_hazard,
                               .scale = scale,
                               .value = value,
                               .prefetch = prefetch,
                               .step = {0.1, 0.1}};
