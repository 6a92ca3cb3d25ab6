/* stop.h - Ctrl-C and SIGTERM ask a run to stop; a second one ends the program. */
#ifndef OLTR_APP_RUN_STOP_H
#define OLTR_APP_RUN_STOP_H

#include <stdbool.h>

/* From here on signals ask instead of end. */
void stop_catch_signals(void);
bool stop_asked(void);

#endif
