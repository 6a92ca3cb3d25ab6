/* names.c - see names.h. */
#include "engine/model/names.h"

#include <string.h>

#include "engine/base/memory.h"

bool name_is_valid(oltr_name name)
{
    return name.bytes && name.size >= 1 && name.size <= OLTR_LONGEST_NAME;
}

/* ---- the hash: products of 64 by 64 bits, whose halves are combined */

static inline uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF), high = (a >> 32) * (b >> 32);
    uint64_t one = (a >> 32) * (b & 0xFFFFFFFF), two = (a & 0xFFFFFFFF) * (b >> 32);
    return low ^ high ^ (one << 32 | one >> 32) ^ (two << 32 | two >> 32);
#endif
}

static inline uint64_t load8(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint64_t load4(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint64_t hash_of(const names *t, oltr_name name)
{
    const unsigned char *at = name.bytes;
    uint64_t size = name.size, first, last, seed = t->key[0];
    for (; size > 16; at += 16, size -= 16)
        seed = fold(load8(at) ^ t->key[1], load8(at + 8) ^ seed);
    if (size >= 8) {
        first = load8(at);
        last = load8(at + size - 8);
    } else if (size >= 4) {
        first = load4(at);
        last = load4(at + size - 4);
    } else {
        first = (uint64_t)at[0] << 16 | (uint64_t)at[size / 2] << 8 | at[size - 1];
        last = 0;
    }
    return fold(fold(first ^ t->key[1], last ^ seed) ^ name.size, 0x9E3779B97F4A7C15u);
}

oltr_name names_at(const names *t, uint32_t number)
{
    return (oltr_name){t->text + t->entry[number].at, t->entry[number].size};
}

/* ---- slots */

static inline uint32_t number_in(const names *t, uint32_t slot)
{
    return (slot & (((uint32_t)1 << t->shift) - 1)) - 1;
}

/* The upper bits of the hash, which do not choose the slot. */
static inline uint32_t part_of(const names *t, uint64_t hash)
{
    return (uint32_t)(hash >> 32) >> t->shift;
}

static inline uint32_t slot_value(const names *t, uint64_t hash, uint32_t number)
{
    return part_of(t, hash) << t->shift | (number + 1);
}

static inline bool is_name(const names *t, uint32_t number, oltr_name name)
{
    const name_entry *e = &t->entry[number];
    return e->size == name.size && memcmp(t->text + e->at, name.bytes, name.size) == 0;
}

/* The slot of the name, or the free one in which it belongs. */
static inline uint32_t slot_of(const names *t, oltr_name name, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & t->mask, part = part_of(t, hash);
    for (; t->slot[at]; at = (at + 1) & t->mask)
        if (t->slot[at] >> t->shift == part && is_name(t, number_in(t, t->slot[at]), name))
            break;
    return at;
}

static uint32_t slot_of_number(const names *t, uint32_t number)
{
    uint32_t at = (uint32_t)hash_of(t, names_at(t, number)) & t->mask;
    while (number_in(t, t->slot[at]) != number)
        at = (at + 1) & t->mask;
    return at;
}

static void insert(names *t, uint32_t number)
{
    uint64_t hash = hash_of(t, names_at(t, number));
    uint32_t at = (uint32_t)hash & t->mask;
    while (t->slot[at])
        at = (at + 1) & t->mask;
    t->slot[at] = slot_value(t, hash, number);
}

/* Frees a slot, and moves the following ones of its run up, so that probing finds them. */
static void free_slot(names *t, uint32_t at)
{
    for (uint32_t next = (at + 1) & t->mask; t->slot[next]; next = (next + 1) & t->mask) {
        uint32_t number = number_in(t, t->slot[next]);
        uint32_t home = (uint32_t)hash_of(t, names_at(t, number)) & t->mask;
        if (((next - home) & t->mask) >= ((next - at) & t->mask)) {
            t->slot[at] = t->slot[next];
            at = next;
        }
    }
    t->slot[at] = 0;
}

/* ---- memory */

static size_t slots_of(uint32_t room)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)room)
        slots *= 2;
    return slots;
}

static size_t entry_bytes(uint32_t room)
{
    return room * sizeof(name_entry);
}

oltr_status names_init(names *t, const uint64_t key[2], uint32_t room, const oltr_memory *memory)
{
    size_t slots = slots_of(room);
    *t = (names){.key = {key[0], key[1]}, .room = room, .mask = (uint32_t)(slots - 1)};
    while (((uint64_t)1 << t->shift) < slots / 2 + 1)
        t->shift++;
    t->entry = memory_take_small(memory, entry_bytes(room));
    t->slot = memory_take_small(memory, slots * sizeof *t->slot);
    if (t->entry && t->slot)
        return OLTR_OK;
    names_end(t, memory);
    return OLTR_ENOMEM;
}

void names_end(names *t, const oltr_memory *memory)
{
    memory_give_small(memory, t->entry, t->entry ? entry_bytes(t->room) : 0);
    memory_give_small(memory, t->slot, t->slot ? ((size_t)t->mask + 1) * sizeof *t->slot : 0);
    memory_give_small(memory, t->text, t->text_room);
    *t = (names){.n = 0};
}

size_t names_bytes(const names *t)
{
    return entry_bytes(t->room) + ((size_t)t->mask + 1) * sizeof *t->slot + t->text_room;
}

oltr_status names_copy(names *t, const names *from, const oltr_memory *memory)
{
    oltr_status status = names_init(t, from->key, from->room, memory);
    if (status == OLTR_OK)
        status = names_reserve(t, 0, from->text_used, memory);
    if (status != OLTR_OK) {
        names_end(t, memory);
        return status;
    }
    t->n = from->n;
    t->text_used = from->text_used;
    t->text_dead = from->text_dead;
    memcpy(t->entry, from->entry, from->n * sizeof *t->entry);
    memcpy(t->slot, from->slot, ((size_t)from->mask + 1) * sizeof *t->slot);
    if (from->text_used)
        memcpy(t->text, from->text, from->text_used);
    return OLTR_OK;
}

static oltr_status grow_text(names *t, size_t bytes, const oltr_memory *memory)
{
    if (bytes <= t->text_room)
        return OLTR_OK;
    if (bytes > UINT32_MAX)
        return OLTR_EFULL;
    size_t room = t->text_room + t->text_room / 2;
    room = room < bytes ? bytes : room > UINT32_MAX ? UINT32_MAX : room;
    unsigned char *text = memory_take_small(memory, room);
    if (!text)
        return OLTR_ENOMEM;
    if (t->text_used)
        memcpy(text, t->text, t->text_used);
    memory_give_small(memory, t->text, t->text_room);
    t->text = text;
    t->text_room = room;
    return OLTR_OK;
}

static oltr_status grow_entries(names *t, uint32_t n, const oltr_memory *memory)
{
    if (n <= t->room)
        return OLTR_OK;
    uint32_t room = t->room ? t->room : 8;
    while (room < n)
        room *= 2;
    names bigger;
    oltr_status status = names_init(&bigger, t->key, room, memory);
    if (status != OLTR_OK)
        return status;
    bigger.n = t->n;
    bigger.text = t->text;
    bigger.text_used = t->text_used;
    bigger.text_room = t->text_room;
    bigger.text_dead = t->text_dead;
    memcpy(bigger.entry, t->entry, t->n * sizeof *t->entry);
    for (uint32_t i = 0; i < t->n; i++)
        insert(&bigger, i);
    t->text = NULL;
    t->text_room = 0;
    names_end(t, memory);
    *t = bigger;
    return OLTR_OK;
}

oltr_status names_reserve(names *t, uint32_t more, size_t bytes, const oltr_memory *memory)
{
    oltr_status status = grow_text(t, t->text_used + bytes, memory);
    return status == OLTR_OK ? grow_entries(t, t->n + more, memory) : status;
}

void names_compact(names *t, const oltr_memory *memory)
{
    if (t->text_dead < 1024 || t->text_dead < t->text_used / 2)
        return;
    size_t room = t->text_used - t->text_dead, at = 0;
    unsigned char *text = memory_take_small(memory, room ? room : 1);
    if (!text)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        memcpy(text + at, t->text + t->entry[i].at, t->entry[i].size);
        t->entry[i].at = (uint32_t)at;
        at += t->entry[i].size;
    }
    memory_give_small(memory, t->text, t->text_room);
    t->text = text;
    t->text_room = room ? room : 1;
    t->text_used = room;
    t->text_dead = 0;
}

/* ---- finding, adding, removing */

uint32_t names_find(const names *t, oltr_name name)
{
    uint32_t found = t->slot[slot_of(t, name, hash_of(t, name))];
    return found ? number_in(t, found) : NO_NAME;
}

uint32_t names_add(names *t, oltr_name name)
{
    uint64_t hash = hash_of(t, name);
    uint32_t at = slot_of(t, name, hash);
    if (t->slot[at])
        return number_in(t, t->slot[at]);
    t->entry[t->n] = (name_entry){(uint32_t)t->text_used, name.size};
    memcpy(t->text + t->text_used, name.bytes, name.size);
    t->text_used += name.size;
    t->slot[at] = slot_value(t, hash, t->n);
    return t->n++;
}

uint32_t names_remove(names *t, uint32_t number)
{
    uint32_t last = t->n - 1;
    free_slot(t, slot_of_number(t, number));
    if (number != last) {
        uint32_t *slot = &t->slot[slot_of_number(t, last)];
        *slot += number - last;
    }
    t->text_dead += t->entry[number].size;
    t->entry[number] = t->entry[last];
    t->n = last;
    return last;
}

void names_undo(names *t, uint32_t n)
{
    while (t->n > n) {
        free_slot(t, slot_of_number(t, t->n - 1));
        t->n--;
        t->text_used -= t->entry[t->n].size;
    }
}
