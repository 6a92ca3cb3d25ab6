/* prior_csv.c - see prior_csv.h. */
#include "app/logs/prior_csv.h"

#include "app/logs/log_values.h"
#include "engine/base/error.h"
#include "lab/scorer/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum prior_form { FORM_MOMENTS, FORM_SHAPES, FORM_COUNTS, FORM_SCORES, N_FORMS };
static const char *const form_names[N_FORMS] = {"mean and sd", "a and b", "clicks and impressions",
                                                "scores"};
static const char *const form_columns[FORM_SCORES][2] = {
    {"mean", "sd"}, {"a", "b"}, {"clicks", "impressions"}};

struct prior_reader {
    struct csv_scan scan;
    const char *file;
    bool moments;
    enum prior_form form;
    uint32_t n_columns, item;
    uint32_t *column; /* (n_values) */
    uint32_t n_values;
    double *value; /* (n_values) of one row */
    float *score;  /* the same for scores_prior() */
    struct log_report *report;
    struct prior_table *table;
};

/* ---- the header */

static uint32_t column_of(const struct csv_scan *scan, const char *name, size_t length)
{
    uint32_t i = 0;
    while (i < scan->n_fields && !log_same_name(&scan->field[i], name, length))
        i++;
    return i < scan->n_fields ? i : NO_COLUMN;
}

/* score, score_1, score_xgboost. */
static bool is_score(const struct csv_text *field)
{
    static const char word[] = "score";
    struct csv_text first = {field->at, sizeof word - 1};
    return field->size >= first.size && log_same_name(&first, word, first.size);
}

/* The columns of a form; how many there are. */
static uint32_t find_form(struct prior_reader *r, enum prior_form form)
{
    uint32_t n = 0;
    if (form == FORM_SCORES) {
        for (uint32_t i = 0; i < r->scan.n_fields; i++)
            if (is_score(&r->scan.field[i]))
                r->column[n++] = i;
        return n;
    }
    for (int i = 0; i < 2; i++) {
        r->column[i] = column_of(&r->scan, form_columns[form][i], strlen(form_columns[form][i]));
        n += r->column[i] != NO_COLUMN;
    }
    return n == 2 ? 2 : 0;
}

static oltr_status find_item(struct prior_reader *r, const struct log_names *names,
                             oltr_error *error)
{
    const char *given = names->given[ROLE_ITEM], *usual;
    r->item = given ? column_of(&r->scan, given, names->length[ROLE_ITEM]) : NO_COLUMN;
    for (uint32_t i = 0; !given && r->item == NO_COLUMN; i++) {
        usual = log_usual_name(ROLE_ITEM, i);
        if (!usual)
            break;
        r->item = column_of(&r->scan, usual, strlen(usual));
    }
    if (r->item != NO_COLUMN)
        return OLTR_OK;
    return set_error(error, OLTR_EDATA,
                     "%s:%llu: no column `item`; the first line must name the columns, like "
                     "item,mean,sd",
                     r->file, (unsigned long long)r->scan.line);
}

static oltr_status read_header(struct prior_reader *r, const struct log_names *names,
                               oltr_error *error)
{
    if (log_input_peek(r->scan.in, error) < 0)
        return error->code;
    r->scan.separator = log_separator(r->scan.in->at, r->scan.in->end);
    enum csv_result result = csv_scan_next(&r->scan, error);
    if (result == CSV_FAILED)
        return error->code;
    if (result != CSV_RECORD)
        return set_error(error, OLTR_EDATA, "%s: %s", r->file,
                         result == CSV_END ? "the file is empty" : r->scan.fault);
    r->n_columns = r->scan.n_fields;
    r->column = calloc((size_t)r->n_columns + 2, sizeof *r->column);
    r->value = calloc((size_t)r->n_columns + 2, sizeof *r->value);
    r->score = calloc((size_t)r->n_columns + 2, sizeof *r->score);
    if (!r->column || !r->value || !r->score)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    oltr_status status = find_item(r, names, error);
    for (r->form = FORM_MOMENTS; status == OLTR_OK && r->form < N_FORMS; r->form++) {
        r->n_values = find_form(r, r->form);
        if (r->n_values > 0)
            break;
    }
    if (status == OLTR_OK && r->form == N_FORMS)
        return set_error(error, OLTR_EDATA,
                         "%s:%llu: no columns mean and sd, a and b, clicks and impressions, or "
                         "score_1 to score_M",
                         r->file, (unsigned long long)r->scan.line);
    return status;
}

/* ---- rows */

/* Why the numbers of a row are no prior, or NULL. */
static const char *check_values(const struct prior_reader *r)
{
    const double *v = r->value;
    if (r->form == FORM_MOMENTS && !(v[1] > 0))
        return "sd must be above 0";
    if (r->form == FORM_MOMENTS && !r->moments && !(v[0] > 0 && v[0] < 1))
        return "mean must be above 0 and below 1";
    if (r->form == FORM_MOMENTS && !r->moments && !(v[1] * v[1] < v[0] * (1 - v[0])))
        return "sd must be below sqrt(mean (1 - mean)), which no Beta distribution reaches";
    if (r->form == FORM_SHAPES && !(v[0] > 0 && v[1] > 0))
        return "a and b must be above 0";
    if (r->form == FORM_COUNTS && !(v[0] >= 0 && v[0] <= v[1]))
        return "clicks must be from 0 to impressions";
    for (uint32_t i = 0; r->form == FORM_SCORES && i < r->n_values; i++)
        if (!(v[i] >= 0 && v[i] <= 1))
            return "a score must be from 0 to 1";
    return NULL;
}

static void moments_of_shapes(double a, double b, double pair[2])
{
    double n = a + b;
    pair[0] = a / n;
    pair[1] = sqrt(a / n * (b / n) / (n + 1));
}

static void shapes_of_moments(double mean, double sd, double pair[2])
{
    double n = mean * (1 - mean) / (sd * sd) - 1;
    pair[0] = mean * n;
    pair[1] = (1 - mean) * n;
}

/* The pair of a row; of counts, the counts themselves until the rate of the file is known. */
static void pair_of_row(const struct prior_reader *r, double pair[2])
{
    const double *v = r->value;
    scores one = {1, r->n_values, r->score};
    double a, b;
    if (r->form == FORM_SCORES) {
        for (uint32_t i = 0; i < r->n_values; i++)
            r->score[i] = (float)v[i];
        if (r->moments)
            scores_prior(&one, NULL, NULL, &pair[0], &pair[1]);
        else
            scores_prior(&one, &a, &b, NULL, NULL), pair[0] = a, pair[1] = b;
    } else if (r->form == FORM_MOMENTS && !r->moments) {
        shapes_of_moments(v[0], v[1], pair);
    } else if (r->form == FORM_SHAPES && r->moments) {
        moments_of_shapes(v[0], v[1], pair);
    } else {
        pair[0] = v[0];
        pair[1] = v[1];
    }
}

static bool reserve(struct prior_table *t)
{
    if (t->n < t->room)
        return true;
    size_t room = t->room > 0 ? 2 * (size_t)t->room : 64;
    oltr_name *name = realloc(t->name, room * sizeof *name);
    t->name = name ? name : t->name;
    double *pair = realloc(t->pair, room * 2 * sizeof *pair);
    t->pair = pair ? pair : t->pair;
    uint64_t *line = realloc(t->line, room * sizeof *line);
    t->line = line ? line : t->line;
    if (!name || !pair || !line)
        return false;
    t->room = (uint32_t)room;
    return true;
}

static oltr_status add_row(struct prior_reader *r, oltr_error *error)
{
    struct prior_table *t = r->table;
    const struct csv_text *item = &r->scan.field[r->item];
    if (!reserve(t))
        return set_error(error, OLTR_ENOMEM, "out of memory");
    text_bytes(&t->bytes, item->at, item->size);
    if (t->bytes.failed)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    t->name[t->n] = (oltr_name){NULL, item->size};
    t->line[t->n] = r->scan.line;
    pair_of_row(r, &t->pair[2 * (size_t)t->n]);
    t->n++;
    return OLTR_OK;
}

static oltr_status take_row(struct prior_reader *r, oltr_error *error)
{
    const struct csv_text *item = &r->scan.field[r->item];
    uint64_t line = r->scan.line;
    char word[LOG_QUOTE_SIZE];
    if (r->scan.n_fields != r->n_columns)
        return log_bad_line(r->report, r->file, line, error,
                            "%u field%s, but the first line names %u columns", r->scan.n_fields,
                            r->scan.n_fields == 1 ? "" : "s", r->n_columns);
    if (item->size == 0 || item->size > OLTR_LONGEST_NAME)
        return log_bad_line(r->report, r->file, line, error,
                            "the item must have 1 to 512 bytes; it is `%s`",
                            log_quote(item->at, item->size, word));
    for (uint32_t i = 0; i < r->n_values; i++) {
        const struct csv_text *field = &r->scan.field[r->column[i]];
        if (!value_number(field->at, field->size, &r->value[i]))
            return log_bad_line(r->report, r->file, line, error, "%s must be numbers, not `%s`",
                                form_names[r->form], log_quote(field->at, field->size, word));
    }
    const char *why = check_values(r);
    return why ? log_bad_line(r->report, r->file, line, error, "%s", why) : add_row(r, error);
}

/* ---- the file */

/* Counts become shapes, or moments, when the rate of the file is known. */
static void convert_counts(struct prior_table *t, bool moments)
{
    double clicks = 0.5, impressions = 1; /* so that the rate is never 0 or 1 */
    for (uint32_t i = 0; i < t->n; i++) {
        clicks += t->pair[2 * (size_t)i];
        impressions += t->pair[2 * (size_t)i + 1];
    }
    double rate = clicks / impressions;
    for (uint32_t i = 0; i < t->n; i++) {
        double *pair = &t->pair[2 * (size_t)i];
        double a = pair[0] + rate, b = pair[1] - pair[0] + 1 - rate;
        pair[0] = a;
        pair[1] = b;
        if (moments)
            moments_of_shapes(a, b, pair);
    }
}

static oltr_status read_rows(struct prior_reader *r, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    while (status == OLTR_OK) {
        enum csv_result result = csv_scan_next(&r->scan, error);
        if (result == CSV_END)
            break;
        if (result == CSV_FAILED)
            return error->code;
        status = result == CSV_RECORD
                     ? take_row(r, error)
                     : log_bad_line(r->report, r->file, r->scan.line, error, "%s", r->scan.fault);
    }
    return status;
}

static void place_names(struct prior_table *t)
{
    const char *at = t->bytes.bytes;
    for (uint32_t i = 0; i < t->n; i++) {
        t->name[i].bytes = at;
        at += t->name[i].size;
    }
}

oltr_status prior_csv_read(const char *path, bool moments, const struct log_names *names,
                           struct log_report *report, struct prior_table *out, oltr_error *error)
{
    struct log_input in;
    struct prior_reader r = {.file = strcmp(path, "-") == 0 ? "standard input" : path,
                             .moments = moments,
                             .report = report,
                             .table = out};
    *out = (struct prior_table){.n = 0};
    oltr_status status = log_input_open(&in, path, error);
    if (status != OLTR_OK)
        return status;
    status = csv_scan_begin(&r.scan, &in, error);
    if (status == OLTR_OK)
        status = read_header(&r, names, error);
    if (status == OLTR_OK)
        status = read_rows(&r, error);
    if (status == OLTR_OK && out->n == 0)
        status = set_error(error, OLTR_EDATA, "%s has no rows", r.file);
    if (status == OLTR_OK && r.form == FORM_COUNTS)
        convert_counts(out, moments);
    if (status == OLTR_OK) {
        place_names(out);
        out->form = form_names[r.form];
    }
    free(r.column);
    free(r.value);
    free(r.score);
    csv_scan_free(&r.scan);
    log_input_close(&in);
    return status;
}

void prior_table_free(struct prior_table *table)
{
    free(table->name);
    free(table->pair);
    free(table->line);
    text_free(&table->bytes);
    *table = (struct prior_table){.n = 0};
}

void prior_table_average(const struct prior_table *table, bool moments, double pair[2])
{
    double mean = 0, square = 0;
    for (uint32_t i = 0; i < table->n; i++) {
        double own[2] = {table->pair[2 * (size_t)i], table->pair[2 * (size_t)i + 1]};
        if (!moments)
            moments_of_shapes(own[0], own[1], own);
        mean += own[0] / table->n;
        square += (own[0] * own[0] + own[1] * own[1]) / table->n;
    }
    double sd = sqrt(fmax(square - mean * mean, 1e-12));
    pair[0] = mean;
    pair[1] = sd;
    if (!moments)
        shapes_of_moments(mean, sd, pair);
}
