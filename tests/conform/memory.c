/* memory.c - who may allocate, who may write, and what happens when there is no memory.
 *
 * A page is ranked in microseconds: one malloc in rank or learn would be a lock, a page fault or a leak in the hot path of every server.  So
 * the allocator is wrapped by the linker (see CMakeLists.txt) and counted: none in a round, as many freed as taken, none larger than what a
 * snapshot's bytes can justify, and each single one refused in turn.  That ranking only reads is shown by the hardware: the policy lies in a page
 * that must not be written.
 */
#define _DEFAULT_SOURCE 1
#include "conform/format.h"
#include "conform/suite.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include <oltr/sim.h>

static variant_list variants;
static prior_arrays priors;

/* ---- the allocator, watched --------------------------------------------------------------------------------- */

static atomic_long taken, freed, until_failure = -1; /* until_failure: calls that still succeed; negative: all do */
static atomic_size_t largest, forbidden = SIZE_MAX;  /* requests from `forbidden` bytes on are refused */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);

static int granted(size_t size)
{
    if (size > largest)
        largest = size;
    int refused = size >= forbidden;
    if (!refused && until_failure >= 0 && atomic_fetch_sub(&until_failure, 1) <= 0) {
        until_failure = 0; /* and so do all that follow */
        refused = 1;
    }
    if (refused)
        errno = ENOMEM;
    return !refused;
}

static void *counted(void *block)
{
    taken += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return granted(size) ? counted(__real_malloc(size)) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return granted(n * size) ? counted(__real_calloc(n, size)) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
    if (!granted(size))
        return NULL;
    void *block = __real_realloc(old, size);
    taken += block && !old;
    return block;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return granted(size) ? counted(__real_aligned_alloc(alignment, size)) : NULL;
}

char *__wrap_strdup(const char *text)
{
    return granted(strlen(text) + 1) ? counted(__real_strdup(text)) : NULL;
}

void __wrap_free(void *block)
{
    freed += block != NULL;
    __real_free(block);
}

/* ---- no allocation in a round -------------------------------------------------------------------------------- */

static void one_round(oltr_policy *p, const oltr_query *query, oltr_scratch *scratch, uint64_t round, event *e)
{
    oltr_ranking shown = {e->k, e->item, NULL};
    oltr_feedback seen = {e->n_examined, e->reward};
    long before = taken, back = freed;
    oltr_status ranked = oltr_rank(p, query, oltr_rng_at(oltr_rng_make(1, 1), 0, round), scratch, &shown);
    oltr_status learned = oltr_learn(p, query, &shown, &seen);
    assert_int_equal(taken, before);
    assert_int_equal(freed, back);
    assert_true(ranked == OLTR_OK && learned == OLTR_OK);
}

static void rounds_do_not_allocate(void **state)
{
    static const uint32_t sizes[] = {1, 2, 9, 64, 300};
    const variant *v = *state;
    dice d = {71};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t n = sizes[s], some[MOST_ITEMS];
        oltr_policy *p = new_policy(v, n);
        oltr_scratch *scratch = oltr_scratch_new(p);
        for (uint64_t round = 0; round < 60; round++) {
            oltr_query query = {1 + below(&d, n), some};
            draw_items(&d, n, query.n_items, some);
            event all = draw_event(&d, v->info->rewards, n), few = draw_event(&d, v->info->rewards, query.n_items);
            one_round(p, NULL, scratch, round, &all);
            one_round(p, &query, scratch, round, &few);
        }
        oltr_scratch_free(scratch);
        oltr_policy_free(p);
    }
}

/* Refusals are part of the hot path too. */
static void refusals_do_not_allocate(void **state)
{
    oltr_policy *p = new_policy(*state, 5);
    oltr_scratch *scratch = oltr_scratch_new(p);
    uint32_t item[6] = {0, 1, 2, 3, 4, 4};
    double reward[6] = {(double)NAN, 0, 0, 0, 0, 0};
    oltr_ranking six = {6, item, NULL}, two = {2, item, NULL};
    oltr_feedback bad = {1, reward}, many = {3, reward};
    long before = taken;
    assert_int_equal(oltr_rank(p, NULL, oltr_rng_make(1, 1), scratch, &six), OLTR_ESLOTS);
    assert_int_equal(oltr_learn(p, NULL, &two, &bad), OLTR_EREWARD);
    assert_int_equal(oltr_learn(p, NULL, &two, &many), OLTR_EEXAMINED);
    assert_int_equal(taken, before);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* ---- reading does not write ------------------------------------------------------------------------------------ */

static void read_everything(const oltr_policy *p, unsigned char *buffer, size_t size)
{
    enum { N = 40 };
    uint32_t item[N], some[3] = {9, 4, 39};
    double mean[N], sd[N];
    oltr_query three = {3, some};
    for (uint64_t round = 0; round < 20; round++) {
        assert_int_equal(rank_at(p, NULL, round, N, item, NULL), OLTR_OK);
        assert_int_equal(rank_at(p, &three, round, 2, item, NULL), OLTR_OK);
    }
    oltr_predict(p, NULL, mean, sd);
    assert_int_equal(oltr_check(p, NULL), OLTR_OK);
    assert_int_equal(oltr_save(p, buffer, size, &size), OLTR_OK);
    assert_int_equal(oltr_policy_rounds(p), 100);
    assert_int_equal(oltr_policy_settings(p)->n_items, N);
}

static void reading_does_not_write(void **state)
{
    const variant *v = *state;
    oltr_settings s = settings_of(v, 40, &priors);
    size_t bytes = oltr_policy_bytes(&s, NULL), page = (size_t)sysconf(_SC_PAGESIZE),
           room = (bytes + page - 1) / page * page;
    void *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    oltr_policy *p = oltr_policy_place(memory, bytes, &s, NULL), *source = new_policy(v, 40);
    learn_many(p, 3, 100);
    learn_many(source, 3, 100);
    size_t bound = oltr_save_bound(p);
    unsigned char *buffer = malloc(bound), *before = malloc(bytes);
    memcpy(before, memory, bytes);
    assert_int_equal(mprotect(memory, room, PROT_READ), 0); /* from here on a write is a signal */
    read_everything(p, buffer, bound);
    if (v->info->can_merge)
        assert_int_equal(oltr_merge(source, p), OLTR_OK); /* what is merged from is read, too */
    assert_memory_equal(before, memory, bytes);
    free(buffer);
    free(before);
    oltr_policy_free(source);
    munmap(memory, room);
}

/* ---- what is taken is given back ------------------------------------------------------------------------------- */

static void live_a_life(const variant *v)
{
    oltr_policy *p = new_policy(v, 12), *copy = copy_of(p);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_check(p, NULL);
    oltr_merge(p, copy);
    oltr_forget(p, 0.5);
    oltr_scratch_free(scratch);
    oltr_policy_free(copy);
    oltr_policy_free(p);
}

static void everything_is_given_back(void **state)
{
    long before = taken - freed;
    live_a_life(*state);
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
        int failed = until_failure == 0;
        until_failure = -1;
        assert_int_equal(taken - freed, before);
        if (!failed || status == OLTR_OK) {
            assert_int_equal(status, OLTR_OK);
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

static void policies_without_memory(void **state)
{
    const variant *v = *state;
    oltr_settings s = settings_of(v, 12, &priors);
    oltr_policy *p = new_policy(v, 12);
    image m = image_of(p);
    assert_int_equal(with_failures(make_one, &s), 1);
    assert_true(with_failures(load_one, &m) >= 1);
    assert_int_equal(with_failures(make_scratch, p), 1);
    with_failures(check_one, p);
    free(m.byte);
    oltr_policy_free(p);
}

/* A snapshot that claims millions of items must have the bytes to show for it before memory is spent. */
static void a_claim_is_no_payment(void **state)
{
    static const uint32_t claims[] = {1u << 16, 1u << 20, 1u << 24, 1u << 27, 1u << 28};
    oltr_policy *p = new_policy(*state, 3);
    image m = image_of(p);
    anatomy a = dissect(m.byte, m.size);
    for (size_t i = 0; i < sizeof claims / sizeof *claims && (a.sums || a.form); i++) {
        oltr_error error = {OLTR_OK, ""};
        set_little(m.byte + a.items, 4, claims[i]);
        seal(m.byte, m.size);
        largest = 0;
        forbidden = 1 << 28; /* so that a failure of this test does not take the machine with it */
        oltr_policy *loaded = oltr_load(m.byte, m.size, &error);
        forbidden = SIZE_MAX;
        if (loaded || (error.code != OLTR_ECORRUPT && error.code != OLTR_EITEM) || largest > 100000)
            fail_msg("a snapshot of %zu bytes that claims %u items: %s, after a request for %zu bytes", m.size,
                     claims[i], oltr_status_name(error.code), (size_t)largest);
    }
    free(m.byte);
    oltr_policy_free(p);
}

/* ---- the simulator without memory ------------------------------------------------------------------------------- */

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
    (void)state;
    char path[] = "/tmp/oltr-memory-XXXXXX";
    int file = mkstemp(path);
    oltr_contestant policies[3] = {{.label = "one"}, {.label = "two"}, {.label = "three"}};
    assert_true(file >= 0);
    close(file);
    for (uint32_t i = 0; i < 3; i++)
        oltr_settings_init(&policies[i].settings, oltr_policy_info_at(i)->name, 6, NULL);
    trial t = make_trial(policies, 3);
    t.path = path;
    assert_true(with_failures(check_trial, &t) > 0);
    for (t.threads = 1; t.threads <= 2; t.threads++)
        assert_true(with_failures(run_trial, &t) > 0);
    assert_true(with_failures(save_trial, &t) > 0);
    assert_true(with_failures(load_trial, &t) > 0);
    unlink(path);
}

static void checkpoints_without_memory(void **state)
{
    (void)state;
    uint64_t out[64];
    until_failure = 0;
    uint32_t n = oltr_checkpoints(1000, 10, out, 64);
    until_failure = -1;
    assert_true(n <= 64); /* nothing, or what it would have been */
}

int main(void)
{
    static suite all;
    fill_prior(&priors);
    list_variants(&variants);
    ON_VARIANTS(&all, &variants, rounds_do_not_allocate);
    ON_VARIANTS(&all, &variants, refusals_do_not_allocate);
    ON_VARIANTS(&all, &variants, reading_does_not_write);
    ON_VARIANTS(&all, &variants, everything_is_given_back);
    ON_VARIANTS(&all, &variants, policies_without_memory);
    ON_VARIANTS(&all, &variants, a_claim_is_no_payment);
    add_test(&all, "the_simulator_without_memory", "sim.h", the_simulator_without_memory, NULL);
    add_test(&all, "checkpoints_without_memory", "sim.h", checkpoints_without_memory, NULL);
    return cmocka_run_group_tests_name("memory", all.test, NULL, NULL);
}
