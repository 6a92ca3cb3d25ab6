/* log_input.h - the bytes of a log, plain or gzip, from a file or standard input, in large blocks
 * that end with a line.  A record that goes on in the next block is joined in memory. */
#ifndef OLTR_APP_LOGS_LOG_INPUT_H
#define OLTR_APP_LOGS_LOG_INPUT_H

#include "engine/base/text.h"
#include "lab/data/source.h"

struct log_input {
    text_source source;
    block block;
    struct text joined;   /* a rest and the block behind it */
    const char *at, *end; /* what is left of the block */
    const char *readable; /* >= end: bytes up to here may be looked at */
    uint64_t line;        /* the number of the line at `at`, from 1 */
    bool open, from_joined, finished;
};

/* On any other status nothing is open. */
oltr_status log_input_open(struct log_input *in, const char *path, oltr_error *error);
void log_input_close(struct log_input *in); /* also one that is all zero */

/* Keeps the bytes from `at` to `end` and puts the next block behind them: 1, 0 at the end of the
 * log, or -1 with the error set. */
int log_input_more(struct log_input *in, oltr_error *error);

/* The next line without its end, and its number: 1, 0 at the end, or -1 with the error set.  Lines
 * of blanks are passed over. */
int log_input_line(struct log_input *in, const char **text, size_t *size, uint64_t *line,
                   oltr_error *error);

/* The first byte that is no blank, without moving: it says what kind of log this is.  0: an empty
 * log; -1 with the error set, also where it is a zero byte. */
int log_input_peek(struct log_input *in, oltr_error *error);

/* The share of the file that was read, 0 to 1; below 0 where its size is not known. */
double log_input_share(const struct log_input *in);

#endif
