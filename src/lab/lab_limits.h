/* lab_limits.h - the bounds of experiments, once.  Those of a policy are in engine/limits.h.
 *
 * An experiment file and the calls of oltr/sim.h have the same ones.
 */
#ifndef OLTR_LAB_LAB_LIMITS_H
#define OLTR_LAB_LAB_LIMITS_H

#include <stddef.h>
#include <stdint.h>

enum {
    MOST_WORLD_ITEMS = 10000000,
    MOST_CHECKPOINTS = 1000000,
    MOST_CONTESTANTS = 1000, /* policies of one experiment: pairs are quadratic */
    MOST_POINTS = 1000,      /* of a sweep: values, or combinations of them */
    MOST_SWEEP_KEYS = 2,
    MOST_REPLICATIONS = 1 << 22, /* as many squares of curves of 52 bits fit in 128 bits */
    MOST_QUERIES = 1000000,      /* of a dataset that is generated or played */
    MOST_RANKERS = 1000,         /* trained for one prior */
    LARGEST_GRADE = 30,          /* of a document: 2^grade is exact */
    LARGEST_WALK = 10,           /* standard deviation of a step of log-odds in a round */
    LONGEST_LINE = 120,          /* bytes of a text in an experiment file */
    LONGEST_PARAGRAPH = 1000,
    LONGEST_PATH = 4000,
};

/* The horizon of an experiment: far below the rounds that a policy counts. */
#define LONGEST_HORIZON ((uint64_t)1 << 40)

/* Of a shape of a Beta prior; the density of a larger one is a needle. */
#define LARGEST_WORLD_NUMBER 1e9

/* Bytes of an experiment in memory, so that no file can use up all of it. */
#define LARGEST_PLAN ((size_t)1 << 30)

#endif
