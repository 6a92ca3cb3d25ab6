/* examination.c - see examination.h. */
#include "engine/policy/examination.h"

#include "engine/policy/settings.h"

#define GRID 0x1p20

static double on_grid(double kappa)
{
    return fmax(1, rint(kappa * GRID)) / GRID;
}

/* Before rounding: `from` at slot m, continued to slot l. */
static double decayed(double from, double m, double l, double decay)
{
    return from * pow(m / l, decay);
}

static bool is_certain(const examination *e)
{
    bool all = e->decay <= 0;
    for (uint32_t slot = 0; slot < EXAMINE_SLOTS; slot++)
        all &= e->kappa[slot] >= 1;
    return all;
}

/* Insertion sort, which keeps the order of equals. */
static void find_order(examination *e)
{
    e->falls = true;
    for (uint32_t slot = 0; slot < EXAMINE_SLOTS; slot++) {
        uint32_t at = slot;
        for (; at > 0 && e->kappa[e->order[at - 1]] < e->kappa[slot]; at--)
            e->order[at] = e->order[at - 1];
        e->order[at] = slot;
        e->falls &= at == slot;
    }
}

examination examination_of(const oltr_settings *settings, uint32_t decay)
{
    examination e = {.decay = param(settings, decay)};
    double from = 1, m = 1;
    for (uint32_t slot = 0; slot < EXAMINE_SLOTS; slot++) {
        double given = param(settings, decay + 1 + slot), l = slot + 1.0;
        if (given > 0) {
            from = given;
            m = l;
        }
        e.last = decayed(from, m, l, e.decay);
        e.kappa[slot] = on_grid(e.last);
    }
    find_order(&e);
    e.certain = is_certain(&e);
    return e;
}

double examination_at(const examination *e, uint32_t slot)
{
    return slot < EXAMINE_SLOTS ? e->kappa[slot]
                                : on_grid(decayed(e->last, EXAMINE_SLOTS, slot + 1.0, e->decay));
}

static layout plan_room(uint32_t n_items, size_t *item, size_t *score)
{
    size_t best;
    layout l = scores_plan(n_items, &best);
    *item = layout_take(&l, n_items, sizeof(uint32_t));
    *score = layout_take(&l, n_items, sizeof(double));
    return l;
}

layout placed_plan(uint32_t n_items)
{
    size_t item, score;
    return plan_room(n_items, &item, &score);
}

size_t placed_bytes(const oltr_settings *settings)
{
    layout l = placed_plan(settings->n_items);
    return layout_bytes(&l);
}

/* The slots beyond the first fall from slot to slot, so that two ordered lists are merged. */
static void place(const examination *e, const oltr_ranking *out, uint32_t *item, double *score)
{
    uint32_t first = 0, other = EXAMINE_SLOTS;
    memcpy(item, out->item, out->k * sizeof *item);
    if (out->score)
        memcpy(score, out->score, out->k * sizeof *score);
    for (uint32_t place = 0; place < out->k;) {
        bool early = first < EXAMINE_SLOTS &&
                     (other >= out->k || e->kappa[e->order[first]] >= examination_at(e, other));
        uint32_t slot = early ? e->order[first++] : other++;
        if (slot >= out->k)
            continue;
        out->item[slot] = item[place];
        if (out->score)
            out->score[slot] = score[place];
        place++;
    }
}

void show_placed(const examination *e, uint32_t n_items, const candidates *from,
                 const oltr_rng *rng, void *scratch, const oltr_ranking *out)
{
    size_t item, score;
    show_best(scores_in(scratch, n_items), from, rng, out);
    if (e->falls)
        return;
    plan_room(n_items, &item, &score);
    place(e, out, words_in(scratch, item), doubles_at(scratch, score));
}

bool has_examination(const oltr_policy_info *info)
{
    return info->knows_slots && param_named(info, "examine1") < info->n_params;
}

bool examination_falls(const oltr_settings *settings)
{
    return !has_examination(settings->info) ||
           examination_of(settings, param_named(settings->info, "decay")).falls;
}
