/* data_family.c - the commands of `oltr data`, and the code that they share. */
#include "app/verbs/data_family.h"
#include "app/verbs/offers.h"

#include "app/args/value.h"
#include "engine/base/text.h"

const struct verb data_verbs[] = {
    {"data inspect", "FILE...", 1, ANY_NUMBER,
     "describe files of judged queries, as a table and a picture",
     "FILE is LETOR or SVMlight text with `qid:`, plain or gzip, `-` for standard input, or a file "
     "that `oltr data convert` wrote.\n"
     "A constant feature has one value in all rows.  Values beyond the range of float32, like "
     "1.8e308, count as `too large`.",
     data_inspect_options, cmd_data_inspect, NULL},
    {"data convert", "FILE", 1, 1,
     "convert text to a binary file that loads fast, and normalise it",
     "Without options the result is FILE.oltr.  Other commands read this cache in place of the "
     "text while the text is unchanged.\n"
     "To normalise, fit on the training split and apply to the others:\n"
     "`oltr data convert train.txt --fit norm.oltr -o train.oltr`\n"
     "`oltr data convert test.txt --with norm.oltr -o test.oltr`",
     data_convert_options, cmd_data_convert, NULL},
    {"data generate", "SHAPE", 1, 1, "generate a data set of the shape of a real one",
     "SHAPE is `web30k` (136 features, about 120 documents per query) or `istella` (220 features, "
     "about 316).  Writes train.txt, vali.txt and test.txt into the folder.  The same seed gives "
     "the same bytes on every machine.  A smaller set is the beginning of a larger one.",
     data_generate_options, cmd_data_generate, NULL, offer_shapes},
    {NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL},
};

int data_read_options(const struct arguments *arguments, oltr_read_options *options)
{
    enum { MOST_FEATURES = 1 << 20 };
    *options = (oltr_read_options){.lenient = arguments_has(arguments, "lenient")};
    int code = value_threads(arguments, &options->threads);
    return code == EXIT_OK ? value_whole32(arguments, "most-features", 1, MOST_FEATURES,
                                           &options->most_features)
                           : code;
}

void data_say_report(const char *file, const oltr_read_report *report)
{
    if (report->skipped > 0)
        complain(0, "%s: %llu of %llu line%s skipped, the first is line %llu: %s", file,
                 (unsigned long long)report->skipped, (unsigned long long)report->lines,
                 plural_s(report->lines), (unsigned long long)report->first_skipped_line,
                 report->first_reason);
    if (report->duplicates > 0)
        complain(0, "%s: %llu repeated feature%s; the last value of a row counts", file,
                 (unsigned long long)report->duplicates, plural_s(report->duplicates));
}
