/* finished.h - what an earlier run has left in a folder.  The manifest is written last, so where it
 * exists the run is finished. */
#ifndef OLTR_APP_RUN_FINISHED_H
#define OLTR_APP_RUN_FINISHED_H

#include "app/config/config.h"

bool finished_there(const char *folder);

/* Are these the results of this very configuration and data, by this version of the program?
 * *drawn: with all figures. `threads` read the data. */
bool finished_same(const char *folder, const struct config *config, uint32_t threads, bool *drawn);

/* Removes what a finished run has written: its figures, its tables, and the manifest.  Nothing
 * else, and nothing where the manifest is not ours.  experiment.yaml stays. */
oltr_status finished_remove(const char *folder, oltr_error *error);

#endif
