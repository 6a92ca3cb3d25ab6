/* latex.c - summary.tex: the last regrets of every experiment as booktabs tables for a paper.
 *
 * The best of a column is bold where the paired difference to the next one is more than three
 * standard errors. */
#include "report/report.h"

#include "report/claims/standings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_OF_A_TABLE = 9 };

/* Adds text from a file; ten characters have a meaning in LaTeX. */
static void add_words(struct text *out, const char *words)
{
    static const char special[] = "\\{}$&#_%~^";
    static const char *const tex[] = {
        "\\textbackslash{}",  "\\{", "\\}", "\\$", "\\&", "\\#", "\\_", "\\%", "\\textasciitilde{}",
        "\\textasciicircum{}"};
    for (; *words; words++) {
        const char *found = strchr(special, *words);
        text_bytes(out, found ? tex[found - special] : words,
                   found ? strlen(tex[found - special]) : 1);
    }
}

static void add_cell(struct text *out, const struct ranked *ranked, bool bold)
{
    double se = ranked->row->regret_se;
    int digits = se > 0 && se < 0.1 ? (int)-floor(log10(se)) : 1;
    text_printf(out, bold ? " & $\\mathbf{%.*f} \\pm %.*f$" : " & $%.*f \\pm %.*f$", digits,
                ranked->row->regret, digits, se);
}

struct column {
    uint32_t count;
    struct ranked *ranked; /* (count) best first */
    bool clear;            /* the first is better than the second beyond doubt */
};

static const struct ranked *find(const struct column *column, uint32_t policy)
{
    for (uint32_t i = 0; i < column->count; i++)
        if (column->ranked[i].index == policy)
            return &column->ranked[i];
    return NULL;
}

static void add_rows(const struct figure_scene *scene, const struct column *column,
                     uint32_t n_columns, struct text *out)
{
    for (uint32_t i = 0; i < scene->n_policies; i++) {
        text_add(out, "  {}"); /* else \\ takes a bracket of the label for its argument */
        add_words(out, scene->policy[i]);
        for (uint32_t j = 0; j < n_columns; j++) {
            const struct ranked *ranked = find(&column[j], i);
            if (!ranked)
                text_add(out, " & --");
            else
                add_cell(out, ranked, column[j].clear && ranked == column[j].ranked);
        }
        text_add(out, " \\\\\n");
    }
}

static void add_heading(const struct folder *folder, const struct column *column, uint32_t first,
                        uint32_t n_columns, struct text *out)
{
    const struct figure_scene *scene = &folder->manifest.scene;
    text_add(out, "  policy");
    for (uint32_t j = 0; j < n_columns; j++) {
        text_add(out, " & ");
        if (scene->sweep_key)
            add_words(out, scene->point[first + j].sweep);
        else if (column[j].count > 0)
            text_printf(out, "regret at $T = %" PRIu64 "$", column[j].ranked[0].row->round);
    }
    text_add(out, " \\\\\n  \\midrule\n");
}

static void add_table(const struct report_experiment *experiment, const struct column *column,
                      uint32_t first, uint32_t n_columns, struct text *out)
{
    const struct folder *folder = &experiment->folder;
    const char *title = json_string_value(json_object_get(folder->manifest.json, "title"));
    text_add(out, "\\begin{table}[t]\n  \\centering\n  \\caption{");
    add_words(out, title ? title : experiment->name);
    if (folder->manifest.scene.sweep_key) {
        text_add(out, "; columns: \\texttt{");
        add_words(out, folder->manifest.scene.sweep_key);
        text_add(out, "}");
    }
    uint32_t queries = folder->manifest.scene.queries;
    text_add(out, ". Cumulative regret, mean $\\pm$ standard error ");
    if (queries > 0)
        text_printf(out, "over %" PRIu32 " quer%s, ", queries, plural_ies(queries));
    uint64_t replications = column[0].count > 0 ? column[0].ranked[0].row->replications : 0;
    text_printf(out, "%s%" PRIu64 " replication%s.}\n", queries > 0 ? "" : "of ", replications,
                plural_s(replications));
    text_printf(out, "  \\label{tab:%s%s}\n  \\begin{tabular}{l", experiment->name,
                first > 0 ? "-more" : "");
    for (uint32_t j = 0; j < n_columns; j++)
        text_add(out, "r");
    text_add(out, "}\n  \\toprule\n");
    add_heading(folder, column, first, n_columns, out);
    add_rows(&folder->manifest.scene, column, n_columns, out);
    text_add(out, "  \\bottomrule\n  \\end{tabular}\n\\end{table}\n\n");
}

/* Some points of an experiment; false without memory. */
static bool add_columns(const struct report_experiment *experiment, uint32_t first,
                        uint32_t n_columns, struct text *out)
{
    const struct figure_scene *scene = &experiment->folder.manifest.scene;
    struct column column[COLUMNS_OF_A_TABLE] = {{0, NULL, false}};
    struct ranked *room = calloc((size_t)n_columns * scene->n_policies + 1, sizeof *room);
    for (uint32_t j = 0; room && j < n_columns; j++) {
        const char *sweep = scene->point[first + j].sweep;
        column[j].ranked = room + (size_t)j * scene->n_policies;
        column[j].count = rank_policies(&experiment->folder, sweep, column[j].ranked);
        column[j].clear =
            column[j].count > 1 &&
            rank_is_clear(&experiment->folder, sweep, &column[j].ranked[0], &column[j].ranked[1]);
    }
    if (room)
        add_table(experiment, column, first, n_columns, out);
    bool made = room;
    free(room);
    return made;
}

void latex_write(const struct report *report, struct text *out)
{
    text_printf(out,
                "%% summary.tex - written by oltr %s; \\usepackage{booktabs}, then \\input this "
                "file.\n%% The best of a column is bold where its paired difference to the next is "
                "more than three standard errors.\n\n",
                oltr_version());
    for (size_t i = 0; i < report->count; i++) {
        const struct report_experiment *experiment = &report->experiment[i];
        uint32_t points = experiment->there && !experiment->folder.manifest.is_concentration
                              ? experiment->folder.manifest.scene.n_points
                              : 0;
        for (uint32_t first = 0; first < points; first += COLUMNS_OF_A_TABLE) {
            uint32_t left = points - first;
            if (!add_columns(experiment, first,
                             left < COLUMNS_OF_A_TABLE ? left : COLUMNS_OF_A_TABLE, out))
                out->failed = true;
        }
    }
}
