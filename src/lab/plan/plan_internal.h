/* plan_internal.h - an experiment as text and as what oltr_run() takes; the internals of
 * <oltr/plan.h>.
 *
 * The program reads figures and claims from the same document, and `oltr reproduce` chooses its
 * overrides by the keys that the document has.  So it is opened, changed and read in three steps.
 */
#ifndef OLTR_LAB_PLAN_PLAN_INTERNAL_H
#define OLTR_LAB_PLAN_PLAN_INTERNAL_H

#include <oltr/plan.h>

#include "lab/lab_limits.h"
#include "lab/plan/tree.h"

/* What changes the document; later ones override earlier ones. */
struct overrides {
    uint32_t count;
    const struct override *item; /* (count) */
};

/* One of the things that a sweep varies: a key, or named cases that set several keys each. */
struct sweep_axis {
    const char *name; /* of the key, "world.items", or what the file calls it */
    const char *key;  /* NULL: cases */
    uint32_t count;
    const char **value;        /* (count) as tables and figures have them */
    const struct node **given; /* (count) the scalar, or the map of a case */
};

struct oltr_plan {
    const char *title;
    const char *kind;  /* "regret" or "concentration" */
    struct node *root; /* the effective document: the file with its overrides */
    uint32_t n_points;
    oltr_experiment *points; /* (n_points) */
    uint32_t *replications;  /* (n_points) as the text has them; of a dataset, of each query */
    oltr_data_plan *data;    /* (n_points) of worlds of kind dataset; of others all zero */
    uint32_t n_axes;         /* 0 without a sweep */
    struct sweep_axis axis[MOST_SWEEP_KEYS];
    const char *sweep_key;      /* the names of all axes in one text; NULL without a sweep */
    const char *const *sweep;   /* (n_points) the values of all axes in one text, or NULL */
    const char *const *note;    /* (policies of a point) what is special about each, or NULL */
    struct overrides overrides; /* of the caller, gone after plan_read() */
    struct pool pool;           /* owns everything above */
    /* What oltr_plan_load_data() has loaded, and what frees it; NULL: nothing.  lab/prepare, which
     * uses this folder, knows what is in it. */
    struct data_sets *loaded;
    void (*free_loaded)(struct data_sets *loaded);
};

/* The document alone.  NULL with the error set when it cannot be read. */
oltr_plan *plan_open(const char *name, const char *text, size_t length, oltr_error *error);
/* Changes an opened document by the overrides (NULL: none), and reads its kind and title. */
bool plan_override(oltr_plan *plan, const struct overrides *overrides, oltr_error *error);
/* The points of an opened plan of kind regret; the overrides must still be there. */
bool plan_read(oltr_plan *plan, oltr_error *error);

/* Which of the values of an axis a point has.  The last axis varies fastest. */
uint32_t plan_sweep_place(const oltr_plan *plan, uint32_t point, uint32_t axis);

/* Does this point's world still have to be made? */
bool plan_needs_data(const oltr_plan *plan, uint32_t point);
/* The same of a world of kind fitted. */
bool plan_needs_users(const oltr_plan *plan, uint32_t point);
/* Completes such a point; all of it must outlive the plan. */
oltr_status plan_give_users(oltr_plan *plan, uint32_t point, const oltr_dataset *queries,
                            const double *attraction, const oltr_users *users, oltr_error *error);

/* What a round of a policy takes, in nanoseconds, roughly: only ratios matter. */
double plan_guess_round(const oltr_experiment *point, uint32_t policy);

#endif
