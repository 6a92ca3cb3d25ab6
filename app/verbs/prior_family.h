/* prior_family.h - what `oltr prior train` and `oltr prior check` share: reading judged files, and
 * the attractions of their grades. */
#ifndef OLTR_APP_VERBS_PRIOR_FAMILY_H
#define OLTR_APP_VERBS_PRIOR_FAMILY_H

#include "app/verbs/verbs.h"
#include "lab/scorer/scores.h"

/* The dataset that an option names, which must be given; reports skipped lines. */
int prior_read(const struct arguments *arguments, const char *option, oltr_dataset **out);

/* The attraction of each grade by --grades and --largest-grade.  By default the scale ends at the
 * largest grade of the data, for the tables of grades 0..4 at 4.  Unused grades are 0. */
struct prior_grades {
    const char *mapping; /* of --grades */
    uint32_t largest;
    double attraction[GRADES];
};
int prior_grades(const struct arguments *arguments, uint32_t largest_in_data,
                 struct prior_grades *out);

#endif
