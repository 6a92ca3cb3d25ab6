/* prepare.c - what the program adds to the data of an experiment, which the library loads: notes,
 * marks on figures, the entry of the manifest, and whether the data are still the same; see
 * prepare.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/prepare.h"

#include "app/args/complain.h"
#include "app/run/blas_variable.h"
#include "app/run/stop.h"
#include "app/run/team.h"
#include "engine/base/error.h"
#include "engine/base/quote.h"
#include "lab/prepare/data_sets.h"
#include "lab/scorer/scores_as.h"
#include "report/io/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOTE_SIZE = 320, DIGEST_SIZE = 17 };

struct prepared {
    const struct data_sets *sets; /* of the plan; NULL: no dataset */
    char note[NOTE_SIZE];
};

/* ---- notes about the data */

static void write_fitted_note(struct prepared *all)
{
    const struct fitted_models *m = &all->sets->fitted[0];
    char folder[QUOTE_SIZE];
    snprintf(all->note, sizeof all->note, "click models of %s: %u quer%s, %u document%s",
             quote_input(m->plan->folder, folder), m->queries.n_queries,
             plural_ies(m->queries.n_queries), m->queries.n_rows, plural_s(m->queries.n_rows));
}

static void write_note(struct prepared *all)
{
    const struct data_set *m = &all->sets->set[0];
    if (all->sets->n_sets == 0) {
        write_fitted_note(all);
        return;
    }
    char folder[QUOTE_SIZE];
    bool istella = m->plan->shape && strcmp(m->plan->shape, "istella") == 0;
    if (m->plan->folder)
        snprintf(all->note, sizeof all->note, "data of %s: %u of %u test quer%s, %u feature%s",
                 quote_input(m->plan->folder, folder), m->played->n_queries, m->test_queries,
                 plural_ies(m->test_queries), m->played->dim, plural_s(m->played->dim));
    else
        snprintf(all->note, sizeof all->note,
                 "GENERATED data in the shape of %s (%u quer%s, %u feature%s), not the real set: "
                 "--data DIR plays that",
                 istella ? "Istella" : "Web30K", m->played->n_queries,
                 plural_ies(m->played->n_queries), m->played->dim, plural_s(m->played->dim));
}

/* The tests of a claim, each reading marked; NULL without memory. */
static struct claim_test *mark_tests(struct pool *pool, const struct claim *claim)
{
    struct claim_test *tests = pool_get(pool, claim->n_tests, sizeof *tests);
    for (uint32_t i = 0; tests && i < claim->n_tests; i++) {
        tests[i] = claim->test[i];
        tests[i].of = pool_printf(pool, "%s (generated data)", tests[i].of);
        if (!tests[i].of)
            return NULL;
    }
    return tests;
}

/* A figure, or the verdict on a claim, may be read without the page around it: both say that the
 * data are generated, which decide nothing about the real set.  The words of a claim stay those of
 * the paper. */
static oltr_status mark_generated(struct config *config, oltr_error *error)
{
    struct pool *pool = &config->pool;
    struct figure *figures = pool_get(pool, config->n_figures, sizeof *figures);
    struct claim *claims = pool_get(pool, config->n_claims, sizeof *claims);
    bool good = figures && claims;
    for (uint32_t i = 0; good && i < config->n_figures; i++) {
        figures[i] = config->figures[i];
        figures[i].title = pool_printf(pool, "%s (generated data)", figures[i].title);
        good = figures[i].title;
    }
    for (uint32_t i = 0; good && i < config->n_claims; i++) {
        claims[i] = config->claims[i];
        claims[i].test = mark_tests(pool, &config->claims[i]);
        good = claims[i].test;
    }
    if (!good)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    config->figures = figures;
    config->claims = claims;
    return OLTR_OK;
}

static bool any_generated(const struct data_sets *all)
{
    bool generated = false;
    for (uint32_t i = 0; i < all->n_sets; i++)
        generated = generated || !all->set[i].plan->folder;
    return generated;
}

/* ---- loading */

/* What the library says while it loads, for the terminal. */
struct view {
    bool terminal;
    bool on_line; /* the cursor is behind a line of progress */
};

static void clear_line(struct view *view)
{
    if (view->on_line)
        fputs("\r\033[K", stderr);
    view->on_line = false;
}

static void show_training(void *context, const oltr_training *state)
{
    struct view *view = context;
    fprintf(stderr, "%straining scorers: %3.0f %%, %u of %u done, NDCG@10 %.3f%s",
            view->terminal ? "\r" : "oltr: ", 100 * state->share, state->done, state->scorers,
            state->ndcg, view->terminal ? "\033[K" : "\n");
    view->on_line = view->terminal;
}

static void show_sentence(void *context, const char *sentence)
{
    clear_line(context);
    complain(0, "%s", sentence);
}

/* In a team the leader writes the scores; the others only look for what it wrote. */
static oltr_status load(const struct job *job, const char *other, oltr_error *error)
{
    struct view view = {.terminal = isatty(STDERR_FILENO) == 1};
    bool leads = team_leads(), quiet = job->quiet || !leads;
    const char *folders[2] = {leads ? other : job->folder, other};
    struct blas_variable variable;
    oltr_data_options options = {.threads = job->threads,
                                 .keep_in = leads ? job->folder : NULL,
                                 .look_in = folders,
                                 .n_look_in = (other ? 1U : 0U) + (leads ? 0U : 1U),
                                 .training = quiet ? NULL : show_training,
                                 .every = view.terminal ? 0.25 : 10,
                                 .say = quiet ? NULL : show_sentence,
                                 .stop = should_stop,
                                 .context = &view,
                                 .size = sizeof options};
    oltr_status status = blas_variable_set(&variable, error);
    if (status == OLTR_OK) {
        status = oltr_plan_load_data(job->config.plan, &options, error);
        blas_variable_restore(&variable);
    }
    clear_line(&view);
    return status;
}

oltr_status prepare_data(struct job *job, const char *other, oltr_error *error)
{
    struct prepared *all = job->data = calloc(1, sizeof *all);
    if (!all)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    oltr_status status = load(job, other, error);
    all->sets = status == OLTR_OK ? plan_loaded(job->config.plan) : NULL;
    if (!all->sets)
        return status;
    write_note(all);
    return any_generated(all->sets) ? mark_generated(&job->config, error) : OLTR_OK;
}

void prepared_free(struct prepared *all)
{
    free(all);
}

/* ---- the manifest */

const char *prepared_note(const struct prepared *all)
{
    return all && all->sets ? all->note : NULL;
}

/* In hexadecimal; NULL for 0, where nothing was read. */
static const char *digits_of(uint64_t digest, char digits[DIGEST_SIZE])
{
    snprintf(digits, DIGEST_SIZE, "%016" PRIx64, digest);
    return digest != 0 ? digits : NULL;
}

static json_t *set_json(const struct data_set *m)
{
    char digest[DIGEST_SIZE], scores_digest[DIGEST_SIZE];
    return json_pack("{s:b, s:s?, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:s, "
                     "s:s?, s:s?, s:s, s:I}",
                     "generated", !m->plan->folder, "folder", m->plan->folder, "shape",
                     !m->plan->folder ? m->plan->shape : NULL, "digest",
                     digits_of(m->digest, digest), "test_queries", (json_int_t)m->test_queries,
                     "queries_with_enough_documents", (json_int_t)m->enough, "queries",
                     (json_int_t)m->played->n_queries, "queries_without_a_better_list",
                     (json_int_t)m->alike, "documents", (json_int_t)m->played->n_rows, "features",
                     (json_int_t)m->raw_dim, "features_kept", (json_int_t)m->played->dim, "grades",
                     m->plan->grades, "largest_grade", (json_int_t)m->largest_grade, "normalise",
                     m->plan->normalise, "scores", m->plan->scores, "scores_digest",
                     digits_of(m->scores_digest, scores_digest), "scores_as", m->plan->scores_as,
                     "models", (json_int_t)m->n_models);
}

static json_t *fitted_json(const struct fitted_models *m)
{
    char digest[DIGEST_SIZE];
    return json_pack("{s:s, s:s?, s:s, s:s?, s:I, s:I}", "data", m->plan->folder, "file",
                     m->plan->file, "model", m->plan->model, "digest", digits_of(m->digest, digest),
                     "queries", (json_int_t)m->queries.n_queries, "documents",
                     (json_int_t)m->queries.n_rows);
}

json_t *prepared_json(const struct prepared *all)
{
    if (!prepared_note(all))
        return NULL;
    json_t *sets = json_array();
    for (uint32_t i = 0; i < all->sets->n_sets; i++)
        sets = json_with(sets, set_json(&all->sets->set[i]));
    json_t *models = json_array();
    for (uint32_t i = 0; i < all->sets->n_fitted; i++)
        models = json_with(models, fitted_json(&all->sets->fitted[i]));
    return json_pack("{s:s, s:o, s:o}", "note", all->note, "sets", sets, "click_models", models);
}

/* ---- is it still the same? */

static bool has_digest(const json_t *set, const char *key, uint64_t digest)
{
    char digits[DIGEST_SIZE];
    const char *kept = json_string_value(json_object_get(set, key));
    return !digits_of(digest, digits) ? !kept : kept && strcmp(kept, digits) == 0;
}

/* Reads what this data set is made of, and compares it with what the manifest has. */
static bool is_same_content(const struct data_set *m, uint32_t threads, const json_t *set)
{
    struct splits splits;
    scores prior = {0};
    scores_as as = SCORES_CALIBRATED;
    oltr_error why;
    if (!m->plan->folder && !m->plan->scores)
        return json_is_object(set);
    oltr_read_options options = {.threads = threads, .check_text = 1, .stop = should_stop};
    bool same = splits_get(m->plan, m->seed, &options, &splits, &why) == OLTR_OK &&
                has_digest(set, "digest", splits.digest);
    if (same && m->plan->scores)
        same = scores_as_by_name(m->plan->scores_as, &as, &why) == OLTR_OK &&
               scores_read_csv(m->plan->scores, splits.test, as, &prior, &why) == OLTR_OK &&
               has_digest(set, "scores_digest", scores_digest(&prior));
    scores_free(&prior);
    splits_free(&splits);
    return same;
}

static bool is_same_file(const struct fitted_models *m, const json_t *model)
{
    uint64_t digest;
    return fitted_models_digest(m->plan, &digest) && has_digest(model, "digest", digest);
}

bool prepared_before(const struct config *config, uint32_t threads, const json_t *data)
{
    const json_t *sets = json_object_get(data, "sets"),
                 *models = json_object_get(data, "click_models");
    const oltr_plan *plan = config->plan;
    struct data_sets all;
    bool same = data_sets_make(&all, plan);
    for (uint32_t i = 0; same && i < plan->n_points; i++) {
        bool is_new = false;
        const struct data_set *m =
            plan_needs_data(plan, i) ? data_set_of(plan, i, &all, &is_new) : NULL;
        same = !is_new || is_same_content(m, threads, json_array_get(sets, all.n_sets - 1));
        const struct fitted_models *f =
            plan_needs_users(plan, i) ? fitted_models_of(plan, i, &all, &is_new) : NULL;
        if (f && is_new)
            same = same && is_same_file(f, json_array_get(models, all.n_fitted - 1));
    }
    same = same && json_array_size(sets) == all.n_sets && json_array_size(models) == all.n_fitted;
    data_sets_clear(&all);
    return same;
}
