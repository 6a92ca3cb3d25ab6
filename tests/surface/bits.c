/* bits.c - digests of what every policy of the catalogue does with fixed seeds: its lists, its
 * scores, what it predicts and what it saves.  scripts/cross compares the output of two machines
 * line by line.
 *
 * A policy plays ROUNDS rounds at its defaults, and once more for every other value of its choices.
 * Features, priors and clicks come from integers, +, -, *, / and sqrt alone, so that a difference
 * is the engine's.
 */
#include <oltr/oltr.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 43, SLOTS = 5, DIM = 11, ROUNDS = 300 };

/* ---- input */

/* SplitMix64 */
static double unit(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void draw_features(uint64_t *state, float *x)
{
    for (int i = 0; i < ITEMS; i++, x += DIM) {
        double v[DIM], square = 0;
        for (int j = 0; j < DIM; j++) {
            v[j] = 2 * unit(state) - 0.7;
            square += v[j] * v[j];
        }
        for (int j = 0; j < DIM; j++)
            x[j] = (float)(0.9 * v[j] / sqrt(square));
    }
}

/* ---- digests */

/* FNV-1a, byte by byte from the lowest, whatever the order of the machine. */
static void add_word(uint64_t *digest, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        *digest = (*digest ^ (word >> 8 * i & 0xFF)) * 0x100000001B3u;
}

static void add_double(uint64_t *digest, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    add_word(digest, word);
}

static uint64_t digest_of_snapshot(const oltr_policy *policy)
{
    uint64_t digest = 0xCBF29CE484222325u;
    size_t size = oltr_save_bound(policy);
    unsigned char *bytes = malloc(size);
    if (!bytes || oltr_save(policy, bytes, size, &size) != OLTR_OK)
        exit(1);
    for (size_t i = 0; i < size; i++)
        add_word(&digest, bytes[i]);
    free(bytes);
    return digest;
}

static uint64_t digest_of_belief(const oltr_policy *policy, const oltr_query *query)
{
    double mean[ITEMS], sd[ITEMS];
    uint64_t digest = 0xCBF29CE484222325u;
    if (oltr_predict(policy, query, mean, sd) != OLTR_OK)
        return 0;
    for (int i = 0; i < ITEMS; i++) {
        add_double(&digest, mean[i]);
        add_double(&digest, sd[i]);
    }
    return digest;
}

/* ---- rounds */

typedef struct player {
    oltr_policy *policy;
    oltr_scratch *scratch;
    oltr_query query;
    uint64_t state; /* of the clicks and features */
    uint64_t lists, scores;
} player;

static void play_round(player *p, uint64_t t, float *x)
{
    uint32_t item[SLOTS];
    double score[SLOTS], reward[SLOTS];
    oltr_ranking list = {.k = SLOTS, .item = item, .score = score};
    oltr_feedback seen = {.n_examined = 1 + (uint32_t)(unit(&p->state) * SLOTS), .reward = reward};
    if (p->query.x && t % 3 == 0)
        draw_features(&p->state, x);
    if (oltr_rank(p->policy, &p->query, oltr_rng_at(oltr_rng_make(7, 1), 0, t), p->scratch,
                  &list) != OLTR_OK)
        exit(1);
    for (uint32_t i = 0; i < SLOTS; i++) {
        add_word(&p->lists, item[i]);
        add_double(&p->scores, score[i]);
        reward[i] = unit(&p->state) < 0.1 + 0.6 * item[i] / ITEMS;
    }
    if (oltr_learn(p->policy, &p->query, &list, &seen) != OLTR_OK)
        exit(1);
}

static void play(const oltr_settings *settings, const char *name)
{
    static const uint64_t shown_at[] = {1, 10, 100, ROUNDS};
    float x[ITEMS * DIM];
    oltr_error error;
    player p = {.state = 3, .lists = 0xCBF29CE484222325u, .scores = 0xCBF29CE484222325u};
    p.query = (oltr_query){.n_items = ITEMS};
    p.policy = oltr_policy_new(settings, &error);
    p.scratch = p.policy ? oltr_scratch_new(p.policy) : NULL;
    if (!p.scratch) {
        fprintf(stderr, "%s: %s\n", name, error.msg);
        exit(1);
    }
    if (settings->dim) {
        draw_features(&p.state, x);
        p.query.dim = DIM;
        p.query.x = x;
    }
    uint64_t t = 1;
    for (size_t i = 0; i < sizeof shown_at / sizeof *shown_at; i++) {
        for (; t <= shown_at[i]; t++)
            play_round(&p, t, x);
        printf("%s round %d: lists %016llx scores %016llx belief %016llx snapshot %016llx\n", name,
               (int)shown_at[i], (unsigned long long)p.lists, (unsigned long long)p.scores,
               (unsigned long long)digest_of_belief(p.policy, &p.query),
               (unsigned long long)digest_of_snapshot(p.policy));
    }
    oltr_scratch_free(p.scratch);
    oltr_policy_free(p.policy);
}

/* ---- the catalogue */

static oltr_settings settings_of(const oltr_policy_info *info)
{
    static double a[ITEMS], b[ITEMS];
    oltr_settings settings;
    if (oltr_settings_init(&settings, info->name, ITEMS, NULL) != OLTR_OK)
        exit(1);
    for (int i = 0; i < ITEMS; i++) {
        a[i] = 1.25 + 7 * i % 10;
        b[i] = 10 + i % 3;
    }
    settings.dim = info->contextual ? DIM : 0;
    settings.prior = (oltr_prior){.a = a, .b = b};
    return settings;
}

static int has_prior(const oltr_settings *settings)
{
    for (uint32_t i = 0; i < settings->info->n_params; i++)
        if (strcmp(settings->info->params[i].name, "prior") == 0)
            return settings->info->uses_prior && settings->value[i] > 0;
    return settings->info->uses_prior;
}

static void play_choice(const oltr_policy_info *info, uint32_t param, uint32_t choice)
{
    char name[200];
    oltr_settings settings = settings_of(info);
    const oltr_param *p = &info->params[param];
    settings.value[param] = choice;
    if (!has_prior(&settings))
        settings.prior = (oltr_prior){NULL, NULL, NULL, NULL};
    snprintf(name, sizeof name, "%s %s=%s", info->name, p->name, p->choices[choice]);
    play(&settings, name);
}

int main(void)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        oltr_settings settings = settings_of(info);
        if (!has_prior(&settings))
            settings.prior = (oltr_prior){NULL, NULL, NULL, NULL};
        play(&settings, info->name);
        for (uint32_t j = 0; j < info->n_params; j++)
            for (uint32_t c = 0; info->params[j].type == OLTR_CHOICE && info->params[j].choices[c];
                 c++)
                if (c < info->params[j].initial || c > info->params[j].initial)
                    play_choice(info, j, c);
    }
    return 0;
}
