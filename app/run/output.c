/* output.c - see output.h.  The manifest is written after the files that it lists: where it exists,
 * they do. The claims come last, because they are judged by the files alone. */
#include "app/run/output.h"

#include "engine/base/quote.h"
#include "report/io/whole_file.h"
#include "report/io/manifest.h"
#include "report/io/result_table.h"

#include <stdio.h>
#include <string.h>

/* ---- files */

static oltr_status write_text(const struct run *run, const char *name, struct text *content,
                              oltr_error *error)
{
    oltr_status status = file_write_in(run->folder, name, content, error);
    text_free(content);
    return status;
}

static oltr_status write_results(const struct run *run, bool summary, oltr_error *error)
{
    struct text content = {0};
    const struct config *config = run->config;
    results_csv(config->points, config->n_points, config->sweep, run->results, summary, &content);
    return write_text(run, summary ? "summary.csv" : "results.csv", &content, error);
}

static oltr_status write_pairs(const struct run *run, oltr_error *error)
{
    struct text content = {0};
    const struct config *config = run->config;
    pairs_csv(config->points, config->n_points, config->sweep, run->results, &content);
    return write_text(run, "pairs.csv", &content, error);
}

static oltr_status write_queries(const struct run *run, oltr_error *error)
{
    struct text content = {0};
    const struct config *config = run->config;
    if (!config->points[0].world.dataset)
        return OLTR_OK;
    queries_csv(config->points, config->n_points, config->sweep, run->results, &content);
    return write_text(run, "queries.csv", &content, error);
}

static oltr_status write_density(const struct run *run, bool summary, oltr_error *error)
{
    struct text content = {0};
    if (summary)
        density_summary(&run->config->concentration, &content);
    else
        density_csv(&run->config->concentration, &content);
    return write_text(run, summary ? "summary.csv" : "density.csv", &content, error);
}

/* A title taken from the name of the file would be another one when the folder is run again. */
static void add_title(const struct config *config, struct text *out)
{
    if (tree_get(config->root, "title"))
        return;
    text_add(out, "title: '");
    for (const char *c = config->title; *c != '\0'; c++)
        text_printf(out, "%s%c", *c == '\'' ? "'" : "", *c);
    text_add(out, "'\n");
}

/* The effective experiment, so that the folder can be run again without its first file and without
 * its flags. */
oltr_status output_experiment(const struct run *run, oltr_error *error)
{
    struct text content = {0};
    char name[QUOTE_SIZE];
    if (run->keep_experiment)
        return OLTR_OK;
    text_printf(&content, "# The experiment of this folder as it was run: %s",
                quote_input(run->file, name));
    for (uint32_t i = 0; i < run->n_flags; i++)
        text_printf(&content, "%s%s", i == 0 ? " with " : ", ", quote_input(run->flag[i], name));
    text_add(&content, ".\n# `oltr run experiment.yaml` repeats it.\n");
    add_title(run->config, &content);
    if (!tree_yaml(run->config->root, &content)) {
        text_free(&content);
        return set_error(error, OLTR_ENOMEM, "experiment.yaml: out of memory");
    }
    return write_text(run, "experiment.yaml", &content, error);
}

static oltr_status write_manifest(const struct run *run, oltr_error *error)
{
    const struct config *config = run->config;
    json_t *configuration = tree_json(config->root), *data = prepared_json(run->data);
    struct manifest_record record = {
        .kind = config->kind == CONFIG_REGRET ? "regret" : "concentration",
        .title = config->title,
        .file = run->file,
        .n_flags = run->n_flags,
        .flag = run->flag,
        .configuration = configuration,
        .data = data,
        .threads = run->threads,
        .seconds = run->seconds,
        .sweep_key = config->sweep_key,
        .sweep = config->sweep,
        .n_points = config->n_points,
        .points = config->points,
        .results = run->results,
        .n_figures = config->n_figures,
        .figure = config->figures,
        .note = config->note,
        .n_claims = config->n_claims,
        .claim = config->claims,
    };
    bool whole = data || !prepared_note(run->data);
    oltr_status status = whole ? manifest_write(run->folder, &record, error)
                               : set_error(error, OLTR_ENOMEM, "manifest.json: out of memory");
    json_decref(configuration);
    json_decref(data);
    return status;
}

oltr_status output_write(const struct run *run, oltr_error *error)
{
    oltr_status (*write)(const struct run *, bool, oltr_error *) =
        run->config->kind == CONFIG_REGRET ? write_results : write_density;
    oltr_status status = write(run, false, error);
    if (status == OLTR_OK)
        status = write(run, true, error);
    if (status == OLTR_OK && run->config->kind == CONFIG_REGRET)
        status = write_pairs(run, error);
    if (status == OLTR_OK && run->config->kind == CONFIG_REGRET)
        status = write_queries(run, error);
    if (status == OLTR_OK)
        status = output_experiment(run, error);
    if (status == OLTR_OK)
        status = write_manifest(run, error);
    return status == OLTR_OK ? claims_folder(run->folder, error) : status;
}

/* ---- the table */

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

static size_t widest_value(const struct config *config)
{
    size_t widest = text_width(config->sweep_key);
    for (uint32_t p = 0; p < config->n_points; p++) {
        size_t width = text_width(config->sweep[p]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void print_row(const struct run *run, uint32_t p, uint32_t i, size_t width)
{
    const oltr_experiment *point = &run->config->points[p];
    oltr_outcome outcome = oltr_results_at(run->results, p, i, point->n_checkpoints - 1);
    pad(point->policy[i].label, width);
    printf("  %10.2f ± %-8.2f  %9.0f\n", outcome.regret, outcome.regret_se,
           oltr_results_ns_per_round(run->results, p, i));
}

/* Results that say nothing about a policy must not look like those of a perfect one. */
static void warn_if_saturated(const struct run *run, uint32_t p)
{
    const struct config *config = run->config;
    uint32_t done = oltr_results_at(run->results, p, 0, 0).replications;
    uint32_t saturated = oltr_results_saturated(run->results, p);
    if (2 * (uint64_t)saturated <= done)
        return;
    printf("warning: ");
    if (config->sweep_key)
        printf("%s = %s: ", config->sweep_key, config->sweep[p]);
    printf("%u of %u replication%s saturated: every list is as good as the best one, so no policy "
           "can show regret.  Take fewer slots, a world whose items differ more, or smaller "
           "attractions (like world.scale 0.25).\n",
           (unsigned)saturated, (unsigned)done, done == 1 ? " is" : "s are");
}

void output_table(const struct run *run)
{
    const struct config *config = run->config;
    if (prepared_note(run->data))
        printf("%s\n", prepared_note(run->data));
    size_t width = widest_label(&config->points[0]),
           value_width = config->sweep_key ? widest_value(config) : 0;
    if (config->sweep_key)
        pad(config->sweep_key, value_width + 2);
    pad("policy", width);
    printf("  %10s   %-8s  %9s\n", "regret", "(se)", "ns/round");
    for (uint32_t p = 0; p < config->n_points; p++) {
        for (uint32_t i = 0; i < config->points[p].n_policies; i++) {
            if (config->sweep_key)
                pad(i == 0 ? config->sweep[p] : "", value_width + 2);
            print_row(run, p, i, width);
        }
    }
    for (uint32_t p = 0; p < config->n_points; p++)
        warn_if_saturated(run, p);
}
