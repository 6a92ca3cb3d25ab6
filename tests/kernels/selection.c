/* selection.c - the checks of topk_kernels.h: ties, zeros of either sign, infinities, denormals,
 * every k of short lists. */
#include <float.h>

#include "harness.h"

enum { LARGE = 10000, LARGEST_SMALL = 300 };

/* Kinds of scores: all different, two values, all equal, all infinite, strange, zeros of either
 * sign with something above and below; and doubles of which many round to one float, or to none. */
enum {
    DISTINCT,
    TWO_VALUES,
    ALL_EQUAL,
    ALL_INFINITE,
    STRANGE,
    ZEROS,
    CLOSE,
    HUGE_ONES,
    SCORE_KINDS
};

static double random_score(dice *from, uint32_t kind)
{
    static const double zeros[] = {0.0, -0.0, 0.0, -0.0, FLT_TRUE_MIN, -FLT_TRUE_MIN};
    switch (kind) {
    case DISTINCT:
        return 2 * unit(from) - 1;
    case TWO_VALUES:
        return below(from, 2) ? 0.25 : 0.75;
    case ALL_EQUAL:
        return -3;
    case ALL_INFINITE:
        return (double)INFINITY;
    case ZEROS:
        return zeros[below(from, LENGTH(zeros))];
    case CLOSE:
        return 1 + 1e-8 * floor(40 * unit(from)) + 1e-12 * unit(from);
    case HUGE_ONES:
        return below(from, 3) ? 1e37 * unit(from) : 1e300 * unit(from);
    default:
        return below(from, 12) ? (double)strange_float(from) : (double)INFINITY;
    }
}

#define DEFINE_COMPARE(type, suffix)                                                               \
    static void compare_##suffix(dice *from, uint32_t cpu, uint32_t kind, size_t n, uint32_t k)    \
    {                                                                                              \
        type *x = guarded(padded(n), sizeof *x);                                                   \
        void *copy[2], *best[2], *position[2], *score[2];                                          \
        oltr_rng rng = generator(from);                                                            \
        bool with_score = below(from, 4) != 0;                                                     \
        describe("kind %u, n %zu, k %u", kind, n, k);                                              \
        for (size_t i = 0; i < padded(n); i++)                                                     \
            x[i] = i < n ? (type)random_score(from, kind) : -(type)INFINITY;                       \
        guarded_pair(copy, padded(n), sizeof *x, x);                                               \
        guarded_pair(best, topk_room(n), sizeof *x, NULL);                                         \
        guarded_pair(position, k, sizeof(uint32_t), NULL);                                         \
        guarded_pair(score, k, sizeof(double), NULL);                                              \
        for (int v = 0; v < 2; v++)                                                                \
            (v ? KERNEL_AT(topk_##suffix, cpu) : topk_##suffix##_plain)(                           \
                copy[v], n, k, &rng, best[v], position[v], with_score ? score[v] : NULL);          \
        same_words("a position", position[0], position[1], k);                                     \
        same_doubles("a score", score[0], score[1], k);                                            \
        release();                                                                                 \
    }
DEFINE_COMPARE(float, f32)
DEFINE_COMPARE(double, f64)

static void compare_all(void compare(dice *, uint32_t, uint32_t, size_t, uint32_t), uint32_t cpu)
{
    static const uint32_t many[] = {1, 2, 10, 100, 5000, LARGE - 1, LARGE};
    dice from = {7};
    for (uint32_t kind = 0; kind < SCORE_KINDS; kind++) {
        for (uint32_t n = 1; n <= 70; n++)
            for (uint32_t k = 1; k <= n; k++)
                compare(&from, cpu, kind, n, k);
        for (uint32_t n = 71; n <= LARGEST_SMALL; n++) {
            compare(&from, cpu, kind, n, 1 + below(&from, n));
            compare(&from, cpu, kind, n, n);
        }
        for (size_t i = 0; i < LENGTH(many); i++)
            if (many[i] <= 100 || kind == DISTINCT || kind == STRANGE)
                compare(&from, cpu, kind, LARGE, many[i]);
    }
}

void check_topk_f32(uint32_t cpu)
{
    compare_all(compare_f32, cpu);
}

void check_topk_f64(uint32_t cpu)
{
    compare_all(compare_f64, cpu);
}

/* Scores whose order is in their last bits, or of either sign, or equal. */
static float random_mean(dice *from, uint32_t kind)
{
    switch (kind) {
    case 0:
        return (float)unit(from);
    case 1:
        return 1 + (float)below(from, 200) * FLT_EPSILON;
    case 2:
        return (float)random_score(from, ZEROS);
    case 3:
        return below(from, 8) ? -1 - (float)unit(from) : (float)unit(from);
    default:
        return (float)random_score(from, TWO_VALUES);
    }
}

/* Whether the kernel decided; then its list must be that of the scores, else nothing is written. */
static bool decides(dice *from, uint32_t cpu, uint32_t kind, size_t n, uint32_t k)
{
    float z[NORMAL_GROUP], mean[NORMAL_GROUP], sd[NORMAL_GROUP], score[NORMAL_GROUP],
        best[NORMAL_GROUP];
    uint32_t twin[3] = {77, 77, 77}, found[3] = {77, 77, 77};
    oltr_rng rng = generator(from);
    describe("kind %u, n %zu, k %u", kind, n, k);
    standard_normals_plain(&rng, NORMAL_GROUP, z);
    for (size_t i = 0; i < NORMAL_GROUP; i++) {
        mean[i] = i < n ? random_mean(from, kind) : -INFINITY;
        sd[i] = i < n && kind == 0 ? (float)unit(from) : 0;
        score[i] = fmaf(sd[i], z[i], mean[i]);
    }
    bool decided = KERNEL_AT(topk_gauss, cpu)(z, mean, sd, k, found);
    if (decided)
        topk_f32_plain(score, n, k, &rng, best, twin, NULL);
    same_words("a position", twin, found, 3);
    return decided;
}

/* The plain twin leaves every list to topk_f32, so the check is against that: nearly all ordinary
 * lists must be decided, and few of those with ties. */
void check_topk_gauss(uint32_t cpu)
{
    enum { KINDS = 5, ROUNDS = 4000 };
    dice from = {8};
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t k = 1; k <= 3; k++) {
            uint32_t decided = 0;
            for (uint32_t round = 0; round < ROUNDS; round++)
                decided += decides(&from, cpu, kind, kind ? k + below(&from, 33 - k) : 30, k);
            same_bool("that ordinary lists are decided", true,
                      kind || decided >= ROUNDS * 99 / 100);
            same_bool("that ties are not decided", true, kind != 4 || decided <= ROUNDS / 4);
        }
}
