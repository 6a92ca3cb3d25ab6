/* standings.h - the order of the policies of an experiment, by the paired differences. */
#ifndef OLTR_REPORT_CLAIMS_STANDINGS_H
#define OLTR_REPORT_CLAIMS_STANDINGS_H

#include "report/io/folder.h"

/* With more policies, or more groups, there are no letters. */
enum { MOST_LETTERED = 64, MOST_LETTERS = 52, LETTERS_SIZE = MOST_LETTERS + 1 };

struct ranked {
    const char *policy;
    uint32_t index; /* among the policies of the experiment */
    const struct result_row *row;
    char letters[LETTERS_SIZE]; /* its groups, "ab"; "": there are none */
    double behind, behind_se;   /* regret above that of the best; 0, 0 for the best itself */
};

/* The policies at the last checkpoint of one swept value, least regret first.  Two of them share a
 * letter exactly if neither is better by more than three standard errors.  Returns how many have
 * results (at most scene.n_policies); out: room for so many. */
uint32_t rank_policies(const struct folder *folder, const char *sweep, struct ranked *out);

/* The first is better than the second by more than three standard errors of their difference. */
bool rank_is_clear(const struct folder *folder, const char *sweep, const struct ranked *first,
                   const struct ranked *second);

/* The compact letter display of `count` <= MOST_LETTERED things: bit j of differs[i] says whether i
 * and j differ.  letter[i] becomes the letters of thing i.  The first thing has an `a`.  False, and
 * no letters, if more than MOST_LETTERS are needed. */
bool letter_groups(const uint64_t *differs, uint32_t count, char (*letter)[LETTERS_SIZE]);

#endif
