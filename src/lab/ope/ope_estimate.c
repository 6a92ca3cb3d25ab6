/* ope_estimate.c - the value of a policy from the log of another: the estimate, its interval, and
 * what may be wrong with it.  ope_rows.h has the estimators as sums.
 *
 * Standard error.  With ratio_j = sum num_j / sum den_j, list i has the influence
 *     psi_i = sum_j share_j (num_ij - ratio_j den_ij) / mean den_j + ratio_j (has_ij - share_j),
 * and the standard error is sqrt(sum psi^2 / (n (n - 1))).  For means psi is the term minus the
 * mean.
 *
 * Empirical Bernstein (Maurer and Pontil 2009), both sides: with variance V of the terms, range R
 * and d = 1 - confidence, mean +- sqrt(2 V log(4/d) / n) + 7 R log(4/d) / (3 (n - 1)).
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/nearest.h"
#include "engine/base/quote.h"
#include "engine/base/struct_check.h"
#include "lab/ope/ope_bootstrap.h"

enum { RESAMPLES = 1000, MOST_RESAMPLES = 1000000, MOST_SLOTS = 1 << 20 };

static const char *const names[OLTR_OPE_ESTIMATORS] = {"sips",   "iips", "rips", "snsips", "sniips",
                                                       "snrips", "dr",   "dm",   "replay"};

const char *oltr_ope_name(oltr_ope_estimator estimator)
{
    return (unsigned)estimator < OLTR_OPE_ESTIMATORS ? names[estimator] : NULL;
}

oltr_status oltr_ope_find(const char *name, oltr_ope_estimator *out, oltr_error *error)
{
    struct nearest nearest = nearest_to(name ? name : "");
    char hint[HINT_SIZE], word[QUOTE_SIZE];
    if (!out)
        return set_error(error, OLTR_EINVAL, "there is no place for the estimator");
    for (unsigned i = 0; name && i < OLTR_OPE_ESTIMATORS; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (oltr_ope_estimator)i;
            return OLTR_OK;
        }
        nearest_offer(&nearest, names[i]);
    }
    return set_error(error, OLTR_EKIND,
                     "no estimator `%s`%s; there are sips, iips, rips, snsips, sniips, snrips, dr, "
                     "dm and replay",
                     quote_input(name ? name : "", word), nearest_hint(&nearest, hint));
}

/* ---- sums */

typedef struct totals {
    double *num, *den;                 /* (columns) sums of one row, then of all */
    double *all_num, *all_den, *lists; /* (columns) */
} totals;

/* False if the caller has stopped it, as for the passes below. */
static bool add_up(const ope_rows *rows, totals *t)
{
    for (uint64_t i = 0; i < rows->log->n; i++) {
        if (ope_stopped_at(rows, i))
            return false;
        uint32_t length = ope_length(rows->log, i);
        ope_row(rows, i, t->num, t->den);
        for (uint32_t j = 0; j < rows->columns; j++) {
            t->all_num[j] += t->num[j];
            t->all_den[j] += t->den[j];
            t->lists[j] += ope_has_column(rows, length, j);
        }
    }
    return true;
}

static double ratio_at(const totals *t, uint32_t j)
{
    return t->all_num[j] / t->all_den[j];
}

static double value_of(const ope_rows *rows, const totals *t)
{
    double value = 0;
    for (uint32_t j = 0; j < rows->columns; j++)
        value += t->lists[j] / (double)rows->log->n * ratio_at(t, j);
    return value;
}

static double influence(const ope_rows *rows, totals *t, uint64_t i)
{
    double n = (double)rows->log->n, sum = 0;
    uint32_t length = ope_length(rows->log, i);
    ope_row(rows, i, t->num, t->den);
    for (uint32_t j = 0; j < rows->columns; j++) {
        double share = t->lists[j] / n, ratio = ratio_at(t, j);
        sum += share * (t->num[j] - ratio * t->den[j]) / (t->all_den[j] / n);
        sum += ratio * (ope_has_column(rows, length, j) - share);
    }
    return sum;
}

/* Variance of the influences, and the smallest and largest of them. */
typedef struct spread {
    double variance, low, high;
} spread;

static bool find_spread(const ope_rows *rows, totals *t, spread *s)
{
    *s = (spread){0, INFINITY, -INFINITY};
    for (uint64_t i = 0; i < rows->log->n; i++) {
        if (ope_stopped_at(rows, i))
            return false;
        double psi = influence(rows, t, i);
        s->variance += psi * psi;
        s->low = fmin(s->low, psi);
        s->high = fmax(s->high, psi);
    }
    s->variance /= (double)(rows->log->n - 1);
    return true;
}

/* ---- intervals */

/* z with P(|Z| <= z) = confidence, by bisection: erfc falls. */
static double normal_quantile(double confidence)
{
    double low = 0, high = 40;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        *(erfc(middle / sqrt(2)) > 1 - confidence ? &low : &high) = middle;
    }
    return high;
}

static oltr_status bernstein(const ope_rows *rows, const oltr_ope_options *o, const spread *s,
                             oltr_ope_result *out, oltr_error *error)
{
    double n = (double)rows->log->n, seen = s->high - s->low, budget = log(4 / (1 - o->confidence));
    if (rows->normalised)
        return set_error(
            error, OLTR_EUNSUPPORTED,
            "the empirical Bernstein interval is one of means, and %s is a ratio: take "
            "bootstrap or normal",
            oltr_ope_name(rows->estimator));
    if (o->bound > 0 && seen > o->bound * (1 + 1e-12))
        return set_error(error, OLTR_EVALUE,
                         "the terms of the lists span %g, which is more than the bound of %g", seen,
                         o->bound);
    double range = o->bound > 0 ? o->bound : seen;
    double width = sqrt(2 * s->variance * budget / n) + 7 * range * budget / (3 * (n - 1));
    out->low = out->value - width;
    out->high = out->value + width;
    return OLTR_OK;
}

static oltr_status find_interval(const ope_rows *rows, const oltr_ope_options *o, const spread *s,
                                 oltr_ope_result *out, oltr_error *error)
{
    if (o->interval == OLTR_OPE_BOOTSTRAP)
        return ope_bootstrap(rows, o->bootstrap, o->seed, o->confidence, &out->low, &out->high,
                             error);
    if (o->interval == OLTR_OPE_BERNSTEIN)
        return bernstein(rows, o, s, out, error);
    double z = normal_quantile(o->confidence);
    out->low = out->value - z * out->se;
    out->high = out->value + z * out->se;
    return OLTR_OK;
}

/* ---- diagnostics */

/* Scaled by the largest weight of the slot, so that nothing overflows. */
typedef struct weights {
    double sum, squares, zeros, lists;
} weights;

static bool add_weights(const ope_rows *rows, uint32_t slot, weights *w)
{
    *w = (weights){0, 0, 0, 0};
    for (uint64_t i = 0; i < rows->log->n; i++) {
        if (ope_stopped_at(rows, i))
            return false;
        if (rows->slots > 1 && slot >= ope_length(rows->log, i))
            continue;
        double log_weight = ope_log_weight(rows, i, slot);
        double weight = rows->shift[slot] > -INFINITY ? exp(log_weight - rows->shift[slot]) : 0;
        w->sum += weight;
        w->squares += weight * weight;
        w->zeros += !(log_weight > -INFINITY);
        w->lists++;
    }
    return true;
}

static double finite(double value)
{
    return fmin(value, DBL_MAX);
}

/* How much of its expectation, 1, the mean weight lacks, in standard errors.  Chances are known to
 * 1e-9 at best, so less than 1e-7 is no lack; and a few weights say nothing about their variance.
 */
static double lack_of_weight(const weights *w, double scale)
{
    double mean = scale * w->sum / w->lists;
    if (fabs(1 - mean) < 1e-7 || w->lists < 10)
        return 0;
    double variance = scale * scale * w->squares / w->lists - mean * mean;
    return fabs(1 - mean) / sqrt(fmax(variance, 1e-300) / w->lists);
}

static void add_sentence(char *text, const char *format, double number, double other)
{
    size_t used = strlen(text);
    if (used > 0 && used + 2 < OLTR_OPE_WARNING)
        text[used++] = ' ', text[used] = '\0';
    /* NOLINTNEXTLINE: the formats are those of warn() */
    (void)snprintf(text + used, OLTR_OPE_WARNING - used, format, number, other);
}

static void warn(const ope_rows *rows, const weights *w, oltr_ope_result *out)
{
    enum { FEW = 100 };
    double scale = exp(fmin(rows->shift[out->slot > 0 ? out->slot - 1 : 0], 700));
    if (!(w->sum > 0)) {
        add_sentence(out->warning,
                     "No support: the evaluated policy never shows what this log shows.", 0, 0);
        return;
    }
    if (rows->estimator != OLTR_OPE_REPLAY && lack_of_weight(w, scale) > 4)
        add_sentence(out->warning,
                     "The mean weight is %.6g and should be 1: the evaluated policy shows what the "
                     "log cannot, or the weights are too uneven for a log of this size, or the "
                     "propensities are wrong.",
                     out->mean_weight, 0);
    if (out->ess < FEW)
        add_sentence(out->warning,
                     "The effective size is %.3g lists; below 100 an interval means "
                     "little.",
                     out->ess, 0);
    if (out->largest_share > 0.05)
        add_sentence(out->warning, "One list has %.0f %% of all weight.", 100 * out->largest_share,
                     0);
}

static bool find_weights(const ope_rows *rows, oltr_ope_result *out)
{
    weights w, worst = {0, 0, 0, 0};
    out->ess = out->mean_weight = out->largest = out->largest_share = out->zero_share = NAN;
    if (rows->form == NO_WEIGHT)
        return true;
    for (uint32_t l = 0; l < rows->slots; l++) {
        if (!add_weights(rows, l, &w))
            return false;
        double ess = w.squares > 0 ? w.sum * w.sum / w.squares : 0;
        if (w.lists == 0 || (l > 0 && !(ess < out->ess)))
            continue;
        out->ess = ess;
        out->slot = rows->slots > 1 ? l + 1 : 0;
        worst = w;
    }
    double shift = rows->shift[out->slot > 0 ? out->slot - 1 : 0];
    out->largest = finite(exp(shift));
    out->mean_weight = finite(out->largest * (worst.sum / worst.lists));
    out->largest_share = worst.sum > 0 ? 1 / worst.sum : NAN;
    out->zero_share = worst.zeros / worst.lists;
    warn(rows, &worst, out);
    return true;
}

/* ---- the call */

static oltr_status read_options(const oltr_ope_options *given, oltr_ope_options *out,
                                oltr_error *error)
{
    *out = given ? *given : (oltr_ope_options){.size = sizeof *out};
    if (size_check("options", out->size, sizeof *out, error) != OLTR_OK ||
        reserved_check("the options", out->reserved32, out->reserved, sizeof out->reserved,
                       error) != OLTR_OK)
        return OLTR_EINVAL;
    if (out->interval > OLTR_OPE_NORMAL)
        return set_error(error, OLTR_EVALUE, "no interval %u", out->interval);
    out->bootstrap = out->bootstrap ? out->bootstrap : RESAMPLES;
    if (out->bootstrap > MOST_RESAMPLES)
        return set_error(error, OLTR_EVALUE, "at most %d resamples, not %u", MOST_RESAMPLES,
                         out->bootstrap);
    if (out->confidence == 0)
        out->confidence = 0.95;
    if (!(out->confidence > 0 && out->confidence < 1))
        return set_error(error, OLTR_EVALUE, "the confidence must be above 0 and below 1, not %g",
                         out->confidence);
    if (!(out->bound >= 0 && isfinite(out->bound)))
        return set_error(error, OLTR_EVALUE, "the bound must be a number from 0 on, not %g",
                         out->bound);
    return OLTR_OK;
}

static oltr_status estimate(const ope_rows *rows, const oltr_ope_options *o, double *room,
                            oltr_ope_result *out, oltr_error *error)
{
    uint32_t c = rows->columns;
    totals t = {room, room + c, room + 2 * (size_t)c, room + 3 * (size_t)c, room + 4 * (size_t)c};
    *out = (oltr_ope_result){.n = rows->log->n};
    if (!add_up(rows, &t) || !find_weights(rows, out))
        return ope_interrupted(error);
    out->value = value_of(rows, &t);
    out->se = out->low = out->high = NAN;
    if (isnan(out->value) && rows->normalised)
        return OLTR_OK; /* no list of some slot has weight: the warning says so */
    spread s;
    if (!find_spread(rows, &t, &s))
        return ope_interrupted(error);
    out->se = sqrt(s.variance / (double)out->n);
    if (!isfinite(out->value) || !isfinite(out->se))
        return set_error(error, OLTR_EVALUE,
                         "the sum of weights times rewards is too large for a number; a "
                         "self-normalised estimator divides by the weights");
    oltr_status status = find_interval(rows, o, &s, out, error);
    if (status == OLTR_OK && isnan(out->low))
        add_sentence(out->warning,
                     rows->normalised
                         ? "More than a tenth of the resamples have no list with weight: there is "
                           "no bootstrap interval."
                         : "More than a tenth of the resamples of so few lists have none of them: "
                           "there is no bootstrap interval.",
                     0, 0);
    return status;
}

oltr_status oltr_ope_estimate(const oltr_ope_log *log, oltr_ope_estimator estimator,
                              const oltr_ope_options *options, oltr_ope_result *result,
                              oltr_error *error)
{
    oltr_ope_options o;
    ope_rows rows;
    if (!log || !result || (unsigned)estimator >= OLTR_OPE_ESTIMATORS)
        return set_error(error, OLTR_EINVAL,
                         "a log, an estimator and room for the result are "
                         "needed");
    if (reserved_check("a log", 0, log->reserved, sizeof log->reserved, error) != OLTR_OK)
        return OLTR_EINVAL;
    if (log->n < 2 || log->k < 1 || log->k > MOST_SLOTS || log->n > UINT64_MAX / 8 / log->k)
        return set_error(error, OLTR_EINVAL,
                         "a log has at least 2 lists of 1 to %d slots, not %llu lists of %u",
                         MOST_SLOTS, (unsigned long long)log->n, log->k);
    oltr_status status = read_options(options, &o, error);
    if (status != OLTR_OK)
        return status;
    double *room = calloc((size_t)log->k * 6, sizeof *room);
    if (!room)
        return set_error(error, OLTR_ENOMEM, "no memory for %u slots", log->k);
    status = ope_rows_begin(&rows, log, estimator, &o, room + 5 * (size_t)log->k, error);
    if (status == OLTR_OK)
        status = estimate(&rows, &o, room, result, error);
    free(room);
    return status;
}
