/* limits.h - the bounds of the engine on its input, once.  A bound of one kind of policy alone is
 * in the file of that kind.
 *
 * Learning enforces them, and loading a snapshot checks the same ones: what can be learned can be
 * loaded, and the reverse.
 */
#ifndef OLTR_ENGINE_LIMITS_H
#define OLTR_ENGINE_LIMITS_H

#include <stdint.h>

enum {
    MOST_POLICY_ITEMS = 1 << 28, /* of a policy: their marks alone are a gigabyte */
    MOST_FEATURES = 4096,        /* of a candidate: a factor of 4096 columns has 134 MB */
    LONGEST_NAME = 63,           /* bytes of the name of a kind, a parameter or an array of sums */
};

/* Lessons of one policy.  Learning and merging refuse to go beyond. */
#define MOST_ROUNDS ((uint64_t)1 << 49)

/* Of a reward, either way: sums of MOST_ROUNDS of them stay far from the end of the doubles, and
 * means fit in a float. */
#define LARGEST_REWARD 1e30

/* Of a feature that is shown or learned, either way: beside a ridge of 1e-4, squares of larger ones
 * leave a factor fewer than nine digits. */
#define LARGEST_FEATURE 1e6f

/* Of one item, beside one in each round: what weights and merges may add up to.  A round adds 1 to
 * both, so that learning cannot pass the bound; and every special function is exact enough up to
 * the sum of this and MOST_ROUNDS. */
#define MOST_OBSERVATIONS 1e15

/* Of an observation, where a policy takes weights. */
#define LARGEST_WEIGHT 1e6

/* Of any learned number: MOST_ROUNDS lists of MOST_POLICY_ITEMS slots with the largest feature,
 * reward and weight add up to 2e65.  Sums of such sums, products of two, and quotients by the least
 * ridge stay numbers. */
#define LARGEST_SUM 1e70

#endif
