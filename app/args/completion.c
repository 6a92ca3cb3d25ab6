/* completion.c - reads a command line that is not finished, and offers what may follow.  Unlike the
 * parser (arguments.c) it never complains: a word that means nothing is passed over. */
#include "app/args/completion.h"

#include <stdlib.h>
#include <string.h>

/* ---- one line of the answer */

void completion_word(const struct completion *to, const char *word, const char *help)
{
    if (strncmp(word, to->typed, strlen(to->typed)) == 0)
        fprintf(to->out, "%.*s%s\t%s\n", (int)to->n_before, to->before, word, help);
}

void completion_key(const struct completion *to, const char *key, const char *help,
                    char last[COMPLETION_PART_SIZE])
{
    size_t typed = strlen(to->typed), length = strlen(key);
    if (typed > length)
        return;
    const char *dot = strchr(key + typed, '.');
    char part[COMPLETION_PART_SIZE];
    if (!dot) {
        completion_word(to, key, help);
        return;
    }
    snprintf(part, sizeof part, "%.*s", (int)(dot + 1 - key), key);
    if (strcmp(part, last) != 0)
        completion_word(to, part, "");
    snprintf(last, COMPLETION_PART_SIZE, "%s", part);
}

void completion_files(const struct completion *to)
{
    fputs(":files\n", to->out);
}

void completion_folders(const struct completion *to)
{
    fputs(":folders\n", to->out);
}

/* ---- what is offered */

static void offer_verbs(const struct completion *to, const struct verb *table)
{
    for (const struct verb *verb = table; verb->name; verb++)
        completion_word(to, verb_word(verb), verb->summary);
}

static void offer_options(const struct completion *to, const struct verb *verb)
{
    char name[64];
    for (const struct option *option = verb->options; option->name; option++) {
        snprintf(name, sizeof name, "--%s", option->name);
        completion_word(to, name, option->help);
    }
    completion_word(to, "--help", "print this help");
}

/* By the name that the help has for an argument: "DIR", "[FILE...]". */
static void offer_kind(const struct completion *to, const char *name)
{
    name += *name == '[';
    if (strncmp(name, "DIR", 3) == 0)
        completion_folders(to);
    else if (strncmp(name, "FILE", 4) == 0 || strncmp(name, "MODEL", 5) == 0 ||
             strncmp(name, "OTHER", 5) == 0)
        completion_files(to);
}

static void offer_values(const struct completion *to, const struct option *option)
{
    if (option->offer)
        option->offer(to);
    else if (option->words)
        for (const char *const *word = option->words; *word; word++)
            completion_word(to, *word, "");
    else
        offer_kind(to, option->argument);
}

/* The name of operand `index` in "MODEL FILE...", where the last one may repeat; or "". */
static const char *operand_name(const char *operands, uint32_t index)
{
    const char *name = operands;
    for (uint32_t i = 0; i < index; i++) {
        size_t length = strcspn(name, " ");
        bool repeats = length > 3 && strstr(name, "...");
        if (name[length] == '\0')
            return repeats ? name : "";
        name += length + 1;
    }
    return name;
}

static void offer_operands(const struct completion *to)
{
    const struct verb *verb = to->arguments->verb;
    if (verb->offer)
        verb->offer(to);
    else
        offer_kind(to, operand_name(verb->operands, to->arguments->n_operands));
}

/* ---- the words before the cursor */

/* Records an option with the value that the word or the next one has.  Returns the option if its
 * value is the word at the cursor. */
static const struct option *take_option(struct arguments *out, const struct option *option,
                                        const char *attached, uint32_t count,
                                        const char *const *word, uint32_t *at)
{
    if (!option || !option->argument)
        return NULL;
    if (!attached && *at == count)
        return option;
    const char *value = attached ? attached : word[(*at)++];
    out->given[out->n_given++] = (struct given){option, value};
    return NULL;
}

static const struct option *take_letters(struct arguments *out, const char *letter, uint32_t count,
                                         const char *const *word, uint32_t *at)
{
    for (; *letter != '\0'; letter++) {
        const struct option *option = option_by_letter(out->verb, *letter);
        if (option && option->argument)
            return take_option(out, option, letter[1] != '\0' ? letter + 1 : NULL, count, word, at);
    }
    return NULL;
}

/* Reads `count` words; the one at the cursor is behind them.  Returns the option whose value that
 * is, or NULL.  *ended: after `--`. */
static const struct option *read_words(struct arguments *out, uint32_t count,
                                       const char *const *word, bool *ended)
{
    const struct option *open = NULL;
    for (uint32_t at = 0; at < count && !open;) {
        const char *next = word[at++];
        if (*ended || next[0] != '-' || next[1] == '\0') {
            out->operand[out->n_operands++] = next;
        } else if (strcmp(next, "--") == 0) {
            *ended = true;
        } else if (next[1] == '-') {
            size_t length = strcspn(next + 2, "=");
            const char *attached = next[2 + length] == '=' ? next + 3 + length : NULL;
            open = take_option(out, option_by_name(out->verb, next + 2, length), attached, count,
                               word, &at);
        } else {
            open = take_letters(out, next + 1, count, word, &at);
        }
    }
    return open;
}

/* ---- the word at the cursor */

/* --name=value: the option, and the beginning that is kept; else NULL. */
static const struct option *attached_option(const struct verb *verb, struct completion *to)
{
    const char *word = to->typed;
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || word[length] != '=')
        return NULL;
    const struct option *option = option_by_name(verb, word + 2, length - 2);
    to->before = word;
    to->n_before = length + 1;
    to->typed = word + length + 1;
    return option && option->argument ? option : NULL;
}

static void offer_here(struct completion *to, const struct option *open, bool ended)
{
    const struct verb *verb = to->arguments->verb;
    bool is_option = !open && !ended && to->typed[0] == '-';
    if (is_option)
        open = attached_option(verb, to);
    if (open)
        offer_values(to, open);
    else if (is_option && to->n_before == 0)
        offer_options(to, verb);
    else if (!is_option)
        offer_operands(to);
}

static int complete_verb(struct completion *to, const struct verb *verb, uint32_t count,
                         const char *const *word)
{
    struct arguments arguments = {.verb = verb};
    bool ended = false;
    arguments.operand = calloc((size_t)count + 1, sizeof *arguments.operand);
    arguments.given = calloc((size_t)count + 1, sizeof *arguments.given);
    int code = arguments.operand && arguments.given ? EXIT_OK : complain_no_memory();
    if (code == EXIT_OK) {
        const struct option *open = read_words(&arguments, count, word, &ended);
        to->arguments = &arguments;
        offer_here(to, open, ended);
    }
    arguments_free(&arguments);
    return code;
}

int complete(FILE *out, uint32_t count, const char *const *word)
{
    struct completion to = {.out = out, .before = "", .typed = count > 0 ? word[count - 1] : ""};
    const struct verb *verb = NULL, *table = verbs;
    uint32_t at = 0;
    while (table && at + 1 < count) {
        verb = verb_in(table, word[at++]);
        table = verb ? verb->members : NULL;
    }
    if (!table)
        return verb ? complete_verb(&to, verb, count - 1 - at, word + at) : EXIT_OK;
    offer_verbs(&to, table);
    if (to.typed[0] == '-')
        completion_word(&to, "--help", "print the help");
    if (to.typed[0] == '-' && !verb)
        completion_word(&to, "--version", "print the version");
    return EXIT_OK;
}
