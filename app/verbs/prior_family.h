/* prior_family.h - what `oltr prior train` and `oltr prior check` share: reading judged files, and
 * what their grades mean. */
#ifndef OLTR_APP_VERBS_PRIOR_FAMILY_H
#define OLTR_APP_VERBS_PRIOR_FAMILY_H

#include "app/verbs/verbs.h"
#include "scorer/scores.h"

/* The dataset that an option names (one that must be given); says on standard error what was
 * skipped. */
int prior_read(const struct arguments *arguments, const char *option, uint32_t threads,
               oltr_dataset **out);

/* The attraction of each grade by --grades and --largest-grade; the scale ends at the largest grade
 * of the data when the option is not given (of the tables for grades 0..4, at 4).  Unused grades
 * are 0. */
int prior_grades(const struct arguments *arguments, const oltr_dataset *const *data,
                 uint32_t n_data, double attraction[GRADES], const char **mapping,
                 uint32_t *largest);

#endif
