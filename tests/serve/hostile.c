/* hostile.c - random and hostile commands of the whole grammar, on a server and its replica.
 *
 * The commands are the same in every run.  OLTR_CALLS is their number; a million takes minutes.
 * They come in chapters that begin with empty servers, so that a fault is printed with all that led
 * to it; OLTR_CHAPTER runs one chapter alone.
 * usage: hostile MODULE
 */
#define _GNU_SOURCE 1
#include "command_probe.h"
#include "support/effort.h"

#include <stdio.h>
#include <string.h>

enum { CHAPTER = 400 };

/* A server that lacks an entry which the module needs must not load it, and must say which. */
static void load_without_each_entry(const char *module)
{
    char names[8192], *rest = NULL;
    snprintf(names, sizeof names, "%s", fake_asked());
    uint32_t n = 0;
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        fake_new_chapter("without %s", name);
        if (fake_start(module, &(fake_options){.without = name}))
            fake_fault("the module was loaded without %s", name);
        if (strcmp(name, "RedisModule_Log") != 0 && !strstr(fake_last_log(), name))
            fake_fault("the log does not name %s: %s", name, fake_last_log());
        n++;
    }
    printf("refused to load %u times, and said why\n", n);
}

/* What the grammar does not allow, one fault each. */
static const struct {
    const char *word, *line;
} refusals[] = {{"EXISTS", "OLTR.CREATE k0 gts"},
                {"EXISTS", "OLTR.CREATE k0 LIKE k0"},
                {"EXISTS", "OLTR.LOAD k0 @"},
                {"WRONGTYPE", "OLTR.LOAD string @ REPLACE"},
                {"WRONGTYPE", "OLTR.RANK string 1 ALL"},
                {"NOTFOUND", "OLTR.CREATE k5 LIKE k4"},
                {"BADARG", "OLTR.CREATE k5 gts WINDOW 3 WINDOW 3"},
                {"BADARG", "OLTR.CREATE k5 gts WINDOW"},
                {"BADPARAM", "OLTR.CREATE k5 gts SET sigma 0.5 WINDOW 3"},
                {"BADARG", "OLTR.CREATE k5 gts SET sigma"},
                {"BADARG", "OLTR.RANK k0 0 ALL"},
                {"BADARG", "OLTR.RANK k0 2 ALL GREEDY GREEDY"},
                {"BADARG", "OLTR.RANK k0 2 ALL SEED a SEED a"},
                {"BADARG", "OLTR.RANK k0 2 SEED a ALL"},
                {"BADARG", "OLTR.RANK k0 2 ALL FRESH 1"},
                {"BADARG", "OLTR.RANK k0 2 ALL LEAST 1"},
                {"BADARG", "OLTR.RANK k0 2 ITEMS 3 a b"},
                {"BADARG", "OLTR.RANK k0 2 ITEMS 1 a b"},
                {"BADITEM", "OLTR.RANK k0 2 ITEMS 2 a a"},
                {"BADITEM", "OLTR.RANK k0 2 ITEMS 2 z z"},
                {"BADITEM", "OLTR.RANK k0 2 FIXED 1 aa"},
                {"BADSHAPE", "OLTR.RANK k0 2 FIXED 2 abc"},
                {"BADSHAPE", "OLTR.RANK k1 2 FP32 abc"},
                {"BADSHAPE", "OLTR.LEARN k1 FP32 abcdefghi CLICKS 0"},
                {"BADFEATURE", "OLTR.RANK k0 2 FP32 abcd"},
                {"BADARG", "OLTR.LEARN k0 ALL CLICKS 0"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 1 0"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 1 3"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 2 1"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 0 CLICKS 0"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 0 REWARDS 0 0"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b REWARDS 0"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 1 2 SEEN 1"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 0 SEEN 3"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 0 SEEN 1 EXAMINED 1 1"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 0 EXAMINED 1 3"},
                {"BADARG", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 0 WEIGHTS 1"},
                {"BADREWARD", "OLTR.LEARN k0 ITEMS 2 a b REWARDS nan 0"},
                {"BADREWARD", "OLTR.LEARN k0 ITEMS 2 a b CLICKS 0 WEIGHTS 0 1"},
                {"BADITEM", "OLTR.LEARN k0 ITEMS 2 a a CLICKS 0"},
                {"BADARG", "OLTR.PREDICT k0 ALL ALL"},
                {"BADARG", "OLTR.PRIOR k0 a 0.5 0.1 b"},
                {"BADARG", "OLTR.TRIM k0 2 IDLE"},
                {"BADARG", "OLTR.SCAN k0 0 COUNT 0"},
                {"BADARG", "OLTR.SCAN k0 -1"},
                {"BADARG", "OLTR.FORGET k0 2"},
                {"BADARG", "OLTR.FORGET k0 nan"},
                {"BADARG", "OLTR.DUMP k0 IFNEWER -1"},
                {"BADARG", "OLTR.PROPENSITY k0 1 ALL DRAWS 0"},
                {"TOOBIG", "OLTR.PROPENSITY k2 1 FIXED 1 "
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."},
                {"TOOBIG", "OLTR.PROPENSITY LIKE 1 FP32 @ DRAWS 65536"},
                {"BADIMAGE", "OLTR.MERGE k0 junk"},
                {"MISMATCH", "OLTR.MERGE k1 @"},
                {"BADKIND", "OLTR.KINDS none"},
                {"UNSUPPORTED", "OLTR.CREATE k5 toprank"}};

static void refuse_each(world *w)
{
    fake_new_chapter("refusals");
    world_reset(w, (chooser){.luck = {1}});
    text none = {"", 0};
    world_say(w, "OLTR.CREATE k0 gts", none);
    world_say(w, "OLTR.CREATE k1 lints DIM 2 CANDIDATES 4", none);
    world_say(w, "OLTR.CREATE k2 ts-hyper", none);
    world_say(w, "OLTR.CREATE LIKE cascade-linucb DIM 128 CANDIDATES 4", none);
    world_say(w, "OLTR.LEARN k0 ITEMS 2 a b CLICKS 1 1", none);
    w->no_oracle = true;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        static const char row[512];
        bool rows = strstr(refusals[i].line, "FP32 @") != NULL;
        const reply *r =
            world_say(w, refusals[i].line,
                      rows ? (text){row, sizeof row} : (text){w->image[0].at, w->image[0].size});
        if (strcmp(reply_error(r), refusals[i].word) != 0)
            fake_fault("%s is expected, not %s", refusals[i].word,
                       r->type == REPLY_ERROR ? reply_error(r) : "success");
    }
    w->no_oracle = false;
}

static void run_chapter(world *w, uint64_t chapter, uint64_t commands)
{
    fake_new_chapter("chapter %llu (OLTR_CHAPTER)", (unsigned long long)chapter);
    world_reset(w, (chooser){.luck = {chapter}});
    for (uint64_t i = 0; i < commands; i++)
        world_step(w, 34);
}

int main(int argc, char **argv)
{
    static world w;
    const char *module = argc > 1 ? argv[1] : "oltr.so";
    uint64_t commands = number_from("OLTR_CALLS", 10000 * EFFORT),
             only = number_from("OLTR_CHAPTER", 0);
    world_open(&w, module, 1);
    if (only) {
        run_chapter(&w, only, CHAPTER);
    } else {
        load_without_each_entry(module);
        refuse_each(&w);
        for (uint64_t chapter = 1; w.steps < commands; chapter++)
            run_chapter(&w, chapter, CHAPTER);
        tally_must_be_full(&w.seen, "OOM");
    }
    tally_print(&w.seen);
    fake_new_chapter("the end");
    world_close(&w);
    return 0;
}
