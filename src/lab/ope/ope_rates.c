/* ope_rates.c - predicted rewards of items in slots, from the lists of other folds: the model of
 * rewards behind dr and dm.  include/oltr/ope.h has the formula. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/struct_check.h"
#include <oltr/ope.h>

/* Counts and sums of rewards. */
typedef struct rate_sums {
    uint32_t folds, k, n;
    double *count, *sum;           /* (folds, k, n) */
    double *item_count, *item_sum; /* (n) of the other folds */
} rate_sums;

static uint32_t length_of(const oltr_ope_log *log, uint64_t i)
{
    return log->length ? log->length[i] : log->k;
}

static oltr_status add_list(const rate_sums *sums, const oltr_ope_log *log, const uint32_t *item,
                            uint32_t fold, uint64_t i, oltr_error *error)
{
    if (fold >= sums->folds)
        return set_error(error, OLTR_EVALUE, "list %llu: fold %u is not below %u",
                         (unsigned long long)i, fold, sums->folds);
    if (length_of(log, i) < 1 || length_of(log, i) > log->k)
        return set_error(error, OLTR_EVALUE, "list %llu: a length of %u is not from 1 to %u",
                         (unsigned long long)i, length_of(log, i), log->k);
    for (uint32_t l = 0; l < length_of(log, i); l++) {
        uint32_t which = item[i * log->k + l];
        double reward = log->reward[i * log->k + l];
        if (which >= sums->n)
            return set_error(error, OLTR_EITEM, "list %llu, slot %u: item %u is not below %u",
                             (unsigned long long)i, l + 1, which, sums->n);
        if (!isfinite(reward))
            return set_error(error, OLTR_EVALUE, "list %llu, slot %u: a reward must be finite",
                             (unsigned long long)i, l + 1);
        size_t at = ((size_t)fold * sums->k + l) * sums->n + which;
        sums->count[at]++;
        sums->sum[at] += reward;
    }
    return OLTR_OK;
}

typedef struct mean_of {
    double count, sum;
} mean_of;

/* What the other folds have of an item in a slot. */
static mean_of other_folds(const rate_sums *sums, uint32_t fold, uint32_t slot, uint32_t item)
{
    mean_of m = {0, 0};
    for (uint32_t f = 0; f < sums->folds; f++)
        if (f != fold) {
            size_t at = ((size_t)f * sums->k + slot) * sums->n + item;
            m.count += sums->count[at];
            m.sum += sums->sum[at];
        }
    return m;
}

static mean_of slot_of(const rate_sums *sums, uint32_t fold, uint32_t slot)
{
    mean_of all = {0, 0};
    for (uint32_t i = 0; i < sums->n; i++) {
        mean_of m = other_folds(sums, fold, slot, i);
        all.count += m.count;
        all.sum += m.sum;
        sums->item_count[i] += m.count;
        sums->item_sum[i] += m.sum;
    }
    return all;
}

static double base_rate(double item, double slot, double all)
{
    return all > 0 ? item * slot / all : item + slot - all;
}

static void predict_fold(const rate_sums *sums, uint32_t fold, double strength, mean_of *slot,
                         double *rate)
{
    mean_of all = {0, 0};
    memset(sums->item_count, 0, sums->n * sizeof *sums->item_count);
    memset(sums->item_sum, 0, sums->n * sizeof *sums->item_sum);
    for (uint32_t l = 0; l < sums->k; l++) {
        slot[l] = slot_of(sums, fold, l);
        all.count += slot[l].count;
        all.sum += slot[l].sum;
    }
    double mean = all.count > 0 ? all.sum / all.count : 0;
    for (uint32_t l = 0; l < sums->k; l++)
        for (uint32_t i = 0; i < sums->n; i++) {
            mean_of m = other_folds(sums, fold, l, i);
            double item = (sums->item_sum[i] + strength * mean) / (sums->item_count[i] + strength);
            double of_slot = slot[l].count > 0 ? slot[l].sum / slot[l].count : mean;
            rate[((size_t)fold * sums->k + l) * sums->n + i] =
                (m.sum + strength * base_rate(item, of_slot, mean)) / (m.count + strength);
        }
}

static oltr_status fit(const rate_sums *sums, const oltr_ope_log *log, const uint32_t *item,
                       const uint32_t *fold, double strength, double *rate, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint64_t i = 0; status == OLTR_OK && i < log->n; i++)
        status = add_list(sums, log, item, fold[i], i, error);
    mean_of *slot = status == OLTR_OK ? calloc(sums->k, sizeof *slot) : NULL;
    if (status == OLTR_OK && !slot)
        status = set_error(error, OLTR_ENOMEM, "out of memory");
    for (uint32_t f = 0; status == OLTR_OK && f < sums->folds; f++)
        predict_fold(sums, f, strength, slot, rate);
    free(slot);
    return status;
}

static oltr_status check(const oltr_ope_log *log, const uint32_t *item, uint32_t n_items,
                         const uint32_t *fold, uint32_t n_folds, double strength,
                         const double *rate, oltr_error *error)
{
    enum { MOST_NUMBERS = 1 << 28 };
    if (!log || !log->reward || !item || !fold || !rate || log->k < 1)
        return set_error(error, OLTR_EINVAL, "rewards, items, folds and room for rates are needed");
    if (reserved_check("a log", 0, log->reserved, sizeof log->reserved, error) != OLTR_OK)
        return OLTR_EINVAL;
    if (n_folds < 2)
        return set_error(error, OLTR_EVALUE, "at least 2 folds are needed, not %u", n_folds);
    if (!(strength > 0 && isfinite(strength)))
        return set_error(error, OLTR_EVALUE, "the strength must be a number above 0, not %g",
                         strength);
    if ((double)n_folds * log->k * n_items > MOST_NUMBERS)
        return set_error(error, OLTR_EVALUE,
                         "%u folds x %u slots x %u items are more than %d predictions: take fewer "
                         "folds, or estimators without predicted rewards",
                         n_folds, log->k, n_items, MOST_NUMBERS);
    return OLTR_OK;
}

oltr_status oltr_ope_rates(const oltr_ope_log *log, const uint32_t *item, uint32_t n_items,
                           const uint32_t *fold, uint32_t n_folds, double strength, double *rate,
                           oltr_error *error)
{
    oltr_status status = check(log, item, n_items, fold, n_folds, strength, rate, error);
    if (status != OLTR_OK)
        return status;
    size_t all = (size_t)n_folds * log->k * n_items;
    rate_sums sums = {.folds = n_folds, .k = log->k, .n = n_items};
    double *room = calloc(2 * all + 2 * (size_t)n_items + 1, sizeof *room);
    if (!room)
        return set_error(error, OLTR_ENOMEM, "no memory for %zu predictions", all);
    sums.count = room;
    sums.sum = room + all;
    sums.item_count = sums.sum + all;
    sums.item_sum = sums.item_count + n_items;
    status = fit(&sums, log, item, fold, strength, rate, error);
    free(room);
    for (size_t i = 0; status == OLTR_OK && i < all; i++)
        if (!isfinite(rate[i]))
            status = set_error(error, OLTR_EVALUE, "the sums of these rewards are too large");
    return status;
}
