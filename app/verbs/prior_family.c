/* prior_family.c - the commands of `oltr prior`, and the code that they share. */
#include "app/verbs/prior_family.h"

#include "app/args/value.h"
#include "app/verbs/data_family.h"

#include <string.h>

const struct verb prior_verbs[] = {
    {"prior train", "", 0, 0, "train scorers on judged queries, and score documents with them",
     "A scorer is a small neural network.  Each learns from a random half of the training queries; "
     "the validation queries decide when training ends.  Each scorer gives every document of the "
     "test file a score: the probability that it attracts a click.  The scores are the prior of an "
     "online policy: `world.scores` of an experiment takes the file, and `oltr prior check` "
     "measures how good it is.\n"
     "Files are LETOR or SVMlight text, plain or gzip.  The same seed gives the same scores for "
     "any number of threads.  Ctrl-C stops the training; nothing is written then.",
     prior_train_options, cmd_prior_train, NULL},
    {"prior check", "", 0, 0, "measure how good scores are as a prior, on judged documents",
     "Measures the order of the documents (NDCG, compared with a random order and with the best "
     "single feature) and their probabilities (log-loss, calibration, and how many observations "
     "the prior is worth).  With -o also as files, with figures.\n"
     "The scores may come from any model.  They are a CSV file with the columns query, document "
     "and one per model, and one row per document; `document` counts from 0 within its query.",
     prior_check_options, cmd_prior_check, NULL},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL},
};

int prior_read(const struct arguments *arguments, const char *option, oltr_dataset **out)
{
    const char *path = arguments_value(arguments, option);
    oltr_error error = {OLTR_OK, ""};
    oltr_read_report report = {0};
    oltr_read_options options;
    if (!path)
        return complain(EXIT_USAGE, "%s needs --%s FILE", arguments->verb->name, option);
    int code = data_read_options(arguments, &options);
    if (code != EXIT_OK)
        return code;
    *out = oltr_dataset_read(path, &options, &report, &error);
    if (!*out)
        return complain_of(&error);
    data_say_report(path, &report);
    return (*out)->n_rows > 0 ? EXIT_OK : complain(EXIT_USAGE, "%s has no documents", path);
}

int prior_grades(const struct arguments *arguments, uint32_t largest_in_data,
                 struct prior_grades *out)
{
    oltr_error error = {OLTR_OK, ""};
    const char *given = arguments_value(arguments, "grades");
    uint32_t in_data = largest_in_data > 0 ? largest_in_data : 1;
    *out = (struct prior_grades){.mapping = given ? given : "err"};
    bool any_scale = strcmp(out->mapping, "err") == 0 || strcmp(out->mapping, "linear") == 0;
    out->largest = any_scale || in_data > 4 ? in_data : 4;
    int code = value_whole32(arguments, "largest-grade", 1, 30, &out->largest);
    if (code != EXIT_OK)
        return code;
    uint32_t last = in_data > out->largest ? in_data : out->largest; /* above the scale: an error */
    for (uint32_t grade = 0; grade <= last; grade++)
        if (oltr_attraction_of_grade(out->mapping, grade, out->largest, &out->attraction[grade],
                                     &error) != OLTR_OK)
            return complain(EXIT_USAGE, "%s", error.msg);
    return EXIT_OK;
}
