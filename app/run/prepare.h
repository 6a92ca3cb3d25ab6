/* prepare.h - from the plan of an experiment to the experiment: data read or generated, scorers
 * trained, worlds filled in.
 *
 * An experiment file is read without looking at any other file (config.h).  Worlds of kind dataset
 * are then made here, once for all points of a sweep that need the same. */
#ifndef OLTR_APP_RUN_PREPARE_H
#define OLTR_APP_RUN_PREPARE_H

#include "app/config/config.h"

struct prepare_options {
    const char *folder; /* where scores are kept: those of trained scorers are there when they are
                           needed again */
    const char *other;  /* another folder that may have them, or NULL */
    uint32_t threads;   /* 0: all cores */
    bool quiet;         /* no progress */
    bool keep;          /* write the scores into the folder; others only look for them */
};

struct prepared; /* the data behind the points of a configuration */

/* Makes the worlds of all points complete; nothing to do where there is no dataset.  Whatever comes
 * back, prepared_free() must follow, and only when the configuration is not needed any more. */
oltr_status prepare_data(struct config *config, const struct prepare_options *options,
                         struct prepared **out, oltr_error *error);
void prepared_free(struct prepared *prepared);

/* One line about the data, for the top of all that is shown; NULL without a dataset. */
const char *prepared_note(const struct prepared *prepared);
/* What the manifest says of them (a new reference), or NULL without a dataset or without memory. */
json_t *prepared_json(const struct prepared *prepared);
/* Would the data of this configuration be those that a manifest lists?  Compares the content of
 * files, not their times; false too where they cannot be read. */
bool prepared_before(const struct config *config, uint32_t threads, const json_t *data);

#endif
