/* players.c - see players.h. */
#include "players.h"

#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "twins.h"

enum { STREAM_RANK, STREAM_WORLD };

static item_world world_new(uint32_t n_items, uint64_t seed)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, 0), STREAM_WORLD, 0);
    item_world w = {.n_items = n_items,
                    .a = array_of(n_items, sizeof(double)),
                    .b = array_of(n_items, sizeof(double)),
                    .threshold = array_of(n_items, sizeof(uint32_t)),
                    .word = array_of(WORDS + MAX_SLOTS, sizeof(uint32_t))};
    for (uint32_t i = 0; i < n_items; i++) {
        w.a[i] = 1 + oltr_rng_below(&rng, 10);
        w.b[i] = 10;
        w.threshold[i] = (uint32_t)(oltr_rng_beta(&rng, w.a[i], w.b[i]) * 0x1p32);
    }
    for (uint32_t i = 0; i < WORDS + MAX_SLOTS; i++)
        w.word[i] = oltr_rng_u32(&rng);
    return w;
}

static bool takes_whole_prior(const char *kind)
{
    return strcmp(kind, "ts-beta") == 0 || strcmp(kind, "ts-hyper") == 0 ||
           strcmp(kind, "bayes-ucb") == 0 || strcmp(kind, "ensemble") == 0 ||
           strcmp(kind, "bubblerank") == 0;
}

static oltr_policy *policy_new(const char *kind, const item_world *world)
{
    oltr_error error;
    oltr_settings settings;
    if (oltr_settings_init(&settings, kind, world->n_items, &error) != OLTR_OK)
        die("%s", error.msg);
    if (takes_whole_prior(kind)) {
        settings.prior = (oltr_prior){.a = world->a, .b = world->b};
        if (oltr_settings_set(&settings, "prior", "full", &error) != OLTR_OK)
            die("%s", error.msg);
    }
    oltr_policy *policy = oltr_policy_new(&settings, &error);
    if (!policy)
        die("%s", error.msg);
    return policy;
}

oltr_feedback player_scan(player *p)
{
    return (oltr_feedback){scan(&p->world, p->t, p->item, p->k, p->reward), p->reward};
}

static void engine_round(player *p)
{
    const oltr_query *query = p->query ? &p->query[p->t % p->n_queries] : NULL;
    oltr_ranking shown = {.k = p->k, .item = p->item};
    oltr_status ranked =
        oltr_rank(p->policy, query, oltr_rng_at(p->rng, STREAM_RANK, p->t), p->scratch, &shown);
    oltr_feedback seen = player_scan(p);
    oltr_status learned = oltr_learn(p->policy, query, &shown, &seen);
    if (ranked != OLTR_OK || learned != OLTR_OK)
        die("a round failed: %s", oltr_strerror(ranked != OLTR_OK ? ranked : learned));
    p->t++;
}

player *player_start(uint32_t n_items, uint32_t k, uint64_t seed)
{
    if (k < 1 || k > MAX_SLOTS || k > n_items)
        die("%u slots for %u items: need 1 to %d slots, and at least as many items", k, n_items,
            MAX_SLOTS);
    player *p = array_of(1, sizeof *p);
    p->world = world_new(n_items, seed);
    p->t = 1;
    p->k = k;
    return p;
}

player *player_new(const char *kind, uint32_t n_items, uint32_t k, uint64_t seed)
{
    player *p = player_start(n_items, k, seed);
    p->round = engine_round;
    p->policy = policy_new(kind, &p->world);
    p->scratch = oltr_scratch_new(p->policy);
    if (!p->scratch)
        die("out of memory");
    p->rng = oltr_rng_make(seed, 1);
    return p;
}

void player_free(player *p)
{
    void *arrays[] = {p->world.a, p->world.b, p->world.threshold, p->world.word, p->n,
                      p->s,       p->score};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    oltr_scratch_free(p->scratch);
    oltr_policy_free(p->policy);
    twin_gsl_free(p->gsl);
    free(p);
}

group group_new(const char *kind, score_items *scores, uint32_t n_items, uint32_t k, uint32_t n,
                uint32_t warmup)
{
    group g = {n, array_of(n, sizeof *g.player)};
    for (uint32_t i = 0; i < n; i++)
        g.player[i] =
            scores ? twin_new(scores, n_items, k, i + 1) : player_new(kind, n_items, k, i + 1);
    play_rounds(&g, n * warmup);
    return g;
}

void group_free(group *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        player_free(g->player[i]);
    free(g->player);
}

void play_rounds(void *group_, uint32_t rounds)
{
    const group *g = group_;
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t r = 0; r < rounds / g->n; r++)
            g->player[i]->round(g->player[i]);
}

void play_users(void *group_, uint32_t rounds)
{
    const group *g = group_;
    static volatile uint32_t sink;
    uint32_t examined = 0;
    for (uint32_t i = 0; i < g->n; i++)
        for (uint32_t r = 0; r < rounds / g->n; r++) {
            player *p = g->player[i];
            examined += scan(&p->world, p->t + r, p->item, p->k, p->reward);
        }
    sink = examined;
    (void)sink;
}
