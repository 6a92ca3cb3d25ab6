/* texts.h - what the tests of readers share: packed files, and datasets compared to the bit. */
#ifndef OLTR_TESTS_TEXTS_H
#define OLTR_TESTS_TEXTS_H

#include "support/files.h"

#include <zlib.h>

#include <oltr/sim.h>

static inline const char *write_gzip(const char *name, const void *bytes, size_t n)
{
    const char *path = path_of(name);
    gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)n), n);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
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
