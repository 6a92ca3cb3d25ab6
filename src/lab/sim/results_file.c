/* results_file.c - results as bytes, for the file of a run that is not finished and for shards.
 *
 * Magic, version, digest of the experiment, the sums, checksum; docs/formats.md has the layout.
 * Everything in such a file is checked before it is used.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "lab/sim/results.h"

static const char magic[8] = "OLTRPART";
enum { VERSION = 4 };

static void put_wide(writer *w, wide value)
{
    put_u64(w, value.low);
    put_u64(w, value.high);
}

static wide get_wide(reader *r)
{
    uint64_t low = get_u64(r), high = get_u64(r);
    return (wide){low, high};
}

static size_t first_group_sum(const point_results *p)
{
    return (size_t)(p->group_squares - p->sums);
}

static size_t curves_of(const point_results *p)
{
    return (size_t)p->n_policies * p->n_checkpoints;
}

static void put_point(writer *w, const point_results *p)
{
    size_t groups = first_group_sum(p);
    put_bytes(w, p->whole, p->replications);
    for (uint32_t i = 0; i < p->n_policies; i++)
        put_u64(w, p->ns[i]);
    for (size_t i = 0; i < groups; i++)
        put_wide(w, p->sums[i]);
    for (size_t i = 0; i < curves_of(p); i++)
        put_u64(w, (uint64_t)p->worst[i]);
    for (size_t i = 0; i < GROUP_ARRAYS * p->group_curves; i++)
        put_u64(w, (uint64_t)p->group_regret[i]);
    for (size_t i = groups; i < p->n_sums; i++)
        put_wide(w, p->sums[i]);
}

static void get_point(reader *r, point_results *p)
{
    size_t groups = first_group_sum(p);
    get_bytes(r, p->whole, p->replications);
    for (uint32_t i = 0; i < p->replications; i++) {
        p->whole[i] &= p->whole[i] & WHOLE ? WHOLE | SATURATED : 0;
        p->done += p->whole[i] & WHOLE;
        p->group_done[i % p->n_groups] += p->whole[i] & WHOLE;
    }
    for (uint32_t i = 0; i < p->n_policies; i++)
        p->ns[i] = get_u64(r);
    for (size_t i = 0; i < groups; i++)
        p->sums[i] = get_wide(r);
    for (size_t i = 0; i < curves_of(p); i++)
        p->worst[i] = (int64_t)get_u64(r);
    for (size_t i = 0; i < GROUP_ARRAYS * p->group_curves; i++)
        p->group_regret[i] = (int64_t)get_u64(r);
    for (size_t i = groups; i < p->n_sums; i++)
        p->sums[i] = get_wide(r);
}

static void put_results(writer *w, const oltr_results *results)
{
    put_bytes(w, magic, sizeof magic);
    put_u32(w, VERSION);
    put_u64(w, results->digest);
    for (uint32_t i = 0; i < results->n_points; i++)
        put_point(w, &results->point[i]);
}

size_t oltr_results_size(const oltr_results *results)
{
    writer count = {NULL, 0, 0};
    if (!results)
        return 0;
    put_results(&count, results);
    return count.used + 8;
}

void oltr_results_pack(const oltr_results *results, void *bytes)
{
    writer w = {bytes, SIZE_MAX, 0};
    if (!results || !bytes)
        return;
    put_results(&w, results);
    put_u64(&w, crc64(bytes, w.used));
}

oltr_status oltr_results_save(const oltr_results *results, const char *path, oltr_error *error)
{
    if (!results || !path)
        return set_error(error, OLTR_EINVAL, "results and a path are needed");
    size_t size = oltr_results_size(results);
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return set_error(error, OLTR_ENOMEM, "no memory to save the results");
    oltr_results_pack(results, bytes);
    oltr_status status = bytes_write(path, bytes, size, error);
    free(bytes);
    return status;
}

#define LARGEST_FILE                                                                               \
    (SIZE_MAX >> (sizeof(size_t) == 8 ? 30 : 1)) /* 16 GiB, where memory can hold it */

static oltr_status check_bytes(const oltr_results *results, const char *path,
                               const unsigned char *bytes, size_t size, oltr_error *error)
{
    reader head = {bytes, size, 0},
           tail = {bytes + (size >= 8 ? size - 8 : 0), size >= 8 ? 8 : 0, 0};
    char found[sizeof magic];
    get_bytes(&head, found, sizeof found);
    if (head.failed || memcmp(found, magic, sizeof magic) != 0)
        return set_error(error, OLTR_EMAGIC, "%s is not a file of partial results", path);
    uint32_t version = get_u32(&head);
    uint64_t digest = get_u64(&head);
    if (version > VERSION)
        return set_error(error, OLTR_EVERSION, "%s was written by a newer oltr", path);
    if (version < VERSION && !head.failed)
        return set_error(error, OLTR_EVERSION,
                         "%s was written by an older oltr; delete it and run from the start", path);
    if (head.failed || get_u64(&tail) != crc64(bytes, size - 8))
        return set_error(error, OLTR_ECHECKSUM,
                         "%s is damaged or cut short; delete it and run from the start", path);
    if (digest != results->digest || size != oltr_results_size(results))
        return set_error(
            error, OLTR_EMISMATCH,
            "%s belongs to another experiment, or to this one with other settings; run "
            "without resuming, or with the "
            "settings of before",
            path);
    return OLTR_OK;
}

/* Could these be sums over n curves of CURVE_BITS bits? */
static bool sum_fits(wide sum, uint32_t n)
{
    wide most = wide_shifted(n, CURVE_BITS + 1);
    return !wide_less(sum, wide_negate(most)) && !wide_less(most, sum);
}

static bool squares_fit(wide squares, uint32_t n)
{
    return !wide_negative(squares) && !wide_less(wide_shifted(n, 2 * CURVE_BITS), squares);
}

/* Could this be the largest of n numbers with this sum?  It is at least their mean. */
static bool worst_fits(int64_t worst, wide sum, uint32_t n)
{
    if (!n)
        return worst == 0;
    return sum_fits(wide_of(worst), 1) &&
           !wide_less(wide_multiply(wide_of(worst), wide_of(n)), sum);
}

/* Could these be NDCG of `judged` of n replications? */
static bool ndcg_fits(wide judged, wide sum, uint32_t n)
{
    return !wide_negative(judged) && !wide_less(wide_of(n), judged) && !wide_negative(sum) &&
           !wide_less(wide_shifted(judged.low, NDCG_BITS), sum);
}

/* The sums i of all groups, of one array, in all. */
static wide group_total(const point_results *p, const int64_t *sums, size_t i)
{
    wide total = wide_of(0);
    for (uint32_t g = 0; g < p->n_groups; g++)
        total = wide_add(total, wide_of(sums[g * (size_t)p->n_policies * p->n_checkpoints + i]));
    return total;
}

/* The groups must add up to the whole. */
static bool groups_fit(const point_results *p)
{
    size_t curve = (size_t)p->n_policies * p->n_checkpoints;
    bool good = true;
    for (size_t i = 0; i < curve; i++) {
        for (uint32_t g = 0; g < p->n_groups; g++)
            good &= sum_fits(wide_of(p->group_regret[g * curve + i]), p->group_done[g]) &&
                    sum_fits(wide_of(p->group_reward[g * curve + i]), p->group_done[g]) &&
                    ndcg_fits(wide_of(p->group_judged[g * curve + i]),
                              wide_of(p->group_ndcg[g * curve + i]), p->group_done[g]);
        good &= wide_equal(group_total(p, p->group_regret, i), p->at[i].regret) &&
                wide_equal(group_total(p, p->group_reward, i), p->at[i].reward) &&
                wide_equal(group_total(p, p->group_ndcg, i), p->at[i].ndcg) &&
                wide_equal(group_total(p, p->group_judged, i), p->at[i].judged);
    }
    for (size_t i = 0; i < (size_t)p->n_groups * p->n_policies; i++)
        good &= squares_fit(p->group_squares[i], p->group_done[i / p->n_policies]);
    return good;
}

static bool plausible(const point_results *p)
{
    bool good = true;
    for (size_t i = 0; i < (size_t)p->n_policies * p->n_checkpoints; i++)
        good &= sum_fits(p->at[i].regret, p->done) && sum_fits(p->at[i].reward, p->done) &&
                squares_fit(p->at[i].regret_squares, p->done) &&
                worst_fits(p->worst[i], p->at[i].regret, p->done) &&
                squares_fit(p->at[i].gain_squares, 4 * p->done) &&
                ndcg_fits(p->at[i].judged, p->at[i].ndcg, p->done) &&
                squares_fit(p->at[i].ndcg_squares, p->done);
    for (size_t i = 0; i < pair_count(p->n_policies) * p->n_checkpoints; i++)
        good &= squares_fit(p->pair_squares[i], p->done);
    return good && (p->n_groups < 2 || groups_fit(p));
}

static oltr_status take_bytes(oltr_results *results, const unsigned char *bytes, size_t size,
                              const char *name, oltr_error *error)
{
    size_t head = sizeof magic + 4 + 8;
    reader r = {bytes + head, size - head - 8, 0};
    bool good = true;
    results_clear(results);
    for (uint32_t i = 0; i < results->n_points; i++)
        get_point(&r, &results->point[i]);
    for (uint32_t i = 0; i < results->n_points; i++)
        good &= plausible(&results->point[i]);
    if (good)
        return OLTR_OK;
    results_clear(results);
    return set_error(
        error, OLTR_ECORRUPT,
        "%s holds sums that no run could have written; delete it and run from the start", name);
}

oltr_status oltr_results_unpack(oltr_results *results, const void *bytes, size_t size,
                                const char *name, oltr_error *error)
{
    if (!results || !bytes || !name)
        return set_error(error, OLTR_EINVAL, "results, bytes and a name are needed");
    oltr_status status = check_bytes(results, name, bytes, size, error);
    return status == OLTR_OK ? take_bytes(results, bytes, size, name, error) : status;
}

oltr_status oltr_results_load(oltr_results *results, const char *path, oltr_error *error)
{
    if (!results || !path)
        return set_error(error, OLTR_EINVAL, "results and a path are needed");
    size_t size = 0;
    unsigned char *bytes = NULL;
    oltr_status status = bytes_read(path, LARGEST_FILE, &bytes, &size, error);
    if (status == OLTR_OK)
        status = oltr_results_unpack(results, bytes, size, path, error);
    free(bytes);
    return status;
}
