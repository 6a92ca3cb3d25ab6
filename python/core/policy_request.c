/* policy_request.c - the candidates and features of a call, from Python objects to a query. */
#include "python/core/policy_object.h"

#include <string.h>

static int too_many(const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s has too many rows or columns", what);
    return -1;
}

static int get_candidates(request *r, PyObject *candidates)
{
    if (core_array_get(candidates, CORE_U32, 1, "candidates", &r->candidates) < 0)
        return -1;
    if (r->candidates.n > UINT32_MAX)
        return too_many("candidates");
    r->query.n_items = (uint32_t)r->candidates.n;
    r->query.item = r->candidates.data;
    r->n_given = true;
    return 0;
}

static int get_x(request *r, PyObject *x)
{
    if (core_array_get(x, CORE_F32, 2, "x", &r->x) < 0)
        return -1;
    if (r->x.n > UINT32_MAX || r->x.columns > UINT32_MAX || r->x.stride > UINT32_MAX)
        return too_many("x");
    if (r->n_given && r->x.n != (Py_ssize_t)r->query.n_items) {
        PyErr_Format(PyExc_ValueError, "x has %zd rows for %u candidates", r->x.n,
                     r->query.n_items);
        return -1;
    }
    r->query.n_items = (uint32_t)r->x.n;
    r->query.dim = (uint32_t)r->x.columns;
    r->query.stride = (uint32_t)r->x.stride;
    r->query.x = r->x.data;
    r->n_given = true;
    return 0;
}

int request_get(request *r, const policy_object *p, PyObject *candidates, PyObject *x)
{
    const oltr_policy_info *info = settings_of(p)->info;
    core_array_clear(&r->candidates);
    core_array_clear(&r->x);
    r->query = (oltr_query){0};
    r->n_given = false;
    if (x && !info->contextual) {
        core_refuse(OLTR_EFEATURE, "%s does not rank by features: leave out x", info->name);
        return -1;
    }
    if ((candidates && get_candidates(r, candidates) < 0) || (x && get_x(r, x) < 0)) {
        request_free(r);
        return -1;
    }
    r->given = candidates || x ? &r->query : NULL;
    return 0;
}

void request_free(request *r)
{
    core_array_free(&r->candidates);
    core_array_free(&r->x);
}

/* An empty array has no rows, and its data may be anything but must not be NULL. */
int request_own(request *r, bool all)
{
    if (r->query.item) {
        if (core_array_own(&r->candidates, CORE_U32) < 0)
            return -1;
        r->query.item = r->candidates.data;
    }
    if (all && r->query.x) {
        if (core_array_own(&r->x, CORE_F32) < 0)
            return -1;
        r->query.x = r->x.data;
        r->query.stride = (uint32_t)r->x.stride;
    }
    return 0;
}

uint32_t request_n(const request *r, const policy_object *p)
{
    return r->given ? r->query.n_items : settings_of(p)->n_items;
}

/* ---- the rows of shown items */

static void copy_row(const request *r, uint32_t row, uint32_t slot, float *rows)
{
    uint32_t dim = r->query.dim;
    memcpy(rows + (size_t)slot * dim, r->query.x + (size_t)row * r->query.stride,
           dim * sizeof *rows);
}

/* By a table from items to slots: for long lists. */
static int rows_by_table(const request *r, uint32_t n_items, const uint32_t *item, uint32_t k,
                         float *rows)
{
    uint32_t *slot_of = PyMem_Malloc(n_items * sizeof *slot_of);
    if (!slot_of) {
        PyErr_NoMemory();
        return -1;
    }
    memset(slot_of, 0xff, n_items * sizeof *slot_of);
    for (uint32_t slot = 0; slot < k; slot++)
        slot_of[item[slot]] = slot;
    for (uint32_t row = 0; row < r->query.n_items; row++)
        if (slot_of[r->query.item[row]] != UINT32_MAX)
            copy_row(r, row, slot_of[r->query.item[row]], rows);
    PyMem_Free(slot_of);
    return 0;
}

int request_rows(const request *r, const policy_object *p, const uint32_t *item, uint32_t k,
                 float *rows)
{
    enum { FEW = 1 << 15 };
    uint32_t n = r->query.n_items;
    if (!r->query.item)
        for (uint32_t slot = 0; slot < k; slot++)
            copy_row(r, item[slot], slot, rows);
    else if ((uint64_t)n * k > FEW)
        return rows_by_table(r, settings_of(p)->n_items, item, k, rows);
    else
        for (uint32_t slot = 0; slot < k; slot++) {
            uint32_t row = 0;
            while (row + 1 < n && r->query.item[row] != item[slot])
                row++;
            copy_row(r, row, slot, rows);
        }
    return 0;
}
