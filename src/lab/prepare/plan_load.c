/* plan_load.c - oltr_plan_load_data(): loads what the worlds of kind dataset of a plan need.
 *
 * Points are completed one after the other, so that a mistake is found before the scorers of the
 * next point are trained.  When one fails, the points before it get back what they had. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/struct_check.h"
#include "lab/data/read.h"
#include "lab/plan/plan_internal.h"
#include "lab/prepare/data_sets.h"

/* ---- points */

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

static oltr_status complete_fitted(oltr_plan *plan, uint32_t point, struct data_sets *all,
                                   oltr_error *error)
{
    bool is_new;
    struct fitted_models *m = fitted_models_of(plan, point, all, &is_new);
    oltr_status status =
        is_new ? fitted_models_read(&plan->data[point], m->slots, m, error) : OLTR_OK;
    if (status != OLTR_OK)
        return status;
    return plan_give_users(plan, point, &m->queries, m->attraction, &m->users, error);
}

static oltr_status complete_points(oltr_plan *plan, struct data_sets *all,
                                   const oltr_data_options *options, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < plan->n_points; i++) {
        if (plan_needs_users(plan, i))
            status = complete_fitted(plan, i, all, error);
        if (!plan_needs_data(plan, i))
            continue;
        bool is_new;
        struct data_set *m = data_set_of(plan, i, all, &is_new);
        status = is_new ? data_set_load(m, all, options, error) : OLTR_OK;
        if (status == OLTR_OK)
            status = complete(plan, i, m, error);
    }
    trained_scores_free(&all->trained);
    return status;
}

static void free_sets(struct data_sets *all)
{
    data_sets_clear(all);
    free(all);
}

/* Completes all points, or none. */
static oltr_status load(oltr_plan *plan, const oltr_data_options *options, oltr_error *error)
{
    size_t size = plan->n_points * sizeof *plan->points;
    struct pool pool = plan->pool;
    struct data_sets *all = calloc(1, sizeof *all);
    oltr_experiment *before = malloc(size);
    oltr_status status = all && before && data_sets_make(all, plan)
                             ? OLTR_OK
                             : set_error(error, OLTR_ENOMEM, "out of memory");
    if (status == OLTR_OK) {
        memcpy(before, plan->points, size);
        status = complete_points(plan, all, options, error);
        if (status != OLTR_OK) {
            memcpy(plan->points, before, size);
            pool_rewind(&plan->pool, &pool);
        }
    }
    free(before);
    if (status == OLTR_OK) {
        plan->loaded = all;
        plan->free_loaded = free_sets;
    } else if (all) {
        free_sets(all);
    }
    return status;
}

const struct data_sets *plan_loaded(const oltr_plan *plan)
{
    return plan->loaded;
}

/* ---- the public call */

static bool any_needs_data(const oltr_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_points; i++)
        if (plan_needs_data(plan, i) || plan_needs_users(plan, i))
            return true;
    return false;
}

static oltr_status check_options(oltr_data_options *options, oltr_error *error)
{
    if (size_check("data options", options->size, sizeof *options, error) != OLTR_OK ||
        reserved_check("data options", 0, options->reserved, sizeof options->reserved, error) !=
            OLTR_OK)
        return OLTR_EINVAL;
    bool named = options->look_in || options->n_look_in == 0;
    for (uint32_t i = 0; named && i < options->n_look_in; i++)
        named = options->look_in[i];
    if (!named)
        return set_error(error, OLTR_EINVAL, "look_in must name %u folders", options->n_look_in);
    options->threads = options->threads > 0 ? options->threads : thread_count(0);
    return OLTR_OK;
}

oltr_status oltr_plan_load_data(oltr_plan *plan, const oltr_data_options *options,
                                oltr_error *error)
{
    oltr_error own;
    oltr_data_options known = options ? *options : (oltr_data_options){0};
    if (!plan)
        return set_error(error, OLTR_EINVAL, "there is no plan");
    oltr_status status = check_options(&known, error);
    if (status != OLTR_OK || !any_needs_data(plan))
        return status;
    return load(plan, &known, error ? error : &own);
}
