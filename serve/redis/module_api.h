/* module_api.h - the entries of the server that this module calls: names, signatures and layouts of
 * the module interface of Redis 7.0, which later versions and Valkey keep.
 *
 * Debian packages no header of this interface, so it is declared here.  The server passes a context
 * whose first word is a function that finds an entry by its name; module_api_bind() looks up every
 * entry of RM_ENTRIES, and an entry that is missing refuses the load.  Calls are written
 * rm.ReplyWithNull(ctx); https://redis.io/docs/latest/develop/reference/modules has their manual.
 */
#ifndef OLTR_SERVE_REDIS_MODULE_API_H
#define OLTR_SERVE_REDIS_MODULE_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct rm_ctx rm_ctx;
typedef struct rm_string rm_string;
typedef struct rm_key rm_key;
typedef struct rm_type rm_type;
typedef struct rm_io rm_io;
typedef struct rm_digest rm_digest;
typedef struct rm_info_ctx rm_info_ctx;
typedef struct rm_command rm_command;
typedef struct rm_defrag_ctx rm_defrag_ctx;

typedef int (*rm_handler)(rm_ctx *ctx, rm_string **argv, int argc);
typedef void (*rm_info_func)(rm_info_ctx *ctx, int for_crash_report);
typedef long long (*rm_get_number)(const char *name, void *with);
typedef int (*rm_set_number)(const char *name, long long value, void *with, rm_string **error);
typedef int (*rm_apply)(rm_ctx *ctx, void *with, rm_string **error);

enum { RM_OK = 0, RM_ERR = 1 };
enum { RM_API_VERSION = 1 };

/* Modes of OpenKey, and what KeyType returns for a key that does not exist. */
enum { RM_READ = 1 << 0, RM_WRITE = 1 << 1, RM_KEYTYPE_EMPTY = 0 };

/* Of GetContextFlags. */
enum { RM_FROM_MASTER = 1 << 12, RM_LOADING = 1 << 13, RM_RESP3 = 1 << 22 };

/* Of SetModuleOptions. */
enum {
    RM_HANDLE_IO_ERRORS = 1 << 0,
    RM_NO_IMPLICIT_SIGNAL_MODIFIED = 1 << 1,
    RM_HANDLE_REPL_ASYNC_LOAD = 1 << 2
};

enum { RM_NOTIFY_MODULE = 1 << 13 };                       /* events of class d */
enum { RM_CONFIG_DEFAULT = 0, RM_CONFIG_MEMORY = 1 << 7 }; /* the second: 64mb is a number */

/* ---- the type of a key */

typedef struct rm_type_methods {
    uint64_t version; /* RM_TYPE_METHODS: the members of this struct */
    void *(*rdb_load)(rm_io *io, int encoding);
    void (*rdb_save)(rm_io *io, void *value);
    void (*aof_rewrite)(rm_io *io, rm_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(rm_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(rm_io *io, int encoding, int when);
    void (*aux_save)(rm_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(rm_string *key, const void *value);
    void (*unlink)(rm_string *key, const void *value);
    void *(*copy)(rm_string *from, rm_string *to, const void *value);
    int (*defrag)(rm_defrag_ctx *ctx, rm_string *key, void **value);
} rm_type_methods;
enum { RM_TYPE_METHODS = 3 };

/* ---- the description of a command */

typedef enum rm_arg_type {
    RM_ARG_STRING,
    RM_ARG_INTEGER,
    RM_ARG_DOUBLE,
    RM_ARG_KEY,
    RM_ARG_PATTERN,
    RM_ARG_UNIX_TIME,
    RM_ARG_TOKEN, /* a word alone */
    RM_ARG_ONE_OF,
    RM_ARG_BLOCK
} rm_arg_type;
enum { RM_OPTIONAL = 1 << 0, RM_MULTIPLE = 1 << 1 };

typedef struct rm_arg {
    const char *name;
    rm_arg_type type;
    int key_spec; /* of a key: which key spec it belongs to */
    const char *token, *summary, *since;
    int flags;
    const char *deprecated_since;
    const struct rm_arg *parts; /* of a block or a choice; ends with a zero element */
    const char *display;
} rm_arg;

typedef struct rm_history {
    const char *since, *changes;
} rm_history;

enum { RM_BEGIN_AT_INDEX = 2, RM_BEGIN_AT_KEYWORD = 3 };
enum { RM_FIND_RANGE = 2 };
enum {
    RM_KEY_RO = 1 << 0, /* one of these four */
    RM_KEY_RW = 1 << 1,
    RM_KEY_OW = 1 << 2,
    RM_KEY_RM = 1 << 3,
    RM_KEY_ACCESS = 1 << 4, /* what happens to the data of the user */
    RM_KEY_UPDATE = 1 << 5,
    RM_KEY_INSERT = 1 << 6,
    RM_KEY_DELETE = 1 << 7
};

typedef struct rm_key_spec {
    const char *notes;
    uint64_t flags;
    int begin_search;
    union {
        struct {
            int at;
        } index;
        struct {
            const char *word;
            int from;
        } keyword;
    } begin;
    int find_keys;
    union {
        struct {
            int last, step, limit;
        } range;
        struct {
            int number_at, first, step;
        } number;
    } find;
} rm_key_spec;

typedef struct rm_info_version {
    int version;
    size_t history_bytes, key_spec_bytes, arg_bytes;
} rm_info_version;

typedef struct rm_command_info {
    const rm_info_version *version;
    const char *summary, *complexity, *since;
    const rm_history *history;
    const char *tips;
    int arity; /* -n: n or more, the name of the command included */
    const rm_key_spec *key_specs;
    const rm_arg *args;
} rm_command_info;

/* ---- the entries: result, name, parameters */

#define RM_ENTRIES(X)                                                                              \
    /* memory */                                                                                   \
    X(void *, Alloc, (size_t bytes))                                                               \
    X(void *, TryAlloc, (size_t bytes))                                                            \
    X(void, Free, (void *block))                                                                   \
    X(size_t, MallocSize, (void *block))                                                           \
    X(void *, PoolAlloc, (rm_ctx * ctx, size_t bytes))                                             \
    /* the module */                                                                               \
    X(int, IsModuleNameBusy, (const char *name))                                                   \
    X(void, SetModuleAttribs, (rm_ctx * ctx, const char *name, int version, int api))              \
    X(void, SetModuleOptions, (rm_ctx * ctx, int options))                                         \
    X(int, CreateCommand,                                                                          \
      (rm_ctx * ctx, const char *name, rm_handler run, const char *flags, int first, int last,     \
       int step))                                                                                  \
    X(rm_command *, GetCommand, (rm_ctx * ctx, const char *name))                                  \
    X(int, SetCommandInfo, (rm_command * command, const rm_command_info *info))                    \
    X(rm_type *, CreateDataType,                                                                   \
      (rm_ctx * ctx, const char *name, int encoding, rm_type_methods *methods))                    \
    X(int, RegisterNumericConfig,                                                                  \
      (rm_ctx * ctx, const char *name, long long initial, unsigned flags, long long least,         \
       long long most, rm_get_number get, rm_set_number set, rm_apply apply, void *with))          \
    X(int, LoadConfigs, (rm_ctx * ctx))                                                            \
    X(int, RegisterInfoFunc, (rm_ctx * ctx, rm_info_func write))                                   \
    X(int, InfoAddSection, (rm_info_ctx * ctx, const char *name))                                  \
    X(int, InfoAddFieldULongLong, (rm_info_ctx * ctx, const char *name, unsigned long long value)) \
    X(void, GetRandomBytes, (unsigned char *to, size_t bytes))                                     \
    X(uint64_t, MonotonicMicroseconds, (void))                                                     \
    /* requests */                                                                                 \
    X(int, GetContextFlags, (rm_ctx * ctx))                                                        \
    X(int, IsKeysPositionRequest, (rm_ctx * ctx))                                                  \
    X(void, KeyAtPosWithFlags, (rm_ctx * ctx, int position, int flags))                            \
    X(const char *, StringPtrLen, (const rm_string *string, size_t *bytes))                        \
    X(int, StringToLongLong, (const rm_string *string, long long *to))                             \
    X(int, StringToDouble, (const rm_string *string, double *to))                                  \
    X(rm_key *, OpenKey, (rm_ctx * ctx, rm_string * name, int mode))                               \
    X(void, CloseKey, (rm_key * key))                                                              \
    X(int, KeyType, (rm_key * key))                                                                \
    X(rm_type *, ModuleTypeGetType, (rm_key * key))                                                \
    X(void *, ModuleTypeGetValue, (rm_key * key))                                                  \
    X(int, ModuleTypeSetValue, (rm_key * key, rm_type * type, void *value))                        \
    /* effects */                                                                                  \
    X(int, ReplicateVerbatim, (rm_ctx * ctx))                                                      \
    X(int, Replicate, (rm_ctx * ctx, const char *command, const char *format, ...))                \
    X(int, SignalModifiedKey, (rm_ctx * ctx, rm_string * name))                                    \
    X(int, NotifyKeyspaceEvent, (rm_ctx * ctx, int kind, const char *event, rm_string *name))      \
    /* replies */                                                                                  \
    X(int, WrongArity, (rm_ctx * ctx))                                                             \
    X(int, ReplyWithError, (rm_ctx * ctx, const char *text))                                       \
    X(int, ReplyWithSimpleString, (rm_ctx * ctx, const char *text))                                \
    X(int, ReplyWithLongLong, (rm_ctx * ctx, long long value))                                     \
    X(int, ReplyWithDouble, (rm_ctx * ctx, double value))                                          \
    X(int, ReplyWithStringBuffer, (rm_ctx * ctx, const char *bytes, size_t size))                  \
    X(int, ReplyWithCString, (rm_ctx * ctx, const char *text))                                     \
    X(int, ReplyWithArray, (rm_ctx * ctx, long n))                                                 \
    X(int, ReplyWithMap, (rm_ctx * ctx, long n))                                                   \
    X(int, ReplyWithNull, (rm_ctx * ctx))                                                          \
    /* images in files */                                                                          \
    X(void, SaveStringBuffer, (rm_io * io, const char *bytes, size_t size))                        \
    X(char *, LoadStringBuffer, (rm_io * io, size_t * size))                                       \
    X(void, EmitAOF, (rm_io * io, const char *command, const char *format, ...))                   \
    X(void, LogIOError, (rm_io * io, const char *level, const char *format, ...))                  \
    X(void, DigestAddStringBuffer, (rm_digest * digest, const char *bytes, size_t size))           \
    X(void, DigestEndSequence, (rm_digest * digest))

typedef struct module_api {
    void (*Log)(rm_ctx *ctx, const char *level, const char *format, ...);
#define RM_MEMBER(result, name, parameters) result(*name) parameters;
    RM_ENTRIES(RM_MEMBER)
#undef RM_MEMBER
} module_api;

extern module_api rm;

/* RM_OK, or RM_ERR with a line in the server's log that names the missing entry. */
int module_api_bind(rm_ctx *ctx);

#endif
