/* normal_race.c - cells of normal posteriors N(mean, sd^2).
 *
 * Grid: the logarithm of the deviation in steps of step[0], the mean in steps of step[1] deviations
 * (of the largest in the row).  The usual steps, 5 % and 0.2, make a bound that is met by 1.5 to 3
 * times as many members as exceed it.
 *
 * Bound.  With sd_lo <= sd <= sd_hi and mean <= mean_hi, mean + sd z is at most mean_hi + sd_hi z
 * for z >= 0 and at most mean_hi + sd_lo z for z < 0: the smaller deviation below the mean.
 *
 * Keys have 32 bits: 11 for the row of the deviation, 21 for the mean.  Rows 1 to 2046 are
 * deviations from 2e-22 to 5e21; row 2047 has the classes.  The mean is kept up to 209,715
 * deviations either way.  The lowest cell of a row holds everything below, which its bound allows;
 * the highest holds everything above and has no bound.
 */
#include "engine/race/family.h"

#include <math.h>

#include "engine/race/mutation.h"
#include "engine/special/normal_tail.h"

enum { ROWS = 1023, COLUMNS = (1 << 20) - 1, COLUMN_BITS = 21 };

static double within(double x, double most)
{
    return fmin(fmax(x, -most), most);
}

static cell_place place(const race_items *items, uint32_t i)
{
    double mean = (double)items->mean[i], sd = (double)items->sd[i];
    uint32_t class;
    if (in_class(items, i, &class))
        return (cell_place){(2047u << COLUMN_BITS) | class, {{mean, sd, sd}, {mean, sd}}};
    double row = within(floor(log(sd) / items->step[0]), ROWS - 1);
    double high = exp((row + 1) * items->step[0]) * (1 + 1e-12);
    double low = exp(row * items->step[0]) * (1 - 1e-12), width = items->step[1] * high;
    double column = within(floor(mean / width), COLUMNS);
    cell_place p = {(uint32_t)(row + ROWS) << COLUMN_BITS | (uint32_t)(column + COLUMNS + 1),
                    {{(column + 1) * width + 1e-9 * high, high, low},
                     {(column + 0.5) * width, sqrt(high * low)}}};
    if (column >= COLUMNS || row >= ROWS - 1)
        p.shape.bound[0] = (double)INFINITY;
    if (row <= -(ROWS - 1))
        p.shape.bound[2] = 0;
    return p;
}

static double middle_hazard(const cell_shape *c, double tau)
{
    return normal_hazard((tau - c->middle[0]) / c->middle[1]);
}

static double bound_hazard(const cell_shape *c, double tau)
{
    double above = tau - c->bound[0];
    if (MUTATED(MIDDLE_AS_BOUND))
        return middle_hazard(c, tau);
    if (!(above > -(double)INFINITY))
        return (double)INFINITY;
    double sd = above >= 0 || MUTATED(WIDE_BELOW_MEAN) ? c->bound[1] : c->bound[2];
    return normal_hazard(above / sd) * (1 + 1e-9); /* beyond what rounding can do */
}

static double scale(const cell_shape *c)
{
    return 0.25 * c->middle[1];
}

static double value(const race_items *items, uint32_t i, double u)
{
    return (double)items->mean[i] + (double)items->sd[i] * normal_at_hazard(u);
}

static void prefetch(const race_items *items, uint32_t i)
{
    __builtin_prefetch(&items->mean[i]);
    __builtin_prefetch(&items->sd[i]);
}

const race_family normal_race = {.place = place,
                                 .bound_hazard = bound_hazard,
                                 .middle_hazard = middle_hazard,
                                 .scale = scale,
                                 .value = value,
                                 .prefetch = prefetch,
                                 .step = {0.04879016416943205, 0.2}};
