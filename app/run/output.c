/* output.c - writes the files of a job, and prints its table.
 *
 * The manifest is written after the tables that it lists: where it exists, they do.  The claims
 * come last, because they are judged by the files alone. */
#include "app/run/output.h"

#include "app/config/tree_json.h"
#include "app/run/prepare.h"
#include "engine/base/quote.h"
#include "report/io/manifest.h"
#include "report/io/result_table.h"
#include "report/io/whole_file.h"

#include <stdio.h>
#include <string.h>

/* ---- tables */

enum { N_TABLES = 5 };

static oltr_status write_tables(const struct job *job, oltr_error *error)
{
    static const char *const regret[N_TABLES] = {"results.csv", "summary.csv", "pairs.csv",
                                                 "queries.csv", "metrics.csv"};
    static const char *const density[N_TABLES] = {"density.csv", "summary.csv"};
    const oltr_plan *plan = job->config.plan;
    const char *const *name = job->config.is_concentration ? density : regret;
    struct text content[N_TABLES] = {{0}};
    oltr_status status = OLTR_OK;
    if (job->config.is_concentration) {
        density_csv(&job->config.concentration, &content[0]);
        density_summary(&job->config.concentration, &content[1]);
    } else {
        results_csv(plan->points, plan->n_points, plan->sweep, job->results, false, &content[0]);
        results_csv(plan->points, plan->n_points, plan->sweep, job->results, true, &content[1]);
        pairs_csv(plan->points, plan->n_points, plan->sweep, job->results, &content[2]);
        queries_csv(plan->points, plan->n_points, plan->sweep, job->results, &content[3]);
        metrics_csv(plan->points, plan->n_points, plan->sweep, job->results, &content[4]);
    }
    for (int i = 0; i < N_TABLES; i++) {
        bool filled = content[i].length > 0 || content[i].failed;
        if (status == OLTR_OK && filled)
            status = file_write_in(job->folder, name[i], &content[i], error);
        text_free(&content[i]);
    }
    return status;
}

/* ---- experiment and manifest */

/* A title taken from the name of the file would be another one when the folder is run again. */
static void add_title(const oltr_plan *plan, struct text *out)
{
    if (tree_get(plan->root, "title"))
        return;
    text_add(out, "title: '");
    for (const char *c = plan->title; *c != '\0'; c++)
        text_printf(out, "%s%c", *c == '\'' ? "'" : "", *c);
    text_add(out, "'\n");
}

/* The effective experiment, so that the folder can be run again without the first file and its
 * flags. */
oltr_status output_experiment(const struct job *job, oltr_error *error)
{
    struct text content = {0};
    char name[QUOTE_SIZE];
    if (job->keep_experiment)
        return OLTR_OK;
    text_printf(&content, "# The experiment of this folder as it was run: %s",
                quote_input(job->file, name));
    for (uint32_t i = 0; i < job->n_flags; i++)
        text_printf(&content, "%s%s", i == 0 ? " with " : ", ", quote_input(job->flag[i], name));
    text_add(&content, ".\n# `oltr run experiment.yaml` repeats it.\n");
    add_title(job->config.plan, &content);
    oltr_status status = tree_yaml(job->config.plan->root, &content)
                             ? file_write_in(job->folder, "experiment.yaml", &content, error)
                             : set_error(error, OLTR_ENOMEM, "experiment.yaml: out of memory");
    text_free(&content);
    return status;
}

static oltr_status write_manifest(const struct job *job, oltr_error *error)
{
    const struct config *config = &job->config;
    json_t *configuration = tree_json(config->plan->root), *data = prepared_json(job->data);
    struct manifest_record record = {
        .plan = config->plan,
        .file = job->file,
        .n_flags = job->n_flags,
        .flag = job->flag,
        .configuration = configuration,
        .data = data,
        .threads = job->threads,
        .seconds = job->seconds,
        .results = job->results,
        .n_figures = config->n_figures,
        .figure = config->figures,
        .n_claims = config->n_claims,
        .claim = config->claims,
    };
    bool whole = data || !prepared_note(job->data);
    oltr_status status = whole ? manifest_write(job->folder, &record, error)
                               : set_error(error, OLTR_ENOMEM, "manifest.json: out of memory");
    json_decref(configuration);
    json_decref(data);
    return status;
}

oltr_status output_write(const struct job *job, oltr_error *error)
{
    oltr_status status = write_tables(job, error);
    if (status == OLTR_OK)
        status = output_experiment(job, error);
    if (status == OLTR_OK)
        status = write_manifest(job, error);
    return status == OLTR_OK ? claims_folder(job->folder, error) : status;
}

/* ---- on the screen */

static void pad(const char *text, size_t width)
{
    size_t columns = text_width(text);
    printf("%s%*s", text, (int)(columns < width ? width - columns : 0), "");
}

static size_t widest_label(const oltr_experiment *point)
{
    size_t widest = strlen("policy");
    for (uint32_t i = 0; i < point->n_policies; i++) {
        size_t width = text_width(point->policy[i].label);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static size_t widest_value(const oltr_plan *plan)
{
    size_t widest = text_width(plan->sweep_key);
    for (uint32_t p = 0; p < plan->n_points; p++) {
        size_t width = text_width(plan->sweep[p]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void print_row(const struct job *job, uint32_t p, uint32_t i, size_t width)
{
    const oltr_experiment *point = &job->config.plan->points[p];
    oltr_outcome outcome = oltr_results_at(job->results, p, i, point->n_checkpoints - 1);
    pad(point->policy[i].label, width);
    if (outcome.replications > 1)
        printf("  %10.2f ± %-8.2f", outcome.regret, outcome.regret_se);
    else /* one replication has no standard error */
        printf("  %10.2f   %-8s", outcome.regret, "");
    printf("  %9.0f\n", oltr_results_ns_per_round(job->results, p, i));
}

/* Nothing is examined, or nothing counts: leave: 0, satisfied: 0, examine: [0, 0, 0]. */
static bool earns_nothing(const struct job *job, uint32_t p)
{
    const oltr_experiment *point = &job->config.plan->points[p];
    for (uint32_t i = 0; i < point->n_policies; i++)
        if (oltr_results_at(job->results, p, i, point->n_checkpoints - 1).reward > 0)
            return false;
    return true;
}

/* Results that say nothing about a policy must not look like those of a perfect one. */
static void warn_if_saturated(const struct job *job, uint32_t p)
{
    const oltr_plan *plan = job->config.plan;
    uint32_t done = oltr_results_at(job->results, p, 0, 0).replications;
    uint32_t saturated = oltr_results_saturated(job->results, p);
    if (2 * (uint64_t)saturated <= done)
        return;
    printf("warning: ");
    if (plan->sweep_key)
        printf("%s = %s: ", plan->sweep_key, plan->sweep[p]);
    printf("%u of %u replication%s saturated: every list is as good as the best one, so no policy "
           "can show regret.  %s.\n",
           (unsigned)saturated, (unsigned)done, done == 1 ? " is" : "s are",
           earns_nothing(job, p) ? "No list has a reward: look at the click model (is a slot ever "
                                   "examined, does a click ever count?) and at the attractions"
                                 : "Take fewer slots, a world whose items differ more, or smaller "
                                   "attractions (like world.scale 0.25)");
}

void output_table(const struct job *job)
{
    const oltr_plan *plan = job->config.plan;
    if (prepared_note(job->data))
        printf("%s\n", prepared_note(job->data));
    size_t width = widest_label(&plan->points[0]),
           value_width = plan->sweep_key ? widest_value(plan) : 0;
    if (plan->sweep_key)
        pad(plan->sweep_key, value_width + 2);
    pad("policy", width);
    printf("  %10s   %-8s  %9s\n", "regret", "(se)", "ns/round");
    for (uint32_t p = 0; p < plan->n_points; p++) {
        for (uint32_t i = 0; i < plan->points[p].n_policies; i++) {
            if (plan->sweep_key)
                pad(i == 0 ? plan->sweep[p] : "", value_width + 2);
            print_row(job, p, i, width);
        }
    }
    for (uint32_t p = 0; p < plan->n_points; p++)
        warn_if_saturated(job, p);
}
