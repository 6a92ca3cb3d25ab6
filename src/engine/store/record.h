/* record.h - a call that changes a model: as bytes, back from bytes, and done.
 *
 * The same struct is filled by the calls of store.h and by the decoder of the log, and one function
 * does it to a model, so that a replayed call is the call that was made.
 *
 * A record of the log, little-endian:
 *   u32 size of the body   u32 CRC-32C of number and body   u64 number   body
 * and a body, where a name is a u32 length and its bytes:
 *   base    u32 1   u64 length and u32 CRC-32C of the image of the model
 *   learn   u32 2   name id   u32 form   u32 examine   u32 depth   u32 n   the list, that is
 *                   names (n), or u32 dim and f32 (n, dim); rewards (n), f64 or u8;
 *                   f64 weights (n) and u8 mask (n) where the form has them
 *   prior   u32 3   u32 n   names (n)   f64 (n, 2)
 *   remove  u32 4   u32 n   names (n)
 *   reset   u32 5   u32 n   names (n)
 *   trim    u32 6   u64 idle
 *   forget  u32 7   name id   f64 keep
 *   merge   u32 8   name id   u32 size   image of the other model
 * The form is a sum of the bits below.  A log begins with a base, which is no call: its number and
 * checksum are those of the image that the log continues.
 */
#ifndef OLTR_ENGINE_STORE_RECORD_H
#define OLTR_ENGINE_STORE_RECORD_H

#include <stdbool.h>

#include <oltr/model.h>

#include "engine/base/bytes.h"
#include "engine/base/error.h"

typedef enum call_kind {
    CALL_BASE = 1,
    CALL_LEARN,
    CALL_PRIOR,
    CALL_REMOVE,
    CALL_RESET,
    CALL_TRIM,
    CALL_FORGET,
    CALL_MERGE,
    CALL_BEYOND
} call_kind;

/* What a lesson holds.  Rewards that are all 0 or 1 take a byte each. */
enum { FORM_ROWS = 1, FORM_CLICKS = 2, FORM_WEIGHTS = 4, FORM_MASK = 8, FORM_BEYOND = 16 };

enum { RECORD_HEAD = 16, LEAST_BODY = 4, LEAST_RECORD = RECORD_HEAD + LEAST_BODY };

/* Of a call number: far from where additions wrap. */
#define MOST_CALLS ((uint64_t)1 << 62)

typedef struct call {
    uint32_t kind;
    uint32_t dim;       /* learn: floats of a row */
    oltr_lesson lesson; /* learn */
    oltr_name id;       /* forget, merge */
    uint32_t n;         /* prior, remove, reset */
    const oltr_name *name;
    const double *pair;
    uint64_t idle;              /* trim */
    double keep;                /* forget */
    const oltr_model *from;     /* merge; NULL: the image is loaded */
    const unsigned char *image; /* merge */
    uint64_t image_size;        /* merge, base */
    uint32_t image_crc;         /* base */
} call;

/* The most bytes of the record of a call; 0 when something is missing that writing would read: such
 * a call is refused by the model. */
uint64_t record_bound(const call *c);

/* A call as a record, where there is such a bound. */
void put_record(writer *w, uint64_t number, const call *c);

/* A record in a piece of a log. */
typedef struct record {
    uint64_t number;
    const unsigned char *body;
    uint32_t size; /* of the body */
} record;

/* The numbers in front of the body of a record that may begin at `bytes`; false if it does not fit
 * in `left` bytes.  Its checksum is not computed. */
bool record_fits(const unsigned char *bytes, size_t left, record *out);
/* Whether the checksum of a record that fits is right. */
bool record_is_sound(const record *r);

/* Memory for the arrays of a decoded call, used again from call to call. */
typedef struct call_room {
    void *block;
    size_t bytes;
} call_room;
void call_room_free(call_room *room);

/* The call in a body, of a model with rows of `dim` features.  It refers to the body and the room.
 * Bytes that are no call: OLTR_ECORRUPT; a kind of call of a later version: OLTR_EVERSION. */
oltr_status get_call(const record *found, uint32_t dim, call_room *room, call *out,
                     oltr_error *error);

/* Does the call.  changed: how many items were removed or reset; of the other calls 1, or 0 when
 * the model is as it was.  options: how the image of a merge is loaded.  error is not NULL. */
oltr_status do_call(oltr_model *model, const call *c, const oltr_load_options *options,
                    uint32_t *changed, oltr_error *error);

#endif
