/* page_claims.c - what the paper says of a figure, and what was found, in words and numbers. */
#include "report/page/page_parts.h"

#include "report/page/html.h"

#include <math.h>
#include <string.h>

void page_verdict(struct text *out, enum claim_verdict verdict)
{
    static const char *const looks[] = {"holds", "fails", "open"};
    static const char *const signs[] = {"✓", "✗", "?"}; /* colour is never the only sign */
    text_printf(out, "<span class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> %s</span>",
                looks[verdict], signs[verdict], claim_word(verdict));
}

/* ---- what is compared */

static void add_others(const struct claim_test *test, struct text *out)
{
    for (uint32_t i = 1; i < test->n_policies; i++) {
        text_add(out, i == 1 ? "" : i + 1 < test->n_policies ? ", " : " and ");
        html_text(out, test->policy[i]);
    }
}

static void add_place(const struct claim_test *test, struct text *out)
{
    if (test->from > 0) {
        text_add(out, ", at every checkpoint from round ");
        html_count(out, test->from);
    }
    if (test->round > 0) {
        text_add(out, test->from > 0 ? " to " : ", at round ");
        html_count(out, test->round);
    }
    if (test->at != NULL) {
        text_add(out, ", at ");
        html_text(out, test->at);
    }
}

static const char *measure_of(const struct claim_test *test)
{
    return test->measure == NULL                      ? "regret"
           : strcmp(test->measure, "width95") == 0    ? "width of the 95% interval"
           : strcmp(test->measure, "coverage95") == 0 ? "coverage of the 95% interval"
           : strcmp(test->measure, "sd") == 0         ? "standard deviation"
                                                      : test->measure;
}

/* A policy at two swept values. */
static void add_self_criterion(const struct claim_test *test, struct text *out)
{
    text_add(out, "regret at ");
    html_text(out, test->at);
    if (test->relation == CLAIM_CLOSE) {
        text_printf(out, " and at %s within %g%%, of ", test->against, 100 * test->within);
    } else {
        text_printf(out, test->relation == CLAIM_LESS ? " below " : " above ");
        if (test->factor != 1)
            text_printf(out, "%g × ", test->factor);
        text_add(out, "that at ");
        html_text(out, test->against);
        text_add(out, ", of ");
    }
    html_text(out, test->policy[0]);
    text_add(out, test->n_policies > 1 ? ", " : "");
    add_others(test, out);
}

/* The test as a sentence: what "competes closely" was taken to mean. */
static void add_criterion(const struct claim_test *test, struct text *out)
{
    if (test->against != NULL) {
        add_self_criterion(test, out);
        return;
    }
    html_text(out, measure_of(test));
    text_add(out, " of ");
    if (test->relation == CLAIM_CLOSE) {
        add_others(test, out);
        text_printf(out, " within %g%% of ", 100 * test->within);
        html_text(out, test->policy[0]);
    } else {
        html_text(out, test->policy[0]);
        text_add(out, test->relation == CLAIM_LESS ? " below " : " above ");
        if (test->factor != 1)
            text_printf(out, "%g × ", test->factor);
        text_add(out, test->n_policies > 2 ? "each of " : "that of ");
        add_others(test, out);
    }
    add_place(test, out);
}

/* ---- what was found */

static void add_comparison(const struct claim_comparison *c, bool with_place, struct text *out)
{
    text_add(out, "<tr><td>");
    html_text(out, c->policy);
    if (c->against != NULL || with_place) {
        text_add(out, " at ");
        html_text(out, c->at);
    }
    text_add(out, "</td><td>");
    html_text(out, c->other);
    if (c->against != NULL) {
        text_add(out, " at ");
        html_text(out, c->against);
    }
    text_add(out, "</td><td class=\"n\">");
    html_difference(out, c->difference, c->difference_se);
    text_add(out, "</td><td class=\"n\">");
    if (c->other_value > 0 && c->value > 0)
        text_printf(out, "%.2f", c->value / c->other_value);
    text_add(out, "</td><td>");
    page_verdict(out, c->verdict);
    text_add(out, "</td></tr>\n");
}

/* The comparison that decides: the one that lies furthest on the side that the claim denies. */
static const struct claim_comparison *deciding(const struct claim_finding *finding)
{
    const struct claim_comparison *worst = NULL;
    double most = 0;
    for (uint32_t i = 0; i < finding->n_comparisons; i++) {
        const struct claim_comparison *c = &finding->comparison[i];
        double above = c->margin_se > 0 ? c->margin / c->margin_se
                                        : c->margin; /* exact numbers are all exact */
        if (worst == NULL || above > most) {
            worst = c;
            most = above;
        }
    }
    return worst;
}

static void add_decision(const struct claim_comparison *c, bool with_place, struct text *out)
{
    text_add(out, "<span class=\"found\">");
    html_text(out, c->policy);
    if (c->against != NULL) {
        text_add(out, ": ");
        html_difference(out, c->difference, c->difference_se);
    } else {
        text_add(out, " − ");
        html_text(out, c->other);
        text_add(out, " = ");
        html_difference(out, c->difference, c->difference_se);
    }
    if (with_place) {
        text_add(out, " at ");
        html_text(out, c->at);
    }
    if (c->other_value > 0 && c->value > 0)
        text_printf(out, ", ratio %.2f", c->value / c->other_value);
    text_add(out, "</span>. ");
}

static void add_comparisons(const struct claim_finding *finding, bool with_place, struct text *out)
{
    text_printf(out,
                "<details><summary>all %u comparisons</summary><div class=\"wide\"><table "
                "class=\"numbers\"><thead>"
                "<tr><th>policy</th><th>against</th><th class=\"n\">difference ± se</th><th "
                "class=\"n\">ratio</th>"
                "<th>alone</th></tr></thead><tbody>\n",
                (unsigned)finding->n_comparisons);
    for (uint32_t i = 0; i < finding->n_comparisons; i++)
        add_comparison(&finding->comparison[i], with_place, out);
    text_add(out, "</tbody></table></div></details>");
}

static void add_finding(const struct report_experiment *experiment,
                        const struct claim_finding *finding, struct text *out)
{
    const struct claim_test *test = finding->test;
    bool with_place = test->at == NULL && (experiment->folder.manifest.scene.sweep_key != NULL ||
                                           test->measure != NULL);
    text_add(out, "<li>");
    page_verdict(out, finding->verdict);
    text_add(out, " <b class=\"reading\">");
    html_text(out, test->of);
    text_add(out, "</b>: ");
    if (test->relation != CLAIM_UNTOLD) {
        add_criterion(test, out);
        text_add(out, ". ");
    }
    html_text(out, finding->reason);
    if (finding->n_comparisons > 0) {
        text_add(out, finding->n_comparisons > 1 ? "Decided by " : "");
        add_decision(deciding(finding), with_place, out);
    }
    if (finding->n_comparisons > 1)
        add_comparisons(finding, with_place, out);
    text_add(out, "</li>\n");
}

static bool belongs(const struct claim_finding *finding, const char *figure)
{
    const char *own = finding->claim->figure;
    return figure == NULL ? own == NULL : own != NULL && strcmp(own, figure) == 0;
}

void page_claims(const struct report_experiment *experiment, const char *figure, struct text *out)
{
    const struct claim *open = NULL;
    for (uint32_t i = 0; i < experiment->findings.count; i++) {
        const struct claim_finding *finding = &experiment->findings.finding[i];
        if (!belongs(finding, figure))
            continue;
        if (finding->claim != open) {
            text_add(out, open != NULL ? "</ul></section>\n" : "");
            text_add(out, "<section class=\"claim\"><p class=\"says\">");
            html_text(out, finding->claim->says);
            text_add(out, "</p><ul>\n");
            open = finding->claim;
        }
        add_finding(experiment, finding, out);
    }
    text_add(out, open != NULL ? "</ul></section>\n" : "");
}
