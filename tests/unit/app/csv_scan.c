/* csv_scan.c - the scanner of CSV logs against a slow twin: random records with quotes, separators
 * and newlines in them, across the borders of pieces and blocks, from a map and from a stream; bad
 * records and the line behind them. */
#define _POSIX_C_SOURCE 200809L
#include "app/logs/csv_scan.h"
#include "app/logs/log_columns.h"
#include "support/texts.h"

enum { MOST = 400000, LONGEST = 1 << 20 };

/* A table of fields, row by row, in one text with lengths. */
struct table {
    uint32_t n_rows, n_fields[MOST];
    uint64_t line[MOST];
    size_t n_lengths;
    uint32_t length[4 * MOST];
    struct text bytes;
};

static struct table wanted;

static char any_byte(dice *d)
{
    static const char often[] = ",\"\n\r;ab 1";
    return below(d, 3) ? often[below(d, sizeof often - 1)] : (char)(1 + below(d, 255));
}

/* A field that needs quotes where `quotes` allows it, else one without special bytes. */
static void random_field(dice *d, bool quotes, struct text *field)
{
    uint32_t size = below(d, 20) ? below(d, 12) : below(d, 300);
    field->length = 0;
    for (uint32_t i = 0; i < size; i++) {
        char c = any_byte(d);
        while (!quotes && strchr(",\"\n\r", c))
            c = any_byte(d);
        text_bytes(field, &c, 1);
    }
}

static void add_quoted(struct text *out, const struct text *field)
{
    text_add(out, "\"");
    for (size_t i = 0; i < field->length; i++) {
        text_bytes(out, field->bytes + i, 1);
        if (field->bytes[i] == '"')
            text_add(out, "\"");
    }
    text_add(out, "\"");
}

/* One record, written to `out` and to `wanted`. */
static void random_record(dice *d, bool quotes, uint64_t *line, struct text *out)
{
    uint32_t n = 1 + below(d, 6);
    struct text field = {0};
    text_reserve(&field, 512);
    wanted.line[wanted.n_rows] = *line;
    wanted.n_fields[wanted.n_rows++] = n;
    for (uint32_t i = 0; i < n; i++) {
        random_field(d, quotes, &field);
        if (n == 1 && field.length == 0)
            text_add(&field, "x"); /* else it would be an empty line */
        bool special =
            quotes &&
            (field.length == 0 || below(d, 2) || memchr(field.bytes, ',', field.length) ||
             memchr(field.bytes, '"', field.length) || memchr(field.bytes, '\n', field.length) ||
             memchr(field.bytes, '\r', field.length));
        if (special)
            add_quoted(out, &field);
        else
            text_bytes(out, field.bytes, field.length);
        for (size_t j = 0; j < field.length; j++)
            *line += field.bytes[j] == '\n';
        text_add(out, i + 1 < n ? "," : "");
        text_bytes(&wanted.bytes, field.bytes, field.length);
        wanted.length[wanted.n_lengths++] = (uint32_t)field.length;
    }
    text_add(out, below(d, 2) ? "\r\n" : "\n");
    ++*line;
    for (; below(d, 10) == 0; ++*line)
        text_add(out, "\n");
    text_free(&field);
}

static void expect_table(const char *path)
{
    struct log_input in;
    struct csv_scan scan;
    oltr_error error = {OLTR_OK, ""};
    size_t at = 0, length = 0;
    assert_int_equal(log_input_open(&in, path, &error), OLTR_OK);
    assert_int_equal(csv_scan_begin(&scan, &in, &error), OLTR_OK);
    for (uint32_t row = 0; row < wanted.n_rows; row++) {
        assert_int_equal(csv_scan_next(&scan, &error), CSV_RECORD);
        assert_int_equal(scan.line, wanted.line[row]);
        assert_int_equal(scan.n_fields, wanted.n_fields[row]);
        for (uint32_t i = 0; i < scan.n_fields; i++) {
            assert_int_equal(scan.field[i].size, wanted.length[length]);
            assert_memory_equal(scan.field[i].at, wanted.bytes.bytes + at, scan.field[i].size);
            at += wanted.length[length++];
        }
    }
    assert_int_equal(csv_scan_next(&scan, &error), CSV_END);
    assert_int_equal(csv_scan_next(&scan, &error), CSV_END);
    csv_scan_free(&scan);
    log_input_close(&in);
}

/* As a map and as a stream, with and without the newline of the last line. */
static void reads_what_was_written(void **state)
{
    for (uint32_t round = 0; round < 40; round++) {
        dice d = {round + 1};
        struct text out = {0};
        uint64_t line = 1;
        bool large = round % 10 == 0, mark = round % 3 == 0, quotes = round % 2;
        wanted.n_rows = 0;
        wanted.n_lengths = wanted.bytes.length = 0;
        text_add(&out, mark ? "\xEF\xBB\xBF" : "");
        for (uint32_t i = 0; i < (large ? 40000u : 1 + below(&d, 200)); i++)
            random_record(&d, quotes, &line, &out);
        assert_false(out.failed);
        while (round % 4 == 1 && out.length > 0 && strchr("\r\n", out.bytes[out.length - 1]))
            out.length--;
        expect_table(write_bytes("t.csv", out.bytes, out.length));
        expect_table(write_gzip("t.csv.gz", out.bytes, out.length));
        text_free(&out);
    }
    text_free(&wanted.bytes);
}

static void finds_stops(void **state)
{
    dice d = {3};
    for (uint32_t round = 0; round < 20000; round++) {
        char text[64];
        uint64_t slow = 0;
        for (uint32_t i = 0; i < 64; i++) {
            text[i] = below(&d, 4) ? (char)below(&d, 256) : any_byte(&d);
            slow |= (uint64_t)(text[i] == ',' || text[i] == '\n') << i;
        }
        assert_int_equal(csv_stops(text, ','), slow);
        assert_int_equal(csv_stops_plain(text, ','), slow);
    }
}

/* The results of a text, one letter each: R with the number of fields, B, and the lines. */
static void expect_results(const char *text, const char *results)
{
    struct log_input in;
    struct csv_scan scan;
    oltr_error error = {OLTR_OK, ""};
    char got[256] = "";
    assert_int_equal(log_input_open(&in, write_text("r.csv", text), &error), OLTR_OK);
    assert_int_equal(csv_scan_begin(&scan, &in, &error), OLTR_OK);
    for (enum csv_result result; (result = csv_scan_next(&scan, &error)) != CSV_END;) {
        size_t used = strlen(got);
        assert_int_not_equal(result, CSV_FAILED);
        if (result == CSV_BAD)
            assert_true(strlen(scan.fault) > 0);
        snprintf(got + used, sizeof got - used, "%s%llu", result == CSV_BAD ? " B" : " R",
                 (unsigned long long)scan.line);
        used = strlen(got);
        if (result == CSV_RECORD)
            snprintf(got + used, sizeof got - used, ":%u", scan.n_fields);
    }
    assert_string_equal(got, results);
    csv_scan_free(&scan);
    log_input_close(&in);
}

static void goes_on_behind_bad_records(void **state)
{
    expect_results("", "");
    expect_results("\n\r\n\n", "");
    expect_results("a,b", " R1:2");
    expect_results("a,b\n\"c\"d,e\nf,g\n", " R1:2 B2 R3:2");
    expect_results("a,b\n\"c,d\ne,f\n", " R1:2 B2 R3:2");
    expect_results("a\n\"b\nc\"\nd\n", " R1:1 R2:1 R4:1");
    expect_results("\"", " B1");
    expect_results("\"\"\"\n", " B1");
    expect_results("a\"b,c\n", " R1:2");
    expect_results(",\n,,\n", " R1:2 R2:3");
    expect_results("\"a\"\r\n\"b\"", " R1:1 R2:1");
    expect_results("a\rb\n", " R1:1"); /* a return alone ends no line */
}

/* Empty lines, more than a piece and a block of them, between records and at both ends. */
static void passes_over_empty_lines(void **state)
{
    enum { EMPTY = 1 << 20 };
    struct text out = {0};
    char wants[64];
    for (uint32_t i = 0; i < EMPTY; i++)
        text_add(&out, "\n");
    text_add(&out, "a,b\n");
    for (uint32_t i = 0; i < EMPTY; i++)
        text_add(&out, i % 3 ? "\n" : "\r\n");
    text_add(&out, "c\n");
    for (uint32_t i = 0; i < EMPTY; i++)
        text_add(&out, "\n");
    assert_false(out.failed);
    snprintf(wants, sizeof wants, " R%d:2 R%d:1", EMPTY + 1, 2 * EMPTY + 2);
    expect_results(out.bytes, wants);
    text_free(&out);
}

/* A quote that is never closed costs memory for one record, not for the log. */
static void bounds_memory(void **state)
{
    struct log_input in;
    struct csv_scan scan;
    oltr_error error = {OLTR_OK, ""};
    size_t size = 4 * (size_t)LONGEST;
    char *text = exactly(size, 1);
    for (size_t i = 0; i < size; i++)
        text[i] = i % 50 == 49 ? '\n' : 'a';
    text[100] = '"';
    assert_int_equal(log_input_open(&in, write_bytes("m.csv", text, size), &error), OLTR_OK);
    assert_int_equal(csv_scan_begin(&scan, &in, &error), OLTR_OK);
    uint64_t records = 0, bad = 0;
    for (enum csv_result result; (result = csv_scan_next(&scan, &error)) != CSV_END;) {
        records += result == CSV_RECORD;
        bad += result == CSV_BAD;
        assert_true(in.joined.capacity <= 4 * (size_t)LONGEST);
    }
    assert_int_equal(bad, 1);
    assert_int_equal(records, (size + 49) / 50 - 1);
    csv_scan_free(&scan);
    log_input_close(&in);
    free(text);
}

static void peeks_and_reads_lines(void **state)
{
    struct log_input in;
    oltr_error error = {OLTR_OK, ""};
    const char *text;
    size_t size;
    uint64_t line;
    assert_int_equal(
        log_input_open(&in, write_text("l", "\xEF\xBB\xBF\n \r\n {\"a\":1}\r\n\nx"), &error),
        OLTR_OK);
    assert_int_equal(log_input_peek(&in, &error), '{');
    assert_int_equal(log_input_line(&in, &text, &size, &line, &error), 1);
    assert_int_equal(line, 3);
    assert_memory_equal(text, " {\"a\":1}\r", size);
    assert_int_equal(log_input_line(&in, &text, &size, &line, &error), 1);
    assert_int_equal(line, 5);
    assert_int_equal(size, 1);
    assert_int_equal(log_input_line(&in, &text, &size, &line, &error), 0);
    assert_true(log_input_share(&in) == 1);
    log_input_close(&in);
    log_input_close(&in);
    assert_int_equal(log_input_open(&in, path_of("nothing"), &error), OLTR_EIO);
    assert_int_equal(log_input_open(&in, write_bytes("z", "PK\3\4x", 5), &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "packed with zip"));
    assert_int_equal(log_input_open(&in, write_text("empty", " \n"), &error), OLTR_OK);
    assert_int_equal(log_input_peek(&in, &error), 0);
    log_input_close(&in);
}

static char separator_of(const char *line)
{
    return log_separator(line, line + strlen(line));
}

static void finds_columns(void **state)
{
    struct log_names names = {.features = NULL};
    struct log_columns c;
    oltr_error error = {OLTR_OK, ""};
    const struct csv_text head[] = {{"Query_ID", 8}, {" DOC ", 5}, {"Rank", 4}, {"clicked", 7},
                                    {"sku", 3},      {"x2", 2},    {"x1", 2}};
    assert_int_equal(log_columns_find(&names, head, 7, 0, &c, &error), OLTR_OK);
    assert_int_equal(c.at[ROLE_LIST], 0);
    assert_int_equal(c.at[ROLE_ITEM], 1);
    assert_int_equal(c.at[ROLE_POSITION], 2);
    assert_int_equal(c.at[ROLE_CLICK], 3);
    assert_int_equal(c.at[ROLE_REWARD], NO_COLUMN);
    log_columns_free(&c);
    assert_int_equal(log_names_add(&names, "item=SKU,click=rank", &error), OLTR_OK);
    assert_int_equal(log_columns_find(&names, head, 7, 2, &c, &error), OLTR_OK);
    assert_int_equal(c.at[ROLE_ITEM], 4);
    assert_int_equal(c.at[ROLE_CLICK], 2);
    assert_int_equal(c.feature[0], 6);
    assert_int_equal(c.feature[1], 5);
    log_columns_free(&c);
    assert_int_equal(log_columns_find(&names, head, 7, 3, &c, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "no column is called `x3`"));
    assert_int_equal(log_columns_find(&names, head, 4, 0, &c, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "no column is called `SKU`, which --columns names"));
    const char *const wrong[] = {"", "item", "item=", "colour=x", "item=a,", "=a", ",item=a"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(log_names_add(&names, wrong[i], &error), OLTR_EVALUE);
    names = (struct log_names){.features = NULL};
    const struct csv_text twice[] = {{"item", 4}, {"Item", 4}, {"click", 5}};
    assert_int_equal(log_columns_find(&names, twice, 3, 0, &c, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "two columns are called `item`"));
    const struct csv_text data[] = {{"q1", 2}, {"shoe", 4}, {"1", 1}, {"0", 1}};
    assert_int_equal(log_columns_find(&names, data, 4, 0, &c, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "no column `item`; the first line must name the columns"));
    assert_int_equal(log_columns_find(&names, twice + 1, 1, 0, &c, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "no column `click`"));
    const struct csv_text zero[] = {{"item\0", 5}, {"click", 5}};
    assert_int_equal(log_columns_find(&names, zero, 2, 0, &c, &error), OLTR_EDATA);
    assert_int_equal(separator_of("a;b\tc\n,"), '\t');
    assert_int_equal(separator_of("a;b\n"), ';');
    assert_int_equal(separator_of("a;b,c"), ',');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_stops),
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(goes_on_behind_bad_records),
        cmocka_unit_test(passes_over_empty_lines),
        cmocka_unit_test(bounds_memory),
        cmocka_unit_test(peeks_and_reads_lines),
        cmocka_unit_test(finds_columns),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
