/* log_reading.c - see log_reading.h. */
#include "app/verbs/log_reading.h"

#include "app/args/value.h"
#include "app/logs/log_values.h"
#include "app/verbs/model_priors.h"
#include "engine/base/quote.h"

const char *const log_format_words[] = {"csv", "jsonl", NULL};
const char *const log_unseen_words[] = {"seen", "skip", NULL};

static int read_format(const struct arguments *arguments, enum log_format *out)
{
    uint32_t word = 0;
    int code = value_word(arguments, "format", &word);
    *out = !arguments_has(arguments, "format") ? LOG_ANY : word == 0 ? LOG_CSV : LOG_JSON;
    return code;
}

static int read_unseen(const struct arguments *arguments, bool *seen)
{
    uint32_t rule = 0;
    int code = value_word(arguments, "unseen", &rule);
    *seen = rule == 0;
    return code;
}

static int read_wait(const struct arguments *arguments, double *wait)
{
    const char *text = arguments_value(arguments, "wait");
    char word[QUOTE_SIZE];
    *wait = -1;
    return !text || value_duration(text, wait)
               ? EXIT_OK
               : complain(EXIT_USAGE, "--wait must be a time like 90s, 30m, 2h or 7d, not `%s`",
                          quote_input(text, word));
}

int log_reading_options(const struct arguments *arguments, struct log_files *files)
{
    const char *clicks = arguments_value(arguments, "clicks"),
               *impressions = arguments_value(arguments, "impressions");
    files->options.names.features = arguments_value(arguments, "features");
    files->options.clicks = clicks ? clicks : "click,click_through";
    files->options.impressions = impressions ? impressions : "impression";
    files->options.most_shown = OLTR_MOST_SHOWN;
    int code = model_columns(arguments, &files->options.names);
    code = code == EXIT_OK ? read_format(arguments, &files->format) : code;
    code = code == EXIT_OK ? read_unseen(arguments, &files->join.unseen_seen) : code;
    code = code == EXIT_OK ? read_wait(arguments, &files->wait) : code;
    code = code == EXIT_OK ? value_whole32(arguments, "open", 1, LOG_MOST_OPEN, &files->capacity)
                           : code;
    return code == EXIT_OK
               ? value_whole32(arguments, "shown", 1, OLTR_MOST_SHOWN, &files->options.most_shown)
               : code;
}
