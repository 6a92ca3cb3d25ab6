/* linear_world.c - worlds with features: attraction scale x'theta (linear), its logistic function
 * or that of another link (logistic), or a real mean reward (scalar).
 *
 * As in the paper, theta and the features are uniform on the cube [0,1]^dim and scaled to length 1.
 * In its released code the logistic world's theta is uniform on the sphere instead, which lets
 * attractions fall below one half: theta_on_sphere.  The paper's linear world is saturated, three
 * items already give reward 0.9999: a scale of 0.25 makes it hard. Features are float32, as
 * policies get them, and the truth is computed from these.  They are drawn once a replication, or
 * anew in every round, the same for all policies.
 *
 * In the logistic world policies get the Beta prior of the paper: b = 10, a = 10 nu / (1 - nu),
 * whose mean is the truth, whatever the link.
 */
#include <math.h>

#include "engine/kernels/link.h"
#include "engine/limits.h"
#include "lab/world/wrong_prior.h"

enum { PRIOR_B = 10 };

static const char *const contexts[] = {"fixed", "fresh", NULL};
static const char *const thetas[] = {"cube", "sphere", NULL};

enum {
    P_DIM,
    P_CONTEXTS,
    P_SCALE,
    P_THETA,
    P_LINK,
    P_WRONG,
    N_PARAMS = P_WRONG + WRONG_PRIOR_PARAMS
};

/* World scalar has no link and no prior, and linear no choice of theta either: its attractions must
 * be probabilities. */
static const world_param params[N_PARAMS] = {
    {{"dim", OLTR_INTEGER, 5, 1, MOST_FEATURES, NULL, "how many features an item has"},
     offsetof(oltr_world, dim),
     0},
    {{"contexts", OLTR_CHOICE, 0, 0, 1, contexts,
      "when features are drawn: `fixed`, once a replication, or `fresh`, anew in each round"},
     offsetof(oltr_world, fresh_contexts),
     0},
    {{"scale", OLTR_REAL, 1, 1e-9, 1e6, NULL,
      "what x'theta is multiplied with; at most 1 in world linear"},
     offsetof(oltr_world, scale),
     0},
    {{"theta", OLTR_CHOICE, 0, 0, 1, thetas,
      "where theta is drawn from: the `cube` [0,1]^dim, scaled to length 1, or the unit `sphere`"},
     offsetof(oltr_world, theta_on_sphere),
     0},
    {{"link", OLTR_CHOICE, LINK_LOGIT, 0, N_LINKS - 1, link_names,
      "how a score z = scale x'theta becomes an attraction: `logit` 1/(1 + e^-z), `probit` the "
      "normal distribution function, or `cloglog` 1 - exp(-e^z)"},
     0,
     0},
    WRONG_PRIOR_TABLE,
};

static double scale_of(const oltr_world *world)
{
    return world->scale > 0 ? world->scale : 1;
}

static oltr_status check_features(const oltr_world *world, oltr_error *error)
{
    if (world->dim < 1 || world->dim > MOST_FEATURES)
        return set_error(error, OLTR_EFEATURE, "world %s needs a dim from 1 to %d features",
                         world->kind, MOST_FEATURES);
    if (world->attraction || world->features || world->prior_a)
        return set_error(
            error, OLTR_EINVAL,
            "world %s draws its own attractions, features and prior; use world fixed to give them",
            world->kind);
    if (!(world->scale >= 0 && isfinite(world->scale)))
        return set_error(error, OLTR_EINVAL, "the scale must be above 0, not %g", world->scale);
    return OLTR_OK;
}

static oltr_status check_no_shift(const oltr_world *world, oltr_error *error)
{
    if (!is_shifted(world))
        return OLTR_OK;
    return set_error(
        error, OLTR_EPRIOR,
        "world %s has no prior that could be misspecified; leave misspecification at 0",
        world->kind);
}

static oltr_status check_linear(const oltr_world *world, oltr_error *error)
{
    oltr_status status = check_features(world, error);
    if (status != OLTR_OK)
        return status;
    if (scale_of(world) > 1 || world->theta_on_sphere)
        return set_error(
            error, OLTR_EINVAL,
            "attractions of world linear must be probabilities: scale at most 1, theta on "
            "the cube");
    return check_no_shift(world, error);
}

static oltr_status check_scalar(const oltr_world *world, oltr_error *error)
{
    oltr_status status = check_no_shift(world, error);
    return status == OLTR_OK ? check_features(world, error) : status;
}

static oltr_status check_logistic(const oltr_world *world, oltr_error *error)
{
    if (world->misspecification <= -1e-9 || world->misspecification >= PRIOR_B)
        return set_error(
            error, OLTR_EPRIOR,
            "policies of a logistic world would get Beta(a%+g, %g) with an a that may be "
            "near 0; keep misspecification at 0 or above, and below %d",
            world->misspecification, PRIOR_B - world->misspecification, PRIOR_B);
    wrong_prior wrong = wrong_prior_of(world, params, P_WRONG);
    if (prior_is_changed(&wrong) && world->fresh_contexts)
        return set_error(error, OLTR_EPRIOR,
                         "a logistic world with fresh contexts has no prior that could be wrong; "
                         "use `contexts: fixed`");
    return check_features(world, error);
}

/* A point of the cube or of the sphere, at length 1. */
static void unit_vector(oltr_rng *rng, uint32_t dim, bool sphere, double *out)
{
    double square = 0;
    for (uint32_t i = 0; i < dim; i++) {
        out[i] = sphere ? oltr_rng_normal(rng) : oltr_rng_uniform(rng);
        square += out[i] * out[i];
    }
    for (uint32_t i = 0; i < dim; i++)
        out[i] /= sqrt(square);
}

/* OLTR_EINTERRUPTED where the run was stopped. */
static oltr_status draw_features(oltr_rng *rng, instance *out)
{
    double row[MOST_FEATURES];
    for (uint32_t i = 0; i < out->n_items; i++) {
        if (draw_stopped(out, i))
            return OLTR_EINTERRUPTED;
        unit_vector(rng, out->dim, false, row);
        for (uint32_t j = 0; j < out->dim; j++)
            out->drawn[(size_t)i * out->dim + j] = (float)row[j];
    }
    out->x = out->drawn;
    return OLTR_OK;
}

/* scale x'theta of every item; a probability may exceed 1 by the rounding of its features only. */
static void score_items(const oltr_world *world, instance *out)
{
    for (uint32_t i = 0; i < out->n_items; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < out->dim; j++)
            sum += (double)out->x[(size_t)i * out->dim + j] * out->theta[j];
        out->attraction[i] = scale_of(world) * sum;
    }
}

static void to_probabilities(instance *out)
{
    for (uint32_t i = 0; i < out->n_items; i++)
        out->attraction[i] = out->attraction[i] < 0   ? 0
                             : out->attraction[i] > 1 ? 1
                                                      : out->attraction[i];
}

static void to_logistic(instance *out)
{
    for (uint32_t i = 0; i < out->n_items; i++)
        out->attraction[i] = 1 / (1 + exp(-out->attraction[i]));
}

/* mu of each score: minus the residual of a row that was examined once and not clicked. */
static void to_chances(uint32_t link, instance *out)
{
    enum { BATCH = 64 };
    static const double none[BATCH];
    double once[BATCH], score[BATCH], residual[BATCH], curvature[BATCH];
    for (uint32_t i = 0; i < BATCH; i++)
        once[i] = 1;
    for (uint32_t first = 0; first < out->n_items; first += BATCH) {
        uint32_t n = out->n_items - first < BATCH ? out->n_items - first : BATCH;
        for (uint32_t i = 0; i < residuals_padded(n); i++)
            score[i] = i < n ? out->attraction[first + i] : 0;
        link_residuals(link, oltr_cpu())(n, score, once, none, residual, curvature);
        for (uint32_t i = 0; i < n; i++)
            out->attraction[first + i] = -residual[i];
    }
}

static void to_attractions(const oltr_world *world, instance *out)
{
    uint32_t link = (uint32_t)oltr_world_value(params, world->kind_values, P_LINK);
    if (link == LINK_LOGIT)
        to_logistic(out);
    else
        to_chances(link, out);
}

static int moves(const oltr_world *world)
{
    return world->fresh_contexts;
}

/* A prior for each item makes sense only while the items stay the same. */
static int logistic_prior(const oltr_world *world)
{
    return !world->fresh_contexts;
}

static oltr_status draw_scores(const oltr_world *world, uint64_t seed, uint64_t replication,
                               instance *out, oltr_error *error)
{
    (void)error;
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, replication), STREAM_INSTANCE, 0);
    unit_vector(&rng, out->dim, world->theta_on_sphere != 0, out->theta);
    out->tells = 0;
    if (draw_features(&rng, out) != OLTR_OK)
        return OLTR_EINTERRUPTED;
    score_items(world, out);
    return OLTR_OK;
}

/* Runs every round, so by a vector kernel; its draws, and its order of summation, are not those of
 * an instance. */
static oltr_status advance_scores(const oltr_world *world, uint64_t seed, uint64_t replication,
                                  uint64_t round, instance *truth, oltr_error *error)
{
    (void)error;
    oltr_rng rng = oltr_rng_at(oltr_rng_make(seed, replication), STREAM_CONTEXTS, round);
    KERNEL_AT(cube_directions, oltr_cpu())
    (&rng, 0, truth->n_items, truth->dim, truth->theta, truth->drawn, truth->attraction);
    truth->x = truth->drawn;
    for (uint32_t i = 0; i < truth->n_items; i++)
        truth->attraction[i] *= scale_of(world);
    return OLTR_OK;
}

static oltr_status draw_linear(const oltr_world *world, uint64_t seed, uint64_t replication,
                               instance *out, oltr_error *error)
{
    oltr_status status = draw_scores(world, seed, replication, out, error);
    to_probabilities(out);
    return status;
}

static oltr_status advance_linear(const oltr_world *world, uint64_t seed, uint64_t replication,
                                  uint64_t round, instance *truth, oltr_error *error)
{
    advance_scores(world, seed, replication, round, truth, error);
    to_probabilities(truth);
    return OLTR_OK;
}

static oltr_status draw_logistic(const oltr_world *world, uint64_t seed, uint64_t replication,
                                 instance *out, oltr_error *error)
{
    oltr_status status = draw_scores(world, seed, replication, out, error);
    to_attractions(world, out);
    out->tells = logistic_prior(world);
    wrong_prior wrong = wrong_prior_of(world, params, P_WRONG);
    for (uint32_t i = 0; out->a && i < out->n_items; i++) {
        double odds = fmin(out->attraction[i] / (1 - out->attraction[i]),
                           1e9); /* a huge scale makes certainties */
        out->a[i] = PRIOR_B * fmax(odds, 1e-9) + world->misspecification;
        out->b[i] = PRIOR_B - world->misspecification;
    }
    if (status == OLTR_OK && out->tells)
        status = change_prior(&wrong, seed, replication, out);
    return status;
}

static oltr_status advance_logistic(const oltr_world *world, uint64_t seed, uint64_t replication,
                                    uint64_t round, instance *truth, oltr_error *error)
{
    advance_scores(world, seed, replication, round, truth, error);
    to_attractions(world, truth);
    return OLTR_OK;
}

const world_ops linear_world = {
    .info = {"linear",
             "attraction scale x'theta; theta and the features drawn in each replication"},
    .check = check_linear,
    .draw = draw_linear,
    .moves = moves,
    .advance = advance_linear,
    .params = params,
    .n_params = P_THETA,
};

const world_ops logistic_world = {
    .info = {"logistic", "attraction 1 / (1 + exp(-scale x'theta)), or another link; theta and the "
                         "features drawn in each replication"},
    .check = check_logistic,
    .draw = draw_logistic,
    .moves = moves,
    .advance = advance_logistic,
    .params = params,
    .n_params = N_PARAMS,
    .traits = OLTR_WORLD_MISSPECIFIED,
    .gives_prior = logistic_prior,
};

const world_ops scalar_world = {
    .info = {"scalar",
             "mean reward scale x'theta, seen with noise by users who leave after a random slot"},
    .check = check_scalar,
    .draw = draw_scores,
    .moves = moves,
    .advance = advance_scores,
    .params = params,
    .n_params = P_LINK,
    .traits = OLTR_WORLD_REALS,
};
