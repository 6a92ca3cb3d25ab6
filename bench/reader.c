/* reader.c - how fast a text is read into a dataset, compared with a plain reader, a bare scan of
 * the same bytes, and a memory map.
 *
 *   bench_reader [--repetitions N] [--rows N] [--keep FILE] [--json FILE] [--strict]
 *
 * The text is made here, in the shape of MSLR-WEB30K: 136 dense features of which a third are zero,
 * integers, six decimals, negative logarithms, a blank at the end of each line.  One thread is
 * measured in thread CPU time, two threads in wall time, both with a warm page cache.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <oltr/sim.h>

#include "measure.h"
#include "table.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { FEATURES = 136, DOCUMENTS = 120 };

/* ---- the text */

/* Features come in groups of five: body, anchor, title, url, whole page.  The share of zeros of
 * each. */
static const double zero_share[5] = {0.10, 0.87, 0.33, 0.62, 0.07};

static int put_value(char *to, size_t size, uint32_t feature, oltr_rng *rng)
{
    double u = oltr_rng_uniform(rng);
    if (feature > 110 && feature <= 125)
        return snprintf(to, size, "-%.6f", 3 + 20 * u);
    if (feature > 125)
        return snprintf(to, size, "%u",
                        u < 0.25 ? 0 : oltr_rng_below(rng, feature % 5 ? 300 : 60000));
    if (feature > 15 && feature <= 20)
        return snprintf(to, size, "%.6f", 10 + 15 * u);
    if (u < zero_share[(feature - 1) % 5])
        return snprintf(to, size, "0");
    if (feature <= 40 || (feature > 95 && feature <= 100))
        return snprintf(to, size, "%u",
                        1 + oltr_rng_below(rng, feature > 10 && feature <= 15 ? 2000 : 9));
    return snprintf(to, size, "%.6f", oltr_rng_uniform(rng) * (feature % 3 ? 1 : 40));
}

static void write_text(const char *path, uint32_t rows)
{
    FILE *file = fopen(path, "wb");
    oltr_rng seed = oltr_rng_make(30, 0);
    if (!file)
        die("cannot write %s", path);
    for (uint32_t i = 0; i < rows; i++) {
        char text[FEATURES * 32];
        oltr_rng rng = oltr_rng_at(seed, 0, i);
        int n = snprintf(text, sizeof text, "%u qid:%u ", oltr_rng_below(&rng, 5),
                         1 + 15 * (i / DOCUMENTS));
        for (uint32_t f = 1; f <= FEATURES; f++) {
            n += snprintf(text + n, sizeof text - (size_t)n, "%u:", f);
            n += put_value(text + n, sizeof text - (size_t)n, f, &rng);
            text[n++] = ' ';
        }
        text[n++] = '\n';
        if (fwrite(text, 1, (size_t)n, file) != (size_t)n)
            die("cannot write %s", path);
    }
    if (fclose(file) != 0)
        die("cannot write %s", path);
}

static void write_gzip(const char *from, const char *to)
{
    static char part[1 << 16];
    FILE *file = fopen(from, "rb");
    gzFile packed = gzopen(to, "wb1");
    size_t n;
    if (!file || !packed)
        die("cannot write %s", to);
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        if (gzwrite(packed, part, (unsigned)n) != (int)n)
            die("cannot write %s", to);
    fclose(file);
    if (gzclose(packed) != Z_OK)
        die("cannot write %s", to);
}

/* ---- the readers */

typedef struct files {
    char text[512], gzip[512], cache[512];
    const char *map; /* the text, in memory */
    size_t size;
    size_t cache_size;
} files;

static uint64_t sink; /* uses the results, so that the compiler keeps the work */

static oltr_dataset *read_or_die(const char *path, uint32_t threads)
{
    oltr_error error;
    oltr_dataset *d =
        oltr_dataset_read(path, &(oltr_read_options){.threads = threads}, NULL, &error);
    if (!d)
        die("%s", error.msg);
    return d;
}

static void play_ours(void *files_, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        oltr_dataset *d = read_or_die(((files *)files_)->text, 1);
        sink += d->n_rows;
        oltr_dataset_free(d);
    }
}

static void play_cache(void *files_, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        oltr_dataset *d = read_or_die(((files *)files_)->cache, 1);
        sink += d->n_rows;
        oltr_dataset_free(d);
    }
}

/* One line, parsed with strtol and strtod. */
static void plain_line(char *line, float *x, uint8_t *grade, uint64_t *query)
{
    char *at = line;
    *grade = (uint8_t)strtol(at, &at, 10);
    at = strchr(at, ':') + 1;
    *query = strtoull(at, &at, 10);
    for (;;) {
        char *end;
        long id = strtol(at, &end, 10);
        if (end == at)
            return;
        x[id - 1] = (float)strtod(end + 1, &at);
    }
}

static void play_plain(void *files_, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        FILE *file = fopen(((files *)files_)->text, "rb");
        char *line = NULL;
        size_t room = 0, n = 0, rows = 0;
        float *x = NULL;
        uint8_t grade = 0;
        uint64_t query = 0;
        while (file && getline(&line, &room, file) > 0) {
            if (n == rows) {
                rows = rows ? 2 * rows : 1024;
                x = realloc(x, rows * FEATURES * sizeof *x);
                if (!x)
                    die("out of memory");
            }
            memset(x + n * FEATURES, 0, FEATURES * sizeof *x);
            plain_line(line, x + n * FEATURES, &grade, &query);
            sink += grade + query;
            n++;
        }
        if (!file || n == 0)
            die("cannot read the text");
        fclose(file);
        free(line);
        free(x);
    }
}

/* Finds every blank, colon and newline and adds up their positions. */
static void play_scan(void *files_, uint32_t rounds)
{
    const files *f = files_;
    for (uint32_t r = 0; r < rounds; r++) {
        uint64_t sum = 0;
        size_t i = 0;
#if defined(__SSE2__)
        const __m128i blank = _mm_set1_epi8(' '), colon = _mm_set1_epi8(':'),
                      newline = _mm_set1_epi8('\n');
        for (; i + 64 <= f->size; i += 64) {
            uint64_t found = 0;
            for (unsigned j = 0; j < 4; j++) {
                __m128i text =
                    _mm_loadu_si128((const __m128i *)(const void *)(f->map + i + 16 * j));
                __m128i any = _mm_or_si128(
                    _mm_cmpeq_epi8(text, blank),
                    _mm_or_si128(_mm_cmpeq_epi8(text, colon), _mm_cmpeq_epi8(text, newline)));
                found |= (uint64_t)(uint32_t)_mm_movemask_epi8(any) << 16 * j;
            }
            for (; found; found &= found - 1)
                sum += i + (uint64_t)__builtin_ctzll(found);
        }
#endif
        for (; i < f->size; i++)
            sum += f->map[i] == ' ' || f->map[i] == ':' || f->map[i] == '\n' ? i : 0;
        sink += sum;
    }
}

/* Maps the cache and touches all of it, eight bytes at a time. */
static void play_touch(void *files_, uint32_t rounds)
{
    const files *f = files_;
    for (uint32_t r = 0; r < rounds; r++) {
        int fd = open(f->cache, O_RDONLY);
        const uint64_t *map = mmap(NULL, f->cache_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED)
            die("cannot map the cache");
        uint64_t sum = 0;
        for (size_t i = 0; i < f->cache_size / 8; i++)
            sum += map[i];
        sink += sum;
        munmap((void *)(uintptr_t)map, f->cache_size);
        close(fd);
    }
}

/* ---- rows of the table */

enum { OURS, PLAIN, SCAN, CACHE, TOUCH, VARIANTS };

static double mb_per_s(size_t bytes, const variant *v, uint32_t repetitions)
{
    return 1e3 * (double)bytes / median_ns(v, repetitions);
}

static void speed(table *t, files *f, uint32_t repetitions)
{
    static variant v[VARIANTS];
    void (*const play[])(void *, uint32_t) = {play_ours, play_plain, play_scan, play_cache,
                                              play_touch};
    /* About equal times.  A virtual machine gives memory back during pauses and must fetch it
     * again, so no variant may be much longer than the others. */
    static const uint32_t rounds[] = {6, 1, 6, 12, 12};
    for (int i = 0; i < VARIANTS; i++)
        v[i] = (variant){.play = play[i], .context = f, .rounds = rounds[i]};
    measure(v, VARIANTS, repetitions);
    row *r = table_add(t, "", ratio(&v[PLAIN], &v[OURS], repetitions), AT_LEAST, 6,
                       "getline and strtod / ours, one thread");
    row_note(r, "%.0f and %.0f MB/s", mb_per_s(f->size, &v[PLAIN], repetitions),
             mb_per_s(f->size, &v[OURS], repetitions));
    r = table_add(t, "", ratio(&v[SCAN], &v[OURS], repetitions), AT_LEAST, 0.35,
                  "bare delimiter scan / ours, one thread");
    row_note(r, "the scan: %.0f MB/s", mb_per_s(f->size, &v[SCAN], repetitions));
    r = table_add(t, "", ratio(&v[TOUCH], &v[CACHE], repetitions), AT_LEAST, 0.5,
                  "map and touch / load of the cache, one thread");
    row_note(r, "every byte checked; the load: %.0f MB/s of floats",
             mb_per_s(f->cache_size, &v[CACHE], repetitions));
    table_add(t, "", ratio(&v[OURS], &v[CACHE], repetitions), NO_TARGET, 0, "text / cache");
}

static double wall(const char *path, uint32_t threads)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    oltr_dataset_free(read_or_die(path, threads));
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static void gain(table *t, const char *path, const char *name, uint32_t repetitions)
{
    double gains[MAX_REPETITIONS];
    for (uint32_t i = 0; i < repetitions; i++) {
        double one = wall(path, 1);
        gains[i] = one / wall(path, 2);
    }
    row_note(table_add(t, "", spread_of(gains, repetitions), NO_TARGET, 0, "%s", name),
             "wall time; smaller when other programs run");
}

/* Peak memory of a separate process that reads the file, text buffers included, over the size of
 * the matrix. */
static void peak(table *t, const char *path, const char *name, bool as_stdin, uint32_t threads)
{
    int pipe_[2];
    double found[2] = {0, 0};
    if (pipe(pipe_) != 0)
        die("cannot make a pipe");
    pid_t child = fork();
    if (child == 0) {
        struct rusage before, after;
        FILE *cat = as_stdin ? popen("cat \"$BENCH_TEXT\"", "r") : NULL;
        if (cat)
            dup2(fileno(cat), 0);
        getrusage(RUSAGE_SELF, &before);
        oltr_dataset *d = read_or_die(as_stdin ? "-" : path, threads);
        getrusage(RUSAGE_SELF, &after);
        found[0] = 1024.0 * (double)(after.ru_maxrss - before.ru_maxrss);
        found[1] = 4.0 * d->n_rows * d->dim;
        _exit(write(pipe_[1], found, sizeof found) != sizeof found);
    }
    if (child < 0 || read(pipe_[0], found, sizeof found) != sizeof found ||
        waitpid(child, NULL, 0) != child)
        die("the reading process failed");
    close(pipe_[0]);
    close(pipe_[1]);
    double share = found[0] / found[1];
    row_note(table_add(t, "", (spread){share, share, share}, AT_MOST, 1.5, "%s", name),
             "%.0f MB for a matrix of %.0f MB", 1e-6 * found[0], 1e-6 * found[1]);
}

/* ---- the program */

static const char *map_whole(const char *path, size_t *size)
{
    struct stat stat;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &stat) != 0)
        die("cannot read %s", path);
    *size = (size_t)stat.st_size;
    const char *map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        die("cannot map %s", path);
    return map;
}

static void make_files(files *f, const char *folder, const char *keep, uint32_t rows)
{
    oltr_error error;
    snprintf(f->text, sizeof f->text, "%s", keep ? keep : "");
    if (!keep)
        snprintf(f->text, sizeof f->text, "%s/web.txt", folder);
    snprintf(f->gzip, sizeof f->gzip, "%s/web.txt.gz", folder);
    snprintf(f->cache, sizeof f->cache, "%s/web.oltr", folder);
    write_text(f->text, rows);
    write_gzip(f->text, f->gzip);
    oltr_dataset *d = read_or_die(f->text, 0);
    if (oltr_dataset_save(d, f->cache, &error) != OLTR_OK)
        die("%s", error.msg);
    oltr_dataset_free(d);
    setenv("BENCH_TEXT", f->text, 1);
}

int main(int argc, char **argv)
{
    static table t;
    static files f;
    char folder[] = "/tmp/oltr-bench-XXXXXX";
    const char *keep = NULL, *json = NULL;
    uint32_t repetitions = 15, rows = 90000;
    bool strict = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--strict") == 0)
            strict = true;
        else if (strcmp(argv[i], "--repetitions") == 0 && ++i)
            repetitions = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--rows") == 0 && ++i)
            rows = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--keep") == 0 && ++i)
            keep = value;
        else if (strcmp(argv[i], "--json") == 0 && ++i)
            json = value;
        else
            die("usage: bench_reader [--repetitions N] [--rows N] [--keep FILE] [--json FILE] "
                "[--strict]");
    }
    if (repetitions < 1 || repetitions > MAX_REPETITIONS || rows < 1)
        die("--repetitions takes 1 to %d, --rows at least 1", MAX_REPETITIONS);
    if (!mkdtemp(folder))
        die("cannot make a folder in /tmp");
    make_files(&f, folder, keep, rows);
    peak(&t, f.text, "peak memory / matrix, text, one thread", false, 1);
    peak(&t, f.text, "peak memory / matrix, text, two threads", false, 2);
    peak(&t, f.gzip, "peak memory / matrix, gzip, two threads", false, 2);
    peak(&t, f.text, "peak memory / matrix, pipe, two threads", true, 2);
    f.map = map_whole(f.text, &f.size);
    (void)map_whole(f.cache, &f.cache_size);
    speed(&t, &f, repetitions);
    gain(&t, f.text, "one thread / two threads, text", repetitions);
    gain(&t, f.gzip, "one thread / two threads, gzip", repetitions < 5 ? repetitions : 5);
    table_print(&t);
    if (json)
        table_write_json(&t, json, repetitions);
    if (!keep)
        unlink(f.text);
    unlink(f.gzip);
    unlink(f.cache);
    rmdir(folder);
    return (strict && !table_passes(&t)) || sink == 0;
}
