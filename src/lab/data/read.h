/* read.h - reading a text; open.c decides between it and the cache. */
#ifndef OLTR_LAB_DATA_READ_H
#define OLTR_LAB_DATA_READ_H

#include <stdbool.h>

#include <oltr/sim.h>

#include "lab/data/source.h"

/* The options with their defaults filled in. */
oltr_status check_read_options(const oltr_read_options *options, oltr_read_options *out,
                               oltr_error *error);

/* 0: as many as there are cores; at most 256. */
uint32_t thread_count(uint32_t asked);

/* Reads an open text and closes it.  `plain`: without vector kernels. */
oltr_dataset *read_text(const char *path, int fd, const struct stat *stat, file_kind kind,
                        const oltr_read_options *options, bool plain, oltr_read_report *report,
                        oltr_error *error);

#endif
