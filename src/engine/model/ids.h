/* ids.h - the ids of the last lessons, so that each counts once.
 *
 * An id is kept as 128 bits of its hash (base/siphash.h), with a fixed key: the hashes are part of
 * the image of a model, and equal on every machine.  Two different ids of a window of a million are
 * taken for the same with a chance of 1e-27.
 *
 * A ring in order of arrival and, of more than FEW_IDS, a table of its places.  Both grow with use,
 * up to the window; then a new id replaces the oldest.  A slot of the table has 32 bits: the place,
 * and in the bits that it leaves a part of the hash, so that most probes end without a look into
 * the ring.
 */
#ifndef OLTR_ENGINE_MODEL_IDS_H
#define OLTR_ENGINE_MODEL_IDS_H

#include <stdbool.h>
#include <oltr/model.h>

#include "engine/base/error.h"
#include "engine/base/siphash.h"

enum { FEW_IDS = 32 };

typedef struct ids {
    uint32_t window;  /* the most that are kept */
    uint32_t n, room; /* ids in the ring, and its length */
    uint32_t first;   /* the place of the oldest */
    uint32_t mask;    /* slots of the table - 1 */
    uint32_t shift;   /* bits of a place + 1 */
    hash128 *ring;    /* (room) */
    uint32_t *slot;   /* (mask + 1) part of the hash, then place in the ring + 1; 0: free; NULL: few
                         are searched */
} ids;

hash128 id_hash(const void *bytes, size_t size);

void ids_end(ids *w, const oltr_memory *memory);
oltr_status ids_copy(ids *w, const ids *from, const oltr_memory *memory);
size_t ids_bytes(const ids *w);

/* Fetches what ids_has() and ids_add() will read into the cache, while the caller does other work:
 * the table of a window of 65536 has 512 KiB, of which a lesson reads two random lines. */
void ids_fetch(const ids *w, hash128 id);
bool ids_has(const ids *w, hash128 id);
hash128 ids_at(const ids *w, uint32_t i); /* the i-th, oldest first */
/* Room for n ids, or the whole window if that is less; OLTR_ENOMEM changes nothing. */
oltr_status ids_reserve(ids *w, uint32_t n, const oltr_memory *memory);
/* One that it does not have, after ids_reserve(n + 1). */
void ids_add(ids *w, hash128 id);

#endif
