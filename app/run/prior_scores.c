/* prior_scores.c - see belief.h.
 *
 * Scores of trained scorers are kept as scores.csv in the folder of results, for --resume, for the
 * other shards of a run, and for people.  scores.key beside it has a checksum of all that they
 * follow from (data, seed, number of scorers, grades, version), and one of the scores themselves:
 * only scores for which both are the same are taken again, so neither a file that was changed by
 * hand nor one left by a run that was killed between the two can pass. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/prior_scores.h"

#include "engine/base/bytes.h"
#include "app/args/command.h"
#include "report/io/whole_file.h"
#include "app/run/stop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_SIZE = 64 };

/* ---- the key */

static void put_split(writer *w, const oltr_dataset *data)
{
    put_u32(w, data->n_queries);
    put_u32(w, data->n_rows);
    put_u32(w, data->dim);
    put_u64(w, crc64(data->query, data->n_queries * sizeof *data->query));
    put_u64(w, crc64(data->first_row, ((size_t)data->n_queries + 1) * sizeof *data->first_row));
    put_u64(w, crc64(data->grade, data->n_rows));
    put_u64(w, crc64(data->x, (size_t)data->n_rows * data->dim * sizeof *data->x));
}

/* Of all that scores follow from. */
static uint64_t cause_of(const oltr_data_plan *plan, const struct splits *s, const double *of_grade,
                         uint64_t seed)
{
    unsigned char bytes[GRADES * 8 + 512];
    writer w = {bytes, sizeof bytes, 0};
    put_bytes(&w, oltr_version(), strlen(oltr_version()));
    put_u32(&w, plan->rankers);
    put_u64(&w, seed);
    put_f64s(&w, of_grade, GRADES);
    put_split(&w, s->train);
    put_split(&w, s->vali);
    put_split(&w, s->test);
    return crc64(bytes, w.used);
}

/* One line of text. */
static void key_of(uint64_t cause, const scores *s, char key[KEY_SIZE])
{
    uint64_t own = crc64(s->score, (size_t)s->n_rows * s->n_models * sizeof *s->score);
    snprintf(key, KEY_SIZE, "oltr scores %016" PRIx64 " %016" PRIx64 "\n", cause, own);
}

enum { CAUSE_LENGTH = 12 + 16 + 1 }; /* "oltr scores ", digits, and the space behind them */

/* ---- kept scores */

/* "scores.csv", "scores-2.csv" */
static void name_of(uint32_t number, const char *ending, char name[32])
{
    if (number == 1)
        snprintf(name, 32, "scores.%s", ending);
    else
        snprintf(name, 32, "scores-%" PRIu32 ".%s", number, ending);
}

/* Does the key in this folder begin with, or have, these many bytes of `key`? */
static bool has_key(const char *folder, uint32_t number, const char *key, size_t length)
{
    char name[32];
    struct text found = {0};
    name_of(number, "key", name);
    bool same = file_read_in(folder, name, &found, NULL) == OLTR_OK &&
                found.length == strlen(key) && memcmp(found.bytes, key, length) == 0;
    text_free(&found);
    return same;
}

/* Did this folder have them? */
static bool take_kept(const char *folder, uint32_t number, uint64_t cause, const oltr_dataset *test,
                      bool quiet, scores *out)
{
    oltr_error why = {OLTR_OK, ""};
    char name[32], key[KEY_SIZE];
    key_of(cause, &(scores){0}, key);
    if (!folder || !has_key(folder, number, key, CAUSE_LENGTH))
        return false;
    name_of(number, "csv", name);
    char *path = file_join(folder, name);
    bool taken = path && scores_read_csv(path, test, out, &why) == OLTR_OK;
    if (taken) {
        key_of(cause, out, key);
        taken = has_key(folder, number, key, strlen(key));
    }
    if (!taken)
        scores_free(out);
    if (path && !quiet)
        complain(0,
                 taken ? "the scores in %s are of this very data and seed: taken as they are"
                       : "%s cannot be used again, so scorers are trained anew",
                 path);
    free(path);
    return taken;
}

static oltr_status keep(const char *folder, uint32_t number, uint64_t cause,
                        const oltr_dataset *test, const scores *s, oltr_error *error)
{
    char name[32], key[KEY_SIZE];
    struct text content = {0};
    key_of(cause, s, key);
    name_of(number, "csv", name);
    char *path = file_join(folder, name);
    oltr_status status = path ? scores_write_csv(s, test, path, error)
                              : set_error(error, OLTR_ENOMEM, "out of memory");
    free(path);
    if (status == OLTR_OK) {
        name_of(number, "key", name);
        text_add(&content, key);
        status = file_write_in(folder, name, &content, error);
    }
    text_free(&content);
    return status;
}

/* ---- training */

static void show(void *context, const scores_progress *state)
{
    const bool *terminal = context;
    fprintf(stderr, "%straining scorers: %3.0f %%, %u of %u done, NDCG@10 %.3f%s",
            *terminal ? "\r" : "oltr: ", 100 * state->share, state->done, state->models,
            state->ndcg, *terminal ? "\033[K" : "\n");
}

static int should_stop(void *context)
{
    (void)context;
    return stop_asked();
}

static oltr_status train(const oltr_data_plan *plan, const struct splits *s, const double *of_grade,
                         uint64_t seed, const struct prepare_options *options, scores *out,
                         oltr_error *error)
{
    bool terminal = isatty(STDERR_FILENO) == 1;
    scores_options how = {.models = plan->rankers,
                          .threads = options->threads,
                          .scorer = scorer_defaults(),
                          .progress = options->quiet ? NULL : show,
                          .stop = should_stop,
                          .every = terminal ? 0.25 : 10,
                          .context = &terminal};
    how.scorer.seed = seed;
    how.scorer.attraction = of_grade;
    oltr_status status = scores_train(s->train, s->vali, s->test, &how, out, error);
    if (!options->quiet && terminal)
        fputs("\r\033[K", stderr);
    return status;
}

/* ---- the whole */

oltr_status belief_get(const oltr_data_plan *plan, const struct splits *splits,
                       const double *of_grade, uint64_t seed, const struct prepare_options *options,
                       uint32_t number, scores *out, oltr_error *error)
{
    *out = (scores){0};
    if (plan->scores)
        return scores_read_csv(plan->scores, splits->test, out, error);
    if (plan->rankers == 0)
        return OLTR_OK;
    uint64_t cause = cause_of(plan, splits, of_grade, seed);
    for (uint32_t i = 1; i <= number; i++) /* an earlier point of a sweep may have had the same */
        if (take_kept(options->folder, i, cause, splits->test, options->quiet, out) ||
            take_kept(options->other, i, cause, splits->test, options->quiet, out))
            return OLTR_OK;
    oltr_status status = train(plan, splits, of_grade, seed, options, out, error);
    if (status == OLTR_OK && options->keep)
        status = keep(options->folder, number, cause, splits->test, out, error);
    if (status != OLTR_OK) {
        scores_free(out);
        *out = (scores){0};
    }
    return status;
}
