/* log_input.c - see log_input.h.  A mapped file gives its blocks without a copy, and its pages are
 * given back behind the reader, so a log of any length takes the same memory. */
#define _POSIX_C_SOURCE 200809L
#include "app/logs/log_input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static oltr_status refuse_kind(int fd, const char *path, file_kind kind, const char *foreign,
                               oltr_error *error)
{
    char name[128];
    short_name(path, name, sizeof name);
    close(fd);
    if (kind == FILE_CACHE)
        return set_error(error, OLTR_EDATA,
                         "%s is a data set of `oltr data convert`; give a click log", name);
    return set_error(error, OLTR_EDATA, "%s is packed with %s; unpack it and pipe it to `-`", name,
                     foreign);
}

oltr_status log_input_open(struct log_input *in, const char *path, oltr_error *error)
{
    struct stat stat;
    const char *foreign = NULL;
    *in = (struct log_input){.line = 1};
    int fd = open_input(path, &stat, error);
    if (fd < 0)
        return OLTR_EIO;
    file_kind kind = kind_of(fd, &foreign);
    if (kind == FILE_CACHE || kind == FILE_FOREIGN)
        return refuse_kind(fd, path, kind, foreign, error);
    oltr_status status = source_open(&in->source, path, fd, &stat, kind, error);
    in->open = status == OLTR_OK;
    return status;
}

void log_input_close(struct log_input *in)
{
    if (in->open)
        source_close(&in->source);
    free(in->block.buffer);
    text_free(&in->joined);
    *in = (struct log_input){0};
}

static oltr_status no_memory(const struct log_input *in, oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "no memory to read %s", in->source.name);
}

/* Moves the rest of the present block to the beginning of `joined`. */
static bool keep_rest(struct log_input *in)
{
    size_t rest = (size_t)(in->end - in->at);
    if (in->from_joined) {
        memmove(in->joined.bytes, in->at, rest);
        in->joined.length = rest;
        return true;
    }
    in->joined.length = 0;
    text_bytes(&in->joined, in->at, rest);
    return !in->joined.failed;
}

static void skip_mark(struct log_input *in)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, as some programs write it */
    if (in->end - in->at >= 3 && memcmp(in->at, mark, 3) == 0)
        in->at += 3;
}

int log_input_more(struct log_input *in, oltr_error *error)
{
    bool first = !in->block.text, rest = in->at < in->end;
    if (in->finished)
        return 0;
    if (rest && !keep_rest(in)) {
        no_memory(in, error);
        return -1;
    }
    if (!first)
        source_done(&in->source, &in->block);
    int got = source_next(&in->source, &in->block, error);
    in->finished = got == 0;
    if (got == 1 && rest)
        text_bytes(&in->joined, in->block.text, (size_t)(in->block.end - in->block.text));
    if (in->joined.failed) {
        no_memory(in, error);
        return -1;
    }
    in->from_joined = rest;
    if (rest) {
        in->at = in->joined.bytes;
        in->end = in->readable = in->joined.bytes + in->joined.length;
    } else if (got == 1) {
        in->at = in->block.text;
        in->end = in->block.end;
        in->readable = in->block.readable;
    }
    if (first && got == 1)
        skip_mark(in);
    return got;
}

static bool is_blank(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == end;
}

int log_input_line(struct log_input *in, const char **text, size_t *size, uint64_t *line,
                   oltr_error *error)
{
    for (;;) {
        if (in->at == in->end) {
            int got = log_input_more(in, error);
            if (got != 1)
                return got;
        }
        const char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));
        const char *from = in->at, *to = newline ? newline : in->end;
        in->at = newline ? newline + 1 : in->end;
        *line = in->line++;
        if (is_blank(from, to))
            continue;
        *text = from;
        *size = (size_t)(to - from);
        return 1;
    }
}

int log_input_peek(struct log_input *in, oltr_error *error)
{
    const char *at = in->at;
    for (;;) {
        while (at < in->end && *at != '\0' && strchr(" \t\r\n", *at))
            at++;
        if (at < in->end && *at == '\0') {
            set_error(error, OLTR_EDATA, "%s:%llu: a zero byte; it must be text in UTF-8",
                      in->source.name, (unsigned long long)in->line);
            return -1;
        }
        if (at < in->end)
            return (unsigned char)*at;
        size_t passed = (size_t)(at - in->at);
        int got = log_input_more(in, error);
        if (got != 1)
            return got;
        at = in->at + passed;
    }
}

double log_input_share(const struct log_input *in)
{
    if (!in->source.map || in->source.size == 0)
        return -1;
    return (double)(in->source.at - (uint64_t)(in->end - in->at)) / (double)in->source.size;
}
