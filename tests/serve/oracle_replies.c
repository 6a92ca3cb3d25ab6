/* oracle_replies.c - see oracle_replies.h. */
#include "oracle_replies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LIST = 64 };

typedef struct oracle_rule oracle_rule;

struct oracle {
    const oracle_rule *rule;
    const command *c;
    oltr_model *model;
    uint32_t at; /* the next argument */
    bool all, rows;
    oltr_list list;
    oltr_name name[MOST_LIST];
    float x[MOST_LIST * 16];
    uint32_t k, draws;
    bool has_seed, with_scores, gives_chances;
    oltr_rng rng;
    oltr_show show;
    uint64_t unknown_before, refused_before;
};

/* ---- reading arguments */

static const char *word_at(const command *c, uint32_t i, char room[64])
{
    size_t n = i < c->n && c->arg[i].size < 64 ? c->arg[i].size : 0;
    memcpy(room, n ? c->arg[i].bytes : "", n);
    room[n] = 0;
    return room;
}

static bool is_word(const oracle *o, const char *word)
{
    return o->at < o->c->n && same_text(o->c->arg[o->at], text_of(word));
}

static double next_number(oracle *o)
{
    char room[64];
    return strtod(word_at(o->c, o->at++, room), NULL);
}

static uint32_t next_count(oracle *o)
{
    return (uint32_t)next_number(o);
}

static text next_text(oracle *o)
{
    return o->c->arg[o->at++];
}

static oltr_name name_of(text t)
{
    return (oltr_name){t.bytes, (uint32_t)t.size};
}

static void read_fixed(oracle *o)
{
    uint32_t size = next_count(o);
    text ids = next_text(o);
    o->list.n = (uint32_t)ids.size / size;
    for (uint32_t i = 0; i < o->list.n; i++)
        o->name[i] = (oltr_name){(const char *)ids.bytes + i * size, size};
    o->list.name = o->name;
}

static void read_items(oracle *o)
{
    o->list.n = next_count(o);
    for (uint32_t i = 0; i < o->list.n; i++)
        o->name[i] = name_of(next_text(o));
    o->list.name = o->name;
}

/* Whether the length of the rows fits the model. */
static bool read_rows(oracle *o)
{
    text x = next_text(o);
    uint32_t dim = oltr_model_settings_of(o->model)->policy.dim;
    o->rows = true;
    if (dim == 0 || x.size % (4 * dim) != 0 || x.size > sizeof o->x)
        return false;
    memcpy(o->x, x.bytes, x.size);
    o->list.n = (uint32_t)(x.size / (4 * dim));
    o->list.x = o->x;
    return true;
}

static bool read_list(oracle *o)
{
    if (is_word(o, "ALL")) {
        o->at++;
        o->all = true;
        return true;
    }
    bool items = is_word(o, "ITEMS"), rows = is_word(o, "FP32");
    o->at++;
    if (rows)
        return read_rows(o);
    if (items)
        read_items(o);
    else
        read_fixed(o);
    return true;
}

static void read_options(oracle *o)
{
    while (o->at < o->c->n)
        if (is_word(o, "SEED")) {
            o->at++;
            text seed = next_text(o);
            o->rng = oltr_rng_text(seed.bytes, seed.size);
            o->has_seed = true;
        } else if (is_word(o, "FRESH")) {
            o->at++;
            o->show.most_fresh = next_count(o);
            o->show.fresh_below = next_number(o);
            if (is_word(o, "LEAST")) {
                o->at++;
                o->show.least_fresh = next_count(o);
            }
        } else if (is_word(o, "DRAWS")) {
            o->at++;
            o->draws = next_count(o);
        } else {
            o->show.greedy |= is_word(o, "GREEDY");
            o->with_scores |= is_word(o, "WITHSCORES");
            o->at++;
        }
}

/* ---- comparing */

/* The word of a status, or NULL where the contract leaves it open. */
static const char *word_of(oltr_status status)
{
    switch (status) {
    case OLTR_EKIND:
        return "BADKIND";
    case OLTR_EPARAM:
        return "BADPARAM";
    case OLTR_EPRIOR:
        return "BADPRIOR";
    case OLTR_EITEM:
    case OLTR_ENAME:
        return "BADITEM";
    case OLTR_EREWARD:
        return "BADREWARD";
    case OLTR_EFEATURE:
        return "BADFEATURE";
    case OLTR_EUNSUPPORTED:
        return "UNSUPPORTED";
    case OLTR_EMISMATCH:
        return "MISMATCH";
    case OLTR_ETRUNCATED:
    case OLTR_EMAGIC:
    case OLTR_EVERSION:
    case OLTR_ECHECKSUM:
    case OLTR_ECORRUPT:
        return "BADIMAGE";
    case OLTR_EFULL:
        return "FULL";
    default:
        return NULL;
    }
}

/* Whether the command succeeded, as it did here.  A cap may refuse what the engine can do. */
static bool same_verdict(oltr_status status, const oltr_error *error, const reply *r)
{
    const char *word = word_of(status), *said = reply_error(r);
    if (strcmp(said, "TOOBIG") == 0)
        return false;
    if ((status == OLTR_OK) != (r->type != REPLY_ERROR))
        fake_fault("the engine says %s (%s), the server %s", oltr_status_name(status), error->msg,
                   r->type == REPLY_ERROR ? said : "that it is good");
    if (status != OLTR_OK && word && strcmp(word, said) != 0)
        fake_fault("the engine says %s, the server %s", oltr_status_name(status), said);
    return status == OLTR_OK;
}

static void must_be(bool holds, const char *what)
{
    if (!holds)
        fake_fault("%s, unlike that of the engine", what);
}

static bool same_double(double x, const reply *r)
{
    return r->type == REPLY_DOUBLE && memcmp(&x, &r->number, sizeof x) == 0;
}

static oltr_name candidate(const oracle *o, uint32_t i)
{
    return o->all ? oltr_model_name(o->model, i) : o->name[i];
}

static void same_candidate(const oracle *o, uint32_t i, const reply *r)
{
    if (o->rows) {
        must_be(r->type == REPLY_INTEGER && r->integer == i, "the number of a row");
        return;
    }
    oltr_name name = candidate(o, i);
    must_be(r->type == REPLY_BULK && same_text(r->words, (text){name.bytes, name.size}),
            "the name of an item");
}

static uint32_t n_candidates(const oracle *o)
{
    return o->all ? oltr_model_items(o->model) : o->list.n;
}

/* ---- commands that read */

static void compare_list(const oracle *o, const reply *r)
{
    bool pairs = r->n == o->show.k && r->n > 0 && reply_child(r, 0)->type == REPLY_ARRAY;
    uint32_t width = o->with_scores && !pairs ? 2 : 1;
    must_be(r->type == REPLY_ARRAY && r->n == o->show.k * width, "the length of a list");
    for (uint32_t i = 0; i < o->show.k; i++) {
        const reply *id = reply_child(r, i * width), *score = NULL;
        if (pairs) {
            must_be(o->with_scores && id->n == 2, "a pair");
            score = id + 2;
            id = id + 1;
        } else if (o->with_scores) {
            score = id + 1;
        }
        same_candidate(o, o->show.place[i], id);
        must_be(!score || same_double(o->show.score[i], score), "a score");
    }
}

static uint64_t count_unknown(const oracle *o)
{
    uint64_t n = 0;
    for (uint32_t i = 0; !o->all && !o->rows && i < o->list.n; i++)
        n += oltr_model_find(o->model, o->name[i]) < 0;
    return n;
}

static bool compare_rank(oracle *o, const reply *r, fake_server *s)
{
    uint32_t place[MOST_LIST];
    double score[MOST_LIST];
    oltr_error error = {OLTR_OK, ""};
    o->k = next_count(o);
    if (!read_list(o))
        return false;
    read_options(o);
    if (!o->has_seed || (o->all && oltr_model_items(o->model) == 0))
        return false;
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    o->show.k = o->k;
    o->show.place = place;
    o->show.score = score;
    oltr_status status = oltr_model_rank(o->model, &o->list, o->rng, scratch, &o->show, &error);
    oltr_model_scratch_free(scratch);
    if (same_verdict(status, &error, r)) {
        compare_list(o, r);
        must_be(fake_info(s, "unknown_ids") == o->unknown_before + count_unknown(o),
                "the number of unknown names");
    }
    return true;
}

static bool compare_predict(oracle *o, const reply *r, fake_server *s)
{
    double mean[MOST_LIST], sd[MOST_LIST];
    oltr_error error = {OLTR_OK, ""};
    (void)s;
    if (!read_list(o) || n_candidates(o) == 0)
        return false;
    if (!same_verdict(oltr_model_predict(o->model, &o->list, mean, sd, &error), &error, r))
        return true;
    must_be(r->type == REPLY_ARRAY && r->n == n_candidates(o), "the length of predictions");
    for (uint32_t i = 0; i < r->n; i++) {
        const reply *row = reply_child(r, i);
        must_be(row->type == REPLY_ARRAY && row->n == 3, "a prediction");
        same_candidate(o, i, row + 1);
        must_be(same_double(mean[i], row + 2) && same_double(sd[i], row + 3), "a belief");
        if (!isfinite(mean[i]) || !isfinite(sd[i]))
            fake_fault("a prediction that is not finite");
    }
    return true;
}

/* Null stands for a number that the kind does not have.  What ts-hyper believed at first is
 * computed for as many items at once as the model has room for, which is not in its image: the last
 * bit may differ. */
static void same_field(const reply *row, const char *name, double x)
{
    const reply *value = reply_field(row, name);
    bool same = value && (same_double(x, value) ||
                          (strncmp(name, "prior_", 6) == 0 && value->type == REPLY_DOUBLE &&
                           fabs(value->number - x) <= 1e-14));
    if (!value || !(isnan(x) ? value->type == REPLY_NULL : same))
        fake_fault("%s is %.17g (type %d), that of the engine %.17g", name,
                   value ? value->number : 0, value ? (int)value->type : -1, x);
}

static bool compare_explain(oracle *o, const reply *r, fake_server *s)
{
    oltr_explained out[MOST_LIST];
    oltr_error error = {OLTR_OK, ""};
    (void)s;
    if (!read_list(o) || n_candidates(o) == 0)
        return false;
    if (!same_verdict(oltr_model_explain(o->model, &o->list, out, &error), &error, r))
        return true;
    must_be(r->type == REPLY_ARRAY && r->n == n_candidates(o), "the length of explanations");
    for (uint32_t i = 0; i < r->n; i++) {
        const reply *row = reply_child(r, i), *item = reply_field(row, "item"),
                    *known = reply_field(row, "known"), *last = reply_field(row, "last");
        must_be(row->n == 20 && item && known && last, "an explanation");
        same_candidate(o, i, item);
        must_be(known->type == REPLY_INTEGER && known->integer == out[i].known, "known");
        must_be(last->type == REPLY_NULL || (uint64_t)last->integer == out[i].last, "last");
        same_field(row, "mean", out[i].mean);
        same_field(row, "sd", out[i].sd);
        same_field(row, "examined", out[i].examined);
        same_field(row, "reward", out[i].reward);
        same_field(row, "prior_mean", out[i].prior_mean);
        same_field(row, "prior_sd", out[i].prior_sd);
        same_field(row, "prior_share", out[i].prior_share);
    }
    return true;
}

static bool compare_propensity(oracle *o, const reply *r, fake_server *s)
{
    double in_list[MOST_LIST], first[MOST_LIST];
    oltr_error error = {OLTR_OK, ""};
    (void)s;
    o->k = next_count(o);
    if (!read_list(o) || n_candidates(o) == 0)
        return false;
    read_options(o);
    if (o->draws && !o->has_seed)
        return false;
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    o->show.k = o->k;
    oltr_status status = oltr_model_propensity(o->model, &o->list, &o->show, o->draws, o->rng,
                                               scratch, in_list, first, &error);
    oltr_model_scratch_free(scratch);
    if (!same_verdict(status, &error, r))
        return true;
    must_be(r->type == REPLY_ARRAY && r->n == n_candidates(o), "the length of chances");
    for (uint32_t i = 0; i < r->n; i++) {
        const reply *row = reply_child(r, i);
        must_be(row->type == REPLY_ARRAY && row->n == 3, "a chance");
        same_candidate(o, i, row + 1);
        must_be(same_double(in_list[i], row + 2) && same_double(first[i], row + 3), "a chance");
    }
    return true;
}

static bool compare_dump(oracle *o, const reply *r, fake_server *s)
{
    text key = o->c->arg[1];
    if (o->c->n > 2) {
        o->at++;
        if (oltr_model_lessons(o->model) <= (uint64_t)next_number(o)) {
            must_be(r->type == REPLY_NULL, "an image that is not newer");
            return true;
        }
    }
    blob image = fake_image(s, key);
    must_be(r->type == REPLY_BULK && same_text(r->words, (text){image.at, image.size}), "an image");
    free(image.at);
    return true;
}

/* ---- commands that write */

static void same_image(const oracle *o, fake_server *s)
{
    size_t bound = oltr_model_save_bound(o->model), size = 0;
    unsigned char *own = malloc(bound);
    blob image = fake_image(s, o->c->arg[1]);
    if (!own || oltr_model_save(o->model, own, bound, &size) != OLTR_OK)
        fake_fault("the engine does not save the model");
    must_be(image.size == size && memcmp(image.at, own, size) == 0, "the image after the command");
    free(own);
    free(image.at);
}

static void same_count(const oracle *o, long long n, const reply *r, fake_server *s)
{
    must_be(r->type == REPLY_INTEGER && r->integer == n, "the number that a write replies");
    same_image(o, s);
}

typedef struct read_lesson {
    double reward[MOST_LIST], weight[MOST_LIST];
    uint8_t examined[MOST_LIST];
    oltr_lesson lesson;
} read_lesson;

static void read_feedback(oracle *o, read_lesson *l)
{
    while (o->at < o->c->n) {
        char room[64];
        const char *word = word_at(o->c, o->at++, room);
        if (strcmp(word, "CLICKS") == 0) {
            for (uint32_t n = next_count(o); n > 0; n--)
                l->reward[next_count(o) - 1] = 1;
        } else if (strcmp(word, "REWARDS") == 0) {
            for (uint32_t i = 0; i < o->list.n; i++)
                l->reward[i] = next_number(o);
        } else if (strcmp(word, "SEEN") == 0) {
            l->lesson.examine = OLTR_EXAMINE_DEPTH;
            l->lesson.depth = next_count(o);
        } else if (strcmp(word, "EXAMINED") == 0) {
            l->lesson.examine = OLTR_EXAMINE_MASK;
            l->lesson.examined = l->examined;
            for (uint32_t n = next_count(o); n > 0; n--)
                l->examined[next_count(o) - 1] = 1;
        } else if (strcmp(word, "WEIGHTS") == 0) {
            l->lesson.weight = l->weight;
            for (uint32_t i = 0; i < o->list.n; i++)
                l->weight[i] = next_number(o);
        } else {
            l->lesson.id = name_of(next_text(o));
        }
    }
}

static bool compare_learn(oracle *o, const reply *r, fake_server *s)
{
    read_lesson l;
    oltr_error error = {OLTR_OK, ""};
    int applied = -1;
    memset(&l, 0, sizeof l);
    if (!read_list(o))
        return false;
    read_feedback(o, &l);
    l.lesson.shown = o->list;
    l.lesson.reward = l.reward;
    if (same_verdict(oltr_model_learn(o->model, &l.lesson, &applied, &error), &error, r))
        same_count(o, applied, r, s);
    return true;
}

static bool compare_prior(oracle *o, const reply *r, fake_server *s)
{
    double pair[2 * MOST_LIST];
    uint32_t n = 0;
    oltr_error error = {OLTR_OK, ""};
    for (; o->at < o->c->n; n++) {
        o->name[n] = name_of(next_text(o));
        pair[2 * n] = next_number(o);
        pair[2 * n + 1] = next_number(o);
    }
    if (same_verdict(oltr_model_prior(o->model, o->name, pair, n, &error), &error, r))
        same_count(o, n, r, s);
    return true;
}

static bool compare_removal(oracle *o, const reply *r, fake_server *s)
{
    uint32_t n = 0, found = 0;
    oltr_error error = {OLTR_OK, ""};
    bool reset = same_text(o->c->arg[0], text_of("OLTR.RESET"));
    while (o->at < o->c->n)
        o->name[n++] = name_of(next_text(o));
    oltr_status status = reset ? oltr_model_reset(o->model, o->name, n, &found, &error)
                               : oltr_model_remove(o->model, o->name, n, &found, &error);
    if (same_verdict(status, &error, r))
        same_count(o, found, r, s);
    return true;
}

static bool compare_trim(oracle *o, const reply *r, fake_server *s)
{
    uint32_t found = 0;
    oltr_error error = {OLTR_OK, ""};
    o->at++;
    if (same_verdict(oltr_model_trim(o->model, next_count(o), &found, &error), &error, r))
        same_count(o, found, r, s);
    return true;
}

static oltr_name read_id(oracle *o)
{
    if (o->at >= o->c->n)
        return (oltr_name){NULL, 0};
    o->at++;
    return name_of(next_text(o));
}

static bool compare_forget(oracle *o, const reply *r, fake_server *s)
{
    int applied = -1;
    oltr_error error = {OLTR_OK, ""};
    double keep = next_number(o);
    oltr_name id = read_id(o);
    if (same_verdict(oltr_model_forget(o->model, keep, id, &applied, &error), &error, r))
        same_count(o, applied, r, s);
    return true;
}

static bool compare_merge(oracle *o, const reply *r, fake_server *s)
{
    int applied = -1;
    oltr_error error = {OLTR_OK, ""};
    text image = next_text(o);
    oltr_name id = read_id(o);
    oltr_model *from = oltr_model_load(image.bytes, image.size, NULL, NULL, &error);
    oltr_status status = from ? oltr_model_merge(o->model, from, id, &applied, &error)
                         : error.code == OLTR_ENOMEM ? OLTR_ENOMEM
                                                     : OLTR_ECORRUPT;
    oltr_model_free(from);
    if (id.size && oltr_model_seen(o->model, id) && status != OLTR_OK)
        return false; /* an id that was seen may be answered before the image is looked at */
    if (same_verdict(status, &error, r))
        same_count(o, applied, r, s);
    return true;
}

/* ---- the rules */

struct oracle_rule {
    const char *name;
    bool (*compare)(oracle *o, const reply *r, fake_server *s);
};

static const oracle_rule rules[] = {
    {"OLTR.RANK", compare_rank},       {"OLTR.PREDICT", compare_predict},
    {"OLTR.EXPLAIN", compare_explain}, {"OLTR.PROPENSITY", compare_propensity},
    {"OLTR.DUMP", compare_dump},       {"OLTR.LEARN", compare_learn},
    {"OLTR.PRIOR", compare_prior},     {"OLTR.REM", compare_removal},
    {"OLTR.RESET", compare_removal},   {"OLTR.TRIM", compare_trim},
    {"OLTR.FORGET", compare_forget},   {"OLTR.MERGE", compare_merge}};

oracle *oracle_before(fake_server *s, const command *c, const blob *image)
{
    if (c->changed || !image || !image->at)
        return NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (same_text(c->arg[0], text_of(rules[i].name))) {
            oltr_error error = {OLTR_OK, ""};
            oracle *o = calloc(1, sizeof *o);
            if (!o)
                fake_fault("no memory for the oracle");
            o->rule = &rules[i];
            o->c = c;
            o->at = 2;
            o->model = oltr_model_load(image->at, image->size, NULL, NULL, &error);
            if (!o->model)
                fake_fault("the engine does not load an image of the server: %s", error.msg);
            o->unknown_before = fake_info(s, "unknown_ids");
            o->refused_before = fake_memory_of(s).refused;
            return o;
        }
    return NULL;
}

bool oracle_after(oracle *o, const reply *r, fake_server *s, text key)
{
    (void)key;
    bool starved = o && fake_memory_of(s).refused > o->refused_before;
    bool compared = o && !starved && o->rule->compare(o, r, s);
    if (o)
        oltr_model_free(o->model);
    free(o);
    return compared;
}
