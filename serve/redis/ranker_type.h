/* ranker_type.h - the value of a key: a model with the memory that it may take, and the key type
 * `oltrmodel` that saves, loads, copies and frees it.
 *
 * Every form in which a value leaves the server is the one byte image of oltr_model_save().
 */
#ifndef OLTR_SERVE_REDIS_RANKER_TYPE_H
#define OLTR_SERVE_REDIS_RANKER_TYPE_H

#include <oltr/model.h>

#include "serve/redis/module_api.h"
#include "serve/redis/server_memory.h"

typedef struct ranker {
    oltr_model *model;
    server_memory memory;
    oltr_memory hook; /* on it */
} ranker;

extern rm_type *ranker_type;
int ranker_type_register(rm_ctx *ctx);

/* An empty ranker, whose model is to be made with its memory; NULL without memory. */
ranker *ranker_new(size_t most_bytes);
void ranker_free(ranker *k); /* also without a model */
size_t ranker_bytes(const ranker *k);

/* Keys the hash of names; random in each process. */
extern uint64_t ranker_name_key[2];

/* Loads an image into a new ranker; NULL with the reason in error, and in *exceeded whether the
 * bound was the reason. */
ranker *ranker_load(const void *image, size_t size, size_t most_bytes, bool *exceeded,
                    oltr_error *error);

#define UNBOUNDED SIZE_MAX

#endif
