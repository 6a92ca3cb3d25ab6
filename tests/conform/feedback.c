/* feedback.c - rounds beyond the plain one, over every kind of the catalogue: masks, weights, many
 * at once, and refusals explained.
 *
 * Each is compared with the plain calls that it stands for: a mask with the compacted list, a
 * weight of two with the lesson twice, many lists with one after the other, and an explanation with
 * the status of the call that it explains.
 */
#include "conform/fixtures.h"

enum { N = ITEMS, K = 8, ROUNDS = 120 };

typedef struct lesson {
    oltr_query query;
    uint32_t name[N], item[K];
    float x[N * DIM]; /* (N, DIM) */
    double reward[K], weight[K];
    uint8_t examined[K];
    oltr_ranking shown;
    oltr_feedback seen;
} lesson;

static oltr_policy *make(const oltr_policy_info *info)
{
    variant v = plain_variant(info);
    return new_policy(&v);
}

static oltr_policy *make_named(const char *kind)
{
    variant v = variant_of(kind);
    return new_policy(&v);
}

/* Features and rewards are eighths: their sums are exact in any order. */
static void draw_lesson(dice *d, const oltr_policy_info *info, lesson *l)
{
    uint32_t n = K + below(d, N - K + 1), row[N];
    *l = (lesson){.query = {.n_items = n, .item = below(d, 2) ? l->name : NULL}};
    draw_items(d, N, n, l->name);
    for (uint32_t i = 0; i < N * DIM; i++)
        l->x[i] = (float)below(d, 17) / 8 - 1;
    if (info->contextual) {
        l->query.dim = DIM;
        l->query.x = l->x;
    }
    draw_items(d, n, K, row);
    for (uint32_t s = 0; s < K; s++) {
        l->item[s] = l->query.item ? l->name[row[s]] : row[s];
        l->reward[s] = draw_reward(d, info->rewards, 0.3);
        l->weight[s] = (1 + below(d, 16)) / 4.0;
        l->examined[s] = (uint8_t)below(d, 2);
    }
    l->shown = (oltr_ranking){.k = 1 + below(d, K), .item = l->item};
    l->seen = (oltr_feedback){.n_examined = below(d, l->shown.k + 1), .reward = l->reward};
}

/* The list as a policy sees it: examined slots first. */
static void compacted(const lesson *l, lesson *c)
{
    uint32_t n = 0, at;
    *c = *l;
    c->query.item = l->query.item ? c->name : NULL;
    c->query.x = l->query.x ? c->x : NULL;
    for (uint32_t s = 0; s < l->seen.n_examined; s++)
        if (l->examined[s]) {
            c->item[n] = l->item[s];
            c->reward[n] = l->reward[s];
            c->weight[n++] = l->weight[s];
        }
    at = n;
    for (uint32_t s = 0; s < l->shown.k; s++)
        if (s >= l->seen.n_examined || !l->examined[s])
            c->item[at++] = l->item[s];
    c->shown.item = c->item;
    c->seen = (oltr_feedback){
        .n_examined = n, .reward = c->reward, .weight = l->seen.weight ? c->weight : NULL};
}

static oltr_status learn(oltr_policy *p, const lesson *l)
{
    return oltr_learn(p, &l->query, &l->shown, &l->seen);
}

/* ---- masks */

static void a_mask_is_the_compacted_list(void **state)
{
    const oltr_policy_info *info = *state;
    bool by_clicks = strcmp(info->name, "toprank") == 0;
    if (info->knows_slots && !by_clicks) /* it learns from the number of a slot */
        return;
    oltr_policy *p = make(info), *q = make(info);
    dice d = {17};
    for (uint32_t t = 0; t < ROUNDS; t++) {
        lesson l, c;
        draw_lesson(&d, info, &l);
        l.seen.examined = l.examined;
        if (info->takes_weights && t % 2)
            l.seen.weight = l.weight;
        compacted(&l, &c);
        for (uint32_t s = 0; s < K; s++) /* what is not examined is not read */
            if (!l.examined[s])
                l.reward[s] = l.weight[s] = NAN;
        expect(learn(p, &l), OLTR_OK);
        expect(learn(q, &c), OLTR_OK);
        assert_true(same_state(p, q));
    }
    assert_sound(p);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

static void a_mask_of_ones_is_a_prefix(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_policy *p = make(info), *q = make(info);
    dice d = {18};
    for (uint32_t t = 0; t < ROUNDS; t++) {
        lesson l;
        draw_lesson(&d, info, &l);
        expect(learn(q, &l), OLTR_OK);
        memset(l.examined, 1, sizeof l.examined);
        l.seen.examined = l.examined;
        expect(learn(p, &l), OLTR_OK);
    }
    assert_true(same_state(p, q));
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* The longest list with a mask, and one slot more. */
static void a_mask_has_its_limit(void **state)
{
    enum { MANY = OLTR_MAX_MASKED + 1 };
    uint32_t *item = malloc(MANY * sizeof *item);
    double *reward = calloc(MANY, sizeof *reward), seen_of_last = 0;
    uint8_t *examined = calloc(MANY, 1);
    oltr_settings s;
    expect(oltr_settings_init(&s, "gts", MANY, NULL), OLTR_OK);
    oltr_policy *p = oltr_policy_new(&s, NULL);
    for (uint32_t i = 0; i < MANY; i++)
        item[i] = MANY - 1 - i;
    examined[MANY - 2] = 1;
    oltr_ranking shown = {.k = MANY, .item = item};
    oltr_feedback seen = {.n_examined = MANY - 1, .reward = reward, .examined = examined};
    expect(oltr_learn(p, NULL, &shown, &seen), OLTR_ESLOTS);
    shown.k--;
    expect(oltr_learn(p, NULL, &shown, &seen), OLTR_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        double number[OLTR_MAX_ITEM_NUMBERS];
        uint32_t n;
        expect(oltr_item_get(p, i, number, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        seen_of_last += number[0] * (i == 1 ? 1 : 100);
    }
    assert_true(seen_of_last >= 1 && seen_of_last <= 1);
    oltr_policy_free(p);
    free(item);
    free(reward);
    free(examined);
}

/* ---- weights */

static void a_weight_of_one_is_no_weight(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_policy *p = make(info), *q = make(info);
    dice d = {19};
    for (uint32_t t = 0; t < ROUNDS && info->takes_weights; t++) {
        lesson l;
        draw_lesson(&d, info, &l);
        expect(learn(q, &l), OLTR_OK);
        for (uint32_t s = 0; s < K; s++)
            l.weight[s] = 1;
        l.seen.weight = l.weight;
        expect(learn(p, &l), OLTR_OK);
    }
    assert_true(same_state(p, q));
    assert_sound(p);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* The sums of item after item, or what is predicted of some rows. */
static void assert_same_belief(const oltr_policy_info *info, const oltr_policy *p,
                               const oltr_policy *q)
{
    double x[OLTR_MAX_ITEM_NUMBERS], y[OLTR_MAX_ITEM_NUMBERS], mean[2][N];
    uint32_t n = 0;
    dice d = {4};
    lesson l;
    draw_lesson(&d, info, &l);
    for (uint32_t i = 0; i < N && info->by_item; i++) {
        expect(oltr_item_get(p, i, x, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        expect(oltr_item_get(q, i, y, OLTR_MAX_ITEM_NUMBERS, &n), OLTR_OK);
        assert_memory_equal(x, y, n * sizeof *x);
    }
    if (info->by_item || !info->can_predict)
        return;
    expect(oltr_predict(p, &l.query, mean[0], NULL), OLTR_OK);
    expect(oltr_predict(q, &l.query, mean[1], NULL), OLTR_OK);
    for (uint32_t j = 0; j < l.query.n_items; j++)
        if (!(fabs(mean[0][j] - mean[1][j]) <= 1e-6 * (1 + fabs(mean[1][j]))))
            fail_msg("row %u: %.17g with weights, %.17g without", j, mean[0][j], mean[1][j]);
}

static void a_weight_is_a_number_of_lessons(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_policy *p = make(info), *q = make(info);
    dice d = {20};
    for (uint32_t t = 0; t < ROUNDS && info->takes_weights; t++) {
        lesson l;
        uint32_t times = 1 + below(&d, 3);
        draw_lesson(&d, info, &l);
        for (uint32_t i = 0; i < times; i++)
            expect(learn(q, &l), OLTR_OK);
        for (uint32_t s = 0; s < K; s++)
            l.weight[s] = times;
        l.seen.weight = l.weight;
        expect(learn(p, &l), OLTR_OK);
        assert_int_equal(oltr_policy_rounds(p), t + 1);
    }
    assert_same_belief(info, p, q);
    assert_sound(p);
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* A policy with sums at their bound goes on learning, and can still be loaded. */
static void weights_stop_at_the_bound(void **state)
{
    const oltr_policy_info *info = *state;
    double number[OLTR_MAX_ITEM_NUMBERS] = {1e15, 0}, one = 1, few = 2, most = OLTR_MAX_WEIGHT;
    uint32_t item = 3, n;
    oltr_policy *p = make(info);
    oltr_ranking shown = {.k = 1, .item = &item};
    oltr_feedback plain = {.n_examined = 1, .reward = &one}, heavy = plain, light = plain;
    heavy.weight = &most;
    light.weight = &few;
    if (info->by_item && oltr_item_get(p, item, number + 2, 8, &n) == OLTR_OK && n == 2) {
        expect(oltr_item_put(p, item, number, n, NULL), OLTR_OK);
        image before = image_of(p);
        expect(oltr_learn(p, NULL, &shown, &heavy), OLTR_ESTATE);
        assert_unchanged(p, before);
        expect(oltr_learn(p, NULL, &shown, &plain), OLTR_OK);
        expect(oltr_learn(p, NULL, &shown, &light), OLTR_OK); /* 1e15 + 3 in round 3 */
        expect(oltr_learn(p, NULL, &shown, &light), OLTR_ESTATE);
        oltr_policy *copy = copy_of(p);
        expect(oltr_merge(p, copy), OLTR_ESTATE);
        assert_true(same_state(p, copy));
        oltr_policy_free(copy);
    }
    oltr_policy_free(p);
}

/* ---- many at once */

static void many_lists_are_those_of_one_by_one(void **state)
{
    const oltr_policy_info *info = *state;
    enum { LISTS = 7 };
    oltr_policy *p = make(info);
    oltr_scratch *scratch = oltr_scratch_new(p);
    oltr_rng rng = oltr_rng_make(3, 4);
    dice d = {21};
    for (uint32_t t = 0; t < ROUNDS; t++) {
        uint32_t item[LISTS][K], other[K], done = 99;
        double score[LISTS][K], value[K];
        lesson l;
        draw_lesson(&d, info, &l);
        expect(learn(p, &l), OLTR_OK);
        expect(oltr_rank_many(p, &l.query, rng, 5, 100 + t, scratch, LISTS, K, item[0], score[0],
                              &done),
               OLTR_OK);
        assert_int_equal(done, LISTS);
        for (uint32_t r = 0; r < LISTS; r++) {
            oltr_ranking one = {.k = K, .item = other, .score = value};
            assert_int_equal(
                oltr_rank(p, &l.query, oltr_rng_at(rng, 5, 100 + t + r), scratch, &one), OLTR_OK);
            assert_memory_equal(item[r], other, sizeof other);
            assert_memory_equal(score[r], value, sizeof value);
        }
        expect(oltr_rank_many(p, &l.query, rng, 5, 100 + t, scratch, LISTS, K, item[0], NULL, NULL),
               OLTR_OK);
        assert_memory_equal(item[LISTS - 1], other, sizeof other);
    }
    uint32_t done = 99, item[K];
    expect(oltr_rank_many(p, NULL, rng, 0, 0, scratch, 2, K, NULL, NULL, &done), OLTR_EINVAL);
    assert_int_equal(done, 0);
    done = 99;
    expect(oltr_rank_many(p, &(oltr_query){.n_items = N + 1}, rng, 0, 0, scratch, 1, K, item, NULL,
                          &done),
           OLTR_EITEM);
    assert_int_equal(done, 0);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

enum { LESSONS = 5 };
typedef struct lesson_arrays {
    uint32_t item[LESSONS * K], n_examined[LESSONS];
    double reward[LESSONS * K], weight[LESSONS * K];
    uint8_t examined[LESSONS * K];
} lesson_arrays;

/* Lists of length k from the candidates of one query. */
static oltr_lessons draw_lessons(dice *d, const oltr_policy_info *info, const lesson *l,
                                 lesson_arrays *a, uint32_t k)
{
    memset(a, 0, sizeof *a);
    for (uint32_t r = 0; r < LESSONS; r++) {
        uint32_t row[N];
        draw_items(d, l->query.n_items, k, row);
        a->n_examined[r] = below(d, k + 1);
        for (uint32_t s = 0; s < k; s++) {
            size_t at = (size_t)r * k + s;
            a->item[at] = l->query.item ? l->name[row[s]] : row[s];
            a->reward[at] = draw_reward(d, info->rewards, 0.3);
            a->weight[at] = 1 + below(d, 4);
            a->examined[at] = (uint8_t)below(d, 2);
        }
    }
    return (oltr_lessons){.n = LESSONS,
                          .k = k,
                          .item = a->item,
                          .reward = a->reward,
                          .n_examined = below(d, 3) ? a->n_examined : NULL,
                          .examined = below(d, 2) ? a->examined : NULL,
                          .weight = info->takes_weights && below(d, 2) ? a->weight : NULL};
}

/* Lesson r through oltr_learn(). */
static oltr_status learn_one(oltr_policy *p, const oltr_query *query, const oltr_lessons *all,
                             uint32_t r)
{
    uint32_t item[K];
    size_t at = (size_t)r * all->k;
    memcpy(item, all->item + at, all->k * sizeof *item);
    oltr_ranking shown = {.k = all->k, .item = item};
    oltr_feedback seen = {.n_examined = all->n_examined ? all->n_examined[r] : all->k,
                          .reward = all->reward + at,
                          .examined = all->examined ? all->examined + at : NULL,
                          .weight = all->weight ? all->weight + at : NULL};
    return oltr_learn(p, query, &shown, &seen);
}

/* Some batches have a lesson that is refused: it and those behind it must not be learned. */
static void many_lessons_are_those_of_one_by_one(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_policy *p = make(info), *q = make(info);
    dice d = {22};
    for (uint32_t t = 0; t < ROUNDS; t++) {
        lesson l;
        lesson_arrays a;
        uint32_t done = 99, k = 1 + below(&d, K), bad = below(&d, 3 * LESSONS), r = 0;
        draw_lesson(&d, info, &l);
        oltr_lessons all = draw_lessons(&d, info, &l, &a, k);
        if (bad < LESSONS && below(&d, 2))
            a.item[bad * k] = N + below(&d, 3);
        else if (bad < LESSONS)
            a.n_examined[bad] = k + 1;
        oltr_status many = oltr_learn_many(p, &l.query, &all, &done), one = OLTR_OK;
        while (r < LESSONS && one == OLTR_OK) {
            one = learn_one(q, &l.query, &all, r);
            r += one == OLTR_OK;
        }
        assert_int_equal(many, one);
        assert_int_equal(done, r);
        assert_true(same_state(p, q));
    }
    oltr_lessons none = {.n = 0}, unknown = {.n = 0, .reserved = {&none}};
    expect(oltr_learn_many(p, NULL, &none, NULL), OLTR_OK);
    expect(oltr_learn_many(p, NULL, &unknown, NULL), OLTR_EINVAL);
    expect(oltr_learn_many(p, NULL, NULL, NULL), OLTR_EINVAL);
    assert_true(same_state(p, q));
    oltr_policy_free(p);
    oltr_policy_free(q);
}

/* ---- refusals */

static double odd_number(dice *d)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.5, 2, -1, 1e31, 1e7, 0, 1};
    return odd[below(d, COUNT(odd))];
}

/* Something is wrong, or two things are, or nothing. */
static void spoil(dice *d, lesson *l)
{
    uint32_t slot = below(d, K), row = below(d, N);
    switch (below(d, 16)) {
    case 0:
        l->item[slot] = below(d, N + 3);
        break;
    case 1:
        l->item[slot] = l->item[below(d, K)];
        break;
    case 2:
        l->name[row] = below(d, N + 2);
        break;
    case 3:
        l->reward[slot] = odd_number(d);
        break;
    case 4:
        l->seen.weight = l->weight;
        l->weight[slot] = odd_number(d);
        break;
    case 5:
        l->seen.examined = l->examined;
        l->examined[slot] = (uint8_t)below(d, 4);
        break;
    case 6:
        l->seen.n_examined = below(d, K + 3);
        break;
    case 7:
        l->shown.k = below(d, K + 1);
        break;
    case 8:
        l->query.n_items = below(d, N + 3);
        break;
    case 9:
        l->query.dim = below(d, DIM + 2);
        break;
    case 10:
        l->query.stride = below(d, DIM + 1);
        break;
    case 11:
        l->query.x = NULL;
        break;
    case 12:
        l->x[row * DIM + below(d, DIM)] = (float)odd_number(d);
        break;
    case 13:
        l->seen.reserved[below(d, OLTR_RESERVED)] = below(d, 2) ? l : NULL;
        break;
    case 14:
        l->shown.reserved[below(d, OLTR_RESERVED)] = below(d, 2) ? l : NULL;
        break;
    default:
        l->query.reserved[below(d, OLTR_RESERVED)] = below(d, 2) ? l : NULL;
    }
}

static void assert_explained(oltr_status wanted, oltr_status explained, const oltr_error *error)
{
    assert_int_equal(explained, wanted);
    assert_int_equal(error->code, wanted);
    if (wanted == OLTR_OK)
        assert_string_equal(error->msg, "");
    else if (!*error->msg || strcmp(error->msg, oltr_strerror(wanted)) == 0)
        fail_msg("%s is not explained: '%s'", oltr_status_name(wanted), error->msg);
}

static void explanations_have_the_status_of_the_call(void **state)
{
    const oltr_policy_info *info = *state;
    oltr_policy *p = make(info);
    oltr_scratch *scratch = oltr_scratch_new(p);
    dice d = {23};
    uint32_t refused = 0;
    for (uint32_t t = 0; t < 500 * EFFORT; t++) {
        lesson l;
        uint32_t item[N + 4];
        oltr_error error = {OLTR_EIO, "untouched"};
        draw_lesson(&d, info, &l);
        for (uint32_t n = below(&d, 3); n; n--)
            spoil(&d, &l);
        image before = image_of(p);
        oltr_status explained = oltr_explain_learn(p, &l.query, &l.shown, &l.seen, &error);
        assert_unchanged(p, copy_image(&before));
        oltr_status status = learn(p, &l);
        assert_explained(status, explained, &error);
        bool same = same_images(before, image_of(p));
        assert_true(status == OLTR_OK || same);
        oltr_ranking list = {.k = l.shown.k, .item = item};
        memcpy(list.reserved, l.shown.reserved, sizeof list.reserved);
        error = (oltr_error){OLTR_EIO, "untouched"};
        explained = oltr_explain_rank(p, &l.query, oltr_rng_make(t, 1), scratch, &list, &error);
        assert_explained(oltr_rank(p, &l.query, oltr_rng_make(t, 1), scratch, &list), explained,
                         &error);
        refused += status != OLTR_OK;
    }
    assert_true(refused > 25 * EFFORT);
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

/* The explanation of a lesson has this status and these words. */
static void explains(const oltr_policy *p, const oltr_query *query, const oltr_ranking *shown,
                     const oltr_feedback *seen, oltr_status wanted, const char *words)
{
    oltr_error e = {OLTR_EIO, ""};
    expect_error(oltr_explain_learn(p, query, shown, seen, &e), &e, wanted, words);
}

static void explanations_name_the_place(void **state)
{
    uint32_t name[4] = {7, 2, 9, 4}, item[3] = {2, 9, 7}, list[3];
    double reward[3] = {0, 1, 0}, weight[3] = {1, 1, 1};
    uint8_t mask[3] = {1, 0, 1};
    oltr_query query = {.n_items = 4, .item = name};
    oltr_ranking shown = {.k = 3, .item = item}, out = {.k = 3, .item = list};
    oltr_feedback seen = {.n_examined = 3, .reward = reward};
    oltr_error e;
    oltr_policy *p = make_named("ts-beta");
    oltr_policy *pairs = make_named("toprank");
    explains(NULL, &query, &shown, &seen, OLTR_EINVAL, "no policy");
    explains(p, &query, NULL, &seen, OLTR_EINVAL, "no ranking");
    explains(p, &query, &shown, NULL, OLTR_EINVAL, "no feedback");
    expect_error(oltr_explain_rank(p, &query, oltr_rng_make(1, 1), NULL, &out, &e), &e, OLTR_EINVAL,
                 "no scratch");
    seen.reward = NULL;
    explains(p, &query, &shown, &seen, OLTR_EINVAL, "no rewards");
    seen.reward = reward;
    item[1] = 3;
    explains(p, &query, &shown, &seen, OLTR_EITEM, "slot 1 shows item 3");
    item[1] = 7;
    explains(p, &query, &shown, &seen, OLTR_EITEM, "slot 1 and slot 2 are both item 7");
    item[1] = 9;
    name[3] = 2;
    explains(p, &query, &shown, &seen, OLTR_EITEM, "candidate 1 and candidate 3");
    name[3] = N;
    explains(p, &query, &shown, &seen, OLTR_EITEM, "candidate 3 is item 20");
    name[3] = 4;
    reward[2] = 0.5;
    explains(p, &query, &shown, &seen, OLTR_EREWARD, "slot 2 (item 7): a reward of 0.5");
    seen.examined = mask;
    mask[2] = 3;
    explains(p, &query, &shown, &seen, OLTR_EEXAMINED, "slot 2: the mask holds 3");
    mask[2] = 0;
    seen.weight = weight;
    explains(p, &query, &shown, &seen, OLTR_OK, "");
    weight[0] = 2e6;
    explains(p, &query, &shown, &seen, OLTR_EREWARD, "slot 0 (item 2): a weight of 2e+06");
    weight[0] = 1;
    explains(pairs, &query, &shown, &seen, OLTR_EUNSUPPORTED, "toprank does not learn from");
    shown.k = 5;
    explains(p, &query, &shown, &seen, OLTR_ESLOTS, "5 slots cannot be filled from 4");
    oltr_policy_free(p);
    oltr_policy_free(pairs);
}

static void features_are_named_by_candidate_and_number(void **state)
{
    float x[4][DIM] = {{0}};
    uint32_t name[4] = {7, 2, 9, 4}, item[2] = {9, 7}, list[2];
    double reward[2] = {0, 1};
    oltr_query query = {.n_items = 4, .item = name, .dim = DIM, .x = x[0]};
    oltr_ranking shown = {.k = 2, .item = item}, out = {.k = 2, .item = list};
    oltr_feedback seen = {.n_examined = 2, .reward = reward};
    oltr_error e;
    oltr_policy *p = make_named("lints");
    oltr_scratch *scratch = oltr_scratch_new(p);
    x[2][3] = 2e6F;
    explains(p, &query, &shown, &seen, OLTR_EFEATURE, "candidate 2 (item 9): feature 3 is 2e+06");
    x[2][3] = 0;
    x[1][1] = NAN;
    expect_error(oltr_explain_rank(p, &query, oltr_rng_make(1, 1), scratch, &out, &e), &e,
                 OLTR_EFEATURE, "candidate 1 (item 2): feature 1 is");
    query.dim = 3;
    explains(p, &query, &shown, &seen, OLTR_EFEATURE, "3 features, the policy was made for 4");
    query = (oltr_query){.n_items = 4, .item = name};
    explains(p, &query, &shown, &seen, OLTR_EFEATURE, "the query has none");
    oltr_scratch_free(scratch);
    oltr_policy_free(p);
}

int main(void)
{
    static suite s;
    ON_KINDS(&s, a_mask_is_the_compacted_list);
    ON_KINDS(&s, a_mask_of_ones_is_a_prefix);
    ONCE(&s, a_mask_has_its_limit);
    ON_KINDS(&s, a_weight_of_one_is_no_weight);
    ON_KINDS(&s, a_weight_is_a_number_of_lessons);
    ON_KINDS(&s, weights_stop_at_the_bound);
    ON_KINDS(&s, many_lists_are_those_of_one_by_one);
    ON_KINDS(&s, many_lessons_are_those_of_one_by_one);
    ON_KINDS(&s, explanations_have_the_status_of_the_call);
    ONCE(&s, explanations_name_the_place);
    ONCE(&s, features_are_named_by_candidate_and_number);
    return cmocka_run_group_tests_name("feedback", s.test, NULL, NULL);
}
