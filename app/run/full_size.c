/* full_size.c - see full_size.h.
 *
 * The cost is measured, not guessed: a few replications, spread over the queries, are played by all
 * policies for FEW_ROUNDS and again for MORE_ROUNDS, and the CPU time of their rounds is taken from
 * the results.  The first rounds of some policies are slow (on Istella a round of logts takes four
 * times as long before round 900 as after it), so the difference between the two is what the later
 * rounds are taken to cost.  The sample leaves nothing behind that the run would use. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/full_size.h"

#include "app/args/complain.h"
#include "app/run/progress.h"
#include "app/run/simulate.h"
#include "app/run/stop.h"
#include "app/run/team.h"
#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 12, FEW_ROUNDS = 1000, MORE_ROUNDS = 3000 };

/* ---- what is run */

/* Of generated sets: Fold 1 of MSLR-WEB30K; Istella LETOR, of whose 23,219 training queries a fifth
 * is for validation. */
static const struct {
    const char *shape, *generated;
} sizes[] = {{"web30k", "{train: 18919, vali: 6306, test: 6306}"},
             {"istella", "{train: 18575, vali: 4644, test: 9799}"}};

/* The value of a key of the world: by the command line, or by the file.  NULL: neither. */
static const char *world_value(const struct job *job, const char *key)
{
    const struct node *world = tree_get(job->config.plan->root, "world"),
                      *node = world && world->type == NODE_MAP ? tree_get(world, key) : NULL;
    const char *value = node ? node->text : NULL;
    for (uint32_t i = 0; i < job->overrides.count; i++) {
        const struct override *o = &job->overrides.item[i];
        if (strncmp(o->key, "world.", 6) == 0 && strcmp(o->key + 6, key) == 0)
            value = o->value;
    }
    return value;
}

/* NULL: the world has no shape, or an unknown one, which reading the file reports. */
static const char *generated_size(const struct job *job)
{
    const char *shape = world_value(job, "shape");
    for (size_t i = 0; shape && i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(sizes[i].shape, shape) == 0)
            return sizes[i].generated;
    return NULL;
}

int full_size_choose(struct job *job)
{
    const struct overrides given = job->overrides;
    const char *kind = world_value(job, "kind"), *generated = generated_size(job);
    bool on_files = world_value(job, "data") != NULL;
    const struct override chosen[] = {{"--full", "world.queries", "all", 0, 0},
                                      {"--full", "replications", "50", 0, 0},
                                      {"--full", "rounds", "10000", 0, 0},
                                      {"--full", "world.generated", generated, 0, 0}};
    uint32_t n = generated && !on_files ? 4 : 3;
    if (!kind || strcmp(kind, "dataset") != 0)
        return complain(EXIT_USAGE, "--full is for experiments on judged queries (world.kind: "
                                    "dataset), whose files are smaller than the paper's: say the "
                                    "size of this one with --replications and --rounds");
    struct override *item = pool_get(&job->pool, given.count + n, sizeof *item);
    if (!item)
        return complain_no_memory();
    memcpy(item, chosen, n * sizeof *item);
    if (given.count)
        memcpy(item + n, given.item, given.count * sizeof *item);
    job->overrides = (struct overrides){.count = n + given.count, .item = item};
    return EXIT_OK;
}

/* ---- what it costs */

/* The same points with fewer rounds, and the last of them as the only checkpoint. */
static oltr_experiment *shorter(const oltr_plan *plan, uint64_t rounds, uint64_t *last)
{
    oltr_experiment *points = calloc(plan->n_points, sizeof *points);
    for (uint32_t p = 0; points && p < plan->n_points; p++) {
        points[p] = plan->points[p];
        last[p] = points[p].rounds < rounds ? points[p].rounds : rounds;
        points[p].rounds = last[p];
        points[p].n_checkpoints = 1;
        points[p].checkpoint = &last[p];
    }
    return points;
}

/* The replications r with r mod count == 0: about SAMPLE of the smallest point. */
static oltr_shard sample_shard(const oltr_plan *plan)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t p = 0; p < plan->n_points; p++)
        if (plan->points[p].replications < least)
            least = plan->points[p].replications;
    return (oltr_shard){.index = 0, .count = least > SAMPLE ? least / SAMPLE : 1};
}

/* ns[p]: of one replication of point p, for at most so many rounds. */
static oltr_status time_rounds(const struct job *job, uint64_t rounds, double *ns,
                               oltr_error *error)
{
    const oltr_plan *plan = job->config.plan;
    oltr_run_options options = {
        .threads = job->threads, .stop = should_stop, .shard = sample_shard(plan)};
    uint64_t *last = calloc(plan->n_points, sizeof *last);
    oltr_experiment *points = last ? shorter(plan, rounds, last) : NULL;
    oltr_results *results = points ? oltr_results_new(points, plan->n_points, error) : NULL;
    oltr_status status = points ? error->code : set_error(error, OLTR_ENOMEM, "out of memory");
    if (results)
        status = oltr_run(points, plan->n_points, &options, results, error);
    for (uint32_t p = 0; status == OLTR_OK && p < plan->n_points; p++) {
        ns[p] = 0;
        for (uint32_t i = 0; i < points[p].n_policies; i++)
            ns[p] += oltr_results_ns_per_round(results, p, i) * (double)last[p];
    }
    oltr_results_free(results);
    free(points);
    free(last);
    return status;
}

/* CPU seconds of a whole replication of point p: what the first rounds took, and for the others
 * what the later ones of the sample took. */
static double seconds_of_one(const oltr_experiment *point, double few, double more)
{
    double rounds = (double)point->rounds;
    if (rounds <= MORE_ROUNDS)
        return 1e-9 * more;
    return 1e-9 *
           (more + (rounds - MORE_ROUNDS) * fmax(more - few, 0) / (MORE_ROUNDS - FEW_ROUNDS));
}

static double seconds_of(const oltr_plan *plan, const double *few, const double *more,
                         oltr_shard shard)
{
    double seconds = 0;
    for (uint32_t p = 0; p < plan->n_points; p++)
        seconds += seconds_of_one(&plan->points[p], few[p], more[p]) *
                   oltr_shard_replications(shard, plan->points[p].replications);
    return seconds;
}

static void print_cost(const struct job *job, const double *few, const double *more, double took)
{
    const oltr_plan *plan = job->config.plan;
    const oltr_shard whole = {0}, part = shard_of(job);
    double all = seconds_of(plan, few, more, whole), own = seconds_of(plan, few, more, part);
    uint64_t total = progress_total(plan, whole), rounds = plan->points[0].rounds;
    printf("full size: %llu replications of %llu rounds by %u polic%s, about %.3g core-hours on "
           "this machine (%.3g us for a round of all policies; timed with %llu replications in "
           "%.0f s)\n",
           (unsigned long long)total, (unsigned long long)rounds,
           (unsigned)plan->points[0].n_policies, plan->points[0].n_policies == 1 ? "y" : "ies",
           all / 3600, 1e6 * all / ((double)total * (double)rounds),
           (unsigned long long)progress_total(plan, sample_shard(plan)), took);
    if (part.count > 1)
        printf("full size: part %u of %u is %llu replications, about %.3g core-hours, ",
               (unsigned)part.index + 1, (unsigned)part.count,
               (unsigned long long)progress_total(plan, part), own / 3600);
    else
        printf("full size: ");
    printf("%.3g hours with %u thread%s; Ctrl-C stops it, --resume goes on, --shard I/N or "
           "oltr-mpi distributes it\n",
           own / 3600 / job->threads, (unsigned)job->threads, plural_s(job->threads));
    fflush(stdout);
}

int full_size_announce(const struct job *job)
{
    oltr_error error = {OLTR_OK, ""};
    double start = progress_now();
    uint32_t n = job->config.plan->n_points;
    if (job->quiet || !team_leads())
        return EXIT_OK;
    double *ns = calloc(2 * (size_t)n, sizeof *ns);
    if (!ns)
        return complain_no_memory();
    oltr_status status = time_rounds(job, FEW_ROUNDS, ns, &error);
    if (status == OLTR_OK)
        status = time_rounds(job, MORE_ROUNDS, ns + n, &error);
    if (status == OLTR_OK)
        print_cost(job, ns, ns + n, progress_now() - start);
    free(ns);
    if (status == OLTR_EINTERRUPTED)
        return stopped_early();
    return status == OLTR_OK ? EXIT_OK : complain_failed(&error);
}
