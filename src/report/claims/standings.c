/* standings.c - see standings.h.  Quadratic in the number of policies, which are few. */
#include "report/claims/standings.h"

#include <stdlib.h>
#include <string.h>

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

uint32_t rank_policies(const struct folder *folder, const char *sweep, struct ranked *out)
{
    const struct figure_scene *scene = &folder->manifest.scene;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->n_policies; i++) {
        const struct result_row *row = result_last(&folder->results, sweep, scene->policy[i], 0);
        if (row)
            out[count++] =
                (struct ranked){.policy = scene->policy[i], .index = i, .row = row, .rank = 1};
    }
    qsort(out, count, sizeof *out, by_regret);
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = 0; j < i; j++)
            out[i].rank += rank_is_clear(folder, sweep, &out[j], &out[i]);
        if (!pair_find(&folder->pairs, sweep, out[0].row->round, out[i].policy, out[0].policy,
                       &out[i].behind, &out[i].behind_se)) /* an older folder, without pairs */
            out[i].behind = out[i].row->regret - out[0].row->regret;
    }
    return count;
}
