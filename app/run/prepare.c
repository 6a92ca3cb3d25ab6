/* prepare.c - from the plan of an experiment to complete worlds; see prepare.h. */
#include "app/run/prepare.h"

#include "app/run/prior_scores.h"
#include "app/run/splits.h"
#include "app/run/stop.h"
#include "engine/base/bytes.h"
#include "engine/base/quote.h"
#include "lab/data/dataset.h"
#include "lab/data/normaliser.h"
#include "report/io/json_text.h"
#include "scorer/scores_as.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 320, DIGEST_SIZE = 17 };

/* The data of one or more points. */
struct data_set {
    const oltr_data_plan *plan;
    uint64_t seed;
    uint32_t slots;
    oltr_dataset *played;                   /* the chosen queries, with the features of policies */
    double *attraction, *a, *b, *mean, *sd; /* (rows) in one block */
    uint32_t n_models;                      /* scores behind the prior; 0: no prior */
    uint32_t raw_dim, test_queries, enough, largest_grade;
    uint32_t alike;                 /* queries whose documents all have the same grade */
    uint64_t digest, scores_digest; /* of the texts and scores that were read; 0: none were */
};

struct prepared {
    uint32_t n_sets;
    struct data_set *set; /* (n_sets) */
    struct trained_scores trained;
    char note[NOTE_SIZE];
};

/* ---- grades */

static oltr_status attractions_of(const oltr_data_plan *plan, const struct splits *splits,
                                  double of_grade[GRADES], uint32_t *largest, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    *largest = plan->largest_grade > 0 ? plan->largest_grade : splits->largest_grade;
    if (*largest == 0)
        return set_error(error, OLTR_EVALUE,
                         "every document of the data has the grade 0: none is relevant");
    for (uint32_t g = 0; g < GRADES; g++)
        of_grade[g] = 0;
    for (uint32_t g = 0; status == OLTR_OK && g <= splits->largest_grade; g++)
        status = oltr_attraction_of_grade(plan->grades, g, *largest, &of_grade[g], error);
    return status;
}

/* ---- queries */

static uint32_t documents(const oltr_dataset *data, uint32_t query)
{
    return data->first_row[query + 1] - data->first_row[query];
}

/* The queries that are played, ascending, in new memory: those with a document for every slot, or
 * a random part of these. */
static uint32_t *choose_queries(struct data_set *m, const oltr_dataset *test, uint32_t *count,
                                oltr_error *error)
{
    uint32_t *fit = calloc((size_t)test->n_queries + 1, sizeof *fit), *place = NULL;
    m->enough = 0;
    for (uint32_t q = 0; fit && q < test->n_queries; q++)
        if (documents(test, q) >= m->slots)
            fit[m->enough++] = q;
    *count = m->plan->queries > 0 && m->plan->queries < m->enough ? m->plan->queries : m->enough;
    if (fit && m->enough == 0)
        set_error(error, OLTR_ESLOTS,
                  "none of the %u test queries has %u documents, one for each slot; lower `slots`",
                  test->n_queries, m->slots);
    else if (!fit || !(place = calloc(*count, sizeof *place)))
        set_error(error, OLTR_ENOMEM, "out of memory");
    if (place)
        choose(m->seed, CHOOSE_QUERIES, m->enough, *count, place);
    for (uint32_t i = 0; place && i < *count; i++)
        place[i] = fit[place[i]];
    free(fit);
    return place;
}

/* ---- one data set */

static oltr_status make_arrays(struct data_set *m, uint32_t n_rows, oltr_error *error)
{
    size_t n = (size_t)n_rows + 1;
    m->attraction = calloc(5 * n, sizeof(double));
    if (!m->attraction)
        return set_error(error, OLTR_ENOMEM,
                         "no memory for the attraction and the prior of %u documents", n_rows);
    m->a = m->attraction + n;
    m->b = m->a + n;
    m->mean = m->b + n;
    m->sd = m->mean + n;
    return OLTR_OK;
}

/* Attraction by grade; the prior from the scores of the test split, row by row. */
static void fill_arrays(struct data_set *m, const oltr_dataset *test, const uint32_t *query,
                        const double *of_grade, const scores *prior)
{
    for (uint32_t i = 0; i < m->played->n_queries; i++) {
        uint32_t from = test->first_row[query[i]], to = m->played->first_row[i],
                 n = documents(test, query[i]);
        bool alike = true;
        for (uint32_t j = 0; j < n; j++) {
            m->attraction[to + j] = of_grade[test->grade[from + j]];
            alike = alike && test->grade[from + j] == test->grade[from];
        }
        m->alike += alike;
        if (prior->n_models > 0) {
            scores own = {n, prior->n_models, prior->score + (size_t)from * prior->n_models};
            scores_prior(&own, m->a + to, m->b + to, m->mean + to, m->sd + to);
        }
    }
}

static oltr_status fill_set(struct data_set *m, const struct splits *splits, const double *of_grade,
                            const scores *prior, oltr_error *error)
{
    uint32_t count = 0;
    uint32_t *query = choose_queries(m, splits->test, &count, error);
    if (!query)
        return error->code;
    oltr_dataset *raw = dataset_pick(splits->test, query, count, error);
    normaliser_kind kind = NORMALISE_STANDARD;
    bool known = raw && normaliser_kind_by_name(m->plan->normalise, &kind, error) == OLTR_OK;
    normaliser *scale = known ? normaliser_fit(splits->train, kind, error) : NULL;
    m->played = scale ? normaliser_apply(scale, raw, error) : NULL;
    oltr_status status = m->played ? make_arrays(m, m->played->n_rows, error) : error->code;
    if (status == OLTR_OK) {
        m->raw_dim = raw->dim;
        m->test_queries = splits->test->n_queries;
        m->n_models = prior->n_models;
        fill_arrays(m, splits->test, query, of_grade, prior);
    }
    normaliser_free(scale);
    oltr_dataset_free(raw);
    free(query);
    return status;
}

static uint64_t digest_of_scores(const scores *s)
{
    return crc64(s->score, (size_t)s->n_rows * s->n_models * sizeof *s->score);
}

static oltr_status make_set(struct data_set *m, const struct job *job, const char *other,
                            oltr_error *error)
{
    double of_grade[GRADES];
    struct splits splits;
    scores prior = {0};
    scores_as as = SCORES_CALIBRATED;
    oltr_read_options options = {.threads = job->threads, .stop = should_stop};
    oltr_status status = splits_get(m->plan, m->seed, &options, &splits, error);
    if (status == OLTR_OK) {
        m->digest = splits.digest;
        status = attractions_of(m->plan, &splits, of_grade, &m->largest_grade, error);
    }
    if (status == OLTR_OK)
        status = scores_as_by_name(m->plan->scores_as, &as, error);
    struct score_source source = {.plan = m->plan,
                                  .splits = &splits,
                                  .of_grade = of_grade,
                                  .seed = m->seed,
                                  .job = job,
                                  .other = other,
                                  .number = job->data->n_sets,
                                  .as = as,
                                  .trained = &job->data->trained};
    if (status == OLTR_OK)
        status = prior_scores_get(&source, &prior, error);
    if (status == OLTR_OK && m->plan->scores)
        m->scores_digest = digest_of_scores(&prior);
    if (status == OLTR_OK) {
        scores_convert(&prior, splits.test, as);
        status = fill_set(m, &splits, of_grade, &prior, error);
    }
    scores_free(&prior);
    splits_free(&splits);
    return status;
}

/* ---- points */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_plan(const oltr_data_plan *a, const oltr_data_plan *b)
{
    return same_text(a->folder, b->folder) && same_text(a->shape, b->shape) &&
           memcmp(a->generated, b->generated, sizeof a->generated) == 0 &&
           a->queries == b->queries && same_text(a->grades, b->grades) &&
           a->largest_grade == b->largest_grade && same_text(a->normalise, b->normalise) &&
           same_text(a->scores, b->scores) && a->rankers == b->rankers &&
           same_text(a->scores_as, b->scores_as);
}

/* The data set of a point: one that is there already, or a new, empty one. */
static struct data_set *set_for(const oltr_plan *plan, uint32_t point, struct prepared *all,
                                bool *is_new)
{
    const oltr_experiment *e = &plan->points[point];
    *is_new = false;
    for (uint32_t i = 0; i < all->n_sets; i++) {
        struct data_set *m = &all->set[i];
        if (m->seed == e->seed && m->slots == e->slots && same_plan(m->plan, &plan->data[point]))
            return m;
    }
    struct data_set *m = &all->set[all->n_sets++];
    *m = (struct data_set){.plan = &plan->data[point], .seed = e->seed, .slots = e->slots};
    *is_new = true;
    return m;
}

static oltr_status complete(oltr_plan *plan, uint32_t point, const struct data_set *m,
                            oltr_error *error)
{
    oltr_plan_data_given given = {.dataset = m->played, .attraction = m->attraction};
    if (m->n_models > 0) {
        given.prior_a = m->a;
        given.prior_b = m->b;
        given.prior_mean = m->mean;
        given.prior_sd = m->sd;
    }
    return oltr_plan_give_data(plan, point, &given, error);
}

static oltr_status complete_points(struct job *job, const char *other, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    oltr_plan *plan = job->config.plan;
    for (uint32_t i = 0; status == OLTR_OK && i < plan->n_points; i++) {
        if (!plan_needs_data(plan, i))
            continue;
        bool is_new;
        struct data_set *m = set_for(plan, i, job->data, &is_new);
        status = is_new ? make_set(m, job, other, error) : OLTR_OK;
        if (status == OLTR_OK)
            status = complete(plan, i, m, error);
    }
    return status;
}

/* ---- notes about the data */

static void write_note(struct prepared *all)
{
    const struct data_set *m = &all->set[0];
    char folder[QUOTE_SIZE];
    bool istella = m->plan->shape && strcmp(m->plan->shape, "istella") == 0;
    if (m->plan->folder)
        snprintf(all->note, sizeof all->note, "data of %s: %u of %u test queries, %u features",
                 quote_input(m->plan->folder, folder), m->played->n_queries, m->test_queries,
                 m->played->dim);
    else
        snprintf(all->note, sizeof all->note,
                 "GENERATED data in the shape of %s (%u queries, %u features), not the real set: "
                 "--data DIR plays that",
                 istella ? "Istella" : "Web30K", m->played->n_queries, m->played->dim);
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

static bool any_generated(const struct prepared *all)
{
    bool generated = false;
    for (uint32_t i = 0; i < all->n_sets; i++)
        generated = generated || !all->set[i].plan->folder;
    return generated;
}

oltr_status prepare_data(struct job *job, const char *other, oltr_error *error)
{
    struct prepared *all = job->data = calloc(1, sizeof *all);
    if (all)
        all->set = calloc((size_t)job->config.plan->n_points + 1, sizeof *all->set);
    if (!all || !all->set)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    oltr_status status = complete_points(job, other, error);
    if (status == OLTR_OK && all->n_sets > 0)
        write_note(all);
    return status == OLTR_OK && any_generated(all) ? mark_generated(&job->config, error) : status;
}

void prepared_free(struct prepared *all)
{
    if (!all)
        return;
    for (uint32_t i = 0; all->set && i < all->n_sets; i++) {
        oltr_dataset_free(all->set[i].played);
        free(all->set[i].attraction);
    }
    trained_scores_free(&all->trained);
    free(all->set);
    free(all);
}

const char *prepared_note(const struct prepared *all)
{
    return all && all->n_sets > 0 ? all->note : NULL;
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

json_t *prepared_json(const struct prepared *all)
{
    if (!prepared_note(all))
        return NULL;
    json_t *sets = json_array();
    for (uint32_t i = 0; i < all->n_sets; i++)
        sets = json_with(sets, set_json(&all->set[i]));
    return json_pack("{s:s, s:o}", "note", all->note, "sets", sets);
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
               has_digest(set, "scores_digest", digest_of_scores(&prior));
    scores_free(&prior);
    splits_free(&splits);
    return same;
}

bool prepared_before(const struct config *config, uint32_t threads, const json_t *data)
{
    const json_t *sets = json_object_get(data, "sets");
    const oltr_plan *plan = config->plan;
    struct prepared all = {.set = calloc((size_t)plan->n_points + 1, sizeof *all.set)};
    bool same = all.set;
    for (uint32_t i = 0; same && i < plan->n_points; i++) {
        bool is_new = false;
        const struct data_set *m =
            plan_needs_data(plan, i) ? set_for(plan, i, &all, &is_new) : NULL;
        same = !is_new || is_same_content(m, threads, json_array_get(sets, all.n_sets - 1));
    }
    same = same && json_array_size(sets) == all.n_sets;
    free(all.set);
    return same;
}
