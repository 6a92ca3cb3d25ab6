/* recalibration.c - the checks of recalibration_kernels.h. */
#include "harness.h"

enum { ITEMS = 37 };

/* A shape of any size, now and then an extreme one. */
static double shape(dice *from)
{
    return pow(10, below(from, 5) ? 4 * unit(from) - 2 : 21 * unit(from) - 9);
}

void check_beta_numbers_of(uint32_t cpu)
{
    dice from = {21};
    for (uint32_t n = 0; n <= ITEMS; n++) {
        const size_t room = grid_padded(n);
        double *a = guarded(room, sizeof *a), *b = guarded(room, sizeof *b);
        void *out[7][2];
        describe("distributions %u", n);
        for (size_t i = 0; i < room; i++) {
            a[i] = n % 3 ? shape(&from) : 1 + shape(&from);
            b[i] = n % 3 == 1 && below(&from, 9) == 0 ? 1e-300 : 1 + shape(&from);
        }
        for (int v = 0; v < 7; v++)
            guarded_pair(out[v], room, sizeof(float), NULL);
        bool any[2];
        for (int v = 0; v < 2; v++) {
            const beta_numbers to = {out[0][v], out[1][v], out[2][v], out[3][v],
                                     out[4][v], out[5][v], out[6][v]};
            any[v] = (v ? KERNEL_AT(beta_numbers_of, cpu) : beta_numbers_of_plain)(a, b, n, &to);
        }
        for (int v = 0; v < 7; v++)
            same_floats("a number", out[v][0], out[v][1], room);
        same_bool("that a shape is below 1", any[0], any[1]);
        release();
    }
}

void check_recalibrate_items(uint32_t cpu)
{
    dice from = {22};
    for (uint32_t n = 0; n <= ITEMS; n++)
        for (int form = 0; form < 6; form++) {
            const uint32_t priors = form < 3 ? n : 1;
            double *told[2] = {guarded(priors, sizeof(double)), guarded(priors, sizeof(double))};
            double *examined = guarded(n, sizeof(double)), *clicked = guarded(n, sizeof(double));
            void *a[2], *b[2];
            const grid_cell cell = {exp(8 * unit(&from) - 4), pow(2, below(&from, 7) - 2.0),
                                    exp(4 * unit(&from) - 2), 0.5 * (form % 3)};
            const told_priors from_told = {told[0], told[1], form < 3};
            describe("items %u, priors %u, slope %g", n, priors, cell.slope);
            for (uint32_t i = 0; i < priors; i++) {
                told[0][i] = shape(&from);
                told[1][i] = shape(&from);
            }
            for (uint32_t i = 0; i < n; i++) {
                examined[i] = below(&from, 100000);
                clicked[i] = floor(examined[i] * unit(&from));
            }
            guarded_pair(a, grid_padded(n), sizeof(double), NULL);
            guarded_pair(b, grid_padded(n), sizeof(double), NULL);
            for (int v = 0; v < 2; v++)
                (v ? KERNEL_AT(recalibrate_items, cpu)
                   : recalibrate_items_plain)(&cell, n, &from_told, examined, clicked, a[v], b[v]);
            same_doubles("a first shape", a[0], a[1], grid_padded(n));
            same_doubles("a second shape", b[0], b[1], grid_padded(n));
            release();
        }
}

/* A power of 2, or one of the two zeros. */
static grid_scale some_scale(dice *from)
{
    if (below(from, 4))
        return (grid_scale)(GRID_SCALE_ONE - GRID_SCALE_STEP * (int)below(from, 161));
    return below(from, 2) ? 0 : 0x8000;
}

/* The total of a row, with the scales by the C library. */
static void check_total(const double *factor, const grid_scale *scale, uint32_t n, double total)
{
    double sum[GRID_WIDTH] = {0};
    for (uint32_t s = 0; s < n; s++) {
        int exponent = ((int)scale[s] - GRID_SCALE_ONE) / GRID_SCALE_STEP;
        sum[s % GRID_WIDTH] += scale[s] % 0x8000 ? ldexp(factor[s], exponent) : 0;
    }
    const double all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    same_doubles("a total by ldexp", &all, &total, 1);
}

void check_grid_observe(uint32_t cpu)
{
    dice from = {23};
    for (uint32_t shifts = 4; shifts <= MOST_SHIFTS; shifts += 4)
        for (uint32_t weights = 1; weights <= 9; weights++) {
            const uint32_t slopes = 1 + below(&from, 3), rows = slopes * weights;
            const size_t cells = (size_t)rows * shifts;
            double *odds = guarded(shifts, sizeof(double)),
                   *weight = guarded(weights, sizeof(double));
            double *start = guarded(cells, sizeof(double));
            grid_scale *scale = guarded(cells, sizeof(grid_scale));
            void *factor[2], *total[2];
            double least[2];
            const grid_axes axes = {slopes, weights, shifts, odds, weight};
            grid_lesson lesson = {.a = shape(&from), .b = shape(&from), .clicked = below(&from, 2)};
            describe("shifts %u, weights %u, slopes %u", shifts, weights, slopes);
            lesson.examined = below(&from, 1000);
            lesson.alike = floor(lesson.examined * unit(&from));
            for (int r = 0; r < MOST_SLOPES; r++)
                lesson.tilt[r] = exp(2 * unit(&from) - 1);
            for (uint32_t s = 0; s < shifts; s++)
                odds[s] = exp(8 * unit(&from) - 4);
            for (uint32_t w = 0; w < weights; w++)
                weight[w] = pow(2, w - 3.0);
            for (size_t c = 0; c < cells; c++) {
                start[c] = unit(&from);
                scale[c] = some_scale(&from);
            }
            guarded_pair(factor, cells, sizeof(double), start);
            guarded_pair(total, rows, sizeof(double), NULL);
            for (int v = 0; v < 2; v++)
                least[v] = (v ? KERNEL_AT(grid_observe, cpu)
                              : grid_observe_plain)(&axes, &lesson, factor[v], scale, total[v]);
            same_doubles("a factor", factor[0], factor[1], cells);
            same_doubles("a total", total[0], total[1], rows);
            for (uint32_t row = 0; row < rows; row++)
                check_total((double *)factor[0] + (size_t)row * shifts,
                            scale + (size_t)row * shifts, shifts, ((double *)total[0])[row]);
            same_doubles("the least factor", &least[0], &least[1], 1);
            release();
        }
}
