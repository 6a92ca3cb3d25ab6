/* rounds.c - how long a round takes, compared with a lower bound and with plain C.
 *
 * A round is oltr_rank, a user, oltr_learn, by policies that have learned for WARMUP rounds.  Rows
 * with a target compare it with
 *   - the bare normals of the same generator: sampling every item cannot take less;
 *   - plain C of the same policy (twins.h), whose indices the engine must reproduce.
 * Rows without a target: all policies, with ranking and learning timed separately; named
 * candidates; the plural calls; snapshots.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rng/sample.h"
#include "measure.h"
#include "players.h"
#include "table.h"
#include "twins.h"

enum { WARMUP = 2000, GROUP = 8, REPETITIONS = 25, MIN_REPETITIONS = 15 };

typedef struct options {
    uint32_t repetitions;
    const char *json, *only;
    bool strict;
} options;

/* ---- Gaussian Thompson sampling compared with its own normals */

typedef struct normals {
    oltr_rng rng;
    size_t n;
    float *mean, *sd, *out; /* (padded) */
} normals;

static normals normals_new(size_t n)
{
    normals b = {oltr_rng_at(oltr_rng_make(1, 1), 0, 1), n, array_of(padded(n), sizeof(float)),
                 array_of(padded(n), sizeof(float)), array_of(padded(n), sizeof(float))};
    for (size_t i = 0; i < padded(n); i++) {
        b.mean[i] = 0.3f;
        b.sd[i] = 0.1f;
    }
    return b;
}

static void normals_free(normals *b)
{
    free(b->mean);
    free(b->sd);
    free(b->out);
}

static void play_normals(void *normals_, uint32_t rounds)
{
    normals *b = normals_;
    for (; rounds; rounds--) {
        b->rng.counter[1]++; /* the next round */
        gauss_scores(&b->rng, b->mean, b->sd, NULL, b->n, b->out);
    }
}

/* A row with the ratio of two variants, and their times as its note. */
static void ratio_row(table *t, const options *o, const variant *above, const variant *below,
                      sense bound, double target, const char *name)
{
    row *r = table_add(t, "", ratio(above, below, o->repetitions), bound, target, "%s", name);
    row_note(r, "%.0f ns / %.0f ns", median_ns(above, o->repetitions),
             median_ns(below, o->repetitions));
}

static void gts_rows(table *t, const options *o, uint32_t n_items, uint32_t k, uint32_t n_players,
                     uint32_t rounds, double target)
{
    static variant v[3];
    char name[TEXT];
    group g = group_new("gts", NULL, n_items, k, n_players, WARMUP);
    normals bare = normals_new(n_items);
    v[0] = (variant){.play = play_rounds, .context = &g, .rounds = rounds};
    v[1] = (variant){.play = play_normals, .context = &bare, .rounds = rounds};
    v[2] = (variant){.play = play_users, .context = &g, .rounds = rounds};
    measure(v, 3, o->repetitions);
    snprintf(name, sizeof name, "gts L=%u K=%u: round / bare normals", n_items, k);
    ratio_row(t, o, &v[0], &v[1], AT_MOST, target, name);
    row *r = table_add(t, "", ratio_without(&v[0], &v[2], &v[1], o->repetitions), NO_TARGET, 0,
                       "gts L=%u K=%u: the same without the users", n_items, k);
    row_note(r, "users: %.1f ns", median_ns(&v[2], o->repetitions));
    normals_free(&bare);
    group_free(&g);
}

static void gts_30(table *t, const options *o)
{
    gts_rows(t, o, 30, 3, GROUP, 16000, 2.5);
}

static void gts_120(table *t, const options *o)
{
    gts_rows(t, o, 120, 10, GROUP, 4000, 3);
}

static void gts_10000(table *t, const options *o)
{
    gts_rows(t, o, 10000, 10, 1, 100, 1.7);
}

/* ---- ts-hyper against ts-beta, which has the same draws and one fixed prior */

static void hyper_row(table *t, const options *o, uint32_t n_items, uint32_t k, uint32_t n_players,
                      uint32_t rounds, double target)
{
    static variant v[2];
    char name[TEXT];
    group hyper = group_new("ts-hyper", NULL, n_items, k, n_players, WARMUP);
    group beta = group_new("ts-beta", NULL, n_items, k, n_players, WARMUP);
    v[0] = (variant){.play = play_rounds, .context = &hyper, .rounds = rounds};
    v[1] = (variant){.play = play_rounds, .context = &beta, .rounds = rounds};
    measure(v, 2, o->repetitions);
    snprintf(name, sizeof name, "ts-hyper / ts-beta L=%u K=%u: round", n_items, k);
    ratio_row(t, o, &v[0], &v[1], AT_MOST, target, name);
    group_free(&hyper);
    group_free(&beta);
}

static void ts_hyper(table *t, const options *o)
{
    hyper_row(t, o, 30, 3, GROUP, 4000, 4);
    hyper_row(t, o, 1000, 10, 1, 200, 2);
}

/* ---- policies compared with plain C */

static void twin_row(table *t, const options *o, const char *name, const char *kind,
                     score_items *scores, uint32_t rounds, double target)
{
    static variant v[2];
    group engine = group_new(kind, NULL, 30, 3, GROUP, WARMUP);
    group plain = group_new(NULL, scores, 30, 3, GROUP, WARMUP);
    v[0] = (variant){.play = play_rounds, .context = &plain, .rounds = rounds};
    v[1] = (variant){.play = play_rounds, .context = &engine, .rounds = rounds};
    measure(v, 2, o->repetitions);
    ratio_row(t, o, &v[0], &v[1], AT_LEAST, target, name);
    group_free(&plain);
    group_free(&engine);
}

typedef struct agreement {
    double error;              /* largest difference of an index */
    uint32_t rounds;           /* compared */
    uint32_t tied, other_list; /* rounds with tied items exchanged; with another list */
} agreement;

/* The plain index is a function of the counts alone, so items with equal counts tie exactly. */
static bool tied(const player *plain, uint32_t i, uint32_t j)
{
    return plain->score[i] >= plain->score[j] && plain->score[i] <= plain->score[j];
}

/* Reads all indices of the round by ranking all items. */
static void compare_round(agreement *a, const player *p, player *plain)
{
    uint32_t all[MAX_SLOTS];
    double score[MAX_SLOTS];
    bool exchanged = false, other_list = false;
    oltr_ranking everything = {p->world.n_items, all, score};
    if (oltr_rank(p->policy, NULL, p->rng, p->scratch, &everything) != OLTR_OK)
        die("the ranking of all items failed");
    twin_rank(plain);
    for (uint32_t j = 0; j < p->world.n_items; j++) {
        double other = plain->score[all[j]];
        if (isfinite(other) || isfinite(score[j]))
            a->error = fmax(a->error, fabs(score[j] - other));
    }
    for (uint32_t slot = 0; slot < plain->k; slot++)
        if (all[slot] != plain->item[slot]) {
            exchanged = true;
            other_list |= !tied(plain, all[slot], plain->item[slot]);
        }
    a->rounds++;
    a->tied += exchanged && !other_list;
    a->other_list += other_list;
}

/* The plain policy learns from the lists that the engine shows. */
static agreement agree(const char *kind, score_items *scores)
{
    enum { LAST = 12000, EVERY = 37 };
    agreement a = {0, 0, 0, 0};
    for (uint64_t seed = 1; seed <= GROUP; seed++) {
        player *p = player_new(kind, 30, 3, seed), *plain = twin_new(scores, 30, 3, seed);
        while (p->t <= LAST) {
            if (p->t % EVERY == 0 || p->t < EVERY)
                compare_round(&a, p, plain);
            p->round(p);
            uint32_t examined = scan(&p->world, p->t - 1, p->item, p->k, plain->reward);
            twin_learn(plain, p->item, (oltr_feedback){examined, plain->reward});
        }
        player_free(plain);
        player_free(p);
    }
    return a;
}

static spread exactly(double x)
{
    return (spread){x, x, x};
}

static void agreement_rows(table *t, const char *kind, score_items *scores, double tolerance)
{
    agreement a = agree(kind, scores);
    row *r = table_add(t, "", exactly(a.error), AT_MOST, tolerance,
                       "%s L=30: largest difference of an index", kind);
    row_note(r, "in %u rounds of 1 to 12,000", a.rounds);
    r = table_add(t, "", exactly(a.other_list), AT_MOST, 0, "%s L=30: rounds with another list",
                  kind);
    row_note(r, "and %u with exactly tied items exchanged", a.tied);
}

static void ts_beta_gsl(table *t, const options *o)
{
    if (twins_have_gsl())
        twin_row(t, o, "ts-beta L=30 K=3: gsl_ran_beta / ours", "ts-beta", twin_ts_beta, 4000, 5);
    else
        fputs("bench: built without GSL, ts-beta is not compared with it\n", stderr);
}

static void klucb_bisection(table *t, const options *o)
{
    twin_row(t, o, "cascade-klucb L=30 K=3: bisection / ours", "cascade-klucb", twin_klucb,
             GROUP * 400, 40);
    agreement_rows(t, "cascade-klucb", twin_klucb, 1e-10);
}

static void bayes_ucb_quantiles(table *t, const options *o)
{
    twin_row(t, o, "bayes-ucb L=30 K=3: all quantiles / ours", "bayes-ucb", twin_bayes_ucb,
             GROUP * 400, 12);
    agreement_rows(t, "bayes-ucb", twin_bayes_ucb, 1e-9);
}

/* ---- ranking and learning timed separately, one call at a time and many */

enum { BATCH = 512 };

/* BATCH lists are ranked, then all are learned from, as a server with delayed feedback does. */
typedef struct batch {
    player *player;
    uint32_t item[BATCH * MAX_SLOTS]; /* (BATCH, k) */
    double reward[BATCH * MAX_SLOTS]; /* (BATCH, k) */
    uint32_t examined[BATCH];
} batch;

static void rank_singly(batch *b)
{
    player *p = b->player;
    oltr_status bad = OLTR_OK;
    for (uint32_t r = 0; r < BATCH; r++) {
        oltr_ranking shown = {.k = p->k, .item = b->item + r * p->k};
        bad |= oltr_rank(p->policy, NULL, oltr_rng_at(p->rng, 0, p->t + r), p->scratch, &shown);
    }
    if (bad != OLTR_OK)
        die("a ranking failed");
}

static void learn_singly(batch *b)
{
    player *p = b->player;
    oltr_status bad = OLTR_OK;
    for (uint32_t r = 0; r < BATCH; r++) {
        oltr_ranking shown = {.k = p->k, .item = b->item + r * p->k};
        oltr_feedback seen = {b->examined[r], b->reward + r * p->k};
        bad |= oltr_learn(p->policy, NULL, &shown, &seen);
    }
    if (bad != OLTR_OK)
        die("learning failed");
}

static void rank_many(batch *b)
{
    player *p = b->player;
    if (oltr_rank_many(p->policy, NULL, p->rng, 0, p->t, p->scratch, BATCH, p->k, b->item, NULL,
                       NULL) != OLTR_OK)
        die("oltr_rank_many failed");
}

static void learn_many(batch *b)
{
    oltr_lessons lessons = {.n = BATCH,
                            .k = b->player->k,
                            .item = b->item,
                            .n_examined = b->examined,
                            .reward = b->reward};
    if (oltr_learn_many(b->player->policy, NULL, &lessons, NULL) != OLTR_OK)
        die("oltr_learn_many failed");
}

static double timed(void (*play)(batch *), batch *b)
{
    uint64_t start = thread_ns();
    play(b);
    return (double)(thread_ns() - start) / BATCH;
}

/* Ranks, lets the users scan, learns.  Nanoseconds per list of both calls. */
static void time_batch(batch *b, void (*rank)(batch *), void (*learn)(batch *), double *rank_ns,
                       double *learn_ns)
{
    player *p = b->player;
    *rank_ns = timed(rank, b);
    for (uint32_t r = 0; r < BATCH; r++)
        b->examined[r] = scan(&p->world, p->t + r, b->item + r * p->k, p->k, b->reward + r * p->k);
    *learn_ns = timed(learn, b);
    p->t += BATCH;
}

static void policy_row(table *t, const options *o, const char *kind, uint32_t n_items, uint32_t k)
{
    static batch b;
    static double round[MAX_REPETITIONS], rank[MAX_REPETITIONS], learn[MAX_REPETITIONS];
    group g = group_new(kind, NULL, n_items, k, 1, WARMUP);
    b.player = g.player[0];
    for (uint32_t i = 0; i < o->repetitions; i++) {
        uint64_t start = thread_ns();
        play_rounds(&g, BATCH);
        round[i] = (double)(thread_ns() - start) / BATCH;
        time_batch(&b, rank_singly, learn_singly, &rank[i], &learn[i]);
    }
    row *r = table_add(t, "ns", spread_of(round, o->repetitions), NO_TARGET, 0,
                       "%s L=%u K=%u: round", kind, n_items, k);
    row_note(r, "rank %.0f ns, learn %.0f ns", spread_of(rank, o->repetitions).median,
             spread_of(learn, o->repetitions).median);
    group_free(&g);
}

static void all_policies(table *t, const options *o)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        if (!oltr_policy_info_at(i)->contextual) /* numpy_context.py has those */
            policy_row(t, o, oltr_policy_info_at(i)->name, 30, 3);
    policy_row(t, o, "gts", 120, 10);
    policy_row(t, o, "ts-beta", 120, 10);
    policy_row(t, o, "cascade-klucb", 120, 10);
    policy_row(t, o, "bayes-ucb", 120, 10);
}

/* The loop of single calls over the plural call, on two players with the same seed. */
static void plural_rows(table *t, const options *o, const char *kind)
{
    static batch b[2];
    static variant single_rank, many_rank, single_learn, many_learn;
    group g[2] = {group_new(kind, NULL, 30, 3, 1, WARMUP), group_new(kind, NULL, 30, 3, 1, WARMUP)};
    char name[TEXT];
    for (int i = 0; i < 2; i++)
        b[i].player = g[i].player[0];
    for (uint32_t r = 0; r < o->repetitions; r++)
        for (uint32_t turn = 0; turn < 2; turn++)
            if ((r + turn) % 2)
                time_batch(&b[0], rank_singly, learn_singly, &single_rank.ns[r],
                           &single_learn.ns[r]);
            else
                time_batch(&b[1], rank_many, learn_many, &many_rank.ns[r], &many_learn.ns[r]);
    if (memcmp(b[0].item, b[1].item, sizeof b[0].item) != 0)
        die("oltr_rank_many and oltr_rank show different lists");
    snprintf(name, sizeof name, "%s L=30 K=3: %d oltr_rank / one oltr_rank_many", kind, BATCH);
    ratio_row(t, o, &single_rank, &many_rank, NO_TARGET, 0, name);
    snprintf(name, sizeof name, "%s L=30 K=3: %d oltr_learn / one oltr_learn_many", kind, BATCH);
    ratio_row(t, o, &single_learn, &many_learn, NO_TARGET, 0, name);
    group_free(&g[0]);
    group_free(&g[1]);
}

static void plural_calls(table *t, const options *o)
{
    plural_rows(t, o, "gts");
    plural_rows(t, o, "ts-beta");
}

/* ---- candidates given by name (oltr_query.item) */

enum { QUERIES = 32, MAX_CANDIDATES = 1000 };

/* A group of one gts player, whose QUERIES queries name n of its n_items items. */
typedef struct named {
    group group;
    uint32_t item[QUERIES][MAX_CANDIDATES];
    oltr_query query[QUERIES];
} named;

/* Distinct candidates: one from each of n stretches of equal length.  n 0: no query, all items. */
static void named_start(named *c, uint32_t n_items, uint32_t n, uint32_t k)
{
    oltr_rng rng = oltr_rng_make(2, 2);
    c->group = group_new("gts", NULL, n_items, k, 1, 0);
    for (uint32_t q = 0; n > 0 && q < QUERIES; q++) {
        uint32_t stretch = n_items / n;
        for (uint32_t j = 0; j < n; j++)
            c->item[q][j] = j * stretch + oltr_rng_below(&rng, stretch);
        c->query[q] = (oltr_query){n, c->item[q]};
    }
    c->group.player[0]->query = n > 0 ? c->query : NULL;
    c->group.player[0]->n_queries = QUERIES;
    play_rounds(&c->group, WARMUP);
}

/* Ranks without learning. */
static void play_rank(void *group_, uint32_t rounds)
{
    player *p = ((group *)group_)->player[0];
    oltr_ranking shown = {.k = p->k, .item = p->item};
    oltr_status bad = OLTR_OK;
    for (uint32_t r = 0; r < rounds; r++)
        bad |= oltr_rank(p->policy, p->query ? &p->query[r % p->n_queries] : NULL,
                         oltr_rng_at(p->rng, 0, p->t + r), p->scratch, &shown);
    if (bad != OLTR_OK)
        die("a ranking failed");
}

static void subset_row(table *t, const options *o, uint32_t n_items, uint32_t n, uint32_t k)
{
    static variant v;
    static named c;
    named_start(&c, n_items, n, k);
    v = (variant){.play = play_rounds, .context = &c.group, .rounds = 2000};
    measure(&v, 1, o->repetitions);
    table_add(t, "ns", spread_of(v.ns, o->repetitions), NO_TARGET, 0,
              "gts, %u candidates of L=%u, K=%u: round", n, n_items, k);
    group_free(&c.group);
}

/* The same with 30 candidates and with all items named, over all items without a query. */
static void named_rows(table *t, const options *o)
{
    enum { ITEMS = 1000, CASES = 3 };
    static const uint32_t n_named[CASES] = {0, 30, ITEMS};
    static variant v[2 * CASES]; /* for each case: rank, round */
    static named c[CASES];
    char name[TEXT];
    for (int i = 0; i < CASES; i++) {
        named_start(&c[i], ITEMS, n_named[i], 3);
        v[2 * i] = (variant){.play = play_rank, .context = &c[i].group, .rounds = 1000};
        v[2 * i + 1] = (variant){.play = play_rounds, .context = &c[i].group, .rounds = 1000};
    }
    measure(v, 2 * CASES, o->repetitions);
    for (int i = 1; i < CASES; i++) {
        snprintf(name, sizeof name, "gts L=1000 K=3: rank %u named / rank all", n_named[i]);
        ratio_row(t, o, &v[2 * i], &v[0], NO_TARGET, 0, name);
        snprintf(name, sizeof name, "gts L=1000 K=3: round of %u named / round of all", n_named[i]);
        ratio_row(t, o, &v[2 * i + 1], &v[1], NO_TARGET, 0, name);
    }
    for (int i = 0; i < CASES; i++)
        group_free(&c[i].group);
}

static void candidates(table *t, const options *o)
{
    subset_row(t, o, 1000, 30, 3);
    subset_row(t, o, 10000, 120, 10);
    named_rows(t, o);
}

/* ---- snapshots */

static void snapshot_rows(table *t, const options *o, const char *kind)
{
    static double save[MAX_REPETITIONS], load[MAX_REPETITIONS];
    group g = group_new(kind, NULL, 100000, 10, 1, 100);
    const oltr_policy *policy = g.player[0]->policy;
    size_t size = 0, bound = oltr_save_bound(policy);
    void *buffer = array_of(bound, 1);
    for (uint32_t i = 0; i < o->repetitions; i++) {
        uint64_t start = thread_ns();
        if (oltr_save(policy, buffer, bound, &size) != OLTR_OK)
            die("a snapshot could not be saved");
        uint64_t middle = thread_ns();
        oltr_policy *again = oltr_load(buffer, size, NULL);
        uint64_t end = thread_ns();
        if (!again)
            die("a snapshot could not be loaded");
        oltr_policy_free(again);
        save[i] = 1e3 * (double)size / (double)(middle - start);
        load[i] = 1e3 * (double)size / (double)(end - middle);
    }
    for (int i = 0; i < 2; i++) {
        row *r = table_add(t, "MB/s", spread_of(i ? load : save, o->repetitions), NO_TARGET, 0,
                           "%s L=100000: snapshot %s", kind, i ? "loaded" : "saved");
        row_note(r, "%.1f MB", 1e-6 * (double)size);
    }
    free(buffer);
    group_free(&g);
}

static void snapshots(table *t, const options *o)
{
    snapshot_rows(t, o, "gts");
    snapshot_rows(t, o, "bayes-ucb");
}

/* ---- the program */

typedef struct section {
    const char *name;
    void (*run)(table *, const options *);
} section;

static const section sections[] = {
    {"gts-30", gts_30},
    {"gts-120", gts_120},
    {"gts-10000", gts_10000},
    {"ts-hyper", ts_hyper},
    {"ts-beta", ts_beta_gsl},
    {"klucb", klucb_bisection},
    {"bayes-ucb", bayes_ucb_quantiles},
    {"policies", all_policies},
    {"plural", plural_calls},
    {"candidates", candidates},
    {"snapshots", snapshots},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void usage(void)
{
    puts("usage: bench_rounds [--repetitions N | --quick] [--only SECTION] [--json FILE] "
         "[--strict]\n\n"
         "  --repetitions N   how often each comparison is repeated, 15 to 1000 (25)\n"
         "  --quick           once: one repetition, to see whether it runs; the numbers mean "
         "little\n"
         "  --only SECTION    one of the sections below\n"
         "  --json FILE       write the rows there too\n"
         "  --strict          exit with 1 when a target is missed\n\n"
         "sections:");
    for (int i = 0; i < SECTIONS; i++)
        printf("  %s\n", sections[i].name);
    exit(0);
}

static uint32_t repetitions_of(const char *text)
{
    long n = strtol(text, NULL, 10);
    if (n < MIN_REPETITIONS || n > MAX_REPETITIONS)
        die("--repetitions takes a number from %d to %d", MIN_REPETITIONS, MAX_REPETITIONS);
    return (uint32_t)n;
}

static options read_options(int argc, char **argv)
{
    options o = {.repetitions = REPETITIONS};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--strict") == 0)
            o.strict = true;
        else if (strcmp(argv[i], "--quick") == 0)
            o.repetitions = 1;
        else if (strcmp(argv[i], "--help") == 0)
            usage();
        else if (!value)
            die("unknown option %s, or its value is missing; see --help", argv[i]);
        else if (strcmp(argv[i], "--repetitions") == 0)
            o.repetitions = repetitions_of(argv[++i]);
        else if (strcmp(argv[i], "--json") == 0)
            o.json = argv[++i];
        else if (strcmp(argv[i], "--only") == 0)
            o.only = argv[++i];
        else
            die("unknown option %s; see --help", argv[i]);
    }
    return o;
}

int main(int argc, char **argv)
{
    static table t;
    options o = read_options(argc, argv);
    bool known = false;
    for (int i = 0; i < SECTIONS; i++)
        if (!o.only || strcmp(o.only, sections[i].name) == 0) {
            sections[i].run(&t, &o);
            known = true;
        }
    if (!known)
        die("there is no section %s; see --help", o.only);
    table_print(&t);
    if (o.json)
        table_write_json(&t, o.json, o.repetitions);
    return o.strict && !table_passes(&t);
}
