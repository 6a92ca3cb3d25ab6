/* module_stats.c - see module_stats.h. */
#include "serve/redis/module_stats.h"

module_stats stats;

static void write_stats(rm_info_ctx *ctx, int for_crash_report)
{
    (void)for_crash_report;
    const struct {
        const char *name;
        unsigned long long value;
    } field[] = {{"ranks", stats.ranks},
                 {"learns", stats.learns},
                 {"duplicates", stats.duplicates},
                 {"merged", stats.merged},
                 {"refused", stats.refused},
                 {"unknown_ids", stats.unknown_ids},
                 {"removed", stats.removed},
                 {"grown", stats.grown},
                 {"longest_growth_us", stats.longest_growth_us},
                 {"models", stats.models},
                 {"bytes", stats.bytes}};
    if (rm.InfoAddSection(ctx, "") != RM_OK)
        return;
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        rm.InfoAddFieldULongLong(ctx, field[i].name, field[i].value);
}

int module_stats_register(rm_ctx *ctx)
{
    return rm.RegisterInfoFunc(ctx, write_stats);
}
