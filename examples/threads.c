/* threads.c - one model and many threads, in two ways.
 *
 *   cc -I include examples/threads.c -loltr -lm -pthread -o threads && ./threads
 *
 * Locked: a reader/writer lock around the model.  Any number of threads rank at once; a lesson
 * waits for them and they wait for it, about a microsecond.  A store (store.h) has this lock.
 *
 * Published: threads rank with a copy that never changes.  One thread learns into a model of its
 * own and now and then publishes a copy of it.  Ranking never waits; lists are as old as the copy.
 *
 * Both parts of the program let three threads rank while one learns.
 */
#define _GNU_SOURCE 1 /* pthread_rwlockattr_setkind_np */
#include <oltr/model.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKERS = 3, ITEMS = 100, SLOTS = 5, LESSONS = 20000, PUBLISH_EVERY = 100 };

/* ---- locked */

typedef struct locked {
    pthread_rwlock_t lock;
    oltr_model *model;
} locked;

/* By default glibc lets new readers pass a waiting writer: under load a lesson could wait for ever.
 */
static int locked_init(locked *l, oltr_model *model)
{
    pthread_rwlockattr_t kind;
    l->model = model;
    if (pthread_rwlockattr_init(&kind) != 0)
        return 1;
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    int failed = pthread_rwlock_init(&l->lock, &kind);
    pthread_rwlockattr_destroy(&kind);
    return failed;
}

static oltr_status locked_rank(locked *l, const oltr_list *list, oltr_rng rng,
                               oltr_model_scratch *scratch, oltr_show *show)
{
    pthread_rwlock_rdlock(&l->lock);
    oltr_status status = oltr_model_rank(l->model, list, rng, scratch, show, NULL);
    pthread_rwlock_unlock(&l->lock);
    return status;
}

static oltr_status locked_learn(locked *l, const oltr_lesson *lesson, int *applied)
{
    pthread_rwlock_wrlock(&l->lock);
    oltr_status status = oltr_model_learn(l->model, lesson, applied, NULL);
    pthread_rwlock_unlock(&l->lock);
    return status;
}

/* ---- published */

/* Every ranking thread has a place on the board, where it says which copy it uses. */
typedef struct board {
    _Atomic(oltr_model *) current;
    _Atomic(oltr_model *) used[RANKERS];
} board;

/* The copy to rank with, until board_leave().  After the second look at `current` the copy cannot
 * be freed: board_publish() replaces it first and looks at `used` afterwards. */
static const oltr_model *board_enter(board *b, uint32_t ranker)
{
    oltr_model *model = atomic_load(&b->current), *before;
    do {
        before = model;
        atomic_store(&b->used[ranker], model);
        model = atomic_load(&b->current);
    } while (model != before);
    return model;
}

static void board_leave(board *b, uint32_t ranker)
{
    atomic_store(&b->used[ranker], NULL);
}

/* One thread publishes: it waits until no list is being made with the old copy, and frees it. */
static void board_publish(board *b, oltr_model *copy)
{
    oltr_model *old = atomic_exchange(&b->current, copy);
    for (uint32_t i = 0; i < RANKERS; i++)
        while (atomic_load(&b->used[i]) == old)
            sched_yield();
    oltr_model_free(old);
}

/* ---- a page that uses either */

typedef struct page {
    char text[ITEMS][16];
    oltr_name name[ITEMS];
    bool is_published;
    locked locked;
    board board;
    atomic_bool stop, failed;
    atomic_ullong lists;
} page;

static oltr_status make_list(page *p, uint32_t ranker, oltr_rng rng, oltr_model_scratch *scratch,
                             oltr_show *show)
{
    oltr_list all = {.n = ITEMS, .name = p->name};
    if (!p->is_published)
        return locked_rank(&p->locked, &all, rng, scratch, show);
    const oltr_model *model = board_enter(&p->board, ranker);
    oltr_status status = oltr_model_rank(model, &all, rng, scratch, show, NULL);
    board_leave(&p->board, ranker);
    return status;
}

typedef struct ranker {
    page *page;
    uint32_t number;
} ranker;

static void *rank_lists(void *ranker_)
{
    const ranker *r = ranker_;
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL); /* one for each thread */
    oltr_rng rng = oltr_rng_make(1, r->number);
    for (uint64_t t = 1; scratch && !atomic_load(&r->page->stop); t++) {
        uint32_t place[SLOTS];
        oltr_show show = {.k = SLOTS, .place = place};
        if (make_list(r->page, r->number, oltr_rng_at(rng, 0, t), scratch, &show) != OLTR_OK)
            atomic_store(&r->page->failed, true);
        atomic_fetch_add(&r->page->lists, 1);
    }
    if (!scratch)
        atomic_store(&r->page->failed, true);
    oltr_model_scratch_free(scratch);
    return NULL;
}

/* Five items were shown, and the third of them clicked. */
static oltr_lesson lesson_of(const page *p, uint32_t t)
{
    static const double reward[SLOTS] = {[2] = 1};
    return (oltr_lesson){.shown = {.n = SLOTS, .name = p->name + t * 7 % (ITEMS - SLOTS)},
                         .reward = reward};
}

static bool learn_locked(page *p)
{
    for (uint32_t t = 0; t < LESSONS; t++) {
        oltr_lesson lesson = lesson_of(p, t);
        if (locked_learn(&p->locked, &lesson, NULL) != OLTR_OK)
            return false;
    }
    return true;
}

static bool learn_published(page *p, oltr_model *own)
{
    for (uint32_t t = 0; t < LESSONS; t++) {
        oltr_lesson lesson = lesson_of(p, t);
        if (oltr_model_learn(own, &lesson, NULL, NULL) != OLTR_OK)
            return false;
        if ((t + 1) % PUBLISH_EVERY != 0)
            continue;
        oltr_model *copy = oltr_model_copy(own, NULL, NULL);
        if (!copy)
            return false;
        board_publish(&p->board, copy);
    }
    return true;
}

/* Ranks in three threads while this one learns. */
static bool serve(page *p, oltr_model *own)
{
    pthread_t thread[RANKERS];
    ranker r[RANKERS];
    uint32_t started = 0;
    for (; started < RANKERS; started++) {
        r[started] = (ranker){p, started};
        if (pthread_create(&thread[started], NULL, rank_lists, &r[started]) != 0)
            break;
    }
    bool good = started == RANKERS && (p->is_published ? learn_published(p, own) : learn_locked(p));
    while (good && atomic_load(&p->lists) < LESSONS && !atomic_load(&p->failed))
        sched_yield();
    atomic_store(&p->stop, true);
    while (started > 0)
        pthread_join(thread[--started], NULL);
    return good && !atomic_load(&p->failed);
}

static void name_items(page *p)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        int size = snprintf(p->text[i], sizeof p->text[i], "item %u", i);
        p->name[i] = (oltr_name){p->text[i], (uint32_t)size};
    }
}

static oltr_model *new_model(void)
{
    oltr_model_settings settings;
    return oltr_model_settings_init(&settings, "ts-beta", NULL) == OLTR_OK
               ? oltr_model_new(&settings, NULL)
               : NULL;
}

static bool run_locked(oltr_model *own)
{
    static page p;
    name_items(&p);
    if (!own || locked_init(&p.locked, own) != 0)
        return false;
    bool good = serve(&p, own);
    pthread_rwlock_destroy(&p.locked.lock);
    return good;
}

static bool run_published(oltr_model *own)
{
    static page p = {.is_published = true};
    name_items(&p);
    oltr_model *copy = own ? oltr_model_copy(own, NULL, NULL) : NULL;
    if (!copy)
        return false;
    atomic_store(&p.board.current, copy);
    bool good = serve(&p, own);
    good = good && oltr_model_lessons(atomic_load(&p.board.current)) == LESSONS;
    oltr_model_free(atomic_load(&p.board.current));
    return good;
}

int main(void)
{
    bool good = true;
    for (int published = 0; published < 2; published++) {
        oltr_model *model = new_model();
        good = (published ? run_published : run_locked)(model) && good;
        printf("%s: %llu lessons learned while %d threads ranked: %s\n",
               published ? "published" : "locked", (unsigned long long)oltr_model_lessons(model),
               RANKERS, good ? "ok" : "failed");
        oltr_model_free(model);
    }
    return !good;
}
