/* series_run.c - runs the jobs of a series and writes the report; see series.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/series.h"

#include "app/args/complain.h"
#include "app/run/progress.h"
#include "app/run/stop.h"
#include "report/io/json_text.h"
#include "report/io/whole_file.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- progress */

static void show(void *context, const oltr_progress *state)
{
    const struct series *series = context;
    const struct series_item *item = &series->item[series->current];
    double done = series->done + state->share * item->work, fresh = done - series->found_done,
           spent = progress_now() - series->started;
    char left[40];
    if (!series->terminal && state->done == state->total)
        return; /* the line that says so follows */
    progress_time(fresh > 0 ? spent * (series->total - done) / fresh : HUGE_VAL, left, sizeof left);
    fprintf(stderr, "%s%3.0f%% of all  ETA %s  [%u/%u] %s %.0f%%%s",
            series->terminal ? "\r" : "oltr: ", floor(100 * done / series->total), left,
            (unsigned)series->current + 1, (unsigned)series->count, item->name,
            floor(100 * state->share), series->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

/* ---- one experiment */

static void run_item(struct series *series, struct series_item *item)
{
    struct job_watch watch = {series->quiet ? NULL : show, series, series->terminal ? 0.25 : 10};
    struct job *job = &item->job;
    double start = progress_now();
    job->quiet = job->resume = job->figures = true;
    job->force = true; /* results of other settings or of another version are replaced */
    job->threads = series->threads;
    job->watch = &watch;
    if (!item->failed)
        item->failed = job_run(job) != EXIT_OK;
    bool was_done = job->is_finished && job->is_drawn;
    if (series->terminal && !series->quiet)
        fputs("\r\033[K", stderr);
    if (!series->quiet && !stop_asked()) {
        char time[40];
        progress_time(progress_now() - start, time, sizeof time);
        printf("%-18s %s%s\n", item->name,
               item->failed ? "FAILED"
               : was_done   ? "was done before"
                            : "done in ",
               item->failed || was_done ? "" : time);
        fflush(stdout);
    }
    series->done += item->work;
    series->found_done += job->is_finished ? item->work : 0;
    job_free(job);
}

/* ---- the report */

/* "a, b and c play generated data"; whether there are any. */
static bool add_generated(const struct series *series, const char *blank, struct text *out)
{
    uint32_t count = 0, added = 0;
    for (uint32_t i = 0; i < series->count; i++)
        count += series->item[i].on_data && !series->item[i].data;
    for (uint32_t i = 0; i < series->count; i++)
        if (series->item[i].on_data && !series->item[i].data) {
            const char *before = added == 0 ? blank : added + 1 < count ? ", " : " and ";
            text_printf(out, "%s%s", before, series->item[i].name);
            added++;
        }
    if (count > 0)
        text_printf(out,
                    " %s generated data of the same shape, not the data set%s; --data DIR plays "
                    "the real one%s.",
                    count > 1 ? "play" : "plays", count > 1 ? "s" : "", count > 1 ? "s" : "");
    return count > 0;
}

/* What the reader must know before the first number. */
static void add_notice(const struct series *series, struct text *out)
{
    const char *blank = "";
    if (series->quick) {
        text_printf(
            out,
            "This is a quick run: a %dth of the replications, less of the data sets, and fewer "
            "rounds of a million items, so the numbers are rough and many claims are inconclusive. "
            "`oltr reproduce` "
            "without --quick runs everything.",
            QUICK_SHARE);
        blank = " ";
    }
    if (add_generated(series, blank, out))
        blank = " ";
    for (uint32_t i = 0; i < series->count; i++) {
        if (series->item[i].data) {
            text_printf(out, "%s%s plays %s.", blank, series->item[i].name, series->item[i].data);
            blank = " ";
        }
    }
}

/* report.json: what was asked for. */
static oltr_status write_about(const struct series *series, oltr_error *error)
{
    struct text notice = {0}, content = {0};
    json_t *experiments = json_array();
    add_notice(series, &notice);
    for (uint32_t i = 0; i < series->count; i++) {
        const struct series_item *item = &series->item[i];
        const char *trouble =
            item->failed ? "It failed when it was run last; the program said why." : NULL;
        experiments = json_with(experiments,
                                json_pack("{s:s, s:s*}", "name", item->name, "trouble", trouble));
    }
    json_t *about = json_pack("{s:s, s:b, s:b, s:s, s:o}", "oltr", oltr_version(), "quick",
                              (int)series->quick, "paper", (int)series->of_paper, "notice",
                              notice.bytes ? notice.bytes : "", "experiments", experiments);
    char *dump = json_text(about, JSON_INDENT(2));
    text_printf(&content, "%s\n", dump ? dump : "");
    content.failed = content.failed || notice.failed || !dump;
    oltr_status status = file_write_in(series->output, "report.json", &content, error);
    free(dump);
    json_decref(about);
    text_free(&notice);
    text_free(&content);
    return status;
}

/* *written: index.html is that of this call. */
static int write_report(const struct series *series, bool *written)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t missing = 0;
    struct report report = {0};
    *written = write_about(series, &error) == OLTR_OK &&
               report_read(series->output, &report, &error) == OLTR_OK &&
               report_write(&report, &missing, &error) == OLTR_OK;
    report_free(&report);
    if (!*written)
        return complain(EXIT_FAILED, "there is no report: %s", error.msg);
    return missing > 0 ? complain(EXIT_FAILED, "%u figure%s not drawn", (unsigned)missing,
                                  missing > 1 ? "s were" : " was")
                       : EXIT_OK;
}

/* ---- the whole */

static void announce(const struct series *series)
{
    struct text notice = {0};
    add_notice(series, &notice);
    printf("%u experiment%s into %s. %s\n", (unsigned)series->count, plural_s(series->count),
           series->output, notice.bytes ? notice.bytes : "");
    fflush(stdout);
    text_free(&notice);
}

int series_run(struct series *series)
{
    oltr_error error = {OLTR_OK, ""};
    if (file_make_folder(series->output, &error) != OLTR_OK ||
        file_probe_folder(series->output, &error) != OLTR_OK)
        return complain_failed(&error);
    if (!series->quiet)
        announce(series);
    uint32_t failed = 0;
    stop_catch_signals();
    series->terminal = isatty(STDERR_FILENO) == 1;
    series->started = progress_now();
    for (series->current = 0; series->current < series->count && !stop_asked(); series->current++) {
        run_item(series, &series->item[series->current]);
        failed += series->item[series->current].failed;
    }
    if (stop_asked())
        return complain(EXIT_STOPPED, "stopped; the same command goes on from there");
    bool written;
    int code = write_report(series, &written);
    if (failed > 0)
        code = complain(EXIT_FAILED, "%u of %u experiment%s failed", (unsigned)failed,
                        (unsigned)series->count, plural_s(series->count));
    if (written && !series->quiet)
        printf("the report is %s/index.html\n", series->output);
    return code;
}
