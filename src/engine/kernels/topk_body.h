/* topk_body.h - the tournament itself, written once and included for float and double, plain and
 * vector.
 *
 * Wants: REAL, SELECT and SELECT_PICK (the names of the functions), TARGET and TARGET_PICK (their
 * attributes), and over n elements, a multiple of 8,
 *   MAX_OF(x, n)           the largest
 *   COUNT_EQUAL(x, n, v)   how many equal v
 *   NTH_EQUAL(x, n, v, j)  the index of the j-th that equals v, counted from 0
 */

TARGET_PICK static inline size_t SELECT_PICK(const REAL *x, size_t total, size_t size,
                                             const REAL *best, size_t groups, REAL top,
                                             const oltr_rng *rng, uint32_t slot)
{
    size_t group = NTH_EQUAL(best, groups, top, 0);
    size_t start = group * size, length = total - start < size ? total - start : size;
    size_t here = COUNT_EQUAL(x + start, length, top);
    if (here == 1 && COUNT_EQUAL(best, groups, top) == 1)
        return start + NTH_EQUAL(x + start, length, top, 0);
    size_t chosen = tie_at(rng, slot, (uint32_t)COUNT_EQUAL(x, total, top));
    return NTH_EQUAL(x, total, top, chosen);
}

TARGET void SELECT(REAL *x, size_t n, uint32_t k, const oltr_rng *rng, REAL *best,
                   uint32_t *position, double *score)
{
    size_t total = padded(n), size = 8;
    while (2 * size * size < n)
        size *= 2;
    size_t groups = (total + size - 1) / size, room = (groups + 7) / 8 * 8;
    for (size_t g = 0; g < groups; g++)
        best[g] = MAX_OF(x + g * size, total - g * size < size ? total - g * size : size);
    for (size_t g = groups; g < room; g++)
        best[g] = -(REAL)INFINITY;
    for (uint32_t slot = 0; slot < k; slot++) {
        REAL top = MAX_OF(best, room);
        size_t at = SELECT_PICK(x, total, size, best, room, top, rng, slot), group = at / size,
               start = group * size;
        position[slot] = (uint32_t)at;
        if (score)
            score[slot] = (double)x[at];
        x[at] = -(REAL)INFINITY;
        best[group] = MAX_OF(x + start, total - start < size ? total - start : size);
    }
}
