/* fake_api.c - the entries of the module API that the fake server has.
 *
 * Each does what Redis 7.0 does, as far as a module can see, and reports what a real server would
 * not survive or would tell nobody.  The table at the end is what GetApi() looks names up in.
 */
#define _GNU_SOURCE 1
#include "fake_parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- loading */

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[n] == 0 || at[n] == ' '))
            return true;
    return false;
}

static int create_command(RedisModuleCtx *ctx, const char *name, command_function call,
                          const char *flags, int first, int last, int step)
{
    fake_server *s = ctx->server;
    (void)step;
    if (s->n_commands == MOST_COMMANDS || strlen(name) >= sizeof s->command->name)
        fake_fault("too many commands, or too long a name: %s", name);
    RedisModuleCommand *c = &s->command[s->n_commands++];
    *c = (RedisModuleCommand){.call = call,
                              .writes = has_word(flags, "write"),
                              .reads = has_word(flags, "readonly"),
                              .asked = has_word(flags, "getkeys-api")};
    snprintf(c->name, sizeof c->name, "%s", name);
    if (c->writes && c->reads)
        fake_fault("%s is declared to read only and to write", name);
    if (first > 0) {
        c->n_specs = 1;
        c->spec[0].from = first;
        c->spec[0].flags = c->writes ? KEY_RW : KEY_RO;
        if (last != first)
            fake_fault("%s: keys %d to %d; the test knows one", name, first, last);
    }
    return API_OK;
}

static RedisModuleCommand *get_command(RedisModuleCtx *ctx, const char *name)
{
    for (uint32_t i = 0; i < ctx->server->n_commands; i++)
        if (strcasecmp(ctx->server->command[i].name, name) == 0)
            return &ctx->server->command[i];
    return NULL;
}

static int set_command_info(RedisModuleCommand *c, const command_info *info)
{
    if (!info->version || info->version->version != 1 ||
        info->version->size_of_key_spec != sizeof(key_spec))
        fake_fault("%s: the layout of its command info is not that of Redis 7.0", c->name);
    if (!info->summary || !info->complexity || !info->since)
        fake_fault("%s has no summary, complexity or since", c->name);
    c->has_info = true;
    c->arity = info->arity;
    c->n_specs = 0;
    for (const key_spec *k = info->key_specs; k && k->begin_search_type; k++) {
        if (c->n_specs == MOST_SPECS || k->find_keys_type != FIND_RANGE || k->fk.range.lastkey != 0)
            fake_fault("%s: a key spec that the test does not know", c->name);
        c->spec[c->n_specs].by_keyword = k->begin_search_type == SEARCH_KEYWORD;
        c->spec[c->n_specs].flags = k->flags;
        if (k->begin_search_type == SEARCH_KEYWORD) {
            snprintf(c->spec[c->n_specs].keyword, sizeof c->spec->keyword, "%s",
                     k->bs.keyword.keyword);
            c->spec[c->n_specs].from = k->bs.keyword.startfrom;
        } else {
            c->spec[c->n_specs].from = k->bs.index.pos;
        }
        c->n_specs++;
    }
    return API_OK;
}

static void set_module_attribs(RedisModuleCtx *ctx, const char *name, int version, int api)
{
    (void)ctx, (void)version;
    if (api != 1 || strcmp(name, "oltr") != 0)
        fake_fault("a module called %s, for version %d of the API", name, api);
}

static int is_module_name_busy(const char *name)
{
    (void)name;
    return 0;
}

static void set_module_options(RedisModuleCtx *ctx, int options)
{
    ctx->server->options = options;
}

static RedisModuleType *create_data_type(RedisModuleCtx *ctx, const char *name, int encver,
                                         type_methods *methods)
{
    RedisModuleType *t = &ctx->server->type;
    size_t size = methods->version >= 4   ? sizeof *methods
                  : methods->version >= 3 ? offsetof(type_methods, mem_usage2)
                                          : offsetof(type_methods, free_effort);
    if (strlen(name) != 9 || ctx->server->has_type)
        return NULL;
    snprintf(t->name, sizeof t->name, "%s", name);
    t->encver = encver;
    memcpy(&t->methods, methods, size);
    ctx->server->has_type = true;
    return t;
}

static int register_numeric_config(RedisModuleCtx *ctx, const char *name, long long initial,
                                   unsigned flags, long long low, long long high, get_number get,
                                   set_number_function set, apply_function apply, void *data)
{
    fake_server *s = ctx->server;
    (void)flags;
    if (s->n_configs == MOST_CONFIGS || initial < low || initial > high)
        fake_fault("%s: too many settings, or its default is not allowed", name);
    stored_config *c = &s->config[s->n_configs++];
    *c = (stored_config){.low = low, .high = high, .get = get, .set = set, .apply = apply};
    c->data = data;
    snprintf(c->name, sizeof c->name, "%s", name);
    return set ? set(name, initial, data, NULL) : API_OK;
}

static int load_configs(RedisModuleCtx *ctx)
{
    ctx->server->configs_loaded = true;
    return API_OK;
}

static int register_info_func(RedisModuleCtx *ctx, info_function call)
{
    ctx->server->info = call;
    return API_OK;
}

static int get_server_version(void)
{
    return 0x0007000f;
}

static int get_type_method_version(void)
{
    return 4;
}

static int get_context_flags_all(void)
{
    return (1 << 24) - 1;
}

/* ---- strings */

static RedisModuleString *create_string(RedisModuleCtx *ctx, const char *at, size_t size)
{
    return new_string(ctx->server, at, size);
}

__attribute__((format(printf, 2, 3))) static RedisModuleString *
create_string_printf(RedisModuleCtx *ctx, const char *format, ...)
{
    char room[1024];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(room, sizeof room, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof room)
        fake_fault("a formatted string of %d bytes", n);
    return new_string(ctx->server, room, (size_t)n);
}

static RedisModuleString *create_string_from_long_long(RedisModuleCtx *ctx, long long x)
{
    return create_string_printf(ctx, "%lld", x);
}

static void free_string(RedisModuleCtx *ctx, RedisModuleString *x)
{
    for (uint32_t i = 0; ctx && i < ctx->argc; i++)
        if (ctx->argv[i] == x && x->references == 1)
            fake_fault("an argument of the command is freed");
    drop_string(x);
}

static void retain_string(RedisModuleCtx *ctx, RedisModuleString *x)
{
    (void)ctx;
    hold_string(x);
}

static RedisModuleString *hold_string_entry(RedisModuleCtx *ctx, RedisModuleString *x)
{
    retain_string(ctx, x);
    return x;
}

static const char *string_ptr_len(const RedisModuleString *x, size_t *size)
{
    text t = text_of_string(x);
    if (size)
        *size = t.size;
    return t.bytes;
}

/* As text with a NUL, where it is short. */
static bool as_text(const RedisModuleString *x, char room[256])
{
    text t = text_of_string(x);
    if (t.size == 0 || t.size >= 256 || memchr(t.bytes, 0, t.size))
        return false;
    memcpy(room, t.bytes, t.size);
    room[t.size] = 0;
    return true;
}

/* The number must be written as the server writes it. */
static int string_to_long_long(const RedisModuleString *x, long long *out)
{
    char room[256], again[32];
    if (!as_text(x, room))
        return API_ERR;
    errno = 0;
    long long n = strtoll(room, NULL, 10);
    snprintf(again, sizeof again, "%lld", n);
    if (errno || strcmp(room, again) != 0)
        return API_ERR;
    *out = n;
    return API_OK;
}

static int string_to_ulong_long(const RedisModuleString *x, unsigned long long *out)
{
    char room[256], again[32];
    if (!as_text(x, room))
        return API_ERR;
    errno = 0;
    unsigned long long n = strtoull(room, NULL, 10);
    snprintf(again, sizeof again, "%llu", n);
    if (errno || strcmp(room, again) != 0)
        return API_ERR;
    *out = n;
    return API_OK;
}

static int string_to_double(const RedisModuleString *x, double *out)
{
    char room[256], *end;
    if (!as_text(x, room) || isspace((unsigned char)room[0]))
        return API_ERR;
    errno = 0;
    double n = strtod(room, &end);
    if (*end || (errno == ERANGE && (isinf(n) || (n >= 0 && n <= 0))) || isnan(n))
        return API_ERR;
    *out = n;
    return API_OK;
}

static int string_compare(RedisModuleString *a, RedisModuleString *b)
{
    text x = text_of_string(a), y = text_of_string(b);
    size_t n = x.size < y.size ? x.size : y.size;
    int order = n ? memcmp(x.bytes, y.bytes, n) : 0;
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

/* ---- replies */

static reply_builder *builder_of(RedisModuleCtx *ctx)
{
    if (!ctx->command || ctx->asking)
        fake_fault("a reply outside of a command");
    return &ctx->server->reply;
}

static int reply_with_words(RedisModuleCtx *ctx, reply_type type, const char *at, size_t size)
{
    add_reply(builder_of(ctx), (reply){.type = type, .words = {at, size}});
    return API_OK;
}

static int reply_with_error(RedisModuleCtx *ctx, const char *words)
{
    return reply_with_words(ctx, REPLY_ERROR, words, strlen(words));
}

static int reply_with_simple_string(RedisModuleCtx *ctx, const char *words)
{
    return reply_with_words(ctx, REPLY_STATUS, words, strlen(words));
}

static int reply_with_string_buffer(RedisModuleCtx *ctx, const char *at, size_t size)
{
    return reply_with_words(ctx, REPLY_BULK, at, size);
}

static int reply_with_c_string(RedisModuleCtx *ctx, const char *words)
{
    return reply_with_words(ctx, REPLY_BULK, words, strlen(words));
}

static int reply_with_string(RedisModuleCtx *ctx, RedisModuleString *x)
{
    text t = text_of_string(x);
    return reply_with_words(ctx, REPLY_BULK, t.bytes, t.size);
}

static int reply_with_empty_string(RedisModuleCtx *ctx)
{
    return reply_with_words(ctx, REPLY_BULK, "", 0);
}

static int reply_with_long_long(RedisModuleCtx *ctx, long long x)
{
    add_reply(builder_of(ctx), (reply){.type = REPLY_INTEGER, .integer = x});
    return API_OK;
}

static int reply_with_double(RedisModuleCtx *ctx, double x)
{
    add_reply(builder_of(ctx), (reply){.type = REPLY_DOUBLE, .number = x});
    return API_OK;
}

static int reply_with_null(RedisModuleCtx *ctx)
{
    add_reply(builder_of(ctx), (reply){.type = REPLY_NULL});
    return API_OK;
}

static int reply_with_array(RedisModuleCtx *ctx, long n)
{
    add_container(builder_of(ctx), REPLY_ARRAY, n);
    return API_OK;
}

static int reply_with_map(RedisModuleCtx *ctx, long n)
{
    add_container(builder_of(ctx), REPLY_MAP, n);
    return API_OK;
}

static int reply_with_empty_array(RedisModuleCtx *ctx)
{
    return reply_with_array(ctx, 0);
}

static void reply_set_array_length(RedisModuleCtx *ctx, long n)
{
    set_length(builder_of(ctx), REPLY_ARRAY, n);
}

static void reply_set_map_length(RedisModuleCtx *ctx, long n)
{
    set_length(builder_of(ctx), REPLY_MAP, n);
}

static int wrong_arity(RedisModuleCtx *ctx)
{
    return reply_with_error(ctx, "ERR wrong number of arguments for the command");
}

/* ---- keys */

static uint64_t flags_of_key(const RedisModuleCtx *ctx, text name)
{
    const RedisModuleCommand *c = ctx->command;
    uint64_t flags = 0;
    for (uint32_t i = 0; c->asked && i < ctx->n_positions; i++)
        if (same_text(text_of_string(ctx->argv[ctx->position[i].at]), name))
            flags |= ctx->position[i].flags;
    for (uint32_t i = 0; !c->asked && i < c->n_specs; i++) {
        uint32_t at = (uint32_t)c->spec[i].from;
        if (c->spec[i].by_keyword) { /* forward from there */
            while (at < ctx->argc && (ctx->argv[at]->size != strlen(c->spec[i].keyword) ||
                                      strncasecmp(text_of_string(ctx->argv[at]).bytes,
                                                  c->spec[i].keyword, ctx->argv[at]->size) != 0))
                at++;
            at++;
        }
        if (at < ctx->argc && same_text(text_of_string(ctx->argv[at]), name))
            flags |= c->spec[i].flags;
    }
    return flags;
}

static RedisModuleKey *open_key(RedisModuleCtx *ctx, RedisModuleString *name, int mode)
{
    uint64_t declared = ctx->command ? flags_of_key(ctx, text_of_string(name)) : KEY_RW;
    if (!declared)
        fake_fault("%s opens a key that no key spec names", ctx->command->name);
    if ((mode & KEY_WRITE) && (!ctx->command->writes || !(declared & (KEY_RW | KEY_OW | KEY_RM))))
        fake_fault("%s opens a key to write, and is declared to read it", ctx->command->name);
    if (!(mode & KEY_WRITE) && !find_key(ctx->server, text_of_string(name)))
        return NULL;
    RedisModuleKey *k = own_block(sizeof *k);
    *k = (RedisModuleKey){ctx->server, ctx->keys, name, mode};
    hold_string(name);
    ctx->keys = k;
    return k;
}

static int key_exists(RedisModuleCtx *ctx, RedisModuleString *name)
{
    return find_key(ctx->server, text_of_string(name)) != NULL;
}

static void close_key(RedisModuleKey *key)
{
    if (!key)
        return;
    RedisModuleKey **at = &key->server->ctx.keys;
    while (*at && *at != key)
        at = &(*at)->next;
    if (!*at)
        fake_fault("a key is closed that is not open");
    *at = key->next;
    drop_string(key->name);
    own_free(key);
}

static stored_key *stored(const RedisModuleKey *key)
{
    return key ? find_key(key->server, text_of_string(key->name)) : NULL;
}

static int key_type(RedisModuleKey *key)
{
    const stored_key *k = stored(key);
    return !k ? TYPE_EMPTY : k->value ? TYPE_MODULE : TYPE_STRING;
}

static RedisModuleType *module_type_get_type(RedisModuleKey *key)
{
    return key_type(key) == TYPE_MODULE ? &key->server->type : NULL;
}

static void *module_type_get_value(RedisModuleKey *key)
{
    return key_type(key) == TYPE_MODULE ? stored(key)->value : NULL;
}

static void must_write(const RedisModuleKey *key)
{
    if (!(key->mode & KEY_WRITE))
        fake_fault("a key that was opened to read is written");
}

static int module_type_set_value(RedisModuleKey *key, RedisModuleType *type, void *value)
{
    must_write(key);
    if (type != &key->server->type)
        fake_fault("a value of another type is stored");
    stored_key *k = stored(key);
    if (k)
        drop_value(key->server, k);
    else
        k = make_key(key->server, text_of_string(key->name));
    k->value = value;
    return API_OK;
}

static int module_type_replace_value(RedisModuleKey *key, RedisModuleType *type, void *value,
                                     void **old)
{
    must_write(key);
    stored_key *k = stored(key);
    if (!k || !k->value || type != &key->server->type)
        return API_ERR;
    if (old)
        *old = k->value;
    k->value = value;
    return API_OK;
}

static int delete_key(RedisModuleKey *key)
{
    must_write(key);
    stored_key *k = stored(key);
    if (k) {
        drop_key(key->server, k);
        key->server->effects.deleted_key = true;
    }
    return API_OK;
}

static const RedisModuleString *get_key_name_from_module_key(RedisModuleKey *key)
{
    return key ? key->name : NULL;
}

/* ---- effects */

/* What the replicas get. */
static void send_argument(fake_server *s, const void *at, size_t size)
{
    s->sent = own_larger(s->sent, (s->n_sent + 1) * sizeof *s->sent);
    s->sent[s->n_sent++] = new_string(s, at, size);
}

static int replicate_verbatim(RedisModuleCtx *ctx)
{
    fake_server *s = ctx->server;
    if (s->effects.replicated++)
        fake_fault("%s is replicated twice", ctx->command->name);
    for (uint32_t i = 0; i < ctx->argc; i++) {
        text t = text_of_string(ctx->argv[i]);
        send_argument(s, t.bytes, t.size);
    }
    return API_OK;
}

static void send_long_long(fake_server *s, long long x)
{
    char room[32];
    send_argument(s, room, (size_t)snprintf(room, sizeof room, "%lld", x));
}

static void send_string(fake_server *s, const RedisModuleString *x)
{
    text t = text_of_string(x);
    send_argument(s, t.bytes, t.size);
}

static void send_strings(fake_server *s, RedisModuleString *const *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        send_string(s, x[i]);
}

static int replicate(RedisModuleCtx *ctx, const char *name, const char *format, ...)
{
    fake_server *s = ctx->server;
    va_list list;
    if (s->effects.replicated++)
        fake_fault("%s is replicated twice", ctx->command->name);
    send_argument(s, name, strlen(name));
    va_start(list, format);
    for (; *format; format++)
        if (*format == 'c') {
            const char *words = va_arg(list, const char *);
            send_argument(s, words, strlen(words));
        } else if (*format == 's') {
            send_string(s, va_arg(list, RedisModuleString *));
        } else if (*format == 'b') {
            const char *at = va_arg(list, const char *);
            send_argument(s, at, va_arg(list, size_t));
        } else if (*format == 'l') {
            send_long_long(s, va_arg(list, long long));
        } else if (*format == 'v') {
            RedisModuleString **x = va_arg(list, RedisModuleString **);
            send_strings(s, x, va_arg(list, size_t));
        } else {
            fake_fault("the format %c in what is replicated", *format);
        }
    va_end(list);
    return API_OK;
}

static void note_key(RedisModuleCtx *ctx, const RedisModuleString *key)
{
    if (ctx->argc < 2 || !same_text(text_of_string(key), text_of_string(ctx->argv[1])))
        ctx->server->effects.other_key = true;
}

static int signal_modified_key(RedisModuleCtx *ctx, RedisModuleString *key)
{
    ctx->server->effects.signalled++;
    note_key(ctx, key);
    return API_OK;
}

static int notify_keyspace_event(RedisModuleCtx *ctx, int type, const char *event,
                                 RedisModuleString *key)
{
    fake_effects *e = &ctx->server->effects;
    e->notified++;
    e->event_class = type;
    snprintf(e->event, sizeof e->event, "%s", event);
    note_key(ctx, key);
    return API_OK;
}

static int get_context_flags(RedisModuleCtx *ctx)
{
    static const int flags[] = {[FROM_CLIENT] = FLAG_MASTER,
                                [FROM_MASTER] = FLAG_SLAVE | FLAG_REPLICATED,
                                [FROM_AOF] = FLAG_MASTER | FLAG_LOADING,
                                [FROM_SCRIPT] = FLAG_MASTER | FLAG_LUA};
    if (!ctx)
        return FLAG_MASTER;
    return flags[ctx->origin] | (ctx->server->reply.resp3 ? FLAG_RESP3 : 0);
}

static void auto_memory(RedisModuleCtx *ctx)
{
    ctx->auto_memory = true;
}

static unsigned long long get_client_id(RedisModuleCtx *ctx)
{
    return ctx->origin == FROM_AOF ? UINT64_MAX : 7;
}

static int get_selected_db(RedisModuleCtx *ctx)
{
    (void)ctx;
    return 0;
}

static int is_keys_position_request(RedisModuleCtx *ctx)
{
    return ctx->asking;
}

static void key_at_pos_with_flags(RedisModuleCtx *ctx, int at, int flags)
{
    if (!ctx->asking || at < 1 || (uint32_t)at >= ctx->argc || ctx->n_positions == MOST_SPECS)
        fake_fault("a key is said to be at %d of %u", at, ctx->argc);
    ctx->position[ctx->n_positions].at = (uint32_t)at;
    ctx->position[ctx->n_positions++].flags = (uint64_t)flags;
}

static void get_random_bytes(unsigned char *out, size_t n)
{
    static dice d = {0x5EED};
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)roll(&d);
}

static long long milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static uint64_t monotonic_microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- files */

static void put_bytes(RedisModuleIO *io, const void *at, size_t size)
{
    io->buffer.at = own_larger(io->buffer.at, io->buffer.size + size);
    if (size)
        memcpy(io->buffer.at + io->buffer.size, at, size);
    io->buffer.size += size;
}

static void save_string_buffer(RedisModuleIO *io, const char *at, size_t size)
{
    put_bytes(io, at, size);
    io->strings++;
}

/* The buffer has one string, which ends too early when io->failed is to be seen. */
static char *load_string_buffer(RedisModuleIO *io, size_t *size)
{
    if (io->failed || io->at > 0) {
        io->failed = true;
        *size = 0;
        return NULL;
    }
    char *out = server_block(io->buffer.size);
    if (io->buffer.size)
        memcpy(out, io->buffer.at, io->buffer.size);
    *size = io->buffer.size;
    io->at = 1;
    return out;
}

static int is_io_error(RedisModuleIO *io)
{
    return io->failed;
}

__attribute__((format(printf, 3, 4))) static void log_io_error(RedisModuleIO *io, const char *level,
                                                               const char *format, ...)
{
    char room[1024];
    va_list list;
    (void)io, (void)level;
    va_start(list, format);
    vsnprintf(room, sizeof room, format, list);
    va_end(list);
    note_log("%s", room);
}

__attribute__((format(printf, 3, 4))) static void log_entry(RedisModuleCtx *ctx, const char *level,
                                                            const char *format, ...)
{
    char room[1024];
    va_list list;
    (void)ctx, (void)level;
    va_start(list, format);
    vsnprintf(room, sizeof room, format, list);
    va_end(list);
    note_log("%s", room);
}

static const RedisModuleString *get_key_name_from_io(RedisModuleIO *io)
{
    return io->key;
}

static RedisModuleCtx *get_context_from_io(RedisModuleIO *io)
{
    return &io->ctx;
}

static void add_argument(RedisModuleIO *io, const void *at, size_t size)
{
    io->argument = own_larger(io->argument, (io->n_arguments + 1) * sizeof *io->argument);
    io->argument[io->n_arguments++] = (text){memcpy(own_block(size), at, size), size};
}

static void emit_aof(RedisModuleIO *io, const char *name, const char *format, ...)
{
    va_list list;
    if (io->n_arguments)
        fake_fault("an AOF rewrite emits a second command for one key");
    add_argument(io, name, strlen(name));
    va_start(list, format);
    for (; *format; format++) {
        if (*format == 'c') {
            const char *words = va_arg(list, const char *);
            add_argument(io, words, strlen(words));
        } else if (*format == 's') {
            text t = text_of_string(va_arg(list, RedisModuleString *));
            add_argument(io, t.bytes, t.size);
        } else if (*format == 'b') {
            const char *at = va_arg(list, const char *);
            add_argument(io, at, va_arg(list, size_t));
        } else {
            fake_fault("the format %c in an AOF rewrite", *format);
        }
    }
    va_end(list);
}

static void digest_add_string_buffer(RedisModuleDigest *d, const char *at, size_t size)
{
    d->strings++;
    for (size_t i = 0; i < size; i++)
        d->hash = (d->hash ^ (unsigned char)at[i]) * 0x100000001B3u;
}

static void digest_add_long_long(RedisModuleDigest *d, long long x)
{
    digest_add_string_buffer(d, (const char *)&x, sizeof x);
}

static void digest_end_sequence(RedisModuleDigest *d)
{
    d->ends++;
}

static const RedisModuleString *get_key_name_from_opt_ctx(RedisModuleKeyOptCtx *ctx)
{
    return ctx->from;
}

static const RedisModuleString *get_to_key_name_from_opt_ctx(RedisModuleKeyOptCtx *ctx)
{
    return ctx->to;
}

/* ---- INFO */

static int info_add_section(RedisModuleInfoCtx *ctx, const char *name)
{
    (void)ctx, (void)name;
    return API_OK;
}

static int info_add_field_ulong_long(RedisModuleInfoCtx *ctx, const char *name,
                                     unsigned long long value)
{
    if (ctx->n == MOST_FIELDS_INFO)
        fake_fault("too many fields of INFO");
    ctx->field[ctx->n].name = name;
    ctx->field[ctx->n++].value = value;
    return API_OK;
}

static int info_add_field_long_long(RedisModuleInfoCtx *ctx, const char *name, long long value)
{
    if (value < 0)
        fake_fault("INFO has a negative %s", name);
    return info_add_field_ulong_long(ctx, name, (unsigned long long)value);
}

/* ---- the table */

#define API_ENTRIES(X)                                                                             \
    X(Alloc, api_alloc)                                                                            \
    X(Calloc, api_calloc)                                                                          \
    X(Realloc, api_realloc)                                                                        \
    X(TryAlloc, api_try_alloc)                                                                     \
    X(Free, api_free)                                                                              \
    X(Strdup, api_strdup)                                                                          \
    X(PoolAlloc, api_pool_alloc)                                                                   \
    X(MallocSize, api_malloc_size)                                                                 \
    X(MallocUsableSize, api_malloc_size)                                                           \
    X(CreateCommand, create_command)                                                               \
    X(GetCommand, get_command)                                                                     \
    X(SetCommandInfo, set_command_info)                                                            \
    X(SetModuleAttribs, set_module_attribs)                                                        \
    X(IsModuleNameBusy, is_module_name_busy)                                                       \
    X(SetModuleOptions, set_module_options)                                                        \
    X(CreateDataType, create_data_type)                                                            \
    X(RegisterNumericConfig, register_numeric_config)                                              \
    X(LoadConfigs, load_configs)                                                                   \
    X(RegisterInfoFunc, register_info_func)                                                        \
    X(GetServerVersion, get_server_version)                                                        \
    X(GetTypeMethodVersion, get_type_method_version)                                               \
    X(GetContextFlagsAll, get_context_flags_all)                                                   \
    X(CreateString, create_string)                                                                 \
    X(CreateStringPrintf, create_string_printf)                                                    \
    X(CreateStringFromLongLong, create_string_from_long_long)                                      \
    X(FreeString, free_string)                                                                     \
    X(RetainString, retain_string)                                                                 \
    X(HoldString, hold_string_entry)                                                               \
    X(StringPtrLen, string_ptr_len)                                                                \
    X(StringToLongLong, string_to_long_long)                                                       \
    X(StringToULongLong, string_to_ulong_long)                                                     \
    X(StringToDouble, string_to_double)                                                            \
    X(StringCompare, string_compare)                                                               \
    X(ReplyWithError, reply_with_error)                                                            \
    X(ReplyWithSimpleString, reply_with_simple_string)                                             \
    X(ReplyWithStringBuffer, reply_with_string_buffer)                                             \
    X(ReplyWithCString, reply_with_c_string)                                                       \
    X(ReplyWithString, reply_with_string)                                                          \
    X(ReplyWithEmptyString, reply_with_empty_string)                                               \
    X(ReplyWithLongLong, reply_with_long_long)                                                     \
    X(ReplyWithDouble, reply_with_double)                                                          \
    X(ReplyWithNull, reply_with_null)                                                              \
    X(ReplyWithArray, reply_with_array)                                                            \
    X(ReplyWithMap, reply_with_map)                                                                \
    X(ReplyWithEmptyArray, reply_with_empty_array)                                                 \
    X(ReplySetArrayLength, reply_set_array_length)                                                 \
    X(ReplySetMapLength, reply_set_map_length)                                                     \
    X(WrongArity, wrong_arity)                                                                     \
    X(OpenKey, open_key)                                                                           \
    X(KeyExists, key_exists)                                                                       \
    X(CloseKey, close_key)                                                                         \
    X(KeyType, key_type)                                                                           \
    X(ModuleTypeGetType, module_type_get_type)                                                     \
    X(ModuleTypeGetValue, module_type_get_value)                                                   \
    X(ModuleTypeSetValue, module_type_set_value)                                                   \
    X(ModuleTypeReplaceValue, module_type_replace_value)                                           \
    X(DeleteKey, delete_key)                                                                       \
    X(UnlinkKey, delete_key)                                                                       \
    X(GetKeyNameFromModuleKey, get_key_name_from_module_key)                                       \
    X(Replicate, replicate)                                                                        \
    X(ReplicateVerbatim, replicate_verbatim)                                                       \
    X(SignalModifiedKey, signal_modified_key)                                                      \
    X(NotifyKeyspaceEvent, notify_keyspace_event)                                                  \
    X(GetContextFlags, get_context_flags)                                                          \
    X(AutoMemory, auto_memory)                                                                     \
    X(GetClientId, get_client_id)                                                                  \
    X(GetSelectedDb, get_selected_db)                                                              \
    X(IsKeysPositionRequest, is_keys_position_request)                                             \
    X(KeyAtPosWithFlags, key_at_pos_with_flags)                                                    \
    X(GetRandomBytes, get_random_bytes)                                                            \
    X(Milliseconds, milliseconds)                                                                  \
    X(MonotonicMicroseconds, monotonic_microseconds)                                               \
    X(SaveStringBuffer, save_string_buffer)                                                        \
    X(LoadStringBuffer, load_string_buffer)                                                        \
    X(IsIOError, is_io_error)                                                                      \
    X(LogIOError, log_io_error)                                                                    \
    X(Log, log_entry)                                                                              \
    X(GetKeyNameFromIO, get_key_name_from_io)                                                      \
    X(GetContextFromIO, get_context_from_io)                                                       \
    X(EmitAOF, emit_aof)                                                                           \
    X(DigestAddStringBuffer, digest_add_string_buffer)                                             \
    X(DigestAddLongLong, digest_add_long_long)                                                     \
    X(DigestEndSequence, digest_end_sequence)                                                      \
    X(GetKeyNameFromOptCtx, get_key_name_from_opt_ctx)                                             \
    X(GetToKeyNameFromOptCtx, get_to_key_name_from_opt_ctx)                                        \
    X(InfoAddSection, info_add_section)                                                            \
    X(InfoAddFieldULongLong, info_add_field_ulong_long)                                            \
    X(InfoAddFieldLongLong, info_add_field_long_long)

typedef void (*entry)(void);
static const struct {
    const char *name;
    entry function;
} entries[] = {
#define API_ROW(name, function) {"RedisModule_" #name, (entry)function},
    API_ENTRIES(API_ROW)};

static char asked[8192], missing[1024];
static const char *hidden;

const char *fake_asked(void)
{
    return asked;
}

const char *fake_missing(void)
{
    return missing;
}

/* The entry that is not there from now on, or NULL; and what was missing is forgotten. */
void hide_entry(const char *name)
{
    hidden = name;
    asked[0] = missing[0] = 0;
}

static void note_name(char *list, size_t room, const char *name)
{
    size_t used = strlen(list);
    if (!has_word(list, name))
        snprintf(list + used, room - used, "%s%s", used ? " " : "", name);
}

int get_api(const char *name, void *target)
{
    entry none = NULL;
    note_name(asked, sizeof asked, name);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0 && !(hidden && strcmp(hidden, name) == 0)) {
            memcpy(target, &entries[i].function, sizeof none);
            return API_OK;
        }
    note_name(missing, sizeof missing, name);
    memcpy(target, &none, sizeof none);
    return API_ERR;
}
