/* folder.c - see folder.h.  A simulation has results.csv and mostly pairs.csv; an experiment of
 * kind concentration has only its posteriors in summary.csv. */
#include "report/io/folder.h"

#include "report/io/whole_file.h"

#include <string.h>

const char *const measure_names[N_MEASURES] = {"mean", "sd", "entropy", "width95", "coverage95"};

static oltr_status read_posteriors(struct folder *folder, oltr_error *error)
{
    struct csv_column column[2 + N_MEASURES] = {
        {"attraction", CSV_TEXT, offsetof(struct posterior_row, attraction)},
        {"posterior", CSV_TEXT, offsetof(struct posterior_row, posterior)}};
    for (size_t i = 0; i < N_MEASURES; i++)
        column[2 + i] =
            (struct csv_column){measure_names[i], CSV_NUMBER,
                                offsetof(struct posterior_row, value) + i * sizeof(double)};
    oltr_status status = csv_read(folder->path, "summary.csv", column, 2 + N_MEASURES,
                                  sizeof *folder->posterior, &folder->posteriors, error);
    folder->posterior = folder->posteriors.row;
    folder->n_posteriors = folder->posteriors.count;
    return status;
}

static oltr_status read_tables(struct folder *folder, oltr_error *error)
{
    if (folder->manifest.is_concentration)
        return read_posteriors(folder, error);
    oltr_status status = result_table_read(folder->path, &folder->results, error);
    folder->manifest.scene.results = &folder->results;
    folder->manifest.scene.metric = folder->metric;
    for (uint32_t i = 0; status == OLTR_OK && i < N_METRICS; i++)
        status = metric_table_read(folder->path, i, &folder->metric[i], error);
    return status == OLTR_OK && file_is_in(folder->path, "pairs.csv")
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
    csv_free(&folder->results.file);
    for (uint32_t i = 0; i < N_METRICS; i++)
        csv_free(&folder->metric[i].file);
    csv_free(&folder->pairs.file);
    csv_free(&folder->posteriors);
    memset(folder, 0, sizeof *folder);
}
