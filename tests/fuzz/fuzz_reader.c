/* fuzz_reader.c - any bytes as a text of judged documents: plain and vector kernels, one thread and
 * three, file and lenient, must agree, and what is taken must be a dataset.
 */
#define _GNU_SOURCE 1
#include "target.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/data/read.h"

static char path[64];

/* A file in memory, with a path. */
static void write_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        must_hold(fd >= 0, "a file in memory can be made");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must_hold(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size,
              "it can be written");
}

static void check_dataset(const oltr_dataset *d, uint32_t most)
{
    must_hold(d->n_queries > 0 && d->n_rows >= d->n_queries && d->dim > 0 && d->dim <= most,
              "a dataset has rows");
    must_hold(d->first_row[0] == 0 && d->first_row[d->n_queries] == d->n_rows,
              "queries cover the rows");
    for (uint32_t q = 0; q < d->n_queries; q++)
        must_hold(d->first_row[q] < d->first_row[q + 1], "a query has rows");
    for (size_t i = 0; i < (size_t)d->n_rows * d->dim; i++)
        must_hold(isfinite(d->x[i]), "features are finite");
}

static void check_same(const oltr_dataset *a, const oltr_dataset *b)
{
    must_hold(a->n_queries == b->n_queries && a->n_rows == b->n_rows && a->dim == b->dim,
              "the same shape");
    must_hold(memcmp(a->query, b->query, a->n_queries * sizeof *a->query) == 0, "the same queries");
    must_hold(memcmp(a->first_row, b->first_row, (a->n_queries + 1) * sizeof *a->first_row) == 0,
              "the same rows of them");
    must_hold(memcmp(a->grade, b->grade, a->n_rows) == 0, "the same grades");
    must_hold(memcmp(a->x, b->x, (size_t)a->n_rows * a->dim * sizeof *a->x) == 0,
              "the same features");
}

static oltr_dataset *read_as(uint32_t threads, int lenient, int plain, oltr_error *error)
{
    struct stat stat;
    const char *foreign;
    oltr_read_options o = {.threads = threads, .lenient = lenient, .most_features = 300};
    int fd = open_input(path, &stat, error);
    must_hold(fd >= 0, "the temporary file can be read");
    file_kind kind = kind_of(fd, &foreign);
    return read_text(path, fd, &stat, kind == FILE_GZIP ? FILE_GZIP : FILE_TEXT, &o, plain, NULL,
                     error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    oltr_error first = {OLTR_OK, ""}, second = {OLTR_OK, ""};
    write_file(data, size);
    for (int lenient = 0; lenient < 2; lenient++) {
        oltr_dataset *one = read_as(1, lenient, 0, &first),
                     *other = read_as(3, lenient, 1, &second);
        must_hold(!one == !other, "both are taken, or none");
        if (one) {
            check_dataset(one, 300);
            check_same(one, other);
        } else if (first.code != OLTR_ENOMEM && second.code != OLTR_ENOMEM) {
            must_hold(first.code != OLTR_OK && first.msg[0] && strcmp(first.msg, second.msg) == 0,
                      "the same refusal");
        }
        oltr_dataset_free(one);
        oltr_dataset_free(other);
    }
    return 0;
}
