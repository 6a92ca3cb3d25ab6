/* write_text.h - a dataset as LETOR text: "grade qid:id 1:x 2:x ...", every feature of every row,
 * as the real files have it.
 *
 * Numbers are written so that they are read back equal to the bit, in any locale: with the fewest
 * decimals, up to six, that suffice; otherwise with nine digits and an exponent.  The largest
 * float, which stands for a value beyond all floats, is written as 1.79769313486e+308.
 */
#ifndef OLTR_LAB_DATA_WRITE_TEXT_H
#define OLTR_LAB_DATA_WRITE_TEXT_H

#include <stdbool.h>

#include <oltr/sim.h>

#include "engine/base/error.h"

/* A text is written piece by piece; the file has its name when it is closed.  Without `keep` it is
 * removed. */
typedef struct dataset_text dataset_text;
dataset_text *dataset_text_open(const char *path, oltr_error *error);
oltr_status dataset_text_add(dataset_text *text, const oltr_dataset *dataset, oltr_error *error);
oltr_status dataset_text_close(dataset_text *text, bool keep, oltr_error *error);

/* One number, without a final '\0'; returns its length, at most NUMBER_ROOM.  `x` is finite. */
enum { NUMBER_ROOM = 32 };
size_t write_number(float x, char *to);

#endif
