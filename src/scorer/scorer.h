/* scorer.h - a neural scorer: trained offline on judged queries, it says of a document how likely
 * it is to attract a click.
 *
 * A feed-forward network (network.h) over the inputs of inputs.h, trained with the listwise softmax
 * loss by Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019) and
 * dropout, on mini-batches of whole queries.  Training ends when NDCG@10 on the validation queries
 * has not improved for `patience` epochs, and goes back to the best epoch.  Then the scores are
 * calibrated (calibration.h) on queries that were not trained on.
 *
 * Everything is a function of the data and the seed: on one machine, the same bits for any number
 * of threads.
 */
#ifndef OLTR_SCORER_SCORER_H
#define OLTR_SCORER_SCORER_H

#include "scorer/inputs.h"
#include "scorer/network.h"

enum { GRADES = 256 };

typedef struct scorer_options {
    uint32_t n_hidden, hidden[MOST_HIDDEN]; /* units of each hidden layer */
    uint32_t epochs, patience; /* at most so many; end after so many without a better one */
    uint32_t batch;            /* queries of one step */
    double rate, decay;        /* of Adam; weight decay */
    double dropout;            /* the chance that a hidden unit is left out, below 1 */
    uint64_t seed;
    const double *attraction; /* (GRADES) what the scores are calibrated to; NULL: (2^g - 1) /
                                 2^(largest grade) */
} scorer_options;

scorer_options scorer_defaults(void);
oltr_status scorer_options_check(const scorer_options *options, oltr_error *error);

typedef struct scorer scorer;

/* What to call while training; any of them may be NULL. */
typedef struct scorer_hooks {
    void (*epoch)(void *context, uint32_t epoch,
                  double ndcg); /* after each epoch, from 1: the best NDCG@10 so far */
    int (*stop)(void *context); /* not 0: give up, OLTR_EINTERRUPTED */
    void *context;
} scorer_hooks;

/* `vali` decides when to stop; it and `spare` (NULL, or more queries that are not trained on) serve
 * the calibration.  NULL with the error set when a part has nothing to learn from, or features of
 * another number. */
scorer *scorer_train(const part *train, const part *vali, const part *spare,
                     const scorer_options *options, const scorer_hooks *hooks, oltr_error *error);
void scorer_free(scorer *r);

/* The chance of each row, strictly within (0,1), at score[row * stride]. */
oltr_status scorer_score(const scorer *r, const oltr_dataset *dataset, float *score, size_t stride,
                         oltr_error *error);

/* The epoch that was kept, and its NDCG@10 on the validation queries. */
uint32_t scorer_epoch(const scorer *r);
double scorer_ndcg(const scorer *r);

#endif
