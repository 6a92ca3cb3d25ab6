/* cmd_model_prior.c - `oltr model prior`: other priors for items of a model. */
#include "app/verbs/model_family.h"
#include "app/verbs/model_priors.h"

const struct option model_prior_options[] = {
    {0, "columns", "ROLE=NAME", NULL, "the column of the items, like item=sku"},
    {0, "lenient", NULL, NULL, "skip bad lines and count them, instead of stopping at the first"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* On a copy first, for a message with a line; then logged. */
static int give(const struct arguments *arguments, oltr_store *store,
                const struct prior_table *table)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model *model = oltr_store_load(store, &error);
    if (!model)
        return complain_failed(&error);
    int code = model_priors_give(arguments->operand[1], table, model);
    if (oltr_store_loaded(store, code == EXIT_OK, &error) != OLTR_OK && code == EXIT_OK)
        code = complain_failed(&error);
    return code;
}

int cmd_model_prior(const struct arguments *arguments)
{
    struct prior_table table = {.n = 0};
    oltr_store *store;
    int code = model_open(arguments->operand[0], true, OLTR_SYNC_ALWAYS, &store);
    if (code != EXIT_OK)
        return code;
    const oltr_model *model = oltr_store_read(store);
    const oltr_policy_info *info = oltr_model_settings_of(model)->policy.info;
    oltr_store_done(store);
    code = model_priors_read(arguments, arguments->operand[1], info, &table);
    if (code == EXIT_OK)
        code = give(arguments, store, &table);
    if (code == EXIT_OK && !arguments_has(arguments, "quiet")) {
        printf("priors of %u item%s from %s of %s\n", table.n, plural_s(table.n), table.form,
               arguments->operand[1]);
        model_say_size(arguments->operand[0], oltr_store_read(store));
        oltr_store_done(store);
    }
    prior_table_free(&table);
    return model_close(store, code);
}
