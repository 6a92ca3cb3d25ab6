/* claims.h - what is said about a figure, as comparisons that the results decide.
 *
 * A claim is a sentence and one test for each reading of it (as printed, as released) and each
 * setting (sigma = 0.3).  A test compares the regret of policies by the paired differences of the
 * replications, or with a bound of the theory.  It holds if every comparison is met by more than
 * three standard errors, does not hold if one is missed by more than three, and is inconclusive
 * otherwise.
 *
 * Tests of one claim and one reading that differ only in the value of one setting are a group.  The
 * verdict of a group names its settings: "holds for sigma in {0.35, 0.3}; not at 1, 0.5". */
#ifndef OLTR_REPORT_CLAIMS_CLAIMS_H
#define OLTR_REPORT_CLAIMS_CLAIMS_H

#include "engine/base/text.h"

#include <oltr/oltr.h>
#include <stdint.h>

enum claim_relation {
    CLAIM_LESS,        /* the first has less than `factor` times the regret of each of the others */
    CLAIM_MORE,        /* the first has more than `factor` times the regret of each of the others */
    CLAIM_CLOSE,       /* each of the others is within the share `within` of the first */
    CLAIM_UNDECIDABLE, /* nothing measured here can decide it; `reason` says why */
    N_CLAIM_RELATIONS = CLAIM_UNDECIDABLE /* the relations that compare */
};

/* In place of the value of one of two swept keys: every value. */
#define CLAIM_ANY "*"

struct claim_test {
    const char *of;              /* which reading: "printed", "released" */
    const char *setting, *value; /* "sigma", "0.3"; both NULL: the test names no setting */
    enum claim_relation relation;
    uint32_t n_policies;
    const char **policy; /* (n_policies) labels; names of posteriors in kind concentration */
    double factor, within;
    uint64_t round;      /* 0: the last */
    uint64_t from;       /* not 0: at every checkpoint from here to `round` */
    const char *at;      /* the swept value, or the attraction; NULL: every one of them; "* | 8":
                            every one with 8 as the value of the second key */
    const char *against; /* not NULL: each policy at `at` is compared with itself at this value */
    const char *bound;   /* not NULL: each policy is compared with this bound (bounds.h) */
    const char *measure; /* concentration: a column of its summary.csv; NULL otherwise */
    const char *reason;  /* of CLAIM_UNDECIDABLE */
};

/* Who makes the claim: the authors of the experiment file, or a paper, which `says` then quotes. */
enum claim_source { CLAIM_OURS, CLAIM_OF_PAPER, N_CLAIM_SOURCES };

struct claim {
    const char *figure; /* the file of the figure it is about, or NULL */
    const char *says;
    enum claim_source source;
    uint32_t n_tests;
    struct claim_test *test; /* (n_tests) */
};

/* With fewer replications a standard error is itself too rough to decide anything. */
enum { CLAIM_LEAST_REPLICATIONS = 10 };

enum claim_verdict {
    CLAIM_HOLDS,
    CLAIM_FAILS,
    CLAIM_INCONCLUSIVE,   /* within three standard errors, or not enough was played */
    CLAIM_NOT_MEASURABLE, /* of CLAIM_UNDECIDABLE */
    N_CLAIM_VERDICTS
};

/* The first policy against another, or a policy against itself at two swept values.  Of many
 * checkpoints, the one that is worst for the claim. */
struct claim_comparison {
    const char *policy, *other, *at, *against; /* at: "" without a sweep */
    uint64_t round;
    double value, other_value;
    double difference, difference_se; /* value - other_value */
    double margin, margin_se;         /* the claim is that this is below zero */
    enum claim_verdict verdict;
};

struct claim_finding {
    const struct claim *claim;
    const struct claim_test *test;
    enum claim_verdict verdict;
    char reason[200]; /* why it is inconclusive, if not because of noise; else "" */
    uint32_t n_comparisons;
    struct claim_comparison *comparison; /* (n_comparisons) */
};

struct claim_findings {
    uint32_t count;
    struct claim_finding *finding; /* (count) in the order of the experiment file */
};

struct folder;
/* The strings of the findings belong to the folder. */
oltr_status claims_judge(const struct folder *folder, struct claim_findings *findings,
                         oltr_error *error);
void claims_free(struct claim_findings *findings);

extern const char *const claim_relations[N_CLAIM_RELATIONS]; /* "less", "more", "close" */
extern const char *const claim_sources[N_CLAIM_SOURCES];     /* "ours", "paper" */
extern const char *const claim_verdicts[N_CLAIM_VERDICTS];   /* "holds", "does not hold", ... */

/* The findings from `first` on that are one group; at least 1. */
uint32_t claims_group(const struct claim_findings *findings, uint32_t first);
/* The verdict of the group that begins at `first`, in words. */
void claims_overall(const struct claim_findings *findings, uint32_t first, struct text *out);

/* One row for each comparison; `experiment` is the first column if it is not NULL. */
void claims_heading(struct text *out, bool with_experiment);
void claims_rows(const struct claim_findings *findings, const char *experiment, struct text *out);

/* Judges the claims of a folder and writes its claims.csv, if it has claims. */
oltr_status claims_folder(const char *path, oltr_error *error);

#endif
