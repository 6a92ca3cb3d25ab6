/* residuals_body.h - residuals and curvatures of n rows from their scores, for three links, WIDTH
 * rows at a time; included for each length of a vector, and for each way to fuse.
 *
 * VECTOR, WORDS: WIDTH doubles, and as many words of 64 bits.  FMA: a b + c of three vectors,
 * rounded once.  OF(name): the name of a function for this vector, TARGET: for which machines it
 * is.  Rows from i on that fill no vector are left; returns i.
 *
 * The exponential: exp(-a) = 2^k exp(r) with |r| <= ln(2)/2 and the Taylor polynomial of degree 13,
 * whose remainder is 4e-18.  link_kernels.c has what the links are.
 */
#define ALL(x) ((VECTOR){0} + (x)) /* not for -0.0 */
#define SIGN ((WORDS){0} + 0x8000000000000000u)
#define WHERE(condition, x) ((VECTOR)((WORDS)(x) & (WORDS)(condition))) /* elsewhere 0 */
#define CHOOSE(condition, x, y)                                                                    \
    ((VECTOR)(((WORDS)(x) & (WORDS)(condition)) | ((WORDS)(y) & ~(WORDS)(condition))))

/* exp(-a) = 2^k exp(r): r, and in `shifted` a number with k in its low bits. */
TARGET ALWAYS_INLINE void OF(reduce)(const VECTOR *a, VECTOR *shifted, VECTOR *r)
{
    *shifted = FMA(*a, ALL(-LOG2_E), ALL(ROUNDING));
    VECTOR k = *shifted - ALL(ROUNDING);
    *r = FMA(k, ALL(-LN2_LOW), FMA(k, ALL(-LN2_HIGH), -*a));
}

/* `out`, the first terms of the series of exp(r) or exp(r) - 1, gets the others. */
TARGET ALWAYS_INLINE void OF(add_series)(const VECTOR *from, VECTOR *out)
{
    VECTOR r = *from, r2 = r * r, r4 = r2 * r2;
    VECTOR p0 = FMA(r2, FMA(r, ALL(1.0 / 6), ALL(1.0 / 2)), *out);
    VECTOR p4 =
        FMA(r2, FMA(r, ALL(1.0 / 5040), ALL(1.0 / 720)), FMA(r, ALL(1.0 / 120), ALL(1.0 / 24)));
    VECTOR p8 = FMA(r2, FMA(r, ALL(1.0 / 39916800), ALL(1.0 / 3628800)),
                    FMA(r, ALL(1.0 / 362880), ALL(1.0 / 40320)));
    VECTOR p12 = FMA(r, ALL(1.0 / 6227020800), ALL(1.0 / 479001600));
    *out = FMA(r4, FMA(r4, FMA(r4, p12, p8), p4), p0);
}

/* exp(-a) where a < LOWEST; elsewhere 0, for NaN too, which so cannot spread. */
TARGET ALWAYS_INLINE void OF(exponential)(const VECTOR *a, VECTOR *out)
{
    VECTOR shifted, r;
    OF(reduce)(a, &shifted, &r);
    VECTOR e = ALL(1.0) + r;
    OF(add_series)(&r, &e);
    e = (VECTOR)((WORDS)e + ((WORDS)shifted << 52)); /* times 2^k, straight into the exponent */
    *out = WHERE(*a < ALL(LOWEST), e);
}

/* Stores S - N mu and N mu' of the rows from i on, without cancellation; rest is 1 - mu. */
TARGET ALWAYS_INLINE void OF(store)(size_t i, const double *examined, const double *clicked,
                                    const VECTOR *mu, const VECTOR *rest, const VECTOR *slope,
                                    double *residual, double *curvature)
{
    VECTOR seen, hits;
    memcpy(&seen, examined + i, sizeof seen);
    memcpy(&hits, clicked + i, sizeof hits);
    VECTOR misfit = FMA(hits, *rest, (hits - seen) * *mu), weight = seen * *slope;
    memcpy(residual + i, &misfit, sizeof misfit);
    memcpy(curvature + i, &weight, sizeof weight);
}

TARGET ALWAYS_INLINE size_t OF(logit)(size_t i, size_t n, const double *z, const double *examined,
                                      const double *clicked, double *residual, double *curvature)
{
    for (; i + WIDTH <= n; i += WIDTH) {
        VECTOR score, e;
        memcpy(&score, z + i, sizeof score);
        VECTOR a = (VECTOR)((WORDS)score & ~SIGN);
        OF(exponential)(&a, &e);
        VECTOR large = ALL(1.0) / (ALL(1.0) + e), small = e * large;
        VECTOR mu = CHOOSE(score >= ALL(0.0), large, small),
               rest = CHOOSE(score >= ALL(0.0), small, large), slope = large * small;
        OF(store)(i, examined, clicked, &mu, &rest, &slope, residual, curvature);
    }
    return i;
}

/* MILLS_NEAR at t = (x - MILLS_PLACE) / (x + MILLS_PLACE), by four polynomials in t^4. */
TARGET ALWAYS_INLINE void OF(mills)(const VECTOR *x, VECTOR *out)
{
    VECTOR t = (*x - ALL(MILLS_PLACE)) / (*x + ALL(MILLS_PLACE)), t2 = t * t, t4 = t2 * t2, part[4];
    for (int j = 0; j < 4; j++) {
        part[j] = ALL(mills_near[MILLS_TERMS - 4 + j]);
        for (int m = MILLS_TERMS - 8; m >= 0; m -= 4)
            part[j] = FMA(part[j], t4, ALL(mills_near[m + j]));
    }
    *out = FMA(t2, FMA(t, part[3], part[2]), FMA(t, part[1], part[0]));
}

TARGET ALWAYS_INLINE size_t OF(probit)(size_t i, size_t n, const double *z, const double *examined,
                                       const double *clicked, double *residual, double *curvature)
{
    for (; i + WIDTH <= n; i += WIDTH) {
        VECTOR score, e, near;
        memcpy(&score, z + i, sizeof score);
        VECTOR a = (VECTOR)((WORDS)score & ~SIGN), x = WHERE(a < ALL(LARGEST_DEVIATION), a);
        VECTOR half = x * ALL(0.5), square = half * x, lost = FMA(half, x, -square);
        OF(exponential)(&square, &e);
        OF(mills)(&x, &near);
        e = WHERE(a < ALL(LARGEST_DEVIATION), FMA(e, -lost, e));
        VECTOR small = e * near / FMA(x, ALL(MILLS_SLOPE), ALL(1.0)), large = ALL(1.0) - small;
        VECTOR mu = CHOOSE(score >= ALL(0.0), large, small),
               rest = CHOOSE(score >= ALL(0.0), small, large), slope = e * ALL(ONE_BY_ROOT_2_PI);
        OF(store)(i, examined, clicked, &mu, &rest, &slope, residual, curvature);
    }
    return i;
}

TARGET ALWAYS_INLINE size_t OF(cloglog)(size_t i, size_t n, const double *z, const double *examined,
                                        const double *clicked, double *residual, double *curvature)
{
    for (; i + WIDTH <= n; i += WIDTH) {
        VECTOR score, u, shifted, r;
        memcpy(&score, z + i, sizeof score);
        VECTOR a = -CHOOSE(score > ALL(LARGEST_LOG_HAZARD), ALL(LARGEST_LOG_HAZARD), score);
        OF(exponential)(&a, &u);
        WORDS inside = (WORDS)(u < ALL(LOWEST));
        u = WHERE(inside, u);
        OF(reduce)(&u, &shifted, &r);
        VECTOR less = r, power = (VECTOR)((WORDS)ALL(1.0) + ((WORDS)shifted << 52));
        OF(add_series)(&r, &less); /* exp(r) - 1 */
        VECTOR mu = CHOOSE(inside, -FMA(power, less, power - ALL(1.0)), ALL(1.0)),
               rest = WHERE(inside, FMA(power, less, power)), slope = u * rest;
        OF(store)(i, examined, clicked, &mu, &rest, &slope, residual, curvature);
    }
    return i;
}

#undef ALL
#undef SIGN
#undef WHERE
#undef CHOOSE
#undef TARGET
#undef WIDTH
#undef VECTOR
#undef WORDS
#undef FMA
#undef OF
