/* base.c - status texts, error sentences, the layout of memory, and the bytes of every file format.
 *
 * All formats and all cold calls use these few functions: each promise of their headers is tested
 * here.
 */
#include "support/unit.h"
#include "engine/base/bytes.h"
#include "engine/base/short_bytes.h"
#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/base/layout.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- status */

static void every_status_has_its_own_name_and_text(void **state)
{
    static const char *const names[] = {
#define NAME(name, text) "OLTR_" #name,
        OLTR_STATUS_LIST(NAME)
#undef NAME
    };
    for (int i = 0; i < OLTR_STATUS_COUNT; i++) {
        assert_string_equal(oltr_status_name((oltr_status)i), names[i]);
        assert_true(strlen(oltr_strerror((oltr_status)i)) > 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(oltr_strerror((oltr_status)i), oltr_strerror((oltr_status)j));
    }
}

static void a_status_out_of_range_still_has_a_name_and_a_text(void **state)
{
    const int strange[] = {-1, OLTR_STATUS_COUNT, OLTR_STATUS_COUNT + 1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT(strange); i++) {
        assert_non_null(oltr_status_name((oltr_status)strange[i]));
        assert_non_null(oltr_strerror((oltr_status)strange[i]));
        assert_true(strlen(oltr_status_name((oltr_status)strange[i])) > 0);
        assert_true(strlen(oltr_strerror((oltr_status)strange[i])) > 0);
    }
}

static void ok_is_zero(void **state)
{
    assert_int_equal(OLTR_OK, 0);
}

static void the_version_begins_with_three_numbers(void **state)
{
    const char *at = oltr_version();
    assert_non_null(at);
    for (int part = 0; part < 3; part++) {
        size_t digits = strspn(at, "0123456789");
        assert_true(digits > 0);
        at += digits;
        if (part < 2)
            assert_int_equal(*at++, '.');
    }
}

/* ---- error sentences */

static void set_error_fills_the_error_and_returns_the_code(void **state)
{
    oltr_error error;
    assert_int_equal(set_error(&error, OLTR_EVALUE, "%s is %d", "sigma", -3), OLTR_EVALUE);
    assert_int_equal(error.code, OLTR_EVALUE);
    assert_string_equal(error.msg, "sigma is -3");
}

static void set_error_accepts_no_error_object(void **state)
{
    assert_int_equal(set_error(NULL, OLTR_EIO, "not kept: %d", 1), OLTR_EIO);
}

static void set_error_cuts_a_long_sentence_and_ends_it(void **state)
{
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    struct {
        oltr_error error;
        char guard[8];
    } box;
    memset(&box, 0x5A, sizeof box);
    set_error(&box.error, OLTR_EIO, "%s", text);
    assert_int_equal(strlen(box.error.msg), sizeof box.error.msg - 1);
    for (size_t i = 0; i < sizeof box.guard; i++)
        assert_int_equal(box.guard[i], 0x5A);
}

/* A long path comes before the reason. */
static void set_error_keeps_both_ends_of_a_long_sentence(void **state)
{
    char path[4000];
    oltr_error error;
    memset(path, 'd', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    set_error(&error, OLTR_EIO, "cannot open %s/a.yaml: %s", path, "No such file or directory");
    assert_int_equal(strlen(error.msg), sizeof error.msg - 1);
    assert_memory_equal(error.msg, "cannot open ddd", 15);
    assert_non_null(strstr(error.msg, "ddd...ddd"));
    assert_non_null(strstr(error.msg, "ddd/a.yaml: No such file or directory"));
}

static void set_error_cuts_no_character(void **state)
{
    for (size_t lead = 0; lead < 4; lead++) {
        char text[800] = "abc";
        oltr_error error;
        size_t used = lead, at = 0, step;
        for (; used + 4 < sizeof text; used += 3)
            memcpy(text + used, "\xE2\x82\xAC", 3);
        text[used] = '\0';
        set_error(&error, OLTR_EIO, "%s", text);
        while ((step = text_character(error.msg + at)) > 0 && error.msg[at] != '\0')
            at += step;
        assert_int_equal(at, strlen(error.msg));
    }
}

typedef struct entry {
    const char *name;
    double other;
} entry;
static const entry entries[] = {
    {"random", 1}, {"ts-beta", 2}, {"cascade-ucb1", 3}, {"cascade-klucb", 4}};

static const char *nearest(const char *word)
{
    return nearest_name(word, entries, COUNT(entries), sizeof *entries);
}

static void a_misspelt_name_finds_the_right_one(void **state)
{
    assert_string_equal(nearest("randon"), "random");
    assert_string_equal(nearest("ts_beta"), "ts-beta");
    assert_string_equal(nearest("tsbeta"), "ts-beta");
    assert_string_equal(nearest("cascade-ucb"), "cascade-ucb1");
    assert_string_equal(nearest("cascade-kl-ucb"), "cascade-klucb");
}

static void a_strange_word_finds_nothing(void **state)
{
    char longest[5000];
    memset(longest, 'q', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_null(nearest("zzzzzzzz"));
    assert_null(nearest("random")); /* the word itself is no suggestion */
    assert_null(nearest("42"));
    assert_null(nearest(longest));
    assert_null(nearest_name("random", entries, 0, sizeof *entries));
}

/* ---- the arena's plan */

static void the_plan_puts_arrays_side_by_side_and_aligned(void **state)
{
    static const size_t counts[] = {1, 0, 7, 64, 65, 1000, 3}, sizes[] = {8, 4, 1, 1, 1, 24, 4};
    layout plan = {0, 0};
    size_t end = 0;
    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t at = layout_take(&plan, counts[i], sizes[i]);
        assert_int_equal(at % LAYOUT_ALIGN, 0);
        assert_true(at >= end);
        end = at + counts[i] * sizes[i];
        assert_true(layout_bytes(&plan) >= end);
        assert_int_equal(layout_bytes(&plan) % LAYOUT_ALIGN, 0);
    }
    assert_int_equal(plan.overflow, 0);
}

static void close_arrays_follow_without_a_gap(void **state)
{
    layout plan = {0, 0};
    assert_int_equal(layout_take(&plan, 3, 4), 0);
    assert_int_equal(layout_take_close(&plan, 5, 4), 12);
    assert_int_equal(layout_take_close(&plan, 2, 8), 32);
    assert_int_equal(layout_take_close(&plan, 1, 2), 48);
    assert_int_equal(layout_take(&plan, 1, 1), LAYOUT_ALIGN);
    assert_int_equal(layout_take_close(&plan, 1, 8), LAYOUT_ALIGN + 8);
    assert_int_equal(layout_bytes(&plan), 2 * LAYOUT_ALIGN);
    layout_take_close(&plan, SIZE_MAX / 8 + 1, 8);
    assert_true(plan.overflow && layout_bytes(&plan) == 0);
}

static void the_plan_wastes_less_than_a_line_per_array(void **state)
{
    layout plan = {0, 0};
    for (size_t i = 0; i < 100; i++) {
        size_t before = plan.used;
        layout_take(&plan, i, 1);
        assert_true(plan.used - before < i + LAYOUT_ALIGN);
    }
}

static void a_size_that_does_not_fit_is_an_overflow(void **state)
{
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 2, SIZE_MAX / 4 + 1},
                        sizes[] = {1, 8, 2, 8};
    for (size_t i = 0; i < COUNT(counts); i++) {
        layout plan = {128, 0};
        layout_take(&plan, counts[i], sizes[i]);
        assert_int_equal(plan.overflow, 1);
    }
}

static void a_sum_that_does_not_fit_is_an_overflow_that_stays(void **state)
{
    layout plan = {0, 0};
    for (int i = 0; i < 16; i++)
        layout_take(&plan, SIZE_MAX / 8, 1);
    assert_int_equal(plan.overflow, 1);
    layout_take(&plan, 1, 1);
    assert_int_equal(plan.overflow, 1);
}

/* ---- bytes */

static const double round_trip[] = {0.0, -0.0, 1.5, -1e300, 5e-324, INFINITY, -INFINITY, NAN};
enum { ROUND_TRIP = COUNT(round_trip), SINGLES = 3 };
static const float singles[SINGLES] = {-0.0f, 1e-45f, 0.1f};
enum { EVERYTHING = 4 + 8 + 8 * ROUND_TRIP + 4 * SINGLES + 3 };

/* Bytes behind and in front of the text are other ones, so that a read or write beyond it shows. */
static void short_bytes_are_compared_and_copied(void **state)
{
    dice d = {11};
    for (uint32_t n = 0; n < 40; n++) {
        unsigned char a[48], b[48], c[48];
        for (uint32_t i = 0; i < sizeof a; i++) {
            a[i] = (unsigned char)below(&d, 256);
            b[i] = (unsigned char)~a[i];
            c[i] = 7;
        }
        memcpy(b + 3, a + 5, n);
        assert_true(same_bytes(a + 5, b + 3, n));
        copy_bytes(c + 4, a + 5, n);
        assert_memory_equal(c + 4, a + 5, n);
        assert_int_equal(c[3], 7);
        assert_int_equal(c[4 + n], 7);
        for (uint32_t i = 0; i < n; i++) {
            b[3 + i] ^= (unsigned char)(1 << below(&d, 8));
            assert_false(same_bytes(a + 5, b + 3, n));
            b[3 + i] = a[5 + i];
        }
    }
}

static void put_everything(writer *w)
{
    put_u32(w, 0x01020304u);
    put_u64(w, 0x0102030405060708u);
    put_f64s(w, round_trip, ROUND_TRIP);
    put_f32s(w, singles, SINGLES);
    put_bytes(w, "abc", 3);
}

static void what_is_written_is_read_back_to_the_bit(void **state)
{
    unsigned char buffer[256];
    writer w = {buffer, sizeof buffer, 0};
    put_everything(&w);
    assert_int_equal(w.used, EVERYTHING);
    reader r = {buffer, w.used, 0};
    double values[ROUND_TRIP];
    float floats[SINGLES];
    char text[3];
    assert_int_equal(get_u32(&r), 0x01020304u);
    assert_true(get_u64(&r) == 0x0102030405060708u);
    get_f64s(&r, values, ROUND_TRIP);
    assert_memory_equal(values, round_trip, sizeof values);
    get_f32s(&r, floats, SINGLES);
    assert_memory_equal(floats, singles, sizeof floats);
    get_bytes(&r, text, sizeof text);
    assert_memory_equal(text, "abc", sizeof text);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.left, 0);
}

static void numbers_are_little_endian(void **state)
{
    static const unsigned char expected[] = {4, 3, 2, 1, 8, 7, 6,    5,    4, 3, 2,    1,
                                             0, 0, 0, 0, 0, 0, 0xF8, 0x3F, 0, 0, 0x80, 0xBF};
    unsigned char buffer[sizeof expected];
    const double one_and_a_half = 1.5;
    const float minus_one = -1;
    writer w = {buffer, sizeof buffer, 0};
    put_u32(&w, 0x01020304u);
    put_u64(&w, 0x0102030405060708u);
    put_f64s(&w, &one_and_a_half, 1);
    put_f32s(&w, &minus_one, 1);
    assert_int_equal(w.used, sizeof expected);
    assert_memory_equal(buffer, expected, sizeof expected);
}

static void a_writer_without_memory_counts(void **state)
{
    writer w = {NULL, 0, 0};
    put_everything(&w);
    assert_int_equal(w.used, EVERYTHING);
}

static void a_writer_without_room_counts_on_and_writes_nothing_beyond(void **state)
{
    unsigned char whole[256];
    writer full = {whole, sizeof whole, 0};
    put_everything(&full);
    for (size_t room = 0; room < full.used; room++) {
        unsigned char *buffer = exactly(room, 1); /* a sanitizer guards its end */
        writer w = {buffer, room, 0};
        put_everything(&w);
        assert_int_equal(w.used, full.used);
        free(buffer);
    }
}

static void read_everything(reader *r)
{
    double values[ROUND_TRIP];
    float floats[SINGLES];
    char text[3];
    (void)get_u32(r);
    (void)get_u64(r);
    get_f64s(r, values, ROUND_TRIP);
    get_f32s(r, floats, SINGLES);
    get_bytes(r, text, sizeof text);
}

static void every_truncation_is_noticed_and_stays_noticed(void **state)
{
    unsigned char whole[256];
    writer full = {whole, sizeof whole, 0};
    put_everything(&full);
    for (size_t size = 0; size < full.used; size++) {
        unsigned char *cut = exactly(size, 1);
        memcpy(cut, whole, size);
        reader r = {cut, size, 0};
        read_everything(&r);
        assert_int_equal(r.failed, 1);
        get_bytes(&r, NULL, 0);
        assert_int_equal(r.failed, 1);
        free(cut);
    }
}

static void after_a_failure_nothing_more_is_read(void **state)
{
    const unsigned char bytes[6] = {1, 2, 3, 4, 5, 6};
    reader r = {bytes, sizeof bytes, 0};
    (void)get_u64(&r);
    assert_int_equal(r.failed, 1);
    assert_int_equal(get_u32(&r), 0); /* four bytes would be there */
    assert_int_equal(r.failed, 1);
}

static void a_length_that_lies_is_refused(void **state)
{
    const unsigned char bytes[16] = {0};
    for (size_t n = 3; n < 1000; n++) {
        double *value = exactly(n, sizeof *value);
        reader as_numbers = {bytes, sizeof bytes, 0}, as_bytes = {bytes, sizeof bytes, 0};
        get_f64s(&as_numbers, value, n);
        get_bytes(&as_bytes, value, 8 * n);
        assert_int_equal(as_numbers.failed, 1);
        assert_int_equal(as_bytes.failed, 1);
        free(value);
    }
}

/* ---- the checksum */

static void the_checksum_is_crc64_xz(void **state)
{
    assert_true(crc64("123456789", 9) == 0x995DC9BBDF1939FAu);
    assert_true(crc64("", 0) == 0);
}

/* Bit by bit, from the polynomial of ECMA-182, reflected. */
static uint64_t crc64_slow(const unsigned char *bytes, size_t n)
{
    uint64_t crc = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xC96C5795D7870F42u : crc >> 1;
    }
    return ~crc;
}

static void fill(unsigned char *bytes, size_t n, dice *from)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)below(from, 256);
}

static void the_checksum_agrees_with_the_bitwise_one_at_every_length_and_alignment(void **state)
{
    dice from = {1};
    unsigned char bytes[300];
    fill(bytes, sizeof bytes, &from);
    for (size_t start = 0; start < 8; start++)
        for (size_t n = 0; n + start <= sizeof bytes; n++)
            assert_true(crc64(bytes + start, n) == crc64_slow(bytes + start, n));
}

static void every_single_flipped_bit_changes_the_checksum(void **state)
{
    dice from = {2};
    unsigned char bytes[1000];
    fill(bytes, sizeof bytes, &from);
    uint64_t right = crc64(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(crc64(bytes, sizeof bytes) != right);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_true(crc64(bytes, sizeof bytes) == right);
}

/* Flips the first and the last bit of a stretch of `length` bits and some between. */
static void flip_burst(unsigned char *bytes, size_t start, size_t length, uint64_t pattern)
{
    pattern |= 1 | (uint64_t)1 << (length - 1);
    for (size_t i = 0; i < length; i++)
        bytes[(start + i) / 8] ^= (unsigned char)((pattern >> i & 1) << (start + i) % 8);
}

static void every_burst_of_up_to_64_bits_changes_the_checksum(void **state)
{
    dice from = {3};
    unsigned char bytes[200];
    fill(bytes, sizeof bytes, &from);
    uint64_t right = crc64(bytes, sizeof bytes);
    for (int i = 0; i < 10000 * EFFORT; i++) {
        size_t length = 1 + below(&from, 64),
               start = below(&from, (uint32_t)(8 * sizeof bytes - length + 1));
        uint64_t pattern = roll(&from);
        flip_burst(bytes, start, length, pattern);
        assert_true(crc64(bytes, sizeof bytes) != right);
        flip_burst(bytes, start, length, pattern);
    }
    assert_true(crc64(bytes, sizeof bytes) == right);
}

static void the_short_checksum_is_crc32c(void **state)
{
    unsigned char zeros[32] = {0}, rising[32];
    for (unsigned i = 0; i < sizeof rising; i++)
        rising[i] = (unsigned char)i;
    assert_int_equal(crc32c("123456789", 9), 0xE3069283u);
    assert_int_equal(crc32c(zeros, sizeof zeros), 0x8A9136AAu); /* as in RFC 3720, B.4 */
    assert_int_equal(crc32c(rising, sizeof rising), 0x46DD794Eu);
    assert_int_equal(crc32c("", 0), 0);
}

static uint32_t crc32c_slow(const unsigned char *bytes, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    }
    return ~crc;
}

static void the_short_checksum_agrees_with_the_bitwise_one(void **state)
{
    dice from = {4};
    unsigned char bytes[300];
    fill(bytes, sizeof bytes, &from);
    for (size_t start = 0; start < 8; start++)
        for (size_t n = 0; n + start <= sizeof bytes; n++)
            assert_int_equal(crc32c(bytes + start, n), crc32c_slow(bytes + start, n));
}

/* Why a digest of an image is not its CRC-64. */
static void crc64_of_bytes_that_end_in_their_own_tells_nothing(void **state)
{
    unsigned char first[108], second[108];
    dice from = {5};
    fill(first, 100, &from);
    fill(second, 100, &from);
    for (int i = 0; i < 2; i++) {
        writer end = {(i ? second : first) + 100, 8, 0};
        put_u64(&end, crc64(i ? second : first, 100));
    }
    assert_true(crc64(first, sizeof first) == crc64(second, sizeof second));
    assert_int_not_equal(crc32c(first, sizeof first), crc32c(second, sizeof second));
}

/* ---- memory */

static void memory_is_aligned_and_zero(void **state)
{
    for (size_t bytes = 1; bytes < 100000; bytes = bytes * 3 + 1) {
        unsigned char *block[3];
        for (int i = 0; i < 3;
             i++) { /* several at once, so that the C library has no choice but odd places */
            block[i] = memory_take(NULL, bytes);
            assert_non_null(block[i]);
            assert_int_equal((uintptr_t)block[i] % LAYOUT_ALIGN, 0);
            for (size_t j = 0; j < bytes; j++)
                assert_int_equal(block[i][j], 0);
            memset(block[i], 0xFF, bytes);
        }
        for (int i = 0; i < 3; i++)
            memory_give(NULL, block[i], bytes);
    }
    assert_null(memory_take(NULL, SIZE_MAX));
    assert_null(memory_take(NULL, SIZE_MAX - 64));
    memory_give(NULL, NULL, 1);
}

typedef struct tray {
    unsigned char *block;
    size_t bytes, align, given;
} tray;

static void *take_from_tray(void *with, size_t bytes, size_t align)
{
    tray *t = with;
    t->bytes = bytes;
    t->align = align;
    return t->block;
}

static void give_to_tray(void *with, void *memory, size_t bytes)
{
    tray *t = with;
    assert_ptr_equal(memory, t->block);
    t->given += bytes;
}

static void memory_of_a_hook_is_wiped_and_given_back(void **state)
{
    unsigned char room[100];
    tray t = {.block = room};
    oltr_memory hook = {take_from_tray, give_to_tray, &t};
    memset(room, 0x5A, sizeof room);
    assert_ptr_equal(memory_take(&hook, 99), room);
    assert_int_equal(t.bytes, 99);
    assert_int_equal(t.align, LAYOUT_ALIGN);
    for (size_t i = 0; i < 99; i++)
        assert_int_equal(room[i], 0);
    assert_int_equal(room[99], 0x5A);
    memory_give(&hook, room, 99);
    assert_int_equal(t.given, 99);
    memory_give(&hook, NULL, 99); /* nothing was taken */
    assert_int_equal(t.given, 99);
    t.block = NULL;
    assert_null(memory_take(&hook, 5));
}

static void a_hook_is_whole_or_none(void **state)
{
    oltr_memory whole = {take_from_tray, give_to_tray, NULL}, none = {NULL, NULL, NULL};
    oltr_memory taker = {take_from_tray, NULL, NULL}, giver = {NULL, give_to_tray, NULL};
    assert_true(memory_is_whole(&whole) && memory_is_whole(&none) && memory_is_whole(NULL));
    assert_false(memory_is_whole(&taker) || memory_is_whole(&giver));
    void *block = memory_take(&none, 7); /* the C library's */
    assert_non_null(block);
    memory_give(&none, block, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_name_and_text),
        cmocka_unit_test(a_status_out_of_range_still_has_a_name_and_a_text),
        cmocka_unit_test(ok_is_zero),
        cmocka_unit_test(the_version_begins_with_three_numbers),
        cmocka_unit_test(set_error_fills_the_error_and_returns_the_code),
        cmocka_unit_test(set_error_accepts_no_error_object),
        cmocka_unit_test(set_error_cuts_a_long_sentence_and_ends_it),
        cmocka_unit_test(set_error_keeps_both_ends_of_a_long_sentence),
        cmocka_unit_test(set_error_cuts_no_character),
        cmocka_unit_test(a_misspelt_name_finds_the_right_one),
        cmocka_unit_test(a_strange_word_finds_nothing),
        cmocka_unit_test(the_plan_puts_arrays_side_by_side_and_aligned),
        cmocka_unit_test(close_arrays_follow_without_a_gap),
        cmocka_unit_test(the_plan_wastes_less_than_a_line_per_array),
        cmocka_unit_test(a_size_that_does_not_fit_is_an_overflow),
        cmocka_unit_test(a_sum_that_does_not_fit_is_an_overflow_that_stays),
        cmocka_unit_test(short_bytes_are_compared_and_copied),
        cmocka_unit_test(what_is_written_is_read_back_to_the_bit),
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(a_writer_without_memory_counts),
        cmocka_unit_test(a_writer_without_room_counts_on_and_writes_nothing_beyond),
        cmocka_unit_test(every_truncation_is_noticed_and_stays_noticed),
        cmocka_unit_test(after_a_failure_nothing_more_is_read),
        cmocka_unit_test(a_length_that_lies_is_refused),
        cmocka_unit_test(memory_is_aligned_and_zero),
        cmocka_unit_test(memory_of_a_hook_is_wiped_and_given_back),
        cmocka_unit_test(a_hook_is_whole_or_none),
        cmocka_unit_test(the_checksum_is_crc64_xz),
        cmocka_unit_test(the_checksum_agrees_with_the_bitwise_one_at_every_length_and_alignment),
        cmocka_unit_test(every_single_flipped_bit_changes_the_checksum),
        cmocka_unit_test(every_burst_of_up_to_64_bits_changes_the_checksum),
        cmocka_unit_test(the_short_checksum_is_crc32c),
        cmocka_unit_test(the_short_checksum_agrees_with_the_bitwise_one),
        cmocka_unit_test(crc64_of_bytes_that_end_in_their_own_tells_nothing),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
