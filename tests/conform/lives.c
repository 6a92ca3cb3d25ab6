/* lives.c - a saved policy always loads: random lives of every kind of the catalogue, with
 * settings, features and rewards that test the arithmetic.
 *
 * A life has random settings (every choice, numbers over the whole range of their bounds); rows
 * that mix sizes of 1e-30 and 1e6, repeat, and are multiples, sums or near copies of others; real
 * rewards that are huge, tiny and cancel; clicks that follow a model, a hyperplane, or are all the
 * same; lists of any length, masks and weights, forgetting, merging and resizing.  At random
 * moments
 *   - oltr_check() finds nothing,
 *   - a snapshot loads, and saved again gives the same bytes,
 *   - the copy predicts what the original predicts; where the catalogue says exact_copy, both go
 *     on side by side and stay the same to the bit,
 *   - no prediction and no score is NaN or infinite.
 * Forged snapshots, one or two numbers changed and sealed again, are refused or become policies of
 * which the same holds.  The lives are the same in every run.  OLTR_LIVES is their number for each
 * kind (default 60, three times that for logts, whose arithmetic has most cases), OLTR_LIVES_FROM
 * the first, OLTR_LIVES_KIND one kind alone.
 */
#include "conform/suite.h"
#include "support/kinds.h"
#include "support/snapshot.h"

enum { MOST_ITEMS = 12, MOST_DIM = 36, POOL = 16, LIVES = 60 };
enum { MOST_BYTES = 8 << 20 }; /* of a policy: larger ones cost time and test nothing else */

/* 10 to a power from low to high. */
static double magnitude(dice *d, double low, double high)
{
    return pow(10, low + (high - low) * unit(d));
}

/* ---- a life */

typedef struct life {
    const oltr_policy_info *info;
    uint64_t number;
    uint32_t round;
    dice d;
    oltr_settings settings;
    double prior[2][MOST_ITEMS];
    bool may_be_wrong;          /* a forgery that oltr_check() finds and loading does not */
    oltr_policy *policy, *twin; /* twin: a loaded copy that learns the same, or NULL */
    oltr_scratch *scratch;
    double reward; /* size of real rewards */
    enum { BY_MODEL, SEPARABLE, ALL, NONE, AT_RANDOM } clicking;
    double truth[MOST_DIM]; /* of the model */
    float *pool;            /* (POOL, dim) rows that come again */
    uint32_t in_pool;
    float x[MOST_ITEMS * MOST_DIM]; /* of the request */
    uint32_t item[MOST_ITEMS], shown[MOST_ITEMS];
    double seen[MOST_ITEMS], weight[MOST_ITEMS], score[2][MOST_ITEMS];
    uint8_t mask[MOST_ITEMS];
    oltr_query query;
    oltr_ranking list;
    oltr_feedback feedback;
} life;

static void describe(const life *l, char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size,
        "OLTR_LIVES_KIND=%s OLTR_LIVES_FROM=%llu OLTR_LIVES=1, round %u, items %u, dim %u",
        l->info->name, (unsigned long long)l->number, l->round, l->settings.n_items,
        l->settings.dim);
    for (uint32_t i = 0; i < l->info->n_params && used < size; i++) {
        char value[64] = "?";
        oltr_settings_get(&l->settings, i, value, sizeof value);
        used +=
            (size_t)snprintf(text + used, size - used, ", %s %s", l->info->params[i].name, value);
    }
}

static void fault(const life *l, const char *what, const char *detail)
{
    char text[1024];
    describe(l, text, sizeof text);
    fail_msg("%s: %s (%s)", what, detail, text);
}

static void expect_ok(const life *l, const char *what, oltr_status status)
{
    if (status != OLTR_OK)
        fault(l, what, oltr_status_name(status));
}

/* A row longer than the settings allow is refused, and that is all that may be. */
static bool went_well(const life *l, const char *what, oltr_status status)
{
    if (status != OLTR_EFEATURE || !l->info->contextual)
        expect_ok(l, what, status);
    return status == OLTR_OK;
}

/* ---- settings */

static double draw_value(dice *d, const oltr_param *p)
{
    if (p->type == OLTR_CHOICE)
        return below(d, (uint32_t)p->max + 1);
    if (one_in(d, 2))
        return p->initial;
    if (one_in(d, 8))
        return one_in(d, 2) ? p->min : p->max;
    double low = p->min > 1e-8 ? p->min : 1e-8;
    double value = magnitude(d, log10(low), log10(p->max));
    if (p->type == OLTR_INTEGER) /* mostly small: rows of logts, slots */
        value = floor(one_in(d, 3) ? value : p->min + below(d, 40));
    return fmin(fmax(value, p->min), p->max);
}

static void draw_prior(life *l)
{
    uint32_t form = below(&l->d, 3);
    for (uint32_t i = 0; i < l->settings.n_items; i++) {
        l->prior[0][i] = form == 1 ? magnitude(&l->d, -3, 4) : unit(&l->d);
        l->prior[1][i] = form == 1 ? magnitude(&l->d, -3, 4)
                                   : magnitude(&l->d, -3, -0.5) * sqrt(unit(&l->d) / 4);
    }
    l->settings.prior = (oltr_prior){NULL, NULL, NULL, NULL};
    if (form == 1)
        l->settings.prior = (oltr_prior){.a = l->prior[0], .b = l->prior[1]};
    if (form == 2)
        l->settings.prior = (oltr_prior){.mean = l->prior[0], .sd = l->prior[1]};
}

static void draw_settings(life *l)
{
    uint32_t n_items = 1 + below(&l->d, one_in(&l->d, 4) ? MOST_ITEMS : 6);
    expect_ok(l, "settings", oltr_settings_init(&l->settings, l->info->name, n_items, NULL));
    l->settings.dim = l->info->contextual ? 1 + below(&l->d, one_in(&l->d, 8) ? MOST_DIM : 6) : 0;
    for (uint32_t i = 0; i < l->info->n_params; i++)
        l->settings.value[i] = draw_value(&l->d, &l->info->params[i]);
    if (l->info->uses_prior)
        draw_prior(l);
}

/* Draws until settings and prior go together. */
static void be_born(life *l)
{
    for (int attempt = 0; attempt < 200 && !l->policy; attempt++) {
        draw_settings(l);
        size_t bytes = oltr_policy_bytes(&l->settings, NULL);
        if (bytes > 0 && bytes <= MOST_BYTES)
            l->policy = oltr_policy_new(&l->settings, NULL);
    }
    if (!l->policy)
        fault(l, "birth", "no settings out of 200 make a policy");
    l->scratch = oltr_scratch_new(l->policy);
    l->pool = calloc((size_t)POOL * (l->settings.dim + 1), sizeof *l->pool);
    l->reward = one_in(&l->d, 2) ? magnitude(&l->d, -30, 30) : 1;
    l->clicking = below(&l->d, 5);
    double scale = magnitude(&l->d, -6, 1);
    for (uint32_t j = 0; j < l->settings.dim; j++)
        l->truth[j] = scale * normal(&l->d);
    assert_true(l->scratch && l->pool);
}

/* ---- requests */

/* A new row: of ordinary size, of sizes from 1e-30 to 1e6, or one that depends on earlier ones. */
static void draw_row(life *l, float *x)
{
    const double factors[] = {magnitude(&l->d, -3, 0), -1, 2, 1 + 1e-7, normal(&l->d)};
    uint32_t how = below(&l->d, 8), dim = l->settings.dim;
    const float *a = l->pool + below(&l->d, POOL) * dim, *b = l->pool + below(&l->d, POOL) * dim;
    double factor = factors[below(&l->d, COUNT(factors))];
    for (uint32_t i = 0; i < dim; i++) {
        double value = (2 * unit(&l->d) - 1) / sqrt(dim);
        if (how == 0)
            value *= magnitude(&l->d, -30, 6);
        if (how == 1)
            value = one_in(&l->d, 2) ? 0 : one_in(&l->d, 2) ? 1e6 * value : 1e-30 * value;
        if (how == 2 && l->in_pool == POOL)
            value = factor * (double)a[i];
        if (how == 3 && l->in_pool == POOL)
            value = 0.5 * ((double)a[i] - (double)b[i]);
        if (how == 4 && l->in_pool == POOL)
            value = factor * (double)a[i] + (double)b[i];
        x[i] = (float)fmax(-1e6, fmin(1e6, value));
    }
}

static void draw_rows(life *l, uint32_t n)
{
    size_t dim = l->settings.dim;
    if (l->in_pool < POOL || one_in(&l->d, 10))
        draw_row(l, l->pool + (l->in_pool < POOL ? l->in_pool++ : below(&l->d, POOL)) * dim);
    for (uint32_t j = 0; j < n; j++)
        if (one_in(&l->d, 5))
            draw_row(l, l->x + j * dim);
        else
            memcpy(l->x + j * dim, l->pool + below(&l->d, l->in_pool) * dim, dim * sizeof(float));
}

/* 0..n-1 in random order. */
static void draw_order(dice *d, uint32_t n, uint32_t *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = i;
    shuffle(d, out, n);
}

static double draw_click(life *l, const float *x)
{
    double z = 0;
    for (uint32_t j = 0; j < l->settings.dim; j++)
        z += (double)x[j] * l->truth[j];
    switch (l->clicking) {
    case BY_MODEL:
        return unit(&l->d) < 1 / (1 + exp(-z));
    case SEPARABLE:
        return z > 0;
    case ALL:
    case NONE:
        return l->clicking == ALL;
    default:
        return unit(&l->d) < 0.3;
    }
}

static double draw_reward(life *l, uint32_t slot, const float *x)
{
    if (l->info->rewards == OLTR_CLICKS)
        return draw_click(l, x);
    if (one_in(&l->d, 4))
        return 2 * unit(&l->d) - 1;
    return (l->round + slot) % 2 ? -l->reward : l->reward; /* most of them cancel */
}

/* Some candidates with their rows, and a list of some of them with what was seen. */
static void draw_request(life *l)
{
    uint32_t n_items = l->settings.n_items, n = 1 + below(&l->d, n_items), place[MOST_ITEMS];
    bool named = one_in(&l->d, 2);
    draw_order(&l->d, n_items, l->item);
    draw_rows(l, n);
    l->query = (oltr_query){.n_items = n, .item = named ? l->item : NULL};
    if (l->settings.dim) {
        l->query.dim = l->settings.dim;
        l->query.x = l->x;
    }
    draw_order(&l->d, n, place);
    l->list = (oltr_ranking){.k = 1 + below(&l->d, n), .item = l->shown};
    for (uint32_t slot = 0; slot < l->list.k; slot++) {
        l->shown[slot] = named ? l->item[place[slot]] : place[slot];
        l->seen[slot] = draw_reward(l, slot, l->x + (size_t)place[slot] * l->settings.dim);
        l->mask[slot] = (uint8_t)below(&l->d, 2);
        l->weight[slot] = magnitude(&l->d, -12, 6);
    }
    l->feedback = (oltr_feedback){.n_examined = below(&l->d, l->list.k + 1), .reward = l->seen};
    if (one_in(&l->d, 4))
        l->feedback.examined = l->mask;
    if (l->info->takes_weights && one_in(&l->d, 4))
        l->feedback.weight = l->weight;
}

/* ---- what is asked of it */

static bool rank_with(life *l, const oltr_policy *policy, uint32_t *item, double *score)
{
    oltr_ranking out = {.k = l->list.k, .item = item, .score = score};
    oltr_rng rng = oltr_rng_at(oltr_rng_make(l->number, 1), 0, l->round + 1);
    if (!went_well(l, "rank", oltr_rank(policy, &l->query, rng, l->scratch, &out)))
        return false;
    for (uint32_t slot = 0; slot < out.k; slot++)
        if (isnan(score[slot]))
            fault(l, "rank", "a score is NaN");
    return true;
}

/* The original's list becomes the one that is learned from, half of the time. */
static void rank_both(life *l)
{
    uint32_t item[2][MOST_ITEMS];
    bool ranked = rank_with(l, l->policy, item[0], l->score[0]);
    if (l->twin && rank_with(l, l->twin, item[1], l->score[1]) && ranked &&
        (memcmp(item[0], item[1], l->list.k * sizeof item[0][0]) != 0 ||
         memcmp(l->score[0], l->score[1], l->list.k * sizeof l->score[0][0]) != 0))
        fault(l, "twins", "the copy ranks otherwise");
    if (ranked && one_in(&l->d, 2))
        memcpy(l->shown, item[0], l->list.k * sizeof item[0][0]);
}

/* mean and sd of every candidate of the request; false where there are none. */
static bool predict(life *l, const oltr_policy *policy, double out[2 * MOST_ITEMS])
{
    uint32_t n = l->query.n_items;
    memset(out, 0, 2 * MOST_ITEMS * sizeof *out);
    if (!l->info->can_predict ||
        !went_well(l, "predict", oltr_predict(policy, &l->query, out, out + n)))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(out[i]) || !isfinite(out[n + i]) || out[n + i] < 0)
            fault(l, "predict", "a mean or a deviation that cannot be");
    return true;
}

static unsigned char *save(life *l, const oltr_policy *policy, size_t *size)
{
    size_t room = oltr_save_bound(policy);
    unsigned char *bytes = malloc(room);
    assert_non_null(bytes);
    expect_ok(l, "save", oltr_save(policy, bytes, room, size));
    return bytes;
}

static void expect_same_snapshot(life *l, const oltr_policy *a, const oltr_policy *b,
                                 const char *what)
{
    size_t size[2];
    unsigned char *bytes[2] = {save(l, a, &size[0]), save(l, b, &size[1])};
    bool same = size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
    free(bytes[0]);
    free(bytes[1]);
    if (!same)
        fault(l, what, "another snapshot");
}

static oltr_policy *load_copy(life *l)
{
    size_t size;
    oltr_error error = {OLTR_OK, ""};
    unsigned char *bytes = save(l, l->policy, &size);
    oltr_policy *copy = oltr_load(bytes, size, &error);
    free(bytes);
    if (!copy)
        fault(l, "load", error.msg);
    return copy;
}

static void expect_sound(life *l, const oltr_policy *policy, const char *what)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_check(policy, &error) != OLTR_OK && !l->may_be_wrong)
        fault(l, what, error.msg);
}

/* Everything that must hold of a policy at any moment. */
static void examine(life *l)
{
    double own[2 * MOST_ITEMS], other[2 * MOST_ITEMS];
    oltr_policy *copy = load_copy(l);
    expect_sound(l, l->policy, "check");
    if (!l->may_be_wrong)
        expect_same_snapshot(l, l->policy, copy, "save, load, save");
    expect_sound(l, copy, "check of the copy");
    bool exact = l->info->exact_copy && !l->may_be_wrong;
    if (predict(l, l->policy, own) && predict(l, copy, other) && exact &&
        memcmp(own, other, sizeof own) != 0)
        fault(l, "predict", "the copy predicts otherwise");
    if (!l->twin && exact && one_in(&l->d, 2))
        l->twin = copy;
    else
        oltr_policy_free(copy);
}

static void part(life *l)
{
    if (!l->twin)
        return;
    expect_same_snapshot(l, l->policy, l->twin, "twins");
    oltr_policy_free(l->twin);
    l->twin = NULL;
}

/* ---- what happens to it */

/* The learned state is the same whatever the status, in original and twin. */
static void learn_both(life *l)
{
    oltr_status status = oltr_learn(l->policy, &l->query, &l->list, &l->feedback);
    went_well(l, "learn", status);
    if (l->twin && oltr_learn(l->twin, &l->query, &l->list, &l->feedback) != status)
        fault(l, "twins", "the copy learns otherwise");
}

static void forget_both(life *l)
{
    static const double keeps[] = {0, 1e-300, 1e-150, 1e-8, 0.5, 0.999, 1};
    double keep = one_in(&l->d, 3) ? unit(&l->d) : keeps[below(&l->d, COUNT(keeps))];
    expect_ok(l, "forget", oltr_forget(l->policy, keep));
    if (l->twin)
        expect_ok(l, "forget", oltr_forget(l->twin, keep));
}

static void merge_both(life *l)
{
    oltr_policy *other = oltr_policy_new(&l->settings, NULL);
    assert_non_null(other);
    for (uint32_t rounds = below(&l->d, 20); rounds > 0; rounds--) {
        draw_request(l);
        went_well(l, "learn", oltr_learn(other, &l->query, &l->list, &l->feedback));
    }
    oltr_status status = oltr_merge(l->policy, other);
    if (!(l->may_be_wrong && status == OLTR_ESTATE)) /* forged sums may be at the bounds already */
        expect_ok(l, "merge", status);
    if (l->twin)
        assert_int_equal(oltr_merge(l->twin, other), status);
    oltr_policy_free(other);
}

static bool has_prior(const life *l)
{
    const oltr_prior *prior = &l->settings.prior;
    return prior->a || prior->mean;
}

/* Fewer items, or more where no prior is needed for the new ones. */
static void resize_both(life *l)
{
    uint32_t n = 1 + below(&l->d, has_prior(l) ? l->settings.n_items : MOST_ITEMS);
    oltr_status status = oltr_policy_resize(&l->policy, n, NULL, NULL);
    if (l->twin && oltr_policy_resize(&l->twin, n, NULL, NULL) != status)
        fault(l, "twins", "the copy is resized otherwise");
    if (status == OLTR_EFULL)
        return;
    expect_ok(l, "resize", status);
    l->settings = *oltr_policy_settings(l->policy);
    oltr_scratch_free(l->scratch);
    l->scratch = oltr_scratch_new(l->policy);
    assert_non_null(l->scratch);
}

static void live_a_round(life *l)
{
    draw_request(l);
    if (one_in(&l->d, 3))
        rank_both(l);
    learn_both(l);
    if (l->info->can_forget && one_in(&l->d, 40))
        forget_both(l);
    if (l->info->can_merge && one_in(&l->d, 40))
        merge_both(l);
    if (l->info->can_resize && one_in(&l->d, 60))
        resize_both(l);
    if (one_in(&l->d, 15)) {
        draw_request(l);
        examine(l);
    }
    if (one_in(&l->d, 200))
        part(l);
}

static void bury(life *l)
{
    part(l);
    free(l->pool);
    oltr_scratch_free(l->scratch);
    oltr_policy_free(l->policy);
}

static void live(const oltr_policy_info *info, uint64_t number)
{
    life l = {.info = info, .number = number, .d = {0x6C69766573 + number * 0x9E3779B97F4A7C15u}};
    be_born(&l);
    uint32_t rounds = one_in(&l.d, 12) ? 600 : 1 + below(&l.d, 80);
    for (; l.round < rounds; l.round++)
        live_a_round(&l);
    draw_request(&l);
    examine(&l);
    bury(&l);
}

/* ---- forgeries */

static double forged_number(dice *d, double right)
{
    static const double odd[] = {0,      1,     -1,     1e308,    1.5e308,  -1.5e308, 1e200,
                                 1e180,  1e154, -1e154, 1e60,     -1e60,    1e59,     1e40,
                                 1e35,   -1e35, 1e30,   1e20,     1e12,     1e-9,     1e-300,
                                 5e-324, -0.0,  NAN,    INFINITY, -INFINITY};
    switch (below(d, 5)) {
    case 0:
        return odd[below(d, COUNT(odd))];
    case 1:
        return right * (1 + (unit(d) - 0.5) * magnitude(d, -12, 0));
    case 2:
        return right * magnitude(d, -30, 30);
    case 3:
        return -right;
    default:
        return (one_in(d, 2) ? 1 : -1) * magnitude(d, -60, 60);
    }
}

/* Changes one number of the arrays. */
static void change_a_number(dice *d, const anatomy *a, unsigned char *bytes)
{
    uint32_t which = below(d, a->sums + a->derived);
    const field *f = which < a->sums ? &a->sum[which] : &a->derived_array[which - a->sums];
    if (f->n) {
        unsigned char *at = bytes + f->value + 8 * below(d, (uint32_t)f->n);
        set_number(at, forged_number(d, number_at(at)));
    }
}

/* Cuts off what is derived, as a program that does not know it would write it. */
static size_t without_derived(const anatomy *a, unsigned char *bytes)
{
    set_little(bytes + a->n_derived, 4, 0);
    return a->n_derived + 4 + 8;
}

static oltr_policy *load_forgery(life *l)
{
    size_t size;
    unsigned char *bytes = save(l, l->policy, &size);
    anatomy a = dissect(bytes, size);
    if (a.derived && one_in(&l->d, 2)) {
        size = without_derived(&a, bytes);
        a.derived = 0;
    }
    for (uint32_t changes = 1 + below(&l->d, 2); changes > 0 && a.sums + a.derived > 0; changes--)
        change_a_number(&l->d, &a, bytes);
    seal(bytes, size);
    oltr_policy *forged = oltr_load(bytes, size, NULL);
    free(bytes);
    return forged;
}

static void forge(life *l)
{
    oltr_policy *right = l->policy, *forged = load_forgery(l);
    if (!forged)
        return;
    l->policy = forged;
    draw_request(l);
    examine(l);
    rank_both(l);
    learn_both(l);
    if (l->info->can_merge && one_in(&l->d, 4))
        merge_both(l);
    if (l->info->can_forget && one_in(&l->d, 4))
        forget_both(l);
    draw_request(l);
    examine(l);
    part(l);
    oltr_policy_free(forged);
    l->policy = right;
}

/* Loading takes the estimate of a logistic posterior as it is, however far from the root, and equal
 * rows; oltr_check() tells. */
static void forged_lives(void **state)
{
    uint64_t from = number_from("OLTR_LIVES_FROM", 0), n = number_from("OLTR_LIVES", LIVES);
    for (uint64_t number = from; number < from + n; number++) {
        life l = {
            .info = *state, .number = number, .d = {0x666F72676564 + number * 0x9E3779B97F4A7C15u}};
        be_born(&l);
        l.may_be_wrong = has_logistic_posterior(l.info);
        for (uint32_t rounds = below(&l.d, 30); rounds > 0; rounds--, l.round++) {
            draw_request(&l);
            learn_both(&l);
        }
        for (int i = 0; i < 20; i++)
            forge(&l);
        bury(&l);
    }
}

static void lives(void **state)
{
    const oltr_policy_info *info = *state;
    uint64_t most = strcmp(info->name, "logts") == 0 ? 3 * LIVES : LIVES;
    uint64_t from = number_from("OLTR_LIVES_FROM", 0), n = number_from("OLTR_LIVES", most);
    for (uint64_t number = from; number < from + n; number++)
        live(info, number);
}

/* Sums that once loaded and gave NaN or nonsense with OLTR_OK, each the last number of an array. */
static void known_forgeries_are_refused(void **state)
{
    static const struct {
        const char *kind, *array;
        double value;
    } known[] = {{"lints", "moment", 1.5e308},
                 {"lints", "moment", 1e59},
                 {"lints", "gram", 1e40},
                 {"cascade-linucb", "moment", 1e30},
                 {"cascade-lints", "gram", 1e200},
                 {"logts-newton", "theta", 1e200},
                 {"logts-newton", "theta", -1.5e308},
                 {"cascade-woful", "moment", 1e100},
                 {"lints-cascade", "moment", 1e308}};
    for (size_t i = 0; i < COUNT(known); i++) {
        life l = {.info = oltr_policy_info_by_name(known[i].kind, NULL), .d = {4711 + i}};
        oltr_error error = {OLTR_OK, ""};
        size_t size;
        be_born(&l);
        draw_request(&l);
        learn_both(&l);
        unsigned char *bytes = save(&l, l.policy, &size);
        anatomy a = dissect(bytes, size);
        for (uint32_t s = 0; s < a.sums; s++)
            if (strcmp(a.sum[s].text, known[i].array) == 0)
                set_number(bytes + a.sum[s].value + 8 * (a.sum[s].n - 1), known[i].value);
        size = without_derived(&a, bytes);
        seal(bytes, size);
        if (oltr_load(bytes, size, &error) || error.code != OLTR_ESTATE)
            fault(&l, "forgery", error.msg);
        free(bytes);
        bury(&l);
    }
}

int main(void)
{
    static suite all;
    const char *only = getenv("OLTR_LIVES_KIND");
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (only && strcmp(only, info->name) != 0)
            continue;
        add_test(&all, "lives", info->name, lives, info);
        add_test(&all, "forged_lives", info->name, forged_lives, info);
    }
    ONCE(&all, known_forgeries_are_refused);
    return cmocka_run_group_tests_name("a saved policy always loads", all.test, NULL, NULL);
}
