/* copies.c - what the catalogue says about copies and orders of lessons, tried on every kind; and
 * snapshots of format 1.
 *
 * exact_copy: original and copies rank, learn, merge and forget side by side, and every score and
 * every snapshot agree to the bit.  order_free: the same lessons in another order leave the same
 * snapshot.  Where a flag is 0, the same trial must show a difference: a flag that is 0 without
 * need fails.
 */
#define _DEFAULT_SOURCE 1
#include "conform/format.h"
#include "conform/suite.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ITEMS = 12, DIM = 5, SLOTS = 3, ROUNDS = 240, COPIES = 3, POOL = 40 };

/* ---- subjects: each kind as it is, and in the settings that take another way through learning */

typedef struct subject {
    const char *kind, *name, *value; /* one parameter, or NULL */
    char title[80];
} subject;

static const subject special[] = {
    {"logts", "weights", "stale"},
    {"logts", "weights", "none"},
    {"logts", "rows", "8"},
    {"logts", "drift", "0"},
    {"logts-newton", "clip", "1"},
    {"logts", "norm", "scale"},
    {"cascade-woful", "variant", "released"},
    {"lints", "radius", "released"},
    {"gts", "variant", "released"},
    {"toprank", "variant", "released"},
};
static subject subjects[64];
static size_t n_subjects;

static void list_subjects(void)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        subjects[n_subjects++] = (subject){.kind = oltr_policy_info_at(i)->name};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        const oltr_policy_info *info = oltr_policy_info_by_name(special[i].kind, NULL);
        assert_non_null(info);
        if (param_index(info, special[i].name) < info->n_params)
            subjects[n_subjects++] = special[i];
    }
    for (size_t i = 0; i < n_subjects; i++)
        snprintf(subjects[i].title, sizeof subjects[i].title, "%s %s %s", subjects[i].kind,
                 subjects[i].name ? subjects[i].name : "",
                 subjects[i].value ? subjects[i].value : "");
}

static const oltr_policy_info *info_of(const subject *s)
{
    return oltr_policy_info_by_name(s->kind, NULL);
}

static oltr_policy *make(const subject *s, const oltr_memory *memory)
{
    oltr_settings settings;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_settings_init(&settings, s->kind, ITEMS, NULL), OLTR_OK);
    settings.dim = DIM;
    settings.memory = memory;
    if (s->name)
        assert_int_equal(oltr_settings_set(&settings, s->name, s->value, NULL), OLTR_OK);
    oltr_policy *p = oltr_policy_new(&settings, &error);
    if (!p)
        fail_msg("%s: %s", s->title, error.msg);
    return p;
}

/* ---- lessons: rows from a pool, so that some repeat; every policy meets the same ones */

typedef struct lesson {
    float x[ITEMS][DIM];
    uint32_t item[SLOTS], n_examined;
    double reward[SLOTS];
} lesson;

static lesson draw_lesson(dice *d)
{
    lesson l;
    for (uint32_t i = 0; i < ITEMS; i++) {
        dice row = {below(d, POOL) + 1000};
        for (uint32_t j = 0; j < DIM; j++)
            l.x[i][j] = (float)(unit(&row) - 0.4) * 1.3f;
    }
    draw_items(d, ITEMS, SLOTS, l.item);
    l.n_examined = below(d, SLOTS + 1);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        l.reward[slot] =
            unit(d) < 0.02 + 0.2 * (double)fabsf(l.x[l.item[slot]][0]) + 0.7 * (l.item[slot] < 4);
    return l;
}

static void learn(oltr_policy *p, lesson *l)
{
    oltr_query query = {.n_items = ITEMS, .dim = DIM, .x = l->x[0]};
    oltr_ranking shown = {SLOTS, l->item, NULL};
    oltr_feedback seen = {l->n_examined, l->reward};
    assert_int_equal(oltr_learn(p, &query, &shown, &seen), OLTR_OK);
}

static void teach(oltr_policy *p, uint64_t seed, uint32_t rounds)
{
    dice d = {seed};
    for (uint32_t t = 0; t < rounds; t++) {
        lesson l = draw_lesson(&d);
        learn(p, &l);
    }
}

/* The whole list with its scores, from a fixed generator. */
typedef struct list {
    uint32_t item[ITEMS];
    double score[ITEMS];
} list;

static list rank_all(const oltr_policy *p, lesson *l, uint64_t round)
{
    list out;
    memset(&out, 0, sizeof out);
    oltr_query query = {.n_items = ITEMS, .dim = DIM, .x = l->x[0]};
    oltr_ranking ranking = {ITEMS, out.item, out.score};
    oltr_scratch *scratch = oltr_scratch_new(p);
    assert_non_null(scratch);
    assert_int_equal(
        oltr_rank(p, &query, oltr_rng_at(oltr_rng_make(5, 6), 0, round), scratch, &ranking),
        OLTR_OK);
    oltr_scratch_free(scratch);
    return out;
}

/* ---- exact copies */

static oltr_policy *copied(const oltr_policy *p, uint32_t how)
{
    oltr_error error = {OLTR_OK, ""};
    if (how % 2 == 0)
        return copy_of(p);
    oltr_policy *copy = oltr_policy_copy(p, NULL, &error);
    if (!copy)
        fail_msg("no copy: %s", error.msg);
    return copy;
}

/* What happens to all of them in this round, besides the lesson. */
static void meet_others(oltr_policy **policy, const subject *s, uint32_t t)
{
    if (t == 200 && info_of(s)->can_resize)
        assert_int_equal(oltr_policy_resize(policy, ITEMS + 3, NULL, NULL), OLTR_OK);
    oltr_policy *p = *policy;
    if (t == 130 && info_of(s)->can_forget)
        assert_int_equal(oltr_forget(p, 0.7), OLTR_OK);
    if (t == 170 && info_of(s)->can_merge) {
        oltr_policy *other = make(s, NULL);
        teach(other, 99, 30);
        assert_int_equal(oltr_merge(p, other), OLTR_OK);
        oltr_policy_free(other);
    }
}

/* How many rounds showed a difference between an original and its copies: of scores, or of
 * snapshots. */
static uint32_t rounds_that_differ(const subject *s)
{
    oltr_policy *p = make(s, NULL), *copy[COPIES] = {NULL};
    dice d = {17};
    uint32_t differ = 0;
    for (uint32_t t = 0; t < ROUNDS; t++) {
        lesson l = draw_lesson(&d);
        if (t % 60 == 50 &&
            t / 60 < COPIES) /* a copy of the original, a copy of that copy, and so on */
            copy[t / 60] = copied(t < 60 ? p : copy[t / 60 - 1], t / 60);
        list wanted = rank_all(p, &l, t);
        learn(p, &l);
        meet_others(&p, s, t);
        for (uint32_t c = 0; c < COPIES && copy[c]; c++) {
            list got = rank_all(copy[c], &l, t);
            learn(copy[c], &l);
            meet_others(&copy[c], s, t);
            differ += memcmp(&got, &wanted, sizeof got) != 0 || !same_state(p, copy[c]);
        }
    }
    for (uint32_t c = 0; c < COPIES; c++)
        oltr_policy_free(copy[c]);
    oltr_policy_free(p);
    return differ;
}

static void copies_go_on_to_the_same_bits(void **state)
{
    const subject *s = *state;
    uint32_t differ = rounds_that_differ(s);
    if (info_of(s)->exact_copy && differ)
        fail_msg("%s: %u rounds of copies differ from the original", s->title, differ);
    if (!info_of(s)->exact_copy && !s->name && !differ)
        fail_msg("%s: its copies are exact, but the catalogue does not say so", s->title);
}

/* A snapshot of what was loaded is the same snapshot, derived numbers included. */
static void a_copy_has_the_same_snapshot(void **state)
{
    oltr_policy *p = make(*state, NULL);
    for (uint64_t seed = 0; seed < 5; seed++) {
        oltr_policy *copy = copied(p, (uint32_t)seed);
        assert_true(same_state(p, copy));
        oltr_policy_free(copy);
        teach(p, seed, 13);
    }
    oltr_policy_free(p);
}

/* ---- order */

static int order_matters(const subject *s)
{
    enum { LESSONS = 1200 };
    static lesson all[LESSONS];
    uint32_t order[LESSONS];
    oltr_policy *p = make(s, NULL), *q = make(s, NULL);
    dice d = {23};
    for (uint32_t t = 0; t < LESSONS; t++) {
        all[t] = draw_lesson(&d);
        order[t] = t;
        learn(p, &all[t]);
    }
    shuffle(&d, order, LESSONS);
    for (uint32_t t = 0; t < LESSONS; t++)
        learn(q, &all[order[t]]);
    int differ = !same_state(p, q);
    oltr_policy_free(p);
    oltr_policy_free(q);
    return differ;
}

static void order_is_free_where_it_is_said(void **state)
{
    const subject *s = *state;
    int differ = order_matters(s);
    if (info_of(s)->order_free && differ)
        fail_msg("%s: another order of lessons leaves another snapshot", s->title);
    if (!info_of(s)->order_free && !s->name && !differ)
        fail_msg("%s: the order does not matter, but the catalogue does not say so", s->title);
}

/* ---- format 1 */

static void assert_predicts(const oltr_policy *p, const char *name, FILE *expected)
{
    static const float x[] = {0.5f, 0.1f, -0.3f, 0.6f, 0.2f, -0.4f};
    /* logts derives its estimate anew, to 1e-8, and its factor within `drift`; the linear kinds
     * factor the sums anew */
    int logistic = strncmp(name, "logts", 5) == 0;
    double mean[3] = {0}, sd[3] = {0}, near_mean = logistic ? 1e-7 : 1e-12,
           near_sd = logistic ? 1e-6 : 1e-12;
    int status;
    oltr_query query = {.n_items = 3, .dim = 2, .x = x};
    assert_int_equal(fscanf(expected, "%d", &status), 1);
    assert_int_equal(oltr_predict(p, &query, mean, sd), status);
    for (int i = 0; status == OLTR_OK && i < 3; i++) {
        double wanted_mean, wanted_sd;
        assert_int_equal(fscanf(expected, "%la %la", &wanted_mean, &wanted_sd), 2);
        if (!(fabs(mean[i] - wanted_mean) <= near_mean && fabs(sd[i] - wanted_sd) <= near_sd))
            fail_msg("%s, item %d: %.17g +- %.17g, format 1 had %.17g +- %.17g", name, i, mean[i],
                     sd[i], wanted_mean, wanted_sd);
    }
}

static void assert_loads_as_before(const char *name, FILE *expected)
{
    char path[600];
    oltr_error error = {OLTR_OK, ""};
    snprintf(path, sizeof path, "%s/tests/conform/format1/%s", OLTR_SOURCE, name);
    oltr_policy *p = oltr_load_file(path, NULL, &error);
    if (!p)
        fail_msg("%s: %s", path, error.msg);
    assert_int_equal(oltr_policy_rounds(p), 12);
    assert_predicts(p, name, expected);
    oltr_policy *copy = copy_of(p); /* from here on it is a policy of format 2 */
    assert_true(same_state(p, copy));
    image m = image_of(p);
    assert_int_equal(little(m.byte + AT_VERSION, 4), 2);
    free(m.byte);
    oltr_policy_free(copy);
    oltr_policy_free(p);
}

static void format_1_still_loads_and_predicts_the_same(void **state)
{
    (void)state;
    char path[600], name[64];
    int files = 0;
    snprintf(path, sizeof path, "%s/tests/conform/format1/predictions.txt", OLTR_SOURCE);
    FILE *expected = fopen(path, "r");
    assert_non_null(expected);
    for (; fscanf(expected, "%63s", name) == 1; files++)
        assert_loads_as_before(name, expected);
    fclose(expected);
    assert_int_equal(files, 27);
}

/* Format 2 without derived numbers, for a kind that has some: derived anew, as format 1. */
static void derived_numbers_may_be_left_out(void **state)
{
    oltr_policy *p = make(*state, NULL);
    teach(p, 3, 40);
    image m = image_of(p);
    anatomy a = dissect(m.byte, m.size);
    set_little(m.byte + a.n_derived, 4, 0);
    m.size = a.n_derived + 4 + 8;
    seal(m.byte, m.size);
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *q = oltr_load(m.byte, m.size, &error);
    if (!q)
        fail_msg("%s", error.msg);
    assert_int_equal(oltr_check(q, &error), OLTR_OK);
    oltr_policy_free(q);
    oltr_policy_free(p);
    free(m.byte);
}

/* Every derived number in turn is no number; and every array a little longer or shorter than it can
 * be. */
static void derived_numbers_are_not_believed(void **state)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    oltr_policy *p = make(*state, NULL);
    teach(p, 3, 40);
    image m = image_of(p);
    anatomy a = dissect(m.byte, m.size);
    for (uint32_t i = 0; i < a.derived; i++) {
        const field *f = &a.derived_array[i];
        for (size_t j = 0; j < 3 * (size_t)f->n; j++) {
            double held = number_at(m.byte + f->value + 8 * (j / 3));
            set_number(m.byte + f->value + 8 * (j / 3), bad[j % 3]);
            seal(m.byte, m.size);
            oltr_error error = {OLTR_OK, ""};
            oltr_policy *q = oltr_load(m.byte, m.size, &error);
            if (q || (error.code != OLTR_ESTATE && error.code != OLTR_ECORRUPT))
                fail_msg("%s[%zu] = %g: %s", f->text, j / 3, bad[j % 3],
                         oltr_status_name(error.code));
            set_number(m.byte + f->value + 8 * (j / 3), held);
        }
        for (uint64_t n = f->n ? f->n - 1 : 1; n <= f->n + 1; n += 2) {
            set_little(m.byte + f->count, 8, n);
            seal(m.byte, m.size);
            assert_null(oltr_load(m.byte, m.size, NULL));
        }
        set_little(m.byte + f->count, 8, f->n);
    }
    free(m.byte);
    oltr_policy_free(p);
}

/* ---- files */

static char folder[] = "/tmp/oltr-copies-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][200];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[0], "%s/%s", folder, name);
    return path[next];
}

static void a_file_gives_the_policy_back(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = make(*state, NULL);
    teach(p, 1, 20);
    for (int again = 0; again < 2; again++) { /* a file that is there is replaced */
        if (oltr_save_file(p, path_of("policy"), &error) != OLTR_OK)
            fail_msg("%s", error.msg);
        oltr_policy *q = oltr_load_file(path_of("policy"), NULL, &error);
        if (!q)
            fail_msg("%s", error.msg);
        assert_true(same_state(p, q));
        oltr_policy_free(q);
        teach(p, 2, 5);
    }
    unlink(path_of("policy"));
    oltr_policy_free(p);
}

static void expect_error(oltr_status got, const oltr_error *error, oltr_status wanted,
                         const char *words)
{
    assert_int_equal(got, wanted);
    assert_int_equal(error->code, wanted);
    if (!strstr(error->msg, words))
        fail_msg("'%s' does not say '%s'", error->msg, words);
}

static void errors_of_files_have_the_reason(void **state)
{
    (void)state;
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = make(&subjects[0], NULL);
    expect_error(oltr_save_file(p, "/no/such/folder/x", &error), &error, OLTR_EIO,
                 "No such file or directory");
    expect_error(oltr_save_file(p, folder, &error), &error, OLTR_EIO, "directory");
    assert_null(oltr_load_file("/no/such/folder/x", NULL, &error));
    expect_error(error.code, &error, OLTR_EIO, "/no/such/folder/x: No such file or directory");
    assert_null(oltr_load_file(folder, NULL, &error));
    expect_error(error.code, &error, OLTR_EIO, "Is a directory");
    assert_null(oltr_load_file("/dev/null", NULL, &error));
    expect_error(error.code, &error, OLTR_EIO, "no ordinary file");
    expect_error(oltr_save_file(NULL, "x", &error), &error, OLTR_EINVAL, "policy");
    expect_error(oltr_save_file(p, NULL, &error), &error, OLTR_EINVAL, "path");
    assert_null(oltr_load_file(NULL, NULL, &error));
    expect_error(error.code, &error, OLTR_EINVAL, "path");
    oltr_policy_free(p);
}

/* A file that is far longer than what may be taken is not read. */
static void a_long_file_is_not_read(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_load_options options = {.size = sizeof options, .most_bytes = 1000};
    (void)state;
    FILE *file = fopen(path_of("long"), "wb");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(truncate(path_of("long"), (off_t)1 << 30), 0);
    assert_null(oltr_load_file(path_of("long"), &options, &error));
    assert_int_equal(error.code, OLTR_EIO);
    assert_non_null(strstr(error.msg, "longer than"));
    unlink(path_of("long"));
}

/* A pipe to which nothing writes is refused at once.  The alarm ends a program that opens it and
 * blocks. */
static void a_pipe_is_no_snapshot(void **state)
{
    (void)state;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    alarm(20);
    assert_null(oltr_load_file(path_of("pipe"), NULL, &error));
    alarm(0);
    expect_error(error.code, &error, OLTR_EIO, "no ordinary file");
    unlink(path_of("pipe"));
}

/* The link stays a link, and what it leads to is written, also through a second link and where
 * nothing is yet. */
static void links_are_followed(void **state)
{
    (void)state;
    struct stat status;
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = make(&subjects[0], NULL);
    assert_int_equal(mkdir(path_of("inner"), 0700), 0);
    assert_int_equal(symlink("inner/target", path_of("link")), 0);
    assert_int_equal(symlink(path_of("link"), path_of("second")), 0);
    for (int round = 0; round < 2; round++) {
        teach(p, 1, 3);
        if (oltr_save_file(p, path_of("second"), &error) != OLTR_OK)
            fail_msg("%s", error.msg);
        assert_int_equal(lstat(path_of("second"), &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        assert_int_equal(lstat(path_of("inner/target"), &status), 0);
        assert_true(S_ISREG(status.st_mode));
        oltr_policy *q = oltr_load_file(path_of("link"), NULL, &error);
        assert_non_null(q);
        assert_true(same_state(p, q));
        oltr_policy_free(q);
    }
    assert_int_equal(symlink("circle", path_of("circle")), 0);
    expect_error(oltr_save_file(p, path_of("circle"), &error), &error, OLTR_EIO, strerror(ELOOP));
    unlink(path_of("circle"));
    unlink(path_of("second"));
    unlink(path_of("link"));
    unlink(path_of("inner/target"));
    assert_int_equal(rmdir(path_of("inner")), 0);
    oltr_policy_free(p);
}

/* A file that only its owner may read is not opened to others by being replaced. */
static void a_private_file_stays_private(void **state)
{
    (void)state;
    struct stat status;
    oltr_policy *p = make(&subjects[0], NULL);
    mode_t before = umask(022);
    assert_int_equal(oltr_save_file(p, path_of("private"), NULL), OLTR_OK);
    assert_int_equal(stat(path_of("private"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    assert_int_equal(chmod(path_of("private"), 0600), 0);
    assert_int_equal(oltr_save_file(p, path_of("private"), NULL), OLTR_OK);
    assert_int_equal(stat(path_of("private"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    umask(before);
    unlink(path_of("private"));
    oltr_policy_free(p);
}

static void copies_of_nothing(void **state)
{
    (void)state;
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_policy_copy(NULL, NULL, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* it must be empty: no temporary file is left */
}

int main(void)
{
    static suite all;
    must(mkdtemp(folder) != NULL);
    list_subjects();
    for (size_t i = 0; i < n_subjects; i++) {
        const subject *s = &subjects[i];
        add_test(&all, "copies_go_on_to_the_same_bits", s->title, copies_go_on_to_the_same_bits, s);
        add_test(&all, "a_copy_has_the_same_snapshot", s->title, a_copy_has_the_same_snapshot, s);
        add_test(&all, "order_is_free_where_it_is_said", s->title, order_is_free_where_it_is_said,
                 s);
        add_test(&all, "derived_numbers_may_be_left_out", s->title, derived_numbers_may_be_left_out,
                 s);
        add_test(&all, "derived_numbers_are_not_believed", s->title,
                 derived_numbers_are_not_believed, s);
    }
    for (size_t i = 0; i < oltr_policy_count(); i++)
        add_test(&all, "a_file_gives_the_policy_back", subjects[i].title,
                 a_file_gives_the_policy_back, &subjects[i]);
    add_test(&all, "format_1", "still loads", format_1_still_loads_and_predicts_the_same, NULL);
    add_test(&all, "files", "errors", errors_of_files_have_the_reason, NULL);
    add_test(&all, "files", "a pipe", a_pipe_is_no_snapshot, NULL);
    add_test(&all, "files", "a long file", a_long_file_is_not_read, NULL);
    add_test(&all, "files", "links", links_are_followed, NULL);
    add_test(&all, "files", "private ones", a_private_file_stays_private, NULL);
    add_test(&all, "copies", "of nothing", copies_of_nothing, NULL);
    return cmocka_run_group_tests_name("copies", all.test, NULL, remove_folder);
}
