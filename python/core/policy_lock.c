/* policy_lock.c - sleeping until a policy may be read or changed; see policy_lock.h.
 *
 * One condition variable serves all policies: few calls ever sleep, and a call that needs two
 * policies can sleep on it as well.  `ends` counts the ends of long calls; it changes under the GIL
 * and the mutex, so that no end is missed between looking and sleeping. */
#include "python/core/policy_lock.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static uint64_t ends;
static uint32_t sleepers; /* under the GIL */

void policy_lock_wake(void)
{
    if (!sleepers)
        return;
    pthread_mutex_lock(&mutex);
    ends++;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&mutex);
}

/* The time in 50 ms: signals are looked at that often. */
static struct timespec soon(void)
{
    enum { INTERVAL = 50000000, SECOND = 1000000000 };
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += INTERVAL;
    at.tv_sec += at.tv_nsec / SECOND;
    at.tv_nsec %= SECOND;
    return at;
}

/* Sleeps until a long call ends, or for 50 ms. */
static int sleep_once(void)
{
    uint64_t seen = ends;
    struct timespec until = soon();
    int code = 0;
    sleepers++;
    PyThreadState *state = PyEval_SaveThread();
    pthread_mutex_lock(&mutex);
    while (ends == seen && code == 0)
        code = pthread_cond_timedwait(&ended, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    PyEval_RestoreThread(state);
    sleepers--;
    return PyErr_CheckSignals();
}

static int refuse_own(const policy_lock *lock)
{
    if (!lock->reserved || lock->owner != PyThread_get_thread_ident())
        return 0;
    PyErr_SetString(PyExc_RuntimeError, "this thread is in learn_many() of this policy, which "
                                        "cannot be changed before it has ended");
    return -1;
}

int policy_lock_sleep(policy_lock *lock, lock_aim aim, const policy_lock *other)
{
    bool change = aim == TO_CHANGE || aim == TO_RESERVE;
    int code = 0;
    lock->waiting += change;
    if (aim == TO_REPLACE)
        lock->replacing = true;
    while (code == 0 && !(lock_allows(lock, aim) && (!other || lock_allows(other, TO_PEEK)))) {
        code = change ? refuse_own(lock) : 0;
        if (code == 0)
            code = sleep_once();
    }
    lock->waiting -= change;
    if (aim == TO_REPLACE)
        lock->replacing = false;
    policy_lock_wake(); /* readers that let this call go first */
    return code;
}
