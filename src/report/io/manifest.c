/* manifest.c - see manifest.h.  People may edit a manifest and then run `oltr plot`, so every field
 * is checked when it is read. */
#define _POSIX_C_SOURCE 200809L
#include "report/io/manifest.h"

#include "engine/base/quote.h"
#include "report/io/json_text.h"
#include "report/io/whole_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const char *const x_names[] = {"round", "sweep"};

/* ---- writing */

/* A seed may be larger than what JSON readers take for a whole number. */
static json_t *whole(uint64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_string(digits);
}

static json_t *now(void)
{
    char date[32] = "unknown";
    time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(date);
}

static json_t *compiler(void)
{
#if defined(OLTR_COMPILER)
    return json_string(OLTR_COMPILER);
#elif defined(__GNUC__)
    return json_string("gcc " __VERSION__);
#else
    return json_string("unknown");
#endif
}

/* The name of the processor on Linux; "" elsewhere. */
static void processor_name(char *out, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    *out = '\0';
    while (file && !*out && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            line[strcspn(line, "\n")] = '\0';
            (void)snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
        }
    }
    if (file)
        (void)fclose(file); /* it was only read */
}

static json_t *host(void)
{
    struct utsname name;
    char processor[128];
    if (uname(&name) != 0)
        return json_string("unknown");
    processor_name(processor, sizeof processor);
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:I}", "processor", json_any_string(processor),
                     "name", name.nodename, "system", name.sysname, "release", name.release,
                     "machine", name.machine, "processors",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static json_t *parameters(const oltr_settings *settings)
{
    json_t *object = json_object();
    for (uint32_t i = 0; object && i < settings->info->n_params; i++) {
        const oltr_param *param = &settings->info->params[i];
        char value[64] = "";
        if (oltr_settings_get(settings, i, value, sizeof value) != OLTR_OK)
            continue;
        json_t *json = param->type == OLTR_CHOICE    ? json_string(value)
                       : param->type == OLTR_INTEGER ? json_integer((json_int_t)settings->value[i])
                                                     : json_real(settings->value[i]);
        if (json_object_set_new(object, param->name, json) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

/* NULL, which leaves the key out, for the usual one. */
static const char *feedback_of(const oltr_contestant *policy)
{
    static const char *const names[] = {NULL, "clicks", "both"};
    return names[policy->feedback];
}

static json_t *policies_of(const struct manifest_record *record, uint32_t p)
{
    const oltr_experiment *point = &oltr_plan_points(record->plan)[p];
    json_t *array = json_array();
    for (uint32_t i = 0; i < point->n_policies; i++) {
        const oltr_contestant *policy = &point->policy[i];
        const char *note = oltr_plan_note(record->plan, i);
        array =
            json_with(array, json_pack("{s:s, s:s, s:o, s:f, s:s*, s:s*, s:o*, s:o*}", "name",
                                       policy->label, "kind", policy->settings.info->name,
                                       "parameters", parameters(&policy->settings), "ns_per_round",
                                       oltr_results_ns_per_round(record->results, p, i), "note",
                                       note, "feedback", feedback_of(policy), "shared",
                                       policy->shared ? json_true() : NULL, "items",
                                       policy->items ? json_integer(policy->items) : NULL));
    }
    return array;
}

static const char *key_at(const oltr_plan *plan, uint32_t point, uint32_t key)
{
    (void)point;
    return oltr_plan_sweep_key_at(plan, key);
}

/* The keys of a sweep over two keys, or its values at a point; NULL with fewer keys. */
static json_t *of_each_key(const oltr_plan *plan, uint32_t point,
                           const char *(*text)(const oltr_plan *, uint32_t, uint32_t))
{
    uint32_t count = oltr_plan_n_sweep_keys(plan);
    json_t *array = count > 1 ? json_array() : NULL;
    for (uint32_t i = 0; array && i < count; i++)
        array = json_with(array, json_any_string(text(plan, point, i)));
    return array;
}

static json_t *points_of(const struct manifest_record *record)
{
    json_t *array = json_array();
    for (uint32_t p = 0; p < oltr_plan_n_points(record->plan); p++) {
        const oltr_experiment *point = &oltr_plan_points(record->plan)[p];
        const char *value = oltr_plan_sweep_value(record->plan, p);
        struct bound_problem problem = bound_problem_of(point);
        json_t *better = problem.better > 0 ? json_real(problem.better) : NULL,
               *worse = better ? json_real(problem.worse) : NULL;
        array = json_with(
            array, json_pack("{s:s, s:o*, s:o, s:o, s:I, s:I, s:I, s:o*, s:o*, s:I, s:I, s:o}",
                             "sweep", value ? value : "", "sweep_values",
                             of_each_key(record->plan, p, oltr_plan_sweep_value_at), "seed",
                             whole(point->seed), "rounds", whole(point->rounds), "slots",
                             (json_int_t)point->slots, "items", (json_int_t)point->world.n_items,
                             "dim", (json_int_t)problem.dim, "better", better, "worse", worse,
                             "replications", (json_int_t)point->replications, "groups",
                             (json_int_t)oltr_results_groups(record->results, p), "policies",
                             policies_of(record, p)));
    }
    return array;
}

static json_t *strings(const char *const *string, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        array = json_with(array, json_any_string(string[i]));
    return array;
}

static json_t *log_of(enum figure_log log)
{
    return log == FIGURE_LOG_AUTO ? json_string("auto") : json_boolean(log == FIGURE_LOG_ALWAYS);
}

static json_t *bounds_of(unsigned bounds)
{
    json_t *array = json_array();
    for (int b = 0; b < N_BOUNDS; b++)
        if (bounds & 1u << b)
            array = json_with(array, json_string(bound_infos[b].name));
    return array;
}

static json_t *figures_of(const struct manifest_record *record)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < record->n_figures; i++) {
        const struct figure *figure = &record->figure[i];
        array = json_with(
            array, json_pack("{s:s, s:s, s:s*, s:s*, s:o, s:o, s:s, s:s, s:i, s:o, s:o}", "file",
                             figure->file, "title", figure->title, "label", figure->label,
                             "caption", figure->caption, "policies",
                             strings((const char *const *)figure->policy, figure->n_policies),
                             "rounds", whole(figure->rounds), "x", x_names[figure->x], "y",
                             figure_y_names[figure->y], "bands", figure->bands, "bounds",
                             bounds_of(figure->bounds), "log", log_of(figure->log)));
    }
    return array;
}

static json_t *test_of(const struct claim_test *test)
{
    if (test->relation == CLAIM_UNDECIDABLE)
        return json_pack("{s:s, s:s*, s:s*, s:s}", "of", test->of, "setting", test->setting,
                         "value", test->value, "not_measurable", test->reason);
    bool close = test->relation == CLAIM_CLOSE;
    return json_pack(
        "{s:s, s:s*, s:s*, s:o, s:f, s:o, s:o, s:s*, s:s*, s:s*, s:s*}", "of", test->of, "setting",
        test->setting, "value", test->value, claim_relations[test->relation],
        strings((const char *const *)test->policy, test->n_policies), close ? "within" : "factor",
        close ? test->within : test->factor, "round", whole(test->round), "from", whole(test->from),
        "at", test->at, "against", test->against, "bound", test->bound, "measure", test->measure);
}

static json_t *claims_of(const struct manifest_record *record)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < record->n_claims; i++) {
        const struct claim *claim = &record->claim[i];
        json_t *tests = json_array();
        for (uint32_t j = 0; j < claim->n_tests; j++)
            tests = json_with(tests, test_of(&claim->test[j]));
        array = json_with(array, json_pack("{s:s*, s:s, s:s, s:o}", "figure", claim->figure, "says",
                                           claim->says, "source", claim_sources[claim->source],
                                           "tests", tests));
    }
    return array;
}

/* NULL if memory ran out anywhere: json_pack() refuses a NULL part. */
static json_t *manifest_json(const struct manifest_record *record)
{
    const char *kind = oltr_plan_n_points(record->plan) > 0 ? "regret" : "concentration";
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:s?, s:o*, s:O, s:O*, s:o, s:o, s:o}",
        "oltr", oltr_version(), "kind", kind, "title", oltr_plan_title(record->plan), "file",
        json_any_string(record->file), "flags", strings(record->flag, record->n_flags), "date",
        now(), "compiler", compiler(), "host", host(), "threads", (json_int_t)record->threads,
        "seconds", record->seconds, "sweep_key", oltr_plan_sweep_key(record->plan), "sweep_keys",
        of_each_key(record->plan, 0, key_at), "configuration", record->configuration, "data",
        record->data, "points", points_of(record), "figures", figures_of(record), "claims",
        claims_of(record));
}

oltr_status manifest_write(const char *folder, const struct manifest_record *record,
                           oltr_error *error)
{
    json_t *json = record->configuration ? manifest_json(record) : NULL;
    char *dump = json_text(json, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    struct text content = {.failed = !dump};
    text_printf(&content, "%s\n", dump ? dump : "");
    oltr_status status = file_write_in(folder, "manifest.json", &content, error);
    text_free(&content);
    free(dump);
    json_decref(json);
    return status;
}

/* ---- reading */

struct reader {
    const char *folder;
    oltr_error *error;
};

static bool broken(const struct reader *reader, const char *what)
{
    (void)set_error(reader->error, OLTR_EIO,
                    "%s/manifest.json: %s; it was not written by oltr run, or was changed by hand",
                    reader->folder, what);
    return false;
}

static bool out_of_memory(const struct reader *reader)
{
    (void)set_error(reader->error, OLTR_ENOMEM, "%s/manifest.json: out of memory", reader->folder);
    return false;
}

/* ---- fields; *good becomes false if one is missing or wrong */

/* Labels and titles go into a script and onto a terminal: one line of text. */
static const char *line_in(const json_t *object, const char *key, bool *good)
{
    const char *line = json_string_value(json_object_get(object, key));
    *good = *good && line && text_is_line(line);
    return line;
}

/* A line that may be missing: NULL then. */
static const char *line_or_null(const json_t *object, const char *key, bool *good)
{
    return json_object_get(object, key) ? line_in(object, key, good) : NULL;
}

static uint64_t count_in(const json_t *object, const char *key, json_int_t low, json_int_t high,
                         bool *good)
{
    const json_t *json = json_object_get(object, key);
    json_int_t value = json_integer_value(json);
    *good = *good && json_is_integer(json) && value >= low && value <= high;
    return (uint64_t)value;
}

/* Room for what a list has, at least one entry if `what` is not NULL; NULL with the error set. */
static void *room_for(const struct reader *reader, const json_t *list, size_t size, uint32_t *count,
                      const char *what)
{
    size_t n = json_array_size(list);
    if ((n == 0 && what) || n > UINT32_MAX) {
        (void)broken(reader, what ? what : "a list is too long");
        return NULL;
    }
    void *room = calloc(n + 1, size);
    if (!room)
        (void)out_of_memory(reader);
    *count = room ? (uint32_t)n : 0;
    return room;
}

/* ---- policies and points */

/* The two texts of a list; true with neither where there is no list. */
static bool read_two(const json_t *list, const char *two[2])
{
    bool there = json_array_size(list) == 2;
    for (size_t i = 0; there && i < 2; i++) {
        two[i] = json_string_value(json_array_get(list, i));
        there = two[i] && text_is_line(two[i]);
    }
    return there || !list;
}

static bool read_point(const struct reader *reader, const json_t *json, bool two_keys,
                       struct figure_point *point)
{
    const json_t *values = json_object_get(json, "sweep_values");
    bool good = true;
    point->sweep = line_in(json, "sweep", &good);
    point->value[0] = point->sweep;
    point->value[1] = "";
    good = good && read_two(values, point->value) && two_keys == !!values;
    point->rounds = count_in(json, "rounds", 1, INT64_MAX, &good);
    point->slots = (uint32_t)count_in(json, "slots", 1, UINT32_MAX, &good);
    point->items = (uint32_t)count_in(json, "items", 1, UINT32_MAX, &good);
    if (json_object_get(json, "dim")) /* an older oltr has none */
        point->dim = (uint32_t)count_in(json, "dim", 0, UINT32_MAX, &good);
    point->better = json_number_value(json_object_get(json, "better"));
    point->worse = json_number_value(json_object_get(json, "worse"));
    return good || broken(reader, "an entry of `points` has no good sweep, rounds, slots or items");
}

static bool read_policies(const struct reader *reader, const json_t *json,
                          struct manifest *manifest)
{
    bool good = true;
    manifest->policy = room_for(reader, json, sizeof *manifest->policy, &manifest->scene.n_policies,
                                "`points` has no policies");
    manifest->scene.policy = manifest->policy;
    for (uint32_t i = 0; manifest->policy && i < manifest->scene.n_policies; i++) {
        manifest->policy[i] = line_in(json_array_get(json, i), "name", &good);
        (void)line_or_null(json_array_get(json, i), "note", &good);
    }
    return manifest->policy && (good || broken(reader, "a policy has no good `name` or `note`"));
}

/* The fewest queries of any entry of a list, or `fewest` where that is less; 0: there was none. */
static json_int_t fewest_queries(const json_t *list, json_int_t fewest)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_int_t queries =
            json_integer_value(json_object_get(json_array_get(list, i), "queries"));
        fewest = fewest == 0 || queries < fewest ? queries : fewest;
    }
    return fewest;
}

/* The fewest queries of any data set that was played query by query; 0 without one.  Where queries
 * share the rounds, the first point has one group. */
static uint32_t queries_of(const json_t *data, const json_t *points)
{
    const json_t *groups = json_object_get(json_array_get(points, 0), "groups");
    json_int_t fewest = fewest_queries(json_object_get(data, "sets"), 0);
    fewest = fewest_queries(json_object_get(data, "click_models"), fewest);
    bool apart = !groups || json_integer_value(groups) > 1 || fewest == 1;
    return apart && fewest > 0 && fewest <= UINT32_MAX ? (uint32_t)fewest : 0;
}

static bool read_points(const struct reader *reader, struct manifest *manifest)
{
    const json_t *points = json_object_get(manifest->json, "points"),
                 *key = json_object_get(manifest->json, "sweep_key"),
                 *keys = json_object_get(manifest->json, "sweep_keys");
    struct figure_scene *scene = &manifest->scene;
    bool good = true;
    manifest->point = room_for(reader, points, sizeof *manifest->point, &scene->n_points,
                               "`points` is missing or empty");
    scene->point = manifest->point;
    if (!manifest->point)
        return false;
    for (uint32_t i = 0; i < scene->n_points; i++)
        if (!read_point(reader, json_array_get(points, i), keys, &manifest->point[i]))
            return false;
    scene->sweep_key = json_is_null(key) ? NULL : line_in(manifest->json, "sweep_key", &good);
    scene->key[0] = scene->sweep_key;
    good = good && read_two(keys, scene->key) && (scene->sweep_key || !keys);
    scene->queries = queries_of(json_object_get(manifest->json, "data"),
                                json_object_get(manifest->json, "points"));
    return (good || broken(reader, "`sweep_key` is not text, or `sweep_keys` not two of them")) &&
           read_policies(reader, json_object_get(json_array_get(points, 0), "policies"), manifest);
}

/* ---- figures and claims */

/* A list of labels, as figures and claims have them. */
static const char **read_labels(const struct reader *reader, const json_t *json, uint32_t *count)
{
    const char **label =
        room_for(reader, json, sizeof *label, count, "a figure or a claim has no `policies`");
    bool good = true;
    for (uint32_t i = 0; label && i < *count; i++) {
        label[i] = json_string_value(json_array_get(json, i));
        good = good && label[i] && text_is_line(label[i]);
    }
    if (!good) {
        (void)broken(reader, "a figure or a claim has a policy that is not text");
        free(label);
    }
    return good ? label : NULL;
}

static enum figure_log read_log(const json_t *json)
{
    return json_is_true(json)    ? FIGURE_LOG_ALWAYS
           : json_is_false(json) ? FIGURE_LOG_NEVER
                                 : FIGURE_LOG_AUTO;
}

/* A folder of an older oltr has no `y`. */
static bool read_y(const json_t *json, enum figure_y *y)
{
    const char *word = json ? json_string_value(json) : figure_y_names[FIGURE_REGRET];
    uint32_t found = 0;
    while (word && figure_y_names[found] && strcmp(word, figure_y_names[found]) != 0)
        found++;
    *y = (enum figure_y)found;
    return word && figure_y_names[found];
}

/* Is there such a bound, and have all points what it needs? */
static bool is_bound_of(const struct figure_scene *scene, const char *name)
{
    enum bound bound = name ? bound_find(name) : N_BOUNDS;
    bool good = bound < N_BOUNDS;
    for (uint32_t p = 0; good && p < scene->n_points; p++) {
        struct bound_problem problem = figure_problem(&scene->point[p], 1);
        good = !bound_lacks(bound, &problem);
    }
    return good;
}

/* A list of names; true, as older files have it, is Theorem 1. */
static bool read_bounds(const struct reader *reader, const json_t *json,
                        const struct figure_scene *scene, unsigned *bounds)
{
    *bounds = json_is_true(json) ? 1u << BOUND_THM1 : 0;
    for (size_t i = 0; i < json_array_size(json); i++) {
        const char *name = json_string_value(json_array_get(json, i));
        if (!is_bound_of(scene, name))
            return broken(reader, "a figure has a bound that is unknown or not of its world");
        *bounds |= 1u << bound_find(name);
    }
    return true;
}

static bool read_figure(const struct reader *reader, const json_t *json,
                        const struct manifest *manifest, struct figure *figure)
{
    bool good = true;
    figure->file = line_in(json, "file", &good);
    figure->title = line_in(json, "title", &good);
    if (!good || !figure_name_is_good(figure->file))
        return broken(reader, "a figure has no good `file` or `title`");
    figure->label = line_or_null(json, "label", &good);
    figure->caption = line_or_null(json, "caption", &good);
    if (!good)
        return broken(reader, "the `label` or `caption` of a figure is not text");
    figure->rounds = count_in(json, "rounds", 0, INT64_MAX, &good);
    figure->bands = (int)count_in(json, "bands", 0, 3, &good);
    figure->log = read_log(json_object_get(json, "log"));
    if (!good)
        return broken(reader, "a figure has no good `rounds` or `bands`");
    if (manifest->is_concentration)
        return true;
    if (!read_bounds(reader, json_object_get(json, "bounds"), &manifest->scene, &figure->bounds))
        return false;
    const char *x = line_in(json, "x", &good);
    figure->x = good && strcmp(x, x_names[FIGURE_SWEEP]) == 0 ? FIGURE_SWEEP : FIGURE_ROUND;
    if (!good || strcmp(x, x_names[figure->x]) != 0)
        return broken(reader, "the `x` of a figure is neither round nor sweep");
    if (!read_y(json_object_get(json, "y"), &figure->y))
        return broken(reader, "the `y` of a figure is not regret, ctr, ndcg or worst");
    if (figure->x == FIGURE_SWEEP && !manifest->scene.sweep_key)
        return broken(reader, "a figure has `x`: sweep, but there is no sweep");
    figure->policy = read_labels(reader, json_object_get(json, "policies"), &figure->n_policies);
    return figure->policy;
}

static bool read_figures(const struct reader *reader, struct manifest *manifest)
{
    const json_t *list = json_object_get(manifest->json, "figures");
    if (!json_is_array(list))
        return broken(reader, "`figures` is missing");
    manifest->figure = room_for(reader, list, sizeof *manifest->figure, &manifest->n_figures, NULL);
    bool read = manifest->figure;
    for (uint32_t i = 0; read && i < manifest->n_figures; i++)
        read = read_figure(reader, json_array_get(list, i), manifest, &manifest->figure[i]);
    return read;
}

static bool read_test(const struct reader *reader, const json_t *json,
                      const struct figure_scene *scene, struct claim_test *test)
{
    const json_t *policies = NULL;
    bool good = true;
    test->of = line_in(json, "of", &good);
    test->setting = line_or_null(json, "setting", &good);
    test->value = line_or_null(json, "value", &good);
    test->reason = line_or_null(json, "not_measurable", &good);
    if (!test->reason) /* the older name */
        test->reason = line_or_null(json, "untold", &good);
    test->bound = line_or_null(json, "bound", &good);
    test->at = line_or_null(json, "at", &good);
    test->against = line_or_null(json, "against", &good);
    test->measure = line_or_null(json, "measure", &good);
    if (!good || !test->setting != !test->value)
        return broken(reader, "a test of a claim has a field that is not text");
    if (test->bound && !is_bound_of(scene, test->bound))
        return broken(reader, "a claim has a bound that is unknown or not of its world");
    if (test->reason) {
        test->relation = CLAIM_UNDECIDABLE;
        return true;
    }
    for (int i = N_CLAIM_RELATIONS - 1; i >= 0 && !policies; i--) {
        policies = json_object_get(json, claim_relations[i]);
        test->relation = (enum claim_relation)i;
    }
    test->factor = json_number_value(json_object_get(json, "factor"));
    test->within = json_number_value(json_object_get(json, "within"));
    test->round = count_in(json, "round", 0, INT64_MAX, &good);
    test->from = count_in(json, "from", 0, INT64_MAX, &good);
    double limit = test->relation == CLAIM_CLOSE ? test->within : test->factor;
    if (!good || !(limit > 0) || (test->against && !test->at))
        return broken(reader, "a test of a claim has no good numbers");
    test->policy = read_labels(reader, policies, &test->n_policies);
    return test->policy;
}

static bool read_claim(const struct reader *reader, const json_t *json,
                       const struct figure_scene *scene, struct claim *claim)
{
    const json_t *tests = json_object_get(json, "tests");
    bool good = true;
    claim->figure = line_or_null(json, "figure", &good);
    claim->says = line_in(json, "says", &good);
    const char *source = line_or_null(json, "source", &good);
    if (!good)
        return broken(reader, "a claim has no good `figure`, `says` or `source`");
    claim->source =
        source && strcmp(source, claim_sources[CLAIM_OF_PAPER]) == 0 ? CLAIM_OF_PAPER : CLAIM_OURS;
    claim->test = room_for(reader, tests, sizeof *claim->test, &claim->n_tests, NULL);
    bool read = claim->test;
    for (uint32_t i = 0; read && i < claim->n_tests; i++)
        read = read_test(reader, json_array_get(tests, i), scene, &claim->test[i]);
    return read;
}

/* A manifest of an older oltr has no claims. */
static bool read_claims(const struct reader *reader, struct manifest *manifest)
{
    const json_t *list = json_object_get(manifest->json, "claims");
    manifest->claim = room_for(reader, list, sizeof *manifest->claim, &manifest->n_claims, NULL);
    bool read = manifest->claim;
    for (uint32_t i = 0; read && i < manifest->n_claims; i++)
        read = read_claim(reader, json_array_get(list, i), &manifest->scene, &manifest->claim[i]);
    return read;
}

/* ---- the file */

static bool read_kind(const struct reader *reader, struct manifest *manifest)
{
    const char *kind = json_string_value(json_object_get(manifest->json, "kind"));
    manifest->is_concentration = kind && strcmp(kind, "concentration") == 0;
    return manifest->is_concentration || (kind && strcmp(kind, "regret") == 0) ||
           broken(reader, "`kind` is neither regret nor concentration");
}

static bool read_json(const struct reader *reader, struct manifest *manifest)
{
    struct text content = {0};
    json_error_t where = {0};
    if (!file_is_in(reader->folder, "manifest.json")) {
        set_error(reader->error, OLTR_EIO,
                  "%s: not a folder of results, it has no manifest.json; make one with "
                  "`oltr run FILE -o %s`",
                  reader->folder, reader->folder);
    } else if (file_read_in(reader->folder, "manifest.json", &content, reader->error) == OLTR_OK) {
        manifest->json = json_loadb(content.bytes, content.length, JSON_REJECT_DUPLICATES, &where);
        if (!manifest->json && where.line < 1) /* the parser has no other error without a place */
            (void)out_of_memory(reader);
        else if (!manifest->json)
            (void)set_error(reader->error, OLTR_EIO, "%s/manifest.json:%d:%d: %s", reader->folder,
                            where.line, where.column, where.text);
    }
    text_free(&content);
    return manifest->json;
}

oltr_status manifest_read(const char *folder, struct manifest *manifest, oltr_error *error)
{
    oltr_error own = {OLTR_OK, ""};
    struct reader reader = {folder, error ? error : &own};
    memset(manifest, 0, sizeof *manifest);
    bool read = read_json(&reader, manifest) && read_kind(&reader, manifest) &&
                (manifest->is_concentration || read_points(&reader, manifest)) &&
                read_figures(&reader, manifest) && read_claims(&reader, manifest);
    return read ? OLTR_OK : reader.error->code;
}

void manifest_free(struct manifest *manifest)
{
    for (uint32_t i = 0; i < manifest->n_claims; i++) {
        struct claim *claim = &manifest->claim[i];
        for (uint32_t j = 0; j < claim->n_tests; j++)
            free(claim->test[j].policy);
        free(claim->test);
    }
    for (uint32_t i = 0; i < manifest->n_figures; i++)
        free(manifest->figure[i].policy);
    free(manifest->claim);
    free(manifest->figure);
    free(manifest->point);
    free(manifest->policy);
    json_decref(manifest->json);
    memset(manifest, 0, sizeof *manifest);
}
