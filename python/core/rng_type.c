/* rng_type.c - oltr.Rng: draws from the engine's counter-based generator.
 *
 * The names and the order of arguments are those of numpy.random.Generator, so that code written
 * for it runs; the numbers differ.  A parameter is a number or a one-dimensional array; arrays must
 * have one length, which is then the number of draws. */
#include "python/core/rng_type.h"

#include <math.h>

static PyObject *rng_type;

/* ---- parameters */

typedef struct parameter {
    double value;     /* of every draw, where there is no array */
    core_array array; /* data NULL: none */
} parameter;

static int get_parameter(PyObject *object, double initial, const char *what, parameter *out)
{
    *out = (parameter){.value = initial};
    if (!object)
        return 0;
    if (PySequence_Check(object))
        return core_array_get(object, CORE_F64, 1, what, &out->array);
    out->value = PyFloat_AsDouble(object);
    if (out->value != -1 || !PyErr_Occurred())
        return 0;
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s must be a number or an array of numbers, not %R", what,
                     object);
    return -1;
}

static double parameter_at(const parameter *p, Py_ssize_t i)
{
    return p->array.data ? ((const double *)p->array.data)[i * p->array.stride] : p->value;
}

static int get_size(PyObject *object, Py_ssize_t *size)
{
    uint64_t wanted;
    *size = -1;
    if (!object)
        return 0;
    if (core_whole(object, "size", UINT32_MAX, &wanted) < 0)
        return -1;
    *size = (Py_ssize_t)wanted;
    return 0;
}

/* How many draws: those of an array, or size; -1: one number, not an array. */
static int get_draws(const parameter p[2], Py_ssize_t *size)
{
    for (int i = 0; i < 2; i++) {
        if (!p[i].array.data)
            continue;
        if (*size >= 0 && *size != p[i].array.n) {
            PyErr_Format(PyExc_ValueError,
                         "arrays of one draw must have one length: %zd is not %zd", p[i].array.n,
                         *size);
            return -1;
        }
        *size = p[i].array.n;
    }
    return 0;
}

/* ---- distributions of real numbers */

typedef struct distribution {
    const char *name;
    const char *const *arguments; /* two parameters, size */
    Py_ssize_t required;
    double initial[2];
    double (*draw)(oltr_rng *rng, double first, double second); /* NaN: impossible parameters */
    const char *possible;                                       /* which are possible */
} distribution;

static double draw_uniform(oltr_rng *rng, double low, double high)
{
    return low + (high - low) * oltr_rng_uniform(rng);
}

static double draw_normal(oltr_rng *rng, double mean, double deviation)
{
    double z = oltr_rng_normal(rng);
    return deviation >= 0 ? mean + deviation * z : NAN;
}

static double draw_gamma(oltr_rng *rng, double shape, double scale)
{
    return scale >= 0 ? scale * oltr_rng_gamma(rng, shape) : NAN;
}

static const char *const uniform_arguments[] = {"low", "high", "size", NULL},
                         *const normal_arguments[] = {"loc", "scale", "size", NULL},
                         *const beta_arguments[] = {"a", "b", "size", NULL},
                         *const gamma_arguments[] = {"shape", "scale", "size", NULL};
static const distribution uniform = {"uniform", uniform_arguments, 0,
                                     {0, 1},    draw_uniform,      "finite numbers"};
static const distribution normal = {"normal",    normal_arguments,
                                    0,           {0, 1},
                                    draw_normal, "a finite mean and a deviation of at least 0"};
static const distribution beta = {"beta", beta_arguments, 2,
                                  {0, 0}, oltr_rng_beta,  "shapes above 0"};
static const distribution gamma_law = {
    "gamma", gamma_arguments, 1, {0, 1}, draw_gamma, "a shape above 0 and a scale of at least 0"};

/* Draw i; NaN with an exception where the parameters are impossible. */
static double draw_one(rng_object *self, const distribution *law, const parameter p[2],
                       Py_ssize_t i)
{
    double first = parameter_at(&p[0], i), second = parameter_at(&p[1], i);
    double drawn = law->draw(&self->rng, first, second);
    if (isfinite(drawn))
        return drawn;
    PyObject *pair = Py_BuildValue("dd", first, second);
    if (pair)
        PyErr_Format(PyExc_ValueError, "%s needs %s, not %R", law->name, law->possible, pair);
    Py_XDECREF(pair);
    return NAN;
}

static PyObject *draw_array(rng_object *self, const distribution *law, const parameter p[2],
                            Py_ssize_t size)
{
    void *memory;
    PyObject *array = core_array_new(CORE_F64, size, 0, &memory);
    double *out = memory;
    for (Py_ssize_t i = 0; array && i < size; i++) {
        out[i] = draw_one(self, law, p, i);
        if (isnan(out[i]))
            Py_CLEAR(array);
    }
    return array;
}

static PyObject *draw(PyObject *object, const distribution *law, PyObject *const *arguments,
                      Py_ssize_t n, PyObject *keywords)
{
    rng_object *self = (rng_object *)object;
    PyObject *value[3], *result = NULL;
    parameter p[2] = {{.value = 0}, {.value = 0}};
    Py_ssize_t size;
    if (core_arguments(law->name, law->arguments, law->required, arguments, n, keywords, value) <
            0 ||
        get_size(value[2], &size) < 0)
        return NULL;
    if (get_parameter(value[0], law->initial[0], law->arguments[0], &p[0]) == 0 &&
        get_parameter(value[1], law->initial[1], law->arguments[1], &p[1]) == 0 &&
        get_draws(p, &size) == 0) {
        if (size >= 0) {
            result = draw_array(self, law, p, size);
        } else {
            double drawn = draw_one(self, law, p, 0);
            result = isnan(drawn) ? NULL : PyFloat_FromDouble(drawn);
        }
    }
    core_array_free(&p[0].array);
    core_array_free(&p[1].array);
    return result;
}

#define DISTRIBUTION(method, law)                                                                  \
    static PyObject *method(PyObject *self, PyObject *const *arguments, Py_ssize_t n,              \
                            PyObject *keywords)                                                    \
    {                                                                                              \
        return draw(self, &law, arguments, n, keywords);                                           \
    }
DISTRIBUTION(rng_uniform, uniform)
DISTRIBUTION(rng_normal, normal)
DISTRIBUTION(rng_beta, beta)
DISTRIBUTION(rng_gamma, gamma_law)

static PyObject *rng_random(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                            PyObject *keywords)
{
    static const char *const names[] = {"size", NULL};
    static const parameter unit[2] = {{.value = 0}, {.value = 1}};
    PyObject *value[1];
    Py_ssize_t size;
    if (core_arguments("random", names, 0, arguments, n, keywords, value) < 0 ||
        get_size(value[0], &size) < 0)
        return NULL;
    if (size >= 0)
        return draw_array((rng_object *)self, &uniform, unit, size);
    return PyFloat_FromDouble(oltr_rng_uniform(&((rng_object *)self)->rng));
}

/* ---- whole numbers */

static PyObject *below(rng_object *self, uint64_t low, uint64_t high, Py_ssize_t size)
{
    void *memory;
    uint32_t range = (uint32_t)(high - low);
    if (size < 0)
        return PyLong_FromUnsignedLongLong(low + oltr_rng_below(&self->rng, range));
    PyObject *array = core_array_new(CORE_U32, size, 0, &memory);
    for (Py_ssize_t i = 0; array && i < size; i++)
        ((uint32_t *)memory)[i] = (uint32_t)low + oltr_rng_below(&self->rng, range);
    return array;
}

static PyObject *rng_integers(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                              PyObject *keywords)
{
    static const char *const names[] = {"low", "high", "size", NULL};
    PyObject *value[3];
    uint64_t low = 0, high;
    Py_ssize_t size;
    if (core_arguments("integers", names, 1, arguments, n, keywords, value) < 0 ||
        (value[1] && core_whole(value[0], "low", UINT32_MAX, &low) < 0) ||
        core_whole(value[1] ? value[1] : value[0], "high", UINT32_MAX, &high) < 0 ||
        get_size(value[2], &size) < 0)
        return NULL;
    if (low < high)
        return below((rng_object *)self, low, high, size);
    PyErr_Format(PyExc_ValueError, "there is no whole number from %llu to below %llu",
                 (unsigned long long)low, (unsigned long long)high);
    return NULL;
}

/* Fisher and Yates, from the front. */
static PyObject *rng_permutation(PyObject *self, PyObject *object)
{
    uint64_t n;
    void *memory;
    if (core_whole(object, "n", UINT32_MAX, &n) < 0)
        return NULL;
    PyObject *array = core_array_new(CORE_U32, (Py_ssize_t)n, 0, &memory);
    uint32_t *item = memory;
    for (uint32_t i = 0; array && i < n; i++)
        item[i] = i;
    for (uint32_t i = 0; array && i + 1 < n; i++) {
        uint32_t j = i + oltr_rng_below(&((rng_object *)self)->rng, (uint32_t)n - i);
        uint32_t other = item[j];
        item[j] = item[i];
        item[i] = other;
    }
    return array;
}

static PyObject *rng_fork(PyObject *self, PyObject *object)
{
    uint64_t id;
    if (core_whole(object, "id", UINT64_MAX, &id) < 0)
        return NULL;
    return (PyObject *)rng_new(oltr_rng_fork(((rng_object *)self)->rng, id));
}

/* ---- the type */

rng_object *rng_new(oltr_rng rng)
{
    rng_object *self = PyObject_New(rng_object, (PyTypeObject *)rng_type);
    if (self)
        self->rng = rng;
    return self;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seed", "replication", "stream", "round", NULL};
    PyObject *given[4] = {NULL, NULL, NULL, NULL};
    uint64_t number[4] = {0, 0, 0, 0};
    static const uint64_t most[4] = {UINT64_MAX, UINT64_MAX, UINT32_MAX, ((uint64_t)1 << 48) - 1};
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOO:Rng", names, &given[0], &given[1],
                                     &given[2], &given[3]))
        return NULL;
    for (int i = 0; i < 4; i++)
        if (given[i] && core_whole(given[i], names[i], most[i], &number[i]) < 0)
            return NULL;
    return (PyObject *)rng_new(
        oltr_rng_at(oltr_rng_make(number[0], number[1]), (uint32_t)number[2], number[3]));
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function)), METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"random", FAST(rng_random),
     "random($self, /, size=None)\n--\n\nUniform on the open interval (0, 1): a number, or an "
     "array of "
     "size."},
    {"uniform", FAST(rng_uniform),
     "uniform($self, /, low=0.0, high=1.0, size=None)\n--\n\nUniform between low and high."},
    {"normal", FAST(rng_normal),
     "normal($self, /, loc=0.0, scale=1.0, size=None)\n--\n\nNormal with this mean and deviation."},
    {"beta", FAST(rng_beta),
     "beta($self, /, a, b, size=None)\n--\n\nBeta(a, b); with arrays, one draw for each element."},
    {"gamma", FAST(rng_gamma),
     "gamma($self, /, shape, scale=1.0, size=None)\n--\n\nGamma(shape) x scale."},
    {"integers", FAST(rng_integers),
     "integers($self, /, low, high=None, size=None)\n--\n\n"
     "A whole number from low to below high, or from 0 to below low."},
    {"permutation", rng_permutation, METH_O,
     "permutation($self, n, /)\n--\n\nThe numbers 0 to n - 1 in a random order."},
    {"fork", rng_fork, METH_O,
     "fork($self, id, /)\n--\n\nAn unrelated generator, the same one for the same id."},
    {NULL, NULL, 0, NULL},
};

static const char doc[] =
    "Rng(seed, replication=0, stream=0, round=0)\n--\n\n"
    "The engine's random numbers: a function of (seed, replication, stream, round).\n\n"
    "Policies and worlds written in Python get one in each call.  A policy that draws from it, "
    "and\n"
    "from nothing else, gives the same results for any number of threads.  Methods are named as\n"
    "those of numpy.random.Generator; parameters may be arrays.";

int add_rng(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, CORE_SLOT(doc)},
        {Py_tp_new, CORE_SLOT(make)},
        {Py_tp_dealloc, CORE_SLOT(dealloc)},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"oltr.Rng", sizeof(rng_object), 0, Py_TPFLAGS_DEFAULT, slots};
    rng_type = core_add_type(module, &spec, "Rng");
    return rng_type ? 0 : -1;
}
