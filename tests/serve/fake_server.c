/* fake_server.c - loads the module, runs its commands and the callbacks of its type. */
#define _GNU_SOURCE 1
#include "fake_parts.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- messages */

static char last_log[1024];

const char *fake_last_log(void)
{
    return last_log;
}

void note_log(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(last_log, sizeof last_log, format, list);
    va_end(list);
}

/* Commands of the chapter that changed something, and the last one.  An argument is its size and
 * its bytes. */
typedef struct kept_command {
    unsigned char *byte;
    size_t size, room;
    uint32_t server;
    fake_origin origin;
} kept_command;

enum { MOST_KEPT = 4096, LONGEST_SHOWN = 80, MOST_ARGUMENTS_SHOWN = 200 };
static struct {
    char title[200];
    kept_command kept[MOST_KEPT], last;
    uint32_t n;
    bool last_counts;
} journal;

static void keep_command(const fake_server *s, fake_origin origin, const text *argv, uint32_t argc)
{
    kept_command *k = &journal.last;
    k->size = 0;
    k->server = s->number;
    k->origin = origin;
    for (uint32_t i = 0; i < argc; i++) {
        if (k->size + argv[i].size + sizeof(size_t) > k->room) {
            k->room = 2 * (k->size + argv[i].size + sizeof(size_t));
            k->byte = own_larger(k->byte, k->room);
        }
        memcpy(k->byte + k->size, &argv[i].size, sizeof(size_t));
        k->size += sizeof(size_t);
        if (argv[i].size)
            memcpy(k->byte + k->size, argv[i].bytes, argv[i].size);
        k->size += argv[i].size;
    }
}

/* It has changed something. */
static void file_command(void)
{
    if (journal.n == MOST_KEPT)
        fake_fault("the journal is full; begin a new chapter");
    journal.kept[journal.n++] = journal.last;
    journal.last = (kept_command){NULL, 0, 0, 0, FROM_CLIENT};
}

void fake_new_chapter(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(journal.title, sizeof journal.title, format, list);
    va_end(list);
    while (journal.n > 0)
        own_free(journal.kept[--journal.n].byte);
    journal.last.size = 0;
    journal.last_counts = false;
}

static void print_argument(FILE *out, const unsigned char *at, size_t size)
{
    size_t shown = size < LONGEST_SHOWN ? size : LONGEST_SHOWN;
    bool plain = size > 0;
    for (size_t i = 0; i < shown; i++)
        plain = plain && isgraph(at[i]) && at[i] != '"' && at[i] != '\\';
    fputs(plain ? " " : " \"", out);
    for (size_t i = 0; i < shown; i++)
        if (isprint(at[i]) && at[i] != '"' && at[i] != '\\')
            fputc(at[i], out);
        else
            fprintf(out, "\\x%02x", at[i]);
    fputs(plain ? "" : "\"", out);
    if (shown < size)
        fprintf(out, "...(%zu bytes)", size);
}

static void print_command(const kept_command *k)
{
    static const char *const from[] = {"", " (from the master)", " (from the AOF)", " (script)"};
    uint32_t n = 0;
    size_t size;
    if (k->size == 0)
        return;
    fprintf(stderr, "  [%u]%s", k->server, from[k->origin]);
    for (size_t at = 0; at < k->size && n++ < MOST_ARGUMENTS_SHOWN; at += size) {
        memcpy(&size, k->byte + at, sizeof size);
        at += sizeof size;
        print_argument(stderr, k->byte + at, size);
    }
    fputs(n > MOST_ARGUMENTS_SHOWN ? " ...\n" : "\n", stderr);
}

void fake_fault(const char *format, ...)
{
    va_list list;
    fprintf(stderr, "\nFAULT: ");
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n%s\n", journal.title);
    for (uint32_t i = 0; i < journal.n; i++)
        print_command(&journal.kept[i]);
    print_command(&journal.last);
    fflush(NULL);
    abort();
}

/* ---- loading */

static uint32_t servers;

/* dlopen() gives the same instance for the same file, so that later ones are copies. */
static void *open_module(const char *path)
{
    static char copy[] = "/tmp/oltr-module-XXXXXX";
    char command[1200];
    if (servers == 1)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    strcpy(copy + sizeof copy - 7, "XXXXXX");
    int file = mkstemp(copy);
    snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
    if (file < 0 || system(command) != 0)
        fake_fault("%s cannot be copied", path);
    close(file);
    void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    unlink(copy);
    return library;
}

static void check_loaded(const fake_server *s)
{
    const type_methods *m = &s->type.methods;
    if (!s->has_type || strcmp(s->type.name, "oltrmodel") != 0 || s->type.encver != 1)
        fake_fault("the type is not oltrmodel of encoding version 1");
    if (!m->rdb_load || !m->rdb_save || !m->aof_rewrite || !m->digest || !m->free ||
        !(m->copy || m->copy2) || !(m->mem_usage || m->mem_usage2) ||
        !(m->free_effort || m->free_effort2) || m->aux_load || m->aux_save || m->defrag)
        fake_fault("a callback of the type is missing or must not be there");
    if (s->options != (OPTION_IO_ERRORS | OPTION_NO_IMPLICIT_SIGNAL | OPTION_ASYNC_LOAD))
        fake_fault("the options of the module are %d", s->options);
    if (!s->configs_loaded || !s->info)
        fake_fault("the configuration is not loaded, or there is no INFO");
    for (uint32_t i = 0; i < s->n_commands; i++)
        if (!s->command[i].has_info)
            fake_fault("%s has no description", s->command[i].name);
}

typedef int (*load_function)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

static bool load(fake_server *s, void *library)
{
    void *symbol = library ? dlsym(library, "RedisModule_OnLoad") : NULL;
    load_function on_load;
    if (!symbol)
        fake_fault("the module cannot be opened: %s", dlerror());
    memcpy(&on_load, &symbol, sizeof on_load);
    enter_module(s);
    int status = on_load(&s->ctx, NULL, 0);
    leave_module();
    return status == API_OK;
}

fake_server *fake_start(const char *module, const fake_options *options)
{
    const char *other = getenv("OLTR_REDIS_MODULE");
    fake_server *s = calloc(1, sizeof *s);
    if (!s)
        fake_fault("no memory for a server");
    s->number = ++servers;
    s->ctx = (RedisModuleCtx){.get_api = get_api, .server = s};
    s->until_refusal = -1;
    s->luck.state = options ? options->seed : 1;
    hide_entry(options ? options->without : NULL);
    last_log[0] = 0;
    void *library = open_module(other ? other : module);
    if (load(s, library)) {
        if (fake_missing()[0])
            fake_fault("the module was loaded without %s", fake_missing());
        check_loaded(s);
        return s;
    }
    free(s);
    dlclose(library);
    return NULL;
}

void fake_stop(fake_server *s)
{
    for (uint32_t i = 0; i < MOST_KEYS; i++)
        if (s->key[i].name)
            fake_delete(s, text_of_string(s->key[i].name));
    if (fake_info(s, "models") || fake_info(s, "bytes"))
        fake_fault("without keys there are %llu models of %llu bytes",
                   (unsigned long long)fake_info(s, "models"),
                   (unsigned long long)fake_info(s, "bytes"));
    for (uint32_t i = 0; i < s->n_sent; i++)
        drop_string(s->sent[i]);
    if (s->n_strings)
        fake_fault("%u strings are alive at the end", s->n_strings);
    own_free(s->sent);
    own_free(s->reply.node);
    own_free(s->reply.byte);
    own_free(s->ctx.pool);
    free(s);
}

/* ---- commands */

uint32_t fake_command_count(const fake_server *s)
{
    return s->n_commands;
}

const char *fake_command_name(const fake_server *s, uint32_t i)
{
    return s->command[i].name;
}

static const RedisModuleCommand *find_command(const fake_server *s, text name)
{
    for (uint32_t i = 0; i < s->n_commands; i++)
        if (strlen(s->command[i].name) == name.size &&
            strncasecmp(s->command[i].name, name.bytes, name.size) == 0)
            return &s->command[i];
    return NULL;
}

bool fake_command_writes(const fake_server *s, const char *name)
{
    const RedisModuleCommand *c = find_command(s, text_of(name));
    return c && c->writes;
}

void fake_resp3(fake_server *s, bool on)
{
    s->reply.resp3 = on;
}

static void end_command(fake_server *s)
{
    RedisModuleCtx *ctx = &s->ctx;
    if (ctx->keys)
        fake_fault("a key stays open");
    for (uint32_t i = 0; i < ctx->argc; i++) {
        if (ctx->argv[i]->references != 1)
            fake_fault("argument %u is kept after the command", i);
        drop_string(ctx->argv[i]);
    }
    while (ctx->n_pool > 0)
        api_free(ctx->pool[--ctx->n_pool]);
    if (ctx->auto_memory)
        fake_fault("automatic memory is slow; the module is said not to use it");
    own_free(ctx->argv);
    ctx->argv = NULL;
    ctx->argc = 0;
    ctx->command = NULL;
}

static void forget_sent(fake_server *s)
{
    while (s->n_sent > 0)
        drop_string(s->sent[--s->n_sent]);
    s->effects = (fake_effects){0};
}

static void run(fake_server *s, const RedisModuleCommand *c)
{
    RedisModuleCtx *ctx = &s->ctx;
    bool too_few = c->arity > 0 ? (int)ctx->argc != c->arity : (int)ctx->argc < -c->arity;
    ctx->command = c;
    if (too_few) { /* the server's own check */
        static const char words[] = "ERR wrong number of arguments";
        add_reply(&s->reply, (reply){.type = REPLY_ERROR, .words = {words, sizeof words - 1}});
        return;
    }
    enter_module(s);
    ctx->n_positions = 0;
    ctx->asking = c->asked; /* as for the permissions of the user, and the slots of a cluster */
    if (ctx->asking)
        c->call(ctx, ctx->argv, (int)ctx->argc);
    ctx->asking = false;
    c->call(ctx, ctx->argv, (int)ctx->argc);
    leave_module();
}

const reply *fake_call_from(fake_server *s, fake_origin origin, const text *argv, uint32_t argc)
{
    const RedisModuleCommand *c = argc ? find_command(s, argv[0]) : NULL;
    RedisModuleCtx *ctx = &s->ctx;
    if (!c)
        fake_fault("the server has no such command");
    forget_sent(s);
    if (journal.last_counts)
        file_command();
    keep_command(s, origin, argv, argc);
    begin_reply(&s->reply, s->reply.resp3);
    uint32_t strings = s->n_strings;
    ctx->origin = origin;
    ctx->argv = own_block(argc * sizeof *ctx->argv);
    for (uint32_t i = 0; i < argc; i++)
        ctx->argv[i] = new_string(s, argv[i].bytes, argv[i].size);
    ctx->argc = argc;
    run(s, c);
    end_command(s);
    if (s->n_strings - s->n_sent > strings + 1) /* one more for a key that is new */
        fake_fault("strings that the command made are not freed");
    const reply *r = end_reply(&s->reply);
    journal.last_counts = s->effects.replicated && origin != FROM_MASTER;
    return r;
}

const reply *fake_call(fake_server *s, const text *argv, uint32_t argc)
{
    return fake_call_from(s, FROM_CLIENT, argv, argc);
}

const reply *fake_line(fake_server *s, const char *line)
{
    enum { MOST_WORDS = 64 };
    text argv[MOST_WORDS];
    uint32_t argc = 0;
    while (*line) {
        size_t n = strcspn(line, " ");
        if (n && argc == MOST_WORDS)
            fake_fault("a line of more than %d words", MOST_WORDS);
        if (n)
            argv[argc++] = (text){line, n};
        line += n + (line[n] == ' ');
    }
    return fake_call(s, argv, argc);
}

const fake_effects *fake_effects_of(const fake_server *s)
{
    return &s->effects;
}

const reply *fake_replay(fake_server *from, fake_server *on)
{
    if (from->n_sent == 0)
        return NULL;
    text *argv = own_block(from->n_sent * sizeof *argv);
    for (uint32_t i = 0; i < from->n_sent; i++)
        argv[i] = text_of_string(from->sent[i]);
    const reply *r = fake_call_from(on, FROM_MASTER, argv, from->n_sent);
    own_free(argv);
    return r;
}

/* ---- the callbacks of the type */

static RedisModuleIO io_for(fake_server *s, RedisModuleString *key)
{
    return (RedisModuleIO){.ctx = {.get_api = get_api, .server = s}, .key = key};
}

blob fake_image(fake_server *s, text key)
{
    const stored_key *k = find_key(s, key);
    if (!k || !k->value)
        return (blob){NULL, 0};
    RedisModuleIO io = io_for(s, k->name);
    enter_module(s);
    s->type.methods.rdb_save(&io, k->value);
    leave_module();
    if (io.strings != 1)
        fake_fault("a model is saved as %u strings", io.strings);
    return io.buffer;
}

uint64_t fake_digest(fake_server *s, text key)
{
    const stored_key *k = find_key(s, key);
    RedisModuleDigest d = {.hash = 0xCBF29CE484222325u};
    if (!k || !k->value)
        return 0;
    enter_module(s);
    s->type.methods.digest(&d, k->value);
    leave_module();
    if (d.strings != 1 || d.ends != 1)
        fake_fault("a digest of %u strings and %u ends", d.strings, d.ends);
    return d.hash;
}

size_t fake_usage(fake_server *s, text key)
{
    const type_methods *m = &s->type.methods;
    const stored_key *k = find_key(s, key);
    if (!k || !k->value)
        return 0;
    RedisModuleKeyOptCtx ctx = {k->name, NULL};
    enter_module(s);
    size_t n = m->mem_usage2 ? m->mem_usage2(&ctx, k->value, 5) : m->mem_usage(k->value);
    leave_module();
    return n;
}

bool fake_restore(fake_server *s, text key, const void *image, size_t size, int encver, bool cut)
{
    RedisModuleString *name = new_string(s, key.bytes, key.size);
    RedisModuleIO io = io_for(s, name);
    io.buffer = (blob){memcpy(own_block(size), image, size), size};
    io.failed = cut;
    last_log[0] = 0;
    enter_module(s);
    void *value = s->type.methods.rdb_load(&io, encver);
    leave_module();
    own_free(io.buffer.at);
    drop_string(name);
    if (value) {
        if (cut)
            fake_fault("a value is made of a file that ends too early");
        fake_delete(s, key);
        make_key(s, key)->value = value;
    } else if (!cut && !last_log[0]) {
        fake_fault("an image is refused without a line in the log");
    }
    return value;
}

const reply *fake_rewrite(fake_server *s, text key, fake_server *into)
{
    const stored_key *k = find_key(s, key);
    RedisModuleIO io = io_for(s, k ? k->name : NULL);
    if (!k || !k->value)
        fake_fault("no such key to rewrite");
    enter_module(s);
    s->type.methods.aof_rewrite(&io, k->name, k->value);
    leave_module();
    if (io.n_arguments == 0)
        fake_fault("an AOF rewrite emits nothing");
    const reply *r = fake_call_from(into, FROM_AOF, io.argument, io.n_arguments);
    for (uint32_t i = 0; i < io.n_arguments; i++)
        own_free((void *)(uintptr_t)io.argument[i].bytes);
    own_free(io.argument);
    return r;
}

/* ---- configuration and INFO */

static stored_config *find_config(fake_server *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_configs; i++)
        if (strcmp(s->config[i].name, name) == 0)
            return &s->config[i];
    fake_fault("there is no setting oltr.%s", name);
}

bool fake_config_set(fake_server *s, const char *name, long long value)
{
    stored_config *c = find_config(s, name);
    RedisModuleString *error = NULL;
    if (value < c->low || value > c->high)
        return false;
    enter_module(s);
    int status = c->set(name, value, c->data, &error);
    if (status == API_OK && c->apply)
        status = c->apply(&s->ctx, c->data, &error);
    leave_module();
    if (error)
        drop_string(error);
    return status == API_OK;
}

long long fake_config_get(fake_server *s, const char *name)
{
    stored_config *c = find_config(s, name);
    return c->get(name, c->data);
}

static uint64_t field_of(const RedisModuleInfoCtx *ctx, const char *name)
{
    for (uint32_t i = 0; i < ctx->n; i++)
        if (strcmp(ctx->field[i].name, name) == 0)
            return ctx->field[i].value;
    fake_fault("INFO oltr has no field %s", name);
}

void fake_info_of(fake_server *s, const char *const *field, uint32_t n, uint64_t *out)
{
    RedisModuleInfoCtx ctx = {0};
    enter_module(s);
    s->info(&ctx, 0);
    leave_module();
    for (uint32_t i = 0; i < n; i++)
        out[i] = field_of(&ctx, field[i]);
}

uint64_t fake_info(fake_server *s, const char *field)
{
    uint64_t value;
    fake_info_of(s, &field, 1, &value);
    return value;
}
