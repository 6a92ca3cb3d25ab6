/* serve.c - a page with names on a store: rank for a session, show, learn once, forget, restart.
 *
 *   cc -I include examples/serve.c -loltr -lm -o serve && ./serve shop.oltr
 *
 * A shop of 200 products.  A request has 50 of them as candidates and shows 5.  One product in ten
 * is clicked by 20 % of those who look at it, the others by 2 %.  Every lesson is sent twice, as a
 * queue may do, and counts once.  The program ends by closing the store and opening it again; run
 * it a second time, and it goes on from what it knows.
 */
#include <oltr/store.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PRODUCTS = 200, CANDIDATES = 50, SLOTS = 5, REQUESTS = 20000, HOUR = 500, LONGEST = 24 };

static char product_text[PRODUCTS][LONGEST];
static oltr_name product[PRODUCTS];

static oltr_name name_of(const char *text)
{
    return (oltr_name){text, (uint32_t)strlen(text)};
}

static bool is_good(oltr_name name)
{
    return ((const char *)name.bytes)[name.size - 1] == '7'; /* sku-0007, sku-0017, ... */
}

/* ---- the store */

static oltr_store *open_shop(const char *path, oltr_error *error)
{
    oltr_model_settings settings;
    if (oltr_model_settings_init(&settings, "ts-hyper", error) != OLTR_OK)
        return NULL;
    oltr_store_options options = {.create = &settings, .sync = OLTR_SYNC_SECOND};
    return oltr_store_open(path, &options, error);
}

/* ---- the page */

/* The products that a request may show, for instance those in stock. */
static void find_candidates(uint64_t request, oltr_name candidate[CANDIDATES])
{
    for (uint32_t j = 0; j < CANDIDATES; j++)
        candidate[j] = product[(request * 13 + j * 7) % PRODUCTS];
}

static oltr_status rank_page(oltr_store *store, const char *session, const oltr_name *candidate,
                             oltr_name shown[SLOTS], oltr_error *error)
{
    uint32_t place[SLOTS];
    oltr_list list = {.n = CANDIDATES, .name = candidate};
    oltr_show show = {.k = SLOTS, .place = place};
    oltr_rng rng = oltr_rng_text(session, strlen(session));
    oltr_status status = oltr_store_rank(store, &list, rng, &show, error);
    for (uint32_t slot = 0; status == OLTR_OK && slot < SLOTS; slot++)
        shown[slot] = candidate[place[slot]];
    return status;
}

/* Simulates the user of a request: scans from the top and clicks the first product that attracts
 * them. */
static void watch_user(uint64_t request, const oltr_name shown[SLOTS], double click[SLOTS])
{
    oltr_rng user = oltr_rng_at(oltr_rng_make(7, 0), 1, request);
    bool leaves = false;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        bool attracted = oltr_rng_uniform(&user) < (is_good(shown[slot]) ? 0.2 : 0.02);
        click[slot] = attracted && !leaves;
        leaves = leaves || attracted;
    }
}

/* The lesson arrives twice; what the second call returns in `applied` must be 0. */
static oltr_status learn_twice(oltr_store *store, const char *id, const oltr_name shown[SLOTS],
                               const double click[SLOTS], int *counted, oltr_error *error)
{
    int applied[2];
    oltr_lesson lesson = {.shown = {.n = SLOTS, .name = shown}, .reward = click, .id = name_of(id)};
    oltr_status status = oltr_store_learn(store, &lesson, &applied[0], error);
    if (status == OLTR_OK)
        status = oltr_store_learn(store, &lesson, &applied[1], error);
    *counted = applied[0] + applied[1];
    return status;
}

/* Called once an hour; half of what was learned is forgotten in a week.  The id is that of the
 * hour, so that an hour counts once even if the timer fires twice. */
static oltr_status forget_hour(oltr_store *store, uint64_t hour, oltr_error *error)
{
    const double hours_to_half = 7 * 24;
    char id[LONGEST];
    snprintf(id, sizeof id, "hour %llu", (unsigned long long)hour);
    return oltr_store_forget(store, pow(0.5, 1 / hours_to_half), name_of(id), NULL, error);
}

/* One request; returns how many of the shown products were good ones, -1 on an error. */
static int serve_request(oltr_store *store, uint64_t request, uint64_t *counted, oltr_error *error)
{
    char session[LONGEST], id[LONGEST];
    oltr_name candidate[CANDIDATES], shown[SLOTS];
    double click[SLOTS];
    int good = 0, once = 0;
    snprintf(session, sizeof session, "session %llu", (unsigned long long)request);
    snprintf(id, sizeof id, "page %llu", (unsigned long long)request);
    find_candidates(request, candidate);
    if (rank_page(store, session, candidate, shown, error) != OLTR_OK)
        return -1;
    watch_user(request, shown, click);
    if (learn_twice(store, id, shown, click, &once, error) != OLTR_OK)
        return -1;
    *counted += (uint64_t)once;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        good += is_good(shown[slot]);
    return good;
}

static bool serve_day(oltr_store *store, uint64_t first, oltr_error *error)
{
    uint64_t good = 0, counted = 0;
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        int now = serve_request(store, first + i, &counted, error);
        if (now < 0 || (i % HOUR == 0 && forget_hour(store, (first + i) / HOUR, error) != OLTR_OK))
            return false;
        good += (uint64_t)now;
        if (i % (REQUESTS / 4) == 0) {
            printf("%5llu requests: of %d products shown, %.1f were good ones\n",
                   (unsigned long long)i, SLOTS, (double)good / (REQUESTS / 4));
            good = 0;
        }
    }
    printf("%d lessons sent twice: %llu counted\n", REQUESTS, (unsigned long long)counted);
    return true;
}

/* ---- the restart */

static uint64_t lessons_of(oltr_store *store)
{
    const oltr_model *model = oltr_store_read(store);
    uint64_t lessons = oltr_model_lessons(model);
    oltr_store_done(store);
    return lessons;
}

/* The list of one session, as a text. */
static bool describe_list(oltr_store *store, char *text, size_t size, oltr_error *error)
{
    oltr_name candidate[CANDIDATES], shown[SLOTS];
    find_candidates(1, candidate);
    if (rank_page(store, "a session", candidate, shown, error) != OLTR_OK)
        return false;
    text[0] = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, " %.*s", (int)shown[slot].size,
                 (const char *)shown[slot].bytes);
    }
    return true;
}

/* Closes the store and opens it again; *store is the new one. */
static bool restart(oltr_store **store, const char *path, oltr_error *error)
{
    char before[SLOTS * LONGEST], after[SLOTS * LONGEST];
    uint64_t lessons = lessons_of(*store);
    bool good = describe_list(*store, before, sizeof before, error);
    oltr_status closed = oltr_store_close(*store, good ? error : NULL);
    *store = good && closed == OLTR_OK ? open_shop(path, error) : NULL;
    if (!*store || !describe_list(*store, after, sizeof after, error))
        return false;
    printf("a list:%s\n", after);
    printf("restarted: %llu lessons, %s list\n", (unsigned long long)lessons_of(*store),
           lessons == lessons_of(*store) && strcmp(before, after) == 0 ? "the same" : "another");
    return true;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "shop.oltr";
    oltr_error error = {OLTR_OK, ""};
    for (uint32_t i = 0; i < PRODUCTS; i++) {
        snprintf(product_text[i], sizeof product_text[i], "sku-%04u", (unsigned)i);
        product[i] = name_of(product_text[i]);
    }
    oltr_store *store = open_shop(path, &error);
    uint64_t known = store ? lessons_of(store) : 0;
    if (store)
        printf("%s has %llu lessons\n", path, (unsigned long long)known);
    bool done = store && serve_day(store, known, &error) && restart(&store, path, &error);
    if (oltr_store_close(store, done ? &error : NULL) != OLTR_OK)
        done = false;
    if (!done)
        fprintf(stderr, "serve: %s\n", error.msg);
    return !done;
}
