/* line.h - one line of LETOR / SVMlight text: a grade, qid:NUMBER, and features id:value.
 *
 *     2 qid:11 1:0 2:-0.5 7:1e3   # anything
 *
 * Strict about what a line is; docs/formats.md has the rules.  Values are the floats that strtof()
 * gives in the C locale, to the last bit.
 */
#ifndef OLTR_LAB_DATA_LINE_H
#define OLTR_LAB_DATA_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/error.h"

enum {
    LONGEST_KEY = 8,
    KEYS = 4096,
    DENSE_LANES = 16,
    DENSE_FORMS = 2 * DENSE_LANES * DENSE_LANES
};

/* "17:" as eight bytes, to be compared with eight bytes of the text in one step. */
typedef struct key {
    uint64_t text, mask;
    uint32_t length;
} key;

/* What dense.h looks up.  The form of a value is its sign, its length, and the place of its point
 * (its length, if it has none). */
typedef struct line_tables {
    uint32_t n_keys;
    key keys[KEYS];                                /* of the features 1, 2, ... */
    unsigned char digit[DENSE_FORMS][DENSE_LANES]; /* which byte of the value becomes which of 16
                                                      digits; 0x80: none */
    double divisor[DENSE_FORMS]; /* of the digits, with the sign; a NaN that looks like a middle
                                    (dense.h) for what is too long or has no digit */
} line_tables;

typedef struct line_parser {
    uint32_t most_features;
    bool plain;     /* use no vector kernel */
    uint32_t width; /* features that a row and `seen` have room for */
    uint32_t now;   /* the number of this row in `seen` */
    uint32_t *seen; /* (width) the last row that had the feature */
    uint32_t
        dense; /* features 1 to `dense` of this row were read by dense.h, and are not in `seen` */
    uint32_t wait, patience; /* rows until dense.h is tried again, and how many it was last time */
    const line_tables *tables;
    void *c; /* the C locale */
} line_parser;

typedef enum line_kind {
    LINE_ROW,
    LINE_EMPTY,    /* blank, or a comment */
    LINE_TOO_WIDE, /* a row, but `width` is less than its widest feature: call again with more */
    LINE_BAD,
    LINE_NO_MEMORY
} line_kind;

typedef enum line_fault {
    FAULT_GRADE,
    FAULT_QUERY,
    FAULT_QUERY_NUMBER,
    FAULT_FEATURE,
    FAULT_ID,
    FAULT_VALUE,
    FAULT_NOT_FINITE
} line_fault;

typedef struct line {
    uint64_t query;
    uint32_t widest;              /* the largest feature id */
    uint32_t clamped, duplicates; /* values beyond float32, and features that occur twice */
    uint8_t grade;
    const char *next;  /* the first character that was not read: the end of the line or of the text,
                          or the fault */
    const char *fault; /* LINE_BAD: where */
    line_fault what;
} line;

/* Tables that all parsers share, and the C locale (NULL without memory). */
void make_tables(line_tables *tables, uint32_t most_features);
void *make_c_locale(void);
void free_c_locale(void *c);

/* Makes room for rows of `width` features; false without memory.  A parser begins as
 * {.most_features, .tables, .c}. */
bool parser_widen(line_parser *p, uint32_t width);

/* Parses the line at `at`; `end` is the end of the text, of which a part of the line may be missing
 * only if the text ends there; bytes up to `readable` may be looked at.  On LINE_ROW `x` (width)
 * holds the row. */
line_kind parse_line(line_parser *p, const char *at, const char *end, const char *readable,
                     float *x, line *out);

/* What was expected, in words. */
void describe_fault(const line *bad, const char *end, uint32_t most_features, char *text,
                    size_t size);

/* A number of the text, as strtof() reads it: NULL, or the first character behind it.  For tests,
 * and for dense.h. */
const char *parse_value(const char *at, const char *end, void *c, float *value, bool *no_memory);

#endif
