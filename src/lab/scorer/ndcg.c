/* ndcg.c - NDCG of a query in O(n log n), and its mean over queries; see ndcg.h. */
#include "lab/scorer/ndcg.h"

#include <math.h>
#include <stdlib.h>

double gain_of(uint8_t grade)
{
    return ldexp(1, grade) - 1;
}

static double discount(uint32_t place) /* from 0 */
{
    return 1 / log2(2.0 + place);
}

static int best_score_first(const void *left, const void *right)
{
    float a = ((const ranked *)left)->score, b = ((const ranked *)right)->score;
    return (a < b) - (a > b);
}

/* Each document of a group of equal scores counts with the mean gain of the group. */
static double dcg_at(const ranked *document, uint32_t n, uint32_t k)
{
    double sum = 0;
    for (uint32_t from = 0, to; from < n && from < k; from = to) {
        double gains = 0, discounts = 0;
        for (to = from; to < n && (to == from || document[to].score == document[from].score);
             to++) {
            gains += gain_of(document[to].grade);
            discounts += to < k ? discount(to) : 0;
        }
        sum += gains / (to - from) * discounts;
    }
    return sum;
}

/* The best grades first. */
static double best_dcg_at(const ranked *document, uint32_t n, uint32_t k)
{
    uint32_t with[256] = {0}, place = 0;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        with[document[i].grade]++;
    for (uint32_t grade = 255; grade > 0; grade--)
        for (uint32_t i = 0; i < with[grade] && place < k; i++)
            sum += gain_of((uint8_t)grade) * discount(place++);
    return sum;
}

double ndcg_at(ranked *document, uint32_t n, uint32_t k)
{
    double best = best_dcg_at(document, n, k);
    if (!(best > 0))
        return -1;
    qsort(document, n, sizeof *document, best_score_first);
    return dcg_at(document, n, k) / best;
}

uint32_t ranked_query(const oltr_dataset *d, uint32_t q, const float *score, size_t stride,
                      ranked *room)
{
    uint32_t first = d->first_row[q], n = d->first_row[q + 1] - first;
    for (uint32_t i = 0; i < n; i++)
        room[i] = (ranked){score[i * stride], d->grade[first + i]};
    return n;
}

uint32_t most_documents(const oltr_dataset *d)
{
    uint32_t most = 0;
    for (uint32_t q = 0; q < d->n_queries; q++) {
        uint32_t n = d->first_row[q + 1] - d->first_row[q];
        most = n > most ? n : most;
    }
    return most;
}

double ndcg_mean(const oltr_dataset *d, const float *score, size_t stride, uint32_t k, ranked *room,
                 uint32_t *counted, double *se)
{
    double sum = 0, squares = 0;
    uint32_t count = 0;
    for (uint32_t q = 0; q < d->n_queries; q++) {
        uint32_t n = ranked_query(d, q, score + (size_t)d->first_row[q] * stride, stride, room);
        double value = ndcg_at(room, n, k);
        if (value >= 0) {
            sum += value;
            squares += value * value;
            count++;
        }
    }
    double mean = count > 0 ? sum / count : 0;
    if (counted)
        *counted = count;
    if (se)
        *se = count > 1 ? sqrt(fmax(0, squares / count - mean * mean) / (count - 1)) : 0;
    return mean;
}
