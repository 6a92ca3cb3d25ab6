/* residuals_body.h - residuals and curvatures of n rows from their scores, WIDTH at a time;
 * included for each length of a vector, and for each way to fuse.
 *
 * VECTOR, WORDS: WIDTH doubles, and as many words of 64 bits.  FMA: a b + c of three vectors,
 * rounded once.  RESIDUALS: the name of the function, TARGET: for which machines it is.  Rows from
 * i on that fill no vector are left; returns i.
 */
#define ALL(x) ((VECTOR){0} + (x)) /* not for -0.0 */

TARGET ALWAYS_INLINE size_t RESIDUALS(size_t i, size_t n, const double *z, const double *examined,
                                      const double *clicked, double *residual, double *curvature)
{
    const WORDS sign = (WORDS){0} + 0x8000000000000000u;
    for (; i + WIDTH <= n; i += WIDTH) {
        VECTOR score, seen, hits;
        memcpy(&score, z + i, sizeof score);
        memcpy(&seen, examined + i, sizeof seen);
        memcpy(&hits, clicked + i, sizeof hits);

        VECTOR a = (VECTOR)((WORDS)score & ~sign);
        VECTOR shifted = FMA(a, ALL(-LOG2_E), ALL(ROUNDING));
        VECTOR k = shifted - ALL(ROUNDING);
        VECTOR r = FMA(k, ALL(-LN2_LOW), FMA(k, ALL(-LN2_HIGH), -a));
        VECTOR r2 = r * r, r4 = r2 * r2;
        VECTOR p0 = FMA(r2, FMA(r, ALL(1.0 / 6), ALL(1.0 / 2)), ALL(1.0) + r);
        VECTOR p4 =
            FMA(r2, FMA(r, ALL(1.0 / 5040), ALL(1.0 / 720)), FMA(r, ALL(1.0 / 120), ALL(1.0 / 24)));
        VECTOR p8 = FMA(r2, FMA(r, ALL(1.0 / 39916800), ALL(1.0 / 3628800)),
                        FMA(r, ALL(1.0 / 362880), ALL(1.0 / 40320)));
        VECTOR p12 = FMA(r, ALL(1.0 / 6227020800), ALL(1.0 / 479001600));
        VECTOR e = FMA(r4, FMA(r4, FMA(r4, p12, p8), p4), p0);

        /* times 2^k, which goes straight into the exponent: k is in the low bits of `shifted` */
        e = (VECTOR)((WORDS)e + ((WORDS)shifted << 52));
        e = (VECTOR)((WORDS)e & (WORDS)(a < ALL(LOWEST))); /* what is beyond is 0, NaN too, which so
                                                              cannot spread */

        VECTOR large = ALL(1.0) / (ALL(1.0) + e), small = e * large;
        WORDS positive = (WORDS)(score >= ALL(0.0));
        VECTOR mu = (VECTOR)(((WORDS)large & positive) | ((WORDS)small & ~positive));
        VECTOR rest = (VECTOR)(((WORDS)small & positive) | ((WORDS)large & ~positive));
        VECTOR misfit = FMA(hits, rest, (hits - seen) * mu), weight = seen * (large * small);
        memcpy(residual + i, &misfit, sizeof misfit);
        memcpy(curvature + i, &weight, sizeof weight);
    }
    return i;
}

#undef ALL
#undef TARGET
#undef WIDTH
#undef VECTOR
#undef WORDS
#undef FMA
#undef RESIDUALS
