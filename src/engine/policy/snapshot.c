/* snapshot.c - a policy as bytes: its settings, its prior, its sums, and of a few kinds derived
 * numbers.
 *
 * Little-endian, in this order:
 *   "OLTRSNAP"  u32 version  u32 zero  u64 length of the whole snapshot
 *   kind as text  u32 items  u32 dim  u64 rounds
 *   u32 number of parameters, each: name as text, f64 value
 *   u32 prior: 0 none, 1 shapes, 2 moments; then two arrays of f64 (items)
 *   u32 number of sums, each: name as text, u64 count, f64 (count)
 *   u32 number of derived arrays, each likewise; version 1 ends before it
 *   u64 CRC-64 of all before it
 * where a text is a u32 length and its bytes.
 *
 * Loading trusts no length and no value.  outline_of() walks the whole image before memory is
 * taken: every count must fit the bytes that are there.  The policy and one scratch of it must fit
 * the caller's bound.  The policy's own check then decides whether the sums are possible.  What is
 * derived is either read and completed by resume(), or made anew by refresh(): neither refuses a
 * policy because a solver stopped short of its tolerance; oltr_check() measures that.
 */
#include <float.h>

#include "engine/base/envelope.h"
#include "engine/base/file.h"
#include "engine/base/reads_prior.h"
#include "engine/policy/block.h"
#include "engine/policy/settings.h"
#include "engine/policy/sum_arrays.h"
#include "engine/posterior/item_prior.h"

static const envelope snapshot_envelope = {.magic = "OLTRSNAP",
                                           .newest = 2,
                                           .header = ENVELOPE_FRONT,
                                           .kind = "an oltr snapshot",
                                           .load = "load",
                                           .advice = "",
                                           .copy = "take an older copy"};
enum { LONGEST_TEXT = LONGEST_NAME + 1 };
enum { LOAD_MULTIPLE = 64 }; /* of the image's length, see oltr_load_options.most_bytes */

static void put_text(writer *w, const char *text)
{
    put_u32(w, (uint32_t)strlen(text));
    put_bytes(w, text, strlen(text));
}

static void put_settings(writer *w, const oltr_policy *policy, uint32_t n_items)
{
    const oltr_settings *s = policy->settings;
    put_text(w, s->info->name);
    put_u32(w, n_items);
    put_u32(w, s->dim);
    put_u64(w, policy->rounds);
    put_u32(w, s->info->n_params);
    for (uint32_t i = 0; i < s->info->n_params; i++) {
        put_text(w, s->info->params[i].name);
        put_f64s(w, &s->value[i], 1);
    }
    put_u32(w, s->prior.a ? 1 : s->prior.mean ? 2 : 0);
    if (prior_given(&s->prior)) {
        put_f64s(w, prior_first(&s->prior), n_items);
        put_f64s(w, prior_second(&s->prior), n_items);
    }
}

/* Feature rows are floats in memory and doubles here: one kind of number in the file.  A writer
 * that counts needs no numbers. */
static void put_sum(writer *w, const sum_array *sum)
{
    size_t pieces = w->at ? sum_pieces(sum) : 0;
    if (!w->at)
        put_f64s(w, NULL, sum->n);
    for (size_t j = 0; j < pieces; j++) {
        sum_piece piece = sum_piece_at(sum, pieces, j);
        put_f64s(w, piece.value, piece.n);
    }
    for (size_t i = 0; w->at && !sum->value && i < sum->n; i++) {
        double wide = (double)sum->single[i];
        put_f64s(w, &wide, 1);
    }
}

static void put_arrays(writer *w, const sum_array *array, uint32_t n)
{
    put_u32(w, n);
    for (uint32_t a = 0; a < n; a++) {
        put_text(w, array[a].name);
        put_u64(w, array[a].n);
        put_sum(w, &array[a]);
    }
}

/* With the first n_items items: all of them, or of a policy that is by_item fewer. */
static void put_all(writer *w, const oltr_policy *policy, uint32_t n_items, uint64_t length)
{
    const policy_ops *ops = policy->ops;
    sum_array array[MAX_SUMS];
    put_envelope_front(w, &snapshot_envelope, length);
    put_settings(w, policy, n_items);
    uint32_t n = ops->sums(policy_state(policy), array);
    for (uint32_t a = 0; ops->info.by_item && a < n; a++)
        array[a].n = n_items;
    put_arrays(w, array, n);
    put_arrays(w, array, ops->derived ? ops->derived(policy_state(policy), array) : 0);
}

size_t policy_save_first_bound(const oltr_policy *policy, uint32_t n)
{
    writer count = {NULL, 0, 0};
    put_all(&count, policy, n, 0);
    return count.used + ENVELOPE_END;
}

oltr_status policy_save_first(const oltr_policy *policy, uint32_t n, void *buffer, size_t capacity,
                              size_t *written)
{
    size_t length = policy_save_first_bound(policy, n);
    if (capacity < length)
        return OLTR_EBUFFER;
    writer w = {buffer, capacity, 0};
    put_all(&w, policy, n, length);
    put_u64(&w, crc64(buffer, w.used));
    *written = w.used;
    return OLTR_OK;
}

size_t oltr_save_bound(const oltr_policy *policy)
{
    return policy ? policy_save_first_bound(policy, policy->n_items) : 0;
}

oltr_status oltr_save(const oltr_policy *policy, void *buffer, size_t capacity, size_t *written)
{
    if (!policy || !buffer || !written)
        return OLTR_EINVAL;
    return policy_save_first(policy, policy->n_items, buffer, capacity, written);
}

/* ---- loading */

static bool get_text(reader *r, char text[LONGEST_TEXT])
{
    uint32_t n = get_u32(r);
    if (n >= LONGEST_TEXT) {
        r->failed = true;
        return false;
    }
    get_bytes(r, text, n);
    text[n] = 0;
    return !r->failed && strlen(text) == n;
}

static oltr_status contradicts(oltr_error *error, const char *what)
{
    return set_error(error, OLTR_ECORRUPT,
                     "the snapshot's checksum is right, but its %s is not valid in this oltr: it "
                     "was written by another version or program",
                     what);
}

/* ---- the outline: where everything is, found without taking memory */

/* Arrays of numbers: sums, or derived ones. */
typedef struct span {
    reader at; /* at the first of them */
    uint32_t arrays;
    uint64_t numbers; /* in all of them */
} span;

typedef struct outline {
    char kind[LONGEST_TEXT];
    uint32_t version, n_items, dim, n_params, form; /* form of the prior */
    uint64_t rounds;
    reader params, prior; /* at the first of them */
    span sums, derived;
} outline;

static void skip(reader *r, uint64_t n)
{
    if (r->failed || n > r->left) {
        r->failed = true;
        return;
    }
    r->at += n;
    r->left -= (size_t)n;
}

static void skip_f64s(reader *r, uint64_t n)
{
    if (n > r->left / sizeof(double))
        r->failed = true;
    else
        skip(r, n * sizeof(double));
}

static bool walk_params(reader *r, outline *o)
{
    char name[LONGEST_TEXT];
    o->n_params = get_u32(r);
    o->params = *r;
    for (uint32_t i = 0; i < o->n_params && !r->failed; i++)
        if (get_text(r, name))
            skip_f64s(r, 1);
        else
            r->failed = true;
    return !r->failed && o->n_params <= OLTR_MAX_PARAMS;
}

static bool walk_prior(reader *r, outline *o)
{
    o->form = get_u32(r);
    o->prior = *r;
    if (o->form != 0)
        skip_f64s(r, 2 * (uint64_t)o->n_items);
    return !r->failed && o->form <= 2;
}

static bool walk_arrays(reader *r, span *s)
{
    char name[LONGEST_TEXT];
    s->arrays = get_u32(r);
    s->at = *r;
    s->numbers = 0;
    for (uint32_t a = 0; a < s->arrays && !r->failed; a++) {
        uint64_t n = get_text(r, name) ? get_u64(r) : UINT64_MAX;
        skip_f64s(r, n);
        s->numbers += n;
    }
    return !r->failed && s->arrays <= MAX_SUMS;
}

/* Walks the body of an image of this version to its end. */
static oltr_status outline_of(reader r, uint32_t version, outline *o, oltr_error *error)
{
    *o = (outline){.version = version};
    if (!get_text(&r, o->kind))
        return contradicts(error, "kind");
    o->n_items = get_u32(&r);
    o->dim = get_u32(&r);
    o->rounds = get_u64(&r);
    if (r.failed || o->rounds > MOST_ROUNDS)
        return contradicts(error, "number of rounds");
    if (!walk_params(&r, o))
        return contradicts(error, "list of parameters");
    if (!walk_prior(&r, o))
        return contradicts(error, "prior");
    if (!walk_arrays(&r, &o->sums))
        return contradicts(error, "list of sums");
    if (version > 1 && !walk_arrays(&r, &o->derived))
        return contradicts(error, "list of derived numbers");
    return r.left ? contradicts(error, "length") : OLTR_OK;
}

/* ---- what is in it */

static oltr_status get_params(const outline *o, oltr_settings *settings, oltr_error *error)
{
    char name[LONGEST_TEXT];
    reader r = o->params;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < o->n_params; i++) {
        double value;
        get_text(&r, name);
        get_f64s(&r, &value, 1);
        uint32_t at = param_named(settings->info, name);
        if (at == settings->info->n_params || seen >> at & 1)
            return contradicts(error, "list of parameters");
        if (!param_fits(&settings->info->params[at], value))
            return contradicts(error, "value of a parameter");
        seen |= 1u << at;
        settings->value[at] = value;
    }
    return OLTR_OK;
}

/* A number that no float holds becomes NaN, which the policy's check refuses. */
static void get_sum(reader *r, const sum_array *sum)
{
    size_t pieces = sum_pieces(sum);
    for (size_t j = 0; j < pieces; j++) {
        sum_piece piece = sum_piece_at(sum, pieces, j);
        get_f64s(r, piece.value, piece.n);
    }
    for (size_t i = 0; !sum->value && i < sum->n; i++) {
        double wide;
        get_f64s(r, &wide, 1);
        sum->single[i] = fabs(wide) <= FLT_MAX ? (float)wide : NAN;
    }
}

/* Reads the arrays that `list` names into the state, all of them or at least the first `least`.
 * One may hold the length of the next. */
static oltr_status get_arrays(const span *s, uint32_t (*list)(const void *, sum_array *),
                              uint32_t least, void *state, const char *what, oltr_error *error)
{
    sum_array array[MAX_SUMS];
    char name[LONGEST_TEXT];
    reader r = s->at;
    uint32_t n = list(state, array);
    if (s->arrays > n || s->arrays < (least ? least : n))
        return contradicts(error, what);
    for (uint32_t a = 0; a < s->arrays; a++) {
        list(state, array);
        if (!get_text(&r, name) || strcmp(name, array[a].name) != 0 || get_u64(&r) != array[a].n)
            return contradicts(error, what);
        get_sum(&r, &array[a]);
    }
    return r.failed ? contradicts(error, what) : OLTR_OK;
}

/* The settings without the prior.  `custom`: the policy that it must be, or NULL for one of the
 * catalogue. */
static oltr_status get_settings(const outline *o, const oltr_policy_ops *custom,
                                oltr_settings *settings, oltr_error *error)
{
    oltr_status status = custom ? oltr_settings_init_custom(settings, custom, o->n_items, error)
                                : oltr_settings_init(settings, o->kind, o->n_items, error);
    if (status == OLTR_EINVAL)
        return status;
    if (status != OLTR_OK || strcmp(settings->info->name, o->kind) != 0)
        return contradicts(error, "kind or number of items");
    settings->dim = o->dim;
    status = get_params(o, settings, error);
    return status == OLTR_OK ? settings_check(settings, error) : status;
}

/* Format 1 kept a prior that was given to a policy which does not read it; it is dropped. */
static oltr_status drop_unread_prior(outline *o, const oltr_settings *settings, oltr_error *error)
{
    if (o->form == 0 || prior_is_taken(settings))
        return OLTR_OK;
    o->form = 0;
    return o->version == 1 ? OLTR_OK : contradicts(error, "prior");
}

/* ---- memory */

/* Checks that the image holds the numbers that so many items or features must have, and that policy
 * and scratch fit the bound. */
static oltr_status check_claim(const outline *o, const oltr_settings *settings, size_t most,
                               oltr_error *error)
{
    const policy_ops *ops = policy_ops_of(settings->info);
    if (ops->min_saved_numbers && o->sums.numbers < ops->min_saved_numbers(settings))
        return set_error(error, OLTR_ECORRUPT,
                         "the snapshot's checksum is right, but it holds %zu sums, fewer than %s "
                         "with %u items and %u features has: it was written by another version or "
                         "program",
                         (size_t)o->sums.numbers, o->kind, o->n_items, o->dim);
    size_t marks, own, prior = o->form ? 2 * sizeof(double) * (size_t)o->n_items : 0;
    size_t block = oltr_policy_bytes(settings, error);
    size_t scratch =
        scratch_block_bytes(settings->n_items, ops->scratch_bytes(settings), &marks, &own);
    if (!block)
        return OLTR_EITEM;
    if (!scratch || block > most || scratch > most - block || 2 * prior > most - block - scratch)
        return set_error(error, OLTR_ENOMEM,
                         "this %s with %u items and %u features takes %zu bytes and %zu for each "
                         "ranking thread, more than the %zu allowed to a snapshot of its length: "
                         "raise most_bytes of oltr_load_with() if you trust it",
                         o->kind, o->n_items, o->dim, block, scratch, most);
    return OLTR_OK;
}

/* A new policy with the settings and the prior of the image. */
static oltr_policy *make_policy(const outline *o, oltr_settings *settings, oltr_error *error)
{
    size_t n = o->n_items, bytes = o->form ? 2 * n * sizeof(double) : 0;
    double *numbers = bytes ? memory_take(settings->memory, bytes) : NULL;
    reader r = o->prior;
    if (bytes && !numbers) {
        set_error(error, OLTR_ENOMEM, "no memory for the snapshot's prior");
        return NULL;
    }
    if (bytes)
        get_f64s(&r, numbers, 2 * n);
    if (o->form)
        settings->prior = prior_at(&(oltr_prior){.a = o->form == 1 ? numbers : NULL}, numbers, n);
    oltr_policy *policy = oltr_policy_new(settings, error);
    memory_give(settings->memory, numbers, bytes);
    return policy;
}

/* Sums, then what is derived: read where the image has it, else made anew. */
static oltr_status fill(oltr_policy *policy, const outline *o, oltr_error *error)
{
    const policy_ops *ops = policy->ops;
    void *state = policy_state(policy);
    policy->rounds = o->rounds;
    uint32_t least = o->sums.arrays == ops->least_sums ? ops->least_sums : 0; /* those or all */
    oltr_status status = get_arrays(&o->sums, ops->sums, least, state, "list of sums", error);
    if (status == OLTR_OK)
        status = policy_check_sums(policy, error);
    if (status != OLTR_OK)
        return status;
    if (!o->derived.arrays) {
        ops->refresh(state, o->rounds + 1);
        return OLTR_OK;
    }
    if (!ops->derived)
        return contradicts(error, "list of derived numbers");
    status = get_arrays(&o->derived, ops->derived, ops->least_derived, state,
                        "list of derived numbers", error);
    if (status != OLTR_OK)
        return status;
    oltr_error said = {OLTR_OK, ""};
    return pass_error(ops->resume(state, o->rounds + 1, &said), &said, error);
}

static size_t most_bytes(const oltr_load_options *options, size_t size)
{
    size_t multiple = size <= SIZE_MAX / LOAD_MULTIPLE ? LOAD_MULTIPLE * size : SIZE_MAX;
    if (options->most_bytes)
        return options->most_bytes;
    return multiple > OLTR_LOAD_BYTES ? multiple : OLTR_LOAD_BYTES;
}

static oltr_status check_options(const oltr_load_options *options, oltr_error *error)
{
    if (size_check("load options", options->size, sizeof *options, error) != OLTR_OK ||
        reserved_check("load options", options->reserved32, options->reserved,
                       sizeof options->reserved, error) != OLTR_OK)
        return OLTR_EINVAL;
    if (options->custom_bytes && !options->custom)
        return set_error(error, OLTR_EINVAL, "custom_bytes is %zu, but there is nothing at custom",
                         options->custom_bytes);
    if (!memory_is_whole(options->memory))
        return set_error(error, OLTR_EINVAL, "a memory hook needs both take and give");
    return OLTR_OK;
}

static oltr_policy *load(const void *buffer, size_t size, const oltr_load_options *options,
                         oltr_error *error)
{
    outline o;
    oltr_settings settings;
    opened_image image;
    if (envelope_open(&snapshot_envelope, buffer, size, "this", "the snapshot", &image, error) !=
        OLTR_OK)
        return NULL;
    if (!image.valid) {
        contradicts(error, "header");
        return NULL;
    }
    if (outline_of(image.content, image.format, &o, error) != OLTR_OK ||
        get_settings(&o, options->ops, &settings, error) != OLTR_OK ||
        drop_unread_prior(&o, &settings, error) != OLTR_OK)
        return NULL;
    settings.memory = options->memory;
    settings.custom = options->custom;
    settings.custom_bytes = options->custom_bytes;
    if (check_claim(&o, &settings, most_bytes(options, size), error) != OLTR_OK)
        return NULL;
    oltr_policy *policy = make_policy(&o, &settings, error);
    if (policy && fill(policy, &o, error) != OLTR_OK) {
        oltr_policy_free(policy);
        return NULL;
    }
    return policy;
}

oltr_policy *oltr_load_with(const void *buffer, size_t size, const oltr_load_options *options,
                            oltr_error *error)
{
    static const oltr_load_options defaults = {.size = sizeof defaults};
    if (!buffer) {
        set_error(error, OLTR_EINVAL, "there is no snapshot to load");
        return NULL;
    }
    if (options && check_options(options, error) != OLTR_OK)
        return NULL;
    return load(buffer, size, options ? options : &defaults, error);
}

oltr_policy *oltr_load(const void *buffer, size_t size, oltr_error *error)
{
    return oltr_load_with(buffer, size, NULL, error);
}

oltr_policy *oltr_load_custom(const oltr_policy_ops *ops, const void *buffer, size_t size,
                              oltr_error *error)
{
    if (!ops) {
        set_error(error, OLTR_EINVAL, "the operations of the policy are needed to load it");
        return NULL;
    }
    return oltr_load_with(
        buffer, size, &(oltr_load_options){.size = sizeof(oltr_load_options), .ops = ops}, error);
}

/* ---- files */

oltr_status oltr_save_file(const oltr_policy *policy, const char *path, oltr_error *error)
{
    if (!policy || !path)
        return set_error(error, OLTR_EINVAL,
                         "a policy and the path of a file are needed to save it");
    size_t size = oltr_save_bound(policy), written = 0;
    unsigned char *image = memory_take(policy->settings->memory, size);
    if (!image)
        return set_error(error, OLTR_ENOMEM, "no memory for the %zu bytes of the snapshot", size);
    oltr_status status = oltr_save(policy, image, size, &written);
    status = status == OLTR_OK ? bytes_write_durably(path, image, written, error)
                               : set_error(error, status, "%s", oltr_strerror(status));
    memory_give(policy->settings->memory, image, size);
    return status;
}

/* Features are 4 bytes in memory and 8 in a snapshot, and little else is larger there: a file of
 * more than four times most_bytes holds no policy that would be taken, and is not read. */
static size_t longest_file(const oltr_load_options *options)
{
    size_t most = options && options->most_bytes ? options->most_bytes : SIZE_MAX;
    return most < SIZE_MAX / 16 ? 4 * most : SIZE_MAX / 4;
}

oltr_policy *oltr_load_file(const char *path, const oltr_load_options *options, oltr_error *error)
{
    const oltr_memory *memory = options ? options->memory : NULL;
    unsigned char *image = NULL;
    size_t size = 0, taken = 0;
    if (!path) {
        set_error(error, OLTR_EINVAL, "the path of a snapshot is needed to load it");
        return NULL;
    }
    if (options && check_options(options, error) != OLTR_OK)
        return NULL;
    if (bytes_read_into(path, longest_file(options), memory, &image, &size, &taken, error) !=
        OLTR_OK) {
        if (size > longest_file(options))
            set_error(error, OLTR_ENOMEM,
                      "%s has %zu bytes, and its policy would take more than is allowed: raise "
                      "most_bytes of the load options if you trust it",
                      path, size);
        return NULL;
    }
    oltr_policy *policy = oltr_load_with(image, size, options, error);
    memory_give(memory, image, taken);
    return policy;
}
