/* pair_table.c - see pairs.h. */
#include "report/io/pair_table.h"

#include "engine/base/error.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"
#include "report/io/result_table.h"

#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"sweep",      "round",         "policy",      "other",
                                      "difference", "difference_se", "replications"};
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static bool is_heading(char **field, int count)
{
    bool same = count == N_COLUMNS;
    for (int i = 0; same && i < count; i++)
        same = strcmp(field[i], columns[i]) == 0;
    return same;
}

static bool parse_row(char **field, struct pair_row *row)
{
    if (!count_is_plain(field[1]) || !number_is_plain(field[4]) || !number_is_plain(field[5]) ||
        !count_is_plain(field[6]))
        return false;
    row->sweep = field[0];
    row->round = strtoull(field[1], NULL, 10);
    row->policy = field[2];
    row->other = field[3];
    row->difference = strtod(field[4], NULL);
    row->difference_se = strtod(field[5], NULL);
    row->replications = (uint32_t)strtoull(field[6], NULL, 10);
    return true;
}

static oltr_status parse_table(const char *folder, struct pair_table *table, oltr_error *error)
{
    char *field[N_COLUMNS], *at = table->memory.bytes;
    if (!is_heading(field, csv_record(&at, field, N_COLUMNS))) {
        return set_error(error, OLTR_EIO,
                         "%s/pairs.csv: line 1 is not the heading that oltr run writes", folder);
    }
    int count;
    while ((count = csv_record(&at, field, N_COLUMNS)) != 0) {
        if (count != N_COLUMNS || !parse_row(field, &table->row[table->count])) {
            return set_error(
                error, OLTR_EIO,
                "%s/pairs.csv: record %zu is broken; run the experiment again to get a good file",
                folder, table->count + 2);
        }
        table->count++;
    }
    return OLTR_OK;
}

oltr_status pair_table_read(const char *folder, struct pair_table *table, oltr_error *error)
{
    memset(table, 0, sizeof *table);
    oltr_status status = file_read_in(folder, "pairs.csv", &table->memory, error);
    if (status != OLTR_OK)
        return status;
    if (strlen(table->memory.bytes) != table->memory.length) {
        return set_error(error, OLTR_EIO,
                         "%s/pairs.csv: has zero bytes in it; it is not a text file", folder);
    }
    table->row = calloc(csv_lines(&table->memory), sizeof *table->row);
    if (table->row == NULL)
        return set_error(error, OLTR_ENOMEM, "%s/pairs.csv: out of memory", folder);
    return parse_table(folder, table, error);
}

void pair_table_free(struct pair_table *table)
{
    free(table->row);
    text_free(&table->memory);
    memset(table, 0, sizeof *table);
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
