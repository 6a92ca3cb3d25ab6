/* cmd_model_remove.c - `oltr model remove` and `oltr model reset`. */
#include "app/verbs/model_family.h"

const struct option model_remove_options[] = {
    {0, "items-from", "FILE", NULL, "a file with one name a line; `-` is standard input"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};
const struct option model_reset_options[] = {
    {0, "items-from", "FILE", NULL, "a file with one name a line; `-` is standard input"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

typedef oltr_status change_names(oltr_store *store, const oltr_name *name, uint32_t n,
                                 uint32_t *changed, oltr_error *error);

static int change(const struct arguments *arguments, change_names *call, const char *done)
{
    struct model_names names;
    oltr_error error = {OLTR_OK, ""};
    uint32_t changed = 0;
    oltr_store *store = NULL;
    int code = model_names_read(arguments, 1, &names);
    if (code == EXIT_OK && names.n == 0)
        code = complain(EXIT_USAGE, "%s needs the names of items: ITEM... or --items-from FILE",
                        arguments->verb->name);
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], true, OLTR_SYNC_ALWAYS, &store);
    if (code == EXIT_OK && call(store, names.name, names.n, &changed, &error) != OLTR_OK)
        code = complain_failed(&error);
    if (code == EXIT_OK && !arguments_has(arguments, "quiet")) {
        printf("%u item%s %s; %u not in the model\n", changed, plural_s(changed), done,
               names.n - changed);
        model_say_size(arguments->operand[0], oltr_store_read(store));
        oltr_store_done(store);
    }
    model_names_free(&names);
    return model_close(store, code);
}

int cmd_model_remove(const struct arguments *arguments)
{
    return change(arguments, oltr_store_remove, "removed");
}

int cmd_model_reset(const struct arguments *arguments)
{
    return change(arguments, oltr_store_reset, "reset");
}
