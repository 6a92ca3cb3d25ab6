/* plan_give.c - oltr_plan_give_data(): completes a world of kind dataset with its data. */
#include "engine/base/error.h"
#include "engine/base/struct_check.h"
#include "lab/plan/plan_parts.h"
#include "lab/world/world.h"

bool plan_needs_data(const oltr_plan *plan, uint32_t point)
{
    const oltr_world *world = &plan->points[point].world;
    return has_trait(world, OLTR_WORLD_DATASET) && !world->dataset;
}

bool plan_needs_users(const oltr_plan *plan, uint32_t point)
{
    const oltr_world *world = &plan->points[point].world;
    return has_trait(world, OLTR_WORLD_FITTED) && !world->dataset;
}

const oltr_data_plan *oltr_plan_data(const oltr_plan *plan, uint32_t point)
{
    bool there = plan && point < plan->n_points &&
                 has_trait(&plan->points[point].world, OLTR_WORLD_DATASET | OLTR_WORLD_FITTED);
    return there ? &plan->data[point] : NULL;
}

/* By the grades of the rows, with the mapping of the plan. */
static const double *attractions(struct pool *pool, const oltr_data_plan *plan,
                                 const oltr_dataset *data, oltr_error *error)
{
    double *attraction = pool_get(pool, (size_t)data->n_rows + 1, sizeof *attraction);
    uint32_t largest = plan->largest_grade;
    if (!attraction) {
        set_error(error, OLTR_ENOMEM, "no memory for the attraction of %u documents", data->n_rows);
        return NULL;
    }
    for (uint32_t i = 0; plan->largest_grade == 0 && i < data->n_rows; i++)
        largest = data->grade[i] > largest ? data->grade[i] : largest;
    if (largest == 0) {
        set_error(error, OLTR_EVALUE,
                  "every document of the data has the grade 0: no document is relevant");
        return NULL;
    }
    for (uint32_t i = 0; i < data->n_rows; i++)
        if (oltr_attraction_of_grade(plan->grades, data->grade[i], largest, &attraction[i],
                                     error) != OLTR_OK)
            return NULL;
    return attraction;
}

static void fill_world(const oltr_plan_data_given *given, const double *attraction,
                       oltr_world *world)
{
    world->dataset = given->dataset;
    world->attraction = attraction;
    world->n_items = query_size(given->dataset, largest_query(given->dataset));
    world->dim = given->dataset->dim;
    world->prior_a = given->prior_a;
    world->prior_b = given->prior_b;
    world->prior_mean = given->prior_mean;
    world->prior_sd = given->prior_sd;
}

/* The policies of the point, made for as many items and features as the data have. */
static oltr_status fit_policies(struct pool *pool, oltr_experiment *e, oltr_error *error)
{
    oltr_contestant *policy = pool_get(pool, e->n_policies, sizeof *policy);
    if (!policy)
        return set_error(error, OLTR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < e->n_policies; i++) {
        policy[i] = e->policy[i];
        policy[i].settings.n_items = e->world.n_items;
        policy[i].settings.dim = e->world.dim;
    }
    e->policy = policy;
    return OLTR_OK;
}

/* The text counts replications of each query, the simulator all of them. */
static oltr_status multiply(uint32_t of_each, uint32_t queries, uint32_t *all, oltr_error *error)
{
    if ((uint64_t)of_each * queries > MOST_REPLICATIONS)
        return set_error(
            error, OLTR_EVALUE,
            "%u replications of %u queries are more than %d runs; take fewer of either", of_each,
            queries, MOST_REPLICATIONS);
    *all = of_each * queries;
    return OLTR_OK;
}

/* The point with its data, if the simulator accepts it. */
static oltr_status complete_point(oltr_plan *plan, uint32_t point, oltr_experiment *e,
                                  oltr_error *error)
{
    oltr_status status = fit_policies(&plan->pool, e, error);
    if (status == OLTR_OK)
        status =
            multiply(plan->replications[point], world_groups(&e->world), &e->replications, error);
    if (status == OLTR_OK)
        status = oltr_experiment_check(e, error);
    if (status == OLTR_OK)
        plan->points[point] = *e;
    return status;
}

oltr_status oltr_plan_give_data(oltr_plan *plan, uint32_t point, const oltr_plan_data_given *data,
                                oltr_error *error)
{
    if (!oltr_plan_data(plan, point) || !has_trait(&plan->points[point].world, OLTR_WORLD_DATASET))
        return set_error(error, OLTR_EINVAL,
                         "this plan has no point %u with a world of kind dataset", point);
    const oltr_dataset *set = data ? data->dataset : NULL;
    if (!set || set->n_queries == 0 || !set->first_row || !set->grade)
        return set_error(error, OLTR_EINVAL, "a dataset with at least 1 query is needed");
    if (reserved_check("data", 0, data->reserved, sizeof data->reserved, error) != OLTR_OK)
        return OLTR_EINVAL;
    oltr_experiment e = plan->points[point];
    const double *attraction = data->attraction
                                   ? data->attraction
                                   : attractions(&plan->pool, &plan->data[point], set, error);
    if (!attraction)
        return error ? error->code : OLTR_EVALUE;
    fill_world(data, attraction, &e.world);
    return complete_point(plan, point, &e, error);
}

oltr_status plan_give_users(oltr_plan *plan, uint32_t point, const oltr_dataset *queries,
                            const double *attraction, const oltr_users *users, oltr_error *error)
{
    oltr_experiment e = plan->points[point];
    oltr_plan_data_given given = {.dataset = queries};
    fill_world(&given, attraction, &e.world);
    e.world.users = users;
    return complete_point(plan, point, &e, error);
}
