/* plan.c - see plan.h.
 *
 * The text is parsed once, into a tree.  Each point of a sweep is a copy of that tree with other
 * values (plan_sweep.c), and is read from its copy: so a swept value is checked as strictly as a
 * written one. */
#include "lab/plan/plan_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/quote.h"
#include "engine/base/struct_check.h"
#include "lab/lab_limits.h"
#include "lab/plan/plan_parts.h"
#include "lab/sim/arena.h"
#include "lab/sim/results.h"
#include "lab/sim/workload.h"
#include "lab/world/world.h"

/* ---- one point */

static bool read_checkpoint_list(const struct reader *reader, const struct node *list,
                                 const struct node *rounds, oltr_experiment *point)
{
    if (!read_list(reader, list))
        return false;
    uint64_t *round =
        list->count <= MOST_CHECKPOINTS ? pool_get(reader->pool, list->count, sizeof *round) : NULL;
    if (!round)
        return read_no_memory(reader);
    point->checkpoint = round;
    for (const struct node *entry = list->first; entry; entry = entry->next, round++) {
        if (!read_whole(reader, entry, 1, LONGEST_HORIZON, round))
            return false;
        if (*round > point->rounds)
            return read_bad(reader, tree_blame(entry, rounds),
                            "checkpoint %s is beyond the last round, %llu; shorten the list or use "
                            "--checkpoints 20",
                            entry->text, (unsigned long long)point->rounds);
        if (round > point->checkpoint && *round <= round[-1])
            return read_bad(reader, entry, "checkpoints must rise: %s comes after %llu",
                            entry->text, (unsigned long long)round[-1]);
    }
    point->n_checkpoints = (uint32_t)list->count;
    return true;
}

static bool read_checkpoints(const struct reader *reader, const struct node *root,
                             oltr_experiment *point)
{
    const struct node *node = tree_get(root, "checkpoints");
    uint32_t wanted = 200;
    if (node && node->type == NODE_LIST)
        return read_checkpoint_list(reader, node, tree_get(root, "rounds"), point);
    if (node && !read_whole32(reader, node, 1, MOST_CHECKPOINTS, &wanted))
        return false;
    uint32_t count = oltr_checkpoints(point->rounds, wanted, NULL, 0);
    uint64_t *round = pool_get(reader->pool, count, sizeof *round);
    point->checkpoint = round;
    point->n_checkpoints = !round ? 0 : oltr_checkpoints(point->rounds, wanted, round, count);
    return (count > 0 && point->n_checkpoints == count) || read_no_memory(reader);
}

static bool read_counts(const struct reader *reader, const struct node *root,
                        oltr_experiment *point)
{
    const struct node *rounds, *seed = tree_get(root, "seed");
    point->seed = 1;
    return (!seed || read_whole(reader, seed, 0, UINT64_MAX, &point->seed)) &&
           read_required(reader, root, experiment_keys, "rounds", &rounds) &&
           read_whole(reader, rounds, 1, LONGEST_HORIZON, &point->rounds) &&
           read_count(reader, root, experiment_keys, "slots", 1, MOST_WORLD_ITEMS, &point->slots) &&
           read_count(reader, root, experiment_keys, "replications", 1, MOST_REPLICATIONS,
                      &point->replications);
}

static bool slots_fit(const struct reader *reader, const struct node *root,
                      const oltr_experiment *point)
{
    const struct node *world = tree_get(root, "world"), *items = tree_get(world, "items");
    items = items                       ? items
            : tree_get(world, "levels") ? tree_get(world, "levels")
                                        : tree_get(world, "attraction");
    return point->slots <= point->world.n_items ||
           has_trait(&point->world, OLTR_WORLD_DATASET | OLTR_WORLD_FITTED) ||
           read_bad(reader, tree_blame(tree_get(root, "slots"), items),
                    "there are %u slots, but the world has only %u item%s to fill them",
                    point->slots, point->world.n_items, point->world.n_items == 1 ? "" : "s");
}

/* Of the click model cascade: more slots than are shown cannot be examined. */
static bool no_click_fits(const struct reader *reader, const struct node *root,
                          oltr_experiment *point)
{
    const struct node *node = tree_get(tree_get(root, "world"), "no_click");
    return point->world.examined_without_click <= point->slots ||
           read_whole32(reader, node, 1, point->slots, &point->world.examined_without_click);
}

/* A list of numbers of slots, of the click model, is as long as there are slots. */
static bool slot_list_fits(const struct reader *reader, const struct node *root,
                           const oltr_experiment *point)
{
    const world_param *param = slot_param(world_clicks(&point->world, NULL));
    const struct node *list = param ? tree_get(tree_get(root, "world"), param->about.name) : NULL;
    return !list || !point->world.slot_chance || list->count == point->slots ||
           read_bad(reader, tree_blame(list, tree_get(root, "slots")),
                    "the list has %zu number%s, and there are %u slots; give one for each",
                    list->count, list->count == 1 ? "" : "s", point->slots);
}

/* The entry of the policy that the simulator refuses, with its words, or the kind that a flag gave
 * it.  NULL: it refuses the world, or all policies together. */
static const struct node *refused_policy(const struct node *root, const oltr_experiment *point,
                                         oltr_error *error)
{
    oltr_experiment one = *point;
    oltr_error why = {OLTR_OK, ""};
    const struct node *entry = tree_get(root, "policies")->first;
    one.n_policies = 1;
    if (experiment_check_setting(&one, NULL) != OLTR_OK)
        return NULL;
    for (uint32_t i = 0; i < point->n_policies; i++, entry = entry->next) {
        one.policy = &point->policy[i];
        if (oltr_experiment_check(&one, &why) != OLTR_OK) {
            *error = why;
            return tree_blame(entry, tree_get(entry, "kind"));
        }
    }
    return NULL;
}

/* The checks of the simulator. */
static bool simulator_accepts(const struct reader *reader, const struct node *root,
                              const oltr_experiment *point)
{
    oltr_error error = {OLTR_OK, ""};
    bool complete =
        !has_trait(&point->world, OLTR_WORLD_DATASET | OLTR_WORLD_FITTED); /* else with its data */
    if (!complete || oltr_experiment_check(point, &error) == OLTR_OK)
        return true;
    const struct node *refused = refused_policy(root, point, &error);
    if (refused)
        tree_fail_at(refused, reader->error, error.msg);
    else
        set_error(reader->error, error.code, "%s: %s", root->origin, error.msg);
    reader->error->code = error.code;
    return false;
}

static bool read_point(const struct reader *reader, const struct node *root, oltr_experiment *point,
                       oltr_data_plan *data)
{
    return read_map_keys(reader, root, "the experiment", experiment_keys) &&
           read_counts(reader, root, point) && plan_world(reader, root, &point->world, data) &&
           slots_fit(reader, root, point) && no_click_fits(reader, root, point) &&
           slot_list_fits(reader, root, point) && read_checkpoints(reader, root, point) &&
           plan_policies(reader, root, data, point) && simulator_accepts(reader, root, point);
}

/* ---- the document */

/* libyaml accepts UTF-8 only; overrides come from a command line, which may be anything. */
static bool override_is_text(const struct reader *reader, const struct override *override)
{
    if (text_is_line(override->key) && text_is_line(override->value))
        return true;
    set_error(reader->error, OLTR_EVALUE, "%.40s: the key and the value must be UTF-8 text",
              override->origin);
    return false;
}

/* ---- the points */

static bool read_points(const struct reader *reader, oltr_plan *plan)
{
    plan->points = pool_get(reader->pool, plan->n_points, sizeof *plan->points);
    plan->data = pool_get(reader->pool, plan->n_points, sizeof *plan->data);
    plan->replications = pool_get(reader->pool, plan->n_points, sizeof *plan->replications);
    if (!plan->points || !plan->data || !plan->replications)
        return read_no_memory(reader);
    for (uint32_t i = 0; i < plan->n_points; i++) {
        const struct node *root = plan_sweep_to(reader, plan, i);
        if (!root || !read_point(reader, root, &plan->points[i], &plan->data[i]))
            return false;
        plan->replications[i] = plan->points[i].replications;
    }
    return true;
}

/* ---- opening and reading */

/* The name of the file without folders and without its ending. */
static const char *base_name(const struct reader *reader, const char *name)
{
    const char *slash = strrchr(name, '/'), *start = slash ? slash + 1 : name,
               *dot = strrchr(start, '.');
    size_t length = dot && dot > start ? (size_t)(dot - start) : strlen(start);
    const char *copy =
        pool_text(reader->pool, start, length < LONGEST_LINE ? length : LONGEST_LINE);
    return copy && text_is_line(copy) && *copy != '\0' ? copy : "experiment";
}

static bool read_kind(const struct reader *reader, oltr_plan *plan)
{
    const struct node *node = tree_get(plan->root, "kind");
    plan->kind = "regret";
    if (!node || !read_line(reader, node, &plan->kind))
        return !node;
    return strcmp(plan->kind, "regret") == 0 || strcmp(plan->kind, "concentration") == 0 ||
           read_bad(reader, node, "an experiment must be of kind regret or concentration");
}

static bool read_title(const struct reader *reader, oltr_plan *plan)
{
    const struct node *title = tree_get(plan->root, "title");
    plan->title = title ? NULL : base_name(reader, plan->root->origin);
    return !title || read_line(reader, title, &plan->title);
}

oltr_plan *plan_open(const char *name, const char *text, size_t length, oltr_error *error)
{
    oltr_error own;
    oltr_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        set_error(error, OLTR_ENOMEM, "out of memory");
        return NULL;
    }
    struct reader reader = {&plan->pool, error ? error : &own};
    plan->root = tree_parse(reader.pool, name, text, length, MOST_KEYS,
                            "an experiment needs rounds, world and policies", reader.error);
    if (plan->root && plan->root->type == NODE_MAP)
        return plan;
    if (plan->root)
        read_bad(&reader, plan->root, "an experiment is a map of keys, like `rounds: 10000`");
    oltr_plan_free(plan);
    return NULL;
}

bool plan_override(oltr_plan *plan, const struct overrides *overrides, oltr_error *error)
{
    oltr_error own;
    struct reader reader = {&plan->pool, error ? error : &own};
    if (overrides)
        plan->overrides = *overrides;
    for (uint32_t i = 0; i < plan->overrides.count; i++) {
        const struct override *override = &plan->overrides.item[i];
        if (!override_is_text(&reader, override) ||
            tree_set(reader.pool, plan->root, override, reader.error) != OLTR_OK)
            return false;
    }
    return read_kind(&reader, plan) && read_title(&reader, plan);
}

bool plan_read(oltr_plan *plan, oltr_error *error)
{
    oltr_error own;
    struct reader reader = {&plan->pool, error ? error : &own};
    bool good = plan_sweep(&reader, plan) && read_points(&reader, plan) &&
                plan_notes(&reader, plan->root, plan);
    plan->overrides = (struct overrides){0, NULL};
    return good;
}

void oltr_plan_free(oltr_plan *plan)
{
    if (!plan)
        return;
    if (plan->loaded)
        plan->free_loaded(plan->loaded);
    pool_free(&plan->pool);
    free(plan);
}

/* ---- the public calls */

/* "world.items=100", or what the caller calls it, made fit for a message. */
static const char *origin_of(const oltr_override *from, struct pool *pool)
{
    char text[2 * QUOTE_SIZE + 2], word[QUOTE_SIZE];
    if (!from->origin)
        snprintf(text, sizeof text, "%.*s=%.*s", QUOTE_SIZE, from->key, QUOTE_SIZE, from->value);
    const char *quoted = quote_input(from->origin ? from->origin : text, word);
    return pool_text(pool, quoted, strlen(quoted));
}

static const struct override *own_overrides(const oltr_override *from, uint32_t count,
                                            struct pool *pool, oltr_error *error)
{
    struct override *own = pool_get(pool, (size_t)count + 1, sizeof *own);
    for (uint32_t i = 0; own && i < count; i++) {
        if (!from[i].key || !from[i].value) {
            set_error(error, OLTR_EINVAL, "override %u lacks a key or a value", i + 1);
            return NULL;
        }
        if (reserved_check("an override", 0, from[i].reserved, sizeof from[i].reserved, error) !=
            OLTR_OK)
            return NULL;
        own[i] = (struct override){
            .origin = origin_of(&from[i], pool), .key = from[i].key, .value = from[i].value};
        if (!own[i].origin)
            own = NULL;
    }
    if (!own)
        set_error(error, OLTR_ENOMEM, "out of memory");
    return own;
}

static oltr_plan *parse(const char *name, const char *text, size_t length,
                        const struct overrides *overrides, oltr_error *error)
{
    oltr_plan *plan = plan_open(name, text, length, error);
    bool known = plan && plan_override(plan, overrides, error);
    bool good = known && strcmp(plan->kind, "regret") == 0;
    if (known && !good)
        tree_fail(tree_get(plan->root, "kind"), error,
                  "an experiment of kind concentration simulates nothing; `oltr run` draws it");
    if (good && plan_read(plan, error))
        return plan;
    oltr_plan_free(plan);
    return NULL;
}

oltr_plan *oltr_plan_parse(const char *name, const char *text, size_t length,
                           const oltr_override *overrides, uint32_t n_overrides, oltr_error *error)
{
    struct pool pool = {NULL, 0};
    oltr_plan *plan = NULL;
    if (!name || !text || (!overrides && n_overrides > 0)) {
        set_error(error, OLTR_EINVAL, "a name, a text and the overrides are needed");
        return NULL;
    }
    struct overrides own = {n_overrides, own_overrides(overrides, n_overrides, &pool, error)};
    if (own.item)
        plan = parse(name, text, length, &own, error);
    pool_free(&pool);
    return plan;
}

oltr_results *oltr_plan_results(const oltr_plan *plan, oltr_error *error)
{
    if (!plan) {
        set_error(error, OLTR_EINVAL, "there is no plan");
        return NULL;
    }
    for (uint32_t i = 0; i < plan->n_points; i++)
        if (plan_needs_data(plan, i) || plan_needs_users(plan, i)) {
            set_error(error, OLTR_EINVAL,
                      "point %u has no data yet: load them with oltr_plan_load_data(), or give "
                      "them with oltr_plan_give_data()",
                      i + 1);
            return NULL;
        }
    return results_of_checked(plan->points, plan->n_points, error);
}

const char *oltr_plan_title(const oltr_plan *plan)
{
    return plan ? plan->title : NULL;
}

double plan_guess_round(const oltr_experiment *point, uint32_t policy)
{
    return guess_round(point, policy);
}

uint32_t oltr_plan_n_points(const oltr_plan *plan)
{
    return plan ? plan->n_points : 0;
}

const oltr_experiment *oltr_plan_points(const oltr_plan *plan)
{
    return plan ? plan->points : NULL;
}

const char *oltr_plan_sweep_key(const oltr_plan *plan)
{
    return plan ? plan->sweep_key : NULL;
}

const char *oltr_plan_sweep_value(const oltr_plan *plan, uint32_t point)
{
    return plan && plan->sweep && point < plan->n_points ? plan->sweep[point] : NULL;
}

uint32_t oltr_plan_n_sweep_keys(const oltr_plan *plan)
{
    return plan ? plan->n_axes : 0;
}

const char *oltr_plan_sweep_key_at(const oltr_plan *plan, uint32_t key)
{
    return plan && key < plan->n_axes ? plan->axis[key].name : NULL;
}

const char *oltr_plan_sweep_value_at(const oltr_plan *plan, uint32_t point, uint32_t key)
{
    bool there = plan && key < plan->n_axes && point < plan->n_points;
    return there ? plan->axis[key].value[plan_sweep_place(plan, point, key)] : NULL;
}

const char *oltr_plan_note(const oltr_plan *plan, uint32_t policy)
{
    bool there = plan && plan->note && policy < plan->points[0].n_policies;
    return there ? plan->note[policy] : NULL;
}
