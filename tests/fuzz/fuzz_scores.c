/* fuzz_scores.c - any bytes as a file of scores for a small dataset: taken whole, or refused with
 * words; what is taken writes and reads back to the same bits. */
#define _POSIX_C_SOURCE 200809L
#include "lab/scorer/scores.h"
#include "target.h"

#include <unistd.h>

static char path[] = "/tmp/oltr-fuzz-XXXXXX";

static void forget_file(void)
{
    unlink(path);
}

static void write_file(const uint8_t *data, size_t size)
{
    static int made;
    if (!made) {
        int file = mkstemp(path);
        must_hold(file >= 0 && close(file) == 0, "a temporary file can be made");
        atexit(forget_file);
        made = 1;
    }
    FILE *file = fopen(path, "wb");
    must_hold(file && fwrite(data, 1, size, file) == size && fclose(file) == 0,
              "the temporary file can be written");
}

static void try_again(const scores *s, const oltr_dataset *d)
{
    scores again;
    size_t n = (size_t)s->n_rows * s->n_models;
    for (size_t i = 0; i < n; i++)
        must_hold(s->score[i] >= 0 && s->score[i] <= 1, "a score is a probability");
    must_hold(scores_write_csv(s, d, path, NULL) == OLTR_OK, "what was read can be written");
    must_hold(scores_read_csv(path, d, SCORES_CALIBRATED, &again, NULL) == OLTR_OK,
              "and read again");
    must_hold(again.n_models == s->n_models &&
                  memcmp(again.score, s->score, n * sizeof *s->score) == 0,
              "to the same bits");
    scores_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t query[] = {16, 7};
    static const uint32_t first_row[] = {0, 2, 3};
    static const uint8_t grade[3] = {0, 1, 2};
    static const float x[3] = {0, 1, 2};
    const oltr_dataset d = {.n_queries = 2,
                            .n_rows = 3,
                            .dim = 1,
                            .query = query,
                            .first_row = first_row,
                            .grade = grade,
                            .x = x};
    scores s;
    oltr_error error = {OLTR_OK, ""};
    write_file(data, size);
    if (scores_read_csv(path, &d, SCORES_CALIBRATED, &s, &error) == OLTR_OK)
        try_again(&s, &d);
    else
        must_hold(error.code != OLTR_OK && error.msg[0] != 0 && !s.score,
                  "a refusal has a code and words");
    scores_free(&s);
    return 0;
}
