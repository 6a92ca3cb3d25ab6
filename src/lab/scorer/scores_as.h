/* scores_as.h - how the numbers of an offline model become probabilities of a click.
 *
 * A prior is made of probabilities (scores.h), but most rankers give numbers without a unit.  There
 * are four ways to read them; f is the number of a document, and the other documents are those of
 * its query:
 *
 *   calibrated   f is a probability already: a logistic curve was fitted to judged queries
 *                (calibration.h), or the author of the file has done the like
 *   minmax       (f - least) / (largest - least) over the documents of the query
 *   sigmoid      1 / (1 + exp(-(f - mean) / sd)), mean and standard deviation of the query
 *   raw          f itself, moved to 0 or 1 where it lies outside
 *
 * minmax and sigmoid keep the order within a query and lose the level: the best document of a query
 * without any relevant one gets as much as the best of another.  Where all documents of a query
 * have the same number, it says nothing, and both give 1/2.
 */
#ifndef OLTR_LAB_SCORER_SCORES_AS_H
#define OLTR_LAB_SCORER_SCORES_AS_H

#include "lab/scorer/scores.h"

/* By its name; the message of an error lists all names. */
oltr_status scores_as_by_name(const char *name, scores_as *out, oltr_error *error);

/* Every model's scores in place, to numbers in [0,1]. */
void scores_convert(scores *s, const oltr_dataset *dataset, scores_as as);

#endif
