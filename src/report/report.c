/* report.c - see report.h. */
#define _POSIX_C_SOURCE 200809L
#include "report/report.h"

#include "engine/base/error.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"
#include "report/page/page.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what there is */

static bool holds_manifest(const char *path)
{
    char *file = file_join(path, "manifest.json");
    bool there = file != NULL && access(file, F_OK) == 0;
    free(file);
    return there;
}

static struct report_experiment *find(struct report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->experiment[i].name, name) == 0)
            return &report->experiment[i];
    return NULL;
}

/* Adds an experiment by the name of its folder, if it is not there yet; NULL without memory. */
static struct report_experiment *add(struct report *report, const char *name)
{
    struct report_experiment *known = find(report, name);
    if (known != NULL)
        return known;
    struct report_experiment *grown =
        realloc(report->experiment, (report->count + 1) * sizeof *report->experiment);
    if (grown == NULL)
        return NULL;
    report->experiment = grown;
    struct report_experiment *fresh = &grown[report->count];
    memset(fresh, 0, sizeof *fresh);
    fresh->name = strdup(name);
    fresh->path = file_join(report->path, name);
    report->count += fresh->name != NULL && fresh->path != NULL;
    if (fresh->name == NULL || fresh->path == NULL) {
        free(fresh->name);
        free(fresh->path);
        return NULL;
    }
    return fresh;
}

static oltr_status read_about(struct report *report, oltr_error *error)
{
    char *file = file_join(report->path, "report.json");
    json_error_t where = {0};
    if (file == NULL)
        return set_error(error, OLTR_ENOMEM, "%s: out of memory", report->path);
    bool there = access(file, F_OK) == 0;
    report->about = there ? json_load_file(file, JSON_REJECT_DUPLICATES, &where) : NULL;
    oltr_status status = OLTR_OK;
    if (there && report->about == NULL)
        status =
            set_error(error, OLTR_EIO, "%s:%d:%d: %s", file, where.line, where.column, where.text);
    free(file);
    return status;
}

/* The experiments that were asked for, in the order in which they were. */
static oltr_status add_asked(struct report *report, oltr_error *error)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(report->about, "experiments"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const char *trouble = json_string_value(json_object_get(entry, "trouble"));
        if (name == NULL || !file_name_is_plain(name) ||
            (trouble != NULL && !text_is_line(trouble))) {
            return set_error(error, OLTR_EIO,
                             "%s/report.json: an experiment has no good name or trouble",
                             report->path);
        }
        struct report_experiment *experiment = add(report, name);
        if (experiment == NULL)
            return set_error(error, OLTR_ENOMEM, "%s: out of memory", report->path);
        experiment->trouble = trouble;
    }
    return OLTR_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct report_experiment *)a)->name,
                  ((const struct report_experiment *)b)->name);
}

/* Whatever else lies there. */
static oltr_status add_found(struct report *report, oltr_error *error)
{
    DIR *open = opendir(report->path);
    if (open == NULL)
        return set_error(error, OLTR_EIO, "%s: cannot look into it: %s", report->path,
                         strerror(errno));
    size_t asked = report->count;
    bool room = true;
    for (const struct dirent *entry; room && (entry = readdir(open)) != NULL;) {
        char *path = file_join(report->path, entry->d_name);
        room = path != NULL;
        if (room && file_name_is_plain(entry->d_name) && holds_manifest(path))
            room = add(report, entry->d_name) != NULL;
        free(path);
    }
    (void)closedir(open);
    if (report->count > asked) {
        qsort(report->experiment + asked, report->count - asked, sizeof *report->experiment,
              by_name);
    }
    return room ? OLTR_OK : set_error(error, OLTR_ENOMEM, "%s: out of memory", report->path);
}

static oltr_status read_experiment(struct report_experiment *experiment, oltr_error *error)
{
    if (!holds_manifest(experiment->path)) {
        experiment->trouble = experiment->trouble != NULL ? experiment->trouble : "it was not run";
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
    if (status == OLTR_OK && report->count == 0) {
        return set_error(error, OLTR_EIO,
                         "%s: no folder in it has a manifest.json; `oltr reproduce -o %s` fills it",
                         path, path);
    }
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

/* ---- the tables */

static void add_result(const char *name, const struct result_row *row, struct text *out)
{
    csv_field(out, name);
    text_add(out, ",");
    csv_field(out, row->sweep);
    text_add(out, ",");
    csv_field(out, row->policy);
    text_printf(out, ",%" PRIu64 ",%.9g,%.9g,%.9g,%" PRIu64 "\n", row->round, row->regret,
                row->regret_se, row->reward, row->replications);
}

/* All checkpoints of all experiments, or their last ones. */
static void results_of_all(const struct report *report, bool last_only, struct text *out)
{
    text_add(out, "experiment,sweep,policy,round,regret,regret_se,reward,replications\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct result_table *results = &report->experiment[i].folder.results;
        for (size_t j = 0; j < results->count; j++) {
            const struct result_row *row = &results->row[j];
            if (!last_only || result_last(results, row->sweep, row->policy, 0) == row)
                add_result(report->experiment[i].name, row, out);
        }
    }
}

static void claims_of_all(const struct report *report, struct text *out)
{
    claims_heading(out, true);
    for (size_t i = 0; i < report->count; i++)
        claims_rows(&report->experiment[i].findings, report->experiment[i].name, out);
}

static oltr_status put(const struct report *report, const char *name, struct text *content,
                       oltr_error *error)
{
    oltr_status status = file_write_in(report->path, name, content, error);
    text_free(content);
    return status;
}

static oltr_status write_tables(const struct report *report, oltr_error *error)
{
    struct text content = {0};
    results_of_all(report, false, &content);
    oltr_status status = put(report, "results.csv", &content, error);
    if (status == OLTR_OK) {
        results_of_all(report, true, &content);
        status = put(report, "summary.csv", &content, error);
    }
    if (status == OLTR_OK) {
        claims_of_all(report, &content);
        status = put(report, "claims.csv", &content, error);
    }
    if (status == OLTR_OK) {
        latex_write(report, &content);
        status = put(report, "summary.tex", &content, error);
    }
    return status;
}

oltr_status report_write(const struct report *report, uint32_t *missing, oltr_error *error)
{
    *missing = 0;
    oltr_status status = write_tables(report, error);
    return status == OLTR_OK ? page_write(report, missing, error) : status;
}
