/* series_plan.c - reads the experiments of a series and chooses what --data and --quick change in
 * them; see series.h.
 *
 * The changes depend on what the file has, so they are chosen between opening the document and
 * reading it. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/series.h"

#include "app/args/complain.h"
#include "engine/base/error.h"
#include "report/io/whole_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUICK_LEAST = 4, QUICK_QUERIES = 3, QUICK_ROUNDS = 300, QUICK_SCORERS = 3 };
/* A world of at least so many items has few and long replications: a quick run shortens them. */
enum { QUICK_MANY_ITEMS = 100000, QUICK_FEW_ROUNDS = 2000 };

/* ---- overrides */

static bool set(struct series *series, struct series_item *item, const char *key, const char *value)
{
    uint32_t i = item->job.overrides.count;
    item->flag[i] = pool_printf(&series->pool, "--set %s=%s", key, value);
    item->override[i] = (struct override){.origin = "oltr reproduce", .key = key, .value = value};
    item->job.overrides.count++;
    item->job.n_flags++;
    return item->flag[i];
}

static bool set_number(struct series *series, struct series_item *item, const char *key,
                       uint64_t value)
{
    const char *digits = pool_printf(&series->pool, "%llu", (unsigned long long)value);
    return digits && set(series, item, key, digits);
}

static const struct node *get(const struct node *map, const char *key)
{
    return map ? tree_get(map, key) : NULL;
}

/* The first value that one entry of a sweep gives a key; NULL: the entry does not have it. */
static const struct node *swept_first(const struct node *entry, const char *key)
{
    const struct node *swept = get(entry, "key"), *values = get(entry, "values"),
                      *cases = get(entry, "cases");
    if (swept && swept->text && strcmp(swept->text, key) == 0)
        return values ? values->first : NULL;
    return cases && cases->first ? get(cases->first, key) : NULL;
}

/* The text of a key, "rounds" or "world.data"; of a swept key, that of the first value.  NULL where
 * the document has none.  The document is not checked yet. */
static const char *value_of(const struct node *root, const char *key)
{
    const struct node *sweep = get(root, "sweep"), *node = swept_first(sweep, key);
    const char *dot = strchr(key, '.');
    bool several = sweep && sweep->type == NODE_LIST;
    for (const struct node *entry = several ? sweep->first : NULL; entry && !node;
         entry = entry->next)
        node = swept_first(entry, key);
    if (!node)
        node = get(dot ? get(root, "world") : root, dot ? dot + 1 : key);
    return node ? node->text : NULL;
}

static bool has_word(const struct node *root, const char *key, const char *word)
{
    const char *value = value_of(root, key);
    return value && strcmp(value, word) == 0;
}

static uint64_t number_of(const struct node *root, const char *key)
{
    const char *value = value_of(root, key);
    return value && count_is_plain(value) ? strtoull(value, NULL, 10) : 0;
}

/* Notes what the experiment looks for in --data, for the message that nothing was found. */
static void add_wanted(struct series *series, const struct series_item *item,
                       const struct node *root)
{
    const char *before = series->wanted, *file = value_of(root, "world.file");
    if (series->data)
        series->wanted =
            pool_printf(&series->pool, "%s%s%s/%s%s%s", before ? before : "", before ? ", " : "",
                        series->data, item->name, file ? " with " : "", file ? file : "");
}

/* The folder of --data that is named like the experiment, if there is one. */
static bool set_data(struct series *series, struct series_item *item, const struct node *root)
{
    const char *folder =
        series->data ? pool_printf(&series->pool, "%s/%s", series->data, item->name) : NULL;
    add_wanted(series, item, root);
    item->data_is_given = folder && access(folder, R_OK) == 0;
    return item->data_is_given ? set(series, item, "world.data", folder) : !series->data || folder;
}

static bool shrink_data(struct series *series, struct series_item *item, const struct node *root)
{
    bool has_folder = item->data_is_given || value_of(root, "world.data");
    bool many_scorers = value_of(root, "world.rankers")
                            ? number_of(root, "world.rankers") > QUICK_SCORERS
                            : !value_of(root, "world.scores");
    return set_number(series, item, "replications", 1) &&
           set_number(series, item, "world.queries", QUICK_QUERIES) &&
           set_number(series, item, "rounds", QUICK_ROUNDS) &&
           (!many_scorers || set_number(series, item, "world.rankers", QUICK_SCORERS)) &&
           (has_folder || set(series, item, "world.generated", "{train: 12, vali: 4, test: 4}"));
}

static bool shrink(struct series *series, struct series_item *item, const struct node *root)
{
    uint64_t full = number_of(root, "replications"), few = full / QUICK_SHARE;
    few = few < QUICK_LEAST ? QUICK_LEAST : few;
    bool shorter = number_of(root, "world.items") >= QUICK_MANY_ITEMS &&
                   number_of(root, "rounds") > QUICK_FEW_ROUNDS;
    return (full == 0 || set_number(series, item, "replications", few < full ? few : full)) &&
           (!shorter || set_number(series, item, "rounds", QUICK_FEW_ROUNDS));
}

/* False without memory. */
static bool choose_overrides(struct series *series, struct series_item *item)
{
    const struct node *root = item->job.config.plan->root;
    if (has_word(root, "kind", "concentration"))
        return true;
    bool on_data = has_word(root, "world.kind", "dataset"),
         fitted = has_word(root, "world.kind", "fitted");
    return (!(on_data || fitted) || set_data(series, item, root)) &&
           (!series->quick ||
            (on_data ? shrink_data(series, item, root) : shrink(series, item, root)));
}

/* ---- cost */

/* The cost of a round of all policies, in nanoseconds, roughly: only the ratio between experiments
 * matters.  The size of a data set is not known before it is read. */
static double cost_of_round(const oltr_experiment *point, bool on_data)
{
    double cost = 0;
    oltr_experiment like = *point;
    if (on_data)
        like.world.n_items = 200, like.world.dim = 180;
    for (uint32_t i = 0; i < point->n_policies; i++)
        cost += plan_guess_round(&like, i);
    return cost;
}

static double work_of(const oltr_plan *plan)
{
    double work = 1e8; /* drawing */
    for (uint32_t p = 0; p < plan->n_points; p++) {
        const oltr_experiment *point = &plan->points[p];
        bool on_data = plan_needs_data(plan, p);
        double queries = !on_data ? 1 : plan->data[p].queries > 0 ? plan->data[p].queries : 1000;
        work += queries * (double)point->replications * (double)point->rounds *
                cost_of_round(point, on_data);
    }
    return work;
}

/* ---- the whole */

/* After a mistake in the file the item has failed, and the series goes on. */
static oltr_status read_item(struct series *series, struct series_item *item, oltr_error *error)
{
    struct text text = {0};
    struct job *job = &item->job;
    oltr_status status = file_read(job->file, &text, error);
    if (status == OLTR_OK)
        status = config_open(job->file, text.bytes, text.length, &job->config, error);
    if (status == OLTR_OK && !choose_overrides(series, item))
        status = set_error(error, OLTR_ENOMEM, "out of memory");
    job->overrides.item = item->override;
    job->flag = item->flag;
    if (status == OLTR_OK)
        status = config_read(&job->config, &job->overrides, error);
    text_free(&text);
    return status;
}

static void plan_item(struct series *series, struct series_item *item)
{
    oltr_error error = {OLTR_OK, ""};
    const oltr_plan *plan;
    item->failed = read_item(series, item, &error) != OLTR_OK;
    if (item->failed) {
        complain(EXIT_USAGE, "%s", error.msg);
        return;
    }
    plan = item->job.config.plan;
    item->on_data = plan->n_points > 0 && plan_needs_data(plan, 0);
    const char *folder = item->on_data ? plan->data[0].folder : NULL;
    item->data = folder ? pool_text(&series->pool, folder, strlen(folder)) : NULL;
    item->work = work_of(plan);
}

/* Is it an experiment on a file that is not part of oltr, and that --data does not have?  Mistakes
 * in it are found when it is planned. */
static bool lacks_data(struct series *series, struct series_item *item)
{
    struct text text = {0};
    struct config config = {0};
    oltr_error error;
    bool lacks = false;
    if (file_read(item->job.file, &text, &error) == OLTR_OK &&
        config_open(item->job.file, text.bytes, text.length, &config, &error) == OLTR_OK) {
        const struct node *root = config.plan->root;
        const char *folder =
            series->data ? pool_printf(&series->pool, "%s/%s", series->data, item->name) : NULL;
        lacks = has_word(root, "world.kind", "fitted") && !value_of(root, "world.data") &&
                !(folder && access(folder, R_OK) == 0);
        if (lacks)
            add_wanted(series, item, root);
    }
    config_free(&config);
    text_free(&text);
    return lacks;
}

/* Where all experiments are asked for, those that lack their data are left out. */
static void leave_out(struct series *series)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < series->count; i++) {
        if (!lacks_data(series, &series->item[i]))
            series->item[kept++] = series->item[i];
        else if (!series->quiet)
            complain(EXIT_OK,
                     "%s is left out: its data are not part of oltr; --data DIR plays it "
                     "with those of DIR/%s",
                     series->item[i].name, series->item[i].name);
    }
    series->count = kept;
}

int series_plan(struct series *series)
{
    bool used = !series->data;
    if (series->n_names == 0)
        leave_out(series);
    for (uint32_t i = 0; i < series->count; i++) {
        struct series_item *item = &series->item[i];
        plan_item(series, item);
        series->total += item->work;
        used = used || (!item->failed && item->data_is_given);
    }
    if (used)
        return EXIT_OK;
    return complain(EXIT_USAGE, "--data %s: no experiment finds its data there; %s%s", series->data,
                    series->wanted ? "it looks for " : "those that are run need none",
                    series->wanted ? series->wanted : "");
}
