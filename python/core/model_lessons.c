/* model_lessons.c - Model.learn() and Model.learn_many().
 *
 * learn_many() converts every lesson before the first is learned, so that a bad lesson or an
 * exception of the caller's iterator changes nothing.  Each converted lesson is one block of memory
 * of its own, without references to Python objects. */
#include "python/core/model_object.h"

#include <stdlib.h>
#include <string.h>

const char model_learn_doc[] =
    "learn($self, shown, clicks=None, *, rewards=None, clicked=None, id=None, examined=None,\n"
    "      weights=None, x=None, examine=None)\n--\n\n"
    "Learns what was seen of a shown list; False if a lesson with this id was learned before.\n\n"
    "shown: the list of rank(), or names in the order of the slots.\n"
    "clicks: 0 or 1 for each slot; or clicked: the names that were clicked; or rewards: a number\n"
    "for each slot, for kinds that learn from numbers.\n"
    "id: of the page view, str or bytes; the same id counts once while the model remembers it.\n"
    "examined: how many slots were looked at from the first on, or 0 or 1 for each slot.\n"
    "examine: 'cascade', 'last' or 'all', the rule for this lesson; without it that of the model.\n"
    "weights: how many observations each slot counts for.\n"
    "x: of a model with features, a row for each slot; a list of rank() has them with it.";

const char model_learn_many_doc[] =
    "learn_many($self, lessons)\n--\n\n"
    "Learns lesson after lesson, and returns how many of them were new.\n\n"
    "A lesson is a dict with the arguments of learn(), or a tuple (shown, clicks) or\n"
    "(shown, clicks, id).  All are converted before the first is learned.  A lesson that the "
    "model\n"
    "refuses ends the call with an Error; those before it were learned, and its attribute `done`\n"
    "says how many these were.  On a store there is one wait for the disk.  The GIL is released.";

/* ---- one lesson from arguments */

enum { SHOWN, CLICKS, REWARDS, CLICKED, ID, EXAMINED, WEIGHTS, X, EXAMINE, N_LEARN };

static const char *const learn_names[] = {"shown",    "clicks",  "rewards", "clicked", "id",
                                          "examined", "weights", "x",       "examine", NULL};

typedef struct lesson_data {
    oltr_lesson lesson;
    list_data shown;
    core_array reward, examined, weight;
    double *clicked; /* (n), where names were given */
    PyObject *id;
} lesson_data;

static void lesson_free(lesson_data *d)
{
    list_free(&d->shown);
    core_array_free(&d->reward);
    core_array_free(&d->examined);
    core_array_free(&d->weight);
    PyMem_Free(d->clicked);
    Py_XDECREF(d->id);
}

/* Numbers for the slots, copied: the GIL may be released later. */
static int numbers_get(PyObject *object, core_element element, const char *what, uint32_t n,
                       core_array *out)
{
    if (core_array_get(object, element, 1, what, out) < 0 || core_array_own(out, element) < 0)
        return -1;
    if (out->n == (Py_ssize_t)n)
        return 0;
    core_refuse(OLTR_EINVAL, "%s has %zd numbers, and %u items were shown", what, out->n, n);
    return -1;
}

static int clicks_get(PyObject *object, lesson_data *d)
{
    if (numbers_get(object, CORE_F64, "clicks", d->shown.list.n, &d->reward) < 0)
        return -1;
    const double *click = d->reward.data;
    for (Py_ssize_t slot = 0; slot < d->reward.n; slot++)
        if (click[slot] != 0 && click[slot] != 1) {
            core_refuse(OLTR_EREWARD,
                        "slot %zd: clicks are 0 or 1, not %g; other numbers are rewards=", slot,
                        click[slot]);
            return -1;
        }
    d->lesson.reward = click;
    return 0;
}

/* The slot of a clicked name; -1 with an exception. */
static Py_ssize_t slot_of(PyObject *shown, PyObject *name)
{
    Py_ssize_t slot = PySequence_Index(shown, name);
    if (slot >= 0 || !PyErr_ExceptionMatches(PyExc_ValueError))
        return slot;
    PyErr_Clear();
    PyObject *text = PyObject_ASCII(name);
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (utf8)
        core_refuse(OLTR_EITEM, "%.100s was clicked and not shown", utf8);
    Py_XDECREF(text);
    return -1;
}

static int clicked_get(PyObject *object, lesson_data *d)
{
    if (!d->shown.objects) {
        PyErr_SetString(PyExc_TypeError,
                        "clicked has names of what was shown: give names as shown, or clicks");
        return -1;
    }
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
        PyErr_Format(PyExc_TypeError,
                     "clicked must be a list of names, not one name: give [%.100R]", object);
        return -1;
    }
    PyObject *names = PySequence_Tuple(object);
    d->clicked = names ? PyMem_Calloc(d->shown.list.n + (size_t)1, sizeof *d->clicked) : NULL;
    if (names && !d->clicked)
        PyErr_NoMemory();
    int code = d->clicked ? 0 : -1;
    for (Py_ssize_t i = 0; code == 0 && i < PyTuple_Size(names); i++) {
        Py_ssize_t slot = slot_of(d->shown.objects, PyTuple_GetItem(names, i));
        code = slot < 0 ? -1 : 0;
        if (code == 0)
            d->clicked[slot] = 1;
    }
    Py_XDECREF(names);
    d->lesson.reward = d->clicked;
    return code;
}

static int feedback_get(PyObject *const value[N_LEARN], lesson_data *d)
{
    int given = (value[CLICKS] != NULL) + (value[REWARDS] != NULL) + (value[CLICKED] != NULL);
    if (given != 1) {
        PyErr_SetString(PyExc_TypeError, given == 0
                                             ? "learn() needs clicks, clicked or rewards"
                                             : "learn() takes one of clicks, clicked and rewards");
        return -1;
    }
    if (value[CLICKS])
        return clicks_get(value[CLICKS], d);
    if (value[CLICKED])
        return clicked_get(value[CLICKED], d);
    int code = numbers_get(value[REWARDS], CORE_F64, "rewards", d->shown.list.n, &d->reward);
    d->lesson.reward = d->reward.data;
    return code;
}

static int examine_get(PyObject *object, lesson_data *d)
{
    static const char *const rules[] = {[OLTR_EXAMINE_CASCADE] = "cascade",
                                        [OLTR_EXAMINE_LAST] = "last",
                                        [OLTR_EXAMINE_ALL] = "all"};
    for (uint32_t rule = OLTR_EXAMINE_CASCADE; rule <= OLTR_EXAMINE_ALL; rule++)
        if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, rules[rule]) == 0) {
            d->lesson.examine = rule;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "examine must be 'cascade', 'last' or 'all', not %.100R",
                 object);
    return -1;
}

/* A depth or a mask. */
static int examined_get(PyObject *object, lesson_data *d)
{
    uint64_t depth;
    if (PyBool_Check(object)) {
        PyErr_Format(PyExc_TypeError,
                     "examined must be a number of slots or 0 or 1 for each slot, not %.100R",
                     object);
        return -1;
    }
    if (PyIndex_Check(object) && !PySequence_Check(object)) {
        if (core_whole(object, "examined", UINT32_MAX, &depth) < 0)
            return -1;
        d->lesson.examine = OLTR_EXAMINE_DEPTH;
        d->lesson.depth = (uint32_t)depth;
        return 0;
    }
    if (numbers_get(object, CORE_U8, "examined", d->shown.list.n, &d->examined) < 0)
        return -1;
    d->lesson.examine = OLTR_EXAMINE_MASK;
    d->lesson.examined = d->examined.data;
    return 0;
}

static int options_get(PyObject *const value[N_LEARN], lesson_data *d)
{
    if (value[EXAMINE] && value[EXAMINED]) {
        PyErr_SetString(PyExc_TypeError,
                        "examined says what was looked at, examine is a rule for it: give one");
        return -1;
    }
    if ((value[EXAMINE] && examine_get(value[EXAMINE], d) < 0) ||
        (value[EXAMINED] && examined_get(value[EXAMINED], d) < 0) ||
        (value[WEIGHTS] &&
         numbers_get(value[WEIGHTS], CORE_F64, "weights", d->shown.list.n, &d->weight) < 0))
        return -1;
    d->lesson.weight = value[WEIGHTS] ? d->weight.data : NULL;
    return id_get(value[ID], &d->lesson.id, &d->id);
}

/* The rows of a Shown are used where none are given. */
static int shown_get(const model_object *o, PyObject *const value[N_LEARN], lesson_data *d)
{
    if (check_made(o) < 0)
        return -1;
    PyObject *rows = value[X] ? Py_NewRef(value[X]) : NULL;
    if (!rows && value[SHOWN] && o->info->contextual)
        rows = shown_rows(value[SHOWN]);
    if (!rows && PyErr_Occurred())
        return -1;
    if (!value[SHOWN] && !rows) {
        PyErr_SetString(PyExc_TypeError, "learn() needs what was shown");
        return -1;
    }
    int code = list_get(o, value[SHOWN], rows, "shown", &d->shown);
    Py_XDECREF(rows);
    if (code == 0 && d->shown.list.n > OLTR_MOST_SHOWN) {
        core_refuse(OLTR_ESLOTS, "a lesson shows 1 to %d items, not %u", OLTR_MOST_SHOWN,
                    d->shown.list.n);
        code = -1;
    }
    return code == 0 ? list_own(&d->shown) : -1;
}

/* What *d has afterwards is for lesson_free(), also when it fails. */
static int lesson_get(const model_object *o, PyObject *const value[N_LEARN], lesson_data *d)
{
    *d = (lesson_data){.id = NULL};
    if (shown_get(o, value, d) < 0)
        return -1;
    if (o->info->contextual && !d->shown.list.x) {
        core_refuse(OLTR_EFEATURE,
                    "%s learns from rows of features: give x, %u numbers for "
                    "each slot",
                    o->info->name, o->dim);
        return -1;
    }
    if (feedback_get(value, d) < 0 || options_get(value, d) < 0)
        return -1;
    d->lesson.shown = d->shown.list;
    return 0;
}

/* ---- learn */

MODEL_METHOD(model_learn_call)
{
    model_object *o = (model_object *)self;
    PyObject *value[N_LEARN], *result = NULL;
    lesson_data d;
    oltr_error error = {OLTR_OK, ""};
    int applied = 0;
    turn t;
    if (placed_at_most("learn", n, 2) < 0 ||
        core_arguments("learn", learn_names, 0, arguments, n, keywords, value) < 0)
        return NULL;
    if (lesson_get(o, value, &d) == 0 &&
        turn_begin(&t, o, TURN_CHANGE, store_may_wait(o), NULL) == 0) {
        oltr_status status = o->store ? oltr_store_learn(o->store, &d.lesson, &applied, &error)
                                      : oltr_model_learn(o->model, &d.lesson, &applied, &error);
        turn_end(&t);
        result = status == OLTR_OK ? PyBool_FromLong(applied) : core_raise(status, &error);
    }
    lesson_free(&d);
    return result;
}

/* ---- many lessons */

typedef struct lesson_array {
    oltr_lesson *lesson; /* (n) */
    void **block;        /* (n) the memory of each */
    size_t n, room;
} lesson_array;

static void lessons_free(lesson_array *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->block[i]);
    free(a->lesson);
    free(a->block);
}

static bool lessons_reserve(lesson_array *a)
{
    if (a->n < a->room)
        return true;
    size_t room = 2 * a->room + 64;
    oltr_lesson *lesson = realloc(a->lesson, room * sizeof *lesson);
    a->lesson = lesson ? lesson : a->lesson;
    void **block = realloc(a->block, room * sizeof *block);
    a->block = block ? block : a->block;
    if (!lesson || !block)
        return false;
    a->room = room;
    return true;
}

/* Takes bytes from the front of a block; every piece is a multiple of 8 bytes. */
static void *carve(char **at, const void *from, size_t bytes)
{
    char *piece = *at;
    if (!from)
        return NULL;
    if (bytes > 0)
        memcpy(piece, from, bytes);
    *at += (bytes + 7) / 8 * 8;
    return piece;
}

static size_t name_bytes(oltr_name name)
{
    return name.size > OLTR_LONGEST_NAME ? OLTR_LONGEST_NAME + 1 : name.size;
}

/* A name that is too long is refused by its size; no more bytes of it are needed. */
static void carve_name(char **at, oltr_name *name)
{
    size_t bytes = name_bytes(*name);
    if (bytes > 0)
        memcpy(*at, name->bytes, bytes);
    name->bytes = *at;
    *at += bytes;
}

static size_t block_bytes(const oltr_lesson *l, uint32_t dim)
{
    size_t n = l->shown.n, bytes = 64 + name_bytes(l->id) + n * (2 * sizeof(double) + 8);
    if (l->shown.x)
        return bytes + (n * dim + 2) * sizeof(float);
    for (size_t i = 0; i < n; i++)
        bytes += sizeof(oltr_name) + name_bytes(l->shown.name[i]);
    return bytes;
}

/* Copies a lesson, with rows one behind the other, into a block of its own. */
static bool lessons_add(lesson_array *a, const oltr_lesson *from, uint32_t dim)
{
    char *block = lessons_reserve(a) ? malloc(block_bytes(from, dim)) : NULL, *at = block;
    if (!block)
        return false;
    oltr_lesson l = *from;
    size_t n = l.shown.n;
    l.reward = carve(&at, l.reward, n * sizeof *l.reward);
    l.weight = carve(&at, l.weight, n * sizeof *l.weight);
    l.examined = carve(&at, l.examined, n);
    l.shown.x = carve(&at, l.shown.x, n * dim * sizeof *l.shown.x);
    oltr_name *name = carve(&at, l.shown.name, n * sizeof *l.shown.name);
    for (size_t i = 0; name && i < n; i++)
        carve_name(&at, &name[i]);
    l.shown.name = name;
    if (l.id.size > 0)
        carve_name(&at, &l.id);
    a->block[a->n] = block;
    a->lesson[a->n++] = l;
    return true;
}

/* The values of a dict, by name. */
static int values_of_dict(PyObject *dict, PyObject *value[N_LEARN])
{
    Py_ssize_t found = 0, n = PyDict_Size(dict);
    for (int i = 0; i < N_LEARN; i++) {
        PyObject *name = PyUnicode_FromString(learn_names[i]);
        value[i] = name ? PyDict_GetItemWithError(dict, name) : NULL;
        Py_XDECREF(name);
        if (!value[i] && PyErr_Occurred())
            return -1;
        found += value[i] != NULL;
        if (value[i] && Py_IsNone(value[i]))
            value[i] = NULL;
    }
    if (found == n)
        return 0;
    PyErr_Format(PyExc_TypeError, "a lesson has the arguments of learn(), not all of %.100R", dict);
    return -1;
}

/* New references, as converting one value may run code that changes the dict. */
static int values_of_lesson(PyObject *lesson, PyObject *value[N_LEARN])
{
    static const int placed[] = {SHOWN, CLICKS, ID};
    int code = 0;
    memset(value, 0, N_LEARN * sizeof *value);
    if (PyDict_Check(lesson))
        code = values_of_dict(lesson, value);
    else if (PyTuple_Check(lesson) && PyTuple_Size(lesson) >= 2 && PyTuple_Size(lesson) <= 3)
        for (Py_ssize_t i = 0; i < PyTuple_Size(lesson); i++) {
            PyObject *one = PyTuple_GetItem(lesson, i);
            value[placed[i]] = Py_IsNone(one) ? NULL : one;
        }
    else {
        PyErr_Format(PyExc_TypeError,
                     "a lesson is a dict with the arguments of learn(), or a tuple (shown, clicks) "
                     "or (shown, clicks, id), not %.100R",
                     lesson);
        code = -1;
    }
    for (int i = 0; i < N_LEARN; i++)
        value[i] = code == 0 ? Py_XNewRef(value[i]) : NULL;
    return code;
}

static int add_lesson(const model_object *o, PyObject *lesson, lesson_array *a)
{
    PyObject *value[N_LEARN];
    lesson_data d;
    if (values_of_lesson(lesson, value) < 0)
        return -1;
    int code = lesson_get(o, value, &d);
    if (code == 0 && !lessons_add(a, &d.lesson, o->dim)) {
        PyErr_NoMemory();
        code = -1;
    }
    lesson_free(&d);
    for (int i = 0; i < N_LEARN; i++)
        Py_XDECREF(value[i]);
    return code;
}

/* Puts the number of the lesson in front of the sentence of an oltr.Error. */
static void name_lesson(size_t at)
{
    PyObject *type, *error, *trace;
    if (!PyErr_ExceptionMatches(core_error))
        return;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *text = PyObject_Str(error), *code = PyObject_GetAttrString(error, "code");
    PyObject *message = text ? PyUnicode_FromFormat("lesson %zu: %U", at, text) : NULL;
    PyObject *named = message ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;
    if (named && code && PyObject_SetAttrString(named, "code", code) == 0) {
        Py_DECREF(error);
        error = Py_NewRef(named);
    }
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(code);
    Py_XDECREF(message);
    Py_XDECREF(named);
    PyErr_Restore(type, error, trace);
}

static int lessons_get(const model_object *o, PyObject *lessons, lesson_array *a)
{
    PyObject *iterator = PyObject_GetIter(lessons), *lesson;
    int code = iterator ? 0 : -1;
    while (code == 0 && (lesson = PyIter_Next(iterator))) {
        code = add_lesson(o, lesson, a);
        Py_DECREF(lesson);
        if (code < 0)
            name_lesson(a->n);
    }
    Py_XDECREF(iterator);
    return code == 0 && PyErr_Occurred() ? -1 : code;
}

static oltr_status learn_all(const turn *t, const lesson_array *a, size_t *done, size_t *learned,
                             oltr_error *error)
{
    model_object *o = t->o;
    oltr_status status = OLTR_OK;
    if (o->store)
        return oltr_store_learn_many(o->store, a->lesson, a->n, done, learned, error);
    for (*done = *learned = 0; status == OLTR_OK && *done < a->n; *done += status == OLTR_OK) {
        int applied;
        status = oltr_model_learn(o->model, &a->lesson[*done], &applied, error);
        *learned += (size_t)applied;
    }
    return status;
}

/* The error of the lesson that was refused, with the number of those before it. */
static PyObject *raise_refused(oltr_status status, size_t done, const oltr_error *error)
{
    PyObject *type, *exception, *trace, *number = PyLong_FromSize_t(done);
    if (status == OLTR_EIO)
        core_raise(status, error);
    else
        raise_at(status, "lesson", done, error);
    PyErr_Fetch(&type, &exception, &trace);
    PyErr_NormalizeException(&type, &exception, &trace);
    if (number && exception && PyObject_SetAttrString(exception, "done", number) < 0)
        PyErr_Clear();
    Py_XDECREF(number);
    PyErr_Restore(type, exception, trace);
    return NULL;
}

MODEL_METHOD(model_learn_many_call)
{
    static const char *const names[] = {"lessons", NULL};
    model_object *o = (model_object *)self;
    PyObject *value[1], *result = NULL;
    lesson_array a = {.n = 0};
    oltr_error error = {OLTR_OK, ""};
    size_t done = 0, learned = 0;
    turn t;
    if (core_arguments("learn_many", names, 1, arguments, n, keywords, value) < 0)
        return NULL;
    if (lessons_get(o, value[0], &a) == 0 && turn_begin(&t, o, TURN_CHANGE, true, NULL) == 0) {
        oltr_status status = learn_all(&t, &a, &done, &learned, &error);
        turn_end(&t);
        result =
            status == OLTR_OK ? PyLong_FromSize_t(learned) : raise_refused(status, done, &error);
    }
    lessons_free(&a);
    return result;
}
