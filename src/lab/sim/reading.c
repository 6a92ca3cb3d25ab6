/* reading.c - see reading.h. */
#include "lab/sim/reading.h"

#include <string.h>

/* ---- clicks to feedback */

/* How many slots there are down to the first or the last click; all without one. */
static uint32_t down_to_click(bool first, uint32_t k, const double *click)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < k && !(first && n); slot++)
        if (click[slot] > 0)
            n = slot + 1;
    return n ? n : k;
}

/* A prefix needs no mask. */
static oltr_feedback really_examined(uint32_t k, const double *click, const uint8_t *examined)
{
    uint32_t n = 0, last = 0;
    while (n < k && examined[n])
        n++;
    for (uint32_t slot = n; slot < k; slot++)
        last = examined[slot] ? slot + 1 : last;
    return last > n ? (oltr_feedback){.n_examined = last, .reward = click, .examined = examined}
                    : (oltr_feedback){.n_examined = n, .reward = click};
}

oltr_feedback read_clicks(uint32_t seen, uint32_t k, const double *click, const uint8_t *examined)
{
    if (seen == OLTR_SEEN_TRUE)
        return really_examined(k, click, examined);
    uint32_t n = seen == OLTR_SEEN_ALL ? k : down_to_click(seen == OLTR_SEEN_FIRST, k, click);
    return (oltr_feedback){.n_examined = n, .reward = click};
}

/* ---- which reading */

/* The value of the parameter `seen`; OLTR_SEEN_USUAL where there is none. */
static uint32_t seen_of_world(const oltr_world *world, const click_ops *clicks)
{
    for (uint32_t i = 0; i < clicks->n_params; i++)
        if (strcmp(clicks->params[i].about.name, "seen") == 0)
            return (uint32_t)oltr_world_value(clicks->params, world->click_values, i) + 1;
    return OLTR_SEEN_USUAL;
}

static oltr_status check_learning(const click_ops *clicks, const oltr_contestant *c,
                                  oltr_error *error)
{
    const oltr_learning *how = c->learning;
    if (!how)
        return OLTR_OK;
    if (how->seen > OLTR_SEEN_ALL)
        return set_error(error, OLTR_EINVAL, "policy %s: there is no reading %u", c->label,
                         how->seen);
    if (how->seen && clicks->rewards != OLTR_CLICKS)
        return set_error(error, OLTR_EINVAL,
                         "policy %s: `seen` is for click models whose users only click; click "
                         "model %.40s gives real rewards: leave it out",
                         c->label, clicks->info.name);
    if (how->forget_every && !c->settings.info->can_forget)
        return set_error(error, OLTR_EINVAL, "policy %s: %s cannot forget: leave `forget` out",
                         c->label, c->settings.info->name);
    if (how->forget_every && !(how->forget_keep >= 0 && how->forget_keep <= 1))
        return set_error(error, OLTR_EINVAL,
                         "policy %s: what `forget` keeps must be from 0 to 1, not %g", c->label,
                         how->forget_keep);
    return OLTR_OK;
}

oltr_status reading_of(const oltr_world *world, const click_ops *clicks, const oltr_contestant *c,
                       uint32_t *seen, oltr_error *error)
{
    oltr_status status = check_learning(clicks, c, error);
    *seen = c->learning ? c->learning->seen : OLTR_SEEN_USUAL;
    if (status != OLTR_OK || *seen != OLTR_SEEN_USUAL || !clicks->browse)
        return status;
    *seen = seen_of_world(world, clicks);
    if (*seen != OLTR_SEEN_USUAL)
        return OLTR_OK;
    *seen = OLTR_SEEN_ALL;
    if (c->settings.info->knows_slots)
        return OLTR_OK;
    return set_error(error, OLTR_EINVAL,
                     "policy %s: with clicks %.40s a slot without a click is no skip, and %s does "
                     "not know slots: leave it out, or name how it misreads them, `seen: last`",
                     c->label, clicks->info.name, c->settings.info->name);
}
