/* claims.c - see claims.h.
 *
 * A claim is linear in two means, A - f B < 0.  Its standard error follows from three that the
 * files have:
 *
 *     Var(A - f B) = Var A + f^2 Var B - 2 f Cov(A, B),   2 Cov(A, B) = Var A + Var B - Var(A - B)
 *
 * where Var(A - B) is the paired one.  Two swept values have no pairs: there the covariance is left
 * out.  That makes the error too large, not too small, because the points of a sweep share their
 * seed.  A bound is an exact number. */
#include "report/claims/claims.h"

#include "engine/base/error.h"
#include "report/bounds/bounds.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"
#include "report/io/folder.h"

#include <oltr/plan.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ERRORS_NEEDED = 3; /* standard errors between a claim and its verdict */

/* The test being judged. */
struct judge {
    const struct folder *folder;
    struct claim_finding *finding;
};

/* Two means and how they vary together. */
struct means {
    double a, b, var_a, var_b;
    double difference, var_difference;
};

const char *const claim_relations[N_CLAIM_RELATIONS] = {"less", "more", "close"};

const char *const claim_sources[N_CLAIM_SOURCES] = {"ours", "paper"};
const char *const claim_verdicts[N_CLAIM_VERDICTS] = {"holds", "does not hold", "inconclusive",
                                                      "not measurable"};

/* ---- one comparison */

static double margin_variance(const struct means *m, double factor)
{
    double variance = (1 - factor) * m->var_a + (factor * factor - factor) * m->var_b +
                      factor * m->var_difference;
    return variance > 0 ? variance : 0;
}

/* The margin in standard errors; that of an exact number is infinite. */
static double errors_above(double margin, double se)
{
    return se > 0 ? margin / se : margin > 0 ? HUGE_VAL : margin < 0 ? -HUGE_VAL : 0;
}

/* Tests sign * (A - factor B) < 0.  True, and stored in the comparison, if it is further above zero
 * than *worst, in standard errors; NAN: no worst yet. */
static bool weigh(const struct means *m, double sign, double factor, struct claim_comparison *out,
                  double *worst)
{
    double margin = sign * (m->difference + (1 - factor) * m->b),
           se = sqrt(margin_variance(m, factor));
    double above = errors_above(margin, se);
    if (above <= *worst)
        return false;
    *worst = above;
    out->margin = margin;
    out->margin_se = se;
    out->verdict = above < -ERRORS_NEEDED  ? CLAIM_HOLDS
                   : above > ERRORS_NEEDED ? CLAIM_FAILS
                                           : CLAIM_INCONCLUSIVE;
    return true;
}

/* The comparison at one checkpoint; it replaces what is in `out` when it is worse for the claim. */
static void compare(const struct claim_test *test, const struct means *m, uint64_t round,
                    struct claim_comparison *out, double *worst)
{
    bool worse;
    if (test->relation != CLAIM_CLOSE) {
        worse = weigh(m, test->relation == CLAIM_LESS ? 1 : -1, test->factor, out, worst);
    } else { /* (1 - within) A < B < (1 + within) A */
        struct means turned = {m->b, m->a, m->var_b, m->var_a, -m->difference, m->var_difference};
        worse = weigh(&turned, 1, 1 + test->within, out, worst);
        worse = weigh(&turned, -1, 1 - test->within, out, worst) || worse;
    }
    if (worse) {
        out->round = round;
        out->value = m->a;
        out->other_value = m->b;
        out->difference = m->difference;
        out->difference_se = sqrt(m->var_difference);
    }
}

/* ---- where the numbers come from */

static bool undecided(struct judge *judge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool undecided(struct judge *judge, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(judge->finding->reason, sizeof judge->finding->reason, format, arguments);
    va_end(arguments);
    return false;
}

static bool row_of(struct judge *judge, const char *policy, const char *sweep, uint64_t round,
                   const struct result_row **out)
{
    const struct result_table *results = &judge->folder->results;
    *out = round == 0 ? result_last(results, sweep, policy, 0)
                      : result_find(results, sweep, policy, round);
    if (!*out)
        return undecided(judge, "%.60s was not recorded at round %" PRIu64, policy, round);
    return (*out)->replications >= CLAIM_LEAST_REPLICATIONS ||
           undecided(judge, "%" PRIu64 " replication%s too few to tell", (*out)->replications,
                     (*out)->replications == 1 ? " is" : "s are");
}

static bool bound_means(struct judge *judge, const struct claim_comparison *c, const char *bound,
                        uint64_t round, struct means *m, uint64_t *at)
{
    const struct figure_scene *scene = &judge->folder->manifest.scene;
    const struct result_row *row;
    uint32_t p = 0;
    if (!row_of(judge, c->policy, c->at, round, &row))
        return false;
    while (strcmp(scene->point[p].sweep, c->at) != 0)
        p++;
    struct bound_problem problem = figure_problem(&scene->point[p], (double)row->round);
    *m = (struct means){.a = row->regret,
                        .b = bound_value(bound_find(bound), &problem),
                        .var_a = row->regret_se * row->regret_se};
    m->difference = m->a - m->b;
    m->var_difference = m->var_a;
    *at = row->round;
    return true;
}

/* Two policies at one place by their pairs, or one policy at two swept values. */
static bool regret_means(struct judge *judge, const struct claim_comparison *c, uint64_t round,
                         struct means *m, uint64_t *at)
{
    const struct result_row *first, *second;
    double se;
    if (!row_of(judge, c->policy, c->at, round, &first) ||
        !row_of(judge, c->other, c->against ? c->against : c->at, first->round, &second))
        return false;
    *m = (struct means){.a = first->regret,
                        .b = second->regret,
                        .var_a = first->regret_se * first->regret_se,
                        .var_b = second->regret_se * second->regret_se,
                        .difference = first->regret - second->regret};
    m->var_difference = m->var_a + m->var_b;
    *at = first->round;
    if (c->against)
        return true;
    if (!pair_find(&judge->folder->pairs, c->at, *at, c->policy, c->other, &m->difference, &se))
        return undecided(judge, "pairs.csv has no difference of %.60s to another at round %" PRIu64,
                         c->policy, *at);
    m->var_difference = se * se;
    return true;
}

static bool posterior_value(const struct folder *folder, const char *attraction, const char *name,
                            const char *measure, double *out)
{
    int column = 0;
    while (column < N_MEASURES && strcmp(measure_names[column], measure) != 0)
        column++;
    for (size_t i = 0; column < N_MEASURES && i < folder->n_posteriors; i++) {
        const struct posterior_row *row = &folder->posterior[i];
        if (strcmp(row->attraction, attraction) == 0 && strcmp(row->posterior, name) == 0) {
            *out = row->value[column];
            return true;
        }
    }
    return false;
}

static bool posterior_means(struct judge *judge, const struct claim_comparison *c,
                            const char *measure, struct means *m)
{
    *m = (struct means){0};
    if (!posterior_value(judge->folder, c->at, c->policy, measure, &m->a) ||
        !posterior_value(judge->folder, c->at, c->other, measure, &m->b))
        return undecided(judge, "summary.csv has no %.60s of these posteriors", measure);
    m->difference = m->a - m->b;
    return true;
}

/* ---- swept values */

/* Is the point one that a test names?  NULL: all are.  With two keys "*" stands for every value of
 * one, or where `like` is given for that of `like`. */
static bool is_named(const char *wanted, const struct figure_point *point,
                     const struct figure_point *like)
{
    if (!wanted || strcmp(wanted, point->sweep) == 0)
        return true;
    const char *between = strstr(wanted, OLTR_SWEEP_BETWEEN);
    if (!between)
        return false;
    const char *part[2] = {wanted, between + strlen(OLTR_SWEEP_BETWEEN)};
    const size_t length[2] = {(size_t)(between - wanted), strlen(part[1])};
    for (int i = 0; i < 2; i++) {
        bool any = length[i] == strlen(CLAIM_ANY) && strncmp(part[i], CLAIM_ANY, length[i]) == 0;
        bool same = strlen(point->value[i]) == length[i] &&
                    strncmp(point->value[i], part[i], length[i]) == 0;
        if (any ? like && strcmp(point->value[i], like->value[i]) != 0 : !same)
            return false;
    }
    return true;
}

/* What a policy at a point is compared with; the words of the test where no point has them. */
static const char *other_place(const struct figure_scene *scene, const char *against,
                               const struct figure_point *at)
{
    for (uint32_t i = 0; against && i < scene->n_points; i++)
        if (is_named(against, &scene->point[i], at))
            return scene->point[i].sweep;
    return against;
}

static bool means_of(struct judge *judge, const struct claim_test *test,
                     const struct claim_comparison *c, uint64_t round, struct means *m,
                     uint64_t *at)
{
    return test->measure ? posterior_means(judge, c, test->measure, m)
           : test->bound ? bound_means(judge, c, test->bound, round, m, at)
                         : regret_means(judge, c, round, m, at);
}

/* ---- one test */

/* All checkpoints from test->from to test->round; the worst decides. */
static bool compare_from(struct judge *judge, const struct claim_test *test,
                         struct claim_comparison *out)
{
    const struct result_table *results = &judge->folder->results;
    double worst = NAN;
    for (size_t i = 0; i < results->count; i++) {
        const struct result_row *row = &results->row[i];
        struct means m;
        uint64_t round;
        if (strcmp(row->policy, out->policy) != 0 || strcmp(row->sweep, out->at) != 0 ||
            row->round < test->from || (test->round != 0 && row->round > test->round))
            continue;
        if (!means_of(judge, test, out, row->round, &m, &round))
            return false;
        compare(test, &m, round, out, &worst);
    }
    return !isnan(worst) ||
           undecided(judge, "%.60s was not recorded from round %" PRIu64, out->policy, test->from);
}

static bool compare_once(struct judge *judge, const struct claim_test *test,
                         struct claim_comparison *out)
{
    struct means m;
    uint64_t round = 0;
    double worst = NAN;
    bool known = means_of(judge, test, out, test->round, &m, &round);
    if (known)
        compare(test, &m, round, out, &worst);
    return known;
}

/* The comparisons of a test at one swept value. */
static bool compare_at(struct judge *judge, const struct claim_test *test, const char *at,
                       const char *against)
{
    struct claim_finding *finding = judge->finding;
    bool alone = test->against || test->bound; /* each policy by itself, not with the first */
    for (uint32_t i = !alone; i < test->n_policies; i++) {
        struct claim_comparison *out = &finding->comparison[finding->n_comparisons];
        *out = (struct claim_comparison){
            .policy = test->policy[alone ? i : 0],
            .other = test->bound ? bound_infos[bound_find(test->bound)].label : test->policy[i],
            .at = at,
            .against = against};
        if (!(test->from > 0 ? compare_from(judge, test, out) : compare_once(judge, test, out)))
            return false;
        finding->n_comparisons++;
    }
    return true;
}

/* At each swept value that the test names; one without a sweep. */
static bool compare_points(struct judge *judge, const struct claim_test *test)
{
    const struct figure_scene *scene = &judge->folder->manifest.scene;
    bool known = true;
    for (uint32_t i = 0; known && i < scene->n_points; i++) {
        const struct figure_point *at = &scene->point[i];
        known = !is_named(test->at, at, NULL) ||
                compare_at(judge, test, at->sweep, other_place(scene, test->against, at));
    }
    return known;
}

/* At each attraction that the test names; rows of one follow each other. */
static bool compare_attractions(struct judge *judge, const struct claim_test *test)
{
    const struct folder *folder = judge->folder;
    const char *last = NULL;
    bool known = true;
    for (size_t i = 0; known && i < folder->n_posteriors; i++) {
        const char *at = folder->posterior[i].attraction;
        bool is_next = !last || strcmp(last, at) != 0;
        if (is_next && (!test->at || strcmp(test->at, at) == 0))
            known = compare_at(judge, test, at, NULL);
        last = at;
    }
    return known;
}

/* The weakest of the verdicts decides: fails, then inconclusive, then holds. */
static enum claim_verdict verdict_of(const struct claim_finding *finding)
{
    bool seen[3] = {false, false, false};
    for (uint32_t i = 0; i < finding->n_comparisons; i++)
        seen[finding->comparison[i].verdict] = true;
    return seen[CLAIM_FAILS]          ? CLAIM_FAILS
           : seen[CLAIM_INCONCLUSIVE] ? CLAIM_INCONCLUSIVE
                                      : CLAIM_HOLDS;
}

static bool judge_test(struct judge *judge, const struct claim_test *test)
{
    const struct folder *folder = judge->folder;
    struct claim_finding *finding = judge->finding;
    finding->verdict = CLAIM_INCONCLUSIVE;
    if (test->relation == CLAIM_UNDECIDABLE) {
        finding->verdict = CLAIM_NOT_MEASURABLE;
        (void)snprintf(finding->reason, sizeof finding->reason, "%s", test->reason);
        return true;
    }
    size_t most = folder->manifest.scene.n_points + folder->n_posteriors;
    finding->comparison = calloc(most * test->n_policies + 1, sizeof *finding->comparison);
    if (!finding->comparison)
        return false;
    bool known = folder->manifest.is_concentration ? compare_attractions(judge, test)
                                                   : compare_points(judge, test);
    if (known && finding->n_comparisons == 0)
        known =
            undecided(judge, "nothing was measured at %.60s", test->at ? test->at : "any place");
    if (known)
        finding->verdict = verdict_of(finding);
    return true;
}

oltr_status claims_judge(const struct folder *folder, struct claim_findings *findings,
                         oltr_error *error)
{
    const struct manifest *manifest = &folder->manifest;
    size_t count = 0;
    memset(findings, 0, sizeof *findings);
    for (uint32_t i = 0; i < manifest->n_claims; i++)
        count += manifest->claim[i].n_tests;
    findings->finding = calloc(count + 1, sizeof *findings->finding);
    bool room = findings->finding;
    for (uint32_t i = 0; room && i < manifest->n_claims; i++) {
        for (uint32_t j = 0; room && j < manifest->claim[i].n_tests; j++) {
            struct judge judge = {folder, &findings->finding[findings->count++]};
            judge.finding->claim = &manifest->claim[i];
            judge.finding->test = &manifest->claim[i].test[j];
            room = judge_test(&judge, judge.finding->test);
        }
    }
    return room ? OLTR_OK : set_error(error, OLTR_ENOMEM, "%s: out of memory", folder->path);
}

void claims_free(struct claim_findings *findings)
{
    for (uint32_t i = 0; findings->finding && i < findings->count; i++)
        free(findings->finding[i].comparison);
    free(findings->finding);
    memset(findings, 0, sizeof *findings);
}

/* ---- groups */

uint32_t claims_group(const struct claim_findings *findings, uint32_t first)
{
    const struct claim_finding *head = &findings->finding[first];
    uint32_t count = 1;
    for (; head->test->setting && first + count < findings->count; count++) {
        const struct claim_finding *next = head + count;
        if (next->claim != head->claim || !next->test->setting ||
            strcmp(next->test->setting, head->test->setting) != 0 ||
            strcmp(next->test->of, head->test->of) != 0)
            break;
    }
    return count;
}

/* "1, 0.5", the settings of a group that have this verdict. */
static uint32_t list_values(const struct claim_finding *finding, uint32_t count,
                            enum claim_verdict verdict, struct text *out)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < count; i++)
        if (finding[i].verdict == verdict)
            text_printf(out, "%s%s", listed++ > 0 ? ", " : "", finding[i].test->value);
    return listed;
}

/* The first part of the sentence names the setting: "holds for sigma in {0.35, 0.3}"; the others
 * are short: "not at 1, 0.5". */
void claims_overall(const struct claim_findings *findings, uint32_t first, struct text *out)
{
    static const char *const again[N_CLAIM_VERDICTS] = {"holds", "not", "inconclusive",
                                                        "not measurable"};
    const struct claim_finding *finding = &findings->finding[first];
    uint32_t count = claims_group(findings, first);
    bool begun = false;
    if (!finding->test->setting) {
        text_add(out, claim_verdicts[finding->verdict]);
        return;
    }
    for (int v = 0; v < N_CLAIM_VERDICTS; v++) {
        struct text values = {0};
        uint32_t listed = list_values(finding, count, (enum claim_verdict)v, &values);
        if (listed > 0 && !begun)
            text_printf(out, listed > 1 ? "%s for %s in {%s}" : "%s for %s = %s", claim_verdicts[v],
                        finding->test->setting, values.bytes ? values.bytes : "");
        else if (listed > 0)
            text_printf(out, "; %s at %s", again[v], values.bytes ? values.bytes : "");
        begun = begun || listed > 0;
        out->failed = out->failed || values.failed;
        text_free(&values);
    }
}

/* ---- the file */

void claims_heading(struct text *out, bool with_experiment)
{
    text_add(out, with_experiment ? "experiment," : "");
    text_add(out, "figure,claim,source,reading,setting,verdict,overall,reason,sweep,against,round,"
                  "policy,other,value,other_value,difference,difference_se,margin,margin_se,"
                  "comparison\n");
}

static void add_field(struct text *out, const char *field)
{
    csv_field(out, field ? field : "");
    text_add(out, ",");
}

static void add_comparison(const struct claim_comparison *c, struct text *out)
{
    add_field(out, c->at);
    add_field(out, c->against);
    if (c->round > 0)
        text_printf(out, "%" PRIu64, c->round);
    text_add(out, ",");
    add_field(out, c->policy);
    add_field(out, c->other);
    text_printf(out, "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s\n", c->value, c->other_value, c->difference,
                c->difference_se, c->margin, c->margin_se, claim_verdicts[c->verdict]);
}

static void add_setting(const struct claim_test *test, struct text *out)
{
    struct text setting = {0};
    if (test->setting)
        text_printf(&setting, "%s = %s", test->setting, test->value);
    add_field(out, setting.bytes);
    out->failed = out->failed || setting.failed;
    text_free(&setting);
}

/* One row for each comparison, and one row without any. */
static void add_finding(const struct claim_finding *finding, const char *overall,
                        const char *experiment, struct text *out)
{
    uint32_t i = 0;
    do {
        if (experiment)
            add_field(out, experiment);
        add_field(out, finding->claim->figure);
        add_field(out, finding->claim->says);
        add_field(out, claim_sources[finding->claim->source]);
        add_field(out, finding->test->of);
        add_setting(finding->test, out);
        add_field(out, claim_verdicts[finding->verdict]);
        add_field(out, overall);
        add_field(out, finding->reason);
        if (i < finding->n_comparisons)
            add_comparison(&finding->comparison[i], out);
        else
            text_add(out, ",,,,,,,,,,,\n");
    } while (++i < finding->n_comparisons);
}

void claims_rows(const struct claim_findings *findings, const char *experiment, struct text *out)
{
    for (uint32_t i = 0; i < findings->count;) {
        struct text overall = {0};
        claims_overall(findings, i, &overall);
        for (uint32_t end = i + claims_group(findings, i); i < end; i++)
            add_finding(&findings->finding[i], overall.bytes, experiment, out);
        out->failed = out->failed || overall.failed;
        text_free(&overall);
    }
}

oltr_status claims_folder(const char *path, oltr_error *error)
{
    struct folder folder;
    struct claim_findings findings = {0};
    struct text content = {0};
    oltr_status status = folder_read(path, &folder, error);
    if (status == OLTR_OK)
        status = claims_judge(&folder, &findings, error);
    if (status == OLTR_OK && folder.manifest.n_claims > 0) {
        claims_heading(&content, false);
        claims_rows(&findings, NULL, &content);
        status = file_write_in(path, "claims.csv", &content, error);
    }
    text_free(&content);
    claims_free(&findings);
    folder_free(&folder);
    return status;
}
