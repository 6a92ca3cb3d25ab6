/* draw.h - draws all figures of a folder of results from the files in it, and from nothing else. */
#ifndef OLTR_REPORT_FIGURES_DRAW_H
#define OLTR_REPORT_FIGURES_DRAW_H

#include <oltr/oltr.h>

/* *drawn: how many figures are there now.  `go_on` may be NULL; figures stop when it returns 0. */
oltr_status draw_folder(const char *folder, int (*go_on)(void), uint32_t *drawn, oltr_error *error);

#endif
