/* rounds.c - how long a round takes, against the least it could take and against the same round
 * written plainly.
 *
 * A round is oltr_rank, a user, oltr_learn, by policies that have learned for WARMUP rounds.  The
 * rows with a target compare it with
 *   - the bare normals of the same generator, below which no Gaussian sampling of every item can
 * go;
 *   - plain C of the same policy (twins.h), whose indices it must reproduce.
 * The other rows are for information: all policies with ranking and learning apart, subset queries,
 * snapshots.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "players.h"
#include "engine/rng/sample.h"
#include "table.h"
#include "twins.h"

enum { WARMUP = 2000, TEAM = 8, REPETITIONS = 25, MIN_REPETITIONS = 15 };

typedef struct options {
    uint32_t repetitions;
    const char *json, *only;
    int strict;
} options;

/* ---- Gaussian Thompson sampling against its own normals */

typedef struct normals {
    oltr_rng rng;
    size_t n;
    float *mean, *sd, *out; /* (padded) */
} normals;

static float *floats_new(size_t n)
{
    float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x)
        die("out of memory");
    return x;
}

static normals normals_new(size_t n)
{
    normals b = {oltr_rng_at(oltr_rng_make(1, 1), 0, 1), n, floats_new(padded(n)),
                 floats_new(padded(n)), floats_new(padded(n))};
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

static void gts_rows(table *t, const options *o, uint32_t n_items, uint32_t k, uint32_t team,
                     uint32_t rounds, double target)
{
    static variant v[3];
    char name[TEXT];
    crew c = crew_new("gts", n_items, k, team, WARMUP);
    normals bare = normals_new(n_items);
    v[0] = (variant){.play = play_rounds, .context = &c, .rounds = rounds};
    v[1] = (variant){.play = play_normals, .context = &bare, .rounds = rounds};
    v[2] = (variant){.play = play_users, .context = &c, .rounds = rounds};
    measure(v, 3, o->repetitions);
    snprintf(name, sizeof name, "gts L=%u K=%u: round / bare normals", n_items, k);
    row *r = table_add(t, "", name);
    r->value = ratio(&v[0], &v[1], o->repetitions);
    r->sense = AT_MOST;
    r->target = target;
    snprintf(r->note, sizeof r->note, "%.0f ns / %.0f ns", median_ns(&v[0], o->repetitions),
             median_ns(&v[1], o->repetitions));
    snprintf(name, sizeof name, "gts L=%u K=%u: the same without the users", n_items, k);
    r = table_add(t, "", name);
    r->value = ratio_without(&v[0], &v[2], &v[1], o->repetitions);
    snprintf(r->note, sizeof r->note, "users: %.1f ns", median_ns(&v[2], o->repetitions));
    normals_free(&bare);
    crew_free(&c);
}

static void gts_30(table *t, const options *o)
{
    gts_rows(t, o, 30, 3, TEAM, 16000, 2.5);
}

static void gts_120(table *t, const options *o)
{
    gts_rows(t, o, 120, 10, TEAM, 4000, 3);
}

static void gts_10000(table *t, const options *o)
{
    gts_rows(t, o, 10000, 10, 1, 100, 1.7);
}

/* ---- policies against their plain twins */

static void twin_row(table *t, const options *o, const char *name, const char *kind,
                     score_items *scores, uint32_t rounds, double target)
{
    static variant v[2];
    crew c = crew_new(kind, 30, 3, TEAM, WARMUP);
    twins plain = twins_new(scores, 30, 3, TEAM, WARMUP);
    v[0] = (variant){.play = play_twins, .context = &plain, .rounds = rounds};
    v[1] = (variant){.play = play_rounds, .context = &c, .rounds = rounds};
    measure(v, 2, o->repetitions);
    row *r = table_add(t, "", name);
    r->value = ratio(&v[0], &v[1], o->repetitions);
    r->sense = AT_LEAST;
    r->target = target;
    snprintf(r->note, sizeof r->note, "%.0f ns / %.0f ns", median_ns(&v[0], o->repetitions),
             median_ns(&v[1], o->repetitions));
    twins_free(&plain);
    crew_free(&c);
}

typedef struct agreement {
    double error;                   /* largest difference of an index */
    uint32_t rounds, ties, strange; /* compared; with tied items exchanged; with another list */
} agreement;

/* The twin's index is a pure function of the counts: what is tied is tied to the bit. */
static int tied(const twin *t, uint32_t i, uint32_t j)
{
    return t->score[i] >= t->score[j] && t->score[i] <= t->score[j];
}

/* All indices of the round, read by showing all items. */
static void compare_round(agreement *a, const player *p, twin *t)
{
    uint32_t all[MAX_SLOTS];
    double score[MAX_SLOTS];
    int exchanged = 0, strange = 0;
    oltr_ranking everything = {p->world.n_items, all, score};
    if (oltr_rank(p->policy, NULL, p->rng, p->scratch, &everything) != OLTR_OK)
        die("the list of all items failed");
    twin_rank(t);
    for (uint32_t j = 0; j < p->world.n_items; j++) {
        double other = t->score[all[j]];
        if (isfinite(other) || isfinite(score[j]))
            a->error = fmax(a->error, fabs(score[j] - other));
    }
    for (uint32_t slot = 0; slot < t->k; slot++)
        if (all[slot] != t->item[slot]) {
            exchanged = 1;
            strange |= !tied(t, all[slot], t->item[slot]);
        }
    a->rounds++;
    a->ties += (uint32_t)(exchanged && !strange);
    a->strange += (uint32_t)strange;
}

/* The twin looks over the policy's shoulder: it learns from the same lists. */
static agreement agree(const char *kind, score_items *scores)
{
    enum { LAST = 12000, EVERY = 37 };
    agreement a = {0, 0, 0, 0};
    for (uint64_t seed = 1; seed <= TEAM; seed++) {
        player *p = player_new(kind, 30, 3, seed);
        twin *t = twin_new(scores, 30, 3, seed);
        while (p->t <= LAST) {
            if (p->t % EVERY == 0 || p->t < EVERY)
                compare_round(&a, p, t);
            player_round(p);
            twin_learn(t, p->item, scan(&p->world, p->t - 1, p->item, t->k, t->reward), t->reward);
        }
        twin_free(t);
        player_free(p);
    }
    return a;
}

static void agreement_rows(table *t, const char *kind, score_items *scores, double tolerance)
{
    char name[TEXT];
    agreement a = agree(kind, scores);
    snprintf(name, sizeof name, "%s L=30: largest difference of an index", kind);
    row *r = table_add(t, "", name);
    r->value = (spread){a.error, a.error, a.error};
    r->sense = AT_MOST;
    r->target = tolerance;
    snprintf(r->note, sizeof r->note, "in %u rounds of 1 to 12,000", a.rounds);
    snprintf(name, sizeof name, "%s L=30: rounds with another list", kind);
    r = table_add(t, "", name);
    r->value = (spread){a.strange, a.strange, a.strange};
    r->sense = AT_MOST;
    r->target = 0;
    snprintf(r->note, sizeof r->note, "and %u with exactly tied items exchanged", a.ties);
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
             TEAM * 400, 40);
    agreement_rows(t, "cascade-klucb", twin_klucb, 1e-10);
}

static void bayes_ucb_quantiles(table *t, const options *o)
{
    twin_row(t, o, "bayes-ucb L=30 K=3: all quantiles / ours", "bayes-ucb", twin_bayes_ucb,
             TEAM * 400, 12);
    agreement_rows(t, "bayes-ucb", twin_bayes_ucb, 1e-9);
}

/* ---- for information */

enum { BATCH = 512 };

/* Lists shown before any of them is learned from, as a server with delayed feedback does. */
typedef struct batch {
    player *player;
    uint32_t item[BATCH][MAX_SLOTS];
    double reward[BATCH][MAX_SLOTS];
    uint32_t examined[BATCH];
} batch;

static void rank_batch(void *batch_, uint32_t rounds)
{
    batch *b = batch_;
    player *p = b->player;
    oltr_status bad = OLTR_OK;
    for (uint32_t r = 0; r < rounds; r++) {
        oltr_ranking shown = {p->shown.k, b->item[r], NULL};
        bad |= oltr_rank(p->policy, NULL, oltr_rng_at(p->rng, 0, p->t + r), p->scratch, &shown);
    }
    if (bad != OLTR_OK)
        die("a ranking failed");
}

static void learn_batch(void *batch_, uint32_t rounds)
{
    batch *b = batch_;
    player *p = b->player;
    oltr_status bad = OLTR_OK;
    for (uint32_t r = 0; r < rounds; r++) {
        oltr_ranking shown = {p->shown.k, b->item[r], NULL};
        oltr_feedback seen = {b->examined[r], b->reward[r]};
        bad |= oltr_learn(p->policy, NULL, &shown, &seen);
    }
    if (bad != OLTR_OK)
        die("learning failed");
}

static double timed(void (*play)(void *, uint32_t), void *context, uint32_t rounds)
{
    uint64_t start = thread_ns();
    play(context, rounds);
    return (double)(thread_ns() - start) / rounds;
}

static void policy_row(table *t, const options *o, const char *kind, uint32_t n_items, uint32_t k)
{
    static batch b;
    static double round[MAX_REPETITIONS], rank[MAX_REPETITIONS], learn[MAX_REPETITIONS];
    char name[TEXT];
    crew c = crew_new(kind, n_items, k, 1, WARMUP);
    b.player = c.player[0];
    for (uint32_t i = 0; i < o->repetitions; i++) {
        round[i] = timed(play_rounds, &c, BATCH);
        rank[i] = timed(rank_batch, &b, BATCH);
        for (uint32_t r = 0; r < BATCH; r++)
            b.examined[r] = scan(&b.player->world, b.player->t + r, b.item[r], k, b.reward[r]);
        learn[i] = timed(learn_batch, &b, BATCH);
        b.player->t += BATCH;
    }
    snprintf(name, sizeof name, "%s L=%u K=%u: round", kind, n_items, k);
    row *r = table_add(t, "ns", name);
    r->value = spread_of(round, o->repetitions);
    snprintf(r->note, sizeof r->note, "rank %.0f ns, learn %.0f ns",
             spread_of(rank, o->repetitions).median, spread_of(learn, o->repetitions).median);
    crew_free(&c);
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

enum { QUERIES = 32, MOST_CANDIDATES = 128 };

/* Distinct candidates: one from each of `n` stretches of equal length. */
static void draw_candidates(oltr_rng *rng, uint32_t n_items, uint32_t n, uint32_t *out)
{
    uint32_t stretch = n_items / n;
    for (uint32_t j = 0; j < n; j++)
        out[j] = j * stretch + oltr_rng_below(rng, stretch);
}

static void subset_row(table *t, const options *o, uint32_t n_items, uint32_t n, uint32_t k)
{
    static variant v;
    static uint32_t item[QUERIES][MOST_CANDIDATES];
    oltr_query query[QUERIES];
    char name[TEXT];
    oltr_rng rng = oltr_rng_make(2, 2);
    crew c = crew_new("gts", n_items, k, 1, 0);
    for (uint32_t q = 0; q < QUERIES; q++) {
        draw_candidates(&rng, n_items, n, item[q]);
        query[q] = (oltr_query){n, item[q]};
    }
    c.player[0]->query = query;
    c.player[0]->n_queries = QUERIES;
    play_rounds(&c, WARMUP);
    v = (variant){.play = play_rounds, .context = &c, .rounds = 2000};
    measure(&v, 1, o->repetitions);
    snprintf(name, sizeof name, "gts, %u candidates of L=%u, K=%u: round", n, n_items, k);
    row *r = table_add(t, "ns", name);
    r->value = spread_of(v.ns, o->repetitions);
    crew_free(&c);
}

static void subsets(table *t, const options *o)
{
    subset_row(t, o, 1000, 30, 3);
    subset_row(t, o, 10000, 120, 10);
}

static void *snapshot_of(const oltr_policy *policy, size_t *size)
{
    void *buffer = malloc(oltr_save_bound(policy));
    if (!buffer || oltr_save(policy, buffer, oltr_save_bound(policy), size) != OLTR_OK)
        die("a snapshot failed");
    return buffer;
}

static void snapshot_rows(table *t, const options *o, const char *kind)
{
    static double save[MAX_REPETITIONS], load[MAX_REPETITIONS];
    char name[2][TEXT];
    crew c = crew_new(kind, 100000, 10, 1, 100);
    const oltr_policy *policy = c.player[0]->policy;
    size_t size = 0;
    void *buffer = snapshot_of(policy, &size);
    for (uint32_t i = 0; i < o->repetitions; i++) {
        uint64_t start = thread_ns();
        if (oltr_save(policy, buffer, size, &size) != OLTR_OK)
            die("a snapshot failed");
        uint64_t middle = thread_ns();
        oltr_policy *again = oltr_load(buffer, size, NULL);
        uint64_t end = thread_ns();
        if (!again)
            die("a snapshot cannot be loaded");
        oltr_policy_free(again);
        save[i] = 1e3 * (double)size / (double)(middle - start);
        load[i] = 1e3 * (double)size / (double)(end - middle);
    }
    snprintf(name[0], TEXT, "%s L=100000: snapshot saved", kind);
    snprintf(name[1], TEXT, "%s L=100000: snapshot loaded", kind);
    for (int i = 0; i < 2; i++) {
        row *r = table_add(t, "MB/s", name[i]);
        r->value = spread_of(i ? load : save, o->repetitions);
        snprintf(r->note, sizeof r->note, "%.1f MB", 1e-6 * (double)size);
    }
    free(buffer);
    crew_free(&c);
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
    {"gts-30", gts_30},         {"gts-120", gts_120},       {"gts-10000", gts_10000},
    {"ts-beta", ts_beta_gsl},   {"klucb", klucb_bisection}, {"bayes-ucb", bayes_ucb_quantiles},
    {"policies", all_policies}, {"subsets", subsets},       {"snapshots", snapshots},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void usage(void)
{
    puts("usage: bench_rounds [--repetitions N | --quick] [--only SECTION] [--json FILE] "
         "[--strict]\n\n"
         "  --repetitions N   how often each comparison is repeated, 15 to 1000 (25)\n"
         "  --quick           once: does it run?  Its numbers mean little\n"
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
            o.strict = 1;
        else if (strcmp(argv[i], "--quick") == 0)
            o.repetitions = 1;
        else if (strcmp(argv[i], "--help") == 0)
            usage();
        else if (!value)
            die("%s is no option, or lacks its value; see --help", argv[i]);
        else if (strcmp(argv[i], "--repetitions") == 0)
            o.repetitions = repetitions_of(argv[++i]);
        else if (strcmp(argv[i], "--json") == 0)
            o.json = argv[++i];
        else if (strcmp(argv[i], "--only") == 0)
            o.only = argv[++i];
        else
            die("%s is no option; see --help", argv[i]);
    }
    return o;
}

int main(int argc, char **argv)
{
    static table t;
    options o = read_options(argc, argv);
    int known = 0;
    for (int i = 0; i < SECTIONS; i++)
        if (!o.only || strcmp(o.only, sections[i].name) == 0) {
            sections[i].run(&t, &o);
            known = 1;
        }
    if (!known)
        die("no section is called %s; see --help", o.only);
    table_print(&t);
    if (o.json)
        table_write_json(&t, o.json, o.repetitions);
    return o.strict && !table_passes(&t);
}
