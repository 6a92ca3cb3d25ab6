/* ope_results.h - estimates of several policies: computed, and as a table, CSV, JSON. */
#ifndef OLTR_APP_OPE_OPE_RESULTS_H
#define OLTR_APP_OPE_OPE_RESULTS_H

#include "app/ope/policy_chances.h"

struct ope_estimate {
    const char *policy;
    const char *estimator; /* "mean" of the logged rewards */
    char chances[32];      /* how they were found: exact, 1000 draws, columns, shares of a log */
    oltr_ope_result result;
    bool has_weights;
};

struct ope_results {
    uint32_t n, room;
    struct ope_estimate *estimate; /* (n) */
    uint32_t n_notes;
    struct text notes; /* lines */
    /* What they are estimates of. */
    const char *log;
    uint64_t lists;
    uint32_t slots, items;
    bool by_row;
    double confidence;
    const char *interval;
};

/* Whether the log and these chances have what an estimator reads; otherwise why not, or NULL. */
bool ope_can_estimate(const struct ope_data *data, const struct policy_chances *chances,
                      oltr_ope_estimator estimator, const char **why);
/* Adds an estimate.  A refusal for a weight beyond the numbers becomes a note with its line. */
oltr_status ope_results_add(struct ope_results *results, const struct ope_data *data,
                            const struct policy_chances *chances, oltr_ope_estimator estimator,
                            const oltr_ope_options *options, struct ope_estimate *row,
                            oltr_error *error);
/* The mean of the logged rewards: the value of the policy that made the log. */
oltr_status ope_results_add_logged(struct ope_results *results, const struct ope_data *data,
                                   const oltr_ope_options *options, oltr_error *error);
void ope_results_note(struct ope_results *results, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ope_results_free(struct ope_results *results);

/* The table and the notes for a terminal; the same as CSV and JSON. */
void ope_results_text(const struct ope_results *results, struct text *out);
void ope_results_csv(const struct ope_results *results, struct text *out);
void ope_results_json(const struct ope_results *results, struct text *out);

#endif
