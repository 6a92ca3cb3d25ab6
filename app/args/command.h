/* command.h - the command line: one table of verbs, each with one table of options.  The parser,
 * --help, `oltr help`, the manual pages and the completion of shells use the same tables, so they
 * agree. */
#ifndef OLTR_APP_ARGS_COMMAND_H
#define OLTR_APP_ARGS_COMMAND_H

#include "app/args/complain.h"

#include <stdint.h>

struct completion;

struct option {
    char letter;          /* '\0': none */
    const char *name;     /* "output" for --output */
    const char *argument; /* "DIR", or NULL: a switch */
    const char *key;      /* the key of the experiment file that it overrides, or NULL */
    const char *help;
    const char *const *words; /* all values that it takes, ends with NULL; or NULL: others */
    /* Offers values to the shell (completion.h).  NULL: `words`; else files where the argument is
     * FILE or MODEL, folders where it is DIR. */
    void (*offer)(const struct completion *to);
};

struct given {
    const struct option *option;
    const char *value;
};

struct arguments {
    const struct verb *verb;
    uint32_t n_operands, n_given;
    const char **operand; /* (n_operands) */
    struct given *given;  /* (n_given) in the order of the command line */
};

/* A verb has a function, or it is a family of verbs: `data` has `data inspect`, whose name is both
 * words. */
struct verb {
    const char *name;
    const char *operands; /* "FILE" or "[NAME]"; of a family "COMMAND" */
    uint32_t fewest, most;
    const char *summary;                           /* one line */
    const char *details;                           /* paragraphs separated by '\n' */
    const struct option *options;                  /* ends with a name of NULL */
    int (*run)(const struct arguments *arguments); /* NULL: a family */
    const struct verb *members; /* of a family, ends with a name of NULL; else NULL */
    void (*offer)(const struct completion *to); /* operands, as `offer` of an option */
};
enum { ANY_NUMBER = UINT16_MAX }; /* of operands: as `most` */

extern const struct verb verbs[]; /* the table of the program (verbs.c); ends with a name of NULL */

/* Reads the words after the verb.  EXIT_OK, or EXIT_USAGE after a message; arguments_free() must
 * follow. */
int arguments_parse(const struct verb *verb, int count, char **word, struct arguments *out);
void arguments_free(struct arguments *arguments);
/* The last value given for an option ("" for a switch), or NULL. */
const char *arguments_value(const struct arguments *arguments, const char *name);
/* Was the option given? */
bool arguments_has(const struct arguments *arguments, const char *name);

/* The verb that the first words name; *used is their number: `data inspect` takes two.  A family is
 * found when the word after its name is missing or an option.  NULL after a message. */
const struct verb *verb_find(uint32_t count, const char *const *word, uint32_t *used);

/* Without a message: the verb of a table that this word calls, and the option of a verb; --help is
 * one of every verb.  NULL: none. */
const struct verb *verb_in(const struct verb *table, const char *word);
const struct option *option_by_letter(const struct verb *verb, char letter);
const struct option *option_by_name(const struct verb *verb, const char *name, size_t length);
/* The word that is typed for a verb: the last one of its name. */
const char *verb_word(const struct verb *verb);

void help_all(FILE *out);
void help_verb(FILE *out, const struct verb *verb);
void help_experiment(FILE *out);
/* Manual pages: of the program, oltr(1), of one verb, oltr-run(1), and of the experiment file,
 * oltr-experiment(5). */
void help_man(FILE *out);
void help_man_verb(FILE *out, const struct verb *verb);
void help_man_experiment(FILE *out);
/* The name of the page of a verb: "oltr-model-learn". */
enum { PAGE_NAME_SIZE = 64 };
const char *help_page_name(const struct verb *verb, char name[PAGE_NAME_SIZE]);
/* Prints text folded at 78 columns; lines after the first begin with `indent` blanks.  `column`:
 * where the first line begins. */
void help_fold(FILE *out, const char *words, int indent, int column);

#endif
