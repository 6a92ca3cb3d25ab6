/* command_replies.c - see command_replies.h. */
#include "serve/redis/command_replies.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "serve/redis/module_caps.h"
#include "serve/redis/module_stats.h"

/* ---- refusals */

static const char *const word_of[OLTR_STATUS_COUNT] = {
    [OLTR_EINVAL] = "BADARG",       [OLTR_ENOMEM] = "OOM",
    [OLTR_EKIND] = "BADKIND",       [OLTR_EPARAM] = "BADPARAM",
    [OLTR_EVALUE] = "BADARG",       [OLTR_EPRIOR] = "BADPRIOR",
    [OLTR_EITEM] = "BADITEM",       [OLTR_ESLOTS] = "BADARG",
    [OLTR_EEXAMINED] = "BADARG",    [OLTR_EREWARD] = "BADREWARD",
    [OLTR_EFEATURE] = "BADFEATURE", [OLTR_EUNSUPPORTED] = "UNSUPPORTED",
    [OLTR_EMISMATCH] = "MISMATCH",  [OLTR_ESTATE] = "BADIMAGE",
    [OLTR_ETRUNCATED] = "BADIMAGE", [OLTR_EMAGIC] = "BADIMAGE",
    [OLTR_EVERSION] = "BADIMAGE",   [OLTR_ECHECKSUM] = "BADIMAGE",
    [OLTR_ECORRUPT] = "BADIMAGE",   [OLTR_EFULL] = "FULL",
    [OLTR_ENAME] = "BADITEM",
};

void reply_refusal(request *r, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!r->replayed)
        stats.refused++;
    rm.ReplyWithError(r->ctx, text);
}

void reply_error(request *r, const oltr_error *error, bool exceeded)
{
    const char *word = word_of[error->code] ? word_of[error->code] : "ERR";
    const char *text = error->msg[0] ? error->msg : oltr_strerror(error->code);
    if (error->code == OLTR_ENOMEM && exceeded)
        reply_refusal(r, "TOOBIG %s: a model may take %lld bytes (oltr.max-model-bytes)", text,
                      module_caps[CAP_MODEL_BYTES].value);
    else
        reply_refusal(r, "%s %s", word, text);
}

/* ---- parts of replies */

void reply_text(request *r, const char *name, const char *value)
{
    rm.ReplyWithCString(r->ctx, name);
    rm.ReplyWithCString(r->ctx, value);
}

void reply_count(request *r, const char *name, uint64_t value)
{
    rm.ReplyWithCString(r->ctx, name);
    rm.ReplyWithLongLong(r->ctx, (long long)value);
}

void reply_number(request *r, const char *name, double value)
{
    rm.ReplyWithCString(r->ctx, name);
    if (isnan(value))
        rm.ReplyWithNull(r->ctx);
    else
        rm.ReplyWithDouble(r->ctx, value);
}

void reply_flag(request *r, const char *name, int value)
{
    reply_count(r, name, value != 0);
}

void reply_candidate(request *r, const ranker *k, const oltr_list *list, uint32_t place)
{
    if (list->x) {
        rm.ReplyWithLongLong(r->ctx, place);
        return;
    }
    oltr_name name = list->name ? list->name[place] : oltr_model_name(k->model, place);
    rm.ReplyWithStringBuffer(r->ctx, name.bytes, name.size);
}
