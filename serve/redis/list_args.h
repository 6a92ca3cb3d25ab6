/* list_args.h - the arguments that ranking, predicting and learning share: a list of items or rows,
 * how a list is made, and the seed. */
#ifndef OLTR_SERVE_REDIS_LIST_ARGS_H
#define OLTR_SERVE_REDIS_LIST_ARGS_H

#include "serve/redis/command_args.h"

/* list := ALL | ITEMS n id [id ...] | FIXED size blob | FP32 blob.  ALL is all zero. */
bool read_list(request *r, const ranker *k, oltr_list *list);
/* The same without ALL: what was shown, at most oltr.max-slots. */
bool read_shown(request *r, const ranker *k, oltr_list *list);
/* How many candidates it has. */
uint32_t list_size(const ranker *k, const oltr_list *list);
/* The next n arguments, which must be there, as names. */
oltr_name *take_names(request *r, uint32_t n);

/* What RANK and PROPENSITY read behind the list. */
typedef struct ranking_options {
    oltr_show show;
    oltr_rng rng;
    bool seeded, scores;
    uint32_t draws; /* 0: not given */
} ranking_options;
bool read_greedy(request *r, void *into);
bool read_fresh(request *r, void *into);
bool read_seed(request *r, void *into);

/* The generator of the options; without a SEED, another one for every request. */
oltr_rng rng_of(const ranking_options *o);
void rng_register(void);

#endif
