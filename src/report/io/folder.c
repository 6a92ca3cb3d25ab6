/* folder.c - see folder.h. */
#define _POSIX_C_SOURCE 200809L
#include "report/io/folder.h"

#include "engine/base/error.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const measure_names[N_MEASURES] = {"mean", "sd", "entropy", "width95", "coverage95"};
enum { N_COLUMNS = 2 + N_MEASURES };

static bool is_heading(char **field, int count)
{
    bool same = count == N_COLUMNS && strcmp(field[0], "attraction") == 0 &&
                strcmp(field[1], "posterior") == 0;
    for (int i = 0; same && i < N_MEASURES; i++)
        same = strcmp(field[i + 2], measure_names[i]) == 0;
    return same;
}

static bool parse_posterior(char **field, int count, struct posterior_row *row)
{
    bool good = count == N_COLUMNS;
    for (int i = 0; good && i < N_MEASURES; i++) {
        good = number_is_plain(field[i + 2]);
        row->value[i] = good ? strtod(field[i + 2], NULL) : 0;
    }
    row->attraction = field[0];
    row->posterior = good ? field[1] : NULL;
    return good;
}

static oltr_status parse_posteriors(struct folder *folder, oltr_error *error)
{
    char *field[N_COLUMNS], *at = folder->memory.bytes;
    bool good =
        strlen(at) == folder->memory.length && is_heading(field, csv_record(&at, field, N_COLUMNS));
    int count = 0;
    while (good && (count = csv_record(&at, field, N_COLUMNS)) != 0) {
        good = parse_posterior(field, count, &folder->posterior[folder->n_posteriors]);
        folder->n_posteriors += good;
    }
    return good ? OLTR_OK
                : set_error(error, OLTR_EIO,
                            "%s/summary.csv: record %zu is not what oltr run writes; run it again",
                            folder->path, folder->n_posteriors + 1);
}

static oltr_status read_posteriors(struct folder *folder, oltr_error *error)
{
    oltr_status status = file_read_in(folder->path, "summary.csv", &folder->memory, error);
    if (status != OLTR_OK)
        return status;
    folder->posterior = calloc(csv_lines(&folder->memory), sizeof *folder->posterior);
    return folder->posterior != NULL
               ? parse_posteriors(folder, error)
               : set_error(error, OLTR_ENOMEM, "%s: out of memory", folder->path);
}

static bool has_pairs(const char *path)
{
    char *file = file_join(path, "pairs.csv");
    bool there = file != NULL && access(file, F_OK) == 0;
    free(file);
    return there;
}

static oltr_status read_tables(struct folder *folder, oltr_error *error)
{
    if (folder->manifest.is_concentration)
        return read_posteriors(folder, error);
    oltr_status status = result_table_read(folder->path, &folder->results, error);
    folder->manifest.scene.results = &folder->results;
    return status == OLTR_OK && has_pairs(folder->path)
               ? pair_table_read(folder->path, &folder->pairs, error)
               : status;
}

oltr_status folder_read(const char *path, struct folder *folder, oltr_error *error)
{
    memset(folder, 0, sizeof *folder);
    folder->path = path;
    oltr_status status = manifest_read(path, &folder->manifest, error);
    return status == OLTR_OK ? read_tables(folder, error) : status;
}

void folder_free(struct folder *folder)
{
    manifest_free(&folder->manifest);
    result_table_free(&folder->results);
    pair_table_free(&folder->pairs);
    free(folder->posterior);
    text_free(&folder->memory);
    memset(folder, 0, sizeof *folder);
}
