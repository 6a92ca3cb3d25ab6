/* draw.c - see draw.h.  `oltr run` and `oltr plot` both draw by this file, so a redrawn figure is
 * the same. */
#include "report/figures/draw.h"

#include "report/figures/density.h"
#include "engine/base/error.h"
#include "report/figures/gnuplot.h"
#include "report/io/manifest.h"

static oltr_status draw_one(const char *folder, const struct manifest *manifest,
                            const struct figure *figure, oltr_error *error)
{
    struct text script = {0}, data = {0};
    oltr_status status = manifest->is_concentration
                             ? density_script(folder, figure, &script, &data, error)
                             : figure_script(figure, &manifest->scene, &script, &data, error);
    if (status == OLTR_OK)
        status = gnuplot_draw(folder, figure->file, &script, &data, error);
    text_free(&script);
    text_free(&data);
    return status;
}

/* A figure that cannot be drawn does not stop the others; the error is that of the first. */
static oltr_status draw_all(const char *folder, const struct manifest *manifest, bool (*stop)(void),
                            uint32_t *drawn, oltr_error *error)
{
    oltr_status failed = OLTR_OK;
    for (uint32_t i = 0; i < manifest->n_figures; i++) {
        oltr_status status = OLTR_OK;
        if (!stop || !stop())
            status =
                draw_one(folder, manifest, &manifest->figure[i], failed == OLTR_OK ? error : NULL);
        if (stop && stop()) /* gnuplot got the same signal, so its own message does not matter */
            return set_error(error, OLTR_EINTERRUPTED,
                             "stopped before all figures were drawn; `oltr plot %s` draws them",
                             folder);
        if (status == OLTR_OK)
            ++*drawn;
        else if (failed == OLTR_OK)
            failed = status;
    }
    return failed;
}

oltr_status draw_folder(const char *folder, bool (*stop)(void), uint32_t *drawn, oltr_error *error)
{
    struct manifest manifest;
    struct result_table results = {0}, metric[N_METRICS] = {{0}};
    *drawn = 0;
    oltr_status status = manifest_read(folder, &manifest, error);
    if (status == OLTR_OK && !manifest.is_concentration) {
        status = result_table_read(folder, &results, error);
        manifest.scene.results = &results;
        manifest.scene.metric = metric;
    }
    for (uint32_t i = 0; status == OLTR_OK && !manifest.is_concentration && i < N_METRICS; i++)
        status = metric_table_read(folder, i, &metric[i], error);
    if (status == OLTR_OK)
        status = draw_all(folder, &manifest, stop, drawn, error);
    csv_free(&results.file);
    for (uint32_t i = 0; i < N_METRICS; i++)
        csv_free(&metric[i].file);
    manifest_free(&manifest);
    return status;
}
