/* claims.c - see claims.h.
 *
 * A claim is linear in two means, A - f B < 0, and its standard error follows from the three that
 * the files have:
 *
 *     Var(A - f B) = Var A + f^2 Var B - 2 f Cov(A, B),   2 Cov(A, B) = Var A + Var B - Var(A - B)
 *
 * where Var(A - B) is the paired one.  Two swept values have no pairs; there the covariance is left
 * out, which makes the error too large rather than too small, because the points of a sweep share
 * their seed. */
#include "report/claims/claims.h"

#include "engine/base/error.h"
#include "report/io/csv.h"
#include "report/io/whole_file.h"
#include "report/io/folder.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ERRORS_NEEDED = 3; /* standard errors between a claim and its verdict */

struct judge {
    const struct folder *folder;
    struct claim_finding *finding;
};

/* Two means and how they vary together. */
struct means {
    double a, b, var_a, var_b;
    double difference, var_difference;
};

const char *const claim_relations[CLAIM_UNTOLD] = {"less", "more", "close"};

const char *claim_word(enum claim_verdict verdict)
{
    static const char *const words[] = {"holds", "does not hold", "cannot be told"};
    return words[verdict];
}

/* ---- one comparison */

static double margin_variance(const struct means *m, double factor)
{
    double variance = (1 - factor) * m->var_a + (factor * factor - factor) * m->var_b +
                      factor * m->var_difference;
    return variance > 0 ? variance : 0;
}

/* How many standard errors the margin lies above zero; an exact number is infinitely many away. */
static double errors_above(double margin, double se)
{
    return se > 0 ? margin / se : margin > 0 ? HUGE_VAL : margin < 0 ? -HUGE_VAL : 0;
}

/* The worst that was seen of a comparison, in standard errors above zero. */
struct worst {
    bool any;
    double above;
};

/* sign * (A - factor B) < 0: true, and kept in the comparison, if it is the worst so far. */
static bool weigh(const struct means *m, double sign, double factor, struct claim_comparison *out,
                  struct worst *worst)
{
    double margin = sign * (m->difference + (1 - factor) * m->b),
           se = sqrt(margin_variance(m, factor));
    double above = errors_above(margin, se);
    if (worst->any && above <= worst->above)
        return false;
    *worst = (struct worst){true, above};
    out->margin = margin;
    out->margin_se = se;
    out->verdict = above < -ERRORS_NEEDED  ? CLAIM_HOLDS
                   : above > ERRORS_NEEDED ? CLAIM_FAILS
                                           : CLAIM_OPEN;
    return true;
}

/* The comparison at one checkpoint; it replaces what is in `out` when it is worse for the claim. */
static void compare(const struct claim_test *test, const struct means *m, uint64_t round,
                    struct claim_comparison *out, struct worst *worst)
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

static bool untold(struct judge *judge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool untold(struct judge *judge, const char *format, ...)
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
    if (*out == NULL)
        return untold(judge, "%.60s was not recorded at round %" PRIu64, policy, round);
    return (*out)->replications >= CLAIM_LEAST_REPLICATIONS ||
           untold(judge, "%" PRIu64 " replication%s too few to tell", (*out)->replications,
                  (*out)->replications == 1 ? " is" : "s are");
}

static bool paired_means(struct judge *judge, const char *a, const char *b, const char *sweep,
                         uint64_t round, struct means *m, uint64_t *at)
{
    const struct result_row *first, *second;
    double se;
    if (!row_of(judge, a, sweep, round, &first) || !row_of(judge, b, sweep, first->round, &second))
        return false;
    *m = (struct means){.a = first->regret, .b = second->regret};
    m->var_a = first->regret_se * first->regret_se;
    m->var_b = second->regret_se * second->regret_se;
    if (!pair_find(&judge->folder->pairs, sweep, first->round, a, b, &m->difference, &se)) {
        return untold(judge, "pairs.csv has no difference of %.60s to another at round %" PRIu64, a,
                      first->round);
    }
    m->var_difference = se * se;
    *at = first->round;
    return true;
}

/* One policy at two swept values. */
static bool swept_means(struct judge *judge, const char *policy, const struct claim_test *test,
                        struct means *m, uint64_t *at)
{
    const struct result_row *first, *second;
    if (!row_of(judge, policy, test->at, test->round, &first) ||
        !row_of(judge, policy, test->against, first->round, &second))
        return false;
    *m = (struct means){
        .a = first->regret, .b = second->regret, .difference = first->regret - second->regret};
    m->var_a = first->regret_se * first->regret_se;
    m->var_b = second->regret_se * second->regret_se;
    m->var_difference = m->var_a + m->var_b;
    *at = first->round;
    return true;
}

static bool posterior_value(const struct folder *folder, const char *attraction, const char *name,
                            const char *measure, double *out)
{
    for (size_t i = 0; i < folder->n_posteriors; i++) {
        const struct posterior_row *row = &folder->posterior[i];
        for (int j = 0; j < N_MEASURES; j++) {
            if (strcmp(row->attraction, attraction) == 0 && strcmp(row->posterior, name) == 0 &&
                strcmp(measure_names[j], measure) == 0) {
                *out = row->value[j];
                return true;
            }
        }
    }
    return false;
}

static bool posterior_means(struct judge *judge, const char *a, const char *b,
                            const char *attraction, const char *measure, struct means *m)
{
    *m = (struct means){0};
    if (!posterior_value(judge->folder, attraction, a, measure, &m->a) ||
        !posterior_value(judge->folder, attraction, b, measure, &m->b))
        return untold(judge, "summary.csv has no %.60s of these posteriors", measure);
    m->difference = m->a - m->b;
    return true;
}

/* ---- one test */

/* All checkpoints from test->from to test->round; the worst decides. */
static bool compare_from(struct judge *judge, const struct claim_test *test,
                         struct claim_comparison *out)
{
    const struct result_table *results = &judge->folder->results;
    struct worst worst = {false, 0};
    bool found = false;
    for (size_t i = 0; i < results->count; i++) {
        const struct result_row *row = &results->row[i];
        struct means m;
        uint64_t round;
        if (strcmp(row->policy, out->policy) != 0 || strcmp(row->sweep, out->at) != 0 ||
            row->round < test->from || (test->round != 0 && row->round > test->round))
            continue;
        if (!paired_means(judge, out->policy, out->other, out->at, row->round, &m, &round))
            return false;
        compare(test, &m, round, out, &worst);
        found = true;
    }
    return found ||
           untold(judge, "%.60s was not recorded from round %" PRIu64, out->policy, test->from);
}

static bool compare_once(struct judge *judge, const struct claim_test *test,
                         struct claim_comparison *out)
{
    struct means m;
    uint64_t round = 0;
    struct worst worst = {false, 0};
    bool known = test->measure != NULL
                     ? posterior_means(judge, out->policy, out->other, out->at, test->measure, &m)
                 : test->against != NULL ? swept_means(judge, out->policy, test, &m, &round)
                                         : paired_means(judge, out->policy, out->other, out->at,
                                                        test->round, &m, &round);
    if (known)
        compare(test, &m, round, out, &worst);
    return known;
}

/* The comparisons of a test at one swept value. */
static bool compare_at(struct judge *judge, const struct claim_test *test, const char *at)
{
    struct claim_finding *finding = judge->finding;
    for (uint32_t i = test->against == NULL; i < test->n_policies; i++) {
        struct claim_comparison *out = &finding->comparison[finding->n_comparisons];
        const char *first = test->against != NULL ? test->policy[i] : test->policy[0];
        *out = (struct claim_comparison){
            .policy = first, .other = test->policy[i], .at = at, .against = test->against};
        if (!(test->from > 0 ? compare_from(judge, test, out) : compare_once(judge, test, out)))
            return false;
        finding->n_comparisons++;
    }
    return true;
}

/* Every swept value, every attraction, or the one place there is. */
static uint32_t places_of(const struct folder *folder, const char **place)
{
    uint32_t count = 0;
    if (!folder->manifest.is_concentration) {
        for (; count < folder->manifest.scene.n_points; count++)
            place[count] = folder->manifest.scene.point[count].sweep;
        return count;
    }
    for (size_t i = 0; i < folder->n_posteriors; i++)
        if (count == 0 || strcmp(place[count - 1], folder->posterior[i].attraction) != 0)
            place[count++] = folder->posterior[i].attraction;
    return count;
}

static enum claim_verdict verdict_of(const struct claim_finding *finding)
{
    enum claim_verdict verdict = CLAIM_HOLDS;
    for (uint32_t i = 0; i < finding->n_comparisons; i++) {
        if (finding->comparison[i].verdict == CLAIM_FAILS)
            return CLAIM_FAILS;
        verdict = finding->comparison[i].verdict == CLAIM_OPEN ? CLAIM_OPEN : verdict;
    }
    return verdict;
}

static bool judge_test(struct judge *judge, const struct claim_test *test)
{
    const struct folder *folder = judge->folder;
    struct claim_finding *finding = judge->finding;
    finding->verdict = CLAIM_OPEN;
    if (test->relation == CLAIM_UNTOLD) {
        (void)snprintf(finding->reason, sizeof finding->reason, "%s", test->reason);
        return true;
    }
    size_t most = folder->manifest.scene.n_points + folder->n_posteriors;
    const char **place = calloc(most + 1, sizeof *place);
    finding->comparison = calloc(most * test->n_policies + 1, sizeof *finding->comparison);
    bool room = place != NULL && finding->comparison != NULL;
    uint32_t count = room ? places_of(folder, place) : 0;
    bool known = true;
    for (uint32_t i = 0; known && i < count; i++) {
        known = (test->at != NULL && strcmp(test->at, place[i]) != 0) ||
                compare_at(judge, test, place[i]);
    }
    if (room && known && finding->n_comparisons == 0) {
        known = untold(judge, "nothing was measured at %.60s",
                       test->at != NULL ? test->at : "any place");
    }
    if (known)
        finding->verdict = verdict_of(finding);
    free(place);
    return room;
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
    bool room = findings->finding != NULL;
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
    for (uint32_t i = 0; findings->finding != NULL && i < findings->count; i++)
        free(findings->finding[i].comparison);
    free(findings->finding);
    memset(findings, 0, sizeof *findings);
}

/* ---- the file */

void claims_heading(struct text *out, bool with_experiment)
{
    text_printf(out,
                "%sfigure,claim,reading,verdict,reason,sweep,against,round,policy,other,value,"
                "other_value,difference,"
                "difference_se,margin,margin_se,comparison\n",
                with_experiment ? "experiment," : "");
}

static void add_field(struct text *out, const char *field)
{
    csv_field(out, field != NULL ? field : "");
    text_add(out, ",");
}

static void add_start(const struct claim_finding *finding, const char *experiment, struct text *out)
{
    if (experiment != NULL)
        add_field(out, experiment);
    add_field(out, finding->claim->figure);
    add_field(out, finding->claim->says);
    add_field(out, finding->test->of);
    add_field(out, claim_word(finding->verdict));
    add_field(out, finding->reason);
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
                c->difference_se, c->margin, c->margin_se, claim_word(c->verdict));
}

void claims_rows(const struct claim_findings *findings, const char *experiment, struct text *out)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        const struct claim_finding *finding = &findings->finding[i];
        for (uint32_t j = 0; j < finding->n_comparisons; j++) {
            add_start(finding, experiment, out);
            add_comparison(&finding->comparison[j], out);
        }
        if (finding->n_comparisons == 0) {
            add_start(finding, experiment, out);
            text_add(out, ",,,,,,,,,,,\n");
        }
    }
}

oltr_status claims_folder(const char *path, oltr_error *error)
{
    struct folder folder;
    struct claim_findings findings = {0};
    struct text content = {0};
    oltr_status status = folder_read(path, &folder, error);
    if (status == OLTR_OK && folder.manifest.n_claims > 0) {
        status = claims_judge(&folder, &findings, error);
        if (status == OLTR_OK) {
            claims_heading(&content, false);
            claims_rows(&findings, NULL, &content);
            status = file_write_in(path, "claims.csv", &content, error);
        }
    }
    text_free(&content);
    claims_free(&findings);
    folder_free(&folder);
    return status;
}
