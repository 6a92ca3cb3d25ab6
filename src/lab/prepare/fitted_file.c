/* fitted_file.c - the file of click models: where it is, its bytes, and their checksum; see
 * fitted_models.h. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/bytes.h"
#include "engine/base/file.h"
#include "engine/base/quote.h"
#include "lab/prepare/fitted_models.h"

#define LARGEST_FITTED_FILE ((size_t)64 << 20) /* bytes; 40 queries of six models have 0.15 MB */

/* In a folder the file of that name; otherwise the path itself.  NULL with the error set. */
static char *path_of(const oltr_data_plan *plan, oltr_error *error)
{
    struct stat about;
    char quoted[QUOTE_SIZE];
    bool is_folder = stat(plan->folder, &about) == 0 && S_ISDIR(about.st_mode);
    if (is_folder && !plan->file) {
        set_error(error, OLTR_EINVAL,
                  "%s is a folder: name the file of the click models in it, `file: models.json`",
                  quote_input(plan->folder, quoted));
        return NULL;
    }
    char *path = is_folder ? file_join(plan->folder, plan->file) : strdup(plan->folder);
    if (!path)
        set_error(error, OLTR_ENOMEM, "out of memory");
    return path;
}

oltr_status fitted_models_read(const oltr_data_plan *plan, uint32_t slots,
                               struct fitted_models *out, oltr_error *error)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    oltr_error own = {OLTR_OK, ""};
    *out = (struct fitted_models){.plan = plan, .slots = slots};
    char *path = path_of(plan, &own);
    oltr_status status =
        path ? bytes_read(path, LARGEST_FITTED_FILE, &bytes, &size, &own) : own.code;
    if (status == OLTR_OK)
        status =
            fitted_models_parse(path, (const char *)bytes, size, plan->model, slots, out, &own);
    out->plan = plan;
    out->digest = status == OLTR_OK ? crc64(bytes, size) : 0;
    free(bytes);
    free(path);
    return status == OLTR_OK ? status : set_error(error, status, "%s", own.msg);
}

bool fitted_models_digest(const oltr_data_plan *plan, uint64_t *digest)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    char *path = path_of(plan, NULL);
    bool good = path && bytes_read(path, LARGEST_FITTED_FILE, &bytes, &size, NULL) == OLTR_OK;
    *digest = good ? crc64(bytes, size) : 0;
    free(bytes);
    free(path);
    return good;
}
