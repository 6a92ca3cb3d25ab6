/* store_threads.c - all calls of a store at once, from many threads; the thread sanitizer looks on.
 *
 * Threads that rank without a pause must not keep changes out, nor changes the readers; a process
 * that opens the store to read while it is written and emptied must always get a model of some
 * moment.
 */
#define _GNU_SOURCE 1
#include "support/calls.h"
#include "conform/suite.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RANKERS = 2, LEARNERS = 2, LESSONS = 200 * EFFORT, LOADS = 3 * EFFORT, LOADED = 5 };

typedef struct scene {
    oltr_store *store;
    char path[128];
    uint32_t lessons; /* of each learner */
    atomic_bool over;
    atomic_int failures; /* asserts belong to the main thread */
    atomic_long ranked, opened;
} scene;

static void must(scene *s, bool holds)
{
    s->failures += !holds;
}

/* ---- readers */

static void *rank_on(void *context)
{
    scene *s = context;
    uint64_t before = 0;
    for (uint64_t round = 0; !s->over; round++) {
        uint32_t place[2];
        oltr_show show = {.k = 2, .place = place};
        oltr_status status =
            oltr_store_rank(s->store, &(oltr_list){0}, oltr_rng_make(round, 1), &show, NULL);
        must(s, status == OLTR_OK && show.k == 2 && place[0] != place[1]);
        const oltr_model *m = oltr_store_read(s->store);
        uint64_t lessons = oltr_model_lessons(m);
        oltr_name name = oltr_model_name(m, 1);
        oltr_explained found;
        must(s,
             oltr_model_explain(m, &(oltr_list){.n = 1, .name = &name}, &found, NULL) == OLTR_OK);
        must(s, found.last <= lessons && lessons >= before);
        oltr_store_done(s->store);
        before = lessons;
        s->ranked++;
    }
    return NULL;
}

/* Another process would do the same. */
static void *open_on(void *context)
{
    scene *s = context;
    uint64_t before = 0;
    while (!s->over) {
        oltr_error error = {OLTR_OK, ""};
        oltr_store *r = oltr_store_open(s->path, &(oltr_store_options){.read_only = 1}, &error);
        if (!r)
            fprintf(stderr, "%s\n", error.msg);
        must(s, r != NULL);
        uint64_t number = state_of(r).number;
        must(s, number >= before);
        before = number;
        s->opened++;
        oltr_store_close(r, NULL);
    }
    return NULL;
}

static void *look_on(void *context)
{
    scene *s = context;
    uint64_t before = 0;
    while (!s->over) {
        oltr_store_state state = state_of(s->store);
        must(s, state.number >= before && !state.failed);
        before = state.number;
        must(s, oltr_store_sync(s->store, NULL) == OLTR_OK);
    }
    return NULL;
}

/* ---- changes */

typedef struct learner {
    scene *scene;
    uint32_t number;
} learner;

/* Each lesson twice: it counts once. */
static void *learn_on(void *context)
{
    learner *l = context;
    for (uint32_t i = 0; i < l->scene->lessons; i++) {
        char id[24];
        int applied[2] = {0, 1};
        snprintf(id, sizeof id, "%u-%u", l->number, i);
        oltr_lesson lesson = short_lesson(id);
        for (int j = 0; j < 2; j++)
            must(l->scene,
                 oltr_store_learn(l->scene->store, &lesson, &applied[j], NULL) == OLTR_OK);
        must(l->scene, applied[0] == 1 && applied[1] == 0);
    }
    return NULL;
}

static void *load_on(void *context)
{
    scene *s = context;
    for (uint32_t i = 0; i < 2 * LOADS; i++) {
        oltr_model *m = oltr_store_load(s->store, NULL);
        oltr_lesson lesson = short_lesson(NULL);
        must(s, m != NULL);
        for (uint32_t j = 0; m && j < LOADED; j++)
            must(s, oltr_model_learn(m, &lesson, NULL, NULL) == OLTR_OK);
        must(s, oltr_store_loaded(s->store, i % 2 == 0, NULL) == OLTR_OK);
        must(s, oltr_store_checkpoint(s->store, NULL) == OLTR_OK);
    }
    return NULL;
}

/* ---- all of them */

static pthread_t start(void *(*run)(void *), void *context)
{
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, run, context), 0);
    return id;
}

static void play(scene *s)
{
    learner l[LEARNERS];
    pthread_t reader[RANKERS + 2], writer[LEARNERS + 1];
    for (uint32_t i = 0; i < RANKERS; i++)
        reader[i] = start(rank_on, s);
    reader[RANKERS] = start(open_on, s);
    reader[RANKERS + 1] = start(look_on, s);
    for (uint32_t i = 0; i < LEARNERS; i++) {
        l[i] = (learner){s, i};
        writer[i] = start(learn_on, &l[i]);
    }
    writer[LEARNERS] = start(load_on, s);
    for (uint32_t i = 0; i < COUNT(writer); i++)
        assert_int_equal(pthread_join(writer[i], NULL), 0);
    s->over = true;
    for (uint32_t i = 0; i < COUNT(reader); i++)
        assert_int_equal(pthread_join(reader[i], NULL), 0);
}

static void everything_at_once(void **state)
{
    static const char *const names[] = {"none", "second", "always"};
    uint32_t sync = 0;
    while (strcmp(names[sync], *state) != 0)
        sync++;
    static scene s;
    memset(&s, 0, sizeof s);
    oltr_model_settings settings = settings_of_kind(oltr_policy_info_by_name("gts", NULL));
    settings.window = 1 << 16;
    snprintf(s.path, sizeof s.path, "%s", path_of(*state));
    s.lessons = sync == OLTR_SYNC_ALWAYS ? LESSONS / 8 : LESSONS;
    oltr_store_options options = {.create = &settings, .sync = sync, .checkpoint_bytes = 10000};
    s.store = must_open(s.path, &options);
    oltr_lesson first = short_lesson(NULL);
    expect(oltr_store_learn(s.store, &first, NULL, NULL), OLTR_OK);
    play(&s);
    assert_int_equal(s.failures, 0);
    assert_true(s.ranked > 0 && s.opened > 0);
    uint64_t lessons = 1 + LEARNERS * s.lessons + LOADS * LOADED;
    assert_int_equal(state_of(s.store).number, 1 + LEARNERS * s.lessons + LOADS);
    model_image image = image_of_store(s.store);
    must_close(s.store);
    s.store = must_open(s.path, NULL);
    assert_int_equal(oltr_model_lessons(oltr_store_read(s.store)), lessons);
    oltr_store_done(s.store);
    assert_true(same_models(image, image_of_store(s.store)));
    must_close(s.store);
}

int main(void)
{
    static suite all;
    add_test(&all, "everything_at_once", "none", everything_at_once, "none");
    add_test(&all, "everything_at_once", "second", everything_at_once, "second");
    add_test(&all, "everything_at_once", "always", everything_at_once, "always");
    return cmocka_run_group_tests_name("store_threads", all.test, make_folder, remove_folder);
}
