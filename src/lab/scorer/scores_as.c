/* scores_as.c - see scores_as.h. */
#include "lab/scorer/scores_as.h"

#include <math.h>
#include <string.h>

#include "engine/base/quote.h"

oltr_status scores_as_by_name(const char *name, scores_as *out, oltr_error *error)
{
    static const char *const names[] = {"calibrated", "minmax", "sigmoid", "raw"};
    char word[QUOTE_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (scores_as)i;
            return OLTR_OK;
        }
    return set_error(error, OLTR_EINVAL,
                     "scores are read as calibrated, minmax, sigmoid or raw, not as `%s`",
                     quote_input(name, word));
}

/* The numbers of one model for the documents of one query. */
typedef struct column {
    float *first;
    uint32_t n;
    size_t stride;
} column;

static double number_at(const column *c, uint32_t i)
{
    return (double)c->first[i * c->stride];
}

/* Is there one number for all documents? */
static bool is_constant(const column *c)
{
    for (uint32_t i = 1; i < c->n; i++)
        if (c->first[i * c->stride] != c->first[0])
            return false;
    return true;
}

static void convert_minmax(const column *c)
{
    double least = HUGE_VAL, largest = -HUGE_VAL;
    for (uint32_t i = 0; i < c->n; i++) {
        double here = number_at(c, i);
        least = here < least ? here : least;
        largest = here > largest ? here : largest;
    }
    for (uint32_t i = 0; i < c->n; i++)
        c->first[i * c->stride] = (float)((number_at(c, i) - least) / (largest - least));
}

/* In double: the squares of floats do not overflow there. */
static void convert_sigmoid(const column *c)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < c->n; i++)
        sum += number_at(c, i);
    double mean = sum / c->n;
    for (uint32_t i = 0; i < c->n; i++)
        squares += (number_at(c, i) - mean) * (number_at(c, i) - mean);
    double sd = sqrt(squares / c->n);
    for (uint32_t i = 0; i < c->n; i++)
        c->first[i * c->stride] = (float)(1 / (1 + exp(-(number_at(c, i) - mean) / sd)));
}

static void convert_column(const column *c, scores_as as)
{
    bool constant = as != SCORES_RAW && is_constant(c);
    for (uint32_t i = 0; i < c->n && (as == SCORES_RAW || constant); i++)
        c->first[i * c->stride] = constant ? 0.5f : (float)fmin(fmax(number_at(c, i), 0), 1);
    if (as == SCORES_MINMAX && !constant)
        convert_minmax(c);
    if (as == SCORES_SIGMOID && !constant)
        convert_sigmoid(c);
}

void scores_convert(scores *s, const oltr_dataset *dataset, scores_as as)
{
    for (uint32_t q = 0; q < dataset->n_queries && as != SCORES_CALIBRATED; q++) {
        uint32_t first = dataset->first_row[q], n = dataset->first_row[q + 1] - first;
        for (uint32_t m = 0; m < s->n_models; m++) {
            column c = {s->score + (size_t)first * s->n_models + m, n, s->n_models};
            convert_column(&c, as);
        }
    }
}
