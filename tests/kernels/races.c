/* races.c - the checks of race_kernels.h: random keys and limits, the extremes among them, at
 * lengths around whole groups; ties of few and of very many items. */
#include "harness.h"

static uint32_t random_limit(dice *from)
{
    uint32_t kind = (uint32_t)below(from, 4);
    return kind == 0 ? 0 : kind == 1 ? UINT32_MAX : (uint32_t)below(from, UINT32_MAX);
}

static void compare(uint32_t cpu, dice *from, uint32_t n)
{
    uint32_t stride = (n + RACE_GROUP - 1) / RACE_GROUP * RACE_GROUP;
    uint32_t *quad = guarded(stride, sizeof *quad), *limit = guarded(4 * stride, sizeof *limit);
    void *hit[2];
    oltr_rng rng = generator(from);
    guarded_pair(hit, 4 * (size_t)n, sizeof(uint32_t), NULL);
    for (uint32_t q = 0; q < stride; q++)
        quad[q] = (uint32_t)below(from, UINT32_MAX) >> below(from, 32);
    for (uint32_t i = 0; i < 4 * stride; i++)
        limit[i] = random_limit(from);
    uint32_t twin = first_arrivals_plain(&rng, quad, limit, stride, n, hit[0]);
    uint32_t version = KERNEL_AT(first_arrivals, cpu)(&rng, quad, limit, stride, n, hit[1]);
    describe("%u quads", n);
    same_words("number of hits", &twin, &version, 1);
    same_words("hits", hit[0], hit[1], 4 * (size_t)n);
    release();
}

void check_first_arrivals(uint32_t cpu)
{
    dice from = {43};
    for (uint32_t n = 1; n <= 140; n++)
        for (int again = 0; again < 20; again++)
            compare(cpu, &from, n);
}

/* Of n items as many as slots, about as many, or many. */
void check_few_ties(uint32_t cpu)
{
    dice from = {44};
    for (int again = 0; again < 4000; again++) {
        uint32_t rank[2][FEW_TIES], k = 1 + (uint32_t)below(&from, FEW_TIES);
        uint32_t n = (uint32_t)below(&from, UINT32_MAX) >> below(&from, 32);
        uint32_t first = (uint32_t)below(&from, 100);
        oltr_rng rng = generator(&from);
        n = n < k ? k : n;
        few_ties_plain(&rng, first, n, k, rank[0]);
        KERNEL_AT(few_ties, cpu)(&rng, first, n, k, rank[1]);
        describe("%u of %u", k, n);
        same_words("ranks", rank[0], rank[1], k);
    }
}
