/* fitted_models.h - click models that were fitted elsewhere, from a file: for every query the
 * attractions of its documents and what its users do.
 *
 * The file is a JSON or YAML document (docs/formats.md).  What is read is complete and checked: all
 * numbers are probabilities, all lists of a query fit together, and every query has a document and
 * a number for each slot.
 */
#ifndef OLTR_LAB_PREPARE_FITTED_MODELS_H
#define OLTR_LAB_PREPARE_FITTED_MODELS_H

#include <stdbool.h>

#include <oltr/plan.h>

struct fitted_models {
    const oltr_data_plan *plan; /* of its first point: folder, file and model */
    uint32_t slots;
    oltr_dataset queries; /* without features; its arrays are in the block */
    double *attraction;   /* (rows) */
    oltr_users users;
    uint64_t digest; /* of the bytes of the file */
    void *block;     /* owns the arrays */
};

/* Reads the model of the plan for lists of `slots` items.  Clear it after an error, too. */
oltr_status fitted_models_read(const oltr_data_plan *plan, uint32_t slots,
                               struct fitted_models *out, oltr_error *error);
/* The same of a text; `name` is for messages. */
oltr_status fitted_models_parse(const char *name, const char *text, size_t length,
                                const char *model, uint32_t slots, struct fitted_models *out,
                                oltr_error *error);
void fitted_models_clear(struct fitted_models *models);
/* The checksum of the file; false where it cannot be read. */
bool fitted_models_digest(const oltr_data_plan *plan, uint64_t *digest);

#endif
