/* draw_vector.c - the draws eight items at a time: the operations of draw_plain.c and float_math.h
 * in the same order. */
#include "engine/kernels/table.h"

#include "engine/kernels/lanes.h"

#if OLTR_LANES

#include "engine/kernels/float_math.h"
#include "engine/kernels/philox.h"
#include "engine/kernels/rate_hat.h"

typedef struct words8 {
    w8 w[4];
} words8;

/* The counter words that are the same for all positions of a round. */
typedef struct counters {
    w8 round, purpose, stream;
    uint32_t k0, k1;
} counters;

LANES_INLINE counters counters_of(const oltr_rng *rng, uint32_t purpose)
{
    return (counters){w8_all(rng->counter[1]), w8_all((rng->counter[2] & 0xFFFF0000u) | purpose),
                      w8_all(rng->counter[3]), rng->key[0], rng->key[1]};
}

LANES_INLINE words8 words_of(counters c, w8 position)
{
    words8 w = {{position, c.round, c.purpose, c.stream}};
    philox8(w.w, c.k0, c.k1);
    return w;
}

LANES_INLINE f8 log_p8(f8 t)
{
    f8 p = f8_fma(f8_all(LOG_P6), t, f8_all(LOG_P5));
    p = f8_fma(p, t, f8_all(LOG_P4));
    p = f8_fma(p, t, f8_all(LOG_P3));
    p = f8_fma(p, t, f8_all(LOG_P2));
    p = f8_fma(p, t, f8_all(LOG_P1));
    return f8_fma(p, t, f8_all(LOG_P0));
}

LANES_INLINE f8 log8(f8 x)
{
    w8 bits = f8_bits(x);
    w8 exponent = w8_right_signed(w8_sub(bits, w8_all(LOG_SQRT_HALF_BITS)), 23);
    f8 m = f8_of_bits(w8_sub(bits, w8_left(exponent, 23)));
    f8 t = f8_sub(m, f8_all(1)), square = f8_mul(t, t);
    f8 log_m = f8_fma(log_p8(t), f8_mul(t, square), f8_fma(f8_all(-0.5f), square, t));
    return f8_fma(f8_of_signed(exponent), f8_all(LOG_LN2), log_m);
}

LANES_INLINE f8 uniform8(w8 word)
{
    return f8_fma(f8_of_signed(w8_right(word, 1)), f8_all(0x1p-31f), f8_all(0x1p-32f));
}

LANES_INLINE void box_muller8(w8 word0, w8 word1, f8 *z0, f8 *z1)
{
    const w8 top = w8_all(0x80000000u);
    f8 radius = f8_sqrt(f8_mul(f8_all(-2), log8(uniform8(word0))));
    f8 f = f8_mul(f8_of_signed(w8_left(word1, 2)), f8_all(0x1p-32f));
    f8 z = f8_mul(f, f);
    f8 s = f8_fma(f8_all(SIN_3), z, f8_all(SIN_2));
    s = f8_fma(s, z, f8_all(SIN_1));
    s = f8_mul(f, f8_fma(s, z, f8_all(SIN_0)));
    f8 c = f8_fma(f8_all(COS_3), z, f8_all(COS_2));
    c = f8_fma(c, z, f8_all(COS_1));
    c = f8_fma(c, z, f8_all(1));
    m8 odd = m8_of_signs(w8_left(word1, 1)); /* the quadrant is odd */
    f8 x = f8_select(odd, s, c), y = f8_select(odd, c, s);
    w8 sign0 = w8_and(w8_add(word1, w8_all(0x40000000)), top);
    w8 sign1 = w8_and(word1, top);
    *z0 = f8_mul(radius, f8_of_bits(w8_xor(f8_bits(x), sign0)));
    *z1 = f8_mul(radius, f8_of_bits(w8_xor(f8_bits(y), sign1)));
}

LANES_INLINE void gauss_group(counters c, w8 position, const float *mean, const float *sd,
                              float *out)
{
    words8 w = words_of(c, position);
    f8 z[4];
    box_muller8(w.w[0], w.w[1], &z[0], &z[1]);
    box_muller8(w.w[2], w.w[3], &z[2], &z[3]);
    for (size_t j = 0; j < 4; j++) {
        size_t i = LANES * j;
        f8_store(out + i, f8_fma(f8_load(sd + i), z[j], f8_load(mean + i)));
    }
}

LANES_TARGET static __attribute__((noinline)) void
gauss_many(const oltr_rng *rng, const float *mean, const float *sd, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    w8 position = w8_count();
    for (size_t group = 0; group < n; group += NORMAL_GROUP) {
        gauss_group(c, position, mean + group, sd + group, out + group);
        position = w8_add(position, w8_all(LANES));
    }
}

LANES_TARGET static __attribute__((noinline)) void gauss_all(const oltr_rng *rng, const float *mean,
                                                             const float *sd, size_t n, float *out)
{
    if (n <= NORMAL_GROUP)
        gauss_group(counters_of(rng, 0), w8_count(), mean, sd, out);
    else
        gauss_many(rng, mean, sd, n, out);
}

LANES_TARGET void VERSION(standard_normals)(const oltr_rng *rng, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    w8 position = w8_count();
    for (size_t group = 0; group < n; group += NORMAL_GROUP) {
        words8 w = words_of(c, position);
        f8 z[4];
        box_muller8(w.w[0], w.w[1], &z[0], &z[1]);
        box_muller8(w.w[2], w.w[3], &z[2], &z[3]);
        for (size_t j = 0; j < 4; j++)
            f8_store(out + group + LANES * j, z[j]);
        position = w8_add(position, w8_all(LANES));
    }
}

/* The normals of eight items anywhere: one block each, of which the item's own pair of words is
 * taken. */
LANES_INLINE f8 normals_of(counters c, w8 item)
{
    w8 position = w8_add(w8_left(w8_right(item, 5), 3), w8_and(item, w8_all(LANES - 1)));
    words8 w = words_of(c, position);
    m8 second = m8_of_signs(w8_left(item, 27)); /* words 2,3 */
    m8 sine = m8_of_signs(w8_left(item, 28));   /* the second normal of the pair */
    w8 word0 = f8_bits(f8_select(second, f8_of_bits(w.w[2]), f8_of_bits(w.w[0])));
    w8 word1 = f8_bits(f8_select(second, f8_of_bits(w.w[3]), f8_of_bits(w.w[1])));
    f8 z0, z1;
    box_muller8(word0, word1, &z0, &z1);
    return f8_select(sine, z1, z0);
}

/* The first `n` of eight indices, the rest repeating the first. */
LANES_INLINE w8 load_items(const uint32_t *item, size_t n)
{
    if (n >= LANES)
        return w8_load(item);
    uint32_t eight[LANES];
    for (size_t l = 0; l < LANES; l++)
        eight[l] = item[l < n ? l : 0];
    return w8_load(eight);
}

LANES_INLINE f8 load_first(const float *from, size_t n)
{
    if (n >= LANES)
        return f8_load(from);
    float eight[LANES] = {0};
    memcpy(eight, from, n * sizeof *from);
    return f8_load(eight);
}

LANES_INLINE void store_first(float *out, f8 x, size_t n)
{
    if (n >= LANES) {
        f8_store(out, x);
        return;
    }
    float eight[LANES];
    f8_store(eight, x);
    memcpy(out, eight, n * sizeof *out);
}

LANES_TARGET static void gauss_list(const oltr_rng *rng, const float *mean, const float *sd,
                                    const uint32_t *item, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    for (size_t j = 0; j < n; j += LANES) {
        w8 i = load_items(item + j, n - j);
        f8 m = f8_gather(mean, i), s = f8_gather(sd, i);
        store_first(out + j, f8_fma(s, normals_of(c, i), m), n - j);
    }
}

LANES_TARGET void VERSION(gauss_scores)(const oltr_rng *rng, const float *mean, const float *sd,
                                        const uint32_t *item, size_t n, float *out)
{
    if (item)
        gauss_list(rng, mean, sd, item, n, out);
    else
        gauss_all(rng, mean, sd, n, out);
}

/* ---- directions */

enum { SETS = 3, MANY = SETS * NORMAL_GROUP }; /* three sets of eight counters, 96 words */

/* Positions differ in the first counter word alone: half of the first two rounds of Philox is the
 * same for all of them. */
typedef struct many_counters {
    uint32_t first_c2;                        /* XORed into c2 in the first round */
    uint32_t second_c0, second_c2, second_c3; /* XORed into c0 and c2 in the second; c3 after it */
    uint32_t k0[PHILOX_ROUNDS], k1[PHILOX_ROUNDS];
} many_counters;

static many_counters many_counters_of(const oltr_rng *rng, uint32_t purpose)
{
    many_counters c;
    for (uint32_t r = 0; r < PHILOX_ROUNDS; r++) {
        c.k0[r] = rng->key[0] + r * PHILOX_W0;
        c.k1[r] = rng->key[1] + r * PHILOX_W1;
    }
    uint64_t p1 = (uint64_t)PHILOX_M1 * ((rng->counter[2] & 0xFFFF0000u) | purpose);
    uint64_t p0 = (uint64_t)PHILOX_M0 * ((uint32_t)(p1 >> 32) ^ rng->counter[1] ^ c.k0[0]);
    c.first_c2 = rng->counter[3] ^ c.k1[0];
    c.second_c0 = (uint32_t)p1 ^ c.k0[1];
    c.second_c2 = (uint32_t)(p0 >> 32) ^ c.k1[1];
    c.second_c3 = (uint32_t)p0;
    return c;
}

LANES_INLINE w8 xor3(w8 x, w8 y, w8 z)
{
    return w8_xor(x, w8_xor(y, z));
}

/* The words of philox8() of 24 positions.  A word of eight counters is one vector, so that three
 * sets fit the registers; the multiplications of the three sets overlap. */
LANES_INLINE void philox24(const many_counters *c, w8 position, words8 w[SETS])
{
    for (int s = 0; s < SETS; s++) { /* the first two rounds */
        products p0 = w8_multiply(w8_add(position, w8_all((uint32_t)s * LANES)), PHILOX_M0);
        products p1 = w8_multiply(w8_xor(p0.high, w8_all(c->first_c2)), PHILOX_M1);
        w[s].w[0] = w8_xor(p1.high, w8_all(c->second_c0));
        w[s].w[1] = p1.low;
        w[s].w[2] = w8_xor(p0.low, w8_all(c->second_c2));
        w[s].w[3] = w8_all(c->second_c3);
    }
    for (int r = 2; r < PHILOX_ROUNDS; r++) {
        const w8 k0 = w8_all(c->k0[r]), k1 = w8_all(c->k1[r]);
        for (int s = 0; s < SETS; s++) {
            products p0 = w8_multiply(w[s].w[0], PHILOX_M0), p1 = w8_multiply(w[s].w[2], PHILOX_M1);
            w[s].w[0] = xor3(p1.high, w[s].w[1], k0);
            w[s].w[2] = xor3(p0.high, w[s].w[3], k1);
            w[s].w[1] = p1.low;
            w[s].w[3] = p0.low;
        }
    }
}

LANES_INLINE void uniform_groups(const many_counters *c, w8 position, float *out)
{
    words8 w[SETS];
    philox24(c, position, w);
    for (size_t s = 0; s < SETS; s++)
        for (size_t j = 0; j < 4; j++)
            f8_store(out + NORMAL_GROUP * s + LANES * j, uniform8(w[s].w[j]));
}

/* The n uniforms from a counter on, all of one purpose. */
LANES_TARGET static __attribute__((noinline)) void
uniform_run(const oltr_rng *rng, uint64_t counter, size_t n, float *out)
{
    const many_counters c = many_counters_of(rng, (uint32_t)(counter >> 32));
    w8 position = w8_add(w8_count(), w8_all((uint32_t)counter));
    for (; n >= MANY; n -= MANY, out += MANY) {
        uniform_groups(&c, position, out);
        position = w8_add(position, w8_all(SETS * LANES));
    }
    if (n) {
        float last[MANY];
        uniform_groups(&c, position, last);
        memcpy(out, last, n * sizeof *out);
    }
}

/* The uniforms first..first+n-1, where first is a multiple of 32; a run of one purpose ends at 2^32
 * counters. */
static void uniforms(const oltr_rng *rng, uint64_t first, size_t n, float *out)
{
    while (n) {
        uint64_t counter = first / 4, left = ((UINT64_C(1) << 32) - (uint32_t)counter) * 4;
        size_t run = n < left ? n : (size_t)left;
        uniform_run(rng, counter, run, out);
        first += run;
        out += run;
        n -= run;
    }
}

LANES_INLINE d4 add_square(d4 sum, f4 x)
{
    d4 wide = d4_of_floats(x);
    return d4_fma(wide, wide, sum);
}

LANES_INLINE double sum_of_parts(const d4 part[4])
{
    return d4_sum(d4_add(d4_add(part[0], part[1]), d4_add(part[2], part[3])));
}

LANES_INLINE double sum_of_squares(const float *row, size_t dim)
{
    d4 part[4];
    size_t j = 0;
    for (size_t s = 0; s < 4; s++)
        part[s] = d4_all(0);
    for (; j + 16 <= dim; j += 16)
        for (size_t s = 0; s < 4; s++)
            part[s] = add_square(part[s], f4_load(row + j + 4 * s));
    for (size_t s = 0; s < 4; s++, j += 4)
        if (j + 4 <= dim)
            part[s] = add_square(part[s], f4_load(row + j));
        else if (j < dim)
            part[s] = add_square(part[s], f4_load_first(row + j, dim - j));
    return sum_of_parts(part);
}

/* Four numbers of a row times `by`, and what they add to the product with theta. */
LANES_INLINE d4 scale_four(float *row, f4 by, const double *theta, d4 sum)
{
    f4 x = f4_mul(f4_load(row), by);
    f4_store(row, x);
    return d4_fma(d4_of_floats(x), d4_load(theta), sum);
}

LANES_INLINE d4 scale_first(float *row, f4 by, const double *theta, size_t n, d4 sum)
{
    f4 x = f4_mul(f4_load_first(row, n), by);
    f4_store_first(row, x, n);
    return d4_fma(d4_of_floats(x), d4_load_masked(theta, n), sum);
}

LANES_INLINE double scale_row(float *row, size_t dim, float factor, const double *theta)
{
    const f4 by = f4_all(factor);
    d4 part[4];
    size_t j = 0;
    for (size_t s = 0; s < 4; s++)
        part[s] = d4_all(0);
    for (; j + 16 <= dim; j += 16)
        for (size_t s = 0; s < 4; s++)
            part[s] = scale_four(row + j + 4 * s, by, theta + j + 4 * s, part[s]);
    for (size_t s = 0; s < 4; s++, j += 4)
        if (j + 4 <= dim)
            part[s] = scale_four(row + j, by, theta + j, part[s]);
        else if (j < dim)
            part[s] = scale_first(row + j, by, theta + j, dim - j, part[s]);
    return sum_of_parts(part);
}

LANES_TARGET void VERSION(cube_directions)(const oltr_rng *rng, uint64_t first, size_t n,
                                           uint32_t dim, const double *theta, float *out,
                                           double *product)
{
    for (size_t i = 0; i < n; i += DIRECTION_ROWS, out += (size_t)DIRECTION_ROWS * dim) {
        const size_t rows = n - i < DIRECTION_ROWS ? n - i : DIRECTION_ROWS;
        float factor[DIRECTION_ROWS];
        uniforms(rng, (first + i) * dim, rows * dim, out);
        for (size_t r = 0; r < rows; r++)
            factor[r] = (float)(1 / sqrt(sum_of_squares(out + r * dim, dim)));
        for (size_t r = 0; r < rows; r++)
            product[i + r] = scale_row(out + r * dim, dim, factor[r], theta);
    }
}

/* ---- Beta */

typedef struct proposal {
    f8 xa, xb, ta, tb, ua, ub;
    m8 plausible; /* both 1 + t > 0 */
    m8 squeezed;  /* accepted by the squeeze alone */
} proposal;

LANES_INLINE m8 squeeze8(f8 t, f8 x, f8 u)
{
    f8 tx = f8_mul(t, x);
    f8 bound = f8_fma(f8_mul(f8_all(-SQUEEZE), tx), tx, f8_all(1));
    return m8_and(f8_greater(t, f8_all(SQUEEZE_FROM)), f8_greater(bound, u));
}

LANES_INLINE proposal propose_from(words8 w, f8 ca, f8 cb)
{
    proposal p;
    box_muller8(w.w[0], w.w[1], &p.xa, &p.xb);
    p.ua = uniform8(w.w[2]);
    p.ub = uniform8(w.w[3]);
    p.ta = f8_mul(ca, p.xa);
    p.tb = f8_mul(cb, p.xb);
    p.plausible = m8_and(f8_greater(p.ta, f8_all(-1)), f8_greater(p.tb, f8_all(-1)));
    p.squeezed = m8_and(squeeze8(p.ta, p.xa, p.ua), squeeze8(p.tb, p.xb, p.ub));
    return p;
}

LANES_INLINE proposal propose(counters c, w8 item, f8 ca, f8 cb)
{
    return propose_from(words_of(c, item), ca, cb);
}

LANES_INLINE f8 log_odds8(const proposal *p, f8 log_da_db)
{
    f8 ratio = f8_div(f8_add(f8_all(1), p->ta), f8_add(f8_all(1), p->tb));
    return f8_fma(f8_all(3), log8(ratio), log_da_db);
}

LANES_INLINE f8 acceptance8(f8 d, f8 t)
{
    f8 cube = f8_mul(f8_mul(t, t), t);
    m8 near = m8_and(f8_greater(t, f8_all(LOG_T_MIN)), f8_greater(f8_all(LOG_T_MAX), t));
    f8 inner = f8_mul(cube, f8_fma(f8_all(3), log_p8(t), f8_all(-1)));
    f8 rest = f8_fms(f8_mul(f8_all(1.5f), t), t, cube);
    rest = f8_fma(f8_all(-3), t, rest);
    f8 outer = f8_fma(f8_all(3), log8(f8_add(f8_all(1), t)), rest);
    return f8_mul(d, f8_select(near, inner, outer));
}

LANES_INLINE m8 accepts8(f8 d, f8 t, f8 x, f8 u)
{
    return m8_or(squeeze8(t, x, u), f8_greater(acceptance8(d, t), log8(u)));
}

/* Candidates in `todo` (n of them): one attempt with the whole test.  Those rejected stay, in
 * order; returns how many. */
LANES_TARGET static __attribute__((noinline)) size_t try_again(counters c, const beta_shapes *s,
                                                               const uint32_t *item, uint32_t *todo,
                                                               size_t n, float *out)
{
    size_t left = 0;
    for (size_t j = 0; j < n; j += LANES) {
        uint32_t here[LANES], id[LANES], count = (uint32_t)(n - j < LANES ? n - j : LANES);
        for (uint32_t l = 0; l < LANES; l++) {
            here[l] = todo[j + (l < count ? l : 0)];
            id[l] = item ? item[here[l]] : here[l];
        }
        w8 i = load_items(id, LANES);
        proposal p = propose(c, i, f8_gather(s->ca, i), f8_gather(s->cb, i));
        m8 a = accepts8(f8_gather(s->da, i), p.ta, p.xa, p.ua);
        m8 b = accepts8(f8_gather(s->db, i), p.tb, p.xb, p.ub);
        uint32_t accepted = m8_bits(m8_and(p.plausible, m8_and(a, b)));
        float value[LANES];
        f8_store(value, log_odds8(&p, f8_gather(s->log_da_db, i)));
        for (uint32_t l = 0; l < count; l++)
            if (accepted >> l & 1)
                out[here[l]] = value[l];
            else
                todo[left++] = here[l];
    }
    return left;
}

/* One candidate, attempts 0..7 at once; 0 when all are rejected. */
LANES_TARGET static __attribute__((noinline)) int
try_eight(const oltr_rng *rng, const beta_shapes *s, uint32_t i, float *out)
{
    counters c = counters_of(rng, 0);
    c.purpose = w8_add(c.purpose, w8_count());
    proposal p = propose(c, w8_all((uint32_t)i), f8_all(s->ca[i]), f8_all(s->cb[i]));
    m8 a = accepts8(f8_all(s->da[i]), p.ta, p.xa, p.ua),
       b = accepts8(f8_all(s->db[i]), p.tb, p.xb, p.ub);
    uint32_t accepted = m8_bits(m8_and(p.plausible, m8_and(a, b)));
    float value[LANES];
    f8_store(value, log_odds8(&p, f8_all(s->log_da_db[i])));
    if (!accepted)
        return 0;
    *out = value[__builtin_ctz(accepted)];
    return 1;
}

enum {
    EACH_MOST = 3
}; /* up to so many, it is faster to try eight times for one than once for eight */

static size_t try_each(const oltr_rng *rng, const beta_shapes *s, const uint32_t *item,
                       uint32_t *todo, size_t n, float *out)
{
    size_t left = 0;
    for (size_t j = 0; j < n; j++) {
        uint32_t at = todo[j];
        if (!try_eight(rng, s, item ? item[at] : at, &out[at]))
            todo[left++] = at;
    }
    return left;
}

LANES_INLINE f8 log_uniform8(w8 word)
{
    w8 rest = w8_xor(word, w8_all(UINT32_MAX));
    f8 t = f8_neg(uniform8(rest)), square = f8_mul(t, t);
    f8 inner = f8_fma(log_p8(t), f8_mul(t, square), f8_fma(f8_all(-0.5f), square, t));
    return f8_select(f8_greater(t, f8_all(LOG_T_MIN)), inner, log8(uniform8(word)));
}

/* ---- Gumbel variables */

LANES_INLINE f8 gumbel8(w8 word)
{
    return f8_neg(log8(f8_neg(log_uniform8(word))));
}

/* Of eight items anywhere: one block each, of which the item's own word is taken. */
LANES_INLINE f8 gumbels_of(counters c, w8 item)
{
    w8 position = w8_add(w8_left(w8_right(item, 5), 3), w8_and(item, w8_all(LANES - 1)));
    words8 w = words_of(c, position);
    m8 odd = m8_of_signs(w8_left(item, 28)), upper = m8_of_signs(w8_left(item, 27));
    f8 low = f8_select(odd, f8_of_bits(w.w[1]), f8_of_bits(w.w[0]));
    f8 high = f8_select(odd, f8_of_bits(w.w[3]), f8_of_bits(w.w[2]));
    return gumbel8(f8_bits(f8_select(upper, high, low)));
}

LANES_TARGET void VERSION(gumbels)(const oltr_rng *rng, const uint32_t *item, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    w8 position = w8_count();
    for (size_t j = 0; item && j < n; j += LANES)
        store_first(out + j, gumbels_of(c, load_items(item + j, n - j)), n - j);
    for (size_t group = 0; !item && group < n; group += NORMAL_GROUP) {
        words8 w = words_of(c, position);
        for (size_t j = 0; j < 4; j++)
            f8_store(out + group + LANES * j, gumbel8(w.w[j]));
        position = w8_add(position, w8_all(LANES));
    }
}

LANES_TARGET void VERSION(exponentials)(const oltr_rng *rng, size_t n, float *out)
{
    counters c = counters_of(rng, 0);
    w8 position = w8_count();
    for (size_t group = 0; group < n; group += NORMAL_GROUP) {
        words8 w = words_of(c, position);
        for (size_t j = 0; j < 4; j++)
            f8_store(out + group + LANES * j, f8_neg(log_uniform8(w.w[j])));
        position = w8_add(position, w8_all(LANES));
    }
}

/* ---- attractions */

LANES_INLINE f8 log_excess8(f8 t)
{
    f8 more = f8_add(f8_all(1), t);
    w8 bits = f8_bits(more), e = w8_right_signed(w8_sub(bits, w8_all(LOG_SQRT_HALF_BITS)), 23);
    f8 r = f8_sub(f8_of_bits(w8_sub(bits, w8_left(e, 23))), f8_all(1)), power = f8_of_signed(e);
    r = f8_select(f8_equal(power, f8_all(0)), t, r);
    f8 rest = f8_fma(power, f8_all(LOG_LN2), f8_sub(r, t));
    f8 sum = f8_fma(f8_mul(r, r), f8_fma(log_p8(r), r, f8_all(-0.5f)), rest);
    return f8_select(f8_greater(more, f8_all(0)), sum, f8_all(-INFINITY));
}

LANES_INLINE f8 f8_abs(f8 x)
{
    return f8_max(x, f8_neg(x));
}

/* The points of one attempt, and how it was judged. */
typedef struct rate_attempt {
    f8 x;
    m8 accepted, rejected;
} rate_attempt;

LANES_INLINE rate_attempt rate_try(const f8 hat[RATE_NUMBERS], w8 place, w8 height)
{
    const f8 one = f8_all(1), area = hat[RATE_AREA], end = hat[RATE_END];
    f8 y = f8_mul(uniform8(place), area), right = f8_mul(y, hat[RATE_RIGHT_SLOPE]);
    f8 rest = f8_mul(uniform8(w8_xor(place, w8_all(UINT32_MAX))), area);
    f8 left = f8_mul(rest, hat[RATE_LEFT_SLOPE]);
    f8 fall = log8(f8_min(one, f8_min(right, left)));
    f8 in_right = f8_fma(f8_neg(hat[RATE_RIGHT_LENGTH]), fall, f8_sub(end, hat[RATE_RIGHT_LENGTH]));
    f8 in_left =
        f8_fma(hat[RATE_LEFT_LENGTH], fall, f8_sub(end, f8_sub(area, hat[RATE_LEFT_LENGTH])));
    f8 x = f8_select(f8_greater(one, left), in_left, f8_sub(end, y));
    x = f8_select(f8_greater(one, right), in_right, x);
    f8 series = f8_fma(f8_fma(hat[RATE_Q6], x, hat[RATE_Q5]), x, hat[RATE_Q4]);
    series = f8_fma(f8_fma(series, x, hat[RATE_Q3]), x, hat[RATE_Q2]);
    f8 linear = f8_mul(x, f8_fma(f8_neg(x), series, hat[RATE_SLOPE]));
    f8 log_f = f8_fma(hat[RATE_CLICKS], log_excess8(f8_mul(hat[RATE_RATIO], x)), linear);
    f8 above = f8_sub(log_f, f8_add(fall, log8(uniform8(height))));
    f8 square = f8_mul(x, x), size = f8_abs(x);
    f8 error = f8_mul(f8_mul(f8_mul(square, square), square), f8_mul(size, hat[RATE_ERROR]));
    m8 inside = f8_reaches(hat[RATE_REACH], size);
    return (rate_attempt){x, m8_and(inside, f8_reaches(above, error)),
                          m8_and(inside, f8_greater(f8_neg(error), above))};
}

/* Eight draws by their first two attempts; the bits of those that need more. */
LANES_INLINE uint32_t rate_eight(const f8 hat[RATE_NUMBERS], words8 w, f8 *x)
{
    rate_attempt a = rate_try(hat, w.w[0], w.w[1]), b = rate_try(hat, w.w[2], w.w[3]);
    *x = f8_select(a.accepted, a.x, b.x);
    return 0xFF & ~m8_bits(m8_or(a.accepted, m8_and(a.rejected, b.accepted)));
}

LANES_INLINE void store_thetas(const double *mode, const float *width, f8 x, double *out)
{
    float at[LANES];
    f8_store(at, x);
    for (size_t l = 0; l < LANES; l += 4) {
        d4 theta = d4_fma(d4_of_floats(f4_load(width + l)), d4_of_floats(f4_load(at + l)),
                          d4_load(mode + l));
        d4_store(out + l, d4_min(d4_max(theta, d4_all(0)), d4_all(1)));
    }
}

LANES_INLINE uint32_t rate_all(counters c, const rate_items *items, uint32_t j, double *out)
{
    f8 hat[RATE_NUMBERS], x;
    for (size_t k = 0; k < RATE_NUMBERS; k++)
        hat[k] = f8_load(items->number + k * items->stride + j);
    uint32_t failed = rate_eight(hat, words_of(c, w8_add(w8_count(), w8_all(j))), &x);
    store_thetas(items->mode + j, items->number + RATE_WIDTH * items->stride + j, x, out);
    return failed;
}

LANES_INLINE uint32_t rate_list(counters c, const rate_items *items, const uint32_t *item, size_t n,
                                double *out)
{
    f8 hat[RATE_NUMBERS], x;
    float width[LANES];
    double mode[LANES];
    w8 i = load_items(item, n);
    for (size_t k = 0; k < RATE_NUMBERS; k++)
        hat[k] = f8_gather(items->number + k * items->stride, i);
    uint32_t failed = rate_eight(hat, words_of(c, i), &x);
    f8_store(width, hat[RATE_WIDTH]);
    for (size_t l = 0; l < LANES; l++)
        mode[l] = items->mode[item[l < n ? l : 0]];
    store_thetas(mode, width, x, out);
    return failed;
}

/* Fused multiplications are instructions here, and calls of libm in the plain version. */
LANES_TARGET static __attribute__((noinline)) double rate_again(const oltr_rng *rng,
                                                                const rate_items *items, uint32_t i)
{
    return rate_draw(rng, items, i);
}

LANES_TARGET void VERSION(rate_draws)(const oltr_rng *rng, const rate_items *items,
                                      const uint32_t *item, size_t n, double *out)
{
    counters c = counters_of(rng, 0);
    for (uint32_t j = 0; j < n; j += LANES) {
        uint32_t failed =
            item ? rate_list(c, items, item + j, n - j, out + j) : rate_all(c, items, j, out + j);
        failed &= n - j < LANES ? (1u << (n - j)) - 1 : 0xFF;
        for (; failed; failed &= failed - 1) {
            uint32_t at = j + (uint32_t)__builtin_ctz(failed);
            out[at] = rate_again(rng, items, item ? item[at] : at);
        }
    }
}

/* ---- powers */

/* Takes back that shapes below 1 were raised. */
LANES_TARGET static __attribute__((noinline)) void
add_powers(counters c, const beta_shapes *s, const uint32_t *item, size_t n, float *out)
{
    for (size_t j = 0; j < n; j += LANES) {
        w8 i = item ? load_items(item + j, n - j) : w8_add(w8_count(), w8_all((uint32_t)j));
        f8 pa = item ? f8_gather(s->pa, i) : f8_load(s->pa + j);
        f8 pb = item ? f8_gather(s->pb, i) : f8_load(s->pb + j);
        m8 has = f8_greater(f8_max(pa, pb), f8_all(0));
        if (m8_bits(has) == 0)
            continue;
        words8 w = words_of(c, i);
        f8 second = f8_mul(log_uniform8(w.w[1]), pb);
        f8 more = f8_fms(log_uniform8(w.w[0]), pa, second);
        f8 odds = load_first(out + j, n - j);
        store_first(out + j, f8_select(has, f8_add(odds, more), odds), n - j);
    }
}

/* First pass: all items, 32 at a time, accepted where the squeeze is enough, as it nearly always
 * is.  The others are listed in todo.  The words are made before the proposals, because the two
 * together do not fit the registers. */
LANES_TARGET static __attribute__((noinline)) size_t first_pass(counters c, const beta_shapes *s,
                                                                const uint32_t *item, size_t n,
                                                                uint32_t *todo, float *out)
{
    size_t left = 0;
    _Alignas(32) uint32_t words[4][4][LANES];
    for (size_t start = 0; start < n; start += 4 * LANES) {
        size_t end = n - start < 4 * LANES ? n : start + 4 * LANES;
        for (size_t j = start, q = 0; j < end; j += LANES, q++) {
            w8 i = item ? load_items(item + j, n - j) : w8_add(w8_count(), w8_all((uint32_t)j));
            words8 w = words_of(c, i);
            w8_store(words[q][0], w.w[0]);
            w8_store(words[q][1], w.w[1]);
            w8_store(words[q][2], w.w[2]);
            w8_store(words[q][3], w.w[3]);
        }
        uint32_t all = 0;
        for (size_t j = start, q = 0; j < end; j += LANES, q++) {
            unsigned live = n - j < LANES ? (1u << (n - j)) - 1 : 0xFFu;
            w8 i = item ? load_items(item + j, n - j) : w8_all(0);
            f8 ca = item ? f8_gather(s->ca, i) : f8_load(s->ca + j);
            f8 cb = item ? f8_gather(s->cb, i) : f8_load(s->cb + j);
            f8 shift = item ? f8_gather(s->log_da_db, i) : f8_load(s->log_da_db + j);
            words8 w = {{w8_load(words[q][0]), w8_load(words[q][1]), w8_load(words[q][2]),
                         w8_load(words[q][3])}};
            proposal p = propose_from(w, ca, cb);
            f8 value = log_odds8(&p, shift);
            if (item)
                store_first(out + j, value, n - j);
            else
                f8_store(out + j, value);
            unsigned failed = live & ~m8_bits(p.squeezed);
            all |= failed << (q * LANES);
        }
        for (; all; all &= all - 1)
            todo[left++] = (uint32_t)start + (uint32_t)__builtin_ctz(all);
    }
    return left;
}

LANES_TARGET void VERSION(beta_scores)(const oltr_rng *rng, const beta_shapes *shapes,
                                       const uint32_t *item, size_t n, uint32_t *todo, float *out)
{
    size_t left = first_pass(counters_of(rng, 0), shapes, item, n, todo, out);
    if (left <= EACH_MOST)
        left = try_each(rng, shapes, item, todo, left, out);
    for (uint32_t attempt = 0; left; attempt = (attempt + 1) & 0x7FFF)
        left = try_again(counters_of(rng, attempt), shapes, item, todo, left, out);
    if (shapes->n_powers)
        add_powers(counters_of(rng, PURPOSE_POWERS), shapes, item, n, out);
    if (!item)
        for (size_t j = n; j < padded(n); j++)
            out[j] = -INFINITY;
}

#else
typedef int no_lanes; /* an empty translation unit is not C */
#endif
