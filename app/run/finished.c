/* finished.c - compares a finished folder with a request, or clears it; see finished.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/finished.h"

#include "app/config/tree_json.h"
#include "app/run/prepare.h"
#include "engine/base/error.h"
#include "report/io/manifest.h"
#include "report/io/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const figure_endings[] = {"csv", "gp", "svg", "png", "pdf"};
static const char *const tables[] = {"results.csv", "summary.csv", "pairs.csv",  "queries.csv",
                                     "claims.csv",  "density.csv", "metrics.csv"};
enum {
    N_ENDINGS = sizeof figure_endings / sizeof *figure_endings,
    N_TABLES = sizeof tables / sizeof *tables
};

bool finished_there(const char *folder)
{
    char *path = file_join(folder, "manifest.json");
    bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

/* "folder/figure.ending" in new memory, or NULL. */
static char *figure_path(const char *folder, const struct figure *figure, const char *ending)
{
    char name[128];
    snprintf(name, sizeof name, "%.100s.%s", figure->file, ending);
    return file_join(folder, name);
}

static bool figures_there(const struct manifest *manifest, const char *folder)
{
    bool there = true;
    for (uint32_t i = 0; i < manifest->n_figures; i++) {
        for (size_t j = 0; there && j < N_ENDINGS; j++) {
            char *path = figure_path(folder, &manifest->figure[i], figure_endings[j]);
            there = path && access(path, F_OK) == 0;
            free(path);
        }
    }
    return there;
}

bool finished_same(const char *folder, const struct config *config, uint32_t threads, bool *drawn)
{
    struct manifest manifest;
    bool same = manifest_read(folder, &manifest, NULL) == OLTR_OK;
    *drawn = false;
    if (same) {
        json_t *configuration = tree_json(config->plan->root);
        const char *version = json_string_value(json_object_get(manifest.json, "oltr"));
        same = configuration && version && strcmp(version, oltr_version()) == 0 &&
               json_equal(configuration, json_object_get(manifest.json, "configuration")) &&
               prepared_before(config, threads, json_object_get(manifest.json, "data"));
        *drawn = same && figures_there(&manifest, folder);
        json_decref(configuration);
    }
    manifest_free(&manifest);
    return same;
}

/* Frees the path. */
static oltr_status remove_file(char *path, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    if (!path)
        status = set_error(error, OLTR_ENOMEM, "out of memory");
    else if (unlink(path) != 0 && errno != ENOENT)
        status = set_error(error, OLTR_EIO, "%s: cannot remove it: %s", path, strerror(errno));
    free(path);
    return status;
}

static oltr_status remove_figures(const char *folder, const struct manifest *manifest,
                                  oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; i < manifest->n_figures; i++)
        for (size_t j = 0; status == OLTR_OK && j < N_ENDINGS; j++)
            status =
                remove_file(figure_path(folder, &manifest->figure[i], figure_endings[j]), error);
    return status;
}

oltr_status finished_remove(const char *folder, oltr_error *error)
{
    struct manifest manifest;
    oltr_status status = OLTR_OK;
    if (manifest_read(folder, &manifest, NULL) == OLTR_OK) {
        status = remove_figures(folder, &manifest, error);
        for (size_t i = 0; status == OLTR_OK && i < N_TABLES; i++)
            status = remove_file(file_join(folder, tables[i]), error);
        if (status == OLTR_OK) /* last: after a kill before it, the next run repeats the removal */
            status = remove_file(file_join(folder, "manifest.json"), error);
    }
    manifest_free(&manifest);
    return status;
}
