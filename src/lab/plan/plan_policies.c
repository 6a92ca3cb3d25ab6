/* plan_policies.c - the section `policies`: what is compared.  Parameters are checked against the
 * engine's own table. */
#include "lab/plan/plan_parts.h"
#include "lab/plan/world_keys.h"
#include "lab/world/world.h"
#include "engine/base/nearest.h"
#include "engine/base/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const oltr_param *find_param(const oltr_policy_info *info, const char *name)
{
    for (uint32_t i = 0; i < info->n_params; i++)
        if (strcmp(info->params[i].name, name) == 0)
            return &info->params[i];
    return NULL;
}

static bool unknown_kind(const struct reader *reader, const struct node *node, const char *kind)
{
    char hint[HINT_SIZE], name[QUOTE_SIZE];
    struct nearest nearest = nearest_to(kind);
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        nearest_offer(&nearest, oltr_policy_info_at(i)->name);
    bool near = nearest.best;
    return read_bad(reader, node, "no policy is called `%s`%s", quote_input(kind, name),
                    near ? nearest_hint(&nearest, hint) : "; `oltr policies` lists all of them");
}

static bool unknown_param(const struct reader *reader, const struct node *entry,
                          const oltr_policy_info *info)
{
    char hint[HINT_SIZE], name[QUOTE_SIZE], help[HINT_SIZE];
    struct nearest nearest = nearest_to(entry->key->text);
    for (const struct key *key = policy_keys; key->name; key++)
        nearest_offer(&nearest, key->name);
    for (uint32_t i = 0; i < info->n_params; i++)
        nearest_offer(&nearest, info->params[i].name);
    snprintf(help, sizeof help, "; `oltr policies %s` lists what it has", info->name);
    return read_bad(reader, entry->key, "%s has no parameter `%s`%s", info->name,
                    quote_input(entry->key->text, name),
                    nearest.best ? nearest_hint(&nearest, hint) : help);
}

static bool world_gives_prior(const oltr_world *world, const oltr_data_plan *data)
{
    const oltr_world_ops *kind = world_ops_of(world->kind, NULL);
    if (kind->traits & OLTR_WORLD_DATASET)
        return data->scores || data->rankers > 0;
    return kind->gives_prior && kind->gives_prior(world);
}

/* An error where a policy needs a prior and the world has none. */
static bool prior_is_there(const struct reader *reader, const struct node *entry,
                           const oltr_world *world, const oltr_data_plan *data)
{
    char value[QUOTE_SIZE];
    bool asks = strcmp(entry->key->text, "prior") == 0 && strcmp(entry->text, "none") != 0;
    if (!asks || world_gives_prior(world, data))
        return true;
    const struct node *root = entry->parent->parent->parent; /* above parameter, policy, list */
    return read_bad(
        reader, tree_blame(entry, tree_get(tree_get(root, "world"), "kind")),
        "`prior: %s` needs a prior, and this world has none%s", quote_input(entry->text, value),
        has_trait(world, OLTR_WORLD_PRIOR)     ? "; add `prior: {a: 1, b: 10}` to it"
        : has_trait(world, OLTR_WORLD_DATASET) ? "; give it `rankers: 10` or `scores: FILE`"
        : world_has_key(world, "prior_n")      ? "; add `prior_n: 20` to it"
                                               : "");
}

static bool set_param(const struct reader *reader, const struct node *entry,
                      const oltr_world *world, const oltr_data_plan *data, oltr_settings *settings)
{
    const char *value;
    oltr_error error = {OLTR_OK, ""};
    if (!find_param(settings->info, entry->key->text))
        return unknown_param(reader, entry, settings->info);
    if (!read_line(reader, entry, &value))
        return false;
    if (oltr_settings_set(settings, entry->key->text, value, &error) != OLTR_OK)
        return read_bad(reader, entry, "%s", error.msg);
    return prior_is_there(reader, entry, world, data);
}

/* `horizon` and `slots` of a policy are those of the experiment, unless the file sets them
 * otherwise. */
static bool set_default(const struct reader *reader, const struct node *map, const char *name,
                        uint64_t number, oltr_settings *settings)
{
    char value[24];
    oltr_error error = {OLTR_OK, ""};
    if (!find_param(settings->info, name) || tree_get(map, name))
        return true;
    snprintf(value, sizeof value, "%" PRIu64, number);
    return oltr_settings_set(settings, name, value, &error) == OLTR_OK ||
           read_bad(reader, map, "`%s` cannot be set from the experiment: %s", name, error.msg);
}

/* ---- how likely slots are examined: the parameters examine1, examine2, ... */

/* Below it a slot counts as examined so often: 0 is a parameter that was not given. */
#define LEAST_EXAMINED 1e-6

/* False where the policy has not as many of them; `n` is then how many it has. */
static bool set_examined(const double *share, uint32_t *n, oltr_settings *settings)
{
    for (uint32_t slot = 0; slot < *n; slot++) {
        char name[24];
        snprintf(name, sizeof name, "examine%" PRIu32, slot + 1);
        if (oltr_settings_set_number(settings, name, fmax(share[slot], LEAST_EXAMINED), NULL) !=
            OLTR_OK) {
            *n = slot;
            return false;
        }
    }
    return true;
}

static bool sets_examined(const struct node *map)
{
    for (const struct node *entry = map->first; entry; entry = entry->next)
        if (strncmp(entry->key->text, "examine", 7) == 0 || strcmp(entry->key->text, "decay") == 0)
            return true;
    return false;
}

/* The list has a number for slots 1..n, so a parameter examine1..n would not be read. */
static bool is_list_alone(const struct reader *reader, const struct node *map, uint32_t n)
{
    for (uint32_t slot = 0; slot < n; slot++) {
        char name[24];
        snprintf(name, sizeof name, "examine%" PRIu32, slot + 1);
        const struct node *entry = tree_get(map, name);
        if (entry)
            return read_bad(reader, entry->key,
                            "`examine` has a number for slot %" PRIu32 ", too; give one of the two",
                            slot + 1);
    }
    return true;
}

/* The list `examine` of the entry; without any word about it those of the world, where its users
 * examine slots by chance.  Slots beyond the parameters follow from the last by `decay`. */
static bool read_examined(const struct reader *reader, const struct node *map,
                          const oltr_world *world, uint32_t slots, oltr_settings *settings)
{
    const struct node *list = tree_get(map, "examine");
    const world_param *of_slots = slot_param(world_clicks(world, NULL));
    const double *share;
    uint32_t n;
    if (list && !find_param(settings->info, "examine1"))
        return unknown_param(reader, list, settings->info);
    if (list && !read_reals(reader, list, LEAST_EXAMINED, 1, &share, &n))
        return false;
    if (list && !is_list_alone(reader, map, n))
        return false;
    if (list)
        return set_examined(share, &n, settings) ||
               read_bad(reader, list,
                        "at most %" PRIu32 " numbers can be given; later slots follow by `decay`",
                        n);
    bool given = of_slots && strcmp(of_slots->about.name, "examine") == 0 && world->slot_chance;
    if (given && settings->info->knows_slots && !sets_examined(map))
        set_examined(world->slot_chance, &slots, settings);
    return true;
}

static bool read_forget(const struct reader *reader, const struct node *map, oltr_learning *how)
{
    const struct node *keep, *every = tree_get(map, "every");
    how->forget_every = 1;
    return read_map_keys(reader, map, "forget", forget_keys) &&
           read_required(reader, map, forget_keys, "keep", &keep) &&
           read_real(reader, keep, 0, 1, &how->forget_keep) &&
           (!every || read_whole(reader, every, 1, LONGEST_HORIZON, &how->forget_every));
}

/* `seen` and `forget`, where one of them is there. */
static bool read_learning(const struct reader *reader, const struct node *map,
                          oltr_contestant *policy)
{
    static const char *const readings[] = {"first", "last", "true", "all", NULL};
    const struct node *seen = tree_get(map, "seen"), *forget = tree_get(map, "forget");
    size_t word = 0;
    if (!seen && !forget)
        return true;
    oltr_learning *how = pool_get(reader->pool, 1, sizeof *how);
    if (!how)
        return read_no_memory(reader);
    policy->learning = how;
    if (seen && !read_word(reader, seen, readings, &word))
        return false;
    how->seen = seen ? (uint32_t)word + OLTR_SEEN_FIRST : OLTR_SEEN_USUAL;
    return !forget || read_forget(reader, forget, how);
}

/* What belongs to the experiment and not to the kind of policy. */
static bool read_part(const struct reader *reader, const struct node *map, oltr_contestant *policy)
{
    static const char *const feedback[] = {"rewards", "clicks", "both", NULL};
    const struct node *learns = tree_get(map, "feedback"), *shared = tree_get(map, "shared");
    size_t word = 0;
    bool is_shared = false;
    if ((learns && !read_word(reader, learns, feedback, &word)) ||
        (shared && !read_truth(reader, shared, &is_shared)))
        return false;
    policy->feedback = (uint32_t)word;
    policy->shared = is_shared;
    if (tree_get(map, "items") &&
        !read_count(reader, map, policy_keys, "items", 1, MOST_WORLD_ITEMS, &policy->items))
        return false;
    return read_learning(reader, map, policy);
}

static bool is_policy_key(const char *name)
{
    const struct key *key = policy_keys;
    while (key->name && strcmp(key->name, name) != 0)
        key++;
    return key->name;
}

static bool read_policy(const struct reader *reader, const struct node *map,
                        const oltr_data_plan *data, const oltr_experiment *point,
                        oltr_contestant *policy)
{
    const struct node *kind, *name = tree_get(map, "name");
    const char *text;
    oltr_error error = {OLTR_OK, ""};
    if (map->type != NODE_MAP)
        return read_bad(reader, map, "a policy must be a map, like {name: GTS, kind: gts}");
    if (!read_required(reader, map, policy_keys, "kind", &kind) || !read_line(reader, kind, &text))
        return false;
    if (!oltr_policy_info_by_name(text, NULL))
        return unknown_kind(reader, kind, text);
    if (oltr_settings_init(&policy->settings, text, point->world.n_items, &error) != OLTR_OK)
        return read_bad(reader, kind, "%s", error.msg);
    policy->label = text;
    if ((name && !read_line(reader, name, &policy->label)) || !read_part(reader, map, policy))
        return false;
    for (const struct node *entry = map->first; entry; entry = entry->next)
        if (!is_policy_key(entry->key->text) &&
            !set_param(reader, entry, &point->world, data, &policy->settings))
            return false;
    policy->settings.dim = point->world.dim;
    return set_default(reader, map, "horizon", point->rounds, &policy->settings) &&
           set_default(reader, map, "slots", point->slots, &policy->settings) &&
           read_examined(reader, map, &point->world, point->slots, &policy->settings);
}

/* Where the label of a policy was set, if not by the file. */
static const struct node *set_label(const struct node *map)
{
    const struct node *name = tree_get(map, "name"), *label = name ? name : tree_get(map, "kind");
    return label && label->is_set ? label : NULL;
}

/* Two policies of one name could not be distinguished in the results. */
static bool is_new_label(const struct reader *reader, const struct node *map,
                         const oltr_contestant *policy, uint32_t i)
{
    char label[QUOTE_SIZE];
    const struct node *other = map->parent->first, *set = set_label(map);
    for (uint32_t j = 0; j < i; j++, other = other->next) {
        if (strcmp(policy[j].label, policy[i].label) != 0)
            continue;
        set = set ? set : set_label(other);
        return read_bad(reader, set ? set : map,
                        "two policies are called `%s`; give each its own `name`",
                        quote_input(policy[i].label, label));
    }
    return true;
}

bool plan_policies(const struct reader *reader, const struct node *root, const oltr_data_plan *data,
                   oltr_experiment *point)
{
    const struct node *list;
    if (!read_required(reader, root, experiment_keys, "policies", &list))
        return false;
    if (list->type == NODE_LIST && (list->count == 0 || list->count > MOST_CONTESTANTS))
        return read_bad(reader, list, "`policies` must have at least one entry and at most %d",
                        MOST_CONTESTANTS);
    if (!read_list(reader, list))
        return false;
    oltr_contestant *policy = pool_get(reader->pool, list->count, sizeof *policy);
    if (!policy)
        return read_no_memory(reader);
    uint32_t count = 0;
    for (const struct node *map = list->first; map; map = map->next, count++)
        if (!read_policy(reader, map, data, point, &policy[count]) ||
            !is_new_label(reader, map, policy, count))
            return false;
    point->policy = policy;
    point->n_policies = count;
    return true;
}

/* Notes do not change what is simulated, so they are read once, not for every point of a sweep. */
bool plan_notes(const struct reader *reader, const struct node *root, oltr_plan *plan)
{
    const struct node *list = tree_get(root, "policies");
    const char **note = pool_get(reader->pool, list->count, sizeof *note);
    if (!note)
        return read_no_memory(reader);
    plan->note = note;
    for (const struct node *map = list->first; map; map = map->next, note++) {
        const struct node *node = tree_get(map, "note");
        if (node && !read_paragraph(reader, node, note))
            return false;
    }
    return true;
}
