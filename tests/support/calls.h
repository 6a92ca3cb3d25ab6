/* calls.h - random calls that change a model, done to a model or to a store.
 *
 * A store and a model that were given the same calls must have the same image.
 */
#ifndef OLTR_TESTS_CALLS_H
#define OLTR_TESTS_CALLS_H

#include "support/files.h"

#include <oltr/store.h>

enum { CALL_NAMES = 40, CALL_SLOTS = 8, CALL_DIM = 3, CALL_TEXT = 24 };

typedef enum drawn_kind {
    DRAWN_LEARN,
    DRAWN_PRIOR,
    DRAWN_REMOVE,
    DRAWN_RESET,
    DRAWN_TRIM,
    DRAWN_FORGET,
    DRAWN_MERGE,
    DRAWN_KINDS
} drawn_kind;

typedef struct drawn_call {
    drawn_kind kind;
    oltr_lesson lesson;
    oltr_name name[CALL_SLOTS], id;
    char text[CALL_SLOTS][CALL_TEXT], id_text[CALL_TEXT];
    double reward[CALL_SLOTS], weight[CALL_SLOTS], pair[2 * CALL_SLOTS], keep;
    uint8_t examined[CALL_SLOTS];
    float x[CALL_SLOTS * (CALL_DIM + 2)];
    uint32_t n;
    uint64_t idle;
    oltr_model *other;
} drawn_call;

/* Settings of a kind, with priors where it has some.  A short window, so that ids are forgotten. */
static inline oltr_model_settings settings_of_kind(const oltr_policy_info *info)
{
    oltr_model_settings s;
    assert_int_equal(oltr_model_settings_init(&s, info->name, NULL), OLTR_OK);
    s.policy.dim = info->contextual ? CALL_DIM : 0;
    s.policy.n_items = info->contextual ? 2 * CALL_SLOTS : s.policy.n_items;
    s.window = 20;
    if (info->uses_prior) {
        assert_int_equal(oltr_model_settings_set(&s, "prior", "full", NULL), OLTR_OK);
        assert_int_equal(oltr_model_settings_set(&s, "default_prior",
                                                 info->takes_moments ? "0.2,0.1" : "2,8", NULL),
                         OLTR_OK);
    }
    return s;
}

static inline bool can_be_served(const oltr_policy_info *info)
{
    return info->contextual || info->by_item;
}

static inline oltr_model *model_of_kind(const oltr_policy_info *info)
{
    oltr_model_settings s = settings_of_kind(info);
    oltr_model *m = oltr_model_new(&s, NULL);
    assert_non_null(m);
    return m;
}

/* ---- drawing */

/* Distinct names; every fifth has a byte 0 in it. */
static inline void draw_names(dice *d, drawn_call *c)
{
    uint32_t place[CALL_NAMES];
    for (uint32_t i = 0; i < CALL_NAMES; i++)
        place[i] = i;
    shuffle(d, place, CALL_NAMES);
    for (uint32_t i = 0; i < CALL_SLOTS; i++) {
        int n = snprintf(c->text[i], CALL_TEXT, "item %u!", place[i]);
        if (place[i] % 5 == 0)
            c->text[i][4] = 0;
        c->name[i] = (oltr_name){c->text[i], (uint32_t)n};
    }
}

static inline void draw_id(dice *d, drawn_call *c)
{
    int n = snprintf(c->id_text, CALL_TEXT, "id %u", below(d, 60));
    c->id = one_in(d, 2) ? (oltr_name){NULL, 0} : (oltr_name){c->id_text, (uint32_t)n};
}

static inline void draw_feedback_of(dice *d, const oltr_policy_info *info, drawn_call *c)
{
    bool reals = info->rewards == OLTR_REALS && one_in(d, 3);
    for (uint32_t i = 0; i < c->n; i++) {
        c->reward[i] = one_in(d, 3) ? reals ? normal(d) : 1 : 0;
        c->weight[i] = 0.5 + unit(d);
        c->examined[i] = c->reward[i] != 0 || one_in(d, 2);
    }
    c->lesson.reward = c->reward;
    c->lesson.examine = below(d, OLTR_EXAMINE_MASK + 1);
    if (c->lesson.examine == OLTR_EXAMINE_DEPTH) /* a click below it is refused */
        c->lesson.depth = below(d, c->n + 1);
    if (c->lesson.examine == OLTR_EXAMINE_MASK)
        c->lesson.examined = c->examined;
    if (info->takes_weights && one_in(d, 3))
        c->lesson.weight = c->weight;
}

static inline void draw_lesson(dice *d, const oltr_policy_info *info, drawn_call *c)
{
    c->lesson = (oltr_lesson){.shown = {.n = c->n}, .id = c->id};
    draw_feedback_of(d, info, c);
    if (!info->contextual) {
        c->lesson.shown.name = c->name;
        return;
    }
    c->lesson.shown.stride = one_in(d, 2) ? CALL_DIM + 2 : 0;
    c->lesson.shown.x = c->x;
    for (size_t i = 0; i < COUNT(c->x); i++)
        c->x[i] = (float)(unit(d) - 0.5);
}

/* A model like this one that has learned a little. */
static inline oltr_model *draw_other(dice *d, const oltr_model *of)
{
    const oltr_policy_info *info = oltr_model_settings_of(of)->policy.info;
    oltr_model *m = model_of_kind(info);
    for (int i = 0; i < 3; i++) {
        drawn_call c = {.n = 1 + below(d, CALL_SLOTS)};
        draw_names(d, &c);
        draw_lesson(d, info, &c);
        oltr_model_learn(m, &c.lesson, NULL, NULL);
    }
    return m;
}

/* Mostly lessons; some calls are refused, and some change nothing.  It points into itself. */
static inline void draw_call(dice *d, const oltr_model *of, drawn_call *c)
{
    const oltr_policy_info *info = oltr_model_settings_of(of)->policy.info;
    memset(c, 0, sizeof *c);
    c->kind = one_in(d, 2) ? DRAWN_LEARN : (drawn_kind)below(d, DRAWN_KINDS);
    c->n = 1 + below(d, CALL_SLOTS);
    draw_names(d, c);
    draw_id(d, c);
    if (c->kind == DRAWN_LEARN)
        draw_lesson(d, info, c);
    for (uint32_t i = 0; i < c->n; i++) {
        c->pair[2 * i] = info->takes_moments ? unit(d) : 1 + unit(d);
        c->pair[2 * i + 1] = 0.1 + unit(d);
    }
    c->keep = 0.5 + 0.5 * unit(d);
    c->idle = 5 + below(d, 40);
    if (c->kind == DRAWN_MERGE)
        c->other = draw_other(d, of);
}

/* ---- doing */

/* changed: whether the model is another one now. */
static inline oltr_status call_model(oltr_model *m, const drawn_call *c, bool *changed)
{
    int applied = 0;
    uint32_t items = 0;
    oltr_status status = OLTR_OK;
    switch (c->kind) {
    case DRAWN_LEARN:
        status = oltr_model_learn(m, &c->lesson, &applied, NULL);
        break;
    case DRAWN_PRIOR:
        status = oltr_model_prior(m, c->name, c->pair, c->n, NULL);
        applied = status == OLTR_OK;
        break;
    case DRAWN_REMOVE:
        status = oltr_model_remove(m, c->name, c->n, &items, NULL);
        break;
    case DRAWN_RESET:
        status = oltr_model_reset(m, c->name, c->n, &items, NULL);
        break;
    case DRAWN_TRIM:
        status = oltr_model_trim(m, c->idle, &items, NULL);
        break;
    case DRAWN_FORGET:
        status = oltr_model_forget(m, c->keep, c->id, &applied, NULL);
        break;
    default:
        status = oltr_model_merge(m, c->other, c->id, &applied, NULL);
    }
    *changed = status == OLTR_OK && (applied || items);
    return status;
}

static inline oltr_status call_store(oltr_store *s, const drawn_call *c, bool *changed,
                                     oltr_error *error)
{
    int applied = 0;
    uint32_t items = 0;
    oltr_status status = OLTR_OK;
    switch (c->kind) {
    case DRAWN_LEARN:
        status = oltr_store_learn(s, &c->lesson, &applied, error);
        break;
    case DRAWN_PRIOR:
        status = oltr_store_prior(s, c->name, c->pair, c->n, error);
        applied = status == OLTR_OK;
        break;
    case DRAWN_REMOVE:
        status = oltr_store_remove(s, c->name, c->n, &items, error);
        break;
    case DRAWN_RESET:
        status = oltr_store_reset(s, c->name, c->n, &items, error);
        break;
    case DRAWN_TRIM:
        status = oltr_store_trim(s, c->idle, &items, error);
        break;
    case DRAWN_FORGET:
        status = oltr_store_forget(s, c->keep, c->id, &applied, error);
        break;
    default:
        status = oltr_store_merge(s, c->other, c->id, &applied, error);
    }
    *changed = status == OLTR_OK && (applied || items);
    return status;
}

static inline void end_call(drawn_call *c)
{
    oltr_model_free(c->other);
}

/* ---- images */

typedef struct model_image {
    unsigned char *byte;
    size_t size;
} model_image;

static inline model_image image_of_model(const oltr_model *m)
{
    model_image image = {exactly(oltr_model_save_bound(m), 1), 0};
    assert_int_equal(oltr_model_save(m, image.byte, oltr_model_save_bound(m), &image.size),
                     OLTR_OK);
    return image;
}

static inline model_image image_of_store(oltr_store *s)
{
    model_image image = image_of_model(oltr_store_read(s));
    oltr_store_done(s);
    return image;
}

/* Frees both. */
static inline bool same_models(model_image a, model_image b)
{
    bool same = a.size == b.size && memcmp(a.byte, b.byte, a.size) == 0;
    free(a.byte);
    free(b.byte);
    return same;
}

/* ---- stores */

static inline oltr_store *must_open(const char *path, const oltr_store_options *options)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_store *s = oltr_store_open(path, options, &error);
    if (!s)
        fail_msg("%s", error.msg);
    return s;
}

static inline void must_close(oltr_store *s)
{
    oltr_error error = {OLTR_OK, ""};
    if (oltr_store_close(s, &error) != OLTR_OK)
        fail_msg("%s", error.msg);
}

static inline oltr_store_state state_of(oltr_store *s)
{
    oltr_store_state state;
    oltr_store_stat(s, &state);
    return state;
}

/* A lesson about two items, with an id when there is one. */
static inline oltr_lesson short_lesson(const char *id)
{
    static const oltr_name two[] = {{"first", 5}, {"second", 6}};
    static const double reward[] = {0, 1};
    return (oltr_lesson){.shown = {.n = 2, .name = two},
                         .reward = reward,
                         .id = {id, id ? (uint32_t)strlen(id) : 0}};
}

#endif
