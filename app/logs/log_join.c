/* log_join.c - see log_join.h. */
#include "app/logs/log_join.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static oltr_status no_memory(oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

oltr_status log_join_begin(struct log_join *join, const struct log_join_options *options,
                           oltr_error *error)
{
    *join = (struct log_join){.options = *options, .now = -INFINITY};
    join->name = calloc(OLTR_MOST_SHOWN, sizeof *join->name);
    join->reward = calloc(OLTR_MOST_SHOWN, sizeof *join->reward);
    join->weight = calloc(OLTR_MOST_SHOWN, sizeof *join->weight);
    join->examined = calloc(OLTR_MOST_SHOWN, sizeof *join->examined);
    join->x = options->dim > 0 ? calloc(OLTR_MOST_SHOWN, options->dim * sizeof *join->x) : NULL;
    join->extra = calloc(OLTR_MOST_SHOWN, (options->n_extra + 1) * sizeof *join->extra);
    oltr_status status = join->name && join->reward && join->weight && join->examined &&
                                 join->extra && (options->dim == 0 || join->x)
                             ? OLTR_OK
                             : no_memory(error);
    if (status == OLTR_OK)
        status = open_lists_init(&join->lists, options->capacity, options->remember, options->dim,
                                 options->n_extra, options->weights, error);
    if (status != OLTR_OK)
        log_join_free(join);
    return status;
}

void log_join_free(struct log_join *join)
{
    open_lists_free(&join->lists);
    free(join->name);
    free(join->reward);
    free(join->weight);
    free(join->examined);
    free(join->x);
    free(join->extra);
    free(join->candidate);
    *join = (struct log_join){0};
}

/* ---- learning */

/* Whether the model refused this list for what is in it, so that another list may be taken. */
static bool is_about_list(oltr_status status)
{
    return status == OLTR_EREWARD || status == OLTR_EEXAMINED || status == OLTR_ENAME ||
           status == OLTR_EFEATURE || status == OLTR_ESLOTS || status == OLTR_EITEM ||
           status == OLTR_EVALUE;
}

static oltr_status refuse_list(struct log_join *join, const struct log_list *list,
                               const oltr_error *refused, oltr_error *error)
{
    const oltr_name *id = &list->lesson->id;
    char quoted[LOG_QUOTE_SIZE];
    if (!is_about_list(refused->code))
        return set_error(error, refused->code, "%s:%llu: %.200s", list->file,
                         (unsigned long long)list->line, refused->msg);
    if (join->options.take && id->size == 0)
        return log_bad_list(join->options.report, list->file, list->line, error, "%.220s",
                            refused->msg);
    return log_bad_list(join->options.report, list->file, list->line, error, "list `%s`: %.180s",
                        log_quote(id->bytes, id->size, quoted), refused->msg);
}

static oltr_status learn(struct log_join *join, const struct log_list *list, oltr_error *error)
{
    struct log_report *report = join->options.report;
    const oltr_lesson *lesson = list->lesson;
    oltr_error refused = {OLTR_OK, ""};
    int applied = 1;
    refused.code = join->options.take
                       ? join->options.take(join->options.with, list, &refused)
                       : join->options.learn(join->options.with, lesson, &applied, &refused);
    if (refused.code != OLTR_OK)
        return refuse_list(join, list, &refused, error);
    report->lists++;
    report->learned += applied != 0;
    if (!applied) {
        bool was_closed = open_lists_was_closed(&join->lists, lesson->id.bytes, lesson->id.size);
        report->came_back += was_closed;
        report->known += !was_closed;
    }
    report->without_id += lesson->id.size == 0;
    return OLTR_OK;
}

oltr_status log_join_list(struct log_join *join, const struct log_list *list, oltr_error *error)
{
    return learn(join, list, error);
}

/* ---- closing a list */

/* Whether other rows of the list may have been closed before it, or come after it. */
static bool may_be_parted(const struct log_join *join, const struct open_list *list)
{
    return open_lists_full(&join->lists) ||
           open_lists_was_closed(&join->lists, list->bytes, list->id_size);
}

/* Puts the rows into their slots, where positions are 1 to n, each once. */
static oltr_status order_rows(const struct log_join *join, const struct open_list *list,
                              uint16_t *row_of, oltr_error *error, bool *good)
{
    struct log_report *report = join->options.report;
    char id[LOG_QUOTE_SIZE], parted[96];
    log_quote(list->bytes, list->id_size, id);
    snprintf(parted, sizeof parted, "; or its rows are more than %u lists apart (--open)",
             join->options.capacity);
    *good = false;
    memset(row_of, 0xFF, OLTR_MOST_SHOWN * sizeof *row_of);
    for (uint32_t i = 0; i < list->n_rows; i++) {
        uint16_t *row = &row_of[list->row[i].position - 1];
        if (*row != UINT16_MAX)
            return log_bad_list(report, list->file, list->first_line + list->row[i].line, error,
                                "position %u of list `%s` a second time; the first is in line %llu",
                                list->row[i].position, id,
                                (unsigned long long)(list->first_line + list->row[*row].line));
        *row = (uint16_t)i;
    }
    for (uint32_t slot = 0; slot < list->n_rows; slot++)
        if (row_of[slot] == UINT16_MAX)
            return log_bad_list(report, list->file, list->first_line, error,
                                "list `%s`, which begins here, has %u row%s and no position %u; "
                                "positions count from 1 without gaps%s",
                                id, list->n_rows, list->n_rows == 1 ? "" : "s", slot + 1,
                                may_be_parted(join, list) ? parted : "");
    *good = true;
    return OLTR_OK;
}

/* The arrays of a lesson, from rows in the order of their slots or in that of row_of. */
static void fill_slots(struct log_join *join, const struct open_list *list, const uint16_t *row_of)
{
    uint32_t n = list->n_rows, dim = join->lists.dim;
    for (uint32_t slot = 0; slot < n; slot++) {
        const struct list_row *row = &list->row[list->in_order ? slot : row_of[slot]];
        join->name[slot] = (oltr_name){list_name(list, row), row->name_size};
        join->reward[slot] = row->reward;
        join->examined[slot] = row->examined;
    }
    for (uint32_t slot = 0; list->has_impressions && slot < n; slot++) /* so is a click */
        join->examined[slot] = join->examined[slot] == 1 || join->reward[slot] > 0;
    for (uint32_t slot = 0; join->lists.weights && slot < n; slot++)
        join->weight[slot] = list->weight[list->in_order ? slot : row_of[slot]];
    for (uint32_t slot = 0; dim > 0 && slot < n; slot++)
        memcpy(join->x + (size_t)slot * dim,
               list->x + (size_t)(list->in_order ? slot : row_of[slot]) * dim,
               dim * sizeof *join->x);
    size_t n_extra = join->lists.n_extra;
    for (uint32_t slot = 0; n_extra > 0 && slot < n; slot++)
        memcpy(join->extra + slot * n_extra,
               list->extra + (list->in_order ? slot : row_of[slot]) * n_extra,
               n_extra * sizeof *join->extra);
}

/* The names of the candidates of a list, in the array of the join. */
static bool fill_candidates(struct log_join *join, const struct open_list *list)
{
    if (list->n_candidates > join->candidate_room) {
        oltr_name *candidate = realloc(join->candidate, list->candidate_room * sizeof *candidate);
        if (!candidate)
            return false;
        join->candidate = candidate;
        join->candidate_room = list->candidate_room;
    }
    for (uint32_t i = 0; i < list->n_candidates; i++)
        join->candidate[i] =
            (oltr_name){list_name(list, &list->candidate[i]), list->candidate[i].name_size};
    return true;
}

/* How many slots say whether they were examined. */
static uint32_t count_known(const uint8_t *examined, uint32_t n)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < n; i++)
        known += examined[i] != EXAMINED_UNKNOWN;
    return known;
}

static bool has_weights(const struct log_join *join, uint32_t n)
{
    bool has = false;
    for (uint32_t i = 0; join->lists.weights && i < n; i++)
        has = has || join->weight[i] < 1 || join->weight[i] > 1;
    return has;
}

static oltr_lesson lesson_of(struct log_join *join, uint32_t n, oltr_name id, bool masked)
{
    oltr_lesson lesson = {.reward = join->reward, .id = id};
    lesson.shown.n = n;
    lesson.shown.name = join->lists.dim > 0 ? NULL : join->name;
    lesson.shown.x = join->lists.dim > 0 ? join->x : NULL;
    lesson.weight = has_weights(join, n) ? join->weight : NULL;
    lesson.examined = masked ? join->examined : NULL;
    lesson.examine = masked ? OLTR_EXAMINE_MASK : OLTR_EXAMINE_RULE;
    return lesson;
}

static oltr_status learn_list(struct log_join *join, const struct open_list *list,
                              oltr_error *error)
{
    uint16_t row_of[OLTR_MOST_SHOWN];
    char id[LOG_QUOTE_SIZE];
    if (!list->in_order) {
        bool good;
        oltr_status status = order_rows(join, list, row_of, error, &good);
        if (!good)
            return status;
    }
    fill_slots(join, list, row_of);
    uint32_t known = count_known(join->examined, list->n_rows);
    if (known > 0 && known < list->n_rows)
        return log_bad_list(join->options.report, list->file, list->first_line, error,
                            "list `%s`, which begins here: some rows say whether they were "
                            "examined and others do not",
                            log_quote(list->bytes, list->id_size, id));
    if (!fill_candidates(join, list))
        return no_memory(error);
    oltr_lesson lesson =
        lesson_of(join, list->n_rows, (oltr_name){list->bytes, list->id_size}, known > 0);
    struct log_list whole = {.lesson = &lesson,
                             .extra = join->extra,
                             .n_candidates = list->n_candidates,
                             .candidate = join->candidate,
                             .all_items = list->all_items,
                             .file = list->file,
                             .line = list->first_line};
    return learn(join, &whole, error);
}

static oltr_status close_oldest(struct log_join *join, oltr_error *error)
{
    struct log_report *report = join->options.report;
    const struct open_list *list = open_lists_oldest(&join->lists);
    open_lists_fetch(&join->lists);
    bool unseen = list->is_shown && !list->has_events, skip = unseen && !join->options.unseen_seen;
    report->orphans += list->is_shown ? 0 : list->n_events;
    report->empty += list->is_shown && list->n_rows == 0;
    report->unseen_skipped += skip && list->n_rows > 0;
    report->unseen_learned += unseen && !skip && list->n_rows > 0;
    oltr_status status = list->n_rows > 0 && !skip ? learn_list(join, list, error) : OLTR_OK;
    open_lists_close_oldest(&join->lists);
    return status;
}

oltr_status log_join_advance(struct log_join *join, double time, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    join->now = time > join->now ? time : join->now;
    const struct open_list *list = open_lists_oldest(&join->lists);
    while (status == OLTR_OK && list && list->time + join->options.wait < join->now) {
        status = close_oldest(join, error);
        list = open_lists_oldest(&join->lists);
    }
    return status;
}

oltr_status log_join_end(struct log_join *join, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    while (status == OLTR_OK && open_lists_oldest(&join->lists))
        status = close_oldest(join, error);
    return status;
}

/* ---- rows */

oltr_status log_join_open(struct log_join *join, const void *id, uint32_t size, const char *file,
                          uint64_t line, struct open_list **list, oltr_error *error)
{
    *list = open_lists_find(&join->lists, id, size);
    if (*list)
        return OLTR_OK;
    if (open_lists_full(&join->lists)) {
        join->options.report->forced++;
        oltr_status status = close_oldest(join, error);
        if (status != OLTR_OK)
            return status;
    }
    *list = open_lists_add(&join->lists, id, size);
    if (!*list)
        return no_memory(error);
    (*list)->file = file;
    (*list)->first_line = line;
    (*list)->time = join->now;
    return OLTR_OK;
}

static oltr_status learn_row(struct log_join *join, const struct log_row *row, const char *file,
                             uint64_t line, oltr_error *error)
{
    bool masked = row->examined != EXAMINED_UNKNOWN;
    join->name[0] = (oltr_name){row->name, row->name_size};
    join->reward[0] = row->reward;
    join->weight[0] = row->weight;
    join->examined[0] = row->examined;
    if (join->lists.dim > 0)
        memcpy(join->x, row->x, join->lists.dim * sizeof *join->x);
    oltr_lesson lesson = lesson_of(join, 1, (oltr_name){NULL, 0}, masked);
    struct log_list whole = {.lesson = &lesson,
                             .extra = row->extra,
                             .position = row->position,
                             .file = file,
                             .line = line};
    return learn(join, &whole, error);
}

/* The list of a row whose id is not that of the row before it. */
static oltr_status list_of_row(struct log_join *join, const struct log_row *row, const char *file,
                               uint64_t line, struct open_list **list, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    if (isfinite(row->time) && join->options.rows_wait)
        status = log_join_advance(join, row->time, error);
    return status == OLTR_OK
               ? log_join_open(join, row->list, row->list_size, file, line, list, error)
               : status;
}

static oltr_status too_long(const struct log_join *join, const struct log_row *row,
                            const char *file, uint64_t line, oltr_error *error)
{
    char id[LOG_QUOTE_SIZE];
    return log_bad_line(join->options.report, file, line, error, "list `%s` has more than %d rows",
                        log_quote(row->list, row->list_size, id), OLTR_MOST_SHOWN);
}

oltr_status log_join_row(struct log_join *join, const struct log_row *row, const char *file,
                         uint64_t line, oltr_error *error)
{
    struct open_list *list = join->lists.last;
    join->options.report->rows++;
    if (!row->list)
        return learn_row(join, row, file, line, error);
    if (!list || !list_has_id(list, row->list, row->list_size)) {
        oltr_status status = list_of_row(join, row, file, line, &list, error);
        if (status != OLTR_OK)
            return status;
    }
    if (list->n_rows == OLTR_MOST_SHOWN)
        return too_long(join, row, file, line, error);
    return log_join_add(join, list, row, line) ? OLTR_OK : no_memory(error);
}
