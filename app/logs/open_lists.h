/* open_lists.h - lists whose rows are still being collected, by their ids.
 *
 * Rows of one list need not be adjacent.  A bounded number of lists is open; the oldest is closed
 * first, so lists are closed in the order of their first rows.  The memory of a closed list is used
 * again, so a log of any length takes the same memory.  A row costs a comparison with the id of the
 * row before it, and only where that differs a hash and a look into a table. */
#ifndef OLTR_APP_LOGS_OPEN_LISTS_H
#define OLTR_APP_LOGS_OPEN_LISTS_H

#include "engine/base/short_bytes.h"

#include <oltr/model.h>

enum { EXAMINED_UNKNOWN = 2, CLOSED_BUCKET = 8 };

/* Something shown in a slot, or an event that came before its list. */
struct list_row {
    double reward;
    uint32_t name;      /* its offset in `bytes` */
    uint16_t name_size; /* at most OLTR_LONGEST_NAME */
    uint16_t position;  /* from 1; of an event 0: not known */
    uint32_t line;      /* behind the first line of the list */
    uint8_t examined;   /* 1, 0 or EXAMINED_UNKNOWN */
    uint8_t reserved[3];
};

struct open_list {
    uint64_t hash;
    char *bytes; /* its id, and then the names of its rows */
    uint32_t id_size, bytes_used, bytes_room;
    uint32_t n_rows, row_room;
    struct list_row *row;
    double *weight; /* (row_room) where rows have weights */
    float *x;       /* (row_room, dim) where they have features */
    double *extra;  /* (row_room, n_extra) where they have extra columns */
    uint32_t n_events, event_room;
    struct list_row *event; /* they came before the list itself */
    uint32_t n_candidates, candidate_room;
    struct list_row *candidate; /* by name only, where candidates are kept */
    const char *file;
    uint64_t first_line;
    double time;     /* the latest of the log when it was opened */
    bool in_order;   /* row i is in position i + 1 */
    bool is_shown;   /* UBI: the query was read */
    bool has_events; /* UBI: at least one */
    bool has_impressions;
    uint32_t all_items; /* the candidates were all items of the model, which had so many; or 0 */
};

struct list_slot {
    uint32_t hash; /* the bits of it that choose the slot */
    uint32_t list; /* 1 + its number; 0: empty */
};

struct open_lists {
    uint32_t capacity, head, count; /* a ring: the oldest is list[head] */
    uint32_t used;                  /* lists that were ever open: those behind have no memory */
    uint32_t dim, n_extra;
    bool weights;
    struct open_list *list; /* (capacity) */
    struct list_slot *slot; /* (mask + 1) */
    uint32_t mask;
    struct open_list *last; /* the one that was found last */
    /* Hashes of ids that were closed, in buckets of one cache line with the newest first. */
    uint64_t *closed; /* (closed_mask + 1, CLOSED_BUCKET) */
    uint32_t closed_mask;
};

/* capacity: at least 1.  remember: of about so many closed lists the ids are recognised.  All or
 * nothing. */
oltr_status open_lists_init(struct open_lists *lists, uint32_t capacity, uint32_t remember,
                            uint32_t dim, uint32_t n_extra, bool weights, oltr_error *error);
void open_lists_free(struct open_lists *lists);

/* The open list of an id, or NULL. */
struct open_list *open_lists_find(struct open_lists *lists, const void *id, uint32_t size);
/* Opens a list that is not open; the table must not be full.  NULL when memory ran out. */
struct open_list *open_lists_add(struct open_lists *lists, const void *id, uint32_t size);
bool open_lists_full(const struct open_lists *lists);
/* Fetches into the cache what closing the oldest list will read, and the rows of the one behind it:
 * a thousand lists have 600 KB, more than most second-level caches. */
void open_lists_fetch(const struct open_lists *lists);
struct open_list *open_lists_oldest(struct open_lists *lists); /* NULL: none is open */
void open_lists_close_oldest(struct open_lists *lists);        /* and remembers its id */
/* Was the id closed, as far back as is remembered?  By a hash of 64 bits. */
bool open_lists_was_closed(const struct open_lists *lists, const void *id, uint32_t size);

/* An event that waits for its list, without a name yet; NULL when memory ran out. */
struct list_row *list_add_event(struct open_list *list);
/* A candidate, without a name yet; the same. */
struct list_row *list_add_candidate(struct open_list *list);

bool list_grow_rows(const struct open_lists *lists, struct open_list *list);
bool list_grow_bytes(struct open_list *list, uint32_t more);

/* A row at the end of a list, not filled in; NULL when memory ran out. */
static inline struct list_row *list_add_row(const struct open_lists *lists, struct open_list *list)
{
    if (list->n_rows == list->row_room && !list_grow_rows(lists, list))
        return NULL;
    return &list->row[list->n_rows++];
}

/* Whether the list takes one more row with a name of so many bytes without more memory. */
static inline bool list_has_room(const struct open_list *list, uint32_t size)
{
    return list->n_rows < list->row_room && list->n_rows < OLTR_MOST_SHOWN &&
           list->bytes_room - list->bytes_used >= size;
}

/* false when memory ran out. */
static inline bool list_name_row(struct open_list *list, struct list_row *row, const void *name,
                                 uint32_t size)
{
    if (list->bytes_room - list->bytes_used < size && !list_grow_bytes(list, size))
        return false;
    copy_bytes(list->bytes + list->bytes_used, name, size);
    row->name = list->bytes_used;
    row->name_size = (uint16_t)size;
    list->bytes_used += size;
    return true;
}

static inline const char *list_name(const struct open_list *list, const struct list_row *row)
{
    return list->bytes + row->name;
}

static inline bool list_has_id(const struct open_list *list, const void *id, uint32_t size)
{
    return list->id_size == size && same_bytes(list->bytes, id, size);
}

#endif
