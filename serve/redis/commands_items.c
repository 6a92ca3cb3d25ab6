/* commands_items.c - OLTR.PRIOR, REM, RESET, TRIM, SCAN and FORGET: the items of a model. */
#include <stdio.h>

#include "serve/redis/command_replies.h"
#include "serve/redis/commands.h"
#include "serve/redis/list_args.h"
#include "serve/redis/model_change.h"
#include "serve/redis/module_stats.h"

/* ---- PRIOR */

typedef struct priors {
    uint32_t n;
    oltr_name *name; /* (n) */
    double *pair;    /* (n, 2) */
} priors;

/* id first second [...] */
static bool read_priors(request *r, priors *p)
{
    if (arguments_left(r) % 3)
        return refuse(r, "BADARG PRIOR has an id and two numbers for each item");
    p->n = (uint32_t)arguments_left(r) / 3;
    if (!within_cap(r, "items", p->n, CAP_BATCH))
        return false;
    p->name = request_memory(r, p->n * sizeof *p->name);
    p->pair = request_memory(r, 2 * (size_t)p->n * sizeof *p->pair);
    for (uint32_t i = 0; i < p->n; i++) {
        p->name[i] = name_of(r->argv[r->at++]);
        if (!read_number(r, "BADPRIOR", "the first number of a prior", &p->pair[2 * (size_t)i]) ||
            !read_number(r, "BADPRIOR", "the second number of a prior",
                         &p->pair[2 * (size_t)i + 1]))
            return false;
    }
    return true;
}

int prior_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranker *k;
    priors p = {.n = 0};
    if (!open_for_change(&r, &k) || !read_priors(&r, &p))
        return RM_OK;
    model_change change = change_begin(&r, k, "oltr.prior");
    oltr_status status = oltr_model_prior(k->model, p.name, p.pair, p.n, &change.error);
    return change_accepted(&change, status) ? change_reply(&change, true, p.n) : RM_OK;
}

/* ---- REM, RESET and TRIM */

typedef oltr_status (*on_names)(oltr_model *model, const oltr_name *name, uint32_t n,
                                uint32_t *changed, oltr_error *error);

static int change_names(request *r, const char *event, on_names call, unsigned long long *counter)
{
    ranker *k;
    uint32_t n = (uint32_t)arguments_left(r), changed;
    if (!open_for_change(r, &k) || !within_cap(r, "items", n, CAP_BATCH))
        return RM_OK;
    const oltr_name *names = take_names(r, n);
    model_change change = change_begin(r, k, event);
    if (!change_accepted(&change, call(k->model, names, n, &changed, &change.error)))
        return RM_OK;
    if (counter)
        count(r, counter, changed);
    return change_reply(&change, changed > 0, changed);
}

int rem_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    return change_names(&r, "oltr.rem", oltr_model_remove, &stats.removed);
}

int reset_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    return change_names(&r, "oltr.reset", oltr_model_reset, NULL);
}

int trim_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranker *k;
    uint64_t idle;
    uint32_t removed;
    if (!open_for_change(&r, &k))
        return RM_OK;
    if (!take_word(&r, "IDLE"))
        return refuse(&r, "BADARG argument %d: expected IDLE and a number of lessons", r.at);
    if (!read_count(&r, "IDLE", 0, NO_LIMIT, &idle) || !read_end(&r))
        return RM_OK;
    model_change change = change_begin(&r, k, "oltr.trim");
    if (!change_accepted(&change, oltr_model_trim(k->model, idle, &removed, &change.error)))
        return RM_OK;
    count(&r, &stats.removed, removed);
    return change_reply(&change, removed > 0, removed);
}

/* ---- SCAN */

enum { SCAN_COUNT = 10 };

static bool read_scan_count(request *r, void *into)
{
    return read_capped(r, "COUNT", 1, CAP_CANDIDATES, into);
}

static const option scan_options[] = {{"COUNT", read_scan_count}};

/* The cursor is the number of items that are left, those of the lowest numbers.  A removed item
 * gives its number to the last one: so an item that was not returned stays among those left. */
int scan_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranker *k;
    uint64_t cursor;
    uint32_t most = SCAN_COUNT;
    if (!open_ranker(&r, argv[1], &k) || !read_count(&r, "the cursor", 0, UINT32_MAX, &cursor) ||
        !READ_OPTIONS(&r, scan_options, &most))
        return RM_OK;
    uint32_t items = oltr_model_items(k->model);
    uint32_t left = cursor == 0 || cursor > items ? items : (uint32_t)cursor;
    uint32_t n = left < most ? left : most;
    char next[16];
    int size = snprintf(next, sizeof next, "%u", left - n);
    rm.ReplyWithArray(ctx, 2);
    rm.ReplyWithStringBuffer(ctx, next, (size_t)size);
    rm.ReplyWithArray(ctx, n);
    oltr_list all = {.n = 0};
    for (uint32_t i = 0; i < n; i++)
        reply_candidate(&r, k, &all, left - 1 - i);
    return RM_OK;
}

/* ---- FORGET */

static bool read_forget_id(request *r, void *into)
{
    return read_id(r, into);
}

static const option forget_options[] = {{"ID", read_forget_id}};

int forget_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranker *k;
    double keep;
    oltr_name id = {NULL, 0};
    int applied;
    if (!open_for_change(&r, &k) || !read_number(&r, "BADARG", "the share to keep", &keep) ||
        !READ_OPTIONS(&r, forget_options, &id))
        return RM_OK;
    model_change change = change_begin(&r, k, "oltr.forget");
    oltr_status status = oltr_model_forget(k->model, keep, id, &applied, &change.error);
    return change_reply_applied(&change, status, applied, NULL);
}
