/* ope_rows.c - see ope_rows.h. */
#include "lab/ope/ope_rows.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"

/* Chances are computed numbers: this much above 1, or above the chance of a shorter beginning, is
 * rounding. */
#define SLACK 1e-6

uint32_t ope_length(const oltr_ope_log *log, uint64_t list)
{
    return log->length ? log->length[list] : log->k;
}

oltr_status ope_interrupted(oltr_error *error)
{
    return set_error(error, OLTR_EINTERRUPTED, "stopped before the estimate was made");
}

/* ---- checks */

static oltr_status bad(uint64_t list, uint32_t slot, const char *what, double value,
                       oltr_error *error)
{
    return set_error(error, OLTR_EVALUE, "list %llu, slot %u: %s, not %g", (unsigned long long)list,
                     slot + 1, what, value);
}

static oltr_status check_lengths(const oltr_ope_log *log, oltr_error *error)
{
    for (uint64_t i = 0; log->length && i < log->n; i++)
        if (log->length[i] < 1 || log->length[i] > log->k)
            return set_error(error, OLTR_EVALUE, "list %llu has %u slots; it may have 1 to %u",
                             (unsigned long long)i, log->length[i], log->k);
    return OLTR_OK;
}

/* Numbers that must be finite: rewards and predictions. */
static oltr_status check_finite(const oltr_ope_log *log, const double *value, const char *what,
                                oltr_error *error)
{
    for (uint64_t i = 0; i < log->n; i++)
        for (uint32_t l = 0; l < ope_length(log, i); l++) {
            double x = value[i * log->k + l];
            if (!(fabs(x) <= OPE_MOST_REWARD))
                return bad(i, l, what, x, error);
        }
    return OLTR_OK;
}

static oltr_status check_chance(const oltr_ope_log *log, uint64_t i, uint32_t l, double p,
                                bool logged, oltr_error *error)
{
    bool fits = log->logs ? p <= SLACK : p >= 0 && p <= 1 + SLACK;
    if (logged && fits)
        fits = log->logs ? p > -INFINITY : p > 0;
    if (fits)
        return OLTR_OK;
    return bad(i, l,
               log->logs ? logged ? "the logarithm of a logged chance must be finite and at most 0"
                                  : "the logarithm of a chance must be at most 0"
               : logged  ? "a logged chance must be above 0 and at most 1"
                         : "a chance must be from 0 to 1",
               p, error);
}

static bool falls(const oltr_ope_log *log, double before, double now)
{
    return log->logs ? now <= before + SLACK : now <= before * (1 + SLACK);
}

static oltr_status check_chances(const oltr_ope_log *log, const double *chance, bool logged,
                                 bool prefix, oltr_error *error)
{
    oltr_status status = OLTR_OK;
    for (uint64_t i = 0; status == OLTR_OK && i < log->n; i++) {
        const double *row = chance + i * log->k;
        for (uint32_t l = 0; status == OLTR_OK && l < ope_length(log, i); l++) {
            status = check_chance(log, i, l, row[l], logged, error);
            if (status == OLTR_OK && prefix && l > 0 && !falls(log, row[l - 1], row[l]))
                status = bad(i, l,
                             "a list cannot begin so more often than with one item less; the "
                             "chance must not rise",
                             row[l], error);
        }
    }
    return status;
}

static oltr_status need(const void *array, const char *name, oltr_ope_estimator estimator,
                        oltr_error *error)
{
    return array ? OLTR_OK
                 : set_error(error, OLTR_EINVAL, "%s needs %s", oltr_ope_name(estimator), name);
}

static oltr_status check_weights(const ope_rows *rows, oltr_error *error)
{
    const oltr_ope_log *log = rows->log;
    bool slot = rows->form == SLOT_WEIGHT;
    const double *logged = slot ? log->logged_slot : log->logged_prefix;
    const double *evaluated = slot ? log->evaluated_slot : log->evaluated_prefix;
    if (rows->form == NO_WEIGHT)
        return OLTR_OK;
    oltr_status status =
        need(logged, slot ? "logged_slot" : "logged_prefix", rows->estimator, error);
    if (status == OLTR_OK)
        status =
            need(evaluated, slot ? "evaluated_slot" : "evaluated_prefix", rows->estimator, error);
    if (status == OLTR_OK)
        status = check_chances(log, logged, true, !slot, error);
    return status == OLTR_OK ? check_chances(log, evaluated, false, !slot, error) : status;
}

static oltr_status check_predictions(const ope_rows *rows, oltr_error *error)
{
    const oltr_ope_log *log = rows->log;
    oltr_ope_estimator e = rows->estimator;
    oltr_status status = OLTR_OK;
    if (e == OLTR_OPE_DR)
        status = need(log->q, "q", e, error);
    if (status == OLTR_OK && e == OLTR_OPE_DR)
        status = check_finite(log, log->q, "q must be a finite number", error);
    if (status == OLTR_OK && (e == OLTR_OPE_DR || e == OLTR_OPE_DM))
        status = need(log->v, "v", e, error);
    if (status == OLTR_OK && (e == OLTR_OPE_DR || e == OLTR_OPE_DM))
        status = check_finite(log, log->v, "v must be a finite number", error);
    if (status == OLTR_OK && e == OLTR_OPE_REPLAY)
        status = need(log->match, "match", e, error);
    for (uint64_t i = 0; status == OLTR_OK && e == OLTR_OPE_REPLAY && i < log->n; i++)
        if (log->match[i] > 1)
            status = set_error(error, OLTR_EVALUE, "list %llu: match must be 0 or 1, not %u",
                               (unsigned long long)i, log->match[i]);
    return status;
}

/* ---- weights */

static double log_of(const oltr_ope_log *from, double chance)
{
    return from->logs ? chance : chance > 0 ? log(chance) : -INFINITY;
}

double ope_log_weight(const ope_rows *rows, uint64_t list, uint32_t slot)
{
    const oltr_ope_log *log = rows->log;
    uint32_t length = ope_length(log, list);
    if (rows->estimator == OLTR_OPE_REPLAY)
        return log->match[list] ? 0 : -INFINITY;
    uint64_t at = list * log->k + (rows->form == LIST_WEIGHT ? length - 1 : slot);
    bool marginal = rows->form == SLOT_WEIGHT;
    double evaluated = marginal ? log->evaluated_slot[at] : log->evaluated_prefix[at];
    double logged = marginal ? log->logged_slot[at] : log->logged_prefix[at];
    return log_of(log, evaluated) - log_of(log, logged);
}

static oltr_status too_heavy(const ope_rows *rows, uint64_t i, uint32_t l, double weight,
                             oltr_error *error)
{
    return set_error(error, OLTR_EVALUE,
                     "list %llu, slot %u: the evaluated policy is exp(%.0f) times as likely as the "
                     "logging one, a weight above %g that %s cannot use; a self-normalised "
                     "estimator can",
                     (unsigned long long)i, (rows->slots == 1 ? ope_length(rows->log, i) : l + 1),
                     weight, OPE_MOST_WEIGHT, oltr_ope_name(rows->estimator));
}

static oltr_status find_shifts(ope_rows *rows, oltr_error *error)
{
    const double most = log(OPE_MOST_WEIGHT);
    const uint64_t lists = rows->log->n;
    for (uint32_t l = 0; l < rows->slots; l++)
        rows->shift[l] = -INFINITY;
    for (uint64_t i = 0; rows->form != NO_WEIGHT && i < lists; i++) {
        if (ope_stopped_at(rows, i))
            return ope_interrupted(error);
        for (uint32_t l = 0; l < (rows->slots == 1 ? 1 : ope_length(rows->log, i)); l++) {
            double weight = ope_log_weight(rows, i, l);
            rows->shift[l] = fmax(rows->shift[l], weight);
            if (!rows->normalised && weight > most)
                return too_heavy(rows, i, l, weight, error);
        }
    }
    return OLTR_OK;
}

/* ---- rows */

static double sum_of(const double *reward, uint32_t n)
{
    double sum = 0;
    for (uint32_t l = 0; l < n; l++)
        sum += reward[l];
    return sum;
}

static double weighted_sum(const ope_rows *rows, uint64_t list, uint32_t n)
{
    const double *reward = rows->log->reward + list * rows->log->k;
    double sum = 0;
    for (uint32_t l = 0; l < n; l++)
        sum += exp(ope_log_weight(rows, list, l)) * reward[l];
    return sum;
}

static double doubly_robust(const ope_rows *rows, uint64_t list, uint32_t n)
{
    const oltr_ope_log *log = rows->log;
    uint64_t at = list * log->k;
    double sum = 0, before = 1;
    for (uint32_t l = 0; l < n; l++, at++) {
        double weight = exp(ope_log_weight(rows, list, l));
        sum += before * log->v[at] + weight * (log->reward[at] - log->q[at]);
        before = weight;
    }
    return sum;
}

static void normalised_row(const ope_rows *rows, uint64_t list, uint32_t n, double *num,
                           double *den)
{
    const double *reward = rows->log->reward + list * rows->log->k;
    for (uint32_t j = 0; j < rows->columns; j++) {
        bool is_there = ope_has_column(rows, n, j) && rows->shift[j] > -INFINITY;
        double weight = is_there ? exp(ope_log_weight(rows, list, j) - rows->shift[j]) : 0;
        den[j] = weight;
        num[j] = !is_there ? 0 : weight * (rows->columns == 1 ? sum_of(reward, n) : reward[j]);
    }
}

void ope_row(const ope_rows *rows, uint64_t list, double *num, double *den)
{
    const oltr_ope_log *log = rows->log;
    uint32_t n = ope_length(log, list);
    if (rows->normalised) {
        normalised_row(rows, list, n, num, den);
        return;
    }
    den[0] = 1;
    if (rows->estimator == OLTR_OPE_DM)
        num[0] = log->v[list * log->k];
    else if (rows->estimator == OLTR_OPE_DR)
        num[0] = doubly_robust(rows, list, n);
    else if (rows->form == LIST_WEIGHT)
        num[0] = exp(ope_log_weight(rows, list, 0)) * sum_of(log->reward + list * log->k, n);
    else
        num[0] = weighted_sum(rows, list, n);
}

/* ---- the beginning */

static const struct {
    weight_form form;
    bool normalised;
} shape[OLTR_OPE_ESTIMATORS] = {
    [OLTR_OPE_SIPS] = {LIST_WEIGHT, false},   [OLTR_OPE_IIPS] = {SLOT_WEIGHT, false},
    [OLTR_OPE_RIPS] = {PREFIX_WEIGHT, false}, [OLTR_OPE_SNSIPS] = {LIST_WEIGHT, true},
    [OLTR_OPE_SNIIPS] = {SLOT_WEIGHT, true},  [OLTR_OPE_SNRIPS] = {PREFIX_WEIGHT, true},
    [OLTR_OPE_DR] = {PREFIX_WEIGHT, false},   [OLTR_OPE_DM] = {NO_WEIGHT, false},
    [OLTR_OPE_REPLAY] = {LIST_WEIGHT, true},
};

oltr_status ope_rows_begin(ope_rows *rows, const oltr_ope_log *log, oltr_ope_estimator estimator,
                           const oltr_ope_options *options, double *shift, oltr_error *error)
{
    *rows = (ope_rows){.log = log,
                       .stop = options->stop,
                       .context = options->context,
                       .estimator = estimator,
                       .form = shape[estimator].form,
                       .normalised = shape[estimator].normalised,
                       .shift = shift};
    rows->slots = rows->form == LIST_WEIGHT || rows->form == NO_WEIGHT ? 1 : log->k;
    rows->columns = rows->normalised ? rows->slots : 1;
    oltr_status status = check_lengths(log, error);
    if (status == OLTR_OK && estimator != OLTR_OPE_DM)
        status = need(log->reward, "reward", estimator, error);
    if (status == OLTR_OK && estimator != OLTR_OPE_DM)
        status = check_finite(log, log->reward, "a reward must be a finite number", error);
    if (status == OLTR_OK)
        status = check_predictions(rows, error);
    if (status == OLTR_OK && estimator != OLTR_OPE_REPLAY)
        status = check_weights(rows, error);
    return status == OLTR_OK ? find_shifts(rows, error) : status;
}
