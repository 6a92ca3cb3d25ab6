/* cmd_prior_train.c - `oltr prior train`: reads judged queries, trains scorers, writes scores.
 *
 * Mistakes in the request are reported before the training; files are written after it. */
#define _POSIX_C_SOURCE 200809L
#include "app/args/value.h"
#include "app/run/blas_variable.h"
#include "app/run/progress.h"
#include "lab/prepare/splits.h"
#include "app/run/stop.h"
#include "app/verbs/prior_family.h"
#include "app/verbs/offers.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "report/io/json_text.h"
#include "report/io/whole_file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct option prior_train_options[] = {
    {0, "train", "FILE", NULL, "the queries to learn from"},
    {0, "vali", "FILE", NULL, "the queries that decide when training ends"},
    {0, "test", "FILE", NULL, "the queries whose documents are scored"},
    {'o', "output", "FILE", NULL, "where the scores go, as CSV; `-` is standard output"},
    {0, "models", "N", NULL, "the number of scorers (default 10)"},
    {'s', "seed", "N", NULL, "the seed of all random numbers (default 1)"},
    {'j', "threads", "N", NULL,
     "the number of scorers trained in parallel (default, or 0: one for each processor)"},
    {0, "grades", "NAME", NULL,
     "the attraction of each grade: err (default), linear, perfect, navigational, informational "
     "or near-random; the scores are calibrated to it",
     .offer = offer_grades},
    {0, "largest-grade", "N", NULL,
     "the end of the scale of grades (default: the largest of the data)"},
    {0, "hidden", "N,N", NULL, "units of the one to three hidden layers (default 64,32)"},
    {0, "epochs", "N", NULL, "the largest number of passes over the queries (default 100)"},
    {0, "patience", "N", NULL,
     "training ends after this many passes without a better NDCG@10 (default 20)"},
    {0, "batch", "N", NULL, "queries of one step (default 4)"},
    {0, "rate", "X", NULL, "the step size of Adam (default 0.001)"},
    {0, "decay", "X", NULL, "weight decay (default 3, good for few queries; 0.01 for thousands)"},
    {0, "dropout", "X", NULL,
     "the probability that a hidden unit is left out of a step (default 0.25)"},
    {0, "raw", NULL, NULL,
     "write the outputs of the networks, without calibration: numbers without a unit, for "
     "`scores_as` minmax, sigmoid or raw"},
    {0, "lenient", NULL, NULL, "skip bad lines of the files, and count them"},
    {'q', "quiet", NULL, NULL, "no progress and no summary; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- the request */

struct request {
    const struct arguments *arguments;
    const char *output;
    bool quiet, terminal;
    struct splits data;
    struct prior_grades grades;
    scores_options options;
    double ndcg; /* of the last progress */
};

static int read_options(struct request *request)
{
    const struct arguments *given = request->arguments;
    scores_options *o = &request->options;
    scorer_options *r = &o->scorer;
    *r = scorer_defaults();
    o->models = 10;
    int code;
    if ((code = value_whole32(given, "models", 1, SCORES_MOST_MODELS, &o->models)) ||
        (code = value_whole(given, "seed", 0, UINT64_MAX, &r->seed)) ||
        (code = value_threads(given, &o->threads)) ||
        (code =
             value_list32(given, "hidden", 1, MOST_UNITS, MOST_HIDDEN, r->hidden, &r->n_hidden)) ||
        (code = value_whole32(given, "epochs", 1, 1000000, &r->epochs)) ||
        (code = value_whole32(given, "patience", 1, 1000000, &r->patience)) ||
        (code = value_whole32(given, "batch", 1, MOST_BATCH, &r->batch)) ||
        (code = value_real(given, "rate", LEAST_RATE, 1, &r->rate)) ||
        (code = value_real(given, "decay", 0, MOST_DECAY, &r->decay)) ||
        (code = value_real(given, "dropout", 0, MOST_DROPOUT, &r->dropout)))
        return code;
    return EXIT_OK;
}

/* Asked before the training: can the output be written? */
static int check_output(struct request *request)
{
    const char *path = request->output = arguments_value(request->arguments, "output");
    if (!path || *path == '\0')
        return complain(EXIT_USAGE, "prior train needs --output FILE for the scores");
    if (strcmp(path, "-") == 0)
        return EXIT_OK;
    oltr_error error = {OLTR_OK, ""};
    int code = value_output(request->arguments, "output");
    if (code != EXIT_OK)
        return code;
    return file_probe(path, &error) == OLTR_OK ? EXIT_OK : complain_failed(&error);
}

static int read_request(struct request *request)
{
    static const char *const file_options[] = {"train", "vali", "test"};
    oltr_dataset **data[] = {&request->data.train, &request->data.vali, &request->data.test};
    const struct arguments *arguments = request->arguments;
    oltr_error error = {OLTR_OK, ""};
    int code = read_options(request);
    for (int i = 0; code == EXIT_OK && i < 3; i++)
        if (!arguments_has(arguments, file_options[i]))
            code = complain(EXIT_USAGE, "prior train needs --%s FILE", file_options[i]);
    if (code == EXIT_OK)
        code = check_output(request);
    for (int i = 0; code == EXIT_OK && i < 3; i++)
        code = prior_read(arguments, file_options[i], data[i]);
    if (code == EXIT_OK && splits_align(&request->data, &error) != OLTR_OK)
        code = complain_failed(&error);
    request->options.scorer.attraction = request->grades.attraction;
    return code == EXIT_OK ? prior_grades(arguments, request->data.largest_grade, &request->grades)
                           : code;
}

/* ---- the manifest of the scores */

/* A seed above 2^63 is written as a string: JSON readers have no such integers. */
static json_t *whole(uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_string(digits);
}

static json_t *settings_of(const struct request *request)
{
    const scorer_options *r = &request->options.scorer;
    json_t *hidden = json_array();
    for (uint32_t l = 0; l < r->n_hidden; l++)
        hidden = json_with(hidden, json_integer(r->hidden[l]));
    return json_pack("{s:i, s:o, s:s, s:i, s:o, s:i, s:i, s:i, s:f, s:f, s:f, s:b, s:b}", "models",
                     (int)request->options.models, "seed", whole(r->seed), "grades",
                     request->grades.mapping, "largest_grade", (int)request->grades.largest,
                     "hidden", hidden, "epochs", (int)r->epochs, "patience", (int)r->patience,
                     "batch", (int)r->batch, "rate", r->rate, "decay", r->decay, "dropout",
                     r->dropout, "raw", arguments_has(request->arguments, "raw"), "lenient",
                     arguments_has(request->arguments, "lenient"));
}

static json_t *file_json(const struct request *request, const char *option, const oltr_dataset *d)
{
    const char *path = arguments_value(request->arguments, option);
    json_t *json = json_pack("{s:s, s:i, s:i, s:i}", "file", path, "queries", (int)d->n_queries,
                             "documents", (int)d->n_rows, "features", (int)d->dim);
    return json ? json : json_null(); /* a path that is not UTF-8 */
}

/* SCORES.json beside the scores: data and settings. */
static int write_manifest(const struct request *request)
{
    oltr_error error = {OLTR_OK, ""};
    json_t *files =
        json_pack("{s:o, s:o, s:o}", "train", file_json(request, "train", request->data.train),
                  "vali", file_json(request, "vali", request->data.vali), "test",
                  file_json(request, "test", request->data.test));
    json_t *all = json_pack("{s:s, s:s, s:o, s:o, s:f}", "made_by", "oltr prior train", "version",
                            oltr_version(), "data", files, "settings", settings_of(request),
                            "validation_ndcg10", request->ndcg);
    char *dump = json_text(all, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    struct text path = {0}, content = {0};
    text_printf(&path, "%s.json", request->output);
    text_printf(&content, "%s\n", dump ? dump : "");
    oltr_status status = dump && !path.failed ? file_write(path.bytes, &content, &error)
                                              : set_error(&error, OLTR_ENOMEM, "out of memory");
    text_free(&path);
    text_free(&content);
    free(dump);
    json_decref(all);
    return status == OLTR_OK ? EXIT_OK : complain_failed(&error);
}

/* ---- training */

static void show_progress(void *context, const scores_progress *state)
{
    struct request *request = context;
    char left[40];
    request->ndcg = state->ndcg;
    if (request->quiet || (!request->terminal && state->done == state->models))
        return;
    progress_time(state->share > 0 ? state->seconds * (1 - state->share) / state->share : HUGE_VAL,
                  left, sizeof left);
    fprintf(stderr, "%s%3.0f%%  %u/%u scorers  ETA %s  %.3g epochs/s  NDCG@10 %.4f%s",
            request->terminal ? "\r" : "oltr: ", floor(100 * state->share), state->done,
            state->models, left, state->seconds > 0 ? (double)state->epochs / state->seconds : 0,
            state->ndcg, request->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

static int finish(const struct request *request, const scores *s)
{
    oltr_error error = {OLTR_OK, ""};
    const oltr_dataset *test = request->data.test;
    bool is_stdout = strcmp(request->output, "-") == 0;
    bool stream = is_stdout || is_special(request->output);
    oltr_status status = is_stdout ? scores_print_csv(s, test, stdout, "to standard output", &error)
                                   : scores_write_csv(s, test, request->output, &error);
    if (status != OLTR_OK)
        return complain_failed(&error);
    int code = stream ? EXIT_OK : write_manifest(request);
    if (code == EXIT_OK && !request->quiet && !stream)
        printf("%u scorer%s, mean NDCG@10 on the validation queries %.4f\n"
               "scores of %u document%s are in %s; measure how good they are with\n"
               "    oltr prior check --data %s --scores %s%s\n",
               s->n_models, plural_s(s->n_models), request->ndcg, s->n_rows, plural_s(s->n_rows),
               request->output, arguments_value(request->arguments, "test"), request->output,
               request->options.raw ? " --scores-as minmax" : "");
    return code;
}

static oltr_status train_scorers(const struct request *request, scores *out, oltr_error *error)
{
    struct blas_variable variable;
    const struct splits *data = &request->data;
    *out = (scores){0};
    oltr_status status = blas_variable_set(&variable, error);
    if (status != OLTR_OK)
        return status;
    status = scores_train(data->train, data->vali, data->test, &request->options, out, error);
    blas_variable_restore(&variable);
    return status;
}

static int train(struct request *request)
{
    oltr_error error = {OLTR_OK, ""};
    scores_options *o = &request->options;
    scores s, raw = {0};
    o->raw = arguments_has(request->arguments, "raw") ? &raw : NULL;
    o->progress = show_progress;
    o->every = request->terminal ? 0.25 : 10;
    o->stop = should_stop;
    o->context = request;
    stop_catch_signals();
    oltr_status status = train_scorers(request, &s, &error);
    if (request->terminal && !request->quiet)
        fputs("\r\033[K", stderr);
    if (status == OLTR_EINTERRUPTED)
        return complain(EXIT_STOPPED, "stopped; nothing was written");
    int code = status == OLTR_OK ? finish(request, o->raw ? &raw : &s) : complain_of(&error);
    scores_free(&s);
    scores_free(&raw);
    return code;
}

int cmd_prior_train(const struct arguments *arguments)
{
    struct request request = {.arguments = arguments,
                              .quiet = arguments_has(arguments, "quiet"),
                              .terminal = isatty(STDERR_FILENO) == 1};
    int code = read_request(&request);
    if (code == EXIT_OK)
        code = train(&request);
    splits_free(&request.data);
    return code;
}
