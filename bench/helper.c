/* helper.c - the engine's rounds as one function of a shared library, so that a numpy program can
 * time both in one process. */
#include "measure.h"
#include "players.h"

OLTR_API int64_t oltr_bench_rounds(const char *kind, uint32_t n_items, uint32_t k, uint32_t rounds,
                                   uint32_t warmup);

/* Thread CPU nanoseconds of `rounds` rounds of a policy that has learned for `warmup` rounds.  Each
 * call meets another world. */
int64_t oltr_bench_rounds(const char *kind, uint32_t n_items, uint32_t k, uint32_t rounds,
                          uint32_t warmup)
{
    static uint64_t calls;
    player *p = player_new(kind, n_items, k, ++calls);
    for (uint32_t t = 0; t < warmup; t++)
        player_round(p);
    uint64_t start = thread_ns();
    for (uint32_t t = 0; t < rounds; t++)
        player_round(p);
    uint64_t spent = thread_ns() - start;
    player_free(p);
    return (int64_t)spent;
}
