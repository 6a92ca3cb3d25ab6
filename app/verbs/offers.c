/* offers.c - names and keys for the completion of shells, from the catalogues of the libraries. */
#include "app/verbs/offers.h"

#include "engine/base/file.h"
#include "lab/plan/keys.h"
#include "lab/plan/pool.h"

#include <oltr/plan.h>
#include <oltr/world_ops.h>
#include <stdlib.h>
#include <string.h>

/* ---- catalogues */

void offer_policies(const struct completion *to)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        completion_word(to, oltr_policy_info_at(i)->name, oltr_policy_info_at(i)->title);
}

void offer_grades(const struct completion *to)
{
    for (uint32_t i = 0; i < oltr_mapping_count(); i++)
        completion_word(to, oltr_mapping_at(i)->name, oltr_mapping_at(i)->summary);
}

void offer_shapes(const struct completion *to)
{
    for (uint32_t i = 0; i < oltr_shape_count() && to->arguments->n_operands == 0; i++)
        completion_word(to, oltr_shape_at(i)->name, oltr_shape_at(i)->summary);
}

void offer_commands(const struct completion *to)
{
    const struct arguments *given = to->arguments;
    const struct verb *family = given->n_operands > 0 ? verb_in(verbs, given->operand[0]) : NULL,
                      *table = given->n_operands == 0             ? verbs
                               : family && given->n_operands == 1 ? family->members
                                                                  : NULL;
    for (const struct verb *verb = table; verb && verb->name; verb++)
        completion_word(to, verb_word(verb), verb->summary);
    if (table == verbs)
        completion_word(to, "experiment", "the keys of an experiment file");
}

/* ---- parameters: PREFIX + "sigma=", and the words of a choice behind it */

struct key_offer {
    const struct completion *to;
    char last[COMPLETION_PART_SIZE];
};

static void offer_key(struct key_offer *keys, const char *prefix, const char *name,
                      const char *value, const char *help)
{
    char key[COMPLETION_PART_SIZE];
    int length = snprintf(key, sizeof key, "%s%s=%s", prefix, name, value);
    if (length > 0 && (size_t)length < sizeof key)
        completion_key(keys->to, key, help, keys->last);
}

/* "prior=" and, once that is typed, "prior=none" and its other words. */
static void offer_param(struct key_offer *keys, const char *prefix, const oltr_param *param)
{
    const char *typed = keys->to->typed;
    size_t before = strlen(prefix), length = strlen(param->name);
    bool at_value = strncmp(typed, prefix, before) == 0 &&
                    strncmp(typed + before, param->name, length) == 0 &&
                    typed[before + length] == '=';
    if (!at_value)
        offer_key(keys, prefix, param->name, "", param->help);
    for (const char *const *word = param->choices; at_value && word && *word; word++)
        offer_key(keys, prefix, param->name, *word, "");
}

static void offer_params(struct key_offer *keys, const char *prefix, const oltr_policy_info *info)
{
    for (uint32_t i = 0; i < info->n_params; i++)
        offer_param(keys, prefix, &info->params[i]);
}

/* ---- of a model */

static const char *const examine_rules[] = {"cascade", "last", "all", NULL};

/* Those of oltr_model_settings_set() that are not parameters of the policy. */
static const oltr_param model_settings[] = {
    {.name = "most_items", .help = "the most items that the model may have"},
    {.name = "window", .help = "how many ids of lists are remembered"},
    {.name = "examine", .choices = examine_rules, .help = "which slots of a list were looked at"},
    {.name = "default_prior", .help = "MEAN,SD or A,B of items without a prior"},
};
static const oltr_param feature_settings[] = {
    {.name = "dim", .help = "the number of features"},
    {.name = "candidates", .help = "the most candidates of a request"},
};

static const char *value_before(const struct completion *to, const char *name)
{
    return arguments_value(to->arguments, name);
}

void offer_model_keys(const struct completion *to)
{
    struct key_offer keys = {.to = to, .last = ""};
    const char *policy = value_before(to, "policy");
    const oltr_policy_info *info = policy ? oltr_policy_info_by_name(policy, NULL) : NULL;
    if (info)
        offer_params(&keys, "", info);
    for (size_t i = 0; i < sizeof model_settings / sizeof *model_settings; i++)
        offer_param(&keys, "", &model_settings[i]);
    for (size_t i = 0; (!info || info->contextual) && i < 2; i++)
        offer_param(&keys, "", &feature_settings[i]);
}

/* ---- of an experiment */

static void offer_section(struct key_offer *keys, const struct key_section *section)
{
    bool top = strcmp(section->title, "experiment") == 0;
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s%s", top ? "" : section->title, top ? "" : ".");
    for (const struct key *key = section->keys; key->name; key++) {
        bool has_keys = top && (strcmp(key->name, "world") == 0 ||
                                strcmp(key->name, "policies") == 0); /* offered by themselves */
        if (!has_keys)
            offer_key(keys, prefix, key->name, "", key->help);
    }
}

/* A shell takes such a word without quotes. */
static bool is_plain_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return *text != '\0' && text[strspn(text, plain)] == '\0';
}

static void offer_contestants(struct key_offer *keys, const oltr_experiment *experiment)
{
    for (uint32_t i = 0; i < experiment->n_policies; i++) {
        const oltr_contestant *policy = &experiment->policy[i];
        char prefix[128];
        snprintf(prefix, sizeof prefix, "policies.%.100s.", policy->label);
        if (is_plain_word(policy->label))
            offer_params(keys, prefix, policy->settings.info);
    }
}

/* The policies of FILE; a file that cannot be read, or is wrong, offers none. */
static void offer_policies_of_file(struct key_offer *keys, const char *path)
{
    enum { MOST_BYTES = 1 << 20 };
    unsigned char *text;
    size_t size;
    if (bytes_read(path, MOST_BYTES, &text, &size, NULL) != OLTR_OK)
        return;
    oltr_plan *plan = oltr_plan_parse(path, (const char *)text, size, NULL, 0, NULL);
    if (plan)
        offer_contestants(keys, &oltr_plan_points(plan)[0]);
    oltr_plan_free(plan);
    free(text);
}

void offer_experiment_keys(const struct completion *to)
{
    static const char *const settable[] = {"experiment", "world", "world.prior", "world.generated"};
    struct key_offer keys = {.to = to, .last = ""};
    struct pool pool = {NULL, 0};
    const struct key_section *section = key_sections(&pool);
    for (; section && section->title; section++)
        for (size_t i = 0; i < sizeof settable / sizeof *settable; i++)
            if (strcmp(section->title, settable[i]) == 0)
                offer_section(&keys, section);
    pool_free(&pool);
    if (to->arguments->n_operands > 0)
        offer_policies_of_file(&keys, to->arguments->operand[0]);
}
