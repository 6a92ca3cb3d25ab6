/* store_damage.c - a log that is cut at every byte, changed at every byte, or forged.
 *
 * What opening may do with it: refuse it, or give the calls up to some record and say that what
 * follows was cut.  It may never give anything else, and never cut a record that has a sound one
 * behind it.
 */
#define _GNU_SOURCE 1
#include "support/calls.h"
#include "conform/suite.h"

#include <time.h>

#include "engine/base/bytes.h"
#include "engine/store/record.h"
#include "engine/store/replay.h"

enum { CALLS = 24 };

/* Both files of a store after CALLS calls, and the model after each of them. */
typedef struct history {
    unsigned char *image, *log;
    size_t image_size, log_size;
    size_t end[CALLS + 1]; /* of the record of each call; [0]: of the base */
    model_image model[CALLS + 1];
} history;

static void make_history(const char *kind, history *h)
{
    const oltr_policy_info *info = oltr_policy_info_by_name(kind, NULL);
    oltr_model_settings settings = settings_of_kind(info);
    char path[128], log[160];
    dice d = {7};
    snprintf(path, sizeof path, "%s", path_of(kind));
    snprintf(log, sizeof log, "%s.log", path);
    oltr_store *s = must_open(path, &(oltr_store_options){.create = &settings});
    h->end[0] = (size_t)state_of(s).log_bytes;
    h->model[0] = image_of_store(s);
    for (uint32_t i = 0; i < CALLS;) {
        drawn_call c;
        bool changed;
        oltr_model *twin = oltr_model_copy(oltr_store_read(s), NULL, NULL);
        oltr_store_done(s);
        draw_call(&d, twin, &c);
        call_store(s, &c, &changed, NULL);
        oltr_model_free(twin);
        end_call(&c);
        if (!changed)
            continue;
        h->end[++i] = (size_t)state_of(s).log_bytes;
        h->model[i] = image_of_store(s);
    }
    must_close(s);
    h->image = read_bytes(path, &h->image_size);
    h->log = read_bytes(log, &h->log_size);
    assert_int_equal(h->log_size, h->end[CALLS]);
    unlink(path);
    unlink(log);
}

static void end_history(history *h)
{
    free(h->image);
    free(h->log);
    for (uint32_t i = 0; i <= CALLS; i++)
        free(h->model[i].byte);
}

/* How many calls are whole in the first `size` bytes of the log. */
static uint32_t whole_calls(const history *h, size_t size)
{
    uint32_t n = 0;
    while (n < CALLS && h->end[n + 1] <= size)
        n++;
    return n;
}

/* Replays a log of exactly this size; -1: it was refused, else the number of calls.  What is given
 * must be the model after so many calls, and the rest reported as torn. */
static int replay_log(const history *h, const unsigned char *log, size_t size, oltr_error *error)
{
    unsigned char *exact = exactly(size, 1); /* a sanitizer guards its end */
    memcpy(exact, log, size);
    store_bytes b = {"store", h->image, exact, h->image_size, size};
    replayed r;
    oltr_status status = replay(&b, NULL, NULL, &r, error);
    int calls = -1;
    if (status == OLTR_OK) {
        calls = (int)r.calls;
        assert_true(r.calls <= CALLS && r.number == r.calls);
        model_image found = image_of_model(r.model), wanted = h->model[calls];
        assert_int_equal(found.size, wanted.size);
        assert_memory_equal(found.byte, wanted.byte, found.size);
        free(found.byte);
        oltr_model_free(r.model);
        assert_true(r.end <= size && (calls == 0 || r.end >= h->end[calls]));
    } else
        assert_true(error->code == status && error->msg[0]);
    free(exact);
    return calls;
}

static void cut_at_every_byte(void **state)
{
    history h;
    oltr_error error;
    make_history(*state, &h);
    for (size_t size = 0; size <= h.log_size; size++)
        assert_int_equal(replay_log(&h, h.log, size, &error), whole_calls(&h, size));
    end_history(&h);
}

static void changed_at_every_byte(void **state)
{
    static const unsigned char change[] = {0x01, 0x80, 0xFF};
    const size_t step = EFFORT > 1 ? 1 : COUNT(change); /* 1: all changes of every byte */
    history h;
    oltr_error error;
    make_history(*state, &h);
    for (size_t at = 0; at < h.log_size; at++)
        for (size_t i = at % step; i < COUNT(change); i += step) {
            h.log[at] ^= change[i];
            int calls = replay_log(&h, h.log, h.log_size, &error);
            bool last = at >= h.end[CALLS - 1]; /* nothing follows: as if it had been torn */
            if (calls != (last ? CALLS - 1 : -1))
                fail_msg("byte %zu changed: %d calls", at, calls);
            if (!last && at >= LOG_START && error.code != OLTR_ECORRUPT)
                fail_msg("byte %zu changed: %s", at, error.msg);
            h.log[at] ^= change[i];
        }
    end_history(&h);
}

static void an_image_changed_at_every_byte(void **state)
{
    history h;
    oltr_error error;
    make_history(*state, &h);
    for (size_t at = 0; at < h.image_size; at++) {
        h.image[at] ^= 0x10;
        assert_int_equal(replay_log(&h, h.log, h.log_size, &error), -1);
        h.image[at] ^= 0x10;
    }
    for (size_t size = h.image_size; size-- > 0;) {
        h.image_size = size;
        assert_int_equal(replay_log(&h, h.log, h.log_size, &error), -1);
    }
    end_history(&h);
}

/* Pages that never reached the disk: zeros, in the middle or at the end. */
static void pages_that_are_missing(void **state)
{
    history h;
    oltr_error error;
    dice d = {3};
    make_history(*state, &h);
    unsigned char *log = exactly(h.log_size + 5000, 1);
    for (int i = 0; i < 100 * EFFORT; i++) {
        size_t from = h.end[0] + below(&d, (uint32_t)(h.log_size - h.end[0])),
               n = 1 + below(&d, (uint32_t)(h.log_size - from));
        memcpy(log, h.log, h.log_size);
        memset(log + from, 0, n);
        if (memcmp(log, h.log, h.log_size) == 0)
            continue; /* they were zeros */
        int calls = replay_log(&h, log, h.log_size, &error);
        bool last = from + n > h.end[CALLS - 1];
        assert_true(calls == -1 || calls == (int)whole_calls(&h, from) || !last);
        if (!last)
            assert_int_equal(calls, -1);
        else
            assert_int_not_equal(calls, -1);
        memset(log + from, 0,
               h.log_size + 5000 - from); /* a file that is longer than its content */
        assert_int_not_equal(replay_log(&h, log, h.log_size + below(&d, 5000), &error), -1);
    }
    for (int i = 0; i < 20 * EFFORT; i++) { /* what was in these blocks before */
        size_t n = 1 + below(&d, 5000);
        memcpy(log, h.log, h.log_size);
        for (size_t j = 0; j < n; j++)
            log[h.log_size + j] = (unsigned char)below(&d, 256);
        assert_int_equal(replay_log(&h, log, h.log_size + n, &error), CALLS);
    }
    free(log);
    end_history(&h);
}

/* The same through the files: what is torn is gone from the disk, what is refused is as it was. */
static void on_the_disk(void **state)
{
    history h;
    char path[128], log[160];
    make_history("gts", &h);
    snprintf(path, sizeof path, "%s", path_of("disk"));
    snprintf(log, sizeof log, "%s.log", path);
    for (size_t size = 0; size <= h.log_size; size += 29) {
        write_bytes("disk", h.image, h.image_size);
        write_bytes("disk.log", h.log, size);
        oltr_store *s = must_open(path, NULL);
        uint32_t calls = whole_calls(&h, size);
        size_t end = size < LOG_START ? 0 : size < h.end[0] ? LOG_START : h.end[calls], after;
        assert_int_equal(state_of(s).replayed, calls);
        assert_int_equal(state_of(s).cut_bytes, size - end);
        must_close(s);
        free(read_bytes(log, &after));
        assert_int_equal(after, calls ? h.end[calls] : h.end[0]);
        s = must_open(path, NULL);
        assert_int_equal(state_of(s).number, calls);
        assert_int_equal(state_of(s).cut_bytes, 0);
        must_close(s);
    }
    for (size_t at = 0; at < h.end[CALLS - 1]; at += 31) {
        oltr_error error = {OLTR_OK, ""};
        size_t n;
        h.log[at] ^= 4;
        write_bytes("disk.log", h.log, h.log_size);
        assert_null(oltr_store_open(path, NULL, &error));
        assert_null(oltr_store_open(path, &(oltr_store_options){.read_only = 1}, &error));
        if (at >= LOG_START)
            assert_non_null(strstr(error.msg, "nothing was changed"));
        unsigned char *found = read_bytes(log, &n);
        assert_int_equal(n, h.log_size);
        assert_memory_equal(found, h.log, n);
        free(found);
        h.log[at] ^= 4;
    }
    end_history(&h);
}

/* The message has the command that keeps what is in front of the damage. */
static void the_advice_works(void **state)
{
    history h;
    oltr_error error = {OLTR_OK, ""};
    char path[128], log[160];
    size_t at, behind, keep;
    make_history("gts", &h);
    snprintf(path, sizeof path, "%s", path_of("advice"));
    snprintf(log, sizeof log, "%s.log", path);
    h.log[h.end[9] + 20] ^= 1;
    write_bytes("advice", h.image, h.image_size);
    write_bytes("advice.log", h.log, h.log_size);
    assert_null(oltr_store_open(path, NULL, &error));
    const char *said = strstr(error.msg, "damaged at byte");
    assert_int_equal(
        sscanf(said, "damaged at byte %zu, and whole records follow at byte %zu:", &at, &behind),
        2);
    assert_int_equal(at, h.end[9]);
    assert_int_equal(behind, h.end[10]);
    assert_int_equal(sscanf(strstr(error.msg, "truncate -s"), "truncate -s %zu", &keep), 1);
    assert_int_equal(truncate(log, (off_t)keep), 0);
    oltr_store *s = must_open(path, NULL);
    assert_int_equal(state_of(s).number, 9);
    must_close(s);
    end_history(&h);
}

/* ---- forged logs */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A log in which every 24th byte begins something that may be a record as long as the rest: all
 * checksums would take hours. */
static void a_search_is_bounded(void **state)
{
    enum { SIZE = 8 << 20 };
    history h;
    oltr_error error;
    make_history("gts", &h);
    unsigned char *log = exactly(SIZE, 1);
    memcpy(log, h.log, h.end[0]);
    for (size_t at = h.end[0]; at + 24 <= SIZE; at += 24) {
        writer w = {log + at, 24, 0};
        put_u64(&w, SIZE - at - RECORD_HEAD); /* the size, and a wrong checksum */
        put_u64(&w, 1 + at % 7);
        put_u64(&w, CALL_LEARN);
    }
    double begin = seconds();
    assert_int_equal(replay_log(&h, log, SIZE, &error), -1);
    assert_non_null(strstr(error.msg, "too much that looks like records"));
    double took = seconds() - begin;
    if (took > 60)
        fail_msg("%g seconds", took);
    free(log);
    end_history(&h);
}

/* A merge carries the image of a model, full of small numbers: cut anywhere, it is torn. */
static void a_merge_that_is_torn(void **state)
{
    const oltr_policy_info *info = oltr_policy_info_by_name("gts", NULL);
    history h;
    oltr_error error;
    enum { ITEMS = 3000 };
    oltr_model *other = model_of_kind(info);
    for (uint32_t i = 0; i < ITEMS; i++) {
        oltr_lesson lesson = short_lesson(NULL);
        uint32_t number = i;
        oltr_name name = {&number, sizeof number};
        lesson.shown = (oltr_list){.n = 1, .name = &name};
        expect(oltr_model_learn(other, &lesson, NULL, NULL), OLTR_OK);
    }
    model_image image = image_of_model(other);
    make_history("gts", &h);
    size_t size = h.log_size + 100 + image.size;
    unsigned char *log = exactly(size, 1);
    memcpy(log, h.log, h.log_size);
    writer w = {log, size, h.log_size};
    put_record(&w, CALLS + 1,
               &(call){.kind = CALL_MERGE, .image = image.byte, .image_size = image.size});
    for (size_t cut = h.log_size; cut < w.used; cut += 997)
        assert_int_equal(replay_log(&h, log, cut, &error), CALLS);
    free(log);
    free(image.byte);
    oltr_model_free(other);
    end_history(&h);
}

/* A name may hold the bytes of a record.  Torn inside of it, the log is refused rather than cut:
 * nothing is lost, and the message says what to do. */
static void a_name_that_is_a_record(void **state)
{
    history h;
    oltr_error error;
    unsigned char inner[64], log[8192];
    make_history("gts", &h);
    writer w = {inner, sizeof inner, 0};
    put_record(&w, CALLS + 2, &(call){.kind = CALL_TRIM, .idle = 1});
    oltr_name name = {inner, (uint32_t)w.used};
    memcpy(log, h.log, h.log_size);
    writer outer = {log, sizeof log, h.log_size};
    put_record(&outer, CALLS + 1, &(call){.kind = CALL_REMOVE, .n = 1, .name = &name});
    assert_true(outer.used < sizeof log);
    assert_int_equal(replay_log(&h, log, outer.used - 1, &error), CALLS); /* it is torn itself */
    log[outer.used++] = 0;
    log[h.log_size + 4] ^= 1;
    assert_int_equal(replay_log(&h, log, outer.used, &error), -1);
    assert_non_null(strstr(error.msg, "nothing was changed"));
    end_history(&h);
}

int main(void)
{
    static const char *const kinds[] = {"gts", "lints", "ts-beta"};
    static suite all;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        add_test(&all, "cut_at_every_byte", kinds[i], cut_at_every_byte, kinds[i]);
        add_test(&all, "changed_at_every_byte", kinds[i], changed_at_every_byte, kinds[i]);
        add_test(&all, "an_image_changed_at_every_byte", kinds[i], an_image_changed_at_every_byte,
                 kinds[i]);
        add_test(&all, "pages_that_are_missing", kinds[i], pages_that_are_missing, kinds[i]);
    }
    ONCE(&all, on_the_disk);
    ONCE(&all, the_advice_works);
    ONCE(&all, a_search_is_bounded);
    ONCE(&all, a_merge_that_is_torn);
    ONCE(&all, a_name_that_is_a_record);
    return cmocka_run_group_tests_name("store_damage", all.test, make_folder, remove_folder);
}
