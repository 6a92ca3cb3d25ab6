/* data_sets.c - makes the data of one or more points; see data_sets.h. */
#include "lab/prepare/data_sets.h"

#include <stdlib.h>
#include <string.h>

#include "lab/data/dataset.h"
#include "lab/data/normaliser.h"
#include "lab/plan/plan_internal.h"
#include "lab/scorer/scores_as.h"

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

/* Asked before scorers are trained, which takes minutes. */
static oltr_status check_slots(const oltr_dataset *test, uint32_t slots, oltr_error *error)
{
    for (uint32_t q = 0; q < test->n_queries; q++)
        if (documents(test, q) >= slots)
            return OLTR_OK;
    return set_error(
        error, OLTR_ESLOTS,
        "none of the %u test queries has %u documents, one for each slot; lower `slots`",
        test->n_queries, slots);
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
    if (!fit || !(place = calloc(*count, sizeof *place)))
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

/* Attraction by grade; the prior from the scores of the test split, of which query i begins at row
 * first[i]. */
static void fill_arrays(struct data_set *m, const uint32_t *first, const double *of_grade,
                        const scores *prior)
{
    for (uint32_t i = 0; i < m->played->n_queries; i++) {
        uint32_t to = m->played->first_row[i], n = documents(m->played, i);
        const uint8_t *grade = m->played->grade + to;
        bool alike = true;
        for (uint32_t j = 0; j < n; j++) {
            m->attraction[to + j] = of_grade[grade[j]];
            alike = alike && grade[j] == grade[0];
        }
        m->alike += alike;
        if (prior->n_models > 0) {
            scores own = {n, prior->n_models, prior->score + (size_t)first[i] * prior->n_models};
            scores_prior(&own, m->a + to, m->b + to, m->mean + to, m->sd + to);
        }
    }
}

/* Fitted on the training split, which nothing needs after that: it and the validation split are
 * freed. */
static normaliser *fit_scale(const struct data_set *m, struct splits *splits, oltr_error *error)
{
    normaliser_kind kind = NORMALISE_STANDARD;
    bool known = normaliser_kind_by_name(m->plan->normalise, &kind, error) == OLTR_OK;
    normaliser *scale = known ? normaliser_fit(splits->train, kind, error) : NULL;
    splits_drop(&splits->train);
    splits_drop(&splits->vali);
    return scale;
}

/* Makes m->played of the queries, frees the test split, and replaces the number of each query by
 * that of its first row there. */
static oltr_status make_played(struct data_set *m, struct splits *splits, uint32_t *query,
                               uint32_t count, const normaliser *scale, oltr_error *error)
{
    oltr_dataset *raw = dataset_pick(splits->test, query, count, error);
    m->raw_dim = splits->test->dim;
    m->test_queries = splits->test->n_queries;
    for (uint32_t i = 0; i < count; i++)
        query[i] = splits->test->first_row[query[i]];
    splits_drop(&splits->test);
    m->played = raw ? normaliser_apply(scale, raw, error) : NULL;
    oltr_dataset_free(raw);
    return m->played ? make_arrays(m, m->played->n_rows, error) : error->code;
}

/* Frees each split as soon as it is not needed: sets of the paper's size have gigabytes. */
static oltr_status fill_set(struct data_set *m, struct splits *splits, const double *of_grade,
                            const scores *prior, oltr_error *error)
{
    uint32_t count = 0;
    uint32_t *query = choose_queries(m, splits->test, &count, error);
    normaliser *scale = query ? fit_scale(m, splits, error) : NULL;
    oltr_status status = scale ? make_played(m, splits, query, count, scale, error) : error->code;
    if (status == OLTR_OK) {
        m->n_models = prior->n_models;
        fill_arrays(m, query, of_grade, prior);
    }
    normaliser_free(scale);
    free(query);
    return status;
}

/* The scores behind the prior, as probabilities. */
static oltr_status get_prior(struct data_set *m, struct data_sets *all, const struct splits *splits,
                             const double *of_grade, const oltr_data_options *options,
                             scores *prior, oltr_error *error)
{
    scores_as as = SCORES_CALIBRATED;
    oltr_status status = scores_as_by_name(m->plan->scores_as, &as, error);
    struct score_source source = {.plan = m->plan,
                                  .splits = splits,
                                  .of_grade = of_grade,
                                  .seed = m->seed,
                                  .options = options,
                                  .number = all->n_sets,
                                  .as = as,
                                  .trained = &all->trained};
    if (status == OLTR_OK)
        status = prior_scores_get(&source, prior, error);
    if (status == OLTR_OK && m->plan->scores)
        m->scores_digest = scores_digest(prior);
    if (status == OLTR_OK)
        scores_convert(prior, splits->test, as);
    return status;
}

oltr_status data_set_load(struct data_set *m, struct data_sets *all,
                          const oltr_data_options *options, oltr_error *error)
{
    double of_grade[GRADES];
    struct splits splits;
    scores prior = {0};
    oltr_read_options reading = {
        .threads = options->threads, .stop = options->stop, .context = options->context};
    oltr_status status = splits_get(m->plan, m->seed, &reading, &splits, error);
    if (status == OLTR_OK) {
        m->digest = splits.digest;
        status = attractions_of(m->plan, &splits, of_grade, &m->largest_grade, error);
    }
    if (status == OLTR_OK)
        status = check_slots(splits.test, m->slots, error);
    if (status == OLTR_OK)
        status = get_prior(m, all, &splits, of_grade, options, &prior, error);
    if (status == OLTR_OK)
        status = fill_set(m, &splits, of_grade, &prior, error);
    scores_free(&prior);
    splits_free(&splits);
    return status;
}

/* ---- the sets of a plan */

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

struct data_set *data_set_of(const oltr_plan *plan, uint32_t point, struct data_sets *all,
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

struct fitted_models *fitted_models_of(const oltr_plan *plan, uint32_t point, struct data_sets *all,
                                       bool *is_new)
{
    const oltr_data_plan *data = &plan->data[point];
    uint32_t slots = plan->points[point].slots;
    *is_new = false;
    for (uint32_t i = 0; i < all->n_fitted; i++) {
        struct fitted_models *m = &all->fitted[i];
        if (m->slots == slots && same_text(m->plan->folder, data->folder) &&
            same_text(m->plan->file, data->file) && same_text(m->plan->model, data->model))
            return m;
    }
    struct fitted_models *m = &all->fitted[all->n_fitted++];
    *m = (struct fitted_models){.plan = data, .slots = slots};
    *is_new = true;
    return m;
}

bool data_sets_make(struct data_sets *all, const oltr_plan *plan)
{
    *all = (struct data_sets){.set = calloc((size_t)plan->n_points + 1, sizeof *all->set),
                              .fitted = calloc((size_t)plan->n_points + 1, sizeof *all->fitted)};
    return all->set && all->fitted;
}

void data_sets_clear(struct data_sets *all)
{
    for (uint32_t i = 0; all->set && i < all->n_sets; i++) {
        oltr_dataset_free(all->set[i].played);
        free(all->set[i].attraction);
    }
    for (uint32_t i = 0; all->fitted && i < all->n_fitted; i++)
        fitted_models_clear(&all->fitted[i]);
    trained_scores_free(&all->trained);
    free(all->fitted);
    free(all->set);
    *all = (struct data_sets){0};
}
