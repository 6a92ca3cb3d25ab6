/* value.c - numbers from text, checked against bounds; see value.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/args/value.h"

#include "engine/base/file.h"
#include "engine/base/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool parse_whole(const char *text, size_t length, uint64_t *out)
{
    char digits[24], *end;
    if (length == 0 || length >= sizeof digits || strspn(text, "0123456789") < length)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    errno = 0;
    *out = strtoull(digits, &end, 10);
    return errno == 0;
}

int value_whole(const struct arguments *arguments, const char *name, uint64_t low, uint64_t high,
                uint64_t *out)
{
    const char *text = arguments_value(arguments, name);
    char word[QUOTE_SIZE];
    uint64_t value;
    if (!text)
        return EXIT_OK;
    if (!parse_whole(text, strlen(text), &value) || value < low || value > high)
        return complain(EXIT_USAGE, "--%s must be a whole number from %llu to %llu, not `%s`", name,
                        (unsigned long long)low, (unsigned long long)high, quote_input(text, word));
    *out = value;
    return EXIT_OK;
}

int value_whole32(const struct arguments *arguments, const char *name, uint32_t low, uint32_t high,
                  uint32_t *out)
{
    uint64_t value = *out;
    int code = value_whole(arguments, name, low, high, &value);
    *out = (uint32_t)value;
    return code;
}

int value_real(const struct arguments *arguments, const char *name, double low, double high,
               double *out)
{
    const char *text = arguments_value(arguments, name);
    char *end, word[QUOTE_SIZE];
    if (!text)
        return EXIT_OK;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || text[strspn(text, "+-.0123456789eE")] != '\0' ||
        !(value >= low && value <= high))
        return complain(EXIT_USAGE, "--%s must be a number from %g to %g, not `%s`", name, low,
                        high, quote_input(text, word));
    *out = value;
    return EXIT_OK;
}

int value_list32(const struct arguments *arguments, const char *name, uint32_t low, uint32_t high,
                 uint32_t most, uint32_t *out, uint32_t *count)
{
    const char *text = arguments_value(arguments, name);
    char word[QUOTE_SIZE];
    uint32_t n = 0;
    bool good = true;
    if (!text)
        return EXIT_OK;
    for (const char *at = text; good; at++) {
        size_t length = strcspn(at, ",");
        uint64_t value = 0;
        good = n < most && parse_whole(at, length, &value) && value >= low && value <= high;
        if (good)
            out[n++] = (uint32_t)value;
        at += length;
        if (*at == '\0')
            break;
    }
    if (!good)
        return complain(EXIT_USAGE,
                        "--%s must be 1 to %u whole numbers from %u to %u, like 64,32, not `%s`",
                        name, most, low, high, quote_input(text, word));
    *count = n;
    return EXIT_OK;
}

/* "none, second or always" */
static void join_words(const char *const *word, char out[160])
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; word[i] && used < 160; i++) {
        const char *between = i == 0 ? "" : word[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(out + used, 160 - used, "%s%s", between, word[i]);
    }
}

int value_word(const struct arguments *arguments, const char *name, uint32_t *out)
{
    const char *text = arguments_value(arguments, name);
    char shown[QUOTE_SIZE], all[160];
    if (!text)
        return EXIT_OK;
    const struct option *option = option_by_name(arguments->verb, name, strlen(name));
    for (uint32_t i = 0; option->words[i]; i++)
        if (strcmp(option->words[i], text) == 0) {
            *out = i;
            return EXIT_OK;
        }
    join_words(option->words, all);
    return complain(EXIT_USAGE, "--%s must be %s, not `%s`", name, all, quote_input(text, shown));
}

int value_output(const struct arguments *arguments, const char *name)
{
    const char *path = arguments_value(arguments, name);
    if (!path || strcmp(path, "-") == 0 || is_special(path))
        return EXIT_OK;
    for (uint32_t i = 0; i < arguments->n_operands; i++)
        if (is_one_file(path, arguments->operand[i]))
            return complain(EXIT_USAGE,
                            "--%s %s would overwrite the file that is read; give another name",
                            name, path);
    for (uint32_t i = 0; i < arguments->n_given; i++) {
        const struct option *other = arguments->given[i].option;
        if (other->argument && strcmp(other->argument, "FILE") == 0 &&
            strcmp(other->name, name) != 0 && is_one_file(path, arguments->given[i].value))
            return complain(EXIT_USAGE,
                            "--%s %s would overwrite the file of --%s; give another name", name,
                            path, other->name);
    }
    return EXIT_OK;
}

int value_threads(const struct arguments *arguments, uint32_t *out)
{
    uint32_t value = 0;
    int code = value_whole32(arguments, "threads", 0, 9999, &value);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *out = value > 0 ? value : processors > 0 ? (uint32_t)processors : 1;
    return code;
}
