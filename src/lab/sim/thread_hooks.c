/* thread_hooks.c - see thread_hooks.h. */
#include "lab/sim/thread_hooks.h"

static bool same_policy(const oltr_settings *a, const oltr_settings *b)
{
    return a->info == b->info && a->custom == b->custom;
}

/* Has this policy hooks, and is it the first one of its kind? */
static bool is_hooked(const oltr_experiment *points, uint32_t point, uint32_t policy)
{
    const oltr_settings *s = &points[point].policy[policy].settings;
    if (!s->info->ops || (!s->info->ops->thread_begin && !s->info->ops->thread_end))
        return false;
    for (uint32_t p = 0; p <= point; p++)
        for (uint32_t i = 0; i < (p < point ? points[p].n_policies : policy); i++)
            if (same_policy(&points[p].policy[i].settings, s))
                return false;
    return true;
}

oltr_status thread_hooks_begin(const oltr_experiment *points, uint32_t n_points, uint32_t *begun)
{
    *begun = 0;
    for (uint32_t point = 0; point < n_points; point++)
        for (uint32_t i = 0; i < points[point].n_policies; i++) {
            const oltr_settings *s = &points[point].policy[i].settings;
            if (!is_hooked(points, point, i))
                continue;
            oltr_status status =
                s->info->ops->thread_begin ? s->info->ops->thread_begin(s->custom) : OLTR_OK;
            if (status != OLTR_OK)
                return status;
            ++*begun;
        }
    return OLTR_OK;
}

void thread_hooks_end(const oltr_experiment *points, uint32_t n_points, uint32_t begun)
{
    for (uint32_t point = 0; point < n_points; point++)
        for (uint32_t i = 0; begun && i < points[point].n_policies; i++) {
            const oltr_settings *s = &points[point].policy[i].settings;
            if (!is_hooked(points, point, i))
                continue;
            if (s->info->ops->thread_end)
                s->info->ops->thread_end(s->custom);
            begun--;
        }
}
