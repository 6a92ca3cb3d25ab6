/* names.c - the tables of a model: names and ids against arrays that are searched from end to end,
 * and the hash that is part of the formats against its published answers. */
#include "support/unit.h"
#include "engine/base/memory.h"
#include "engine/model/ids.h"
#include "engine/model/names.h"

/* ---- the hash */

/* Key 00 01 .. 0F, input 00 01 ..: the first answers are those of the reference code of SipHash;
 * OpenSSL 3.0 gives all of them. */
static void siphash_gives_the_published_answers(void **state)
{
    static const struct {
        size_t size;
        const char *hash;
    } known[] = {{0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
                 {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},  {8, "3b62a9ba6258f5610f83e264f31497b4"},
                 {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {16, "6ee2a4ca67b054bbfd3315bf85230577"},
                 {63, "5150d1772f50834a503e069a973fbd7c"}};
    const uint64_t key[2] = {0x0706050403020100u, 0x0F0E0D0C0B0A0908u};
    unsigned char input[64];
    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (unsigned char)i;
    for (size_t k = 0; k < COUNT(known); k++) {
        char text[33];
        hash128 hash = siphash(key, input, known[k].size);
        for (size_t i = 0; i < 16; i++)
            snprintf(text + 2 * i, 3, "%02x", (unsigned)(hash.word[i / 8] >> (8 * (i % 8))) & 255);
        assert_string_equal(text, known[k].hash);
    }
}

/* A change of these would give every session another list, and count lessons twice. */
static void texts_and_ids_have_the_same_numbers_for_ever(void **state)
{
    oltr_rng rng = oltr_rng_text("session 42", 10);
    hash128 id = id_hash("list-7", 6);
    assert_int_equal(rng.key[0], 0x544741FBu);
    assert_int_equal(rng.key[1], 0xFA7CAE39u);
    assert_true(id.word[0] == 0x0E4B14F120AFD3F3u && id.word[1] == 0xE7DE424559FB9F9Cu);
}

/* ---- names */

enum { MOST = 900, LONGEST = 40 };

/* The obvious twin: names in the order of their numbers. */
typedef struct twin {
    uint32_t n;
    struct {
        char bytes[LONGEST];
        uint32_t size;
    } name[MOST];
} twin;

static uint32_t twin_find(const twin *t, oltr_name name)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->name[i].size == name.size && memcmp(t->name[i].bytes, name.bytes, name.size) == 0)
            return i;
    return NO_NAME;
}

static uint32_t twin_add(twin *t, oltr_name name)
{
    uint32_t found = twin_find(t, name);
    if (found != NO_NAME)
        return found;
    memcpy(t->name[t->n].bytes, name.bytes, name.size);
    t->name[t->n].size = name.size;
    return t->n++;
}

/* Short names of few letters, so that many are met again; some longer than a word of the hash. */
static oltr_name some_name(dice *d, char bytes[LONGEST])
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, LONGEST};
    uint32_t size = sizes[below(d, COUNT(sizes))];
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (char)(i + 2 < size ? 0 : below(d, 9));
    return (oltr_name){bytes, size};
}

static void same_names(const names *t, const twin *w)
{
    assert_int_equal(t->n, w->n);
    for (uint32_t i = 0; i < t->n; i++) {
        oltr_name name = names_at(t, i);
        assert_int_equal(name.size, w->name[i].size);
        assert_memory_equal(name.bytes, w->name[i].bytes, name.size);
        assert_int_equal(names_find(t, name), i);
    }
}

/* Many names at once, known and unknown ones, also more than are looked for together; half of the
 * lists have names of two words only, which are found another way. */
static void same_when_together(const names *t, const twin *w, dice *d)
{
    char bytes[70][LONGEST];
    oltr_name name[70] = {{NULL, 0}};
    uint32_t number[71], n = below(d, 71);
    bool words = one_in(d, 2);
    for (uint32_t i = 0; i < n; i++)
        do
            name[i] = some_name(d, bytes[i]);
        while (words && (name[i].size < 8 || name[i].size > 16));
    number[n] = 12345;
    names_find_all(t, name, n, number);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(number[i], twin_find(w, name[i]));
    assert_int_equal(number[n], 12345);
}

static void add_some(names *t, twin *w, uint32_t most, dice *d)
{
    char bytes[LONGEST];
    uint32_t before = t->n;
    for (uint32_t i = 0; i < 3 && w->n < most; i++) {
        oltr_name name = some_name(d, bytes);
        assert_int_equal(names_find(t, name), twin_find(w, name));
        assert_int_equal(names_reserve(t, 1, name.size, NULL), OLTR_OK);
        assert_int_equal(names_add(t, name), twin_add(w, name));
    }
    if (one_in(d, 4)) {
        names_undo(t, before);
        w->n = before;
    }
}

static void names_are_those_of_a_list(void **state)
{
    const uint64_t keys[][2] = {{0, 0}, {1, 2}, {0x9E3779B97F4A7C15u, 0xBF58476D1CE4E5B9u}};
    for (size_t k = 0; k < 2 * COUNT(keys); k++) {
        static twin w;
        names t;
        dice d = {k + 1};
        uint32_t most = k % 2 ? 24 : MOST;
        w.n = 0;
        assert_int_equal(names_init(&t, keys[k / 2], 1, NULL), OLTR_OK);
        for (int step = 0; step < 1000 * EFFORT; step++) {
            add_some(&t, &w, most, &d);
            if (w.n && (one_in(&d, 2) || w.n > most - 4)) {
                uint32_t number = below(&d, w.n);
                assert_int_equal(names_remove(&t, number), w.n - 1);
                w.name[number] = w.name[--w.n];
            }
            if (one_in(&d, 50))
                names_compact(&t, NULL);
            if (one_in(&d, 20))
                same_names(&t, &w);
            same_when_together(&t, &w, &d);
        }
        assert_int_equal(t.room > FEW_NAMES, most > FEW_NAMES);
        names copy;
        assert_int_equal(names_copy(&copy, &t, NULL), OLTR_OK);
        same_names(&copy, &w);
        names_end(&copy, NULL);
        names_end(&t, NULL);
    }
}

static void removed_names_give_their_bytes_back(void **state)
{
    const uint64_t key[2] = {3, 4};
    names t;
    char bytes[64] = {0};
    assert_int_equal(names_init(&t, key, 8, NULL), OLTR_OK);
    for (uint32_t i = 0; i < 20000; i++) {
        memcpy(bytes, &i, sizeof i);
        assert_int_equal(names_reserve(&t, 1, sizeof bytes, NULL), OLTR_OK);
        names_add(&t, (oltr_name){bytes, sizeof bytes});
        if (t.n > 10)
            names_remove(&t, 0);
        names_compact(&t, NULL);
    }
    assert_true(t.text_room <= 8192);
    assert_int_equal(t.room, 12);
    names_end(&t, NULL);
}

static void cleared_tables_are_as_new(void **state)
{
    const uint64_t key[2] = {7, 8};
    names t;
    char bytes[8];
    assert_int_equal(names_init(&t, key, 8, NULL), OLTR_OK);
    for (uint32_t n = 1; n < 3000; n = 2 * n + n / 3) { /* few of the slots, then many */
        for (uint32_t i = 0; i < 2 * n; i++) {
            oltr_name name = {bytes, (uint32_t)snprintf(bytes, sizeof bytes, "%u", i % n)};
            assert_int_equal(names_reserve(&t, 1, name.size, NULL), OLTR_OK);
            assert_int_equal(names_find(&t, name), i < n ? NO_NAME : i - n);
            assert_int_equal(names_add(&t, name), i % n);
        }
        names_clear(&t);
        assert_int_equal(t.n, 0);
        assert_int_equal(t.text_used, 0);
    }
    names_end(&t, NULL);
}

/* ---- ids */

static void ids_are_the_last_ones(void **state)
{
    for (uint32_t window = 0; window < 40; window += 1 + window / 8) {
        ids w = {.window = window};
        hash128 seen[4000];
        dice d = {window + 1};
        uint32_t n = 0;
        for (int step = 0; step < 300; step++) {
            /* Many in the same slot, with the same or another part of the hash in it. */
            hash128 id = {{(uint64_t)below(&d, 3) << 60 | below(&d, 4) << 4, below(&d, 30)}};
            bool expected = false;
            for (uint32_t i = n > window ? n - window : 0; i < n; i++)
                expected |= seen[i].word[0] == id.word[0] && seen[i].word[1] == id.word[1];
            ids_fetch(&w, id);
            assert_int_equal(ids_has(&w, id), expected);
            if (expected)
                continue;
            assert_int_equal(ids_reserve(&w, w.n + 1, NULL), OLTR_OK);
            ids_add(&w, id);
            seen[n++] = id;
            assert_int_equal(w.n, n < window ? n : window);
            for (uint32_t i = 0; i < w.n; i++)
                assert_memory_equal(ids_at(&w, i).word, seen[n - w.n + i].word, sizeof id.word);
        }
        ids_end(&w, NULL);
    }
}

/* ---- room */

static void room_grows_in_small_steps_where_it_is_small(void **state)
{
    static const uint32_t rooms[] = {4,   8,   12,  16,  24,  32,  48,   64,  96,
                                     128, 192, 256, 384, 512, 768, 1024, 2048};
    for (uint32_t n = 1, i = 0; n <= 2048; n++) {
        i += n > rooms[i];
        assert_int_equal(room_for(n), rooms[i]);
    }
    assert_int_equal(room_for(OLTR_MOST_MODEL_ITEMS + 1), 1 << 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_gives_the_published_answers),
        cmocka_unit_test(texts_and_ids_have_the_same_numbers_for_ever),
        cmocka_unit_test(names_are_those_of_a_list),
        cmocka_unit_test(removed_names_give_their_bytes_back),
        cmocka_unit_test(cleared_tables_are_as_new),
        cmocka_unit_test(ids_are_the_last_ones),
        cmocka_unit_test(room_grows_in_small_steps_where_it_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
