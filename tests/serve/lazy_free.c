/* lazy_free.c - values are freed in another thread while commands run, as after UNLINK and FLUSHALL
 * ASYNC.
 *
 * For the thread sanitizer, and for the sums of INFO oltr at the end.  The commands are those of
 * the other tests, without their checks: the models and bytes of INFO lag behind.
 * usage: lazy_free MODULE
 */
#include "hostile_commands.h"
#include "support/effort.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUEUE = 64 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more, fewer;
    fake_value value[QUEUE];
    uint32_t n;
    bool end;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .more = PTHREAD_COND_INITIALIZER,
           .fewer = PTHREAD_COND_INITIALIZER};

static void put(fake_value v)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.n == QUEUE)
        pthread_cond_wait(&queue.fewer, &queue.lock);
    queue.value[queue.n++] = v;
    pthread_cond_signal(&queue.more);
    pthread_mutex_unlock(&queue.lock);
}

static bool take(fake_value *v)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.n == 0 && !queue.end)
        pthread_cond_wait(&queue.more, &queue.lock);
    bool found = queue.n > 0;
    if (found)
        *v = queue.value[--queue.n];
    pthread_cond_signal(&queue.fewer);
    pthread_mutex_unlock(&queue.lock);
    return found;
}

static void *free_values(void *with)
{
    fake_value v;
    (void)with;
    while (take(&v))
        fake_free_value(v);
    return NULL;
}

static void stop_freeing(pthread_t thread)
{
    pthread_mutex_lock(&queue.lock);
    queue.end = true;
    pthread_cond_signal(&queue.more);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(thread, NULL);
}

/* What OLTR.INFO says of a key, as far as commands are drawn by it. */
static void look_at(fake_server *s, generator *g, uint32_t i)
{
    char kind[32];
    text argv[2] = {text_of("OLTR.INFO"), key_at(i)};
    g->shelf[i] = (shelf){NULL, 0, 0, 0};
    if (!fake_has_key(s, argv[1]))
        return;
    const reply *r = fake_call(s, argv, 2), *name = reply_field(r, "kind");
    snprintf(kind, sizeof kind, "%.*s", (int)name->words.size, (const char *)name->words.bytes);
    g->shelf[i] =
        (shelf){oltr_policy_info_by_name(kind, NULL), (uint32_t)reply_field(r, "dim")->integer,
                (uint32_t)reply_field(r, "candidates")->integer,
                (uint32_t)reply_field(r, "items")->integer};
}

/* Most keys with many items go to the other thread, as a server does it. */
static uint32_t unlink_some(fake_server *s, generator *g, bool all)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_SHELVES; i++)
        if (all || chance(&g->choose, 30)) {
            fake_value v = fake_unlink(s, key_at(i), chance(&g->choose, 50));
            n += v.value != NULL;
            put(v);
            look_at(s, g, i);
        }
    return n;
}

static void run(fake_server *s, generator *g)
{
    const command *c = &g->command;
    draw_command(g, 10);
    fake_call(s, c->arg, c->n);
    int which = c->n > 1 ? shelf_of(c->arg[1]) : -1;
    if (which >= 0 && fake_effects_of(s)->replicated)
        look_at(s, g, (uint32_t)which);
    else if (which < 0 && c->n > 1)
        fake_delete(s, c->arg[1]);
}

int main(int argc, char **argv)
{
    static generator g = {.choose = {.luck = {5}}};
    static const blob none[N_SHELVES];
    uint64_t commands = number_from("OLTR_CALLS", 20000 * EFFORT);
    uint32_t freed = 0;
    pthread_t thread;
    fake_server *s = fake_start(argc > 1 ? argv[1] : "oltr.so", NULL);
    if (!s || pthread_create(&thread, NULL, free_values, NULL) != 0)
        fake_fault("no server or no thread: %s", fake_last_log());
    g.live = none;
    for (uint64_t i = 0; i < commands; i++) {
        if (i % 100 == 99) {
            freed += unlink_some(s, &g, i % 1000 == 999);
            fake_new_chapter("command %llu", (unsigned long long)i);
        }
        run(s, &g);
    }
    freed += unlink_some(s, &g, true);
    stop_freeing(thread);
    printf("%llu commands, %u models freed in another thread\n", (unsigned long long)commands,
           freed);
    fake_stop(s);
    return freed < commands / 1000;
}
