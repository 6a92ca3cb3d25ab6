/* csv_scan.c - see csv_scan.h. */
#include "app/logs/csv_scan.h"

#include <stdlib.h>
#include <string.h>

oltr_status csv_scan_begin(struct csv_scan *scan, struct log_input *in, oltr_error *error)
{
    *scan = (struct csv_scan){.in = in, .separator = ','};
    scan->field = malloc(CSV_MOST_FIELDS * sizeof *scan->field);
    uint32_t *stop = malloc((CSV_PIECE + 1) * sizeof *stop);
    scan->stop = stop ? stop + 1 : NULL;
    if (scan->field && scan->stop) {
        scan->stop[-1] = UINT32_MAX;
        return OLTR_OK;
    }
    csv_scan_free(scan);
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

void csv_scan_free(struct csv_scan *scan)
{
    free(scan->field);
    free(scan->stop ? scan->stop - 1 : NULL);
    text_free(&scan->unquoted);
    *scan = (struct csv_scan){0};
}

/* ---- finding separators and newlines */

/* The high bits of eight bytes as a number of eight bits, the first byte lowest. */
static inline uint64_t gather(uint64_t bits)
{
    return ((bits >> 7) * 0x0102040810204080) >> 56;
}

static const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;

/* The high bit of every byte that is 0. */
static inline uint64_t zero_bytes(uint64_t word)
{
    return ~(((word & ~highs) + ~highs) | word) & highs;
}

uint64_t csv_stops_plain(const char *at, char separator)
{
    uint64_t stops = 0, separators = ones * (unsigned char)separator, newlines = ones * '\n';
    for (int i = 0; i < 8; i++) {
        uint64_t word;
        memcpy(&word, at + 8 * i, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        stops |= gather(zero_bytes(word ^ separators) | zero_bytes(word ^ newlines)) << 8 * i;
    }
    return stops;
}

#ifdef __SSE2__ /* every x86-64 has it */
#include <emmintrin.h>

static inline uint64_t stops_of(const char *at, char separator)
{
    const __m128i separators = _mm_set1_epi8(separator), newlines = _mm_set1_epi8('\n');
    uint64_t stops = 0;
    for (int i = 0; i < 4; i++) {
        __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i));
        __m128i found =
            _mm_or_si128(_mm_cmpeq_epi8(text, separators), _mm_cmpeq_epi8(text, newlines));
        stops |= (uint64_t)(uint32_t)_mm_movemask_epi8(found) << 16 * i;
    }
    return stops;
}
#else
static inline uint64_t stops_of(const char *at, char separator)
{
    return csv_stops_plain(at, separator);
}
#endif

uint64_t csv_stops(const char *at, char separator)
{
    return stops_of(at, separator);
}

/* Looks through the next piece of the block. */
static __attribute__((noinline)) void find_stops(struct csv_scan *scan)
{
    const char *from = scan->in->at, *end = scan->in->end;
    uint32_t size = end - from < CSV_PIECE ? (uint32_t)(end - from) : CSV_PIECE, at = 0, n = 0;
    for (; at + 64 <= size; at += 64)
        for (uint64_t stops = stops_of(from + at, scan->separator); stops; stops &= stops - 1)
            scan->stop[n++] = at + (uint32_t)__builtin_ctzll(stops);
    for (; at < size; at++)
        if (from[at] == scan->separator || from[at] == '\n')
            scan->stop[n++] = at;
    scan->piece = from;
    scan->piece_end = from + size;
    scan->n_stops = memchr(from, '"', size) ? 0 : n;
    scan->next_stop = 0;
}

/* The first separator or newline at or behind `at`, or `end`. */
static const char *find_stop(const char *at, const char *end, char separator)
{
    while (at < end && *at != separator && *at != '\n')
        at++;
    return at;
}

/* ---- quoted fields */

/* The quote that closes the field whose text begins at `at`, or NULL; *doubled: there are doubled
 * quotes before it. */
static const char *closing_quote(const char *at, const char *end, bool *doubled, uint64_t *lines)
{
    for (; at < end; at++) {
        *lines += *at == '\n';
        if (*at != '"')
            continue;
        if (at + 1 == end || at[1] != '"')
            return at;
        *doubled = true;
        at++;
    }
    return NULL;
}

/* Adds the text with single quotes for doubled ones; false when memory ran out.  The address of
 * what was added may still change, so the field keeps its offset until the record is complete. */
static bool unquote(struct csv_scan *scan, const char *from, const char *to)
{
    for (const char *at = from; at < to; at++) {
        text_bytes(&scan->unquoted, at, 1);
        at += *at == '"';
    }
    return !scan->unquoted.failed;
}

enum piece { PIECE_FIELD, PIECE_OPEN, PIECE_WRONG, PIECE_NO_MEMORY };

/* One quoted field; *at is its first quote, and then what stands behind it. */
static enum piece take_quoted(struct csv_scan *scan, const char **at, uint64_t *lines)
{
    const char *from = *at + 1, *end = scan->in->end;
    bool doubled = false;
    const char *quote = closing_quote(from, end, &doubled, lines);
    if (!quote || (quote + 1 == end && !scan->in->finished))
        return PIECE_OPEN;
    const char *next = quote + 1;
    if (next < end && *next == '\r' && (next + 1 == end || next[1] == '\n'))
        next++;
    if (next < end && *next != scan->separator && *next != '\n')
        return PIECE_WRONG;
    struct csv_text *field = &scan->field[scan->n_fields];
    *field = (struct csv_text){from, (uint32_t)(quote - from)};
    if (doubled) {
        size_t offset = scan->unquoted.length;
        if (!unquote(scan, from, quote))
            return PIECE_NO_MEMORY;
        *field = (struct csv_text){NULL, (uint32_t)(scan->unquoted.length - offset)};
    }
    *at = next;
    return PIECE_FIELD;
}

/* Gives fields with doubled quotes their address. */
static void place_unquoted(struct csv_scan *scan)
{
    const char *at = scan->unquoted.bytes;
    for (uint32_t i = 0; at && i < scan->n_fields; i++)
        if (!scan->field[i].at) {
            scan->field[i].at = at;
            at += scan->field[i].size;
        }
}

/* ---- records */

/* The line behind the one that begins at `at`; the input has that line whole. */
static void next_line(struct log_input *in)
{
    const char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));
    in->at = newline ? newline + 1 : in->end;
    in->line++;
}

static enum csv_result bad(struct csv_scan *scan, const char *fault)
{
    scan->fault = fault;
    next_line(scan->in);
    return CSV_BAD;
}

enum attempt { ATTEMPT_RECORD, ATTEMPT_OPEN, ATTEMPT_BAD };

/* Reads the record at in->at; on ATTEMPT_RECORD the input is behind it. */
static __attribute__((noinline)) enum attempt try_record(struct csv_scan *scan)
{
    struct log_input *in = scan->in;
    const char *at = in->at, *const end = in->end;
    uint64_t lines = 1;
    scan->n_fields = 0;
    scan->unquoted.length = 0;
    for (;;) {
        if (scan->n_fields == CSV_MOST_FIELDS) {
            scan->fault = "has too many fields";
            return ATTEMPT_BAD;
        }
        const char *stop = at;
        if (at < end && *at == '"') {
            enum piece piece = take_quoted(scan, &stop, &lines);
            if (piece == PIECE_OPEN)
                return ATTEMPT_OPEN;
            scan->fault = piece == PIECE_WRONG ? "no separator behind the closing quote of a field"
                                               : "out of memory";
            if (piece != PIECE_FIELD)
                return ATTEMPT_BAD;
        } else {
            stop = find_stop(at, end, scan->separator);
            uint32_t size = (uint32_t)(stop - at);
            size -= size > 0 && stop[-1] == '\r' && (stop == end || *stop == '\n');
            scan->field[scan->n_fields] = (struct csv_text){at, size};
        }
        scan->n_fields++;
        at = stop + (stop < end);
        if (stop == end || *stop == '\n')
            break;
    }
    in->at = at;
    in->line += lines;
    if (scan->unquoted.length > 0)
        place_unquoted(scan);
    return ATTEMPT_RECORD;
}

static void forget_piece(struct csv_scan *scan)
{
    scan->piece = NULL;
    scan->n_stops = scan->next_stop = 0;
}

static int read_more(struct csv_scan *scan, oltr_error *error)
{
    forget_piece(scan);
    return log_input_more(scan->in, error);
}

enum csv_result csv_scan_other(struct csv_scan *scan, oltr_error *error)
{
    struct log_input *in = scan->in;
    for (;;) {
        if (in->at == in->end) {
            int got = read_more(scan, error);
            if (got != 1)
                return got == 0 ? CSV_END : CSV_FAILED;
        }
        if (!scan->piece || in->at >= scan->piece_end)
            find_stops(scan);
        if (csv_scan_indexed(scan))
            return CSV_RECORD;
        if (in->at == in->end)
            continue; /* there were empty lines only */
        if (scan->n_stops > 0)
            forget_piece(scan); /* the record goes on in the next piece */
        scan->line = in->line;
        enum attempt attempt = try_record(scan);
        if (attempt == ATTEMPT_BAD)
            return bad(scan, scan->fault);
        if (attempt == ATTEMPT_RECORD && scan->n_fields == 1 && scan->field[0].size == 0)
            continue; /* an empty line */
        if (attempt == ATTEMPT_RECORD)
            return CSV_RECORD;
        if (in->finished || in->end - in->at > CSV_LONGEST_RECORD)
            return bad(scan, "a quote that is opened here is never closed");
        if (read_more(scan, error) < 0)
            return CSV_FAILED;
    }
}
