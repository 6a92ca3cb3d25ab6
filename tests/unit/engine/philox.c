/* philox.c - the generator gives the published words, and a draw is a function of where it stands
 * and of nothing else.
 *
 * Everything random in the engine, on any machine and any number of threads, rests on these two
 * facts.
 */
#include "support/unit.h"
#include "engine/kernels/philox.h"

#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#undef philox4x32 /* a macro of theirs, a function of ours */
#define HAVE_RANDOM123 1
#else
#define HAVE_RANDOM123 0
#endif

/* Of Random123's kat_vectors, the lines "philox4x32 10". */
static const struct {
    uint32_t counter[4], key[2], out[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void blocks_are_the_published_known_answers(void **state)
{
    for (size_t i = 0; i < COUNT(known); i++) {
        uint32_t out[4];
        philox4x32(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

static void blocks_are_those_of_random123(void **state)
{
#if HAVE_RANDOM123
    dice from = {1};
    for (int i = 0; i < 100000; i++) {
        philox4x32_ctr_t counter;
        philox4x32_key_t key;
        uint32_t out[4];
        for (int j = 0; j < 4; j++)
            counter.v[j] = roll32(&from);
        for (int j = 0; j < 2; j++)
            key.v[j] = roll32(&from);
        philox4x32_ctr_t theirs = philox4x32_R(10, counter, key);
        philox4x32(counter.v, key.v, out);
        assert_memory_equal(out, theirs.v, sizeof out);
    }
#else
    print_message("skipped: no Random123 header here\n");
    skip();
#endif
}

/* ---- sequences */

static void the_generator_is_a_value_of_40_bytes(void **state)
{
    assert_int_equal(sizeof(oltr_rng), 40);
}

static void words_in_sequence_are_the_words_of_successive_blocks(void **state)
{
    oltr_rng start = oltr_rng_at(oltr_rng_make(7, 8), 9, 10), rng = start;
    for (uint32_t block = 0; block < 1000; block++) {
        uint32_t counter[4], out[4];
        memcpy(counter, start.counter, sizeof counter);
        counter[0] += block;
        philox4x32(counter, start.key, out);
        for (int i = 0; i < 4; i++)
            assert_int_equal(oltr_rng_u32(&rng), out[i]);
    }
}

static void a_copy_has_the_same_future_wherever_it_is_taken(void **state)
{
    oltr_rng rng = oltr_rng_make(1, 2);
    for (int taken = 0; taken < 40; taken++) {
        oltr_rng copy = rng, original = rng;
        for (int i = 0; i < 20; i++)
            assert_int_equal(oltr_rng_u32(&copy), oltr_rng_u32(&original));
        assert_true(oltr_rng_normal(&copy) == oltr_rng_normal(&original));
        assert_true(oltr_rng_beta(&copy, 0.5, 3) == oltr_rng_beta(&original, 0.5, 3));
        assert_memory_equal(&copy, &original, sizeof copy);
        (void)oltr_rng_u32(&rng);
    }
}

/* ---- the places of a generator */

typedef struct words {
    uint32_t w[4];
} words;

static words first_words(oltr_rng rng)
{
    words out;
    for (int i = 0; i < 4; i++)
        out.w[i] = oltr_rng_u32(&rng);
    return out;
}

static int compare_words(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(words));
}

/* Keys have 64 bits: two of n unrelated generators agree with probability below n^2 / 2^65, here
 * 1e-12. */
static void all_differ(words *block, size_t n)
{
    qsort(block, n, sizeof *block, compare_words);
    for (size_t i = 1; i < n; i++)
        assert_true(compare_words(&block[i - 1], &block[i]) != 0);
}

enum { SIDE = 64 };

static void seeds_and_replications_give_different_generators(void **state)
{
    static words block[SIDE * SIDE];
    for (uint64_t seed = 0; seed < SIDE; seed++)
        for (uint64_t replication = 0; replication < SIDE; replication++)
            block[seed * SIDE + replication] = first_words(oltr_rng_make(seed, replication));
    all_differ(block, SIDE * SIDE);
}

static void every_bit_of_seed_and_replication_matters(void **state)
{
    words block[129] = {first_words(oltr_rng_make(5, 5))};
    for (int bit = 0; bit < 64; bit++) {
        block[1 + bit] = first_words(oltr_rng_make(5 ^ (uint64_t)1 << bit, 5));
        block[65 + bit] = first_words(oltr_rng_make(5, 5 ^ (uint64_t)1 << bit));
    }
    all_differ(block, 129);
}

static void streams_and_rounds_give_different_generators(void **state)
{
    static words block[SIDE * SIDE];
    oltr_rng rng = oltr_rng_make(3, 4);
    for (uint32_t stream = 0; stream < SIDE; stream++)
        for (uint32_t round = 0; round < SIDE; round++)
            block[stream * SIDE + round] = first_words(oltr_rng_at(rng, stream, round));
    all_differ(block, SIDE * SIDE);
}

static void every_bit_of_stream_and_of_48_bits_of_round_matters(void **state)
{
    words block[81];
    oltr_rng rng = oltr_rng_make(3, 4);
    block[80] = first_words(oltr_rng_at(rng, 0, 0));
    for (int bit = 0; bit < 48; bit++)
        block[bit] = first_words(oltr_rng_at(rng, 0, (uint64_t)1 << bit));
    for (int bit = 0; bit < 32; bit++)
        block[48 + bit] = first_words(oltr_rng_at(rng, (uint32_t)1 << bit, 0));
    all_differ(block, 81);
}

static void the_last_rounds_are_as_distinct_as_the_first(void **state)
{
    words block[64];
    const uint64_t last = ((uint64_t)1 << 48) - 1;
    oltr_rng rng = oltr_rng_make(3, 4);
    for (uint64_t i = 0; i < 32; i++) {
        block[i] = first_words(oltr_rng_at(rng, 1, last - i));
        block[32 + i] = first_words(oltr_rng_at(rng, 1, i));
    }
    all_differ(block, 64);
    oltr_rng at = oltr_rng_at(rng, 0xABCDEF01u, last);
    assert_int_equal(at.counter[1], 0xFFFFFFFFu);
    assert_int_equal(at.counter[2] >> 16, 0xFFFF);
    assert_int_equal(at.counter[2] & 0xFFFF, 0); /* the purpose is not touched by the round */
    assert_int_equal(at.counter[3], 0xABCDEF01u);
}

static void same_generator(oltr_rng left, oltr_rng right)
{
    words a = first_words(left), b = first_words(right);
    assert_memory_equal(&a, &b, sizeof a);
}

static void a_place_does_not_depend_on_the_way_to_it(void **state)
{
    oltr_rng rng = oltr_rng_make(11, 12), moved = rng;
    for (int i = 0; i < 7; i++)
        (void)oltr_rng_u32(&moved);
    same_generator(oltr_rng_at(rng, 5, 6), oltr_rng_at(moved, 5, 6));
    same_generator(oltr_rng_at(rng, 5, 6), oltr_rng_at(oltr_rng_at(rng, 1, 2), 5, 6));
    same_generator(oltr_rng_at(rng, 5, 6), oltr_rng_at(oltr_rng_make(11, 12), 5, 6));
}

static void forks_are_the_same_for_the_same_id_and_differ_otherwise(void **state)
{
    static words block[SIDE * SIDE + 1];
    oltr_rng rng = oltr_rng_make(1, 1);
    same_generator(oltr_rng_fork(rng, 77), oltr_rng_fork(rng, 77));
    for (uint64_t id = 0; id < SIDE; id++) {
        oltr_rng fork = oltr_rng_fork(rng, id);
        for (uint64_t inner = 0; inner < SIDE; inner++)
            block[id * SIDE + inner] = first_words(oltr_rng_fork(fork, inner));
    }
    block[SIDE * SIDE] = first_words(rng);
    all_differ(block, SIDE * SIDE + 1);
}

static void every_bit_of_a_forks_id_matters(void **state)
{
    words block[66];
    oltr_rng rng = oltr_rng_make(1, 1);
    block[64] = first_words(oltr_rng_fork(rng, 0));
    block[65] = first_words(rng);
    for (int bit = 0; bit < 64; bit++)
        block[bit] = first_words(oltr_rng_fork(rng, (uint64_t)1 << bit));
    all_differ(block, 66);
}

static void forks_of_different_generators_differ(void **state)
{
    static words block[SIDE * SIDE];
    for (uint64_t seed = 0; seed < SIDE; seed++)
        for (uint64_t id = 0; id < SIDE; id++)
            block[seed * SIDE + id] = first_words(oltr_rng_fork(oltr_rng_make(seed, 0), id));
    all_differ(block, SIDE * SIDE);
}

static void forks_have_rounds_of_their_own(void **state)
{
    static words block[2 * SIDE];
    oltr_rng rng = oltr_rng_make(1, 1), fork = oltr_rng_fork(rng, 3);
    for (uint32_t round = 0; round < SIDE; round++) {
        block[round] = first_words(oltr_rng_at(rng, 0, round));
        block[SIDE + round] = first_words(oltr_rng_at(fork, 0, round));
    }
    all_differ(block, 2 * SIDE);
}

/* ---- words at a position */

static void positions_and_purposes_of_a_round_have_different_words(void **state)
{
    static words block[SIDE * 5 + SIDE];
    static const uint32_t purposes[] = {0, 1, 2, 0xFFFE, PURPOSE_TIES};
    size_t n = 0;
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 1), 2, 3), next = oltr_rng_at(rng, 2, 4);
    for (uint32_t position = 0; position < SIDE; position++) {
        for (size_t i = 0; i < 5; i++)
            words_at(&rng, position, purposes[i], block[n++].w);
        words_at(&next, position, 0, block[n++].w);
    }
    all_differ(block, n);
}

static void words_at_a_position_are_the_block_of_that_counter(void **state)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(1, 1), 21, 0x123456789ABCu);
    uint32_t counter[4] = {17, 0x56789ABCu, 0x12340005u, 21}, expected[4], got[4];
    philox4x32(counter, rng.key, expected);
    words_at(&rng, 17, 5, got);
    assert_memory_equal(got, expected, sizeof got);
}

static void words_become_numbers_inside_their_interval(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 1000, 0x80000001u, UINT32_MAX};
    assert_true(uniform_of_word(0) > 0 && uniform_of_word(UINT32_MAX) < 1);
    assert_true(uniform_of_word(1) > uniform_of_word(0));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        assert_int_equal(below_of_words(0, 0, sizes[i]), 0);
        assert_int_equal(below_of_words(UINT32_MAX, UINT32_MAX, sizes[i]), sizes[i] - 1);
    }
}

static void shapes_that_are_none_give_no_number(void **unused)
{
    static const double bad[] = {0, -1, -INFINITY, INFINITY, NAN};
    oltr_rng rng = oltr_rng_make(1, 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_true(isnan(oltr_rng_gamma(&rng, bad[i])));
        assert_true(isnan(oltr_rng_beta(&rng, bad[i], 1)));
        assert_true(isnan(oltr_rng_beta(&rng, 1, bad[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_the_published_known_answers),
        cmocka_unit_test(blocks_are_those_of_random123),
        cmocka_unit_test(the_generator_is_a_value_of_40_bytes),
        cmocka_unit_test(words_in_sequence_are_the_words_of_successive_blocks),
        cmocka_unit_test(a_copy_has_the_same_future_wherever_it_is_taken),
        cmocka_unit_test(seeds_and_replications_give_different_generators),
        cmocka_unit_test(every_bit_of_seed_and_replication_matters),
        cmocka_unit_test(streams_and_rounds_give_different_generators),
        cmocka_unit_test(every_bit_of_stream_and_of_48_bits_of_round_matters),
        cmocka_unit_test(the_last_rounds_are_as_distinct_as_the_first),
        cmocka_unit_test(a_place_does_not_depend_on_the_way_to_it),
        cmocka_unit_test(forks_are_the_same_for_the_same_id_and_differ_otherwise),
        cmocka_unit_test(every_bit_of_a_forks_id_matters),
        cmocka_unit_test(forks_of_different_generators_differ),
        cmocka_unit_test(forks_have_rounds_of_their_own),
        cmocka_unit_test(positions_and_purposes_of_a_round_have_different_words),
        cmocka_unit_test(words_at_a_position_are_the_block_of_that_counter),
        cmocka_unit_test(words_become_numbers_inside_their_interval),
        cmocka_unit_test(shapes_that_are_none_give_no_number),
    };
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}
