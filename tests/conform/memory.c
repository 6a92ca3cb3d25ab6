/* memory.c - which calls allocate, which write, and what happens when there is no memory.
 *
 * A page is ranked in microseconds: one malloc in rank or learn would be a lock, a page fault or a
 * leak in the hot path of every server.  So the allocator is wrapped by the linker (see
 * CMakeLists.txt) and counted: no call in a round, as many freed as taken, none larger than the
 * bytes of a snapshot justify, and each single one refused in turn.  That ranking only reads is
 * shown by the hardware: the policy is in a page that must not be written.
 */
#define _DEFAULT_SOURCE 1
#include "conform/fixtures.h"
#include "support/allocator.h"
#include "support/files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <oltr/sim.h>

#include "engine/policy/settings.h"

static variant_list variants;

/* ---- no allocation in a round */

static void one_round(oltr_policy *p, oltr_scratch *scratch, uint64_t round, request *r)
{
    oltr_ranking shown = {r->k, r->shown, NULL};
    long before = taken, back = freed;
    oltr_status ranked = oltr_rank(p, r->asked, rng_of(round), scratch, &shown);
    oltr_status learned = learn_request(p, r);
    if (taken != before || freed != back || ranked != OLTR_OK || learned != OLTR_OK)
        fail_msg("round %u: %ld allocations, %ld freed, %s, %s", (uint32_t)round, taken - before,
                 freed - back, oltr_status_name(ranked), oltr_status_name(learned));
}

static void rounds_do_not_allocate(void **state)
{
    static const uint32_t sizes[] = {1, 2, 9, 64, 300};
    dice d = {71};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        oltr_policy *p = policy_of(*state, sizes[s]);
        long before = taken;
        oltr_scratch *scratch = oltr_scratch_new(p);
        assert_true(taken > before); /* the counter counts */
        for (uint64_t round = 0; round < 100; round++) {
            request r;
            draw_request(&d, p, round % 2 ? FROM_POOL : NEVER_AGAIN, &r);
            one_round(p, scratch, round, &r);
        }
        oltr_scratch_free(scratch);
        oltr_policy_free(p);
    }
}

/* A scratch made for more items serves fewer: a simulator makes one for the largest query. */
static void a_scratch_of_more_items_is_no_smaller(void **state)
{
    static const uint32_t dims[] = {1, 5, 32, 136, 220};
    const oltr_policy_info *info = *state;
    for (size_t d = 0; d < COUNT(dims); d++) {
        size_t before = 0;
        for (uint32_t n = 1; n < 20000; n += 1 + n / 50) {
            oltr_settings s;
            expect(oltr_settings_init(&s, info->name, n, NULL), OLTR_OK);
            s.dim = info->contextual ? dims[d] : 0;
            size_t bytes = policy_ops_of(info)->scratch_bytes(&s);
            if (bytes < before)
                fail_msg("dim %u: %u items need less than fewer", dims[d], n);
            before = bytes;
        }
    }
}

/* Refusals are part of the hot path too. */
static void refusals_do_not_allocate(void **state)
{
    oltr_policy *p = new_policy(*state);
    oltr_scratch *scratch = oltr_scratch_new(p);
    request r;
    whole_request(p, &r);
    r.reward[0] = (double)NAN;
    oltr_ranking many = {ITEMS + 1, r.shown, NULL}, two = {2, r.shown, NULL};
    oltr_feedback bad = {1, r.reward}, more = {3, r.reward};
    long before = taken;
    expect(oltr_rank(p, r.asked, oltr_rng_make(1, 1), scratch, &many), OLTR_ESLOTS);
    expect(oltr_learn(p, r.asked, &two, &bad), OLTR_EREWARD);
    expect(oltr_learn(p, r.asked, &two, &more), OLTR_EEXAMINED);
    assert_int_equal(taken, before);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* ---- reading does not write */

static void read_everything(const oltr_policy *p, unsigned char *buffer, size_t size)
{
    dice d = {9};
    for (uint64_t round = 0; round < 20; round++) {
        request r;
        draw_request(&d, p, NEVER_AGAIN, &r);
        expect(rank_with(p, r.asked, round, r.query.n_items, r.shown, NULL), OLTR_OK);
        assert_numbers(p, r.asked, "what was learned");
    }
    assert_sound(p);
    expect(oltr_save(p, buffer, size, &size), OLTR_OK);
    assert_int_equal(oltr_policy_rounds(p), 100);
    assert_int_equal(oltr_policy_settings(p)->n_items, ITEMS);
}

static void reading_does_not_write(void **state)
{
    const variant *v = *state;
    oltr_settings s = settings_for(v, ITEMS);
    size_t bytes = oltr_policy_bytes(&s, NULL), page = (size_t)sysconf(_SC_PAGESIZE),
           room = (bytes + page - 1) / page * page;
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    oltr_policy *p = oltr_policy_place(memory, bytes, &s, NULL), *other = new_policy(v);
    learn_many(p, 3, 100);
    learn_many(other, 3, 100);
    size_t bound = oltr_save_bound(p);
    unsigned char *buffer = malloc(bound), *before = malloc(bytes);
    memcpy(before, memory, bytes);
    assert_int_equal(mprotect(memory, room, PROT_READ), 0); /* from here on a write is a signal */
    read_everything(p, buffer, bound);
    if (v->info->can_merge)
        expect(oltr_merge(other, p), OLTR_OK); /* the policy that is merged from is read, too */
    assert_memory_equal(before, memory, bytes);
    free(buffer);
    free(before);
    oltr_policy_free(other);
    munmap(memory, room);
}

/* ---- what is taken is given back */

typedef struct indexed_kind {
    const char *kind, *name, *value; /* and a parameter, or NULL */
} indexed_kind;

static const indexed_kind indexed[] = {
    {"gts", "sampler", "race"},   {"ts-beta", "sampler", "race"}, {"cascade-ucb1", NULL, NULL},
    {"cascade-ucbv", NULL, NULL}, {"cascade-klucb", NULL, NULL},  {"bayes-ucb", NULL, NULL},
    {"ts-cascade", NULL, NULL},   {"epsilon-greedy", NULL, NULL}, {"random", NULL, NULL},
    {"ensemble", NULL, NULL},
};

/* Both at a size where a policy keeps an index of its items (engine/race). */
static void many_items_neither_allocate_nor_write(void **state)
{
    enum { MANY = 5000, SLOTS = 10, ROUNDS = 60 };
    const indexed_kind *of = *state;
    oltr_settings s;
    expect(oltr_settings_init(&s, of->kind, MANY, NULL), OLTR_OK);
    if (of->name)
        expect(oltr_settings_set(&s, of->name, of->value, NULL), OLTR_OK);
    size_t bytes = oltr_policy_bytes(&s, NULL), page = (size_t)sysconf(_SC_PAGESIZE),
           room = (bytes + page - 1) / page * page;
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    oltr_policy *p = oltr_policy_place(memory, bytes, &s, NULL);
    oltr_scratch *scratch = oltr_scratch_new(p);
    long before = taken, back = freed;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint32_t item[SLOTS];
        double reward[SLOTS], score[SLOTS];
        oltr_ranking shown = {.k = SLOTS, .item = item, .score = score};
        assert_int_equal(mprotect(memory, room, PROT_READ), 0);
        expect(oltr_rank(p, NULL, rng_of(round), scratch, &shown), OLTR_OK);
        assert_int_equal(mprotect(memory, room, PROT_READ | PROT_WRITE), 0);
        for (uint32_t j = 0; j < SLOTS; j++)
            reward[j] = (item[j] + round) % 3 == 0;
        expect(oltr_learn(p, NULL, &shown, &(oltr_feedback){SLOTS, reward}), OLTR_OK);
    }
    assert_int_equal(taken, before);
    assert_int_equal(freed, back);
    oltr_scratch_free(scratch);
    munmap(memory, room);
}

static void everything_is_given_back(void **state)
{
    long before = taken - freed;
    oltr_policy *p = new_policy(*state), *copy = copy_of(p);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_check(p, NULL);
    oltr_merge(p, copy);
    oltr_forget(p, 0.5);
    oltr_scratch_free(scratch);
    oltr_policy_free(copy);
    oltr_policy_free(p);
    assert_int_equal(taken - freed, before);
}

/* Runs `step` with one allocation after the other refused, until it needs no more. */
static int with_failures(oltr_status (*step)(const void *context), const void *context)
{
    int refused = 0;
    for (long n = 0; n < 2000; n++) {
        long before = taken - freed;
        until_failure = n;
        oltr_status status = step(context);
        bool failed = until_failure == 0;
        until_failure = -1;
        assert_int_equal(taken - freed, before);
        if (!failed || status == OLTR_OK) {
            expect(status, OLTR_OK);
            return refused;
        }
        if (status != OLTR_ENOMEM)
            fail_msg("allocation %ld refused: %s", n, oltr_status_name(status));
        refused++;
    }
    fail_msg("there is no end of allocations");
    return 0;
}

static oltr_status make_one(const void *context)
{
    const oltr_settings *s = context;
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_policy_new(s, &error);
    oltr_policy_free(p);
    return error.code;
}

static oltr_status load_one(const void *context)
{
    const image *m = context;
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_load(m->byte, m->size, &error);
    oltr_policy_free(p);
    return error.code;
}

static oltr_status make_scratch(const void *context)
{
    oltr_scratch *scratch = oltr_scratch_new(context);
    oltr_status status = scratch ? OLTR_OK : OLTR_ENOMEM;
    oltr_scratch_free(scratch);
    return status;
}

static oltr_status check_one(const void *context)
{
    return oltr_check(context, NULL);
}

static oltr_status resize_one(const void *context)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_policy_copy(context, NULL, &error);
    oltr_status status = p ? oltr_policy_resize(&p, ITEMS - 1, NULL, &error) : OLTR_ENOMEM;
    assert_int_equal(error.code, status);
    oltr_policy_free(p);
    return status;
}

static void policies_without_memory(void **state)
{
    oltr_settings s = settings_for(*state, ITEMS);
    oltr_policy *p = new_policy(*state);
    image m = image_of(p);
    assert_int_equal(with_failures(make_one, &s), 1);
    assert_true(with_failures(load_one, &m) >= 1);
    assert_int_equal(with_failures(make_scratch, p), 1);
    with_failures(check_one, p);
    if (oltr_policy_settings(p)->info->can_resize)
        assert_true(with_failures(resize_one, p) >= 2);
    free(m.byte);
    oltr_policy_free(p);
}

/* A snapshot that claims millions of items must have the bytes of them before memory is taken. */
static void a_claim_needs_its_bytes(void **state)
{
    static const uint32_t claims[] = {1u << 16, 1u << 20, 1u << 24, 1u << 27, 1u << 28};
    oltr_policy *p = policy_of(*state, 3);
    image m = image_of(p);
    anatomy a = dissect_image(&m);
    for (size_t i = 0; i < COUNT(claims) && (a.sums || a.form); i++) {
        oltr_error error = {OLTR_OK, ""};
        set_little(m.byte + a.items, 4, claims[i]);
        seal(m.byte, m.size);
        largest = 0;
        forbidden = 1 << 28; /* where this test fails, it must not take all memory */
        oltr_policy *loaded = oltr_load(m.byte, m.size, &error);
        forbidden = SIZE_MAX;
        if (loaded || (error.code != OLTR_ECORRUPT && error.code != OLTR_EITEM) || largest > 100000)
            fail_msg(
                "a snapshot of %zu bytes that claims %u items: %s, after a request for %zu bytes",
                m.size, claims[i], oltr_status_name(error.code), (size_t)largest);
    }
    free(m.byte);
    oltr_policy_free(p);
}

/* ---- a hook for memory */

enum { MOST_BLOCKS = 64 };

/* A hook with a list of the blocks it has handed out; it can refuse. */
typedef struct purse {
    size_t held, peak, most; /* bytes; what would exceed `most` is refused */
    long until_refusal;      /* requests that still succeed; negative: all do */
    bool wrong;              /* a block was given back that was never taken, or with another size */
    struct {
        void *at;
        size_t bytes;
    } block[MOST_BLOCKS];
} purse;

static void *purse_take(void *with, size_t bytes, size_t align)
{
    purse *p = with;
    size_t i = 0;
    if (bytes > p->most - p->held || p->until_refusal == 0)
        return NULL;
    p->until_refusal -= p->until_refusal > 0;
    while (i < MOST_BLOCKS && p->block[i].at)
        i++;
    assert_true(i < MOST_BLOCKS && align <= 64 && (align & (align - 1)) == 0);
    p->block[i].at = __real_aligned_alloc(64, (bytes + 63) / 64 * 64);
    p->block[i].bytes = bytes;
    memset(p->block[i].at, 0xA5, bytes); /* of any content */
    p->held += bytes;
    p->peak = p->held > p->peak ? p->held : p->peak;
    return p->block[i].at;
}

static void purse_give(void *with, void *memory, size_t bytes)
{
    purse *p = with;
    for (size_t i = 0; i < MOST_BLOCKS; i++)
        if (memory && p->block[i].at == memory) {
            p->wrong |= p->block[i].bytes != bytes;
            p->held -= p->block[i].bytes;
            p->block[i].at = NULL;
            __real_free(memory);
            return;
        }
    p->wrong = true;
}

static purse new_purse(size_t most)
{
    return (purse){.most = most, .until_refusal = -1};
}

/* With a prior, where the kind takes one. */
static oltr_settings hooked_settings(const oltr_policy_info *info, const oltr_memory *memory)
{
    variant v = with_prior(plain_variant(info), SHAPES);
    oltr_settings s = settings_for(&v, ITEMS);
    s.memory = memory;
    return s;
}

/* A policy that has learned a little. */
static oltr_policy *hooked_policy(const oltr_policy_info *info, const oltr_memory *memory)
{
    oltr_settings s = hooked_settings(info, memory);
    oltr_policy *p = policy_from(&s);
    learn_many(p, 1, 5);
    return p;
}

/* Everything that takes memory, with one hook; the first status that is not OK. */
typedef struct hooked {
    const oltr_policy_info *info;
    image saved;
    oltr_memory memory;
} hooked;

static oltr_status or_nomem(const void *made, oltr_status code)
{
    return made ? OLTR_OK : code != OLTR_OK ? code : OLTR_ENOMEM;
}

static oltr_status live_on_a_hook(const hooked *h)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_settings s = hooked_settings(h->info, &h->memory);
    oltr_load_options options = {.memory = &h->memory};
    oltr_policy *p = oltr_policy_new(&s, &error), *loaded = NULL, *copy = NULL;
    oltr_scratch *scratch = NULL;
    oltr_status status = or_nomem(p, error.code);
    if (status == OLTR_OK)
        status = or_nomem(scratch = oltr_scratch_new(p), OLTR_ENOMEM);
    if (status == OLTR_OK)
        status = or_nomem(loaded = oltr_load_with(h->saved.byte, h->saved.size, &options, &error),
                          error.code);
    if (status == OLTR_OK)
        status = or_nomem(copy = oltr_policy_copy(loaded, NULL, &error), error.code);
    if (status == OLTR_OK)
        status = oltr_check(copy, &error);
    if (status == OLTR_OK && h->info->can_merge)
        status = oltr_merge(p, copy);
    oltr_scratch_free(scratch);
    oltr_policy_free(copy);
    oltr_policy_free(loaded);
    oltr_policy_free(p);
    return status;
}

/* The hook gets all of it back, at each position at which it refuses, and the refusal is called by
 * its name. */
static void a_hook_gives_and_refuses(void **state)
{
    purse money = new_purse(SIZE_MAX);
    hooked h = {.info = *state, .memory = {purse_take, purse_give, &money}};
    oltr_policy *p = hooked_policy(h.info, NULL);
    h.saved = image_of(p);
    oltr_policy_free(p);
    oltr_status status = OLTR_ENOMEM;
    long refused = 0;
    for (; status != OLTR_OK && refused < 100; refused++) {
        long before = taken - freed;
        money.until_refusal = refused;
        status = live_on_a_hook(&h);
        if (status != OLTR_OK && status != OLTR_ENOMEM)
            fail_msg("request %ld refused: %s", refused, oltr_status_name(status));
        assert_int_equal(money.held, 0);
        assert_int_equal(taken - freed, before);
        assert_false(money.wrong);
    }
    expect(status, OLTR_OK);
    assert_true(refused > 4); /* policy, scratch, loaded, copy, and none refused */
    free(h.saved.byte);
}

/* With a hook, policy, scratch, copy and load take nothing from the C library. */
static void a_hook_is_all_there_is(void **state)
{
    const oltr_policy_info *info = *state;
    purse money = new_purse(SIZE_MAX);
    hooked h = {.info = info, .memory = {purse_take, purse_give, &money}};
    oltr_policy *p = hooked_policy(info, &h.memory);
    long before = taken;
    oltr_policy *copy = oltr_policy_copy(p, NULL, NULL);
    oltr_scratch *scratch = oltr_scratch_new(copy);
    assert_non_null(scratch);
    assert_int_equal(taken, before);
    assert_ptr_not_equal(oltr_policy_settings(copy)->memory,
                         &h.memory); /* its own copy of the hook */
    h.memory = (oltr_memory){NULL, NULL, NULL};
    oltr_policy_free(p);
    h.saved = image_of(copy);
    oltr_memory again = {purse_take, purse_give, &money};
    oltr_load_options options = {.memory = &again};
    before = taken;
    oltr_policy *loaded = oltr_load_with(h.saved.byte, h.saved.size, &options, NULL);
    assert_non_null(loaded);
    if (!info->contextual) /* a check of a matrix takes room of its own */
        assert_int_equal(taken, before);
    oltr_policy *plain = oltr_policy_copy(loaded, &(oltr_memory){NULL, NULL, NULL},
                                          NULL); /* back to the C library */
    assert_true(plain && taken > before && !oltr_policy_settings(plain)->memory);
    assert_true(same_state(plain, copy));
    oltr_policy_free(plain);
    oltr_policy_free(loaded);
    oltr_policy_free(copy);
    oltr_scratch_free(scratch);
    assert_int_equal(money.held, 0);
    assert_false(money.wrong);
    free(h.saved.byte);
}

/* A resize or a merge for which there is no memory changes nothing. */
static void without_memory_nothing_changes(void **state)
{
    const oltr_policy_info *info = *state;
    purse money = new_purse(SIZE_MAX);
    oltr_memory hook = {purse_take, purse_give, &money};
    oltr_policy *p = hooked_policy(info, &hook), *q = hooked_policy(info, &hook);
    oltr_prior more = prior_from(known_prior(), info->uses_prior ? SHAPES : NO_PRIOR, ITEMS);
    for (int merging = 0; merging < 2; merging++) {
        oltr_status status = OLTR_ENOMEM;
        for (long left = 0; status == OLTR_ENOMEM; left++) {
            image before = image_of(p);
            money.until_refusal = left;
            status = merging ? oltr_merge(p, q) : oltr_policy_resize(&p, ITEMS + 3, &more, NULL);
            money.until_refusal = -1;
            if (!merging && status == OLTR_OK)
                expect(oltr_policy_resize(&p, ITEMS, NULL, NULL), OLTR_OK);
            bool same = same_images(before, image_of(p));
            assert_true(status == OLTR_OK || same);
            assert_true(left < 20);
        }
    }
    oltr_policy_free(p);
    oltr_policy_free(q);
    assert_int_equal(money.held, 0);
    assert_false(money.wrong);
}

/* ---- loads within bounds */

/* Loads with a bound; what is taken for the policy, and then for a scratch, stays within it. */
static oltr_status load_within(const image *m, size_t most, size_t *peak)
{
    purse money = new_purse(most);
    oltr_memory memory = {purse_take, purse_give, &money};
    oltr_load_options options = {.size = sizeof options, .memory = &memory, .most_bytes = most};
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = oltr_load_with(m->byte, m->size, &options, &error);
    oltr_scratch *scratch = p ? oltr_scratch_new(p) : NULL;
    assert_true(!p || scratch); /* counted too */
    *peak = money.peak;
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    assert_int_equal(money.held, 0);
    assert_false(money.wrong);
    return p ? OLTR_OK : error.code;
}

static void claims_stay_within_the_bound(void **state)
{
    static const uint32_t claims[] = {13, 1000, 1u << 16, 1u << 20, 1u << 24, 1u << 28};
    static const size_t bounds[] = {1 << 14, 1 << 20, 1 << 24};
    const oltr_policy_info *info = *state;
    oltr_policy *p = hooked_policy(info, NULL);
    image m = image_of(p);
    anatomy a = dissect_image(&m);
    for (size_t c = 0; c < COUNT(claims); c++)
        for (size_t b = 0; b < COUNT(bounds); b++) {
            size_t peak;
            set_little(m.byte + a.items, 4, claims[c]);
            seal(m.byte, m.size);
            oltr_status status = load_within(&m, bounds[b], &peak);
            if (peak > bounds[b])
                fail_msg("%u items: %zu bytes, allowed were %zu", claims[c], peak, bounds[b]);
            assert_true(status == OLTR_OK || status == OLTR_ENOMEM || status == OLTR_ECORRUPT ||
                        status == OLTR_EITEM);
            if (claims[c] >= 1u << 24)
                assert_int_not_equal(status, OLTR_OK);
        }
    free(m.byte);
    oltr_policy_free(p);
}

/* The bound is one of need: a policy loads within what it and its scratch take, and not within a
 * byte less. */
static void a_bound_is_not_more_than_the_need(void **state)
{
    oltr_policy *p = hooked_policy(*state, NULL);
    image m = image_of(p);
    size_t need = 1, ignored;
    while (load_within(&m, need, &ignored) != OLTR_OK)
        need *= 2;
    for (size_t step = need / 4; step > 0; step /= 2)
        if (load_within(&m, need - step, &ignored) == OLTR_OK)
            need -= step;
    purse money = new_purse(SIZE_MAX);
    oltr_memory memory = {purse_take, purse_give, &money};
    oltr_policy *copy = oltr_policy_copy(p, &memory, NULL);
    oltr_scratch *scratch = oltr_scratch_new(copy);
    size_t prior = oltr_policy_settings(p)->prior.a ? 2 * sizeof(double) * ITEMS : 0;
    assert_true(money.held <= need && need <= money.held + 2 * prior);
    oltr_scratch_free(scratch);
    oltr_policy_free(copy);
    free(m.byte);
    oltr_policy_free(p);
}

/* Short snapshots that claim much, as they were once believed: nothing at all is taken for them by
 * default. */
static void bombs_are_defused(void **state)
{
    static const struct {
        const char *kind;
        uint32_t items;
        double rows;
    } bombs[] = {{"random", 1u << 28, 0},      {"ensemble", 1u << 28, 0},
                 {"logts", 1u << 27, 0},       {"logts", 1u << 26, 1e6},
                 {"lints", 1u << 28, 0},       {"cascade-woful", 1u << 28, 0},
                 {"logts-newton", 1u << 28, 0}};
    for (size_t i = 0; i < COUNT(bombs); i++) {
        oltr_settings s;
        oltr_error error = {OLTR_OK, ""};
        oltr_settings_init(&s, bombs[i].kind, 3, NULL);
        s.dim = s.info->contextual ? 1 : 0;
        if (bombs[i].rows > 0)
            expect(oltr_settings_set_number(&s, "rows", bombs[i].rows, NULL), OLTR_OK);
        oltr_policy *p = oltr_policy_new(&s, NULL);
        image m = image_of(p);
        oltr_policy_free(p);
        set_little(m.byte + dissect_image(&m).items, 4, bombs[i].items);
        seal(m.byte, m.size);
        assert_true(m.size < 1000);
        largest = 0;
        assert_null(oltr_load(m.byte, m.size, &error));
        bool named = error.code == OLTR_EITEM ||
                     (error.code == OLTR_ENOMEM && strstr(error.msg, "most_bytes"));
        if (!named || largest > 0)
            fail_msg("%s with %u items: %s (%s) after a request for %zu bytes", bombs[i].kind,
                     bombs[i].items, oltr_status_name(error.code), error.msg, (size_t)largest);
        free(m.byte);
    }
}

/* Counts, names and lengths are all looked at before the first request. */
static void lies_cost_nothing(void **state)
{
    oltr_policy *p = hooked_policy(*state, NULL);
    image m = image_of(p);
    anatomy a = dissect_image(&m);
    const size_t places[] = {a.n_params, a.n_sums, a.n_derived, a.prior};
    for (size_t i = 0; i < COUNT(places); i++) {
        uint64_t held = little(m.byte + places[i], 4);
        uint64_t first =
            places[i] == a.prior ? 3 : held + 1; /* 1 and 2 are both forms of a prior */
        for (uint64_t lie = first; lie < first + 8; lie++) {
            set_little(m.byte + places[i], 4, lie);
            seal(m.byte, m.size);
            largest = 0;
            assert_null(oltr_load(m.byte, m.size, NULL));
            assert_int_equal(largest, 0);
        }
        set_little(m.byte + places[i], 4, held);
    }
    for (uint32_t n = 0; n < a.sums; n++) {
        set_little(m.byte + a.sum[n].count, 8, (uint64_t)1 << 60);
        seal(m.byte, m.size);
        largest = 0;
        assert_null(oltr_load(m.byte, m.size, NULL));
        assert_int_equal(largest, 0);
        set_little(m.byte + a.sum[n].count, 8, a.sum[n].n);
    }
    free(m.byte);
    oltr_policy_free(p);
}

static void bad_load_options_are_refused(void **state)
{
    oltr_policy *p = hooked_policy(oltr_policy_info_at(0), NULL);
    image m = image_of(p);
    oltr_memory half = {.give = purse_give};
    const oltr_load_options bad[] = {{.size = sizeof bad[0] + 1},
                                     {.size = 4},
                                     {.reserved32 = 1},
                                     {.reserved = {0, 0, 0, 1}},
                                     {.memory = &half}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        oltr_error error = {OLTR_OK, ""};
        assert_null(oltr_load_with(m.byte, m.size, &bad[i], &error));
        expect(error.code, OLTR_EINVAL);
        assert_null(oltr_load_file("/no/such/file", &bad[i], &error));
        expect(error.code, OLTR_EINVAL);
    }
    oltr_policy *q = oltr_load_with(m.byte, m.size, &(oltr_load_options){0}, NULL);
    assert_non_null(q);
    oltr_policy_free(q);
    free(m.byte);
    oltr_policy_free(p);
}

/* Saving to a file and loading from it, with one request after the other refused. */
static oltr_status through_a_file(const void *context)
{
    oltr_error error = {OLTR_OK, ""};
    const char *path = context;
    oltr_settings s;
    oltr_settings_init(&s, "ts-beta", 12, NULL);
    oltr_policy *p = oltr_policy_new(&s, &error);
    oltr_status status = or_nomem(p, error.code);
    if (status == OLTR_OK)
        status = oltr_save_file(p, path, &error);
    oltr_policy *q = status == OLTR_OK ? oltr_load_file(path, NULL, &error) : NULL;
    if (status == OLTR_OK)
        status = or_nomem(q, error.code);
    oltr_policy_free(q);
    oltr_policy_free(p);
    return status;
}

static void files_without_memory(void **state)
{
    assert_true(with_failures(through_a_file, path_of("policy")) > 3);
}

/* ---- the simulator without memory */

static const uint64_t checkpoints[] = {1, 5, 10};

typedef struct trial {
    oltr_experiment experiment;
    uint32_t threads;
    const char *path;
} trial;

static trial make_trial(const oltr_contestant *policies, uint32_t n)
{
    return (trial){.experiment = {.seed = 1,
                                  .rounds = 10,
                                  .slots = 2,
                                  .replications = 3,
                                  .n_checkpoints = 3,
                                  .checkpoint = checkpoints,
                                  .world = {.kind = "beta", .n_items = 6, .clicks = "cascade"},
                                  .n_policies = n,
                                  .policy = policies},
                   .threads = 1};
}

static oltr_status check_trial(const void *context)
{
    const trial *t = context;
    oltr_error error = {OLTR_OK, ""};
    return oltr_experiment_check(&t->experiment, &error);
}

static oltr_status run_trial(const void *context)
{
    const trial *t = context;
    oltr_error error = {OLTR_OK, ""};
    oltr_results *results = oltr_results_new(&t->experiment, 1, &error);
    if (!results)
        return error.code;
    oltr_run_options options = {.threads = t->threads};
    oltr_status status = oltr_run(&t->experiment, 1, &options, results, &error);
    oltr_results_free(results);
    return status;
}

static oltr_status save_trial(const void *context)
{
    const trial *t = context;
    oltr_error error = {OLTR_OK, ""};
    oltr_results *results = oltr_results_new(&t->experiment, 1, &error);
    oltr_status status = results ? oltr_results_save(results, t->path, &error) : error.code;
    oltr_results_free(results);
    return status;
}

static oltr_status load_trial(const void *context)
{
    const trial *t = context;
    oltr_error error = {OLTR_OK, ""};
    oltr_results *results = oltr_results_new(&t->experiment, 1, &error);
    oltr_status status = results ? oltr_results_load(results, t->path, &error) : error.code;
    oltr_results_free(results);
    return status;
}

static void the_simulator_without_memory(void **state)
{
    oltr_contestant policies[3] = {{.label = "one"}, {.label = "two"}, {.label = "three"}};
    for (uint32_t i = 0; i < 3; i++)
        oltr_settings_init(&policies[i].settings, oltr_policy_info_at(i)->name, 6, NULL);
    trial t = make_trial(policies, 3);
    t.path = write_text("results", "");
    assert_true(with_failures(check_trial, &t) > 0);
    for (t.threads = 1; t.threads <= 2; t.threads++)
        assert_true(with_failures(run_trial, &t) > 0);
    assert_true(with_failures(save_trial, &t) > 0);
    assert_true(with_failures(load_trial, &t) > 0);
}

static void checkpoints_without_memory(void **state)
{
    uint64_t out[64];
    until_failure = 0;
    uint32_t n = oltr_checkpoints(1000, 10, out, 64);
    until_failure = -1;
    assert_true(n <= 64); /* nothing, or what it would have been */
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_VARIANTS(&all, &variants, rounds_do_not_allocate);
    ON_VARIANTS(&all, &variants, refusals_do_not_allocate);
    ON_KINDS(&all, a_scratch_of_more_items_is_no_smaller);
    for (size_t i = 0; i < COUNT(indexed); i++)
        add_test(&all, "many_items_neither_allocate_nor_write", indexed[i].kind,
                 many_items_neither_allocate_nor_write, &indexed[i]);
    ON_VARIANTS(&all, &variants, reading_does_not_write);
    ON_VARIANTS(&all, &variants, everything_is_given_back);
    ON_VARIANTS(&all, &variants, policies_without_memory);
    ON_SOME_VARIANTS(&all, &variants, a_claim_needs_its_bytes, has_no_features);
    ON_KINDS(&all, a_hook_gives_and_refuses);
    ON_KINDS(&all, a_hook_is_all_there_is);
    ON_KINDS(&all, without_memory_nothing_changes);
    ON_KINDS(&all, claims_stay_within_the_bound);
    ON_KINDS(&all, a_bound_is_not_more_than_the_need);
    ON_KINDS(&all, lies_cost_nothing);
    ONCE(&all, bombs_are_defused);
    ONCE(&all, bad_load_options_are_refused);
    ONCE(&all, files_without_memory);
    ONCE(&all, the_simulator_without_memory);
    ONCE(&all, checkpoints_without_memory);
    return cmocka_run_group_tests_name("memory", all.test, make_folder, remove_folder);
}
