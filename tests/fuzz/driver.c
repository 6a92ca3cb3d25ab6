/* driver.c - runs a fuzz target without a fuzzer: every file of its corpus, and a few thousand
 * changes of each kind, always the same ones.
 *
 * So that what a fuzzer once found stays found in every ordinary test run, with any compiler.
 * usage: driver CORPUS_DIR [CHANGES]
 */
#define _DEFAULT_SOURCE 1
#include "support/dice.h"
#include "target.h"

#include <dirent.h>
#include <sys/resource.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { MOST_FILES = 256, MOST_BYTES = 1 << 16 };

typedef struct input {
    char name[256];
    size_t size;
    uint8_t *byte;
} input;

static dice changes_of = {1};

static uint32_t draw(uint32_t n)
{
    return below(&changes_of, n);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const input *)x)->name, ((const input *)y)->name);
}

static input read_input(const char *folder, const char *name)
{
    char path[600];
    input in = {.byte = malloc(MOST_BYTES)};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(in.name, sizeof in.name, "%s", name);
    FILE *file = fopen(path, "rb");
    must_hold(file && in.byte, "the corpus can be read");
    in.size = fread(in.byte, 1, MOST_BYTES, file);
    fclose(file);
    return in;
}

static uint32_t read_corpus(const char *folder, input *out)
{
    uint32_t n = 0;
    DIR *dir = opendir(folder);
    must_hold(dir, "the corpus is there");
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (entry->d_name[0] != '.' && n < MOST_FILES)
            out[n++] = read_input(folder, entry->d_name);
    closedir(dir);
    qsort(out, n, sizeof *out, by_name);
    return n;
}

/* Moves the tail by `gone` out and `added` in; returns the new size. */
static size_t resize_at(uint8_t *x, size_t size, size_t at, size_t gone, size_t added)
{
    if (size - gone + added > MOST_BYTES)
        return size;
    memmove(x + at + added, x + at + gone, size - at - gone);
    return size - gone + added;
}

/* Numbers at the ends of what they can be, in bytes and in text. */
static size_t put_extreme(uint8_t *x, size_t size, size_t at)
{
    static const uint64_t words[] = {0,
                                     1,
                                     0x7F,
                                     0xFF,
                                     0x7FFF,
                                     0xFFFF,
                                     0x7FFFFFFF,
                                     0xFFFFFFFF,
                                     1ull << 63,
                                     ~0ull,
                                     0x7FF0000000000000,
                                     0x7FF8000000000000};
    static const char *const texts[] = {"-1",   "1e308",  "nan", "99999999999999999999",
                                        "0",    "1e-308", "[]",  "{}",
                                        "null", "~",      "\"",  ": ",
                                        "\n- ", "&a",     "*a"};
    if (draw(2)) {
        uint64_t word = words[draw(COUNT(words))];
        for (size_t i = 0, n = 1u << draw(4); i < n && at + i < size; i++)
            x[at + i] = (uint8_t)(word >> 8 * i);
        return size;
    }
    const char *text = texts[draw(COUNT(texts))];
    size_t n = strlen(text), gone = draw(4);
    gone = gone < size - at ? gone : size - at;
    size_t now = resize_at(x, size, at, gone, n);
    if (now == size - gone + n)
        memcpy(x + at, text, n);
    return now;
}

static size_t change(uint8_t *x, size_t size, const input *other)
{
    size_t at = size ? draw((uint32_t)size) : 0, n = 1 + draw(2) * draw(16);
    n = n < size - at ? n : size - at;
    switch (draw(6)) {
    case 0:
        if (size)
            x[at] ^= (uint8_t)(1u << draw(8));
        return size;
    case 1: /* a digit, a letter, or anything */
        if (size)
            x[at] =
                (uint8_t)(draw(3) ? x[at] >= '0' && x[at] <= '9' ? '0' + draw(10) : ' ' + draw(95)
                                  : draw(256));
        return size;
    case 2:
        return resize_at(x, size, at, n, 0);
    case 3: /* a piece twice */
        return resize_at(x, size, at, 0, n);
    case 4: /* a piece of another */
        if (other->size) {
            size_t from = draw((uint32_t)other->size),
                   length = other->size - from < 64 ? other->size - from : 64;
            length = length < MOST_BYTES - at ? length : MOST_BYTES - at;
            memcpy(x + at, other->byte + from, length);
            return at + length > size ? at + length : size;
        }
        return size;
    default:
        return put_extreme(x, size, at);
    }
}

static void run_changes(const input *in, const input *all, uint32_t n_all, uint32_t changes)
{
    static uint8_t room[MOST_BYTES];
    for (uint32_t i = 0; i < changes; i++) {
        size_t size = in->size;
        memcpy(room, in->byte, size);
        for (uint32_t step = 1 + draw(2) * draw(3); step > 0; step--)
            size = change(room, size, &all[draw(n_all)]);
        LLVMFuzzerTestOneInput(room, size);
    }
}

/* Without a sanitizer the whole process is bounded; with one, its allocator is (limits.c). */
static void bound_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(FUZZ_SANITIZED)
    struct rlimit bound = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    setrlimit(RLIMIT_AS, &bound);
#endif
}

int main(int argc, char **argv)
{
    static input all[MOST_FILES];
    must_hold(argc >= 2, "usage: driver CORPUS_DIR [CHANGES]");
    uint32_t n = read_corpus(argv[1], all), changes = argc > 2 ? (uint32_t)atoi(argv[2]) : 3000;
    must_hold(n > 0, "the corpus is not empty");
    bound_memory();
    for (uint32_t i = 0; i < n; i++)
        LLVMFuzzerTestOneInput(all[i].byte, all[i].size);
    for (uint32_t i = 0; i < n; i++)
        run_changes(&all[i], all, n, changes / n);
    printf("%u files, and %u changes of each\n", n, changes / n);
    for (uint32_t i = 0; i < n; i++)
        free(all[i].byte);
    return 0;
}
