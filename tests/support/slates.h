/* slates.h - tiny worlds for off-policy evaluation: every ordered list of k of 4 items, every
 * pattern of clicks, and their chances, written from the definitions of the click models.
 *
 * Users.  attraction a of the item in slot l, from the top:
 *     cascade   a click with chance a, and the user leaves; else goes on
 *     dcm       a click with chance a, and then the user leaves with chance leave_l; else goes on
 *     pbm       a click with chance examine_l a, independent of the other slots
 *     dbn       a click with chance a, which satisfies with chance s: the user leaves; any other
 *               user goes on with chance gamma
 */
#ifndef OLTR_TESTS_SLATES_H
#define OLTR_TESTS_SLATES_H

#include "support/unit.h"

enum { SLATE_ITEMS = 4, SLATE_SLOTS = 3, SLATE_LISTS = 24, SLATE_CLICKS = 8 };

typedef enum slate_users { CASCADE, DCM, PBM, DBN, SLATE_USERS } slate_users;

static const char *const slate_user_names[SLATE_USERS] = {"cascade", "dcm", "pbm", "dbn"};
static const double slate_leave[SLATE_SLOTS] = {0.8, 0.5, 0.3};
static const double slate_examine[SLATE_SLOTS] = {0.9, 0.6, 0.35};
static const double slate_satisfied = 0.6, slate_continue = 0.85;

/* The ordered lists of k items, in the order of their numbers. */
typedef struct slates {
    uint32_t k, n, clicks; /* clicks: 2^k patterns; bit l is a click in slot l */
    uint32_t item[SLATE_LISTS][SLATE_SLOTS];
} slates;

static inline slates slates_of(uint32_t k)
{
    slates s = {.k = k, .n = 0, .clicks = 1u << k};
    for (uint32_t code = 0; code < 64u; code++) {
        uint32_t item[SLATE_SLOTS] = {code / 16, code / 4 % 4, code % 4};
        bool fits = item[0] != item[1] && (k == 2 || (item[2] != item[0] && item[2] != item[1]));
        if (!fits || (k == 2 && code % 4 > 0))
            continue;
        memcpy(s.item[s.n++], item, sizeof item);
    }
    return s;
}

/* ---- users */

typedef struct slate_world {
    slate_users users;
    double attraction[SLATE_ITEMS];
} slate_world;

static inline slate_world slate_world_make(dice *from, slate_users users)
{
    slate_world w = {.users = users};
    for (int i = 0; i < SLATE_ITEMS; i++)
        w.attraction[i] = 0.1 + 0.6 * unit(from);
    return w;
}

/* Chances after a click, and after a skip, that the user is gone before the next slot. */
static inline double slate_gone(slate_users users, uint32_t slot, bool click)
{
    switch (users) {
    case CASCADE:
        return click;
    case DCM:
        return click ? slate_leave[slot] : 0;
    default: /* DBN */
        return click ? slate_satisfied + (1 - slate_satisfied) * (1 - slate_continue)
                     : 1 - slate_continue;
    }
}

/* The chance that the users click a list exactly so. */
static inline double slate_click_chance(const slate_world *w, const uint32_t *item, uint32_t k,
                                        uint32_t clicks)
{
    double there = 1, gone = 0; /* of users who have clicked so down to this slot */
    for (uint32_t l = 0; l < k; l++) {
        double a = w->attraction[item[l]];
        bool click = clicks >> l & 1;
        if (w->users == PBM) {
            there *= click ? slate_examine[l] * a : 1 - slate_examine[l] * a;
            continue;
        }
        double here = there * (click ? a : 1 - a), leaves = slate_gone(w->users, l, click);
        gone = (click ? 0 : gone) + here * leaves;
        there = here * (1 - leaves);
    }
    return there + gone;
}

/* Expected clicks of a slot in closed form: P(examined) a. */
static inline double slate_expected_click(const slate_world *w, const uint32_t *item, uint32_t slot)
{
    double seen = 1;
    for (uint32_t l = 0; l < slot && w->users != PBM; l++) {
        double a = w->attraction[item[l]];
        seen *= w->users == CASCADE ? 1 - a
                : w->users == DCM   ? 1 - a * slate_leave[l]
                                    : (1 - a * slate_satisfied) * slate_continue;
    }
    if (w->users == PBM)
        seen = slate_examine[slot];
    return seen * w->attraction[item[slot]];
}

static inline double slate_expected_clicks(const slate_world *w, const uint32_t *item, uint32_t k)
{
    double sum = 0;
    for (uint32_t l = 0; l < k; l++)
        sum += slate_expected_click(w, item, l);
    return sum;
}

/* ---- policies */

typedef struct slate_policy {
    double prefix[SLATE_LISTS][SLATE_SLOTS]; /* a list begins with the items down to this slot */
    double slot[SLATE_SLOTS][SLATE_ITEMS];   /* an item is in a slot */
} slate_policy;

/* Chances of beginnings and slots from those of whole lists, prefix[.][k - 1]. */
static inline void slate_policy_complete(const slates *s, slate_policy *p)
{
    memset(p->slot, 0, sizeof p->slot);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t l = 0; l < s->k; l++)
            p->slot[l][s->item[i][l]] += p->prefix[i][s->k - 1];
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t l = 0; l + 1 < s->k; l++) {
            p->prefix[i][l] = 0;
            for (uint32_t j = 0; j < s->n; j++)
                if (memcmp(s->item[i], s->item[j], (l + 1) * sizeof(uint32_t)) == 0)
                    p->prefix[i][l] += p->prefix[j][s->k - 1];
        }
}

/* Plackett and Luce: item after item, in proportion to random weights. */
static inline slate_policy slate_plackett_luce(dice *from, const slates *s, double spread)
{
    slate_policy p;
    double weight[SLATE_ITEMS];
    for (int i = 0; i < SLATE_ITEMS; i++)
        weight[i] = exp(spread * (unit(from) - 0.5));
    for (uint32_t i = 0; i < s->n; i++) {
        double left = weight[0] + weight[1] + weight[2] + weight[3], chance = 1;
        for (uint32_t l = 0; l < s->k; l++) {
            chance *= weight[s->item[i][l]] / left;
            left -= weight[s->item[i][l]];
        }
        p.prefix[i][s->k - 1] = chance;
    }
    slate_policy_complete(s, &p);
    return p;
}

/* The value of a policy: expected clicks of a list. */
static inline double slate_value(const slates *s, const slate_world *w, const slate_policy *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        sum += p->prefix[i][s->k - 1] * slate_expected_clicks(w, s->item[i], s->k);
    return sum;
}

/* A list of the policy, and clicks of its users. */
static inline uint32_t slate_draw_list(dice *from, const slates *s, const slate_policy *p)
{
    double u = unit(from);
    uint32_t i = 0;
    for (; i + 1 < s->n && u >= p->prefix[i][s->k - 1]; i++)
        u -= p->prefix[i][s->k - 1];
    return i;
}

static inline uint32_t slate_draw_clicks(dice *from, const slate_world *w, const uint32_t *item,
                                         uint32_t k)
{
    uint32_t clicks = 0;
    bool there = true;
    for (uint32_t l = 0; l < k && there; l++) {
        double a = w->attraction[item[l]] * (w->users == PBM ? slate_examine[l] : 1);
        bool click = unit(from) < a;
        clicks |= (uint32_t)click << l;
        there = w->users == PBM || unit(from) >= slate_gone(w->users, l, click);
    }
    return clicks;
}

#endif
