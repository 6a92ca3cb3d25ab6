/* ope_comparison.c - the estimates of `oltr ope`: which can be computed, the chances of each
 * policy, and what there is to say about them. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/progress.h"
#include "app/verbs/log_reading.h"
#include "app/verbs/ope_run.h"
#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_DRAWS = 1000 };
#define RATE_STRENGTH 20 /* observations; see oltr_ope_rates() */

/* ---- which estimators */

static bool is_ratio(uint32_t estimator)
{
    return estimator == OLTR_OPE_SNSIPS || estimator == OLTR_OPE_SNIIPS ||
           estimator == OLTR_OPE_SNRIPS || estimator == OLTR_OPE_REPLAY;
}

/* Replay is right only where all lists had the same chance. */
static bool is_uniform(const struct ope_data *data)
{
    const struct ope_lists *lists = &data->eval;
    const double *prefix = lists->column[OPE_PREFIX];
    for (uint64_t i = 0; prefix && i < lists->n; i++) {
        double first = prefix[lists->length[0] - 1],
               this = prefix[i * lists->k + lists->length[i] - 1];
        if (lists->length[i] != lists->length[0] || fabs(this - first) > 1e-9 * first)
            return false;
    }
    return prefix;
}

/* Which estimators to try: those that were asked for, or all that may be right. */
static bool is_tried(const struct ope_run *run, uint32_t estimator)
{
    if (run->any_chosen)
        return run->chosen[estimator];
    if (run->options.interval == OLTR_OPE_BERNSTEIN && is_ratio(estimator))
        return false;
    return estimator != OLTR_OPE_REPLAY || is_uniform(&run->data);
}

static struct chances_wanted what_is_wanted(const struct ope_run *run)
{
    const struct ope_data *data = &run->data;
    bool prefix = data->eval.column[OPE_PREFIX], slot = data->eval.column[OPE_SLOT];
    struct chances_wanted w = {
        .draws = run->draws, .seed = run->options.seed, .rate = run->rate, .folds = run->folds};
    w.prefix = prefix && !data->by_row &&
               (is_tried(run, OLTR_OPE_SIPS) || is_tried(run, OLTR_OPE_RIPS) ||
                is_tried(run, OLTR_OPE_SNSIPS) || is_tried(run, OLTR_OPE_SNRIPS));
    w.slot = slot && (is_tried(run, OLTR_OPE_IIPS) || is_tried(run, OLTR_OPE_SNIIPS));
    w.rewards =
        !data->by_row && (is_tried(run, OLTR_OPE_DM) || (prefix && is_tried(run, OLTR_OPE_DR)));
    w.match = !data->by_row && is_tried(run, OLTR_OPE_REPLAY);
    return w;
}

/* The predicted rewards behind dr and dm. */
static int predict_rewards(struct ope_run *run)
{
    const struct ope_lists *lists = &run->data.eval;
    oltr_error error = {OLTR_OK, ""};
    if (!what_is_wanted(run).rewards)
        return EXIT_OK;
    size_t all = (size_t)run->folds * lists->k * run->data.items.n;
    uint32_t *fold = calloc(lists->n + 1, sizeof *fold);
    run->rate = calloc(all + 1, sizeof *run->rate);
    oltr_ope_log log = {
        .n = lists->n, .k = lists->k, .length = lists->length, .reward = lists->reward};
    for (uint64_t i = 0; fold && i < lists->n; i++)
        fold[i] = ope_fold(lists->choice[i], run->folds);
    oltr_status status = fold && run->rate
                             ? oltr_ope_rates(&log, lists->item, run->data.items.n, fold,
                                              run->folds, RATE_STRENGTH, run->rate, &error)
                             : set_error(&error, OLTR_ENOMEM, "out of memory");
    free(fold);
    return status == OLTR_OK ? EXIT_OK : complain_of(&error);
}

/* ---- progress: exact chances may take milliseconds a list */

struct chances_progress {
    const char *policy;
    double begin, next;
    bool terminal, shown;
};

static struct chances_progress chances_begin(const char *policy)
{
    struct chances_progress p = {
        .policy = policy, .begin = progress_now(), .terminal = isatty(STDERR_FILENO) == 1};
    p.next = p.begin + (p.terminal ? 0.5 : 10);
    return p;
}

static void show_chances(void *with, uint64_t done, uint64_t lists)
{
    struct chances_progress *p = with;
    double now = progress_now(), rate = (double)done / (now - p->begin);
    char number[GROUPED_SIZE], all[GROUPED_SIZE], left[32];
    if (now < p->next)
        return;
    p->next = now + (p->terminal ? 0.25 : 10);
    p->shown = true;
    progress_time((double)(lists - done) / rate, left, sizeof left);
    fprintf(stderr, "%s%s: chances of %s of %s lists  %.3g lists/s  %s left%s",
            p->terminal ? "\r" : "oltr: ", p->policy, model_grouped(done, number),
            model_grouped(lists, all), rate, left, p->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

static void end_chances(const struct chances_progress *p)
{
    if (p->terminal && p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

/* ---- chances */

static oltr_status find_model_chances(struct ope_run *run, const struct evaluated *p,
                                      struct ope_estimate *row, struct policy_chances *out,
                                      oltr_error *error)
{
    struct chances_wanted wanted = what_is_wanted(run);
    struct chances_progress progress = chances_begin(p->label);
    wanted.progress = show_chances;
    wanted.progress_with = &progress;
    oltr_status status = chances_of_model(&run->data, p->model, p->greedy, &wanted, out, error);
    if (status == OLTR_EUNSUPPORTED && wanted.draws == 0) {
        policy_chances_free(out);
        wanted.draws = DEFAULT_DRAWS;
        status = chances_of_model(&run->data, p->model, p->greedy, &wanted, out, error);
    }
    end_chances(&progress);
    snprintf(row->chances, sizeof row->chances, wanted.draws > 0 ? "%u draws" : "exact",
             wanted.draws);
    return status;
}

static int find_log_chances(struct ope_run *run, const struct evaluated *p,
                            struct policy_chances *out)
{
    oltr_error error = {OLTR_OK, ""};
    struct ope_data other = {.open = run->data.open};
    struct log_found found;
    struct log_report report = {.lenient = run->report.lenient};
    struct log_files files = {.path = &p->text, .n = 1};
    oltr_status status = ope_data_columns(&other, NULL, 0, &error);
    files.options.names.extra = other.extra;
    files.options.names.n_extra = other.n_columns;
    int code =
        status == OLTR_OK ? log_reading_options(run->arguments, &files) : complain_of(&error);
    files.join.take = ope_data_take;
    files.join.with = &other;
    files.join.report = &report;
    files.join.remember = 1 << 16;
    if (code == EXIT_OK && (log_files_learn(&files, &found, &error) != OLTR_OK ||
                            ope_data_end(&other, &error) != OLTR_OK ||
                            chances_of_shares(&run->data, &other, out, &error) != OLTR_OK))
        code = complain_of(&error);
    ope_data_free(&other);
    return code;
}

static int find_chances(struct ope_run *run, const struct evaluated *p, struct ope_estimate *row,
                        struct policy_chances *out)
{
    oltr_error error = {OLTR_OK, ""};
    *out = (struct policy_chances){.borrowed = false};
    if (p->form == BY_COLUMNS) {
        snprintf(row->chances, sizeof row->chances, "columns");
        chances_of_columns(&run->data, p->column, out);
        return out->prefix || out->slot
                   ? EXIT_OK
                   : complain(EXIT_USAGE, "%s has neither %s_prefix nor %s_slot", run->data.file,
                              p->text, p->text);
    }
    if (p->form == BY_LOG) {
        snprintf(row->chances, sizeof row->chances, "shares");
        return find_log_chances(run, p, out);
    }
    return find_model_chances(run, p, row, out, &error) == OLTR_OK ? EXIT_OK : complain_of(&error);
}

/* One estimator; where it cannot be computed, a note says why and the others are. */
static int estimate_by(struct ope_run *run, const struct evaluated *p,
                       const struct policy_chances *chances, oltr_ope_estimator estimator,
                       struct ope_estimate *row, const char **why)
{
    oltr_error error = {OLTR_OK, ""};
    if (!ope_can_estimate(&run->data, chances, estimator, why)) {
        if (run->any_chosen)
            ope_results_note(&run->results, "%s, %s: %s", p->label, oltr_ope_name(estimator), *why);
        return EXIT_OK;
    }
    oltr_status status =
        ope_results_add(&run->results, &run->data, chances, estimator, &run->options, row, &error);
    if (status == OLTR_EUNSUPPORTED || status == OLTR_EVALUE)
        ope_results_note(&run->results, "%s", error.msg);
    else if (status != OLTR_OK)
        return complain_of(&error);
    return EXIT_OK;
}

/* The first note from here on says why there is no estimate. */
static void keep_reason(struct ope_run *run, size_t from)
{
    const struct text *notes = &run->results.notes;
    if (run->reason[0] == '\0' && !notes->failed && notes->length > from)
        snprintf(run->reason, sizeof run->reason, "%.*s", (int)strcspn(notes->bytes + from, "\n"),
                 notes->bytes + from);
}

static int estimate_all(struct ope_run *run, const struct evaluated *p,
                        const struct policy_chances *chances, struct ope_estimate *row)
{
    const char *why = NULL;
    uint32_t before = run->results.n;
    size_t notes = run->results.notes.length;
    int code = EXIT_OK;
    for (uint32_t e = 0; code == EXIT_OK && e < OLTR_OPE_ESTIMATORS; e++)
        if (is_tried(run, e))
            code = estimate_by(run, p, chances, (oltr_ope_estimator)e, row, &why);
    if (run->results.n == before && run->results.notes.length == notes)
        ope_results_note(&run->results, "%s: nothing can be estimated: %s", p->label,
                         why ? why : "the log has no propensities");
    keep_reason(run, notes);
    return code;
}

static int evaluate(struct ope_run *run, struct evaluated *p)
{
    struct ope_estimate row = {.policy = p->label};
    struct policy_chances chances = {.borrowed = false};
    int code = p->form == BY_KIND ? ope_train(run, p) : EXIT_OK;
    if (p->form == BY_MODEL)
        ope_note_learned(run, p);
    if (code == EXIT_OK)
        code = find_chances(run, p, &row, &chances);
    if (code == EXIT_OK)
        code = estimate_all(run, p, &chances, &row);
    policy_chances_free(&chances);
    return code;
}

static void note_log(struct ope_run *run)
{
    const struct log_report *r = &run->report;
    struct ope_results *to = &run->results;
    char number[GROUPED_SIZE], items[GROUPED_SIZE];
    bool models = ope_has_models(run);
    if (run->data.by_row)
        ope_results_note(to, "the log has no list ids: every row is a list of its own, values are "
                             "mean rewards of a row, and only iips and sniips can be computed");
    if (run->data.by_row && run->data.most_position == 0)
        ope_results_note(to, "there are no positions: every row is taken as the first slot");
    if (models && run->items_from)
        ope_results_note(to,
                         "candidates: the log says that all items of a model were ranked; all %s "
                         "items of %s are taken",
                         model_grouped(run->data.items.n, items), run->items_from);
    else if (models && (run->data.no_candidates || run->data.fewest.n > 0))
        ope_results_note(to, "candidates: the log %s; all %s items of it are taken",
                         run->data.no_candidates ? "does not say what could have been shown"
                                                 : "says that all items of a model were ranked",
                         model_grouped(run->data.items.n, items));
    if (r->orphans > 0)
        ope_results_note(to, "%s click%s or impression%s without a list in the log",
                         model_grouped(r->orphans, number), plural_s(r->orphans),
                         plural_s(r->orphans));
    if (r->late + r->elsewhere > 0)
        ope_results_note(to, "%s outcome%s after the list was closed, or not on what it showed",
                         model_grouped(r->late + r->elsewhere, number),
                         plural_s(r->late + r->elsewhere));
    if (r->unseen_learned > 0)
        ope_results_note(
            to,
            "%s list%s without an outcome counted as not clicked (--unseen skip leaves "
            "them out)",
            model_grouped(r->unseen_learned, number), plural_s(r->unseen_learned));
    if (r->unseen_skipped > 0)
        ope_results_note(to, "%s list%s without an outcome left out",
                         model_grouped(r->unseen_skipped, number), plural_s(r->unseen_skipped));
}

int ope_evaluate_all(struct ope_run *run)
{
    oltr_error error = {OLTR_OK, ""};
    struct ope_results *results = &run->results;
    results->log = run->arguments->operand[0];
    results->lists = run->data.eval.n;
    results->slots = run->data.by_row ? 1 : run->data.eval.k;
    results->items = run->data.items.n;
    results->by_row = run->data.by_row;
    results->confidence = run->options.confidence;
    results->interval = ope_intervals[run->options.interval];
    int code = predict_rewards(run);
    if (code == EXIT_OK &&
        ope_results_add_logged(results, &run->data, &run->options, &error) != OLTR_OK)
        code = complain_of(&error);
    for (uint32_t i = 0; code == EXIT_OK && i < run->n_policies; i++)
        code = evaluate(run, &run->policy[i]);
    if (code == EXIT_OK)
        note_log(run);
    return code;
}
