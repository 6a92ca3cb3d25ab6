/* cmd_model_create.c - `oltr model create`: a new model from a policy and priors, from a dump, or
 * from what another model believes.  The model is made in memory; the file appears when it is
 * complete. */
#define _GNU_SOURCE 1 /* getentropy */
#include "app/args/value.h"
#include "app/verbs/model_family.h"
#include "app/verbs/model_json.h"
#include "app/verbs/model_priors.h"
#include "app/verbs/offers.h"
#include "engine/base/quote.h"
#include "engine/base/reads_prior.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

const struct option model_create_options[] = {
    {'p', "policy", "NAME", NULL, "the policy, like ts-hyper; `oltr policies` lists them",
     .offer = offer_policies},
    {0, "set", "KEY=VALUE", NULL,
     "a parameter of the policy or a setting of the model, like --set window=1000000; repeat it "
     "for others",
     .offer = offer_model_keys},
    {0, "prior", "FILE", NULL, "priors of items, CSV; `-` is standard input"},
    {0, "columns", "ROLE=NAME", NULL, "with --prior: the column of the items, like item=sku"},
    {0, "lenient", NULL, NULL, "with --prior: skip bad lines and count them"},
    {0, "from", "FILE", NULL, "the model of a dump (`oltr model dump`) instead of a new one"},
    {0, "like", "MODEL", NULL,
     "a model whose prior is what MODEL believes; with its items, without its lessons"},
    {0, "strength", "W", NULL,
     "with --like: how sure the prior is, compared with MODEL: above 0, up to 1 (default: 1)"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- settings */

static int set_one(oltr_model_settings *settings, const char *text)
{
    oltr_error error = {OLTR_OK, ""};
    char key[64], word[QUOTE_SIZE];
    size_t length = strcspn(text, "=");
    if (text[length] != '=' || length == 0 || length >= sizeof key)
        return complain(EXIT_USAGE, "--set needs KEY=VALUE, like --set window=1000000, not `%s`",
                        quote_input(text, word));
    memcpy(key, text, length);
    key[length] = '\0';
    return oltr_model_settings_set(settings, key, text + length + 1, &error) == OLTR_OK
               ? EXIT_OK
               : complain(EXIT_USAGE, "--set %s: %s", quote_input(text, word), error.msg);
}

/* Did --set name this key? */
static bool is_set(const struct arguments *arguments, const char *key)
{
    size_t length = strlen(key);
    for (uint32_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, "set") == 0 &&
            strncmp(arguments->given[i].value, key, length) == 0 &&
            arguments->given[i].value[length] == '=')
            return true;
    return false;
}

static int read_settings(const struct arguments *arguments, oltr_model_settings *settings)
{
    oltr_error error = {OLTR_OK, ""};
    const char *policy = arguments_value(arguments, "policy");
    if (!policy)
        return complain(EXIT_USAGE, "model create needs --policy NAME; ts-hyper has no number to "
                                    "set, `oltr policies` lists all");
    if (oltr_model_settings_init(settings, policy, &error) != OLTR_OK)
        return complain(EXIT_USAGE, "%s", error.msg);
    if (getentropy(settings->name_key, sizeof settings->name_key) != 0)
        return complain(EXIT_FAILED, "the system has no random numbers");
    for (uint32_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, "set") == 0) {
            int code = set_one(settings, arguments->given[i].value);
            if (code != EXIT_OK)
                return code;
        }
    return EXIT_OK;
}

/* ---- priors */

/* A model with priors takes them whole, and has one for items that come later. */
static int prepare_for_priors(const struct arguments *arguments, const struct prior_table *table,
                              oltr_model_settings *settings)
{
    oltr_error error = {OLTR_OK, ""};
    const oltr_policy_info *info = settings->policy.info;
    if (!is_set(arguments, "prior") && !prior_is_taken(&settings->policy) &&
        oltr_settings_set(&settings->policy, "prior", "full", &error) != OLTR_OK)
        return complain(EXIT_USAGE, "%s", error.msg);
    if (!prior_is_taken(&settings->policy))
        return complain(EXIT_USAGE, "with --set prior=none %s does not read --prior", info->name);
    if (isnan(settings->prior[0])) {
        prior_table_average(table, info->takes_moments, settings->prior);
        if (!arguments_has(arguments, "quiet"))
            printf("items without a prior of their own: %s %.4g, %s %.4g, the average of the file "
                   "(--set default_prior=%.4g,%.4g)\n",
                   info->takes_moments ? "mean" : "a", settings->prior[0],
                   info->takes_moments ? "sd" : "b", settings->prior[1], settings->prior[0],
                   settings->prior[1]);
    }
    return EXIT_OK;
}

static int make_with_priors(const struct arguments *arguments, oltr_model_settings *settings,
                            const char *path, oltr_model **out)
{
    oltr_error error = {OLTR_OK, ""};
    struct prior_table table;
    int code = model_priors_read(arguments, path, settings->policy.info, &table);
    if (code == EXIT_OK)
        code = prepare_for_priors(arguments, &table, settings);
    if (code == EXIT_OK) {
        *out = oltr_model_new(settings, &error);
        code = *out ? model_priors_give(path, &table, *out) : complain(EXIT_USAGE, "%s", error.msg);
    }
    if (code == EXIT_OK && !arguments_has(arguments, "quiet"))
        printf("priors from %s of %s\n", table.form, path);
    prior_table_free(&table);
    return code;
}

/* ---- the three kinds of beginnings */

static int make_new(const struct arguments *arguments, oltr_model **out)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings;
    const char *prior = arguments_value(arguments, "prior");
    int code = read_settings(arguments, &settings);
    if (code != EXIT_OK)
        return code;
    if (prior)
        return make_with_priors(arguments, &settings, prior, out);
    *out = oltr_model_new(&settings, &error);
    return *out ? EXIT_OK : complain(EXIT_USAGE, "%s", error.msg);
}

static int make_like(const struct arguments *arguments, const char *path, oltr_model **out)
{
    oltr_error error = {OLTR_OK, ""};
    double strength = 1;
    int code = value_real(arguments, "strength", 1e-9, 1, &strength);
    oltr_store *parent;
    if (code == EXIT_OK)
        code = model_open(path, false, OLTR_SYNC_NONE, &parent);
    if (code != EXIT_OK)
        return code;
    *out = oltr_model_like(oltr_store_read(parent), strength, NULL, &error);
    oltr_store_done(parent);
    return model_close(parent, *out ? EXIT_OK : complain_of(&error));
}

static int check_request(const struct arguments *arguments)
{
    static const char *const alone[] = {"policy", "set", "prior"};
    const char *kind = arguments_has(arguments, "from") ? "from" : "like";
    bool both = arguments_has(arguments, "from") && arguments_has(arguments, "like");
    if (both)
        return complain(EXIT_USAGE, "--from and --like both make the model; give one of them");
    for (size_t i = 0; arguments_has(arguments, kind) && i < sizeof alone / sizeof *alone; i++)
        if (arguments_has(arguments, alone[i]))
            return complain(EXIT_USAGE,
                            "--%s takes everything from the other model; leave --%s out", kind,
                            alone[i]);
    if (arguments_has(arguments, "strength") && !arguments_has(arguments, "like"))
        return complain(EXIT_USAGE, "--strength needs --like MODEL");
    return EXIT_OK;
}

/* Puts the model into its file. */
static int store_model(const struct arguments *arguments, const oltr_model *model)
{
    const char *path = arguments->operand[0];
    oltr_error error = {OLTR_OK, ""};
    oltr_store_state state;
    oltr_store_options options = {.size = sizeof options, .create_from = model};
    oltr_store *store = oltr_store_open(path, &options, &error);
    if (!store)
        return complain_failed(&error);
    oltr_store_stat(store, &state);
    if (!state.created)
        return model_close(store,
                           complain(EXIT_USAGE, "%s exists already; it was not changed", path));
    int code = model_close(store, EXIT_OK);
    if (code == EXIT_OK && !arguments_has(arguments, "quiet")) {
        printf("%s, ", oltr_model_settings_of(model)->policy.info->name);
        model_say_size(path, model);
    }
    return code;
}

int cmd_model_create(const struct arguments *arguments)
{
    const char *path = arguments->operand[0], *from = arguments_value(arguments, "from"),
               *like = arguments_value(arguments, "like");
    oltr_model *model = NULL;
    if (access(path, F_OK) == 0)
        return complain(EXIT_USAGE,
                        "%s exists already; give another name, or remove it and %s.log first", path,
                        path);
    int code = check_request(arguments);
    if (code == EXIT_OK)
        code = from   ? model_from_json(from, &model)
               : like ? make_like(arguments, like, &model)
                      : make_new(arguments, &model);
    if (code == EXIT_OK)
        code = store_model(arguments, model);
    oltr_model_free(model);
    return code;
}
