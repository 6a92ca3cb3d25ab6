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
unsigned lock_forks;

/* In the child: a thread that had the mutex, or slept, is not there. */
static void after_fork(void)
{
    lock_forks++;
    sleepers = 0;
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&ended, NULL);
}

int policy_lock_init(void)
{
    static bool done;
    if (!done && pthread_atfork(NULL, NULL, after_fork) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    done = true;
    return 0;
}

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
static void sleep_once(void)
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
}

/* The first call in the child of a fork, and every call of a torn policy.  What the thread itself
 * has reserved stays: a signal handler may fork. */
static int leave_parent(policy_lock *lock)
{
    if (lock->forks != lock_forks) {
        lock->forks = lock_forks;
        lock->readers = lock->waiting = 0;
        lock->replacing = false;
        lock->torn = lock->writing;
        lock->reserved = lock->reserved && lock->owner == PyThread_get_thread_ident();
    }
    if (!lock->torn)
        return 0;
    PyErr_SetString(PyExc_RuntimeError,
                    "another thread was changing this policy when the process was forked, so that "
                    "its copy here is incomplete: fork while no thread learns");
    return -1;
}

static int refuse_own(const policy_lock *lock)
{
    if (!lock->reserved || lock->owner != PyThread_get_thread_ident())
        return 0;
    PyErr_SetString(PyExc_RuntimeError, "this thread is in learn_many() of this policy, which "
                                        "cannot be changed before it has ended");
    return -1;
}

/* Marks the lock, so that others let this call go first; `on` 1 or -1. */
static void mark(policy_lock *lock, lock_aim aim, int on)
{
    if (aim == TO_CHANGE || aim == TO_RESERVE)
        lock->waiting += (uint32_t)on;
    if (aim == TO_REPLACE)
        lock->replacing = on > 0;
}

static int sleep_marked(policy_lock *lock, lock_aim aim)
{
    if ((aim == TO_CHANGE || aim == TO_RESERVE) && refuse_own(lock) < 0)
        return -1;
    mark(lock, aim, 1);
    sleep_once();
    mark(lock, aim, -1);
    return PyErr_CheckSignals();
}

int policy_lock_sleep(policy_lock *lock, lock_aim aim, policy_lock *other)
{
    int code = 0;
    for (;;) {
        if (code == 0)
            code = leave_parent(lock);
        if (code == 0 && other)
            code = leave_parent(other);
        if (code < 0 || (lock_allows(lock, aim) && (!other || lock_allows(other, TO_PEEK))))
            break;
        code = sleep_marked(lock, aim);
    }
    policy_lock_wake(); /* readers that let this call go first */
    return code;
}
