/* result_files.c - a file of partial results is loaded only when it is whole and belongs to this
 * very experiment.
 */
#define _DEFAULT_SOURCE 1
#include "conform/scenes.h"
#include "support/files.h"

#include <sys/stat.h>

/* ---- a good file, and changes of it */

typedef struct sample {
    stage stage;
    char path[128];
    image good; /* the bytes of a finished run */
    oltr_results *full, *empty, *loaded;
} sample;

static int make_sample(void **state)
{
    sample *s = exactly(1, sizeof *s);
    set_small_stage(&s->stage, "fixed", "gts");
    snprintf(s->path, sizeof s->path, "%s", path_of("results"));
    s->full = run(&s->stage.e, 1, 1);
    s->empty = new_results(&s->stage.e, 1);
    s->loaded = new_results(&s->stage.e, 1);
    expect(oltr_results_save(s->full, s->path, NULL), OLTR_OK);
    s->good.byte = read_bytes(s->path, &s->good.size);
    *state = s;
    return 0;
}

static int free_sample(void **state)
{
    sample *s = *state;
    oltr_results_free(s->full);
    oltr_results_free(s->empty);
    oltr_results_free(s->loaded);
    unlink(s->path);
    free(s->good.byte);
    free(s);
    return 0;
}

/* The file is refused, and the results are what they were. */
static oltr_status load_refused(oltr_results *r, const oltr_experiment *e,
                                const oltr_results *before, const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_results_load(r, path, &error);
    assert_true(status != OLTR_OK && strlen(error.msg) > 10);
    expect(error.code, status);
    assert_same_results(e, 1, r, before);
    return status;
}

static oltr_status load_bytes(sample *s, const unsigned char *byte, size_t size)
{
    write_bytes("results", byte, size);
    return load_refused(s->loaded, &s->stage.e, s->empty, s->path);
}

static void damaged_files(void **state)
{
    sample *s = *state;
    image good = s->good;
    for (size_t size = 0; size < good.size; size++) {
        oltr_status status = load_bytes(s, good.byte, size);
        assert_true(status == OLTR_ECHECKSUM || status == OLTR_ETRUNCATED ||
                    (size < 8 && status == OLTR_EMAGIC));
    }
    for (size_t bit = 0; bit < 8 * good.size; bit++) {
        good.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
        oltr_status status = load_bytes(s, good.byte, good.size);
        good.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(bit / 8 < 8
                        ? status == OLTR_EMAGIC
                        : status == OLTR_ECHECKSUM || (bit / 8 < 12 && status == OLTR_EVERSION));
    }
    write_bytes("results", good.byte, good.size);
    expect(oltr_results_load(s->loaded, s->path, NULL), OLTR_OK);
    assert_same_results(&s->stage.e, 1, s->full, s->loaded);
}

static void newer_and_longer_files(void **state)
{
    sample *s = *state;
    image good = s->good;
    unsigned char *longer = exactly(good.size + 16, 1);
    memcpy(longer, good.byte, good.size);
    expect(load_bytes(s, longer, good.size + 16), OLTR_ECHECKSUM);
    set_little(good.byte + 8, 4, 77);
    set_little(good.byte + good.size - 8, 8, slow_crc64(good.byte, good.size - 8));
    expect(load_bytes(s, good.byte, good.size), OLTR_EVERSION);
    free(longer);
}

static void files_that_cannot_be(void **state)
{
    sample *s = *state;
    oltr_error error = {OLTR_OK, ""};
    unlink(s->path);
    expect(load_refused(s->loaded, &s->stage.e, s->empty, s->path), OLTR_EIO);
    expect_error(oltr_results_save(s->full, "/nowhere/at/all", &error), &error, OLTR_EIO,
                 "/nowhere/at/all");
    expect(oltr_results_save(NULL, s->path, NULL), OLTR_EINVAL);
    expect(oltr_results_save(s->full, NULL, NULL), OLTR_EINVAL);
    expect(oltr_results_load(NULL, s->path, NULL), OLTR_EINVAL);
    expect(oltr_results_load(s->loaded, NULL, NULL), OLTR_EINVAL);
    assert_int_equal(mkdir(s->path, 0700), 0); /* a folder is not read as a file of any length */
    expect(load_refused(s->loaded, &s->stage.e, s->empty, s->path), OLTR_EIO);
    expect(oltr_results_save(s->full, s->path, NULL), OLTR_EIO);
    rmdir(s->path);
    oltr_results_free(NULL);
}

/* ---- files of other experiments */

static void refuse_foreign(const oltr_experiment *e, const oltr_experiment *foreign,
                           const char *what)
{
    const char *path = path_of("theirs");
    oltr_results *theirs = run(foreign, 1, 1), *ours = new_results(e, 1),
                 *empty = new_results(e, 1);
    expect(oltr_results_save(theirs, path, NULL), OLTR_OK);
    oltr_status status = load_refused(ours, e, empty, path);
    if (status != OLTR_EMISMATCH)
        fail_msg("%s: %s, expected OLTR_EMISMATCH", what, oltr_status_name(status));
    oltr_results_free(theirs);
    oltr_results_free(ours);
    oltr_results_free(empty);
    unlink(path);
}

/* The experiment that differs in one thing. */
#define DIFFERING(scene, kind, change)                                                             \
    do {                                                                                           \
        stage ours, theirs;                                                                        \
        set_small_stage(&ours, scene, kind);                                                       \
        set_small_stage(&theirs, scene, kind);                                                     \
        oltr_experiment *f = &theirs.e;                                                            \
        oltr_contestant *c = &theirs.policy[0];                                                    \
        (void)c;                                                                                   \
        change;                                                                                    \
        refuse_foreign(&ours.e, f, #change);                                                       \
    } while (0)

static void files_of_other_experiments(void **state)
{
    static const double moved[N] = {0.1, 0.4, 0.05, 0.3, 0.25, 0.6, 0, 0.16};
    float other[N * DIM];
    memcpy(other, features, sizeof other);
    other[N * DIM - 1] += 0.01F;
    DIFFERING("fixed", "gts", f->seed++);
    DIFFERING("fixed", "gts", f->rounds++);
    DIFFERING("fixed", "gts", f->slots++);
    DIFFERING("fixed", "gts", f->replications++);
    DIFFERING("fixed", "gts", f->replications--);
    DIFFERING("fixed", "gts", f->n_checkpoints--);
    DIFFERING("fixed", "gts", (f->rounds = 50, f->n_checkpoints++));
    DIFFERING("fixed", "gts", (f->checkpoint = marks + 1, f->n_checkpoints--));
    DIFFERING("fixed", "gts", f->world.attraction = moved);
    DIFFERING("fixed", "gts", f->world.examined_without_click = 1);
    DIFFERING("fixed", "gts", (f->world.prior_a = shape_a, f->world.prior_b = shape_b));
    DIFFERING("fixed", "gts", (f->world.kind = "beta", f->world.attraction = NULL));
    DIFFERING("fixed", "gts", c->label = "z");
    DIFFERING("fixed", "gts", c->settings.value[param_index(c->settings.info, "sigma")] = 0.25);
    DIFFERING("fixed", "gts", oltr_settings_init(&c->settings, "ts-beta", N, NULL));
    DIFFERING("fixed", "gts", add_policy(&theirs, "gts"));
    DIFFERING("fixed, features", "lints", f->world.features = other);
    DIFFERING("linear", "lints", f->world.scale = 0.27);
    DIFFERING("logistic, fresh", "lints", f->world.scale = 0.27);
    DIFFERING("scalar", "lints", f->world.noise_sd = 0.27);
}

/* Either status will do; the run does not begin. */
static void refuse_run(const oltr_experiment *points, uint32_t n, oltr_results *r)
{
    oltr_run_options options = {.threads = 1};
    oltr_status status = oltr_run(points, n, &options, r, NULL);
    assert_true(status == OLTR_EMISMATCH || status == OLTR_EINVAL);
}

/* Results belong to the experiment they were made for. */
static void results_of_other_experiments(void **state)
{
    stage one, two;
    oltr_error error = {OLTR_OK, ""};
    set_small_stage(&one, "fixed", "gts");
    set_small_stage(&two, "fixed", "gts");
    oltr_experiment points[2] = {one.e, one.e}, more_rounds = one.e;
    oltr_results *r = new_results(&one.e, 1);
    add_policy(&two, "random");
    more_rounds.rounds++;
    refuse_run(points, 2, r);
    refuse_run(NULL, 1, r);
    refuse_run(&one.e, 1, NULL);
    refuse_run(&two.e, 1, r);
    refuse_run(&more_rounds, 1, r);
    expect(oltr_run(&one.e, 1, NULL, r, NULL), OLTR_OK);
    assert_null(oltr_results_new(NULL, 1, &error));
    assert_null(oltr_results_new(&one.e, 0, &error));
    oltr_results_free(r);
}

static int stop_at_once(void *context)
{
    return 1;
}

/* A stopped run whose partial results cannot be written says so. */
static void a_stopped_run_that_cannot_be_kept(void **state)
{
    stage s;
    set_small_stage(&s, "fixed", "gts");
    s.e.rounds = 100000;
    oltr_results *r = new_results(&s.e, 1);
    oltr_run_options options = {.threads = 1, .partial = "/nowhere/at/all", .stop = stop_at_once};
    expect(oltr_run(&s.e, 1, &options, r, NULL), OLTR_EIO);
    oltr_results_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_files, make_sample, free_sample),
        cmocka_unit_test_setup_teardown(newer_and_longer_files, make_sample, free_sample),
        cmocka_unit_test_setup_teardown(files_that_cannot_be, make_sample, free_sample),
        cmocka_unit_test(files_of_other_experiments),
        cmocka_unit_test(results_of_other_experiments),
        cmocka_unit_test(a_stopped_run_that_cannot_be_kept),
    };
    return cmocka_run_group_tests_name("files of partial results", tests, make_folder,
                                       remove_folder);
}
