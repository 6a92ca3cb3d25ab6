/* topk_body.h - the tournament, written once and included for float and double, plain and vector.
 *
 * Needs REAL, the type of a score, NAME(part), the name of a function for it, TARGET, the
 * attributes of the functions, and three functions over n elements, a multiple of 8:
 *
 *     NAME(max)(x, n)         the largest
 *     NAME(count)(x, n, v)    how many equal v
 *     NAME(nth)(x, n, v, j)   the index of the j-th that equals v, counted from 0
 *
 * Defines NAME(tournament), and undefines REAL and NAME.
 */

TARGET static inline size_t NAME(pick)(const REAL *x, size_t total, size_t size, const REAL *best,
                                       size_t groups, REAL top, const oltr_rng *rng, uint32_t slot)
{
    size_t group = NAME(nth)(best, groups, top, 0);
    size_t start = group * size, length = total - start < size ? total - start : size;
    size_t here = NAME(count)(x + start, length, top);
    if (here == 1 && NAME(count)(best, groups, top) == 1)
        return start + NAME(nth)(x + start, length, top, 0);
    size_t chosen = tie_at(rng, slot, (uint32_t)NAME(count)(x, total, top));
    return NAME(nth)(x, total, top, chosen);
}

TARGET static void NAME(tournament)(REAL *x, size_t n, uint32_t k, const oltr_rng *rng, REAL *best,
                                    uint32_t *position, double *score)
{
    size_t total = padded(n), size = 8;
    while (2 * size * size < n)
        size *= 2;
    size_t groups = (total + size - 1) / size, room = (groups + 7) / 8 * 8;
    for (size_t g = 0; g < groups; g++)
        best[g] = NAME(max)(x + g * size, total - g * size < size ? total - g * size : size);
    for (size_t g = groups; g < room; g++)
        best[g] = -(REAL)INFINITY;
    for (uint32_t slot = 0; slot < k; slot++) {
        REAL top = NAME(max)(best, room);
        size_t at = NAME(pick)(x, total, size, best, room, top, rng, slot), group = at / size,
               start = group * size;
        position[slot] = (uint32_t)at;
        if (score)
            score[slot] = (double)x[at];
        x[at] = -(REAL)INFINITY;
        best[group] = NAME(max)(x + start, total - start < size ? total - start : size);
    }
}

#undef REAL
#undef NAME
