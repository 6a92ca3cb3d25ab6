/* report.c - see report.h. */
#define _POSIX_C_SOURCE 200809L
#include "report/report.h"

#include "engine/base/error.h"
#include "report/io/whole_file.h"
#include "report/page/page.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading */

static oltr_status out_of_memory(const struct report *report, oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "%s: out of memory", report->path);
}

/* The experiment of this folder, added if it is new; NULL without memory. */
static struct report_experiment *experiment_of(struct report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->experiment[i].name, name) == 0)
            return &report->experiment[i];
    struct report_experiment *grown =
        realloc(report->experiment, (report->count + 1) * sizeof *report->experiment);
    if (!grown)
        return NULL;
    report->experiment = grown;
    struct report_experiment *fresh = &grown[report->count++]; /* freed by report_free() */
    *fresh =
        (struct report_experiment){.name = strdup(name), .path = file_join(report->path, name)};
    return fresh->name && fresh->path ? fresh : NULL;
}

static oltr_status read_about(struct report *report, oltr_error *error)
{
    char *file = file_join(report->path, "report.json");
    json_error_t where = {0};
    oltr_status status = file ? OLTR_OK : out_of_memory(report, error);
    if (file && file_is_in(report->path, "report.json")) {
        report->about = json_load_file(file, JSON_REJECT_DUPLICATES, &where);
        if (!report->about)
            status = set_error(error, OLTR_EIO, "%s:%d:%d: %s", file, where.line, where.column,
                               where.text);
    }
    free(file);
    return status;
}

/* The experiments of report.json, in its order. */
static oltr_status add_asked(struct report *report, oltr_error *error)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(report->about, "experiments"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const char *trouble = json_string_value(json_object_get(entry, "trouble"));
        if (!name || !file_name_is_plain(name) || (trouble && !text_is_line(trouble)))
            return set_error(error, OLTR_EIO,
                             "%s/report.json: an experiment has no good name or trouble",
                             report->path);
        struct report_experiment *experiment = experiment_of(report, name);
        if (!experiment)
            return out_of_memory(report, error);
        experiment->trouble = trouble;
    }
    return OLTR_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct report_experiment *)a)->name,
                  ((const struct report_experiment *)b)->name);
}

/* All other folders with a manifest, by name. */
static oltr_status add_found(struct report *report, oltr_error *error)
{
    DIR *folder = opendir(report->path);
    if (!folder)
        return set_error(error, OLTR_EIO, "%s: cannot look into it: %s", report->path,
                         strerror(errno));
    size_t asked = report->count;
    bool room = true;
    for (const struct dirent *entry; room && (entry = readdir(folder));) {
        char *path = file_join(report->path, entry->d_name);
        room = path && (!file_name_is_plain(entry->d_name) || !file_is_in(path, "manifest.json") ||
                        experiment_of(report, entry->d_name));
        free(path);
    }
    (void)closedir(folder);
    if (room && report->count > asked)
        qsort(report->experiment + asked, report->count - asked, sizeof *report->experiment,
              by_name);
    return room ? OLTR_OK : out_of_memory(report, error);
}

static oltr_status read_experiment(struct report_experiment *experiment, oltr_error *error)
{
    if (!file_is_in(experiment->path, "manifest.json")) {
        experiment->trouble = experiment->trouble ? experiment->trouble : "it was not run";
        return OLTR_OK;
    }
    oltr_status status = folder_read(experiment->path, &experiment->folder, error);
    experiment->there = status == OLTR_OK;
    return experiment->there ? claims_judge(&experiment->folder, &experiment->findings, error)
                             : status;
}

oltr_status report_read(const char *path, struct report *report, oltr_error *error)
{
    memset(report, 0, sizeof *report);
    report->path = path;
    oltr_status status = read_about(report, error);
    if (status == OLTR_OK)
        status = add_asked(report, error);
    if (status == OLTR_OK)
        status = add_found(report, error);
    for (size_t i = 0; status == OLTR_OK && i < report->count; i++)
        status = read_experiment(&report->experiment[i], error);
    if (status == OLTR_OK && report->count == 0)
        return set_error(error, OLTR_EIO,
                         "%s: no folder in it has a manifest.json; `oltr reproduce -o %s` fills it",
                         path, path);
    return status;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        struct report_experiment *experiment = &report->experiment[i];
        claims_free(&experiment->findings);
        folder_free(&experiment->folder);
        free(experiment->name);
        free(experiment->path);
    }
    free(report->experiment);
    json_decref(report->about);
    memset(report, 0, sizeof *report);
}

/* ---- writing */

/* The rows of all experiments, or their last checkpoints. */
static void add_results(const struct report *report, bool last_only, struct text *out)
{
    text_add(out, "experiment,sweep,policy,round,regret,regret_se,reward,replications\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct result_table *results = &report->experiment[i].folder.results;
        for (size_t j = 0; j < results->count; j++) {
            const struct result_row *row = &results->row[j];
            if (last_only && result_last(results, row->sweep, row->policy, 0) != row)
                continue;
            csv_field(out, report->experiment[i].name);
            text_add(out, ",");
            csv_field(out, row->sweep);
            text_add(out, ",");
            csv_field(out, row->policy);
            text_printf(out, ",%" PRIu64 ",%.9g,%.9g,%.9g,%" PRIu64 "\n", row->round, row->regret,
                        row->regret_se, row->reward, row->replications);
        }
    }
}

static void all_results(const struct report *report, struct text *out)
{
    add_results(report, false, out);
}

static void last_results(const struct report *report, struct text *out)
{
    add_results(report, true, out);
}

static void all_claims(const struct report *report, struct text *out)
{
    claims_heading(out, true);
    for (size_t i = 0; i < report->count; i++)
        claims_rows(&report->experiment[i].findings, report->experiment[i].name, out);
}

oltr_status report_write(const struct report *report, uint32_t *missing, oltr_error *error)
{
    static const struct {
        const char *name;
        void (*write)(const struct report *report, struct text *out);
    } tables[] = {{"results.csv", all_results},
                  {"summary.csv", last_results},
                  {"claims.csv", all_claims},
                  {"summary.tex", latex_write}};
    oltr_status status = OLTR_OK;
    *missing = 0;
    for (size_t i = 0; status == OLTR_OK && i < sizeof tables / sizeof *tables; i++) {
        struct text content = {0};
        tables[i].write(report, &content);
        status = file_write_in(report->path, tables[i].name, &content, error);
        text_free(&content);
    }
    return status == OLTR_OK ? page_write(report, missing, error) : status;
}
