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

static uint32_t home_of(const ids *w, hash128 id)
{
    return (uint32_t)id.word[0] & w->mask;
}

/* The slot of the id, or the free one in which it belongs. */
static uint32_t slot_of(const ids *w, hash128 id)
{
    uint32_t at = home_of(w, id);
    while (w->slot[at] && !same(w->ring[w->slot[at] - 1], id))
        at = (at + 1) & w->mask;
    return at;
}

bool ids_has(const ids *w, hash128 id)
{
    return w->n && w->slot[slot_of(w, id)];
}

hash128 ids_at(const ids *w, uint32_t i)
{
    uint64_t at = (uint64_t)w->first + i;
    return w->ring[at < w->room ? at : at - w->room];
}

static size_t slots_of(uint32_t room)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)room)
        slots *= 2;
    return slots;
}

size_t ids_bytes(const ids *w)
{
    return w->room ? w->room * sizeof *w->ring + ((size_t)w->mask + 1) * sizeof *w->slot : 0;
}

void ids_end(ids *w, const oltr_memory *memory)
{
    memory_give_small(memory, w->ring, w->ring ? w->room * sizeof *w->ring : 0);
    memory_give_small(memory, w->slot, w->slot ? ((size_t)w->mask + 1) * sizeof *w->slot : 0);
    *w = (ids){.window = w->window};
}

/* An empty ring of this length. */
static oltr_status ids_init(ids *w, uint32_t window, uint32_t room, const oltr_memory *memory)
{
    size_t slots = slots_of(room);
    *w = (ids){.window = window, .room = room, .mask = (uint32_t)(slots - 1)};
    w->ring = memory_take_small(memory, room * sizeof *w->ring);
    w->slot = memory_take_small(memory, slots * sizeof *w->slot);
    if (w->ring && w->slot)
        return OLTR_OK;
    ids_end(w, memory);
    return OLTR_ENOMEM;
}

oltr_status ids_reserve(ids *w, uint32_t n, const oltr_memory *memory)
{
    uint32_t needed = n < w->window ? n : w->window, room = w->room ? w->room : 8;
    if (needed <= w->room)
        return OLTR_OK;
    while (room < needed)
        room *= 2;
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

/* Frees a slot, and moves the following ones of its run up. */
static void free_slot(ids *w, uint32_t at)
{
    for (uint32_t next = (at + 1) & w->mask; w->slot[next]; next = (next + 1) & w->mask) {
        uint32_t home = home_of(w, w->ring[w->slot[next] - 1]);
        if (((next - home) & w->mask) >= ((next - at) & w->mask)) {
            w->slot[at] = w->slot[next];
            at = next;
        }
    }
    w->slot[at] = 0;
}

void ids_add(ids *w, hash128 id)
{
    if (!w->window)
        return;
    uint32_t place = w->first;
    if (w->n == w->window) {
        free_slot(w, slot_of(w, w->ring[w->first]));
        w->first = w->first + 1 == w->room ? 0 : w->first + 1;
    } else {
        uint64_t end = (uint64_t)w->first + w->n++;
        place = (uint32_t)(end < w->room ? end : end - w->room);
    }
    w->ring[place] = id;
    w->slot[slot_of(w, id)] = place + 1;
}
