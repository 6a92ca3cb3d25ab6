/* cmd_model_forget.c - `oltr model forget`: what was learned counts less. */
#include "app/args/value.h"
#include "app/verbs/model_family.h"

const struct option model_forget_options[] = {
    {0, "keep", "SHARE", NULL, "the share of every observation that is kept, 0 to 1"},
    {0, "id", "TEXT", NULL, "of this step, so that it counts once: like the date"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_model_forget(const struct arguments *arguments)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_name id;
    double keep = 1;
    oltr_store *store;
    int applied = 0, code = model_id(arguments, &id);
    if (code == EXIT_OK && !arguments_has(arguments, "keep"))
        code = complain(EXIT_USAGE, "model forget needs --keep SHARE, from 0 to 1");
    if (code == EXIT_OK)
        code = value_real(arguments, "keep", 0, 1, &keep);
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], true, OLTR_SYNC_ALWAYS, &store);
    if (code != EXIT_OK)
        return code;
    if (oltr_store_forget(store, keep, id, &applied, &error) != OLTR_OK)
        code = complain_failed(&error);
    if (code == EXIT_OK && !arguments_has(arguments, "quiet"))
        puts(applied ? "done" : "this id was used before; nothing was changed");
    return model_close(store, code);
}
