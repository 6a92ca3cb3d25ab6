/* module_api.c - see module_api.h. */
#include "serve/redis/module_api.h"

module_api rm;

typedef int (*find_entry)(const char *name, void **to);

typedef struct entry {
    const char *name;
    size_t at; /* in module_api */
} entry;

static const entry entries[] = {
#define RM_ROW(result, name, parameters) {"RedisModule_" #name, offsetof(module_api, name)},
    RM_ENTRIES(RM_ROW)
#undef RM_ROW
};

static int bind_entry(find_entry find, const entry *e)
{
    void **to = (void **)(void *)((char *)&rm + e->at);
    return find(e->name, to) == RM_OK && *to ? RM_OK : RM_ERR;
}

int module_api_bind(rm_ctx *ctx)
{
    static const entry log = {"RedisModule_Log", offsetof(module_api, Log)};
    find_entry find = *(find_entry *)(void *)ctx;
    if (bind_entry(find, &log) != RM_OK)
        return RM_ERR;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (bind_entry(find, &entries[i]) != RM_OK) {
            rm.Log(ctx, "warning",
                   "oltr needs %s, which this server does not have: use Redis 7.0 or later, or "
                   "Valkey",
                   entries[i].name);
            return RM_ERR;
        }
    return RM_OK;
}
