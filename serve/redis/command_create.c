/* command_create.c - OLTR.CREATE: a new model from settings, or from what another one believes. */
#include <string.h>

#include "serve/redis/command_replies.h"
#include "serve/redis/commands.h"
#include "serve/redis/model_change.h"

typedef struct creation {
    oltr_model_settings settings;
    uint64_t capacity;
    bool most_given;
} creation;

/* ---- options */

/* An option that the engine reads by its own name, after the cap was checked. */
static bool set_option(request *r, creation *c, const char *name)
{
    char text[TEXT_SIZE];
    oltr_error error;
    if (!read_text(r, "BADARG", name, text))
        return false;
    for (char *at = text; *at; at++) /* words in any case; numbers have no letters */
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    return oltr_model_settings_set(&c->settings, name, text, &error) == OLTR_OK ||
           refuse_error(r, &error, false);
}

/* The same for a number that has a cap: one that the engine would refuse too is too big first. */
static bool set_capped(request *r, creation *c, const char *name, cap_id cap)
{
    uint32_t value;
    request ahead = *r;
    return read_capped(&ahead, name, 1, cap, &value) && set_option(r, c, name);
}

static bool read_dim(request *r, void *into)
{
    return set_capped(r, into, "dim", CAP_DIM);
}

static bool read_candidates(request *r, void *into)
{
    return set_capped(r, into, "candidates", CAP_CANDIDATES);
}

static bool read_window(request *r, void *into)
{
    return set_option(r, into, "window");
}

static bool read_examine(request *r, void *into)
{
    return set_option(r, into, "examine");
}

static bool read_room(request *r, const char *what, uint64_t *to)
{
    if (!read_count(r, what, 0, NO_LIMIT, to))
        return false;
    return *to <= (r->replayed ? UINT32_MAX : MOST_ROOM) ||
           refuse(r, "TOOBIG %s: at most %d", what, MOST_ROOM);
}

static bool read_most_items(request *r, void *into)
{
    creation *c = into;
    uint64_t n;
    if (!read_room(r, "MAXITEMS", &n))
        return false;
    c->settings.most_items = (uint32_t)n;
    c->most_given = true;
    return true;
}

static bool read_capacity(request *r, void *into)
{
    return read_room(r, "CAPACITY", &((creation *)into)->capacity);
}

static bool read_prior(request *r, void *into)
{
    double *pair = ((creation *)into)->settings.prior;
    return read_number(r, "BADPRIOR", "the first number of PRIOR", &pair[0]) &&
           read_number(r, "BADPRIOR", "the second number of PRIOR", &pair[1]);
}

/* name value ..., to the end: parameters of the kind. */
static bool read_parameters(request *r, void *into)
{
    char name[TEXT_SIZE], value[TEXT_SIZE];
    oltr_error error;
    do {
        if (!read_text(r, "BADPARAM", "the name of a parameter", name) ||
            !read_text(r, "BADPARAM", "the value of a parameter", value))
            return false;
        if (oltr_settings_set(&((creation *)into)->settings.policy, name, value, &error) !=
            OLTR_OK) {
            error.code = error.code == OLTR_EVALUE ? OLTR_EPARAM : error.code;
            return refuse_error(r, &error, false);
        }
    } while (arguments_left(r) > 0);
    return true;
}

static const option create_options[] = {
    {"DIM", read_dim},           {"CANDIDATES", read_candidates},
    {"CAPACITY", read_capacity}, {"MAXITEMS", read_most_items},
    {"WINDOW", read_window},     {"EXAMINE", read_examine},
    {"PRIOR", read_prior},       {"SET", read_parameters},
};

/* More items than oltr.max-items only where the room for them is made now. */
static bool check_most_items(request *r, creation *c)
{
    uint32_t cap = (uint32_t)module_caps[CAP_ITEMS].value;
    if (!c->most_given)
        c->settings.most_items = c->capacity > cap ? (uint32_t)c->capacity : cap;
    if (r->replayed || c->settings.most_items <= cap || c->settings.most_items == c->capacity)
        return true;
    return refuse(r,
                  "TOOBIG MAXITEMS is %u, and oltr.max-items is %u: more need room at once, so "
                  "give CAPACITY the same number",
                  c->settings.most_items, cap);
}

static bool read_creation(request *r, creation *c)
{
    char kind[TEXT_SIZE];
    oltr_error error;
    if (!read_text(r, "BADKIND", "the kind", kind))
        return false;
    *c = (creation){.capacity = 0};
    if (oltr_model_settings_init(&c->settings, kind, &error) != OLTR_OK)
        return refuse_error(r, &error, false);
    memcpy(c->settings.name_key, ranker_name_key, sizeof ranker_name_key);
    return READ_OPTIONS(r, create_options, c) && check_most_items(r, c);
}

/* ---- making models */

/* A key that does not exist, open for writing. */
static bool open_new(request *r, rm_key **key)
{
    *key = rm.OpenKey(r->ctx, r->argv[1], RM_READ | RM_WRITE);
    if (rm.KeyType(*key) == RM_KEYTYPE_EMPTY)
        return true;
    rm.CloseKey(*key);
    return refuse(r, "EXISTS the key exists: choose another one, or delete it first");
}

static bool make_model(ranker *k, creation *c, oltr_error *error)
{
    c->settings.policy.memory = &k->hook;
    k->model = oltr_model_new(&c->settings, error);
    return k->model &&
           (!c->capacity || oltr_model_reserve(k->model, (uint32_t)c->capacity, error) == OLTR_OK);
}

static int store_new(request *r, rm_key *key, ranker *k, bool made, const oltr_error *error)
{
    if (made)
        rm.ModuleTypeSetValue(key, ranker_type, k);
    rm.CloseKey(key);
    if (made)
        return RM_OK;
    reply_error(r, error, k && k->memory.exceeded);
    ranker_free(k);
    return RM_ERR;
}

/* Replicas may have another oltr.max-items, so they get the number that was the default here. */
static void replicate_creation(request *r, const creation *c)
{
    if (c->most_given)
        rm.ReplicateVerbatim(r->ctx);
    else
        rm.Replicate(r->ctx, "OLTR.CREATE",
                     "sscl"
                     "v",
                     r->argv[1], r->argv[2], "MAXITEMS", (long long)c->settings.most_items,
                     r->argv + 3, (size_t)(r->argc - 3));
}

static int create_kind(request *r)
{
    creation c;
    rm_key *key;
    oltr_error error = {OLTR_ENOMEM, ""};
    if (!read_creation(r, &c) || !open_new(r, &key))
        return RM_OK;
    ranker *k = ranker_new(budget_of(r));
    if (store_new(r, key, k, k && make_model(k, &c, &error), &error) != RM_OK)
        return RM_OK;
    replicate_creation(r, &c);
    announce_here(r, "oltr.create");
    return rm.ReplyWithSimpleString(r->ctx, "OK");
}

static bool read_strength(request *r, void *into)
{
    return read_number(r, "BADARG", "STRENGTH", into);
}

static const option like_options[] = {{"STRENGTH", read_strength}};

static int create_like(request *r)
{
    rm_string *name = read_argument(r, "the key of the parent");
    rm_key *key;
    ranker *parent;
    double strength = 1;
    oltr_error error = {OLTR_ENOMEM, ""};
    if (!name || !READ_OPTIONS(r, like_options, &strength) || !open_ranker(r, name, &parent) ||
        !open_new(r, &key))
        return RM_OK;
    ranker *k = ranker_new(budget_of(r));
    if (k)
        k->model = oltr_model_like(parent->model, strength, &k->hook, &error);
    if (store_new(r, key, k, k && k->model, &error) != RM_OK)
        return RM_OK;
    announce(r, "oltr.create");
    return rm.ReplyWithSimpleString(r->ctx, "OK");
}

/* The server asks which arguments are keys; nothing is made. */
static int name_keys(request *r)
{
    rm.KeyAtPosWithFlags(r->ctx, 1, RM_KEY_OW | RM_KEY_INSERT);
    if (take_word(r, "LIKE") && r->argc > 3)
        rm.KeyAtPosWithFlags(r->ctx, 3, RM_KEY_RO | RM_KEY_ACCESS);
    return RM_OK;
}

int create_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    if (rm.IsKeysPositionRequest(ctx))
        return name_keys(&r);
    return take_word(&r, "LIKE") ? create_like(&r) : create_kind(&r);
}
