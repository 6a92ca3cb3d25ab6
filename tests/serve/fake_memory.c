/* fake_memory.c - the allocator of the fake server: counts blocks by server, and refuses requests.
 *
 * Each block has a header with its size and its server.  The header has 16 bytes, so that blocks
 * are aligned as those of a real server and not better.  Without sanitizers malloc() itself is
 * watched too: the module must keep nothing of it when a command ends.
 */
#define _GNU_SOURCE 1
#include "fake_parts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(FUZZ_SANITIZED) && \
    defined(__GLIBC__)
#define WATCH_LIBRARY 1
#endif

enum { MOST_SERVERS = 256, MAGIC = 0x0010C0DE, FREED = 0x00DEADB1 };
/* A request that cannot be refused ends a real server when memory is short.  The caps keep the
 * temporary arrays of one command below this; saving a file may take what it needs. */
enum { MOST_SURE = 1 << 22 };
/* A block is charged with more bytes than were asked for, as by any allocator. */
enum { OVERHEAD = 8 };

/* A write to the byte before a block makes the magic another one. */
typedef struct header {
    size_t size;
    uint32_t server, magic;
} header;
_Static_assert(sizeof(header) == 16 || sizeof(size_t) < 8, "blocks are aligned to 16");

static struct {
    atomic_size_t blocks, bytes, peak;
    atomic_ullong requests, refused, outside;
} counted[MOST_SERVERS];

static _Thread_local fake_server *running;
static _Thread_local volatile bool
    ours; /* volatile: compilers know that malloc() does not read it */

void enter_module(fake_server *s)
{
    running = s;
}

/* ---- the C library's */

#ifdef WATCH_LIBRARY
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

enum { MOST_OUTSIDE = 16 };
static _Thread_local void *outside[MOST_OUTSIDE];
static _Thread_local size_t n_outside;

/* A few work arrays of the engine are the C library's, until the call returns. */
static void *watched(void *block)
{
    if (!running || ours || !block)
        return block;
    if (n_outside == MOST_OUTSIDE)
        fake_fault("more than %d blocks past the server's allocator", MOST_OUTSIDE);
    outside[n_outside++] = block;
    atomic_fetch_add_explicit(&counted[running->number].outside, 1, memory_order_relaxed);
    return block;
}

static void unwatch(void *block)
{
    size_t i = 0;
    while (i < n_outside && outside[i] != block)
        i++;
    if (i < n_outside)
        outside[i] = outside[--n_outside];
}

void *malloc(size_t size)
{
    return watched(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
    return watched(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
    unwatch(old);
    return watched(__libc_realloc(old, size));
}

void *aligned_alloc(size_t align, size_t size)
{
    return watched(__libc_memalign(align, size));
}

void free(void *block)
{
    unwatch(block);
    __libc_free(block);
}
#endif

void leave_module(void)
{
    running = NULL;
#ifdef WATCH_LIBRARY
    if (n_outside)
        fake_fault("%zu blocks of the C library are kept", n_outside);
#endif
}

void *own_larger(void *old, size_t size)
{
    bool before = ours;
    ours = true;
    void *block = realloc(old, size ? size : 1);
    ours = before;
    if (!block)
        fake_fault("the test itself has no memory for %zu bytes", size);
    return block;
}

void *own_block(size_t size)
{
    return own_larger(NULL, size);
}

void own_free(void *block)
{
    free(block);
}

/* ---- the server's */

static void count(uint32_t server, size_t blocks, size_t bytes)
{
    atomic_fetch_add_explicit(&counted[server].blocks, blocks, memory_order_relaxed);
    atomic_fetch_add_explicit(&counted[server].bytes, bytes, memory_order_relaxed);
}

static void note_peak(uint32_t server)
{
    size_t now = atomic_load_explicit(&counted[server].bytes, memory_order_relaxed);
    if (now > atomic_load_explicit(&counted[server].peak, memory_order_relaxed))
        atomic_store_explicit(&counted[server].peak, now, memory_order_relaxed);
}

/* May be NULL when the machine has no memory: sanitizers bound single requests. */
static void *take(size_t size)
{
    uint32_t server = running ? running->number : 0;
    if (size > SIZE_MAX / 2)
        return NULL;
    ours = true;
    header *h = malloc(sizeof *h + size);
    ours = false;
    if (!h)
        return NULL;
    *h = (header){size, server, MAGIC};
    memset(h + 1, 0xA5, size); /* of any content */
    count(server, 1, size + OVERHEAD);
    note_peak(server);
    return h + 1;
}

static header *header_of(void *block)
{
    header *h = (header *)block - 1;
    if (h->magic != MAGIC)
        fake_fault("a block that is not one of the server's, or freed before, is used");
    return h;
}

static void check_sure(size_t size)
{
    if (running && running->ctx.command && size > MOST_SURE)
        fake_fault("RedisModule_Alloc of %zu bytes: the server ends when memory is short", size);
}

void *api_alloc(size_t size)
{
    check_sure(size);
    void *block = take(size);
    if (!block)
        fake_fault("RedisModule_Alloc of %zu bytes: no memory, the server ends", size);
    return block;
}

/* A block that the server itself hands out. */
void *server_block(size_t size)
{
    void *block = take(size);
    if (!block)
        fake_fault("the test itself has no memory for %zu bytes", size);
    return block;
}

/* Until the end of the command. */
void *api_pool_alloc(RedisModuleCtx *ctx, size_t size)
{
    void *block = api_alloc(size);
    ctx->pool = own_larger(ctx->pool, (ctx->n_pool + 1) * sizeof *ctx->pool);
    ctx->pool[ctx->n_pool++] = block;
    return block;
}

void *api_calloc(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        fake_fault("RedisModule_Calloc overflows");
    void *block = api_alloc(n * size);
    memset(block, 0, n * size);
    return block;
}

void api_free(void *block)
{
    if (!block)
        return;
    header *h = header_of(block);
    count(h->server, (size_t)-1, (size_t)0 - h->size - OVERHEAD);
    h->magic = FREED;
    free(h);
}

void *api_realloc(void *old, size_t size)
{
    void *block = api_alloc(size);
    if (old) {
        size_t kept = header_of(old)->size;
        memcpy(block, old, kept < size ? kept : size);
        api_free(old);
    }
    return block;
}

static bool refused(void)
{
    fake_server *s = running;
    if (!s)
        return false;
    atomic_fetch_add_explicit(&counted[s->number].requests, 1, memory_order_relaxed);
    if (s->until_refusal < 0 || s->until_refusal-- > 0)
        return false;
    s->until_refusal = s->refuse_later ? 0 : -1;
    atomic_fetch_add_explicit(&counted[s->number].refused, 1, memory_order_relaxed);
    return true;
}

void *api_try_alloc(size_t size)
{
    return refused() ? NULL : take(size);
}

char *api_strdup(const char *words)
{
    size_t size = strlen(words) + 1;
    return memcpy(api_alloc(size), words, size);
}

size_t api_malloc_size(void *block)
{
    return block ? header_of(block)->size + OVERHEAD : 0;
}

fake_memory fake_memory_of(const fake_server *s)
{
    uint32_t i = s->number;
    return (fake_memory){.blocks = atomic_load(&counted[i].blocks),
                         .bytes = atomic_load(&counted[i].bytes),
                         .peak = atomic_load(&counted[i].peak),
                         .requests = atomic_load(&counted[i].requests),
                         .refused = atomic_load(&counted[i].refused),
                         .outside = atomic_load(&counted[i].outside)};
}

void fake_forget_peak(fake_server *s)
{
    atomic_store(&counted[s->number].peak, atomic_load(&counted[s->number].bytes));
}

void fake_refuse(fake_server *s, long n, bool later)
{
    s->until_refusal = n;
    s->refuse_later = later;
}
