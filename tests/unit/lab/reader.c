/* reader.c - text of judged documents: every rule of docs/formats.md, the last bit of every float,
 * and the same bytes or the same first error for any number of threads, any way in, and with and
 * without vector kernels.
 */
#define _GNU_SOURCE 1
#include "support/texts.h"

#include <fcntl.h>
#include <float.h>
#include <locale.h>

#include "lab/data/dense.h"
#include "lab/data/line.h"
#include "lab/data/read.h"

/* ---- numbers */

/* Digits, `n` of them. */
static int put_digits(char *to, dice *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = (char)('0' + below(from, 10));
    return (int)n;
}

/* A number that is close to the middle between two floats, or exactly there. */
static int put_middle(char *to, size_t size, dice *from)
{
    uint32_t bits = below(from, 0x7F000000);
    float low, high;
    memcpy(&low, &bits, sizeof low);
    bits++;
    memcpy(&high, &bits, sizeof high);
    double middle = 0.5 * ((double)low + (double)high);
    int n = snprintf(to, size, below(from, 2) ? "%.*g" : "%.*e", 7 + (int)below(from, 60), middle);
    return n;
}

/* A number of one of many shapes. */
static void put_number(char *to, size_t size, dice *from)
{
    uint32_t bits = roll32(from);
    float any;
    memcpy(&any, &bits, sizeof any);
    int n = one_in(from, 3) ? snprintf(to, size, below(from, 4) ? "-" : "+") : 0;
    size -= (size_t)n;
    to += n;
    switch (below(from, 11)) {
    case 0:
        n = put_digits(to, from, 1 + below(from, 20));
        break;
    case 1: /* as files have them */
        n = snprintf(to, size, "%.*f", (int)below(from, 9), unit(from) * pow(10, below(from, 9)));
        break;
    case 2:
        n = snprintf(to, size, "%.*g", 1 + (int)below(from, 20),
                     isfinite(any) ? fabs((double)any) : 0.5);
        break;
    case 3:
        n = snprintf(to, size, "%u.%ue%d", below(from, 1000), roll32(from),
                     (int)below(from, 100) - 50);
        break;
    case 4:
        n = snprintf(to, size, "%ue-%u", roll32(from),
                     30 + below(from, 30)); /* small, and too small */
        break;
    case 5:
    case 6:
        n = put_middle(to, size, from);
        break;
    case 7: /* many digits on both sides */
        n = put_digits(to, from, 1 + below(from, 30));
        to[n++] = '.';
        n += put_digits(to + n, from, below(from, 40));
        break;
    case 8:
        n = snprintf(to, size, "0.%0*d%u", (int)below(from, 30), 0, roll32(from));
        break;
    case 9: /* integers around the middles of floats of 2^24 and more */
        n = snprintf(to, size, "%llu%s", (unsigned long long)(roll(from) >> below(from, 60)),
                     below(from, 2) ? ".0" : "");
        break;
    default:
        n = snprintf(to, size, "%s",
                     (const char *[]){"0", "0.", ".0", ".5", "5.", "00012", "1e0", "1E+2",
                                      "0e99999999999", "16777217", "1e38", "3.4028235e38",
                                      "3.4028236e38", "1e-45", "7e-46",
                                      "0.000001"}[below(from, 16)]);
    }
    to[n] = 0;
}

static float clamped(const char *text)
{
    float x = strtof(text, NULL);
    return x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : x;
}

static void assert_same_bits(float a, float b, const char *text)
{
    if (memcmp(&a, &b, sizeof a) != 0)
        fail_msg("%s: %.9g, and strtof says %.9g", text, (double)a, (double)b);
}

static void every_number_is_the_float_of_strtof(void **state)
{
    dice from = {1};
    void *c = make_c_locale();
    for (uint32_t i = 0; i < EFFORT * 130000; i++) {
        char text[200];
        bool no_memory = false;
        float value = 0;
        put_number(text, sizeof text, &from);
        const char *end = text + strlen(text);
        if (parse_value(text, end, c, &value, &no_memory) != end)
            fail_msg("%s is not taken for a number", text);
        assert_same_bits(value, strtof(text, NULL), text);
    }
    free_c_locale(c);
}

/* Rows of numbers through the parser of lines, with the vector kernel and without. */
static void rows_of_numbers_are_the_floats_of_strtof(void **state)
{
    enum { N = 24 };
    static line_tables tables;
    dice from = {2};
    char number[N][200], text[N * 220 + 400];
    void *c = make_c_locale();
    make_tables(&tables, N);
    line_parser fast = {.most_features = N, .plain = !dense_is_fast(), .tables = &tables, .c = c},
                slow = fast;
    slow.plain = 1;
    assert_true(parser_widen(&fast, N) && parser_widen(&slow, N));
    for (uint32_t r = 0; r < EFFORT * 5000; r++) {
        int n = snprintf(text, sizeof text, "3 qid:%u ", r);
        uint32_t odd =
            below(&from, 8)
                ? N
                : below(&from, N); /* mostly what the kernel takes, and once what it refuses */
        for (uint32_t f = 0; f < N; f++) {
            if (f == odd || one_in(&from, 200))
                put_number(number[f], sizeof number[f], &from);
            else
                snprintf(number[f], sizeof number[f], "%s%.*f", below(&from, 3) ? "" : "-",
                         (int)below(&from, 8), unit(&from) * pow(10, below(&from, 6)));
            n += snprintf(text + n, sizeof text - (size_t)n, "%u:%s ", f + 1, number[f]);
        }
        text[n - 1] = '\n';
        memset(text + n, 'x', 380);
        float x[N], y[N];
        line a, b;
        fast.wait = 0; /* whatever was before */
        assert_int_equal(parse_line(&fast, text, text + n, text + n + 380, x, &a), LINE_ROW);
        assert_int_equal(parse_line(&slow, text, text + n, text + n, y, &b), LINE_ROW);
        assert_true(a.next == text + n - 1 && b.next == a.next && a.query == r && a.grade == 3 &&
                    a.widest == N);
        for (uint32_t f = 0; f < N; f++)
            assert_same_bits(x[f], clamped(number[f]), number[f]);
        assert_memory_equal(x, y, sizeof x);
        assert_int_equal(a.clamped, b.clamped);
    }
    free(fast.seen);
    free(slow.seen);
    free_c_locale(c);
}

static void a_locale_with_commas_changes_nothing(void **state)
{
    const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < COUNT(commas) && !setlocale(LC_NUMERIC, commas[i]); i++)
        ;
    oltr_dataset *d =
        must_read(write_text("comma", "1 qid:1 1:0.1234567890123456789 2:1.5e-30\n"), NULL, NULL);
    setlocale(LC_NUMERIC, "C");
    assert_same_bits(d->x[0], 0.1234567890123456789f, "0.1234567890123456789");
    assert_same_bits(d->x[1], 1.5e-30f, "1.5e-30");
    oltr_dataset_free(d);
}

/* ---- what a line may be */

/* A text, and what it must be read as: one row after the other. */
typedef struct sample {
    const char *text;
    uint32_t rows, dim;
    const char *meaning; /* "query/grade: x x x; ..." */
} sample;

static const sample good[] = {
    {"1 qid:7 1:0.5 2:3\n", 1, 2, "7/1: 0.5 3; "},
    {"1 qid:7 1:0.5 2:3", 1, 2, "7/1: 0.5 3; "}, /* no newline at the end */
    {"1 qid:7 1:0.5 2:3 \r\n0 qid:7 1:1 2:1\r\n", 2, 2,
     "7/1: 0.5 3; 7/0: 1 1; "}, /* CRLF, blanks at the end */
    {"1\tqid:7\t1:0.5\t\t2:3\t\n", 1, 2, "7/1: 0.5 3; "},
    {"  1   qid:7   1:0.5    2:3\n", 1, 2, "7/1: 0.5 3; "},
    {"\n\n  \n\t\r\n1 qid:7 1:2\n\n", 1, 1, "7/1: 2; "},               /* blank lines */
    {"# head\n1 qid:7 1:2 # docid = 5\n  # more\n", 1, 1, "7/1: 2; "}, /* comments */
    {"1 qid:7 1:2#docid\n", 1, 1, "7/1: 2; "},
    {"1 qid:7 3:2\n2 qid:7 1:1\n", 2, 3, "7/1: 0 0 2; 7/2: 1 0 0; "}, /* sparse */
    {"1 qid:7 3:2 1:4 2:6\n", 1, 3, "7/1: 4 6 2; "},                  /* unsorted features */
    {"1 qid:7 1:2 1:4\n", 1, 1, "7/1: 4; "},                          /* the last one counts */
    {"1 qid:7\n0 qid:7 2:1\n", 2, 2, "7/1: 0 0; 7/0: 0 1; "},         /* a row without features */
    {"1 qid:7 1:1\n2 qid:5 1:2\n3 qid:7 1:3\n4 qid:5 1:4\n", 4, 1,
     "7/1: 1; 7/3: 3; 5/2: 2; 5/4: 4; "},
    {"2.0 qid:7 1:1\n+3 qid:7 1:1\n255 qid:7 1:1\n1e1 qid:7 1:1\n-0 qid:7 1:1\n", 5, 1,
     "7/2: 1; 7/3: 1; 7/255: 1; 7/10: 1; 7/0: 1; "},
    {"0 qid:0 1:1\n0 qid:18446744073709551615 1:2\n0 qid:007 1:3\n", 3, 1,
     "0/0: 1; 18446744073709551615/0: 2; 7/0: 3; "},
    {"0 qid:1 1:1.8e308 2:-1e999 3:1e-400\n", 1, 3, "1/0: 3.40282347e+38 -3.40282347e+38 0; "},
    {"0 qid:1 0001:+1 2:-0\n", 1, 2, "1/0: 1 -0; "},
    {"\xEF\xBB\xBF"
     "1 qid:7 1:2\n",
     1, 1, "7/1: 2; "}, /* the mark of UTF-8 */
    {"0 qid:1 4096:1\n", 1, 4096, NULL},
};

static void put_meaning(const oltr_dataset *d, char *text, size_t size)
{
    int n = 0;
    for (uint32_t q = 0; q < d->n_queries; q++)
        for (uint32_t r = d->first_row[q]; r < d->first_row[q + 1]; r++) {
            n += snprintf(text + n, size - (size_t)n, "%llu/%u:", (unsigned long long)d->query[q],
                          d->grade[r]);
            for (uint32_t f = 0; f < d->dim; f++)
                n += snprintf(text + n, size - (size_t)n, " %.9g",
                              (double)d->x[(size_t)r * d->dim + f]);
            n += snprintf(text + n, size - (size_t)n, "; ");
        }
}

static void good_lines_are_read(void **state)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        oltr_dataset *d = must_read(write_text("good", good[i].text), NULL, NULL);
        oltr_dataset *packed =
            must_read(write_gzip("good.gz", good[i].text, strlen(good[i].text)), NULL, NULL);
        char meaning[1000];
        assert_int_equal(d->n_rows, good[i].rows);
        assert_int_equal(d->dim, good[i].dim);
        if (good[i].meaning) {
            put_meaning(d, meaning, sizeof meaning);
            assert_string_equal(meaning, good[i].meaning);
        }
        assert_same_dataset(d, packed);
        oltr_dataset_free(packed);
        oltr_dataset_free(d);
    }
}

static void what_was_odd_is_reported(void **state)
{
    oltr_read_report r;
    oltr_dataset_free(must_read(write_text("odd", "# c\n\n0 qid:1 1:1e50 2:1 2:2 1:-1e400\n1 qid:2 "
                                                  "1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8 9:9 3:3 \n"),
                                NULL, &r));
    assert_int_equal(r.lines, 4);
    assert_int_equal(r.clamped, 2);
    assert_int_equal(r.duplicates, 3);
    assert_int_equal(r.skipped, 0);
    assert_int_equal(r.first_skipped_line, 0);
    assert_int_equal(r.from_cache, 0);
}

/* ---- what it may not be */

typedef struct fault {
    const char *line;
    unsigned column;
    const char *words;
} fault;

static const fault faults[] = {
    {"python 2:2.5", 1, "expected a grade, a whole number from 0 to 255, found \"python\""},
    {"-1 qid:1 1:1", 1, "expected a grade"},
    {"0.5 qid:1 1:1", 1, "expected a grade"},
    {"256 qid:1 1:1", 1, "expected a grade"},
    {"1e99 qid:1 1:1", 1, "expected a grade"},
    {"nan qid:1 1:1", 1, "expected a grade"},
    {"qid:1 1:1", 1, "expected a grade"},
    {"1", 2, "expected qid:NUMBER behind the grade, found the end of"},
    {"1 1:2", 3, "expected qid:NUMBER behind the grade, found \"1:2\""},
    {"1 # qid:1", 3, "expected qid:NUMBER behind the grade, found a comment"},
    {"1 QID:1 1:2", 3, "expected qid:NUMBER"},
    {"1 qid: 1:2", 7, "expected a query number"},
    {"1 qid:-1 1:2", 7, "expected a query number of 64 bits, found \"-1\""},
    {"1 qid:1.5 1:2", 7, "expected a query number"},
    {"1 qid:18446744073709551616 1:2", 7, "expected a query number"},
    {"1 qid:1 abc", 9, "expected a feature like 7:0.25, found \"abc\""},
    {"1 qid:1 1", 9, "expected a feature like 7:0.25"},
    {"1 qid:1 :5", 9, "expected a feature like 7:0.25"},
    {"1 qid:1 -3:5", 9, "expected a feature like 7:0.25"},
    {"1 qid:1 1:1 0:5", 13, "expected a feature id from 1 to 4096, found \"0:5\""},
    {"1 qid:1 4097:5", 9, "expected a feature id from 1 to 4096"},
    {"1 qid:1 99999999999999999999999:5", 9, "expected a feature id from 1 to 4096"},
    {"1 qid:1 1:", 11, "expected a number like 0.25 after the colon, found the end of"},
    {"1 qid:1 1: 2:5", 11, "expected a number like 0.25 after the colon, found"},
    {"1 qid:1 1:x", 11, "expected a number like 0.25 after the colon, found \"x\""},
    {"1 qid:1 1:0x10", 11, "expected a number"},
    {"1 qid:1 1:1,5", 11, "expected a number"},
    {"1 qid:1 1:1e", 11, "expected a number"},
    {"1 qid:1 1:1e+", 11, "expected a number"},
    {"1 qid:1 1:.", 11, "expected a number"},
    {"1 qid:1 1:-", 11, "expected a number"},
    {"1 qid:1 1:--1", 11, "expected a number"},
    {"1 qid:1 1:1.2.3", 11, "expected a number"},
    {"1 qid:1 1:5:6", 11, "expected a number"},
    {"1 qid:1 1:nan", 11, "expected a finite number after the colon, found \"nan\""},
    {"1 qid:1 1:-inf", 11, "expected a finite number"},
    {"1 qid:1 1:Infinity", 11, "expected a finite number"},
    {"1 qid:1 1:NaN(7)", 11, "expected a finite number"},
    {"1 qid:1 1:a\x1b[31mred_and_very_long_indeed_so_that_it_is_cut", 11,
     "found \"a?[31mred_and_very_long_indeed...\""},
};

static void bad_lines_are_refused_with_their_place(void **state)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        char text[300], place[300];
        oltr_error error = {OLTR_OK, ""};
        snprintf(text, sizeof text, "# head\n0 qid:1 1:1\n%s\n0 qid:1 nonsense\n", faults[i].line);
        const char *path = write_text("bad", text);
        assert_null(oltr_dataset_read(path, NULL, NULL, &error));
        assert_int_equal(error.code, OLTR_EDATA);
        snprintf(place, sizeof place, "%s, line 3, column %u: ", path, faults[i].column);
        if (strncmp(error.msg, place, strlen(place)) != 0 || !strstr(error.msg, faults[i].words))
            fail_msg("\"%s\" gives: %s", faults[i].line, error.msg);
    }
}

/* The same in a dense row, where the vector kernel meets it first. */
static void bad_values_in_dense_rows_are_refused_with_their_place(void **state)
{
    static const char *const values[] = {"x",
                                         "",
                                         ".",
                                         "-",
                                         "1.2.3",
                                         "--1",
                                         "1-",
                                         "+-1",
                                         "0x1",
                                         "1e",
                                         "nan",
                                         "5:6",
                                         "1\v",
                                         "1,5",
                                         "123456789012345678x",
                                         "12345678901234\x80",
                                         "/",
                                         ":",
                                         "\x7f"};
    for (size_t i = 0; i < COUNT(values); i++)
        for (uint32_t at = 1; at <= 20; at++) {
            char text[2000], column[40];
            oltr_error error = {OLTR_OK, ""};
            int n = snprintf(text, sizeof text, "1 qid:1 2:0 20:0\n1 qid:1"), begin = 17, value = 0;
            for (uint32_t f = 1; f <= 20; f++) {
                n += snprintf(text + n, sizeof text - (size_t)n, " %u:", f);
                value = f == at ? n : value;
                n += snprintf(text + n, sizeof text - (size_t)n, "%s",
                              f == at ? values[i] : "0.125");
            }
            memset(text + n, ' ', 500); /* so that the kernel goes all the way */
            n += 500;
            text[n++] = '\n';
            assert_null(
                oltr_dataset_read(write_bytes("dense", text, (size_t)n), NULL, NULL, &error));
            snprintf(column, sizeof column, "line 2, column %d:", value - begin + 1);
            if (!strstr(error.msg, column))
                fail_msg("value \"%s\" of feature %u: %s", values[i], at, error.msg);
        }
}

static void a_limit_of_features_is_kept(void **state)
{
    oltr_error error;
    const char *path = write_text("limit", "1 qid:1 1:1 9:1\n");
    oltr_read_options o = {.most_features = 8};
    assert_null(oltr_dataset_read(path, &o, NULL, &error));
    assert_non_null(
        strstr(error.msg, "column 13: expected a feature id from 1 to 8, found \"9:1\""));
    o.most_features = 9;
    oltr_dataset_free(must_read(path, &o, NULL));
    path = write_text("limit", "1 qid:1 1048576:1\n");
    o.most_features = 1 << 20;
    oltr_dataset *d = must_read(path, &o, NULL);
    assert_int_equal(d->dim, 1 << 20);
    oltr_dataset_free(d);
    o.most_features++;
    assert_null(oltr_dataset_read(path, &o, NULL, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
}

static void lenient_counts_and_skips(void **state)
{
    oltr_read_report r;
    oltr_read_options lenient = {.lenient = 1};
    oltr_dataset *d = must_read(
        write_text("lenient", "0 qid:1 1:1\n\n1 qid:1 1:nan 77:1\nx\n2 qid:2 2:2\n"), &lenient, &r);
    oltr_dataset *same = must_read(write_text("same", "0 qid:1 1:1\n2 qid:2 2:2\n"), NULL, NULL);
    assert_same_dataset(d, same);
    assert_int_equal(r.lines, 5);
    assert_int_equal(r.skipped, 2);
    assert_int_equal(r.first_skipped_line, 3);
    assert_string_equal(r.first_reason,
                        "column 11: expected a finite number after the colon, found \"nan\"");
    oltr_dataset_free(d);
    oltr_dataset_free(same);
}

static void nothing_is_an_error(void **state)
{
    static const struct {
        const char *text, *words;
        int lenient;
    } empty[] = {
        {"", "has no row", 0},
        {"\n\n# only words\n", "has no row", 0},
        {"1 qid:1\n2 qid:1 # nothing\n", "has no row with a feature", 0},
        {"x\ny\n",
         "has no good row; 2 were skipped, the first in line 1, column 1: expected a grade", 1}};
    for (size_t i = 0; i < COUNT(empty); i++) {
        oltr_error error;
        oltr_read_options o = {.lenient = empty[i].lenient};
        assert_null(oltr_dataset_read(write_text("empty", empty[i].text), &o, NULL, &error));
        assert_int_equal(error.code, OLTR_EDATA);
        if (!strstr(error.msg, empty[i].words))
            fail_msg("%s", error.msg);
    }
}

/* ---- many rows, many threads, every way in */

typedef struct text {
    char *at;
    size_t n, room;
} text;

static void append_bytes(text *t, const void *bytes, size_t n)
{
    if (t->n + n + 1 > t->room) {
        t->room = 2 * t->room + n + 1;
        t->at = realloc(t->at, t->room);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
    t->at[t->n] = 0;
}

static void append(text *t, const char *words)
{
    append_bytes(t, words, strlen(words));
}

/* Judged documents with everything in them: dense and sparse rows, comments, blanks, queries that
 * come back, wider rows later. */
static text motley(uint64_t seed, uint32_t rows, uint32_t dim, uint32_t bad_every)
{
    dice from = {seed};
    text t = {NULL, 0, 0};
    char word[260];
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t wide = 1 + (uint32_t)((uint64_t)dim * (r + 1) / rows),
                 sparse = r + 1 < rows ? below(&from, 3) : 0; /* the last row has all */
        wide = wide < dim ? wide : dim;
        snprintf(word, sizeof word, "%u qid:%u", below(&from, 5),
                 below(&from, 20) ? r / 9 : below(&from, 50));
        append(&t, word);
        for (uint32_t f = 1; f <= wide; f++) {
            if (sparse == 1 && below(&from, 4))
                continue;
            snprintf(word, sizeof word, "%s%u:", below(&from, 60) ? " " : "\t ",
                     sparse == 2 && r % 5 == 0 ? dim + 1 - f : f);
            append(&t, word);
            if (below(&from, 50))
                snprintf(word, sizeof word, "%.*f", (int)below(&from, 7), 100 * unit(&from) - 20);
            else
                put_number(word, sizeof word, &from);
            append(&t, word);
        }
        append(&t, below(&from, 3)   ? below(&from, 2) ? "\n" : " \n"
                   : below(&from, 2) ? "\r\n"
                                     : " # docid = 7\n");
        if (one_in(&from, 40))
            append(&t, below(&from, 2) ? "\n" : "# a comment\n");
        if (bad_every && r % bad_every == bad_every - 1)
            append(&t, "1 qid:x 1:1\n");
    }
    return t;
}

/* The obvious reader of a good text: row by row, query by query. */
typedef struct obvious {
    uint32_t n, dim;
    uint64_t query[20000];
    uint8_t grade[20000];
    float *x; /* (n, dim) */
} obvious;

static void obvious_line(obvious *o, char *words)
{
    char *save = NULL, *comment = strchr(words, '#');
    if (comment)
        *comment = 0;
    char *word = strtok_r(words, " \t\r", &save);
    if (!word)
        return;
    o->grade[o->n] = (uint8_t)strtod(word, NULL);
    o->query[o->n] = strtoull(strtok_r(NULL, " \t\r", &save) + 4, NULL, 10);
    while ((word = strtok_r(NULL, " \t\r", &save)))
        o->x[(size_t)o->n * o->dim + strtoul(word, NULL, 10) - 1] = clamped(strchr(word, ':') + 1);
    o->n++;
}

static void assert_is_obvious(const oltr_dataset *d, const text *t, uint32_t dim)
{
    static obvious o;
    char *copy = strdup(t->at), *save = NULL;
    o.n = 0;
    o.dim = dim;
    o.x = exactly((size_t)20000 * dim, sizeof *o.x);
    for (char *next = strtok_r(copy, "\n", &save); next; next = strtok_r(NULL, "\n", &save))
        obvious_line(&o, next);
    assert_int_equal(d->n_rows, o.n);
    assert_int_equal(d->dim, dim);
    uint32_t row = 0, q = 0;
    char *taken = exactly(o.n, 1);
    for (uint32_t i = 0; i < o.n; i++) {
        if (taken[i])
            continue;
        assert_int_equal(d->query[q], o.query[i]);
        assert_int_equal(d->first_row[q++], row);
        for (uint32_t j = i; j < o.n; j++)
            if (o.query[j] == o.query[i]) {
                taken[j] = 1;
                assert_int_equal(d->grade[row], o.grade[j]);
                assert_memory_equal(d->x + (size_t)row * dim, o.x + (size_t)j * dim,
                                    dim * sizeof *o.x);
                row++;
            }
    }
    assert_int_equal(d->n_queries, q);
    assert_int_equal(d->first_row[q], row);
    free(taken);
    free(o.x);
    free(copy);
}

static oltr_dataset *read_plain(const char *path, uint32_t threads)
{
    struct stat stat;
    const char *foreign;
    oltr_read_options o;
    check_read_options(&(oltr_read_options){.threads = threads}, &o, NULL);
    int fd = open_input(path, &stat, NULL);
    return read_text(path, fd, &stat, kind_of(fd, &foreign), &o, 1, NULL, NULL);
}

/* Through a pipe on standard input. */
static oltr_dataset *read_pipe(const char *path, uint32_t threads, oltr_error *error)
{
    char command[200];
    snprintf(command, sizeof command, "cat %s", path);
    int before = dup(0);
    FILE *pipe_ = popen(command, "r");
    assert_non_null(pipe_);
    dup2(fileno(pipe_), 0);
    oltr_dataset *d = oltr_dataset_read("-", &(oltr_read_options){.threads = threads}, NULL, error);
    dup2(before, 0);
    close(before);
    pclose(pipe_);
    return d;
}

static void assert_same_and_free(oltr_dataset *d, const oltr_dataset *expected)
{
    assert_non_null(d);
    assert_same_dataset(d, expected);
    oltr_dataset_free(d);
}

static void any_threads_any_way_in_the_same_bytes(void **state)
{
    static const uint32_t shapes[][2] = {{4000, 60}, {9000, 20}, {600, 700}, {15000, 1}, {3, 4096}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        text t = motley(i + 1, shapes[i][0], shapes[i][1], 0);
        const char *path = write_bytes("motley", t.at, t.n),
                   *packed = write_gzip("motley.gz", t.at, t.n);
        oltr_dataset *first = must_read(path, &(oltr_read_options){.threads = 1}, NULL);
        assert_is_obvious(first, &t, shapes[i][1]);
        static const uint32_t threads[] = {2, 7, 0};
        for (size_t j = 0; j < COUNT(threads); j++) {
            assert_same_and_free(must_read(path, &(oltr_read_options){.threads = threads[j]}, NULL),
                                 first);
            assert_same_and_free(
                must_read(packed, &(oltr_read_options){.threads = threads[j]}, NULL), first);
            assert_same_and_free(read_plain(path, threads[j]), first);
            assert_same_and_free(read_pipe(path, threads[j], NULL), first);
            assert_same_and_free(read_pipe(packed, threads[j], NULL), first);
        }
        oltr_dataset_free(first);
        free(t.at);
    }
}

static void the_first_error_is_the_same_for_any_threads(void **state)
{
    text t = motley(9, 8000, 40, 1700);
    const char *path = write_bytes("faulty", t.at, t.n),
               *packed = write_gzip("faulty.gz", t.at, t.n);
    oltr_error first, error;
    assert_null(oltr_dataset_read(path, &(oltr_read_options){.threads = 1}, NULL, &first));
    uint32_t number = 1;
    for (const char *at = t.at; strncmp(at, "1 qid:x", 7) != 0; at = strchr(at, '\n') + 1)
        number++;
    char place[40];
    snprintf(place, sizeof place, "line %u, column 7: ", number);
    assert_non_null(strstr(first.msg, place));
    for (uint32_t i = 0; i < 40; i++) {
        assert_null(
            oltr_dataset_read(path, &(oltr_read_options){.threads = 2 + i % 6}, NULL, &error));
        assert_string_equal(error.msg, first.msg);
        assert_null(
            oltr_dataset_read(packed, &(oltr_read_options){.threads = 2 + i % 6}, NULL, &error));
        assert_string_equal(strstr(error.msg, ", line"), strstr(first.msg, ", line"));
    }
    oltr_read_report one, many;
    oltr_dataset *d = must_read(path, &(oltr_read_options){.threads = 1, .lenient = 1}, &one);
    assert_same_and_free(must_read(path, &(oltr_read_options){.threads = 7, .lenient = 1}, &many),
                         d);
    assert_memory_equal(&one, &many, sizeof one);
    assert_int_equal(one.skipped, 4);
    assert_int_equal(one.first_skipped_line, number);
    oltr_dataset_free(d);
    free(t.at);
}

/* A line of `n` bytes in a comment, between two rows. */
static text long_line(size_t n)
{
    text t = {NULL, 0, 0};
    append(&t, "1 qid:1 1:1 #");
    char *words = exactly(n + 1, 1);
    memset(words, 'x', n);
    append(&t, words);
    append(&t, "\n2 qid:1 1:2\n");
    free(words);
    return t;
}

static void lines_may_be_long_but_not_endless(void **state)
{
    static const size_t sizes[] = {1 << 18, 1 << 20, 1 << 23};
    for (size_t i = 0; i < 3; i++) {
        text t = long_line(sizes[i]);
        oltr_dataset *d = must_read(write_bytes("long", t.at, t.n), NULL, NULL);
        assert_int_equal(d->n_rows, 2);
        assert_same_and_free(must_read(write_gzip("long.gz", t.at, t.n), NULL, NULL), d);
        oltr_dataset_free(d);
        free(t.at);
    }
    text t = long_line(18 << 20);
    oltr_error error;
    assert_null(oltr_dataset_read(write_bytes("long", t.at, t.n), NULL, NULL, &error));
    assert_non_null(strstr(error.msg, ", line 1, column 1: expected a line of at most 16 MiB"));
    assert_null(oltr_dataset_read(write_gzip("long.gz", t.at, t.n), NULL, NULL, &error));
    assert_non_null(strstr(error.msg, ", line 1, column 1: expected a line of at most 16 MiB"));
    free(t.at);
}

/* A text that ends with a page: nothing behind it may be looked at. */
static void a_text_may_end_with_its_page(void **state)
{
    for (uint32_t tail = 0; tail < 40; tail++) {
        text t = {NULL, 0, 0};
        append(&t, "#");
        while (t.n < 4096 - 200 - tail)
            append(&t, ".");
        append(&t, "\n1 qid:1");
        for (uint32_t f = 1; t.n + 12 < 4096; f++) {
            char word[40];
            snprintf(word, sizeof word, " %u:0.5", f);
            append(&t, word);
        }
        append(&t, " 99:1.");
        while (t.n < 4096)
            append(&t, "0");
        oltr_dataset *d = must_read(write_bytes("page", t.at, t.n), NULL, NULL);
        assert_int_equal(d->dim, 99);
        assert_true(d->x[98] == 1.0f && d->x[0] == 0.5f);
        oltr_dataset_free(d);
        free(t.at);
    }
}

/* ---- files that cannot be read */

static void assert_refused(const char *path, oltr_status code, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_dataset_read(path, NULL, NULL, &error));
    if (error.code != code || !strstr(error.msg, words))
        fail_msg("%s: %s", oltr_status_name(error.code), error.msg);
}

static void what_is_no_text_is_called_that(void **state)
{
    assert_refused(NULL, OLTR_EINVAL, "a path is needed");
    assert_refused(path_of("absent"), OLTR_EIO, "cannot read");
    assert_refused(folder, OLTR_EIO, "is a folder");
    assert_refused(write_text("x.bz2", "BZh91AY"), OLTR_EDATA, "is packed with bzip2; unpack it");
    assert_refused(write_text("x.xz", "\xFD"
                                      "7zXZ..."),
                   OLTR_EDATA, "is packed with xz");
    assert_refused(write_text("x.zst", "\x28\xB5\x2F\xFD..."), OLTR_EDATA, "is packed with zstd");
    assert_refused(write_text("x.zip", "PK\3\4..."), OLTR_EDATA, "is packed with zip");
    char path[600], name[500];
    memset(name, 'n', sizeof name);
    snprintf(path, sizeof path, "%s/%.*s", folder, 240, name);
    write_bytes("short", "x", 1);
    assert_int_equal(rename(path_of("short"), path), 0);
    assert_refused(
        path, OLTR_EDATA,
        "nnn, line 1, column 1: expected a grade"); /* a long path does not hide the place */
}

static void damaged_gzip_is_refused(void **state)
{
    size_t n;
    text t = motley(3, 300, 20, 0);
    unsigned char *packed = read_bytes(write_gzip("whole.gz", t.at, t.n), &n);
    for (size_t cut = 3; cut < n; cut += 1 + n / 200)
        assert_null(oltr_dataset_read(write_bytes("cut.gz", packed, cut), NULL, NULL, NULL));
    assert_refused(write_bytes("cut.gz", packed, n - 6), OLTR_EIO,
                   "the compressed file is cut short");
    packed[n - 6] ^= 1;
    assert_refused(write_bytes("flip.gz", packed, n), OLTR_EIO, "cannot read");
    packed[n - 6] ^= 1;
    unsigned char *twice = exactly(2 * n, 1); /* gzip files may be put behind each other */
    memcpy(twice, packed, n);
    memcpy(twice + n, packed, n);
    oltr_dataset *one = must_read(path_of("whole.gz"), NULL, NULL);
    oltr_dataset *two = must_read(write_bytes("twice.gz", twice, 2 * n), NULL, NULL);
    assert_int_equal(two->n_rows, 2 * one->n_rows);
    assert_int_equal(two->n_queries, one->n_queries);
    oltr_dataset_free(one);
    oltr_dataset_free(two);
    free(twice);
    free(packed);
    free(t.at);
}

/* `tail` of n bytes behind so many members. */
static const char *with_tail(const unsigned char *packed, size_t size, int members,
                             const void *tail, size_t n)
{
    unsigned char *all = exactly((size_t)members * size + n + 1, 1);
    for (int i = 0; i < members; i++)
        memcpy(all + (size_t)i * size, packed, size);
    memcpy(all + (size_t)members * size, tail, n);
    const char *path = write_bytes("tail.gz", all, (size_t)members * size + n);
    free(all);
    return path;
}

/* zlib's own reader would end at the last member without a word. */
static void what_follows_a_gzip_file_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t n, fault; /* fault: which of them is wrong, from 1 */
    } tail[] = {{"1 qid:1 1:1\n", 12, 1}, {"x", 1, 1},       {"\n", 1, 1},        {"\x1F", 1, 1},
                {"\x1F\x8A\0", 3, 1},     {"\0\0\0z", 4, 4}, {"\0\x1F\x8B", 3, 2}};
    size_t n;
    text t = motley(4, 300, 20, 0);
    unsigned char *packed = read_bytes(write_gzip("whole.gz", t.at, t.n), &n);
    for (size_t i = 0; i < COUNT(tail); i++)
        for (int members = 1; members <= 2; members++) {
            char words[80];
            const char *path = with_tail(packed, n, members, tail[i].bytes, tail[i].n);
            snprintf(words, sizeof words, "tail.gz: the bytes from %zu on are not gzip",
                     (size_t)members * n + tail[i].fault);
            assert_refused(path, OLTR_EIO, words);
        }
    assert_refused(with_tail(packed, n, 1, "\x1F\x8B", 2), OLTR_EIO,
                   "the compressed file is cut short");
    assert_refused(with_tail(packed, n, 1, "\x1F\x8B\x07\0\0\0\0\0\0\3", 10), OLTR_EIO,
                   "unknown compression method");
    free(packed);
    free(t.at);
}

static void zeros_may_follow_a_gzip_file(void **state)
{
    size_t n, zeros[] = {1, 2, 511, 300000};
    text t = motley(5, 300, 20, 0);
    unsigned char *packed = read_bytes(write_gzip("whole.gz", t.at, t.n), &n);
    unsigned char *nothing = calloc(300000, 1);
    oltr_dataset *whole = must_read(path_of("whole.gz"), NULL, NULL);
    for (size_t i = 0; i < COUNT(zeros); i++) {
        oltr_dataset *d = must_read(with_tail(packed, n, 1, nothing, zeros[i]), NULL, NULL);
        assert_same_dataset(d, whole);
        oltr_dataset_free(d);
    }
    oltr_dataset_free(whole);
    free(nothing);
    free(packed);
    free(t.at);
}

/* Members of any size, empty ones among them, begin and end anywhere in the buffer of the file. */
static void many_gzip_members_are_one_text(void **state)
{
    text t = motley(6, 3000, 20, 0), all = {NULL, 0, 0};
    oltr_dataset *plain = must_read(write_bytes("members", t.at, t.n), NULL, NULL);
    dice from = {6};
    for (size_t at = 0; at < t.n;) {
        size_t size = below(&from, 4) ? below(&from, 20000) : 0, n;
        size = size < t.n - at ? size : t.n - at;
        unsigned char *packed = read_bytes(write_gzip("member.gz", t.at + at, size), &n);
        append_bytes(&all, packed, n);
        free(packed);
        at += size;
    }
    oltr_dataset *d = must_read(write_bytes("members.gz", all.at, all.n), NULL, NULL);
    assert_same_dataset(d, plain);
    oltr_dataset_free(d);
    oltr_dataset_free(plain);
    free(all.at);
    free(t.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_the_float_of_strtof),
        cmocka_unit_test(rows_of_numbers_are_the_floats_of_strtof),
        cmocka_unit_test(a_locale_with_commas_changes_nothing),
        cmocka_unit_test(good_lines_are_read),
        cmocka_unit_test(what_was_odd_is_reported),
        cmocka_unit_test(bad_lines_are_refused_with_their_place),
        cmocka_unit_test(bad_values_in_dense_rows_are_refused_with_their_place),
        cmocka_unit_test(a_limit_of_features_is_kept),
        cmocka_unit_test(lenient_counts_and_skips),
        cmocka_unit_test(nothing_is_an_error),
        cmocka_unit_test(any_threads_any_way_in_the_same_bytes),
        cmocka_unit_test(the_first_error_is_the_same_for_any_threads),
        cmocka_unit_test(lines_may_be_long_but_not_endless),
        cmocka_unit_test(a_text_may_end_with_its_page),
        cmocka_unit_test(what_is_no_text_is_called_that),
        cmocka_unit_test(damaged_gzip_is_refused),
        cmocka_unit_test(what_follows_a_gzip_file_is_refused),
        cmocka_unit_test(zeros_may_follow_a_gzip_file),
        cmocka_unit_test(many_gzip_members_are_one_text),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
