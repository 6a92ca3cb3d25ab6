/* cmd_model_rank.c - `oltr model rank`: one ranking from the options, or a filter that answers
 * requests, one JSON object a line in and one out. */
#define _GNU_SOURCE 1 /* getentropy, getline */
#include "app/args/value.h"
#include "app/logs/name_json.h"
#include "app/verbs/decisions.h"
#include "app/verbs/model_family.h"
#include "app/verbs/model_json.h"
#include "engine/base/error.h"
#include "engine/base/quote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const syncs[] = {"none", "second", "always", NULL}; /* as OLTR_SYNC_... */

const struct option model_rank_options[] = {
    {'k', "slots", "N", NULL, "how many items the list has (default: 10)"},
    {0, "items", "A,B,...", NULL, "rank these items (default: all of the model)"},
    {0, "items-from", "FILE", NULL, "rank the items of a file, one name a line"},
    {'s', "seed", "TEXT", NULL,
     "a session, a user, a day: the same text draws the same noise for the same item (default: "
     "another one each time)"},
    {0, "greedy", NULL, NULL, "by the mean of the belief, without drawing"},
    {0, "explain", NULL, NULL, "also what is believed about each item, and why"},
    {0, "propensity", NULL, NULL, "also the chance of each item to be in the list"},
    {0, "draws", "N", NULL,
     "with --propensity: by drawing N lists (default: exactly, which some policies cannot)"},
    {0, "fresh-below", "N", NULL, "an item with fewer observations is fresh"},
    {0, "least-fresh", "N", NULL, "at least so many fresh items in the list (default: 0)"},
    {0, "most-fresh", "N", NULL, "at most so many fresh items in the list (default: no limit)"},
    {0, "log", "FILE", NULL,
     "append every ranking to a decision log, with its candidates and chances, for `oltr model "
     "learn` and `oltr ope` (docs/off-policy.md)"},
    {0, "json", NULL, NULL, "print the ranking as JSON"},
    {0, "learn", NULL, NULL, "as a filter: accept lists to learn; locks the model"},
    {0, "sync", "NAME", NULL,
     "with --learn, what a loss of power may lose: none (everything since the last checkpoint), "
     "second (the last second; the default) or always (nothing)",
     syncs},
    {0, NULL, NULL, NULL, NULL},
};

enum { DEFAULT_SLOTS = 10 };

struct request {
    uint32_t k;
    bool greedy, explain, propensity;
    uint32_t draws, least_fresh, most_fresh;
    double fresh_below;
    oltr_name seed; /* bytes NULL: a new one */
    oltr_name id;   /* in the decision log; bytes NULL: the seed */
};

struct ranker {
    const oltr_model *model;
    oltr_model_scratch *scratch;
    uint32_t room;             /* of the arrays */
    uint32_t *place;           /* (room) */
    double *score;             /* (room) */
    double *in_list;           /* (room) by candidate */
    double *in_slot;           /* (room) the same by slot */
    oltr_explained *explained; /* (room) by slot */
    oltr_name *name;           /* (room) by slot */
    float *x;                  /* (x_room) rows by slot */
    size_t x_room;
    char start[40]; /* of the seeds that the program makes */
    char seed[64];
    uint64_t n_seeds;
    struct decisions *log; /* or NULL: there is none */
};

/* ---- one ranking */

static bool reserve(struct ranker *r, uint32_t n)
{
    if (n <= r->room)
        return true;
    uint32_t *place = realloc(r->place, n * sizeof *place);
    r->place = place ? place : r->place;
    double *score = realloc(r->score, n * sizeof *score);
    r->score = score ? score : r->score;
    double *in_list = realloc(r->in_list, n * sizeof *in_list);
    r->in_list = in_list ? in_list : r->in_list;
    double *in_slot = realloc(r->in_slot, n * sizeof *in_slot);
    r->in_slot = in_slot ? in_slot : r->in_slot;
    oltr_explained *explained = realloc(r->explained, n * sizeof *explained);
    r->explained = explained ? explained : r->explained;
    oltr_name *name = realloc(r->name, n * sizeof *name);
    r->name = name ? name : r->name;
    if (!place || !score || !in_list || !in_slot || !explained || !name)
        return false;
    r->room = n;
    return true;
}

static bool reserve_x(struct ranker *r, size_t n)
{
    float *x = n > r->x_room ? realloc(r->x, n * sizeof *x) : r->x;
    if (n > r->x_room && !x)
        return false;
    r->x_room = n > r->x_room ? n : r->x_room;
    r->x = x;
    return true;
}

static void ranker_free(struct ranker *r)
{
    oltr_model_scratch_free(r->scratch);
    free(r->place);
    free(r->score);
    free(r->in_list);
    free(r->in_slot);
    free(r->explained);
    free(r->name);
    free(r->x);
}

static int ranker_begin(struct ranker *r)
{
    uint64_t word;
    *r = (struct ranker){.scratch = oltr_model_scratch_new(NULL)};
    if (!r->scratch)
        return complain_no_memory();
    if (getentropy(&word, sizeof word) != 0)
        return complain(EXIT_FAILED, "the system has no random numbers: %s", strerror(errno));
    snprintf(r->start, sizeof r->start, "%016llx", (unsigned long long)word);
    return EXIT_OK;
}

static uint32_t count_candidates(const struct ranker *r, const oltr_list *list)
{
    return list->n > 0 ? list->n : oltr_model_items(r->model);
}

/* What is believed about the items of the list, in its order. */
static oltr_status explain(struct ranker *r, const oltr_list *list, uint32_t k, oltr_error *error)
{
    uint32_t dim = oltr_model_settings_of(r->model)->policy.dim;
    oltr_list shown = {.n = k, .name = list->x ? NULL : r->name};
    if (list->x) {
        if (!reserve_x(r, (size_t)k * dim))
            return set_error(error, OLTR_ENOMEM, "out of memory");
        for (uint32_t i = 0; i < k; i++)
            memcpy(r->x + (size_t)i * dim, list->x + (size_t)r->place[i] * dim, dim * sizeof *r->x);
        shown.x = r->x;
    }
    return oltr_model_explain(r->model, &shown, r->explained, error);
}

/* What was ranked goes to the decision log before it is shown. */
static oltr_status log_ranking(struct ranker *r, const struct request *q, const oltr_list *list,
                               const oltr_show *show, oltr_error *error)
{
    oltr_decision decision = {.id = q->id.bytes ? q->id : q->seed,
                              .seed = q->greedy ? (oltr_name){NULL, 0} : q->seed,
                              .list = list,
                              .shown = list->x && r->name[0].size == 0 ? NULL : r->name,
                              .place = r->place,
                              .model = r->model,
                              .k = show->k,
                              .greedy = q->greedy,
                              .draws = q->propensity ? q->draws : 0};
    for (uint32_t i = 0; q->propensity && i < show->k; i++)
        r->in_slot[i] = r->in_list[r->place[i]];
    decision.in_list = q->propensity ? r->in_slot : NULL;
    return decisions_add(r->log, &decision, q->fresh_below > 0, error);
}

/* The list into place, score, name and, where they are asked for, explained and in_list. */
static oltr_status rank(struct ranker *r, struct request *q, const oltr_list *list,
                        const oltr_name *names, oltr_show *show, oltr_error *error)
{
    uint32_t n = count_candidates(r, list), k = q->k < n ? q->k : n;
    if (n == 0)
        return set_error(error, OLTR_EITEM, "the model has no items yet, and none were given");
    if (!reserve(r, n))
        return set_error(error, OLTR_ENOMEM, "out of memory");
    if (!q->seed.bytes) {
        int size = snprintf(r->seed, sizeof r->seed, "%s-%llu", r->start,
                            (unsigned long long)++r->n_seeds);
        q->seed = (oltr_name){r->seed, (uint32_t)size};
    }
    oltr_rng rng = oltr_rng_text(q->seed.bytes, q->seed.size);
    *show = (oltr_show){.k = k,
                        .greedy = q->greedy,
                        .place = r->place,
                        .score = r->score,
                        .fresh_below = q->fresh_below,
                        .least_fresh = q->least_fresh,
                        .most_fresh = q->most_fresh < k ? q->most_fresh : k};
    oltr_status status = oltr_model_rank(r->model, list, rng, r->scratch, show, error);
    for (uint32_t i = 0; status == OLTR_OK && i < show->k; i++)
        r->name[i] = names     ? names[r->place[i]]
                     : list->x ? (oltr_name){"", 0}
                               : oltr_model_name(r->model, r->place[i]);
    if (status == OLTR_OK && q->explain)
        status = explain(r, list, show->k, error);
    if (status == OLTR_OK && q->propensity)
        status = oltr_model_propensity(r->model, list, show, q->draws, rng, r->scratch, r->in_list,
                                       NULL, error);
    return status == OLTR_OK && r->log ? log_ranking(r, q, list, show, error) : status;
}

/* ---- as JSON */

static void add_explained(struct text *out, const oltr_explained *e)
{
    static const char *const keys[] = {"mean",       "sd",       "examined",   "reward",
                                       "prior_mean", "prior_sd", "prior_share"};
    const double value[] = {e->mean,       e->sd,       e->examined,   e->reward,
                            e->prior_mean, e->prior_sd, e->prior_share};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        text_printf(out, "%s\"%s\": ", i > 0 ? ", " : "{", keys[i]);
        json_add_number(out, value[i]);
    }
    text_printf(out, ", \"last\": %llu, \"known\": %s}", (unsigned long long)e->last,
                e->known ? "true" : "false");
}

static void add_answer(struct text *out, const struct ranker *r, const struct request *q,
                       const oltr_list *list, bool names, uint32_t k)
{
    const char *comma = "";
    text_add(out, "{");
    if (names || !list->x) {
        text_add(out, "\"items\": [");
        for (uint32_t i = 0; i < k; i++) {
            text_add(out, i > 0 ? ", " : "");
            json_add_name(out, r->name[i]);
        }
        text_add(out, "]");
        comma = ", ";
    }
    if (list->x) {
        text_printf(out, "%s\"rows\": [", comma);
        for (uint32_t i = 0; i < k; i++)
            text_printf(out, "%s%u", i > 0 ? ", " : "", r->place[i]);
        text_add(out, "]");
    }
    text_add(out, ", \"scores\": [");
    for (uint32_t i = 0; i < k; i++) {
        text_add(out, i > 0 ? ", " : "");
        json_add_number(out, r->score[i]);
    }
    text_add(out, "]");
    for (uint32_t i = 0; q->propensity && i < k; i++) {
        text_add(out, i > 0 ? ", " : ", \"propensities\": [");
        json_add_number(out, r->in_list[r->place[i]]);
    }
    text_add(out, q->propensity ? "]" : "");
    for (uint32_t i = 0; q->explain && i < k; i++) {
        text_add(out, i > 0 ? ", " : ", \"explain\": [");
        add_explained(out, &r->explained[i]);
    }
    text_add(out, q->explain ? "]" : "");
    if (!q->greedy) {
        text_add(out, ", \"seed\": ");
        json_add_name(out, q->seed);
    }
    if (r->log) {
        text_add(out, ", \"id\": ");
        json_add_name(out, q->id.bytes ? q->id : q->seed);
    }
}

/* ---- requests */

static oltr_status take_count(const json_t *json, const char *key, uint32_t low, uint32_t *out,
                              oltr_error *error)
{
    const json_t *value = json_object_get(json, key);
    if (!value)
        return OLTR_OK;
    json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < low || n > OLTR_MOST_MODEL_ITEMS)
        return set_error(error, OLTR_EVALUE, "\"%s\" must be a whole number from %u to %d", key,
                         low, OLTR_MOST_MODEL_ITEMS);
    *out = (uint32_t)n;
    return OLTR_OK;
}

static oltr_status take_flag(const json_t *json, const char *key, bool *out, oltr_error *error)
{
    const json_t *value = json_object_get(json, key);
    if (value && !json_is_boolean(value))
        return set_error(error, OLTR_EVALUE, "\"%s\" must be true or false", key);
    *out = value ? json_is_true(value) : *out;
    return OLTR_OK;
}

static oltr_status check_keys(const json_t *json, oltr_error *error)
{
    static const char *const known[] = {
        "k",     "items",       "features",    "seed",       "greedy", "explain", "propensity",
        "draws", "fresh_below", "least_fresh", "most_fresh", "tag",    "id"};
    const char *key;
    json_t *value;
    char word[QUOTE_SIZE];
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strcmp(known[i], key) != 0)
            i++;
        if (i == sizeof known / sizeof *known)
            return set_error(error, OLTR_EVALUE,
                             "a request has no `%s`; it may have k, items, features, seed, greedy, "
                             "explain, propensity, draws, fresh_below, least_fresh, most_fresh, id "
                             "and tag",
                             quote_input(key, word));
    }
    return OLTR_OK;
}

static oltr_status take_request(const json_t *json, struct name_room *room, struct request *q,
                                oltr_error *error)
{
    const json_t *seed = json_object_get(json, "seed"), *id = json_object_get(json, "id"),
                 *below = json_object_get(json, "fresh_below");
    oltr_status status = check_keys(json, error);
    status = status == OLTR_OK ? take_count(json, "k", 1, &q->k, error) : status;
    status = status == OLTR_OK ? take_count(json, "draws", 0, &q->draws, error) : status;
    status =
        status == OLTR_OK ? take_count(json, "least_fresh", 0, &q->least_fresh, error) : status;
    status = status == OLTR_OK ? take_count(json, "most_fresh", 0, &q->most_fresh, error) : status;
    status = status == OLTR_OK ? take_flag(json, "greedy", &q->greedy, error) : status;
    status = status == OLTR_OK ? take_flag(json, "explain", &q->explain, error) : status;
    status = status == OLTR_OK ? take_flag(json, "propensity", &q->propensity, error) : status;
    if (status != OLTR_OK)
        return status;
    if (below && !(json_number_value(below) >= 0 && json_is_number(below)))
        return set_error(error, OLTR_EVALUE, "\"fresh_below\" must be a number from 0 on");
    q->fresh_below = below ? json_number_value(below) : q->fresh_below;
    if (seed && name_of_json(seed, room, &q->seed) != NAME_TAKEN)
        return set_error(error, OLTR_EVALUE, "\"seed\" must be a text of 1 to 512 bytes");
    if (id && name_of_json(id, room, &q->id) != NAME_TAKEN)
        return set_error(error, OLTR_EVALUE, "\"id\" must be a text of 1 to 512 bytes");
    return OLTR_OK;
}

/* ---- the filter */

struct filter {
    struct ranker ranker;
    oltr_store *store;
    struct request defaults;
    struct list_json arrays;
    struct name_room room;
    struct text out;
    bool may_learn;
};

static oltr_status answer_learn(struct filter *f, const json_t *json, oltr_error *error)
{
    uint32_t dim = oltr_model_settings_of(oltr_store_read(f->store))->policy.dim;
    oltr_lesson lesson;
    int applied;
    oltr_store_done(f->store);
    if (!f->may_learn)
        return set_error(error, OLTR_EUNSUPPORTED, "give --learn to the command to learn by it");
    oltr_status status = lesson_of_json(json, dim, &f->arrays, &lesson, error);
    if (status == OLTR_OK)
        status = oltr_store_learn(f->store, &lesson, &applied, error);
    if (status == OLTR_OK && applied && f->ranker.log)
        status = decisions_add_outcome(f->ranker.log, &lesson, error);
    if (status == OLTR_OK)
        text_printf(&f->out, "{\"learned\": %s", applied ? "true" : "false");
    return status;
}

static oltr_status answer_rank(struct filter *f, const json_t *json, oltr_error *error)
{
    struct ranker *r = &f->ranker;
    struct request q = f->defaults;
    oltr_list list;
    oltr_show show;
    bool names;
    r->model = oltr_store_read(f->store);
    const oltr_settings *policy = &oltr_model_settings_of(r->model)->policy;
    name_room_clear(&f->room);
    oltr_status status = take_request(json, &f->room, &q, error);
    if (status == OLTR_OK)
        status = list_of_json(json, policy->info->contextual ? policy->dim : 0,
                              OLTR_MOST_MODEL_ITEMS, &f->arrays, &list, &names, error);
    if (status == OLTR_OK)
        status = rank(r, &q, &list, names ? f->arrays.name : NULL, &show, error);
    if (status == OLTR_OK)
        add_answer(&f->out, r, &q, &list, names, show.k);
    oltr_store_done(f->store);
    return status;
}

static void add_error(struct text *out, uint64_t line, const char *message)
{
    char text[320];
    snprintf(text, sizeof text, "line %llu: %s", (unsigned long long)line, message);
    text_add(out, "{\"error\": ");
    json_t *json = json_string(text);
    char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    text_add(out, quoted ? quoted : "\"not a text\"");
    free(quoted);
    json_decref(json);
}

/* Composes the answer to a line; false if it is an error. */
static bool answer(struct filter *f, const char *text, size_t size, uint64_t line)
{
    oltr_error error = {OLTR_OK, ""};
    json_t *json = json_of_line(text, size, &error);
    const json_t *lesson = json ? json_object_get(json, "learn") : NULL,
                 *tag = json ? json_object_get(json, "tag") : NULL;
    oltr_status status = !json    ? error.code
                         : lesson ? answer_learn(f, lesson, &error)
                                  : answer_rank(f, json, &error);
    if (status != OLTR_OK)
        add_error(&f->out, line, error.msg);
    char *copy = tag ? json_dumps(tag, JSON_ENCODE_ANY) : NULL;
    if (copy)
        text_printf(&f->out, ", \"tag\": %s", copy);
    text_add(&f->out, "}\n");
    free(copy);
    json_decref(json);
    return status == OLTR_OK;
}

/* The answer goes out at once: the program at the other end waits for it. */
static int send_answer(struct text *out)
{
    int code = print_text(out);
    out->length = 0;
    return code;
}

static int answer_lines(struct filter *f)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t size;
    bool good = true;
    int code = EXIT_OK;
    for (uint64_t line = 1; code == EXIT_OK && (size = getline(&text, &room, stdin)) >= 0; line++) {
        if (text[strspn(text, " \t\r\n")] == '\0' && strlen(text) == (size_t)size)
            continue; /* an empty line */
        good = answer(f, text, (size_t)size, line) && good;
        code = send_answer(&f->out);
    }
    free(text);
    if (code == EXIT_OK && ferror(stdin))
        code = complain(EXIT_FAILED, "cannot read standard input: %s", strerror(errno));
    return code == EXIT_OK && !good ? EXIT_FAILED : code;
}

static int run_filter(const struct arguments *arguments, const struct request *defaults,
                      uint32_t sync)
{
    struct filter f = {.defaults = *defaults, .may_learn = arguments_has(arguments, "learn")};
    int code = model_open(arguments->operand[0], f.may_learn, sync, &f.store);
    if (code != EXIT_OK)
        return code;
    if (isatty(STDIN_FILENO) == 1)
        complain(0, "reading requests from standard input, one JSON object a line, like "
                    "{\"k\": 10}; for one ranking give -k N");
    code = ranker_begin(&f.ranker);
    if (code == EXIT_OK)
        code = decisions_open(arguments, &f.ranker.log);
    if (code == EXIT_OK)
        code = answer_lines(&f);
    code = decisions_close(f.ranker.log, code);
    ranker_free(&f.ranker);
    list_json_free(&f.arrays);
    name_room_free(&f.room);
    text_free(&f.out);
    return model_close(f.store, code);
}

/* ---- one ranking from the options */

static void print_table(const struct ranker *r, const struct request *q, uint32_t k)
{
    enum { NAME_COLUMNS = 32 };
    char name[SHOWN_NAME_SIZE];
    printf("%4s  %-*s  %10s%s%s\n", "", NAME_COLUMNS, "item", "score",
           q->propensity ? "      chance" : "",
           q->explain ? "        mean          sd   examined     reward  prior left" : "");
    for (uint32_t i = 0; i < k; i++) {
        uint32_t width = model_shown_name(r->name[i], NAME_COLUMNS, name);
        printf("%4u  %s%*s  %10.5g", i + 1, name, (int)(NAME_COLUMNS - width), "", r->score[i]);
        if (q->propensity)
            printf("  %10.4g", r->in_list[r->place[i]]);
        const oltr_explained *e = &r->explained[i];
        if (q->explain)
            printf("  %10.5g  %10.5g %10.6g %10.6g  %8.1f %%%s", e->mean, e->sd, e->examined,
                   e->reward, 100 * e->prior_share, e->known ? "" : "  new");
        putchar('\n');
    }
}

static int rank_once(const struct arguments *arguments, struct request *q)
{
    struct model_names names;
    struct ranker r = {.room = 0};
    struct text out = {0};
    oltr_error error = {OLTR_OK, ""};
    oltr_store *store = NULL;
    oltr_show show;
    int code = model_names_read(arguments, 1, &names);
    if (code == EXIT_OK)
        code = model_open(arguments->operand[0], false, OLTR_SYNC_NONE, &store);
    if (code == EXIT_OK)
        code = ranker_begin(&r);
    if (code == EXIT_OK)
        code = decisions_open(arguments, &r.log);
    if (code == EXIT_OK) {
        r.model = oltr_store_read(store);
        oltr_list list = {.n = names.n, .name = names.n > 0 ? names.name : NULL};
        if (oltr_model_settings_of(r.model)->policy.info->contextual)
            code = complain(EXIT_USAGE, "a policy with features ranks rows of features: give "
                                        "requests with \"features\" on standard input");
        else if (rank(&r, q, &list, names.n > 0 ? names.name : NULL, &show, &error) != OLTR_OK)
            code = error.code == OLTR_EIO ? complain_failed(&error) : complain_of(&error);
        else if (arguments_has(arguments, "json"))
            add_answer(&out, &r, q, &list, names.n > 0, show.k);
        else
            print_table(&r, q, show.k);
        oltr_store_done(store);
    }
    if (code == EXIT_OK && out.length > 0) {
        text_add(&out, "}\n");
        code = send_answer(&out);
    }
    code = decisions_close(r.log, code);
    text_free(&out);
    ranker_free(&r);
    model_names_free(&names);
    return model_close(store, code);
}

/* ---- options */

static int read_request(const struct arguments *arguments, struct request *q)
{
    const char *seed = arguments_value(arguments, "seed");
    *q = (struct request){.k = DEFAULT_SLOTS,
                          .greedy = arguments_has(arguments, "greedy"),
                          .explain = arguments_has(arguments, "explain"),
                          .propensity = arguments_has(arguments, "propensity"),
                          .most_fresh = OLTR_MOST_MODEL_ITEMS};
    if (seed && (*seed == '\0' || strlen(seed) > OLTR_LONGEST_NAME))
        return complain(EXIT_USAGE, "--seed must be a text of 1 to %d bytes", OLTR_LONGEST_NAME);
    if (seed)
        q->seed = (oltr_name){seed, (uint32_t)strlen(seed)};
    int code = value_whole32(arguments, "slots", 1, OLTR_MOST_MODEL_ITEMS, &q->k);
    code = code == EXIT_OK ? value_whole32(arguments, "draws", 0, 1 << 30, &q->draws) : code;
    code = code == EXIT_OK
               ? value_whole32(arguments, "least-fresh", 0, OLTR_MOST_MODEL_ITEMS, &q->least_fresh)
               : code;
    code = code == EXIT_OK
               ? value_whole32(arguments, "most-fresh", 0, OLTR_MOST_MODEL_ITEMS, &q->most_fresh)
               : code;
    return code == EXIT_OK ? value_real(arguments, "fresh-below", 0, 1e15, &q->fresh_below) : code;
}

int cmd_model_rank(const struct arguments *arguments)
{
    struct request q;
    uint32_t sync = OLTR_SYNC_SECOND;
    bool once = arguments_has(arguments, "slots") || arguments_has(arguments, "items") ||
                arguments_has(arguments, "items-from");
    int code = read_request(arguments, &q);
    if (code == EXIT_OK)
        code = value_word(arguments, "sync", &sync);
    if (code != EXIT_OK)
        return code;
    if (once && arguments_has(arguments, "learn"))
        return complain(EXIT_USAGE, "--learn is for requests on standard input; -k and --items "
                                    "print one ranking");
    return once ? rank_once(arguments, &q) : run_filter(arguments, &q, sync);
}
