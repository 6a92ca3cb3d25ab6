/* cmd_model_merge.c - `oltr model merge`: adds what other models have learned.  All or none: the
 * models are merged into a copy, which takes the place of the model at the end. */
#include "app/verbs/model_family.h"

const struct option model_merge_options[] = {
    {0, "id", "TEXT", NULL, "of this merge, so that it counts once; with one OTHER"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

static int check_others(const struct arguments *arguments)
{
    for (uint32_t i = 1; i < arguments->n_operands; i++)
        if (is_one_file(arguments->operand[0], arguments->operand[i]))
            return complain(EXIT_USAGE, "%s would be added to itself; give other models",
                            arguments->operand[i]);
    return EXIT_OK;
}

static int merge_one(oltr_model *into, const char *path, oltr_name id, int *applied)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_store *from;
    int code = model_open(path, false, OLTR_SYNC_NONE, &from);
    if (code != EXIT_OK)
        return code;
    oltr_status status = oltr_model_merge(into, oltr_store_read(from), id, applied, &error);
    oltr_store_done(from);
    return model_close(from, status == OLTR_OK ? EXIT_OK
                                               : complain(EXIT_FAILED, "%s: %s", path, error.msg));
}

static int merge_all(const struct arguments *arguments, oltr_store *store, oltr_name id,
                     int *applied)
{
    oltr_error error = {OLTR_OK, ""};
    int code = EXIT_OK;
    oltr_model *model = oltr_store_load(store, &error);
    if (!model)
        return complain_failed(&error);
    for (uint32_t i = 1; code == EXIT_OK && i < arguments->n_operands; i++)
        code = merge_one(model, arguments->operand[i], id, applied);
    if (oltr_store_loaded(store, code == EXIT_OK && *applied, &error) != OLTR_OK && code == EXIT_OK)
        code = complain_failed(&error);
    return code;
}

int cmd_model_merge(const struct arguments *arguments)
{
    oltr_name id;
    oltr_store *store;
    int applied = 0, code = model_id(arguments, &id);
    if (code == EXIT_OK && id.size > 0 && arguments->n_operands > 2)
        code = complain(EXIT_USAGE, "--id is of one merge; give one OTHER with it");
    if (code == EXIT_OK)
        code = check_others(arguments);
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], true, OLTR_SYNC_ALWAYS, &store);
    if (code != EXIT_OK)
        return code;
    code = merge_all(arguments, store, id, &applied);
    if (code == EXIT_OK && !arguments_has(arguments, "quiet")) {
        if (!applied)
            puts("this id was used before; nothing was changed");
        model_say_size(arguments->operand[0], oltr_store_read(store));
        oltr_store_done(store);
    }
    return model_close(store, code);
}
