/* cmd_model_trim.c - `oltr model trim`: removes items that were not shown for long. */
#include "app/args/value.h"
#include "app/verbs/model_family.h"

const struct option model_trim_options[] = {
    {0, "idle", "N", NULL, "remove the items that none of the last N lists showed"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_model_trim(const struct arguments *arguments)
{
    oltr_error error = {OLTR_OK, ""};
    uint64_t idle = 0;
    uint32_t removed = 0;
    oltr_store *store;
    if (!arguments_has(arguments, "idle"))
        return complain(EXIT_USAGE, "model trim needs --idle N, a number of lists");
    int code = value_whole(arguments, "idle", 1, UINT64_MAX, &idle);
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], true, OLTR_SYNC_ALWAYS, &store);
    if (code != EXIT_OK)
        return code;
    if (oltr_store_trim(store, idle, &removed, &error) != OLTR_OK)
        code = complain_failed(&error);
    if (code == EXIT_OK && !arguments_has(arguments, "quiet")) {
        printf("%u item%s removed\n", removed, plural_s(removed));
        model_say_size(arguments->operand[0], oltr_store_read(store));
        oltr_store_done(store);
    }
    return model_close(store, code);
}
