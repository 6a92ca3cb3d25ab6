/* series.h - the experiments of `oltr reproduce`: a list of jobs, run one after the other, and one
 * report of all.
 *
 * Each experiment file is parsed and checked once, before the first job runs.  A folder with
 * finished results of the same settings and data stays as it is, so the command can be stopped and
 * repeated at any time. */
#ifndef OLTR_APP_RUN_SERIES_H
#define OLTR_APP_RUN_SERIES_H

#include "app/run/job.h"

enum { SERIES_FLAGS = 8, QUICK_SHARE = 20 /* --quick runs one replication of so many */ };

struct series_item {
    const char *name; /* of the experiment file, without folder and ending */
    struct job job;
    struct override override[SERIES_FLAGS];
    const char *flag[SERIES_FLAGS];
    bool on_data;       /* it needs a data set: */
    const char *data;   /* this folder; NULL: a generated one */
    bool data_is_given; /* the folder is one of --data */
    double work;        /* its estimated cost, for the progress */
    bool failed;
};

struct series {
    /* the request */
    const char *output, *data; /* folders; data may be NULL */
    const char *experiments;   /* the folder of experiment files; NULL: that of the program */
    uint32_t n_names;          /* 0: all experiments of the folder */
    const char *const *name;   /* (n_names) */
    bool quick, quiet;
    bool of_paper; /* the experiments are those of the project */
    uint32_t threads;

    uint32_t count, current;
    struct series_item *item; /* (count) */
    double done, total;       /* work */
    double found_done;        /* the part of `done` that earlier calls had finished */
    double started;           /* progress_now() */
    bool terminal;            /* standard error is one */
    const char *wanted;       /* what --data could have: "DIR/web30k, DIR/istella"; NULL: nothing */
    struct pool pool;         /* owns all texts */
};

/* Find the experiments, in the order of the paper; read them and choose what --quick and --data
 * change in them; run them and write the report.  Exit codes.  series_free() must follow. */
int series_find(struct series *series);
int series_plan(struct series *series);
int series_run(struct series *series);
void series_free(struct series *series);

#endif
