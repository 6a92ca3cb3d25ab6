/* policy_chances.c - see policy_chances.h. */
#include "app/ope/policy_chances.h"

#include "engine/base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void policy_chances_free(struct policy_chances *chances)
{
    if (!chances->borrowed) {
        free(chances->prefix);
        free(chances->slot);
    }
    free(chances->q);
    free(chances->v);
    free(chances->match);
    *chances = (struct policy_chances){.borrowed = false};
}

static oltr_status no_memory(oltr_error *error)
{
    return set_error(error, OLTR_ENOMEM, "out of memory");
}

/* ---- candidates */

/* The candidates of lists, one set at a time. */
struct candidates_of {
    const struct ope_data *data;
    uint32_t set; /* the one that is there; UINT32_MAX - 1: none yet */
    uint32_t n;
    oltr_name *name; /* (items) of the set */
    uint32_t *item;  /* (items) of the set */
    uint32_t *place; /* (items) by item: its place in the set */
    double *rate;    /* (k, items) of the set, or NULL */
    uint32_t *shown; /* (k) places */
};

#define NO_SET (UINT32_MAX - 1)

static void candidates_free(struct candidates_of *c)
{
    free(c->name);
    free(c->item);
    free(c->place);
    free(c->rate);
    free(c->shown);
}

static bool candidates_begin(struct candidates_of *c, const struct ope_data *data, bool rates)
{
    size_t n = (size_t)data->items.n + 1, k = (size_t)data->eval.k + 1;
    *c = (struct candidates_of){.data = data, .set = NO_SET};
    c->name = calloc(n, sizeof *c->name);
    c->item = calloc(n, sizeof *c->item);
    c->place = calloc(n, sizeof *c->place);
    c->shown = calloc(k, sizeof *c->shown);
    c->rate = rates ? calloc(n, k * sizeof *c->rate) : NULL;
    return c->name && c->item && c->place && c->shown && (!rates || c->rate);
}

static void take_set(struct candidates_of *c, uint32_t set)
{
    const uint32_t *member = NULL;
    if (set == c->set)
        return;
    c->set = set;
    c->n = c->data->items.n;
    if (set != ALL_ITEMS)
        member = ope_members(c->data, set, &c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        c->item[i] = member ? member[i] : i;
        c->place[c->item[i]] = i;
        c->name[i] = name_table_at(&c->data->items, c->item[i]);
    }
}

/* The predicted rewards of the candidates in the slots of a list. */
static const double *rates_of(struct candidates_of *c, const struct chances_wanted *wanted,
                              uint64_t list)
{
    const struct ope_lists *log = &c->data->eval;
    uint32_t items = c->data->items.n, fold = ope_fold(log->choice[list], wanted->folds);
    const double *from = wanted->rate + (size_t)fold * log->k * items;
    if (c->set == ALL_ITEMS)
        return from;
    for (uint32_t l = 0; l < log->length[list]; l++)
        for (uint32_t i = 0; i < c->n; i++)
            c->rate[(size_t)l * c->n + i] = from[(size_t)l * items + c->item[i]];
    return c->rate;
}

/* ---- models, list by list */

static oltr_status take_arrays(const struct ope_data *data, const struct chances_wanted *wanted,
                               struct policy_chances *out, oltr_error *error)
{
    size_t all = data->eval.n * data->eval.k + 1;
    out->prefix = wanted->prefix || wanted->rewards ? calloc(all, sizeof(double)) : NULL;
    out->slot = wanted->slot ? calloc(all, sizeof(double)) : NULL;
    out->q = wanted->rewards ? calloc(all, sizeof(double)) : NULL;
    out->v = wanted->rewards ? calloc(all, sizeof(double)) : NULL;
    out->match = wanted->match ? calloc(data->eval.n + 1, 1) : NULL;
    bool good = (out->prefix || !(wanted->prefix || wanted->rewards)) &&
                (out->slot || !wanted->slot) && (out->q || !wanted->rewards) &&
                (out->v || !wanted->rewards) && (out->match || !wanted->match);
    return good ? OLTR_OK : no_memory(error);
}

static oltr_status evaluate_list(struct candidates_of *c, oltr_ope_evaluator *evaluator,
                                 const struct chances_wanted *wanted, uint64_t i,
                                 const struct policy_chances *out, oltr_error *error)
{
    const struct ope_lists *log = &c->data->eval;
    uint64_t at = i * log->k;
    take_set(c, log->set[i]);
    for (uint32_t l = 0; l < log->length[i]; l++)
        c->shown[l] = c->place[log->item[at + l]];
    oltr_ope_shown shown = {.candidates = {.n = c->n, .name = c->name},
                            .place = c->shown,
                            .k = log->length[i],
                            .number = i,
                            .rate = wanted->rewards ? rates_of(c, wanted, i) : NULL};
    oltr_ope_chances chances = {.prefix = out->prefix ? out->prefix + at : NULL,
                                .slot = out->slot ? out->slot + at : NULL,
                                .q = out->q ? out->q + at : NULL,
                                .v = out->v ? out->v + at : NULL,
                                .match = out->match ? out->match + i : NULL};
    return oltr_ope_evaluate(evaluator, &shown, &chances, error);
}

static oltr_status evaluate_lists(const struct ope_data *data, oltr_ope_evaluator *evaluator,
                                  const struct chances_wanted *wanted,
                                  const struct policy_chances *out, oltr_error *error)
{
    struct candidates_of c;
    oltr_error why = {OLTR_OK, ""};
    oltr_status status = candidates_begin(&c, data, wanted->rewards) ? OLTR_OK : no_memory(error);
    for (uint64_t i = 0; status == OLTR_OK && i < data->eval.n; i++) {
        status = evaluate_list(&c, evaluator, wanted, i, out, &why);
        if (status != OLTR_OK)
            set_error(error, status, "%.70s:%llu: %.160s", data->eval.file[i],
                      (unsigned long long)data->eval.line[i], why.msg);
        if (wanted->progress)
            wanted->progress(wanted->progress_with, i + 1, data->eval.n);
    }
    candidates_free(&c);
    return status;
}

/* ---- models, row by row: the chance of each item in each position */

static oltr_status draw_table(const struct ope_data *data, const oltr_model *model, bool greedy,
                              const struct chances_wanted *wanted, const oltr_list *list,
                              uint32_t k, double *table, oltr_error *error)
{
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    uint32_t *place = calloc(k, sizeof *place), n = data->items.n;
    oltr_rng rng = oltr_rng_make(wanted->seed, 0);
    oltr_status status = scratch && place ? OLTR_OK : no_memory(error);
    for (uint32_t d = 1; status == OLTR_OK && d <= wanted->draws; d++) {
        oltr_show show = {.k = k, .greedy = greedy, .place = place};
        status = oltr_model_rank(model, list, oltr_rng_at(rng, 0, d), scratch, &show, error);
        for (uint32_t l = 0; status == OLTR_OK && l < k; l++)
            table[(size_t)l * n + place[l]] += 1.0 / wanted->draws;
    }
    free(place);
    oltr_model_scratch_free(scratch);
    return status;
}

static oltr_status find_table(const struct ope_data *data, const oltr_model *model, bool greedy,
                              const struct chances_wanted *wanted, uint32_t k, double *table,
                              oltr_error *error)
{
    struct candidates_of c;
    if (!candidates_begin(&c, data, false)) {
        candidates_free(&c);
        return no_memory(error);
    }
    take_set(&c, ALL_ITEMS);
    oltr_list list = {.n = c.n, .name = c.name};
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_status status =
        !scratch ? no_memory(error)
        : wanted->draws > 0
            ? draw_table(data, model, greedy, wanted, &list, k, table, error)
            : oltr_model_slot_propensity(model, &list, k, greedy, scratch, table, error);
    oltr_model_scratch_free(scratch);
    candidates_free(&c);
    return status;
}

static oltr_status read_table(const struct ope_data *data, const double *table, uint32_t k,
                              struct policy_chances *out, oltr_error *error)
{
    for (uint64_t i = 0; i < data->eval.n; i++) {
        uint32_t position = data->eval.position[i] > 0 ? data->eval.position[i] : 1;
        if (position > k)
            return set_error(
                error, OLTR_EVALUE, "%.120s:%llu: position %u, but there are %u items in the log",
                data->eval.file[i], (unsigned long long)data->eval.line[i], position, k);
        out->slot[i] = fmin(table[(size_t)(position - 1) * data->items.n + data->eval.item[i]], 1);
    }
    return OLTR_OK;
}

static oltr_status evaluate_rows(const struct ope_data *data, const oltr_model *model, bool greedy,
                                 const struct chances_wanted *wanted, struct policy_chances *out,
                                 oltr_error *error)
{
    uint32_t positions = data->most_position > 0 ? data->most_position : 1;
    uint32_t k = positions < data->items.n ? positions : data->items.n;
    double *table = calloc((size_t)k * data->items.n + 1, sizeof *table);
    out->slot = calloc(data->eval.n + 1, sizeof *out->slot);
    oltr_status status = table && out->slot ? OLTR_OK : no_memory(error);
    if (status == OLTR_OK)
        status = find_table(data, model, greedy, wanted, k, table, error);
    if (status == OLTR_OK)
        status = read_table(data, table, k, out, error);
    free(table);
    return status;
}

oltr_status chances_of_model(const struct ope_data *data, const oltr_model *model, bool greedy,
                             const struct chances_wanted *wanted, struct policy_chances *out,
                             oltr_error *error)
{
    *out = (struct policy_chances){.borrowed = false};
    if (data->by_row)
        return wanted->slot ? evaluate_rows(data, model, greedy, wanted, out, error) : OLTR_OK;
    oltr_ope_policy policy = {
        .size = sizeof policy, .greedy = greedy, .draws = wanted->draws, .seed = wanted->seed};
    oltr_ope_evaluator *evaluator = oltr_ope_evaluator_new(model, &policy, error);
    if (!evaluator)
        return error->code;
    oltr_status status = take_arrays(data, wanted, out, error);
    if (status == OLTR_OK)
        status = evaluate_lists(data, evaluator, wanted, out, error);
    oltr_ope_evaluator_free(evaluator);
    return status;
}

/* ---- policies without a model */

void chances_of_columns(const struct ope_data *data, uint32_t column, struct policy_chances *out)
{
    *out = (struct policy_chances){.prefix = data->eval.column[OPE_LOGGED + 2 * column],
                                   .slot = data->eval.column[OPE_LOGGED + 2 * column + 1],
                                   .borrowed = true};
}

static uint32_t slot_of(const struct ope_data *data, uint64_t list, uint32_t l)
{
    uint32_t position = data->eval.position[list];
    return data->by_row && position > 0 ? position - 1 : l;
}

/* Counts of the items of `data` in the slots of the other log; and the lists with each slot. */
static void count_shares(const struct ope_data *data, const struct ope_data *shown, uint32_t k,
                         double *count, double *lists)
{
    for (uint64_t i = 0; i < shown->eval.n; i++)
        for (uint32_t l = 0; l < shown->eval.length[i]; l++) {
            oltr_name name = name_table_at(&shown->items, shown->eval.item[i * shown->eval.k + l]);
            uint32_t item = name_table_find(&data->items, name), slot = slot_of(shown, i, l);
            if (slot >= k)
                continue;
            lists[slot]++;
            if (item != NO_NAME)
                count[(size_t)slot * data->items.n + item]++;
        }
}

oltr_status chances_of_shares(const struct ope_data *data, const struct ope_data *shown,
                              struct policy_chances *out, oltr_error *error)
{
    uint32_t k = data->by_row && data->most_position > 0 ? data->most_position : data->eval.k;
    double *count = calloc((size_t)k * data->items.n + 1, sizeof *count),
           *lists = calloc((size_t)k + 1, sizeof *lists);
    *out = (struct policy_chances){.slot = calloc(data->eval.n * data->eval.k + 1, sizeof(double))};
    bool good = count && lists && out->slot;
    if (good)
        count_shares(data, shown, k, count, lists);
    for (uint64_t i = 0; good && i < data->eval.n; i++)
        for (uint32_t l = 0; l < data->eval.length[i]; l++) {
            uint64_t at = i * data->eval.k + l;
            uint32_t slot = slot_of(data, i, l);
            double n = lists[slot];
            out->slot[at] =
                n > 0 ? count[(size_t)slot * data->items.n + data->eval.item[at]] / n : 0;
        }
    free(count);
    free(lists);
    return good ? OLTR_OK : no_memory(error);
}
