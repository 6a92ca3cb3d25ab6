/* list_args.c - see list_args.h. */
#include "serve/redis/list_args.h"

#include <string.h>

#include "serve/redis/command_replies.h"

/* ---- lists of names */

oltr_name *take_names(request *r, uint32_t n)
{
    oltr_name *names = request_memory(r, n * sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = name_of(r->argv[r->at++]);
    return names;
}

static bool read_items(request *r, cap_id cap, oltr_list *list)
{
    uint64_t n;
    if (!read_count(r, "the number of items", 1, NO_LIMIT, &n))
        return false;
    if (n > (uint64_t)arguments_left(r))
        return refuse(
            r,
            "BADARG ITEMS has a number and as many ids: the number is %llu, and %d arguments "
            "follow",
            (unsigned long long)n, arguments_left(r));
    if (!within_cap(r, "ITEMS", n, cap))
        return false;
    *list = (oltr_list){.n = (uint32_t)n, .name = take_names(r, (uint32_t)n)};
    return true;
}

static bool read_fixed(request *r, cap_id cap, oltr_list *list)
{
    uint64_t size;
    size_t bytes;
    if (!read_count(r, "the size of an id", 0, NO_LIMIT, &size))
        return false;
    rm_string *argument = read_argument(r, "the ids");
    if (!argument)
        return false;
    const char *blob = rm.StringPtrLen(argument, &bytes);
    if (size < 1)
        return refuse(r, "BADITEM an id has 1 to %d bytes, not 0", OLTR_LONGEST_NAME);
    if (bytes == 0 || bytes % size)
        return refuse(r, "BADSHAPE FIXED has %zu bytes, not one or more ids of %llu bytes each",
                      bytes, (unsigned long long)size);
    if (!within_cap(r, "ids of FIXED", bytes / size, cap))
        return false;
    uint32_t n = (uint32_t)(bytes / size);
    oltr_name *names = request_memory(r, n * sizeof *names), one = name_at(blob, size);
    for (uint32_t i = 0; i < n; i++)
        names[i] = (oltr_name){blob + i * size, one.size};
    *list = (oltr_list){.n = n, .name = names};
    return true;
}

/* ---- rows */

/* Little-endian floats at any address. */
static const float *floats_of(request *r, const char *blob, size_t bytes)
{
    static const uint32_t one = 1;
    bool little = *(const unsigned char *)&one == 1;
    if (little && (uintptr_t)blob % sizeof(float) == 0)
        return (const float *)(const void *)blob;
    float *to = request_memory(r, bytes);
    for (size_t i = 0; i < bytes / 4; i++) {
        const unsigned char *b = (const unsigned char *)blob + 4 * i;
        uint32_t bits = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        memcpy(&to[i], &bits, sizeof bits);
    }
    return to;
}

/* The engine's own sentence for rows where names are needed. */
static bool refuse_rows(request *r, const ranker *k)
{
    oltr_error error = {OLTR_EFEATURE, ""};
    float row = 0;
    double mean;
    oltr_list list = {.n = 1, .x = &row};
    oltr_model_predict(k->model, &list, &mean, NULL, &error);
    return refuse_error(r, &error, false);
}

static bool read_rows(request *r, const ranker *k, cap_id cap, oltr_list *list)
{
    const oltr_settings *s = &oltr_model_settings_of(k->model)->policy;
    size_t bytes, row = sizeof(float) * s->dim;
    rm_string *argument = read_argument(r, "the rows");
    if (!argument)
        return false;
    const char *blob = rm.StringPtrLen(argument, &bytes);
    if (!s->info->contextual)
        return refuse_rows(r, k);
    if (bytes == 0 || bytes % row)
        return refuse(r,
                      "BADSHAPE FP32 has %zu bytes, not one or more rows of %zu features of 4 "
                      "bytes each",
                      bytes, row / sizeof(float));
    if (!within_cap(r, "rows of FP32", bytes / row, cap))
        return false;
    *list = (oltr_list){.n = (uint32_t)(bytes / row), .x = floats_of(r, blob, bytes)};
    return true;
}

/* ---- any list */

static bool read_given(request *r, const ranker *k, cap_id cap, const char *expected,
                       oltr_list *list)
{
    if (take_word(r, "ITEMS"))
        return read_items(r, cap, list);
    if (take_word(r, "FIXED"))
        return read_fixed(r, cap, list);
    if (take_word(r, "FP32"))
        return read_rows(r, k, cap, list);
    return refuse(r, "BADARG argument %d: expected %s", r->at, expected);
}

bool read_list(request *r, const ranker *k, oltr_list *list)
{
    *list = (oltr_list){.n = 0};
    return take_word(r, "ALL") ||
           read_given(r, k, CAP_CANDIDATES, "ALL, ITEMS, FIXED or FP32", list);
}

bool read_shown(request *r, const ranker *k, oltr_list *list)
{
    return read_given(r, k, CAP_SLOTS, "ITEMS, FIXED or FP32", list);
}

uint32_t list_size(const ranker *k, const oltr_list *list)
{
    return list->name || list->x ? list->n : oltr_model_items(k->model);
}

/* ---- how a list is made */

bool read_greedy(request *r, void *into)
{
    (void)r;
    ((ranking_options *)into)->show.greedy = 1;
    return true;
}

bool read_fresh(request *r, void *into)
{
    oltr_show *show = &((ranking_options *)into)->show;
    uint64_t most, least = 0;
    if (!read_count(r, "the most fresh items", 0, UINT32_MAX, &most) ||
        !read_number(r, "BADARG", "the observations below which an item is fresh",
                     &show->fresh_below))
        return false;
    if (take_word(r, "LEAST") && !read_count(r, "the least fresh items", 0, UINT32_MAX, &least))
        return false;
    show->most_fresh = (uint32_t)most;
    show->least_fresh = (uint32_t)least;
    return true;
}

/* ---- the seed */

static oltr_rng process_rng; /* of this process */

void rng_register(void)
{
    uint64_t seed[2];
    rm.GetRandomBytes((unsigned char *)seed, sizeof seed);
    process_rng = oltr_rng_make(seed[0], seed[1]);
}

bool read_seed(request *r, void *into)
{
    ranking_options *o = into;
    size_t n;
    rm_string *argument = read_argument(r, "the text of the seed");
    if (!argument)
        return false;
    const char *text = rm.StringPtrLen(argument, &n);
    o->rng = oltr_rng_text(text, n);
    o->seeded = true;
    return true;
}

oltr_rng rng_of(const ranking_options *o)
{
    static uint64_t requests;
    requests = (requests + 1) & (((uint64_t)1 << 48) - 1);
    return o->seeded ? o->rng : oltr_rng_at(process_rng, 0, requests);
}
