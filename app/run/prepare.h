/* prepare.h - the data of a job: loaded by oltr_plan_load_data(), and described for tables, figures
 * and the manifest. */
#ifndef OLTR_APP_RUN_PREPARE_H
#define OLTR_APP_RUN_PREPARE_H

#include "app/run/job.h"

#include <jansson.h>

struct prepared; /* what is said about the data sets of a job */

/* Loads the data of all points into job->data and completes the points; nothing to do where there
 * is no dataset.  `other`: a second folder, beside that of the job, in which scores of trained
 * scorers may lie; or NULL.  The plan owns the data; free job->data also after an error. */
oltr_status prepare_data(struct job *job, const char *other, oltr_error *error);
void prepared_free(struct prepared *prepared);

/* One line about the data, for the table; NULL without a dataset. */
const char *prepared_note(const struct prepared *prepared);
/* The entry of the manifest (a new reference), or NULL without a dataset or without memory. */
json_t *prepared_json(const struct prepared *prepared);
/* Are the data of this configuration those that a manifest lists?  Compares the content of files,
 * not their times; false too where they cannot be read. */
bool prepared_before(const struct config *config, uint32_t threads, const json_t *data);

#endif
