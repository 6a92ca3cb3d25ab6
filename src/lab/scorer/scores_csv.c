/* scores_csv.c - scores as a CSV file: strict reading, and writing that is whole or not at all.
 *
 * Other programs write these files, so every mistake is reported with its line: a document that the
 * dataset does not have, one that comes twice or not at all, a value that is not a probability.
 * Both line ends, a byte order mark, quoted fields and blank lines at the end are accepted, because
 * spreadsheets, pandas and R write them.  Reading costs O(rows log queries). */
#define _POSIX_C_SOURCE 200809L
#include "lab/scorer/scores.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/plain_real.h"
#include "engine/base/quote.h"
#include "engine/base/text.h"

/* ---- the queries of the dataset, by id */

typedef struct place {
    uint64_t id;
    uint32_t query;
} place;

static int by_id(const void *left, const void *right)
{
    uint64_t a = ((const place *)left)->id, b = ((const place *)right)->id;
    return (a > b) - (a < b);
}

static place *index_queries(const oltr_dataset *d)
{
    place *index = malloc((d->n_queries > 0 ? d->n_queries : 1) * sizeof *index);
    for (uint32_t q = 0; index && q < d->n_queries; q++)
        index[q] = (place){d->query[q], q};
    if (index)
        qsort(index, d->n_queries, sizeof *index, by_id);
    return index;
}

/* ---- one line */

typedef struct csv {
    const char *name; /* of the file */
    FILE *stream;
    char *text; /* the current line; fields are unquoted in place */
    size_t capacity;
    uint64_t line; /* its number, from 1 */
    char *next;    /* the next field, or NULL behind the last */
    oltr_error *error;
} csv;

static oltr_status broken(const csv *c, const char *what)
{
    return set_error(c->error, OLTR_EVALUE, "%s:%" PRIu64 ": %s", c->name, c->line, what);
}

/* The next line; *more is false at the end of the file. */
static oltr_status next_line(csv *c, bool *more)
{
    errno = 0;
    ssize_t length = getline(&c->text, &c->capacity, c->stream);
    *more = length >= 0;
    if (length < 0) {
        if (ferror(c->stream) || errno == ENOMEM)
            return set_error(c->error, OLTR_EIO, "%s: cannot read it: %s", c->name,
                             strerror(errno));
        return OLTR_OK;
    }
    c->line++;
    if (memchr(c->text, '\0', (size_t)length))
        return broken(c, "a zero byte; this is not a text file");
    while (length > 0 && (c->text[length - 1] == '\n' || c->text[length - 1] == '\r'))
        c->text[--length] = '\0';
    c->next = c->text;
    return OLTR_OK;
}

/* Ends a quoted field, unquoted in place; NULL when its quote stays open or something follows
 * it. */
static char *unquote(char *from)
{
    char *to = from;
    for (;; from++) {
        if (*from == '\0')
            return NULL;
        if (*from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    if (*from != '\0' && *from != ',')
        return NULL;
    char *end = from;
    if (to < from)
        *to = '\0';
    return end;
}

/* The next field of the line; NULL when there is none, or (after an error) when it is broken. */
static char *next_field(csv *c)
{
    char *field = c->next;
    if (!field)
        return NULL;
    bool quoted = *field == '"';
    char *end = quoted ? unquote(++field) : field + strcspn(field, ",");
    if (!end) {
        broken(c, "a quote is not closed, or no comma follows it");
        return NULL;
    }
    c->next = *end == ',' ? end + 1 : NULL;
    *end = '\0';
    return field;
}

static const char *trimmed(char *field)
{
    field += strspn(field, " \t");
    size_t n = strlen(field);
    while (n > 0 && (field[n - 1] == ' ' || field[n - 1] == '\t'))
        field[--n] = '\0';
    return field;
}

static bool whole_number(const char *field, uint64_t *out)
{
    uint64_t value = 0;
    if (*field == '\0')
        return false;
    for (; *field != '\0'; field++)
        if (*field < '0' || *field > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*field - '0'), &value))
            return false;
    *out = value;
    return true;
}

/* Decimal digits with at most one point and one exponent: what plain_real32() reads, but neither
 * hexadecimal, nor "nan", nor "inf".  Within [0,1] if it is to be a probability, else finite. */
static bool read_score(const char *field, bool probability, float *out)
{
    char *end;
    if (*field == '\0' || field[strspn(field, "+-.0123456789eE")] != '\0')
        return false;
    float value = plain_real32(field, &end);
    if (end == field || *end != '\0' || !isfinite(value) ||
        (probability && !(value >= 0 && value <= 1)))
        return false;
    *out = value == 0 ? 0.0f : value; /* no minus zero */
    return true;
}

/* ---- the whole file */

typedef struct reading {
    csv csv;
    const oltr_dataset *dataset;
    place *index;       /* (n_queries) by id */
    uint64_t *line_of;  /* (n_rows) where a document was given; 0: not yet */
    bool probabilities; /* each must be in [0,1] */
    scores *out;
} reading;

static oltr_status read_header(reading *r)
{
    static const char expected[] =
        "the header must be query,document and then one name for each model";
    csv *c = &r->csv;
    bool more;
    oltr_status status = next_line(c, &more);
    if (status != OLTR_OK)
        return status;
    if (!more)
        return set_error(c->error, OLTR_EVALUE, "%s: the file is empty; %s", c->name, expected);
    if (strncmp(c->text, "\xEF\xBB\xBF", 3) == 0)
        c->next += 3;
    uint32_t n = 0;
    for (char *field; (field = next_field(c)); n++) {
        const char *name = trimmed(field);
        if ((n == 0 && strcmp(name, "query") != 0) || (n == 1 && strcmp(name, "document") != 0) ||
            *name == '\0' || n >= SCORES_MOST_MODELS + 2)
            return broken(c, n >= SCORES_MOST_MODELS + 2 ? "more than 1000 models" : expected);
    }
    if (c->next)
        return OLTR_EVALUE; /* next_field() has said why */
    if (n < 3)
        return broken(c, expected);
    return scores_new(r->dataset->n_rows, n - 2, r->out, c->error);
}

static oltr_status bad_field(const csv *c, const char *column, const char *field,
                             const char *expected)
{
    char word[QUOTE_SIZE];
    return set_error(c->error, OLTR_EVALUE, "%s:%" PRIu64 ": %s must be %s, not `%s`", c->name,
                     c->line, column, expected, quote_input(field, word));
}

/* The two fields that say which document it is. */
static oltr_status read_place(reading *r, uint32_t *row)
{
    csv *c = &r->csv;
    const oltr_dataset *d = r->dataset;
    uint64_t id, document;
    char *first = next_field(c), *second = first ? next_field(c) : NULL;
    if (!second)
        return c->next ? OLTR_EVALUE : broken(c, "fewer fields than the header");
    const char *query = trimmed(first), *number = trimmed(second);
    if (!whole_number(query, &id))
        return bad_field(c, "query", query, "a whole number");
    if (!whole_number(number, &document))
        return bad_field(c, "document", number, "a whole number");
    const place *found = bsearch(&(place){id, 0}, r->index, d->n_queries, sizeof *r->index, by_id);
    if (!found)
        return set_error(c->error, OLTR_EVALUE,
                         "%s:%" PRIu64 ": the data has no query %" PRIu64
                         "; are these the scores of another file?",
                         c->name, c->line, id);
    uint32_t documents = d->first_row[found->query + 1] - d->first_row[found->query];
    if (document >= documents)
        return set_error(c->error, OLTR_EVALUE,
                         "%s:%" PRIu64 ": query %" PRIu64 " has no document %" PRIu64
                         "; it has %u, numbered from 0",
                         c->name, c->line, id, document, documents);
    *row = d->first_row[found->query] + (uint32_t)document;
    if (r->line_of[*row] > 0)
        return set_error(c->error, OLTR_EVALUE,
                         "%s:%" PRIu64 ": document %" PRIu64 " of query %" PRIu64
                         " is given twice; first in line %" PRIu64,
                         c->name, c->line, document, id, r->line_of[*row]);
    return OLTR_OK;
}

static oltr_status bad_score(const reading *r, const char *column, const char *field)
{
    char word[QUOTE_SIZE];
    if (!r->probabilities)
        return bad_field(&r->csv, column, field, "a finite number");
    return set_error(r->csv.error, OLTR_EVALUE,
                     "%s:%" PRIu64 ": %s must be a number from 0 to 1, not `%s`; numbers without a "
                     "unit can be read as minmax or sigmoid (scores_as)",
                     r->csv.name, r->csv.line, column, quote_input(field, word));
}

static oltr_status read_row(reading *r)
{
    csv *c = &r->csv;
    uint32_t row = 0;
    oltr_status status = read_place(r, &row);
    if (status != OLTR_OK)
        return status;
    float *score = r->out->score + (size_t)row * r->out->n_models;
    for (uint32_t m = 0; m < r->out->n_models; m++) {
        char *field = next_field(c), column[32];
        if (!field)
            return c->next ? OLTR_EVALUE : broken(c, "fewer fields than the header");
        const char *word = trimmed(field);
        if (!read_score(word, r->probabilities, &score[m])) {
            snprintf(column, sizeof column, "the score of model %u", m + 1);
            return bad_score(r, column, word);
        }
    }
    if (c->next)
        return broken(c, "more fields than the header");
    r->line_of[row] = c->line;
    return OLTR_OK;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t")] == '\0';
}

static oltr_status read_rows(reading *r)
{
    bool more;
    oltr_status status = next_line(&r->csv, &more);
    while (status == OLTR_OK && more) {
        if (!is_blank(r->csv.text))
            status = read_row(r);
        if (status == OLTR_OK)
            status = next_line(&r->csv, &more);
    }
    return status;
}

static oltr_status check_complete(const reading *r)
{
    const oltr_dataset *d = r->dataset;
    uint32_t missing = 0, query = 0, document = 0;
    for (uint32_t q = d->n_queries; q-- > 0;) {
        for (uint32_t row = d->first_row[q + 1]; row-- > d->first_row[q];) {
            if (r->line_of[row] == 0) {
                missing++;
                query = q;
                document = row - d->first_row[q];
            }
        }
    }
    if (missing == 0)
        return OLTR_OK;
    return set_error(
        r->csv.error, OLTR_EVALUE,
        "%s: %u of the %u documents have no score; the first is document %u of query %" PRIu64,
        r->csv.name, missing, d->n_rows, document, d->query[query]);
}

/* The file names queries by their id, so no two may have the same. */
static oltr_status check_index(const reading *r)
{
    for (uint32_t q = 1; q < r->dataset->n_queries; q++)
        if (r->index[q].id == r->index[q - 1].id)
            return set_error(r->csv.error, OLTR_EVALUE,
                             "the data has two queries with the id %" PRIu64, r->index[q].id);
    return OLTR_OK;
}

static oltr_status read_all(reading *r)
{
    r->index = index_queries(r->dataset);
    r->line_of = calloc(r->dataset->n_rows > 0 ? r->dataset->n_rows : 1, sizeof *r->line_of);
    if (!r->index || !r->line_of)
        return set_error(r->csv.error, OLTR_ENOMEM, "%s: out of memory", r->csv.name);
    oltr_status status = check_index(r);
    if (status == OLTR_OK)
        status = read_header(r);
    if (status == OLTR_OK)
        status = read_rows(r);
    return status == OLTR_OK ? check_complete(r) : status;
}

/* Standard input by its own descriptor: a library leaves the stream of the program alone. */
static FILE *open_input(const char *path)
{
    if (strcmp(path, "-") != 0)
        return fopen(path, "rb");
    int fd = dup(STDIN_FILENO);
    FILE *stream = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

oltr_status scores_read_csv(const char *path, const oltr_dataset *dataset, scores_as as,
                            scores *out, oltr_error *error)
{
    *out = (scores){0, 0, NULL};
    reading r = {.csv = {.name = strcmp(path, "-") == 0 ? "stdin" : path, .error = error},
                 .dataset = dataset,
                 .probabilities = as == SCORES_CALIBRATED,
                 .out = out};
    r.csv.stream = open_input(path);
    if (!r.csv.stream)
        return set_error(error, OLTR_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    oltr_status status = read_all(&r);
    fclose(r.csv.stream);
    free(r.csv.text);
    free(r.index);
    free(r.line_of);
    if (status != OLTR_OK)
        scores_free(out);
    return status;
}

/* ---- writing */

static void add_row(const scores *s, const oltr_dataset *d, uint32_t q, uint32_t row,
                    struct text *line)
{
    text_printf(line, "\n%" PRIu64 ",%u", d->query[q], row - d->first_row[q]);
    for (uint32_t m = 0; m < s->n_models; m++)
        text_printf(line, ",%.9g", (double)s->score[(size_t)row * s->n_models + m]);
}

static oltr_status write_line(struct text *line, FILE *stream, const char *name, oltr_error *error)
{
    if (line->failed)
        return set_error(error, OLTR_ENOMEM, "%s: out of memory", name);
    if (fwrite(line->bytes, 1, line->length, stream) != line->length)
        return set_error(error, errno == ENOMEM ? OLTR_ENOMEM : OLTR_EIO, "cannot write %s: %s",
                         name, strerror(errno));
    line->length = 0;
    return OLTR_OK;
}

oltr_status scores_print_csv(const scores *s, const oltr_dataset *d, FILE *stream, const char *name,
                             oltr_error *error)
{
    struct text line = {0};
    oltr_status status = OLTR_OK;
    text_add(&line, "query,document");
    for (uint32_t m = 0; m < s->n_models; m++)
        text_printf(&line, ",m%u", m + 1);
    for (uint32_t q = 0; status == OLTR_OK && q < d->n_queries; q++)
        for (uint32_t row = d->first_row[q]; status == OLTR_OK && row < d->first_row[q + 1];
             row++) {
            add_row(s, d, q, row, &line);
            status = write_line(&line, stream, name, error);
        }
    text_add(&line, "\n");
    if (status == OLTR_OK)
        status = write_line(&line, stream, name, error);
    text_free(&line);
    return status;
}

oltr_status scores_write_csv(const scores *s, const oltr_dataset *dataset, const char *path,
                             oltr_error *error)
{
    new_file file;
    if (s->n_rows != dataset->n_rows)
        return set_error(error, OLTR_EMISMATCH,
                         "there are scores of %u documents, but the dataset has %u", s->n_rows,
                         dataset->n_rows);
    oltr_status status = new_file_open(&file, path, error);
    if (status != OLTR_OK)
        return status;
    status = scores_print_csv(s, dataset, file.stream, file.path, error);
    oltr_status closed = new_file_close(&file, status == OLTR_OK, status == OLTR_OK ? error : NULL);
    return status == OLTR_OK ? closed : status;
}
