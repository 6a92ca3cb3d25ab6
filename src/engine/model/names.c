/* names.c - see names.h. */
#include "engine/model/names.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/short_bytes.h"

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

/* ---- the text */

enum { SIZE_BYTES = 2 };

static inline uint32_t size_at(const names *t, uint32_t number)
{
    uint16_t size;
    memcpy(&size, t->text + t->at[number], SIZE_BYTES);
    return size;
}

oltr_name names_at(const names *t, uint32_t number)
{
    return (oltr_name){t->text + t->at[number] + SIZE_BYTES, size_at(t, number)};
}

static void append(names *t, oltr_name name)
{
    uint16_t size = (uint16_t)name.size;
    t->at[t->n] = t->text_used;
    memcpy(t->text + t->text_used, &size, SIZE_BYTES);
    memcpy(t->text + t->text_used + SIZE_BYTES, name.bytes, name.size);
    t->text_used += SIZE_BYTES + name.size;
}

static inline bool is_name(const names *t, uint32_t number, oltr_name name)
{
    const unsigned char *own = t->text + t->at[number] + SIZE_BYTES;
    return size_at(t, number) == name.size && same_bytes(own, name.bytes, name.size);
}

/* ---- slots */

static inline bool is_few(const names *t)
{
    return t->room <= FEW_NAMES;
}

static inline size_t slot_width(const names *t)
{
    return is_few(t) ? sizeof(uint16_t) : sizeof(uint32_t);
}

static inline uint32_t get_slot(const names *t, bool few, uint32_t at)
{
    return few ? ((const uint16_t *)t->slot)[at] : ((const uint32_t *)t->slot)[at];
}

static inline void set_slot(names *t, uint32_t at, uint32_t value)
{
    if (is_few(t))
        ((uint16_t *)t->slot)[at] = (uint16_t)value;
    else
        ((uint32_t *)t->slot)[at] = value;
}

static inline uint32_t number_in(const names *t, uint32_t slot)
{
    return (slot & (((uint32_t)1 << t->shift) - 1)) - 1;
}

/* The upper bits of the hash, which do not choose the slot. */
static inline uint32_t part_of(const names *t, bool few, uint64_t hash)
{
    return (uint32_t)(hash >> (few ? 48 : 32)) >> t->shift;
}

static inline uint32_t slot_value(const names *t, uint64_t hash, uint32_t number)
{
    return part_of(t, is_few(t), hash) << t->shift | (number + 1);
}

/* The number of the name, or NO_NAME; and its slot, or the free one in which it belongs. */
static inline uint32_t probe(const names *t, bool few, oltr_name name, uint64_t hash, uint32_t *at)
{
    uint32_t part = part_of(t, few, hash), held;
    for (*at = (uint32_t)hash & t->mask; (held = get_slot(t, few, *at)) != 0;
         *at = (*at + 1) & t->mask) {
        uint32_t number = number_in(t, held);
        if (held >> t->shift == part && is_name(t, number, name))
            return number;
    }
    return NO_NAME;
}

static inline uint32_t find(const names *t, oltr_name name, uint64_t hash, uint32_t *at)
{
    return is_few(t) ? probe(t, true, name, hash, at) : probe(t, false, name, hash, at);
}

static uint32_t slot_of_number(const names *t, uint32_t number)
{
    uint32_t at = (uint32_t)hash_of(t, names_at(t, number)) & t->mask;
    while (number_in(t, get_slot(t, is_few(t), at)) != number)
        at = (at + 1) & t->mask;
    return at;
}

static void insert(names *t, uint32_t number)
{
    uint64_t hash = hash_of(t, names_at(t, number));
    uint32_t at = (uint32_t)hash & t->mask;
    while (get_slot(t, is_few(t), at))
        at = (at + 1) & t->mask;
    set_slot(t, at, slot_value(t, hash, number));
}

/* Frees a slot, and moves the following ones of its run up, so that probing finds them. */
static void free_slot(names *t, uint32_t at)
{
    uint32_t held;
    for (uint32_t next = (at + 1) & t->mask; (held = get_slot(t, is_few(t), next)) != 0;
         next = (next + 1) & t->mask) {
        uint32_t home = (uint32_t)hash_of(t, names_at(t, number_in(t, held))) & t->mask;
        if (((next - home) & t->mask) >= ((next - at) & t->mask)) {
            set_slot(t, at, held);
            at = next;
        }
    }
    set_slot(t, at, 0);
}

/* ---- memory */

static size_t slots_of(uint32_t room)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)room)
        slots *= 2;
    return slots;
}

static size_t table_bytes(uint32_t room)
{
    size_t slot = room <= FEW_NAMES ? sizeof(uint16_t) : sizeof(uint32_t);
    return room * (sizeof(uint64_t) + sizeof(uint32_t)) + slots_of(room) * slot;
}

oltr_status names_init(names *t, const uint64_t key[2], uint32_t room, const oltr_memory *memory)
{
    size_t slots = slots_of(room);
    *t = (names){.key = {key[0], key[1]}, .room = room, .mask = (uint32_t)(slots - 1)};
    while (((uint64_t)1 << t->shift) < slots / 2 + 1)
        t->shift++;
    t->last = memory_take_small(memory, table_bytes(room));
    if (!t->last) {
        names_end(t, memory);
        return OLTR_ENOMEM;
    }
    t->at = (uint32_t *)(t->last + room);
    t->slot = t->at + room;
    return OLTR_OK;
}

void names_end(names *t, const oltr_memory *memory)
{
    memory_give_small(memory, t->last, table_bytes(t->room));
    memory_give_small(memory, t->text, t->text_room);
    *t = (names){.n = 0};
}

size_t names_bytes(const names *t)
{
    return table_bytes(t->room) + t->text_room;
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
    memcpy(t->last, from->last, table_bytes(from->room));
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
    size_t room = (size_t)t->text_room + t->text_room / 2;
    room = room < bytes ? bytes : room > UINT32_MAX ? UINT32_MAX : room;
    unsigned char *text = memory_take_small(memory, room);
    if (!text)
        return OLTR_ENOMEM;
    if (t->text_used)
        memcpy(text, t->text, t->text_used);
    memory_give_small(memory, t->text, t->text_room);
    t->text = text;
    t->text_room = (uint32_t)room;
    return OLTR_OK;
}

static oltr_status grow_table(names *t, uint32_t n, const oltr_memory *memory)
{
    if (n <= t->room)
        return OLTR_OK;
    names bigger;
    oltr_status status = names_init(&bigger, t->key, room_for(n), memory);
    if (status != OLTR_OK)
        return status;
    bigger.n = t->n;
    bigger.text = t->text;
    bigger.text_used = t->text_used;
    bigger.text_room = t->text_room;
    bigger.text_dead = t->text_dead;
    memcpy(bigger.at, t->at, t->n * sizeof *t->at);
    memcpy(bigger.last, t->last, t->n * sizeof *t->last);
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
    size_t text = t->text_used + bytes + SIZE_BYTES * (size_t)more;
    oltr_status status = grow_text(t, text, memory);
    return status == OLTR_OK ? grow_table(t, t->n + more, memory) : status;
}

void names_compact(names *t, const oltr_memory *memory)
{
    if (t->text_dead < 1024 || t->text_dead < t->text_used / 2)
        return;
    uint32_t room = t->text_used - t->text_dead, at = 0;
    unsigned char *text = memory_take_small(memory, room ? room : 1);
    if (!text)
        return;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t size = SIZE_BYTES + size_at(t, i);
        memcpy(text + at, t->text + t->at[i], size);
        t->at[i] = at;
        at += size;
    }
    memory_give_small(memory, t->text, t->text_room);
    t->text = text;
    t->text_room = room ? room : 1;
    t->text_used = room;
    t->text_dead = 0;
}

/* ---- finding, adding, removing */

static inline uint32_t find_name(const names *t, oltr_name name)
{
    uint32_t at;
    return find(t, name, hash_of(t, name), &at);
}

uint32_t names_find(const names *t, oltr_name name)
{
    return find_name(t, name);
}

/* The number in the first slot of a hash, if it may be that of the name. */
static inline uint32_t likely_number(const names *t, uint64_t hash)
{
    bool few = is_few(t);
    uint32_t slot = get_slot(t, few, (uint32_t)hash & t->mask);
    return slot && slot >> t->shift == part_of(t, few, hash) ? number_in(t, slot) : NO_NAME;
}

/* A name is found by three reads, each of which may miss the cache: slot, offset and text.  Those
 * of many names overlap. */
static void find_overlapped(const names *t, const oltr_name *name, uint32_t n, uint32_t *number)
{
    enum { TOGETHER = 32 };
    uint64_t hash[TOGETHER];
    const size_t width = slot_width(t);
    for (uint32_t many; n > 0; n -= many, name += many, number += many) {
        many = n < TOGETHER ? n : TOGETHER;
        for (uint32_t i = 0; i < many; i++) {
            hash[i] = hash_of(t, name[i]);
            __builtin_prefetch((const char *)t->slot + ((uint32_t)hash[i] & t->mask) * width);
        }
        for (uint32_t i = 0; i < many; i++) {
            number[i] = likely_number(t, hash[i]);
            __builtin_prefetch(&t->at[number[i] == NO_NAME ? 0 : number[i]]);
        }
        for (uint32_t i = 0; i < many; i++)
            if (number[i] == NO_NAME || !is_name(t, number[i], name[i]))
                number[i] = names_find(t, name[i]);
    }
}

/* 8 to 16 bytes: two words. */
static inline bool is_two_words(oltr_name name)
{
    return name.size - 8u <= 8u;
}

/* Compilers leave out what other sizes need, a third of the instructions.  The copy of the table
 * stays in registers: for all they know, a store to `number` changes *t. */
static void find_two_words(const names *t, const oltr_name *name, uint32_t n, uint32_t *number)
{
    const names copy = *t;
    for (uint32_t i = 0; i < n; i++) {
        oltr_name one = name[i];
        if (!is_two_words(one))
            __builtin_unreachable();
        number[i] = find_name(&copy, one);
    }
}

enum { CACHED_NAMES = 4096 };

void names_find_all(const names *t, const oltr_name *name, uint32_t n, uint32_t *number)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < n; i++)
        others += !is_two_words(name[i]);
    bool fast = t->n <= CACHED_NAMES && others == 0;
    (fast ? find_two_words : find_overlapped)(t, name, n, number);
}

uint32_t names_add(names *t, oltr_name name)
{
    uint64_t hash = hash_of(t, name);
    uint32_t at, number = find(t, name, hash, &at);
    if (number != NO_NAME)
        return number;
    append(t, name);
    set_slot(t, at, slot_value(t, hash, t->n));
    return t->n++;
}

uint32_t names_remove(names *t, uint32_t number)
{
    uint32_t last = t->n - 1;
    free_slot(t, slot_of_number(t, number));
    if (number != last) {
        uint32_t at = slot_of_number(t, last);
        set_slot(t, at, get_slot(t, is_few(t), at) + number - last);
    }
    t->text_dead += SIZE_BYTES + size_at(t, number);
    t->at[number] = t->at[last];
    t->last[number] = t->last[last];
    t->n = last;
    return last;
}

void names_undo(names *t, uint32_t n)
{
    while (t->n > n) {
        free_slot(t, slot_of_number(t, t->n - 1));
        t->n--;
        t->text_used = t->at[t->n];
    }
}

/* Few names are taken out one by one, many with all slots. */
void names_clear(names *t)
{
    if (t->n <= t->mask / 64) {
        names_undo(t, 0);
        return;
    }
    memset(t->slot, 0, ((size_t)t->mask + 1) * slot_width(t));
    t->n = 0;
    t->text_used = t->text_dead = 0;
}
