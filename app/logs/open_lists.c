/* open_lists.c - see open_lists.h.  The table is open addressing with linear probing; a removed
 * entry is filled from behind, so there are no marks of removed ones. */
#include "app/logs/open_lists.h"

#include "engine/base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- hashes */

/* Every bit of the word reaches every bit of the result: of ids that differ in their last digits
 * only the last bytes do, which are the highest of a word. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word ^ word >> 32) * 0x9E3779B97F4A7C15;
    hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9;
    return hash ^ hash >> 32;
}

/* Never 0, which marks an empty place of a bucket. */
static uint64_t hash_of(const void *id, uint32_t size)
{
    const unsigned char *at = id;
    uint64_t hash = size, word;
    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, size);
    hash = mix(hash, word);
    return hash ? hash : 1;
}

/* A power of two of at least twice n, less one. */
static uint32_t mask_for(uint32_t n)
{
    uint32_t places = 4;
    while (places < 2 * n)
        places *= 2;
    return places - 1;
}

/* ---- making */

oltr_status open_lists_init(struct open_lists *lists, uint32_t capacity, uint32_t remember,
                            uint32_t dim, uint32_t n_extra, bool weights, oltr_error *error)
{
    *lists = (struct open_lists){
        .capacity = capacity, .dim = dim, .n_extra = n_extra, .weights = weights};
    lists->mask = mask_for(capacity);
    lists->closed_mask = mask_for(remember / CLOSED_BUCKET / 2);
    lists->list = calloc(capacity, sizeof *lists->list);
    lists->slot = calloc((size_t)lists->mask + 1, sizeof *lists->slot);
    lists->closed = calloc((size_t)lists->closed_mask + 1, CLOSED_BUCKET * sizeof *lists->closed);
    if (lists->list && lists->slot && lists->closed)
        return OLTR_OK;
    open_lists_free(lists);
    return set_error(error, OLTR_ENOMEM, "no memory for %u open lists", capacity);
}

void open_lists_free(struct open_lists *lists)
{
    for (uint32_t i = 0; lists->list && i < lists->used; i++) {
        struct open_list *list = &lists->list[i];
        free(list->bytes);
        free(list->row);
        free(list->weight);
        free(list->x);
        free(list->extra);
        free(list->event);
        free(list->candidate);
    }
    free(lists->list);
    free(lists->slot);
    free(lists->closed);
    *lists = (struct open_lists){0};
}

/* ---- ids that were closed */

static uint64_t *closed_bucket(const struct open_lists *lists, uint64_t hash)
{
    return lists->closed + ((uint32_t)(hash >> 16) & lists->closed_mask) * (size_t)CLOSED_BUCKET;
}

/* The oldest of the bucket makes room. */
static void remember_closed(struct open_lists *lists, uint64_t hash)
{
    uint64_t *bucket = closed_bucket(lists, hash), newer[CLOSED_BUCKET - 1];
    memcpy(newer, bucket, sizeof newer);
    bucket[0] = hash;
    memcpy(bucket + 1, newer, sizeof newer);
}

bool open_lists_was_closed(const struct open_lists *lists, const void *id, uint32_t size)
{
    uint64_t hash = hash_of(id, size);
    const uint64_t *bucket = closed_bucket(lists, hash);
    bool found = false;
    for (int i = 0; i < CLOSED_BUCKET; i++)
        found = found || bucket[i] == hash;
    return found;
}

/* ---- open lists */

/* The bits of a hash that choose the place; a slot keeps them, so that most probes end without a
 * look at a list. */
static uint32_t short_hash(uint64_t hash)
{
    return (uint32_t)(hash >> 16);
}

struct open_list *open_lists_find(struct open_lists *lists, const void *id, uint32_t size)
{
    if (lists->last && list_has_id(lists->last, id, size))
        return lists->last;
    uint32_t hash = short_hash(hash_of(id, size)), at = hash & lists->mask;
    for (; lists->slot[at].list != 0; at = (at + 1) & lists->mask) {
        struct open_list *list = &lists->list[lists->slot[at].list - 1];
        if (lists->slot[at].hash == hash && list_has_id(list, id, size))
            return lists->last = list;
    }
    return NULL;
}

bool open_lists_full(const struct open_lists *lists)
{
    return lists->count == lists->capacity;
}

struct open_list *open_lists_oldest(struct open_lists *lists)
{
    return lists->count > 0 ? &lists->list[lists->head] : NULL;
}

static void fetch(const void *from, size_t size)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < size; at += LINE)
        __builtin_prefetch((const char *)from + at);
}

void open_lists_fetch(const struct open_lists *lists)
{
    const struct open_list *oldest = &lists->list[lists->head],
                           *next = &lists->list[(lists->head + 1) % lists->capacity];
    __builtin_prefetch(closed_bucket(lists, oldest->hash), 1);
    fetch(next->bytes, next->bytes_used);
    fetch(next->row, next->n_rows * sizeof *next->row);
    fetch(&lists->list[(lists->head + 2) % lists->capacity], sizeof *next);
}

/* A list with nothing in it, and the memory of the one that was there before. */
static void clear(struct open_list *list)
{
    list->id_size = list->bytes_used = list->n_rows = list->n_events = list->n_candidates = 0;
    list->file = NULL;
    list->first_line = 0;
    list->time = 0;
    list->in_order = true;
    list->is_shown = list->has_events = list->has_impressions = false;
    list->all_items = 0;
}

bool list_grow_bytes(struct open_list *list, uint32_t more)
{
    uint32_t room = 2 * list->bytes_room + more + 64;
    char *bytes = realloc(list->bytes, room);
    if (!bytes)
        return false;
    list->bytes = bytes;
    list->bytes_room = room;
    return true;
}

struct open_list *open_lists_add(struct open_lists *lists, const void *id, uint32_t size)
{
    uint32_t number = (lists->head + lists->count) % lists->capacity;
    struct open_list *list = &lists->list[number];
    lists->used = number < lists->used ? lists->used : number + 1;
    clear(list);
    if (list->bytes_room < size && !list_grow_bytes(list, size))
        return NULL;
    memcpy(list->bytes, id, size);
    list->id_size = list->bytes_used = size;
    list->hash = hash_of(id, size);
    uint32_t at = short_hash(list->hash) & lists->mask;
    while (lists->slot[at].list != 0)
        at = (at + 1) & lists->mask;
    lists->slot[at] = (struct list_slot){short_hash(list->hash), number + 1};
    lists->count++;
    lists->last = list;
    return list;
}

/* Empties the slot of a list, and fills it from behind. */
static void free_slot(struct open_lists *lists, const struct open_list *list)
{
    struct list_slot *slot = lists->slot;
    uint32_t mask = lists->mask, hole = short_hash(list->hash) & mask;
    while (slot[hole].list != (uint32_t)(list - lists->list) + 1)
        hole = (hole + 1) & mask;
    for (uint32_t at = (hole + 1) & mask; slot[at].list != 0; at = (at + 1) & mask)
        if (((at - slot[at].hash) & mask) >= ((at - hole) & mask)) {
            slot[hole] = slot[at];
            hole = at;
        }
    slot[hole].list = 0;
}

void open_lists_close_oldest(struct open_lists *lists)
{
    struct open_list *list = &lists->list[lists->head];
    free_slot(lists, list);
    remember_closed(lists, list->hash);
    if (lists->last == list)
        lists->last = NULL;
    lists->head = (lists->head + 1) % lists->capacity;
    lists->count--;
}

/* ---- rows */

bool list_grow_rows(const struct open_lists *lists, struct open_list *list)
{
    size_t room = list->row_room > 0 ? 2 * (size_t)list->row_room : 10;
    struct list_row *row = realloc(list->row, room * sizeof *row);
    list->row = row ? row : list->row;
    double *weight = lists->weights ? realloc(list->weight, room * sizeof *weight) : NULL;
    list->weight = weight ? weight : list->weight;
    float *x = lists->dim > 0 ? realloc(list->x, room * lists->dim * sizeof *x) : NULL;
    list->x = x ? x : list->x;
    double *extra =
        lists->n_extra > 0 ? realloc(list->extra, room * lists->n_extra * sizeof *extra) : NULL;
    list->extra = extra ? extra : list->extra;
    if (!row || (lists->weights && !weight) || (lists->dim > 0 && !x) ||
        (lists->n_extra > 0 && !extra))
        return false;
    list->row_room = (uint32_t)room;
    return true;
}

/* One more at the end of an array of n with some room; NULL when memory ran out. */
static struct list_row *add_to(struct list_row **array, uint32_t *n, uint32_t *room)
{
    if (*n == *room) {
        size_t larger = *room > 0 ? 2 * (size_t)*room : 4;
        struct list_row *grown = realloc(*array, larger * sizeof *grown);
        if (!grown)
            return NULL;
        *array = grown;
        *room = (uint32_t)larger;
    }
    (*array)[*n] = (struct list_row){0};
    return &(*array)[(*n)++];
}

struct list_row *list_add_event(struct open_list *list)
{
    return add_to(&list->event, &list->n_events, &list->event_room);
}

struct list_row *list_add_candidate(struct open_list *list)
{
    return add_to(&list->candidate, &list->n_candidates, &list->candidate_room);
}
