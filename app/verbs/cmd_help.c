/* cmd_help.c - `oltr help`: the overview, one verb, the experiment file, manual pages, or the
 * scripts that complete command lines. */
#include "app/args/completion_scripts.h"
#include "app/args/value.h"
#include "app/verbs/verbs.h"
#include "engine/base/file.h"
#include "engine/base/quote.h"
#include "lab/plan/world_keys.h"
#include "report/io/whole_file.h"

#include <stdlib.h>
#include <string.h>

static const char *const shells[] = {"bash", "zsh", NULL};

const struct option help_options[] = {
    {0, "man", NULL, NULL, "print the manual page in troff: oltr(1), or that of the command"},
    {'o', "output", "DIR", NULL, "with --man: write all manual pages into this folder"},
    {0, "completion", "SHELL", NULL,
     "print the script that completes command lines of oltr in bash or zsh", shells},
    {0, "markdown", NULL, NULL,
     "with `experiment`: print the parameters of worlds and click models as a table in Markdown"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- manual pages */

/* Writes one page; of the program and of the experiment file without a verb. */
static oltr_status write_page(const char *folder, const char *name, const struct verb *verb,
                              void (*print)(FILE *out), oltr_error *error)
{
    char *path = file_join(folder, name);
    new_file file;
    oltr_status status = path ? new_file_open(&file, path, error) : OLTR_ENOMEM;
    if (status == OLTR_OK) {
        if (verb)
            help_man_verb(file.stream, verb);
        else
            print(file.stream);
        status = new_file_close(&file, true, error);
    }
    free(path);
    return status;
}

static oltr_status write_verbs(const char *folder, const struct verb *table, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (const struct verb *verb = table; verb->name && status == OLTR_OK; verb++) {
        char page[PAGE_NAME_SIZE], name[PAGE_NAME_SIZE + 2];
        snprintf(name, sizeof name, "%s.1", help_page_name(verb, page));
        status = write_page(folder, name, verb, NULL, error);
        if (status == OLTR_OK && verb->members)
            status = write_verbs(folder, verb->members, error);
    }
    return status;
}

static int write_pages(const char *folder)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = file_make_folder(folder, &error);
    if (status == OLTR_OK)
        status = write_page(folder, "oltr.1", NULL, help_man, &error);
    if (status == OLTR_OK)
        status = write_page(folder, "oltr-experiment.5", NULL, help_man_experiment, &error);
    if (status == OLTR_OK)
        status = write_verbs(folder, verbs, &error);
    return status == OLTR_OK       ? EXIT_OK
           : status == OLTR_ENOMEM ? complain_no_memory()
                                   : complain_failed(&error);
}

/* ---- the rest */

static int print_completion(const struct arguments *arguments)
{
    uint32_t shell = 0;
    int code = value_word(arguments, "completion", &shell);
    if (code == EXIT_OK)
        fputs(shell == 0 ? completion_bash : completion_zsh, stdout);
    return code;
}

static int print_world_params(void)
{
    struct text table = {0};
    bool good = world_param_table(&table);
    if (good)
        fputs(table.bytes, stdout);
    text_free(&table);
    return good ? EXIT_OK : complain_no_memory();
}

static int help_on_experiment(const struct arguments *arguments)
{
    if (arguments_has(arguments, "markdown"))
        return print_world_params();
    (arguments_has(arguments, "man") ? help_man_experiment : help_experiment)(stdout);
    return EXIT_OK;
}

static int help_on_verb(const struct arguments *arguments)
{
    uint32_t used;
    const struct verb *verb = verb_find(arguments->n_operands, arguments->operand, &used);
    if (!verb)
        return EXIT_USAGE;
    if (used < arguments->n_operands) {
        char word[QUOTE_SIZE];
        return complain(EXIT_USAGE, "%s has no command `%s` below it", verb->name,
                        quote_input(arguments->operand[used], word));
    }
    (arguments_has(arguments, "man") ? help_man_verb : help_verb)(stdout, verb);
    return EXIT_OK;
}

int cmd_help(const struct arguments *arguments)
{
    const char *folder = arguments_value(arguments, "output");
    bool man = arguments_has(arguments, "man");
    if (folder && (!man || arguments->n_operands > 0))
        return complain(EXIT_USAGE, "--output is for all manual pages: oltr help --man -o DIR");
    if (folder)
        return write_pages(folder);
    if (arguments_has(arguments, "completion"))
        return print_completion(arguments);
    if (arguments->n_operands == 0) {
        (man ? help_man : help_all)(stdout);
        return EXIT_OK;
    }
    return strcmp(arguments->operand[0], "experiment") == 0 ? help_on_experiment(arguments)
                                                            : help_on_verb(arguments);
}
