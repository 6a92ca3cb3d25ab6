/* name_table.c - see name_table.h.  Both tables are open addressing with linear probing, at most
 * half full. */
#include "app/ope/name_table.h"

#include <stdlib.h>
#include <string.h>

hash128 name_hash(const void *bytes, size_t size)
{
    static const uint64_t key[2] = {0x6f6c7472206f7065, 0x6e616d6573206964};
    return siphash(key, bytes, size);
}

/* ---- names */

oltr_name name_table_at(const struct name_table *table, uint32_t number)
{
    return (oltr_name){table->bytes.bytes + table->from[number], table->size[number]};
}

/* The slot of a name, or the empty one where it belongs. */
static uint32_t slot_of(const struct name_table *table, oltr_name name)
{
    uint32_t at = (uint32_t)name_hash(name.bytes, name.size).word[0] & table->mask;
    for (; table->slot[at] != 0; at = (at + 1) & table->mask) {
        uint32_t number = table->slot[at] - 1;
        if (table->size[number] == name.size &&
            memcmp(table->bytes.bytes + table->from[number], name.bytes, name.size) == 0)
            break;
    }
    return at;
}

uint32_t name_table_find(const struct name_table *table, oltr_name name)
{
    uint32_t number = table->slot ? table->slot[slot_of(table, name)] : 0;
    return number > 0 ? number - 1 : NO_NAME;
}

static bool grow_names(struct name_table *table)
{
    uint32_t room = table->room > 0 ? 2 * table->room : 64;
    size_t *from = realloc(table->from, room * sizeof *from);
    table->from = from ? from : table->from;
    uint32_t *size = realloc(table->size, room * sizeof *size);
    table->size = size ? size : table->size;
    uint32_t *slot = from && size ? calloc((size_t)2 * room, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(table->slot);
    table->slot = slot;
    table->mask = 2 * room - 1;
    table->room = room;
    for (uint32_t i = 0; i < table->n; i++)
        slot[slot_of(table, name_table_at(table, i))] = i + 1;
    return true;
}

uint32_t name_table_add(struct name_table *table, oltr_name name)
{
    if (table->n == table->room && !grow_names(table))
        return NO_NAME;
    uint32_t at = slot_of(table, name);
    if (table->slot[at] != 0)
        return table->slot[at] - 1;
    table->from[table->n] = table->bytes.length;
    table->size[table->n] = name.size;
    text_bytes(&table->bytes, name.bytes, name.size);
    if (table->bytes.failed)
        return NO_NAME;
    table->slot[at] = ++table->n;
    return table->n - 1;
}

/* A name that came last is at the end of its probes, so its slot can be emptied. */
void name_table_cut(struct name_table *table, uint32_t n)
{
    while (table->n > n) {
        uint32_t last = table->n - 1;
        table->slot[slot_of(table, name_table_at(table, last))] = 0;
        table->bytes.length = table->from[last];
        table->n = last;
    }
}

void name_table_free(struct name_table *table)
{
    free(table->from);
    free(table->size);
    free(table->slot);
    text_free(&table->bytes);
    *table = (struct name_table){.n = 0};
}

/* ---- ids */

static bool is_empty(const hash128 *slot)
{
    return slot->word[0] == 0 && slot->word[1] == 0;
}

static hash128 *id_slot(const struct id_set *set, hash128 id)
{
    uint64_t at = id.word[0] & set->mask;
    while (!is_empty(&set->slot[at]) &&
           (set->slot[at].word[0] != id.word[0] || set->slot[at].word[1] != id.word[1]))
        at = (at + 1) & set->mask;
    return &set->slot[at];
}

static bool grow_ids(struct id_set *set)
{
    struct id_set larger = {.n = set->n, .mask = set->slot ? 2 * set->mask + 1 : 1023};
    larger.slot = calloc(larger.mask + 1, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (uint64_t i = 0; set->slot && i <= set->mask; i++)
        if (!is_empty(&set->slot[i]))
            *id_slot(&larger, set->slot[i]) = set->slot[i];
    free(set->slot);
    *set = larger;
    return true;
}

enum id_result id_set_add(struct id_set *set, hash128 id)
{
    if ((!set->slot || 2 * set->n > set->mask) && !grow_ids(set))
        return ID_NO_MEMORY;
    if (is_empty(&id))
        id.word[0] = 1;
    hash128 *slot = id_slot(set, id);
    if (!is_empty(slot))
        return ID_KNOWN;
    *slot = id;
    set->n++;
    return ID_NEW;
}

void id_set_free(struct id_set *set)
{
    free(set->slot);
    *set = (struct id_set){.n = 0};
}
