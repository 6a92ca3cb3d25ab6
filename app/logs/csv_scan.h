/* csv_scan.h - records of a CSV log: quoted fields (with separators, doubled quotes and newlines in
 * them), either line end, empty lines, a byte order mark.
 *
 * Nothing is allocated or copied for a record without quotes: its fields point into the block.
 *
 * A piece of text is first searched for separators and newlines, 64 bytes at a time and without a
 * branch on what they are, and their places are kept.  A record then takes its places in turn.
 * So a processor mispredicts once in a few records instead of once in a field: about 15 ns for a
 * record of four fields.  A piece with a quote in it is scanned field by field. */
#ifndef OLTR_APP_LOGS_CSV_SCAN_H
#define OLTR_APP_LOGS_CSV_SCAN_H

#include "app/logs/log_input.h"

enum {
    CSV_MOST_FIELDS = 16384,
    CSV_LONGEST_RECORD = 1 << 20, /* bytes; bounds the memory when a quote is never closed */
    CSV_PIECE = 16384             /* bytes, so that their places fit a first-level cache */
};

struct csv_text {
    const char *at;
    uint32_t size;
};

struct csv_scan {
    struct log_input *in;
    char separator;
    uint32_t n_fields;             /* of the last record */
    uint64_t line;                 /* where it begins */
    struct csv_text *field;        /* (CSV_MOST_FIELDS) valid until the next call */
    struct text unquoted;          /* fields that had doubled quotes */
    const char *fault;             /* of CSV_BAD */
    const char *piece, *piece_end; /* the text whose places are known; NULL: none */
    uint32_t *stop;                /* (n_stops) behind `piece`; room for CSV_PIECE */
    uint32_t n_stops, next_stop;
    bool has_quote;
};

enum csv_result { CSV_FAILED = -1, CSV_END, CSV_RECORD, CSV_BAD };

/* Reads on from where the input is; the separator is a comma until it is set. */
oltr_status csv_scan_begin(struct csv_scan *scan, struct log_input *in, oltr_error *error);
void csv_scan_free(struct csv_scan *scan);

/* The next record that is not empty.  CSV_BAD: `fault` says why `line` is no record; the next call
 * goes on in the line behind it.  CSV_FAILED: the input cannot be read, with the error set. */
enum csv_result csv_scan_next(struct csv_scan *scan, oltr_error *error);

/* Where the separators and newlines of 64 bytes are, the first byte lowest; and its plain twin. */
uint64_t csv_stops(const char *at, char separator);
uint64_t csv_stops_plain(const char *at, char separator);

#endif
