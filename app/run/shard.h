/* shard.h - a part of a run: how it is asked for, "2/3", and the files in which it is kept. */
#ifndef OLTR_APP_RUN_SHARD_H
#define OLTR_APP_RUN_SHARD_H

#include <oltr/sim.h>
#include <stdbool.h>

/* "2/3" is the second of three; false if it is not of that form. */
bool shard_parse(const char *text, oltr_shard *out);

/* folder/partial.oltr, or folder/partial-2-of-3.oltr; NULL without memory. */
char *shard_partial(const char *folder, oltr_shard shard);
/* folder/shard-2-of-3.oltr */
char *shard_file(const char *folder, oltr_shard shard);
/* Is this the name of such a file? */
bool shard_is_file(const char *name);

#endif
