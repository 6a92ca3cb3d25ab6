/* copies.c - what the catalogue says about copies and orders of lessons, tried on every kind;
 * snapshots of format 1; and snapshots in files.
 *
 * exact_copy: original and copies rank, learn, merge and forget side by side, and every score and
 * every snapshot agree to the bit.  order_free: the same lessons in another order leave the same
 * snapshot.  Where a flag is 0, the same trial must show a difference, or the flag should be 1.
 */
#define _DEFAULT_SOURCE 1
#include "conform/fixtures.h"
#include "support/files.h"

#include <errno.h>
#include <sys/stat.h>

enum { ROUNDS = 240, COPIES = 3 };

/* ---- each kind as it is, and in the settings that take another way through learning */

static variant_list variants;

static void add_special(const char *kind, const char *name, const char *value)
{
    variant v = variant_of(kind);
    oltr_settings s = settings_for(&v, ITEMS);
    expect(oltr_settings_set(&s, name, value, NULL), OLTR_OK);
    add_variant(&variants, with(v, name, s.value[param_index(v.info, name)]));
}

static void list_subjects(void)
{
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        add_variant(&variants, plain_variant(oltr_policy_info_at(i)));
    add_special("logts", "weights", "stale");
    add_special("logts", "weights", "none");
    add_special("logts", "rows", "8");
    add_special("logts", "drift", "0");
    add_special("logts", "link", "probit");
    add_special("logts", "link", "cloglog");
    add_special("logts-newton", "clip", "1");
    add_special("logts", "norm", "scale");
    add_special("cascade-woful", "variant", "released");
    add_special("lints", "radius", "released");
    add_special("gts", "sampler", "released");
    add_special("toprank", "rule", "released");
}

/* The whole list of a request with its scores, from a fixed generator. */
typedef struct list {
    uint32_t item[ITEMS];
    double score[ITEMS];
} list;

static list rank_all(const oltr_policy *p, const request *r, uint64_t round)
{
    list out;
    memset(&out, 0, sizeof out);
    expect(rank_with(p, r->asked, round, r->query.n_items, out.item, out.score), OLTR_OK);
    return out;
}

/* With default settings: another setting may have what its kind does not promise. */
static bool is_plain(const variant *v)
{
    return strcmp(v->name, v->info->name) == 0;
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
static void meet_others(oltr_policy **policy, const variant *v, uint32_t t)
{
    if (t == 200 && v->info->can_resize)
        expect(oltr_policy_resize(policy, ITEMS + 3, NULL, NULL), OLTR_OK);
    if (t == 130 && v->info->can_forget)
        expect(oltr_forget(*policy, 0.7), OLTR_OK);
    if (t == 170 && v->info->can_merge) {
        oltr_policy *other = new_policy(v);
        learn_many(other, 99, 30);
        expect(oltr_merge(*policy, other), OLTR_OK);
        oltr_policy_free(other);
    }
}

/* How many rounds showed a difference between an original and its copies: of scores, or of
 * snapshots. */
static uint32_t rounds_that_differ(const variant *v)
{
    oltr_policy *p = new_policy(v), *q = new_policy(v), *copy[COPIES] = {NULL};
    dice d = {17};
    uint32_t differ = 0;
    for (uint32_t t = 0; t < ROUNDS; t++) {
        request r;
        draw_request(&d, q, t % 3 ? FROM_POOL : NEVER_AGAIN, &r); /* q is not resized */
        if (!r.asked)
            r.asked = &r.query;
        if (t % 60 == 50 && t / 60 < COPIES) /* of the original, of that copy, and so on */
            copy[t / 60] = copied(t < 60 ? p : copy[t / 60 - 1], t / 60);
        list wanted = rank_all(p, &r, t);
        expect(learn_request(p, &r), OLTR_OK);
        meet_others(&p, v, t);
        for (uint32_t c = 0; c < COPIES && copy[c]; c++) {
            list got = rank_all(copy[c], &r, t);
            expect(learn_request(copy[c], &r), OLTR_OK);
            meet_others(&copy[c], v, t);
            differ += memcmp(&got, &wanted, sizeof got) != 0 || !same_state(p, copy[c]);
        }
    }
    for (uint32_t c = 0; c < COPIES; c++)
        oltr_policy_free(copy[c]);
    oltr_policy_free(p);
    oltr_policy_free(q);
    return differ;
}

static void copies_go_on_to_the_same_bits(void **state)
{
    const variant *v = *state;
    uint32_t differ = rounds_that_differ(v);
    if (v->info->exact_copy && differ)
        fail_msg("%s: %u rounds of copies differ from the original", v->name, differ);
    if (!v->info->exact_copy && is_plain(v) && !differ)
        fail_msg("%s: its copies are exact, but the catalogue does not say so", v->name);
}

/* A snapshot of what was loaded is the same snapshot, derived numbers included. */
static void a_copy_has_the_same_snapshot(void **state)
{
    oltr_policy *p = new_policy(*state);
    for (uint64_t seed = 0; seed < 5; seed++) {
        oltr_policy *copy = copied(p, (uint32_t)seed);
        assert_true(same_state(p, copy));
        oltr_policy_free(copy);
        learn_many(p, seed, 13);
    }
    oltr_policy_free(p);
}

/* ---- order */

/* Lists of K clicks: no sum of them is rounded. */
static bool order_matters(const variant *v)
{
    enum { LESSONS = 1200, K = 3 };
    static struct {
        uint32_t item[K], n_examined;
        double reward[K];
    } lesson[LESSONS];
    uint32_t order[LESSONS];
    oltr_policy *policy[2] = {new_policy(v), new_policy(v)};
    dice d = {23};
    request r;
    whole_request(policy[0], &r);
    for (uint32_t t = 0; t < LESSONS; t++) {
        order[t] = t;
        draw_items(&d, ITEMS, K, lesson[t].item);
        lesson[t].n_examined = below(&d, K + 1);
        for (uint32_t slot = 0; slot < K; slot++)
            lesson[t].reward[slot] = unit(&d) < 0.05 + 0.7 * (lesson[t].item[slot] < 4);
    }
    for (int side = 0; side < 2; side++) {
        for (uint32_t t = 0; t < LESSONS; t++) {
            uint32_t *item = lesson[order[t]].item;
            oltr_feedback seen = {lesson[order[t]].n_examined, lesson[order[t]].reward};
            expect(oltr_learn(policy[side], r.asked, &(oltr_ranking){K, item, NULL}, &seen),
                   OLTR_OK);
        }
        shuffle(&d, order, LESSONS);
    }
    bool differ = !same_state(policy[0], policy[1]);
    oltr_policy_free(policy[0]);
    oltr_policy_free(policy[1]);
    return differ;
}

static void order_is_free_where_it_is_said(void **state)
{
    const variant *v = *state;
    bool differ = order_matters(v);
    if (v->info->order_free && differ)
        fail_msg("%s: another order of lessons leaves another snapshot", v->name);
    if (!v->info->order_free && is_plain(v) && !differ)
        fail_msg("%s: the order does not matter, but the catalogue does not say so", v->name);
}

/* ---- format 1 */

static void assert_predicts(const oltr_policy *p, const char *name, FILE *expected)
{
    static const float x[] = {0.5f, 0.1f, -0.3f, 0.6f, 0.2f, -0.4f};
    /* logts derives its estimate anew, to 1e-8, and its factor within `drift`; the linear kinds
     * factor the sums anew */
    bool logistic = strncmp(name, "logts", 5) == 0;
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
    oltr_policy *p = new_policy(*state);
    learn_many(p, 3, 40);
    image m = image_of(p);
    anatomy a = dissect_image(&m);
    set_little(m.byte + a.n_derived, 4, 0);
    m.size = a.n_derived + 4 + 8;
    seal(m.byte, m.size);
    oltr_policy *q = load_image(&m);
    assert_sound(q);
    oltr_policy_free(q);
    oltr_policy_free(p);
    free(m.byte);
}

/* Every derived number in turn is no number; and every array a little longer or shorter than it can
 * be. */
static void derived_numbers_are_not_believed(void **state)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    oltr_policy *p = new_policy(*state);
    learn_many(p, 3, 40);
    image m = image_of(p);
    anatomy a = dissect_image(&m);
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

static void a_file_gives_the_policy_back(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = new_policy(*state);
    learn_many(p, 1, 20);
    for (int again = 0; again < 2; again++) { /* a file that is there is replaced */
        if (oltr_save_file(p, path_of("policy"), &error) != OLTR_OK)
            fail_msg("%s", error.msg);
        oltr_policy *q = oltr_load_file(path_of("policy"), NULL, &error);
        if (!q)
            fail_msg("%s", error.msg);
        assert_true(same_state(p, q));
        oltr_policy_free(q);
        learn_many(p, 2, 5);
    }
    unlink(path_of("policy"));
    oltr_policy_free(p);
}

static void errors_of_files_have_the_reason(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = new_policy(&variants.at[0]);
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

/* A file that is far longer than what may be taken is not read, and the message says what to do. */
static void a_long_file_is_not_read(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_load_options options = {.size = sizeof options, .most_bytes = 1000};
    write_text("long", "");
    assert_int_equal(truncate(path_of("long"), (off_t)1 << 30), 0);
    assert_null(oltr_load_file(path_of("long"), &options, &error));
    expect_error(error.code, &error, OLTR_ENOMEM, "raise most_bytes");
    unlink(path_of("long"));
}

/* A pipe to which nothing writes is refused at once.  The alarm ends a program that opens it and
 * blocks. */
static void a_pipe_is_no_snapshot(void **state)
{
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
    struct stat status;
    oltr_error error = {OLTR_OK, ""};
    oltr_policy *p = new_policy(&variants.at[0]);
    assert_int_equal(mkdir(path_of("inner"), 0700), 0);
    assert_int_equal(symlink("inner/target", path_of("link")), 0);
    assert_int_equal(symlink(path_of("link"), path_of("second")), 0);
    for (int round = 0; round < 2; round++) {
        learn_many(p, 1, 3);
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
    struct stat status;
    oltr_policy *p = new_policy(&variants.at[0]);
    mode_t before = umask(022);
    expect(oltr_save_file(p, path_of("private"), NULL), OLTR_OK);
    assert_int_equal(stat(path_of("private"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    assert_int_equal(chmod(path_of("private"), 0600), 0);
    expect(oltr_save_file(p, path_of("private"), NULL), OLTR_OK);
    assert_int_equal(stat(path_of("private"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    umask(before);
    unlink(path_of("private"));
    oltr_policy_free(p);
}

static void copies_of_nothing(void **state)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_policy_copy(NULL, NULL, &error));
    expect(error.code, OLTR_EINVAL);
}

/* No temporary file is left. */
static int remove_empty_folder(void **state)
{
    return rmdir(folder);
}

int main(void)
{
    static suite all;
    list_subjects();
    ON_VARIANTS(&all, &variants, copies_go_on_to_the_same_bits);
    ON_VARIANTS(&all, &variants, a_copy_has_the_same_snapshot);
    ON_VARIANTS(&all, &variants, order_is_free_where_it_is_said);
    ON_VARIANTS(&all, &variants, derived_numbers_may_be_left_out);
    ON_VARIANTS(&all, &variants, derived_numbers_are_not_believed);
    ON_VARIANTS(&all, &variants, a_file_gives_the_policy_back);
    ONCE(&all, format_1_still_loads_and_predicts_the_same);
    ONCE(&all, errors_of_files_have_the_reason);
    ONCE(&all, a_pipe_is_no_snapshot);
    ONCE(&all, a_long_file_is_not_read);
    ONCE(&all, links_are_followed);
    ONCE(&all, a_private_file_stays_private);
    ONCE(&all, copies_of_nothing);
    return cmocka_run_group_tests_name("copies", all.test, make_folder, remove_empty_folder);
}
