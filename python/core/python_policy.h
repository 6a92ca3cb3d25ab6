/* python_policy.h - policies written in Python, as contestants of an experiment. */
#ifndef OLTR_PYTHON_PYTHON_POLICY_H
#define OLTR_PYTHON_PYTHON_POLICY_H

#include "python/core/bridge.h"

enum { DIGEST_BYTES = 32 };

/* One policy in one point of the experiment: what settings.custom points to.  The digest is
 * settings.custom_bytes long, so that partial results of another policy are refused. */
typedef struct python_policy {
    unsigned char digest[DIGEST_BYTES]; /* of the factory; must be first */
    bridge *bridge;
    const char *label;
    /* make(n_items, k, dim, rounds, prior) -> (rank, scores, learn, learns_x): a new policy of a
     * replication as its bound methods; rank or scores is None, learn may be, and learns_x is
     * whether it takes the features of the items.  Borrowed. */
    PyObject *make;
    uint32_t slots;
    uint64_t rounds;
} python_policy;

/* Settings of this policy; `own` must outlive them. */
oltr_status python_policy_settings(const python_policy *own, const oltr_world *world,
                                   bool takes_prior, oltr_settings *settings, oltr_error *error);

#endif
