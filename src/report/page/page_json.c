/* page_json.c - results, claims and texts of a report as one JSON value.
 *
 * Per experiment: the fields of its manifest that the page shows, the standings at each swept
 * value, the findings of each claim, and the plots and the drawn SVG of each figure.  Numbers stay
 * numbers; page.js writes them as text. */
#include "report/page/page.h"

#include "report/claims/standings.h"
#include "report/io/json_text.h"
#include "report/io/whole_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file may hold 1e999; JSON has no infinity. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *with_number(json_t *array, double value, int digits)
{
    char rounded[40];
    (void)snprintf(rounded, sizeof rounded, "%.*g", digits, value);
    return json_with(array, number(strtod(rounded, NULL)));
}

/* ---- standings ---- */

static json_t *ranked_json(const struct ranked *r)
{
    return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "policy", r->policy, "letters",
                     r->letters, "round", (json_int_t)r->row->round, "regret",
                     number(r->row->regret), "regret_se", number(r->row->regret_se), "behind",
                     number(r->behind), "behind_se", number(r->behind_se));
}

/* Regret of policy i minus that of policy j, with its standard error; null where there is none. */
static json_t *pairs_json(const struct folder *folder, const char *sweep,
                          const struct ranked *ranked, uint32_t count)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *row = json_array();
        for (uint32_t j = 0; j < count; j++) {
            double difference, se;
            bool known = i != j && pair_find(&folder->pairs, sweep, ranked[i].row->round,
                                             ranked[i].policy, ranked[j].policy, &difference, &se);
            json_t *pair =
                known ? with_number(with_number(json_array(), difference, 6), se, 6) : json_null();
            row = json_with(row, pair);
        }
        rows = json_with(rows, row);
    }
    return rows;
}

static json_t *standing_json(const struct folder *folder, const char *sweep, struct ranked *ranked)
{
    uint32_t count = rank_policies(folder, sweep, ranked);
    json_t *policies = json_array();
    for (uint32_t i = 0; i < count; i++)
        policies = json_with(policies, ranked_json(&ranked[i]));
    bool clear = count > 1 && rank_is_clear(folder, sweep, &ranked[0], &ranked[1]);
    json_t *pairs =
        folder->pairs.count > 0 ? pairs_json(folder, sweep, ranked, count) : json_null();
    return json_pack("{s:o, s:b, s:o}", "policies", policies, "clear", clear, "pairs", pairs);
}

static json_t *standings_json(const struct folder *folder)
{
    const struct figure_scene *scene = &folder->manifest.scene;
    struct ranked *ranked = calloc(scene->n_policies + 1, sizeof *ranked);
    json_t *array = ranked ? json_array() : NULL;
    for (uint32_t p = 0; array && p < scene->n_points; p++)
        array = json_with(array, standing_json(folder, scene->point[p].sweep, ranked));
    free(ranked);
    return array;
}

static json_t *posteriors_json(const struct folder *folder)
{
    json_t *array = json_array();
    for (size_t i = 0; i < folder->n_posteriors; i++) {
        const struct posterior_row *row = &folder->posterior[i];
        json_t *object = json_pack("{s:o, s:o}", "attraction", json_any_string(row->attraction),
                                   "posterior", json_any_string(row->posterior));
        for (int j = 0; object && j < N_MEASURES; j++)
            (void)json_object_set_new(object, measure_names[j], number(row->value[j]));
        array = json_with(array, object);
    }
    return array;
}

/* ---- claims ---- */

/* Short names for the page; the words are claim_verdicts. */
static const char *const verdict_names[N_CLAIM_VERDICTS] = {"holds", "fails", "inconclusive",
                                                            "unmeasurable"};

static json_t *comparison_json(const struct claim_comparison *c)
{
    return json_pack("{s:s, s:s, s:s, s:s*, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "policy",
                     c->policy, "other", c->other, "at", c->at, "against", c->against, "round",
                     (json_int_t)c->round, "value", number(c->value), "other_value",
                     number(c->other_value), "difference", number(c->difference), "difference_se",
                     number(c->difference_se), "margin", number(c->margin), "margin_se",
                     number(c->margin_se), "verdict", verdict_names[c->verdict]);
}

/* `overall` is the verdict of its group, over all settings. */
static json_t *finding_json(const struct claim_finding *finding, const char *overall)
{
    json_t *comparisons = json_array();
    for (uint32_t i = 0; i < finding->n_comparisons; i++)
        comparisons = json_with(comparisons, comparison_json(&finding->comparison[i]));
    return json_pack("{s:s, s:s, s:s, s:o}", "verdict", verdict_names[finding->verdict], "overall",
                     overall, "reason", finding->reason, "comparisons", comparisons);
}

static json_t *group_json(json_t *tests, const struct claim_findings *findings, uint32_t *next)
{
    struct text overall = {0};
    claims_overall(findings, *next, &overall);
    for (uint32_t end = *next + claims_group(findings, *next); *next < end; ++*next)
        tests = json_with(
            tests, finding_json(&findings->finding[*next], overall.failed ? "" : overall.bytes));
    text_free(&overall);
    return tests;
}

/* A list for each claim, in it a finding for each test. */
static json_t *findings_json(const struct report_experiment *experiment)
{
    const struct manifest *manifest = &experiment->folder.manifest;
    const struct claim_findings *findings = &experiment->findings;
    json_t *claims = json_array();
    uint32_t next = 0;
    for (uint32_t i = 0; i < manifest->n_claims; i++) {
        json_t *tests = json_array();
        uint32_t end = next + manifest->claim[i].n_tests;
        while (findings->finding && next < end)
            tests = group_json(tests, findings, &next);
        claims = json_with(claims, tests);
    }
    return claims;
}

/* ---- figures ---- */

/* The plots and the picture of a figure; null if one of its files is missing. */
static json_t *figure_json(const struct report_experiment *experiment, const struct figure *figure,
                           uint32_t *missing)
{
    struct text svg = {0}, small = {0};
    char name[128];
    json_t *plots = page_plots(experiment, figure);
    bool drawn = plots && snprintf(name, sizeof name, "%s.svg", figure->file) < (int)sizeof name &&
                 file_read_in(experiment->path, name, &svg, NULL) == OLTR_OK && svg.length > 0;
    if (drawn)
        page_svg(svg.bytes, &small);
    json_t *picture = drawn && !small.failed ? json_any_string(small.bytes) : NULL;
    json_t *json = drawn ? json_pack("{s:O, s:o}", "plots", plots, "svg", picture) : json_null();
    *missing += !drawn;
    json_decref(plots);
    text_free(&small);
    text_free(&svg);
    return json;
}

static json_t *figures_json(const struct report_experiment *experiment, uint32_t *missing)
{
    const struct manifest *manifest = &experiment->folder.manifest;
    json_t *array = json_array();
    for (uint32_t i = 0; i < manifest->n_figures; i++)
        array = json_with(array, figure_json(experiment, &manifest->figure[i], missing));
    return array;
}

/* ---- experiments ---- */

/* The fields of an object that it has; `key` ends with NULL. */
static json_t *fields(const json_t *from, const char *const *key)
{
    json_t *to = json_object();
    for (; to && *key; key++) {
        json_t *value = json_object_get(from, *key);
        if (value && json_object_set(to, *key, value) != 0) {
            json_decref(to);
            to = NULL;
        }
    }
    return to;
}

static bool is_generated(const json_t *sets)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(sets); i++)
        found |= json_is_true(json_object_get(json_array_get(sets, i), "generated"));
    return found;
}

/* The points of a sweep, with the policies, which are the same everywhere, at the first alone. */
static json_t *points_json(const json_t *points)
{
    static const char *const about[] = {"sweep", "rounds", "slots", "items", "replications", NULL},
                             *const policy[] = {"name", "kind", "note", "ns_per_round", NULL};
    json_t *array = json_array(), *policies = json_array();
    const json_t *listed = json_object_get(json_array_get(points, 0), "policies");
    for (size_t i = 0; i < json_array_size(listed); i++)
        policies = json_with(policies, fields(json_array_get(listed, i), policy));
    for (size_t p = 0; p < json_array_size(points); p++) {
        json_t *point = fields(json_array_get(points, p), about);
        if (p == 0 && json_object_set(point, "policies", policies) != 0) {
            json_decref(point);
            point = NULL;
        }
        array = json_with(array, point);
    }
    json_decref(policies);
    return array;
}

/* What the page shows of a manifest.  Names of files and machines stay in the manifest: a page is
 * sent to other people. */
static json_t *run_json(const struct manifest *manifest)
{
    static const char *const about[] = {"oltr",     "kind",    "title",   "date",
                                        "compiler", "threads", "seconds", "sweep_key",
                                        "figures",  "claims",  NULL};
    static const char *const machine[] = {"processor", "machine", "processors", "system", NULL};
    static const char *const world[] = {"kind", NULL};
    const json_t *all = manifest->json;
    json_t *points =
        manifest->is_concentration ? NULL : points_json(json_object_get(all, "points"));
    json_t *run = fields(all, about);
    json_t *more = json_pack(
        "{s:o, s:o, s:O*, s:o*}", "host", fields(json_object_get(all, "host"), machine), "world",
        fields(json_object_get(json_object_get(all, "configuration"), "world"), world), "note",
        json_object_get(json_object_get(all, "data"), "note"), "points", points);
    if (more && is_generated(json_object_get(json_object_get(all, "data"), "sets")))
        (void)json_object_set_new(more, "generated", json_true());
    if (!more || json_object_update(run, more) != 0) {
        json_decref(run);
        run = NULL;
    }
    json_decref(more);
    return run;
}

static json_t *experiment_json(const struct report_experiment *experiment, uint32_t *missing)
{
    const struct folder *folder = &experiment->folder;
    json_t *json = json_pack("{s:s, s:s*, s:o, s:o, s:o, s:o}", "name", experiment->name, "trouble",
                             experiment->trouble, "standings", standings_json(folder), "posteriors",
                             posteriors_json(folder), "findings", findings_json(experiment),
                             "figures", figures_json(experiment, missing));
    if (json && experiment->there &&
        json_object_set_new(json, "run", run_json(&folder->manifest)) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *page_json(const struct report *report, uint32_t *missing)
{
    json_t *experiments = json_array();
    for (size_t i = 0; i < report->count; i++)
        experiments = json_with(experiments, experiment_json(&report->experiment[i], missing));
    return json_pack("{s:s, s:b, s:O*, s:o}", "oltr", oltr_version(), "paper",
                     json_is_true(json_object_get(report->about, "paper")), "notice",
                     json_object_get(report->about, "notice"), "experiments", experiments);
}
