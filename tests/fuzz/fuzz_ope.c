/* fuzz_ope.c - any bytes as a log for off-policy evaluation: taken whole, or refused with words.
 * What is taken has chances within bounds, items that exist, each once in a list, among the
 * candidates; and every estimator gives a number or refuses it.
 */
#define _GNU_SOURCE 1
#include "app/ope/ope_results.h"
#include "target.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char path[64];

/* A file in memory, with a path. */
static void write_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        must_hold(fd >= 0, "a file in memory can be made");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must_hold(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size,
              "it can be written");
}

static oltr_status read_log(struct ope_data *data, bool lenient, struct log_report *report,
                            oltr_error *error)
{
    static const char *const name = "new";
    const char *file = path;
    struct log_found found;
    *report = (struct log_report){.lenient = lenient};
    *data = (struct ope_data){.train_share = lenient ? 0.3 : 0, .open = 50};
    oltr_status status = ope_data_columns(data, &name, 1, error);
    struct log_files files = {.path = &file, .n = 1, .capacity = 50, .wait = -1};
    files.join = (struct log_join_options){
        .take = ope_data_take, .with = data, .report = report, .remember = 16, .unseen_seen = true};
    files.options = (struct log_options){
        .clicks = "click", .impressions = "impression", .most_shown = OLTR_MOST_SHOWN};
    files.options.names.extra = data->extra;
    files.options.names.n_extra = data->n_columns;
    if (status == OLTR_OK)
        status = log_files_learn(&files, &found, error);
    return status == OLTR_OK ? ope_data_end(data, error) : status;
}

/* ---- what was taken */

static bool is_member(const struct ope_data *data, uint32_t set, uint32_t item)
{
    uint32_t n;
    const uint32_t *member = set == ALL_ITEMS ? NULL : ope_members(data, set, &n);
    bool found = !member;
    for (uint32_t i = 0; member && i < n; i++)
        found = found || member[i] == item;
    return found;
}

static void check_columns(const struct ope_data *data, const struct ope_lists *lists, uint64_t at,
                          uint32_t slot)
{
    for (uint32_t c = 0; c < data->n_columns; c++) {
        const double *column = lists->column[c];
        if (!column)
            continue;
        must_hold(column[at] <= 1 && (c < OPE_LOGGED ? column[at] > 0 : column[at] >= 0),
                  "chances are within bounds");
        if (slot > 0 && c % 2 == 0)
            must_hold(column[at] <= column[at - 1] * (1 + 1e-9), "chances of beginnings fall");
    }
}

static void check_lists(const struct ope_data *data, const struct ope_lists *lists)
{
    for (uint64_t i = 0; i < lists->n; i++) {
        must_hold(lists->length[i] >= 1 && lists->length[i] <= lists->k, "a list has slots");
        must_hold(lists->set[i] == ALL_ITEMS || lists->set[i] < data->n_sets, "a set exists");
        for (uint32_t l = 0; l < lists->length[i]; l++) {
            uint64_t at = i * lists->k + l;
            must_hold(lists->item[at] < data->items.n, "an item has a name");
            must_hold(is_member(data, lists->set[i], lists->item[at]), "it is a candidate");
            must_hold(isfinite(lists->reward[at]), "rewards are finite");
            for (uint32_t above = 0; above < l; above++)
                must_hold(lists->item[at] != lists->item[i * lists->k + above], "each item once");
            check_columns(data, lists, at, l);
        }
    }
}

/* ---- estimates */

static void estimate(struct ope_data *data)
{
    struct ope_results results = {.log = path, .interval = "normal", .confidence = 0.9};
    struct policy_chances chances;
    oltr_ope_options options = {.size = sizeof options, .interval = OLTR_OPE_NORMAL};
    struct text out = {0};
    chances_of_columns(data, 0, &chances);
    for (uint32_t e = 0; e < OLTR_OPE_ESTIMATORS; e++) {
        struct ope_estimate row = {.policy = "columns:new"};
        oltr_error error = {OLTR_OK, ""};
        const char *why;
        if (!ope_can_estimate(data, &chances, (oltr_ope_estimator)e, &why)) {
            must_hold(why && *why, "a reason has words");
            continue;
        }
        oltr_status status = ope_results_add(&results, data, &chances, (oltr_ope_estimator)e,
                                             &options, &row, &error);
        must_hold(status == OLTR_OK || error.msg[0], "a refusal has words");
    }
    ope_results_text(&results, &out);
    ope_results_csv(&results, &out);
    ope_results_json(&results, &out);
    text_free(&out);
    ope_results_free(&results);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    write_file(bytes, size);
    for (int lenient = 0; lenient < 2; lenient++) {
        struct ope_data data;
        struct log_report report;
        oltr_error error = {OLTR_OK, ""};
        oltr_status status = read_log(&data, lenient, &report, &error);
        must_hold(status == OLTR_OK || (error.code == status && error.msg[0]),
                  "a refusal has a code and words");
        if (status == OLTR_OK) {
            check_lists(&data, &data.eval);
            check_lists(&data, &data.train);
            if (data.eval.n >= 2)
                estimate(&data);
        }
        ope_data_free(&data);
    }
    return 0;
}
