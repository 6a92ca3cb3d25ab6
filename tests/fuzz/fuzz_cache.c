/* fuzz_cache.c - any bytes as a dataset file: as they are, and with length and digests made right,
 * so that the fuzzer does not have to guess them.  A file that is accepted must be a
 * dataset that has the same content after it was saved and loaded again.
 */
#define _GNU_SOURCE 1
#include "target.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include <oltr/sim.h>

#include "support/snapshot.h"
#include "lab/data/digest.h"

static char path[64], again[] = "/tmp/oltr-fuzz-XXXXXX";

static void forget_file(void)
{
    unlink(again);
}

/* A file in memory, with a path; and one on the disk, to save to. */
static void write_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0) {
        int other = mkstemp(again);
        fd = memfd_create("fuzz", 0);
        must_hold(fd >= 0 && other >= 0, "temporary files can be made");
        close(other);
        atexit(forget_file);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must_hold(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size,
              "it can be written");
}

static void check_dataset(const oltr_dataset *d)
{
    must_hold(d->n_queries > 0 && d->n_rows >= d->n_queries && d->dim > 0, "a dataset has rows");
    must_hold(d->first_row[0] == 0 && d->first_row[d->n_queries] == d->n_rows,
              "queries cover the rows");
    for (uint32_t q = 0; q < d->n_queries; q++)
        must_hold(d->first_row[q] < d->first_row[q + 1], "a query has rows");
    uint32_t grades = 0;
    for (uint32_t i = 0; i < d->n_rows; i++)
        grades += d->grade[i];
    must_hold(grades <= 255 * d->n_rows, "grades can be looked at");
    for (size_t i = 0; i < (size_t)d->n_rows * d->dim; i++)
        must_hold(isfinite(d->x[i]), "features are finite");
}

static void try_bytes(const uint8_t *data, size_t size)
{
    oltr_error error = {OLTR_OK, ""};
    write_file(data, size);
    oltr_dataset *d = oltr_dataset_read(path, &(oltr_read_options){.threads = 2}, NULL, &error);
    if (!d) {
        must_hold(error.code != OLTR_OK && error.msg[0] != 0, "a refusal has a code and words");
        return;
    }
    check_dataset(d);
    if (digest(data, size) % 16) { /* saving waits for the disk */
        oltr_dataset_free(d);
        return;
    }
    must_hold(oltr_dataset_save(d, again, NULL) == OLTR_OK, "what was taken saves");
    oltr_dataset *copy = oltr_dataset_read(again, NULL, NULL, &error);
    must_hold(copy && copy->n_rows == d->n_rows && copy->dim == d->dim, "and comes back");
    must_hold(memcmp(copy->x, d->x, (size_t)d->n_rows * d->dim * sizeof *d->x) == 0, "the same");
    oltr_dataset_free(copy);
    oltr_dataset_free(d);
}

/* Length and digests as docs/formats.md has them, if the counts fit into the bytes. */
static void seal_all(uint8_t *bytes, size_t size)
{
    enum { HEADER = 512 };
    uint64_t q = little(bytes + 24, 4), rows = little(bytes + 28, 4), dim = little(bytes + 32, 4);
    const uint64_t length[] = {8 * q, 4 * (q + 1), rows,
                               rows * dim < (1u << 20) ? 4 * rows * dim : 1u << 30};
    uint64_t at = HEADER;
    set_little(bytes + 16, 8, size);
    for (int i = 0; i < 4; i++) {
        if (at + length[i] > size)
            break;
        uint64_t part = digest(bytes + at, (size_t)length[i]);
        set_little(bytes + 40 + 8 * i, 8, digest(&part, 8));
        at += (length[i] + 63) / 64 * 64;
    }
    set_little(bytes + HEADER - 8, 8, digest(bytes, HEADER - 8));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    if (size < 512 || size > DIGEST_CHUNK)
        return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed)
        return 0;
    memcpy(sealed, data, size);
    memcpy(sealed, "OLTRDATA", 8);
    seal_all(sealed, size);
    try_bytes(sealed, size);
    free(sealed);
    return 0;
}
