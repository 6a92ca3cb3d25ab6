/* cpu.c - the CPU mask: its names, its limits, and that it can change while other threads rank. */
#include <pthread.h>

#include "unit.h"
#include "engine/rng/sample.h"

static void names_are_those_of_the_environment_variable(void **state)
{
    (void)state;
    assert_string_equal(oltr_cpu_name(OLTR_CPU_PLAIN), "plain");
    assert_string_equal(oltr_cpu_name(OLTR_CPU_AVX2), "avx2");
    assert_string_equal(oltr_cpu_name(OLTR_CPU_AVX512), "avx512");
    assert_string_equal(oltr_cpu_name(OLTR_CPU_NEON), "neon");
    assert_null(oltr_cpu_name(OLTR_CPU_NEON + 1));
    assert_null(oltr_cpu_name(UINT32_MAX));
}

/* A limit above what was found, or of another kind of processor, changes nothing. */
static void a_limit_is_an_upper_bound(void **state)
{
    (void)state;
    const uint32_t found = oltr_cpu_found();
    for (uint32_t most = 0; most < 6; most++) {
        bool lower = most == OLTR_CPU_PLAIN || (most < found && found != OLTR_CPU_NEON);
        assert_int_equal(oltr_cpu_limit(most), lower ? most : found);
        assert_int_equal(oltr_cpu(), lower ? most : found);
    }
    assert_int_equal(oltr_cpu_limit(UINT32_MAX), found);
}

static void *toggle(void *stop)
{
    for (uint32_t most = 0; !atomic_load((atomic_int *)stop); most = (most + 1) % 4)
        oltr_cpu_limit(most);
    return NULL;
}

static void draws_do_not_depend_on_a_mask_that_changes(void **state)
{
    enum { N = 100, ROOM = 128 };
    static float plain[ROOM], found[ROOM];
    (void)state;
    atomic_int stop = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, toggle, &stop), 0);
    for (uint64_t round = 0; round < 500 * EFFORT; round++) {
        oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 1), 0, round);
        standard_normals_plain(&rng, N, plain);
        standard_normals(&rng, N, found);
        assert_memory_equal(plain, found, sizeof plain);
    }
    atomic_store(&stop, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    oltr_cpu_limit(UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_environment_variable),
        cmocka_unit_test(a_limit_is_an_upper_bound),
        cmocka_unit_test(draws_do_not_depend_on_a_mask_that_changes),
    };
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
