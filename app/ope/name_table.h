/* name_table.h - numbers for names, in the order of their first occurrence; and a set of ids. */
#ifndef OLTR_APP_OPE_NAME_TABLE_H
#define OLTR_APP_OPE_NAME_TABLE_H

#include "engine/base/siphash.h"
#include "engine/base/text.h"

#include <oltr/model.h>

struct name_table {
    uint32_t n, room, mask;
    size_t *from;   /* (room) offsets in `bytes` */
    uint32_t *size; /* (room) */
    uint32_t *slot; /* (mask + 1) 1 + number; 0: empty */
    struct text bytes;
};

#define NO_NAME UINT32_MAX
/* The number of a name, which is added if it is new; NO_NAME when memory ran out. */
uint32_t name_table_add(struct name_table *table, oltr_name name);
uint32_t name_table_find(const struct name_table *table, oltr_name name); /* or NO_NAME */
oltr_name name_table_at(const struct name_table *table, uint32_t number);
/* Takes back all names but the first n. */
void name_table_cut(struct name_table *table, uint32_t n);
void name_table_free(struct name_table *table);

/* A hash of 128 bits, the same on every machine. */
hash128 name_hash(const void *bytes, size_t size);

struct id_set {
    uint64_t n, mask;
    hash128 *slot; /* (mask + 1) two zeros: empty */
};
enum id_result { ID_NEW, ID_KNOWN, ID_NO_MEMORY };
/* By a hash of 128 bits: 32 to 64 bytes for each id. */
enum id_result id_set_add(struct id_set *set, hash128 id);
void id_set_free(struct id_set *set);

#endif
