/* name_json.h - names of items, ids and lists of shown items as JSON.
 *
 * A name is a string, or a whole number, which counts as its digits; bytes that are not UTF-8 are
 * {"hex": "00ff"}. */
#ifndef OLTR_APP_LOGS_NAME_JSON_H
#define OLTR_APP_LOGS_NAME_JSON_H

#include <jansson.h>
#include <oltr/model.h>
#include <stdbool.h>

/* Room for names that are not strings of the JSON itself. */
struct name_room {
    char *bytes[16]; /* blocks, each larger than the one before */
    size_t used, size;
    uint32_t n_blocks;
};
void name_room_clear(struct name_room *room); /* keeps the largest block */
void name_room_free(struct name_room *room);

enum name_result { NAME_TAKEN, NAME_WRONG, NAME_NO_MEMORY };
/* Points into the JSON or the room.  NAME_WRONG: no name of 1 to OLTR_LONGEST_NAME bytes. */
enum name_result name_of_json(const json_t *json, struct name_room *room, oltr_name *out);
/* NULL when memory ran out. */
json_t *json_of_name(oltr_name name);

/* A JSON text of one line; NULL with the error set, which says where it is wrong. */
json_t *json_of_line(const char *text, size_t size, oltr_error *error);

/* Arrays for the lists that JSON describes; they grow to the longest. */
struct list_json {
    struct name_room room;
    uint32_t capacity; /* of slots */
    oltr_name *name;   /* (capacity) */
    double *reward;    /* (capacity) */
    double *weight;    /* (capacity) */
    uint8_t *examined; /* (capacity) */
    float *x;          /* (x_capacity) */
    size_t x_capacity;
};
void list_json_free(struct list_json *arrays);

/* Candidates: "items" and, of a contextual model, "features": [[...], ...] of dim numbers each;
 * `names` then is whether there are items too.  Without either, all items: out->n is 0.
 * most: the longest list that is taken. */
oltr_status list_of_json(const json_t *json, uint32_t dim, uint32_t most, struct list_json *arrays,
                         oltr_list *out, bool *names, oltr_error *error);

/* The names of an array; `key` is what it is called in messages.  They are kept behind those that
 * the room of the arrays has already. */
oltr_status names_of_json(const json_t *array, const char *key, uint32_t most,
                          struct list_json *arrays, uint32_t *n, oltr_error *error);
/* "id", "list_id", "list", "query_id" or "request_id"; size 0: there is none. */
oltr_status id_of_json(const json_t *json, struct name_room *room, oltr_name *id,
                       oltr_error *error);

/* A lesson: {"id": ..., "items": [...], "clicks": [positions from 1]} or "rewards": [...], and
 * optionally "seen": how many slots from the first, or "examined": [positions], and "weights". */
oltr_status lesson_of_json(const json_t *json, uint32_t dim, struct list_json *arrays,
                           oltr_lesson *out, oltr_error *error);

#endif
