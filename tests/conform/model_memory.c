/* model_memory.c - models without memory, and memory that comes from a hook.
 *
 * A scripted life makes every call of oltr/model.h that takes memory.  Each step is tried with its
 * first request refused, with its second, and so on until it needs no more: alone, and together
 * with all that follow.  A refused step answers OLTR_ENOMEM, leaves the image as it was and the
 * hook with as much as before; then the life goes on.  With a hook nothing is taken from the C
 * library, whose allocator is watched by the linker's --wrap (see CMakeLists.txt).
 */
#include "conform/model_fixtures.h"

static variant_list variants;

/* ---- the C library's allocator, counted */

static long taken;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    taken++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    taken++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    taken++;
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    taken++;
    return __real_aligned_alloc(alignment, size);
}

/* ---- the hook */

enum { MOST_BLOCKS = 256 };

/* What is handed out, and which request is refused. */
typedef struct purse {
    long requests, refused_at; /* refused_at: the number of the request to refuse; -1: none */
    bool and_all_later, refused, wrong;
    struct {
        void *at;
        size_t bytes;
    } block[MOST_BLOCKS];
} purse;

/* One of those who take from it. */
typedef struct wallet {
    purse *money;
    size_t held, peak;
} wallet;

static bool is_refused(purse *p)
{
    long number = p->requests++;
    if (p->refused_at < 0 || number < p->refused_at ||
        (number > p->refused_at && !p->and_all_later))
        return false;
    p->refused = true;
    return true;
}

static void *wallet_take(void *with, size_t bytes, size_t align)
{
    wallet *w = with;
    purse *p = w->money;
    size_t i = 0;
    if (is_refused(p))
        return NULL;
    while (i < MOST_BLOCKS && p->block[i].at)
        i++;
    assert_true(i < MOST_BLOCKS && align <= 64 && (align & (align - 1)) == 0);
    p->block[i].at = __real_aligned_alloc(64, (bytes + 63) / 64 * 64);
    p->block[i].bytes = bytes;
    memset(p->block[i].at, 0xA5, bytes); /* of any content */
    w->held += bytes;
    w->peak = w->held > w->peak ? w->held : w->peak;
    return p->block[i].at;
}

static void wallet_give(void *with, void *memory, size_t bytes)
{
    wallet *w = with;
    purse *p = w->money;
    for (size_t i = 0; i < MOST_BLOCKS; i++)
        if (memory && p->block[i].at == memory) {
            p->wrong |= p->block[i].bytes != bytes;
            w->held -= p->block[i].bytes;
            p->block[i].at = NULL;
            free(memory);
            return;
        }
    p->wrong = true;
}

/* ---- a life, step by step */

typedef struct life {
    const variant *v;
    purse money;
    wallet own, desk; /* of the models, and of the scratch */
    oltr_memory memory;
    oltr_model *model, *made; /* made: by the step, besides the model */
    oltr_model *other;        /* without the hook, to merge from */
    oltr_model_scratch *scratch;
    image saved;
    oltr_error error;
} life;

typedef oltr_status (*step)(life *l);

static oltr_status made_or_not(life *l, const void *made)
{
    return made ? OLTR_OK : l->error.code;
}

static oltr_status make_model(life *l)
{
    oltr_model_settings s = model_settings_for(l->v);
    s.policy.memory = &l->memory;
    l->model = oltr_model_new(&s, &l->error);
    return made_or_not(l, l->model);
}

static oltr_status learn_some(life *l, uint32_t first, uint32_t n, uint32_t size_of_id)
{
    static unsigned char id[OLTR_LONGEST_NAME];
    oltr_name name[32];
    double reward[32];
    float x[32 * DIM];
    bool rows = l->v->info->contextual;
    n = rows && n > CANDIDATES ? CANDIDATES : n;
    for (uint32_t i = 0; i < n; i++) {
        name[i] = name_at(first + i);
        reward[i] = i % 2;
        memcpy(x + i * DIM, pool_row(i), DIM * sizeof *x);
    }
    id[0] = (unsigned char)first;
    oltr_lesson lesson = lesson_of(rows ? NULL : name, n, reward);
    lesson.shown.x = rows ? x : NULL;
    lesson.id = (oltr_name){id, size_of_id};
    return oltr_model_learn(l->model, &lesson, NULL, &l->error);
}

static oltr_status learn_first(life *l)
{
    return learn_some(l, 0, 1, 1);
}

static oltr_status learn_more(life *l)
{
    return learn_some(l, 1, 20, 512);
}

static oltr_status learn_known(life *l)
{
    return learn_some(l, 3, 5, 0);
}

static oltr_status learn_last(life *l)
{
    return learn_some(l, 21, NAMES - 21, 8);
}

/* Names at the end of the pool, which no lesson has. */
static oltr_status give_priors(life *l)
{
    oltr_name name[3] = {name_at(45), name_at(2), name_of_text("not of the pool")};
    double pair[3][2];
    dice d = {4};
    if (!takes_prior(l->v))
        return OLTR_OK;
    for (uint32_t i = 0; i < 3; i++)
        draw_pair(&d, l->v, pair[i]);
    return oltr_model_prior(l->model, name, pair[0], 3, &l->error);
}

static oltr_status remove_some(life *l)
{
    oltr_name name[3] = {name_at(7), name_at(1), name_at(44)};
    return l->v->info->contextual ? OLTR_OK : oltr_model_remove(l->model, name, 3, NULL, &l->error);
}

static oltr_status reset_some(life *l)
{
    oltr_name name[2] = {name_at(8), name_at(2)};
    return l->v->info->contextual ? OLTR_OK : oltr_model_reset(l->model, name, 2, NULL, &l->error);
}

static oltr_status trim_idle(life *l)
{
    return l->v->info->contextual ? OLTR_OK : oltr_model_trim(l->model, 3, NULL, &l->error);
}

static oltr_status reserve_some(life *l)
{
    return l->v->info->contextual ? OLTR_OK : oltr_model_reserve(l->model, 100, &l->error);
}

static oltr_status forget_half(life *l)
{
    return l->v->info->can_forget
               ? oltr_model_forget(l->model, 0.5, name_of_text("a tick"), NULL, &l->error)
               : OLTR_OK;
}

static oltr_status merge_other(life *l)
{
    return l->v->info->can_merge
               ? oltr_model_merge(l->model, l->other, name_of_text("a delta"), NULL, &l->error)
               : OLTR_OK;
}

static oltr_status check_it(life *l)
{
    return oltr_model_check(l->model, &l->error);
}

static oltr_status copy_it(life *l)
{
    l->made = oltr_model_copy(l->model, NULL, &l->error);
    return made_or_not(l, l->made);
}

static oltr_status make_child(life *l)
{
    bool possible = l->v->info->contextual
                        ? l->v->info->can_forget
                        : l->v->info->uses_prior && l->v->info->can_predict &&
                              !chosen(l->v, "sampler", "released"); /* some beliefs are no Beta */
    if (!possible)
        return OLTR_OK;
    l->made = oltr_model_like(l->model, 0.5, NULL, &l->error);
    return made_or_not(l, l->made);
}

static oltr_status load_it(life *l)
{
    oltr_load_options options = {.memory = &l->memory};
    l->made = oltr_model_load(l->saved.byte, l->saved.size, &options, NULL, &l->error);
    return made_or_not(l, l->made);
}

static oltr_status make_scratch(life *l)
{
    l->scratch = oltr_model_scratch_new(&(oltr_memory){wallet_take, wallet_give, &l->desk});
    l->error = (oltr_error){l->scratch ? OLTR_OK : OLTR_ENOMEM, "no scratch"};
    return l->error.code;
}

/* Known and unknown names, or rows. */
static oltr_list draw_candidates(const life *l, oltr_name *name, float *x)
{
    static const char *const unknown[] = {"u", "un", "unk", "unkn"};
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        name[i] = i % 3 ? name_at(2 + i) : name_of_text(unknown[i / 3]);
        memcpy(x + i * DIM, pool_row(i), DIM * sizeof *x);
    }
    return l->v->info->contextual ? (oltr_list){.n = CANDIDATES, .x = x}
                                  : list_of(name, CANDIDATES);
}

static oltr_status rank_list(life *l, const oltr_list *list)
{
    uint32_t place[5];
    oltr_show show = {.k = 5, .place = place};
    if (l->v->info->by_item && l->v->info->can_predict) {
        show.fresh_below = 3;
        show.most_fresh = 2;
    }
    return oltr_model_rank(l->model, list, rng_of(1), l->scratch, &show, &l->error);
}

static oltr_status rank_it(life *l)
{
    oltr_name name[CANDIDATES];
    float x[CANDIDATES * DIM];
    oltr_list list = draw_candidates(l, name, x);
    return rank_list(l, &list);
}

/* Names that the model knows. */
static oltr_status rank_known(life *l)
{
    oltr_name name[CANDIDATES];
    float x[CANDIDATES * DIM];
    oltr_list list = draw_candidates(l, name, x);
    if (list.name)
        list.n = 0;
    for (; list.name && list.n < CANDIDATES && list.n < oltr_model_items(l->model); list.n++)
        name[list.n] = oltr_model_name(l->model, list.n);
    return rank_list(l, &list);
}

static oltr_status predict_it(life *l)
{
    oltr_name name[CANDIDATES];
    float x[CANDIDATES * DIM];
    double mean[CANDIDATES], sd[CANDIDATES];
    oltr_list list = draw_candidates(l, name, x);
    return l->v->info->can_predict ? oltr_model_predict(l->model, &list, mean, sd, &l->error)
                                   : OLTR_OK;
}

static oltr_status explain_it(life *l)
{
    oltr_name name[CANDIDATES];
    float x[CANDIDATES * DIM];
    oltr_explained out[CANDIDATES];
    oltr_list list = draw_candidates(l, name, x);
    if (!l->v->info->can_predict)
        return OLTR_OK;
    return oltr_model_explain(l->model, &list, out, &l->error);
}

static oltr_status chances_of_it(life *l)
{
    oltr_name name[CANDIDATES];
    float x[CANDIDATES * DIM];
    double in_list[CANDIDATES], first[CANDIDATES];
    oltr_list list = draw_candidates(l, name, x);
    oltr_show show = {.k = 3};
    uint32_t draws = is_kind(l->v, "gts") || is_kind(l->v, "ts-beta") ? 0 : 5;
    return oltr_model_propensity(l->model, &list, &show, draws, rng_of(2), l->scratch, in_list,
                                 first, &l->error);
}

static const struct {
    const char *name;
    step run;
} script[] = {
    {"new", make_model},
    {"the first lesson", learn_first},
    {"many items", learn_more},
    {"priors", give_priors},
    {"known items", learn_known},
    {"scratch", make_scratch},
    {"rank", rank_it},
    {"chances", chances_of_it},
    {"predict", predict_it},
    {"explain", explain_it},
    {"remove", remove_some},
    {"reset", reset_some},
    {"merge", merge_other},
    {"forget", forget_half},
    {"check", check_it},
    {"copy", copy_it},
    {"like", make_child},
    {"load", load_it},
    {"trim", trim_idle},
    {"reserve", reserve_some},
    {"the last lesson", learn_last},
    {"rank again", rank_it},
};

/* ---- running it */

static image image_or_none(const oltr_model *m)
{
    return m ? model_image(m) : (image){0, exactly(1, 1)};
}

/* One attempt, with request `refused_at` refused; true when it is done. */
static bool attempt(life *l, size_t s, long refused_at, bool and_all_later)
{
    image before = image_or_none(l->model);
    long from_library = taken;
    l->error = (oltr_error){OLTR_OK, ""};
    l->money.requests = 0;
    l->money.refused = false;
    l->money.refused_at = refused_at;
    l->money.and_all_later = and_all_later;
    oltr_status status = script[s].run(l);
    l->money.refused_at = -1;
    if (taken != from_library &&
        !l->v->info->contextual) /* a matrix is checked in room of its own */
        fail_msg("%s: %ld requests to the C library", script[s].name, taken - from_library);
    if (status != OLTR_OK &&
        (!l->money.refused || status != OLTR_ENOMEM || l->error.code != OLTR_ENOMEM))
        fail_msg("%s, request %ld refused: %s (%s)", script[s].name, refused_at,
                 oltr_status_name(status), l->error.msg);
    if (!same_images(before, image_or_none(l->model)) && status != OLTR_OK)
        fail_msg("%s, request %ld refused: the image has changed", script[s].name, refused_at);
    return status == OLTR_OK;
}

/* How many refusals it took. */
static long run_step(life *l, size_t s, bool refuse, bool and_all_later)
{
    long refusals = 0;
    while (!attempt(l, s, refuse ? refusals : -1, and_all_later)) {
        refusals++;
        assert_true(refuse && refusals < 1000);
    }
    if (l->made)
        assert_model_sound(l->made);
    oltr_model_free(l->made);
    l->made = NULL;
    free(l->saved.byte);
    l->saved = model_image(l->model);
    if (oltr_model_bytes(l->model) != l->own.held)
        fail_msg("after %s the model says that it holds %zu bytes, and took %zu", script[s].name,
                 oltr_model_bytes(l->model), l->own.held);
    return refusals;
}

static void open_life(life *l, const variant *v)
{
    *l = (life){.v = v, .money = {.refused_at = -1}};
    l->own.money = l->desk.money = &l->money;
    l->memory = (oltr_memory){wallet_take, wallet_give, &l->own};
    l->other = model_of(v);
    teach_many(l->other, 5, 10, 5, 30);
}

static void close_life(life *l)
{
    oltr_model_free(l->model);
    oltr_model_free(l->other);
    oltr_model_scratch_free(l->scratch);
    free(l->saved.byte);
    assert_int_equal(l->own.held, 0);
    assert_int_equal(l->desk.held, 0);
    assert_false(l->money.wrong);
}

/* The image at the end. */
static image live(const variant *v, bool refuse, bool and_all_later, long *refusals)
{
    static life l;
    open_life(&l, v);
    *refusals = 0;
    for (size_t s = 0; s < COUNT(script); s++)
        *refusals += run_step(&l, s, refuse, and_all_later);
    assert_model_sound(l.model);
    image end = model_image(l.model);
    close_life(&l);
    return end;
}

/* Each request is refused once, alone and with all later ones of its step; in the end there is the
 * model of a life without refusals. */
static void refusals_leave_no_trace(void **state)
{
    long refusals;
    image calm = live(*state, false, false, &refusals);
    assert_int_equal(refusals, 0);
    for (int and_all_later = 0; and_all_later < 2; and_all_later++) {
        image end = live(*state, true, and_all_later, &refusals);
        assert_true(refusals > 5);
        assert_true(equal_images(&calm, &end));
        free(end.byte);
    }
    free(calm.byte);
}

/* ---- ranking does not allocate once the scratch is ready */

static void ready_is_all_that_allocates(void **state)
{
    static life l;
    oltr_error error = {OLTR_OK, ""};
    open_life(&l, *state);
    for (size_t s = 0; s < 6; s++) /* up to the scratch */
        run_step(&l, s, false, false);
    if (oltr_model_ready(l.model, CANDIDATES, l.scratch, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
    for (int i = 0; i < 3; i++) {
        long before = taken;
        l.money.requests = 0;
        expect(rank_known(&l), OLTR_OK);
        assert_int_equal(l.money.requests, 0);
        assert_int_equal(taken, before);
    }
    close_life(&l);
}

/* ---- loads within bounds */

static oltr_status load_within(const image *m, size_t most, size_t *peak)
{
    static purse money;
    money = (purse){.refused_at = -1};
    wallet w = {.money = &money};
    oltr_memory memory = {wallet_take, wallet_give, &w};
    oltr_load_options options = {.size = sizeof options, .memory = &memory, .most_bytes = most};
    oltr_error error = {OLTR_OK, ""};
    oltr_model *loaded = oltr_model_load(m->byte, m->size, &options, NULL, &error);
    *peak = w.peak;
    if (loaded)
        assert_int_equal(oltr_model_bytes(loaded), w.held);
    oltr_model_free(loaded);
    assert_int_equal(w.held, 0);
    assert_false(money.wrong);
    return loaded ? OLTR_OK : error.code;
}

/* The memory of a model with about so many items stays within the bound, or there is no model. */
static void check_bounds(const variant *v, uint32_t items)
{
    oltr_model *m = model_of(v);
    if (items)
        teach_many(m, 1, 40, 0, items);
    image x = model_image(m);
    bool loaded = false;
    for (size_t most = 256; most < 1 << 26; most += loaded ? most : most / 64) {
        size_t peak;
        oltr_status status = load_within(&x, most, &peak);
        if (peak > most)
            fail_msg("%zu bytes were taken, allowed were %zu", peak, most);
        assert_true(status == OLTR_ENOMEM || status == OLTR_OK);
        assert_true(!loaded || status == OLTR_OK); /* a larger bound allows no less */
        loaded = status == OLTR_OK;
    }
    assert_true(loaded);
    free(x.byte);
    oltr_model_free(m);
}

static void a_bound_on_loading_holds(void **state)
{
    static const uint32_t items[] = {0, 1, 7, 8, 31, 32, NAMES};
    for (size_t i = 0; i < COUNT(items); i++)
        check_bounds(*state, items[i]);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_SOME_VARIANTS(&all, &variants, refusals_leave_no_trace, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, ready_is_all_that_allocates, is_common_variant);
    ON_SOME_VARIANTS(&all, &variants, a_bound_on_loading_holds, is_common_variant);
    return cmocka_run_group_tests_name("models without memory", all.test, NULL, NULL);
}
