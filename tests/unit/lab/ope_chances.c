/* ope_chances.c - the chances of a model for the lists of a log, and predicted rewards.
 *
 * With 4 candidates and 2 slots all lists are enumerated.  Chances of beginnings and of slots are
 * sums of those of lists; the doubly robust terms, weighted by the logging policy, add up to the
 * value of the evaluated policy for any predictions, exactly and by draws; and what is found in the
 * cache has the same bits as what is computed.
 */
#include "support/unit.h"

#include <locale.h>
#include <math.h>
#include <oltr/ope.h>
#include <string.h>

enum { ITEMS = 4, K = 2, LISTS = ITEMS * (ITEMS - 1) };

static const char *const text[ITEMS] = {"ant", "bee", "cat", "dog"};

static void fill_names(oltr_name name[ITEMS])
{
    for (int i = 0; i < ITEMS; i++)
        name[i] = (oltr_name){text[i], 3};
}

/* A model after some lessons of its own. */
static oltr_model *taught(const char *kind, uint64_t seed)
{
    oltr_model_settings settings;
    oltr_error error;
    dice from = {seed};
    assert_int_equal(oltr_model_settings_init(&settings, kind, &error), OLTR_OK);
    oltr_model *m = oltr_model_new(&settings, &error);
    assert_non_null(m);
    for (int lesson = 0; lesson < 12; lesson++) {
        oltr_name all[ITEMS], name[K];
        double reward[K];
        fill_names(all);
        uint32_t a = below(&from, ITEMS), b = (a + 1 + below(&from, ITEMS - 1)) % ITEMS;
        name[0] = all[a];
        name[1] = all[b];
        for (int l = 0; l < K; l++)
            reward[l] = below(&from, 2);
        oltr_lesson lesson_of = {
            .shown = {.n = K, .name = name}, .reward = reward, .examine = OLTR_EXAMINE_ALL};
        assert_int_equal(oltr_model_learn(m, &lesson_of, NULL, &error), OLTR_OK);
    }
    return m;
}

static void list_at(int number, uint32_t place[K])
{
    place[0] = (uint32_t)number / (ITEMS - 1);
    place[1] = (uint32_t)number % (ITEMS - 1);
    place[1] += place[1] >= place[0];
}

typedef struct answers {
    double prefix[LISTS][K], slot[LISTS][K], q[LISTS][K], v[LISTS][K];
    uint8_t match[LISTS];
} answers;

static void ask(oltr_ope_evaluator *e, const double *rate, uint64_t number, answers *a)
{
    oltr_name name[ITEMS];
    oltr_error error = {OLTR_OK, ""};
    fill_names(name);
    for (int i = 0; i < LISTS; i++) {
        uint32_t place[K];
        list_at(i, place);
        oltr_ope_shown shown = {.candidates = {.n = ITEMS, .name = name},
                                .place = place,
                                .k = K,
                                .number = number,
                                .rate = rate};
        oltr_ope_chances out = {.prefix = a->prefix[i],
                                .slot = a->slot[i],
                                .q = rate ? a->q[i] : NULL,
                                .v = rate ? a->v[i] : NULL,
                                .match = &a->match[i]};
        if (oltr_ope_evaluate(e, &shown, &out, &error) != OLTR_OK)
            fail_msg("%s", error.msg);
    }
}

static answers ask_new(const oltr_model *m, oltr_ope_policy policy, const double *rate,
                       uint64_t number)
{
    answers a = {.match = {0}};
    oltr_error error = {OLTR_OK, ""};
    oltr_ope_evaluator *e = oltr_ope_evaluator_new(m, &policy, &error);
    if (!e)
        fail_msg("%s", error.msg);
    ask(e, rate, number, &a);
    oltr_ope_evaluator_free(e);
    return a;
}

static void near(double value, double wanted, double gap)
{
    if (!(fabs(value - wanted) <= gap))
        fail_msg("%.17g instead of %.17g", value, wanted);
}

static void check_sums(const answers *a, double gap)
{
    double all = 0;
    int matches = 0;
    for (int i = 0; i < LISTS; i++) {
        uint32_t place[K], other[K];
        double first = 0, second = 0;
        list_at(i, place);
        all += a->prefix[i][1];
        matches += a->match[i];
        for (int j = 0; j < LISTS; j++) {
            list_at(j, other);
            first += other[0] == place[0] ? a->prefix[j][1] : 0;
            second += other[1] == place[1] ? a->prefix[j][1] : 0;
        }
        near(a->prefix[i][0], first, gap);
        near(a->slot[i][0], first, gap);
        near(a->slot[i][1], second, gap);
    }
    near(all, 1, gap);
    assert_int_equal(matches, 1); /* one list is drawn, and it is one of all */
}

static const char *const exact_kinds[] = {"ts-beta", "gts",      "ts-hyper",
                                          "random",  "maillard", "bayes-ucb"};

static void chances_are_sums_of_those_of_lists(void **state)
{
    for (size_t i = 0; i < sizeof exact_kinds / sizeof *exact_kinds; i++)
        for (uint32_t draws = 0; draws < 400; draws += 200) {
            oltr_model *m = taught(exact_kinds[i], 3 + i);
            oltr_ope_policy policy = {.draws = draws, .seed = 5};
            answers a = ask_new(m, policy, NULL, 7);
            check_sums(&a, 1e-7);
            oltr_model_free(m);
        }
}

/* The mean of a policy's list under any rewards of slots, and the expectation of its estimate. */
static void check_unbiased(const answers *evaluated, const double *logged, const double *truth)
{
    double value = 0, estimate = 0, direct = evaluated->v[0][0];
    for (int i = 0; i < LISTS; i++) {
        uint32_t place[K];
        double before = 1, begins = 0;
        list_at(i, place);
        for (int j = 0; j < LISTS; j++) {
            uint32_t other[K];
            list_at(j, other);
            begins += other[0] == place[0] ? logged[j] : 0;
        }
        for (int l = 0; l < K; l++) {
            double reward = truth[l * ITEMS + (int)place[l]];
            double weight = evaluated->prefix[i][l] / (l == 0 ? begins : logged[i]);
            value += evaluated->prefix[i][K - 1] * reward;
            estimate +=
                logged[i] * (before * evaluated->v[i][l] + weight * (reward - evaluated->q[i][l]));
            before = weight;
        }
        near(evaluated->v[i][0], direct, 1e-12);
    }
    near(estimate, value, 1e-9);
}

static void doubly_robust_terms_are_unbiased_for_any_predictions(void **state)
{
    dice from = {17};
    for (int round = 0; round < 24; round++) {
        oltr_model *m = taught(exact_kinds[round % 4], 30 + (uint64_t)round);
        double rate[K * ITEMS], truth[K * ITEMS], logged[LISTS], sum = 0;
        oltr_ope_policy policy = {.draws = round % 2 ? 150 : 0, .seed = 5};
        for (int i = 0; i < K * ITEMS; i++) {
            rate[i] = unit(&from);
            truth[i] = unit(&from);
        }
        for (int i = 0; i < LISTS; i++)
            sum += logged[i] = 0.1 + unit(&from);
        for (int i = 0; i < LISTS; i++)
            logged[i] /= sum;
        answers a = ask_new(m, policy, rate, 3);
        check_unbiased(&a, logged, truth);
        oltr_model_free(m);
    }
}

/* v of the first slot is the value of the policy where predictions are right. */
static void right_predictions_give_the_value(void **state)
{
    oltr_model *m = taught("ts-beta", 9);
    double rate[K * ITEMS] = {0.1, 0.4, 0.2, 0.7, 0.05, 0.3, 0.1, 0.6}, value = 0;
    answers a = ask_new(m, (oltr_ope_policy){.draws = 0}, rate, 0);
    for (int i = 0; i < LISTS; i++) {
        uint32_t place[K];
        list_at(i, place);
        value += a.prefix[i][1] * (rate[place[0]] + rate[ITEMS + place[1]]);
    }
    near(a.v[0][0], value, 1e-9);
    oltr_model_free(m);
}

static void kept_chances_have_the_same_bits(void **state)
{
    oltr_model *m = taught("ts-beta", 4);
    double rate[K * ITEMS] = {0.1, 0.4, 0.2, 0.7, 0.05, 0.3, 0.1, 0.6};
    oltr_ope_evaluator *e = oltr_ope_evaluator_new(m, NULL, NULL);
    static answers first, second, small;
    ask(e, rate, 1, &first);
    ask(e, rate, 1, &second);
    small = ask_new(m, (oltr_ope_policy){.cache_bytes = 1}, rate, 1);
    assert_memory_equal(&first, &second, sizeof first);
    assert_memory_equal(&first, &small, sizeof first);
    oltr_ope_evaluator_free(e);
    oltr_model_free(m);
}

static void draws_come_near_exact_chances(void **state)
{
    enum { DRAWS = 40000 };
    oltr_model *m = taught("ts-beta", 8);
    answers exact = ask_new(m, (oltr_ope_policy){.draws = 0}, NULL, 0),
            drawn = ask_new(m, (oltr_ope_policy){.draws = DRAWS, .seed = 3}, NULL, 0);
    for (int i = 0; i < LISTS; i++)
        for (int l = 0; l < K; l++) { /* 6 standard errors: 48 comparisons, false alarms 1e-7 */
            double p = exact.slot[i][l], q = exact.prefix[i][l];
            near(drawn.slot[i][l], p, 6 * sqrt(p * (1 - p) / DRAWS) + 1e-9);
            near(drawn.prefix[i][l], q, 6 * sqrt(q * (1 - q) / DRAWS) + 1e-9);
        }
    oltr_model_free(m);
}

static void greedy_lists_are_certain(void **state)
{
    oltr_model *m = taught("gts", 8);
    answers a = ask_new(m, (oltr_ope_policy){.greedy = 1}, NULL, 0);
    for (int i = 0; i < LISTS; i++)
        assert_true(a.prefix[i][1] == a.match[i]); /* no two of the means are equal */
    oltr_model_free(m);
}

static void kinds_without_exact_chances_are_refused(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model *m = taught("ts-cascade", 8);
    assert_null(oltr_ope_evaluator_new(m, NULL, &error));
    assert_int_equal(error.code, OLTR_EUNSUPPORTED);
    answers a = ask_new(m, (oltr_ope_policy){.draws = 100}, NULL, 0);
    check_sums(&a, 1e-12);
    oltr_model_free(m);
}

static void refuse(const oltr_ope_shown *shown, const oltr_ope_chances *out, oltr_status status)
{
    oltr_model *m = taught("ts-beta", 8);
    oltr_error error = {OLTR_OK, ""};
    oltr_ope_evaluator *e = oltr_ope_evaluator_new(m, NULL, &error);
    assert_int_equal(oltr_ope_evaluate(e, shown, out, &error), status);
    assert_int_equal(error.code, status);
    oltr_ope_evaluator_free(e);
    oltr_model_free(m);
}

static void lists_that_cannot_be_are_refused(void **state)
{
    static const uint32_t twice[] = {1, 1}, beyond[] = {1, 4}, good[] = {1, 2};
    static const double bad_rate[K * ITEMS] = {[3] = NAN};
    double number[K], other[K];
    oltr_name name[ITEMS];
    fill_names(name);
    oltr_ope_shown shown = {.candidates = {.n = ITEMS, .name = name}, .place = good, .k = K};
    oltr_ope_chances out = {.prefix = number}, both = {.q = number, .v = other},
                     half = {.q = number};
    shown.place = twice;
    refuse(&shown, &out, OLTR_EITEM);
    shown.place = beyond;
    refuse(&shown, &out, OLTR_EITEM);
    shown.place = good;
    shown.k = 0;
    refuse(&shown, &out, OLTR_ESLOTS);
    shown.k = 5;
    refuse(&shown, &out, OLTR_ESLOTS);
    shown.k = K;
    refuse(&shown, &both, OLTR_EINVAL); /* no predictions */
    refuse(&shown, &half, OLTR_EINVAL);
    shown.rate = bad_rate;
    refuse(&shown, &both, OLTR_EVALUE);
    refuse(NULL, &out, OLTR_EINVAL);
    out.reserved[0] = number;
    shown.rate = NULL;
    refuse(&shown, &out, OLTR_EINVAL);
    out.reserved[0] = NULL;
    shown.reserved[1] = number;
    refuse(&shown, &out, OLTR_EINVAL);
    oltr_error error;
    oltr_model *m = taught("gts", 1);
    assert_null(oltr_ope_evaluator_new(NULL, NULL, &error));
    assert_null(oltr_ope_evaluator_new(m, &(oltr_ope_policy){.greedy = 2}, &error));
    assert_null(oltr_ope_evaluator_new(m, &(oltr_ope_policy){.draws = UINT32_MAX}, &error));
    assert_null(oltr_ope_evaluator_new(m, &(oltr_ope_policy){.size = 1000}, &error));
    assert_null(oltr_ope_evaluator_new(m, &(oltr_ope_policy){.size = 4}, &error));
    assert_null(oltr_ope_evaluator_new(m, &(oltr_ope_policy){.reserved[3] = 1}, &error));
    assert_null(oltr_ope_evaluator_new(m, &(oltr_ope_policy){.reserved32 = 1}, &error));
    oltr_model_free(m);
}

/* ---- predicted rewards */

static void rates_are_those_of_other_folds(void **state)
{
    /* two items, one slot; fold 0 has rewards 1, fold 1 rewards 0 of the same items */
    static const double reward[] = {1, 1, 1, 0, 0, 0};
    static const uint32_t item[] = {0, 1, 0, 0, 0, 1}, fold[] = {0, 0, 0, 1, 1, 1};
    oltr_ope_log log = {.n = 6, .k = 1, .reward = reward};
    double rate[2 * 2];
    assert_int_equal(oltr_ope_rates(&log, item, 2, fold, 2, 1, rate, NULL), OLTR_OK);
    near(rate[0], 0, 0); /* fold 0 by the zeros of fold 1 */
    near(rate[1], 0, 0);
    near(rate[2], 1, 1e-15);
    near(rate[3], 1, 1e-15);
}

/* The formula of the header, slowly. */
static double slow_rate(const oltr_ope_log *log, const uint32_t *item, const uint32_t *fold,
                        uint32_t of_fold, uint32_t slot, uint32_t of_item, double strength)
{
    double n[4] = {0}, sum[4] = {0}; /* cell, item, slot, all */
    for (uint64_t i = 0; i < log->n; i++)
        for (uint32_t l = 0; fold[i] != of_fold && l < log->length[i]; l++) {
            bool same[4] = {false, item[i * log->k + l] == of_item, l == slot, true};
            same[0] = same[1] && same[2];
            for (int c = 0; c < 4; c++)
                if (same[c]) {
                    n[c]++;
                    sum[c] += log->reward[i * log->k + l];
                }
        }
    double all = sum[3] / n[3], at = n[2] > 0 ? sum[2] / n[2] : all;
    double mean = (sum[1] + strength * all) / (n[1] + strength);
    return (sum[0] + strength * mean * at / all) / (n[0] + strength);
}

static void rates_follow_the_formula(void **state)
{
    enum { N = 60, SLOTS = 3, THINGS = 5, FOLDS = 4 };
    static double reward[N * SLOTS], rate[FOLDS * SLOTS * THINGS];
    static uint32_t item[N * SLOTS], fold[N], length[N];
    dice from = {23};
    for (int i = 0; i < N; i++) {
        fold[i] = below(&from, FOLDS);
        length[i] = 1 + below(&from, SLOTS);
        for (int l = 0; l < SLOTS; l++) {
            item[i * SLOTS + l] = below(&from, THINGS);
            reward[i * SLOTS + l] = unit(&from);
        }
    }
    oltr_ope_log log = {.n = N, .k = SLOTS, .reward = reward, .length = length};
    assert_int_equal(oltr_ope_rates(&log, item, THINGS, fold, FOLDS, 2.5, rate, NULL), OLTR_OK);
    for (uint32_t f = 0; f < FOLDS; f++)
        for (uint32_t l = 0; l < SLOTS; l++)
            for (uint32_t i = 0; i < THINGS; i++)
                near(rate[(f * SLOTS + l) * THINGS + i], slow_rate(&log, item, fold, f, l, i, 2.5),
                     1e-13);
}

static void rates_of_bad_logs_are_refused(void **state)
{
    double reward[] = {1, 0}, rate[4];
    uint32_t item[] = {0, 1}, fold[] = {0, 1}, length[] = {1, 2};
    oltr_ope_log log = {.n = 2, .k = 1, .reward = reward};
    oltr_error error;
    assert_int_equal(oltr_ope_rates(&log, item, 1, fold, 2, 1, rate, &error), OLTR_EITEM);
    assert_int_equal(oltr_ope_rates(&log, item, 2, fold, 1, 1, rate, &error), OLTR_EVALUE);
    assert_int_equal(oltr_ope_rates(&log, item, 2, fold, 2, 0, rate, &error), OLTR_EVALUE);
    assert_int_equal(oltr_ope_rates(&log, item, UINT32_MAX, fold, 2, 1, rate, &error), OLTR_EVALUE);
    assert_int_equal(oltr_ope_rates(NULL, item, 2, fold, 2, 1, rate, &error), OLTR_EINVAL);
    log.length = length;
    assert_int_equal(oltr_ope_rates(&log, item, 2, fold, 2, 1, rate, &error), OLTR_EVALUE);
    log.length = NULL;
    fold[1] = 2;
    assert_int_equal(oltr_ope_rates(&log, item, 2, fold, 2, 1, rate, &error), OLTR_EVALUE);
    fold[1] = 1;
    reward[0] = 1e308;
    assert_int_equal(oltr_ope_rates(&log, item, 2, fold, 2, 10, rate, &error), OLTR_EVALUE);
    reward[0] = NAN;
    assert_int_equal(oltr_ope_rates(&log, item, 2, fold, 2, 1, rate, &error), OLTR_EVALUE);
}

/* ---- lines of decision logs */

static void lines_are_written_like_snprintf(void **state)
{
    oltr_model *m = taught("ts-beta", 8);
    oltr_name name[2] = {{"a\"b\n", 4}, {"\xff\x01", 2}};
    oltr_list list = {.n = 2, .name = name};
    const uint32_t place[] = {0, 1};
    const double chance[] = {0.5, 0.1};
    oltr_decision d = {.id = {"r1", 2},
                       .seed = {"s", 1},
                       .list = &list,
                       .shown = name,
                       .place = place,
                       .prefix = chance,
                       .model = m,
                       .k = 2};
    const char *right = "{\"id\": \"r1\", \"policy\": \"ts-beta\", \"lessons\": 12, "
                        "\"candidates\": [\"a\\\"b\\u000a\", {\"hex\": \"ff01\"}], "
                        "\"items\": [\"a\\\"b\\u000a\", {\"hex\": \"ff01\"}], "
                        "\"prefix_propensities\": [0.5, 0.10000000000000001], \"seed\": \"s\"}\n";
    char out[600];
    size_t size = oltr_decision_write(&d, NULL, 0);
    assert_int_equal(size, strlen(right));
    assert_int_equal(oltr_decision_write(&d, out, sizeof out), size);
    assert_string_equal(out, right);
    for (size_t room = 1; room <= size; room++) { /* cut short, with a zero at the end */
        memset(out, 'x', sizeof out);
        assert_int_equal(oltr_decision_write(&d, out, room), size);
        assert_memory_equal(out, right, room - 1);
        assert_true(out[room - 1] == '\0' && out[room] == 'x');
    }
    d.size = sizeof d - 1;
    assert_int_equal(oltr_decision_write(&d, out, sizeof out), 0);
    d.size = 0;
    d.reserved[0] = out;
    assert_int_equal(oltr_decision_write(&d, out, sizeof out), 0);
    d.reserved[0] = NULL;
    d.id.bytes = NULL;
    assert_int_equal(oltr_decision_write(&d, out, sizeof out), 0);
    d.id.size = 0;
    assert_int_equal(oltr_decision_write(&d, out, sizeof out), 0);
    assert_int_equal(oltr_decision_write(NULL, out, sizeof out), 0);
    oltr_model_free(m);
}

static void rewards_are_clicks_where_they_can_be(void **state)
{
    char out[200];
    oltr_name id = {"r1", 2};
    assert_int_equal(oltr_decision_write_rewards(id, (double[]){0, 1, 1}, 3, out, sizeof out), 31);
    assert_string_equal(out, "{\"id\": \"r1\", \"clicks\": [2, 3]}\n");
    oltr_decision_write_rewards(id, (double[]){0, 0.25}, 2, out, sizeof out);
    assert_string_equal(out, "{\"id\": \"r1\", \"rewards\": [0, 0.25]}\n");
    oltr_decision_write_rewards(id, NULL, 0, out, sizeof out);
    assert_string_equal(out, "{\"id\": \"r1\", \"clicks\": []}\n");
    assert_int_equal(oltr_decision_write_rewards((oltr_name){NULL, 0}, NULL, 0, out, 9), 0);
    assert_int_equal(oltr_decision_write_rewards((oltr_name){NULL, 2}, NULL, 0, out, 9), 0);
}

/* In a locale with a decimal comma, if this machine has one, lines are the same. */
static void a_locale_with_commas_changes_no_line(void **state)
{
    const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    const float x[] = {0.5f, -0.25f};
    const double chance[] = {0.125};
    oltr_model_settings s;
    assert_int_equal(oltr_model_settings_init(&s, "lints", NULL), OLTR_OK);
    s.policy.dim = 2;
    oltr_model *m = oltr_model_new(&s, NULL);
    assert_non_null(m);
    oltr_list list = {.n = 1, .x = x};
    oltr_decision d = {.id = {"r1", 2},
                       .list = &list,
                       .place = (const uint32_t[]){0},
                       .in_list = chance,
                       .model = m,
                       .k = 1};
    char line[300], rewards[100];
    for (size_t i = 0; i < 3 && !setlocale(LC_NUMERIC, commas[i]); i++)
        ;
    oltr_decision_write(&d, line, sizeof line);
    oltr_decision_write_rewards(d.id, (double[]){0.25}, 1, rewards, sizeof rewards);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(line, "{\"id\": \"r1\", \"policy\": \"lints\", \"lessons\": 0, "
                              "\"features\": [[0.5, -0.25]], \"rows\": [0], "
                              "\"propensities\": [0.125]}\n");
    assert_string_equal(rewards, "{\"id\": \"r1\", \"rewards\": [0.25]}\n");
    oltr_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances_are_sums_of_those_of_lists),
        cmocka_unit_test(doubly_robust_terms_are_unbiased_for_any_predictions),
        cmocka_unit_test(right_predictions_give_the_value),
        cmocka_unit_test(kept_chances_have_the_same_bits),
        cmocka_unit_test(draws_come_near_exact_chances),
        cmocka_unit_test(greedy_lists_are_certain),
        cmocka_unit_test(kinds_without_exact_chances_are_refused),
        cmocka_unit_test(lists_that_cannot_be_are_refused),
        cmocka_unit_test(rates_are_those_of_other_folds),
        cmocka_unit_test(rates_follow_the_formula),
        cmocka_unit_test(rates_of_bad_logs_are_refused),
        cmocka_unit_test(lines_are_written_like_snprintf),
        cmocka_unit_test(rewards_are_clicks_where_they_can_be),
        cmocka_unit_test(a_locale_with_commas_changes_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
