/* wrong_prior.h - a prior that is not the true one: what a world changes in the Beta(a, b) of its
 * items before policies get it.
 *
 *     order    the priors of the items are permuted at random, or reversed: the item with the
 *              largest mean has the prior of the one with the smallest, and so on
 *     shift    added to the log-odds of every mean; a + b stays
 *     noise    times a standard normal of the item: added to its log-odds, too
 *     weight   a and b are multiplied by it: above 1 the prior is overconfident
 *     share    of the items, chosen at random, have the changes above; the others have none
 *
 * The changes are made in this order.  With the defaults nothing is drawn and no bit changes.
 */
#ifndef OLTR_LAB_WORLD_WRONG_PRIOR_H
#define OLTR_LAB_WORLD_WRONG_PRIOR_H

#include "lab/world/world.h"

extern const char *const prior_orders[];

/* The rows of the table of parameters of a world that has these changes, in this order. */
enum { PRIOR_SHIFT, PRIOR_NOISE, PRIOR_ORDER, PRIOR_WEIGHT, PRIOR_SHARE, WRONG_PRIOR_PARAMS };
#define WRONG_PRIOR_ROW(...)                                                                       \
    {                                                                                              \
        {__VA_ARGS__}, 0, 0                                                                        \
    }
#define WRONG_PRIOR_TABLE                                                                          \
    WRONG_PRIOR_ROW("prior_shift", OLTR_REAL, 0, -20, 20, NULL,                                    \
                    "added to the log-odds of the mean of each prior that policies get; a + b "    \
                    "stays"),                                                                      \
        WRONG_PRIOR_ROW(                                                                           \
            "prior_noise", OLTR_REAL, 0, 0, 10, NULL,                                              \
            "standard deviation of a normal error of each item in the log-odds of that "           \
            "mean"),                                                                               \
        WRONG_PRIOR_ROW(                                                                           \
            "prior_order", OLTR_CHOICE, 0, 0, 2, prior_orders,                                     \
            "which item has which prior: its `own`, those of all items `permuted` at "             \
            "random, or `reversed`: the item with the largest mean has the prior of the "          \
            "one with the smallest, and so on"),                                                   \
        WRONG_PRIOR_ROW("prior_weight", OLTR_REAL, 1, 1e-3, 1e3, NULL,                             \
                        "what a and b of each prior are multiplied with; above 1 it is "           \
                        "overconfident"),                                                          \
        WRONG_PRIOR_ROW("prior_share", OLTR_REAL, 1, 0, 1, NULL,                                   \
                        "share of the items, chosen at random in each replication, that "          \
                        "`prior_shift`, `prior_noise`, `prior_order` and `prior_weight` apply to")

enum prior_order { ORDER_OWN, ORDER_PERMUTED, ORDER_REVERSED };

typedef struct wrong_prior {
    double shift, noise, weight, share;
    enum prior_order order;
} wrong_prior;

/* The values of a world whose table has the rows above from `first` on. */
wrong_prior wrong_prior_of(const oltr_world *world, const world_param *params, uint32_t first);
/* Does it change anything? */
bool prior_is_changed(const wrong_prior *wrong);
/* Changes a and b of the instance. */
oltr_status change_prior(const wrong_prior *wrong, uint64_t seed, uint64_t replication,
                         instance *out);

#endif
