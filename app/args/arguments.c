/* arguments.c - parses a command line by the table of a verb.  Options may come before or after
 * operands; `--` ends them; `-oDIR`, `-o DIR`, `--output DIR` and `--output=DIR` are the same. */
#define _POSIX_C_SOURCE 200809L
#include "app/args/command.h"
#include "engine/base/nearest.h"
#include "engine/base/quote.h"

#include <stdlib.h>
#include <string.h>

static const struct option help_option = {'h', "help", NULL, NULL, "print this help"};

/* ---- finding the verb */

const char *verb_word(const struct verb *verb)
{
    const char *blank = strrchr(verb->name, ' ');
    return blank ? blank + 1 : verb->name;
}

const struct verb *verb_in(const struct verb *table, const char *word)
{
    for (const struct verb *verb = table; verb->name; verb++)
        if (strcmp(verb_word(verb), word) == 0)
            return verb;
    return NULL;
}

/* `family`: NULL for the commands of the program itself. */
static void unknown_verb(const struct verb *family, const char *name)
{
    char word[QUOTE_SIZE], hint[HINT_SIZE], help[64];
    struct nearest nearest = nearest_to(name);
    for (const struct verb *verb = family ? family->members : verbs; verb->name; verb++)
        nearest_offer(&nearest, verb_word(verb));
    snprintf(help, sizeof help, "; `oltr help%s%s` lists them", family ? " " : "",
             family ? family->name : "");
    complain(EXIT_USAGE, "no command%s%s is called `%s`%s", family ? " of " : "",
             family ? family->name : "", quote_input(name, word),
             nearest.best ? nearest_hint(&nearest, hint) : help);
}

const struct verb *verb_find(uint32_t count, const char *const *word, uint32_t *used)
{
    const struct verb *verb = NULL, *family = NULL;
    for (*used = 0; *used < count && (!verb || verb->members); (*used)++) {
        if (verb && word[*used][0] == '-')
            break;
        family = verb;
        verb = verb_in(family ? family->members : verbs, word[*used]);
        if (!verb) {
            unknown_verb(family, word[*used]);
            return NULL;
        }
    }
    return verb;
}

/* ---- finding options */

const struct option *option_by_letter(const struct verb *verb, char letter)
{
    for (const struct option *option = verb->options; option->name; option++)
        if (option->letter == letter)
            return option;
    return letter == 'h' ? &help_option : NULL;
}

const struct option *option_by_name(const struct verb *verb, const char *name, size_t length)
{
    for (const struct option *option = verb->options; option->name; option++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    return length == 4 && strncmp(name, "help", 4) == 0 ? &help_option : NULL;
}

static int unknown_option(const struct verb *verb, const char *word)
{
    char name[QUOTE_SIZE], bare[QUOTE_SIZE];
    bool is_long = word[0] == '-' && word[1] == '-';
    quote_input(word, name);
    quote_input(is_long ? word + 2 : word, bare);
    bare[strcspn(bare, "=")] = '\0';
    struct nearest nearest = nearest_to(bare);
    for (const struct option *option = verb->options; is_long && option->name; option++)
        nearest_offer(&nearest, option->name);
    if (nearest.best)
        return complain(EXIT_USAGE, "%s has no option `%s`; did you mean `--%s`?", verb->name, name,
                        nearest.best);
    return complain(EXIT_USAGE, "%s has no option `%s`; `oltr help %s` lists them", verb->name,
                    name, verb->name);
}

/* ---- the words */

struct words {
    int count, at;
    char **word;
};

/* Records an option; `attached` is the value written in the same word, or NULL. */
static int take(struct arguments *out, struct words *words, const struct option *option,
                const char *attached)
{
    const char *value = "";
    if (!option->argument && attached)
        return complain(EXIT_USAGE, "--%s takes no value", option->name);
    if (option->argument) {
        value = attached ? attached : words->at < words->count ? words->word[words->at++] : NULL;
        if (!value)
            return complain(EXIT_USAGE, "--%s needs a value: --%s %s", option->name, option->name,
                            option->argument);
    }
    if (option->argument && strcmp(option->argument, "DIR") == 0 && *value == '\0')
        return complain(EXIT_USAGE, "--%s needs the name of a folder", option->name);
    out->given[out->n_given++] = (struct given){option, value};
    return EXIT_OK;
}

static int take_long(struct arguments *out, struct words *words, const char *word)
{
    size_t length = strcspn(word + 2, "=");
    const struct option *option = option_by_name(out->verb, word + 2, length);
    if (!option)
        return unknown_option(out->verb, word);
    return take(out, words, option, word[2 + length] == '=' ? word + 3 + length : NULL);
}

/* One letter, or switches in a row: -qj2. */
static int take_letters(struct arguments *out, struct words *words, const char *word)
{
    int code = EXIT_OK;
    for (const char *letter = word + 1; code == EXIT_OK && *letter != '\0'; letter++) {
        const struct option *option = option_by_letter(out->verb, *letter);
        if (!option)
            return unknown_option(out->verb, word);
        if (option->argument)
            return take(out, words, option, letter[1] != '\0' ? letter + 1 : NULL);
        code = take(out, words, option, NULL);
    }
    return code;
}

/* In `run --rounds my.yaml` the file is the value of the option. */
static int missing_operand(const struct arguments *arguments)
{
    const struct verb *verb = arguments->verb;
    const struct given *last =
        arguments->n_given > 0 ? &arguments->given[arguments->n_given - 1] : NULL;
    char word[QUOTE_SIZE];
    if (last && last->option->argument)
        return complain(EXIT_USAGE, "%s needs %s: oltr %s %s; `%s` was taken as the value of --%s",
                        verb->name, verb->operands, verb->name, verb->operands,
                        quote_input(last->value, word), last->option->name);
    return complain(EXIT_USAGE, "%s needs %s: oltr %s %s", verb->name, verb->operands, verb->name,
                    verb->operands);
}

static int check_operands(const struct arguments *arguments)
{
    const struct verb *verb = arguments->verb;
    char word[QUOTE_SIZE];
    if (arguments_has(arguments, "help"))
        return EXIT_OK;
    if (verb->members)
        return complain(EXIT_USAGE, "%s needs a command after it; `oltr help %s` lists them",
                        verb->name, verb->name);
    if (arguments->n_operands < verb->fewest)
        return missing_operand(arguments);
    if (arguments->n_operands > verb->most)
        return complain(EXIT_USAGE, "unexpected argument `%s`; usage: oltr %s%s%s",
                        quote_input(arguments->operand[verb->most], word), verb->name,
                        *verb->operands != '\0' ? " " : "", verb->operands);
    for (uint32_t i = 0; i < arguments->n_operands; i++)
        if (*arguments->operand[i] == '\0')
            return complain(EXIT_USAGE, "%s was given an empty name; usage: oltr %s %s", verb->name,
                            verb->name, verb->operands);
    return EXIT_OK;
}

int arguments_parse(const struct verb *verb, int count, char **word, struct arguments *out)
{
    struct words words = {count, 0, word};
    int code = EXIT_OK;
    bool options = true;
    size_t letters = 0; /* the largest number of options: -qq is two */
    for (int i = 0; i < count; i++)
        letters += strlen(word[i]);
    *out = (struct arguments){.verb = verb};
    out->operand = calloc((size_t)count + 1, sizeof *out->operand);
    out->given = calloc(letters + 1, sizeof *out->given);
    if (!out->operand || !out->given)
        return complain_no_memory();
    while (code == EXIT_OK && words.at < words.count) {
        const char *next = words.word[words.at++];
        if (!options || next[0] != '-' || next[1] == '\0')
            out->operand[out->n_operands++] = next;
        else if (strcmp(next, "--") == 0)
            options = false;
        else
            code = next[1] == '-' ? take_long(out, &words, next) : take_letters(out, &words, next);
    }
    return code == EXIT_OK ? check_operands(out) : code;
}

void arguments_free(struct arguments *arguments)
{
    free(arguments->operand);
    free(arguments->given);
}

const char *arguments_value(const struct arguments *arguments, const char *name)
{
    const char *value = NULL;
    for (uint32_t i = 0; i < arguments->n_given; i++)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            value = arguments->given[i].value;
    return value;
}

bool arguments_has(const struct arguments *arguments, const char *name)
{
    return arguments_value(arguments, name);
}
