/* model_image.c - a model as bytes: its options, names, ids, and the snapshot of its policy.
 *
 * Little-endian, without padding:
 *   "OLTRMODL"  u32 version  u32 zero  u64 length of the whole image
 *   u32 most_items  u32 window  u32 examine  u32 priors: 0 or 1, then f64 (2) the default prior
 *   u32 items, each: u32 size and bytes of its name; then u64 (items) last lessons
 *   u32 ids, each: u64 (2), oldest first
 *   u64 length of the snapshot, and the snapshot (policy/snapshot.c), of max(items, 1) items
 *   u64 CRC-64 of all before it
 *
 * The room of the policy, the tables and what is derived are not in it: two models that were given
 * the same calls have the same image.
 *
 * Loading trusts no length: outline_of() walks the whole image before memory is taken.
 */
#include "engine/base/envelope.h"
#include "engine/model/model_parts.h"
#include "engine/policy/settings.h"

static const envelope model_envelope = {.magic = "OLTRMODL",
                                        .newest = 1,
                                        .header = ENVELOPE_FRONT,
                                        .kind = "an oltr model",
                                        .load = "load",
                                        .advice = "",
                                        .copy = "take an older copy"};

/* ---- saving */

/* A model by item without items saves the one that stands for unknown ones. */
static uint32_t saved_items(const oltr_model *m)
{
    if (is_contextual(m))
        return m->settings.policy.n_items;
    return m->names.n ? m->names.n : 1;
}

static void put_options(writer *w, const oltr_model *m)
{
    put_u32(w, m->settings.most_items);
    put_u32(w, m->settings.window);
    put_u32(w, m->settings.examine);
    put_u32(w, has_priors(m));
    if (has_priors(m))
        put_f64s(w, m->settings.prior, 2);
}

static void put_names(writer *w, const oltr_model *m)
{
    put_u32(w, m->names.n);
    for (uint32_t i = 0; i < m->names.n; i++) {
        oltr_name name = names_at(&m->names, i);
        put_u32(w, name.size);
        put_bytes(w, name.bytes, name.size);
    }
    for (uint32_t i = 0; i < m->names.n; i++)
        put_u64(w, m->names.last[i]);
}

static void put_ids(writer *w, const oltr_model *m)
{
    put_u32(w, m->ids.n);
    for (uint32_t i = 0; i < m->ids.n; i++) {
        hash128 id = ids_at(&m->ids, i);
        put_u64(w, id.word[0]);
        put_u64(w, id.word[1]);
    }
}

/* Everything in front of the snapshot. */
static void put_front(writer *w, const oltr_model *m, uint64_t length, uint64_t snapshot)
{
    put_envelope_front(w, &model_envelope, length);
    put_options(w, m);
    put_names(w, m);
    put_ids(w, m);
    put_u64(w, snapshot);
}

size_t oltr_model_save_bound(const oltr_model *model)
{
    writer count = {NULL, 0, 0};
    if (!model)
        return 0;
    put_front(&count, model, 0, 0);
    return count.used + policy_save_first_bound(model->policy, saved_items(model)) + ENVELOPE_END;
}

oltr_status oltr_model_save(const oltr_model *model, void *buffer, size_t capacity, size_t *written)
{
    if (!model || !buffer || !written)
        return OLTR_EINVAL;
    size_t length = oltr_model_save_bound(model), snapshot;
    if (capacity < length)
        return OLTR_EBUFFER;
    writer w = {buffer, capacity, 0};
    put_front(&w, model, length, policy_save_first_bound(model->policy, saved_items(model)));
    oltr_status status = policy_save_first(model->policy, saved_items(model), w.at + w.used,
                                           length - w.used - ENVELOPE_END, &snapshot);
    if (status != OLTR_OK)
        return status;
    w.used += snapshot;
    put_u64(&w, crc64(buffer, w.used));
    *written = w.used;
    return OLTR_OK;
}

/* ---- loading */

typedef struct outline {
    uint32_t most_items, window, examine, priors, n_items, n_ids;
    double prior[2];
    reader names, last, ids; /* at the first of them */
    const unsigned char *snapshot;
    size_t snapshot_size;
} outline;

static oltr_status contradicts(oltr_error *error, const char *what)
{
    return set_error(error, OLTR_ECORRUPT,
                     "the checksum of the model is right, but its %s is not valid in this oltr: it "
                     "was written by another version or program",
                     what);
}

static void skip(reader *r, uint64_t n)
{
    if (r->failed || n > r->left) {
        r->failed = true;
        return;
    }
    r->at += n;
    r->left -= (size_t)n;
}

static bool walk_names(reader *r, outline *o)
{
    o->n_items = get_u32(r);
    o->names = *r;
    for (uint32_t i = 0; i < o->n_items && !r->failed; i++) {
        uint32_t size = get_u32(r);
        if (size < 1 || size > OLTR_LONGEST_NAME)
            return false;
        skip(r, size);
    }
    o->last = *r;
    skip(r, 8 * (uint64_t)o->n_items);
    return !r->failed && o->n_items <= o->most_items;
}

static bool walk_ids(reader *r, outline *o)
{
    o->n_ids = get_u32(r);
    o->ids = *r;
    skip(r, 16 * (uint64_t)o->n_ids);
    return !r->failed && o->n_ids <= o->window;
}

static oltr_status outline_of(reader r, outline *o, oltr_error *error)
{
    *o = (outline){.most_items = get_u32(&r)};
    o->window = get_u32(&r);
    o->examine = get_u32(&r);
    o->priors = get_u32(&r);
    o->prior[0] = o->prior[1] = NAN;
    if (o->priors)
        get_f64s(&r, o->prior, 2);
    if (r.failed || o->priors > 1 || (o->priors && isnan(o->prior[0])))
        return contradicts(error, "default prior");
    if (!walk_names(&r, o))
        return contradicts(error, "list of names");
    if (!walk_ids(&r, o))
        return contradicts(error, "list of ids");
    uint64_t size = get_u64(&r);
    if (r.failed || size != r.left)
        return contradicts(error, "length");
    o->snapshot = r.at;
    o->snapshot_size = r.left;
    return OLTR_OK;
}

static bool get_names(const outline *o, oltr_model *m)
{
    reader r = o->names, last = o->last;
    for (uint32_t i = 0; i < o->n_items; i++) {
        oltr_name name = {NULL, get_u32(&r)};
        name.bytes = r.at;
        skip(&r, name.size);
        if (names_add(&m->names, name) != i)
            return false; /* a name twice */
        m->names.last[i] = get_u64(&last);
        if (m->names.last[i] > oltr_model_lessons(m))
            return false;
    }
    return true;
}

static bool get_ids(const outline *o, oltr_model *m)
{
    reader r = o->ids;
    for (uint32_t i = 0; i < o->n_ids; i++) {
        hash128 id = {{get_u64(&r), 0}};
        id.word[1] = get_u64(&r);
        if (ids_has(&m->ids, id))
            return false;
        ids_add(&m->ids, id);
    }
    return true;
}

/* Whether the snapshot can be that of a model with these options and so many items. */
static oltr_status check_policy(const oltr_policy *policy, const outline *o, oltr_error *error)
{
    const oltr_settings *s = oltr_policy_settings(policy);
    bool given = s->prior.a || s->prior.mean;
    if (given != (o->priors != 0) || (given && !s->info->takes_moments != !s->prior.mean))
        return contradicts(error, "prior");
    uint32_t expected = s->info->contextual ? s->n_items : o->n_items ? o->n_items : 1;
    if (s->n_items != expected || (s->info->contextual && o->n_items))
        return contradicts(error, "number of items");
    return OLTR_OK;
}

static oltr_status read_settings(const oltr_policy *policy, const outline *o,
                                 const uint64_t *name_key, oltr_model_settings *settings,
                                 oltr_error *error)
{
    const oltr_settings *s = oltr_policy_settings(policy);
    oltr_status status = oltr_model_settings_init(settings, s->info->name, error);
    if (status != OLTR_OK)
        return status;
    memcpy(settings->policy.value, s->value, sizeof settings->policy.value);
    settings->policy.dim = s->dim;
    settings->policy.n_items = s->n_items;
    settings->most_items = o->most_items;
    settings->window = o->window;
    settings->examine = o->examine;
    memcpy(settings->prior, o->prior, sizeof settings->prior);
    if (name_key)
        memcpy(settings->name_key, name_key, sizeof settings->name_key);
    oltr_error why = {OLTR_OK, ""};
    status = model_settings_check(settings, &why);
    if (status == OLTR_EUNSUPPORTED)
        return set_error(error, status, "%s", why.msg);
    return status == OLTR_OK ? status : contradicts(error, "list of options");
}

static oltr_status fill(oltr_model *m, const outline *o, oltr_error *error)
{
    size_t bytes = (size_t)(o->last.at - o->names.at);
    if (!is_contextual(m)) {
        oltr_status status = names_reserve(&m->names, o->n_items, bytes, &m->memory);
        if (status != OLTR_OK)
            return set_error(error, status, "no memory for the names of the model");
        if (!get_names(o, m))
            return contradicts(error, "list of names");
        status = model_reserve(m, 0, 0, false, error);
        if (status != OLTR_OK)
            return status;
    }
    if (ids_reserve(&m->ids, o->n_ids, &m->memory) != OLTR_OK)
        return set_error(error, OLTR_ENOMEM, "no memory for the ids of the model");
    if (!get_ids(o, m))
        return contradicts(error, "list of ids");
    return is_contextual(m) || room_is_empty(m) ? OLTR_OK : contradicts(error, "number of items");
}

/* What a policy with more room takes, and two arrays of priors while it is made. */
static size_t larger_bytes(const oltr_policy *policy, uint32_t n_items)
{
    uint32_t room = policy_room(n_items + 1);
    return policy_bytes_with(policy, room) + 4 * (size_t)room * sizeof(double);
}

/* The policy is within the bound.  More room for it, which is taken before the old one is given
 * back, and the tables of names and ids must be too. */
static oltr_status check_room(const oltr_policy *policy, const outline *o,
                              const oltr_load_options *options, oltr_error *error)
{
    size_t most = options && options->most_bytes ? options->most_bytes : SIZE_MAX;
    size_t tables = 96 * ((size_t)o->n_items + 8) + 96 * ((size_t)o->n_ids + 8) +
                    (size_t)(o->last.at - o->names.at);
    size_t larger = policy->ops->info.contextual ? 0 : larger_bytes(policy, o->n_items);
    size_t needed = sizeof(oltr_model) + policy->bytes + larger + tables;
    return needed <= most
               ? OLTR_OK
               : set_error(error, OLTR_ENOMEM,
                           "a model of %u items may take %zu bytes, more than the %zu allowed: "
                           "raise most_bytes",
                           o->n_items, needed, most);
}

static oltr_model *build(const outline *o, const oltr_load_options *options,
                         const uint64_t *name_key, oltr_error *error)
{
    oltr_model_settings settings;
    oltr_policy *policy = oltr_load_with(o->snapshot, o->snapshot_size, options, error);
    if (!policy)
        return NULL;
    if (check_policy(policy, o, error) != OLTR_OK ||
        check_room(policy, o, options, error) != OLTR_OK ||
        read_settings(policy, o, name_key, &settings, error) != OLTR_OK) {
        oltr_policy_free(policy);
        return NULL;
    }
    oltr_model *m =
        model_around(policy, &settings, o->n_items, options ? options->memory : NULL, error);
    if (!m || fill(m, o, error) == OLTR_OK)
        return m;
    oltr_model_free(m);
    return NULL;
}

oltr_model *oltr_model_load(const void *buffer, size_t size, const oltr_load_options *options,
                            const uint64_t *name_key, oltr_error *error)
{
    outline o;
    opened_image image;
    if (!buffer || (options && (options->ops || options->custom))) {
        set_error(error, OLTR_EINVAL, "the bytes of a model are needed, and no policy of your own");
        return NULL;
    }
    if (envelope_open(&model_envelope, buffer, size, "this", "the model", &image, error) != OLTR_OK)
        return NULL;
    if (!image.valid) {
        contradicts(error, "header");
        return NULL;
    }
    return outline_of(image.content, &o, error) == OLTR_OK ? build(&o, options, name_key, error)
                                                           : NULL;
}
