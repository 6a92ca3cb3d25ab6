/* command_learn.c - OLTR.LEARN: a shown list and what was seen of it. */
#include <string.h>

#include "serve/redis/command_replies.h"
#include "serve/redis/commands.h"
#include "serve/redis/list_args.h"
#include "serve/redis/model_change.h"
#include "serve/redis/module_stats.h"

/* n pos ...: positions of the list, from 1 and none twice; mark is (slots) and 0 before. */
static bool read_positions(request *r, const char *word, uint32_t slots, uint8_t *mark)
{
    uint64_t n, position;
    if (!read_count(r, "the number of positions", 0, slots, &n))
        return false;
    if (n > (uint64_t)arguments_left(r))
        return refuse(r, "BADARG %s has %llu positions, and %d arguments follow", word,
                      (unsigned long long)n, arguments_left(r));
    for (uint64_t i = 0; i < n; i++) {
        if (!read_count(r, "a position", 1, slots, &position))
            return false;
        if (mark[position - 1])
            return refuse(r, "BADARG argument %d: a position is twice in %s", r->at - 1, word);
        mark[position - 1] = 1;
    }
    return true;
}

/* ---- what was clicked */

static bool refuse_second(request *r, const char *first, const char *second)
{
    return refuse(r, "BADARG give %s or %s, not both", first, second);
}

static bool read_clicks(request *r, void *into)
{
    oltr_lesson *lesson = into;
    uint32_t n = lesson->shown.n;
    if (lesson->reward)
        return refuse_second(r, "CLICKS", "REWARDS");
    uint8_t *clicked = memset(request_memory(r, n), 0, n);
    double *reward = request_memory(r, n * sizeof *reward);
    lesson->reward = reward;
    if (!read_positions(r, "CLICKS", n, clicked))
        return false;
    for (uint32_t slot = 0; slot < n; slot++)
        reward[slot] = clicked[slot];
    return true;
}

static bool read_rewards(request *r, void *into)
{
    oltr_lesson *lesson = into;
    if (lesson->reward)
        return refuse_second(r, "CLICKS", "REWARDS");
    double *reward = request_memory(r, lesson->shown.n * sizeof *reward);
    lesson->reward = reward;
    return read_numbers(r, "BADREWARD", "a reward", reward, lesson->shown.n);
}

static bool read_weights(request *r, void *into)
{
    oltr_lesson *lesson = into;
    double *weight = request_memory(r, lesson->shown.n * sizeof *weight);
    lesson->weight = weight;
    return read_numbers(r, "BADREWARD", "a weight", weight, lesson->shown.n);
}

/* ---- what was examined */

static bool read_depth(request *r, void *into)
{
    oltr_lesson *lesson = into;
    uint64_t depth;
    if (lesson->examine != OLTR_EXAMINE_RULE)
        return refuse_second(r, "SEEN", "EXAMINED");
    if (!read_count(r, "SEEN", 0, UINT32_MAX, &depth))
        return false;
    lesson->examine = OLTR_EXAMINE_DEPTH;
    lesson->depth = (uint32_t)depth;
    return true;
}

static bool read_examined(request *r, void *into)
{
    oltr_lesson *lesson = into;
    uint32_t n = lesson->shown.n;
    if (lesson->examine != OLTR_EXAMINE_RULE)
        return refuse_second(r, "SEEN", "EXAMINED");
    uint8_t *examined = memset(request_memory(r, n), 0, n);
    lesson->examine = OLTR_EXAMINE_MASK;
    lesson->examined = examined;
    return read_positions(r, "EXAMINED", n, examined);
}

/* ---- the command */

static bool read_lesson_id(request *r, void *into)
{
    return read_id(r, &((oltr_lesson *)into)->id);
}

static const option learn_options[] = {{"CLICKS", read_clicks},   {"REWARDS", read_rewards},
                                       {"SEEN", read_depth},      {"EXAMINED", read_examined},
                                       {"WEIGHTS", read_weights}, {"ID", read_lesson_id}};

static bool read_lesson(request *r, const ranker *k, oltr_lesson *lesson)
{
    if (!read_shown(r, k, &lesson->shown) || !READ_OPTIONS(r, learn_options, lesson))
        return false;
    return lesson->reward || refuse(r, "BADARG give CLICKS or REWARDS, CLICKS 0 for none");
}

int learn_command(rm_ctx *ctx, rm_string **argv, int argc)
{
    request r = request_of(ctx, argv, argc, 2);
    oltr_lesson lesson = {.examine = OLTR_EXAMINE_RULE};
    ranker *k;
    int applied;
    if (!open_for_change(&r, &k) || !read_lesson(&r, k, &lesson))
        return RM_OK;
    model_change change = change_begin(&r, k, "oltr.learn");
    oltr_status status = oltr_model_learn(k->model, &lesson, &applied, &change.error);
    return change_reply_applied(&change, status, applied, &stats.learns);
}
