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
    uint32_t *stop;              /* (n_stops) behind `piece`; room for CSV_PIECE; stop[-1] is -1 */
    uint32_t n_stops, next_stop; /* n_stops 0: of a piece with quotes none is known */
};

enum csv_result { CSV_FAILED = -1, CSV_END, CSV_RECORD, CSV_BAD };

/* Reads on from where the input is; the separator is a comma until it is set. */
oltr_status csv_scan_begin(struct csv_scan *scan, struct log_input *in, oltr_error *error);
void csv_scan_free(struct csv_scan *scan);

/* The next record by the places of the piece, empty lines passed over; false when it does not end
 * in the piece.  What the loop reads of the struct is copied before it: a store to a field might
 * change it, as far as the compiler knows. */
static inline bool csv_scan_indexed(struct csv_scan *scan)
{
    const char *const piece = scan->piece, *at = scan->in->at, *end;
    const uint32_t *stop = scan->stop + scan->next_stop, *const last = scan->stop + scan->n_stops;
    for (;;) {
        struct csv_text *field = scan->field;
        do {
            if (stop == last)
                return false;
            end = piece + *stop++;
            *field++ = (struct csv_text){at, (uint32_t)(end - at)};
            at = end + 1;
        } while (*end != '\n');
        field[-1].size -= field[-1].size > 0 && end[-1] == '\r';
        scan->n_fields = (uint32_t)(field - scan->field);
        scan->next_stop = (uint32_t)(stop - scan->stop);
        scan->line = scan->in->line++;
        scan->in->at = at;
        if (scan->n_fields > 1 || field[-1].size > 0)
            return true;
    }
}

/* Where the next records are, for a caller that takes them by the places of the piece: field i of a
 * record is the text between the places i - 1 and i, and the place before the first is that of the
 * newline of the record before. */
static inline const uint32_t *csv_scan_places(const struct csv_scan *scan, uint32_t *n)
{
    *n = scan->n_stops - scan->next_stop;
    return scan->stop + scan->next_stop;
}

/* The caller has taken so many records, without the ones from this place on. */
static inline void csv_scan_pass(struct csv_scan *scan, const uint32_t *stop, uint32_t records)
{
    scan->in->at = scan->piece + (uint32_t)(stop[-1] + 1);
    scan->in->line += records;
    scan->next_stop = (uint32_t)(stop - scan->stop);
}

/* The same for any record. */
enum csv_result csv_scan_other(struct csv_scan *scan, oltr_error *error);

/* The next record that is not empty.  CSV_BAD: `fault` says why `line` is no record; the next call
 * goes on in the line behind it.  CSV_FAILED: the input cannot be read, with the error set. */
static inline enum csv_result csv_scan_next(struct csv_scan *scan, oltr_error *error)
{
    return csv_scan_indexed(scan) ? CSV_RECORD : csv_scan_other(scan, error);
}

/* Where the separators and newlines of 64 bytes are, the first byte lowest; and its plain twin. */
uint64_t csv_stops(const char *at, char separator);
uint64_t csv_stops_plain(const char *at, char separator);

#endif
