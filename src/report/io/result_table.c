/* result_table.c - see result_table.h.  Other people's scripts read these columns: they never
 * change order. */
#include "report/io/result_table.h"

#include "report/io/whole_file.h"

#include <inttypes.h>
#include <string.h>

#define RESULT(kind, name)                                                                         \
    {                                                                                              \
#name, kind, offsetof(struct result_row, name)                                             \
    }
static const struct csv_column result_columns[] = {
    RESULT(CSV_TEXT, sweep),        RESULT(CSV_TEXT, policy),      RESULT(CSV_COUNT, round),
    RESULT(CSV_NUMBER, regret),     RESULT(CSV_NUMBER, regret_se), RESULT(CSV_NUMBER, reward),
    RESULT(CSV_COUNT, replications)};
static const struct csv_column metric_columns[] = {
    RESULT(CSV_TEXT, sweep),
    RESULT(CSV_TEXT, policy),
    RESULT(CSV_COUNT, round),
    RESULT(CSV_TEXT, metric),
    {"mean", CSV_NUMBER, offsetof(struct result_row, regret)},
    {"se", CSV_NUMBER, offsetof(struct result_row, regret_se)},
    RESULT(CSV_COUNT, replications)};
const char *const metric_names[N_METRICS] = {
    [METRIC_CTR] = "ctr", [METRIC_NDCG] = "ndcg", [METRIC_WORST] = "worst"};
#define PAIR(kind, name)                                                                           \
    {                                                                                              \
#name, kind, offsetof(struct pair_row, name)                                               \
    }
static const struct csv_column pair_columns[] = {
    PAIR(CSV_TEXT, sweep),        PAIR(CSV_COUNT, round),       PAIR(CSV_TEXT, policy),
    PAIR(CSV_TEXT, other),        PAIR(CSV_NUMBER, difference), PAIR(CSV_NUMBER, difference_se),
    PAIR(CSV_COUNT, replications)};
enum {
    RESULT_COLUMNS = sizeof result_columns / sizeof *result_columns,
    METRIC_COLUMNS = sizeof metric_columns / sizeof *metric_columns,
    PAIR_COLUMNS = sizeof pair_columns / sizeof *pair_columns
};

/* ---- writing */

/* Nine digits: more than any standard error justifies, few enough to be read. */
static void add_row(struct text *out, const char *sweep, const char *label, uint64_t round,
                    oltr_outcome outcome)
{
    csv_field(out, sweep);
    text_add(out, ",");
    csv_field(out, label);
    text_printf(out, ",%" PRIu64 ",%.9g,%.9g,%.9g,%" PRIu32 "\n", round, outcome.regret,
                outcome.regret_se, outcome.reward, outcome.replications);
}

void results_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, bool last_only, struct text *out)
{
    csv_heading(out, result_columns, RESULT_COLUMNS);
    for (uint32_t p = 0; p < n_points; p++) {
        const oltr_experiment *point = &points[p];
        for (uint32_t i = 0; i < point->n_policies; i++) {
            for (uint32_t c = last_only ? point->n_checkpoints - 1 : 0; c < point->n_checkpoints;
                 c++) {
                add_row(out, sweep ? sweep[p] : "", point->policy[i].label, point->checkpoint[c],
                        oltr_results_at(results, p, i, c));
            }
        }
    }
}

static void add_metric(const oltr_experiment *point, const char *sweep, const oltr_results *results,
                       uint32_t p, uint32_t i, uint32_t metric, struct text *out)
{
    static const uint32_t number[N_METRICS] = {
        [METRIC_CTR] = OLTR_CTR, [METRIC_NDCG] = OLTR_NDCG, [METRIC_WORST] = OLTR_WORST};
    for (uint32_t c = 0; c < point->n_checkpoints; c++) {
        oltr_estimate of = oltr_results_metric(results, p, i, c, number[metric]);
        if (!of.replications)
            continue;
        csv_field(out, sweep);
        text_add(out, ",");
        csv_field(out, point->policy[i].label);
        text_printf(out, ",%" PRIu64 ",%s,%.9g,%.9g,%" PRIu32 "\n", point->checkpoint[c],
                    metric_names[metric], of.mean, of.se, of.replications);
    }
}

void metrics_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, struct text *out)
{
    csv_heading(out, metric_columns, METRIC_COLUMNS);
    for (uint32_t p = 0; p < n_points; p++)
        for (uint32_t i = 0; i < points[p].n_policies; i++)
            for (uint32_t m = 0; m < N_METRICS; m++)
                add_metric(&points[p], sweep ? sweep[p] : "", results, p, i, m, out);
}

static void add_pairs(const oltr_experiment *point, const char *sweep, const oltr_results *results,
                      uint32_t p, uint32_t i, uint32_t j, struct text *out)
{
    for (uint32_t c = 0; c < point->n_checkpoints; c++) {
        oltr_estimate difference = oltr_results_pair(results, p, i, j, c);
        csv_field(out, sweep);
        text_printf(out, ",%" PRIu64 ",", point->checkpoint[c]);
        csv_field(out, point->policy[i].label);
        text_add(out, ",");
        csv_field(out, point->policy[j].label);
        text_printf(out, ",%.9g,%.9g,%" PRIu32 "\n", difference.mean, difference.se,
                    difference.replications);
    }
}

void pairs_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
               const oltr_results *results, struct text *out)
{
    csv_heading(out, pair_columns, PAIR_COLUMNS);
    for (uint32_t p = 0; p < n_points; p++) {
        for (uint32_t i = 0; i < points[p].n_policies; i++)
            for (uint32_t j = i + 1; j < points[p].n_policies; j++)
                add_pairs(&points[p], sweep ? sweep[p] : "", results, p, i, j, out);
    }
}

static void add_query(const oltr_experiment *point, const char *sweep, const oltr_results *results,
                      uint32_t p, uint32_t query, struct text *out)
{
    const oltr_dataset *data = point->world.dataset;
    for (uint32_t i = 0; i < point->n_policies; i++) {
        oltr_estimate regret = oltr_results_in_group(results, p, i, query);
        csv_field(out, sweep);
        text_printf(out, ",%" PRIu64 ",%" PRIu32 ",", data->query[query],
                    data->first_row[query + 1] - data->first_row[query]);
        csv_field(out, point->policy[i].label);
        text_printf(out, ",%.9g,%.9g,%" PRIu32 "\n", regret.mean, regret.se, regret.replications);
    }
}

void queries_csv(const oltr_experiment *points, uint32_t n_points, const char *const *sweep,
                 const oltr_results *results, struct text *out)
{
    for (uint32_t p = 0; p < n_points; p++) {
        const oltr_dataset *data = points[p].world.dataset;
        if (!data || oltr_results_groups(results, p) != data->n_queries)
            continue;
        if (!out->length)
            text_add(out, "sweep,query,documents,policy,regret,regret_se,replications\n");
        for (uint32_t q = 0; q < data->n_queries; q++)
            add_query(&points[p], sweep ? sweep[p] : "", results, p, q, out);
    }
}

/* ---- reading */

oltr_status result_table_read(const char *folder, struct result_table *table, oltr_error *error)
{
    oltr_status status = csv_read(folder, "results.csv", result_columns, RESULT_COLUMNS,
                                  sizeof *table->row, &table->file, error);
    table->row = table->file.row;
    table->count = table->file.count;
    return status;
}

oltr_status metric_table_read(const char *folder, uint32_t metric, struct result_table *table,
                              oltr_error *error)
{
    *table = (struct result_table){0};
    if (!file_is_in(folder, "metrics.csv"))
        return OLTR_OK;
    oltr_status status = csv_read(folder, "metrics.csv", metric_columns, METRIC_COLUMNS,
                                  sizeof *table->row, &table->file, error);
    struct result_row *row = table->file.row;
    for (size_t i = 0; status == OLTR_OK && i < table->file.count; i++)
        if (strcmp(row[i].metric, metric_names[metric]) == 0)
            row[table->count++] = row[i];
    table->row = row;
    return status;
}

oltr_status pair_table_read(const char *folder, struct pair_table *table, oltr_error *error)
{
    oltr_status status = csv_read(folder, "pairs.csv", pair_columns, PAIR_COLUMNS,
                                  sizeof *table->row, &table->file, error);
    table->row = table->file.row;
    table->count = table->file.count;
    return status;
}

static bool is_of(const struct result_row *row, const char *sweep, const char *policy)
{
    return strcmp(row->policy, policy) == 0 && strcmp(row->sweep, sweep) == 0;
}

const struct result_row *result_find(const struct result_table *table, const char *sweep,
                                     const char *policy, uint64_t round)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->row[i].round == round && is_of(&table->row[i], sweep, policy))
            return &table->row[i];
    return NULL;
}

const struct result_row *result_last(const struct result_table *table, const char *sweep,
                                     const char *policy, uint64_t limit)
{
    const struct result_row *last = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct result_row *row = &table->row[i];
        if ((limit == 0 || row->round <= limit) && (!last || row->round > last->round) &&
            is_of(row, sweep, policy))
            last = row;
    }
    return last;
}

bool pair_find(const struct pair_table *table, const char *sweep, uint64_t round,
               const char *policy, const char *other, double *difference, double *difference_se)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct pair_row *row = &table->row[i];
        if (row->round != round || strcmp(row->sweep, sweep) != 0)
            continue;
        bool forth = strcmp(row->policy, policy) == 0 && strcmp(row->other, other) == 0;
        bool back = strcmp(row->policy, other) == 0 && strcmp(row->other, policy) == 0;
        if (forth || back) {
            *difference = forth ? row->difference : -row->difference;
            *difference_se = row->difference_se;
            return true;
        }
    }
    return false;
}
