/* commands_info.c - OLTR.INFO and KINDS: what a model is, and what models there can be. */
#include <math.h>

#include "serve/redis/command_replies.h"
#include "serve/redis/commands.h"

/* ---- INFO */

static const char *const examine_names[] = {
    [OLTR_EXAMINE_CASCADE] = "cascade", [OLTR_EXAMINE_LAST] = "last", [OLTR_EXAMINE_ALL] = "all"};

static void reply_prior(request *r, const double prior[2])
{
    rm.ReplyWithCString(r->ctx, "prior");
    if (isnan(prior[0])) {
        rm.ReplyWithNull(r->ctx);
        return;
    }
    rm.ReplyWithArray(r->ctx, 2);
    rm.ReplyWithDouble(r->ctx, prior[0]);
    rm.ReplyWithDouble(r->ctx, prior[1]);
}

static void reply_parameters(request *r, const oltr_settings *s)
{
    char text[TEXT_SIZE];
    rm.ReplyWithCString(r->ctx, "parameters");
    rm.ReplyWithMap(r->ctx, s->info->n_params);
    for (uint32_t i = 0; i < s->info->n_params; i++) {
        oltr_settings_get(s, i, text, sizeof text);
        reply_text(r, s->info->params[i].name, text);
    }
}

/* What a policy has learned about its prior. */
static void reply_learned(request *r, const oltr_policy *policy)
{
    uint32_t n = oltr_hyper_count(policy);
    oltr_hyper hyper;
    rm.ReplyWithCString(r->ctx, "learned");
    rm.ReplyWithMap(r->ctx, n);
    for (uint32_t i = 0; i < n; i++) {
        oltr_hyper_at(policy, i, &hyper);
        rm.ReplyWithCString(r->ctx, hyper.name);
        rm.ReplyWithArray(r->ctx, 2);
        rm.ReplyWithDouble(r->ctx, hyper.mean);
        rm.ReplyWithDouble(r->ctx, hyper.sd);
    }
}

int info_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranker *k;
    if (!open_ranker(&r, argv[1], &k))
        return RM_OK;
    const oltr_model_settings *s = oltr_model_settings_of(k->model);
    const oltr_policy_info *info = s->policy.info;
    rm.ReplyWithMap(ctx, 12);
    reply_text(&r, "kind", info->name);
    reply_count(&r, "dim", s->policy.dim);
    reply_count(&r, "candidates", info->contextual ? s->policy.n_items : 0);
    reply_count(&r, "items", oltr_model_items(k->model));
    reply_count(&r, "most_items", s->most_items);
    reply_count(&r, "lessons", oltr_model_lessons(k->model));
    reply_count(&r, "window", s->window);
    reply_text(&r, "examine", examine_names[s->examine]);
    reply_prior(&r, s->prior);
    reply_count(&r, "bytes", ranker_bytes(k));
    reply_parameters(&r, &s->policy);
    reply_learned(&r, oltr_model_policy(k->model));
    return RM_OK;
}

/* ---- KINDS */

static const char *const type_names[] = {
    [OLTR_REAL] = "real", [OLTR_INTEGER] = "integer", [OLTR_CHOICE] = "choice"};

static void reply_choices(request *r, const char *const *choices)
{
    long n = 0;
    while (choices && choices[n])
        n++;
    rm.ReplyWithCString(r->ctx, "choices");
    rm.ReplyWithArray(r->ctx, n);
    for (long i = 0; i < n; i++)
        rm.ReplyWithCString(r->ctx, choices[i]);
}

static void reply_parameter(request *r, const oltr_param *p)
{
    bool choice = p->type == OLTR_CHOICE;
    rm.ReplyWithMap(r->ctx, 7);
    reply_text(r, "name", p->name);
    reply_text(r, "type", type_names[p->type]);
    if (choice)
        reply_text(r, "default", p->choices[(size_t)p->initial]);
    else
        reply_number(r, "default", p->initial);
    reply_number(r, "min", choice ? NAN : p->min);
    reply_number(r, "max", choice ? NAN : p->max);
    reply_choices(r, p->choices);
    reply_text(r, "help", p->help);
}

/* Whether a model of this kind can be made: the engine says so. */
static bool is_servable(const char *kind)
{
    oltr_model_settings settings;
    oltr_error error = {OLTR_OK, ""};
    if (oltr_model_settings_init(&settings, kind, &error) != OLTR_OK)
        return false;
    server_memory memory = {.most = UNBOUNDED};
    oltr_memory hook = server_memory_hook(&memory);
    settings.policy.memory = &hook;
    oltr_model *model = oltr_model_new(&settings, &error);
    oltr_model_free(model);
    return error.code != OLTR_EUNSUPPORTED;
}

static void reply_kind(request *r, const oltr_policy_info *info)
{
    rm.ReplyWithMap(r->ctx, 13);
    reply_text(r, "title", info->title);
    reply_text(r, "summary", info->summary);
    reply_text(r, "source", info->source);
    reply_text(r, "rewards", info->rewards == OLTR_CLICKS ? "clicks" : "reals");
    reply_flag(r, "contextual", info->contextual);
    reply_flag(r, "uses_prior", info->uses_prior);
    reply_flag(r, "takes_moments", info->takes_moments);
    reply_flag(r, "can_merge", info->can_merge);
    reply_flag(r, "can_forget", info->can_forget);
    reply_flag(r, "exact_copy", info->exact_copy);
    reply_flag(r, "order_free", info->order_free);
    reply_flag(r, "servable", is_servable(info->name));
    rm.ReplyWithCString(r->ctx, "parameters");
    rm.ReplyWithArray(r->ctx, info->n_params);
    for (uint32_t i = 0; i < info->n_params; i++)
        reply_parameter(r, &info->params[i]);
}

static int reply_all_kinds(request *r)
{
    uint32_t n = oltr_policy_count();
    rm.ReplyWithArray(r->ctx, n);
    for (uint32_t i = 0; i < n; i++)
        rm.ReplyWithCString(r->ctx, oltr_policy_info_at(i)->name);
    return RM_OK;
}

int kinds_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 1);
    char kind[TEXT_SIZE];
    oltr_error error;
    if (!arguments_left(&r))
        return reply_all_kinds(&r);
    if (!read_text(&r, "BADKIND", "the kind", kind) || !read_end(&r))
        return RM_OK;
    const oltr_policy_info *info = oltr_policy_info_by_name(kind, &error);
    if (!info)
        return refuse_error(&r, &error, false);
    reply_kind(&r, info);
    return RM_OK;
}
