/* worlds.c - an experiment is a function of its description: every world and click model, through
 * the public simulator.
 *
 * The same bits come out for any number of threads, for a run that was stopped and resumed in
 * memory or from a file, and for a policy whoever else takes part.  Where the expected result has a
 * closed form, the simulator must meet it.  A file of partial results is believed only when it is
 * whole and belongs to this very experiment.  Seeds are fixed; each statistical bound is five
 * standard errors (false alarm < 6e-7).
 */
#define _POSIX_C_SOURCE 200809L
#include "lab/world/world.h"

#include "conform/format.h"
#include "conform/suite.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include <oltr/sim.h>

enum { ITEMS = 8, SLOTS = 3, MOST_POLICIES = 32, MOST_POINTS = 2, MARKS = 5 };
static const uint64_t marks[MARKS] = {1, 3, 10, 50, 120};
static const double attraction[ITEMS] = {0.1, 0.4, 0.05, 0.3, 0.25, 0.6, 0, 0.15};
static const double shape_a[ITEMS] = {1, 4, 1, 3, 2, 6, 0.5, 2},
                    shape_b[ITEMS] = {9, 6, 19, 7, 8, 4, 9.5, 8};

/* ---- settings in which every world is run */

typedef struct scene {
    const char *name;
    oltr_world world; /* without its click model */
    int tells;        /* whether policies get a prior from it */
} scene;

static const scene scenes[] = {
    {"beta", {.kind = "beta", .n_items = ITEMS}, 1},
    {"beta, few shapes shared",
     {.kind = "beta", .n_items = ITEMS, .a_max = 3, .instances_per_prior = 2},
     1},
    {"beta, given prior",
     {.kind = "beta", .n_items = ITEMS, .prior_a = shape_a, .prior_b = shape_b},
     1},
    {"beta, wrong prior",
     {.kind = "beta",
      .n_items = ITEMS,
      .prior_a = shape_a,
      .prior_b = shape_b,
      .misspecification = 2.5},
     1},
    {"fixed", {.kind = "fixed", .n_items = ITEMS, .attraction = attraction}, 0},
    {"fixed, given prior",
     {.kind = "fixed",
      .n_items = ITEMS,
      .attraction = attraction,
      .prior_a = shape_a,
      .prior_b = shape_b},
     1},
    {"fixed, impatient users",
     {.kind = "fixed", .n_items = ITEMS, .attraction = attraction, .examined_without_click = 2},
     0},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

/* One scene with one click model, and all policies on the stage. */
typedef struct stage {
    char name[80];
    oltr_contestant policy[MOST_POLICIES];
    char label[MOST_POLICIES][80];
    oltr_experiment point[MOST_POINTS];
} stage;

/* Each kind as it comes, and with all that it takes from a prior. */
static uint32_t cast(stage *s, const scene *from)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (info->contextual)
            continue; /* contextual_worlds.c has them */
        for (int told = 0; told <= (from->tells && info->uses_prior); told++) {
            oltr_settings *settings = &s->policy[n].settings;
            assert_int_equal(oltr_settings_init(settings, info->name, ITEMS, NULL), OLTR_OK);
            if (told)
                assert_int_equal(oltr_settings_set(settings, "prior", "full", NULL), OLTR_OK);
            snprintf(s->label[n], sizeof s->label[n], "%s%s", info->name, told ? " told" : "");
            s->policy[n].label = s->label[n];
            n++;
        }
    }
    return n;
}

static void set_stage(stage *s, const scene *from, const char *clicks)
{
    uint32_t n = cast(s, from);
    for (uint32_t i = 0; i < MOST_POINTS; i++) {
        s->point[i] = (oltr_experiment){.seed = 11 + i,
                                        .rounds = marks[MARKS - 1],
                                        .slots = SLOTS,
                                        .replications = 9 - 2 * i,
                                        .n_checkpoints = MARKS,
                                        .checkpoint = marks,
                                        .world = from->world,
                                        .n_policies = n,
                                        .policy = s->policy};
        s->point[i].world.clicks = clicks;
    }
    snprintf(s->name, sizeof s->name, "%s, %s clicks", from->name, clicks);
}

/* ---- running and comparing */

static oltr_results *new_results(const oltr_experiment *points, uint32_t n)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(points, n, &error);
    if (!r)
        fail_msg("%s", error.msg);
    return r;
}

static oltr_results *run(const oltr_experiment *points, uint32_t n, uint32_t threads)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = new_results(points, n);
    oltr_run_options options = {.threads = threads};
    if (oltr_run(points, n, &options, r, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return r;
}

static int same_double(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0;
}

static void assert_same_outcome(oltr_outcome x, oltr_outcome y)
{
    assert_true(same_double(x.regret, y.regret));
    assert_true(same_double(x.regret_se, y.regret_se));
    assert_true(same_double(x.reward, y.reward));
    assert_int_equal(x.replications, y.replications);
}

static void assert_same_results(const oltr_experiment *points, uint32_t n, const oltr_results *x,
                                const oltr_results *y)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < points[i].n_policies; j++)
            for (uint32_t m = 0; m < points[i].n_checkpoints; m++)
                assert_same_outcome(oltr_results_at(x, i, j, m), oltr_results_at(y, i, j, m));
}

/* ---- what holds on every stage */

static void any_number_of_threads(void **state)
{
    const stage *s = *state;
    oltr_results *one = run(s->point, MOST_POINTS, 1);
    static const uint32_t threads[] = {2, 7, 0};
    for (size_t i = 0; i < 3; i++) {
        oltr_results *many = run(s->point, MOST_POINTS, threads[i]);
        assert_same_results(s->point, MOST_POINTS, one, many);
        oltr_results_free(many);
    }
    oltr_results_free(one);
}

/* Regret grows, reward and regret share one optimum, and all replications are in. */
static void curves_are_curves(void **state)
{
    const stage *s = *state;
    oltr_results *r = run(s->point, MOST_POINTS, 1);
    for (uint32_t i = 0; i < MOST_POINTS; i++)
        for (uint32_t j = 0; j < s->point[i].n_policies; j++) {
            oltr_outcome before = {0};
            for (uint32_t m = 0; m < MARKS; m++) {
                oltr_outcome now = oltr_results_at(r, i, j, m), first = oltr_results_at(r, i, 0, m);
                assert_true(now.regret >= before.regret && now.reward >= before.reward &&
                            now.regret_se >= 0);
                assert_true(now.regret + now.reward <= (double)marks[m] * (1 + 1e-9));
                assert_true(fabs(now.regret + now.reward - first.regret - first.reward) <
                            1e-9 * (double)marks[m]);
                assert_int_equal(now.replications, s->point[i].replications);
                before = now;
            }
            assert_true(oltr_results_ns_per_round(r, i, j) > 0);
        }
    oltr_results_free(r);
}

/* A curve does not depend on who else runs, nor in which order. */
static void company_changes_nothing(void **state)
{
    const stage *s = *state;
    oltr_results *all = run(s->point, 1, 1);
    for (uint32_t j = 0; j < s->point[0].n_policies; j += 3) {
        oltr_experiment alone = s->point[0];
        oltr_contestant twins[2] = {s->policy[j], s->policy[j]};
        twins[0].label = "one";
        twins[1].label = "two";
        alone.n_policies = 2;
        alone.policy = twins;
        oltr_results *two = run(&alone, 1, 2);
        for (uint32_t m = 0; m < MARKS; m++) {
            assert_same_outcome(oltr_results_at(two, 0, 0, m),
                                oltr_results_at(two, 0, 1, m)); /* same list, same user */
            assert_same_outcome(oltr_results_at(two, 0, 0, m), oltr_results_at(all, 0, j, m));
        }
        oltr_results_free(two);
    }
    oltr_results_free(all);
}

/* More replications begin with the same ones: the first run is a part of the second. */
static void a_seed_is_a_seed(void **state)
{
    const stage *s = *state;
    oltr_experiment other = s->point[0];
    oltr_results *one = run(s->point, 1, 1), *again = run(s->point, 1, 1), *different;
    assert_same_results(s->point, 1, one, again);
    other.seed++;
    different = run(&other, 1, 1);
    int changed = 0;
    for (uint32_t j = 0; j < other.n_policies; j++)
        changed += !same_double(oltr_results_at(one, 0, j, MARKS - 1).reward,
                                oltr_results_at(different, 0, j, MARKS - 1).reward);
    assert_true(changed > 1);
    oltr_results_free(one);
    oltr_results_free(again);
    oltr_results_free(different);
}

/* ---- stopping and going on */

typedef struct watch {
    atomic_long until_stop; /* how often `stop` still says no; workers may ask at once */
    uint64_t done, total, calls;
    int orderly;
} watch;

static int stop_later(void *context)
{
    watch *w = context;
    return atomic_fetch_sub(&w->until_stop, 1) <= 0;
}

static void see_progress(void *context, const oltr_progress *p)
{
    watch *w = context;
    w->orderly &=
        p->done >= w->done && p->done <= p->total && p->results != NULL && p->seconds >= 0;
    w->done = p->done;
    w->total = p->total;
    w->calls++;
}

/* The stage with so many rounds that there is time to stop. */
static void lengthen(const stage *s, oltr_experiment points[MOST_POINTS])
{
    for (uint32_t i = 0; i < MOST_POINTS; i++) {
        points[i] = s->point[i];
        points[i].rounds = 1100;
        points[i].replications = 2 + i;
    }
}

/* Runs on until the end, stopped again and again; returns how often. */
static int run_in_pieces(const oltr_experiment *points, oltr_results *r, uint32_t threads,
                         long patience)
{
    oltr_error error = {OLTR_OK, ""};
    for (int pieces = 0; pieces < 1000; pieces++) {
        watch w = {.until_stop = patience * (1 + pieces / 4), .orderly = 1};
        oltr_run_options options = {threads, NULL, see_progress, 0, stop_later, &w};
        oltr_status status = oltr_run(points, MOST_POINTS, &options, r, &error);
        assert_true(w.orderly && w.calls > 0);
        if (status == OLTR_OK) {
            assert_int_equal(w.done, w.total);
            return pieces;
        }
        assert_int_equal(status, OLTR_EINTERRUPTED);
        assert_int_equal(error.code, OLTR_EINTERRUPTED);
    }
    fail_msg("the run never ends");
    return 0;
}

static void stopped_and_resumed(void **state)
{
    oltr_experiment points[MOST_POINTS];
    lengthen(*state, points);
    oltr_results *whole = run(points, MOST_POINTS, 1);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        oltr_results *pieces = new_results(points, MOST_POINTS);
        assert_true(run_in_pieces(points, pieces, threads, 40) > 1);
        assert_same_results(points, MOST_POINTS, whole, pieces);
        oltr_results_free(pieces);
    }
    oltr_results_free(whole);
}

/* Many short replications are a long run too: whoever asks for an end must get it. */
static void short_replications_can_be_stopped(void **state)
{
    const stage *s = *state;
    oltr_results *r = new_results(s->point, MOST_POINTS);
    watch w = {.until_stop = 0, .orderly = 1};
    oltr_run_options options = {.threads = 1, .stop = stop_later, .context = &w};
    assert_int_equal(oltr_run(s->point, MOST_POINTS, &options, r, NULL), OLTR_EINTERRUPTED);
    oltr_results_free(r);
}

static void temp_path(char path[64])
{
    snprintf(path, 64, "/tmp/oltr-worlds-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
}

/* Each piece in a "process" of its own: all that goes over is the file. */
static void resumed_from_a_file(void **state)
{
    oltr_experiment points[MOST_POINTS];
    char path[64];
    lengthen(*state, points);
    temp_path(path);
    oltr_results *whole = run(points, MOST_POINTS, 1), *piece = NULL;
    oltr_status status = OLTR_EINTERRUPTED;
    int pieces = 0;
    for (; status == OLTR_EINTERRUPTED && pieces < 200; pieces++) {
        watch w = {.until_stop = 50 + 20 * pieces, .orderly = 1};
        oltr_run_options options = {
            .threads = 2, .partial = path, .stop = stop_later, .context = &w};
        oltr_results_free(piece);
        piece = new_results(points, MOST_POINTS);
        if (pieces)
            assert_int_equal(oltr_results_load(piece, path, NULL), OLTR_OK);
        status = oltr_run(points, MOST_POINTS, &options, piece, NULL);
    }
    assert_int_equal(status, OLTR_OK);
    assert_true(pieces > 1);
    assert_same_results(points, MOST_POINTS, whole, piece);
    oltr_results_free(piece);
    oltr_results_free(whole);
    unlink(path);
}

static void saved_and_loaded(void **state)
{
    const stage *s = *state;
    char path[64];
    temp_path(path);
    oltr_results *whole = run(s->point, MOST_POINTS, 2), *copy = new_results(s->point, MOST_POINTS);
    assert_int_equal(oltr_results_save(whole, path, NULL), OLTR_OK);
    assert_int_equal(oltr_results_load(copy, path, NULL), OLTR_OK);
    assert_same_results(s->point, MOST_POINTS, whole, copy);
    oltr_run_options options = {.threads = 1};
    assert_int_equal(oltr_run(s->point, MOST_POINTS, &options, copy, NULL),
                     OLTR_OK); /* nothing is left to do */
    assert_same_results(s->point, MOST_POINTS, whole, copy);
    oltr_results_free(whole);
    oltr_results_free(copy);
    unlink(path);
}

/* ---- files of partial results */

static image read_file(const char *path)
{
    image m = {0, malloc(1 << 20)};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    m.size = fread(m.byte, 1, 1 << 20, file);
    fclose(file);
    return m;
}

static void write_file(const char *path, const unsigned char *byte, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(byte, 1, size, file), size);
    fclose(file);
}

static oltr_experiment small_experiment(const oltr_contestant *policy)
{
    return (oltr_experiment){
        .seed = 5,
        .rounds = 10,
        .slots = 2,
        .replications = 4,
        .n_checkpoints = 3,
        .checkpoint = marks,
        .world = {.kind = "fixed", .n_items = ITEMS, .clicks = "cascade", .attraction = attraction},
        .n_policies = 1,
        .policy = policy};
}

static oltr_contestant contestant(const char *kind, const char *label)
{
    oltr_contestant c = {.label = label};
    assert_int_equal(oltr_settings_init(&c.settings, kind, ITEMS, NULL), OLTR_OK);
    return c;
}

/* The file is refused, by that name, and `r` is what it was. */
static oltr_status load_refused(oltr_results *r, const oltr_experiment *e,
                                const oltr_results *before, const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_results_load(r, path, &error);
    assert_true(status != OLTR_OK && strlen(error.msg) > 10);
    assert_int_equal(status, error.code);
    assert_same_results(e, 1, r, before);
    return status;
}

static void damaged_files(void **state)
{
    (void)state;
    char path[64];
    oltr_contestant c = contestant("gts", "x");
    oltr_experiment e = small_experiment(&c);
    oltr_results *full = run(&e, 1, 1), *empty = new_results(&e, 1), *r = new_results(&e, 1);
    temp_path(path);
    assert_int_equal(oltr_results_save(full, path, NULL), OLTR_OK);
    image good = read_file(path);
    for (size_t size = 0; size < good.size; size++) {
        write_file(path, good.byte, size);
        oltr_status status = load_refused(r, &e, empty, path);
        assert_true(status == OLTR_ECHECKSUM || status == OLTR_ETRUNCATED ||
                    (size < 8 && status == OLTR_EMAGIC));
    }
    for (size_t bit = 0; bit < 8 * good.size; bit++) {
        good.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_file(path, good.byte, good.size);
        oltr_status status = load_refused(r, &e, empty, path);
        good.byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(bit / 8 < 8
                        ? status == OLTR_EMAGIC
                        : status == OLTR_ECHECKSUM || (bit / 8 < 12 && status == OLTR_EVERSION));
    }
    write_file(path, good.byte, good.size);
    assert_int_equal(oltr_results_load(r, path, NULL), OLTR_OK);
    assert_same_results(&e, 1, full, r);
    free(good.byte);
    oltr_results_free(full);
    oltr_results_free(empty);
    oltr_results_free(r);
    unlink(path);
}

static void newer_and_longer_files(void **state)
{
    (void)state;
    char path[64];
    oltr_contestant c = contestant("gts", "x");
    oltr_experiment e = small_experiment(&c);
    oltr_results *full = run(&e, 1, 1), *empty = new_results(&e, 1), *r = new_results(&e, 1);
    temp_path(path);
    assert_int_equal(oltr_results_save(full, path, NULL), OLTR_OK);
    image good = read_file(path);
    unsigned char *longer = calloc(good.size + 16, 1);
    memcpy(longer, good.byte, good.size);
    write_file(path, longer, good.size + 16);
    assert_true(load_refused(r, &e, empty, path) == OLTR_ECHECKSUM);
    set_little(good.byte + 8, 4, 77);
    set_little(good.byte + good.size - 8, 8, slow_crc64(good.byte, good.size - 8));
    write_file(path, good.byte, good.size);
    assert_true(load_refused(r, &e, empty, path) == OLTR_EVERSION);
    free(longer);
    free(good.byte);
    oltr_results_free(full);
    oltr_results_free(empty);
    oltr_results_free(r);
    unlink(path);
}

/* A whole file of an experiment that differs in one thing. */
static void refuse_foreign(const oltr_experiment *e, const oltr_experiment *foreign,
                           const char *what)
{
    char path[64];
    temp_path(path);
    oltr_results *theirs = run(foreign, 1, 1), *ours = new_results(e, 1),
                 *empty = new_results(e, 1);
    assert_int_equal(oltr_results_save(theirs, path, NULL), OLTR_OK);
    oltr_status status = load_refused(ours, e, empty, path);
    if (status != OLTR_EMISMATCH)
        fail_msg("%s: the file of another experiment is called %s", what, oltr_status_name(status));
    oltr_results_free(theirs);
    oltr_results_free(ours);
    oltr_results_free(empty);
    unlink(path);
}

static void foreign_files(void **state)
{
    (void)state;
    oltr_contestant c[2] = {contestant("gts", "x"), contestant("gts", "y")}, other;
    oltr_experiment e = small_experiment(c), f;
    static const double moved[ITEMS] = {0.1, 0.4, 0.05, 0.3, 0.25, 0.6, 0, 0.16};
#define DIFFERING(...)                                                                             \
    f = e, other = c[0], f.policy = &other, __VA_ARGS__, refuse_foreign(&e, &f, #__VA_ARGS__)
    DIFFERING(f.seed++);
    DIFFERING(f.rounds++);
    DIFFERING(f.slots++);
    DIFFERING(f.replications++);
    DIFFERING(f.replications--);
    DIFFERING(f.n_checkpoints--);
    DIFFERING(f.checkpoint = marks + 1, f.n_checkpoints--);
    DIFFERING(f.world.attraction = moved);
    DIFFERING(f.world.examined_without_click = 1);
    DIFFERING(f.world.prior_a = shape_a, f.world.prior_b = shape_b);
    DIFFERING(f.world.kind = "beta", f.world.attraction = NULL);
    DIFFERING(other.label = "z");
    DIFFERING(other.settings.value[param_index(other.settings.info, "sigma")] = 0.25);
    DIFFERING(other = contestant("ts-beta", "x"));
    DIFFERING(f.policy = c, f.n_policies = 2);
    oltr_experiment longer = e;
    longer.n_checkpoints = 2;
    refuse_foreign(&longer, &e, "more checkpoints in the file");
#undef DIFFERING
}

static void files_that_cannot_be(void **state)
{
    (void)state;
    char path[64];
    oltr_contestant c = contestant("gts", "x");
    oltr_experiment e = small_experiment(&c);
    oltr_results *r = new_results(&e, 1), *empty = new_results(&e, 1);
    oltr_error error = {OLTR_OK, ""};
    temp_path(path);
    assert_int_equal(load_refused(r, &e, empty, path), OLTR_EIO);
    assert_int_equal(oltr_results_save(r, "/nowhere/at/all", &error), OLTR_EIO);
    assert_non_null(strstr(error.msg, "/nowhere/at/all"));
    assert_int_equal(oltr_results_save(NULL, path, NULL), OLTR_EINVAL);
    assert_int_equal(oltr_results_save(r, NULL, NULL), OLTR_EINVAL);
    assert_int_equal(oltr_results_load(NULL, path, NULL), OLTR_EINVAL);
    assert_int_equal(oltr_results_load(r, NULL, NULL), OLTR_EINVAL);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(load_refused(r, &e, empty, path),
                     OLTR_EIO); /* a folder is not read as a file of any length */
    assert_int_equal(oltr_results_save(r, path, NULL), OLTR_EIO);
    rmdir(path);
    oltr_results_free(r);
    oltr_results_free(empty);
    oltr_results_free(NULL);
}

/* What is stopped and cannot be kept is not "kept". */
static void a_stopped_run_that_cannot_be_kept(void **state)
{
    (void)state;
    oltr_contestant c = contestant("gts", "x");
    oltr_experiment e = small_experiment(&c);
    e.rounds = 100000;
    oltr_results *r = new_results(&e, 1);
    watch w = {.until_stop = 0, .orderly = 1};
    oltr_run_options options = {
        .threads = 1, .partial = "/nowhere/at/all", .stop = stop_later, .context = &w};
    assert_int_equal(oltr_run(&e, 1, &options, r, NULL), OLTR_EIO);
    oltr_results_free(r);
}

/* Either name will do, as long as the run does not begin. */
static void refuse_run(const oltr_experiment *points, uint32_t n, oltr_results *r)
{
    oltr_run_options options = {.threads = 1};
    oltr_status status = oltr_run(points, n, &options, r, NULL);
    assert_true(status == OLTR_EMISMATCH || status == OLTR_EINVAL);
}

/* Results belong to the experiment they were made for. */
static void foreign_results(void **state)
{
    (void)state;
    oltr_contestant c[2] = {contestant("gts", "x"), contestant("random", "y")};
    oltr_experiment e = small_experiment(c), two = e, points[2];
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = new_results(&e, 1);
    two.n_policies = 2;
    points[0] = points[1] = e;
    refuse_run(points, 2, r);
    refuse_run(NULL, 1, r);
    refuse_run(&e, 1, NULL);
    refuse_run(&two, 1, r);
    two.rounds++;
    two.n_policies = 1;
    refuse_run(&two, 1, r);
    assert_int_equal(oltr_run(&e, 1, NULL, r, NULL), OLTR_OK);
    assert_null(oltr_results_new(NULL, 1, &error));
    assert_null(oltr_results_new(&e, 0, &error));
    oltr_results_free(r);
}

/* ---- closed forms */

/* The mean of prod (1 - nu) over all lists of k out of n items: an elementary symmetric polynomial
 * over a binomial. */
static double mean_no_click(const double *nu, uint32_t n, uint32_t k)
{
    double sum[ITEMS + 1] = {1}, lists = 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = k; j >= 1; j--)
            sum[j] += sum[j - 1] * (1 - nu[i]);
    for (uint32_t j = 0; j < k; j++)
        lists *= (double)(n - j) / (j + 1);
    return sum[k] / lists;
}

static double best_no_click(const double *nu, uint32_t n, uint32_t k)
{
    double product = 1, copy[ITEMS];
    memcpy(copy, nu, n * sizeof *nu);
    for (uint32_t slot = 0; slot < k; slot++) {
        uint32_t top = 0;
        for (uint32_t i = 1; i < n; i++)
            top = copy[i] > copy[top] ? i : top;
        product *= 1 - copy[top];
        copy[top] = -1;
    }
    return product;
}

static void random_lists_have_their_regret(void **state)
{
    (void)state;
    oltr_contestant c = contestant("random", "x");
    for (uint32_t k = 1; k <= ITEMS; k++) {
        oltr_experiment e = small_experiment(&c);
        e.slots = k;
        e.replications = 600;
        oltr_results *r = run(&e, 1, 1);
        double lost = mean_no_click(attraction, ITEMS, k) - best_no_click(attraction, ITEMS, k);
        for (uint32_t m = 0; m < 3; m++) {
            oltr_outcome o = oltr_results_at(r, 0, 0, m);
            assert_true(fabs(o.regret - lost * (double)marks[m]) <= 5 * o.regret_se + 1e-9);
            double earned = (1 - best_no_click(attraction, ITEMS, k)) * (double)marks[m] - o.regret;
            assert_true(fabs(o.reward - earned) < 1e-8);
        }
        oltr_results_free(r);
    }
}

/* The list of a fixed prior is the same in every round, and so is its reward. */
static void the_ensemble_earns_what_its_list_earns(void **state)
{
    (void)state;
    oltr_contestant c = contestant("ensemble", "x");
    oltr_experiment e = small_experiment(&c);
    assert_int_equal(oltr_settings_set(&c.settings, "prior", "full", NULL), OLTR_OK);
    e.world.prior_a =
        shape_a; /* the best by its mean are 5 (0.6) and 1 (0.4): 0.6 and 0.4 in truth */
    e.world.prior_b = shape_b;
    static const double wrong_a[ITEMS] = {9, 1, 8, 1, 1, 1, 1, 1},
                        wrong_b[ITEMS] = {1, 9, 2, 9, 9, 9, 9, 9};
    oltr_experiment misled = e;
    misled.world.prior_a = wrong_a; /* the best seem 0 and 2 */
    misled.world.prior_b = wrong_b;
    oltr_results *right = run(&e, 1, 1), *wrong = run(&misled, 1, 1);
    for (uint32_t m = 0; m < 3; m++) {
        oltr_outcome o = oltr_results_at(right, 0, 0, m), w = oltr_results_at(wrong, 0, 0, m);
        assert_true(fabs(o.reward - (1 - 0.4 * 0.6) * (double)marks[m]) < 1e-9 &&
                    fabs(o.regret) < 1e-9);
        assert_true(fabs(w.reward - (1 - 0.9 * 0.95) * (double)marks[m]) < 1e-9);
        assert_true(fabs(w.regret - (0.9 * 0.95 - 0.4 * 0.6) * (double)marks[m]) < 1e-9 &&
                    w.regret_se < 1e-9);
    }
    oltr_results_free(right);
    oltr_results_free(wrong);
}

/* Independent Beta items: the mean reward of a uniform list is that of the means.  One replication
 * a seed, so that the test has the spread. */
static void the_beta_world_has_its_means(void **state)
{
    (void)state;
    enum { SEEDS = 500 };
    double nu[ITEMS], sum = 0, squares = 0;
    oltr_contestant c = contestant("random", "x");
    for (uint32_t i = 0; i < ITEMS; i++)
        nu[i] = shape_a[i] / (shape_a[i] + shape_b[i]);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        oltr_experiment e = small_experiment(&c);
        e.seed = seed;
        e.replications = 1;
        e.world = (oltr_world){.kind = "beta",
                               .n_items = ITEMS,
                               .clicks = "cascade",
                               .prior_a = shape_a,
                               .prior_b = shape_b};
        e.world.misspecification = 0.25; /* what policies are told does not move the truth */
        oltr_results *r = run(&e, 1, 1);
        double reward = oltr_results_at(r, 0, 0, 2).reward / 10;
        assert_true(oltr_results_at(r, 0, 0, 2).regret_se <= 0);
        sum += reward;
        squares += reward * reward;
        oltr_results_free(r);
    }
    double mean = sum / SEEDS, se = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
    assert_true(fabs(mean - (1 - mean_no_click(nu, ITEMS, 2))) < 5 * se);
}

/* Told nothing: shapes are drawn from 1..10 with b = 10, so the mean attraction is the mean of
 * a/(a+10). */
static void the_beta_world_draws_its_shapes(void **state)
{
    (void)state;
    enum { SEEDS = 500 };
    for (uint32_t most = 0; most <= 3; most += 3) {
        double wanted = 0, sum = 0, squares = 0, n = most ? most : 10;
        oltr_contestant c = contestant("random", "x");
        for (int a = 1; a <= (int)n; a++)
            wanted += a / (a + 10.0) / n;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            oltr_experiment e = small_experiment(&c);
            e.seed = seed;
            e.slots = 1;
            e.replications = 1;
            e.world =
                (oltr_world){.kind = "beta", .n_items = ITEMS, .clicks = "cascade", .a_max = most};
            oltr_results *r = run(&e, 1, 1);
            double reward = oltr_results_at(r, 0, 0, 2).reward / 10;
            sum += reward;
            squares += reward * reward;
            oltr_results_free(r);
        }
        double mean = sum / SEEDS, se = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
        assert_true(fabs(mean - wanted) < 5 * se);
    }
}

/* Zeros of the world's description stand for its defaults. */
static void zeros_are_defaults(void **state)
{
    (void)state;
    oltr_contestant c[2] = {contestant("gts", "x"), contestant("ts-beta", "y")};
    oltr_experiment e = small_experiment(c), f;
    assert_int_equal(oltr_settings_set(&c[1].settings, "prior", "full", NULL), OLTR_OK);
    e.n_policies = 2;
    e.world = (oltr_world){.kind = "beta", .n_items = ITEMS, .clicks = "cascade"};
    oltr_results *plain = run(&e, 1, 1);
    f = e;
    f.world.a_max = 10;
    f.world.instances_per_prior = 1;
    f.world.examined_without_click = f.slots;
    oltr_results *spelt = run(&f, 1, 1);
    assert_same_results(&e, 1, plain, spelt);
    f.world.examined_without_click = 1000;
    oltr_results *beyond = run(&f, 1, 1);
    assert_same_results(&e, 1, plain, beyond);
    oltr_results_free(plain);
    oltr_results_free(spelt);
    oltr_results_free(beyond);
}

/* ---- the runner's twin */

/* What is true in one replication, and what policies are told of it. */
typedef struct truth {
    double nu[ITEMS], a[ITEMS], b[ITEMS];
} truth;

static truth draw_truth(const oltr_experiment *e, uint64_t replication)
{
    truth t = {{0}, {0}, {0}};
    instance drawn = {.n_items = ITEMS, .attraction = t.nu, .a = t.a, .b = t.b};
    world_ops_of(e->world.kind, NULL)->draw(&e->world, e->seed, replication, &drawn, NULL);
    for (uint32_t i = 0; e->world.prior_a && i < ITEMS; i++) {
        t.a[i] = e->world.prior_a[i] + e->world.misspecification;
        t.b[i] = e->world.prior_b[i] - e->world.misspecification;
    }
    return t;
}

/* Whether the user of round t likes the item: asked with nothing else on the list, so it cannot
 * depend on the list. */
static int pleases(const oltr_experiment *e, truth *t, oltr_rng user, uint32_t item)
{
    instance same = {.n_items = ITEMS, .attraction = t->nu, .a = t->a, .b = t->b};
    oltr_ranking alone = {1, &item, NULL};
    double reward = 0;
    click_ops_of(e->world.clicks, NULL)->scan(&e->world, &same, &user, &alone, &reward);
    return reward > 0;
}

/* The cascade, word for word: from the top to the first item that pleases; without one, as far as
 * users look. */
static void scan_list(const oltr_experiment *e, truth *t, oltr_rng user, event *out)
{
    uint32_t look = e->world.examined_without_click;
    out->n_examined = 0;
    while (out->n_examined < out->k) {
        uint32_t slot = out->n_examined++;
        out->reward[slot] = pleases(e, t, user, out->item[slot]);
        if (out->reward[slot] > 0)
            return;
    }
    out->n_examined = look && look < out->k ? look : out->k;
}

static double no_click(const truth *t, const event *e)
{
    double product = 1;
    for (uint32_t slot = 0; slot < e->k; slot++)
        product *= 1 - t->nu[e->item[slot]];
    return product;
}

/* One policy through one replication; returns its regret, and its reward in *reward. */
static double play_twin(const oltr_experiment *e, const oltr_settings *settings,
                        uint64_t replication, double *reward)
{
    truth t = draw_truth(e, replication);
    oltr_settings s = *settings;
    if (s.info->uses_prior && s.value[param_index(s.info, "prior")] > 0)
        s.prior = (oltr_prior){.a = t.a, .b = t.b};
    oltr_policy *p = oltr_policy_new(&s, NULL);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_rng rng = oltr_rng_make(e->seed, replication);
    double regret = 0, best = best_no_click(t.nu, ITEMS, e->slots);
    *reward = 0;
    for (uint64_t round = 1; round <= e->rounds; round++) {
        event shown = {.k = e->slots};
        oltr_ranking list = {e->slots, shown.item, NULL};
        assert_int_equal(oltr_rank(p, NULL, oltr_rng_at(rng, STREAM_POLICY, round), scratch, &list),
                         OLTR_OK);
        scan_list(e, &t, oltr_rng_at(rng, STREAM_USERS, round), &shown);
        assert_int_equal(learn_event(p, &shown), OLTR_OK);
        regret += no_click(&t, &shown) - best;
        *reward += 1 - no_click(&t, &shown);
    }
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
    return regret;
}

/* A run is its definition: what each policy loses against these users, in these worlds, replication
 * by replication. */
static void a_run_is_its_definition(void **state)
{
    const stage *s = *state;
    const oltr_experiment *e = &s->point[0];
    oltr_results *r = run(e, 1, 2);
    for (uint32_t j = 0; j < e->n_policies; j++) {
        double sum = 0, squares = 0, rewards = 0, n = e->replications;
        for (uint64_t replication = 0; replication < e->replications; replication++) {
            double reward, regret = play_twin(e, &e->policy[j].settings, replication, &reward);
            sum += regret;
            squares += regret * regret;
            rewards += reward;
        }
        oltr_outcome o = oltr_results_at(r, 0, j, MARKS - 1);
        double variance = fmax(0, (squares - sum * sum / n) / (n - 1));
        if (fabs(o.regret - sum / n) > 1e-9 || fabs(o.reward - rewards / n) > 1e-9 ||
            fabs(o.regret_se - sqrt(variance / n)) > 1e-6)
            fail_msg("%s: regret %.12g (se %.9g) instead of %.12g (%.9g)", e->policy[j].label,
                     o.regret, o.regret_se, sum / n, sqrt(variance / n));
    }
    oltr_results_free(r);
}

/* ---- users */

/* Four items, two slots; three never please, the last always does, and an unseen-first policy.  If
 * its first list has the last item, the second round goes to items still unseen and misses it; if
 * not, and users look at both slots, the second list is the two unseen, the last among them.  So
 * two rounds cost exactly 1.  If users look at one slot only, three are unseen after a list without
 * a click, and the last is left out with probability 1/3: two rounds cost 1 + 1/6 in the mean. */
static void impatient_users_see_less(void **state)
{
    (void)state;
    static const double last[4] = {0, 0, 0, 1};
    static const uint64_t two[2] = {1, 2};
    oltr_contestant c = {.label = "x"};
    assert_int_equal(oltr_settings_init(&c.settings, "cascade-ucb1", 4, NULL), OLTR_OK);
    oltr_experiment e = {.seed = 3,
                         .rounds = 2,
                         .slots = 2,
                         .replications = 2000,
                         .n_checkpoints = 2,
                         .checkpoint = two};
    e.world = (oltr_world){.kind = "fixed", .n_items = 4, .clicks = "cascade", .attraction = last};
    e.n_policies = 1;
    e.policy = &c;
    for (uint32_t look = 0; look <= 2; look++) {
        e.world.examined_without_click = look;
        oltr_results *r = run(&e, 1, 2);
        oltr_outcome first = oltr_results_at(r, 0, 0, 0), second = oltr_results_at(r, 0, 0, 1);
        assert_true(fabs(first.regret - 0.5) < 5 * 0.5 / sqrt(2000));
        assert_true(look == 1 ? fabs(second.regret - 7.0 / 6) < 5 * second.regret_se
                              : fabs(second.regret - 1) < 1e-12);
        oltr_results_free(r);
    }
}

/* Users leave at their first click, and what stands below it is not seen.  Three items, two slots;
 * the first pleases always, the others never; unseen first.  After the list (pleasing, other) two
 * are unseen and fill the second list, which costs 1.  After (other, pleasing) one is unseen, and
 * the second place is the pleasing one's: nothing is lost.  After (other, other) 1 is lost, and
 * then nothing.  Each has probability 1/3. */
static void users_leave_at_a_click(void **state)
{
    (void)state;
    static const double nu[3] = {1, 0, 0};
    static const uint64_t two[2] = {1, 2};
    oltr_contestant c = {.label = "x"};
    assert_int_equal(oltr_settings_init(&c.settings, "cascade-ucb1", 3, NULL), OLTR_OK);
    oltr_experiment e = {.seed = 4,
                         .rounds = 2,
                         .slots = 2,
                         .replications = 3000,
                         .n_checkpoints = 2,
                         .checkpoint = two};
    e.world = (oltr_world){.kind = "fixed", .n_items = 3, .clicks = "cascade", .attraction = nu};
    e.n_policies = 1;
    e.policy = &c;
    oltr_results *r = run(&e, 1, 1);
    oltr_outcome first = oltr_results_at(r, 0, 0, 0), second = oltr_results_at(r, 0, 0, 1);
    assert_true(fabs(first.regret - 1.0 / 3) < 5 * first.regret_se); /* the list of both others */
    assert_true(fabs(second.regret - 2.0 / 3) <
                5 * second.regret_se); /* and 1/3 for the pleasing one on top */
    oltr_results_free(r);
}

/* What policies are told moves only those who listen. */
static void a_wrong_prior_misleads_who_listens(void **state)
{
    (void)state;
    oltr_contestant c[3] = {contestant("gts", "deaf"), contestant("ts-beta", "told"),
                            contestant("cascade-klucb", "without")};
    oltr_experiment points[2] = {small_experiment(c), small_experiment(c)};
    assert_int_equal(oltr_settings_set(&c[1].settings, "prior", "full", NULL), OLTR_OK);
    for (int i = 0; i < 2; i++) {
        points[i].n_policies = 3;
        points[i].world = (oltr_world){.kind = "beta",
                                       .n_items = ITEMS,
                                       .clicks = "cascade",
                                       .prior_a = shape_a,
                                       .prior_b = shape_b};
        points[i].world.misspecification = 3.5 * i;
    }
    oltr_results *r = run(points, 2, 1);
    assert_same_outcome(oltr_results_at(r, 0, 0, 2), oltr_results_at(r, 1, 0, 2));
    assert_same_outcome(oltr_results_at(r, 0, 2, 2), oltr_results_at(r, 1, 2, 2));
    assert_false(
        same_double(oltr_results_at(r, 0, 1, 2).regret, oltr_results_at(r, 1, 1, 2).regret));
    oltr_results_free(r);
}

/* ---- checkpoints */

static int contains(const uint64_t *x, uint32_t n, uint64_t value)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i] == value)
            return 1;
    return 0;
}

static void checkpoints_are_as_described(void **state)
{
    static const uint64_t rounds[] = {1, 2, 9, 10, 11, 99, 1000, 12345, (uint64_t)1 << 40};
    static const uint32_t counts[] = {0, 1, 2, 7, 100, 1000};
    static uint64_t out[2000];
    (void)state;
    for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            uint32_t n = oltr_checkpoints(rounds[r], counts[c], out, 2000), few;
            assert_true(n >= 1 && n <= counts[c] + 14);
            assert_int_equal(oltr_checkpoints(rounds[r], counts[c], NULL, 0), n);
            for (uint32_t i = 0; i < n; i++)
                assert_true(out[i] >= 1 && out[i] <= rounds[r] && (i == 0 || out[i] > out[i - 1]));
            for (uint64_t power = 1; power <= rounds[r]; power *= 10)
                assert_true(contains(out, n, power));
            assert_true(out[n - 1] == rounds[r]);
            for (uint64_t i = 1; i <= counts[c];
                 i++) { /* evenly: one near each i/count of the way */
                uint64_t even = (uint64_t)((double)rounds[r] * (double)i / counts[c]);
                assert_true(even < 1 || contains(out, n, even) || contains(out, n, even + 1));
            }
            uint64_t part[3] = {0, 0, 777};
            few = oltr_checkpoints(rounds[r], counts[c], part, 2);
            assert_true(few == n && part[0] == out[0] && (n < 2 || part[1] == out[1]) &&
                        part[2] == 777);
        }
    assert_int_equal(oltr_checkpoints(0, 10, out, 2000), 0);
}

/* ---- what an experiment must be */

static void refuse(const oltr_experiment *e, oltr_status wanted, const char *what)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = oltr_experiment_check(e, &error);
    if (status != wanted || error.code != wanted || strlen(error.msg) < 10)
        fail_msg("%s: %s and '%s', wanted %s", what, oltr_status_name(status), error.msg,
                 oltr_status_name(wanted));
    if (oltr_experiment_check(e, NULL) != wanted)
        fail_msg("%s: %s without an error to fill in", what,
                 oltr_status_name(oltr_experiment_check(e, NULL)));
    oltr_results *r = oltr_results_new(e, 1, &error);
    if (r) { /* or the run itself says so */
        assert_int_equal(oltr_run(e, 1, &(oltr_run_options){.threads = 1}, r, NULL), wanted);
        oltr_results_free(r);
    }
}

#define REFUSED(wanted, change)                                                                    \
    e = good, c = fine, e.policy = &c, change, refuse(&e, wanted, #change)

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    static const uint64_t falling[3] = {5, 3, 10}, twice[3] = {3, 3, 10}, zero[3] = {0, 3, 10},
                          beyond[3] = {1, 3, 11};
    oltr_contestant fine = contestant("gts", "x"), c;
    oltr_experiment good = small_experiment(&fine), e;
    assert_int_equal(oltr_experiment_check(&good, NULL), OLTR_OK);
    assert_int_equal(oltr_experiment_check(NULL, NULL), OLTR_EINVAL);
    REFUSED(OLTR_ESLOTS, e.slots = ITEMS + 1);
    REFUSED(OLTR_ESLOTS, e.slots = 0);
    REFUSED(OLTR_EINVAL, e.rounds = 0);
    REFUSED(OLTR_EINVAL, e.rounds = UINT64_MAX);
    REFUSED(OLTR_EINVAL, e.replications = 0);
    REFUSED(OLTR_EINVAL, e.n_checkpoints = 0);
    REFUSED(OLTR_EINVAL, e.checkpoint = NULL);
    REFUSED(OLTR_EINVAL, e.checkpoint = falling);
    REFUSED(OLTR_EINVAL, e.checkpoint = twice);
    REFUSED(OLTR_EINVAL, e.checkpoint = zero);
    REFUSED(OLTR_EINVAL, e.checkpoint = beyond);
    REFUSED(OLTR_EINVAL, e.n_policies = 0);
    REFUSED(OLTR_EINVAL, e.policy = NULL);
    REFUSED(OLTR_EINVAL, c.label = NULL);
    REFUSED(OLTR_EINVAL, c.settings.info = NULL);
    REFUSED(OLTR_EINVAL, c.settings.n_items = ITEMS - 1);
    REFUSED(OLTR_EVALUE, c.settings.value[param_index(c.settings.info, "sigma")] = -1);
    REFUSED(OLTR_EVALUE, c.settings.value[param_index(c.settings.info, "sigma")] = (double)NAN);
}

static void bad_worlds_are_refused(void **state)
{
    (void)state;
    const double nan_[ITEMS] = {(double)NAN}, high[ITEMS] = {0, 1.01}, low[ITEMS] = {-0.01},
                 infinite[ITEMS] = {(double)INFINITY};
    oltr_contestant fine = contestant("gts", "x"), c;
    oltr_experiment good = small_experiment(&fine), e;
    REFUSED(OLTR_EINVAL, e.world.kind = "fixd");
    REFUSED(OLTR_EINVAL, e.world.kind = NULL);
    REFUSED(OLTR_EINVAL, e.world.clicks = "cascada");
    REFUSED(OLTR_EINVAL, e.world.clicks = NULL);
    REFUSED(OLTR_EITEM, e.world.n_items = 0);
    REFUSED(OLTR_EINVAL, e.world.attraction = NULL);
    REFUSED(OLTR_EINVAL, e.world.attraction = nan_);
    REFUSED(OLTR_EINVAL, e.world.attraction = high);
    REFUSED(OLTR_EINVAL, e.world.attraction = low);
    REFUSED(OLTR_EINVAL, e.world.attraction = infinite);
    REFUSED(OLTR_EINVAL, e.world.kind = "beta"); /* which draws its own */
    REFUSED(OLTR_EPRIOR, e.world.prior_a = shape_a);
    REFUSED(OLTR_EPRIOR, e.world.prior_b = shape_b);
    REFUSED(OLTR_EPRIOR, e.world.misspecification = 1);
    REFUSED(OLTR_EPRIOR, e.world.misspecification = (double)NAN);
}

static void bad_world_priors_are_refused(void **state)
{
    (void)state;
    const double none[ITEMS] = {1, 1, 1, 0, 1, 1, 1, 1},
                 nan_[ITEMS] = {1, 1, 1, 1, 1, 1, 1, (double)NAN};
    oltr_contestant fine = contestant("gts", "x"), c;
    oltr_experiment good = small_experiment(&fine), e;
    for (int kind = 0; kind < 2; kind++) {
        if (kind)
            good.world = (oltr_world){.kind = "beta", .n_items = ITEMS, .clicks = "cascade"};
        good.world.prior_a = shape_a;
        good.world.prior_b = shape_b;
        assert_int_equal(oltr_experiment_check(&good, NULL), OLTR_OK);
        REFUSED(OLTR_EPRIOR, e.world.prior_a = none);
        REFUSED(OLTR_EPRIOR, e.world.prior_b = none);
        REFUSED(OLTR_EPRIOR, e.world.prior_a = nan_);
        REFUSED(OLTR_EPRIOR, e.world.misspecification = 4);    /* the smallest b is 4 */
        REFUSED(OLTR_EPRIOR, e.world.misspecification = -0.5); /* the smallest a is 0.5 */
        REFUSED(OLTR_EPRIOR, e.world.misspecification = (double)INFINITY);
    }
}

static void untold_policies_are_refused(void **state)
{
    (void)state;
    oltr_contestant fine = contestant("gts", "x"), c;
    oltr_experiment good = small_experiment(&fine), e;
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (info->contextual)
            continue;
        fine = contestant(info->name, "x");
        assert_int_equal(oltr_experiment_check(&good, NULL), OLTR_OK);
        if (info->uses_prior) /* the fixed world tells nothing here */
            REFUSED(OLTR_EPRIOR, oltr_settings_set(&c.settings, "prior", "full", NULL));
    }
}

/* ---- the suite */

static void every_world_has_a_scene(void **state)
{
    (void)state;
    for (uint32_t w = 0; w < oltr_world_count(); w++) {
        const char *name = oltr_world_at(w)->name;
        int found = !strcmp(name, "linear") || !strcmp(name, "logistic") ||
                    !strcmp(name, "scalar") || /* contextual_worlds.c */
                    !strcmp(name, "dataset");  /* dataset_world.c */
        for (size_t i = 0; i < SCENES; i++)
            found |= strcmp(scenes[i].world.kind, oltr_world_at(w)->name) == 0;
        if (!found || !strlen(oltr_world_at(w)->summary))
            fail_msg("world %s has no scene in this test", oltr_world_at(w)->name);
    }
    assert_null(oltr_world_at(oltr_world_count()));
    assert_null(oltr_clicks_at(oltr_clicks_count()));
}

static void add_stages(suite *all, const stage *s)
{
    add_test(all, "any_number_of_threads", s->name, any_number_of_threads, s);
    add_test(all, "a_run_is_its_definition", s->name, a_run_is_its_definition, s);
    add_test(all, "curves_are_curves", s->name, curves_are_curves, s);
    add_test(all, "company_changes_nothing", s->name, company_changes_nothing, s);
    add_test(all, "a_seed_is_a_seed", s->name, a_seed_is_a_seed, s);
    add_test(all, "stopped_and_resumed", s->name, stopped_and_resumed, s);
    add_test(all, "short_replications_can_be_stopped", s->name, short_replications_can_be_stopped,
             s);
    add_test(all, "resumed_from_a_file", s->name, resumed_from_a_file, s);
    add_test(all, "saved_and_loaded", s->name, saved_and_loaded, s);
}

#define ONCE(f) add_test(all, #f, "sim.h", f, NULL)
static void add_singles(suite *all)
{
    ONCE(every_world_has_a_scene);
    ONCE(damaged_files);
    ONCE(newer_and_longer_files);
    ONCE(foreign_files);
    ONCE(files_that_cannot_be);
    ONCE(a_stopped_run_that_cannot_be_kept);
    ONCE(foreign_results);
    ONCE(random_lists_have_their_regret);
    ONCE(the_ensemble_earns_what_its_list_earns);
    ONCE(the_beta_world_has_its_means);
    ONCE(the_beta_world_draws_its_shapes);
    ONCE(zeros_are_defaults);
    ONCE(impatient_users_see_less);
    ONCE(users_leave_at_a_click);
    ONCE(a_wrong_prior_misleads_who_listens);
    ONCE(checkpoints_are_as_described);
    ONCE(bad_numbers_are_refused);
    ONCE(bad_worlds_are_refused);
    ONCE(bad_world_priors_are_refused);
    ONCE(untold_policies_are_refused);
}

int main(void)
{
    static suite all;
    static stage stages[SCENES * 8];
    uint32_t n = 0;
    for (uint32_t c = 0; c < oltr_clicks_count(); c++) /* real rewards are in contextual_worlds.c */
        for (size_t i = 0; i < SCENES && strcmp(oltr_clicks_at(c)->name, "abandon") != 0;
             i++, n++) {
            set_stage(&stages[n], &scenes[i], oltr_clicks_at(c)->name);
            add_stages(&all, &stages[n]);
        }
    add_singles(&all);
    return cmocka_run_group_tests_name("an experiment is a function of its description", all.test,
                                       NULL, NULL);
}
