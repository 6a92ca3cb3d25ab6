/* csv_log.c - see csv_log.h.  A row costs its scan, two or three short numbers, and a copy of its
 * item's name into the open list. */
#include "app/logs/csv_log.h"

#include "app/logs/log_values.h"
#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>

struct csv_log {
    struct csv_scan scan;
    struct log_columns columns;
    const struct log_options *options;
    struct log_join *join;
    struct log_report *report;
    const char *file;
    uint32_t value; /* the column of clicks or rewards */
    bool plain;     /* nothing else is read: no examined, weight, time or features */
    float *x;       /* (dim) of one row */
};

/* ---- one row */

/* Why a row cannot be taken, and what was found; found NULL: nothing to show. */
struct row_fault {
    const char *what;
    const struct csv_text *found;
};

static bool fault(struct row_fault *out, const char *what, const struct csv_text *found)
{
    *out = (struct row_fault){what, found};
    return false;
}

static const struct csv_text *field_of(const struct csv_log *log, enum log_role role)
{
    uint32_t at = log->columns.at[role];
    return at == NO_COLUMN ? NULL : &log->scan.field[at];
}

static bool take_names(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *list = field_of(log, ROLE_LIST), *item = field_of(log, ROLE_ITEM);
    if (list) {
        if (list->size == 0 || list->size > OLTR_LONGEST_NAME)
            return fault(why, "the id of the list must have 1 to 512 bytes; it is", list);
        row->list = list->at;
        row->list_size = list->size;
    }
    if (item && log->columns.dim == 0) {
        if (item->size == 0 || item->size > OLTR_LONGEST_NAME)
            return fault(why, "the item must have 1 to 512 bytes; it is", item);
        row->name = item->at;
        row->name_size = item->size;
    }
    return true;
}

static bool take_position(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *field = field_of(log, ROLE_POSITION);
    if (!field || !row->list)
        return true;
    uint32_t digit = field->size == 1 ? (uint32_t)(unsigned char)*field->at - '0' : 0;
    if (digit >= 1 && digit <= 9) { /* most positions */
        row->position = digit;
        return true;
    }
    if (!value_whole_number(field->at, field->size, &row->position) || row->position < 1 ||
        row->position > OLTR_MOST_SHOWN)
        return fault(why, "the position must be a whole number from 1 to 1024, not", field);
    return true;
}

static bool take_reward(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *field = &log->scan.field[log->value];
    bool clicked;
    if (field->size == 1 && (*field->at == '0' || *field->at == '1')) {
        row->reward = *field->at - '0';
        return true;
    }
    if (value_yes_no(field->at, field->size, &clicked)) {
        row->reward = clicked;
        return true;
    }
    if (log->options->clicks_only)
        return fault(why, "this model learns from clicks, 0 or 1, not", field);
    if (!value_number(field->at, field->size, &row->reward))
        return fault(why, "the reward must be a number, not", field);
    return true;
}

static bool take_examined(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *field = field_of(log, ROLE_EXAMINED);
    bool examined;
    if (!field)
        return true;
    if (!value_yes_no(field->at, field->size, &examined))
        return fault(why, "whether it was examined must be 0 or 1, not", field);
    row->examined = examined;
    if (!examined && row->reward > 0)
        return fault(why, "clicked, but not examined", NULL);
    return true;
}

static bool take_rest(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *weight = field_of(log, ROLE_WEIGHT), *time = field_of(log, ROLE_TIME);
    if (weight && (!value_number(weight->at, weight->size, &row->weight) || row->weight <= 0 ||
                   row->weight > OLTR_MAX_WEIGHT))
        return fault(why, "the weight must be a number above 0 and at most 1e6, not", weight);
    if (time && log->join->options.rows_wait && !value_time(time->at, time->size, &row->time))
        return fault(why, "the time must be like 2024-11-01T12:30:00Z, or seconds, not", time);
    for (uint32_t j = 0; j < log->columns.dim; j++) {
        const struct csv_text *field = &log->scan.field[log->columns.feature[j]];
        double value;
        if (!value_number(field->at, field->size, &value))
            return fault(why, "a feature must be a number, not", field);
        log->x[j] = (float)value;
    }
    row->x = log->x;
    return true;
}

static oltr_status take_row(struct csv_log *log, oltr_error *error)
{
    struct log_row row = {.examined = EXAMINED_UNKNOWN, .weight = 1, .time = NAN};
    struct row_fault why = {NULL, NULL};
    uint64_t line = log->scan.line;
    char text[LOG_QUOTE_SIZE];
    if (log->scan.n_fields != log->columns.n_columns)
        return log_bad_line(log->report, log->file, line, error,
                            "%u field%s, but the first line names %u columns", log->scan.n_fields,
                            log->scan.n_fields == 1 ? "" : "s", log->columns.n_columns);
    if (take_names(log, &row, &why) && take_position(log, &row, &why) &&
        take_reward(log, &row, &why) &&
        (log->plain || (take_examined(log, &row, &why) && take_rest(log, &row, &why))))
        return log_join_row(log->join, &row, log->file, line, error);
    if (!why.found)
        return log_bad_line(log->report, log->file, line, error, "%s", why.what);
    return log_bad_line(log->report, log->file, line, error, "%s `%s`", why.what,
                        log_quote(why.found->at, why.found->size, text));
}

/* ---- the log */

static oltr_status read_header(struct csv_log *log, struct log_found *found, oltr_error *error)
{
    oltr_error what = {OLTR_OK, ""};
    if (log_input_peek(log->scan.in, error) < 0)
        return error->code;
    log->scan.separator = log_separator(log->scan.in->at, log->scan.in->end);
    enum csv_result result = csv_scan_next(&log->scan, error);
    if (result == CSV_FAILED)
        return error->code;
    if (result == CSV_END)
        return set_error(error, OLTR_EDATA, "%s is empty", log->file);
    if (result == CSV_BAD)
        return set_error(error, OLTR_EDATA, "%s:%llu: %s", log->file,
                         (unsigned long long)log->scan.line, log->scan.fault);
    oltr_status status = log_columns_find(&log->options->names, log->scan.field, log->scan.n_fields,
                                          log->options->dim, &log->columns, &what);
    if (status != OLTR_OK)
        return set_error(error, status, "%s:%llu: %.230s", log->file,
                         (unsigned long long)log->scan.line, what.msg);
    const uint32_t *at = log->columns.at;
    bool reward =
        at[ROLE_REWARD] != NO_COLUMN && (!log->options->clicks_only || at[ROLE_CLICK] == NO_COLUMN);
    log->value = at[reward ? ROLE_REWARD : ROLE_CLICK];
    log->plain = at[ROLE_EXAMINED] == NO_COLUMN && at[ROLE_WEIGHT] == NO_COLUMN &&
                 !log->join->options.rows_wait && log->columns.dim == 0;
    found->from_reward = found->from_reward || reward;
    found->no_list = found->no_list || at[ROLE_LIST] == NO_COLUMN;
    found->no_position =
        found->no_position || (at[ROLE_POSITION] == NO_COLUMN && at[ROLE_LIST] != NO_COLUMN);
    return OLTR_OK;
}

static oltr_status read_rows(struct csv_log *log, oltr_error *error)
{
    enum { ROWS_BETWEEN = 8192 };
    oltr_status status = OLTR_OK;
    for (uint32_t row = 1; status == OLTR_OK; row++) {
        enum csv_result result = csv_scan_next(&log->scan, error);
        if (result == CSV_END)
            break;
        if (result == CSV_FAILED)
            return error->code;
        status = result == CSV_RECORD ? take_row(log, error)
                                      : log_bad_line(log->report, log->file, log->scan.line, error,
                                                     "%s", log->scan.fault);
        if (row % ROWS_BETWEEN == 0 && log->options->progress)
            log->options->progress(log->options->progress_with, log->scan.in, log->report);
    }
    return status;
}

oltr_status csv_log_read(struct log_input *in, const char *file, const struct log_options *options,
                         struct log_join *join, struct log_found *found, oltr_error *error)
{
    struct csv_log log = {.options = options, .join = join, .file = file};
    log.report = join->options.report;
    oltr_status status = csv_scan_begin(&log.scan, in, error);
    if (status != OLTR_OK)
        return status;
    log.x = options->dim > 0 ? calloc(options->dim, sizeof *log.x) : NULL;
    if (options->dim > 0 && !log.x)
        status = set_error(error, OLTR_ENOMEM, "out of memory");
    if (status == OLTR_OK)
        status = read_header(&log, found, error);
    if (status == OLTR_OK)
        status = read_rows(&log, error);
    free(log.x);
    log_columns_free(&log.columns);
    csv_scan_free(&log.scan);
    return status;
}
