/* page_tables.c - who is best, by how much, and what the released code changes. */
#include "report/page/page_parts.h"

#include "report/page/html.h"
#include "report/claims/standings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double ns_per_round(const struct folder *folder, uint32_t point, uint32_t policy)
{
    const json_t *points = json_object_get(folder->manifest.json, "points");
    const json_t *policies = json_object_get(json_array_get(points, point), "policies");
    return json_number_value(json_object_get(json_array_get(policies, policy), "ns_per_round"));
}

/* ---- ranking */

static void add_ranked(const struct folder *folder, const struct ranked *r, struct text *out)
{
    text_printf(out, "<tr><td class=\"n\">%u</td><th scope=\"row\">", (unsigned)r->rank);
    html_text(out, r->policy);
    text_add(out, "</th><td class=\"n\">");
    html_estimate(out, r->row->regret, r->row->regret_se);
    text_add(out, "</td><td class=\"n\">");
    if (r->behind != 0)
        html_difference(out, r->behind, r->behind_se);
    text_printf(out, "</td><td class=\"n\">%.0f</td></tr>\n", ns_per_round(folder, 0, r->index));
}

static void add_ranking(const struct folder *folder, const struct ranked *ranked, uint32_t count,
                        struct text *out)
{
    text_add(out, "<div class=\"wide\"><table class=\"ranking\"><caption>Ranking at round ");
    html_count(out, count > 0 ? ranked[0].row->round : 0);
    text_add(
        out,
        ". Policies share a rank's number where three standard errors cannot part them.</caption>\n"
        "<thead><tr><th class=\"n\">rank</th><th>policy</th><th class=\"n\">regret ± se</th>"
        "<th class=\"n\">behind the best</th><th class=\"n\">ns a "
        "round</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < count; i++)
        add_ranked(folder, &ranked[i], out);
    text_add(out, "</tbody></table></div>\n");
}

/* With a sweep: a column for each value. */
static void add_sweep_row(const struct folder *folder, uint32_t policy, const char *const *best,
                          struct text *out)
{
    const struct figure_scene *scene = &folder->manifest.scene;
    text_add(out, "<tr><th scope=\"row\">");
    html_text(out, scene->policy[policy]);
    text_add(out, "</th>");
    for (uint32_t p = 0; p < scene->n_points; p++) {
        const struct result_row *row =
            result_last(&folder->results, scene->point[p].sweep, scene->policy[policy]);
        bool is_best = best[p] != NULL && strcmp(best[p], scene->policy[policy]) == 0;
        text_add(out, is_best ? "<td class=\"n best\">" : "<td class=\"n\">");
        if (row != NULL)
            html_estimate(out, row->regret, row->regret_se);
        text_add(out, "</td>");
    }
    text_add(out, "</tr>\n");
}

static void add_sweep_table(const struct folder *folder, const char *const *best, struct text *out)
{
    const struct figure_scene *scene = &folder->manifest.scene;
    text_add(
        out,
        "<div class=\"wide\"><table class=\"ranking\"><caption>Final regret ± se against <code>");
    html_text(out, scene->sweep_key);
    text_add(out, "</code>; bold where the best is more than three standard errors ahead of the "
                  "next.</caption>\n"
                  "<thead><tr><th>policy</th>");
    for (uint32_t p = 0; p < scene->n_points; p++) {
        text_add(out, "<th class=\"n\">");
        html_text(out, scene->point[p].sweep);
        text_add(out, "</th>");
    }
    text_add(out, "</tr></thead><tbody>\n");
    for (uint32_t i = 0; i < scene->n_policies; i++)
        add_sweep_row(folder, i, best, out);
    text_add(out, "</tbody></table></div>\n");
}

/* ---- pairs */

static void add_pair_cell(const struct folder *folder, const char *sweep, const struct ranked *row,
                          const struct ranked *column, struct text *out)
{
    double difference, se;
    if (row == column) {
        text_add(out, "<td class=\"n self\">·</td>");
        return;
    }
    if (!pair_find(&folder->pairs, sweep, row->row->round, row->policy, column->policy, &difference,
                   &se)) {
        text_add(out, "<td></td>");
        return;
    }
    bool clear = fabs(difference) > 3 * se;
    text_add(out, clear ? difference < 0 ? "<td class=\"n better\">" : "<td class=\"n worse\">"
                        : "<td class=\"n\">");
    html_difference(out, difference, se);
    text_add(out, "</td>");
}

static void add_pairs(const struct folder *folder, const char *sweep, const struct ranked *ranked,
                      uint32_t count, struct text *out)
{
    text_add(out, "<details class=\"pairs\"><summary>Every policy against every other");
    if (*sweep != '\0') {
        text_add(out, ", at ");
        html_text(out, sweep);
    }
    text_add(out, "</summary><p>Regret of the row minus regret of the column, ± its standard "
                  "error, paired by replication. "
                  "Coloured beyond three standard errors.</p>\n<div class=\"wide\"><table "
                  "class=\"matrix\"><thead><tr>"
                  "<td></td>");
    for (uint32_t i = 0; i < count; i++) {
        text_add(out, "<th scope=\"col\">");
        html_text(out, ranked[i].policy);
        text_add(out, "</th>");
    }
    text_add(out, "</tr></thead><tbody>\n");
    for (uint32_t i = 0; i < count; i++) {
        text_add(out, "<tr><th scope=\"row\">");
        html_text(out, ranked[i].policy);
        text_add(out, "</th>");
        for (uint32_t j = 0; j < count; j++)
            add_pair_cell(folder, sweep, &ranked[i], &ranked[j], out);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</tbody></table></div></details>\n");
}

bool page_ranking(const struct report_experiment *experiment, struct text *out)
{
    const struct folder *folder = &experiment->folder;
    const struct figure_scene *scene = &folder->manifest.scene;
    struct text pairs = {0};
    struct ranked *ranked = calloc(scene->n_policies + 1, sizeof *ranked);
    const char **best = calloc(scene->n_points + 1, sizeof *best);
    bool room = ranked != NULL && best != NULL;
    for (uint32_t p = 0; room && p < scene->n_points; p++) {
        const char *sweep = scene->point[p].sweep;
        uint32_t count = rank_policies(folder, sweep, ranked);
        best[p] = count > 1 && rank_is_clear(folder, sweep, &ranked[0], &ranked[1])
                      ? ranked[0].policy
                      : NULL;
        if (scene->sweep_key == NULL)
            add_ranking(folder, ranked, count, out);
        if (folder->pairs.count > 0)
            add_pairs(folder, sweep, ranked, count, &pairs);
    }
    if (room && scene->sweep_key != NULL)
        add_sweep_table(folder, best, out);
    text_add(out, pairs.bytes != NULL ? pairs.bytes : "");
    room = room && !pairs.failed;
    text_free(&pairs);
    free(ranked);
    free(best);
    return room;
}

/* ---- printed against released */

static const char released[] = " (released)";

/* The policy that "X (released)" is the released form of, or NULL. */
static const char *printed_of(const struct figure_scene *scene, const char *label)
{
    size_t length = strlen(label), tail = sizeof released - 1;
    if (length <= tail || strcmp(label + length - tail, released) != 0)
        return NULL;
    for (uint32_t i = 0; i < scene->n_policies; i++)
        if (strlen(scene->policy[i]) == length - tail &&
            strncmp(scene->policy[i], label, length - tail) == 0)
            return scene->policy[i];
    return NULL;
}

static void add_released(const struct report_experiment *experiment, uint32_t policy,
                         uint32_t point, struct text *out)
{
    const struct folder *folder = &experiment->folder;
    const struct figure_scene *scene = &folder->manifest.scene;
    const char *label = scene->policy[policy], *printed = printed_of(scene, label),
               *sweep = scene->point[point].sweep;
    const struct result_row *a = result_last(&folder->results, sweep, printed);
    const struct result_row *b = result_last(&folder->results, sweep, label);
    double difference, se;
    if (a == NULL || b == NULL)
        return;
    text_printf(out, "<tr><td><a href=\"#%s\">%s</a>", experiment->name, experiment->name);
    if (*sweep != '\0') {
        text_add(out, " at ");
        html_text(out, sweep);
    }
    text_add(out, "</td><th scope=\"row\">");
    html_text(out, printed);
    text_add(out, "</th><td class=\"n\">");
    html_estimate(out, a->regret, a->regret_se);
    text_add(out, "</td><td class=\"n\">");
    html_estimate(out, b->regret, b->regret_se);
    text_add(out, "</td><td class=\"n\">");
    if (pair_find(&folder->pairs, sweep, b->round, label, printed, &difference, &se))
        html_difference(out, difference, se);
    text_add(out, "</td></tr>\n");
}

/* Of a sweep the two ends are enough. */
static void add_released_of(const struct report_experiment *experiment, uint32_t policy,
                            struct text *out)
{
    const struct figure_scene *scene = &experiment->folder.manifest.scene;
    add_released(experiment, policy, 0, out);
    if (scene->n_points > 1)
        add_released(experiment, policy, scene->n_points - 1, out);
}

/* Each disagreement is told once, however many experiments measure it. */
static bool told_before(const struct report *report, size_t experiment, uint32_t policy,
                        const char *note)
{
    for (size_t i = 0; i <= experiment; i++) {
        const struct manifest *manifest = &report->experiment[i].folder.manifest;
        uint32_t end = i < experiment ? manifest->scene.n_policies : policy;
        for (uint32_t j = 0; j < end; j++)
            if (manifest->note[j] != NULL && strcmp(manifest->note[j], note) == 0)
                return true;
    }
    return false;
}

static void add_notes(const struct report *report, struct text *out)
{
    text_add(out, "<dl class=\"notes\">\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct manifest *manifest = &report->experiment[i].folder.manifest;
        for (uint32_t j = 0; j < manifest->scene.n_policies; j++) {
            const char *note = manifest->note[j];
            if (note != NULL && !told_before(report, i, j, note)) {
                text_add(out, "<dt>");
                html_text(out, manifest->scene.policy[j]);
                text_add(out, "</dt><dd>");
                html_text(out, note);
                text_add(out, "</dd>\n");
            }
        }
    }
    text_add(out, "</dl>\n");
}

void page_released(const struct report *report, struct text *out)
{
    text_add(out, "<section id=\"released\"><h2>Printed against released</h2>\n<p>Where the "
                  "printed paper and the authors' "
                  "released code differ, both were run on the same instances and users. The "
                  "difference is released minus "
                  "printed, paired.</p>\n<div class=\"wide\"><table "
                  "class=\"ranking\"><thead><tr><th>experiment</th>"
                  "<th>policy</th><th class=\"n\">printed</th><th class=\"n\">released</th><th "
                  "class=\"n\">difference ± "
                  "se</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct figure_scene *scene = &report->experiment[i].folder.manifest.scene;
        for (uint32_t j = 0; j < scene->n_policies; j++)
            if (printed_of(scene, scene->policy[j]) != NULL)
                add_released_of(&report->experiment[i], j, out);
    }
    text_add(out, "</tbody></table></div>\n");
    add_notes(report, out);
    text_add(out, "</section>\n");
}
