/* explore.c - what a page shows of new items, how likely it shows each, and why.
 *
 *   cc -I include examples/explore.c -loltr -lm -o explore && ./explore
 *
 * A page has known a hundred items for long, and a hundred new ones arrive at once.  The program
 * bounds how many of them a list shows, computes the propensities that an off-policy evaluation
 * needs, explains an item, and makes a model for a second page from what the first believes.
 */
#include <oltr/model.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLD = 100, ITEMS = 200, SLOTS = 10, LISTS = 500 };

static char text[ITEMS][16];
static oltr_name name[ITEMS];

static bool failed(oltr_status status, const oltr_error *error)
{
    if (status != OLTR_OK)
        fprintf(stderr, "explore: %s\n", error->msg);
    return status != OLTR_OK;
}

/* Clicks at about 5 %: each item was looked at 400 times. */
static bool learn_old_items(oltr_model *model, oltr_error *error)
{
    for (uint32_t i = 0; i < OLD; i++)
        for (uint32_t look = 0; look < 400; look++) {
            double click = look < 10 + i / 5;
            oltr_lesson lesson = {.shown = {.n = 1, .name = &name[i]}, .reward = &click};
            if (failed(oltr_model_learn(model, &lesson, NULL, error), error))
                return false;
        }
    return true;
}

/* ---- at most two new items in a list */

static oltr_status rank_page(const oltr_model *model, oltr_model_scratch *scratch, const char *user,
                             uint32_t most_fresh, uint32_t place[SLOTS], oltr_error *error)
{
    oltr_list list = {.n = ITEMS, .name = name};
    oltr_show show = {.k = SLOTS, .place = place, .fresh_below = 100, .most_fresh = most_fresh};
    return oltr_model_rank(model, &list, oltr_rng_text(user, strlen(user)), scratch, &show, error);
}

/* New items in a list, on average over many users; -1 on an error. */
static double count_new(const oltr_model *model, oltr_model_scratch *scratch, uint32_t most_fresh,
                        oltr_error *error)
{
    uint32_t place[SLOTS], new_items = 0;
    for (int i = 0; i < LISTS; i++) {
        char user[24];
        snprintf(user, sizeof user, "user %d", i);
        if (failed(rank_page(model, scratch, user, most_fresh, place, error), error))
            return -1;
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            new_items += place[slot] >= OLD;
    }
    return (double)new_items / LISTS;
}

/* ---- propensities */

/* The chances of all items to be in a list of that rule; exact, because ts-beta draws each item by
 * itself.  Returns their sum, which is the number of slots; -1 on an error. */
static double propensities(const oltr_model *model, oltr_model_scratch *scratch,
                           double in_list[ITEMS], double first[ITEMS], oltr_error *error)
{
    oltr_list list = {.n = ITEMS, .name = name};
    oltr_show show = {.k = SLOTS, .fresh_below = 100, .most_fresh = 2};
    oltr_rng unused = oltr_rng_make(0, 0); /* it draws nothing when draws is 0 */
    if (failed(
            oltr_model_propensity(model, &list, &show, 0, unused, scratch, in_list, first, error),
            error))
        return -1;
    double sum = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        sum += in_list[i];
    return sum;
}

/* ---- explanations, and a child */

static bool explain(const oltr_model *model, const char *page, oltr_name item, oltr_error *error)
{
    oltr_explained why;
    oltr_list list = {.n = 1, .name = &item};
    if (failed(oltr_model_explain(model, &list, &why, error), error))
        return false;
    printf("%s, %.*s: %.4f +- %.4f from %.0f looks and %.0f clicks; prior %.4f +- %.4f, its share "
           "%.0f %%\n",
           page, (int)item.size, (const char *)item.bytes, why.mean, why.sd, why.examined,
           why.reward, why.prior_mean, why.prior_sd, 100 * why.prior_share);
    return true;
}

static bool explain_child(const oltr_model *parent, oltr_error *error)
{
    oltr_model *child = oltr_model_like(parent, 0.1, NULL, error);
    if (failed(child ? OLTR_OK : error->code, error))
        return false;
    bool good = explain(child, "second page", name[OLD - 1], error);
    oltr_model_free(child);
    return good;
}

static bool run(oltr_model *model, oltr_model_scratch *scratch, oltr_error *error)
{
    double in_list[ITEMS], first[ITEMS];
    if (!learn_old_items(model, error))
        return false;
    double free_choice = count_new(model, scratch, SLOTS, error),
           bounded = count_new(model, scratch, 2, error),
           sum = propensities(model, scratch, in_list, first, error);
    printf("new items in a list of %d: %.1f, with most_fresh 2: %.1f\n", SLOTS, free_choice,
           bounded);
    printf("item 99 is in the list with chance %.3f, first with %.3f; item 199: %.3f, %.3f; all "
           "add up to %.6f\n",
           in_list[OLD - 1], first[OLD - 1], in_list[ITEMS - 1], first[ITEMS - 1], sum);
    return free_choice >= 0 && bounded >= 0 && sum >= 0 &&
           explain(model, "first page", name[OLD - 1], error) && explain_child(model, error);
}

int main(void)
{
    oltr_error error = {OLTR_OK, ""};
    oltr_model_settings settings;
    for (uint32_t i = 0; i < ITEMS; i++)
        name[i] = (oltr_name){text[i], (uint32_t)snprintf(text[i], sizeof text[i], "item %u", i)};
    if (failed(oltr_model_settings_init(&settings, "ts-beta", &error), &error) ||
        failed(oltr_model_settings_set(&settings, "default_prior", "1,20", &error), &error) ||
        failed(oltr_model_settings_set(&settings, "prior", "full", &error), &error))
        return 1;
    oltr_model *model = oltr_model_new(&settings, &error);
    oltr_model_scratch *scratch = oltr_model_scratch_new(NULL);
    bool good = model && scratch && run(model, scratch, &error);
    oltr_model_free(model);
    oltr_model_scratch_free(scratch);
    return !good;
}
