/* cmd_model_check.c - `oltr model check`: reads a model and its log, and tests what it found. */
#include "app/verbs/model_family.h"

const struct option model_check_options[] = {
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

static void say(const char *path, oltr_store *store)
{
    char calls[GROUPED_SIZE], bytes[GROUPED_SIZE];
    oltr_store_state state;
    oltr_store_stat(store, &state);
    printf("%s is whole: %s, ", path,
           oltr_model_settings_of(oltr_store_read(store))->policy.info->name);
    oltr_store_done(store);
    printf("%s call%s in its log\n", model_grouped(state.replayed, calls),
           plural_s(state.replayed));
    if (state.cut_bytes > 0)
        printf("the last %s byte%s of %s.log are an incomplete call, which the next command that "
               "writes cuts off\n",
               model_grouped(state.cut_bytes, bytes), plural_s(state.cut_bytes), path);
    model_say_size(path, oltr_store_read(store));
    oltr_store_done(store);
}

static int check_one(const char *path, bool quiet)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_store *store;
    int code = model_open(path, false, OLTR_SYNC_NONE, &store);
    if (code != EXIT_OK)
        return code;
    oltr_status status = oltr_model_check(oltr_store_read(store), &error);
    oltr_store_done(store);
    if (status == OLTR_OK && !quiet)
        say(path, store);
    return model_close(store, status == OLTR_OK ? EXIT_OK
                                                : complain(EXIT_FAILED, "%s: %s", path, error.msg));
}

int cmd_model_check(const struct arguments *arguments)
{
    int code = EXIT_OK;
    for (uint32_t i = 0; i < arguments->n_operands; i++) {
        int one = check_one(arguments->operand[i], arguments_has(arguments, "quiet"));
        code = one != EXIT_OK ? one : code;
    }
    return code;
}
