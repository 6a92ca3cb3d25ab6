/* effort.c - how often learning reads the list of named candidates, counted in pages instead of
 * seconds.
 *
 * The 10,000 names lie in pages that may not be read.  A read of one raises a signal, whose handler
 * counts it, opens the page, and closes the one that was opened before the last; two stay open, so
 * that a load across their border ends.  Reading the list once from end to end counts each page
 * once; a linear search for every shown item counts each page many times (210 pages of 10 in
 * lints when its rows were found by such a search).
 */
#define _GNU_SOURCE
#include "support/unit.h"

#include <oltr/oltr.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 10000, K = 10, DIM = 4, MOST_PASSES = 2 };

static struct {
    uint32_t *item; /* (N) at the start of the first page */
    size_t page, n_pages;
    char *open[2];
    volatile uint32_t touched;
} guarded;

static void close_page(char *page)
{
    if (page && mprotect(page, guarded.page, PROT_NONE) != 0)
        abort();
}

static void count_page(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr, first = (uintptr_t)guarded.item;
    if (at < first || at >= first + guarded.n_pages * guarded.page) {
        signal(number,
               SIG_DFL); /* a fault of another kind: the access is repeated and ends the test */
        return;
    }
    char *page = (char *)guarded.item + (at - first) / guarded.page * guarded.page;
    if (mprotect(page, guarded.page, PROT_READ) != 0)
        abort();
    close_page(guarded.open[0]);
    guarded.open[0] = guarded.open[1];
    guarded.open[1] = page;
    guarded.touched++;
}

/* The names in falling order, so that neither their order nor their range proves them distinct. */
static int set_up(void **state)
{
    guarded.page = (size_t)sysconf(_SC_PAGESIZE);
    guarded.n_pages = (N * sizeof(uint32_t) + guarded.page - 1) / guarded.page;
    guarded.item = mmap(NULL, guarded.n_pages * guarded.page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guarded.item == MAP_FAILED)
        return -1;
    for (uint32_t i = 0; i < N; i++)
        guarded.item[i] = N - 1 - i;
    return 0;
}

/* In the test itself: cmocka sets handlers of its own before each test. */
static void count_faults(void)
{
    struct sigaction action = {.sa_sigaction = count_page, .sa_flags = SA_SIGINFO | SA_NODEFER};
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
    assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
}

static void guard(void)
{
    guarded.touched = 0;
    guarded.open[0] = guarded.open[1] = NULL;
    assert_int_equal(mprotect(guarded.item, guarded.n_pages * guarded.page, PROT_NONE), 0);
}

/* The pages that were touched since guard(). */
static uint32_t unguard(void)
{
    assert_int_equal(mprotect(guarded.item, guarded.n_pages * guarded.page, PROT_READ), 0);
    return guarded.touched;
}

static void few_passes(const char *kind, uint32_t touched)
{
    if (touched > MOST_PASSES * guarded.n_pages)
        fail_msg("%s: oltr_learn touched %u pages of a list of %u: more than %u passes over it",
                 kind, (unsigned)touched, (unsigned)guarded.n_pages, (unsigned)MOST_PASSES);
}

/* Learns from the K items that lie last in the list of all items. */
static void one_lesson(oltr_policy *policy, const float *x)
{
    const char *kind = oltr_policy_settings(policy)->info->name;
    uint32_t item[K];
    double reward[K] = {0, 1};
    oltr_query query = {.n_items = N, .item = guarded.item};
    if (x)
        query.dim = DIM, query.x = x, query.stride = DIM;
    oltr_ranking shown = {.k = K, .item = item};
    for (uint32_t slot = 0; slot < K; slot++)
        item[slot] = slot;
    oltr_feedback seen = {.n_examined = K, .reward = reward};
    guard();
    oltr_status status = oltr_learn(policy, &query, &shown, &seen);
    few_passes(kind, unguard());
    assert_int_equal(status, OLTR_OK);
}

/* toprank orders all candidates when it learns, which reads them in another order. */
static bool orders_candidates(const oltr_policy_info *info)
{
    return strcmp(info->name, "toprank") == 0;
}

static void candidates_are_read_a_few_times(void **state)
{
    count_faults();
    float *x = exactly((size_t)N * DIM, sizeof *x);
    for (uint32_t i = 0; i < N * DIM; i++)
        x[i] = (float)(i % 7) * 0.1f;
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (orders_candidates(info))
            continue;
        oltr_settings settings;
        oltr_error error;
        assert_int_equal(oltr_settings_init(&settings, info->name, N, &error), OLTR_OK);
        if (info->contextual)
            settings.dim = DIM;
        oltr_policy *policy = oltr_policy_new(&settings, &error);
        if (!policy)
            fail_msg("%s: %s", info->name, error.msg);
        for (uint32_t round = 0; round < 3; round++)
            one_lesson(policy, info->contextual ? x : NULL);
        oltr_policy_free(policy);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(candidates_are_read_a_few_times)};
    return cmocka_run_group_tests_name("effort", tests, set_up, NULL);
}
