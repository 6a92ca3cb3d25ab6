/* log_join.h - rows of a log in, one lesson for each list out.
 *
 * A list is learned when it is closed: when more than `capacity` lists are open (the oldest is
 * closed), when a row comes that is more than `wait` seconds later than its first one, or at the
 * end of the log. */
#ifndef OLTR_APP_LOGS_LOG_JOIN_H
#define OLTR_APP_LOGS_LOG_JOIN_H

#include "app/logs/log_report.h"
#include "app/logs/open_lists.h"

/* A list with what a model does not learn from it. */
struct log_list {
    const oltr_lesson *lesson;
    const double *extra;        /* (n, n_extra) of the shown rows; NAN: not there */
    uint32_t n_candidates;      /* 0: not known */
    const oltr_name *candidate; /* (n_candidates) */
    uint32_t all_items; /* the candidates were all items of the model, which had so many; or 0 */
    uint32_t position;  /* of a row that is a list of its own; 0: not known */
    const char *file;
    uint64_t line;
};
/* Takes a list instead of learning it.  As of log_learn, a status about the list makes it a bad
 * list. */
typedef oltr_status log_take(void *with, const struct log_list *list, oltr_error *error);

/* As oltr_model_learn(). */
typedef oltr_status log_learn(void *with, const oltr_lesson *lesson, int *applied,
                              oltr_error *error);

struct log_row {
    const void *list, *name;       /* list NULL: the row is a list of its own, without an id */
    uint32_t list_size, name_size; /* name_size 0: a contextual model */
    uint32_t position;             /* 1 to OLTR_MOST_SHOWN; 0: behind the last row of its list */
    uint8_t examined;              /* 1, 0 or EXAMINED_UNKNOWN */
    double reward, weight;
    double time;         /* seconds; NAN: not known */
    const float *x;      /* (dim) or NULL */
    const double *extra; /* (n_extra) or NULL */
};

struct log_join_options {
    log_learn *learn;
    log_take *take; /* or NULL; in place of `learn`, and with the candidates of lists */
    void *with;
    struct log_report *report;
    uint32_t capacity, remember; /* open lists, and ids of closed ones that are recognised */
    uint32_t dim, n_extra;
    bool weights;     /* rows may have other weights than 1 */
    bool unseen_seen; /* UBI: a list without an event was seen, without a click; else skipped */
    double wait;      /* seconds; INFINITY: no limit */
    bool rows_wait;   /* it holds for rows too, not only for queries of UBI */
};

struct log_join {
    struct log_join_options options;
    struct open_lists lists;
    double now; /* the latest time of a row */
    /* The arrays of one lesson, (OLTR_MOST_SHOWN) each. */
    oltr_name *name;
    double *reward, *weight;
    uint8_t *examined;
    float *x;             /* (OLTR_MOST_SHOWN, dim) */
    double *extra;        /* (OLTR_MOST_SHOWN, n_extra) */
    oltr_name *candidate; /* (candidate_room) */
    uint32_t candidate_room;
};

oltr_status log_join_begin(struct log_join *join, const struct log_join_options *options,
                           oltr_error *error);
/* A row; on OLTR_OK it was taken, or counted as bad. */
oltr_status log_join_row(struct log_join *join, const struct log_row *row, const char *file,
                         uint64_t line, oltr_error *error);
/* A row of an open list that has fewer than OLTR_MOST_SHOWN; false when memory ran out. */
static inline bool log_join_add(struct log_join *join, struct open_list *list,
                                const struct log_row *row, uint64_t line)
{
    uint64_t behind = line - list->first_line;
    struct list_row *new = list_add_row(&join->lists, list);
    if (!new || !list_name_row(list, new, row->name, row->name_size))
        return false;
    uint32_t number = list->n_rows;
    new->position = (uint16_t)(row->position > 0 ? row->position : number);
    new->reward = row->reward;
    new->examined = row->examined;
    new->line = behind < UINT32_MAX ? (uint32_t)behind : UINT32_MAX;
    list->in_order = list->in_order && new->position == number;
    if (join->lists.weights)
        list->weight[number - 1] = row->weight;
    if (join->lists.dim > 0)
        memcpy(list->x + (size_t)(number - 1) * join->lists.dim, row->x,
               join->lists.dim * sizeof *list->x);
    if (join->lists.n_extra > 0)
        memcpy(list->extra + (size_t)(number - 1) * join->lists.n_extra, row->extra,
               join->lists.n_extra * sizeof *list->extra);
    return true;
}
/* A whole list; file and line are those of the list. */
oltr_status log_join_list(struct log_join *join, const struct log_list *list, oltr_error *error);
/* The open list of an id, opened if it is not; *list is NULL unless OLTR_OK. */
oltr_status log_join_open(struct log_join *join, const void *id, uint32_t size, const char *file,
                          uint64_t line, struct open_list **list, oltr_error *error);
/* The latest time so far is at least this one; NAN does nothing.  Closes the lists that were opened
 * when it was more than `wait` seconds less.  So in a log that is not sorted by time lists are open
 * longer, not shorter. */
oltr_status log_join_advance(struct log_join *join, double time, oltr_error *error);
/* Closes all lists. */
oltr_status log_join_end(struct log_join *join, oltr_error *error);
void log_join_free(struct log_join *join);

#endif
