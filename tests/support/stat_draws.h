/* stat_draws.h - room for the N * EFFORT draws of a test in tests/stat, which defines N before. */
#ifndef OLTR_TESTS_STAT_DRAWS_H
#define OLTR_TESTS_STAT_DRAWS_H

#include "support/stat.h"

static double *draws; /* (N * EFFORT) */

static int setup(void **state)
{
    draws = exactly((size_t)N * EFFORT, sizeof *draws);
    return stat_setup(state);
}

static int teardown(void **state)
{
    free(draws);
    return 0;
}

#endif
