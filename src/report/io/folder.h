/* folder.h - the files of a folder of results that a report needs, read once and checked. */
#ifndef OLTR_REPORT_IO_FOLDER_H
#define OLTR_REPORT_IO_FOLDER_H

#include "report/io/manifest.h"
#include "report/io/result_table.h"

/* One posterior of an experiment without simulation: a row of its summary.csv. */
enum { N_MEASURES = 5 };
extern const char *const measure_names[N_MEASURES]; /* mean, sd, entropy, width95, coverage95 */

struct posterior_row {
    const char *attraction, *posterior;
    double value[N_MEASURES];
};

struct folder {
    const char *path; /* borrowed */
    struct manifest manifest;
    struct result_table results; /* empty without a simulation */
    struct result_table metric[N_METRICS];
    struct pair_table pairs; /* empty without pairs.csv (one policy, or an older oltr) */
    size_t n_posteriors;
    const struct posterior_row *posterior; /* (n_posteriors) */
    struct csv_rows posteriors;
};

oltr_status folder_read(const char *path, struct folder *folder, oltr_error *error);
void folder_free(struct folder *folder);

#endif
