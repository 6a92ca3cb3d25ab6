/* envelope.h - what all images of the engine have around their content, little-endian:
 *   eight letters   u32 format   u32 zero   u64 length of the whole image
 *   the content
 *   u64 CRC-64 of all before it
 */
#ifndef OLTR_ENGINE_BASE_ENVELOPE_H
#define OLTR_ENGINE_BASE_ENVELOPE_H

#include "engine/base/bytes.h"
#include "engine/base/error.h"

enum { ENVELOPE_MAGIC = 8, ENVELOPE_FRONT = ENVELOPE_MAGIC + 4 + 4 + 8, ENVELOPE_END = 8 };

/* One kind of image, and the words of its messages. */
typedef struct envelope {
    const char *magic;  /* the eight letters */
    uint32_t newest;    /* the latest format that is read; the first is 1 */
    size_t header;      /* fewer bytes are not even its header; at least ENVELOPE_FRONT */
    const char *kind;   /* "an oltr model" */
    const char *load;   /* "load" */
    const char *advice; /* where bytes are missing: "; take a copy of it", or "" */
    const char *copy;   /* where bytes are damaged: "take an older copy" */
} envelope;

/* What is in front of the content. */
void put_envelope_front(writer *w, const envelope *e, uint64_t length);

typedef struct opened_image {
    reader content;
    uint32_t format;
    bool valid; /* the format is not 0, and what must be zero is */
} opened_image;

/* Whether the bytes are such an image, whole, undamaged and of a known format.  subject and noun
 * begin the sentences: "this" and "the model", or the path of a file. */
oltr_status envelope_open(const envelope *e, const void *bytes, size_t size, const char *subject,
                          const char *noun, opened_image *out, oltr_error *error);

#endif
