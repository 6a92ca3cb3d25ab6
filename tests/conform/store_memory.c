/* store_memory.c - a store for which there is no memory: each allocation refused in turn.
 *
 * A call that cannot have what it needs returns OLTR_ENOMEM and has changed nothing; the store goes
 * on, and what is on the disk is what is in memory.
 */
#define _DEFAULT_SOURCE 1
#include "support/allocator.h"
#include "support/calls.h"
#include "conform/suite.h"

/* ---- one call of each kind */

static oltr_status learn_new_names(oltr_store *s)
{
    static char text[OLTR_MOST_SHOWN][16];
    static oltr_name name[OLTR_MOST_SHOWN];
    static double reward[OLTR_MOST_SHOWN];
    static unsigned more;
    for (uint32_t i = 0; i < COUNT(name); i++) {
        int n = snprintf(text[i], sizeof text[0], "new %u", more++);
        name[i] = (oltr_name){text[i], (uint32_t)n};
    }
    oltr_lesson lesson = {.shown = {.n = COUNT(name), .name = name}, .reward = reward};
    return oltr_store_learn(s, &lesson, NULL, NULL);
}

static oltr_status learn_an_id(oltr_store *s)
{
    oltr_lesson lesson = short_lesson("an id");
    return oltr_store_learn(s, &lesson, NULL, NULL);
}

static oltr_status learn_some(oltr_store *s)
{
    oltr_lesson lesson[3] = {short_lesson("a"), short_lesson("b"), short_lesson("c")};
    return oltr_store_learn_many(s, lesson, 3, NULL, NULL, NULL);
}

static oltr_status set_prior(oltr_store *s)
{
    oltr_name name = {"with a prior", 12};
    return oltr_store_prior(s, &name, (double[]){0.5, 0.1}, 1, NULL);
}

static oltr_status remove_one(oltr_store *s)
{
    oltr_name name = {"first", 5};
    return oltr_store_remove(s, &name, 1, NULL, NULL);
}

static oltr_status forget(oltr_store *s)
{
    return oltr_store_forget(s, 0.5, (oltr_name){NULL, 0}, NULL, NULL);
}

static oltr_model *other;

static oltr_status merge(oltr_store *s)
{
    return oltr_store_merge(s, other, (oltr_name){NULL, 0}, NULL, NULL);
}

static oltr_status checkpoint(oltr_store *s)
{
    return oltr_store_checkpoint(s, NULL);
}

static oltr_status rank(oltr_store *s)
{
    uint32_t place[2];
    oltr_show show = {.k = 2, .place = place};
    return oltr_store_rank(s, &(oltr_list){0}, oltr_rng_make(1, 1), &show, NULL);
}

static oltr_status load(oltr_store *s)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_lesson lesson = short_lesson(NULL);
    oltr_model *m = oltr_store_load(s, &error);
    if (!m)
        return error.code;
    oltr_status status = oltr_model_learn(m, &lesson, NULL, NULL);
    if (status == OLTR_OK)
        status = oltr_store_loaded(s, 1, NULL);
    if (status != OLTR_OK)
        expect(oltr_store_loaded(s, 0, NULL), OLTR_OK);
    return status;
}

static oltr_status (*const step[])(oltr_store *) = {
    rank,       learn_an_id, learn_new_names, set_prior, merge,      forget,
    remove_one, checkpoint,  learn_some,      load,      learn_an_id};

/* ---- refusals */

typedef struct template
{
    unsigned char *image, *log;
    size_t image_size, log_size;
}
template;

/* What a step may use, and what the test itself takes in between. */
static long put_away(void)
{
    long left = until_failure;
    until_failure = -1;
    return left;
}

/* Does a step with what is left; whether an allocation was refused. */
static bool try_step(oltr_store *s, size_t i, long *left)
{
    model_image before = image_of_store(s);
    uint64_t number = state_of(s).number;
    until_failure = *left;
    oltr_status status = step[i](s);
    *left = put_away();
    if (status == OLTR_OK) {
        free(before.byte);
        return *left == 0; /* a checkpoint after the call, or a place in the pool */
    }
    if (status != OLTR_ENOMEM)
        fail_msg("step %zu: %s", i, oltr_status_name(status));
    if (step[i] == learn_some)
        free(before.byte);
    else {
        assert_true(same_models(before, image_of_store(s)));
        assert_int_equal(state_of(s).number, number);
    }
    return true;
}

/* A life with n allocations granted; whether more were asked for. */
static bool live_with(const char *path, const template *t, long n, uint64_t checkpoint_bytes)
{
    oltr_store_options options = {.checkpoint_bytes = checkpoint_bytes, .sync = OLTR_SYNC_NONE};
    oltr_error error = {OLTR_OK, ""};
    write_bytes("poor", t->image, t->image_size);
    write_bytes("poor.log", t->log, t->log_size);
    until_failure = n;
    oltr_store *s = oltr_store_open(path, &options, &error);
    long left = put_away();
    if (!s) {
        expect(error.code, OLTR_ENOMEM);
        assert_true(error.msg[0]);
        s = must_open(path, &options);
    }
    bool refused = left == 0;
    for (size_t i = 0; i < COUNT(step); i++)
        refused |= try_step(s, i, &left);
    assert_int_equal(state_of(s).failed, 0);
    expect(learn_new_names(s), OLTR_OK);
    model_image image = image_of_store(s);
    until_failure = 0;
    oltr_status closed = oltr_store_close(s, NULL); /* needs no memory */
    until_failure = -1;
    expect(closed, OLTR_OK);
    s = must_open(path, NULL);
    assert_true(same_models(image, image_of_store(s)));
    must_close(s);
    return refused;
}

static void each_allocation_is_refused(void **state)
{
    oltr_model_settings settings = settings_of_kind(oltr_policy_info_by_name("gts", NULL));
    char path[128];
    template t;
    snprintf(path, sizeof path, "%s", path_of("poor"));
    other = model_of_kind(oltr_policy_info_by_name("gts", NULL));
    oltr_lesson lesson = short_lesson(NULL);
    expect(oltr_model_learn(other, &lesson, NULL, NULL), OLTR_OK);
    oltr_store *s = must_open(path, &(oltr_store_options){.create = &settings});
    expect(oltr_store_learn(s, &lesson, NULL, NULL), OLTR_OK);
    expect(merge(s), OLTR_OK);
    must_close(s);
    t.image = read_bytes(path, &t.image_size);
    t.log = read_bytes(path_of("poor.log"), &t.log_size);
    for (int often = 0; often < 2; often++) {
        long n = 0, held = taken - freed;
        for (; live_with(path, &t, n, often ? 1 : 0); n++) {
            assert_int_equal(taken - freed, held);
            assert_true(n < 1000);
        }
        assert_true(n > 50);
        print_message("%ld allocations\n", n);
    }
    free(t.image);
    free(t.log);
    oltr_model_free(other);
}

static oltr_memory none_left;

static void *take_none(void *with, size_t bytes, size_t align)
{
    return NULL;
}

static void give_none(void *with, void *block, size_t bytes)
{
}

/* Making a store with each allocation refused leaves no file behind. */
static void a_store_is_made_whole_or_not(void **state)
{
    oltr_model_settings settings = settings_of_kind(oltr_policy_info_by_name("gts", NULL));
    oltr_store_options options = {.create = &settings, .sync = OLTR_SYNC_SECOND};
    char path[128], log[160];
    snprintf(path, sizeof path, "%s", path_of("new"));
    snprintf(log, sizeof log, "%s.log", path);
    oltr_store *s = NULL;
    long n = 0;
    for (; !s; n++) {
        long held = taken - freed;
        oltr_error error = {OLTR_OK, ""};
        until_failure = n;
        s = oltr_store_open(path, &options, &error);
        until_failure = -1;
        if (s)
            break;
        expect(error.code, OLTR_ENOMEM);
        assert_int_equal(taken - freed, held);
        assert_int_not_equal(access(log, F_OK), 0);
        assert_true(n < 1000);
    }
    assert_true(n > 5);
    must_close(s);
    none_left = (oltr_memory){take_none, give_none, NULL};
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_store_open(path, &(oltr_store_options){.memory = &none_left}, &error));
    expect(error.code, OLTR_ENOMEM);
}

int main(void)
{
    static suite all;
    ONCE(&all, each_allocation_is_refused);
    ONCE(&all, a_store_is_made_whole_or_not);
    return cmocka_run_group_tests_name("store_memory", all.test, make_folder, remove_folder);
}
