/* module_stats.h - the counters of `INFO oltr`.
 *
 * Requests are counted in the main thread.  Models and their bytes are also given back by the
 * thread that frees values in the background, so these two are atomic.
 */
#ifndef OLTR_SERVE_REDIS_MODULE_STATS_H
#define OLTR_SERVE_REDIS_MODULE_STATS_H

#include <stdatomic.h>

#include "serve/redis/module_api.h"

typedef struct module_stats {
    unsigned long long ranks, learns;
    unsigned long long duplicates; /* lessons, merges and forgettings with an id seen before */
    unsigned long long merged;
    unsigned long long refused;     /* error replies */
    unsigned long long unknown_ids; /* ranked names that the model did not know */
    unsigned long long removed;     /* items, by REM and TRIM */
    unsigned long long grown;       /* how often a model made room for more items */
    unsigned long long longest_growth_us;
    atomic_ullong models, bytes;
} module_stats;

extern module_stats stats;

int module_stats_register(rm_ctx *ctx);

#endif
