/* cache.c - the binary form of a dataset: what is written comes back, what was touched is refused,
 * what lies is refused, and the cache beside a text is taken when it is of that text and at no
 * other time.
 */
#define _GNU_SOURCE 1
#include "support/texts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "support/snapshot.h"
#include "lab/data/digest.h"

static const char *const small =
    "2 qid:11 1:0.5 2:-3 3:1e9\n0 qid:11 2:1\n1 qid:4 3:7 # x\n\n4 qid:90 1:1e99 1:2\n";

/* Bytes of a saved dataset; *path is where they are. */
static unsigned char *saved(size_t *n, oltr_dataset **dataset)
{
    oltr_error error;
    *dataset = must_read(write_text("small", small), NULL, NULL);
    if (oltr_dataset_save(*dataset, path_of("small.saved"), &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return read_bytes(path_of("small.saved"), n);
}

/* ---- the file */

static void a_saved_dataset_comes_back(void **state)
{
    oltr_dataset *d;
    size_t n, again;
    oltr_read_report r;
    unsigned char *bytes = saved(&n, &d);
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        oltr_dataset *back =
            must_read(path_of("small.saved"), &(oltr_read_options){.threads = threads}, &r);
        assert_same_dataset(d, back);
        assert_int_equal(r.from_cache, 1);
        assert_int_equal((uintptr_t)back->x % 64, 0);
        assert_int_equal(oltr_dataset_save(back, path_of("again.saved"), NULL), OLTR_OK);
        unsigned char *same = read_bytes(path_of("again.saved"), &again);
        assert_int_equal(n, again);
        assert_memory_equal(bytes, same, n);
        free(same);
        ((float *)(uintptr_t)back->x)[0] = 7; /* a dataset may be changed; the file stays */
        oltr_dataset_free(back);
    }
    unsigned char *untouched = read_bytes(path_of("small.saved"), &again);
    assert_memory_equal(bytes, untouched, n);
    free(untouched);
    free(bytes);
    oltr_dataset_free(d);
}

/* Larger than a few chunks of the digest, so that threads share the work. */
static void a_large_one_comes_back_with_any_threads(void **state)
{
    enum { ROWS = 30000, DIM = 40 };
    uint64_t query[ROWS / 10];
    uint32_t first[ROWS / 10 + 1];
    uint8_t *grade = exactly(ROWS, 1);
    float *x = exactly((size_t)ROWS * DIM, sizeof *x);
    dice from = {5};
    for (uint32_t q = 0; q <= ROWS / 10; q++) {
        first[q] = 10 * q;
        if (q < ROWS / 10)
            query[q] = roll(&from);
    }
    for (uint32_t i = 0; i < ROWS * DIM; i++)
        x[i] = (float)unit(&from);
    oltr_dataset mine = {.n_queries = ROWS / 10,
                         .n_rows = ROWS,
                         .dim = DIM,
                         .query = query,
                         .first_row = first,
                         .grade = grade,
                         .x = x};
    assert_int_equal(oltr_dataset_save(&mine, path_of("large.saved"), NULL), OLTR_OK);
    for (uint32_t threads = 1; threads <= 7; threads += 3) {
        oltr_dataset *d =
            must_read(path_of("large.saved"), &(oltr_read_options){.threads = threads}, NULL);
        assert_same_dataset(d, &mine);
        oltr_dataset_free(d);
    }
    size_t n;
    unsigned char *bytes = read_bytes(path_of("large.saved"), &n);
    for (uint32_t i = 0; i < 60; i++) {
        size_t at = (size_t)(roll(&from) % n);
        unsigned char bit = (unsigned char)(1u << below(&from, 8));
        bytes[at] ^= bit;
        assert_null(oltr_dataset_read(write_bytes("flipped", bytes, n),
                                      &(oltr_read_options){.threads = 2}, NULL, NULL));
        bytes[at] ^= bit;
    }
    free(bytes);
    free(grade);
    free(x);
}

static void what_is_cut_is_refused(void **state)
{
    oltr_dataset *d;
    size_t n;
    unsigned char *bytes = saved(&n, &d);
    for (size_t cut = 0; cut < n; cut++) {
        oltr_error error = {OLTR_OK, ""};
        assert_null(oltr_dataset_read(write_bytes("cut", bytes, cut), NULL, NULL, &error));
        assert_true(error.code != OLTR_OK && error.msg[0]);
        if (cut >= 8)
            assert_int_equal(error.code, OLTR_ETRUNCATED);
    }
    bytes[n] = 0; /* and one byte too many */
    oltr_error error;
    assert_null(oltr_dataset_read(write_bytes("cut", bytes, n + 1), NULL, NULL, &error));
    assert_int_equal(error.code, OLTR_ETRUNCATED);
    free(bytes);
    oltr_dataset_free(d);
}

static void every_flipped_bit_is_refused(void **state)
{
    oltr_dataset *d;
    size_t n;
    unsigned char *bytes = saved(&n, &d);
    const char *path = write_bytes("flip", bytes, n);
    int fd = open(path, O_WRONLY);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        oltr_error error = {OLTR_OK, ""};
        unsigned char byte = (unsigned char)(bytes[bit / 8] ^ 1u << bit % 8);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
        if (oltr_dataset_read(path, NULL, NULL, &error))
            fail_msg("bit %zu of byte %zu can be flipped", bit % 8, bit / 8);
        assert_true(error.code != OLTR_OK && error.msg[0]);
        assert_int_equal(pwrite(fd, &bytes[bit / 8], 1, (off_t)(bit / 8)), 1);
    }
    close(fd);
    oltr_dataset *back = must_read(path, NULL, NULL);
    assert_same_dataset(back, d);
    oltr_dataset_free(back);
    free(bytes);
    oltr_dataset_free(d);
}

/* ---- lies under a right checksum */

/* Places of docs/formats.md. */
enum {
    AT_TOTAL = 16,
    AT_QUERIES = 24,
    AT_ROWS = 28,
    AT_DIM = 32,
    AT_SETTLED = 36,
    AT_DIGESTS = 40,
    AT_LENIENT = 112,
    AT_REASON = 160,
    AT_UNUSED = 288,
    AT_SEAL = 504,
    AT_SECTIONS = 512
};

static size_t up(size_t n)
{
    return (n + 63) / 64 * 64;
}

/* Makes all digests right again, after the description of the format. */
static void seal_all(unsigned char *bytes)
{
    size_t q = (size_t)little(bytes + AT_QUERIES, 4), rows = (size_t)little(bytes + AT_ROWS, 4);
    size_t dim = (size_t)little(bytes + AT_DIM, 4);
    const size_t size[] = {8 * q, 4 * (q + 1), rows, 4 * rows * dim};
    size_t at = AT_SECTIONS;
    for (int i = 0; i < 4; at += up(size[i]), i++) {
        unsigned char part[8];
        set_little(part, 8, digest(bytes + at, size[i])); /* one chunk */
        set_little(bytes + AT_DIGESTS + 8 * i, 8, digest(part, 8));
    }
    set_little(bytes + AT_SEAL, 8, digest(bytes, AT_SEAL));
}

static void expect_lie(unsigned char *bytes, size_t n, oltr_status code, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_dataset_read(write_bytes("lie", bytes, n), NULL, NULL, &error));
    if (error.code != code || !strstr(error.msg, words))
        fail_msg("%s: %s, instead of %s", oltr_status_name(error.code), error.msg, words);
}

static void lies_are_refused(void **state)
{
    oltr_dataset *d;
    size_t n;
    unsigned char *good = saved(&n, &d), *bytes = exactly(n, 1);
    size_t first_row = AT_SECTIONS + 64, grade = first_row + 64, x = grade + 64;
    static const struct {
        int at, size;
        uint64_t value;
        oltr_status code;
        const char *words;
    } header[] = {{0, 1, 'X', OLTR_EDATA, "expected a grade"},
                  {8, 4, 2, OLTR_EVERSION, "newer oltr"},
                  {8, 4, 0, OLTR_ECORRUPT, "its counts are impossible"},
                  {12, 4, 2, OLTR_ECORRUPT, "impossible"},
                  {AT_TOTAL, 8, 1 << 20, OLTR_ETRUNCATED, "cut short or too long"},
                  {AT_QUERIES, 4, 0, OLTR_ECORRUPT, "impossible"},
                  {AT_QUERIES, 4, 0xFFFFFFFF, OLTR_ECORRUPT, "impossible"},
                  {AT_ROWS, 4, 0xFFFFFFFF, OLTR_ECORRUPT, "impossible"},
                  {AT_ROWS, 4, 0, OLTR_ECORRUPT, "impossible"},
                  {AT_DIM, 4, 0xFFFFFFFF, OLTR_ECORRUPT, "impossible"},
                  {AT_DIM, 4, 0, OLTR_ECORRUPT, "impossible"},
                  {AT_SETTLED, 4, 7, OLTR_ECORRUPT, "impossible"},
                  {AT_LENIENT, 4, 3, OLTR_ECORRUPT, "impossible"},
                  {AT_UNUSED, 1, 1, OLTR_ECORRUPT, "impossible"},
                  {AT_SEAL - 1, 1, 1, OLTR_ECORRUPT, "impossible"}};
    for (size_t i = 0; i < COUNT(header); i++) {
        memcpy(bytes, good, n);
        set_little(bytes + header[i].at, header[i].size, header[i].value);
        set_little(bytes + AT_SEAL, 8, digest(bytes, AT_SEAL));
        expect_lie(bytes, n, header[i].code, header[i].words);
    }
    memcpy(bytes, good, n);
    memset(bytes + AT_REASON, 'x', 128); /* a text without an end */
    set_little(bytes + AT_SEAL, 8, digest(bytes, AT_SEAL));
    expect_lie(bytes, n, OLTR_ECORRUPT, "impossible");
    static const uint32_t rows[][4] = {{1, 2, 3, 4}, {0, 2, 3, 5},          {0, 2, 2, 4},
                                       {0, 3, 2, 4}, {0, 0xFFFFFFFF, 3, 4}, {0, 4, 4, 4}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        memcpy(bytes, good, n);
        for (int j = 0; j < 4; j++)
            set_little(bytes + first_row + 4 * (size_t)j, 4, rows[i][j]);
        seal_all(bytes);
        expect_lie(bytes, n, OLTR_ECORRUPT,
                   i < 2 ? "do not cover its rows" : "a query has no rows");
    }
    memcpy(bytes, good, n);
    bytes[grade + 4] = 1; /* between two sections */
    seal_all(bytes);
    expect_lie(bytes, n, OLTR_ECORRUPT, "impossible");
    static const uint32_t strange[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001};
    for (size_t i = 0; i < 4; i++) {
        memcpy(bytes, good, n);
        set_little(bytes + x + 4 * i, 4, strange[i]);
        seal_all(bytes);
        expect_lie(bytes, n, OLTR_ECORRUPT, "not a finite number");
    }
    memcpy(bytes, good, n); /* this way of sealing does not refuse all */
    set_little(bytes + x, 4, 0x3F800000);
    seal_all(bytes);
    oltr_dataset *forged = must_read(write_bytes("lie", bytes, n), NULL, NULL);
    assert_true(forged->x[0] == 1.0f);
    oltr_dataset_free(forged);
    free(bytes);
    free(good);
    oltr_dataset_free(d);
}

static void what_cannot_be_saved_is_refused(void **state)
{
    static const uint64_t query[] = {1, 2};
    static const uint32_t first[] = {0, 1, 2}, empty[] = {0, 2, 2};
    static const uint8_t grade[] = {0, 1};
    static const float x[] = {1, 2}, bad[] = {1, INFINITY};
    oltr_dataset d = {.n_queries = 2,
                      .n_rows = 2,
                      .dim = 1,
                      .query = query,
                      .first_row = first,
                      .grade = grade,
                      .x = x};
    oltr_error error;
    assert_int_equal(oltr_dataset_save(&d, path_of("mine"), NULL), OLTR_OK);
    assert_int_equal(oltr_dataset_save(NULL, path_of("mine"), NULL), OLTR_EINVAL);
    assert_int_equal(oltr_dataset_save(&d, NULL, NULL), OLTR_EINVAL);
    const oltr_dataset bare = {.n_queries = 2, .n_rows = 2, .dim = 1};
    assert_int_equal(oltr_dataset_save(&bare, path_of("mine"), &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "one of its arrays is missing"));
    assert_int_equal(oltr_dataset_save(&d, path_of("no/such/folder"), &error), OLTR_EIO);
    assert_non_null(strstr(error.msg, "cannot write"));
    d.x = bad;
    assert_int_equal(oltr_dataset_save(&d, path_of("mine"), &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "not a finite number"));
    d.x = x;
    d.first_row = empty;
    assert_int_equal(oltr_dataset_save(&d, path_of("mine"), NULL), OLTR_EINVAL);
    d.n_rows = 0;
    assert_int_equal(oltr_dataset_save(&d, path_of("mine"), NULL), OLTR_EINVAL);
}

static void a_file_has_more_features_than_allowed(void **state)
{
    oltr_dataset *d;
    size_t n;
    oltr_error error;
    free(saved(&n, &d));
    assert_null(oltr_dataset_read(path_of("small.saved"), &(oltr_read_options){.most_features = 2},
                                  NULL, &error));
    assert_int_equal(error.code, OLTR_EDATA);
    assert_non_null(strstr(error.msg, "has 3 features, more than the 2 allowed"));
    oltr_dataset_free(d);
}

/* ---- beside a text */

static bool opened_from_cache(const char *path, const oltr_read_options *options)
{
    oltr_read_report r;
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *d = oltr_dataset_open(path, options, &r, &error);
    oltr_dataset *text = oltr_dataset_read(path, options, NULL, NULL);
    if (!d || !text)
        fail_msg("%s", error.msg);
    assert_same_dataset(d, text);
    oltr_dataset_free(text);
    oltr_dataset_free(d);
    return r.from_cache;
}

static void set_time(const char *path, time_t seconds, long nanoseconds)
{
    const struct timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_cache_is_taken_when_it_is_of_the_text(void **state)
{
    const char *path = write_text("text", small);
    set_time(path, 1000000000, 5);
    assert_false(opened_from_cache(path, NULL));
    assert_true(opened_from_cache(path, NULL));
    set_time(path, 1000000000, 6); /* touched: its content speaks for it */
    assert_true(opened_from_cache(path, NULL));
    write_text("text", "1 qid:1 1:1\n"); /* another size */
    set_time(path, 1000000000, 5);
    assert_false(opened_from_cache(path, NULL));
    assert_true(opened_from_cache(path, NULL));
    write_text("text", "1 qid:1 1:2\n"); /* the same size, another time */
    set_time(path, 1000000001, 0);
    assert_false(opened_from_cache(path, NULL));
    write_text("text", "1 qid:1 1:3\n"); /* size and time the same: the sample has it */
    set_time(path, 1000000001, 0);
    assert_false(opened_from_cache(path, NULL));
    assert_true(opened_from_cache(path, NULL));
}

/* A change in a place that no sample meets, the time set back: only who reads all of the text can
 * see it. */
static void a_checked_text_hides_no_change(void **state)
{
    size_t n = 1 << 20;
    char *words = exactly(n, 1);
    const oltr_read_options checked = {.check_text = 1};
    memset(words, '\n', n);
    memcpy(words, "1 qid:1 1:1\n", 12);
    memcpy(words + 5000, "1 qid:2 1:5\n", 12);
    const char *path = write_bytes("hidden", words, n);
    set_time(path, 1000000000, 5);
    assert_false(opened_from_cache(path, &checked));
    assert_true(opened_from_cache(path, &checked));
    words[5010] = '6';
    write_bytes("hidden", words, n);
    set_time(path, 1000000000, 5);
    oltr_dataset *d = oltr_dataset_open(path, NULL, NULL, NULL);
    assert_true(d && d->x[1] == 5.0f);
    oltr_dataset_free(d);
    assert_false(opened_from_cache(path, &checked));
    assert_true(opened_from_cache(path, NULL)); /* the cache is of the new text now */
    free(words);
}

static void a_change_within_a_tick_of_the_clock_is_seen(void **state)
{
    struct timespec now;
    const char *path = write_text("tick", "1 qid:1 1:1\n");
    clock_gettime(CLOCK_REALTIME, &now);
    size_t n = 1 << 20;
    char *words = exactly(n, 1);
    memset(words, '\n', n);
    memcpy(words, "1 qid:1 1:1\n", 12);
    for (char c = '1'; c < '5'; c++) { /* in a place that no sample meets */
        words[5000] = '#';
        words[5001] = c;
        write_bytes("tick", words, n);
        set_time(path, now.tv_sec + 3600, 0); /* whose time cannot be trusted yet */
        assert_false(opened_from_cache(path, NULL));
        assert_true(opened_from_cache(path, NULL));
    }
    free(words);
}

static void gzip_has_a_cache_too(void **state)
{
    const char *path = write_gzip("packed.gz", small, strlen(small));
    assert_false(opened_from_cache(path, NULL));
    assert_true(opened_from_cache(path, NULL));
}

static void the_report_is_kept_with_the_cache(void **state)
{
    oltr_read_report first, second;
    oltr_read_options lenient = {.lenient = 1};
    const char *path = write_text("report", "0 qid:1 1:1e99 1:1\nx\n");
    oltr_dataset_free(oltr_dataset_open(path, &lenient, &first, NULL));
    oltr_dataset_free(oltr_dataset_open(path, &lenient, &second, NULL));
    assert_int_equal(first.from_cache, 0);
    assert_int_equal(second.from_cache, 1);
    second.from_cache = 0;
    assert_memory_equal(&first, &second, sizeof first);
    assert_int_equal(first.skipped, 1);
    assert_int_equal(first.clamped, 1);
    assert_int_equal(first.duplicates, 1);
}

static void options_that_would_read_otherwise_do_not_take_it(void **state)
{
    oltr_error error;
    oltr_read_options lenient = {.lenient = 1}, narrow = {.lenient = 1, .most_features = 7},
                      strict = {.lenient = 0};
    const char *path = write_text("options", "0 qid:1 1:1\n0 qid:1 8:1\nx\n");
    assert_false(opened_from_cache(path, &lenient));
    assert_true(opened_from_cache(path, &lenient));
    assert_null(oltr_dataset_open(path, &strict, NULL, &error)); /* it has a bad line */
    assert_int_equal(error.code, OLTR_EDATA);
    assert_false(opened_from_cache(path, &narrow)); /* and would have another */
    path = write_text("options", "0 qid:1 1:1\n0 qid:1 8:1\n");
    assert_false(opened_from_cache(path, &strict));
    assert_true(opened_from_cache(path, &lenient)); /* nothing to skip: the same */
    assert_null(oltr_dataset_open(path, &(oltr_read_options){.most_features = 7}, NULL, &error));
    assert_non_null(strstr(error.msg, "line 2, column 9: expected a feature id from 1 to 7"));
}

static void a_damaged_cache_is_made_anew(void **state)
{
    size_t n;
    const char *path = write_text("hurt", small);
    assert_false(opened_from_cache(path, NULL));
    unsigned char *bytes = read_bytes(path_of("hurt.oltr"), &n);
    bytes[n - 70] ^= 4;
    write_bytes("hurt.oltr", bytes, n);
    assert_false(opened_from_cache(path, NULL));
    assert_true(opened_from_cache(path, NULL));
    write_bytes("hurt.oltr", bytes, 30);
    assert_false(opened_from_cache(path, NULL));
    assert_true(opened_from_cache(path, NULL));
    free(bytes);
}

static void a_place_that_cannot_be_written_is_no_error(void **state)
{
    const char *path = write_text("stuck", small);
    assert_int_equal(mkdir(path_of("stuck.oltr"), 0700), 0);
    assert_int_equal(mkdir(path_of("stuck.oltr/full"), 0700), 0);
    assert_false(opened_from_cache(path, NULL));
    assert_false(opened_from_cache(path, NULL));
    char command[200];
    snprintf(command, sizeof command, "test -z \"$(ls %s | grep '\\.tmp$')\"",
             folder); /* and leaves nothing behind */
    assert_int_equal(system(command), 0);
}

static void a_cache_opens_by_its_own_name(void **state)
{
    oltr_read_report r;
    const char *path = write_text("named", small);
    assert_false(opened_from_cache(path, NULL));
    oltr_dataset *d = oltr_dataset_open(path_of("named.oltr"), NULL, &r, NULL);
    assert_non_null(d);
    assert_int_equal(r.from_cache, 1);
    oltr_dataset_free(d);
    assert_int_not_equal(access(path_of("named.oltr.oltr"), F_OK), 0);
    assert_null(oltr_dataset_open(NULL, NULL, NULL, NULL));
    assert_null(oltr_dataset_open(path_of("absent"), NULL, NULL, NULL));
}

/* Another definition of the digest, byte by byte. */
static uint64_t slow_digest(const unsigned char *bytes, size_t n)
{
    const uint64_t m = 0x9E3779B97F4A7C15u;
    uint64_t chain[8], all = n;
    for (uint64_t i = 0; i < 8; i++)
        chain[i] = (i + 1) * m;
    size_t words = (n / 64 + 1) * 8;
    for (size_t w = 0; w < words; w++) {
        uint64_t word = 0;
        for (size_t b = 0; b < 8 && 8 * w + b < n; b++)
            word |= (uint64_t)bytes[8 * w + b] << 8 * b;
        uint64_t x = chain[w % 8] ^ word;
        chain[w % 8] = (x << 29 | x >> 35) * m;
    }
    for (int i = 0; i < 8; i++) {
        all ^= chain[i];
        all = (all << 29 | all >> 35) * m;
    }
    all ^= all >> 32;
    return (all << 29 | all >> 35) * m;
}

static void the_digest_is_what_it_is_said_to_be(void **state)
{
    unsigned char bytes[700] = {0};
    dice from = {8};
    for (size_t n = 0; n <= sizeof bytes; n++) {
        if (n)
            bytes[n - 1] = (unsigned char)roll32(&from);
        assert_true(digest(bytes, n) == slow_digest(bytes, n));
    }
    assert_true(digest("", 0) != digest("\0", 1));
    size_t n = 3 * DIGEST_CHUNK + 5;
    unsigned char *large = exactly(n, 1);
    unsigned char part[4][8];
    uint64_t one = 0, many = 0;
    for (size_t i = 0; i < n; i++)
        large[i] = (unsigned char)roll32(&from);
    for (size_t i = 0; i < 4; i++)
        set_little(part[i], 8, slow_digest(large + i * DIGEST_CHUNK, i < 3 ? DIGEST_CHUNK : 5));
    assert_true(digest_all(large, n, 1, NULL, &one) && digest_all(large, n, 5, NULL, &many));
    assert_true(one == many && one == slow_digest(part[0], sizeof part));
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digest_is_what_it_is_said_to_be),
        cmocka_unit_test(a_saved_dataset_comes_back),
        cmocka_unit_test(a_large_one_comes_back_with_any_threads),
        cmocka_unit_test(what_is_cut_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(what_cannot_be_saved_is_refused),
        cmocka_unit_test(a_file_has_more_features_than_allowed),
        cmocka_unit_test(the_cache_is_taken_when_it_is_of_the_text),
        cmocka_unit_test(a_checked_text_hides_no_change),
        cmocka_unit_test(a_change_within_a_tick_of_the_clock_is_seen),
        cmocka_unit_test(gzip_has_a_cache_too),
        cmocka_unit_test(the_report_is_kept_with_the_cache),
        cmocka_unit_test(options_that_would_read_otherwise_do_not_take_it),
        cmocka_unit_test(a_damaged_cache_is_made_anew),
        cmocka_unit_test(a_place_that_cannot_be_written_is_no_error),
        cmocka_unit_test(a_cache_opens_by_its_own_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
