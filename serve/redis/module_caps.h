/* module_caps.h - bounds on what one request may ask for, as module configuration.
 *
 * They keep a single request short and a single model small, so that one client cannot stop the
 * server for others.  They do not hold for commands that come from a master or from the append-only
 * file: what a master has accepted, its replicas must accept.
 */
#ifndef OLTR_SERVE_REDIS_MODULE_CAPS_H
#define OLTR_SERVE_REDIS_MODULE_CAPS_H

#include "serve/redis/module_api.h"

typedef struct module_cap {
    const char *name; /* after `oltr.` */
    long long initial, least, most;
    unsigned flags;
    long long value;
} module_cap;

typedef enum cap_id {
    CAP_SLOTS,
    CAP_CANDIDATES,
    CAP_DIM,
    CAP_ITEMS,
    CAP_MODEL_BYTES,
    CAP_DRAWS,
    CAP_BATCH,
    CAP_EXACT,
    N_CAPS
} cap_id;

extern module_cap module_caps[N_CAPS];

enum {
    MOST_ROOM = 1 << 20,         /* items that CREATE makes room for */
    MOST_DRAWN_SCORES = 1 << 20, /* draws x candidates of PROPENSITY */
    MOST_DRAWN_WORK = 1 << 28,   /* multiplications for all draws of a contextual kind: 40 ms */
    EXACT_PER_HYPER = 4          /* an exact chance of ts-hyper takes hundreds of others */
};

int module_caps_register(rm_ctx *ctx);

#endif
