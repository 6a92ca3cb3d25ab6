/* record.c - see record.h.
 *
 * The decoder trusts no number: counts are compared with the bytes that are left before memory is
 * taken, a small multiple of the body.  What it passes on is judged by the model like any other
 * call.
 */
#include "engine/store/record.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/layout.h"
#include "engine/kernels/table.h"

/* ---- writing */

/* Bytes of a name in a record; 0: it cannot be written. */
static uint64_t name_bound(oltr_name name)
{
    return name.size <= OLTR_LONGEST_NAME && (name.bytes || name.size == 0) ? 4 + name.size : 0;
}

/* Of n names; 0: one of them cannot be written, or there are none. */
static uint64_t names_bound(const oltr_name *name, uint32_t n)
{
    uint64_t bytes = 0, one = 1;
    for (uint32_t i = 0; name && i < n && one; i++)
        bytes += one = name_bound(name[i]);
    return one ? bytes : 0;
}

static uint64_t lesson_bound(const oltr_lesson *l, uint32_t dim)
{
    enum { FIXED = 4 * 4 + 4, A_SLOT = 8 + 8 + 1 }; /* reward, weight, mask */
    const oltr_list *list = &l->shown;
    uint64_t id = name_bound(l->id), shown = 0;
    if (list->n < 1 || list->n > OLTR_MOST_SHOWN || !l->reward ||
        (l->examine == OLTR_EXAMINE_MASK && !l->examined))
        return 0;
    if (!list->x)
        shown = names_bound(list->name, list->n);
    else if (!list->name && (list->stride == 0 || list->stride >= dim))
        shown = 1 + (uint64_t)list->n * dim * sizeof(float);
    return id && shown ? FIXED + id + shown + list->n * (uint64_t)A_SLOT : 0;
}

uint64_t record_bound(const call *c)
{
    const uint64_t fixed = RECORD_HEAD + 4 + 16;
    uint64_t rest;
    switch (c->kind) {
    case CALL_LEARN:
        rest = lesson_bound(&c->lesson, c->dim);
        break;
    case CALL_PRIOR:
    case CALL_REMOVE:
    case CALL_RESET:
        rest = c->n == 0 ? 1 : names_bound(c->name, c->n);
        if (c->kind == CALL_PRIOR && rest)
            rest = c->pair || c->n == 0 ? rest + 16 * (uint64_t)c->n : 0;
        break;
    default:
        rest = name_bound(c->id);
        rest += rest && c->kind == CALL_MERGE ? c->image_size : 0;
    }
    return rest ? fixed + rest : 0;
}

static void put_name(writer *w, oltr_name name)
{
    put_u32(w, name.size);
    put_bytes(w, name.bytes, name.size);
}

/* With one comparison with the room for all of them: they are most of a record. */
static void put_names(writer *w, const oltr_name *name, uint32_t n)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += 4 + (size_t)name[i].size;
    unsigned char *place = put_place(w, bytes);
    for (uint32_t i = 0; place && i < n; i++) {
        put_u32(&(writer){place, 4, 0}, name[i].size);
        copy_bytes(place + 4, name[i].bytes, name[i].size);
        place += 4 + (size_t)name[i].size;
    }
}

/* To the bit: a reward of -0 is no click. */
static bool are_clicks(const double *reward, uint32_t n)
{
    static const double click[2] = {0, 1};
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(&reward[i], &click[reward[i] > 0], sizeof *reward) != 0)
            return false;
    return true;
}

static uint32_t form_of(const oltr_lesson *l)
{
    return (l->shown.x ? FORM_ROWS : 0u) | (are_clicks(l->reward, l->shown.n) ? FORM_CLICKS : 0u) |
           (l->weight ? FORM_WEIGHTS : 0u) | (l->examine == OLTR_EXAMINE_MASK ? FORM_MASK : 0u);
}

static void put_rewards(writer *w, const oltr_lesson *l, bool clicks)
{
    unsigned char byte[OLTR_MOST_SHOWN];
    if (!clicks) {
        put_f64s(w, l->reward, l->shown.n);
        return;
    }
    for (uint32_t i = 0; i < l->shown.n; i++)
        byte[i] = l->reward[i] > 0;
    put_bytes(w, byte, l->shown.n);
}

static void put_lesson(writer *w, const oltr_lesson *l, uint32_t dim)
{
    const oltr_list *list = &l->shown;
    uint32_t form = form_of(l);
    put_name(w, l->id);
    put_u32(w, form);
    put_u32(w, l->examine);
    put_u32(w, l->depth);
    put_u32(w, list->n);
    if (form & FORM_ROWS) {
        put_u32(w, dim);
        for (uint32_t i = 0; i < list->n; i++)
            put_f32s(w, list->x + (size_t)i * (list->stride ? list->stride : dim), dim);
    } else
        put_names(w, list->name, list->n);
    put_rewards(w, l, form & FORM_CLICKS);
    if (form & FORM_WEIGHTS)
        put_f64s(w, l->weight, list->n);
    if (form & FORM_MASK)
        put_bytes(w, l->examined, list->n);
}

static void put_body(writer *w, const call *c)
{
    put_u32(w, c->kind);
    switch (c->kind) {
    case CALL_BASE:
        put_u64(w, c->image_size);
        put_u32(w, c->image_crc);
        break;
    case CALL_LEARN:
        put_lesson(w, &c->lesson, c->dim);
        break;
    case CALL_TRIM:
        put_u64(w, c->idle);
        break;
    case CALL_FORGET:
        put_name(w, c->id);
        put_f64s(w, &c->keep, 1);
        break;
    case CALL_MERGE:
        put_name(w, c->id);
        put_u32(w, (uint32_t)c->image_size);
        put_bytes(w, c->image, (size_t)c->image_size);
        break;
    default: /* prior, remove, reset */
        put_u32(w, c->n);
        put_names(w, c->name, c->n);
        if (c->kind == CALL_PRIOR)
            put_f64s(w, c->pair, 2 * (size_t)c->n);
    }
}

void put_record(writer *w, uint64_t number, const call *c)
{
    size_t start = w->used;
    put_u64(w, 0); /* size and checksum, below */
    put_u64(w, number);
    put_body(w, c);
    if (!w->at || w->used > w->capacity)
        return;
    size_t rest = w->used - start - 8;
    writer head = {w->at + start, 8, 0};
    put_u32(&head, (uint32_t)(rest - 8));
    put_u32(&head, KERNEL(checksum32)(w->at + start + 8, rest));
}

/* ---- reading */

bool record_fits(const unsigned char *bytes, size_t left, record *out)
{
    reader r = {bytes, left, false};
    out->size = get_u32(&r);
    (void)get_u32(&r);
    out->number = get_u64(&r);
    out->body = r.at;
    return !r.failed && out->size >= LEAST_BODY && out->size <= r.left;
}

bool record_is_sound(const record *found)
{
    reader r = {found->body - RECORD_HEAD + 4, 4, false};
    return get_u32(&r) == KERNEL(checksum32)(found->body - 8, 8 + (size_t)found->size);
}

void call_room_free(call_room *room)
{
    free(room->block);
    *room = (call_room){NULL, 0};
}

/* The planned block, or NULL; what it held before is lost. */
static unsigned char *room_for(call_room *room, const layout *plan)
{
    size_t need = layout_bytes(plan) + 1;
    if (plan->overflow)
        return NULL;
    if (need > room->bytes) {
        call_room_free(room);
        room->block = malloc(need);
        room->bytes = room->block ? need : 0;
    }
    return room->block;
}

static oltr_name get_name(reader *r)
{
    uint32_t size = get_u32(r);
    return (oltr_name){get_place(r, size), size};
}

/* How many names follow: each has at least the four bytes of its length. */
static uint32_t get_count(reader *r)
{
    uint32_t n = get_u32(r);
    if (n > r->left / 4)
        r->failed = true;
    return r->failed ? 0 : n;
}

/* Names, and what follows them: `pairs` pairs of numbers. */
static bool get_items(reader *r, bool pairs, call_room *room, call *out)
{
    layout plan = {0};
    out->n = get_count(r);
    size_t names = layout_take(&plan, out->n, sizeof(oltr_name)),
           numbers = layout_take(&plan, pairs ? 2 * (size_t)out->n : 0, sizeof(double));
    unsigned char *block = room_for(room, &plan);
    if (!block)
        return false;
    oltr_name *name = (void *)(block + names);
    for (uint32_t i = 0; i < out->n; i++)
        name[i] = get_name(r);
    out->name = name;
    if (pairs) {
        get_f64s(r, doubles_at(block, numbers), 2 * (size_t)out->n);
        out->pair = doubles_at(block, numbers);
    }
    return true;
}

/* The list of a lesson: rows of features, or names. */
static void get_list(reader *r, oltr_list *list, oltr_name *name, float *x, uint32_t dim)
{
    if (x) {
        get_f32s(r, x, (size_t)list->n * dim);
        list->x = x;
        list->stride = dim;
        return;
    }
    for (uint32_t i = 0; i < list->n; i++)
        name[i] = get_name(r);
    list->name = name;
}

static void get_rewards(reader *r, double *reward, uint32_t n, bool clicks)
{
    const unsigned char *byte = clicks ? get_place(r, n) : NULL;
    if (!clicks)
        get_f64s(r, reward, n);
    for (uint32_t i = 0; byte && i < n; i++) {
        reward[i] = byte[i];
        r->failed |= byte[i] > 1;
    }
}

static bool get_lesson(reader *r, uint32_t dim, call_room *room, call *out)
{
    oltr_lesson *l = &out->lesson;
    layout plan = {0};
    l->id = get_name(r);
    uint32_t form = get_u32(r);
    l->examine = get_u32(r);
    l->depth = get_u32(r);
    uint32_t n = l->shown.n = get_u32(r);
    bool rows = form & FORM_ROWS;
    if (form >= FORM_BEYOND || n > OLTR_MOST_SHOWN || (rows && get_u32(r) != dim) ||
        (rows && (size_t)n * dim > r->left / sizeof(float)))
        r->failed = true;
    if (r->failed)
        return true;
    size_t names = layout_take(&plan, rows ? 0 : n, sizeof(oltr_name)),
           x = layout_take(&plan, rows ? (size_t)n * dim : 0, sizeof(float)),
           reward = layout_take(&plan, n, sizeof(double)),
           weight = layout_take(&plan, n, sizeof(double));
    unsigned char *block = room_for(room, &plan);
    if (!block)
        return false;
    get_list(r, &l->shown, (void *)(block + names), rows ? floats_at(block, x) : NULL, dim);
    get_rewards(r, doubles_at(block, reward), n, form & FORM_CLICKS);
    l->reward = doubles_at(block, reward);
    if (form & FORM_WEIGHTS) {
        get_f64s(r, doubles_at(block, weight), n);
        l->weight = doubles_at(block, weight);
    }
    if (form & FORM_MASK)
        l->examined = get_place(r, n);
    return true;
}

/* What follows the kind; false when there is no memory. */
static bool get_rest(reader *r, uint32_t dim, call_room *room, call *out)
{
    switch (out->kind) {
    case CALL_BASE:
        out->image_size = get_u64(r);
        out->image_crc = get_u32(r);
        return true;
    case CALL_LEARN:
        out->dim = dim;
        return get_lesson(r, dim, room, out);
    case CALL_TRIM:
        out->idle = get_u64(r);
        return true;
    case CALL_FORGET:
        out->id = get_name(r);
        get_f64s(r, &out->keep, 1);
        return true;
    case CALL_MERGE:
        out->id = get_name(r);
        out->image_size = get_u32(r);
        out->image = get_place(r, (size_t)out->image_size);
        return true;
    default: /* prior, remove, reset */
        return get_items(r, out->kind == CALL_PRIOR, room, out);
    }
}

oltr_status get_call(const record *found, uint32_t dim, call_room *room, call *out,
                     oltr_error *error)
{
    reader r = {found->body, found->size, false};
    *out = (call){.kind = get_u32(&r)};
    if (out->kind >= CALL_BEYOND)
        return set_error(error, OLTR_EVERSION,
                         "it is a call of kind %u, of a newer oltr: open the store with that",
                         out->kind);
    if (out->kind < CALL_BASE)
        return set_error(error, OLTR_ECORRUPT, "it is no call");
    if (!get_rest(&r, dim, room, out))
        return set_error(error, OLTR_ENOMEM, "no memory for a call of %u bytes", found->size);
    if (r.failed || r.left)
        return set_error(error, OLTR_ECORRUPT, "its checksum is right, but its lengths are not");
    return OLTR_OK;
}

/* ---- doing */

static oltr_status merge_image(oltr_model *model, const call *c, const oltr_load_options *options,
                               int *applied, oltr_error *error)
{
    oltr_model *from = oltr_model_load(c->image, (size_t)c->image_size, options, NULL, error);
    if (!from)
        return error->code;
    oltr_status status = oltr_model_merge(model, from, c->id, applied, error);
    oltr_model_free(from);
    return status;
}

oltr_status do_call(oltr_model *model, const call *c, const oltr_load_options *options,
                    uint32_t *changed, oltr_error *error)
{
    int applied = 0;
    oltr_status status;
    *changed = 0;
    switch (c->kind) {
    case CALL_LEARN:
        status = oltr_model_learn(model, &c->lesson, &applied, error);
        break;
    case CALL_PRIOR:
        applied = c->n > 0;
        status = oltr_model_prior(model, c->name, c->pair, c->n, error);
        break;
    case CALL_REMOVE:
        return oltr_model_remove(model, c->name, c->n, changed, error);
    case CALL_RESET:
        return oltr_model_reset(model, c->name, c->n, changed, error);
    case CALL_TRIM:
        return oltr_model_trim(model, c->idle, changed, error);
    case CALL_FORGET:
        status = oltr_model_forget(model, c->keep, c->id, &applied, error);
        break;
    default: /* merge */
        status = c->from ? oltr_model_merge(model, c->from, c->id, &applied, error)
                         : merge_image(model, c, options, &applied, error);
    }
    *changed = status == OLTR_OK && applied;
    return status;
}
