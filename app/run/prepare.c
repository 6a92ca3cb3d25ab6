/* prepare.c - see prepare.h. */
#include "app/run/prepare.h"

#include "engine/base/bytes.h"
#include "app/run/prior_scores.h"
#include "lab/data/dataset.h"
#include "lab/data/normaliser.h"
#include "engine/base/quote.h"
#include "app/run/splits.h"
#include "app/run/stop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 320, DIGEST_SIZE = 17 };

/* What one or more points play. */
struct material {
    const oltr_data_plan *plan;
    uint64_t seed;
    uint32_t slots;
    oltr_dataset *played; /* the chosen queries, their features as policies get them */
    double *attraction;   /* (rows) */
    double *a, *b, *mean, *sd;
    bool tells;
    uint32_t raw_dim, test_queries, enough, largest_grade, models;
    uint32_t level; /* queries whose lists are all alike: every document attracts as much as the
                       others */
    uint64_t digest,
        scores_digest; /* of the texts and of the scores that were read, 0 where none were */
};

struct prepared {
    uint32_t n_materials;
    struct material *material; /* (n_materials) */
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
                         "every document of the data has the grade 0: there is nothing to find");
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
 * some of these. */
static uint32_t *choose_queries(const struct material *m, const oltr_dataset *test,
                                uint32_t *enough, uint32_t *count, oltr_error *error)
{
    uint32_t *fit = calloc((size_t)test->n_queries + 1, sizeof *fit), *place;
    *enough = 0;
    for (uint32_t q = 0; fit && q < test->n_queries; q++)
        if (documents(test, q) >= m->slots)
            fit[(*enough)++] = q;
    *count = m->plan->queries > 0 && m->plan->queries < *enough ? m->plan->queries : *enough;
    place = calloc((size_t)*count + 1, sizeof *place);
    if (!fit || !place || *enough == 0) {
        if (fit && place) {
            set_error(
                error, OLTR_ESLOTS,
                "none of the %u test queries has %u documents, one for each slot; lower `slots`",
                test->n_queries, m->slots);
        } else {
            set_error(error, OLTR_ENOMEM, "out of memory");
        }
        free(fit);
        free(place);
        return NULL;
    }
    choose(m->seed, CHOOSE_QUERIES, *enough, *count, place);
    for (uint32_t i = 0; i < *count; i++)
        place[i] = fit[place[i]];
    free(fit);
    return place;
}

/* ---- one material */

static oltr_status make_arrays(struct material *m, uint32_t n_rows, oltr_error *error)
{
    m->attraction = calloc((size_t)n_rows + 1, sizeof(double));
    m->a = calloc((size_t)n_rows + 1, sizeof(double));
    m->b = calloc((size_t)n_rows + 1, sizeof(double));
    m->mean = calloc((size_t)n_rows + 1, sizeof(double));
    m->sd = calloc((size_t)n_rows + 1, sizeof(double));
    return m->attraction && m->a && m->b && m->mean && m->sd
               ? OLTR_OK
               : set_error(error, OLTR_ENOMEM,
                           "no memory for the attraction and the prior of %u documents", n_rows);
}

/* Attraction by grade; the prior from the scores of the test split, row by row. */
static void fill_arrays(struct material *m, const oltr_dataset *test, const uint32_t *query,
                        const double *of_grade, const scores *belief)
{
    for (uint32_t i = 0; i < m->played->n_queries; i++) {
        uint32_t from = test->first_row[query[i]], to = m->played->first_row[i],
                 n = documents(test, query[i]);
        bool level = true;
        for (uint32_t j = 0; j < n; j++) {
            m->attraction[to + j] = of_grade[test->grade[from + j]];
            level = level && test->grade[from + j] == test->grade[from];
        }
        m->level += level;
        if (m->tells) {
            scores own = {n, belief->n_models, belief->score + (size_t)from * belief->n_models};
            scores_prior(&own, m->a + to, m->b + to, m->mean + to, m->sd + to);
        }
    }
}

static oltr_status fill_material(struct material *m, const struct splits *splits,
                                 const double *of_grade, const scores *belief, oltr_error *error)
{
    uint32_t count = 0;
    uint32_t *query = choose_queries(m, splits->test, &m->enough, &count, error);
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
        m->models = belief->n_models;
        m->tells = belief->n_models > 0;
        fill_arrays(m, splits->test, query, of_grade, belief);
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

static int should_stop(void *context)
{
    (void)context;
    return stop_asked();
}

static oltr_status make_material(struct material *m, const struct prepare_options *options,
                                 uint32_t number, oltr_error *error)
{
    double of_grade[GRADES];
    struct splits splits;
    scores belief = {0};
    oltr_status status = splits_get(
        m->plan, m->seed, &(oltr_read_options){.threads = options->threads, .stop = should_stop},
        &splits, error);
    if (status == OLTR_OK) {
        m->digest = splits.digest;
        status = attractions_of(m->plan, &splits, of_grade, &m->largest_grade, error);
    }
    if (status == OLTR_OK)
        status = belief_get(m->plan, &splits, of_grade, m->seed, options, number, &belief, error);
    if (status == OLTR_OK && m->plan->scores)
        m->scores_digest = digest_of_scores(&belief);
    if (status == OLTR_OK)
        status = fill_material(m, &splits, of_grade, &belief, error);
    scores_free(&belief);
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
           same_text(a->scores, b->scores) && a->rankers == b->rankers;
}

/* The material of a point: one that is there already, or a new one without anything in it. */
static struct material *material_for(const struct config *config, uint32_t point,
                                     struct prepared *all, bool *is_new)
{
    const oltr_experiment *e = &config->points[point];
    *is_new = false;
    for (uint32_t i = 0; i < all->n_materials; i++) {
        struct material *m = &all->material[i];
        if (m->seed == e->seed && m->slots == e->slots && same_plan(m->plan, &config->plan[point]))
            return m;
    }
    struct material *m = &all->material[all->n_materials++];
    *m = (struct material){.plan = &config->plan[point], .seed = e->seed, .slots = e->slots};
    *is_new = true;
    return m;
}

static oltr_status complete(oltr_plan *plan, uint32_t point, const struct material *m,
                            oltr_error *error)
{
    oltr_plan_data_given given = {.dataset = m->played, .attraction = m->attraction};
    if (m->tells) {
        given.prior_a = m->a;
        given.prior_b = m->b;
        given.prior_mean = m->mean;
        given.prior_sd = m->sd;
    }
    return oltr_plan_give_data(plan, point, &given, error);
}

static oltr_status complete_points(struct config *config, const struct prepare_options *options,
                                   struct prepared *all, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < config->n_points; i++) {
        if (!config_needs_data(config, i))
            continue;
        bool is_new;
        struct material *m = material_for(config, i, all, &is_new);
        status = is_new ? make_material(m, options, all->n_materials, error) : OLTR_OK;
        if (status == OLTR_OK)
            status = complete(config->source, i, m, error);
    }
    return status;
}

/* ---- what is said of it */

static void write_note(struct prepared *all)
{
    const struct material *m = &all->material[0];
    char folder[QUOTE_SIZE];
    const char *name =
        m->plan->shape && strcmp(m->plan->shape, "istella") == 0 ? "Istella" : "Web30K";
    if (m->plan->folder) {
        snprintf(all->note, sizeof all->note, "data of %s: %u of %u test queries, %u features",
                 quote_input(m->plan->folder, folder), m->played->n_queries, m->test_queries,
                 m->played->dim);
    } else {
        snprintf(all->note, sizeof all->note,
                 "GENERATED data in the shape of %s (%u queries, %u features), not the real set: "
                 "--data DIR takes that",
                 name, m->played->n_queries, m->played->dim);
    }
}

static char *join(struct pool *pool, const char *text, const char *mark)
{
    size_t size = strlen(text) + strlen(mark) + 1;
    char *joined = pool_get(pool, size, 1);
    if (joined)
        snprintf(joined, size, "%s%s", text, mark);
    return joined;
}

/* A figure travels without its page: its title must say what it does not show. */
static oltr_status mark_figures(struct config *config, oltr_error *error)
{
    static const char mark[] = " (generated data)";
    struct figure *figures = pool_get(&config->pool, config->n_figures, sizeof *figures);
    if (!figures)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < config->n_figures; i++) {
        char *title = join(&config->pool, config->figures[i].title, mark);
        if (!title)
            return set_error(error, OLTR_ENOMEM, "out of memory");
        figures[i] = config->figures[i];
        figures[i].title = title;
    }
    config->figures = figures;
    return OLTR_OK;
}

/* ... and so must what is said to hold or not. */
static oltr_status mark_claims(struct config *config, oltr_error *error)
{
    static const char mark[] =
        " (Judged here on generated data, which decide nothing about the real set.)";
    struct claim *claims = pool_get(&config->pool, config->n_claims, sizeof *claims);
    if (!claims)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < config->n_claims; i++) {
        char *says = join(&config->pool, config->claims[i].says, mark);
        if (!says)
            return set_error(error, OLTR_ENOMEM, "out of memory");
        claims[i] = config->claims[i];
        claims[i].says = says;
    }
    config->claims = claims;
    return OLTR_OK;
}

static bool any_generated(const struct prepared *all)
{
    bool generated = false;
    for (uint32_t i = 0; i < all->n_materials; i++)
        generated = generated || !all->material[i].plan->folder;
    return generated;
}

oltr_status prepare_data(struct config *config, const struct prepare_options *options,
                         struct prepared **out, oltr_error *error)
{
    oltr_error own = {OLTR_OK, ""};
    error = error ? error : &own;
    *out = calloc(1, sizeof **out);
    struct prepared *all = *out;
    if (all)
        all->material = calloc((size_t)config->n_points + 1, sizeof *all->material);
    if (!all || !all->material)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    oltr_status status =
        config->kind == CONFIG_REGRET ? complete_points(config, options, all, error) : OLTR_OK;
    if (status == OLTR_OK && all->n_materials > 0) {
        write_note(all);
        status = any_generated(all) ? mark_figures(config, error) : OLTR_OK;
        if (status == OLTR_OK && any_generated(all))
            status = mark_claims(config, error);
    }
    return status;
}

void prepared_free(struct prepared *all)
{
    for (uint32_t i = 0; all && all->material && i < all->n_materials; i++) {
        struct material *m = &all->material[i];
        oltr_dataset_free(m->played);
        free(m->attraction);
        free(m->a);
        free(m->b);
        free(m->mean);
        free(m->sd);
    }
    if (all)
        free(all->material);
    free(all);
}

const char *prepared_note(const struct prepared *all)
{
    return all && all->n_materials > 0 ? all->note : NULL;
}

/* In hexadecimal; NULL for 0, where nothing was read. */
static const char *digits_of(uint64_t digest, char digits[DIGEST_SIZE])
{
    snprintf(digits, DIGEST_SIZE, "%016" PRIx64, digest);
    return digest != 0 ? digits : NULL;
}

static json_t *material_json(const struct material *m)
{
    char digest[DIGEST_SIZE], scores_digest[DIGEST_SIZE];
    return json_pack("{s:b, s:s?, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:s, "
                     "s:s?, s:s?, s:I}",
                     "generated", !m->plan->folder, "folder", m->plan->folder, "shape",
                     !m->plan->folder ? m->plan->shape : NULL, "digest",
                     digits_of(m->digest, digest), "test_queries", (json_int_t)m->test_queries,
                     "queries_with_enough_documents", (json_int_t)m->enough, "queries",
                     (json_int_t)m->played->n_queries, "queries_without_a_better_list",
                     (json_int_t)m->level, "documents", (json_int_t)m->played->n_rows, "features",
                     (json_int_t)m->raw_dim, "features_kept", (json_int_t)m->played->dim, "grades",
                     m->plan->grades, "largest_grade", (json_int_t)m->largest_grade, "normalise",
                     m->plan->normalise, "scores", m->plan->scores, "scores_digest",
                     digits_of(m->scores_digest, scores_digest), "models", (json_int_t)m->models);
}

json_t *prepared_json(const struct prepared *all)
{
    if (!prepared_note(all))
        return NULL;
    json_t *sets = json_array();
    for (uint32_t i = 0; i < all->n_materials; i++) {
        if (json_array_append_new(sets, material_json(&all->material[i])) != 0) {
            json_decref(sets);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "note", all->note, "sets", sets);
}

/* ---- is it still the same? */

static bool has_digest(const json_t *set, const char *key, uint64_t digest)
{
    char digits[DIGEST_SIZE];
    const char *kept = json_string_value(json_object_get(set, key));
    return !digits_of(digest, digits) ? !kept : kept && strcmp(kept, digits) == 0;
}

/* Reads what this material is made of, and compares it with what the manifest has. */
static bool is_same_content(const struct material *m, uint32_t threads, const json_t *set)
{
    struct splits splits;
    scores belief = {0};
    oltr_error why;
    if (!m->plan->folder && !m->plan->scores)
        return json_is_object(set);
    oltr_read_options options = {.threads = threads, .check_text = 1, .stop = should_stop};
    bool same = splits_get(m->plan, m->seed, &options, &splits, &why) == OLTR_OK &&
                has_digest(set, "digest", splits.digest);
    if (same && m->plan->scores)
        same = scores_read_csv(m->plan->scores, splits.test, &belief, &why) == OLTR_OK &&
               has_digest(set, "scores_digest", digest_of_scores(&belief));
    scores_free(&belief);
    splits_free(&splits);
    return same;
}

bool prepared_before(const struct config *config, uint32_t threads, const json_t *data)
{
    const json_t *sets = json_object_get(data, "sets");
    struct prepared all = {.material = calloc((size_t)config->n_points + 1, sizeof *all.material)};
    bool same = all.material;
    for (uint32_t i = 0; same && i < config->n_points; i++) {
        bool is_new = false;
        const struct material *m =
            config_needs_data(config, i) ? material_for(config, i, &all, &is_new) : NULL;
        same = !is_new || is_same_content(m, threads, json_array_get(sets, all.n_materials - 1));
    }
    same = same && json_array_size(sets) == all.n_materials;
    free(all.material);
    return same;
}
