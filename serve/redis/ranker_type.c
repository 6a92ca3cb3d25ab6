/* ranker_type.c - see ranker_type.h.
 *
 * There is no defrag method: the engine holds pointers into its blocks, which could be moved only
 * by copying the model.  There are no data beside the keys (aux).
 */
#include "serve/redis/ranker_type.h"

#include "serve/redis/module_stats.h"

enum { ENCODING = 1 };

rm_type *ranker_type;
uint64_t ranker_name_key[2];

ranker *ranker_new(size_t most_bytes)
{
    ranker *k = rm.TryAlloc(sizeof *k);
    if (!k)
        return NULL;
    *k = (ranker){.memory = {.most = most_bytes, .counted = true}};
    k->hook = server_memory_hook(&k->memory);
    stats.models++;
    stats.bytes += rm.MallocSize(k);
    return k;
}

void ranker_free(ranker *k)
{
    if (!k)
        return;
    oltr_model_free(k->model);
    stats.models--;
    stats.bytes -= rm.MallocSize(k);
    rm.Free(k);
}

size_t ranker_bytes(const ranker *k)
{
    return rm.MallocSize((void *)k) + k->memory.used;
}

ranker *ranker_load(const void *image, size_t size, size_t most_bytes, bool *exceeded,
                    oltr_error *error)
{
    *exceeded = false;
    *error = (oltr_error){OLTR_ENOMEM, "no memory for a model"};
    ranker *k = ranker_new(most_bytes);
    if (!k)
        return NULL;
    /* Of an image from a file the engine's own bound on what it may claim is left as it is. */
    oltr_load_options options = {.size = sizeof options,
                                 .memory = &k->hook,
                                 .most_bytes = most_bytes == UNBOUNDED ? 0 : most_bytes};
    k->model = oltr_model_load(image, size, &options, ranker_name_key, error);
    if (k->model)
        return k;
    *exceeded = k->memory.exceeded || !k->memory.starved;
    ranker_free(k);
    return NULL;
}

/* ---- the methods */

/* The image in memory of the server.  Without memory the server ends, as it does when it saves
 * values of its own: in a child process this fails the save and nothing else. */
static char *image_of(const ranker *k, size_t *size)
{
    size_t bound = oltr_model_save_bound(k->model);
    char *image = rm.Alloc(bound);
    *size = 0;
    oltr_model_save(k->model, image, bound, size); /* cannot fail with this capacity */
    return image;
}

static void *load_value(rm_io *io, int encoding)
{
    oltr_error error;
    bool exceeded;
    size_t size;
    if (encoding > ENCODING) {
        rm.LogIOError(io, "warning",
                      "oltr: the value has encoding %d, this module reads up to %d: load a newer "
                      "module",
                      encoding, ENCODING);
        return NULL;
    }
    char *image = rm.LoadStringBuffer(io, &size);
    if (!image)
        return NULL; /* the server reports it */
    ranker *k = ranker_load(image, size, UNBOUNDED, &exceeded, &error);
    rm.Free(image);
    if (!k)
        rm.LogIOError(io, "warning", "oltr: a model could not be loaded: %s", error.msg);
    return k;
}

static void save_value(rm_io *io, void *value)
{
    size_t size;
    char *image = image_of(value, &size);
    rm.SaveStringBuffer(io, image, size);
    rm.Free(image);
}

static void rewrite_value(rm_io *io, rm_string *key, void *value)
{
    size_t size;
    char *image = image_of(value, &size);
    rm.EmitAOF(io, "OLTR.LOAD", "sb", key, image, size);
    rm.Free(image);
}

static void digest_value(rm_digest *digest, void *value)
{
    size_t size;
    char *image = image_of(value, &size);
    rm.DigestAddStringBuffer(digest, image, size);
    rm.DigestEndSequence(digest);
    rm.Free(image);
}

static void *copy_value(rm_string *from, rm_string *to, const void *value)
{
    (void)from;
    (void)to;
    ranker *copy = ranker_new(UNBOUNDED);
    if (copy)
        copy->model = oltr_model_copy(((const ranker *)value)->model, &copy->hook, NULL);
    if (copy && copy->model)
        return copy;
    ranker_free(copy);
    return NULL;
}

static size_t memory_of_value(const void *value)
{
    return ranker_bytes(value);
}

static void free_value(void *value)
{
    ranker_free(value);
}

/* A model is a dozen blocks; the time to free it is that of returning their pages.  The server
 * frees in the background beyond 64: 256 kB. */
static size_t effort_of_value(rm_string *key, const void *value)
{
    (void)key;
    return 1 + ranker_bytes(value) / 4096; /* the server takes 0 as: always in the background */
}

int ranker_type_register(rm_ctx *ctx)
{
    rm_type_methods methods = {.version = RM_TYPE_METHODS,
                               .rdb_load = load_value,
                               .rdb_save = save_value,
                               .aof_rewrite = rewrite_value,
                               .mem_usage = memory_of_value,
                               .digest = digest_value,
                               .free = free_value,
                               .free_effort = effort_of_value,
                               .copy = copy_value};
    rm.GetRandomBytes((unsigned char *)ranker_name_key, sizeof ranker_name_key);
    ranker_type = rm.CreateDataType(ctx, "oltrmodel", ENCODING, &methods);
    return ranker_type ? RM_OK : RM_ERR;
}
