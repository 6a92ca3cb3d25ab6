/* ope_results.c - see ope_results.h. */
#include "app/ope/ope_results.h"

#include "engine/base/error.h"
#include "report/io/csv.h"
#include "report/io/json_text.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- estimating */

bool ope_can_estimate(const struct ope_data *data, const struct policy_chances *chances,
                      oltr_ope_estimator estimator, const char **why)
{
    bool slot = estimator == OLTR_OPE_IIPS || estimator == OLTR_OPE_SNIIPS,
         model = estimator == OLTR_OPE_DM || estimator == OLTR_OPE_DR,
         prefix = !slot && estimator != OLTR_OPE_DM && estimator != OLTR_OPE_REPLAY;
    *why = data->by_row && !slot ? "the log has no list ids, and its rows are the only lists there "
                                   "are: only iips and sniips can be computed"
           : slot && !data->eval.column[OPE_SLOT]
               ? "the log has no slot_propensities (CSV: slot_propensity), the chance of each item "
                 "in its slot"
           : prefix && !data->eval.column[OPE_PREFIX]
               ? "the log has no prefix_propensities (CSV: prefix_propensity), the chance that a "
                 "list begins with the items down to each slot"
           : slot && !chances->slot     ? "the chance of an item in a slot is not known of it"
           : prefix && !chances->prefix ? "the chance of a whole list is not known of it"
           : model && !chances->v       ? "it has no chances of what the log did not show"
           : estimator == OLTR_OPE_REPLAY && !chances->match ? "it makes no lists"
                                                             : NULL;
    return !*why;
}

static oltr_ope_log log_of(const struct ope_data *data, const struct policy_chances *chances)
{
    const struct ope_lists *lists = &data->eval;
    return (oltr_ope_log){.n = lists->n,
                          .k = lists->k,
                          .length = lists->length,
                          .reward = lists->reward,
                          .logged_prefix = lists->column[OPE_PREFIX],
                          .logged_slot = lists->column[OPE_SLOT],
                          .evaluated_prefix = chances->prefix,
                          .evaluated_slot = chances->slot,
                          .q = chances->q,
                          .v = chances->v,
                          .match = chances->match};
}

static oltr_status append(struct ope_results *results, const struct ope_estimate *row,
                          oltr_error *error)
{
    if (results->n == results->room) {
        uint32_t room = 2 * results->room + 16;
        struct ope_estimate *estimate = realloc(results->estimate, room * sizeof *estimate);
        if (!estimate)
            return set_error(error, OLTR_ENOMEM, "out of memory");
        results->estimate = estimate;
        results->room = room;
    }
    results->estimate[results->n++] = *row;
    return OLTR_OK;
}

/* The first list whose weight is beyond 1e150, which only the self-normalised forms can use. */
static bool find_heavy(const struct ope_data *data, const double *evaluated, const double *logged,
                       uint64_t *list, uint32_t *slot)
{
    const struct ope_lists *lists = &data->eval;
    for (*list = 0; *list < lists->n; (*list)++)
        for (*slot = 0; *slot < lists->length[*list]; (*slot)++) {
            uint64_t at = *list * lists->k + *slot;
            if (evaluated[at] > 0 && log(evaluated[at]) - log(logged[at]) > 150 * log(10))
                return true;
        }
    return false;
}

static bool note_heavy(struct ope_results *results, const struct ope_data *data,
                       const struct policy_chances *chances, const struct ope_estimate *row)
{
    bool by_slot = strcmp(row->estimator, "iips") == 0;
    const double *logged = data->eval.column[by_slot ? OPE_SLOT : OPE_PREFIX],
                 *evaluated = by_slot ? chances->slot : chances->prefix;
    uint64_t list;
    uint32_t slot;
    if (!logged || !evaluated || !find_heavy(data, evaluated, logged, &list, &slot))
        return false;
    ope_results_note(results,
                     "%s, %s: not computed, as a weight is above 1e150: %s:%llu: slot %u was shown "
                     "with a chance of %.3g; a self-normalised estimator can use it",
                     row->policy, row->estimator, data->eval.file[list],
                     (unsigned long long)data->eval.line[list], slot + 1,
                     logged[list * data->eval.k + slot]);
    return true;
}

oltr_status ope_results_add(struct ope_results *results, const struct ope_data *data,
                            const struct policy_chances *chances, oltr_ope_estimator estimator,
                            const oltr_ope_options *options, struct ope_estimate *row,
                            oltr_error *error)
{
    oltr_ope_log log = log_of(data, chances);
    oltr_error why = {OLTR_OK, ""};
    row->estimator = oltr_ope_name(estimator);
    row->has_weights = estimator != OLTR_OPE_DM;
    oltr_status status = oltr_ope_estimate(&log, estimator, options, &row->result, &why);
    if (status == OLTR_OK)
        return append(results, row, error);
    if (status == OLTR_EVALUE && note_heavy(results, data, chances, row))
        return OLTR_OK;
    return set_error(error, status, "%s, %s: %.200s", row->policy, row->estimator, why.msg);
}

oltr_status ope_results_add_logged(struct ope_results *results, const struct ope_data *data,
                                   const oltr_ope_options *options, oltr_error *error)
{
    const struct ope_lists *lists = &data->eval;
    struct ope_estimate row = {.policy = "(logged)", .estimator = "mean", .chances = ""};
    double *sum = calloc(lists->n * lists->k + 1, sizeof *sum);
    if (!sum)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < lists->n; i++)
        for (uint32_t l = 0; l < lists->length[i]; l++)
            sum[i * lists->k] += lists->reward[i * lists->k + l];
    oltr_ope_log log = {.n = lists->n, .k = lists->k, .length = lists->length, .v = sum};
    oltr_status status = oltr_ope_estimate(&log, OLTR_OPE_DM, options, &row.result, error);
    if (status == OLTR_EVALUE && options->interval == OLTR_OPE_BERNSTEIN) {
        oltr_ope_options other = *options;
        other.interval = OLTR_OPE_NORMAL;
        ope_results_note(results, "(logged), mean: it has no interval: %s", error->msg);
        status = oltr_ope_estimate(&log, OLTR_OPE_DM, &other, &row.result, error);
        row.result.low = row.result.high = NAN;
    }
    free(sum);
    return status == OLTR_OK ? append(results, &row, error) : status;
}

void ope_results_note(struct ope_results *results, const char *format, ...)
{
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_printf(&results->notes, "%s\n", text);
    results->n_notes++;
}

void ope_results_free(struct ope_results *results)
{
    free(results->estimate);
    text_free(&results->notes);
    *results = (struct ope_results){.n = 0};
}

/* ---- a table */

enum { MOST_NAME = 34 };

static int name_width(const struct ope_results *results)
{
    size_t width = strlen("policy");
    for (uint32_t i = 0; i < results->n; i++) {
        size_t size = text_width(results->estimate[i].policy);
        width = size > width ? size : width;
    }
    return width < MOST_NAME ? (int)width : MOST_NAME;
}

static void add_cell(struct text *out, double value, const char *format, int width)
{
    char cell[32] = "-";
    if (isfinite(value))
        snprintf(cell, sizeof cell, format, value); /* NOLINT: the formats are below */
    text_printf(out, " %*s", width, cell);
}

static void add_interval(struct text *out, const oltr_ope_result *r)
{
    char cell[48] = "-";
    if (isfinite(r->low) && isfinite(r->high))
        snprintf(cell, sizeof cell, "[%.5g, %.5g]", r->low, r->high);
    text_printf(out, "  %-22s", cell);
}

/* Warnings that several rows share have one number. */
static uint32_t warning_number(const struct ope_results *results, uint32_t row)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i <= row; i++) {
        bool first = results->estimate[i].result.warning[0] != '\0';
        for (uint32_t j = 0; first && j < i; j++)
            first = strcmp(results->estimate[i].result.warning,
                           results->estimate[j].result.warning) != 0;
        number += first;
        if (strcmp(results->estimate[i].result.warning, results->estimate[row].result.warning) == 0)
            return number;
    }
    return number;
}

static void add_row(const struct ope_results *results, uint32_t i, int width, struct text *out)
{
    const struct ope_estimate *e = &results->estimate[i];
    const oltr_ope_result *r = &e->result;
    size_t size = strlen(e->policy), columns = text_width(e->policy);
    int blanks = (int)columns < width ? width - (int)columns : 0;
    bool cut = columns > MOST_NAME && size > MOST_NAME;
    text_printf(out, "%.*s%s%*s  %-9s", cut ? (int)text_cut(e->policy, MOST_NAME - 1) : (int)size,
                e->policy, cut ? "~" : "", blanks, "", e->estimator);
    add_cell(out, r->value, "%.5g", 10);
    add_cell(out, r->se, "%.2g", 9);
    add_interval(out, r);
    add_cell(out, e->has_weights ? r->ess : NAN, "%.0f", 9);
    add_cell(out, e->has_weights ? r->mean_weight : NAN, "%.3g", 11);
    text_printf(out, "  %s", e->chances);
    if (r->warning[0] != '\0')
        text_printf(out, "%s(%u)", e->chances[0] ? " " : "", warning_number(results, i));
    text_add(out, "\n");
}

static void add_warnings(const struct ope_results *results, struct text *out)
{
    uint32_t said = 0;
    for (uint32_t i = 0; i < results->n; i++) {
        const char *warning = results->estimate[i].result.warning;
        if (warning[0] == '\0' || warning_number(results, i) <= said)
            continue;
        said = warning_number(results, i);
        text_printf(out, "%s(%u) %s\n", said == 1 ? "\n" : "", said, warning);
    }
}

static void trim_blanks(struct text *out, size_t from)
{
    size_t to = from;
    for (size_t i = from; i < out->length; i++) {
        if (out->bytes[i] == '\n')
            while (to > from && out->bytes[to - 1] == ' ')
                to--;
        out->bytes[to++] = out->bytes[i];
    }
    out->length = to;
    out->bytes[to] = '\0';
}

void ope_results_text(const struct ope_results *results, struct text *out)
{
    int width = name_width(results);
    size_t from = out->length;
    text_printf(out, "%-*s  %-9s %10s %9s  %3.4g %%%-17s %9s %11s  chances\n", width, "policy",
                "estimator", "value", "se", 100 * results->confidence, " interval", "eff. size",
                "mean weight");
    for (uint32_t i = 0; i < results->n; i++)
        add_row(results, i, width, out);
    if (!out->failed)
        trim_blanks(out, from);
    add_warnings(results, out);
    if (results->notes.length > 0)
        text_printf(out, "\n%s", results->notes.bytes);
}

/* ---- CSV and JSON */

static const char *const number_keys[] = {
    "value", "se", "low", "high", "ess", "mean_weight", "largest", "largest_share", "zero_share"};
enum { N_NUMBERS = sizeof number_keys / sizeof *number_keys };

static void numbers_of(const struct ope_estimate *e, double out[N_NUMBERS])
{
    const oltr_ope_result *r = &e->result;
    const double value[N_NUMBERS] = {r->value,
                                     r->se,
                                     r->low,
                                     r->high,
                                     e->has_weights ? r->ess : NAN,
                                     e->has_weights ? r->mean_weight : NAN,
                                     e->has_weights ? r->largest : NAN,
                                     e->has_weights ? r->largest_share : NAN,
                                     e->has_weights ? r->zero_share : NAN};
    memcpy(out, value, sizeof value);
}

void ope_results_csv(const struct ope_results *results, struct text *out)
{
    text_add(out, "policy,estimator,value,se,low,high,ess,mean_weight,largest,largest_share,"
                  "zero_share,slot,lists,confidence,interval,chances,warning\n");
    for (uint32_t i = 0; i < results->n; i++) {
        const struct ope_estimate *e = &results->estimate[i];
        double value[N_NUMBERS];
        numbers_of(e, value);
        csv_field(out, e->policy);
        text_printf(out, ",%s", e->estimator);
        for (int j = 0; j < N_NUMBERS; j++) {
            text_add(out, ",");
            if (isfinite(value[j]))
                text_printf(out, "%.17g", value[j]);
        }
        text_printf(out, ",%u,%llu,%g,%s,%s,", e->result.slot, (unsigned long long)e->result.n,
                    results->confidence, results->interval, e->chances);
        csv_field(out, e->result.warning);
        text_add(out, "\n");
    }
}

static void add_json_string(struct text *out, const char *value)
{
    json_t *json = json_any_string(value);
    char *text = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    out->failed = out->failed || !text;
    text_add(out, text ? text : "null");
    free(text);
    json_decref(json);
}

static void add_string(struct text *out, const char *key, const char *value)
{
    text_printf(out, "\"%s\": ", key);
    add_json_string(out, value);
}

static void add_json_row(const struct ope_estimate *e, struct text *out)
{
    double value[N_NUMBERS];
    numbers_of(e, value);
    text_add(out, "{");
    add_string(out, "policy", e->policy);
    text_printf(out, ", \"estimator\": \"%s\"", e->estimator);
    for (int j = 0; j < N_NUMBERS; j++)
        if (isfinite(value[j]))
            text_printf(out, ", \"%s\": %.17g", number_keys[j], value[j]);
        else
            text_printf(out, ", \"%s\": null", number_keys[j]);
    text_printf(out, ", \"slot\": %u, \"lists\": %llu, \"chances\": \"%s\", ", e->result.slot,
                (unsigned long long)e->result.n, e->chances);
    add_string(out, "warning", e->result.warning);
    text_add(out, "}");
}

static void add_json_notes(const struct ope_results *results, struct text *out)
{
    const char *at = results->notes.length > 0 ? results->notes.bytes : "";
    text_add(out, "\"notes\": [");
    for (uint32_t i = 0; i < results->n_notes; i++) {
        size_t size = strcspn(at, "\n");
        char line[640];
        snprintf(line, sizeof line, "%.*s", (int)size, at);
        text_add(out, i > 0 ? ", " : "");
        add_json_string(out, line);
        at += size + 1;
    }
    text_add(out, "]");
}

void ope_results_json(const struct ope_results *results, struct text *out)
{
    text_add(out, "{");
    add_string(out, "log", results->log);
    text_printf(out,
                ", \"lists\": %llu, \"slots\": %u, \"items\": %u, \"list_ids\": %s, "
                "\"confidence\": %.17g, \"interval\": \"%s\",\n \"estimates\": [",
                (unsigned long long)results->lists, results->slots, results->items,
                results->by_row ? "false" : "true", results->confidence, results->interval);
    for (uint32_t i = 0; i < results->n; i++) {
        text_add(out, i > 0 ? ",\n  " : "\n  ");
        add_json_row(&results->estimate[i], out);
    }
    text_add(out, "],\n ");
    add_json_notes(results, out);
    text_add(out, "}\n");
}
