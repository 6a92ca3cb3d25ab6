/* click_rate.c - see click_rate.h. */
#include "engine/policy/click_rate.h"

static click_rate_state plan(const oltr_settings *settings, click_rate_state p)
{
    const uint32_t n = settings->n_items;
    layout l = {align_up(sizeof p), false};
    p.sums = item_sums_plan(&l, n);
    p.rate = layout_take(&l, n, sizeof(double));
    p.weight = layout_take(&l, n, sizeof(double));
    if (n >= CLASSES_LEAST_ITEMS) {
        p.class_rate = layout_take(&l, class_places(n), sizeof(double));
        p.class_weight = layout_take(&l, class_places(n), sizeof(double));
        p.classes = layout_take(&l, class_index_bytes(n), 1);
    }
    p.bytes = layout_bytes(&l);
    return p;
}

size_t click_rate_bytes(const oltr_settings *settings)
{
    return plan(settings, (click_rate_state){.extra = 0}).bytes;
}

static double rate_of(const click_rate_state *p, double n, double s)
{
    return item_is_seen(n) ? (s + p->added_clicks) / (n + p->added_looks) : p->unseen;
}

static double weight_of(const click_rate_state *p, double n)
{
    return item_is_seen(n + p->extra) ? 1 / (n + p->extra) : 0;
}

double click_rate_of(const click_rate_state *p, uint32_t i)
{
    return rate_of(p, doubles_at(p, p->sums.examined)[i], doubles_at(p, p->sums.reward)[i]);
}

static double click_weight_of(const click_rate_state *p, uint32_t i)
{
    return weight_of(p, doubles_at(p, p->sums.examined)[i]);
}

static void refresh_item(click_rate_state *p, uint32_t i)
{
    doubles_at(p, p->rate)[i] = click_rate_of(p, i);
    doubles_at(p, p->weight)[i] = click_weight_of(p, i);
}

static void refresh_items(click_rate_state *p)
{
    for (uint32_t i = 0; i < p->sums.n_items; i++)
        refresh_item(p, i);
}

/* ---- classes */

static class_index *classes_of(const click_rate_state *p)
{
    return (class_index *)(void *)((unsigned char *)p + p->classes);
}

/* Whether the rates and weights of the items are kept. */
static bool keeps_rates(const click_rate_state *p)
{
    return !p->classes || classes_of(p)->overfull;
}

/* No sums are negative. */
static const class_key clipped = {-1, -1};

static bool is_clipped(const click_rate_state *p, double rate, double weight)
{
    return p->clips && weight > 0 && bernstein_bound(rate, weight, p->log_t) >= 1;
}

static class_key key_of(const void *state, uint32_t i)
{
    const click_rate_state *p = state;
    if (p->clips && is_clipped(p, click_rate_of(p, i), click_weight_of(p, i)))
        return clipped;
    if (p->by_rate)
        return (class_key){click_rate_of(p, i), 0};
    return (class_key){doubles_at(p, p->sums.examined)[i], doubles_at(p, p->sums.reward)[i]};
}

/* Rate 1 and any weight are clipped. */
static void derive_class(void *state, uint32_t place, class_key key)
{
    click_rate_state *p = state;
    bool all = key.a < 0;
    double rate = p->by_rate ? key.a : rate_of(p, key.a, key.b);
    double weight = p->by_rate ? 0 : weight_of(p, key.a);
    doubles_at(p, p->class_rate)[place] = all ? 1 : rate;
    doubles_at(p, p->class_weight)[place] = all ? 1 : weight;
}

static class_owner owner_of(click_rate_state *p)
{
    return (class_owner){p, key_of, derive_class};
}

/* Round t comes next: classes whose index it has clipped join the clipped items. */
static void advance(click_rate_state *p, const class_owner *owner, uint64_t t)
{
    const double *rate = doubles_at(p, p->class_rate), *weight = doubles_at(p, p->class_weight);
    class_index *x = classes_of(p);
    p->log_t = log((double)t);
    uint32_t all = class_at_key(x, clipped);
    for (uint32_t place = 0; place < x->n_places && !x->overfull; place++)
        if (class_entries(x)[place].members && place != all &&
            is_clipped(p, rate[place], weight[place])) {
            class_index_dissolve(x, owner, place);
            all = class_at_key(x, clipped);
        }
}

static void move_items(click_rate_state *p, uint64_t t, const uint32_t *item, uint32_t n)
{
    class_owner owner = owner_of(p);
    if (p->clips)
        advance(p, &owner, t);
    class_index_moved(classes_of(p), &owner, item, n);
}

/* The sums of some items have changed, and round t comes next. */
static void update_items(click_rate_state *p, uint64_t t, const uint32_t *item, uint32_t n)
{
    bool kept = keeps_rates(p);
    if (p->classes)
        move_items(p, t, item, n);
    if (keeps_rates(p) && !kept)
        refresh_items(p);
    for (uint32_t j = 0; keeps_rates(p) && kept && j < n; j++)
        refresh_item(p, item[j]);
}

/* ---- operations */

void click_rate_refresh(void *state, uint64_t t)
{
    click_rate_state *p = state;
    class_owner owner = owner_of(p);
    if (p->classes) {
        p->log_t = p->clips ? log((double)t) : 0;
        class_index_build(classes_of(p), &owner);
    }
    if (keeps_rates(p))
        refresh_items(p);
}

oltr_status click_rate_init(void *state, const oltr_settings *settings, click_rate_state own)
{
    click_rate_state *p = state;
    *p = plan(settings, own);
    if (p->classes) {
        item_sums_touch(p, &p->sums);
        class_index_init(classes_of(p), settings->n_items);
    }
    click_rate_refresh(state, 1);
    return OLTR_OK;
}

oltr_status click_rate_renew(void *state, uint64_t t, const oltr_settings *settings, uint32_t item,
                             const double *before, oltr_error *error)
{
    click_rate_state *p = state;
    oltr_status status = item_sums_check_one(p, &p->sums, t, true, item, error);
    (void)settings, (void)before;
    if (status != OLTR_OK)
        return status;
    update_items(p, t, &item, 1);
    return OLTR_OK;
}

oltr_status click_rate_learn(void *state, uint64_t t, const candidates *from,
                             const oltr_ranking *shown, const oltr_feedback *seen)
{
    (void)from;
    item_policy_add(state, shown, seen);
    update_items(state, t, shown->item, seen->n_examined);
    return OLTR_OK;
}

static bool same_class_numbers(const click_rate_state *p, const click_rate_state *q)
{
    const class_index *x = classes_of(p);
    for (uint32_t place = 0; place < x->n_places; place++) {
        const class_entry *entry = &class_entries(x)[place];
        uint32_t other = entry->members ? class_at_key(classes_of(q), entry->key) : NO_CLASS;
        if (other != NO_CLASS &&
            (memcmp(&doubles_at(p, p->class_rate)[place], &doubles_at(q, q->class_rate)[other],
                    sizeof(double)) != 0 ||
             memcmp(&doubles_at(p, p->class_weight)[place], &doubles_at(q, q->class_weight)[other],
                    sizeof(double)) != 0))
            return false;
    }
    return true;
}

/* Items byte by byte; of the classes their members and their numbers. */
int click_rate_agrees(const void *state, const void *anew)
{
    const click_rate_state *p = state, *q = anew;
    return memcmp(p, q, p->classes ? p->class_rate : p->bytes) == 0 &&
           (!p->classes ||
            (class_index_agrees(classes_of(p), classes_of(q)) && same_class_numbers(p, q)));
}

/* ---- ranking */

/* With classes, their room is from the beginning on. */
static layout plan_scratch(uint32_t n_items, size_t *rate, size_t *weight)
{
    size_t best;
    layout l = scores_plan(n_items, &best);
    *rate = layout_take(&l, n_items, sizeof(double));
    *weight = layout_take(&l, n_items, sizeof(double));
    size_t room = n_items >= CLASSES_LEAST_ITEMS ? class_scratch_bytes(n_items) : 0;
    if (room > l.used)
        l.used = room;
    return l;
}

size_t click_rate_scratch_bytes(const oltr_settings *settings)
{
    size_t rate, weight;
    layout l = plan_scratch(settings->n_items, &rate, &weight);
    return layout_bytes(&l);
}

/* Rates and weights of named candidates next to each other: copied, or computed from the sums. */
static void gather(const click_rate_state *p, const candidates *from, double *restrict rate,
                   double *restrict weight)
{
    const double *all_rates = doubles_at(p, p->rate), *all_weights = doubles_at(p, p->weight);
    const bool kept = keeps_rates(p);
    for (uint32_t j = 0; j < from->n; j++) {
        uint32_t i = from->item[j];
        rate[j] = kept ? all_rates[i] : click_rate_of(p, i);
        weight[j] = kept ? all_weights[i] : click_weight_of(p, i);
    }
}

/* The index of each of the items 0..n-1: that of its class. */
static void class_indices(const click_rate_state *p, rate_formula *formula, const rate_clock *clock,
                          uint32_t n, double *restrict of_class, double *restrict index)
{
    const class_index *x = classes_of(p);
    formula(clock, doubles_at(p, p->class_rate), doubles_at(p, p->class_weight), x->n_places,
            of_class);
    for (uint32_t i = 0; i < n; i++)
        index[i] = of_class[class_of_item(x, i)];
}

static bool rank_by_classes(const click_rate_state *p, rate_formula *formula,
                            const rate_clock *clock, const candidates *from, const oltr_rng *rng,
                            void *scratch, const oltr_ranking *out)
{
    const class_index *x = classes_of(p);
    formula(clock, doubles_at(p, p->class_rate), doubles_at(p, p->class_weight), x->n_places,
            scratch);
    if (!class_rank(x, rng, from->n, out->k, scratch, out->item, out->score))
        return false;
    prefetch_sums(p, out);
    return true;
}

void click_rate_best(const click_rate_state *p, rate_formula *formula, const rate_clock *clock,
                     const candidates *from, const oltr_rng *rng, void *scratch,
                     const oltr_ranking *out)
{
    size_t rate_at, weight_at;
    double_scores s = scores_in(scratch, p->sums.n_items);
    if (p->classes && !from->item && classes_serve(classes_of(p), from->n, out->k) &&
        rank_by_classes(p, formula, clock, from, rng, scratch, out))
        return;
    plan_scratch(p->sums.n_items, &rate_at, &weight_at);
    double *rate = doubles_at(scratch, rate_at), *weight = doubles_at(scratch, weight_at);
    if (from->item) {
        gather(p, from, rate, weight);
        formula(clock, rate, weight, from->n, s.score);
    } else if (keeps_rates(p))
        formula(clock, doubles_at(p, p->rate), doubles_at(p, p->weight), from->n, s.score);
    else
        class_indices(p, formula, clock, from->n, rate, s.score);
    best_places(s, from->n, rng, out);
}

oltr_status click_rate_rank(const click_rate_state *p, rate_formula *formula,
                            const rate_clock *clock, const candidates *from, const oltr_rng *rng,
                            void *scratch, const oltr_ranking *out)
{
    click_rate_best(p, formula, clock, from, rng, scratch, out);
    places_to_items(from, out);
    return OLTR_OK;
}
