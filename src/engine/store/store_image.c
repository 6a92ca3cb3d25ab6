/* store_image.c - see store_image.h. */
#include "engine/store/store_image.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/envelope.h"
#include "engine/kernels/table.h"
#include "engine/store/record.h"

enum { HEADER = ENVELOPE_FRONT + 8 };
static const envelope store_envelope = {.magic = "OLTRSTOR",
                                        .newest = 1,
                                        .header = HEADER + ENVELOPE_END,
                                        .kind = "a store of oltr",
                                        .load = "open",
                                        .advice = "; take a copy of it",
                                        .copy = "take a copy of it"};

/* Writes the envelope around an image of `written` bytes that is in its place. */
static void put_envelope(unsigned char *bytes, size_t written, uint64_t number)
{
    writer w = {bytes, HEADER + written + ENVELOPE_END, 0};
    put_envelope_front(&w, &store_envelope, w.capacity);
    put_u64(&w, number);
    w.used += written;
    put_u64(&w, crc64(bytes, w.used));
}

oltr_status store_image_make(const oltr_model *model, uint64_t number, unsigned char **bytes,
                             size_t *size, store_image *out, oltr_error *error)
{
    size_t bound = oltr_model_save_bound(model), written = 0;
    *bytes =
        bound <= SIZE_MAX - HEADER - ENVELOPE_END ? malloc(HEADER + bound + ENVELOPE_END) : NULL;
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
    *size = HEADER + written + ENVELOPE_END;
    *out = (store_image){number, image, written, KERNEL(checksum32)(image, written)};
    return OLTR_OK;
}

oltr_status store_image_open(const unsigned char *bytes, size_t size, const char *path,
                             store_image *out, oltr_error *error)
{
    opened_image file;
    oltr_status status = envelope_open(&store_envelope, bytes, size, path, path, &file, error);
    if (status != OLTR_OK)
        return status;
    uint64_t number = get_u64(&file.content);
    if (!file.valid || number > MOST_CALLS)
        return set_error(error, OLTR_ECORRUPT,
                         "the checksum of %s is right, but its header is not valid in this oltr",
                         path);
    const reader *model = &file.content;
    *out =
        (store_image){number, model->at, model->left, KERNEL(checksum32)(model->at, model->left)};
    return OLTR_OK;
}
