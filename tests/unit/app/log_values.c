/* log_values.c - numbers, yes and no, times and durations of logs; and priors from CSV. */
#define _POSIX_C_SOURCE 200809L
#include "app/logs/log_values.h"

#include "app/logs/prior_csv.h"
#include "support/files.h"

#include <time.h>

static void reads_numbers(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},       {"7", 7},        {"012", 12},  {"123456789", 123456789},
                {" 2.5 ", 2.5}, {"-1e3", -1000}, {"+.5", 0.5}, {"9999999999", 9999999999}};
    static const char *const bad[] = {"",    " ",   "x",   "0x10", "1e999", "nan",
                                      "inf", "1 2", "1,5", "--1",  "1e",    "\t"};
    double value;
    uint32_t whole;
    bool yes;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(value_number(good[i].text, strlen(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(value_number(bad[i], strlen(bad[i]), &value));
    assert_false(value_number("1\0", 2, &value));
    assert_true(value_whole_number("3.0", 3, &whole) && whole == 3);
    assert_true(value_whole_number("12", 2, &whole) && whole == 12);
    assert_false(value_whole_number("3.5", 3, &whole) || value_whole_number("-1", 2, &whole) ||
                 value_whole_number("1e12", 4, &whole));
    static const char *const truths[] = {"1", "true", "True", "TRUE", "1.0", " true "};
    static const char *const lies[] = {"0", "false", "False", "0.0"};
    static const char *const neither[] = {"2", "", "yes", "tru", "truee", "-1", "0.5"};
    for (size_t i = 0; i < COUNT(truths); i++)
        assert_true(value_yes_no(truths[i], strlen(truths[i]), &yes) && yes);
    for (size_t i = 0; i < COUNT(lies); i++)
        assert_true(value_yes_no(lies[i], strlen(lies[i]), &yes) && !yes);
    for (size_t i = 0; i < COUNT(neither); i++)
        assert_false(value_yes_no(neither[i], strlen(neither[i]), &yes));
}

static void reads_times(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1970-01-01", 0},
                {"1970-01-01T00:00:00Z", 0},
                {"2000-02-29 00:00:00", 951782400},
                {"2018-11-13T20:20:39+00:00", 1542140439},
                {"2018-11-13T22:20:39+02:00", 1542140439},
                {"2018-11-13T15:50:39-0430", 1542140439},
                {"2018-11-13T20:20:39.25Z", 1542140439.25},
                {"2018-11-13 20:20:39.25 +00", 1542140439.25},
                {"2018-11-13T20:20", 1542140400},
                {"1542140439", 1542140439},
                {"1542140439250", 1542140439.25},
                {"1542140439250000", 1542140439.25},
                {"1542140439250000000", 1542140439.25}};
    static const char *const bad[] = {"",
                                      "noon",
                                      "2018-13-01",
                                      "2018-02-29",
                                      "2018-11-13T",
                                      "2018-11-13T24:00:00",
                                      "2018-11-13T20:60:00",
                                      "2018-11-13T20:20:39.",
                                      "2018-11-13T20:20:39+2",
                                      "2018-11-13T20:20:39Zx",
                                      "18-11-13",
                                      "2018/11/13",
                                      "0000-01-01"};
    double value;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_true(value_time(good[i].text, strlen(good[i].text), &value));
        assert_true(fabs(value - good[i].value) < 1e-6);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(value_time(bad[i], strlen(bad[i]), &value));
    /* every day of four centuries, against the C library */
    char text[64];
    for (int day = -80000; day < 80000; day++) {
        time_t seconds = (time_t)day * 86400 + 12345;
        struct tm parts;
        assert_non_null(gmtime_r(&seconds, &parts));
        snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", parts.tm_year + 1900,
                 parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
        assert_true(value_time(text, strlen(text), &value));
        assert_true(value == (double)seconds);
    }
    assert_true(value_duration("90", &value) && value == 90);
    assert_true(value_duration("1.5h", &value) && value == 5400);
    assert_true(value_duration("7d", &value) && value == 604800);
    assert_true(value_duration("30m", &value) && value == 1800);
    assert_false(value_duration("", &value) || value_duration("m", &value) ||
                 value_duration("-1s", &value) || value_duration("1w", &value));
}

/* ---- priors */

static struct prior_table table;

static void expect_priors(const char *text, bool moments, const double *pair, uint32_t n)
{
    struct log_names names = {.features = NULL};
    struct log_report report = {.lenient = false};
    oltr_error error = {OLTR_OK, ""};
    if (prior_csv_read(write_text("p", text), moments, &names, &report, &table, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_int_equal(table.n, n);
    for (uint32_t i = 0; i < 2 * n; i++)
        if (!(fabs(table.pair[i] - pair[i]) <= 1e-6 * fabs(pair[i])))
            fail_msg("number %u: %.9g, not %.9g", i, table.pair[i], pair[i]);
}

static void refuses_priors(const char *text, bool moments, const char *words)
{
    struct log_names names = {.features = NULL};
    struct log_report report = {.lenient = false};
    oltr_error error = {OLTR_OK, ""};
    oltr_status status =
        prior_csv_read(write_text("p", text), moments, &names, &report, &table, &error);
    if (status == OLTR_OK || !strstr(error.msg, words))
        fail_msg("expected `%s`, got `%s`", words, error.msg);
    prior_table_free(&table);
}

static void reads_priors(void **state)
{
    const double same[] = {0.2, 0.1, 0.4, 0.05};
    expect_priors("item,mean,sd\na,0.2,0.1\n\"b,c\",0.4,0.05\n", true, same, 2);
    assert_int_equal(table.name[1].size, 3);
    assert_memory_equal(table.name[1].bytes, "b,c", 3);
    double average[2];
    prior_table_average(&table, true, average);
    assert_true(fabs(average[0] - 0.3) < 1e-12);
    assert_true(fabs(average[1] - sqrt(0.01 + (0.01 + 0.0025) / 2)) < 1e-12);
    prior_table_free(&table);
    const double shapes[] = {0.2 * 15, 0.8 * 15}; /* 0.16 / 0.01 - 1 observations */
    expect_priors("SKU;Mean;SD;item\nx;0.2;0.1;a\n", false, shapes, 1);
    prior_table_free(&table);
    const double moments[] = {0.25, sqrt(0.25 * 0.75 / 9)};
    expect_priors("b,a,item\n6,2,x\n", true, moments, 1);
    prior_table_free(&table);
    const double beta[] = {2, 6};
    expect_priors("b,a,item\n6,2,x\n", false, beta, 1);
    prior_table_average(&table, false, average);
    assert_true(fabs(average[0] - 2) < 1e-9 && fabs(average[1] - 6) < 1e-9);
    prior_table_free(&table);
    double rate = 3.5 / 101; /* 3 of 100, and half an observation */
    const double counts[] = {3 + rate, 97 + 1 - rate, rate, 1 - rate};
    expect_priors("item,clicks,impressions\na,3,100\nb,0,0\n", false, counts, 2);
    prior_table_free(&table);
    const double scores[] = {0.6, 2.4};
    expect_priors("doc_id,score_1,score_2,score_3\na,0.1,0.2,0.3\n", false, scores, 1);
    prior_table_free(&table);
    const double spread[] = {0.2, 0.1};
    expect_priors("doc_id,score_1,score_2,score_3\na,0.1,0.2,0.3\n", true, spread, 1);
    prior_table_free(&table);
}

static void names_bad_priors(void **state)
{
    refuses_priors("", true, "the file is empty");
    refuses_priors("item,mean,sd\n", true, "has no rows");
    refuses_priors("x,mean,sd\na,1,1\n", true, ":1: no column `item`");
    refuses_priors("item,mean\na,1\n", true, ":1: no columns mean and sd, a and b");
    refuses_priors("item,mean,sd\na,1\n", true, ":2: 2 fields, but the first line names 3 columns");
    refuses_priors("item,mean,sd\n,1,1\n", true, ":2: the item must have 1 to 512 bytes");
    refuses_priors("item,mean,sd\na,x,1\n", true, ":2: mean and sd must be numbers, not `x`");
    refuses_priors("item,mean,sd\na,0.5,0\n", true, ":2: sd must be above 0");
    refuses_priors("item,mean,sd\na,1.5,1\n", false, ":2: mean must be above 0 and below 1");
    refuses_priors("item,mean,sd\na,0.5,0.5\n", false, ":2: sd must be below sqrt");
    refuses_priors("item,a,b\na,0,1\n", true, ":2: a and b must be above 0");
    refuses_priors("item,clicks,impressions\na,2,1\n", true, ":2: clicks must be from 0 to imp");
    refuses_priors("item,score\na,2\n", true, ":2: a score must be from 0 to 1");
    refuses_priors("item,a,b\n\"x\"y,1,1\n", true, ":2: no separator behind");
    refuses_priors("\"item\"x,a,b\n", true, "no separator behind");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(reads_times),
        cmocka_unit_test(reads_priors),
        cmocka_unit_test(names_bad_priors),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
