/* own_worlds.c - worlds and click models from outside: what they may change between rounds, how
 * they fail, how they are stopped. */
#define _DEFAULT_SOURCE 1
#include "support/files.h"

#include <stdatomic.h>
#include <time.h>

#include "lab/world/world.h"

enum { ITEMS = 6, DIM = 6, SLOTS = 2, ROUNDS = 200, REPLICATIONS = 4 };

static const uint64_t end[] = {ROUNDS};

/* ---- a world with all that can change */

/* What it does; oltr_world.custom. */
typedef struct plan {
    bool repoint;             /* features: other rows in place of other content */
    bool shrink;              /* n_items changes */
    bool grows, bends;        /* n_items beyond what was drawn; dim */
    bool builds;              /* attraction depends on the round before */
    uint64_t fails_at;        /* round in which advance() fails; 0: never */
    int draw_fails;           /* replication whose draw() fails, from 1; 0: none */
    bool draws_long;          /* draw() goes on until it is stopped */
    bool has_no_water;        /* check() fails */
    double odd;               /* an attraction, where not 0 */
    atomic_int begun, ended;  /* threads */
    bool begins_never;        /* thread_begin() fails */
    atomic_int shown_outside; /* items that were not there */
} plan;

/* Row i of turn t: the unit vector i + t, which decides how attractive the item is. */
static const float *rows_of(uint64_t turn)
{
    static float rows[DIM][ITEMS * DIM];
    for (uint32_t i = 0; i < ITEMS; i++)
        for (uint32_t j = 0; j < DIM; j++)
            rows[turn % DIM][i * DIM + j] = (i + turn) % DIM == j ? 1.0F : 0.0F;
    return rows[turn % DIM];
}

static const float *all_rows[DIM];

static void set_turn(const plan *p, uint64_t turn, oltr_instance *out)
{
    memcpy(out->drawn, all_rows[turn % DIM], sizeof(float) * ITEMS * DIM);
    out->x = p->repoint ? all_rows[turn % DIM] : out->drawn;
    for (uint32_t i = 0; i < out->n_items; i++)
        out->attraction[i] = 0.9 * (double)((i + turn) % DIM) / DIM;
}

static oltr_status fail_with(oltr_error *error, oltr_status code, const char *words)
{
    *error = (oltr_error){.code = code};
    strcpy(error->msg, words);
    return code;
}

static oltr_status check(const oltr_world *world, oltr_error *error)
{
    const plan *p = world->custom;
    if (p && p->has_no_water)
        return fail_with(error, OLTR_EDATA, "there is no water");
    return p ? OLTR_OK : OLTR_EINVAL;
}

static oltr_status draw(const oltr_world *world, uint64_t seed, uint64_t replication,
                        oltr_instance *out, oltr_error *error)
{
    const plan *p = world->custom;
    if (p->draw_fails && replication + 1 == (uint64_t)p->draw_fails)
        return fail_with(error, OLTR_EDATA, "the well is dry");
    while (p->draws_long && out->stop) /* stop is NULL in the check before a run */
        if (out->stop(out->stop_context))
            return OLTR_EINTERRUPTED;
    set_turn(p, replication, out);
    if (p->odd < 0 || p->odd > 0 || isnan(p->odd))
        out->attraction[2] = p->odd;
    return OLTR_OK;
}

static int moving(const oltr_world *world)
{
    return 1;
}

static oltr_status advance(const oltr_world *world, uint64_t seed, uint64_t replication,
                           uint64_t round, oltr_instance *truth, oltr_error *error)
{
    const plan *p = world->custom;
    if (p->fails_at == round)
        return fail_with(error, OLTR_EIO, "the round was lost");
    if (p->shrink)
        truth->n_items = round % 3 == 0 ? SLOTS : ITEMS - (uint32_t)(round % 2);
    if (p->builds) {
        double first = truth->attraction[0];
        memmove(truth->attraction, truth->attraction + 1, sizeof(double) * (ITEMS - 1));
        truth->attraction[ITEMS - 1] = first;
    } else {
        set_turn(p, replication + round, truth);
    }
    truth->n_items = p->grows ? ITEMS + 1 : truth->n_items;
    truth->dim = p->bends ? DIM - 1 : truth->dim;
    return OLTR_OK;
}

static oltr_status begin(const oltr_world *world)
{
    plan *p = (plan *)(uintptr_t)world->custom;
    if (p->begins_never)
        return OLTR_ENOMEM;
    atomic_fetch_add(&p->begun, 1);
    return OLTR_OK;
}

static void finish(const oltr_world *world)
{
    atomic_fetch_add(&((plan *)(uintptr_t)world->custom)->ended, 1);
}

static const oltr_world_ops own_world = {
    .info = {"own", "a world of this test"},
    .check = check,
    .draw = draw,
    .moves = moving,
    .advance = advance,
    .thread_begin = begin,
    .thread_end = finish,
    .size = sizeof(oltr_world_ops),
};

/* Cascade users who notice items that are not there. */
static uint32_t scan(const oltr_world *world, const oltr_instance *truth, const oltr_rng *round,
                     const oltr_ranking *shown, double *reward)
{
    plan *p = (plan *)(uintptr_t)world->custom;
    for (uint32_t i = 0; i < shown->k; i++)
        if (shown->item[i] >= truth->n_items)
            atomic_fetch_add(&p->shown_outside, 1);
    return click_ops_of("cascade", NULL)->scan(world, truth, round, shown, reward);
}

/* ---- experiments in it */

typedef struct stage {
    plan plan;
    oltr_click_ops clicks;
    oltr_contestant policy[2];
    oltr_experiment e;
} stage;

static void set_stage(stage *s, const char *kind)
{
    *s = (stage){.clicks = *click_ops_of("cascade", NULL)};
    s->clicks.info.name = "own users";
    s->clicks.scan = scan;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(oltr_settings_init(&s->policy[i].settings, kind, ITEMS, NULL), OLTR_OK);
        s->policy[i].settings.dim = DIM;
        s->policy[i].label = i ? "second" : "first";
    }
    s->e = (oltr_experiment){.seed = 3,
                             .rounds = ROUNDS,
                             .slots = SLOTS,
                             .replications = REPLICATIONS,
                             .n_checkpoints = 1,
                             .checkpoint = end,
                             .world = {.n_items = ITEMS,
                                       .dim = DIM,
                                       .custom_kind = &own_world,
                                       .custom_clicks = &s->clicks,
                                       .custom = &s->plan},
                             .n_policies = 2,
                             .policy = s->policy};
}

static oltr_results *play(const stage *s)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_results *r = oltr_results_new(&s->e, 1, &error);
    if (!r || oltr_run(&s->e, 1, NULL, r, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    return r;
}

static double regret_of(const oltr_results *r, uint32_t policy)
{
    return oltr_results_at(r, 0, policy, 0).regret;
}

/* ---- what may change */

static void rows_that_are_pointed_at_are_those_that_are_ranked(void **state)
{
    stage copied, pointed;
    set_stage(&copied, "lints");
    set_stage(&pointed, "lints");
    pointed.plan.repoint = 1;
    oltr_results *a = play(&copied), *b = play(&pointed);
    assert_true(regret_of(a, 0) > 0);
    assert_true(regret_of(a, 0) == regret_of(b, 0));
    assert_true(regret_of(a, 0) <
                0.2 * ROUNDS); /* it learns, which it cannot by rows of another round */
    oltr_results_free(a);
    oltr_results_free(b);
}

static void items_may_come_and_go(void **state)
{
    static const char *const kinds[] = {"gts", "lints"};
    for (size_t i = 0; i < 2; i++) {
        stage s;
        set_stage(&s, kinds[i]);
        s.plan.shrink = 1;
        oltr_results *r = play(&s);
        assert_int_equal(s.plan.shown_outside, 0);
        assert_true(regret_of(r, 0) > 0);
        assert_true(regret_of(r, 0) ==
                    regret_of(r, 1)); /* the second of two twins meets the same */
        oltr_results_free(r);
    }
}

/* An advance() that turns the attractions of the round before: all policies begin at the same
 * ones. */
static void every_policy_begins_with_the_drawn_instance(void **state)
{
    stage s;
    set_stage(&s, "gts");
    s.plan.builds = 1;
    s.e.rounds = 100;
    s.e.checkpoint = (const uint64_t[]){100};
    oltr_results *r = play(&s);
    assert_true(regret_of(r, 0) == regret_of(r, 1));
    oltr_results_free(r);
}

static void threads_are_begun_and_ended(void **state)
{
    stage s;
    set_stage(&s, "gts");
    oltr_results *r = play(&s);
    assert_true(s.plan.begun > 1);
    assert_int_equal(s.plan.begun, s.plan.ended);
    s.plan.begins_never = 1;
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_ENOMEM);
    assert_non_null(strstr(error.msg, "thread_begin failed"));
    assert_int_equal(s.plan.begun, s.plan.ended);
    oltr_results_free(r);
}

/* ---- how they fail */

/* The run ends with this status and these words, and keeps no half of a replication. */
static void run_fails(const stage *s, oltr_status status, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_run_options options = {.threads = 2};
    oltr_results *r = oltr_results_new(&s->e, 1, &error);
    if (!r)
        fail_msg("%s", error.msg);
    assert_int_equal(oltr_run(&s->e, 1, &options, r, &error), status);
    if (!strstr(error.msg, words))
        fail_msg("'%s' does not say '%s'", error.msg, words);
    oltr_results_free(r);
}

static void failures_come_out(void **state)
{
    stage s;
    set_stage(&s, "gts");
    s.plan.fails_at = 7;
    run_fails(&s, OLTR_EIO, "round 7: the round was lost");
    set_stage(&s, "gts");
    s.plan.draw_fails = 3;
    run_fails(&s, OLTR_EDATA, "world own failed in replication 2: the well is dry");
    s.plan.draw_fails = 1; /* met by the check before the run */
    assert_int_equal(oltr_experiment_check(&s.e, NULL), OLTR_EDATA);
}

/* Of check, too, whose words may not be wanted, or missing. */
static void failed_checks_come_out(void **state)
{
    stage s;
    oltr_error error = {OLTR_OK, ""};
    set_stage(&s, "gts");
    s.plan.has_no_water = 1;
    assert_int_equal(oltr_experiment_check(&s.e, NULL), OLTR_EDATA);
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_EDATA);
    assert_non_null(strstr(error.msg, "there is no water"));
    s.e.world.custom = NULL;
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, oltr_strerror(OLTR_EINVAL)));
}

static void changes_that_are_not_allowed(void **state)
{
    stage s;
    set_stage(&s, "gts");
    s.plan.grows = 1;
    run_fails(&s, OLTR_EITEM,
              "advance() left 7 items with 6 features, where there must be 2 to 6 with 6");
    set_stage(&s, "gts");
    s.plan.bends = 1;
    run_fails(&s, OLTR_EITEM, "advance() left 6 items with 5 features");
}

static double no_number(const oltr_world *world, const oltr_instance *truth, uint32_t k)
{
    return NAN;
}

static uint32_t too_many(const oltr_world *world, const oltr_instance *truth, const oltr_rng *round,
                         const oltr_ranking *shown, double *reward)
{
    return shown->k + 1;
}

static void users_that_fail(void **state)
{
    stage s;
    set_stage(&s, "gts");
    s.clicks.best = no_number;
    run_fails(&s, OLTR_EVALUE, "click model own users gave");
    set_stage(&s, "gts");
    s.clicks.scan = too_many;
    run_fails(&s, OLTR_EEXAMINED, "policy first cannot play on");
}

/* The best list of attractions that are no numbers was looked for without end. */
static void an_attraction_that_is_no_number(void **state)
{
    oltr_world_ops still = own_world;
    stage s;
    still.moves = NULL;
    still.advance = NULL;
    set_stage(&s, "random");
    s.e.world.custom_kind = &still;
    s.plan.odd = NAN;
    run_fails(&s, OLTR_EVALUE, "both must be finite");
}

static void operations_of_another_size(void **state)
{
    oltr_world_ops newer = own_world;
    oltr_error error = {OLTR_OK, ""};
    stage s;
    set_stage(&s, "gts");
    s.e.world.custom_kind = &newer;
    newer.size = 0; /* the first layout */
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_OK);
    newer.size = sizeof newer + 8;
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "of a newer oltr"));
    newer.size = sizeof newer;
    s.clicks.size = sizeof s.clicks + 8;
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "click model are of a newer oltr"));
}

static void incomplete_worlds_are_refused(void **state)
{
    oltr_world_ops own = own_world;
    oltr_error error = {OLTR_OK, ""};
    stage s;
    set_stage(&s, "gts");
    s.e.world.custom_kind = &own;
    own.n_params = 1;
    own.params = NULL;
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "table of its n_params parameters"));
    own = own_world;
    own.traits |= OLTR_WORLD_DATASET;
    s.e.world.dataset = &(oltr_dataset){.n_queries = 1};
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "all of its arrays"));
    s.e.world.dataset = NULL;
    s.clicks.n_params = 1;
    s.clicks.params = NULL;
    assert_int_equal(oltr_experiment_check(&s.e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "table of its n_params parameters"));
}

static void options_refused(const stage *s, oltr_results *r, const oltr_run_options *options,
                            const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_run(&s->e, 1, options, r, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, words));
}

static void reading_refused(const oltr_read_options *options, const char *words)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_dataset_read("/dev/null", options, NULL, &error));
    assert_int_equal(error.code, OLTR_EINVAL);
    assert_non_null(strstr(error.msg, words));
}

static void options_of_another_size(void **state)
{
    size_t size = sizeof(oltr_run_options);
    stage s;
    set_stage(&s, "gts");
    oltr_results *r = oltr_results_new(&s.e, 1, NULL);
    options_refused(&s, r, &(oltr_run_options){.size = size + 1}, "of a newer oltr");
    options_refused(&s, r, &(oltr_run_options){.size = size - 1}, "no oltr has");
    options_refused(&s, r, &(oltr_run_options){.reserved[5] = r}, "reserved");
    options_refused(&s, r, &(oltr_run_options){.shard.reserved[1] = 1}, "reserved");
    size = sizeof(oltr_read_options);
    reading_refused(&(oltr_read_options){.size = size + 1}, "of a newer oltr");
    reading_refused(&(oltr_read_options){.size = 8}, "no oltr has");
    reading_refused(&(oltr_read_options){.reserved[0] = r}, "reserved");
    oltr_results_free(r);
}

static void experiment_refused(const oltr_experiment *e)
{
    oltr_error error = {OLTR_OK, ""};
    assert_int_equal(oltr_experiment_check(e, &error), OLTR_EINVAL);
    assert_non_null(strstr(error.msg, "reserved"));
}

static void reserved_members_are_refused(void **state)
{
    stage s;
    set_stage(&s, "gts");
    oltr_experiment e = s.e;
    oltr_contestant c = *e.policy;
    oltr_learning learning = {.reserved[1] = &s};
    assert_int_equal(oltr_experiment_check(&e, NULL), OLTR_OK);
    e.reserved[3] = &s;
    experiment_refused(&e);
    e = s.e;
    e.world.reserved[0] = &s;
    experiment_refused(&e);
    e = s.e;
    e.policy = &c;
    e.n_policies = 1;
    c.learning = &learning;
    experiment_refused(&e);
    learning = (oltr_learning){.reserved32 = 1};
    experiment_refused(&e);
    c.learning = NULL;
    c.reserved[2] = &s;
    experiment_refused(&e);
}

/* ---- stopping and progress */

typedef struct looker {
    atomic_int asked, stop_after; /* how often; 0: never stops */
    atomic_int half_way; /* reports of a run that has begun and not finished any replication */
    double share;
    int orderly;
} looker;

static int ask(void *context)
{
    looker *l = context;
    int asked = atomic_fetch_add(&l->asked, 1) + 1;
    return l->stop_after > 0 && asked >= l->stop_after;
}

static void see(void *context, const oltr_progress *p)
{
    looker *l = context;
    l->orderly &= p->share >= l->share && p->share <= 1 && p->rounds <= p->rounds_total &&
                  p->rounds_done <= p->rounds &&
                  p->rounds_total == (uint64_t)ROUNDS * 2 * p->total &&
                  (p->share < 1) == (p->rounds < p->rounds_total);
    l->share = p->share;
    atomic_fetch_add(&l->half_way,
                     p->done == 0 && p->rounds > 0 && p->share > 0 && p->seconds_left >= 0);
}

static looker
    *watching; /* the one of the run that is on; users of slow_scan() wait for its reports */

static void pause_ms(long ms)
{
    struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

/* Rounds of at least 5 ms; before the last of them somebody must have heard of the first. */
static uint32_t slow_scan(const oltr_world *world, const oltr_instance *truth,
                          const oltr_rng *round, const oltr_ranking *shown, double *reward)
{
    pause_ms(5);
    if (round->counter[1] == ROUNDS - 1) /* the round, low word */
        for (int i = 0; i < 2000 && watching && !watching->half_way; i++)
            pause_ms(5);
    return scan(world, truth, round, shown, reward);
}

/* 200 rounds of 5 ms and more: asked after each handful of them, where it was once in 512. */
static void long_rounds_are_asked_about_and_told_of(void **state)
{
    stage s;
    looker l = {.orderly = 1};
    set_stage(&s, "gts");
    s.clicks.scan = slow_scan;
    s.e.replications = 1;
    watching = &l;
    oltr_run_options options = {
        .threads = 1, .progress = see, .every = 0.02, .stop = ask, .context = &l};
    oltr_results *r = oltr_results_new(&s.e, 1, NULL);
    assert_int_equal(oltr_run(&s.e, 1, &options, r, NULL), OLTR_OK);
    watching = NULL;
    assert_true(
        l.asked >=
        2 * ROUNDS /
            8); /* rounds of 5 ms: at most four between two looks, when the clock is right */
    assert_true(l.half_way > 0);
    assert_true(l.orderly);
    assert_true(l.share >= 1);
    oltr_results_free(r);
}

/* Stopped in the first replication: nothing is finished, and the rounds that were played are
 * counted. */
static void a_long_replication_can_be_stopped(void **state)
{
    stage s;
    looker l = {.stop_after = 20, .orderly = 1};
    set_stage(&s, "gts");
    s.clicks.scan = slow_scan;
    s.e.replications = 1;
    oltr_run_options options = {
        .threads = 1, .progress = see, .every = 0.02, .stop = ask, .context = &l};
    oltr_results *r = oltr_results_new(&s.e, 1, NULL);
    assert_int_equal(oltr_run(&s.e, 1, &options, r, NULL), OLTR_EINTERRUPTED);
    assert_int_equal(l.asked, 20);
    assert_true(l.orderly && l.share > 0 && l.share < 1);
    assert_int_equal(oltr_results_at(r, 0, 0, 0).replications, 0);
    oltr_results_free(r);
}

static void a_long_drawing_can_be_stopped(void **state)
{
    stage s;
    looker l = {.stop_after = 1000, .orderly = 1};
    set_stage(&s, "gts");
    oltr_results *r = oltr_results_new(&s.e, 1, NULL);
    s.plan.draws_long = 1;
    oltr_run_options options = {.threads = 3, .stop = ask, .context = &l};
    assert_int_equal(oltr_run(&s.e, 1, &options, r, NULL), OLTR_EINTERRUPTED);
    oltr_results_free(r);
}

static void reading_a_text_can_be_stopped(void **state)
{
    looker l = {.stop_after = 1};
    oltr_read_options options = {.threads = 2, .stop = ask, .context = &l, .size = sizeof options};
    oltr_error error = {OLTR_OK, ""};
    const char *path = path_of("text");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d qid:%d 1:0.5 2:%d\n", i % 5, i / 10, i);
    assert_int_equal(fclose(file), 0);
    assert_null(oltr_dataset_read(path, &options, NULL, &error));
    assert_int_equal(error.code, OLTR_EINTERRUPTED);
    l.stop_after = 0;
    oltr_dataset *data = oltr_dataset_read(path, &options, NULL, &error);
    assert_non_null(data);
    assert_int_equal(data->n_queries, 100);
    oltr_dataset_free(data);
}

/* The worlds of the catalogue that draw item by item ask while they do so. */
static int always(void *context)
{
    ++*(int *)context;
    return 1;
}

static void drawing_many_items_asks(void **state)
{
    enum { MANY = 10000 };
    static const char *const kinds[] = {"beta", "linear", "logistic", "scalar"};
    for (size_t k = 0; k < 4; k++) {
        double *room = calloc(3 * MANY, sizeof *room), theta = 0;
        float *drawn = calloc(MANY, sizeof *drawn);
        int asked = 0;
        oltr_world world = {.kind = kinds[k],
                            .n_items = MANY,
                            .clicks = k == 3 ? "abandon" : "cascade",
                            .dim = k > 0};
        oltr_instance out = {.n_items = MANY,
                             .attraction = room,
                             .a = room + MANY,
                             .b = room + 2 * MANY,
                             .dim = k > 0,
                             .drawn = drawn,
                             .theta = &theta,
                             .stop = always,
                             .stop_context = &asked};
        assert_true(room && drawn);
        assert_int_equal(world_ops_of(kinds[k], NULL)->draw(&world, 1, 1, &out, NULL),
                         OLTR_EINTERRUPTED);
        assert_int_equal(asked, 1);
        assert_true(k > 0 ? drawn[0] > 0 && drawn[MANY - 1] == 0
                          : room[0] > 0 && room[MANY - 1] == 0);
        free(room);
        free(drawn);
    }
}

/* ---- the best and the worst list */

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void extremes_are_those_of_a_sort(void **state)
{
    enum { MOST = 200 };
    double nu[MOST], sorted[MOST], room[MOST];
    oltr_rng rng = oltr_rng_make(5, 5);
    for (uint32_t n = 1; n <= MOST; n += 1 + n / 7) {
        for (uint32_t i = 0; i < n; i++) /* many ties, and either sign */
            sorted[i] = nu[i] = (double)oltr_rng_below(&rng, 1 + n / 3) / 7 - 2;
        qsort(sorted, n, sizeof *sorted, falling);
        oltr_instance truth = {.n_items = n, .attraction = nu, .room = room};
        for (uint32_t k = 1; k <= n; k += 1 + k / 3) {
            const double *best = largest_attractions(&truth, k);
            assert_memory_equal(best, sorted, k * sizeof *sorted);
            const double *worst = smallest_attractions(&truth, k);
            for (uint32_t i = 0; i < k; i++)
                assert_true(worst[i] == sorted[n - 1 - i]);
        }
    }
}

/* ---- saturated worlds */

static uint32_t saturated(double other, const char *clicks, uint32_t *replications)
{
    double attraction[ITEMS] = {0.4, 0.4, 0.4, 0.4, 0.4, other};
    static const uint64_t last[] = {50};
    oltr_contestant c = {.label = "x"};
    assert_int_equal(oltr_settings_init(&c.settings, "gts", ITEMS, NULL), OLTR_OK);
    oltr_experiment e = {
        .seed = 1,
        .rounds = 50,
        .slots = SLOTS,
        .replications = 3,
        .n_checkpoints = 1,
        .checkpoint = last,
        .world = {.kind = "fixed", .n_items = ITEMS, .clicks = clicks, .attraction = attraction},
        .n_policies = 1,
        .policy = &c};
    oltr_results *r = oltr_results_new(&e, 1, NULL);
    assert_int_equal(oltr_run(&e, 1, NULL, r, NULL), OLTR_OK);
    uint32_t count = oltr_results_saturated(r, 0);
    *replications = oltr_results_at(r, 0, 0, 0).replications;
    oltr_results_free(r);
    return count;
}

static void lists_that_are_all_alike_are_counted(void **state)
{
    static const char *const clicks[] = {"cascade", "abandon"};
    uint32_t replications = 0;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(saturated(0.4, clicks[i], &replications), 3);
        assert_int_equal(replications, 3);
        assert_int_equal(saturated(0.4 + 1e-7, clicks[i], &replications), 3);
        assert_int_equal(saturated(0.5, clicks[i], &replications), 0);
        assert_int_equal(saturated(0.3, clicks[i], &replications), 0);
    }
}

static int set_up(void **state)
{
    for (uint64_t t = 0; t < DIM; t++)
        all_rows[t] = rows_of(t);
    return make_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_pointed_at_are_those_that_are_ranked),
        cmocka_unit_test(items_may_come_and_go),
        cmocka_unit_test(every_policy_begins_with_the_drawn_instance),
        cmocka_unit_test(threads_are_begun_and_ended),
        cmocka_unit_test(failures_come_out),
        cmocka_unit_test(failed_checks_come_out),
        cmocka_unit_test(changes_that_are_not_allowed),
        cmocka_unit_test(users_that_fail),
        cmocka_unit_test(an_attraction_that_is_no_number),
        cmocka_unit_test(operations_of_another_size),
        cmocka_unit_test(incomplete_worlds_are_refused),
        cmocka_unit_test(options_of_another_size),
        cmocka_unit_test(reserved_members_are_refused),
        cmocka_unit_test(long_rounds_are_asked_about_and_told_of),
        cmocka_unit_test(a_long_replication_can_be_stopped),
        cmocka_unit_test(a_long_drawing_can_be_stopped),
        cmocka_unit_test(reading_a_text_can_be_stopped),
        cmocka_unit_test(drawing_many_items_asks),
        cmocka_unit_test(extremes_are_those_of_a_sort),
        cmocka_unit_test(lists_that_are_all_alike_are_counted),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
