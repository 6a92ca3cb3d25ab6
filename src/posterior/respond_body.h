/* respond_body.h - the response to the scores of n rows, LANES at a time; included for each length of a vector.
 *
 * VECTOR, WORDS: LANES doubles, and as many words of 64 bits.  RESPOND: the name of the function.  Rows from i on that fill no vector are left; returns i.
 */
#define ALL(x) ((VECTOR){0} + (x)) /* not for -0.0 */

BODY size_t RESPOND(size_t i, size_t n, const double *z, const double *examined, const double *clicked,
                    double *residual, double *curvature)
{
    const WORDS sign = (WORDS){0} + 0x8000000000000000u;
    for (; i + LANES <= n; i += LANES) {
        VECTOR score, seen, hits;
        memcpy(&score, z + i, sizeof score);
        memcpy(&seen, examined + i, sizeof seen);
        memcpy(&hits, clicked + i, sizeof hits);

        VECTOR a = (VECTOR)((WORDS)score & ~sign);
        WORDS within = (WORDS)(a < ALL(LOWEST)); /* not for NaN, which so cannot spread */
        a = (VECTOR)(((WORDS)a & within) | ((WORDS)ALL(LOWEST) & ~within));

        VECTOR shifted = ALL(ROUNDING) - a * ALL(LOG2_E);
        VECTOR k = shifted - ALL(ROUNDING);
        VECTOR r = (-a - k * ALL(LN2_HIGH)) - k * ALL(LN2_LOW);
        VECTOR r2 = r * r, r4 = r2 * r2;
        VECTOR p0 = (ALL(1.0) + r) + r2 * (ALL(1.0 / 2) + r * ALL(1.0 / 6));
        VECTOR p4 = (ALL(1.0 / 24) + r * ALL(1.0 / 120)) + r2 * (ALL(1.0 / 720) + r * ALL(1.0 / 5040));
        VECTOR p8 = (ALL(1.0 / 40320) + r * ALL(1.0 / 362880)) + r2 * (ALL(1.0 / 3628800) + r * ALL(1.0 / 39916800));
        VECTOR p12 = ALL(1.0 / 479001600) + r * ALL(1.0 / 6227020800);
        VECTOR e = p0 + r4 * (p4 + r4 * (p8 + r4 * p12));

        /* times 2^k in two halves, for 2^k alone may be below the smallest normal number */
        WORDS exponent = (WORDS)shifted - (WORDS)ALL(ROUNDING) + 2048;
        WORDS half = exponent >> 1;
        e = e * (VECTOR)((half - 1) << 52) * (VECTOR)((exponent - half - 1) << 52);

        VECTOR large = ALL(1.0) / (ALL(1.0) + e), small = e * large;
        WORDS positive = (WORDS)(score >= ALL(0.0));
        VECTOR mu = (VECTOR)(((WORDS)large & positive) | ((WORDS)small & ~positive));
        VECTOR rest = (VECTOR)(((WORDS)small & positive) | ((WORDS)large & ~positive));
        VECTOR pull = hits * rest - (seen - hits) * mu, weight = seen * (large * small);
        memcpy(residual + i, &pull, sizeof pull);
        memcpy(curvature + i, &weight, sizeof weight);
    }
    return i;
}

#undef ALL
