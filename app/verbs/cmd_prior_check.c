/* cmd_prior_check.c - `oltr prior check`: measures how good scores are as a prior of judged
 * documents, as text, as prior.csv and as figures. */
#include "lab/prepare/splits.h"
#include "app/verbs/prior_family.h"
#include "app/verbs/offers.h"
#include "report/figures/prior_figure.h"
#include "report/io/whole_file.h"
#include "lab/scorer/prior_quality.h"
#include "lab/scorer/scores_as.h"

#include <math.h>

static const char *const score_readings[] = {"calibrated", "minmax", "sigmoid", "raw", NULL};

const struct option prior_check_options[] = {
    {0, "data", "FILE", NULL, "the judged documents, LETOR / SVMlight text, plain or gzip"},
    {0, "scores", "FILE", NULL, "their scores, CSV; `-` is standard input"},
    {0, "scores-as", "NAME", NULL,
     "how scores become probabilities: calibrated (default; they must be from 0 to 1), minmax or "
     "sigmoid within each query, or raw",
     score_readings},
    {'o', "output", "DIR", NULL, "write prior.csv and the figures there (default: only print)"},
    {'j', "threads", "N", NULL,
     "the number of threads that read (default, or 0: one for each processor)"},
    {0, "grades", "NAME", NULL,
     "the attraction of each grade: err (default), linear, perfect, navigational, informational "
     "or near-random",
     .offer = offer_grades},
    {0, "largest-grade", "N", NULL,
     "the end of the scale of grades (default: the largest of the data)"},
    {0, "lenient", NULL, NULL, "skip bad lines of the data, and count them"},
    {0, "no-figures", NULL, NULL, "draw nothing"},
    {'q', "quiet", NULL, NULL, "print nothing; only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* ---- text */

static void print_order(const char *name, const check_order *order)
{
    printf("%-34s", name);
    for (int i = 0; i < CHECK_CUTS; i++)
        printf("   %.4f +- %.4f", order->ndcg[i], order->se[i]);
    putchar('\n');
}

static void print_orders(const prior_check *c)
{
    char name[64];
    printf("%-34s", "order (mean +- se over queries)");
    for (int i = 0; i < CHECK_CUTS; i++)
        printf("   NDCG@%-11u", check_cuts[i]);
    putchar('\n');
    print_order("  the prior: mean of the models", &c->mean);
    print_order("  one model, on average", &c->single);
    snprintf(name, sizeof name, "  best single feature: %u, %s", c->feature_id,
             c->feature_falls ? "falling" : "rising");
    print_order(name, &c->feature);
    print_order("  random order", &c->random);
}

static void print_losses(const prior_check *c)
{
    printf("\nlog-loss, in nats a document\n"
           "  the prior                             %.5f\n"
           "  best single feature, calibrated here  %.5f\n"
           "  base rate for every document          %.5f\n"
           "  the attraction itself                 %.5f\n",
           c->log_loss, c->log_loss_feature, c->log_loss_base, c->log_loss_truth);
}

static void print_bins(const prior_check *c)
{
    printf("\ncalibration: mean score %.4f, mean attraction %.4f, mean error %.4f\n"
           "  scores from       to  documents  mean score  mean attraction\n",
           c->mean_score, c->base_rate, c->calibration_error);
    for (uint32_t i = 0; i < c->n_bins; i++) {
        const check_bin *b = &c->bin[i];
        printf("  %11.4f %8.4f  %9u  %10.4f  %8.4f +- %.4f\n", b->low, b->high, b->n, b->score,
               b->attraction, b->se);
    }
}

static void print_number(const char *before, double value, const char *after)
{
    if (isfinite(value))
        printf("%s%.0f%s\n", before, value, after);
    else
        printf("%smore than %d%s\n", before, MOST_OBSERVATIONS, after);
}

static void print_verdict(const prior_check *c)
{
    bool too_certain = c->claimed_size > 1.5 * c->honest_size;
    puts(too_certain ? "It is more certain than its errors on this data allow.\n"
                       "`prior: mean` of a policy uses its means without its certainty."
                     : "It is no more certain than its errors on this data allow.");
}

static void print_sizes(const prior_check *c)
{
    printf("\nsize, in observations of a document\n"
           "  claimed: a + b of Beta(a, b)       %.4g\n",
           c->claimed_size);
    if (isfinite(c->spread_size))
        printf("  by the spread between the models   %.3g\n", c->spread_size);
    printf("  honest: by the errors on this data %.3g (%.3g for the base rate alone)\n",
           c->honest_size, c->honest_base);
    print_number("worth     ", c->worth,
                 " observations of each document without a prior, Beta(1,1)");
    print_number("better    than Beta(1,1) for ", c->helps_until, " observations of each document");
    printf("weight    in the posterior mean, as Beta(a, b): one half after %.0f observations of a "
           "document, one tenth after %.0f\n"
           "          as mean and sd (gts): one half after %.0f, in the median\n",
           c->claimed_size, 9 * c->claimed_size, c->gauss_half);
    print_verdict(c);
}

static void print_all(const prior_check *c)
{
    printf("%u document%s of %u quer%s, %u of them with a relevant document (only those have an "
           "NDCG); %u model%s\n\n",
           c->n_rows, plural_s(c->n_rows), c->n_queries, plural_ies(c->n_queries), c->n_counted,
           c->n_models, plural_s(c->n_models));
    print_orders(c);
    print_losses(c);
    print_bins(c);
    print_sizes(c);
}

/* ---- files */

static void add_order(struct text *out, const char *name, const check_order *order)
{
    for (int i = 0; i < CHECK_CUTS; i++)
        text_printf(out, "ndcg@%u,%s,%.9g\nndcg@%u_se,%s,%.9g\n", check_cuts[i], name,
                    order->ndcg[i], check_cuts[i], name, order->se[i]);
}

static oltr_status write_measures(const prior_check *c, const char *folder, oltr_error *error)
{
    struct text out = {0};
    text_printf(&out,
                "measure,of,value\nqueries,data,%u\nqueries_with_ndcg,data,%u\ndocuments,data,%u\n",
                c->n_queries, c->n_counted, c->n_rows);
    text_printf(&out, "models,prior,%u\n", c->n_models);
    add_order(&out, "prior", &c->mean);
    add_order(&out, "one model", &c->single);
    add_order(&out, "best feature", &c->feature);
    add_order(&out, "random", &c->random);
    text_printf(&out, "feature,best feature,%u\nfalling,best feature,%d\n", c->feature_id,
                c->feature_falls);
    text_printf(&out,
                "log_loss,prior,%.9g\nlog_loss,best feature,%.9g\nlog_loss,base "
                "rate,%.9g\nlog_loss,truth,%.9g\n",
                c->log_loss, c->log_loss_feature, c->log_loss_base, c->log_loss_truth);
    text_printf(&out, "mean,prior,%.9g\nmean,truth,%.9g\ncalibration_error,prior,%.9g\n",
                c->mean_score, c->base_rate, c->calibration_error);
    text_printf(
        &out, "size,claimed,%.9g\nsize,spread,%.9g\nsize,honest,%.9g\nsize,honest base rate,%.9g\n",
        c->claimed_size, c->spread_size, c->honest_size, c->honest_base);
    text_printf(&out, "observations,worth,%.9g\nobservations,helps until,%.9g\n", c->worth,
                c->helps_until);
    text_printf(&out, "observations,half forgotten,%.9g\nobservations,nine tenths forgotten,%.9g\n",
                c->claimed_size, 9 * c->claimed_size);
    text_printf(&out, "observations,half forgotten as mean and sd,%.9g\n", c->gauss_half);
    oltr_status status = file_write_in(folder, "prior.csv", &out, error);
    text_free(&out);
    return status;
}

static oltr_status draw(const prior_check *c, const char *folder, oltr_error *error)
{
    struct prior_bin bin[CHECK_BINS];
    struct prior_error point[CHECK_POINTS];
    for (uint32_t i = 0; i < c->n_bins; i++)
        bin[i] =
            (struct prior_bin){c->bin[i].score, c->bin[i].attraction, c->bin[i].se, c->bin[i].n};
    for (int i = 0; i < CHECK_POINTS; i++)
        point[i] = (struct prior_error){check_points[i], c->error[i].prior, c->error[i].honest,
                                        c->error[i].base, c->error[i].flat};
    oltr_status status = prior_draw_calibration(folder, bin, c->n_bins, error);
    return status == OLTR_OK ? prior_draw_errors(folder, point, CHECK_POINTS, c->claimed_size,
                                                 c->honest_size, error)
                             : status;
}

static int write_all(const struct arguments *arguments, const prior_check *c)
{
    const char *folder = arguments_value(arguments, "output");
    oltr_error error = {OLTR_OK, ""};
    if (!folder)
        return EXIT_OK;
    if (file_make_folder(folder, &error) != OLTR_OK || write_measures(c, folder, &error) != OLTR_OK)
        return complain_failed(&error);
    if (!arguments_has(arguments, "no-figures") && draw(c, folder, &error) != OLTR_OK)
        return complain(EXIT_FAILED, "the numbers are in %s, but not all figures: %s", folder,
                        error.msg);
    return EXIT_OK;
}

/* ---- the whole */

static int check(const struct arguments *arguments, const oltr_dataset *data,
                 const double *attraction)
{
    oltr_error error = {OLTR_OK, ""};
    const char *name = arguments_value(arguments, "scores-as");
    scores_as as = SCORES_CALIBRATED;
    prior_check c;
    scores s;
    if (name && scores_as_by_name(name, &as, &error) != OLTR_OK)
        return complain(EXIT_USAGE, "--scores-as: %s", error.msg);
    if (scores_read_csv(arguments_value(arguments, "scores"), data, as, &s, &error) != OLTR_OK)
        return complain_of(&error);
    scores_convert(&s, data, as);
    int code = prior_check_run(data, &s, attraction, &c, &error) == OLTR_OK ? EXIT_OK
                                                                            : complain_of(&error);
    scores_free(&s);
    if (code == EXIT_OK && !arguments_has(arguments, "quiet"))
        print_all(&c);
    return code == EXIT_OK ? write_all(arguments, &c) : code;
}

int cmd_prior_check(const struct arguments *arguments)
{
    struct prior_grades grades;
    oltr_dataset *data = NULL;
    if (!arguments_has(arguments, "scores"))
        return complain(EXIT_USAGE, "prior check needs --scores FILE");
    int code = prior_read(arguments, "data", &data);
    if (code == EXIT_OK)
        code = prior_grades(arguments, largest_grade_of(data), &grades);
    if (code == EXIT_OK)
        code = check(arguments, data, grades.attraction);
    oltr_dataset_free(data);
    return code;
}
