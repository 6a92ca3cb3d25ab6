/* snapshot.c - a policy as bytes: its settings, its prior and its sums, nothing derived.
 *
 * Little-endian, in this order:
 *   "OLTRSNAP"  u32 version  u32 zero  u64 length of the whole snapshot
 *   kind as text  u32 items  u32 dim  u64 rounds
 *   u32 number of parameters, each: name as text, f64 value
 *   u32 prior: 0 none, 1 shapes, 2 moments; then two arrays of f64 (items)
 *   u32 number of sums, each: name as text, u64 count, f64 (count)
 *   u64 CRC-64 of all before it
 * where a text is a u32 length and its bytes.  Loading trusts no length and no value: every count is checked against the bytes
 * that are there before memory is spent, and the policy's own check has the last word.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "policy/block.h"

static const char magic[8] = "OLTRSNAP";
enum { VERSION = 1, HEADER = 8 + 4 + 4 + 8, CHECKSUM = 8, LONGEST_TEXT = 64 };

static void put_text(writer *w, const char *text)
{
    put_u32(w, (uint32_t)strlen(text));
    put_bytes(w, text, strlen(text));
}

static void put_settings(writer *w, const oltr_policy *policy)
{
    const oltr_settings *s = &policy->settings;
    put_text(w, s->info->name);
    put_u32(w, s->n_items);
    put_u32(w, s->dim);
    put_u64(w, policy->rounds);
    put_u32(w, s->info->n_params);
    for (uint32_t i = 0; i < s->info->n_params; i++) {
        put_text(w, s->info->params[i].name);
        put_f64s(w, &s->value[i], 1);
    }
    put_u32(w, s->prior.a ? 1 : s->prior.mean ? 2 : 0);
    if (prior_given(&s->prior)) {
        put_f64s(w, s->prior.a ? s->prior.a : s->prior.mean, s->n_items);
        put_f64s(w, s->prior.a ? s->prior.b : s->prior.sd, s->n_items);
    }
}

/* Feature rows are floats in memory and doubles here: one kind of number in the file. */
static void put_sum(writer *w, const sum_array *sum)
{
    if (sum->value)
        put_f64s(w, sum->value, sum->n);
    for (size_t i = 0; !sum->value && i < sum->n; i++) {
        double wide = (double)sum->single[i];
        put_f64s(w, &wide, 1);
    }
}

static void put_all(writer *w, const oltr_policy *policy, uint64_t length)
{
    sum_array sums[MAX_SUMS];
    uint32_t n = policy->ops->sums(policy_state(policy), sums);
    put_bytes(w, magic, sizeof magic);
    put_u32(w, VERSION);
    put_u32(w, 0);
    put_u64(w, length);
    put_settings(w, policy);
    put_u32(w, n);
    for (uint32_t a = 0; a < n; a++) {
        put_text(w, sums[a].name);
        put_u64(w, sums[a].n);
        put_sum(w, &sums[a]);
    }
}

size_t oltr_save_bound(const oltr_policy *policy)
{
    sum_array sums[MAX_SUMS];
    if (!policy)
        return 0;
    uint32_t n = policy->ops->sums(policy_state(policy), sums);
    writer count = {NULL, 0, 0};
    size_t bytes = HEADER + CHECKSUM + 4;
    put_settings(&count, policy);
    for (uint32_t a = 0; a < n; a++)
        bytes += 4 + strlen(sums[a].name) + 8 + sums[a].n * sizeof(double);
    return bytes + count.used;
}

oltr_status oltr_save(const oltr_policy *policy, void *buffer, size_t capacity, size_t *written)
{
    if (!policy || !buffer || !written)
        return OLTR_EINVAL;
    size_t length = oltr_save_bound(policy);
    if (capacity < length)
        return OLTR_EBUFFER;
    writer w = {buffer, capacity, 0};
    put_all(&w, policy, length);
    put_u64(&w, crc64(buffer, w.used));
    *written = w.used;
    return OLTR_OK;
}

/* ---- loading -------------------------------------------------------------------------------------------- */

static int get_text(reader *r, char text[LONGEST_TEXT])
{
    uint32_t n = get_u32(r);
    if (n >= LONGEST_TEXT) {
        r->failed = 1;
        return 0;
    }
    get_bytes(r, text, n);
    text[n] = 0;
    return !r->failed && strlen(text) == n;
}

static oltr_status contradicts(oltr_error *error, const char *what)
{
    return fail(error, OLTR_ECORRUPT,
                "the snapshot's checksum is right, but its %s is not one this oltr knows: it was written by another "
                "version or program",
                what);
}

static oltr_status check_envelope(const unsigned char *bytes, size_t size, oltr_error *error)
{
    reader r = {bytes, size, 0};
    char found[sizeof magic];
    get_bytes(&r, found, sizeof found);
    if (size < sizeof magic || memcmp(found, magic, sizeof magic) != 0)
        return fail(error, OLTR_EMAGIC, "this is not an oltr snapshot: it does not begin with OLTRSNAP");
    uint32_t version = get_u32(&r), reserved = get_u32(&r);
    uint64_t length = get_u64(&r);
    if (r.failed)
        return fail(error, OLTR_ETRUNCATED, "the snapshot is cut short: %zu bytes are not even its header", size);
    if (version > VERSION)
        return fail(error, OLTR_EVERSION,
                    "the snapshot has format %u, this oltr reads up to %d: load it with a newer oltr", version,
                    VERSION);
    if (length != size || size < HEADER + CHECKSUM)
        return fail(error, OLTR_ETRUNCATED, "the snapshot is %zu bytes long, but says it has %llu: it is not whole",
                    size, (unsigned long long)length);
    reader end = {bytes + size - CHECKSUM, CHECKSUM, 0};
    if (get_u64(&end) != crc64(bytes, size - CHECKSUM))
        return fail(error, OLTR_ECHECKSUM, "the snapshot is damaged: its checksum does not match; take an older copy");
    if (version < 1 || reserved != 0)
        return contradicts(error, "header");
    return OLTR_OK;
}

static oltr_status get_params(reader *r, oltr_settings *settings, oltr_error *error)
{
    char name[LONGEST_TEXT];
    uint32_t n = get_u32(r), seen = 0;
    if (n > OLTR_MAX_PARAMS)
        return contradicts(error, "number of parameters");
    for (uint32_t i = 0; i < n; i++) {
        double value;
        uint32_t at = 0;
        if (!get_text(r, name))
            return contradicts(error, "list of parameters");
        get_f64s(r, &value, 1);
        while (at < settings->info->n_params && strcmp(settings->info->params[at].name, name) != 0)
            at++;
        if (at == settings->info->n_params)
            return contradicts(error, "list of parameters");
        if (!param_fits(&settings->info->params[at], value))
            return contradicts(error, "value of a parameter");
        if (seen >> at & 1)
            return contradicts(error, "list of parameters");
        seen |= 1u << at;
        settings->value[at] = value;
    }
    return OLTR_OK;
}

/* Reads the prior into `own`, which the caller frees. */
static oltr_status get_prior(reader *r, oltr_settings *settings, double **own, oltr_error *error)
{
    uint32_t form = get_u32(r);
    size_t n = settings->n_items;
    if (form == 0)
        return OLTR_OK;
    if (form > 2 || r->left / (2 * sizeof(double)) < n)
        return contradicts(error, "prior");
    *own = malloc(2 * n * sizeof **own);
    if (!*own)
        return fail(error, OLTR_ENOMEM, "no memory for the snapshot's prior");
    get_f64s(r, *own, 2 * n);
    if (form == 1)
        settings->prior = (oltr_prior){.a = *own, .b = *own + n};
    else
        settings->prior = (oltr_prior){.mean = *own, .sd = *own + n};
    return OLTR_OK;
}

static void get_sum(reader *r, const sum_array *sum)
{
    if (sum->value)
        get_f64s(r, sum->value, sum->n);
    for (size_t i = 0; !sum->value && i < sum->n; i++) {
        double wide;
        get_f64s(r, &wide, 1);
        sum->single[i] = fabs(wide) <= FLT_MAX ? (float)wide : NAN; /* the policy's check refuses it */
    }
}

static oltr_status get_sums(reader *r, oltr_policy *policy, oltr_error *error)
{
    sum_array sums[MAX_SUMS];
    char name[LONGEST_TEXT];
    uint32_t n = policy->ops->sums(policy_state(policy), sums);
    if (get_u32(r) != n)
        return contradicts(error, "number of sums");
    for (uint32_t a = 0; a < n; a++) {
        policy->ops->sums(policy_state(policy), sums); /* one array may tell the length of the next */
        if (!get_text(r, name) || strcmp(name, sums[a].name) != 0 || get_u64(r) != sums[a].n)
            return contradicts(error, "list of sums");
        get_sum(r, &sums[a]);
    }
    return r->failed || r->left ? contradicts(error, "length of sums") : OLTR_OK;
}

/* A number of items is believed when the bytes for their sums are there: before memory is spent on them. */
static oltr_status check_claim(const reader *r, const oltr_settings *settings, oltr_error *error)
{
    const policy_ops *ops = policy_ops_of(settings->info);
    if (ops->saved && r->left / sizeof(double) < ops->saved(settings))
        return contradicts(error, "number of items");
    return OLTR_OK;
}

/* `custom`: the policy that it must be, or NULL for one of the catalogue. */
static oltr_status settings_for(oltr_settings *settings, const oltr_policy_ops *custom, const char *kind,
                                uint32_t n_items, oltr_error *error)
{
    if (!custom)
        return oltr_settings_init(settings, kind, n_items, error);
    if (strcmp(custom->info.name, kind) != 0)
        return OLTR_EKIND;
    return oltr_settings_init_custom(settings, custom, n_items, error);
}

static oltr_policy *load_body(reader *r, const oltr_policy_ops *custom, oltr_error *error)
{
    char kind[LONGEST_TEXT];
    oltr_settings settings;
    double *prior = NULL;
    oltr_policy *policy = NULL;
    if (!get_text(r, kind)) {
        contradicts(error, "kind");
        return NULL;
    }
    uint32_t n_items = get_u32(r), dim = get_u32(r);
    uint64_t rounds = get_u64(r);
    if (r->failed || rounds > (uint64_t)1 << 49) {
        contradicts(error, "number of rounds");
        return NULL;
    }
    if (settings_for(&settings, custom, kind, n_items, error) != OLTR_OK) {
        contradicts(error, "kind or number of items");
        return NULL;
    }
    settings.dim = dim;
    if (get_params(r, &settings, error) == OLTR_OK && get_prior(r, &settings, &prior, error) == OLTR_OK &&
        check_claim(r, &settings, error) == OLTR_OK)
        policy = oltr_policy_new(&settings, error);
    free(prior);
    if (!policy)
        return NULL;
    if (get_sums(r, policy, error) != OLTR_OK ||
        policy->ops->check(policy_state(policy), rounds + 1, error) != OLTR_OK) {
        oltr_policy_free(policy);
        return NULL;
    }
    policy->rounds = rounds;
    policy->ops->refresh(policy_state(policy), rounds + 1);
    if (policy->ops->check_derived && policy->ops->check_derived(policy_state(policy), error) != OLTR_OK) {
        oltr_policy_free(policy); /* sums that nothing can be derived from */
        return NULL;
    }
    return policy;
}

static oltr_policy *load(const oltr_policy_ops *custom, const void *buffer, size_t size, oltr_error *error)
{
    if (!buffer) {
        fail(error, OLTR_EINVAL, "there is no snapshot to load");
        return NULL;
    }
    if (check_envelope(buffer, size, error) != OLTR_OK)
        return NULL;
    reader r = {(const unsigned char *)buffer + HEADER, size - HEADER - CHECKSUM, 0};
    return load_body(&r, custom, error);
}

oltr_policy *oltr_load(const void *buffer, size_t size, oltr_error *error)
{
    return load(NULL, buffer, size, error);
}

oltr_policy *oltr_load_custom(const oltr_policy_ops *ops, const void *buffer, size_t size, oltr_error *error)
{
    if (!ops) {
        fail(error, OLTR_EINVAL, "the operations of the policy are needed to load it");
        return NULL;
    }
    return load(ops, buffer, size, error);
}
