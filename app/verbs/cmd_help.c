/* cmd_help.c - `oltr help`: the overview, one verb, the experiment file, or the manual page. */
#include "app/verbs/verbs.h"
#include "engine/base/quote.h"
#include "lab/plan/world_keys.h"

#include <string.h>

const struct option help_options[] = {
    {0, "man", NULL, NULL, "print the manual page oltr(1) in troff"},
    {0, "markdown", NULL, NULL,
     "with `experiment`: print the parameters of worlds and click models as a table in Markdown"},
    {0, NULL, NULL, NULL, NULL},
};

static int print_world_params(void)
{
    struct text table = {0};
    bool good = world_param_table(&table);
    if (good)
        fputs(table.bytes, stdout);
    text_free(&table);
    return good ? EXIT_OK : complain_no_memory();
}

int cmd_help(const struct arguments *arguments)
{
    if (arguments_has(arguments, "man")) {
        help_man(stdout);
        return EXIT_OK;
    }
    if (arguments->n_operands == 0) {
        help_all(stdout);
        return EXIT_OK;
    }
    if (strcmp(arguments->operand[0], "experiment") == 0) {
        if (arguments_has(arguments, "markdown"))
            return print_world_params();
        help_experiment(stdout);
        return EXIT_OK;
    }
    uint32_t used;
    const struct verb *verb = verb_find(arguments->n_operands, arguments->operand, &used);
    if (!verb)
        return EXIT_USAGE;
    if (used < arguments->n_operands) {
        char word[QUOTE_SIZE];
        return complain(EXIT_USAGE, "%s has no command `%s` below it", verb->name,
                        quote_input(arguments->operand[used], word));
    }
    help_verb(stdout, verb);
    return EXIT_OK;
}
