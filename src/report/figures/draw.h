/* draw.h - draws all figures of a folder of results, from the files in it alone. */
#ifndef OLTR_REPORT_FIGURES_DRAW_H
#define OLTR_REPORT_FIGURES_DRAW_H

#include <oltr/oltr.h>
#include <stdbool.h>

/* *drawn: the number of figures drawn.  Stops when stop() returns true; it may be NULL. */
oltr_status draw_folder(const char *folder, bool (*stop)(void), uint32_t *drawn, oltr_error *error);

#endif
