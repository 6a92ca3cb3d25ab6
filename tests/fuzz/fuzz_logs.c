/* fuzz_logs.c - any bytes as a click log, for models of three kinds: taken whole, or refused with a
 * file and a line; what a strict reader takes, a lenient one takes too, and to the same lessons;
 * every lesson is one that a model may be given.
 */
#define _GNU_SOURCE 1
#include "app/logs/log_files.h"
#include "target.h"

#include <math.h>
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

/* What was learned, as a number that depends on everything of every lesson in turn. */
struct sum {
    uint64_t lessons, hash;
    uint32_t dim;
    bool clicks_only;
};

static void mix(struct sum *s, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        s->hash = (s->hash ^ at[i]) * 0x100000001B3;
}

static void check_slot(struct sum *s, const oltr_lesson *l, uint32_t i)
{
    must_hold(isfinite(l->reward[i]), "rewards are finite");
    mix(s, &l->reward[i], sizeof l->reward[i]);
    if (l->shown.name) {
        must_hold(l->shown.name[i].size >= 1 && l->shown.name[i].size <= OLTR_LONGEST_NAME,
                  "names have a length");
        mix(s, l->shown.name[i].bytes, l->shown.name[i].size);
    }
    for (uint32_t j = 0; l->shown.x && j < s->dim; j++)
        mix(s, &l->shown.x[i * s->dim + j], sizeof(float));
    if (l->examine == OLTR_EXAMINE_MASK)
        must_hold(l->examined[i] <= 1, "a mask holds 0 and 1");
    if (l->weight)
        mix(s, &l->weight[i], sizeof l->weight[i]);
}

static oltr_status learn(void *with, const oltr_lesson *l, int *applied, oltr_error *error)
{
    struct sum *s = with;
    (void)error;
    must_hold(l->shown.n >= 1 && l->shown.n <= OLTR_MOST_SHOWN, "a lesson has slots");
    must_hold(s->dim > 0 ? l->shown.x && !l->shown.name : l->shown.name && !l->shown.x,
              "names or features");
    must_hold(l->id.size <= OLTR_LONGEST_NAME, "an id has a length");
    must_hold(l->examine <= OLTR_EXAMINE_MASK && l->depth <= l->shown.n, "a rule is one of them");
    for (uint32_t i = 0; i < l->shown.n; i++)
        check_slot(s, l, i);
    mix(s, l->id.bytes, l->id.size);
    s->lessons++;
    *applied = 1;
    return OLTR_OK;
}

static oltr_status read_as(int kind, bool weights, bool lenient, struct sum *s,
                           struct log_report *report, oltr_error *error)
{
    const char *file = path;
    struct log_found found;
    *report = (struct log_report){.lenient = lenient};
    *s = (struct sum){.dim = kind == 2 ? 2 : 0, .clicks_only = kind == 0};
    struct log_files files = {
        .path = &file, .n = 1, .capacity = kind == 1 ? 3 : 200, .wait = kind == 1 ? 60 : -1};
    files.join = (struct log_join_options){
        .learn = learn, .with = s, .report = report, .remember = 16, .unseen_seen = kind != 1};
    files.options = (struct log_options){.dim = s->dim,
                                         .clicks_only = s->clicks_only,
                                         .clicks = "click",
                                         .impressions = "impression",
                                         .most_shown = kind == 1 ? 5 : OLTR_MOST_SHOWN};
    if (kind == 1 && weights)
        must_hold(log_names_add(&files.options.names, "weight=w", error) == OLTR_OK,
                  "columns can be named");
    return log_files_learn(&files, &found, error);
}

/* Whether the first line ends in a column `w`. */
static bool has_weights(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    size_t end = newline ? (size_t)(newline - data) : size;
    end -= end > 0 && data[end - 1] == '\r';
    return end > 1 && data[end - 1] == 'w' && strchr(",;\t", data[end - 2]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool weights = has_weights(data, size);
    write_file(data, size);
    for (int kind = 0; kind < 3; kind++) {
        struct sum strict, lenient;
        struct log_report report;
        oltr_error error = {OLTR_OK, ""}, other = {OLTR_OK, ""};
        oltr_status status = read_as(kind, weights, false, &strict, &report, &error);
        must_hold(status == OLTR_OK || (error.code == status && error.msg[0]),
                  "a refusal has a code and words");
        oltr_status again = read_as(kind, weights, true, &lenient, &report, &other);
        if (status == OLTR_OK && again == OLTR_OK)
            must_hold(strict.hash == lenient.hash && strict.lessons == lenient.lessons &&
                          report.bad == 0 && report.bad_lists == 0,
                      "a good log is the same to both");
        must_hold(status != OLTR_OK || again == OLTR_OK || again == OLTR_ENOMEM,
                  "a lenient reader takes what a strict one takes");
        if (status == OLTR_EDATA && again == OLTR_OK)
            must_hold(report.bad + report.bad_lists > 0, "what was refused is counted");
    }
    return 0;
}
