/* fuzz_partial.c - any bytes as a file of partial results.
 *
 * The first byte says how the rest is used: even, as the file itself; odd, as changes (xor) to a
 * good file whose checksum is then made right, so that the search gets past the checksum and the
 * digest of the experiment.  Refused or taken, the results must stay readable, and whatever was
 * taken must save.
 */
#define _POSIX_C_SOURCE 200809L
#include "support/snapshot.h"
#include "target.h"

#include <unistd.h>

#include <oltr/sim.h>

enum { ITEMS = 4, MOST_BYTES = 4096 };
static const uint64_t marks[] = {1, 4, 8};
static char path[] = "/tmp/oltr-fuzz-XXXXXX";
static uint8_t good[MOST_BYTES];
static size_t good_size;

static void write_file(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    must_hold(file && fwrite(data, 1, size, file) == size && fclose(file) == 0,
              "the temporary file can be written");
}

static size_t read_file(uint8_t *out)
{
    FILE *file = fopen(path, "rb");
    must_hold(file, "the temporary file can be read");
    size_t n = fread(out, 1, MOST_BYTES, file);
    fclose(file);
    return n;
}

static oltr_experiment experiment(oltr_contestant *policy)
{
    *policy = (oltr_contestant){.label = "x"};
    must_hold(oltr_settings_init(&policy->settings, "gts", ITEMS, NULL) == OLTR_OK, "settings");
    return (oltr_experiment){.seed = 1,
                             .rounds = 8,
                             .slots = 2,
                             .replications = 3,
                             .n_checkpoints = 3,
                             .checkpoint = marks,
                             .world = {.kind = "beta", .n_items = ITEMS, .clicks = "cascade"},
                             .n_policies = 1,
                             .policy = policy};
}

static void forget_file(void)
{
    unlink(path);
}

/* A run that was saved half way, once per process. */
static void prepare(const oltr_experiment *e)
{
    if (good_size)
        return;
    int file = mkstemp(path);
    must_hold(file >= 0, "a temporary file can be made");
    close(file);
    atexit(forget_file);
    oltr_results *r = oltr_results_new(e, 1, NULL);
    must_hold(r && oltr_run(e, 1, &(oltr_run_options){.threads = 1}, r, NULL) == OLTR_OK,
              "the good run");
    must_hold(oltr_results_save(r, path, NULL) == OLTR_OK, "the good file");
    good_size = read_file(good);
    oltr_results_free(r);
}

static void try_file(const oltr_experiment *e)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(e, 1, NULL);
    must_hold(r, "results");
    oltr_status status = oltr_results_load(r, path, &error);
    must_hold(status == error.code && (status == OLTR_OK || error.msg[0]),
              "a refusal has a code and words");
    for (uint32_t m = 0; m < e->n_checkpoints; m++) {
        oltr_outcome o = oltr_results_at(r, 0, 0, m);
        must_hold(o.replications <= e->replications && o.regret_se >= 0, "outcomes are outcomes");
    }
    if (status == OLTR_OK)
        must_hold(oltr_run(e, 1, &(oltr_run_options){.threads = 1}, r, NULL) == OLTR_OK,
                  "what was taken can go on");
    oltr_results_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    oltr_contestant policy;
    oltr_experiment e = experiment(&policy);
    prepare(&e);
    if (size < 1 || size > MOST_BYTES)
        return 0;
    if (data[0] % 2 == 0) {
        write_file(data + 1, size - 1);
    } else {
        uint8_t edited[MOST_BYTES];
        memcpy(edited, good, good_size);
        for (size_t i = 1; i < size && i - 1 < good_size - 8; i++)
            edited[i - 1] ^= data[i];
        set_little(edited + good_size - 8, 8, slow_crc64(edited, good_size - 8));
        write_file(edited, good_size);
    }
    try_file(&e);
    return 0;
}
