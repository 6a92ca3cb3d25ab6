/* cmd_data_convert.c - `oltr data convert`: converts text to the binary form, and normalises it
 * with a normaliser that is fitted here or was fitted before. */
#define _POSIX_C_SOURCE 200809L
#include "app/args/value.h"
#include "app/verbs/data_family.h"
#include "app/verbs/offers.h"
#include "engine/base/file.h"
#include "lab/data/dataset.h"
#include "lab/data/normaliser.h"
#include "report/io/whole_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void offer_kinds(const struct completion *to)
{
    for (int i = 0; i < NORMALISER_KINDS; i++)
        completion_word(to, normaliser_kind_name((normaliser_kind)i), "");
}

const struct option data_convert_options[] = {
    {'o', "output", "FILE", NULL,
     "the file for the result (default: the cache FILE.oltr beside the text)"},
    {0, "normalise", "KIND", NULL,
     "with --fit: standard (the default: sign(x) log(1+|x|), centred, scaled, rows no longer than "
     "1), minmax (to 0..1 within each query) or none",
     .offer = offer_kinds},
    {0, "fit", "FILE", NULL, "fit a normaliser on these rows, keep it in this file, and apply it"},
    {0, "with", "FILE", NULL, "apply the normaliser of this file"},
    {'j', "threads", "N", NULL,
     "the number of threads that read (default, or 0: one for each processor)"},
    {0, "lenient", NULL, NULL, "skip bad lines and count them, instead of stopping at the first"},
    {0, "most-features", "N", NULL, "the largest feature number that is allowed (default: 4096)"},
    {'q', "quiet", NULL, NULL, "only errors"},
    {0, NULL, NULL, NULL, NULL},
};

struct request {
    const char *input, *output, *fit, *with;
    normaliser_kind kind;
    bool quiet;
    oltr_read_options options;
};

static int read_kind(const char *name, normaliser_kind *kind)
{
    oltr_error error = {OLTR_OK, ""};
    *kind = NORMALISE_STANDARD;
    return !name || normaliser_kind_by_name(name, kind, &error) == OLTR_OK ? EXIT_OK
                                                                           : complain_of(&error);
}

static int read_request(const struct arguments *arguments, struct request *r)
{
    const char *kind = arguments_value(arguments, "normalise");
    *r = (struct request){.input = arguments->operand[0],
                          .output = arguments_value(arguments, "output"),
                          .fit = arguments_value(arguments, "fit"),
                          .with = arguments_value(arguments, "with"),
                          .quiet = arguments_has(arguments, "quiet")};
    if (r->fit && r->with)
        return complain(
            EXIT_USAGE,
            "--fit makes a normaliser and --with uses an existing one; give only one of them");
    if (kind && !r->fit)
        return complain(
            EXIT_USAGE,
            "--normalise needs --fit FILE, which keeps the normaliser for the other splits%s",
            r->with ? "; the file of --with has its own kind" : "");
    if (!r->output && (r->fit || r->with))
        return complain(EXIT_USAGE, "normalised rows need a file of their own: give -o FILE");
    if (!r->output && (strcmp(r->input, "-") == 0 || is_special(r->input)))
        return complain(EXIT_USAGE, "no cache can be written beside %s: give -o FILE",
                        strcmp(r->input, "-") == 0 ? "standard input" : "a pipe or a device");
    int code = value_output(arguments, "output");
    if (code == EXIT_OK)
        code = value_output(arguments, "fit");
    if (code == EXIT_OK)
        code = read_kind(kind, &r->kind);
    return code == EXIT_OK ? data_read_options(arguments, &r->options) : code;
}

/* Fits and saves, or loads; *out stays NULL without --fit and --with. */
static int get_normaliser(const struct request *r, const oltr_dataset *rows, normaliser **out)
{
    oltr_error error = {OLTR_OK, ""};
    if (!r->fit && !r->with)
        return EXIT_OK;
    *out = r->fit ? normaliser_fit(rows, r->kind, &error) : normaliser_load(r->with, &error);
    if (!*out)
        return complain_of(&error);
    if (r->fit && normaliser_save(*out, r->fit, &error) != OLTR_OK)
        return complain_failed(&error);
    return EXIT_OK;
}

static void say_dropped(const normaliser *n, const char *kept_in)
{
    printf("normaliser %s (%s): %u of %u feature%s kept", kept_in, normaliser_kind_name(n->kind),
           n->dim, n->dim_in, plural_s(n->dim_in));
    for (uint32_t j = 0, i = 0, dropped = 0; j < n->dim_in; j++)
        if (i < n->dim && n->column[i] == j)
            i++;
        else
            printf("%s%u", dropped++ == 0 ? "; dropped because constant: " : ", ", j + 1);
    putchar('\n');
}

static void say_size(const oltr_dataset *rows)
{
    printf("%u row%s of %u feature%s, %u quer%s\n", rows->n_rows, plural_s(rows->n_rows), rows->dim,
           plural_s(rows->dim), rows->n_queries, plural_ies(rows->n_queries));
}

static int write_rows(const struct request *r, const oltr_dataset *rows)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_dataset_save(rows, r->output, &error) != OLTR_OK)
        return complain_failed(&error);
    if (!r->quiet) {
        printf("%s: ", r->output);
        say_size(rows);
    }
    return EXIT_OK;
}

/* A sparse text may end before the last feature of the fitted one; missing features are 0. */
static oltr_dataset *apply(const normaliser *n, oltr_dataset **rows, oltr_error *error)
{
    return dataset_widen(rows, n->dim_in, error) == OLTR_OK ? normaliser_apply(n, *rows, error)
                                                            : NULL;
}

static int normalise_and_write(const struct request *r, oltr_dataset **rows)
{
    oltr_error error = {OLTR_OK, ""};
    normaliser *n = NULL;
    int code = get_normaliser(r, *rows, &n);
    if (code == EXIT_OK && n) {
        oltr_dataset *changed = apply(n, rows, &error);
        code = changed ? write_rows(r, changed) : complain_of(&error);
        if (code == EXIT_OK && !r->quiet)
            say_dropped(n, r->fit ? r->fit : r->with);
        oltr_dataset_free(changed);
    } else if (code == EXIT_OK) {
        code = write_rows(r, *rows);
    }
    normaliser_free(n);
    return code;
}

/* Does a reader use the cache?  Readers ignore a missing one; here it is an error. */
static bool has_cache(const struct request *r)
{
    oltr_read_report report;
    oltr_dataset *rows = oltr_dataset_open(r->input, &r->options, &report, NULL);
    bool taken = rows && report.from_cache;
    oltr_dataset_free(rows);
    return taken;
}

/* Reports the state of the cache at `where`. */
static int say_cache(const struct request *r, const oltr_dataset *rows, const char *where,
                     bool taken)
{
    if (taken && access(where, F_OK) != 0)
        return complain(EXIT_USAGE, "%s is a dataset file already, not text", r->input);
    if (!taken && !has_cache(r))
        return complain(EXIT_FAILED, "%s could not be written; give another file with -o FILE",
                        where);
    if (!r->quiet) {
        printf("%s%s: ", where, taken ? " is up to date" : "");
        say_size(rows);
    }
    return EXIT_OK;
}

/* The cache beside the text is written by reading the text. */
static int make_cache(const struct request *r)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_read_report report;
    oltr_dataset *rows = oltr_dataset_open(r->input, &r->options, &report, &error);
    if (!rows)
        return complain_of(&error);
    data_say_report(r->input, &report);
    size_t size = strlen(r->input) + sizeof ".oltr";
    char *where = malloc(size);
    int code = EXIT_FAILED;
    if (where) {
        snprintf(where, size, "%s.oltr", r->input);
        code = say_cache(r, rows, where, report.from_cache);
    } else {
        complain_no_memory();
    }
    free(where);
    oltr_dataset_free(rows);
    return code;
}

int cmd_data_convert(const struct arguments *arguments)
{
    struct request r;
    oltr_error error = {OLTR_OK, ""};
    oltr_read_report report;
    int code = read_request(arguments, &r);
    if (code != EXIT_OK)
        return code;
    if (!r.output)
        return make_cache(&r);
    if (file_probe(r.output, &error) != OLTR_OK || (r.fit && file_probe(r.fit, &error) != OLTR_OK))
        return complain_failed(&error);
    oltr_dataset *rows = oltr_dataset_read(r.input, &r.options, &report, &error);
    if (!rows)
        return complain_of(&error);
    data_say_report(r.input, &report);
    code = normalise_and_write(&r, &rows);
    oltr_dataset_free(rows);
    return code;
}
