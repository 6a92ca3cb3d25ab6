/* claims.c - verdicts, against differences computed here the slow way from the same numbers.
 *
 * A folder is written by hand, so that every number that decides a verdict is in this file. */
#define _POSIX_C_SOURCE 200809L
#include "support/unit.h"
#include "report/claims/claims.h"
#include "report/io/whole_file.h"
#include "report/io/folder.h"

#include <math.h>
#include <unistd.h>

static char path[] = "/tmp/oltr-claims-XXXXXX";

static void put(const char *name, const char *words)
{
    struct text content = {0};
    text_add(&content, words);
    assert_int_equal(file_write_in(path, name, &content, NULL), OLTR_OK);
    text_free(&content);
}

/* A and B meet the same users: the error of their difference is several times smaller than that of
 * either. */
static const char results[] = "sweep,policy,round,regret,regret_se,reward,replications\n"
                              "0,A,10,50,2,1,100\n0,A,100,100,3,1,100\n"
                              "0,B,10,40,2,1,100\n0,B,100,104,4,1,100\n"
                              "0,C,10,45,2,1,100\n0,C,100,101,3,1,100\n"
                              "8,A,10,50,2,1,100\n8,A,100,101,3,1,100\n"
                              "8,B,10,60,2,1,100\n8,B,100,204,4,1,100\n"
                              "8,C,10,45,2,1,100\n8,C,100,101,3,1,100\n";
static const char pairs[] =
    "sweep,round,policy,other,difference,difference_se,replications\n"
    "0,10,A,B,10,1,100\n0,100,A,B,-4,1,100\n0,10,A,C,5,1,100\n0,100,A,C,-1,1,100\n"
    "0,10,B,C,-5,1,100\n0,100,B,C,3,1,100\n"
    "8,10,A,B,-10,1,100\n8,100,A,B,-103,1,100\n8,10,A,C,5,1,100\n8,100,A,C,0,1,100\n"
    "8,10,B,C,15,1,100\n8,100,B,C,103,1,100\n";

/* The manifest with one claim of one test. */
static void put_manifest(const char *test)
{
    struct text content = {0};
    text_add(&content, "{\"kind\": \"regret\", \"title\": \"t\", \"sweep_key\": "
                       "\"world.misspecification\", \"figures\": [],\n"
                       " \"points\": [{\"sweep\": \"0\", \"rounds\": 100, \"slots\": 3, \"items\": "
                       "9, \"policies\":\n"
                       "   [{\"name\": \"A\"}, {\"name\": \"B\"}, {\"name\": \"C\"}]},\n"
                       "  {\"sweep\": \"8\", \"rounds\": 100, \"slots\": 3, \"items\": 9}],\n"
                       " \"claims\": [{\"says\": \"s\", \"tests\": [");
    text_add(&content, test);
    text_add(&content, "]}]}");
    assert_int_equal(file_write_in(path, "manifest.json", &content, NULL), OLTR_OK);
    text_free(&content);
}

struct outcome {
    enum claim_verdict verdict;
    uint32_t count;
    struct claim_comparison first;
    char reason[200];
};

static struct outcome judged(const char *test)
{
    struct folder folder;
    struct claim_findings findings;
    oltr_error error = {OLTR_OK, ""};
    put_manifest(test);
    if (folder_read(path, &folder, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_int_equal(claims_judge(&folder, &findings, &error), OLTR_OK);
    assert_int_equal(findings.count, 1);
    const struct claim_finding *finding = &findings.finding[0];
    struct outcome outcome = {.verdict = finding->verdict, .count = finding->n_comparisons};
    if (finding->n_comparisons > 0)
        outcome.first = finding->comparison[0];
    (void)snprintf(outcome.reason, sizeof outcome.reason, "%s", finding->reason);
    claims_free(&findings);
    folder_free(&folder);
    return outcome;
}

static void a_difference_beyond_three_errors_decides(void **state)
{
    struct outcome o = judged("{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": "
                              "0, \"from\": 0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_HOLDS); /* -4 +- 1 */
    assert_int_equal(o.first.round, 100);
    assert_true(fabs(o.first.difference + 4) < 1e-9 && fabs(o.first.difference_se - 1) < 1e-9);
    o = judged("{\"of\": \"p\", \"less\": [\"B\", \"A\"], \"factor\": 1, \"round\": 100, \"from\": "
               "0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_FAILS);
    assert_true(fabs(o.first.difference - 4) <
                1e-9); /* the file has the pair the other way round */
    o = judged("{\"of\": \"p\", \"more\": [\"B\", \"A\"], \"factor\": 1, \"round\": 100, \"from\": "
               "0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_HOLDS);
    o = judged("{\"of\": \"p\", \"less\": [\"A\", \"C\"], \"factor\": 1, \"round\": 100, \"from\": "
               "0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_INCONCLUSIVE); /* -1 +- 1 */
    assert_string_equal(o.reason, "");
}

static void all_others_must_agree(void **state)
{
    struct outcome o = judged("{\"of\": \"p\", \"less\": [\"A\", \"B\", \"C\"], \"factor\": 1, "
                              "\"round\": 100, \"from\": 0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_INCONCLUSIVE);
    assert_int_equal(o.count, 2);
    o = judged("{\"of\": \"p\", \"more\": [\"A\", \"B\", \"C\"], \"factor\": 1, \"round\": 100, "
               "\"from\": 0, \"at\": "
               "\"0\"}");
    assert_int_equal(o.verdict, CLAIM_FAILS); /* one that fails outweighs an inconclusive one */
}

/* Var(A - f B) by the covariance, which the code does not compute. */
static void the_error_of_a_factor_follows_from_the_pair(void **state)
{
    struct outcome o = judged("{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1.5, "
                              "\"round\": 100, \"from\": 0, \"at\": \"0\"}");
    double covariance = (3.0 * 3 + 4.0 * 4 - 1) / 2, f = 1.5;
    double se = sqrt(3.0 * 3 + f * f * 4 * 4 - 2 * f * covariance);
    assert_true(fabs(o.first.margin - (100 - 156)) < 1e-9);
    assert_true(fabs(o.first.margin_se - se) < 1e-9);
    assert_int_equal(o.verdict, CLAIM_HOLDS);
}

static void close_looks_at_both_sides(void **state)
{
    struct outcome o = judged("{\"of\": \"p\", \"close\": [\"A\", \"B\"], \"within\": 0.1, "
                              "\"round\": 100, \"from\": 0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_HOLDS); /* 104 within 90..110 */
    assert_true(fabs(o.first.margin - (104 - 110)) < 1e-9);
    o = judged("{\"of\": \"p\", \"close\": [\"B\", \"A\"], \"within\": 0.1, \"round\": 10, "
               "\"from\": 0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_FAILS); /* 50 within 36..44 */
    o = judged("{\"of\": \"p\", \"close\": [\"A\", \"B\"], \"within\": 0.1, \"round\": 10, "
               "\"from\": 0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_FAILS); /* 40 within 45..55, from below */
    assert_true(fabs(o.first.margin - (45 - 40)) < 1e-9);
}

static void every_checkpoint_and_every_swept_value(void **state)
{
    struct outcome o = judged("{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": "
                              "0, \"from\": 1, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_FAILS); /* round 10 decides: +10 +- 1 */
    assert_int_equal(o.first.round, 10);
    assert_int_equal(o.count, 1);
    o = judged(
        "{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": 100, \"from\": 0}");
    assert_int_equal(o.verdict, CLAIM_HOLDS);
    assert_int_equal(o.count, 2);
    o = judged(
        "{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": 0, \"from\": 11}");
    assert_int_equal(o.verdict, CLAIM_HOLDS);
}

static void a_policy_against_itself(void **state)
{
    struct outcome o = judged(
        "{\"of\": \"p\", \"less\": [\"B\"], \"factor\": 0.75, \"round\": 0, \"from\": 0, \"at\": "
        "\"0\", \"against\": \"8\"}");
    assert_int_equal(o.verdict, CLAIM_HOLDS); /* 104 < 153 */
    assert_int_equal(o.count, 1);
    assert_true(fabs(o.first.margin_se - sqrt(16 + 0.75 * 0.75 * 16)) < 1e-9);
    o = judged("{\"of\": \"p\", \"close\": [\"A\"], \"within\": 0.3, \"round\": 0, \"from\": 0, "
               "\"at\": \"0\", "
               "\"against\": \"8\"}");
    assert_int_equal(o.verdict, CLAIM_HOLDS);
}

static void what_was_not_measured_is_inconclusive(void **state)
{
    struct outcome o = judged("{\"of\": \"p\", \"not_measurable\": \"no camera\"}");
    assert_int_equal(o.verdict, CLAIM_NOT_MEASURABLE);
    assert_string_equal(o.reason, "no camera");
    o = judged("{\"of\": \"p\", \"untold\": \"no camera\"}"); /* of an older manifest */
    assert_int_equal(o.verdict, CLAIM_NOT_MEASURABLE);
    o = judged(
        "{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": 5000, \"from\": 0}");
    assert_int_equal(o.verdict, CLAIM_INCONCLUSIVE);
    assert_string_equal(o.reason, "A was not recorded at round 5000");
    o = judged(
        "{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": 0, \"from\": 5000}");
    assert_string_equal(o.reason, "A was not recorded from round 5000");
    o = judged("{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": 0, \"from\": "
               "0, \"at\": \"5\"}");
    assert_string_equal(o.reason, "nothing was measured at 5");
    put("pairs.csv", "sweep,round,policy,other,difference,difference_se,replications\n");
    o = judged(
        "{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, \"round\": 0, \"from\": 0}");
    assert_int_equal(o.verdict, CLAIM_INCONCLUSIVE);
    assert_non_null(strstr(o.reason, "pairs.csv has no difference of A"));
    put("pairs.csv", pairs);
}

/* 22 K sqrt(L T) at K = 3, L = 9, T = 10: 626.1; the regret of B is 40 +- 2. */
static void a_policy_against_a_bound(void **state)
{
    struct outcome o = judged("{\"of\": \"p\", \"less\": [\"A\", \"B\"], \"factor\": 1, "
                              "\"bound\": \"thm1\", \"round\": 10, \"from\": 0, \"at\": \"0\"}");
    assert_int_equal(o.verdict, CLAIM_HOLDS);
    assert_int_equal(o.count, 2);
    assert_true(fabs(o.first.other_value - 66 * sqrt(90)) < 1e-9);
    assert_true(fabs(o.first.margin - (50 - 66 * sqrt(90))) < 1e-9);
    assert_true(fabs(o.first.margin_se - 2) < 1e-9);
    o = judged("{\"of\": \"p\", \"more\": [\"B\"], \"factor\": 1, \"bound\": \"trivial\", "
               "\"round\": 0, \"from\": 1, \"at\": \"8\"}");
    assert_int_equal(o.verdict, CLAIM_HOLDS); /* 60 > 10 at round 10, 204 > 100 at round 100 */
    assert_int_equal(o.first.round, 10);      /* +50 +- 2 is 25 errors, +104 +- 4 is 26 */
}

/* The findings of a manifest whose claim has the tests. */
static void overall_is(const char *tests, const char *words)
{
    struct folder folder;
    struct claim_findings findings;
    struct text overall = {0};
    oltr_error error = {OLTR_OK, ""};
    put_manifest(tests);
    if (folder_read(path, &folder, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    assert_int_equal(claims_judge(&folder, &findings, &error), OLTR_OK);
    for (uint32_t i = 0; i < findings.count; i += claims_group(&findings, i)) {
        text_add(&overall, i > 0 ? " | " : "");
        claims_overall(&findings, i, &overall);
    }
    assert_string_equal(overall.bytes, words);
    text_free(&overall);
    claims_free(&findings);
    folder_free(&folder);
}

/* A - f B with A = 100, B = 104 and an error of about 1. */
#define AT(OF, VALUE)                                                                              \
    "{\"of\": \"" OF "\", \"setting\": \"f\", \"value\": \"" #VALUE                                \
    "\", \"less\": [\"A\", \"B\"], \"factor\": " #VALUE                                            \
    ", \"round\": 0, \"from\": 0, \"at\": \"0\"}"
static void the_verdict_of_a_group_names_its_settings(void **state)
{
    overall_is(AT("p", 2), "holds for f = 2");
    overall_is(AT("p", 2) "," AT("p", 3), "holds for f in {2, 3}");
    overall_is(AT("p", 0.5) "," AT("p", 2) "," AT("p", 0.6) "," AT("p", 3),
               "holds for f in {2, 3}; not at 0.5, 0.6");
    overall_is(AT("p", 0.5) "," AT("p", 0.96) "," AT("p", 0.6),
               "does not hold for f in {0.5, 0.6}; inconclusive at 0.96");
    overall_is(AT("p", 0.96), "inconclusive for f = 0.96");
    overall_is(AT("p", 2) "," AT("q", 2), "holds for f = 2 | holds for f = 2");
    overall_is("{\"of\": \"p\", \"not_measurable\": \"x\"}," AT("p", 2),
               "not measurable | holds for f = 2");
}

static void broken_tables_are_refused(void **state)
{
#define HEADING "sweep,round,policy,other,difference,difference_se,replications"
    static const char letters[] = HEADING "\n0,x", number[] = HEADING "\n0,10,A,B,1,1e,100\n",
                      returns[] = HEADING "\r\r\r\r\r\r\r";
    static const char *const broken[] = {"a,b\n", letters, number, returns};
    struct folder folder;
    oltr_error error;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        put("pairs.csv", broken[i]);
        assert_int_equal(folder_read(path, &folder, &error), OLTR_EDATA);
        assert_non_null(strstr(error.msg, "pairs.csv: "));
        folder_free(&folder);
    }
    put("pairs.csv", pairs);
}

static int make_folder(void **state)
{
    if (!mkdtemp(path))
        return -1;
    put("results.csv", results);
    put("pairs.csv", pairs);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"results.csv", "pairs.csv", "manifest.json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *file = file_join(path, names[i]);
        (void)unlink(file);
        free(file);
    }
    return rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_beyond_three_errors_decides),
        cmocka_unit_test(all_others_must_agree),
        cmocka_unit_test(the_error_of_a_factor_follows_from_the_pair),
        cmocka_unit_test(close_looks_at_both_sides),
        cmocka_unit_test(every_checkpoint_and_every_swept_value),
        cmocka_unit_test(a_policy_against_itself),
        cmocka_unit_test(what_was_not_measured_is_inconclusive),
        cmocka_unit_test(a_policy_against_a_bound),
        cmocka_unit_test(the_verdict_of_a_group_names_its_settings),
        cmocka_unit_test(broken_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
