/* policy_lock.h - who may read and change a policy when calls release the GIL.
 *
 * Any number of calls may rank at once; a call that changes the policy is alone.  The lock is a few
 * counters that are read and changed under the GIL only, so that a call that keeps the GIL, like
 * rank() of thirty items, pays one comparison.
 *
 *   a short call     keeps the GIL.  It calls policy_lock_wait() with TO_PEEK or TO_CHANGE, and
 *                    then uses the policy at once.
 *   a long call      counts itself in readers or sets writing, releases the GIL, works, takes the
 *                    GIL, undoes that and calls policy_lock_wake().
 *   learn_many()     learns by a copy, which takes the place of the policy at the end.  Meanwhile
 *                    others may read the policy but not change it: `reserved`.
 *
 * A call that cannot go on sleeps without the GIL until a long call has ended, then looks again
 * under the GIL.  Nothing is held while it sleeps: all that a call needs is taken at once, of two
 * policies too (merge).  So calls cannot wait for each other in a circle.  A long call never runs
 * Python code between its two ends; learn_many() does (signal handlers), so `owner` is the thread
 * that has reserved a policy, and a change from that thread is refused.  Signal handlers also run
 * between two sleeps; the marks of the call that sleeps (waiting, replacing) are taken off
 * meanwhile, because a handler that reads the policy would wait for them for ever.
 *
 * The child of a fork has no other threads, so what they have counted is dropped there.  A policy
 * that one of them was changing is torn, and every call of it is refused.
 */
#ifndef OLTR_PYTHON_POLICY_LOCK_H
#define OLTR_PYTHON_POLICY_LOCK_H

#include "python/core/core.h"

typedef struct policy_lock {
    uint32_t readers;    /* long calls that read */
    uint32_t waiting;    /* calls that sleep until they may change */
    bool writing;        /* a long call changes the policy */
    bool reserved;       /* by learn_many() of the thread `owner` */
    bool replacing;      /* which sleeps until it may put its copy in place */
    bool torn;           /* of the child of a fork: a thread of the parent was writing */
    unsigned forks;      /* when it was last looked at, as lock_forks */
    unsigned long owner; /* as PyThread_get_thread_ident() */
} policy_lock;

typedef enum lock_aim {
    TO_PEEK,    /* read it under the GIL */
    TO_READ,    /* read it for long; a call that sleeps until it may change goes first, unless a
                   third keeps it from that */
    TO_CHANGE,  /* change it */
    TO_RESERVE, /* reserve it, and only read it */
    TO_REPLACE, /* put the copy in place of a policy that this call has reserved */
} lock_aim;

static inline bool lock_allows(const policy_lock *lock, lock_aim aim)
{
    switch (aim) {
    case TO_PEEK:
        return !lock->writing;
    case TO_READ:
        return !lock->writing && !lock->replacing && (!lock->waiting || lock->reserved);
    case TO_CHANGE:
        return !lock->writing && !lock->readers && !lock->reserved;
    case TO_RESERVE:
        return !lock->writing && !lock->reserved;
    case TO_REPLACE:
        return !lock->writing && !lock->readers;
    }
    return false;
}

/* Forks of this process since the module was imported. */
extern unsigned lock_forks;

/* Once, when the module is imported; -1 with an exception. */
int policy_lock_init(void);

/* Sleeps until the lock allows it, and `other`, if it is not NULL, is not being changed at the same
 * time; a call that needs two policies does not let those go first that sleep until they may change
 * the other: two merges would let each other go first.  -1 with an exception: a signal handler
 * raised one, this thread itself has reserved the policy, or the policy is torn. */
int policy_lock_sleep(policy_lock *lock, lock_aim aim, policy_lock *other);

static inline int policy_lock_wait(policy_lock *lock, lock_aim aim)
{
    bool free = lock->forks == lock_forks && lock_allows(lock, aim);
    return free ? 0 : policy_lock_sleep(lock, aim, NULL);
}

/* Wakes those who sleep; after every end of a long call, under the GIL. */
void policy_lock_wake(void);

#endif
