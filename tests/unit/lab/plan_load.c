/* plan_load.c - oltr_plan_load_data(): the data of the program, and a plan that is as it was after
 * every failure.
 *
 * The allocator is watched (see CMakeLists.txt), so that each allocation can be refused in turn.
 */
#define _DEFAULT_SOURCE 1
#include "support/allocator.h"
#include "support/files.h"

#include "app/verbs/verbs.h"
#include "report/io/result_table.h"

#include <dlfcn.h>
#include <oltr/plan.h>
#include <sys/stat.h>

#define HEAD "title: Tiny\nseed: 3\nrounds: 40\nslots: 5\nreplications: 2\ncheckpoints: 4\n"
#define POLICIES                                                                                   \
    "policies:\n"                                                                                  \
    "  - {name: LinTS, kind: lints}\n"                                                             \
    "  - {name: GTS-P, kind: gts, prior: full}\n"                                                  \
    "  - {name: TS-Beta, kind: ts-beta, prior: full}\n"
#define GENERATED "  generated: {train: 6, vali: 4, test: 4}\n"
#define WORLD "world:\n  kind: dataset\n  shape: web30k\n" GENERATED "  queries: 3\n  rankers: 2\n"
static const char tiny[] = HEAD WORLD POLICIES;
static const char no_prior[] =
    HEAD "world: {kind: dataset, shape: web30k, generated: {train: 2, vali: 2, test: 3},"
         " rankers: 0}\npolicies: [{kind: lints}]\n";

static oltr_plan *parse(const char *text)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_plan *plan = oltr_plan_parse("tiny.yaml", text, strlen(text), NULL, 0, &error);
    if (!plan)
        fail_msg("%s", error.msg);
    return plan;
}

static void load(oltr_plan *plan, const oltr_data_options *options)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_plan_load_data(plan, options, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

/* Every point as oltr_plan_parse() left it. */
static void assert_untouched(const oltr_plan *plan, uint32_t replications)
{
    const oltr_experiment *points = oltr_plan_points(plan);
    oltr_error error;
    for (uint32_t i = 0; i < oltr_plan_n_points(plan); i++) {
        assert_null(points[i].world.dataset);
        assert_null(points[i].world.attraction);
        assert_null(points[i].world.prior_a);
        assert_int_equal(points[i].world.n_items, 1);
        assert_int_equal(points[i].replications, replications);
        assert_int_equal(points[i].policy[0].settings.dim, 0);
    }
    assert_null(oltr_plan_results(plan, &error));
}

static void assert_fails(oltr_plan *plan, const oltr_data_options *options, oltr_status code,
                         const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_plan_load_data(plan, options, &error);
    if (status != code || error.code != code || !strstr(error.msg, words))
        fail_msg("%s, not %s: %s", oltr_status_name(status), oltr_status_name(code), error.msg);
    assert_int_equal(oltr_plan_load_data(plan, options, NULL), code);
}

/* ---- the same as the program */

static char *results_of(oltr_plan *plan)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t n = oltr_plan_n_points(plan);
    const char *sweep[8] = {0};
    struct text table = {0};
    oltr_results *results = oltr_plan_results(plan, &error);
    if (!results || oltr_run(oltr_plan_points(plan), n, NULL, results, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    for (uint32_t i = 0; i < n; i++)
        sweep[i] = oltr_plan_sweep_value(plan, i);
    results_csv(oltr_plan_points(plan), n, sweep[0] ? sweep : NULL, results, false, &table);
    oltr_results_free(results);
    assert_false(table.failed);
    return table.bytes;
}

static void assert_as_the_program(const char *text)
{
    char file[128], out[128];
    snprintf(file, sizeof file, "%s", write_text("tiny.yaml", text));
    snprintf(out, sizeof out, "%s", path_of("out"));
    char *run[] = {"oltr", "run", file, "-o", out, "--no-figures", "-q", "--force", NULL};
    assert_int_equal(cli_main(8, run), 0);
    size_t size;
    unsigned char *expected = read_bytes(path_of("out/results.csv"), &size);
    oltr_plan *plan = parse(text);
    load(plan, NULL);
    char *own = results_of(plan);
    assert_string_equal(own, (const char *)expected);
    free(own);
    free(expected);
    oltr_plan_free(plan);
}

static void generated_as_by_the_program(void **state)
{
    assert_as_the_program(tiny);
    assert_as_the_program(HEAD WORLD POLICIES
                          "sweep: {key: world.scores_as, values: [calibrated, sigmoid, raw]}\n");
}

static void write_texts(const char *name, uint32_t queries, uint32_t features)
{
    FILE *file = fopen(path_of(name), "wb");
    dice d = {queries};
    assert_non_null(file);
    for (uint32_t q = 0; q < queries; q++)
        for (uint32_t i = 0; i < 9; i++) {
            fprintf(file, "%u qid:%u", below(&d, 3), 100 + q);
            for (uint32_t f = 1; f <= features; f++)
                fprintf(file, " %u:%.4f", f, unit(&d));
            fprintf(file, "\n");
        }
    assert_int_equal(fclose(file), 0);
}

static void make_texts(void)
{
    mkdir(path_of("texts"), 0777);
    write_texts("texts/train.txt", 8, 6);
    write_texts("texts/vali.txt", 4, 4);
    write_texts("texts/test.txt", 5, 5);
}

static const char *on_texts(void)
{
    static char text[1000];
    snprintf(text, sizeof text, HEAD "world: {kind: dataset, data: %s, rankers: 2}\n" POLICIES,
             path_of("texts"));
    return text;
}

static void read_as_by_the_program(void **state)
{
    make_texts();
    assert_as_the_program(on_texts());
}

/* ---- what is asked of a caller */

static void nothing_to_load(void **state)
{
    oltr_plan *plan = parse(HEAD "world: {kind: beta, items: 9}\npolicies: [{kind: gts}]\n");
    load(plan, NULL);
    load(plan, &(oltr_data_options){.keep_in = "/no/such/folder"});
    assert_int_equal(oltr_plan_points(plan)->replications, 2);
    oltr_plan_free(plan);
    assert_fails(NULL, NULL, OLTR_EINVAL, "there is no plan");
}

static void options_are_checked(void **state)
{
    oltr_plan *plan = parse(no_prior);
    oltr_data_options newer = {.size = sizeof newer + 8}, unnamed = {.n_look_in = 1};
    const char *nothing[] = {NULL};
    assert_fails(plan, &newer, OLTR_EINVAL, "of a newer oltr");
    assert_fails(plan, &unnamed, OLTR_EINVAL, "look_in must name 1 folders");
    unnamed.look_in = nothing;
    assert_fails(plan, &unnamed, OLTR_EINVAL, "look_in must name 1 folders");
    assert_untouched(plan, 2);
    load(plan, &(oltr_data_options){.size = sizeof(oltr_data_options), .threads = 1});
    assert_int_equal(oltr_plan_points(plan)->replications, 6);
    oltr_plan_free(plan);
}

static void loaded_and_given_data_stay(void **state)
{
    static const uint64_t query[] = {7};
    static const uint32_t first_row[] = {0, 6};
    static const uint8_t grade[] = {0, 1, 4, 2, 0, 0};
    static const float x[] = {1, 0, 0, 1, 0.5F, 0.5F};
    static const oltr_dataset own = {1, 6, 1, query, first_row, grade, x, NULL};
    oltr_plan *plan = parse(no_prior);
    assert_int_equal(oltr_plan_give_data(plan, 0, &(oltr_plan_data_given){.dataset = &own}, NULL),
                     OLTR_OK);
    load(plan, NULL);
    assert_ptr_equal(oltr_plan_points(plan)->world.dataset, &own);
    oltr_plan_free(plan);
    plan = parse(no_prior);
    load(plan, NULL);
    const oltr_dataset *loaded = oltr_plan_points(plan)->world.dataset;
    load(plan, NULL);
    assert_ptr_equal(oltr_plan_points(plan)->world.dataset, loaded);
    oltr_plan_free(plan);
}

/* ---- data that cannot be loaded */

static void missing_files(void **state)
{
    oltr_plan *plan = parse(on_texts());
    make_texts();
    assert_int_equal(rename(path_of("texts/test.txt"), path_of("test.txt")), 0);
    remove(path_of("texts/test.txt.oltr"));
    assert_fails(plan, NULL, OLTR_EIO, "there is no test.txt and no test.txt.gz in the folder");
    write_text("texts/test.txt", "1 qid:x 1:1\n");
    assert_fails(plan, NULL, OLTR_EDATA, "texts/test.txt, line 1");
    assert_untouched(plan, 2);
    assert_int_equal(rename(path_of("test.txt"), path_of("texts/test.txt")), 0);
    load(plan, NULL);
    assert_int_equal(oltr_plan_points(plan)->replications, 10);
    oltr_plan_free(plan);

    plan = parse(HEAD "world: {kind: dataset, data: /no/such/folder}\npolicies: [{kind: gts}]\n");
    assert_fails(plan, NULL, OLTR_EIO, "there is no train.txt");
    assert_untouched(plan, 2);
    oltr_plan_free(plan);
    plan = parse(HEAD "world: {kind: dataset, shape: web30k, " GENERATED
                      ", scores: /no/such/scores.csv}\npolicies: [{kind: gts}]\n");
    assert_fails(plan, NULL, OLTR_EIO, "/no/such/scores.csv: cannot be opened");
    assert_untouched(plan, 2);
    oltr_plan_free(plan);
}

/* The first point is complete when the second fails. */
static void all_points_or_none(void **state)
{
    oltr_plan *plan =
        parse(HEAD "world: {kind: dataset, shape: web30k, generated: {train: 2, vali: 2, test: 3},"
                   " rankers: 0}\npolicies: [{kind: lints}]\n"
                   "sweep: {key: slots, values: [3, 5000]}\n");
    assert_fails(plan, NULL, OLTR_ESLOTS, "none of the 3 test queries has 5000 documents");
    assert_untouched(plan, 2);
    oltr_plan_free(plan);
}

static int stop_after(void *context)
{
    return atomic_fetch_sub((atomic_int *)context, 1) <= 0;
}

static void stopped(void **state)
{
    static const int after[] = {0, 1, 2, 3, 4, 20};
    for (size_t i = 0; i < COUNT(after); i++) {
        atomic_int left = after[i];
        oltr_data_options options = {.stop = stop_after, .context = &left};
        oltr_plan *plan = parse(tiny);
        oltr_error error = {OLTR_OK, ""};
        assert_int_equal(oltr_plan_load_data(plan, &options, &error), OLTR_EINTERRUPTED);
        assert_non_null(strstr(error.msg, "stopped"));
        assert_untouched(plan, 2);
        left = 1 << 30;
        if (i + 1 == COUNT(after))
            load(plan, &options);
        oltr_plan_free(plan);
    }
    make_texts();
    remove(path_of("texts/train.txt.oltr"));
    atomic_int at_once = 0;
    oltr_plan *plan = parse(on_texts());
    assert_fails(plan, &(oltr_data_options){.stop = stop_after, .context = &at_once},
                 OLTR_EINTERRUPTED, "stopped while reading");
    oltr_plan_free(plan);
}

/* ---- kept scores */

struct heard {
    uint32_t reports, sentences;
    oltr_training last;
    char sentence[300];
};

static void hear_training(void *context, const oltr_training *state)
{
    struct heard *heard = context;
    heard->reports++;
    heard->last = *state;
}

static void hear_sentence(void *context, const char *sentence)
{
    struct heard *heard = context;
    heard->sentences++;
    snprintf(heard->sentence, sizeof heard->sentence, "%s", sentence);
}

/* The prior of the first document, after loading with these folders. */
static double prior_with(const char *keep_in, const char *look_in, struct heard *heard)
{
    *heard = (struct heard){0};
    oltr_data_options options = {.keep_in = keep_in,
                                 .look_in = &look_in,
                                 .n_look_in = look_in != NULL,
                                 .training = hear_training,
                                 .say = hear_sentence,
                                 .context = heard};
    oltr_plan *plan = parse(tiny);
    load(plan, &options);
    double a = oltr_plan_points(plan)->world.prior_a[0];
    oltr_plan_free(plan);
    return a;
}

static void scores_are_kept(void **state)
{
    struct heard heard;
    const char *kept = path_of("kept"), *other = path_of("other");
    mkdir(kept, 0777);
    mkdir(other, 0777);
    double a = prior_with(kept, NULL, &heard);
    assert_true(heard.reports > 0 && heard.sentences == 0);
    assert_true(heard.last.share == 1 && heard.last.done == 2 && heard.last.scorers == 2);
    assert_true(heard.last.epochs > 0 && heard.last.ndcg > 0);
    assert_true(prior_with(kept, NULL, &heard) == a);
    assert_int_equal(heard.reports, 0);
    assert_non_null(strstr(heard.sentence, "kept/scores.csv are of the same data and seed"));
    assert_true(prior_with(other, kept, &heard) == a);
    assert_int_equal(heard.reports, 0);
    assert_int_not_equal(access(path_of("other/scores.csv"), F_OK), 0);
    write_text("kept/scores.csv", "query,document,m1\n");
    assert_true(prior_with(NULL, kept, &heard) == a);
    assert_true(heard.reports > 0);
    assert_non_null(strstr(heard.sentence, "kept/scores.csv cannot be used again"));
    size_t size;
    unsigned char *bytes = read_bytes(path_of("kept/scores.csv"), &size);
    assert_int_equal(size, 18); /* a folder of look_in is only read */
    free(bytes);
}

static void folder_is_tried_before_training(void **state)
{
    struct heard heard = {0};
    oltr_plan *plan = parse(tiny);
    oltr_data_options options = {
        .keep_in = "/no/such/folder", .training = hear_training, .context = &heard};
    assert_fails(plan, &options, OLTR_EIO, "scores cannot be kept in the folder /no/such/folder");
    assert_int_equal(heard.reports, 0);
    assert_untouched(plan, 2);
    oltr_plan_free(plan);
}

/* numpy may use the same OpenBLAS, with more threads. */
static void threads_of_openblas_come_back(void **state)
{
    int (*get_threads)(void);
    void (*set_threads)(int);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    void *get = dlsym(library, "openblas_get_num_threads"),
         *set = dlsym(library, "openblas_set_num_threads");
    assert_true(get && set);
    memcpy(&get_threads, &get, sizeof get);
    memcpy(&set_threads, &set, sizeof set);
    set_threads(2);
    int before = get_threads();
    oltr_plan *plan = parse(tiny);
    load(plan, NULL);
    assert_int_equal(get_threads(), before);
    oltr_plan_free(plan);
    set_threads(1);
    dlclose(library);
}

/* ---- memory */

/* Refuses the n-th allocation and all that follow, for n = 0, 1, ... until the call succeeds. */
static void assert_survives_without_memory(const char *text, const oltr_data_options *options,
                                           long step)
{
    oltr_plan *plan = parse(text);
    oltr_status status = OLTR_ENOMEM;
    long n = 0;
    for (; status != OLTR_OK; n += step) {
        oltr_error error = {OLTR_OK, ""};
        long before = taken - freed;
        until_failure = n;
        status = oltr_plan_load_data(plan, options, &error);
        until_failure = -1;
        if (status != OLTR_OK && (status != OLTR_ENOMEM || error.msg[0] == 0))
            fail_msg("allocation %ld refused: %s: %s", n, oltr_status_name(status), error.msg);
        if (status != OLTR_OK) {
            assert_int_equal(taken - freed, before);
            assert_untouched(plan, 2);
        }
    }
    assert_true(n > 20);
    assert_non_null(oltr_plan_points(plan)->world.dataset);
    oltr_plan_free(plan);
}

static void each_allocation_refused(void **state)
{
    make_texts();
    oltr_data_options one_thread = {.threads = 1};
    assert_survives_without_memory(no_prior, &one_thread, 1);
    assert_survives_without_memory(tiny, &one_thread, EFFORT > 1 ? 5 : 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_as_by_the_program),
        cmocka_unit_test(read_as_by_the_program),
        cmocka_unit_test(nothing_to_load),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(loaded_and_given_data_stay),
        cmocka_unit_test(missing_files),
        cmocka_unit_test(all_points_or_none),
        cmocka_unit_test(stopped),
        cmocka_unit_test(scores_are_kept),
        cmocka_unit_test(folder_is_tried_before_training),
        cmocka_unit_test(threads_of_openblas_come_back),
        cmocka_unit_test(each_allocation_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
