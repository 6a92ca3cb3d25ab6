/* model_family.h - what the commands of `oltr model` share: opening models, and names of items from
 * the command line and from files. */
#ifndef OLTR_APP_VERBS_MODEL_FAMILY_H
#define OLTR_APP_VERBS_MODEL_FAMILY_H

#include "app/verbs/verbs.h"
#include "engine/base/text.h"

#include <oltr/store.h>

/* The store at a path that exists.  EXIT_OK, or the exit code after a message. */
int model_open(const char *path, bool to_write, uint32_t sync, oltr_store **out);
/* Closes the store, which may be NULL, and returns the code; a failure to close is reported. */
int model_close(oltr_store *store, int code);

struct model_names {
    struct text bytes;
    uint32_t n;
    oltr_name *name; /* (n) into `bytes` */
};
/* The operands from number `from` on, --items a,b,c and the lines of --items-from FILE, where the
 * verb has them.  Free the names either way. */
int model_names_read(const struct arguments *arguments, uint32_t from, struct model_names *out);
void model_names_free(struct model_names *names);

/* --id, or size 0; EXIT_USAGE after a message if it cannot be one. */
int model_id(const struct arguments *arguments, oltr_name *id);

/* 1234567 as 1,234,567. */
enum { GROUPED_SIZE = 32 };
const char *model_grouped(uint64_t n, char out[GROUPED_SIZE]);

/* A name on a terminal: at most `columns` columns, the last of them '~' where it is cut; control
 * characters and bytes that are not UTF-8 are shown as '?'.  Returns the columns. */
enum { SHOWN_NAME_SIZE = 256 };
uint32_t model_shown_name(oltr_name name, uint32_t columns, char out[SHOWN_NAME_SIZE]);

/* "home.oltr: 120 items, 4,000 lessons" on standard output. */
void model_say_size(const char *path, const oltr_model *model);

#endif
