/* model_json.h - a whole model as JSON: a part to read, and the image of the model in base64.
 *
 * The readable part has every number with 17 digits.  It does not have everything: the remembered
 * ids of lists are hashes, and the state of policies with features is a matrix.  So a model is made
 * from the image, and the readable part must agree with it: one that was edited is refused. */
#ifndef OLTR_APP_VERBS_MODEL_JSON_H
#define OLTR_APP_VERBS_MODEL_JSON_H

#include "engine/base/text.h"

#include <oltr/model.h>

/* The JSON of a model; `out->failed` when memory ran out. */
oltr_status model_to_json(const oltr_model *model, struct text *out, oltr_error *error);
/* The model of a file that model_to_json() wrote, `-` for standard input.  An exit code, after a
 * message. */
int model_from_json(const char *path, oltr_model **out);

/* Text for JSON: a name, and a number with 17 digits, null where it is not finite. */
void json_add_name(struct text *out, oltr_name name);
void json_add_number(struct text *out, double value);

/* Beliefs about all items, or about the features of a model with features: row i has 1 in place i.
 * In new memory; *n is their number, 0 for kinds that predict nothing.  NULL with the error set. */
oltr_explained *model_beliefs(const oltr_model *model, uint32_t *n, oltr_error *error);

#endif
