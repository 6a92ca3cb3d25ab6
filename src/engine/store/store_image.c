/* store_image.c - see store_image.h. */
#include "engine/store/store_image.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/kernels/table.h"
#include "engine/store/record.h"

static const char magic[8] = "OLTRSTOR";
enum { FORMAT = 1, HEADER = 8 + 4 + 4 + 8 + 8, CHECKSUM = 8 };

/* Writes the envelope around an image of `written` bytes that is in its place. */
static void put_envelope(unsigned char *bytes, size_t written, uint64_t number)
{
    writer w = {bytes, HEADER + written + CHECKSUM, 0};
    put_bytes(&w, magic, sizeof magic);
    put_u32(&w, FORMAT);
    put_u32(&w, 0);
    put_u64(&w, w.capacity);
    put_u64(&w, number);
    w.used += written;
    put_u64(&w, crc64(bytes, w.used));
}

oltr_status store_image_make(const oltr_model *model, uint64_t number, unsigned char **bytes,
                             size_t *size, store_image *out, oltr_error *error)
{
    size_t bound = oltr_model_save_bound(model), written = 0;
    *bytes = bound <= SIZE_MAX - HEADER - CHECKSUM ? malloc(HEADER + bound + CHECKSUM) : NULL;
    if (!*bytes)
        return set_error(error, OLTR_ENOMEM, "no memory for the %zu bytes of the image", bound);
    unsigned char *image = *bytes + HEADER;
    oltr_status status = oltr_model_save(model, image, bound, &written);
    if (status != OLTR_OK) {
        free(*bytes);
        *bytes = NULL;
        return set_error(error, status, "the model cannot be saved: %s", oltr_strerror(status));
    }
    put_envelope(*bytes, written, number);
    *size = HEADER + written + CHECKSUM;
    *out = (store_image){number, image, written, KERNEL(checksum32)(image, written)};
    return OLTR_OK;
}

/* The envelope: everything but the model. */
static oltr_status check_envelope(reader r, const unsigned char *bytes, size_t size,
                                  const char *path, oltr_error *error)
{
    uint32_t format = get_u32(&r), reserved = get_u32(&r);
    uint64_t length = get_u64(&r), number = get_u64(&r);
    if (r.failed || r.left < CHECKSUM)
        return set_error(error, OLTR_ETRUNCATED,
                         "%s is cut short: %zu bytes are not even its header; take a copy of it",
                         path, size);
    if (format > FORMAT)
        return set_error(error, OLTR_EVERSION,
                         "%s has format %u, this oltr reads up to %d: open it with a newer oltr",
                         path, format, FORMAT);
    if (length != size)
        return set_error(error, OLTR_ETRUNCATED,
                         "%s is %zu bytes long, but its header has %llu: it is not whole; take a "
                         "copy of it",
                         path, size, (unsigned long long)length);
    reader end = {bytes + size - CHECKSUM, CHECKSUM, false};
    if (get_u64(&end) != crc64(bytes, size - CHECKSUM))
        return set_error(error, OLTR_ECHECKSUM,
                         "%s is damaged: its checksum does not match; take a copy of it", path);
    if (format < 1 || reserved != 0 || number > MOST_CALLS)
        return set_error(error, OLTR_ECORRUPT,
                         "the checksum of %s is right, but its header is not valid in this oltr",
                         path);
    return OLTR_OK;
}

oltr_status store_image_open(const unsigned char *bytes, size_t size, const char *path,
                             store_image *out, oltr_error *error)
{
    reader r = {bytes, size, false};
    char found[sizeof magic];
    get_bytes(&r, found, sizeof found);
    if (r.failed || memcmp(found, magic, sizeof magic) != 0)
        return set_error(error, OLTR_EMAGIC,
                         "%s is not a store of oltr: it does not begin with OLTRSTOR", path);
    oltr_status status = check_envelope(r, bytes, size, path, error);
    if (status != OLTR_OK)
        return status;
    reader number = {bytes + HEADER - 8, 8, false};
    size_t model = size - HEADER - CHECKSUM;
    *out = (store_image){get_u64(&number), bytes + HEADER, model,
                         KERNEL(checksum32)(bytes + HEADER, model)};
    return OLTR_OK;
}
