/* manifest.c - see manifest.h.  A manifest is read by people, by notebooks, and by `oltr plot`
 * after somebody edited it: every field is checked on the way in. */
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

/* What Linux calls the processor; "" where it does not say. */
static void processor_name(char *out, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    *out = '\0';
    while (file != NULL && *out == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = '\0';
            (void)snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
        }
    }
    if (file != NULL)
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
    for (uint32_t i = 0; object != NULL && i < settings->info->n_params; i++) {
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

static json_t *policies_of(const struct manifest_record *record, uint32_t p)
{
    const oltr_experiment *point = &oltr_plan_points(record->plan)[p];
    json_t *array = json_array();
    for (uint32_t i = 0; i < point->n_policies; i++) {
        const oltr_contestant *policy = &point->policy[i];
        const char *note = oltr_plan_note(record->plan, i);
        array = json_with(array, json_pack("{s:s, s:s, s:o, s:f, s:s*}", "name", policy->label,
                                           "kind", policy->settings.info->name, "parameters",
                                           parameters(&policy->settings), "ns_per_round",
                                           oltr_results_ns_per_round(record->results, p, i), "note",
                                           note));
    }
    return array;
}

static json_t *points_of(const struct manifest_record *record)
{
    json_t *array = json_array();
    for (uint32_t p = 0; p < oltr_plan_n_points(record->plan); p++) {
        const oltr_experiment *point = &oltr_plan_points(record->plan)[p];
        const char *value = oltr_plan_sweep_value(record->plan, p);
        array = json_with(array, json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:o}", "sweep",
                                           value ? value : "", "seed", whole(point->seed), "rounds",
                                           whole(point->rounds), "slots", (json_int_t)point->slots,
                                           "items", (json_int_t)point->world.n_items,
                                           "replications", (json_int_t)point->replications,
                                           "policies", policies_of(record, p)));
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

static json_t *figures_of(const struct manifest_record *record)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < record->n_figures; i++) {
        const struct figure *figure = &record->figure[i];
        array = json_with(
            array,
            json_pack("{s:s, s:s, s:s*, s:s*, s:o, s:o, s:s, s:i, s:b, s:b}", "file", figure->file,
                      "title", figure->title, "label", figure->label, "caption", figure->caption,
                      "policies", strings((const char *const *)figure->policy, figure->n_policies),
                      "rounds", whole(figure->rounds), "x", x_names[figure->x], "bands",
                      figure->bands, "bounds", (int)figure->bounds, "log", (int)figure->log));
    }
    return array;
}

static json_t *test_of(const struct claim_test *test)
{
    if (test->relation == CLAIM_UNTOLD)
        return json_pack("{s:s, s:s}", "of", test->of, "untold", test->reason);
    bool close = test->relation == CLAIM_CLOSE;
    return json_pack("{s:s, s:o, s:f, s:o, s:o, s:s*, s:s*, s:s*}", "of", test->of,
                     claim_relations[test->relation],
                     strings((const char *const *)test->policy, test->n_policies),
                     close ? "within" : "factor", close ? test->within : test->factor, "round",
                     whole(test->round), "from", whole(test->from), "at", test->at, "against",
                     test->against, "measure", test->measure);
}

static json_t *claims_of(const struct manifest_record *record)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < record->n_claims; i++) {
        const struct claim *claim = &record->claim[i];
        json_t *tests = json_array();
        for (uint32_t j = 0; j < claim->n_tests; j++)
            tests = json_with(tests, test_of(&claim->test[j]));
        array = json_with(array, json_pack("{s:s*, s:s, s:o}", "figure", claim->figure, "says",
                                           claim->says, "tests", tests));
    }
    return array;
}

/* NULL if memory ran out anywhere: json_pack() refuses a NULL part. */
static json_t *manifest_json(const struct manifest_record *record)
{
    const char *kind = oltr_plan_n_points(record->plan) > 0 ? "regret" : "concentration";
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:s?, s:O, s:O*, s:o, s:o, s:o}",
        "oltr", oltr_version(), "kind", kind, "title", oltr_plan_title(record->plan), "file",
        json_any_string(record->file), "flags", strings(record->flag, record->n_flags), "date",
        now(), "compiler", compiler(), "host", host(), "threads", (json_int_t)record->threads,
        "seconds", record->seconds, "sweep_key", oltr_plan_sweep_key(record->plan), "configuration",
        record->configuration, "data", record->data, "points", points_of(record), "figures",
        figures_of(record), "claims", claims_of(record));
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

/* Labels and titles go into a script and onto a terminal. */
static bool is_line(const json_t *json)
{
    return json_is_string(json) && text_is_line(json_string_value(json));
}

/* A line that may be missing: *out is NULL then. */
static bool get_line(const json_t *object, const char *key, const char **out)
{
    const json_t *json = json_object_get(object, key);
    *out = json_string_value(json);
    return json == NULL || is_line(json);
}

static bool get_count(const json_t *object, const char *key, json_int_t low, json_int_t high,
                      json_int_t *out)
{
    const json_t *json = json_object_get(object, key);
    *out = json_integer_value(json);
    return json_is_integer(json) && *out >= low && *out <= high;
}

static bool read_point(const struct reader *reader, const json_t *json, struct figure_point *point)
{
    json_int_t rounds, slots, items;
    if (!is_line(json_object_get(json, "sweep")) ||
        !get_count(json, "rounds", 1, INT64_MAX, &rounds) ||
        !get_count(json, "slots", 1, UINT32_MAX, &slots) ||
        !get_count(json, "items", 1, UINT32_MAX, &items))
        return broken(reader, "an entry of `points` has no good sweep, rounds, slots or items");
    point->sweep = json_string_value(json_object_get(json, "sweep"));
    point->rounds = (uint64_t)rounds;
    point->slots = (uint32_t)slots;
    point->items = (uint32_t)items;
    return true;
}

static bool read_policies(const struct reader *reader, const json_t *json,
                          struct manifest *manifest)
{
    size_t count = json_array_size(json);
    if (count == 0 || count > UINT32_MAX)
        return broken(reader, "`points` has no policies");
    manifest->policy = calloc(count, sizeof *manifest->policy);
    manifest->note = calloc(count, sizeof *manifest->note);
    if (manifest->policy == NULL || manifest->note == NULL)
        return out_of_memory(reader);
    for (size_t i = 0; i < count; i++) {
        const json_t *name = json_object_get(json_array_get(json, i), "name");
        if (!is_line(name))
            return broken(reader, "a policy has no good name");
        manifest->policy[i] = json_string_value(name);
        if (!get_line(json_array_get(json, i), "note", &manifest->note[i]))
            return broken(reader, "the `note` of a policy is not text");
    }
    manifest->scene.policy = manifest->policy;
    manifest->scene.n_policies = (uint32_t)count;
    return true;
}

/* The fewest queries of any data set that was played; 0 without one. */
static uint32_t queries_of(const json_t *data)
{
    const json_t *sets = json_object_get(data, "sets");
    json_int_t fewest = 0;
    for (size_t i = 0; i < json_array_size(sets); i++) {
        json_int_t queries =
            json_integer_value(json_object_get(json_array_get(sets, i), "queries"));
        fewest = i == 0 || queries < fewest ? queries : fewest;
    }
    return fewest > 0 && fewest <= UINT32_MAX ? (uint32_t)fewest : 0;
}

static bool read_points(const struct reader *reader, struct manifest *manifest)
{
    const json_t *points = json_object_get(manifest->json, "points");
    size_t count = json_array_size(points);
    if (count == 0 || count > UINT32_MAX)
        return broken(reader, "`points` is missing or empty");
    manifest->point = calloc(count, sizeof *manifest->point);
    if (manifest->point == NULL)
        return out_of_memory(reader);
    for (size_t i = 0; i < count; i++)
        if (!read_point(reader, json_array_get(points, i), &manifest->point[i]))
            return false;
    manifest->scene.point = manifest->point;
    manifest->scene.n_points = (uint32_t)count;
    const json_t *key = json_object_get(manifest->json, "sweep_key");
    if (!json_is_null(key) && !is_line(key))
        return broken(reader, "`sweep_key` is not text");
    manifest->scene.sweep_key = json_string_value(key);
    manifest->scene.queries = queries_of(json_object_get(manifest->json, "data"));
    return read_policies(reader, json_object_get(json_array_get(points, 0), "policies"), manifest);
}

/* A list of labels, as figures and claims have them. */
static bool read_labels(const struct reader *reader, const json_t *json, const char ***label,
                        uint32_t *n_labels)
{
    size_t count = json_array_size(json);
    if (count == 0 || count > UINT32_MAX)
        return broken(reader, "a figure or a claim has no `policies`");
    *label = calloc(count, sizeof **label);
    if (*label == NULL)
        return out_of_memory(reader);
    for (size_t i = 0; i < count; i++) {
        if (!is_line(json_array_get(json, i)))
            return broken(reader, "a figure or a claim has a policy that is not text");
        (*label)[i] = json_string_value(json_array_get(json, i));
    }
    *n_labels = (uint32_t)count;
    return true;
}

static bool read_figure_x(const struct reader *reader, const json_t *json, bool has_sweep,
                          struct figure *figure)
{
    const char *x = json_string_value(json_object_get(json, "x"));
    if (x == NULL || (strcmp(x, "round") != 0 && strcmp(x, "sweep") != 0))
        return broken(reader, "the `x` of a figure is neither round nor sweep");
    figure->x = strcmp(x, "round") == 0 ? FIGURE_ROUND : FIGURE_SWEEP;
    return figure->x == FIGURE_ROUND || has_sweep ||
           broken(reader, "a figure has `x`: sweep, but there is no sweep");
}

static bool read_figure(const struct reader *reader, const json_t *json,
                        const struct manifest *manifest, struct figure *figure)
{
    json_int_t rounds, bands;
    const json_t *file = json_object_get(json, "file"), *title = json_object_get(json, "title");
    if (!json_is_string(file) || !figure_name_is_good(json_string_value(file)) || !is_line(title))
        return broken(reader, "a figure has no good `file` or `title`");
    if (!get_line(json, "label", &figure->label) || !get_line(json, "caption", &figure->caption))
        return broken(reader, "the `label` or `caption` of a figure is not text");
    if (!get_count(json, "rounds", 0, INT64_MAX, &rounds) ||
        !get_count(json, "bands", 0, 3, &bands))
        return broken(reader, "a figure has no good `rounds` or `bands`");
    figure->file = json_string_value(file);
    figure->title = json_string_value(title);
    figure->rounds = (uint64_t)rounds;
    figure->bands = (int)bands;
    figure->bounds = json_is_true(json_object_get(json, "bounds"));
    figure->log = json_is_true(json_object_get(json, "log"));
    return manifest->is_concentration ||
           (read_figure_x(reader, json, manifest->scene.sweep_key != NULL, figure) &&
            read_labels(reader, json_object_get(json, "policies"), &figure->policy,
                        &figure->n_policies));
}

static bool read_figures(const struct reader *reader, struct manifest *manifest)
{
    const json_t *figures = json_object_get(manifest->json, "figures");
    size_t count = json_array_size(figures);
    if (!json_is_array(figures) || count > UINT32_MAX)
        return broken(reader, "`figures` is missing");
    manifest->figure = calloc(count + 1, sizeof *manifest->figure);
    if (manifest->figure == NULL)
        return out_of_memory(reader);
    manifest->n_figures = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        if (!read_figure(reader, json_array_get(figures, i), manifest, &manifest->figure[i]))
            return false;
    return true;
}

static bool read_test(const struct reader *reader, const json_t *json, struct claim_test *test)
{
    const json_t *policies = NULL;
    json_int_t round = 0, from = 0;
    if (!get_line(json, "of", &test->of) || test->of == NULL ||
        !get_line(json, "untold", &test->reason) || !get_line(json, "at", &test->at) ||
        !get_line(json, "against", &test->against) || !get_line(json, "measure", &test->measure))
        return broken(reader, "a test of a claim has a field that is not text");
    if (test->reason != NULL) {
        test->relation = CLAIM_UNTOLD;
        return true;
    }
    for (int i = CLAIM_UNTOLD - 1; i >= 0 && policies == NULL; i--) {
        policies = json_object_get(json, claim_relations[i]);
        test->relation = (enum claim_relation)i;
    }
    bool close = test->relation == CLAIM_CLOSE;
    test->factor = json_number_value(json_object_get(json, "factor"));
    test->within = json_number_value(json_object_get(json, "within"));
    if (!get_count(json, "round", 0, INT64_MAX, &round) ||
        !get_count(json, "from", 0, INT64_MAX, &from) ||
        !((close ? test->within : test->factor) > 0) || (test->against != NULL && test->at == NULL))
        return broken(reader, "a test of a claim has no good numbers");
    test->round = (uint64_t)round;
    test->from = (uint64_t)from;
    return read_labels(reader, policies, &test->policy, &test->n_policies);
}

static bool read_claim(const struct reader *reader, const json_t *json, struct claim *claim)
{
    const json_t *tests = json_object_get(json, "tests");
    size_t count = json_array_size(tests);
    if (!get_line(json, "figure", &claim->figure) || !get_line(json, "says", &claim->says) ||
        claim->says == NULL)
        return broken(reader, "a claim has no good `figure` or `says`");
    claim->test = calloc(count + 1, sizeof *claim->test);
    if (claim->test == NULL)
        return out_of_memory(reader);
    for (size_t i = 0; i < count; i++) {
        claim->n_tests++;
        if (!read_test(reader, json_array_get(tests, i), &claim->test[i]))
            return false;
    }
    return true;
}

/* A manifest of an older oltr has no claims. */
static bool read_claims(const struct reader *reader, struct manifest *manifest)
{
    const json_t *claims = json_object_get(manifest->json, "claims");
    size_t count = json_array_size(claims);
    manifest->claim = calloc(count + 1, sizeof *manifest->claim);
    if (manifest->claim == NULL)
        return out_of_memory(reader);
    for (size_t i = 0; i < count; i++) {
        manifest->n_claims++;
        if (!read_claim(reader, json_array_get(claims, i), &manifest->claim[i]))
            return false;
    }
    return true;
}

static bool read_kind(const struct reader *reader, struct manifest *manifest)
{
    const char *kind = json_string_value(json_object_get(manifest->json, "kind"));
    if (kind == NULL || (strcmp(kind, "regret") != 0 && strcmp(kind, "concentration") != 0))
        return broken(reader, "`kind` is neither regret nor concentration");
    manifest->is_concentration = strcmp(kind, "concentration") == 0;
    return true;
}

static bool read_json(const struct reader *reader, struct manifest *manifest)
{
    struct text content = {0};
    json_error_t where = {0};
    bool read = file_read_in(reader->folder, "manifest.json", &content, reader->error) == OLTR_OK;
    if (read) {
        manifest->json = json_loadb(content.bytes, content.length, JSON_REJECT_DUPLICATES, &where);
        if (manifest->json == NULL && where.line < 1) {
            (void)out_of_memory(reader); /* the parser has no other reason to be without a place */
        } else if (manifest->json == NULL) {
            (void)set_error(reader->error, OLTR_EIO, "%s/manifest.json:%d:%d: %s", reader->folder,
                            where.line, where.column, where.text);
        }
    }
    text_free(&content);
    return manifest->json != NULL;
}

oltr_status manifest_read(const char *folder, struct manifest *manifest, oltr_error *error)
{
    oltr_error own = {OLTR_OK, ""};
    struct reader reader = {folder, error != NULL ? error : &own};
    memset(manifest, 0, sizeof *manifest);
    bool read = read_json(&reader, manifest) && read_kind(&reader, manifest) &&
                (manifest->is_concentration || read_points(&reader, manifest)) &&
                read_figures(&reader, manifest) && read_claims(&reader, manifest);
    return read ? OLTR_OK : reader.error->code;
}

static void claim_free(struct claim *claim)
{
    for (uint32_t i = 0; claim->test != NULL && i < claim->n_tests; i++)
        free(claim->test[i].policy);
    free(claim->test);
}

void manifest_free(struct manifest *manifest)
{
    for (uint32_t i = 0; manifest->claim != NULL && i < manifest->n_claims; i++)
        claim_free(&manifest->claim[i]);
    free(manifest->claim);
    free(manifest->note);
    for (uint32_t i = 0; manifest->figure != NULL && i < manifest->n_figures; i++)
        free(manifest->figure[i].policy);
    free(manifest->figure);
    free(manifest->point);
    free(manifest->policy);
    json_decref(manifest->json);
    memset(manifest, 0, sizeof *manifest);
}
