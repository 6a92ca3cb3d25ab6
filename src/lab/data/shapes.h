/* shapes.h - what a generated data set looks like: its sizes, its labels, and one line for each
 * feature. */
#ifndef OLTR_LAB_DATA_SHAPES_H
#define OLTR_LAB_DATA_SHAPES_H

#include <oltr/sim.h>

enum { MAX_COLUMNS = 220, MAX_STREAMS = 11, GRADES = 5 };

/* How the hidden value z of a feature, standard normal over all rows, becomes its value:
 *   REAL    2^(mu + sigma z), rounded to six decimals; 0 where z < zero
 *   INT     the same, rounded to a whole number, at least 1
 *   UNIT    REAL, at most 1
 *   NEG     -2^(mu - sigma z), 0 where z > zero: a logarithm of a probability
 *   FLAG    1, or 0 where z < zero
 *   MARKED  REAL; 1.8e308, for "no value", where z < zero
 *   CONST   mu, always */
enum column_kind { REAL, INT, UNIT, NEG, FLAG, MARKED, CONST };

/* The hidden quantities that z is made of; independent noise fills its variance up to 1. */
enum { BY_VIEW, BY_LENGTH, BY_AUTHORITY, BY_QUERY, BY_CLICKS, N_WEIGHTS };

/* All numbers are hundredths. */
typedef struct column {
    uint8_t kind, stream;
    int16_t zero, mu, sigma;
    int8_t weight[N_WEIGHTS];
} column;

typedef struct shape {
    oltr_named info;
    uint32_t dim, n_streams;
    uint32_t mean_documents, most_documents;
    double spread;                   /* of the documents a query, in powers of two */
    double sight[MAX_STREAMS];       /* how well a stream sees whether a document is on the topic: a
                                        correlation */
    double query_weight, noise;      /* of the hidden relevance */
    double threshold[GRADES - 1];    /* a grade is how many of these the hidden relevance exceeds */
    void (*columns)(column *column); /* fills dim of them */
} shape;

enum { SHAPES = 2 };
extern const shape shapes[SHAPES];

#endif
