/* stop.h - Ctrl-C and SIGTERM ask the program to stop; a second one ends it at once. */
#ifndef OLTR_APP_RUN_STOP_H
#define OLTR_APP_RUN_STOP_H

#include <stdbool.h>

/* From this call on, the first signal sets a flag and does not end the program. */
void stop_catch_signals(void);
bool stop_asked(void);

/* Says that the program was stopped while it prepared; returns the exit code. */
int stopped_early(void);

/* stop_asked() in the form of the callbacks of the libraries. */
int should_stop(void *unused);

#endif
