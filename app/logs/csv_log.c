/* csv_log.c - see csv_log.h.  A row costs its scan, two or three short numbers, and a copy of its
 * item's name into the open list. */
#include "app/logs/csv_log.h"

#include "app/logs/log_values.h"
#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct csv_log {
    struct csv_scan scan;
    struct log_columns columns;
    const struct log_options *options;
    struct log_join *join;
    struct log_report *report;
    const char *file;
    /* The fields of a row that are read; NULL: there is no such column. */
    const struct csv_text *list, *item, *position, *value, *examined, *weight, *time;
    bool from_reward;             /* `value` is a reward, else a click */
    bool plain;                   /* nothing is read but the first four */
    bool quick;                   /* and all of these are there: see take_quick_rows() */
    uint32_t value_column;        /* of clicks or rewards */
    float *x;                     /* (dim) of one row */
    double extra[LOG_MOST_EXTRA]; /* of one row */
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

static bool is_name(const struct csv_text *field)
{
    return field->size - 1 < OLTR_LONGEST_NAME;
}

static bool has_zero(const struct csv_text *field)
{
    return memchr(field->at, '\0', field->size);
}

static bool take_names(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *list = log->list, *item = log->item;
    if (list) {
        if (!is_name(list))
            return fault(why, "the id of the list must have 1 to 512 bytes; it is", list);
        if (has_zero(list))
            return fault(why, "a zero byte in the id of the list; the log must be text in UTF-8",
                         NULL);
        row->list = list->at;
        row->list_size = list->size;
    }
    if (item) {
        if (!is_name(item))
            return fault(why, "the item must have 1 to 512 bytes; it is", item);
        if (has_zero(item))
            return fault(why, "a zero byte in the item; the log must be text in UTF-8", NULL);
        row->name = item->at;
        row->name_size = item->size;
    }
    return true;
}

static bool take_position(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *field = log->position;
    if (!field)
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
    const struct csv_text *field = log->value;
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
    if (!log->from_reward)
        return fault(why, LOG_CLICK_FAULT "; it is", field);
    if (!value_number(field->at, field->size, &row->reward))
        return fault(why, "the reward must be a number, not", field);
    return true;
}

static bool take_examined(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *field = log->examined;
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

/* NAN where there is no such column. */
static bool take_extra(struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    for (uint32_t i = 0; i < log->options->names.n_extra; i++) {
        uint32_t at = log->columns.extra[i];
        const struct csv_text *field = at == NO_COLUMN ? NULL : &log->scan.field[at];
        log->extra[i] = NAN;
        const struct log_extra *extra = &log->options->names.extra[i];
        if (field && !(value_number(field->at, field->size, &log->extra[i]) &&
                       log_extra_is_good(extra, log->extra[i])))
            return fault(why, log_extra_fault(extra), field);
    }
    row->extra = log->extra;
    return true;
}

static bool take_rest(const struct csv_log *log, struct log_row *row, struct row_fault *why)
{
    const struct csv_text *weight = log->weight, *time = log->time;
    if (weight && (!value_number(weight->at, weight->size, &row->weight) || row->weight <= 0 ||
                   row->weight > OLTR_MAX_WEIGHT))
        return fault(why, "the weight must be a number above 0 and at most 1e6, not", weight);
    if (time && !value_time(time->at, time->size, &row->time))
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
        (log->plain || (take_examined(log, &row, &why) && take_rest(log, &row, &why) &&
                        take_extra(log, &row, &why))))
        return log_join_row(log->join, &row, log->file, line, error);
    if (!why.found)
        return log_bad_line(log->report, log->file, line, error, "%s", why.what);
    return log_bad_line(log->report, log->file, line, error, "%s `%s`", why.what,
                        log_quote(why.found->at, why.found->size, text));
}

/* ---- most rows */

static inline struct csv_text text_between(const char *piece, uint32_t before, uint32_t behind)
{
    uint32_t from = before + 1;
    return (struct csv_text){piece + from, behind - from};
}

/* Whether these n > 1 places are those of a record: the last of them is that of a newline, without
 * a return before it. */
static inline bool is_record(const char *piece, const uint32_t *stop, uint32_t n)
{
    const char *end = piece + stop[n - 1];
    bool newline = false;
    for (uint32_t i = 0; i + 1 < n; i++)
        newline |= piece[stop[i]] == '\n';
    return !newline && *end == '\n' && end[-1] != '\r';
}

static inline uint32_t digit_of(char c)
{
    return (uint32_t)(unsigned char)c - '0';
}

/* A position from 1 to 99, or 0. */
static inline uint32_t short_position(struct csv_text text)
{
    uint32_t first = digit_of(text.at[0]), second = digit_of(text.at[text.size == 2]);
    if (first >= 10 || second >= 10)
        return 0;
    return text.size == 1 ? first : text.size == 2 ? 10 * first + second : 0;
}

/* Rows of the list of the row before them with nothing in them that needs a second look, which most
 * rows are, for a third of the work of take_row().  They end with the piece or with the first row
 * that is not such a one.  Returns how many there were. */
static __attribute__((noinline)) uint32_t take_quick_rows(struct csv_log *log)
{
    struct open_list *list = log->join->lists.last;
    const char *const piece = log->scan.piece;
    const uint32_t *at = log->columns.at, n = log->columns.n_columns;
    uint32_t left, rows = 0;
    const uint32_t *stop = csv_scan_places(&log->scan, &left);
    for (; list && left >= n && is_record(piece, stop, n); stop += n, left -= n, rows++) {
        const uint32_t *of_list = stop + at[ROLE_LIST], *of_item = stop + at[ROLE_ITEM],
                       *of_position = stop + at[ROLE_POSITION],
                       *of_value = stop + log->value_column;
        struct csv_text id = text_between(piece, of_list[-1], of_list[0]),
                        item = text_between(piece, of_item[-1], of_item[0]),
                        position = text_between(piece, of_position[-1], of_position[0]),
                        value = text_between(piece, of_value[-1], of_value[0]);
        struct log_row row = {.name = item.at,
                              .name_size = item.size,
                              .position = short_position(position),
                              .examined = EXAMINED_UNKNOWN,
                              .reward = digit_of(*value.at),
                              .weight = 1};
        if (row.position == 0 || value.size != 1 || digit_of(*value.at) > 1 || !is_name(&item) ||
            has_zero(&item) || !list_has_room(list, item.size) ||
            !list_has_id(list, id.at, id.size))
            break;
        log_join_add(log->join, list, &row, log->scan.in->line + rows);
    }
    if (rows > 0)
        csv_scan_pass(&log->scan, stop, rows);
    log->report->rows += rows;
    return rows;
}

/* ---- the log */

static const struct csv_text *field_of(const struct csv_log *log, enum log_role role)
{
    uint32_t at = log->columns.at[role];
    return at == NO_COLUMN ? NULL : &log->scan.field[at];
}

/* Which fields of a row are read, by the columns that the header has. */
static void find_fields(struct csv_log *log, struct log_found *found)
{
    const struct csv_text *reward = field_of(log, ROLE_REWARD), *click = field_of(log, ROLE_CLICK);
    bool from_reward = reward && (!log->options->clicks_only || !click);
    log->list = field_of(log, ROLE_LIST);
    log->item = log->columns.dim == 0 ? field_of(log, ROLE_ITEM) : NULL;
    log->position = log->list || log->join->options.take ? field_of(log, ROLE_POSITION) : NULL;
    log->value = from_reward ? reward : click;
    log->from_reward = from_reward;
    log->examined = field_of(log, ROLE_EXAMINED);
    log->weight = field_of(log, ROLE_WEIGHT);
    log->time = log->join->options.rows_wait ? field_of(log, ROLE_TIME) : NULL;
    log->plain = !log->examined && !log->weight && !log->time && log->columns.dim == 0 &&
                 log->options->names.n_extra == 0;
    log->quick =
        log->plain && log->list && log->item && log->position && log->columns.n_columns > 1;
    log->value_column = (uint32_t)(log->value - log->scan.field);
    found->from_reward = found->from_reward || from_reward;
    found->no_list = found->no_list || !log->list;
    found->no_position = found->no_position || (log->list && !log->position);
}

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
    find_fields(log, found);
    return OLTR_OK;
}

static oltr_status read_rows(struct csv_log *log, oltr_error *error)
{
    enum { ROWS_BETWEEN = 8192 };
    oltr_status status = OLTR_OK;
    for (uint64_t row = 1, next = ROWS_BETWEEN; status == OLTR_OK; row++) {
        row += log->quick ? take_quick_rows(log) : 0;
        enum csv_result result = csv_scan_next(&log->scan, error);
        if (result == CSV_END)
            break;
        if (result == CSV_FAILED)
            return error->code;
        status = result == CSV_RECORD ? take_row(log, error)
                                      : log_bad_line(log->report, log->file, log->scan.line, error,
                                                     "%s", log->scan.fault);
        if (row >= next && log->options->progress) {
            log->options->progress(log->options->progress_with, log->scan.in, log->report);
            next = row + ROWS_BETWEEN;
        }
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
