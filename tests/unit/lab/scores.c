/* scores.c - scores of offline models: the CSV file reads back to the bit, every way it can be
 * wrong is named with its line, and the priors made of them are what scores.h says.
 */
#define _POSIX_C_SOURCE 200809L
#include "support/unit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/scorer/scores_as.h"

static const uint64_t query[] = {16, 7, UINT64_MAX};
static const uint32_t first_row[] = {0, 2, 3, 6};
static const uint8_t grade[6] = {0, 1, 2, 0, 0, 4};
static const float x[6] = {0};
static const oltr_dataset data = {.n_queries = 3,
                                  .n_rows = 6,
                                  .dim = 1,
                                  .query = query,
                                  .first_row = first_row,
                                  .grade = grade,
                                  .x = x};

static char path[64];

static int make_path(void **state)
{
    (void)snprintf(path, sizeof path, "/tmp/oltr-scores-XXXXXX");
    int file = mkstemp(path);
    return file >= 0 && close(file) == 0 ? 0 : -1;
}

static int remove_path(void **state)
{
    return unlink(path);
}

static void put(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void refuses(const char *text, size_t size, const char *words)
{
    scores s;
    oltr_error error = {OLTR_OK, ""};
    put(text, size);
    oltr_status status = scores_read_csv(path, &data, SCORES_CALIBRATED, &s, &error);
    if (status == OLTR_OK || status != error.code || !strstr(error.msg, words) || s.score)
        fail_msg("expected `%s`, got `%s` for:\n%s", words, error.msg, text);
}

#define REFUSES(text, words) refuses(text, sizeof(text) - 1, words)
#define HEAD "query,document,a,b\n"
#define ROW1 "16,0,0.5,0.5\n"

static void reads_any_order(void **state)
{
    static const char text[] =
        "\xEF\xBB\xBF\"query\", document,\"a \"\"quoted, one\"\"\"\r\n"
        "18446744073709551615,2,0.6\r\n7,0,+0\r\n16,1,-0\r\n\"16\",\"0\",\" 1e-3 \"\r\n"
        "\n18446744073709551615,0,1\n18446744073709551615,1,.25\n \n";
    scores s;
    oltr_error error = {OLTR_OK, ""};
    put(text, sizeof text - 1);
    if (scores_read_csv(path, &data, SCORES_CALIBRATED, &s, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    const float expected[] = {1e-3f, 0, 0, 1, 0.25f, 0.6f};
    assert_int_equal(s.n_rows, 6);
    assert_int_equal(s.n_models, 1);
    assert_memory_equal(s.score, expected, sizeof expected);
    scores_free(&s);
    scores_free(&s);
    scores_free(NULL);
}

static void refuses_with_lines(void **state)
{
    REFUSES("", "the file is empty");
    REFUSES("document,query,a\n", ":1: the header must be query,document");
    REFUSES("16,0,0.5\n", ":1: the header must be query,document");
    REFUSES("query,document\n", ":1: the header must be query,document");
    REFUSES("query,document,\n", ":1: the header must be query,document");
    REFUSES("query,document,\"a\n", ":1: a quote is not closed");
    REFUSES(HEAD "16,\"0\"x,0,0\n", ":2: a quote is not closed, or no comma");
    REFUSES(HEAD "16,0,0.5,\"0\n", ":2: a quote is not closed");
    REFUSES(HEAD ROW1 "\n16,1,0.5\n", ":4: fewer fields than the header");
    REFUSES(HEAD "16\n", ":2: fewer fields than the header");
    REFUSES(HEAD "16,0,0.5,0.5,0.5\n", ":2: more fields than the header");
    REFUSES(HEAD "q16,0,0.5,0.5\n", ":2: query must be a whole number, not `q16`");
    REFUSES(HEAD "16.0,0,0.5,0.5\n", ":2: query must be a whole number, not `16.0`");
    REFUSES(HEAD "18446744073709551616,0,0,0\n", ":2: query must be a whole number");
    REFUSES(HEAD "16,-1,0.5,0.5\n", ":2: document must be a whole number, not `-1`");
    REFUSES(HEAD "16,,0.5,0.5\n", ":2: document must be a whole number, not ``");
    REFUSES(HEAD "17,0,0.5,0.5\n", ":2: the data has no query 17");
    REFUSES(HEAD "16,2,0.5,0.5\n", ":2: query 16 has no document 2; it has 2, numbered from 0");
    REFUSES(HEAD ROW1 "7,0,1,1\n" ROW1,
            ":4: document 0 of query 16 is given twice; first in line 2");
    REFUSES(HEAD ROW1, "5 of the 6 documents have no score; the first is document 1 of query 16");
    REFUSES(HEAD "16,0,0.5,1.01\n",
            ":2: the score of model 2 must be a number from 0 to 1, not `1.01`");
    REFUSES(HEAD "16,0,-0.1,1\n", ":2: the score of model 1 must be a number from 0 to 1");
    REFUSES(HEAD "16,0,nan,1\n", "not `nan`");
    REFUSES(HEAD "16,0,inf,1\n", "not `inf`");
    REFUSES(HEAD "16,0,0x1p-3,1\n", "not `0x1p-3`");
    REFUSES(HEAD "16,0,1e400,1\n", "not `1e400`");
    REFUSES(HEAD "16,0,0.5.5,1\n", "not `0.5.5`");
    REFUSES(HEAD "16,0,,1\n", "not ``");
    REFUSES(HEAD "16,0,\001bad,1\n", "not `?bad`");
    REFUSES(HEAD "16,0,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,1\n",
            "not `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...`");
    REFUSES(HEAD "16,0,0.5,\0000.5\n", ":2: a zero byte");
}

static void refuses_what_cannot_be(void **state)
{
    scores s;
    oltr_error error = {OLTR_OK, ""};
    static const uint64_t twin[] = {16, 7, 16};
    oltr_dataset twins = data;
    twins.query = twin;
    put(HEAD, sizeof HEAD - 1);
    assert_int_equal(scores_read_csv(path, &twins, SCORES_CALIBRATED, &s, &error), OLTR_EVALUE);
    assert_non_null(strstr(error.msg, "two queries with the id 16"));
    assert_int_equal(scores_read_csv("/no/such/file", &data, SCORES_CALIBRATED, &s, &error),
                     OLTR_EIO);
    assert_non_null(strstr(error.msg, "/no/such/file: cannot be opened"));
    assert_int_equal(scores_read_csv("/tmp", &data, SCORES_CALIBRATED, &s, &error), OLTR_EIO);
    assert_non_null(strstr(error.msg, "/tmp: cannot read it"));
    assert_int_equal(scores_new(3, 0, &s, &error), OLTR_EINVAL);
    assert_int_equal(scores_new(3, SCORES_MOST_MODELS + 1, &s, &error), OLTR_EINVAL);
    char *wide = exactly(1, 16 + 2 * (SCORES_MOST_MODELS + 1));
    strcpy(wide, "query,document");
    for (int m = 0; m <= SCORES_MOST_MODELS; m++)
        strcpy(wide + 14 + 2 * m, ",a");
    refuses(wide, strlen(wide), ":1: more than 1000 models");
    free(wide);
}

/* Writing, and every bit back, for values across the whole range. */
static void writes_to_the_bit(void **state)
{
    scores s, again;
    dice from = {11};
    assert_int_equal(scores_new(6, 50, &s, NULL), OLTR_OK);
    for (uint32_t i = 0; i < 300; i++)
        s.score[i] = (float)log_uniform(&from, i % 2 ? 1e-44 : 0.1, 1);
    s.score[0] = 0;
    s.score[1] = 1;
    s.score[2] = nextafterf(1, 0);
    s.score[3] = 1e-45f;
    assert_int_equal(scores_write_csv(&s, &data, path, NULL), OLTR_OK);
    assert_int_equal(scores_read_csv(path, &data, SCORES_CALIBRATED, &again, NULL), OLTR_OK);
    assert_int_equal(again.n_models, 50);
    assert_memory_equal(s.score, again.score, 300 * sizeof(float));
    scores_free(&again);
    scores_free(&s);
}

static void leaves_nothing_half_written(void **state)
{
    scores s;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(scores_new(6, 1, &s, NULL), OLTR_OK);
    assert_int_equal(scores_write_csv(&s, &data, "/no/such/folder/scores.csv", &error), OLTR_EIO);
    assert_non_null(strstr(error.msg, "cannot write /no/such/folder/scores.csv: "));
    char folder[80];
    (void)snprintf(folder, sizeof folder, "%s.d", path);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(scores_write_csv(&s, &data, folder, &error), OLTR_EIO);
    char left[120];
    (void)snprintf(left, sizeof left, "%s.%ld-0.tmp", folder, (long)getpid());
    assert_int_not_equal(access(left, F_OK), 0);
    assert_int_equal(rmdir(folder), 0);
    s.n_rows = 5;
    assert_int_equal(scores_write_csv(&s, &data, path, &error), OLTR_EMISMATCH);
    scores_free(&s);
}

static void makes_priors(void **state)
{
    float value[] = {0.2f, 0.4f, 0.6f, 0, 0, 0, 1, 1, 1};
    scores s = {3, 3, value};
    double a[3], b[3], mean[3], sd[3];
    scores_prior(&s, a, b, mean, sd);
    assert_true(fabs(a[0] - 1.2) < 1e-7 && fabs(b[0] - 1.8) < 1e-7);
    assert_true(fabs(mean[0] - 0.4) < 1e-7 && fabs(sd[0] - 0.2) < 1e-7);
    assert_true(fabs(a[1] - 3 * SCORE_MARGIN) < 1e-12 && fabs(b[2] - 3 * SCORE_MARGIN) < 1e-12);
    assert_true(sd[1] == SCORE_LEAST_SD && sd[2] == SCORE_LEAST_SD);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(a[i] + b[i] - 3) < 1e-12 && fabs(mean[i] - a[i] / 3) < 1e-12);
    scores one = {1, 1, value};
    scores_prior(&one, a, NULL, NULL, sd);
    assert_true(fabs(sd[0] - sqrt(0.2 * 0.8 / 2)) < 1e-7); /* of Beta(0.2, 0.8) */
    scores_prior(&one, NULL, b, mean, NULL);
    assert_true(fabs(b[0] - 0.8) < 1e-7 && fabs(mean[0] - 0.2) < 1e-7);
}

/* The second query has one document, the first model says nothing about the third query. */
static void reads_numbers_without_a_unit(void **state)
{
    static const float number[] = {-2, 5, 2, 1, 9, 9, 3, -1, 3, 0.25f, 3, 4};
    scores_as as;
    oltr_error error = {OLTR_OK, ""};
    float value[12];
    scores s = {6, 2, value};
    assert_int_equal(scores_as_by_name("minmax", &as, NULL), OLTR_OK);
    memcpy(value, number, sizeof number);
    scores_convert(&s, &data, as);
    static const float between[] = {0, 1, 1, 0, 0.5f, 0.5f, 0.5f, 0, 0.5f, 0.25f, 0.5f, 1};
    assert_memory_equal(value, between, sizeof between);
    assert_int_equal(scores_as_by_name("raw", &as, NULL), OLTR_OK);
    memcpy(value, number, sizeof number);
    scores_convert(&s, &data, as);
    static const float cut[] = {0, 1, 1, 1, 1, 1, 1, 0, 1, 0.25f, 1, 1};
    assert_memory_equal(value, cut, sizeof cut);
    assert_int_equal(scores_as_by_name("sigmoid", &as, NULL), OLTR_OK);
    memcpy(value, number, sizeof number);
    scores_convert(&s, &data, as);
    double mean = (-1 + 0.25 + 4) / 3,
           spread = sqrt((pow(-1 - mean, 2) + pow(0.25 - mean, 2) + pow(4 - mean, 2)) / 3);
    assert_true(fabs(value[9] - 1 / (1 + exp(-(0.25 - mean) / spread))) < 1e-7);
    assert_true(fabs(value[0] - 1 / (1 + exp(1))) <
                1e-7); /* two numbers are 1 sd from their mean */
    assert_true(value[4] == 0.5f && value[6] == 0.5f && value[10] == 0.5f);
    memcpy(value, number, sizeof number);
    scores_convert(&s, &data, SCORES_CALIBRATED);
    assert_memory_equal(value, number, sizeof number);
    assert_int_equal(scores_as_by_name("platt", &as, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "calibrated, minmax, sigmoid or raw, not as `platt`"));
}

/* Any finite number, to the bit; what is not one is named. */
static void reads_files_without_a_unit(void **state)
{
    static const char text[] = "query,document,a\n16,0,-7.5\n16,1,1e30\n7,0,0\n"
                               "18446744073709551615,0,2\n18446744073709551615,1,3\n"
                               "18446744073709551615,2,-1e-3\n";
    static const float expected[] = {-7.5f, 1e30f, 0, 2, 3, -1e-3f};
    scores s;
    oltr_error error = {OLTR_OK, ""};
    put(text, sizeof text - 1);
    assert_int_equal(scores_read_csv(path, &data, SCORES_SIGMOID, &s, NULL), OLTR_OK);
    assert_memory_equal(s.score, expected, sizeof expected);
    scores_free(&s);
    put(HEAD "16,0,0.5,1e39\n", sizeof(HEAD "16,0,0.5,1e39\n") - 1);
    assert_int_equal(scores_read_csv(path, &data, SCORES_RAW, &s, &error), OLTR_EVALUE);
    assert_non_null(strstr(error.msg, ":2: the score of model 2 must be a finite number, not "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_any_order),
        cmocka_unit_test(refuses_with_lines),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(writes_to_the_bit),
        cmocka_unit_test(makes_priors),
        cmocka_unit_test(leaves_nothing_half_written),
        cmocka_unit_test(reads_numbers_without_a_unit),
        cmocka_unit_test(reads_files_without_a_unit),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
