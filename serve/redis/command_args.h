/* command_args.h - the arguments of one command, read from left to right.
 *
 * Every reader takes what it needs from the front.  It returns false when that is not there or
 * makes no sense, and has then replied with an error: so a command is a chain of readers, and ends
 * at the first that fails.
 */
#ifndef OLTR_SERVE_REDIS_COMMAND_ARGS_H
#define OLTR_SERVE_REDIS_COMMAND_ARGS_H

#include <stdbool.h>

#include "serve/redis/module_api.h"
#include "serve/redis/module_caps.h"
#include "serve/redis/ranker_type.h"

typedef struct request {
    rm_ctx *ctx;
    rm_string **argv;
    int argc, at;  /* at: the next argument */
    size_t used;   /* of the room of request_memory() */
    int flags;     /* of the context */
    bool replayed; /* from a master or the append-only file: caps and counters do not apply */
} request;

/* at: the first argument that is no key. */
request request_of(rm_ctx *ctx, rm_string **argv, int argc, int at);

/* Memory until the end of the command. */
void *request_memory(request *r, size_t bytes);

/* ---- keys */

/* The ranker of a key, to read it or to change it, with its memory bounded by oltr.max-model-bytes.
 */
bool open_ranker(request *r, rm_string *name, ranker **k);
bool open_for_change(request *r, ranker **k); /* that of argument 1 */
/* What a model that this request makes or changes may take. */
size_t budget_of(const request *r);

/* ---- single arguments */

int arguments_left(const request *r);
/* Whether the next argument is this word, in any case; if so, it is taken. */
bool take_word(request *r, const char *word);
/* The next argument; NULL after a refusal. */
rm_string *read_argument(request *r, const char *what);
/* A whole number, least to most. */
#define NO_LIMIT INT64_MAX
bool read_count(request *r, const char *what, uint64_t least, uint64_t most, uint64_t *to);
/* A whole number, from least to the cap. */
bool read_capped(request *r, const char *what, uint64_t least, cap_id cap, uint32_t *to);
/* Any number but NAN; word is that of the error. */
bool read_number(request *r, const char *word, const char *what, double *to);
/* One for each of n items. */
bool read_numbers(request *r, const char *word, const char *what, double *to, uint32_t n);
/* Text without NUL, for the engine; word is that of the error. */
enum { TEXT_SIZE = 128 };
bool read_text(request *r, const char *word, const char *what, char to[TEXT_SIZE]);
oltr_name name_of(const rm_string *string);
oltr_name name_at(const char *bytes, size_t size); /* the engine refuses one that is too long */
/* The id of a lesson: not empty. */
bool read_id(request *r, oltr_name *to);
bool within_cap(request *r, const char *what, uint64_t value, cap_id cap);
/* Nothing is left. */
bool read_end(request *r);

/* ---- options, in any order and each at most once */

typedef struct option {
    const char *word;
    bool (*read)(request *r, void *into); /* what follows the word */
} option;
bool read_options(request *r, const option *options, int n, void *into);
#define READ_OPTIONS(r, options, into)                                                             \
    read_options(r, options, (int)(sizeof(options) / sizeof *(options)), into)

#endif
