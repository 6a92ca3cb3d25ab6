/* serving.c - what the names of a model cost, compared with its policy.
 *
 * Ranking and learning by a model and by a policy with the same sums: the difference is the hash of
 * the names, the table, and the id of a lesson.  Both draw the same numbers.
 *
 * And what many small models take: resident memory, each kind in a process of its own, which begins
 * without memory that other rows have freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <oltr/model.h>

#include "measure.h"
#include "table.h"

enum { SLOTS = 10, NAME = 24, REPETITIONS = 25 };

typedef struct pair {
    oltr_model *model;
    oltr_model_scratch *model_scratch;
    oltr_policy *policy;
    oltr_scratch *scratch;
    uint32_t n_items, n_candidates; /* n_candidates 0: all items */
    char (*text)[NAME];             /* (n_items) */
    oltr_name *name;                /* (n_items) */
    uint32_t *item;                 /* (n_candidates) */
    oltr_name *candidate;           /* (n_candidates) */
    oltr_rng rng;
    uint64_t round;
} pair;

static void check(oltr_status status, const char *what)
{
    if (status != OLTR_OK)
        die("%s: %s", what, oltr_strerror(status));
}

/* Item numbers of a model are in the order in which it met them. */
static void meet_items(pair *p)
{
    double none[SLOTS] = {0};
    for (uint32_t i = 0; i < p->n_items; i += SLOTS) {
        uint32_t n = p->n_items - i < SLOTS ? p->n_items - i : SLOTS, item[SLOTS];
        oltr_lesson lesson = {.shown = {.n = n, .name = p->name + i}, .reward = none};
        for (uint32_t j = 0; j < n; j++)
            item[j] = i + j;
        check(oltr_model_learn(p->model, &lesson, NULL, NULL), "learn");
        oltr_ranking list = {.k = n, .item = item};
        check(oltr_learn(p->policy, NULL, &list, &(oltr_feedback){n, none}), "learn");
    }
}

static pair pair_new(const char *kind, uint32_t n_items, uint32_t n_candidates)
{
    pair p = {.n_items = n_items, .n_candidates = n_candidates, .rng = oltr_rng_make(1, 2)};
    oltr_model_settings s;
    oltr_settings policy;
    check(oltr_model_settings_init(&s, kind, NULL), kind);
    check(oltr_settings_init(&policy, kind, n_items, NULL), kind);
    s.name_key[0] = 0x123456789abcdef1u;
    s.name_key[1] = 0xfedcba9876543211u;
    p.model = oltr_model_new(&s, NULL);
    p.policy = oltr_policy_new(&policy, NULL);
    p.model_scratch = oltr_model_scratch_new(NULL);
    p.scratch = p.policy ? oltr_scratch_new(p.policy) : NULL;
    p.text = array_of(n_items, sizeof *p.text);
    p.name = array_of(n_items, sizeof *p.name);
    p.item = array_of(n_candidates, sizeof *p.item);
    p.candidate = array_of(n_candidates, sizeof *p.candidate);
    if (!p.model || !p.scratch || !p.model_scratch)
        die("no memory for a model of %u items", n_items);
    for (uint32_t i = 0; i < n_items; i++) {
        int size = snprintf(p.text[i], NAME, "product:%u", 1000003 * (i % 97) + i);
        p.name[i] = (oltr_name){p.text[i], (uint32_t)size};
    }
    meet_items(&p);
    for (uint32_t j = 0; j < n_candidates; j++) {
        p.item[j] = (uint32_t)((uint64_t)(j * 7 + 3) * n_items / (7 * n_candidates + 3));
        p.candidate[j] = p.name[p.item[j]];
    }
    return p;
}

static void pair_free(pair *p)
{
    oltr_model_free(p->model);
    oltr_model_scratch_free(p->model_scratch);
    oltr_policy_free(p->policy);
    oltr_scratch_free(p->scratch);
    free(p->text);
    free(p->name);
    free(p->item);
    free(p->candidate);
}

/* ---- ranking */

static void rank_models(void *pair_, uint32_t rounds)
{
    pair *p = pair_;
    uint32_t place[SLOTS];
    oltr_list list = {.n = p->n_candidates, .name = p->n_candidates ? p->candidate : NULL};
    for (; rounds; rounds--) {
        oltr_show show = {.k = SLOTS, .place = place};
        oltr_rng rng = oltr_rng_at(p->rng, 0, ++p->round);
        check(oltr_model_rank(p->model, &list, rng, p->model_scratch, &show, NULL), "rank");
    }
}

static void rank_policies(void *pair_, uint32_t rounds)
{
    pair *p = pair_;
    uint32_t item[SLOTS];
    oltr_query query = {.n_items = p->n_candidates, .item = p->item};
    for (; rounds; rounds--) {
        oltr_ranking list = {.k = SLOTS, .item = item};
        oltr_rng rng = oltr_rng_at(p->rng, 0, ++p->round);
        check(oltr_rank(p->policy, p->n_candidates ? &query : NULL, rng, p->scratch, &list),
              "rank");
    }
}

static void rank_row(table *t, uint32_t repetitions, const char *kind, uint32_t n_items,
                     uint32_t n_candidates, uint32_t rounds, double target)
{
    static variant v[2];
    pair p = pair_new(kind, n_items, n_candidates);
    v[0] = (variant){.play = rank_models, .context = &p, .rounds = rounds};
    v[1] = (variant){.play = rank_policies, .context = &p, .rounds = rounds};
    measure(v, 2, repetitions);
    char what[TEXT];
    if (n_candidates)
        snprintf(what, sizeof what, "%u names of %u items", n_candidates, n_items);
    else
        snprintf(what, sizeof what, "all of %u items", n_items);
    row *r = table_add(t, "", ratio(&v[0], &v[1], repetitions), AT_MOST, target,
                       "%s, %s: model ranks / policy", kind, what);
    row_note(r, "%.0f ns / %.0f ns", median_ns(&v[0], repetitions), median_ns(&v[1], repetitions));
    pair_free(&p);
}

/* ---- learning */

static void learn_models(void *pair_, uint32_t rounds)
{
    pair *p = pair_;
    double reward[SLOTS] = {[4] = 1};
    for (; rounds; rounds--) {
        uint64_t id = ++p->round;
        uint32_t first = (uint32_t)(id * 13 % (p->n_items - SLOTS));
        oltr_lesson lesson = {.shown = {.n = SLOTS, .name = p->name + first},
                              .reward = reward,
                              .id = {&id, sizeof id}};
        check(oltr_model_learn(p->model, &lesson, NULL, NULL), "learn");
    }
}

static void learn_policies(void *pair_, uint32_t rounds)
{
    pair *p = pair_;
    double reward[SLOTS] = {[4] = 1};
    for (; rounds; rounds--) {
        uint32_t first = (uint32_t)(++p->round * 13 % (p->n_items - SLOTS)), item[SLOTS];
        for (uint32_t j = 0; j < SLOTS; j++)
            item[j] = first + j;
        oltr_ranking list = {.k = SLOTS, .item = item};
        check(oltr_learn(p->policy, NULL, &list, &(oltr_feedback){5, reward}), "learn");
    }
}

static void learn_row(table *t, uint32_t repetitions, const char *kind)
{
    static variant v[2];
    double more[MAX_REPETITIONS];
    pair p = pair_new(kind, 1000, 0);
    v[0] = (variant){.play = learn_models, .context = &p, .rounds = 4000};
    v[1] = (variant){.play = learn_policies, .context = &p, .rounds = 4000};
    measure(v, 2, repetitions);
    for (uint32_t i = 0; i < repetitions; i++)
        more[i] = 1e-3 * (v[0].ns[i] - v[1].ns[i]);
    row *r = table_add(t, "us", spread_of(more, repetitions), AT_MOST, 1,
                       "%s, K=10, with an id: model learns - policy", kind);
    row_note(r, "%.0f ns - %.0f ns", median_ns(&v[0], repetitions), median_ns(&v[1], repetitions));
    pair_free(&p);
}

/* ---- memory */

static double resident_mb(void)
{
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return 1e-6 * (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* 30 items with names of about 15 bytes, and LESSONS lessons with ids. */
enum { SMALL = 30, LESSONS = 10 };

static void make_small_model(const char *kind, uint32_t number)
{
    char text[SMALL][NAME];
    oltr_name name[SMALL];
    double reward[SLOTS] = {[4] = 1};
    oltr_model_settings s;
    check(oltr_model_settings_init(&s, kind, NULL), kind);
    oltr_model *model = oltr_model_new(&s, NULL);
    if (!model)
        die("no memory for model %u", number);
    for (uint32_t i = 0; i < SMALL; i++) {
        int size = snprintf(text[i], NAME, "product:%u", 100 * number + i);
        name[i] = (oltr_name){text[i], (uint32_t)size};
    }
    for (uint64_t id = 0; id < LESSONS; id++) {
        oltr_lesson lesson = {.shown = {.n = SLOTS, .name = name + SLOTS * (id % (SMALL / SLOTS))},
                              .reward = reward,
                              .id = {&id, sizeof id}};
        check(oltr_model_learn(model, &lesson, NULL, NULL), "learn");
    }
}

/* What n models take.  They are not freed: the process that has them ends. */
static double megabytes_of(const char *kind, uint32_t n)
{
    int ends[2];
    double mb = 0;
    if (pipe(ends) != 0)
        die("no pipe to another process");
    pid_t child = fork();
    if (child == 0) {
        double before = resident_mb();
        for (uint32_t i = 0; i < n; i++)
            make_small_model(kind, i);
        mb = resident_mb() - before;
        _exit(write(ends[1], &mb, sizeof mb) != sizeof mb);
    }
    int status;
    close(ends[1]);
    ssize_t got = read(ends[0], &mb, sizeof mb);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || got != sizeof mb)
        die("%s: no memory for %u models, or no other process", kind, n);
    close(ends[0]);
    return mb;
}

static void memory_row(table *t, const char *kind, uint32_t n, double mb)
{
    row *r = table_add(t, "MB", (spread){mb, mb, mb}, n < 100000 ? NO_TARGET : AT_MOST, 350,
                       "%s: %u models of 30 items", kind, n);
    row_note(r, "%.0f bytes each", 1e6 * mb / n);
}

int main(int argc, char **argv)
{
    static table t;
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    bool strict = argc > 1 && strcmp(argv[1], "--strict") == 0;
    uint32_t repetitions = quick ? 1 : REPETITIONS;
    if (argc > 1 + (quick || strict))
        die("usage: bench_serving [--quick | --strict]");
    const char *const kinds[] = {"gts", "ts-beta", "ts-hyper"};
    const uint32_t models = quick ? 100 : 100000;
    double mb[3];
    for (int i = 0; i < 3; i++)
        mb[i] = megabytes_of(kinds[i], models);
    for (int i = 0; i < 3; i++) {
        rank_row(&t, repetitions, kinds[i], 1000, 120, 2000, 3);
        rank_row(&t, repetitions, kinds[i], 100000, 120, 2000, 3);
        rank_row(&t, repetitions, kinds[i], 1000, 0, 500, 1.2);
        learn_row(&t, repetitions, kinds[i]);
        memory_row(&t, kinds[i], models, mb[i]);
    }
    table_print(&t);
    return strict && !table_passes(&t);
}
