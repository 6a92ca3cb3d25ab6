/* command.h - the command line: one table of verbs, each with one table of options.  The parser,
 * --help, `oltr help` and the manual page use the same tables, so they agree. */
#ifndef OLTR_APP_ARGS_COMMAND_H
#define OLTR_APP_ARGS_COMMAND_H

#include "app/args/complain.h"

#include <stdint.h>

struct option {
    char letter;          /* '\0': none */
    const char *name;     /* "output" for --output */
    const char *argument; /* "DIR", or NULL: a switch */
    const char *key;      /* the key of the experiment file that it overrides, or NULL */
    const char *help;
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

void help_all(FILE *out);
void help_verb(FILE *out, const struct verb *verb);
void help_experiment(FILE *out);
void help_man(FILE *out);
/* Prints text folded at 78 columns; lines after the first begin with `indent` blanks.  `column`:
 * where the first line begins. */
void help_fold(FILE *out, const char *words, int indent, int column);

#endif
