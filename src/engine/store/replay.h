/* replay.h - a model from the bytes of both files of a store. */
#ifndef OLTR_ENGINE_STORE_REPLAY_H
#define OLTR_ENGINE_STORE_REPLAY_H

#include <stdbool.h>

#include <oltr/model.h>

#include "engine/base/error.h"
#include "engine/store/store_image.h"

/* The first bytes of a log.  The last of them is its format. */
#define LOG_MAGIC "OLTRLOG1"
enum { LOG_START = 8 };

/* What was read.  Without a log, log_size is 0. */
typedef struct store_bytes {
    const char *path; /* of the image, and the log is PATH.log: for messages */
    const unsigned char *image, *log;
    size_t image_size, log_size;
} store_bytes;

typedef struct replayed {
    oltr_model *model;
    store_image image; /* the content of the image; refers to its bytes */
    uint64_t number;   /* of the last call in the model */
    uint64_t calls;    /* taken from the log */
    size_t end;        /* of the whole records; what is behind is torn */
    bool continues;    /* the log is that of this image, and may be written on from `end` */
} replayed;

/* Loads the image and does the calls of the log that it does not have.  On any status but OLTR_OK
 * there is no model. */
oltr_status replay(const store_bytes *bytes, const oltr_load_options *options,
                   const uint64_t *name_key, replayed *out, oltr_error *error);

/* Without an image: OLTR_OK if the log was never that of one, so that a store may be made. */
oltr_status replay_nothing(const store_bytes *bytes, oltr_error *error);

#endif
