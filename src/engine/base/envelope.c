/* envelope.c - see envelope.h. */
#include "engine/base/envelope.h"

#include <string.h>

void put_envelope_front(writer *w, const envelope *e, uint64_t length)
{
    put_bytes(w, e->magic, ENVELOPE_MAGIC);
    put_u32(w, e->newest);
    put_u32(w, 0);
    put_u64(w, length);
}

oltr_status envelope_open(const envelope *e, const void *bytes, size_t size, const char *subject,
                          const char *noun, opened_image *out, oltr_error *error)
{
    reader r = {bytes, size, false};
    const unsigned char *magic = get_place(&r, ENVELOPE_MAGIC);
    if (!magic || memcmp(magic, e->magic, ENVELOPE_MAGIC) != 0)
        return set_error(error, OLTR_EMAGIC, "%s is not %s: it does not begin with %s", subject,
                         e->kind, e->magic);
    if (size < e->header)
        return set_error(error, OLTR_ETRUNCATED,
                         "%s is cut short: %zu bytes are not even its header%s", noun, size,
                         e->advice);
    uint32_t format = get_u32(&r), zero = get_u32(&r);
    uint64_t length = get_u64(&r);
    if (format > e->newest)
        return set_error(error, OLTR_EVERSION,
                         "%s has format %u, this oltr reads up to %u: %s it with a newer oltr",
                         noun, format, e->newest, e->load);
    if (length != size || size < ENVELOPE_FRONT + ENVELOPE_END)
        return set_error(error, OLTR_ETRUNCATED,
                         "%s is %zu bytes long, but its header has %llu: it is not whole%s", noun,
                         size, (unsigned long long)length, e->advice);
    reader end = {r.at + r.left - ENVELOPE_END, ENVELOPE_END, false};
    if (get_u64(&end) != crc64(bytes, size - ENVELOPE_END))
        return set_error(error, OLTR_ECHECKSUM, "%s is damaged: its checksum does not match; %s",
                         noun, e->copy);
    r.left -= ENVELOPE_END;
    *out = (opened_image){r, format, format >= 1 && zero == 0};
    return OLTR_OK;
}
