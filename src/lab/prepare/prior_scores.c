/* prior_scores.c - reads, finds or trains the scores behind a prior; see prior_scores.h.
 *
 * Scores of trained scorers are kept as scores.csv in a folder, that of the results of a run: for
 * --resume, for the other shards, and for people.  scores.key beside it holds two checksums: of
 * everything that determines the scores (data, seed, number of scorers, grades, version), and of
 * the scores themselves.  Scores are used again only if both agree.  So a file that was changed by
 * hand, or was left by a process that was killed between the two writes, is not used.  The numbers
 * that `scores_as` other than calibrated starts from, the outputs of the networks, have a cause of
 * their own. */
#include "lab/prepare/prior_scores.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

enum { KEY_SIZE = 64, NAME_SIZE = 32 };
#define LEAST_EVERY 0.02 /* seconds between two reports, as of oltr_run() */

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

/* The checksum of everything that determines the scores, of either kind. */
static uint64_t cause_of(const struct score_source *source, bool raw)
{
    unsigned char bytes[GRADES * 8 + 512];
    writer w = {bytes, sizeof bytes, 0};
    put_bytes(&w, oltr_version(), strlen(oltr_version()));
    put_u32(&w, source->plan->rankers);
    put_u64(&w, source->seed);
    put_f64s(&w, source->of_grade, GRADES);
    put_split(&w, source->splits->train);
    put_split(&w, source->splits->vali);
    put_split(&w, source->splits->test);
    if (raw)
        put_u32(&w, raw);
    return crc64(bytes, w.used);
}

uint64_t scores_digest(const scores *s)
{
    return crc64(s->score, (size_t)s->n_rows * s->n_models * sizeof *s->score);
}

/* The content of scores.key: one line. */
static void key_of(uint64_t cause, const scores *s, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, "oltr scores %016" PRIx64 " %016" PRIx64 "\n", cause, scores_digest(s));
}

enum { CAUSE_LENGTH = 12 + 16 + 1 }; /* "oltr scores ", digits, and the space behind them */

/* ---- kept scores */

/* FOLDER/scores.csv, FOLDER/scores-2.csv, in new memory, or NULL. */
static char *path_of(const char *folder, uint32_t number, const char *ending)
{
    char name[NAME_SIZE];
    if (number == 1)
        snprintf(name, sizeof name, "scores.%s", ending);
    else
        snprintf(name, sizeof name, "scores-%" PRIu32 ".%s", number, ending);
    return file_join(folder, name);
}

/* Are the first `length` bytes of the kept key those of `key`? */
static bool has_key(const char *folder, uint32_t number, const char *key, size_t length)
{
    unsigned char *found;
    size_t size;
    char *path = path_of(folder, number, "key");
    bool same = false;
    if (path && bytes_read(path, KEY_SIZE, &found, &size, NULL) == OLTR_OK) {
        same = size == strlen(key) && memcmp(found, key, length) == 0;
        free(found);
    }
    free(path);
    return same;
}

/* "before PATH after" to the caller's function, if there is one and memory for the text. */
static void say(const oltr_data_options *options, const char *before, const char *path,
                const char *after)
{
    struct text sentence = {0};
    if (!options->say)
        return;
    text_printf(&sentence, "%s%s%s", before, path, after);
    if (!sentence.failed)
        options->say(options->context, sentence.bytes);
    text_free(&sentence);
}

/* Has the folder scores with this cause?  Then they are read. */
static bool take_kept(const struct score_source *source, const char *folder, uint32_t number,
                      uint64_t cause, scores *out)
{
    char key[KEY_SIZE];
    key_of(cause, &(scores){0}, key);
    if (!has_key(folder, number, key, CAUSE_LENGTH))
        return false;
    char *path = path_of(folder, number, "csv");
    bool taken =
        path && scores_read_csv(path, source->splits->test, source->as, out, NULL) == OLTR_OK;
    if (taken) {
        key_of(cause, out, key);
        taken = has_key(folder, number, key, strlen(key));
    }
    if (!taken)
        scores_free(out);
    if (path && taken)
        say(source->options, "the scores in ", path,
            " are of the same data and seed, and are used");
    else if (path)
        say(source->options, "", path, " cannot be used again, so scorers are trained anew");
    free(path);
    return taken;
}

/* In any of the folders, under this number. */
static bool find_kept(const struct score_source *source, uint32_t number, uint64_t cause,
                      scores *out)
{
    const oltr_data_options *o = source->options;
    bool found = o->keep_in && take_kept(source, o->keep_in, number, cause, out);
    for (uint32_t i = 0; !found && i < o->n_look_in; i++)
        found = take_kept(source, o->look_in[i], number, cause, out);
    return found;
}

/* Whether the scores can be written; checked before the training, which takes minutes. */
static oltr_status check_folder(const struct score_source *source, oltr_error *error)
{
    const char *folder = source->options->keep_in;
    temp_file probe;
    if (!folder)
        return OLTR_OK;
    char *path = path_of(folder, source->number, "csv");
    bool good = path && temp_file_open(&probe, path, 0666);
    oltr_status status =
        good    ? OLTR_OK
        : !path ? set_error(error, OLTR_ENOMEM, "out of memory")
                : set_error(error, OLTR_EIO, "scores cannot be kept in the folder %.150s: %s",
                            folder, strerror(errno));
    if (good)
        temp_file_drop(&probe);
    free(path);
    return status;
}

static oltr_status keep(const struct score_source *source, uint64_t cause, const scores *s,
                        oltr_error *error)
{
    const char *folder = source->options->keep_in;
    char text[KEY_SIZE], *csv = path_of(folder, source->number, "csv"),
                         *key = path_of(folder, source->number, "key");
    oltr_status status = csv && key ? scores_write_csv(s, source->splits->test, csv, error)
                                    : set_error(error, OLTR_ENOMEM, "out of memory");
    key_of(cause, s, text);
    if (status == OLTR_OK)
        status = bytes_write(key, (const unsigned char *)text, strlen(text), error);
    free(csv);
    free(key);
    return status;
}

/* ---- training */

static void report(void *context, const scores_progress *state)
{
    const oltr_data_options *o = context;
    oltr_training training = {.scorers = state->models,
                              .done = state->done,
                              .epochs = state->epochs,
                              .share = state->share,
                              .ndcg = state->ndcg,
                              .seconds = state->seconds};
    o->training(o->context, &training);
}

static int should_stop(void *context)
{
    const oltr_data_options *o = context;
    return o->stop && o->stop(o->context);
}

void trained_scores_free(struct trained_scores *trained)
{
    scores_free(&trained->calibrated);
    scores_free(&trained->raw);
    trained->cause = 0;
}

static oltr_status train(const struct score_source *source, oltr_error *error)
{
    const struct splits *s = source->splits;
    oltr_data_options o = *source->options;
    struct trained_scores *trained = source->trained;
    trained_scores_free(trained);
    scores_options how = {.models = source->plan->rankers,
                          .threads = o.threads,
                          .scorer = scorer_defaults(),
                          .progress = o.training ? report : NULL,
                          .stop = should_stop,
                          .every = o.every > LEAST_EVERY ? o.every : LEAST_EVERY,
                          .context = &o,
                          .raw = &trained->raw};
    how.scorer.seed = source->seed;
    how.scorer.attraction = source->of_grade;
    oltr_status status =
        scores_train(s->train, s->vali, s->test, &how, &trained->calibrated, error);
    if (status == OLTR_OK)
        trained->cause = cause_of(source, false);
    return status;
}

/* The scores of the scorers of this source, trained now or for the point before. */
static oltr_status get_trained(const struct score_source *source, scores *out, oltr_error *error)
{
    bool known = source->trained->cause == cause_of(source, false);
    oltr_status status = known ? OLTR_OK : train(source, error);
    const scores *from =
        source->as == SCORES_CALIBRATED ? &source->trained->calibrated : &source->trained->raw;
    if (status == OLTR_OK)
        status = scores_new(from->n_rows, from->n_models, out, error);
    if (status == OLTR_OK)
        memcpy(out->score, from->score,
               (size_t)from->n_rows * from->n_models * sizeof *from->score);
    return status;
}

/* ---- the whole */

oltr_status prior_scores_get(const struct score_source *source, scores *out, oltr_error *error)
{
    *out = (scores){0};
    if (source->plan->scores)
        return scores_read_csv(source->plan->scores, source->splits->test, source->as, out, error);
    if (source->plan->rankers == 0)
        return OLTR_OK;
    uint64_t cause = cause_of(source, source->as != SCORES_CALIBRATED);
    for (uint32_t i = 1; i <= source->number; i++) /* another point of a sweep may have the same */
        if (find_kept(source, i, cause, out))
            return OLTR_OK;
    oltr_status status = check_folder(source, error);
    if (status == OLTR_OK)
        status = get_trained(source, out, error);
    if (status == OLTR_OK && source->options->keep_in)
        status = keep(source, cause, out, error);
    if (status != OLTR_OK)
        scores_free(out);
    return status;
}
