/* value.h - reads the values of options: numbers within bounds, and words of a list. */
#ifndef OLTR_APP_ARGS_VALUE_H
#define OLTR_APP_ARGS_VALUE_H

#include "app/args/command.h"

/* EXIT_OK, or EXIT_USAGE after a message.  Without the option *out is unchanged. */
int value_whole(const struct arguments *arguments, const char *name, uint64_t low, uint64_t high,
                uint64_t *out);
int value_whole32(const struct arguments *arguments, const char *name, uint32_t low, uint32_t high,
                  uint32_t *out);
int value_real(const struct arguments *arguments, const char *name, double low, double high,
               double *out);
/* Whole numbers with commas between them, at most `most`. */
int value_list32(const struct arguments *arguments, const char *name, uint32_t low, uint32_t high,
                 uint32_t most, uint32_t *out, uint32_t *count);
/* The place of the value among `words` of its option. */
int value_word(const struct arguments *arguments, const char *name, uint32_t *out);
/* EXIT_USAGE after a message if the FILE of this option is an operand, or the FILE of another
 * option, so that writing it would destroy what is read.  A device or a pipe may be both. */
int value_output(const struct arguments *arguments, const char *name);
/* --threads; without it, or with 0: the number of processors. */
int value_threads(const struct arguments *arguments, uint32_t *out);

#endif
