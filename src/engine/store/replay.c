/* replay.c - see replay.h.
 *
 * The log is read from its beginning.  Where no record is that fits and has the right checksum, the
 * rest is either the record that was being written when the machine stopped, or damage.  It is
 * damage if a whole record begins at any later byte: then calls that were acknowledged are behind
 * it, and nothing is cut.  The search for such a record computes a checksum only where the numbers
 * in front of one are possible: a kind of call, a size that fits, and a number that the log can
 * have reached.  A forged log can have many such places, so checksums are computed over at most 8
 * times the length of the log and 64 MiB; where that is not enough, the log is refused too.
 */
#include "engine/store/replay.h"

#include <string.h>

#include "engine/store/record.h"

/* ---- the beginning */

/* Where the records begin; 0 when the log was stopped before its first eight bytes were written. */
static oltr_status check_start(const store_bytes *b, size_t *start, oltr_error *error)
{
    static const unsigned char zeros[LOG_START] = {0};
    size_t n = b->log_size < LOG_START ? b->log_size : LOG_START;
    *start = n == LOG_START ? LOG_START : 0;
    if (n == 0 || memcmp(b->log, LOG_MAGIC, n) == 0)
        return OLTR_OK;
    if (b->log_size <= LOG_START && memcmp(b->log, zeros, n) == 0) {
        *start = 0;
        return OLTR_OK;
    }
    if (n == LOG_START && memcmp(b->log, LOG_MAGIC, n - 1) == 0 && b->log[n - 1] > LOG_MAGIC[n - 1])
        return set_error(error, OLTR_EVERSION,
                         "%s.log was written by a newer version of oltr: open the store with that",
                         b->path);
    return set_error(error, OLTR_EMAGIC,
                     "%s.log is not the log of a store: it does not begin with " LOG_MAGIC,
                     b->path);
}

/* ---- damage */

/* The numbers that the next record may have.  Before the first is known: any. */
typedef struct range {
    uint64_t first, last;
} range;

static bool is_possible(const record *r, const range *numbers)
{
    reader kind = {r->body, 4, false};
    return r->number >= numbers->first && r->number <= numbers->last &&
           get_u32(&kind) - CALL_BASE < CALL_BEYOND - CALL_BASE;
}

typedef enum search_result { NONE_BEHIND, SOUND_BEHIND, GIVEN_UP } search_result;

/* A sound record at any byte from *at on; *at becomes its place. */
static search_result find_sound(const store_bytes *b, size_t *at, const range *numbers)
{
    uint64_t work = 8 * (uint64_t)b->log_size + ((uint64_t)64 << 20);
    record r;
    for (; b->log_size - *at >= LEAST_RECORD; ++*at) {
        if (!record_fits(b->log + *at, b->log_size - *at, &r) || !is_possible(&r, numbers))
            continue;
        if (r.size > work)
            return GIVEN_UP;
        work -= r.size;
        if (record_is_sound(&r))
            return SOUND_BEHIND;
    }
    return NONE_BEHIND;
}

/* There is no record at `at`: OLTR_OK if nothing follows it. */
static oltr_status check_torn(const store_bytes *b, size_t at, const range *numbers,
                              oltr_error *error)
{
    size_t behind = at + 1;
    switch (find_sound(b, &behind, numbers)) {
    case NONE_BEHIND:
        return OLTR_OK;
    case SOUND_BEHIND:
        return set_error(error, OLTR_ECORRUPT,
                         "%s.log is damaged at byte %zu, and whole records follow at byte %zu: "
                         "nothing was changed. Restore both files from a copy, or give up what "
                         "follows: truncate -s %zu",
                         b->path, at, behind, at);
    default:
        return set_error(error, OLTR_ECORRUPT,
                         "%s.log is damaged at byte %zu, and too much that looks like records "
                         "follows: nothing was changed. Restore both files from a copy, or give up "
                         "what follows: truncate -s %zu",
                         b->path, at, at);
    }
}

/* ---- the calls */

/* A walk over the log. */
typedef struct walk {
    const store_bytes *bytes;
    const oltr_load_options *options;
    call_room room;
    bool begun;     /* its base was read */
    uint64_t last;  /* number of the record before */
    uint64_t first; /* of the base */
    replayed *out;
} walk;

static oltr_status contradicts(const walk *w, uint64_t number, const oltr_error *why,
                               oltr_error *error)
{
    return set_error(
        error, why->code == OLTR_ENOMEM || why->code == OLTR_EVERSION ? why->code : OLTR_ECORRUPT,
        "call %llu of %s.log cannot be repeated: %s", (unsigned long long)number, w->bytes->path,
        why->msg);
}

/* The first record: which image the log continues. */
static oltr_status check_base(walk *w, const record *r, oltr_error *error)
{
    const store_image *image = &w->out->image;
    oltr_error why;
    call base;
    oltr_status status = get_call(r, 0, &w->room, &base, &why);
    if (status == OLTR_OK && base.kind != CALL_BASE)
        status = set_error(&why, OLTR_ECORRUPT, "the log does not begin with its image");
    if (status != OLTR_OK)
        return contradicts(w, r->number, &why, error);
    if (r->number > image->number)
        return set_error(error, OLTR_EMISMATCH,
                         "%s.log begins behind call %llu, the image ends at call %llu: the calls "
                         "between are missing. Restore both files of one time, or remove the log "
                         "to go on from the image",
                         w->bytes->path, (unsigned long long)r->number,
                         (unsigned long long)image->number);
    if (r->number == image->number &&
        (base.image_size != image->size || base.image_crc != image->crc))
        return set_error(error, OLTR_EMISMATCH,
                         "%s.log belongs to another image: restore both files of one time, or "
                         "remove the log to go on from the image",
                         w->bytes->path);
    w->begun = true;
    w->first = r->number;
    return OLTR_OK;
}

/* Repeats a call, which changed the model when it was logged. */
static oltr_status repeat(walk *w, const record *r, oltr_error *error)
{
    oltr_model *model = w->out->model;
    oltr_error why;
    uint32_t changed = 0;
    call c;
    oltr_status status = get_call(r, oltr_model_settings_of(model)->policy.dim, &w->room, &c, &why);
    if (status == OLTR_OK && c.kind == CALL_BASE)
        status = set_error(&why, OLTR_ECORRUPT, "it is no call");
    if (status == OLTR_OK)
        status = do_call(model, &c, w->options, &changed, &why);
    if (status == OLTR_OK && !changed)
        status = set_error(&why, OLTR_ECORRUPT,
                           "it changes nothing, so the log does not belong to the image");
    if (status != OLTR_OK)
        return contradicts(w, r->number, &why, error);
    w->out->calls++;
    w->out->number = r->number;
    return OLTR_OK;
}

static oltr_status step(walk *w, const record *r, oltr_error *error)
{
    if (!w->begun)
        return check_base(w, r, error);
    if (r->number != w->last + 1 || r->number > MOST_CALLS)
        return set_error(error, OLTR_ECORRUPT, "%s.log has call %llu behind call %llu",
                         w->bytes->path, (unsigned long long)r->number,
                         (unsigned long long)w->last);
    return r->number > w->out->image.number ? repeat(w, r, error) : OLTR_OK;
}

static oltr_status walk_log(walk *w, oltr_error *error)
{
    const store_bytes *b = w->bytes;
    size_t at;
    oltr_status status = check_start(b, &at, error);
    w->out->end = at;
    while (status == OLTR_OK && at > 0 && at < b->log_size) {
        record r;
        if (!record_fits(b->log + at, b->log_size - at, &r) || !record_is_sound(&r)) {
            uint64_t more = b->log_size / LEAST_RECORD;
            range numbers = {w->begun ? w->last + 1 : 0,
                             w->begun ? w->last + 1 + more : MOST_CALLS};
            return check_torn(b, at, &numbers, error);
        }
        status = step(w, &r, error);
        w->last = r.number;
        w->out->end = at += RECORD_HEAD + (size_t)r.size;
    }
    return status;
}

oltr_status replay(const store_bytes *bytes, const oltr_load_options *options,
                   const uint64_t *name_key, replayed *out, oltr_error *error)
{
    oltr_error why = {OLTR_OK, ""};
    walk w = {.bytes = bytes, .options = options, .out = out};
    *out = (replayed){0};
    oltr_status status =
        store_image_open(bytes->image, bytes->image_size, bytes->path, &out->image, error);
    if (status != OLTR_OK)
        return status;
    out->number = out->image.number;
    out->model = oltr_model_load(out->image.model, out->image.size, options, name_key, &why);
    if (!out->model)
        return set_error(error, why.code, "%s: %s", bytes->path, why.msg);
    status = walk_log(&w, error);
    call_room_free(&w.room);
    out->continues = w.begun && (w.first == out->image.number || out->calls > 0);
    if (status != OLTR_OK) {
        oltr_model_free(out->model);
        out->model = NULL;
    }
    return status;
}

oltr_status replay_nothing(const store_bytes *bytes, oltr_error *error)
{
    size_t start;
    oltr_status status = check_start(bytes, &start, error);
    if (status == OLTR_OK && bytes->log_size > LOG_START)
        status = set_error(error, OLTR_EMISMATCH,
                           "%s is missing, and %s.log continues it: restore both files, or remove "
                           "the log to begin a new store",
                           bytes->path, bytes->path);
    return status;
}
