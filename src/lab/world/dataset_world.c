/* dataset_world.c - the world of judged documents: one bandit for each query of a dataset.
 *
 * The documents of a query are the items, its rows their features; they are pointed at, never
 * copied.  Attraction and prior are arrays over all rows of the dataset, made from the grades
 * (grades.c) and from the scores of offline models.
 *
 * `traffic` says which query a round is about:
 *
 *   per-query     that of the replication: replication r plays query r mod n_queries
 *   interleaved   a random one, all equally often
 *   in-turn       the queries one after the other, in a random order of each replication, for
 *                 `visits` rounds each; after the last one from the first again
 *
 * In the last two the queries share the rounds, so that a policy can use what it has learned from
 * one query in the next (sim/seats.h).  The query of round t is a function of (seed, replication,
 * t), so all policies meet the same queries and users.  The random order needs no table: a Feistel
 * network permutes just enough bits, and is applied again while the result is no query.
 *
 * There are two priors of one document: Beta(a,b), and a mean with a standard deviation.  They come
 * from the same scores s_1..s_M but are two different priors: the paper takes Beta(sum s, sum (1 -
 * s)), which trusts the mean as M clicks would, and the spread of the scores themselves.  A policy
 * gets the form that it takes.  A misspecification c moves Beta(a,b) to Beta(a+c, b-c), so its mean
 * by c / (a+b); the other mean moves by as much, and its deviation stays.
 *
 * World fitted is the same for queries with users of their own: attractions and the parameters of
 * the click model were fitted elsewhere, and there are no features and no prior.
 */
#include <math.h>
#include <string.h>

#include "engine/kernels/philox.h"
#include "lab/world/world.h"

enum { TRAFFIC, VISITS };
enum { PER_QUERY, INTERLEAVED, IN_TURN };
static const char *const ways[] = {"per-query", "interleaved", "in-turn", NULL};
static const world_param params[] = {
    [TRAFFIC] = {{"traffic", OLTR_CHOICE, PER_QUERY, PER_QUERY, IN_TURN, ways,
                  "the query of a round: `per-query`, that of the replication; `interleaved`, a "
                  "random one; `in-turn`, one after the other"},
                 0,
                 0},
    [VISITS] = {{"visits", OLTR_INTEGER, 1000, 1, 4294967295, NULL,
                 "`traffic: in-turn`: rounds of a query before the next one"},
                0,
                0},
};

oltr_status dataset_check_shape(const oltr_dataset *data, oltr_error *error)
{
    if (!data->n_queries || !data->query || !data->first_row || !data->grade ||
        (data->dim && !data->x))
        return set_error(
            error, OLTR_EINVAL,
            "world dataset needs a dataset with at least 1 query, and all of its arrays");
    for (uint32_t q = 0; q < data->n_queries; q++)
        if (data->first_row[q + 1] <= data->first_row[q])
            return set_error(error, OLTR_EITEM,
                             "query %llu of the dataset has no documents: leave it out",
                             (unsigned long long)data->query[q]);
    if (data->first_row[0] != 0 || data->first_row[data->n_queries] != data->n_rows)
        return set_error(error, OLTR_EINVAL,
                         "the queries of the dataset must have its %u rows among them",
                         data->n_rows);
    return OLTR_OK;
}

uint32_t largest_query(const oltr_dataset *data)
{
    uint32_t largest = 0;
    for (uint32_t q = 1; q < data->n_queries; q++)
        if (query_size(data, q) > query_size(data, largest))
            largest = q;
    return largest;
}

static uint32_t traffic_of(const oltr_world *world)
{
    return (uint32_t)oltr_world_value(params, world->kind_values, TRAFFIC);
}

bool world_has_traffic(const oltr_world *world)
{
    return world->dataset && !world->custom_kind && traffic_of(world) != PER_QUERY;
}

uint32_t world_groups(const oltr_world *world)
{
    return world->dataset && !world_has_traffic(world) ? world->dataset->n_queries : 1;
}

uint64_t world_largest(const oltr_world *world)
{
    return world->dataset ? largest_query(world->dataset) : 0;
}

uint32_t world_fewest(const oltr_world *world)
{
    const oltr_dataset *data = world->dataset;
    uint32_t fewest = world->n_items;
    for (uint32_t q = 0; data && q < data->n_queries; q++)
        fewest = query_size(data, q) < fewest ? query_size(data, q) : fewest;
    return fewest;
}

static oltr_status check_moments(const oltr_world *world, oltr_error *error)
{
    if (!world->prior_mean != !world->prior_sd)
        return set_error(error, OLTR_EPRIOR,
                         "a world's prior needs both means and standard deviations");
    for (uint32_t i = 0; world->prior_mean && i < world->dataset->n_rows; i++)
        if (!isfinite(world->prior_mean[i]) ||
            !(world->prior_sd[i] > 0 && isfinite(world->prior_sd[i])))
            return set_error(
                error, OLTR_EPRIOR,
                "row %u: mean %g with standard deviation %g is no prior; the deviation "
                "must be above 0",
                i, world->prior_mean[i], world->prior_sd[i]);
    return OLTR_OK;
}

static oltr_status check_rows(const oltr_world *world, oltr_error *error)
{
    const oltr_dataset *data = world->dataset;
    for (uint32_t i = 0; i < data->n_rows; i++) {
        if (!(world->attraction[i] >= 0 && world->attraction[i] <= 1))
            return set_error(error, OLTR_EINVAL, "row %u: an attraction is a probability, not %g",
                             i, world->attraction[i]);
        if (world->prior_a &&
            check_shifted_prior(world, world->prior_a[i], world->prior_b[i], i, error) != OLTR_OK)
            return OLTR_EPRIOR;
    }
    for (size_t i = 0; i < (size_t)data->n_rows * data->dim; i++)
        if (!isfinite(data->x[i]))
            return set_error(error, OLTR_EFEATURE, "row %zu: feature %zu is not finite",
                             i / data->dim, i % data->dim);
    return check_moments(world, error);
}

static oltr_status check(const oltr_world *world, oltr_error *error)
{
    if (!world->dataset || !world->attraction)
        return set_error(
            error, OLTR_EINVAL,
            "world dataset needs a dataset, and the attraction of each of its rows; load them into "
            "a plan with oltr_plan_load_data(), or give them with oltr_plan_give_data()");
    if (world->features)
        return set_error(
            error, OLTR_EFEATURE,
            "world dataset has the features of its rows; use world fixed to give them");
    if (!world->prior_a && is_shifted(world))
        return set_error(error, OLTR_EPRIOR,
                         "this world has no Beta prior to misspecify: give it one, or leave "
                         "misspecification at 0");
    uint32_t most = query_size(world->dataset, largest_query(world->dataset));
    if (world->n_items != most || world->dim != world->dataset->dim)
        return set_error(
            error, OLTR_EITEM,
            "this dataset makes a world of %u items with %u features, not of %u with %u", most,
            world->dataset->dim, world->n_items, world->dim);
    return check_rows(world, error);
}

void dataset_prior(const oltr_world *world, uint32_t first, uint32_t n, instance *out)
{
    double c = world->misspecification;
    out->tells = world->prior_a != NULL;
    out->tells_moments = world->prior_mean != NULL;
    for (uint32_t i = 0; i < n; i++) {
        double a = out->tells ? world->prior_a[first + i] : 0,
               b = out->tells ? world->prior_b[first + i] : 0;
        out->a[i] = a + c;
        out->b[i] = b - c;
        if (out->tells_moments) {
            out->mean[i] = world->prior_mean[first + i] + (out->tells ? c / (a + b) : 0);
            out->sd[i] = world->prior_sd[first + i];
        }
    }
}

/* Its documents and their features; not their prior, which policies get once. */
static void show_query(const oltr_world *world, uint32_t query, instance *out)
{
    const oltr_dataset *data = world->dataset;
    uint32_t first = data->first_row[query];
    out->query = query;
    out->n_items = data->first_row[query + 1] - first;
    out->x = data->dim ? data->x + (size_t)first * data->dim : NULL;
    memcpy(out->attraction, world->attraction + first, out->n_items * sizeof *out->attraction);
    const oltr_users *u = world->users;
    out->slot_chance = u && u->slot_chance ? u->slot_chance + (size_t)query * u->n_slots : NULL;
    out->item_chance = u && u->item_chance ? u->item_chance + first : NULL;
    out->user_chance = u && u->user_chance ? u->user_chance + query : NULL;
}

/* Where queries share the rounds this is the largest of them, and advance() follows. */
static oltr_status draw(const oltr_world *world, uint64_t seed, uint64_t replication, instance *out,
                        oltr_error *error)
{
    const oltr_dataset *data = world->dataset;
    (void)seed;
    (void)error;
    show_query(world,
               world_has_traffic(world) ? largest_query(data)
                                        : (uint32_t)(replication % data->n_queries),
               out);
    dataset_prior(world, data->first_row[out->query], out->n_items, out);
    return OLTR_OK;
}

/* ---- traffic */

/* The query at place p of a random order of n of them. */
static uint32_t in_random_order(const oltr_rng *order, uint32_t p, uint32_t n)
{
    uint32_t half = 1;
    while (half < 16 && n > UINT32_C(1) << 2 * half)
        half++;
    uint32_t mask = (UINT32_C(1) << half) - 1;
    do {
        uint32_t left = p >> half, right = p & mask;
        for (uint32_t round = 0; round < 4; round++) {
            uint32_t word[4], before = left;
            words_at(order, right, round, word);
            left = right;
            right = before ^ (word[0] & mask);
        }
        p = left << half | right;
    } while (p >= n);
    return p;
}

static int moves(const oltr_world *world)
{
    return world_has_traffic(world);
}

static oltr_status advance(const oltr_world *world, uint64_t seed, uint64_t replication,
                           uint64_t round, instance *truth, oltr_error *error)
{
    uint32_t n = world->dataset->n_queries;
    oltr_rng own = oltr_rng_make(seed, replication);
    (void)error;
    if (traffic_of(world) == INTERLEAVED) {
        oltr_rng draws = oltr_rng_at(own, STREAM_CONTEXTS, round);
        show_query(world, oltr_rng_below(&draws, n), truth);
        return OLTR_OK;
    }
    uint64_t visits = (uint64_t)oltr_world_value(params, world->kind_values, VISITS);
    oltr_rng order = oltr_rng_at(own, STREAM_CONTEXTS, 0);
    if ((round - 1) % visits == 0) /* else it stays */
        show_query(world, in_random_order(&order, (uint32_t)((round - 1) / visits % n), n), truth);
    return OLTR_OK;
}

/* ---- users of their own */

static bool are_chances(const double *x, size_t n)
{
    bool good = true;
    for (size_t i = 0; x && i < n; i++)
        good = good && x[i] >= 0 && x[i] <= 1;
    return good;
}

static oltr_status check_fitted(const oltr_world *world, oltr_error *error)
{
    const oltr_users *u = world->users;
    oltr_status status = check(world, error);
    if (status != OLTR_OK)
        return status;
    if (!u || (u->slot_chance && !u->n_slots))
        return set_error(error, OLTR_EINVAL,
                         "world fitted needs the users of its queries; load them into a plan with "
                         "oltr_plan_load_data()");
    size_t queries = world->dataset->n_queries;
    if (!are_chances(u->slot_chance, queries * u->n_slots) ||
        !are_chances(u->item_chance, world->dataset->n_rows) ||
        !are_chances(u->user_chance, queries))
        return set_error(error, OLTR_EINVAL, "what users do is a probability, from 0 to 1");
    return OLTR_OK;
}

const world_ops fitted_world = {
    .info = {"fitted", "queries whose attractions and users were fitted elsewhere, from a file"},
    .check = check_fitted,
    .draw = draw,
    .moves = moves,
    .advance = advance,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .traits = OLTR_WORLD_FITTED,
};

const world_ops dataset_world = {
    .info = {"dataset", "the queries of a dataset, one after the other; attractions from the "
                        "grades of their documents"},
    .check = check,
    .draw = draw,
    .moves = moves,
    .advance = advance,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .traits = OLTR_WORLD_DATASET | OLTR_WORLD_MISSPECIFIED,
};
