/* fuzz_normaliser.c - any bytes as a normaliser: refused with words, or one whose rows are finite and no longer than 1.
 *
 * The first byte says how the rest is used: even, as the file itself; odd, as changes (xor) to a good file whose checksum is then made right, so that the search gets past
 * the checksum.
 */
#define _POSIX_C_SOURCE 200809L
#include "conform/format.h"
#include "data/normaliser.h"
#include "target.h"

#include <math.h>
#include <unistd.h>

enum { MOST_BYTES = 4096 };
static char path[] = "/tmp/oltr-fuzz-XXXXXX";
static uint8_t good[3][MOST_BYTES];
static size_t good_size[3];

static const oltr_dataset data = {
    .n_queries = 2,
    .n_rows = 4,
    .dim = 3,
    .query = (const uint64_t[]){1, 2},
    .first_row = (const uint32_t[]){0, 2, 4},
    .grade = (const uint8_t[]){0, 1, 2, 0},
    .x = (const float[]){0, 1, 5, 2, -3, 5, 1e30f, 4, 5, 7, 3.4e38f, 5},
};

static void write_file(const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    must_hold(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "the temporary file can be written");
}

static size_t read_file(uint8_t *out)
{
    FILE *file = fopen(path, "rb");
    must_hold(file != NULL, "the temporary file can be read");
    size_t n = fread(out, 1, MOST_BYTES, file);
    fclose(file);
    return n;
}

static void forget_file(void)
{
    unlink(path);
}

/* One good file of each kind, once per process. */
static void prepare(void)
{
    if (good_size[0])
        return;
    int file = mkstemp(path);
    must_hold(file >= 0 && close(file) == 0, "a temporary file can be made");
    atexit(forget_file);
    for (int kind = 0; kind < NORMALISER_KINDS; kind++) {
        normaliser *n = normaliser_fit(&data, (normaliser_kind)kind, NULL);
        must_hold(n && normaliser_save(n, path, NULL) == OLTR_OK, "the good file");
        good_size[kind] = read_file(good[kind]);
        normaliser_free(n);
    }
}

static void try_rows(const normaliser *n)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_dataset *d = normaliser_apply(n, &data, &error);
    must_hold(d != NULL || error.msg[0], "a refusal has words");
    for (uint32_t row = 0; d && n->kind == NORMALISE_STANDARD && row < d->n_rows; row++) {
        double squares = 0;
        for (uint32_t i = 0; i < d->dim; i++)
            squares += (double)d->x[row * d->dim + i] * (double)d->x[row * d->dim + i];
        must_hold(squares <= 1 + 1e-5, "no row is longer than 1");
    }
    oltr_dataset_free(d);
}

static void try_file(void)
{
    oltr_error error = {OLTR_OK, ""};
    normaliser *n = normaliser_load(path, &error);
    must_hold(n || (error.code != OLTR_OK && error.msg[0]), "a refusal has a code and words");
    if (!n)
        return;
    try_rows(n);
    must_hold(normaliser_save(n, path, NULL) == OLTR_OK, "what was taken can be saved");
    normaliser_free(n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    prepare();
    if (size < 1 || size > MOST_BYTES)
        return 0;
    if (bytes[0] % 2 == 0) {
        write_file(bytes + 1, size - 1);
    } else {
        uint8_t edited[MOST_BYTES];
        int kind = bytes[0] / 2 % NORMALISER_KINDS;
        size_t length = good_size[kind];
        memcpy(edited, good[kind], length);
        for (size_t i = 1; i < size && i - 1 < length - 8; i++)
            edited[i - 1] ^= bytes[i];
        set_little(edited + length - 8, 8, slow_crc64(edited, length - 8));
        write_file(edited, length);
    }
    try_file();
    return 0;
}
