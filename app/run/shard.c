/* shard.c - names of shards and their files, and the merging of shards; see shard.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/shard.h"

#include "app/args/complain.h"
#include "app/run/progress.h"
#include "app/run/simulate.h"
#include "report/io/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SHARDS = 1000000 };

/* A whole number from 1 to MOST_SHARDS; 0 if it is none.  *end: behind it. */
static uint32_t read_count(const char *text, const char **end)
{
    uint32_t value = 0;
    size_t digits = strspn(text, "0123456789");
    *end = text + digits;
    if (digits == 0 || digits > 7 || *text == '0')
        return 0;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (uint32_t)(text[i] - '0');
    return value <= MOST_SHARDS ? value : 0;
}

static bool read_shard(const char *text, const char *between, const char *after, oltr_shard *out)
{
    uint32_t number = read_count(text, &text), count = 0;
    if (number > 0 && strncmp(text, between, strlen(between)) == 0)
        count = read_count(text + strlen(between), &text);
    if (count == 0 || number > count || strcmp(text, after) != 0)
        return false;
    *out = (oltr_shard){number - 1, count};
    return true;
}

bool shard_parse(const char *text, oltr_shard *out)
{
    return read_shard(text, "/", "", out);
}

static char *file_of(const char *folder, const char *what, oltr_shard shard)
{
    char name[64];
    if (shard.count == 0) {
        snprintf(name, sizeof name, "%s.oltr", what);
    } else {
        snprintf(name, sizeof name, "%s-%" PRIu32 "-of-%" PRIu32 ".oltr", what, shard.index + 1,
                 shard.count);
    }
    return file_join(folder, name);
}

char *shard_partial(const char *folder, oltr_shard shard)
{
    return file_of(folder, "partial", shard);
}

char *shard_file(const char *folder, oltr_shard shard)
{
    return file_of(folder, "shard", shard);
}

bool shard_is_there(const struct job *job)
{
    char *path = job->shard.count > 0 ? shard_file(job->folder, job->shard) : NULL;
    bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

/* ---- merging */

static bool is_shard_file(const char *name)
{
    oltr_shard shard;
    return strncmp(name, "shard-", 6) == 0 && read_shard(name + 6, "-of-", ".oltr", &shard);
}

static int merge_file(const struct job *job, const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *part = results_for(job);
    if (!part)
        return EXIT_FAILED;
    oltr_status loaded = oltr_results_load(part, path, &error);
    bool merged = loaded == OLTR_OK && oltr_results_merge(job->results, part, &error) == OLTR_OK;
    oltr_results_free(part);
    if (merged)
        return EXIT_OK;
    if (loaded == OLTR_OK)
        return complain(EXIT_FAILED, "%s: %s; give every shard once", path, error.msg);
    if (loaded == OLTR_EMISMATCH)
        return complain(
            EXIT_FAILED,
            "%s is a shard of another experiment, of this one with other settings, or of data that "
            "have changed; run it again with the experiment.yaml of the first folder",
            path);
    return complain_failed(&error);
}

static int merge_folder(const struct job *job, const char *folder, uint32_t *files)
{
    DIR *open = opendir(folder);
    int code = EXIT_OK;
    if (!open)
        return complain(EXIT_USAGE, "%s: cannot be opened: %s", folder, strerror(errno));
    for (const struct dirent *entry; code == EXIT_OK && (entry = readdir(open));) {
        if (is_shard_file(entry->d_name)) {
            char *path = file_join(folder, entry->d_name);
            code = path ? merge_file(job, path) : complain_no_memory();
            free(path);
            ++*files;
        }
    }
    closedir(open);
    return code;
}

int shards_merge(struct job *job, uint32_t n_folders, const char *const *folder)
{
    uint32_t files = 0;
    int code = EXIT_OK;
    job->results = results_for(job);
    if (!job->results)
        return EXIT_FAILED;
    for (uint32_t i = 0; code == EXIT_OK && i < n_folders; i++)
        code = merge_folder(job, folder[i], &files);
    unsigned long long done = progress_done(job->config.plan, job->results),
                       total = progress_total(job->config.plan, (oltr_shard){0, 0});
    if (code == EXIT_OK && files == 0)
        return complain(EXIT_USAGE, "there is no file like shard-1-of-2.oltr in these folders; "
                                    "`oltr run --shard 1/2` makes one");
    if (code == EXIT_OK && done < total)
        return complain(
            EXIT_FAILED,
            "%llu of %llu replication%s missing: run the other shards, and name their folders",
            total - done, total, total == 1 ? " is" : "s are");
    return code;
}
