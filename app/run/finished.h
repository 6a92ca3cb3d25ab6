/* finished.h - what an earlier run left in a folder.  The manifest is written after the tables, so
 * where it exists the run is finished. */
#ifndef OLTR_APP_RUN_FINISHED_H
#define OLTR_APP_RUN_FINISHED_H

#include "app/config/config.h"

bool finished_there(const char *folder);

/* Are these the results of the same configuration and data, by the same version of the program?
 * *drawn: with all figures.  `threads` read the data. */
bool finished_same(const char *folder, const struct config *config, uint32_t threads, bool *drawn);

/* Removes what a finished run has written: its figures, its tables, and the manifest.  Other files
 * and experiment.yaml stay; nothing is removed where manifest.json was not written by oltr. */
oltr_status finished_remove(const char *folder, oltr_error *error);

#endif
