/* standings.h - the order of the policies of an experiment, by the paired differences. */
#ifndef OLTR_REPORT_CLAIMS_STANDINGS_H
#define OLTR_REPORT_CLAIMS_STANDINGS_H

#include "report/io/folder.h"

struct ranked {
    const char *policy;
    uint32_t index; /* among the policies of the experiment */
    const struct result_row *row;
    uint32_t rank;            /* 1 + how many are better by more than three standard errors */
    double behind, behind_se; /* regret above that of the best; 0, 0 for the best itself */
};

/* The policies at the last checkpoint of one swept value, least regret first.  Returns how many
 * have results (at most scene.n_policies); out: room for so many. */
uint32_t rank_policies(const struct folder *folder, const char *sweep, struct ranked *out);

/* The first is better than the second by more than three standard errors of their difference. */
bool rank_is_clear(const struct folder *folder, const char *sweep, const struct ranked *first,
                   const struct ranked *second);

#endif
