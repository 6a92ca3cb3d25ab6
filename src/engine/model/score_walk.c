/* score_walk.c - see score_walk.h.
 *
 * Coordinate.  Normal and Gumbel scores are taken as they are, Beta scores by their log-odds t =
 * log(x/(1-x)). Then every density is smooth and log-concave on the whole axis.  At a distance v
 * from its mode it is peak exp(-fall(v)),    fall convex, fall(0) = 0. The mode of Beta(a,b) is at
 * t = log(a/b), and with x = a/(a+b), y = b/(a+b) fall(v) = (a+b) (log(1 + x (e^v - 1)) - x v).
 *
 * The Gumbel law has its mode at the location, peak 1/e, and fall(v) = v + e^-v - 1.
 *
 * Panels.  In z = sign(v) sqrt(2 fall(v)) every density is a normal one, so a panel may be STEP
 * wide in the z of each item that has a row.  dz/dv is taken at the panel's left end.  It changes
 * little within the panel, unless a Beta law has small shapes: log(1 + e^t) then bends within a
 * panel that is wide in t.  So panels are at most UNIT wide in t, except far from 0, where (a+b)
 * e^-|t| is negligible and the density is exponential.
 * An item has a row from where its fall is DEPTH on one side to where it is so on the other.  A
 * panel does not reach beyond the start of an item unless it is narrow enough for that item too.
 * Where there are many items, the number of scores above a point changes faster than each law.
 * Over a panel its mean may change by COUNT_STEP standard deviations, or by COUNT_STEP where the
 * deviation is below 1; a panel that breaks this is made again, narrower.
 *
 * A distribution function is the integral of the density: from panel to panel by Gauss and
 * Legendre's rule, within a panel by the integral of the polynomial through its points.
 *
 * Error.  The distribution functions are exact to 1e-11 at the points; the errors alternate in sign
 * like a Legendre polynomial and nearly vanish in integrals over a panel: with panels of a third of
 * the width no chance of a list changed by more than 1e-13.  What lies outside start and end is
 * below 1e-17.  Log-odds are rounded to 1e-15, which counts where shapes are beyond 1e12: their
 * deviation is then below 1e-6.
 *
 * Cost.  A panel takes WALK_NODES densities for each row.  There are at most some 13 panels an
 * item, some 50 with shapes below 1, and items that overlap share them: 400 equal items need 61 in
 * all.
 */
#include "engine/model/score_walk.h"

#include <math.h>

#include "engine/base/layout.h"
#include "engine/base/memory.h"
#include "engine/special/special.h"

#define DEPTH 40.0
#define STEP 1.5
#define UNIT 1.5
#define COUNT_STEP 1.5
#define LEAST_CURVE 1e-13 /* of (a+b) e^-|v|: less changes no digit of a density */

/* ---- places */

static walk_place place_at(double from, double offset)
{
    double high = from + offset, part = high - from;
    return (walk_place){high, (from - (high - part)) + (offset - part)};
}

static walk_place place_after(walk_place from, double offset)
{
    walk_place sum = place_at(from.high, offset);
    return place_at(sum.high, sum.low + from.low);
}

/* From one to the other; exact where they are close. */
static double distance(walk_place from, walk_place to)
{
    return (to.high - from.high) + (to.low - from.low);
}

static double beyond_mode(const walk_item *item, walk_place at)
{
    return (at.high - item->mode) + at.low;
}

/* ---- laws */

typedef struct law_ops {
    /* The rest of an item from its `first` and `second`. */
    void (*prepare)(walk_item *item);
    double (*fall)(const walk_item *item, double v);
    /* Of a panel that begins v beyond the mode: how wide the law lets it be. */
    double (*width)(const walk_item *item, double v);
} law_ops;

static void set_ends(walk_item *item, double start, double end)
{
    item->start_at = start;
    item->start = place_at(item->mode, start);
    item->end = place_at(item->mode, end);
}

static void normal_prepare(walk_item *item)
{
    double reach = sqrt(2 * DEPTH) * item->second;
    item->mode = item->first;
    item->peak = 0.39894228040143267794 / item->second;
    set_ends(item, -reach, reach);
}

static double normal_fall(const walk_item *item, double v)
{
    double z = v / item->second;
    return 0.5 * z * z;
}

static double normal_width(const walk_item *item, double v)
{
    (void)v;
    return STEP * item->second;
}

/* log(1 + x (e^v - 1)) - x v for |v| <= 0.01, by the cumulants of a Bernoulli variable. */
static double bend_series(double x, double y, double v)
{
    double w = x * y, d = y - x;
    double c6 = (1 - w * (30 - w * 120)) / 720, c5 = d * (1 - w * 12) / 120;
    double c4 = (1 - w * 6) / 24, c3 = d / 6;
    return w * v * v * (0.5 + v * (c3 + v * (c4 + v * (c5 + v * c6))));
}

/* The same for any v.  The three forms are one function; each is used where it neither cancels nor
 * overflows. */
static double bend(double x, double y, double v)
{
    double near = v > 0 ? y : x, far = v > 0 ? x : y, u = fabs(v);
    if (u <= 0.01)
        return bend_series(x, y, v);
    if (near <= far)
        return near * u + log1p(near * expm1(-u));
    if (u < 50)
        return log1p(far * expm1(u)) - far * u;
    return near * u + log(far + near * exp(-u));
}

static double beta_fall(const walk_item *item, double v)
{
    return (item->first + item->second) * bend(item->x, item->y, v);
}

/* |d fall / dv| */
static double beta_slope(const walk_item *item, double v)
{
    double near = v > 0 ? item->y : item->x, far = v > 0 ? item->x : item->y, u = fabs(v);
    return -item->sharpness * expm1(-u) / (far + near * exp(-u));
}

static double beta_width(const walk_item *item, double v)
{
    double at = item->mode + v, z = sqrt(2 * beta_fall(item, v));
    double rate = z < 1e-3 ? sqrt(item->sharpness) : beta_slope(item, v) / z, width = STEP / rate;
    if (at < -item->zone)
        return fmin(width, fmax(-item->zone - at, UNIT));
    return at < item->zone ? fmin(width, UNIT) : width;
}

/* The distance from the mode at which the fall is DEPTH, on the side of `sign`.  Newton's method on
 * a convex function: from the second step on it comes down to the root from beyond it. */
static double beta_reach(const walk_item *item, double sign)
{
    double u = sqrt(2 * DEPTH / item->sharpness);
    for (int i = 0; i < 200; i++) {
        double gap = beta_fall(item, sign * u) - DEPTH;
        if (i > 0 && gap < 1)
            break;
        u -= gap / beta_slope(item, sign * u);
    }
    return u;
}

static void beta_prepare(walk_item *item)
{
    double a = item->first, b = item->second;
    item->x = a / (a + b);
    item->y = b / (a + b);
    item->sharpness = a < b ? a * item->y : b * item->x; /* d2 fall / dv2 at the mode */
    item->zone = log((a + b) / LEAST_CURVE);
    item->mode = log(a / b);
    item->peak = beta_power(a, b, item->x, item->y);
    set_ends(item, -beta_reach(item, -1), beta_reach(item, 1));
}

/* v + e^-v - 1, of a law of -score at -v. */
static double gumbel_fall(const walk_item *item, double v)
{
    double u = v * item->second;
    return fabs(u) < 1e-3 ? u * u * (0.5 - u * (1.0 / 6 - u * (1.0 / 24))) : u + expm1(-u);
}

static double gumbel_width(const walk_item *item, double v)
{
    double z = sqrt(2 * gumbel_fall(item, v));
    return z < 1e-3 ? STEP : STEP * z / fabs(expm1(-v * item->second));
}

/* The fall is DEPTH at -3.8 and at DEPTH + 1. */
static void gumbel_prepare(walk_item *item)
{
    double steep = 3.81, flat = DEPTH + 1;
    item->mode = item->first;
    item->peak = 0.36787944117144232160;
    if (item->second > 0)
        set_ends(item, -steep, flat);
    else
        set_ends(item, -flat, steep);
}

static const law_ops gumbel_ops = {gumbel_prepare, gumbel_fall, gumbel_width};
static const law_ops normal_ops = {normal_prepare, normal_fall, normal_width};
static const law_ops beta_ops = {beta_prepare, beta_fall, beta_width};

static bool within(double value, double least, double largest)
{
    return value >= least && value <= largest;
}

bool score_laws_are_valid(const score_laws *laws)
{
    for (uint32_t i = 0; i < laws->n; i++) {
        double first = laws->first[i], second = laws->kind == SCORE_FIXED ? 0 : laws->second[i];
        bool valid =
            laws->kind == SCORE_NORMAL
                ? within(first, -1e100, 1e100) && within(second, 1e-100, 1e100)
            : laws->kind == SCORE_BETA   ? within(first, 1e-9, 1e16) && within(second, 1e-9, 1e16)
            : laws->kind == SCORE_GUMBEL ? within(first, -1e100, 1e100) && within(second, 1, 1)
                                         : !isnan(first);
        if (!valid)
            return false;
    }
    return true;
}

/* ---- order */

static void sift(uint32_t *heap, uint32_t n, uint32_t at,
                 bool (*less)(const void *with, uint32_t, uint32_t), const void *with)
{
    uint32_t held = heap[at];
    for (uint64_t child = 2 * (uint64_t)at + 1; child < n; child = 2 * child + 1) {
        if (child + 1 < n && less(with, heap[child], heap[child + 1]))
            child++;
        if (!less(with, held, heap[child]))
            break;
        heap[at] = heap[child];
        at = (uint32_t)child;
    }
    heap[at] = held;
}

/* Heapsort: qsort() of some C libraries allocates. */
void sort_indices(uint32_t *order, uint32_t n, bool (*less)(const void *with, uint32_t, uint32_t),
                  const void *with)
{
    for (uint32_t i = n / 2; i-- > 0;)
        sift(order, n, i, less, with);
    for (uint32_t end = n; end-- > 1;) {
        uint32_t largest = order[0];
        order[0] = order[end];
        order[end] = largest;
        sift(order, end, 0, less, with);
    }
}

static bool starts_before(const void *with, uint32_t i, uint32_t j)
{
    const walk_item *item = with;
    walk_place left = item[i].start, right = item[j].start;
    return left.high < right.high || (left.high == right.high && left.low < right.low);
}

/* ---- Gauss and Legendre's rule */

/* Legendre's polynomials of degree -1 to WALK_NODES at t; that of degree -1 is -1, which makes
 * (p[l + 2] - p[l]) / (2 l + 1) the integral from -1 of the one of degree l for l = 0 too. */
static void legendre(double t, double p[WALK_NODES + 2])
{
    p[0] = -1;
    p[1] = 1;
    p[2] = t;
    for (int l = 1; l < WALK_NODES; l++)
        p[l + 2] = ((2 * l + 1) * t * p[l + 1] - l * p[l]) / (l + 1);
}

/* The points are the roots of the last polynomial, by Newton's method. */
static void find_points(score_walk *walk)
{
    for (int i = 0; i < WALK_NODES; i++) {
        double p[WALK_NODES + 2], slope = 0;
        double t = -cos(3.14159265358979323846 * (i + 0.75) / (WALK_NODES + 0.5));
        for (int step = 0; step < 6; step++) {
            legendre(t, p);
            slope = WALK_NODES * (p[WALK_NODES] - t * p[WALK_NODES + 1]) / (1 - t * t);
            t -= p[WALK_NODES + 1] / slope;
        }
        walk->point[i] = 0.5 * (1 + t);
        walk->weight[i] = 1 / ((1 - t * t) * slope * slope);
    }
}

/* The polynomial through the points is the sum of its projections on Legendre's polynomials, and
 * their integrals are known. */
static void find_integrals(score_walk *walk)
{
    double p[WALK_NODES][WALK_NODES + 2];
    for (int i = 0; i < WALK_NODES; i++)
        legendre(2 * walk->point[i] - 1, p[i]);
    for (int j = 0; j < WALK_NODES; j++)
        for (int i = 0; i < WALK_NODES; i++) {
            double sum = 0;
            for (int l = 0; l < WALK_NODES; l++)
                sum += p[j][l + 1] * (p[i][l + 2] - p[i][l]);
            walk->integral[j][i] = 0.5 * sum;
        }
}

double walk_integral(const score_walk *walk, const walk_nodes *mass, walk_nodes *out)
{
    double all = 0;
    *out = (walk_nodes){{0}};
    for (int j = 0; j < WALK_NODES; j++) {
        double part = mass->at[j];
        all += part;
        for (int i = 0; i < WALK_NODES; i++)
            out->at[i] += part * walk->integral[j][i];
    }
    return all;
}

/* ---- the walk */

static void prepare_items(score_walk *walk, const score_laws *laws, const uint8_t *group,
                          bool downwards)
{
    bool beta = laws->kind == SCORE_BETA, gumbel = laws->kind == SCORE_GUMBEL;
    for (uint32_t i = 0; i < laws->n; i++) {
        double first = laws->first[i], second = laws->second[i];
        walk_item *item = &walk->item[i];
        item->first = !downwards ? first : beta ? second : -first;
        item->second = !downwards ? second : beta ? first : gumbel ? -second : second;
        item->group = group && group[i];
        walk->ops->prepare(item);
        item->start_width = walk->ops->width(item, item->start_at);
        walk->order[i] = i;
        walk->above[item->group]++;
    }
}

score_walk *walk_new(const score_laws *laws, const uint8_t *group, bool downwards,
                     const oltr_memory *memory)
{
    size_t n = laws->n;
    layout l = {align_up(sizeof(score_walk)), false};
    size_t item = layout_take(&l, n, sizeof(walk_item)), order = layout_take(&l, n, 4);
    size_t row_item = layout_take(&l, n, 4), active0 = layout_take(&l, n, 4);
    size_t active1 = layout_take(&l, n, 4), below = layout_take(&l, n, sizeof(walk_nodes));
    size_t mass = layout_take(&l, n, sizeof(walk_nodes)), bytes = layout_bytes(&l);
    score_walk *walk = bytes ? memory_take(memory, bytes) : NULL;
    if (!walk)
        return NULL;
    unsigned char *base = (unsigned char *)walk;
    walk->row_item = words_in(base, row_item);
    walk->below = (walk_nodes *)(void *)(base + below);
    walk->mass = (walk_nodes *)(void *)(base + mass);
    walk->ops = laws->kind == SCORE_BETA     ? &beta_ops
                : laws->kind == SCORE_GUMBEL ? &gumbel_ops
                                             : &normal_ops;
    walk->memory = memory;
    walk->bytes = bytes;
    walk->n = walk->n_order = laws->n;
    walk->item = (walk_item *)(void *)(base + item);
    walk->order = words_in(base, order);
    walk->active[0] = words_in(base, active0);
    walk->active[1] = words_in(base, active1);
    walk->widest = INFINITY;
    find_points(walk);
    find_integrals(walk);
    prepare_items(walk, laws, group, downwards);
    sort_indices(walk->order, walk->n, starts_before, walk->item);
    return walk;
}

void walk_free(score_walk *walk)
{
    if (walk)
        memory_give(walk->memory, walk, walk->bytes);
}

void walk_leave_out(score_walk *walk, walk_place from)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < walk->n_order; i++) {
        const walk_item *item = &walk->item[walk->order[i]];
        if (distance(from, item->end) > 0)
            walk->order[kept++] = walk->order[i];
        else
            walk->above[item->group]--;
    }
    walk->n_order = kept;
}

/* From the last panel to the left end of the next; items that have ended lose their rows. */
static void advance(score_walk *walk)
{
    walk->at = walk->lands ? walk->landing : place_after(walk->at, walk->width);
    for (int g = 0; g < 2; g++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < walk->n_rows[g]; i++) {
            walk_item *item = &walk->item[walk->active[g][i]];
            item->below = item->below_right;
            if (distance(walk->at, item->end) > 0)
                walk->active[g][kept++] = walk->active[g][i];
        }
        walk->n_rows[g] = kept;
    }
    if (walk->n_rows[0] + walk->n_rows[1] == 0 && walk->next < walk->n_order)
        walk->at = walk->item[walk->order[walk->next]].start;
}

/* The widest panel that the laws allow.  One that ends at the start of an item lands there
 * exactly: the item may be narrower than the rounding error of the sum. */
static void choose_width(score_walk *walk)
{
    double width = INFINITY;
    walk->lands = false;
    for (int g = 0; g < 2; g++)
        for (uint32_t i = 0; i < walk->n_rows[g]; i++) {
            const walk_item *item = &walk->item[walk->active[g][i]];
            width = fmin(width, walk->ops->width(item, beyond_mode(item, walk->at)));
        }
    for (uint32_t i = walk->next; i < walk->n_order; i++) {
        const walk_item *item = &walk->item[walk->order[i]];
        double gap = distance(walk->at, item->start), most = fmax(gap, item->start_width);
        if (gap >= width)
            break;
        if (most < width) {
            width = most;
            walk->lands = gap == most;
            walk->landing = item->start;
        }
    }
    walk->lands = walk->lands && width <= walk->widest;
    walk->width = fmin(width, walk->widest);
}

/* Items that start within the panel get a row. */
static void admit(score_walk *walk)
{
    for (; walk->next < walk->n_order; walk->next++) {
        uint32_t i = walk->order[walk->next], g = walk->item[i].group;
        if (distance(walk->at, walk->item[i].start) >= walk->width)
            break;
        walk->active[g][walk->n_rows[g]++] = i;
        walk->above[g]--;
    }
}

static double clamp01(double p)
{
    return p < 0 ? 0 : p > 1 ? 1 : p;
}

static void fill_row(const score_walk *walk, walk_item *item, walk_nodes *below, walk_nodes *mass)
{
    double from = beyond_mode(item, walk->at), scale = item->peak * walk->width;
    for (int i = 0; i < WALK_NODES; i++)
        mass->at[i] = scale * walk->weight[i] *
                      exp(-walk->ops->fall(item, from + walk->width * walk->point[i]));
    double all = walk_integral(walk, mass, below);
    for (int i = 0; i < WALK_NODES; i++)
        below->at[i] = clamp01(item->below + below->at[i]);
    item->below_right = clamp01(item->below + all);
}

/* The rows of a group from row `row` on.  Returns how much the expected number above changes over
 * the panel, as a multiple of what is allowed. */
static double fill_group(score_walk *walk, int g, uint32_t row)
{
    double change = 0, variance[2] = {0, 0};
    walk->expected[g] = walk->above[g];
    for (uint32_t i = 0; i < walk->n_rows[g]; i++, row++) {
        uint32_t at = walk->row_item[row] = walk->active[g][i];
        walk_item *item = &walk->item[at];
        fill_row(walk, item, &walk->below[row], &walk->mass[row]);
        change += item->below_right - item->below;
        variance[0] += item->below * (1 - item->below);
        variance[1] += item->below_right * (1 - item->below_right);
        walk->expected[g] += 1 - item->below_right;
    }
    return change / (COUNT_STEP * sqrt(fmax(1, fmin(variance[0], variance[1]))));
}

bool walk_step(score_walk *walk)
{
    advance(walk);
    if (walk->n_rows[0] + walk->n_rows[1] == 0 && walk->next == walk->n_order)
        return false;
    choose_width(walk);
    admit(walk);
    for (;;) {
        double excess = fill_group(walk, 0, 0);
        excess = fmax(excess, fill_group(walk, 1, walk->n_rows[0]));
        walk->widest = excess > 0.5 ? walk->width * fmax(0.25, 0.8 / excess) : INFINITY;
        if (excess <= 1)
            return true;
        walk->width = walk->widest;
        walk->lands = false;
    }
}
