/* limits.h - every bound of the engine on its input and on its learned numbers, once.
 *
 * Learning enforces them and loading a snapshot checks the same ones, so that whatever can be
 * learned can be loaded, and the reverse.  Bounds that callers need by name are in oltr/oltr.h
 * (OLTR_MAX_WEIGHT, OLTR_MAX_MASKED).
 */
#ifndef OLTR_ENGINE_LIMITS_H
#define OLTR_ENGINE_LIMITS_H

#include <stdint.h>

enum {
    MOST_POLICY_ITEMS = 1 << 28, /* of a policy: their marks alone take 1 GB */
    MOST_COMPARED_ITEMS = 20000, /* of toprank: 4.8 GB of pairs */
    MOST_FEATURES = 4096,        /* of a candidate: a factor of 4096 columns takes 134 MB */
    LONGEST_NAME = 63,           /* bytes of the name of a policy, a parameter or an array */
};

/* Rounds that one policy learns.  Learning and merging refuse to go beyond. */
#define MOST_ROUNDS ((uint64_t)1 << 49)

/* Of a reward, either way: sums of MOST_ROUNDS of them stay far from overflow, and means fit in a
 * float. */
#define LARGEST_REWARD 1e30

/* Of a feature that is shown or learned, either way: with a ridge of 1e-4, squares of larger ones
 * leave a factor fewer than nine digits. */
#define LARGEST_FEATURE 1e6f

/* Observations of one item, beyond one in each round: what weights and merges may add up to.  A
 * round adds 1 to the bound and at most 1 to the observations, so that learning cannot pass it.
 * Every special function is exact enough up to the sum of this and MOST_ROUNDS. */
#define MOST_OBSERVATIONS 1e15

/* Of any learned number: MOST_ROUNDS lists of MOST_POLICY_ITEMS slots with the largest feature,
 * reward and weight add up to 2e65.  Sums of such sums, products of two, and quotients by the least
 * ridge stay finite. */
#define LARGEST_SUM 1e70

/* Below this a sum counts as 0: rounding may leave it of observations that were forgotten. */
#define FORGOTTEN_SUM 1e-290

/* Of a prior: shapes of a Beta distribution; means, and standard deviations from the inverse of the
 * bound on.  Squares and quotients of both stay finite and not 0. */
#define LEAST_SHAPE 1e-9
#define LARGEST_SHAPE 1e12
#define LARGEST_MOMENT 1e9

/* Of the logistic posterior.  Beyond the first, the score equation has no root in doubles.  Up to
 * the second, the running number of observations is exact.  The third bounds each element of the
 * absorbed precision and linear term, and so theta: it is above the third over the least lambda. */
#define MOST_ROW_OBSERVATIONS 1e12
#define MOST_LOGISTIC_OBSERVATIONS 0x1p53
#define LARGEST_ABSORBED 1e30
#define LONGEST_LOGISTIC_THETA 1e50

/* Length of theta of logts-newton without clip: a step adds at most alpha / sqrt(K), so that
 * MOST_ROUNDS steps stay far below. */
#define LONGEST_NEWTON_THETA 1e30

#endif
