/* log_report.c - see log_report.h. */
#include "app/logs/log_report.h"

#include "engine/base/error.h"
#include "engine/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static oltr_status note(struct log_report *report, const char *file, uint64_t line,
                        oltr_error *error, const char *format, va_list arguments)
{
    char what[256], where[160];
    vsnprintf(what, sizeof what, format, arguments);
    snprintf(where, sizeof where, "%.120s:%llu: ", file, (unsigned long long)line);
    uint64_t before = report->bad + report->bad_lists;
    if (!report->lenient)
        return set_error(error, OLTR_EDATA, "%s%s", where, what);
    if (before < LOG_BAD_SHOWN) {
        size_t room = sizeof report->message[0];
        snprintf(report->message[before], room, "%s", where);
        size_t used = strlen(report->message[before]);
        snprintf(report->message[before] + used, room - used, "%.*s", (int)(room - used - 1), what);
    }
    return OLTR_OK;
}

oltr_status log_bad_line(struct log_report *report, const char *file, uint64_t line,
                         oltr_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    oltr_status status = note(report, file, line, error, format, arguments);
    va_end(arguments);
    report->bad++;
    return status;
}

oltr_status log_bad_list(struct log_report *report, const char *file, uint64_t line,
                         oltr_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    oltr_status status = note(report, file, line, error, format, arguments);
    va_end(arguments);
    report->bad_lists++;
    return status;
}

const char *log_quote(const void *bytes, size_t size, char out[LOG_QUOTE_SIZE])
{
    static const char dots[] = "...";
    const char *text = bytes;
    size_t keep = size < LOG_QUOTE_SIZE ? size : LOG_QUOTE_SIZE - sizeof dots;
    while (keep < size && keep > 0 && ((unsigned char)text[keep] & 0xC0U) == 0x80U)
        keep--; /* no character is cut */
    for (size_t i = 0; i < keep; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = c < 0x20 || c == 0x7F ? '?' : text[i];
    }
    snprintf(out + keep, LOG_QUOTE_SIZE - keep, "%s", keep < size ? dots : "");
    return out;
}
