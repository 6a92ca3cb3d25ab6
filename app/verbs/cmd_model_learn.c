/* cmd_model_learn.c - `oltr model learn`: a model learns from click logs.  It learns on a copy,
 * which takes the place of the model, by one checkpoint, when the last line was good. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/progress.h"
#include "app/verbs/log_reading.h"
#include "app/verbs/model_family.h"
#include "app/verbs/model_priors.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

const struct option model_learn_options[] = {
    {0, "columns", "ROLE=NAME,...", NULL,
     "columns with other names than the usual ones, like list=search,item=sku; the roles are list, "
     "item, position, click, examined, reward, weight and time"},
    {0, "features", "PREFIX", NULL,
     "of a policy with features: they are in columns PREFIX1, PREFIX2, ... (default: x)"},
    {0, "format", "NAME", NULL, "csv or jsonl (default: by the first byte of the file)",
     log_format_words},
    {0, "open", "N", NULL,
     "collect the rows of up to N lists at a time; of more, the oldest is closed and learned "
     "(default: 1000; of JSON lines 100000)"},
    {0, "wait", "TIME", NULL,
     "close a list that began so long ago, by the times in the log, like 90s, 30m, 2h, 7d "
     "(default: 1h for queries of UBI, no limit for rows)"},
    {0, "unseen", "RULE", NULL,
     "of UBI, a list without a click or an impression: seen (default: looked at, and not clicked) "
     "or skip",
     log_unseen_words},
    {0, "clicks", "ACTION,...", NULL,
     "of UBI, the actions that count as a click (default: click,click_through)"},
    {0, "impressions", "ACTION,...", NULL,
     "of UBI, the actions that say an item was looked at (default: impression)"},
    {0, "shown", "N", NULL, "of UBI, only the first N hits of a query were shown"},
    {0, "lenient", NULL, NULL, "skip bad lines and count them, instead of stopping at the first"},
    {0, "json", NULL, NULL, "print the counts as a JSON object"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- progress: a line on a terminal that is rewritten, elsewhere one every ten seconds */

struct learn_progress {
    double begin, next;
    bool terminal, shown;
};

static void show_progress(void *with, const struct log_input *in, const struct log_report *report)
{
    struct learn_progress *p = with;
    double now = progress_now(), share = log_input_share(in);
    uint64_t done =
        report->rows + report->queries + report->events + report->decisions + report->outcomes;
    char rows[GROUPED_SIZE], percent[16] = "";
    if (now < p->next)
        return;
    p->next = now + (p->terminal ? 0.25 : 10);
    p->shown = true;
    if (share >= 0)
        snprintf(percent, sizeof percent, "%3.0f%%  ", floor(100 * share));
    fprintf(stderr, "%s%s%s lines  %.3g M lines/s%s", p->terminal ? "\r" : "oltr: ", percent,
            model_grouped(done, rows), 1e-6 * (double)done / (now - p->begin),
            p->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

static void end_progress(const struct learn_progress *p)
{
    if (p->terminal && p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

/* ---- what is said at the end */

/* "N things text", if there are any. */
static void say_if(uint64_t n, const char *one, const char *many, const char *text)
{
    char number[GROUPED_SIZE];
    if (n > 0)
        printf("  %s %s %s\n", model_grouped(n, number), n == 1 ? one : many, text);
}

static void say_ubi(const struct log_report *r)
{
    say_if(r->unseen_learned, "list", "lists",
           "without a click or an impression counted as seen (--unseen skip leaves them out)");
    say_if(r->unseen_skipped, "list", "lists",
           "without a click or an impression skipped (--unseen seen learns them)");
    say_if(r->empty, "query", "queries", "returned nothing");
    say_if(r->repeated, "query", "queries", "with an id that was read before; the first counts");
    say_if(r->other, "event", "events", "with another action (--clicks, --impressions)");
    say_if(r->orphans, "event", "events", "without a query in the log");
    say_if(r->late, "event", "events", "after the list was closed (--wait, --open)");
    say_if(r->elsewhere, "event", "events", "on something that is not in the list");
}

static void say_notes(const struct log_report *r, const struct log_found *found,
                      const struct log_files *files, const oltr_model *model)
{
    char number[GROUPED_SIZE];
    uint32_t window = oltr_model_settings_of(model)->window;
    if (found->no_list)
        puts("note: there are no list ids; every row is a list of one item");
    if (r->without_id > 0)
        puts("note: lists without ids cannot be recognised: learning this log again counts it "
             "twice");
    if (found->no_position)
        puts("note: there are no positions; the order of the rows is that of the slots");
    if (found->from_reward)
        puts("note: rewards are taken from the column reward");
    if (r->came_back > 0)
        printf("note: %s list%s came back after %s closed: the log has them twice, or their rows "
               "are more than %u lists apart (--open)\n",
               model_grouped(r->came_back, number), plural_s(r->came_back),
               r->came_back == 1 ? "it was" : "they were", files->capacity);
    if (r->learned - r->without_id > window)
        printf("note: the model remembers the ids of %s lists; learning this log again would count "
               "lists twice (make the model with --set window=N)\n",
               model_grouped(window, number));
}

static void say_learned(const struct arguments *arguments, const struct log_report *r,
                        const struct log_found *found, const struct log_files *files,
                        const oltr_model *model)
{
    char rows[GROUPED_SIZE], events[GROUPED_SIZE], lists[GROUPED_SIZE];
    if (r->queries + r->events > 0)
        printf("%s quer%s, %s event%s, ", model_grouped(r->queries, rows), plural_ies(r->queries),
               model_grouped(r->events, events), plural_s(r->events));
    if (r->decisions + r->outcomes > 0)
        printf("%s decision%s, %s outcome%s, ", model_grouped(r->decisions, rows),
               plural_s(r->decisions), model_grouped(r->outcomes, events), plural_s(r->outcomes));
    if (r->rows > 0)
        printf("%s row%s, ", model_grouped(r->rows, rows), plural_s(r->rows));
    printf("%s list%s:\n", model_grouped(r->lists, lists), plural_s(r->lists));
    say_if(r->learned, "list", "lists", "learned");
    say_if(r->known, "list", "lists", "known already");
    say_ubi(r);
    say_notes(r, found, files, model);
    model_say_size(arguments->operand[0], model);
}

static void say_json(const struct log_report *r, const oltr_model *model)
{
    printf("{\"rows\": %llu, \"queries\": %llu, \"decisions\": %llu, \"outcomes\": %llu, "
           "\"lists\": %llu, \"learned\": %llu, \"known\": "
           "%llu, \"came_back\": "
           "%llu, \"without_id\": %llu, \"bad_lines\": %llu, \"bad_lists\": %llu, \"events\": "
           "%llu, \"unseen_learned\": %llu, \"unseen_skipped\": %llu, \"empty\": %llu, "
           "\"repeated\": %llu, \"other_events\": %llu, \"orphans\": %llu, \"late\": %llu, "
           "\"elsewhere\": %llu, \"items\": %u, \"lessons\": %llu}\n",
           (unsigned long long)r->rows, (unsigned long long)r->queries,
           (unsigned long long)r->decisions, (unsigned long long)r->outcomes,
           (unsigned long long)r->lists, (unsigned long long)r->learned,
           (unsigned long long)r->known, (unsigned long long)r->came_back,
           (unsigned long long)r->without_id, (unsigned long long)r->bad,
           (unsigned long long)r->bad_lists, (unsigned long long)r->events,
           (unsigned long long)r->unseen_learned, (unsigned long long)r->unseen_skipped,
           (unsigned long long)r->empty, (unsigned long long)r->repeated,
           (unsigned long long)r->other, (unsigned long long)r->orphans,
           (unsigned long long)r->late, (unsigned long long)r->elsewhere, oltr_model_items(model),
           (unsigned long long)oltr_model_lessons(model));
}

/* ---- learning */

static oltr_status learn_lesson(void *with, const oltr_lesson *lesson, int *applied,
                                oltr_error *error)
{
    return oltr_model_learn(with, lesson, applied, error);
}

/* How many ids of closed lists are recognised in the log itself. */
static uint32_t remembered(uint32_t window)
{
    enum { MOST = 1 << 20 };
    return window < 1 ? 1 : window > MOST ? MOST : window;
}

static oltr_status learn(const struct arguments *arguments, struct log_files *files,
                         oltr_model *model, struct log_report *report, struct log_found *found,
                         oltr_error *error)
{
    const oltr_model_settings *settings = oltr_model_settings_of(model);
    struct learn_progress progress = {.begin = progress_now(),
                                      .terminal = isatty(STDERR_FILENO) == 1};
    progress.next = progress.begin + (progress.terminal ? 0.5 : 10);
    files->options.dim = settings->policy.info->contextual ? settings->policy.dim : 0;
    files->options.clicks_only = settings->policy.info->rewards == OLTR_CLICKS;
    files->options.progress = arguments_has(arguments, "quiet") ? NULL : show_progress;
    files->options.progress_with = &progress;
    files->join.learn = learn_lesson;
    files->join.with = model;
    files->join.report = report;
    files->join.remember = remembered(settings->window);
    oltr_status status = log_files_learn(files, found, error);
    end_progress(&progress);
    return status;
}

static int learn_into(const struct arguments *arguments, struct log_files *files, oltr_store *store)
{
    oltr_error error = {OLTR_OK, ""};
    struct log_report report = {.lenient = arguments_has(arguments, "lenient")};
    struct log_found found = {false};
    oltr_model *model = oltr_store_load(store, &error);
    if (!model)
        return complain_failed(&error);
    oltr_status status = learn(arguments, files, model, &report, &found, &error);
    bool keep = status == OLTR_OK && report.learned > 0;
    int code = status == OLTR_OK ? EXIT_OK
               : status == OLTR_EFULL
                   ? complain(EXIT_FAILED,
                              "%s (make the model with --set most_items=N); nothing "
                              "was changed",
                              error.msg)
                   : complain_of(&error);
    if (oltr_store_loaded(store, keep, &error) != OLTR_OK && code == EXIT_OK)
        code = complain_failed(&error);
    if (code != EXIT_OK)
        return code;
    model_say_skipped(&report);
    const oltr_model *now = oltr_store_read(store);
    if (arguments_has(arguments, "json"))
        say_json(&report, now);
    else if (!arguments_has(arguments, "quiet"))
        say_learned(arguments, &report, &found, files, now);
    oltr_store_done(store);
    return EXIT_OK;
}

int cmd_model_learn(const struct arguments *arguments)
{
    struct log_files files = {.path = arguments->operand + 1, .n = arguments->n_operands - 1};
    oltr_store *store;
    int code = log_reading_options(arguments, &files);
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], true, OLTR_SYNC_ALWAYS, &store);
    return code == EXIT_OK ? model_close(store, learn_into(arguments, &files, store)) : code;
}
