/* bounds.h - what theory says about the regret after T rounds, to be drawn beside the curves or
 * tested as a claim.
 *
 * T is the horizon of the theorem: the curve of a bound over rounds has at round t the bound for a
 * run of t rounds. */
#ifndef OLTR_REPORT_BOUNDS_BOUNDS_H
#define OLTR_REPORT_BOUNDS_BOUNDS_H

#include <oltr/sim.h>
#include <stdbool.h>

enum bound {
    BOUND_TRIVIAL,   /* a round loses at most 1 */
    BOUND_THM1,      /* GTS */
    BOUND_THM2,      /* LinTS-LTR */
    BOUND_THM3,      /* LogTS-LTR, with kappa */
    BOUND_THM4,      /* LogTS-LTR without kappa, as printed */
    BOUND_THM4_SQRT, /* the same with the factor sqrt(T) that its proof loses */
    BOUND_LOWER,     /* Kveton and others 2015, on two levels of attraction */
    N_BOUNDS
};

struct bound_problem {
    double rounds;         /* T */
    uint32_t slots, items; /* K, L */
    uint32_t dim;          /* d; 0: no features */
    double better, worse;  /* `slots` items attract with chance `better`, the others with `worse`;
                              both 0: it is no such problem */
};

/* What an experiment is to the theory.  The dim of a dataset is not known: 0. */
struct bound_problem bound_problem_of(const oltr_experiment *point);

struct bound_info {
    const char *name;  /* in experiment files */
    const char *label; /* in figures */
    bool is_lower;
};
extern const struct bound_info bound_infos[N_BOUNDS];

/* The bound of that name, or N_BOUNDS. */
enum bound bound_find(const char *name);
/* NULL, or what the problem lacks for this bound, as the end of a sentence: "needs ...". */
const char *bound_lacks(enum bound bound, const struct bound_problem *problem);
double bound_value(enum bound bound, const struct bound_problem *problem);

#endif
