/* source.h - a text as blocks of whole lines: from a memory map, or from a stream (gzip, a pipe).
 *
 * A block of a map is a piece of the map itself.  A block of a stream is read into a buffer of the
 * caller, so that several threads can parse while one reads on.  A source has no lock: one call at
 * a time.
 */
#ifndef OLTR_LAB_DATA_SOURCE_H
#define OLTR_LAB_DATA_SOURCE_H

#include <stdint.h>
#include <sys/stat.h>

#include "engine/base/error.h"
#include "lab/data/unpack.h"

enum {
    BLOCK_BYTES = 1 << 18, /* with the floats it makes, small enough for a second-level cache */
    LONGEST_TEXT_LINE = 1 << 24, /* far beyond real data; bounds the memory of a stream */
    BLOCK_PAD = 64               /* readable bytes behind a block of a stream */
};

typedef struct text_source {
    char name[128];  /* for messages: the path, shortened from the left */
    const char *map; /* NULL: a stream */
    uint64_t size;   /* of the map */
    uint64_t at;     /* the beginning of the next block; of a stream, how much was read */
    unpacker *stream;
    char *rest; /* of a stream: the incomplete line at the end of the last block */
    size_t rest_size, rest_room;
    bool ended;
} text_source;

/* A piece of text that begins with a line and ends with one, unless that one is longer than
 * LONGEST_TEXT_LINE. */
typedef struct block {
    const char *text, *end;
    const char *readable; /* >= end: bytes up to here may be looked at */
    char *buffer; /* of a stream; belongs to the caller, who starts with NULL and frees it */
    size_t room;
} block;

/* What a file is, by its first bytes. */
typedef enum file_kind { FILE_TEXT, FILE_GZIP, FILE_CACHE, FILE_FOREIGN } file_kind;

/* Opens a path for reading ("-": standard input), or -1 with the error set. */
int open_input(const char *path, struct stat *stat, oltr_error *error);
/* Looks at the first bytes of a regular file; *foreign is the name of a format that cannot be read
 * here. */
file_kind kind_of(int fd, const char **foreign);
void short_name(const char *path, char *name, size_t size);

/* Maps a regular file or begins to read a stream.  Takes `fd`: closes it, now or with the
 * source. */
oltr_status source_open(text_source *s, const char *path, int fd, const struct stat *stat,
                        file_kind kind, oltr_error *error);
void source_close(text_source *s);

/* The next block: 1, 0 at the end of the text, or -1 with the error set. */
int source_next(text_source *s, block *b, oltr_error *error);
/* A block that has been parsed: its pages need not stay in memory. */
void source_done(const text_source *s, const block *b);

#endif
