/* digest.c - see digest.h. */
#define _POSIX_C_SOURCE 200809L
#include "lab/data/digest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 8, MOST_HELPERS = 64 };
static const uint64_t multiplier = 0x9E3779B97F4A7C15u; /* odd */

/* To and from the order of a file, which is little-endian. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LITTLE_32(word) __builtin_bswap32(word)
#define LITTLE_64(word) __builtin_bswap64(word)
#else
#define LITTLE_32(word) (word)
#define LITTLE_64(word) (word)
#endif

static uint64_t word_at(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return LITTLE_64(word);
}

static uint64_t step(uint64_t chain, uint64_t word)
{
    chain ^= word;
    return (chain << 29 | chain >> 35) * multiplier;
}

uint64_t digest(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t chain[CHAINS], result = n;
    size_t left = n;
    for (uint64_t i = 0; i < CHAINS; i++)
        chain[i] = (i + 1) * multiplier;
    for (; left >= 8 * CHAINS; left -= 8 * CHAINS, at += 8 * CHAINS)
        for (size_t i = 0; i < CHAINS; i++)
            chain[i] = step(chain[i], word_at(at + 8 * i));
    unsigned char tail[8 * CHAINS] = {0};
    if (left)
        memcpy(tail, at, left);
    for (size_t i = 0; i < CHAINS; i++)
        result = step(result, step(chain[i], word_at(tail + 8 * i)));
    result ^= result >> 32;
    return step(result, 0);
}

uint64_t digest_of_digests(uint64_t *part, size_t n)
{
    for (size_t i = 0; i < n; i++)
        part[i] = LITTLE_64(part[i]);
    return digest(part, n * sizeof *part);
}

/* ---- many chunks */

typedef struct job {
    const unsigned char *bytes;
    size_t n, n_chunks;
    bool check;
    uint64_t *part; /* (n_chunks) */
    atomic_size_t next;
    atomic_int not_finite;
} job;

/* A float is finite unless all bits of its exponent are set. */
static bool all_finite(const unsigned char *bytes, size_t n)
{
    uint32_t bad = 0;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        uint32_t bits;
        memcpy(&bits, bytes + i, sizeof bits);
        bad |= (bits & LITTLE_32(0x7F800000u)) == LITTLE_32(0x7F800000u);
    }
    return bad == 0;
}

static void *work(void *job_)
{
    job *j = job_;
    for (;;) {
        size_t i = atomic_fetch_add(&j->next, 1);
        if (i >= j->n_chunks)
            return NULL;
        size_t at = i * DIGEST_CHUNK, n = j->n - at < DIGEST_CHUNK ? j->n - at : DIGEST_CHUNK;
        j->part[i] = digest(j->bytes + at, n);
        if (j->check && !all_finite(j->bytes + at, n))
            atomic_store(&j->not_finite, 1);
    }
}

bool digest_all(const void *bytes, size_t n, uint32_t threads, bool *finite, uint64_t *result)
{
    job j = {.bytes = bytes,
             .n = n,
             .n_chunks = (n + DIGEST_CHUNK - 1) / DIGEST_CHUNK,
             .check = finite != NULL};
    pthread_t helper[MOST_HELPERS];
    uint32_t n_helpers = 0;
    atomic_init(&j.next, 0);
    atomic_init(&j.not_finite, 0);
    j.part = malloc((j.n_chunks ? j.n_chunks : 1) * sizeof *j.part);
    if (!j.part)
        return false;
    while (n_helpers < MOST_HELPERS && n_helpers + 1 < threads &&
           (n_helpers + 1) * 4 < j.n_chunks &&
           pthread_create(&helper[n_helpers], NULL, work, &j) == 0)
        n_helpers++;
    work(&j);
    while (n_helpers > 0)
        pthread_join(helper[--n_helpers], NULL);
    *result = digest_of_digests(j.part, j.n_chunks);
    if (finite)
        *finite = !atomic_load(&j.not_finite);
    free(j.part);
    return true;
}
