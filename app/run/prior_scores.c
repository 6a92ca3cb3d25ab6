/* prior_scores.c - reads, finds or trains the scores behind a prior; see prior_scores.h.
 *
 * Scores of trained scorers are kept as scores.csv in the folder of results, for --resume, for the
 * other shards of a run, and for people.  scores.key beside it holds two checksums: of everything
 * that determines the scores (data, seed, number of scorers, grades, version), and of the scores
 * themselves.  Scores are used again only if both agree.  So a file that was changed by hand, or
 * was left by a run that was killed between the two writes, is not used.  The numbers that
 * `scores_as` other than calibrated starts from, the outputs of the networks, have a cause of
 * their own. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/prior_scores.h"

#include "app/args/complain.h"
#include "app/run/stop.h"
#include "app/run/team.h"
#include "engine/base/bytes.h"
#include "report/io/whole_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_SIZE = 64, NAME_SIZE = 32 };

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

/* The content of scores.key: one line. */
static void key_of(uint64_t cause, const scores *s, char key[KEY_SIZE])
{
    uint64_t own = crc64(s->score, (size_t)s->n_rows * s->n_models * sizeof *s->score);
    snprintf(key, KEY_SIZE, "oltr scores %016" PRIx64 " %016" PRIx64 "\n", cause, own);
}

enum { CAUSE_LENGTH = 12 + 16 + 1 }; /* "oltr scores ", digits, and the space behind them */

/* ---- kept scores */

/* "scores.csv", "scores-2.csv" */
static const char *name_of(uint32_t number, const char *ending, char name[NAME_SIZE])
{
    if (number == 1)
        snprintf(name, NAME_SIZE, "scores.%s", ending);
    else
        snprintf(name, NAME_SIZE, "scores-%" PRIu32 ".%s", number, ending);
    return name;
}

/* Are the first `length` bytes of the kept key those of `key`? */
static bool has_key(const char *folder, uint32_t number, const char *key, size_t length)
{
    char name[NAME_SIZE];
    struct text found = {0};
    bool same = file_read_in(folder, name_of(number, "key", name), &found, NULL) == OLTR_OK &&
                found.length == strlen(key) && memcmp(found.bytes, key, length) == 0;
    text_free(&found);
    return same;
}

/* Has the folder scores with this cause?  Then they are read. */
static bool take_kept(const struct score_source *source, const char *folder, uint32_t number,
                      uint64_t cause, bool quiet, scores *out)
{
    const oltr_dataset *test = source->splits->test;
    oltr_error why = {OLTR_OK, ""};
    char name[NAME_SIZE], key[KEY_SIZE];
    key_of(cause, &(scores){0}, key);
    if (!folder || !has_key(folder, number, key, CAUSE_LENGTH))
        return false;
    char *path = file_join(folder, name_of(number, "csv", name));
    bool taken = path && scores_read_csv(path, test, source->as, out, &why) == OLTR_OK;
    if (taken) {
        key_of(cause, out, key);
        taken = has_key(folder, number, key, strlen(key));
    }
    if (!taken)
        scores_free(out);
    if (path && !quiet)
        complain(0,
                 taken ? "the scores in %s are of the same data and seed, and are used"
                       : "%s cannot be used again, so scorers are trained anew",
                 path);
    free(path);
    return taken;
}

static oltr_status keep(const struct score_source *source, uint64_t cause, const scores *s,
                        oltr_error *error)
{
    const char *folder = source->job->folder;
    char name[NAME_SIZE], key[KEY_SIZE];
    struct text content = {0};
    char *path = file_join(folder, name_of(source->number, "csv", name));
    oltr_status status = path ? scores_write_csv(s, source->splits->test, path, error)
                              : set_error(error, OLTR_ENOMEM, "out of memory");
    free(path);
    key_of(cause, s, key);
    text_add(&content, key);
    if (status == OLTR_OK)
        status = file_write_in(folder, name_of(source->number, "key", name), &content, error);
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

void trained_scores_free(struct trained_scores *trained)
{
    scores_free(&trained->calibrated);
    scores_free(&trained->raw);
    trained->cause = 0;
}

static oltr_status train(const struct score_source *source, bool quiet, oltr_error *error)
{
    const struct splits *s = source->splits;
    struct trained_scores *trained = source->trained;
    bool terminal = isatty(STDERR_FILENO) == 1;
    trained_scores_free(trained);
    scores_options how = {.models = source->plan->rankers,
                          .threads = source->job->threads,
                          .scorer = scorer_defaults(),
                          .progress = quiet ? NULL : show,
                          .stop = should_stop,
                          .every = terminal ? 0.25 : 10,
                          .context = &terminal,
                          .raw = &trained->raw};
    how.scorer.seed = source->seed;
    how.scorer.attraction = source->of_grade;
    oltr_status status =
        scores_train(s->train, s->vali, s->test, &how, &trained->calibrated, error);
    if (!quiet && terminal)
        fputs("\r\033[K", stderr);
    if (status == OLTR_OK)
        trained->cause = cause_of(source, false);
    return status;
}

/* The scores of the scorers of this source, trained now or for the point before. */
static oltr_status get_trained(const struct score_source *source, bool quiet, scores *out,
                               oltr_error *error)
{
    bool known = source->trained->cause == cause_of(source, false);
    oltr_status status = known ? OLTR_OK : train(source, quiet, error);
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

/* In a team the leader writes; the others only look for what it wrote. */
oltr_status prior_scores_get(const struct score_source *source, scores *out, oltr_error *error)
{
    bool quiet = source->job->quiet || !team_leads();
    *out = (scores){0};
    if (source->plan->scores)
        return scores_read_csv(source->plan->scores, source->splits->test, source->as, out, error);
    if (source->plan->rankers == 0)
        return OLTR_OK;
    uint64_t cause = cause_of(source, source->as != SCORES_CALIBRATED);
    for (uint32_t i = 1; i <= source->number; i++) /* another point of a sweep may have the same */
        if (take_kept(source, source->job->folder, i, cause, quiet, out) ||
            take_kept(source, source->other, i, cause, quiet, out))
            return OLTR_OK;
    oltr_status status = get_trained(source, quiet, out, error);
    if (status == OLTR_OK && team_leads())
        status = keep(source, cause, out, error);
    if (status != OLTR_OK) {
        scores_free(out);
        *out = (scores){0};
    }
    return status;
}
