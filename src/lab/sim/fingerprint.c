/* fingerprint.c - a number that identifies an experiment: the checksum of everything that decides
 * its results.  A file of partial results holds it, so that it is resumed by the same experiment
 * only. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "lab/sim/results.h"
#include "lab/world/world.h"

static void put_text(writer *w, const char *text)
{
    put_u64(w, strlen(text));
    put_bytes(w, text, strlen(text));
}

static void put_optional(writer *w, const double *x, size_t n)
{
    put_u32(w, x != NULL);
    if (x)
        put_f64s(w, x, n);
}

static void put_features(writer *w, const oltr_world *world)
{
    const double numbers[] = {world->dim,       world->fresh_contexts, world->theta_on_sphere,
                              world->scale,     world->abandon,        world->noise_sd,
                              world->beta_noise};
    put_f64s(w, numbers, sizeof numbers / sizeof *numbers);
    for (size_t i = 0; world->features && i < (size_t)world->n_items * world->dim; i++) {
        double feature = (double)world->features[i];
        put_f64s(w, &feature, 1);
    }
}

/* Parameters without a field of their own. */
static void put_values(writer *w, const world_param *params, uint32_t n, const double *values)
{
    for (uint32_t i = 0; i < n; i++)
        if (!params[i].field) {
            double value = oltr_world_value(params, values, i);
            put_f64s(w, &value, 1);
        }
}

/* Of the many rows, their checksum. */
static void put_dataset(writer *w, const oltr_dataset *data)
{
    put_u32(w, data->n_queries);
    put_u32(w, data->n_rows);
    put_u32(w, data->dim);
    for (uint32_t q = 0; q < data->n_queries; q++) {
        put_u64(w, data->query[q]);
        put_u32(w, data->first_row[q + 1]);
    }
    put_u64(w, w->at ? crc64(data->x, (size_t)data->n_rows * data->dim * sizeof *data->x) : 0);
}

static void put_users(writer *w, const oltr_users *users, const oltr_dataset *data)
{
    put_optional(w, users->slot_chance, (size_t)data->n_queries * users->n_slots);
    put_optional(w, users->item_chance, data->n_rows);
    put_optional(w, users->user_chance, data->n_queries);
}

static void put_policy(writer *w, const oltr_contestant *c)
{
    put_text(w, c->label);
    put_text(w, c->settings.info->name);
    put_f64s(w, c->settings.value, c->settings.info->n_params);
    if (c->feedback || c->shared) {
        put_u32(w, c->feedback);
        put_u32(w, c->shared != 0);
    }
    if (c->items)
        put_u32(w, c->items);
    if (c->learning) {
        put_u32(w, c->learning->seen);
        put_u64(w, c->learning->forget_every);
        put_f64s(w, &c->learning->forget_keep, 1);
    }
    if (c->settings.custom_bytes) {
        put_u64(w, c->settings.custom_bytes);
        put_bytes(w, c->settings.custom, c->settings.custom_bytes);
    }
}

/* Every field of a world has its place here, whatever the kind.  A new parameter needs none: it is
 * in kind_values or click_values. */
static void put_experiment(writer *w, const oltr_experiment *e)
{
    const world_ops *kind = world_kind(&e->world, NULL);
    const click_ops *clicks = world_clicks(&e->world, NULL);
    put_u64(w, e->seed);
    put_u64(w, e->rounds);
    put_u32(w, e->slots);
    put_u32(w, e->replications);
    put_u32(w, e->n_checkpoints);
    for (uint32_t i = 0; i < e->n_checkpoints; i++)
        put_u64(w, e->checkpoint[i]);
    put_text(w,
             kind ? kind->info.name : ""); /* oltr_run() may get other points than were checked */
    put_u32(w, e->world.n_items);
    put_text(w, clicks ? clicks->info.name : "");
    put_u32(w, e->world.examined_without_click);
    put_f64s(w, &e->world.misspecification, 1);
    size_t given = e->world.dataset ? e->world.dataset->n_rows : e->world.n_items;
    put_optional(w, e->world.prior_a, given);
    put_optional(w, e->world.prior_b, given);
    put_optional(w, e->world.prior_mean, given);
    put_optional(w, e->world.prior_sd, given);
    put_u32(w, e->world.a_max);
    put_u32(w, e->world.instances_per_prior);
    put_optional(w, e->world.attraction, given);
    put_features(w, &e->world);
    if (e->world.dataset)
        put_dataset(w, e->world.dataset);
    if (e->world.dataset && e->world.users)
        put_users(w, e->world.users, e->world.dataset);
    put_u64(w, e->world.custom_bytes);
    put_bytes(w, e->world.custom, e->world.custom_bytes);
    if (kind)
        put_values(w, kind->params, kind->n_params, e->world.kind_values);
    if (clicks)
        put_values(w, clicks->params, clicks->n_params, e->world.click_values);
    put_optional(w, e->world.slot_chance, e->slots);
    put_f64s(w, &e->world.drift_walk, 1);
    put_f64s(w, &e->world.drift_jump, 1);
    put_u32(w, e->n_policies);
    for (uint32_t i = 0; i < e->n_policies; i++)
        put_policy(w, &e->policy[i]);
}

uint64_t experiment_digest(const oltr_experiment *points, uint32_t n_points)
{
    writer w = {NULL, 0, 0};
    uint64_t digest = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            w = (writer){malloc(w.used), w.used, 0};
            if (!w.at)
                return 0;
        }
        put_text(&w, oltr_version()); /* results may change between versions */
        put_u32(&w, n_points);
        for (uint32_t i = 0; i < n_points; i++)
            put_experiment(&w, &points[i]);
    }
    digest = crc64(w.at, w.used) | 1;
    free(w.at);
    return digest;
}
