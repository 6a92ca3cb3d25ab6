/* cmd_model_dump.c - `oltr model dump`: the whole model as JSON. */
#include "app/args/value.h"
#include "app/verbs/model_family.h"
#include "app/verbs/model_json.h"
#include "report/io/whole_file.h"

#include <string.h>

const struct option model_dump_options[] = {
    {0, "json", NULL, NULL, "as JSON (the default, and the only form)"},
    {'o', "output", "FILE", NULL, "write it there (default: standard output)"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_model_dump(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "output");
    oltr_error error = {OLTR_OK, ""};
    struct text json = {0};
    oltr_store *store;
    int code = value_output(arguments, "output");
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], false, OLTR_SYNC_NONE, &store);
    if (code != EXIT_OK)
        return code;
    oltr_status status = model_to_json(oltr_store_read(store), &json, &error);
    oltr_store_done(store);
    if (status == OLTR_OK && output && strcmp(output, "-") != 0)
        status = file_write(output, &json, &error);
    else if (status == OLTR_OK)
        code = print_text(&json);
    text_free(&json);
    return model_close(store, status == OLTR_OK ? code : complain_failed(&error));
}
