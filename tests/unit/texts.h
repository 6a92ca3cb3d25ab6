/* texts.h - what the tests of readers share: a folder for files, files in it, and datasets compared
 * to the bit. */
#ifndef OLTR_TESTS_TEXTS_H
#define OLTR_TESTS_TEXTS_H

#include "unit.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include <oltr/sim.h>

static char folder[] = "/tmp/oltr-test-XXXXXX";

static inline int make_folder(void **state)
{
    return mkdtemp(folder) == NULL;
}

static inline int remove_folder(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}

/* folder/name, in one of a few places that are used in turn. */
static inline const char *path_of(const char *name)
{
    static char place[8][128];
    static unsigned at;
    char *path = place[at++ % 8];
    snprintf(path, sizeof place[0], "%s/%s", folder, name);
    return path;
}

static inline const char *write_bytes(const char *name, const void *bytes, size_t n)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

static inline const char *write_gzip(const char *name, const void *bytes, size_t n)
{
    const char *path = path_of(name);
    gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

/* The file whole, and a zero behind it. */
static inline unsigned char *read_bytes(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = exactly(*n + 1, 1);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    bytes[*n] = 0;
    fclose(file);
    return bytes;
}

static inline void assert_same_dataset(const oltr_dataset *a, const oltr_dataset *b)
{
    assert_int_equal(a->n_queries, b->n_queries);
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->dim, b->dim);
    assert_memory_equal(a->query, b->query, a->n_queries * sizeof *a->query);
    assert_memory_equal(a->first_row, b->first_row, (a->n_queries + 1) * sizeof *a->first_row);
    assert_memory_equal(a->grade, b->grade, a->n_rows);
    assert_memory_equal(a->x, b->x, (size_t)a->n_rows * a->dim * sizeof *a->x);
}

static inline oltr_dataset *must_read(const char *path, const oltr_read_options *options,
                                      oltr_read_report *report)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *d = oltr_dataset_read(path, options, report, &error);
    if (!d)
        fail_msg("%s", error.msg);
    return d;
}

#endif
