/* cmd_data_inspect.c - `oltr data inspect`: a table of files of judged queries with one column for
 * each file, the same as JSON, and a picture of each file. */
#include "app/verbs/data_family.h"
#include "report/figures/data_figure.h"
#include "report/figures/gnuplot.h"
#include "report/io/json_text.h"
#include "report/io/whole_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct option data_inspect_options[] = {
    {'o', "output", "DIR", NULL, "draw a picture of each file into this folder"},
    {'j', "threads", "N", NULL,
     "the number of threads that read (default, or 0: one for each processor)"},
    {0, "lenient", NULL, NULL, "skip bad lines and count them, instead of stopping at the first"},
    {0, "most-features", "N", NULL, "the largest feature number that is allowed (default: 4096)"},
    {0, "json", NULL, NULL, "print everything as JSON, with a list of all features"},
    {0, NULL, NULL, NULL, NULL},
};

struct inspected {
    const char *file;
    oltr_dataset *dataset;
    oltr_read_report report;
    struct description description;
};

static int inspect_one(const char *file, const oltr_read_options *options, struct inspected *out)
{
    oltr_error error = {OLTR_OK, ""};
    *out = (struct inspected){.file = file};
    out->dataset = oltr_dataset_read(file, options, &out->report, &error);
    if (!out->dataset || describe(out->dataset, &out->description, &error) != OLTR_OK)
        return complain_of(&error);
    data_say_report(file, &out->report);
    return EXIT_OK;
}

/* ---- the table */

enum { CELL = 40, NAME_WIDTH = 26, NARROWEST = 12, WIDEST = 24 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

static int width_of(const struct inspected *at)
{
    int width = (int)text_width(last_part(at->file));
    return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

/* 5555 as 5,555. */
static void grouped(uint64_t n, char cell[CELL])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            cell[at++] = ',';
        cell[at++] = digits[i];
    }
    cell[at] = '\0';
}

enum { N_FACTS = 15, LABELS_BEFORE = 6 /* the shares of the labels come before this fact */ };
static const char *const facts[N_FACTS] = {
    "rows",
    "queries",
    "documents, fewest",
    "           median",
    "           mean",
    "           most",
    "queries with labels 0 only",
    "features",
    "  constant",
    "  constant within queries",
    "  with negative values",
    "values that are 0",
    "values too large",
    "smallest value",
    "largest value",
};

/* The cells of one file, in the order of facts[]. */
static void fill_cells(const struct description *d, char cell[N_FACTS][CELL])
{
    grouped(d->rows, cell[0]);
    grouped(d->queries, cell[1]);
    grouped(d->fewest, cell[2]);
    snprintf(cell[3], CELL, "%.6g", d->median);
    snprintf(cell[4], CELL, "%.2f", d->mean);
    grouped(d->most, cell[5]);
    grouped(d->queries_without, cell[6]);
    grouped(d->dim, cell[7]);
    grouped(d->constants, cell[8]);
    grouped(d->constants_within, cell[9]);
    grouped(d->negative, cell[10]);
    snprintf(cell[11], CELL, "%.2f %%", 100 * d->zeros);
    grouped(d->beyond, cell[12]);
    snprintf(cell[13], CELL, "%.6g", (double)d->low);
    snprintf(cell[14], CELL, "%.6g", (double)d->high);
}

static void print_label(const struct inspected *at, uint32_t count, int grade)
{
    printf("label %-*d", NAME_WIDTH - 6, grade);
    for (uint32_t i = 0; i < count; i++) {
        const struct description *d = &at[i].description;
        char cell[CELL];
        snprintf(cell, sizeof cell, "%.2f %%",
                 d->rows > 0 ? 100 * (double)d->grade[grade] / d->rows : 0);
        printf("  %*s", width_of(&at[i]), cell);
    }
    putchar('\n');
}

/* Every label that one of the files has. */
static void print_labels(const struct inspected *at, uint32_t count)
{
    for (int grade = 0; grade < DESCRIBED_GRADES; grade++) {
        bool used = false;
        for (uint32_t i = 0; i < count; i++)
            used = used || at[i].description.grade[grade] > 0;
        if (used)
            print_label(at, count, grade);
    }
}

static void print_table(const struct inspected *at, uint32_t count)
{
    printf("%*s", NAME_WIDTH, "");
    for (uint32_t i = 0; i < count; i++)
        printf("  %*.*s", width_of(&at[i]), WIDEST, last_part(at[i].file));
    putchar('\n');
    for (int fact = 0; fact < N_FACTS; fact++) {
        if (fact == LABELS_BEFORE)
            print_labels(at, count);
        printf("%-*s", NAME_WIDTH, facts[fact]);
        for (uint32_t i = 0; i < count; i++) {
            char cell[N_FACTS][CELL];
            fill_cells(&at[i].description, cell);
            printf("  %*s", width_of(&at[i]), cell[fact]);
        }
        putchar('\n');
    }
}

/* ---- JSON */

static json_t *column_json(const struct described_column *c, uint32_t number)
{
    return json_pack("{si sI sI sI sf sf sf sf sf sb sb}", "feature", (int)number, "zeros",
                     (json_int_t)c->zeros, "negative", (json_int_t)c->negative, "too_large",
                     (json_int_t)c->beyond, "smallest", (double)c->low, "p05", (double)c->p05,
                     "median", (double)c->median, "p95", (double)c->p95, "largest", (double)c->high,
                     "constant", c->constant, "constant_within_queries", c->constant_within);
}

static json_t *description_json(const struct inspected *at)
{
    const struct description *d = &at->description;
    json_t *labels = json_array(), *columns = json_array();
    for (int grade = 0; grade <= d->largest_grade; grade++)
        labels = json_with(labels, json_integer((json_int_t)d->grade[grade]));
    for (uint32_t j = 0; j < d->dim; j++)
        columns = json_with(columns, column_json(&d->column[j], j + 1));
    return json_pack("{ss sI sI sI s{sI sf sf sI} so sI sf sI so}", "file", at->file, "rows",
                     (json_int_t)d->rows, "queries", (json_int_t)d->queries, "lines_skipped",
                     (json_int_t)at->report.skipped, "documents", "fewest", (json_int_t)d->fewest,
                     "median", d->median, "mean", d->mean, "most", (json_int_t)d->most,
                     "rows_of_label", labels, "queries_with_labels_0_only",
                     (json_int_t)d->queries_without, "share_of_zeros", d->zeros, "values_too_large",
                     (json_int_t)d->beyond, "features", columns);
}

static int print_json(const struct inspected *at, uint32_t count)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < count; i++)
        all = json_with(all, description_json(&at[i]));
    bool good = all && json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
    int code = good ? EXIT_OK : ferror(stdout) ? complain_output() : complain_no_memory();
    putchar('\n');
    json_decref(all);
    return code;
}

/* ---- pictures */

enum { NAME_SIZE = 80 };

/* "data-" and the name of the file without folder and endings; other characters become '_'. */
static void plain_name(const char *file, char name[NAME_SIZE])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    snprintf(name, NAME_SIZE, "data-%.48s", strcmp(file, "-") == 0 ? "stdin" : last_part(file));
    char *stem = name + strlen("data-");
    stem[1 + strcspn(stem + 1, ".")] = '\0';
    for (char *c = stem; *c != '\0'; c++)
        *c = strchr(plain, *c) ? *c : '_';
}

/* The same with a number, where an earlier file has the same name. */
static void figure_name(const struct inspected *at, uint32_t number, char name[NAME_SIZE])
{
    char other[NAME_SIZE];
    uint32_t before = 0;
    plain_name(at[number].file, name);
    for (uint32_t i = 0; i < number; i++) {
        plain_name(at[i].file, other);
        before += strcmp(name, other) == 0;
    }
    if (before > 0) {
        size_t length = strlen(name);
        snprintf(name + length, NAME_SIZE - length, "-%u", before + 1);
    }
}

static int draw_one(const struct inspected *at, const char *folder, const char *name)
{
    struct text script = {0}, data = {0};
    oltr_error error = {OLTR_OK, ""};
    char title[240], rows[CELL], queries[CELL];
    grouped(at->description.rows, rows);
    grouped(at->description.queries, queries);
    const char *file = last_part(at->file);
    snprintf(title, sizeof title, "%.*s: %s row%s of %u feature%s, %s quer%s",
             (int)text_cut(file, 60), file, rows, plural_s(at->description.rows),
             at->description.dim, plural_s(at->description.dim), queries,
             plural_ies(at->description.queries));
    oltr_status status =
        data_figure_script(name, title, at->dataset, &at->description, &script, &data, &error);
    if (status == OLTR_OK)
        status = gnuplot_draw(folder, name, &script, &data, &error);
    text_free(&script);
    text_free(&data);
    return status == OLTR_OK ? EXIT_OK : complain_failed(&error);
}

static int draw(const struct inspected *at, uint32_t count, const char *folder, bool quiet)
{
    oltr_error error = {OLTR_OK, ""};
    if (file_make_folder(folder, &error) != OLTR_OK)
        return complain_failed(&error);
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < count; i++) {
        char name[NAME_SIZE];
        figure_name(at, i, name);
        if (at[i].description.rows == 0)
            return complain(EXIT_USAGE, "%s has no rows to draw", at[i].file);
        code = draw_one(&at[i], folder, name);
        if (code == EXIT_OK && !quiet)
            printf("%s/%s.png, .svg, .pdf\n", folder, name);
    }
    return code;
}

int cmd_data_inspect(const struct arguments *arguments)
{
    oltr_read_options options;
    uint32_t count = arguments->n_operands;
    bool json = arguments_has(arguments, "json");
    const char *folder = arguments_value(arguments, "output");
    int code = data_read_options(arguments, &options);
    struct inspected *at = calloc(count, sizeof *at);
    if (!at)
        return complain_no_memory();
    for (uint32_t i = 0; code == EXIT_OK && i < count; i++)
        code = inspect_one(arguments->operand[i], &options, &at[i]);
    if (code == EXIT_OK && json)
        code = print_json(at, count);
    else if (code == EXIT_OK)
        print_table(at, count);
    if (code == EXIT_OK && folder)
        code = draw(at, count, folder, json);
    for (uint32_t i = 0; i < count; i++) {
        description_free(&at[i].description);
        oltr_dataset_free(at[i].dataset);
    }
    free(at);
    return code;
}
