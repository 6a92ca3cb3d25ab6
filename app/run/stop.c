/* stop.c - the signal handler; see stop.h. */
#define _POSIX_C_SOURCE 200809L
#include "app/run/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "app/args/complain.h"

static atomic_int asked; /* the one variable that a signal handler can reach */

static void ask_to_stop(int signal_number)
{
    (void)signal_number;
    atomic_store(&asked, 1);
}

/* SA_RESETHAND: the second signal finds the default, and ends the program. */
void stop_catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ask_to_stop;
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int stopped_early(void)
{
    return complain(EXIT_STOPPED, "stopped before the simulation began; nothing is kept");
}

bool stop_asked(void)
{
    return atomic_load(&asked) != 0;
}

int should_stop(void *unused)
{
    (void)unused;
    return stop_asked();
}
