/* ope_data.h - the lists of a log in memory, as off-policy evaluation needs them.
 *
 * Names are numbered, and lists with the same candidates share one set of them.  A shown item takes
 * 13 bytes, 8 for each propensity that the log has, and 16 to 32 for each policy while it is
 * evaluated; a list takes 68 bytes and its id, and a set of candidates 4 for each of them. */
#ifndef OLTR_APP_OPE_OPE_DATA_H
#define OLTR_APP_OPE_OPE_DATA_H

#include "app/logs/log_files.h"
#include "app/ope/name_table.h"

#include <oltr/ope.h>

enum { OPE_PREFIX, OPE_SLOT, OPE_LOGGED, OPE_MOST_COLUMNS = LOG_MOST_EXTRA };
#define ALL_ITEMS UINT32_MAX /* as a set: all items of the log */

/* One part of the log: the lists to evaluate on, or those to train on.  Arrays are (n, k) after
 * ope_data_end(); before it the lists follow each other. */
struct ope_lists {
    uint64_t n, list_room;
    uint64_t rows, row_room;
    uint32_t k;                        /* slots of the longest */
    uint32_t *length, *set, *position; /* (n) position: of a row without a list; 0: unknown */
    const char **file;                 /* (n) the path as it was given, and */
    uint64_t *line;                    /* (n) where the list begins in it */
    uint32_t *choice;                  /* (n) a number of 32 bits by the id: folds, shares */
    uint32_t *item;
    double *reward;
    uint8_t *examined;                /* 1, 0, or 2: not known */
    double *column[OPE_MOST_COLUMNS]; /* propensities; NULL: the log does not have them */
    oltr_name *id;                    /* (n) into `ids` */
    struct text ids;
};

struct candidate_set {
    uint64_t from; /* in `member` */
    uint32_t n;
};

/* A list whose candidates were all items of a model, which had n. */
struct all_items {
    uint32_t n; /* 0: there is no such list */
    const char *file;
    uint64_t line;
};

struct ope_data {
    struct log_extra extra[OPE_MOST_COLUMNS];
    uint32_t n_columns; /* OPE_LOGGED, and two for each policy by columns */
    double train_share; /* of the lists, by their ids, go to `train` */
    uint32_t open;      /* lists that may be open, for a message */
    struct ope_lists eval, train;
    struct name_table items;
    struct id_set ids;
    uint32_t n_sets, set_room, set_mask;
    struct candidate_set *set; /* (set_room) */
    uint32_t *set_slot;        /* (set_mask + 1) 1 + number */
    uint32_t *member;          /* items of sets */
    uint64_t n_members, member_room;
    uint32_t *seen_in; /* (seen_room) by item: the last list that had it */
    uint32_t seen_room, stamp;
    bool begun, by_row;            /* by_row: there are no list ids */
    bool no_candidates;            /* of some lists they are not known */
    struct all_items fewest, most; /* of the lists to evaluate on: least and largest n */
    uint32_t most_position;
    char file[160]; /* the first */
};

/* Sets up the extra columns: those of the log, and NAME_prefix and NAME_slot for each name. */
oltr_status ope_data_columns(struct ope_data *data, const char *const *policy, uint32_t n,
                             oltr_error *error);
/* log_take: checks a list and keeps it.  `with` is the data. */
oltr_status ope_data_take(void *with, const struct log_list *list, oltr_error *error);
/* After the last list. */
oltr_status ope_data_end(struct ope_data *data, oltr_error *error);
void ope_data_free(struct ope_data *data);

/* A list to evaluate on for which all items of a model were ranked, and not so many as are known;
 * NULL: there is none. */
const struct all_items *ope_data_other_items(const struct ope_data *data);

/* The members of a set, and their number. */
static inline const uint32_t *ope_members(const struct ope_data *data, uint32_t set, uint32_t *n)
{
    *n = data->set[set].n;
    return data->member + data->set[set].from;
}

/* A list of the evaluated part goes to one of so many folds. */
static inline uint32_t ope_fold(uint32_t choice, uint32_t folds)
{
    return (uint32_t)((uint64_t)choice * folds >> 32);
}

#endif
