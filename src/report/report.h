/* report.h - all experiments that `oltr reproduce` has run, as one page and as tables for a paper.
 *
 * A report is a folder of folders of results.  It is written from their files, and from
 * report.json, the list of what was to be run; so it can be written again at any time, and for any
 * folders that `oltr run` has made. */
#ifndef OLTR_REPORT_REPORT_H
#define OLTR_REPORT_REPORT_H

#include "report/claims/claims.h"
#include "report/io/folder.h"

struct report_experiment {
    char *name, *path;   /* of its folder, in the report and from here */
    const char *trouble; /* what went wrong with it, in words; NULL: nothing */
    bool there;          /* the folder has a manifest that can be read */
    struct folder folder;
    struct claim_findings findings;
};

struct report {
    const char *path;
    json_t *about; /* report.json, or NULL */
    size_t count;
    struct report_experiment *experiment; /* (count) in the order of report.json, then by name */
};

/* Reads the folders and judges their claims; free the report either way. */
oltr_status report_read(const char *path, struct report *report, oltr_error *error);
void report_free(struct report *report);

/* Writes index.html, page.json, results.csv, summary.csv, claims.csv and summary.tex into the
 * folder. *missing: the number of figures that were not drawn. */
oltr_status report_write(const struct report *report, uint32_t *missing, oltr_error *error);

/* The tables for LaTeX. */
void latex_write(const struct report *report, struct text *out);

#endif
