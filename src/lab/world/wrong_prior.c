/* wrong_prior.c - see wrong_prior.h.
 *
 * The draws are of the stream of priors, in rounds of their own: which items are changed, how they
 * are permuted, and the error of each item by a generator of the item.  So another shift, noise or
 * weight meets the same errors, the same items and the same order, and no change alters the
 * attractions.  O(L), or O(L log L) to reverse or to change a share; then a list of the items is
 * allocated in each draw.
 */
#include "lab/world/wrong_prior.h"

#include <math.h>
#include <stdlib.h>

#include "engine/limits.h"

/* Rounds of the stream; 0 has the shapes of world beta. */
enum { ROUND_CHOICE = 1, ROUND_ORDER = 2, ROUND_NOISE = 3 };

const char *const prior_orders[] = {"own", "permuted", "reversed", NULL};

typedef struct place {
    double mean; /* of its prior */
    uint32_t item;
} place;

wrong_prior wrong_prior_of(const oltr_world *world, const world_param *params, uint32_t first)
{
    double value[WRONG_PRIOR_PARAMS];
    for (uint32_t i = 0; i < WRONG_PRIOR_PARAMS; i++)
        value[i] = oltr_world_value(params, world->kind_values, first + i);
    return (wrong_prior){.shift = value[PRIOR_SHIFT],
                         .noise = value[PRIOR_NOISE],
                         .weight = value[PRIOR_WEIGHT],
                         .share = value[PRIOR_SHARE],
                         .order = (enum prior_order)value[PRIOR_ORDER]};
}

static bool differs(double x, double y)
{
    return x < y || x > y;
}

static bool moves_means(const wrong_prior *wrong)
{
    return differs(wrong->shift, 0) || wrong->noise > 0;
}

bool prior_is_changed(const wrong_prior *wrong)
{
    return moves_means(wrong) || wrong->order != ORDER_OWN || differs(wrong->weight, 1);
}

/* ---- which items */

/* The first `wanted` places become a random choice of all n, each as likely as any other. */
static void choose(place *all, uint32_t n, uint32_t wanted, oltr_rng rng)
{
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t other = i + oltr_rng_below(&rng, n - i);
        place chosen = all[other];
        all[other] = all[i];
        all[i] = chosen;
    }
}

static int by_item(const void *left, const void *right)
{
    const place *x = left, *y = right;
    return (x->item > y->item) - (x->item < y->item);
}

static int by_mean(const void *left, const void *right)
{
    const place *x = left, *y = right;
    int order = (x->mean > y->mean) - (x->mean < y->mean);
    return order ? order : by_item(left, right);
}

/* ---- what changes */

static void swap_priors(instance *out, uint32_t i, uint32_t j)
{
    double a = out->a[i], b = out->b[i];
    out->a[i] = out->a[j];
    out->b[i] = out->b[j];
    out->a[j] = a;
    out->b[j] = b;
}

static void permute(instance *out, const place *of, uint32_t n, oltr_rng rng)
{
    for (uint32_t i = n; i > 1; i--)
        swap_priors(out, of[i - 1].item, of[oltr_rng_below(&rng, i)].item);
}

static void reverse(instance *out, place *of, uint32_t n)
{
    qsort(of, n, sizeof *of, by_mean);
    for (uint32_t i = 0; i < n / 2; i++)
        swap_priors(out, of[i].item, of[n - 1 - i].item);
}

/* logit a' / (a' + b') = logit a / (a + b) + shift, a' + b' = a + b. */
static void shift_mean(double *a, double *b, double shift)
{
    double both = *a + *b, z = log(*a / *b) + shift;
    *a = both / (1 + exp(-z));
    *b = both / (1 + exp(z));
}

/* Within what policies accept as a shape. */
static double shape(double x)
{
    return fmin(fmax(x, LEAST_SHAPE), LARGEST_SHAPE);
}

static void change_item(const wrong_prior *wrong, const oltr_rng *noise, instance *out, uint32_t i)
{
    oltr_rng own = oltr_rng_fork(*noise, i);
    double *a = &out->a[i], *b = &out->b[i];
    if (moves_means(wrong))
        shift_mean(a, b,
                   wrong->shift + (wrong->noise > 0 ? wrong->noise * oltr_rng_normal(&own) : 0));
    *a = shape(*a * wrong->weight);
    *b = shape(*b * wrong->weight);
}

/* Which items change and in which order, and the exchanges between them. */
static void exchange(const wrong_prior *wrong, oltr_rng rng, instance *out, place *of, uint32_t n)
{
    uint32_t all = out->n_items;
    for (uint32_t i = 0; i < all; i++)
        of[i] = (place){out->a[i] / (out->a[i] + out->b[i]), i};
    if (n < all) {
        choose(of, all, n, oltr_rng_at(rng, STREAM_PRIOR, ROUND_CHOICE));
        qsort(of, n, sizeof *of, by_item);
    }
    if (wrong->order == ORDER_PERMUTED)
        permute(out, of, n, oltr_rng_at(rng, STREAM_PRIOR, ROUND_ORDER));
    if (wrong->order == ORDER_REVERSED)
        reverse(out, of, n);
}

oltr_status change_prior(const wrong_prior *wrong, uint64_t seed, uint64_t replication,
                         instance *out)
{
    uint32_t n = (uint32_t)llround(wrong->share * out->n_items);
    bool in_place = n == out->n_items && wrong->order == ORDER_OWN;
    oltr_rng rng = oltr_rng_make(seed, replication);
    oltr_rng noise = oltr_rng_at(rng, STREAM_PRIOR, ROUND_NOISE);
    if (!prior_is_changed(wrong))
        return OLTR_OK;
    place *of = in_place ? NULL : malloc(out->n_items * sizeof *of);
    if (!of && !in_place)
        return OLTR_ENOMEM;
    if (of)
        exchange(wrong, rng, out, of, n);
    oltr_status status = OLTR_OK;
    for (uint32_t i = 0; status == OLTR_OK && i < n; i++) {
        change_item(wrong, &noise, out, of ? of[i].item : i);
        if (draw_stopped(out, i))
            status = OLTR_EINTERRUPTED;
    }
    free(of);
    return status;
}
