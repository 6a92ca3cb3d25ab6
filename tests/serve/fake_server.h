/* fake_server.h - plays the part of a Redis server for the module, inside a test program.
 *
 * It loads the module with dlopen(), provides the entries of the module API that the module asks
 * for, keeps keys in a small table, and calls commands and the callbacks of the type.  So a million
 * commands take seconds, and run under the sanitizers.  What a real server would suffer from is a
 * fault here: no reply or two, an array of another length than announced, a key that stays open, a
 * string or a block that is not freed, a write by a command that is declared to read, a key that no
 * key spec names, an allocation that the server cannot refuse and that a client may make large.  A
 * fault prints what happened, with the commands that led to it, and aborts.
 *
 * Each server has an instance of the module of its own: variables of the module are not shared.
 */
#ifndef OLTR_TESTS_FAKE_SERVER_H
#define OLTR_TESTS_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_server fake_server;

typedef struct text {
    const void *bytes;
    size_t size;
} text;

text text_of(const char *string);
bool same_text(text a, text b);

/* ---- a server */

typedef struct fake_options {
    uint64_t seed;       /* of its random bytes, and of where strings lie */
    const char *without; /* an entry of the API that this server does not have, or NULL */
} fake_options;

/* The module is that of the environment variable OLTR_REDIS_MODULE or, without it, `module`.  NULL
 * when the module refuses to be loaded: fake_last_log() says why. */
fake_server *fake_start(const char *module, const fake_options *options);
/* Deletes every key; a fault when the module keeps a block of a model. */
void fake_stop(fake_server *s);
const char *fake_last_log(void);
/* The entries that modules have asked for, and those that were not there, as "A B C". */
const char *fake_asked(void);
const char *fake_missing(void);

/* ---- commands */

typedef enum reply_type {
    REPLY_ERROR,
    REPLY_STATUS,
    REPLY_INTEGER,
    REPLY_DOUBLE,
    REPLY_BULK,
    REPLY_NULL,
    REPLY_ARRAY,
    REPLY_MAP
} reply_type;

/* A reply is the first of an array in which the elements of a container follow it, each with its
 * own behind it; `span` is the number of nodes including itself.  It is valid until the next
 * command of the server. */
typedef struct reply {
    reply_type type;
    uint32_t n, span; /* n: elements of an array; of a map twice the number of its pairs */
    long long integer;
    double number;
    text words; /* of errors, states and bulk strings */
} reply;

const reply *reply_child(const reply *r, uint32_t i);
/* The value of a name in a map or in its flat form; NULL without it. */
const reply *reply_field(const reply *r, const char *name);
bool reply_is(const reply *r, const char *status);
/* The first word of an error, "" of anything else; valid until the next call. */
const char *reply_error(const reply *r);
bool same_reply(const reply *a, const reply *b);
reply *copy_reply(const reply *r); /* the caller frees it */

/* Where a command comes from. */
typedef enum fake_origin { FROM_CLIENT, FROM_MASTER, FROM_AOF, FROM_SCRIPT } fake_origin;

/* What a command did beside its reply. */
typedef struct fake_effects {
    uint32_t replicated, signalled, notified;
    char event[32];   /* of the last notification */
    int event_class;  /* its class */
    bool other_key;   /* signalled or notified for a key that is not argument 1 */
    bool deleted_key; /* a key is gone that was there */
} fake_effects;

const reply *fake_call(fake_server *s, const text *argv, uint32_t argc);
const reply *fake_call_from(fake_server *s, fake_origin origin, const text *argv, uint32_t argc);
/* The same by a line of words, for scripts: no quoting. */
const reply *fake_line(fake_server *s, const char *line);
/* Runs on another server what the last command replicated; NULL when it replicated nothing. */
const reply *fake_replay(fake_server *from, fake_server *on);
const fake_effects *fake_effects_of(const fake_server *s); /* of the last command */
void fake_resp3(fake_server *s, bool on);

uint32_t fake_command_count(const fake_server *s);
const char *fake_command_name(const fake_server *s, uint32_t i);
bool fake_command_writes(const fake_server *s, const char *name);

/* ---- keys */

bool fake_has_key(const fake_server *s, text key);
void fake_put_string(fake_server *s, text key); /* a key of another type */
bool fake_delete(fake_server *s, text key);     /* DEL */
/* UNLINK and FLUSHALL ASYNC: takes the value from the table, for fake_free_value() in any thread.
 */
typedef struct fake_value {
    void *value;
    fake_server *server;
} fake_value;
fake_value fake_unlink(fake_server *s, text key, bool told);
void fake_free_value(fake_value v);
size_t fake_free_effort(fake_server *s, text key);
bool fake_copy(fake_server *s, text from, text to); /* COPY */

/* ---- what the type does */

typedef struct blob {
    unsigned char *at;
    size_t size;
} blob;

/* The value in an RDB file, which must be one string; at is NULL where there is no such key.  The
 * caller frees it. */
blob fake_image(fake_server *s, text key);
uint64_t fake_digest(fake_server *s, text key);
size_t fake_usage(fake_server *s, text key);
/* RESTORE with REPLACE, or loading an RDB file; cut: the file ends before the string does. */
bool fake_restore(fake_server *s, text key, const void *image, size_t size, int encver, bool cut);
/* Emits the command that an AOF rewrite writes for the key, and runs it on another server. */
const reply *fake_rewrite(fake_server *s, text key, fake_server *into);

/* ---- memory */

/* Blocks of the server's instance that are not freed, their bytes, and requests that the module is
 * prepared to see refused. */
typedef struct fake_memory {
    size_t blocks, bytes, peak;
    uint64_t requests, refused;
    uint64_t outside; /* requests to the C library (seen only without sanitizers) */
} fake_memory;
fake_memory fake_memory_of(const fake_server *s);
void fake_forget_peak(fake_server *s); /* it is what there is now */
/* Refuses the n-th request from now, 0 being the next; negative: none.  later: and all after it. */
void fake_refuse(fake_server *s, long n, bool later);

/* ---- configuration and INFO */

bool fake_config_set(fake_server *s, const char *name, long long value);
long long fake_config_get(fake_server *s, const char *name);
/* A field of INFO oltr; a fault when there is none. */
uint64_t fake_info(fake_server *s, const char *field);
void fake_info_of(fake_server *s, const char *const *field, uint32_t n, uint64_t *out);

/* ---- faults */

/* Forgets the commands that would be printed with a fault: the keys were deleted. */
void fake_new_chapter(const char *format, ...) __attribute__((format(printf, 1, 2)));

void fake_fault(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
