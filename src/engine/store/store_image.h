/* store_image.h - the file PATH of a store: the image of a model and the number of its last call.
 *
 * Little-endian:
 *   "OLTRSTOR"   u32 format, 1   u32 0   u64 length of the whole file   u64 number of the last call
 *   the image of the model, as oltr_model_save() writes it
 *   u64 CRC-64 of all before it
 */
#ifndef OLTR_ENGINE_STORE_IMAGE_H
#define OLTR_ENGINE_STORE_IMAGE_H

#include <oltr/model.h>

#include "engine/base/error.h"

typedef struct store_image {
    uint64_t number;
    const unsigned char *model; /* its image */
    size_t size;
    uint32_t crc; /* CRC-32C of the model's image, by which a log finds the image it continues */
} store_image;

/* The file in new memory for free(), and what is in it. */
oltr_status store_image_make(const oltr_model *model, uint64_t number, unsigned char **bytes,
                             size_t *size, store_image *out, oltr_error *error);
/* The content of a file.  `path` is for messages. */
oltr_status store_image_open(const unsigned char *bytes, size_t size, const char *path,
                             store_image *out, oltr_error *error);

#endif
