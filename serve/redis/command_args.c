/* command_args.c - see command_args.h. */
#include "serve/redis/command_args.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "serve/redis/command_replies.h"

request request_of(rm_ctx *ctx, rm_string **argv, int argc, int at)
{
    int flags = rm.GetContextFlags(ctx);
    return (request){.ctx = ctx,
                     .argv = argv,
                     .argc = argc,
                     .at = at,
                     .flags = flags,
                     .replayed = flags & (RM_FROM_MASTER | RM_LOADING)};
}

/* Commands run one after the other in the main thread, and none of them calls another: so what most
 * of them need is in one place.  More comes from the server, with 100 ns for its allocator. */
void *request_memory(request *r, size_t bytes)
{
    static _Alignas(max_align_t) unsigned char room[1 << 15];
    size_t from = r->used,
           aligned = (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
    if (aligned < bytes || aligned > sizeof room - from)
        return rm.PoolAlloc(r->ctx, bytes ? bytes : 1);
    r->used += aligned;
    return room + from;
}

/* ---- keys */

size_t budget_of(const request *r)
{
    uint64_t cap = (uint64_t)module_caps[CAP_MODEL_BYTES].value;
    return r->replayed || cap > SIZE_MAX ? UNBOUNDED : (size_t)cap;
}

/* Reading may take as much again, for a moment: names that the model has no room for are ranked by
 * a copy of it. */
static size_t budget_for(const request *r, const ranker *k, int mode)
{
    size_t most = budget_of(r), used = k->memory.used;
    return mode & RM_WRITE || most > SIZE_MAX - used ? most : most + used;
}

static bool open_as(request *r, rm_string *name, int mode, ranker **k)
{
    rm_key *key = rm.OpenKey(r->ctx, name, mode); /* NULL: read, and not there */
    bool found = key && rm.KeyType(key) != RM_KEYTYPE_EMPTY;
    bool right = found && rm.ModuleTypeGetType(key) == ranker_type;
    *k = right ? rm.ModuleTypeGetValue(key) : NULL;
    if (key)
        rm.CloseKey(key);
    if (!found)
        return refuse(r, "NOTFOUND there is no model under this key: make one with OLTR.CREATE or "
                         "OLTR.LOAD");
    if (!right)
        return refuse(r, "WRONGTYPE the key holds a value that is not a model of oltr");
    (*k)->memory.most = budget_for(r, *k, mode);
    (*k)->memory.exceeded = false;
    return true;
}

bool open_ranker(request *r, rm_string *name, ranker **k)
{
    return open_as(r, name, RM_READ, k);
}

bool open_for_change(request *r, ranker **k)
{
    return open_as(r, r->argv[1], RM_READ | RM_WRITE, k);
}

/* ---- single arguments */

int arguments_left(const request *r)
{
    return r->argc - r->at;
}

static bool is_word(const rm_string *argument, const char *word)
{
    size_t n;
    const char *text = rm.StringPtrLen(argument, &n);
    return n == strlen(word) && strncasecmp(text, word, n) == 0;
}

bool take_word(request *r, const char *word)
{
    if (r->at >= r->argc || !is_word(r->argv[r->at], word))
        return false;
    r->at++;
    return true;
}

rm_string *read_argument(request *r, const char *what)
{
    if (r->at < r->argc)
        return r->argv[r->at++];
    reply_refusal(r, "BADARG the command ends where %s should follow", what);
    return NULL;
}

bool read_count(request *r, const char *what, uint64_t least, uint64_t most, uint64_t *to)
{
    rm_string *argument = read_argument(r, what);
    long long value;
    if (!argument)
        return false;
    bool read = rm.StringToLongLong(argument, &value) == RM_OK && value >= 0;
    *to = read ? (uint64_t)value : 0;
    if (read && *to >= least && *to <= most)
        return true;
    if (most == NO_LIMIT)
        return refuse(r, "BADARG argument %d: %s is a whole number, at least %llu", r->at - 1, what,
                      (unsigned long long)least);
    return refuse(r, "BADARG argument %d: %s is a whole number from %llu to %llu", r->at - 1, what,
                  (unsigned long long)least, (unsigned long long)most);
}

bool within_cap(request *r, const char *what, uint64_t value, cap_id cap)
{
    uint64_t most = r->replayed ? UINT32_MAX : (uint64_t)module_caps[cap].value;
    return value <= most ||
           refuse(r, "TOOBIG %s: %llu, and oltr.%s is %lld", what, (unsigned long long)value,
                  module_caps[cap].name, module_caps[cap].value);
}

bool read_capped(request *r, const char *what, uint64_t least, cap_id cap, uint32_t *to)
{
    uint64_t value;
    if (!read_count(r, what, least, NO_LIMIT, &value) || !within_cap(r, what, value, cap))
        return false;
    *to = (uint32_t)value;
    return true;
}

bool read_number(request *r, const char *word, const char *what, double *to)
{
    rm_string *argument = read_argument(r, what);
    if (!argument)
        return false;
    if (rm.StringToDouble(argument, to) != RM_OK || isnan(*to))
        return refuse(r, "%s argument %d: %s is a number", word, r->at - 1, what);
    return true;
}

bool read_numbers(request *r, const char *word, const char *what, double *to, uint32_t n)
{
    if ((uint32_t)arguments_left(r) < n)
        return refuse(r, "BADARG %s for each of %u items is needed, and the command ends after %d",
                      what, n, arguments_left(r));
    for (uint32_t i = 0; i < n; i++)
        if (!read_number(r, word, what, &to[i]))
            return false;
    return true;
}

bool read_text(request *r, const char *word, const char *what, char to[TEXT_SIZE])
{
    size_t n;
    rm_string *argument = read_argument(r, what);
    if (!argument)
        return false;
    const char *text = rm.StringPtrLen(argument, &n);
    if (n >= TEXT_SIZE || memchr(text, 0, n))
        return refuse(r, "%s argument %d: %s has at most %d bytes, none of them 0", word, r->at - 1,
                      what, TEXT_SIZE - 1);
    memcpy(to, text, n);
    to[n] = 0;
    return true;
}

oltr_name name_at(const char *bytes, size_t size)
{
    return (oltr_name){bytes, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX};
}

oltr_name name_of(const rm_string *string)
{
    size_t n;
    const char *bytes = rm.StringPtrLen(string, &n);
    return name_at(bytes, n);
}

bool read_id(request *r, oltr_name *to)
{
    rm_string *argument = read_argument(r, "an id");
    if (!argument)
        return false;
    *to = name_of(argument);
    return to->size ||
           refuse(r, "BADITEM argument %d: an id has 1 to %d bytes", r->at - 1, OLTR_LONGEST_NAME);
}

bool read_end(request *r)
{
    return r->at >= r->argc || refuse(r, "BADARG argument %d is one too many", r->at);
}

/* ---- options */

static const option *find_option(const request *r, const option *options, int n)
{
    for (int i = 0; i < n; i++)
        if (is_word(r->argv[r->at], options[i].word))
            return &options[i];
    return NULL;
}

static bool refuse_option(request *r, const option *options, int n)
{
    char words[256] = "";
    for (int i = 0; i < n; i++) {
        strncat(words, i ? ", " : "", sizeof words - strlen(words) - 1);
        strncat(words, options[i].word, sizeof words - strlen(words) - 1);
    }
    return refuse(r, "BADARG argument %d is none of the options %s", r->at, words);
}

bool read_options(request *r, const option *options, int n, void *into)
{
    unsigned seen = 0;
    while (r->at < r->argc) {
        const option *found = find_option(r, options, n);
        if (!found)
            return refuse_option(r, options, n);
        unsigned bit = 1u << (found - options);
        if (seen & bit)
            return refuse(r, "BADARG argument %d: %s is given twice", r->at, found->word);
        seen |= bit;
        r->at++;
        if (!found->read(r, into))
            return false;
    }
    return true;
}
