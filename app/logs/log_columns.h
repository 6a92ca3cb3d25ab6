/* log_columns.h - which column of a log has what.
 *
 * The names in the first line are compared without regard to case with the usual ones; --columns
 * names others.  The same names are the keys of a row in JSON. */
#ifndef OLTR_APP_LOGS_LOG_COLUMNS_H
#define OLTR_APP_LOGS_LOG_COLUMNS_H

#include "app/logs/csv_scan.h"

#include <oltr/model.h>

enum log_role {
    ROLE_LIST,
    ROLE_ITEM,
    ROLE_POSITION,
    ROLE_CLICK,
    ROLE_EXAMINED,
    ROLE_REWARD,
    ROLE_WEIGHT, /* only when it is named: a column `weight` is often the weight of a thing */
    ROLE_TIME,
    N_ROLES
};
extern const char *const role_names[N_ROLES]; /* of --columns */

/* A column of numbers beside the roles, for a reader that needs more than a model learns: it may be
 * missing.  In JSON it is a key of a row, or an array of a list. */
enum { LOG_MOST_EXTRA = 32, LOG_EXTRA_NAMES = 5 };
struct log_extra {
    const char *role;                   /* of --columns */
    const char *usual[LOG_EXTRA_NAMES]; /* names; ends with NULL */
    const char *array;                  /* the key of a list in JSON */
    const char *given;                  /* (length) by --columns, or NULL */
    size_t length;
    bool may_be_zero; /* it is a chance in [0,1]; else one in (0,1] */
};
bool log_extra_is_good(const struct log_extra *extra, double value);
const char *log_extra_fault(const struct log_extra *extra); /* "the propensity must be ..., not" */

/* What --columns and --features say. */
struct log_names {
    const char *given[N_ROLES]; /* (length[]) or NULL: the usual names */
    size_t length[N_ROLES];
    const char *features; /* the prefix of feature columns; NULL: "x" */
    struct log_extra *extra;
    uint32_t n_extra; /* at most LOG_MOST_EXTRA */
};

#define NO_COLUMN UINT32_MAX
struct log_columns {
    uint32_t at[N_ROLES]; /* the column, or NO_COLUMN */
    uint32_t n_columns;
    uint32_t dim;
    uint32_t *feature;              /* (dim) columns, of a contextual model */
    uint32_t extra[LOG_MOST_EXTRA]; /* the columns, or NO_COLUMN */
};

/* Adds the entries of "list=a,item=b"; the text must outlive the names. */
oltr_status log_names_add(struct log_names *names, const char *text, oltr_error *error);
/* The usual name number i of a role, or NULL behind the last. */
const char *log_usual_name(enum log_role role, uint32_t i);

/* Finds the columns in a header.  dim: features of a contextual model, or 0.  On OLTR_OK free them
 * by log_columns_free(). */
oltr_status log_columns_find(const struct log_names *names, const struct csv_text *field,
                             uint32_t n_fields, uint32_t dim, struct log_columns *out,
                             oltr_error *error);
void log_columns_free(struct log_columns *columns);

/* Why a click is refused. */
#define LOG_CLICK_FAULT "a click must be 0 or 1; other numbers go into a column `reward`"

/* The same name, without regard to case and blanks around it. */
bool log_same_name(const struct csv_text *field, const char *name, size_t length);

/* ',' or, where the line has none, a tab or a semicolon. */
char log_separator(const char *line, const char *end);

#endif
