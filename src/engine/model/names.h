/* names.h - the names of items: numbers 0, 1, ... for byte strings, and back.
 *
 * A hash table with linear probing, at most half full.  A slot has 32 bits: the number, and in the
 * bits that it leaves a part of the hash, so that most probes end without a look at the name.  The
 * bytes of the names follow each other in one array.  A removed name gives its number to the last
 * one.  The hash is keyed, so that names that collide cannot be chosen without the key.
 *
 * Adding has two steps: names_reserve() allocates and may fail, names_add() does neither.
 */
#ifndef OLTR_ENGINE_MODEL_NAMES_H
#define OLTR_ENGINE_MODEL_NAMES_H

#include <stdbool.h>
#include <oltr/model.h>

#include "engine/base/error.h"

typedef struct name_entry {
    uint32_t at; /* in the text */
    uint32_t size;
} name_entry;

typedef struct names {
    uint64_t key[2];
    uint32_t n, room;    /* names, and room for them */
    uint32_t mask;       /* slots - 1 */
    uint32_t shift;      /* bits of a number + 1 */
    name_entry *entry;   /* (room) */
    uint32_t *slot;      /* (mask + 1) part of the hash, then number + 1; 0: free */
    unsigned char *text; /* (text_room) */
    size_t text_used, text_room, text_dead;
} names;

#define NO_NAME UINT32_MAX

bool name_is_valid(oltr_name name);

oltr_status names_init(names *t, const uint64_t key[2], uint32_t room, const oltr_memory *memory);
void names_end(names *t, const oltr_memory *memory);
oltr_status names_copy(names *t, const names *from, const oltr_memory *memory);
size_t names_bytes(const names *t);

/* Room for `more` names of `bytes` bytes in all.  OLTR_ENOMEM leaves the table as it was. */
oltr_status names_reserve(names *t, uint32_t more, size_t bytes, const oltr_memory *memory);

uint32_t names_find(const names *t, oltr_name name); /* NO_NAME: unknown */
oltr_name names_at(const names *t, uint32_t number);
/* The number of the name, which is added unless it is known. */
uint32_t names_add(names *t, oltr_name name);
/* The last one gets the number; returns the number that it had. */
uint32_t names_remove(names *t, uint32_t number);
/* Undoes the last additions, until n are left. */
void names_undo(names *t, uint32_t n);
/* Gives back the bytes of removed names when they are most of the text; without memory it does
 * nothing. */
void names_compact(names *t, const oltr_memory *memory);

#endif
