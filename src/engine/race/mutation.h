/* mutation.h - deliberate errors of the race and of the classes, for the test that shows that its
 * tests find them.
 *
 * MUTATED(n) is 0 in the library.  tests/race compiles the files of this folder a second time with
 * OLTR_RACE_MUTATIONS and sets race_mutation.
 */
#ifndef OLTR_ENGINE_RACE_MUTATION_H
#define OLTR_ENGINE_RACE_MUTATION_H

enum race_error {
    FRESH_NUMBERS = 1, /* another generator at the lower threshold */
    REDRAWN_REST,      /* the same, but what was found above the first threshold is kept */
    MIDDLE_AS_BOUND,   /* the middle of a cell where its bound is needed */
    LAST_NEVER_DRAWN,  /* the last of the members left is never hit */
    REPEATS_ACCEPTED,  /* a member can be hit twice */
    WIDE_BELOW_MEAN,   /* the larger deviation below the mean, too */
    SOME_NOT_MOVED,    /* learning leaves one item in eight in its old cell */
    GAPS_OF_ALL,       /* the rate of a gap is m, not m - j */
    TIES_LEFT_OUT,     /* classes: those that tie with the last that was found are left out */
    SHORT_TAIL,        /* no sample beyond 6.66 deviations, as from a generator of floats */
};

#ifdef OLTR_RACE_MUTATIONS
extern int race_mutation;
#define MUTATED(error) (race_mutation == (int)(error))
#else
#define MUTATED(error) 0
#endif

#endif
