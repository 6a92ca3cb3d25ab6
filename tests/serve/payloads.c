/* payloads.c - damaged images through RESTORE, OLTR.LOAD and OLTR.MERGE.
 *
 * Images of every kind that can be served are changed: bits flipped, bytes cut, doubled, taken from
 * another image, lengths and doubles at the ends of what they can be; as they are, and with the
 * checksums made right.  Each is refused and nothing is changed, or it becomes a model that ranks,
 * learns and predicts finite numbers, and whose image is the one that was loaded.
 *
 * The payloads are the same in every run; OLTR_CALLS is their number.  OLTR_CHAPTER runs one alone.
 * usage: payloads MODULE
 */
#include "command_probe.h"
#include "support/effort.h"
#include "support/model_image.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SEEDS = 64, MOST_PAYLOAD = 1 << 16, CHAPTER = 50 };

typedef struct seed {
    const oltr_policy_info *info;
    blob image;
} seed;

static seed seeds[MOST_SEEDS];
static uint32_t n_seeds;
static uint64_t n_loaded, n_refused, n_merged, n_repaired;

/* ---- seeds */

static text rows_of(uint32_t lesson)
{
    static float x[4];
    for (uint32_t i = 0; i < 4; i++)
        x[i] = (float)((int)((lesson * 7 + i * 5) % 11) - 5) / 16;
    return (text){x, sizeof x};
}

static const reply *must_be_good(const reply *r)
{
    if (r->type == REPLY_ERROR)
        fake_fault("refused with %s", reply_error(r));
    return r;
}

static void make_seed(world *w, const oltr_policy_info *info, bool told)
{
    char line[300];
    world_reset(w, (chooser){.luck = {1}});
    fake_new_chapter("the image of %s", info->name);
    snprintf(line, sizeof line, "OLTR.CREATE k0 %s WINDOW 4%s%s", info->name,
             info->contextual ? " DIM 2 CANDIDATES 8" : "",
             !told                 ? ""
             : info->takes_moments ? " PRIOR 0.25 0.125 SET prior full"
                                   : " PRIOR 2 6 SET prior full");
    must_be_good(world_say(w, line, (text){0}));
    for (uint32_t i = 0; i < 6; i++) {
        if (info->contextual)
            snprintf(line, sizeof line, "OLTR.LEARN k0 FP32 @ REWARDS %u %u ID l%u", i % 2,
                     i % 3 == 0, i);
        else
            snprintf(line, sizeof line, "OLTR.LEARN k0 ITEMS 2 item-%u other-%u CLICKS 1 %u ID l%u",
                     i % 4, i, 1 + i % 2, i);
        must_be_good(world_say(w, line, rows_of(i)));
    }
    seeds[n_seeds++] = (seed){info, fake_image(w->master, key_at(0))};
}

static void make_seeds(world *w)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (!is_servable(info))
            continue;
        make_seed(w, info, false);
        if (info->uses_prior)
            make_seed(w, info, true);
    }
}

/* ---- damage */

static size_t put_extreme(dice *d, unsigned char *x, size_t size)
{
    static const double number[] = {
        0, -0.0, 1, -1, 1e300, -1e300, 1e-310, (double)NAN, (double)INFINITY, 0x1p53, 1e30, 1e6};
    static const uint64_t word[] = {0,          1,          0x7F, 0xFF,       0xFFFF,     0x10000,
                                    0x7FFFFFFF, 0x80000000, ~0u,  1ull << 40, 1ull << 63, ~0ull};
    size_t n = one_in(d, 2) ? 8 : 4, at = below(d, (uint32_t)size);
    at = one_in(d, 2) ? at : at / 4 * 4;
    if (at + n > size)
        return size;
    if (n == 8 && one_in(d, 2))
        set_number(x + at, number[below(d, sizeof number / sizeof *number)]);
    else
        set_little(x + at, (int)n, word[below(d, sizeof word / sizeof *word)]);
    return size;
}

/* One more or one less in a number of four or eight bytes. */
static size_t step_number(dice *d, unsigned char *x, size_t size)
{
    size_t n = one_in(d, 2) ? 8 : 4, at = below(d, (uint32_t)size);
    if (at + n <= size)
        set_little(x + at, (int)n, little(x + at, (int)n) + (one_in(d, 2) ? 1 : ~0ull));
    return size;
}

static size_t damage(dice *d, unsigned char *x, size_t size, const blob *other)
{
    size_t at = below(d, (uint32_t)size), n = 1 + below(d, 40);
    switch (below(d, 8)) {
    case 0:
    case 1:
        x[at] ^= (unsigned char)(1u << below(d, 8));
        return size;
    case 2: /* cut, at the end or anywhere */
        n = n < size - at ? n : size - at;
        memmove(x + at, x + at + n, size - at - n);
        return size - n ? size - n : 1;
    case 3: /* a piece twice */
        n = n < size - at ? n : size - at;
        if (size + n > MOST_PAYLOAD)
            return size;
        memmove(x + at + n, x + at, size - at);
        return size + n;
    case 4: { /* a piece of another image, from the same place or any */
        size_t from = one_in(d, 2) ? at : below(d, (uint32_t)other->size);
        n *= 4;
        if (from >= other->size)
            return size;
        n = n < other->size - from ? n : other->size - from;
        n = n < size - at ? n : size - at;
        memcpy(x + at, other->at + from, n);
        return size;
    }
    case 5:
        return step_number(d, x, size);
    default:
        return put_extreme(d, x, size);
    }
}

/* The checksum as it is; of the image; or of the snapshot inside too. */
static void reseal(dice *d, unsigned char *x, size_t size)
{
    uint32_t how = below(d, 4);
    if (how == 0 || size < 48)
        return;
    if (how > 1) {
        seal_model(x, size, AT_LENGTH);
        return;
    }
    set_little(x + AT_LENGTH, 8, size);
    set_little(x + size - 8, 8, slow_crc64(x, size - 8));
}

static text draw_payload(dice *d, const seed *of)
{
    static unsigned char room[MOST_PAYLOAD];
    const blob *other = &seeds[below(d, n_seeds)].image;
    size_t size = of->image.size;
    memcpy(room, of->image.at, size);
    for (uint32_t i = one_in(d, 30) ? 0 : 1 + below(d, 3); i > 0; i--)
        size = damage(d, room, size, other);
    reseal(d, room, size);
    return (text){room, size};
}

/* ---- what a model must do that was loaded */

/* The numbers of a key by OLTR.INFO. */
static long long info_of(world *w, const char *name)
{
    const reply *r = reply_field(world_say(w, "OLTR.INFO k0", (text){0}), name);
    if (!r || r->type != REPLY_INTEGER)
        fake_fault("OLTR.INFO has no %s", name);
    return r->integer;
}

/* BADIMAGE here means that a sum would pass the bound of its kind. */
static void one_of(const reply *r, const char *words)
{
    if (r->type == REPLY_ERROR && !strstr(words, reply_error(r)))
        fake_fault("a loaded model refuses with %.*s", (int)r->words.size,
                   (const char *)r->words.bytes);
}

static void use_items(world *w)
{
    text none = {0};
    one_of(world_say(w, "OLTR.RANK k0 5 ALL SEED s WITHSCORES", none), "TOOBIG");
    one_of(world_say(w, "OLTR.RANK k0 3 ITEMS 3 item-0 item-1 new GREEDY WITHSCORES", none),
           "UNSUPPORTED");
    one_of(world_say(w, "OLTR.PREDICT k0 ITEMS 3 item-0 other-1 new", none), "UNSUPPORTED");
    one_of(world_say(w, "OLTR.EXPLAIN k0 ITEMS 3 item-0 other-1 new", none), "");
    one_of(world_say(w, "OLTR.PROPENSITY k0 2 ITEMS 3 item-0 other-1 new DRAWS 4 SEED s", none),
           "");
    if (w->steps % 16 == 0) /* it takes longer than all others together */
        one_of(world_say(w, "OLTR.PROPENSITY k0 2 ITEMS 3 item-0 other-1 new", none),
               "UNSUPPORTED");
    one_of(world_say(w, "OLTR.LEARN k0 ITEMS 3 new item-0 other-2 CLICKS 1 2 SEEN 3 ID n", none),
           "FULL BADIMAGE");
    one_of(world_say(w, "OLTR.TRIM k0 IDLE 2", none), "");
    one_of(world_say(w, "OLTR.REM k0 item-1 new", none), "");
    one_of(world_say(w, "OLTR.SCAN k0 0", none), "");
}

static void use_rows(world *w)
{
    text x = rows_of(3);
    if (info_of(w, "dim") != 2 || info_of(w, "candidates") < 2)
        return;
    one_of(world_say(w, "OLTR.RANK k0 5 FP32 @ SEED s WITHSCORES", x), "BADFEATURE");
    one_of(world_say(w, "OLTR.PREDICT k0 FP32 @", x), "UNSUPPORTED BADFEATURE");
    one_of(world_say(w, "OLTR.EXPLAIN k0 FP32 @", x), "BADFEATURE");
    one_of(world_say(w, "OLTR.LEARN k0 FP32 @ CLICKS 1 2 SEEN 2 ID n", x), "BADIMAGE BADFEATURE");
}

/* Derived numbers that were forged by less than the engine looks at stay as they are; a copy may
 * get better ones, and the oracle works on a copy. */
static void use_model(world *w, const oltr_policy_info *info)
{
    w->no_oracle = !info->order_free;
    if (info->contextual)
        use_rows(w);
    else
        use_items(w);
    one_of(world_say(w, "OLTR.FORGET k0 0.5", (text){0}), "UNSUPPORTED");
    blob own = fake_image(w->master, key_at(0));
    one_of(world_say(w, "OLTR.MERGE k0 @", (text){own.at, own.size}),
           "UNSUPPORTED BADIMAGE TOOBIG");
    free(own.at);
    if (!info->contextual)
        use_items(w);
    else
        use_rows(w);
    w->no_oracle = false;
}

static blob image_of(const oltr_model *m)
{
    blob image = {malloc(oltr_model_save_bound(m)), 0};
    if (!image.at || oltr_model_save(m, image.at, oltr_model_save_bound(m), &image.size) != OLTR_OK)
        fake_fault("the engine does not save what it has loaded");
    return image;
}

static size_t first_difference(text x, text y)
{
    size_t at = 0;
    while (at < x.size && at < y.size && ((const char *)x.bytes)[at] == ((const char *)y.bytes)[at])
        at++;
    return at;
}

/* The image is what was loaded, to the byte.  Of the kinds that save derived numbers the engine
 * repairs some that do not follow from the sums, and a choice of -0 is a choice of 0; then the
 * image is stable from there on. */
static void check_image(const oltr_policy_info *info, const oltr_model *m, text now, text payload)
{
    if (same_text(now, payload))
        return;
    size_t at = first_difference(now, payload);
    bool zero = at < payload.size && at < now.size &&
                ((const unsigned char *)payload.bytes)[at] == 0x80 &&
                ((const unsigned char *)now.bytes)[at] == 0;
    if (info->order_free && !zero)
        fake_fault("the image of a loaded model of %s has other bytes from %zu of %zu on",
                   info->name, at, payload.size);
    blob again = image_of(m);
    if (!same_text(now, (text){again.at, again.size}))
        fake_fault("the image of a loaded model of %s is not stable", info->name);
    free(again.at);
    n_repaired++;
}

static void check_loaded(world *w, text payload)
{
    blob now = fake_image(w->master, key_at(0));
    oltr_error error = {OLTR_OK, ""};
    oltr_model *m = oltr_model_load(now.at, now.size, NULL, NULL, &error);
    if (!m)
        fake_fault("what was loaded does not load again: %s", error.msg);
    const oltr_policy_info *info = oltr_model_settings_of(m)->policy.info;
    bool large = oltr_model_bytes(m) > 1 << 22;
    check_image(info, m, (text){now.at, now.size}, payload);
    oltr_model_free(m);
    free(now.at);
    n_loaded++;
    if (!large)
        use_model(w, info);
}

/* An image that claims more candidates than its memory may have: refused before any is taken. */
static void claim_too_much(world *w)
{
    for (uint32_t i = 0; i < n_seeds; i++) {
        size_t inner_size,
            inner = inner_snapshot(seeds[i].image.at, seeds[i].image.size, &inner_size);
        if (!seeds[i].info->contextual || inner == NOT_THERE)
            continue;
        static unsigned char forged[MOST_PAYLOAD];
        size_t size = seeds[i].image.size;
        anatomy a = dissect(seeds[i].image.at + inner, inner_size);
        memcpy(forged, seeds[i].image.at, size);
        set_little(forged + inner + a.items, 4, 1u << 27);
        seal_model(forged, size, AT_LENGTH);
        fake_new_chapter("%s of 2^27 candidates", seeds[i].info->name);
        world_reset(w, (chooser){.luck = {1}});
        fake_forget_peak(w->master);
        size_t before = fake_memory_of(w->master).bytes;
        const reply *r = world_say(w, "OLTR.LOAD k0 @", (text){forged, size});
        if (strcmp(reply_error(r), "TOOBIG") != 0)
            fake_fault("%.*s", (int)r->words.size, (const char *)r->words.bytes);
        if (fake_memory_of(w->master).peak - before > 1 << 16)
            fake_fault("%zu bytes were taken", fake_memory_of(w->master).peak - before);
    }
}

/* ---- the three ways in */

static void try_restore(world *w, text payload)
{
    bool there = fake_restore(w->master, key_at(0), payload.bytes, payload.size, 1, false);
    if (there != fake_restore(w->replica, key_at(0), payload.bytes, payload.size, 1, false))
        fake_fault("one server loads what the other refuses");
    world_look(w, 0);
    n_refused += !there;
    if (there)
        check_loaded(w, payload);
}

static void try_load(world *w, text payload, bool replace)
{
    const reply *r = world_say(w, replace ? "OLTR.LOAD k0 @ REPLACE" : "OLTR.LOAD k0 @", payload);
    one_of(r, "BADIMAGE TOOBIG");
    n_refused += r->type == REPLY_ERROR;
    if (r->type != REPLY_ERROR)
        check_loaded(w, payload);
}

static void try_merge(world *w, text payload, const seed *into)
{
    must_be_good(world_say(w, "OLTR.LOAD k0 @ REPLACE", (text){into->image.at, into->image.size}));
    const reply *r = world_say(w, "OLTR.MERGE k0 @ ID delta", payload);
    one_of(r, "BADIMAGE TOOBIG MISMATCH UNSUPPORTED FULL");
    n_refused += r->type == REPLY_ERROR;
    if (r->type == REPLY_ERROR)
        return;
    n_merged++;
    use_model(w, into->info);
}

static void run_chapter(world *w, uint64_t chapter, uint64_t payloads)
{
    dice d = {chapter};
    world_reset(w, (chooser){.luck = {chapter}});
    for (uint64_t i = 0; i < payloads; i++) {
        const seed *of = &seeds[below(&d, n_seeds)];
        text payload = draw_payload(&d, of);
        fake_new_chapter("payload %llu of chapter %llu (OLTR_CHAPTER)", (unsigned long long)i,
                         (unsigned long long)chapter);
        switch (below(&d, 4)) {
        case 0:
            try_restore(w, payload);
            break;
        case 1:
            try_merge(w, payload, of);
            break;
        default:
            try_load(w, payload, fake_has_key(w->master, key_at(0)));
        }
        w->steps++;
    }
}

int main(int argc, char **argv)
{
    static world w;
    uint64_t payloads = number_from("OLTR_CALLS", 2000 * EFFORT),
             only = number_from("OLTR_CHAPTER", 0);
    world_open(&w, argc > 1 ? argv[1] : "oltr.so", 1);
    make_seeds(&w);
    claim_too_much(&w);
    if (only)
        run_chapter(&w, only, CHAPTER);
    for (uint64_t chapter = 1; !only && w.steps < payloads; chapter++)
        run_chapter(&w, chapter, CHAPTER);
    printf("%llu payloads of %u images: %llu refused, %llu loaded, %llu of them repaired, %llu "
           "merged\n",
           (unsigned long long)w.steps, n_seeds, (unsigned long long)n_refused,
           (unsigned long long)n_loaded, (unsigned long long)n_repaired,
           (unsigned long long)n_merged);
    tally_print(&w.seen);
    if (!only && (n_refused < w.steps / 4 || n_loaded < w.steps / 50 || n_merged < w.steps / 200))
        fake_fault("too few of a sort");
    for (uint32_t i = 0; i < n_seeds; i++)
        free(seeds[i].image.at);
    fake_new_chapter("the end");
    world_close(&w);
    return 0;
}
