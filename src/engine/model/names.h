/* names.h - the names of items: numbers 0, 1, ... for byte strings, and back.
 *
 * A hash table with linear probing, at most half full.  A slot has 32 bits: the number, and in the
 * bits that it leaves a part of the hash, so that most probes end without a look at the name; up
 * to FEW_NAMES it has 16 bits.  The names follow each other in one array, each behind its size.  A
 * removed name gives its number to the last one.  The hash is keyed, so that names that collide
 * cannot be chosen without the key.
 *
 * Adding has two steps: names_reserve() allocates and may fail, names_add() does neither.
 */
#ifndef OLTR_ENGINE_MODEL_NAMES_H
#define OLTR_ENGINE_MODEL_NAMES_H

#include <stdbool.h>
#include <oltr/model.h>

#include "engine/base/error.h"

enum { FEW_NAMES = 512 };

typedef struct names {
    uint64_t key[2];
    uint32_t n, room;    /* names, and room for them */
    uint32_t mask;       /* slots - 1 */
    uint32_t shift;      /* bits of a number + 1 */
    uint64_t *last;      /* (room) of the model: the last lesson that showed the item */
    uint32_t *at;        /* (room) where the name is in the text */
    void *slot;          /* (mask + 1) of 16 or 32 bits: part of the hash, then number + 1; 0: free;
                            the three arrays are one block */
    unsigned char *text; /* (text_room) of each name its size, in two bytes, and its bytes */
    uint32_t text_used, text_room, text_dead;
} names;

#define NO_NAME UINT32_MAX

static inline bool name_is_valid(oltr_name name)
{
    return name.bytes && name.size - 1 < OLTR_LONGEST_NAME;
}

oltr_status names_init(names *t, const uint64_t key[2], uint32_t room, const oltr_memory *memory);
void names_end(names *t, const oltr_memory *memory);
oltr_status names_copy(names *t, const names *from, const oltr_memory *memory);
size_t names_bytes(const names *t);

/* Room for `more` names of `bytes` bytes in all.  OLTR_ENOMEM leaves the table as it was. */
oltr_status names_reserve(names *t, uint32_t more, size_t bytes, const oltr_memory *memory);

uint32_t names_find(const names *t, oltr_name name); /* NO_NAME: unknown */
/* The same for n names. */
void names_find_all(const names *t, const oltr_name *name, uint32_t n, uint32_t *number);
oltr_name names_at(const names *t, uint32_t number);
/* The number of the name, which is added unless it is known. */
uint32_t names_add(names *t, oltr_name name);
/* The last one gets the number; returns the number that it had. */
uint32_t names_remove(names *t, uint32_t number);
/* Undoes the last additions, until n are left. */
void names_undo(names *t, uint32_t n);
/* Takes out all names of a table from which none was removed; the room stays. */
void names_clear(names *t);
/* Gives back the bytes of removed names when they are most of the text; without memory it does
 * nothing. */
void names_compact(names *t, const oltr_memory *memory);

#endif
