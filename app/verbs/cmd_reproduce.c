/* cmd_reproduce.c - `oltr reproduce`: every experiment of the paper, one after the other, and a
 * report of them all.
 *
 * Each experiment is a job like that of `oltr run` in a folder of its own.  A folder whose manifest
 * has the same configuration and data is finished and left alone, so the command can be stopped and
 * given again at any time. */
#define _POSIX_C_SOURCE 200809L
#include "app/args/command.h"
#include "app/run/finished.h"
#include "app/run/job.h"
#include "app/run/progress.h"
#include "report/figures/draw.h"
#include "report/io/whole_file.h"
#include "report/report.h"
#include "engine/base/quote.h"
#include "app/run/stop.h"
#include "app/run/team.h"
#include "app/args/value.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const struct option reproduce_options[] = {
    {'o', "output", "DIR", NULL,
     "where the report goes (default: report; with --quick: report-quick)"},
    {0, "quick", NULL, NULL,
     "a tour of half a minute: few replications, so that most claims cannot be told"},
    {0, "data", "DIR", NULL,
     "where the data sets are: DIR/web30k and DIR/istella, each with train.txt, vali.txt and "
     "test.txt"},
    {0, "experiments", "DIR", NULL,
     "where the experiment files are (default: those that came with the program)"},
    {'j', "threads", "N", NULL, "how many threads work (default, or 0: one for each processor)"},
    {'q', "quiet", NULL, NULL, "no progress; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

enum {
    MOST_FLAGS = 8,
    TOUR_SHARE = 20,
    TOUR_LEAST = 4,
    TOUR_QUERIES = 3,
    TOUR_ROUNDS = 300,
    TOUR_SCORERS = 3
};

/* The order of the paper; what is not in it comes after, by name. */
static const char *const order[] = {"noncontextual", "misspecification", "prior-init",
                                    "concentration", "linear",           "logistic",
                                    "web30k",        "istella",          "sigma",
                                    "linear-hard",   "logistic-sphere",  "scalar"};
enum { N_ORDERED = sizeof order / sizeof order[0] };

struct part {
    char *name, *file, *folder;
    struct override override[MOST_FLAGS];
    char *flag[MOST_FLAGS]; /* the same in words */
    char *value[MOST_FLAGS];
    uint32_t n_overrides;
    bool on_data;      /* plays a data set: */
    char *data;        /* this folder; NULL: one that is made up */
    bool data_is_told; /* the folder is of --data, not of the experiment file */
    double work;       /* a guess at its cost, to share the progress out */
    bool failed;
};

struct tour {
    const struct arguments *arguments;
    const char *output, *data;
    char *experiments;
    bool quick, quiet, terminal;
    uint32_t threads, count, current;
    struct part *part;  /* (count) */
    double done, total; /* of the work */
    double started,
        waited; /* seconds: when this call began; share of `done` that it found finished */
};

/* ---- where the experiments are */

static bool is_folder_of_experiments(const char *path)
{
    char *file = !path ? NULL : file_join(path, "noncontextual.yaml");
    bool there = file && access(file, R_OK) == 0;
    free(file);
    return there;
}

/* Beside the program: where it was installed, or where it was built. */
static char *beside_program(const char *way)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return NULL;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return file_join(program, way);
}

static int find_experiments(struct tour *tour)
{
    static const char *const ways[] = {"../share/oltr/experiments", "../../experiments"};
    const char *asked = arguments_value(tour->arguments, "experiments");
    tour->experiments = asked ? strdup(asked) : NULL;
    for (size_t i = 0; !asked && i < sizeof ways / sizeof ways[0]; i++) {
        char *path = beside_program(ways[i]);
        if (is_folder_of_experiments(path)) {
            tour->experiments = path;
            return EXIT_OK;
        }
        free(path);
    }
    if (!asked)
        tour->experiments = is_folder_of_experiments("experiments") ? strdup("experiments") : NULL;
    return tour->experiments ? EXIT_OK
                             : complain(EXIT_USAGE, "the experiment files are not beside the "
                                                    "program; say where with --experiments");
}

/* ---- which ones */

static size_t place_of(const char *name)
{
    for (size_t i = 0; i < N_ORDERED; i++)
        if (strcmp(order[i], name) == 0)
            return i;
    return N_ORDERED;
}

static int by_order(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    size_t first = place_of(x->name), second = place_of(y->name);
    return first != second ? (first < second ? -1 : 1) : strcmp(x->name, y->name);
}

static int add_part(struct tour *tour, const char *name, size_t length)
{
    struct part *grown = realloc(tour->part, (tour->count + 1) * sizeof *tour->part);
    if (!grown)
        return complain(EXIT_FAILED, "out of memory");
    tour->part = grown;
    struct part *part = &grown[tour->count++];
    memset(part, 0, sizeof *part);
    part->name = strndup(name, length);
    part->folder = !part->name ? NULL : file_join(tour->output, part->name);
    size_t size = strlen(tour->experiments) + length + 8;
    part->file = malloc(size);
    if (!part->folder || !part->file)
        return complain(EXIT_FAILED, "out of memory");
    snprintf(part->file, size, "%s/%s.yaml", tour->experiments, part->name);
    return EXIT_OK;
}

/* The length of the name before ".yaml", 0 for other files. */
static size_t experiment_name(const char *file)
{
    size_t length = strlen(file);
    return length > 5 && strcmp(file + length - 5, ".yaml") == 0 && file[0] != '.' ? length - 5 : 0;
}

static int find_all(struct tour *tour)
{
    DIR *open = opendir(tour->experiments);
    int code = EXIT_OK;
    if (!open)
        return complain(EXIT_USAGE, "%s: cannot look into it: %s", tour->experiments,
                        strerror(errno));
    for (const struct dirent *entry; code == EXIT_OK && (entry = readdir(open));) {
        size_t length = experiment_name(entry->d_name);
        code = length > 0 ? add_part(tour, entry->d_name, length) : EXIT_OK;
    }
    closedir(open);
    if (code == EXIT_OK && tour->count == 0)
        return complain(EXIT_USAGE, "%s: there is no experiment file (.yaml) in it",
                        tour->experiments);
    if (code == EXIT_OK)
        qsort(tour->part, tour->count, sizeof *tour->part, by_order);
    return code;
}

static int find_named(struct tour *tour)
{
    const struct arguments *arguments = tour->arguments;
    char word[QUOTE_SIZE];
    for (uint32_t i = 0; i < arguments->n_operands; i++) {
        const char *name = arguments->operand[i];
        if (!file_name_is_plain(name))
            return complain(
                EXIT_USAGE,
                "`%s` is not the name of an experiment; give it without folder and ending",
                quote_input(name, word));
        int code = add_part(tour, name, strlen(name));
        if (code != EXIT_OK)
            return code;
        if (access(tour->part[tour->count - 1].file, R_OK) != 0)
            return complain(EXIT_USAGE, "there is no experiment `%s` in %s",
                            quote_input(name, word), tour->experiments);
    }
    return EXIT_OK;
}

/* ---- what is changed in them */

static bool set(struct part *part, const char *key, const char *value)
{
    size_t size = strlen(key) + strlen(value) + 8;
    char *flag = malloc(size), *copy = strdup(value);
    if (part->n_overrides == MOST_FLAGS || !flag || !copy) {
        free(flag);
        free(copy);
        return false;
    }
    snprintf(flag, size, "--set %s=%s", key, value);
    part->flag[part->n_overrides] = flag;
    part->value[part->n_overrides] = copy;
    part->override[part->n_overrides++] =
        (struct override){.origin = "oltr reproduce", .key = key, .value = copy};
    return true;
}

static bool set_number(struct part *part, const char *key, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return set(part, key, digits);
}

static int read_part(const struct part *part, struct config *config)
{
    struct text text = {0};
    oltr_error error = {OLTR_OK, ""};
    struct overrides overrides = {part->n_overrides, part->override};
    oltr_status status = file_read(part->file, &text, &error);
    if (status == OLTR_OK)
        status = config_parse(part->file, text.bytes, text.length, &overrides, config, &error);
    text_free(&text);
    return status == OLTR_OK ? EXIT_OK : complain(EXIT_USAGE, "%s", error.msg);
}

static bool plays_data(const struct config *config)
{
    if (config->kind != CONFIG_REGRET)
        return false;
    const struct node *kind = tree_get(tree_get(config->root, "world"), "kind");
    return kind && strcmp(kind->text, "dataset") == 0;
}

/* What a round of everybody costs, roughly, in nanoseconds: only the ratio between experiments
 * matters.  How large a data set is nobody knows before it is read. */
static double cost_of_round(const oltr_experiment *point, bool on_data)
{
    double cost = 0, items = on_data ? 200 : point->world.n_items,
           dim = on_data ? 180 : point->world.dim;
    for (uint32_t i = 0; i < point->n_policies; i++) {
        const oltr_policy_info *info = point->policy[i].settings.info;
        double solver = strcmp(info->name, "logts") == 0 ? 5 : 1;
        cost += info->contextual ? 1000 + 0.3 * solver * dim * (items + dim) : 150 + 3 * items;
    }
    return cost;
}

static double work_of(const struct config *config)
{
    double work = 1e8; /* drawing */
    bool on_data = plays_data(config);
    for (uint32_t p = 0; p < config->n_points; p++) {
        const oltr_experiment *point = &config->points[p];
        double queries = !on_data                      ? 1
                         : config->plan[p].queries > 0 ? config->plan[p].queries
                                                       : 1000;
        work += queries * (double)point->replications * (double)point->rounds *
                cost_of_round(point, on_data);
    }
    return work;
}

/* The user's own copy of the data set, if there is one. */
static bool set_data(const struct tour *tour, const struct config *config, struct part *part)
{
    const char *own = config->plan[0].folder;
    char *folder = !tour->data ? NULL : file_join(tour->data, part->name);
    part->data_is_told = folder && access(folder, R_OK) == 0;
    if (part->data_is_told) {
        part->data = folder;
        return set(part, "world.data", folder);
    }
    free(folder);
    part->data = own ? strdup(own) : NULL;
    return !own || part->data;
}

static bool shrink(struct part *part, const struct config *config)
{
    uint32_t full = config->points[0].replications, few = full / TOUR_SHARE;
    if (part->on_data)
        return set_number(part, "replications", 1) &&
               set_number(part, "world.queries", TOUR_QUERIES) &&
               set_number(part, "rounds", TOUR_ROUNDS) &&
               (config->plan[0].rankers <= TOUR_SCORERS ||
                set_number(part, "world.rankers", TOUR_SCORERS)) &&
               (part->data || set(part, "world.generated", "{train: 12, vali: 4, test: 4}"));
    few = few < TOUR_LEAST ? TOUR_LEAST : few;
    return set_number(part, "replications", few < full ? few : full);
}

/* Reads the file once to see what it is, and says what is to be changed in it. */
static int plan_part(const struct tour *tour, struct part *part)
{
    struct config config = {0};
    int code = read_part(part, &config);
    bool room = true;
    if (code == EXIT_OK && config.kind == CONFIG_REGRET) {
        part->on_data = plays_data(&config);
        room = (!part->on_data || set_data(tour, &config, part)) &&
               (!tour->quick || shrink(part, &config));
    }
    if (code == EXIT_OK)
        part->work =
            work_of(&config) / (tour->quick && config.kind == CONFIG_REGRET ? TOUR_SHARE : 1);
    config_free(&config);
    part->failed = code != EXIT_OK;
    return room ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
}

/* ---- how far it is */

static double now(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void show(void *context, const oltr_progress *state)
{
    const struct tour *tour = context;
    const struct part *part = &tour->part[tour->current];
    double share = state->share;
    double done = tour->done + share * part->work, fresh = done - tour->waited,
           spent = now() - tour->started;
    char left[40];
    if (!tour->terminal && state->done == state->total)
        return; /* a line that says it is done follows */
    progress_time(fresh > 0 ? spent * (tour->total - done) / fresh : HUGE_VAL, left, sizeof left);
    fprintf(stderr, "%s%3.0f%% of all  ETA %s  [%u/%u] %s %.0f%%%s",
            tour->terminal ? "\r" : "oltr: ", floor(100 * done / tour->total), left,
            (unsigned)tour->current + 1, (unsigned)tour->count, part->name, floor(100 * share),
            tour->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

static void clear_line(const struct tour *tour)
{
    if (tour->terminal && !tour->quiet) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

/* ---- one experiment */

/* The folder holds the results of this very configuration and data, by this version of the
 * program. */
static bool is_done(const struct tour *tour, const struct part *part, bool *drawn)
{
    struct config config = {0};
    bool done = finished_there(part->folder) && read_part(part, &config) == EXIT_OK &&
                finished_same(part->folder, &config, tour->threads, drawn);
    config_free(&config);
    return done;
}

static int go_on(void)
{
    return !stop_asked();
}

static int draw_again(const struct part *part)
{
    uint32_t drawn;
    oltr_error error = {OLTR_OK, ""};
    return draw_folder(part->folder, go_on, &drawn, &error) == OLTR_OK
               ? EXIT_OK
               : complain(EXIT_FAILED, "%s", error.msg);
}

static int run_part(struct tour *tour, const struct part *part)
{
    struct job_watch watch = {tour->quiet ? NULL : show, tour, tour->terminal ? 0.25 : 10};
    struct job job = {
        .file = part->file,
        .folder = part->folder,
        .quiet = true,
        .resume = true,
        .force = true, /* the folder is ours: results of other settings or of another version are
                          replaced */
        .figures = true,
        .threads = tour->threads,
        .n_overrides = part->n_overrides,
        .override = part->override,
        .flag = (const char *const *)part->flag,
        .watch = &watch,
    };
    return job_run(&job);
}

static void do_part(struct tour *tour)
{
    struct part *part = &tour->part[tour->current];
    bool drawn = false, done = !part->failed && is_done(tour, part, &drawn);
    double start = now();
    if (!part->failed && !(done && drawn))
        part->failed = (done ? draw_again(part) : run_part(tour, part)) != EXIT_OK;
    clear_line(tour);
    if (!tour->quiet && !stop_asked()) {
        char time[40];
        progress_time(now() - start, time, sizeof time);
        printf("%-18s %s%s\n", part->name,
               part->failed    ? "FAILED"
               : done && drawn ? "was done before"
                               : "done in ",
               part->failed || (done && drawn) ? "" : time);
        fflush(stdout);
    }
    tour->done += part->work;
    tour->waited += done ? part->work : 0;
}

/* ---- the report */

/* What the reader must know before the first number. */
static void notice_of(const struct tour *tour, struct text *out)
{
    const char *first = "";
    if (tour->quick) {
        text_printf(
            out,
            "This is a tour: a %dth of the replications, and less of the data sets, so the numbers "
            "are rough and many claims cannot be told. `oltr reproduce` runs it all.",
            TOUR_SHARE);
        first = " ";
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < tour->count; i++)
        if (tour->part[i].on_data && !tour->part[i].data)
            text_printf(out, "%s%s", count++ > 0 ? " and " : first, tour->part[i].name);
    if (count > 0) {
        text_printf(
            out,
            " play%s generated data of the same shape, not the data set%s; --data DIR takes %s.",
            count > 1 ? "" : "s", count > 1 ? "s" : "", count > 1 ? "those" : "that");
        first = " ";
    }
    for (uint32_t i = 0; i < tour->count; i++) {
        if (tour->part[i].data) {
            text_printf(out, "%s%s plays %s.", first, tour->part[i].name, tour->part[i].data);
            first = " ";
        }
    }
}

static oltr_status write_about(const struct tour *tour, oltr_error *error)
{
    struct text notice = {0}, content = {0};
    json_t *experiments = json_array();
    notice_of(tour, &notice);
    for (uint32_t i = 0; i < tour->count; i++) {
        const struct part *part = &tour->part[i];
        const char *trouble =
            part->failed ? "It failed when it was run last; the program said why." : NULL;
        json_array_append_new(experiments,
                              json_pack("{s:s, s:s*}", "name", part->name, "trouble", trouble));
    }
    json_t *about =
        json_pack("{s:s, s:b, s:s, s:o}", "oltr", oltr_version(), "quick", (int)tour->quick,
                  "notice", notice.bytes ? notice.bytes : "", "experiments", experiments);
    char *dump = !about ? NULL : json_dumps(about, JSON_INDENT(2));
    text_add(&content, dump ? dump : "");
    text_add(&content, "\n");
    content.failed =
        content.failed || notice.failed || !dump || json_array_size(experiments) != tour->count;
    oltr_status status = file_write_in(tour->output, "report.json", &content, error);
    free(dump);
    json_decref(about);
    text_free(&notice);
    text_free(&content);
    return status;
}

/* *written: index.html is that of this call. */
static int write_report(const struct tour *tour, bool *written)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t missing = 0;
    struct report report = {0};
    *written = write_about(tour, &error) == OLTR_OK &&
               report_read(tour->output, &report, &error) == OLTR_OK &&
               report_write(&report, &missing, &error) == OLTR_OK;
    report_free(&report);
    if (!*written)
        return complain(EXIT_FAILED, "there is no report: %s", error.msg);
    return missing > 0 ? complain(EXIT_FAILED, "%u figure%s not drawn", (unsigned)missing,
                                  missing > 1 ? "s were" : " was")
                       : EXIT_OK;
}

/* ---- the whole */

static int read_request(struct tour *tour)
{
    const char *output = arguments_value(tour->arguments, "output");
    tour->quick = arguments_has(tour->arguments, "quick");
    tour->quiet = arguments_has(tour->arguments, "quiet");
    tour->data = arguments_value(tour->arguments, "data");
    tour->output = output ? output : tour->quick ? "report-quick" : "report";
    tour->terminal = isatty(STDERR_FILENO) == 1;
    if (*tour->output == '\0')
        return complain(EXIT_USAGE, "--output needs the name of a folder");
    if (tour->data && access(tour->data, R_OK) != 0)
        return complain(EXIT_USAGE, "--data %s: %s", tour->data, strerror(errno));
    int code = value_threads(tour->arguments, &tour->threads);
    return code == EXIT_OK ? find_experiments(tour) : code;
}

static int plan(struct tour *tour)
{
    int code = tour->arguments->n_operands > 0 ? find_named(tour) : find_all(tour);
    bool used = !tour->data;
    for (uint32_t i = 0; code == EXIT_OK && i < tour->count; i++) {
        code = plan_part(tour, &tour->part[i]);
        tour->total += tour->part[i].work;
        used = used || tour->part[i].data_is_told;
    }
    if (code == EXIT_OK && !used)
        return complain(EXIT_USAGE,
                        "--data %s: no experiment finds its data there; it needs the folders "
                        "web30k and istella",
                        tour->data);
    return code;
}

static void announce(const struct tour *tour)
{
    struct text notice = {0};
    notice_of(tour, &notice);
    printf("%u experiment%s into %s. %s\n", (unsigned)tour->count, plural_s(tour->count),
           tour->output, notice.bytes ? notice.bytes : "");
    fflush(stdout);
    text_free(&notice);
}

static int run_all(struct tour *tour)
{
    oltr_error error = {OLTR_OK, ""};
    if (file_make_folder(tour->output, &error) != OLTR_OK ||
        file_probe_folder(tour->output, &error) != OLTR_OK)
        return complain(EXIT_FAILED, "%s", error.msg);
    if (!tour->quiet)
        announce(tour);
    uint32_t failed = 0;
    stop_catch_signals();
    tour->started = now();
    for (tour->current = 0; tour->current < tour->count && !stop_asked(); tour->current++) {
        do_part(tour);
        failed += tour->part[tour->current].failed;
    }
    if (stop_asked())
        return complain(EXIT_STOPPED, "stopped; the same command goes on from there");
    bool written;
    int code = write_report(tour, &written);
    if (failed > 0)
        code = complain(EXIT_FAILED, "%u of %u experiment%s failed", (unsigned)failed,
                        (unsigned)tour->count, plural_s(tour->count));
    if (written && !tour->quiet)
        printf("the report is %s/index.html\n", tour->output);
    return code;
}

static void tour_free(struct tour *tour)
{
    for (uint32_t i = 0; i < tour->count; i++) {
        struct part *part = &tour->part[i];
        for (uint32_t j = 0; j < part->n_overrides; j++) {
            free(part->flag[j]);
            free(part->value[j]);
        }
        free(part->name);
        free(part->file);
        free(part->folder);
        free(part->data);
    }
    free(tour->part);
    free(tour->experiments);
}

int cmd_reproduce(const struct arguments *arguments)
{
    struct tour tour = {.arguments = arguments};
    if (team_of_process()->size > 1)
        return complain(
            EXIT_USAGE,
            "reproduce runs in one process; use `oltr`, or `oltr-mpi run` for one experiment");
    int code = read_request(&tour);
    if (code == EXIT_OK)
        code = plan(&tour);
    if (code == EXIT_OK)
        code = run_all(&tour);
    tour_free(&tour);
    return code;
}
