/* shard.c - see shard.h. */
#include "app/run/shard.h"

#include "report/io/whole_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 1000000 };

/* A whole number from 1 to MOST_SHARDS; 0 if it is none.  *end: behind it. */
static uint32_t read_count(const char *text, const char **end)
{
    uint32_t value = 0;
    size_t digits = strspn(text, "0123456789");
    *end = text + digits;
    if (digits == 0 || digits > 7 || *text == '0')
        return 0;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (uint32_t)(text[i] - '0');
    return value <= MOST_SHARDS ? value : 0;
}

static bool read_shard(const char *text, const char *between, const char *after, oltr_shard *out)
{
    uint32_t number = read_count(text, &text), count = 0;
    if (number > 0 && strncmp(text, between, strlen(between)) == 0)
        count = read_count(text + strlen(between), &text);
    if (count == 0 || number > count || strcmp(text, after) != 0)
        return false;
    *out = (oltr_shard){number - 1, count};
    return true;
}

bool shard_parse(const char *text, oltr_shard *out)
{
    return read_shard(text, "/", "", out);
}

static char *file_of(const char *folder, const char *what, oltr_shard shard)
{
    char name[64];
    if (shard.count == 0) {
        snprintf(name, sizeof name, "%s.oltr", what);
    } else {
        snprintf(name, sizeof name, "%s-%" PRIu32 "-of-%" PRIu32 ".oltr", what, shard.index + 1,
                 shard.count);
    }
    return file_join(folder, name);
}

char *shard_partial(const char *folder, oltr_shard shard)
{
    return file_of(folder, "partial", shard);
}

char *shard_file(const char *folder, oltr_shard shard)
{
    return file_of(folder, "shard", shard);
}

bool shard_is_file(const char *name)
{
    oltr_shard shard;
    return strncmp(name, "shard-", 6) == 0 && read_shard(name + 6, "-of-", ".oltr", &shard);
}
