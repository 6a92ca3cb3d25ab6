/* ope_worlds.c - off-policy estimates against exact expectations, and against simulations.
 *
 * Enumerated: 4 items, 2 or 3 slots, four click models, logs of Plackett and Luce and of frozen
 * models (gts, ts-beta, maillard, random) with the chances that oltr_model_list_propensity() gives.
 * The expectation of an estimator is the sum over all lists and all clicks.  It is the value of the
 * evaluated policy where docs/off-policy.md says that the estimator is unbiased, and where it is
 * not (iips where users stop), its bias is the one in closed form.
 *
 * Simulated: on 20 worlds, frozen models rank real lists for the users of the lab; the estimate
 * from the log of one is compared with the reward of the other, played in the same world.  The
 * z-scores of an estimator over 20 worlds have a chi-square distribution.
 *
 * False alarms: 11 tails of sums of squares, each of 5e-8: below 1e-6 in all.
 */
#include "support/slates.h"

#include <gsl/gsl_cdf.h>

#include <oltr/model.h>
#include <oltr/ope.h>

#include "lab/world/world.h"

static const oltr_name names[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1},
                                  {"e", 1}, {"f", 1}, {"g", 1}};

/* ---- frozen models */

/* A model that has learned `lessons` lists of two of the n items in a cascade.  The first n of them
 * begin with each item in turn and get no click: maillard shows what it has never seen, or what was
 * always clicked, before all others, and a log without some of the lists says nothing about them.
 */
static oltr_model *frozen(dice *from, const char *kind, int lessons, const double *attraction,
                          uint32_t n)
{
    oltr_model_settings settings;
    assert_int_equal(oltr_model_settings_init(&settings, kind, NULL), OLTR_OK);
    oltr_model *model = oltr_model_new(&settings, NULL);
    assert_non_null(model);
    for (int i = 0; i < lessons; i++) {
        uint32_t a = i < (int)n ? (uint32_t)i : below(from, n),
                 b = (a + 1 + below(from, n - 1)) % n;
        oltr_name shown[] = {names[a], names[b]};
        double reward[] = {i >= (int)n && unit(from) < attraction[a], 0};
        reward[1] = i >= (int)n && reward[0] == 0 && unit(from) < attraction[b];
        oltr_lesson lesson = {.shown = {.n = 2, .name = shown}, .reward = reward};
        assert_int_equal(oltr_model_learn(model, &lesson, NULL, NULL), OLTR_OK);
    }
    return model;
}

static void model_chances(const oltr_model *model, const slates *s, slate_policy *out)
{
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_list list = {.n = SLATE_ITEMS, .name = names};
    slate_policy exact;
    for (uint32_t i = 0; i < s->n; i++)
        assert_int_equal(oltr_model_list_propensity(model, &list, s->item[i], s->k, 0, scratch,
                                                    out->prefix[i], NULL),
                         OLTR_OK);
    exact = *out; /* beginnings are sums of whole lists */
    slate_policy_complete(s, &exact);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t l = 0; l < s->k; l++)
            assert_true(fabs(exact.prefix[i][l] - out->prefix[i][l]) < 1e-8);
    memcpy(out->slot, exact.slot, sizeof exact.slot);
    oltr_model_scratch_free(scratch);
}

/* ---- exact expectations */

typedef struct row {
    double reward[SLATE_SLOTS], logged[SLATE_SLOTS], evaluated[SLATE_SLOTS];
    double logged_slot[SLATE_SLOTS], evaluated_slot[SLATE_SLOTS], q[SLATE_SLOTS], v[SLATE_SLOTS];
} row;

/* Predictions of rewards by the items down to a slot, a number with base 4. */
typedef struct prediction {
    double q[SLATE_SLOTS][64];
} prediction;

static uint32_t code_of(const uint32_t *item, uint32_t slot)
{
    uint32_t code = item[0];
    for (uint32_t l = 1; l <= slot; l++)
        code = 4 * code + item[l];
    return code;
}

/* The expectation of q over the item of this slot, given the items above. */
static double expected_q(const slates *s, const slate_policy *evaluated, const prediction *p,
                         uint32_t list, uint32_t slot)
{
    double sum = 0, all = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (memcmp(s->item[i], s->item[list], slot * sizeof(uint32_t)) != 0)
            continue;
        double chance = evaluated->prefix[i][s->k - 1];
        sum += chance * p->q[slot][code_of(s->item[i], slot)];
        all += chance;
    }
    return sum / all;
}

/* The right predictions: expected rewards from a slot on. */
static prediction right_prediction(const slates *s, const slate_world *w,
                                   const slate_policy *evaluated)
{
    prediction p;
    for (uint32_t below_it = 0; below_it < s->k; below_it++) {
        uint32_t l = s->k - 1 - below_it;
        for (uint32_t i = 0; i < s->n; i++) {
            double later = l + 1 < s->k ? expected_q(s, evaluated, &p, i, l + 1) : 0;
            p.q[l][code_of(s->item[i], l)] = slate_expected_click(w, s->item[i], l) + later;
        }
    }
    return p;
}

static row row_of(const slates *s, const slate_policy *logged, const slate_policy *evaluated,
                  const prediction *p, uint32_t list, uint32_t clicks)
{
    row x;
    for (uint32_t l = 0; l < s->k; l++) {
        uint32_t item = s->item[list][l];
        x.reward[l] = clicks >> l & 1;
        x.logged[l] = logged->prefix[list][l];
        x.evaluated[l] = evaluated->prefix[list][l];
        x.logged_slot[l] = logged->slot[l][item];
        x.evaluated_slot[l] = evaluated->slot[l][item];
        x.q[l] = p->q[l][code_of(s->item[list], l)];
        x.v[l] = expected_q(s, evaluated, p, list, l);
    }
    return x;
}

/* What an estimator gives for a log that has this list twice: its term. */
static double term_of(const row *x, uint32_t k, oltr_ope_estimator estimator)
{
    double table[7][2 * SLATE_SLOTS];
    const double *from[] = {x->reward,         x->logged, x->evaluated, x->logged_slot,
                            x->evaluated_slot, x->q,      x->v};
    for (size_t i = 0; i < COUNT(from); i++) {
        memcpy(table[i], from[i], k * sizeof(double));
        memcpy(table[i] + k, from[i], k * sizeof(double));
    }
    const oltr_ope_log log = {.n = 2,
                              .k = k,
                              .reward = table[0],
                              .logged_prefix = table[1],
                              .evaluated_prefix = table[2],
                              .logged_slot = table[3],
                              .evaluated_slot = table[4],
                              .q = table[5],
                              .v = table[6]};
    const oltr_ope_options options = {.interval = OLTR_OPE_NORMAL};
    oltr_ope_result r;
    assert_int_equal(oltr_ope_estimate(&log, estimator, &options, &r, NULL), OLTR_OK);
    return r.value;
}

typedef struct scene {
    slates s;
    slate_world w;
    slate_policy logged, evaluated;
} scene;

static double expectation(const scene *c, const prediction *p, oltr_ope_estimator estimator)
{
    double sum = 0, all = 0;
    for (uint32_t i = 0; i < c->s.n; i++)
        for (uint32_t clicks = 0; clicks < c->s.clicks; clicks++) {
            double chance = c->logged.prefix[i][c->s.k - 1] *
                            slate_click_chance(&c->w, c->s.item[i], c->s.k, clicks);
            row x = row_of(&c->s, &c->logged, &c->evaluated, p, i, clicks);
            if (chance > 0)
                sum += chance * term_of(&x, c->s.k, estimator);
            all += chance;
        }
    assert_true(fabs(all - 1) < 1e-8); /* nothing was left out */
    return sum;
}

/* E[iips] = sum over slots and lists of the logged chance, the ratio of the chances of the item in
 * the slot, and the expected click in closed form. */
static double expected_iips(const scene *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->s.n; i++)
        for (uint32_t l = 0; l < c->s.k; l++) {
            uint32_t item = c->s.item[i][l];
            sum += c->logged.prefix[i][c->s.k - 1] * c->evaluated.slot[l][item] /
                   c->logged.slot[l][item] * slate_expected_click(&c->w, c->s.item[i], l);
        }
    return sum;
}

static void check_scene(const scene *c, dice *from)
{
    double truth = slate_value(&c->s, &c->w, &c->evaluated);
    prediction wrong, right = right_prediction(&c->s, &c->w, &c->evaluated);
    for (int i = 0; i < SLATE_SLOTS * 64; i++)
        (&wrong.q[0][0])[i] = 4 * unit(from) - 1;
    assert_true(fabs(expectation(c, &wrong, OLTR_OPE_SIPS) - truth) < 1e-8);
    assert_true(fabs(expectation(c, &wrong, OLTR_OPE_RIPS) - truth) < 1e-8);
    assert_true(fabs(expectation(c, &wrong, OLTR_OPE_DR) - truth) < 1e-8);
    assert_true(fabs(expectation(c, &right, OLTR_OPE_DR) - truth) < 1e-8);
    assert_true(fabs(expectation(c, &right, OLTR_OPE_DM) - truth) < 1e-8);
    assert_true(fabs(expectation(c, &wrong, OLTR_OPE_DM) - truth) > 1e-3);
    double iips = expectation(c, &wrong, OLTR_OPE_IIPS), bias = iips - truth;
    assert_true(fabs(iips - expected_iips(c)) < 1e-10);
    assert_true(c->w.users == PBM ? fabs(bias) < 1e-8 : fabs(bias) > 1e-7);
}

static void is_unbiased_for_plackett_luce(void **state)
{
    dice from = {31};
    for (uint32_t k = 2; k <= 3; k++)
        for (slate_users users = 0; users < SLATE_USERS; users++) {
            scene c = {.s = slates_of(k), .w = slate_world_make(&from, users)};
            c.logged = slate_plackett_luce(&from, &c.s, 2);
            c.evaluated = slate_plackett_luce(&from, &c.s, 4);
            assert_int_equal(c.s.n, k == 2 ? 12 : 24);
            check_scene(&c, &from);
        }
}

/* The chances of all lists by oltr_ope_evaluate(), with q and v from predictions that know nothing
 * of the world: the chances are those of the definition, and dr stays unbiased. */
static void check_evaluator(const scene *c, const oltr_model *evaluated, dice *from)
{
    oltr_ope_evaluator *evaluator = oltr_ope_evaluator_new(evaluated, NULL, NULL);
    double rate[SLATE_SLOTS * SLATE_ITEMS], truth = slate_value(&c->s, &c->w, &c->evaluated);
    double sum = 0;
    assert_non_null(evaluator);
    for (int i = 0; i < SLATE_SLOTS * SLATE_ITEMS; i++)
        rate[i] = 2 * unit(from) - 0.5;
    for (uint32_t i = 0; i < c->s.n; i++) {
        row x;
        oltr_ope_shown shown = {.candidates = {.n = SLATE_ITEMS, .name = names},
                                .place = c->s.item[i],
                                .k = c->s.k,
                                .rate = rate};
        oltr_ope_chances out = {
            .prefix = x.evaluated, .slot = x.evaluated_slot, .q = x.q, .v = x.v};
        assert_int_equal(oltr_ope_evaluate(evaluator, &shown, &out, NULL), OLTR_OK);
        memcpy(x.logged, c->logged.prefix[i], sizeof x.logged);
        memcpy(x.logged_slot, c->logged.prefix[i], sizeof x.logged); /* dr does not read it */
        for (uint32_t l = 0; l < c->s.k; l++) {
            assert_true(fabs(x.evaluated[l] - c->evaluated.prefix[i][l]) < 1e-8);
            assert_true(fabs(x.evaluated_slot[l] - c->evaluated.slot[l][c->s.item[i][l]]) < 1e-7);
        }
        for (uint32_t clicks = 0; clicks < c->s.clicks; clicks++) {
            for (uint32_t l = 0; l < c->s.k; l++)
                x.reward[l] = clicks >> l & 1;
            sum += c->logged.prefix[i][c->s.k - 1] *
                   slate_click_chance(&c->w, c->s.item[i], c->s.k, clicks) *
                   term_of(&x, c->s.k, OLTR_OPE_DR);
        }
    }
    assert_true(fabs(sum - truth) < 1e-6);
    oltr_ope_evaluator_free(evaluator);
}

static void is_unbiased_for_models(void **state)
{
    static const char *const kinds[] = {"gts", "ts-beta", "maillard", "random"};
    dice from = {32};
    for (uint32_t k = 2; k <= 3; k++)
        for (slate_users users = 0; users < SLATE_USERS; users++) {
            scene c = {.s = slates_of(k), .w = slate_world_make(&from, users)};
            const char *kind = kinds[(users + k) % 4];
            oltr_model *logging = frozen(&from, kind, 7, c.w.attraction, SLATE_ITEMS);
            oltr_model *other = frozen(&from, "ts-beta", 12, c.w.attraction, SLATE_ITEMS);
            model_chances(logging, &c.s, &c.logged);
            model_chances(other, &c.s, &c.evaluated);
            check_scene(&c, &from);
            check_evaluator(&c, other, &from);
            oltr_model_free(logging);
            oltr_model_free(other);
        }
}

/* The self-normalised forms have weights in the denominator: their exact expectation over logs of
 * two lists is that of the ratio, and it is not the value. */
static void is_biased_where_it_says(void **state)
{
    dice from = {33};
    scene c = {.s = slates_of(2), .w = slate_world_make(&from, DCM)};
    c.logged = slate_plackett_luce(&from, &c.s, 2);
    c.evaluated = slate_plackett_luce(&from, &c.s, 4);
    double sum = 0, by_hand = 0;
    const oltr_ope_options options = {.interval = OLTR_OPE_NORMAL};
    for (uint32_t pair = 0; pair < 48 * 48; pair++) {
        uint32_t list[] = {pair / 48 / 4, pair % 48 / 4}, clicks[] = {pair / 48 % 4, pair % 4};
        double reward[4], logged[4], evaluated[4], w[2], chance = 1;
        for (int i = 0; i < 2; i++) {
            for (uint32_t l = 0; l < 2; l++)
                reward[2 * i + (int)l] = clicks[i] >> l & 1;
            memcpy(logged + 2 * i, c.logged.prefix[list[i]], 2 * sizeof *logged);
            memcpy(evaluated + 2 * i, c.evaluated.prefix[list[i]], 2 * sizeof *logged);
            w[i] = evaluated[2 * i + 1] / logged[2 * i + 1];
            chance *= logged[2 * i + 1] * slate_click_chance(&c.w, c.s.item[list[i]], 2, clicks[i]);
        }
        const oltr_ope_log log = {.n = 2,
                                  .k = 2,
                                  .reward = reward,
                                  .logged_prefix = logged,
                                  .evaluated_prefix = evaluated};
        oltr_ope_result r;
        assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_SNSIPS, &options, &r, NULL), OLTR_OK);
        sum += chance * r.value;
        by_hand += chance * (w[0] * (reward[0] + reward[1]) + w[1] * (reward[2] + reward[3])) /
                   (w[0] + w[1]);
    }
    assert_true(fabs(sum - by_hand) < 1e-12);
    assert_true(fabs(sum - slate_value(&c.s, &c.w, &c.evaluated)) > 1e-3);
}

/* ---- the log of one model, and the reward of another, on 20 worlds */

enum { WORLDS = 20, ITEMS = 7, SLOTS = 3, LISTS = 1500 * EFFORT };

typedef struct played {
    double reward[LISTS][SLOTS], logged[LISTS][SLOTS], evaluated[LISTS][SLOTS];
    double q[LISTS][SLOTS], v[LISTS][SLOTS];
} played;

typedef struct lab {
    oltr_world world;
    oltr_instance truth;
    double attraction[ITEMS];
} lab;

static void make_lab(dice *from, int number, lab *l)
{
    static const double leave[SLOTS] = {0.8, 0.5, 0.3}, examine[SLOTS] = {0.9, 0.6, 0.35};
    slate_users users = (slate_users)(number % SLATE_USERS);
    l->world = (oltr_world){.kind = "fixed", .n_items = ITEMS, .clicks = slate_user_names[users]};
    l->world.slot_chance = users == DCM ? leave : users == PBM ? examine : NULL;
    for (int i = 0; i < ITEMS; i++)
        l->attraction[i] = 0.05 + 0.5 * unit(from);
    l->truth = (oltr_instance){.n_items = ITEMS, .attraction = l->attraction};
}

/* Clicks of all slots by the lab's own users. */
static void let_users_click(const lab *l, uint64_t stream, uint64_t t, uint32_t *item,
                            double *click)
{
    const oltr_click_ops *users = click_ops_of(l->world.clicks, NULL);
    oltr_rng user = oltr_rng_at(oltr_rng_make(71, stream), STREAM_USERS, t);
    oltr_ranking list = {SLOTS, item, NULL};
    uint8_t examined[SLOTS];
    memset(click, 0, SLOTS * sizeof *click);
    if (users->browse)
        users->browse(&l->world, &l->truth, &user, &list, click, examined);
    else
        users->scan(&l->world, &l->truth, &user, &list, click);
}

/* The chances of the beginnings of a list, kept for the next time: there are 210 lists. */
typedef struct kept_chances {
    bool known[ITEMS * ITEMS * ITEMS];
    double prefix[ITEMS * ITEMS * ITEMS][SLOTS];
} kept_chances;

static const double *chances_of(kept_chances *kept, const oltr_model *model, const uint32_t *place,
                                oltr_model_scratch *scratch)
{
    uint32_t code = (place[0] * ITEMS + place[1]) * ITEMS + place[2];
    oltr_list all = {.n = ITEMS, .name = names};
    if (!kept->known[code])
        assert_int_equal(oltr_model_list_propensity(model, &all, place, SLOTS, 0, scratch,
                                                    kept->prefix[code], NULL),
                         OLTR_OK);
    kept->known[code] = true;
    return kept->prefix[code];
}

/* Plays a model; fills the log where it is given, with predictions that know nothing of the world.
 * Returns the mean reward, and its standard error. */
static double play(const lab *l, const oltr_model *model, const oltr_model *evaluated,
                   uint64_t stream, played *out, double *se)
{
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    oltr_list all = {.n = ITEMS, .name = names};
    kept_chances *kept = exactly(2, sizeof *kept);
    double sum = 0, squares = 0;
    for (uint32_t t = 0; t < LISTS; t++) {
        uint32_t place[SLOTS];
        double click[SLOTS], total = 0;
        oltr_show show = {.k = SLOTS, .place = place};
        oltr_rng rng = oltr_rng_at(oltr_rng_make(72, stream), 0, t + 1);
        assert_int_equal(oltr_model_rank(model, &all, rng, scratch, &show, NULL), OLTR_OK);
        let_users_click(l, stream, t + 1, place, click);
        for (int slot = 0; slot < SLOTS; slot++)
            total += click[slot];
        sum += total;
        squares += total * total;
        if (!out)
            continue;
        memcpy(out->reward[t], click, sizeof click);
        memcpy(out->logged[t], chances_of(&kept[0], model, place, scratch), sizeof click);
        memcpy(out->evaluated[t], chances_of(&kept[1], evaluated, place, scratch), sizeof click);
        for (int slot = 0; slot < SLOTS; slot++)
            out->q[t][slot] = out->v[t][slot] = 0.2 * (SLOTS - slot);
    }
    double mean = sum / LISTS;
    *se = sqrt((squares / LISTS - mean * mean) / (LISTS - 1));
    oltr_model_scratch_free(scratch);
    free(kept);
    return mean;
}

static oltr_ope_log log_of(const played *x)
{
    return (oltr_ope_log){.n = LISTS,
                          .k = SLOTS,
                          .reward = x->reward[0],
                          .logged_prefix = x->logged[0],
                          .evaluated_prefix = x->evaluated[0],
                          .q = x->q[0],
                          .v = x->v[0]};
}

static void predicts_other_policies_on_20_worlds(void **state)
{
    static const char *const logs[] = {"gts", "random", "maillard", "ts-beta", "random"};
    static const char *const others[] = {"ts-beta", "gts", "gts", "maillard", "maillard"};
    static const oltr_ope_estimator estimator[] = {OLTR_OPE_SIPS, OLTR_OPE_RIPS, OLTR_OPE_SNSIPS,
                                                   OLTR_OPE_SNRIPS, OLTR_OPE_DR};
    double squares[COUNT(estimator)] = {0}, differs = 0;
    dice from = {34};
    played *x = exactly(1, sizeof *x);
    for (int i = 0; i < WORLDS; i++) {
        lab l;
        double sim_se, log_se;
        make_lab(&from, i, &l);
        oltr_model *logging = frozen(&from, logs[i % 5], ITEMS, l.attraction, ITEMS);
        oltr_model *other = frozen(&from, others[i % 5], 30, l.attraction, ITEMS);
        double measured = play(&l, logging, other, 2 * (uint64_t)i, x, &log_se);
        double simulated = play(&l, other, NULL, 2 * (uint64_t)i + 1, NULL, &sim_se);
        differs += pow(simulated - measured, 2) / (sim_se * sim_se + log_se * log_se);
        for (size_t e = 0; e < COUNT(estimator); e++) {
            const oltr_ope_options o = {.interval = OLTR_OPE_NORMAL};
            const oltr_ope_log log = log_of(x);
            oltr_ope_result r;
            assert_int_equal(oltr_ope_estimate(&log, estimator[e], &o, &r, NULL), OLTR_OK);
            assert_true(r.ess > 25 * EFFORT);
            squares[e] += pow(r.value - simulated, 2) / (r.se * r.se + sim_se * sim_se);
        }
        oltr_model_free(logging);
        oltr_model_free(other);
    }
    for (size_t e = 0; e < COUNT(estimator); e++) {
        print_message("%s: chi-square %.1f of %d\n", oltr_ope_name(estimator[e]), squares[e],
                      WORLDS);
        assert_true(gsl_cdf_chisq_Q(squares[e], WORLDS) > 5e-8);
        assert_true(gsl_cdf_chisq_P(squares[e], WORLDS) > 5e-8);
    }
    /* the two policies earn different rewards: a log that is not reweighted is found out */
    assert_true(gsl_cdf_chisq_Q(differs, WORLDS) < 1e-9);
    free(x);
}

/* A log of random lists, and a policy that always shows one list: replay. */
static void replays_random_lists(void **state)
{
    enum { MANY = 4000 * EFFORT };
    dice from = {35};
    double squares = 0;
    uint8_t *match = exactly(MANY, 1);
    double *reward = exactly(MANY, 3 * sizeof *reward);
    for (int i = 0; i < WORLDS; i++) {
        slates s = slates_of(3);
        slate_world w = slate_world_make(&from, (slate_users)(i % SLATE_USERS));
        uint32_t chosen = below(&from, s.n);
        slate_policy uniform = slate_plackett_luce(&from, &s, 0);
        for (int t = 0; t < MANY; t++) {
            uint32_t list = slate_draw_list(&from, &s, &uniform);
            uint32_t clicks = slate_draw_clicks(&from, &w, s.item[list], 3);
            match[t] = list == chosen;
            for (int l = 0; l < 3; l++)
                reward[3 * t + l] = clicks >> l & 1;
        }
        const oltr_ope_log log = {.n = MANY, .k = 3, .reward = reward, .match = match};
        const oltr_ope_options o = {.interval = OLTR_OPE_NORMAL};
        oltr_ope_result r;
        assert_int_equal(oltr_ope_estimate(&log, OLTR_OPE_REPLAY, &o, &r, NULL), OLTR_OK);
        squares += pow((r.value - slate_expected_clicks(&w, s.item[chosen], 3)) / r.se, 2);
    }
    assert_true(gsl_cdf_chisq_Q(squares, WORLDS) > 5e-8);
    free(match);
    free(reward);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_unbiased_for_plackett_luce),
        cmocka_unit_test(is_unbiased_for_models),
        cmocka_unit_test(is_biased_where_it_says),
        cmocka_unit_test(predicts_other_policies_on_20_worlds),
        cmocka_unit_test(replays_random_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
