/* refused_memory.c - the module without memory, and what it says of the memory that it has.
 *
 * A scripted life has every command with every form of list, for every kind.  Each command is tried
 * with its first request for memory refused, with its second, and so on until it needs no more:
 * alone, and together with all that follow.  A refused command replies OOM, changes nothing, and
 * works afterwards.  In a second life the scratch of the module is as large as it will be: there
 * the bytes that INFO and MEMORY USAGE report follow the allocator exactly.
 *
 * Then models grow to their bound, oltr.max-model-bytes.
 * usage: refused_memory MODULE
 */
#include "command_probe.h"
#include "support/effort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Exact chances take hundreds of blocks; beyond these only some are refused.  OLTR_EVERY=1: all. */
enum { ONE_BY_ONE = 24 };
static bool every;
static uint64_t n_refused;

static text rows_of(uint32_t n)
{
    static float x[64];
    for (uint32_t i = 0; i < 2 * n; i++)
        x[i] = (float)((int)(i * 7 % 11) - 5) / 16;
    return (text){x, 2 * n * sizeof *x};
}

static size_t overhead(const world *w)
{
    return fake_memory_of(w->master).bytes - (size_t)fake_info(w->master, "bytes");
}

/* ---- one command, with memory refused */

/* The catalogue must say the same without memory. */
static void same_catalogue(world *w, const char *line, const reply *r)
{
    reply *without = copy_reply(r);
    if (!same_reply(without, world_say(w, line, (text){"", 0})))
        fake_fault("%s says something else without memory", line);
    free(without);
}

/* Whether a request was refused. */
static bool refuse_once(world *w, const char *line, text at, long n, bool later)
{
    uint64_t before = fake_memory_of(w->master).refused;
    fake_refuse(w->master, n, later);
    const reply *r = world_say(w, line, at);
    fake_refuse(w->master, -1, false);
    if (fake_memory_of(w->master).refused == before)
        return false;
    if (strncmp(line, "OLTR.KINDS", 10) == 0)
        same_catalogue(w, line, r);
    else if (strcmp(reply_error(r), "OOM") != 0 && strcmp(reply_error(r), "UNSUPPORTED") != 0)
        fake_fault("request %ld was refused, and the reply is not OOM but %s", n,
                   r->type == REPLY_ERROR ? reply_error(r) : "good");
    n_refused++;
    return true;
}

static void live_step(world *w, const char *line, text at, bool refusing)
{
    for (int later = 0; refusing && later < 2; later++)
        for (long n = 0; refuse_once(w, line, at, n, later);)
            n += n < ONE_BY_ONE || every ? 1 : n / 4;
    const reply *r = world_say(w, line, at);
    if (r->type == REPLY_ERROR && strcmp(reply_error(r), "UNSUPPORTED") != 0 &&
        strcmp(reply_error(r), "EXISTS") != 0)
        fake_fault("refused without need: %.*s", (int)r->words.size, (const char *)r->words.bytes);
}

/* ---- a life */

static const char *const item_life[] = {
    "OLTR.LEARN k0 ITEMS 3 a b c CLICKS 1 2 ID one",
    "OLTR.LEARN k0 FIXED 2 a1a2a3a4a5a6a7a8a9b1b2b3b4b5b6b7b8b9 CLICKS 0 SEEN 5",
    "OLTR.LEARN k0 ITEMS 2 a x EXAMINED 1 2 REWARDS 0 1 ID two",
    "OLTR.LEARN k0 ITEMS 2 a y REWARDS 1 0 WEIGHTS 2 0.5 SEEN 2",
    "OLTR.RANK k0 5 ALL WITHSCORES",
    "OLTR.RANK k0 5 ITEMS 4 a b new other SEED s",
    "OLTR.RANK k0 5 FIXED 2 a1a2z1z2z3z4z5z6z7z8z9y1y2y3y4y5y6y7y8y9x1x2x3x4 FRESH 2 5 LEAST 1",
    "OLTR.RANK k0 2 ALL GREEDY",
    "OLTR.PREDICT k0 ALL",
    "OLTR.PREDICT k0 ITEMS 3 a b new",
    "OLTR.EXPLAIN k0 ALL",
    "OLTR.EXPLAIN k0 FIXED 1 abcxyz",
    "OLTR.PROPENSITY k0 2 ITEMS 3 a b new",
    "OLTR.PROPENSITY k0 2 ITEMS 4 a b x new DRAWS 5 SEED s",
    "OLTR.PRIOR k0 a 0.25 0.125 prior1 0.5 0.25",
    "OLTR.RESET k0 b none",
    "OLTR.REM k0 c none",
    "OLTR.SCAN k0 0 COUNT 4",
    "OLTR.TRIM k0 IDLE 2"};

static const char *const row_life[] = {"OLTR.LEARN k0 FP32 @ CLICKS 1 2 ID one",
                                       "OLTR.LEARN k0 FP32 @ CLICKS 0 SEEN 3",
                                       "OLTR.RANK k0 3 FP32 @ WITHSCORES",
                                       "OLTR.RANK k0 3 FP32 @ GREEDY",
                                       "OLTR.PREDICT k0 FP32 @",
                                       "OLTR.EXPLAIN k0 FP32 @",
                                       "OLTR.PROPENSITY k0 2 FP32 @ DRAWS 5 SEED s"};

static const char *const common_life[] = {"OLTR.FORGET k0 0.5 ID tick",
                                          "OLTR.DUMP k0",
                                          "OLTR.INFO k0",
                                          "OLTR.KINDS",
                                          "OLTR.KINDS gts",
                                          "OLTR.CREATE k1 LIKE k0 STRENGTH 0.5"};

/* COPY and RESTORE without memory. */
static void values_without_memory(world *w, bool refusing)
{
    blob image = fake_image(w->master, key_at(0));
    for (long n = 0; refusing; n++) {
        fake_refuse(w->master, n, n % 2);
        bool done = fake_copy(w->master, key_at(0), key_at(2));
        fake_refuse(w->master, -1, false);
        if (done)
            break;
        n_refused++;
    }
    for (long n = 0; refusing; n++) {
        fake_refuse(w->master, n, n % 2);
        bool done = fake_restore(w->master, key_at(3), image.at, image.size, 1, false);
        fake_refuse(w->master, -1, false);
        if (done)
            break;
        n_refused++;
    }
    fake_delete(w->master, key_at(2));
    fake_delete(w->master, key_at(3));
    free(image.at);
}

static void live(world *w, const oltr_policy_info *info, bool told, bool refusing)
{
    char line[200];
    text x = rows_of(5);
    fake_new_chapter("the life of %s, %s", info->name, refusing ? "refused" : "counted");
    snprintf(line, sizeof line, "OLTR.CREATE k0 %s WINDOW 8%s%s", info->name,
             info->contextual ? " DIM 2 CANDIDATES 16" : " MAXITEMS 200",
             !told                 ? ""
             : info->takes_moments ? " PRIOR 0.25 0.125 SET prior full"
                                   : " PRIOR 2 6 SET prior full");
    size_t before = overhead(w);
    live_step(w, line, x, refusing);
    uint32_t n = info->contextual ? COUNT(row_life) : COUNT(item_life);
    for (uint32_t i = 0; i < n + COUNT(common_life); i++) {
        const char *own =
            info->contextual ? row_life[i % COUNT(row_life)] : item_life[i % COUNT(item_life)];
        const char *step = i < n ? own : common_life[i - n];
        if (strncmp(step, "OLTR.PRIOR", 10) != 0 || told)
            live_step(w, step, x, refusing);
        if (!refusing && overhead(w) != before)
            fake_fault("the allocator has %zu bytes more than INFO", overhead(w) - before);
    }
    blob image = fake_image(w->master, key_at(0));
    text whole = {image.at, image.size};
    live_step(w, "OLTR.LOAD k5 @", whole, refusing);
    live_step(w, "OLTR.LOAD k5 @ REPLACE", whole, refusing);
    live_step(w, "OLTR.MERGE k0 @ ID delta", whole, refusing);
    free(image.at);
    values_without_memory(w, refusing);
    if (!refusing && overhead(w) != before)
        fake_fault("the allocator has %zu bytes more than INFO", overhead(w) - before);
    world_reset(w, (chooser){.luck = {1}});
    if (fake_info(w->master, "bytes") || fake_info(w->master, "models"))
        fake_fault("INFO has models when all are deleted");
}

static void all_lives(world *w, bool refusing)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (!is_servable(info))
            continue;
        live(w, info, false, refusing);
        if (info->uses_prior)
            live(w, info, true, refusing);
    }
}

/* ---- the bound of a model */

static void add_long_name(world *w, const char *key, uint32_t i)
{
    command *c = &w->g.command;
    char name[400];
    memset(name, 'n', sizeof name);
    memcpy(name, &i, sizeof i);
    begin_command(c, "OLTR.LEARN");
    add_word(c, key);
    add_word(c, "ITEMS");
    add_word(c, "1");
    add_bytes(c, name, sizeof name);
    add_word(c, "CLICKS");
    add_word(c, "0");
}

/* Adds items until the model refuses one; how many there are.  The refused one is probed. */
static uint32_t fill(world *w, const char *key, size_t bound)
{
    const command *c = &w->g.command;
    uint32_t n = 0;
    const reply *r;
    do {
        add_long_name(w, key, n++);
        r = fake_call(w->master, c->arg, c->n);
        if (r->type != REPLY_ERROR)
            fake_replay(w->master, w->replica);
        if (n % 1024 == 0)
            fake_new_chapter("%s is filled", key);
        if (fake_usage(w->master, text_of(key)) > bound + 1024)
            fake_fault("a model of %zu bytes, and %zu are allowed",
                       fake_usage(w->master, text_of(key)), bound);
    } while (r->type != REPLY_ERROR && n < 100000);
    world_look(w, (uint32_t)shelf_of(text_of(key)));
    r = world_command(w);
    if (strcmp(reply_error(r), "TOOBIG") != 0)
        fake_fault("item %u is refused with %s", n, reply_error(r));
    return n - 1;
}

static void must(const reply *r, const char *word)
{
    if (strcmp(reply_error(r), word) != 0)
        fake_fault("%s, and not %s: %.*s", *word ? word : "good", reply_error(r),
                   (int)r->words.size, (const char *)r->words.bytes);
}

/* A model at its bound, its copy, and one that was restored. */
static void growth_is_bounded(world *w)
{
    enum { BOUND = 1 << 17 };
    text none = {"", 0};
    fake_new_chapter("growth");
    world_reset(w, (chooser){.luck = {1}});
    fake_config_set(w->master, "max-model-bytes", BOUND);
    must(world_say(w, "OLTR.CREATE k0 gts", none), "");
    uint32_t n = fill(w, "k0", BOUND);
    printf("%u names of 400 bytes fit into %d\n", n, BOUND);
    must(world_say(w, "OLTR.RANK k0 5 ALL", none), "");
    if (n < BOUND / 1200 || !fake_copy(w->master, key_at(0), key_at(1)) ||
        !fake_copy(w->replica, key_at(0), key_at(1)))
        fake_fault("the model has %u items, or cannot be copied", n);
    blob image = fake_image(w->master, key_at(0));
    if (!fake_restore(w->master, key_at(2), image.at, image.size, 1, false) ||
        !fake_restore(w->replica, key_at(2), image.at, image.size, 1, false))
        fake_fault("a model at its bound is not restored");
    for (uint32_t i = 0; i < 3; i++)
        world_look(w, i);
    fill(w, "k1", BOUND);
    fill(w, "k2", BOUND);
    fake_config_set(w->master, "max-model-bytes", BOUND / 2);
    must(world_say(w, "OLTR.LOAD k5 @", (text){image.at, image.size}), "TOOBIG");
    must(world_say(w, "OLTR.RANK k0 5 ALL", none), "");
    fake_config_set(w->master, "max-model-bytes", 4 * BOUND);
    fill(w, "k1", 4 * BOUND);
    free(image.at);
}

/* What a cap refuses takes no memory worth speaking of. */
static void caps_come_first(world *w)
{
    static const char *const large[] = {
        "OLTR.CREATE k0 gts MAXITEMS 1048577 CAPACITY 1048577",
        "OLTR.CREATE k0 gts MAXITEMS 65537",
        "OLTR.CREATE k0 gts MAXITEMS 4294967295 CAPACITY 4294967295",
        "OLTR.CREATE k0 gts CAPACITY 18446744073709551615",
        "OLTR.CREATE k0 lints DIM 513 CANDIDATES 10",
        "OLTR.CREATE k0 lints DIM 4294967297 CANDIDATES 10",
        "OLTR.CREATE k0 lints DIM 2 CANDIDATES 16385",
        "OLTR.CREATE k0 ts-hyper MAXITEMS 1048576 CAPACITY 1048576 SET prior none",
        "OLTR.CREATE k0 cascade-woful DIM 512 CANDIDATES 16384",
        "OLTR.CREATE k0 logts DIM 512 CANDIDATES 16384"};
    world_reset(w, (chooser){.luck = {1}});
    for (uint32_t i = 0; i < COUNT(large); i++) {
        fake_new_chapter("a large model");
        fake_forget_peak(w->master);
        size_t before = fake_memory_of(w->master).bytes;
        const reply *r = fake_line(w->master, large[i]);
        size_t more = fake_memory_of(w->master).peak - before;
        if (more > (64 << 20) + (1 << 16))
            fake_fault("%zu bytes were taken", more);
        if (r->type == REPLY_ERROR && more > 1 << 12)
            fake_fault("refused with %s after %zu bytes were taken", reply_error(r), more);
        world_reset(w, (chooser){.luck = {1}});
    }
}

/* The scratch of the module is made by the first command that needs it: here without memory. */
static void first_scratch(const char *module, const char *line)
{
    static world w;
    text none = {"", 0};
    fake_new_chapter("the first scratch");
    world_open(&w, module, 1);
    world_say(&w, "OLTR.CREATE k0 gts", none);
    world_say(&w, "OLTR.LEARN k0 ITEMS 2 a b CLICKS 1 1", none);
    live_step(&w, line, none, true);
    world_close(&w);
}

int main(int argc, char **argv)
{
    static world w;
    const char *module = argc > 1 ? argv[1] : "oltr.so";
    every = number_from("OLTR_EVERY", 0);
    first_scratch(module, "OLTR.PROPENSITY k0 1 ALL DRAWS 2 SEED s");
    first_scratch(module, "OLTR.RANK k0 1 ALL SEED s");
    world_open(&w, module, 1);
    all_lives(&w, true);
    size_t blocks = fake_memory_of(w.master).blocks, bytes = fake_memory_of(w.master).bytes;
    all_lives(&w, false);
    if (fake_memory_of(w.master).blocks != blocks || fake_memory_of(w.master).bytes != bytes)
        fake_fault("%zu bytes in %zu blocks have become %zu in %zu", bytes, blocks,
                   fake_memory_of(w.master).bytes, fake_memory_of(w.master).blocks);
    growth_is_bounded(&w);
    caps_come_first(&w);
    printf("%llu requests refused; %zu blocks of %zu bytes are kept without models\n",
           (unsigned long long)n_refused, blocks, bytes);
    tally_print(&w.seen);
    fake_new_chapter("the end");
    world_close(&w);
    return 0;
}
