/* plan.h - experiments described by text: the YAML files of `oltr run`, or JSON, which is YAML.
 *
 * oltr_plan_parse() reads and checks the whole description and touches no file.  It returns an
 * array of oltr_experiment, one for each swept value, for oltr_run():
 *
 *   oltr_plan *plan = oltr_plan_parse("mine", text, length, NULL, 0, &error);
 *   const oltr_experiment *points = oltr_plan_points(plan);
 *   oltr_results *results = oltr_plan_results(plan, &error);
 *   oltr_run(points, oltr_plan_n_points(plan), NULL, results, &error);
 *
 * Part of liboltr-lab.  docs/experiment-file.md explains the keys.  `figures` and `claims` are
 * accepted and not read: they describe what the program draws and judges.  A world of kind dataset
 * names the data it needs: oltr_plan_load_data() loads them before the run, or the caller makes its
 * own and hands them over with oltr_plan_give_data().  examples/plan.c is a whole program.
 *
 * Errors read "name:line:column: world.items: what is wrong; what to do".  The key path is there
 * unless the whole text is at fault.  An override is named by its own text in place of name, line
 * and column.
 */
#ifndef OLTR_PLAN_H
#define OLTR_PLAN_H

#include <oltr/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oltr_plan oltr_plan; /* a description that was read and checked */

/* One change of the description, as by `oltr run --set KEY=VALUE`; later ones override earlier
 * ones. */
typedef struct oltr_override {
    const char
        *key; /* "world.items"; an entry of a list is called by its name: "policies.GTS.sigma" */
    const char *value;  /* text, "100"; where it begins with [ or {, it is YAML */
    const char *origin; /* what messages call it, or NULL: "world.items=100" */
    const void *reserved[3];
} oltr_override;

/* Reads a description.  `name` is for messages, and without folder and ending the title where the
 * text has none.  JSON must have its characters beyond U+FFFF as they are, in UTF-8, not as \u
 * pairs.  NULL with the error set when anything is wrong. */
OLTR_API oltr_plan *oltr_plan_parse(const char *name, const char *text, size_t length,
                                    const oltr_override *overrides, uint32_t n_overrides,
                                    oltr_error *error);
OLTR_API void oltr_plan_free(oltr_plan *plan); /* NULL is fine */

/* All that is returned below belongs to the plan.  A NULL plan or an index out of range gives
 * NULL, or 0. */

OLTR_API const char *oltr_plan_title(const oltr_plan *plan); /* of the experiment */
OLTR_API uint32_t
oltr_plan_n_points(const oltr_plan *plan); /* values of the sweep; 1 without one */
OLTR_API const oltr_experiment *oltr_plan_points(const oltr_plan *plan); /* (n_points) */
OLTR_API const char *
oltr_plan_sweep_key(const oltr_plan *plan); /* "world.items"; NULL without a sweep */
/* "100"; NULL without a sweep */
OLTR_API const char *oltr_plan_sweep_value(const oltr_plan *plan, uint32_t point);
/* A sweep may be over two keys: then the two above have both, "world.items | slots" and "10 | 3",
 * and points are all combinations, the second key varying fastest.  Each alone: */
#define OLTR_SWEEP_BETWEEN " | "
OLTR_API uint32_t oltr_plan_n_sweep_keys(const oltr_plan *plan); /* 0 without a sweep */
OLTR_API const char *oltr_plan_sweep_key_at(const oltr_plan *plan, uint32_t key);
OLTR_API const char *oltr_plan_sweep_value_at(const oltr_plan *plan, uint32_t point, uint32_t key);
OLTR_API const char *oltr_plan_note(const oltr_plan *plan,
                                    uint32_t policy); /* its `note`; NULL without one */

/* Empty results for the points of the plan.  The same as oltr_results_new(), but nothing is checked
 * again.  Points of kind dataset need their data first. */
OLTR_API oltr_results *oltr_plan_results(const oltr_plan *plan, oltr_error *error);

/* ---- data */

/* What a world of kind dataset or fitted is to be made of. */
typedef struct oltr_data_plan {
    const char *folder; /* with train.txt, vali.txt and test.txt; NULL: generated */
    const char *shape;  /* of the generated set (oltr_shape_at()); NULL: none, there is a folder */
    uint32_t generated[3];  /* its queries for training, validation and testing */
    uint32_t queries;       /* at most this many test queries are played; 0: all */
    const char *grades;     /* how they become attractions: oltr_attraction_of_grade() */
    uint32_t largest_grade; /* where their scale ends; 0: at the largest of the data */
    uint32_t rankers;       /* how many are to be trained for the prior; 0: none */
    const char *normalise;  /* "standard", "minmax" or "none": the features that policies get */
    const char *scores;     /* a CSV file of scores for the prior; NULL: none */
    const char *scores_as;  /* "calibrated", "minmax", "sigmoid" or "raw": how they are read */
    const char *file;       /* world fitted: the file of the click models in `folder`, or NULL where
                               `folder` is that file */
    const char *model;      /* world fitted: "CM", "DCM", "DBN" or "PBM" */
    const void *reserved[1];
} oltr_data_plan;

/* How far the training of the scorers behind a prior is. */
typedef struct oltr_training {
    uint32_t scorers, done; /* to be trained, and finished */
    uint64_t epochs;        /* passes over the training queries so far, of all scorers */
    double share;           /* of the work that is done, an estimate; 1 at the end */
    double ndcg;            /* mean over the scorers of their best NDCG@10 on validation queries */
    double seconds;         /* since the training began */
    uint64_t reserved[4];
} oltr_training;

/* How data are loaded.  A zero-filled struct gives the defaults. */
typedef struct oltr_data_options {
    uint32_t threads;           /* 0: all cores; the data are the same for any number */
    uint32_t n_look_in;         /* folders of look_in */
    const char *keep_in;        /* an existing folder: scores of trained scorers are looked for in
                                   it and written to it, scores.csv and scores.key; NULL: none */
    const char *const *look_in; /* (n_look_in) more folders to look for them, which are only read */
    /* NULL, or called every `every` seconds of a training and at its end, by the calling thread */
    void (*training)(void *context, const oltr_training *state);
    double every; /* seconds */
    /* NULL, or called with one sentence about kept scores that are used, or cannot be used */
    void (*say)(void *context, const char *sentence);
    /* NULL, or asked often while texts are read, queries are generated and scorers are trained, by
     * several threads at once: non-zero ends the call with OLTR_EINTERRUPTED */
    int (*stop)(void *context);
    void *context; /* of these calls */
    size_t size;   /* sizeof(oltr_data_options); 0 means that of oltr 0.1 */
    void *reserved[6];
} oltr_data_options;

/* Loads the data of every point that needs them and has none yet, and completes it as
 * oltr_plan_give_data() does: reads or generates the queries for training, validation and testing,
 * normalises the features, and reads or trains the scores behind the prior; the data of `oltr run`
 * to the last bit.  Texts are read through their caches (oltr_dataset_open()).  The data belong to
 * the plan.  A plan without such points is fine: nothing is done.  `options` may be NULL.
 *
 * On error, OLTR_EINTERRUPTED included, the plan is as it was; kept scores stay in their folder, so
 * that another call need not train them again.
 *
 * Training needs OpenBLAS, which is loaded then (libopenblas.so.0; OLTR_EUNSUPPORTED without it).
 * While scorers are trained OpenBLAS has one thread in the whole process; the number that it had
 * before is restored. */
OLTR_API oltr_status oltr_plan_load_data(oltr_plan *plan, const oltr_data_options *options,
                                         oltr_error *error);

/* The data that a point needs; NULL where it needs none. */
OLTR_API const oltr_data_plan *oltr_plan_data(const oltr_plan *plan, uint32_t point);

/* The data of one point.  All of it must outlive the plan. */
typedef struct oltr_plan_data_given {
    const oltr_dataset
        *dataset;             /* the queries that are played, their features as policies get them */
    const double *attraction; /* (n_rows), or NULL: from the grades, as the plan has it */
    const double *prior_a, *prior_b;     /* (n_rows) or NULL: policies get no Beta prior */
    const double *prior_mean, *prior_sd; /* (n_rows) or NULL */
    const void *reserved[4];
} oltr_plan_data_given;

/* Completes the point with data of the caller: items, features, attractions, prior; the
 * replications of the text count for each query.  The points change in place, so give or load all
 * data before oltr_plan_results().  On error the point is as it was. */
OLTR_API oltr_status oltr_plan_give_data(oltr_plan *plan, uint32_t point,
                                         const oltr_plan_data_given *data, oltr_error *error);

#ifdef __cplusplus
}
#endif
#endif
