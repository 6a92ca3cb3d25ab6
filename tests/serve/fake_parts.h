/* fake_parts.h - what the files of the fake server share: its objects, and the structs of the
 * module API, in the layout of Redis 7.0.
 *
 * The types that the module sees have the names of the API, so that a sanitizer that compares the
 * types of functions finds them equal.
 */
#ifndef OLTR_TESTS_FAKE_PARTS_H
#define OLTR_TESTS_FAKE_PARTS_H

#include "fake_server.h"
#include "support/dice.h"

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleKeyOptCtx RedisModuleKeyOptCtx;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;

enum { API_OK = 0, API_ERR = 1 };
enum { KEY_READ = 1, KEY_WRITE = 2 };
enum { TYPE_EMPTY = 0, TYPE_STRING = 1, TYPE_MODULE = 6 };
enum { POSTPONED_LENGTH = -1 };
enum { NOTIFY_MODULE_CLASS = 1 << 13 };
enum { OPTION_IO_ERRORS = 1 << 0, OPTION_NO_IMPLICIT_SIGNAL = 1 << 1, OPTION_ASYNC_LOAD = 1 << 2 };
enum {
    FLAG_LUA = 1 << 0,
    FLAG_MASTER = 1 << 2,
    FLAG_SLAVE = 1 << 3,
    FLAG_REPLICATED = 1 << 12,
    FLAG_LOADING = 1 << 13,
    FLAG_RESP3 = 1 << 22
};

/* ---- structs of the API */

typedef int (*command_function)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef void (*info_function)(RedisModuleInfoCtx *ctx, int for_crash_report);
typedef long long (*get_number)(const char *name, void *data);
typedef int (*set_number_function)(const char *name, long long value, void *data,
                                   RedisModuleString **error);
typedef int (*apply_function)(RedisModuleCtx *ctx, void *data, RedisModuleString **error);

typedef struct type_methods {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *io, int encver);
    void (*rdb_save)(RedisModuleIO *io, void *value);
    void (*aof_rewrite)(RedisModuleIO *io, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *io, int encver, int when);
    void (*aux_save)(RedisModuleIO *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value);
    size_t (*mem_usage2)(RedisModuleKeyOptCtx *ctx, const void *value, size_t sample_size);
    size_t (*free_effort2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void (*unlink2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void *(*copy2)(RedisModuleKeyOptCtx *ctx, const void *value);
} type_methods;

enum { SEARCH_INDEX = 2, SEARCH_KEYWORD = 3, FIND_RANGE = 2 };
enum { KEY_RO = 1 << 0, KEY_RW = 1 << 1, KEY_OW = 1 << 2, KEY_RM = 1 << 3 };

typedef struct key_spec {
    const char *notes;
    uint64_t flags;
    int begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    int find_keys_type;
    union {
        struct {
            int lastkey, keystep, limit;
        } range;
        struct {
            int keynumidx, firstkey, keystep;
        } keynum;
    } fk;
} key_spec;

typedef struct command_info {
    const struct {
        int version;
        size_t size_of_history, size_of_key_spec, size_of_argument;
    } * version;
    const char *summary, *complexity, *since;
    const void *history;
    const char *tips;
    int arity;
    const key_spec *key_specs;
    const void *arguments;
} command_info;

/* ---- objects */

struct RedisModuleString {
    uint32_t references;
    fake_server *server;
    RedisModuleString *next, **place; /* in the list of the server */
    size_t size, shift;
    unsigned char bytes[]; /* `shift` bytes, and then the content, to the end of the block */
};

enum {
    MOST_SPECS = 2,
    MOST_COMMANDS = 48,
    MOST_KEYS = 32,
    MOST_CONFIGS = 24,
    MOST_FIELDS_INFO = 32
};

struct RedisModuleCommand {
    char name[32];
    command_function call;
    bool writes, reads, has_info, asked; /* asked: the module itself says where keys are */
    int arity;
    uint32_t n_specs;
    struct {
        bool by_keyword;
        char keyword[16];
        int from;
        uint64_t flags;
    } spec[MOST_SPECS];
};

struct RedisModuleType {
    char name[10];
    int encver;
    type_methods methods;
};

typedef struct stored_key {
    RedisModuleString *name; /* NULL: free */
    void *value;             /* of a module; NULL: a string */
} stored_key;

struct RedisModuleKey {
    fake_server *server;
    RedisModuleKey *next;
    RedisModuleString *name;
    int mode;
};

typedef struct open_container {
    uint32_t node;
    long left; /* POSTPONED_LENGTH: not known yet */
} open_container;

enum { MOST_DEPTH = 8 };

typedef struct reply_builder {
    reply *node;
    uint32_t n, room;
    unsigned char *byte; /* the texts of nodes, by offset until the reply is complete */
    size_t bytes, bytes_room;
    open_container open[MOST_DEPTH];
    uint32_t depth;
    bool resp3;
} reply_builder;

struct RedisModuleCtx {
    int (*get_api)(const char *name, void *target); /* the first word, as the module expects */
    fake_server *server;
    const RedisModuleCommand *command; /* NULL outside of commands */
    RedisModuleString **argv;
    uint32_t argc;
    fake_origin origin;
    bool auto_memory, asking; /* asking: where the keys are */
    uint32_t n_positions;
    struct {
        uint32_t at;
        uint64_t flags;
    } position[MOST_SPECS];
    RedisModuleKey *keys; /* open */
    void **pool;          /* blocks of PoolAlloc */
    size_t n_pool;
};

struct RedisModuleIO {
    RedisModuleCtx ctx;
    RedisModuleString *key;
    blob buffer; /* saved, or to load */
    size_t at;
    uint32_t strings; /* saved */
    bool failed;
    text *argument; /* of the command that an AOF rewrite emits */
    uint32_t n_arguments;
};

struct RedisModuleDigest {
    uint64_t hash;
    uint32_t strings, ends;
};

struct RedisModuleKeyOptCtx {
    const RedisModuleString *from, *to;
};

struct RedisModuleInfoCtx {
    uint32_t n;
    struct {
        const char *name;
        uint64_t value;
    } field[MOST_FIELDS_INFO];
};

typedef struct stored_config {
    char name[40];
    long long low, high;
    get_number get;
    set_number_function set;
    apply_function apply;
    void *data;
} stored_config;

struct fake_server {
    uint32_t number;
    RedisModuleCtx ctx;
    RedisModuleCommand command[MOST_COMMANDS];
    uint32_t n_commands;
    RedisModuleType type;
    bool has_type;
    stored_key key[MOST_KEYS];
    stored_config config[MOST_CONFIGS];
    uint32_t n_configs;
    bool configs_loaded;
    info_function info;
    int options;
    reply_builder reply;
    fake_effects effects;
    RedisModuleString *strings; /* all that are alive */
    uint32_t n_strings;
    dice luck;
    long until_refusal; /* requests that succeed; negative: all do */
    bool refuse_later;
    RedisModuleString **sent; /* what the last command replicated */
    uint32_t n_sent;
};

/* ---- memory (fake_memory.c) */

/* The server whose module runs in this thread, or NULL. */
void enter_module(fake_server *s);
void leave_module(void);
/* For the fake itself: blocks that are not counted.  Never NULL. */
void *own_block(size_t size);
void *own_larger(void *old, size_t size);
void own_free(void *block);
void *server_block(size_t size);
void *api_alloc(size_t size);
void *api_pool_alloc(RedisModuleCtx *ctx, size_t size);
void *api_calloc(size_t n, size_t size);
void *api_realloc(void *old, size_t size);
void *api_try_alloc(size_t size);
char *api_strdup(const char *words);
void api_free(void *block);
size_t api_malloc_size(void *block);

/* ---- strings and keys (fake_keys.c) */

RedisModuleString *new_string(fake_server *s, const void *at, size_t size);
void hold_string(RedisModuleString *x);
void drop_string(RedisModuleString *x);
text text_of_string(const RedisModuleString *x);
stored_key *find_key(fake_server *s, text name);
stored_key *make_key(fake_server *s, text name);
void drop_value(fake_server *s, stored_key *k);
void drop_key(fake_server *s, stored_key *k);

/* ---- replies (fake_reply.c) */

void begin_reply(reply_builder *b, bool resp3);
void add_reply(reply_builder *b, reply r);
void add_container(reply_builder *b, reply_type type, long n);
void set_length(reply_builder *b, reply_type type, long n);
const reply *end_reply(reply_builder *b);

/* ---- the API (fake_api.c) */

int get_api(const char *name, void *target);
void hide_entry(const char *name);

/* ---- messages (fake_server.c) */

void note_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
