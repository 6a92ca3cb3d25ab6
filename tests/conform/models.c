/* models.c - models against a slow twin: random sequences of every call of oltr/model.h.
 *
 * The twin is a list of names that is searched from the beginning, with the two sums of each name
 * as plain doubles, its prior and its last lesson; and a list of ids.  A contextual model has as
 * its twin a policy of the same settings that learns the same rows.  What the header says of a call
 * is written here a second time, for these.
 *
 * After every call
 *   - the status is one that the header allows; with any but OLTR_OK, and with an id that was seen
 *     before, the image is what it was, to the byte;
 *   - a second model, which was loaded from an image or copied at some moment and has another room
 *     and another key of its names, answers the same and has the same image;
 *   - names, their order, sums, priors, last lessons, number of lessons and ids are the twin's.
 * From time to time predictions are compared with a policy that is given the twin's sums, lists
 * with those of the policy inside, and a model like this one with what it should believe.
 *
 * The lives are the same in every run.  OLTR_CALLS is the number of calls of all variants together
 * (default 40,000), OLTR_MODEL_LIFE the number of the only life to run, OLTR_MODEL_KIND its kind.
 */
#include "conform/model_fixtures.h"

enum { MOST_TWIN = 64, MOST_SHOWN = 12, MOST_IDS = 256, CALLS_OF_A_LIFE = 120, SLOT_SUMS = 8 };

static variant_list variants;

/* ---- the twin */

typedef struct twin_item {
    uint32_t name; /* of name_at() */
    double pair[2];
    double examined, reward;
    double slot[SLOT_SUMS]; /* pbm-ts: misses in the first slots; pbm-ucb: the sum of kappa */
    uint64_t last;          /* lessons when it was last shown, or added */
} twin_item;

typedef struct subject {
    oltr_model *model, *shadow; /* shadow: the same by way of an image or a copy */
    image now;                  /* of the model */
    uint32_t n, n_ids;
    twin_item item[MOST_TWIN];
    uint64_t lessons;
    uint64_t id[MOST_IDS]; /* remembered, oldest first */
    oltr_policy *dense;    /* of a contextual model, else NULL */
} subject;

typedef struct life {
    const variant *v;
    uint64_t number, calls, next_id;
    dice d;
    oltr_model_settings settings;
    oltr_model_scratch *scratch;
    subject one[2];
    const char *doing;
} life;

static void fault(const life *l, const char *what)
{
    fail_msg("%s: %s (OLTR_MODEL_KIND='%s' OLTR_MODEL_LIFE=%llu, call %llu)", l->doing, what,
             l->v->name, (unsigned long long)l->number, (unsigned long long)l->calls);
}

static void must_be(const life *l, bool holds, const char *what)
{
    if (!holds)
        fault(l, what);
}

static bool contextual(const life *l)
{
    return l->v->info->contextual;
}

static int64_t twin_find(const subject *s, uint32_t name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->item[i].name == name)
            return i;
    return -1;
}

static twin_item *twin_item_of(const life *l, subject *s, uint32_t name)
{
    int64_t at = twin_find(s, name);
    if (at >= 0)
        return &s->item[at];
    must_be(l, s->n < MOST_TWIN, "the twin is too small");
    s->item[s->n] = (twin_item){
        .name = name, .pair = {l->settings.prior[0], l->settings.prior[1]}, .last = s->lessons};
    return &s->item[s->n++];
}

static void twin_remove(subject *s, uint32_t at)
{
    s->item[at] = s->item[--s->n];
}

/* ---- ids: numbers of the test, of which the first have odd names */

enum { NO_ID = 0 };

static oltr_name id_name(uint64_t id, unsigned char room[8])
{
    if (id == NO_ID)
        return no_id;
    if (id <= NAMES)
        return name_at((uint32_t)id - 1);
    set_little(room, 8, id);
    return (oltr_name){room, 8};
}

static bool twin_seen(const subject *s, uint64_t id)
{
    for (uint32_t i = 0; id != NO_ID && i < s->n_ids; i++)
        if (s->id[i] == id)
            return true;
    return false;
}

static void twin_remember(const life *l, subject *s, uint64_t id)
{
    if (id == NO_ID || l->settings.window == 0)
        return;
    if (s->n_ids == l->settings.window)
        memmove(s->id, s->id + 1, --s->n_ids * sizeof *s->id);
    must_be(l, s->n_ids < MOST_IDS, "the twin remembers too few ids");
    s->id[s->n_ids++] = id;
}

/* None, a new one, or one of those that were used lately. */
static uint64_t draw_id(life *l)
{
    uint64_t back = 1 + below(&l->d, 12);
    if (one_in(&l->d, 3))
        return NO_ID;
    return one_in(&l->d, 3) && back < l->next_id ? l->next_id - back : l->next_id++;
}

/* ---- calls */

typedef enum what { LEARN, PRIOR, REMOVE, RESET, TRIM, FORGET, MERGE, CALLS } what;

static const char *const what_names[CALLS] = {"learn", "prior",  "remove", "reset",
                                              "trim",  "forget", "merge"};

typedef uint64_t statuses; /* one bit each */

static statuses only(oltr_status s)
{
    return (statuses)1 << s;
}

typedef struct call {
    what op;
    uint32_t n, which[MOST_TWIN]; /* names of the twin */
    oltr_name name[MOST_TWIN];
    bool masked, weighted;
    double reward[MOST_TWIN], weight[MOST_TWIN], pair[MOST_TWIN][2];
    uint8_t examined[MOST_TWIN];
    float x[MOST_TWIN * STRIDE];
    uint32_t examine, depth, stride;
    uint64_t idle, id;
    double keep;
    const subject *from;
    statuses fault; /* what a single fault in it may be answered with; 0: there is none */
    enum { SOUND, BAD_ID, NO_REWARD, NO_MASK, RESERVED_SET, NO_NAMES, WRONG_LIST, NO_SLOTS } broken;
} call;

typedef struct outcome {
    oltr_status status;
    int applied;
    uint32_t count;
    oltr_error error;
} outcome;

static oltr_list list_in(const life *l, const call *c)
{
    oltr_list list = {.n = c->n, .name = c->name};
    if (contextual(l) != (c->broken == WRONG_LIST))
        list = (oltr_list){.n = c->n, .stride = c->stride, .x = c->x};
    if (c->broken == NO_NAMES)
        list = (oltr_list){.n = c->n};
    if (c->broken == NO_SLOTS)
        list.n = 0;
    return list;
}

static oltr_lesson lesson_in(const life *l, const call *c, oltr_name id)
{
    oltr_lesson lesson = {.shown = list_in(l, c),
                          .reward = c->broken == NO_REWARD ? NULL : c->reward,
                          .examined = c->masked && c->broken != NO_MASK ? c->examined : NULL,
                          .weight = c->weighted ? c->weight : NULL,
                          .examine = c->examine,
                          .depth = c->depth,
                          .id = id};
    if (c->broken == RESERVED_SET)
        lesson.reserved[1] = c;
    return lesson;
}

static outcome apply(const life *l, oltr_model *m, const oltr_model *from, const call *c)
{
    unsigned char room[8];
    outcome o = {.applied = -1, .count = UINT32_MAX, .error = {OLTR_OK, ""}};
    oltr_name id = c->broken == BAD_ID ? bad_name(1) : id_name(c->id, room);
    oltr_lesson lesson = lesson_in(l, c, id);
    switch (c->op) {
    case LEARN:
        o.status = oltr_model_learn(m, &lesson, &o.applied, &o.error);
        break;
    case PRIOR:
        o.status = oltr_model_prior(m, c->name, c->pair[0], c->n, &o.error);
        break;
    case REMOVE:
        o.status = oltr_model_remove(m, c->name, c->n, &o.count, &o.error);
        break;
    case RESET:
        o.status = oltr_model_reset(m, c->name, c->n, &o.count, &o.error);
        break;
    case TRIM:
        o.status = oltr_model_trim(m, c->idle, &o.count, &o.error);
        break;
    case FORGET:
        o.status = oltr_model_forget(m, c->keep, id, &o.applied, &o.error);
        break;
    default:
        o.status = oltr_model_merge(m, from, id, &o.applied, &o.error);
    }
    return o;
}

/* ---- drawing a call */

static void put_name(call *c, uint32_t i, uint32_t which)
{
    c->which[i] = which;
    c->name[i] = name_at(which);
}

/* Some distinct names; mostly of those that are known, so that items get several lessons. */
static void draw_names(life *l, const subject *s, call *c)
{
    uint32_t order[NAMES], most = one_in(&l->d, 6) ? MOST_SHOWN : 4;
    for (uint32_t i = 0; i < NAMES; i++)
        order[i] = i;
    shuffle(&l->d, order, NAMES);
    c->n = 0;
    for (uint32_t i = 0, wanted = 1 + below(&l->d, most); i < NAMES && c->n < wanted; i++)
        if (twin_find(s, order[i]) >= 0 || one_in(&l->d, 4))
            put_name(c, c->n++, order[i]);
    if (c->n == 0)
        put_name(c, c->n++, order[0]);
}

static void draw_rows(life *l, call *c)
{
    c->n = 1 + below(&l->d, CANDIDATES);
    c->stride = one_in(&l->d, 2) ? STRIDE : 0;
    uint32_t stride = c->stride ? c->stride : DIM;
    for (uint32_t i = 0; i < c->n; i++) {
        for (uint32_t j = DIM; j < stride; j++)
            c->x[i * stride + j] = (float)NAN; /* between the rows */
        memcpy(c->x + i * stride, pool_row(below(&l->d, POOL)), DIM * sizeof *c->x);
    }
}

/* The slots that were looked at, by the words of the header. */
static void examined_slots(const life *l, const call *c, bool seen[MOST_TWIN])
{
    uint32_t rule = c->examine == OLTR_EXAMINE_RULE ? l->settings.examine : c->examine;
    uint32_t first = c->n, last = c->n;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->reward[i] > 0) {
            first = first == c->n ? i : first;
            last = i;
        }
    for (uint32_t i = 0; i < c->n; i++)
        switch (rule) {
        case OLTR_EXAMINE_CASCADE:
            seen[i] = i <= first;
            break;
        case OLTR_EXAMINE_LAST:
            seen[i] = first == c->n || i <= last;
            break;
        case OLTR_EXAMINE_DEPTH:
            seen[i] = i < c->depth;
            break;
        case OLTR_EXAMINE_MASK:
            seen[i] = c->examined[i];
            break;
        default:
            seen[i] = true;
        }
}

/* No click is in a slot that a depth or a mask leaves out. */
static void draw_seen(life *l, call *c)
{
    bool seen[MOST_TWIN];
    c->examine = below(&l->d, OLTR_EXAMINE_MASK + 1);
    c->depth = c->examine == OLTR_EXAMINE_DEPTH ? below(&l->d, c->n + 1) : below(&l->d, 3);
    c->masked = c->examine == OLTR_EXAMINE_MASK;
    c->weighted = l->v->info->takes_weights && one_in(&l->d, 4);
    for (uint32_t i = 0; i < c->n; i++) {
        c->reward[i] = draw_reward(&l->d, l->v->info->rewards, 0.3);
        c->weight[i] = (double)(1 + below(&l->d, 64)) / 8;
        c->examined[i] = (uint8_t)below(&l->d, 2);
    }
    if (c->examine < OLTR_EXAMINE_DEPTH)
        return;
    examined_slots(l, c, seen);
    for (uint32_t i = 0; i < c->n; i++)
        if (!seen[i])
            c->reward[i] = 0;
}

/* ---- faults, one in a call */

/* A slot that was examined, or n. */
static uint32_t an_examined_slot(life *l, const call *c)
{
    bool seen[MOST_TWIN];
    examined_slots(l, c, seen);
    for (uint32_t i = 0, at = below(&l->d, c->n); i < c->n; i++)
        if (seen[(at + i) % c->n])
            return (at + i) % c->n;
    return c->n;
}

static void spoil_reward(life *l, call *c)
{
    static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e31, -1e31};
    uint32_t slot = an_examined_slot(l, c);
    if (slot == c->n)
        return;
    bool clicks = l->v->info->rewards == OLTR_CLICKS && one_in(&l->d, 2);
    double value = bad[below(&l->d, COUNT(bad))];
    if (c->examine < OLTR_EXAMINE_DEPTH) /* the rule must still end in this slot */
        for (uint32_t i = 0; i < c->n; i++)
            c->reward[i] = 0;
    c->reward[slot] = clicks ? 0.5 : value;
    c->fault = only(OLTR_EREWARD);
}

static void spoil_weight(life *l, call *c)
{
    static const double bad[] = {0, -1, (double)NAN, (double)INFINITY, 1.5e6};
    uint32_t slot = an_examined_slot(l, c);
    if (slot == c->n)
        return;
    c->weighted = true;
    if (!l->v->info->takes_weights) {
        c->fault = only(OLTR_EUNSUPPORTED);
        return;
    }
    c->weight[slot] = bad[below(&l->d, COUNT(bad))];
    c->fault = only(OLTR_EREWARD);
}

static void spoil_examined(life *l, call *c)
{
    c->fault = only(OLTR_EEXAMINED);
    c->masked = false;
    c->broken = SOUND;
    switch (below(&l->d, 4)) {
    case 0:
        c->examine = OLTR_EXAMINE_DEPTH;
        c->depth = c->n + 1 + below(&l->d, 3);
        break;
    case 1: /* a click behind the depth */
        c->examine = OLTR_EXAMINE_DEPTH;
        c->depth = below(&l->d, c->n);
        c->reward[c->depth + below(&l->d, c->n - c->depth)] = 1;
        break;
    case 2:
    case 3: /* a click beside the mask, or something else than 0 and 1 in it */
        c->examine = OLTR_EXAMINE_MASK;
        c->masked = true;
        memset(c->examined, 1, c->n);
        uint32_t slot = below(&l->d, c->n);
        c->examined[slot] = one_in(&l->d, 2) ? 2 : 0;
        c->reward[slot] = 1;
        break;
    default:
        break;
    }
}

/* Twice the same, too short, too long, or none at all. */
static void spoil_names(life *l, call *c)
{
    uint32_t at = below(&l->d, c->n);
    c->fault = only(OLTR_ENAME);
    if (c->n >= 2 && one_in(&l->d, 2)) {
        c->name[at] = c->name[(at + 1) % c->n];
        c->which[at] = c->which[(at + 1) % c->n];
    } else {
        c->name[at] = bad_name(below(&l->d, 2));
    }
    if (c->op == REMOVE || c->op == RESET) /* unknown names are no error there */
        c->fault |= only(OLTR_OK);
}

static void spoil_form(life *l, call *c)
{
    switch (below(&l->d, 6)) {
    case 0:
        c->broken = NO_REWARD;
        c->fault = only(OLTR_EINVAL);
        break;
    case 1:
        c->broken = NO_MASK;
        c->examine = OLTR_EXAMINE_MASK;
        c->fault = only(OLTR_EINVAL) | only(OLTR_EEXAMINED);
        break;
    case 2:
        c->broken = RESERVED_SET;
        c->fault = only(OLTR_EINVAL);
        break;
    case 3:
        c->examine = OLTR_EXAMINE_MASK + 1 + below(&l->d, 3);
        c->fault = only(OLTR_EINVAL) | only(OLTR_EEXAMINED);
        break;
    case 4:
        c->broken = WRONG_LIST;
        memset(c->x, 0, sizeof c->x);
        for (uint32_t i = 0; i < c->n; i++)
            put_name(c, i, i);
        c->fault = only(OLTR_EINVAL) | only(OLTR_EUNSUPPORTED) | only(OLTR_EFEATURE);
        break;
    default:
        c->broken = one_in(&l->d, 2) ? NO_NAMES : NO_SLOTS;
        c->fault = only(OLTR_EINVAL) | only(OLTR_ESLOTS) | only(OLTR_EFEATURE);
    }
}

static void spoil_lesson(life *l, call *c)
{
    switch (below(&l->d, contextual(l) ? 5 : 6)) {
    case 0:
        spoil_reward(l, c);
        break;
    case 1:
        spoil_weight(l, c);
        break;
    case 2:
        spoil_examined(l, c);
        break;
    case 3:
        spoil_form(l, c);
        break;
    case 4:
        c->broken = BAD_ID;
        c->fault = only(OLTR_ENAME);
        break;
    default:
        spoil_names(l, c);
    }
}

static void draw_lesson(life *l, const subject *s, call *c)
{
    c->op = LEARN;
    c->id = draw_id(l);
    if (contextual(l))
        draw_rows(l, c);
    else
        draw_names(l, s, c);
    draw_seen(l, c);
    if (one_in(&l->d, 6))
        spoil_lesson(l, c);
}

static void draw_prior_call(life *l, const subject *s, call *c)
{
    static const double bad[][2] = {{(double)NAN, 1}, {(double)INFINITY, 1}, {0.5, -1}, {0.5, 0}};
    draw_names(l, s, c);
    c->op = PRIOR;
    for (uint32_t i = 0; i < c->n; i++)
        draw_pair(&l->d, l->v, c->pair[i]);
    if (one_in(&l->d, 4)) {
        memcpy(c->pair[below(&l->d, c->n)], bad[below(&l->d, COUNT(bad))], sizeof bad[0]);
        c->fault = only(OLTR_EPRIOR);
    } else if (one_in(&l->d, 8)) {
        spoil_names(l, c);
    }
}

static void draw_fading(life *l, call *c)
{
    static const double keep[] = {0, 0.25, 0.5, 0.9, 1}, bad[] = {-0.1, 1.5, (double)NAN};
    c->op = FORGET;
    c->id = draw_id(l);
    c->keep = keep[below(&l->d, COUNT(keep))];
    if (one_in(&l->d, 8)) {
        c->keep = bad[below(&l->d, COUNT(bad))];
        c->fault = only(OLTR_EINVAL) | only(OLTR_EVALUE);
    } else if (one_in(&l->d, 10)) {
        c->broken = BAD_ID;
        c->fault = only(OLTR_ENAME);
    }
}

static void draw_call(life *l, const subject *s, const subject *other, call *c)
{
    uint32_t choice = below(&l->d, 40);
    *c = (call){.op = LEARN};
    if (choice < 24) {
        draw_lesson(l, s, c);
    } else if (choice < 28) {
        draw_prior_call(l, s, c);
    } else if (choice < 34) {
        draw_names(l, s, c);
        c->op = choice < 32 ? REMOVE : RESET;
        if (one_in(&l->d, 8))
            spoil_names(l, c);
    } else if (choice < 35) {
        c->op = TRIM;
        c->idle = one_in(&l->d, 6) ? below(&l->d, 2) * UINT64_MAX : 3 + below(&l->d, 40);
        c->fault = c->idle ? 0 : only(OLTR_EVALUE);
    } else if (choice < 38) {
        draw_fading(l, c);
    } else {
        c->op = MERGE;
        c->id = draw_id(l);
        c->from = other;
    }
}

/* ---- what a call should do */

static bool has_id(const call *c)
{
    return c->op == LEARN || c->op == FORGET || c->op == MERGE;
}

static uint32_t unknown_names(const subject *s, const call *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        n += twin_find(s, c->which[i]) < 0;
    return n;
}

static statuses refusal_of_merge(const life *l, const subject *s, const subject *from)
{
    uint32_t more = 0;
    if (!l->v->info->can_merge)
        return only(OLTR_EUNSUPPORTED);
    for (uint32_t i = 0; i < from->n; i++)
        more += twin_find(s, from->item[i].name) < 0;
    return s->n + more > l->settings.most_items ? only(OLTR_EFULL) : 0;
}

/* What this model must refuse although the call is in order; 0: nothing. */
static statuses refusal(const life *l, const subject *s, const call *c)
{
    switch (c->op) {
    case LEARN:
        return !contextual(l) && s->n + unknown_names(s, c) > l->settings.most_items
                   ? only(OLTR_EFULL)
                   : 0;
    case PRIOR:
        if (contextual(l))
            return only(OLTR_EUNSUPPORTED);
        if (isnan(l->settings.prior[0]))
            return only(OLTR_EPRIOR) | only(OLTR_EUNSUPPORTED);
        return s->n + unknown_names(s, c) > l->settings.most_items ? only(OLTR_EFULL) : 0;
    case FORGET:
        return l->v->info->can_forget ? 0 : only(OLTR_EUNSUPPORTED);
    case MERGE:
        return refusal_of_merge(l, s, c->from);
    default:
        return contextual(l) ? only(OLTR_EUNSUPPORTED) : 0;
    }
}

/* How many of the numbers in twin_item.slot the kind has. */
static uint32_t slot_sums(const variant *v)
{
    return is_kind(v, "pbm-ts") ? SLOT_SUMS : is_kind(v, "pbm-ucb") ? 1 : 0;
}

/* Slot l is examined with chance 1/l, rounded.  A miss behind the eighth slot counts as 8/l of one
 * in it, rounded. */
static void count_slot(const variant *v, twin_item *item, uint32_t slot, double reward,
                       double weight)
{
    double kappa = rint(0x1p20 / (slot + 1.0)) / 0x1p20, last = rint(0x1p20 / SLOT_SUMS) / 0x1p20;
    if (is_kind(v, "pbm-ucb"))
        item->slot[0] += weight * kappa;
    else if (slot < SLOT_SUMS)
        item->slot[slot] += reward > 0 ? 0 : weight;
    else
        item->slot[SLOT_SUMS - 1] += reward > 0 ? 0 : weight * (rint(kappa / last * 1024) / 1024);
}

static void do_learn(life *l, subject *s, const call *c)
{
    bool seen[MOST_TWIN];
    s->lessons++;
    examined_slots(l, c, seen);
    for (uint32_t i = 0; i < c->n; i++) {
        twin_item *item = twin_item_of(l, s, c->which[i]);
        double weight = c->weighted ? c->weight[i] : 1;
        item->last = s->lessons;
        item->examined += seen[i] ? weight : 0;
        item->reward += seen[i] ? weight * c->reward[i] : 0;
        if (seen[i] && slot_sums(l->v))
            count_slot(l->v, item, i, c->reward[i], weight);
    }
}

/* The same rows to the twin of a contextual model. */
static void do_learn_rows(life *l, subject *s, const call *c)
{
    bool seen[MOST_TWIN];
    uint8_t mask[MOST_TWIN];
    uint32_t item[MOST_TWIN];
    s->lessons++;
    examined_slots(l, c, seen);
    for (uint32_t i = 0; i < c->n; i++) {
        mask[i] = seen[i];
        item[i] = i;
    }
    oltr_query query = {.n_items = c->n, .dim = DIM, .stride = c->stride, .x = c->x};
    oltr_ranking shown = {c->n, item, NULL};
    oltr_feedback feedback = {c->n, c->reward, mask, c->weighted ? c->weight : NULL};
    must_be(l, oltr_learn(s->dense, &query, &shown, &feedback) == OLTR_OK, "the twin learns");
}

static void do_prior(life *l, subject *s, const call *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        memcpy(twin_item_of(l, s, c->which[i])->pair, c->pair[i], sizeof c->pair[i]);
}

static void do_items(life *l, subject *s, const call *c, uint32_t count)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t at = c->name[i].size && c->name[i].size <= OLTR_LONGEST_NAME
                         ? twin_find(s, c->which[i])
                         : -1;
        if (at < 0)
            continue;
        bool again = false; /* an item that the list names twice */
        for (uint32_t j = 0; j < i; j++)
            again |= c->which[j] == c->which[i];
        known += !again;
        if (c->op == REMOVE)
            twin_remove(s, (uint32_t)at);
        else {
            s->item[at].examined = s->item[at].reward = 0;
            memset(s->item[at].slot, 0, sizeof s->item[at].slot);
        }
    }
    must_be(l, count == known || (c->op == RESET && c->fault && count >= known),
            "another number of items");
}

/* Brings the twin's items into the order of the model; the sets must be equal. */
static void adopt_order(life *l, subject *s)
{
    twin_item was[MOST_TWIN];
    uint32_t n = oltr_model_items(s->model);
    memcpy(was, s->item, sizeof was);
    must_be(l, n == s->n, "another number of items than the twin has");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = 0;
        while (j < n && !same_name(name_at(was[j].name), oltr_model_name(s->model, i)))
            j++;
        must_be(l, j < n, "an item that the twin does not have");
        s->item[i] = was[j];
    }
}

static void do_trim(life *l, subject *s, const call *c, uint32_t count)
{
    uint32_t before = s->n;
    for (uint32_t i = s->n; i-- > 0;)
        if (c->idle <= s->lessons && s->item[i].last <= s->lessons - c->idle)
            twin_remove(s, i);
    must_be(l, count == before - s->n, "another number of removed items");
    adopt_order(l, s);
}

static void do_forget(life *l, subject *s, const call *c)
{
    for (uint32_t i = 0; i < s->n; i++) {
        s->item[i].examined *= c->keep;
        s->item[i].reward *= c->keep;
        for (uint32_t j = 0; j < SLOT_SUMS; j++)
            s->item[i].slot[j] *= c->keep;
    }
    if (s->dense)
        must_be(l, oltr_forget(s->dense, c->keep) == OLTR_OK, "the twin forgets");
}

/* An item has been idle for as many lessons as in the one of the two that showed it last. */
static void do_merge(life *l, subject *s, const subject *from)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->item[i].last += from->lessons;
    s->lessons += from->lessons;
    for (uint32_t i = 0; i < from->n; i++) {
        const twin_item *theirs = &from->item[i];
        uint64_t last = s->lessons - (from->lessons - theirs->last);
        bool known = twin_find(s, theirs->name) >= 0;
        twin_item *item = twin_item_of(l, s, theirs->name);
        item->examined += theirs->examined;
        item->reward += theirs->reward;
        for (uint32_t j = 0; j < SLOT_SUMS; j++)
            item->slot[j] += theirs->slot[j];
        item->last = !known || last > item->last ? last : item->last;
        if (!known)
            memcpy(item->pair, theirs->pair, sizeof item->pair);
    }
    if (s->dense)
        must_be(l, oltr_merge(s->dense, from->dense) == OLTR_OK, "the twin merges");
    adopt_order(l, s);
}

static void do_call(life *l, subject *s, const call *c, const outcome *o)
{
    switch (c->op) {
    case LEARN:
        if (contextual(l))
            do_learn_rows(l, s, c);
        else
            do_learn(l, s, c);
        break;
    case PRIOR:
        do_prior(l, s, c);
        break;
    case TRIM:
        do_trim(l, s, c, o->count);
        break;
    case FORGET:
        do_forget(l, s, c);
        break;
    case MERGE:
        do_merge(l, s, c->from);
        break;
    default:
        do_items(l, s, c, o->count);
    }
    if (has_id(c))
        twin_remember(l, s, c->id);
}

/* ---- comparing */

static void check_status(life *l, const subject *s, const call *c, const outcome *o)
{
    statuses allowed = c->fault | refusal(l, s, c);
    char text[400];
    if (allowed == 0 || (c->fault == 0 && has_id(c) && twin_seen(s, c->id)))
        allowed |= only(OLTR_OK);
    if (has_id(c) && c->broken != BAD_ID && twin_seen(s, c->id))
        allowed |= only(OLTR_OK); /* whether the id or the fault is found first is left open */
    snprintf(text, sizeof text, "%s (%s)", oltr_status_name(o->status), o->error.msg);
    must_be(l, allowed >> o->status & 1, text);
    if (o->status != OLTR_OK)
        must_be(l, o->error.code == o->status && strlen(o->error.msg) > 10,
                "a refusal without its sentence");
}

/* The shadow answers the same. */
static void check_shadow(life *l, subject *s, const call *c, const outcome *o)
{
    outcome other = apply(l, s->shadow, c->from ? c->from->shadow : NULL, c);
    must_be(l,
            other.status == o->status && other.applied == o->applied && other.count == o->count &&
                strcmp(other.error.msg, o->error.msg) == 0,
            "a copy of the model answers otherwise");
    image x = model_image(s->shadow);
    must_be(l, equal_images(&x, &s->now), "a copy of the model has another image after it");
    free(x.byte);
}

static void compare_item(life *l, subject *s, const twin_item *item)
{
    oltr_explained e = explain_one(s->model, name_at(item->name));
    bool sums = l->v->info->can_predict; /* kinds that do not learn have none */
    must_be(l, e.known == 1 && e.last == item->last, "another last lesson, or unknown");
    must_be(l, !sums || same_number(e.examined, item->examined), "other observations");
    must_be(l, !sums || same_number(e.reward, item->reward), "another sum of rewards");
}

static void compare_items(life *l, subject *s)
{
    must_be(l, oltr_model_items(s->model) == s->n, "another number of items");
    for (uint32_t i = 0; i < s->n; i++) {
        oltr_name name = name_at(s->item[i].name);
        must_be(l, same_name(oltr_model_name(s->model, i), name), "items in another order");
        must_be(l, oltr_model_find(s->model, name) == i, "an item is not found");
        compare_item(l, s, &s->item[i]);
    }
    must_be(l, oltr_model_name(s->model, s->n).size == 0, "a name behind the last");
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t name = below(&l->d, NAMES);
        must_be(l, oltr_model_find(s->model, name_at(name)) == twin_find(s, name),
                "another place of a name");
    }
}

static void compare_ids(life *l, subject *s)
{
    unsigned char room[8];
    for (uint32_t i = 0; i < 6; i++) {
        uint64_t back = below(&l->d, 2 * l->settings.window + 8);
        uint64_t id = back < l->next_id ? l->next_id - back : 1;
        must_be(l, oltr_model_seen(s->model, id_name(id, room)) == twin_seen(s, id),
                "an id is remembered, or is not");
    }
    for (uint32_t i = 0; i < s->n_ids; i++)
        must_be(l, oltr_model_seen(s->model, id_name(s->id[i], room)) == 1, "an id is forgotten");
}

static void compare(life *l, subject *s)
{
    must_be(l, oltr_model_lessons(s->model) == s->lessons, "another number of lessons");
    compare_items(l, s);
    compare_ids(l, s);
    if (s->dense && !same_state(s->dense, oltr_model_policy(s->model)))
        fault(l, "the policy inside has learned something else");
}

static void replace_image(subject *s)
{
    free(s->now.byte);
    s->now = model_image(s->model);
}

/* One call to the model, its twin and its shadow. */
static void make_call(life *l, subject *s, subject *other)
{
    static call c;
    draw_call(l, s, other, &c);
    l->calls++;
    l->doing = what_names[c.op];
    bool seen = has_id(&c) && c.broken != BAD_ID && twin_seen(s, c.id);
    image before = copy_image(&s->now);
    outcome o = apply(l, s->model, c.from ? c.from->model : NULL, &c);
    check_status(l, s, &c, &o);
    replace_image(s);
    bool same = equal_images(&before, &s->now);
    free(before.byte);
    if (o.status != OLTR_OK || seen)
        must_be(l, same, "the image has changed, and must not");
    if (o.status == OLTR_OK && has_id(&c))
        must_be(l, o.applied == !seen, "applied is wrong");
    if (o.status == OLTR_OK && !seen)
        do_call(l, s, &c, &o);
    check_shadow(l, s, &c, &o);
    compare(l, s);
}

/* ---- predictions */

/* A policy of these items alone, with the sums of the twin. */
static oltr_policy *policy_with_sums(const life *l, const twin_item *item, uint32_t n)
{
    double first[2 * MOST_TWIN], second[2 * MOST_TWIN];
    oltr_settings settings = l->settings.policy;
    settings.n_items = n;
    for (uint32_t i = 0; i < n; i++) {
        first[i] = item[i].pair[0];
        second[i] = item[i].pair[1];
    }
    if (takes_prior(l->v))
        settings.prior = l->v->info->takes_moments ? (oltr_prior){.mean = first, .sd = second}
                                                   : (oltr_prior){.a = first, .b = second};
    oltr_policy *p = policy_from(&settings);
    for (uint32_t i = 0; i < n; i++) {
        double number[OLTR_MAX_ITEM_NUMBERS] = {item[i].examined, item[i].reward, first[i],
                                                second[i]};
        uint32_t sums = l->v->info->can_predict ? 2 : 0, priors = takes_prior(l->v) ? 2 : 0;
        if (slot_sums(l->v))
            memcpy(number + 2, item[i].slot, sizeof item[i].slot);
        expect(oltr_item_put(p, i, number + 2 - sums, sums + priors + slot_sums(l->v), NULL),
               OLTR_OK);
    }
    return p;
}

/* All items and three names more, in random order. */
static uint32_t draw_mixed(life *l, const subject *s, twin_item *item, oltr_name *name)
{
    uint32_t n = 0, order[MOST_TWIN + NAMES], all = 0;
    twin_item mixed[MOST_TWIN + NAMES];
    memcpy(mixed, s->item, s->n * sizeof *mixed);
    all = s->n;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t which = i * 16 + below(&l->d, 16);
        if (twin_find(s, which) < 0)
            mixed[all++] =
                (twin_item){.name = which, .pair = {l->settings.prior[0], l->settings.prior[1]}};
    }
    for (uint32_t i = 0; i < all; i++)
        order[i] = i;
    shuffle(&l->d, order, all);
    for (; n < all; n++) {
        item[n] = mixed[order[n]];
        name[n] = name_at(item[n].name);
    }
    return n;
}

/* ts-hyper keeps a posterior that all items share.  It is a function of all sums, up to rounding;
 * with a told prior also of the mean of all told priors, which the twin does not know. */
static double prediction_tolerance(const life *l)
{
    if (!is_kind(l->v, "ts-hyper"))
        return 0;
    return takes_prior(l->v) ? (double)INFINITY : 1e-9;
}

static void compare_beliefs(life *l, subject *s)
{
    twin_item item[MOST_TWIN + 3];
    oltr_name name[MOST_TWIN + 3];
    double mean[2][MOST_TWIN + 3], sd[2][MOST_TWIN + 3], tolerance = prediction_tolerance(l);
    uint32_t n = draw_mixed(l, s, item, name);
    oltr_list list = list_of(name, n);
    if (n == 0)
        return;
    oltr_status status = oltr_model_predict(s->model, &list, mean[0], sd[0], NULL);
    must_be(l, status == (l->v->info->can_predict ? OLTR_OK : OLTR_EUNSUPPORTED),
            oltr_status_name(status));
    if (status != OLTR_OK)
        return;
    oltr_policy *p = policy_with_sums(l, item, n);
    expect(oltr_predict(p, NULL, mean[1], sd[1]), OLTR_OK);
    oltr_policy_free(p);
    for (uint32_t i = 0; i < n; i++) {
        must_be(l, isfinite(mean[0][i]) && isfinite(sd[0][i]), "a belief that is no number");
        must_be(l, fabs(mean[0][i] - mean[1][i]) <= tolerance, "another mean");
        must_be(l, fabs(sd[0][i] - sd[1][i]) <= tolerance, "another standard deviation");
        oltr_explained e = explain_one(s->model, name[i]);
        must_be(l, same_number(e.mean, mean[0][i]) && same_number(e.sd, sd[0][i]),
                "explained is something else than predicted");
        must_be(l, e.known == (twin_find(s, item[i].name) >= 0), "known, or not");
    }
}

/* The share of the prior, and what was believed before, by the definition of the kind; NAN where
 * that is another question. */
static void expect_prior_share(life *l, const oltr_explained *e, const twin_item *item)
{
    bool gauss = is_kind(l->v, "gts") && !chosen(l->v, "sampler", "released");
    bool beta = is_kind(l->v, "ts-beta") || is_kind(l->v, "bayes-ucb");
    if (!gauss && !beta)
        return;
    double m = e->prior_mean, v = e->prior_sd * e->prior_sd, weight = m * (1 - m) / v - 1;
    double share = gauss ? e->sd * e->sd / v : weight / (weight + item->examined);
    must_be(l, fabs(e->prior_share - share) <= 1e-9, "another share of the prior");
    must_be(l, item->examined > 0 || (near(e->mean, m, 1e-12) && near(e->sd, e->prior_sd, 1e-12)),
            "before the first observation the belief is the prior");
}

static void compare_explanations(life *l, subject *s)
{
    twin_item item[MOST_TWIN + 3], fresh;
    oltr_name name[MOST_TWIN + 3];
    uint32_t n = draw_mixed(l, s, item, name);
    for (uint32_t i = 0; i < n && l->v->info->can_predict; i++) {
        oltr_explained e = explain_one(s->model, name[i]);
        double mean, sd;
        expect_prior_share(l, &e, &item[i]);
        must_be(l, isnan(e.prior_share) || (e.prior_share >= 0 && e.prior_share <= 1),
                "a share that is none");
        must_be(l, same_number(e.examined, item[i].examined), "other observations");
        if (!l->v->info->uses_prior || !l->v->info->order_free)
            continue;
        fresh = item[i];
        fresh.examined = fresh.reward = 0;
        oltr_policy *p = policy_with_sums(l, &fresh, 1);
        expect(oltr_predict(p, NULL, &mean, &sd), OLTR_OK);
        oltr_policy_free(p);
        must_be(l, near(e.prior_mean, mean, 1e-12) && near(e.prior_sd, sd, 1e-12), "another prior");
    }
}

/* ---- lists */

typedef struct shown_list {
    uint32_t k, place[MOST_TWIN + 3];
    double score[MOST_TWIN + 3];
} shown_list;

static oltr_status rank_list(life *l, const oltr_model *m, const oltr_list *list, uint32_t k,
                             bool greedy, oltr_rng rng, shown_list *out)
{
    oltr_show show = {.k = k, .greedy = greedy, .place = out->place, .score = out->score};
    oltr_status status = oltr_model_rank(m, list, rng, l->scratch, &show, NULL);
    out->k = show.k;
    return status;
}

static void check_list(life *l, const shown_list *x, uint32_t n, uint32_t k)
{
    bool shown[MOST_TWIN + 3] = {false};
    must_be(l, x->k == (k < n ? k : n), "another length of the list");
    for (uint32_t i = 0; i < x->k; i++) {
        must_be(l, x->place[i] < n && !shown[x->place[i]], "a place that is none, or twice");
        must_be(l, !isnan(x->score[i]) && (i == 0 || x->score[i] <= x->score[i - 1]),
                "scores that do not fall");
        shown[x->place[i]] = true;
    }
}

static bool same_lists(const shown_list *x, const shown_list *y)
{
    return x->k == y->k && memcmp(x->place, y->place, x->k * sizeof *x->place) == 0 &&
           memcmp(x->score, y->score, x->k * sizeof *x->score) == 0;
}

/* Known names only: the list of the policy inside. */
static void compare_with_policy(life *l, subject *s, oltr_rng rng)
{
    shown_list x, y = {.k = 0};
    oltr_name name[MOST_TWIN];
    uint32_t order[MOST_TWIN], n = 1 + below(&l->d, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        order[i] = i;
    shuffle(&l->d, order, s->n);
    for (uint32_t i = 0; i < n; i++)
        name[i] = name_at(s->item[order[i]].name);
    oltr_list list = list_of(name, n);
    must_be(l, rank_list(l, s->model, &list, n, false, rng, &x) == OLTR_OK, "no list");
    oltr_query query = {.n_items = n, .item = order};
    oltr_scratch *scratch = oltr_scratch_new(oltr_model_policy(s->model));
    oltr_ranking ranking = {n, y.place, y.score};
    expect(oltr_rank(oltr_model_policy(s->model), &query, rng, scratch, &ranking), OLTR_OK);
    oltr_scratch_free(scratch);
    y.k = n;
    for (uint32_t i = 0; i < n; i++)
        x.place[i] = order[x.place[i]];
    must_be(l, same_lists(&x, &y), "another list than that of the policy inside");
}

static void compare_lists(life *l, subject *s)
{
    twin_item item[MOST_TWIN + 3];
    oltr_name name[MOST_TWIN + 3];
    uint32_t n = draw_mixed(l, s, item, name), k = 1 + below(&l->d, n + 2);
    oltr_list lists[] = {list_of(name, n), {0}};
    oltr_rng rng = oltr_rng_make(l->number, l->calls);
    for (uint32_t all = 0; all < 2; all++)
        for (int greedy = 0; greedy < 2; greedy++) {
            shown_list x, y;
            if ((all ? s->n : n) == 0)
                continue;
            oltr_status status = rank_list(l, s->model, &lists[all], k, greedy, rng, &x);
            must_be(l, status == (greedy && !l->v->info->can_predict ? OLTR_EUNSUPPORTED : OLTR_OK),
                    oltr_status_name(status));
            if (status != OLTR_OK)
                continue;
            check_list(l, &x, all ? s->n : n, k);
            must_be(l, oltr_model_unknown(l->scratch) == (all ? 0 : n - s->n),
                    "another number of unknown names");
            must_be(l, rank_list(l, s->shadow, &lists[all], k, greedy, rng, &y) == OLTR_OK,
                    "a copy of the model has no list");
            must_be(l, same_lists(&x, &y), "a copy of the model shows another list");
        }
    if (s->n > 0)
        compare_with_policy(l, s, rng);
}

static void compare_rows(life *l, subject *s)
{
    static call c;
    shown_list x, y = {.k = 0};
    double mean[2][MOST_TWIN], sd[2][MOST_TWIN];
    c = (call){.op = LEARN};
    draw_rows(l, &c);
    oltr_list list = list_in(l, &c);
    oltr_query query = {.n_items = c.n, .dim = DIM, .stride = c.stride, .x = c.x};
    oltr_rng rng = oltr_rng_make(l->number, l->calls);
    oltr_scratch *scratch = oltr_scratch_new(s->dense);
    oltr_ranking ranking = {c.n, y.place, y.score};
    expect(oltr_rank(s->dense, &query, rng, scratch, &ranking), OLTR_OK);
    oltr_scratch_free(scratch);
    y.k = c.n;
    must_be(l, rank_list(l, s->model, &list, c.n + 1, false, rng, &x) == OLTR_OK, "no list");
    must_be(l, same_lists(&x, &y), "another list than that of the twin");
    oltr_status status = oltr_model_predict(s->model, &list, mean[0], sd[0], NULL);
    must_be(l, status == oltr_predict(s->dense, &query, mean[1], sd[1]), oltr_status_name(status));
    if (status != OLTR_OK)
        return;
    must_be(l,
            memcmp(mean[0], mean[1], c.n * sizeof **mean) == 0 &&
                memcmp(sd[0], sd[1], c.n * sizeof **sd) == 0,
            "another prediction than that of the twin");
    must_be(l, rank_list(l, s->model, &list, c.n, true, rng, &x) == OLTR_OK, "no greedy list");
    for (uint32_t i = 0; i < x.k; i++)
        must_be(l, same_number(x.score[i], mean[0][x.place[i]]), "a greedy score is the mean");
}

/* ---- models like this one, copies and images */

/* The same mean; `strength` times the precision of a Gaussian, or the a + b of a Beta. */
static void compare_child_item(life *l, const oltr_model *child, const subject *s,
                               const twin_item *item, double strength)
{
    oltr_explained e = explain_one(child, name_at(item->name)),
                   was = explain_one(s->model, name_at(item->name));
    must_be(l, e.known == 1 && e.last == 0, "a new model has its items and no lessons");
    if (!l->v->info->can_predict)
        return;
    must_be(l, same_number(e.examined, 0) && same_number(e.reward, 0), "it has no observations");
    if (!l->v->info->order_free || chosen(l->v, "sampler", "released"))
        return;
    double weight = was.mean * (1 - was.mean) / (was.sd * was.sd) - 1;
    double sd = l->v->info->takes_moments
                    ? was.sd / sqrt(strength)
                    : sqrt(was.mean * (1 - was.mean) / (strength * weight + 1));
    must_be(l, near(e.mean, was.mean, 1e-9), "it believes another mean");
    must_be(l, fabs(e.sd - sd) <= 1e-7 * sd, "it is more or less sure than it was told");
    must_be(l, near(e.prior_mean, e.mean, 1e-9) && near(e.prior_sd, e.sd, 1e-9),
            "its belief is its prior");
}

static void compare_child_rows(life *l, const oltr_model *child, const subject *s, double strength)
{
    oltr_policy *faded = oltr_policy_copy(s->dense, NULL, NULL);
    assert_non_null(faded);
    expect(oltr_forget(faded, strength), OLTR_OK);
    must_be(l, same_state(faded, oltr_model_policy(child)), "other sums than those of the parent");
    oltr_policy_free(faded);
}

static void make_child(life *l, subject *s)
{
    static const double good[] = {1, 0.5, 0.1}, bad[] = {0, -1, 1.5, (double)NAN};
    double strength = good[below(&l->d, COUNT(good))];
    oltr_error error = {OLTR_OK, ""};
    unsigned char room[8];
    assert_null(oltr_model_like(s->model, bad[below(&l->d, COUNT(bad))], NULL, &error));
    must_be(l, error.code != OLTR_OK && strlen(error.msg) > 10, "a refusal without its sentence");
    oltr_model *child = oltr_model_like(s->model, strength, NULL, &error);
    bool possible =
        contextual(l) ? l->v->info->can_forget : l->v->info->uses_prior && l->v->info->can_predict;
    if (!possible)
        must_be(l, !child && error.code == OLTR_EUNSUPPORTED, "there is no prior to give it");
    if (!possible || (!child && chosen(l->v, "sampler", "released")))
        return; /* that sampler takes priors that are Beta distributions, and others are believed */
    must_be(l, child, error.msg);
    uint64_t lessons = oltr_model_lessons(child);
    must_be(l, lessons == 0 || (contextual(l) && lessons == s->lessons), /* "its rounds go on" */
            "a new model has no lessons");
    must_be(l, oltr_model_items(child) == s->n, "it has the items of its parent");
    for (uint32_t i = 0; i < s->n_ids; i++)
        must_be(l, !oltr_model_seen(child, id_name(s->id[i], room)), "it remembers no ids");
    for (uint32_t i = 0; i < s->n; i++)
        compare_child_item(l, child, s, &s->item[i], strength);
    if (s->dense)
        compare_child_rows(l, child, s, strength);
    assert_model_sound(child);
    oltr_model *again = reload(child);
    must_be(l, same_models(child, again), "its image is another one when it was loaded");
    oltr_model_free(again);
    oltr_model_free(child);
}

/* More room for the shadow, which changes nothing else. */
static void reserve_in_shadow(life *l, subject *s)
{
    uint32_t n = below(&l->d, 40), room = oltr_model_settings_of(s->shadow)->policy.n_items;
    oltr_status status = oltr_model_reserve(s->shadow, n, NULL);
    uint32_t now = oltr_model_settings_of(s->shadow)->policy.n_items;
    must_be(l,
            status == (contextual(l)                ? OLTR_EUNSUPPORTED
                       : n > l->settings.most_items ? OLTR_EFULL
                                                    : OLTR_OK),
            oltr_status_name(status));
    must_be(l, now == (status == OLTR_OK && n >= room ? n + 1 : room), "another room than asked");
}

/* A new shadow; or the model and its shadow change places. */
static void renew_shadow(life *l, subject *s)
{
    oltr_model *was = s->shadow;
    switch (below(&l->d, 3)) {
    case 0:
        s->shadow = reload(s->model);
        break;
    case 1:
        s->shadow = oltr_model_copy(s->model, NULL, NULL);
        must_be(l, s->shadow, "there is no copy");
        break;
    default:
        s->shadow = s->model;
        s->model = was;
        was = NULL;
    }
    oltr_model_free(was);
    reserve_in_shadow(l, s);
    must_be(l, same_models(s->model, s->shadow), "an image that is loaded and saved is another");
}

static void look(life *l, subject *s)
{
    l->doing = "reading";
    switch (below(&l->d, 6)) {
    case 0:
        renew_shadow(l, s);
        break;
    case 1:
        make_child(l, s);
        break;
    case 2:
        assert_model_sound(s->model);
        assert_true(oltr_model_bytes(s->model) > 0);
        break;
    default:
        if (contextual(l)) {
            compare_rows(l, s);
        } else {
            compare_beliefs(l, s);
            compare_explanations(l, s);
            compare_lists(l, s);
        }
    }
    image x = model_image(s->model);
    must_be(l, equal_images(&x, &s->now), "reading changes the image");
    free(x.byte);
}

/* ---- lives */

static void be_born(life *l)
{
    static const uint32_t windows[] = {0, 1, 3, 20}, most[] = {1, 5, 16, 1000};
    l->settings = model_settings_for(l->v);
    l->settings.window = windows[below(&l->d, COUNT(windows))];
    l->settings.most_items = most[below(&l->d, COUNT(most))];
    l->settings.examine = OLTR_EXAMINE_CASCADE + below(&l->d, 3);
    l->scratch = oltr_model_scratch_new(NULL);
    assert_non_null(l->scratch);
    for (uint32_t i = 0; i < 2; i++) {
        subject *s = &l->one[i];
        s->model = model_from(&l->settings);
        s->shadow = reload(s->model);
        s->now = model_image(s->model);
        s->dense = contextual(l) ? policy_from(&l->settings.policy) : NULL;
    }
}

static void bury(life *l)
{
    for (uint32_t i = 0; i < 2; i++) {
        assert_model_sound(l->one[i].model);
        oltr_model_free(l->one[i].model);
        oltr_model_free(l->one[i].shadow);
        oltr_policy_free(l->one[i].dense);
        free(l->one[i].now.byte);
    }
    oltr_model_scratch_free(l->scratch);
}

static void live(const variant *v, uint64_t number, uint64_t calls)
{
    static life l;
    l = (life){.v = v, .number = number, .next_id = 1, .doing = "birth"};
    l.d.state = 0x6D6F64656C + number * 0x9E3779B97F4A7C15u;
    be_born(&l);
    while (l.calls < calls) {
        uint32_t which = one_in(&l.d, 3);
        make_call(&l, &l.one[which], &l.one[!which]);
        if (one_in(&l.d, 4))
            look(&l, &l.one[which]);
    }
    bury(&l);
}

static uint32_t n_model_variants(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < variants.n; i++)
        n += is_model_variant(&variants.at[i]);
    return n;
}

static void lives(void **state)
{
    const char *only_kind = getenv("OLTR_MODEL_KIND");
    const variant *v = *state;
    uint64_t calls = number_from("OLTR_CALLS", 5000 * EFFORT) / n_model_variants() + 1;
    uint64_t one = number_from("OLTR_MODEL_LIFE", UINT64_MAX);
    if (only_kind && strcmp(only_kind, v->name) != 0)
        return;
    if (one != UINT64_MAX) {
        live(v, one, CALLS_OF_A_LIFE);
        return;
    }
    for (uint64_t number = 0; number * CALLS_OF_A_LIFE < calls; number++)
        live(v, number, CALLS_OF_A_LIFE);
}

int main(void)
{
    static suite all;
    list_variants(&variants);
    ON_SOME_VARIANTS(&all, &variants, lives, is_model_variant);
    return cmocka_run_group_tests_name("models", all.test, NULL, NULL);
}
