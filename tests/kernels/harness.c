/* harness.c - compares every kernel of the table with its plain twin (harness.h).
 *
 * usage: test_kernels CPU       exit status 77: this processor or this build has no such kernels
 *
 * Prints one line for each row: compared, or which other version it shares, or not run.
 */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <float.h>
#include <stdio.h>

/* AddressSanitizer sees the first byte beyond an array; other builds look for changed guards. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESSES_ARE_CHECKED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(ADDRESSES_ARE_CHECKED)
enum { GUARD = 0 };
#else
enum { GUARD = 64 };
#endif
enum { MOST_BLOCKS = 64, PATTERN = 0xA5 };

static struct block {
    char *memory, *end; /* of the array, where its guard begins */
} blocks[MOST_BLOCKS];
static size_t n_blocks, failures;
static const char *kernel_name = "";
static char input[200];

void describe(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(input, sizeof input, format, list);
    va_end(list);
}

static void fail_with(const char *what, size_t i)
{
    if (failures++ < 20)
        (void)printf("%s, %s: %s differs from the twin at %zu\n", kernel_name, input, what, i);
}

static void *take(size_t bytes, size_t offset)
{
    struct block *b = &blocks[n_blocks++];
    if (n_blocks > MOST_BLOCKS ||
        posix_memalign((void **)&b->memory, 64, offset + bytes + GUARD + !(bytes + GUARD)))
        abort();
    b->end = b->memory + offset + bytes;
    memset(b->memory, 0, offset + bytes);
    memset(b->end, PATTERN, GUARD);
    return b->memory + offset;
}

void *guarded(size_t count, size_t size)
{
    return take(count * size, size);
}

void *guarded_aligned(size_t count, size_t size)
{
    return take(count * size, 0);
}

void guarded_pair(void *pair[2], size_t count, size_t size, const void *from)
{
    for (int i = 0; i < 2; i++) {
        pair[i] = guarded(count, size);
        if (from)
            memcpy(pair[i], from, count * size);
        else
            memset(pair[i], 0x5A, count * size);
    }
}

void release(void)
{
    for (size_t i = 0; i < n_blocks; i++) {
        for (const char *at = blocks[i].end; at < blocks[i].end + GUARD; at++)
            if (*at != (char)PATTERN)
                fail_with("the memory behind an array", (size_t)(at - blocks[i].end));
        free(blocks[i].memory);
    }
    n_blocks = 0;
}

void same_words(const char *what, const uint32_t *twin, const uint32_t *version, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (twin[i] != version[i])
            fail_with(what, i);
}

void same_floats(const char *what, const float *twin, const float *version, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(twin + i, version + i, sizeof *twin) != 0 &&
            !(isnan(twin[i]) && isnan(version[i])))
            fail_with(what, i);
}

void same_doubles(const char *what, const double *twin, const double *version, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(twin + i, version + i, sizeof *twin) != 0 &&
            !(isnan(twin[i]) && isnan(version[i])))
            fail_with(what, i);
}

void same_bool(const char *what, bool twin, bool version)
{
    if (twin != version)
        fail_with(what, 0);
}

oltr_rng generator(dice *from)
{
    oltr_rng rng = oltr_rng_make(roll(from), 1);
    return oltr_rng_at(rng, below(from, 5), roll(from) >> (16 + below(from, 48)));
}

float strange_float(dice *from)
{
    static const float strange[] = {0,       -0.0f,    1,      -1,      1e30f,    -1e30f,
                                    1e-30f,  1e-6f,    1e-42f, -1e-45f, 3,        16777216,
                                    FLT_MAX, -FLT_MAX, 1e6f,   FLT_MIN, -FLT_MIN, FLT_TRUE_MIN};
    return strange[below(from, LENGTH(strange))];
}

size_t random_subset(dice *from, uint32_t *item, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        item[i] = i;
    for (uint32_t i = (uint32_t)n - 1; i > 0; i--) {
        uint32_t j = below(from, i + 1), swap = item[i];
        item[i] = item[j];
        item[j] = swap;
    }
    return 1 + below(from, (uint32_t)n);
}

static const struct row {
    const char *name, *version[4]; /* by processor */
    void (*check)(uint32_t cpu);
} rows[] = {
#define ROW(name, avx2, avx512, neon) {#name, {"plain", #avx2, #avx512, #neon}, check_##name},
    KERNEL_TABLE(ROW)
#undef ROW
};

static void check_row(const struct row *r, uint32_t cpu)
{
    size_t before = failures;
    if (strcmp(r->version[cpu], oltr_cpu_name(cpu)) != 0) {
        (void)printf("%-20s uses %s\n", r->name, r->version[cpu]);
        return;
    }
    kernel_name = r->name;
    r->check(cpu);
    release();
    (void)printf("%-20s %s\n", r->name, failures == before ? "equals its twin" : "FAILED");
}

int main(int argc, char **argv)
{
    uint32_t cpu = 0;
    while (argc > 1 && oltr_cpu_name(cpu) && strcmp(argv[1], oltr_cpu_name(cpu)) != 0)
        cpu++;
    if (argc != 2 || !oltr_cpu_name(cpu) || cpu == OLTR_CPU_PLAIN) {
        (void)fputs("usage: test_kernels avx2|avx512|neon\n", stderr);
        return 2;
    }
    if ((cpu == OLTR_CPU_NEON) != (oltr_cpu_found() == OLTR_CPU_NEON) || oltr_cpu_found() < cpu) {
        (void)printf("not run: this processor or build has no %s; not compared:", argv[1]);
        for (size_t i = 0; i < LENGTH(rows); i++)
            if (strcmp(rows[i].version[cpu], argv[1]) == 0)
                (void)printf(" %s", rows[i].name);
        (void)printf("\n");
        return 77;
    }
    for (size_t i = 0; i < LENGTH(rows); i++)
        check_row(&rows[i], cpu);
    if (failures)
        (void)printf("%zu failures\n", failures);
    return failures != 0;
}
