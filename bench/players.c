/* players.c - see players.h. */
#include "players.h"

#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { STREAM_RANK, STREAM_WORLD };

static void *array_of(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (!memory)
        die("out of memory");
    return memory;
}

field field_new(uint32_t n_items, uint64_t seed)
{
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, 0), STREAM_WORLD, 0);
    field f = {.n_items = n_items,
               .a = array_of(n_items, sizeof(double)),
               .b = array_of(n_items, sizeof(double)),
               .threshold = array_of(n_items, sizeof(uint32_t)),
               .word = array_of(WORDS + MAX_SLOTS, sizeof(uint32_t))};
    for (uint32_t i = 0; i < n_items; i++) {
        f.a[i] = 1 + oltr_rng_below(&rng, 10);
        f.b[i] = 10;
        f.threshold[i] = (uint32_t)(oltr_rng_beta(&rng, f.a[i], f.b[i]) * 0x1p32);
    }
    for (uint32_t i = 0; i < WORDS + MAX_SLOTS; i++)
        f.word[i] = oltr_rng_u32(&rng);
    return f;
}

void field_free(field *f)
{
    free(f->a);
    free(f->b);
    free(f->threshold);
    free(f->word);
}

static int takes_whole_prior(const char *kind)
{
    return strcmp(kind, "ts-beta") == 0 || strcmp(kind, "bayes-ucb") == 0 ||
           strcmp(kind, "ensemble") == 0;
}

static oltr_policy *policy_new(const char *kind, const field *world)
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

player *player_new(const char *kind, uint32_t n_items, uint32_t k, uint64_t seed)
{
    if (k < 1 || k > MAX_SLOTS || k > n_items)
        die("a player shows from 1 to %d items, no more than there are", MAX_SLOTS);
    player *p = array_of(1, sizeof *p);
    p->world = field_new(n_items, seed);
    p->policy = policy_new(kind, &p->world);
    p->scratch = oltr_scratch_new(p->policy);
    if (!p->scratch)
        die("out of memory");
    p->rng = oltr_rng_make(seed, 1);
    p->t = 1;
    p->shown = (oltr_ranking){.k = k, .item = p->item};
    return p;
}

void player_free(player *p)
{
    field_free(&p->world);
    oltr_scratch_free(p->scratch);
    oltr_policy_free(p->policy);
    free(p);
}

void player_round(player *p)
{
    const oltr_query *query = p->query ? &p->query[p->t % p->n_queries] : NULL;
    oltr_status ranked =
        oltr_rank(p->policy, query, oltr_rng_at(p->rng, STREAM_RANK, p->t), p->scratch, &p->shown);
    oltr_feedback seen = {scan(&p->world, p->t, p->item, p->shown.k, p->reward), p->reward};
    oltr_status learned = oltr_learn(p->policy, query, &p->shown, &seen);
    if (ranked != OLTR_OK || learned != OLTR_OK)
        die("a round failed: %s", oltr_strerror(ranked != OLTR_OK ? ranked : learned));
    p->t++;
}

crew crew_new(const char *kind, uint32_t n_items, uint32_t k, uint32_t n, uint32_t warmup)
{
    crew c = {n, array_of(n, sizeof *c.player)};
    for (uint32_t i = 0; i < n; i++) {
        c.player[i] = player_new(kind, n_items, k, i + 1);
        for (uint32_t t = 0; t < warmup; t++)
            player_round(c.player[i]);
    }
    return c;
}

void crew_free(crew *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        player_free(c->player[i]);
    free(c->player);
}

void play_rounds(void *crew_, uint32_t rounds)
{
    const crew *c = crew_;
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t r = 0; r < rounds / c->n; r++)
            player_round(c->player[i]);
}

void play_users(void *crew_, uint32_t rounds)
{
    const crew *c = crew_;
    static volatile uint32_t sink;
    uint32_t examined = 0;
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t r = 0; r < rounds / c->n; r++) {
            player *p = c->player[i];
            examined += scan(&p->world, p->t + r, p->item, p->shown.k, p->reward);
        }
    sink = examined;
    (void)sink;
}
