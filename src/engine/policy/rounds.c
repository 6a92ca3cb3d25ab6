/* rounds.c - one round, or many: checks a query, a list and its feedback, then lets the policy rank
 * or learn.
 *
 * All checks of what callers pass to rank, learn and predict are here, once, before any policy's
 * own code runs.
 *
 * Repeated items are found by marks, one word for each item, on the stack or in the policy's block:
 * a check takes stamps that no word holds yet.  Named candidates are marked with base + row, so
 * that learning finds the features of a shown item by one read; while a list is checked, shown
 * items are marked with base + n + row, so that a second one is recognised.
 *
 * A mask of examined slots is compacted: the policy learns from a list whose first slots are the
 * examined ones, in their order, and the others follow.  The room for that is on the stack or, of
 * long lists, in the policy's block.
 */
#include "engine/policy/rounds.h"

#include "engine/linalg/ldl.h"

/* A round of thirty items takes 130 ns: its checks are inlined into oltr_rank() and oltr_learn(),
 * and rare cases are kept out of line. */
#define HOT static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline, cold))
#define UNLIKELY(condition) __builtin_expect(condition, 0)

/* ---- marks */

/* The first of n new stamps; when they run out, all marks are wiped. */
static uint32_t new_stamps(const item_marks *marks, uint32_t n)
{
    if (*marks->last > UINT32_MAX - n) {
        memset(marks->word, 0, marks->n_items * sizeof *marks->word);
        *marks->last = 0;
    }
    *marks->last += n;
    return *marks->last - n + 1;
}

static bool in_range_and_distinct(const uint32_t *item, uint32_t n, uint32_t n_items,
                                  const item_marks *marks)
{
    uint32_t stamp = new_stamps(marks, 1), *word = marks->word;
    for (uint32_t j = 0; j < n; j++) {
        if (UNLIKELY(item[j] >= n_items) || UNLIKELY(word[item[j]] == stamp))
            return false;
        word[item[j]] = stamp;
    }
    return true;
}

/* Items in ascending order are distinct, and their last is the largest: a pass of comparisons, six
 * times as fast as marks. It ends with the first 64 that are not. */
static bool is_ascending(const uint32_t *item, uint32_t n)
{
    uint32_t descents = 0;
    for (uint32_t start = 1; start < n && !descents; start += 64)
        for (uint32_t j = start; j < start + 64 && j < n; j++)
            descents |= item[j] <= item[j - 1];
    return !descents;
}

/* The same for the candidates of a query, which are many. */
static bool named_once(const uint32_t *item, uint32_t n, uint32_t n_items, const item_marks *marks)
{
    return is_ascending(item, n) ? item[n - 1] < n_items
                                 : in_range_and_distinct(item, n, n_items, marks);
}

/* At most 64 items, in range and distinct: one bit each, and no branch that depends on them. */
HOT bool small_in_range_and_distinct(const uint32_t *item, uint32_t n, uint32_t n_items)
{
    uint64_t seen = 0, bad = 0;
    for (uint32_t j = 0; j < n; j++) {
        uint64_t bit = (uint64_t)1 << (item[j] % 64);
        bad |= (seen & bit) | (item[j] >= n_items);
        seen |= bit;
    }
    return !bad;
}

/* Short lists of many items: every pair is compared, which is faster than the cache misses of
 * marks. */
enum { PAIRED_SLOTS = 16 };
static bool pairs_in_range_and_distinct(const uint32_t *item, uint32_t n, uint32_t n_items)
{
    uint32_t bad = 0;
    for (uint32_t j = 0; j < n; j++) {
        bad |= item[j] >= n_items;
        for (uint32_t i = 0; i < j; i++)
            bad |= item[i] == item[j];
    }
    return !bad;
}

/* Marks each candidate with base + its row.  False when one is out of range or named twice.  The
 * local copies stay in registers: the compiler must assume that a store to a mark changes *from. */
static bool mark_rows(const candidates *from, const item_marks *marks, uint32_t base)
{
    const uint32_t *item = from->item;
    uint32_t n = from->n, n_items = marks->n_items, *word = marks->word;
    for (uint32_t row = 0; row < n; row++) {
        if (UNLIKELY(item[row] >= n_items) || UNLIKELY(word[item[row]] >= base))
            return false;
        word[item[row]] = base + row;
    }
    return true;
}

/* Whether every shown item is one of the marked candidates, and shown once. */
static bool shown_are_marked(const candidates *from, const item_marks *marks,
                             const oltr_ranking *shown)
{
    uint32_t n = from->n, base = from->base, slot = 0;
    for (; slot < shown->k; slot++) {
        uint32_t item = shown->item[slot];
        if (item >= marks->n_items || marks->word[item] - base >= n)
            return false;
        marks->word[item] += n;
    }
    while (slot-- > 0)
        marks->word[shown->item[slot]] -= n;
    return true;
}

HOT bool good_shown_items(const candidates *from, const item_marks *marks,
                          const oltr_ranking *shown)
{
    if (from->item)
        return shown_are_marked(from, marks, shown);
    if (from->n <= FEW_ITEMS)
        return small_in_range_and_distinct(shown->item, shown->k, from->n);
    if (shown->k <= PAIRED_SLOTS)
        return pairs_in_range_and_distinct(shown->item, shown->k, from->n);
    return in_range_and_distinct(shown->item, shown->k, from->n, marks);
}

/* ---- queries */

/* Member by member: compilers clear a literal by overlapping stores, on which the reads stall. */
HOT void set_candidates(candidates *c, const oltr_policy *policy, const oltr_query *query)
{
    c->n = query ? query->n_items : policy->n_items;
    c->item = query ? query->item : NULL;
    c->x = query ? query->x : NULL;
    c->stride = !query ? 0 : query->stride ? query->stride : query->dim;
    c->mark = NULL;
    c->base = 0;
    c->slot = NULL;
}

candidates candidates_of(const oltr_policy *policy, const oltr_query *query)
{
    candidates c;
    set_candidates(&c, policy, query);
    return c;
}

/* What a query must bring for this policy: candidates in number, and rows of the right length. */
HOT oltr_status check_candidates(const oltr_policy *policy, const oltr_query *query,
                                 const candidates *from)
{
    if (query && is_extended(query->reserved, OLTR_RESERVED))
        return OLTR_EINVAL;
    if (from->n > policy->n_items)
        return OLTR_EITEM;
    if (policy->ops->info.contextual &&
        (!from->x || query->dim != policy->settings->dim || from->stride < query->dim))
        return OLTR_EFEATURE;
    return OLTR_OK;
}

/* Of n candidates, those in the rows `row` or, where it is NULL, the first. */
static bool good_rows(const oltr_policy *policy, const candidates *from, const uint32_t *row,
                      uint32_t n)
{
    if (!rows_within(from->x, from->stride, row, n, policy->settings->dim, LARGEST_FEATURE))
        return false;
    for (uint32_t i = 0; policy->ops->row_rejected && i < n; i++)
        if (policy->ops->row_rejected(policy_state(policy),
                                      from->x + (row ? row[i] : i) * from->stride))
            return false;
    return true;
}

static bool good_shown_rows(const oltr_policy *policy, const candidates *from,
                            const oltr_ranking *shown)
{
    uint32_t row[64], n = 0;
    if (!from->item)
        return good_rows(policy, from, shown->item, shown->k);
    for (uint32_t slot = 0; slot < shown->k; slot++) {
        row[n++] = row_of_item(from, shown->item[slot]);
        if (n == 64 || slot + 1 == shown->k) {
            if (!good_rows(policy, from, row, n))
                return false;
            n = 0;
        }
    }
    return true;
}

/* ---- ranking */

/* What ranking and learning require of a query alike; fills in *from. */
HOT oltr_status check_query(const oltr_policy *policy, const oltr_query *query, uint32_t k,
                            candidates *from)
{
    set_candidates(from, policy, query);
    oltr_status status = check_candidates(policy, query, from);
    if (status != OLTR_OK)
        return status;
    return k < 1 || k > from->n ? OLTR_ESLOTS : OLTR_OK;
}

/* Everything that is the same for all lists of one query. */
HOT oltr_status check_ranking_query(const oltr_policy *policy, const oltr_query *query, uint32_t k,
                                    oltr_scratch *scratch, candidates *from)
{
    uint32_t n_items = policy->n_items;
    oltr_status status = check_query(policy, query, k, from);
    if (status != OLTR_OK)
        return status;
    if (scratch->n_items < n_items || scratch->bytes < policy->scratch_bytes)
        return OLTR_ESCRATCH;
    if (!from->item)
        return OLTR_OK;
    item_marks marks = {words_in(scratch, scratch->marks), &scratch->stamp, scratch->n_items};
    return named_once(from->item, from->n, n_items, &marks) ? OLTR_OK : OLTR_EITEM;
}

HOT oltr_status check_rank(const oltr_policy *policy, const oltr_query *query,
                           const oltr_ranking *ranking, oltr_scratch *scratch, candidates *from)
{
    if (!policy || !scratch || !ranking || !ranking->item ||
        is_extended(ranking->reserved, OLTR_RESERVED))
        return OLTR_EINVAL;
    return check_ranking_query(policy, query, ranking->k, scratch, from);
}

oltr_status check_ranking(const oltr_policy *policy, const oltr_query *query,
                          const oltr_ranking *ranking, oltr_scratch *scratch, candidates *from)
{
    return check_rank(policy, query, ranking, scratch, from);
}

oltr_status rank_checked(const oltr_policy *policy, const candidates *from, const oltr_rng *rng,
                         oltr_scratch *scratch, const oltr_ranking *ranking)
{
    return policy->ops->rank(policy_state(policy), policy->rounds + 1, from, rng,
                             (unsigned char *)scratch + scratch->own, ranking);
}

oltr_status oltr_rank(const oltr_policy *policy, const oltr_query *query, oltr_rng rng,
                      oltr_scratch *scratch, oltr_ranking *ranking)
{
    candidates from;
    oltr_status status = check_rank(policy, query, ranking, scratch, &from);
    return status == OLTR_OK ? rank_checked(policy, &from, &rng, scratch, ranking) : status;
}

/* Lists of one query. */
typedef struct many_lists {
    const oltr_policy *policy;
    const candidates *from;
    oltr_rng rng;
    uint32_t stream, k;
    uint64_t first_round;
    uint32_t *item; /* (n, k) */
    double *score;  /* (n, k) or NULL */
} many_lists;

static oltr_ranking list_at(const many_lists *m, uint32_t r)
{
    size_t at = (size_t)r * m->k;
    return (oltr_ranking){
        .k = m->k, .item = m->item + at, .score = m->score ? m->score + at : NULL};
}

static oltr_status rank_one(const many_lists *m, uint32_t r, oltr_scratch *scratch)
{
    oltr_ranking list = list_at(m, r);
    oltr_rng own = oltr_rng_at(m->rng, m->stream, m->first_round + r);
    return rank_checked(m->policy, m->from, &own, scratch, &list);
}

/* Whether the policy has ranked OLTR_RANKED_TOGETHER lists from r on. */
static bool ranked_together(const many_lists *m, uint32_t r, oltr_scratch *scratch)
{
    oltr_ranking list[OLTR_RANKED_TOGETHER];
    oltr_rng own[OLTR_RANKED_TOGETHER];
    for (uint32_t i = 0; i < OLTR_RANKED_TOGETHER; i++) {
        list[i] = list_at(m, r + i);
        own[i] = oltr_rng_at(m->rng, m->stream, m->first_round + r + i);
    }
    return m->policy->ops->rank_together(policy_state(m->policy), m->policy->rounds + 1, m->from,
                                         own, (unsigned char *)scratch + scratch->own,
                                         list) == OLTR_OK;
}

oltr_status oltr_rank_many(const oltr_policy *policy, const oltr_query *query, oltr_rng rng,
                           uint32_t stream, uint64_t first_round, oltr_scratch *scratch, uint32_t n,
                           uint32_t k, uint32_t *item, double *score, uint32_t *done)
{
    candidates from;
    uint32_t ranked = 0;
    if (done)
        *done = 0;
    if (!policy || !scratch || (n && !item))
        return OLTR_EINVAL;
    oltr_status status = check_ranking_query(policy, query, k, scratch, &from);
    const many_lists m = {policy, &from, rng, stream, k, first_round, item, score};
    bool together = policy->ops->rank_together;
    while (status == OLTR_OK && ranked < n) {
        together = together && n - ranked >= OLTR_RANKED_TOGETHER;
        if (together && ranked_together(&m, ranked, scratch)) {
            ranked += OLTR_RANKED_TOGETHER;
            continue;
        }
        together = false; /* one of them fails: which one, shows by itself */
        status = rank_one(&m, ranked, scratch);
        ranked += status == OLTR_OK;
    }
    if (done)
        *done = ranked;
    return status;
}

/* ---- feedback */

HOT bool good_rewards(const oltr_policy *policy, uint32_t k, const oltr_feedback *feedback)
{
    bool clicks = policy->ops->info.rewards == OLTR_CLICKS;
    uint64_t bad = 0;
    for (uint32_t slot = 0, slots = branchless_slots(k, feedback->n_examined); slot < slots; slot++)
        bad |= bad_reward(branchless_reward(feedback, slot), clicks);
    return !bad;
}

/* More than the rewards of a prefix: a mask, weights, or members of a later version. */
HOT bool is_unusual(const oltr_feedback *feedback)
{
    return ((uintptr_t)feedback->examined | (uintptr_t)feedback->weight) != 0 ||
           is_extended(feedback->reserved, OLTR_RESERVED);
}

/* Rewards and weights are read only where the mask, if there is one, is 1. */
static oltr_status check_slots(const oltr_policy *policy, const oltr_feedback *feedback)
{
    bool clicks = policy->ops->info.rewards == OLTR_CLICKS;
    for (uint32_t slot = 0; feedback->examined && slot < feedback->n_examined; slot++)
        if (feedback->examined[slot] > 1)
            return OLTR_EEXAMINED;
    for (uint32_t slot = 0; slot < feedback->n_examined; slot++) {
        if (feedback->examined && !feedback->examined[slot])
            continue;
        if (bad_reward(feedback->reward[slot], clicks) ||
            (feedback->weight && bad_weight(feedback->weight[slot])))
            return OLTR_EREWARD;
    }
    return OLTR_OK;
}

RARE oltr_status check_unusual(const oltr_policy *policy, const oltr_ranking *shown,
                               const oltr_feedback *feedback)
{
    if (feedback->weight && !policy->ops->info.takes_weights)
        return OLTR_EUNSUPPORTED;
    if (feedback->examined && shown->k > masked_slots(policy->settings))
        return OLTR_ESLOTS;
    oltr_status status = check_slots(policy, feedback);
    if (status != OLTR_OK || !feedback->weight || !policy->ops->overflows)
        return status;
    return policy->ops->overflows(policy_state(policy), policy->rounds + 2, shown, feedback)
               ? OLTR_ESTATE
               : OLTR_OK;
}

HOT oltr_status check_feedback(const oltr_policy *policy, const oltr_ranking *shown,
                               const oltr_feedback *feedback)
{
    if (feedback->n_examined > shown->k)
        return OLTR_EEXAMINED;
    if (is_unusual(feedback))
        return check_unusual(policy, shown, feedback);
    return good_rewards(policy, shown->k, feedback) ? OLTR_OK : OLTR_EREWARD;
}

/* ---- learning */

/* Everything that is the same for all lists of one query: the candidates are good, and marked where
 * they are named. */
HOT oltr_status check_learning_query(const oltr_policy *policy, const item_marks *marks,
                                     const oltr_query *query, uint32_t k, candidates *from)
{
    oltr_status status = check_query(policy, query, k, from);
    if (status != OLTR_OK || !from->item)
        return status;
    from->mark = marks->word;
    from->base = new_stamps(marks, 2 * from->n);
    return mark_rows(from, marks, from->base) ? OLTR_OK : OLTR_EITEM;
}

/* What differs from list to list. */
HOT oltr_status check_learning_list(const oltr_policy *policy, const item_marks *marks,
                                    const candidates *from, const oltr_ranking *shown,
                                    const oltr_feedback *seen)
{
    if (!good_shown_items(from, marks, shown))
        return OLTR_EITEM;
    oltr_status status = check_feedback(policy, shown, seen);
    if (status != OLTR_OK)
        return status;
    if (policy->ops->info.contextual && !good_shown_rows(policy, from, shown))
        return OLTR_EFEATURE;
    return policy->rounds < MOST_ROUNDS ? OLTR_OK : OLTR_ESTATE;
}

HOT oltr_status check_lesson(const oltr_policy *policy, const item_marks *marks,
                             const oltr_query *query, const oltr_ranking *shown,
                             const oltr_feedback *seen, candidates *from)
{
    if (!policy || !shown || !shown->item || !seen || (seen->n_examined && !seen->reward) ||
        is_extended(shown->reserved, OLTR_RESERVED) || is_extended(seen->reserved, OLTR_RESERVED))
        return OLTR_EINVAL;
    oltr_status status = check_learning_query(policy, marks, query, shown->k, from);
    return status == OLTR_OK ? check_learning_list(policy, marks, from, shown, seen) : status;
}

oltr_status check_learning(const oltr_policy *policy, const item_marks *marks,
                           const oltr_query *query, const oltr_ranking *shown,
                           const oltr_feedback *seen, candidates *from)
{
    return check_lesson(policy, marks, query, shown, seen, from);
}

/* Where a compacted list is kept: on the stack, or in the block that has (masked_slots) of each. */
typedef struct compact_room {
    uint32_t *item, *slot;
    double *reward, *weight;
} compact_room;

static compact_room room_of(const oltr_policy *policy)
{
    size_t n = masked_slots(policy->settings);
    layout l = {policy->bytes - compact_room_bytes(policy->settings), 0};
    compact_room room;
    room.item = words_in(policy, layout_take(&l, n, sizeof *room.item));
    room.slot = words_in(policy, layout_take(&l, n, sizeof *room.slot));
    room.reward = doubles_at(policy, layout_take(&l, n, sizeof *room.reward));
    room.weight = doubles_at(policy, layout_take(&l, n, sizeof *room.weight));
    return room;
}

size_t compact_room_bytes(const oltr_settings *settings)
{
    size_t n = masked_slots(settings);
    if (n <= SHORT_LIST)
        return 0;
    return 2 * align_up(n * sizeof(uint32_t)) + 2 * align_up(n * sizeof(double));
}

/* The examined slots first, then the others; returns how many were examined. */
static uint32_t compact(const oltr_ranking *shown, const oltr_feedback *seen,
                        const compact_room *room)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < seen->n_examined; slot++)
        if (seen->examined[slot]) {
            room->item[n] = shown->item[slot];
            room->reward[n] = seen->reward[slot];
            room->weight[n] = seen->weight ? seen->weight[slot] : 1;
            room->slot[n++] = slot;
        }
    for (uint32_t slot = 0, at = n; slot < shown->k; slot++)
        if (slot >= seen->n_examined || !seen->examined[slot]) {
            room->item[at] = shown->item[slot];
            room->slot[at++] = slot;
        }
    return n;
}

static oltr_status learn_compacted(oltr_policy *policy, candidates *from, const oltr_ranking *shown,
                                   const oltr_feedback *seen, const compact_room *room)
{
    uint32_t n = compact(shown, seen, room);
    oltr_ranking list = {.k = shown->k, .item = room->item};
    oltr_feedback prefix = {
        .n_examined = n, .reward = room->reward, .weight = seen->weight ? room->weight : NULL};
    from->slot = room->slot;
    oltr_status status =
        policy->ops->learn(policy_state(policy), policy->rounds + 2, from, &list, &prefix);
    from->slot = NULL;
    return status;
}

RARE oltr_status learn_masked(oltr_policy *policy, candidates *from, const oltr_ranking *shown,
                              const oltr_feedback *seen)
{
    uint32_t item[SHORT_LIST], slot[SHORT_LIST];
    double reward[SHORT_LIST], weight[SHORT_LIST];
    compact_room room = {item, slot, reward, weight};
    if (shown->k > SHORT_LIST)
        room = room_of(policy);
    return learn_compacted(policy, from, shown, seen, &room);
}

HOT oltr_status learn_checked(oltr_policy *policy, candidates *from, const oltr_ranking *shown,
                              const oltr_feedback *seen)
{
    oltr_status status = seen->examined ? learn_masked(policy, from, shown, seen)
                                        : policy->ops->learn(policy_state(policy),
                                                             policy->rounds + 2, from, shown, seen);
    policy->rounds += status == OLTR_OK;
    return status;
}

/* The marks of few items: no more than a lesson needs.  All stamps count as taken, so that the
 * first check that needs the marks wipes them. */
typedef struct few_marks {
    uint32_t word[FEW_ITEMS], last;
} few_marks;

HOT item_marks marks_of(oltr_policy *policy, few_marks *few)
{
    few->last = UINT32_MAX;
    if (policy->n_items <= FEW_ITEMS)
        return (item_marks){few->word, &few->last, policy->n_items};
    return (item_marks){words_in(policy, policy->marks), &policy->stamp, policy->n_items};
}

oltr_status oltr_learn(oltr_policy *policy, const oltr_query *query, const oltr_ranking *ranking,
                       const oltr_feedback *feedback)
{
    candidates from;
    few_marks few;
    if (!policy)
        return OLTR_EINVAL;
    item_marks marks = marks_of(policy, &few);
    oltr_status status = check_lesson(policy, &marks, query, ranking, feedback, &from);
    return status == OLTR_OK ? learn_checked(policy, &from, ranking, feedback) : status;
}

static oltr_status check_lessons(const oltr_lessons *lessons)
{
    if (!lessons || (lessons->n && (!lessons->item || !lessons->reward)) ||
        is_extended(lessons->reserved, OLTR_RESERVED))
        return OLTR_EINVAL;
    return OLTR_OK;
}

/* Lesson `index` as the pair that oltr_learn() takes. */
static oltr_feedback lesson_at(const oltr_lessons *all, uint32_t index, oltr_ranking *shown)
{
    size_t at = (size_t)index * all->k;
    *shown = (oltr_ranking){.k = all->k,
                            .item = (uint32_t *)(uintptr_t)(all->item + at)}; /* read only */
    return (oltr_feedback){.n_examined = all->n_examined ? all->n_examined[index] : all->k,
                           .reward = all->reward + at,
                           .examined = all->examined ? all->examined + at : NULL,
                           .weight = all->weight ? all->weight + at : NULL};
}

oltr_status oltr_learn_many(oltr_policy *policy, const oltr_query *query,
                            const oltr_lessons *lessons, uint32_t *done)
{
    candidates from;
    few_marks few;
    uint32_t learned = 0;
    if (done)
        *done = 0;
    oltr_status status = policy ? check_lessons(lessons) : OLTR_EINVAL;
    if (status != OLTR_OK || !lessons->n)
        return status;
    item_marks marks = marks_of(policy, &few);
    status = check_learning_query(policy, &marks, query, lessons->k, &from);
    while (status == OLTR_OK && learned < lessons->n) {
        oltr_ranking shown;
        oltr_feedback seen = lesson_at(lessons, learned, &shown);
        status = check_learning_list(policy, &marks, &from, &shown, &seen);
        if (status == OLTR_OK)
            status = learn_checked(policy, &from, &shown, &seen);
        learned += status == OLTR_OK;
    }
    if (done)
        *done = learned;
    return status;
}

/* ---- prediction */

oltr_status oltr_predict(const oltr_policy *policy, const oltr_query *query, double *mean,
                         double *sd)
{
    if (!policy || !mean)
        return OLTR_EINVAL;
    if (!policy->ops->predict)
        return OLTR_EUNSUPPORTED;
    candidates from = candidates_of(policy, query);
    oltr_status status = check_candidates(policy, query, &from);
    if (status != OLTR_OK)
        return status;
    for (uint32_t j = 0; from.item && j < from.n; j++)
        if (from.item[j] >= policy->n_items)
            return OLTR_EITEM;
    if (policy->ops->info.contextual && !good_rows(policy, &from, NULL, from.n))
        return OLTR_EFEATURE;
    return policy->ops->predict(policy_state(policy), policy->rounds + 1, &from, mean, sd);
}

uint32_t oltr_hyper_count(const oltr_policy *policy)
{
    return policy && policy->ops->hyper ? policy->ops->hyper(policy_state(policy), 0, NULL) : 0;
}

oltr_status oltr_hyper_at(const oltr_policy *policy, uint32_t index, oltr_hyper *out)
{
    if (!out || index >= oltr_hyper_count(policy))
        return OLTR_EINVAL;
    policy->ops->hyper(policy_state(policy), index, out);
    return OLTR_OK;
}
