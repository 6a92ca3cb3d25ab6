/* results.c - regret curves: made, added to, read, and kept in a file between runs. */
#include "sim/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

__extension__ typedef unsigned __int128 unsigned_wide;

enum { CURVE_BITS = 52, FINEST = 40 };

/* A round is worth at most one reward a slot, and a reward at most the world's scale. */
static int scale_of(const oltr_experiment *e)
{
    double most = (double)e->rounds * e->slots * fmax(1, e->world.scale) + 1;
    int scale = CURVE_BITS - (int)ceil(log2(most));
    return scale < FINEST ? scale : FINEST;
}

/* ---- what the results belong to -------------------------------------------------------------------------- */

static void put_text(writer *w, const char *text)
{
    put_u64(w, strlen(text));
    put_bytes(w, text, strlen(text));
}

static void put_optional(writer *w, const double *x, size_t n)
{
    put_u32(w, x != NULL);
    if (x)
        put_f64s(w, x, n);
}

static void put_features(writer *w, const oltr_world *world)
{
    const double numbers[] = {world->dim,     world->fresh_contexts, world->theta_on_sphere, world->scale,
                              world->abandon, world->noise_sd,       world->beta_noise};
    put_f64s(w, numbers, sizeof numbers / sizeof *numbers);
    for (size_t i = 0; world->features && i < (size_t)world->n_items * world->dim; i++) {
        double feature = (double)world->features[i];
        put_f64s(w, &feature, 1);
    }
}

static void put_policy(writer *w, const oltr_contestant *c)
{
    put_text(w, c->label);
    put_text(w, c->settings.info->name);
    put_f64s(w, c->settings.value, c->settings.info->n_params);
}

static void put_experiment(writer *w, const oltr_experiment *e)
{
    put_u64(w, e->seed);
    put_u64(w, e->rounds);
    put_u32(w, e->slots);
    put_u32(w, e->replications);
    put_u32(w, e->n_checkpoints);
    for (uint32_t i = 0; i < e->n_checkpoints; i++)
        put_u64(w, e->checkpoint[i]);
    put_text(w, e->world.kind);
    put_u32(w, e->world.n_items);
    put_text(w, e->world.clicks);
    put_u32(w, e->world.examined_without_click);
    put_f64s(w, &e->world.misspecification, 1);
    put_optional(w, e->world.prior_a, e->world.n_items);
    put_optional(w, e->world.prior_b, e->world.n_items);
    put_u32(w, e->world.a_max);
    put_u32(w, e->world.instances_per_prior);
    put_optional(w, e->world.attraction, e->world.n_items);
    put_features(w, &e->world);
    put_u32(w, e->n_policies);
    for (uint32_t i = 0; i < e->n_policies; i++)
        put_policy(w, &e->policy[i]);
}

uint64_t experiment_digest(const oltr_experiment *points, uint32_t n_points)
{
    writer w = {NULL, 0, 0};
    uint64_t digest = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            w = (writer){malloc(w.used), w.used, 0};
            if (!w.at)
                return 0;
        }
        put_text(&w, oltr_version()); /* another version may play otherwise */
        put_u32(&w, n_points);
        for (uint32_t i = 0; i < n_points; i++)
            put_experiment(&w, &points[i]);
    }
    digest = crc64(w.at, w.used) | 1;
    free(w.at);
    return digest;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

static int make_point(point_results *p, const oltr_experiment *e)
{
    *p = (point_results){.n_policies = e->n_policies,
                         .n_checkpoints = e->n_checkpoints,
                         .replications = e->replications,
                         .scale = scale_of(e),
                         .rounds = e->rounds};
    p->at = calloc((size_t)e->n_policies * e->n_checkpoints, sizeof *p->at);
    p->ns = calloc(e->n_policies, sizeof *p->ns);
    p->whole = calloc(e->replications, 1);
    return p->at && p->ns && p->whole;
}

oltr_results *oltr_results_new(const oltr_experiment *points, uint32_t n_points, oltr_error *error)
{
    if (!points || !n_points) {
        fail(error, OLTR_EINVAL, "an experiment has at least one point");
        return NULL;
    }
    for (uint32_t i = 0; i < n_points; i++)
        if (oltr_experiment_check(&points[i], error) != OLTR_OK)
            return NULL;
    oltr_results *r = calloc(1, sizeof *r);
    if (r)
        r->point = calloc(n_points, sizeof *r->point);
    int made = r && r->point;
    if (made) {
        r->n_points = n_points;
        r->digest = experiment_digest(points, n_points);
        made = r->digest != 0;
    }
    for (uint32_t i = 0; made && i < n_points; i++)
        made = make_point(&r->point[i], &points[i]);
    if (made)
        return r;
    fail(error, OLTR_ENOMEM, "no memory for the results of %u points", n_points);
    oltr_results_free(r);
    return NULL;
}

void oltr_results_free(oltr_results *results)
{
    if (!results)
        return;
    for (uint32_t i = 0; results->point && i < results->n_points; i++) {
        free(results->point[i].at);
        free(results->point[i].ns);
        free(results->point[i].whole);
    }
    free(results->point);
    free(results);
}

void results_add(oltr_results *results, uint32_t point, uint32_t replication, const double *regret,
                 const double *reward, const uint64_t *ns)
{
    point_results *p = &results->point[point];
    for (size_t i = 0; i < (size_t)p->n_policies * p->n_checkpoints; i++) {
        int64_t units = llrint(ldexp(regret[i], p->scale));
        p->at[i].regret += units;
        p->at[i].regret_squares += (wide)units * units;
        p->at[i].reward += llrint(ldexp(reward[i], p->scale));
    }
    for (uint32_t i = 0; i < p->n_policies; i++)
        p->ns[i] += ns[i];
    p->whole[replication] = 1;
    p->done++;
}

/* The mean of the squared distances from `centre`, exactly, in units squared: no cancellation however large the mean. */
static double squared_distances(const tally *t, uint32_t n, int64_t centre)
{
    unsigned_wide c = (unsigned_wide)(wide)centre, sum = (unsigned_wide)t->regret_squares;
    sum += n * c * c - 2 * c * (unsigned_wide)t->regret; /* terms may wrap, the sum does not */
    return (double)(wide)sum;
}

oltr_outcome oltr_results_at(const oltr_results *results, uint32_t point, uint32_t policy, uint32_t checkpoint)
{
    const point_results *p = &results->point[point];
    const tally *t = &p->at[(size_t)policy * p->n_checkpoints + checkpoint];
    double n = p->done;
    if (!p->done)
        return (oltr_outcome){0, 0, 0, 0};
    int64_t centre = (int64_t)(t->regret / p->done);
    double offset = (double)(t->regret - (wide)centre * p->done) / n; /* mean - centre, below one unit */
    double squares = squared_distances(t, p->done, centre) - n * offset * offset;
    double variance = p->done > 1 ? fmax(0, squares) / (n - 1) : 0;
    return (oltr_outcome){.regret = ldexp((double)t->regret / n, -p->scale),
                          .regret_se = ldexp(sqrt(variance / n), -p->scale),
                          .reward = ldexp((double)t->reward / n, -p->scale),
                          .replications = p->done};
}

double oltr_results_ns_per_round(const oltr_results *results, uint32_t point, uint32_t policy)
{
    const point_results *p = &results->point[point];
    return p->done ? (double)p->ns[policy] / ((double)p->done * (double)p->rounds) : 0;
}

/* ---- the file of a run that is not finished -------------------------------------------------------------- */

static const char magic[8] = "OLTRPART";
enum { VERSION = 1 };

static void put_wide(writer *w, wide value)
{
    put_u64(w, (uint64_t)value);
    put_u64(w, (uint64_t)(value >> 64));
}

static wide get_wide(reader *r)
{
    uint64_t low = get_u64(r), high = get_u64(r);
    return (wide)((unsigned_wide)high << 64 | low);
}

static void put_results(writer *w, const oltr_results *results)
{
    put_bytes(w, magic, sizeof magic);
    put_u32(w, VERSION);
    put_u64(w, results->digest);
    for (uint32_t i = 0; i < results->n_points; i++) {
        const point_results *p = &results->point[i];
        put_bytes(w, p->whole, p->replications);
        for (uint32_t j = 0; j < p->n_policies; j++)
            put_u64(w, p->ns[j]);
        for (size_t j = 0; j < (size_t)p->n_policies * p->n_checkpoints; j++) {
            put_wide(w, p->at[j].regret);
            put_wide(w, p->at[j].regret_squares);
            put_wide(w, p->at[j].reward);
        }
    }
}

/* The whole file as bytes, checksum included; NULL without memory. */
static unsigned char *bytes_of(const oltr_results *results, size_t *size)
{
    writer count = {NULL, 0, 0};
    put_results(&count, results);
    unsigned char *bytes = malloc(count.used + 8);
    if (!bytes)
        return NULL;
    writer w = {bytes, count.used + 8, 0};
    put_results(&w, results);
    put_u64(&w, crc64(bytes, w.used));
    *size = w.used;
    return bytes;
}

static oltr_status write_whole(const char *path, const unsigned char *bytes, size_t size, oltr_error *error)
{
    size_t room = strlen(path) + sizeof ".tmp";
    char *beside = malloc(room);
    if (!beside)
        return fail(error, OLTR_ENOMEM, "no memory to write %s", path);
    snprintf(beside, room, "%s.tmp", path);
    FILE *file = fopen(beside, "wb");
    int ok = file && fwrite(bytes, 1, size, file) == size;
    ok = file && fclose(file) == 0 && ok;
    ok = ok && rename(beside, path) == 0;
    if (!ok) {
        fail(error, OLTR_EIO, "cannot write %s: %s", path, strerror(errno));
        remove(beside);
    }
    free(beside);
    return ok ? OLTR_OK : OLTR_EIO;
}

oltr_status oltr_results_save(const oltr_results *results, const char *path, oltr_error *error)
{
    size_t size = 0;
    if (!results || !path)
        return fail(error, OLTR_EINVAL, "results and a path are needed");
    unsigned char *bytes = bytes_of(results, &size);
    if (!bytes)
        return fail(error, OLTR_ENOMEM, "no memory to save the results");
    oltr_status status = write_whole(path, bytes, size, error);
    free(bytes);
    return status;
}

#define LARGEST_FILE ((long)1 << 34) /* the length of a folder is told as far more */

static oltr_status read_whole(const char *path, unsigned char **bytes, size_t *size, oltr_error *error)
{
    FILE *file = fopen(path, "rb");
    long length = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length < 0 || length > LARGEST_FILE || fseek(file, 0, SEEK_SET) != 0) {
        if (file)
            fclose(file);
        return fail(error, OLTR_EIO, "cannot read %s: %s", path,
                    length > LARGEST_FILE ? "it is no file of ours" : strerror(errno));
    }
    *bytes = malloc((size_t)length + 1);
    *size = *bytes ? fread(*bytes, 1, (size_t)length, file) : 0;
    fclose(file);
    return *bytes ? OLTR_OK : fail(error, OLTR_ENOMEM, "no memory to read %s", path);
}

static oltr_status check_file(const oltr_results *results, const char *path, const unsigned char *bytes, size_t size,
                              size_t expected, oltr_error *error)
{
    reader head = {bytes, size, 0}, tail = {bytes + (size >= 8 ? size - 8 : 0), size >= 8 ? 8 : 0, 0};
    char found[sizeof magic];
    get_bytes(&head, found, sizeof found);
    if (head.failed || memcmp(found, magic, sizeof magic) != 0)
        return fail(error, OLTR_EMAGIC, "%s is not a file of partial results", path);
    uint32_t version = get_u32(&head);
    uint64_t digest = get_u64(&head);
    if (version > VERSION)
        return fail(error, OLTR_EVERSION, "%s was written by a newer oltr", path);
    if (head.failed || get_u64(&tail) != crc64(bytes, size - 8))
        return fail(error, OLTR_ECHECKSUM, "%s is damaged or cut short; delete it and run from the start", path);
    if (digest != results->digest || size != expected)
        return fail(
            error, OLTR_EMISMATCH,
            "%s belongs to another experiment, or to this one with other settings; run without resuming, or with the "
            "settings of before",
            path);
    return OLTR_OK;
}

/* Could these be the sums of `n` curves of CURVE_BITS bits? */
static int plausible(const tally *t, uint32_t n)
{
    wide most = (wide)n << (CURVE_BITS + 1), most_squares = (wide)n << (2 * CURVE_BITS);
    return t->regret >= -most && t->regret <= most && t->reward >= -most && t->reward <= most &&
           t->regret_squares >= 0 && t->regret_squares <= most_squares;
}

/* 0, and nothing kept, when a file with a right checksum holds what no run could have written. */
static int keep_if_plausible(oltr_results *results)
{
    int good = 1;
    for (uint32_t i = 0; i < results->n_points; i++)
        for (size_t j = 0; j < (size_t)results->point[i].n_policies * results->point[i].n_checkpoints; j++)
            good &= plausible(&results->point[i].at[j], results->point[i].done);
    for (uint32_t i = 0; !good && i < results->n_points; i++) {
        point_results *p = &results->point[i];
        memset(p->at, 0, (size_t)p->n_policies * p->n_checkpoints * sizeof *p->at);
        memset(p->ns, 0, p->n_policies * sizeof *p->ns);
        memset(p->whole, 0, p->replications);
        p->done = 0;
    }
    return good;
}

static void get_results(reader *r, oltr_results *results)
{
    for (uint32_t i = 0; i < results->n_points; i++) {
        point_results *p = &results->point[i];
        get_bytes(r, p->whole, p->replications);
        p->done = 0;
        for (uint32_t j = 0; j < p->replications; j++)
            p->done += p->whole[j] = p->whole[j] != 0;
        for (uint32_t j = 0; j < p->n_policies; j++)
            p->ns[j] = get_u64(r);
        for (size_t j = 0; j < (size_t)p->n_policies * p->n_checkpoints; j++) {
            p->at[j].regret = get_wide(r);
            p->at[j].regret_squares = get_wide(r);
            p->at[j].reward = get_wide(r);
        }
    }
}

oltr_status oltr_results_load(oltr_results *results, const char *path, oltr_error *error)
{
    if (!results || !path)
        return fail(error, OLTR_EINVAL, "results and a path are needed");
    writer count = {NULL, 0, 0};
    put_results(&count, results);
    size_t size = 0, expected = count.used + 8;
    unsigned char *bytes = NULL;
    oltr_status status = read_whole(path, &bytes, &size, error);
    if (status != OLTR_OK)
        return status;
    status = check_file(results, path, bytes, size, expected, error);
    if (status == OLTR_OK) {
        size_t head = sizeof magic + 4 + 8;
        reader r = {bytes + head, size - head - 8, 0};
        get_results(&r, results);
        if (!keep_if_plausible(results))
            status = fail(error, OLTR_ECORRUPT,
                          "%s holds sums that no run could have written; delete it and run from the start", path);
    }
    free(bytes);
    return status;
}
