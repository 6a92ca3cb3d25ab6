/* completion.h - what may stand at the cursor of a command line: `oltr --complete WORDS...`, which
 * the scripts for bash and zsh ask (packaging/completion).  The answer is made from the tables of
 * command.h, so it has every verb, option and value that this very program knows.
 *
 * The last of WORDS is the one at the cursor, possibly empty; those before it follow `oltr`.  The
 * answer has one line for each word that fits: the word, a tab, one line of help.  A word that ends
 * in `=` or `.` goes on without a blank.  The line ":files" or ":folders" asks for names that the
 * shell knows.  Nothing fits: no line. */
#ifndef OLTR_APP_ARGS_COMPLETION_H
#define OLTR_APP_ARGS_COMPLETION_H

#include "app/args/command.h"

struct completion {
    FILE *out;
    const struct arguments *arguments; /* operands and options with values before the cursor */
    const char *before;                /* what of the word at the cursor is kept: "--policy=" */
    size_t n_before;                   /* its length */
    const char *typed;                 /* how the rest must begin */
};

/* EXIT_OK, or EXIT_FAILED after a message. */
int complete(FILE *out, uint32_t count, const char *const *word);

/* ---- for the functions `offer` of the tables */

/* Offers the word if it begins as typed. */
void completion_word(const struct completion *to, const char *word, const char *help);
/* Words with dots, "world.items=", one part at a time, as folders are: `last` has room for the part
 * that was offered last, and is empty at the beginning.  Keys that begin alike follow each other.
 */
enum { COMPLETION_PART_SIZE = 256 };
void completion_key(const struct completion *to, const char *key, const char *help,
                    char last[COMPLETION_PART_SIZE]);
void completion_files(const struct completion *to);
void completion_folders(const struct completion *to);

#endif
