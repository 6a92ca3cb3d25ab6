/* log_files.c - see log_files.h. */
#include "app/logs/log_files.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* What a file is, by its first byte that is no blank. */
static oltr_status find_format(const struct log_files *files, struct log_input *in,
                               const char *path, enum log_format *out, oltr_error *error)
{
    int first = log_input_peek(in, error);
    if (first < 0)
        return error->code;
    *out = files->format != LOG_ANY ? files->format : first == '{' ? LOG_JSON : LOG_CSV;
    if (first == 0)
        return set_error(error, OLTR_EDATA, "%s is empty", name_of(path));
    if (first == '[' && *out == (files->format == LOG_ANY ? LOG_CSV : LOG_JSON))
        return set_error(error, OLTR_EDATA,
                         "%s is a JSON array; give one object a line: jq -c '.[]' FILE",
                         name_of(path));
    return OLTR_OK;
}

/* CSV files one after the other. */
static oltr_status learn_csv(struct log_files *files, struct log_input *first,
                             struct log_join *join, struct log_found *found, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < files->n; i++) {
        enum log_format format = LOG_CSV;
        struct log_input *in = &first[0];
        if (i > 0) {
            log_input_close(in);
            status = log_input_open(in, files->path[i], error);
        }
        if (status == OLTR_OK && i > 0)
            status = find_format(files, in, files->path[i], &format, error);
        if (status == OLTR_OK && format != LOG_CSV)
            status = set_error(error, OLTR_EDATA,
                               "%s is JSON lines and %s is CSV; learn them by two commands",
                               name_of(files->path[i]), name_of(files->path[0]));
        if (status == OLTR_OK)
            status = csv_log_read(in, name_of(files->path[i]), &files->options, join, found, error);
    }
    return status;
}

/* Files of JSON lines all at once. */
static oltr_status learn_json(struct log_files *files, struct log_input *in, struct log_join *join,
                              struct log_found *found, oltr_error *error)
{
    const char *name[JSON_MOST_FILES];
    oltr_status status = OLTR_OK;
    if (files->n > JSON_MOST_FILES)
        return set_error(error, OLTR_EINVAL, "at most %d files of JSON lines at once; there are %u",
                         JSON_MOST_FILES, files->n);
    for (uint32_t i = 0; status == OLTR_OK && i < files->n; i++) {
        enum log_format format = LOG_JSON;
        name[i] = name_of(files->path[i]);
        if (i > 0)
            status = log_input_open(&in[i], files->path[i], error);
        if (status == OLTR_OK && i > 0)
            status = find_format(files, &in[i], files->path[i], &format, error);
        if (status == OLTR_OK && format != LOG_JSON)
            status = set_error(error, OLTR_EDATA,
                               "%s is CSV and %s is JSON lines; learn them by two commands",
                               name[i], name[0]);
    }
    return status == OLTR_OK
               ? json_log_read(in, name, files->n, &files->options, join, found, error)
               : status;
}

static oltr_status learn_as(struct log_files *files, enum log_format format, struct log_input *in,
                            struct log_found *found, oltr_error *error)
{
    struct log_join join;
    struct log_join_options options = files->join;
    if (files->capacity == 0)
        files->capacity = format == LOG_CSV ? LOG_OPEN_ROWS : LOG_OPEN_QUERIES;
    options.capacity = files->capacity;
    if (format == LOG_CSV && options.remember > LOG_REMEMBER_ROWS)
        options.remember = LOG_REMEMBER_ROWS;
    options.dim = files->options.dim;
    options.n_extra = files->options.names.n_extra;
    options.weights = files->options.names.given[ROLE_WEIGHT];
    options.rows_wait = files->wait >= 0;
    options.wait = files->wait >= 0 ? files->wait : LOG_WAIT;
    oltr_status status = log_join_begin(&join, &options, error);
    if (status != OLTR_OK)
        return status;
    status = format == LOG_CSV ? learn_csv(files, in, &join, found, error)
                               : learn_json(files, in, &join, found, error);
    if (status == OLTR_OK)
        status = log_join_end(&join, error);
    log_join_free(&join);
    return status;
}

oltr_status log_files_learn(struct log_files *files, struct log_found *found, oltr_error *error)
{
    struct log_input *in = calloc(JSON_MOST_FILES, sizeof *in);
    enum log_format format;
    *found = (struct log_found){false};
    if (!in)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    oltr_status status = log_input_open(&in[0], files->path[0], error);
    if (status == OLTR_OK)
        status = find_format(files, &in[0], files->path[0], &format, error);
    if (status == OLTR_OK)
        status = learn_as(files, format, in, found, error);
    for (uint32_t i = 0; i < JSON_MOST_FILES; i++)
        log_input_close(&in[i]);
    free(in);
    return status;
}
