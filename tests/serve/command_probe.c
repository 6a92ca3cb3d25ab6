/* command_probe.c - see command_probe.h. */
#include "command_probe.h"

#include "oracle_replies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *const error_words[] = {"NOTFOUND", "EXISTS",   "WRONGTYPE", "BADARG",      "BADKIND",
                                   "BADPARAM", "BADITEM",  "BADREWARD", "BADFEATURE",  "BADSHAPE",
                                   "BADPRIOR", "BADIMAGE", "MISMATCH",  "UNSUPPORTED", "FULL",
                                   "TOOBIG",   "OOM"};
const uint32_t n_error_words = COUNT(error_words);

static const char *const counters[] = {"ranks",   "learns",  "duplicates", "merged",
                                       "refused", "removed", "unknown_ids"};
enum { RANKS, LEARNS, DUPLICATES, MERGED, REFUSED, REMOVED, UNKNOWN, N_COUNTERS };
_Static_assert(COUNT(counters) == N_COUNTERS, "one name each");

static const char other_type[] = "string";

/* ---- beginning and end */

void world_open(world *w, const char *module, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->master = fake_start(module, &(fake_options){.seed = seed});
    w->replica = fake_start(module, &(fake_options){.seed = seed + 1});
    if (!w->master || !w->replica)
        fake_fault("the module was not loaded: %s; not there: %s", fake_last_log(), fake_missing());
    world_reset(w, (chooser){.luck = {seed}});
}

static void drop_images(world *w)
{
    for (uint32_t i = 0; i < N_SHELVES; i++) {
        free(w->image[i].at);
        w->image[i] = (blob){NULL, 0};
        w->digest[i] = 0;
        w->g.shelf[i] = (shelf){NULL, 0, 0, 0};
    }
}

static const struct {
    const char *name;
    long long small, initial;
} caps[] = {{"max-slots", 5, 1000},  {"max-candidates", 8, 16384},
            {"max-dim", 2, 512},     {"max-items", 12, 65536},
            {"max-draws", 4, 65536}, {"max-batch", 6, 1000},
            {"max-exact", 4, 256},   {"max-model-bytes", 65536, 67108864}};

static void set_cap(fake_server *s, uint32_t i, long long value)
{
    if (!fake_config_set(s, caps[i].name, value) || fake_config_get(s, caps[i].name) != value)
        fake_fault("%s cannot be set to %lld", caps[i].name, value);
}

/* The caps of a replica are small: they must not hold for what its master has decided. */
static void reset_server(fake_server *s, bool replica)
{
    for (uint32_t i = 0; i < N_SHELVES; i++)
        fake_delete(s, key_at(i));
    for (uint32_t i = 0; i < COUNT(caps); i++)
        set_cap(s, i, replica ? caps[i].small : caps[i].initial);
    fake_put_string(s, text_of(other_type));
    fake_resp3(s, false);
}

void world_reset(world *w, chooser choose)
{
    reset_server(w->master, false);
    reset_server(w->replica, true);
    drop_images(w);
    forget_pictures(&w->g);
    w->g.choose = choose;
    w->g.live = w->image;
    w->g.id = 0;
}

void world_close(world *w)
{
    drop_images(w);
    forget_pictures(&w->g);
    fake_stop(w->master);
    fake_stop(w->replica);
}

/* ---- tally */

static uint32_t verb_of(tally *t, const char *name)
{
    uint32_t i = 0;
    while (i < t->n_verbs && strcasecmp(t->verb[i].name, name) != 0)
        i++;
    if (i == t->n_verbs && t->n_verbs < MOST_VERBS)
        t->verb[t->n_verbs++].name = name;
    return i;
}

static void count_error(tally *t, const reply *r)
{
    static const char arity[] = "ERR wrong number of arguments";
    const char *word = reply_error(r);
    uint32_t i = 0;
    while (i < n_error_words && strcmp(error_words[i], word) != 0)
        i++;
    if (i == n_error_words &&
        (r->words.size < sizeof arity - 1 || memcmp(r->words.bytes, arity, sizeof arity - 1) != 0))
        fake_fault("an error begins with %s, which is no word of the contract", word);
    if (i < n_error_words && r->words.size < strlen(word) + 10)
        fake_fault("%s without a sentence", word);
    t->word[i]++;
}

void tally_print(const tally *t)
{
    printf("%llu commands, %llu of them compared with the engine\n",
           (unsigned long long)t->commands, (unsigned long long)t->compared);
    for (uint32_t i = 0; i < t->n_verbs; i++)
        printf("  %-16s %9llu good %9llu zero %9llu refused\n", t->verb[i].name,
               (unsigned long long)t->verb[i].good, (unsigned long long)t->verb[i].zero,
               (unsigned long long)t->verb[i].refused);
    for (uint32_t i = 0; i < n_error_words; i++)
        printf("  %s %llu", error_words[i], (unsigned long long)t->word[i]);
    printf("  ERR %llu\n", (unsigned long long)t->word[n_error_words]);
}

void tally_must_be_full(const tally *t, const char *except)
{
    for (uint32_t i = 0; i < t->n_verbs; i++)
        if (t->verb[i].good == 0 || t->verb[i].refused == 0)
            fake_fault("%s was never good or never refused", t->verb[i].name);
    for (uint32_t i = 0; i < n_error_words; i++)
        if (t->word[i] == 0 && !strstr(except, error_words[i]))
            fake_fault("no command was refused with %s", error_words[i]);
}

/* ---- the probe */

static bool same_blob(blob a, blob b)
{
    return (a.at == NULL) == (b.at == NULL) && a.size == b.size &&
           (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static void must_be_unchanged(world *w, uint32_t i)
{
    blob now = fake_image(w->master, key_at(i));
    if (!same_blob(now, w->image[i]))
        fake_fault("the image of key %u has changed", i);
    free(now.at);
}

/* The digest moves with the image. */
static void take_image(world *w, uint32_t i)
{
    blob now = fake_image(w->master, key_at(i));
    uint64_t digest = fake_digest(w->master, key_at(i));
    if (same_blob(now, w->image[i]) != (digest == w->digest[i]))
        fake_fault("the image of key %u has changed and its digest has not, or the reverse", i);
    free(w->image[i].at);
    w->image[i] = now;
    w->digest[i] = digest;
}

static long long number_field(const reply *r, const char *name)
{
    const reply *value = reply_field(r, name);
    if (!value || value->type != REPLY_INTEGER)
        fake_fault("OLTR.INFO has no number %s", name);
    return value->integer;
}

/* What OLTR.INFO says. */
static void look_at(world *w, uint32_t i)
{
    shelf *at = &w->g.shelf[i];
    text argv[2] = {text_of("OLTR.INFO"), key_at(i)};
    *at = (shelf){NULL, 0, 0, 0};
    if (!fake_has_key(w->master, argv[1]))
        return;
    const reply *r = fake_call(w->master, argv, 2), *kind = reply_field(r, "kind");
    char name[32];
    if (!kind || kind->words.size >= sizeof name)
        fake_fault("OLTR.INFO has no kind");
    memcpy(name, kind->words.bytes, kind->words.size);
    name[kind->words.size] = 0;
    at->info = oltr_policy_info_by_name(name, NULL);
    if (!at->info)
        fake_fault("OLTR.INFO: no kind is called %s", name);
    at->dim = (uint32_t)number_field(r, "dim");
    at->items = (uint32_t)number_field(r, "items");
    at->candidates = at->info->contextual ? (uint32_t)number_field(r, "candidates") : 0;
    if ((uint64_t)number_field(r, "bytes") != fake_usage(w->master, argv[1]))
        fake_fault("OLTR.INFO and MEMORY USAGE differ");
}

static void must_be_equal(world *w, text key)
{
    blob first = fake_image(w->master, key), second = fake_image(w->replica, key);
    if (!same_blob(first, second))
        fake_fault("the replica has another image");
    if (fake_digest(w->master, key) != fake_digest(w->replica, key))
        fake_fault("equal images, and other digests");
    free(first.at);
    free(second.at);
}

/* Every key is a model, but the string. */
static void check_sums(fake_server *s, text stray)
{
    uint64_t models = 0, used = 0;
    for (uint32_t i = 0; i <= N_SHELVES; i++) {
        text key = i < N_SHELVES ? key_at(i) : stray;
        if (i < N_SHELVES && same_text(key, stray))
            continue;
        size_t n = fake_usage(s, key);
        models += n > 0;
        used += n;
    }
    if (models != fake_info(s, "models") || used != fake_info(s, "bytes"))
        fake_fault("INFO: %llu models of %llu bytes; MEMORY USAGE: %llu of %llu",
                   (unsigned long long)fake_info(s, "models"),
                   (unsigned long long)fake_info(s, "bytes"), (unsigned long long)models,
                   (unsigned long long)used);
    if (used > fake_memory_of(s).bytes)
        fake_fault("models have more bytes than the server has given");
}

static void read_counters(fake_server *s, uint64_t out[N_COUNTERS])
{
    fake_info_of(s, counters, N_COUNTERS, out);
}

/* What a reply must have added to the counters.  Unknown names are counted by the oracle. */
static void check_counters(world *w, const char *name, const reply *r,
                           const uint64_t before[N_COUNTERS])
{
    uint64_t after[N_COUNTERS], more[N_COUNTERS] = {0};
    bool good = r->type != REPLY_ERROR;
    uint64_t n = good && r->type == REPLY_INTEGER ? (uint64_t)r->integer : 0;
    read_counters(w->master, after);
    if (strcmp(reply_error(r), "ERR") == 0)
        return; /* the server may have refused it */
    more[REFUSED] = !good;
    more[RANKS] = good && strcmp(name, "oltr.rank") == 0;
    more[LEARNS] = n && strcmp(name, "oltr.learn") == 0;
    more[MERGED] = n && strcmp(name, "oltr.merge") == 0;
    if (good && !n &&
        (strcmp(name, "oltr.learn") == 0 || strcmp(name, "oltr.merge") == 0 ||
         strcmp(name, "oltr.forget") == 0))
        more[DUPLICATES] = 1;
    if (strcmp(name, "oltr.rem") == 0 || strcmp(name, "oltr.trim") == 0)
        more[REMOVED] = n;
    more[UNKNOWN] = after[UNKNOWN] - before[UNKNOWN];
    if (more[UNKNOWN] && !more[RANKS])
        fake_fault("%s counts unknown names", name);
    for (uint32_t i = 0; i < N_COUNTERS; i++)
        if (after[i] != before[i] + more[i])
            fake_fault("INFO: %s went from %llu to %llu", counters[i],
                       (unsigned long long)before[i], (unsigned long long)after[i]);
}

static void replica_counts_nothing(world *w)
{
    uint64_t value[N_COUNTERS];
    read_counters(w->replica, value);
    for (uint32_t i = 0; i < N_COUNTERS; i++)
        if (value[i])
            fake_fault("the replica counts %s", counters[i]);
    if (fake_info(w->replica, "grown") || fake_info(w->replica, "longest_growth_us"))
        fake_fault("the replica counts growth");
}

static void lower_name(text t, char name[32])
{
    size_t n = t.size < 31 ? t.size : 31;
    memcpy(name, t.bytes, n);
    name[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] + 32);
}

static void check_no_effects(const fake_effects *e)
{
    if (e->replicated || e->signalled || e->notified || e->deleted_key)
        fake_fault("nothing was changed, but %u replicated, %u signalled, %u notified",
                   e->replicated, e->signalled, e->notified);
}

static void check_effects(const fake_effects *e, const char *name)
{
    if (e->replicated != 1 || e->signalled != 1 || e->notified != 1 || e->other_key)
        fake_fault("a write: %u replicated, %u signalled, %u notified%s", e->replicated,
                   e->signalled, e->notified, e->other_key ? ", another key" : "");
    if (strcmp(e->event, name) != 0 || e->event_class != 1 << 13)
        fake_fault("the event of %s is %s of class %d", name, e->event, e->event_class);
}

/* The replica gets what was replicated, and must say the same. */
static void replicate_last(world *w, const reply *r, text key)
{
    reply *kept = copy_reply(r);
    const reply *other = fake_replay(w->master, w->replica);
    if (!other || !same_reply(kept, other))
        fake_fault("the replica replies something else%s%s", other ? ": " : "",
                   other ? reply_error(other) : "");
    free(kept);
    must_be_equal(w, key);
}

static void count_reply(world *w, const char *name, const reply *r, bool writes)
{
    tally *t = &w->seen;
    uint32_t verb = UINT32_MAX;
    for (uint32_t i = 0; i < fake_command_count(w->master); i++)
        if (strcasecmp(fake_command_name(w->master, i), name) == 0)
            verb = verb_of(t, fake_command_name(w->master, i));
    bool zero = writes && r->type == REPLY_INTEGER && r->integer == 0;
    if (verb < MOST_VERBS) {
        t->verb[verb].refused += r->type == REPLY_ERROR;
        t->verb[verb].zero += zero;
        t->verb[verb].good += r->type != REPLY_ERROR && !zero;
    }
    if (r->type == REPLY_ERROR)
        count_error(t, r);
    t->commands++;
}

/* Scores of unseen items may be infinite; beliefs and chances may not. */
static void check_finite(const char *name, const reply *r)
{
    if (strcmp(name, "oltr.predict") != 0 && strcmp(name, "oltr.propensity") != 0)
        return;
    for (uint32_t i = 0; i < r->span; i++)
        if (r[i].type == REPLY_DOUBLE && !isfinite(r[i].number))
            fake_fault("%s replies %g", name, r[i].number);
}

const reply *world_command(world *w)
{
    const command *c = &w->g.command;
    text key = c->n > 1 ? c->arg[1] : (text){"", 0};
    int which = shelf_of(key);
    char name[32];
    uint64_t before[N_COUNTERS];
    lower_name(c->arg[0], name);
    bool there = fake_has_key(w->master, key);
    bool writes = fake_command_writes(w->master, name);
    read_counters(w->master, before);
    oracle *twin = oracle_before(w->master, c, which < 0 || w->no_oracle ? NULL : &w->image[which]);
    fake_origin origin = w->seen.commands % 8 ? FROM_CLIENT : FROM_SCRIPT;
    const reply *r = fake_call_from(w->master, origin, c->arg, c->n);
    const fake_effects effects = *fake_effects_of(w->master);
    count_reply(w, name, r, writes);
    check_counters(w, name, r, before);
    check_finite(name, r);
    w->seen.compared += oracle_after(twin, r, w->master, key);
    if (writes && r->type != REPLY_ERROR && !(r->type == REPLY_INTEGER && r->integer == 0)) {
        check_effects(&effects, name);
        if (there && strcmp(name, "oltr.create") == 0)
            fake_fault("a model was made over a key that exists");
        replicate_last(w, r, key);
        if (which >= 0)
            take_image(w, (uint32_t)which);
    } else {
        check_no_effects(&effects);
        if (which >= 0)
            must_be_unchanged(w, (uint32_t)which);
    }
    check_sums(w->master, key);
    return r;
}

const reply *world_say(world *w, const char *line, text at)
{
    command *c = &w->g.command;
    begin_command(c, "");
    c->n = 0;
    while (*line) {
        size_t n = strcspn(line, " ");
        if (n == 1 && *line == '@')
            add_bytes(c, at.bytes, at.size);
        else if (n)
            add_bytes(c, line, n);
        line += n + (line[n] == ' ');
    }
    return world_command(w);
}

/* ---- what servers do by themselves, and walks over all items */

static void mark_name(text name, bool mark[N_POOL])
{
    for (uint32_t i = 0; i < N_POOL; i++)
        if (same_text(name, pool_name(i)))
            mark[i] = true;
}

/* Which names of the pool are items, by the image. */
static void known_names(world *w, uint32_t i, bool known[N_POOL])
{
    oltr_model *m = oltr_model_load(w->image[i].at, w->image[i].size, NULL, NULL, NULL);
    for (uint32_t j = 0; m && j < oltr_model_items(m); j++) {
        oltr_name name = oltr_model_name(m, j);
        mark_name((text){name.bytes, name.size}, known);
    }
    oltr_model_free(m);
}

static void remove_name(world *w, uint32_t i, bool known[N_POOL])
{
    uint32_t j = pick(&w->g.choose, N_POOL);
    command *c = &w->g.command;
    if (!known[j])
        return;
    begin_command(c, "OLTR.REM");
    add_bytes(c, key_at(i).bytes, key_at(i).size);
    add_bytes(c, pool_name(j).bytes, pool_name(j).size);
    world_command(w);
    known[j] = false;
}

static void delete_key(world *w, uint32_t i)
{
    if (chance(&w->g.choose, 50)) {
        fake_delete(w->master, key_at(i));
        fake_delete(w->replica, key_at(i));
    } else {
        fake_free_value(fake_unlink(w->master, key_at(i), true));
        fake_free_value(fake_unlink(w->replica, key_at(i), false));
    }
}

static void copy_key(world *w, uint32_t from, uint32_t to)
{
    bool both = fake_copy(w->master, key_at(from), key_at(to));
    if (both != fake_copy(w->replica, key_at(from), key_at(to)))
        fake_fault("only one server could copy");
    blob now = fake_image(w->master, key_at(to));
    if (both && !same_blob(now, w->image[from]))
        fake_fault("a copy has another image");
    free(now.at);
}

/* A full synchronisation: the replica begins again from files or from an AOF. */
static void resync(world *w, uint32_t i)
{
    if (!w->image[i].at || !w->g.shelf[i].info->exact_copy)
        return;
    if (chance(&w->g.choose, 50)) {
        if (!fake_restore(w->replica, key_at(i), w->image[i].at, w->image[i].size, 1, false))
            fake_fault("the replica refuses an image of its master: %s", fake_last_log());
    } else {
        fake_delete(w->replica, key_at(i));
        if (!reply_is(fake_rewrite(w->master, key_at(i), w->replica), "OK"))
            fake_fault("the command of an AOF rewrite is refused");
    }
    must_be_equal(w, key_at(i));
}

static void refuse_files(world *w, uint32_t i)
{
    blob *image = &w->image[i];
    if (!image->at)
        return;
    if (fake_restore(w->master, key_at(i), image->at, image->size, 1, true) ||
        fake_restore(w->master, key_at(i), image->at, image->size, 2, false) ||
        fake_restore(w->master, key_at(i), image->at, image->size - 1, 1, false))
        fake_fault("a newer encoding or a cut file is loaded");
}

/* Follows the cursor to its end, while items are removed.  Those that stay are all returned. */
static void scan_all(world *w, uint32_t i)
{
    bool found[N_POOL] = {false}, known[N_POOL] = {false};
    char cursor[24] = "0";
    uint32_t steps = 0;
    if (!w->image[i].at)
        return;
    known_names(w, i, known);
    do {
        command *c = &w->g.command;
        begin_command(c, "OLTR.SCAN");
        add_bytes(c, key_at(i).bytes, key_at(i).size);
        add_word(c, cursor);
        add_word(c, "COUNT");
        add_long(c, 1 + pick(&w->g.choose, 5));
        const reply *r = world_command(w), *next = reply_child(r, 0), *ids = reply_child(r, 1);
        for (uint32_t j = 0; j < ids->n; j++)
            mark_name(reply_child(ids, j)->words, found);
        snprintf(cursor, sizeof cursor, "%.*s", (int)next->words.size,
                 (const char *)next->words.bytes);
        if (strcmp(cursor, "0") != 0 && chance(&w->g.choose, 20))
            remove_name(w, i, known);
    } while (strcmp(cursor, "0") != 0 && steps++ < 1000);
    for (uint32_t j = 0; j < N_POOL; j++)
        if (known[j] && !found[j])
            fake_fault("OLTR.SCAN has left out name %u of the pool", j);
    if (steps >= 1000)
        fake_fault("OLTR.SCAN does not end");
}

static void server_step(world *w)
{
    chooser *c = &w->g.choose;
    uint32_t i = pick(c, N_SHELVES);
    switch (pick(c, 9)) {
    case 8:
        scan_all(w, i);
        break;
    case 0:
        delete_key(w, i);
        break;
    case 1:
        copy_key(w, i, pick(c, N_SHELVES));
        break;
    case 2:
        resync(w, i);
        break;
    case 3:
        refuse_files(w, i);
        break;
    case 4:
        i = pick(c, COUNT(caps));
        set_cap(w->master, i, chance(c, 30) ? caps[i].small : caps[i].initial);
        break;
    case 5:
        fake_resp3(w->master, chance(c, 50));
        fake_resp3(w->replica, chance(c, 50));
        break;
    default:
        if (w->image[i].at)
            keep_picture(&w->g, w->image[i].at, w->image[i].size);
    }
    for (i = 0; i < N_SHELVES; i++)
        world_look(w, i);
    check_sums(w->master, key_at(0));
    check_sums(w->replica, key_at(0));
    replica_counts_nothing(w);
}

void world_look(world *w, uint32_t i)
{
    take_image(w, i);
    look_at(w, i);
    must_be_equal(w, key_at(i));
}

void world_run(world *w)
{
    const command *c = &w->g.command;
    const reply *r = world_command(w);
    if (r->type == REPLY_ERROR || c->n < 2)
        return;
    int which = shelf_of(c->arg[1]);
    if (which >= 0 && fake_effects_of(w->master)->replicated) {
        look_at(w, (uint32_t)which);
    } else if (which < 0 && !same_text(c->arg[1], text_of(other_type))) {
        fake_delete(w->master, c->arg[1]);
        fake_delete(w->replica, c->arg[1]);
    }
}

void world_step(world *w, uint32_t hostile)
{
    w->steps++;
    if (chance(&w->g.choose, 4)) {
        server_step(w);
        return;
    }
    draw_command(&w->g, hostile);
    world_run(w);
}
