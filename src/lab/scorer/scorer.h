/* scorer.h - a neural network, trained offline on judged queries, that estimates the probability
 * that a document attracts a click.
 *
 * A feed-forward network (network.h) over the inputs of inputs.h, trained with the listwise softmax
 * loss by Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019) and
 * dropout, on mini-batches of whole queries.  Training ends when NDCG@10 on the validation queries
 * has not improved for `patience` epochs; the weights of the best epoch are kept.  Then the scores
 * are calibrated (calibration.h) on queries that were not trained on.
 *
 * The result is a function of the data and the seed: on one machine, the same bits for any number
 * of threads. */
#ifndef OLTR_LAB_SCORER_SCORER_H
#define OLTR_LAB_SCORER_SCORER_H

#include "lab/scorer/inputs.h"
#include "lab/scorer/network.h"

enum { GRADES = 256, MOST_UNITS = 4096, MOST_BATCH = 1024 };
#define LEAST_RATE 1e-9
#define MOST_DECAY 100.0
#define MOST_DROPOUT 0.95

typedef struct scorer_options {
    uint32_t n_hidden, hidden[MOST_HIDDEN]; /* units of each hidden layer */
    uint32_t epochs, patience; /* at most so many; the end after so many without a better one */
    uint32_t batch;            /* queries of one step */
    double rate, decay;        /* of Adam; weight decay */
    double dropout;            /* the probability that a hidden unit is left out of a step */
    uint64_t seed;
    const double
        *attraction; /* (GRADES) calibration targets; NULL: (2^g - 1) / 2^(largest grade) */
} scorer_options;

scorer_options scorer_defaults(void);
oltr_status scorer_options_check(const scorer_options *options, oltr_error *error);

typedef struct scorer scorer;

/* What to call while training; any of them may be NULL. */
typedef struct scorer_hooks {
    void (*epoch)(void *context, uint32_t epoch, double ndcg); /* from 1; the best NDCG@10 so far */
    int (*stop)(void *context);                                /* not 0: OLTR_EINTERRUPTED */
    void *context;
} scorer_hooks;

/* `vali` decides when to stop; it and `spare` (NULL, or more queries that are not trained on) serve
 * the calibration.  NULL with the error set when a part has no relevant document, or another number
 * of features. */
scorer *scorer_train(const part *train, const part *vali, const part *spare,
                     const scorer_options *options, const scorer_hooks *hooks, oltr_error *error);
void scorer_free(scorer *r);

/* The probability of each row, strictly within (0,1), at score[row * stride].  Of the hooks, which
 * may be NULL, `stop` is asked at every query: millions of rows take minutes. */
oltr_status scorer_score(const scorer *r, const oltr_dataset *dataset, const scorer_hooks *hooks,
                         float *score, size_t stride, oltr_error *error);
/* The output of the network instead, a number without a unit. */
oltr_status scorer_output(const scorer *r, const oltr_dataset *dataset, const scorer_hooks *hooks,
                          float *output, size_t stride, oltr_error *error);

/* The epoch that was kept, and its NDCG@10 on the validation queries. */
uint32_t scorer_epoch(const scorer *r);
double scorer_ndcg(const scorer *r);

#endif
