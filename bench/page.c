/* page.c - what a page sees of a model, in numbers: the tables of docs/serving.md.
 *
 *   seed         how much of a list stays when the model learns and the seed text is the same
 *   order        how much the belief depends on the order of lessons
 *   delay        clicks lost when feedback arrives late
 *   propensity   for which kinds it is exact; time, and error of drawn lists
 *   merge        models that learned apart, against one that learned everything
 *   logs         what the lists of a kind cost and are worth to an off-policy evaluation
 *
 * Users scan from the top and click the first item that attracts them.  The click rates of items
 * lie between 0.5 % and 20 %, evenly by logarithm; with features they are a logistic function of
 * ten of them.  Everything is drawn from fixed seeds; only times differ from run to run.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oltr/model.h>
#include <oltr/ope.h>

#include "measure.h"

enum { DIM = 10, MOST_ITEMS = 1000, MOST_SLOTS = 10, NAME = 16 };

typedef struct page {
    const char *kind, *set; /* set: NULL, or "name=value" */
    oltr_model *model;
    oltr_model_scratch *scratch;
    uint32_t n_items, k;
    char text[MOST_ITEMS][NAME];
    oltr_name name[MOST_ITEMS];
    float x[MOST_ITEMS][DIM];
    double rate[MOST_ITEMS];
    double theta[DIM];
    bool contextual, fresh_rows; /* fresh_rows: other rows in each request */
    uint64_t seed;
} page;

static void check(oltr_status status, const oltr_error *error)
{
    if (status != OLTR_OK)
        die("%s: %s", oltr_status_name(status), error->msg);
}

/* ---- items and users */

static void make_plain_items(page *p, oltr_rng *rng)
{
    for (uint32_t i = 0; i < p->n_items; i++)
        p->rate[i] = 0.005 * pow(40, oltr_rng_uniform(rng));
}

/* Rows of length 1 whose first feature is the same for all. */
static void make_rows(page *p, oltr_rng *rng)
{
    for (uint32_t i = 0; i < p->n_items; i++) {
        double row[DIM], square = 0, score = 0;
        for (int j = 1; j < DIM; j++) {
            row[j] = oltr_rng_normal(rng);
            square += row[j] * row[j];
        }
        row[0] = sqrt(square / 3);
        for (int j = 0; j < DIM; j++) {
            p->x[i][j] = (float)(row[j] / sqrt(square + square / 3));
            score += (double)p->x[i][j] * p->theta[j];
        }
        p->rate[i] = 1 / (1 + exp(-score));
    }
}

static oltr_model *new_model(const char *kind, const char *set, uint32_t n_items)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings;
    check(oltr_model_settings_init(&settings, kind, &error), &error);
    if (settings.policy.info->contextual) {
        settings.policy.dim = DIM;
        settings.policy.n_items = n_items;
    }
    if (set) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(set, "="), set);
        check(oltr_model_settings_set(&settings, name, strchr(set, '=') + 1, &error), &error);
    }
    oltr_model *model = oltr_model_new(&settings, &error);
    if (!model)
        die("%s: %s", kind, error.msg);
    return model;
}

static void page_begin(page *p, const char *kind, const char *set, uint32_t n_items, uint32_t k,
                       uint64_t seed)
{
    oltr_rng rng = oltr_rng_make(seed, 1);
    *p = (page){.kind = kind, .set = set, .n_items = n_items, .k = k, .seed = seed};
    p->model = new_model(kind, set, n_items);
    p->contextual = oltr_model_settings_of(p->model)->policy.info->contextual;
    p->scratch = oltr_model_scratch_new(NULL);
    if (!p->scratch)
        die("no memory");
    for (int j = 0; j < DIM; j++)
        p->theta[j] = j ? 1.5 * oltr_rng_normal(&rng) : -6;
    (p->contextual ? make_rows : make_plain_items)(p, &rng);
    for (uint32_t i = 0; i < n_items; i++) {
        int size = snprintf(p->text[i], NAME, "item-%u", i);
        p->name[i] = (oltr_name){p->text[i], (uint32_t)size};
    }
}

static void page_end(page *p)
{
    oltr_model_free(p->model);
    oltr_model_scratch_free(p->scratch);
}

static oltr_list all_of(const page *p)
{
    return (oltr_list){.n = p->n_items,
                       .name = p->contextual ? NULL : p->name,
                       .x = p->contextual ? p->x[0] : NULL};
}

/* ---- one request */

typedef struct shown {
    uint32_t item[MOST_SLOTS];
    double click[MOST_SLOTS];
    float x[MOST_SLOTS][DIM];
} shown;

static void rank(page *p, const oltr_model *model, oltr_rng rng, uint32_t *item)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_list list = all_of(p);
    oltr_show show = {.k = p->k, .place = item};
    check(oltr_model_rank(model, &list, rng, p->scratch, &show, &error), &error);
}

static void watch(const page *p, uint64_t request, shown *s)
{
    oltr_rng user = oltr_rng_at(oltr_rng_make(p->seed, 2), 1, request);
    bool clicked = false;
    for (uint32_t slot = 0; slot < p->k; slot++) {
        s->click[slot] = !clicked && oltr_rng_uniform(&user) < p->rate[s->item[slot]];
        clicked = clicked || s->click[slot] > 0;
        memcpy(s->x[slot], p->x[s->item[slot]], sizeof s->x[slot]);
    }
}

static void learn(const page *p, oltr_model *model, const shown *s)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_name name[MOST_SLOTS];
    for (uint32_t slot = 0; slot < p->k; slot++)
        name[slot] = p->name[s->item[slot]];
    oltr_lesson lesson = {.reward = s->click};
    lesson.shown = (oltr_list){
        .n = p->k, .name = p->contextual ? NULL : name, .x = p->contextual ? s->x[0] : NULL};
    check(oltr_model_learn(model, &lesson, NULL, &error), &error);
}

static void serve(page *p, uint64_t request, shown *s)
{
    oltr_rng rows = oltr_rng_at(oltr_rng_make(p->seed, 4), 1, request);
    if (p->fresh_rows)
        make_rows(p, &rows);
    rank(p, p->model, oltr_rng_at(oltr_rng_make(p->seed, 3), 0, request), s->item);
    watch(p, request, s);
}

static oltr_model *copy_of(const oltr_model *model)
{
    oltr_model *copy = oltr_model_copy(model, NULL, NULL);
    if (!copy)
        die("no memory for a copy");
    return copy;
}

/* ---- seed: lists before and after ten lessons */

typedef struct stay {
    double lists, same, shared, first;
} stay;

static void compare_lists(const page *p, const uint32_t *before, const uint32_t *after, stay *sum)
{
    uint32_t shared = 0;
    for (uint32_t i = 0; i < p->k; i++)
        for (uint32_t j = 0; j < p->k; j++)
            shared += before[i] == after[j];
    sum->lists++;
    sum->same += memcmp(before, after, p->k * sizeof *before) == 0;
    sum->first += before[0] == after[0];
    sum->shared += shared;
}

/* Other sessions give ten lessons; a hundred sessions look at their lists before and after. */
static void look_twice(page *p, uint64_t request, stay *sum)
{
    oltr_model *later = copy_of(p->model);
    for (uint64_t i = 1; i <= 10; i++) {
        shown s;
        rank(p, later, oltr_rng_at(oltr_rng_make(p->seed, 3), 0, request + i), s.item);
        watch(p, request + i, &s);
        learn(p, later, &s);
    }
    for (int session = 0; session < 100; session++) {
        char text[32];
        uint32_t before[MOST_SLOTS], after[MOST_SLOTS];
        int size = snprintf(text, sizeof text, "session %d", session);
        oltr_rng rng = oltr_rng_text(text, (size_t)size);
        rank(p, p->model, rng, before);
        rank(p, later, rng, after);
        compare_lists(p, before, after, sum);
    }
    oltr_model_free(later);
}

static void seed_row(const char *kind, const char *set, uint32_t n_items, uint64_t oldest)
{
    static page p;
    page_begin(&p, kind, set, n_items, 10, 1);
    printf("| %s%s%s | %u |", kind, set ? " " : "", set ? set : "", n_items);
    for (uint64_t age = 1, next = oldest / 100; age <= oldest; age++) {
        shown s;
        stay sum = {0};
        serve(&p, age, &s);
        learn(&p, p.model, &s);
        if (age != next)
            continue;
        for (uint64_t i = 0; i < 20; i++)
            look_twice(&p, oldest + 100 * i, &sum);
        printf(" %.0f %%, %.1f, %.0f %% |", 100 * sum.same / sum.lists, sum.shared / sum.lists,
               100 * sum.first / sum.lists);
        next *= 10;
    }
    printf("\n");
    page_end(&p);
}

static void measure_seed(bool quick)
{
    uint64_t oldest = quick ? 1000 : 100000;
    printf("### seed: the list of a session after 10 lessons of others\n\n"
           "Same list; of 10 items shared; same first item.\n\n"
           "| kind | items | age %llu | age %llu | age %llu |\n|---|---|---|---|---|\n",
           (unsigned long long)oldest / 100, (unsigned long long)oldest / 10,
           (unsigned long long)oldest);
    const uint32_t sizes[] = {120, 1000};
    for (int i = 0; i < 2; i++) {
        seed_row("ts-hyper", NULL, sizes[i], oldest);
        seed_row("ts-beta", NULL, sizes[i], oldest);
        seed_row("gts", "sigma=0.2", sizes[i], oldest);
    }
}

/* ---- order: the same lessons in another order */

enum { MOST_LESSONS = 5000 };

static void shuffle(shown *s, uint32_t n, uint64_t seed)
{
    oltr_rng rng = oltr_rng_make(seed, 9);
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = oltr_rng_below(&rng, i);
        shown t = s[i - 1];
        s[i - 1] = s[j];
        s[j] = t;
    }
}

/* The image of a model also has the last lesson of each item, which differs. */
static bool same_policy(const oltr_model *model_a, const oltr_model *model_b)
{
    const oltr_policy *a = oltr_model_policy(model_a), *b = oltr_model_policy(model_b);
    size_t n = oltr_save_bound(a), m = oltr_save_bound(b);
    void *x = malloc(n), *y = malloc(m);
    if (!x || !y || oltr_save(a, x, n, &n) != OLTR_OK || oltr_save(b, y, m, &m) != OLTR_OK)
        die("cannot save");
    bool same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

/* The largest difference of two beliefs in standard deviations; NAN for kinds without a mean. */
static double distance(const page *p, const oltr_model *a, const oltr_model *b)
{
    static double mean_a[MOST_ITEMS], mean_b[MOST_ITEMS], sd[MOST_ITEMS];
    oltr_list list = all_of(p);
    double most = 0;
    if (oltr_model_predict(a, &list, mean_a, sd, NULL) != OLTR_OK ||
        oltr_model_predict(b, &list, mean_b, NULL, NULL) != OLTR_OK)
        return NAN;
    for (uint32_t i = 0; i < p->n_items; i++)
        most = fmax(most, fabs(mean_a[i] - mean_b[i]) / sd[i]);
    return most;
}

/* Items are met in the same order, so that they have the same numbers. */
static oltr_model *learned(const page *p, const shown *s, uint32_t n)
{
    oltr_model *model = new_model(p->kind, p->set, p->n_items);
    for (uint32_t i = 0; !p->contextual && i + p->k <= p->n_items; i += p->k) {
        shown first = {.click = {0}};
        for (uint32_t j = 0; j < p->k; j++)
            first.item[j] = i + j;
        learn(p, model, &first);
    }
    for (uint32_t i = 0; i < n; i++)
        learn(p, model, &s[i]);
    return model;
}

static void order_row(const oltr_policy_info *info, bool fresh_rows, uint32_t n)
{
    static page p;
    static shown s[MOST_LESSONS];
    page_begin(&p, info->name, NULL, 50, 5, 2);
    p.fresh_rows = fresh_rows;
    for (uint32_t i = 0; i < n; i++) {
        serve(&p, i + 1, &s[i]);
        learn(&p, p.model, &s[i]);
    }
    oltr_model *straight = learned(&p, s, n);
    for (uint32_t i = 0; i + 100 <= n; i += 100)
        shuffle(s + i, 100, i);
    oltr_model *near = learned(&p, s, n);
    shuffle(s, n, n);
    oltr_model *far = learned(&p, s, n);
    printf("| %s%s | %s | %s | %.1g | %.1g |\n", info->name,
           fresh_rows ? ", new rows in each request" : "", info->order_free ? "yes" : "no",
           same_policy(straight, far) ? "yes" : "no", distance(&p, straight, near),
           distance(&p, straight, far));
    oltr_model_free(straight);
    oltr_model_free(near);
    oltr_model_free(far);
    page_end(&p);
}

/* Models are of kinds with features or with sums of single items.  ensemble needs a prior for each
 * item and learns nothing. */
static bool can_be_served(const oltr_policy_info *info)
{
    return (info->contextual || info->by_item) && strcmp(info->name, "ensemble") != 0;
}

static void measure_order(bool quick)
{
    uint32_t n = quick ? 500 : MOST_LESSONS;
    printf("\n### order: %u lessons, 50 items, 5 slots\n\n"
           "The largest difference of means in standard deviations of the belief.\n\n"
           "| kind | order_free | same snapshot | shuffled by 100 | shuffled all |\n"
           "|---|---|---|---|---|\n",
           n);
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (can_be_served(info))
            order_row(info, false, n);
        if (info->contextual)
            order_row(info, true, n);
    }
}

/* ---- delay: clicks lost */

static double chance_of_click(const page *p, const uint32_t *item)
{
    double none = 1;
    for (uint32_t slot = 0; slot < p->k; slot++)
        none *= 1 - p->rate[item[slot]];
    return 1 - none;
}

static double best_chance(const page *p)
{
    uint32_t best[MOST_SLOTS];
    bool taken[MOST_ITEMS] = {false};
    for (uint32_t slot = 0; slot < p->k; slot++) {
        best[slot] = UINT32_MAX;
        for (uint32_t i = 0; i < p->n_items; i++)
            if (!taken[i] && (best[slot] == UINT32_MAX || p->rate[i] > p->rate[best[slot]]))
                best[slot] = i;
        taken[best[slot]] = true;
    }
    return chance_of_click(p, best);
}

/* Clicks lost in n requests when the lesson of request t arrives after request t + delay. */
static double lost(const char *kind, const char *set, uint32_t delay, uint32_t n, uint64_t seed)
{
    static page p;
    double sum = 0;
    shown *waiting = array_of((size_t)delay + 1, sizeof *waiting);
    page_begin(&p, kind, set, 100, 5, seed);
    double best = best_chance(&p);
    for (uint32_t t = 0; t < n; t++) {
        shown *s = &waiting[t % (delay + 1)];
        serve(&p, t + 1, s);
        sum += best - chance_of_click(&p, s->item);
        if (t >= delay)
            learn(&p, p.model, &waiting[(t - delay) % (delay + 1)]);
    }
    page_end(&p);
    free(waiting);
    return sum;
}

static void delay_row(const char *kind, const char *set, uint32_t n, uint32_t runs)
{
    const uint32_t delays[] = {0, 10, 100, 1000};
    printf("| %s%s%s |", kind, set ? " " : "", set ? set : "");
    for (int d = 0; d < 4; d++) {
        double sum = 0, square = 0;
        for (uint32_t run = 0; run < runs; run++) {
            double one = lost(kind, set, delays[d], n, 100 + run);
            sum += one;
            square += one * one;
        }
        double mean = sum / runs, variance = square / runs - mean * mean;
        printf(" %.0f ± %.0f |", mean, runs > 1 ? sqrt(variance / (runs - 1)) : 0);
    }
    printf("\n");
}

static void measure_delay(bool quick)
{
    uint32_t n = quick ? 2000 : 20000, runs = quick ? 1 : 10;
    printf("\n### delay: clicks lost in %u requests, 100 items, 5 slots, %u runs\n\n"
           "| kind | at once | 10 requests late | 100 | 1,000 |\n|---|---|---|---|---|\n",
           n, runs);
    delay_row("ts-hyper", NULL, n, runs);
    delay_row("ts-beta", NULL, n, runs);
    delay_row("gts", "sigma=0.2", n, runs);
    delay_row("bayes-ucb", NULL, n, runs);
    delay_row("cascade-klucb", NULL, n, runs);
    delay_row("ts-cascade", NULL, n, runs);
    delay_row("lints", "radius=bayes", n, runs);
    delay_row("logts", NULL, n, runs);
    delay_row("logts-newton", NULL, n, runs);
    delay_row("cascade-linucb", NULL, n, runs);
    delay_row("random", NULL, n, runs);
}

/* ---- propensity */

typedef struct chances_run {
    page *page;
    uint32_t draws;
    double in_list[MOST_ITEMS], first[MOST_ITEMS];
    oltr_status status;
} chances_run;

static void compute_chances(void *run_, uint32_t rounds)
{
    chances_run *run = run_;
    oltr_list list = all_of(run->page);
    oltr_show show = {.k = run->page->k};
    for (; rounds; rounds--)
        run->status =
            oltr_model_propensity(run->page->model, &list, &show, run->draws, oltr_rng_make(5, 6),
                                  run->page->scratch, run->in_list, run->first, NULL);
}

static double microseconds(chances_run *run, uint32_t rounds)
{
    static variant v;
    v = (variant){.play = compute_chances, .context = run, .rounds = rounds};
    uint32_t repetitions = rounds > 1 ? 9 : 1;
    measure(&v, 1, repetitions);
    return 1e-3 * median_ns(&v, repetitions);
}

static double root_mean_square(const double *a, const double *b, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / n);
}

static void propensity_row(const oltr_policy_info *info, uint32_t age, uint32_t rounds)
{
    static page p;
    static chances_run exact, drawn;
    page_begin(&p, info->name, NULL, 120, 10, 3);
    for (uint32_t t = 1; t <= age; t++) {
        shown s;
        serve(&p, t, &s);
        learn(&p, p.model, &s);
    }
    exact = (chances_run){.page = &p};
    drawn = (chances_run){.page = &p, .draws = 256};
    compute_chances(&exact, 1);
    printf("| %s |", info->name);
    if (exact.status == OLTR_OK)
        printf(" %.0f us |", microseconds(&exact, rounds));
    else
        printf(" no |");
    printf(" %.0f us |", microseconds(&drawn, rounds));
    if (exact.status == OLTR_OK)
        printf(" %.4f |\n", root_mean_square(exact.in_list, drawn.in_list, p.n_items));
    else
        printf(" |\n");
    page_end(&p);
}

static void measure_propensity(bool quick)
{
    uint32_t age = quick ? 500 : 10000;
    printf("\n### propensity: 120 candidates, 10 slots, after %u lessons\n\n"
           "| kind | exact | 256 lists | root mean square of its error |\n|---|---|---|---|\n",
           age);
    for (uint32_t i = 0; i < oltr_policy_count(); i++)
        if (can_be_served(oltr_policy_info_at(i)))
            propensity_row(oltr_policy_info_at(i), age, quick ? 1 : 10);
}

/* ---- merge: 99 deltas, each sent twice, against one learner */

static void merge_row(const oltr_policy_info *info, uint32_t lessons)
{
    static page p;
    page_begin(&p, info->name, NULL, 50, 5, 4);
    oltr_model *hub = new_model(info->name, NULL, p.n_items);
    uint64_t merged = 0;
    for (uint32_t edge = 0; edge < 99; edge++) {
        oltr_error error = {OLTR_OK, ""};
        oltr_model *delta = new_model(info->name, NULL, p.n_items);
        for (uint32_t i = 0; i < lessons; i++) {
            shown s;
            serve(&p, edge * lessons + i + 1, &s);
            learn(&p, p.model, &s);
            learn(&p, delta, &s);
        }
        for (int sent = 0; sent < 2; sent++) {
            int applied;
            oltr_name id = {&edge, sizeof edge};
            check(oltr_model_merge(hub, delta, id, &applied, &error), &error);
            merged += (uint64_t)applied;
        }
        oltr_model_free(delta);
    }
    printf("| %s | %llu | %llu of %llu | %.1e |\n", info->name, (unsigned long long)merged,
           (unsigned long long)oltr_model_lessons(hub),
           (unsigned long long)oltr_model_lessons(p.model), distance(&p, p.model, hub));
    oltr_model_free(hub);
    page_end(&p);
}

static void measure_merge(bool quick)
{
    printf("\n### merge: 99 models that learned apart, each sent twice, against one learner\n\n"
           "The largest difference of means in standard deviations of the belief.\n\n"
           "| kind | merges counted | lessons | difference |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < oltr_policy_count(); i++) {
        const oltr_policy_info *info = oltr_policy_info_at(i);
        if (can_be_served(info) && info->can_merge && info->can_predict)
            merge_row(info, quick ? 5 : 50);
    }
}

/* ---- logs
 *
 * Ten items and three slots.  All models have learned the same random lists and then stay as they
 * are; each logs lists with their chances, and the log has to tell the value of another ranker,
 * which draws items without replacement by their click rates.  That value is
 * known: a list is clicked with chance 1 - prod (1 - rate). */

enum { LOG_ITEMS = 10, LOG_SLOTS = 3, LOG_LISTS = 2000, LOG_LESSONS = 100 };

typedef struct logged {
    uint32_t item[LOG_LISTS][LOG_SLOTS];
    double reward[LOG_LISTS][LOG_SLOTS], chance[LOG_LISTS][LOG_SLOTS], target[LOG_LISTS][LOG_SLOTS];
    page *page;
} logged;

/* The chances of the beginnings of a list under the evaluated ranker. */
static void target_chances(const page *p, const uint32_t *item, double *chance)
{
    double left = 0, product = 1;
    for (uint32_t i = 0; i < p->n_items; i++)
        left += p->rate[i];
    for (uint32_t slot = 0; slot < p->k; slot++) {
        product *= p->rate[item[slot]] / left;
        left -= p->rate[item[slot]];
        chance[slot] = product;
    }
}

static double list_value(const page *p, const uint32_t *item)
{
    double none = 1;
    for (uint32_t slot = 0; slot < p->k; slot++)
        none *= 1 - p->rate[item[slot]];
    return 1 - none;
}

/* Over all lists of three different items. */
static double target_value(const page *p)
{
    double sum = 0, chance[LOG_SLOTS];
    for (uint32_t code = 0; code < LOG_ITEMS * LOG_ITEMS * LOG_ITEMS; code++) {
        uint32_t item[LOG_SLOTS] = {code % LOG_ITEMS, code / LOG_ITEMS % LOG_ITEMS,
                                    code / (LOG_ITEMS * LOG_ITEMS)};
        if (item[0] == item[1] || item[0] == item[2] || item[1] == item[2])
            continue;
        target_chances(p, item, chance);
        sum += chance[LOG_SLOTS - 1] * list_value(p, item);
    }
    return sum;
}

static void teach_random_lists(page *p)
{
    page any;
    page_begin(&any, "random", NULL, p->n_items, p->k, p->seed);
    for (uint32_t t = 1; t <= LOG_LESSONS; t++) {
        shown s;
        serve(&any, t, &s);
        learn(p, p->model, &s);
    }
    page_end(&any);
}

static void compute_list_chances(void *log_, uint32_t lists)
{
    logged *log = log_;
    oltr_error error = {OLTR_OK, ""};
    oltr_list all = all_of(log->page);
    for (uint32_t i = 0; i < lists; i++)
        check(oltr_model_list_propensity(log->page->model, &all, log->item[i % LOG_LISTS],
                                         LOG_SLOTS, 0, log->page->scratch,
                                         log->chance[i % LOG_LISTS], &error),
              &error);
}

static void write_log(logged *log, uint32_t number)
{
    for (uint32_t i = 0; i < LOG_LISTS; i++) {
        shown s;
        serve(log->page, LOG_LESSONS + 1 + (uint64_t)number * LOG_LISTS + i, &s);
        memcpy(log->item[i], s.item, sizeof log->item[i]);
        memcpy(log->reward[i], s.click, sizeof log->reward[i]);
        target_chances(log->page, s.item, log->target[i]);
    }
    compute_list_chances(log, LOG_LISTS);
}

static oltr_ope_result evaluate(const logged *log, oltr_ope_estimator estimator)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_ope_log of = {.n = LOG_LISTS,
                       .k = LOG_SLOTS,
                       .reward = log->reward[0],
                       .logged_prefix = log->chance[0],
                       .evaluated_prefix = log->target[0]};
    oltr_ope_options options = {.size = sizeof options, .interval = OLTR_OPE_NORMAL};
    oltr_ope_result result;
    check(oltr_ope_estimate(&of, estimator, &options, &result, &error), &error);
    return result;
}

static void logs_row(const char *kind, uint32_t logs)
{
    static page p;
    static logged log;
    static variant v;
    double sips = 0, rips = 0, ess = 0, clicks = 0;
    page_begin(&p, kind, NULL, LOG_ITEMS, LOG_SLOTS, 3);
    teach_random_lists(&p);
    log.page = &p;
    double truth = target_value(&p);
    for (uint32_t number = 0; number < logs; number++) {
        write_log(&log, number);
        oltr_ope_result whole = evaluate(&log, OLTR_OPE_SIPS);
        double parts = evaluate(&log, OLTR_OPE_RIPS).value;
        sips += (whole.value - truth) * (whole.value - truth) / logs;
        rips += (parts - truth) * (parts - truth) / logs;
        ess += whole.ess / logs;
        for (uint32_t i = 0; i < LOG_LISTS; i++)
            clicks += list_value(&p, log.item[i]) / LOG_LISTS / logs;
    }
    v = (variant){.play = compute_list_chances, .context = &log, .rounds = 100};
    measure(&v, 1, 9);
    printf("| %s | %.4f | %.1f us | %.4f | %.4f | %.0f |\n", kind, clicks, 1e-3 * median_ns(&v, 9),
           sqrt(sips), sqrt(rips), ess);
    page_end(&p);
}

static void measure_logs(bool quick)
{
    static const char *const kinds[] = {"maillard", "ts-beta", "gts", "random"};
    page p;
    page_begin(&p, "random", NULL, LOG_ITEMS, LOG_SLOTS, 3);
    printf("\n### logs: %d lists of %d slots, %d items; the evaluated ranker has %.4f clicks a "
           "list\n\n"
           "| logged by | clicks of a list | time of its chances | error of sips | of rips | "
           "effective lists |\n|---|---|---|---|---|---|\n",
           LOG_LISTS, LOG_SLOTS, LOG_ITEMS, target_value(&p));
    page_end(&p);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        logs_row(kinds[i], quick ? 2 : 40);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*measure)(bool quick);
    } part[] = {{"seed", measure_seed},   {"order", measure_order},
                {"delay", measure_delay}, {"propensity", measure_propensity},
                {"merge", measure_merge}, {"logs", measure_logs}};
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        bool wanted = argc <= 1 + quick;
        for (int a = 1 + quick; a < argc; a++)
            wanted = wanted || strcmp(argv[a], part[i].name) == 0;
        if (wanted)
            part[i].measure(quick);
    }
    return 0;
}
