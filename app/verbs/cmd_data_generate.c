/* cmd_data_generate.c - `oltr data generate`: writes the splits of a generated data set, a few
 * queries at a time, so that memory does not limit its size. */
#define _POSIX_C_SOURCE 200809L
#include "app/verbs/data_family.h"
#include "lab/data/generate.h"
#include "lab/data/write_text.h"
#include "report/io/whole_file.h"
#include "app/args/value.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const split_names[] = {"train", "vali", "test", NULL};

const struct option data_generate_options[] = {
    {'o', "output", "DIR", NULL, "the folder of the three files (default: SHAPE)"},
    {0, "queries", "N", NULL,
     "queries of train.txt (default: 300); vali.txt and test.txt have a third of it each, as in "
     "the real sets"},
    {'s', "seed", "N", NULL, "the seed of all random numbers (default: 1)"},
    {0, "split", "NAME", NULL, "write only train, vali or test", split_names},
    {0, "force", NULL, NULL, "replace files that exist already"},
    {'q', "quiet", NULL, NULL, "only errors"},
    {0, NULL, NULL, NULL, NULL},
};

enum { AT_ONCE = 50 }; /* queries in memory */

struct request {
    const char *shape, *folder, *only;
    uint32_t queries;
    uint64_t seed;
    bool quiet, force, terminal;
};

static const struct split {
    const char *name;
    uint32_t part; /* one of so many parts of --queries */
} splits[] = {{"train", 1}, {"vali", 3}, {"test", 3}};
enum { N_SPLITS = sizeof splits / sizeof *splits };

static int read_request(const struct arguments *arguments, struct request *r)
{
    enum { MOST_QUERIES = 100000000 };
    const char *folder = arguments_value(arguments, "output");
    *r = (struct request){.shape = arguments->operand[0],
                          .folder = folder ? folder : arguments->operand[0],
                          .only = arguments_value(arguments, "split"),
                          .queries = 300,
                          .seed = 1,
                          .quiet = arguments_has(arguments, "quiet"),
                          .force = arguments_has(arguments, "force"),
                          .terminal = isatty(STDERR_FILENO) == 1};
    int code = value_whole32(arguments, "queries", 1, MOST_QUERIES, &r->queries);
    return code == EXIT_OK ? value_whole(arguments, "seed", 0, UINT64_MAX, &r->seed) : code;
}

/* A wrong shape or split is found before a folder is made. */
static int check_names(const struct request *r)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *none =
        dataset_generate(r->shape, r->only ? r->only : "train", 0, r->seed, &error);
    oltr_dataset_free(none);
    return none ? EXIT_OK : complain_of(&error);
}

static void show(const struct request *r, const char *path, uint32_t done, uint32_t all)
{
    if (r->terminal && !r->quiet)
        fprintf(stderr, "\r%s: %u of %u queries\033[K", path, done, all);
}

static oltr_status write_queries(const struct request *r, const char *split, uint32_t queries,
                                 const char *path, dataset_text *text, uint64_t *rows,
                                 oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t done = 0; status == OLTR_OK && done < queries;) {
        uint32_t n = queries - done < AT_ONCE ? queries - done : AT_ONCE;
        oltr_dataset *part = dataset_generate_part(r->shape, split, done, n, r->seed, error);
        if (!part)
            return OLTR_ENOMEM;
        status = dataset_text_add(text, part, error);
        *rows += part->n_rows;
        done += n;
        oltr_dataset_free(part);
        show(r, path, done, queries);
    }
    return status;
}

static int write_split(const struct request *r, const char *split, uint32_t queries,
                       const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    uint64_t rows = 0;
    dataset_text *text = dataset_text_open(path, &error);
    oltr_status status =
        text ? write_queries(r, split, queries, path, text, &rows, &error) : OLTR_EIO;
    if (text) {
        oltr_status closed =
            dataset_text_close(text, status == OLTR_OK, status == OLTR_OK ? &error : NULL);
        status = status == OLTR_OK ? closed : status;
    }
    if (r->terminal && !r->quiet)
        fputs("\r\033[K", stderr);
    if (status != OLTR_OK)
        return complain_failed(&error);
    if (!r->quiet) {
        printf("%s: %u quer%s, %llu row%s\n", path, queries, plural_ies(queries),
               (unsigned long long)rows, plural_s(rows));
        if (fflush(stdout) != 0)
            return complain_output();
    }
    return EXIT_OK;
}

static int write_all_of(const struct request *r, const struct split *split, const char *path)
{
    return write_split(r, split->name, (r->queries + split->part - 1) / split->part, path);
}

/* A set that someone has made or downloaded is not lost to a repeated command. */
static int refuse_existing(const struct request *r, const struct split *split, const char *path)
{
    struct stat status;
    (void)split;
    if (r->force || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return EXIT_OK;
    return complain(EXIT_USAGE,
                    "%s exists already; give --force to replace it, or -o for another folder",
                    path);
}

static int on_each_split(const struct request *r,
                         int (*act)(const struct request *, const struct split *, const char *path))
{
    int code = EXIT_OK;
    for (uint32_t i = 0; code == EXIT_OK && i < N_SPLITS; i++) {
        if (r->only && strcmp(r->only, splits[i].name) != 0)
            continue;
        char name[16];
        snprintf(name, sizeof name, "%s.txt", splits[i].name);
        char *path = file_join(r->folder, name);
        code = path ? act(r, &splits[i], path) : complain_no_memory();
        free(path);
    }
    return code;
}

int cmd_data_generate(const struct arguments *arguments)
{
    struct request r;
    oltr_error error = {OLTR_OK, ""};
    int code = read_request(arguments, &r);
    code = code == EXIT_OK ? check_names(&r) : code;
    code = code == EXIT_OK ? on_each_split(&r, refuse_existing) : code;
    if (code == EXIT_OK && file_make_folder(r.folder, &error) != OLTR_OK)
        code = complain_failed(&error);
    return code == EXIT_OK ? on_each_split(&r, write_all_of) : code;
}
