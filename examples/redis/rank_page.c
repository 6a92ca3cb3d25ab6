/* rank_page.c - a page of five products that learns from clicks, through Redis.
 *
 *     cc rank_page.c -lhiredis -o rank_page
 *     ./rank_page [HOST PORT]          127.0.0.1 6379 unless given
 *
 * Needs hiredis (Debian: libhiredis-dev) and a server with the module oltr.  The users are
 * simulated: they look from the top, and click one of the five best products 20 times as often as
 * another.  Names of equal length are sent in one argument (FIXED): the server parses it fastest.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCTS = 50, NAME = 3, SLOTS = 5, VIEWS = 2000, LAST = 100 };
static const char KEY[] = "page:c";

/* The first word of an error is fixed: EXISTS, which the caller may allow, or another. */
static redisReply *checked(redisContext *server, redisReply *reply, const char *allowed)
{
    if (reply == NULL) {
        fprintf(stderr, "%s\n", server->errstr);
        exit(1);
    }
    if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, allowed, strlen(allowed)) != 0) {
        fprintf(stderr, "%s\n", reply->str);
        exit(1);
    }
    return reply;
}

static void create(redisContext *server)
{
    redisReply *reply = redisCommand(server, "OLTR.CREATE %s ts-hyper", KEY);
    freeReplyObject(checked(server, reply, "EXISTS "));
}

/* The SLOTS best of the candidates; a session sees nearly the same again. */
static void rank(redisContext *server, const char *candidates, int session, char shown[])
{
    const size_t size = (size_t)PRODUCTS * NAME;
    redisReply *reply = redisCommand(server, "OLTR.RANK %s %d FIXED %d %b SEED session%d", KEY,
                                     SLOTS, NAME, candidates, size, session);
    checked(server, reply, "-");
    for (size_t slot = 0; slot < reply->elements; slot++)
        memcpy(shown + slot * NAME, reply->element[slot]->str, NAME);
    freeReplyObject(reply);
}

/* 1, or 0 if this view was learned before.  A reward is 1 for a click and 0 for none. */
static long long learn(redisContext *server, int view, const char shown[], const int click[])
{
    const size_t size = (size_t)SLOTS * NAME;
    redisReply *reply =
        redisCommand(server, "OLTR.LEARN %s FIXED %d %b REWARDS %d %d %d %d %d ID view%d", KEY,
                     NAME, shown, size, click[0], click[1], click[2], click[3], click[4], view);
    long long counted = checked(server, reply, "-")->integer;
    freeReplyObject(reply);
    return counted;
}

static int is_good(const char *name) /* every tenth; the model is not told */
{
    return name[NAME - 1] == '0';
}

/* The first product that attracts this user is clicked. */
static void user_clicks(const char shown[], int click[])
{
    int left = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        double rate = is_good(shown + slot * NAME) ? 0.2 : 0.01;
        click[slot] = !left && rand() < rate * RAND_MAX;
        left |= click[slot];
    }
}

int main(int argc, char **argv)
{
    redisContext *server =
        redisConnect(argc > 2 ? argv[1] : "127.0.0.1", argc > 2 ? atoi(argv[2]) : 6379);
    char candidates[PRODUCTS * NAME + 1], shown[SLOTS * NAME];
    int click[SLOTS], first = 0, last = 0;
    if (server == NULL || server->err != 0) {
        fprintf(stderr, "%s\n", server == NULL ? "out of memory" : server->errstr);
        return 1;
    }
    for (int i = 0; i < PRODUCTS; i++) {
        char name[] = {'p', (char)('0' + i / 10), (char)('0' + i % 10), 0};
        memcpy(candidates + i * NAME, name, NAME + 1);
    }
    create(server);
    for (int n = 0; n < VIEWS; n++) {
        rank(server, candidates, n, shown);
        user_clicks(shown, click);
        learn(server, n, shown, click);
        for (int slot = 0; slot < SLOTS; slot++) {
            first += n < LAST && is_good(shown + slot * NAME);
            last += n >= VIEWS - LAST && is_good(shown + slot * NAME);
        }
    }
    printf("good products of 5, first 100 views: %.2f\n", (double)first / LAST);
    printf("good products of 5, last 100 views: %.2f\n", (double)last / LAST);
    printf("the same view again counts: %lld\n", learn(server, VIEWS - 1, shown, click));
    redisFree(server);
    return 0;
}
