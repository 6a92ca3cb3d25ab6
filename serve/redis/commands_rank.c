/* commands_rank.c - OLTR.RANK, PROPENSITY, PREDICT and EXPLAIN: what a model says about a list. */
#include "serve/redis/command_replies.h"
#include "serve/redis/commands.h"
#include "serve/redis/list_args.h"
#include "serve/redis/model_change.h"
#include "serve/redis/module_stats.h"

/* Commands run one after the other in the main thread, so one scratch serves all models. */
static oltr_model_scratch *scratch_of_process(void)
{
    static server_memory memory = {.most = UNBOUNDED};
    static oltr_model_scratch *scratch;
    oltr_memory hook = server_memory_hook(&memory);
    if (!scratch)
        scratch = oltr_model_scratch_new(&hook);
    return scratch;
}

/* ---- RANK */

static bool read_with_scores(request *r, void *into)
{
    (void)r;
    ((ranking_options *)into)->scores = true;
    return true;
}

static const option rank_options[] = {{"SEED", read_seed},
                                      {"WITHSCORES", read_with_scores},
                                      {"GREEDY", read_greedy},
                                      {"FRESH", read_fresh}};

/* RESP2: id, score, id, score, ...; RESP3: pairs. */
static void reply_ranking(request *r, const ranker *k, const oltr_list *list, const oltr_show *show)
{
    bool pairs = show->score && r->flags & RM_RESP3;
    rm.ReplyWithArray(r->ctx, (long)show->k * (show->score && !pairs ? 2 : 1));
    for (uint32_t slot = 0; slot < show->k; slot++) {
        if (pairs)
            rm.ReplyWithArray(r->ctx, 2);
        reply_candidate(r, k, list, show->place[slot]);
        if (show->score)
            rm.ReplyWithDouble(r->ctx, show->score[slot]);
    }
}

static int rank(request *r, const ranker *k, const oltr_list *list, ranking_options *o)
{
    oltr_error error;
    oltr_model_scratch *scratch = scratch_of_process();
    uint32_t n = list_size(k, list), slots = o->show.k < n ? o->show.k : n;
    o->show.place = request_memory(r, slots * sizeof *o->show.place);
    o->show.score = o->scores ? request_memory(r, slots * sizeof *o->show.score) : NULL;
    error.code = OLTR_ENOMEM; /* without clearing the text, which takes as long as the checks */
    error.msg[0] = 0;
    oltr_status status = scratch
                             ? oltr_model_rank(k->model, list, rng_of(o), scratch, &o->show, &error)
                             : OLTR_ENOMEM;
    if (status != OLTR_OK)
        return refuse_error(r, &error, k->memory.exceeded);
    count(r, &stats.ranks, 1);
    count(r, &stats.unknown_ids, oltr_model_unknown(scratch));
    reply_ranking(r, k, list, &o->show);
    return RM_OK;
}

int rank_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranking_options o = {.seeded = false};
    oltr_list list;
    ranker *k;
    if (!open_ranker(&r, argv[1], &k) || !read_capped(&r, "k", 1, CAP_SLOTS, &o.show.k) ||
        !read_list(&r, k, &list) || !READ_OPTIONS(&r, rank_options, &o))
        return RM_OK;
    return rank(&r, k, &list, &o);
}

/* ---- PROPENSITY */

static bool read_draws(request *r, void *into)
{
    return read_capped(r, "DRAWS", 1, CAP_DRAWS, &((ranking_options *)into)->draws);
}

static const option propensity_options[] = {
    {"DRAWS", read_draws}, {"SEED", read_seed}, {"GREEDY", read_greedy}, {"FRESH", read_fresh}};

/* Of one draw of a contextual kind: the coefficients and the scores, or the width of each row. */
static uint64_t work_of_draw(const oltr_settings *s, uint32_t n)
{
    uint64_t dim = s->dim;
    return s->info->fixed_scores ? n * dim * dim : (n + dim) * dim;
}

static bool check_draws(request *r, const oltr_settings *s, uint32_t n, uint32_t draws)
{
    if ((uint64_t)n * draws > MOST_DRAWN_SCORES)
        return refuse(r, "TOOBIG %u draws of %u candidates: their product is at most %d", draws, n,
                      MOST_DRAWN_SCORES);
    return !s->info->contextual || work_of_draw(s, n) <= MOST_DRAWN_WORK / draws ||
           refuse(r,
                  "TOOBIG %u draws of %u candidates with %u features would stop the server for "
                  "others: at most %llu draws",
                  draws, n, s->dim, (unsigned long long)(MOST_DRAWN_WORK / work_of_draw(s, n)));
}

/* Integrals over the hyperparameters of ts-hyper take 6 ms for each candidate; greedy lists need
 * none. */
static bool check_exact(request *r, const ranker *k, uint32_t n, bool greedy)
{
    long long most = module_caps[CAP_EXACT].value / EXACT_PER_HYPER;
    if (!within_cap(r, "candidates without DRAWS", n, CAP_EXACT))
        return false;
    return greedy || n <= most || !oltr_hyper_count(oltr_model_policy(k->model)) ||
           refuse(r,
                  "TOOBIG candidates of ts-hyper without DRAWS: %u, and %lld are the most, 1/%d of "
                  "oltr.max-exact: give DRAWS",
                  n, most, EXACT_PER_HYPER);
}

static bool check_effort(request *r, const ranker *k, uint32_t n, const ranking_options *o)
{
    const oltr_settings *s = &oltr_model_settings_of(k->model)->policy;
    return o->draws ? n == 0 || check_draws(r, s, n, o->draws)
                    : check_exact(r, k, n, o->show.greedy);
}

/* The engine's sentence; where drawing would work, the option for it. */
static int refuse_propensity(request *r, const ranker *k, const oltr_list *list,
                             const ranking_options *o, const oltr_error *error)
{
    if (error->code == OLTR_EUNSUPPORTED && !o->draws &&
        oltr_model_propensity(k->model, list, &o->show, 1, rng_of(o), scratch_of_process(), NULL,
                              NULL, NULL) == OLTR_OK)
        return refuse(r, "UNSUPPORTED %s: give DRAWS", error->msg);
    return refuse_error(r, error, k->memory.exceeded);
}

static int propensity(request *r, const ranker *k, const oltr_list *list, const ranking_options *o)
{
    oltr_error error = {OLTR_ENOMEM, ""};
    oltr_model_scratch *scratch = scratch_of_process();
    uint32_t n = list_size(k, list);
    double *in_list = request_memory(r, 2 * (size_t)n * sizeof *in_list), *first = in_list + n;
    oltr_status status = scratch ? oltr_model_propensity(k->model, list, &o->show, o->draws,
                                                         rng_of(o), scratch, in_list, first, &error)
                                 : OLTR_ENOMEM;
    if (status != OLTR_OK)
        return refuse_propensity(r, k, list, o, &error);
    rm.ReplyWithArray(r->ctx, n);
    for (uint32_t i = 0; i < n; i++) {
        rm.ReplyWithArray(r->ctx, 3);
        reply_candidate(r, k, list, i);
        rm.ReplyWithDouble(r->ctx, in_list[i]);
        rm.ReplyWithDouble(r->ctx, first[i]);
    }
    return RM_OK;
}

int propensity_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    ranking_options o = {.seeded = false};
    oltr_list list;
    ranker *k;
    if (!open_ranker(&r, argv[1], &k) || !read_capped(&r, "k", 1, CAP_SLOTS, &o.show.k) ||
        !read_list(&r, k, &list) || !READ_OPTIONS(&r, propensity_options, &o) ||
        !check_effort(&r, k, list_size(k, &list), &o))
        return RM_OK;
    return propensity(&r, k, &list, &o);
}

/* ---- PREDICT and EXPLAIN */

/* A list of which every candidate is in the reply.  The cap is lower than that of a list to rank,
 * because most of the time goes into the text of numbers: some 0.2 us for each. */
static bool read_whole_list(request *r, const ranker *k, cap_id cap, oltr_list *list)
{
    return read_list(r, k, list) && read_end(r) &&
           within_cap(r, "items in the reply", list_size(k, list), cap);
}

int predict_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    oltr_error error = {OLTR_ENOMEM, ""};
    oltr_list list;
    ranker *k;
    if (!open_ranker(&r, argv[1], &k) || !read_whole_list(&r, k, CAP_BATCH, &list))
        return RM_OK;
    uint32_t n = list_size(k, &list);
    double *mean = request_memory(&r, 2 * (size_t)n * sizeof *mean), *sd = mean + n;
    if (oltr_model_predict(k->model, &list, mean, sd, &error) != OLTR_OK)
        return refuse_error(&r, &error, k->memory.exceeded);
    rm.ReplyWithArray(ctx, n);
    for (uint32_t i = 0; i < n; i++) {
        rm.ReplyWithArray(ctx, 3);
        reply_candidate(&r, k, &list, i);
        rm.ReplyWithDouble(ctx, mean[i]);
        rm.ReplyWithDouble(ctx, sd[i]);
    }
    return RM_OK;
}

static void reply_explained(request *r, const oltr_explained *e)
{
    reply_flag(r, "known", (int)e->known);
    reply_number(r, "mean", e->mean);
    reply_number(r, "sd", e->sd);
    reply_number(r, "examined", e->examined);
    reply_number(r, "reward", e->reward);
    reply_number(r, "prior_mean", e->prior_mean);
    reply_number(r, "prior_sd", e->prior_sd);
    reply_number(r, "prior_share", e->prior_share);
    reply_count(r, "last", e->last);
}

int explain_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    oltr_error error = {OLTR_ENOMEM, ""};
    oltr_list list;
    ranker *k;
    if (!open_ranker(&r, argv[1], &k) || !read_whole_list(&r, k, CAP_EXACT, &list))
        return RM_OK;
    uint32_t n = list_size(k, &list);
    oltr_explained *explained = request_memory(&r, n * sizeof *explained);
    if (oltr_model_explain(k->model, &list, explained, &error) != OLTR_OK)
        return refuse_error(&r, &error, k->memory.exceeded);
    rm.ReplyWithArray(ctx, n);
    for (uint32_t i = 0; i < n; i++) {
        rm.ReplyWithMap(ctx, 10);
        rm.ReplyWithCString(ctx, "item");
        reply_candidate(&r, k, &list, i);
        reply_explained(&r, &explained[i]);
    }
    return RM_OK;
}
