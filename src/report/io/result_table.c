/* result_table.c - see results.h.  The columns are a promise to other people's scripts: they never
 * change order. */
#include "report/io/result_table.h"

#include "report/io/csv.h"
#include "engine/base/quote.h"
#include "report/io/whole_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"sweep",     "policy", "round",       "regret",
                                      "regret_se", "reward", "replications"};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

/* ---- writing */

static void add_heading(struct text *out)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        text_printf(out, "%s%c", columns[i], i + 1 < N_COLUMNS ? ',' : '\n');
}

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
    add_heading(out);
    for (uint32_t p = 0; p < n_points; p++) {
        const oltr_experiment *point = &points[p];
        for (uint32_t i = 0; i < point->n_policies; i++) {
            for (uint32_t c = last_only ? point->n_checkpoints - 1 : 0; c < point->n_checkpoints;
                 c++) {
                add_row(out, sweep != NULL ? sweep[p] : "", point->policy[i].label,
                        point->checkpoint[c], oltr_results_at(results, p, i, c));
            }
        }
    }
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
    text_add(out, "sweep,round,policy,other,difference,difference_se,replications\n");
    for (uint32_t p = 0; p < n_points; p++) {
        for (uint32_t i = 0; i < points[p].n_policies; i++)
            for (uint32_t j = i + 1; j < points[p].n_policies; j++)
                add_pairs(&points[p], sweep != NULL ? sweep[p] : "", results, p, i, j, out);
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
    text_add(out, "sweep,query,documents,policy,regret,regret_se,replications\n");
    for (uint32_t p = 0; p < n_points; p++)
        for (uint32_t q = 0;
             points[p].world.dataset != NULL && q < points[p].world.dataset->n_queries; q++)
            add_query(&points[p], sweep != NULL ? sweep[p] : "", results, p, q, out);
}

/* ---- reading */

static bool parse_row(char **field, struct result_row *row)
{
    if (!count_is_plain(field[2]) || !number_is_plain(field[3]) || !number_is_plain(field[4]) ||
        !number_is_plain(field[5]) || !count_is_plain(field[6]))
        return false;
    row->sweep = field[0];
    row->policy = field[1];
    row->round = strtoull(field[2], NULL, 10);
    row->regret = strtod(field[3], NULL);
    row->regret_se = strtod(field[4], NULL);
    row->reward = strtod(field[5], NULL);
    row->replications = (uint32_t)strtoull(field[6], NULL, 10);
    return true;
}

static bool is_heading(char **field, int count)
{
    bool same = count == N_COLUMNS;
    for (int i = 0; same && i < count; i++)
        same = strcmp(field[i], columns[i]) == 0;
    return same;
}

static oltr_status parse_table(const char *folder, struct result_table *table, oltr_error *error)
{
    char *field[N_COLUMNS], *at = table->memory.bytes;
    if (!is_heading(field, csv_record(&at, field, N_COLUMNS))) {
        return set_error(error, OLTR_EIO,
                         "%s/results.csv: line 1 is not the heading that oltr run writes", folder);
    }
    int count;
    while ((count = csv_record(&at, field, N_COLUMNS)) != 0) {
        if (count != N_COLUMNS || !parse_row(field, &table->row[table->count])) {
            return set_error(
                error, OLTR_EIO,
                "%s/results.csv: record %zu is broken; run the experiment again to get a good file",
                folder, table->count + 2);
        }
        table->count++;
    }
    return OLTR_OK;
}

oltr_status result_table_read(const char *folder, struct result_table *table, oltr_error *error)
{
    memset(table, 0, sizeof *table);
    oltr_status status = file_read_in(folder, "results.csv", &table->memory, error);
    if (status != OLTR_OK)
        return status;
    if (strlen(table->memory.bytes) != table->memory.length) {
        return set_error(error, OLTR_EIO,
                         "%s/results.csv: has zero bytes in it; it is not a text file", folder);
    }
    table->row = calloc(csv_lines(&table->memory), sizeof *table->row);
    if (table->row == NULL)
        return set_error(error, OLTR_ENOMEM, "%s/results.csv: out of memory", folder);
    return parse_table(folder, table, error);
}

const struct result_row *result_find(const struct result_table *table, const char *sweep,
                                     const char *policy, uint64_t round)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct result_row *row = &table->row[i];
        if (row->round == round && strcmp(row->policy, policy) == 0 &&
            strcmp(row->sweep, sweep) == 0)
            return row;
    }
    return NULL;
}

const struct result_row *result_last(const struct result_table *table, const char *sweep,
                                     const char *policy)
{
    const struct result_row *last = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct result_row *row = &table->row[i];
        if (strcmp(row->policy, policy) == 0 && strcmp(row->sweep, sweep) == 0 &&
            (last == NULL || row->round > last->round))
            last = row;
    }
    return last;
}

void result_table_free(struct result_table *table)
{
    free(table->row);
    text_free(&table->memory);
    memset(table, 0, sizeof *table);
}
