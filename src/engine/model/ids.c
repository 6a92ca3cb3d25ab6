/* ids.c - see ids.h. */
#include "engine/model/ids.h"

#include <string.h>

#include "engine/base/memory.h"

hash128 id_hash(const void *bytes, size_t size)
{
    static const uint64_t key[2] = {0x6F6C74722D696473u,
                                    0x6C6573736F6E2069u}; /* part of the format */
    return siphash(key, bytes, size);
}

static bool same(hash128 a, hash128 b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

static inline uint32_t home_of(const ids *w, hash128 id)
{
    return (uint32_t)id.word[0] & w->mask;
}

/* ---- slots */

static inline uint32_t place_in(const ids *w, uint32_t slot)
{
    return (slot & (((uint32_t)1 << w->shift) - 1)) - 1;
}

/* The upper bits of the hash, which do not choose the slot. */
static inline uint32_t part_of(const ids *w, hash128 id)
{
    return (uint32_t)(id.word[0] >> 32) >> w->shift;
}

static inline uint32_t slot_value(const ids *w, hash128 id, uint32_t place)
{
    return part_of(w, id) << w->shift | (place + 1);
}

void ids_fetch(const ids *w, hash128 id)
{
    if (!w->slot || !w->n)
        return;
    __builtin_prefetch(&w->slot[home_of(w, id)], 1);
    if (w->n == w->window)
        __builtin_prefetch(&w->slot[home_of(w, w->ring[w->first])], 1);
}

static bool is_in_table(const ids *w, hash128 id)
{
    uint32_t part = part_of(w, id);
    for (uint32_t at = home_of(w, id); w->slot[at]; at = (at + 1) & w->mask)
        if (w->slot[at] >> w->shift == part && same(w->ring[place_in(w, w->slot[at])], id))
            return true;
    return false;
}

static bool is_in_ring(const ids *w, hash128 id)
{
    bool found = false;
    for (uint32_t i = 0; i < w->n; i++)
        found |= same(w->ring[i], id);
    return found;
}

bool ids_has(const ids *w, hash128 id)
{
    return w->slot ? is_in_table(w, id) : is_in_ring(w, id);
}

/* Frees the slot of an id in this place of the ring, and moves the following ones of its run up. */
static void free_slot(ids *w, uint32_t place)
{
    uint32_t at = home_of(w, w->ring[place]), value = slot_value(w, w->ring[place], place);
    while (w->slot[at] != value)
        at = (at + 1) & w->mask;
    for (uint32_t next = (at + 1) & w->mask; w->slot[next]; next = (next + 1) & w->mask) {
        uint32_t home = home_of(w, w->ring[place_in(w, w->slot[next])]);
        if (((next - home) & w->mask) >= ((next - at) & w->mask)) {
            w->slot[at] = w->slot[next];
            at = next;
        }
    }
    w->slot[at] = 0;
}

/* ---- the ring */

hash128 ids_at(const ids *w, uint32_t i)
{
    uint64_t at = (uint64_t)w->first + i;
    return w->ring[at < w->room ? at : at - w->room];
}

/* Slots, or 0 for few ids. */
static size_t slots_of(uint32_t room)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)room)
        slots *= 2;
    return room <= FEW_IDS ? 0 : slots;
}

/* The ring and the table behind it. */
static size_t bytes_of(uint32_t room)
{
    return room * sizeof(hash128) + slots_of(room) * sizeof(uint32_t);
}

size_t ids_bytes(const ids *w)
{
    return bytes_of(w->room);
}

void ids_end(ids *w, const oltr_memory *memory)
{
    memory_give_small(memory, w->ring, bytes_of(w->room));
    *w = (ids){.window = w->window};
}

/* An empty ring of this length. */
static oltr_status ids_init(ids *w, uint32_t window, uint32_t room, const oltr_memory *memory)
{
    size_t slots = slots_of(room);
    *w = (ids){.window = window};
    w->ring = memory_take_small(memory, bytes_of(room));
    if (!w->ring)
        return OLTR_ENOMEM;
    w->room = room;
    if (!slots)
        return OLTR_OK;
    w->slot = (uint32_t *)(void *)(w->ring + room);
    w->mask = (uint32_t)(slots - 1);
    while (((uint64_t)1 << w->shift) < slots / 2 + 1)
        w->shift++;
    return OLTR_OK;
}

oltr_status ids_reserve(ids *w, uint32_t n, const oltr_memory *memory)
{
    uint32_t needed = n < w->window ? n : w->window, room = room_for(needed);
    if (needed <= w->room)
        return OLTR_OK;
    ids bigger;
    oltr_status status = ids_init(&bigger, w->window, room < w->window ? room : w->window, memory);
    if (status != OLTR_OK)
        return status;
    for (uint32_t i = 0; i < w->n; i++)
        ids_add(&bigger, ids_at(w, i));
    ids_end(w, memory);
    *w = bigger;
    return OLTR_OK;
}

oltr_status ids_copy(ids *w, const ids *from, const oltr_memory *memory)
{
    *w = (ids){.window = from->window};
    oltr_status status = ids_reserve(w, from->n, memory);
    for (uint32_t i = 0; status == OLTR_OK && i < from->n; i++)
        ids_add(w, ids_at(from, i));
    return status;
}

void ids_add(ids *w, hash128 id)
{
    if (!w->window)
        return;
    uint32_t place = w->first;
    if (w->n == w->window) {
        if (w->slot)
            free_slot(w, w->first);
        w->first = w->first + 1 == w->room ? 0 : w->first + 1;
    } else {
        uint64_t end = (uint64_t)w->first + w->n++;
        place = (uint32_t)(end < w->room ? end : end - w->room);
    }
    w->ring[place] = id;
    if (!w->slot)
        return;
    uint32_t at = home_of(w, id);
    while (w->slot[at])
        at = (at + 1) & w->mask;
    w->slot[at] = slot_value(w, id, place);
}
