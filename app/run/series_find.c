/* series_find.c - which experiments `oltr reproduce` runs, and where their files are; see series.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "app/run/series.h"

#include "app/args/complain.h"
#include "engine/base/quote.h"
#include "report/io/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The order of the paper; other experiments follow by name. */
static const char *const order[] = {"noncontextual", "misspecification", "prior-init",
                                    "concentration", "linear",           "logistic",
                                    "web30k",        "istella",          "sigma",
                                    "linear-hard",   "logistic-sphere",  "scalar"};
enum { N_ORDERED = sizeof order / sizeof order[0] };

/* ---- the folder */

/* Where the program was installed, where it was built, or the current folder. */
static int find_folder(struct series *series)
{
    static const char *const ways[] = {"/../share/oltr/experiments", "/../../experiments"};
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    for (size_t i = slash ? 0 : 2; i < 3; i++) {
        const char *folder =
            i == 2 ? "experiments"
                   : pool_printf(&series->pool, "%.*s%s", (int)(slash - program), program, ways[i]);
        const char *file =
            folder ? pool_printf(&series->pool, "%s/noncontextual.yaml", folder) : NULL;
        if (!file)
            return complain_no_memory();
        if (access(file, R_OK) == 0) {
            series->experiments = folder;
            return EXIT_OK;
        }
    }
    return complain(EXIT_USAGE,
                    "the experiment files are not beside the program; give their folder with "
                    "--experiments DIR");
}

/* ---- the experiments */

static size_t place_of(const char *name)
{
    for (size_t i = 0; i < N_ORDERED; i++)
        if (strcmp(order[i], name) == 0)
            return i;
    return N_ORDERED;
}

static int by_order(const void *a, const void *b)
{
    const struct series_item *x = a, *y = b;
    size_t first = place_of(x->name), second = place_of(y->name);
    return first != second ? (first < second ? -1 : 1) : strcmp(x->name, y->name);
}

static int add_item(struct series *series, const char *name, size_t length)
{
    struct series_item *grown = realloc(series->item, (series->count + 1) * sizeof *grown);
    if (!grown)
        return complain_no_memory();
    series->item = grown;
    struct series_item *item = &grown[series->count];
    *item = (struct series_item){.name = pool_text(&series->pool, name, length)};
    if (item->name) {
        item->job.file = pool_printf(&series->pool, "%s/%s.yaml", series->experiments, item->name);
        item->job.folder = pool_printf(&series->pool, "%s/%s", series->output, item->name);
    }
    if (!item->job.file || !item->job.folder)
        return complain_no_memory();
    series->count++;
    return EXIT_OK;
}

/* The length of the name before ".yaml", 0 for other files. */
static size_t experiment_name(const char *file)
{
    size_t length = strlen(file);
    return length > 5 && strcmp(file + length - 5, ".yaml") == 0 && file[0] != '.' ? length - 5 : 0;
}

static int find_all(struct series *series)
{
    DIR *open = opendir(series->experiments);
    int code = EXIT_OK;
    if (!open)
        return complain(EXIT_USAGE, "%s: cannot be opened: %s", series->experiments,
                        strerror(errno));
    for (const struct dirent *entry; code == EXIT_OK && (entry = readdir(open));) {
        size_t length = experiment_name(entry->d_name);
        code = length > 0 ? add_item(series, entry->d_name, length) : EXIT_OK;
    }
    closedir(open);
    if (code == EXIT_OK && series->count == 0)
        return complain(EXIT_USAGE, "%s: there is no experiment file (.yaml) in it",
                        series->experiments);
    if (code == EXIT_OK)
        qsort(series->item, series->count, sizeof *series->item, by_order);
    return code;
}

static int find_named(struct series *series, const char *name)
{
    char word[QUOTE_SIZE];
    if (!file_name_is_plain(name))
        return complain(EXIT_USAGE,
                        "`%s` is not the name of an experiment; give it without folder and ending",
                        quote_input(name, word));
    int code = add_item(series, name, strlen(name));
    if (code == EXIT_OK && access(series->item[series->count - 1].job.file, R_OK) != 0)
        return complain(EXIT_USAGE, "there is no experiment `%s` in %s", quote_input(name, word),
                        series->experiments);
    return code;
}

int series_find(struct series *series)
{
    series->of_paper = !series->experiments;
    int code = series->of_paper ? find_folder(series) : EXIT_OK;
    if (code == EXIT_OK && series->n_names == 0)
        code = find_all(series);
    for (uint32_t i = 0; code == EXIT_OK && i < series->n_names; i++)
        code = find_named(series, series->name[i]);
    return code;
}

void series_free(struct series *series)
{
    for (uint32_t i = 0; i < series->count; i++)
        job_free(&series->item[i].job);
    free(series->item);
    pool_free(&series->pool);
}
