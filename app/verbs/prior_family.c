/* prior_family.c - see prior.h. */
#include "app/verbs/prior_family.h"

#include "engine/base/quote.h"
#include "app/args/value.h"

#include <string.h>

const struct verb prior_verbs[] = {
    {"prior train", "", 0, 0, "train scorers on judged queries, and score documents with them",
     "Each scorer learns from a random half of the training queries; the validation queries say "
     "when to stop.  Every document of the test file gets one score from each scorer, the chance "
     "that it attracts a click.  Together they are the prior of an online policy: `world.scores` "
     "of an experiment takes the file, and `oltr prior check` says how good it is.\n"
     "Files are LETOR / SVMlight text, plain or gzip.  The same seed gives the same scores for any "
     "number of threads.  Ctrl-C stops; a file under its final name is always whole.",
     prior_train_options, cmd_prior_train, NULL},
    {"prior check", "", 0, 0, "measure how good scores are as a prior, on judged documents",
     "Is the order good: NDCG, beside a random order and the best single feature.  Are the "
     "probabilities honest: log-loss, calibration, and the number of observations that the prior "
     "may claim to be worth.  With -o also as files, with figures.\n"
     "The scores may come from anywhere: a CSV file with the columns query,document and one for "
     "each model, one row for each document, `document` counting from 0 within its query.",
     prior_check_options, cmd_prior_check, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL},
};

int prior_read(const struct arguments *arguments, const char *option, uint32_t threads,
               oltr_dataset **out)
{
    const char *path = arguments_value(arguments, option);
    oltr_error error = {OLTR_OK, ""};
    oltr_read_report report = {0};
    oltr_read_options options = {.threads = threads,
                                 .lenient = arguments_has(arguments, "lenient")};
    if (!path)
        return complain(EXIT_USAGE, "%s needs --%s FILE", arguments->verb->name, option);
    *out = oltr_dataset_read(path, &options, &report, &error);
    if (!*out)
        return complain_of(&error);
    if (report.skipped > 0)
        complain(0, "%s: %llu bad lines were skipped; the first is line %llu: %s", path,
                 (unsigned long long)report.skipped, (unsigned long long)report.first_skipped_line,
                 report.first_reason);
    return (*out)->n_rows > 0 ? EXIT_OK
                              : complain(EXIT_USAGE, "%s: there is no document in it", path);
}

static uint32_t largest_grade(const oltr_dataset *const *data, uint32_t n_data)
{
    uint32_t largest = 1;
    for (uint32_t i = 0; i < n_data; i++)
        for (uint32_t row = 0; row < data[i]->n_rows; row++)
            largest = data[i]->grade[row] > largest ? data[i]->grade[row] : largest;
    return largest;
}

int prior_grades(const struct arguments *arguments, const oltr_dataset *const *data,
                 uint32_t n_data, double attraction[GRADES], const char **mapping,
                 uint32_t *largest)
{
    oltr_error error = {OLTR_OK, ""};
    uint32_t in_data = largest_grade(data, n_data);
    const char *given = arguments_value(arguments, "grades");
    *mapping = given ? given : "err";
    *largest = strcmp(*mapping, "err") == 0 || in_data > 4 ? in_data : 4;
    int code = value_whole32(arguments, "largest-grade", 1, 30, largest);
    if (code != EXIT_OK)
        return code;
    memset(attraction, 0, GRADES * sizeof *attraction);
    uint32_t last =
        in_data > *largest ? in_data : *largest; /* one beyond the scale must be refused */
    for (uint32_t grade = 0; grade <= last; grade++)
        if (oltr_attraction_of_grade(*mapping, grade, *largest, &attraction[grade], &error) !=
            OLTR_OK)
            return complain(EXIT_USAGE, "%s", error.msg);
    return EXIT_OK;
}
