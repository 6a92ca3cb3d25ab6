/* shard.h - a part of a run: how it is asked for, "2/3", the files in which it is kept, and how the
 * parts are put together. */
#ifndef OLTR_APP_RUN_SHARD_H
#define OLTR_APP_RUN_SHARD_H

#include "app/run/job.h"

/* "2/3" is the second of three; false if it is not of that form. */
bool shard_parse(const char *text, oltr_shard *out);

/* folder/partial.oltr, or folder/partial-2-of-3.oltr; NULL without memory. */
char *shard_partial(const char *folder, oltr_shard shard);
/* folder/shard-2-of-3.oltr */
char *shard_file(const char *folder, oltr_shard shard);
/* Has the folder of the job the finished file of the job's shard? */
bool shard_is_there(const struct job *job);

/* Adds up all shards in these folders into job->results; each must be there once.  An exit code. */
int shards_merge(struct job *job, uint32_t n_folders, const char *const *folder);

#endif
