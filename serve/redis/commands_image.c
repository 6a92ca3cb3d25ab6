/* commands_image.c - OLTR.DUMP, LOAD and MERGE: models as bytes. */
#include "serve/redis/command_replies.h"
#include "serve/redis/commands.h"
#include "serve/redis/model_change.h"
#include "serve/redis/module_stats.h"

/* ---- DUMP */

typedef struct newer {
    bool given;
    uint64_t lessons;
} newer;

static bool read_if_newer(request *r, void *into)
{
    newer *than = into;
    than->given = true;
    return read_count(r, "IFNEWER", 0, NO_LIMIT, &than->lessons);
}

static const option dump_options[] = {{"IFNEWER", read_if_newer}};

int dump_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranker *k;
    newer than = {.given = false};
    if (!open_ranker(&r, argv[1], &k) || !READ_OPTIONS(&r, dump_options, &than))
        return RM_OK;
    if (than.given && oltr_model_lessons(k->model) <= than.lessons)
        return rm.ReplyWithNull(ctx);
    size_t bound = oltr_model_save_bound(k->model), size = 0;
    char *image = rm.TryAlloc(bound);
    if (!image)
        return refuse(&r, "OOM no memory for an image of %zu bytes", bound);
    oltr_model_save(k->model, image, bound, &size); /* cannot fail with this capacity */
    rm.ReplyWithStringBuffer(ctx, image, size);
    rm.Free(image);
    return RM_OK;
}

/* ---- images from clients */

/* Whether the caps allow the model.  Its most_items may be above oltr.max-items, as those of models
 * that were made elsewhere are: how many it gets is then bounded by its memory. */
static bool check_loaded(request *r, const ranker *k)
{
    const oltr_model_settings *s = oltr_model_settings_of(k->model);
    if (oltr_model_items(k->model) > MOST_ROOM && !r->replayed)
        return refuse(r, "TOOBIG the image has %u items, and %d are the most",
                      oltr_model_items(k->model), MOST_ROOM);
    return !s->policy.info->contextual ||
           (within_cap(r, "features of the image", s->policy.dim, CAP_DIM) &&
            within_cap(r, "candidates of the image", s->policy.n_items, CAP_CANDIDATES));
}

static bool read_image(request *r, ranker **k)
{
    oltr_error error;
    bool exceeded;
    size_t size;
    rm_string *argument = read_argument(r, "the image");
    if (!argument)
        return false;
    const char *image = rm.StringPtrLen(argument, &size);
    *k = ranker_load(image, size, budget_of(r), &exceeded, &error);
    if (!*k && error.code != OLTR_ENOMEM)
        error.code = OLTR_ECORRUPT; /* BADIMAGE, whatever the engine does not like in it */
    if (!*k)
        return refuse_error(r, &error, exceeded);
    if (check_loaded(r, *k))
        return true;
    ranker_free(*k);
    return false;
}

/* ---- LOAD */

static bool read_replace(request *r, void *into)
{
    (void)r;
    *(bool *)into = true;
    return true;
}

static const option load_options[] = {{"REPLACE", read_replace}};

/* A key that may get the value, open for writing. */
static bool open_to_load(request *r, bool replace, rm_key **key)
{
    *key = rm.OpenKey(r->ctx, r->argv[1], RM_READ | RM_WRITE);
    bool empty = rm.KeyType(*key) == RM_KEYTYPE_EMPTY;
    bool ours = !empty && rm.ModuleTypeGetType(*key) == ranker_type;
    if (empty || (ours && replace))
        return true;
    rm.CloseKey(*key);
    return replace ? refuse(r, "WRONGTYPE the key holds a value that is not a model of oltr")
                   : refuse(r, "EXISTS the key exists: choose another one, or give REPLACE");
}

int load_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 3);
    rm_key *key;
    ranker *k;
    bool replace = false;
    if (!READ_OPTIONS(&r, load_options, &replace) || !open_to_load(&r, replace, &key))
        return RM_OK;
    r.at = 2;
    bool read = read_image(&r, &k);
    if (read)
        rm.ModuleTypeSetValue(key, ranker_type, k);
    rm.CloseKey(key);
    if (!read)
        return RM_OK;
    announce(&r, "oltr.load");
    return rm.ReplyWithSimpleString(ctx, "OK");
}

/* ---- MERGE */

static bool read_merge_id(request *r, void *into)
{
    return read_id(r, into);
}

static const option merge_options[] = {{"ID", read_merge_id}};

int merge_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 3);
    ranker *k, *from;
    oltr_name id = {NULL, 0};
    int applied;
    if (!open_for_change(&r, &k) || !READ_OPTIONS(&r, merge_options, &id))
        return RM_OK;
    r.at = 2;
    if (!read_image(&r, &from))
        return RM_OK;
    model_change change = change_begin(&r, k, "oltr.merge");
    oltr_status status = oltr_model_merge(k->model, from->model, id, &applied, &change.error);
    ranker_free(from);
    return change_reply_applied(&change, status, applied, &stats.merged);
}
