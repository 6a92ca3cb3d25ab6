/* generate.c - see generate.h.
 *
 * The model.  A document has hidden standard normals: topicality (t), authority of its site (a),
 * spam (s), length (l), and a bias that all its streams share.  A stream (title, body, ...) is t
 * plus that bias plus noise of its own.  A feature is a sum of its stream, the length, the
 * authority, the query or the clicks of users, plus noise; it becomes a count, a ratio or a flag
 * with the zeros and the tails of its line in the table of the shape.  The label is the hidden
 * relevance
 *
 *     u = t + 0.3 a + 0.5 t a - 0.8 max(0, s - 0.8) - 0.25 l^2 + query_weight q + noise e
 *
 * cut at four thresholds.  So features are redundant within a stream, and none is strong alone;
 * authority matters more for documents on the topic, and very short and very long ones are worse (a
 * product and a square, which no linear ranker has); some queries have many good documents and some
 * have none; and a part of the label cannot be predicted.
 *
 * Row i of query q draws its normals from one generator, at stream DOCUMENT and round (q, i):
 * bit-reproducible, see rng/sample.h.
 */
#include "lab/data/generate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "engine/base/nearest.h"
#include "lab/data/dataset.h"
#include "lab/data/shapes.h"
#include "engine/kernels/table.h"

enum { STREAM_QUERY = 0, STREAM_DOCUMENT = 1 };
/* the numbers of the normals of a document: first the hidden ones, then one for each feature */
enum {
    TOPIC,
    BIAS,
    AUTHORITY,
    SPAM,
    LENGTH,
    CLICKS,
    LABEL,
    FIRST_STREAM,
    FIRST_FEATURE = FIRST_STREAM + MAX_STREAMS
};
/* and of a query: how many documents, how good, and one for each stream */
enum { DOCUMENTS, GOODNESS, FIRST_OF_STREAM, QUERY_NORMALS = FIRST_OF_STREAM + MAX_STREAMS };
enum { NORMALS = (FIRST_FEATURE + MAX_COLUMNS + NORMAL_GROUP - 1) / NORMAL_GROUP * NORMAL_GROUP };

static const char *const split_name[] = {"train", "vali", "test"};
enum { N_SPLITS = sizeof split_name / sizeof *split_name };

/* What one data set is made from. */
typedef struct recipe {
    const shape *shape;
    uint32_t split;
    oltr_rng rng;
    column column[MAX_COLUMNS];
    double own[MAX_COLUMNS]; /* the weight of a feature's own noise */
} recipe;

/* 2^x for |x| < 1000, by + and * alone: the Taylor series on [-1/2, 1/2], to the last few bits of a
 * double. */
static double power_of_two(double x)
{
    int whole = (int)(x + (x < 0 ? -0.5 : 0.5));
    double t = (x - whole) * 0.69314718055994530942, sum = 1;
    for (int i = 13; i > 0; i--)
        sum = 1 + sum * t / i;
    uint64_t bits = (uint64_t)(whole + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* ---- queries */

static void query_normals(const recipe *r, uint32_t q, float z[NORMAL_GROUP])
{
    oltr_rng at = oltr_rng_at(r->rng, STREAM_QUERY, q);
    KERNEL_AT(standard_normals, oltr_cpu())(&at, QUERY_NORMALS, z);
}

/* Log-normal around the mean, never 0. */
static uint32_t documents_of(const recipe *r, const float *z)
{
    double spread = r->shape->spread;
    double shift = spread * spread *
                   (0.69314718055994530942 / 2); /* the mean of 2^(s z) is 2^(s^2 ln 2 / 2) */
    double n = r->shape->mean_documents * power_of_two(spread * (double)z[DOCUMENTS] - shift) + 0.5;
    return n < 1 ? 1 : n > r->shape->most_documents ? r->shape->most_documents : (uint32_t)n;
}

/* ---- documents */

static double hidden_relevance(const shape *s, const float *query, const float *z)
{
    double topic = (double)z[TOPIC], authority = (double)z[AUTHORITY], spam = (double)z[SPAM] - 0.8;
    double length = (double)z[LENGTH];
    return topic + 0.3 * authority + 0.5 * topic * authority - 0.8 * (spam > 0 ? spam : 0) -
           0.25 * length * length + s->query_weight * (double)query[GOODNESS] +
           s->noise * (double)z[LABEL];
}

static uint8_t grade_of(const shape *s, double relevance)
{
    uint8_t grade = 0;
    while (grade < GRADES - 1 && relevance > s->threshold[grade])
        grade++;
    return grade;
}

/* The value of a stream: the topic, the bias that all streams share, and noise of its own. */
static double view_of(const shape *s, uint32_t stream, const float *z)
{
    double sight = s->sight[stream];
    return sight * (double)z[TOPIC] +
           sqrt(1 - sight * sight) *
               (0.6 * (double)z[BIAS] + 0.8 * (double)z[FIRST_STREAM + stream]);
}

/* Clicks depend on topic and authority, more than any stream does. */
static double clicks_of(const float *z)
{
    return 0.7 * (double)z[TOPIC] + 0.4 * (double)z[AUTHORITY] + 0.6 * (double)z[CLICKS];
}

/* The standard normal behind feature j. */
static double hidden_value(const recipe *r, uint32_t j, const float *query, const double *view,
                           const float *z)
{
    const column *c = &r->column[j];
    double part[N_WEIGHTS] = {view[c->stream], (double)z[LENGTH],
                              (double)z[AUTHORITY] * 0.9 - 0.4 * (double)z[SPAM],
                              (double)query[FIRST_OF_STREAM + c->stream], clicks_of(z)};
    double sum = r->own[j] * (double)z[FIRST_FEATURE + j];
    for (int i = 0; i < N_WEIGHTS; i++)
        sum += c->weight[i] * 0.01 * part[i];
    return sum;
}

static double rounded(double x, double unit)
{
    return (double)(int64_t)(x * unit + 0.5) / unit;
}

static double feature_value(const column *c, double z)
{
    const double most = 0x1p28, least = -75, sixth = 1e6;
    double zero = c->zero * 0.01, mu = c->mu * 0.01, sigma = c->sigma * 0.01;
    if (c->kind == CONST)
        return mu;
    if (c->kind == NEG)
        return z > zero ? 0 : -rounded(fmin(power_of_two(mu - sigma * z), -least), sixth);
    if (z < zero)
        return c->kind == MARKED ? (double)FLT_MAX : 0;
    if (c->kind == FLAG)
        return 1;
    double value = fmin(power_of_two(mu + sigma * z), c->kind == UNIT ? 1 : most);
    return c->kind == INT ? fmax(1, rounded(value, 1)) : rounded(value, sixth);
}

static void make_document(const recipe *r, uint32_t q, uint32_t number, const float *query,
                          uint8_t *grade, float *x)
{
    float z[NORMALS];
    double view[MAX_STREAMS];
    oltr_rng at = oltr_rng_at(r->rng, STREAM_DOCUMENT, (uint64_t)q << 16 | number);
    KERNEL_AT(standard_normals, oltr_cpu())(&at, FIRST_FEATURE + r->shape->dim, z);
    *grade = grade_of(r->shape, hidden_relevance(r->shape, query, z));
    for (uint32_t i = 0; i < r->shape->n_streams; i++)
        view[i] = view_of(r->shape, i, z);
    for (uint32_t j = 0; j < r->shape->dim; j++)
        x[j] = (float)feature_value(&r->column[j], hidden_value(r, j, query, view, z));
}

/* ---- data sets */

uint32_t oltr_shape_count(void)
{
    return SHAPES;
}

const oltr_named *oltr_shape_at(uint32_t index)
{
    return index < SHAPES ? &shapes[index].info : NULL;
}

static oltr_status find_shape(const char *name, const shape **found, oltr_error *error)
{
    char hint[HINT_SIZE];
    struct nearest nearest = nearest_to(name);
    for (uint32_t i = 0; i < SHAPES; i++) {
        nearest_offer(&nearest, shapes[i].info.name);
        if (strcmp(shapes[i].info.name, name) == 0) {
            *found = &shapes[i];
            return OLTR_OK;
        }
    }
    return set_error(error, OLTR_EVALUE, "no shape is called `%.40s`%s", name,
                     nearest.best ? nearest_hint(&nearest, hint)
                                  : "; there are web30k and istella");
}

static oltr_status find_split(const char *name, uint32_t *split, oltr_error *error)
{
    for (*split = 0; *split < N_SPLITS; (*split)++)
        if (strcmp(split_name[*split], name) == 0)
            return OLTR_OK;
    return set_error(error, OLTR_EVALUE,
                     "no split is called `%.40s`; there are train, vali and test", name);
}

static void fill_weights(recipe *r)
{
    r->shape->columns(r->column);
    for (uint32_t j = 0; j < r->shape->dim; j++) {
        double left = 1;
        for (int i = 0; i < N_WEIGHTS; i++)
            left -= r->column[j].weight[i] * 0.01 * (r->column[j].weight[i] * 0.01);
        r->own[j] = left > 0 ? sqrt(left) : 0;
    }
}

static oltr_dataset *room(const recipe *r, uint32_t first, uint32_t n_queries, oltr_error *error)
{
    float query[NORMAL_GROUP];
    uint64_t n_rows = 0;
    for (uint32_t q = 0; q < n_queries; q++) {
        query_normals(r, first + q, query);
        n_rows += documents_of(r, query);
    }
    if (n_rows > UINT32_MAX) {
        set_error(error, OLTR_EINVAL,
                  "%u queries are too many: a data set holds up to 2^32 - 1 rows", n_queries);
        return NULL;
    }
    return dataset_new(n_queries, (uint32_t)n_rows, r->shape->dim, error);
}

/* Query q of the split becomes query `place` of the dataset. */
static void make_query(const recipe *r, uint32_t q, uint32_t place, oltr_dataset *to)
{
    float query[NORMAL_GROUP];
    query_normals(r, q, query);
    uint32_t n = documents_of(r, query), first = to->first_row[place];
    dataset_query(to)[place] =
        (uint64_t)q * N_SPLITS + r->split + 1; /* ids differ between splits */
    dataset_first_row(to)[place + 1] = first + n;
    for (uint32_t i = 0; i < n; i++)
        make_document(r, q, i, query, dataset_grade(to) + first + i,
                      dataset_x(to) + (size_t)(first + i) * to->dim);
}

/* options NULL: nothing stops it. */
static oltr_dataset *make_queries(const recipe *r, uint32_t first, uint32_t n_queries,
                                  const oltr_read_options *options, oltr_error *error)
{
    oltr_dataset *to = room(r, first, n_queries, error);
    for (uint32_t i = 0; to && i < n_queries; i++) {
        if (options && options->stop && options->stop(options->context)) {
            set_error(error, OLTR_EINTERRUPTED, "stopped while the data were generated");
            oltr_dataset_free(to);
            return NULL;
        }
        make_query(r, first + i, i, to);
    }
    return to;
}

static oltr_dataset *generate(const char *shape_name, const char *split, uint32_t first,
                              uint32_t n_queries, uint64_t seed, const oltr_read_options *options,
                              oltr_error *error)
{
    recipe r = {0};
    if (find_shape(shape_name, &r.shape, error) != OLTR_OK ||
        find_split(split, &r.split, error) != OLTR_OK)
        return NULL;
    if (n_queries > UINT32_MAX - first) {
        set_error(error, OLTR_EINVAL, "a split has no more than 2^32 - 1 queries");
        return NULL;
    }
    r.rng = oltr_rng_make(seed, (uint64_t)(r.shape - shapes) * N_SPLITS + r.split);
    fill_weights(&r);
    return make_queries(&r, first, n_queries, options, error);
}

oltr_dataset *dataset_generate_part(const char *shape_name, const char *split, uint32_t first,
                                    uint32_t n_queries, uint64_t seed, oltr_error *error)
{
    return generate(shape_name, split, first, n_queries, seed, NULL, error);
}

oltr_dataset *dataset_generate_watched(const char *shape_name, const char *split,
                                       uint32_t n_queries, uint64_t seed,
                                       const oltr_read_options *options, oltr_error *error)
{
    return generate(shape_name, split, 0, n_queries, seed, options, error);
}

oltr_dataset *dataset_generate(const char *shape_name, const char *split, uint32_t n_queries,
                               uint64_t seed, oltr_error *error)
{
    return generate(shape_name, split, 0, n_queries, seed, NULL, error);
}
