/* page.c - index.html, from its head to its foot.
 *
 * One file that needs no network and no server: style, script, dygraphs, data and drawn figures are
 * all in it.  What it links to (data, vector graphics, scripts, experiment files) lies beside
 * it. */
#include "report/page/page_parts.h"

#include "engine/base/error.h"
#include "report/page/assets.h"
#include "report/page/html.h"

#include <string.h>

static const char *field(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL && text_is_line(value) ? value : "";
}

static const json_t *manifest_of(const struct report_experiment *experiment)
{
    return experiment->folder.manifest.json;
}

/* ---- the head */

static void add_asset(struct text *out, const unsigned char *asset)
{
    text_add(out, (const char *)asset);
}

static void add_head(struct text *out)
{
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<title>Online learning to rank: the paper, measured again</title>\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<style>\n");
    add_asset(out, asset_dygraph_css);
    add_asset(out, asset_page_css);
    text_add(out,
             "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#claims\">To the claims</a>\n");
}

static uint32_t count_verdicts(const struct report *report, enum claim_verdict verdict)
{
    uint32_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        for (uint32_t j = 0; j < report->experiment[i].findings.count; j++)
            count += report->experiment[i].findings.finding[j].verdict == verdict;
    return count;
}

static double seconds_of(const struct report_experiment *experiment)
{
    return json_number_value(json_object_get(manifest_of(experiment), "seconds"));
}

static const struct report_experiment *first_there(const struct report *report)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->experiment[i].there)
            return &report->experiment[i];
    return NULL;
}

/* Machine and program, from the first experiment: all ran in one go. */
static void add_machine(const struct report *report, struct text *out)
{
    const struct report_experiment *first = first_there(report);
    if (first == NULL)
        return;
    const json_t *manifest = manifest_of(first), *host = json_object_get(manifest, "host");
    const char *processor = field(host, "processor");
    text_add(out, "<p class=\"facts\">oltr ");
    html_text(out, field(manifest, "oltr"));
    text_add(out, ", ");
    html_text(out, field(manifest, "compiler"));
    text_add(out, " · ");
    html_text(out, *processor != '\0' ? processor : field(host, "machine"));
    text_printf(out, ", %lld processors, ",
                (long long)json_integer_value(json_object_get(host, "processors")));
    html_text(out, field(host, "system"));
    text_add(out, " · ");
    html_text(out, field(manifest, "date"));
    double seconds = 0;
    for (size_t i = 0; i < report->count; i++)
        seconds += report->experiment[i].there ? seconds_of(&report->experiment[i]) : 0;
    text_add(out, " · ");
    html_seconds(out, seconds);
    text_add(out, " of simulation</p>\n");
}

static void add_top(const struct report *report, struct text *out)
{
    const char *notice = field(report->about, "notice");
    text_add(out, "<header>\n<h1>Online learning to rank: the paper, measured again</h1>\n");
    if (*notice != '\0') {
        text_add(out, "<p class=\"notice\">");
        html_text(out, notice);
        text_add(out, "</p>\n");
    }
    text_add(out, "<p class=\"lede\">The experiments of <a "
                  "href=\"https://arxiv.org/abs/2301.10651\"><cite>Overcoming "
                  "Prior Misspecification in Online Learning to Rank</cite></a> (AISTATS 2023), "
                  "run again: the figures, "
                  "what the paper says of each, and whether it is so.</p>\n");
    add_machine(report, out);
    text_printf(out,
                "<p class=\"score\"><span class=\"verdict holds\">✓ %u hold</span> <span "
                "class=\"verdict fails\">✗ %u "
                "do not hold</span> <span class=\"verdict open\">? %u cannot be told</span></p>\n",
                count_verdicts(report, CLAIM_HOLDS), count_verdicts(report, CLAIM_FAILS),
                count_verdicts(report, CLAIM_OPEN));
    text_add(out, "<p>A claim holds, or does not, by three standard errors of the paired "
                  "difference: in each replication all "
                  "policies meet the same items and the same users. What lies between cannot be "
                  "told.</p>\n</header>\n");
}

/* ---- the way around */

static void add_figure_link(const struct report_experiment *experiment, const struct figure *figure,
                            struct text *out)
{
    text_add(out, "<li><a href=\"#");
    page_anchor(out, experiment->name, figure->file);
    text_add(out, "\">");
    html_text(out, figure->label != NULL ? figure->label : figure->file);
    text_add(out, "</a></li>\n");
}

static void add_figure_links(const struct report *report, bool of_paper, struct text *out)
{
    text_add(out, "<ul>");
    for (size_t i = 0; i < report->count; i++) {
        const struct manifest *manifest = &report->experiment[i].folder.manifest;
        for (uint32_t j = 0; j < manifest->n_figures; j++)
            if ((manifest->figure[j].label != NULL) == of_paper)
                add_figure_link(&report->experiment[i], &manifest->figure[j], out);
    }
    text_add(out, "</ul>\n");
}

static bool has_figures(const struct report *report, bool of_paper)
{
    bool found = false;
    for (size_t i = 0; i < report->count; i++) {
        const struct manifest *manifest = &report->experiment[i].folder.manifest;
        for (uint32_t j = 0; j < manifest->n_figures; j++)
            found = found || (manifest->figure[j].label != NULL) == of_paper;
    }
    return found;
}

static void add_navigation(const struct report *report, struct text *out)
{
    static const char *const heading[] = {"Beyond the paper", "Figures of the paper"};
    text_add(out, "<nav aria-label=\"Figures\">");
    for (int of_paper = 1; of_paper >= 0; of_paper--) {
        if (has_figures(report, of_paper)) {
            text_printf(out, "<p>%s</p>", heading[of_paper]);
            add_figure_links(report, of_paper, out);
        }
    }
    text_add(out, "<p>Tables</p><ul><li><a href=\"#claims\">All claims</a></li><li><a "
                  "href=\"#released\">Printed against "
                  "released</a></li><li><a href=\"#runs\">What was run</a></li></ul></nav>\n");
}

/* ---- all claims */

static const struct figure *figure_called(const struct manifest *manifest, const char *file)
{
    for (uint32_t i = 0; file != NULL && i < manifest->n_figures; i++)
        if (strcmp(manifest->figure[i].file, file) == 0)
            return &manifest->figure[i];
    return NULL;
}

/* One row for each reading; the figure and the words of the claim stand beside all of them. */
static void add_claim_row(const struct report_experiment *experiment,
                          const struct claim_finding *finding, bool first, struct text *out)
{
    const struct figure *figure =
        figure_called(&experiment->folder.manifest, finding->claim->figure);
    text_add(out, first ? "<tr>" : "<tr class=\"same\">");
    if (first) {
        text_printf(out, "<td rowspan=\"%u\"><a href=\"#", (unsigned)finding->claim->n_tests);
        page_anchor(out, experiment->name, figure != NULL ? figure->file : NULL);
        text_add(out, "\">");
        html_text(out, figure == NULL          ? experiment->name
                       : figure->label != NULL ? figure->label
                                               : figure->file);
        text_printf(out, "</a></td><td rowspan=\"%u\">", (unsigned)finding->claim->n_tests);
        html_text(out, finding->claim->says);
        text_add(out, "</td>");
    }
    text_add(out, "<td>");
    html_text(out, finding->test->of);
    text_add(out, "</td><td>");
    page_verdict(out, finding->verdict);
    text_add(out, "</td></tr>\n");
}

static void add_claims(const struct report *report, struct text *out)
{
    text_add(out, "<section id=\"claims\"><h2>What the paper says, and what was found</h2>\n<div "
                  "class=\"wide\"><table "
                  "class=\"claims\"><thead><tr><th>figure</th><th>claim</th><th>reading</"
                  "th><th>verdict</th></tr></thead>"
                  "<tbody>\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct claim_findings *findings = &report->experiment[i].findings;
        for (uint32_t j = 0; j < findings->count; j++) {
            bool first = j == 0 || findings->finding[j].claim != findings->finding[j - 1].claim;
            add_claim_row(&report->experiment[i], &findings->finding[j], first, out);
        }
    }
    text_add(out, "</tbody></table></div>\n<p class=\"files\"><a "
                  "href=\"claims.csv\">claims.csv</a> has every comparison "
                  "with its numbers.</p></section>\n");
}

/* ---- one experiment */

/* What was said of the data set, if one was played: it may not be the real one. */
static const char *data_note(const struct report_experiment *experiment)
{
    return field(json_object_get(manifest_of(experiment), "data"), "note");
}

static void add_setting(const struct report_experiment *experiment, struct text *out)
{
    const json_t *point = json_array_get(json_object_get(manifest_of(experiment), "points"), 0);
    const json_t *world =
        json_object_get(json_object_get(manifest_of(experiment), "configuration"), "world");
    text_add(out, "<p class=\"facts\">");
    if (point != NULL) {
        text_add(out, "world <code>");
        html_text(out, field(world, "kind"));
        text_add(out, "</code> · ");
        html_count(out, (uint64_t)json_integer_value(json_object_get(point, "items")));
        text_printf(out, " items, %lld slots · ",
                    (long long)json_integer_value(json_object_get(point, "slots")));
        html_count(out, (uint64_t)json_integer_value(json_object_get(point, "rounds")));
        text_add(out, " rounds, ");
        uint64_t replications =
            (uint64_t)json_integer_value(json_object_get(point, "replications"));
        html_count(out, replications);
        text_printf(out, " replication%s · ", plural_s(replications));
    }
    html_seconds(out, seconds_of(experiment));
    text_printf(out,
                " on %lld threads · <a href=\"%s/experiment.yaml\">experiment file</a> <a "
                "href=\"%s/%s.csv\">results"
                "</a> <a href=\"%s/summary.csv\">summary</a> <a "
                "href=\"%s/manifest.json\">manifest</a></p>\n",
                (long long)json_integer_value(json_object_get(manifest_of(experiment), "threads")),
                experiment->name, experiment->name,
                experiment->folder.manifest.is_concentration ? "density" : "results",
                experiment->name, experiment->name);
}

static oltr_status add_experiment(const struct report_experiment *experiment, struct text *out,
                                  uint32_t *missing, oltr_error *error)
{
    const struct manifest *manifest = &experiment->folder.manifest;
    const char *title = experiment->there ? field(manifest->json, "title") : "";
    text_add(out, "<section class=\"experiment\" id=\"");
    page_anchor(out, experiment->name, NULL);
    text_add(out, "\"><h2>");
    html_text(out, *title != '\0' ? title : experiment->name);
    text_add(out, "</h2>\n");
    if (experiment->trouble != NULL) {
        text_add(out, "<p class=\"trouble\">");
        html_text(out, experiment->trouble);
        text_add(out, "</p>\n");
    }
    oltr_status status = OLTR_OK;
    if (experiment->there && *data_note(experiment) != '\0') {
        text_add(out, "<p class=\"notice\">");
        html_text(out, data_note(experiment));
        text_add(out, "</p>\n");
    }
    if (experiment->there) {
        add_setting(experiment, out);
        for (uint32_t i = 0; status == OLTR_OK && i < manifest->n_figures; i++)
            status = page_figure(experiment, &manifest->figure[i], out, missing, error);
        page_claims(experiment, NULL, out);
        if (status == OLTR_OK && !manifest->is_concentration && !page_ranking(experiment, out))
            status = set_error(error, OLTR_ENOMEM, "index.html: out of memory");
    }
    text_add(out, "</section>\n");
    return status;
}

/* ---- what was run */

/* What the paper says of its time: a figure for its synthetic experiments, nothing for those on
 * data. */
static const char *time_of_paper(const struct report_experiment *experiment)
{
    const struct manifest *manifest = &experiment->folder.manifest;
    bool of_paper = false;
    for (uint32_t i = 0; i < manifest->n_figures; i++)
        of_paper = of_paper || manifest->figure[i].label != NULL;
    return !of_paper                        ? "not in the paper"
           : manifest->is_concentration     ? "nothing to simulate"
           : *data_note(experiment) != '\0' ? "not given"
                                            : "about 5 min on 48 cores";
}

static void add_run(const struct report_experiment *experiment, struct text *out)
{
    text_printf(out, "<tr><th scope=\"row\"><a href=\"#%s\">%s</a></th><td class=\"n\">",
                experiment->name, experiment->name);
    if (!experiment->there) {
        text_add(out, "</td><td></td><td></td><td>");
        html_text(out, experiment->trouble);
        text_add(out, "</td><td></td></tr>\n");
        return;
    }
    const json_t *point = json_array_get(json_object_get(manifest_of(experiment), "points"), 0);
    double threads = json_number_value(json_object_get(manifest_of(experiment), "threads"));
    html_seconds(out, seconds_of(experiment));
    text_printf(out, "</td><td class=\"n\">%g</td><td class=\"n\">", threads);
    html_seconds(out, threads * seconds_of(experiment));
    text_printf(out, "</td><td>%s</td><td class=\"n\">", time_of_paper(experiment));
    html_count(out, (uint64_t)json_integer_value(json_object_get(point, "replications")));
    text_add(out, "</td></tr>\n");
}

static void add_runs(const struct report *report, struct text *out)
{
    text_add(
        out,
        "<section id=\"runs\"><h2>What was run</h2>\n<div class=\"wide\"><table "
        "class=\"ranking\"><thead><tr>"
        "<th>experiment</th><th class=\"n\">time</th><th class=\"n\">threads</th><th "
        "class=\"n\">time × threads"
        "</th><th>the paper's time</th><th class=\"n\">replications</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < report->count; i++)
        add_run(&report->experiment[i], out);
    text_add(out, "</tbody></table></div>\n<p>The paper gives about 5 minutes on 48 cores for each "
                  "synthetic experiment, that "
                  "is 4 hours of one core. Times are of the simulation, without drawing; of an "
                  "experiment that was resumed, "
                  "since then.</p>\n"
                  "<p class=\"files\">All numbers: <a href=\"results.csv\">results.csv</a> <a "
                  "href=\"summary.csv\">"
                  "summary.csv</a> <a href=\"claims.csv\">claims.csv</a> <a "
                  "href=\"summary.tex\">summary.tex</a> (booktabs "
                  "tables)</p></section>\n");
}

/* ---- the foot */

static void add_foot(struct text *out)
{
    text_add(out, "</main>\n<footer><p>Written by <code>oltr report</code> from the files in this "
                  "folder. Charts: dygraphs, "
                  "whose license follows.</p><details><summary>License of dygraphs</summary><pre>");
    html_text(out, (const char *)asset_dygraph_license);
    text_add(out, "</pre></details></footer>\n<script>\n");
    add_asset(out, asset_dygraph_js);
    text_add(out, "\n</script>\n<script>\n");
    add_asset(out, asset_page_js);
    text_add(out, "</script>\n</body>\n</html>\n");
}

oltr_status page_write(const struct report *report, struct text *out, uint32_t *missing,
                       oltr_error *error)
{
    oltr_status status = OLTR_OK;
    add_head(out);
    add_top(report, out);
    add_navigation(report, out);
    text_add(out, "<main>\n");
    add_claims(report, out);
    for (size_t i = 0; status == OLTR_OK && i < report->count; i++)
        status = add_experiment(&report->experiment[i], out, missing, error);
    page_released(report, out);
    add_runs(report, out);
    add_foot(out);
    return status == OLTR_OK && out->failed
               ? set_error(error, OLTR_ENOMEM, "index.html: out of memory")
               : status;
}
