/* standings.c - see standings.h.
 *
 * The letters are found by insertion and absorption (Piepho 2004).  It begins with one group of
 * all.  For each pair that differs, every group that has both is replaced by two: one without the
 * first, one without the second.  A group inside another one is dropped.  A pair that does not
 * differ stays together in some group, so two things share a letter exactly if they do not differ.
 * Cost: pairs x groups^2; differences of ordered means give about as many groups as things. */
#include "report/claims/standings.h"

#include <stdlib.h>
#include <string.h>

/* ---- letters */

enum { MOST_GROUPS = 2 * MOST_LETTERS };

/* Adds a group if no other one contains it, and drops those that it contains. */
static uint32_t add_group(uint64_t *group, uint32_t count, uint64_t fresh)
{
    uint32_t kept = 0;
    for (uint32_t g = 0; g < count; g++)
        if ((fresh & ~group[g]) == 0)
            return count;
    for (uint32_t g = 0; g < count; g++)
        if ((group[g] & ~fresh) != 0)
            group[kept++] = group[g];
    group[kept] = fresh;
    return kept + 1;
}

/* Separates things i and j in all groups; the new number of groups, 0 if there are too many. */
static uint32_t separate(uint64_t *group, uint32_t count, uint32_t i, uint32_t j)
{
    uint64_t old[MOST_GROUPS], both = UINT64_C(1) << i | UINT64_C(1) << j;
    uint32_t kept = 0;
    memcpy(old, group, count * sizeof *old);
    for (uint32_t g = 0; g < count; g++)
        if ((old[g] & both) != both)
            group[kept++] = old[g];
    for (uint32_t g = 0; g < count; g++) {
        if ((old[g] & both) != both)
            continue;
        if (kept + 2 > MOST_GROUPS)
            return 0;
        kept = add_group(group, kept, old[g] & ~(UINT64_C(1) << i));
        kept = add_group(group, kept, old[g] & ~(UINT64_C(1) << j));
    }
    return kept;
}

/* By their first thing, then by the first in which they differ. */
static int by_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b, lowest = (x ^ y) & -(x ^ y);
    return x == y ? 0 : (x & lowest) != 0 ? -1 : 1;
}

bool letter_groups(const uint64_t *differs, uint32_t count, char (*letter)[LETTERS_SIZE])
{
    static const char alphabet[MOST_LETTERS + 1] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint64_t group[MOST_GROUPS] = {count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX};
    uint32_t groups = 1;
    for (uint32_t i = 0; groups > 0 && i < count; i++)
        for (uint32_t j = i + 1; groups > 0 && j < count; j++)
            if (differs[i] >> j & 1)
                groups = separate(group, groups, i, j);
    bool fits = groups > 0 && groups <= MOST_LETTERS;
    qsort(group, groups, sizeof *group, by_first);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = 0;
        for (uint32_t g = 0; fits && g < groups; g++)
            if (group[g] >> i & 1)
                letter[i][at++] = alphabet[g];
        letter[i][at] = '\0';
    }
    return fits;
}

/* ---- policies */

static int by_regret(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->row->regret != y->row->regret)
        return x->row->regret < y->row->regret ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

bool rank_is_clear(const struct folder *folder, const char *sweep, const struct ranked *first,
                   const struct ranked *second)
{
    double difference, se;
    return pair_find(&folder->pairs, sweep, first->row->round, first->policy, second->policy,
                     &difference, &se) &&
           first->row->replications >= CLAIM_LEAST_REPLICATIONS && difference < -3 * se;
}

static void add_letters(const struct folder *folder, const char *sweep, struct ranked *ranked,
                        uint32_t count)
{
    uint64_t differs[MOST_LETTERED] = {0};
    char letter[MOST_LETTERED][LETTERS_SIZE];
    if (count > MOST_LETTERED || folder->pairs.count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (rank_is_clear(folder, sweep, &ranked[i], &ranked[j]))
                differs[i] |= UINT64_C(1) << j;
    if (letter_groups(differs, count, letter))
        for (uint32_t i = 0; i < count; i++)
            memcpy(ranked[i].letters, letter[i], LETTERS_SIZE);
}

uint32_t rank_policies(const struct folder *folder, const char *sweep, struct ranked *out)
{
    const struct figure_scene *scene = &folder->manifest.scene;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->n_policies; i++) {
        const struct result_row *row = result_last(&folder->results, sweep, scene->policy[i], 0);
        if (row)
            out[count++] = (struct ranked){.policy = scene->policy[i], .index = i, .row = row};
    }
    qsort(out, count, sizeof *out, by_regret);
    for (uint32_t i = 1; i < count; i++)
        if (!pair_find(&folder->pairs, sweep, out[0].row->round, out[i].policy, out[0].policy,
                       &out[i].behind, &out[i].behind_se)) /* an older folder, without pairs */
            out[i].behind = out[i].row->regret - out[0].row->regret;
    add_letters(folder, sweep, out, count);
    return count;
}
